//! The nodes of a network that was looked through.

use super::{Discipline, Distribution, FacilityError, Route};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Source {
        interarrival: Distribution,
        class: usize,
        batch: u32,
    },
    /// Of a delay, `servers` is none.
    Station {
        servers: Option<u32>,
        capacity: Option<u32>,
        discipline: Discipline,
    },
    Router,
    Fork,
    Sink,
}

/// How one of several ways is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Choice {
    #[default]
    Chance,
    InTurn,
    Shortest,
}

/// A node of a network that was looked through.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) choice: Choice,
    /// By class.
    pub(super) pairs: Vec<Pair>,
    /// Whether who finds it full waits where he is.
    pub(super) blocks: bool,
    /// The probabilities to leave at once, by the number found.
    pub(super) balking: Vec<f64>,
    /// How long each piece lasts, and how many servers there are in it; of a source, the share of
    /// its rate.
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

    /// Whether it is as formulas have it.
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

    /// Whether whoever comes of a class goes on from here, and nobody is lost.
    pub(super) fn keeps(&self, class: usize) -> bool {
        let loses = matches!(self.kind, Kind::Station { capacity: Some(_), .. }) && !self.blocks;
        !loses && self.pairs[class].patience.is_none() && !self.balks()
    }

    pub(super) fn balks(&self) -> bool {
        self.balking.iter().any(|&leaves| leaves > 0.0)
    }

    /// Whether customers of several classes are sent on in turn, one after the other whatever their
    /// class, or to the shortest line. What comes of each class then depends on the order in which
    /// they come, and the traffic equations, which share each class out evenly, do not say it.
    pub(super) fn mixes(&self) -> bool {
        let mut coming = self.pairs.iter().filter(|pair| pair.comes && pair.routes.len() > 1);
        match self.choice {
            Choice::Chance => false,
            Choice::InTurn => coming.next().is_some() && coming.next().is_some(),
            Choice::Shortest => coming.next().is_some(),
        }
    }

    /// The servers that there are on average.
    pub(super) fn there(&self, servers: u32) -> f64 {
        let scheduled = if self.calendar.is_empty() { f64::from(servers) } else { self.average() };
        let works = self.breakdown.as_ref().map_or(1.0, |(up, down)| up.mean() / (up.mean() + down.mean()));
        scheduled * works
    }

    /// Whether any of its ways leads to a node that blocks.
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
    /// Of a fork: where siblings go, one along each.
    pub(super) tasks: Vec<ResolvedRoute>,
    /// Whether customers of the class come here at all, and whether any of them came from a source.
    pub(super) comes: bool,
    pub(super) from_outside: bool,
    /// How many come from sources in a unit of time, if nobody is lost; NaN where it is not known.
    pub(super) rate: f64,
}

impl Pair {
    /// The ways of customers, and of siblings.
    pub(super) fn all_routes(&self) -> impl Iterator<Item = &ResolvedRoute> {
        self.routes.iter().chain(&self.tasks)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ResolvedRoute {
    pub(super) probability: f64,
    pub(super) node: usize,
    pub(super) class: usize,
    /// The time that it takes.
    pub(super) travel: Option<Distribution>,
}

impl ResolvedRoute {
    /// The mean of that time.
    pub(super) fn mean_travel(&self) -> f64 {
        self.travel.map_or(0.0, |travel| travel.mean())
    }
}

/// The error of what a node cannot have.
pub(super) fn unsupported(node: &str, what: &'static str, reason: &'static str) -> FacilityError {
    FacilityError::Unsupported { node: node.to_owned(), what, reason }
}
