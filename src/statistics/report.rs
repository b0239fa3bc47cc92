//! Results as a text table, as CSV and as JSON.

use super::error::Result;
use super::{AnalysisError, Design, Failure, Observations, Pairing, Value, compare};
use crate::text::write_csv;
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::io;

/// The results of an experiment: a row per point and column, and the failed replications.
///
/// [`Display`](fmt::Display) prints the table; there, means have the digits that their interval
/// supports. Serialised, it has the fields `results` and `failures`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Report {
    /// One row per point and column.
    #[serde(rename = "results")]
    pub rows: Vec<Row>,
    /// The failed replications of all points.
    pub failures: Vec<PointFailure>,
}

/// One column of one point. Missing values (an interval of one observation) are `None`, and null in
/// JSON.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Row {
    /// Number of the point in its design, from 0.
    pub point: usize,
    /// The point's factors.
    #[serde(serialize_with = "as_map")]
    pub factors: Vec<(String, Value)>,
    /// The column; `measure` in serialised form.
    #[serde(rename = "measure")]
    pub name: String,
    /// Replications run, the failed ones included.
    pub replications: u64,
    /// Replications that failed.
    pub failed: u64,
    /// Independent observations: replications, or antithetic pairs.
    pub observations: u64,
    /// Whether an observation is the mean of an antithetic pair.
    pub pairs: bool,
    /// Mean.
    pub mean: Option<f64>,
    /// Half width of the confidence interval.
    pub half_width: Option<f64>,
    /// Confidence level.
    pub level: f64,
    /// Half width over the magnitude of the mean.
    pub relative_half_width: Option<f64>,
    /// Variance of one observation.
    pub variance: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Quantiles of the single replications: 5 %,
    pub q05: Option<f64>,
    /// 25 %,
    pub q25: Option<f64>,
    /// 50 %,
    pub median: Option<f64>,
    /// 75 %,
    pub q75: Option<f64>,
    /// 95 %.
    pub q95: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// The theoretical mean, if there is a formula.
    pub theory: Option<f64>,
    /// The estimate minus that of the reference point, if points were
    /// [compared](Report::compare).
    pub difference: Option<f64>,
    /// Half width of its paired interval.
    pub difference_half_width: Option<f64>,
    /// Lower end of the interval of a quantile of all observations together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Its upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The width of the bin of a quantile: it is somewhere in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
}

impl Row {
    /// A row without values.
    pub(crate) fn empty(point: usize, factors: &[(String, Value)], replications: u64, level: f64) -> Self {
        Self {
            point,
            factors: factors.to_vec(),
            name: String::new(),
            replications,
            failed: 0,
            observations: replications,
            pairs: false,
            mean: None,
            half_width: None,
            level,
            relative_half_width: None,
            variance: None,
            min: None,
            q05: None,
            q25: None,
            median: None,
            q75: None,
            q95: None,
            max: None,
            theory: None,
            difference: None,
            difference_half_width: None,
            lower: None,
            upper: None,
            resolution: None,
        }
    }

    /// The resolution as a share of the estimate, or as it is if the estimate is 0.
    fn resolved(&self) -> Option<String> {
        let (width, mean) = (self.resolution?, self.mean?);
        Some(match mean == 0.0 {
            false => format!("to {:.1} %", 100.0 * width / mean.abs()),
            true => format!("to {}", trimmed(width)),
        })
    }
}

/// A failed replication and its point.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PointFailure {
    /// Number of the point, from 0.
    pub point: usize,
    /// The replication and the cause.
    #[serde(flatten)]
    pub failure: Failure,
}

