//! Replications on the device: their buffers, and the dispatches of their slices.

use std::ops::ControlFlow;
use std::time::Duration;

use bytemuck::Pod;
use web_time::Instant;

use super::results::CollectedResults;
use super::speed_check::{DrawnSamples, SpeedCheck};
use super::work::Work;
use super::{AnalysisError, ReplicationError, Schema, Shape};
use crate::gpu::{Buffer, Download, Gpu, Kernel, Pace, Plan, STAGING_BYTES, Submission, copy, values_of};

/// Results of up to this many bytes are copied with each slice, which saves a wait after the last
/// one. The copy of a mebibyte should cost less than a wait.
const SMALL_RESULTS: u64 = 1 << 20;

/// Replications whose progress is sampled: few, so that little is read.
const SAMPLE: u32 = 64;

/// Inputs of the kernels besides a batch's own memory.
#[derive(Debug, Clone)]
pub(super) struct BatchInputs<P> {
    pub(super) points: Buffer<P>,
    /// The table of [`exponential_tabled`](crate::random::exponential_tabled), for models that draw
    /// with it.
    pub(super) chords: Option<Buffer<[u32; 2]>>,
}

/// Replications that fit the device's memory together, with everything needed to complete them.
///
/// [`Engine::run`](super::Engine::run) creates and drives batches itself. An application drives one
/// if the work has to go into its own command encoder, or if its kernels read the results without a
/// readback: [`reset`](Self::reset), then [`slice`](Self::slice) until all are done.
#[derive(Debug)]
pub struct Batch<O> {
    reset: Plan,
    slice: Plan,
    /// The inputs of `slice`: the kernel, its number of workgroups, and the other buffer.
    served: Option<(Kernel, u32, wgpu::Buffer)>,
    work: Work,
    work_buffer: Buffer<Work>,
    /// The contents of `work_buffer`.
    reported: Work,
    /// `JobSaved` by slot, in words.
    saved: Buffer<u32>,
    outcomes: Buffer<[u32; 2]>,
    results: Buffer<O>,
    /// Values of one result.
    values: usize,
    running: Buffer<u32>,
    /// Replications that fit the memory.
    room: u32,
    /// Whether [`finish`](Self::finish) has run a slice since the replications were reset.
    begun: bool,
}

/// How [`Batch::finish`] ended.
pub(super) enum SliceProgress {
    /// All have ended, after this time.
    ReplicationEnd(Duration),
    /// The watcher stopped it.
    Stopped,
    /// It is slower than the trial, and can be continued.
    Slow,
}

/// A slice in flight, with its readback.
pub(super) struct SliceInFlight {
    back: Download,
    begun: Instant,
    submission: Submission,
    /// Bytes of the sample.
    sample: usize,
}

/// The report of a slice.
pub(super) struct SliceReport {
    /// Time since submission.
    pub(super) elapsed: Duration,
    /// Replications that have not ended.
    pub(super) running: u32,
    /// Whether the driver ended loops early: then the slice is invalid.
    pub(super) cut: bool,
    /// For [`Batch::drawn`], if it was requested.
    pub(super) sample: Vec<u8>,
}

impl SliceInFlight {
    /// Waits for the slice. `take` gets the outcomes and the results, one after the other, if they
    /// were requested; they count only if all replications have ended.
    pub(super) async fn land<R>(
        self,
        gpu: &Gpu,
        take: impl FnOnce(&[u8]) -> R,
    ) -> Result<(SliceReport, Option<R>), ReplicationError> {
        let reported = self.back.finish_with(gpu, self.submission, |bytes| {
            let (words, rest) = bytes.split_at(8);
            let [running, cuts] = bytemuck::pod_read_unaligned::<[u32; 2]>(words);
            let (sample, results) = rest.split_at(self.sample);
            let (elapsed, sample) = (self.begun.elapsed(), sample.to_vec());
            let reported = SliceReport { elapsed, running, cut: cuts > 0, sample };
            (reported, (running == 0 && cuts == 0).then(|| take(results)))
        });
        Ok(reported.await?)
    }
}

/// Collects the results of consecutive batches. Those of the last batch may be in flight while the
/// next one runs.
pub(super) struct ResultCollector<O> {
    gathered: CollectedResults<O>,
    behind: Option<(Download, Submission, u32)>,
}

impl<O: Pod + Send + Sync> ResultCollector<O> {
    pub(super) fn new(gathered: CollectedResults<O>) -> Self {
        Self { gathered, behind: None }
    }

