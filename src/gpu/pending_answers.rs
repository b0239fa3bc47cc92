//! What a browser says of calls on its device: later. (Elsewhere the answer is known when the call
//! returns, and nothing of this is compiled.)
//!
//! A call hands in the answer that it will get, and goes on as if all were well. Whoever waits for
//! the device, which nearly every use of it does in the end, then hears of the first error among
//! all answers to the calls so far: an invalid buffer, say, before the submission that it spoilt.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::GpuError;

/// The answers that are still to come, and errors that nobody has heard of.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingAnswers(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    /// Calls so far.
    calls: u64,
    /// Those without an answer.
    open: BTreeSet<u64>,
    /// By call.
    errors: BTreeMap<u64, GpuError>,
    waiting: Vec<Waker>,
}

impl PendingAnswers {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in that a call will have this answer.
    pub(super) fn expect(&self, answer: impl Future<Output = Option<GpuError>> + 'static) {
        let number = {
            let mut answers = self.answers();
            answers.calls += 1;
            let number = answers.calls;
            answers.open.insert(number);
            number
        };
        let later = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let error = answer.await;
            let mut answers = later.answers();
            answers.open.remove(&number);
            if let Some(error) = error {
                log::debug!("{error}");
                answers.errors.insert(number, error);
            }
            let waiting = std::mem::take(&mut answers.waiting);
            drop(answers);
            waiting.into_iter().for_each(Waker::wake);
        });
    }

    /// Waits for the answers to all calls so far.
    ///
    /// # Errors
    /// The first. Those that follow it are forgotten: they come of it.
    pub(super) async fn settle(&self) -> Result<(), GpuError> {
        let last = self.answers().calls;
        poll_fn(|context| {
            let mut answers = self.answers();
            match answers.open.first() {
                Some(open) if *open <= last => {
                    answers.waiting.push(context.waker().clone());
                    Poll::Pending
                }
                _ => Poll::Ready(()),
            }
        })
        .await;
        let mut answers = self.answers();
        let after = answers.errors.split_off(&(last + 1));
        let errors = std::mem::replace(&mut answers.errors, after);
        errors.into_values().next().map_or(Ok(()), Err)
    }
}
