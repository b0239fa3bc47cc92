//! Processes: async functions of an entity, which the engine polls when the time or message that
//! they wait for arrives.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::entity::{Cell, Context, Entity, Filter, Incoming, ProcessId, Spawned};
use super::error::FaultKind;
use crate::time::Ticks;

/// The interface of a process: it waits for a time or a message, and may change its entity between
/// two waits.
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
    /// wait.
    pub fn spawn<F>(&mut self, process: impl FnOnce(Process<E>) -> F) -> ProcessId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = ProcessId(self.processes);
        self.processes = self.processes.checked_add(1).expect("2^32 processes of one entity");
        self.spawned.push(Spawned::new(id, process));
        id
    }
}

impl<E: Entity> Process<E> {
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
        self.wait_for(Some(span), None).await;
    }

    /// Waits for a message that passes the filter. If several processes of an entity wait for it,
    /// the first one spawned gets it.
    pub async fn receive(&self, filter: impl Fn(&E::Message) -> bool + Send + 'static) -> E::Message {
        match self.wait_for(None, Some(Box::new(filter))).await {
            Incoming::Message(message) => message,
            Incoming::Time => unreachable!("it waits for no time"),
        }
    }

    /// The same, within a time span from now; `None` if that ends first. A message for its last
    /// tick comes before its end.
    pub async fn receive_within(
        &self,
        span: Ticks,
        filter: impl Fn(&E::Message) -> bool + Send + 'static,
    ) -> Option<E::Message> {
        match self.wait_for(Some(span), Some(Box::new(filter))).await {
            Incoming::Message(message) => Some(message),
            Incoming::Time => None,
        }
    }

    async fn wait_for(&self, span: Option<Ticks>, filter: Option<Filter<E>>) -> Incoming<E> {
        let mut asked = Some((span, filter));
        poll_fn(|_| {
            let mut cell = lock(&self.cell);
            if let Some((span, filter)) = asked.take() {
                let (number, wait) = (cell.number, cell.waits);
                cell.twice |= cell.until.is_some() || cell.filter.is_some();
                cell.waits = wait.wrapping_add(1);
                cell.came = None;
                cell.filter = filter;
                cell.until = span.map(|_| wait);
                if let Some(span) = span {
                    let (_, context) = cell.lent.as_mut().expect("it is polled by the engine");
                    let time = context.now.saturating_add(span);
                    if time != Ticks::NEVER {
                        context.wakes.push((time, number, wait));
                    }
                }
                return Poll::Pending;
            }
            match cell.came.take() {
                Some(came) => {
                    (cell.until, cell.filter) = (None, None);
                    Poll::Ready(came)
                }
                None => Poll::Pending,
            }
        })
        .await
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
        let cell =
            Cell { lent: None, number: id.0, waits: 0, until: None, filter: None, came: None, twice: false };
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

    /// Ends the wait of the process: `None` stands for the time.
    pub(super) fn ends_wait(&self, message: Option<E::Message>) {
        let mut cell = lock(&self.cell);
        cell.came = Some(message.map_or(Incoming::Time, Incoming::Message));
        // Until it runs, it waits for nothing else.
        (cell.until, cell.filter) = (None, None);
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
        if cell.twice || (polled.is_pending() && cell.until.is_none() && cell.filter.is_none()) {
            return Err(FaultKind::Foreign);
        }
        Ok(polled.is_ready())
    }
}
