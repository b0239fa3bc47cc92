//! The candidate sources and sizes of past calls, which later calls with similar sets assume.

use std::sync::{Mutex, PoisonError};

use super::Algorithm;
use super::limits::{MAX_TASKS, TILE};

/// The source of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateSource {
    /// A sweep along this dimension.
    Sort { dim: u32 },
    /// A grid.
    Grid { cells: Option<u32> },
}

/// Similar calls, whose sizes predict each other: the same algorithm, and set sizes within a factor
/// of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallKind {
    pub(super) algorithm: Algorithm,
    pub(super) dims: u32,
    pub(super) sizes: [u32; 2],
}

/// The sizes of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallSize {
    pub(super) source: CandidateSource,
    /// Regions of each side.
    counts: [u32; 2],
    /// Capacity for entries of a grid, of each side.
    pub(super) entries: [u32; 2],
    /// Capacity for tiles of candidates.
    pub(super) tasks: u32,
}

/// Minimum reserve of a capacity.
const SPARE: u32 = 512;
/// Initial capacity in candidates per region: an empty task costs almost nothing.
const CANDIDATES: u32 = 16;

impl CallSize {
    /// A guess: if it is too small, the call is repeated.
    pub(super) fn guess(source: CandidateSource, counts: [u32; 2]) -> Self {
        let tasks = counts[0].saturating_add(counts[1]) / (TILE / CANDIDATES) + SPARE;
        Self { source, counts, entries: counts.map(|count| room(0, count)), tasks }
    }

    /// The same for sets of other sizes.
    pub(super) fn for_counts(self, counts: [u32; 2]) -> Self {
        if self.counts == counts {
            return self;
        }
        let scaled = |room: u32, side: usize| {
            let scaled = u64::from(room) * u64::from(counts[side]) / u64::from(self.counts[side].max(1));
            u32::try_from(scaled + 1).unwrap_or(u32::MAX)
        };
        let entries = [scaled(self.entries[0], 0), scaled(self.entries[1], 1)];
        let tasks = scaled(self.tasks, 0).max(scaled(self.tasks, 1)).min(MAX_TASKS);
        Self { counts, entries, tasks, ..self }
    }
}

/// A capacity for `needed`: the current one if that is enough and not far too large.
pub(super) fn room(now: u32, needed: u32) -> u32 {
    let more = needed.saturating_add(needed / 8).saturating_add(SPARE);
    if now >= needed && u64::from(now) <= 2 * u64::from(more) { now } else { more }
}

/// The sizes of the last calls.
#[derive(Debug, Default)]
pub(super) struct CallSizes(Mutex<Vec<(CallKind, CallSize)>>);

/// Number of remembered kinds of calls.
const KINDS: usize = 16;

impl CallSizes {
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn last(&self, alike: CallKind) -> Option<CallSize> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(kind, _)| *kind == alike).map(|(_, room)| *room)
    }

    pub(super) fn keep(&self, alike: CallKind, room: CallSize) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(kind, _)| *kind != alike);
        kept.truncate(KINDS - 1);
        kept.insert(0, (alike, room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_kept_where_it_serves() {
        let enough = room(0, 1_000);
        assert_eq!(room(enough, 1_000), enough);
        assert_eq!(room(enough, enough), enough);
        assert!(room(enough, enough + 1) > enough);
        assert!(room(100 * enough, 1_000) == enough && room(u32::MAX, u32::MAX) == u32::MAX);
    }
}
