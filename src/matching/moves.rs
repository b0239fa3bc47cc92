//! A step of moving regions on the device: what moves is written, and the pairs that it changes are found, in one submission.

use super::MatchingError;
use super::index::{FANOUT, Index};
use super::kernels::{GROUP_SIZE, Kernels};
use super::programs;
use super::set::Columns;
use crate::gpu::{Bindings, Buffer, Download, Gpu, Kernel, Recipe};

/// Words before the rows: `HEADER` in moves.wgsl.
const HEADER: usize = 8;
/// `ENDED` in moves_search.wgsl.
const ENDED: u32 = 1 << 31;
/// Words for counts: the changes, and the entries of each level; the last is that of the regions that moved far, `FAR` in moves.wgsl.
const COUNTS: usize = 16;
/// A list may hold so many entries, and a submission find so many changes (or as many as one query needs, if that is
/// more): 32 MB each, and some tens of millions of tests per dispatch.
const MOST: u32 = 1 << 22;
/// Workgroups that go through a list at the least: few queries may have many entries.
const FEW_GROUPS: u32 = 64;
/// And at the most: each goes on with further entries.
const MANY_GROUPS: u32 = 4096;

/// Which pairs a submission looks for: as in moves.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    /// Pairs that overlap before the step, for those that end. The tree holds the bounds before it.
    Before = 1,
    /// Pairs that overlap after it, for those that begin. The tree holds the bounds after it.
    After = 2,
    /// Both, in a tree that grows.
    Both = 3,
}

/// How a submission looks for pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) times: Times,
    /// The trees are built again before.
    pub(super) rebuild: bool,
    /// Nodes of a level that queries may go into, each on the average.
    pub(super) most_each: u32,
}

/// What kernels are given for each step: memory that is kept, and grows.
#[derive(Debug)]
pub(super) struct Moves {
    rows: u32,
    list: u32,
    changes: u32,
    /// `MOST`, but in tests.
    most: u32,
    /// Changes that are read with their count.
    read_at_once: u32,
    given: Given,
    counts: Buffer<u32>,
    found: Buffer<[u32; 2]>,
    steps: Steps,
}

/// What a step begins with: as in moves.wgsl.
#[derive(Debug, Clone)]
struct Given {
    moves: Buffer<u32>,
    before: Buffer<u32>,
}

impl Given {
    fn new(gpu: &Gpu, rows: u32, dims: u32) -> Result<Self, MatchingError> {
        let words = u64::from(rows) * u64::from(2 * dims);
        Ok(Self {
            moves: Buffer::storage(gpu, "moved regions", HEADER as u64 + words + u64::from(rows))?,
            before: Buffer::storage(gpu, "bounds before a step", words)?,
        })
    }
}

/// The kernels, bound to the buffers.
#[derive(Debug)]
struct Steps {
    mark: (Kernel, Bindings),
    /// From the highest level down.
    descend: Vec<(Kernel, Bindings)>,
    changes: (Kernel, Bindings),
    settle: (Kernel, Bindings),
}

/// Rows in the form of moves.wgsl.
#[derive(Debug)]
pub(super) struct Rows {
    /// With room for the header in front.
    pub(super) words: Vec<u32>,
    pub(super) rows: u32,
    /// Those of subscriptions, which come first.
    pub(super) subscriptions: u32,
}

impl Rows {
    /// Room for so many rows of each side.
    pub(super) fn new(sides: [u32; 2], dims: u32) -> Self {
        let rows = sides[0] + sides[1];
        let words = HEADER + rows as usize * (2 * dims as usize + 1);
        Self { words: vec![0; words], rows, subscriptions: sides[0] }
    }

    /// The rows, to be filled.
    pub(super) fn body(&mut self) -> &mut [u32] {
        &mut self.words[HEADER..]
    }
}

/// The pairs that a step changed.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) began: Vec<[u32; 2]>,
    pub(super) ended: Vec<[u32; 2]>,
    /// Boxes that queries were compared with.
    pub(super) tests: u64,
    /// Regions whose bounds after the step do not overlap those before, where pairs before it were looked for.
    pub(super) far: u32,
}

