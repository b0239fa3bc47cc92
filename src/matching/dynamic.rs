//! Regions that move between steps.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::changes::Changes;
use super::index::Index;
use super::moves::{Moves, PairQuery, Rows, StepOutput, Times};
use super::region::{Coordinate, Region};
use super::scratch::{self, PairLists, with_filled};
use super::set::{Columns, check, keys};
use super::{Algorithm, Matcher, Matches, MatchingError};

/// Cost of rebuilding the trees, in tests per region: from the times of sorts and tests on an H200.
const TESTS_PER_REBUILD: u64 = 64;
/// If more than one in this many regions moves far, trees with both their old and new places would
/// be poor. So they are rebuilt in the middle of the step.
const MANY_OF: u32 = 256;
/// A step with many moves expected to be near is repeated with the other method if queries enter
/// more nodes per level than this, on average.
const NODES_EACH: u32 = 16;
/// Moved regions that one core checks.
const ALONE: usize = 1 << 12;

/// Two sets with moving regions: each step reports the pairs that began to overlap and those that
/// ended.
///
/// A region's id is its index and never changes. A region that is absent for a while is an empty
/// region.
///
/// Both sets have an index on the device, a tree of bounding boxes. A step is one submission: the
/// moved regions query the other side's tree with their bounds before and after, so its time
/// depends on their number and that of their pairs. The trees grow with the moves. If very many
/// regions move far, all pairs are found again instead and compared with the previous ones, which
/// are stored in order (some 80 bytes for each, up to a limit). The trees are rebuilt when the
/// searches since the last time cost as much, and in the middle of a step in which very many
/// regions move far, at places where they do not overlap themselves.
///
/// ```
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::matching::{Matcher, MovingRegions, Region};
///
/// let matcher = Matcher::new(&Gpu::new()?);
/// let subscriptions = [Region::new([0, 0], [10, 10])];
/// let updates = [Region::new([20, 0], [25, 5]), Region::new([9, 9], [12, 12])];
/// let mut regions = MovingRegions::new(&matcher, &subscriptions, &updates)?;
/// assert_eq!(regions.matches()?.read()?, [[0, 1]]);
///
/// let changes = regions.update(&[], &[(0, Region::new([8, 0], [13, 5]))])?;
/// assert_eq!(changes.began, [[0, 0]]);
/// let changes = regions.update(&[(0, Region::new([0, 0], [9, 9]))], &[])?;
/// assert_eq!(changes.ended, [[0, 1]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MovingRegions<T, const D: usize> {
    matcher: Matcher,
    subscriptions: Side<T, D>,
    updates: Side<T, D>,
    index: Index,
    moves: Moves,
    /// The pair lists, if a step matched from scratch.
    lists: Option<PairLists>,
    /// The rows of the last step: reused memory.
    rows: Rows,
    /// Number of the step.
    step: u32,
    /// Tests in trees that have grown. The maximum after a failure, which leaves arbitrary values.
    tests: u64,
    /// Whether a step has begun and not ended.
    unfinished: bool,
    /// Steps until matching from scratch is tried again, after it was not possible.
    not_yet: u32,
    /// How many of 256 moved regions moved far in the last step: the prediction for the next step.
    far: u32,
}

#[derive(Debug)]
struct Side<T, const D: usize> {
    columns: Columns,
    /// By id, twice the number of the last step that moved the region, plus 1 if it is empty.
    states: Vec<AtomicU32>,
    values: PhantomData<T>,
}

