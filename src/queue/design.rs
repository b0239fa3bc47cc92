//! The table of queue designs: a row is everything that the host knows about one.

use crate::gpu::Source;

/// A row of the table of queue designs. All code that depends on a design reads its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Design {
    /// The name on a command line.
    pub name: &'static str,
    /// The WGSL file in `shaders/`. `None` for the calendar, in which mailbox and queue are one.
    pub file: Option<&'static str>,
    /// The WGSL text, if the file is not in `shaders/`: then kernels are linked with all checks.
    pub text: Option<&'static str>,
    /// Values of the file's `override`s.
    pub overrides: &'static [(&'static str, u32)],
    /// Invocations that serve a queue together.
    pub lanes: u32,
    /// Whether it follows links stored in its slots. Its kernels are checked, because a link may be
    /// invalid if a driver ends loops early.
    pub follows_links: bool,
    /// Whether short queues are so compact that more of them fit the caches at once.
    pub short_fit_caches: bool,
    /// The slots of a queue.
    pub stride: Stride,
    /// Whether the design exists for comparison with the paper: it is linked on request only.
    pub paper: bool,
    /// The uses for which it is the default.
    pub default_for: &'static [DefaultFor],
}

/// The number of slots of a queue as a function of its capacity; a slot has the size of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stride {
    /// Slots per event.
    pub per_event: u32,
    /// Additional slots. At least one holds no event: the queue's owner stores data there.
    pub besides: u32,
    /// The stride is a multiple of this.
    pub multiple: u32,
}

/// The uses for which the library needs a default queue design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DefaultFor {
    /// Windows within an epoch: YAWNS.
    Epochs,
    /// Windows beyond an epoch, which read an LP's events in order.
    Wide,
    /// Windows within an epoch with many events for each LP.
    Dense,
    /// Searches by threads.
    Searches,
}

impl Design {
    /// The row of a design that is not a default, in the WGSL file `file`, with a slot for each
    /// event and one additional slot.
    pub const fn new(name: &'static str, file: &'static str) -> Self {
        Self {
            name,
            file: Some(file),
            text: None,
            overrides: &[],
            lanes: 1,
            follows_links: false,
            short_fit_caches: false,
            stride: Stride { per_event: 1, besides: 1, multiple: 1 },
            paper: false,
            default_for: &[],
        }
    }

