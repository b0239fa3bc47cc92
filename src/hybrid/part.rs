//! A partition: the entities that one thread executes in a window.
//!
//! Entities do not interact within a window. So a partition takes the events of the window, sorts
//! them by entity and executes entity by entity; an entity's messages to itself within the window
//! are in a small heap. An event that calls handlers suspends its entity with the remaining events
//! of its window. When no entity of the rank can continue, the calls are answered and the suspended
//! entities resume. An answer is part of its event, so no result depends on windows.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Digest;
use super::entity::{Body, Context, Continuation, Entity, Event, Spawned};
use super::error::{Fault, FaultKind, Full, panic_message};
use super::pending::{Pending, room};
use crate::random::Stream;
use crate::time::Ticks;

shared! {
    "pdes/results/fingerprint.wgsl":
    const EXECUTED: u32 as DIGEST_EXECUTED;
    const STATE: u32 as DIGEST_STATE;
    const PENDING: u32 as DIGEST_PENDING;
}
/// An additional kind.
const WAKE: u32 = 5;

/// The maximum number of events of an entity at one time.
const PATIENCE: u32 = 1 << 20;

/// The location of an entity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    pub(super) rank: u32,
    /// Its partition on that rank, and its row there. Meaningless on other ranks.
    pub(super) part: u32,
    pub(super) slot: u32,
}

/// The data shared by all partitions of a rank.
#[derive(Debug)]
pub(super) struct Shared {
    /// The key of the streams.
    pub(super) seed: u64,
    pub(super) rank: u32,
    pub(super) lookahead: Ticks,
    pub(super) replica: u32,
    pub(super) entities: u32,
    /// The addresses of all entities; empty before they are created.
    pub(super) addresses: Vec<Address>,
}

impl Shared {
    fn context<E: Entity>(&self) -> Context<E> {
        Context::new(self.entities, self.lookahead, self.replica, self.seed)
    }
}

/// A message for another rank.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Mail<M> {
    pub(super) to: u32,
    pub(super) time: u64,
    pub(super) message: M,
}

/// A call that waits for its answer. Calls are in the order of the entities in `suspended`.
pub(super) struct Waiting {
    pub(super) handler: usize,
    pub(super) call: Box<dyn Any + Send>,
}

/// An entity that waits for the answers of handlers.
struct Suspended<E: Entity> {
    slot: u32,
    now: Ticks,
    stream: Stream,
    answered: Vec<Continuation<E>>,
    /// Its remaining events in the window.
    rest: BinaryHeap<Reverse<Event<E::Message>>>,
    /// The number of calls with answers at this time.
    stalled: u32,
}

pub(super) struct Part<E: Entity> {
    pub(super) names: Vec<u32>,
    /// `None` for an entity with a process that panicked.
    pub(super) entities: Vec<Option<E>>,
    /// Events executed by each entity.
    executed: Vec<u64>,
    processes: Vec<Option<Box<Processes<E>>>>,
    pending: Pending<E::Message>,
    /// `None` while a process runs.
    context: Option<Context<E>>,
    digest: Digest,
    /// The window's events, the last one first.
    batch: Vec<Event<E::Message>>,
    /// New events of the current entity within the window.
    own: BinaryHeap<Reverse<Event<E::Message>>>,
    suspended: Vec<Suspended<E>>,
    /// The calls of the suspended entities, one after the other.
    pub(super) calls: Vec<Waiting>,
    /// Events for other partitions of this rank, and messages for other ranks.
    pub(super) out: Vec<Vec<Event<E::Message>>>,
    pub(super) far: Vec<Vec<Mail<E::Message>>>,
    /// Events from other partitions, and lists to reuse.
    pub(super) inbox: Vec<Vec<Event<E::Message>>>,
    pub(super) spare: Vec<Vec<Event<E::Message>>>,
    /// The answers to `calls`.
    pub(super) answers: Vec<Box<dyn Any + Send>>,
    /// The earliest time sent to others since the window began.
    pub(super) sent: Ticks,
    /// Its index on this rank.
    number: u32,
    pub(super) events: u64,
    fingerprint: u64,
    pub(super) fault: Option<Fault>,
    pub(super) full: Option<Full>,
    /// The current entity, for a panic.
    at: u32,
    now: Ticks,
}

