//! Files: descriptions, and times of entry with attributes in columns.

use std::io::ErrorKind;
use std::path::Path;

use indexmap::IndexMap;

use super::super::error::ProcessError;
use super::super::ir::Place;
use super::keys::{setting, table};
use super::tree::{Node, Tree};
use super::values::numbers;

/// Times, and attributes by name.
type Columns = (Vec<f64>, IndexMap<String, Vec<f64>>);

/// Where files of entries are.
#[derive(Debug, Default)]
pub(in crate::process) struct Traces<'p> {
    /// The folder of the description, if it is a file.
    pub(super) folder: Option<&'p Path>,
}

/// Bytes of a file.
const MOST_BYTES: u64 = 256 << 20;

impl Traces<'_> {
    /// The points of a design: columns of numbers by the names of parameters.
    pub(super) fn points(&self, node: &Node) -> Result<IndexMap<String, Vec<f64>>, ProcessError> {
        match (&node.value, self.folder) {
            (Tree::Text(name), Some(folder)) => file(&folder.join(name)),
            (Tree::Text(_), None) => {
                Err(setting(node, "csv", "a text in memory names no files; write the values as lists"))
            }
            _ => Err(setting(node, "csv", "write the name of a file")),
        }
    }

    /// `[1, 2.5]`, `{ time = [1, 2.5], size = [3, 4] }` or `"arrivals.csv"`.
    pub(super) fn read(&self, node: &Node) -> Result<Columns, ProcessError> {
        let columns = match &node.value {
            Tree::List(_) => return Ok((numbers(node, "times")?, IndexMap::new())),
            Tree::Text(name) => match self.folder {
                Some(folder) => file(&folder.join(name))?,
                None => {
                    let remedy = "a text in memory names no files; write the times as a list";
                    return Err(setting(node, "times", remedy));
                }
            },
            _ => {
                let all = table(node, "times")?.iter();
                let all = all.map(|(name, node)| Ok((name.clone(), numbers(node, name)?)));
                all.collect::<Result<IndexMap<_, _>, ProcessError>>()?
            }
        };
        let mut columns = columns;
        let Some(times) = columns.shift_remove("time") else {
            let (place, what) = (node.place, "`times`".to_owned());
            let remedy = "write a column `time` with the times of entry";
            return Err(ProcessError::Missing { place, what, key: "time", remedy });
        };
        match columns.iter().find(|(_, values)| values.len() != times.len()) {
            None => Ok((times, columns)),
            Some((name, values)) => Err(ProcessError::Setting {
                place: node.place,
                what: format!("the column `{name}`"),
                value: format!("a list of {} for {}", values.len(), crate::text::count(times.len(), "time")),
                remedy: "write a value for each time".to_owned(),
            }),
        }
    }
}

/// The columns of a CSV file with a header.
fn file(path: &Path) -> Result<IndexMap<String, Vec<f64>>, ProcessError> {
    let text = read_file(path, MOST_BYTES)?;
    columns(&text).map_err(|error| error.in_file(path))
}

fn columns(text: &str) -> Result<IndexMap<String, Vec<f64>>, ProcessError> {
    let place = |position: Option<&csv::Position>| Place {
        line: position.map_or(0, |position| u32::try_from(position.line()).unwrap_or(u32::MAX)),
    };
    let wrong = |error: csv::Error| ProcessError::Syntax {
        place: place(error.position()),
        language: "CSV",
        reason: error.to_string(),
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut columns: IndexMap<String, Vec<f64>> = IndexMap::new();
    for name in reader.headers().map_err(wrong)? {
        if columns.insert(name.to_owned(), Vec::new()).is_some() {
            let (place, name) = (Place { line: 1 }, name.to_owned());
            return Err(ProcessError::Repeated { place, name, other: "another column" });
        }
    }
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        for ((name, values), value) in columns.iter_mut().zip(&record) {
            let number = value.parse::<f64>().ok().filter(|value| value.is_finite());
            values.push(number.ok_or_else(|| ProcessError::Setting {
                place: place(record.position()),
                what: format!("`{name}`"),
                value: format!("\"{}\"", crate::text::quoted(value).escape_debug()),
                remedy: "write a number".to_owned(),
            })?);
        }
    }
    Ok(columns)
}

/// A file's text.
pub(super) fn read_file(path: &Path, most: u64) -> Result<String, ProcessError> {
    crate::text::read(path, most).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => {
            let (place, reason) = (Place::default(), error.to_string());
            ProcessError::Syntax { place, language: "a text to read", reason }.in_file(path)
        }
        _ => ProcessError::File { path: path.display().to_string(), what: error.to_string() },
    })
}
