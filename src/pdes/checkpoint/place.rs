//! Writes checkpoints. A complete file appears under its name, or the previous file stays.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use web_time::{SystemTime, UNIX_EPOCH};

use crate::pdes::contract::checkpoint_error::{CheckpointError, shown};

/// The first bytes of a file. The bytes around the name detect transfers that change line ends, as
/// in PNG.
pub(super) const MAGIC: [u8; 8] = *b"\x89EVH\r\n\x1a\n";

/// Refuses a path at which nothing can be saved, by creating and removing a file there.
pub(crate) fn try_place(path: &Path) -> Result<(), CheckpointError> {
    let tried = target(path).and_then(|target| {
        named(&target)?;
        Unfinished::create(&target)?.remove();
        Ok(())
    });
    tried.map_err(|source| CheckpointError::Place { path: shown(path), source })
}

/// Writes these bytes to `path`: writes a temporary file next to it and renames that when all bytes
/// are on the disk. The new file has the permissions of the old one. Temporary files of dead
/// processes are removed first.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let written = target(path).and_then(|target| {
        named(&target)?;
        remove_left(&target);
        let mut unfinished = Unfinished::create(&target)?;
        match unfinished.finish(&target, bytes) {
            Ok(()) => Ok(()),
            Err(error) => {
                unfinished.remove();
                Err(error)
            }
        }
    });
    written.map_err(|source| CheckpointError::Write { path: shown(path), source })
}

/// A temporary file next to its target. Its process holds a lock on it.
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Unfinished {
    fn create(target: &Path) -> io::Result<Self> {
        loop {
            let path = target.with_file_name(part_name(target, number()));
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    let file = made?;
                    // Some file systems have no locks. There, no process takes this one for dead
                    // either.
                    let _ = file.lock();
                    // Another process may have removed the file before it was locked. No process
                    // has created another file of this name.
                    if path.exists() {
                        return Ok(Self { path, file });
                    }
                }
            }
        }
    }

    fn finish(&mut self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Ok(there) = fs::metadata(target)
            && there.permissions() != self.file.metadata()?.permissions()
        {
            self.file.set_permissions(there.permissions())?;
        }
        self.file.write_all(bytes)?;
        self.file.sync_all()?;
        fs::rename(&self.path, target)?;
        // Syncs the name, too. (Windows cannot open folders as files, and some file systems cannot
        // sync folders.)
        if cfg!(unix) {
            let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A number unique to this process: process ids repeat in containers and on machines that share a
/// folder.
fn number() -> u64 {
    static OWN: LazyLock<u64> = LazyLock::new(|| {
        // Random keys of the standard library, and the time and process id if these repeat.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        RandomState::new().hash_one((now, std::process::id()))
    });
    static MADE: AtomicU64 = AtomicU64::new(0);
    OWN.wrapping_add(MADE.fetch_add(1, Ordering::Relaxed))
}

/// The name of a temporary file.
fn part_name(target: &Path, number: u64) -> OsString {
    let mut name = stem(target);
    name.push(format!(".{}.{number}.part", std::process::id()));
    name
}

/// The maximum number of bytes of a file's name at the start of its temporary file's name: file
/// systems allow 255 bytes in all.
const STEM: usize = 200;

/// The start of the names of temporary files.
fn stem(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or_default();
    if name.len() <= STEM {
        return name.to_owned();
    }
    let text = name.to_string_lossy();
    text[..text.floor_char_boundary(STEM)].into()
}

/// Removes the temporary files of processes that ended while saving: those that are not locked.
fn remove_left(target: &Path) {
    let stem = stem(target);
    let entries = fs::read_dir(folder_of(target)).into_iter().flatten().flatten();
    for entry in entries {
        let is_file = entry.file_type().is_ok_and(|is| is.is_file());
        if is_file && is_unfinished(&entry.file_name(), &stem) {
            let path = entry.path();
            // The lock is held during removal: see `Unfinished::create`.
            if let Ok(file) = File::options().write(true).open(&path)
                && file.try_lock().is_ok()
            {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Whether a name is `stem.PROCESS.NUMBER.part`.
fn is_unfinished(name: &OsStr, stem: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes());
    let Some(rest) = rest.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(b".part")) else {
        return false;
    };
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let mut parts = rest.split(|&byte| byte == b'.');
    parts.by_ref().take(2).filter(|part| is_number(part)).count() == 2 && parts.next().is_none()
}

/// The file at a path, through links, if a checkpoint may replace it: it does not exist, or it is
/// empty or a checkpoint. (Any other file, a device or a pipe would be lost.)
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // The limit on links in common systems.
    for _ in 0..40 {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    let found = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
        found => found?,
    };
    if found.is_file() {
        let mut begin = Vec::new();
        File::open(&path)?.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
        if begin.is_empty() || begin == MAGIC {
            return Ok(path);
        }
    } else if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let what = "the file there is not a checkpoint and would be lost: choose another name, or remove it";
    Err(io::Error::new(io::ErrorKind::AlreadyExists, what))
}

/// Refuses a path without a file name.
fn named(target: &Path) -> io::Result<()> {
    match target.file_name() {
        Some(_) => Ok(()),
        None => Err(io::ErrorKind::IsADirectory.into()),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints the name of the first temporary file of a process: see the next test.
    #[test]
    #[expect(clippy::print_stdout, reason = "the next test reads it")]
    fn the_name_of_an_unfinished_file_is_that_of_one() {
        let number = number();
        let name = part_name(Path::new("folder/run"), number);
        println!("number {number} ends here");
        assert!(is_unfinished(&name, OsStr::new("run")), "{name:?}");
        assert!(!is_unfinished(&name, OsStr::new("walk")), "{name:?}");
        assert_ne!(self::number(), number);
    }

    /// Process ids do not matter: in containers they may be equal.
    #[test]
    #[cfg(unix)]
    fn processes_number_their_unfinished_files_apart() {
        let test = "pdes::checkpoint::place::tests::the_name_of_an_unfinished_file_is_that_of_one";
        let number = || {
            let program = std::env::current_exe().unwrap();
            let output = std::process::Command::new(program).args(["--exact", test, "--nocapture"]).output();
            let text = String::from_utf8(output.unwrap().stdout).unwrap();
            let number = text.split("number ").nth(1).and_then(|rest| rest.split(" ends here").next());
            number.unwrap_or_else(|| panic!("{text}")).parse::<u64>().unwrap()
        };
        let numbers = [number(), number(), self::number()];
        // The numbers differ so much that counting files does not lead from one to another.
        for (place, &left) in numbers.iter().enumerate() {
            for &right in &numbers[place + 1..] {
                assert!(left.abs_diff(right) > 1 << 20, "{numbers:?}");
            }
        }
    }
}