/// The processes of an entity, in the order of their numbers.
struct Processes<E: Entity> {
    running: Vec<Spawned<E>>,
    /// The number of processes spawned.
    given: u32,
}

/// Why an entity has stopped executing events.
enum StepEnd {
    Done,
    Waits,
}

impl<E: Entity> Part<E> {
    pub(super) fn new(number: u32, parts: usize, ranks: usize, shared: &Shared) -> Self {
        Self {
            names: Vec::new(),
            entities: Vec::new(),
            executed: Vec::new(),
            processes: Vec::new(),
            pending: Pending::new(shared.lookahead),
            context: Some(shared.context()),
            digest: Digest::default(),
            batch: Vec::new(),
            own: BinaryHeap::new(),
            suspended: Vec::new(),
            calls: Vec::new(),
            out: (0..parts).map(|_| Vec::new()).collect(),
            far: (0..ranks).map(|_| Vec::new()).collect(),
            inbox: Vec::new(),
            spare: Vec::new(),
            answers: Vec::new(),
            sent: Ticks::NEVER,
            number,
            events: 0,
            fingerprint: 0,
            fault: None,
            full: None,
            at: 0,
            now: Ticks::ZERO,
        }
    }

    pub(super) fn add(&mut self, name: u32, entity: E) -> u32 {
        let slot = u32::try_from(self.names.len()).expect("there are fewer than 2^32 entities");
        self.names.push(name);
        self.entities.push(Some(entity));
        self.executed.push(0);
        self.processes.push(None);
        slot
    }

    /// The earliest time of its pending and sent events.
    pub(super) fn first(&self) -> Ticks {
        // Events in its inbox are counted by the partition that sent them.
        self.pending.first().min(self.sent)
    }

    /// Starts all entities.
    pub(super) fn start(&mut self, shared: &Shared) {
        for slot in 0..u32::try_from(self.names.len()).expect("as many as names") {
            self.guarded(shared, |part| {
                part.open(shared, slot, Ticks::ZERO);
                part.with_entity(|entity, context| entity.start(context))?;
                part.close(shared, Ticks::ZERO, Ticks::ZERO, 0)
            });
        }
    }

    /// Executes the events before `end`, except those of entities that wait for answers.
    pub(super) fn window(&mut self, shared: &Shared, end: Ticks) {
        self.sent = Ticks::NEVER;
        let (mut batch, mut inbox) = (std::mem::take(&mut self.batch), std::mem::take(&mut self.inbox));
        let mut take = || {
            for event in inbox.iter_mut().flat_map(|list| list.drain(..)) {
                self.pending.push(event)?;
            }
            self.pending.take(end, &mut batch)
        };
        if let Err(full) = take() {
            self.full = Some(full);
        }
        batch.sort_unstable_by(|a, b| b.cmp(a));
        self.batch = batch;
        self.spare.append(&mut inbox);
        while let Some(slot) = self.batch.last().map(|event| event.slot) {
            self.turn(shared, end, slot, 0);
        }
    }

    /// Delivers the answers to all calls, in their order, and continues.
    pub(super) fn answer(&mut self, shared: &Shared, end: Ticks) {
        let mut answers = std::mem::take(&mut self.answers).into_iter();
        for entity in std::mem::take(&mut self.suspended) {
            let answers: Vec<_> = answers.by_ref().take(entity.answered.len()).collect();
            self.own = entity.rest;
            let context = self.context.as_mut().expect("no process runs");
            (context.now, context.name) = (entity.now, self.names[entity.slot as usize]);
            context.stream = entity.stream;
            (self.at, self.now) = (entity.slot, entity.now);
            context.processes = self.processes[entity.slot as usize].as_ref().map_or(0, |some| some.given);
            // An answer to a call made in an answer counts as one more event at this time.
            let stalled = entity.stalled + 1;
            let handed = self.guarded(shared, |part| {
                if stalled > PATIENCE {
                    return Err(FaultKind::Stuck { events: stalled });
                }
                for (answered, answer) in entity.answered.into_iter().zip(answers) {
                    part.with_entity(|entity, context| answered(entity, answer, context))?;
                }
                part.close(shared, end, entity.now, stalled)
            });
            match handed {
                Some(StepEnd::Done) => self.turn(shared, end, entity.slot, stalled),
                Some(StepEnd::Waits) | None => {}
            }
        }
    }

