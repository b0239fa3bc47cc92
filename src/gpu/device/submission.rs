//! Work on its way: submissions, and waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::Gpu;
use crate::gpu::GpuError;

/// Work that was submitted, which [`Gpu::wait`] waits for. (Of a submission by wgpu itself: its number.)
#[derive(Debug, Clone)]
pub struct Submission {
    index: wgpu::SubmissionIndex,
    /// Where the host asks again and again: whether it is done.
    #[cfg(not(target_arch = "wasm32"))]
    done: Option<Arc<AtomicBool>>,
    /// First dispatches of kernels until then: [`FirstDispatches::recorded`].
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "browsers bound waits themselves"))]
    first: u64,
}

impl Submission {
    /// Its number, for an application's own waits.
    pub fn index(&self) -> wgpu::SubmissionIndex {
        self.index.clone()
    }
}

impl From<wgpu::SubmissionIndex> for Submission {
    fn from(index: wgpu::SubmissionIndex) -> Self {
        Self {
            index,
            #[cfg(not(target_arch = "wasm32"))]
            done: None,
            first: 0,
        }
    }
}

/// The first dispatches of a device's kernels: software adapters compile in them.
#[derive(Debug, Default)]
pub(in crate::gpu) struct FirstDispatches {
    recorded: AtomicU64,
    /// So many of them were waited for.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "browsers bound waits themselves"))]
    done: AtomicU64,
}

/// Whether a kernel was ever dispatched.
#[derive(Debug)]
pub(in crate::gpu) struct Dispatched {
    before: AtomicBool,
    all: Arc<FirstDispatches>,
}

