//! Exact results of queueing theory for a network: steady-state means at the nodes for which they
//! hold.

mod fork;
mod mva;
mod visits;

use crate::statistics::theory::{ClosedNetwork, ErlangA, GordonNewell, Mg1, Mg1Class, Mmc, Mmck};

use super::nodes::{Choice, Kind, Node, Pair};
use super::traffic::{mixes, work};
use super::{Discipline, Distribution, Facility, Measure};
pub(super) use visits::KnownFormula;
use visits::{mean_travel, shared, visits};

/// Most work of a closed network with several servers at a node: nodes times the square of
/// customers.
const MOST_WORK: f64 = 2e8;

/// Most room of a station whose states are enumerated.
const MOST_ROOM: u32 = 1 << 16;

/// Most servers for formulas that iterate over servers.
const MOST_SERVERS: u32 = 1_000_000;

/// A station as formulas describe it: arrivals and service.
struct Queue<'n> {
    number: usize,
    servers: Option<u32>,
    capacity: Option<u32>,
    discipline: Discipline,
    /// The classes of its arrivals, with their rates.
    classes: Vec<(usize, &'n Pair, f64)>,
}

impl<'n> Queue<'n> {
    fn new(number: usize, nodes: &'n [Node]) -> Option<Self> {
        let node = &nodes[number];
        let Kind::Station { servers, capacity, discipline } = node.kind else { return None };
        // A customer that waits for room elsewhere holds its server, so formulas do not apply.
        if !node.plain() || node.holds(nodes) {
            return None;
        }
        let comes = node.pairs.iter().enumerate().filter(|(_, pair)| pair.comes);
        let classes: Vec<_> = comes.map(|(class, pair)| (class, pair, pair.rate)).collect();
        // Initial customers do not come from sources.
        let open =
            classes.iter().all(|(_, pair, rate)| pair.from_outside && pair.population == 0 && *rate > 0.0);
        open.then_some(Self { number, servers, capacity, discipline, classes })
    }

    fn rate(&self) -> f64 {
        self.classes.iter().map(|class| class.2).sum()
    }

    /// The mean that the exponential times of all classes share.
    fn shared(&self, of: impl Fn(&Pair) -> Option<Distribution>) -> Option<f64> {
        shared(self.classes.iter().map(|(_, pair, _)| of(pair)))
    }

    fn patient(&self) -> bool {
        self.classes.iter().all(|(_, pair, _)| pair.patience.is_none())
    }

    /// Whether the discipline ignores classes and service times.
    fn blind(&self) -> bool {
        matches!(self.discipline, Discipline::Fifo | Discipline::Lifo | Discipline::Random)
    }
}

/// All exact results for a network.
pub(super) fn known(facility: &Facility) -> KnownFormula {
    let nodes = &facility.nodes;
    let mut known = KnownFormula::new();
    let sources = nodes.iter().any(|node| matches!(node.kind, Kind::Source { .. }));
    if sources {
        open(nodes, &mut known);
    } else if facility.network.classes.len() == 1 {
        closed(nodes, &mut known);
    } else {
        mva::closed(nodes, &mut known);
    }
    for (number, node) in nodes.iter().enumerate().filter(|(_, node)| node.calendar.is_empty()) {
        if let Some((up, down)) = node.breakdown {
            let share = down.mean() / (up.mean() + down.mean());
            known.insert((number, None, Measure::Down), share);
        }
    }
    known
}