    /// Executes the events of one entity up to `end`, or up to an event that waits for answers.
    fn turn(&mut self, shared: &Shared, end: Ticks, slot: u32, stalled: u32) {
        let turn = self.guarded(shared, |part| {
            let mut stalled = stalled;
            loop {
                let theirs = part.batch.last().filter(|event| event.slot == slot);
                let own = part.own.peek().map(|Reverse(event)| event);
                let event = match (theirs, own) {
                    (Some(theirs), Some(own)) if own <= theirs => part.own.pop().map(|Reverse(event)| event),
                    (None, Some(_)) => part.own.pop().map(|Reverse(event)| event),
                    (Some(_), _) => part.batch.pop(),
                    (None, None) => return Ok(StepEnd::Done),
                };
                let Some(event) = event else { return Ok(StepEnd::Done) };
                stalled = if event.time == part.now && part.at == slot { stalled + 1 } else { 0 };
                if stalled > PATIENCE {
                    return Err(FaultKind::Stuck { events: stalled });
                }
                if let StepEnd::Waits = part.execute(shared, end, event, stalled)? {
                    return Ok(StepEnd::Waits);
                }
            }
        });
        if turn.is_none() {
            // The entity executes nothing more.
            while self.batch.last().is_some_and(|event| event.slot == slot) {
                self.batch.pop();
            }
        }
    }

    /// Runs a function for the current entity; `None` if it violated a rule or panicked.
    fn guarded<R>(
        &mut self,
        shared: &Shared,
        function: impl FnOnce(&mut Self) -> Result<R, FaultKind>,
    ) -> Option<R> {
        // A panic may leave the entity's state and its sent messages incomplete: the state is never
        // used again, and the messages are dropped.
        let done = catch_unwind(AssertUnwindSafe(|| function(self)));
        let kind = match done {
            Ok(Ok(result)) => return Some(result),
            Ok(Err(kind)) => kind,
            Err(panic) => FaultKind::Panic { message: panic_message(&*panic) },
        };
        self.own.clear();
        self.digest = Digest::default();
        self.context = Some(shared.context());
        let fault = Fault { entity: self.names[self.at as usize], time: self.now, kind };
        if self.fault.as_ref().is_none_or(|first| fault < *first) {
            self.fault = Some(fault);
        }
        None
    }

    /// Prepares the context for an event.
    fn open(&mut self, shared: &Shared, slot: u32, now: Ticks) {
        (self.at, self.now) = (slot, now);
        let name = self.names[slot as usize];
        let context = self.context.as_mut().expect("no process runs");
        (context.now, context.name) = (now, name);
        context.number = self.executed[slot as usize];
        context.stream = Stream::new(shared.seed, name, context.number);
        // Once per event, so that no two calls within it assign the same number.
        context.processes = self.processes[slot as usize].as_ref().map_or(0, |some| some.given);
    }

    fn with_entity(&mut self, function: impl FnOnce(&mut E, &mut Context<E>)) -> Result<(), FaultKind> {
        let entity = self.entities[self.at as usize].as_mut();
        let gone = || FaultKind::Failed { reason: "it failed before".to_owned() };
        let context = self.context.as_mut().expect("no process runs");
        function(entity.ok_or_else(gone)?, context);
        Ok(())
    }

    fn execute(
        &mut self,
        shared: &Shared,
        end: Ticks,
        event: Event<E::Message>,
        stalled: u32,
    ) -> Result<StepEnd, FaultKind> {
        let Event { slot, time, body } = event;
        match body {
            Body::Message(message) => {
                // Counted first, so that a panic belongs to this event.
                self.count(shared, slot, time);
                self.fingerprint = self.fingerprint.wrapping_add(self.hash(EXECUTED, slot, time, &message));
                let taker = self.processes[slot as usize].as_ref().and_then(|processes| {
                    processes.running.iter().position(|process| process.takes(&message))
                });
                match taker {
                    Some(index) => self.resume(slot, index, Some(message))?,
                    None => self.with_entity(|entity, context| entity.receive(message, context))?,
                }
            }
            Body::Wake(number, wait) => {
                let waiter = self.processes[slot as usize].as_ref().and_then(|processes| {
                    let here = |process: &Spawned<E>| process.id().0 == number && process.waits(wait);
                    processes.running.iter().position(here)
                });
                // The process was stopped, or a message came first: nothing happens.
                let Some(index) = waiter else { return Ok(StepEnd::Done) };
                self.fingerprint = self.fingerprint.wrapping_add(self.hash_wake(slot, time, number));
                self.count(shared, slot, time);
                self.resume(slot, index, None)?;
            }
        }
        self.close(shared, end, time, stalled)
    }

