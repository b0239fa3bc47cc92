//! The measures of a model's runs, and how they follow from the rows of their output.

use indexmap::IndexMap;

use crate::statistics::quantiles::{BIN_ROWS, LENGTHS, length_bin, length_range};
use crate::statistics::{AnalysisError, Column, Observations, Pairing, Values};
use crate::time::{Resolution, Ticks};

use super::super::ir::Kind;
use super::super::program::{Program, SumKind};

/// How the values of replications become an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Estimate {
    /// Their mean.
    Mean,
    /// The sum of this column over the sum of the next one.
    Ratio([usize; 2]),
    /// What a resource costs, by its number in the list of costs: of the averages of units in use
    /// and of all units, and the number of uses.
    Cost(usize, [usize; 3]),
    /// What all cost.
    Costs,
    /// The deviation of observations: of the sums of their squares, of them, and of their number.
    Deviation([usize; 3]),
    /// A mean that reports omit.
    Hidden,
}

/// A measure by name, which reports show.
#[derive(Debug, Clone)]
struct Measure {
    name: String,
    estimate: Estimate,
    /// Its own column, unless it is a ratio.
    column: usize,
    /// Whether it has to reach a requested precision.
    decides: bool,
}

/// The part of a run's output that a column has.
#[derive(Debug, Clone, Copy)]
enum From {
    /// The sum of a tally, at its row.
    Sum(usize, Kind),
    /// The number of its observations.
    Count(usize),
    /// Whether there are any.
    Observed(usize),
    /// The sum of their squares.
    Squares(usize, Kind),
    /// The smallest (0) or largest (1) of them, 0 without observations.
    Extreme(usize, usize, Kind),
    /// Zero.
    Nothing,
    /// A counter, at its row.
    Counter(usize),
    /// A counter by unit of time.
    Rate(usize),
    /// The average units of a resource in use, at its row.
    InUse(usize),
    /// Their share of all units, which do not change.
    Utilisation(usize),
    /// Its units, which do not change.
    Units(usize),
    /// The average units, at its row and that of their changes.
    Offered(usize, usize),
    /// The average length of a line.
    Length(usize),
    /// The average content of a container.
    Content(usize),
    /// The average of a variable: its word, and the row of its sum.
    Level(u32, usize),
    /// The share of time with values of a bin.
    Share(Times, usize),
    /// The least value that is not exceeded in a percentage of the time; of 100, the largest.
    Below(Times, u32),
}

/// A histogram of the times with values of a variable: its word, and the row of the histogram.
#[derive(Debug, Clone, Copy)]
struct Times {
    word: u32,
    row: usize,
}

/// The reported quantiles of values over time, in percent.
const PERCENT: [u32; 3] = [90, 95, 99];

/// The name of the share of time with values of a bin, a column that reports omit.
pub(crate) fn share_of_bin(name: &str, bin: usize) -> String {
    format!("share({name}, bin {bin})")
}

/// The measures of a model.
#[derive(Debug, Clone)]
pub(super) struct Measures {
    measures: Vec<Measure>,
    /// The histograms of tallies: their names, and the rows where they begin.
    histograms: Vec<(String, usize)>,
    columns: Vec<From>,
    resolution: Resolution,
    /// The observed time, in ticks.
    age: u64,
}

