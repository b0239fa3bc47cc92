//! The results of a study.

use std::io;

use indexmap::IndexMap;
use web_time::Instant;

#[cfg(feature = "plot")]
use crate::statistics::plot;
use crate::statistics::quantiles::{Histograms, LAST_BIN, bin_edges, quantile};
use crate::statistics::{
    Allocated, AnalysisError, Decision, Design, Observations, Report, Row, Selected, Value, each_to_csv,
};
use crate::time::Ticks;

use super::super::compiled::CompiledProcess;
use super::super::error::ProcessError;
use super::super::ir::{Expression, Kind, Tally};
use super::super::model::Sized3;
use super::super::program::{Histogram, Sum, SumKind};
use super::plan::Study;
use super::replications::Replications;

/// The results of a study.
///
/// Measures have these names: a tally `stay` has `stay` (the mean of all observations),
/// `deviation(stay)`, `smallest(stay)` and `largest(stay)` (means over the replications of the
/// smallest and the largest), `count(stay)`, and `share(stay <= 5)` for bounds; a counter `lost`
/// has `lost` and `rate(lost)`, by unit of time; a resource `bed` has `utilisation(bed)`,
/// `in_use(bed)`, `queue(bed)`, and `cost(bed)` if it has costs; a container `tank` has
/// `level(tank)`, `queue(tank)` of those that get and `putters(tank)`; a store `desk` has
/// `level(desk)`, `queue(desk)` of those that take and `givers(desk)`; a signal has `queue`; a
/// variable with `level` has `average`. Levels and lengths are averages over time.
///
/// A tally with a histogram has `quantile_50(stay)`, 90, 95 and 99 in [`report`](Self::report): of
/// all observations of all replications. A variable with one has `zero`, the share of time at 0 or
/// less, `quantile_90(n)`, 95 and 99, the least value that is not exceeded in 90, 95
/// and 99 % of the time, and `largest`: means over the replications.
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
    /// The point that was selected with a budget of replications.
    pub allocated: Option<Allocated>,
    /// The replications of a point; with a selection, of the points that have most.
    pub replications: usize,
    /// Events of all replications.
    pub events: u64,
    /// A commutative sum over the fingerprints of all replications: 64 bits to compare studies of
    /// two machines.
    pub fingerprint: u64,
    /// How replications were mapped to the device; `cores` on the CPU.
    pub mapping: String,
    /// The adapter of the device, if it made replications.
    pub adapter: Option<String>,
    /// Wall-clock time, compilation included.
    pub seconds: f64,
    /// The seed.
    pub seed: u64,
    /// The end of each replication, in units of time.
    pub until: f64,
    /// The end of the warm-up.
    pub warm_up: f64,
    /// Why the study could not be saved at its end.
    pub unsaved: Option<String>,
    /// What a stopped selection does not have, as a sentence.
    pub missing: Option<String>,
    /// The tallies with histograms, and by point their histograms of all replications.
    pub(super) tallied: Vec<Tallied>,
    pub(super) histograms: Vec<Histograms>,
    /// By tally: the measure of each bound, and the bound at each point.
    pub(super) shares: IndexMap<String, Vec<(String, Vec<f64>)>>,
}

/// A tally with a histogram.
#[derive(Debug, Clone)]
pub(super) struct Tallied {
    name: String,
    /// Its unit, in those of bins.
    unit: f64,
    /// Whether its values are integers.
    whole: bool,
    /// By point: bins are of two to this power.
    shifts: Vec<u32>,
}

/// The reported quantiles of tallies with histograms, in percent.
const PERCENT: [u32; 4] = [50, 90, 95, 99];

fn name_of(percent: u32, tally: &str) -> String {
    format!("quantile_{percent}({tally})")
}

impl Tallied {
    /// The value at a position among bins, in which values are evenly spread, rounded down for
    /// integers; `None` in the last one, which has no upper end.
    fn value(&self, place: f64, point: usize) -> Option<f64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin's number")]
        let bin = place as u32;
        let [from, to] = bin_edges(bin, self.shifts[point]);
        let within = (to - from) * (place - f64::from(bin));
        let value = from + if self.whole { within.floor() } else { within };
        (bin < LAST_BIN).then(|| value / self.unit)
    }
}

