//! The model that a network is compiled to: tables, and the Rust twin of `shaders/facility/network.wgsl`, whose head says what lies where.

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::pdes::{Capacity, Context, CpuModel, Event, Model};
use crate::random::{AliasTable, Stream};
use crate::statistics::{Tally, TimeAverage};
use crate::time::{Resolution, Ticks};

use super::check::{Kind, Node, Pair, check, work};
use super::{Discipline, FacilityError, MAX_CLASSES, Network};

/// Those that wait at a station, until somebody says otherwise: see [`Facility::with_room`].
const ROOM: u32 = 128;

/// The most that may wait at a station: events name slots by 16 bits.
pub(super) const MOST_ROOM: u32 = 1 << 16;

const CLASSES: u32 = 4;
const SURE: u32 = u32::MAX;
const NODE_WORDS: usize = 8;
const SOURCE: u32 = 0;
const STATION: u32 = 1;
const SINK: u32 = 2;
const LIFO: u32 = 1;
const RANDOM: u32 = 2;
const PREEMPTIVE: u32 = 4;
const PAIR_WORDS: usize = 8;
const WAY_WORDS: usize = 4;
const RECORD_ROWS: u32 = 17;

const COMPLETION: u32 = 0;
const EMISSION: u32 = 1;
const ARRIVAL: u32 = 2;
const RENEGE: u32 = 3;

/// A network that was checked, as a model of the engine: an LP for each node, in the order of [`Network::names`], and no lookahead.
///
/// [`Network::compile`] makes it. It runs in [`Simulation`](crate::pdes::Simulation), [`CpuSimulation`](crate::pdes::CpuSimulation) and both engines of
/// replicas as any model does; [`Facility::study`] makes runs of it and tells what came out. WGSL: `shaders/facility/network.wgsl`.
#[derive(Debug, Clone, PartialEq)]
pub struct Facility {
    pub(super) network: Network,
    pub(super) nodes: Vec<Node>,
    pub(super) resolution: Resolution,
    data: Vec<u32>,
    params: FacilityParams,
    capacity: Capacity,
}

/// The WGSL `struct Params` of [`Facility`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FacilityParams {
    /// Where statistics begin.
    pub warm_up: Ticks,
    /// Classes of customers.
    pub classes: u32,
    /// The first row of servers.
    pub servers: u32,
    /// The first row of slots.
    pub slots: u32,
    /// Rows of a slot.
    pub slot_rows: u32,
    /// Slots: how many may wait at a station.
    pub room: u32,
    /// Zero.
    pub unused: u32,
}

/// The WGSL `struct State` of [`Facility`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FacilityState {
    /// Customers in service.
    pub busy: u32,
    /// Customers that wait.
    pub waiting: u32,
    /// Of who waited, or was served by a preemptive station, last.
    pub serial: u32,
    /// Ways that were taken in turn.
    pub turn: u32,
    /// The first of a list of free slots, plus 1.
    pub free: u32,
    /// Slots that were ever used.
    pub used: u32,
    /// Zero.
    pub unused: [u32; 2],
}

/// What a class of customers did at a node since the end of the warm-up: the WGSL `struct ClassOutput`. Times in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ClassOutput {
    /// From arrival to departure, of those who were served; at a sink, from where they entered the network. (Who is in the network from the beginning entered
    /// it at time zero.)
    pub sojourn: Tally,
    /// From arrival to the beginning of service, of those whose service began.
    pub wait: Tally,
    /// Customers, in service and in line.
    pub present: TimeAverage,
    /// Customers in service.
    pub busy: TimeAverage,
    /// Who arrived, the lost ones included.
    pub arrivals: u64,
    /// Who was served; at a source, who was sent into the network.
    pub served: u64,
    /// Who found no room.
    pub lost: u64,
    /// Whose patience ended.
    pub reneged: u64,
    /// Sum of the times of arrival of those present, or of the end of the warm-up if that is later, modulo 2^64.
    pub came: u64,
    /// Sum of the times that those who left were here after the warm-up, modulo 2^64.
    pub stayed: u64,
}

/// The WGSL `struct Output` of [`Facility`]: what each class did at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct FacilityOutput {
    /// By class.
    pub classes: [ClassOutput; MAX_CLASSES],
}

impl Network {
    /// Checks the network and makes a model of it.
    ///
    /// # Errors
    /// [`FacilityError`], with the node.
    pub fn compile(&self) -> Result<Facility, FacilityError> {
        Facility::new(self, false)
    }

