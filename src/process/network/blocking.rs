//! Finds the stations of a network that may wait for each other for ever, and the variables that
//! say whether they do.

use crate::facility::nodes::{Kind, Node, Pair, shrink};

use super::super::blocking::{BlockingStation, Part};
use super::write::Names;

/// By node, whether it is a station that may wait for one that waits for itself.
pub(super) fn cyclic(nodes: &[Node]) -> Vec<bool> {
    let targets: Vec<Vec<usize>> = nodes.iter().map(|node| node.held_targets(nodes)).collect();
    let fed: Vec<Vec<Fed>> = (0..nodes.len()).map(|number| fed(nodes, number)).collect();
    let serves = |node: &Node| matches!(node.kind, Kind::Station { servers: Some(_), .. });
    let mut found: Vec<bool> = nodes.iter().map(serves).collect();
    shrink(&mut found, |found, number| {
        let lacks = |part: &Fed| part.from.iter().all(|&from| found[from]);
        targets[number].iter().any(|&to| found[to]) || fed[number].iter().any(lacks)
    });
    found
}

/// The number of customers that keep a server of a station and wait for room at another one.
pub(super) fn waits(names: &Names, from: usize, to: usize) -> String {
    format!("{}__{to}", names.of("waits", from))
}

/// A part of an assembly that only stations send.
struct Fed {
    class: usize,
    /// How many a service takes.
    count: u32,
    /// The stations.
    from: Vec<usize>,
}

/// The parts of an assembly that blocks, without those that others send, or that may be on their
/// way without a server: these come later.
fn fed(nodes: &[Node], number: usize) -> Vec<Fed> {
    let node = &nodes[number];
    let parts = node.beyond.parts().iter().filter(|_| node.blocks && node.beyond.regions.is_empty());
    let found = parts.filter_map(|&(class, count)| {
        let from = senders(nodes, number, class).filter(|from| !from.is_empty())?;
        Some(Fed { class, count, from })
    });
    found.collect()
}

/// The stations that send a class to a node, directly or through routers, if nothing else does.
fn senders(nodes: &[Node], number: usize, class: usize) -> Option<Vec<usize>> {
    let (mut found, mut next) = (Vec::new(), vec![(number, class)]);
    let mut seen = next.clone();
    while let Some(target) = next.pop() {
        let places = nodes.iter().enumerate();
        let pairs =
            places.flat_map(|(from, node)| (0..).zip(&node.pairs).map(move |(of, pair)| (from, of, pair)));
        for (from, of, pair) in pairs.filter(|(_, _, pair)| pair.comes || pair.from_outside) {
            let leads: Vec<_> =
                pair.all_routes().filter(|route| (route.node, route.class) == target).collect();
            if leads.is_empty() {
                continue;
            }
            let held = |pair: &Pair| pair.tasks.is_empty() && pair.reneged.is_empty();
            match nodes[from].kind {
                _ if !held(pair) || leads.iter().any(|route| route.travel.is_some()) => return None,
                Kind::Router if seen.contains(&(from, of)) => {}
                Kind::Router => {
                    seen.push((from, of));
                    next.push((from, of));
                }
                Kind::Station { servers: Some(_), .. } => found.push(from),
                _ => return None,
            }
        }
    }
    Some(found)
}

/// The stations that may wait for each other.
pub(super) fn stations(nodes: &[Node], names: &Names) -> Vec<BlockingStation> {
    let cyclic = cyclic(nodes);
    let all: Vec<usize> = (0..nodes.len()).filter(|&node| cyclic[node]).collect();
    let place = |node: usize| all.iter().position(|&known| known == node);
    let of = |&number: &usize| {
        let node = &nodes[number];
        let Kind::Station { servers: Some(servers), capacity, .. } = node.kind else { return None };
        let targets = node.held_targets(nodes).into_iter();
        let waits = targets.filter_map(|to| Some((waits(names, number, to), place(to)?)));
        let coming: Vec<usize> = (0..node.pairs.len()).filter(|&class| node.pairs[class].comes).collect();
        let level = |what: &str, class: usize, sign: i64| (names.pair(what, number, class), sign);
        let line = |class: usize| vec![level("number", class, 1), level("busy", class, -1)];
        // All of these are served, and no customer with a place is still on its way.
        let leaves = |class: usize| node.blocks && node.pairs[class].patience.is_some();
        let impatient = coming.iter().filter(|&&class| leaves(class));
        let mut patient: Vec<_> = impatient.map(|&class| (line(class), 0)).collect();
        if !patient.is_empty() {
            let rooms: u32 = match node.beyond.parts().is_empty() {
                true => capacity.unwrap_or(0),
                false => coming.iter().filter_map(|&class| node.room(class)).sum(),
            };
            patient.push((coming.iter().map(|&class| level("number", class, 1)).collect(), rooms.into()));
        }
        let parts = fed(nodes, number).into_iter().filter_map(|part| {
            let from = part.from.into_iter().map(place).collect::<Option<_>>()?;
            Some(Part { line: (line(part.class), part.count.into()), from })
        });
        let leads = node.beyond.parts().iter().map(|part| level("leads", part.0, 1));
        Some(BlockingStation {
            name: node.name.clone(),
            servers: servers.into(),
            waits: waits.collect(),
            patient,
            held: leads.collect(),
            parts: parts.collect(),
        })
    };
    all.iter().filter_map(of).collect()
}
