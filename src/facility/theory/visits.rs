//! Inputs of formulas: visits to each node, and means that distributions share.

use std::collections::HashMap;

use crate::facility::nodes::{Node, Pair};
use crate::facility::traffic::eliminate;
use crate::facility::{Distribution, Measure};

/// Most nodes of a closed network whose visits are computed: elimination takes their square in
/// memory, and their third power in time.
const MOST_NODES: usize = 600;

/// By node, class (`None` for all) and measure.
pub(in crate::facility) type KnownFormula = HashMap<(usize, Option<usize>, Measure), f64>;

/// The common mean of exponential distributions, if all are exponential and have the same.
pub(super) fn shared(laws: impl Iterator<Item = Option<Distribution>>) -> Option<f64> {
    let mut means = laws.map(|law| match law {
        Some(Distribution::Exponential(mean)) => Some(mean),
        _ => None,
    });
    let first = means.next()??;
    means.all(|mean| mean == Some(first)).then_some(first)
}

/// The mean travel time from a node; for a forked customer, of its tasks together.
pub(super) fn mean_travel(pair: &Pair) -> f64 {
    pair.all_routes().map(|route| route.probability * route.mean_travel()).sum()
}

/// Visits of a class to each node of a closed network, relative to the first node that it visits;
/// `None` if not all nodes are on one cycle.
pub(super) fn visits(nodes: &[Node], class: usize) -> Option<Vec<f64>> {
    let size = nodes.len();
    // Before a matrix is allocated.
    if size > MOST_NODES {
        return None;
    }
    let first = nodes.iter().position(|node| node.pairs[class].comes)?;
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (number, node) in nodes.iter().enumerate() {
        rows[number][number] += 1.0;
        for route in node.pairs[class].routes.iter().filter(|_| node.pairs[class].comes) {
            rows[route.node][number] -= route.probability;
        }
    }
    // One of the equations follows from the others.
    rows[first] = vec![0.0; size + 1];
    (rows[first][first], rows[first][size]) = (1.0, 1.0);
    let found = eliminate(rows);
    let comes = |(node, visits): (&Node, &f64)| {
        visits.is_finite() && (*visits > 1e-12) == node.pairs[class].comes && *visits > -1e-12
    };
    nodes.iter().zip(&found).all(comes).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facility::nodes::{Kind, ResolvedRoute};

    /// A matrix for this network would take 80 GB.
    #[test]
    fn large_closed_networks_are_not_put_into_a_matrix() {
        let size = 100_000;
        let nodes = |size: usize| -> Vec<Node> {
            let node = |number: usize| {
                let route =
                    ResolvedRoute { probability: 1.0, node: (number + 1) % size, class: 0, travel: None };
                let pair = Pair { routes: vec![route], comes: true, ..Pair::default() };
                Node::new("", Kind::Router, None, vec![pair])
            };
            (0..size).map(node).collect()
        };
        assert_eq!(visits(&nodes(size), 0), None);
        assert_eq!(visits(&nodes(MOST_NODES), 0), Some(vec![1.0; MOST_NODES]));
    }
}
