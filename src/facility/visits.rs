//! Visits of single customers, and which customers are followed.

use std::io;

use serde::Serialize;

use super::FacilityError;
use crate::text::write_csv;

/// Which customers are followed: one in `every`, at most `most`, of each source, and of each class
/// at a node at the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follow {
    /// One in `every`, beginning with the first: 1 for all.
    pub every: u32,
    /// At most this many of them.
    pub most: u32,
}

impl Follow {
    /// The first of each source, and of each class at each node at the beginning.
    pub fn first(most: u32) -> Self {
        Self { every: 1, most }
    }
}

/// How a visit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Outcome {
    /// It was served and continued; at a fork, its tasks were joined; at a sink, it left the
    /// network.
    Served,
    /// There was no room.
    Lost,
    /// It balked.
    Balked,
    /// Its patience ended.
    Reneged,
    /// It was still there at the end of the run.
    Present,
}

/// A visit of a customer to a station, a delay, a fork or a sink, in the network's unit of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Visit {
    /// The customer: numbers from 1, by source. Its tasks have the same number.
    pub customer: u32,
    /// The source of the customer, or its initial node.
    pub from: String,
    /// Its class at this visit.
    pub class: String,
    /// The node visited.
    pub node: String,
    /// The time of arrival.
    pub arrived: f64,
    /// The beginning of its service, if it began; `None` at forks and sinks.
    pub began: Option<f64>,
    /// The time of departure, if it left.
    pub left: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Writes visits as CSV: `customer`, `from`, `class`, `node`, `arrived`, `began`, `left` (empty if
/// it did not happen), `outcome`.
///
/// # Errors
/// [`FacilityError::Write`].
pub fn write_visits(visits: &[Visit], file: impl io::Write) -> Result<(), FacilityError> {
    write_csv(file, |writer| {
        writer.write_record(["customer", "from", "class", "node", "arrived", "began", "left", "outcome"])?;
        for visit in visits {
            writer.serialize(visit)?;
        }
        Ok(())
    })
    .map_err(FacilityError::Write)
}
