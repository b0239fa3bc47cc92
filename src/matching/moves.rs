//! A step of moving regions on the device: one submission writes the moves and finds the pairs that
//! they change.

use super::MatchingError;
use super::changes::{Changes, in_order};
use super::index::{FANOUT, Index};
use super::kernels::{Kernels, ReadbackRange};
use super::limits::GROUP_SIZE;
use super::programs;
use super::scratch;
use super::set::Columns;
use crate::gpu::{Bindings, Buffer, Download, Gpu, Kernel, Plan, Recipe};
use crate::primitives::{Count, RadixSort, Status};

shared! {
    "matching/moves.wgsl":
    /// Words before the rows.
    const HEADER: usize;
    const BY_SLOTS: u32;
    const PAIRS_BEFORE: u32;
    const PAIRS_AFTER: u32;
}
/// If at least one in this many regions moves, a pass over all regions is cheap compared with
/// searches in the order of their places, which load about a hundred times as many words.
const MANY_OF: u32 = 8;
/// If at least one in this many regions moves, and not near, matching from scratch takes less time
/// than looking the moves up.
const MOST_OF: u32 = 8;
/// The same on software adapters, where sorting the pairs takes longer.
const MOST_OF_ON_PROCESSOR: u32 = 2;
/// Steps until matching from scratch is tried again, after there were too many pairs or too little
/// memory.
const STEPS_WITHOUT: u32 = 64;
/// Words for counts: the changes, and the entries of each level. The last word counts the regions
/// that moved far, `FAR` in moves.wgsl.
const COUNTS: usize = 16;
/// Maximum entries of a list and changes of a submission (or the need of one query, if that is
/// larger): 32 MB each, and some tens of millions of tests per dispatch.
const MOST: u32 = 1 << 22;
/// Maximum number of changes that the host sorts: a sort on the device has 24 dispatches of some 3
/// µs each.
const FEW_CHANGES: u32 = 1 << 12;
/// From this number of queries on, fewer invocations per entry of a list keep a device busy, so
/// that each wait of a workgroup covers more entries.
const MANY_QUERIES: u32 = 1 << 13;
/// Invocations per entry in that case.
const EACH_OF_MANY: u32 = 1;
/// Minimum workgroups that process a list: few queries may have many entries.
const FEW_GROUPS: u32 = 64;
/// Maximum workgroups that process a list: each continues with further entries.
const MANY_GROUPS: u32 = 4096;

/// The pairs that a submission looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Times {
    /// Pairs that overlap before the step, for those that end. The tree holds the bounds before it.
    Before = PAIRS_BEFORE,
    /// Pairs that overlap after it, for those that begin. The tree holds the bounds after it.
    After = PAIRS_AFTER,
    /// Both, in a tree that grows.
    Both = PAIRS_BEFORE | PAIRS_AFTER,
}

/// How a submission looks for pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairQuery {
    pub(super) times: Times,
    /// Whether the trees are rebuilt first.
    pub(super) rebuild: bool,
    /// Maximum nodes of a level that a query may enter, on average.
    pub(super) most_each: u32,
}

/// Settings of a step. All give the same result, in the same order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tuning {
    /// `MOST`, except in tests.
    most: u32,
    /// From this number of queries on, fewer invocations serve each entry of a list.
    pub(super) many_queries: u32,
    /// If one in this many regions moves, queries are taken by slots.
    pub(super) many_of: u32,
    /// Maximum number of changes that the host sorts.
    pub(super) few_changes: u32,
    /// If one in this many regions moves, and many of them far, a step matches from scratch.
    pub(super) most_of: u32,
    /// Maximum number of pairs of a step that matches from scratch.
    pub(super) most_pairs: u64,
    /// Steps until that is tried again after it was not possible.
    pub(super) steps_without: u32,
}

impl Tuning {
    fn new(gpu: &Gpu) -> Self {
        // On software adapters the host sorts faster than the adapter.
        let slow = gpu.is_software();
        let few_changes = if slow { u32::MAX } else { FEW_CHANGES };
        Self {
            most: MOST,
            many_queries: MANY_QUERIES,
            many_of: MANY_OF,
            few_changes,
            most_of: if slow { MOST_OF_ON_PROCESSOR } else { MOST_OF },
            most_pairs: scratch::MOST,
            steps_without: STEPS_WITHOUT,
        }
    }
}

