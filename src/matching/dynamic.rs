//! Regions that move between steps.

use std::collections::HashSet;
use std::marker::PhantomData;

use super::matches::Source;
use super::programs;
use super::region::{Coordinate, Region};
use super::set::{Columns, check};
use super::sweep::{ListParams, TILE, gather};
use super::work::Work;
use super::{Algorithm, Matcher, Matches, MatchingError};
use crate::gpu::{Buffer, Plan};

/// Two sets whose regions move: each step reports the pairs that began to overlap and those that ended.
///
/// A region's id is its index and never changes. A region that is not there for a while is one that is empty.
///
/// A step matches the moved regions only, with their bounds before and after, against the other side, so its
/// time follows their number: few of them are tested against all; for many, [`Algorithm::Auto`] orders the
/// other side first.
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
}

/// What a step changed. Each pair `[subscription, update]` comes once; the order is unspecified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Pairs that overlap now and did not before.
    pub began: Vec<[u32; 2]>,
    /// Pairs that overlapped before and do not now.
    pub ended: Vec<[u32; 2]>,
}

#[derive(Debug)]
struct Side<T, const D: usize> {
    /// Bounds as they are, and as they will be after the step at hand. The same between steps.
    now: Columns,
    next: Columns,
    /// By id, whether the region moves in the step at hand.
    flags: Buffer<u32>,
    /// By id, whether it is empty.
    empty: Vec<bool>,
    values: PhantomData<T>,
}

/// The moved regions of one side.
struct Moved {
    ids: Buffer<u32>,
    before: Columns,
    after: Columns,
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
        Ok(Self {
            matcher: matcher.clone(),
            subscriptions: Side::new(matcher, "subscriptions", subscriptions).await?,
            updates: Side::new(matcher, "updates", updates).await?,
        })
    }

    /// All pairs that overlap now.
    ///
    /// # Errors
    /// As [`Matcher::find`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn matches(&self) -> Result<Matches, MatchingError> {
        pollster::block_on(self.matches_async())
    }

    /// [`MovingRegions::matches`] without blocking.
    ///
    /// # Errors
    /// As [`Matcher::find`](Matcher::find_async).
    pub async fn matches_async(&self) -> Result<Matches, MatchingError> {
        self.matcher.matches(&self.subscriptions.now, &self.updates.now, Algorithm::Auto).await
    }

    /// Gives the listed regions new bounds and reports which overlaps began and which ended.
    ///
    /// # Errors
    /// [`MatchingError::UnknownRegion`], [`MatchingError::MovedTwice`], [`MatchingError::Inverted`] and
    /// [`MatchingError::NotANumber`] for the first region at fault: then nothing has moved. After
    /// [`MatchingError::Gpu`] the state is undefined.
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
        self.subscriptions.check(subscriptions)?;
        self.updates.check(updates)?;
        let s = self.subscriptions.advance(&self.matcher, subscriptions).await?;
        let u = self.updates.advance(&self.matcher, updates).await?;
        let mut changes = Changes::default();
        let (now, next) =
            ([&self.subscriptions.now, &self.updates.now], [&self.subscriptions.next, &self.updates.next]);
        if let Some(s) = &s {
            changes.ended.extend(self.lost([&s.before, now[1]], next, &s.ids, 0).await?);
            changes.began.extend(self.lost([&s.after, next[1]], now, &s.ids, 0).await?);
        }
        if let Some(u) = &u {
            changes.ended.extend(self.lost([now[0], &u.before], next, &u.ids, 1).await?);
            changes.began.extend(self.lost([next[0], &u.after], now, &u.ids, 1).await?);
        }
        self.subscriptions.settle(&self.matcher, s)?;
        self.updates.settle(&self.matcher, u)?;
        Ok(changes)
    }

    /// The pairs that overlap among `sets`, of which side `side` holds the moved regions `ids`, and do not
    /// among `others`, all regions at another time.
    async fn lost(
        &self,
        sets: [&Columns; 2],
        others: [&Columns; 2],
        ids: &Buffer<u32>,
        side: u32,
    ) -> Result<Vec<[u32; 2]>, MatchingError> {
        let kernels = self.matcher.kernels();
        let dims = sets[0].dims;
        let mut found = self.matcher.matches(sets[0], sets[1], Algorithm::Auto).await?;
        let mut lost = Vec::new();
        while let Some(page) = found.next_page_async().await? {
            let work = Work {
                count: programs::changes_count(dims, side),
                write: programs::changes_write(dims, side),
                inputs: vec![
                    ("subscriptions", others[0].keys.raw().clone()),
                    ("updates", others[1].keys.raw().clone()),
                    ("found", page.buffer().raw().clone()),
                    ("ids", ids.raw().clone()),
                    ("flags", self.subscriptions.flags.raw().clone()),
                ],
                sides: others.map(|set| set.count),
                candidates: page.len().into(),
                tasks: page.len().div_ceil(TILE),
                // 8·10^6 pairs, each of which reads two boxes from anywhere. A guess, not measured.
                unit: 4096,
            };
            let (placed, total) = work.count(kernels).await?;
            let mut pairs = Matches::new(kernels, total, Source::Placed(placed));
            lost.append(&mut pairs.read_async(|_| {}).await?);
        }
        Ok(lost)
    }
}

