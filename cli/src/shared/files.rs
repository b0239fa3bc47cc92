//! Files that a command reads and writes. [`check_files`] checks them before a run: it refuses
//! outputs that cannot be written or would overwrite a file in use. [`all`] writes all outputs that
//! can be written after a run, even if one fails.

use std::fs::{self, File, Metadata};
use std::io::{Read as _, Write as _, stdout};
use std::path::{Path, PathBuf, is_separator};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use eventhorizon::pdes::Autosave;

use super::{Failure, Outcome, closed, print_report, usage};

/// What a command does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// Reads it.
    Reads,
    /// Resumes a run from it. The run may be saved to the same file.
    Resumes,
    /// Writes a result to it, or to standard output for `-`.
    Writes,
    /// The same, but never to standard output: pictures, and results that are written during the
    /// run.
    WritesFile,
    /// Saves a run in it: writes a new file and renames it to this name.
    Saves,
    /// Writes SVG files into this folder, which is created if it is missing.
    Draws,
}

/// A file: its use, its name on the command line, and its path if one is given.
pub type Named<'a> = (FileUse, &'a str, Option<&'a Path>);

/// Refuses outputs that cannot be written, and outputs that would destroy an input or another
/// output. Creates and changes nothing.
pub fn check_files(files: &[Named<'_>]) -> Outcome<()> {
    let given = files.iter().filter_map(|&(what, name, path)| Some((what, name, path?)));
    let mut before: Vec<(FileUse, &str, Destination)> = Vec::new();
    for (what, name, path) in given {
        let place = Destination::of(what, path);
        place.check(what, path).map_err(|wrong| usage(format!("{name} {}: {wrong}", path.display())))?;
        for (earlier, other, of_other) in &before {
            if let Some(clash) = clash((*earlier, other, of_other), (what, name, &place)) {
                return Err(usage(format!("{name} {}: {clash}", path.display())));
            }
        }
        before.push((what, name, place));
    }
    for (what, name, path) in files.iter().filter_map(|&(what, name, path)| Some((what, name, path?))) {
        if what == FileUse::Saves {
            let tried = Autosave::new(path, Duration::MAX).check();
            tried.map_err(|error| usage(format!("{name} {}: {error}", path.display())))?;
            super::SAVES.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let outputs = files.iter().filter(|(what, ..)| !matches!(what, FileUse::Reads | FileUse::Resumes));
    let outputs = outputs.filter_map(|&(what, name, path)| Some((what, name.to_owned(), path?.to_owned())));
    *OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner) = outputs.collect();
    Ok(())
}

/// The outputs of the last [`check_files`].
static OUTPUTS: Mutex<Vec<(FileUse, String, PathBuf)>> = Mutex::new(Vec::new());

/// Refuses outputs of the last [`check_files`] that would overwrite a file that `reader` reads, and
/// that is known only now.
pub fn check_input(reader: &str, path: &Path) -> Outcome<()> {
    let input = Destination::of(FileUse::Reads, path);
    for (what, name, output) in OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let place = Destination::of(*what, output);
        if let Some(clash) = clash((FileUse::Reads, reader, &input), (*what, name, &place)) {
            return Err(usage(format!("{name} {}: {clash}", output.display())));
        }
    }
    Ok(())
}

/// Where a path leads.
enum Destination {
    StandardOutput,
    File {
        path: PathBuf,
        /// The metadata of the file if it exists.
        about: Option<Metadata>,
    },
}

impl Destination {
    fn of(what: FileUse, path: &Path) -> Self {
        match what {
            FileUse::Writes if on_stdout(Some(path)) => Self::StandardOutput,
            _ => Self::File { path: resolved(path), about: fs::metadata(path).ok() },
        }
    }

    /// Checks that the path can be written in the way `what`.
    fn check(&self, what: FileUse, name: &Path) -> Result<(), String> {
        let Self::File { path, about } = self else { return Ok(()) };
        let is_folder = about.as_ref().is_some_and(Metadata::is_dir);
        let is_file = about.as_ref().is_some_and(Metadata::is_file);
        match what {
            FileUse::Reads | FileUse::Resumes => Ok(()),
            FileUse::Draws => {
                let there = path.ancestors().find(|folder| folder.exists());
                match there.is_none_or(Path::is_dir) {
                    true => Ok(()),
                    false => Err("it is not a folder, and none can be made there: name another".to_owned()),
                }
            }
            FileUse::WritesFile | FileUse::Saves if on_stdout(Some(name)) => {
                Err("it cannot be written to standard output: name a file".to_owned())
            }
            // The saved file would replace the device.
            FileUse::Saves if about.is_some() && !is_file && !is_folder => {
                Err("it is not a regular file, and the saved file would replace it: name another".to_owned())
            }
            FileUse::Writes | FileUse::WritesFile | FileUse::Saves if is_folder || ends_as_folder(name) => {
                Err("it is a folder: name a file in it".to_owned())
            }
            FileUse::Writes | FileUse::WritesFile if is_file => match File::options().append(true).open(path)
            {
                Ok(_) => Ok(()),
                Err(error) => Err(format!("it cannot be written: {error}")),
            },
            FileUse::Writes | FileUse::WritesFile | FileUse::Saves if about.is_some() => Ok(()),
            FileUse::Writes | FileUse::WritesFile | FileUse::Saves => {
                let folder = folder_of(path);
                match folder.is_dir() {
                    true => Ok(()),
                    false => Err(format!(
                        "it cannot be written, because {} is not a folder: create it, or name another",
                        folder.display()
                    )),
                }
            }
        }
    }

    /// Whether writing to one destroys what was written to the other.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::StandardOutput, Self::StandardOutput) => true,
            (Self::File { path, about }, Self::File { path: other, about: of_other }) => {
                // Devices and pipes keep everything that is written to them.
                let takes_all = about.as_ref().is_some_and(|about| !about.is_file() && !about.is_dir());
                !takes_all && (path == other || one_file(about.as_ref(), of_other.as_ref()))
            }
            _ => false,
        }
    }

    /// Whether it may be a picture that is drawn into the folder.
    fn is_picture_in(&self, folder: &Self) -> bool {
        match (self, folder) {
            (Self::File { path, .. }, Self::File { path: folder, .. }) => {
                path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
                    && path.parent() == Some(folder)
            }
            _ => false,
        }
    }
}