impl CompiledProcess {
    /// The names of the quantiles that reports have besides [`measures`](Self::measures): of
    /// tallies with a histogram.
    pub fn quantiles(&self) -> Vec<String> {
        let sums = self.program().sums.iter();
        let tallies = sums.filter(|sum| matches!(sum.histogram, Some(Histogram::Observations { .. })));
        tallies.flat_map(|sum| PERCENT.map(|percent| name_of(percent, &sum.name))).collect()
    }

    fn tallied(&self) -> Vec<Tallied> {
        let program = self.program();
        let points = 0..self.design().len();
        // They were computed before.
        let words =
            points.map(|point| program.params(self.values(point), Ticks::ZERO, 0).unwrap_or_default());
        let words: Vec<Vec<u32>> = words.collect();
        let of = |sum: &Sum| {
            let Some(Histogram::Observations { shift, .. }) = sum.histogram else { return None };
            let SumKind::Tally(kind) = sum.kind else { return None };
            let unit = match kind {
                Kind::Integer | Kind::Condition => 1.0,
                Kind::Time => program.resolution.ticks_per_unit().into(),
                Kind::Real => f64::from(1 << 24),
            };
            let shifts = words.iter().map(|words| words[shift as usize]).collect();
            let whole = matches!(kind, Kind::Integer | Kind::Condition);
            Some(Tallied { name: sum.name.clone(), unit, whole, shifts })
        };
        program.sums.iter().filter_map(of).collect()
    }
}

impl StudyResults {
    pub(super) fn new<S: Sized3>(
        compiled: &CompiledProcess,
        study: &Study,
        replications: &Replications<'_, S>,
        observations: Vec<Observations>,
        begun: Instant,
    ) -> Self {
        let at_points = |bound: &Expression| {
            let points = 0..compiled.design().len();
            let value = |point| compiled.program().number_at(bound, compiled.values(point));
            points.map(|point| value(point).unwrap_or(f64::NAN)).collect()
        };
        let shares = compiled.model().tallies.iter().map(|(name, tally)| {
            let bounds = tally.up_to.iter().map(|(text, bound)| (Tally::share(name, text), at_points(bound)));
            (name.clone(), bounds.collect())
        });
        let made = observations.iter().map(Observations::replications).max().unwrap_or(0);
        Self {
            design: compiled.design().clone(),
            observations,
            decisions: Vec::new(),
            selected: None,
            allocated: None,
            replications: made,
            events: replications.done.events,
            fingerprint: replications.done.fingerprint,
            mapping: replications.mapping(),
            adapter: replications.adapter(),
            seconds: begun.elapsed().as_secs_f64(),
            seed: study.seed,
            until: study.until,
            warm_up: study.warm_up,
            unsaved: None,
            missing: None,
            tallied: compiled.tallied(),
            histograms: replications.histograms.clone(),
            shares: shares.collect(),
        }
    }