impl Report {
    /// Adds the columns of one point that are [shown](Observations::shown), with intervals at
    /// `level`. `theory` returns the true mean of a column by its name, if it is known.
    ///
    /// # Panics
    /// If the design has no such point.
    pub fn add(
        &mut self,
        design: &Design,
        point: usize,
        observations: &Observations,
        level: f64,
        theory: impl Fn(&str) -> Option<f64>,
    ) -> Result<()> {
        let factors = design.factors().iter().cloned().zip(design.levels(point).iter().copied());
        let factors: Vec<_> = factors.collect();
        for column in observations.shown() {
            let summary = observations.summary(&column.name, level)?;
            let quantiles = observations.quantiles(&summary.name, &[0.05, 0.25, 0.5, 0.75, 0.95])?;
            let quantile = |index: usize| quantiles.as_ref().map(|values| values[index]);
            self.rows.push(Row {
                replications: summary.replications,
                failed: summary.failed,
                observations: summary.observations,
                pairs: summary.pairing == Pairing::Antithetic,
                mean: summary.mean,
                half_width: summary.interval.map(|interval| interval.half_width),
                relative_half_width: summary.relative_half_width(),
                variance: summary.variance,
                min: summary.min,
                q05: quantile(0),
                q25: quantile(1),
                median: quantile(2),
                q75: quantile(3),
                q95: quantile(4),
                max: summary.max,
                theory: theory(&summary.name),
                name: summary.name,
                ..Row::empty(point, &factors, summary.replications, level)
            });
        }
        self.failures.extend(observations.failures().map(|failure| PointFailure { point, failure }));
        Ok(())
    }

    /// Adds the difference of each other point from a reference point, replication by replication
    /// ([`compare`]). Points with another number of replications have none, nor have measures that
    /// the reference point lacks.
    ///
    /// # Errors
    /// As [`compare`].
    pub fn compare(&mut self, observations: &[Observations], reference: usize, level: f64) -> Result<()> {
        let Some(left) = observations.get(reference) else { return Ok(()) };
        for row in &mut self.rows {
            let Some(right) = observations.get(row.point).filter(|_| row.point != reference) else {
                continue;
            };
            if left.replications() != right.replications() || left.column(&row.name).is_err() {
                continue;
            }
            let summary = compare(left, right, &row.name, level)?;
            row.difference = summary.mean;
            row.difference_half_width = summary.interval.map(|interval| interval.half_width);
        }
        Ok(())
    }

    /// Writes one line per row below a header. Each factor has a column, named `factor:` and the
    /// name; missing values are empty fields. With quantiles of all observations, columns `lower`,
    /// `upper` and `resolution` follow.
    pub fn to_csv(&self, file: impl io::Write) -> Result<()> {
        write_csv(file, |writer| {
            let factors = self.rows.first().map_or(&[][..], |row| &row.factors);
            let factors: Vec<_> = factors.iter().map(|(name, _)| format!("factor:{name}")).collect();
            let fields = [
                "point",
                "measure",
                "replications",
                "failed",
                "observations",
                "pairs",
                "mean",
                "half_width",
                "level",
                "relative_half_width",
                "variance",
                "min",
                "q05",
                "q25",
                "median",
                "q75",
                "q95",
                "max",
                "theory",
                "difference",
                "difference_half_width",
            ];
            let resolved = self.rows.iter().any(|row| row.lower.or(row.resolution).is_some());
            let more = if resolved { &["lower", "upper", "resolution"][..] } else { &[] };
            writer.write_record(
                fields[..1]
                    .iter()
                    .copied()
                    .chain(factors.iter().map(String::as_str))
                    .chain(fields[1..].iter().copied())
                    .chain(more.iter().copied()),
            )?;
            for row in &self.rows {
                let mut record = vec![row.point.to_string()];
                record.extend(row.factors.iter().map(|(_, value)| value.to_string()));
                record.push(row.name.clone());
                record
                    .extend([row.replications, row.failed, row.observations].map(|count| count.to_string()));
                record.push(row.pairs.to_string());
                let numbers = [
                    row.mean,
                    row.half_width,
                    Some(row.level),
                    row.relative_half_width,
                    row.variance,
                    row.min,
                    row.q05,
                    row.q25,
                    row.median,
                    row.q75,
                    row.q95,
                    row.max,
                    row.theory,
                    row.difference,
                    row.difference_half_width,
                ];
                let ends = [row.lower, row.upper, row.resolution].into_iter().filter(|_| resolved);
                let text = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
                record.extend(numbers.into_iter().chain(ends).map(text));
                writer.write_record(record)?;
            }
            Ok(())
        })
        .map_err(AnalysisError::Write)
    }

    /// The report as indented JSON.
    ///
    /// # Panics
    /// Never: all its numbers are finite and its keys are text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("finite numbers and text keys")
    }
}

