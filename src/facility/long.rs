//! One long run: its warm-up (MSER-5), and confidence intervals from batch means.

use std::ops::ControlFlow;

use bytemuck::Zeroable as _;
use web_time::Instant;

use crate::Backend;
use crate::gpu::Verdict;
use crate::pdes::{
    Checkpoint, CheckpointError, CpuSimulation, FaultKind, Fingerprint, Model as _, Options, Progress,
    Replica, Simulation, SimulationError, Stop, Until,
};
use crate::statistics::{AnalysisError, Part, mser5};
use crate::time::Ticks;

use super::check::{UNTIL, ticks};
use super::measures::Measured;
use super::model::present_of;
use super::nodes::Kind;
use super::saved::{Numbers, source};
use super::study::{MORE, served};
use super::sums::{Observed, real};
use super::{
    Facility, FacilityError, FacilityOutput, LongRun, Report, Row, SavedStudy, Study, StudyAutosave, theory,
};

/// Parts of a run whose averages MSER-5 examines.
pub(super) const PARTS: usize = 500;

/// The output of a long run.
struct LongResults {
    /// By the ends of batches and nodes.
    reported: Vec<Vec<FacilityOutput>>,
    events: u64,
    fingerprint: Fingerprint,
    /// Whether the checkpoint at the end was written, if one was requested.
    written: Result<(), CheckpointError>,
}

/// A run on either backend.
pub(super) enum Run<'m> {
    Cpu(Box<CpuSimulation<'m, Facility>>),
    Gpu(Box<Simulation<Facility>>),
}

impl<'m> Run<'m> {
    pub(super) async fn begin(
        facility: &'m Facility,
        seed: u64,
        place: Backend<'_>,
        saved: Option<&Checkpoint>,
    ) -> Result<Self, SimulationError> {
        let options = Options::default().seed(seed);
        Ok(match (place.gpu(), saved) {
            (None, None) => {
                Self::Cpu(Box::new(CpuSimulation::in_rust(facility, Options::default().seed(seed))?))
            }
            (None, Some(saved)) => Self::Cpu(Box::new(CpuSimulation::resume_in_rust(facility, saved)?)),
            (Some(gpu), None) => Self::Gpu(Box::new(Simulation::new_async(gpu, facility, options).await?)),
            (Some(gpu), Some(saved)) => {
                Self::Gpu(Box::new(Simulation::resume_async(gpu, facility, options, saved).await?))
            }
        })
    }

    pub(super) async fn to(
        &mut self,
        end: Ticks,
        watch: &mut impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, SimulationError> {
        match self {
            Self::Cpu(run) => run.until(Until::time(end)).watch(watch).run(),
            Self::Gpu(run) => run.until(Until::time(end)).watch(watch).run_async().await,
        }
    }

    pub(super) async fn memory(&self) -> Result<Vec<[u32; 4]>, SimulationError> {
        match self {
            Self::Cpu(run) => Ok(run.memory().to_vec()),
            Self::Gpu(run) => run.memory_async().await,
        }
    }

    async fn outputs(&self, at: Ticks) -> Result<Vec<FacilityOutput>, SimulationError> {
        let outputs = match self {
            Self::Cpu(run) => run.outputs(at)?,
            Self::Gpu(run) => run.outputs_async(at).await?,
        };
        Ok(outputs.rows().to_vec())
    }

    async fn checkpoint(&self) -> Result<Checkpoint, SimulationError> {
        match self {
            Self::Cpu(run) => run.checkpoint(),
            Self::Gpu(run) => run.checkpoint_async().await,
        }
    }

    async fn fingerprint(&self) -> Result<Fingerprint, SimulationError> {
        match self {
            Self::Cpu(run) => Ok(run.fingerprint()),
            Self::Gpu(run) => run.fingerprint_async().await,
        }
    }
}

impl Facility {
    /// Where statistics should begin in runs until `until`, in the network's unit, by the rule
    /// MSER-5: of the average numbers of customers in 500 parts of a run, averaged over `pilots`
    /// runs on the host, at the station that takes longest. The runs are those of the first
    /// replications of this seed: observe others.
    ///
    /// # Errors
    /// [`FacilityError::NotSettled`] names a station whose number of customers still changes in the
    /// second half of such runs; and the errors of runs.
    pub fn settles(&self, seed: u64, until: f64, pilots: u32) -> Result<f64, FacilityError> {
        let end = ticks(self.resolution, UNTIL, until)?;
        self.check_end(until, end)?;
        let stations = self.stations();
        let mut series = vec![vec![0.0; PARTS]; stations.len()];
        let mut facility = self.clone();
        for number in 0..pilots.max(1) {
            let reported = facility.parts(seed, number, end, PARTS, &stations, |_, _| {})?;
            for (sums, reported) in series.iter_mut().zip(&reported) {
                sums.iter_mut().zip(reported).for_each(|(sum, reported)| *sum += reported);
            }
        }
        self.settled(&stations, &series, until, end)
    }

