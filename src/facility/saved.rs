//! Studies that are saved and resumed.

use std::path::Path;

use bytemuck::{Pod, Zeroable, pod_read_unaligned};

use crate::pdes::checkpoint::file::{STUDY, Sections, Writer, number};
use crate::pdes::checkpoint::{Identity, SavePlan};
use crate::pdes::{Autosave, Checkpoint, CheckpointError};
use crate::statistics::quantiles::LENGTHS;
use crate::time::Ticks;

use super::measures::Measured;
use super::quantiles::Histograms;
use super::{Facility, FacilityError, FacilityOutput, Study};

/// The sections of [`STUDY`].
const NUMBERS: usize = 0;
const NETWORK: usize = 1;
const VALUES: usize = 2;
const SHARES: usize = 3;
const REPORTED: usize = 4;
const RUN: usize = 5;
const HISTOGRAMS: usize = 6;

/// The numbers of the first section, 8 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Numbers {
    pub(super) seed: u64,
    /// Identify the WGSL of the runs: its length in bytes without carriage returns, and its CRC-32.
    pub(super) source: [u64; 2],
    /// Ticks.
    pub(super) until: u64,
    pub(super) warm_up: u64,
    pub(super) details: u64,
    /// Batches of a long run; 0 for replications.
    pub(super) batches: u64,
    /// Of a long run: room for waiting customers.
    pub(super) room: u64,
    /// Completed replications, and the number to reach before the stopping rule is evaluated again.
    pub(super) done: u64,
    pub(super) end: u64,
    pub(super) customers: u64,
    pub(super) events: u64,
    pub(super) fingerprint: u64,
}

/// A partial study of a network: results of completed replications, or one long run with its
/// outputs at the ends of batches. It is the same, byte for byte, on every machine, and can be
/// resumed on any ([`StudyAutosave::from`]), with the results and the fingerprint of an
/// uninterrupted study.
///
/// Seed, times, details and batches are fixed. Replications, the stopping rule, the level of
/// intervals and the most room may change: a completed study can be extended. `docs/checkpoints.md`
/// describes the file.
#[derive(Clone)]
pub struct SavedStudy {
    file: Sections,
    numbers: Numbers,
    run: Option<Checkpoint>,
}

/// Whether and where a study is saved, and the saved study that it resumes.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct StudyAutosave<'a> {
    /// The saved study to resume, instead of a new start.
    pub from: Option<&'a SavedStudy>,
    /// Saves the study at its end, when it is stopped, and at intervals between two replications or
    /// two windows, as [`Checkpoint::save`] does. Replications then run in parts that take about as
    /// long as an interval.
    pub to: Option<Autosave<'a>>,
}

impl<'a> StudyAutosave<'a> {
    /// Sets [`StudyAutosave::from`].
    #[must_use]
    pub fn from(self, from: impl Into<Option<&'a SavedStudy>>) -> Self {
        Self { from: from.into(), ..self }
    }

    /// Sets [`StudyAutosave::to`].
    #[must_use]
    pub fn to(self, to: impl Into<Option<Autosave<'a>>>) -> Self {
        Self { to: to.into(), ..self }
    }
}

impl SavedStudy {
    /// From the results of replications.
    pub(super) fn of_replications(
        facility: &Facility,
        numbers: Numbers,
        columns: &[Measured],
        shares: &[Vec<Vec<f64>>],
        histograms: &Histograms,
    ) -> Result<Self, FacilityError> {
        Self::write(facility, numbers, |file| {
            let mut reals = |values: &mut dyn Iterator<Item = &f64>| {
                file.section(|bytes| values.for_each(|value| bytes.extend(value.to_bits().to_le_bytes())));
            };
            reals(&mut columns.iter().flat_map(|column| column.parts.numbers()));
            reals(&mut shares.iter().flatten().flatten());
            file.section(|_| {});
            file.section(|_| {});
            file.section(|bytes| bytes.extend(histograms.numbers().flat_map(u64::to_le_bytes)));
        })
    }