    /// Receives results in flight. Returns whether there were any.
    async fn catch_up(&mut self, gpu: &Gpu) -> Result<bool, ReplicationError> {
        let Some((download, submission, jobs)) = self.behind.take() else { return Ok(false) };
        let gathered = &mut self.gathered;
        download.finish_with(gpu, submission, |bytes| fill(gathered, jobs, bytes)).await?;
        gathered.take(jobs as usize);
        Ok(true)
    }

    /// All results.
    pub(super) async fn done(mut self, gpu: &Gpu) -> Result<CollectedResults<O>, ReplicationError> {
        self.catch_up(gpu).await?;
        Ok(self.gathered)
    }
}

/// Copies outcomes and results of the next jobs, one after the other in `bytes`, to their places.
fn fill<O: Pod + Send + Sync>(gathered: &mut CollectedResults<O>, jobs: u32, bytes: &[u8]) {
    let (outputs, outcomes) = gathered.next(jobs as usize);
    let (outputs, outcomes) =
        (bytemuck::cast_slice_mut::<_, u8>(outputs), bytemuck::cast_slice_mut::<_, u8>(outcomes));
    let (left, right) = bytes.split_at(outcomes.len());
    copy(outcomes, left);
    copy(outputs, &right[..outputs.len()]);
}

impl<O: Pod> Batch<O> {
    /// As many replications from job `first` on as fit.
    pub(super) fn new<P: Pod>(
        gpu: &Gpu,
        kernel: &Kernel,
        shape: Shape,
        schema: &Schema,
        given: &BatchInputs<P>,
        work: Work,
    ) -> Result<Self, ReplicationError> {
        let saved_bytes = u64::from(schema.saved_bytes);
        let values = values_of::<O>(schema.output.bytes).expect("its size was checked");
        let widest = saved_bytes.max(schema.output.bytes.into());
        let fitting = u32::try_from(gpu.max_buffer_bytes() / widest).unwrap_or(u32::MAX);
        if fitting == 0 {
            return Err(ReplicationError::TooLarge { bytes: widest, limit: gpu.max_buffer_bytes() });
        }
        let work = work.at_most(fitting);
        let jobs = u64::from(work.jobs());
        let outcomes = Buffer::storage(gpu, "replications: outcomes", jobs)?;
        let mut reset = Plan::new("replications: reset");
        reset.clear("outcomes", outcomes.raw());
        let mut batch = Self {
            reset,
            slice: Plan::new("replications: slice"),
            served: None,
            work,
            work_buffer: Buffer::uniform(gpu, "replications: work", &work)?,
            reported: work,
            saved: Buffer::storage(gpu, "replications: states", jobs * saved_bytes / 4)?,
            outcomes,
            results: Buffer::storage(gpu, "replications: results", jobs * values as u64)?,
            values,
            running: Buffer::storage(gpu, "replications: running", 2)?,
            room: work.jobs(),
            begun: false,
        };
        batch.serve(gpu, kernel, shape, given)?;
        Ok(batch)
    }

    /// Whether its memory has a suitable size for `jobs` replications.
    pub(super) fn suits(&self, jobs: u32) -> bool {
        jobs <= self.room && self.room / 4 <= jobs
    }

    /// The size of its memory, without small buffers.
    pub(super) fn bytes(&self) -> u64 {
        self.saved.raw().size() + self.outcomes.raw().size() + self.results.raw().size()
    }

    /// Loads other replications into the same memory, as many as there is room for.
    pub(super) fn begin<P: Pod>(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel,
        shape: Shape,
        given: &BatchInputs<P>,
        work: Work,
    ) -> Result<(), ReplicationError> {
        self.work = work.at_most(self.room);
        self.begin_again();
        self.serve(gpu, kernel, shape, given)
    }

    /// The next slice starts all replications from their beginning.
    pub(super) fn begin_again(&mut self) {
        self.begun = false;
    }

    /// The number of replications.
    pub fn len(&self) -> u32 {
        self.work.jobs()
    }

    /// Whether it has no replications.
    pub fn is_empty(&self) -> bool {
        self.work.jobs() == 0
    }

    /// One `Output` per replication, valid if [`outcomes`](Self::outcomes) says so.
    pub fn results(&self) -> &Buffer<O> {
        &self.results
    }

