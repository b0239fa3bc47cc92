//! Replications on the device: their buffers, and the dispatches that take them through their
//! slices.

use std::ops::ControlFlow;
use std::time::Duration;

use bytemuck::Pod;
use web_time::Instant;

use super::results::CollectedResults;
use super::speed_check::{DrawnSamples, SpeedCheck};
use super::work::Work;
use super::{AnalysisError, ReplicationError, Schema, Shape};
use crate::gpu::{Buffer, Download, Gpu, Kernel, Pace, Plan, STAGING_BYTES, Submission, copy, values_of};

/// Results of up to this many bytes are copied along with each slice, which saves a wait after the
/// last. A guess: the copy of a mebibyte should cost less than a wait.
const SMALL_RESULTS: u64 = 1 << 20;

/// Of so many replications it is looked at how far they are, so that little is read: a guess at how
/// many tell the speed of all.
const SAMPLE: u32 = 64;

/// What the kernels read besides a batch's own memory.
#[derive(Debug, Clone)]
pub(super) struct BatchInputs<P> {
    pub(super) points: Buffer<P>,
    /// The table of [`exponential_tabled`](crate::random::exponential_tabled), for models that draw
    /// by it.
    pub(super) chords: Option<Buffer<[u32; 2]>>,
}

/// Replications that fit the device's memory together, with all that they need to be taken to their
/// end.
///
/// [`Engine::run`](super::Engine::run) makes and drives batches itself. An application drives one
/// where the work has to go into its own command encoder, or where its kernels read the results
/// without a readback: [`reset`](Self::reset), then [`slice`](Self::slice) as often as it takes.
#[derive(Debug)]
pub struct Batch<O> {
    reset: Plan,
    slice: Plan,
    /// What the slice was made of: the kernel, how many workgroups it has, and what else is bound.
    served: Option<(Kernel, u32, wgpu::Buffer)>,
    work: Work,
    work_buffer: Buffer<Work>,
    /// What the buffer holds.
    reported: Work,
    /// `JobSaved` by slot, in words.
    saved: Buffer<u32>,
    outcomes: Buffer<[u32; 2]>,
    results: Buffer<O>,
    /// Of a result.
    values: usize,
    running: Buffer<u32>,
    /// How many replications there is memory for.
    room: u32,
    /// Whether a slice was made since they were taken back to their beginning, by
    /// [`finish`](Self::finish).
    begun: bool,
}

/// How far [`Batch::finish`] came.
pub(super) enum SliceProgress {
    /// All have ended, and so long it took.
    ReplicationEnd(Duration),
    /// The watcher stopped it.
    Stopped,
    /// It is slower than the trial said, and can go on.
    Slow,
}

/// A slice under way, with what comes back from it.
pub(super) struct SliceInFlight {
    back: Download,
    begun: Instant,
    submission: Submission,
    /// Bytes of the sample.
    sample: usize,
}

/// What a slice tells.
pub(super) struct SliceReport {
    /// Since it was submitted.
    pub(super) elapsed: Duration,
    /// Replications that have not ended.
    pub(super) running: u32,
    /// Whether the driver cut it: nothing of it can be trusted.
    pub(super) cut: bool,
    /// For [`Batch::drawn`], if that was asked for.
    pub(super) sample: Vec<u8>,
}

impl SliceInFlight {
    /// Waits for the slice. `take` gets the outcomes and the results, one after the other, if all
    /// replications have ended and it was asked for them: else there are no bytes, or none that
    /// count.
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

/// Gathers the results of one batch after the other. Those of the last may be on their way while
/// the next is at work.
pub(super) struct ResultCollector<O> {
    gathered: CollectedResults<O>,
    behind: Option<(Download, Submission, u32)>,
}

impl<O: Pod + Send + Sync> ResultCollector<O> {
    pub(super) fn new(gathered: CollectedResults<O>) -> Self {
        Self { gathered, behind: None }
    }

    /// Takes in what is on its way. Whether there was something.
    async fn catch_up(&mut self, gpu: &Gpu) -> Result<bool, ReplicationError> {
        let Some((download, submission, jobs)) = self.behind.take() else { return Ok(false) };
        let gathered = &mut self.gathered;
        download.finish_with(gpu, submission, |bytes| fill(gathered, jobs, bytes)).await?;
        gathered.take(jobs as usize);
        Ok(true)
    }

    /// All of it.
    pub(super) async fn done(mut self, gpu: &Gpu) -> Result<CollectedResults<O>, ReplicationError> {
        self.catch_up(gpu).await?;
        Ok(self.gathered)
    }
}

/// Copies outcomes and results of the next jobs, one after the other in `bytes`, to where they
/// belong.
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

