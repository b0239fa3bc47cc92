//! A partition: the entities that one thread executes in a window.
//!
//! Entities do not interact within a window. So a partition takes the events of the window, sorts
//! them by entity and executes entity by entity; an entity's messages to itself within the window
//! are in a small heap. An event that calls handlers suspends its entity with the remaining events
//! of its window. Calls are answered when no entity of the rank can continue, or in streams
//! meanwhile; then suspended entities resume. An answer is part of its event, so no result depends
//! on windows and streams.

mod contents;

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Digest;
use super::entity::{Attached, Body, Context, Continuation, Entity, Event, Incoming, Spawned};
use super::error::{Fault, FaultKind, Full, panic_message};
use super::pending::{Pending, room};
use super::streams::{Answered, Seat, Streams, Waiting};
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
    /// The streams, if calls overlap with events.
    pub(super) streams: Option<Streams>,
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

/// What receives the answer of a call, and the answer.
type AnsweredCall<E> = (Continuation<E>, Option<Box<dyn Any + Send>>);

/// An entity that waits for the answers of handlers.
struct Suspended<E: Entity> {
    slot: u32,
    now: Ticks,
    stream: Stream,
    /// The calls of its event.
    calls: Vec<AnsweredCall<E>>,
    /// The number of calls without an answer.
    missing: usize,
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
    suspended: Vec<Option<Suspended<E>>>,
    /// The free places there.
    vacant: Vec<u32>,
    /// The calls of suspended entities that have not left.
    pub(super) calls: Vec<Waiting>,
    /// Events for other partitions of this rank, and messages for other ranks.
    pub(super) out: Vec<Vec<Event<E::Message>>>,
    pub(super) far: Vec<Vec<Mail<E::Message>>>,
    /// Events from other partitions, and lists to reuse.
    pub(super) inbox: Vec<Vec<Event<E::Message>>>,
    pub(super) spare: Vec<Vec<Event<E::Message>>>,
    /// Answers that have come.
    pub(super) answers: Vec<Answered>,
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
    /// While none of the entity's events is executed.
    attached: Option<Box<Attached<E>>>,
}

impl<E: Entity> Processes<E> {
    fn new() -> Box<Self> {
        Box::new(Self { running: Vec::new(), given: 0, attached: None })
    }
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
            vacant: Vec::new(),
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
        // Events at one time are counted within a window.
        self.now = Ticks::NEVER;
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

