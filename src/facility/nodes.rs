//! The nodes of a checked network.

use super::{Discipline, Distribution, FacilityError, Route};

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Source {
        interarrival: Distribution,
        class: usize,
        batch: u32,
    },
    /// For a delay, `servers` is `None`.
    Station {
        servers: Option<u32>,
        capacity: Option<u32>,
        discipline: Discipline,
    },
    Router,
    Fork,
    Sink,
}

/// How one of several routes is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Choice {
    #[default]
    Chance,
    InTurn,
    Shortest,
}

/// A node of a checked network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) choice: Choice,
    /// By class.
    pub(super) pairs: Vec<Pair>,
    /// Whether a customer that finds it full waits where it is.
    pub(super) blocks: bool,
    /// The probabilities of balking, by the number of customers found.
    pub(super) balking: Vec<f64>,
    /// The length of each period and its number of servers; for a source, the share of its rate.
    pub(super) calendar: Vec<(f64, f64)>,
    /// The times between breakdowns, and of repairs.
    pub(super) breakdown: Option<(Distribution, Distribution)>,
}

impl Node {
    pub(super) fn new(name: &str, kind: Kind, route: Option<&Route>, pairs: Vec<Pair>) -> Self {
        let choice = match route {
            Some(Route::InTurn { .. }) => Choice::InTurn,
            Some(Route::Shortest { .. }) => Choice::Shortest,
            _ => Choice::Chance,
        };
        let name = name.to_owned();
        let (blocks, balking, calendar, breakdown) = (false, Vec::new(), Vec::new(), None);
        Self { name, kind, choice, pairs, blocks, balking, calendar, breakdown }
    }

    /// Whether it has none of the features that formulas do not cover.
    pub(super) fn plain(&self) -> bool {
        !self.blocks && self.balking.is_empty() && self.calendar.is_empty() && self.breakdown.is_none()
    }

    /// The average of its calendar.
    pub(super) fn average(&self) -> f64 {
        let all: f64 = self.calendar.iter().map(|piece| piece.0).sum();
        self.calendar.iter().map(|(lasts, value)| lasts / all * value).sum()
    }

    pub(super) fn most_ways(&self) -> usize {
        self.pairs.iter().map(|pair| pair.routes.len()).max().unwrap_or(0)
    }

    /// Whether every arriving customer of a class continues from here, and none is lost.
    pub(super) fn keeps(&self, class: usize) -> bool {
        let loses = matches!(self.kind, Kind::Station { capacity: Some(_), .. }) && !self.blocks;
        !loses && self.pairs[class].patience.is_none() && !self.balks()
    }

    pub(super) fn balks(&self) -> bool {
        self.balking.iter().any(|&leaves| leaves > 0.0)
    }

    /// Whether several classes share cyclic routes, or any class goes to the shortest line. Flows
    /// of each class then depend on the order of arrivals, which the traffic equations, with fixed
    /// shares, do not describe.
    pub(super) fn mixes(&self) -> bool {
        let mut coming = self.pairs.iter().filter(|pair| pair.comes && pair.routes.len() > 1);
        match self.choice {
            Choice::Chance => false,
            Choice::InTurn => coming.next().is_some() && coming.next().is_some(),
            Choice::Shortest => coming.next().is_some(),
        }
    }

    /// The average number of available servers.
    pub(super) fn there(&self, servers: u32) -> f64 {
        let scheduled = if self.calendar.is_empty() { f64::from(servers) } else { self.average() };
        let works = self.breakdown.as_ref().map_or(1.0, |(up, down)| up.mean() / (up.mean() + down.mean()));
        scheduled * works
    }

    /// Whether any of its routes leads to a node that blocks.
    pub(super) fn holds(&self, nodes: &[Node]) -> bool {
        let routes = self.pairs.iter().filter(|pair| pair.comes).flat_map(|pair| &pair.routes);
        routes.into_iter().any(|route| nodes[route.node].blocks)
    }
}

/// A class of customers at a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Pair {
    pub(super) service: Option<Distribution>,
    pub(super) patience: Option<Distribution>,
    pub(super) population: u32,
    pub(super) routes: Vec<ResolvedRoute>,
    /// The routes of tasks of a fork, one each.
    pub(super) tasks: Vec<ResolvedRoute>,
    /// Whether customers of the class come here at all, and whether any come from a source.
    pub(super) comes: bool,
    pub(super) from_outside: bool,
    /// Customers from sources per unit of time, if none is lost; NaN if it is unknown.
    pub(super) rate: f64,
}

impl Pair {
    /// The routes of customers and of tasks.
    pub(super) fn all_routes(&self) -> impl Iterator<Item = &ResolvedRoute> {
        self.routes.iter().chain(&self.tasks)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ResolvedRoute {
    pub(super) probability: f64,
    pub(super) node: usize,
    pub(super) class: usize,
    /// The travel time.
    pub(super) travel: Option<Distribution>,
}

impl ResolvedRoute {
    /// The mean travel time.
    pub(super) fn mean_travel(&self) -> f64 {
        self.travel.map_or(0.0, |travel| travel.mean())
    }
}

/// The error of an unsupported setting of a node.
pub(super) fn unsupported(node: &str, what: &'static str, reason: &'static str) -> FacilityError {
    FacilityError::Unsupported { node: node.to_owned(), what, reason }
}
