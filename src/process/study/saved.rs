//! Studies that are saved and resumed.

use std::ops::Range;
use std::path::Path;

use bytemuck::{Pod, Zeroable};

use crate::pdes::checkpoint::file::{PROCESS_STUDY, Sections, Writer, number};
use crate::pdes::checkpoint::{Identity, SavePlan};
use crate::pdes::{Autosave, CheckpointError, Model};
use crate::statistics::quantiles::Histograms;
use crate::time::{Resolution, Ticks};

use super::super::compiled::CompiledProcess;
use super::super::error::ProcessError;
use super::plan::Study;

/// The sections of [`PROCESS_STUDY`].
const NUMBERS: usize = 0;
const PARAMS: usize = 1;
const MEASURES: usize = 2;
const RESULTS: usize = 3;
const HISTOGRAMS: usize = 4;

/// The numbers of the first section, 8 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Numbers {
    seed: u64,
    /// The WGSL: its length in bytes without carriage returns, and its CRC-32.
    source: [u64; 2],
    /// Ticks.
    until: u64,
    warm_up: u64,
    ticks_per_unit: u64,
    /// Whether deadlocks are accepted.
    deadlock: u64,
    points: u64,
    /// Numbers of a replication of a point, without its events and its fingerprint.
    width: u64,
    /// Replications of each point.
    done: u64,
}

/// The result of a replication at a point: events, fingerprint, and the numbers of the measures.
pub(super) type Record = (u64, u64, Vec<f64>);

/// A partial study of a process model: results of completed replications. It is the same, byte for
/// byte, on every machine. Any of them resumes it ([`StudyRun::resume`](super::StudyRun::resume)),
/// with the results and the fingerprint of an uninterrupted study.
///
/// Model, parameters, seed and times are fixed. Replications, the stopping rule and the most room
/// may change: a completed study can be extended. `docs/checkpoints.md` describes the file.
#[derive(Clone)]
pub struct SavedStudy {
    file: Sections,
    numbers: Numbers,
}

