//! The model that a network is compiled to. The folder has the code that fills its tables, and the
//! reference implementations of `shaders/facility/network.wgsl` and of the files that it imports.

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
use crate::statistics::quantiles::LENGTHS;
use crate::time::{Resolution, Ticks};

use super::nodes::{Kind, Node};
use super::{MAX_CLASSES, Network};

pub(super) use laws::{Places, library_with_laws, variate};
pub(super) use level::{Level, TimeSums};
pub(super) use records::{BALKED, BEGAN, LEFT, LOST, RENEGED, histogram_words, present_of, sojourns_of};
pub(super) use streams::name as stream_name;
pub(super) use tables::odds;

/// Default room for waiting customers at a station: see [`Facility::with_room`].
const ROOM: u32 = 128;

/// The most that may wait at a station: events name slots by 16 bits.
pub(super) const MOST_ROOM: u32 = 1 << 16;

shared! {
    "facility/network/records.wgsl":
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
    /// The high word that forked tasks carry instead of their time of entry, less the fork's LP.
    const TASK: u32;
    /// Marks an arrival along a timed route, with the LP where it began.
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
    const BLOCKED: u32;
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

/// A checked network, as a model of the engine: an LP for each node, in the order of
/// [`Network::names`].
///
/// Its lookahead is the shortest travel time between nodes, if all routes between nodes take a time
/// with a positive lower bound (constant, or uniform or triangular from above zero) and no node
/// chooses the shortest line; otherwise it is zero.
///
/// [`Network::compile`] creates it. It runs in [`Simulation`](crate::pdes::Simulation),
/// [`CpuSimulation`](crate::pdes::CpuSimulation) and both replication engines as any model does;
/// [`Facility::study`] runs it and evaluates the results. WGSL: `shaders/facility/network.wgsl`.
///
/// A station that shares its servers ([`Discipline::Sharing`](super::Discipline::Sharing)) has a
/// clock that counts to 2^47 ticks. Runs of your own have to end before this time, which is not
/// checked; studies, long runs and [`Facility::settles`] refuse later ends.
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
        /// When statistics begin.
        pub warm_up: Ticks,
        /// Classes of customers.
        pub classes: u32,
        /// The first row of details for distributions; 0 without details.
        pub details: u32,
        /// The first row of known lengths of lines elsewhere.
        pub known: u32,
        /// The first row of servers.
        pub servers: u32,
        /// The first row of slots.
        pub slots: u32,
        /// Rows of a slot.
        pub slot_rows: u32,
        /// How many may wait at a station; there are at least as many slots.
        pub room: u32,
        /// The unit of histograms is 2 to this power, in ticks.
        pub bin_shift: u32,
        /// The first row of notes on followed customers; 0 if none is followed.
        pub trace: u32,
        /// The number of these rows.
        pub trace_rows: u32,
        /// One customer in `every` is followed, of each source and of the initial customers of a
        /// node.
        pub every: u32,
        /// At most this many of them.
        pub most: u32,
        /// The first row of data with limits of shares, and their number.
        pub limits: [u32; 2],
    }

    /// The WGSL `struct State` of [`Facility`].
    #[derive(PartialEq, Eq)]
    pub struct FacilityState as State {
        /// Customers in service.
        pub busy: u32,
        /// Customers that wait.
        pub waiting: u32,
        /// Serial number of the last customer that waited, or that a preemptive station served.
        pub serial: u32,
        /// Customers sent along cyclic routes.
        pub turn: u32,
        /// The first free slot; if only the first customer leaves the line, its slot.
        pub free: u32,
        /// Current number of servers; at a source whose rate changes, the probability that an
        /// arrival is kept, in units of 2^-32.
        pub open: u32,
        /// The class that was served last, if classes are polled; if only the first customer leaves
        /// the line, how often its slots were doubled.
        pub polled: u32,
        /// Whether the station is down.
        pub down: u32,
    }
}

