//! Opens a device and compiles kernels in a thread, while the CPU works.

use std::fmt;
use std::sync::Arc;

use super::OnDemand;
use super::costs::Observed;
use crate::gpu::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use web_time::Instant;

/// Compiles the kernels of a study, so that the device has them.
pub(crate) type Compile = Arc<dyn Fn(&Gpu) + Send + Sync>;

/// Whether a study ended before its device was ready, and left the thread to itself.
#[cfg(not(target_arch = "wasm32"))]
static ABANDONED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Whether a thread may still open a device or compile for it: see [`OnDemand::abandoning`].
#[cfg(not(target_arch = "wasm32"))]
pub fn has_abandoned_threads() -> bool {
    ABANDONED.load(std::sync::atomic::Ordering::Relaxed)
}

/// The thread of a device panicked.
#[derive(Debug)]
pub(super) struct Panicked;

/// A device that a thread opens. Dropping it waits for the thread, unless the device is abandoned:
/// NVIDIA's driver (580.159) can deadlock if a device is destroyed while threads that used it end.
#[cfg(not(target_arch = "wasm32"))]
pub(super) struct Starting {
    thread: Option<std::thread::JoinHandle<Observed>>,
    device: OnDemand,
    /// Disconnected once the thread ends.
    ends: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
    /// Whether the study has ended: then nothing is compiled.
    is_over: Arc<std::sync::atomic::AtomicBool>,
}

/// Browsers have no threads.
#[cfg(target_arch = "wasm32")]
pub(super) enum Starting {}

#[cfg(not(target_arch = "wasm32"))]
impl Starting {
    /// Starts the thread; `None` if there are no threads.
    pub(super) fn begin(device: &OnDemand, compile: Option<Compile>) -> Option<Self> {
        use std::sync::atomic::{AtomicBool, Ordering};
        let is_over = Arc::new(AtomicBool::new(false));
        let (opened, over) = (device.clone(), Arc::clone(&is_over));
        let (end, ends) = std::sync::mpsc::channel();
        let work = move || {
            let _end: std::sync::mpsc::Sender<()> = end;
            let (was_open, begun) = (opened.is_open(), Instant::now());
            let gpu = opened.usable();
            let (open, begun) = (begun.elapsed().as_secs_f64(), Instant::now());
            if let (Some(gpu), Some(compile)) = (gpu, compile)
                && !over.load(Ordering::Relaxed)
            {
                crate::gpu::in_background(|| compile(gpu));
            }
            Observed::Start { open: (!was_open).then_some(open), compile: begun.elapsed().as_secs_f64() }
        };
        // As much as a main thread has: drivers' compilers are made for that.
        let thread = std::thread::Builder::new().name("device".to_owned()).stack_size(8 << 20);
        let thread = thread.spawn(work).inspect_err(|error| log::info!("no thread for the device: {error}"));
        Some(Self { thread: Some(thread.ok()?), device: device.clone(), ends: ends.into(), is_over })
    }

    /// Whether the device is ready, or failed.
    pub(super) fn is_ready(&self) -> bool {
        self.thread.as_ref().is_none_or(std::thread::JoinHandle::is_finished)
    }

    /// The same after waiting this number of seconds, or until it is.
    pub(super) fn is_ready_within(&mut self, seconds: f64) -> bool {
        let limit = std::time::Duration::from_secs_f64(seconds);
        let ends = self.ends.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        ends.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected)
    }

    /// Waits until the device is ready. What that took, the first time; an error if the thread
    /// panicked.
    pub(super) fn wait(&mut self) -> Result<Option<Observed>, Panicked> {
        self.thread.take().map(std::thread::JoinHandle::join).transpose().map_err(|_| Panicked)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Starting {
    fn drop(&mut self) {
        let is_ready = self.is_ready();
        self.is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        if self.device.is_abandoning() && !is_ready {
            ABANDONED.store(true, std::sync::atomic::Ordering::Relaxed);
            // Destroyed by nothing but the end of the process.
            std::mem::forget(self.device.clone());
        } else {
            let _ = self.wait();
        }
    }
}

#[cfg(target_arch = "wasm32")]
impl Starting {
    pub(super) fn begin(_: &OnDemand, _: Option<Compile>) -> Option<Self> {
        None
    }

    pub(super) fn is_ready(&self) -> bool {
        match *self {}
    }

    pub(super) fn is_ready_within(&mut self, _: f64) -> bool {
        match *self {}
    }

    pub(super) fn wait(&mut self) -> Result<Option<Observed>, Panicked> {
        match *self {}
    }
}

impl fmt::Debug for Starting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Starting").field("is_ready", &self.is_ready()).finish()
    }
}
