//! Results LP by LP: rows, columns named by reflection of the WGSL `struct Output`, and their
//! tables.

use std::fmt::{self, Write as _};
use std::io;
use std::sync::Arc;

use bytemuck::Pod;
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};

use crate::columns::values;
use crate::gpu::{Field, FieldKind, StructLayout, values_of};
use crate::statistics::{Column, Values};
use crate::text::write_csv;
use crate::time::Ticks;

use super::error::SimulationError;

/// A value of a column, or the sum, minimum or maximum of a column.
///
/// Its text has all digits. In JSON it is a number, or a text if JSON has no such number (NaN,
/// infinities).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Of a column of `u32`, `vec2<u32>` (64 bits) or `vec4<u32>` (128 bits).
    Unsigned(u128),
    /// Of a column of `i32`.
    Signed(i64),
    /// Of a column of `f32`.
    Real(f32),
}

impl Number {
    /// The integer; `None` for a negative number or a [`Number::Real`].
    pub fn unsigned(self) -> Option<u128> {
        match self {
            Self::Unsigned(value) => Some(value),
            Self::Signed(value) => value.try_into().ok(),
            Self::Real(_) => None,
        }
    }

    /// The nearest `f64`: for ratios.
    #[expect(clippy::cast_precision_loss, reason = "documented above")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Unsigned(value) => value as f64,
            Self::Signed(value) => value as f64,
            Self::Real(value) => value.into(),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(value) => value.fmt(f),
            Self::Signed(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Unsigned(value) => match u64::try_from(value) {
                Ok(value) => serializer.serialize_u64(value),
                Err(_) => serializer.serialize_u128(value),
            },
            Self::Signed(value) => serializer.serialize_i64(value),
            Self::Real(value) if value.is_finite() => serializer.serialize_f32(value),
            Self::Real(value) => serializer.collect_str(&value),
        }
    }
}

/// The columns of a model's `struct Output`: its fields, down to single numbers.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pdes) struct Columns {
    pub(in crate::pdes) fields: Vec<Field>,
    /// By field.
    pub(in crate::pdes) names: Vec<Arc<str>>,
    /// Bytes of an output.
    pub(in crate::pdes) bytes: u32,
    /// The fields that come from the library's [`Tally`](crate::statistics::Tally), by its name.
    pub(in crate::pdes) tallies: Vec<Tallied>,
}

/// A tally, by the indices of two of its columns.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pdes) struct Tallied {
    pub(in crate::pdes) name: Arc<str>,
    pub(in crate::pdes) minimum: usize,
    pub(in crate::pdes) count: usize,
}

/// The fields of `struct Tally` in `shaders/statistics/tally.wgsl`.
const TALLY: [(&str, FieldKind); 6] = [
    ("sum", FieldKind::U128),
    ("squares", FieldKind::U128),
    ("minimum", FieldKind::U64),
    ("maximum", FieldKind::U64),
    ("count", FieldKind::U64),
    ("since", FieldKind::U64),
];

impl Columns {
    /// The columns of a layout without padding, or the name of a field that cannot be a column.
    pub(in crate::pdes) fn new(layout: &StructLayout) -> Result<Self, String> {
        let fields = layout.columns().to_vec();
        if let Some(field) = fields.iter().find(|field| field.kind == FieldKind::Other) {
            return Err(field.name.clone());
        }
        let tally = |(first, fields): (usize, &[Field])| {
            let name = fields[0].name.strip_suffix(".sum")?;
            let all = fields.iter().zip(TALLY).all(|(field, (part, kind))| {
                field.kind == kind
                    && field.name.strip_prefix(name).is_some_and(|rest| rest.strip_prefix('.') == Some(part))
            });
            all.then(|| Tallied { name: name.into(), minimum: first + 2, count: first + 4 })
        };
        let tallies = fields.windows(TALLY.len()).enumerate().filter_map(tally).collect();
        let names = fields.iter().map(|field| field.name.as_str().into()).collect();
        Ok(Self { fields, names, bytes: layout.bytes, tallies })
    }

