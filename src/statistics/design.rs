//! Tables of parameter points: full factorial designs, or rows of a CSV file.

use super::AnalysisError;
use super::error::Result;
use crate::text::{csv_error, quoted, write_csv};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::{fmt, io};

/// A level of a factor, before the type of the parameter is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Real(f64),
    /// A name, such as that of a discipline: only in descriptions of networks.
    Name(Name),
}

/// A name as a level. It stays in memory until the program ends, so that levels can be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name(&'static str);

impl From<&str> for Value {
    fn from(name: &str) -> Self {
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        Value::Name(Name(match names.get(name) {
            Some(known) => known,
            None => {
                let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
                names.insert(kept);
                kept
            }
        }))
    }
}

macro_rules! value_from {
    ($variant:ident, $wide:ty: $($narrow:ty),*) => {$(
        impl From<$narrow> for Value {
            fn from(value: $narrow) -> Self {
                Value::$variant(<$wide>::from(value))
            }
        }
    )*};
}
value_from!(Integer, i128: u32, i32, u64, i64);
value_from!(Real, f64: f32, f64);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(value) => value.fmt(f),
            Value::Real(value) => value.fmt(f),
            Value::Name(Name(name)) => f.write_str(name),
        }
    }
}

impl serde::Serialize for Value {
    #[allow(clippy::cast_precision_loss, reason = "beyond 64 bits, where JSON readers round as well")]
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match *self {
            Value::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => serializer.serialize_i64(value),
                (_, Ok(value)) => serializer.serialize_u64(value),
                _ => serializer.serialize_f64(value as f64),
            },
            Value::Real(value) => serializer.serialize_f64(value),
            Value::Name(Name(name)) => serializer.serialize_str(name),
        }
    }
}

