//! Checkpoints: a run between two windows, as bytes that any engine goes on from. `docs/checkpoints.md` says what lies where.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;
use web_time::{Duration, Instant};

use crate::gpu::Verdict;
use crate::text::quoted;
use crate::time::Ticks;

use super::error::MAX_LPS;
use super::{Event, Model, Payload, Pending, Progress, Replica, SimulationError, Stop, Until};

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
const SECTIONS: [[u8; 4]; 8] =
    [*b"numb", *b"name", *b"para", *b"stat", *b"memo", *b"exec", *b"held", *b"pend"];
const NUMBERS: usize = 0;
const NAME: usize = 1;
const PARAMS: usize = 2;
const STATES: usize = 3;
const MEMORY: usize = 4;
const EXECUTED: usize = 5;
const HELD: usize = 6;
const PENDING: usize = 7;

/// The numbers of the first section, 8 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Numbers {
    lps: u64,
    state_bytes: u64,
    payload_words: u64,
    memory_rows: u64,
    lookahead: u64,
    /// Of the model's WGSL: its bytes without carriage returns, and their CRC-32.
    source: [u64; 2],
    /// Of its data: words, and their CRC-32.
    data: [u64; 2],
    seed: u64,
    /// Point and number.
    replica: [u64; 2],
    windows: u64,
    events: u64,
    /// The part of the fingerprint that is of executed events.
    digest: u64,
    done: u64,
    /// Time and events.
    until: [u64; 2],
    /// How far apart LPs may stand, and before which time all is that was executed: [`Standing`].
    standing: [u64; 2],
}

/// Where LPs stand: a fork may break promises that the run itself keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    apart: Apart,
    /// All that was executed is earlier, unless that is [`Apart::Level`].
    before: Ticks,
}

/// How far apart LPs may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Apart {
    /// All that is pending is later than all that was executed.
    Level = 0,
    /// Some LPs are ahead of what is pending, within a cell of the lookahead.
    Cell = 1,
    /// Some are further ahead: how far they may go followed from what others were going to send.
    Further = 2,
}

impl Standing {
    pub(super) const LEVEL: Self = Self { apart: Apart::Level, before: Ticks::ZERO };

    /// A run that heads to `until` stood still somewhere.
    pub(super) fn stood(self, apart: Apart, until: Until) -> Self {
        Self { apart: self.apart.max(apart), before: self.before.max(until.time) }
    }

    /// A run came to its end.
    pub(super) fn ended(self, stop: Option<Stop>, until: Until) -> Self {
        match stop {
            Some(Stop::Empty) => Self::LEVEL,
            Some(Stop::Time) if until.time >= self.before => Self::LEVEL,
            Some(Stop::Time) => self,
            _ => self.stood(Apart::Cell, until),
        }
    }
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

/// Which model it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    name: String,
    params: Vec<u8>,
    lps: u32,
    state_bytes: usize,
    payload_words: usize,
    memory_rows: u32,
    lookahead: Ticks,
    source: [u64; 2],
    data: [u64; 2],
}

impl Identity {
    pub(super) fn of<M: Model>(model: &M) -> Self {
        let source = model.source();
        let mut text = crc32fast::Hasher::new();
        let mut length = 0;
        // Ends of lines are those of whoever checked the file out.
        for piece in source.text().split('\r') {
            text.update(piece.as_bytes());
            length += piece.len() as u64;
        }
        let data = model.data();
        Self {
            name: model.name().to_owned(),
            params: model.params_bytes(),
            lps: model.lps(),
            state_bytes: super::schema::state_bytes(model),
            payload_words: size_of::<M::Payload>() / 4,
            memory_rows: model.memory_rows(),
            lookahead: model.lookahead(),
            source: [length, text.finalize().into()],
            data: [data.len() as u64, crc32fast::hash(bytemuck::cast_slice(data)).into()],
        }
    }
}

/// What an engine tells of a run between two windows.
pub(super) struct Told<'a, S, P> {
    pub(super) identity: &'a Identity,
    pub(super) seed: u64,
    pub(super) replica: Replica,
    /// Where the run was to end.
    pub(super) until: Until,
    /// The latest time up to which a run went.
    pub(super) done: Ticks,
    pub(super) windows: u64,
    pub(super) events: u64,
    /// The part of the fingerprint that is of executed events.
    pub(super) digest: u64,
    pub(super) standing: Standing,
    pub(super) states: &'a [S],
    pub(super) memory: &'a [[u32; 4]],
    /// By LP.
    pub(super) executed: &'a [u64],
    /// By LP and then in order.
    pub(super) pending: &'a [(u32, Event<P>)],
}

