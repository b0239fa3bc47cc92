//! Files that a program reads and writes. They are looked at before a run ([`check_files`]): what
//! cannot be written, or would be written over, is refused while nothing is lost. And after it what
//! can be written is written ([`all`]), though something else cannot.

use std::fs::{self, File, Metadata};
use std::io::{Read as _, Write as _, stdout};
use std::path::{Path, PathBuf, is_separator};
use std::time::Duration;

use eventhorizon::pdes::Autosave;

use super::{Failure, Outcome, closed, print_report, usage};

/// What is done with a file of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// It is read.
    Reads,
    /// A run goes on from it, and may be saved to the same file.
    Resumes,
    /// A result is written to it, or to standard output for `-`.
    Writes,
    /// The same, but not to standard output: pictures, and what is too long to be kept until its
    /// end.
    WritesFile,
    /// A run is saved in it: another file takes its name.
    Saves,
    /// SVG files are drawn into this folder, which is made if there is none.
    Draws,
}

/// A file: what is done with it, what the command line calls it, and its path if it was given.
pub type Named<'a> = (FileUse, &'a str, Option<&'a Path>);

/// Refuses outputs that cannot be written, and those that would destroy an input or another output.
/// Nothing is left there, or changed.
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
    Ok(())
}

/// Where a path leads.
enum Destination {
    StandardOutput,
    File {
        path: PathBuf,
        /// What is there, if it is.
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

    /// What is wrong with it as an output that is called so.
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
                    false => Err("it is no folder, and none can be made there: name another".to_owned()),
                }
            }
            FileUse::WritesFile | FileUse::Saves if on_stdout(Some(name)) => {
                Err("it is written to a file, and not to standard output: name one".to_owned())
            }
            // The file that takes the name takes the place of the device, too.
            FileUse::Saves if about.is_some() && !is_file && !is_folder => {
                Err("it is no regular file, and what is saved would take its place: name another".to_owned())
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
                        "it cannot be written, for {} is no folder: make it, or name another",
                        folder.display()
                    )),
                }
            }
        }
    }

    /// Whether what is written to one is lost where something is written to the other.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::StandardOutput, Self::StandardOutput) => true,
            (Self::File { path, about }, Self::File { path: other, about: of_other }) => {
                // Devices and pipes take all, one after the other.
                let takes_all = about.as_ref().is_some_and(|about| !about.is_file() && !about.is_dir());
                !takes_all && (path == other || one_file(about.as_ref(), of_other.as_ref()))
            }
            _ => false,
        }
    }

    /// Whether it may be one of the pictures in a folder.
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

/// Why two files cannot be: the second one's error.
fn clash(first: (FileUse, &str, &Destination), second: (FileUse, &str, &Destination)) -> Option<String> {
    use FileUse::{Draws, Reads, Resumes, Saves};
    let (name, other) = (second.1, first.1);
    let reads = |what: FileUse| matches!(what, Reads | Resumes);
    match (first.0, second.0) {
        (one, two) if reads(one) && reads(two) => return None,
        // To go on, and save where one has come from, is what saving is for.
        (Resumes, Saves) | (Saves, Resumes) => return None,
        (Draws, Draws) => return None,
        (Draws, _) if second.2.is_picture_in(first.2) => {
            return Some(format!("{other} draws into that folder, and may write over it: name another"));
        }
        (_, Draws) if first.2.is_picture_in(second.2) => {
            return Some(format!("{other} is in it, and a picture may be written over it: name another"));
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
        (_, true, _) => format!("it is the file that is read as {other}, which would be lost: name another"),
        (_, _, true) => format!("{other} would be written over it: name another file there"),
        _ => format!(
            "{other} is written to the same file, and one of them would be lost: name another for {name}"
        ),
    })
}

/// A path without links and detours, as far as what it names is there.
fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Links to nothing, in a circle at worst.
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

/// Whether two names are of one file.
#[cfg(unix)]
fn one_file(one: Option<&Metadata>, other: Option<&Metadata>) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |about: &Metadata| (about.dev(), about.ino());
    one.is_some() && one.map(id) == other.map(id)
}

#[cfg(not(unix))]
fn one_file(_: Option<&Metadata>, _: Option<&Metadata>) -> bool {
    false // what `canonicalize` says is all that is known
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

/// Writes pixels to a file as PNG. All of it is encoded before, so that a disk without room is an
/// error of the one call that writes.
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

/// What came of everything that was to be told or written: the first error ends the program, and
/// others are told before.
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

/// The text of a file of at most so many bytes, without the mark with which some editors of Windows
/// begin one. What has no end is not read to it.
pub fn read_text(path: &Path, most: u64) -> Outcome<String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut text = String::new();
    File::open(path).map_err(failed)?.take(most + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > most {
        let path = path.display();
        return Err(usage(format!("{path}: it has more than {most} bytes, and at most so many are read")));
    }
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}
