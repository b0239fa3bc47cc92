//! Tables of parameter points: full factorial, or rows of a CSV file, packed to the bytes of a WGSL struct.

use super::AnalysisError;
use super::analysis_error::Result;
use crate::gpu::{Field, FieldKind, StructLayout};
use std::{fmt, io};

/// A level of a factor, before it is known which type the parameter has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Real(f64),
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
        }
    }
}

impl Value {
    /// Reads a number as people write it: `12`, `-3`, `0.8`, `1e6`.
    fn parse(text: &str) -> Option<Self> {
        text.parse().map(Value::Integer).or_else(|_| text.parse().map(Value::Real)).ok()
    }

    /// The whole number that this is, however it was written (`1e6` is one).
    #[allow(clippy::cast_possible_truncation, reason = "whole, and below the range of i128")]
    fn whole(self) -> Option<i128> {
        match self {
            Value::Integer(value) => Some(value),
            Value::Real(value) => (value.fract() == 0.0 && value.abs() < 1e38).then_some(value as i128),
        }
    }

    /// Writes the value in the type of a parameter, or says why it cannot be.
    fn pack(self, kind: FieldKind, bytes: &mut [u8]) -> std::result::Result<(), &'static str> {
        let whole = |reason| self.whole().ok_or(reason);
        match kind {
            FieldKind::U32 => {
                let reason = "and the parameter is a u32: a whole number from 0 to 4294967295";
                let value = u32::try_from(whole(reason)?).map_err(|_| reason)?;
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            FieldKind::I32 => {
                let reason = "and the parameter is an i32: a whole number from -2147483648 to 2147483647";
                let value = i32::try_from(whole(reason)?).map_err(|_| reason)?;
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            FieldKind::U64 => {
                let reason =
                    "and the parameter is a 64-bit count: a whole number from 0 to 18446744073709551615";
                let value = u64::try_from(whole(reason)?).map_err(|_| reason)?;
                // Low word first, and little-endian words: the bytes of the u64.
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            FieldKind::F32 => {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_precision_loss,
                    reason = "rounded to nearest"
                )]
                let (value, zero) = match self {
                    Value::Integer(value) => (value as f32, value == 0),
                    Value::Real(value) => (value as f32, value == 0.0),
                };
                if !value.is_finite() || (value == 0.0 && !zero) {
                    return Err("and the parameter is an f32: 0, or a number of magnitude 1e-45 to 3.4e38");
                }
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            FieldKind::Other => unreachable!("refused before any value is packed"),
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Point {
    levels: Vec<Value>,
    /// Line of the CSV file, from 1.
    line: Option<u64>,
}

/// A table of parameter points: named factors, and for each point a level of each.
///
/// [`Design::default`] is one point without a factor (all parameters at their defaults); each
/// [`cross`](Design::cross) multiplies it by the levels of one more factor, which gives a full factorial
/// design:
///
/// ```
/// use eventhorizon::replication::Design;
///
/// let design = Design::default().cross("clients", [100, 1000])?.cross("load", [0.5, 0.8, 0.9])?;
/// assert_eq!(design.len(), 6);
/// // The first factor varies slowest, the last one fastest, as in nested loops.
/// assert_eq!(design.describe(1), "clients=100 load=0.8");
/// assert_eq!(design.describe(3), "clients=1000 load=0.5");
/// # Ok::<(), eventhorizon::replication::AnalysisError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    factors: Vec<String>,
    points: Vec<Point>,
}

impl Default for Design {
    fn default() -> Self {
        Self { factors: Vec::new(), points: vec![Point { levels: Vec::new(), line: None }] }
    }
}

impl Design {
    /// Every point so far, with every one of these levels. Points of one old point stay together, in the
    /// order of the levels.
    pub fn cross<V: Into<Value>>(
        mut self,
        factor: &str,
        levels: impl IntoIterator<Item = V>,
    ) -> Result<Self> {
        let levels: Vec<Value> = levels.into_iter().map(Into::into).collect();
        if levels.is_empty() {
            return Err(AnalysisError::NoLevels { factor: factor.into() });
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

    /// The rows of a CSV file: a header of factor names, then one row of numbers per point. Blank lines
    /// are skipped and spaces around a value do not count.
    pub fn from_csv(file: impl io::Read) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
        let mut design = Self { factors: Vec::new(), points: Vec::new() };
        for factor in reader.headers()?.clone().iter() {
            design.name_factor(factor)?;
        }
        for record in reader.records() {
            let record = record?;
            let line = record.position().map(csv::Position::line);
            let place = || place(design.points.len(), line);
            let levels = record.iter().zip(&design.factors).map(|(text, factor)| {
                Value::parse(text).ok_or_else(|| AnalysisError::Value {
                    place: place(),
                    factor: factor.clone(),
                    value: format!("`{text}`"),
                    reason: "which is not a number",
                })
            });
            let levels = levels.collect::<Result<_>>()?;
            design.points.push(Point { levels, line });
            check_count(design.points.len() as u128)?;
        }
        if design.points.is_empty() {
            return Err(AnalysisError::NoPoints);
        }
        Ok(design)
    }

    /// Writes the table as [`from_csv`](Self::from_csv) reads it.
    pub fn to_csv(&self, file: impl io::Write) -> Result<()> {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(&self.factors)?;
        for point in &self.points {
            writer.write_record(point.levels.iter().map(Value::to_string))?;
        }
        writer.flush().map_err(csv::Error::from)?;
        Ok(())
    }

    fn name_factor(&mut self, factor: &str) -> Result<()> {
        if self.factors.iter().any(|f| f == factor) {
            return Err(AnalysisError::RepeatedFactor { factor: factor.into() });
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

    /// A point for people: `load=0.8 servers=2`; empty without a factor.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn describe(&self, point: usize) -> String {
        let levels = self.factors.iter().zip(self.levels(point));
        levels.map(|(factor, level)| format!("{factor}={level}")).collect::<Vec<_>>().join(" ")
    }

    /// The parameter structs of all points, one after the other as a WGSL `array<Params>` holds them.
    ///
    /// `layout` is that of the struct. Each factor sets the field of its name. The other fields keep their
    /// bytes of `defaults`, one struct (such as `bytemuck::bytes_of(&params)`); without defaults, every field
    /// must be a factor. A u32, i32 or 64-bit field takes whole numbers in its range, an f32 field any number
    /// in its range, rounded to nearest.
    pub fn pack(&self, layout: &StructLayout, defaults: Option<&[u8]>) -> Result<Vec<u8>> {
        let stride = layout.bytes as usize;
        if let Some(got) = defaults.map(<[u8]>::len).filter(|&got| got != stride) {
            return Err(AnalysisError::DefaultBytes { got, expected: layout.bytes });
        }
        if defaults.is_none()
            && let Some(field) = layout.fields.iter().find(|field| !self.factors.contains(&field.name))
        {
            let field = field.name.clone();
            return Err(AnalysisError::MissingFactor { field });
        }
        let fields = self.factors.iter().map(|factor| find(layout, factor)).collect::<Result<Vec<_>>>()?;
        let one = defaults.map_or_else(|| vec![0; stride], <[u8]>::to_vec);
        let mut bytes = one.repeat(self.points.len());
        for (index, (point, bytes)) in self.points.iter().zip(bytes.chunks_exact_mut(stride)).enumerate() {
            for (field, &level) in fields.iter().zip(&point.levels) {
                let slot = &mut bytes[field.offset as usize..][..field.bytes as usize];
                level.pack(field.kind, slot).map_err(|reason| AnalysisError::Value {
                    place: place(index, point.line),
                    factor: field.name.clone(),
                    value: level.to_string(),
                    reason,
                })?;
            }
        }
        Ok(bytes)
    }
}

fn find<'a>(layout: &'a StructLayout, factor: &str) -> Result<&'a Field> {
    let field = layout.fields.iter().find(|field| field.name == factor);
    let field = field.ok_or_else(|| AnalysisError::UnknownFactor {
        factor: factor.into(),
        known: layout.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
    })?;
    if field.kind == FieldKind::Other {
        return Err(AnalysisError::FactorType { field: factor.into() });
    }
    Ok(field)
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
