//! The choices for a simulation of the host engine.

use std::sync::Arc;

use super::HybridError;
use super::handler::Handlers;
use crate::pdes::Replica;
use crate::random::mix;

/// The assignment of entities to ranks. It changes only the speed.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum EntityPlacement {
    /// Equal ranges of names: the first entities on the first rank, and so on. Good if entities
    /// with close names send to each other.
    #[default]
    Block,
    /// Pseudo-random. Good if some ranges of names have more work than others.
    Hash,
    /// By a function of names, for example from a partition of the model's graph.
    Map(Arc<dyn Fn(u32) -> u32 + Send + Sync>),
}

impl std::fmt::Debug for EntityPlacement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Block => "Block",
            Self::Hash => "Hash",
            Self::Map(_) => "Map",
        })
    }
}

impl EntityPlacement {
    pub(super) fn rank(&self, name: u32, entities: u32, ranks: u32) -> Result<u32, HybridError> {
        let (name64, ranks64) = (u64::from(name), u64::from(ranks));
        let rank = match self {
            Self::Block => name64 * ranks64 / u64::from(entities),
            Self::Hash => mix(0, [name]) % ranks64,
            Self::Map(map) => map(name).into(),
        };
        match u32::try_from(rank).ok().filter(|&rank| rank < ranks) {
            Some(rank) => Ok(rank),
            None => {
                Err(HybridError::Map { entity: name, rank: u32::try_from(rank).unwrap_or(u32::MAX), ranks })
            }
        }
    }
}

/// When the calls of handlers leave for their [`Placement`]. It changes only the speed.
///
/// [`Placement`]: super::Placement
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Overlap {
    /// All calls of a window together, when no entity of the rank can continue without an answer.
    /// Entities wait meanwhile. Devices get the largest groups.
    #[default]
    Off,
    /// The paper's Algorithm 2: calls of a handler leave in groups, while entities execute other
    /// events of the window. Answers are handled when no entity can continue. Good if the events
    /// without calls take about as long as the calls.
    Streams {
        /// The number of groups that are answered at once, each by a thread of its own.
        streams: usize,
        /// The number of calls that make a group. The last group of a window may have fewer.
        calls: usize,
    },
}

/// The options of a simulation.
///
/// ```
/// use eventhorizon::hybrid::Options;
///
/// let options = Options::default().seed(42).threads(4);
/// assert_eq!(options.threads, Some(4));
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The seed of the random streams.
    pub seed: u64,
    /// The replica of the run in an experiment.
    pub replica: Replica,
    /// Threads of this rank; by default as many as rayon has. It changes only the speed.
    pub threads: Option<usize>,
    /// The assignment of entities to ranks.
    pub placement: EntityPlacement,
    /// The handlers that events may call.
    pub handlers: Handlers,
    /// When their calls leave.
    pub overlap: Overlap,
}

builder! {
    Options:
    seed: u64,
    replica: Replica,
    threads: impl Into<Option<usize>>,
    placement: EntityPlacement,
    handlers: Handlers,
    overlap: Overlap,
}
