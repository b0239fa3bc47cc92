//! One replication over time: averages of its parts, and what its entities do.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::facility::FacilityError;
use crate::pdes::{
    CpuSimulation, FaultKind, Fingerprint, Options, Progress, Replica, SimulationError, Stop, Until,
};
use crate::statistics::{Intervals, Observations, Profile};
use crate::text::write_csv;
use crate::time::Ticks;

use super::super::compiled::CompiledProcess;
use super::super::error::{ProcessError, Replication};
use super::super::ir::Place;
use super::super::model::{ProcessRun, Rows, Sized3};
use super::super::program::{Control, HEADER, LIVE, Noted, Program, Status};
use super::diagnosis::Snapshot;
use super::measures::Measures;
use super::plan::Study;

/// One replication over time, in the model's unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// The unit.
    pub unit: String,
    /// The length of each part of the run.
    pub part: f64,
    /// The average of each part, for each average over time that results have: `queue(bed)`.
    pub averages: Vec<(String, Vec<f64>)>,
}

/// A change of an entity: what it does from this time on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The time, in units.
    pub time: f64,
    /// The type of the entity.
    pub entity: String,
    /// Its number among its type, from 1.
    pub number: u32,
    /// `waits`, `delays`, `rests` (in a store), `joins`, `follows` (in a batch), `notes`, or
    /// `ends`.
    pub what: &'static str,
    /// The statement at which it does so, or what it notes, with the value; empty if it ends.
    pub statement: String,
    /// The line of that statement; 0 if there is no file.
    pub line: u32,
}

/// A note of an entity: the statement `note`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::process) struct Note<'n> {
    pub(in crate::process) time: Ticks,
    /// What it says.
    pub(in crate::process) noted: &'n Noted,
    /// The number of the entity among its type.
    pub(in crate::process) number: u32,
    pub(in crate::process) value: i32,
}

/// Evaluates the intervals of a replication.
pub(super) type OfIntervals<'f, T> = &'f (dyn Fn(&Observations) -> Result<T, ProcessError> + Sync);

/// What an entity was doing: its control word, the number of its event or wait, and its number.
type Doing = [u32; 3];

/// The first replication of a point, on the CPU.
pub(super) struct Course<'c, S: Sized3> {
    pub(super) compiled: &'c CompiledProcess,
    study: &'c Study,
    pub(super) until: Ticks,
    pub(super) model: ProcessRun<S>,
    point: usize,
}

/// The values of a measure.
fn values_of(made: &Observations, name: &str) -> Result<Vec<f64>, ProcessError> {
    let column = made.column(name)?;
    Ok((0..made.replications()).map(|place| column.values.get(place)).collect())
}

impl<'c, S: Sized3> Course<'c, S> {
    pub(super) fn new(
        compiled: &'c CompiledProcess,
        study: &'c Study,
        point: usize,
        until: Ticks,
    ) -> Result<Self, ProcessError> {
        let printed = Arc::clone(compiled.printed());
        let model = ProcessRun::new(printed, compiled.values(point), Ticks::ZERO, study.most())?;
        Ok(Self { compiled, study, until, model, point })
    }

