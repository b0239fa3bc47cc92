//! A profile over time: averages of the intervals of runs, with bands over the replications.

use std::io;

use super::error::Result;
use super::{AnalysisError, Column, Observations, Pairing, Values};
use crate::text::write_csv;

/// The intervals of a profile, in units of time.
///
/// ```
/// use eventhorizon::statistics::Intervals;
///
/// // By hour of the day, in minutes, over runs of ten days without the first.
/// let hours = Intervals::new(60.0).every(1440.0);
/// assert_eq!(hours.count(14_400.0)?, 240);
/// # Ok::<(), eventhorizon::statistics::AnalysisError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Intervals {
    /// The length of an interval.
    pub length: f64,
    /// After this time the profile begins again: a day. Default: it lasts as long as the runs.
    pub period: Option<f64>,
}

/// The most intervals of a run.
const MOST: f64 = 100_000.0;

/// The most values of all replications: 512 MB.
const MOST_VALUES: usize = 1 << 26;

impl Intervals {
    /// Intervals of a length, from the start of the runs.
    pub fn new(length: f64) -> Self {
        Self { length, period: None }
    }

    /// The same, where the profile begins again after each period, a multiple of the length.
    #[must_use]
    pub fn every(self, period: f64) -> Self {
        Self { period: Some(period), ..self }
    }

    /// The number of whole intervals of runs until a time.
    ///
    /// # Errors
    /// [`AnalysisError::Setting`] for no whole interval, for more than 100,000, and for a period
    /// that is no multiple of the length.
    pub fn count(&self, until: f64) -> Result<usize> {
        let wrong =
            |what, value: f64, remedy| AnalysisError::Setting { what, value: value.to_string(), remedy };
        let count = (until / self.length + 1e-9).floor();
        if !(1.0..=MOST).contains(&count) {
            let remedy = "choose one with at least one, and at most 100000 in a run";
            return Err(wrong("the length of the intervals of a profile", self.length, remedy));
        }
        if let Some(period) = self.period {
            let slots = period / self.length;
            if slots.round() < 1.0 || (slots - slots.round()).abs() > 1e-6 || period > until {
                let remedy = "choose a multiple of the length of the intervals, up to the end of the runs";
                return Err(wrong("the period of a profile", period, remedy));
            }
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST")]
        Ok(count as usize)
    }

    /// Checks that the values of all replications fit in memory.
    pub(crate) fn check(&self, until: f64, replications: u32, measures: usize) -> Result<usize> {
        let count = self.count(until)?;
        match count.saturating_mul(replications as usize).saturating_mul(measures) {
            0..=MOST_VALUES => Ok(count),
            all => Err(AnalysisError::Setting {
                what: "the number of values of a profile",
                value: all.to_string(),
                remedy: "choose longer intervals, fewer measures or fewer replications",
            }),
        }
    }

    /// Intervals of a period, of all `count` without one.
    fn slots(&self, count: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by `count`")]
        self.period.map_or(count, |period| (period / self.length).round() as usize).min(count)
    }
}

/// An interval of a profile of one measure.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ProfileRow {
    /// The measure.
    pub measure: String,
    /// Where the interval begins, from the start of the run or of the period.
    pub begin: f64,
    /// Where it ends.
    pub end: f64,
    /// The mean over the replications of their averages in this interval; of a profile with a
    /// period, of their means over all periods.
    pub mean: Option<f64>,
    /// Half the width of its confidence interval.
    pub half_width: Option<f64>,
    /// Quantiles of the averages of single intervals, over replications and periods: 5 %,
    pub q05: Option<f64>,
    /// 25 %,
    pub q25: Option<f64>,
    /// 50 %,
    pub median: Option<f64>,
    /// 75 %,
    pub q75: Option<f64>,
    /// 95 %.
    pub q95: Option<f64>,
    /// The smallest.
    pub min: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
    /// The number of intervals that were observed.
    pub observations: usize,
}

/// Measures by time: a row for each measure and interval.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Profile {
    /// The unit of time.
    pub unit: String,
    /// The length of an interval.
    pub length: f64,
    /// The confidence level.
    pub level: f64,
    /// Replications.
    pub replications: usize,
    /// By measure, then by time.
    pub rows: Vec<ProfileRow>,
}

