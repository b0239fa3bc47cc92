//! The reference implementation of `shaders/statistics/time_average.wgsl`, and averages pooled on
//! the host.

use super::wide::{join, split};
use crate::time::Ticks;

shared! {
    "statistics/time_average.wgsl":
    /// The average of a level over time, with its smallest and largest value: a queue's length, the
    /// number of busy servers.
    ///
    /// A model stores it in its state, in the same 48 bytes on both sides: `struct TimeAverage` of
    /// `statistics/time_average.wgsl`, which is aligned to 16 bytes there. The default (and a
    /// zeroed one) is the level 0 from time 0 on; [`TimeAverage::since`] ignores a warm-up.
    ///
    /// A level counts if it lasts a tick or more; shorter levels have no effect. The level at the
    /// end of a run counts after [`at`](Self::at).
    ///
    /// Times must not decrease, and the level stays within 0 ..= [`u32::MAX`]. After a call that
    /// violates this, the average is invalid.
    ///
    /// ```
    /// use eventhorizon::statistics::TimeAverage;
    /// use eventhorizon::time::Ticks;
    ///
    /// let mut busy = TimeAverage::default();
    /// busy.add(Ticks::new(10), 1); // 0 for 10 ticks
    /// busy.add(Ticks::new(20), 2); // 1 for 10 ticks
    /// busy.set(Ticks::new(25), 0); // 3 for 5 ticks
    /// let day = busy.at(Ticks::new(50)); // 0 for 25 ticks
    /// assert_eq!((day.area(), day.span(), day.mean()), (Some(25), 50, Some(0.5)));
    /// assert_eq!((day.minimum(), day.maximum()), (Some(0), Some(3)));
    /// ```
    #[derive(Default, PartialEq, Eq, Hash)]
    pub struct TimeAverage {
        // Level times ticks. Of 128 bits, low half first; all ones after an invalid call.
        area: [u64; 2],
        since: Ticks,
        // The time up to which the level is known.
        changed: Ticks,
        level: u32,
        // Undefined while `changed` is not after `since`.
        minimum: u32,
        maximum: u32,
        unused: u32,
    }
}

impl TimeAverage {
    /// An average that begins at `time`, of a level that is `level` until it is changed. It may be
    /// changed before `time`; earlier levels do not count. WGSL: `time_average_since`.
    pub fn since(time: Ticks, level: u32) -> Self {
        Self { since: time, level, ..Self::default() }
    }

    /// Sets the level from `time` on. WGSL: `time_average_set`.
    pub fn set(&mut self, time: Ticks, level: u32) {
        let held = std::mem::replace(&mut self.level, level);
        if time < self.changed {
            self.area = split(u128::MAX);
            return;
        }
        let before = self.span();
        self.changed = time;
        let ticks = self.span() - before;
        if ticks > 0 {
            self.area = split(join(self.area).saturating_add(u128::from(held) * u128::from(ticks)));
            let (minimum, maximum) = (self.minimum.min(held), self.maximum.max(held));
            (self.minimum, self.maximum) = if before == 0 { (held, held) } else { (minimum, maximum) };
        }
    }

    /// Increases the level by `change` from `time` on. WGSL: `time_average_add`.
    pub fn add(&mut self, time: Ticks, change: i32) {
        let fits = self.level.checked_add_signed(change).is_some();
        self.set(time, self.level.saturating_add_signed(change));
        if !fits {
            self.area = split(u128::MAX);
        }
    }

    /// Extends the average up to `time` without a change of the level: for the end of a run. WGSL:
    /// `time_average_at`.
    #[must_use]
    pub fn at(mut self, time: Ticks) -> Self {
        self.set(time, self.level);
        self
    }

    /// The current level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Level times ticks over the span; `None` after an invalid call.
    pub fn area(&self) -> Option<u128> {
        // It fits: the level is below 2^32, and the span below 2^64.
        Some(join(self.area)).filter(|&area| area != u128::MAX)
    }

    /// The ticks that count: from the beginning of the average to the last call; 0 before it
    /// begins.
    pub fn span(&self) -> u64 {
        self.changed.get().saturating_sub(self.since.get())
    }

    /// The average level; `None` if nothing counts, or after an invalid call.
    pub fn mean(&self) -> Option<f64> {
        PooledAverage::from_iter([self]).mean()
    }

    /// The smallest level that counts; `None` as for [`mean`](Self::mean).
    pub fn minimum(&self) -> Option<u32> {
        self.counts().then_some(self.minimum)
    }

    /// The largest level that counts; `None` as for [`mean`](Self::mean).
    pub fn maximum(&self) -> Option<u32> {
        self.counts().then_some(self.maximum)
    }