fn open(nodes: &[Node], known: &mut KnownFormula) {
    let poisson = |node: &Node| {
        node.choice == Choice::Chance
            && node.calendar.is_empty()
            && match node.kind {
                Kind::Source { interarrival, batch, .. } => {
                    batch == 1 && matches!(interarrival, Distribution::Exponential(_))
                }
                _ => true,
            }
    };
    let queues: Vec<Option<Queue<'_>>> = (0..nodes.len()).map(|number| Queue::new(number, nodes)).collect();
    let stations = nodes.iter().filter(|node| matches!(node.kind, Kind::Station { .. })).count();
    let whole = |queue: &Queue<'_>| queue.patient() && queue.capacity.is_none();
    let stable = |queue: &Queue<'_>| {
        queue.servers.is_none_or(|servers| work(&nodes[queue.number]) < f64::from(servers))
    };
    // No customer is lost, none is initially present, and no line grows without end: inflow equals
    // outflow.
    let steady =
        nodes.iter().all(|node| !matches!(node.kind, Kind::Source { .. }) || node.calendar.is_empty());
    let conserved = steady
        && !mixes(nodes)
        && queues.iter().flatten().count() == stations
        && queues.iter().flatten().all(|queue| whole(queue) && stable(queue));
    let product = |queue: &Queue<'_>| {
        // BCMP: at a single shared server, only means matter.
        queue.servers.is_none()
            || queue.discipline == Discipline::Sharing && queue.servers == Some(1)
            || queue.blind() && queue.shared(|pair| pair.service).is_some()
    };
    let forks = nodes.iter().any(|node| node.kind == Kind::Fork);
    let jackson = conserved && !forks && nodes.iter().all(poisson) && queues.iter().flatten().all(product);

    let before = fork::before(nodes);
    for (number, node) in nodes.iter().enumerate() {
        if conserved || matches!(node.kind, Kind::Source { .. }) && node.calendar.is_empty() {
            rates(number, node, known);
        }
        let Some(queue) = &queues[number] else { continue };
        // Or all arrivals are parts of Poisson processes from sources.
        if jackson || fork::fed(nodes, &before, number, &poisson) {
            alone(queue, known);
        }
    }
    if conserved {
        fork::tasks(nodes, &before, known, &poisson);
    }
    // Little's law for the whole network: customers in it divided by the arrival rate.
    let sinks: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].kind == Kind::Sink).collect();
    if conserved
        && !forks
        && let [sink] = sinks[..]
    {
        let numbers = queues.iter().flatten().map(|queue| known.get(&(queue.number, None, Measure::Number)));
        let inside: Option<f64> = numbers.map(|number| number.copied()).sum();
        let rate = known.get(&(sink, None, Measure::Throughput));
        if let (Some(inside), Some(travelling), Some(rate)) = (inside, travelling(nodes, known), rate) {
            known.insert((sink, None, Measure::Sojourn), (inside + travelling) / rate);
        }
    }
}

/// The average number of travelling customers, if the flows along timed routes are known.
pub(super) fn travelling(nodes: &[Node], known: &KnownFormula) -> Option<f64> {
    let mut all = 0.0;
    for (number, node) in nodes.iter().enumerate() {
        for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.comes) {
            let travel = mean_travel(pair);
            if travel > 0.0 {
                all += travel * known.get(&(number, Some(class), Measure::Throughput))?;
            }
        }
    }
    Some(all)
}

/// Flows through a node that loses no customers.
fn rates(number: usize, node: &Node, known: &mut KnownFormula) {
    let comes: Vec<_> = node.pairs.iter().enumerate().filter(|(_, pair)| pair.comes).collect();
    let all: f64 = comes.iter().map(|(_, pair)| pair.rate).sum();
    // The equations were too many to solve.
    if !all.is_finite() {
        return;
    }
    for (class, pair) in &comes {
        known.insert((number, Some(*class), Measure::Throughput), pair.rate);
    }
    known.insert((number, None, Measure::Throughput), all);
    let Kind::Station { servers: Some(servers), capacity: None, .. } = node.kind else { return };
    let mut busy = 0.0;
    for (class, pair) in comes {
        let part = pair.rate * pair.service.map_or(f64::NAN, |service| service.mean()) / f64::from(servers);
        busy += part;
        known.insert((number, Some(class), Measure::Utilisation), part);
    }
    known.insert((number, None, Measure::Utilisation), busy);
}

