//! Compiles a network into the words that kernels read (see the head of
//! `shaders/facility/network/tables.wgsl`), and computes the capacity of LPs.

use crate::pdes::Capacity;
use crate::random::{AliasTable, probability};
use crate::time::{Resolution, Ticks};

use super::laws::{Places, next_row};
use super::streams::{self, ARRIVALS, DEPARTURES};
use super::{
    BLOCKS, FORK, HOLDS, IN_TURN, LIFO, NODE_WORDS, PAIR_WORDS, POLLING, PREEMPTIVE, RANDOM, RING,
    ROUTE_WORDS, ROUTER, SERVER_ROWS, SHARING, SHORTEST, SINK, SOURCE, STATION, SURE, WAKES, word,
};
use crate::facility::distribution::whole;
use crate::facility::nodes::{Choice, Kind, Node, Pair, ResolvedRoute};
use crate::facility::places::ClassesAtNodes;
use crate::facility::scale::TimeScale;
use crate::facility::traffic::work;
use crate::facility::{Discipline, Distribution};

/// The most servers that a node ever has.
pub(super) fn servers(node: &Node) -> u32 {
    match node.kind {
        Kind::Station { servers, .. } => servers.unwrap_or(SURE),
        _ => 0,
    }
}

pub(super) fn discipline(node: &Node) -> u32 {
    match node.kind {
        Kind::Station { discipline, .. } => match discipline {
            // Only the first customer leaves the line, and no blocked customers wait.
            Discipline::Fifo if !node.blocks && node.pairs.iter().all(|pair| pair.patience.is_none()) => RING,
            Discipline::Fifo => 0,
            Discipline::Lifo => LIFO,
            Discipline::Random => RANDOM,
            Discipline::Priority => 3,
            Discipline::Preemptive => PREEMPTIVE,
            Discipline::Sharing => SHARING,
            Discipline::Polling => POLLING,
        },
        _ => 0,
    }
}

/// Whether no customer waits here, or all wait in one ring.
pub(super) fn rings(node: &Node) -> bool {
    match node.kind {
        Kind::Station { .. } => discipline(node) == RING,
        Kind::Fork => false,
        _ => true,
    }
}

pub(super) fn flags(node: &Node, nodes: &[Node]) -> u32 {
    let flag = |does: bool, flag| if does { flag } else { 0 };
    let station = matches!(node.kind, Kind::Station { .. });
    let holds = station && node.holds(nodes);
    flag(node.blocks, BLOCKS)
        | flag(discipline(node) == PREEMPTIVE || node.breakdown.is_some(), SERVER_ROWS)
        | flag(holds, HOLDS)
        | flag(holds || station && !node.calendar.is_empty() || node.breakdown.is_some(), WAKES)
}

/// Histograms begin at 1/64 of the shortest mean service and reach to 2^32 times that.
pub(super) fn bin_shift(nodes: &[Node], resolution: Resolution) -> u32 {
    let laws = nodes.iter().flat_map(|node| &node.pairs).filter_map(|pair| pair.service);
    let means = laws.filter_map(|law| resolution.ticks(law.mean()).ok());
    let least = means.filter(|mean| *mean > Ticks::ZERO).min().unwrap_or(Ticks::ZERO);
    least.get().max(1).ilog2().saturating_sub(6).min(31)
}

/// The compiled network.
pub(super) struct Tables {
    /// The words that kernels read.
    pub(super) data: Vec<u32>,
    /// Lower bound on the delay of messages between nodes.
    pub(super) lookahead: Ticks,
}

/// Distributions and calendars have been checked.
const CHECKED: &str = "the network was checked";

