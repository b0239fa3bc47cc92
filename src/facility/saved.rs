//! Studies that are saved, and gone on with.

use std::path::Path;

use bytemuck::{Pod, Zeroable, pod_read_unaligned};
use web_time::{Duration, Instant};

use crate::pdes::checkpoint::Identity;
use crate::pdes::checkpoint::file::{STUDY, Sections, Writer, number};
use crate::pdes::{Autosave, Checkpoint, CheckpointError};
use crate::time::Ticks;

use super::measures::Measured;
use super::quantiles::Histograms;
use super::{Facility, FacilityError, FacilityOutput, LENGTHS, Study};

/// The sections of [`STUDY`].
const NUMBERS: usize = 0;
const NETWORK: usize = 1;
const VALUES: usize = 2;
const SHARES: usize = 3;
const TOLD: usize = 4;
const RUN: usize = 5;
const HISTOGRAMS: usize = 6;

/// The numbers of the first section, 8 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Numbers {
    pub(super) seed: u64,
    /// Of the WGSL that makes the runs: its bytes without carriage returns, and their CRC-32.
    pub(super) source: [u64; 2],
    /// Ticks.
    pub(super) until: u64,
    pub(super) warm_up: u64,
    pub(super) details: u64,
    /// Of one long run; 0 for replications.
    pub(super) batches: u64,
    /// For how many who wait there was room.
    pub(super) room: u64,
    /// Replications that have ended, and how many were to be made before it is asked again whether
    /// they are enough.
    pub(super) done: u64,
    pub(super) end: u64,
    pub(super) customers: u64,
    pub(super) events: u64,
    pub(super) fingerprint: u64,
}

/// A study of a network as far as it came: what the replications told that have ended; or one long
/// run, and what it told at the ends of batches. It is the same, byte for byte, wherever it was
/// made, and goes on anywhere ([`StudyAutosave::from`]), to the results and the fingerprint of a study that
/// nobody interrupted.
///
/// Seed, times, details and batches are those of the study. Replications, the rule that stops them,
/// the level of intervals and the most room may be others: a study that has ended goes on if it is
/// asked for more. `docs/checkpoints.md` says what a file holds.
#[derive(Clone)]
pub struct SavedStudy {
    file: Sections,
    numbers: Numbers,
    run: Option<Checkpoint>,
}

