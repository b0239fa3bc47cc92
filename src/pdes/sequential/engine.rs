//! The sequential engine, which defines the results of a simulation: a textbook event loop on an
//! event list (`event_list.rs`), written to be read.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use bytemuck::Zeroable;
use web_time::Instant;

use crate::gpu::SLICE;
use crate::statistics::fits_host;
use crate::time::Ticks;

use super::event_list::EventList;
use super::functions::{Call, Functions, MakeFunctions, RunConstants};
use super::{native, reference};
use crate::pdes::checkpoint::{
    CheckpointError, Checkpointed, Contents, Identity, RunHeader, RunHistory, Skew, reason,
};
use crate::pdes::contract::bounds::{budget, epoch_end, epoch_length};
use crate::pdes::contract::error::{Fault, FaultKind, SimulationError};
use crate::pdes::contract::event::LpEvent;
use crate::pdes::contract::limits::{check_lps, check_time};
use crate::pdes::contract::output::Columns;
use crate::pdes::contract::simulation_run::{RunUntil, SimulationRun};
use crate::pdes::device::check;
use crate::pdes::{
    Checkpoint, CpuModel, Event, Fingerprint, Model, Options, Outputs, Pending, Progress, Replica, Stop,
    Totals, Until,
};

shared! {
    "pdes/engine.wgsl":
    const PATIENCE: u32;
    const ROUNDS: u32;
}

/// What an LP executed. (All that an event changes except the state: half a cache line.)
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct LpProgress {
    /// All its events.
    executed: u64,
    /// The last window in which it executed events, and their number.
    window: u64,
    events: u16,
    /// Whether its budget ended before the events at `begin`.
    was_stalled: bool,
    /// Whether one of its events failed: then the LP executes nothing more.
    failed: bool,
    /// The number of consecutive windows, up to this one, in which it used its budget and did not
    /// complete one time.
    stalled: u32,
    /// The time of its first event in that window.
    begin: Ticks,
}

impl LpProgress {
    /// That of an LP with this number of events before.
    fn after(executed: u64) -> Self {
        Self { executed, ..Self::default() }
    }
}

/// The number of events and windows after which a run reads the clock.
const LOOK: u64 = 64;

/// The number of events hashed together: a multiple of eight.
const RECENT: usize = 8;

/// A simulation on the CPU, one event after the other.
///
/// It executes the model's WGSL, translated to machine code. Where that is impossible (wasm32, a
/// system that forbids it, the library without the feature `native`) the WGSL is interpreted, much
/// more slowly. A model with a second implementation in Rust ([`CpuModel`]) can be run from that
/// instead, to compare: [`CpuSimulation::in_rust`]. Results are the same bits.
///
/// ```
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{CpuSimulation, Options, Until};
/// use eventhorizon::time::Resolution;
///
/// let seconds = Resolution::default();
/// let model = Phold::new(20, 4, 0.1, 10.0, seconds)?;
/// let mut simulation = CpuSimulation::new(&model, Options::default().seed(42))?;
/// simulation.run(Until::time(seconds.ticks(100.0)?))?;
/// println!("{}", simulation.fingerprint());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CpuSimulation<'m, M: Model> {
    model: &'m M,
    make_functions: MakeFunctions<M>,
    functions: Box<dyn Functions<M>>,
    /// The number of values of a state.
    values: usize,
    /// Selects its random streams.
    run: (u64, Replica),
    constants: RunConstants,
    /// LP by LP, each with `values`.
    states: Vec<M::State>,
    /// LP by LP.
    memory: Vec<[u32; 4]>,
    pending: EventList<M::Payload>,
    events: u64,
    windows: u64,
    /// The fingerprint of the executed events, except those in `recent`.
    fingerprint: Fingerprint,
    /// Fewer than [`RECENT`] events.
    recent: Vec<LpEvent<M::Payload>>,
    fault: Option<Fault>,
    /// By LP.
    turns: Vec<LpProgress>,
    /// The history of its runs.
    course: RunHistory,
    /// Events that the current window sent to other LPs, which hold them from the next window on.
    /// With a lookahead they are beyond the window, and pending at once.
    mail: Vec<LpEvent<M::Payload>>,
    /// Memory for the events that one event sends; empty between events.
    sent: Vec<LpEvent<M::Payload>>,
    /// The time of the first event of the last window, and the number of consecutive windows that
    /// began at that time.
    rounds: (Ticks, u32),
    /// Events beyond the budgets, by LP. Events that an LP may execute in a window are in
    /// `pending`.
    aside: BTreeMap<u32, BinaryHeap<Reverse<Event<M::Payload>>>>,
}

