//! The pending events of a partition: a ladder queue (after Tang, Goh and Thng, 2005) with one
//! rung.
//!
//! Distant events are unordered. When all buckets are used up, new ones are built from them, none
//! much narrower than a window. A window takes most of its events bucket by bucket, and sorts them
//! itself. If it takes only a part of a bucket, the rest becomes a heap, so for each of many short
//! windows a long bucket costs its logarithm, not its length.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::entity::Event;
use super::error::Full;
use crate::time::Ticks;

/// The target number of events in a bucket, if windows are not longer.
const EVENTS: usize = 64;
/// The maximum number of buckets.
const BUCKETS: usize = 4096;
/// The maximum number of buckets in a window.
const IN_WINDOW: u64 = 32;

/// Orders events by time alone, the earliest as the greatest, as a max-heap requires.
#[derive(Debug)]
struct First<M>(Event<M>);

impl<M> Ord for First<M> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.time.cmp(&self.0.time)
    }
}

impl<M> PartialOrd for First<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> PartialEq for First<M> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<M> Eq for First<M> {}

/// Unordered events, and the earliest time among them.
#[derive(Debug)]
struct Bucket<M> {
    events: Vec<Event<M>>,
    first: u64,
}

impl<M> Default for Bucket<M> {
    fn default() -> Self {
        Self { events: Vec::new(), first: u64::MAX }
    }
}

impl<M> Bucket<M> {
    fn push(&mut self, event: Event<M>) -> Result<(), Full> {
        room(&mut self.events)?;
        self.first = self.first.min(event.time.get());
        self.events.push(event);
        Ok(())
    }
}

/// Reserves room for one more.
pub(super) fn room<T>(list: &mut Vec<T>) -> Result<(), Full> {
    if list.len() == list.capacity() {
        let more = list.len().max(16);
        list.try_reserve(more)
            .map_err(|_| Full { bytes: (list.len() + more) as u64 * size_of::<T>() as u64 })?;
    }
    Ok(())
}

/// The pending events of a partition.
#[derive(Debug)]
pub(super) struct Pending<M> {
    /// The events before the first remaining bucket.
    near: BinaryHeap<First<M>>,
    buckets: Vec<Bucket<M>>,
    /// The first remaining bucket.
    next: usize,
    /// The begin of the first of all buckets, and the logarithm of their width.
    base: u64,
    shift: u32,
    /// The events after the last bucket.
    later: Bucket<M>,
    /// The length of windows.
    window: u64,
}

impl<M> Pending<M> {
    pub(super) fn new(window: Ticks) -> Self {
        let later = Bucket::default();
        Self {
            near: BinaryHeap::new(),
            buckets: Vec::new(),
            next: 0,
            base: 0,
            shift: 0,
            later,
            window: window.get(),
        }
    }

    /// The begin of a bucket; `u64::MAX` if that exceeds the last tick.
    fn begin(&self, bucket: usize) -> u64 {
        let offset = (bucket as u128) << self.shift;
        u64::try_from(u128::from(self.base) + offset).unwrap_or(u64::MAX)
    }

    pub(super) fn push(&mut self, event: Event<M>) -> Result<(), Full> {
        let time = event.time.get();
        let bucket = match time.checked_sub(self.base) {
            Some(offset) => usize::try_from(offset >> self.shift).unwrap_or(usize::MAX),
            None => {
                self.near.push(First(event));
                return Ok(());
            }
        };
        if bucket >= self.buckets.len() {
            self.later.push(event)
        } else if bucket >= self.next {
            self.buckets[bucket].push(event)
        } else {
            self.near.push(First(event));
            Ok(())
        }
    }

    /// The time of the earliest event.
    pub(super) fn first(&self) -> Ticks {
        let near = self.near.peek().map(|first| first.0.time.get());
        let bucket = || self.buckets[self.next..].iter().find(|bucket| !bucket.events.is_empty());
        Ticks::new(near.or_else(|| bucket().map(|bucket| bucket.first)).unwrap_or(self.later.first))
    }

