//! Random networks with fixed times against a separate simulator that is written only from
//! docs/guide-networks.md: every visit of every customer is the same, and so are averages of the
//! compiled form.

use std::collections::VecDeque;
use std::fmt::Write as _;

use eventhorizon::facility::{CompiledNetwork, Facility, Follow, Measure, Network, Outcome, Study, Visit};
use eventhorizon::random::Stream;

use super::common::is_long;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Fifo,
    Lifo,
    Priority,
    Preemptive,
    Polling,
}

/// The successors of a node: several nodes in turn, or one route with a travel time and possibly
/// another class.
#[derive(Debug, Clone)]
enum To {
    InTurn(Vec<usize>),
    One { node: usize, travel: u64, becomes: Option<usize> },
}

#[derive(Debug, Clone)]
enum Kind {
    Source { every: u64, class: usize, batch: u32 },
    Station(Station),
    Router,
    Sink,
}

#[derive(Debug, Clone)]
struct Station {
    /// `None`: a delay.
    servers: Option<u32>,
    capacity: Option<usize>,
    order: Order,
    service: [u64; 2],
    patience: Option<u64>,
    breakdown: Option<(u64, u64)>,
    schedule: Vec<(u64, u32)>,
    /// For each number of customers at the station, whether an arrival leaves at once.
    balking: Vec<bool>,
}

#[derive(Debug, Clone)]
struct Node {
    name: String,
    kind: Kind,
    to: To,
}

#[derive(Debug, Clone, Copy)]
struct Customer {
    class: usize,
    entered: u64,
    arrived: u64,
    began: Option<u64>,
    /// The remaining time of an interrupted service.
    left: Option<u64>,
    /// The number of this wait, so that the end of an earlier patience does not apply to it.
    wait: u64,
}

/// The kinds of events at a node, in the order of the guide's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The server if services can be interrupted; class, when the customer entered and arrived; the
    /// service.
    Completion(usize, usize, u64, u64, u64),
    Repair,
    Breakdown,
    Piece,
    Emission(bool),
    Wake,
    Patience(u64),
    /// Class, whether it travelled, the node it comes from, when it entered the network.
    Arrival(usize, bool, usize, u64),
}

#[derive(Debug, Clone)]
struct Server {
    customer: Customer,
    end: u64,
    service: u64,
}

#[derive(Debug, Default)]
struct State {
    turn: usize,
    busy: Vec<Option<Server>>,
    open: usize,
    down: bool,
    piece: usize,
    lines: [VecDeque<Customer>; 2],
    polled: usize,
}

impl State {
    fn in_service(&self) -> usize {
        self.busy.iter().flatten().count()
    }

    fn waiting(&self) -> usize {
        self.lines.iter().map(VecDeque::len).sum()
    }

    fn free(&self) -> usize {
        if self.down { 0 } else { self.open.saturating_sub(self.in_service()) }
    }
}

/// Node, class, when it arrived, its service began and it left, and how that ended.
type Seen = (String, usize, u64, Option<u64>, Option<u64>, String);

struct Simulator<'a> {
    nodes: &'a [Node],
    states: Vec<State>,
    now: u64,
    /// Pending events: time, node, kind.
    pending: Vec<(u64, usize, What)>,
    /// Arrivals at other nodes in the next round of this instant.
    inbox: Vec<(usize, What)>,
    serial: u64,
    seen: Vec<Seen>,
}

impl<'a> Simulator<'a> {
    fn run(nodes: &'a [Node], until: u64) -> Vec<Seen> {
        let mut all = Self {
            nodes,
            states: nodes.iter().map(|_| State::default()).collect(),
            now: 0,
            pending: Vec::new(),
            inbox: Vec::new(),
            serial: 0,
            seen: Vec::new(),
        };
        for (place, node) in nodes.iter().enumerate() {
            match &node.kind {
                Kind::Source { .. } => all.pending.push((0, place, What::Emission(true))),
                Kind::Station(station) => {
                    all.states[place].open = station.servers.map_or(usize::MAX, |servers| servers as usize);
                    if !station.schedule.is_empty() {
                        all.pending.push((0, place, What::Piece));
                    }
                    if station.breakdown.is_some() {
                        all.pending.push((0, place, What::Repair));
                    }
                }
                _ => {}
            }
        }
        while let Some(now) = all.pending.iter().map(|event| event.0).min().filter(|&now| now < until) {
            all.now = now;
            loop {
                for place in 0..nodes.len() {
                    while let Some(what) = all.take(place) {
                        all.happen(place, what);
                    }
                }
                if all.inbox.is_empty() {
                    break;
                }
                let arrived = std::mem::take(&mut all.inbox);
                all.pending.extend(arrived.into_iter().map(|(place, what)| (now, place, what)));
            }
        }
        for (place, state) in all.states.iter().enumerate() {
            let served = state.busy.iter().flatten().map(|server| &server.customer);
            for who in served.chain(state.lines.iter().flatten()) {
                let what = (nodes[place].name.clone(), who.class, who.arrived, who.began, None);
                all.seen.push((what.0, what.1, what.2, what.3, what.4, "present".to_owned()));
            }
        }
        all.seen.sort();
        all.seen
    }

