//! The index of moving regions: a tree of bounding boxes for each side. It grows with the moves and
//! is rebuilt when that pays.

use super::MatchingError;
use super::kernels::Kernels;
use super::limits::GROUP_SIZE;
use super::programs;
use super::set::Columns;
use crate::gpu::{Buffer, Plan};

shared! {
    "matching/index.wgsl":
    /// Children of a node.
    pub(super) const FANOUT: u32;
}
/// Levels of the largest trees, including the leaves.
const LEVELS: usize = 9;
shared! {
    "matching/index_build.wgsl":
    /// Sampled centres in each dimension.
    const SAMPLE: u32;
}
/// Workgroups per dimension that sort them.
const PARTS: u32 = SAMPLE / GROUP_SIZE;

shared! {
    "matching/index.wgsl":
    pub(super) struct IndexParams {
        subscriptions: u32,
        updates: u32,
        top: u32,
        level: u32,
        levels: [[u32; 4]; LEVELS],
    }
}

impl IndexParams {
    fn new(sides: [u32; 2]) -> Self {
        let [subscriptions, updates] = sides;
        let mut params = Self { subscriptions, updates, top: 0, level: 0, levels: [[0; 4]; LEVELS] };
        params.levels[0] = [0, subscriptions, subscriptions + updates, 0];
        params
    }
}

/// Both trees on the device. index.wgsl documents the layout.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) params: IndexParams,
    pub(super) leaves: Buffer<u32>,
    pub(super) other_time: Buffer<u32>,
    pub(super) nodes: Buffer<u32>,
    pub(super) slots: Buffer<u32>,
    rebuild: Plan,
}

/// The maximum number of regions of both sides: kernels number the words of `2·dims + 2` columns
/// with 32 bits.
pub(super) fn max_regions(kernels: &Kernels, dims: u32) -> u64 {
    kernels.gpu().max_buffer_bytes() / (4 * u64::from(2 * dims + 2))
}

impl Index {
    /// Memory for the trees of these sets, and the plan that builds them: see [`Index::rebuild`].
    pub(super) fn new(kernels: &Kernels, sides: [&Columns; 2]) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let dims = sides[0].dims;
        let counts = sides.map(|side| side.count);
        let needed = u64::from(counts[0]) + u64::from(counts[1]);
        let limit = max_regions(kernels, dims);
        let regions = u32::try_from(needed)
            .ok()
            .filter(|_| needed <= limit)
            .ok_or(MatchingError::TooMuchWork { what: "regions of both sides", needed, limit })?;
        let mut params = IndexParams::new(counts);
        let mut sizes = counts;
        let mut words = 0;
        // The top of a tree is the first level above the leaves that a single node could cover.
        while params.top == 0 || sizes.iter().any(|size| *size > FANOUT) {
            sizes = sizes.map(|size| size.div_ceil(FANOUT));
            params.top += 1;
            params.levels[params.top as usize] = [words, sizes[0], sizes[0] + sizes[1], 0];
            words += 2 * dims * (sizes[0] + sizes[1]);
        }
        let mut index = Self {
            leaves: Buffer::storage(gpu, "leaves of moving regions", needed * u64::from(2 * dims + 2))?,
            other_time: Buffer::storage(gpu, "bounds at the other time", needed * u64::from(2 * dims))?,
            nodes: Buffer::storage(gpu, "boxes of moving regions", words.into())?,
            slots: Buffer::storage(gpu, "slots of moving regions", needed)?,
            params,
            rebuild: Plan::new("index of moving regions"),
        };
        if regions > 0 {
            index.rebuild = index.plan(kernels, sides, regions)?;
        }
        Ok(index)
    }

    /// The kernel parameters of a dispatch about a level.
    pub(super) fn at(&self, level: u32) -> IndexParams {
        IndexParams { level, ..self.params }
    }

    /// The levels above the leaves.
    pub(super) fn top(&self) -> u32 {
        self.params.top
    }

    /// The maximum number of nodes that one query meets in a level.
    pub(super) fn widest(&self) -> u32 {
        let [_, subscriptions, all, _] = self.params.levels[1];
        subscriptions.max(all - subscriptions)
    }

    /// Builds both trees from the sets that the index was created for. The plan has only
    /// dispatches.
    pub(super) fn rebuild(&self) -> &Plan {
        &self.rebuild
    }

    fn plan(&self, kernels: &Kernels, sides: [&Columns; 2], regions: u32) -> Result<Plan, MatchingError> {
        let gpu = kernels.gpu();
        let dims = sides[0].dims;
        let edges = Buffer::<u32>::storage(gpu, "sampled middles", (dims * SAMPLE).into())?;
        let codes = Buffer::<u32>::storage(gpu, "places along a curve", regions.into())?;
        let names = Buffer::<u32>::storage(gpu, "names of regions", regions.into())?;
        let buffers = [
            ("subscriptions", sides[0].keys.raw()),
            ("updates", sides[1].keys.raw()),
            ("edges", edges.raw()),
            ("codes", codes.raw()),
            ("names", names.raw()),
            ("leaves", self.leaves.raw()),
            ("nodes", self.nodes.raw()),
            ("slots", self.slots.raw()),
        ];
        let mut plan = Plan::new("index of moving regions");
        let params = self.at(0);
        // In one dimension regions are in the order of their centres.
        if dims > 1 {
            kernels.add(&mut plan, &programs::index_edges(dims), dims * PARTS, &params, &buffers)?;
        }
        kernels.add_each(&mut plan, &programs::index_codes(dims), regions, &params, &buffers)?;
        kernels.add_sort(&mut plan, &codes, &names, regions, 32)?;
        let sorted = [&buffers[..], &[("sorted_names", names.raw())]].concat();
        kernels.add_each(&mut plan, &programs::index_leaves(dims), regions, &params, &sorted)?;
        for level in 1..=self.top() {
            let nodes = self.params.levels[level as usize][2];
            kernels.add_each(&mut plan, &programs::index_nodes(dims), nodes, &self.at(level), &buffers)?;
        }
        Ok(plan)
    }
}
