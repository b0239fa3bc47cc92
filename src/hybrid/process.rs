//! Processes: async functions of an entity, which the engine polls when the time or message that
//! they wait for arrives.

use std::any::Any;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::entity::{Call, Cell, Context, Continuation, Entity, Filter, Incoming, ProcessId, Spawned};
use super::error::FaultKind;
use super::handler::{Handle, Handler};
use super::tree::ProcessLabel;
use crate::time::Ticks;

/// The interface of a process: it waits for a time, a message or the answer of a handler, and may
/// change its entity between two waits.
///
/// A process awaits only the functions here, one at a time. For other futures (a socket, a channel)
/// there is no waker, and the run ends with a fault. Local variables of a process are not part of
/// fingerprints; its changes to the entity are.
pub struct Process<E: Entity> {
    cell: Arc<Mutex<Cell<E>>>,
}

fn lock<E: Entity>(cell: &Mutex<Cell<E>>) -> MutexGuard<'_, Cell<E>> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E: Entity> Context<E> {
    /// Starts a process of this entity. It runs when the current call returns, up to its first
    /// wait. It has no parent, also if a process calls this: [`Process::spawn`] starts a child.
    pub fn spawn<F>(&mut self, process: impl FnOnce(Process<E>) -> F) -> ProcessId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_as(ProcessLabel::default(), process)
    }

    /// The same, with a name or a kind, by which [`Context::process`] and
    /// [`Context::processes_of_kind`] find it, and [`Context::kill_kind`] ends it. The name of a
    /// living process of this entity is a [`FaultKind::ProcessName`].
    pub fn spawn_as<F>(&mut self, label: ProcessLabel, process: impl FnOnce(Process<E>) -> F) -> ProcessId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_below(None, label, process)
    }

    fn spawn_below<F>(
        &mut self,
        parent: Option<u32>,
        label: ProcessLabel,
        process: impl FnOnce(Process<E>) -> F,
    ) -> ProcessId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = ProcessId(self.processes);
        self.processes = self.processes.checked_add(1).expect("2^32 processes of one entity");
        let name = label.name().unwrap_or_default().to_owned();
        if self.attached().tree.add(id.0, label, parent) {
            self.spawned.push(Spawned::new(id, process));
        } else {
            self.failed.get_or_insert(FaultKind::ProcessName { name });
        }
        id
    }
}

impl<E: Entity> Process<E> {
    /// The process itself, for [`Context::stop`] and [`Context::kill`].
    pub fn id(&self) -> ProcessId {
        ProcessId(lock(&self.cell).number)
    }