    /// The first event at a node at this instant.
    fn take(&mut self, place: usize) -> Option<What> {
        let due = |event: &&(u64, usize, What)| event.0 == self.now && event.1 == place;
        let first = self.pending.iter().filter(due).map(|event| event.2).min()?;
        let found = self.pending.iter().position(|&event| event == (self.now, place, first))?;
        Some(self.pending.swap_remove(found).2)
    }

    fn saw(&mut self, place: usize, who: &Customer, left: u64, outcome: &str) {
        let name = self.nodes[place].name.clone();
        self.seen.push((name, who.class, who.arrived, who.began, Some(left), outcome.to_owned()));
    }

    fn send(&mut self, place: usize, class: usize, entered: u64) {
        let (to, travel, class) = match &self.nodes[place].to {
            To::InTurn(nodes) => {
                let turn = self.states[place].turn;
                self.states[place].turn = (turn + 1) % nodes.len();
                (nodes[turn], 0, class)
            }
            &To::One { node, travel, becomes } => (node, travel, becomes.unwrap_or(class)),
        };
        let what = What::Arrival(class, travel > 0, place, entered);
        match travel {
            0 if to != place => self.inbox.push((to, what)),
            _ => self.pending.push((self.now + travel, to, what)),
        }
    }

    fn begin(&mut self, place: usize, mut who: Customer, server: Option<usize>) {
        let Kind::Station(station) = &self.nodes[place].kind else { unreachable!() };
        let lasts = who.left.take().unwrap_or(station.service[who.class]);
        who.began.get_or_insert(self.now);
        self.serial += 1;
        let (end, service) = (self.now + lasts, self.serial);
        let state = &mut self.states[place];
        let server =
            server.or_else(|| state.busy.iter().position(Option::is_none)).unwrap_or(state.busy.len());
        if server == state.busy.len() {
            state.busy.push(None);
        }
        state.busy[server] = Some(Server { customer: who, end, service });
        state.polled = who.class;
        // Without interruptions the servers are indistinguishable.
        let named = station.order == Order::Preemptive || station.breakdown.is_some();
        let key = if named { server } else { 0 };
        self.pending.push((end, place, What::Completion(key, who.class, who.entered, who.arrived, service)));
    }

    fn begin_next(&mut self, place: usize) {
        let Kind::Station(station) = &self.nodes[place].kind else { unreachable!() };
        let state = &mut self.states[place];
        let first = if station.order == Order::Polling { state.polled } else { 0 };
        let line = [first, 1 - first].into_iter().find(|&line| !state.lines[line].is_empty());
        let who = state.lines[line.expect("a customer waits")].pop_front().unwrap();
        self.begin(place, who, None);
    }

    fn wait(&mut self, place: usize, mut who: Customer, in_front: bool) {
        let Kind::Station(station) = &self.nodes[place].kind else { unreachable!() };
        self.serial += 1;
        who.wait = self.serial;
        let by_class = matches!(station.order, Order::Priority | Order::Preemptive | Order::Polling);
        let line = &mut self.states[place].lines[if by_class { who.class } else { 0 }];
        if in_front || station.order == Order::Lifo {
            line.push_front(who)
        } else {
            line.push_back(who)
        }
        if let Some(patience) = station.patience.filter(|_| who.left.is_none()) {
            self.pending.push((self.now + patience, place, What::Patience(who.wait)));
        }
    }

    fn happen(&mut self, place: usize, what: What) {
        let nodes = self.nodes;
        let (now, node) = (self.now, &nodes[place]);
        match &node.kind {
            &Kind::Source { every, class, batch } => {
                if what == What::Emission(false) {
                    (0..batch).for_each(|_| self.send(place, class, now));
                }
                self.pending.push((now + every, place, What::Emission(false)));
            }
            Kind::Router => {
                let What::Arrival(class, _, _, entered) = what else { unreachable!() };
                self.send(place, class, entered);
            }
            Kind::Sink => {
                let What::Arrival(class, _, _, entered) = what else { unreachable!() };
                let who = Customer { class, entered, arrived: now, began: None, left: None, wait: 0 };
                self.saw(place, &who, now, "served");
            }
            Kind::Station(station) => self.at_station(place, station, what),
        }
    }