    fn counts(&self) -> bool {
        self.span() > 0 && self.area().is_some()
    }
}

/// Time averages of several levels as one: of logical processes, or of replications.
///
/// Areas and spans add, so each tick of each level has the same weight: the mean is that of a level
/// per logical process, not of their total. (The mean of the total is the sum of their means; if
/// all have the same span, this mean times their number.) The smallest and largest are those of any
/// one.
///
/// ```
/// use eventhorizon::statistics::{PooledAverage, TimeAverage};
/// use eventhorizon::time::Ticks;
///
/// let levels = [(1, 10), (4, 20)].map(|(level, end)| TimeAverage::since(Ticks::ZERO, level).at(Ticks::new(end)));
/// let pooled: PooledAverage = levels.iter().collect();
/// assert_eq!((pooled.span(), pooled.mean(), pooled.maximum()), (30, Some(3.0), Some(4)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PooledAverage {
    area: u128,
    /// Whether one of them has no area.
    wrong: bool,
    span: u128,
    range: Option<(u32, u32)>,
}

impl PooledAverage {
    /// Adds an average as it is. Extend it first to the end of its run ([`TimeAverage::at`]), if it
    /// should count up to there.
    pub fn add(&mut self, average: &TimeAverage) {
        let range = average.minimum().zip(average.maximum());
        let (area, wrong) = (average.area().unwrap_or(0), average.area().is_none());
        self.merge(&Self { area, wrong, span: average.span().into(), range });
    }

    /// From an area over a span, with the smallest and the largest level; no area stands for an
    /// invalid call.
    pub(crate) fn of(area: Option<u128>, span: u128, range: (u32, u32)) -> Self {
        Self { area: area.unwrap_or(0), wrong: area.is_none(), span, range: Some(range) }
    }

    /// Adds all of another one.
    pub fn merge(&mut self, other: &Self) {
        // Below 2^96 each, so sums over all LPs fit.
        self.area = self.area.saturating_add(other.area);
        self.wrong |= other.wrong;
        self.span = self.span.saturating_add(other.span);
        self.range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (a, b) => a.or(b),
        };
    }

    /// Level times ticks, of all of them; `None` after an invalid call to one of them.
    pub fn area(&self) -> Option<u128> {
        (!self.wrong).then_some(self.area)
    }

    /// The ticks that count, of all of them.
    pub fn span(&self) -> u128 {
        self.span
    }

    /// The average level; `None` if nothing counts, or after an invalid call to one of them.
    #[expect(clippy::cast_precision_loss, reason = "rounded at the very end")]
    pub fn mean(&self) -> Option<f64> {
        let area = self.area()?;
        (self.span > 0).then(|| (area / self.span) as f64 + (area % self.span) as f64 / self.span as f64)
    }

    /// The smallest level that counts; `None` as for [`mean`](Self::mean).
    pub fn minimum(&self) -> Option<u32> {
        self.area().and(self.range).map(|(minimum, _)| minimum)
    }

    /// The largest level that counts; `None` as for [`mean`](Self::mean).
    pub fn maximum(&self) -> Option<u32> {
        self.area().and(self.range).map(|(_, maximum)| maximum)
    }
}

impl<'a> FromIterator<&'a TimeAverage> for PooledAverage {
    fn from_iter<I: IntoIterator<Item = &'a TimeAverage>>(averages: I) -> Self {
        let mut pooled = Self::default();
        averages.into_iter().for_each(|average| pooled.add(average));
        pooled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The level in each tick.
    #[derive(Default)]
    struct Watched(Vec<u32>);

    impl Watched {
        fn area(&self) -> u128 {
            self.0.iter().map(|&level| u128::from(level)).sum()
        }
    }

    /// Changes (ticks since the last one, level) from `begin` on, and the same tick by tick.
    fn watch(since: u64, first: u32, changes: &[(u64, u32)]) -> (TimeAverage, Watched) {
        let mut average = TimeAverage::since(Ticks::new(since), first);
        let (mut watched, mut now, mut level) = (Watched::default(), 0, first);
        for &(ticks, next) in changes {
            watched.0.extend((now..now + ticks).filter(|&tick| tick >= since).map(|_| level));
            (now, level) = (now + ticks, next);
            average.set(Ticks::new(now), next);
        }
        (average, watched)
    }

    fn changes() -> impl Strategy<Value = Vec<(u64, u32)>> {
        let level = prop_oneof![0..5_u32, any::<u32>()];
        proptest::collection::vec((prop_oneof![Just(0_u64), 0..30_u64], level), 0..20)
    }

