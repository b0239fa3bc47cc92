//! Errors of the process model of a network, in the words of the network: nodes and fields instead
//! of lines and names of the model.

use crate::facility::{FacilityError, Network};

use super::super::error::{Full, ProcessError, RunFault, in_units};
use super::super::ir::Place;
use super::super::program::{FaultCode, MOST_STEPS};
use super::write::Names;

/// The fields or measures of nodes that things of the model come from, by the first part of their
/// names.
const FIELDS: [(&str, &str); 23] = [
    ("breaker", "breakdown"),
    ("breakdown", "breakdown"),
    ("called", "discipline"),
    ("changed", "speeds"),
    ("down", "breakdown"),
    ("forming", "batch"),
    ("gone", "patience"),
    ("group", "groups"),
    ("hole", "discipline"),
    ("last", "setup"),
    ("leads", "batch"),
    ("line", "queue"),
    ("load", "service"),
    ("moved", "discipline"),
    ("order", "discipline"),
    ("pace", "speeds"),
    ("polled", "discipline"),
    ("present", "number"),
    ("room", "capacity"),
    ("servers", "servers"),
    ("split", "splits"),
    ("task", "tasks"),
    ("waits", "when_full"),
];

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The sentence of a replication with more customers, or with more that act at one time, than a
/// process model can have, and the node that it is about.
fn crowded(error: &ProcessError, names: &Names, text: &str) -> Option<(usize, String)> {
    let at = |place: Place| (place.line > 0).then(|| names.at_line(text, place.line as usize)).flatten();
    match error {
        ProcessError::Full(full) => {
            let Full { most, time, unit, line, place, replication } = &**full;
            let (line, length) = line.as_ref()?;
            let mut words = line.split(|letter: char| !is_word(letter));
            let (_, node) = at(*place).or_else(|| words.find_map(|word| names.find(word)))?;
            let time = in_units(*time, unit);
            Some((
                node,
                format!(
                    "more than {most} customers are in the network at {time} in {replication}, \
                     and {length} of them wait here. \
                     If they come faster than they leave, add servers or let fewer come"
                ),
            ))
        }
        ProcessError::Fault(fault) if fault.code == FaultCode::Endless => {
            let (_, node) = at(fault.place)?;
            let RunFault { time, unit, replication, .. } = &**fault;
            let time = in_units(*time, unit);
            Some((
                node,
                format!(
                    "too many customers act at one time at {time} in {replication}: \
                     more than {MOST_STEPS} steps in one event. \
                     Let fewer customers come, begin or share servers at one time"
                ),
            ))
        }
        _ => None,
    }
}

/// An error about the model with this text, as one about the network. Errors that name nothing of
/// the model stay as they are.
pub(super) fn in_words(error: ProcessError, network: &Network, names: &Names, text: &str) -> ProcessError {
    let message = match &error {
        ProcessError::Network(_) | ProcessError::Simulation(_) | ProcessError::Analysis(_) => return error,
        error => error.to_string(),
    };
    let node = |number: usize| network.names().nth(number).expect("a name for each node");
    let about = |number: usize, words: &str| -> ProcessError {
        let words = format!("`{}`: {words} (this network runs as a process model)", node(number));
        FacilityError::Process { kind: error.kind(), error: words.into() }.into()
    };
    if let Some((at, words)) = crowded(&error, names, text) {
        return about(at, &words);
    }
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
    match nodes.first() {
        Some(&first) => about(first, &words),
        None => error,
    }
}

/// The number behind `line `, and the rest.
fn line(text: &str) -> Option<(usize, &str)> {
    let number = text.strip_prefix("line ")?;
    let end = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
    Some((number[..end].parse().ok()?, &number[end..]))
}
