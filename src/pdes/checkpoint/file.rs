//! Files of sections with a checksum: the format shared by all checkpoints. `docs/checkpoints.md`
//! describes it for users.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use bytemuck::Pod;

use crate::random::STREAMS_VERSION;

use super::place::{MAGIC, replace};
use crate::pdes::contract::checkpoint_error::{CheckpointError, shown};

/// The version of the format: incremented with the layout of all files. The contents of a kind have
/// their own version ([`Kind::version`]), as have random streams ([`STREAMS_VERSION`]).
const VERSION: u32 = 2;
/// Magic, version, number of sections, length, version of the kind, version of the streams.
const HEAD: usize = 32;
/// Bytes of a section's header: tag, zeros, length.
const SECTION: usize = 16;
/// Bytes of the checksum, at the end.
const END: usize = 4;

/// The kind of a file, identified by its first tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Incremented if the contents of the sections change, or if the same bytes would continue
    /// differently.
    pub(crate) version: u32,
    /// The sections, in their order.
    pub(crate) tags: &'static [[u8; 4]],
}

/// A run of `pdes`: `checkpoint/sections.rs`.
pub(crate) static RUN: Kind = Kind {
    name: "a run",
    version: 1,
    tags: &[*b"numb", *b"name", *b"para", *b"stat", *b"memo", *b"exec", *b"held", *b"pend"],
};

/// A study of a network: `facility/saved.rs`.
pub(crate) static STUDY: Kind = Kind {
    name: "a study of a network",
    version: 6,
    tags: &[*b"stud", *b"netw", *b"valu", *b"leng", *b"resu", *b"runs", *b"hist"],
};

/// A study of a process model: `process/study/saved.rs`.
pub(crate) static PROCESS_STUDY: Kind = Kind {
    name: "a study of a process model, or of a network that runs as one",
    version: 2,
    tags: &[*b"proc", *b"para", *b"meas", *b"repl", *b"hist"],
};

/// All kinds.
static KINDS: [&Kind; 3] = [&RUN, &STUDY, &PROCESS_STUDY];

/// A file in memory, with the places of its sections.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Sections {
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
}

impl Sections {
    /// Reads a file of this kind from bytes. It never allocates more memory than the length of
    /// `bytes`, whatever they contain.
    pub(crate) fn of(bytes: Vec<u8>, kind: &'static Kind) -> Result<Self, CheckpointError> {
        let found = bytes.len() as u64;
        let Head { sections: count, length, versions } = Head::of(&bytes)?;
        let length = length.max((HEAD + END) as u64);
        if found != length {
            return Err(CheckpointError::Length { length, found });
        }
        let body = bytes.len() - END;
        let sum = crc32fast::hash(&bytes[..body]);
        if sum.to_le_bytes() != bytes[body..] {
            return Err(CheckpointError::Checksum);
        }
        // From here on the checksum is right, but the file may still be forged.
        let wrong = |what| Err(CheckpointError::Inconsistent { what });
        let is = KINDS.iter().find(|kind| bytes[HEAD..body].starts_with(&kind.tags[0]));
        if let Some(is) = is.filter(|is| **is != kind) {
            return Err(CheckpointError::Kind { is: is.name, wanted: kind.name });
        }
        for (of, version, known) in
            [(kind.name, versions[0], kind.version), ("the random streams", versions[1], STREAMS_VERSION)]
        {
            if version != known {
                return Err(CheckpointError::Version { of, version, known });
            }
        }
        if count as usize != kind.tags.len() {
            return wrong("its sections do not match its version");
        }
        let mut place = HEAD;
        let mut places = Vec::with_capacity(kind.tags.len());
        for tag in kind.tags {
            let Some(begin) = bytes[..body].get(place..).and_then(|rest| rest.get(..SECTION)) else {
                return wrong("a section is missing");
            };
            if begin[..4] != *tag || begin[4..8] != [0; 4] {
                return wrong("its sections do not match its version");
            }
            let rest = body - place - SECTION;
            let Some(length) = usize::try_from(number(&begin[8..])).ok().filter(|&length| length <= rest)
            else {
                return wrong("a section is longer than the file");
            };
            places.push((place + SECTION, length));
            place += SECTION + length;
            let gap = place.next_multiple_of(8) - place;
            if bytes[..body].get(place..place + gap).is_none_or(|gap| gap.iter().any(|&byte| byte != 0)) {
                return wrong("the padding of a section is not zero");
            }
            place += gap;
        }
        if place != body {
            return wrong("there are bytes after its sections");
        }
        Ok(Self { bytes, places })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn section(&self, section: usize) -> &[u8] {
        let (begin, length) = self.places[section];
        &self.bytes[begin..][..length]
    }

    /// The numbers of a section, 8 bytes each.
    pub(crate) fn numbers<T: Pod>(&self, section: usize) -> Result<T, CheckpointError> {
        let bytes = self.section(section);
        if bytes.len() != size_of::<T>() {
            return Err(CheckpointError::Inconsistent { what: "its numbers do not match its version" });
        }
        let mut numbers = T::zeroed();
        let words = bytemuck::cast_slice_mut::<T, u64>(std::slice::from_mut(&mut numbers));
        words.iter_mut().zip(bytes.chunks_exact(8)).for_each(|(word, bytes)| *word = number(bytes));
        Ok(numbers)
    }

    /// Reads a file. A file that is not a checkpoint is not read to its end.
    pub(crate) fn load(path: &Path, kind: &'static Kind) -> Result<Self, CheckpointError> {
        let failed = |source| CheckpointError::Read { path: shown(path), source };
        let file = File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        (&file).take(HEAD as u64).read_to_end(&mut bytes).map_err(failed)?;
        let Head { length, .. } = Head::of(&bytes)?;
        // One byte more detects a file that is too long.
        let rest = length.saturating_sub(bytes.len() as u64).saturating_add(1);
        (&file).take(rest).read_to_end(&mut bytes).map_err(failed)?;
        Self::of(bytes, kind)
    }

    /// Writes the file. There is always a complete file under its name, the new one or the previous
    /// one.
    pub(crate) fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        replace(path, &self.bytes)
    }
}