/// Kernel inputs of each step: cached memory that grows.
#[derive(Debug)]
pub(super) struct Moves {
    rows: u32,
    list: u32,
    changes: u32,
    pub(super) tuning: Tuning,
    /// Changes that are read together with their count: somewhat more than the last step had.
    expected: u32,
    given: StepInput,
    counts: Buffer<u32>,
    found: Buffer<u64>,
    steps: Steps,
    /// Sorts the changes; created on first use.
    sort: Option<Plan>,
}

/// The input of a step, as in moves.wgsl.
#[derive(Debug, Clone)]
struct StepInput {
    moves: Buffer<u32>,
    before: Buffer<u32>,
}

impl StepInput {
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
    queries: (Kernel, Bindings),
    /// For few queries, and for many.
    search: [Search; 2],
    settle: (Kernel, Bindings),
    exchange: (Kernel, Bindings),
    take_back: (Kernel, Bindings),
}

#[derive(Debug)]
struct Search {
    /// Invocations that serve an entry of a list: `EACH` in moves_search.wgsl.
    each: u32,
    /// From the highest level down.
    descend: Vec<(Kernel, Bindings)>,
    changes: (Kernel, Bindings),
}

/// Rows in the format of moves.wgsl.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// With space for the header in front.
    pub(super) words: Vec<u32>,
    pub(super) rows: u32,
    /// Rows of subscriptions, which come first.
    pub(super) subscriptions: u32,
}

impl Rows {
    /// Resizes to this many rows of each side. They hold arbitrary values.
    pub(super) fn set(&mut self, sides: [u32; 2], dims: u32) {
        (self.rows, self.subscriptions) = (sides[0] + sides[1], sides[0]);
        self.words.resize(HEADER + self.rows as usize * (2 * dims as usize + 1), 0);
    }

    /// The rows, to be filled.
    pub(super) fn body(&mut self) -> &mut [u32] {
        &mut self.words[HEADER..]
    }
}

/// The result of a step.
#[derive(Debug, Default)]
pub(super) struct StepOutput {
    pub(super) changes: Changes,
    /// Number of boxes that queries were compared with.
    pub(super) tests: u64,
    /// Regions whose bounds after the step do not overlap those before, if pairs before it were
    /// searched.
    pub(super) far: u32,
}

impl Moves {
    pub(super) fn new(kernels: &Kernels, index: &Index, sides: [&Columns; 2]) -> Result<Self, MatchingError> {
        let room = [1 << 10, 1 << 14, 1 << 12];
        let given = StepInput::new(kernels.gpu(), room[0], sides[0].dims)?;
        Self::with_room(kernels, index, sides, given, room)
    }

