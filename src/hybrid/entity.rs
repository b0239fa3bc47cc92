//! The elements of a host-engine model: entities, their messages, and their context.

use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Digest;
use super::error::FaultKind;
use super::handler::{Handle, Handler};
use super::tree::{ProcessLabel, ProcessTree};
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
    /// Whether it waits for the answer of a handler.
    pub(super) calls: bool,
    /// The reason why the wait ended.
    pub(super) came: Option<Incoming<E>>,
    /// Whether it started a wait during another one.
    pub(super) twice: bool,
}

pub(super) type Filter<E> = Box<dyn Fn(&<E as Entity>::Message) -> bool + Send>;

pub(super) enum Incoming<E: Entity> {
    Time,
    Message(E::Message),
    /// The answer of a handler.
    Answer(Box<dyn Any + Send>),
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

/// What receives the answer.
pub(super) enum Continuation<E: Entity> {
    Function(AnswerFn<E>),
    /// The process with this number.
    Process(u32),
}

pub(super) type AnswerFn<E> = Box<dyn FnOnce(&mut E, Box<dyn Any + Send>, &mut Context<E>) + Send>;

/// A service that was attached at run time.
pub(super) struct Service<E: Entity> {
    name: String,
    pub(super) takes: Filter<E>,
    pub(super) function: ServiceFn<E>,
}

/// Shared, because it may detach itself.
pub(super) type ServiceFn<E> = Arc<dyn Fn(&mut E, <E as Entity>::Message, &mut Context<E>) + Send + Sync>;

/// What belongs to an entity besides its state: the names of its processes, and its services.
pub(super) struct Attached<E: Entity> {
    pub(super) tree: ProcessTree,
    pub(super) services: Vec<Service<E>>,
}

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
    /// Whether processes were ended: those that are not in the tree any more.
    pub(super) stopped: bool,
    /// `None` if the entity has had no process and no service.
    pub(super) attached: Option<Box<Attached<E>>>,
    /// The number of the entity's next process.
    pub(super) processes: u32,
    pub(super) calls: Vec<Call<E>>,
    pub(super) failed: Option<FaultKind>,
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
            stopped: false,
            attached: None,
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

    /// Ends a process of this entity, wherever it waits, when the current call returns. Its
    /// children continue, as children of its parent. Has no effect on a process that has ended.
    pub fn stop(&mut self, process: ProcessId) {
        self.attached().tree.end(process.0);
        self.stopped = true;
    }

    /// Ends a process of this entity and all processes below it: its children
    /// ([`Process::spawn`](super::Process::spawn)), theirs, and so on. Returns how many it ended.
    pub fn kill(&mut self, process: ProcessId) -> usize {
        self.stopped = true;
        self.attached().tree.kill(process.0)
    }

    /// Ends all processes of a kind of this entity, each with all processes below it. Returns how
    /// many it ended.
    pub fn kill_kind(&mut self, kind: &str) -> usize {
        let processes = self.processes_of_kind(kind);
        processes.into_iter().map(|process| self.kill(process)).sum()
    }

    /// The living process of this entity with a name.
    pub fn process(&self, name: &str) -> Option<ProcessId> {
        self.attached.as_ref()?.tree.named(name).map(ProcessId)
    }

    /// The living processes of this entity that are of a kind, in the order in which they were
    /// spawned.
    pub fn processes_of_kind(&self, kind: &str) -> Vec<ProcessId> {
        let attached = self.attached.iter();
        attached.flat_map(|attached| attached.tree.of_kind(kind)).map(ProcessId).collect()
    }

    /// The living children of a process, in the order in which they were spawned.
    pub fn children(&self, process: ProcessId) -> Vec<ProcessId> {
        let attached = self.attached.iter();
        attached.flat_map(|attached| attached.tree.children(process.0)).map(ProcessId).collect()
    }

    /// The name and the kind of a process of this entity; `None` if it has ended.
    pub fn label(&self, process: ProcessId) -> Option<&ProcessLabel> {
        self.attached.as_ref()?.tree.label(process.0)
    }

    /// Whether a process of this entity has not ended.
    pub fn is_alive(&self, process: ProcessId) -> bool {
        self.label(process).is_some()
    }

    /// Attaches a service to this entity: from the next event on, it receives the messages that
    /// `takes` selects, unless a process waits for them. Of several services, the first one
    /// attached receives a message; [`Entity::receive`] gets those that no service takes.
    ///
    /// A second service with a name is a [`FaultKind::ServiceName`].
    pub fn attach(
        &mut self,
        name: impl Into<String>,
        takes: impl Fn(&E::Message) -> bool + Send + 'static,
        service: impl Fn(&mut E, E::Message, &mut Self) + Send + Sync + 'static,
    ) {
        let name = name.into();
        if self.has_service(&name) {
            self.failed.get_or_insert(FaultKind::ServiceName { name });
            return;
        }
        let service = Service { name, takes: Box::new(takes), function: Arc::new(service) };
        self.attached().services.push(service);
    }

    /// Detaches a service from this entity. False if it has none with this name.
    pub fn detach(&mut self, name: &str) -> bool {
        let services = &mut self.attached().services;
        let before = services.len();
        services.retain(|service| service.name != name);
        services.len() < before
    }

    /// Whether a service with this name is attached to this entity.
    pub fn has_service(&self, name: &str) -> bool {
        self.services().any(|service| service == name)
    }

    /// The names of the services attached to this entity, in the order in which they were attached.
    pub fn services(&self) -> impl Iterator<Item = &str> {
        self.attached.iter().flat_map(|attached| &attached.services).map(|service| service.name.as_str())
    }

    pub(super) fn attached(&mut self) -> &mut Attached<E> {
        let none = || Box::new(Attached { tree: ProcessTree::default(), services: Vec::new() });
        self.attached.get_or_insert_with(none)
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
        let answered: AnswerFn<E> = Box::new(move |entity, answer, context| {
            let answer = answer.downcast().expect("a handler returns its `Answer` type");
            answered(entity, *answer, context);
        });
        let answered = Continuation::Function(answered);
        self.calls.push(Call { handler: handler.number(), call: Box::new(call), answered });
    }

    /// Ends the run with a fault that has this reason.
    pub fn fail(&mut self, reason: impl Into<String>) {
        self.failed.get_or_insert(FaultKind::Failed { reason: reason.into() });
    }
}

impl<E: Entity> std::fmt::Debug for Context<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("now", &self.now).field("name", &self.name).finish_non_exhaustive()
    }
}
