//! The nodes of a checked network.

use super::beyond::{Beyond, Skilled};
use super::{Discipline, Distribution, FacilityError, Route};

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
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
pub(crate) enum Choice {
    #[default]
    Chance,
    InTurn,
    Shortest,
}

/// A node of a checked network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) choice: Choice,
    /// By class.
    pub(crate) pairs: Vec<Pair>,
    /// Whether a customer that finds it full waits where it is.
    pub(crate) blocks: bool,
    /// The probabilities of balking, by the number of customers found.
    pub(crate) balking: Vec<f64>,
    /// The length of each period and its number of servers; for a source, the share of its rate.
    pub(crate) calendar: Vec<(f64, f64)>,
    /// The times between breakdowns, and of repairs.
    pub(crate) breakdown: Option<(Distribution, Distribution)>,
    /// What only process models run.
    pub(crate) beyond: Beyond,
}

impl Node {
    pub(crate) fn new(name: &str, kind: Kind, route: Option<&Route>, pairs: Vec<Pair>) -> Self {
        let choice = match route {
            Some(Route::InTurn { .. }) => Choice::InTurn,
            Some(Route::Shortest { .. } | Route::ShortestOf { .. } | Route::LeastWork { .. }) => {
                Choice::Shortest
            }
            _ => Choice::Chance,
        };
        let name = name.to_owned();
        let (blocks, balking, calendar, breakdown) = (false, Vec::new(), Vec::new(), None);
        let beyond = Beyond::of_route(route);
        Self { name, kind, choice, pairs, blocks, balking, calendar, breakdown, beyond }
    }

    /// Whether it has none of the features that formulas do not cover.
    pub(crate) fn plain(&self) -> bool {
        let alone = !self.blocks && self.balking.is_empty();
        alone && self.calendar.is_empty() && self.breakdown.is_none() && self.beyond.first().is_none()
    }

    /// The average of its calendar.
    pub(crate) fn average(&self) -> f64 {
        let all: f64 = self.calendar.iter().map(|piece| piece.0).sum();
        self.calendar.iter().map(|(lasts, value)| lasts / all * value).sum()
    }

    pub(crate) fn most_ways(&self) -> usize {
        self.pairs.iter().map(|pair| pair.routes.len()).max().unwrap_or(0)
    }

    /// Whether every arriving customer of a class continues from here, and none is lost.
    pub(crate) fn keeps(&self, class: usize) -> bool {
        let loses = self.room(class).is_some() && !self.blocks;
        !loses && self.pairs[class].patience.is_none() && !self.balks()
    }

    /// The most customers of a class; or with it, where classes share their room.
    pub(crate) fn room(&self, class: usize) -> Option<u32> {
        match self.kind {
            Kind::Station { capacity, .. } if self.beyond.parts().is_empty() => capacity,
            _ => self.pairs[class].room,
        }
    }

    /// The class that is assembled here, if it is not a part itself.
    pub(crate) fn made(&self) -> Option<usize> {
        let batch = self.beyond.batch.as_ref().filter(|batch| !batch.parts.is_empty())?;
        Some(batch.product).filter(|&product| !self.pairs[product].comes)
    }

    pub(crate) fn balks(&self) -> bool {
        self.balking.iter().any(|&leaves| leaves > 0.0)
    }

    /// Whether several classes share cyclic routes, or any class goes to the shortest line. Flows
    /// of each class then depend on the order of arrivals, which the traffic equations, with fixed
    /// shares, do not describe.
    pub(crate) fn mixes(&self) -> bool {
        let mut coming = self.pairs.iter().filter(|pair| pair.comes && pair.routes.len() > 1);
        match self.choice {
            Choice::Chance => false,
            Choice::InTurn => coming.next().is_some() && coming.next().is_some(),
            Choice::Shortest => coming.next().is_some(),
        }
    }

    /// The average number of available servers.
    pub(crate) fn there(&self, servers: u32) -> f64 {
        let scheduled = if self.calendar.is_empty() { f64::from(servers) } else { self.average() };
        scheduled * self.breakdown.as_ref().map_or(1.0, |(up, down)| up.mean() / (up.mean() + down.mean()))
    }

    /// The work that they do in a unit of time at most.
    pub(crate) fn fastest(&self, servers: u32) -> f64 {
        let groups = self.beyond.groups.iter();
        let (all, fast) = groups.fold((0.0, 0.0), |(all, fast), group| {
            (all + f64::from(group.servers), fast + f64::from(group.servers) * group.speed)
        });
        let pace = if all > 0.0 { fast / all } else { 1.0 };
        self.there(servers) * pace * self.beyond.pace()
    }

