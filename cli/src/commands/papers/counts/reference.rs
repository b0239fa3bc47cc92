//! A plain count of what the sequential designs do, from their definitions in the paper (section
//! III) and not from their kernels: one LP that sends every event to itself.

use std::collections::{BTreeSet, VecDeque};

use eventhorizon::random::Stream;
use eventhorizon::time::Ticks;

use super::{AT_ONCE, ITERATIONS};

/// The time, the sender, and the number of the event that sent it.
pub(super) type Event = (Ticks, u32, u32);

/// What a queue did.
#[derive(Default)]
pub(super) struct Count {
    comparisons: u64,
    /// Slots read and written.
    accesses: u64,
    /// Sectors that an iteration reads, and that it writes, each counted once.
    sectors: u64,
    /// Those of this iteration.
    touched: BTreeSet<(usize, bool)>,
}

impl Count {
    fn before(&mut self, a: Event, b: Event) -> bool {
        self.comparisons += 1;
        a < b
    }

    fn touch(&mut self, slot: usize, writes: bool) {
        self.accesses += 1;
        // Two slots of 16 bytes are a sector.
        self.sectors += u64::from(self.touched.insert((slot / 2, writes)));
    }

    fn read(&mut self, slot: usize) {
        self.touch(slot, false);
    }

    fn write(&mut self, slot: usize) {
        self.touch(slot, true);
    }
}

/// A queue of one LP.
pub(super) trait Queue {
    fn push(&mut self, event: Event, count: &mut Count);
    /// The first event. The queue is not empty.
    fn first(&mut self, count: &mut Count) -> Event;
    fn pop(&mut self, count: &mut Count);
    fn is_empty(&self) -> bool;
}

/// Comparisons, bytes of slots and sectors for each executed event, in the iterations that
/// `super::count` counts.
#[expect(clippy::cast_precision_loss, reason = "averages")]
pub(super) fn counted(queue: &mut dyn Queue, population: u32, [mean, lookahead]: [Ticks; 2]) -> [f64; 3] {
    let half = (ITERATIONS * population).next_multiple_of(AT_ONCE);
    let mut stream = Stream::new(1, 0, 0);
    let mut mail: Vec<Event> = (0..population)
        .map(|number| {
            let time = stream.exponential(mean);
            // The draw of the destination.
            stream.below(1);
            (time, 0, number)
        })
        .collect();
    let (mut now, mut executed, mut count) = (Ticks::ZERO, 0, Count::default());
    let mut before = [0; 4];
    for iteration in 0..2 * half {
        if iteration == half {
            before = [count.comparisons, count.accesses, count.sectors, u64::from(executed)];
        }
        count.touched.clear();
        for event in mail.drain(..) {
            queue.push(event, &mut count);
        }
        let first = queue.first(&mut count);
        if first.0 >= now.saturating_add(lookahead) {
            now = first.0;
            continue;
        }
        queue.pop(&mut count);
        let mut stream = Stream::new(2, 0, executed.into());
        let sent = first.0.saturating_add(lookahead.saturating_add(stream.exponential(mean)));
        mail.push((sent, 0, population + executed));
        executed += 1;
        now = if queue.is_empty() { sent } else { sent.min(queue.first(&mut count).0) };
    }
    let after = [count.comparisons, count.accesses, count.sectors, u64::from(executed)];
    let [comparisons, accesses, sectors, events] = std::array::from_fn(|i| (after[i] - before[i]) as f64);
    [comparisons / events, 16.0 * accesses / events, sectors / events]
}

/// CB-SEQ: a ring in order. A new event moves the events between it and an end by one place.
pub(super) struct Ring {
    events: VecDeque<Event>,
    /// The slot of the first event.
    front: usize,
    capacity: usize,
    from_back: bool,
}

impl Ring {
    pub(super) fn new(capacity: u32, from_back: bool) -> Self {
        Self { events: VecDeque::new(), front: 0, capacity: capacity as usize, from_back }
    }

    /// A slot by its place in order. A queue has one slot before the ring.
    fn slot(&self, place: usize) -> usize {
        1 + (self.front + place) % self.capacity
    }
}

impl Queue for Ring {
    fn push(&mut self, event: Event, count: &mut Count) {
        let place = self.events.partition_point(|&other| other < event);
        let held = self.events.len();
        let moved = if self.from_back { held - place } else { place };
        // Each event that moves is compared, and the one at which it stops.
        let compared = (moved + 1).min(held);
        count.comparisons += compared as u64;
        if !self.from_back {
            self.front = (self.front + self.capacity - 1) % self.capacity;
        }
        for step in 0..compared {
            count.read(if self.from_back { self.slot(held - 1 - step) } else { self.slot(step + 1) });
        }
        for step in 0..=moved {
            count.write(if self.from_back { self.slot(held - step) } else { self.slot(step) });
        }
        self.events.insert(place, event);
    }

    fn first(&mut self, count: &mut Count) -> Event {
        count.read(self.slot(0));
        self.events[0]
    }

