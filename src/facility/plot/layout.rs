//! Places the nodes of a network in layers from left to right (Sugiyama, Tagawa, Toda: "Methods for
//! visual understanding of hierarchical system structures", IEEE Transactions on Systems, Man, and
//! Cybernetics 11(2), 1981), with layers by longest paths and orders by barycentres of neighbours.

use crate::facility::nodes::{Kind, Node, Pair};

/// Sweeps that move nodes between their neighbours, alternately to the left and to the right.
const SWEEPS: usize = 8;

/// Rounds that put the target of a fork behind its tasks, one for each nested fork.
const FORKS: usize = 4;

pub(super) struct Layout {
    /// By node, its layer, and its position relative to the middle of the layer.
    pub(super) places: Vec<(usize, f64)>,
    pub(super) layers: usize,
    /// The size of the largest layer.
    pub(super) most: usize,
    /// Source, target, and whether the edge closes a cycle.
    pub(super) edges: Vec<(usize, usize, bool)>,
}

impl Layout {
    pub(super) fn new(nodes: &[Node]) -> Self {
        let mut routes: Vec<Vec<usize>> = nodes
            .iter()
            .map(|node| {
                let pairs = node.pairs.iter().filter(|pair| pair.comes);
                let mut routes: Vec<usize> =
                    pairs.flat_map(Pair::all_routes).map(|route| route.node).collect();
                routes.sort_unstable();
                routes.dedup();
                routes
            })
            .collect();
        // Tasks before joined customers: then the edges back to a fork close a cycle.
        for (node, routes) in nodes.iter().zip(&mut routes) {
            let task =
                |to: &usize| node.pairs.iter().any(|pair| pair.tasks.iter().any(|route| route.node == *to));
            routes.sort_by_key(|to| !task(to));
        }
        let (order, edges) = walk(nodes, &routes);
        let layer = layers(nodes, &order, &edges);
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(0, |last| last + 1)];
        for &node in &order {
            rows[layer[node]].push(node);
        }
        let mut place = vec![0.0; nodes.len()];
        spread(&rows, &mut place);
        for sweep in 0..SWEEPS {
            for row in &mut rows {
                let wanted = |node: usize| {
                    let beside = |other: usize| (layer[other] < layer[node]) == sweep.is_multiple_of(2);
                    let near = edges.iter().filter_map(|&(from, to, _)| match (from == node, to == node) {
                        (true, false) => Some(to),
                        (false, true) => Some(from),
                        _ => None,
                    });
                    let near: Vec<f64> = near
                        .filter(|&other| layer[other] != layer[node] && beside(other))
                        .map(|other| place[other])
                        .collect();
                    #[expect(clippy::cast_precision_loss, reason = "a picture")]
                    let mean = near.iter().sum::<f64>() / near.len() as f64;
                    if near.is_empty() { place[node] } else { mean }
                };
                let mut keyed: Vec<(f64, usize)> = row.iter().map(|&node| (wanted(node), node)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                *row = keyed.into_iter().map(|(_, node)| node).collect();
            }
            spread(&rows, &mut place);
        }
        let most = rows.iter().map(Vec::len).max().unwrap_or(0);
        Self { places: layer.into_iter().zip(place).collect(), layers: rows.len(), most, edges }
    }
}

/// Centres the nodes of each layer.
#[expect(clippy::cast_precision_loss, reason = "a picture")]
fn spread(rows: &[Vec<usize>], place: &mut [f64]) {
    for row in rows {
        for (number, &node) in row.iter().enumerate() {
            place[node] = number as f64 - (row.len() - 1) as f64 / 2.0;
        }
    }
}

/// An order of all nodes in which edges lead forward, except edges back. In open networks, edges
/// back close a cycle (depth first from the sources). In closed networks, they lead no further from
/// the first node with customers (breadth first).
fn walk(nodes: &[Node], routes: &[Vec<usize>]) -> (Vec<usize>, Vec<(usize, usize, bool)>) {
    let source = |node: &&usize| matches!(nodes[**node].kind, Kind::Source { .. });
    let begins = |node: &&usize| nodes[**node].pairs.iter().any(|pair| pair.population > 0);
    let all: Vec<usize> = (0..nodes.len()).collect();
    let starts = all.iter().filter(source).chain(all.iter().filter(begins)).chain(&all);
    let open = all.iter().any(|node| source(&node));
    let (mut order, mut edges) = (Vec::new(), Vec::new());
    if !open {
        let mut depth = vec![usize::MAX; nodes.len()];
        for &start in starts {
            if depth[start] != usize::MAX {
                continue;
            }
            depth[start] = 0;
            let first = order.len();
            order.push(start);
            let mut next = first;
            while next < order.len() {
                let node = order[next];
                for &to in &routes[node] {
                    if depth[to] == usize::MAX {
                        depth[to] = depth[node] + 1;
                        order.push(to);
                    }
                    edges.push((node, to, depth[to] <= depth[node]));
                }
                next += 1;
            }
        }
        return (order, edges);
    }
    // 0: not visited; 1: in progress; 2: done.
    let mut seen = vec![0; nodes.len()];
    for &start in starts {
        if seen[start] != 0 {
            continue;
        }
        seen[start] = 1;
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let (from, Some(&to)) = (*node, routes[*node].get(*next)) else {
                seen[*node] = 2;
                order.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            edges.push((from, to, seen[to] == 1));
            if seen[to] == 0 {
                seen[to] = 1;
                stack.push((to, 0));
            }
        }
    }
    order.reverse();
    (order, edges)
}

