//! Submissions, and waits for them.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(target_arch = "wasm32"))]
use std::time::Duration;

use super::Gpu;
use crate::gpu::GpuError;
use crate::gpu::compilations::Compilation;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::compilations::{self, Compiling, HOST_WAIT};

/// A submission that [`Gpu::wait`] waits for. (For a submission through wgpu itself: its index.)
#[derive(Debug, Clone)]
pub struct Submission {
    #[cfg_attr(
        target_arch = "wasm32",
        expect(dead_code, reason = "browsers wait for all that was submitted")
    )]
    index: wgpu::SubmissionIndex,
    /// Whether it is done, for hosts that poll.
    #[cfg(not(target_arch = "wasm32"))]
    done: Option<Arc<AtomicBool>>,
    /// Whether it has the first dispatch of a kernel, which software adapters compile then.
    #[cfg(not(target_arch = "wasm32"))]
    is_first: bool,
}

impl From<wgpu::SubmissionIndex> for Submission {
    fn from(index: wgpu::SubmissionIndex) -> Self {
        Self {
            index,
            #[cfg(not(target_arch = "wasm32"))]
            done: None,
            // The application may have recorded first dispatches itself.
            #[cfg(not(target_arch = "wasm32"))]
            is_first: compilations::take_recorded(),
        }
    }
}

/// Bound of a wait during which the driver compiles for the device.
#[cfg(not(target_arch = "wasm32"))]
const COMPILE_WAIT: Duration = Duration::from_secs(1800);

#[cfg(test)]
thread_local! {
    /// Submissions and waits of this thread, for tests.
    pub(crate) static CALLS: std::cell::Cell<[u32; 2]> = const { std::cell::Cell::new([0; 2]) };
}

