//! The form between a checked network and its text. Numbers of nodes, slots, rings and heaps, and
//! rows of data, are indices of the text.

/// A network as the printer reads it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ir {
    pub(super) classes: u32,
    /// Whether customers enter at sources: then times of entry matter.
    pub(super) is_open: bool,
    /// In the order of LPs.
    pub(super) nodes: Vec<Node>,
    /// By slot of next times. Of slots of a node with the same time, the first goes first.
    pub(super) slots: Vec<Slot>,
    /// By ring: node * classes, and whether it has customers that are blocked at other nodes.
    pub(super) rings: Vec<(u32, bool)>,
    pub(super) heaps: u32,
    /// Further words of the state, of which the first are numbers of customers that nodes know
    /// which choose the shortest line, and then their changes.
    pub(super) extra: u32,
    pub(super) known: u32,
    /// Whether customers that wait may leave, or rings have empty places for another reason.
    pub(super) is_impatient: bool,
    /// Whether services are interrupted by other customers.
    pub(super) preempts: bool,
    /// The number of forks.
    pub(super) forks: u32,
    /// Whether customers that find a node full may wait at their sender.
    pub(super) blocks: bool,
    /// With distributions of times and of numbers of customers.
    pub(super) details: Option<Details>,
    /// The slot and the heap of customers on routes that take time.
    pub(super) travel: Option<[u32; 2]>,
    /// Rows that the text reads, without those of slots and rings, which come first.
    pub(super) data: Vec<[u32; 4]>,
}

impl Ir {
    /// Whether a station shares its servers.
    pub(super) fn shares(&self) -> bool {
        self.nodes.iter().any(Node::is_shared)
    }
}

/// The histograms of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Details {
    /// The row of the unit of bins. Those of limits of shares follow.
    pub(super) row: u32,
    pub(super) limits: u32,
    /// The place of a time of 0 in a histogram.
    pub(super) zero: u32,
}

/// A slot of next times.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Slot {
    /// node * classes, if customers are served there.
    pub(super) serves: Option<u32>,
    pub(super) heap: Option<u32>,
    /// Whether the heap has customers on their way.
    pub(super) travels: bool,
    /// Its node, if its events follow the release of servers there at one time.
    pub(super) late: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// By class.
    pub(super) pairs: Vec<Pair>,
    /// The nodes that choose this one if its line is the shortest, each with the number that it
    /// knows.
    pub(super) listeners: Vec<[u32; 2]>,
}

impl Node {
    /// Whether all customers share its servers.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.kind, Kind::Station { service: Service::Shared { .. }, .. })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Source {
        slot: u32,
        class: u32,
        arrivals: Law,
        /// The row with the customers of an emission, if it may be more than one.
        batch: Option<u32>,
        /// The shares of its rate.
        rates: Option<Calendar>,
    },
    Station {
        service: Service,
        lines: Lines,
        /// The row of the most customers that wait, if there is a capacity; with a schedule, that
        /// are present.
        room: Option<u32>,
        /// The odds to stay by number of customers: first row and their number.
        balking: Option<[u32; 2]>,
        /// The slot and the heap of ends of patience.
        patience: Option<[u32; 2]>,
        /// The numbers of servers.
        schedule: Option<Calendar>,
        breakdown: Option<Breakdown>,
        /// The slot in which free servers wake, of a station with a schedule or breakdowns.
        wake: Option<u32>,
        /// The ring of customers that are blocked by this station, and the slot in which the first
        /// of them comes in.
        blocked: Option<[u32; 2]>,
        /// Whether some routes lead to a node that blocks.
        holds: bool,
    },
    Router,
    /// The number of the fork, from 1, and the ring of its customers.
    Fork {
        fork: u32,
        ring: u32,
    },
    Sink,
}

/// Pieces that follow each other: rows of (length (2), value).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calendar {
    pub(super) slot: u32,
    pub(super) first: u32,
    pub(super) count: u32,
}

/// Breakdowns of a station, whose servers have rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Breakdown {
    pub(super) slot: u32,
    pub(super) up: Law,
    pub(super) repair: Law,
    /// The row of the node's streams.
    pub(super) stream: u32,
}

/// Where customers in service are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Service {
    /// A slot for each server.
    Slots { first: u32, count: u32 },
    /// A slot for each server, of which an arriving customer may take one from another customer:
    /// the first of the words with the order in which services began.
    Preemptive { first: u32, count: u32, began: u32 },
    /// The row of the number of servers, if it is limited.
    Heap { slot: u32, heap: u32, servers: Option<u32> },
    /// All customers share the servers: heaps of customers and of their departures, the row of the
    /// number of servers, and the words of the clock.
    Shared { slot: u32, heap: u32, servers: u32, clock: u32 },
}

/// Where customers wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lines {
    /// No customer waits.
    None,
    /// One ring; the last customer, or the first, goes first.
    One { ring: u32, last: bool },
    /// One ring without an order, and the row of the node's streams.
    Random { ring: u32, stream: u32 },
    /// A ring for each class. The first class goes first, or the class served last.
    ByClass { first: u32, polled: bool },
}

/// A class at a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Pair {
    /// Whether it comes here.
    pub(super) comes: bool,
    pub(super) service: Option<Law>,
    pub(super) patience: Option<Law>,
    /// Whether arrivals are counted because they draw.
    pub(super) counts: bool,
    /// The row of the name of its streams.
    pub(super) stream: u32,
    pub(super) routes: Routes,
    /// Travel times.
    pub(super) travels: Vec<Law>,
    /// Where tasks of a fork go.
    pub(super) tasks: Vec<[u32; 2]>,
    /// Whether departures are counted because they draw.
    pub(super) departs: bool,
    /// Customers present at the start.
    pub(super) population: u32,
}

/// A distribution: its index in the table of kinds, and its two rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Law {
    pub(super) kind: usize,
    pub(super) row: u32,
}

/// Where customers go: rows of (threshold, other slot of the alias table, node, word). The word is
/// the class, 2^8 times the number of the travel time, from 1, and 2^31 if the node blocks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Routes {
    #[default]
    None,
    /// The node, and that word.
    One {
        node: u32,
        word: u32,
    },
    Chance {
        first: u32,
        count: u32,
    },
    InTurn {
        first: u32,
        count: u32,
    },
    /// The first number of customers that the node knows.
    Shortest {
        first: u32,
        count: u32,
        known: u32,
    },
}