impl Measures {
    /// The measures of runs with statistics between two times.
    pub(super) fn new(program: &Program, warm_up: Ticks, until: Ticks) -> Self {
        let age = until.get() - warm_up.get();
        let mut all = Self {
            measures: Vec::new(),
            histograms: Vec::new(),
            columns: Vec::new(),
            resolution: program.resolution,
            age,
        };
        let places: IndexMap<u32, usize> = program.output_rows.iter().copied().zip(0..).collect();
        let at = |row: u32| places[&row];
        // Those of runs follow the others.
        let behind = |row: u32| program.output_rows.len() + (row - program.histograms.start) as usize;
        // The columns with the numbers of observations, by tally.
        let mut counts = IndexMap::new();
        for (number, sum) in (0..).zip(&program.sums) {
            let (name, row) = (&sum.name, at(sum.row));
            match sum.kind {
                SumKind::Tally(kind) => {
                    let [count, observed] = [From::Count(row), From::Observed(row)].map(|of| all.column(of));
                    let total = all.column(From::Sum(row, kind));
                    all.ratio(name.clone(), [total, count], true);
                    counts.insert(number, count);
                    if let Some(histogram) = sum.histogram {
                        all.histograms.push((name.clone(), behind(histogram.row())));
                    }
                    let squares = all.column(From::Squares(row, kind));
                    all.measures.push(Measure {
                        name: format!("deviation({name})"),
                        estimate: Estimate::Deviation([squares, total, count]),
                        column: squares,
                        decides: false,
                    });
                    for (extreme, name) in [(0, format!("smallest({name})")), (1, format!("largest({name})"))]
                    {
                        let value = all.column(From::Extreme(row, extreme, kind));
                        all.ratio(name, [value, observed], false);
                    }
                    all.mean(format!("count({name})"), From::Count(row), false);
                }
                SumKind::Counter => {
                    all.mean(name.clone(), From::Counter(row), false);
                    all.mean(format!("rate({name})"), From::Rate(row), false);
                }
                SumKind::Share(tally) => {
                    let within = all.column(From::Counter(row));
                    all.ratio(name.clone(), [within, counts[&tally]], false);
                }
                SumKind::Level(variable) => {
                    let word = program.variables[variable as usize].word;
                    all.mean(format!("average({name})"), From::Level(word, row), true);
                    if let Some(histogram) = sum.histogram {
                        all.times(name, Times { word, row: behind(histogram.row()) });
                    }
                }
            }
        }
        for resource in &program.resources {
            let (name, row) = (&resource.name, at(resource.row));
            let utilisation = format!("utilisation({name})");
            match resource.offered {
                None => all.mean(utilisation, From::Utilisation(row), true),
                Some(offered) => {
                    let of = [From::InUse(row), From::Offered(row, at(offered))].map(|of| all.column(of));
                    all.ratio(utilisation, of, true);
                }
            }
            all.mean(format!("in_use({name})"), From::InUse(row), false);
        }
        for (number, cost) in program.costs.iter().enumerate() {
            let resource = &program.resources[cost.resource as usize];
            let row = at(resource.row);
            let offered = match resource.offered {
                None => From::Units(row),
                Some(offered) => From::Offered(row, at(offered)),
            };
            let uses = match cost.uses {
                None => From::Nothing,
                Some(sum) => From::Counter(at(program.sums[sum as usize].row)),
            };
            let of = [From::InUse(row), offered, uses].map(|of| all.column(of));
            let estimate = Estimate::Cost(number, of);
            all.measures.push(Measure {
                name: format!("cost({})", resource.name),
                estimate,
                column: of[0],
                decides: false,
            });
        }
        if !program.costs.is_empty() {
            let estimate = Estimate::Costs;
            all.measures.push(Measure { name: "cost(all)".to_owned(), estimate, column: 0, decides: false });
        }
        for container in &program.containers {
            all.mean(format!("level({})", container.name), From::Content(at(container.row)), true);
        }
        let holders = |line: u32| program.resources.iter().any(|of| of.holders == Some(line));
        for (_, line) in (0..).zip(&program.lines).filter(|(line, _)| !holders(*line)) {
            all.mean(line.name.clone(), From::Length(at(line.row)), false);
        }
        all
    }

    fn column(&mut self, from: From) -> usize {
        self.columns.push(from);
        self.columns.len() - 1
    }

    fn mean(&mut self, name: String, from: From, decides: bool) {
        let column = self.column(from);
        self.measures.push(Measure { name, estimate: Estimate::Mean, column, decides });
    }

    /// The measures of a histogram of times.
    fn times(&mut self, name: &str, times: Times) {
        self.mean(format!("zero({name})"), From::Share(times, 0), false);
        for percent in PERCENT {
            self.mean(format!("quantile_{percent}({name})"), From::Below(times, percent), false);
        }
        self.mean(format!("largest({name})"), From::Below(times, 100), false);
        for bin in 0..LENGTHS {
            let column = self.column(From::Share(times, bin));
            let (name, estimate) = (share_of_bin(name, bin), Estimate::Hidden);
            self.measures.push(Measure { name, estimate, column, decides: false });
        }
    }

