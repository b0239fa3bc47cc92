//! The pending events of the sequential engine: a binary heap of the first events, buckets of the
//! next ones by time, and a list of the others.
//!
//! A heap of many events mispredicts and misses caches at each step down. So the heap holds only
//! the events before a *border*. When it is empty, the next bucket becomes the heap; after the last
//! bucket, the first half of the others enters new buckets. A short list is one heap. The order of
//! the events is the same.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::time::Ticks;

use crate::pdes::contract::event::LpEvent;
use crate::pdes::{Event, Payload};

/// A list of up to this many events is one heap. It is parted beyond, and joined again below an
/// eighth.
const MOST_IN_HEAP: usize = 128;

/// The expected number of events of a bucket.
const PER_BUCKET: usize = 4;

/// The times of about this many events decide how far the buckets reach.
const SAMPLE: usize = 32;

/// The first event is the greatest, as a max-heap requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
struct HeldEvent<P>(LpEvent<P>);

impl<P: Payload> Ord for HeldEvent<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (HeldEvent(this), HeldEvent(other)) = (self, other);
        (&other.event, other.lp).cmp(&(&this.event, this.lp))
    }
}

impl<P: Payload> PartialOrd for HeldEvent<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // The heap compares with `le`. Times alone nearly always decide, and comparing them needs no
    // branch that a CPU might mispredict.
    fn le(&self, other: &Self) -> bool {
        match self.0.event.time == other.0.event.time {
            false => self.0.event.time > other.0.event.time,
            true => self.cmp(other) != Ordering::Greater,
        }
    }
}

/// All pending events.
#[derive(Debug)]
pub(in crate::pdes) struct EventList<P> {
    /// The events before the border. Empty only if the list is.
    near: BinaryHeap<HeldEvent<P>>,
    border: Ticks,
    /// The events from the border to `end`, by time. The first `next` are behind the border, and
    /// those from `used` on are unused: both are empty.
    buckets: Vec<Vec<HeldEvent<P>>>,
    next: usize,
    used: usize,
    /// The first time of the first bucket; a bucket is as long as 2 to the power of `shift` ticks.
    start: Ticks,
    shift: u32,
    /// The events from `end` on, unordered.
    far: Vec<HeldEvent<P>>,
    end: Ticks,
}

impl<P: Payload> EventList<P> {
    pub(in crate::pdes) fn new() -> Self {
        Self {
            near: BinaryHeap::new(),
            border: Ticks::NEVER,
            buckets: Vec::new(),
            next: 0,
            used: 0,
            start: Ticks::ZERO,
            shift: 0,
            far: Vec::new(),
            end: Ticks::NEVER,
        }
    }

    /// Inserts an event with a time before [`Ticks::NEVER`].
    #[inline]
    pub(in crate::pdes) fn push(&mut self, event: LpEvent<P>) {
        let (held, time) = (HeldEvent(event), event.event.time);
        if time < self.border {
            self.near.push(held);
            if self.near.len() > MOST_IN_HEAP && self.border == Ticks::NEVER {
                self.far = std::mem::take(&mut self.near).into_vec();
                self.refill();
            }
        } else if time < self.end {
            let bucket = self.bucket(time);
            self.buckets[bucket].push(held);
        } else {
            self.far.push(held);
        }
    }

    /// The bucket of a time from `start` until `end`.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer buckets than events")]
    fn bucket(&self, time: Ticks) -> usize {
        ((time.get() - self.start.get()) >> self.shift) as usize
    }

    /// The time of the first event; `None` if no event is pending.
    pub(in crate::pdes) fn first(&self) -> Option<Ticks> {
        self.near.peek().map(|held| held.0.event.time)
    }

    /// Removes the first event if it is before `until`.
    #[inline]
    pub(in crate::pdes) fn pop_before(&mut self, until: Ticks) -> Option<LpEvent<P>> {
        self.first().filter(|first| *first < until)?;
        let HeldEvent(event) = self.near.pop()?;
        if self.near.is_empty() {
            self.refill();
        }
        Some(event)
    }

    /// All events, unordered.
    pub(in crate::pdes) fn iter(&self) -> impl Iterator<Item = (u32, Event<P>)> {
        let buckets = self.buckets.iter().flatten();
        self.near.iter().chain(buckets).chain(&self.far).map(|HeldEvent(held)| (held.lp, held.event))
    }

    /// Moves the next events into the empty heap.
    fn refill(&mut self) {
        loop {
            while self.next < self.used {
                let bucket = &mut self.buckets[self.next];
                self.next += 1;
                if !bucket.is_empty() {
                    // Memory for many events stays in few places: buckets of equal times move.
                    let empty = std::mem::take(&mut self.near).into_vec();
                    let empty = if empty.capacity() > 16 * PER_BUCKET { Vec::new() } else { empty };
                    self.near = std::mem::replace(bucket, empty).into();
                    self.border = self.begin(self.next).min(self.end);
                    return;
                }
            }
            if self.far.len() <= MOST_IN_HEAP / 8 {
                self.near.extend(self.far.drain(..));
                (self.border, self.end) = (Ticks::NEVER, Ticks::NEVER);
                return;
            }
            self.fill_buckets();
        }
    }