    fn pop(&mut self, _: &mut Count) {
        self.events.pop_front();
        self.front = (self.front + 1) % self.capacity;
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

/// CB-SEQ-SP: new events are appended; one pass for up to eight of them puts all in order.
pub(super) struct SinglePass {
    ring: Ring,
    /// The events in order, from the front on.
    sorted: usize,
}

impl SinglePass {
    pub(super) fn new(capacity: u32) -> Self {
        Self { ring: Ring::new(capacity, true), sorted: 0 }
    }

    fn settle(&mut self, count: &mut Count) {
        while self.sorted < self.ring.events.len() {
            let new: Vec<_> = (self.sorted..self.ring.events.len()).take(8).collect();
            let mut cache: Vec<Event> = Vec::new();
            for &place in &new {
                count.read(self.ring.slot(place));
                let event = self.ring.events[place];
                let after = cache.iter().filter(|&&other| event < other).count();
                count.comparisons += (after + 1).min(cache.len()) as u64;
                cache.insert(cache.len() - after, event);
            }
            for place in 0..self.sorted {
                count.read(self.ring.slot(place));
                let event = self.ring.events[place];
                if count.before(cache[0], event) {
                    count.write(self.ring.slot(place));
                    self.ring.events[place] = cache.remove(0);
                    let before = cache.iter().filter(|&&other| other < event).count();
                    count.comparisons += (before + 1).min(cache.len()) as u64;
                    cache.insert(before, event);
                }
            }
            for (place, event) in new.iter().zip(cache) {
                count.write(self.ring.slot(*place));
                self.ring.events[*place] = event;
            }
            self.sorted += new.len();
        }
    }
}

impl Queue for SinglePass {
    fn push(&mut self, event: Event, count: &mut Count) {
        count.write(self.ring.slot(self.ring.events.len()));
        self.ring.events.push_back(event);
    }

    fn first(&mut self, count: &mut Count) -> Event {
        self.settle(count);
        self.ring.first(count)
    }

    fn pop(&mut self, count: &mut Count) {
        self.settle(count);
        self.ring.pop(count);
        self.sorted = self.ring.events.len();
    }

    fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

/// The implicit heap: node n has the children 2n + 1 and 2n + 2. The root is in slot 1.
#[derive(Default)]
pub(super) struct Heap(Vec<Event>);

impl Queue for Heap {
    fn push(&mut self, event: Event, count: &mut Count) {
        self.0.push(event);
        let mut hole = self.0.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / 2;
            count.read(1 + parent);
            if !count.before(event, self.0[parent]) {
                break;
            }
            count.write(1 + hole);
            self.0.swap(hole, parent);
            hole = parent;
        }
        count.write(1 + hole);
    }

    fn first(&mut self, count: &mut Count) -> Event {
        count.read(1);
        self.0[0]
    }

    fn pop(&mut self, count: &mut Count) {
        let last = self.0.pop().expect("it is not empty");
        let held = self.0.len();
        if held == 0 {
            return;
        }
        count.read(1 + held);
        let (mut hole, mut child) = (0, 1);
        while child < held {
            // Both children are read and compared, also if the second is beyond the last event.
            count.read(1 + child);
            count.read(2 + child);
            count.comparisons += 1;
            let least = if child + 1 < held && self.0[child + 1] < self.0[child] { child + 1 } else { child };
            if !count.before(self.0[least], last) {
                break;
            }
            count.write(1 + hole);
            self.0[hole] = self.0[least];
            (hole, child) = (least, 2 * least + 1);
        }
        count.write(1 + hole);
        self.0[hole] = last;
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A tree of boxes, with the first event beside it. Only comparisons are counted.
#[derive(Default)]
pub(super) struct Splay {
    first: Option<Event>,
    tree: Tree,
}

type Tree = Option<Box<Node>>;

struct Node {
    event: Event,
    left: Tree,
    right: Tree,
}

fn node(left: Tree, event: Event, right: Tree) -> Tree {
    Some(Box::new(Node { event, left, right }))
}

/// The events not after `event` and those after it, as splay trees: two nodes at a time, which a
/// rotation first puts in a line.
fn split(tree: Tree, event: Event, count: &mut Count) -> (Tree, Tree) {
    let Some(top) = tree else { return (None, None) };
    let Node { event: own, left, right } = *top;
    if count.before(event, own) {
        let Some(child) = left else { return (None, node(None, own, right)) };
        let Node { event: below, left: first, right: middle } = *child;
        if count.before(event, below) {
            let (low, high) = split(first, event, count);
            return (low, node(high, below, node(middle, own, right)));
        }
        // The child goes to the other side; it is compared again as the next node.
        let (low, high) = split(node(first, below, middle), event, count);
        return (low, node(high, own, right));
    }
    let Some(child) = right else { return (node(left, own, None), None) };
    let Node { event: below, left: middle, right: last } = *child;
    if count.before(event, below) {
        let (low, high) = split(node(middle, below, last), event, count);
        return (node(left, own, low), high);
    }
    let (low, high) = split(last, event, count);
    (node(node(left, own, middle), below, low), high)
}

/// The first event, and the rest, splayed on the way.
fn take_least(tree: Node) -> (Event, Tree) {
    let Node { event: own, left, right } = tree;
    let Some(child) = left else { return (own, right) };
    let Node { event: below, left: first, right: middle } = *child;
    match first {
        None => (below, node(middle, own, right)),
        Some(first) => {
            let (least, rest) = take_least(*first);
            (least, node(rest, below, node(middle, own, right)))
        }
    }
}

impl Queue for Splay {
    fn push(&mut self, event: Event, count: &mut Count) {
        let Some(first) = self.first else {
            self.first = Some(event);
            return;
        };
        if count.before(event, first) {
            self.tree = node(None, first, self.tree.take());
            self.first = Some(event);
        } else {
            let (low, high) = split(self.tree.take(), event, count);
            self.tree = node(low, event, high);
        }
    }

    fn first(&mut self, _: &mut Count) -> Event {
        self.first.expect("it is not empty")
    }

    fn pop(&mut self, _: &mut Count) {
        let least = self.tree.take().map(|tree| take_least(*tree));
        (self.first, self.tree) = least.map_or((None, None), |(least, rest)| (Some(least), rest));
    }

    fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}