pub(super) fn tables(nodes: &[Node], names: &[String], scale: TimeScale) -> Tables {
    let classes = names.len();
    let mut data = vec![0; nodes.len() * NODE_WORDS + nodes.len() * classes * PAIR_WORDS];
    let mut places = Places::default();
    let mut law = |data: &mut Vec<u32>, law: &Distribution| {
        places.of(data, law.words(scale).expect(CHECKED), law.table(scale).as_deref())
    };
    // A node that compares lines receives their changes at once, so there is no lookahead. Routes
    // of a node to itself do not matter.
    let choosers: Vec<(usize, &Node)> =
        nodes.iter().enumerate().filter(|(_, node)| node.choice == Choice::Shortest).collect();
    let mut lookahead = choosers.is_empty().then_some(Ticks::NEVER);
    for (number, node) in nodes.iter().enumerate() {
        let mut row = [0; NODE_WORDS];
        let known = match node.kind {
            Kind::Source { interarrival, class, batch } => {
                let at = law(&mut data, &interarrival);
                [SOURCE, 0, 0, 0, at, batch, word(class)]
            }
            Kind::Station { capacity, .. } => {
                [STATION, servers(node), capacity.unwrap_or(SURE), discipline(node), 0, 0, 0]
            }
            Kind::Router => [ROUTER, 0, 0, 0, 0, 0, 0],
            Kind::Fork => [FORK, 0, 0, 0, 0, 0, 0],
            Kind::Sink => [SINK, 0, 0, 0, 0, 0, 0],
        };
        row[..7].copy_from_slice(&known);
        let source = matches!(node.kind, Kind::Source { .. });
        if !node.calendar.is_empty() {
            [row[7], row[8]] = [word(data.len()), word(node.calendar.len())];
        }
        for &(lasts, value) in &node.calendar {
            let ticks = whole(lasts, scale).expect(CHECKED);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "servers, as they were said"
            )]
            let value = if source { odds(value) } else { value as u32 };
            data.extend(ticks.to_words().into_iter().chain([value]));
        }
        if let Some((up, down)) = &node.breakdown {
            row[9] = law(&mut data, up);
            row[10] = law(&mut data, down);
        }
        if !node.balking.is_empty() {
            [row[11], row[12]] = [word(data.len()), word(node.balking.len())];
            data.extend(node.balking.iter().map(|&leaves| odds(1.0 - leaves)));
        }
        // Each node that chooses the shortest line listens to those lines.
        let place = |&(lp, other): &(usize, &Node)| {
            let routes = other.pairs.iter().find(|pair| !pair.routes.is_empty())?;
            let place = routes.routes.iter().position(|route| route.node == number)?;
            Some([word(lp), word(place)])
        };
        let listeners: Vec<_> = choosers.iter().filter_map(place).collect();
        [row[13], row[14]] = [word(data.len()), word(listeners.len())];
        data.extend(listeners.as_flattened());
        row[15] = flags(node, nodes);
        [row[16], row[17]] = Ticks::new(streams::name(node, None)).to_words();
        data[number * NODE_WORDS..][..NODE_WORDS].copy_from_slice(&row);
        for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.comes) {
            let mut row = [0; PAIR_WORDS];
            if let Some(service) = &pair.service {
                row[0] = law(&mut data, service);
            }
            if let Some(patience) = pair.patience.as_ref().filter(|law| !law.is_never(scale)) {
                row[1] = law(&mut data, patience);
            }
            row[3] = word(pair.routes.len());
            row[4] = match node.choice {
                Choice::Chance => 0,
                Choice::InTurn => IN_TURN,
                Choice::Shortest => SHORTEST,
            };
            row[5] = if matches!(discipline(node), 3 | PREEMPTIVE | POLLING) { word(class) } else { 0 };
            row[6] = pair.population;
            row[7] = word(pair.tasks.len());
            let mut travel = Vec::new();
            for route in pair.all_routes() {
                let at = route.travel.map_or(0, |travel| law(&mut data, &travel));
                travel.push(at);
                let least = match data[at as usize..].first_chunk() {
                    Some(words) if at > 0 => Distribution::least(words),
                    _ => Ticks::ZERO,
                };
                if route.node != number {
                    lookahead = lookahead.map(|lookahead| lookahead.min(least));
                }
            }
            [row[8], row[9]] = Ticks::new(streams::name(node, Some(&names[class]))).to_words();
            let departs = pair.routes.len() > 1 || travel.iter().any(|&travel| travel > 0);
            let arrives = pair.patience.is_some() || !node.balking.is_empty();
            row[10] = if departs { DEPARTURES } else { 0 } | if arrives { ARRIVALS } else { 0 };
            row[2] = next_row(&mut data);
            let (of_ways, of_tasks) = travel.split_at(pair.routes.len());
            data.extend(routes(pair, of_ways));
            let tasks = pair.tasks.iter().zip(of_tasks);
            data.extend(tasks.flat_map(|(route, &travel)| route_words([0, 0], route, travel)));
            data[nodes.len() * NODE_WORDS + (number * classes + class) * PAIR_WORDS..][..PAIR_WORDS]
                .copy_from_slice(&row);
        }
    }
    // Kernels read whole rows.
    next_row(&mut data);
    let lookahead = lookahead.filter(|&lookahead| lookahead != Ticks::NEVER).unwrap_or(Ticks::ZERO);
    Tables { data, lookahead }
}

/// A checked probability, in units of 2^-32; larger ones saturate.
pub(in crate::facility) fn odds(value: f64) -> u32 {
    probability(value).unwrap_or(SURE)
}

/// An alias table with the target of each route and the distribution of its travel time.
fn routes(pair: &Pair, travel: &[u32]) -> Vec<u32> {
    let weights: Vec<f64> = pair.routes.iter().map(|route| route.probability).collect();
    let Ok(table) = AliasTable::new(&weights) else { return Vec::new() }; // a sink, which has no routes
    let slots = table.words().chunks_exact(2).zip(pair.routes.iter().zip(travel));
    slots.flat_map(|(slot, (route, &travel))| route_words([slot[0], slot[1]], route, travel)).collect()
}

