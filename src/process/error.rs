//! Errors of process models.

use std::path::Path;

use crate::ErrorKind;
use crate::facility::FacilityError;
use crate::gpu::{GpuError, LinkError};
use crate::pdes::{Fault, SimulationError};
use crate::statistics::AnalysisError;
use crate::text::{closest, quoted};
use crate::time::TimeError;

use super::ir::{Kind, Place};
use super::program::FaultCode;

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
    /// An error of a network that is translated into a process model.
    #[error(transparent)]
    Network(Box<FacilityError>),
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
    /// More rows than a program has.
    #[error(
        "the model has {count} {what}; {most} are possible: use fewer stations, classes, resources or tallies"
    )]
    TooManyRows {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// The most.
        most: usize,
    },
    /// A program that is larger than compilers take.
    #[error(
        "the model is too large for {of}; use fewer classes, stations or statements, leave out quantiles{}",
        if *is_device { ", or run it on the CPU (`--backend cpu`)" } else { "" }
    )]
    TooLarge {
        /// Which compiler.
        of: &'static str,
        /// Whether a GPU was chosen, and the CPU may run it.
        is_device: bool,
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
    /// A statement that failed while a replication ran.
    #[error(transparent)]
    Fault(Box<RunFault>),
    /// A replication in which nothing can happen any more.
    #[error(transparent)]
    Deadlock(Box<Deadlock>),
    /// A replication with more entities than there may be.
    #[error(transparent)]
    Full(Box<Full>),
    /// A time that is no time, or that does not fit.
    #[error("{what}: {source}")]
    Time {
        /// Whose time.
        what: &'static str,
        /// Why it does not fit.
        source: TimeError,
    },
    /// A warm-up that does not end before the run.
    #[error("statistics begin at {warm_up}, and runs end at {until}; choose an earlier end of the warm-up")]
    WarmUp {
        /// The end of runs.
        until: f64,
        /// The end of the warm-up.
        warm_up: f64,
    },
    /// A measure that the results do not have.
    #[error("`{name}` is not a measure; {}", nearest(name, known))]
    Measure {
        /// The name.
        name: String,
        /// The names of the measures.
        known: Vec<String>,
    },
    /// A replication that the engine ended.
    #[error("{replication} failed: {fault}")]
    Engine {
        /// The replication.
        replication: Replication,
        /// The fault.
        fault: Fault,
    },
    /// The engine failed, or the device.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The results cannot be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// Results could not be written.
    #[error("the results cannot be written: {0}")]
    Write(#[source] std::io::Error),
}

/// A time with its unit, if that has a name.
pub(super) fn in_units(time: f64, unit: &str) -> String {
    format!("{time} {unit}").trim_end().to_owned()
}

/// Which replication an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replication {
    /// Its number, from 0.
    pub number: u32,
    /// The seed of the study.
    pub seed: u64,
    /// The point of the design: `doctors=3`; empty if there is one point.
    pub point: String,
}

impl std::fmt::Display for Replication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, seed, point } = self;
        write!(f, "replication {number} of seed {seed}")?;
        if point.is_empty() { Ok(()) } else { write!(f, " at {point}") }
    }
}

/// A statement that failed while a replication ran.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{place}`{statement}` of {entity} fails at {} in {replication}: {what}", in_units(*time, unit))]
pub struct RunFault {
    /// Where the statement is written.
    pub place: Place,
    /// The statement: `release bed`.
    pub statement: String,
    /// The entity, with its number among its type: `` `patient` 17 ``; or the source.
    pub entity: String,
    /// The time, in units.
    pub time: f64,
    /// The unit of time.
    pub unit: String,
    /// The kind of fault.
    pub code: FaultCode,
    /// What happened, and what to do.
    pub what: String,
    /// Where it happened.
    pub replication: Replication,
}

/// A replication in which entities wait and nothing can happen any more.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "deadlock at {} in {replication}: {}. Change the order in which they seize, let them give up, or let others enter",
    in_units(*time, unit),
    waits.iter().map(Waits::to_string).collect::<Vec<_>>().join("; ")
)]
pub struct Deadlock {
    /// The time of the last event, in units.
    pub time: f64,
    /// The unit of time.
    pub unit: String,
    /// Who waits for what.
    pub waits: Vec<Waits>,
    /// Where it happened.
    pub replication: Replication,
}