    /// (2, 0) for a completed replication, (3, code) for a failed one; see
    /// `shaders/replication/job.wgsl`.
    pub fn outcomes(&self) -> &Buffer<[u32; 2]> {
        &self.outcomes
    }

    /// Two words: replications not done after the last slice, and slices whose loops the driver
    /// ended early (see [`ReplicationError::Cut`]), which have to be rerun with fewer steps. All
    /// are done when both are 0.
    pub fn running(&self) -> &Buffer<u32> {
        &self.running
    }

    /// Sets the steps of a slice, for work that is submitted later. A slice must not run for more
    /// than some tens of milliseconds, because drivers end long submissions.
    ///
    /// # Errors
    /// [`ReplicationError::Gpu`], and [`ReplicationError::Analysis`] for 0 steps, with which no
    /// replication would end.
    pub fn set_steps(&mut self, gpu: &Gpu, steps: u32) -> Result<(), ReplicationError> {
        check_steps("the number of steps of a slice", steps)?;
        self.work.steps = steps;
        if self.reported != self.work {
            self.work_buffer.write(gpu, 0, &[self.work])?;
            self.reported = self.work;
        }
        Ok(())
    }

    /// Resets all replications to their beginning.
    pub fn reset(&self) -> &Plan {
        &self.reset
    }

    /// A slice of every replication that is not done.
    pub fn slice(&self) -> &Plan {
        &self.slice
    }

    /// Continues the same replications with another kernel: the saved state between two slices is
    /// the same for all mappings.
    pub(super) fn serve<P: Pod>(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel,
        shape: Shape,
        given: &BatchInputs<P>,
    ) -> Result<(), ReplicationError> {
        let workgroups = shape.workgroups(gpu, self.work.jobs());
        let serves = (kernel.clone(), workgroups, given.points.raw().clone());
        if self.served.as_ref() == Some(&serves) {
            return Ok(());
        }
        let mut buffers = vec![
            ("job_work", self.work_buffer.binding()),
            ("job_points", given.points.binding()),
            ("job_saved", self.saved.binding()),
            ("job_outcomes", self.outcomes.binding()),
            ("job_results", self.results.binding()),
            ("job_running", self.running.binding()),
        ];
        buffers.extend(given.chords.iter().map(|chords| ("exponential_given", chords.binding())));
        let mut slice = Plan::new("replications: slice");
        slice.clear("running", self.running.raw());
        slice.dispatch(gpu, kernel, workgroups, &buffers)?;
        (self.slice, self.served) = (slice, Some(serves));
        Ok(())
    }

    /// Submits a slice of `steps` steps in one submission, with one readback. `sample` adds the
    /// input of [`drawn`](Self::drawn), and `results` adds outcomes and results.
    pub(super) fn submit(
        &mut self,
        gpu: &Gpu,
        steps: u32,
        sample: bool,
        results: bool,
    ) -> Result<SliceInFlight, ReplicationError> {
        self.set_steps(gpu, steps)?;
        let mut encoder = gpu.encoder("replications");
        if !self.begun {
            self.reset.record(&mut encoder);
            self.begun = true;
        }
        self.slice.record(&mut encoder);
        let mut pieces = vec![(self.running.raw(), 8)];
        let mut sampled = 0;
        if sample {
            let [states, outcomes] = self.sample_bytes();
            pieces.extend([(self.saved.raw(), states), (self.outcomes.raw(), outcomes)]);
            sampled = usize::try_from(states + outcomes).expect("a sample fits the host's memory");
        }
        if results {
            pieces.extend(self.result_pieces());
        }
        let back = Download::of(gpu, "replications: a slice", &mut encoder, &pieces)?;
        let begun = Instant::now();
        let submission = gpu.submit(encoder)?;
        Ok(SliceInFlight { back, begun, submission, sample: sampled })
    }

    /// The buffers with outcomes and results, and their valid sizes.
    fn result_pieces(&self) -> [(&wgpu::Buffer, u64); 2] {
        let jobs = u64::from(self.work.jobs());
        let values = jobs * (self.values * size_of::<O>()) as u64;
        [(self.outcomes.raw(), 8 * jobs), (self.results.raw(), values)]
    }

    /// Bytes of the states and of the outcomes of a sample.
    fn sample_bytes(&self) -> [u64; 2] {
        let some = u64::from(self.work.jobs().min(SAMPLE));
        let stride = self.saved.len() / u64::from(self.room);
        [4 * stride * some, 8 * some]
    }