    /// All events, unordered.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Event<M>> {
        let buckets = self.buckets[self.next..].iter().flat_map(|bucket| &bucket.events);
        self.near.iter().map(|first| &first.0).chain(buckets).chain(&self.later.events)
    }

    /// Moves all events before `end` to `batch`.
    pub(super) fn take(&mut self, end: Ticks, batch: &mut Vec<Event<M>>) -> Result<(), Full> {
        let end = end.get();
        while self.near.peek().is_some_and(|first| first.0.time.get() < end) {
            room(batch)?;
            batch.extend(self.near.pop().map(|first| first.0));
        }
        loop {
            while self.next < self.buckets.len() && self.begin(self.next + 1) <= end {
                let bucket = &mut self.buckets[self.next];
                reserve(batch, bucket.events.len())?;
                batch.append(&mut bucket.events);
                bucket.first = u64::MAX;
                self.next += 1;
            }
            if self.next < self.buckets.len() {
                if self.begin(self.next) < end {
                    self.split(end, batch)?;
                }
                return Ok(());
            }
            if self.later.first >= end {
                return Ok(());
            }
            self.make_buckets()?;
        }
    }

    /// Splits the first bucket: events before `end` go to `batch`, the others to `near`.
    fn split(&mut self, end: u64, batch: &mut Vec<Event<M>>) -> Result<(), Full> {
        let bucket = &mut self.buckets[self.next];
        bucket.first = u64::MAX;
        self.next += 1;
        let mut near = std::mem::take(&mut self.near).into_vec();
        for event in bucket.events.drain(..) {
            if event.time.get() < end {
                room(batch)?;
                batch.push(event);
            } else {
                room(&mut near)?;
                near.push(First(event));
            }
        }
        self.near = near.into();
        Ok(())
    }

    /// Builds buckets from the later events.
    fn make_buckets(&mut self) -> Result<(), Full> {
        let mut events = std::mem::take(&mut self.later.events);
        let first = std::mem::replace(&mut self.later.first, u64::MAX);
        let sum: u128 = events.iter().map(|event| u128::from(event.time.get() - first)).sum();
        let span = u64::try_from(2 * (sum / events.len().max(1) as u128)).unwrap_or(u64::MAX).max(1);
        let count = (events.len() / EVENTS).clamp(1, BUCKETS) as u64;
        let width = (span / count).max((self.window / IN_WINDOW).min(span)).max(1);
        self.shift = u64::BITS - (width - 1).leading_zeros();
        self.shift = self.shift.min(63);
        let count = usize::try_from((span >> self.shift) + 1)
            .expect("hardly more than the maximum number of buckets");
        self.base = first;
        self.next = 0;
        self.buckets.resize_with(count, Bucket::default);
        for event in events.drain(..) {
            self.push(event)?;
        }
        // Reuses the memory.
        if self.later.events.is_empty() {
            self.later.events = events;
        }
        Ok(())
    }
}

fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<(), Full> {
    list.try_reserve(more).map_err(|_| Full { bytes: (list.len() + more) as u64 * size_of::<T>() as u64 })
}

#[cfg(test)]
mod tests {
    use super::super::entity::Body;
    use super::*;
    use crate::random::Stream;
    use proptest::prelude::*;

    fn event(time: u64) -> Event<u32> {
        Event { slot: 0, time: Ticks::new(time), body: Body::Message(0) }
    }

    /// Compares with a sorted list: the events of windows, and the first event.
    fn check(window: u64, delays: impl Fn(&mut Stream) -> u64, population: u64) {
        let mut stream = Stream::new(1, 2, window);
        let mut pending = Pending::new(Ticks::new(window));
        let mut expected: Vec<u64> = (0..population).map(|_| delays(&mut stream)).collect();
        expected.iter().for_each(|&time| pending.push(event(time)).unwrap());
        for _ in 0..60 {
            expected.sort_unstable();
            assert_eq!(pending.iter().count(), expected.len());
            let first = expected.first().map_or(Ticks::NEVER, |&time| Ticks::new(time));
            assert_eq!(pending.first(), first);
            if first == Ticks::NEVER {
                return;
            }
            let end = first.get().saturating_add(window);
            let mut batch = Vec::new();
            pending.take(Ticks::new(end), &mut batch).unwrap();
            let mut taken: Vec<_> = batch.iter().map(|event| event.time.get()).collect();
            taken.sort_unstable();
            let rest = expected.partition_point(|&time| time < end);
            assert_eq!(taken, expected[..rest]);
            expected.drain(..rest);
            for _ in 0..taken.len() {
                let time = end.saturating_add(delays(&mut stream)).min(u64::MAX - 1);
                pending.push(event(time)).unwrap();
                expected.push(time);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn windows_take_what_is_theirs(window in 1..5000_u64, spread in 1..20_000_u32, population in 0..3000_u64) {
            check(window, |stream| stream.below(spread).into(), population);
        }
    }

    #[test]
    fn times_at_the_ends_and_heavy_tails() {
        check(1, |stream| if stream.below(2) == 0 { stream.below(5).into() } else { u64::MAX - 2 }, 500);
        check(u64::MAX, |stream| u64::from(stream.draw()) << 31, 1000);
        check(1 << 20, |stream| 1 << stream.below(63), 2000);
        check(3, |_| 0, 400);
    }
}