/// A run between two windows: all that decides how it goes on, and nothing of how it was made. It is the same, byte for byte, whichever engine, device, queue design or
/// capacity wrote it, and any of them goes on from it: [`Simulation::resume`](super::Simulation::resume), [`CpuSimulation::resume`](super::CpuSimulation::resume). (Ways to
/// synchronise differ in their counts of windows alone.) `docs/checkpoints.md` says what a file holds.
///
/// ```
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{Checkpoint, CpuSimulation, Until};
/// use eventhorizon::time::{Resolution, Ticks};
///
/// let model = Phold::new(100, 4, 0.1, 10.0, Resolution::default())?;
/// let mut first = CpuSimulation::new(&model, 42)?;
/// first.run(Until::events(500))?;
/// let saved = first.checkpoint()?.as_bytes().to_vec();
///
/// let checkpoint = Checkpoint::from_bytes(saved)?;
/// let mut second = CpuSimulation::resume(&model, &checkpoint)?;
/// assert_eq!(first.run(Until::events(2000))?, second.run(Until::events(2000))?);
/// assert_eq!(first.fingerprint(), second.fingerprint());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Two counts begin anew: those of windows after which a time that does not advance is a fault ([`FaultKind::Stuck`](super::FaultKind::Stuck),
/// [`FaultKind::Cycle`](super::FaultKind::Cycle)).
#[derive(Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The file, which was looked through.
    bytes: Vec<u8>,
    numbers: Numbers,
    /// Where sections lie.
    sections: [(usize, usize); SECTIONS.len()],
    /// Of the first pending event.
    now: Ticks,
}

impl Checkpoint {
    /// # Errors
    /// [`CheckpointError::Inconsistent`] where what it is told does not fit together: a device that lost something.
    pub(super) fn new<S: Pod, P: Payload>(told: &Told<'_, S, P>) -> Result<Self, CheckpointError> {
        let identity = told.identity;
        let numbers = Numbers {
            lps: identity.lps.into(),
            state_bytes: identity.state_bytes as u64,
            payload_words: identity.payload_words as u64,
            memory_rows: identity.memory_rows.into(),
            lookahead: identity.lookahead.get(),
            source: identity.source,
            data: identity.data,
            seed: told.seed,
            replica: [told.replica.point.into(), told.replica.number.into()],
            windows: told.windows,
            events: told.events,
            digest: told.digest,
            done: told.done.get(),
            until: [told.until.time.get(), told.until.events],
            standing: [told.standing.apart as u64, told.standing.before.get()],
        };
        let mut held = vec![0_u32; identity.lps as usize];
        for (lp, _) in told.pending {
            held[*lp as usize] += 1;
        }
        let states: &[u8] = if size_of::<S>() == 0 { &[] } else { bytemuck::cast_slice(told.states) };
        let mut file = Writer::new(&numbers, identity);
        file.section(|bytes| bytes.extend(states));
        file.section(|bytes| told.memory.iter().flatten().for_each(|word| bytes.extend(word.to_le_bytes())));
        file.section(|bytes| told.executed.iter().for_each(|count| bytes.extend(count.to_le_bytes())));
        file.section(|bytes| held.iter().for_each(|count| bytes.extend(count.to_le_bytes())));
        file.section(|bytes| {
            let words = told.pending.iter().flat_map(|(_, event)| event.words());
            words.for_each(|word| bytes.extend(word.to_le_bytes()));
        });
        Self::from_bytes(file.end())
    }

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

    /// The same state with other random streams, or for another model: a warm start. The model may have other parameters, data, lookahead and behaviour;
    /// it must have as many LPs, and states, LP memory and events of the same sizes.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] where it has not; [`CheckpointError::Apart`] where LPs had gone ahead of others on what these were going to send, which a fork may
    /// not do.
    pub fn fork<M: Model>(&self, model: &M, seed: u64, replica: Replica) -> Result<Self, CheckpointError> {
        let identity = Identity::of(model);
        self.check_layout(&identity)?;
        let shorter = identity.lookahead.get() < self.numbers.lookahead;
        match self.standing().apart {
            Apart::Level => {}
            Apart::Cell if !shorter => {}
            _ => return Err(CheckpointError::Apart),
        }
        let numbers = Numbers {
            lookahead: identity.lookahead.get(),
            source: identity.source,
            data: identity.data,
            seed,
            replica: [replica.point.into(), replica.number.into()],
            ..self.numbers
        };
        let mut file = Writer::new(&numbers, &identity);
        for section in [STATES, MEMORY, EXECUTED, HELD, PENDING] {
            file.section(|bytes| bytes.extend(self.section(section)));
        }
        Self::from_bytes(file.end())
    }

