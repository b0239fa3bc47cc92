//! Tracks compilations by drivers, and bounds how long the host waits for work meanwhile.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use web_time::Instant;

thread_local! {
    /// Whether this thread recorded the first dispatch of a kernel and has not submitted it yet.
    /// One thread records and submits commands.
    static RECORDED: Cell<bool> = const { Cell::new(false) };
    /// Whether no run waits for the compilations of this thread.
    static IN_BACKGROUND: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread recorded a first dispatch since the last call.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn take_recorded() -> bool {
    RECORDED.take()
}

/// Forgets the recorded first dispatch of this thread, which was not submitted.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn set_recorded() {
    RECORDED.set(true);
}

/// Whether a kernel was ever dispatched.
#[derive(Debug, Default)]
pub(super) struct Dispatched(AtomicBool);

impl Dispatched {
    /// Records that the kernel is dispatched.
    pub(super) fn record(&self) {
        if !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Relaxed) {
            RECORDED.set(true);
        }
    }
}

/// Compilations for one device by any thread: kernels in construction and, on software adapters,
/// submissions with first dispatches.
#[derive(Debug, Default)]
pub(super) struct Compilations {
    running: AtomicU32,
    begun: AtomicU64,
}

impl Compilations {
    /// Counts one compilation until the returned guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Compilation {
        self.running.fetch_add(1, Ordering::AcqRel);
        self.begun.fetch_add(1, Ordering::AcqRel);
        Compilation(self.clone())
    }

    /// Whether one is running, and how many were ever started.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn state(&self) -> (bool, u64) {
        (self.running.load(Ordering::Acquire) > 0, self.begun.load(Ordering::Acquire))
    }

    /// Whether one was running at any time since `before`.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn since(&self, before: (bool, u64)) -> bool {
        let (running, begun) = self.state();
        running || before.0 || begun != before.1
    }
}

/// Guard of one compilation in [`Compilations`].
#[derive(Debug)]
pub(super) struct Compilation(Arc<Compilations>);

impl Drop for Compilation {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Threads in which a driver is compiling.
static COMPILING: AtomicU32 = AtomicU32::new(0);

/// Whether a run waits while a driver compiles a kernel. That may take seconds, and no watcher of
/// the run can stop it.
pub fn compiling() -> bool {
    COMPILING.load(Ordering::Relaxed) > 0
}

/// Nanoseconds that runs have waited for compilations.
static WAITED: AtomicU64 = AtomicU64::new(0);

/// How long runs of this process have waited for compilations by drivers, so that rates can leave
/// them out.
pub fn compiled() -> Duration {
    Duration::from_nanos(WAITED.load(Ordering::Relaxed))
}

/// Compiles kernels for which no run waits yet.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn in_background<T>(compile: impl FnOnce() -> T) -> T {
    IN_BACKGROUND.set(true);
    let compiled = compile();
    IN_BACKGROUND.set(false);
    compiled
}

/// Whether no run waits for the compilations of this thread.
pub(super) fn is_in_background() -> bool {
    IN_BACKGROUND.get()
}

/// Guard: [`compiling`] is true while it lives, and its time counts in [`compiled`], unless it is
/// in the background.
pub(super) struct Compiling {
    begun: Option<Instant>,
}

impl Compiling {
    pub(super) fn begin() -> Self {
        let begun = (!IN_BACKGROUND.get()).then(Instant::now);
        COMPILING.fetch_add(begun.is_some().into(), Ordering::Relaxed);
        Self { begun }
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            COMPILING.fetch_sub(1, Ordering::Relaxed);
            let waited = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            WAITED.fetch_add(waited, Ordering::Relaxed);
        }
    }
}

/// How long the host waits for submitted work before it gives up on the device.
///
/// Submissions take some tens of milliseconds, so only a hung device reaches this. Compilation does
/// not count, in any thread: a wait during which the driver compiles for the device may take half
/// an hour.
pub(crate) const HOST_WAIT: Duration = Duration::from_secs(120);

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn a_compilation_counts_until_its_work_is_done() {
        let all = Arc::new(Compilations::default());
        let before = all.state();
        assert!(!all.since(before));
        let one = all.begin();
        assert!(all.since(before) && all.state().0);
        let two = all.begin();
        drop(one);
        assert!(all.state().0, "another thread compiles");
        drop(two);
        assert!(!all.state().0);
        assert!(all.since(before), "it was short, and within the time");
        assert!(!all.since(all.state()));
    }
}
