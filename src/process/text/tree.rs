//! TOML, JSON and the calls of a builder as one tree, whose values know their lines.

use std::fmt;

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::error::ProcessError;
use super::super::ir::Place;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::process) struct Node {
    pub(in crate::process) place: Place,
    pub(in crate::process) value: Tree,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::process) enum Tree {
    Number(f64),
    Text(String),
    Truth(bool),
    List(Vec<Node>),
    Table(Table),
}

/// Keys and values in their order.
pub(in crate::process) type Table = IndexMap<String, Node>;

/// Most levels of lists and tables in JSON. The TOML parser has a limit of its own.
const MOST_DEPTH: usize = 80;

impl fmt::Display for Tree {
    /// A short form for errors.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.write_str(&crate::text::number(*number)),
            Self::Text(text) => write!(f, "\"{}\"", crate::text::quoted(text).escape_debug()),
            Self::Truth(truth) => truth.fmt(f),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
        }
    }
}

/// Reads TOML.
pub(super) fn of_toml(text: &str) -> Result<Node, ProcessError> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| ProcessError::Syntax {
        place: lines.place(error.span().map_or(0, |span| span.start)),
        language: "TOML",
        reason: error.message().to_owned(),
    })?;
    let place = Place { line: 1 };
    Ok(Node { place, value: Tree::Table(table_of(table.get_ref(), &lines)?) })
}

fn table_of(table: &DeTable<'_>, lines: &Lines) -> Result<Table, ProcessError> {
    table.iter().map(|(key, value)| Ok((key.get_ref().to_string(), node_of(value, lines)?))).collect()
}

fn node_of(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Result<Node, ProcessError> {
    let place = lines.place(value.span().start);
    let wrong = |value: String, remedy: &str| ProcessError::Setting {
        place,
        what: "a value".to_owned(),
        value,
        remedy: remedy.to_owned(),
    };
    let finite = |number: Option<f64>, text: &str| {
        let number = number.filter(|number| number.is_finite());
        number.ok_or_else(|| wrong(text.to_owned(), "write a finite number"))
    };
    let value = match value.get_ref() {
        DeValue::String(text) => Tree::Text(text.to_string()),
        DeValue::Integer(number) => {
            let value = i64::from_str_radix(number.as_str(), number.radix()).ok();
            #[expect(clippy::cast_precision_loss, reason = "numbers of a model are `f64`")]
            Tree::Number(finite(value.map(|value| value as f64), number.as_str())?)
        }
        DeValue::Float(number) => Tree::Number(finite(number.as_str().parse().ok(), number.as_str())?),
        DeValue::Boolean(truth) => Tree::Truth(*truth),
        DeValue::Datetime(date) => {
            return Err(wrong(format!("the date {date}"), "write times as numbers of units"));
        }
        DeValue::Array(list) => {
            Tree::List(list.iter().map(|value| node_of(value, lines)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Tree::Table(table_of(table, lines)?),
    };
    Ok(Node { place, value })
}

/// Reads JSON. `serde_json` finds what is not JSON; the scanner adds the lines.
pub(super) fn of_json(text: &str) -> Result<Node, ProcessError> {
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .map_err(|error| not_json(&error, Place::default()))?;
    Scanner { text, at: 0, depth: 0, lines: Lines::of(text) }.value()
}

fn not_json(error: &serde_json::Error, place: Place) -> ProcessError {
    let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
    let place = if place.line == 0 { Place { line } } else { place };
    ProcessError::Syntax { place, language: "JSON", reason: error.to_string() }
}

/// Goes through a text that is JSON.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    lines: Lines,
}

impl Scanner<'_> {
    /// The next byte that is no space.
    fn next(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or_default()
    }

    /// Whether a list or a table continues: skips `,`, and its end.
    fn continues(&mut self, end: u8) -> bool {
        if self.next() == b',' {
            self.at += 1;
        }
        let ends = self.next() == end;
        self.at += usize::from(ends);
        !ends
    }

    fn value(&mut self) -> Result<Node, ProcessError> {
        let first = self.next();
        let (begin, place) = (self.at, self.lines.place(self.at));
        let value = match first {
            b'"' => Tree::Text(self.string()?),
            b'[' | b'{' => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MOST_DEPTH {
                    let reason = format!("it has more than {MOST_DEPTH} levels of lists and tables");
                    return Err(ProcessError::Syntax { place, language: "JSON", reason });
                }
                let value = if first == b'[' { self.list()? } else { self.table()? };
                self.depth -= 1;
                value
            }
            b't' => self.word("true", Tree::Truth(true)),
            b'f' => self.word("false", Tree::Truth(false)),
            b'n' => {
                let (what, value) = ("a value".to_owned(), "null".to_owned());
                let remedy = "leave the key out".to_owned();
                return Err(ProcessError::Setting { place, what, value, remedy });
            }
            _ => {
                let part = |c: &u8| c.is_ascii_alphanumeric() || b"+-.".contains(c);
                self.at += self.text.as_bytes()[begin..].iter().take_while(|c| part(c)).count();
                let number = self.text[begin..self.at].parse::<f64>().ok().filter(|value| value.is_finite());
                Tree::Number(number.ok_or_else(|| ProcessError::Setting {
                    place,
                    what: "a value".to_owned(),
                    value: crate::text::quoted(&self.text[begin..self.at]),
                    remedy: "write a finite number".to_owned(),
                })?)
            }
        };
        Ok(Node { place, value })
    }

    fn word(&mut self, word: &str, value: Tree) -> Tree {
        self.at += word.len();
        value
    }

    fn list(&mut self) -> Result<Tree, ProcessError> {
        let mut list = Vec::new();
        while self.continues(b']') {
            list.push(self.value()?);
        }
        Ok(Tree::List(list))
    }

    fn table(&mut self) -> Result<Tree, ProcessError> {
        let mut table = Table::new();
        while self.continues(b'}') {
            let place = self.lines.place(self.at);
            let key = self.string()?;
            // The colon.
            self.next();
            self.at += 1;
            if table.contains_key(&key) {
                return Err(ProcessError::Repeated { place, name: key, other: "another key of this table" });
            }
            let value = self.value()?;
            table.insert(key, value);
        }
        Ok(Tree::Table(table))
    }

    fn string(&mut self) -> Result<String, ProcessError> {
        let (begin, place) = (self.at, self.lines.place(self.at));
        let bytes = self.text.as_bytes();
        self.at += 1;
        while self.at < bytes.len() && bytes[self.at] != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(self.text.get(begin..self.at).unwrap_or_default())
            .map_err(|error| not_json(&error, place))
    }
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte.
    fn place(&self, at: usize) -> Place {
        let line = self.0.partition_point(|begin| *begin <= at) + 1;
        Place { line: u32::try_from(line).unwrap_or(u32::MAX) }
    }
}
