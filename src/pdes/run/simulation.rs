//! The engine on the GPU: the host side of a run. `rebuild.rs` moves it to another memory,
//! `room.rs` sizes that, `run.rs` starts runs, `read.rs` returns results, `saved.rs` saves and
//! resumes.

#[cfg(not(target_arch = "wasm32"))]
mod ahead;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod part;
mod pending_progress;
mod read;
mod rebuild;
mod room;
mod run;
mod saved;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use web_time::{Duration, Instant};

use crate::gpu::{Download, Gpu, GpuError, Pace, Source, Submission, Verdict};
use crate::queue::QueueDesign;
use crate::time::Ticks;

use super::auto::Auto;
use super::candidates;
use crate::pdes::checkpoint::{Identity, RunHistory, Skew};
#[cfg(doc)]
use crate::pdes::contract::error::Fault;
use crate::pdes::contract::error::{FaultKind, SimulationError};
use crate::pdes::contract::limits::check_lps;
use crate::pdes::device::check;
use crate::pdes::device::cut::{Cut, Needs, PartIndex, usual_group_size};
use crate::pdes::device::declared::Declared;
use crate::pdes::device::growth::{self, Snapshot};
use crate::pdes::device::memory::Memory;
use crate::pdes::device::plans::{self, Plans};
use crate::pdes::device::recipes::{Choice, Recipes};
use crate::pdes::device::results::Results;
use crate::pdes::device::strategy::Strategy;
use crate::pdes::{Capacity, Checkpoint, Mapping, Model, Options, Progress, Replica, Stop, Sync, Until};
pub use pending_progress::PendingProgress;
use room::{cannot_grow, new_snapshot, of_design, tiles_for};

/// A simulation on the GPU.
///
/// The LPs' states stay on the device between calls, where an application's own passes can bind
/// them ([`Simulation::states_buffer`]).
pub struct Simulation<M: Model> {
    gpu: Gpu,
    strategy: Strategy,
    /// The chosen synchronisation.
    sync: Sync,
    memory: Memory<M::State, M::Payload>,
    plans: Plans,
    name: String,
    /// `None` for a model without results.
    results: Option<Results>,
    pace: Pace,
    /// The pace of events: future windows may execute far more of them than the last ones.
    load: Pace,
    /// The number of executed events when the control block was last read.
    seen: u64,
    /// `None` if capacities are fixed, or if the device has no room for one.
    snapshot: Option<Snapshot>,
    rebuild: Rebuild<M>,
    auto: Auto,
    /// The mapping that the user chose.
    chosen: Mapping,
    /// Whether the plans are those for event-limited runs.
    counted: bool,
    /// The history of the runs that reached their ends.
    course: RunHistory,
    /// Whether a run that has not reached its end had windows of a speculative strategy that was
    /// changed since: LPs may still be as far ahead as those windows allowed.
    further: bool,
    /// Selects its random streams.
    seed: (u64, Replica),
    /// Whether windows ran after the history was recorded: windows of an application, or of a run
    /// that was dropped or failed. (A stopped run is in `course`, but it is not the end that the
    /// snapshot runs to: that is `unsaved`.)
    recorded: AtomicBool,
    /// Whether more than complete runs happened since the snapshot: windows that an application
    /// recorded, or a run that was dropped or refused.
    unsaved: AtomicBool,
}

/// What is needed to rebuild the same run with other capacities.
struct Rebuild<M> {
    source: Source,
    identity: Identity,
    declared: Declared,
    /// With the initial capacity.
    needs: Needs,
    group_size: u32,
    tiles: Option<u32>,
    model: PhantomData<M>,
}

/// The maximum number of windows in one submission: that many empty windows take 10 ms on an H200.
const MAX_WINDOWS: u32 = 4096;

/// Submissions pause at this many times the events that fit one: two are in flight, and loads vary.
const SLACK: u64 = 8;