    /// The same, and a network may be unstable.
    ///
    /// # Errors
    /// As [`Network::compile`], but for [`FacilityError::Unstable`] and [`FacilityError::Unchecked`].
    pub fn compile_unstable(&self) -> Result<Facility, FacilityError> {
        Facility::new(self, true)
    }
}

/// A length as a word.
fn word(length: usize) -> u32 {
    u32::try_from(length).expect("tables of a network are shorter than 2^32 words")
}

impl Facility {
    fn new(network: &Network, allow_unstable: bool) -> Result<Self, FacilityError> {
        let resolution = Resolution::new(network.ticks_per_unit)
            .map_err(|source| FacilityError::Time { what: "resolution", source })?;
        let nodes = check(network, allow_unstable)?;
        let data = tables(&nodes, network, resolution)?;
        let preemptive = |node: &&Node| discipline(node) == PREEMPTIVE;
        let servers = nodes.iter().filter(preemptive).map(|node| servers(node.kind)).max();
        let first = CLASSES + word(network.classes.len()) * RECORD_ROWS;
        let params = FacilityParams {
            warm_up: Ticks::ZERO,
            classes: word(network.classes.len()),
            servers: first,
            slots: first + 2 * servers.unwrap_or(0),
            slot_rows: if servers.is_some() { 3 } else { 2 },
            room: 0,
            unused: 0,
        };
        let capacity = capacity(&nodes);
        let made = Self { network: network.clone(), nodes, resolution, data, params, capacity };
        let room = made.most_waiting().min(ROOM);
        Ok(made.with_room(room))
    }

    /// The description.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Ticks in the network's unit of time.
    pub fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// The names of the nodes, in the order of their LPs.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| &*node.name)
    }

    /// The same with statistics that begin at `warm_up`.
    #[must_use]
    pub fn with_warm_up(mut self, warm_up: Ticks) -> Self {
        self.params.warm_up = warm_up;
        self
    }

    /// The same with room for so many customers that wait at a station. More than that end a run with
    /// [`FaultKind::MemoryFull`](crate::pdes::FaultKind::MemoryFull); what room there is shows in no result. At first there is room for 128, or fewer if there can be no more
    /// ([`Facility::study`] makes more as it is needed).
    #[must_use]
    pub fn with_room(mut self, room: u32) -> Self {
        self.params.room = room.min(MOST_ROOM);
        self
    }

    /// How many customers may wait at a station before a run ends.
    pub fn room(&self) -> u32 {
        self.params.room
    }

    /// More than that can never wait at any station.
    pub(super) fn most_waiting(&self) -> u32 {
        let open = self.nodes.iter().any(|node| matches!(node.kind, Kind::Source { .. }));
        let pairs = self.nodes.iter().flat_map(|node| &node.pairs);
        let population = pairs.fold(0_u32, |sum, pair| sum.saturating_add(pair.population));
        let of = |node: &Node| match node.kind {
            Kind::Station { servers: Some(servers), capacity: Some(capacity), .. } => capacity - servers,
            Kind::Station { servers: Some(_), .. } if open => MOST_ROOM,
            Kind::Station { servers: Some(_), .. } => population,
            _ => 0,
        };
        self.nodes.iter().map(of).max().unwrap_or(0).min(MOST_ROOM)
    }

    fn node(&self, lp: u32, index: usize) -> u32 {
        self.data[lp as usize * NODE_WORDS + index]
    }

    fn pair(&self, lp: u32, class: u32, index: usize) -> u32 {
        let pair = lp as usize * self.params.classes as usize + class as usize;
        self.data[self.nodes.len() * NODE_WORDS + pair * PAIR_WORDS + index]
    }
}

fn servers(kind: Kind) -> u32 {
    match kind {
        Kind::Station { servers, .. } => servers.unwrap_or(SURE),
        _ => 0,
    }
}

fn discipline(node: &Node) -> u32 {
    match node.kind {
        Kind::Station { discipline, .. } => match discipline {
            Discipline::Fifo => 0,
            Discipline::Lifo => LIFO,
            Discipline::Random => RANDOM,
            Discipline::Priority => 3,
            Discipline::Preemptive => PREEMPTIVE,
        },
        _ => 0,
    }
}