    fn count(&mut self, shared: &Shared, slot: u32, time: Ticks) {
        self.events += 1;
        // Stream 0 belongs to the start.
        self.executed[slot as usize] += 1;
        self.open(shared, slot, time);
    }

    fn hash(&mut self, kind: u32, slot: u32, time: Ticks, message: &E::Message) -> u64 {
        let [low, high] = time.to_words();
        self.digest.words([self.names[slot as usize], low, high]);
        self.digest.put(message);
        self.digest.finish(kind)
    }

    fn hash_wake(&mut self, slot: u32, time: Ticks, number: u32) -> u64 {
        let [low, high] = time.to_words();
        self.digest.words([self.names[slot as usize], low, high, number]);
        self.digest.finish(WAKE)
    }

    /// Resumes a process after its wait.
    fn resume(&mut self, slot: u32, index: usize, message: Option<E::Message>) -> Result<(), FaultKind> {
        let processes = self.processes[slot as usize].as_mut().expect("one of them waits");
        let process = &mut processes.running[index];
        process.ends_wait(message);
        if process.run(&mut self.entities[slot as usize], &mut self.context)? {
            processes.running.remove(index);
        }
        Ok(())
    }

    /// Processes the context after a call of the current entity.
    fn close(&mut self, shared: &Shared, end: Ticks, now: Ticks, stalled: u32) -> Result<StepEnd, FaultKind> {
        let slot = self.at;
        let name = self.names[slot as usize];
        self.processes(slot)?;
        let context = self.context.as_mut().expect("no process runs");
        if let Some(reason) = context.failed.take() {
            return Err(FaultKind::Failed { reason });
        }
        let begins = end == Ticks::ZERO;
        for (to, time, message) in context.sent.drain(..) {
            let Some(&address) = shared.addresses.get(to as usize) else {
                return Err(FaultKind::Destination { to, entities: shared.entities });
            };
            if time == Ticks::NEVER {
                return Err(FaultKind::Never { to });
            }
            let body = Body::Message(message);
            if to == name {
                if time < now {
                    return Err(FaultKind::Past { at: time });
                }
                let event = Event { slot, time, body };
                if time < end {
                    self.own.push(Reverse(event));
                } else if let Err(full) = self.pending.push(event) {
                    self.full = Some(full);
                }
                continue;
            }
            let least = now.saturating_add(shared.lookahead);
            if time < least && !begins {
                return Err(FaultKind::Lookahead { to, at: time, least });
            }
            let pushed = if address.rank != shared.rank {
                let Body::Message(message) = body else { unreachable!("it was built as a message") };
                self.sent = self.sent.min(time);
                let list = &mut self.far[address.rank as usize];
                room(list).map(|()| list.push(Mail { to, time: time.get(), message }))
            } else if address.part != self.number {
                self.sent = self.sent.min(time);
                let list = &mut self.out[address.part as usize];
                room(list).map(|()| list.push(Event { slot: address.slot, time, body }))
            } else {
                // The event is not before the window's end, up to which the pending events were
                // taken.
                self.pending.push(Event { slot: address.slot, time, body })
            };
            if let Err(full) = pushed {
                self.full = Some(full);
            }
        }
        for (time, number, wait) in context.wakes.drain(..) {
            let event = Event { slot, time, body: Body::Wake(number, wait) };
            if time < end {
                self.own.push(Reverse(event));
            } else if let Err(full) = self.pending.push(event) {
                self.full = Some(full);
            }
        }
        if context.calls.is_empty() {
            return Ok(StepEnd::Done);
        }
        let mut answered = Vec::with_capacity(context.calls.len());
        for call in context.calls.drain(..) {
            answered.push(call.answered);
            self.calls.push(Waiting { handler: call.handler, call: call.call });
        }
        let mut rest = std::mem::take(&mut self.own);
        while self.batch.last().is_some_and(|event| event.slot == slot) {
            rest.extend(self.batch.pop().map(Reverse));
        }
        let stream = context.stream.clone();
        self.suspended.push(Suspended { slot, now, stream, answered, rest, stalled });
        Ok(StepEnd::Waits)
    }

