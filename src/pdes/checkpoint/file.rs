//! The file of a checkpoint: what lies where in it, and how it is read and written. `docs/checkpoints.md` says the same for others.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::text::quoted;
use crate::time::Ticks;

use super::super::error::MAX_LPS;
use super::{Apart, Checkpoint, CheckpointError, Identity};

/// No run has so many windows or events.
const MOST: u64 = 1 << 62;
/// What a file begins with. The bytes around the name show transfers that change ends of lines, as those of PNG do.
const MAGIC: [u8; 8] = *b"\x89EVH\r\n\x1a\n";
/// It changes with what lies where, and with what the same bytes would go on to.
const VERSION: u32 = 1;
/// Magic, version, number of sections, length.
const HEAD: usize = 24;
/// What a section begins with: tag, zeros, length.
const SECTION: usize = 16;
/// The checksum, at the end.
const END: usize = 4;

/// The sections, in their order.
pub(super) const SECTIONS: [[u8; 4]; 8] =
    [*b"numb", *b"name", *b"para", *b"stat", *b"memo", *b"exec", *b"held", *b"pend"];
pub(super) const NUMBERS: usize = 0;
pub(super) const NAME: usize = 1;
pub(super) const PARAMS: usize = 2;
pub(super) const STATES: usize = 3;
pub(super) const MEMORY: usize = 4;
pub(super) const EXECUTED: usize = 5;
pub(super) const HELD: usize = 6;
pub(super) const PENDING: usize = 7;

/// The numbers of the first section, 8 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Numbers {
    pub(super) lps: u64,
    pub(super) state_bytes: u64,
    pub(super) payload_words: u64,
    pub(super) memory_rows: u64,
    pub(super) lookahead: u64,
    /// Of the model's WGSL: its bytes without carriage returns, and their CRC-32.
    pub(super) source: [u64; 2],
    /// Of its data: words, and their CRC-32.
    pub(super) data: [u64; 2],
    pub(super) seed: u64,
    /// Point and number.
    pub(super) replica: [u64; 2],
    pub(super) windows: u64,
    pub(super) events: u64,
    /// The part of the fingerprint that is of executed events.
    pub(super) digest: u64,
    pub(super) done: u64,
    /// Time and events.
    pub(super) until: [u64; 2],
    /// How far apart LPs may stand, and before which time all is that was executed: [`Standing`].
    pub(super) standing: [u64; 2],
}

impl Numbers {
    const BYTES: usize = size_of::<Self>();

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let numbers: [u64; Self::BYTES / 8] = bytemuck::cast(self);
        bytemuck::cast(numbers.map(u64::to_le_bytes))
    }

    fn of_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let numbers: [[u8; 8]; Self::BYTES / 8] = bytemuck::cast(*bytes);
        bytemuck::cast(numbers.map(u64::from_le_bytes))
    }
}

