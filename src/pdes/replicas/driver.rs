//! Makes the runs of an experiment: batch by batch, slice by slice, and again with more room where a run found too little.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Duration;

use web_time::Instant;

use crate::gpu::{Download, Gpu, GpuError, Kernel, Pace, Plan, Recipe};
use crate::queue::QueueDesign;
use crate::time::Ticks;

use super::super::cut::group_size_at_most;
use super::super::error::{Fault, FaultKind, SimulationError};
use super::super::memory::{Part, Run};
use super::super::{Event, Fingerprint, Model, Options, Progress, Simulation, Stop, Until, auto};
use super::mapping::{Crowd, Mapping, Recipes, plain_group};
use super::memory::{self, Job, Memory, Points, Room};
use super::results::{self, Ran};
use super::spread::{Known, Spread};
use super::{EngineOptions, Prepared};

/// A run's end, by job.
pub(super) type Runs<O> = Vec<Result<Ran<O>, Fault>>;

/// What trials found, by the binary logarithm of the number of runs.
#[derive(Debug, Default)]
pub(super) struct Fastest {
    found: HashMap<u32, Found>,
    /// The longest that it took to prepare a batch: with kernels to compile, as it may be for those that a trial needs.
    cost: Duration,
}

impl Fastest {
    /// Forgets what was found.
    pub(super) fn clear(&mut self) {
        self.found.clear();
    }
}

/// Nothing where there was no trial.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    /// The faster one.
    mapping: Option<Mapping>,
    /// By threads, how many runs share a workgroup.
    together: Option<Known>,
}

/// Makes the runs of an experiment.
pub(super) struct Driver<'e, M> {
    pub(super) gpu: &'e Gpu,
    pub(super) options: EngineOptions,
    pub(super) prepared: &'e mut Prepared<M>,
    pub(super) fastest: &'e mut Fastest,
    pub(super) seed: u64,
    pub(super) until: Until,
    /// By what factor slices are shorter than usual.
    pub(super) shorter: u32,
}

/// Slices do not get shorter by more than that.
const SHORTEST: u32 = 1024;

/// Steps of a slice at the most. Drivers on the processor may end the loops of an invocation that makes 65,535 iterations: a step of a team are perhaps
/// 100, one of a thread 30; where they were more, slices get shorter by a factor.
fn most_steps(gpu: &Gpu, crowd: Crowd, shorter: u32) -> u32 {
    let most = match (gpu.on_processor(), crowd) {
        (true, Crowd::Team { .. } | Crowd::Near { .. }) => 128,
        (true, Crowd::Thread { .. }) => 1024,
        // Of a window, an LP may execute a whole budget of events: perhaps 128 times 1.5 µs (an estimate) where 1.4 µs are usual on an H200.
        (false, Crowd::Team { .. } | Crowd::Near { .. }) => 8192,
        (false, Crowd::Thread { .. }) => 1 << 24,
    };
    (most / shorter).max(1)
}

/// Where batches of runs are made: kernels, and memory for so many.
struct Ground<S, P> {
    crowd: Crowd,
    memory: Memory<S, P>,
    most: u32,
    start: Kernel,
    settle: Kernel,
    /// By how many runs share a workgroup.
    slices: Vec<Recipe>,
    digest: Kernel,
    output: Option<Kernel>,
    spread: Spread,
    /// What a batch takes before a trial that needs kernels of its own.
    patience: Duration,
}

/// A batch of runs under way.
struct Flight {
    run: Run,
    /// A slice, by how many runs share a workgroup: made when it is needed, because kernels are compiled then.
    slices: Vec<Option<Plan>>,
    replicas: u32,
    running: u32,
    /// In all of its slices.
    took: Duration,
}

/// When a batch has taken so long, and so many times what it took to prepare it (that of the other mapping may take as long), another mapping is tried.
const TRIAL: Duration = Duration::from_millis(80);
const PATIENCE: u32 = 2;

