//! Reading text files that users name.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use super::error::{DescriptionError, invalid};

/// Bytes of a TOML or WGSL file, and of a file with the words of `data`.
pub(super) const MOST_TEXT: u64 = 16 << 20;
pub(super) const MOST_DATA: u64 = 256 << 20;

/// A text file of at most `most` bytes, without a byte order mark. Only regular files are read: a
/// pipe or a device may have no end.
pub(super) fn read(path: &Path, most: u64) -> Result<String, DescriptionError> {
    let io = |error: std::io::Error| match error.kind() {
        ErrorKind::InvalidData => invalid(format!("{}: {error}", path.display())),
        _ => DescriptionError::File { path: path.display().to_string(), what: error.to_string() },
    };
    let refused = |what: String| Err(invalid(format!("{}: {what}", path.display())));
    let about = std::fs::metadata(path).map_err(io)?;
    if !about.is_file() {
        return refused("it is not a regular file".to_owned());
    }
    if about.len() > most {
        return refused(format!("it has {} bytes, and at most {most} are read", about.len()));
    }
    // The file may have grown since, or report no length.
    let mut text = String::new();
    File::open(path).map_err(io)?.take(most + 1).read_to_string(&mut text).map_err(io)?;
    if text.len() as u64 > most {
        return refused(format!("it has more than {most} bytes, and at most {most} are read"));
    }
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
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