/// A station with Poisson arrivals.
fn alone(queue: &Queue<'_>, known: &mut KnownFormula) {
    let rate = queue.rate();
    let service = queue.shared(|pair| pair.service);
    let patience = queue.shared(|pair| pair.patience);
    let mut emit = |class: Option<usize>, measure: Measure, value: f64| {
        if value.is_finite() {
            known.insert((queue.number, class, measure), value);
        }
    };
    let Some(servers) = queue.servers else {
        let mut all = 0.0;
        for &(class, pair, rate) in &queue.classes {
            let mean = pair.service.map_or(f64::NAN, |service| service.mean());
            all += rate * mean;
            emit(Some(class), Measure::Number, rate * mean);
            emit(Some(class), Measure::Sojourn, mean);
        }
        emit(None, Measure::Number, all);
        emit(None, Measure::Sojourn, all / rate);
        return;
    };
    // By class, its probability of loss and its mean wait.
    let mut by_class: Vec<(usize, f64, f64, f64)> = Vec::new(); // class, served rate, wait, service
    let blind = queue.blind() && queue.capacity.is_none() && queue.patient();
    let parts: Option<Vec<Mg1Class>> = queue
        .classes
        .iter()
        .map(|(_, pair, rate)| {
            let service = pair.service?;
            Some(Mg1Class { arrival_rate: *rate, mean: service.mean(), variance: service.variance() })
        })
        .collect();
    let mg1 = (servers == 1).then_some(parts).flatten().and_then(|parts| Mg1::new(&parts).ok());
    let mean = |pair: &Pair| pair.service.map_or(f64::NAN, |service| service.mean());
    if servers == 1 && queue.capacity.is_none() && queue.patient() {
        let load: f64 = queue.classes.iter().map(|&(_, pair, rate)| rate * mean(pair)).sum();
        if load < 1.0 {
            emit(None, Measure::Empty, 1.0 - load);
        }
    }
    if servers > MOST_SERVERS {
        return;
    }
    match (service, queue.capacity, queue.discipline) {
        (Some(service), Some(capacity), _) if queue.blind() && queue.patient() && capacity <= MOST_ROOM => {
            let Ok(theory) = Mmck::new(rate, 1.0 / service, servers, capacity) else { return };
            let served = 1.0 - theory.blocking();
            for &(class, _, rate) in &queue.classes {
                emit(Some(class), Measure::Loss, theory.blocking());
                by_class.push((class, rate * served, theory.time_in_queue(), service));
            }
            emit(None, Measure::Loss, theory.blocking());
        }
        (Some(service), None, Discipline::Fifo) if patience.is_some() => {
            let Some(patience) = patience else { return };
            let Ok(theory) = ErlangA::new(rate, 1.0 / service, 1.0 / patience, servers) else { return };
            // Customers that leave were present too, so numbers include them.
            for class in
                queue.classes.iter().map(|&(class, _, part)| (Some(class), part / rate)).chain([(None, 1.0)])
            {
                let (class, share) = class;
                emit(class, Measure::Reneged, theory.abandonment());
                emit(class, Measure::Throughput, share * rate * (1.0 - theory.abandonment()));
                emit(class, Measure::Utilisation, share * theory.utilisation());
                emit(class, Measure::Number, share * theory.number_in_system());
                emit(class, Measure::Queue, share * theory.number_waiting());
                emit(class, Measure::Wait, theory.time_in_queue_of_served());
                emit(class, Measure::Sojourn, theory.time_in_queue_of_served() + service);
            }
            return;
        }
        (_, None, Discipline::Fifo | Discipline::Lifo | Discipline::Random) if blind && mg1.is_some() => {
            let Some(wait) = mg1.and_then(|queue| queue.time_in_queue()) else { return };
            by_class.extend(queue.classes.iter().map(|&(class, pair, rate)| (class, rate, wait, mean(pair))));
            if let (Some(service), Discipline::Fifo) = (service, queue.discipline) {
                // The sojourn time in M/M/1 is exponential.
                let load = rate * service;
                for class in queue.classes.iter().map(|class| Some(class.0)).chain([None]) {
                    emit(class, Measure::SojournDeviation, wait + service);
                    emit(class, Measure::WaitDeviation, wait * (2.0 / load - 1.0).sqrt());
                    for percent in super::QUANTILES {
                        let of = Measure::SojournQuantile(u8::try_from(percent).expect("below 100"));
                        emit(class, of, -(wait + service) * (1.0 - f64::from(percent) / 100.0).ln());
                    }
                }
            }
        }
        (Some(service), None, Discipline::Fifo | Discipline::Lifo | Discipline::Random) if blind => {
            let Ok(theory) = Mmc::new(rate, 1.0 / service, servers) else { return };
            let wait = theory.time_in_queue();
            if queue.discipline == Discipline::Fifo {
                // The wait of a waiting customer is exponential.
                let deviation = wait * (2.0 / theory.delay() - 1.0).sqrt();
                for class in queue.classes.iter().map(|class| Some(class.0)).chain([None]) {
                    emit(class, Measure::WaitDeviation, deviation);
                    emit(class, Measure::SojournDeviation, deviation.hypot(service));
                }
            }
            by_class.extend(queue.classes.iter().map(|&(class, _, rate)| (class, rate, wait, service)));
        }
        (_, None, Discipline::Priority) if queue.patient() && mg1.is_some() => {
            for (order, &(class, pair, rate)) in queue.classes.iter().enumerate() {
                let Some(wait) = mg1.as_ref().and_then(|queue| queue.time_in_queue_by_priority(order)) else {
                    return;
                };
                by_class.push((class, rate, wait, mean(pair)));
            }
        }
        (_, None, Discipline::Sharing) if servers == 1 => {
            let load: f64 = queue.classes.iter().map(|&(_, pair, rate)| rate * mean(pair)).sum();
            if load >= 1.0 {
                return;
            }
            for &(class, pair, rate) in &queue.classes {
                emit(Some(class), Measure::Sojourn, mean(pair) / (1.0 - load));
                emit(Some(class), Measure::Number, rate * mean(pair) / (1.0 - load));
            }
            emit(None, Measure::Utilisation, load);
            emit(None, Measure::Number, load / (1.0 - load));
            emit(None, Measure::Sojourn, load / (1.0 - load) / rate);
        }
        (Some(service), None, Discipline::Sharing) => {
            // Exponential services have the same departure rate, however they are shared.
            let Ok(theory) = Mmc::new(rate, 1.0 / service, servers) else { return };
            emit(None, Measure::Utilisation, theory.utilisation());
            emit(None, Measure::Number, theory.number_in_system());
            emit(None, Measure::Sojourn, theory.time_in_system());
        }
        (_, None, Discipline::Preemptive) if queue.patient() && mg1.is_some() => {
            let mut all = 0.0;
            for (order, &(class, _, rate)) in queue.classes.iter().enumerate() {
                let Some(time) = mg1.as_ref().and_then(|queue| queue.time_in_system_preemptive(order)) else {
                    return;
                };
                all += rate * time;
                emit(Some(class), Measure::Sojourn, time);
                emit(Some(class), Measure::Number, rate * time);
            }
            emit(None, Measure::Sojourn, all / rate);
            emit(None, Measure::Number, all);
        }
        _ => {}
    }
    if by_class.is_empty() {
        return;
    }
    let (mut served, mut waiting, mut busy) = (0.0, 0.0, 0.0);
    for (class, rate, wait, service) in by_class {
        emit(Some(class), Measure::Throughput, rate);
        emit(Some(class), Measure::Utilisation, rate * service / f64::from(servers));
        emit(Some(class), Measure::Wait, wait);
        emit(Some(class), Measure::Sojourn, wait + service);
        emit(Some(class), Measure::Queue, rate * wait);
        emit(Some(class), Measure::Number, rate * (wait + service));
        served += rate;
        waiting += rate * wait;
        busy += rate * service;
    }
    emit(None, Measure::Throughput, served);
    emit(None, Measure::Utilisation, busy / f64::from(servers));
    emit(None, Measure::Wait, waiting / served);
    emit(None, Measure::Sojourn, (waiting + busy) / served);
    emit(None, Measure::Queue, waiting);
    emit(None, Measure::Number, waiting + busy);
}

