//! Totals of results: exact sums, minima and maxima of columns over LPs. This file defines them and
//! computes them from [`Outputs`] with a plain loop; `results.rs` computes the same on the device.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use bytemuck::Pod;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::gpu::FieldKind;
use crate::statistics::{PooledAverage, Tally, Values};
use crate::text::write_csv;
use crate::time::Ticks;

use super::error::SimulationError;
use super::output::{Columns, Number, Outputs, print, unknown};

/// The maximum number of classes that [`Totals`] distinguish.
pub const MAX_CLASSES: usize = 4096;

/// The sums, minima and maxima of a model's result columns, over all LPs and over the LPs of each
/// class: [`Simulation::totals`](crate::pdes::Simulation::totals).
///
/// They are exact integers, with the same bits on every device. [`Display`](fmt::Display) prints a
/// table. As serde data they have the fields `at` (ticks), `all` and `classes`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Totals {
    #[serde(serialize_with = "ticks")]
    at: Ticks,
    all: ClassTotals,
    classes: Vec<ClassTotals>,
}

fn ticks<S: Serializer>(at: &Ticks, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(at.get())
}

/// The totals over the LPs of a class, or over all LPs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassTotals {
    class: Option<u32>,
    lps: u64,
    #[serde(serialize_with = "by_name")]
    columns: Vec<Total>,
    /// For each tally, its name and its smallest observation.
    #[serde(skip)]
    smallest: Vec<(Arc<str>, Option<u64>)>,
}

/// The sum, the minimum and the maximum of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    name: Arc<str>,
    sum: Sum,
    minimum: Number,
    maximum: Number,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sum {
    Exact(Number),
    /// A sum of 2^128 or more.
    Overflow,
    /// No sum: a column of f32.
    None,
}

impl Totals {
    /// The time of the results.
    pub fn at(&self) -> Ticks {
        self.at
    }

    /// The totals over all LPs.
    pub fn all(&self) -> &ClassTotals {
        &self.all
    }

    /// The totals over the LPs of each class, ordered by class; empty if no classes were requested.
    pub fn classes(&self) -> &[ClassTotals] {
        &self.classes
    }

    /// The totals over the LPs of one class; `None` if no LP is of that class, or if no classes
    /// were requested.
    pub fn class(&self, class: u32) -> Option<&ClassTotals> {
        let number = self.classes.binary_search_by_key(&Some(class), |totals| totals.class).ok()?;
        Some(&self.classes[number])
    }

    /// The column called `name`, over all LPs.
    ///
    /// # Errors
    /// [`SimulationError::NoColumn`].
    pub fn column(&self, name: &str) -> Result<&Total, SimulationError> {
        self.all.column(name)
    }

    /// [`ClassTotals::tally`] over all LPs.
    pub fn tally(&self, name: &str) -> Option<Tally> {
        self.all.tally(name)
    }

    /// [`ClassTotals::time_average`] over all LPs.
    pub fn time_average(&self, name: &str) -> Option<PooledAverage> {
        self.all.time_average(name)
    }

    /// Writes a line for each class and column under the header `class`, `lps`, `column`, `sum`,
    /// `minimum`, `maximum`. `class` is empty for all LPs. `sum` is empty for a column of f32, and
    /// `overflow` for a sum of 2^128 or more.
    ///
    /// # Errors
    /// [`SimulationError::Write`].
    pub fn to_csv(&self, file: impl io::Write) -> Result<(), SimulationError> {
        write_csv(file, |writer| {
            writer.write_record(HEADER)?;
            for totals in self.groups() {
                let class = totals.class.map_or_else(String::new, |class| class.to_string());
                for total in &totals.columns {
                    let sum = total.sum.text("");
                    let numbers = [total.minimum, total.maximum].map(|number| number.to_string());
                    let [minimum, maximum] = &numbers;
                    let lps = totals.lps.to_string();
                    writer.write_record([&class, &lps, &*total.name, &sum, minimum, maximum])?;
                }
            }
            Ok(())
        })
        .map_err(SimulationError::Write)
    }

    /// Indented JSON: `at` in ticks; `all`, and a list `classes`, each with `class`, `lps`, and in
    /// `columns`, by name, an object of `sum`, `minimum` and `maximum`. `sum` is null for a column
    /// of f32, and the text `overflow` for a sum of 2^128 or more. Numbers have all their digits;
    /// readers that convert every number to `f64` lose digits beyond 2^53.
    ///
    /// # Panics
    /// Never: all keys are text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text keys")
    }

    fn groups(&self) -> impl Iterator<Item = &ClassTotals> {
        std::iter::once(&self.all).chain(&self.classes)
    }
}

