//! Threads that open a device or compile for it, while a run does without.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::Gpu;
use super::compilations::in_background;

/// Whether work that ended left a thread to itself.
static ABANDONED: AtomicBool = AtomicBool::new(false);

/// Whether a thread may still open a device or compile for it: see [`Gpu::abandoning`].
pub fn has_abandoned_threads() -> bool {
    ABANDONED.load(Ordering::Relaxed)
}

/// Leaves a thread that uses this device to itself. The device is destroyed by nothing but the end
/// of the process.
pub(crate) fn abandon<T: Clone>(device: &T) {
    ABANDONED.store(true, Ordering::Relaxed);
    std::mem::forget(device.clone());
}

/// The stack of threads that compile: that of a main thread, for which drivers' compilers are made.
pub(crate) const COMPILER_STACK: usize = 8 << 20;

/// A thread with a driver's stack. Dropping it waits for nothing.
pub(crate) struct Background<T> {
    thread: Option<JoinHandle<T>>,
    /// Disconnected once the work ends.
    ends: Mutex<Receiver<()>>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts the thread; `None` if there are no threads.
    pub(crate) fn begin(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Option<Self> {
        let (end, ends) = channel::<()>();
        let work = move || {
            let _end = end;
            work()
        };
        let thread = Builder::new().name(name.to_owned()).stack_size(COMPILER_STACK).spawn(work);
        let thread = thread.inspect_err(|error| log::info!("no thread for the device: {error}")).ok()?;
        Some(Self { thread: Some(thread), ends: ends.into() })
    }

    /// Whether the work is done, or failed.
    pub(crate) fn is_ready(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The same after waiting this long, or until it is.
    pub(crate) fn is_ready_within(&mut self, limit: Duration) -> bool {
        let ends = self.ends.get_mut().unwrap_or_else(PoisonError::into_inner);
        ends.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected)
    }

    /// Waits for the thread. Its result, the first time; an error if it panicked.
    pub(crate) fn wait(&mut self) -> std::thread::Result<Option<T>> {
        self.thread.take().map(JoinHandle::join).transpose()
    }
}

/// A thread that compiles kernels for later. Dropping it waits for the thread, unless the device
/// leaves threads behind: NVIDIA's driver (580.159) can deadlock if a device is destroyed while
/// threads that used it end.
pub(crate) struct CompileAhead {
    thread: Background<()>,
    gpu: Gpu,
}

impl CompileAhead {
    /// Starts the thread; `None` if there are no threads.
    pub(crate) fn begin(gpu: &Gpu, compile: impl FnOnce(&Gpu) + Send + 'static) -> Option<Self> {
        let used = gpu.clone();
        let thread = Background::begin("compile ahead", move || in_background(|| compile(&used)))?;
        Some(Self { thread, gpu: gpu.clone() })
    }

    /// Whether all is compiled, or failed to.
    pub(crate) fn is_ready(&self) -> bool {
        self.thread.is_ready()
    }

    /// The same after waiting this long, or until it is.
    pub(crate) fn is_ready_within(&mut self, limit: Duration) -> bool {
        self.thread.is_ready_within(limit)
    }
}

impl Drop for CompileAhead {
    fn drop(&mut self) {
        if self.gpu.is_abandoning() && !self.is_ready() {
            abandon(&self.gpu);
        } else {
            // A failed compilation fails again where its kernel is needed.
            let _ = self.thread.wait();
        }
    }
}

impl fmt::Debug for CompileAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompileAhead").field("is_ready", &self.is_ready()).finish_non_exhaustive()
    }
}
