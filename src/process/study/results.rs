//! The results of a study.

use std::io;

use web_time::Instant;

use crate::statistics::{AnalysisError, Decision, Design, Observations, Report, Selected};

use super::super::compiled::CompiledProcess;
use super::super::error::ProcessError;
use super::super::model::Sized3;
use super::plan::Study;
use super::replications::Replications;

/// The results of a study.
///
/// Measures have these names: a tally `stay` has `stay` (the mean of all observations),
/// `smallest(stay)` and `largest(stay)` (means over the replications of the smallest and the
/// largest), and `count(stay)`; a counter `lost` has `lost` and `rate(lost)`, by unit of time; a
/// resource `bed` has `utilisation(bed)`, `in_use(bed)` and `queue(bed)`; a container `tank` has
/// `level(tank)`, `queue(tank)` of those that get and `putters(tank)`; a store `desk` has
/// `level(desk)`, `queue(desk)` of those that take and `givers(desk)`; a signal has `queue`; a
/// variable with `level` has `average`. Levels and lengths are averages over time.
#[derive(Debug)]
#[non_exhaustive]
pub struct StudyResults {
    /// The points.
    pub design: Design,
    /// The observations of each point: a value of each measure for each replication.
    pub observations: Vec<Observations>,
    /// Why the replications of each point ended, for a study to a precision.
    pub decisions: Vec<Decision>,
    /// The point that was selected, for a study that selects the best.
    pub selected: Option<Selected>,
    /// The replications of a point; with a selection, of the points that have most.
    pub replications: usize,
    /// Events of all replications.
    pub events: u64,
    /// A commutative sum over the fingerprints of all replications: 64 bits to compare studies of
    /// two machines.
    pub fingerprint: u64,
    /// How replications were mapped to the device; `cores` on the CPU.
    pub mapping: String,
    /// Wall-clock time, compilation included.
    pub seconds: f64,
    /// The seed.
    pub seed: u64,
    /// The end of each replication, in units of time.
    pub until: f64,
    /// The end of the warm-up.
    pub warm_up: f64,
}

impl StudyResults {
    pub(super) fn new<S: Sized3>(
        compiled: &CompiledProcess,
        study: &Study,
        replications: &Replications<'_, S>,
        observations: Vec<Observations>,
        begun: Instant,
    ) -> Self {
        let made = observations.iter().map(Observations::replications).max().unwrap_or(0);
        Self {
            design: compiled.design().clone(),
            observations,
            decisions: Vec::new(),
            selected: None,
            replications: made,
            events: replications.done.events,
            fingerprint: replications.done.fingerprint,
            mapping: replications.mapping(),
            seconds: begun.elapsed().as_secs_f64(),
            seed: study.seed,
            until: study.until,
            warm_up: study.warm_up,
        }
    }

    /// The table of all measures and points, with intervals at a confidence level.
    ///
    /// # Errors
    /// [`AnalysisError::Level`].
    pub fn report(&self, level: f64) -> Result<Report, AnalysisError> {
        let mut report = Report::default();
        for (point, observations) in self.observations.iter().enumerate() {
            report.add(&self.design, point, observations, level, |_| None)?;
        }
        Ok(report)
    }

    /// Reasons to doubt the results, in sentences: tallies without observations.
    pub fn warnings(&self) -> Vec<String> {
        let points = self.observations.iter().enumerate();
        let never = points.flat_map(|(point, observations)| {
            let place = self.design.describe(point);
            let place = if place.is_empty() { place } else { format!(" at {place}") };
            let columns = observations.shown().filter(|column| {
                (0..observations.replications()).all(|replication| column.values.get(replication).is_nan())
            });
            // Their smallest and largest values are missing, too.
            let tallies = columns.filter(|column| !column.name.contains('('));
            tallies
                .map(move |column| format!("`{}` was never observed{place}", column.name))
                .collect::<Vec<_>>()
        });
        never.collect()
    }

    /// Writes the value of each measure in each replication as CSV: `point`, a column
    /// `factor:NAME` for each parameter with several values, `replication`, and the measures. What
    /// was not observed is empty.
    ///
    /// # Errors
    /// [`ProcessError::Write`].
    pub fn each_to_csv(&self, file: impl io::Write) -> Result<(), ProcessError> {
        let mut writer = csv::Writer::from_writer(file);
        let factors = self.design.factors().iter().map(|name| format!("factor:{name}"));
        let first = self.observations.first();
        let measures = first.into_iter().flat_map(Observations::shown).map(|column| column.name.clone());
        let head = ["point".to_owned()].into_iter().chain(factors);
        writer.write_record(head.chain(["replication".to_owned()]).chain(measures))?;
        for (point, observations) in self.observations.iter().enumerate() {
            let columns: Vec<_> = observations.shown().collect();
            for replication in 0..observations.replications() {
                let mut record = vec![point.to_string()];
                record.extend(self.design.levels(point).iter().map(ToString::to_string));
                record.push(replication.to_string());
                let values = columns.iter().map(|column| column.values.get(replication));
                record.extend(values.map(|value| match value.is_finite() {
                    true => value.to_string(),
                    false => String::new(),
                }));
                writer.write_record(record)?;
            }
        }
        writer.flush().map_err(csv::Error::from)?;
        Ok(())
    }
}