    const fn cb_seq(name: &'static str, overrides: &'static [(&'static str, u32)]) -> Self {
        Self { overrides, short_fit_caches: true, paper: true, ..Self::new(name, "queue/cb_seq.wgsl") }
    }

    const fn cb_par(name: &'static str, overrides: &'static [(&'static str, u32)]) -> Self {
        Self { overrides, lanes: overrides[0].1, paper: true, ..Self::new(name, "queue/cb_par.wgsl") }
    }
}

const HEAP: Design = Design {
    stride: Stride { per_event: 1, besides: 1, multiple: 2 },
    // Reading events in order visits all children of a node (notes/queues.md).
    default_for: &[DefaultFor::Wide],
    ..Design::new("heap", "queue/heap.wgsl")
};
const HEAP_4: Design = Design {
    overrides: &[("HEAP_ARITY", 4)],
    stride: Stride { per_event: 1, besides: 3, multiple: 4 },
    // A heap with half as many levels (notes/queues.md).
    default_for: &[DefaultFor::Epochs, DefaultFor::Searches],
    ..Design::new("heap-4", "queue/heap.wgsl")
};
const CALENDAR: Design = Design {
    file: None,
    stride: Stride { per_event: 0, besides: 0, multiple: 1 },
    default_for: &[DefaultFor::Dense],
    ..Design::new("calendar", "")
};
const CB_SEQ: Design = Design::cb_seq("cb-seq", &[("CB_BACKWARD", 1)]);
const CB_SEQ_FRONT: Design = Design::cb_seq("cb-seq-front", &[("CB_BACKWARD", 0)]);
const SPLAY: Design = Design {
    follows_links: true,
    stride: Stride { per_event: 2, besides: 2, multiple: 1 },
    paper: true,
    ..Design::new("splay", "queue/splay.wgsl")
};
const CB_SEQ_SP: Design = Design { paper: true, ..Design::new("cb-seq-sp", "queue/cb_seq_sp.wgsl") };
const CB_PAR_2: Design = Design::cb_par("cb-par-2", &[("CB_LANES", 2)]);
const CB_PAR_4: Design = Design::cb_par("cb-par-4", &[("CB_LANES", 4)]);
const CB_PAR_8: Design = Design::cb_par("cb-par-8", &[("CB_LANES", 8)]);
const CB_PAR_16: Design = Design::cb_par("cb-par-16", &[("CB_LANES", 16)]);
const CB_PAR_32: Design = Design::cb_par("cb-par-32", &[("CB_LANES", 32)]);
const CB_PAR_64: Design = Design::cb_par("cb-par-64", &[("CB_LANES", 64)]);

const CB_PAR_FRONT: Design = Design::cb_par("cb-par-front", &[("CB_LANES", 32), ("CB_BACKWARD", 0)]);

/// All designs of this crate.
const TABLE: [QueueDesign; 14] = [
    QueueDesign::Heap,
    QueueDesign::Heap4,
    QueueDesign::Calendar,
    QueueDesign(&CB_SEQ),
    QueueDesign(&CB_SEQ_FRONT),
    QueueDesign::Splay,
    QueueDesign::CbSeqSp,
    QueueDesign(&CB_PAR_2),
    QueueDesign(&CB_PAR_4),
    QueueDesign(&CB_PAR_8),
    QueueDesign(&CB_PAR_16),
    QueueDesign(&CB_PAR_32),
    QueueDesign(&CB_PAR_64),
    QueueDesign(&CB_PAR_FRONT),
];

/// Designs that were removed, and what to use instead.
const REMOVED: [(&str, &str); 1] = [("heap-interleaved", "heap")];

#[expect(non_upper_case_globals, non_snake_case, reason = "they are used as variants of an enum are")]
impl QueueDesign {
    /// The implicit binary heap (section III.B): logarithmic in the number of events.
    pub const Heap: Self = Self(&HEAP);
    /// The implicit heap with four children per node: half as many levels, and four siblings in 64
    /// aligned bytes.
    pub const Heap4: Self = Self(&HEAP_4);
    /// The splay tree (section III.B): logarithmic on average. Events do not move and have two
    /// links each: twice the memory of a heap.
    pub const Splay: Self = Self(&SPLAY);
    /// The circular buffer that inserts up to eight new events in a single pass (section III.A).
    pub const CbSeqSp: Self = Self(&CB_SEQ_SP);
    /// The calendar: events by epoch, each as long as the lookahead. Mailbox and queue are one: a
    /// sender appends to the destination's bucket, and a window sorts one bucket of each LP. Only
    /// the engine of `pdes` supports it.
    ///
    /// Of a model's capacities, `queue` is the room of each of an LP's two lists, for later events
    /// and for events with a full bucket. Buckets are sized for `mailbox` events. Only a list can
    /// overflow.
    pub const Calendar: Self = Self(&CALENDAR);

    /// The circular buffer with sequential insertion (section III.A): linear, for short queues.
    pub const fn CbSeq(traverse: Traverse) -> Self {
        match traverse {
            Traverse::BackToFront => Self(&CB_SEQ),
            Traverse::FrontToBack => Self(&CB_SEQ_FRONT),
        }
    }

    /// The circular buffer with parallel insertion (section III.A): several invocations serve a
    /// queue.
    pub const fn CbPar(lanes: Lanes) -> Self {
        match lanes {
            Lanes::Two => Self(&CB_PAR_2),
            Lanes::Four => Self(&CB_PAR_4),
            Lanes::Eight => Self(&CB_PAR_8),
            Lanes::Sixteen => Self(&CB_PAR_16),
            Lanes::ThirtyTwo => Self(&CB_PAR_32),
            Lanes::SixtyFour => Self(&CB_PAR_64),
        }
    }
}

/// A priority-queue design: a row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueueDesign(&'static Design);

/// Where CB-SEQ starts to search for the place of a new event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Traverse {
    /// At the latest event, backwards: fast for events far in the future.
    BackToFront,
    /// At the earliest event: fast for events in the near future.
    FrontToBack,
}

/// The number of invocations that serve a queue of CB-PAR together. A workgroup has whole teams, so
/// the numbers are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// 2.
    Two,
    /// 4.
    Four,
    /// 8: adjacent, they read the 128 bytes of a cache line from a queue of 16-byte events.
    Eight,
    /// 16.
    Sixteen,
    /// 32: the paper's choice for most of its runs.
    ThirtyTwo,
    /// 64: the paper's best choice for more than 256 events in a queue.
    SixtyFour,
}

impl Lanes {
    /// All numbers, the smallest first.
    pub const ALL: [Self; 6] =
        [Self::Two, Self::Four, Self::Eight, Self::Sixteen, Self::ThirtyTwo, Self::SixtyFour];

    /// The number.
    pub fn count(self) -> u32 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen => 16,
            Self::ThirtyTwo => 32,
            Self::SixtyFour => 64,
        }
    }
}

impl QueueDesign {
    /// All designs, for comparisons; CB-PAR once, with the lanes of [`QueueDesign::CB_PAR`].
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

    /// The library's default designs, each the fastest for its use. The others are the paper's.
    pub const PRODUCTION: [Self; 3] = [Self::Heap, Self::Heap4, Self::Calendar];