/// The words that kernels read.
fn tables(nodes: &[Node], network: &Network, resolution: Resolution) -> Result<Vec<u32>, FacilityError> {
    let classes = network.classes.len();
    let mut data = vec![0; nodes.len() * NODE_WORDS + nodes.len() * classes * PAIR_WORDS];
    let law = |data: &mut Vec<u32>, node: &Node, what: String, law: &super::Distribution| {
        let refused = |reason| FacilityError::Distribution { node: node.name.clone(), what, reason };
        let at = word(data.len());
        data.extend(law.words(resolution).map_err(refused)?);
        Ok::<u32, FacilityError>(at)
    };
    for (number, node) in nodes.iter().enumerate() {
        let row = match node.kind {
            Kind::Source { interarrival, class, batch } => {
                let at = law(&mut data, node, "time between arrivals".to_owned(), &interarrival)?;
                [SOURCE, 0, 0, 0, at, batch, word(class), 0]
            }
            Kind::Station { capacity, .. } => {
                [STATION, servers(node.kind), capacity.unwrap_or(SURE), discipline(node), 0, 0, 0, 0]
            }
            Kind::Sink => [SINK, 0, 0, 0, 0, 0, 0, 0],
        };
        data[number * NODE_WORDS..][..NODE_WORDS].copy_from_slice(&row);
        for (class, pair) in node.pairs.iter().enumerate().filter(|(_, pair)| pair.comes) {
            let named = |what: &str| format!("{what} of `{}`", network.classes[class]);
            let mut row = [0; PAIR_WORDS];
            if let Some(service) = &pair.service {
                row[0] = law(&mut data, node, named("service"), service)?;
            }
            if let Some(patience) = &pair.patience {
                row[1] = law(&mut data, node, named("patience"), patience)?;
            }
            row[2] = word(data.len());
            row[3] = word(pair.ways.len());
            row[4] = u32::from(node.in_turn);
            row[5] = if matches!(discipline(node), 3 | PREEMPTIVE) { word(class) } else { 0 };
            row[6] = pair.population;
            data.extend(ways(pair));
            data[nodes.len() * NODE_WORDS + (number * classes + class) * PAIR_WORDS..][..PAIR_WORDS]
                .copy_from_slice(&row);
        }
    }
    Ok(data)
}

/// An alias table with where each way leads.
fn ways(pair: &Pair) -> Vec<u32> {
    let weights: Vec<f64> = pair.ways.iter().map(|way| way.probability).collect();
    let Ok(table) = AliasTable::new(&weights) else { return Vec::new() }; // of a sink, which has no ways
    let slots = table.words().chunks_exact(2).zip(&pair.ways);
    slots.flat_map(|(slot, way)| [slot[0], slot[1], word(way.node), word(way.class)]).collect()
}

/// What LPs hold: a source the next arrival, a station an event for each who is served, and who waits and may leave.
fn capacity(nodes: &[Node]) -> Capacity {
    let sum = |pairs: &mut dyn Iterator<Item = &Pair>| {
        pairs.map(|pair| pair.population).fold(0, u32::saturating_add)
    };
    let population = sum(&mut nodes.iter().flat_map(|node| &node.pairs));
    let held = |node: &Node| {
        let known = sum(&mut node.pairs.iter());
        let Kind::Station { servers, .. } = node.kind else { return 1 };
        let mut load = work(node);
        for pair in node.pairs.iter().filter(|pair| pair.from_outside) {
            load += pair.rate * pair.patience.map_or(0.0, |patience| patience.mean());
        }
        let open = if load.is_finite() { Capacity::poisson(load, 0.0).queue } else { 1 };
        let served = servers.map_or(population, |servers| servers.min(population)).saturating_add(open);
        served.max(known).saturating_add(2)
    };
    let queue = nodes.iter().map(held).max().unwrap_or(1).clamp(8, 1 << 16);
    Capacity { queue, mailbox: 16 }
}

/// A customer: what the events and rows of the WGSL hold.
#[derive(Debug, Clone, Copy)]
struct Customer {
    class: u32,
    entered: Ticks,
    arrived: Ticks,
    left: Ticks,
}

#[derive(Debug, Clone, Copy, Default)]
struct Deed {
    arrivals: u32,
    served: u32,
    lost: u32,
    reneged: u32,
    present: i32,
    busy: i32,
}

type Payload = [u32; 6];
type Here<'c> = Context<'c, Payload>;

