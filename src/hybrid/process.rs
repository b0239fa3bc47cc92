//! Processes: async functions of an entity, which the engine polls when the time or the message
//! comes that they wait for.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::entity::{Cell, Context, Entity, Filter, Incoming, ProcessId, Spawned};
use super::error::FaultKind;
use crate::time::Ticks;

/// What a process has in its hands: it waits for a time or a message, and between two waits it may
/// change its entity.
///
/// A process awaits what is here, one at a time. What belongs to something else (a socket, a
/// channel) nobody would wake it for: the run ends with a fault. What variables of a process hold
/// is no part of fingerprints; what it leaves in its entity is.
pub struct Process<E: Entity> {
    cell: Arc<Mutex<Cell<E>>>,
}

fn lock<E: Entity>(cell: &Mutex<Cell<E>>) -> MutexGuard<'_, Cell<E>> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E: Entity> Context<E> {
    /// Begins a process of this entity, which runs when the present call returns, up to the first
    /// thing that it waits for.
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
    /// Does something with the entity, now.
    ///
    /// # Panics
    /// Outside the process: in another thread, or in a handler of the entity. The engine makes a
    /// fault of it.
    pub fn with<R>(&self, function: impl FnOnce(&mut E, &mut Context<E>) -> R) -> R {
        // Taken out, so that a call within the call finds nothing, instead of waiting for itself.
        let lent = lock(&self.cell).lent.take();
        let (mut entity, mut context) =
            lent.expect("`Process::with` is called where the process does not run");
        let result = function(&mut entity, &mut context);
        lock(&self.cell).lent = Some((entity, context));
        result
    }

    /// The time.
    ///
    /// # Panics
    /// As [`Process::with`].
    pub fn now(&self) -> Ticks {
        self.with(|_, context| context.now())
    }

    /// Waits for so long. A wait of [`Ticks::NEVER`], or beyond the last tick, does not end.
    pub async fn wait(&self, span: Ticks) {
        self.wait_for(Some(span), None).await;
    }

    /// Waits for a message that passes the filter. Of several processes of an entity that wait for
    /// it, the one that was spawned first gets it.
    pub async fn receive(&self, filter: impl Fn(&E::Message) -> bool + Send + 'static) -> E::Message {
        match self.wait_for(None, Some(Box::new(filter))).await {
            Incoming::Message(message) => message,
            Incoming::Time => unreachable!("it waits for no time"),
        }
    }

    /// The same, up to a time from now; none if that comes first. A message of the last tick comes
    /// before it.
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

    /// Whether it waits for this message.
    pub(super) fn takes(&self, message: &E::Message) -> bool {
        // The user's code runs while nothing is locked: where it calls its process it panics, and
        // does not wait for itself.
        let Some(filter) = lock(&self.cell).filter.take() else { return false };
        let takes = filter(message);
        lock(&self.cell).filter = Some(filter);
        takes
    }

    /// Whether it is still in this wait.
    pub(super) fn waits(&self, wait: u32) -> bool {
        lock(&self.cell).until == Some(wait)
    }

    /// What it waited for has come: `None` stands for the time.
    pub(super) fn ends_wait(&self, message: Option<E::Message>) {
        let mut cell = lock(&self.cell);
        cell.came = Some(message.map_or(Incoming::Time, Incoming::Message));
        // Until it runs, it waits for nothing else.
        (cell.until, cell.filter) = (None, None);
    }

    /// Runs it up to its next wait, with its entity. True if it has ended.
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
