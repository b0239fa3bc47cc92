//! Priority queues that live in GPU memory: one file of WGSL per design, all with the same functions.
//!
//! A design is a WGSL file that defines `queue_open`, `queue_close`, `queue_size`, `queue_first`, `queue_glance` with `QUEUE_GLANCES`, `queue_second`, `queue_push`,
//! `queue_pop`, `queue_peek`, `queue_scan_open`, `queue_scan_more`, `queue_scan_next`, `queue_place`, `queue_spare` and `queue_take` over events of some type `Item`, in any total order that a
//! function `event_before` gives. (A design may keep something else in slots than events: `item_words` and `words_item` tell
//! words from an `Item` and the other way round; of four of them those that searches keep have the first two alone.) The kernel that is linked with it brings the buffer `queue_events` and the functions
//! `queue_capacity` (events that a queue may hold) and `queue_stride` ([`QueueDesign::stride`], slots of one queue).
//! [`QueueDesign::slots`] says how long the buffer is.
//!
//! | function | what it does |
//! | --- | --- |
//! | `queue_open(owner: u32, kept: vec2<u32>)`, `queue_close() -> vec2<u32>` | opens a queue; closes it and gives the two words to keep of it: the first is the number of events, and zeros are an empty queue |
//! | `queue_size() -> u32`, `queue_first() -> Item`, `queue_pop()` | the events held; the first one; drops it |
//! | `QUEUE_GLANCES: bool`, `queue_glance(owner: u32) -> Item` | whether the first event of a queue that is not open can be seen; that event, if there is one |
//! | `queue_second() -> Item` | where `queue_first` was called since the last change: of two events or more the second, or one that is not after it |
//! | `queue_push(Item) -> bool` | adds an event, or refuses it and changes nothing where the queue is full |
//! | `queue_peek(index: u32) -> Item` | any of the events, in the design's own order |
//! | `queue_scan_open()`, `queue_scan_more() -> bool`, `queue_scan_next() -> Item` | the events from the first on, in order, with no change; a scan may end early |
//! | `queue_place(owner: u32, index: u32) -> u32` | the slot for event `index` of a queue that was never used and is not open |
//! | `queue_spare(index: u32) -> u32` | the slot for event `index` beyond those held, as far as there is room; until the next change |
//! | `queue_take(count: u32)` | adds what lies in the first `count` slots of either |
//!
//! A queue of CB-PAR is one that one invocation can serve with these functions, and that a team of invocations can serve
//! together with those at the head of its file ([`Lanes`] of them).
//!
//! The designs and their names are those of Baudis et al., section III.
//!
//! [`ParallelHeap`] is another thing: one queue for the whole device, which takes and gives many items at a time. No kernel calls it; it
//! is dispatches of its own.

mod parallel_heap;

#[doc(hidden)]
pub use parallel_heap::kernels;
pub use parallel_heap::{HeapBatch, HeapItem, ParallelHeap, ParallelHeapError};

use crate::gpu::Source;

/// A priority-queue design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueDesign {
    /// The implicit binary heap (section III.B): logarithmic in the events held, for queues of any length.
    Heap,
    /// The circular buffer with sequential insertion (section III.A): linear, and fastest for short queues.
    CbSeq(Traverse),
    /// The implicit heap with four children to a node: half as many levels, and four siblings in 64 aligned bytes.
    Heap4,
    /// The splay tree (section III.B): logarithmic on average. Events stay where they are, with two links beside each: twice the
    /// memory of a heap.
    Splay,
    /// The circular buffer that takes in up to eight new events in a single pass (section III.A).
    CbSeqSp,
    /// The circular buffer with parallel insertion (section III.A): so many invocations serve a queue together.
    CbPar(Lanes),
    /// The calendar: events by the cell of time that they lie in, each cell as long as the lookahead. Mailbox and queue are one: who sends
    /// appends to the destination's bucket, and a window sorts one bucket of each LP. Only the engine of `pdes` has it. Of a model's
    /// capacities, `queue` is the room of each of an LP's two lists for what is later or finds its bucket full, and buckets are made for
    /// `mailbox` events; only a list can overflow.
    Calendar,
}

/// From where CB-SEQ looks for the place of a new event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Traverse {
    /// From the latest event backwards: short for events that lie far in the future.
    BackToFront,
    /// From the earliest event on: short for events that are near.
    FrontToBack,
}

/// How many invocations serve a queue of CB-PAR together. A workgroup has whole teams of them, so they are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// 2.
    Two,
    /// 4.
    Four,
    /// 8: side by side, they read the 128 bytes of a cache line from a queue of 16-byte events.
    Eight,
    /// 16.
    Sixteen,
    /// 32: the paper's choice for most of its runs.
    ThirtyTwo,
}

impl Lanes {
    /// Every number, the smallest first.
    pub const ALL: [Self; 5] = [Self::Two, Self::Four, Self::Eight, Self::Sixteen, Self::ThirtyTwo];

    /// The number.
    pub fn count(self) -> u32 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen => 16,
            Self::ThirtyTwo => 32,
        }
    }
}

impl QueueDesign {
    /// Every design, for comparisons; CB-PAR once, with the lanes that [`QueueDesign::CB_PAR`] has.
    pub const ALL: [Self; 8] = [
        Self::Heap,
        Self::CbSeq(Traverse::BackToFront),
        Self::CbSeq(Traverse::FrontToBack),
        Self::Heap4,
        Self::Splay,
        Self::CbSeqSp,
        Self::CB_PAR,
        Self::Calendar,
    ];