    /// Starts a child of this process. It runs when this process waits or ends, up to its first
    /// wait. [`Context::kill`] of this process, or of one above it, ends the child too.
    ///
    /// # Panics
    /// As [`Process::with`].
    pub fn spawn<F>(&self, process: impl FnOnce(Process<E>) -> F) -> ProcessId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_as(ProcessLabel::default(), process)
    }

    /// The same, with a name or a kind, as [`Context::spawn_as`].
    ///
    /// # Panics
    /// As [`Process::with`].
    pub fn spawn_as<F>(&self, label: ProcessLabel, process: impl FnOnce(Process<E>) -> F) -> ProcessId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let parent = Some(self.id().0);
        self.with(|_, context| context.spawn_below(parent, label, process))
    }

    /// Calls a function with the entity and its context.
    ///
    /// # Panics
    /// Outside the process: in another thread, or in a handler of the entity. The engine turns the
    /// panic into a fault.
    pub fn with<R>(&self, function: impl FnOnce(&mut E, &mut Context<E>) -> R) -> R {
        // Taken out, so that a nested call finds nothing instead of a deadlock.
        let lent = lock(&self.cell).lent.take();
        let (mut entity, mut context) =
            lent.expect("`Process::with` was called while the process was not running");
        let result = function(&mut entity, &mut context);
        lock(&self.cell).lent = Some((entity, context));
        result
    }

    /// The current time.
    ///
    /// # Panics
    /// As [`Process::with`].
    pub fn now(&self) -> Ticks {
        self.with(|_, context| context.now())
    }

    /// Waits for a time span. A wait of [`Ticks::NEVER`], or beyond the last tick, does not end.
    pub async fn wait(&self, span: Ticks) {
        self.wait_for(Wait::Event(Some(span), None)).await;
    }

    /// Waits for a message that passes the filter. If several processes of an entity wait for it,
    /// the first one spawned gets it.
    pub async fn receive(&self, filter: impl Fn(&E::Message) -> bool + Send + 'static) -> E::Message {
        match self.wait_for(Wait::Event(None, Some(Box::new(filter)))).await {
            Incoming::Message(message) => message,
            _ => unreachable!("it waits for a message"),
        }
    }

    /// The same, within a time span from now; `None` if that ends first. A message for its last
    /// tick comes before its end.
    pub async fn receive_within(
        &self,
        span: Ticks,
        filter: impl Fn(&E::Message) -> bool + Send + 'static,
    ) -> Option<E::Message> {
        match self.wait_for(Wait::Event(Some(span), Some(Box::new(filter)))).await {
            Incoming::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Calls a handler and waits for its answer, which is part of the current event: the time stays
    /// the same, and the entity executes no other event meanwhile. See [`Context::call`].
    pub async fn call<H: Handler>(&self, handler: Handle<H>, call: H::Call) -> H::Answer {
        match self.wait_for(Wait::Answer(handler.number(), Box::new(call))).await {
            Incoming::Answer(answer) => *answer.downcast().expect("a handler returns its `Answer` type"),
            _ => unreachable!("it waits for an answer"),
        }
    }

    async fn wait_for(&self, wait: Wait<E>) -> Incoming<E> {
        let mut begins = Some(wait);
        poll_fn(|_| {
            let mut cell = lock(&self.cell);
            if let Some(begun) = begins.take() {
                let (number, wait) = (cell.number, cell.waits);
                cell.twice |= cell.waits_now();
                cell.waits = wait.wrapping_add(1);
                cell.came = None;
                let (_, context) = cell.lent.as_mut().expect("it is polled by the engine");
                match begun {
                    Wait::Event(span, filter) => {
                        let time = span.map(|span| context.now.saturating_add(span));
                        let end = time.filter(|&time| time != Ticks::NEVER);
                        context.wakes.extend(end.map(|time| (time, number, wait)));
                        cell.filter = filter;
                        cell.until = span.map(|_| wait);
                    }
                    Wait::Answer(handler, call) => {
                        let answered = Continuation::Process(number);
                        context.calls.push(Call { handler, call, answered });
                        cell.calls = true;
                    }
                }
                return Poll::Pending;
            }
            match cell.came.take() {
                Some(came) => {
                    cell.ends_wait();
                    Poll::Ready(came)
                }
                None => Poll::Pending,
            }
        })
        .await
    }
}

/// What a process waits for.
enum Wait<E: Entity> {
    /// The end of a time span, or a message.
    Event(Option<Ticks>, Option<Filter<E>>),
    /// The answer to a call of the handler with this number.
    Answer(usize, Box<dyn Any + Send>),
}

impl<E: Entity> Cell<E> {
    fn waits_now(&self) -> bool {
        self.until.is_some() || self.filter.is_some() || self.calls
    }

    fn ends_wait(&mut self) {
        (self.until, self.filter, self.calls) = (None, None, false);
    }
}

impl<E: Entity> std::fmt::Debug for Process<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").finish_non_exhaustive()
    }
}

impl<E: Entity> Spawned<E> {
    pub(super) fn new<F>(id: ProcessId, process: impl FnOnce(Process<E>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let cell = Cell {
            lent: None,
            number: id.0,
            waits: 0,
            until: None,
            filter: None,
            calls: false,
            came: None,
            twice: false,
        };
        let cell = Arc::new(Mutex::new(cell));
        let future = Box::pin(process(Process { cell: Arc::clone(&cell) }));
        Self { id, cell, future }
    }

    pub(super) fn id(&self) -> ProcessId {
        self.id
    }

    /// Whether the process waits for this message.
    pub(super) fn takes(&self, message: &E::Message) -> bool {
        // User code runs without a lock: if it calls its process, it panics instead of a deadlock.
        let Some(filter) = lock(&self.cell).filter.take() else { return false };
        let takes = filter(message);
        lock(&self.cell).filter = Some(filter);
        takes
    }

    /// Whether the process is still in this wait.
    pub(super) fn waits(&self, wait: u32) -> bool {
        lock(&self.cell).until == Some(wait)
    }

    /// Ends the wait of the process.
    pub(super) fn ends_wait(&self, came: Incoming<E>) {
        let mut cell = lock(&self.cell);
        cell.came = Some(came);
        // Until it runs, it waits for nothing else.
        cell.ends_wait();
    }

    /// Runs the process up to its next wait, with its entity. True if it has ended.
    pub(super) fn run(
        &mut self,
        entity: &mut Option<E>,
        context: &mut Option<Context<E>>,
    ) -> Result<bool, FaultKind> {
        lock(&self.cell).lent = entity.take().zip(context.take());
        let polled = self.future.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop()));
        let mut cell = lock(&self.cell);
        let (back, lent) = cell.lent.take().expect("`with` gives back what it takes");
        *entity = Some(back);
        *context = Some(lent);
        if cell.twice || (polled.is_pending() && !cell.waits_now()) {
            return Err(FaultKind::Foreign);
        }
        Ok(polled.is_ready())
    }
}
