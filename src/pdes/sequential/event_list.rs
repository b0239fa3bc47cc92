//! The pending events of the sequential engine: a binary heap of the next events, and a list of the
//! others.
//!
//! In one heap of half a million events nearly every step down misses the caches. So the heap holds
//! only the events before a *border*. When it is empty, the border advances past an eighth of the
//! others. The order of the events is the same.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::time::Ticks;

use crate::pdes::{Event, Payload};

/// The border advances past one in this many of the events beyond it. Each event is inspected about
/// as often before it enters the heap.
const SHARE: usize = 8;

/// The border advances past at least this number of events, if there are as many: a heap of them
/// fits a cache.
const LEAST: usize = 4096;

/// An event and the LP that holds it. The first event is the greatest, as a max-heap requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HeldEvent<P> {
    event: Event<P>,
    lp: u32,
}

impl<P: Payload> Ord for HeldEvent<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.event, other.lp).cmp(&(&self.event, self.lp))
    }
}

impl<P: Payload> PartialOrd for HeldEvent<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // The heap compares with `le`. Times alone nearly always decide, and comparing them needs no
    // branch that a CPU might mispredict.
    fn le(&self, other: &Self) -> bool {
        match self.event.time == other.event.time {
            false => self.event.time > other.event.time,
            true => self.cmp(other) != Ordering::Greater,
        }
    }
}

/// All pending events.
#[derive(Debug)]
pub(in crate::pdes) struct EventList<P> {
    /// The events before the border; all events if `far` is empty.
    near: BinaryHeap<HeldEvent<P>>,
    /// The events from the border on, unordered. Empty if `near` is empty.
    far: Vec<HeldEvent<P>>,
    border: Ticks,
}

impl<P: Payload> EventList<P> {
    pub(in crate::pdes) fn new() -> Self {
        Self { near: BinaryHeap::new(), far: Vec::new(), border: Ticks::ZERO }
    }

    /// Inserts an event with a time before [`Ticks::NEVER`].
    pub(in crate::pdes) fn push(&mut self, lp: u32, event: Event<P>) {
        if self.near.is_empty() {
            self.border = after(event.time);
        }
        let held = HeldEvent { event, lp };
        match event.time < self.border {
            true => self.near.push(held),
            false => self.far.push(held),
        }
    }

    /// The time of the first event; `None` if no event is pending.
    pub(in crate::pdes) fn first(&self) -> Option<Ticks> {
        self.near.peek().map(|held| held.event.time)
    }

    /// Removes the first event if it is before `until`.
    pub(in crate::pdes) fn pop_before(&mut self, until: Ticks) -> Option<(u32, Event<P>)> {
        self.first().filter(|first| *first < until)?;
        let HeldEvent { event, lp } = self.near.pop()?;
        if self.near.is_empty() && !self.far.is_empty() {
            self.advance();
        }
        Some((lp, event))
    }

    /// All events, unordered.
    pub(in crate::pdes) fn iter(&self) -> impl Iterator<Item = (u32, Event<P>)> {
        self.near.iter().chain(&self.far).map(|held| (held.lp, held.event))
    }

    /// Advances the border past at least one of the events beyond it.
    fn advance(&mut self) {
        let time = |held: &HeldEvent<P>| held.event.time;
        let many = (self.far.len() / SHARE).max(LEAST).min(self.far.len() - 1);
        // The times before that index are no later than this one, and the times after it no
        // earlier.
        let last = time(self.far.select_nth_unstable_by_key(many, time).1);
        let first = self.far[..=many].iter().map(time).min().unwrap_or(last);
        // Includes all events at the last time if the list ends there, or if there is only one
        // time.
        let whole = many + 1 == self.far.len() || first == last;
        let border = if whole { after(last) } else { last };
        self.near = self.far.extract_if(.., |held| time(held) < border).collect::<Vec<_>>().into();
        self.border = border;
    }
}

impl<P: Payload> FromIterator<(u32, Event<P>)> for EventList<P> {
    fn from_iter<I: IntoIterator<Item = (u32, Event<P>)>>(all: I) -> Self {
        let mut list = Self::new();
        all.into_iter().for_each(|(lp, event)| list.push(lp, event));
        list
    }
}

/// The tick after a time.
fn after(time: Ticks) -> Ticks {
    time.saturating_add(Ticks::new(1))
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
                            list.push(word % 7, event);
                        }
                    },
                    Step::Pop(count, span) => {
                        let until = Ticks::new(now.saturating_add(span.into()));
                        for _ in 0..count {
                            let expected = set.first().copied().filter(|(event, _)| event.time < until);
                            prop_assert_eq!(list.first(), set.first().map(|(event, _)| event.time));
                            prop_assert_eq!(list.pop_before(until), expected.map(|(event, lp)| (lp, event)));
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
        list.push(1, Event { time: Ticks::new(9), payload: [0; 2] });
        for number in 0..50_000 {
            assert_eq!(list.pop_before(Ticks::NEVER), Some((0, event(number))));
        }
        assert_eq!(list.first(), Some(Ticks::new(9)));
        assert_eq!(list.pop_before(Ticks::new(9)), None);
        assert!(list.pop_before(Ticks::NEVER).is_some() && list.first().is_none());
    }
}
