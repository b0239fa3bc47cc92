//! The elements of a host-engine model: entities, their messages, and their context.

use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Digest;
use super::handler::{Handle, Handler};
use crate::random::Stream;
use crate::time::Ticks;

/// The type of messages between entities: usually an enum, with a variant for each service.
///
/// The order decides between messages for the same entity and time, so that the sender's thread or
/// rank does not matter. Messages that compare equal must be interchangeable, as they are with a
/// derived `Ord`. `Serialize` is used for fingerprints and to send messages to other ranks.
pub trait Message: Ord + Send + Serialize + DeserializeOwned + 'static {}

impl<T: Ord + Send + Serialize + DeserializeOwned + 'static> Message for T {}

/// A logical process: a state that only its own events change.
///
/// A simulation has entities of one type; use an enum for several kinds. Entities have names, 0, 1,
/// 2 and so on; the engine decides where an entity is stored.
///
/// An entity executes its smallest pending event: ordered by time, then messages by their order,
/// then waiting processes by their numbers. Messages to itself are pending at once, also for the
/// current time. Messages from others arrive with the next window, or, without a lookahead, with
/// the next round of the same time, as in [`pdes`](crate::pdes::Model).
///
/// Its behaviour must depend only on its state, the message, and the values and draws of
/// [`Context`].
pub trait Entity: Send + Sized + 'static {
    /// The type of its messages.
    type Message: Message;

    /// Called once, at time zero: sends the first messages and spawns the first processes. The
    /// lookahead does not apply to messages sent here.
    fn start(&mut self, context: &mut Context<Self>);

    /// Receives a message that none of its processes waits for.
    fn receive(&mut self, message: Self::Message, context: &mut Context<Self>);

    /// Adds the state to the fingerprint.
    fn state(&self, digest: &mut Digest);

    /// Adds more hashes to the fingerprint, to reproduce the fingerprint of another engine.
    #[doc(hidden)]
    fn rows(&self, name: u32) -> u64 {
        let _ = name;
        0
    }
}

/// The content of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Body<M> {
    Message(M),
    /// The end of a process's timed wait: the numbers of the process and of the wait.
    Wake(u32, u32),
}

/// An event of the entity in row `slot` of a partition. The order is the order of execution, entity
/// by entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event<M> {
    pub(super) slot: u32,
    pub(super) time: Ticks,
    pub(super) body: Body<M>,
}

/// The number of a process of its entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub(super) u32);

/// The data that a process and the engine share.
pub(super) struct Cell<E: Entity> {
    /// Present while the process runs.
    pub(super) lent: Option<(E, Context<E>)>,
    /// The number of the process at its entity, and the number of its next wait.
    pub(super) number: u32,
    pub(super) waits: u32,
    /// The current wait, if it ends at a time.
    pub(super) until: Option<u32>,
    /// The messages that it waits for.
    pub(super) filter: Option<Filter<E>>,
    /// The reason why the wait ended.
    pub(super) came: Option<Incoming<E>>,
    /// Whether it started a wait during another one.
    pub(super) twice: bool,
}

pub(super) type Filter<E> = Box<dyn Fn(&<E as Entity>::Message) -> bool + Send>;

pub(super) enum Incoming<E: Entity> {
    Time,
    Message(E::Message),
}

/// A process, as the engine holds it.
pub(super) struct Spawned<E: Entity> {
    pub(super) id: ProcessId,
    pub(super) cell: Arc<Mutex<Cell<E>>>,
    pub(super) future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// An event's call of a handler.
pub(super) struct Call<E: Entity> {
    pub(super) handler: usize,
    pub(super) call: Box<dyn Any + Send>,
    pub(super) answered: Continuation<E>,
}

/// The function that receives the answer.
pub(super) type Continuation<E> = Box<dyn FnOnce(&mut E, Box<dyn Any + Send>, &mut Context<E>) + Send>;

/// The functions that an entity may call while it handles an event.
pub struct Context<E: Entity> {
    pub(super) now: Ticks,
    pub(super) name: u32,
    pub(super) entities: u32,
    pub(super) lookahead: Ticks,
    pub(super) replica: u32,
    /// The key of the streams.
    pub(super) seed: u64,
    /// The number of the event at the entity.
    pub(super) number: u64,
    pub(super) stream: Stream,
    pub(super) sent: Vec<(u32, Ticks, E::Message)>,
    /// For each: the time, the number of the process, and the number of the wait.
    pub(super) wakes: Vec<(Ticks, u32, u32)>,
    pub(super) spawned: Vec<Spawned<E>>,
    pub(super) stopped: Vec<ProcessId>,
    /// The number of the entity's next process.
    pub(super) processes: u32,
    pub(super) calls: Vec<Call<E>>,
    pub(super) failed: Option<String>,
    /// What the entities of a partition share: nothing that a result depends on.
    pub(super) scratch: Option<Box<dyn Any + Send>>,
}

impl<E: Entity> Context<E> {
    pub(super) fn new(entities: u32, lookahead: Ticks, replica: u32, seed: u64) -> Self {
        Self {
            now: Ticks::ZERO,
            name: 0,
            entities,
            lookahead,
            replica,
            seed,
            number: 0,
            stream: Stream::new(0, 0, 0),
            sent: Vec::new(),
            wakes: Vec::new(),
            spawned: Vec::new(),
            stopped: Vec::new(),
            processes: 0,
            calls: Vec::new(),
            failed: None,
            scratch: None,
        }
    }

    /// The time of the current event; zero in [`Entity::start`].
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// The entity's own name.
    pub fn name(&self) -> u32 {
        self.name
    }

    /// The number of entities: their names are below it.
    pub fn entities(&self) -> u32 {
        self.entities
    }

    /// The minimum time from an event to a message for another entity.
    pub fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    /// The number of this run among the replications, which differ in their random streams:
    /// [`Replica::number`](crate::pdes::Replica::number).
    pub fn replica(&self) -> u32 {
        self.replica
    }

    /// The random stream of this event, selected by the seed, the entity, and the number of the
    /// event at the entity.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Sends a message that arrives at a time: from now on at the entity itself, at least the
    /// lookahead after now at others. If the time is too early, or the entity does not exist, the
    /// run ends with a [`Fault`](super::Fault).
    pub fn send(&mut self, to: u32, time: Ticks, message: E::Message) {
        self.sent.push((to, time, message));
    }

    /// Ends a process of this entity, wherever it waits, when the current call returns. Has no
    /// effect on a process that has ended.
    pub fn stop(&mut self, process: ProcessId) {
        self.stopped.push(process);
    }

    /// Calls a handler. The answer is part of this event: `answered` receives it at the same time,
    /// with the rest of the event's random stream, before the entity's next event. Answers of
    /// several calls arrive in the order of the calls. Other entities continue meanwhile.
    pub fn call<H: Handler>(
        &mut self,
        handler: Handle<H>,
        call: H::Call,
        answered: impl FnOnce(&mut E, H::Answer, &mut Self) + Send + 'static,
    ) {
        let answered: Continuation<E> = Box::new(move |entity, answer, context| {
            let answer = answer.downcast().expect("a handler returns its `Answer` type");
            answered(entity, *answer, context);
        });
        self.calls.push(Call { handler: handler.number(), call: Box::new(call), answered });
    }

    /// Ends the run with a fault that has this reason.
    pub fn fail(&mut self, reason: impl Into<String>) {
        self.failed.get_or_insert(reason.into());
    }
}

impl<E: Entity> std::fmt::Debug for Context<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("now", &self.now).field("name", &self.name).finish_non_exhaustive()
    }
}
