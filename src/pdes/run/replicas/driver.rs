//! Executes the runs of an experiment: batch by batch, slice by slice, and again with more room for
//! runs that overflowed.

use std::ops::ControlFlow;
use std::time::Duration;

use web_time::Instant;

use crate::gpu::tune::{Budget, Order, Score, Tuner};
use crate::gpu::{Download, GpuError, Plan};
use crate::time::Ticks;

use super::batch_memory::{BatchMemory, TRIAL, slice_kernel};
use super::maker::{Driver, TrialOutcomes, about};
use super::mapping::{BatchMapping, plain_group};
use super::memory::{BatchNeeds, Job, Points, rows_of};
use super::options::EngineOptions;
use super::results::{self, RunResult, Runs};
use crate::pdes::contract::error::{Fault, FaultKind, SimulationError};
use crate::pdes::device::dispatch::Part;
use crate::pdes::device::memory::Run;
use crate::pdes::{Fingerprint, Mapping, Model, Options, Progress, Simulation, Stop, Sync, Until};

/// Slices that are shorter by this factor do not get any shorter.
const SHORTEST: u32 = 1024;

/// A batch of runs in flight.
struct BatchInFlight {
    run: Run,
    /// The plan of a slice, by shape ([`BatchMapping::shapes`]). Built when it is needed, because
    /// that compiles its kernel.
    slices: Vec<Option<Plan>>,
    replicas: u32,
    running: u32,
    /// The time of all its slices.
    took: Duration,
}