impl SavedStudy {
    /// Parses the bytes of a file.
    ///
    /// # Errors
    /// [`CheckpointError`] if they are not a saved study, or damaged. For any bytes, the memory
    /// allocated is at most their length.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, CheckpointError> {
        Self::of(Sections::of(bytes, &PROCESS_STUDY)?)
    }

    fn of(file: Sections) -> Result<Self, CheckpointError> {
        let numbers: Numbers = file.numbers(NUMBERS)?;
        let each = numbers.width.checked_add(2).and_then(|words| words.checked_mul(8));
        let all = each.and_then(|each| each.checked_mul(numbers.points)?.checked_mul(numbers.done));
        let narrow = [numbers.done, numbers.ticks_per_unit].into_iter().all(|of| u32::try_from(of).is_ok());
        match all == Some(file.section(RESULTS).len() as u64) && narrow {
            true => Ok(Self { file, numbers }),
            false => Err(CheckpointError::Inconsistent { what: "a number is out of range" }),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`CheckpointError::Read`] if it cannot be read, otherwise as [`SavedStudy::from_bytes`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::of(Sections::load(path.as_ref(), &PROCESS_STUDY)?)
    }

    /// Writes the file, as [`Checkpoint::save`](crate::pdes::Checkpoint::save).
    ///
    /// # Errors
    /// [`CheckpointError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CheckpointError> {
        self.file.save(path.as_ref())
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.file.as_bytes()
    }

    /// The seed of the study.
    pub fn seed(&self) -> u64 {
        self.numbers.seed
    }

    /// Completed replications of each point.
    pub fn replications(&self) -> u32 {
        u32::try_from(self.numbers.done).expect("checked when it was read")
    }

    /// Events executed so far.
    pub fn events(&self) -> u64 {
        self.records(0..self.replications()).fold(0, |sum, (events, ..)| sum.wrapping_add(events))
    }

    /// The results of some replications, in their order, and those of a replication by point.
    pub(super) fn records(&self, range: Range<u32>) -> impl Iterator<Item = Record> + '_ {
        let narrow = |number: u64| usize::try_from(number).expect("no more than bytes of the file");
        let [points, width] = [self.numbers.points, self.numbers.width].map(narrow);
        let each = (width + 2) * 8;
        let [first, last] = [range.start, range.end].map(|replication| replication as usize * points * each);
        self.file.section(RESULTS)[first..last].chunks_exact(each).map(|record| {
            let mut words = record.chunks_exact(8).map(number);
            let mut word = || words.next().expect("two words");
            (word(), word(), words.map(f64::from_bits).collect())
        })
    }

    /// Checks that this study can be resumed from here.
    fn check(&self, study: &Identified) -> Result<(), CheckpointError> {
        let other = |what: String| Err(CheckpointError::Study { what });
        let (saved, given) = (self.numbers, study.numbers);
        if saved.source != given.source
            || self.file.section(MEASURES) != study.measures.as_bytes()
            || [saved.ticks_per_unit, saved.points, saved.width]
                != [given.ticks_per_unit, given.points, given.width]
        {
            return other("of another model, or of another version of this library".to_owned());
        }
        let number = |number: u64| number.to_string();
        let resolution =
            Resolution::new(u32::try_from(saved.ticks_per_unit).unwrap_or(1)).unwrap_or_default();
        let time = |ticks: u64| resolution.units(Ticks::new(ticks)).to_string();
        let accepts =
            |deadlock: u64| if deadlock == 1 { "accepted deadlocks" } else { "no deadlocks" }.to_owned();
        for (what, words, saved, given) in [
            ("seed ", &number as &dyn Fn(u64) -> String, saved.seed, given.seed),
            ("the end at ", &time, saved.until, given.until),
            ("a warm-up to ", &time, saved.warm_up, given.warm_up),
            ("", &accepts, saved.deadlock, given.deadlock),
        ] {
            if saved != given {
                let [saved, given] = [saved, given].map(words);
                return other(format!("of a study with {what}{saved}, and this one has {given}"));
            }
        }
        match self.file.section(PARAMS) == study.params {
            true => Ok(()),
            false => other("of a study with other numbers, or other values of parameters".to_owned()),
        }
    }
}

impl std::fmt::Debug for SavedStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SavedStudy").field("numbers", &self.numbers).finish_non_exhaustive()
    }
}

/// What identifies a study.
struct Identified {
    /// Without replications.
    numbers: Numbers,
    /// Constants of all points, and data.
    params: Vec<u8>,
    measures: String,
}

/// A study that is resumed, saved, or both.
pub(super) struct Saving<'a> {
    study: Identified,
    from: Option<&'a SavedStudy>,
    plan: SavePlan<'a>,
    /// The results of all replications so far, with those of `from`.
    results: Vec<u8>,
}

impl<'a> Saving<'a> {
    /// `model` is that of a point.
    pub(super) fn new(
        compiled: &CompiledProcess,
        study: &Study,
        [warm_up, until]: [Ticks; 2],
        (measures, width): (Vec<String>, usize),
        model: &impl Model,
        (from, to): (Option<&'a SavedStudy>, Option<Autosave<'a>>),
        on_host: bool,
    ) -> Result<Self, ProcessError> {
        let mut params = Vec::new();
        let points = compiled.design().len();
        for point in 0..points {
            params.extend(compiled.program().params(compiled.values(point), warm_up, 0)?);
        }
        params.extend(model.data());
        let numbers = Numbers {
            seed: study.seed,
            source: Identity::of(model).source(),
            until: until.get(),
            warm_up: warm_up.get(),
            ticks_per_unit: compiled.resolution().ticks_per_unit().into(),
            deadlock: study.allow_deadlock.into(),
            points: points as u64,
            width: width as u64,
            done: 0,
        };
        let params = params.into_iter().flat_map(u32::to_le_bytes).collect();
        let study = Identified { numbers, params, measures: measures.join("\n") };
        if let Some(from) = from {
            from.check(&study).map_err(refused)?;
        }
        let plan = SavePlan::new(to, u32::MAX, on_host, |path| {
            let there = SavedStudy::load(path)?;
            there.check(&study)?;
            let now = from.map_or(0, |from| from.numbers.done);
            CheckpointError::unless_ahead(there.numbers.done, now, "replication")
        });
        let results = from.map_or_else(Vec::new, |from| from.file.section(RESULTS).to_vec());
        Ok(Self { study, from, plan: plan.map_err(refused)?, results })
    }