    pub(super) fn simulation(&self) -> Result<CpuSimulation<'_, ProcessRun<S>>, ProcessError> {
        self.replication(0)
    }

    fn replication(&self, number: u32) -> Result<CpuSimulation<'_, ProcessRun<S>>, ProcessError> {
        let options =
            Options::default().seed(self.study.seed).replica(Replica { number, ..Replica::default() });
        CpuSimulation::new(&self.model, options).map_err(|error| ProcessError::of_code(error, false))
    }

    pub(super) fn timeline(&self, parts: u32) -> Result<Timeline, ProcessError> {
        if parts == 0 || u64::from(parts) > self.until.get() {
            return Err(ProcessError::Setting {
                place: Place::default(),
                what: "the number of parts of a run".to_owned(),
                value: parts.to_string(),
                remedy: "choose at least one, and no more than there are ticks".to_owned(),
            });
        }
        let end = |part: u32| {
            let end = u128::from(self.until.get()) * u128::from(part) / u128::from(parts);
            Ticks::new(u64::try_from(end).expect("no more than the end"))
        };
        let made = self.intervals(0, &(1..=parts).map(end).collect::<Vec<_>>())?;
        let measures = Measures::new(self.compiled.program(), Ticks::ZERO, self.until);
        let averages = measures.over_time().map(|name| {
            let values = values_of(&made, &name)?;
            Ok((name, values))
        });
        let unit = self.compiled.model().unit.clone();
        let part = self.compiled.program().resolution.units(self.until) / f64::from(parts);
        Ok(Timeline { unit, part, averages: averages.collect::<Result<_, ProcessError>>()? })
    }

    /// The measures between the ends of intervals of a replication, as if each were a replication.
    fn intervals(&self, number: u32, ends: &[Ticks]) -> Result<Observations, ProcessError> {
        let mut simulation = self.replication(number)?;
        Ok(self.intervals_of(&mut simulation, number, ends, &mut |_| ControlFlow::Continue(()))?.0)
    }

    /// One long run: the measures of batches between these times, its events and its fingerprint.
    pub(super) fn long_run(
        &self,
        ends: &[Ticks],
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<(Observations, u64, Fingerprint), ProcessError> {
        let mut simulation = self.simulation()?;
        let (made, events) = self.intervals_of(&mut simulation, 0, ends, watch)?;
        Ok((made, events, simulation.fingerprint()))
    }

    fn intervals_of(
        &self,
        simulation: &mut CpuSimulation<'_, ProcessRun<S>>,
        number: u32,
        ends: &[Ticks],
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<(Observations, u64), ProcessError> {
        let (program, mut events) = (self.compiled.program(), 0);
        let (mut numbers, mut before, mut begin) = (Vec::new(), Vec::new(), 0.0);
        let mut stuck = None;
        for &end in ends {
            match simulation.until(Until::time(end)).watch(&mut *watch).run() {
                Ok(progress) if progress.stop == Some(Stop::Watcher) => {
                    return Err(SimulationError::Stopped.into());
                }
                Ok(progress) => {
                    events = progress.events;
                    // Short parts end before it is called.
                    if watch(&progress).is_break() && ends.last() != Some(&end) {
                        return Err(SimulationError::Stopped.into());
                    }
                }
                Err(error) => return Err(self.failed(simulation, number, error)),
            }
            let output = simulation.outputs(end)?;
            // Since the begin of the run.
            let measures = Measures::new(program, Ticks::ZERO, end);
            let now: Vec<f64> = measures.numbers(output.rows()[0].rows()).collect();
            let units = program.resolution.units(end);
            before.resize(now.len(), 0.0);
            numbers.extend(measures.between([&before, &now], [begin, units]));
            (before, begin) = (now, units);
            if ends.last() == Some(&end) && !self.study.allow_deadlock {
                stuck = self.compiled.blocking().stuck(output.rows()[0].rows());
            }
        }
        self.check_fault(simulation, number)?;
        let word = |word: u32| simulation.states()[0].rows()[(word / 4) as usize][(word % 4) as usize];
        if let Some(nodes) = stuck {
            return Err(FacilityError::Deadlock { nodes, replication: number }.into());
        }
        if word(LIVE) > 0 && !self.study.allow_deadlock && simulation.pending().is_empty() {
            return Err(self.snapshot(simulation, number).deadlock());
        }
        let costs = program.costs_at(self.compiled.values(self.point))?;
        // Costs are of the length of an interval.
        let length = ends.first().copied().unwrap_or(self.until);
        let measures = Measures::new(program, Ticks::ZERO, length);
        Ok((measures.observations(&numbers, ends.len(), &costs)?, events))
    }

    /// Refuses a replication in which a statement failed.
    fn check_fault(
        &self,
        simulation: &CpuSimulation<'_, ProcessRun<S>>,
        number: u32,
    ) -> Result<(), ProcessError> {
        match simulation.states()[0].rows()[0][HEADER.fault as usize] {
            0 => Ok(()),
            _ => Err(self.snapshot(simulation, number).fault()),
        }
    }

    /// Why the engine ended a replication.
    fn failed(
        &self,
        simulation: &CpuSimulation<'_, ProcessRun<S>>,
        number: u32,
        error: SimulationError,
    ) -> ProcessError {
        match error {
            SimulationError::Fault(fault) if fault.kind == FaultKind::MemoryFull => {
                self.snapshot(simulation, number).full(self.study.most())
            }
            error => error.into(),
        }
    }

    fn snapshot(&self, simulation: &CpuSimulation<'_, ProcessRun<S>>, number: u32) -> Snapshot<'c> {
        let (compiled, seed) = (self.compiled, self.study.seed);
        Snapshot {
            program: compiled.program(),
            state: simulation.states()[0].rows().to_vec(),
            memory: simulation.memory().to_vec(),
            unit: compiled.model().unit.clone(),
            replication: Replication { number, seed, point: compiled.design().describe(self.point) },
        }
    }

    /// What `of` makes of the intervals of each replication.
    pub(super) fn by_interval<T: Send>(
        &self,
        ends: &[Ticks],
        of: OfIntervals<'_, T>,
    ) -> Result<Vec<T>, ProcessError> {
        let runs = (0..self.study.replications).into_par_iter();
        runs.map(|number| of(&self.intervals(number, ends)?)).collect()
    }

    /// The averages of each interval of all replications.
    pub(super) fn profile(
        &self,
        intervals: Intervals,
        level: f64,
        is_wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Profile, ProcessError> {
        let Self { compiled, study, .. } = self;
        let program = compiled.program();
        let measures = Measures::new(program, Ticks::ZERO, self.until);
        let names: Vec<String> = measures.of_intervals().filter(|name| is_wanted(name)).collect();
        let count = intervals.check(study.until, study.replications, names.len())?;
        let end = |number: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a number of intervals")]
            let units = number as f64 * intervals.length;
            let ticks = program.resolution.ticks(units);
            ticks.map_err(|source| ProcessError::Time { what: "an interval", source })
        };
        let ends = (1..=count).map(end).collect::<Result<Vec<_>, _>>()?;
        let of_run = |made: &Observations| names.iter().map(|name| values_of(made, name)).collect();
        let runs = self.by_interval(&ends, &of_run)?;
        let unit = &compiled.model().unit;
        Ok(Profile::new(intervals, unit, level, study.warm_up, &names, &runs)?)
    }

    /// The first changes, at most `most`.
    pub(super) fn changes(&self, most: usize) -> Result<Vec<Change>, ProcessError> {
        let (mut simulation, program) = (self.simulation()?, self.compiled.program());
        let (mut known, mut changes, mut now): (Vec<Doing>, _, _) = (Vec::new(), Vec::new(), Ticks::ZERO);
        loop {
            let state = simulation.states()[0].rows();
            let fresh = state[0][HEADER.fresh as usize] as usize;
            known.resize(fresh.max(known.len()), [0; 3]);
            let first = changes.len();
            for (slot, known) in (0..).zip(&mut known) {
                let row = |row: u32| simulation.memory()[(program.entity_row(slot) + row) as usize];
                let [control, number, ..] = row(0);
                let found = [control, number, row(2)[program.entity.who as usize]];
                if *known != found {
                    let time = program.resolution.units(now);
                    let (before, after) = (*known, found);
                    if is_there(before) && (!is_there(after) || before[2] != after[2]) {
                        changes.push(change(program, time, before, true));
                    }
                    if is_there(after) {
                        changes.push(change(program, time, after, false));
                    }
                    *known = found;
                }
            }
            // By entity, not by the place in memory; what ends comes first there.
            changes[first..].sort_by(|a: &Change, b| (&a.entity, a.number).cmp(&(&b.entity, b.number)));
            let next = simulation.pending().iter().map(|(_, event)| event.time).min();
            match next.filter(|next| *next < self.until && changes.len() < most) {
                Some(next) => now = next,
                None => break,
            }
            let made = simulation.run(Until::time(Ticks::new(now.get() + 1)));
            made.map_err(|error| self.failed(&simulation, 0, error))?;
        }
        self.check_fault(&simulation, 0)?;
        // Notes are before the changes of their time.
        let (notes, _) = self.notes_in(simulation.memory());
        changes.splice(0..0, notes.iter().map(|note| noted(program, note)));
        changes.sort_by(|a, b| a.time.total_cmp(&b.time));
        changes.truncate(most);
        Ok(changes)
    }
}

impl<S: Sized3> Course<'_, S> {
    /// The notes of the replication, or how many there are, if they did not fit.
    pub(super) fn all_notes<T>(
        &self,
        of: impl Fn(Vec<Note<'_>>) -> T,
    ) -> Result<Result<T, u32>, ProcessError> {
        let mut simulation = self.simulation()?;
        let made = simulation.run(Until::time(self.until));
        made.map_err(|error| self.failed(&simulation, 0, error))?;
        self.check_fault(&simulation, 0)?;
        let (notes, count) = self.notes_in(simulation.memory());
        Ok(if notes.len() < count as usize { Err(count) } else { Ok(of(notes)) })
    }

    /// The notes in LP memory that fit, and how many there are.
    fn notes_in(&self, memory: &[[u32; 4]]) -> (Vec<Note<'_>>, u32) {
        let program = self.compiled.program();
        let place = |row: u32| (row - program.size.state_rows()) as usize;
        if program.notes.is_empty() {
            return (Vec::new(), 0);
        }
        let rows = &memory[place(program.notes.start)..place(program.notes.end)];
        let count = rows[0][0];
        let notes = rows[1..].iter().take(count as usize);
        let note = |&[value, number, low, high]: &[u32; 4]| Note {
            time: Ticks::from_words([low, high & 0xffff]),
            noted: &program.noted[(high >> 16) as usize],
            number,
            value: value.cast_signed(),
        };
        (notes.map(note).collect(), count)
    }
}

fn is_there([control, ..]: Doing) -> bool {
    Control::of(control).status != Status::Free as u32
}

fn change(program: &Program, time: f64, [control, _, number]: Doing, ends: bool) -> Change {
    let Control { step, status, process } = Control::of(control);
    let step = &program.steps[step as usize];
    let what = match status {
        _ if ends => "ends",
        status if status == Status::Delay as u32 => "delays",
        status if status == Status::Item as u32 => "rests",
        status if status == Status::Join as u32 => "joins",
        status if status == Status::Member as u32 => "follows",
        _ => "waits",
    };
    let (statement, line) = if ends { (String::new(), 0) } else { (step.statement.clone(), step.place.line) };
    let entity = program.processes[process as usize].name.clone();
    Change { time, entity, number, what, statement, line }
}

fn noted(program: &Program, note: &Note<'_>) -> Change {
    Change {
        time: program.resolution.units(note.time),
        entity: program.processes[note.noted.process as usize].name.clone(),
        number: note.number,
        what: "notes",
        statement: format!("{} {}", note.noted.name, note.value),
        line: 0,
    }
}

/// Writes changes as CSV: `time`, `entity`, `number`, `what`, `statement`, `line`.
///
/// # Errors
/// [`ProcessError::Write`].
pub fn write_changes(changes: &[Change], file: impl io::Write) -> Result<(), ProcessError> {
    write_csv(file, |writer| {
        writer.write_record(["time", "entity", "number", "what", "statement", "line"])?;
        for Change { time, entity, number, what, statement, line } in changes {
            let [time, number, line] = [time.to_string(), number.to_string(), line.to_string()];
            writer.write_record([time.as_str(), entity, &number, what, statement, &line])?;
        }
        Ok(())
    })
    .map_err(ProcessError::Write)
}

/// Draws averages of a run over time: lengths of lines, levels and units in use. Of more than
/// eight, draws the largest.
///
/// # Errors
/// [`AnalysisError::Plot`](crate::statistics::AnalysisError::Plot).
#[cfg(feature = "plot")]
pub fn draw_timeline(timeline: &Timeline) -> Result<String, ProcessError> {
    use crate::statistics::{AnalysisError, plot};
    let name = "the course of a run";
    let wrong = |message: String| AnalysisError::Plot { name: name.to_owned(), message };
    if timeline.averages.is_empty() {
        return Err(wrong("the model has no resource, line or level".to_owned()).into());
    }
    let mut svg = String::new();
    let texts = ["One run over time", &format!("time ({})", timeline.unit), "average of a part"];
    plot::over_time(&mut svg, texts, timeline.part, &timeline.averages)
        .map_err(|error| wrong(error.to_string()))?;
    Ok(svg)
}