/// How long the host polls for the end of submitted work before it sleeps.
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
    /// [`GpuError::Lost`], [`GpuError::Refused`] or [`GpuError::OutOfMemory`]. (In browsers the
    /// next wait returns them.)
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<Submission, GpuError> {
        #[cfg(test)]
        CALLS.with(|calls| calls.update(|[submissions, waits]| [submissions + 1, waits]));
        #[cfg(not(target_arch = "wasm32"))]
        let is_first = self.is_software() && compilations::take_recorded();
        // Before the submission, so that no wait for a later submission misses it.
        #[cfg(not(target_arch = "wasm32"))]
        let compilation = is_first.then(|| self.compilation());
        let submitted = self.catch("a submission", |_| self.queue.submit([encoder.finish()]));
        #[cfg(not(target_arch = "wasm32"))]
        if is_first && submitted.is_err() {
            // The next submission compiles its kernels.
            compilations::set_recorded();
        }
        let index = submitted?;
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(compilation) = compilation {
            self.queue.on_submitted_work_done(move || drop(compilation));
        }
        Ok(Submission {
            index,
            #[cfg(not(target_arch = "wasm32"))]
            done: (!self.is_software()).then(|| self.done()),
            #[cfg(not(target_arch = "wasm32"))]
            is_first,
        })
    }

    /// Counts a compilation for this device until the returned guard is dropped.
    pub(in crate::gpu) fn compilation(&self) -> Compilation {
        self.compilations.begin()
    }

    /// A flag that becomes true when all work so far is done and the device is polled.
    #[cfg(not(target_arch = "wasm32"))]
    fn done(&self) -> Arc<AtomicBool> {
        let done = Arc::new(AtomicBool::new(false));
        let reported = done.clone();
        self.queue.on_submitted_work_done(move || reported.store(true, Ordering::Release));
        done
    }

    /// [`Gpu::wait`] for browsers, where calls may not block. There it waits for all work submitted
    /// so far, without a bound: browsers end hung work themselves and report a lost device.
    ///
    /// # Errors
    /// As [`Gpu::wait`]. In browsers also the errors since the last wait, of any call on this
    /// device: [`GpuError::OutOfMemory`], [`GpuError::Link`] and [`GpuError::Refused`].
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
            // A dropped sender means a lost device.
            let done = receiver.await;
            self.settle().await?;
            self.alive()?;
            done.map_err(|_| self.gone("the browser dropped it"))?;
        }
        Ok(())
    }

    /// Waits until a submission is done, for at most 120 seconds (or [`Gpu::waiting`]).
    ///
    /// # Errors
    /// [`GpuError::Timeout`] or [`GpuError::Lost`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self, submission: impl Into<Submission>) -> Result<(), GpuError> {
        let submission = submission.into();
        #[cfg(test)]
        CALLS.with(|calls| calls.update(|[submissions, waits]| [submissions, waits + 1]));
        // Sleeping threads learn late of short work, so poll first; a software adapter needs the
        // core itself. Not with waits of zero length: wgpu 30 panics if another thread sees the
        // submission's end at the same time (gfx-rs/wgpu#9958).
        if !self.is_software() {
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
        let compiles = self.is_software() && (submission.is_first || self.compilations.state().0);
        let _compiling = compiles.then(Compiling::begin);
        // A bound that the caller chose applies unchanged.
        let most = if self.patience == HOST_WAIT { COMPILE_WAIT } else { self.patience };
        let mut waited = Duration::ZERO;
        loop {
            let before = self.compilations.state();
            let index = Some(submission.index.clone());
            let wait = wgpu::PollType::Wait { submission_index: index, timeout: Some(self.patience) };
            let polled = self.poll(wait)?;
            waited += self.patience;
            match polled {
                Ok(_) => return self.alive(),
                // Time does not count while anything is compiled for the device.
                Err(wgpu::PollError::Timeout)
                    if waited < most && (compiles || self.compilations.since(before)) => {}
                Err(wgpu::PollError::Timeout) => {
                    self.present()?;
                    // Destroying a device waits for its work, and this work may never end. So the
                    // device is never destroyed.
                    std::mem::forget((self.device.clone(), self.queue.clone()));
                    return Err(GpuError::Timeout { seconds: waited.as_secs() });
                }
                Err(error) => return Err(self.failure("a wait", &error)),
            }
        }
    }

    /// Processes what the device has done so far, without a wait. (Browsers do so without a call.)
    pub(in crate::gpu) fn look(&self) -> Result<(), GpuError> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Err(error) = self.poll(wgpu::PollType::Poll)? {
            return Err(self.failure("a poll of the device", &error));
        }
        self.alive()
    }

    /// Polls the device. wgpu panics if the driver reports a lost device; here that is an error.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn poll(
        &self,
        how: wgpu::PollType,
    ) -> Result<Result<wgpu::PollStatus, wgpu::PollError>, GpuError> {
        let poll = std::panic::AssertUnwindSafe(|| self.device.poll(how));
        std::panic::catch_unwind(poll).map_err(|_| self.gone("the driver dropped it"))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::{Buffer, Kernel, Plan, Recipe, Source};

    /// A new kernel with a recorded first dispatch that is not submitted.
    fn recorded(gpu: &Gpu, counts: &Buffer<u32>, number: u32) -> (Kernel, wgpu::CommandEncoder) {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> counts: array<u32>;\n\
             @compute @workgroup_size(1) fn count() {{ counts[0] += {number}u; }}\n"
        );
        let kernel = Recipe::new("count", "count", [Source::new("count.wgsl", text)]).kernel(gpu).unwrap();
        let mut encoder = gpu.encoder("count");
        record(gpu, &kernel, counts, &mut encoder);
        (kernel, encoder)
    }

    fn record(gpu: &Gpu, kernel: &Kernel, counts: &Buffer<u32>, encoder: &mut wgpu::CommandEncoder) {
        let mut plan = Plan::new("count");
        plan.dispatch(gpu, kernel, 1, &[("counts", counts.binding())]).unwrap();
        plan.record(encoder);
    }

    /// A thread that waits for its own first dispatch does not treat another thread's as done, even
    /// one that was recorded earlier.
    #[test]
    fn a_first_dispatch_is_that_of_the_thread_that_submits_it() {
        let gpu = Gpu::for_test();
        if !gpu.is_software() {
            return;
        }
        let counts = Buffer::<u32>::storage(&gpu, "counts", 1).unwrap();
        let (kernel, mine) = recorded(&gpu, &counts, 3);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let (_, theirs) = recorded(&gpu, &counts, 5);
                let submission = gpu.submit(theirs).unwrap();
                assert!(submission.is_first);
                gpu.wait(submission).unwrap();
            });
            other.join().unwrap();
        });
        let submission = gpu.submit(mine).unwrap();
        assert!(submission.is_first, "it has the first dispatch of a kernel");
        gpu.wait(submission).unwrap();
        let mut again = gpu.encoder("again");
        record(&gpu, &kernel, &counts, &mut again);
        let submission = gpu.submit(again).unwrap();
        assert!(!submission.is_first, "it was compiled before");
        gpu.wait(submission).unwrap();
    }
}