    /// The names of the tallies with histograms, and the counts by bin of a run.
    pub(super) fn histograms<'m>(
        &'m self,
        rows: &'m [[u32; 4]],
    ) -> impl Iterator<Item = impl Iterator<Item = (usize, u32)> + 'm> + 'm {
        let counts = |row: usize| rows[row..][..BIN_ROWS as usize].as_flattened();
        self.histograms.iter().map(move |&(_, row)| counts(row).iter().copied().enumerate())
    }

    /// The names of the tallies with histograms.
    pub(super) fn with_histograms(&self) -> impl ExactSizeIterator<Item = &str> {
        self.histograms.iter().map(|(name, _)| name.as_str())
    }

    fn ratio(&mut self, name: String, of: [usize; 2], decides: bool) {
        self.measures.push(Measure { name, estimate: Estimate::Ratio(of), column: of[0], decides });
    }

    /// The numbers of a replication.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The names of all measures.
    pub(super) fn names(&self) -> Vec<String> {
        let shown = self.measures.iter().filter(|measure| measure.estimate != Estimate::Hidden);
        shown.map(|measure| measure.name.clone()).collect()
    }

    /// The unit of a measure by name, where `time` is the model's; none for shares and numbers.
    pub(super) fn unit(&self, name: &str, time: &str) -> Option<String> {
        let measure = self.measures.iter().find(|measure| measure.name == name)?;
        if matches!(measure.estimate, Estimate::Cost(..) | Estimate::Costs) {
            return None;
        }
        match self.columns[measure.column] {
            From::Sum(_, Kind::Time) | From::Squares(_, Kind::Time) | From::Extreme(_, _, Kind::Time) => {
                Some(time.to_owned())
            }
            From::Rate(_) => Some(format!("per {time}")),
            From::InUse(_) if name.starts_with("in_use(") => Some("units".to_owned()),
            From::Length(_) => Some("entities".to_owned()),
            _ => None,
        }
    }

    /// The names of those that have to reach a requested precision: means of tallies, utilisations
    /// and averages; all, if the model has no such measure.
    pub(super) fn deciding(&self) -> Vec<String> {
        let some = self.measures.iter().any(|measure| measure.decides);
        let deciding = self.measures.iter().filter(|measure| measure.decides || !some);
        deciding.map(|measure| measure.name.clone()).collect()
    }

    /// The names of averages over time, without shares.
    pub(super) fn over_time(&self) -> impl Iterator<Item = String> {
        let averages = self.measures.iter().filter(|measure| {
            let from = self.columns[measure.column];
            measure.estimate == Estimate::Mean
                && matches!(from, From::InUse(_) | From::Length(_) | From::Content(_) | From::Level(..))
        });
        averages.map(|measure| measure.name.clone())
    }

    /// The names of measures that intervals of a run have: all but extremes.
    pub(super) fn of_intervals(&self) -> impl Iterator<Item = String> {
        let has = |measure: &&Measure| {
            !matches!(self.columns[measure.column], From::Extreme(..) | From::Share(..) | From::Below(..))
        };
        self.measures.iter().filter(has).map(|measure| measure.name.clone())
    }

    /// The numbers of the part of a run between two times, in units, from the numbers at both.
    pub(super) fn between<'m>(
        &'m self,
        [before, after]: [&'m [f64]; 2],
        [begin, end]: [f64; 2],
    ) -> impl Iterator<Item = f64> + 'm {
        let numbers = self.columns.iter().zip(before.iter().zip(after));
        numbers.map(move |(from, (&before, &after))| match from {
            From::Squares(..) if after >= BEYOND => BEYOND,
            From::Sum(..) | From::Count(_) | From::Squares(..) | From::Counter(_) => after - before,
            // (What is not a number would fail the interval.)
            From::Observed(_) | From::Extreme(..) | From::Share(..) | From::Below(..) => 0.0,
            From::Nothing | From::Units(_) => after,
            // Averages since the begin.
            From::Rate(_)
            | From::InUse(_)
            | From::Utilisation(_)
            | From::Offered(..)
            | From::Length(_)
            | From::Content(_)
            | From::Level(..) => (after * end - before * begin) / (end - begin),
        })
    }

    /// The numbers of a run, from its output.
    pub(super) fn numbers<'m>(&'m self, rows: &'m [[u32; 4]]) -> impl Iterator<Item = f64> + 'm {
        self.columns.iter().map(move |&from| self.number(from, rows))
    }

    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    fn number(&self, from: From, rows: &[[u32; 4]]) -> f64 {
        let (ticks, age) = (f64::from(self.resolution.ticks_per_unit()), self.age as f64);
        let unit = |kind: Kind| match kind {
            Kind::Integer | Kind::Condition => 1.0,
            Kind::Time => ticks,
            Kind::Real => f64::from(1 << 24),
        };
        // The area below a level, from the sum of its changes times the time since the warm-up.
        let area = |level: u32, [low, high]: [u32; 2]| {
            let end = u64::from(level).wrapping_mul(self.age);
            end.wrapping_sub(wide(low, high)) as f64
        };
        match from {
            From::Sum(row, kind) => {
                let [low, middle, high, _] = rows[row];
                let above = i128::from(high.cast_signed()) << 64;
                (above + i128::from(wide(low, middle))) as f64 / unit(kind)
            }
            From::Count(row) => rows[row][3].into(),
            From::Squares(row, kind) => match wide_128(rows[row + 2]) {
                u128::MAX => BEYOND,
                sum => sum as f64 / unit(kind) / unit(kind),
            },
            From::Observed(row) => f64::from(u8::from(rows[row][3] > 0)),
            From::Extreme(row, which, kind) => {
                let words = &rows[row + 1][2 * which..];
                match rows[row][3] {
                    0 => 0.0,
                    _ => wide(words[0], words[1]).cast_signed() as f64 / unit(kind),
                }
            }
            From::Counter(row) => wide(rows[row][0], rows[row][1]) as f64,
            From::Rate(row) => wide(rows[row][0], rows[row][1]) as f64 / (age / ticks),
            From::InUse(row) => {
                let [level, _, low, high] = rows[row];
                area(level, [low, high]) / age
            }
            From::Utilisation(row) => {
                let [level, units, low, high] = rows[row];
                area(level, [low, high]) / age / f64::from(units)
            }
            From::Nothing => 0.0,
            From::Units(row) => rows[row][1].into(),
            From::Offered(row, changes) => {
                let ([_, units, ..], [low, high, ..]) = (rows[row], rows[changes]);
                area(units, [low, high]) / age
            }
            From::Length(row) => {
                let [_, length, low, high] = rows[row];
                area(length, [low, high]) / age
            }
            From::Content(row) => area_128(rows[row][0].cast_signed(), rows[row + 1], self.age) / age,
            From::Level(word, row) => {
                let value = rows[(word / 4) as usize][(word % 4) as usize];
                area_128(value.cast_signed(), rows[row], self.age) / age
            }
            From::Share(times, bin) => self.time(times, rows, bin) as f64 / age,
            From::Below(times, percent) => self.below(times, rows, percent),
        }
    }

    /// The time with values of a bin. Outputs of the general engine have no histograms.
    fn time(&self, Times { word, row }: Times, rows: &[[u32; 4]], bin: usize) -> u64 {
        let at = |row: usize| rows.get(row).copied().unwrap_or_default();
        let [a, b, c, d] = at(row + 1 + bin / 2);
        let time = if bin.is_multiple_of(2) { wide(a, b) } else { wide(c, d) };
        // The last value lasts until the end.
        let [low, high, ..] = at(row);
        let value = rows[(word / 4) as usize][(word % 4) as usize].cast_signed().max(0);
        let is_last = length_bin(value.cast_unsigned()) == bin;
        time.saturating_add(if is_last { self.age.saturating_sub(wide(low, high)) } else { 0 })
    }

    /// The least value that is not exceeded in a percentage of the time: the largest of its bin.
    fn below(&self, times: Times, rows: &[[u32; 4]], percent: u32) -> f64 {
        let (mut below, enough) = (0_u128, u128::from(self.age) * u128::from(percent));
        let bin = (0..LENGTHS).find(|&bin| {
            below += u128::from(self.time(times, rows, bin)) * 100;
            below >= enough
        });
        let most = bin.and_then(|bin| length_range(bin).1);
        most.map_or(f64::NAN, f64::from)
    }

    /// The observations of a point: the numbers of its replications, one after the other. `costs`
    /// are those at the point ([`Program::costs_at`]).
    pub(super) fn observations(
        &self,
        numbers: &[f64],
        replications: usize,
        costs: &[[f64; 3]],
    ) -> Result<Observations, AnalysisError> {
        let width = self.width();
        let mut observations = Observations::new(replications, Vec::new(), [], Pairing::Independent)?;
        let values = |column: usize| Values::F64(numbers.chunks_exact(width).map(|of| of[column]).collect());
        #[expect(clippy::cast_precision_loss, reason = "statistics")]
        let time = self.age as f64 / f64::from(self.resolution.ticks_per_unit());
        let cost = |number: usize, of: [usize; 3], numbers: &[f64]| {
            let ([busy, idle, each], [used, units, uses]) = (costs[number], of.map(|column| numbers[column]));
            time * (busy * used + idle * (units - used).max(0.0)) + each * uses
        };
        let all = self.measures.iter().filter_map(|measure| match measure.estimate {
            Estimate::Cost(number, of) => Some((number, of)),
            _ => None,
        });
        let all = |numbers: &[f64]| all.clone().map(|(number, of)| cost(number, of, numbers)).sum::<f64>();
        let each =
            |cost: &dyn Fn(&[f64]) -> f64| Values::F64(numbers.chunks_exact(width).map(cost).collect());
        for measure in &self.measures {
            let name = &measure.name;
            match measure.estimate {
                Estimate::Cost(number, of) => {
                    let values = each(&|numbers| cost(number, of, numbers));
                    observations.push(Column { name: name.clone(), values })?;
                }
                Estimate::Costs => {
                    observations.push(Column { name: name.clone(), values: each(&all) })?;
                }
                Estimate::Hidden => {
                    observations.push(Column { name: name.clone(), values: values(measure.column) })?;
                    observations.hide(&[name])?;
                }
                Estimate::Mean => {
                    observations.push(Column { name: name.clone(), values: values(measure.column) })?;
                }
                Estimate::Ratio(of) => {
                    let parts = ["above", "below"].map(|part| format!("{name}, {part}"));
                    let means = |means: &[f64]| means[0] / means[1];
                    pool(&mut observations, name, &parts, of.map(values), means, means)?;
                }
                Estimate::Deviation(of) => {
                    let parts = ["squares", "sum", "count"].map(|part| format!("{name}, {part}"));
                    pool(&mut observations, name, &parts, of.map(values), own_deviation, deviation)?;
                }
            }
        }
        Ok(observations)
    }
}