    fn at_station(&mut self, place: usize, station: &Station, what: What) {
        let now = self.now;
        // If servers may be free while customers wait, customers are served after completions,
        // shifts and repairs.
        let wakes = station.breakdown.is_some() || !station.schedule.is_empty();
        match what {
            What::Completion(.., service) => {
                let state = &mut self.states[place];
                let mine = |server: &Option<Server>| server.as_ref().is_some_and(|it| it.service == service);
                let Some(found) = state.busy.iter().position(mine) else { return };
                let server = state.busy[found].clone().unwrap();
                let Customer { class, entered, arrived, .. } = server.customer;
                if now < server.end {
                    let again = What::Completion(found, class, entered, arrived, service);
                    self.pending.push((server.end, place, again));
                } else {
                    state.busy[found] = None;
                    self.saw(place, &server.customer, now, "served");
                    self.send(place, class, entered);
                    if !wakes && self.states[place].waiting() > 0 && self.states[place].free() > 0 {
                        self.begin_next(place);
                    }
                }
            }
            What::Repair => {
                self.states[place].down = false;
                self.pending.push((now + station.breakdown.unwrap().0, place, What::Breakdown));
            }
            What::Breakdown => {
                let lasts = station.breakdown.unwrap().1;
                let state = &mut self.states[place];
                state.down = true;
                state.busy.iter_mut().flatten().for_each(|server| server.end += lasts);
                self.pending.push((now + lasts, place, What::Repair));
            }
            What::Piece => {
                let state = &mut self.states[place];
                let (lasts, servers) = station.schedule[state.piece];
                state.piece = (state.piece + 1) % station.schedule.len();
                state.open = servers as usize;
                self.pending.push((now + lasts, place, What::Piece));
            }
            What::Wake => {
                if self.states[place].waiting() > 0 && self.states[place].free() > 0 {
                    self.begin_next(place);
                }
            }
            What::Patience(wait) => {
                let lines = self.states[place].lines.iter_mut();
                let found = lines.filter_map(|line| {
                    let at = line.iter().position(|who| who.wait == wait)?;
                    line.remove(at)
                });
                if let Some(who) = { found }.next() {
                    self.saw(place, &who, now, "reneged");
                }
            }
            What::Arrival(class, _, _, entered) => {
                let who = Customer { class, entered, arrived: now, began: None, left: None, wait: 0 };
                self.arrive(place, station, who);
            }
            What::Emission(_) => unreachable!(),
        }
        if wakes && self.states[place].waiting() > 0 && self.states[place].free() > 0 {
            self.pending.push((now, place, What::Wake));
        }
    }

    fn arrive(&mut self, place: usize, station: &Station, who: Customer) {
        let now = self.now;
        let state = &self.states[place];
        let there = state.in_service() + state.waiting();
        let balks = station.balking.get(there).or(station.balking.last()).is_some_and(|&leaves| leaves);
        if balks {
            return self.saw(place, &who, now, "balked");
        }
        if station.capacity.is_some_and(|most| there >= most) {
            return self.saw(place, &who, now, "lost");
        }
        if state.free() > 0 && (state.waiting() == 0 || station.order == Order::Preemptive) {
            return self.begin(place, who, None);
        }
        if station.order == Order::Preemptive {
            // The lowest class; among equals, the one that began last.
            let order = |server: usize| {
                let server = self.states[place].busy[server].as_ref().unwrap();
                (server.customer.class, server.service)
            };
            let worst = (0..state.busy.len()).max_by_key(|&server| order(server)).unwrap();
            if order(worst).0 > who.class {
                let server = self.states[place].busy[worst].take().unwrap();
                self.begin(place, who, Some(worst));
                let interrupted = Customer { left: Some(server.end - now), ..server.customer };
                return self.wait(place, interrupted, true);
            }
        }
        self.wait(place, who, false);
    }
}

