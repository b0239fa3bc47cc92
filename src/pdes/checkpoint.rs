//! Checkpoints: a run between two windows, that any engine goes on from. `checkpoint/run.rs` says what the file holds, `checkpoint/file.rs` how files are made.

mod error;
pub(crate) mod file;
mod run;

use std::path::Path;

use bytemuck::Pod;
use web_time::{Duration, Instant};

use crate::gpu::Verdict;
use crate::text::quoted;
use crate::time::Ticks;

use super::{Event, Model, Payload, Pending, Progress, Replica, SimulationError, Stop, Until};
pub use error::CheckpointError;
use file::{RUN, Sections, number, word};
use run::{EXECUTED, HELD, MEMORY, NAME, Numbers, PARAMS, PENDING, STATES, writer};

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

/// Which model it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
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
    pub(crate) fn of<M: Model>(model: &M) -> Self {
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

    /// Of the WGSL: its bytes without carriage returns, and their CRC-32.
    pub(crate) fn source(&self) -> [u64; 2] {
        self.source
    }
}

/// What ranks compare of a model that they all should have.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn compared<M: Model>(model: &M) -> [(&'static str, u64); 8] {
    let identity = Identity::of(model);
    let text = |bytes: &[u8]| u64::from(crc32fast::hash(bytes)) << 32 | bytes.len() as u64;
    let [words, sum] = identity.data;
    let [bytes, crc] = identity.source;
    [
        ("the model", text(identity.name.as_bytes())),
        ("the number of LPs", identity.lps.into()),
        ("the lookahead", identity.lookahead.get()),
        ("the parameters", text(&identity.params)),
        ("the data", sum << 32 ^ words),
        ("the WGSL", crc << 32 ^ bytes),
        ("the size of a state", identity.state_bytes as u64),
        (
            "the size of an event, or of LP memory",
            (identity.payload_words as u64) << 32 | u64::from(identity.memory_rows),
        ),
    ]
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
    file: Sections,
    numbers: Numbers,
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
        let mut file = writer(&numbers, identity);
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
        let mut file = writer(&numbers, &identity);
        for section in [STATES, MEMORY, EXECUTED, HELD, PENDING] {
            file.section(|bytes| bytes.extend(self.file.section(section)));
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
        std::str::from_utf8(self.file.section(NAME)).expect("it was looked through")
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
            ("other parameters", self.file.section(PARAMS) == identity.params),
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
            bytes => {
                self.file.section(STATES).chunks_exact(bytes).map(bytemuck::pod_read_unaligned).collect()
            }
        }
    }

    pub(super) fn memory(&self) -> Vec<[u32; 4]> {
        let rows = self.file.section(MEMORY).chunks_exact(16);
        rows.map(|row| std::array::from_fn(|i| word(&row[4 * i..]))).collect()
    }

    /// The events that LPs have executed.
    pub(super) fn executed(&self) -> impl Iterator<Item = u64> {
        self.file.section(EXECUTED).chunks_exact(8).map(number)
    }

    /// How many events are pending, by LP.
    pub(super) fn held(&self) -> impl Iterator<Item = u32> {
        self.file.section(HELD).chunks_exact(4).map(word)
    }

    /// Them, LP by LP, for a model whose layout was checked.
    pub(super) fn events<P: Payload>(&self) -> impl Iterator<Item = Event<P>> {
        let events = self.file.section(PENDING).chunks_exact(size_of::<Event<P>>());
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

    /// A file's bytes, if they are a checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError`] where they are none, or a damaged one. Whatever they say, no more memory is taken than they are long.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, CheckpointError> {
        Self::of(Sections::of(bytes, &RUN)?)
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.file.as_bytes()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`CheckpointError::Read`] where it cannot be read, else as [`Checkpoint::from_bytes`]. What is no checkpoint is not read to its end.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::of(Sections::load(path.as_ref(), &RUN)?)
    }

    /// Writes the file: another one beside it first, which takes its name once all of it is on the disk. So there is always a whole one, the last or the
    /// one before, whenever the process or the machine ends.
    ///
    /// # Errors
    /// [`CheckpointError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CheckpointError> {
        self.file.save(path.as_ref())
    }
}

impl std::fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoint")
            .field("model", &self.model())
            .field("numbers", &self.numbers)
            .field("bytes", &self.file.as_bytes().len())
            .finish_non_exhaustive()
    }
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