impl Moves {
    pub(super) fn new(kernels: &Kernels, index: &Index, sides: [&Columns; 2]) -> Result<Self, MatchingError> {
        let room = [1 << 10, 1 << 14, 1 << 12];
        let given = Given::new(kernels.gpu(), room[0], sides[0].dims)?;
        Self::with_room(kernels, index, sides, given, room)
    }

    /// With room for so many rows, entries of a list, and changes.
    fn with_room(
        kernels: &Kernels,
        index: &Index,
        sides: [&Columns; 2],
        given: Given,
        [rows, list, changes]: [u32; 3],
    ) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let dims = sides[0].dims;
        let lists = [
            Buffer::<[u32; 2]>::storage(gpu, "queries in nodes", list.into())?,
            Buffer::<[u32; 2]>::storage(gpu, "queries in nodes", list.into())?,
        ];
        let counts = Buffer::<u32>::storage(gpu, "counts of a step", COUNTS as u64)?;
        let found = Buffer::<[u32; 2]>::storage(gpu, "changes", changes.into())?;
        let bind = |recipe: &Recipe, level: u32| -> Result<(Kernel, Bindings), MatchingError> {
            let params = Buffer::uniform(gpu, "parameters", &index.at(level))?;
            let kernel = kernels.kernel(recipe)?;
            let bindings = kernel.bind(
                gpu,
                &[
                    ("params", params.binding()),
                    ("subscriptions", sides[0].keys.binding()),
                    ("updates", sides[1].keys.binding()),
                    ("settled_subscriptions", sides[0].keys.binding()),
                    ("settled_updates", sides[1].keys.binding()),
                    ("leaves", index.leaves.binding()),
                    ("nodes", index.nodes.binding()),
                    ("slots", index.slots.binding()),
                    ("moves", given.moves.binding()),
                    ("before", given.before.binding()),
                    ("came", lists[(level as usize + 1) % 2].binding()),
                    ("went", lists[level as usize % 2].binding()),
                    ("counts", counts.binding()),
                    ("changes", found.binding()),
                ],
            )?;
            Ok((kernel, bindings))
        };
        let levels = (1..=index.top()).rev();
        let steps = Steps {
            mark: bind(&programs::moves_mark(dims), 0)?,
            descend: levels
                .map(|level| bind(&programs::moves_descend(dims), level))
                .collect::<Result<_, _>>()?,
            changes: bind(&programs::moves_changes(dims), 0)?,
            settle: bind(&programs::moves_settle(dims), 0)?,
        };
        Ok(Self { rows, list, changes, most: MOST, read_at_once: 1 << 10, given, counts, found, steps })
    }

    /// Room for so many rows, entries of a list, and changes, as far as a submission uses it. What a step began with stays if its rows fit.
    fn reserve(
        &mut self,
        kernels: &Kernels,
        index: &Index,
        sides: [&Columns; 2],
        [rows, list, changes]: [u32; 3],
    ) -> Result<(), MatchingError> {
        // Beyond these no submission uses more.
        let [list_limit, changes_limit] = self.limits(index, sides);
        let limits = [sides[0].count + sides[1].count, list_limit, changes_limit];
        let grown = |needed: u32, limit: u32| needed.next_power_of_two().min(limit.max(needed));
        let room = [
            self.rows.max(grown(rows, limits[0])),
            self.list.max(grown(list.min(limits[1]), limits[1])),
            self.changes.max(grown(changes.min(limits[2]), limits[2])),
        ];
        if room != [self.rows, self.list, self.changes] {
            let (most, read_at_once) = (self.most, self.read_at_once);
            let given = match room[0] == self.rows {
                true => self.given.clone(),
                false => Given::new(kernels.gpu(), room[0], sides[0].dims)?,
            };
            *self = Self::with_room(kernels, index, sides, given, room)?;
            (self.most, self.read_at_once) = (most, read_at_once);
        }
        Ok(())
    }

    /// The most entries of a list and the most changes that a submission uses: what one row, which is two queries, can need always fits.
    fn limits(&self, index: &Index, sides: [&Columns; 2]) -> [u32; 2] {
        [self.most.max(2 * index.widest()), self.most.max(sides[0].count).max(sides[1].count)]
    }

    /// Finds the changes of a step, which ends here: the sets and the leaves have the new bounds.
    ///
    /// None, and nothing has changed but that the trees are rubbish, where queries go into more nodes than they may.
    pub(super) async fn find(
        &mut self,
        kernels: &Kernels,
        index: &Index,
        sides: [&Columns; 2],
        rows: &mut Rows,
        way: Way,
    ) -> Result<Option<Found>, MatchingError> {
        let Way { times, mut rebuild, most_each } = way;
        let gpu = kernels.gpu();
        let queries = rows.rows.saturating_mul(if times == Times::Both { 2 } else { 1 });
        // Queries mostly go into two nodes or so of a level.
        let room = [rows.rows, queries.saturating_mul(4), queries.saturating_mul(4)];
        self.reserve(kernels, index, sides, room)?;
        let mut all = Found::default();
        // So that no level has 2^32 of them, whatever they meet: a query sixteen nodes.
        let (mut first, mut batch) = (0, rows.rows.min(1 << 26));
        let mut written = false;
        while first < rows.rows {
            let end = rows.rows.min(first.saturating_add(batch));
            let last = end == rows.rows;
            let head = [
                rows.rows,
                rows.subscriptions,
                first,
                end,
                times as u32,
                self.list,
                self.changes,
                u32::from(last),
            ];
            rows.words[..HEADER].copy_from_slice(&head);
            let what = if written { &rows.words[..HEADER] } else { &rows.words[..] };
            self.given.moves.write(gpu, 0, what)?;
            let (counts, changes) =
                self.submit(gpu, index, rows.rows, queries, std::mem::take(&mut rebuild)).await?;
            written = true;
            let entries = &counts[1..=index.top() as usize];
            let most_entries = entries.iter().copied().max().unwrap_or(0);
            if most_entries > self.list || counts[0] > self.changes {
                if most_entries > most_each.saturating_mul(queries).max(1 << 14) {
                    return Ok(None);
                }
                let limits = self.limits(index, sides);
                if most_entries > limits[0] || counts[0] > limits[1] {
                    // Fewer at once. One alone always fits.
                    batch = ((end - first) / 2).max(1);
                }
                self.reserve(kernels, index, sides, [rows.rows, most_entries, counts[0]])?;
                continue;
            }
            all.tests += u64::from(FANOUT)
                * (u64::from(queries) + entries.iter().map(|entries| u64::from(*entries)).sum::<u64>());
            all.far = counts[COUNTS - 1];
            all.take(&changes);
            first = end;
        }
        Ok(Some(all))
    }

    /// Submits what the header says, and reads the counts and the changes that fit.
    async fn submit(
        &mut self,
        gpu: &Gpu,
        index: &Index,
        rows: u32,
        queries: u32,
        rebuild: bool,
    ) -> Result<(Vec<u32>, Vec<[u32; 2]>), MatchingError> {
        let mut encoder = gpu.encoder("a step of moving regions");
        encoder.clear_buffer(self.counts.raw(), 0, None);
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            let each = rows.div_ceil(GROUP_SIZE);
            let over_lists = queries.div_ceil(GROUP_SIZE / FANOUT).clamp(FEW_GROUPS, MANY_GROUPS);
            if rebuild {
                index.rebuild().record_in(&mut pass);
            }
            let mut run = |(kernel, bindings): &(Kernel, Bindings), workgroups| {
                kernel.dispatch(&mut pass, bindings, workgroups);
            };
            run(&self.steps.mark, each);
            self.steps.descend.iter().for_each(|step| run(step, over_lists));
            run(&self.steps.changes, over_lists);
            run(&self.steps.settle, each);
        }
        let at_once = self.read_at_once.min(self.changes);
        let count_bytes = COUNTS as u64 * 4;
        let bytes = u64::from(at_once) * size_of::<[u32; 2]>() as u64;
        let download = Download::new(gpu, "changes", count_bytes + bytes)?;
        download.record_part(&mut encoder, self.counts.raw(), 0, (0, count_bytes));
        download.record_part(&mut encoder, self.found.raw(), 0, (count_bytes, bytes));
        let submission = gpu.submit(encoder)?;
        let read = download.finish(gpu, submission).await?;
        let (counts, read) = read.split_at(4 * COUNTS);
        let counts: Vec<u32> = bytemuck::pod_collect_to_vec(counts);
        let written = counts[0].min(self.changes);
        let mut changes: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(read);
        changes.truncate(written as usize);
        if written > at_once {
            changes
                .append(&mut self.found.read_range(gpu, at_once.into(), (written - at_once).into()).await?);
        }
        self.read_at_once = (written + written / 2).next_power_of_two().clamp(1 << 10, 1 << 20);
        Ok((counts, changes))
    }
}

