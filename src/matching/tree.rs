//! Interval-tree matching: a flat tree over the subscriptions, queried by each update.

use super::kernels::Kernels;
use super::limits::GROUP_SIZE;
use super::memory::PooledBuffer;
use super::prepared::Ordered;
use super::ranges::order;
use super::set::Columns;
use super::work::{TaskParams, Window, in_slices};
use super::{MatchingError, programs};
use crate::gpu::{Buffer, Pace, Plan, Recipe};

shared! {
    "matching/tree_level.wgsl":
    /// Children of a node.
    const FANOUT: u32;
}
/// Levels of the largest tree: a set has fewer than `8^10` leaves.
const LEVELS: usize = 12;
/// Workgroups of a first submission: 2^18 walks of at most 4,096 steps in a round.
const UNIT: u32 = 1 << 10;

shared! {
    "matching/tree_level.wgsl":
    struct LevelParams {
        first: u32,
        nodes: u32,
        first_below: u32,
        nodes_below: u32,
    }
}

shared! {
    "matching/tree_query.wgsl":
    struct TreeParams {
        top: u32,
        dimension: u32,
        unused: [u32; 2],
        starts: [u32; LEVELS],
    }
}

/// The tree, and the updates that query it.
#[derive(Debug)]
pub(super) struct Tree {
    subscriptions: Ordered,
    updates: Ordered,
    dims: u32,
    nodes: Buffer<u32>,
    params: Buffer<TreeParams>,
    cursors: Buffer<u32>,
    found: Buffer<u32>,
    /// The first match of each update.
    offsets: Option<PooledBuffer<u64>>,
}

/// Builds the tree along dimension `dim`, and counts the matches of every update.
pub(super) async fn matches(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
    dim: u32,
) -> Result<(u64, Tree), MatchingError> {
    let mut tree = Tree::new(kernels, subscriptions, updates, dim)?;
    tree.walk(kernels, &programs::tree_count(tree.dims), Window::NONE, &[]).await?;
    let plan = Plan::new("places of walks");
    let (offsets, total) = kernels.offsets(plan, &tree.found, tree.updates.count).await?;
    tree.offsets = Some(offsets);
    Ok((total, tree))
}

impl Tree {
    fn new(
        kernels: &Kernels,
        subscriptions: &Columns,
        updates: &Columns,
        dim: u32,
    ) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let dims = subscriptions.dims;
        let order = |side| {
            let (plan, ordered, _scratch) = order(kernels, side, dim)?;
            plan.submit(gpu)?;
            Ok::<_, MatchingError>(ordered)
        };
        let (subscriptions, updates) = (order(subscriptions)?, order(updates)?);
        // (first node, nodes) of each level, the leaves first.
        let mut sizes = vec![(0, subscriptions.count)];
        while let Some(&(start, count)) = sizes.last()
            && count > 1
        {
            sizes.push((start + count, count.div_ceil(FANOUT)));
        }
        let all = sizes.last().map_or(0, |(start, count)| start + count);
        let nodes = Buffer::<u32>::storage(gpu, "interval tree", all.into())?;
        let mut params = TreeParams {
            top: u32::try_from(sizes.len() - 1).expect("few levels"),
            dimension: dim,
            unused: [0; 2],
            starts: [0; LEVELS],
        };
        for (place, (start, _)) in params.starts.iter_mut().zip(&sizes) {
            *place = *start;
        }
        let mut plan = Plan::new("build the interval tree");
        let leaves = u64::from(subscriptions.count) * 4;
        let upper_bounds = (subscriptions.columns.raw(), u64::from(2 * dim + 1) * leaves);
        plan.copy("leaves", upper_bounds, (nodes.raw(), 0), leaves);
        for pair in sizes.windows(2) {
            let ((first_below, nodes_below), (first, count)) = (pair[0], pair[1]);
            kernels.add_each(
                &mut plan,
                &programs::tree_level(),
                count,
                &LevelParams { first, nodes: count, first_below, nodes_below },
                &[("nodes", nodes.raw())],
            )?;
        }
        plan.submit(gpu)?;
        Ok(Self {
            dims,
            params: Buffer::uniform(gpu, "interval tree", &params)?,
            cursors: Buffer::storage(gpu, "walks", updates.count.into())?,
            found: Buffer::storage(gpu, "matches of updates", updates.count.into())?,
            subscriptions,
            updates,
            nodes,
            offsets: None,
        })
    }

    /// Walks every update through the tree, in as many rounds as the longest walk needs.
    async fn walk(
        &self,
        kernels: &Kernels,
        kernel: &Recipe,
        window: Window,
        outputs: &[(&'static str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        let gpu = kernels.gpu();
        let unfinished = Buffer::<u32>::storage(gpu, "unfinished walks", 1)?;
        let mut start = Plan::new("walks begin");
        start.clear("walks", self.cursors.raw());
        start.clear("matches of updates", self.found.raw());
        start.submit(gpu)?;
        let sides = [self.subscriptions.count, self.updates.count];
        let mut buffers = vec![
            ("subscriptions", self.subscriptions.columns.raw()),
            ("updates", self.updates.columns.raw()),
            ("cursors", self.cursors.raw()),
            ("nodes", self.nodes.raw()),
            ("found", self.found.raw()),
            ("unfinished", unfinished.raw()),
            ("tree", self.params.raw()),
        ];
        buffers.extend(outputs);
        let groups = self.updates.count.div_ceil(GROUP_SIZE);
        loop {
            unfinished.write(gpu, 0, &[0])?;
            let mut pace = Pace::new(groups.div_ceil(UNIT));
            in_slices(gpu, groups, UNIT, &mut pace, |first, end| {
                let params = TaskParams::new(sides, (first, end), 0, window);
                let mut plan = Plan::new("walks");
                kernels.add(&mut plan, kernel, end - first, &params, &buffers)?;
                Ok(plan)
            })
            .await?;
            // Each round advances every unfinished walk, so this ends.
            if unfinished.read_async(gpu).await?[0] == 0 {
                return Ok(());
            }
        }
    }

    /// Writes a window of the matches: those of an update are contiguous.
    pub(super) async fn write(
        &self,
        kernels: &Kernels,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<(), MatchingError> {
        let Some(offsets) = &self.offsets else { return Ok(()) };
        let outputs = [("offsets", offsets.raw()), ("pairs", pairs.raw())];
        self.walk(kernels, &programs::tree_write(self.dims), window, &outputs).await
    }
}
