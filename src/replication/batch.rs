//! Replications on the device: their buffers, and the dispatches that take them through their slices.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use web_time::Instant;

use super::results::Ended;
use super::{AnalysisError, Experiment, Pairing, ReplicationError, Schema, Shape};
use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, SLICE, values_of};
use crate::statistics::each;

/// Results of up to this many bytes are copied along with each slice, which saves a wait after the last. A guess: the
/// copy of a mebibyte should cost less than a wait.
const SMALL_RESULTS: u64 = 1 << 20;

/// A trial of a mapping takes the median of so many slices; a guess at how many it takes for other work on the machine not to count.
const TRIAL_LOOKS: usize = 5;

/// A trial ends after so many slices, whatever was seen. [`Pace`] grows by a factor of 8 at the most, so that 11 are enough for any number of steps to be
/// reached.
pub(super) const TRIAL_SLICES: u32 = 18;

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
    /// Of a result.
    values: usize,
    running: Buffer<u32>,
    /// Whether a slice was made since they were taken back to their beginning, by [`finish`](Self::finish).
    begun: bool,
}

/// How far [`Batch::finish`] came.
pub(super) enum Went<O> {
    Ended(Vec<O>, Vec<Ended>),
    /// The watcher stopped it.
    Stopped,
    /// It is slower than the trial said, and can go on.
    Slow,
}

/// What some replications have done, of 64 at the most.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Drawn {
    draws: f64,
    running: usize,
}

impl Drawn {
    /// Draws of a replication per second since `before`, over those that were running then.
    #[allow(clippy::cast_precision_loss, reason = "at most 64")]
    fn speed(self, before: Self, elapsed: Duration) -> f64 {
        (self.draws - before.draws) / (before.running.max(1) as f64 * elapsed.as_secs_f64().max(1e-9))
    }
}

/// Looks now and then at whether a run is as fast as its trial said: after 4 slices, 16, 64 and so on.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// What the trial said; none where there was none, and nothing is looked at.
    expected: Option<f64>,
    slices: u32,
    next: u32,
    elapsed: Duration,
    before: Option<Drawn>,
}

impl Look {
    /// A run that is slower than `expected` by more than this is looked at again. Speeds change a little while replications go on, and by several
    /// times where the trial was wrong.
    const SLOWER: f64 = 3.0;

    pub(super) fn new(expected: Option<f64>) -> Self {
        Self { expected, next: 4, ..Self::default() }
    }

    /// Whether to call [`disappoints`](Self::disappoints) now: before the first slice, from which it counts, and at the looks.
    fn due(&self) -> bool {
        self.expected.is_some() && (self.slices == 0 || self.slices >= self.next)
    }

    fn took(&mut self, elapsed: Duration) {
        self.slices += 1;
        self.elapsed += elapsed;
    }

    fn disappoints(&mut self, drawn: Drawn) -> bool {
        let before = self.before.replace(drawn);
        let elapsed = std::mem::take(&mut self.elapsed);
        if self.slices > 0 {
            self.next = self.slices.saturating_mul(4);
        }
        let Some((before, expected)) = before.zip(self.expected) else { return false };
        // Where most have ended on the way, it says nothing of the others.
        2 * drawn.running > before.running && drawn.speed(before, elapsed) * Self::SLOWER < expected
    }
}

/// A mapping on trial: replications of their own, a slice at a time.
#[derive(Debug)]
pub(super) struct Trial<O> {
    batch: Batch<O>,
    pub(super) pace: Pace,
    /// Where the replications stood after the last slice; none at their beginning.
    stood: Option<Drawn>,
    /// Whether slices are as long as they should be.
    warm: bool,
    /// Draws of a replication per second, by slice.
    speeds: Vec<f64>,
}

impl<O: Pod> Trial<O> {
    pub(super) fn new(batch: Batch<O>, pace: Pace) -> Self {
        Self { batch, pace, stood: None, warm: false, speeds: Vec::new() }
    }

    pub(super) fn jobs(&self) -> u32 {
        self.batch.len()
    }

    /// Whether it was seen often enough.
    pub(super) fn seen(&self) -> bool {
        self.speeds.len() >= TRIAL_LOOKS
    }

    /// A slice more. Short ones, in which the submission itself counts, are not measured: they grow, until they take a quarter of what slices should or the
    /// replications end in one.
    pub(super) async fn slice(&mut self, gpu: &Gpu) -> Result<(), ReplicationError> {
        let batch = &mut self.batch;
        let before = match self.stood {
            Some(before) => before,
            None => {
                batch.reset.submit(gpu)?;
                batch.drawn(gpu).await?
            }
        };
        let steps = self.pace.units();
        batch.set_steps(gpu, steps)?;
        let mut encoder = gpu.encoder("replications: trial");
        batch.slice.record(&mut encoder);
        let running = Download::new(gpu, "replications: running", 8)?;
        running.record(&mut encoder, batch.running.raw(), 0);
        let begun = Instant::now();
        let submission = gpu.submit(encoder)?;
        let left = running.finish(gpu, submission).await?;
        let elapsed = begun.elapsed();
        if left[..4] != [0; 4] {
            self.pace.record(steps, elapsed);
        }
        if left[4..] != [0; 4] {
            let _ = self.pace.halve(steps);
            self.stood = None;
            return Ok(());
        }
        let drawn = batch.drawn(gpu).await?;
        let ended = left == [0; 8];
        if self.warm || ended {
            self.speeds.push(drawn.speed(before, elapsed));
        }
        self.warm |= elapsed > SLICE / 4;
        self.stood = (!ended && drawn.running > 0).then_some(drawn);
        Ok(())
    }

