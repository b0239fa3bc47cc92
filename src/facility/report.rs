//! Results of the runs of a network: rows of measures, as a table, CSV or JSON.

use std::fmt;
use std::io;

use serde::Serialize;

use crate::statistics::{Column, Decision, Estimator, Observations, Pairing, Pooled, Values};
use crate::text::{count, write_csv};

use super::{FacilityError, Measure, shares};

/// A measure of a class of customers at a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The node; `(network)` for all nodes together.
    pub node: String,
    /// The class; `None` for all together, which tables, CSV and JSON call `all`.
    #[serde(serialize_with = "class")]
    pub class: Option<String>,
    /// The measure.
    pub measure: Measure,
    /// The bound of a share, in the network's unit of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to: Option<f64>,
    /// The estimate from all replications; `None` if nothing was observed in any. Means of times,
    /// shares, deviations and quantiles pool the observations of all replications.
    pub mean: Option<f64>,
    /// Half the width of its confidence interval.
    pub half_width: Option<f64>,
    /// The lower end of the interval. Intervals of deviations, and intervals from batches, need not
    /// be symmetric about the estimate.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// The exact theoretical value, if there is one.
    pub theory: Option<f64>,
    /// Replications with observations.
    pub observations: u64,
    /// For a quantile: the width of the histogram bin of the estimate, in the network's unit of
    /// time. It bounds the error of the histogram; the interval covers only the variation between
    /// replications.
    pub resolution: Option<f64>,
    #[serde(skip)]
    pub(super) parts: Pooled,
}

impl Row {
    /// The value in each replication, or in each batch of a long run: NaN where nothing was
    /// observed. Quantiles have no values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.parts.each().map(|value| if value.is_finite() { value } else { f64::NAN })
    }

    /// The measure in tables: `wait`, or `share(wait <= 4)`.
    pub fn label(&self) -> String {
        match self.up_to {
            Some(up_to) => shares::short(self.measure, up_to),
            None => self.measure.to_string(),
        }
    }

    /// Half the width of the interval, or half the distance of its ends: numbers are rounded by it.
    pub fn half(&self) -> Option<f64> {
        self.half_width.or_else(|| Some((self.upper? - self.lower?) / 2.0))
    }

    /// The resolution as a share of the estimate, or in units if the estimate is 0.
    fn resolved(&self) -> Option<String> {
        let (width, mean) = (self.resolution?, self.mean?);
        Some(if mean > 0.0 { format!("to {:.1} %", 100.0 * width / mean) } else { format!("to {width:.6}") })
    }

    /// The distances to both ends of an asymmetric interval.
    fn distances(&self) -> Option<String> {
        let (below, above) = (self.mean? - self.lower?, self.upper? - self.mean?);
        let decimals = self.decimals();
        ((above - below).abs() > 1e-6 * (above + below))
            .then(|| format!("-{below:.decimals$} +{above:.decimals$}"))
    }

    /// Decimal places that the interval supports: those of two significant digits of its half
    /// width, 9 at most; 6 without an interval.
    fn decimals(&self) -> usize {
        let Some(mut half) = self.half().filter(|&half| half > 0.0 && half.is_finite()) else { return 6 };
        let mut decimals = 0;
        while half < 9.5 && decimals < 9 {
            half *= 10.0;
            decimals += 1;
        }
        decimals
    }
}

/// The results of the runs of a network. [`Display`](fmt::Display) prints the table, rounded to two
/// significant digits of each interval; fields, CSV and JSON have all digits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The network's name; `model` in serialised form.
    #[serde(rename = "model")]
    pub network: String,
    /// `cpu` or `gpu`.
    pub engine: &'static str,
    /// How replications were mapped to the device; `processor` on the CPU.
    pub mapping: String,
    /// The device.
    pub adapter: String,
    /// Wall-clock time.
    pub seconds: f64,
    /// Services that ended after the warm-up, in all replications.
    pub customers: u64,
    /// Of replications: arrivals at nodes, and departures from sources and stations, after the
    /// warm-up. Of a long run: executed events.
    pub events: u64,
    /// 64 bits to compare runs of two machines. Of replications: a commutative sum over hashes of
    /// their results, which are the sums over customers at each node, and histograms. Of a long
    /// run: its [`Fingerprint`](crate::pdes::Fingerprint).
    #[serde(serialize_with = "hexadecimal")]
    pub fingerprint: u64,
    /// Replications.
    pub replications: u32,
    /// The end of each, in the network's unit.
    pub until: f64,
    /// The end of the warm-up, when statistics begin.
    pub warm_up: f64,
    /// The confidence level.
    pub level: f64,
    /// The network's unit of time.
    pub unit: String,
    /// Ticks in this unit: times are whole ticks.
    pub ticks_per_unit: u32,
    /// Why replications stopped, if a precision was requested. Serialised as a list: its
    /// [name](Decision::name), or empty.
    #[serde(serialize_with = "decision")]
    pub stopped: Option<Decision>,
    /// Reasons to doubt the results, in sentences.
    pub warnings: Vec<String>,
    /// Why the study could not be saved at its end, if that was requested.
    #[serde(skip)]
    pub unsaved: Option<String>,
    /// Every measure; `results` in serialised form.
    #[serde(rename = "results")]
    pub rows: Vec<Row>,
    /// The distribution of the number of customers at each station, as shares of time, if details
    /// are on.
    pub lengths: Vec<Length>,
}