/// Whether and where a study is saved, and what it goes on from.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct StudyAutosave<'a> {
    /// Goes on with a study that was saved, instead of from the start.
    pub from: Option<&'a SavedStudy>,
    /// Saves the study where it ends or is stopped, and at intervals between two replications or
    /// two windows, as [`Checkpoint::save`] does. Replications are then made in parts that take
    /// about as long as an interval.
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
    /// What replications told.
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

    /// A long run, and what its nodes told at the ends that it came to.
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

    /// A file's bytes, if they are those of a study.
    ///
    /// # Errors
    /// [`CheckpointError`] where they are none, or damaged. Whatever they say, no more memory is
    /// taken than they are long.
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
    /// [`CheckpointError::Read`] where it cannot be read, else as [`SavedStudy::from_bytes`].
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

    /// Replications that have ended: 0 of one long run.
    pub fn replications(&self) -> u32 {
        u32::try_from(self.numbers.done).expect("it was looked through")
    }

    /// Events that were executed for it.
    pub fn events(&self) -> u64 {
        self.run.as_ref().map_or(self.numbers.events, |run| run.progress().events)
    }

    /// How far a study is, and in what: events of one long run, or replications; 0 of none.
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

    /// Whether this study goes on from here.
    pub(super) fn check(
        &self,
        facility: &Facility,
        study: &Study,
        [until, warm_up]: [Ticks; 2],
        batches: usize,
    ) -> Result<(), CheckpointError> {
        let other = |what: String| Err(CheckpointError::Study { what });
        if self.file.section(NETWORK) != text(facility).as_bytes() {
            return other("of another network, or of this one before it was changed".to_owned());
        }
        let saved = self.numbers;
        if saved.source != source(facility) {
            return other(
                "of another version of this library, whose networks may draw other numbers".to_owned(),
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

    /// Gives the columns, shares and histograms of replications back.
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
                return Err(wrong("it tells more or fewer measures than the network has"));
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

    /// What the nodes of a long run told, at the ends of batches that it came to.
    pub(super) fn reported(
        &self,
        nodes: usize,
        ends: usize,
    ) -> Result<Vec<Vec<FacilityOutput>>, CheckpointError> {
        let bytes = self.file.section(TOLD);
        let each = nodes * size_of::<FacilityOutput>();
        if !bytes.len().is_multiple_of(each) || bytes.len() / each > ends {
            return Err(CheckpointError::Inconsistent {
                what: "it tells of more or fewer nodes than the network has",
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

/// Which WGSL makes the runs of a network, but for what is told of them.
pub(super) fn source(facility: &Facility) -> [u64; 2] {
    Identity::of(&facility.clone().laid_out(false)).source()
}

/// Which network it is: its description in one form, with its ticks, and without the times of runs,
/// which the study has.
fn text(facility: &Facility) -> String {
    let mut network = facility.network().clone();
    network.ticks_per_unit = Some(facility.resolution().ticks_per_unit());
    (network.until, network.warm_up) = (None, None);
    serde_json::to_string(&network).expect("a description can be written")
}

/// When a study is saved, and how many replications are made until then, or until somebody is told
/// how far it is.
pub(super) struct SavePlan<'a> {
    to: Option<Autosave<'a>>,
    saved: Instant,
    /// Whether the last save failed.
    failing: bool,
    /// What is done at the end of a part should be done so often.
    pace: Duration,
    /// Replications of the next part.
    part: u32,
    most: u32,
}

/// Replications of the first part: few enough for any pace, and enough for a device; and on the
/// host.
const FIRST: u32 = 1024;
const FIRST_ON_HOST: u32 = 32;

/// How often the host tells how far it is. (A device does so by itself.)
const TELL: Duration = Duration::from_millis(200);

impl<'a> SavePlan<'a> {
    pub(super) fn new(
        keep: StudyAutosave<'a>,
        most: u32,
        on_host: bool,
        own: impl FnOnce(&SavedStudy) -> Result<(), CheckpointError>,
    ) -> Result<Self, CheckpointError> {
        let StudyAutosave { from, to } = keep;
        if let Some(autosave) = to {
            autosave.claim(|path| {
                let there = SavedStudy::load(path)?;
                own(&there)?;
                let [(saved, what), (now, _)] = [Some(&there), from].map(SavedStudy::done);
                CheckpointError::unless_ahead(saved, now, what)
            })?;
        }
        let (print_report, first) = if on_host { (TELL, FIRST_ON_HOST) } else { (Duration::MAX, FIRST) };
        let pace = to.map_or(print_report, |autosave| autosave.every.min(print_report));
        let part = if pace < Duration::MAX { most.min(first) } else { most };
        Ok(Self { to, saved: Instant::now(), failing: false, pace, part, most })
    }

    pub(super) fn part(&self) -> u32 {
        self.part
    }

    /// A part took so long: the next one should take half of the time that is to be kept, or less.
    pub(super) fn took(&mut self, time: Duration) {
        if time > self.pace / 2 {
            self.part = (self.part / 2).max(1);
        } else if time < self.pace / 4 {
            self.part = self.part.saturating_mul(2).min(self.most);
        }
    }

    /// Whether it is time.
    pub(super) fn due(&self) -> bool {
        self.to.is_some_and(|autosave| self.saved.elapsed() >= autosave.every)
    }

    /// Saves what a study has so far. Where the file cannot be written, it is tried again when the
    /// next is due.
    pub(super) fn save(
        &mut self,
        make: impl FnOnce() -> Result<SavedStudy, FacilityError>,
    ) -> Result<(), FacilityError> {
        if let (Some(autosave), Err(error)) = (self.to, self.last(make)?) {
            if !self.failing {
                (autosave.failed)(&error);
            }
            self.failing = true;
        } else {
            self.failing = false;
        }
        Ok(())
    }

    /// Saves a study that is at its end. The inner error says that the file could not be written.
    pub(super) fn last(
        &mut self,
        make: impl FnOnce() -> Result<SavedStudy, FacilityError>,
    ) -> Result<Result<(), CheckpointError>, FacilityError> {
        let Some(autosave) = self.to else { return Ok(Ok(())) };
        let written = make()?.save(autosave.path);
        self.saved = Instant::now();
        Ok(written)
    }
}

/// For each node and each number of customers, shares of replications.
pub(super) fn no_shares(details: bool, nodes: usize) -> Vec<Vec<Vec<f64>>> {
    vec![vec![Vec::new(); LENGTHS]; if details { nodes } else { 0 }]
}
