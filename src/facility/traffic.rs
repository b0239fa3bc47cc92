//! Which customers reach which nodes, at which rates, and whether all lines are stable.

use indexmap::IndexMap;

use super::nodes::{Choice, Kind, Node, Pair, ResolvedRoute, entered};
use super::places::ClassesAtNodes;
use super::{Discipline, Distribution, FacilityError, Region};

/// Most places of customers (a node, a class and, for tasks, the fork) for traffic equations:
/// elimination takes their third power.
const MOST_PAIRS: usize = 1500;

/// Most solutions of traffic equations with assemblies: as many as follow each other.
const MOST_ROUNDS: usize = 64;

/// Finds which classes reach which nodes, and checks that each arrival has a service and a route.
/// Returns the places of customers from outside.
pub(super) fn arrive(nodes: &mut [Node], classes: &[String]) -> Result<ClassesAtNodes, FacilityError> {
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    for (number, node) in nodes.iter().enumerate() {
        match node.kind {
            Kind::Source { class, .. } => outside.push((number, class)),
            _ => {
                let here = (0..classes.len()).filter(|&class| node.pairs[class].population > 0);
                inside.extend(here.map(|class| (number, class)));
            }
        }
    }
    let outside = ClassesAtNodes::from(nodes, &outside)?;
    for place in ClassesAtNodes::from(nodes, &inside)?.all.iter().chain(&outside.all) {
        nodes[place.node].pairs[place.class].comes = true;
    }
    for place in &outside.all {
        nodes[place.node].pairs[place.class].from_outside = true;
    }
    for node in nodes.iter() {
        let name = node.name.clone();
        if !node.pairs.iter().any(|pair| pair.comes) {
            return Err(FacilityError::Unreachable { node: name });
        }
        for (class, pair) in classes.iter().zip(&node.pairs).filter(|(_, pair)| pair.comes) {
            if node.kind == Kind::Sink {
                continue;
            }
            if let Kind::Station { servers, .. } = node.kind
                && pair.service.is_none()
            {
                let what = if servers.is_some() { "service" } else { "time" };
                return Err(FacilityError::NoTime { node: name, class: class.clone(), what });
            }
            if pair.routes.is_empty() || node.kind == Kind::Fork && pair.tasks.is_empty() {
                return Err(FacilityError::NoWay { node: name, class: class.clone() });
            }
        }
    }
    for (number, class) in classes.iter().enumerate() {
        if !nodes.iter().any(|node| node.pairs[number].comes) {
            return Err(FacilityError::NoCustomers { class: class.clone() });
        }
    }
    Ok(outside)
}

/// Checks that every customer from outside can leave, through a sink or by its patience.
pub(super) fn leave(
    nodes: &[Node],
    outside: &ClassesAtNodes,
    classes: &[String],
) -> Result<(), FacilityError> {
    match outside.all.iter().zip(outside.leave(nodes)).find(|(_, leaves)| !leaves) {
        None => Ok(()),
        Some((place, _)) => Err(FacilityError::NoWayOut {
            node: nodes[place.node].name.clone(),
            class: classes[place.class].clone(),
        }),
    }
}

/// Computes the rates of customers from outside.
pub(super) fn traffic(nodes: &mut [Node], outside: &ClassesAtNodes) -> Result<(), FacilityError> {
    let pairs = nodes.iter_mut().flat_map(|node| &mut node.pairs).filter(|pair| pair.from_outside);
    pairs.for_each(|pair| pair.rate = f64::NAN);
    let rates = rates(nodes, outside, |_, _, _| true)?;
    for (node, rates) in nodes.iter_mut().zip(rates) {
        for (pair, rate) in node.pairs.iter_mut().zip(rates) {
            pair.rate = rate;
        }
    }
    Ok(())
}

