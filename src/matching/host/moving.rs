//! Regions that move between steps, on the host.

use super::super::MatchingError;
use super::super::changes::Changes;
use super::super::region::{Bound, Region};
use super::super::set::{check, check_all};
use super::join::{Pairs, join};
use super::side::Side;

/// Two sets with moving regions: the host version of
/// [`MovingRegions`](crate::matching::MovingRegions).
///
/// A step with few moves matches the moved regions, before and after, with the other side. If more
/// than half of all regions move, everything is matched, and the pairs are stored for the next step
/// (8 bytes for each).
///
/// ```
/// use eventhorizon::matching::{MatchingError, Region, host};
///
/// let updates = [Region::new([20, 0], [25, 5]), Region::new([9, 9], [12, 12])];
/// let mut regions = host::MovingRegions::new(&[Region::new([0, 0], [10, 10])], &updates)?;
/// assert_eq!(regions.matches(), [[0, 1]]);
/// let changes = regions.update(&[], &[(0, Region::new([8, 0], [13, 5]))])?;
/// assert_eq!(changes.began, [[0, 0]]);
/// # Ok::<(), MatchingError>(())
/// ```
#[derive(Debug)]
pub struct MovingRegions<T, const D: usize> {
    subscriptions: Set<T, D>,
    updates: Set<T, D>,
    /// All pairs, in ascending order, if the last step matched everything.
    pairs: Option<Vec<[u32; 2]>>,
}

#[derive(Debug)]
struct Set<T, const D: usize> {
    label: &'static str,
    regions: Vec<Region<T, D>>,
    /// Whether each region moves in this step.
    moves: Vec<bool>,
}

impl<T: Bound, const D: usize> MovingRegions<T, D> {
    /// Copies both sets.
    ///
    /// # Errors
    /// As [`host::find`](super::find).
    pub fn new(subscriptions: &[Region<T, D>], updates: &[Region<T, D>]) -> Result<Self, MatchingError> {
        let subscriptions = Set::new("subscriptions", subscriptions)?;
        let updates = Set::new("updates", updates)?;
        Ok(Self { subscriptions, updates, pairs: None })
    }

    /// All pairs that overlap now, in ascending order.
    pub fn matches(&self) -> Vec<[u32; 2]> {
        match &self.pairs {
            Some(pairs) => pairs.clone(),
            None => self.find([Side::all(&self.subscriptions.regions), Side::all(&self.updates.regions)]),
        }
    }

    /// Gives the listed regions new bounds and reports which overlaps began and which ended.
    ///
    /// # Errors
    /// [`MatchingError::UnknownRegion`], [`MatchingError::MovedTwice`], [`MatchingError::Inverted`]
    /// and [`MatchingError::NotANumber`] for the first region at fault: then no region has moved.
    pub fn update(
        &mut self,
        subscriptions: &[(u32, Region<T, D>)],
        updates: &[(u32, Region<T, D>)],
    ) -> Result<Changes, MatchingError> {
        self.subscriptions.check(subscriptions)?;
        self.updates.check(updates)?;
        let moved = subscriptions.len() + updates.len();
        if moved == 0 {
            return Ok(Changes::default());
        }
        let all = self.subscriptions.regions.len() + self.updates.regions.len();
        let ids = [subscriptions, updates].map(|moved| moved.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let (before, after);
        if 2 * moved > all {
            before = self.pairs.take().unwrap_or_else(|| self.matches());
            self.advance(subscriptions, updates);
            after = self.matches();
        } else {
            self.pairs = None;
            for id in &ids[0] {
                self.subscriptions.moves[*id as usize] = true;
            }
            before = self.of_moved(&ids);
            self.advance(subscriptions, updates);
            after = self.of_moved(&ids);
            for id in &ids[0] {
                self.subscriptions.moves[*id as usize] = false;
            }
        }
        let changes = Changes { began: missing(&after, &before), ended: missing(&before, &after) };
        if 2 * moved > all {
            self.pairs = Some(after);
        }
        Ok(changes)
    }

    fn advance(&mut self, subscriptions: &[(u32, Region<T, D>)], updates: &[(u32, Region<T, D>)]) {
        for (set, moved) in [(&mut self.subscriptions, subscriptions), (&mut self.updates, updates)] {
            for (id, region) in moved {
                set.regions[*id as usize] = *region;
            }
        }
    }

    /// The pairs with a region among the moved ones.
    fn of_moved(&self, [subscriptions, updates]: &[Vec<u32>; 2]) -> Vec<[u32; 2]> {
        let (s, u) = (&self.subscriptions, &self.updates);
        let mut pairs = self.find([Side::some(&s.regions, subscriptions), Side::all(&u.regions)]);
        let mut others = self.find([Side::all(&s.regions), Side::some(&u.regions, updates)]);
        others.retain(|[subscription, _]| !s.moves[*subscription as usize]);
        pairs.append(&mut others);
        // Both lists are sorted: this sort only merges.
        pairs.sort();
        pairs
    }

    fn find(&self, sides: [Side<'_, T, D>; 2]) -> Vec<[u32; 2]> {
        use rayon::prelude::*;
        let mut pairs = join::<T, D, Pairs>(sides);
        pairs.par_sort_unstable();
        pairs
    }
}

impl<T: Bound, const D: usize> Set<T, D> {
    fn new(label: &'static str, regions: &[Region<T, D>]) -> Result<Self, MatchingError> {
        check_all(label, regions)?;
        Ok(Self { label, regions: regions.to_vec(), moves: vec![false; regions.len()] })
    }

    /// Checks that all of these can move.
    fn check(&mut self, moved: &[(u32, Region<T, D>)]) -> Result<(), MatchingError> {
        let Self { label, regions, moves } = self;
        let mut seen = 0;
        let outcome = moved.iter().try_for_each(|(id, region)| {
            let set = || (*label).to_owned();
            let count = u32::try_from(regions.len()).unwrap_or(u32::MAX);
            let Some(moves) = moves.get_mut(*id as usize) else {
                return Err(MatchingError::UnknownRegion { set: set(), region: *id, regions: count });
            };
            if std::mem::replace(moves, true) {
                return Err(MatchingError::MovedTwice { set: set(), region: *id });
            }
            seen += 1;
            check(label, *id, region)
        });
        for (id, _) in &moved[..seen] {
            moves[*id as usize] = false;
        }
        outcome
    }
}

/// The elements of the first list that the second one lacks. Both ascend.
fn missing(some: &[[u32; 2]], others: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let mut others = others.iter().peekable();
    let is_missing = |pair: &&[u32; 2]| {
        while others.next_if(|other| other < pair).is_some() {}
        others.peek() != Some(pair)
    };
    some.iter().filter(is_missing).copied().collect()
}