    /// The median of what was seen; 0 where nothing was.
    pub(super) fn speed(&self) -> f64 {
        let mut speeds = self.speeds.clone();
        speeds.sort_unstable_by(f64::total_cmp);
        speeds.get(speeds.len() / 2).copied().unwrap_or(0.0)
    }
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
        let values = values_of::<O>(schema.output.bytes).expect("its size was checked");
        let widest = saved_bytes.max(schema.output.bytes.into());
        let fitting = u32::try_from(gpu.max_buffer_bytes() / widest).unwrap_or(u32::MAX);
        if fitting == 0 {
            return Err(ReplicationError::TooLarge { bytes: widest, limit: gpu.max_buffer_bytes() });
        }
        let work = Work { jobs: work.jobs.min(fitting), ..work };
        let jobs = u64::from(work.jobs);
        let work_buffer = Buffer::uniform(gpu, "replications: work", &work)?;
        let saved = Buffer::<u32>::storage(gpu, "replications: states", jobs * saved_bytes / 4)?;
        let outcomes = Buffer::storage(gpu, "replications: outcomes", jobs)?;
        let results = Buffer::storage(gpu, "replications: results", jobs * values as u64)?;
        let running = Buffer::storage(gpu, "replications: running", 2)?;
        let mut reset = Plan::new("replications: reset");
        reset.clear("outcomes", outcomes.raw());
        let slice = Plan::new("replications: slice");
        let mut batch =
            Self { reset, slice, work, work_buffer, saved, outcomes, results, values, running, begun: false };
        batch.serve(gpu, kernel, shape, points)?;
        Ok(batch)
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

    /// The same replications, where they stand, served by another kernel: what lies between two slices means the same to all mappings.
    pub(super) fn serve<P: Pod>(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel,
        shape: Shape,
        points: &Buffer<P>,
    ) -> Result<(), ReplicationError> {
        let buffers = [
            ("job_work", self.work_buffer.binding()),
            ("job_points", points.binding()),
            ("job_saved", self.saved.binding()),
            ("job_outcomes", self.outcomes.binding()),
            ("job_results", self.results.binding()),
            ("job_running", self.running.binding()),
        ];
        let mut slice = Plan::new("replications: slice");
        slice.clear("running", self.running.raw());
        slice.dispatch(gpu, kernel, shape.workgroups(gpu, self.work.jobs), &buffers)?;
        self.slice = slice;
        Ok(())
    }

    /// The draws that some of the replications have made, and how many of these are running: a measure of speed that all mappings share.
    async fn drawn(&self, gpu: &Gpu) -> Result<Drawn, ReplicationError> {
        let stride = self.saved.len() / u64::from(self.work.jobs);
        // Of 64, so that little is read: a guess at how many tell the speed of all.
        let some = u64::from(self.work.jobs.min(64));
        let words = self.saved.read_range(gpu, 0, stride * some).await?;
        let outcomes = self.outcomes.read_range(gpu, 0, some).await?;
        let stride = usize::try_from(stride).expect("a state fits the host's memory");
        let sum = |word| words.iter().skip(word).step_by(stride).map(|&count| f64::from(count)).sum::<f64>();
        // Where all draws are from substreams or there are none, the steps.
        let (steps, position) = (sum(0), sum(1));
        let draws = if position > 0.0 { position } else { steps };
        // Fresh ones have drawn nothing, whatever lies there.
        Ok(match outcomes.iter().all(|[status, _]| *status == 0) {
            true => Drawn { draws: 0.0, running: outcomes.len() },
            false => Drawn { draws, running: outcomes.iter().filter(|[status, _]| *status < 2).count() },
        })
    }

    /// Takes all replications from where they stand, which at first is their beginning, to their end, or until `watch`, which is told after each slice how many
    /// have ended, or `look` stops it.
    pub(super) async fn finish(
        &mut self,
        gpu: &Gpu,
        pace: &mut Pace,
        look: &mut Look,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Went<O>, ReplicationError> {
        loop {
            if look.due() {
                let drawn = self.drawn(gpu).await?;
                if look.disappoints(drawn) {
                    return Ok(Went::Slow);
                }
            }
            let steps = pace.units();
            self.set_steps(gpu, steps)?;
            let mut encoder = gpu.encoder("replications");
            if !self.begun {
                self.reset.record(&mut encoder);
                self.begun = true;
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
            look.took(begun.elapsed());
            let cut = left[4..] != [0; 4];
            if cut && !pace.halve(steps) {
                return Err(ReplicationError::Cut);
            }
            let running = bytemuck::pod_read_unaligned::<u32>(&left[..4]);
            let flow = watch(u64::from(self.work.jobs - running.min(self.work.jobs)));
            if left != [0; 8] {
                if flow.is_break() {
                    return Ok(Went::Stopped);
                }
                continue;
            }
            let (results, outcomes): (Vec<O>, Vec<[u32; 2]>) = match early {
                Some([results, outcomes]) => {
                    let results = results.finish(gpu, submission.clone()).await?;
                    let outcomes = outcomes.finish(gpu, submission).await?;
                    let jobs = self.work.jobs as usize;
                    (
                        bytemuck::pod_collect_to_vec(&results[..jobs * self.values * size_of::<O>()]),
                        bytemuck::pod_collect_to_vec(&outcomes[..jobs * 8]),
                    )
                }
                None => {
                    let jobs = u64::from(self.work.jobs);
                    (
                        self.results.read_range(gpu, 0, jobs * self.values as u64).await?,
                        self.outcomes.read_range(gpu, 0, jobs).await?,
                    )
                }
            };
            let ended = each(outcomes.len(), || (), |(), slot| Ended::from_words(outcomes[slot]));
            return Ok(Went::Ended(results, ended));
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