const HEADER: [&str; 6] = ["class", "lps", "column", "sum", "minimum", "maximum"];

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = vec![HEADER.map(String::from).to_vec()];
        for totals in self.groups() {
            for total in &totals.columns {
                table.push(vec![
                    totals.class.map_or_else(|| "all".to_owned(), |class| class.to_string()),
                    totals.lps.to_string(),
                    total.name.to_string(),
                    total.sum.text("-"),
                    total.minimum.to_string(),
                    total.maximum.to_string(),
                ]);
            }
        }
        print(f, &table, |column| column == 2)
    }
}

impl ClassTotals {
    /// The class; `None` for all LPs.
    pub fn class(&self) -> Option<u32> {
        self.class
    }

    /// The number of LPs of the class.
    pub fn lps(&self) -> u64 {
        self.lps
    }

    /// The column called `name`.
    ///
    /// # Errors
    /// [`SimulationError::NoColumn`].
    pub fn column(&self, name: &str) -> Result<&Total, SimulationError> {
        self.find(name).ok_or_else(|| {
            let names: Vec<_> = self.columns.iter().map(|total| total.name.clone()).collect();
            unknown(name, &names)
        })
    }

    fn find(&self, name: &str) -> Option<&Total> {
        self.columns.iter().find(|total| &*total.name == name)
    }

    /// The LPs' tallies merged into one, if `struct Output` has a field `name: Tally`. Its smallest
    /// observation comes from the LPs that have observations, and it begins when the first tally
    /// begins. `None` if there is no such field, or if a sum does not fit.
    pub fn tally(&self, name: &str) -> Option<Tally> {
        let (_, smallest) = self.smallest.iter().find(|(tally, _)| **tally == *name)?;
        let part = |field: &str| self.find(&format!("{name}.{field}"));
        let long = |number: Number| u64::try_from(number.unsigned()?).ok();
        let sum = part("sum")?.sum().ok()?.unsigned()?;
        // All ones if they do not fit, as in a tally.
        let squares = part("squares")?.sum().map_or(Some(u128::MAX), Number::unsigned)?;
        let count = long(part("count")?.sum().ok()?)?;
        let maximum = long(part("maximum")?.maximum)?;
        let since = Ticks::new(long(part("since")?.minimum)?);
        Some(Tally::of([sum, squares], [smallest.unwrap_or(0), maximum, count], since))
    }

    /// The LPs' time averages merged into one, if `struct Output` has a field `name: TimeAverage`.
    /// `None` if there is no such field, or if the average of an LP has not begun yet: totals lack
    /// the data for that, use [`Outputs`].
    pub fn time_average(&self, name: &str) -> Option<PooledAverage> {
        let part = |field: &str| self.find(&format!("{name}.{field}"));
        let word = |number: Number| u32::try_from(number.unsigned()?).ok();
        let (area, since, changed) = (part("area")?, part("since")?, part("changed")?);
        part("level")?;
        let range = (word(part("minimum")?.minimum)?, word(part("maximum")?.maximum)?);
        if changed.minimum.unsigned()? <= since.maximum.unsigned()? {
            return None;
        }
        // All ones mark an average that received an invalid call.
        let wrong = area.maximum.unsigned()? == u128::MAX;
        let area = if wrong { None } else { Some(area.sum().ok()?.unsigned()?) };
        let span = changed.sum().ok()?.unsigned()? - since.sum().ok()?.unsigned()?;
        Some(PooledAverage::of(area, span, range))
    }
}

fn by_name<S: Serializer>(columns: &[Total], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(columns.iter().map(|total| (&*total.name, total)))
}

impl Total {
    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The exact sum.
    ///
    /// # Errors
    /// [`SimulationError::SumOverflow`] for a sum of 2^128 or more, [`SimulationError::NoSum`] for
    /// a column of f32.
    pub fn sum(&self) -> Result<Number, SimulationError> {
        match self.sum {
            Sum::Exact(sum) => Ok(sum),
            Sum::Overflow => Err(SimulationError::SumOverflow { column: self.name.to_string() }),
            Sum::None => Err(SimulationError::NoSum { column: self.name.to_string() }),
        }
    }

