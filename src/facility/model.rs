//! The model that a network is compiled to. The folder has what fills its tables, and the Rust
//! twins of `shaders/facility/network.wgsl` and of the files that it imports.

mod compile;
mod laws;
mod level;
mod lines;
mod records;
mod reference;
mod routes;
mod sharing;
mod streams;
mod tables;

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::pdes::{Capacity, Context, Model};
use crate::time::{Resolution, Ticks};

use super::nodes::{Kind, Node};
use super::{MAX_CLASSES, Network};

pub use level::{Level, TimeSums};
pub(super) use records::{
    BALKED, BEGAN, BINS, LAST_BIN, LEFT, LOST, RENEGED, bin_edges, present_of, sojourns_of,
};

/// Those that wait at a station, until somebody says otherwise: see [`Facility::with_room`].
const ROOM: u32 = 128;

/// The most that may wait at a station: events name slots by 16 bits.
pub(super) const MOST_ROOM: u32 = 1 << 16;

shared! {
    "facility/network/records.wgsl":
    /// Numbers of customers whose time is told; the last is that of more.
    pub const LENGTHS: usize;
    const INTERRUPTED: u32;
}

shared! {
    "facility/network.wgsl":
    const CLASSES: u32;
    const SURE: u32;
    const SOURCE: u32;
    const STATION: u32;
    const SINK: u32;
    const ROUTER: u32;
    const FORK: u32;
    /// The highest word of what siblings have in the place of the time when they entered the
    /// network, less the fork's LP.
    const SIBLING: u32;
    /// Of an arrival that took time, with the LP where it began.
    const TRIP: u32;
    const LIFO: u32;
    const RANDOM: u32;
    const PREEMPTIVE: u32;
    const SHARING: u32;
    const POLLING: u32;
    const RING: u32;
    const RING_SIZE: u32;
    const BLOCKS: u32;
    const SERVER_ROWS: u32;
    const HOLDS: u32;
    const WAKES: u32;
    const IN_TURN: u32;
    const SHORTEST: u32;
    const GUESTS: u32;
    const SERVERS: u32;
    const TRAVELLERS: u32;
    const PIECE: u32;
    const CLOCK: u32;
    const DUE: u32;
    const SINCE: u32;
    const BLOCK: u32;
    const OTHERS: u32;

    const COMPLETION: u32;
    const SHIFT: u32;
    const EMISSION: u32;
    const RELEASE: u32;
    const REPORT: u32;
    const WAKE: u32;
    const ADMIT: u32;
    const RENEGE: u32;
    const ARRIVAL: u32;
}

shared! {
    "facility/network/tables.wgsl":
    const NODE_ROWS: usize;
    const PAIR_ROWS: usize;
    const WAY_ROWS: usize;
}
const NODE_WORDS: usize = 4 * NODE_ROWS;
const PAIR_WORDS: usize = 4 * PAIR_ROWS;
const ROUTE_WORDS: usize = 4 * WAY_ROWS;

/// A network that was checked, as a model of the engine: an LP for each node, in the order of
/// [`Network::names`]. Its lookahead is the shortest time of travel from a node to another, if all
/// such ways take a time that is never shorter (a constant one, or uniform or triangular from one
/// above zero on) and nobody chooses the shortest line; else it has none.
///
/// [`Network::compile`] makes it. It runs in [`Simulation`](crate::pdes::Simulation),
/// [`CpuSimulation`](crate::pdes::CpuSimulation) and both engines of replicas as any model does;
/// [`Facility::study`] makes runs of it and tells what came out. Who runs it himself ends before
/// 2^47 ticks where a station shares its servers
/// ([`Discipline::Sharing`](super::Discipline::Sharing)): their clock counts no further, and nobody
/// says so. (Studies, long runs and [`Facility::settles`] refuse it.) WGSL:
/// `shaders/facility/network.wgsl`.
#[derive(Debug, Clone, PartialEq)]
pub struct Facility {
    pub(super) network: Network,
    pub(super) nodes: Vec<Node>,
    pub(super) resolution: Resolution,
    rounding: Vec<String>,
    data: Vec<u32>,
    params: FacilityParams,
    capacity: Capacity,
    lookahead: Ticks,
}

