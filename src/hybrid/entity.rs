//! What a model of the host engine is made of: entities, their messages, and what they may do.

use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Digest;
use super::handler::{Handle, Handler};
use crate::random::Stream;
use crate::time::Ticks;

/// What entities send each other: usually an enum, with a variant for each service.
///
/// The order decides between messages for the same entity and time, so that who sent first, from
/// which thread or rank, does not matter: those that are equal in it must be interchangeable, as
/// they are where it is derived. `Serialize` makes fingerprints and carries messages to other
/// ranks.
pub trait Message: Ord + Send + Serialize + DeserializeOwned + 'static {}

impl<T: Ord + Send + Serialize + DeserializeOwned + 'static> Message for T {}

/// A logical process: a state that only its own events change.
///
/// A simulation has entities of one type; a model with several kinds of them has an enum. Entities
/// have names, 0, 1, 2 and so on; where an entity lies is the engine's business.
///
/// An entity executes the smallest event that it holds: by time, then messages by their order, then
/// processes that waited for that time, by their numbers. What it sends to itself it holds at once,
/// for the present time, too. What others send it arrives with the next window, and without a
/// lookahead with the next round of the same time, as in [`pdes`](crate::pdes::Model).
///
/// What it does must depend on nothing but its state, the message, and what [`Context`] tells and
/// draws.
pub trait Entity: Send + Sized + 'static {
    /// What it is sent.
    type Message: Message;

    /// Called once, at time zero: sends the first messages, spawns the first processes. What is
    /// sent here need not keep the lookahead.
    fn start(&mut self, context: &mut Context<Self>);

    /// A message that none of its processes waits for.
    fn receive(&mut self, message: Self::Message, context: &mut Context<Self>);

    /// Puts the state into the fingerprint.
    fn state(&self, digest: &mut Digest);

    /// Adds more hashes to the fingerprint: for those who rebuild that of another engine.
    #[doc(hidden)]
    fn rows(&self, name: u32) -> u64 {
        let _ = name;
        0
    }
}

/// What happens to an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Body<M> {
    Message(M),
    /// The time comes that a process waits for: its number, and that of the wait.
    Wake(u32, u32),
}

/// An event of the entity in row `slot` of a partition. The order is that of execution, entity by
/// entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event<M> {
    pub(super) slot: u32,
    pub(super) time: Ticks,
    pub(super) body: Body<M>,
}

/// A process among those of its entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub(super) u32);

/// What a process and the engine share.
pub(super) struct Cell<E: Entity> {
    /// While the process runs.
    pub(super) lent: Option<(E, Context<E>)>,
    /// The number of the process at its entity, and of its next wait.
    pub(super) number: u32,
    pub(super) waits: u32,
    /// The wait that it is in, if that ends at a time.
    pub(super) until: Option<u32>,
    /// The messages that it waits for.
    pub(super) filter: Option<Filter<E>>,
    /// What ended the wait.
    pub(super) came: Option<Incoming<E>>,
    /// Whether it began to wait while it waited.
    pub(super) twice: bool,
}

pub(super) type Filter<E> = Box<dyn Fn(&<E as Entity>::Message) -> bool + Send>;

pub(super) enum Incoming<E: Entity> {
    Time,
    Message(E::Message),
}

/// A process as the engine sees it.
pub(super) struct Spawned<E: Entity> {
    pub(super) id: ProcessId,
    pub(super) cell: Arc<Mutex<Cell<E>>>,
    pub(super) future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// A call of a handler that an event made.
pub(super) struct Call<E: Entity> {
    pub(super) handler: usize,
    pub(super) call: Box<dyn Any + Send>,
    pub(super) answered: Continuation<E>,
}

/// What is done with the answer.
pub(super) type Continuation<E> = Box<dyn FnOnce(&mut E, Box<dyn Any + Send>, &mut Context<E>) + Send>;

/// What an entity may use while it handles an event.
pub struct Context<E: Entity> {
    pub(super) now: Ticks,
    pub(super) name: u32,
    pub(super) entities: u32,
    pub(super) lookahead: Ticks,
    pub(super) replica: u32,
    pub(super) stream: Stream,
    pub(super) sent: Vec<(u32, Ticks, E::Message)>,
    /// When, the number of the process, and that of the wait.
    pub(super) wakes: Vec<(Ticks, u32, u32)>,
    pub(super) spawned: Vec<Spawned<E>>,
    pub(super) stopped: Vec<ProcessId>,
    /// The number of the entity's next process.
    pub(super) processes: u32,
    pub(super) calls: Vec<Call<E>>,
    pub(super) failed: Option<String>,
}

impl<E: Entity> Context<E> {
    pub(super) fn new(entities: u32, lookahead: Ticks, replica: u32) -> Self {
        Self {
            now: Ticks::ZERO,
            name: 0,
            entities,
            lookahead,
            replica,
            stream: Stream::new(0, 0, 0),
            sent: Vec::new(),
            wakes: Vec::new(),
            spawned: Vec::new(),
            stopped: Vec::new(),
            processes: 0,
            calls: Vec::new(),
            failed: None,
        }
    }

    /// The time of the present event; zero in [`Entity::start`].
    pub fn now(&self) -> Ticks {
        self.now
    }

    /// The entity's own name.
    pub fn name(&self) -> u32 {
        self.name
    }

    /// How many entities there are: their names are below that.
    pub fn entities(&self) -> u32 {
        self.entities
    }

    /// The least time from an event to a message for another entity.
    pub fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    /// The number of this run among those that differ in their random streams:
    /// [`Replica::number`](crate::pdes::Replica::number).
    pub fn replica(&self) -> u32 {
        self.replica
    }

    /// The random stream of this event, which is named by the seed, the entity, and the number of
    /// the event at the entity.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Sends a message that arrives at a time: from now on at the entity itself, at least the
    /// lookahead after now at others. Where it must not, or there is no entity of this name, the
    /// run ends with a [`Fault`](super::Fault).
    pub fn send(&mut self, to: u32, time: Ticks, message: E::Message) {
        self.sent.push((to, time, message));
    }

    /// Ends a process of this entity, wherever it waits, when the present call returns. One that
    /// has ended already is passed over.
    pub fn stop(&mut self, process: ProcessId) {
        self.stopped.push(process);
    }

    /// Calls a handler. The answer is part of this event: it is handed to `answered` at the same
    /// time, with the rest of the event's random stream, before the entity's next event; answers of
    /// several calls in the order of the calls. Other entities go on meanwhile.
    pub fn call<H: Handler>(
        &mut self,
        handler: Handle<H>,
        call: H::Call,
        answered: impl FnOnce(&mut E, H::Answer, &mut Self) + Send + 'static,
    ) {
        let answered: Continuation<E> = Box::new(move |entity, answer, context| {
            let answer = answer.downcast().expect("a handler answers with what its type says");
            answered(entity, *answer, context);
        });
        self.calls.push(Call { handler: handler.number(), call: Box::new(call), answered });
    }

    /// Ends the run with a fault that says why.
    pub fn fail(&mut self, reason: impl Into<String>) {
        self.failed.get_or_insert(reason.into());
    }
}

impl<E: Entity> std::fmt::Debug for Context<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("now", &self.now).field("name", &self.name).finish_non_exhaustive()
    }
}
