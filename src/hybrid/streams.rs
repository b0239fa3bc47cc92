//! Streams (the paper, section 2.2): threads that answer groups of calls while entities execute
//! other events. A stream uploads the calls of a group, runs the kernel and downloads the answers.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::HybridError;
use super::handler::Handlers;
use super::options::Overlap;

/// The place that waits for an answer: a partition, the suspended entity there, and the number of
/// the call in its event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    pub(super) part: u32,
    pub(super) entity: u32,
    pub(super) call: u32,
}

/// A call that waits for its answer.
pub(super) struct Waiting {
    pub(super) seat: Seat,
    pub(super) handler: usize,
    pub(super) call: Box<dyn Any + Send>,
}

/// The answer to the call of a seat.
pub(super) type Answered = (Seat, Box<dyn Any + Send>);

/// Calls of one handler.
#[derive(Default)]
pub(super) struct Group {
    seats: Vec<Seat>,
    calls: Vec<Box<dyn Any + Send>>,
}

impl Group {
    /// Sorts calls into groups by handler.
    pub(super) fn sort(waiting: impl IntoIterator<Item = Waiting>, groups: &mut BTreeMap<usize, Self>) {
        for Waiting { seat, handler, call } in waiting {
            let group = groups.entry(handler).or_default();
            group.seats.push(seat);
            group.calls.push(call);
        }
    }

    /// The answers to its calls.
    pub(super) fn run(
        self,
        handlers: &Handlers,
        handler: usize,
        cores: bool,
    ) -> Result<Vec<Answered>, HybridError> {
        let answers = handlers.run(handler, self.calls, cores)?;
        Ok(self.seats.into_iter().zip(answers).collect())
    }
}

type Done = (u64, std::thread::Result<Result<Vec<Answered>, HybridError>>);

/// The calls that form groups, and the groups that are being answered.
struct Forming {
    groups: BTreeMap<usize, Group>,
    /// `None` when the streams end.
    jobs: Option<Sender<(u64, usize, Group)>>,
    /// Groups sent in all, and those without an answer.
    sent: u64,
    unanswered: usize,
}

impl Forming {
    fn send(&mut self, handler: usize) {
        if let (Some(group), Some(jobs)) = (self.groups.remove(&handler), &self.jobs) {
            let sent = jobs.send((self.sent, handler, group));
            sent.expect("streams receive until the sender is gone");
            self.sent += 1;
            self.unanswered += 1;
        }
    }
}

/// The streams of a rank.
pub(super) struct Streams {
    /// The number of calls that make a group.
    least: usize,
    forming: Mutex<Forming>,
    done: Mutex<Receiver<Done>>,
    threads: Vec<JoinHandle<()>>,
}

/// Waits for an answer. A thread of a pool works meanwhile: the stream may wait for it, since
/// handlers on the host use the same pool.
fn answer(received: &Receiver<Done>) -> Done {
    let gone = "streams send an answer to each group";
    if rayon::current_thread_index().is_none() {
        return received.recv().expect(gone);
    }
    loop {
        let waits = match rayon::yield_now() {
            Some(rayon::Yield::Executed) => Duration::ZERO,
            _ => Duration::from_micros(200),
        };
        match received.recv_timeout(waits) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("{gone}"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Streams {
    /// Starts the streams, if calls overlap with events. `run` answers a group.
    pub(super) fn new(
        overlap: Overlap,
        run: impl Fn(usize, Group) -> Result<Vec<Answered>, HybridError> + Send + Sync + 'static,
    ) -> Result<Option<Self>, HybridError> {
        let Overlap::Streams { streams, calls } = overlap else { return Ok(None) };
        let refused = |reason: &str| HybridError::Streams { streams, calls, reason: reason.to_owned() };
        if streams == 0 || streams > 256 || calls == 0 {
            return Err(refused("choose from 1 to 256 streams, and at least 1 call for a group"));
        }
        let (jobs, queue) = channel::<(u64, usize, Group)>();
        let (answered, done) = channel();
        let (queue, run) = (Arc::new(Mutex::new(queue)), Arc::new(run));
        let start = |number| {
            let (queue, run, answered) = (Arc::clone(&queue), Arc::clone(&run), answered.clone());
            let work = move || {
                loop {
                    // Not in the condition: the lock would last as long as the group.
                    let received = lock(&queue).recv();
                    let Ok((group, handler, calls)) = received else { return };
                    let answers = catch_unwind(AssertUnwindSafe(|| run(handler, calls)));
                    if answered.send((group, answers)).is_err() {
                        return;
                    }
                }
            };
            let thread = std::thread::Builder::new().name(format!("stream {number}"));
            thread.spawn(work).map_err(|error| refused(&error.to_string()))
        };
        let threads = (0..streams).map(start).collect::<Result<_, _>>()?;
        let forming = Forming { groups: BTreeMap::new(), jobs: Some(jobs), sent: 0, unanswered: 0 };
        Ok(Some(Self { least: calls, forming: Mutex::new(forming), done: Mutex::new(done), threads }))
    }

    /// Adds calls to the groups, and sends groups that are complete.
    pub(super) fn add(&self, waiting: impl IntoIterator<Item = Waiting>) {
        let mut forming = lock(&self.forming);
        Group::sort(waiting, &mut forming.groups);
        let complete =
            |(&handler, group): (&usize, &Group)| (group.calls.len() >= self.least).then_some(handler);
        let complete: Vec<_> = forming.groups.iter().filter_map(complete).collect();
        complete.into_iter().for_each(|handler| forming.send(handler));
    }

    /// Waits for answers, and returns all that have come; nothing if no call is left. The host has
    /// no event to execute, so incomplete groups are sent as soon as no group is being answered.
    pub(super) fn next(&self) -> Result<Vec<Answered>, HybridError> {
        let mut forming = lock(&self.forming);
        if forming.unanswered == 0 {
            let rest: Vec<_> = forming.groups.keys().copied().collect();
            rest.into_iter().for_each(|handler| forming.send(handler));
        }
        if forming.unanswered == 0 {
            return Ok(Vec::new());
        }
        let received = lock(&self.done);
        let receive = || answer(&received);
        let mut done = vec![receive()];
        done.extend(received.try_iter());
        if done.iter().any(|(_, answers)| !matches!(answers, Ok(Ok(_)))) {
            // The first group that failed decides, whatever the order of answers.
            done.extend((done.len()..forming.unanswered).map(|_| receive()).collect::<Vec<_>>());
            done.sort_unstable_by_key(|&(group, _)| group);
        }
        forming.unanswered -= done.len();
        let mut all = Vec::new();
        for (_, answers) in done {
            all.append(&mut answers.unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(all)
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        lock(&self.forming).jobs = None;
        for thread in self.threads.drain(..) {
            // A stream catches the panics of its work.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streams").field("streams", &self.threads.len()).finish_non_exhaustive()
    }
}