/// A closed product-form network of one class.
fn closed(nodes: &[Node], known: &mut KnownFormula) {
    let mut kinds = Vec::new();
    for node in nodes {
        let Kind::Station { servers, capacity: None, discipline } = node.kind else { return };
        let pair = &node.pairs[0];
        let Some(service) = pair.service else { return };
        let exponential = matches!(service, Distribution::Exponential(_));
        let blind = matches!(discipline, Discipline::Fifo | Discipline::Lifo | Discipline::Random);
        let exponential = exponential || discipline == Discipline::Sharing && servers == Some(1);
        let blind = blind || discipline == Discipline::Sharing;
        if pair.patience.is_some()
            || !node.plain()
            || node.choice != Choice::Chance
            || servers.is_some() && !(exponential && blind)
        {
            return;
        }
        kinds.push((servers, service.mean()));
    }
    let customers: u32 = nodes.iter().map(|node| node.pairs[0].population).sum();
    let Some(visits) = visits(nodes, 0) else { return };
    let demands: Vec<f64> = kinds.iter().zip(&visits).map(|(kind, visits)| kind.1 * visits).collect();
    // Timed routes are delays without waiting: only the mean of the travel time matters (BCMP).
    let travel: f64 =
        nodes.iter().zip(&visits).map(|(node, visits)| mean_travel(&node.pairs[0]) * visits).sum();
    // Cycles per unit of time, and the mean number at each node.
    let (throughput, numbers) = if kinds.iter().all(|kind| kind.0.is_none_or(|servers| servers == 1)) {
        let delays = kinds.iter().zip(&demands).filter(|(kind, _)| kind.0.is_none());
        let delay = travel + delays.map(|(_, demand)| demand).sum::<f64>();
        let served =
            kinds.iter().zip(&demands).filter(|(kind, _)| kind.0.is_some()).map(|(_, &demand)| demand);
        // Nodes with equal demands are one kind.
        let mut found: Vec<(u32, f64)> = Vec::new();
        let mut kind_of = Vec::new();
        for demand in served {
            let place = found.iter().position(|kind| (kind.1 / demand - 1.0).abs() < 1e-12);
            let place = place.unwrap_or_else(|| {
                found.push((0, demand));
                found.len() - 1
            });
            found[place].0 += 1;
            kind_of.push(place);
        }
        let Ok(network) = ClosedNetwork::new(&found, delay, customers) else { return };
        let mut kind_of = kind_of.into_iter();
        let number = |(kind, demand): (&(Option<u32>, f64), &f64)| match kind.0 {
            None => Some(demand * network.throughput()),
            Some(_) => network.number(kind_of.next()?),
        };
        let Some(numbers) = kinds.iter().zip(&demands).map(number).collect::<Option<Vec<f64>>>() else {
            return;
        };
        (network.throughput(), numbers)
    } else {
        #[expect(clippy::cast_precision_loss, reason = "a bound")]
        if nodes.len() as f64 * f64::from(customers).powi(2) > MOST_WORK {
            return;
        }
        let mut kinds: Vec<_> = kinds.iter().zip(&demands).map(|(kind, &demand)| (kind.0, demand)).collect();
        if travel > 0.0 {
            kinds.push((None, travel));
        }
        let Ok(network) = GordonNewell::new(&kinds, customers) else { return };
        let Some(numbers) = (0..nodes.len()).map(|node| network.number(node)).collect() else { return };
        (network.throughput(), numbers)
    };
    for (number, ((&(servers, service), visits), here)) in kinds.iter().zip(&visits).zip(numbers).enumerate()
    {
        let rate = throughput * visits;
        for class in [None, Some(0)] {
            let mut emit = |measure, value| known.insert((number, class, measure), value);
            emit(Measure::Throughput, rate);
            emit(Measure::Number, here);
            emit(Measure::Sojourn, here / rate);
            if let Some(servers) = servers {
                emit(Measure::Utilisation, rate * service / f64::from(servers));
                if matches!(nodes[number].kind, Kind::Station { discipline: Discipline::Sharing, .. }) {
                    continue;
                }
                emit(Measure::Queue, here - rate * service);
                emit(Measure::Wait, here / rate - service);
            }
        }
    }
}