shared! {
    "facility/network/records.wgsl":
    /// Output of a class of customers at a node since the end of the warm-up: the WGSL `struct
    /// ClassOutput`. Times in ticks.
    #[derive(PartialEq, Eq, Default)]
    pub struct ClassOutput {
        /// From arrival to departure, of served customers; at a sink, from entry into the network
        /// (time zero for initial customers). Sources count customers sent into the network and
        /// routers count all, with times of zero.
        pub sojourn: TimeSums,
        /// From arrival to the beginning of service, of customers whose service began.
        pub wait: TimeSums,
        /// Customers in service and in line.
        pub present: Level,
        /// Customers in service.
        pub busy: Level,
        /// Arrivals, lost ones included.
        pub arrivals: u64,
        /// Customers that found no room.
        pub lost: u64,
        /// Customers whose patience ended.
        pub reneged: u64,
        /// Customers that balked.
        pub balked: u64,
        /// Sum over customers present of the time from the end of the warm-up to their arrival,
        /// modulo 2^64; 0 for those that came before.
        pub came: u64,
        /// The sum of `sojourn` less the time after the warm-up of all customers that left: the
        /// time that served ones spent here before its end, less the time after it of those that
        /// left unserved; modulo 2^64.
        pub apart: u64,
        /// Forked tasks that came back; at a fork, of the customers of this class.
        pub joined: u64,
        /// Customers that left along a timed route.
        pub begun: u64,
        /// Customers that arrived along a timed route.
        pub ended: u64,
        /// Zero.
        pub unused: u64,
    }
}

impl ClassOutput {
    /// Customers served; at a source, customers sent into the network.
    pub(super) fn served(&self) -> u64 {
        self.sojourn.count()
    }
}

/// The WGSL `struct Output` of [`Facility`]: the output of each class at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FacilityOutput {
    /// By class.
    pub classes: [ClassOutput; MAX_CLASSES],
    /// Departures along timed routes less arrivals along them: summed over all nodes
    /// ([`Level::plus`]), the customers on their way.
    pub trips: Level,
    /// Servers that wait until another node has room; at a station with shared servers, those that
    /// work; at a fork, tasks that wait for others; at a station with breakdowns, servers that are
    /// down.
    pub servers: Level,
    /// Customers whose service waits for a repair.
    pub interrupted: Level,
    /// Ticks with 0, 1, 2 … customers, and with more in the last; zeros without
    /// [`Facility::with_details`].
    pub lengths: [u64; LENGTHS],
}

// (Arrays of this length have no default.)
impl Default for FacilityOutput {
    fn default() -> Self {
        Self::zeroed()
    }
}

/// A length as a word.
fn word(length: usize) -> u32 {
    u32::try_from(length).expect("tables of a network are shorter than 2^32 words")
}

impl Facility {
    /// The same with `trace_rows` rows for notes on followed customers; `tags` has the first tag of
    /// each node and class with followed customers.
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

    /// The same with details for distributions ([`Study::details`](super::Study::details)).
    #[doc(hidden)]
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

    /// Warnings of times that are not whole ticks, and of means of few ticks; the first times of
    /// each kind by name.
    pub fn rounding(&self) -> &[String] {
        &self.rounding
    }

    /// The names of the nodes, in the order of their LPs.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| &*node.name)
    }

    /// The same with statistics that begin at `warm_up`.
    #[doc(hidden)]
    #[must_use]
    pub fn with_warm_up(mut self, warm_up: Ticks) -> Self {
        self.params.warm_up = warm_up;
        self
    }

    /// The same with room for `room` waiting customers at a station. More end a run with
    /// [`FaultKind::MemoryFull`](crate::pdes::FaultKind::MemoryFull); the room does not change
    /// results. The default is 128, or fewer if there can be no more; [`Facility::study`] increases
    /// it as needed.
    #[doc(hidden)]
    #[must_use]
    pub fn with_room(mut self, room: u32) -> Self {
        self.params.room = room.min(MOST_ROOM);
        self
    }

    /// How many customers may wait at a station before a run ends.
    pub(super) fn room(&self) -> u32 {
        self.params.room
    }
}

/// A customer, as WGSL events and rows store it.
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
    // High words first: events of one time are ordered by their words.
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

    /// The name of the model, not of the network: it names kernels, which all networks share.
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
        // Whole memory lines, as for blocks.
        (self.params.slots + self.slots() * self.params.slot_rows).next_multiple_of(BLOCK)
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }
}
