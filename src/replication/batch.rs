//! Replications on the device: their buffers, and the dispatches that take them through their slices.

use std::ops::{ControlFlow, Range};

use bytemuck::{Pod, Zeroable};
use web_time::Instant;

use super::results::Ended;
use super::{AnalysisError, Experiment, Pairing, ReplicationError, Schema, Shape};
use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, SLICE};
use crate::statistics::each;

/// Results of up to this many bytes are copied along with each slice, which saves a wait after the last. A guess: the
/// copy of a mebibyte should cost less than a wait.
const SMALL_RESULTS: u64 = 1 << 20;

/// A trial of a mapping ends after so many slices, or when one takes a quarter of what slices should take. A guess: [`Pace`] grows by
/// a factor of 8 at the most, so that these are enough for any number of steps to be reached.
const TRIAL_SLICES: u32 = 12;

/// `JobWork` in `shaders/replication/job.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct Work {
    unread: u64,
    seed: u64,
    first_replication: u32,
    replications: u32,
    first: u32,
    jobs: u32,
    steps: u32,
    max_steps: u32,
    common_numbers: u32,
    antithetic: u32,
}

impl Work {
    /// All replications of an experiment's points, to be cut into batches.
    pub(super) fn new(
        experiment: &Experiment,
        replications: &Range<u32>,
        points: usize,
        max_steps: u32,
    ) -> Self {
        let per_point = replications.end - replications.start;
        Self {
            unread: 0,
            seed: experiment.seed,
            first_replication: replications.start,
            replications: per_point,
            first: 0,
            jobs: u32::try_from(points).expect("the points were counted") * per_point,
            steps: 1,
            max_steps,
            common_numbers: experiment.common.into(),
            antithetic: (experiment.pairing == Pairing::Antithetic).into(),
        }
    }

    pub(super) fn jobs(&self) -> u32 {
        self.jobs
    }

    /// What is left after so many jobs, if anything.
    pub(super) fn after(&self, done: usize) -> Option<Self> {
        let first = u32::try_from(done).ok().filter(|done| *done < self.jobs)?;
        Some(Self { first, jobs: self.jobs - first, ..*self })
    }
}

/// Replications that fit the device's memory together, with all that they need to be taken to their end.
///
/// [`Engine::run`](super::Engine::run) makes and drives batches itself. An application drives one where the work has to
/// go into its own command encoder, or where its kernels read the results without a readback:
/// [`reset`](Self::reset), then [`slice`](Self::slice) as often as it takes.
#[derive(Debug)]
pub struct Batch<O> {
    reset: Plan,
    slice: Plan,
    work: Work,
    work_buffer: Buffer<Work>,
    /// `JobSaved` by slot, in words.
    saved: Buffer<u32>,
    outcomes: Buffer<[u32; 2]>,
    results: Buffer<O>,
    running: Buffer<u32>,
}

impl<O: Pod> Batch<O> {
    /// As many replications from job `first` on as fit.
    pub(super) fn new<P: Pod>(
        gpu: &Gpu,
        kernel: &Kernel,
        shape: Shape,
        schema: &Schema,
        points: &Buffer<P>,
        work: Work,
    ) -> Result<Self, ReplicationError> {
        let saved_bytes = u64::from(schema.saved_bytes);
        let widest = saved_bytes.max(size_of::<O>() as u64);
        let fitting = u32::try_from(gpu.max_buffer_bytes() / widest).unwrap_or(u32::MAX);
        if fitting == 0 {
            return Err(ReplicationError::TooLarge { bytes: widest, limit: gpu.max_buffer_bytes() });
        }
        let work = Work { jobs: work.jobs.min(fitting), ..work };
        let jobs = u64::from(work.jobs);
        let work_buffer = Buffer::uniform(gpu, "replications: work", &work)?;
        let saved = Buffer::<u32>::storage(gpu, "replications: states", jobs * saved_bytes / 4)?;
        let outcomes = Buffer::storage(gpu, "replications: outcomes", jobs)?;
        let results = Buffer::storage(gpu, "replications: results", jobs)?;
        let running = Buffer::storage(gpu, "replications: running", 2)?;
        let buffers = [
            ("job_work", work_buffer.binding()),
            ("job_points", points.binding()),
            ("job_saved", saved.binding()),
            ("job_outcomes", outcomes.binding()),
            ("job_results", results.binding()),
            ("job_running", running.binding()),
        ];
        let mut reset = Plan::new("replications: reset");
        reset.clear("outcomes", outcomes.raw());
        let mut slice = Plan::new("replications: slice");
        slice.clear("running", running.raw());
        slice.dispatch(gpu, kernel, shape.workgroups(gpu, work.jobs), &buffers)?;
        Ok(Self { reset, slice, work, work_buffer, saved, outcomes, results, running })
    }

