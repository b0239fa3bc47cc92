//! What only process models run: settings of a description, and as nodes have them.

use serde::{Deserialize, Serialize};

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

/// Customers that a server serves at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The least number that a server begins with. Default: `most`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u32>,
    /// The most that it takes.
    pub most: u32,
    /// Whether they continue as one customer, the first of them. Default: each continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joins: bool,
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
    pub(crate) batch: Option<Batch>,
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

    /// How many customers leave for each that comes, on average.
    pub(crate) fn flow(&self) -> f64 {
        let joined = self.batch.filter(|batch| batch.joins).map_or(1, |batch| batch.most);
        f64::from(self.splits.unwrap_or(1)) / f64::from(joined)
    }

    /// How much faster the servers are than one that serves alone.
    pub(crate) fn pace(&self) -> f64 {
        let batch = self.batch.map_or(1.0, |batch| f64::from(batch.most));
        batch * self.speeds.last().copied().unwrap_or(1.0)
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
            ("service in batches", self.batch.is_some()),
            ("a customer that becomes several", self.splits.is_some()),
            ("a fork that waits for some of its tasks", self.quorum.is_some()),
        ];
        has.into_iter().find(|(_, has)| *has).map(|(what, _)| what)
    }
}