impl<T: Coordinate, const D: usize> MovingRegions<T, D> {
    /// Copies both sets to the device.
    ///
    /// # Errors
    /// As [`Matcher::upload`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(
        matcher: &Matcher,
        subscriptions: &[Region<T, D>],
        updates: &[Region<T, D>],
    ) -> Result<Self, MatchingError> {
        pollster::block_on(Self::new_async(matcher, subscriptions, updates))
    }

    /// [`MovingRegions::new`] without blocking.
    ///
    /// # Errors
    /// As [`Matcher::upload`](Matcher::upload_async).
    pub async fn new_async(
        matcher: &Matcher,
        subscriptions: &[Region<T, D>],
        updates: &[Region<T, D>],
    ) -> Result<Self, MatchingError> {
        let subscriptions = Side::new(matcher, "subscriptions", subscriptions).await?;
        let updates = Side::new(matcher, "updates", updates).await?;
        let (kernels, sides) = (matcher.kernels(), [&subscriptions.columns, &updates.columns]);
        let index = Index::new(kernels, sides)?;
        index.rebuild().submit(matcher.gpu())?;
        let moves = Moves::new(kernels, &index, sides)?;
        let (matcher, rows) = (matcher.clone(), Rows::default());
        Ok(Self {
            matcher,
            subscriptions,
            updates,
            index,
            moves,
            lists: None,
            rows,
            step: 0,
            tests: 0,
            unfinished: false,
            not_yet: 0,
            far: 0,
        })
    }

    /// All pairs that overlap now.
    ///
    /// # Errors
    /// As [`Matcher::find`]; [`MatchingError::Unfinished`] after a step that did not end.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn matches(&self) -> Result<Matches, MatchingError> {
        pollster::block_on(self.matches_async())
    }

    /// [`MovingRegions::matches`] without blocking.
    ///
    /// # Errors
    /// As [`MovingRegions::matches`].
    pub async fn matches_async(&self) -> Result<Matches, MatchingError> {
        self.check_finished()?;
        self.matcher.matches(&self.subscriptions.columns, &self.updates.columns, Algorithm::Auto).await
    }

    /// Gives the listed regions new bounds and reports which overlaps began and which ended.
    ///
    /// # Errors
    /// [`MatchingError::UnknownRegion`], [`MatchingError::MovedTwice`], [`MatchingError::Inverted`]
    /// and [`MatchingError::NotANumber`] for the first region at fault: then no region has moved.
    /// After [`MatchingError::Gpu`] and [`MatchingError::TooMuchWork`], or if a future is dropped
    /// before it is done, some regions have moved and others have not. Every later call then
    /// returns [`MatchingError::Unfinished`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn update(
        &mut self,
        subscriptions: &[(u32, Region<T, D>)],
        updates: &[(u32, Region<T, D>)],
    ) -> Result<Changes, MatchingError> {
        pollster::block_on(self.update_async(subscriptions, updates))
    }

    /// [`MovingRegions::update`] without blocking.
    ///
    /// # Errors
    /// As [`MovingRegions::update`].
    pub async fn update_async(
        &mut self,
        subscriptions: &[(u32, Region<T, D>)],
        updates: &[(u32, Region<T, D>)],
    ) -> Result<Changes, MatchingError> {
        self.check_finished()?;
        self.next_step();
        self.subscriptions.check(self.step, subscriptions)?;
        self.updates.check(self.step, updates)?;
        let counts =
            [subscriptions, updates].map(|moved| u32::try_from(moved.len()).expect("ids are different"));
        if counts == [0, 0] {
            return Ok(Changes::default());
        }
        self.unfinished = true;
        // Allocating as many words costs more than writing them.
        let mut rows = std::mem::take(&mut self.rows);
        rows.set(counts, self.subscriptions.columns.dims);
        let (first, second) = rows.body().split_at_mut(subscriptions.len() * (2 * D + 1));
        let filled = [self.subscriptions.columns.filled, self.updates.columns.filled];
        self.subscriptions.advance(0, subscriptions, first);
        self.updates.advance(self.subscriptions.columns.count, updates, second);
        let found = self.find(&mut rows, filled).await;
        self.matcher.kernels().forget_if_failed(&found);
        let found = found?;
        self.rows = rows;
        self.unfinished = false;
        Ok(found.changes)
    }

    /// The host knows the new bounds before the device does.
    fn check_finished(&self) -> Result<(), MatchingError> {
        if self.unfinished { Err(MatchingError::Unfinished) } else { Ok(()) }
    }

    /// Finds the changes of a step; `filled` are the regions of each side that were not empty
    /// before it.
    async fn find(&mut self, rows: &mut Rows, filled: [u32; 2]) -> Result<StepOutput, MatchingError> {
        let regions = u64::from(self.subscriptions.columns.count) + u64::from(self.updates.columns.count);
        let most = |rows: u32| u64::from(rows) * u64::from(self.moves.tuning.most_of) >= regions;
        if self.not_yet > 0 {
            self.not_yet -= 1;
        } else if most(rows.rows) && most(share_of(self.far, rows.rows)) {
            if let Some(found) = self.find_from_scratch(rows, filled).await? {
                return Ok(found);
            }
            (self.lists, self.not_yet) = (None, self.moves.tuning.steps_without);
        }
        if let Some(lists) = &mut self.lists {
            lists.forget();
        }
        let kernels = self.matcher.kernels();
        let sides = [&self.subscriptions.columns, &self.updates.columns];
        let due = self.tests >= TESTS_PER_REBUILD * regions;
        // Restored when the step has ended.
        let before = std::mem::replace(&mut self.tests, u64::MAX);
        let (moves, index) = (&mut self.moves, &self.index);
        let mut rebuild = due;
        let many = |rows: u32| u64::from(rows) * u64::from(MANY_OF) > regions;
        if !many(rows.rows) || !many(share_of(self.far, rows.rows)) {
            let most_each = if many(rows.rows) { NODES_EACH } else { u32::MAX };
            let query = PairQuery { times: Times::Both, rebuild: due, most_each };
            if let Some(found) = moves.find(kernels, index, sides, rows, query).await? {
                self.tests = found.tests + if due { 0 } else { before };
                self.far = share(found.far, rows.rows);
                return Ok(found);
            }
            // The trees have grown without effect.
            rebuild = true;
        }
        let mut both = StepOutput::default();
        for (times, rebuild) in [(Times::Before, rebuild), (Times::After, true)] {
            let query = PairQuery { times, rebuild, most_each: u32::MAX };
            let found = moves.find(kernels, index, sides, rows, query).await?;
            let found = found.expect("any number of nodes is fine");
            both.changes.append(found.changes);
            both.far += found.far;
        }
        // No region has moved since the rebuild.
        self.tests = 0;
        self.far = share(both.far, rows.rows);
        Ok(both)
    }

    /// The same by matching from scratch. `None`, with nothing changed, if there are too many pairs
    /// or too little memory: trees need less.
    async fn find_from_scratch(
        &mut self,
        rows: &mut Rows,
        filled: [u32; 2],
    ) -> Result<Option<StepOutput>, MatchingError> {
        let kernels = self.matcher.kernels();
        let sides = [&self.subscriptions.columns, &self.updates.columns];
        let before = with_filled(sides, filled);
        let known = scratch::known(&self.matcher, &mut self.lists, &before, self.moves.tuning.most_pairs);
        let Some(lists) = scratch::possible(known.await)?.flatten() else { return Ok(None) };
        // The trees do not follow and are rebuilt when needed. Until the step has ended they hold
        // arbitrary values.
        let tests = std::mem::replace(&mut self.tests, u64::MAX);
        let far = self.moves.exchange(kernels, &self.index, sides, rows)?;
        let reported = async {
            let matches = self.matcher.matches(sides[0], sides[1], Algorithm::Auto).await?;
            lists.advance(kernels, &matches, far).await
        };
        let Some((changes, far)) = scratch::possible(reported.await)?.flatten() else {
            self.moves.take_back(kernels.gpu(), rows)?;
            self.tests = tests;
            return Ok(None);
        };
        self.far = share(far, rows.rows);
        Ok(Some(StepOutput { changes, tests: 0, far }))
    }

    /// The states of regions have 31 bits for the number of a step.
    fn next_step(&mut self) {
        if self.step == u32::MAX >> 1 {
            self.step = 0;
            self.subscriptions.forget_steps();
            self.updates.forget_steps();
        }
        self.step += 1;
    }
}