    /// The number of values of type `O` in an output.
    pub(in crate::pdes) fn values<O: 'static>(&self) -> u64 {
        values_of::<O>(self.bytes).expect("its size was checked") as u64
    }

    /// The index of the column called `name`.
    pub(in crate::pdes) fn find(&self, name: &str) -> Result<usize, SimulationError> {
        self.names.iter().position(|known| &**known == name).ok_or_else(|| unknown(name, &self.names))
    }

    /// The index of a column that can hold the class of an LP.
    pub(in crate::pdes) fn class(&self, name: &str) -> Result<usize, SimulationError> {
        let number = self.find(name)?;
        match self.fields[number].kind {
            FieldKind::U32 => Ok(number),
            _ => Err(SimulationError::Classes { column: name.to_owned() }),
        }
    }
}

pub(in crate::pdes) fn unknown(name: &str, known: &[Arc<str>]) -> SimulationError {
    SimulationError::NoColumn { name: name.to_owned(), known: known.join(", ") }
}

/// The outputs of all LPs of a model at a time:
/// [`Simulation::outputs`](crate::pdes::Simulation::outputs).
///
/// The columns are the fields of the WGSL `struct Output`, in their order: `u32`, `i32`, `f32`,
/// `vec2<u32>` as a 64-bit number and `vec4<u32>` as a 128-bit number. The fields of a nested
/// struct are columns called `name.field`: a `wait: Tally` has the columns `wait.sum`,
/// `wait.squares`, `wait.minimum`, `wait.maximum`, `wait.count` and `wait.since`. The elements of
/// an array are columns, too: `bins[0]`, `bins[1]` and so on.
///
/// [`Display`](fmt::Display) prints a table of the first 20 LPs.
#[derive(Clone, PartialEq)]
pub struct Outputs<O> {
    pub(in crate::pdes) at: Ticks,
    pub(in crate::pdes) first_lp: u32,
    pub(in crate::pdes) rows: Vec<O>,
    pub(in crate::pdes) columns: Arc<Columns>,
}

/// The number of rows in the printed table.
const SHOWN: usize = 20;

impl<O: Pod> Outputs<O> {
    /// The time of the results.
    pub fn at(&self) -> Ticks {
        self.at
    }

    /// The outputs, by LP. (For a model that is loaded at run time: all words of an LP, then those
    /// of the next LP.)
    pub fn rows(&self) -> &[O] {
        &self.rows
    }

    /// The number of LPs.
    pub(in crate::pdes) fn len(&self) -> usize {
        size_of_val(&*self.rows) / self.columns.bytes as usize
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.names.iter().map(|name| &**name)
    }

    /// The column called `name`, with a value for each LP.
    ///
    /// # Errors
    /// [`SimulationError::NoColumn`].
    pub fn column(&self, name: &str) -> Result<Column, SimulationError> {
        Ok(Column { name: name.to_owned(), values: self.values(self.columns.find(name)?) })
    }

    /// All columns, in order, with a value for each LP.
    pub fn columns(&self) -> Vec<Column> {
        let column =
            |(number, name): (usize, &str)| Column { name: name.to_owned(), values: self.values(number) };
        self.names().enumerate().map(column).collect()
    }

    pub(in crate::pdes) fn values(&self, number: usize) -> Values {
        let (field, stride) = (&self.columns.fields[number], self.columns.bytes as usize);
        let values = values(field, bytemuck::cast_slice(&self.rows), stride, self.len());
        values.expect("fields that are not numbers were refused")
    }