    pub(super) fn standing(&self) -> Standing {
        let [apart, before] = self.numbers.standing;
        let apart = match apart {
            0 => Apart::Level,
            1 => Apart::Cell,
            _ => Apart::Further,
        };
        Standing { apart, before: Ticks::new(before) }
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        std::str::from_utf8(self.section(NAME)).expect("it was looked through")
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.numbers.seed
    }

    /// Which of an experiment's runs it is.
    pub fn replica(&self) -> Replica {
        let [point, number] = self.numbers.replica.map(narrow);
        Replica { point, number }
    }

    /// Where the run was to end.
    pub fn until(&self) -> Until {
        let [time, events] = self.numbers.until;
        Until { time: Ticks::new(time), events }
    }

    /// How far the run was: `now` is the time of the first pending event.
    pub fn progress(&self) -> Progress {
        let Numbers { events, windows, .. } = self.numbers;
        Progress { now: self.now, events, windows, stop: None }
    }

    /// The events that are pending, by LP and then in order.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] where events have another payload.
    pub fn pending<P: Payload>(&self) -> Result<Pending<P>, CheckpointError> {
        foreign("words of payload", self.numbers.payload_words, size_of::<P>() as u64 / 4)?;
        let lps = (0..).zip(self.held()).flat_map(|(lp, count)| std::iter::repeat_n(lp, count as usize));
        Ok(lps.zip(self.events()).collect())
    }

    /// Whether a run of this model can go on from here.
    pub(super) fn check(&self, identity: &Identity) -> Result<(), CheckpointError> {
        let saved = self.model();
        if saved != identity.name {
            let what = format!("of the model `{}`, and this is `{}`", quoted(saved), quoted(&identity.name));
            return Err(CheckpointError::Foreign { what });
        }
        self.check_layout(identity)?;
        foreign("ticks of lookahead", self.numbers.lookahead, identity.lookahead.get())?;
        let same = [
            ("another WGSL text", self.numbers.source == identity.source),
            ("other data", self.numbers.data == identity.data),
            ("other parameters", self.section(PARAMS) == identity.params),
        ];
        match same.into_iter().find(|(_, same)| !same) {
            Some((what, _)) => Err(CheckpointError::Foreign { what: format!("of a model with {what}") }),
            None => Ok(()),
        }
    }

    fn check_layout(&self, identity: &Identity) -> Result<(), CheckpointError> {
        let Numbers { lps, state_bytes, payload_words, memory_rows, .. } = self.numbers;
        foreign("LPs", lps, identity.lps.into())?;
        foreign("bytes of `State`", state_bytes, identity.state_bytes as u64)?;
        foreign("words of payload", payload_words, identity.payload_words as u64)?;
        foreign("rows of LP memory", memory_rows, identity.memory_rows.into())
    }

    /// The latest time up to which a run went.
    pub(super) fn done(&self) -> Ticks {
        Ticks::new(self.numbers.done)
    }

    /// The part of the fingerprint that is of executed events.
    pub(super) fn digest(&self) -> u64 {
        self.numbers.digest
    }

    /// The states of a model whose layout was checked.
    pub(super) fn states<S: Pod>(&self) -> Vec<S> {
        match size_of::<S>() {
            0 => vec![S::zeroed(); narrow(self.numbers.lps) as usize],
            bytes => self.section(STATES).chunks_exact(bytes).map(bytemuck::pod_read_unaligned).collect(),
        }
    }

    pub(super) fn memory(&self) -> Vec<[u32; 4]> {
        let rows = self.section(MEMORY).chunks_exact(16);
        rows.map(|row| std::array::from_fn(|i| word(&row[4 * i..]))).collect()
    }

    /// The events that LPs have executed.
    pub(super) fn executed(&self) -> impl Iterator<Item = u64> {
        self.section(EXECUTED).chunks_exact(8).map(number)
    }

    /// How many events are pending, by LP.
    pub(super) fn held(&self) -> impl Iterator<Item = u32> {
        self.section(HELD).chunks_exact(4).map(word)
    }

    /// Them, LP by LP, for a model whose layout was checked.
    pub(super) fn events<P: Payload>(&self) -> impl Iterator<Item = Event<P>> {
        let events = self.section(PENDING).chunks_exact(size_of::<Event<P>>());
        events.map(|event| Event {
            time: Ticks::new(number(event)),
            payload: {
                let mut payload = P::zeroed();
                let words = bytemuck::cast_slice_mut::<P, u32>(std::slice::from_mut(&mut payload));
                words.iter_mut().zip(event[8..].chunks_exact(4)).for_each(|(to, from)| *to = word(from));
                payload
            },
        })
    }