/// The measures in reports of several points: those of the first point, and behind them what only
/// later ones have, as a station may have a line at some points of a design.
pub fn measures(points: &[Observations]) -> Vec<&str> {
    let mut seen = HashSet::new();
    let all = points.iter().flat_map(Observations::shown).map(|column| column.name.as_str());
    all.filter(|name| seen.insert(*name)).collect()
}

/// Writes the value of each measure in each replication as CSV: `point`, a column `factor:NAME` for
/// each factor of the design, `replication`, and the measures that are
/// [shown](Observations::shown). What was not observed is empty.
///
/// # Errors
/// [`AnalysisError::Write`].
pub fn each_to_csv(design: &Design, points: &[Observations], file: impl io::Write) -> Result<()> {
    write_csv(file, |writer| {
        let factors = design.factors().iter().map(|name| format!("factor:{name}"));
        let measures = measures(points);
        let head = ["point".to_owned()].into_iter().chain(factors);
        let names = measures.iter().map(ToString::to_string);
        writer.write_record(head.chain(["replication".to_owned()]).chain(names))?;
        for (point, observations) in points.iter().enumerate() {
            let columns: Vec<_> = measures.iter().map(|name| observations.column(name).ok()).collect();
            for replication in 0..observations.replications() {
                let mut record = vec![point.to_string()];
                record.extend(design.levels(point).iter().map(ToString::to_string));
                record.push(replication.to_string());
                let values = columns.iter().map(|column| Some(column.as_ref()?.values.get(replication)));
                let finite = values.map(|value| value.filter(|value| value.is_finite()));
                record.extend(finite.map(|value| value.map_or_else(String::new, |value| value.to_string())));
                writer.write_record(record)?;
            }
        }
        Ok(())
    })
    .map_err(AnalysisError::Write)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factors = self.rows.first().map_or(&[][..], |row| &row.factors);
        // Compared points are below each other, measure by measure.
        let compared = self.rows.iter().any(|row| row.difference.is_some());
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let mut head =
            vec!["measure", "mean", "+/-", "rel. %", "5 %", "median", "95 %", "theory", "n", "failed"];
        let resolved = self.rows.iter().any(|row| row.resolution.is_some());
        head.extend(resolved.then_some("resolution"));
        if compared {
            head.extend(["difference", "+/-"]);
            let first = self.rows.iter().map(|row| row.point).min();
            let order: Vec<&str> = self
                .rows
                .iter()
                .filter(|row| Some(row.point) == first)
                .map(|row| row.name.as_str())
                .collect();
            let place = |row: &Row| order.iter().position(|name| *name == row.name).unwrap_or(usize::MAX);
            rows.sort_by_key(|row| (place(row), row.point));
        }
        let names = factors.iter().map(|(name, _)| name.clone());
        let mut table: Vec<Vec<String>> = vec![names.chain(head.into_iter().map(String::from)).collect()];
        for row in rows {
            let number = |value: Option<f64>| {
                value.map_or_else(|| "-".into(), |value| with_error(value, row.half_width))
            };
            let mut cells: Vec<String> = row.factors.iter().map(|(_, value)| value.to_string()).collect();
            cells.push(row.name.clone());
            cells.push(number(row.mean));
            cells.push(number(row.half_width));
            cells.push(
                row.relative_half_width.map_or_else(|| "-".into(), |part| significant(part * 100.0, 2)),
            );
            cells.extend([row.q05, row.median, row.q95, row.theory].map(number));
            cells.push(format!("{}{}", row.observations, if row.pairs { " pairs" } else { "" }));
            cells.push(row.failed.to_string());
            if resolved {
                cells.push(row.resolved().unwrap_or_default());
            }
            if compared {
                let half = row.difference_half_width;
                let signed =
                    |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, with_error(value, half));
                cells.push(row.difference.map_or_else(|| "-".into(), signed));
                cells.push(half.map_or_else(|| "-".into(), |half| with_error(half, Some(half))));
            }
            table.push(cells);
        }
        let columns = table[0].len();
        let widths: Vec<usize> =
            (0..columns).map(|c| table.iter().map(|row| row[c].chars().count()).max().unwrap_or(0)).collect();
        for row in &table {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                if column > 0 {
                    line.push_str("  ");
                }
                // Names to the left, numbers to the right.
                if column == factors.len() {
                    write!(line, "{cell:<width$}")?
                } else {
                    write!(line, "{cell:>width$}")?
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        if let Some(row) = self.rows.first() {
            writeln!(f, "+/-: half width of the {} % confidence interval", trimmed(row.level * 100.0))?;
            if compared {
                writeln!(f, "difference: from the point without one, by common random numbers")?;
            }
        }
        const SHOWN: usize = 10;
        for PointFailure { point, failure } in self.failures.iter().take(SHOWN) {
            writeln!(f, "failed: point {point}, replication {}: {}", failure.replication, failure.cause)?;
        }
        if self.failures.len() > SHOWN {
            writeln!(f, "failed: {} more", self.failures.len() - SHOWN)?;
        }
        Ok(())
    }
}

