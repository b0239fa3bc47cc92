//! The parts of matchings: buffers and plans, some of which are cached for the next call. Their
//! methods are in ranges.rs, filter.rs, grid.rs and counter.rs.

use super::memory::PooledBuffer;
use super::region::Kind;
use crate::gpu::{Buffer, Plan};

/// Non-empty regions in some order: `columns` columns of keys, then their ids.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) count: u32,
    pub(super) columns: PooledBuffer<u32>,
}

/// Candidates as ranges. Range `r` has the boxes from `begins[r]` of the other side on; `places`
/// implies its length.
#[derive(Debug)]
pub(super) struct Ranges {
    pub(super) subscriptions: Ordered,
    pub(super) updates: Ordered,
    pub(super) dims: u32,
    pub(super) begins: PooledBuffer<u32>,
    #[expect(dead_code, reason = "the plan writes to it, so it must not return to the pool")]
    pub(super) lengths: PooledBuffer<u32>,
    /// The first candidate of each range; then the total.
    pub(super) places: PooledBuffer<u64>,
    pub(super) count: u32,
}

/// The source of the ranges of candidates.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// A sweep along this dimension: a range for each region.
    Sweep { dim: u32 },
    /// A grid: a range for each of the subscriptions' entries.
    Grid,
}

/// How up to `tasks` tiles of candidates are tested and counted, and where the matches of each tile
/// are placed. Tiles without candidates have no matches.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) origin: Origin,
    pub(super) tasks: u32,
    pub(super) firsts: PooledBuffer<u32>,
    pub(super) lengths: PooledBuffer<u32>,
    pub(super) offsets: PooledBuffer<u64>,
    pub(super) finding: Plan,
    /// `None` if the tests take several submissions.
    pub(super) testing: Option<Plan>,
    pub(super) placing: Plan,
}

/// The sizes that a matching is prepared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GridShape {
    pub(super) kind: Kind,
    pub(super) dims: u32,
    /// Regions of each side.
    pub(super) counts: [u32; 2],
    /// Capacity for the entries of each side, and for tiles of candidates; 0 if other submissions
    /// test them.
    pub(super) entries: [u32; 2],
    pub(super) tasks: u32,
}

/// Matching by a grid, prepared for sets of some sizes. The device does all of it, with capacities
/// that the host has chosen. Values read back show whether they suffice.
#[derive(Debug)]
pub(super) struct GridRun {
    pub(super) shape: GridShape,
    pub(super) bounds: PooledBuffer<u32>,
    pub(super) laid: PooledBuffer<u32>,
    pub(super) cells: PooledBuffer<u32>,
    pub(super) lengths: PooledBuffer<u32>,
    pub(super) places: PooledBuffer<u64>,
    pub(super) keys: PooledBuffer<u32>,
    pub(super) ids: PooledBuffer<u32>,
    /// From lengths to sorted entries.
    pub(super) listing: Plan,
    /// From rows to ranges.
    pub(super) ranging: Plan,
    pub(super) ranges: Ranges,
    pub(super) filter: Option<Filter>,
}

shared! {
    "matching/sweep_count.wgsl":
    #[derive(PartialEq, Eq)]
    pub(super) struct CountParams {
        pub(super) pairs: u64,
        pub(super) subscriptions: u32,
        pub(super) updates: u32,
        pub(super) filled_subscriptions: u32,
        pub(super) filled_updates: u32,
        pub(super) subscription_groups: u32,
        pub(super) update_groups: u32,
    }
}

/// All parts of a count except the source of the bounds: it serves any sets of these sizes.
#[derive(Debug, Clone)]
pub(super) struct Ranking {
    pub(super) params: CountParams,
    pub(super) ends_each: u32,
    pub(super) starts: Buffer<u32>,
    pub(super) ends: Buffer<u32>,
    pub(super) sorting: Plan,
    pub(super) searching: Plan,
    pub(super) total: Buffer<u64>,
}