    /// Starts and ends processes of the current entity.
    fn processes(&mut self, slot: u32) -> Result<(), FaultKind> {
        let context = self.context.as_mut().expect("no process runs");
        if context.spawned.is_empty() && context.stopped.is_empty() {
            return Ok(());
        }
        loop {
            let context = self.context.as_mut().expect("no process runs");
            let given = context.processes;
            let mut spawned = std::mem::take(&mut context.spawned);
            let stopped = std::mem::take(&mut context.stopped);
            let none = || Box::new(Processes { running: Vec::new(), given: 0 });
            let processes = self.processes[slot as usize].get_or_insert_with(none);
            processes.given = processes.given.max(given);
            processes.running.retain(|process| !stopped.contains(&process.id()));
            spawned.retain(|process| !stopped.contains(&process.id()));
            if spawned.is_empty() {
                return Ok(());
            }
            for mut process in spawned {
                if !process.run(&mut self.entities[slot as usize], &mut self.context)? {
                    processes.running.push(process);
                }
            }
        }
    }

    /// This partition's part of the fingerprint.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut sum = self.fingerprint;
        let mut digest = Digest::default();
        for (&name, entity) in self.names.iter().zip(&self.entities) {
            if let Some(entity) = entity {
                digest.words([name]);
                entity.state(&mut digest);
                sum = sum.wrapping_add(digest.finish(STATE)).wrapping_add(entity.rows(name));
            }
        }
        let moving = self.inbox.iter().flatten();
        for event in self.pending.iter().chain(moving) {
            let [low, high] = event.time.to_words();
            digest.words([self.names[event.slot as usize], low, high]);
            match &event.body {
                Body::Message(message) => digest.put(message),
                // A wake-up that no process waits for any more does not count.
                &Body::Wake(number, wait) => {
                    let processes = self.processes[event.slot as usize].as_ref();
                    let waits = processes.is_some_and(|processes| {
                        processes
                            .running
                            .iter()
                            .any(|process| process.id().0 == number && process.waits(wait))
                    });
                    if !waits {
                        digest = Digest::default();
                        continue;
                    }
                    digest.words([number, u32::MAX]);
                }
            }
            sum = sum.wrapping_add(digest.finish(PENDING));
        }
        // After an error these were not sent.
        for mail in self.far.iter().flatten() {
            let [low, high] = Ticks::new(mail.time).to_words();
            digest.words([mail.to, low, high]);
            digest.put(&mail.message);
            sum = sum.wrapping_add(digest.finish(PENDING));
        }
        sum
    }

    /// Its entities with their names, and their numbers of executed events.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, &E, u64)> {
        let entities = self.names.iter().zip(&self.entities).zip(&self.executed);
        entities.filter_map(|((&name, entity), &executed)| Some((name, entity.as_ref()?, executed)))
    }

    /// The pending messages, with the names of their destinations, unordered.
    pub(super) fn messages(&self) -> impl Iterator<Item = (u32, Ticks, &E::Message)> {
        self.pending.iter().chain(self.inbox.iter().flatten()).filter_map(|event| match &event.body {
            Body::Message(message) => Some((self.names[event.slot as usize], event.time, message)),
            Body::Wake(..) => None,
        })
    }

    /// The executed events' part of the fingerprint.
    pub(super) fn digest(&self) -> u64 {
        self.fingerprint
    }

    /// Sets the number of executed events of an entity, and its pending messages.
    pub(super) fn put(
        &mut self,
        slot: u32,
        executed: u64,
        messages: impl Iterator<Item = (Ticks, E::Message)>,
    ) -> Result<(), Full> {
        self.executed[slot as usize] = executed;
        let mut events = messages.map(|(time, message)| Event { slot, time, body: Body::Message(message) });
        events.try_for_each(|event| self.pending.push(event))
    }

    /// Sets the number of events executed before, and their part of the fingerprint.
    pub(super) fn put_sums(&mut self, events: u64, fingerprint: u64) {
        (self.events, self.fingerprint) = (events, fingerprint);
    }

    /// Inserts a message from another rank.
    pub(super) fn deliver(&mut self, slot: u32, mail: Mail<E::Message>) -> Result<(), Full> {
        let event = Event { slot, time: Ticks::new(mail.time), body: Body::Message(mail.message) };
        self.pending.push(event)
    }
}
