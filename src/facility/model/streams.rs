//! The reference implementation of `shaders/facility/network/streams.wgsl`, and the names of random
//! streams.

use std::collections::HashMap;

use super::records::CAME_BEFORE;
use super::{FORK, NetworkContext, ROUTER, SINK, SOURCE, STATION, word};
use crate::facility::Facility;
use crate::facility::nodes::{Kind, Node};
use crate::random::mix;

shared! {
    "facility/network/streams.wgsl":
    // Counts of a class at a node that number its random draws.
    pub(super) const DEPARTURES: u32;
    pub(super) const ARRIVALS: u32;
}

/// Kinds of draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Draw {
    Service,
    ResolvedRoute,
    Travel,
    Patience,
    Stays,
    Up,
    Repair,
    Pick,
}

/// The kind of hash that names random streams, in [`mix`].
const STREAMS: u32 = u32::from_be_bytes(*b"name");

/// The name of the random streams of a node, or of a class there: a hash of the node's kind and
/// name, and of the class's name. The lowest 12 bits are zero; the draw fills them.
pub(in crate::facility) fn name(node: &Node, class: Option<&str>) -> u64 {
    let kind = match node.kind {
        Kind::Source { .. } => SOURCE,
        Kind::Station { .. } => STATION,
        Kind::Router => ROUTER,
        Kind::Fork => FORK,
        Kind::Sink => SINK,
    };
    // Each text follows its length, so different pairs of names give different words.
    let texts = [Some(&*node.name), class].into_iter().flatten();
    let words = texts.flat_map(|text| std::iter::once(word(text.len())).chain(text.bytes().map(u32::from)));
    mix(STREAMS, std::iter::once(kind).chain(words)) & !0xfff
}

/// The first two nodes, or classes at nodes, whose random streams have the same name.
pub(super) fn collision(nodes: &[Node], classes: &[String]) -> Option<[String; 2]> {
    let names = |node: &Node| {
        let here = node.pairs.iter().zip(classes).filter(|(pair, _)| pair.comes);
        let of_classes = here.map(|(_, class)| Some(&**class));
        std::iter::once(None).chain(of_classes).map(|class| name(node, class)).collect::<Vec<_>>()
    };
    let all: Vec<_> =
        nodes.iter().flat_map(|node| names(node).into_iter().map(move |name| (name, node))).collect();
    let [first, second] = same(all.iter().map(|(name, _)| *name))?;
    Some([first, second].map(|place| all[place].1.name.clone()))
}

/// The indices of the first number that occurs twice.
fn same(numbers: impl Iterator<Item = u64>) -> Option<[usize; 2]> {
    let mut seen = HashMap::new();
    numbers.enumerate().find_map(|(place, number)| Some([seen.insert(number, place)?, place]))
}

impl Facility {
    /// The name of the substreams of a draw for a class at a node, for one of several customers of
    /// one event.
    pub(super) fn pair_name(&self, lp: u32, class: u32, draw: Draw, customer: u32) -> u64 {
        let [low, high] = [8, 9].map(|index| u64::from(self.pair(lp, class, index)));
        high << 32 | low | u64::from(8 * customer + draw as u32)
    }

    /// The name of the substreams of a draw for the node.
    pub(super) fn node_name(&self, lp: u32, draw: Draw) -> u64 {
        let [low, high] = [16, 17].map(|index| u64::from(self.node(lp, index)));
        high << 32 | low | u64::from(draw as u32)
    }

    /// Counts an arrival of a class that may draw random numbers. Returns the count before it.
    pub(super) fn next_arrival(&self, lp: u32, class: u32, context: &mut NetworkContext<'_>) -> u32 {
        if self.pair(lp, class, 10) & ARRIVALS == 0 {
            return 0;
        }
        let row = self.others_of(class) + CAME_BEFORE;
        let [count, ..] = context.memory_get(row);
        context.memory_set(row, [count.wrapping_add(1), 0, 0, 0]);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::{name, same};
    use crate::facility::nodes::Kind;
    use crate::facility::{Delay, Distribution, Network};

    #[test]
    fn numbers_that_are_there_twice_are_found() {
        assert_eq!(same([5, 7, 1 << 40, 7].into_iter()), Some([1, 3]));
        assert_eq!(same([5, 7, 5 << 32].into_iter()), None);
    }

    #[test]
    fn streams_of_nodes_and_classes_have_names_of_their_own() {
        let law = Distribution::Exponential(1.0);
        let network = Network::new("names")
            .delay("ab", Delay::new(law, "b").with_population(1))
            .delay("b", Delay::new(law, "ab"));
        let mut nodes = network.compile().unwrap().nodes;
        nodes[1].kind = Kind::Router;
        let names = [(0, None), (0, Some("c")), (0, Some("")), (1, None), (1, Some("c"))];
        let names = names.map(|(node, class)| name(&nodes[node], class));
        assert_eq!(same(names.into_iter()), None);
        assert!(names.iter().all(|name| name & 0xfff == 0));
        nodes[1].kind = nodes[0].kind;
        nodes[1].name = "ab".to_owned();
        assert_eq!(name(&nodes[0], Some("c")), name(&nodes[1], Some("c")));
    }
}