impl<T: Coordinate, const D: usize> Side<T, D> {
    async fn new(matcher: &Matcher, label: &str, regions: &[Region<T, D>]) -> Result<Self, MatchingError> {
        let now = matcher.upload_async(label, regions).await?.columns;
        let gpu = matcher.gpu();
        let keys = Buffer::storage(gpu, label, now.keys.len())?;
        let mut plan = Plan::new("copy regions");
        plan.copy("bounds", (now.keys.raw(), 0), (keys.raw(), 0), now.keys.raw().size());
        plan.submit(gpu)?;
        Ok(Self {
            flags: Buffer::storage(gpu, "moving regions", now.count.into())?,
            empty: regions.iter().map(Region::is_empty).collect(),
            next: Columns { keys, ..now.clone() },
            now,
            values: PhantomData,
        })
    }

    fn check(&self, moved: &[(u32, Region<T, D>)]) -> Result<(), MatchingError> {
        let mut seen = HashSet::with_capacity(moved.len());
        for (region, bounds) in moved {
            let set = || self.now.label.clone();
            if *region >= self.now.count {
                return Err(MatchingError::UnknownRegion {
                    set: set(),
                    region: *region,
                    regions: self.now.count,
                });
            }
            if !seen.insert(*region) {
                return Err(MatchingError::MovedTwice { set: set(), region: *region });
            }
            check(&self.now.label, *region, bounds)?;
        }
        Ok(())
    }

    /// Writes the new bounds to `next`.
    async fn advance(
        &mut self,
        matcher: &Matcher,
        moved: &[(u32, Region<T, D>)],
    ) -> Result<Option<Moved>, MatchingError> {
        if moved.is_empty() {
            return Ok(None);
        }
        let (ids, rows): (Vec<u32>, Vec<Region<T, D>>) = moved.iter().copied().unzip();
        let after = matcher.upload_async(&self.now.label, &rows).await?.columns;
        let mut filled_before = 0;
        for (id, row) in moved {
            let empty = &mut self.empty[*id as usize];
            filled_before += u32::from(!*empty);
            *empty = row.is_empty();
        }
        let ids = Buffer::storage_from(matcher.gpu(), "moved regions", &ids)?;
        let mut plan = Plan::new("regions move");
        let before = gather(matcher.kernels(), &mut plan, &self.now, &ids, after.count)?;
        let before = Columns { keys: before.columns, filled: filled_before, ..after.clone() };
        self.next.filled = self.now.filled - before.filled + after.filled;
        let moved = Moved { ids, before, after };
        moved.scatter(matcher, &mut plan, &self.next, &self.flags, 1)?;
        plan.submit(matcher.gpu())?;
        Ok(Some(moved))
    }

    /// Ends the step.
    fn settle(&mut self, matcher: &Matcher, moved: Option<Moved>) -> Result<(), MatchingError> {
        let Some(moved) = moved else { return Ok(()) };
        self.now.filled = self.next.filled;
        let mut plan = Plan::new("regions have moved");
        moved.scatter(matcher, &mut plan, &self.now, &self.flags, 0)?;
        plan.submit(matcher.gpu())?;
        Ok(())
    }
}

impl Moved {
    /// Adds to a plan that the new bounds are written into the columns of all, and `flag` for each that moved.
    fn scatter(
        &self,
        matcher: &Matcher,
        plan: &mut Plan,
        columns: &Columns,
        flags: &Buffer<u32>,
        flag: u32,
    ) -> Result<(), MatchingError> {
        let listed = self.after.count;
        matcher.kernels().add_each(
            plan,
            &programs::scatter(),
            listed,
            &ListParams { regions: columns.count, listed, columns: 2 * columns.dims, flag },
            &[
                ("ids", self.ids.raw()),
                ("moved", self.after.keys.raw()),
                ("targets", columns.keys.raw()),
                ("flags", flags.raw()),
            ],
        )
    }
}