    /// When a bucket begins.
    fn begin(&self, bucket: usize) -> Ticks {
        let ticks = u128::from(self.start.get()) + ((bucket as u128) << self.shift);
        u64::try_from(ticks).map_or(Ticks::NEVER, Ticks::new)
    }

    /// Moves about half of the events of `far`, the first ones, into the empty buckets.
    fn fill_buckets(&mut self) {
        let time = |held: &HeldEvent<P>| held.0.event.time;
        let mut sample: Vec<_> = self.far.iter().step_by(self.far.len().div_ceil(SAMPLE)).map(time).collect();
        sample.sort_unstable();
        let last = sample[sample.len() / 2];
        self.start = self.far.iter().map(time).min().expect("there are events");
        let ticks = last.get() - self.start.get();
        let most = (self.far.len() / (2 * PER_BUCKET)).next_power_of_two();
        self.shift = (u64::BITS - ticks.leading_zeros()).saturating_sub(most.ilog2());
        self.used = self.bucket(last) + 1;
        self.next = 0;
        self.end = self.begin(self.used);
        if self.buckets.len() < self.used {
            self.buckets.resize_with(self.used, Vec::new);
        }
        let mut at = 0;
        while at < self.far.len() {
            let held = self.far[at];
            if time(&held) < self.end {
                let bucket = self.bucket(time(&held));
                self.buckets[bucket].push(held);
                self.far.swap_remove(at);
            } else {
                at += 1;
            }
        }
    }
}

impl<P: Payload> FromIterator<(u32, Event<P>)> for EventList<P> {
    fn from_iter<I: IntoIterator<Item = (u32, Event<P>)>>(all: I) -> Self {
        let mut list = Self::new();
        all.into_iter().for_each(|(lp, event)| list.push(LpEvent { event, lp }));
        list
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        /// A number of events, within a number of ticks of the first.
        Push(u16, u16),
        /// A number of events, up to a number of ticks after the first.
        Pop(u16, u16),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..9000_u16, 1..5000_u16).prop_map(|(count, span)| Step::Push(count, span)),
            (0..9000_u16, 0..5000_u16).prop_map(|(count, span)| Step::Pop(count, span)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn events_come_in_the_order_of_a_sorted_set(steps in prop::collection::vec(step(), 1..12), base in prop_oneof![Just(0), Just(u64::MAX - 10_000)]) {
            let (mut list, mut set) = (EventList::<[u32; 2]>::new(), BTreeSet::new());
            let (mut random, mut now) = (1_u64, base);
            for step in steps {
                match step {
                    Step::Push(count, span) => for _ in 0..count {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let word = u32::try_from(random >> 40).unwrap();
                        let time = Ticks::new(now.saturating_add(u64::from(word) % u64::from(span)).min(u64::MAX - 1));
                        let event = Event { time, payload: [word % 3, word % 2] };
                        // Two events that are equal in all fields are interchangeable.
                        if set.insert((event, word % 7)) {
                            list.push(LpEvent { event, lp: word % 7 });
                        }
                    },
                    Step::Pop(count, span) => {
                        let until = Ticks::new(now.saturating_add(span.into()));
                        for _ in 0..count {
                            let expected = set.first().copied().filter(|(event, _)| event.time < until);
                            prop_assert_eq!(list.first(), set.first().map(|(event, _)| event.time));
                            prop_assert_eq!(list.pop_before(until), expected.map(|(event, lp)| LpEvent { event, lp }));
                            let Some(found) = expected else { break };
                            now = found.0.time.get();
                            set.remove(&found);
                        }
                    }
                }
                let mut held: Vec<_> = list.iter().map(|(lp, event)| (event, lp)).collect();
                held.sort_unstable();
                prop_assert_eq!(held, set.iter().copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn many_events_of_one_time_come_in_order() {
        let event = |number: u32| Event { time: Ticks::new(5), payload: [number, 0] };
        let mut list: EventList<[u32; 2]> = (0..50_000).rev().map(|number| (0, event(number))).collect();
        list.push(LpEvent { event: Event { time: Ticks::new(9), payload: [0; 2] }, lp: 1 });
        for number in 0..50_000 {
            assert_eq!(list.pop_before(Ticks::NEVER), Some(LpEvent { event: event(number), lp: 0 }));
        }
        assert_eq!(list.first(), Some(Ticks::new(9)));
        assert_eq!(list.pop_before(Ticks::new(9)), None);
        assert!(list.pop_before(Ticks::NEVER).is_some() && list.first().is_none());
    }

    #[test]
    fn memory_follows_the_events_held() {
        let event = |time: u64| Event { time: Ticks::new(time), payload: [0; 2] };
        let (ticking, others, mut random) = (2000, 20, 1_u64);
        let mut list: EventList<[u32; 2]> = (0..ticking + others).map(|lp| (lp, event(0))).collect();
        for _ in 0..100 * ticking {
            let LpEvent { event: Event { time, .. }, lp } = list.pop_before(Ticks::NEVER).unwrap();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let delay = if lp < ticking { 10_000 } else { 1 + (random >> 33) % 20_000 };
            list.push(LpEvent { event: event(time.get() + delay), lp });
        }
        let buckets = list.buckets.iter().map(Vec::capacity).sum::<usize>();
        let room = list.near.capacity() + list.far.capacity() + buckets;
        assert!(room < 16 * (ticking + others) as usize, "room for {room} events");
    }
}