shared! {
    "facility/network.wgsl":
    /// The WGSL `struct Params` of [`Facility`].
    #[derive(PartialEq, Eq)]
    pub struct FacilityParams as Params {
        /// Where statistics begin.
        pub warm_up: Ticks,
        /// Classes of customers.
        pub classes: u32,
        /// The first row of details: what distributions are told of; 0 for none.
        pub details: u32,
        /// The first row of what is known of lines elsewhere.
        pub known: u32,
        /// The first row of servers.
        pub servers: u32,
        /// The first row of slots.
        pub slots: u32,
        /// Rows of a slot.
        pub slot_rows: u32,
        /// How many may wait at a station: there are as many slots, or more.
        pub room: u32,
        /// The unit of histograms is 2 to this power, in ticks.
        pub bin_shift: u32,
        /// The first row of what is noted of customers that are followed; 0 if nobody is.
        pub trace: u32,
        /// Rows of that.
        pub trace_rows: u32,
        /// Of each source, and of those that are at a node at the beginning, one in so many is
        /// followed.
        pub every: u32,
        /// So many of them.
        pub most: u32,
        /// Zeros.
        pub unused: [u32; 2],
    }

    /// The WGSL `struct State` of [`Facility`].
    #[derive(PartialEq, Eq)]
    pub struct FacilityState as State {
        /// Customers in service.
        pub busy: u32,
        /// Customers that wait.
        pub waiting: u32,
        /// Of who waited, or was served by a preemptive station, last.
        pub serial: u32,
        /// Ways that were taken in turn.
        pub turn: u32,
        /// The first slot that is free; where nobody leaves the line but the first, his slot.
        pub free: u32,
        /// Servers that there are now; of a source whose rate changes, the probability that who
        /// comes stays, in units of 2^-32.
        pub open: u32,
        /// The class that was served last, where classes are polled; where nobody leaves the line
        /// but the first, how often its slots were doubled.
        pub polled: u32,
        /// Whether the station is broken.
        pub down: u32,
    }
}

shared! {
    "facility/network/records.wgsl":
    /// What a class of customers did at a node since the end of the warm-up: the WGSL `struct
    /// ClassOutput`. Times in ticks.
    #[derive(PartialEq, Eq, Default)]
    pub struct ClassOutput {
        /// From arrival to departure, of those who were served; at a sink, from where they entered
        /// the network. (Who is in the network from the beginning entered it at time zero.) Of a
        /// source those who were sent into the network and of a router all are counted, and their
        /// times are zero.
        pub sojourn: TimeSums,
        /// From arrival to the beginning of service, of those whose service began.
        pub wait: TimeSums,
        /// Customers, in service and in line.
        pub present: Level,
        /// Customers in service.
        pub busy: Level,
        /// Who arrived, the lost ones included.
        pub arrivals: u64,
        /// Who found no room.
        pub lost: u64,
        /// Whose patience ended.
        pub reneged: u64,
        /// Who did not join the line.
        pub balked: u64,
        /// Sum of the times from the end of the warm-up until those present came, modulo 2^64; of
        /// who came before, 0.
        pub came: u64,
        /// What parts the sum of `sojourn` from the time that all who left were here after the
        /// warm-up: the time that those served were here before, less the time after it of those
        /// who left otherwise; modulo 2^64.
        pub apart: u64,
        /// Siblings who came back; at a fork, of the customers of this class.
        pub joined: u64,
        /// Who went from here along a way that takes time.
        pub begun: u64,
        /// Who came here along such a way.
        pub ended: u64,
        /// Zero.
        pub unused: u64,
    }
}

impl ClassOutput {
    /// Who was served; at a source, who was sent into the network.
    pub fn served(&self) -> u64 {
        self.sojourn.count()
    }
}

