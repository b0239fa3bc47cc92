//! Distributions of data: lists of times, and columns of CSV files.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::tails::weights;

/// Times of a [`Distribution::Empirical`](super::Distribution::Empirical).
///
/// In a file `"times.csv"`, `[1.0, 2.5]`, or `{ file = "times.csv", column = "service",
/// interpolated = true }` with `values` instead of `file`. It is written with its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Samples {
    /// The times in increasing order.
    values: Vec<f64>,
    /// Whether times between neighbours occur, too.
    interpolated: bool,
}

/// Times of a [`Distribution::Discrete`](super::Distribution::Discrete).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// The times.
    pub values: Vec<f64>,
    /// A weight for each: probabilities are in proportion to weights.
    pub weights: Vec<f64>,
}

/// As files say it.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected the name of a CSV file, a list of times, or a table with `file` or `values`"
)]
enum Written {
    File(String),
    Values(Vec<f64>),
    Long(Long),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    file: Option<String>,
    column: Option<String>,
    values: Option<Vec<f64>>,
    #[serde(default)]
    interpolated: bool,
}

impl TryFrom<Written> for Samples {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let long = |file, values| Long { file, column: None, values, interpolated: false };
        let written = match written {
            Written::File(name) => long(Some(name), None),
            Written::Values(values) => long(None, Some(values)),
            Written::Long(long) => long,
        };
        let values = match (written.file, written.values) {
            (Some(name), None) => read(&name, written.column.as_deref())?,
            (None, Some(values)) if written.column.is_none() => values,
            _ => return Err("it has either `file`, maybe with `column`, or `values`".to_owned()),
        };
        Ok(Self::of(values, written.interpolated))
    }
}

/// Most times of a distribution: each takes 16 bytes of a device's memory, or 32 interpolated.
const MOST: usize = 1 << 20;
/// Most names of columns in an error.
const MOST_NAMES: usize = 20;
/// Bytes of a file.
const MOST_BYTES: u64 = 256 << 20;

thread_local! {
    /// Where files of data are.
    static FOLDER: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Runs a reader of descriptions, which may then name files of data, relative to a folder.
///
/// ```no_run
/// use std::path::Path;
/// use eventhorizon::facility::{Network, in_folder};
///
/// let text = std::fs::read_to_string("models/clinic.toml")?;
/// let clinic = in_folder(Path::new("models"), || Network::from_toml(&text))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn in_folder<T>(folder: &Path, read: impl FnOnce() -> T) -> T {
    struct Restore(Option<PathBuf>);
    impl Drop for Restore {
        fn drop(&mut self) {
            FOLDER.set(self.0.take());
        }
    }
    let _restore = Restore(FOLDER.replace(Some(folder.to_owned())));
    read()
}

/// The text of a file of data.
pub(crate) fn read_text(name: &str) -> Result<String, String> {
    let Some(folder) = FOLDER.with_borrow(Clone::clone) else {
        return Err(format!(
            "a text in memory names no files, and this one names `{name}`; write the numbers"
        ));
    };
    crate::text::read(&folder.join(name), MOST_BYTES).map_err(|error| format!("{name}: {error}"))
}

/// A column of a CSV file, or the only one.
fn read(name: &str, column: Option<&str>) -> Result<Vec<f64>, String> {
    self::column(&read_text(name)?, column).map_err(|reason| format!("{name}{reason}"))
}

/// A column of numbers of a text in CSV. An error begins with the line, if it has one.
pub(crate) fn column(text: &str, column: Option<&str>) -> Result<Vec<f64>, String> {
    Ok(column_with_lines(text, column)?.into_iter().map(|(_, value)| value).collect())
}

/// The same with the line of each number.
pub(crate) fn column_with_lines(text: &str, column: Option<&str>) -> Result<Vec<(u64, f64)>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let mut at = None;
    let mut values = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            format!(", line {}: {error}", error.position().map_or(0, csv::Position::line))
        })?;
        let line = record.position().map_or(0, |position| line_of(text, position));
        let place = match at {
            Some(place) => place,
            None => {
                let headed = record.iter().any(|cell| cell.parse::<f64>().is_err());
                let place = first_row(&record, column, headed).map_err(|reason| format!(": {reason}"))?;
                at = Some(place);
                if headed {
                    continue;
                }
                place
            }
        };
        let cell = record.get(place).unwrap_or_default();
        let value = cell.parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| {
            let hint = if cell.contains([';', '\t']) { "; columns are separated by commas" } else { "" };
            format!(
                ", line {line}: expected a number, found \"{}\"{hint}",
                crate::text::quoted(cell).escape_debug()
            )
        })?;
        values.push((line, value));
    }
    if values.is_empty() {
        return Err(": it has no numbers".to_owned());
    }
    Ok(values)
}