    /// From a long run, and its nodes' outputs at the ends of completed batches.
    pub(super) fn of_run(
        facility: &Facility,
        numbers: Numbers,
        reported: &[Vec<FacilityOutput>],
        run: &Checkpoint,
    ) -> Result<Self, FacilityError> {
        Self::write(facility, numbers, |file| {
            file.section(|_| {});
            file.section(|_| {});
            file.section(|bytes| {
                reported.iter().for_each(|rows| bytes.extend(bytemuck::cast_slice::<_, u8>(rows)))
            });
            file.section(|bytes| bytes.extend(run.as_bytes()));
            file.section(|_| {});
        })
    }

    fn write(
        facility: &Facility,
        numbers: Numbers,
        rest: impl FnOnce(&mut Writer),
    ) -> Result<Self, FacilityError> {
        let mut file = Writer::new(&STUDY);
        file.numbers(&numbers);
        file.section(|bytes| bytes.extend(text(facility).as_bytes()));
        rest(&mut file);
        Ok(Self::from_bytes(file.end())?)
    }

    /// Parses the bytes of a file.
    ///
    /// # Errors
    /// [`CheckpointError`] if they are not a saved study, or damaged. For any bytes, the memory
    /// allocated is at most their length.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, CheckpointError> {
        Self::of(Sections::of(bytes, &STUDY)?)
    }

    fn of(file: Sections) -> Result<Self, CheckpointError> {
        let wrong = |what| Err(CheckpointError::Inconsistent { what });
        let numbers: Numbers = file.numbers(NUMBERS)?;
        let narrow = |number: u64| u32::try_from(number).is_ok();
        if ![numbers.room, numbers.done, numbers.end, numbers.batches].into_iter().all(narrow)
            || numbers.done > numbers.end
            || numbers.details > 1
            || (numbers.batches != 0) == file.section(RUN).is_empty()
        {
            return wrong("a number is out of range");
        }
        let run = match numbers.batches {
            0 => None,
            _ => Some(Checkpoint::from_bytes(file.section(RUN).to_vec())?),
        };
        Ok(Self { file, numbers, run })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`CheckpointError::Read`] if it cannot be read, otherwise as [`SavedStudy::from_bytes`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::of(Sections::load(path.as_ref(), &STUDY)?)
    }

    /// Writes the file, as [`Checkpoint::save`].
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

    /// Completed replications; 0 for a long run.
    pub fn replications(&self) -> u32 {
        u32::try_from(self.numbers.done).expect("checked when it was read")
    }

    /// Events executed so far.
    pub fn events(&self) -> u64 {
        self.run.as_ref().map_or(self.numbers.events, |run| run.progress().events)
    }

    /// The file.
    pub(super) fn into_file(self) -> Sections {
        self.file
    }

    /// When a study is saved. `own` checks that a file there is of the same study.
    pub(super) fn plan<'a>(
        keep: StudyAutosave<'a>,
        most: u32,
        on_host: bool,
        own: impl FnOnce(&Self) -> Result<(), CheckpointError>,
    ) -> Result<SavePlan<'a>, CheckpointError> {
        let StudyAutosave { from, to } = keep;
        SavePlan::new(to, most, on_host, |path| {
            let there = Self::load(path)?;
            own(&there)?;
            let [(saved, what), (now, _)] = [Some(&there), from].map(Self::done);
            CheckpointError::unless_ahead(saved, now, what)
        })
    }

    /// Progress of a study and its unit: events of a long run, or replications; 0 without a study.
    fn done(study: Option<&Self>) -> (u64, &'static str) {
        study.map_or((0, ""), |study| match study.run() {
            Some(_) => (study.events(), "event"),
            None => (study.numbers.done, "replication"),
        })
    }

    pub(super) fn numbers(&self) -> Numbers {
        self.numbers
    }

    pub(super) fn run(&self) -> Option<&Checkpoint> {
        self.run.as_ref()
    }

    /// Checks that this study can be resumed from here.
    pub(super) fn check(
        &self,
        facility: &Facility,
        study: &Study,
        [until, warm_up]: [Ticks; 2],
        batches: usize,
    ) -> Result<(), CheckpointError> {
        let other = |what: String| Err(CheckpointError::Study { what });
        if self.file.section(NETWORK) != text(facility).as_bytes() {
            return other("of another network, or of an earlier state of this network".to_owned());
        }
        let saved = self.numbers;
        if saved.source != source(facility) {
            return other(
                "of another version of this library, which may draw other random numbers".to_owned(),
            );
        }
        let number = |number: u64| number.to_string();
        let time = |ticks: u64| facility.resolution().units(Ticks::new(ticks)).to_string();
        let details = |reported: u64| if reported == 1 { "quantiles" } else { "no quantiles" }.to_owned();
        let made = |batches: u64| match batches {
            0 => "replications".to_owned(),
            batches => format!("{batches} batches of one run"),
        };
        for (what, words, saved, given) in [
            ("seed ", &number as &dyn Fn(u64) -> String, saved.seed, study.seed),
            ("the end at ", &time, saved.until, until.get()),
            ("a warm-up to ", &time, saved.warm_up, warm_up.get()),
            ("", &details, saved.details, study.details.into()),
            ("", &made, saved.batches, batches as u64),
        ] {
            if saved != given {
                let [saved, given] = [saved, given].map(words);
                return other(format!("of a study with {what}{saved}, and this one has {given}"));
            }
        }
        Ok(())
    }

    /// Restores columns, shares and histograms of replications.
    pub(super) fn restore(
        &self,
        columns: &mut [Measured],
        shares: &mut [Vec<Vec<f64>>],
        histograms: &mut Histograms,
    ) -> Result<(), CheckpointError> {
        let done = self.replications() as usize;
        let wrong = |what| CheckpointError::Inconsistent { what };
        let reals = |section: usize, each: usize| {
            let bytes = self.file.section(section);
            if !bytes.len().is_multiple_of(8) || each.checked_mul(done) != Some(bytes.len() / 8) {
                return Err(wrong("it has more or fewer measures than the network"));
            }
            Ok(bytes.chunks_exact(8).map(|bytes| f64::from_bits(number(bytes))))
        };
        let width = |column: &Measured| match column.measure.quantile() {
            Some(_) => 0,
            None => column.parts.estimator().width(),
        };
        let mut values = reals(VALUES, columns.iter().map(width).sum())?;
        for column in columns {
            let numbers = done * width(column);
            column.parts.restore(values.by_ref().take(numbers));
        }
        let mut values = reals(SHARES, shares.iter().map(Vec::len).sum())?;
        shares.iter_mut().flatten().for_each(|list| list.extend(values.by_ref().take(done)));
        let counts = self.file.section(HISTOGRAMS).chunks_exact(8);
        let whole = counts.remainder().is_empty();
        let restored = histograms.restore(self.numbers.done, counts.map(number)).filter(|()| whole);
        restored.ok_or(wrong("its histograms are not those of the network"))
    }

    /// The output of the nodes of a long run, at the ends of completed batches.
    pub(super) fn reported(
        &self,
        nodes: usize,
        ends: usize,
    ) -> Result<Vec<Vec<FacilityOutput>>, CheckpointError> {
        let bytes = self.file.section(REPORTED);
        let each = nodes * size_of::<FacilityOutput>();
        if !bytes.len().is_multiple_of(each) || bytes.len() / each > ends {
            return Err(CheckpointError::Inconsistent {
                what: "it has more or fewer nodes than the network",
            });
        }
        let rows =
            |part: &[u8]| part.chunks_exact(size_of::<FacilityOutput>()).map(pod_read_unaligned).collect();
        Ok(bytes.chunks_exact(each).map(rows).collect())
    }
}

impl std::fmt::Debug for SavedStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SavedStudy").field("numbers", &self.numbers).finish_non_exhaustive()
    }
}

/// Identifies the WGSL of a network's runs, without details.
pub(super) fn source(facility: &Facility) -> [u64; 2] {
    Identity::of(&facility.clone().laid_out(false)).source()
}

/// Identifies the network: its description in one form, with its ticks, and without the times of
/// runs, which belong to the study.
fn text(facility: &Facility) -> String {
    let mut network = facility.network().clone();
    network.ticks_per_unit = Some(facility.resolution().ticks_per_unit());
    (network.until, network.warm_up) = (None, None);
    serde_json::to_string(&network).expect("a description can be written")
}

/// Empty shares of replications, for each node and each bin of numbers of customers.
pub(super) fn no_shares(details: bool, nodes: usize) -> Vec<Vec<Vec<f64>>> {
    vec![vec![Vec::new(); LENGTHS]; if details { nodes } else { 0 }]
}