fn event_of(kind: u32, place: u32, serial: u32, who: Customer) -> Payload {
    // High words first: events of one time are in the order of their words.
    let ([a, b], [c, d]) = (who.entered.to_words(), who.arrived.to_words());
    [kind << 24 | place << 8 | who.class, serial, b, a, d, c]
}

fn since(end: Ticks, begin: Ticks) -> Ticks {
    Ticks::new(end.get().saturating_sub(begin.get()))
}

fn times(first: Ticks, second: Ticks) -> [u32; 4] {
    let ([a, b], [c, d]) = (first.to_words(), second.to_words());
    [a, b, c, d]
}

fn halves([a, b, c, d]: [u32; 4]) -> [Ticks; 2] {
    [Ticks::from_words([a, b]), Ticks::from_words([c, d])]
}

fn next_serial(state: &mut FacilityState) -> u32 {
    state.serial = state.serial.wrapping_add(1).max(1);
    state.serial
}

/// A time by a law's words.
pub(super) fn variate(stream: &mut Stream, law: &[u32]) -> Ticks {
    let number = law[1];
    let [a, b, c] = [2, 4, 6].map(|at| Ticks::from_words([law[at], law[at + 1]]));
    match law[0] {
        1 => stream.exponential(a),
        2 => stream.uniform(a, b),
        3 => stream.erlang(number, a),
        4 => stream.hyperexponential(number, a, b),
        5 => stream.triangular(a, b, c),
        6 => stream.normal(a, b),
        7 => stream.lognormal(a, number),
        8 => stream.weibull(a, number),
        _ => a,
    }
}

impl Facility {
    fn slot_row(&self, slot: u32, row: u32, context: &mut Here<'_>) -> [u32; 4] {
        context.memory_get(self.params.slots + slot * self.params.slot_rows + row)
    }

    fn set_slot_row(&self, slot: u32, row: u32, words: [u32; 4], context: &mut Here<'_>) {
        context.memory_set(self.params.slots + slot * self.params.slot_rows + row, words);
    }

    fn server_row(&self, server: u32) -> u32 {
        self.params.servers + 2 * server
    }

    fn line(&self, lp: u32, class: u32) -> u32 {
        self.pair(lp, class, 5)
    }

    fn free_server(&self, lp: u32, context: &mut Here<'_>) -> u32 {
        let mut all = 0..self.node(lp, 1);
        all.find(|&server| context.memory_get(self.server_row(server))[0] == 0).expect("a server is free")
    }

