//! Measures by time, over replications.

use rayon::prelude::*;

use crate::pdes::{CpuSimulation, Options, Replica, SimulationError, Until};
use crate::statistics::{Intervals, Profile};
use crate::time::Ticks;

use super::measures::Measured;
use super::sums::Observed;
use super::{Facility, FacilityError, FacilityOutput, Study};

impl Facility {
    /// The measures of each interval of the replications of a study, on all cores of the CPU: those
    /// whose names, as in [`measures`](Self::measures), `is_wanted` accepts. Replications are those
    /// of [`Facility::study`]; their number is that of the study, also with a stopping rule.
    ///
    /// Times and shares count in the interval in which they end. The warm-up is a part of a profile
    /// without a period.
    ///
    /// # Errors
    /// As [`Facility::study`], and
    /// [`AnalysisError::Setting`](crate::statistics::AnalysisError::Setting) for invalid intervals.
    pub fn profile(
        &self,
        study: &Study,
        intervals: Intervals,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Profile, FacilityError> {
        self.times(study)?;
        let (all, names) = (self.columns(), self.measures(false));
        let wanted: Vec<(Measured, String)> =
            all.into_iter().zip(names).filter(|(_, name)| is_wanted(name)).collect();
        let (columns, names): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
        let count = intervals.check(study.until, study.replications, columns.len())?;
        let end = |number: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a number of intervals")]
            let units = number as f64 * intervals.length;
            self.resolution.ticks(units).map_err(|source| FacilityError::Time { what: "interval", source })
        };
        let ends = (0..=count).map(end).collect::<Result<Vec<_>, _>>()?;
        let runs = (0..study.replications).into_par_iter().map(|number| {
            let most = study.room.min(self.most_waiting());
            let mut facility = self.clone().with_warm_up(Ticks::ZERO).with_room(self.room().min(study.room));
            loop {
                match facility.averages(&columns, &ends, study.seed, number) {
                    Err(error) => facility = facility.with_more_room(error, most, number)?,
                    Ok(found) => return Ok(found),
                }
            }
        });
        let runs = runs.collect::<Result<Vec<_>, FacilityError>>()?;
        Ok(Profile::new(intervals, &self.network.unit, study.level, study.warm_up, &names, &runs)?)
    }

    /// By column: the value of each interval of a replication.
    fn averages(
        &self,
        columns: &[Measured],
        ends: &[Ticks],
        seed: u64,
        number: u32,
    ) -> Result<Vec<Vec<f64>>, SimulationError> {
        let options = Options::default().seed(seed).replica(Replica { point: 0, number });
        let mut simulation = CpuSimulation::in_rust(self, options)?;
        let mut found = vec![Vec::with_capacity(ends.len()); columns.len()];
        let mut before: Option<Vec<FacilityOutput>> = None;
        for (from, to) in ends.iter().zip(&ends[1..]) {
            simulation.run(Until::time(*to))?;
            let rows = simulation.outputs(*to)?.rows().to_vec();
            let seen = Observed::new(&rows, before.as_deref(), Ticks::ZERO, [*from, *to]);
            for (column, found) in columns.iter().zip(&mut found) {
                found.push(self.part(column, &seen).own(column.parts.estimator()) / column.parts.unit());
            }
            before = Some(rows);
        }
        Ok(found)
    }
}
