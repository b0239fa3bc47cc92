//! Progress of a run, and its early end by Ctrl-C.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::{Failure, OrRaise as _};

/// The interval of looks at Python: below what a person notices.
const EVERY: Duration = Duration::from_millis(50);

/// The stack of a run in bytes, as main threads have it.
const STACK: usize = 8 << 20;

/// How far a run is, and whether it shall end early.
#[derive(Default)]
pub(crate) struct Watch {
    runs: AtomicU64,
    events: AtomicU64,
    stopped: AtomicBool,
}

impl Watch {
    /// Whether the run continues.
    pub(crate) fn flow(&self, runs: u64, events: u64) -> ControlFlow<()> {
        self.runs.store(runs, Ordering::Relaxed);
        self.events.store(events, Ordering::Relaxed);
        if self.stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Looks for Ctrl-C and calls the callable.
    fn look(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let numbers = (self.runs.load(Ordering::Relaxed), self.events.load(Ordering::Relaxed));
        progress.map_or(Ok(()), |progress| progress.call1(py, numbers).map(drop))
    }
}

/// Works in a thread of its own, while this one looks for Ctrl-C, which Python reports to its main
/// thread only. Returns the result and whether Ctrl-C ended the work; without a result it is
/// raised, as is any other exception of the callable.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Failure> + Send,
) -> PyResult<(T, bool)> {
    let watch = &Watch::default();
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (ends, ended) = channel::<()>();
            let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                // Dropped at the end of the work.
                let _ends = ends;
                work(watch)
            });
            let mut raised = None;
            while matches!(ended.recv_timeout(EVERY), Err(RecvTimeoutError::Timeout)) {
                if raised.is_none() {
                    raised = Python::attach(|py| watch.look(py, progress.as_ref())).err();
                    watch.stopped.store(raised.is_some(), Ordering::Relaxed);
                }
            }
            let result = match worker {
                Ok(worker) => worker.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(error) => Err(Failure::usage(format!("no thread can be started: {error}"))),
            };
            (result, raised)
        })
    });
    match (raised.or_else(|| py.check_signals().err()), result) {
        (Some(raised), Ok(value)) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => Ok((value, true)),
        (Some(raised), _) => Err(raised),
        (None, result) => Ok((result.or_raise()?, false)),
    }
}
