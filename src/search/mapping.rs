//! How searches are mapped to invocations, and their open lists.

use crate::queue::{DefaultFor, QueueDesign};

/// Which invocations run a search. All compute the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One invocation for each search, with a queue of this design as the open list.
    Thread(QueueDesign),
    /// One invocation for each search, which takes cells in bands of estimates from an unordered
    /// list. For maps.
    Bands,
    /// A workgroup for each search. For maps.
    Team,
    /// The library chooses, by device and map.
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

    /// `thread` means the queue design that the library chooses.
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

/// The name is not a mapping of searches.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a mapping of searches (thread, bands, team or auto), found '{0}'")]
pub struct UnknownMapping(pub String);

crate::text::debug_is_display!(UnknownMapping);

/// The default queue design of searches by threads.
pub(super) const THREAD_QUEUE: QueueDesign = QueueDesign::default_for(DefaultFor::Searches);

/// The chosen mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) open: OpenList,
    pub(super) group_size: u32,
}

/// The open lists of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum OpenList {
    /// One queue for each search, served by one invocation.
    Queue(QueueDesign),
    /// Two lists for each search, served by one invocation.
    Bands,
    /// Three lists for each search, served by a workgroup.
    Team,
}

impl OpenList {
    /// Total items of a slot's lists.
    pub(super) fn items(self, capacity: u32) -> u64 {
        match self {
            Self::Queue(design) => design.stride(capacity),
            Self::Bands => 2 * u64::from(capacity),
            Self::Team => 3 * u64::from(capacity),
        }
    }

    /// Total items of `slots` slots.
    pub(super) fn items_of(self, slots: u32, capacity: u32) -> u64 {
        self.items(capacity) * u64::from(slots)
    }

    /// The bytes of a slot's lists.
    pub(super) fn bytes(self, capacity: u32) -> u64 {
        8 * self.items(capacity)
    }

    /// The longest lists that fit `bytes` bytes.
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
