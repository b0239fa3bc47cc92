//! Errors of the process model of a network, in the words of the network: nodes and fields instead
//! of lines and names of the model.

use crate::facility::{FacilityError, Network};

use super::super::error::ProcessError;
use super::write::Names;

/// The fields of nodes that things of the model come from, by the first part of their names.
const FIELDS: [(&str, &str); 14] = [
    ("breaker", "breakdown"),
    ("breakdown", "breakdown"),
    ("down", "breakdown"),
    ("gone", "patience"),
    ("group", "groups"),
    ("last", "setup"),
    ("load", "service"),
    ("order", "discipline"),
    ("pace", "speeds"),
    ("polled", "discipline"),
    ("room", "capacity"),
    ("servers", "servers"),
    ("split", "splits"),
    ("task", "tasks"),
];

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// An error about the model with this text, as one about the network. Errors that name nothing of
/// the model stay as they are.
pub(super) fn in_words(error: ProcessError, network: &Network, names: &Names, text: &str) -> ProcessError {
    let message = match &error {
        ProcessError::Network(_) | ProcessError::Simulation(_) | ProcessError::Analysis(_) => return error,
        error => error.to_string(),
    };
    let node = |number: usize| network.names().nth(number).expect("a name for each node");
    let mut nodes = Vec::new();
    let (mut words, mut rest) = (String::new(), message.as_str());
    while !rest.is_empty() {
        if let Some((line, after)) = line(rest)
            && let Some((_, at)) = names.at_line(text, line)
        {
            nodes.push(at);
            match after.strip_prefix(": ").filter(|_| words.is_empty()) {
                Some(after) => rest = after,
                None => {
                    words += &format!("`{}`", node(at));
                    rest = after;
                }
            }
            continue;
        }
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match names.find(word) {
            Some((part, at)) => {
                nodes.push(at);
                let field = FIELDS.iter().find(|(known, _)| *known == part).map_or(part, |(_, field)| field);
                words += &format!("{field} of {}", node(at));
            }
            None => words += word,
        }
        let letter = after.chars().next();
        words.extend(letter);
        rest = &after[letter.map_or(0, char::len_utf8)..];
    }
    let Some(&first) = nodes.first() else { return error };
    let words = format!("`{}`: {words} (this network runs as a process model)", node(first));
    FacilityError::Process { kind: error.kind(), error: words.into() }.into()
}

/// The number behind `line `, and the rest.
fn line(text: &str) -> Option<(usize, &str)> {
    let number = text.strip_prefix("line ")?;
    let end = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
    Some((number[..end].parse().ok()?, &number[end..]))
}