    /// When statistics should begin, from the average numbers at stations in 500 parts of a run.
    pub(super) fn settled(
        &self,
        stations: &[usize],
        series: &[Vec<f64>],
        until: f64,
        end: Ticks,
    ) -> Result<f64, FacilityError> {
        let mut latest = 0;
        for (&node, series) in stations.iter().zip(series) {
            match mser5(series) {
                Ok(cut) => latest = latest.max(cut),
                Err(AnalysisError::NotSettled { .. }) => {
                    return Err(FacilityError::NotSettled { node: self.nodes[node].name.clone(), until });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.resolution.units(part_end(Ticks::ZERO, end, latest as u64, PARTS as u64)))
    }

    /// Describes one long run, whose report has every measure with an interval from the means of
    /// `batches` parts of equal length after the warm-up: at least 8, and 10 to 30 serve well.
    ///
    /// Of the study, `replications` and `stopping` have no part, nor have distributions. Warnings
    /// name batches that are correlated: their intervals are wider for that, and may be too narrow
    /// still. They also name what was not observed in every batch, which has no mean.
    ///
    /// A run on a device takes all of it: that pays for networks of thousands of nodes.
    pub fn long_run<'r>(&'r self, study: &'r Study, batches: usize) -> LongRun<'r> {
        LongRun::new(self, study, batches)
    }

    /// Makes the run.
    pub(super) async fn run_long<V: Verdict, W: FnMut(&Progress) -> V>(
        &self,
        run: LongRun<'_, W>,
    ) -> Result<Report, FacilityError> {
        let LongRun { study, batches, backend: place, autosave: keep, mut watch, .. } = run;
        let place = place.for_one_run(self.nodes.len());
        let begun = Instant::now();
        let (until, warm_up) = self.times(study)?;
        let ends = ends_of_batches(warm_up, until, batches)?;
        let study = Study { details: false, ..*study };
        let mut facility = self.for_study(&study, warm_up);
        let mut from = keep.from;
        if let Some(saved) = from {
            saved.check(&facility, &study, [until, warm_up], batches)?;
            facility =
                facility.with_room(u32::try_from(saved.numbers().room).expect("checked when it was read"));
        }
        let LongResults { reported, events, fingerprint, written } = loop {
            let kept = StudyAutosave { from, ..keep };
            match facility.reported_at(&ends, &study, place, kept, &mut watch).await {
                Ok(reported) => break reported,
                Err(FacilityError::Simulation(error)) => {
                    facility = facility.with_more_room(error, study.room, 0)?;
                    // Memory of another size: start again.
                    from = None;
                }
                Err(error) => return Err(error),
            }
        };
        let last = &reported[batches];
        facility.verify(last, 0, until)?;
        facility.deadlock(last, study.seed, 0, until)?;
        let part = |column: &Measured, part: usize| {
            let [from, to] = [part, part + 1];
            let seen = Observed::new(&reported[to], Some(&reported[from]), warm_up, [ends[from], ends[to]]);
            facility.part(column, &seen)
        };
        let (rows, warnings) = facility.rows_of_batches(facility.columns(), &study, batches, part)?;
        let (engine, adapter) = match place.gpu() {
            None => ("cpu", "processor, one core".to_owned()),
            Some(gpu) => ("gpu", gpu.info().name.clone()),
        };
        Ok(Report {
            network: self.network.name.clone(),
            engine,
            mapping: "one run".to_owned(),
            adapter,
            seconds: begun.elapsed().as_secs_f64(),
            customers: served(&facility, last),
            events,
            fingerprint: fingerprint.0,
            replications: 1,
            until: study.until,
            warm_up: study.warm_up,
            level: study.level,
            unit: self.network.unit.clone(),
            ticks_per_unit: self.resolution.ticks_per_unit(),
            stopped: None,
            warnings,
            unsaved: written.err().map(|error| error.to_string()),
            rows,
            lengths: Vec::new(),
        })
    }

    /// The rows of a long run, with warnings. `part` is what a batch adds to a column.
    pub(super) fn rows_of_batches(
        &self,
        columns: Vec<Measured>,
        study: &Study,
        batches: usize,
        part: impl Fn(&Measured, usize) -> Part,
    ) -> Result<(Vec<Row>, Vec<String>), FacilityError> {
        let known = theory::known(self);
        let (mut rows, mut warnings) = (Vec::new(), self.rounding_until(study.until));
        for mut column in columns {
            for batch in 0..batches {
                let part = part(&column, batch);
                column.parts.push(part);
            }
            let observed = column.parts.observed();
            let what = self.reported_of(&column);
            if observed < batches {
                warnings.push(format!(
                    "{what} is not reported: {} of {batches} batches have no observations; make the run longer, or use fewer batches",
                    batches - observed
                ));
                column.parts.forget();
            }
            let (mut summary, correlated) =
                column.parts.serial_summary(column.measure.name(), study.level)?;
            if correlated {
                warnings.push(format!(
                    "the batches of {what} are correlated: its interval is wider for that, and may be \
                    too narrow still; make the run longer"
                ));
            }
            summary.observations = observed as u64;
            let row = self.row(&column, &summary, self.theory(&column, &known));
            rows.push(Row { parts: column.parts, ..row });
        }
        Ok((rows, warnings))
    }

    /// The output of each node at each of the times `ends` of one run.
    async fn reported_at<V: Verdict>(
        &self,
        ends: &[Ticks],
        study: &Study,
        place: Backend<'_>,
        keep: StudyAutosave<'_>,
        watch: &mut impl FnMut(&Progress) -> V,
    ) -> Result<LongResults, FacilityError> {
        let mut run = Run::begin(self, study.seed, place, keep.from.and_then(SavedStudy::run)).await?;
        let mut reported = match keep.from {
            Some(saved) => saved.reported(self.nodes.len(), ends.len())?,
            None => Vec::new(),
        };
        let numbers = Numbers {
            seed: study.seed,
            source: source(self),
            until: ends[ends.len() - 1].get(),
            warm_up: ends[0].get(),
            batches: ends.len() as u64 - 1,
            room: self.room().into(),
            ..Numbers::zeroed()
        };
        let times = [ends[ends.len() - 1], ends[0]];
        let own = |saved: &SavedStudy| saved.check(self, study, times, ends.len() - 1);
        let mut saving = SavedStudy::plan(keep, u32::MAX, false, own)?;
        let mut events = keep.from.and_then(SavedStudy::run).map_or(0, |run| run.progress().events);
        for &end in &ends[reported.len()..] {
            let mut stopped = false;
            loop {
                let progress = run
                    .to(end, &mut |progress| {
                        stopped |= watch(progress).flow().is_break();
                        if stopped || saving.due() {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    })
                    .await?;
                events = progress.events;
                let ended = progress.stop != Some(Stop::Watcher);
                if ended {
                    reported.push(run.outputs(end).await?);
                    // Short parts end before `watch` is called.
                    stopped |= reported.len() < ends.len() && watch(&progress).flow().is_break();
                }
                if keep.to.is_some() && (stopped || !ended) {
                    let saved = run.checkpoint().await?;
                    let made = SavedStudy::of_run(self, numbers, &reported, &saved);
                    let make = || made.map(SavedStudy::into_file);
                    if stopped { saving.last(make)?? } else { saving.save(make)? }
                }
                if stopped {
                    return Err(SimulationError::Stopped.into());
                }
                if ended {
                    break;
                }
            }
        }
        let mut written = Ok(());
        if keep.to.is_some() {
            let saved = run.checkpoint().await?;
            let made = SavedStudy::of_run(self, numbers, &reported, &saved);
            written = saving.last(|| made.map(SavedStudy::into_file))?;
        }
        Ok(LongResults { reported, events, fingerprint: run.fingerprint().await?, written })
    }

    /// The same with more room for waiting customers, if the room was too small and can grow.
    pub(super) fn with_more_room(
        self,
        error: SimulationError,
        most: u32,
        replication: u32,
    ) -> Result<Self, FacilityError> {
        let SimulationError::Fault(fault) = error else { return Err(error.into()) };
        let node = self.nodes[fault.lp as usize].name.clone();
        if fault.kind != FaultKind::MemoryFull {
            return Err(FacilityError::Fault { node, replication, fault });
        }
        let (room, most) = (self.room(), most.min(self.most_waiting()));
        if room >= most {
            return Err(FacilityError::LineFull { node, room, replication });
        }
        Ok(self.with_room(room.max(1).saturating_mul(MORE).min(most)))
    }
}

impl Facility {
    /// The stations, delays included.
    pub(super) fn stations(&self) -> Vec<usize> {
        let station = |node: &usize| matches!(self.nodes[*node].kind, Kind::Station { .. });
        (0..self.nodes.len()).filter(station).collect()
    }

    /// Runs a replication on the host with statistics from time zero: average customers at `nodes`
    /// by part. Calls `look` with the LPs' memory after each part. If the room is too small, it
    /// grows for good and the run starts again.
    pub(super) fn parts(
        &mut self,
        seed: u64,
        number: u32,
        end: Ticks,
        parts: usize,
        nodes: &[usize],
        mut look: impl FnMut(usize, &[[u32; 4]]),
    ) -> Result<Vec<Vec<f64>>, FacilityError> {
        let most = self.most_waiting();
        loop {
            let facility = self.clone().with_warm_up(Ticks::ZERO);
            match facility.parts_of_run(seed, number, end, parts, nodes, &mut look) {
                Err(error) => *self = self.clone().with_more_room(error, most, number)?,
                Ok(reported) => return Ok(reported),
            }
        }
    }

    fn parts_of_run(
        &self,
        seed: u64,
        number: u32,
        end: Ticks,
        parts: usize,
        nodes: &[usize],
        look: &mut impl FnMut(usize, &[[u32; 4]]),
    ) -> Result<Vec<Vec<f64>>, SimulationError> {
        let mut simulation = CpuSimulation::in_rust(
            self,
            Options::default().seed(seed).replica(Replica { point: 0, number }),
        )?;
        let (mut reported, mut areas, mut at) =
            (vec![Vec::new(); nodes.len()], vec![0; nodes.len()], Ticks::ZERO);
        let rows = self.memory_rows() as usize;
        let classes = self.network.classes.len();
        for part in 0..parts {
            let next = part_end(Ticks::ZERO, end, part as u64 + 1, parts as u64);
            simulation.run(Until::time(next))?;
            for ((&node, reported), before) in nodes.iter().zip(&mut reported).zip(&mut areas) {
                let memory = &simulation.memory()[node * rows..][..rows];
                let area: u128 = (0..classes).map(|class| present_of(memory, class).area(next.get())).sum();
                reported.push(real(area - *before) / real(u128::from(next.get() - at.get())));
                *before = area;
            }
            look(part, simulation.memory());
            at = next;
        }
        Ok(reported)
    }
}

/// The begin of the first batch, and the ends of all.
pub(super) fn ends_of_batches(
    warm_up: Ticks,
    until: Ticks,
    batches: usize,
) -> Result<Vec<Ticks>, FacilityError> {
    let parts = u64::try_from(batches).unwrap_or(u64::MAX);
    if until.get() - warm_up.get() < parts || batches < 8 {
        let remedy = "choose 10 to 30; below 8 their correlation cannot be judged";
        let (what, value) = ("the number of batches", batches.to_string());
        return Err(AnalysisError::Setting { what, value, remedy }.into());
    }
    Ok((0..=parts).map(|part| part_end(warm_up, until, part, parts)).collect())
}

/// The end of part number `part` of `parts` equal parts between two times.
pub(super) fn part_end(from: Ticks, to: Ticks, part: u64, parts: u64) -> Ticks {
    let span = u128::from(to.get() - from.get()) * u128::from(part) / u128::from(parts);
    Ticks::new(from.get() + u64::try_from(span).expect("no more than the span"))
}