impl Value {
    /// Parses a number: `12`, `-3`, `0.8`, `1e6`.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().map(Value::Integer).or_else(|_| text.parse().map(Value::Real)).ok()
    }

    /// The number, rounded to `f64` if it is an integer beyond 2^53; NaN for a name.
    #[expect(clippy::cast_precision_loss, reason = "said above")]
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Integer(value) => value as f64,
            Value::Real(value) => value,
            Value::Name(_) => f64::NAN,
        }
    }

    /// The integer value, in whatever form it was written (`1e6` is one); otherwise `None`.
    #[allow(clippy::cast_possible_truncation, reason = "whole, and below the range of i128")]
    pub fn whole(self) -> Option<i128> {
        match self {
            Value::Integer(value) => Some(value),
            Value::Real(value) => (value.fract() == 0.0 && value.abs() < 1e38).then_some(value as i128),
            Value::Name(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Levels {
    levels: Vec<Value>,
    /// Line of the CSV file, from 1.
    line: Option<u64>,
}

/// A table of parameter points: named factors, and for each point a level of each.
///
/// [`Design::default`] is one point without factors (all parameters at their defaults). Each
/// [`cross`](Design::cross) multiplies it by the levels of one more factor, which gives a full
/// factorial design:
///
/// ```
/// use eventhorizon::statistics::Design;
///
/// let design = Design::default().cross("clients", [100, 1000])?.cross("load", [0.5, 0.8, 0.9])?;
/// assert_eq!(design.len(), 6);
/// // The first factor varies slowest, the last one fastest, as in nested loops.
/// assert_eq!(design.describe(1), "clients=100 load=0.8");
/// assert_eq!(design.describe(3), "clients=1000 load=0.5");
/// # Ok::<(), eventhorizon::statistics::AnalysisError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    factors: Vec<String>,
    points: Vec<Levels>,
}

impl Default for Design {
    fn default() -> Self {
        Self { factors: Vec::new(), points: vec![Levels { levels: Vec::new(), line: None }] }
    }
}

impl Design {
    /// Combines every point with every one of these levels. Points of one old point stay together,
    /// in the order of the levels.
    pub fn cross<V: Into<Value>>(self, factor: &str, levels: impl IntoIterator<Item = V>) -> Result<Self> {
        self.cross_values(factor, levels.into_iter().map(Into::into))
    }

    /// [`cross`](Self::cross) for levels of several types.
    ///
    /// # Errors
    /// As [`cross`](Self::cross).
    pub fn cross_values(mut self, factor: &str, levels: impl IntoIterator<Item = Value>) -> Result<Self> {
        let levels: Vec<Value> = levels.into_iter().collect();
        if levels.is_empty() {
            return Err(AnalysisError::NoLevels { factor: quoted(factor) });
        }
        check_count(self.points.len() as u128 * levels.len() as u128)?;
        self.name_factor(factor)?;
        let points = self.points.iter().flat_map(|point| {
            levels.iter().map(|&level| {
                let mut point = point.clone();
                point.levels.push(level);
                point
            })
        });
        self.points = points.collect();
        Ok(self)
    }

    /// Gives each point a level of one more factor, in the order of the points: a paired design.
    /// The first factor of a design makes its points.
    ///
    /// ```
    /// use eventhorizon::statistics::Design;
    ///
    /// let design = Design::default().pair("servers", [2, 3])?.pair("speed", [1.5, 1.0])?;
    /// assert_eq!((design.len(), design.describe(1)), (2, "servers=3 speed=1".to_owned()));
    /// # Ok::<(), eventhorizon::statistics::AnalysisError>(())
    /// ```
    pub fn pair<V: Into<Value>>(self, factor: &str, levels: impl IntoIterator<Item = V>) -> Result<Self> {
        self.pair_values(factor, levels.into_iter().map(Into::into))
    }

    /// [`pair`](Self::pair) for levels of several types.
    ///
    /// # Errors
    /// As [`pair`](Self::pair).
    pub fn pair_values(mut self, factor: &str, levels: impl IntoIterator<Item = Value>) -> Result<Self> {
        if self.factors.is_empty() {
            return self.cross_values(factor, levels);
        }
        let levels: Vec<Value> = levels.into_iter().collect();
        if levels.len() != self.points.len() {
            return Err(AnalysisError::Setting {
                what: "the number of values in a paired design",
                value: format!(
                    "{} of `{}` and {} of `{}`",
                    self.points.len(),
                    quoted(&self.factors[0]),
                    levels.len(),
                    quoted(factor)
                ),
                remedy: "give each factor as many values",
            });
        }
        self.name_factor(factor)?;
        self.points.iter_mut().zip(levels).for_each(|(point, level)| point.levels.push(level));
        Ok(self)
    }

    /// The levels of a factor, by point.
    pub fn column(&self, factor: &str) -> Option<Vec<Value>> {
        let place = self.factors.iter().position(|name| name == factor)?;
        Some(self.points.iter().map(|point| point.levels[place]).collect())
    }

    /// The rows of a CSV file: a header of factor names, then one row of numbers per point. Blank
    /// lines and spaces around values are ignored.
    pub fn from_csv(file: impl io::Read) -> Result<Self> {
        Self::read(file, Value::parse)
    }

    /// The same, with names where there are no numbers.
    ///
    /// # Errors
    /// As [`from_csv`](Self::from_csv).
    pub fn from_csv_with_names(file: impl io::Read) -> Result<Self> {
        Self::read(file, |text| Value::parse(text).or_else(|| (!text.is_empty()).then(|| text.into())))
    }

    fn read(file: impl io::Read, value_of: impl Fn(&str) -> Option<Value>) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
        let mut design = Self { factors: Vec::new(), points: Vec::new() };
        let wrong = |error: csv::Error| AnalysisError::Csv(csv_error(error));
        for factor in reader.headers().map_err(wrong)?.clone().iter() {
            design.name_factor(factor)?;
        }
        for record in reader.records() {
            let record = record.map_err(wrong)?;
            let line = record.position().map(csv::Position::line);
            let place = || place(design.points.len(), line);
            let levels = record.iter().zip(&design.factors).map(|(text, factor)| {
                value_of(text).ok_or_else(|| AnalysisError::Value {
                    place: place(),
                    factor: quoted(factor),
                    value: format!("`{}`", quoted(text)),
                    reason: "which is not a number",
                })
            });
            let levels = levels.collect::<Result<_>>()?;
            design.points.push(Levels { levels, line });
            check_count(design.points.len() as u128)?;
        }
        if design.points.is_empty() {
            return Err(AnalysisError::NoPoints);
        }
        Ok(design)
    }

    /// Writes the table as [`from_csv`](Self::from_csv) reads it.
    pub fn to_csv(&self, file: impl io::Write) -> Result<()> {
        write_csv(file, |writer| {
            writer.write_record(&self.factors)?;
            for point in &self.points {
                writer.write_record(point.levels.iter().map(Value::to_string))?;
            }
            Ok(())
        })
        .map_err(AnalysisError::Write)
    }

    /// Some of the points, in this order.
    pub(super) fn only(&self, points: &[usize]) -> Self {
        let points = points.iter().map(|&point| self.points[point].clone()).collect();
        Self { factors: self.factors.clone(), points }
    }

    /// The numbers here of the points of `some`, which has them in the same order.
    ///
    /// # Panics
    /// If it has other points.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn numbers_of(&self, some: &Self) -> Vec<usize> {
        let mut numbers = 0..self.len();
        let place = |point| numbers.find(|&number| self.levels(number) == some.levels(point));
        (0..some.len()).map(place).map(|number| number.expect("points of the design")).collect()
    }

    fn name_factor(&mut self, factor: &str) -> Result<()> {
        if self.factors.iter().any(|f| f == factor) {
            return Err(AnalysisError::RepeatedFactor { factor: quoted(factor) });
        }
        self.factors.push(factor.into());
        Ok(())
    }

    /// Number of points, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "a design is never empty")]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Names of the factors, in order.
    pub fn factors(&self) -> &[String] {
        &self.factors
    }

    /// The levels of a point, in the order of the factors.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn levels(&self, point: usize) -> &[Value] {
        &self.points[point].levels
    }

    /// A point, with the names of its factors.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn point(&self, number: usize) -> Point<'_> {
        assert!(number < self.len(), "point {number} of {}", self.len());
        Point { design: self, number }
    }

    /// A readable form of a point: `load=0.8 servers=2`; empty without factors.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn describe(&self, point: usize) -> String {
        let levels = self.factors.iter().zip(self.levels(point));
        levels.map(|(factor, level)| format!("{factor}={level}")).collect::<Vec<_>>().join(" ")
    }

    /// A point in error messages: its number from 0, and its line in the file.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn place(&self, point: usize) -> String {
        place(point, self.points[point].line)
    }
}