    /// The same of some of the points, which the observations are of.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn of_points(mut self, design: Design, points: &[usize], missing: String) -> Self {
        for (_, bounds) in self.shares.values_mut().flatten() {
            *bounds = points.iter().map(|&point| bounds[point]).collect();
        }
        for tallied in &mut self.tallied {
            tallied.shifts = points.iter().map(|&point| tallied.shifts[point]).collect();
        }
        self.histograms = points.iter().map(|&point| self.histograms[point].clone()).collect();
        let decisions = vec![Decision::Stopped; points.len()];
        Self { design, decisions, missing: Some(missing), ..self }
    }

    /// For the observations of some tallies together at a point: by group of replications, the
    /// number below each bin of their histograms. `None` if a resumed study has more replications
    /// than these results.
    pub(in crate::process) fn below<'n>(
        &self,
        point: usize,
        tallies: impl Iterator<Item = &'n str>,
    ) -> Option<Vec<Vec<u128>>> {
        let histograms = &self.histograms[point];
        let made = self.observations[point].replications() as u64;
        let number = |name: &str| self.tallied.iter().position(|tallied| tallied.name == name);
        let numbers: Vec<usize> = tallies.filter_map(number).collect();
        (histograms.replications() == made).then(|| histograms.below(numbers.into_iter()))
    }

    /// The tallies that have bounds.
    pub fn tallies_with_bounds(&self) -> impl Iterator<Item = &str> {
        self.shares.keys().map(String::as_str)
    }

    /// Draws the shares of the observations of a tally up to its bounds, with intervals at a level:
    /// a curve for each point.
    ///
    /// # Errors
    /// [`AnalysisError::NoColumn`] if the tally has no bounds; [`AnalysisError::NoObservations`],
    /// [`AnalysisError::Level`], [`AnalysisError::Plot`].
    #[cfg(feature = "plot")]
    pub fn draw_shares(&self, tally: &str, level: f64) -> Result<String, AnalysisError> {
        let Some(bounds) = self.shares.get(tally) else {
            let known = self.tallies_with_bounds().collect::<Vec<_>>().join(", ");
            return Err(AnalysisError::NoColumn { name: tally.to_owned(), known });
        };
        let mut curves = Vec::new();
        for (point, observations) in self.observations.iter().enumerate() {
            let mut values = Vec::new();
            for (measure, bounds) in bounds {
                let summary = observations.summary(measure, level)?;
                let half = summary.interval.map_or(0.0, |interval| interval.half_width);
                values.extend(summary.mean.map(|mean| [bounds[point], mean, half]));
            }
            values.sort_by(|a, b| a[0].total_cmp(&b[0]));
            curves.push((self.design.describe(point), values));
        }
        if curves.iter().all(|(_, values)| values.is_empty()) {
            let replications = self.replications as u64;
            return Err(AnalysisError::NoObservations { name: tally.to_owned(), failed: 0, replications });
        }
        let mut svg = String::new();
        plot::draw_curves(
            &mut svg,
            &curves,
            &[],
            ["observations up to", &format!("share of {tally}")],
            level,
            plot::Look::default(),
        )
        .map_err(|error| AnalysisError::Plot { name: tally.to_owned(), message: error.to_string() })?;
        Ok(svg)
    }

    /// The point that differences are from: the selected one, or the first.
    pub fn reference(&self) -> usize {
        let selected = self.selected.as_ref().and_then(|selected| selected.best);
        selected.or(self.allocated.as_ref().map(|allocated| allocated.best)).unwrap_or(0)
    }

    /// The table of all measures and points, with intervals at a confidence level, and the paired
    /// differences from the [reference](Self::reference).
    ///
    /// # Errors
    /// [`AnalysisError::Level`].
    pub fn report(&self, level: f64) -> Result<Report, AnalysisError> {
        let mut report = Report::default();
        for (point, observations) in self.observations.iter().enumerate() {
            report.add(&self.design, point, observations, level, |_| None)?;
            let factors = report.rows.last().map_or_else(Vec::new, |row| row.factors.clone());
            report.rows.extend(self.quantiles(point, &factors, level));
        }
        report.compare(&self.observations, self.reference(), level)?;
        Ok(report)
    }

    /// The rows of quantiles at a point: of all observations of all replications together.
    fn quantiles<'r>(
        &'r self,
        point: usize,
        factors: &'r [(String, Value)],
        level: f64,
    ) -> impl Iterator<Item = Row> + 'r {
        let replications = self.observations[point].replications() as u64;
        self.tallied.iter().flat_map(move |tallied| {
            let below = self.below(point, [tallied.name.as_str()].into_iter());
            PERCENT.map(|percent| {
                let found = below.as_ref().and_then(|below| quantile(below, percent, level));
                let value = |place: f64| tallied.value(place, point);
                let mean = found.and_then(|found| value(found.place));
                let ends = found.and_then(|found| found.ends).map(|ends| ends.map(value));
                let half_width = match ends {
                    Some([Some(lower), Some(upper)]) => Some((upper - lower) / 2.0),
                    _ => None,
                };
                Row {
                    name: name_of(percent, &tallied.name),
                    mean,
                    half_width,
                    relative_half_width: half_width.zip(mean).map(|(half, mean)| half / mean.abs()),
                    ..Row::empty(point, factors, replications, level)
                }
            })
        })
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
        never.chain(self.missing.clone()).collect()
    }

    /// Writes the value of each measure in each replication as CSV: `point`, a column
    /// `factor:NAME` for each parameter with several values, `replication`, and the measures. What
    /// was not observed is empty.
    ///
    /// # Errors
    /// [`ProcessError::Write`].
    pub fn each_to_csv(&self, file: impl io::Write) -> Result<(), ProcessError> {
        match each_to_csv(&self.design, &self.observations, file) {
            Err(AnalysisError::Write(error)) => Err(ProcessError::Write(error)),
            other => Ok(other?),
        }
    }
}