    fn worst_server(&self, lp: u32, context: &mut Here<'_>) -> u32 {
        let order = |server: u32, context: &mut Here<'_>| {
            let [serial, class, ..] = context.memory_get(self.server_row(server));
            (self.line(lp, class), serial)
        };
        let mut worst = 0;
        for server in 1..self.node(lp, 1) {
            if order(server, context) > order(worst, context) {
                worst = server;
            }
        }
        worst
    }

    fn wait(
        &self,
        lp: u32,
        who: Customer,
        in_front: bool,
        state: &mut FacilityState,
        context: &mut Here<'_>,
    ) -> u32 {
        let random = self.node(lp, 3) == RANDOM;
        let slot = match state.free {
            _ if random => state.waiting,
            0 => {
                state.used += 1;
                state.used - 1
            }
            free => {
                state.free = self.slot_row(free - 1, 1, context)[1];
                free - 1
            }
        };
        if slot >= self.params.room {
            context.memory_full();
            return 0;
        }
        state.waiting += 1;
        let (mut next, mut previous) = (0, 0);
        if !random {
            let line = self.line(lp, who.class);
            let [first, last, ..] = context.memory_get(line);
            let ends = if in_front {
                next = first;
                self.link(first, 2, slot + 1, context);
                [slot + 1, if last == 0 { slot + 1 } else { last }, 0, 0]
            } else {
                previous = last;
                self.link(last, 1, slot + 1, context);
                [if first == 0 { slot + 1 } else { first }, slot + 1, 0, 0]
            };
            context.memory_set(line, ends);
        }
        self.set_slot_row(slot, 0, times(who.entered, who.arrived), context);
        self.set_slot_row(slot, 1, [who.class, next, previous, next_serial(state)], context);
        if self.node(lp, 3) == PREEMPTIVE {
            let [low, high] = who.left.to_words();
            self.set_slot_row(slot, 2, [low, high, 0, 0], context);
        }
        slot
    }

    fn link(&self, slot: u32, side: usize, other: u32, context: &mut Here<'_>) {
        if slot > 0 {
            let mut row = self.slot_row(slot - 1, 1, context);
            row[side] = other;
            self.set_slot_row(slot - 1, 1, row, context);
        }
    }

    fn drop_out(&self, lp: u32, slot: u32, state: &mut FacilityState, context: &mut Here<'_>) {
        let [class, next, previous, _] = self.slot_row(slot, 1, context);
        state.waiting -= 1;
        self.link(next, 2, previous, context);
        self.link(previous, 1, next, context);
        let line = self.line(lp, class);
        let [first, last, ..] = context.memory_get(line);
        let ends = [if previous == 0 { next } else { first }, if next == 0 { previous } else { last }, 0, 0];
        context.memory_set(line, ends);
        self.set_slot_row(slot, 1, [0, state.free, 0, 0], context);
        state.free = slot + 1;
    }

    fn take(&self, lp: u32, state: &mut FacilityState, context: &mut Here<'_>) -> Customer {
        let discipline = self.node(lp, 3);
        let slot = if discipline == RANDOM {
            context.stream().below(state.waiting)
        } else {
            (0..CLASSES).map(|line| context.memory_get(line)[0]).find(|&first| first > 0).unwrap_or(1) - 1
        };
        let [entered, arrived] = halves(self.slot_row(slot, 0, context));
        let class = self.slot_row(slot, 1, context)[0];
        let left = match discipline {
            PREEMPTIVE => halves(self.slot_row(slot, 2, context))[0],
            _ => Ticks::NEVER,
        };
        if discipline == RANDOM {
            state.waiting -= 1;
            for row in 0..2 {
                let last = self.slot_row(state.waiting, row, context);
                self.set_slot_row(slot, row, last, context);
            }
        } else {
            self.drop_out(lp, slot, state, context);
        }
        Customer { class, entered, arrived, left }
    }

    fn go_on(&self, lp: u32, who: Customer, state: &mut FacilityState, context: &mut Here<'_>) {
        let [first, count, in_turn] = [2, 3, 4].map(|index| self.pair(lp, who.class, index));
        let way = |way: u32, index: usize| self.data[first as usize + way as usize * WAY_WORDS + index];
        let taken = if in_turn != 0 {
            let taken = state.turn % count;
            state.turn = (taken + 1) % count;
            taken
        } else if count > 1 {
            let picked = context.stream().below(count);
            if context.stream().draw() < way(picked, 0) { picked } else { way(picked, 1) }
        } else {
            0
        };
        let other =
            Customer { class: way(taken, 3), entered: who.entered, arrived: Ticks::ZERO, left: Ticks::NEVER };
        context.schedule(way(taken, 2), context.now(), event_of(ARRIVAL, 0, 0, other));
    }

    fn record_of(class: u32) -> u32 {
        CLASSES + class * RECORD_ROWS
    }

    fn rows<const N: usize>(at: u32, context: &mut Here<'_>) -> [[u32; 4]; N] {
        let mut row = at..;
        [(); N].map(|()| context.memory_get(row.next().unwrap_or(at)))
    }

    fn set_rows(at: u32, rows: &[[u32; 4]], context: &mut Here<'_>) {
        for (row, words) in (at..).zip(rows) {
            context.memory_set(row, *words);
        }
    }

    fn tally_of(&self, class: u32, row: u32, context: &mut Here<'_>) -> Tally {
        let mut rows = Self::rows::<4>(Self::record_of(class) + row, context);
        let [low, high] = self.params.warm_up.to_words();
        [rows[3][2], rows[3][3]] = [low, high];
        bytemuck::cast(rows)
    }

    fn tally(&self, class: u32, row: u32, value: Ticks, context: &mut Here<'_>) {
        let mut tally = self.tally_of(class, row, context);
        tally.add(context.now(), value.get());
        let rows: [[u32; 4]; 4] = bytemuck::cast(tally);
        Self::set_rows(Self::record_of(class) + row, &rows, context);
    }

    fn level_of(&self, class: u32, row: u32, context: &mut Here<'_>) -> TimeAverage {
        let mut rows = Self::rows::<3>(Self::record_of(class) + 8 + row, context);
        let [low, high] = self.params.warm_up.to_words();
        [rows[1][0], rows[1][1]] = [low, high];
        bytemuck::cast(rows)
    }

    fn level(&self, class: u32, row: u32, change: i32, context: &mut Here<'_>) {
        let mut level = self.level_of(class, row, context);
        level.add(context.now(), change);
        let rows: [[u32; 4]; 3] = bytemuck::cast(level);
        Self::set_rows(Self::record_of(class) + 8 + row, &rows, context);
    }

    fn record(&self, who: Customer, deed: Deed, context: &mut Here<'_>) {
        let at = Self::record_of(who.class);
        let now = context.now();
        if deed.present != 0 {
            self.level(who.class, 0, deed.present, context);
            let [came, stayed] = halves(context.memory_get(at + 16)).map(Ticks::get);
            let (till, since) = (now.max(self.params.warm_up), who.arrived.max(self.params.warm_up));
            let (till, since) = (till.get(), since.get());
            let ages = if deed.present > 0 {
                [came.wrapping_add(till), stayed]
            } else {
                [came.wrapping_sub(since), stayed.wrapping_add(till.wrapping_sub(since))]
            };
            context.memory_set(at + 16, times(Ticks::new(ages[0]), Ticks::new(ages[1])));
        }
        if deed.busy != 0 {
            self.level(who.class, 3, deed.busy, context);
        }
        if now < self.params.warm_up {
            return;
        }
        for (row, more) in [(14, [deed.arrivals, deed.served]), (15, [deed.lost, deed.reneged])] {
            if more != [0, 0] {
                let [first, second] = halves(context.memory_get(at + row)).map(Ticks::get);
                let sum = |count: u64, more: u32| Ticks::new(count.wrapping_add(more.into()));
                context.memory_set(at + row, times(sum(first, more[0]), sum(second, more[1])));
            }
        }
    }
}

