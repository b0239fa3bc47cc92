//! Measures of a network over time, from the averages of its process model.

use std::collections::HashMap;
use std::ops::ControlFlow;

use web_time::Instant;

use crate::facility::measures::Measured;
use crate::facility::outline::Runs;
use crate::facility::{FacilityError, Report, Study, Timeline};
use crate::pdes::Progress;
use crate::statistics::{Column, Intervals, Observations, Profile};
use crate::time::Ticks;

use super::super::error::ProcessError;
use super::NetworkProcess;
use super::results::Values;

impl NetworkProcess {
    /// The average numbers of customers in `parts` parts of equal length of the first replication,
    /// on the CPU.
    ///
    /// # Errors
    /// [`ProcessError`]; [`ProcessError::Setting`] for no parts, or more than there are ticks.
    pub fn course(&self, study: &Study, parts: u32) -> Result<Timeline, ProcessError> {
        let plan = self.study(&study.replications(1).stopping(None).details(self.outline.details()))?;
        let found = self.compiled.timeline(&plan, 0, parts).map_err(|error| self.explained(error))?;
        let columns = found.averages.iter().map(|(name, values)| (&**name, &**values)).collect();
        let values = Values::new(&self.outline, &self.names, study, columns)?;
        let number = |column: &Measured, part: usize| values.part(column, part).own(column.parts.estimator());
        Ok(self.outline.timeline(found.part, parts as usize, number))
    }

    /// When statistics should begin in runs until `until`, as
    /// [`Facility::settles`](crate::facility::Facility::settles).
    ///
    /// # Errors
    /// As there, and [`ProcessError`].
    pub fn settles(&self, seed: u64, until: f64, pilots: u32) -> Result<f64, FacilityError> {
        let plan = Study::new(pilots.max(1), until, 0.0).seed(seed).details(self.outline.details());
        let ends = self.outline.parts(until)?;
        let of_run = |made: &Observations| {
            Ok(made.columns().iter().map(|column| (column.name.clone(), of_all(column))).collect())
        };
        let runs: Result<Vec<HashMap<String, Vec<f64>>>, _> =
            self.compiled.by_interval(&self.study(&plan)?, &ends, &of_run);
        let runs = runs.map_err(|error| self.explained(error))?;
        let values = runs.iter().map(|run| {
            let columns = run.iter().map(|(name, values)| (&**name, &**values)).collect();
            Values::new(&self.outline, &self.names, &plan, columns)
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        self.outline.settled(until, |column, part| {
            values.iter().map(|values| values.part(column, part).own(column.parts.estimator())).sum()
        })
    }

    /// One long run on the CPU, whose report has intervals from the means of `batches` parts, as
    /// [`Facility::long_run`](crate::facility::Facility::long_run). Where `watch` breaks, the error
    /// is [`SimulationError::Stopped`](crate::pdes::SimulationError::Stopped).
    ///
    /// # Errors
    /// [`ProcessError`].
    pub fn long_run(
        &self,
        study: &Study,
        batches: usize,
        mut watch: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Report, ProcessError> {
        let begun = Instant::now();
        let plan = self.study(&study.replications(1).stopping(None).details(self.outline.details()))?;
        let ends = self.outline.batches(study, batches)?;
        let from_zero = ends[0] == Ticks::ZERO;
        let found = self.compiled.long_run(&plan, &ends[usize::from(from_zero)..], &mut watch);
        let (made, events, fingerprint) = found.map_err(|error| self.explained(error))?;
        // Without the warm-up.
        let first = usize::from(!from_zero);
        let made: Vec<_> =
            made.columns().iter().map(|column| (&*column.name, of_all(column).split_off(first))).collect();
        let columns: HashMap<&str, &[f64]> = made.iter().map(|(name, values)| (*name, &**values)).collect();
        let units = |place: usize| self.outline.resolution().units(ends[place]);
        let batch = |place: usize| {
            // The servers of a schedule are those of the batch.
            let within = Study { warm_up: units(place), until: units(place + 1), ..*study };
            Values::new(&self.outline, &self.names, &within, columns.clone())
        };
        let values = (0..batches).map(batch).collect::<Result<Vec<_>, _>>()?;
        let runs = Runs {
            engine: "cpu",
            mapping: "process model, one run".to_owned(),
            adapter: "processor, one core".to_owned(),
            time: begun.elapsed(),
            events,
            fingerprint: fingerprint.0,
            replications: 1,
            stopped: None,
        };
        let part = |column: &Measured, batch: usize| values[batch].part(column, batch);
        Ok(self.outline.report_of_batches(study, batches, runs, part)?)
    }

    /// The measures of each interval of the replications of a study, on all cores of the CPU: those
    /// whose names, as in [`measures`](Self::measures), `is_wanted` accepts. Times and shares count
    /// in the interval in which they end.
    ///
    /// # Errors
    /// [`ProcessError`]; [`AnalysisError::Setting`](crate::statistics::AnalysisError::Setting) for
    /// invalid intervals.
    pub fn profile(
        &self,
        study: &Study,
        intervals: Intervals,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Profile, ProcessError> {
        let plan = self.study(&study.stopping(None).details(self.outline.details()))?;
        let (columns, names) = self.outline.plain();
        let wanted = columns.into_iter().zip(names).filter(|(_, name)| is_wanted(name));
        let (columns, names): (Vec<_>, Vec<_>) = wanted.unzip();
        let count = intervals.check(study.until, study.replications, columns.len())?;
        let resolution = self.outline.resolution();
        #[expect(clippy::cast_precision_loss, reason = "a number of intervals")]
        let ends: Vec<f64> = (1..=count).map(|number| number as f64 * intervals.length).collect();
        let ticks = ends.iter().map(|end| {
            resolution.ticks(*end).map_err(|source| ProcessError::Time { what: "an interval", source })
        });
        let ticks: Vec<Ticks> = ticks.collect::<Result<_, _>>()?;
        let of_run = |made: &Observations| {
            let made: Vec<_> = made.columns().iter().map(|column| (&*column.name, of_all(column))).collect();
            let of_run: HashMap<&str, &[f64]> =
                made.iter().map(|(name, values)| (*name, &**values)).collect();
            let mut by_column = vec![Vec::with_capacity(count); columns.len()];
            let mut begin = 0.0;
            for (interval, &end) in ends.iter().enumerate() {
                // The servers of a schedule are those of the interval.
                let within = Study { warm_up: begin, until: end, ..*study };
                let values = Values::new(&self.outline, &self.names, &within, of_run.clone())?;
                for (column, found) in columns.iter().zip(&mut by_column) {
                    found.push(values.part(column, interval).own(column.parts.estimator()));
                }
                begin = end;
            }
            Ok(by_column)
        };
        let found = self.compiled.by_interval(&plan, &ticks, &of_run);
        let found = found.map_err(|error| self.explained(error))?;
        Ok(Profile::new(intervals, &self.network().unit, study.level, study.warm_up, &names, &found)?)
    }
}

/// The values of a column, of all intervals.
fn of_all(column: &Column) -> Vec<f64> {
    (0..column.values.len()).map(|place| column.values.get(place)).collect()
}

impl From<ProcessError> for FacilityError {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Network(error) => *error,
            ProcessError::Simulation(error) => Self::Simulation(error),
            ProcessError::Analysis(error) => Self::Analysis(error),
            error => Self::Process { kind: error.kind(), error: error.into() },
        }
    }
}