/// Adds a function of the means of columns, which reports omit.
fn pool<const N: usize>(
    observations: &mut Observations,
    name: &str,
    parts: &[String; N],
    values: [Values; N],
    of_one: fn(&[f64]) -> f64,
    of_means: fn(&[f64]) -> f64,
) -> Result<(), AnalysisError> {
    for (name, values) in parts.iter().zip(values) {
        observations.push(Column { name: name.clone(), values })?;
    }
    let parts = parts.each_ref().map(String::as_str);
    observations.pool_with(name, &parts, of_one, of_means)?;
    observations.hide(&parts)
}

/// Stands for a sum of squares that did not fit.
const BEYOND: f64 = 1e120;

/// Variances below this share of the mean square are rounding errors of `f64`.
const ROUNDING: f64 = 1e-14;

/// The deviation of observations from their mean: of the means of the sums of their squares, of
/// them, and of their number.
fn deviation(means: &[f64]) -> f64 {
    let [squares, sum, count] = [means[0], means[1], means[2]];
    let (square, mean) = (squares / count, sum / count);
    let variance = square - mean * mean;
    match squares < BEYOND.sqrt() {
        true if variance <= ROUNDING * square => 0.0,
        true => variance.sqrt(),
        false => f64::NAN,
    }
}

/// The deviation of a replication: its sum of squared distances is divided by its observations less
/// one.
fn own_deviation(sums: &[f64]) -> f64 {
    let count = sums[2];
    if count > 1.0 { deviation(sums) * (count / (count - 1.0)).sqrt() } else { f64::NAN }
}