    fn section(&self, section: usize) -> &[u8] {
        let (begin, length) = self.sections[section];
        &self.bytes[begin..][..length]
    }
}

impl std::fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoint")
            .field("model", &self.model())
            .field("numbers", &self.numbers)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
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
struct Writer {
    bytes: Vec<u8>,
    written: usize,
}

impl Writer {
    /// With the sections up to the parameters.
    fn new(numbers: &Numbers, identity: &Identity) -> Self {
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
    fn section(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
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
    fn end(mut self) -> Vec<u8> {
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
fn number(bytes: &[u8]) -> u64 {
    u64::from(word(&bytes[4..])) << 32 | u64::from(word(bytes))
}

/// The first 4.
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("it was looked through")
}

fn foreign(what: &str, saved: u64, given: u64) -> Result<(), CheckpointError> {
    match saved == given {
        true => Ok(()),
        false => Err(CheckpointError::Foreign {
            what: format!("of a model with {saved} {what}, and this one has {given}"),
        }),
    }
}

fn shown(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// An engine that can save its run.
pub(super) trait Saves {
    fn run_until_told(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> std::ops::ControlFlow<()>,
    ) -> Result<Progress, SimulationError>;

    fn take(&self) -> Result<Checkpoint, SimulationError>;

    /// Runs to an end, and saves the run every so often and where it ends.
    fn run_and_save<V: Verdict>(
        &mut self,
        until: Until,
        path: &Path,
        every: Duration,
        mut watch: impl FnMut(&Progress) -> V,
    ) -> Result<Progress, SimulationError> {
        use std::ops::ControlFlow::{Break, Continue};
        loop {
            let (begun, mut stopped) = (Instant::now(), false);
            let progress = self.run_until_told(until, &mut |progress| {
                stopped |= watch(progress).flow().is_break();
                if stopped || begun.elapsed() >= every { Break(()) } else { Continue(()) }
            })?;
            self.take()?.save(path)?;
            if stopped || progress.stop != Some(Stop::Watcher) {
                return Ok(progress);
            }
        }
    }
}

/// What can be wrong with a checkpoint.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file could not be read.
    #[error("the checkpoint {path} could not be read: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// The file could not be written. What was there before is there still.
    #[error(
        "the checkpoint {path} could not be written: {source}. What was saved there before is there still"
    )]
    Write {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// Something else.
    #[error("this is no checkpoint: it does not begin as one, or was changed like a text on its way")]
    NoCheckpoint,
    /// A version that this library does not know.
    #[error(
        "the checkpoint is of version {version}, and this library reads version {known}: use the library that wrote it"
    )]
    Version {
        /// The file's.
        version: u32,
        /// The library's.
        known: u32,
    },
    /// A file that ends early, or goes on.
    #[error("the checkpoint should be {length} bytes long, and there are {}: {}", if found > length { "more".to_owned() } else { found.to_string() },
        if found > length { "something was appended to it" } else { "its end is missing" })]
    Length {
        /// What it says itself, or what it has at the least.
        length: u64,
        /// What there is, or was read.
        found: u64,
    },
    /// Bytes that were changed.
    #[error("the checkpoint is damaged: its checksum is that of other bytes. Use an earlier one")]
    Checksum,
    /// What no engine writes.
    #[error("the checkpoint is damaged, or was not written by this library: {what}")]
    Inconsistent {
        /// What does not fit together.
        what: &'static str,
    },
    /// A checkpoint of another model.
    #[error(
        "the checkpoint is {what}: go on with the model that it is of, or, where LPs, states and events have the same sizes, make a fork of it \
         (`Checkpoint::fork`)"
    )]
    Foreign {
        /// In what it differs.
        what: String,
    },
    /// A fork of a run that stood still in the middle.
    #[error(
        "in this checkpoint some LPs are ahead of others, relying on what these were going to send, and a fork may send something else: run it on to a time \
         beyond the end that it was heading to, or until nothing is pending; or stop runs that are to be forked at a time (`Until::time`), or with \
         `Sync::Yawns` and keep the lookahead"
    )]
    Apart,
    /// A part of a run.
    #[error("only whole runs are saved, and this is one of some of a model's LPs")]
    Part,
}

crate::text::debug_is_display!(CheckpointError);