impl Model for Facility {
    type State = FacilityState;
    type Params = FacilityParams;
    type Payload = Payload;
    type Output = FacilityOutput;

    /// That of the model, and not of the network: kernels are named so, and all networks have the same.
    fn name(&self) -> &str {
        "queueing network"
    }

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/facility/network.wgsl")
    }

    fn lps(&self) -> u32 {
        word(self.nodes.len())
    }

    fn lookahead(&self) -> Ticks {
        Ticks::ZERO
    }

    fn params(&self) -> FacilityParams {
        self.params
    }

    fn data(&self) -> &[u32] {
        &self.data
    }

    fn memory_rows(&self) -> u32 {
        self.params.slots + self.params.room * self.params.slot_rows
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }
}

impl CpuModel for Facility {
    fn init(&self, lp: u32, _: &mut FacilityState, context: &mut Here<'_>) {
        let who = |class| Customer { class, entered: Ticks::ZERO, arrived: Ticks::ZERO, left: Ticks::NEVER };
        if self.node(lp, 0) == SOURCE {
            let law = self.node(lp, 4) as usize;
            let first = variate(context.stream(), &self.data[law..]);
            return context.schedule(lp, first, event_of(EMISSION, 0, 0, who(self.node(lp, 6))));
        }
        for class in 0..self.params.classes {
            for _ in 0..self.pair(lp, class, 6) {
                context.schedule(lp, Ticks::ZERO, event_of(ARRIVAL, 0, 0, who(class)));
            }
        }
    }