    /// The smallest value; for f32 by [`f32::total_cmp`], so a NaN shows as the minimum or the
    /// maximum.
    pub fn minimum(&self) -> Number {
        self.minimum
    }

    /// The largest value; for f32 by [`f32::total_cmp`].
    pub fn maximum(&self) -> Number {
        self.maximum
    }
}

impl Serialize for Total {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        match self.sum {
            Sum::Exact(sum) => map.serialize_entry("sum", &sum)?,
            Sum::Overflow => map.serialize_entry("sum", OVERFLOW)?,
            Sum::None => map.serialize_entry("sum", &())?,
        }
        map.serialize_entry("minimum", &self.minimum)?;
        map.serialize_entry("maximum", &self.maximum)?;
        map.end()
    }
}

const OVERFLOW: &str = "overflow";

impl Sum {
    fn text(self, none: &str) -> String {
        match self {
            Self::Exact(sum) => sum.to_string(),
            Self::Overflow => OVERFLOW.to_owned(),
            Self::None => none.to_owned(),
        }
    }
}

impl<O: Pod> Outputs<O> {
    /// Computes the totals of these outputs with a plain loop on the host. `classes` names a column
    /// of `u32` with the class of each LP. [`Simulation::totals`](crate::pdes::Simulation::totals)
    /// computes the same on the device, without reading the outputs back.
    ///
    /// # Errors
    /// [`SimulationError::NoColumn`], [`SimulationError::Classes`] and
    /// [`SimulationError::TooManyClasses`] for the column of classes.
    pub fn totals(&self, classes: Option<&str>) -> Result<Totals, SimulationError> {
        let mut members = BTreeMap::<u32, Vec<usize>>::new();
        if let Some(column) = classes {
            let Values::U32(values) = self.values(self.columns.class(column)?) else {
                unreachable!("checked in `class`")
            };
            for (row, class) in values.into_iter().enumerate() {
                members.entry(class).or_default().push(row);
                check_classes(column, members.len())?;
            }
        }
        let values: Vec<_> = (0..self.columns.fields.len()).map(|column| self.values(column)).collect();
        let of = |class, rows: &[usize]| {
            let columns =
                values.iter().zip(&self.columns.names).map(|(values, name)| total(name, values, rows));
            let smallest = self.columns.tallies.iter().map(|tally| {
                let (Values::U64(counts), Values::U64(minima)) =
                    (&values[tally.count], &values[tally.minimum])
                else {
                    unreachable!("the fields of a tally")
                };
                let counted = rows.iter().filter(|&&row| counts[row] > 0);
                (tally.name.clone(), counted.map(|&row| minima[row]).min())
            });
            ClassTotals {
                class,
                lps: rows.len() as u64,
                columns: columns.collect(),
                smallest: smallest.collect(),
            }
        };
        let all: Vec<_> = (0..self.len()).collect();
        Ok(Totals {
            at: self.at,
            all: of(None, &all),
            classes: members.iter().map(|(&class, rows)| of(Some(class), rows)).collect(),
        })
    }
}

/// Refuses more than [`MAX_CLASSES`] classes.
pub(in crate::pdes) fn check_classes(column: &str, classes: usize) -> Result<(), SimulationError> {
    match classes <= MAX_CLASSES {
        true => Ok(()),
        false => Err(SimulationError::TooManyClasses { column: column.to_owned(), most: MAX_CLASSES }),
    }
}

/// The total of a column over the given rows, at least one.
fn total(name: &Arc<str>, values: &Values, rows: &[usize]) -> Total {
    let (sum, minimum, maximum) = match values {
        Values::U32(values) => unsigned(rows.iter().map(|&row| values[row].into())),
        Values::U64(values) => unsigned(rows.iter().map(|&row| values[row].into())),
        Values::U128(values) => unsigned(rows.iter().map(|&row| values[row])),
        Values::I32(values) => {
            let numbers = || rows.iter().map(|&row| i64::from(values[row]));
            let sum = Sum::Exact(Number::Signed(numbers().sum()));
            (sum, numbers().min().map(Number::Signed), numbers().max().map(Number::Signed))
        }
        Values::F32(values) => {
            let numbers = || rows.iter().map(|&row| values[row]);
            let (minimum, maximum) = (numbers().min_by(f32::total_cmp), numbers().max_by(f32::total_cmp));
            (Sum::None, minimum.map(Number::Real), maximum.map(Number::Real))
        }
        Values::F64(_) => unreachable!("WGSL has no such field"),
    };
    let some = "a class has an LP";
    Total { name: name.clone(), sum, minimum: minimum.expect(some), maximum: maximum.expect(some) }
}