/// Solves the traffic equations of customers from outside: the rate of a place is that of its
/// source, plus the rate of each place before it times the probability of the route (1 for tasks).
/// Only routes for which `counts` holds are used. Returns rates by node and class; at forks, of
/// forked customers.
///
/// What leaves an assembly is not linear in what comes: the scarcest part bounds it. The shares of
/// the parts follow from the last solution, until it stays the same.
fn rates(
    nodes: &[Node],
    outside: &ClassesAtNodes,
    counts: impl Fn(&Node, usize, &ResolvedRoute) -> bool,
) -> Result<Vec<Vec<f64>>, FacilityError> {
    let size = outside.all.len();
    if size > MOST_PAIRS {
        return Err(FacilityError::Unchecked { pairs: size, most: MOST_PAIRS });
    }
    let flow = |node: &Node, class: usize| node.beyond.flow() * part_flow(node, class, None);
    let mut flows: Vec<Vec<f64>> =
        nodes.iter().map(|node| (0..node.pairs.len()).map(|class| flow(node, class)).collect()).collect();
    let mut rates = linear_rates(nodes, outside, &counts, &flows);
    for _ in 0..if nodes.iter().any(|node| !node.beyond.parts().is_empty()) { MOST_ROUNDS } else { 0 } {
        for ((node, flows), rates) in nodes.iter().zip(&mut flows).zip(&rates) {
            for (class, flow) in flows.iter_mut().enumerate().filter(|_| !node.beyond.parts().is_empty()) {
                *flow = node.beyond.flow() * part_flow(node, class, Some(rates));
            }
        }
        let next = linear_rates(nodes, outside, &counts, &flows);
        let pairs = rates.iter().flatten().zip(next.iter().flatten());
        let same = pairs.into_iter().all(|(last, next)| (last - next).abs() <= 1e-12 * last.abs());
        rates = next;
        if same {
            break;
        }
    }
    Ok(rates)
}

/// The share of the customers of a class that leaves an assembly as what is made there: each part
/// has an equal share in it. Without rates, as if those of all parts were in proportion.
fn part_flow(node: &Node, class: usize, rates: Option<&Vec<f64>>) -> f64 {
    let parts = node.beyond.parts();
    let Some(&(_, count)) = parts.iter().find(|part| part.0 == class) else { return 1.0 };
    let known = parts.iter().filter(|part| node.pairs[part.0].from_outside).count().max(1);
    #[expect(clippy::cast_precision_loss, reason = "a number of parts")]
    let known = known as f64;
    match rates {
        None => 1.0 / f64::from(count) / known,
        Some(rates) if rates[class] > 0.0 => assembled(node, |part| rates[part]) / rates[class] / known,
        Some(_) => 0.0,
    }
}

/// How many are assembled in a unit of time at most, from the rates of parts from outside.
fn assembled(node: &Node, rate: impl Fn(usize) -> f64) -> f64 {
    let known = node.beyond.parts().iter().filter(|part| node.pairs[part.0].from_outside);
    known.map(|&(class, count)| rate(class) / f64::from(count)).fold(f64::INFINITY, f64::min)
}

/// The same for given shares of the customers that leave each node, by class.
fn linear_rates(
    nodes: &[Node],
    outside: &ClassesAtNodes,
    counts: &impl Fn(&Node, usize, &ResolvedRoute) -> bool,
    flows: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let size = outside.all.len();
    // Rows of (1 - the transposed routing matrix), and in the last column the rates of sources.
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (number, place) in outside.all.iter().enumerate() {
        let node = &nodes[place.node];
        rows[number][number] += 1.0;
        if let Kind::Source { interarrival, batch, .. } = node.kind {
            let share = if node.calendar.is_empty() { 1.0 } else { node.average() };
            rows[number][size] = share * f64::from(batch) / interarrival.mean();
        }
        for step in place.steps.iter().filter(|step| !step.reneges && counts(node, place.class, &step.route))
        {
            if let Some(to) = step.to {
                rows[to][number] -= step.route.probability * flows[place.node][place.class];
            }
        }
    }
    let mut rates: Vec<_> = nodes.iter().map(|node| vec![0.0; node.pairs.len()]).collect();
    for (place, rate) in outside.all.iter().zip(eliminate(rows)) {
        rates[place.node][place.class] += rate;
    }
    rates
}