impl Dispatched {
    /// Takes in that the kernel is dispatched.
    pub(in crate::gpu) fn record(&self) {
        if !self.before.load(Ordering::Relaxed) && !self.before.swap(true, Ordering::Relaxed) {
            self.all.recorded.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Threads in which a driver compiles now.
static COMPILING: AtomicU32 = AtomicU32::new(0);

/// Whether a driver compiles a kernel now, which may take seconds and which no watcher of a run can stop.
pub fn compiling() -> bool {
    COMPILING.load(Ordering::Relaxed) > 0
}

/// While it lives, [`compiling`] says so.
pub(in crate::gpu) struct Compiling(());

impl Compiling {
    pub(in crate::gpu) fn begin() -> Self {
        COMPILING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        COMPILING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long the host waits for submitted work before it gives the device up.
///
/// Submissions are cut to some tens of milliseconds, so this is reached by a hung device only.
/// Compilation does not count: a submission in which a software adapter compiles may take half an
/// hour.
pub const HOST_WAIT: Duration = Duration::from_secs(120);

/// The same where a software adapter compiles kernels that were not dispatched before.
#[cfg(not(target_arch = "wasm32"))]
const COMPILE_WAIT: Duration = Duration::from_secs(1800);

#[cfg(test)]
thread_local! {
    /// Submissions and waits of this thread, for tests that count them.
    pub(crate) static CALLS: std::cell::Cell<[u32; 2]> = const { std::cell::Cell::new([0; 2]) };
}

/// So long the host asks again and again whether submitted work is done, before it sleeps until then.
#[cfg(not(target_arch = "wasm32"))]
const AWAKE: Duration = Duration::from_micros(500);

impl Gpu {
    /// A command encoder.
    pub fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
    }

    /// Submits what `encoder` recorded.
    ///
    /// # Errors
    /// [`GpuError::Lost`], [`GpuError::Refused`] or [`GpuError::OutOfMemory`]. (In browsers from the next wait.)
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<Submission, GpuError> {
        #[cfg(test)]
        CALLS.with(|calls| calls.update(|[submissions, waits]| [submissions + 1, waits]));
        let index = self.catch("a submission", |_| self.queue.submit([encoder.finish()]))?;
        Ok(Submission {
            index,
            #[cfg(not(target_arch = "wasm32"))]
            done: (!self.on_processor()).then(|| self.done()),
            first: self.first.recorded.load(Ordering::Relaxed),
        })
    }

    /// What notes the first dispatch of a kernel.
    pub(in crate::gpu) fn undispatched(&self) -> Arc<Dispatched> {
        Arc::new(Dispatched { before: AtomicBool::new(false), all: self.first.clone() })
    }

    /// What becomes true when all that was submitted so far is done, and the device is polled.
    #[cfg(not(target_arch = "wasm32"))]
    fn done(&self) -> Arc<AtomicBool> {
        let done = Arc::new(AtomicBool::new(false));
        let told = done.clone();
        self.queue.on_submitted_work_done(move || told.store(true, Ordering::Release));
        done
    }

    /// [`Gpu::wait`] for browsers, where nothing may block. There it waits for all that was submitted so far, and is not bounded: browsers
    /// end work that hangs themselves, and say that the device is lost.
    ///
    /// # Errors
    /// As [`Gpu::wait`]. In browsers also what they refused since the last wait, of any call on this device: [`GpuError::OutOfMemory`],
    /// [`GpuError::Link`] and [`GpuError::Refused`].
    pub async fn wait_async(&self, submission: impl Into<Submission>) -> Result<(), GpuError> {
        #[cfg(not(target_arch = "wasm32"))]
        self.wait(submission)?;
        #[cfg(target_arch = "wasm32")]
        {
            let _: Submission = submission.into();
            let (sender, receiver) = futures_channel::oneshot::channel();
            self.queue.on_submitted_work_done(move || {
                let _ = sender.send(());
            });
            // A sender that was dropped is a device that was lost.
            let done = receiver.await;
            self.settle().await?;
            self.alive()?;
            done.map_err(|_| self.gone("the browser gave it up"))?;
        }
        Ok(())
    }

    /// Waits until a submission is done, for [`HOST_WAIT`] at the most (or [`Gpu::waiting`]).
    ///
    /// # Errors
    /// [`GpuError::Timeout`] or [`GpuError::Lost`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self, submission: impl Into<Submission>) -> Result<(), GpuError> {
        let submission = submission.into();
        #[cfg(test)]
        CALLS.with(|calls| calls.update(|[submissions, waits]| [submissions, waits + 1]));
        // A thread that sleeps until the driver wakes it hears of short work late. A device that is a program needs the core itself. (Not by waits without patience: wgpu 30 panics where a
        // wait finds its submission unfinished and then, because another thread saw its end meanwhile, nothing left to do; gfx-rs/wgpu#9958.)
        if !self.on_processor() {
            let done = submission.done.unwrap_or_else(|| self.done());
            let start = web_time::Instant::now();
            while start.elapsed() < AWAKE.min(self.patience) {
                self.look()?;
                if done.load(Ordering::Acquire) {
                    return Ok(());
                }
                std::thread::yield_now();
            }
        }
        let compiles = self.on_processor() && submission.first > self.first.done.load(Ordering::Relaxed);
        let _compiling = compiles.then(Compiling::begin);
        // Who chose a bound has it.
        let patience = if compiles && self.patience == HOST_WAIT { COMPILE_WAIT } else { self.patience };
        let wait = wgpu::PollType::Wait { submission_index: Some(submission.index), timeout: Some(patience) };
        match self.poll(wait)? {
            Ok(_) => {
                self.first.done.fetch_max(submission.first, Ordering::Relaxed);
                self.alive()
            }
            Err(wgpu::PollError::Timeout) => {
                self.present()?;
                // Destroying a device waits for its work, and this work may never end: the device is never destroyed.
                std::mem::forget((self.device.clone(), self.queue.clone()));
                Err(GpuError::Timeout { seconds: patience.as_secs() })
            }
            Err(error) => Err(self.failure("a wait", &error)),
        }
    }

    /// Takes in what the device has done by now, without a wait. (A browser does so by itself.)
    pub(in crate::gpu) fn look(&self) -> Result<(), GpuError> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Err(error) = self.poll(wgpu::PollType::Poll)? {
            return Err(self.failure("a look at the device", &error));
        }
        self.alive()
    }

    /// Polls the device. wgpu panics where the driver says that it lost the device; here that is an error.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn poll(
        &self,
        how: wgpu::PollType,
    ) -> Result<Result<wgpu::PollStatus, wgpu::PollError>, GpuError> {
        let poll = std::panic::AssertUnwindSafe(|| self.device.poll(how));
        std::panic::catch_unwind(poll).map_err(|_| self.gone("the driver gave it up"))
    }
}