impl Found {
    fn take(&mut self, changes: &[[u32; 2]]) {
        for &[subscription, update] in changes {
            match subscription & ENDED {
                0 => self.began.push([subscription, update]),
                _ => self.ended.push([subscription & !ENDED, update]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{Matcher, Region, reference};

    /// Lists and changes that are too short are made longer, and where they may not be, a step is cut.
    #[test]
    fn steps_that_do_not_fit_are_made_again_and_cut() {
        let gpu = Gpu::for_test();
        let matcher = Matcher::new(&gpu);
        let old: Vec<_> = (0..600u32).map(|i| Region::new([10 * i, 0], [10 * i + 5, 4])).collect();
        let new: Vec<_> = (0..600u32).map(|i| Region::new([i, 2], [i + 900, 3])).collect();
        let [s, u] = [&old, &old].map(|set| matcher.upload("set", set).unwrap().columns);
        let pairs = |updates: &[Region<u32, 2>]| -> std::collections::BTreeSet<_> {
            reference::find(&old, updates).into_iter().collect()
        };
        let (before, after) = (pairs(&old), pairs(&new));
        let (kernels, sides) = (matcher.kernels(), [&s, &u]);
        let index = Index::new(kernels, sides).unwrap();
        index.rebuild().submit(&gpu).unwrap();
        let mut moves = Moves::new(kernels, &index, sides).unwrap();
        moves = Moves::with_room(kernels, &index, sides, moves.given, [1 << 10, 1, 1]).unwrap();
        // As many entries as two queries may have, and as many changes as one row.
        moves.most = 1;
        let rows = |to: &[Region<u32, 2>]| {
            let mut rows = Rows::new([0, 600], 2);
            for (id, (row, region)) in (0..).zip(rows.body().chunks_exact_mut(5).zip(to)) {
                row[0] = 600 + id;
                super::super::set::keys(region, &mut row[1..]);
            }
            rows
        };
        let mut there = rows(&new);
        let there = moves.find(
            kernels,
            &index,
            sides,
            &mut there,
            Way { times: Times::Both, rebuild: false, most_each: u32::MAX },
        );
        let there = pollster::block_on(there).unwrap().unwrap();
        assert_eq!(there.began.len() + there.ended.len(), before.symmetric_difference(&after).count());
        assert_eq!(there.began.into_iter().collect::<std::collections::BTreeSet<_>>(), &after - &before);
        assert_eq!(there.ended.into_iter().collect::<std::collections::BTreeSet<_>>(), &before - &after);
        assert!(moves.changes <= 600 && moves.list <= 2 * index.widest(), "{} {}", moves.list, moves.changes);
        // And back in two halves, as when many move.
        moves = Moves::with_room(kernels, &index, sides, moves.given, [1 << 10, 1, 1]).unwrap();
        let mut back = rows(&old);
        let first = moves.find(
            kernels,
            &index,
            sides,
            &mut back,
            Way { times: Times::Before, rebuild: true, most_each: u32::MAX },
        );
        let ended = pollster::block_on(first).unwrap().unwrap().ended;
        assert_eq!(ended.into_iter().collect::<std::collections::BTreeSet<_>>(), &after - &before);
        let second = moves.find(
            kernels,
            &index,
            sides,
            &mut back,
            Way { times: Times::After, rebuild: true, most_each: u32::MAX },
        );
        let began = pollster::block_on(second).unwrap().unwrap().began;
        assert_eq!(began.into_iter().collect::<std::collections::BTreeSet<_>>(), &before - &after);
        assert_eq!(u.keys.read(&gpu).unwrap(), s.keys.read(&gpu).unwrap());
    }
}