/// The header of a file.
struct Head {
    sections: u32,
    length: u64,
    /// The versions of the kind and of the random streams.
    versions: [u32; 2],
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
            VERSION => Ok(Self {
                sections: word(&bytes[12..]),
                length: number(&bytes[16..]),
                versions: [word(&bytes[24..]), word(&bytes[28..])],
            }),
            version => Err(CheckpointError::Version { of: "the file format", version, known: VERSION }),
        }
    }
}

/// A file that is being written.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    kind: &'static Kind,
    written: usize,
}

impl Writer {
    pub(crate) fn new(kind: &'static Kind) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(&(kind.tags.len() as u64).to_le_bytes()[..4]);
        bytes.extend([0; 8]);
        bytes.extend(kind.version.to_le_bytes());
        bytes.extend(STREAMS_VERSION.to_le_bytes());
        Self { bytes, kind, written: 0 }
    }

    /// Appends the next section: numbers of 8 bytes.
    pub(crate) fn numbers<T: Pod>(&mut self, numbers: &T) {
        let words = bytemuck::cast_slice::<T, u64>(std::slice::from_ref(numbers));
        self.section(|bytes| words.iter().for_each(|word| bytes.extend(word.to_le_bytes())));
    }

    /// Appends the next section, with the data that `append` writes.
    pub(crate) fn section(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend(self.kind.tags[self.written]);
        self.bytes.extend([0; 12]);
        let begin = self.bytes.len();
        append(&mut self.bytes);
        let length = (self.bytes.len() - begin) as u64;
        self.bytes[begin - 8..begin].copy_from_slice(&length.to_le_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.written += 1;
    }

    /// Adds the length and the checksum, and returns the complete file.
    pub(crate) fn end(mut self) -> Vec<u8> {
        let length = (self.bytes.len() + END) as u64;
        self.bytes[16..24].copy_from_slice(&length.to_le_bytes());
        let sum = crc32fast::hash(&self.bytes);
        self.bytes.extend(sum.to_le_bytes());
        self.bytes
    }
}

/// The first 8 bytes as a little-endian number.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    u64::from(word(&bytes[4..])) << 32 | u64::from(word(bytes))
}

/// The first 4 bytes as a little-endian number.
pub(crate) fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