/// Gaussian elimination with column pivots: the solution of rows of coefficients with the
/// right-hand side in the last column.
pub(super) fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let size = rows.len();
    for column in 0..size {
        let largest = |a: &usize, b: &usize| rows[*a][column].abs().total_cmp(&rows[*b][column].abs());
        let pivot = (column..size).max_by(largest).unwrap_or(column);
        rows.swap(column, pivot);
        let (above, below) = rows.split_at_mut(column + 1);
        let top = &above[column];
        for row in below {
            let factor = row[column] / top[column];
            if factor != 0.0 {
                for (value, above) in row[column..].iter_mut().zip(&top[column..]) {
                    *value -= factor * above;
                }
            }
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|column| rows[row][column] * solution[column]).sum();
        solution[row] = (rows[row][size] - known) / rows[row][row];
    }
    solution
}

/// The work that arrives at a station from outside, in servers.
pub(super) fn work(node: &Node) -> f64 {
    if let Some(&(first, _)) = node.beyond.parts().first() {
        let service = node.pairs[first].service.map_or(0.0, |service| service.mean());
        let all = assembled(node, |part| node.pairs[part].rate);
        return if all.is_finite() { all * service } else { 0.0 };
    }
    let of = |pair: &Pair| pair.rate * pair.service.map_or(0.0, |service| service.mean());
    node.pairs.iter().filter(|pair| pair.from_outside).map(of).sum()
}

/// Whether any node mixes classes, so that the traffic equations do not describe the network.
pub(super) fn mixes(nodes: &[Node]) -> bool {
    nodes.iter().any(Node::mixes)
}

/// Checks that no line grows without end: a station without a capacity has to serve all arrivals,
/// assuming none is lost on the way. Behind nodes that mix classes, and at stations that block,
/// only flows that certainly arrive count; if they are too large, a line before them grows.
pub(super) fn stable(
    nodes: &[Node],
    outside: &ClassesAtNodes,
    classes: &[String],
    regions: &IndexMap<String, Region>,
) -> Result<(), FacilityError> {
    // At a load of exactly 1 a line grows only through randomness, so it is bounded if nothing
    // varies.
    let most = if nodes.iter().all(is_fixed) { 1.0 + 1e-12 } else { 1.0 };
    let unstable = |node: String, load: f64| {
        if load >= most { Err(FacilityError::Unstable { node, load }) } else { Ok(()) }
    };
    // Where customers that become several return in equal or larger number, the traffic equations
    // have no solution, or one with negative rates.
    let grows = |pair: &Pair| pair.from_outside && !(-1e-9..f64::INFINITY).contains(&pair.rate);
    let growing = || nodes.iter().filter(|node| node.pairs.iter().any(grows));
    let station = growing().find(|node| matches!(node.kind, Kind::Station { .. }));
    if let Some(node) = station.or_else(|| growing().next()) {
        return Err(FacilityError::Unstable { node: node.name.clone(), load: f64::INFINITY });
    }
    let behind = behind(nodes, Node::mixes);
    // Customers of a source may be lost at a station that blocks, also behind routers.
    let entered = entered(nodes);
    let is_fresh = |node: &Node| match node.kind {
        Kind::Source { .. } => true,
        Kind::Router => nodes.iter().zip(&entered).any(|(of, &entered)| entered && std::ptr::eq(of, node)),
        _ => false,
    };
    let sure = if nodes.iter().any(|node| node.blocks || node.mixes()) {
        rates(nodes, outside, |node, class, route| {
            let lost = nodes[route.node].blocks && is_fresh(node);
            node.keeps(class) && !node.mixes() && !lost
        })?
    } else {
        Vec::new()
    };
    for (number, node) in nodes.iter().enumerate() {
        let Kind::Station { servers: Some(servers), capacity, .. } = node.kind else { continue };
        if !node.beyond.parts().is_empty() {
            let of = |class: usize| match node.blocks || behind[number] {
                true => sure[number][class],
                false => node.pairs[class].rate,
            };
            match waiting_part(node, servers, of).filter(|(_, load)| *load >= most) {
                None => continue,
                Some((class, load)) => {
                    let (node, class) = (node.name.clone(), classes[class].clone());
                    return Err(FacilityError::Unmatched { node, class, load });
                }
            }
        }
        // Customers whose patience ends bound the line.
        if node.pairs.iter().filter(|pair| pair.from_outside).all(|pair| pair.patience.is_some()) {
            continue;
        }
        // The effect of balking is unknown.
        if node.balking.last().is_some_and(|leaves| *leaves > 0.0) {
            continue;
        }
        let work = match capacity {
            Some(_) if !node.blocks => continue,
            None if !behind[number] => work(node),
            _ => sure_work(node, &sure[number]),
        };
        unstable(node.name.clone(), work / node.fastest(servers))?;
        let of_class = |class: usize| {
            let pair = &node.pairs[class];
            let waits = pair.from_outside && pair.patience.is_none();
            let rate = if capacity.is_none() && !behind[number] { pair.rate } else { sure[number][class] };
            if waits { rate * pair.service.map_or(0.0, |service| service.mean()) } else { 0.0 }
        };
        unstable(node.name.clone(), node.load_of_groups(servers, of_class))?;
    }
    for number in
        (0..nodes.len()).filter(|&number| nodes[number].choice == Choice::Shortest && nodes[number].mixes())
    {
        if let Some((names, load)) = together_loaded(nodes, number, &sure) {
            unstable(names, load)?;
        }
    }
    for (number, (name, region)) in regions.iter().enumerate() {
        let inside = nodes.iter().enumerate().filter(|(_, node)| node.beyond.regions.contains(&number));
        let needed = inside.map(|(place, node)| match node.blocks || behind[place] {
            true => places(node, |class| sure[place][class]),
            false => places(node, |class| node.pairs[class].rate),
        });
        let load = needed.sum::<f64>() / f64::from(region.capacity);
        if load >= most {
            return Err(FacilityError::CrowdedRegion { region: name.clone(), load });
        }
    }
    Ok(())
}

