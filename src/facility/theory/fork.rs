//! Exact results for forks.

use super::visits::{KnownFormula, shared};
use crate::facility::nodes::{Kind, Node, Pair, ResolvedRoute};
use crate::facility::{Discipline, Measure};

/// The number of routes from a node to another: of customers, and the most of the tasks of one
/// customer.
fn leads(from: &Node, to: usize) -> (usize, usize) {
    let here = |routes: &[ResolvedRoute]| routes.iter().filter(|route| route.node == to).count();
    let comes = || from.pairs.iter().filter(|pair| pair.comes);
    let tasks = comes().map(|pair| here(&pair.tasks)).max();
    (comes().map(|pair| here(&pair.routes)).sum(), tasks.unwrap_or(0))
}

/// By node, the nodes with a route to it.
pub(super) fn before(nodes: &[Node]) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); nodes.len()];
    for (from, node) in nodes.iter().enumerate() {
        for route in node.pairs.iter().filter(|pair| pair.comes).flat_map(Pair::all_routes) {
            before[route.node].push(from);
        }
    }
    for from in &mut before {
        from.dedup();
    }
    before
}

/// Whether a node receives only one task of each customer of a fork.
fn branch(nodes: &[Node], before: &[Vec<usize>], number: usize, fork: usize) -> bool {
    before[number] == [fork] && leads(&nodes[fork], number) == (0, 1)
}

/// Whether all arrivals at a node are parts of Poisson processes: customers from sources, or single
/// tasks of such customers. Tasks that return to their fork do not count as arrivals.
pub(super) fn fed(
    nodes: &[Node],
    before: &[Vec<usize>],
    number: usize,
    poisson: &impl Fn(&Node) -> bool,
) -> bool {
    let back = |from: usize| nodes[number].kind == Kind::Fork && branch(nodes, before, from, number);
    before[number].iter().all(|&from| match (leads(&nodes[from], number), nodes[from].kind) {
        ((_, 0), Kind::Source { .. }) => poisson(&nodes[from]),
        // Tasks that return directly are joined, and are not arrivals.
        ((0, _), Kind::Fork) if from == number => true,
        ((0, 1), Kind::Fork) => fed(nodes, before, from, poisson),
        ((_, 0), Kind::Station { .. }) => back(from),
        _ => false,
    })
}

/// The time until the last task, or the last of a quorum, has come back, if each is served at a
/// node of its own.
///
/// The maximum of n independent exponential times has the mean 1 + 1/2 + ... + 1/n times theirs;
/// the k-th smallest has the terms from 1/n to 1/(n - k + 1).
/// For two M/M/1 stations with the same mean service and simultaneous arrivals of tasks: Nelson and
/// Tantawi, "Approximate analysis of fork/join synchronization in parallel queues", IEEE
/// Transactions on Computers 37(6), 1988, equation 6.
pub(super) fn tasks(
    nodes: &[Node],
    before: &[Vec<usize>],
    known: &mut KnownFormula,
    poisson: &impl Fn(&Node) -> bool,
) {
    for (number, node) in nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Fork) {
        let mut coming = node.pairs.iter().enumerate().filter(|(_, pair)| pair.comes);
        let (Some((class, pair)), None) = (coming.next(), coming.next()) else { continue };
        let back = |route: &ResolvedRoute| {
            let routes = &nodes[route.node].pairs[route.class].routes;
            let at_once = |route: &ResolvedRoute| route.travel.is_none();
            let straight = at_once(route) && routes.iter().all(at_once);
            straight
                && branch(nodes, before, route.node, number)
                && routes.iter().all(|route| route.node == number)
        };
        let served = |route: &ResolvedRoute| nodes[route.node].pairs[route.class].service;
        let Some(mean) = shared(pair.tasks.iter().map(served)) else { continue };
        if !pair.tasks.iter().all(back) {
            continue;
        }
        let kinds: Vec<Kind> = pair.tasks.iter().map(|route| nodes[route.node].kind).collect();
        let time = if kinds.iter().all(|kind| matches!(kind, Kind::Station { servers: None, .. })) {
            let late = kinds.len() - node.beyond.quorum.map_or(kinds.len(), |quorum| quorum as usize);
            (1..).zip(&kinds).skip(late).map(|(place, _)| mean / f64::from(place)).sum()
        } else if node.beyond.quorum.is_none() && alone(nodes, pair) && fed(nodes, before, number, poisson) {
            let load = pair.rate * mean;
            (12.0 - load) / 8.0 * mean / (1.0 - load)
        } else {
            continue;
        };
        for class in [None, Some(class)] {
            known.insert((number, class, Measure::Sojourn), time);
            known.insert((number, class, Measure::Number), time * pair.rate);
        }
    }
}

/// Whether there are two tasks, at single-server stations without priorities.
fn alone(nodes: &[Node], pair: &Pair) -> bool {
    let one = |route: &ResolvedRoute| {
        let kind = nodes[route.node].kind;
        nodes[route.node].plain()
            && matches!(
                kind,
                Kind::Station { servers: Some(1), capacity: None, discipline: Discipline::Fifo }
            )
    };
    pair.tasks.len() == 2 && pair.tasks.iter().all(one)
}