/// The number that is `share` in 256 of `all`.
fn share_of(share: u32, all: u32) -> u32 {
    all / 256 * share
}

/// The share of `some` in `all`, in units of 1/256.
fn share(some: u32, all: u32) -> u32 {
    u32::try_from(u64::from(some) * 256 / u64::from(all.max(1))).expect("a part is at most the whole")
}

/// Checks that a region of the set `label` with `regions` regions can move in step `step`, and
/// marks it as moved.
fn check_one<T: Coordinate, const D: usize>(
    label: &str,
    regions: u32,
    states: &[AtomicU32],
    step: u32,
    region: u32,
    bounds: &Region<T, D>,
) -> Result<(), MatchingError> {
    let set = || label.into();
    let Some(state) = states.get(region as usize) else {
        return Err(MatchingError::UnknownRegion { set: set(), region, regions });
    };
    let seen = state.load(Ordering::Relaxed) & 1 | step << 1;
    if state.swap(seen, Ordering::Relaxed) >> 1 == step {
        return Err(MatchingError::MovedTwice { set: set(), region });
    }
    check(label, region, bounds)
}

impl<T: Coordinate, const D: usize> Side<T, D> {
    async fn new(matcher: &Matcher, label: &str, regions: &[Region<T, D>]) -> Result<Self, MatchingError> {
        Ok(Self {
            columns: matcher.upload_async(label, regions).await?.columns,
            states: regions.par_iter().map(|region| AtomicU32::new(region.is_empty().into())).collect(),
            values: PhantomData,
        })
    }