    /// Writes a header and a line for each LP: `lp`, then the columns.
    ///
    /// # Errors
    /// [`SimulationError::Write`].
    pub fn to_csv(&self, file: impl io::Write) -> Result<(), SimulationError> {
        write_csv(file, |writer| {
            writer.write_record(std::iter::once("lp").chain(self.names()))?;
            let columns = self.columns();
            for (lp, row) in (self.first_lp..).zip(0..self.len()) {
                writer.write_field(lp.to_string())?;
                for column in &columns {
                    writer.write_field(number(&column.values, row).to_string())?;
                }
                writer.write_record(None::<&[u8]>)?;
            }
            Ok(())
        })
        .map_err(SimulationError::Write)
    }

    /// Indented JSON: `at` in ticks, and in `outputs` an object for each LP, with `lp` and the
    /// columns. Numbers have all their digits; readers that convert every number to `f64` lose
    /// digits beyond 2^53.
    ///
    /// # Panics
    /// Never: all keys are text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text keys")
    }
}

/// The value of a row.
fn number(values: &Values, row: usize) -> Number {
    match values {
        Values::U32(values) => Number::Unsigned(values[row].into()),
        Values::I32(values) => Number::Signed(values[row].into()),
        Values::U64(values) => Number::Unsigned(values[row].into()),
        Values::U128(values) => Number::Unsigned(values[row]),
        Values::F32(values) => Number::Real(values[row]),
        Values::F64(_) => unreachable!("WGSL has no such field"),
    }
}

impl<O: Pod> Serialize for Outputs<O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Rows<'a>(u32, usize, &'a [Column]);
        struct Row<'a>(u32, usize, &'a [Column]);
        impl Serialize for Rows<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut rows = serializer.serialize_seq(Some(self.1))?;
                for (lp, row) in (self.0..).zip(0..self.1) {
                    rows.serialize_element(&Row(lp, row, self.2))?;
                }
                rows.end()
            }
        }
        impl Serialize for Row<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut row = serializer.serialize_map(Some(1 + self.2.len()))?;
                row.serialize_entry("lp", &self.0)?;
                for column in self.2 {
                    row.serialize_entry(&column.name, &number(&column.values, self.1))?;
                }
                row.end()
            }
        }
        let mut all = serializer.serialize_struct("Outputs", 2)?;
        all.serialize_field("at", &self.at.get())?;
        all.serialize_field("outputs", &Rows(self.first_lp, self.len(), &self.columns()))?;
        all.end()
    }
}

impl<O: Pod> fmt::Display for Outputs<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.len().min(SHOWN);
        let values = self.rows.len() / self.len().max(1);
        let first =
            Self { rows: self.rows[..shown * values].to_vec(), columns: self.columns.clone(), ..*self };
        let columns = first.columns();
        let mut table = vec![std::iter::once("lp").chain(self.names()).map(String::from).collect::<Vec<_>>()];
        for (lp, row) in (self.first_lp..).zip(0..shown) {
            let numbers = columns.iter().map(|column| number(&column.values, row).to_string());
            table.push(std::iter::once(lp.to_string()).chain(numbers).collect());
        }
        print(f, &table, |_| false)?;
        match self.len() - shown {
            0 => Ok(()),
            more => writeln!(f, "and {more} more LPs"),
        }
    }
}

impl<O> fmt::Debug for Outputs<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs")
            .field("at", &self.at)
            .field("values", &self.rows.len())
            .field("columns", &self.columns.names)
            .finish_non_exhaustive()
    }
}

/// Prints rows of cells in columns, aligned to the left if `left` returns true for the column, else
/// to the right.
pub(in crate::pdes) fn print(
    f: &mut fmt::Formatter<'_>,
    table: &[Vec<String>],
    left: impl Fn(usize) -> bool,
) -> fmt::Result {
    let columns = table.first().map_or(0, Vec::len);
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    for row in table {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if column > 0 {
                line.push_str("  ");
            }
            match left(column) {
                true => write!(line, "{cell:<width$}")?,
                false => write!(line, "{cell:>width$}")?,
            }
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