/// Entities of a type that wait at a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// Their number.
    pub count: u32,
    /// Their type.
    pub entity: String,
    /// Where the statement is written.
    pub place: Place,
    /// The statement: `seize bed`.
    pub statement: String,
    /// What is missing: `2 of 2 units are in use`; empty if there is nothing to add.
    pub reason: String,
    /// Who holds it, by type and place.
    pub holders: Vec<(String, Place)>,
}

impl std::fmt::Display for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { count, entity, place, statement, reason, holders } = self;
        let verb = if *count == 1 { "waits" } else { "wait" };
        write!(f, "{count} `{entity}` {verb} in {place}`{statement}`")?;
        if !reason.is_empty() {
            write!(f, " ({reason}")?;
            for (number, (entity, place)) in holders.iter().enumerate() {
                let link = if number == 0 { ", held by" } else { " and" };
                write!(f, "{link} `{entity}`")?;
                if place.line > 0 {
                    write!(f, " in line {}", place.line)?;
                }
            }
            write!(f, ")")?;
        }
        Ok(())
    }
}

/// A replication with more entities at a time than there may be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "more than {most} entities are there at {} in {replication}{}. If they enter faster than they leave, add units or let fewer enter",
    in_units(*time, unit),
    line.as_ref().map_or_else(String::new, |(line, length)| {
        let at = if place.line > 0 { format!(" (line {} of the file)", place.line) } else { String::new() };
        format!("; the longest line is `{line}`{at} with {length}")
    })
)]
pub struct Full {
    /// The most entities.
    pub most: u32,
    /// The time of the last event, in units.
    pub time: f64,
    /// The unit of time.
    pub unit: String,
    /// The longest line and its length: `queue(bed)`.
    pub line: Option<(String, u32)>,
    /// Where the statement is written that has this line, if only one has it.
    pub place: Place,
    /// Where it happened.
    pub replication: Replication,
}

crate::text::debug_is_display!(ProcessError);

impl From<FacilityError> for ProcessError {
    fn from(error: FacilityError) -> Self {
        Self::Network(Box::new(error))
    }
}

impl ProcessError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Simulation(error) => error.kind(),
            Self::Analysis(error) => error.kind(),
            Self::Time { .. } | Self::WarmUp { .. } | Self::Measure { .. } => ErrorKind::Usage,
            Self::Fault(_) | Self::Deadlock(_) | Self::Full(_) | Self::Engine { .. } => ErrorKind::Fault,
            Self::InFile { error, .. } => error.kind(),
            Self::Network(error) => error.kind(),
            Self::File { .. } | Self::Write(_) => ErrorKind::Io,
            _ => ErrorKind::Model,
        }
    }

    /// The error of code that was not compiled for the CPU or a device. The code of a model is
    /// valid, so it is too large.
    pub(super) fn of_code(error: impl Into<SimulationError>, is_device: bool) -> Self {
        match error.into() {
            SimulationError::Gpu(GpuError::Link(LinkError::Forbidden { what, .. })) => {
                log::debug!("a program is too large: {what}");
                let of = if is_device { "drivers of GPUs" } else { "machine code of the CPU" };
                Self::TooLarge { of, is_device }
            }
            error => error.into(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Program, Source};

    #[test]
    fn a_program_that_is_too_large_is_refused_in_words_of_models() {
        let text = format!("fn f() -> u32 {{ var x = 1u; {} return x; }}", "x += 1u; ".repeat(20_000));
        let refused = |is_device| {
            let error = Program::link("t", &[Source::generated("process/t.wgsl".to_owned(), text.clone())]);
            ProcessError::of_code(GpuError::from(error.unwrap_err()), is_device).to_string()
        };
        let remedy = "use fewer classes, stations or statements, leave out quantiles";
        assert_eq!(refused(false), format!("the model is too large for machine code of the CPU; {remedy}"));
        let on_device = format!("{remedy}, or run it on the CPU (`--backend cpu`)");
        assert_eq!(refused(true), format!("the model is too large for drivers of GPUs; {on_device}"));
    }
}
