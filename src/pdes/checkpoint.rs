//! Checkpoints: a run between two windows, from which any engine continues. `sections.rs` defines
//! the contents of the file, `file.rs` its format.

mod autosave;
pub(crate) mod file;
mod identity;
mod place;
mod run;
mod save_plan;
mod saved_run;
mod sections;

use std::ops::Range;
use std::path::Path;

use bytemuck::Pod;

use crate::text::quoted;
use crate::time::Ticks;

pub use crate::pdes::contract::checkpoint_error::CheckpointError;
use crate::pdes::contract::event::{Event, Payload};
use crate::pdes::contract::model::Model;
use crate::pdes::contract::replica::Replica;
use crate::pdes::contract::until::{Pending, Progress, Stop, Until};
pub use autosave::Autosave;
pub(crate) use autosave::{Checkpointed, reason};
use file::{RUN, Sections, number, word};
pub(crate) use identity::{Identity, Skew};
pub(crate) use save_plan::SavePlan;
pub use saved_run::SavedRun;
use sections::{EXECUTED, HELD, MEMORY, NAME, Numbers, PARAMS, PENDING, STATES, writer};

/// How far LPs may be ahead of each other. A fork relies on it, because it may send events that the
/// saved run would not send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LpSkew {
    skew: Skew,
    /// All executed events are earlier than this, unless the skew is [`Skew::Level`].
    before: Ticks,
}

impl LpSkew {
    pub(super) const LEVEL: Self = Self { skew: Skew::Level, before: Ticks::ZERO };

    /// After a run towards `until` was stopped early.
    pub(super) fn stopped_early(self, skew: Skew, until: Until) -> Self {
        Self { skew: self.skew.max(skew), before: self.before.max(until.time) }
    }

    /// After a run that reached its end.
    pub(super) fn ended(self, stop: Option<Stop>, until: Until) -> Self {
        match stop {
            Some(Stop::Empty) => Self::LEVEL,
            Some(Stop::Time) if until.time >= self.before => Self::LEVEL,
            Some(Stop::Time) => self,
            _ => self.stopped_early(Skew::Epoch, until),
        }
    }
}

/// The history of the runs of a simulation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunHistory {
    /// The end of the last run.
    pub(super) heading: Until,
    /// The latest time that any run reached.
    pub(super) done: Ticks,
    /// How far LPs may be ahead of each other.
    pub(super) lp_skew: LpSkew,
}

impl RunHistory {
    pub(crate) const BEGUN: Self = Self { heading: Until::EMPTY, done: Ticks::ZERO, lp_skew: LpSkew::LEVEL };

    /// Records the start of a run to `until`.
    pub(crate) fn heads(&mut self, until: Until) {
        self.heading = until;
    }

    /// Records the end of a run. If the run was stopped early, `skew` is how far LPs may be ahead
    /// of each other.
    pub(crate) fn ended(&mut self, stop: Option<Stop>, until: Until, skew: Skew) {
        self.lp_skew = match stop {
            Some(Stop::Watcher) => self.lp_skew.stopped_early(skew, until),
            stop => self.lp_skew.ended(stop, until),
        };
        if stop == Some(Stop::Time) {
            self.done = self.done.max(until.time);
        }
    }
}

/// The properties of a model that must be equal on all ranks.
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

/// The state of a run between two windows, without the contents of its LPs.
pub(crate) struct RunHeader<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) seed: u64,
    pub(crate) replica: Replica,
    pub(crate) course: RunHistory,
    pub(crate) windows: u64,
    pub(crate) events: u64,
}

/// The sections of a file that hold rows of LPs, one LP after the other.
const OF_LPS: [usize; 5] = [STATES, MEMORY, EXECUTED, HELD, PENDING];
/// The index of `HELD` in [`OF_LPS`].
const OF_HELD: usize = 3;

/// The contents of LPs in the format of the file, section by section: all LPs of a run, or the LPs
/// of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The executed events' part of the fingerprint.
    pub(crate) digest: u64,
    pub(crate) sections: [Vec<u8>; OF_LPS.len()],
}