    /// With capacity for these numbers of rows, entries of a list, and changes.
    fn with_room(
        kernels: &Kernels,
        index: &Index,
        sides: [&Columns; 2],
        given: StepInput,
        [rows, list, changes]: [u32; 3],
    ) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let dims = sides[0].dims;
        let lists = [
            Buffer::<[u32; 2]>::storage(gpu, "queries in nodes", list.into())?,
            Buffer::<[u32; 2]>::storage(gpu, "queries in nodes", list.into())?,
        ];
        let counts = Buffer::<u32>::storage(gpu, "counts of a step", COUNTS as u64)?;
        let found = Buffer::<u64>::storage(gpu, "changes", changes.into())?;
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
                    ("other_time", index.other_time.binding()),
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
        let search = |each: u32| -> Result<Search, MatchingError> {
            let descend = programs::moves_descend(dims, each);
            let levels = (1..=index.top()).rev();
            let descend = levels.map(|level| bind(&descend, level)).collect::<Result<_, _>>()?;
            Ok(Search { each, descend, changes: bind(&programs::moves_changes(dims, each), 0)? })
        };
        let steps = Steps {
            mark: bind(&programs::moves_mark(dims), 0)?,
            queries: bind(&programs::moves_queries(dims), index.top() + 1)?,
            search: [search(FANOUT)?, search(EACH_OF_MANY)?],
            settle: bind(&programs::moves_settle(dims), 0)?,
            exchange: bind(&programs::moves_exchange(dims), 0)?,
            take_back: bind(&programs::moves_take_back(dims), 0)?,
        };
        let (tuning, expected, sort) = (Tuning::new(gpu), 0, None);
        Ok(Self { rows, list, changes, tuning, expected, given, counts, found, steps, sort })
    }

    /// Ensures capacity for rows, entries of a list, and changes, up to the limits of a submission.
    /// The step's input stays if its rows fit.
    fn reserve(
        &mut self,
        kernels: &Kernels,
        index: &Index,
        sides: [&Columns; 2],
        [rows, list, changes]: [u32; 3],
    ) -> Result<(), MatchingError> {
        // No submission uses more.
        let [list_limit, changes_limit] = self.limits(index, sides);
        let limits = [sides[0].count + sides[1].count, list_limit, changes_limit];
        let grown = |needed: u32, limit: u32| needed.next_power_of_two().min(limit.max(needed));
        let room = [
            self.rows.max(grown(rows, limits[0])),
            self.list.max(grown(list.min(limits[1]), limits[1])),
            self.changes.max(grown(changes.min(limits[2]), limits[2])),
        ];
        if room != [self.rows, self.list, self.changes] {
            let (tuning, expected) = (self.tuning, self.expected);
            let given = match room[0] == self.rows {
                true => self.given.clone(),
                false => StepInput::new(kernels.gpu(), room[0], sides[0].dims)?,
            };
            *self = Self::with_room(kernels, index, sides, given, room)?;
            (self.tuning, self.expected) = (tuning, expected);
        }
        Ok(())
    }

    /// The maximum entries of a list and changes of a submission. The need of one row, which is two
    /// queries, always fits.
    fn limits(&self, index: &Index, sides: [&Columns; 2]) -> [u32; 2] {
        [self.tuning.most.max(2 * index.widest()), self.tuning.most.max(sides[0].count).max(sides[1].count)]
    }

    /// Gives the sets the new bounds without updating the trees. Returns the range with the number
    /// of regions that moved far.
    pub(super) fn exchange(
        &mut self,
        kernels: &Kernels,
        index: &Index,
        sides: [&Columns; 2],
        rows: &mut Rows,
    ) -> Result<ReadbackRange<'_>, MatchingError> {
        let gpu = kernels.gpu();
        self.reserve(kernels, index, sides, [rows.rows, 0, 0])?;
        rows.words[..HEADER].copy_from_slice(&[rows.rows, rows.subscriptions, 0, 0, 0, 0, 0, 0]);
        self.given.moves.write(gpu, 0, &rows.words)?;
        let mut encoder = gpu.encoder("regions move");
        encoder.clear_buffer(self.counts.raw(), 0, None);
        record_each(&mut encoder, &self.steps.exchange, rows.rows);
        gpu.submit(encoder)?;
        Ok(ReadbackRange { from: self.counts.raw(), first: COUNTS as u64 - 1, words: 1 })
    }

    /// Undoes [`Moves::exchange`].
    pub(super) fn take_back(&self, gpu: &Gpu, rows: &Rows) -> Result<(), MatchingError> {
        let mut encoder = gpu.encoder("regions move back");
        record_each(&mut encoder, &self.steps.take_back, rows.rows);
        gpu.submit(encoder)?;
        Ok(())
    }

    /// Finds the changes of a step, and ends it: the sets and the leaves have the new bounds.
    ///
    /// `None` if queries enter more nodes than they may. Then only the trees changed, and they hold
    /// arbitrary values.
    pub(super) async fn find(
        &mut self,
        kernels: &Kernels,
        index: &Index,
        sides: [&Columns; 2],
        rows: &mut Rows,
        query: PairQuery,
    ) -> Result<Option<StepOutput>, MatchingError> {
        let PairQuery { times, mut rebuild, most_each } = query;
        let gpu = kernels.gpu();
        // Of two moving regions the subscription reports the pair. If all subscriptions move,
        // updates have nothing to report.
        let seekers = match rows.subscriptions == sides[0].count {
            true => rows.subscriptions.max(1),
            false => rows.rows,
        };
        let queries = seekers.saturating_mul(if times == Times::Both { 2 } else { 1 });
        // Most queries enter about two nodes of a level.
        let room = [rows.rows, queries.saturating_mul(4), queries.saturating_mul(4)];
        self.reserve(kernels, index, sides, room)?;
        let mut all = StepOutput::default();
        let regions = sides[0].count + sides[1].count;
        let by_slots = rows.rows >= regions.div_ceil(self.tuning.many_of);
        let numbers = match by_slots {
            // The slots of subscriptions come first.
            true if seekers < rows.rows => seekers,
            true => regions,
            false => seekers,
        };
        // Keeps every level below 2^32 entries: a query enters at most sixteen nodes.
        let (mut first, mut batch) = (0, numbers.min(1 << 26));
        let mut written = false;
        while first < numbers {
            let end = numbers.min(first.saturating_add(batch));
            let last = end == numbers;
            let head = [
                rows.rows,
                rows.subscriptions,
                first,
                end,
                times as u32 | if by_slots { BY_SLOTS } else { 0 },
                self.list,
                self.changes,
                u32::from(last),
            ];
            rows.words[..HEADER].copy_from_slice(&head);
            let what = if written { &rows.words[..HEADER] } else { &rows.words[..] };
            self.given.moves.write(gpu, 0, what)?;
            let (counts, changes) = self
                .submit(gpu, index, [rows.rows, end - first, queries], std::mem::take(&mut rebuild))
                .await?;
            written = true;
            let entries = &counts[1..=index.top() as usize + 1];
            let Some(changes) = changes else {
                let most_entries = entries.iter().copied().max().unwrap_or(0);
                if most_entries > most_each.saturating_mul(queries).max(1 << 14) {
                    return Ok(None);
                }
                let limits = self.limits(index, sides);
                if most_entries > limits[0] || counts[0] > limits[1] {
                    // Fewer at once. A single one always fits.
                    batch = ((end - first) / 2).max(1);
                }
                self.reserve(kernels, index, sides, [rows.rows, most_entries, counts[0]])?;
                continue;
            };
            all.tests += u64::from(FANOUT) * entries.iter().map(|entries| u64::from(*entries)).sum::<u64>();
            all.far = counts[COUNTS - 1];
            all.changes.append(changes);
            first = end;
        }
        Ok(Some(all))
    }

    /// Submits the work in the header, and reads the counts, and the changes if everything fitted.
    async fn submit(
        &mut self,
        gpu: &Gpu,
        index: &Index,
        [rows, numbers, queries]: [u32; 3],
        rebuild: bool,
    ) -> Result<(Vec<u32>, Option<Changes>), MatchingError> {
        let at_once = self.expected.clamp(1 << 10, MOST).min(self.changes);
        let sorts = at_once > self.tuning.few_changes;
        if sorts {
            self.prepare_sort(gpu)?;
        }
        let mut encoder = gpu.encoder("a step of moving regions");
        encoder.clear_buffer(self.counts.raw(), 0, None);
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            let each = rows.div_ceil(GROUP_SIZE);
            let search = &self.steps.search[usize::from(queries >= self.tuning.many_queries)];
            let over_lists = queries.div_ceil(GROUP_SIZE / search.each).clamp(FEW_GROUPS, MANY_GROUPS);
            if rebuild {
                index.rebuild().record_in(&mut pass);
            }
            let mut run = |(kernel, bindings): &(Kernel, Bindings), workgroups| {
                kernel.dispatch(&mut pass, bindings, workgroups);
            };
            run(&self.steps.mark, each);
            run(&self.steps.queries, numbers.div_ceil(GROUP_SIZE));
            search.descend.iter().for_each(|step| run(step, over_lists));
            run(&search.changes, over_lists);
            run(&self.steps.settle, each);
            if let Some(sort) = self.sort.as_ref().filter(|_| sorts) {
                sort.record_in(&mut pass);
            }
        }
        let count_bytes = COUNTS as u64 * 4;
        let bytes = u64::from(at_once) * size_of::<u64>() as u64;
        // Steps differ slightly: the power of two lets the next one reuse this memory.
        let download = Download::new(gpu, "changes", (count_bytes + bytes).next_power_of_two())?;
        download.record_part(&mut encoder, self.counts.raw(), 0, (0, count_bytes));
        download.record_part(&mut encoder, self.found.raw(), 0, (count_bytes, bytes));
        let submission = gpu.submit(encoder)?;
        let (capacity, top) = ([self.changes, self.list], index.top() as usize + 1);
        let take = |read: &[u8]| {
            let counts: Vec<u32> = bytemuck::pod_collect_to_vec(&read[..4 * COUNTS]);
            let fits = counts[0] <= capacity[0] && counts[1..=top].iter().all(|count| *count <= capacity[1]);
            let changes = (fits && counts[0] <= at_once).then(|| {
                let read = &read[4 * COUNTS..][..8 * counts[0] as usize];
                match sorts {
                    true => Changes::new(read),
                    false => {
                        Changes::new(bytemuck::cast_slice(&in_order(bytemuck::pod_collect_to_vec(read))))
                    }
                }
            });
            (counts, fits, changes)
        };
        let (counts, fits, mut changes) = download.finish_with(gpu, submission, take).await?;
        if fits && changes.is_none() {
            let few = counts[0] <= self.tuning.few_changes;
            if !sorts && !few {
                self.prepare_sort(gpu)?.submit(gpu)?;
            }
            let keys = self.found.read_range(gpu, 0, counts[0].into()).await?;
            let keys = if few { in_order(keys) } else { keys };
            changes = Some(Changes::new(bytemuck::cast_slice(&keys)));
        }
        if fits {
            self.expected = counts[0] + counts[0] / 8;
        }
        Ok((counts, changes))
    }

    /// Binds the sort of the number of changes that the device counts.
    fn prepare_sort(&mut self, gpu: &Gpu) -> Result<&Plan, MatchingError> {
        if self.sort.is_none() {
            // If the changes do not fit, they are not sorted and the step is repeated.
            let count = Count::device(&self.counts, 0, &Status::new(gpu)?)?;
            let sort = RadixSort::<u64>::new(gpu, self.changes.into())?;
            self.sort = Some(sort.bind_keys(gpu, &count, &self.found, 0..64)?);
        }
        Ok(self.sort.as_ref().expect("made above"))
    }
}