    proptest! {
        #[test]
        fn the_average_is_that_over_ticks(since in 0..100_u64, first in 0..5_u32, changes in changes()) {
            let (average, watched) = watch(since, first, &changes);
            prop_assert_eq!(average.area(), Some(watched.area()));
            prop_assert_eq!(average.span(), watched.0.len() as u64);
            prop_assert_eq!(average.minimum(), watched.0.iter().min().copied());
            prop_assert_eq!(average.maximum(), watched.0.iter().max().copied());
            prop_assert_eq!(average.level(), changes.last().map_or(first, |&(_, level)| level));
            match average.mean() {
                None => prop_assert!(watched.0.is_empty()),
                Some(mean) => {
                    let expected = watched.area() as f64 / watched.0.len() as f64;
                    prop_assert!((mean - expected).abs() <= 1e-15 * expected, "{mean} {expected}");
                }
            }
        }

        #[test]
        fn pooling_is_watching_all(all in proptest::collection::vec((0..50_u64, changes()), 0..5)) {
            let all: Vec<_> = all.iter().map(|(since, changes)| watch(*since, 1, changes)).collect();
            let pooled: PooledAverage = all.iter().map(|(average, _)| average).collect();
            let ticks = || all.iter().flat_map(|(_, watched)| &watched.0);
            let area: u128 = all.iter().map(|(_, watched)| watched.area()).sum();
            prop_assert_eq!((pooled.area(), pooled.span()), (Some(area), ticks().count() as u128));
            prop_assert_eq!((pooled.minimum(), pooled.maximum()), (ticks().min().copied(), ticks().max().copied()));
            let mut halves = PooledAverage::from_iter(all[..all.len() / 2].iter().map(|(average, _)| average));
            halves.merge(&all[all.len() / 2..].iter().map(|(average, _)| average).collect());
            prop_assert_eq!(halves, pooled);
        }
    }

    #[test]
    fn the_largest_area_fits() {
        let largest = TimeAverage::since(Ticks::ZERO, u32::MAX).at(Ticks::NEVER);
        assert_eq!(largest.area(), Some(u128::from(u32::MAX) * u128::from(u64::MAX)));
        assert_eq!(largest.mean(), Some(f64::from(u32::MAX)));
        let pooled = PooledAverage::from_iter([&largest, &largest]);
        assert_eq!(pooled.mean(), Some(f64::from(u32::MAX)));
        assert_eq!(pooled.span(), 2 * u128::from(u64::MAX));
    }

    #[test]
    fn going_to_the_same_time_twice_changes_nothing() {
        let mut average = TimeAverage::default();
        average.set(Ticks::new(5), 3);
        let once = average.at(Ticks::new(9));
        assert_eq!(once.at(Ticks::new(9)), once);
        assert_eq!((once.area(), once.span()), (Some(12), 9));
    }

    #[test]
    fn what_is_wrong_has_no_average_and_stays_so() {
        let mut late = TimeAverage::default();
        late.set(Ticks::new(5), 3);
        let mut low = late;
        let mut high = late;
        let mut wrong = late.at(Ticks::new(4));
        low.add(Ticks::new(6), -4);
        high.set(Ticks::new(6), u32::MAX);
        high.add(Ticks::new(7), 1);
        assert_eq!((low.level(), high.level()), (0, u32::MAX));
        for average in [&mut wrong, &mut low, &mut high] {
            average.set(Ticks::new(10), 0);
            average.add(Ticks::new(20), 1);
            assert_eq!((average.area(), average.mean()), (None, None));
            assert_eq!((average.minimum(), average.maximum()), (None, None));
            let pooled = PooledAverage::from_iter([&late, average]);
            assert_eq!((pooled.area(), pooled.mean(), pooled.minimum()), (None, None, None));
        }
    }

    #[test]
    fn changes_add_up() {
        let mut average = TimeAverage::since(Ticks::new(2), 1);
        average.add(Ticks::new(3), 2);
        average.add(Ticks::new(4), -3);
        average.add(Ticks::new(5), i32::MAX);
        average.add(Ticks::new(5), i32::MAX);
        average.add(Ticks::new(6), i32::MIN);
        average.add(Ticks::new(6), i32::MIN + 2);
        let average = average.at(Ticks::new(8));
        assert_eq!(
            (average.area(), average.span(), average.level()),
            (Some(1 + 3 + u128::from(u32::MAX) - 1), 6, 0)
        );
        assert_eq!((average.minimum(), average.maximum()), (Some(0), Some(u32::MAX - 1)));
    }
}
