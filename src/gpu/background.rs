//! Threads that open a device or compile for it, while a run does without.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::compilations::in_background;
use super::{Gpu, keep_text, kept_text};

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
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.try_recv() == Err(TryRecvError::Disconnected)
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
///
/// Kernels whose thread is left behind are not kept on disk. So the next program that would leave
/// the same ones waits for them.
pub(crate) struct CompileAhead {
    thread: Background<()>,
    gpu: Gpu,
    /// The number of these kernels in the file of those that were left.
    number: u64,
}

/// The file with the numbers of kernels that programs did not wait for.
const LEFT: &str = "left-kernels";
const MOST_LEFT: usize = 256;

impl CompileAhead {
    /// Starts the thread; `None` if there are no threads. `what` tells these kernels from others.
    pub(crate) fn begin(
        gpu: &Gpu,
        what: impl Hash,
        compile: impl FnOnce(&Gpu) + Send + 'static,
    ) -> Option<Self> {
        let used = gpu.clone();
        let thread = Background::begin("compile ahead", move || in_background(|| compile(&used)))?;
        let mut hasher = DefaultHasher::new();
        (&gpu.info().name, &gpu.info().driver_info, what).hash(&mut hasher);
        Some(Self { thread, gpu: gpu.clone(), number: hasher.finish() })
    }

    /// Whether all is compiled, or failed to.
    pub(crate) fn is_ready(&self) -> bool {
        self.thread.is_ready()
    }

    /// The same after waiting this long, or until it is.
    pub(crate) fn is_ready_within(&mut self, limit: Duration) -> bool {
        self.thread.is_ready_within(limit)
    }

    /// Waits until all is compiled, or failed to: it fails again where its kernel is needed.
    pub(crate) fn wait(&mut self) {
        let _ = self.thread.wait();
    }
}

impl Drop for CompileAhead {
    fn drop(&mut self) {
        if self.gpu.is_abandoning() && !self.is_ready() && leave(self.number) {
            abandon(&self.gpu);
        } else {
            self.wait();
        }
    }
}

/// Records that these kernels are left, unless they were left before.
fn leave(number: u64) -> bool {
    let text = kept_text(LEFT).unwrap_or_default();
    let (kept, is_new) = record_left(&text, number);
    keep_text(LEFT, &kept);
    is_new
}

/// The file's text with this number, or without it if it was there.
fn record_left(text: &str, number: u64) -> (String, bool) {
    let number = format!("{number:016x}");
    let (same, others): (Vec<_>, Vec<_>) = text.lines().partition(|line| *line == number);
    let is_new = same.is_empty();
    let numbers = others.into_iter().chain(is_new.then_some(&*number));
    let numbers: Vec<_> = numbers.collect();
    let last = numbers[numbers.len().saturating_sub(MOST_LEFT)..].iter();
    (last.map(|number| format!("{number}\n")).collect(), is_new)
}

impl fmt::Debug for CompileAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompileAhead").field("is_ready", &self.is_ready()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_left_every_other_time() {
        let (text, is_new) = record_left("", 7);
        assert!(is_new);
        let (text, is_new) = record_left(&text, 0xfeed_0123_4567_89ab);
        assert!(is_new);
        let (text, is_new) = record_left(&text, 7);
        assert!(!is_new);
        assert_eq!(text, "feed0123456789ab\n");
        assert!(record_left(&text, 7).1);
    }

    #[test]
    fn the_file_of_left_kernels_is_short() {
        let text = (0..1000).fold(String::new(), |text, number| record_left(&text, number).0);
        assert_eq!(text.lines().count(), MOST_LEFT);
        assert!(!record_left(&text, 999).1 && record_left(&text, 0).1);
    }
}