impl<M: Model> Driver<'_, M> {
    /// The results of the jobs; of the first ones if `watch` stopped it.
    pub(super) async fn run(
        &mut self,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<(Runs<M::Output>, Mapping), SimulationError> {
        let counted = self.until.events != Until::EMPTY.events;
        let mapping = match self.options.mapping {
            Mapping::Auto if self.fills_the_device(jobs.len()) => Mapping::Grid,
            mapping => mapping,
        };
        match mapping {
            Mapping::Grid => {
                let mut runs = self.grid(jobs, self.options.sync, watch).await?;
                if !counted {
                    self.report_faults(mapping, jobs, &mut runs).await?;
                }
                Ok((runs, mapping))
            }
            Mapping::Thread if counted => Err(SimulationError::ThreadEvents),
            // Threads do not support event-limited runs, and have one queue for a run.
            Mapping::Auto if counted || self.options.fixed => self.crowds(Mapping::Team, jobs, watch).await,
            chosen => {
                let (mut runs, mapping) = self.crowds(chosen, jobs, watch).await?;
                if !counted {
                    self.report_faults(mapping, jobs, &mut runs).await?;
                }
                Ok((runs, mapping))
            }
        }
    }

    /// Repeats the runs that violated a rule, with the windows of the sequential engine. Of all
    /// violations in a window, the fault at the first LP is reported, whichever one a mapping finds
    /// first.
    async fn report_faults(
        &mut self,
        mapping: Mapping,
        jobs: &[Job],
        runs: &mut Runs<M::Output>,
    ) -> Result<(), SimulationError> {
        let broke = |run: &Result<RunResult<M::Output>, Fault>| {
            run.as_ref()
                .is_err_and(|fault| !matches!(fault.kind, FaultKind::QueueFull | FaultKind::MailboxFull))
        };
        let failed: Vec<usize> = (0..runs.len()).filter(|&number| broke(&runs[number])).collect();
        if failed.is_empty() {
            return Ok(());
        }
        let again: Vec<_> = failed.iter().map(|&number| jobs[number]).collect();
        // The options may be for another mapping, and capacities do not matter here. An event limit
        // that is never reached makes windows end with epochs.
        let options = EngineOptions::default().outputs(self.options.outputs).memory(self.options.memory);
        let until = Until { events: u64::MAX - 1, ..self.until };
        let (options, until) =
            (std::mem::replace(&mut self.options, options), std::mem::replace(&mut self.until, until));
        let watch = &mut |_, _| ControlFlow::Continue(());
        let reported = match mapping {
            Mapping::Grid => self.grid(&again, Sync::Yawns, watch).await,
            _ => self.crowds(Mapping::Team, &again, watch).await.map(|(reported, _)| reported),
        };
        (self.options, self.until) = (options, until);
        match reported {
            Ok(reported) => {
                for (number, reported) in failed.into_iter().zip(reported) {
                    let own = |fault: &Fault| matches!(fault.kind, FaultKind::LoopsCut | FaultKind::Stuck);
                    debug_assert!(
                        reported.is_err() || runs[number].as_ref().is_err_and(own),
                        "run {number} fails by {mapping} only: {:?}",
                        runs[number]
                    );
                    runs[number] = reported;
                }
                Ok(())
            }
            // Then the fault that was found stays.
            Err(SimulationError::ReplicaTooLarge { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn model(&self) -> &M {
        &self.prepared.models[0]
    }

    /// Whether each run fills the device, and there are too few runs for another mapping. (A
    /// guess.)
    fn fills_the_device(&self, jobs: usize) -> bool {
        self.model().lps() > 4096 && jobs < 64
    }

    /// Executes one run after the other.
    async fn grid(
        &mut self,
        jobs: &[Job],
        sync: Sync,
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<Runs<M::Output>, SimulationError> {
        let (mut runs, mut events) = (Vec::with_capacity(jobs.len()), 0);
        for job in jobs {
            let options = Options::default()
                .seed(self.seed)
                .replica(job.replica)
                .queue(self.options.queue)
                .group_size(self.options.group_size)
                .fixed(self.options.fixed)
                .mapping(Mapping::Grid)
                .sync(sync);
            let model = &self.prepared.models[job.point as usize];
            let made = match Simulation::new_async(self.gpu, model, options).await {
                Ok(mut simulation) => match simulation
                    .until(self.until)
                    .watch(|progress| watch(runs.len(), events + progress.events))
                    .run_async()
                    .await
                {
                    Ok(Progress { stop: Some(Stop::Watcher), .. }) => return Ok(runs),
                    Ok(progress) => {
                        let fingerprint = simulation.fingerprint_async().await?;
                        let (totals, outputs) = match self.prepared.columns {
                            Some(_) if self.options.outputs => {
                                (None, Some(simulation.outputs_async(results::at(self.until)?).await?))
                            }
                            Some(_) => {
                                (Some(simulation.totals_async(results::at(self.until)?, None).await?), None)
                            }
                            None => (None, None),
                        };
                        let memory = match self.options.memory {
                            [_, 0] => Vec::new(),
                            rows => rows_of(&simulation.memory_async().await?, model.lps(), rows),
                        };
                        Ok(RunResult { progress, fingerprint, totals, outputs, memory })
                    }
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            runs.push(results::fault_apart(made)?);
            events += runs.last().and_then(|run| run.as_ref().ok()).map_or(0, |ran| ran.progress.events);
            if watch(runs.len(), events).is_break() {
                break;
            }
        }
        Ok(runs)
    }

    /// Executes batches of runs, and repeats those that overflowed. Returns how most of them were
    /// mapped.
    async fn crowds(
        &mut self,
        mapping: Mapping,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<(Runs<M::Output>, Mapping), SimulationError> {
        let points = Points::new(self.gpu, &self.prepared.models)?;
        let known = self.fastest.found.get(&about(jobs.len())).and_then(|found| found.mapping);
        // Without a lookahead, windows are rounds at one time and hold an event or two in most
        // models: threads are faster.
        let rounds = self.prepared.models.iter().all(|model| model.lookahead() == Ticks::ZERO);
        let [first, other] = match rounds && self.options.queue.is_none() {
            true => [Mapping::Thread, Mapping::Team],
            false => [Mapping::Team, Mapping::Thread],
        };
        let mut undecided = mapping == Mapping::Auto && known.is_none() && !self.gpu.is_software();
        undecided &= first == Mapping::Team || jobs.len() < MANY_RUNS;
        let mut mapping = match (mapping, known) {
            // Barriers are slow there.
            (Mapping::Auto, _) if self.gpu.is_software() => Mapping::Thread,
            (Mapping::Auto, Some(known)) => known,
            (Mapping::Auto, None) => first,
            (chosen, _) => chosen,
        };
        let mut runs: Vec<Option<Result<RunResult<M::Output>, Fault>>> = vec![None; jobs.len()];
        let (mut ended, mut events) = (0, 0);
        let mut waiting: Vec<usize> = (0..jobs.len()).collect();
        // Whether each job's run has reached its end.
        let (mut done, mut stopped) = (vec![false; jobs.len()], false);
        while !waiting.is_empty() && !stopped {
            let batch_memory = self.batch_memory(mapping, waiting.len());
            // Runs that overflowed and cannot get more room have a fault.
            let mut batch_memory = match batch_memory {
                Err(SimulationError::ReplicaTooLarge { .. } | SimulationError::TeamSync { .. })
                    if ended > 0 =>
                {
                    break;
                }
                batch_memory => batch_memory?,
            };
            let (mut again, mut needed, mut cut) = (Vec::new(), self.prepared.room, false);
            let mut rest = &waiting[..];
            while !rest.is_empty() && !stopped {
                let (batch, others) = rest.split_at((batch_memory.most as usize).min(rest.len()));
                rest = others;
                let batch_jobs: Vec<_> = batch.iter().map(|&number| jobs[number]).collect();
                let mut flight = self.begin(&mut batch_memory, &points, &batch_jobs)?;
                while flight.running > 0 && !stopped {
                    events += self.slice(&mut batch_memory, &mut flight, &points).await?;
                    stopped = watch(ended + (flight.replicas - flight.running) as usize, events).is_break();
                    let goes_on = flight.running > 0 && !stopped && !batch_memory.tuner.is_open();
                    if undecided
                        && goes_on
                        && flight.took >= TRIAL
                        && let Some(rate) = batch_memory.tuner.rate()
                    {
                        undecided = false;
                        let share = batch_memory.memory.share_done(self.gpu, &flight.run).await?;
                        if !self.may_pay(&batch_memory, &flight, rate, share) {
                            continue;
                        }
                        let mut fastest = mapping;
                        if let Some((tried, rival)) = self.rival(other, &points, &batch_jobs, rate).await? {
                            let found = tried.tuner.rate().unwrap_or(0.0);
                            let mappings = [(mapping, 1.0), (other, 1.0)];
                            // Compares the best slices of each.
                            let mut tuner = Tuner::new(mappings, Order::Rounds, Score::Total, Budget::ONCE);
                            for rate in [rate, found] {
                                tuner.record(Some((rate, 1.0)));
                            }
                            tuner.log(&"replica mapping", "events");
                            fastest = tuner.best().unwrap_or(mapping);
                            // The rival starts anew: the current batch may finish first.
                            if rival.running == 0 || found * (1.0 - share) > rate {
                                (batch_memory, flight, mapping) = (tried, rival, other);
                            }
                        }
                        self.found(jobs.len()).mapping = Some(fastest);
                    }
                }
                if flight.running > 0 {
                    break;
                }
                let found = self.finish(&batch_memory, &flight, &points).await?;
                for (&number, found) in batch.iter().zip(found) {
                    match found {
                        Err(fault)
                            if !self.options.fixed && takes_room(&mut needed, fault, batch_memory.crowd) =>
                        {
                            again.push(number);
                            runs[number] = Some(Err(fault));
                        }
                        // The driver ended loops because the slice was too long.
                        Err(fault) if fault.kind == FaultKind::LoopsCut && self.shorter < SHORTEST => {
                            cut = true;
                            again.push(number);
                            runs[number] = Some(Err(fault));
                        }
                        found => {
                            ended += 1;
                            done[number] = true;
                            runs[number] = Some(found);
                        }
                    }
                }
            }
            if !again.is_empty() {
                log::info!(
                    "{} of {} runs overflowed, or had loops cut, and are repeated: {needed:?}",
                    again.len(),
                    jobs.len()
                );
            }
            if let Some(known) = batch_memory.tuner.known() {
                *self.found(waiting.len()).known(batch_memory.crowd) = Some(known);
            }
            self.prepared.room = needed;
            self.shorter *= if cut { 8 } else { 1 };
            waiting = again;
            // A trial of the repeated runs would not represent all runs.
            undecided = false;
        }
        let made = if stopped { done.iter().take_while(|&&done| done).count() } else { jobs.len() };
        Ok((runs.into_iter().take(made).map(|run| run.expect("every job ran")).collect(), mapping))
    }

    /// Whether a trial of another mapping may pay for a batch that executes `rate` events per
    /// second and has simulated this `share` of its time.
    fn may_pay(
        &self,
        batch_memory: &BatchMemory<M::State, M::Payload>,
        flight: &BatchInFlight,
        rate: f64,
        share: f64,
    ) -> bool {
        // The rate of threads that never wait for each other. (It decides when threads are tried,
        // not which mapping is used.)
        let threads = f64::from(flight.replicas) * THREAD_RATE;
        let least = match batch_memory.crowd {
            BatchMapping::LocalTeam { .. } | BatchMapping::Team { .. } if rate > CLEAR * threads => {
                return false;
            }
            BatchMapping::LocalTeam { .. } | BatchMapping::Team { .. } if rate < threads / CLEAR => 0.0,
            _ => UNSURE,
        };
        let cost = TRIAL + self.fastest.cost.max(COMPILATION);
        // The expected time of the whole batch.
        let whole = flight.took.as_secs_f64() / share;
        share < 0.5 && whole >= least * cost.as_secs_f64()
    }

    /// Runs the same batch by another mapping, until its speed relative to `rate` events per second
    /// is known. `None` if there is no room for both.
    async fn rival(
        &mut self,
        mapping: Mapping,
        points: &Points,
        jobs: &[Job],
        rate: f64,
    ) -> Result<Option<(BatchMemory<M::State, M::Payload>, BatchInFlight)>, SimulationError> {
        // (Errors are ignored: the trial is optional.)
        let Ok(mut batch_memory) = self.batch_memory(mapping, jobs.len()) else { return Ok(None) };
        if (batch_memory.most as usize) < jobs.len() {
            return Ok(None);
        }
        let mut rival = self.begin(&mut batch_memory, points, jobs)?;
        while rival.running > 0 {
            self.slice(&mut batch_memory, &mut rival, points).await?;
            // If the rates are close, the number of runs per workgroup may decide.
            let close =
                |found: f64| found < CLOSE * rate && rate < CLOSE * found && batch_memory.tuner.is_open();
            // If the rate is unknown after twice the usual time, the batch is too short to measure.
            if !batch_memory.tuner.rate().map_or(rival.took < 2 * TRIAL, close) {
                break;
            }
        }
        Ok(Some((batch_memory, rival)))
    }

    /// The outcomes of trials for about this number of runs.
    fn found(&mut self, runs: usize) -> &mut TrialOutcomes {
        self.fastest.found.entry(about(runs)).or_default()
    }

    /// Starts the runs of a batch.
    fn begin(
        &self,
        batch_memory: &mut BatchMemory<M::State, M::Payload>,
        points: &Points,
        jobs: &[Job],
    ) -> Result<BatchInFlight, GpuError> {
        batch_memory.tuner.begin();
        let (gpu, memory) = (self.gpu, &batch_memory.memory);
        let replicas = u32::try_from(jobs.len()).expect("a batch fits the device");
        // Fixed capacities are meant for windows within epochs; event-limited runs have such
        // windows, too.
        let events = if self.options.fixed { self.until.events.min(u64::MAX - 1) } else { self.until.events };
        let run = memory.run(self.model(), replicas, Until { events, ..self.until });
        memory.begin(gpu, &run, &self.prepared.models, jobs, self.seed)?;
        memory.write_run(gpu, &run)?;
        let bound = memory.bindings(points);
        let mut start = Plan::new("replicas: start");
        start.dispatch(gpu, &batch_memory.start, run.rows.div_ceil(plain_group(gpu)), &bound)?;
        start.dispatch(gpu, &batch_memory.settle, replicas, &bound)?;
        start.submit(gpu)?;
        let slices = batch_memory.slices.iter().map(|_| None).collect();
        Ok(BatchInFlight { run, slices, replicas, running: replicas, took: Duration::ZERO })
    }

    /// Executes a slice of all runs of a batch. Returns the number of executed events, modulo 2^32.
    async fn slice(
        &self,
        batch_memory: &mut BatchMemory<M::State, M::Payload>,
        flight: &mut BatchInFlight,
        points: &Points,
    ) -> Result<u64, SimulationError> {
        let (gpu, memory) = (self.gpu, &batch_memory.memory);
        let (choice, steps) = (batch_memory.tuner.next(), batch_memory.tuner.steps());
        if flight.slices[choice].is_none() {
            let kernel = slice_kernel(gpu, batch_memory.crowd, &batch_memory.slices[choice])?;
            let mut slice = Plan::new("replicas: slice");
            let groups = flight.replicas.div_ceil(batch_memory.tuner.runs(choice));
            slice.dispatch(gpu, &kernel, groups, &memory.bindings(points))?;
            flight.slices[choice] = Some(slice);
        }
        flight.run.part = Part { slice: steps, ..flight.run.part };
        memory.write_run(gpu, &flight.run)?;
        let begin = Instant::now();
        let mut encoder = gpu.encoder("replicas: slice");
        encoder.clear_buffer(memory.words().raw(), 0, Some(16));
        flight.slices[choice].as_ref().expect("it was built above").record(&mut encoder);
        let download = Download::new(gpu, "replicas: progress", 16)?;
        download.record(&mut encoder, memory.words().raw(), 0);
        let submission = gpu.submit(encoder)?;
        let words = download.finish(gpu, submission).await?;
        let took = begin.elapsed();
        let [running, executed, windows, halted] =
            [0, 4, 8, 12].map(|at| bytemuck::pod_read_unaligned::<u32>(&words[at..at + 4]));
        flight.running = running;
        flight.took += took;
        // (Event-horizon windows are tried before another mapping.)
        batch_memory.tuner.allow([flight.took >= batch_memory.patience, flight.took >= TRIAL]);
        if running > 0 {
            batch_memory.tuner.record(choice, steps, took, executed, running == flight.replicas);
            batch_memory.tuner.windows(self.model().lps(), executed, windows);
            if halted != 0 {
                batch_memory.tuner.halt();
            }
        }
        Ok(executed.into())
    }

    /// The results of the completed runs of a batch.
    async fn finish(
        &self,
        batch_memory: &BatchMemory<M::State, M::Payload>,
        flight: &BatchInFlight,
        points: &Points,
    ) -> Result<Runs<M::Output>, SimulationError> {
        let (gpu, memory, run) = (self.gpu, &batch_memory.memory, &flight.run);
        let bound = memory.bindings(points);
        let mut digest = Plan::new("replicas: fingerprints");
        digest.dispatch(gpu, &batch_memory.digest, flight.replicas, &bound)?;
        digest.submit(gpu)?;
        let ended = memory.ended(gpu, run).await?;
        let digests = memory.digests(gpu, run).await?;
        if let Some(row) = memory.digest_cut(gpu).await? {
            // An incomplete fingerprint must not be reported, and LP memory is too large for this
            // driver's loops.
            let window = ended[(row / run.total) as usize].as_ref().map_or(0, |progress| progress.windows);
            let lp = row % run.total;
            return Err(Fault { kind: FaultKind::LoopsCut, lp, window, needed: 0 }.into());
        }
        let reported = match (&batch_memory.output, &self.prepared.columns) {
            (Some(output), Some(columns)) => {
                let at = results::at(self.until)?;
                let rows = self.options.outputs;
                let reported =
                    results::totals::<M>(gpu, memory, output, &bound, run, columns, at, rows).await?;
                // Faults of `output` are in the words of the run, too.
                let after = memory.ended(gpu, run).await?;
                for (before, after) in ended.iter().zip(after) {
                    if let (Ok(_), Err(Fault { kind, lp, .. })) = (before, after) {
                        return Err(SimulationError::Output { kind, lp });
                    }
                }
                reported
            }
            _ => vec![(None, None); ended.len()],
        };
        let rows = memory.lp_rows(gpu, run, self.options.memory).await?;
        let ran = |(((ended, digest), reported), memory): (
            ((Result<Progress, Fault>, _), results::RunOutput<_>),
            _,
        )| {
            let (totals, outputs) = reported;
            ended.map(|progress| RunResult {
                progress,
                fingerprint: Fingerprint(digest),
                totals,
                outputs,
                memory,
            })
        };
        Ok(ended.into_iter().zip(digests).zip(reported).zip(rows).map(ran).collect())
    }
}

/// The number of runs that keep a device busy by threads, whatever their windows hold: from here
/// on, models without a lookahead do not try teams. (A guess.)
const MANY_RUNS: usize = 1024;

/// Events per second of a run by a thread if nothing delays it: 0.6 to 1 million for PHOLD on an
/// H200.
const THREAD_RATE: f64 = 0.8e6;

/// The estimated minimum time to compile the kernels of another mapping.
const COMPILATION: Duration = Duration::from_millis(300);

/// Teams this many times as fast as the estimate for threads are kept without a trial; if they are
/// as many times slower, threads are tried at once.
const CLEAR: f64 = 2.0;

/// If neither mapping is clearly faster, the other one is tried in batches that take this many
/// times the cost of the trial, which may be wasted.
const UNSURE: f64 = 8.0;

/// Mappings are close if neither is this many times as fast as the other.
const CLOSE: f64 = 1.5;

/// If a run failed for lack of room, raises the need, and returns true.
fn takes_room(needed: &mut BatchNeeds, fault: Fault, crowd: BatchMapping) -> bool {
    let larger = |size: &mut u32| *size = (*size).max(fault.needed.saturating_add(fault.needed / 2));
    match (fault.kind, crowd) {
        (FaultKind::QueueFull, BatchMapping::LocalTeam { .. } | BatchMapping::Thread { .. }) => {
            larger(&mut needed.events)
        }
        (FaultKind::QueueFull, BatchMapping::Team { .. }) => larger(&mut needed.capacity.queue),
        (FaultKind::MailboxFull, BatchMapping::Team { .. }) => larger(&mut needed.capacity.mailbox),
        _ => return false,
    }
    true
}