    /// The sample of replications at their beginning.
    pub(super) fn fresh(&self) -> DrawnSamples {
        DrawnSamples { draws: 0.0, running: self.work.jobs().min(SAMPLE) as usize }
    }

    /// The draws that a sample of the replications has made, and how many of these are running: a
    /// measure of speed that all mappings share.
    pub(super) fn drawn(&self, sample: &[u8]) -> DrawnSamples {
        let (states, outcomes) = sample.split_at(sample.len() - 8 * self.fresh().running);
        let words = |bytes| bytemuck::pod_collect_to_vec::<u8, u32>(bytes);
        let (states, outcomes) = (words(states), words(outcomes));
        let stride = states.len() / (outcomes.len() / 2);
        let sum = |word| states.iter().skip(word).step_by(stride).map(|&count| f64::from(count)).sum::<f64>();
        // Without draws from the main stream, counts steps.
        let (steps, position) = (sum(0), sum(1));
        let draws = if position > 0.0 { position } else { steps };
        DrawnSamples { draws, running: outcomes.iter().step_by(2).filter(|status| **status < 2).count() }
    }

    /// Continues all replications until their end, until `watch` stops them (called after each
    /// slice with the number that have ended), or until they are much slower than `expected`, the
    /// trial's speed. Results go to `gathering`, at once or while the next batch runs.
    pub(super) async fn finish(
        &mut self,
        gpu: &Gpu,
        pace: &mut Pace,
        expected: Option<f64>,
        gathering: &mut ResultCollector<O>,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<SliceProgress, ReplicationError>
    where
        O: Send + Sync,
    {
        let mut look = SpeedCheck::new(expected, (!self.begun).then(|| self.fresh()));
        let jobs = self.work.jobs();
        let bytes: u64 = self.result_pieces().iter().map(|(_, bytes)| bytes).sum();
        let small = bytes <= SMALL_RESULTS;
        let mut took = Duration::ZERO;
        loop {
            let (steps, due) = (pace.units(), look.due());
            let flying = self.submit(gpu, steps, due, small)?;
            let busy = gathering.catch_up(gpu).await?;
            let take = |bytes: &[u8]| {
                if small {
                    fill(&mut gathering.gathered, jobs, bytes);
                    gathering.gathered.take(jobs as usize);
                }
            };
            let (reported, ended) = flying.land(gpu, take).await?;
            let elapsed = reported.elapsed;
            took += elapsed;
            // A slice in which all ended did not run all its steps, and one during which the host
            // was busy may have ended earlier: neither measures the time of a step.
            if reported.running > 0 && !busy {
                pace.record(steps, elapsed);
            }
            let slow = look.took(elapsed, (due && !reported.cut).then(|| self.drawn(&reported.sample)));
            if reported.cut && !pace.halve(steps) {
                return Err(ReplicationError::Cut);
            }
            let flow = watch(u64::from(jobs - reported.running.min(jobs)));
            if ended.is_some() {
                if !small {
                    self.fetch(gpu, bytes, gathering).await?;
                }
                return Ok(SliceProgress::ReplicationEnd(took));
            }
            if flow.is_break() {
                return Ok(SliceProgress::Stopped);
            }
            if slow {
                return Ok(SliceProgress::Slow);
            }
        }
    }

    /// Reads all results; those that fit a piece of staging memory are only submitted.
    async fn fetch(
        &self,
        gpu: &Gpu,
        bytes: u64,
        gathering: &mut ResultCollector<O>,
    ) -> Result<(), ReplicationError>
    where
        O: Send + Sync,
    {
        let jobs = self.work.jobs();
        if bytes <= STAGING_BYTES {
            let mut encoder = gpu.encoder("replications: results");
            let download = Download::of(gpu, "replications: results", &mut encoder, &self.result_pieces())?;
            gathering.behind = Some((download, gpu.submit(encoder)?, jobs));
            return Ok(());
        }
        let (outputs, outcomes) = gathering.gathered.next(jobs as usize);
        self.outcomes.read_into(gpu, 0, outcomes).await?;
        self.results.read_into(gpu, 0, outputs).await?;
        gathering.gathered.take(jobs as usize);
        Ok(())
    }
}

/// Refuses 0 steps, with which no run would end.
pub(super) fn check_steps(what: &'static str, steps: u32) -> Result<(), AnalysisError> {
    match steps {
        0 => Err(AnalysisError::Setting { what, value: "0".into(), remedy: "choose at least 1" }),
        _ => Ok(()),
    }
}