/// The share of time with a number of customers at a station.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Length {
    /// The station.
    pub node: String,
    /// The number of customers.
    pub customers: u32,
    /// The largest number of customers in this share: the same up to 31, where each number has a
    /// share; none if it is open.
    pub most: Option<u32>,
    /// Whether it is the share of this number or more.
    pub or_more: bool,
    /// The mean over the replications.
    pub mean: f64,
    /// Half the width of its confidence interval.
    pub half_width: Option<f64>,
}

fn hexadecimal<S: serde::Serializer>(fingerprint: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{fingerprint:016x}"))
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn decision<S: serde::Serializer>(decision: &Option<Decision>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(decision.iter().map(|decision| decision.name()))
}

/// The name of all nodes together in results. No node has this name.
pub(super) const WHOLE: &str = "(network)";

/// The names of rows as columns: `wait(server)`, with the class where a node has several, and
/// `number` of the whole network.
pub(super) fn names<'r>(
    rows: impl Iterator<Item = (&'r str, Option<&'r str>, Measure, Option<f64>)>,
) -> Vec<String> {
    let rows: Vec<_> = rows.collect();
    let mut counts = std::collections::HashMap::new();
    for &(node, _, measure, _) in &rows {
        *counts.entry((node, measure)).or_insert(0_usize) += 1;
    }
    let name =
        |&(node, class, measure, up_to): &(&str, Option<&str>, Measure, Option<f64>)| match (node, class) {
            (node, class) if up_to.is_some() => {
                shares::column(measure, node, class, up_to.unwrap_or_default())
            }
            (WHOLE, _) => measure.name().to_owned(),
            (node, Some(class)) if counts[&(node, measure)] > 1 => format!("{measure}({node}, {class})"),
            (node, _) => format!("{measure}({node})"),
        };
    rows.iter().map(name).collect()
}

/// The standard deviation of all observations of all parts, from the means of their squares, sums
/// and counts.
fn deviation(means: &[f64]) -> f64 {
    let (square, mean) = (means[0] / means[2], means[1] / means[2]);
    (square - mean * mean).max(0.0).sqrt()
}

/// The standard deviation of the observations of a part, from the sum of their squares, their sum
/// and their number.
fn own_deviation(sums: &[f64]) -> f64 {
    let [squares, sum, count] = [sums[0], sums[1], sums[2]];
    if count <= 1.0 { f64::NAN } else { ((squares - sum * sum / count).max(0.0) / (count - 1.0)).sqrt() }
}

/// The name of all classes together in results. No class has this name.
const ALL: &str = "all";

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn class<S: serde::Serializer>(class: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(class.as_deref().unwrap_or(ALL))
}

impl Report {
    /// Writes the rows as CSV: `node`, `class` (`all` for all together), `measure`, `mean`,
    /// `half_width`, `theory`, `observations`, `lower`, `upper`, `resolution`, `up_to` (the bound
    /// of a share).
    ///
    /// # Errors
    /// [`FacilityError::Write`].
    pub fn to_csv(&self, file: impl io::Write) -> Result<(), FacilityError> {
        write_csv(file, |writer| {
            writer.write_record([
                "node",
                "class",
                "measure",
                "mean",
                "half_width",
                "theory",
                "observations",
                "lower",
                "upper",
                "resolution",
                "up_to",
            ])?;
            for row in &self.rows {
                let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
                writer.write_record([
                    &row.node,
                    row.class.as_deref().unwrap_or(ALL),
                    row.measure.name(),
                    &number(row.mean),
                    &number(row.half_width),
                    &number(row.theory),
                    &row.observations.to_string(),
                    &number(row.lower),
                    &number(row.upper),
                    &number(row.resolution),
                    &number(row.up_to),
                ])?;
            }
            Ok(())
        })
        .map_err(FacilityError::Write)
    }

