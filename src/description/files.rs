//! Reading text files that users name.

use std::io::ErrorKind;
use std::path::Path;

use super::error::{DescriptionError, invalid};

/// Bytes of a TOML or WGSL file, and of a file with the words of `data`.
pub(super) const MOST_TEXT: u64 = 16 << 20;
pub(super) const MOST_DATA: u64 = 256 << 20;

/// A text file of at most `most` bytes, without a byte order mark.
pub(super) fn read(path: &Path, most: u64) -> Result<String, DescriptionError> {
    crate::text::read(path, most).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => invalid(format!("{}: {error}", path.display())),
        _ => DescriptionError::File { path: path.display().to_string(), what: error.to_string() },
    })
}

/// Whole numbers, separated by spaces, commas, semicolons or line ends.
pub(super) fn table(path: &Path) -> Result<Vec<u32>, DescriptionError> {
    let text = read(path, MOST_DATA)?;
    let mut numbers = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty()) {
            numbers.push(word.parse::<u32>().map_err(|_| {
                let (path, word) = (path.display(), word.chars().take(40).collect::<String>());
                invalid(format!("{path}:{number}: `{word}` is not a whole number from 0 to 4294967295"))
            })?);
        }
    }
    Ok(numbers)
}