/// The WGSL `struct Output` of [`Facility`]: what each class did at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct FacilityOutput {
    /// By class.
    pub classes: [ClassOutput; MAX_CLASSES],
    /// How many went from here along ways that take time, less those who came here along such: of
    /// all nodes together ([`Level::plus`]), those on their way.
    pub trips: Level,
    /// Servers that wait until another node has room; of a station that shares its servers, those
    /// that work; of a fork, siblings that wait for others; of a station with breakdowns, servers
    /// that are down.
    pub servers: Level,
    /// Customers whose service waits for a repair.
    pub interrupted: Level,
    /// Ticks with 0, 1, 2 … customers, and at the end with more; zeros, unless
    /// [`Facility::with_details`] says so.
    pub lengths: [u64; LENGTHS],
}

/// A length as a word.
fn word(length: usize) -> u32 {
    u32::try_from(length).expect("tables of a network are shorter than 2^32 words")
}

impl Facility {
    /// The same with so many rows for notes of customers that are followed, of whom these nodes and
    /// classes have tags from such numbers on.
    pub(super) fn following(
        mut self,
        [every, most, trace_rows]: [u32; 3],
        tags: &[(usize, usize, u32)],
    ) -> Self {
        self.params = FacilityParams { every, most, trace_rows, ..self.params };
        for &(node, class, tag) in tags {
            let place = match self.nodes[node].kind {
                Kind::Source { .. } => node * NODE_WORDS + 11,
                _ => {
                    let pair = node * self.network.classes.len() + class;
                    self.nodes.len() * NODE_WORDS + pair * PAIR_WORDS + 7
                }
            };
            self.data[place] = tag;
        }
        let details = self.params.details != 0;
        self.laid_out(details)
    }

    /// The same, and it counts what distributions are told of: quantiles of times, by histograms
    /// with 16 bins for each power of two, and the time with each number of customers. That takes
    /// 3.7 KB of memory for each class at each node.
    #[must_use]
    pub fn with_details(self) -> Self {
        self.laid_out(true)
    }

    /// The description.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Ticks in the network's unit of time.
    pub fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// Warnings of times that are not whole ticks, and of means that are few; the first times of
    /// each kind by name.
    pub fn rounding(&self) -> &[String] {
        &self.rounding
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

    /// The same with room for so many customers that wait at a station. More than that end a run
    /// with [`FaultKind::MemoryFull`](crate::pdes::FaultKind::MemoryFull); what room there is shows
    /// in no result. At first there is room for 128, or fewer if there can be no more
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
}

/// A customer: what the events and rows of the WGSL hold.
#[derive(Debug, Clone, Copy)]
struct Customer {
    class: u32,
    entered: Ticks,
    arrived: Ticks,
    left: Ticks,
}

type Payload = [u32; 6];
type NetworkContext<'c> = Context<'c, Payload>;

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

impl Model for Facility {
    type State = FacilityState;
    type Params = FacilityParams;
    type Payload = Payload;
    type Output = FacilityOutput;

    /// That of the model, and not of the network: kernels are named so, and all networks have the
    /// same.
    fn name(&self) -> &str {
        "queueing network"
    }

    fn source(&self) -> Source {
        laws::with_laws(&if self.special() {
            crate::wgsl!("../../shaders/facility/network_special.wgsl")
        } else if self.simple() {
            crate::wgsl!("../../shaders/facility/network_simple.wgsl")
        } else {
            crate::wgsl!("../../shaders/facility/network_plain.wgsl")
        })
    }

    fn lps(&self) -> u32 {
        word(self.nodes.len())
    }

    fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    fn params(&self) -> FacilityParams {
        self.params
    }

    fn data(&self) -> &[u32] {
        &self.data
    }

    fn memory_rows(&self) -> u32 {
        // Whole lines of memory, as blocks are.
        (self.params.slots + self.slots() * self.params.slot_rows).next_multiple_of(BLOCK)
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }
}