/// A random network: its nodes, and the description.
fn chance(number: u64) -> (Vec<Node>, String) {
    let mut stream = Stream::new(53, 1, number);
    let mut below = move |n: usize| stream.below(u32::try_from(n).unwrap()) as usize;
    let classes = 1 + below(2);
    let mut kinds = Vec::new();
    for class in 0..classes {
        kinds.push(Kind::Source { every: 1 + below(6) as u64, class, batch: 1 + below(2) as u32 });
    }
    let first = kinds.len();
    for number in 0..1 + below(4) {
        // The first node is no router: a network has a station or a delay.
        let kind = if number == 0 { 1 + below(5) } else { below(6) };
        let servers = 1 + below(3) as u32;
        let mut station = Station {
            servers: Some(servers),
            capacity: (below(3) == 0).then(|| servers as usize + below(3)),
            order: [Order::Fifo, Order::Lifo, Order::Priority, Order::Preemptive, Order::Polling][below(5)],
            service: [1 + below(5) as u64, 1 + below(5) as u64],
            patience: (below(3) == 0).then(|| 1 + below(6) as u64),
            breakdown: None,
            schedule: Vec::new(),
            balking: Vec::new(),
        };
        if station.order == Order::Polling {
            station.servers = Some(1);
        } else if station.order != Order::Preemptive {
            match below(4) {
                0 => station.breakdown = Some((2 + below(9) as u64, 1 + below(5) as u64)),
                1 => {
                    let piece =
                        |below: &mut dyn FnMut(usize) -> usize| (2 + below(7) as u64, below(3) as u32);
                    let mut schedule = vec![piece(&mut below), piece(&mut below)];
                    schedule[0].1 += 1;
                    station.capacity = station.capacity.map(|most| most + 3);
                    station.schedule = schedule;
                }
                _ => {}
            }
        }
        if below(5) == 0 {
            station.balking = vec![false, below(2) == 0, false, true];
        }
        kinds.push(match kind {
            0 => Kind::Router,
            1 => Kind::Station(Station {
                servers: None,
                capacity: None,
                order: Order::Fifo,
                patience: None,
                breakdown: None,
                schedule: Vec::new(),
                balking: Vec::new(),
                ..station
            }),
            _ => Kind::Station(station),
        });
    }
    kinds.push(Kind::Sink);
    let count = kinds.len();
    let mut nodes = Vec::new();
    for (place, kind) in kinds.into_iter().enumerate() {
        let next = (place + 1).max(first);
        let to = if matches!(kind, Kind::Router) || below(3) > 0 {
            let mut all = vec![next];
            for _ in 0..below(3) {
                // Routers lead onwards, so that no customer moves in a circle without time.
                let least = if matches!(kind, Kind::Station(_)) { first } else { next };
                all.push(least + below(count.saturating_sub(least).max(1)));
            }
            all.dedup();
            To::InTurn(all)
        } else {
            let becomes = (classes == 2 && below(4) == 0).then(|| below(2));
            To::One { node: next, travel: below(3) as u64, becomes }
        };
        nodes.push(Node { name: format!("n{place}"), kind, to });
    }
    let text = described(&nodes, classes);
    (nodes, text)
}

fn described(nodes: &[Node], classes: usize) -> String {
    let mut text = String::from("name = \"chance\"\nticks_per_unit = 16\n");
    if classes == 2 {
        text += "classes = [\"a\", \"b\"]\n";
    }
    let name = |class: usize| if classes == 2 { ["a", "b"][class] } else { "customer" };
    for node in nodes {
        let mut line = |line: String| text += &(line + "\n");
        let kind = match &node.kind {
            Kind::Source { .. } => "source",
            Kind::Station(Station { servers: None, .. }) => "delay",
            Kind::Station(_) => "station",
            Kind::Router => "router",
            Kind::Sink => "sink",
        };
        line(format!("[{kind}.{}]", node.name));
        match &node.kind {
            Kind::Source { every, class, batch } => {
                line(format!("interarrival = {{ constant = {every} }}\nclass = \"{}\"", name(*class)));
                line(format!("batch = {batch}"));
            }
            Kind::Station(station) => {
                let what = if station.servers.is_some() { "service" } else { "time" };
                line(format!("{what} = {{ constant = {} }}", station.service[0]));
                if classes == 2 {
                    line(format!("{what}_of.b = {{ constant = {} }}", station.service[1]));
                }
                if let Some(capacity) = station.capacity {
                    line(format!("capacity = {capacity}"));
                }
                if let Some(patience) = station.patience {
                    line(format!("patience = {{ constant = {patience} }}"));
                }
                if let Some((up, down)) = station.breakdown {
                    line(format!(
                        "breakdown = {{ up = {{ constant = {up} }}, down = {{ constant = {down} }} }}"
                    ));
                }
                if !station.balking.is_empty() {
                    let odds: Vec<_> = station.balking.iter().map(|&leaves| u8::from(leaves)).collect();
                    line(format!("balking = {odds:?}"));
                }
                if let Some(servers) = station.servers {
                    line(format!("discipline = \"{}\"", format!("{:?}", station.order).to_lowercase()));
                    if station.schedule.is_empty() {
                        line(format!("servers = {servers}"));
                    } else {
                        let piece = |(lasts, servers)| format!("{{ lasts = {lasts}, servers = {servers} }}");
                        let pieces: Vec<_> = station.schedule.iter().copied().map(piece).collect();
                        line(format!("schedule = [{}]", pieces.join(", ")));
                    }
                }
            }
            Kind::Router => {}
            Kind::Sink => continue,
        }
        line(match &node.to {
            To::InTurn(all) => {
                let names: Vec<_> = all.iter().map(|&to| &*nodes[to].name).collect();
                if names.len() == 1 {
                    format!("to = {:?}", names[0])
                } else {
                    format!("to = {{ in_turn = {names:?} }}")
                }
            }
            To::One { node, travel, becomes } => {
                let mut link = format!("node = {:?}", nodes[*node].name);
                if *travel > 0 {
                    write!(link, ", travel = {{ constant = {travel} }}").unwrap();
                }
                if let Some(class) = becomes {
                    write!(link, ", becomes = {:?}", name(*class)).unwrap();
                }
                format!("to = [{{ {link} }}]")
            }
        });
    }
    text
}