fn check_count(points: u128) -> Result<()> {
    if points > u32::MAX.into() { Err(AnalysisError::TooManyPoints { points }) } else { Ok(()) }
}

fn place(point: usize, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("point {point} (line {line})"),
        None => format!("point {point}"),
    }
}

/// A point of a [`Design`]: a level of each factor, by name.
#[derive(Debug, Clone, Copy)]
pub struct Point<'d> {
    design: &'d Design,
    number: usize,
}

impl Point<'_> {
    /// Its number in the design.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The level of a factor; `None` if there is no such factor.
    pub fn level(&self, factor: &str) -> Option<Value> {
        let place = self.design.factors().iter().position(|name| name == factor)?;
        Some(self.design.levels(self.number)[place])
    }

    /// The level of a factor, or `otherwise` if there is no such factor.
    pub fn real(&self, factor: &str, otherwise: f64) -> f64 {
        self.level(factor).map_or(otherwise, Value::as_f64)
    }

    /// The level of a factor as an integer of 32 bits, or `otherwise` if there is no such factor.
    ///
    /// # Errors
    /// [`AnalysisError::Value`] for any other number.
    pub fn whole(&self, factor: &str, otherwise: u32) -> Result<u32> {
        let Some(level) = self.level(factor) else { return Ok(otherwise) };
        let whole = level.whole().and_then(|value| u32::try_from(value).ok());
        whole.ok_or_else(|| AnalysisError::Value {
            place: self.design.place(self.number),
            factor: quoted(factor),
            value: level.to_string(),
            reason: "is not a whole number from 0 to 4294967295",
        })
    }
}