impl Checkpoint {
    /// A file's bytes, if they are a checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError`] where they are none, or a damaged one. Whatever they say, no more memory is taken than they are long.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, CheckpointError> {
        let found = bytes.len() as u64;
        let Head { sections: count, length } = Head::of(&bytes)?;
        let length = length.max((HEAD + END) as u64);
        if found != length {
            return Err(CheckpointError::Length { length, found });
        }
        let body = bytes.len() - END;
        let sum = crc32fast::hash(&bytes[..body]);
        if sum.to_le_bytes() != bytes[body..] {
            return Err(CheckpointError::Checksum);
        }
        // What follows meets files that were made so on purpose, too.
        let wrong = |what| Err(CheckpointError::Inconsistent { what });
        if count as usize != SECTIONS.len() {
            return wrong("its sections are not those of this version");
        }
        let mut place = HEAD;
        let mut sections = [(0, 0); SECTIONS.len()];
        for (tag, section) in SECTIONS.iter().zip(&mut sections) {
            let Some(begin) = bytes[..body].get(place..).and_then(|rest| rest.get(..SECTION)) else {
                return wrong("a section is missing");
            };
            if begin[..4] != *tag || begin[4..8] != [0; 4] {
                return wrong("its sections are not those of this version");
            }
            let rest = body - place - SECTION;
            let Some(length) = usize::try_from(number(&begin[8..])).ok().filter(|&length| length <= rest)
            else {
                return wrong("a section is longer than the file");
            };
            *section = (place + SECTION, length);
            place += SECTION + length;
            let gap = place.next_multiple_of(8) - place;
            if bytes[..body].get(place..place + gap).is_none_or(|gap| gap.iter().any(|&byte| byte != 0)) {
                return wrong("a section does not end as it should");
            }
            place += gap;
        }
        if place != body {
            return wrong("something follows its sections");
        }
        let of = |section: usize| &bytes[sections[section].0..][..sections[section].1];
        let Ok(numbers) = of(NUMBERS).try_into() else {
            return wrong("its numbers are not those of this version");
        };
        let numbers = Numbers::of_bytes(numbers);
        if std::str::from_utf8(of(NAME)).is_err() {
            return wrong("the model's name is no text");
        }
        let Numbers { lps, state_bytes, payload_words, memory_rows, .. } = numbers;
        if lps == 0 || lps > MAX_LPS.into() || ![2, 6].contains(&payload_words) {
            return wrong("no model has so many LPs, or such events");
        }
        let narrow = |number: u64| u32::try_from(number).is_ok();
        // Those that go on are counted on from there.
        let counts = [numbers.windows, numbers.events];
        if !numbers.replica.into_iter().all(narrow)
            || !narrow(memory_rows)
            || counts.iter().any(|&count| count >= MOST)
            || numbers.standing[0] > Apart::Further as u64
        {
            return wrong("a number is out of range");
        }
        let each = [
            (STATES, Some(state_bytes)),
            (MEMORY, memory_rows.checked_mul(16)),
            (EXECUTED, Some(8)),
            (HELD, Some(4)),
        ];
        for (section, row) in each {
            if row.and_then(|row| row.checked_mul(lps)) != Some(of(section).len() as u64) {
                return wrong("it has rows for more or fewer LPs than the model has");
            }
        }
        let executed = of(EXECUTED).chunks_exact(8).map(number).try_fold(0_u64, u64::checked_add);
        if executed != Some(numbers.events) {
            return wrong("its LPs have executed more or fewer events than the run");
        }
        let event_bytes = 8 + 4 * usize::try_from(payload_words).expect("2 or 6");
        let held = of(HELD).chunks_exact(4).map(word);
        let total = held.clone().try_fold(0, |sum: u64, count| sum.checked_add(count.into()));
        if total.and_then(|total| total.checked_mul(event_bytes as u64)) != Some(of(PENDING).len() as u64) {
            return wrong("its LPs hold more or fewer events than there are");
        }
        let mut events = of(PENDING).chunks_exact(event_bytes);
        let mut now = Ticks::NEVER;
        for count in held {
            let mut last = None;
            for event in events.by_ref().take(count as usize) {
                let time = number(event);
                if time == Ticks::NEVER.get() || time < numbers.done {
                    return wrong("an event is pending at a time that is past, or none");
                }
                if last.is_some_and(|last| later(last, event)) {
                    return wrong("its events are not in order");
                }
                now = now.min(Ticks::new(time));
                last = Some(event);
            }
        }
        Ok(Self { bytes, numbers, sections, now })
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`CheckpointError::Read`] where it cannot be read, else as [`Checkpoint::from_bytes`]. What is no checkpoint is not read to its end.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        let path = path.as_ref();
        let failed = |source| CheckpointError::Read { path: shown(path), source };
        let file = File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        (&file).take(HEAD as u64).read_to_end(&mut bytes).map_err(failed)?;
        let Head { length, .. } = Head::of(&bytes)?;
        // A byte more shows that there are more.
        let rest = length.saturating_sub(bytes.len() as u64).saturating_add(1);
        (&file).take(rest).read_to_end(&mut bytes).map_err(failed)?;
        Self::from_bytes(bytes)
    }

    /// Writes the file: another one beside it first, which takes its name once all of it is on the disk. So there is always a whole one, the last or the
    /// one before, whenever the process or the machine ends.
    ///
    /// # Errors
    /// [`CheckpointError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CheckpointError> {
        let path = path.as_ref();
        let failed = |source| CheckpointError::Write { path: shown(path), source };
        let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::IsADirectory.into()))?;
        static SAVED: AtomicU64 = AtomicU64::new(0);
        // Another process may have left a file, or be writing one: those stay what they are. (Containers have process ids that repeat.)
        let (beside, mut file) = loop {
            let mut beside = name.to_owned();
            beside.push(format!(".{}.{}.part", std::process::id(), SAVED.fetch_add(1, Ordering::Relaxed)));
            let beside = path.with_file_name(beside);
            match File::create_new(&beside) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break (beside, made.map_err(failed)?),
            }
        };
        let written = (|| {
            file.write_all(&self.bytes)?;
            file.sync_all()?;
            drop(file);
            std::fs::rename(&beside, path)?;
            // The name, too. (Windows has no files that are folders, and some file systems cannot sync one.)
            if cfg!(unix) {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
            }
            Ok(())
        })();
        written.map_err(|error| {
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })
    }
}