    fn handle(&self, lp: u32, event: &Event<Payload>, state: &mut FacilityState, context: &mut Here<'_>) {
        let now = context.now();
        let words = event.payload;
        let kind = words[0] >> 24;
        let place = words[0] >> 8 & 0xffff;
        let discipline = self.node(lp, 3);
        let mut who = Customer {
            class: words[0] & 0xff,
            entered: Ticks::from_words([words[3], words[2]]),
            arrived: Ticks::from_words([words[5], words[4]]),
            left: Ticks::NEVER,
        };
        let mut deed = Deed::default();
        let (mut moves, mut law, mut begins) = (0, 0, false);
        let (mut next, mut server, mut slot, mut serial) = (who, 0, 0, 0);
        let mut interrupted = None;
        match kind {
            EMISSION => {
                law = self.node(lp, 4);
                who.entered = now;
                moves = self.node(lp, 5);
                deed.served = moves;
            }
            ARRIVAL => {
                who.arrived = now;
                deed.arrivals = 1;
                if self.node(lp, 0) == SINK {
                    who.arrived = who.entered;
                    deed.served = 1;
                } else if state.busy + state.waiting >= self.node(lp, 2) {
                    deed.lost = 1;
                } else {
                    deed.present = 1;
                    next = who;
                    begins = state.busy < self.node(lp, 1);
                    if discipline == PREEMPTIVE && begins {
                        server = self.free_server(lp, context);
                    } else if discipline == PREEMPTIVE {
                        server = self.worst_server(lp, context);
                        let [_, class, low, high] = context.memory_get(self.server_row(server));
                        begins = self.line(lp, class) > self.line(lp, who.class);
                        if begins {
                            let [entered, arrived] = halves(context.memory_get(self.server_row(server) + 1));
                            let left = since(Ticks::from_words([low, high]), now);
                            interrupted = Some(class);
                            state.busy -= 1;
                            self.wait(lp, Customer { class, entered, arrived, left }, true, state, context);
                        }
                    }
                    if !begins {
                        law = self.pair(lp, who.class, 1);
                        slot = self.wait(lp, who, discipline == LIFO, state, context);
                        serial = state.serial;
                    }
                }
            }
            COMPLETION => {
                if discipline == PREEMPTIVE {
                    server = place;
                    if context.memory_get(self.server_row(server))[0] != words[1] {
                        return; // it was interrupted
                    }
                    context.memory_set(self.server_row(server), [0; 4]);
                }
                moves = 1;
                deed = Deed { served: 1, present: -1, busy: -1, ..deed };
                state.busy -= 1;
                begins = state.waiting > 0;
                if begins {
                    next = self.take(lp, state, context);
                }
            }
            RENEGE => {
                if self.slot_row(place, 1, context)[3] != words[1] {
                    return; // it was served before
                }
                self.drop_out(lp, place, state, context);
                deed = Deed { reneged: 1, present: -1, ..deed };
            }
            _ => unreachable!("there are four kinds of event"),
        }
        let fresh = next.left == Ticks::NEVER;
        if begins {
            state.busy += 1;
            if fresh {
                law = self.pair(lp, next.class, 0);
            }
        }
        let span = if law == 0 { next.left } else { variate(context.stream(), &self.data[law as usize..]) };

        // The next event of the node's own.
        let at = now.saturating_add(span);
        if kind == EMISSION {
            let source = Customer { entered: Ticks::ZERO, arrived: Ticks::ZERO, ..who };
            context.schedule(lp, at, event_of(EMISSION, 0, 0, source));
        } else if begins {
            if discipline == PREEMPTIVE {
                serial = next_serial(state);
                let [low, high] = at.to_words();
                context.memory_set(self.server_row(server), [serial, next.class, low, high]);
                context.memory_set(self.server_row(server) + 1, times(next.entered, next.arrived));
            }
            context.schedule(lp, at, event_of(COMPLETION, server, serial, next));
        } else if law != 0 {
            context.schedule(lp, at, event_of(RENEGE, slot, serial, who));
        }

        for _ in 0..moves {
            self.go_on(lp, who, state, context);
        }

        // Statistics.
        let begun = begins && kind == ARRIVAL; // who came begins at once
        if begun {
            deed.busy = 1;
        }
        self.record(who, deed, context);
        if begins && !begun {
            self.level(next.class, 3, 1, context);
        }
        if let Some(class) = interrupted {
            self.level(class, 3, -1, context);
        }
        if deed.served > 0 && kind != EMISSION {
            self.tally(who.class, 0, since(now, who.arrived), context);
        }
        if begins && fresh {
            self.tally(next.class, 4, since(now, next.arrived), context);
        }
    }

    fn output(&self, _: u32, _: &FacilityState, context: &mut Here<'_>) -> FacilityOutput {
        let mut output = FacilityOutput::default();
        let now = context.now();
        for (class, told) in (0..self.params.classes).zip(&mut output.classes) {
            let at = Self::record_of(class);
            let [[arrivals, served], [lost, reneged], [came, stayed]] =
                [14, 15, 16].map(|row| halves(context.memory_get(at + row)).map(Ticks::get));
            *told = ClassOutput {
                sojourn: self.tally_of(class, 0, context),
                wait: self.tally_of(class, 4, context),
                present: self.level_of(class, 0, context).at(now),
                busy: self.level_of(class, 3, context).at(now),
                arrivals,
                served,
                lost,
                reneged,
                came,
                stayed,
            };
        }
        output
    }
}