impl<M: Model> Simulation<M> {
    /// Prepares the kernels and buffers of `model` and initialises its LPs.
    ///
    /// Where the calendar takes long to compile, the run begins with another queue while a thread
    /// compiles it. Dropping the simulation waits for that thread.
    ///
    /// # Errors
    /// Any [`SimulationError`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(gpu: &Gpu, model: &M, options: Options) -> Result<Self, SimulationError> {
        pollster::block_on(Self::new_async(gpu, model, options))
    }

    /// [`Simulation::new`] without blocking.
    ///
    /// # Errors
    /// Any [`SimulationError`].
    pub async fn new_async(gpu: &Gpu, model: &M, options: Options) -> Result<Self, SimulationError> {
        Self::begin(gpu, model, (0..model.lps(), None), options, None).await
    }

    /// Simulates a range of LPs alone. Sending an event to another LP is
    /// [`FaultKind::Destination`]. The fingerprints of ranges add up to that of the whole run.
    #[doc(hidden)]
    #[cfg(not(target_arch = "wasm32"))]
    #[doc(hidden)]
    pub fn of_range(
        gpu: &Gpu,
        model: &M,
        lps: Range<u32>,
        options: Options,
    ) -> Result<Self, SimulationError> {
        pollster::block_on(Self::begin(gpu, model, (lps, None), options, None))
    }

    /// Starts or resumes a simulation. `part` is its index among the parts of a run, if the parts
    /// communicate.
    async fn begin(
        gpu: &Gpu,
        model: &M,
        (lps, part): (Range<u32>, Option<PartIndex>),
        options: Options,
        saved: Option<&Checkpoint>,
    ) -> Result<Self, SimulationError> {
        check_lps(model)?;
        assert!(lps.start < lps.end && lps.end <= model.lps(), "{lps:?} of {} LPs", model.lps());
        let rows = lps.end - lps.start;
        let capacity = model.capacity();
        for (what, size) in [("queue", capacity.queue), ("mailbox", capacity.mailbox)] {
            if size == 0 {
                return Err(SimulationError::NoCapacity { what });
            }
        }
        // A team has all LPs of a run.
        let is_whole = part.is_none() && rows == model.lps();
        let options = if is_whole { options } else { options.mapping(Mapping::Grid) };
        let mut candidates = candidates::candidates(gpu, model, &options)?;
        let group_size =
            options.group_size.unwrap_or_else(|| usual_group_size(gpu, rows, candidates[0].queue));
        let max = gpu.limits().max_compute_invocations_per_workgroup;
        if !group_size.is_power_of_two() || group_size > max {
            return Err(SimulationError::GroupSize { group_size, max });
        }
        #[cfg(target_arch = "wasm32")]
        let mut awaited = None::<super::awaited::Awaited>;
        #[cfg(not(target_arch = "wasm32"))]
        let mut awaited = match (part, saved) {
            (None, None) => ahead::begin(gpu, model, rows, options, group_size, &mut candidates),
            _ => None,
        };
        let mut before = None;
        loop {
            let begin = Instant::now();
            match Self::build(gpu, model, (lps.clone(), part), options, (candidates[0], group_size), saved)
                .await
            {
                // Another design may need less memory, or avoid a clash of the model's names with
                // the design's files.
                Err(error) if candidates.len() > 1 && of_design(&error) => {
                    log::info!("{}: {error}", candidates[0]);
                    candidates.remove(0);
                    if let Some(awaited) = awaited.take() {
                        awaited.wait();
                    }
                    before = Some(error);
                }
                Ok(simulation) => {
                    let declared = Some(simulation.rebuild.declared);
                    let keeps = |strategy: &Strategy| check::keeps(strategy.windows, model, declared).is_ok();
                    candidates.retain(keeps);
                    let (held, cost) = (model.events_held(), begin.elapsed());
                    let auto = match awaited {
                        Some(awaited) => {
                            Auto::waiting((candidates[0], awaited.only(keeps)), rows, held, cost)
                        }
                        None => Auto::new(&candidates, rows, held, cost),
                    };
                    return Ok(Self { auto, ..simulation });
                }
                // `Sync::Auto` tries a strategy that the user did not request.
                Err(error @ SimulationError::Senders { .. }) => {
                    return Err(before.unwrap_or(error));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Builds a simulation with a given strategy.
    async fn build(
        gpu: &Gpu,
        model: &M,
        (lps, part): (Range<u32>, Option<PartIndex>),
        options: Options,
        (strategy, group_size): (Strategy, u32),
        saved: Option<&Checkpoint>,
    ) -> Result<Self, SimulationError> {
        let rows = lps.end - lps.start;
        let mut needs = Needs { part, ..Needs::of(model) };
        let most = saved.and_then(|saved| saved.held(lps.clone()).max());
        if let Some(most) = most.filter(|_| !options.fixed) {
            needs.capacity.queue = needs.capacity.queue.max(most);
        }
        let held: u64 = saved.map_or(0, |saved| saved.held(lps.clone()).map(u64::from).sum());
        if held >= needs.events.into() {
            needs.events = room::for_events(held);
        }
        let results = check::columns(model)?;
        let (name, source) = (model.name().to_owned(), model.source());
        // If the run cannot go back, a software adapter must not end loops because an invocation
        // serves several LPs. (Parts go back together, and only for lack of room.)
        let is_software = gpu.is_software();
        let cautious = is_software && (options.fixed || part.is_some());
        let mut tiles = options.tiles.or(cautious.then_some(1));
        if strategy.windows.is_speculative() && !options.fixed {
            let mailbox = needs.capacity.mailbox.max(candidates::mailbox_of_horizon(model));
            let roomy = Needs { capacity: Capacity { mailbox, ..needs.capacity }, ..needs };
            let shape = (group_size, tiles_for(gpu, rows, group_size, tiles, strategy, roomy.capacity));
            if Cut::of(gpu, rows, shape, strategy, roomy).is_ok() {
                needs = roomy;
            }
        }
        loop {
            let shape = (group_size, tiles_for(gpu, rows, group_size, tiles, strategy, needs.capacity));
            let cut = Cut::of(gpu, rows, shape, strategy, needs)?;
            let recipes_of = |declared| {
                Recipes::new::<M::Payload>(&name, &source, Choice::new(gpu, strategy, declared, &cut))
            };
            let declared = check::declared(model, &recipes_of(Declared::default()).start)?;
            check::keeps(strategy.windows, model, Some(declared))?;
            let recipes = recipes_of(declared);
            let state_bytes = check::check(&recipes, model, declared)?;
            let results = results.clone().map(|columns| Results::new(gpu, model, columns, &cut));
            let memory = Memory::new(
                gpu,
                model,
                (options.seed, options.replica),
                lps.start,
                cut,
                strategy,
                state_bytes,
            )?;
            let begin = saved.is_none().then_some(&recipes.start);
            plans::compile(gpu, &recipes, (&memory.cut, model.memory_rows()), begin);
            match saved {
                None => plans::start(gpu, &recipes, &memory).await?,
                Some(saved) => room::put(gpu, &recipes, &memory, saved)?,
            }
            let plans = plans::windows(gpu, &recipes, &memory)?;
            // Errors that a browser reports later must not be attributed to the snapshot.
            gpu.settle().await?;
            let snapshot = match (!options.fixed).then(|| new_snapshot(gpu, &memory)) {
                Some(made) => gpu.settle().await.and(made).inspect_err(cannot_grow).ok(),
                None => None,
            };
            if snapshot.is_none() && is_software && memory.cut.tiles > 1 && tiles.is_none() {
                tiles = Some(1);
                continue;
            }
            let identity = Identity::of(model);
            let rebuild = Rebuild {
                source: source.clone(),
                identity,
                declared,
                needs,
                group_size,
                tiles,
                model: PhantomData,
            };
            let (gpu, name) = (gpu.clone(), name.clone());
            let (pace, load) = (Pace::new(MAX_WINDOWS), Pace::new(u32::MAX));
            let (unsaved, counted) = (AtomicBool::new(false), false);
            let course = saved.map_or(RunHistory::BEGUN, Checkpoint::course);
            let auto = Auto::new(&[strategy], rows, None, Duration::ZERO);
            let simulation = Self {
                chosen: options.mapping,
                gpu,
                strategy,
                sync: options.sync,
                memory,
                plans,
                name,
                results,
                pace,
                load,
                seen: 0,
                snapshot,
                rebuild,
                auto,
                counted,
                further: false,
                course,
                seed: (options.seed, options.replica),
                recorded: AtomicBool::new(false),
                unsaved,
            };
            match simulation.progress_async().await {
                Ok(_) => return Ok(simulation),
                Err(SimulationError::Fault(fault)) if simulation.has_long_loops(fault) => tiles = Some(1),
                Err(SimulationError::Fault(fault))
                    if strategy.is_team && fault.kind == FaultKind::QueueFull =>
                {
                    needs.events = room::for_events(fault.needed.into());
                }
                Err(SimulationError::Fault(fault)) if !options.fixed => {
                    let fits = |capacity: &Capacity| {
                        let needs = Needs { capacity: *capacity, ..needs };
                        Cut::of(&simulation.gpu, rows, shape, strategy, needs).is_ok()
                    };
                    let larger = growth::larger(needs.capacity, fault);
                    let last = *larger.last().ok_or(SimulationError::Fault(fault))?;
                    needs.capacity = larger.into_iter().find(fits).unwrap_or(last);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs to the end that `until` names. [`Simulation::until`] describes a run that is watched or
    /// saved.
    ///
    /// # Errors
    /// * [`SimulationError::Fault`]: the run failed and cannot continue.
    /// * [`SimulationError::Gpu`]: the device failed, and the run cannot continue.
    /// * [`SimulationError::TooLarge`]: a queue or mailbox outgrew the device. The run is back at
    ///   the start of the call or at a later snapshot; read it, or run to an earlier end.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(&mut self, until: Until) -> Result<Progress, SimulationError> {
        self.until(until).run()
    }

    /// Runs to an end, and calls `watch` some 30 times a second. Where that returns
    /// [`ControlFlow::Break`](std::ops::ControlFlow), the run ends after the windows that are
    /// submitted: its LPs have then executed all events before some window.
    async fn run_to<V: Verdict>(
        &mut self,
        until: Until,
        watch: impl FnMut(&Progress) -> V,
    ) -> Result<Progress, SimulationError> {
        self.course = self.course();
        // Until the run reaches its end.
        *self.recorded.get_mut() = true;
        let ended = self.run_paced(until, watch).await;
        self.auto.end();
        // Windows that an application records are not limited here.
        let freed = self.set_pause(u64::MAX);
        let ended = ended?;
        freed?;
        self.ended(ended.stop, until);
        Ok(ended)
    }

    /// Records the end of a run.
    fn ended(&mut self, stop: Option<Stop>, until: Until) {
        self.course.ended(stop, until, self.skew());
        *self.recorded.get_mut() = false;
        self.further &= stop == Some(Stop::Watcher);
    }

    /// The history of runs, including recorded windows.
    fn course(&self) -> RunHistory {
        let mut course = self.course;
        if self.recorded.load(Ordering::Relaxed) {
            let until = Until { time: self.memory.run.until, events: self.memory.run.event_limit };
            course.ended(Some(Stop::Watcher), until, self.skew());
        }
        course
    }

    /// How far LPs may be ahead of each other after any window.
    fn skew(&self) -> Skew {
        if self.further || !self.strategy.windows.are_epochs() { Skew::Further } else { Skew::Epoch }
    }

    async fn run_paced<V: Verdict>(
        &mut self,
        until: Until,
        mut watch: impl FnMut(&Progress) -> V,
    ) -> Result<Progress, SimulationError> {
        self.course.heads(until);
        if until.events != Until::EMPTY.events {
            self.leave_teams().await?;
        }
        self.move_end(until)?;
        if let Some(snapshot) = &mut self.snapshot {
            if *self.unsaved.get_mut() {
                snapshot.forget();
            }
            snapshot.begin(until);
        }
        // Until the run reaches its end.
        *self.unsaved.get_mut() = true;
        // The ends to run to. After a growth there are several: the snapshot may precede earlier
        // runs.
        let (mut ends, mut refused) = (VecDeque::from([until]), None);
        // Two submissions are in flight: the device executes one while the host reads the other.
        // Windows submitted beyond the end do nothing.
        let mut flying: VecDeque<(Download, Submission)> = VecDeque::new();
        let (mut last, mut before) = (Instant::now(), None::<Progress>);
        let mut stopped = false;
        self.auto.begin(until);
        loop {
            // Not while it repeats earlier runs.
            let halt = stopped && ends.len() == 1 && refused.is_none();
            if halt && flying.is_empty() {
                return self.halt(until).await;
            }
            let change = self.auto.wanted().filter(|_| refused.is_none());
            if let Some(strategy) = change.filter(|_| flying.is_empty()) {
                self.change(strategy, ends.make_contiguous()).await?;
                (last, before) = (Instant::now(), None);
                continue;
            }
            let due = self.snapshot.as_ref().is_some_and(Snapshot::is_due);
            while !halt && flying.len() < 2 && (!due && change.is_none() || flying.is_empty()) {
                let mut encoder = self.gpu.encoder("windows");
                if let Some(snapshot) = self.snapshot.as_mut().filter(|_| due) {
                    snapshot.save(&mut encoder, ends.iter().copied());
                }
                let ahead = u64::from(self.load.units()).saturating_mul(SLACK);
                self.set_pause(self.seen.saturating_add(ahead))?;
                self.plans.record(&mut encoder, self.pace.units());
                let download = self.encode_progress(&mut encoder)?;
                flying.push_back((download, self.gpu.submit(encoder)?));
            }
            let Some((download, submission)) = flying.pop_front() else { unreachable!("one was submitted") };
            let words = download.finish(&self.gpu, submission).await?;
            let progress = match self.progress_from(&words) {
                Err(SimulationError::Fault(fault)) if fault.kind == FaultKind::Cycle => {
                    return Err(self.cycle(fault).await?);
                }
                Err(SimulationError::Fault(fault)) if refused.is_none() => {
                    ends = self.snapshot.as_ref().map_or_else(Vec::new, Snapshot::ends).into();
                    refused = self.grow(fault).await?;
                    self.auto.pause();
                    if refused.is_some() {
                        // Continues to the start of this run only.
                        ends.pop_back();
                    }
                    None
                }
                other => Some(other?),
            };
            let stop = progress.and_then(|progress| progress.stop);
            if let Some(progress) = &progress {
                // Windows beyond the end, or beyond a pause, take no time and predict nothing.
                if let (None, Some(before)) =
                    (stop, before.filter(|before| before.windows < progress.windows))
                {
                    let units = |now, before| u32::try_from(now - before).unwrap_or(u32::MAX);
                    self.pace.record(units(progress.windows, before.windows), last.elapsed());
                    self.load.record(units(progress.events, before.events), last.elapsed());
                }
                if stop.is_none() && refused.is_none() {
                    self.auto.record(self.strategy, *progress, Instant::now());
                }
                stopped |= watch(progress).flow().is_break();
            }
            (last, before) = (Instant::now(), progress);
            self.seen = progress.map_or(0, |progress| progress.events);
            if stop.is_some() {
                ends.pop_front();
            }
            match (ends.front(), refused.take(), progress) {
                (None, Some(error), _) => return Err(error),
                (None, None, Some(progress)) => {
                    *self.unsaved.get_mut() = false;
                    return Ok(progress);
                }
                (None, None, None) => unreachable!("a snapshot has the end of the run"),
                (Some(&next), error, _) => {
                    refused = error;
                    if stop.is_some() || progress.is_none() {
                        // Submissions in flight run to another end.
                        flying.clear();
                        before = None;
                        self.move_end(next)?;
                    }
                }
            }
        }
    }

    /// Ends a run at its current window. While it runs, messages of the last window are undelivered
    /// and its events are uncounted. An end at time zero, before all pending events, completes
    /// both.
    async fn halt(&mut self, until: Until) -> Result<Progress, SimulationError> {
        self.move_end(Until { time: Ticks::ZERO, ..until })?;
        let mut encoder = self.gpu.encoder("the last windows");
        self.plans.record(&mut encoder, 1);
        let download = self.encode_progress(&mut encoder)?;
        let submission = self.gpu.submit(encoder)?;
        let progress = self.progress_from(&download.finish(&self.gpu, submission).await?)?;
        let stop = if progress.stop == Some(Stop::Empty) { Stop::Empty } else { Stop::Watcher };
        Ok(Progress { stop: Some(stop), ..progress })
    }

    /// The current capacities of queues and mailboxes.
    pub fn capacity(&self) -> Capacity {
        self.memory.capacity()
    }

    /// Sets the end for windows that are submitted from now on. Submit windows recorded for another
    /// end before the call.
    ///
    /// # Errors
    /// A device error.
    pub fn set_until(&mut self, until: Until) -> Result<(), SimulationError> {
        // Recorded windows cannot grow, and a team has less room than the grid.
        #[cfg(not(target_arch = "wasm32"))]
        if self.chosen != Mapping::Team || until.events != Until::EMPTY.events {
            pollster::block_on(self.leave_teams())?;
        }
        self.move_end(until)
    }

    /// Sets the end of windows, in a team or not.
    fn move_end(&mut self, until: Until) -> Result<(), SimulationError> {
        self.memory.run.until = until.time;
        self.memory.run.event_limit = until.events;
        // The pause of a run that was dropped.
        self.memory.run.pause = u64::MAX;
        self.count(until.events != Until::EMPTY.events)?;
        for (part, buffer) in &self.plans.runs {
            buffer.write(&self.gpu, 0, &[self.memory.run_for(*part)])?;
        }
        Ok(())
    }

    /// Makes windows that are submitted from now on wait for later submissions once `events` events
    /// are executed.
    fn set_pause(&mut self, events: u64) -> Result<(), SimulationError> {
        self.memory.run.pause = events;
        // Pairs of windows pause before the first.
        for (part, buffer) in self.plans.runs.iter().filter(|(part, _)| part.parity == 0 && part.turn == 0) {
            buffer.write(&self.gpu, 0, &[self.memory.run_for(*part)])?;
        }
        Ok(())
    }

    /// Records `windows` windows into an application's own encoder, up to the end set by
    /// [`Simulation::set_until`]. YAWNS windows are recorded in pairs: an odd number is rounded up.
    /// (Two sets of mailboxes alternate, so an encoder that is never submitted changes nothing.)
    ///
    /// Submit them before the next run or change of the queue design: windows recorded before that
    /// may do nothing.
    ///
    /// Windows beyond the end do nothing. [`Simulation::progress`] reports the end only after one
    /// more window, which finds nothing to execute: record one extra.
    ///
    /// A team, which [`Simulation::set_until`] leaves unless [`Mapping::Team`] was chosen, executes
    /// at least 4 windows, and up to 4 more.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, windows: u32) {
        self.unsaved.store(true, Ordering::Relaxed);
        self.recorded.store(true, Ordering::Relaxed);
        self.plans.record(encoder, windows);
    }

    /// The progress of the windows submitted up to now.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn progress(&self) -> Result<Progress, SimulationError> {
        pollster::block_on(self.progress_async())
    }

    /// [`Simulation::progress`] without blocking, for browsers and frames that must not wait.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub async fn progress_async(&self) -> Result<Progress, SimulationError> {
        let mut encoder = self.gpu.encoder("progress");
        let download = self.encode_progress(&mut encoder)?;
        let submission = self.gpu.submit(encoder)?;
        self.progress_from(&download.finish(&self.gpu, submission).await?)
    }

    /// [`Mapping::Team`] if one workgroup executes the run now, else [`Mapping::Grid`].
    pub fn mapping(&self) -> Mapping {
        if self.strategy.is_team { Mapping::Team } else { Mapping::Grid }
    }

    /// The queue design in use now. In a team, pending events are in one pool instead, and this is
    /// the default design outside of it.
    pub fn queue(&self) -> QueueDesign {
        self.strategy.queue
    }

    /// The synchronisation in use now: never [`Sync::Auto`].
    pub fn sync(&self) -> Sync {
        self.strategy.windows.into()
    }

    fn encode_progress(&self, encoder: &mut wgpu::CommandEncoder) -> Result<Download, GpuError> {
        self.plans.progress.record(encoder);
        self.memory.encode_progress(&self.gpu, encoder)
    }

    fn progress_from(&self, bytes: &[u8]) -> Result<Progress, SimulationError> {
        self.memory.progress(bytes)
    }
}

impl<M: Model> std::fmt::Debug for Simulation<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("gpu", &self.gpu)
            .field("strategy", &self.strategy)
            .field("run", &self.memory.run)
            .finish_non_exhaustive()
    }
}