    /// The load of the groups of its servers that serve some classes alone, the largest of all
    /// sets of groups; `work` is that of a class in a unit of time. 0 for one group, and for more
    /// than 12.
    pub(crate) fn load_of_groups(&self, servers: u32, work: impl Fn(usize) -> f64) -> f64 {
        let groups = &self.beyond.groups;
        if !(2..=12).contains(&groups.len()) {
            return 0.0;
        }
        let speed = |group: &Skilled| f64::from(group.servers) * group.speed;
        let all: f64 = groups.iter().map(speed).sum();
        let load = |set: u32| {
            let inside = |number: usize| set >> number & 1 == 1;
            let there = groups.iter().enumerate().filter(|(number, _)| inside(*number));
            let there: f64 = there.map(|(_, group)| speed(group)).sum();
            let alone = |class: &usize| {
                groups.iter().enumerate().all(|(number, group)| inside(number) || !group.serves[*class])
            };
            let work: f64 = (0..self.pairs.len()).filter(alone).map(&work).sum();
            work / (self.fastest(servers) * there / all)
        };
        (1..1 << groups.len()).map(load).fold(0.0, f64::max)
    }

    /// Whether any of its routes leads to a node that blocks, directly or through routers.
    pub(crate) fn holds(&self, nodes: &[Node]) -> bool {
        !self.held_targets(nodes).is_empty()
    }

    /// The nodes that block to which its routes lead, directly or through routers.
    pub(crate) fn held_targets(&self, nodes: &[Node]) -> Vec<usize> {
        let (mut seen, mut found) = (vec![false; nodes.len()], Vec::new());
        let mut work = vec![self];
        while let Some(node) = work.pop() {
            let routes = node.pairs.iter().filter(|pair| pair.comes).flat_map(|pair| &pair.routes);
            for route in routes.filter(|route| route.travel.is_none()) {
                let to = &nodes[route.node];
                if (to.blocks || to.kind == Kind::Router) && !std::mem::replace(&mut seen[route.node], true) {
                    if to.blocks {
                        found.push(route.node);
                    } else {
                        work.push(to);
                    }
                }
            }
        }
        found
    }
}

/// By node: whether customers come there from a source, directly or through routers.
pub(crate) fn entered(nodes: &[Node]) -> Vec<bool> {
    let mut entered = vec![false; nodes.len()];
    let mut work: Vec<&Node> = nodes.iter().filter(|node| matches!(node.kind, Kind::Source { .. })).collect();
    while let Some(node) = work.pop() {
        for route in node.pairs.iter().flat_map(|pair| &pair.routes) {
            let to = &nodes[route.node];
            if !std::mem::replace(&mut entered[route.node], true) && to.kind == Kind::Router {
                work.push(to);
            }
        }
    }
    entered
}

/// Takes nodes out of a set, until all the others stay in it.
pub(crate) fn shrink(set: &mut [bool], stays: impl Fn(&[bool], usize) -> bool) {
    while let Some(node) = (0..set.len()).find(|&node| set[node] && !stays(set, node)) {
        set[node] = false;
    }
}

/// A class of customers at a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Pair {
    pub(crate) service: Option<Distribution>,
    pub(crate) patience: Option<Distribution>,
    pub(crate) population: u32,
    /// The most customers of the class at an assembly.
    pub(crate) room: Option<u32>,
    pub(crate) routes: Vec<ResolvedRoute>,
    /// The routes of tasks of a fork, one each.
    pub(crate) tasks: Vec<ResolvedRoute>,
    /// The routes of customers whose patience ends.
    pub(crate) reneged: Vec<ResolvedRoute>,
    /// Whether customers of the class come here at all, and whether any come from a source.
    pub(crate) comes: bool,
    pub(crate) from_outside: bool,
    /// Customers from sources per unit of time, if none is lost; NaN if it is unknown.
    pub(crate) rate: f64,
}

impl Pair {
    /// The routes of customers and of tasks.
    pub(crate) fn all_routes(&self) -> impl Iterator<Item = &ResolvedRoute> {
        self.routes.iter().chain(&self.tasks).chain(&self.reneged)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ResolvedRoute {
    pub(crate) probability: f64,
    pub(crate) node: usize,
    pub(crate) class: usize,
    /// The travel time.
    pub(crate) travel: Option<Distribution>,
}

impl ResolvedRoute {
    /// The mean travel time.
    pub(crate) fn mean_travel(&self) -> f64 {
        self.travel.map_or(0.0, |travel| travel.mean())
    }
}

/// The error of an unsupported setting of a node.
pub(crate) fn unsupported(node: &str, what: &'static str, reason: &'static str) -> FacilityError {
    FacilityError::Unsupported { node: node.to_owned(), what, reason }
}