/// The line of a record. Positions are before the comments and the empty lines in front of it.
fn line_of(text: &str, position: &csv::Position) -> u64 {
    let rest = usize::try_from(position.byte()).ok().and_then(|byte| text.get(byte..)).unwrap_or_default();
    let skipped = rest.lines().take_while(|line| line.is_empty() || line.starts_with('#'));
    position.line() + skipped.count() as u64
}

/// The place of a column by the first row, which may be the names.
fn first_row(row: &csv::StringRecord, column: Option<&str>, headed: bool) -> Result<usize, String> {
    let names = || {
        let shown = |name| format!("`{}`", crate::text::quoted(name).escape_debug());
        let mut names: Vec<_> = row.iter().take(MOST_NAMES).map(shown).collect();
        if row.len() > MOST_NAMES {
            names.push(format!("and {} others", row.len() - MOST_NAMES));
        }
        names.join(", ")
    };
    match column {
        None if row.len() == 1 => Ok(0),
        None if headed => Err(format!("it has the columns {}; name one with `column`", names())),
        None => Err("it has several columns without names; write their names in the first line".to_owned()),
        Some(name) if !headed => {
            Err(format!("its first line has no names, and the column `{name}` is wanted"))
        }
        Some(name) => {
            let mut places = (0..row.len()).filter(|place| row.get(*place) == Some(name));
            match (places.next(), places.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => Err(format!("it has several columns `{name}`; rename all but one")),
                (None, _) => Err(format!("it has no column `{name}`; it has {}", names())),
            }
        }
    }
}

fn check(values: &[f64]) -> Result<(), String> {
    if values.is_empty() || values.len() > MOST {
        return Err(format!("it has {} values; 1 to {MOST} can be drawn", values.len()));
    }
    match values.iter().find(|value| !(value.is_finite() && **value >= 0.0)) {
        Some(value) => Err(format!("it has the value {value}; times are numbers of at least 0")),
        None => Ok(()),
    }
}

fn moment(values: &[f64], power: i32) -> f64 {
    values.iter().map(|value| value.powi(power)).sum::<f64>() / values.len() as f64
}

impl Samples {
    /// Of times in any order. Interpolated ones lie between neighbours in size, with equal
    /// probability between each two.
    pub fn of(mut values: Vec<f64>, interpolated: bool) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Self { values, interpolated }
    }

    /// The times, in increasing order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether times between neighbours occur, too.
    pub fn is_interpolated(&self) -> bool {
        self.interpolated
    }

    pub(super) fn check(&self) -> Result<(), String> {
        check(&self.values)?;
        match self.interpolated && self.values.len() < 2 {
            true => Err("it has one value, which cannot be interpolated".to_owned()),
            false => Ok(()),
        }
    }

    /// Mean and variance.
    pub(super) fn moments(&self) -> [f64; 2] {
        let [mean, square] = match self.interpolated {
            false => [1, 2].map(|power| moment(&self.values, power)),
            true => {
                let pieces = (self.values.len() - 1) as f64;
                let of = |piece: fn(f64, f64) -> f64| {
                    self.values.windows(2).map(|ends| piece(ends[0], ends[1])).sum::<f64>() / pieces
                };
                [of(f64::midpoint), of(|a, b| (a * a + a * b + b * b) / 3.0)]
            }
        };
        [mean, (square - mean * mean).max(0.0)]
    }

    pub(super) fn tails(&self, x: f64) -> [f64; 2] {
        let count = self.values.partition_point(|value| *value <= x);
        let lower = match (self.interpolated, self.values.get(count)) {
            (false, _) => count as f64 / self.values.len() as f64,
            (true, None) => 1.0,
            (true, Some(_)) if count == 0 => 0.0,
            (true, Some(next)) => {
                let last = self.values[count - 1];
                ((count - 1) as f64 + (x - last) / (next - last)) / (self.values.len() - 1) as f64
            }
        };
        [lower, 1.0 - lower]
    }
}

impl Weighted {
    pub(super) fn check(&self) -> Result<(), String> {
        check(&self.values)?;
        match self.values.len() == self.weights.len() {
            true => weights(self.weights.iter().copied()),
            false => Err(format!(
                "it has {} values and {} weights; write a weight for each value",
                self.values.len(),
                self.weights.len()
            )),
        }
    }

    pub(super) fn moment(&self, power: i32) -> f64 {
        self.mean_of(|value| value.powi(power))
    }

    pub(super) fn tails(&self, x: f64) -> [f64; 2] {
        [self.mean_of(|value| f64::from(value <= x)), self.mean_of(|value| f64::from(value > x))]
    }

    fn mean_of(&self, of: impl Fn(f64) -> f64) -> f64 {
        let each = self.values.iter().zip(&self.weights).map(|(value, weight)| weight * of(*value));
        each.sum::<f64>() / self.weights.iter().sum::<f64>()
    }
}