    /// How many replications it holds.
    pub fn len(&self) -> u32 {
        self.work.jobs
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.work.jobs == 0
    }

    /// One `Output` per replication, valid where [`outcomes`](Self::outcomes) says so.
    pub fn results(&self) -> &Buffer<O> {
        &self.results
    }

    /// (2, 0) for a replication that is done, (3, code) for one that failed; see `shaders/replication/job.wgsl`.
    pub fn outcomes(&self) -> &Buffer<[u32; 2]> {
        &self.outcomes
    }

    /// Two words: how many replications were not done after the last slice, and how many slices the driver cut (see
    /// [`ReplicationError::Cut`]): those have to be run again with fewer steps. All are done when both are 0.
    pub fn running(&self) -> &Buffer<u32> {
        &self.running
    }

    /// Sets how many steps a slice takes, for work that is submitted later. A slice must not run for more than some tens of
    /// milliseconds: see [`Pace`].
    ///
    /// # Errors
    /// [`ReplicationError::Gpu`], and [`ReplicationError::Analysis`] for 0 steps, with which no replication would ever end.
    pub fn set_steps(&mut self, gpu: &Gpu, steps: u32) -> Result<(), ReplicationError> {
        check_steps("the number of steps of a slice", steps)?;
        self.work.steps = steps;
        Ok(self.work_buffer.write(gpu, 0, &[self.work])?)
    }

    /// Takes all replications back to their beginning.
    pub fn reset(&self) -> &Plan {
        &self.reset
    }

    /// A slice of every replication that is not done.
    pub fn slice(&self) -> &Plan {
        &self.slice
    }

    /// The most draws per second that a replication made in one of the first slices, on average over some replications: a
    /// measure of speed that all mappings share.
    pub(super) async fn speed(&mut self, gpu: &Gpu, pace: &mut Pace) -> Result<f64, ReplicationError> {
        let (mut best, mut before) = (0.0_f64, 0.0);
        self.reset.submit(gpu)?;
        for _ in 0..TRIAL_SLICES {
            let steps = pace.units();
            self.set_steps(gpu, steps)?;
            let mut encoder = gpu.encoder("replications: trial");
            self.slice.record(&mut encoder);
            let running = Download::new(gpu, "replications: running", 8)?;
            running.record(&mut encoder, self.running.raw(), 0);
            let begun = Instant::now();
            let submission = gpu.submit(encoder)?;
            let left = running.finish(gpu, submission).await?;
            let elapsed = begun.elapsed();
            if left[..4] != [0; 4] {
                pace.record(steps, elapsed);
            }
            if left[4..] != [0; 4] {
                let _ = pace.halve(steps);
                continue;
            }
            let drawn = self.drawn(gpu).await?;
            best = best.max((drawn - before) / elapsed.as_secs_f64());
            before = drawn;
            if left == [0; 8] || elapsed > SLICE / 4 {
                break;
            }
        }
        Ok(best)
    }

    /// Draws that some of the replications made so far.
    async fn drawn(&self, gpu: &Gpu) -> Result<f64, ReplicationError> {
        let stride = self.saved.len() / u64::from(self.work.jobs);
        // Of 64, so that little is read: a guess at how many tell the speed of all.
        let some = stride * u64::from(self.work.jobs.min(64));
        let words = self.saved.read_range(gpu, 0, some).await?;
        let stride = usize::try_from(stride).expect("a state fits the host's memory");
        Ok(words.iter().skip(1).step_by(stride).map(|&position| f64::from(position)).sum())
    }