/// Records a dispatch with an invocation for each row.
fn record_each(encoder: &mut wgpu::CommandEncoder, (kernel, bindings): &(Kernel, Bindings), rows: u32) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    kernel.dispatch(&mut pass, bindings, rows.div_ceil(GROUP_SIZE));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{Matcher, Region, reference};

    /// Lists and changes that are too short grow, and if they may not grow, the step is split.
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
        moves.tuning.most = 1;
        let rows = |to: &[Region<u32, 2>]| {
            let mut rows = Rows::default();
            rows.set([0, 600], 2);
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
            PairQuery { times: Times::Both, rebuild: false, most_each: u32::MAX },
        );
        let there = pollster::block_on(there).unwrap().unwrap().changes;
        assert_eq!(there.began.len() + there.ended.len(), before.symmetric_difference(&after).count());
        assert_eq!(there.began.into_iter().collect::<std::collections::BTreeSet<_>>(), &after - &before);
        assert_eq!(there.ended.into_iter().collect::<std::collections::BTreeSet<_>>(), &before - &after);
        assert!(moves.changes <= 600 && moves.list <= 2 * index.widest(), "{} {}", moves.list, moves.changes);
        // And back in two halves, as with many moves.
        moves = Moves::with_room(kernels, &index, sides, moves.given, [1 << 10, 1, 1]).unwrap();
        let mut back = rows(&old);
        let first = moves.find(
            kernels,
            &index,
            sides,
            &mut back,
            PairQuery { times: Times::Before, rebuild: true, most_each: u32::MAX },
        );
        let ended = pollster::block_on(first).unwrap().unwrap().changes.ended;
        assert_eq!(ended.into_iter().collect::<std::collections::BTreeSet<_>>(), &after - &before);
        let second = moves.find(
            kernels,
            &index,
            sides,
            &mut back,
            PairQuery { times: Times::After, rebuild: true, most_each: u32::MAX },
        );
        let began = pollster::block_on(second).unwrap().unwrap().changes.began;
        assert_eq!(began.into_iter().collect::<std::collections::BTreeSet<_>>(), &before - &after);
        assert_eq!(u.keys.read(&gpu).unwrap(), s.keys.read(&gpu).unwrap());
    }
}
