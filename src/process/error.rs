//! Errors of process models.

use std::path::Path;

use crate::ErrorKind;
use crate::text::{closest, quoted};

use super::ir::{Kind, Place};

/// An error of the `process` module. Errors of a description occur before any run; correct it and
/// call again.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// A file that the system does not let us read.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// An error in a file.
    #[error("{path}: {error}")]
    InFile {
        /// The file.
        path: String,
        /// The error.
        error: Box<ProcessError>,
    },
    /// A text that is not TOML, JSON or CSV.
    #[error("{place}this is not {language}: {reason}")]
    Syntax {
        /// Where.
        place: Place,
        /// What it should be.
        language: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An expression that cannot be read.
    #[error("{place}character {at} of `{}`: {reason}", quoted(text).escape_debug())]
    Expression {
        /// Where it is written.
        place: Place,
        /// The expression.
        text: String,
        /// The character, from 1.
        at: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A key that a table cannot have.
    #[error("{place}`{}` is not a key of {what}; {}", quoted(key).escape_debug(), nearest(key, known))]
    Key {
        /// Where it is written.
        place: Place,
        /// The key.
        key: String,
        /// What the table describes.
        what: String,
        /// The keys that it can have.
        known: Vec<String>,
    },
    /// A key that a table has to have.
    #[error("{place}{what} has no `{key}`; {remedy}")]
    Missing {
        /// Where the table is written.
        place: Place,
        /// What it describes.
        what: String,
        /// The key.
        key: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A name that the model does not have.
    #[error("{place}`{name}` is not {what}; {}", nearest(name, known))]
    Unknown {
        /// Where it is written.
        place: Place,
        /// The name.
        name: String,
        /// What it should name: `a resource`.
        what: &'static str,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A name that two things have.
    #[error("{place}`{name}` is already the name of {other}; rename one of them")]
    Repeated {
        /// Where it is written.
        place: Place,
        /// The name.
        name: String,
        /// What has it, too.
        other: &'static str,
    },
    /// A name that cannot be used.
    #[error("{place}`{}` cannot be a name: {reason}", name.escape_debug())]
    Name {
        /// Where it is written.
        place: Place,
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// A value of the wrong kind.
    #[error("{place}{what}: expected {}, found {}; {remedy}", expected.noun(), found.noun())]
    Kinds {
        /// Where it is written.
        place: Place,
        /// The value.
        what: String,
        /// The kind that fits there.
        expected: Kind,
        /// The kind that it has.
        found: Kind,
        /// What to do.
        remedy: &'static str,
    },
    /// A value out of range, or not allowed there.
    #[error("{place}{what} is {value}; {remedy}")]
    Setting {
        /// Where it is written.
        place: Place,
        /// The value's name.
        what: String,
        /// The value.
        value: String,
        /// What to do.
        remedy: String,
    },
    /// A distribution that cannot be drawn from.
    #[error("{place}the distribution `{name}` cannot be drawn from: {reason}")]
    Distribution {
        /// Where it is written.
        place: Place,
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A release of units that the entity never holds there.
    #[error(
        "{place}`{entity}` releases `{resource}`, of which it holds {held} there; seize it on all ways to this statement"
    )]
    NotHeld {
        /// Where it is written.
        place: Place,
        /// The entity.
        entity: String,
        /// The resource.
        resource: String,
        /// What it holds.
        held: u32,
    },
    /// An end of an entity that holds units there.
    #[error("{place}`{entity}` ends while it holds `{resource}`; release it before")]
    Holding {
        /// Where it is written.
        place: Place,
        /// The entity.
        entity: String,
        /// The resource.
        resource: String,
    },
    /// A statement that no entity reaches.
    #[error(
        "{place}no entity reaches this statement of `{entity}`; remove it, or what ends or repeats for ever before it"
    )]
    Unreachable {
        /// Where it is written.
        place: Place,
        /// The entity.
        entity: String,
    },
    /// A type of entities that never enter.
    #[error("{place}no entity of the type `{entity}` ever enters; give it a source, spawn it, or remove it")]
    NeverEnters {
        /// Where it is written.
        place: Place,
        /// The entity.
        entity: String,
    },
    /// Something that the module does not do.
    #[error("{place}{what} is not possible: {remedy}")]
    Unsupported {
        /// Where it is written.
        place: Place,
        /// What.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// More than fits.
    #[error("the model has {count} {what}; {most} are possible")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// The most.
        most: usize,
    },
    /// Two statements whose random streams have the same name.
    #[error(
        "the random streams of `{first}` and `{second}` have the same name; give one of them another `label`"
    )]
    SameStreams {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
}

crate::text::debug_is_display!(ProcessError);

impl ProcessError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::File { .. } => ErrorKind::Io,
            _ => ErrorKind::Model,
        }
    }

    /// The error with the name of the file in which it is.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::File { .. } | Self::InFile { .. } => self,
            error => Self::InFile { path: path.display().to_string(), error: error.into() },
        }
    }
}

impl std::fmt::Display for Place {
    /// The prefix of a message: `line 7: `, or nothing.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => Ok(()),
            line => write!(f, "line {line}: "),
        }
    }
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Time => "a time",
            Self::Real => "a real",
            Self::Condition => "a condition",
        }
    }
}

fn nearest(name: &str, known: &[String]) -> String {
    match closest(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => "the model has no such thing".to_owned(),
        None => format!("there are: {}", known.join(", ")),
    }
}