    /// The names of the rows as columns of [`observations`](Self::observations).
    pub fn names(&self) -> Vec<String> {
        names(self.rows.iter().map(|row| (row.node.as_str(), row.class.as_deref(), row.measure, row.up_to)))
    }

    /// The values of each replication: a column for each row except quantiles, named
    /// `wait(server)`, or `wait(server, urgent)` where a node has several classes. The estimate of
    /// a column pools all replications as the row does.
    ///
    /// # Errors
    /// [`FacilityError::Analysis`].
    pub fn observations(&self) -> Result<Observations, FacilityError> {
        let replications = self.rows.iter().map(|row| row.parts.len()).max().unwrap_or(0);
        let mut observations = Observations::new(replications, Vec::new(), [], Pairing::Independent)?;
        for (name, row) in self.names().into_iter().zip(&self.rows) {
            if row.measure.quantile().is_some() {
                continue;
            }
            let (estimator, unit) = (row.parts.estimator(), row.parts.unit());
            let numbers = row.parts.parts().map(|part| {
                let (sum, count) = match part.count > 0.0 || part.sum.is_finite() {
                    true if part.sum.is_finite() => (part.sum / unit, part.count),
                    _ => (0.0, 0.0),
                };
                let squares = if count > 0.0 { part.squares / unit / unit + sum * sum / count } else { 0.0 };
                [squares, sum, count]
            });
            let numbers: Vec<[f64; 3]> = numbers.collect();
            let values = |place: usize| Values::F64(numbers.iter().map(|numbers| numbers[place]).collect());
            if estimator == Estimator::Mean && numbers.iter().all(|numbers| numbers[2] > 0.0) {
                observations.push(Column { name, values: values(1) })?;
                continue;
            }
            let parts = ["squares", "sum", "count"].map(|part| format!("{name}, {part}"));
            let first = if estimator == Estimator::Deviation { 0 } else { 1 };
            for (place, part) in parts.iter().enumerate().skip(first) {
                observations.push(Column { name: part.clone(), values: values(place) })?;
            }
            let parts: Vec<&str> = parts[first..].iter().map(String::as_str).collect();
            match estimator {
                Estimator::Deviation => observations.pool_with(&name, &parts, own_deviation, deviation)?,
                _ => observations.pool(&name, &parts, |means| means[0] / means[1])?,
            }
            observations.hide(&parts)?;
        }
        Ok(observations)
    }

    /// The report as indented JSON.
    ///
    /// # Panics
    /// Never: its keys are text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text keys")
    }

    /// The row of a measure of a class (or of all) at a node.
    pub fn row(&self, node: &str, class: Option<&str>, measure: Measure) -> Option<&Row> {
        let found = |row: &&Row| row.node == node && row.class.as_deref() == class && row.measure == measure;
        self.rows.iter().find(found)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = |of: fn(&Row) -> &str, least: usize| {
            self.rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0).max(least)
        };
        let node = widest(|row| &row.node, 4);
        let class = widest(|row| row.class.as_deref().unwrap_or(ALL), 5);
        let measure = self.rows.iter().map(|row| row.label().chars().count()).max().unwrap_or(0).max(17);
        writeln!(
            f,
            "{}: {} until {} with a warm-up until {} ({}, {} ticks), intervals at {}",
            self.network,
            count(self.replications, "replication"),
            self.until,
            self.warm_up,
            self.unit,
            self.ticks_per_unit,
            self.level
        )?;
        // A column of histogram resolutions if there are quantiles.
        let resolution =
            if self.rows.iter().any(|row| row.resolution.is_some()) { "  resolution" } else { "" };
        writeln!(
            f,
            "{:node$}  {:class$}  {:measure$}  {:>12}  {:>19}  {:>12}{resolution}",
            "node", "class", "measure", "mean", "±", "theory"
        )?;
        let mut last = None;
        for row in &self.rows {
            let decimals = row.decimals();
            let number = |value: Option<f64>| {
                value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
            };
            let here = (row.node.as_str(), row.class.as_deref());
            let (first, second) = match last == Some(here) {
                true => ("", ""),
                false => (here.0, here.1.unwrap_or(ALL)),
            };
            last = Some(here);
            writeln!(
                f,
                "{first:node$}  {second:class$}  {:measure$}  {:>12}  {:>19}  {:>12}{}",
                row.label(),
                number(row.mean),
                row.distances().unwrap_or_else(|| number(row.half_width)),
                number(row.theory),
                row.resolved().map_or_else(String::new, |resolved| format!("  {resolved:>10}"))
            )?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}