/// A number as text, rounded to the second significant digit of the half width of its interval, or
/// to at most 6 significant digits without one.
pub fn with_error(value: f64, half_width: Option<f64>) -> String {
    match half_width {
        Some(half) if half > 0.0 => rounded(value, last_digit(half, 2)),
        _ => trimmed(value),
    }
}

/// At most 6 significant digits.
fn trimmed(value: f64) -> String {
    let text = significant(value, 6);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').into();
    }
    text
}

fn significant(value: f64, digits: i32) -> String {
    rounded(value, last_digit(value, digits))
}

/// Decimal place of significant digit number `digits` of a value, counted to the right of the
/// point.
#[allow(clippy::cast_possible_truncation, reason = "an exponent of f64")]
fn last_digit(value: f64, digits: i32) -> i32 {
    if value == 0.0 { 0 } else { digits - 1 - value.abs().log10().floor() as i32 }
}

/// A value to `place` digits right of the point (left of it if negative).
#[allow(clippy::cast_sign_loss, reason = "checked in place")]
fn rounded(value: f64, place: i32) -> String {
    let magnitude = last_digit(value, 1);
    // Few digits, far from the point: with an exponent.
    if value != 0.0 && (!(-15..=5).contains(&magnitude) || place > 12) {
        return format!("{value:.*e}", (place - magnitude).clamp(0, 16) as usize);
    }
    if place >= 0 {
        return format!("{value:.*}", place as usize);
    }
    let unit = 10_f64.powi(-place);
    format!("{:.0}", (value / unit).round() * unit)
}

fn as_map<S: serde::Serializer>(
    factors: &[(String, Value)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(factors.iter().map(|(name, value)| (name, value)))
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Values};
    use super::*;

    #[test]
    fn points_may_have_measures_of_their_own() {
        let made = |names: &[&str]| {
            let column = |name: &&str| Column {
                name: (*name).to_owned(),
                values: Values::U32(vec![u32::try_from(name.len()).unwrap(), 7]),
            };
            let columns = names.iter().map(column).collect();
            Observations::new(2, columns, [], Pairing::Independent).unwrap()
        };
        for (points, names, cells) in [
            ([made(&["a", "bb"]), made(&["bb", "ccc"])], ["a", "bb", "ccc"], ["1,2,", ",2,3"]),
            ([made(&["bb", "ccc"]), made(&["bb"])], ["bb", "ccc", ""], ["2,3", "2,"]),
        ] {
            assert_eq!(measures(&points).join(" "), names.join(" ").trim());
            let design = Design::default().cross("x", [1.0, 2.0]).unwrap();
            let mut bytes = Vec::new();
            each_to_csv(&design, &points, &mut bytes).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines[0], format!("point,factor:x,replication,{}", measures(&points).join(",")));
            assert_eq!(lines[1], format!("0,1,0,{}", cells[0]));
            assert_eq!(lines[3], format!("1,2,0,{}", cells[1]));
            for reference in [0, 1] {
                let mut report = Report::default();
                for (point, observations) in points.iter().enumerate() {
                    report.add(&design, point, observations, 0.95, |_| None).unwrap();
                }
                report.compare(&points, reference, 0.95).unwrap();
                let compared = report.rows.iter().filter(|row| row.difference.is_some());
                assert_eq!(compared.map(|row| &*row.name).collect::<Vec<_>>(), ["bb"]);
            }
        }
    }
}