fn route_words([threshold, other]: [u32; 2], route: &ResolvedRoute, travel: u32) -> [u32; ROUTE_WORDS] {
    // Distributions begin at rows.
    [threshold, other, word(route.node), travel | word(route.class)]
}

/// Initial customers, each multiplied by the tasks that nested forks create of it at once.
pub(super) fn population(nodes: &[Node]) -> u32 {
    let begin = nodes.iter().enumerate().flat_map(|(number, node)| {
        let here = node.pairs.iter().enumerate().filter(|(_, pair)| pair.population > 0);
        here.map(move |(class, _)| (number, class))
    });
    let places = ClassesAtNodes::from(nodes, &begin.collect::<Vec<_>>()).expect("the network was checked");
    nodes
        .iter()
        .fold(0_u32, |sum, node| sum.saturating_add(held_at_first(node)))
        .saturating_mul(places.tasks(nodes))
}

/// Customers at a node at the beginning.
fn held_at_first(node: &Node) -> u32 {
    node.pairs.iter().fold(0, |sum, pair| sum.saturating_add(pair.population))
}

/// Event capacity of LPs: the next arrival of a source; at a station an event for each customer in
/// service, with patience, or on its way there. Message capacity for a window, which is as long as
/// the lookahead.
pub(super) fn capacity(nodes: &[Node], scale: TimeScale, lookahead: Ticks) -> Capacity {
    let all = population(nodes);
    // By node, the average number of customers on their way to it and their rate, of those from
    // outside; and whether others travel to it.
    let mut coming = vec![(0.0, 0.0); nodes.len()];
    let mut inside = vec![false; nodes.len()];
    for pair in nodes.iter().flat_map(|node| &node.pairs).filter(|pair| pair.comes && !pair.from_outside) {
        for route in pair.all_routes().filter(|route| route.travel.is_some()) {
            inside[route.node] = true;
        }
    }
    for pair in nodes.iter().flat_map(|node| &node.pairs).filter(|pair| pair.from_outside) {
        for route in pair.all_routes() {
            let rate = pair.rate * route.probability;
            coming[route.node].0 += rate * route.mean_travel();
            coming[route.node].1 += rate;
        }
    }
    let held = |((node, (travel, _)), inside): ((&Node, &(f64, f64)), &bool)| {
        let known = held_at_first(node);
        let others = if *inside { all } else { 0 };
        let Kind::Station { servers, .. } = node.kind else {
            let open = if travel.is_finite() { Capacity::poisson(*travel, 0.0).queue } else { 0 };
            return open.saturating_add(others).saturating_add(4);
        };
        let mut load = work(node) + travel;
        for pair in node.pairs.iter().filter(|pair| pair.from_outside) {
            let patience = pair.patience.filter(|law| !law.is_never(scale));
            load += pair.rate * patience.map_or(0.0, |patience| patience.mean());
        }
        let open = if load.is_finite() { Capacity::poisson(load, 0.0).queue } else { 1 };
        let served = servers.map_or(all, |servers| servers.min(all)).saturating_add(open);
        served.max(known).saturating_add(others).saturating_add(4)
    };
    let queue = nodes.iter().zip(&coming).zip(&inside).map(held).max().unwrap_or(1).clamp(8, 1 << 16);
    let most = coming.iter().map(|coming| coming.1).filter(|rate| rate.is_finite()).fold(0.0, f64::max);
    let mailbox = Capacity::poisson(0.0, most * scale.resolution.units(lookahead)).mailbox.clamp(16, 1 << 12);
    Capacity { queue, mailbox }
}

#[cfg(test)]
mod tests {
    use super::population;
    use crate::facility::{Delay, Distribution, Fork, Network};

    #[test]
    fn tasks_are_those_of_forks_within_each_other() {
        let law = Distribution::Exponential(1.0);
        // Three tasks of `first` go to `a`, two of `second` to `b`.
        let of = |from_a: &str, from_first: &str, from_second: &str| {
            let network = Network::new("forks")
                .delay("begin", Delay::new(law, "first").with_population(5))
                .delay("a", Delay::new(law, from_a))
                .delay("b", Delay::new(law, "second"))
                .fork("first", Fork::new(["a", "a", "a"], from_first))
                .fork("second", Fork::new(["b", "b"], from_second));
            population(&network.compile().unwrap().nodes)
        };
        assert_eq!(of("first", "second", "begin"), 15, "after each other");
        assert_eq!(of("second", "begin", "first"), 30, "within each other");
    }
}