/// The layer of each node: behind all nodes that lead to it. Targets of joined customers come
/// behind their tasks.
fn layers(nodes: &[Node], order: &[usize], edges: &[(usize, usize, bool)]) -> Vec<usize> {
    let mut layer = vec![0_usize; nodes.len()];
    let mut behind = vec![0; nodes.len()];
    for _ in 0..FORKS {
        layer.fill(0);
        for &node in order {
            let task = |to: usize| {
                nodes[node].pairs.iter().any(|pair| pair.tasks.iter().any(|route| route.node == to))
            };
            for &(_, to, _) in edges.iter().filter(|&&(from, _, back)| from == node && !back) {
                let far = if task(to) { 0 } else { behind[node] };
                layer[to] = layer[to].max(layer[node] + 1 + far);
            }
        }
        for &(from, to, back) in edges {
            if back && nodes[to].kind == Kind::Fork {
                behind[to] = behind[to].max(layer[from].saturating_sub(layer[to]));
            }
        }
    }
    // A node without predecessors is placed right before its first target.
    for &node in order.iter().rev() {
        let to = edges.iter().filter(|edge| edge.0 == node && !edge.2).map(|edge| layer[edge.1]).min();
        let led = edges.iter().any(|edge| edge.1 == node && !edge.2);
        if let (Some(to), false) = (to, led) {
            layer[node] = to - 1;
        }
    }
    layer
}

#[cfg(test)]
mod tests {
    use super::Layout;
    use crate::facility::{Delay, Distribution, Fork, Link, Network, Source, Station};

    #[test]
    fn a_round_begins_where_customers_are_and_goes_by_steps() {
        let station =
            |to: [&str; 2]| Station::new(Distribution::Exponential(1.0), to.map(|to| Link::to(to).with(0.5)));
        let network = Network::new("grid")
            .station("d", station(["b", "c"]))
            .station("b", station(["a", "d"]))
            .station("c", station(["d", "a"]))
            .station("a", station(["b", "c"]).with_population(1));
        let layout = Layout::new(&network.compile().unwrap().nodes);
        assert_eq!(layout.places.iter().map(|place| place.0).collect::<Vec<_>>(), [2, 1, 1, 0]);
        assert_eq!((layout.layers, layout.most), (3, 2));
        assert_eq!(layout.edges.iter().filter(|edge| edge.2).count(), 4);
    }

    #[test]
    fn layers_go_from_left_to_right_and_no_two_nodes_share_a_place() {
        let law = Distribution::Exponential(1.0);
        let network = Network::new("n")
            .source("in", Source::new(Distribution::Exponential(9.0), "first"))
            .source("late", Source::new(Distribution::Exponential(9.0), "third"))
            .station("first", Station::new(law, "parts"))
            .station("left", Station::new(law, "parts"))
            .station("right", Station::new(law, "more"))
            .station("more", Station::new(law, "parts"))
            .station("third", Station::new(law, [Link::to("first").with(0.2), Link::to("out")]))
            .delay("alone", Delay::new(law, "alone").with_population(1))
            .fork("parts", Fork::new(["left", "right"], "third"))
            .sink("out");
        let facility = network.compile().unwrap();
        let layout = Layout::new(&facility.nodes);
        let names: Vec<&str> = facility.nodes().collect();
        let layer = |name: &str| layout.places[names.iter().position(|known| *known == name).unwrap()].0;
        let expected = [
            ("in", 0),
            ("first", 1),
            ("parts", 2),
            ("left", 3),
            ("right", 3),
            ("more", 4),
            ("third", 5),
            ("late", 4),
            ("out", 6),
        ];
        for (name, expected) in expected {
            assert_eq!(layer(name), expected, "{name}");
        }
        for (number, place) in layout.places.iter().enumerate() {
            assert!(!layout.places[..number].contains(place), "{}", names[number]);
        }
        let back = |from: &str, to: &str| {
            layout.edges.iter().find(|edge| names[edge.0] == from && names[edge.1] == to).unwrap().2
        };
        assert!(back("third", "first") && back("more", "parts") && back("alone", "alone"));
        assert!(!back("parts", "third") && !back("right", "more"));
    }
}