fn seen(visit: &Visit) -> Seen {
    let ticks = |time: f64| time as u64;
    assert!(
        [Some(visit.arrived), visit.began, visit.left].into_iter().flatten().all(|time| time.fract() == 0.0)
    );
    let outcome = match visit.outcome {
        Outcome::Served => "served",
        Outcome::Lost => "lost",
        Outcome::Balked => "balked",
        Outcome::Reneged => "reneged",
        _ => "present",
    };
    let class = usize::from(visit.class == "b");
    let times = (ticks(visit.arrived), visit.began.map(ticks), visit.left.map(ticks));
    (visit.node.clone(), class, times.0, times.1, times.2, outcome.to_owned())
}

/// Compares average numbers of customers, and numbers of served ones, of the compiled form with
/// those of all visits.
fn averages(number: u64, facility: &Facility, nodes: &[Node], visits: &[Seen]) {
    let until = 50.5;
    CompiledNetwork::new(facility).unwrap_or_else(|error| panic!("{number}: {error}"));
    let report = facility.study(&Study::new(2, until, 0.0)).run().unwrap();
    for node in nodes.iter().filter(|node| matches!(node.kind, Kind::Station(_))) {
        let here = || visits.iter().filter(|visit| visit.0 == node.name);
        let stay = |visit: &Seen| visit.4.map_or(until, |left| left as f64) - visit.2 as f64;
        let served = here().filter(|visit| visit.5 == "served").count();
        for (measure, sum) in
            [(Measure::Number, here().map(stay).sum()), (Measure::Throughput, served as f64)]
        {
            // If there are several classes, the first row is of all of them.
            let mut rows = report.rows.iter().filter(|row| row.node == node.name && row.measure == measure);
            let mean = rows.next().and_then(|row| row.mean).unwrap();
            assert!((mean * until - sum).abs() < 1e-6, "{number}: `{}`: {measure:?}", node.name);
        }
    }
}

#[test]
fn every_visit_of_networks_with_fixed_times_is_that_of_a_simulator_written_apart() {
    let count = if is_long() { 50_000 } else { 1000 };
    let (mut visits, mut outcomes) = (0, std::collections::BTreeMap::new());
    for number in 0..count {
        let (nodes, text) = chance(number);
        let network = Network::from_toml(&text).unwrap_or_else(|error| panic!("{number}: {error}\n{text}"));
        let facility = network.compile_unstable().unwrap_or_else(|error| panic!("{number}: {error}\n{text}"));
        let study = Study::new(1, 50.5, 0.0);
        let mut found: Vec<_> =
            facility.trace(&study, Follow::first(200)).run().unwrap().iter().map(seen).collect();
        found.sort();
        let expected = Simulator::run(&nodes, 51);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{number}\n{text}");
        }
        assert_eq!(found.len(), expected.len(), "{number}\n{text}");
        if number % 50 == 0 {
            averages(number, &facility, &nodes, &found);
        }
        visits += found.len();
        for visit in found {
            *outcomes.entry(visit.5).or_insert(0) += 1;
        }
    }
    println!("{count} networks, {visits} visits: {outcomes:?}");
    assert!(outcomes.len() == 5 && outcomes.values().all(|&times| times > 50), "{outcomes:?}");
}