    /// CB-PAR with the paper's number of lanes, which is also what the name `cb-par` stands for.
    pub const CB_PAR: Self = Self::CbPar(Lanes::ThirtyTwo);

    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heap => "heap",
            Self::CbSeq(Traverse::BackToFront) => "cb-seq",
            Self::CbSeq(Traverse::FrontToBack) => "cb-seq-front",
            Self::Heap4 => "heap-4",
            Self::Splay => "splay",
            Self::CbSeqSp => "cb-seq-sp",
            Self::CbPar(Lanes::Two) => "cb-par-2",
            Self::CbPar(Lanes::Four) => "cb-par-4",
            Self::CbPar(Lanes::Eight) => "cb-par-8",
            Self::CbPar(Lanes::Sixteen) => "cb-par-16",
            Self::CbPar(Lanes::ThirtyTwo) => "cb-par-32",
            Self::Calendar => "calendar",
        }
    }

    /// The WGSL file of the design. None for the calendar, which is no queue of its own.
    pub fn source(self) -> Option<Source> {
        let path = match self {
            Self::Heap | Self::Heap4 => "queue/heap.wgsl",
            Self::CbSeq(_) => "queue/cb_seq.wgsl",
            Self::Splay => "queue/splay.wgsl",
            Self::CbSeqSp => "queue/cb_seq_sp.wgsl",
            Self::CbPar(_) => "queue/cb_par.wgsl",
            Self::Calendar => return None,
        };
        Some(crate::shaders::file(path))
    }

    /// Events of 16 bytes (4 words: timestamp, then a payload of 2 words) as simulation uses them, with their order.
    pub fn events() -> Source {
        crate::shaders::file("queue/events_4.wgsl")
    }

    /// Events of 32 bytes (8 words: timestamp, then a payload of 6 words), with their order.
    pub fn wide_events() -> Source {
        crate::shaders::file("queue/events_8.wgsl")
    }

    /// The values of the design's `override`s.
    pub fn constants(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Heap | Self::Splay | Self::CbSeqSp | Self::Calendar => &[],
            Self::CbSeq(Traverse::BackToFront) => &[("CB_BACKWARD", 1.0)],
            Self::CbSeq(Traverse::FrontToBack) => &[("CB_BACKWARD", 0.0)],
            Self::Heap4 => &[("HEAP_ARITY", 4.0)],
            Self::CbPar(Lanes::Two) => &[("CB_LANES", 2.0)],
            Self::CbPar(Lanes::Four) => &[("CB_LANES", 4.0)],
            Self::CbPar(Lanes::Eight) => &[("CB_LANES", 8.0)],
            Self::CbPar(Lanes::Sixteen) => &[("CB_LANES", 16.0)],
            Self::CbPar(Lanes::ThirtyTwo) => &[("CB_LANES", 32.0)],
        }
    }

    /// The invocations that serve a queue: one, but for CB-PAR.
    pub fn lanes(self) -> u32 {
        match self {
            Self::CbPar(lanes) => lanes.count(),
            _ => 1,
        }
    }

    /// Whether it follows links that lie in its slots: where a driver cuts its loops, what it takes for a link may be something else, so its kernels are checked.
    pub(crate) fn follows_links(self) -> bool {
        match self {
            Self::Splay => true,
            Self::Heap | Self::Heap4 | Self::CbSeq(_) | Self::CbSeqSp | Self::CbPar(_) | Self::Calendar => {
                false
            }
        }
    }

    /// The slots that a queue of `capacity` events takes, of the size of one event each, and at least one of them for what its owner keeps beside its events; none for the
    /// calendar.
    pub fn stride(self, capacity: u32) -> u64 {
        let capacity = u64::from(capacity);
        match self {
            Self::Heap => (capacity + 1).next_multiple_of(2),
            Self::CbSeq(_) | Self::CbSeqSp | Self::CbPar(_) => capacity + 1,
            Self::Heap4 => (capacity + 3).next_multiple_of(4),
            Self::Splay => 2 * capacity + 2,
            Self::Calendar => 0,
        }
    }

    /// The slots of a buffer for so many queues.
    pub fn slots(self, queues: u32, capacity: u32) -> u64 {
        u64::from(queues).saturating_mul(self.stride(capacity))
    }
}

impl std::fmt::Display for QueueDesign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for QueueDesign {
    type Err = UnknownQueue;

    fn from_str(name: &str) -> Result<Self, UnknownQueue> {
        if name == "cb-par" {
            return Ok(Self::CB_PAR);
        }
        Self::ALL
            .into_iter()
            .chain(Lanes::ALL.map(Self::CbPar))
            .find(|design| design.name() == name)
            .ok_or_else(|| UnknownQueue(name.to_owned()))
    }
}

/// Designs that were removed, and what to use instead.
const REMOVED: [(&str, &str); 1] = [("heap-interleaved", "heap")];

/// No queue design has this name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownQueue(pub String);

impl std::fmt::Display for UnknownQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(name) = self;
        if let Some((_, successor)) = REMOVED.iter().find(|(removed, _)| removed == name) {
            return write!(f, "queue design `{name}` was removed: use `{successor}`");
        }
        let names = QueueDesign::ALL.map(QueueDesign::name).join(", ");
        write!(f, "'{name}' is no queue design: there are {names}, and cb-par with -2, -4, -8 or -16")
    }
}

crate::text::debug_is_display!(UnknownQueue);
