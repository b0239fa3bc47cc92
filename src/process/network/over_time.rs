//! Measures of a network over time, from the averages of its process model.

use std::collections::HashMap;

use crate::facility::measures::Measured;
use crate::facility::{FacilityError, Study, Timeline};
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
        let plan = self.study(&study.replications(1).stopping(None).details(false))?;
        let found = self.compiled.timeline(&plan, 0, parts).map_err(|error| self.explained(error))?;
        let columns = found.averages.iter().map(|(name, values)| (&**name, &**values)).collect();
        let values = Values::new(&self.outline, &self.names, study, columns)?;
        let number = |column: &Measured, part: usize| values.part(column, part).own(column.parts.estimator());
        Ok(self.outline.timeline(found.part, parts as usize, number))
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
        let plan = self.study(&study.stopping(None).details(false))?;
        let all = self.outline.columns(&[])?.into_iter().zip(self.measures());
        let wanted = all.filter(|(_, name)| is_wanted(name));
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