impl<M: Model> Driver<'_, M> {
    /// What the jobs came to; of the first of them, if `watch` stopped it.
    pub(super) async fn run(
        &mut self,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<(Runs<M::Output>, Mapping), SimulationError> {
        let counted = self.until.events != Until::EMPTY.events;
        match self.options.mapping {
            Mapping::Grid => Ok((self.grid(jobs, watch).await?, Mapping::Grid)),
            Mapping::Auto if self.fills_the_device(jobs.len()) => {
                Ok((self.grid(jobs, watch).await?, Mapping::Grid))
            }
            Mapping::Thread if counted => Err(SimulationError::ThreadEvents),
            // Threads have no ends by events, and one queue for a run.
            Mapping::Auto if counted || self.options.fixed => self.crowds(Mapping::Team, jobs, watch).await,
            chosen => {
                let (mut runs, mapping) = self.crowds(chosen, jobs, watch).await?;
                if !counted {
                    self.tell_faults(mapping, jobs, &mut runs).await?;
                }
                Ok((runs, mapping))
            }
        }
    }

    /// Makes those runs again that broke a rule, with the windows of the sequential engine: of what is broken in a window, the fault at the first LP is
    /// told, whatever a mapping comes upon first.
    async fn tell_faults(
        &mut self,
        mapping: Mapping,
        jobs: &[Job],
        runs: &mut Runs<M::Output>,
    ) -> Result<(), SimulationError> {
        let broke = |run: &Result<Ran<M::Output>, Fault>| {
            run.as_ref()
                .is_err_and(|fault| !matches!(fault.kind, FaultKind::QueueFull | FaultKind::MailboxFull))
        };
        let failed: Vec<usize> = (0..runs.len()).filter(|&number| broke(&runs[number])).collect();
        if failed.is_empty() {
            return Ok(());
        }
        let again: Vec<_> = failed.iter().map(|&number| jobs[number]).collect();
        // What was chosen may be for another mapping, and room is no matter here. An end by events, which is never reached, makes cells of windows.
        let options = EngineOptions { outputs: self.options.outputs, ..EngineOptions::default() };
        let until = Until { events: u64::MAX - 1, ..self.until };
        let (options, until) =
            (std::mem::replace(&mut self.options, options), std::mem::replace(&mut self.until, until));
        let told = self.crowds(Mapping::Team, &again, &mut |_, _| ControlFlow::Continue(())).await;
        (self.options, self.until) = (options, until);
        match told {
            Ok((told, _)) => {
                for (number, told) in failed.into_iter().zip(told) {
                    let own = |fault: &Fault| matches!(fault.kind, FaultKind::LoopsCut | FaultKind::Stuck);
                    debug_assert!(
                        told.is_err() || runs[number].as_ref().is_err_and(own),
                        "run {number} fails by {mapping} only: {:?}",
                        runs[number]
                    );
                    runs[number] = told;
                }
                Ok(())
            }
            // Then it is what was found.
            Err(SimulationError::ReplicaTooLarge { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn model(&self) -> &M {
        &self.prepared.models[0]
    }

    /// Whether each run is for the whole device, and they are too few to be mapped otherwise. (A guess.)
    fn fills_the_device(&self, jobs: usize) -> bool {
        self.model().lps() > 4096 && jobs < 64
    }

    fn team(&self) -> Result<Crowd, SimulationError> {
        let queue = match self.options.queue {
            Some(QueueDesign::Calendar | QueueDesign::CbPar(_)) => return Err(SimulationError::TeamQueue),
            Some(queue) => queue,
            None => auto::USUAL,
        };
        let lps = self.model().lps();
        let usual = lps.next_power_of_two().clamp(32, 256);
        let group_size = self.options.group_size.unwrap_or_else(|| group_size_at_most(self.gpu, usual));
        Ok(Crowd::Team { group_size, queue })
    }

    /// Teams that have all pending events in workgroup memory, if they fit, with an invocation for each LP.
    fn near(&self, jobs: usize) -> Option<Crowd> {
        let (lps, limits) = (self.model().lps(), self.gpu.limits());
        // Two at the least: SwiftShader makes other bits where a team is a single invocation. Why was not found; llvmpipe and an H200 do not.
        let lists = lps.checked_next_power_of_two()?.max(2);
        let group_size = lists.max(self.options.group_size.unwrap_or(NEAR_GROUP));
        // Where somebody chose a size, it is filled.
        let together = jobs > NEAR_APART || self.options.group_size.is_some();
        let mut teams = if together { group_size / lists } else { 1 };
        // In steps, so that fewer kernels are compiled.
        let pool = self.prepared.room.events.checked_next_multiple_of(16)?;
        let event = u64::try_from(size_of::<Event<M::Payload>>()).ok()?;
        let fits = |teams: u32| {
            let bytes =
                u64::from(teams) * (u64::from(pool) * (event + 4) + NEAR_OTHERS) + u64::from(group_size) * 8;
            bytes <= limits.max_compute_workgroup_storage_size.into()
        };
        while teams > 1 && !fits(teams) {
            teams /= 2;
        }
        let fits = fits(teams) && group_size <= limits.max_compute_invocations_per_workgroup;
        // Capacities that are fixed are those of queues and mailboxes.
        // And runs that end by events end with cells, of which near teams know nothing.
        let counted = self.until.events != Until::EMPTY.events;
        let chosen = self.options.fixed || self.options.queue.is_some() || counted;
        (fits && !chosen && pool / lps <= NEAR_EVENTS).then_some(Crowd::Near { group_size, pool, teams })
    }

    fn thread(&self) -> Crowd {
        let on_processor = self.gpu.on_processor();
        let group_size = self.options.group_size.or_else(|| on_processor.then_some(8));
        // A processor has no memory that is nearer than another.
        Crowd::Thread { group_size, near: !on_processor }
    }

    /// How many runs of a batch share a workgroup.
    fn spread(&self, crowd: Crowd, batch: u32, jobs: usize) -> Spread {
        let pace = Pace::new(most_steps(self.gpu, crowd, self.shorter));
        match crowd {
            Crowd::Thread { group_size: None, .. } => {
                let found = self.fastest.found.get(&about(jobs)).copied().unwrap_or_default();
                Spread::found(batch, found.together, &pace)
            }
            Crowd::Thread { group_size: Some(group_size), .. } => Spread::fixed(group_size, pace),
            Crowd::Near { teams, .. } => Spread::fixed(teams, pace),
            Crowd::Team { .. } => Spread::fixed(1, pace),
        }
    }

    /// One run after the other.
    async fn grid(
        &mut self,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<Runs<M::Output>, SimulationError> {
        let (mut runs, mut events) = (Vec::with_capacity(jobs.len()), 0);
        for job in jobs {
            let options = Options {
                seed: self.seed,
                replica: job.replica,
                queue: self.options.queue,
                group_size: self.options.group_size,
                fixed: self.options.fixed,
                ..Options::default()
            };
            let model = &self.prepared.models[job.point as usize];
            let made = match Simulation::new_async(self.gpu, model, options).await {
                Ok(mut simulation) => match simulation
                    .run_async(self.until, |progress| watch(runs.len(), events + progress.events))
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
                        Ok(Ran { progress, fingerprint, totals, outputs })
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

    /// Batches of runs, and then those again that found too little room. Returns how most of them were mapped.
    async fn crowds(
        &mut self,
        mapping: Mapping,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<(Runs<M::Output>, Mapping), SimulationError> {
        let points = Points::new(self.gpu, &self.prepared.models)?;
        let known = self.fastest.found.get(&about(jobs.len())).and_then(|found| found.mapping);
        // Without a lookahead windows are the rounds of a time, and hold an event or two in most models. (10,000 runs of the network `jackson.toml` on an H200: threads 3.1 s, teams and
        // then threads 14 s: teams are compiled, and run for twice that time before threads are tried.)
        let rounds = self.prepared.models.iter().all(|model| model.lookahead() == Ticks::ZERO);
        let [first, other] = match rounds && self.options.queue.is_none() {
            true => [Mapping::Thread, Mapping::Team],
            false => [Mapping::Team, Mapping::Thread],
        };
        let mut undecided = mapping == Mapping::Auto && known.is_none() && !self.gpu.on_processor();
        undecided &= first == Mapping::Team || jobs.len() < MANY_RUNS;
        let mut mapping = match (mapping, known) {
            // Barriers are slow there. (`bench replicas` on llvmpipe, 1,024 runs of 64 LPs with 4 events each: at rate 0.1 1.2 times as fast, at 0.001 49 times.)
            (Mapping::Auto, _) if self.gpu.on_processor() => Mapping::Thread,
            (Mapping::Auto, Some(known)) => known,
            (Mapping::Auto, None) => first,
            (chosen, _) => chosen,
        };
        let mut runs: Vec<Option<Result<Ran<M::Output>, Fault>>> = vec![None; jobs.len()];
        let (mut ended, mut events) = (0, 0);
        let mut waiting: Vec<usize> = (0..jobs.len()).collect();
        // Whether a run has come to its end, by job.
        let (mut done, mut stopped) = (vec![false; jobs.len()], false);
        while !waiting.is_empty() && !stopped {
            let ground = self.ground(mapping, waiting.len());
            // Those that found too little room, and for which there is no more, have a fault.
            let mut ground = match ground {
                Err(SimulationError::ReplicaTooLarge { .. }) if ended > 0 => break,
                ground => ground?,
            };
            let (mut again, mut needed, mut cut) = (Vec::new(), self.prepared.room, false);
            let mut rest = &waiting[..];
            while !rest.is_empty() && !stopped {
                let (batch, others) = rest.split_at((ground.most as usize).min(rest.len()));
                rest = others;
                let batch_jobs: Vec<_> = batch.iter().map(|&number| jobs[number]).collect();
                let mut flight = self.begin(&mut ground, &points, &batch_jobs)?;
                while flight.running > 0 && !stopped {
                    events += self.slice(&mut ground, &mut flight, &points).await?;
                    stopped = watch(ended + (flight.replicas - flight.running) as usize, events).is_break();
                    let goes_on = flight.running > 0 && !stopped && !ground.spread.is_open();
                    if undecided
                        && goes_on
                        && flight.took >= ground.patience
                        && let Some(rate) = ground.spread.rate()
                    {
                        undecided = false;
                        if let Some((faster, rival)) = self.rival(other, rate, &points, &batch_jobs).await? {
                            (ground, flight, mapping) = (faster, rival, other);
                        }
                        self.found(jobs.len()).mapping = Some(mapping);
                    }
                }
                if flight.running > 0 {
                    break;
                }
                let found = self.finish(&ground, &flight, &points).await?;
                for (&number, found) in batch.iter().zip(found) {
                    match found {
                        Err(fault) if !self.options.fixed && takes_room(&mut needed, fault, ground.crowd) => {
                            again.push(number);
                            runs[number] = Some(Err(fault));
                        }
                        // The driver cut the loops of a slice that was too long for it.
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
                    "{} of {} runs found too little room, or had loops cut, and are made again: {needed:?}",
                    again.len(),
                    jobs.len()
                );
            }
            if let Some(known) = ground.spread.known() {
                self.found(waiting.len()).together = Some(known);
            }
            self.prepared.room = needed;
            self.shorter *= if cut { 8 } else { 1 };
            waiting = again;
            // A trial of those would say nothing of all.
            undecided = false;
        }
        let made = if stopped { done.iter().take_while(|&&done| done).count() } else { jobs.len() };
        Ok((runs.into_iter().take(made).map(|run| run.expect("every job was made")).collect(), mapping))
    }

    /// The same batch by another mapping, for as long as a trial lasts, if it executes more than `rate` events per second.
    async fn rival(
        &mut self,
        mapping: Mapping,
        rate: f64,
        points: &Points,
        jobs: &[Job],
    ) -> Result<Option<(Ground<M::State, M::Payload>, Flight)>, SimulationError> {
        // Nobody needs it: where it does not fit beside the other one, there is none.
        let Ok(mut ground) = self.ground(mapping, jobs.len()) else { return Ok(None) };
        if (ground.most as usize) < jobs.len() {
            return Ok(None);
        }
        let mut rival = self.begin(&mut ground, points, jobs)?;
        while rival.running > 0 && (rival.took < TRIAL || ground.spread.is_open()) {
            self.slice(&mut ground, &mut rival, points).await?;
        }
        let found = ground.spread.rate();
        log::info!("{rate:.3e} events/s, by {mapping}: {:.3e}", found.unwrap_or(0.0));
        // Where it has come to its end, there is nothing left to do.
        let faster = rival.running == 0 || found.is_some_and(|found| found > rate);
        Ok(faster.then_some((ground, rival)))
    }

    /// What trials found for so many runs.
    fn found(&mut self, runs: usize) -> &mut Found {
        self.fastest.found.entry(about(runs)).or_default()
    }

    fn ground(
        &mut self,
        mapping: Mapping,
        jobs: usize,
    ) -> Result<Ground<M::State, M::Payload>, SimulationError> {
        let (gpu, begin) = (self.gpu, Instant::now());
        let crowd = match (mapping, self.near(jobs)) {
            (Mapping::Thread, _) => self.thread(),
            (_, Some(near)) => near,
            (_, None) => self.team()?,
        };
        let recipes =
            Recipes::new(self.model(), crowd, gpu.has(wgpu::Features::SHADER_INT64), plain_group(gpu));
        let most = self.batch_size(crowd, jobs)?;
        let spread = self.spread(crowd, most, jobs);
        // What begins is compiled now.
        slice_kernel(gpu, crowd, &recipes.slices[spread.next()])?;
        let mut ground = Ground {
            crowd,
            memory: Memory::new(gpu, self.model(), crowd, self.prepared.room, most)?,
            most,
            start: recipes.start.kernel(gpu)?,
            settle: recipes.settle.kernel(gpu)?,
            slices: recipes.slices,
            digest: recipes.digest.kernel(gpu)?,
            output: recipes.output.as_ref().map(|output| output.kernel(gpu)).transpose()?,
            spread,
            patience: Duration::ZERO,
        };
        self.fastest.cost = self.fastest.cost.max(begin.elapsed());
        ground.patience = TRIAL.max(PATIENCE * self.fastest.cost);
        Ok(ground)
    }

    /// How many runs are on the device at once.
    fn batch_size(&self, crowd: Crowd, jobs: usize) -> Result<u32, SimulationError> {
        let (model, limit) = (self.model(), self.gpu.max_buffer_bytes());
        let bytes = memory::bytes(model, crowd, self.prepared.room);
        let widest = bytes.into_iter().max().unwrap_or(1);
        let whole: u64 = bytes.iter().sum();
        // A dispatch of rows has one dimension.
        let groups = u64::from(self.gpu.limits().max_compute_workgroups_per_dimension);
        let rows = groups * u64::from(plain_group(self.gpu)) / u64::from(model.lps());
        let most = (limit / widest).min(rows).min(groups).min((MEMORY / whole).max(1)).min(jobs as u64);
        if most == 0 {
            return Err(SimulationError::ReplicaTooLarge { lps: model.lps(), needed: widest, limit });
        }
        // Batches of about the same size.
        let batches = (jobs as u64).div_ceil(most);
        Ok(u32::try_from((jobs as u64).div_ceil(batches)).expect("no more than the runs"))
    }

    /// Starts the runs of a batch.
    fn begin(
        &self,
        ground: &mut Ground<M::State, M::Payload>,
        points: &Points,
        jobs: &[Job],
    ) -> Result<Flight, GpuError> {
        ground.spread.begin();
        let (gpu, memory) = (self.gpu, &ground.memory);
        let replicas = u32::try_from(jobs.len()).expect("a batch fits the device");
        // Capacities that are fixed are those of windows that lie in cells; so are windows of runs that end by a number of events.
        let events = if self.options.fixed { self.until.events.min(u64::MAX - 1) } else { self.until.events };
        let run = memory.run(self.model(), replicas, Until { events, ..self.until });
        memory.begin(gpu, &run, &self.prepared.models, jobs, self.seed)?;
        memory.tell(gpu, &run)?;
        let bound = memory.bindings(points);
        let mut start = Plan::new("replicas: start");
        start.dispatch(gpu, &ground.start, run.rows.div_ceil(plain_group(gpu)), &bound)?;
        start.dispatch(gpu, &ground.settle, replicas, &bound)?;
        start.submit(gpu)?;
        let slices = ground.slices.iter().map(|_| None).collect();
        Ok(Flight { run, slices, replicas, running: replicas, took: Duration::ZERO })
    }

    /// A slice of all runs of a batch. Returns the events that were executed, modulo 2^32.
    async fn slice(
        &self,
        ground: &mut Ground<M::State, M::Payload>,
        flight: &mut Flight,
        points: &Points,
    ) -> Result<u64, SimulationError> {
        let (gpu, memory) = (self.gpu, &ground.memory);
        let (choice, steps) = (ground.spread.next(), ground.spread.steps());
        if flight.slices[choice].is_none() {
            let kernel = slice_kernel(gpu, ground.crowd, &ground.slices[choice])?;
            let mut slice = Plan::new("replicas: slice");
            let groups = flight.replicas.div_ceil(ground.spread.runs(choice));
            slice.dispatch(gpu, &kernel, groups, &memory.bindings(points))?;
            flight.slices[choice] = Some(slice);
        }
        flight.run.part = Part { slice: steps, ..flight.run.part };
        memory.tell(gpu, &flight.run)?;
        let begin = Instant::now();
        let mut encoder = gpu.encoder("replicas: slice");
        encoder.clear_buffer(memory.words().raw(), 0, Some(8));
        flight.slices[choice].as_ref().expect("it was made above").record(&mut encoder);
        let download = Download::new(gpu, "replicas: progress", 8)?;
        download.record(&mut encoder, memory.words().raw(), 0);
        let submission = gpu.submit(encoder)?;
        let words = download.finish(gpu, submission).await?;
        let took = begin.elapsed();
        let [running, executed] = [0, 4].map(|at| bytemuck::pod_read_unaligned::<u32>(&words[at..at + 4]));
        flight.running = running;
        flight.took += took;
        ground.spread.allow(flight.took >= ground.patience);
        if running > 0 {
            ground.spread.record(steps, took, executed, running == flight.replicas);
        }
        Ok(executed.into())
    }

    /// What the runs of a batch gave, which have come to their ends.
    async fn finish(
        &self,
        ground: &Ground<M::State, M::Payload>,
        flight: &Flight,
        points: &Points,
    ) -> Result<Runs<M::Output>, SimulationError> {
        let (gpu, memory, run) = (self.gpu, &ground.memory, &flight.run);
        let bound = memory.bindings(points);
        let mut digest = Plan::new("replicas: fingerprints");
        digest.dispatch(gpu, &ground.digest, flight.replicas, &bound)?;
        digest.submit(gpu)?;
        let ended = memory.ended(gpu, run).await?;
        let digests = memory.digests(gpu, run).await?;
        if let Some(row) = memory.digest_cut(gpu).await? {
            // A fingerprint that means nothing must not be told, and LP memory is too large for this driver's loops.
            let window = ended[(row / run.total) as usize].as_ref().map_or(0, |progress| progress.windows);
            let lp = row % run.total;
            return Err(Fault { kind: FaultKind::LoopsCut, lp, window, needed: 0 }.into());
        }
        let told = match (&ground.output, &self.prepared.columns) {
            (Some(output), Some(columns)) => {
                let at = results::at(self.until)?;
                let rows = self.options.outputs;
                let told = results::totals::<M>(gpu, memory, output, &bound, run, columns, at, rows).await?;
                // What `output` fails in is in the words of the run, too.
                let after = memory.ended(gpu, run).await?;
                for (before, after) in ended.iter().zip(after) {
                    if let (Ok(_), Err(Fault { kind, lp, .. })) = (before, after) {
                        return Err(SimulationError::Output { kind, lp });
                    }
                }
                told
            }
            _ => vec![(None, None); ended.len()],
        };
        let ran = |((ended, digest), told): ((Result<Progress, Fault>, _), results::Told<_>)| {
            let (totals, outputs) = told;
            ended.map(|progress| Ran { progress, fingerprint: Fingerprint(digest), totals, outputs })
        };
        Ok(ended.into_iter().zip(digests).zip(told).map(ran).collect())
    }
}

/// The kernel of a slice. That of near teams counts no loops but a model's: it is 1.10 times as fast so (`bench replicas` on an H200, 16, 64 and 256 LPs at rate 0.1); threads are not.
fn slice_kernel(gpu: &Gpu, crowd: Crowd, recipe: &Recipe) -> Result<Kernel, GpuError> {
    match crowd {
        // SAFETY: the loops of `pdes/near.wgsl` and of what it links count up to a bound, or follow a list of slots. Models cannot write those, and a slot comes once in a list and
        // in one list only: who puts it into one has taken it out of another.
        Crowd::Near { .. } => unsafe { recipe.ending(gpu) },
        Crowd::Team { .. } | Crowd::Thread { .. } => recipe.kernel(gpu),
    }
}

/// The fewest invocations of a near team. (A guess.)
const NEAR_GROUP: u32 = 32;

/// Runs from which on near teams of few LPs share a workgroup. (`bench replicas` on an H200, 10,000 runs: of 16 LPs 1.45, 1.54 and 1.32 times as fast at rates 0.1, 0.001 and 0.00001, of 8 LPs 2.0, 2.3
/// and 1.4 times. From how many on is a guess: as many as it takes to keep a device busy.)
const NEAR_APART: usize = 2048;

/// Bytes of workgroup memory that a near team takes besides, at the most: nine variables, of 16 each as WebGPU counts them.
const NEAR_OTHERS: u64 = 9 * 16;

/// Events of an LP up to which a near team is good: they are in a list. (A guess.)
const NEAR_EVENTS: u32 = 32;

/// Runs that keep a device busy by threads, whatever their windows hold: models without a lookahead do not even try teams then. (A guess.)
const MANY_RUNS: usize = 1024;

/// Numbers of runs that are much the same, by one of them.
fn about(runs: usize) -> u32 {
    runs.max(1).ilog2()
}

/// Bytes of a batch.
const MEMORY: u64 = 4 << 30;

/// Takes in that a run failed for want of room, and says whether that is so.
fn takes_room(needed: &mut Room, fault: Fault, crowd: Crowd) -> bool {
    let larger = |size: &mut u32| *size = (*size).max(fault.needed.saturating_add(fault.needed / 2));
    match (fault.kind, crowd) {
        (FaultKind::QueueFull, Crowd::Near { .. } | Crowd::Thread { .. }) => larger(&mut needed.events),
        (FaultKind::QueueFull, Crowd::Team { .. }) => larger(&mut needed.capacity.queue),
        (FaultKind::MailboxFull, Crowd::Team { .. }) => larger(&mut needed.capacity.mailbox),
        _ => return false,
    }
    true
}
