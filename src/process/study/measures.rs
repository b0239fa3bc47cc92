//! The measures of a model's runs, and how they follow from the rows of their output.

use indexmap::IndexMap;

use crate::statistics::{AnalysisError, Column, Observations, Pairing, Values};
use crate::time::{Resolution, Ticks};

use super::super::ir::Kind;
use super::super::program::{Act, Program, Step, SumKind};

/// How the values of replications become an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Estimate {
    /// Their mean.
    Mean,
    /// The sum of these columns over the sum of the next ones.
    Ratio([usize; 2]),
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
    /// The smallest (0) or largest (1) of them, 0 without observations.
    Extreme(usize, usize, Kind),
    /// A counter, at its row.
    Counter(usize),
    /// A counter by unit of time.
    Rate(usize),
    /// The average units of a resource in use, at its row.
    InUse(usize),
    /// Their share of all units.
    Utilisation(usize),
    /// The average length of a line.
    Length(usize),
    /// The average content of a container.
    Content(usize),
    /// The average of a variable: its word, and the row of its sum.
    Level(u32, usize),
}

/// The measures of a model.
#[derive(Debug, Clone)]
pub(super) struct Measures {
    measures: Vec<Measure>,
    columns: Vec<From>,
    resolution: Resolution,
    /// The observed time, in ticks.
    age: u64,
}

impl Measures {
    /// The measures of runs with statistics between two times.
    pub(super) fn new(program: &Program, warm_up: Ticks, until: Ticks) -> Self {
        let age = until.get() - warm_up.get();
        let mut all = Self { measures: Vec::new(), columns: Vec::new(), resolution: program.resolution, age };
        let places: IndexMap<u32, usize> = program.output_rows.iter().copied().zip(0..).collect();
        let at = |row: u32| places[&row];
        for sum in &program.sums {
            let (name, row) = (&sum.name, at(sum.row));
            match sum.kind {
                SumKind::Tally(kind) => {
                    let [count, observed] = [From::Count(row), From::Observed(row)].map(|of| all.column(of));
                    let total = all.column(From::Sum(row, kind));
                    all.ratio(name.clone(), [total, count], true);
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
                SumKind::Level(variable) => {
                    let word = program.variables[variable as usize].word;
                    all.mean(format!("average({name})"), From::Level(word, row), true);
                }
            }
        }
        for (number, resource) in (0..).zip(&program.resources) {
            let (name, row) = (&resource.name, at(resource.row));
            // There is no sum of units that change.
            let changes =
                |step: &Step| matches!(step.act, Act::Resize { resource, .. } if resource == number);
            let constant = !program.steps.iter().any(changes);
            if constant {
                all.mean(format!("utilisation({name})"), From::Utilisation(row), true);
            }
            all.mean(format!("in_use({name})"), From::InUse(row), !constant);
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

    fn ratio(&mut self, name: String, of: [usize; 2], decides: bool) {
        self.measures.push(Measure { name, estimate: Estimate::Ratio(of), column: of[0], decides });
    }

    /// The numbers of a replication.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The names of all measures.
    pub(super) fn names(&self) -> Vec<String> {
        self.measures.iter().map(|measure| measure.name.clone()).collect()
    }

    /// The names of those that have to reach a requested precision: means of tallies, utilisations
    /// and averages; all, if the model has no such measure.
    pub(super) fn deciding(&self) -> Vec<String> {
        let some = self.measures.iter().any(|measure| measure.decides);
        let deciding = self.measures.iter().filter(|measure| measure.decides || !some);
        deciding.map(|measure| measure.name.clone()).collect()
    }

    /// The measures that are averages over time, without shares.
    fn averages(&self) -> impl Iterator<Item = &Measure> {
        self.measures.iter().filter(|measure| {
            let from = self.columns[measure.column];
            measure.estimate == Estimate::Mean
                && matches!(from, From::InUse(_) | From::Length(_) | From::Content(_) | From::Level(..))
        })
    }

    /// The names of averages over time.
    pub(super) fn over_time(&self) -> impl Iterator<Item = String> {
        self.averages().map(|measure| measure.name.clone())
    }

    /// The averages over time of a run, from its output.
    pub(super) fn values_over_time<'m>(&'m self, rows: &'m [[u32; 4]]) -> impl Iterator<Item = f64> + 'm {
        self.averages().map(move |measure| self.number(self.columns[measure.column], rows))
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
            From::Length(row) => {
                let [_, length, low, high] = rows[row];
                area(length, [low, high]) / age
            }
            From::Content(row) => area_128(rows[row][0].cast_signed(), rows[row + 1], self.age) / age,
            From::Level(word, row) => {
                let value = rows[(word / 4) as usize][(word % 4) as usize];
                area_128(value.cast_signed(), rows[row], self.age) / age
            }
        }
    }

    /// The observations of a point: the numbers of its replications, one after the other.
    pub(super) fn observations(&self, numbers: &[f64]) -> Result<Observations, AnalysisError> {
        let width = self.width();
        let replications = numbers.len() / width.max(1);
        let mut observations = Observations::new(replications, Vec::new(), [], Pairing::Independent)?;
        let values = |column: usize| Values::F64(numbers.chunks_exact(width).map(|of| of[column]).collect());
        for measure in &self.measures {
            let name = &measure.name;
            match measure.estimate {
                Estimate::Mean => {
                    observations.push(Column { name: name.clone(), values: values(measure.column) })?;
                }
                Estimate::Ratio(of) => {
                    let parts = ["above", "below"].map(|part| format!("{name}, {part}"));
                    for (name, column) in parts.iter().zip(of) {
                        observations.push(Column { name: name.clone(), values: values(column) })?;
                    }
                    let [above, below] = &parts;
                    observations.pool(name, &[above, below], |means| means[0] / means[1])?;
                    observations.hide(&[above, below])?;
                }
            }
        }
        Ok(observations)
    }
}

/// A number of two words.
fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The area below a level with a sign, from the sum of its changes modulo 2^128.
#[expect(clippy::cast_precision_loss, reason = "statistics")]
fn area_128(level: i32, [a, b, c, d]: [u32; 4], age: u64) -> f64 {
    let sum = u128::from(wide(c, d)) << 64 | u128::from(wide(a, b));
    (i128::from(level) * i128::from(age)).wrapping_sub(sum.cast_signed()) as f64
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
}