/// The places of a region that customers from outside at least need at a node, on average: those
/// that stay until they are served, where each needs its whole service time.
fn places(node: &Node, rate: impl Fn(usize) -> f64) -> f64 {
    let beyond = &node.beyond;
    if !beyond.groups.is_empty() || !beyond.speeds.is_empty() || beyond.batch.is_some() {
        return 0.0;
    }
    let stays = |class: &usize| node.pairs[*class].from_outside && node.keeps(*class);
    let of = |class: usize| rate(class) * node.pairs[class].service.map_or(0.0, |service| service.mean());
    (0..node.pairs.len()).filter(stays).map(of).sum()
}

/// The part of an assembly whose customers wait for ever, if too many come for the other parts or
/// for the servers: with how many times as many. `sure` is the rate of those that certainly come.
fn waiting_part(node: &Node, servers: u32, sure: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
    let parts = node.beyond.parts();
    let load = |&(class, count): &(usize, u32)| {
        let others = parts.iter().filter(|part| part.0 != class && node.pairs[part.0].from_outside);
        let others = others.map(|&(other, count)| node.pairs[other].rate / f64::from(count));
        let service = node.pairs[class].service.map_or(0.0, |service| service.mean());
        let most = others.fold(node.fastest(servers) / service, f64::min);
        (class, sure(class) / f64::from(count) / most)
    };
    let stays = |part: &&(usize, u32)| node.pairs[part.0].from_outside && node.keeps(part.0);
    let loads = parts.iter().filter(stays).map(load);
    loads.filter(|(_, load)| !load.is_nan()).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Whether a node is deterministic: constant times, and no probabilities, breakdowns or schedules.
fn is_fixed(node: &Node) -> bool {
    let constant = |law: &Distribution| matches!(law, Distribution::Constant(_));
    let arrives = match &node.kind {
        Kind::Source { interarrival, .. } => constant(interarrival),
        Kind::Station { discipline, .. } => *discipline != Discipline::Random,
        _ => true,
    };
    let of_pair = |pair: &Pair| {
        let certain = node.choice != Choice::Chance || pair.routes.len() <= 1;
        let mut times =
            pair.service.iter().chain(pair.all_routes().filter_map(|route| route.travel.as_ref()));
        certain && times.all(constant)
    };
    let plain = node.calendar.is_empty() && node.breakdown.is_none() && node.balking.is_empty();
    arrives && plain && node.pairs.iter().filter(|pair| pair.comes).all(of_pair)
}

/// By node, whether customers reach it through a node whose flow depends on more than fixed shares.
pub(super) fn behind(nodes: &[Node], is_unsure: impl Fn(&Node) -> bool) -> Vec<bool> {
    let mut behind = vec![false; nodes.len()];
    let mut next: Vec<usize> = (0..nodes.len()).filter(|&number| is_unsure(&nodes[number])).collect();
    while let Some(number) = next.pop() {
        for route in nodes[number].pairs.iter().filter(|pair| pair.from_outside).flat_map(Pair::all_routes) {
            if !std::mem::replace(&mut behind[route.node], true) {
                next.push(route.node);
            }
        }
    }
    behind
}

/// The work that certainly arrives at a station and stays until it is served, in servers, from
/// rates by class.
fn sure_work(node: &Node, rates: &[f64]) -> f64 {
    let patient =
        node.pairs.iter().zip(rates).filter(|(pair, _)| pair.from_outside && pair.patience.is_none());
    patient.map(|(pair, rate)| rate * pair.service.map_or(0.0, |service| service.mean())).sum()
}

/// The stations of a shortest-line choice, and a lower bound of their joint load, however it is
/// divided. `None` if customers may leave them, or if none waits.
///
/// Each station's work has a weight, and each class counts at the station with its least weighted
/// service. This is a bound for all weights; here a station's weight is one over its mean service,
/// so for one class it is the arrival rate over the sum of the service rates.
fn together_loaded(nodes: &[Node], number: usize, sure: &[Vec<f64>]) -> Option<(String, f64)> {
    let node = &nodes[number];
    let lines: Vec<usize> = node
        .pairs
        .iter()
        .find(|pair| !pair.routes.is_empty())?
        .routes
        .iter()
        .map(|route| route.node)
        .collect();
    let coming: Vec<(usize, f64)> = (0..node.pairs.len())
        .filter(|&class| node.pairs[class].from_outside && node.keeps(class))
        .map(|class| (class, sure[number][class]))
        .collect();
    let all: f64 = coming.iter().map(|(_, rate)| rate).sum();
    let (mut there, mut work, mut names) = (0.0, 0.0, Vec::new());
    let mut least = vec![f64::INFINITY; coming.len()];
    for line in lines {
        let line_node = &nodes[line];
        let Kind::Station { servers: Some(servers), .. } = line_node.kind else { return None };
        let assembles = !line_node.beyond.parts().is_empty();
        if assembles || coming.iter().any(|&(class, _)| !line_node.keeps(class)) {
            return None;
        }
        let takes = |class: usize| line_node.pairs[class].service.map_or(0.0, |service| service.mean());
        let mean = coming.iter().map(|&(class, rate)| rate * takes(class)).sum::<f64>() / all;
        for (least, &(class, _)) in least.iter_mut().zip(&coming) {
            *least = least.min(takes(class) / mean);
        }
        there += line_node.fastest(servers) / mean;
        work += sure_work(line_node, &sure[line]) / mean;
        names.push(&*line_node.name);
    }
    work += least.iter().zip(&coming).map(|(least, (_, rate))| least * rate).sum::<f64>();
    Some((names.join(", "), work / there))
}

#[cfg(test)]
mod tests {
    use super::eliminate;

    #[test]
    fn equations_are_solved() {
        let rows = vec![vec![0.0, 2.0, 1.0, 7.0], vec![1.0, -1.0, 0.5, 0.5], vec![3.0, 1.0, -1.0, 2.0]];
        let found = eliminate(rows.clone());
        for row in rows {
            let left: f64 = row[..3].iter().zip(&found).map(|(a, b)| a * b).sum();
            assert!((left - row[3]).abs() < 1e-12, "{found:?}");
        }
    }
}