    /// Restores the histograms of the saved study, by point.
    pub(super) fn restore(&self, histograms: &mut [Histograms]) -> Result<(), ProcessError> {
        let Some(from) = self.from else { return Ok(()) };
        let counts = from.file.section(HISTOGRAMS).chunks_exact(8);
        let whole = counts.remainder().is_empty();
        let mut counts = counts.map(number);
        let mut restored = |of: &mut Histograms| of.restore(from.numbers.done, &mut counts);
        match whole && histograms.iter_mut().all(|of| restored(of).is_some()) && counts.len() == 0 {
            true => Ok(()),
            false => Err(refused(CheckpointError::Inconsistent {
                what: "its histograms are not those of the model",
            })),
        }
    }

    /// The next replications that the saved study has, before `end`.
    pub(super) fn known(&self, next: u32, end: u32) -> Option<Range<u32>> {
        let known = next..end.min(self.from?.replications());
        (!known.is_empty()).then_some(known)
    }

    /// Their results.
    pub(super) fn records(&self, range: Range<u32>) -> impl Iterator<Item = Record> + '_ {
        self.from.into_iter().flat_map(move |from| from.records(range.clone()))
    }

    /// Adds results, in the order of replications and then of points.
    pub(super) fn add(&mut self, (events, fingerprint, numbers): (u64, u64, &[f64])) {
        let numbers = numbers.iter().map(|number| number.to_bits());
        self.results.extend([events, fingerprint].into_iter().chain(numbers).flat_map(u64::to_le_bytes));
    }

    pub(super) fn plan(&mut self) -> &mut SavePlan<'a> {
        &mut self.plan
    }

    /// The file as it is now.
    fn file(study: &Identified, results: &[u8], histograms: &[Histograms]) -> Result<Sections, ProcessError> {
        let each = (study.numbers.width + 2) * 8 * study.numbers.points;
        let mut file = Writer::new(&PROCESS_STUDY);
        file.numbers(&Numbers { done: results.len() as u64 / each.max(1), ..study.numbers });
        file.section(|bytes| bytes.extend(&study.params));
        file.section(|bytes| bytes.extend(study.measures.as_bytes()));
        file.section(|bytes| bytes.extend(results));
        let counts = histograms.iter().flat_map(Histograms::numbers);
        file.section(|bytes| bytes.extend(counts.flat_map(u64::to_le_bytes)));
        Sections::of(file.end(), &PROCESS_STUDY).map_err(refused)
    }

    /// Saves the study if that is due.
    pub(super) fn save_if_due(&mut self, histograms: &[Histograms]) -> Result<(), ProcessError> {
        match self.plan.due() {
            true => self.plan.save(|| Self::file(&self.study, &self.results, histograms)),
            false => Ok(()),
        }
    }

    /// Saves the study at its end: why it could not be written.
    pub(super) fn last(&mut self, histograms: &[Histograms]) -> Result<Option<String>, ProcessError> {
        let written = self.plan.last(|| Self::file(&self.study, &self.results, histograms))?;
        Ok(written.err().map(|error| error.to_string()))
    }
}

fn refused(error: CheckpointError) -> ProcessError {
    crate::pdes::SimulationError::from(error).into()
}