    /// Takes all replications from the beginning to their end. None if `watch`, which is told after each slice how many have ended, stopped it.
    pub(super) async fn finish(
        &mut self,
        gpu: &Gpu,
        pace: &mut Pace,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<(Vec<O>, Vec<Ended>)>, ReplicationError> {
        let mut fresh = true;
        loop {
            let steps = pace.units();
            self.set_steps(gpu, steps)?;
            let mut encoder = gpu.encoder("replications");
            if fresh {
                self.reset.record(&mut encoder);
                fresh = false;
            }
            self.slice.record(&mut encoder);
            let running = Download::new(gpu, "replications: running", 8)?;
            running.record(&mut encoder, self.running.raw(), 0);
            let begun = Instant::now();
            let small = self.results.raw().size() <= SMALL_RESULTS;
            let early = match small {
                true => Some(self.download(gpu, &mut encoder)?),
                false => None,
            };
            let submission = gpu.submit(encoder)?;
            let left = running.finish(gpu, submission.clone()).await?;
            // A slice in which all ended did not make all its steps: it says nothing of how long they take.
            if left[..4] != [0; 4] {
                pace.record(steps, begun.elapsed());
            }
            let cut = left[4..] != [0; 4];
            if cut && !pace.halve(steps) {
                return Err(ReplicationError::Cut);
            }
            let running = bytemuck::pod_read_unaligned::<u32>(&left[..4]);
            let flow = watch(u64::from(self.work.jobs - running.min(self.work.jobs)));
            if left != [0; 8] {
                if flow.is_break() {
                    return Ok(None);
                }
                continue;
            }
            let (results, outcomes): (Vec<O>, Vec<[u32; 2]>) = match early {
                Some([results, outcomes]) => {
                    let results = results.finish(gpu, submission.clone()).await?;
                    let outcomes = outcomes.finish(gpu, submission).await?;
                    let jobs = self.work.jobs as usize;
                    (
                        bytemuck::pod_collect_to_vec(&results[..jobs * size_of::<O>()]),
                        bytemuck::pod_collect_to_vec(&outcomes[..jobs * 8]),
                    )
                }
                None => {
                    let jobs = self.work.jobs.into();
                    (
                        self.results.read_range(gpu, 0, jobs).await?,
                        self.outcomes.read_range(gpu, 0, jobs).await?,
                    )
                }
            };
            let ended = each(outcomes.len(), || (), |(), slot| Ended::from_words(outcomes[slot]));
            return Ok(Some((results, ended)));
        }
    }

    fn download(&self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder) -> Result<[Download; 2], GpuError> {
        let results = Download::new(gpu, "replications: results", self.results.raw().size())?;
        results.record(encoder, self.results.raw(), 0);
        let outcomes = Download::new(gpu, "replications: outcomes", self.outcomes.raw().size())?;
        outcomes.record(encoder, self.outcomes.raw(), 0);
        Ok([results, outcomes])
    }
}

/// Refuses a number of steps with which nothing would ever be done.
pub(super) fn check_steps(what: &'static str, steps: u32) -> Result<(), AnalysisError> {
    match steps {
        0 => Err(AnalysisError::Setting { what, value: "0".into(), remedy: "choose at least 1" }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Work as JobWork;
    use crate::gpu::assert_same_layout;
    use crate::models::Pi;
    use crate::replication::schema::link;
    use crate::shaders;

    #[test]
    fn the_host_lays_work_out_as_wgsl_does() {
        let engine = ["replication/thread.wgsl", "random/mul_wide.wgsl"].map(shaders::file);
        assert_same_layout!(
            link(&Pi, &engine).unwrap(),
            JobWork {
                unread,
                seed,
                first_replication,
                replications,
                first,
                jobs,
                steps,
                max_steps,
                common_numbers,
                antithetic
            }
        );
    }
}