fn unsigned(numbers: impl Iterator<Item = u128> + Clone) -> (Sum, Option<Number>, Option<Number>) {
    let sum = numbers.clone().try_fold(0_u128, u128::checked_add);
    let sum = sum.map_or(Sum::Overflow, |sum| Sum::Exact(Number::Unsigned(sum)));
    (sum, numbers.clone().min().map(Number::Unsigned), numbers.max().map(Number::Unsigned))
}

/// The partial result of the device for a column over some rows: see `struct Partial` in
/// `shaders/pdes/results/totals.wgsl`.
#[derive(Debug, Clone, Copy)]
pub(in crate::pdes) struct Taken {
    pub(in crate::pdes) sum: u128,
    /// Multiples of 2^128.
    pub(in crate::pdes) carry: u64,
    pub(in crate::pdes) minimum: u128,
    pub(in crate::pdes) maximum: u128,
    pub(in crate::pdes) seen: u64,
    pub(in crate::pdes) counted: u64,
}

impl Taken {
    pub(in crate::pdes) const NOTHING: Self =
        Self { sum: 0, carry: 0, minimum: u128::MAX, maximum: 0, seen: 0, counted: 0 };

    pub(in crate::pdes) fn merge(&mut self, other: &Self) {
        let (sum, over) = self.sum.overflowing_add(other.sum);
        self.sum = sum;
        self.carry += other.carry + u64::from(over);
        self.minimum = self.minimum.min(other.minimum);
        self.maximum = self.maximum.max(other.maximum);
        self.seen += other.seen;
        self.counted += other.counted;
    }

    /// The total of a column of this kind.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the partial result of a word fits a word, and its sum over LPs fits 64 bits"
    )]
    fn total(&self, name: &Arc<str>, kind: FieldKind) -> Total {
        let word = |key: u128| key as u32;
        let (sum, value): (_, &dyn Fn(u128) -> Number) = match kind {
            FieldKind::I32 => {
                let sum = (self.sum as u64).cast_signed() - (self.seen << 31).cast_signed();
                (Sum::Exact(Number::Signed(sum)), &|key| {
                    Number::Signed((word(key) ^ 1 << 31).cast_signed().into())
                })
            }
            FieldKind::F32 => (Sum::None, &|key| {
                let bits = if word(key) >> 31 == 1 { word(key) ^ 1 << 31 } else { !word(key) };
                Number::Real(f32::from_bits(bits))
            }),
            _ if self.carry > 0 => (Sum::Overflow, &Number::Unsigned),
            _ => (Sum::Exact(Number::Unsigned(self.sum)), &Number::Unsigned),
        };
        Total { name: name.clone(), sum, minimum: value(self.minimum), maximum: value(self.maximum) }
    }
}

impl Totals {
    /// Builds the totals from the device's partial results, by class, and then by column and by
    /// tally.
    pub(in crate::pdes) fn of(
        at: Ticks,
        columns: &Columns,
        found: &BTreeMap<Option<u32>, Vec<Taken>>,
    ) -> Self {
        let of = |class, taken: &[Taken]| {
            let (plain, tallies) = taken.split_at(columns.fields.len());
            let named = columns.names.iter().zip(&columns.fields).zip(plain);
            let smallest = columns.tallies.iter().zip(tallies).map(|(tally, taken)| {
                let smallest = u64::try_from(taken.minimum).ok().filter(|_| taken.counted > 0);
                (tally.name.clone(), smallest)
            });
            ClassTotals {
                class,
                lps: plain.first().map_or(0, |taken| taken.seen),
                columns: named.map(|((name, field), taken)| taken.total(name, field.kind)).collect(),
                smallest: smallest.collect(),
            }
        };
        let mut all = vec![Taken::NOTHING; columns.fields.len() + columns.tallies.len()];
        for taken in found.values() {
            all.iter_mut().zip(taken).for_each(|(all, taken)| all.merge(taken));
        }
        let classes = found.iter().filter(|(class, _)| class.is_some());
        Self { at, all: of(None, &all), classes: classes.map(|(&class, taken)| of(class, taken)).collect() }
    }
}