    /// CB-PAR with the paper's number of lanes, which the name `cb-par` selects.
    pub const CB_PAR: Self = Self::CbPar(Lanes::ThirtyTwo);

    /// CB-PAR that begins at the earliest event: faster for messages in the near future. An LP's
    /// own events enter from the back.
    pub const CB_PAR_FRONT: Self = Self(&CB_PAR_FRONT);

    /// A design from outside this crate.
    #[doc(hidden)]
    pub const fn of(row: &'static Design) -> Self {
        Self(row)
    }

    /// Its row of the table.
    #[doc(hidden)]
    pub const fn row(self) -> &'static Design {
        self.0
    }

    /// The default design for a use.
    pub(crate) const fn default_for(usual: DefaultFor) -> Self {
        let (mut design, table) = (0, TABLE);
        // This loop ends, because each use is in the table; a test checks that.
        loop {
            let mut number = 0;
            while number < table[design].0.default_for.len() {
                if table[design].0.default_for[number] as u8 == usual as u8 {
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

    /// The WGSL file of the design. `None` for the calendar, which is not a separate queue.
    #[doc(hidden)]
    pub fn source(self) -> Option<Source> {
        let path = self.0.file?;
        Some(self.0.text.map_or_else(|| crate::shaders::file(path), |text| Source::library(path, text)))
    }

    /// Events of 16 bytes (4 words: timestamp, then a payload of 2 words) as in simulations, with
    /// their order.
    #[doc(hidden)]
    pub fn events() -> Source {
        crate::shaders::file("queue/events_4.wgsl")
    }

    /// Events of 32 bytes (8 words: timestamp, then a payload of 6 words), with their order.
    #[doc(hidden)]
    pub fn wide_events() -> Source {
        crate::shaders::file("queue/events_8.wgsl")
    }

    /// The values of the design's `override`s.
    #[doc(hidden)]
    pub fn constants(self) -> Vec<(&'static str, f64)> {
        self.0.overrides.iter().map(|&(name, value)| (name, value.into())).collect()
    }

    /// The number of invocations that serve a queue: one, except for CB-PAR.
    #[doc(hidden)]
    pub const fn lanes(self) -> u32 {
        self.0.lanes
    }

    /// Whether it is the calendar, in which mailbox and queue are one.
    #[doc(hidden)]
    pub const fn is_calendar(self) -> bool {
        self.0.file.is_none()
    }

    /// Whether one invocation can serve a queue of this design, as teams of replicas and searches
    /// need.
    #[doc(hidden)]
    pub const fn serves_one_invocation(self) -> bool {
        self.0.lanes == 1 && !self.is_calendar()
    }

    /// Whether slots and loops are bounded for any contents of the slots, so that kernels may be
    /// linked without checks.
    pub(crate) const fn is_bounded(self) -> bool {
        !self.0.follows_links && self.0.text.is_none()
    }

    /// The number of slots of a queue with capacity for `capacity` events. A slot has the size of
    /// one event, and at least one slot is for data of the queue's owner. 0 for the calendar.
    #[doc(hidden)]
    pub fn stride(self, capacity: u32) -> u64 {
        let Stride { per_event, besides, multiple } = self.0.stride;
        (u64::from(per_event) * u64::from(capacity) + u64::from(besides)).next_multiple_of(multiple.into())
    }

    /// The slots of a buffer for a number of queues.
    #[doc(hidden)]
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
        let found = TABLE.into_iter().find(|design| design.name() == name);
        found.ok_or_else(|| UnknownQueue(name.to_owned()))
    }
}

/// A name that no queue design has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownQueue(pub String);

impl std::fmt::Display for UnknownQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(name) = self;
        if let Some((_, successor)) = REMOVED.iter().find(|(removed, _)| removed == name) {
            return write!(f, "queue design `{name}` was removed: use `{successor}`");
        }
        let names = QueueDesign::ALL.map(QueueDesign::name).join(", ");
        write!(
            f,
            "unknown queue design '{name}': expected one of {names}, or cb-par with -2, -4, -8, -16, -64 or -front"
        )
    }
}

crate::text::debug_is_display!(UnknownQueue);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_takes_designs_that_are_not_the_papers_alone() {
        for usual in [DefaultFor::Epochs, DefaultFor::Wide, DefaultFor::Dense, DefaultFor::Searches] {
            let takers = TABLE.into_iter().filter(|design| design.row().default_for.contains(&usual));
            assert_eq!(takers.collect::<Vec<_>>(), [QueueDesign::default_for(usual)], "{usual:?}");
        }
        for design in TABLE {
            assert_eq!(design.row().paper, design.row().default_for.is_empty(), "{design}");
        }
    }
}
