//! Priority queues that live in GPU memory: one file of WGSL per design, all with the same functions.
//!
//! A design is a WGSL file that defines `queue_open`, `queue_close`, `queue_size`, `queue_first`, `queue_push`,
//! `queue_pop`, `queue_peek`, `queue_place`, `queue_spare` and `queue_take` over events of some type `Item`, in any total order that a
//! function `event_before` gives. The kernel that is linked with it brings the buffer `queue_events` and the functions
//! `queue_capacity` (events that a queue may hold) and `queue_stride` ([`QueueDesign::stride`], slots from one queue to
//! the next).
//!
//! | function | what it does |
//! | --- | --- |
//! | `queue_open(owner: u32, kept: vec2<u32>)`, `queue_close() -> vec2<u32>` | opens a queue; closes it and gives the two words to keep of it: the first is the number of events, and zeros are an empty queue |
//! | `queue_size() -> u32`, `queue_first() -> Item`, `queue_pop()` | the events held; the first one; drops it |
//! | `queue_push(Item) -> bool` | adds an event, or refuses it and changes nothing where the queue is full |
//! | `queue_peek(index: u32) -> Item` | any of the events, in the design's own order |
//! | `queue_place(owner: u32, index: u32) -> u32` | the slot for event `index` of a queue that was never used and is not open |
//! | `queue_spare(index: u32) -> u32` | the slot for event `index` beyond those held, as far as there is room; until the next change |
//! | `queue_take(count: u32)` | adds what lies in the first `count` slots of either |
//!
//! The designs and their names are those of Baudis et al., section III.

use crate::gpu::Source;

/// A priority-queue design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueDesign {
    /// The implicit binary heap (section III.B): logarithmic in the events held, for queues of any length.
    Heap,
    /// The circular buffer with sequential insertion (section III.A): linear, and fastest for short queues.
    CbSeq(Traverse),
}

/// From where CB-SEQ looks for the place of a new event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Traverse {
    /// From the latest event backwards: short for events that lie far in the future.
    BackToFront,
    /// From the earliest event on: short for events that are near.
    FrontToBack,
}

impl QueueDesign {
    /// Every design, for comparisons.
    pub const ALL: [Self; 3] =
        [Self::Heap, Self::CbSeq(Traverse::BackToFront), Self::CbSeq(Traverse::FrontToBack)];

    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heap => "heap",
            Self::CbSeq(Traverse::BackToFront) => "cb-seq",
            Self::CbSeq(Traverse::FrontToBack) => "cb-seq-front",
        }
    }

    /// The WGSL file of the design.
    pub fn source(self) -> Source {
        crate::shaders::file(match self {
            Self::Heap => "queue/heap.wgsl",
            Self::CbSeq(_) => "queue/cb_seq.wgsl",
        })
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
            Self::Heap => &[],
            Self::CbSeq(Traverse::BackToFront) => &[("CB_BACKWARD", 1.0)],
            Self::CbSeq(Traverse::FrontToBack) => &[("CB_BACKWARD", 0.0)],
        }
    }

    /// The slots that a queue of `capacity` events takes, of one event each.
    pub fn stride(self, capacity: u32) -> u64 {
        match self {
            Self::Heap => (u64::from(capacity) + 1).next_multiple_of(2),
            Self::CbSeq(_) => u64::from(capacity),
        }
    }

    /// The slots, within its queue, of the events that a queue with these meta words holds.
    pub(crate) fn slots(self, meta: [u32; 2], capacity: u32) -> impl Iterator<Item = u32> {
        let [length, front] = meta;
        (0..length).map(move |i| match self {
            Self::Heap => i + 1,
            Self::CbSeq(_) => {
                let slot = u64::from(front) + u64::from(i);
                u32::try_from(slot % u64::from(capacity)).expect("a slot lies below the capacity")
            }
        })
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
        Self::ALL
            .into_iter()
            .find(|design| design.name() == name)
            .ok_or_else(|| UnknownQueue(name.to_owned()))
    }
}

/// No queue design has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no queue design: there are {names}", names = QueueDesign::ALL.map(QueueDesign::name).join(", "))]
pub struct UnknownQueue(pub String);
