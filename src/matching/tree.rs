//! Interval-tree matching: a flat tree over the subscriptions, queried by each update.

use super::MatchingError;
use super::kernels::{Kernels, SIZE};
use super::matches::Source;
use super::programs;
use super::set::Columns;
use super::sweep::{Ordered, order};
use super::work::{Window, in_slices};
use crate::gpu::{Buffer, Kernel};

/// Children of a node: `FANOUT` in tree_level.wgsl.
const FANOUT: u32 = 8;
/// Levels of the largest tree: `8^10` leaves are more than a set can have.
const LEVELS: usize = 12;
/// Workgroups of a slice to begin with: a walk has a bounded number of steps per round.
const UNIT: u32 = 1 << 10;

/// The tree, and the updates that query it.
#[derive(Debug)]
pub(super) struct Tree {
    subscriptions: Ordered,
    updates: Ordered,
    dims: u32,
    /// The dimension of the tree.
    dim: u32,
    nodes: Buffer<u32>,
    levels: Buffer<[u32; 16]>,
    cursors: Buffer<u32>,
    found: Buffer<u32>,
    /// Where the matches of each update begin.
    offsets: Option<Buffer<u64>>,
}

/// Builds the tree along dimension `dim`, and counts the matches of every update.
pub(super) fn matches(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
    dim: u32,
) -> Result<(u64, Source), MatchingError> {
    let mut tree = Tree::new(kernels, subscriptions, updates, dim)?;
    let count = kernels.get(&programs::TREE_COUNT, &[("DIMS", tree.dims)])?;
    tree.walk(kernels, &count, Window { first: 0, room: 0 }, &[])?;
    let (offsets, total) = kernels.offsets(&tree.found, tree.updates.count)?;
    tree.offsets = Some(offsets);
    Ok((total, Source::Tree(tree)))
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
        let subscriptions = order(kernels, subscriptions, dim)?;
        let updates = order(kernels, updates, dim)?;
        // (first node, nodes) of each level, the leaves first.
        let mut sizes = vec![(0, subscriptions.count)];
        while let Some(&(start, count)) = sizes.last()
            && count > 1
        {
            sizes.push((start + count, count.div_ceil(FANOUT)));
        }
        let all = sizes.last().map_or(0, |(start, count)| start + count);
        let nodes = Buffer::<u32>::storage(gpu, "interval tree", all.into())?;
        let mut words = [0; 4 + LEVELS];
        words[0] = u32::try_from(sizes.len() - 1).expect("few levels");
        for (word, (start, _)) in words[4..].iter_mut().zip(&sizes) {
            *word = *start;
        }
        let kernel = kernels.get(&programs::TREE_LEVEL, &[])?;
        let mut encoder = gpu.encoder("build the interval tree");
        let leaves = u64::from(subscriptions.count) * 4;
        let upper_bounds = u64::from(2 * dim + 1) * leaves;
        encoder.copy_buffer_to_buffer(subscriptions.columns.raw(), upper_bounds, nodes.raw(), 0, leaves);
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for pair in sizes.windows(2) {
                let ((below, children), (start, count)) = (pair[0], pair[1]);
                let params = Kernels::params(gpu, &[children, start, below, count])?;
                let bindings =
                    kernel.bind(gpu, &[("params", params.binding()), ("nodes", nodes.binding())])?;
                kernel.dispatch(&mut pass, &bindings, count.div_ceil(SIZE));
            }
        }
        gpu.submit(encoder)?;
        Ok(Self {
            dims,
            dim,
            levels: Buffer::uniform(gpu, "levels of the interval tree", &words)?,
            cursors: Buffer::storage(gpu, "walks", updates.count.into())?,
            found: Buffer::storage(gpu, "matches of updates", updates.count.into())?,
            subscriptions,
            updates,
            nodes,
            offsets: None,
        })
    }

    /// Lets every update walk through the tree, in as many rounds as the longest walk needs.
    fn walk(
        &self,
        kernels: &Kernels,
        kernel: &Kernel,
        window: Window,
        outputs: &[(&'static str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        let gpu = kernels.gpu();
        let unfinished = Buffer::<u32>::storage(gpu, "unfinished walks", 1)?;
        let mut encoder = gpu.encoder("walks begin");
        encoder.clear_buffer(self.cursors.raw(), 0, None);
        encoder.clear_buffer(self.found.raw(), 0, None);
        gpu.submit(encoder)?;
        let [low, high, room] = window.words();
        loop {
            unfinished.write(gpu, 0, &[0])?;
            in_slices(gpu, self.updates.count.div_ceil(SIZE), UNIT, |first, end, encoder| {
                let sides = [self.subscriptions.count, self.updates.count];
                let words = [sides[0], sides[1], first, end, low, high, room, self.dim];
                let params = Kernels::params(gpu, &words)?;
                let mut buffers = vec![
                    ("params", params.binding()),
                    ("subscriptions", self.subscriptions.columns.binding()),
                    ("updates", self.updates.columns.binding()),
                    ("cursors", self.cursors.binding()),
                    ("nodes", self.nodes.binding()),
                    ("found", self.found.binding()),
                    ("unfinished", unfinished.binding()),
                    ("levels", self.levels.binding()),
                ];
                buffers.extend(outputs.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
                let bindings = kernel.bind(gpu, &buffers)?;
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                kernel.dispatch(&mut pass, &bindings, end - first);
                Ok(())
            })?;
            // Each round takes every unfinished walk further, so this ends.
            if unfinished.read(gpu)?[0] == 0 {
                return Ok(());
            }
        }
    }

    /// Writes a window of the matches: those of an update follow one another.
    pub(super) fn write(
        &self,
        kernels: &Kernels,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<(), MatchingError> {
        let Some(offsets) = &self.offsets else { return Ok(()) };
        let write = kernels.get(&programs::TREE_PAIRS, &[("DIMS", self.dims)])?;
        self.walk(kernels, &write, window, &[("offsets", offsets.raw()), ("pairs", pairs.raw())])
    }
}