/// A number of two words.
fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// A number of four words.
fn wide_128([a, b, c, d]: [u32; 4]) -> u128 {
    u128::from(wide(c, d)) << 64 | u128::from(wide(a, b))
}

/// The area below a level with a sign, from the sum of its changes modulo 2^128.
#[expect(clippy::cast_precision_loss, reason = "statistics")]
fn area_128(level: i32, sum: [u32; 4], age: u64) -> f64 {
    (i128::from(level) * i128::from(age)).wrapping_sub(wide_128(sum).cast_signed()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_end_with_the_run() {
        // 3 from time 2 on and -1 from time 7 on, until 10: 3 * 5 - 3 = 12.
        let sum: i128 = 3 * 2 - 4 * 7;
        let mut words = [0_u32; 4];
        bytemuck::bytes_of_mut(&mut words).copy_from_slice(&sum.to_le_bytes());
        assert_eq!(area_128(-1, words, 10), 12.0);
    }

    #[test]
    fn a_deviation_is_zero_of_equal_values_and_missing_without_any() {
        assert_eq!(deviation(&[10.0, 4.0, 2.0]), 1.0);
        assert_eq!(deviation(&[0.3 * 0.3 * 3.0, 0.3 * 3.0, 3.0]), 0.0);
        assert!(deviation(&[0.0, 0.0, 0.0]).is_nan());
        assert_eq!(own_deviation(&[10.0, 4.0, 2.0]), 2_f64.sqrt());
        assert!(own_deviation(&[1.0, 1.0, 1.0]).is_nan(), "one observation");
        // A sum of squares of one of 100 replications did not fit.
        assert!(deviation(&[BEYOND / 100.0, 1.0, 1.0]).is_nan());
    }
}
