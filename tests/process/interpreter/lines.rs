//! What entities wait for, as plain collections: lines, resources, containers, stores; and what is
//! observed of them.

use std::collections::BTreeMap;

use eventhorizon::process::ir::Order;

/// An entity by its slot, from 0. Slots of entities that ended are used again, the last one first.
pub type Slot = u32;

/// A level with its area over the time since the warm-up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Level {
    pub value: i64,
    area: i128,
    /// The time since the warm-up up to which the area is complete.
    upto: u64,
}

impl Level {
    pub fn new(value: i64) -> Self {
        Self { value, ..Self::default() }
    }

    /// `age` is the time since the warm-up.
    pub fn set(&mut self, value: i64, age: u64) {
        *self = Self { value, area: self.area(age), upto: age };
    }

    pub fn add(&mut self, change: i64, age: u64) {
        self.set(self.value + change, age);
    }

    pub fn area(&self, age: u64) -> i128 {
        self.area + i128::from(self.value) * i128::from(age - self.upto)
    }
}

/// Observations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    pub sum: i128,
    pub count: u32,
    pub least: i64,
    pub most: i64,
    pub squares: u128,
}

impl Tally {
    pub fn observe(&mut self, value: i64) {
        let first = self.count == 0;
        self.least = if first { value } else { self.least.min(value) };
        self.most = if first { value } else { self.most.max(value) };
        self.sum += i128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value.unsigned_abs()).pow(2));
        self.count += 1;
    }
}

/// An entity in a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waiter {
    pub slot: Slot,
    pub priority: i32,
    /// Grows with the begin of the wait.
    pub number: u32,
    pub amount: u32,
}

/// Those that wait, the next one first.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiters {
    pub order: Order,
    pub all: Vec<Waiter>,
    pub length: Level,
}

impl Waiters {
    pub fn new(order: Order) -> Self {
        Self { order, all: Vec::new(), length: Level::default() }
    }

    pub fn enter(&mut self, waiter: Waiter, age: u64) {
        let behind = |other: &Waiter| match self.order {
            Order::Fifo => true,
            Order::Priority | Order::Preempt => {
                (other.priority, other.number) < (waiter.priority, waiter.number)
            }
        };
        let at = self.all.iter().position(|other| !behind(other)).unwrap_or(self.all.len());
        self.all.insert(at, waiter);
        self.length.add(1, age);
    }

    pub fn leave(&mut self, slot: Slot, age: u64) -> Waiter {
        let at = self.all.iter().position(|waiter| waiter.slot == slot).expect("it waits here");
        self.length.add(-1, age);
        self.all.remove(at)
    }

    pub fn first(&self) -> Option<Waiter> {
        self.all.first().copied()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub units: u32,
    /// A request for more is a fault.
    pub most: u32,
    /// Whether interruptible times end when there are fewer units than are held.
    pub shift: bool,
    pub in_use: Level,
    pub line: Waiters,
    /// Those in interruptible time. The last one is the first that is preempted.
    pub holders: Waiters,
}

impl Resource {
    /// Below 0 if units were taken away.
    pub fn free(&self) -> i64 {
        i64::from(self.units) - self.in_use.value
    }

    pub fn has(&self, amount: u32) -> bool {
        i64::from(amount) <= self.free()
    }

    /// Who is preempted now: all that are too many, or one for the first of the line.
    pub fn preempted(&self) -> Option<Waiter> {
        let last = self.holders.all.last().copied()?;
        if self.free() < 0 {
            return self.shift.then_some(last);
        }
        let first = self.line.first().filter(|first| !self.has(first.amount))?;
        (first.priority < last.priority).then_some(last)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    pub capacity: u32,
    pub content: Level,
    pub getters: Waiters,
    pub putters: Waiters,
}

impl Container {
    pub fn has(&self) -> u32 {
        u32::try_from(self.content.value).expect("a content")
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    pub capacity: u32,
    pub items: Waiters,
    pub givers: Waiters,
    pub takers: Waiters,
}

/// Which line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where<'m> {
    Resource(&'m str),
    /// In interruptible time.
    Holders(&'m str),
    Getters(&'m str),
    Putters(&'m str),
    Items(&'m str),
    Givers(&'m str),
    Takers(&'m str),
    Signal(&'m str),
    /// By the number of the statement.
    Condition(usize),
    Batch(usize),
}

/// All that entities share.
#[derive(Debug, Clone, Default)]
pub struct Places<'m> {
    pub resources: BTreeMap<&'m str, Resource>,
    pub containers: BTreeMap<&'m str, Container>,
    pub stores: BTreeMap<&'m str, Store>,
    pub signals: BTreeMap<&'m str, Waiters>,
    pub conditions: Vec<Waiters>,
    pub batches: Vec<Waiters>,
}

impl Where<'_> {
    /// What waits there, for reports of what was tested.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Resource(_) => "resource",
            Self::Holders(_) => "holders",
            Self::Getters(_) => "getters",
            Self::Putters(_) => "putters",
            Self::Items(_) => "items",
            Self::Givers(_) => "givers",
            Self::Takers(_) => "takers",
            Self::Signal(_) => "signal",
            Self::Condition(_) => "condition",
            Self::Batch(_) => "batch",
        }
    }
}

impl<'m> Places<'m> {
    pub fn line(&mut self, of: Where<'m>) -> &mut Waiters {
        const KNOWN: &str = "lower checks names";
        match of {
            Where::Resource(name) => &mut self.resources.get_mut(name).expect(KNOWN).line,
            Where::Holders(name) => &mut self.resources.get_mut(name).expect(KNOWN).holders,
            Where::Getters(name) => &mut self.containers.get_mut(name).expect(KNOWN).getters,
            Where::Putters(name) => &mut self.containers.get_mut(name).expect(KNOWN).putters,
            Where::Items(name) => &mut self.stores.get_mut(name).expect(KNOWN).items,
            Where::Givers(name) => &mut self.stores.get_mut(name).expect(KNOWN).givers,
            Where::Takers(name) => &mut self.stores.get_mut(name).expect(KNOWN).takers,
            Where::Signal(name) => self.signals.get_mut(name).expect(KNOWN),
            Where::Condition(number) => &mut self.conditions[number],
            Where::Batch(number) => &mut self.batches[number],
        }
    }
}