impl Profile {
    /// From the averages of each interval: by replication, measure and interval, NaN where nothing
    /// was observed. With a period, intervals that begin before `warm_up` do not count.
    pub(crate) fn new(
        intervals: Intervals,
        unit: &str,
        level: f64,
        warm_up: f64,
        names: &[String],
        runs: &[Vec<Vec<f64>>],
    ) -> Result<Self> {
        let count = runs.first().and_then(|run| run.first()).map_or(0, Vec::len);
        let slots = intervals.slots(count);
        let time = |number: usize| {
            #[expect(clippy::cast_precision_loss, reason = "at most MOST")]
            let number = number as f64;
            number * intervals.length
        };
        let first = match intervals.period {
            Some(_) => (0..count).find(|&part| time(part) >= warm_up - 1e-9 * warm_up).unwrap_or(count),
            None => 0,
        };
        let mut rows = Vec::new();
        for (place, name) in names.iter().enumerate() {
            for slot in 0..slots {
                let parts = || (slot..count).step_by(slots).filter(|&part| part >= first);
                let each = |run: &Vec<Vec<f64>>| -> Vec<f64> {
                    parts().map(|part| run[place][part]).filter(|value| value.is_finite()).collect()
                };
                let values: Vec<Vec<f64>> = runs.iter().map(each).collect();
                #[expect(clippy::cast_precision_loss, reason = "a count")]
                let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
                let means = values.iter().filter(|values| !values.is_empty()).map(mean).collect();
                let summary = column(means)?.summary(COLUMN, level)?;
                let all: Vec<f64> = values.concat();
                let observations = all.len();
                let [min, max] = [f64::min, f64::max].map(|of| all.iter().copied().reduce(of));
                let quantiles = column(all)?.quantiles(COLUMN, &[0.05, 0.25, 0.5, 0.75, 0.95])?;
                let quantile = |number: usize| quantiles.as_ref().map(|quantiles| quantiles[number]);
                rows.push(ProfileRow {
                    measure: name.clone(),
                    begin: time(slot),
                    end: time(slot + 1),
                    mean: summary.mean,
                    half_width: summary.interval.map(|interval| interval.half_width),
                    q05: quantile(0),
                    q25: quantile(1),
                    median: quantile(2),
                    q75: quantile(3),
                    q95: quantile(4),
                    min,
                    max,
                    observations,
                });
            }
        }
        let unit = unit.to_owned();
        Ok(Self { unit, length: intervals.length, level, replications: runs.len(), rows })
    }

    /// The measures, in their order.
    pub fn measures(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.begin == 0.0).map(|row| row.measure.as_str())
    }

    /// The rows of a measure.
    pub fn of<'p>(&'p self, measure: &'p str) -> impl Iterator<Item = &'p ProfileRow> {
        self.rows.iter().filter(move |row| row.measure == measure)
    }

    /// Writes the rows as CSV: `measure`, `begin`, `end`, `mean`, `half_width`, `q05`, `q25`,
    /// `median`, `q75`, `q95`, `min`, `max`, `observations`.
    ///
    /// # Errors
    /// [`AnalysisError::Write`].
    pub fn to_csv(&self, file: impl io::Write) -> Result<()> {
        let head = ["measure", "begin", "end", "mean", "half_width", "q05", "q25", "median", "q75", "q95"];
        write_csv(file, |writer| {
            writer.write_record(head.iter().chain(&["min", "max", "observations"]))?;
            for row in &self.rows {
                let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
                let mut record = vec![row.measure.clone(), row.begin.to_string(), row.end.to_string()];
                let numbers = [row.mean, row.half_width, row.q05, row.q25, row.median, row.q75, row.q95];
                record.extend(numbers.into_iter().chain([row.min, row.max]).map(text));
                record.push(row.observations.to_string());
                writer.write_record(record)?;
            }
            Ok(())
        })
        .map_err(AnalysisError::Write)
    }
}

/// The only column of observations here.
const COLUMN: &str = "average";

fn column(values: Vec<f64>) -> Result<Observations> {
    let (count, name) = (values.len(), COLUMN.to_owned());
    Observations::new(count, vec![Column { name, values: Values::F64(values) }], [], Pairing::Independent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_folded_and_the_first_is_not_counted() {
        // Two runs of three days of two intervals.
        let run = |shift: f64| vec![vec![90.0, 90.0, 1.0 + shift, 10.0, 3.0 + shift, f64::NAN]];
        let intervals = Intervals::new(12.0).every(24.0);
        assert_eq!(intervals.count(72.0).unwrap(), 6);
        let runs = [run(0.0), run(2.0)];
        let profile = Profile::new(intervals, "hour", 0.95, 24.0, &["queue".to_owned()], &runs).unwrap();
        let [day, night] = &profile.rows[..] else { panic!("{profile:?}") };
        // Means of 2 and 4; values 1, 3, 3 and 5.
        assert_eq!((day.mean, day.min, day.median, day.max), (Some(3.0), Some(1.0), Some(3.0), Some(5.0)));
        assert!((day.half_width.unwrap() - 12.706_204_7).abs() < 1e-6, "Student's factor of two: {day:?}");
        assert_eq!((night.begin, night.end, night.mean, night.observations), (12.0, 24.0, Some(10.0), 2));
        let whole = Profile::new(Intervals::new(12.0), "hour", 0.95, 24.0, &["queue".to_owned()], &runs);
        assert_eq!(whole.unwrap().rows.len(), 6);
        for wrong in [Intervals::new(0.0), Intervals::new(100.0), Intervals::new(12.0).every(30.0)] {
            assert!(wrong.count(72.0).is_err(), "{wrong:?}");
        }
    }
}