/// Why the second file conflicts with the first, if it does.
fn clash(first: (FileUse, &str, &Destination), second: (FileUse, &str, &Destination)) -> Option<String> {
    use FileUse::{Draws, Reads, Resumes, Saves};
    let (name, other) = (second.1, first.1);
    let reads = |what: FileUse| matches!(what, Reads | Resumes);
    match (first.0, second.0) {
        (one, two) if reads(one) && reads(two) => return None,
        // A resumed run may be saved to the file that it was read from.
        (Resumes, Saves) | (Saves, Resumes) => return None,
        (Draws, Draws) => return None,
        (Draws, _) if second.2.is_picture_in(first.2) => {
            return Some(format!("{other} draws into that folder, and may overwrite it: name another"));
        }
        (_, Draws) if first.2.is_picture_in(second.2) => {
            return Some(format!("{other} is in it, and a picture may overwrite it: name another"));
        }
        _ => {}
    }
    if !first.2.is(second.2) {
        return None;
    }
    Some(match (second.2, reads(first.0), reads(second.0)) {
        (Destination::StandardOutput, ..) => {
            format!("{other} is written to standard output, too: name a file for one of them")
        }
        (_, true, _) => format!("it is the file that {other} reads, which would be lost: name another"),
        (_, _, true) => format!("{other} would overwrite it: name another file there"),
        _ => format!(
            "{other} is written to the same file, and one of them would be lost: name another for {name}"
        ),
    })
}

/// Resolves links of a path as far as its files exist.
fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // A bound, because links may form a circle.
    for _ in 0..40 {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            Err(_) => break,
        }
    }
    match (fs::canonicalize(folder_of(&path)), path.file_name()) {
        (Ok(folder), Some(name)) if !ends_as_folder(&path) => folder.join(name),
        _ => path,
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn ends_as_folder(path: &Path) -> bool {
    path.to_string_lossy().ends_with(is_separator)
}

/// Whether both are the same file.
#[cfg(unix)]
fn one_file(one: Option<&Metadata>, other: Option<&Metadata>) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |about: &Metadata| (about.dev(), about.ino());
    one.is_some() && one.map(id) == other.map(id)
}

#[cfg(not(unix))]
fn one_file(_: Option<&Metadata>, _: Option<&Metadata>) -> bool {
    false // only paths can be compared here
}

/// Whether a result goes to standard output, so that nothing else may be printed there.
pub fn on_stdout(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() == "-")
}

/// Writes a result to a file, or to standard output for `-`.
pub fn write(path: &Path, bytes: &[u8]) -> Outcome<()> {
    if on_stdout(Some(path)) {
        return Ok(stdout().write_all(bytes)?);
    }
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Writes pixels to a file as PNG. Encodes all of it first, so that a full disk is an error of the
/// one write.
#[cfg(feature = "pictures")]
pub fn write_png(
    path: &Path,
    (width, height): (u32, u32),
    colour: png::ColorType,
    pixels: &[u8],
) -> Outcome<()> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    write(path, &bytes)
}

/// Returns the first error, which ends the program, and prints the others before it.
pub fn all(outcomes: impl IntoIterator<Item = Outcome<()>>) -> Outcome<()> {
    let mut first: Option<Failure> = None;
    for error in outcomes.into_iter().filter_map(Outcome::err) {
        match &first {
            Some(kept) if closed(&**kept) => first = Some(error),
            None => first = Some(error),
            Some(_) if closed(&*error) => {}
            Some(_) => print_report(&format!("error: {error}")),
        }
    }
    first.map_or(Ok(()), Err)
}

/// Reads the bytes of a file, as [`read_text`].
pub fn read_bytes(path: &Path, most: u64) -> Outcome<Vec<u8>> {
    let failed = |error: std::io::Error| -> Failure { format!("{}: {error}", path.display()).into() };
    let mut bytes = Vec::new();
    let mut read = |file: &mut dyn std::io::Read| file.take(most + 1).read_to_end(&mut bytes).map_err(failed);
    match on_stdout(Some(path)) {
        true => read(&mut std::io::stdin())?,
        false => read(&mut File::open(path).map_err(failed)?)?,
    };
    match bytes.len() as u64 > most {
        true => {
            let path = path.display();
            Err(usage(format!("{path}: the file has more than {most} bytes, which is the limit")))
        }
        false => Ok(bytes),
    }
}

/// The text of a file.
pub fn utf8(path: &Path, bytes: Vec<u8>) -> Outcome<String> {
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        usage(format!("{}: line {line} is not UTF-8: save the file in that encoding", path.display()))
    })
}

/// Reads a file of at most `most` bytes, without a byte-order mark. Endless files are read up to
/// that bound only.
/// For `-`, standard input.
pub fn read_text(path: &Path, most: u64) -> Outcome<String> {
    let mut text = utf8(path, read_bytes(path, most)?)?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}
