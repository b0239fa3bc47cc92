//! Texts of users in errors and warnings: one line of each, and the first of many.

use std::fmt::Display;
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Write};
use std::path::Path;
use std::string::FromUtf8Error;

/// Characters of a text that errors quote, at most.
const MOST: usize = 160;

/// A text as errors quote it. A text too long for a line is cut, and its size follows.
pub(crate) fn quoted(text: &str) -> String {
    cut(text, MOST)
}

/// Like [`quoted`], with at most `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
    }
}

/// The first of these texts, and the number of the others.
pub(crate) fn first_of(texts: &[String]) -> String {
    const NAMED: usize = 4;
    match texts.split_at_checked(NAMED) {
        Some((first, others)) if !others.is_empty() => {
            format!("{}; and {} more", first.join("; "), others.len())
        }
        _ => texts.join("; "),
    }
}

/// A text without the byte order mark with which some editors begin it.
pub(crate) fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A text file of at most `most` bytes, without a byte order mark. Only regular files are read: a
/// pipe or a device may have no end. Errors about its contents have the kind `InvalidData`.
pub(crate) fn read(path: &Path, most: u64) -> std::io::Result<String> {
    let refused = |what: String| Err(Error::new(ErrorKind::InvalidData, what));
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return refused("it is not a regular file".to_owned());
    }
    if about.len() > most {
        return refused(format!("it has {} bytes, and at most {most} are read", about.len()));
    }
    // The file may have grown since, or report no length.
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return refused(format!("it has more than {most} bytes, and at most {most} are read"));
    }
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return refused(other_encoding(&error)),
    };
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// What is wrong with a text in another encoding than UTF-8.
fn other_encoding(error: &FromUtf8Error) -> String {
    let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    format!("line {line} is not UTF-8: save the file in that encoding")
}

/// Writes a table as CSV. An error is that of the writer: the library's rows are valid.
pub(crate) fn write_csv<W: Write>(
    file: W,
    rows: impl FnOnce(&mut csv::Writer<W>) -> csv::Result<()>,
) -> std::io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(file);
    rows(&mut writer).map_err(csv_error)?;
    writer.flush()
}

/// An error of CSV: that of the system, or `InvalidData` for a text that is not CSV.
pub(crate) fn csv_error(error: csv::Error) -> Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => Error::new(ErrorKind::InvalidData, text),
    }
}

/// A number of things: "1 replication", "2 replications".
pub(crate) fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    format!("{number} {thing}{}", if number == N::from(1) { "" } else { "s" })
}

/// A number as errors print it: in exponent form if it has many digits, and to 15 significant
/// digits, so that a sum prints as 0.95 and not as 0.9500000000000001.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        1e-9..1e15 => format!("{value:.14e}").parse().unwrap_or(value).to_string(),
        1e15..1e18 => value.to_string(),
        _ if value == 0.0 || !value.is_finite() => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// The candidate that a mistyped name is closest to, if one is close.
pub(crate) fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(name, candidate);
    let all = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    let (distance, candidate) = all.min()?;
    (distance <= 1 + candidate.chars().count() / 4).then_some(candidate)
}

/// Types of numbers in serde's messages, and the words of users for them.
const NUMBERS: [(&str, &str); 3] = [
    ("expected u32", "expected a whole number from 0 to 4294967295"),
    ("expected u64", "expected a whole number of at least 0"),
    ("expected f64", "expected a number"),
];

/// Adds to serde's messages of unknown fields and variants the name that was probably meant, and
/// names types of numbers in words.
pub fn suggested(message: &str) -> String {
    let message =
        &NUMBERS.iter().fold(message.to_owned(), |text, (of_rust, word)| text.replace(of_rust, word));
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let unknown = ["unknown field `", "unknown variant `"].iter().find_map(|begin| message.find(begin));
    let Some(begin) = unknown else { return message.to_owned() };
    let end = message[begin..].find('\n').map_or(message.len(), |length| begin + length);
    let names = quoted(&message[begin..end]);
    let Some((name, known)) = names.split_first() else { return message.to_owned() };
    match closest(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("{}. Did you mean `{meant}`?{}", &message[..end], &message[end..]),
        None => message.to_owned(),
    }
}

/// Prints an error's sentence as its `Debug`. A program that returns the error from `main` or
/// unwraps it then prints what went wrong, not the names of types and fields.
macro_rules! debug_is_display {
    ($error:ty) => {
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(crate) use debug_is_display;

/// The part of a long line around the byte `at`, and the position of that byte in it.
pub(crate) fn around(line: &str, at: usize) -> (&str, usize) {
    const BEFORE: usize = 60;
    const MOST: usize = 160;
    if line.len() <= MOST {
        return (line, at);
    }
    let begin = line.floor_char_boundary(at.saturating_sub(BEFORE));
    let end = line.floor_char_boundary(begin.saturating_add(MOST));
    (&line[begin..end], at.saturating_sub(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_many_are_named() {
        let texts = |count: u32| (1..=count).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!(first_of(&texts(0)), "");
        assert_eq!(first_of(&texts(4)), "1; 2; 3; 4");
        assert_eq!(first_of(&texts(6)), "1; 2; 3; 4; and 2 more");
    }

    #[test]
    fn mistyped_names_get_a_suggestion() {
        let known = ["servers", "service", "discipline"];
        assert_eq!(closest("servrs", known), Some("servers"));
        assert_eq!(closest("dicsipline", known), Some("discipline"));
        assert_eq!(closest("colour", known), None);
        let message = "at line 3\nunknown field `servrs`, expected one of `servers`, `service`\n";
        assert_eq!(suggested(message), message.trim_end().to_owned() + ". Did you mean `servers`?\n");
        assert_eq!(suggested("no such file"), "no such file");
        assert_eq!(
            suggested("integer `-1`, expected u64"),
            "integer `-1`, expected a whole number of at least 0"
        );
    }

    #[test]
    fn what_fits_is_quoted_whole_and_the_rest_is_cut() {
        let fits = "ä".repeat(MOST);
        assert_eq!(quoted(&fits), fits);
        assert_eq!(quoted(&format!("{fits}b")), format!("{fits}... ({} bytes)", 2 * MOST + 1));
    }

    #[test]
    fn numbers_are_short() {
        let reported = [0.5, -3.0, 0.0, 1e300, -2.5e-200, f64::NAN, f64::INFINITY].map(number);
        assert_eq!(reported, ["0.5", "-3", "0", "1e300", "-2.5e-200", "NaN", "inf"]);
        let reported = [0.65 + 0.3, 0.1 + 0.2, 1.0 / 3.0, 123_456_789_012_345.0, 1e17].map(number);
        assert_eq!(reported, ["0.95", "0.3", "0.333333333333333", "123456789012345", "100000000000000000"]);
        assert_eq!([0_u64, 1, 2].map(|number| count(number, "run")), ["0 runs", "1 run", "2 runs"]);
    }

    #[test]
    fn another_encoding_is_named_with_its_line() {
        let error = String::from_utf8(b"time\n1\nz\xfc\n".to_vec()).unwrap_err();
        assert_eq!(other_encoding(&error), "line 3 is not UTF-8: save the file in that encoding");
    }

    #[test]
    fn errors_of_main_are_sentences() {
        let error = crate::time::TimeError::NoTicks;
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