impl Contents {
    /// Builds the contents of some LPs. States, rows of LP memory and numbers of executed events
    /// are in the order of `lps`; pending events are in that order and then in their own.
    pub(crate) fn of<S: Pod, P: Payload>(
        lps: impl Iterator<Item = u32>,
        states: &[S],
        memory: &[[u32; 4]],
        (executed, digest): (&[u64], u64),
        pending: &[(u32, Event<P>)],
    ) -> Self {
        let mut rest = pending.iter().peekable();
        let held = lps.map(|lp| {
            let mut count = 0_u32;
            while rest.next_if(|(of, _)| *of == lp).is_some() {
                count += 1;
            }
            count
        });
        let states: &[u8] = if size_of::<S>() == 0 { &[] } else { bytemuck::cast_slice(states) };
        let sections = [
            states.to_vec(),
            memory.iter().flatten().copied().flat_map(u32::to_le_bytes).collect(),
            executed.iter().copied().flat_map(u64::to_le_bytes).collect(),
            held.flat_map(u32::to_le_bytes).collect(),
            pending.iter().flat_map(|(_, event)| event.words()).flat_map(u32::to_le_bytes).collect(),
        ];
        Self { digest, sections }
    }

    /// Appends a section of all LPs, assembled from parts: `order` lists the part of the next LPs,
    /// and their number. False if a part has more or fewer LPs.
    fn deal(bytes: &mut Vec<u8>, parts: &[Self], order: &[(usize, usize)], section: usize, row: Row) -> bool {
        let all = |section: usize| parts.iter().map(move |part| part.sections[section].as_slice());
        let mut rest: Vec<_> = all(section).collect();
        let mut held: Vec<_> = all(OF_HELD).map(|held| held.chunks_exact(4).map(word)).collect();
        for &(part, lps) in order {
            let length = match row {
                Row::Lp(each) => lps.saturating_mul(each),
                Row::Event(each) => {
                    held[part].by_ref().take(lps).map(|count| (count as usize).saturating_mul(each)).sum()
                }
            };
            let Some((these, others)) = rest[part].split_at_checked(length) else { return false };
            bytes.extend_from_slice(these);
            rest[part] = others;
        }
        rest.iter().all(|rest| rest.is_empty())
    }
}

/// What a row of a section belongs to, with the bytes of each.
#[derive(Debug, Clone, Copy)]
enum Row {
    Lp(usize),
    Event(usize),
}

/// A run between two windows: everything that determines its continuation, independent of how it
/// was computed. It has the same bytes whichever engine, device, queue design or capacity wrote it,
/// and all of them can resume it: [`Simulation::resume`](crate::pdes::Simulation::resume),
/// [`CpuSimulation::resume`](crate::pdes::CpuSimulation::resume). (Synchronisation methods differ
/// in their counts of windows alone.) `docs/checkpoints.md` describes the file.
///
/// ```
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{Checkpoint, CpuSimulation, Options, Until};
/// use eventhorizon::time::{Resolution, Ticks};
///
/// let model = Phold::new(100, 4, 0.1, 10.0, Resolution::default())?;
/// let mut first = CpuSimulation::new(&model, Options::default().seed(42))?;
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
/// Two counts restart: the windows after which a time that does not advance is a fault
/// ([`FaultKind::Stuck`](crate::pdes::FaultKind::Stuck),
/// [`FaultKind::Cycle`](crate::pdes::FaultKind::Cycle)).
#[derive(Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The validated file.
    file: Sections,
    numbers: Numbers,
    /// The time of the first pending event.
    now: Ticks,
}

impl Checkpoint {
    /// Builds the checkpoint of a run from the contents of its parts. `order` lists, from the first
    /// LP on, the part of the next LPs, and their number.
    ///
    /// # Errors
    /// [`CheckpointError::Inconsistent`] if the inputs do not match, because a device lost data.
    pub(crate) fn new(
        reported: &RunHeader<'_>,
        parts: &[Contents],
        order: &[(usize, usize)],
    ) -> Result<Self, CheckpointError> {
        let (identity, RunHistory { heading, done, lp_skew }) = (reported.identity, reported.course);
        let numbers = Numbers {
            lps: identity.lps.into(),
            state_bytes: identity.state_bytes as u64,
            payload_words: identity.payload_words as u64,
            memory_rows: identity.memory_rows.into(),
            lookahead: identity.lookahead.get(),
            source: identity.source,
            data: identity.data,
            seed: reported.seed,
            replica: [reported.replica.point.into(), reported.replica.number.into()],
            windows: reported.windows,
            events: reported.events,
            digest: parts.iter().map(|part| part.digest).fold(0, u64::wrapping_add),
            done: done.get(),
            until: [heading.time.get(), heading.events],
            lp_skew: [lp_skew.skew as u64, lp_skew.before.get()],
        };
        let mut file = writer(&numbers, identity);
        let memory = 16 * identity.memory_rows as usize;
        let event = 8 + 4 * identity.payload_words;
        let rows =
            [Row::Lp(identity.state_bytes), Row::Lp(memory), Row::Lp(8), Row::Lp(4), Row::Event(event)];
        let mut whole = true;
        for (section, row) in rows.into_iter().enumerate() {
            file.section(|bytes| whole &= Contents::deal(bytes, parts, order, section, row));
        }
        match whole {
            true => Self::from_bytes(file.end()),
            false => {
                Err(CheckpointError::Inconsistent { what: "a part reports more or fewer LPs than it has" })
            }
        }
    }

