//! Opens a device and compiles kernels in a thread, while the CPU works.

use std::fmt;
use std::sync::Arc;

use super::OnDemand;
use super::costs::Observed;
use crate::gpu::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::{Background, abandon};
#[cfg(not(target_arch = "wasm32"))]
use web_time::Instant;

/// Compiles the kernels of a study, so that the device has them.
pub(crate) type Compile = Arc<dyn Fn(&Gpu) + Send + Sync>;

/// The thread of a device panicked.
#[derive(Debug)]
pub(super) struct Panicked;

/// A device that a thread opens. Dropping it waits for the thread, unless the device is abandoned,
/// as [`CompileAhead`](crate::gpu::CompileAhead) does.
#[cfg(not(target_arch = "wasm32"))]
pub(super) struct Starting {
    thread: Background<Observed>,
    device: OnDemand,
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
        let work = move || {
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
        Some(Self { thread: Background::begin("device", work)?, device: device.clone(), is_over })
    }

    /// Whether the device is ready, or failed.
    pub(super) fn is_ready(&self) -> bool {
        self.thread.is_ready()
    }

    /// The same after waiting this number of seconds, or until it is.
    pub(super) fn is_ready_within(&mut self, seconds: f64) -> bool {
        self.thread.is_ready_within(std::time::Duration::from_secs_f64(seconds))
    }

    /// Waits until the device is ready. What that took, the first time; an error if the thread
    /// panicked.
    pub(super) fn wait(&mut self) -> Result<Option<Observed>, Panicked> {
        self.thread.wait().map_err(|_| Panicked)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Starting {
    fn drop(&mut self) {
        let is_ready = self.is_ready();
        self.is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        if self.device.is_abandoning() && !is_ready {
            abandon(&self.device);
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
