//! The results of a study.

use std::io;

use indexmap::IndexMap;
use web_time::Instant;

#[cfg(feature = "plot")]
use crate::statistics::plot;
use crate::statistics::quantiles::{
    Histograms, LAST_BIN, LENGTHS, bin_edges, length_range, length_resolution, quantile, too_narrow,
};
use crate::statistics::{
    Allocated, AnalysisError, Decision, Design, Observations, Report, Row, Selected, Value, each_to_csv,
};
use crate::time::Ticks;

use super::super::compiled::CompiledProcess;
use super::super::error::ProcessError;
use super::super::ir::{Expression, Kind, Tally};
use super::super::model::Sized3;
use super::super::program::{Histogram, Sum, SumKind};
use super::measures::share_of_bin;
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
/// all observations of all replications, within their range, and 0 in the first bin; none if some
/// are below 0. A variable with one has `zero`, the share of time at 0 or
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
    /// integers: 0 in the first one, and within the range of the observations. `None` in the last
    /// one, which has no upper end.
    fn value(&self, place: f64, point: usize, [least, most]: [f64; 2]) -> Option<f64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin's number")]
        let bin = place as u32;
        let [from, to] = bin_edges(bin, self.shifts[point]);
        let within = (to - from) * (place - f64::from(bin));
        let value = match bin {
            0 => 0.0,
            _ => (from + if self.whole { within.floor() } else { within }) / self.unit,
        };
        (bin < LAST_BIN).then(|| value.max(least).min(most))
    }

    /// The width of the part of a bin in which there are observations; none if it has one value.
    fn resolution(&self, place: f64, point: usize, [least, most]: [f64; 2]) -> Option<f64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin's number")]
        let [from, to] = bin_edges(place as u32, self.shifts[point]).map(|edge| edge / self.unit);
        let width = to.min(most) - from.max(least);
        (width > 0.0 && !(self.whole && to - from <= 1.0)).then_some(width)
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
            for level in self.levels(point) {
                let of = PERCENT[1..].iter().map(|percent| name_of(*percent, level));
                let of: Vec<_> = of.chain([format!("largest({level})")]).collect();
                let rows = report.rows.iter_mut().filter(|row| row.point == point && of.contains(&row.name));
                rows.for_each(|row| row.resolution = row.mean.and_then(length_resolution));
            }
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
            let range = self.range(point, &tallied.name);
            // Histograms have no values below 0.
            let below = self.below(point, [tallied.name.as_str()].into_iter()).filter(|_| range[0] >= 0.0);
            PERCENT.map(|percent| {
                let found = below.as_ref().and_then(|below| quantile(below, percent, level));
                let value = |place: f64| tallied.value(place, point, range);
                let mean = found.and_then(|found| value(found.place));
                let ends = found.and_then(|found| found.ends).map(|ends| ends.map(value));
                let [lower, upper] = match ends {
                    Some([Some(lower), Some(upper)]) => [Some(lower), Some(upper)],
                    _ => [None; 2],
                };
                let half_width = lower.zip(upper).map(|(lower, upper)| (upper - lower) / 2.0);
                Row {
                    name: name_of(percent, &tallied.name),
                    mean,
                    half_width,
                    relative_half_width: half_width
                        .zip(mean.filter(|mean| *mean != 0.0))
                        .map(|(half, mean)| half / mean.abs()),
                    lower,
                    upper,
                    resolution: found
                        .filter(|_| mean.is_some())
                        .and_then(|found| tallied.resolution(found.place, point, range)),
                    ..Row::empty(point, factors, replications, level)
                }
            })
        })
    }

    /// The smallest and the largest observation of a tally in all replications of a point.
    fn range(&self, point: usize, tally: &str) -> [f64; 2] {
        let observations = &self.observations[point];
        let all = |extreme: &str| {
            let [value, observed] = ["above", "below"]
                .map(|part| observations.column(&format!("{extreme}({tally}), {part}")).ok());
            let runs = 0..observations.replications();
            let runs = runs.filter(move |&run| observed.is_some_and(|column| column.values.get(run) > 0.0));
            runs.filter_map(move |run| Some(value?.values.get(run)))
        };
        [all("smallest").fold(f64::INFINITY, f64::min), all("largest").fold(f64::NEG_INFINITY, f64::max)]
    }

    /// The levels with histograms at a point.
    fn levels(&self, point: usize) -> impl Iterator<Item = &str> {
        let names = self.observations[point].shown().map(|column| column.name.as_str());
        names.filter_map(|name| name.strip_prefix("zero(")?.strip_suffix(')'))
    }

    /// Whether a level with a histogram was below 0 in a replication: its average is less than its
    /// histogram, which has no values below 0, allows.
    fn is_negative(&self, point: usize, level: &str) -> bool {
        let observations = &self.observations[point];
        let of = |name: &str| observations.column(name).ok();
        let Some(average) = of(&format!("average({level})")) else { return false };
        let bins = (0..LENGTHS)
            .filter_map(|bin| Some((f64::from(length_range(bin).0), of(&share_of_bin(level, bin))?)));
        let bins: Vec<_> = bins.collect();
        (0..observations.replications()).any(|run| {
            let least: f64 = bins.iter().map(|(least, share)| least * share.values.get(run)).sum();
            average.values.get(run) < least - 1e-9 * (1.0 + least)
        })
    }

    /// Reasons to doubt quantiles at a point, which `place` names.
    fn doubts(&self, point: usize, place: &str) -> Vec<String> {
        let (mut doubts, mut few) = (Vec::new(), Vec::new());
        for tallied in &self.tallied {
            let (name, range) = (&tallied.name, self.range(point, &tallied.name));
            if range[0] < 0.0 {
                doubts.push(format!(
                    "quantiles of `{name}` are not reported{place}: it has observations below 0, \
                     and histograms have none; add a constant to its values"
                ));
                continue;
            }
            let [beyond, _] = bin_edges(LAST_BIN, tallied.shifts[point]);
            if range[1] >= beyond / tallied.unit {
                doubts.push(format!(
                    "quantiles of `{name}` from {} on are not reported{place}: \
                     they are beyond its histogram; set a larger `histogram`",
                    crate::text::number(beyond / tallied.unit)
                ));
            }
            let Some(below) = self.below(point, [name.as_str()].into_iter()) else { continue };
            let narrow = |percent: &u32| quantile(&below, *percent, 0.95).is_some_and(|found| found.few);
            let narrow = PERCENT.into_iter().filter(narrow);
            few.extend(narrow.map(|percent| format!("{}{place}", name_of(percent, name))));
        }
        let negative = self.levels(point).filter(|level| self.is_negative(point, level));
        doubts.extend(negative.map(|level| {
            format!(
                "`{level}` was below 0{place}; `zero({level})`, its quantiles and `largest({level})` \
                 count that as 0"
            )
        }));
        doubts.extend(too_narrow(&few, "observations as large"));
        doubts
    }

    /// Reasons to doubt the results, in sentences: no measures, tallies without observations, and
    /// values below 0 where histograms are.
    pub fn warnings(&self) -> Vec<String> {
        if self.observations.iter().all(|observations| observations.shown().next().is_none()) {
            let nothing = "the model measures nothing: add a tally, a count or a resource".to_owned();
            return [nothing].into_iter().chain(self.missing.clone()).collect();
        }
        let mut warnings = Vec::new();
        for (point, observations) in self.observations.iter().enumerate() {
            let place = self.design.describe(point);
            let place = if place.is_empty() { place } else { format!(" at {place}") };
            let columns = observations.shown().filter(|column| {
                (0..observations.replications()).all(|replication| column.values.get(replication).is_nan())
            });
            // Their smallest and largest values are missing, too.
            let tallies = columns.filter(|column| !column.name.contains('('));
            warnings.extend(tallies.map(|column| format!("`{}` was never observed{place}", column.name)));
            warnings.extend(self.doubts(point, &place));
        }
        warnings.extend(self.missing.clone());
        warnings
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