    /// Delivers the answers that have come, and continues the entities that have all of theirs.
    pub(super) fn answer(&mut self, shared: &Shared, end: Ticks) {
        for (Seat { entity: place, call, .. }, answer) in std::mem::take(&mut self.answers) {
            let waits = &mut self.suspended[place as usize];
            let entity = waits.as_mut().expect("it waits for this answer");
            entity.calls[call as usize].1 = Some(answer);
            entity.missing -= 1;
            if entity.missing > 0 {
                continue;
            }
            let entity = waits.take().expect("it was just there");
            self.vacant.push(place);
            self.own = entity.rest;
            self.enter(entity.slot, entity.now);
            self.context.as_mut().expect("no process runs").stream = entity.stream;
            // An answer to a call made in an answer counts as one more event at this time.
            let stalled = entity.stalled + 1;
            let handed = self.guarded(shared, |part| {
                if stalled > PATIENCE {
                    return Err(FaultKind::Stuck { events: stalled });
                }
                for (continuation, answer) in entity.calls {
                    let answer = answer.expect("no answer is missing");
                    match continuation {
                        Continuation::Function(answered) => {
                            part.with_entity(|entity, context| answered(entity, answer, context))?;
                        }
                        Continuation::Process(number) => {
                            let place = part.place(entity.slot, |process| process.id().0 == number);
                            let context = part.context.as_mut().expect("no process runs");
                            // An earlier answer of this event may have ended it.
                            let lives = context.attached().tree.lives(number);
                            if let Some(place) = place.filter(|_| lives) {
                                part.resume(entity.slot, place, Incoming::Answer(answer))?;
                            }
                        }
                    }
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
        self.enter(slot, now);
        let context = self.context.as_mut().expect("no process runs");
        context.number = self.executed[slot as usize];
        context.stream = Stream::new(shared.seed, context.name, context.number);
    }

    /// Makes an entity the current one.
    fn enter(&mut self, slot: u32, now: Ticks) {
        (self.at, self.now) = (slot, now);
        let context = self.context.as_mut().expect("no process runs");
        (context.now, context.name) = (now, self.names[slot as usize]);
        let processes = self.processes[slot as usize].as_mut();
        // Once per event, so that no two calls within it assign the same number.
        context.processes = processes.as_ref().map_or(0, |some| some.given);
        context.attached = processes.and_then(|some| some.attached.take());
    }

    /// The place of the first running process of an entity that has a property.
    fn place(&self, slot: u32, has: impl Fn(&Spawned<E>) -> bool) -> Option<usize> {
        self.processes[slot as usize].as_ref()?.running.iter().position(has)
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
                match self.place(slot, |process| process.takes(&message)) {
                    Some(index) => self.resume(slot, index, Incoming::Message(message))?,
                    None => self.receive(message)?,
                }
            }
            Body::Wake(number, wait) => {
                let here = |process: &Spawned<E>| process.id().0 == number && process.waits(wait);
                // The process was stopped, or a message came first: nothing happens.
                let Some(index) = self.place(slot, here) else { return Ok(StepEnd::Done) };
                self.fingerprint = self.fingerprint.wrapping_add(self.hash_wake(slot, time, number));
                self.count(shared, slot, time);
                self.resume(slot, index, Incoming::Time)?;
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

    /// Gives a message that no process waits for to a service, or to the entity.
    fn receive(&mut self, message: E::Message) -> Result<(), FaultKind> {
        let context = self.context.as_ref().expect("no process runs");
        let services = context.attached.as_ref().map_or(&[][..], |attached| &attached.services);
        let service = services.iter().find(|service| (service.takes)(&message));
        match service.map(|service| Arc::clone(&service.function)) {
            Some(service) => self.with_entity(|entity, context| service(entity, message, context)),
            None => self.with_entity(|entity, context| entity.receive(message, context)),
        }
    }

    /// Resumes a process after its wait.
    fn resume(&mut self, slot: u32, index: usize, came: Incoming<E>) -> Result<(), FaultKind> {
        let processes = self.processes[slot as usize].as_mut().expect("one of them waits");
        let process = &mut processes.running[index];
        process.ends_wait(came);
        if process.run(&mut self.entities[slot as usize], &mut self.context)? {
            let ended = processes.running.remove(index).id();
            self.context.as_mut().expect("it was given back").attached().tree.end(ended.0);
        }
        Ok(())
    }

    /// Processes the context after a call of the current entity.
    fn close(&mut self, shared: &Shared, end: Ticks, now: Ticks, stalled: u32) -> Result<StepEnd, FaultKind> {
        let slot = self.at;
        let name = self.names[slot as usize];
        self.processes(slot)?;
        let context = self.context.as_mut().expect("no process runs");
        if let Some(fault) = context.failed.take() {
            return Err(fault);
        }
        if let Some(attached) = context.attached.take() {
            self.processes[slot as usize].get_or_insert_with(Processes::new).attached = Some(attached);
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
        let entity = self.vacant.pop().unwrap_or_else(|| {
            self.suspended.push(None);
            u32::try_from(self.suspended.len() - 1).expect("at most one for each entity")
        });
        let mut calls = Vec::with_capacity(context.calls.len());
        for (number, call) in (0..).zip(context.calls.drain(..)) {
            let seat = Seat { part: self.number, entity, call: number };
            self.calls.push(Waiting { seat, handler: call.handler, call: call.call });
            calls.push((call.answered, None));
        }
        let mut rest = std::mem::take(&mut self.own);
        while self.batch.last().is_some_and(|event| event.slot == slot) {
            rest.extend(self.batch.pop().map(Reverse));
        }
        let (stream, missing) = (context.stream.clone(), calls.len());
        self.suspended[entity as usize] =
            Some(Suspended { slot, now, stream, calls, missing, rest, stalled });
        if let Some(streams) = &shared.streams {
            streams.add(self.calls.drain(..));
        }
        Ok(StepEnd::Waits)
    }

    /// Starts and ends processes of the current entity.
    fn processes(&mut self, slot: u32) -> Result<(), FaultKind> {
        loop {
            let context = self.context.as_mut().expect("no process runs");
            if context.spawned.is_empty() && !context.stopped {
                return Ok(());
            }
            let given = context.processes;
            let spawned = std::mem::take(&mut context.spawned);
            let processes = self.processes[slot as usize].get_or_insert_with(Processes::new);
            processes.given = processes.given.max(given);
            if std::mem::take(&mut context.stopped) {
                let tree = &context.attached().tree;
                processes.running.retain(|process| tree.lives(process.id().0));
            }
            for mut process in spawned {
                let id = process.id().0;
                let context = self.context.as_mut().expect("no process runs");
                // One that ran before may have ended it.
                if !context.attached().tree.lives(id) {
                    continue;
                }
                if !process.run(&mut self.entities[slot as usize], &mut self.context)? {
                    processes.running.push(process);
                } else if let Some(context) = &mut self.context {
                    context.attached().tree.end(id);
                }
            }
        }
    }
}
