//! Priority queues that live in GPU memory: one file of WGSL per design, all with the same functions.
//!
//! A design is a WGSL file that defines `queue_open`, `queue_close`, `queue_size`, `queue_first`, `queue_glance` with `QUEUE_GLANCES`, `queue_second`, `queue_push`,
//! `queue_pop`, `queue_peek`, `queue_scan_open`, `queue_scan_more`, `queue_scan_next`, `queue_place`, `queue_spare` and `queue_take` over events of some type `Item`, in any total order that a
//! function `event_before` gives. (A design may keep something else in slots than events: `item_words` and `words_item` tell
//! words from an `Item` and the other way round; of four of them those that searches keep have the first two alone.) The kernel that is linked with it brings the buffer `queue_events` and the functions
//! `queue_capacity` (events that a queue may hold) and `queue_stride` ([`QueueDesign::stride`], slots of one queue).
//! [`QueueDesign::slots`] says how long the buffer is. All that the host knows of a design is a row
//! of a table: [`Design`].
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

mod design;
mod parallel_heap;

pub use design::{Design, Stride, Usual};
#[doc(hidden)]
pub use parallel_heap::kernels;
pub use parallel_heap::{HeapBatch, HeapItem, ParallelHeap, ParallelHeapError};

use crate::gpu::Source;

/// A priority-queue design: a row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueueDesign(&'static Design);

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

    /// Those that the library takes by default, each where it is the fastest. The others are the
    /// paper's.
    pub const PRODUCTION: [Self; 3] = [Self::Heap, Self::Heap4, Self::Calendar];

    /// CB-PAR with the paper's number of lanes, which is also what the name `cb-par` stands for.
    pub const CB_PAR: Self = Self::CbPar(Lanes::ThirtyTwo);

    /// A design that is not the library's.
    #[doc(hidden)]
    pub const fn of(row: &'static Design) -> Self {
        Self(row)
    }

    /// Its row of the table.
    pub const fn row(self) -> &'static Design {
        self.0
    }

    /// The design that the library takes for something.
    pub const fn usual_for(usual: Usual) -> Self {
        let (mut design, table) = (0, design::TABLE);
        // Ends: each is in the table, which a test compares.
        loop {
            let mut number = 0;
            while number < table[design].0.usual_for.len() {
                if table[design].0.usual_for[number] as u8 == usual as u8 {
                    return table[design];
                }
                number += 1;
            }
            design += 1;
        }
    }

    /// The name on a command line.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The WGSL file of the design. None for the calendar, which is no queue of its own.
    pub fn source(self) -> Option<Source> {
        let path = self.0.file?;
        Some(self.0.text.map_or_else(|| crate::shaders::file(path), |text| Source::library(path, text)))
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
    pub fn constants(self) -> Vec<(&'static str, f64)> {
        self.0.overrides.iter().map(|&(name, value)| (name, value.into())).collect()
    }

    /// The invocations that serve a queue: one, but for CB-PAR.
    pub const fn lanes(self) -> u32 {
        self.0.lanes
    }

    /// Whether it is the calendar, where mailbox and queue are one.
    pub const fn is_calendar(self) -> bool {
        self.0.file.is_none()
    }

    /// Whether one invocation can serve a queue of it, as teams of replicas and searches need.
    pub const fn serves_alone(self) -> bool {
        self.0.lanes == 1 && !self.is_calendar()
    }

    /// Whether its slots and loops are bounded whatever lies in the slots, so that kernels may be
    /// linked without checks.
    pub(crate) const fn is_bounded(self) -> bool {
        !self.0.follows_links && self.0.text.is_none()
    }

    /// The slots that a queue of `capacity` events takes, of the size of one event each, and at least one of them for what its owner keeps beside its events; none for the
    /// calendar.
    pub fn stride(self, capacity: u32) -> u64 {
        let Stride { per_event, besides, multiple } = self.0.stride;
        (u64::from(per_event) * u64::from(capacity) + u64::from(besides)).next_multiple_of(multiple.into())
    }

    /// The slots of a buffer for a number of queues.
    pub fn slots(self, queues: u32, capacity: u32) -> u64 {
        u64::from(queues).saturating_mul(self.stride(capacity))
    }
}

impl std::fmt::Display for QueueDesign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

crate::text::debug_is_display!(QueueDesign);

impl std::str::FromStr for QueueDesign {
    type Err = UnknownQueue;

    fn from_str(name: &str) -> Result<Self, UnknownQueue> {
        if name == "cb-par" {
            return Ok(Self::CB_PAR);
        }
        let found = design::TABLE.into_iter().find(|design| design.name() == name);
        found.ok_or_else(|| UnknownQueue(name.to_owned()))
    }
}

/// No queue design has this name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownQueue(pub String);

impl std::fmt::Display for UnknownQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(name) = self;
        if let Some((_, successor)) = design::REMOVED.iter().find(|(removed, _)| removed == name) {
            return write!(f, "queue design `{name}` was removed: use `{successor}`");
        }
        let names = QueueDesign::ALL.map(QueueDesign::name).join(", ");
        write!(f, "'{name}' is no queue design: there are {names}, and cb-par with -2, -4, -8 or -16")
    }
}

crate::text::debug_is_display!(UnknownQueue);