    fn forget_steps(&mut self) {
        self.states.par_iter_mut().for_each(|state| *state.get_mut() &= 1);
    }

    /// Checks that all of these can move in step `step`. Changes no state that a later step reads.
    fn check(&self, step: u32, moved: &[(u32, Region<T, D>)]) -> Result<(), MatchingError> {
        // (A browser's buffers are bound to one thread.)
        let Self { columns: Columns { label, count, .. }, states, .. } = self;
        let check_one =
            |&(id, ref bounds): &(u32, Region<T, D>)| check_one(label, *count, states, step, id, bounds);
        let fine = |row: &(u32, Region<T, D>)| check_one(row).is_ok();
        if moved.len() >= ALONE && moved.par_iter().all(fine) {
            return Ok(());
        }
        // One after the other, so that the first region at fault is reported. The marks above are
        // cleared.
        for (id, _) in moved {
            if let Some(state) = self.states.get(*id as usize) {
                state.fetch_and(1, Ordering::Relaxed);
            }
        }
        moved.iter().try_for_each(check_one)
    }

    /// Writes the rows of moves.wgsl; the side's first region has the name `first`.
    fn advance(&mut self, first: u32, moved: &[(u32, Region<T, D>)], rows: &mut [u32]) {
        let states = &self.states;
        let make = |(row, (id, bounds)): (&mut [u32], &(u32, Region<T, D>))| {
            row[0] = first + id;
            keys(bounds, &mut row[1..]);
            let empty = u32::from(bounds.is_empty());
            let state = &states[*id as usize];
            let before = state.load(Ordering::Relaxed);
            state.store(before & !1 | empty, Ordering::Relaxed);
            // Fewer empty regions mean more filled ones.
            i64::from(before & 1) - i64::from(empty)
        };
        let width = 2 * D + 1;
        let more: i64 = match moved.len() < ALONE {
            true => rows.chunks_exact_mut(width).zip(moved).map(make).sum(),
            false => rows.par_chunks_exact_mut(width).zip(moved).map(make).sum(),
        };
        let filled = i64::from(self.columns.filled) + more;
        self.columns.filled = u32::try_from(filled).expect("no more than there are regions");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::gpu::Gpu;
    use crate::matching::reference;

    /// A pseudo-random number below `end`.
    fn mixed(seed: u64, end: u64) -> i32 {
        let z = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        i32::try_from(((z ^ z >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) % end).unwrap()
    }

    /// Few places on a lattice, so that bounds touch and regions coincide; one in eleven is empty,
    /// and one in thirty large.
    fn region<const D: usize>(seed: u64) -> Region<i32, D> {
        let lo: [i32; D] = std::array::from_fn(|d| mixed(seed * 8 + d as u64, 60) - 30);
        let width = match seed {
            _ if seed % 11 == 3 => 0,
            _ if seed % 30 == 7 => 40,
            _ => 1 + mixed(seed, 3),
        };
        Region::new(lo, lo.map(|lo| lo + width))
    }

    /// Alternating steps with few and many moves, near and far, with each method: the changes of
    /// each step are the differences between two matchings.
    fn alternate<const D: usize>(matcher: &Matcher, sizes: [u32; 2], tune: fn(&mut Moves)) {
        let mut sets = [0, 1].map(|side| -> Vec<Region<i32, D>> {
            (0..sizes[side]).map(|id| region(u64::from(id) + 100_000 * side as u64)).collect()
        });
        let mut moving = MovingRegions::new(matcher, &sets[0], &sets[1]).unwrap();
        let pairs =
            |sets: &[Vec<_>; 2]| -> BTreeSet<_> { reference::find(&sets[0], &sets[1]).into_iter().collect() };
        let mut before = pairs(&sets);
        // One in this many regions of each side moves, and whether it moves near.
        let steps = [
            ([1, 1], true),
            ([97, 0], false),
            ([1, 1], false),
            ([0, 50], true),
            ([3, 4], true),
            ([1, 0], false),
            ([0, 1], true),
        ];
        for (step, (shares, near)) in
            (1..).zip(steps.into_iter().chain([([1, 3], false), ([1, 2], false), ([130, 130], true)]))
        {
            let moved = [0, 1].map(|side| -> Vec<(u32, Region<i32, D>)> {
                let share = u32::try_from(shares[side]).unwrap();
                let ids = (0..sizes[side]).filter(|id| share > 0 && id % share == step % share);
                let to = |id: u32| {
                    let seed = u64::from(id) + 100_000 * (side as u64 + 2 * u64::from(step));
                    let old = sets[side][id as usize];
                    let by: [i32; D] = std::array::from_fn(|d| mixed(seed * 8 + d as u64, 3) - 1);
                    let shift = |at: [i32; D]| std::array::from_fn(|d| at[d] + by[d]);
                    if near { Region::new(shift(old.lo), shift(old.hi)) } else { region(seed) }
                };
                ids.map(|id| (id, to(id))).collect()
            });
            for (set, moved) in sets.iter_mut().zip(&moved) {
                moved.iter().for_each(|(id, bounds)| set[*id as usize] = *bounds);
            }
            tune(&mut moving.moves);
            let changes = moving.update(&moved[0], &moved[1]).unwrap();
            let after = pairs(&sets);
            let what = format!("{D} dimensions, {sizes:?}, step {step}");
            assert_eq!(
                changes.began,
                after.difference(&before).copied().collect::<Vec<_>>(),
                "began, {what}"
            );
            assert_eq!(
                changes.ended,
                before.difference(&after).copied().collect::<Vec<_>>(),
                "ended, {what}"
            );
            before = after;
        }
        let mut all = moving.matches().unwrap().read().unwrap();
        all.sort_unstable();
        assert_eq!(all, before.into_iter().collect::<Vec<_>>(), "{D} dimensions, {sizes:?}");
    }

    #[test]
    fn every_way_of_a_step_finds_the_same() {
        let matcher = Matcher::new(&Gpu::for_test());
        let sources: [fn(&mut Moves); 4] = [
            // As with very many moves: few invocations for each query, queries by slots, and sorts
            // on the device.
            |moves| {
                (moves.tuning.many_queries, moves.tuning.many_of, moves.tuning.few_changes) =
                    (0, u32::MAX, 0);
                moves.tuning.most_of = 0;
            },
            |moves| {
                (moves.tuning.many_queries, moves.tuning.many_of, moves.tuning.few_changes) =
                    (u32::MAX, 1, u32::MAX);
                moves.tuning.most_of = 0;
            },
            // Matching from scratch if any region moves far; sometimes there are too many pairs for
            // it.
            |moves| moves.tuning.most_of = u32::MAX,
            |moves| {
                (moves.tuning.most_of, moves.tuning.most_pairs, moves.tuning.steps_without) =
                    (u32::MAX, 1 << 10, 1);
            },
        ];
        // Each size with each number of dimensions, and with three sources.
        let sizes = [[255, 257], [256, 16], [1, 300], [0, 5]];
        for (turn, query) in sources.into_iter().enumerate() {
            alternate::<1>(&matcher, sizes[turn], query);
            alternate::<2>(&matcher, sizes[(turn + 1) % 4], query);
            alternate::<3>(&matcher, sizes[(turn + 2) % 4], query);
        }
        alternate::<2>(&matcher, [513, 0], sources[0]);
        // More changes than the last step predicts: the device sorts them once that is known.
        alternate::<1>(&matcher, [256, 255], |moves| moves.tuning.few_changes = 1 << 10);
    }

    #[test]
    fn a_step_that_did_not_end_is_the_last() {
        let gpu = Gpu::new().unwrap();
        let regions: Vec<_> = (0..300).map(|i| Region::new([3 * i], [3 * i + 4])).collect();
        let mut moving = MovingRegions::new(&Matcher::new(&gpu), &regions, &regions).unwrap();
        // A step that is rejected before any move leaves everything unchanged.
        let far = Region::new([5_000], [5_001]);
        assert!(matches!(moving.update(&[(300, far)], &[]), Err(MatchingError::UnknownRegion { .. })));
        assert_eq!(moving.update(&[(0, far)], &[]).unwrap().ended.len(), 2);
        gpu.device().destroy();
        assert!(matches!(moving.update(&[(0, regions[0])], &[]), Err(MatchingError::Gpu(_))));
        assert!(matches!(moving.update(&[(0, regions[0])], &[]), Err(MatchingError::Unfinished)));
        assert!(matches!(moving.matches(), Err(MatchingError::Unfinished)));
    }

    /// Few pairs before a step and too many after it: the regions move back, and are looked up.
    #[test]
    fn too_many_pairs_for_a_list_are_looked_up() {
        let matcher = Matcher::new(&Gpu::for_test());
        let apart =
            |by: i32| -> Vec<_> { (0..300).map(|i| Region::new([3 * i + by], [3 * i + by + 1])).collect() };
        let together: Vec<_> = (0..300).map(|i| Region::new([-i], [1_000 + i])).collect();
        let rows = |set: &[Region<i32, 1>]| -> Vec<_> { (0..).zip(set.iter().copied()).collect() };
        let mut moving = MovingRegions::new(&matcher, &apart(0), &apart(1)).unwrap();
        let tuning = &mut moving.moves.tuning;
        (tuning.most_of, tuning.most_pairs, tuning.steps_without) = (u32::MAX, 400, 0);
        let (mut sets, mut listed) = ([apart(0), apart(1)], Vec::new());
        let places = [apart(5_000), apart(100), together, apart(0), apart(7_000), apart(7_000), apart(2_000)];
        for (step, place) in places.iter().enumerate() {
            let before = reference::find(&sets[0], &sets[1]);
            sets[step % 2].clone_from(place);
            let moved = rows(place);
            let (s, u) = if step % 2 == 0 { (&moved[..], &[][..]) } else { (&[][..], &moved[..]) };
            let changes = moving.update(s, u).unwrap();
            let after = reference::find(&sets[0], &sets[1]);
            let without = |list: &[[u32; 2]], other: &[[u32; 2]]| -> Vec<_> {
                let other: BTreeSet<_> = other.iter().collect();
                list.iter().filter(|pair| !other.contains(pair)).copied().collect()
            };
            assert_eq!(changes.began, without(&after, &before), "step {step}");
            assert_eq!(changes.ended, without(&before, &after), "step {step}");
            listed.push(moving.lists.as_ref().is_some_and(PairLists::is_known));
        }
        // The first step learns that all regions move far. The third finds too many pairs, and the
        // next two find too many before they move.
        assert_eq!(listed, [false, true, false, false, false, true, true]);
    }
}
