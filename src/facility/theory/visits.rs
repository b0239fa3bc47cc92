//! What formulas begin with: how often customers come to each node, and what their times share.

use std::collections::HashMap;

use crate::facility::nodes::{Node, Pair};
use crate::facility::traffic::eliminate;
use crate::facility::{Distribution, Measure};

/// Nodes of a closed network up to which it is computed how often customers come to each: by
/// elimination, which takes their square in memory, and their third power in time.
const MOST_NODES: usize = 600;

/// By node, class (none for all) and measure.
pub(in crate::facility) type KnownFormula = HashMap<(usize, Option<usize>, Measure), f64>;

/// The mean of exponential distributions, if they are, and have the same.
pub(super) fn shared(laws: impl Iterator<Item = Option<Distribution>>) -> Option<f64> {
    let mut means = laws.map(|law| match law {
        Some(Distribution::Exponential(mean)) => Some(mean),
        _ => None,
    });
    let first = means.next()??;
    means.all(|mean| mean == Some(first)).then_some(first)
}

/// The time that who goes on from a node travels, on average; of who is parted, that of his
/// siblings together.
pub(super) fn mean_travel(pair: &Pair) -> f64 {
    pair.all_routes().map(|route| route.probability * route.mean_travel()).sum()
}

/// How often a customer of a class comes to each node of a closed network, for each time that it
/// comes to the first of them that it ever comes to; none where not all are on one round.
pub(super) fn visits(nodes: &[Node], class: usize) -> Option<Vec<f64>> {
    let size = nodes.len();
    // Before there is a matrix of them.
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

    /// A matrix of them would take 80 GB.
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
