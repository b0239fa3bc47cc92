//! Errors of a browser's device, which arrive after the call. (Elsewhere the result is known when
//! the call returns, and this file is not compiled.)
//!
//! A call registers its future answer and continues as if it succeeded. A later wait for the
//! device, which nearly every use ends with, returns the first error among the answers to all calls
//! so far: for example the invalid buffer, before the submission that failed because of it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::GpuError;

/// The outstanding answers, and errors that no caller has received.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingAnswers(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    /// The number of calls.
    calls: u64,
    /// Calls without an answer.
    open: BTreeSet<u64>,
    /// Errors by call.
    errors: BTreeMap<u64, GpuError>,
    waiting: Vec<Waker>,
}

impl PendingAnswers {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the future answer of a call.
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
    /// The first one. Later errors are dropped, because they follow from it.
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
