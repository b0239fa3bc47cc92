//! What only process models run: settings of a description, and as nodes have them.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::route::{is_default, named};
use super::{Distribution, Route};

/// A group of servers with skills.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// How many servers.
    pub servers: u32,
    /// The classes that they serve.
    pub serves: Vec<String>,
    /// Services take the time of the station divided by this. Default: 1.
    #[serde(default = "unit_speed")]
    pub speed: f64,
}

fn unit_speed() -> f64 {
    1.0
}

/// Customers that a server serves at once: any, or some of each of several classes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The least number that a server begins with. Default: `most`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u32>,
    /// The most that it takes. Only without `parts`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub most: u32,
    /// Whether they continue as one customer, the first of them. Default: each continues. Those of
    /// an assembly always do.
    #[serde(default, skip_serializing_if = "is_default")]
    pub joins: bool,
    /// An assembly: how many of each class a server takes, the first of each. They continue as one
    /// customer, the first of the first class here. Only these classes come to the station.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "IndexMap::is_empty")]
    pub parts: IndexMap<String, u32>,
    /// The class of that customer, whose service and routes it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<String>,
}

impl Batch {
    /// Any customers: as many as wait, within these bounds.
    pub fn new(least: u32, most: u32) -> Self {
        Self { least: Some(least), most, ..Self::default() }
    }

    /// An assembly: how many of each class become a customer of another one.
    pub fn assembly(parts: &[(&str, u32)], becomes: &str) -> Self {
        let parts = parts.iter().map(|&(class, count)| (class.to_owned(), count)).collect();
        Self { parts, becomes: Some(becomes.to_owned()), ..Self::default() }
    }
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, most, joins, parts, becomes } = self;
        if let Some(becomes) = becomes {
            let parts: Vec<_> = parts.iter().map(|(class, count)| format!("{count} {class}")).collect();
            return write!(f, "{} become {becomes}", parts.join(", "));
        }
        match least.filter(|least| least != most) {
            Some(least) => write!(f, "batches of {least} to {most}")?,
            None => write!(f, "batches of {most}")?,
        }
        if *joins { f.write_str(" that become one") } else { Ok(()) }
    }
}

/// Nodes that hold a bounded number of customers together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Their names: stations and delays.
    pub nodes: Vec<String>,
    /// The most customers there. Others wait outside, at no node, in the order of arrival.
    pub capacity: u32,
}

/// What happens to services when a schedule takes servers away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ShiftEnd {
    /// Services that have begun are completed.
    #[default]
    Finish,
    /// They are interrupted, and continue before others when servers are there again.
    Preempt,
}

/// How an interrupted service continues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Interrupted {
    /// The rest of its time.
    #[default]
    Resume,
    /// All of its time.
    Repeat,
    /// A new time.
    Restart,
}

/// How the station with the shortest line is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The fewest customers of all.
    #[default]
    Fewest,
    /// The fewest of this number of stations at random.
    Of(u32),
    /// The least work.
    LeastWork,
}

/// A group of a station.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Skilled {
    pub(crate) servers: u32,
    /// By class.
    pub(crate) serves: Vec<bool>,
    pub(crate) speed: f64,
}

/// The batches of a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batches {
    pub(crate) least: u32,
    pub(crate) most: u32,
    pub(crate) joins: bool,
    /// The classes of an assembly and how many of each; empty if customers of any class are taken.
    pub(crate) parts: Vec<(usize, u32)>,
    /// The class of what is assembled.
    pub(crate) product: usize,
}

/// The settings of a node that only process models run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Beyond {
    pub(crate) groups: Vec<Skilled>,
    pub(crate) shift: ShiftEnd,
    pub(crate) interrupted: Interrupted,
    /// Times of setups, by class.
    pub(crate) setup: Vec<Option<Distribution>>,
    /// The wait that is worth one class.
    pub(crate) aging: Option<f64>,
    pub(crate) selection: Selection,
    /// Whether customers whose patience ends go to another node.
    pub(crate) reneged_to: bool,
    /// The regions with this node, by number.
    pub(crate) regions: Vec<usize>,
    /// The speed of each server, by the number of customers present, from 1.
    pub(crate) speeds: Vec<f64>,
    pub(crate) batch: Option<Batches>,
    /// How many customers each one becomes behind its service, if it does.
    pub(crate) splits: Option<u32>,
    /// How many tasks of a customer have to be back at a fork, if fewer than all.
    pub(crate) quorum: Option<u32>,
}

impl Beyond {
    pub(super) fn of_route(route: Option<&Route>) -> Self {
        let selection = match route {
            Some(Route::ShortestOf { of, .. }) => Selection::Of(*of),
            Some(Route::LeastWork { .. }) => Selection::LeastWork,
            _ => Selection::Fewest,
        };
        Self { selection, ..Self::default() }
    }

    /// The parts of an assembly; none elsewhere.
    pub(crate) fn parts(&self) -> &[(usize, u32)] {
        self.batch.as_ref().map_or(&[], |batch| &batch.parts)
    }

    /// Whether customers are joined or become several.
    pub(crate) fn changes_number(&self) -> bool {
        self.splits.is_some() || self.batch.as_ref().is_some_and(|batch| batch.joins)
    }

    /// How many customers leave for each that comes, on average, or at least. Those of assemblies
    /// depend on the rates of all parts (`traffic.rs`).
    pub(crate) fn flow(&self) -> f64 {
        let joins = |batch: &&Batches| batch.joins && batch.parts.is_empty();
        let joined = self.batch.as_ref().filter(joins).map_or(1, |batch| batch.most);
        f64::from(self.splits.unwrap_or(1)) / f64::from(joined)
    }

    /// Whether batches of several sizes become one customer: then `flow` is the least.
    pub(crate) fn joins_some(&self) -> bool {
        self.batch.as_ref().is_some_and(|batch| batch.joins && batch.least < batch.most)
    }

    /// How much faster the servers are than one that serves alone.
    pub(crate) fn pace(&self) -> f64 {
        let together = |batch: &Batches| if batch.parts.is_empty() { f64::from(batch.most) } else { 1.0 };
        self.batch.as_ref().map_or(1.0, together) * self.speeds.last().copied().unwrap_or(1.0)
    }

    /// The first setting that is not the default.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let has = [
            ("a group of servers", !self.groups.is_empty()),
            ("a preemptive end of shifts", self.shift != ShiftEnd::Finish),
            ("a service that is repeated or restarted", self.interrupted != Interrupted::Resume),
            ("a setup", self.setup.iter().any(Option::is_some)),
            ("a priority that ages", self.aging.is_some()),
            ("the shortest of some lines", matches!(self.selection, Selection::Of(_))),
            ("the line with the least work", self.selection == Selection::LeastWork),
            ("a route of customers whose patience ends", self.reneged_to),
            ("a region", !self.regions.is_empty()),
            ("a speed that depends on the number of customers", !self.speeds.is_empty()),
            ("an assembly", !self.parts().is_empty()),
            ("service in batches", self.batch.is_some()),
            ("a customer that becomes several", self.splits.is_some()),
            ("a fork that waits for some of its tasks", self.quorum.is_some()),
        ];
        has.into_iter().find(|(_, has)| *has).map(|(what, _)| what)
    }
}
