//! What follows from a description without a run.

use serde::Serialize;

use super::nodes::{Choice, Kind, Node, Pair};
use super::traffic::{behind, work};
use super::{Facility, theory};

/// What follows for a network without a run: its nodes, and the exact values of measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// The nodes, in their order.
    pub nodes: Vec<NodeFacts>,
    /// Measures with an exact value.
    pub theory: Vec<(String, f64)>,
    /// Reasons to doubt results, in sentences.
    pub warnings: Vec<String>,
}

/// What follows for a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeFacts {
    /// Its name.
    pub name: String,
    /// `source`, `station`, `delay`, `router`, `fork` or `sink`.
    pub kind: &'static str,
    /// Its batches, how many each customer becomes, or its quorum, in words.
    pub details: Vec<String>,
    /// For a station: the average number of available servers.
    pub servers: Option<f64>,
    /// The work that customers from sources bring in a unit of time, as a share of the servers.
    /// Without a bound of the line, it is the utilisation, and has to be below 1. Lost customers
    /// are not subtracted. `None` where it depends on more than rates.
    pub load: Option<f64>,
    /// By class that comes here.
    pub classes: Vec<ClassFacts>,
}

/// What follows for a class at a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassFacts {
    /// The class.
    pub class: String,
    /// Customers from sources in a unit of time, if none is lost, by the traffic equations. `None`
    /// where all come because their patience ended, and behind batches of several sizes that become
    /// one customer.
    pub rate: Option<f64>,
    /// Customers at the beginning.
    pub population: u32,
    /// The routes, in words: `0.25 to doctor`.
    pub routes: Vec<String>,
}

impl Facility {
    /// What follows without a run: rates and loads by the traffic equations, and exact results of
    /// theory.
    pub fn facts(&self) -> Facts {
        let at_least = behind(&self.nodes, |node| node.beyond.joins_some());
        let nodes = self.nodes.iter().zip(at_least).map(|(node, is_least)| self.facts_of(node, is_least));
        let nodes = nodes.collect();
        let known = theory::known(self);
        let columns = self.columns();
        let named = self.named(&columns).into_iter().zip(&columns);
        let theory = named.filter_map(|(name, column)| Some((name, self.theory(column, &known)?)));
        Facts { nodes, theory: theory.collect(), warnings: self.rounding().to_vec() }
    }

    fn facts_of(&self, node: &Node, is_least: bool) -> NodeFacts {
        let (kind, servers) = match node.kind {
            Kind::Source { .. } => ("source", None),
            Kind::Station { servers: None, .. } => ("delay", None),
            Kind::Station { servers: Some(servers), .. } => ("station", Some(node.there(servers))),
            Kind::Router => ("router", None),
            Kind::Fork => ("fork", None),
            Kind::Sink => ("sink", None),
        };
        let is_unknown = |pair: &Pair| pair.comes && !(pair.from_outside && pair.rate != 0.0);
        let unknown = is_least || node.balks() || node.pairs.iter().any(is_unknown);
        let load = match node.kind {
            Kind::Station { servers: Some(servers), .. } => Some(work(node) / node.fastest(servers)),
            _ => None,
        };
        let classes = self.network.classes.iter().zip(&node.pairs).filter(|(_, pair)| pair.comes);
        let classes = classes.map(|(class, pair)| {
            let route = |route: &super::nodes::ResolvedRoute| {
                let to = &self.nodes[route.node].name;
                let other = &self.network.classes[route.class];
                let changes = if other == class { String::new() } else { format!(" as {other}") };
                match node.choice {
                    Choice::Chance if (route.probability - 1.0).abs() > 1e-12 => {
                        format!("{} to {to}{changes}", crate::text::number(route.probability))
                    }
                    _ => format!("to {to}{changes}"),
                }
            };
            let routes: Vec<String> = pair.routes.iter().map(route).collect();
            let routes = match (node.choice, routes.len()) {
                (Choice::InTurn, 2..) => vec![format!("in turn {}", routes.join(", "))],
                (Choice::Shortest, 2..) => vec![format!("shortest line of {}", routes.join(", "))],
                _ => routes,
            };
            let tasks = pair.tasks.iter().map(|task| format!("a task {}", route(task)));
            ClassFacts {
                class: class.clone(),
                // Where customers come by lost patience alone, traffic equations have no rate.
                rate: Some(pair.rate)
                    .filter(|&rate| !is_least && pair.from_outside && rate.is_finite() && rate > 0.0),
                population: pair.population,
                routes: tasks.chain(routes).collect(),
            }
        });
        let station = self.network.stations.get(&node.name);
        let batch = station.and_then(|station| station.batch.as_ref()).map(ToString::to_string);
        let splits = node.beyond.splits.map(|splits| format!("each becomes {splits}"));
        let quorum = node.beyond.quorum.map(|quorum| format!("quorum of {quorum}"));
        NodeFacts {
            name: node.name.clone(),
            kind,
            details: batch.into_iter().chain(splits).chain(quorum).collect(),
            servers,
            load: load.filter(|load| load.is_finite() && !unknown),
            classes: classes.collect(),
        }
    }
}
