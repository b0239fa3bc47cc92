//! How searches are mapped to invocations, and what each mapping keeps open.

use crate::queue::{DefaultFor, QueueDesign};

/// Which invocations serve a search. The results are the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One invocation for each search, its open list a queue of this design.
    Thread(QueueDesign),
    /// One invocation for each search, which takes cells in bands of estimates from a list without
    /// order. On maps.
    Bands,
    /// A workgroup for each search. On maps.
    Team,
    /// The library's choice, by device and map.
    #[default]
    Auto,
}

impl std::fmt::Display for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Thread(_) => "thread",
            Self::Bands => "bands",
            Self::Team => "team",
            Self::Auto => "auto",
        })
    }
}

impl std::str::FromStr for Mapping {
    type Err = UnknownMapping;

    /// `thread` is one with the queue design that the library chooses.
    fn from_str(name: &str) -> Result<Self, UnknownMapping> {
        match name {
            "thread" => Ok(Self::Thread(THREAD_QUEUE)),
            "bands" => Ok(Self::Bands),
            "team" => Ok(Self::Team),
            "auto" => Ok(Self::Auto),
            _ => Err(UnknownMapping(name.to_owned())),
        }
    }
}

/// No mapping of searches has this name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no mapping of searches: there are thread, bands, team and auto")]
pub struct UnknownMapping(pub String);

crate::text::debug_is_display!(UnknownMapping);

/// The design for searches by threads where nobody chooses.
pub(super) const THREAD_QUEUE: QueueDesign = QueueDesign::default_for(DefaultFor::Searches);

/// A mapping that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) open: OpenList,
    pub(super) group_size: u32,
}

/// The open lists of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum OpenList {
    /// A queue for each search, which one invocation serves.
    Queue(QueueDesign),
    /// Two lists for each search, which one invocation serves.
    Bands,
    /// Three lists for each search, which a workgroup serves.
    Team,
}

impl OpenList {
    /// Items of a slot's lists together.
    pub(super) fn items(self, capacity: u32) -> u64 {
        match self {
            Self::Queue(design) => design.stride(capacity),
            Self::Bands => 2 * u64::from(capacity),
            Self::Team => 3 * u64::from(capacity),
        }
    }

    /// Items of so many slots.
    pub(super) fn items_of(self, slots: u32, capacity: u32) -> u64 {
        self.items(capacity) * u64::from(slots)
    }

    /// The bytes of a slot's lists.
    pub(super) fn bytes(self, capacity: u32) -> u64 {
        8 * self.items(capacity)
    }

    /// The longest lists that so many bytes have room for.
    pub(super) fn fitting(self, bytes: u64) -> u32 {
        let (mut fits, mut beyond) = (0, u32::MAX);
        // Bound: 32.
        while beyond - fits > 1 {
            let middle = fits + (beyond - fits) / 2;
            *(if self.bytes(middle) <= bytes { &mut fits } else { &mut beyond }) = middle;
        }
        fits
    }
}
