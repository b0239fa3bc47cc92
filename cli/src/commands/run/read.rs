//! Files of text, which people may have made of anything.

use std::path::Path;

use crate::shared::{Outcome, read_text, usage};

/// Bytes of a file, and of one with the words of `data`.
pub(super) const MOST_TEXT: u64 = 16 << 20;
pub(super) const MOST_DATA: u64 = 256 << 20;

/// A text file of at most so many bytes. What is no regular file may have no end.
pub(super) fn read(path: &Path, most: u64) -> Outcome<String> {
    let wrong = |what: String| usage(format!("{}: {what}", path.display()));
    let failed = |error: std::io::Error| wrong(error.to_string());
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(wrong("it is no regular file".to_owned()));
    }
    if about.len() > most {
        return Err(wrong(format!("it has {} bytes, and at most {most} are read", about.len())));
    }
    // It may have grown, or tell no length.
    read_text(path, most).map_err(|error| usage(error.to_string()))
}

/// Whole numbers, apart by spaces, commas or ends of lines.
pub(super) fn table(path: &Path) -> Outcome<Vec<u32>> {
    let text = read(path, MOST_DATA)?;
    let mut numbers = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty()) {
            let place = || format!("{}:{number}", path.display());
            let value = word.parse::<u32>();
            numbers.push(value.map_err(|_| {
                let word: String = word.chars().take(40).collect();
                usage(format!("{}: `{word}` is no whole number from 0 to 4294967295", place()))
            })?);
        }
    }
    Ok(numbers)
}