impl<'m, M: Model> CpuSimulation<'m, M> {
    /// Initialises the model's LPs. Of the options only seed and replica count: the others choose
    /// how the engine on the GPU runs.
    ///
    /// # Errors
    /// As the engine on the GPU. Capacities are not limited here, except that of LP memory.
    pub fn new(model: &'m M, options: Options) -> Result<Self, SimulationError> {
        Self::begin(model, native::functions(model)?, options)
    }

    /// The same with WGSL that is interpreted, for comparisons.
    ///
    /// # Errors
    /// As [`CpuSimulation::new`].
    pub fn interpreted(model: &'m M, options: Options) -> Result<Self, SimulationError> {
        Self::begin(model, native::interpreted(model)?, options)
    }

    /// The same with the model's functions in Rust instead of its WGSL.
    ///
    /// # Errors
    /// As [`CpuSimulation::new`].
    pub fn in_rust(model: &'m M, options: Options) -> Result<Self, SimulationError>
    where
        M: CpuModel,
    {
        Self::begin(model, reference::functions(model)?, options)
    }

    /// Resumes a run saved by any engine.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`](crate::pdes::CheckpointError::Foreign) for a checkpoint of
    /// another model; else as [`CpuSimulation::new`].
    pub fn resume(model: &'m M, checkpoint: &Checkpoint) -> Result<Self, SimulationError> {
        Self::restore(model, native::functions(model)?, checkpoint)
    }

    /// The same with the model's functions in Rust instead of its WGSL.
    ///
    /// # Errors
    /// As [`CpuSimulation::resume`].
    pub fn resume_in_rust(model: &'m M, checkpoint: &Checkpoint) -> Result<Self, SimulationError>
    where
        M: CpuModel,
    {
        Self::restore(model, reference::functions(model)?, checkpoint)
    }

    /// A new run with these functions.
    pub(in crate::pdes) fn begin(
        model: &'m M,
        functions: MakeFunctions<M>,
        options: Options,
    ) -> Result<Self, SimulationError> {
        let mut simulation = Self::of_none(model, functions, (options.seed, options.replica))?;
        for lp in 0..model.lps() {
            simulation.call(lp, Ticks::ZERO, |functions, call, state| functions.init(model, call, state));
        }
        simulation.faultless()?;
        simulation.deliver();
        Ok(simulation)
    }

    /// A saved run with these functions.
    fn restore(
        model: &'m M,
        functions: MakeFunctions<M>,
        checkpoint: &Checkpoint,
    ) -> Result<Self, SimulationError> {
        checkpoint.check(&Identity::of(model))?;
        let (progress, all) = (checkpoint.progress(), checkpoint.lps());
        let lps = (0..).zip(checkpoint.held(all.clone()));
        let lps = lps.flat_map(|(lp, held)| std::iter::repeat_n(lp, held as usize));
        Ok(Self {
            states: checkpoint.states(&all),
            memory: checkpoint.memory(&all),
            turns: checkpoint.executed(all.clone()).map(LpProgress::after).collect(),
            pending: lps.zip(checkpoint.events(all)).collect(),
            events: progress.events,
            windows: progress.windows,
            fingerprint: Fingerprint(checkpoint.digest()),
            course: checkpoint.course(),
            ..Self::of_none(model, functions, (checkpoint.seed(), checkpoint.replica()))?
        })
    }

    /// The current state of the run, from which any engine can continue later.
    ///
    /// # Errors
    /// A [`Fault`] of the run.
    pub fn checkpoint(&self) -> Result<Checkpoint, SimulationError> {
        self.faultless()?;
        let executed: Vec<_> = self.turns.iter().map(|turn| turn.executed).collect();
        let (all, executed) = (0..self.model.lps(), (&executed[..], self.of_executed().0));
        let contents = Contents::of(all.clone(), &self.states, &self.memory, executed, &self.pending());
        let reported = RunHeader {
            identity: &Identity::of(self.model),
            seed: self.run.0,
            replica: self.run.1,
            course: self.course,
            windows: self.windows,
            events: self.events,
        };
        Ok(Checkpoint::new(&reported, &[contents], &[(0, all.len())])?)
    }

    /// A simulation without events or initialised LPs.
    fn of_none(
        model: &'m M,
        make_functions: MakeFunctions<M>,
        run: (u64, Replica),
    ) -> Result<Self, SimulationError> {
        check_lps(model)?;
        let (seed, replica, lps) = (run.1.key(run.0), run.1.number, model.lps());
        let constants = RunConstants { seed, replica, lps, lookahead: model.lookahead() };
        let functions = make_functions(model, constants);
        let values = functions.state_values();
        let row = values * size_of::<M::State>() + size_of::<LpProgress>();
        let bytes = u64::from(lps).saturating_mul(row as u64 + 16 * u64::from(model.memory_rows()));
        if !fits_host(bytes) {
            return Err(SimulationError::HostMemory { lps, bytes });
        }
        Ok(Self {
            model,
            make_functions,
            functions,
            values,
            run,
            constants,
            states: vec![M::State::zeroed(); lps as usize * values],
            memory: vec![[0; 4]; lps as usize * model.memory_rows() as usize],
            pending: EventList::new(),
            events: 0,
            windows: 0,
            fingerprint: Fingerprint::default(),
            recent: Vec::with_capacity(RECENT),
            fault: None,
            turns: vec![LpProgress::default(); lps as usize],
            course: RunHistory::BEGUN,
            mail: Vec::new(),
            sent: Vec::new(),
            rounds: (Ticks::ZERO, 0),
            aside: BTreeMap::new(),
        })
    }

    /// Executes events until the end that `until` names.
    ///
    /// # Errors
    /// A [`Fault`], after which the simulation cannot continue.
    pub fn run(&mut self, until: Until) -> Result<Progress, SimulationError> {
        self.until(until).run()
    }

    /// Describes a run, to be watched or saved: [`SimulationRun`]. A watcher is called after any
    /// window.
    pub fn until(&mut self, until: Until) -> SimulationRun<'_, Self> {
        SimulationRun::new(self, until)
    }

    /// [`CpuSimulation::run`], calling `watch` some 30 times a second, after a window.
    fn run_to(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, SimulationError> {
        self.course.heads(until);
        let (mut reported, mut looked) = (Instant::now(), self.events + self.windows);
        loop {
            self.faultless()?;
            let now = self.pending.first().unwrap_or(Ticks::NEVER);
            if let Some(stop) = until.reached(now, self.events) {
                self.course.ended(Some(stop), until, Skew::Epoch);
                return Ok(Progress { now, events: self.events, windows: self.windows, stop: Some(stop) });
            }
            // (Reading the clock takes as long as a short window.)
            let done = self.events + self.windows;
            if done - looked >= LOOK {
                looked = done;
                if reported.elapsed() >= SLICE {
                    let progress = Progress { now, events: self.events, windows: self.windows, stop: None };
                    if watch(&progress).is_break() {
                        self.course.ended(Some(Stop::Watcher), until, Skew::Epoch);
                        return Ok(Progress { stop: Some(Stop::Watcher), ..progress });
                    }
                    reported = Instant::now();
                }
            }
            self.begin_window(now);
            if self.model.lookahead() == Ticks::ZERO && self.rounds.1 > ROUNDS {
                let there = self.held().filter(|(_, event)| event.time == now).map(|(lp, _)| lp);
                let lp = there.min().expect("an event is pending");
                self.fail(FaultKind::Cycle, lp);
                continue;
            }
            let epoch_end = epoch_end(now, epoch_length(self.model.lookahead()));
            self.window(epoch_end.min(until.time), until.events);
        }
    }

    /// Counts a window with its first event at `first`.
    fn begin_window(&mut self, first: Ticks) {
        self.windows += 1;
        self.rounds = (first, if self.rounds.0 == first { self.rounds.1 } else { 0 } + 1);
    }

    /// Executes all events before `until` in order. A textbook loop needs no windows. Here windows
    /// decide at which number of events, and with which fault, a run ends. Each LP executes a
    /// limited number of events in each, and its other events are put aside.
    ///
    /// Without a lookahead, the next window usually has one event, sent by this window. That window
    /// then follows at once, without the work between windows, until `most` events are executed.
    fn window(&mut self, until: Ticks, most: u64) {
        let budget = budget(self.model.lps());
        loop {
            self.events_of_window(until, budget);
            // (Windows without a lookahead hold an event or two, so the following steps would cost
            // as much.)
            if !self.aside.is_empty() {
                self.take_from_aside(budget);
                break;
            }
            let [sent @ LpEvent { event, lp }] = self.mail[..] else { break };
            let alone = event.time < until && self.pending.first().is_none_or(|first| first >= until);
            if !alone || self.fault.is_some() || self.events >= most || self.rounds.1 >= ROUNDS {
                break;
            }
            self.mail.clear();
            self.begin_window(event.time);
            self.turn(lp, event.time).events = 1;
            self.execute(sent);
        }
        self.deliver();
    }

    /// The record of an LP in this window, in which it has an event at `time`.
    fn turn(&mut self, lp: u32, time: Ticks) -> &mut LpProgress {
        let turn = &mut self.turns[lp as usize];
        if turn.window != self.windows {
            let stalled = if turn.was_stalled { turn.stalled } else { 0 };
            *turn =
                LpProgress { window: self.windows, begin: time, stalled, ..LpProgress::after(turn.executed) };
        }
        turn
    }

    /// Executes the events of a window, and puts those beyond the budgets aside.
    fn events_of_window(&mut self, until: Ticks, budget: u32) {
        while let Some(held @ LpEvent { event, lp }) = self.pending.pop_before(until) {
            let turn = self.turn(lp, event.time);
            if turn.failed {
                continue;
            }
            if u32::from(turn.events) < budget {
                turn.events += 1;
                self.execute(held);
                continue;
            }
            self.aside.entry(lp).or_default().push(Reverse(event));
        }
    }

    /// Handles the events beyond budgets: finds LPs that are stuck, and makes the events of the
    /// next window pending.
    fn take_from_aside(&mut self, budget: u32) {
        let mut stuck = Vec::new();
        for (&lp, aside) in &self.aside {
            let turn = &mut self.turns[lp as usize];
            if turn.window != self.windows || turn.failed || u32::from(turn.events) < budget {
                continue;
            }
            // Here `aside` has all its events before `until` that this window did not execute.
            turn.was_stalled = aside.peek().is_some_and(|Reverse(event)| event.time == turn.begin);
            turn.stalled = if turn.was_stalled { turn.stalled + 1 } else { 0 };
            if turn.stalled * budget > PATIENCE {
                stuck.push(lp);
            }
        }
        stuck.into_iter().for_each(|lp| self.fail(FaultKind::Stuck, lp));
        for (&lp, aside) in &mut self.aside {
            let next = (0..budget).map_while(|_| aside.pop());
            next.for_each(|Reverse(event)| self.pending.push(LpEvent { event, lp }));
        }
        self.aside.retain(|_, aside| !aside.is_empty());
    }

    /// Delivers the sent events.
    fn deliver(&mut self) {
        self.mail.drain(..).for_each(|event| self.pending.push(event));
    }

    fn execute(&mut self, held: LpEvent<M::Payload>) {
        let LpEvent { ref event, lp } = held;
        self.events += 1;
        self.turns[lp as usize].executed += 1;
        self.recent.push(held);
        if self.recent.len() == RECENT {
            self.fingerprint.executed(&self.recent);
            self.recent.clear();
        }
        let model = self.model;
        self.call(lp, event.time, |functions, call, state| functions.handle(model, call, event, state));
    }

    /// The states, by LP. (For [`Word`](crate::gpu::Word)s: all words of an LP, then those of the
    /// next LP.)
    pub fn states(&self) -> &[M::State] {
        &self.states
    }

    /// The rows of LP memory, LP by LP; each has
    /// [`Model::memory_rows`](crate::pdes::Model::memory_rows).
    pub fn memory(&self) -> &[[u32; 4]] {
        &self.memory
    }

    /// The events still pending, by LP and then in order.
    pub fn pending(&self) -> Pending<M::Payload> {
        let mut pending: Vec<_> = self.held().collect();
        pending.sort_unstable();
        pending
    }

    fn held(&self) -> impl Iterator<Item = (u32, Event<M::Payload>)> {
        let aside =
            self.aside.iter().flat_map(|(&lp, events)| events.iter().map(move |Reverse(event)| (lp, *event)));
        self.pending.iter().chain(aside)
    }

    fn of_executed(&self) -> Fingerprint {
        let mut fingerprint = self.fingerprint;
        fingerprint.executed(&self.recent);
        fingerprint
    }

    /// The fingerprint of the executed events, the states, LP memory and the pending events.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut fingerprint = self.of_executed();
        for (lp, state) in (0..).zip(self.states.chunks_exact(self.values)) {
            fingerprint.state(lp, &state_words(state));
        }
        if !self.memory.is_empty() {
            for (lp, rows) in (0..).zip(self.memory.chunks(self.model.memory_rows() as usize)) {
                fingerprint.memory(lp, rows);
            }
        }
        for (lp, event) in self.held() {
            fingerprint.pending(lp, &event);
        }
        fingerprint
    }

    /// The outputs of all LPs at the time `at`: the model's `output`. They equal
    /// [`Simulation::outputs`](crate::pdes::Simulation::outputs) after the same run.
    ///
    /// # Errors
    /// A [`Fault`] of the run; an error of the WGSL's `struct Output`, which names the columns;
    /// [`SimulationError::NoOutput`] and [`SimulationError::Output`].
    ///
    /// # Panics
    /// If [`CpuModel::output`](crate::pdes::CpuModel::output) schedules, draws, or writes LP
    /// memory.
    pub fn outputs(&self, at: Ticks) -> Result<Outputs<M::Output>, SimulationError> {
        self.faultless()?;
        check_time(at, self.course.done)?;
        let none = || SimulationError::NoOutput { model: self.model.name().to_owned() };
        self.outputs_in(at, check::columns(self.model)?.ok_or_else(none)?)
    }

    /// The same with known columns, which saves linking the model's WGSL.
    pub(in crate::pdes) fn outputs_in(
        &self,
        at: Ticks,
        columns: Arc<Columns>,
    ) -> Result<Outputs<M::Output>, SimulationError> {
        self.faultless()?;
        check_time(at, self.course.done)?;
        let mut functions = (self.make_functions)(self.model, self.constants);
        let values = usize::try_from(columns.values::<M::Output>()).expect("the bytes of a struct");
        let mut outputs = vec![M::Output::zeroed(); self.model.lps() as usize * values];
        let states = self.states.chunks_exact(self.values);
        let (rows, mut memory, mut sent) = (self.model.memory_rows() as usize, Vec::new(), Vec::new());
        for (lp, (state, output)) in (0..).zip(states.zip(outputs.chunks_exact_mut(values))) {
            memory.clear();
            memory.extend_from_slice(&self.memory[lp as usize * rows..][..rows]);
            let call =
                &mut Call { lp, number: 0, now: at, memory: &mut memory, sent: &mut sent, fault: None };
            functions.output(self.model, call, state, output);
            if let Some(kind) = call.fault {
                return Err(SimulationError::Output { kind, lp });
            }
        }
        Ok(Outputs { at, first_lp: 0, rows: outputs, columns })
    }

    /// The sums, minima and maxima of the output columns: [`Outputs::totals`]. They equal
    /// [`Simulation::totals`](crate::pdes::Simulation::totals) after the same run.
    ///
    /// # Errors
    /// As [`CpuSimulation::outputs`] and [`Outputs::totals`].
    ///
    /// # Panics
    /// As [`CpuSimulation::outputs`].
    pub fn totals(&self, at: Ticks, classes: Option<&str>) -> Result<Totals, SimulationError> {
        self.outputs(at)?.totals(classes)
    }

    /// Calls a function of the model for an LP at a time, and queues the events it sends.
    fn call(
        &mut self,
        lp: u32,
        now: Ticks,
        function: impl FnOnce(&mut dyn Functions<M>, &mut Call<'_, M::Payload>, &mut [M::State]),
    ) {
        let (rows, values) = (self.model.memory_rows() as usize, self.values);
        let mut sent = std::mem::take(&mut self.sent);
        let memory = &mut self.memory[lp as usize * rows..][..rows];
        let number = self.turns[lp as usize].executed;
        let mut call = Call { lp, number, now, memory, sent: &mut sent, fault: None };
        function(&mut *self.functions, &mut call, &mut self.states[lp as usize * values..][..values]);
        if let Some(kind) = call.fault {
            self.fail(kind, lp);
        }
        let RunConstants { lookahead, lps, .. } = self.constants;
        // The lookahead does not apply before the first window.
        let least = if self.windows == 0 { Ticks::ZERO } else { now.saturating_add(lookahead) };
        for sent in sent.drain(..) {
            let LpEvent { event, lp: destination } = sent;
            if destination >= lps {
                self.fail(FaultKind::Destination, lp);
            } else if event.time == Ticks::NEVER {
                self.fail(FaultKind::TimeOverflow, lp);
            } else if destination == lp && event.time < now {
                self.fail(FaultKind::Past, lp);
            } else if destination != lp && event.time < least {
                self.fail(FaultKind::Lookahead, lp);
            } else if destination == lp || lookahead > Ticks::ZERO {
                self.pending.push(sent);
            } else {
                self.mail.push(sent);
            }
        }
        self.sent = sent;
    }

    /// As on the GPU, a window with a fault runs to its end, and the fault at the smallest LP is
    /// reported.
    fn fail(&mut self, kind: FaultKind, lp: u32) {
        let fault = Fault { kind, lp, window: self.windows, needed: 0 };
        self.turns[lp as usize].failed = true;
        if self.fault.is_none_or(|first| (lp, kind.number()) < (first.lp, first.kind.number())) {
            self.fault = Some(fault);
        }
    }

    fn faultless(&self) -> Result<(), SimulationError> {
        match self.fault {
            Some(fault @ Fault { kind: FaultKind::Cycle, .. }) => {
                Err(SimulationError::cycle(fault, self.rounds.0, self.held()))
            }
            Some(fault) => Err(fault.into()),
            None => Ok(()),
        }
    }
}

impl<M: Model> RunUntil for CpuSimulation<'_, M> {
    type Error = SimulationError;

    fn run_until(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, SimulationError> {
        self.run_to(until, watch)
    }
}

impl<M: Model> Checkpointed for CpuSimulation<'_, M> {
    fn check_own(&self, saved: &Checkpoint) -> Result<(), CheckpointError> {
        saved.check_run(&Identity::of(self.model), self.run)
    }

    fn executed(&mut self) -> Result<u64, SimulationError> {
        Ok(self.events)
    }

    fn save(&mut self, path: &Path) -> Result<Result<(), SimulationError>, SimulationError> {
        Ok(self.checkpoint()?.save(path).map_err(SimulationError::from))
    }

    fn reason(error: &SimulationError) -> Option<&CheckpointError> {
        reason(error)
    }
}

impl<M: Model> std::fmt::Debug for CpuSimulation<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuSimulation")
            .field("model", &self.model.name())
            .field("events", &self.events)
            .field("pending", &self.held().count())
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

/// A state as the words of a kernel.
fn state_words<S: bytemuck::Pod>(state: &[S]) -> Vec<u32> {
    let words = |value| bytemuck::bytes_of(value).chunks_exact(4).map(bytemuck::pod_read_unaligned);
    state.iter().flat_map(words).collect()
}