    /// Whether its memory suits so many replications.
    pub(super) fn suits(&self, jobs: u32) -> bool {
        jobs <= self.room && self.room / 4 <= jobs
    }

    /// Its memory, but for what is small.
    pub(super) fn bytes(&self) -> u64 {
        self.saved.raw().size() + self.outcomes.raw().size() + self.results.raw().size()
    }

    /// Other replications in the same memory, as many as there is room for.
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

    /// The next slice takes all replications from their beginning.
    pub(super) fn begin_again(&mut self) {
        self.begun = false;
    }

    /// How many replications it holds.
    pub fn len(&self) -> u32 {
        self.work.jobs()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.work.jobs() == 0
    }

    /// One `Output` per replication, valid where [`outcomes`](Self::outcomes) says so.
    pub fn results(&self) -> &Buffer<O> {
        &self.results
    }

    /// (2, 0) for a replication that is done, (3, code) for one that failed; see
    /// `shaders/replication/job.wgsl`.
    pub fn outcomes(&self) -> &Buffer<[u32; 2]> {
        &self.outcomes
    }

    /// Two words: how many replications were not done after the last slice, and how many slices the
    /// driver cut (see [`ReplicationError::Cut`]): those have to be run again with fewer steps. All
    /// are done when both are 0.
    pub fn running(&self) -> &Buffer<u32> {
        &self.running
    }

    /// Sets how many steps a slice takes, for work that is submitted later. A slice must not run
    /// for more than some tens of milliseconds: see [`Pace`].
    ///
    /// # Errors
    /// [`ReplicationError::Gpu`], and [`ReplicationError::Analysis`] for 0 steps, with which no
    /// replication would ever end.
    pub fn set_steps(&mut self, gpu: &Gpu, steps: u32) -> Result<(), ReplicationError> {
        check_steps("the number of steps of a slice", steps)?;
        self.work.steps = steps;
        if self.reported != self.work {
            self.work_buffer.write(gpu, 0, &[self.work])?;
            self.reported = self.work;
        }
        Ok(())
    }

    /// Takes all replications back to their beginning.
    pub fn reset(&self) -> &Plan {
        &self.reset
    }

    /// A slice of every replication that is not done.
    pub fn slice(&self) -> &Plan {
        &self.slice
    }

    /// The same replications, where they stand, served by another kernel: what lies between two
    /// slices means the same to all mappings.
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

    /// Submits a slice of so many steps: all of it is one submission, and what comes back is one
    /// piece of memory. `sample` asks for what [`drawn`](Self::drawn) wants, and `results` for
    /// outcomes and results.
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

    /// The buffers that hold outcomes and results, and how much of them counts.
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

    /// What a sample of replications has done that are at their beginning.
    pub(super) fn fresh(&self) -> DrawnSamples {
        DrawnSamples { draws: 0.0, running: self.work.jobs().min(SAMPLE) as usize }
    }

    /// The draws that a sample of the replications have made, and how many of these are running: a
    /// measure of speed that all mappings share.
    pub(super) fn drawn(&self, sample: &[u8]) -> DrawnSamples {
        let (states, outcomes) = sample.split_at(sample.len() - 8 * self.fresh().running);
        let words = |bytes| bytemuck::pod_collect_to_vec::<u8, u32>(bytes);
        let (states, outcomes) = (words(states), words(outcomes));
        let stride = states.len() / (outcomes.len() / 2);
        let sum = |word| states.iter().skip(word).step_by(stride).map(|&count| f64::from(count)).sum::<f64>();
        // Where all draws are from substreams or there are none, the steps.
        let (steps, position) = (sum(0), sum(1));
        let draws = if position > 0.0 { position } else { steps };
        DrawnSamples { draws, running: outcomes.iter().step_by(2).filter(|status| **status < 2).count() }
    }

    /// Takes all replications from where they stand, which at first is their beginning, to their
    /// end, or until `watch`, which is told after each slice how many have ended, or the trial's
    /// speed, `expected`, says that another mapping were better.
    ///
    /// The results go to `gathering`, at once or while the next batch is at work.
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
            // A slice in which all ended did not make all its steps, and one during which the host
            // had other work may have ended before that: they say nothing of how long steps take.
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

    /// Reads all results; what fits a piece of staging memory is only set under way.
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

/// Refuses a number of steps with which nothing would ever be done.
pub(super) fn check_steps(what: &'static str, steps: u32) -> Result<(), AnalysisError> {
    match steps {
        0 => Err(AnalysisError::Setting { what, value: "0".into(), remedy: "choose at least 1" }),
        _ => Ok(()),
    }
}