    /// The same state with other random streams, or for another model: a warm start. The model may
    /// have other parameters, data, lookahead and behaviour. It must have the same number of LPs,
    /// and states, LP memory and events of the same sizes.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] if these differ; [`CheckpointError::Skew`] if LPs are ahead of
    /// others and rely on events that a fork may not send.
    pub fn fork<M: Model>(&self, model: &M, seed: u64, replica: Replica) -> Result<Self, CheckpointError> {
        let identity = Identity::of(model);
        self.check_layout(&identity)?;
        let shorter = identity.lookahead.get() < self.numbers.lookahead;
        match self.lp_skew().skew {
            Skew::Level => {}
            Skew::Epoch if !shorter => {}
            _ => return Err(CheckpointError::Skew),
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
        for section in OF_LPS {
            file.section(|bytes| bytes.extend(self.file.section(section)));
        }
        Self::from_bytes(file.end())
    }

    fn lp_skew(&self) -> LpSkew {
        let [skew, before] = self.numbers.lp_skew;
        let skew = match skew {
            0 => Skew::Level,
            1 => Skew::Epoch,
            _ => Skew::Further,
        };
        LpSkew { skew, before: Ticks::new(before) }
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        std::str::from_utf8(self.file.section(NAME)).expect("it was validated")
    }

    /// The model's parameters; `None` if its `Params` have another size.
    pub fn params<P: Pod>(&self) -> Option<P> {
        bytemuck::try_pod_read_unaligned(self.file.section(PARAMS)).ok()
    }

    /// The model's lookahead.
    pub fn lookahead(&self) -> Ticks {
        Ticks::new(self.numbers.lookahead)
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.numbers.seed
    }

    /// The replica of the run in an experiment.
    pub fn replica(&self) -> Replica {
        let [point, number] = self.numbers.replica.map(narrow);
        Replica { point, number }
    }

    /// The end of the run.
    pub fn until(&self) -> Until {
        let [time, events] = self.numbers.until;
        Until { time: Ticks::new(time), events }
    }

    /// The progress of the run: `now` is the time of the first pending event.
    pub fn progress(&self) -> Progress {
        let Numbers { events, windows, .. } = self.numbers;
        Progress { now: self.now, events, windows, stop: None }
    }

    /// The pending events, by LP and then in order.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] if events have another payload.
    pub fn pending<P: Payload>(&self) -> Result<Pending<P>, CheckpointError> {
        foreign("words of payload", self.numbers.payload_words, size_of::<P>() as u64 / 4)?;
        let all = self.lps();
        let held = (0..).zip(self.held(all.clone()));
        let lps = held.flat_map(|(lp, count)| std::iter::repeat_n(lp, count as usize));
        Ok(lps.zip(self.events(all)).collect())
    }

    /// Whether a run of this model can resume from here.
    pub(crate) fn check(&self, identity: &Identity) -> Result<(), CheckpointError> {
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

    /// Whether a run of this model with this seed is the saved run.
    pub(crate) fn check_run(&self, identity: &Identity, run: (u64, Replica)) -> Result<(), CheckpointError> {
        self.check(identity)?;
        match (self.seed(), self.replica()) == run {
            true => Ok(()),
            false => {
                let what = format!("of a run with seed {}, and this one is another", self.seed());
                Err(CheckpointError::Foreign { what })
            }
        }
    }

    fn check_layout(&self, identity: &Identity) -> Result<(), CheckpointError> {
        let Numbers { lps, state_bytes, payload_words, memory_rows, .. } = self.numbers;
        foreign("LPs", lps, identity.lps.into())?;
        foreign("bytes of `State`", state_bytes, identity.state_bytes as u64)?;
        foreign("words of payload", payload_words, identity.payload_words as u64)?;
        foreign("rows of LP memory", memory_rows, identity.memory_rows.into())
    }

    /// The history of the saved run.
    pub(crate) fn course(&self) -> RunHistory {
        RunHistory { heading: self.until(), done: Ticks::new(self.numbers.done), lp_skew: self.lp_skew() }
    }

    /// The executed events' part of the fingerprint.
    pub(crate) fn digest(&self) -> u64 {
        self.numbers.digest
    }

    /// All LPs.
    pub(crate) fn lps(&self) -> Range<u32> {
        0..narrow(self.numbers.lps)
    }

    /// The bytes of some LPs in a section with `each` bytes for each LP.
    fn rows(&self, section: usize, lps: &Range<u32>, each: u64) -> &[u8] {
        let place = |lp: u32| usize::try_from(u64::from(lp) * each).expect("it was validated");
        &self.file.section(section)[place(lps.start)..place(lps.end)]
    }

    /// The states of some LPs of a model with a validated layout.
    pub(crate) fn states<S: Pod>(&self, lps: &Range<u32>) -> Vec<S> {
        match size_of::<S>() {
            0 => vec![S::zeroed(); lps.len()],
            bytes => {
                let rows = self.rows(STATES, lps, self.numbers.state_bytes);
                rows.chunks_exact(bytes).map(bytemuck::pod_read_unaligned).collect()
            }
        }
    }

    /// The rows of LP memory of some LPs.
    pub(crate) fn memory(&self, lps: &Range<u32>) -> Vec<[u32; 4]> {
        let rows = self.rows(MEMORY, lps, 16 * self.numbers.memory_rows).chunks_exact(16);
        rows.map(|row| std::array::from_fn(|i| word(&row[4 * i..]))).collect()
    }

    /// The numbers of events that some LPs have executed.
    pub(crate) fn executed(&self, lps: Range<u32>) -> impl Iterator<Item = u64> {
        self.rows(EXECUTED, &lps, 8).chunks_exact(8).map(number)
    }

    /// The numbers of pending events of some LPs.
    pub(crate) fn held(&self, lps: Range<u32>) -> impl Iterator<Item = u32> {
        self.rows(HELD, &lps, 4).chunks_exact(4).map(word)
    }

    /// The pending events of some LPs, LP by LP, for a model with a validated layout.
    pub(crate) fn events<P: Payload>(&self, lps: Range<u32>) -> impl Iterator<Item = Event<P>> {
        let count = |lps| self.held(lps).map(|count| count as usize).sum();
        let (before, these): (usize, usize) = (count(0..lps.start), count(lps));
        let events = self.file.section(PENDING).chunks_exact(size_of::<Event<P>>());
        events.skip(before).take(these).map(|event| Event {
            time: Ticks::new(number(event)),
            payload: {
                let mut payload = P::zeroed();
                let words = bytemuck::cast_slice_mut::<P, u32>(std::slice::from_mut(&mut payload));
                words.iter_mut().zip(event[8..].chunks_exact(4)).for_each(|(to, from)| *to = word(from));
                payload
            },
        })
    }

    /// Reads a checkpoint from the bytes of a file.
    ///
    /// # Errors
    /// [`CheckpointError`] if they are not a checkpoint, or a damaged one. It never allocates more
    /// memory than the length of `bytes`, whatever they contain.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, CheckpointError> {
        Self::of(Sections::of(bytes, &RUN)?)
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.file.as_bytes()
    }

    /// A value of the file that must be equal on all ranks. (A checksum over all bytes would be the
    /// same for any file, because the file ends with its own checksum.)
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn sum(&self) -> u64 {
        let bytes = self.as_bytes();
        u64::from(word(&bytes[bytes.len() - 4..])) << 32 ^ bytes.len() as u64
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`CheckpointError::Read`] if it cannot be read, else as [`Checkpoint::from_bytes`]. A file
    /// that is not a checkpoint is not read to its end.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::of(Sections::load(path.as_ref(), &RUN)?)
    }

    /// Writes the file. It writes a temporary file next to it, and renames that once all its bytes
    /// are on the disk. So there is always a complete file, the new one or the previous one,
    /// whenever the process or the machine fails.
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
    u32::try_from(number).expect("it was validated")
}

fn foreign(what: &str, saved: u64, given: u64) -> Result<(), CheckpointError> {
    match saved == given {
        true => Ok(()),
        false => Err(CheckpointError::Foreign {
            what: format!("of a model with {saved} {what}, and this one has {given}"),
        }),
    }
}