/// What a file says of itself first.
struct Head {
    sections: u32,
    length: u64,
}

impl Head {
    fn of(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] || bytes.is_empty() {
            return Err(CheckpointError::NoCheckpoint);
        }
        if bytes.len() < HEAD {
            return Err(CheckpointError::Length { length: HEAD as u64, found: bytes.len() as u64 });
        }
        match word(&bytes[8..]) {
            VERSION => Ok(Self { sections: word(&bytes[12..]), length: number(&bytes[16..]) }),
            version => Err(CheckpointError::Version { version, known: VERSION }),
        }
    }
}

/// A file that is being made.
pub(super) struct Writer {
    bytes: Vec<u8>,
    written: usize,
}

impl Writer {
    /// With the sections up to the parameters.
    pub(super) fn new(numbers: &Numbers, identity: &Identity) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(&(SECTIONS.len() as u64).to_le_bytes()[..4]);
        bytes.extend([0; 8]);
        let mut file = Self { bytes, written: 0 };
        file.section(|bytes| bytes.extend(numbers.to_bytes()));
        file.section(|bytes| bytes.extend(identity.name.as_bytes()));
        file.section(|bytes| bytes.extend(&identity.params));
        file
    }

    /// Appends the next section, whose data are appended by a function.
    pub(super) fn section(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend(SECTIONS[self.written]);
        self.bytes.extend([0; 12]);
        let begin = self.bytes.len();
        append(&mut self.bytes);
        let length = (self.bytes.len() - begin) as u64;
        self.bytes[begin - 8..begin].copy_from_slice(&length.to_le_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.written += 1;
    }

    /// The length and the checksum: all that was missing.
    pub(super) fn end(mut self) -> Vec<u8> {
        let length = (self.bytes.len() + END) as u64;
        self.bytes[16..HEAD].copy_from_slice(&length.to_le_bytes());
        let sum = crc32fast::hash(&self.bytes);
        self.bytes.extend(sum.to_le_bytes());
        self.bytes
    }
}

/// Whether an event comes after another one.
fn later(event: &[u8], other: &[u8]) -> bool {
    let [words, others] = [event, other].map(|event| event[8..].chunks_exact(4).map(word));
    number(event).cmp(&number(other)).then_with(|| words.cmp(others)).is_gt()
}

/// The first 8 bytes as a number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    u64::from(word(&bytes[4..])) << 32 | u64::from(word(bytes))
}

/// The first 4.
pub(super) fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn shown(path: &Path) -> String {
    quoted(&path.display().to_string())
}
