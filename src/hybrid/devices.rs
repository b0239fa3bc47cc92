//! The GPU engine over devices and ranks: a simulation of [`pdes`](crate::pdes) split into ranges
//! of LPs, each of which runs on its own device.
//!
//! # What lies where
//!
//! A part has everything a single run has, for its own LPs: queues, states, LP memory, mailboxes.
//! Streams, fingerprints and failures use LP numbers of the whole run. In addition there is an
//! *outbox*: for each other part a count, and a list of (LP, event) of 20 or 36 bytes each. It
//! follows the message counts in a buffer that windows bind anyway, because windows already use the
//! eight storage buffers of WebGPU's baseline (`shaders/pdes/parts/outbox.wgsl`).
//!
//! # A window
//!
//! ```text
//!   host     what the others reported: the earliest time, what they sent ──┐                        ┌── what goes to the others: 20 or 36 bytes an event
//!                                                                      │ write                  │ read
//!   device   arrive (a dispatch for what all the others sent) ─── window ─── partials, counts, outbox ──► exchange ──► the next window
//! ```
//!
//! 1. *Write*: a uniform block for each dispatch of the window, with the smallest pending time of
//!    all parts, including this one (after a growth the device no longer knows what it sent); zeros
//!    for the counts of the outbox; the received events. All of this is in one piece of staging
//!    memory, which is mapped again during the wait for the window. One submission copies it, runs
//!    the window, and reads its report.
//! 2. *Arrive*: an invocation inserts each received event into its LP's mailbox, as if the last
//!    window had sent it (`shaders/pdes/parts/arrive.wgsl`), or into its calendar.
//! 3. The *window*, as in a single run. Its workgroups include that smallest time in their
//!    reduction, so all parts find the same window end and count the same windows. Events for LPs
//!    of other parts go to the outbox. With a calendar, the host computes the next epoch from what
//!    the parts left. An epoch in which no part executes an event is not counted.
//! 4. *Read*: failures, counts and partial reductions, and as much of the outbox as the last window
//!    sent plus a quarter; the remainder needs a second read.
//! 5. *Exchange*: one message to each other part, with this part's report (40 bytes) and its
//!    events. So all parts know the next smallest time, and each other's failures, errors and stop
//!    requests, and decide alike.
//!
//! Event-horizon windows ([`Sync::Horizon`](crate::pdes::Sync)) have two dispatches and two
//! exchanges: after the first, the parts agree on the event horizon and send no events.
//!
//! The device waits for the host between windows, and the host for the device. So a window costs
//! one read, one exchange and one submission more than in a single run, plus the bytes:
//! `docs/devices.md` has the cost model.

mod saved;

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use bytemuck::{Pod, Zeroable};
use web_time::{Duration, Instant};

use super::simulation::agreed;
use super::transport::SingleRank;
use super::{HybridError, Transport};
use crate::gpu::{Gpu, SLICE};
use crate::pdes::checkpoint::compared;
use crate::pdes::part::{PartOf, PartReport, range};
use crate::pdes::{
    Checkpoint, Fault, FaultKind, Fingerprint, Model, Options, Outputs, Pending, Progress, RunUntil,
    SimulationError, SimulationRun, Stop, Until,
};
use crate::random::mix;
use crate::time::Ticks;

/// A range of the LPs of a [`pdes`](crate::pdes) model on a device. Other parts hold the other LPs,
/// in threads of this process ([`in_process`](super::in_process)) or processes of MPI.
///
/// All ranks create their parts from the same model with the same options, and call the same
/// functions in the same order. Each part has its own device ([`Gpu::nth`]). A run has the bits of
/// [`CpuSimulation`](crate::pdes::CpuSimulation), on any number of parts.
///
/// ```no_run
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::hybrid::{GpuPart, HybridError, Transport, in_process};
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{Options, Until};
/// use eventhorizon::time::Resolution;
///
/// let units = Resolution::default();
/// let model = Phold::new(1 << 20, 16, 0.1, 10.0, units)?.with_neighbours(4)?;
/// let end = Until::time(units.ticks(1000.0)?);
/// let devices = [Gpu::nth(0)?, Gpu::nth(1)?];
/// let ran = in_process(2, |rank| {
///     let gpu = &devices[rank.rank() as usize];
///     let mut part = GpuPart::on(Box::new(rank), gpu, &model, Options::default())?;
///     part.run(end)?;
///     part.fingerprint()
/// });
/// for fingerprint in ran {
///     println!("{}", fingerprint?); // the same on each
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Open devices before the threads of ranks begin, and drop them after these have ended, as here:
/// NVIDIA's driver (580.159) may hang if a device is destroyed while another thread ends.
///
/// Queues, mailboxes and outboxes grow, unless capacities are fixed ([`Options::fixed`]): all parts
/// go back to a copy of their memory, which each makes every second, and repeat the runs since.
/// [`Sync::Neighbours`](crate::pdes::Sync) works only on one device.
///
/// A run is saved like a run on a single device ([`GpuPart::checkpoint`], [`SimulationRun::save`]),
/// and resumed by any number of parts ([`GpuPart::resume`]) or by another engine. The bytes are the
/// same, except the count of event-horizon windows, and the recorded end of a run that a watcher
/// stopped.
pub struct GpuPart<M: Model> {
    transport: Box<dyn Transport>,
    part: PartOf<M>,
    lps: Range<u32>,
    /// The last report of each part, by rank.
    heads: Vec<Head>,
    /// The events that came with it, each list after a head, until the next window.
    arrived: Vec<Vec<u8>>,
    windows: u64,
    /// Events executed by this part. The first part also counts the events before a resumed
    /// checkpoint.
    events: u64,
    /// The host state when all parts last copied their memory.
    saved: Option<PartSnapshot>,
    over: bool,
    /// All events before this time are executed. (A calendar reports epochs that may hold no event
    /// before the end of a run.)
    reached: Ticks,
}

/// The state to which all parts go back if one of them overflows.
#[derive(Debug, Clone)]
struct PartSnapshot {
    heads: Vec<Head>,
    /// The received events that no device had yet.
    arrived: Vec<Vec<u8>>,
    windows: u64,
    events: u64,
}

/// The time between copies of the memory: work since the last copy is repeated after a growth. (In
/// tests, every other window is copied.)
const EVERY: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(1) };

/// The report that a part sends to all others after each dispatch. Events follow it, or the text of
/// an error.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    earliest: u64,
    events: u64,
    failure: u32,
    needed: [u32; 3],
    state: u32,
    /// In the first part's report, whether it is time to copy the memory.
    due: u32,
}

const HEAD: usize = size_of::<Head>();

/// What a part requests: continue, stop after this window, or end with an error.
const GO: u32 = 0;
const STOP: u32 = 1;
const FAILED: u32 = 2;

impl<M: Model> GpuPart<M> {
    /// Starts this rank's part.
    ///
    /// # Errors
    /// Any [`SimulationError`], on all ranks: the error of this rank as it is, errors of others as
    /// [`HybridError::Rank`]; [`HybridError::Differs`] if the ranks have different models or
    /// options; errors of [`Transport`] about ranks that are gone.
    pub fn on(
        transport: Box<dyn Transport>,
        gpu: &Gpu,
        model: &M,
        options: Options,
    ) -> Result<Self, HybridError> {
        Self::begin(transport, gpu, model, options, None)
    }

    /// Starts or resumes a part.
    fn begin(
        mut transport: Box<dyn Transport>,
        gpu: &Gpu,
        model: &M,
        options: Options,
        saved: Option<&Checkpoint>,
    ) -> Result<Self, HybridError> {
        let place = (transport.rank(), transport.ranks());
        same(&mut *transport, model, &options)?;
        let made = PartOf::new(gpu, model, options, place, saved).map_err(HybridError::from);
        // A fault of the start is the same on all ranks, like any other: the fault at the smallest
        // LP, with the capacity it needed.
        let fault = match &made {
            Err(HybridError::Simulation(SimulationError::Fault(fault))) => {
                u64::from(fault.encode()) << 32 | u64::from(fault.needed)
            }
            _ => u64::MAX,
        };
        let [fault, ..] = transport.least([fault, 0, 0])?;
        let [needed, word] = Ticks::new(fault).to_words();
        Fault::decode(word, [needed; 3], 0, 0)?;
        let part = agreed(&mut *transport, made)?;
        let ranks = place.1 as usize;
        let (heads, arrived) = (vec![Head::zeroed(); ranks], Vec::new());
        let lps = range(model.lps(), place);
        let before = saved.map(Checkpoint::progress);
        let windows = before.map_or(0, |before| before.windows);
        // Events before the checkpoint count for the first part.
        let events = before.filter(|_| place.0 == 0).map_or(0, |before| before.events);
        let mut this = Self {
            transport,
            part,
            lps,
            heads,
            arrived,
            windows,
            events,
            saved: None,
            over: true,
            // A calendar knows the epoch of its next event alone.
            reached: before.map_or(Ticks::ZERO, |before| before.now),
        };
        let reported = this.part.begun(HEAD);
        this.exchange(reported, GO)?;
        this.over = false;
        Ok(this)
    }

    /// The same with all LPs on one device.
    ///
    /// # Errors
    /// As [`GpuPart::on`].
    pub fn alone(gpu: &Gpu, model: &M, options: Options) -> Result<Self, HybridError> {
        Self::on(Box::new(SingleRank), gpu, model, options)
    }

    /// Runs to the end `until`.
    ///
    /// # Errors
    /// As [`pdes::Simulation::run`](crate::pdes::Simulation::run), on all ranks after the same
    /// window. A [`Fault`] is the same on all ranks; other errors reach the other ranks as
    /// [`HybridError::Rank`]. After an error the part can be read but not run.
    pub fn run(&mut self, until: Until) -> Result<Progress, HybridError> {
        self.until(until).run()
    }

    /// Describes a run, to be watched or saved: [`SimulationRun`]. All ranks save, or none.
    pub fn until(&mut self, until: Until) -> SimulationRun<'_, Self> {
        SimulationRun::new(self, until)
    }

    /// [`GpuPart::run`], which calls `watch` about 30 times a second, after a window.
    fn run_to(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, HybridError> {
        if self.over {
            return Err(HybridError::Over);
        }
        equal(
            &mut *self.transport,
            &[
                ("the stop time", until.time.get()),
                ("the event limit", until.events),
                // A rank may have had no room for it.
                ("the use of calendars", self.part.is_calendar().into()),
            ],
        )?;
        if self.part.is_speculative() && until.events != Until::EMPTY.events {
            // Windows of other lengths would end it at another event.
            let problem = "supports event limits only with `Sync::Yawns`: choose it, or set a stop time";
            return Err(HybridError::Simulation(SimulationError::Parts { problem }));
        }
        // Until the run succeeds.
        self.over = true;
        self.part.begin(until);
        let (mut reported, mut state) = (Instant::now(), GO);
        let mut watch = |progress: &Progress| {
            // Once is enough: the window that reports it may be repeated.
            if state == GO && reported.elapsed() >= SLICE {
                state = if watch(progress).is_continue() { GO } else { STOP };
                reported = Instant::now();
            }
            state
        };
        // The ends to run to. After a growth there are several: the copy may precede earlier runs,
        // which are repeated unwatched.
        let mut ends = VecDeque::from([until]);
        let stop = loop {
            let ended = match ends.len() {
                1 => self.go(ends.make_contiguous(), &mut watch),
                _ => self.go(ends.make_contiguous(), &mut |_| GO),
            };
            match ended {
                Ok(stop) => {
                    ends.pop_front();
                    if ends.is_empty() {
                        break stop;
                    }
                }
                Err(error) => ends = self.recover(error)?.into(),
            }
        };
        self.part.closed(stop, until);
        if stop == Stop::Watcher {
            // No run to an end repeats it.
            self.saved = None;
            self.part.forget();
        }
        self.over = false;
        Ok(Progress { stop: Some(stop), ..self.progress() })
    }

    /// From a window of parity 0 to the first of these ends.
    fn go(&mut self, ends: &[Until], watch: &mut dyn FnMut(&Progress) -> u32) -> Result<Stop, HybridError> {
        let (until, mut parity) = (ends[0], 0);
        let stop = loop {
            let progress = self.progress();
            let stop = match progress.now {
                Ticks::NEVER => Some(Stop::Empty),
                now if now >= until.time => Some(Stop::Time),
                _ if progress.events >= until.events => Some(Stop::Events),
                _ if self.heads.iter().any(|head| head.state == STOP) => Some(Stop::Watcher),
                _ => None,
            };
            if let Some(stop) = stop {
                break stop;
            }
            if parity == 0 && (self.saved.is_none() || self.heads[0].due != 0) {
                self.save(ends);
            }
            // The first of two dispatches sends and executes nothing.
            if self.part.is_speculative() {
                self.step(0, until.time, GO)?;
                parity = 1;
            }
            self.windows += 1;
            let state = watch(&Progress { windows: self.windows, ..progress });
            self.step(parity, until.time, state)?;
            if self.progress().events == progress.events {
                // An epoch without events before the end is no window.
                self.windows -= 1;
                self.reached = self.part.epoch_end(progress.now).min(until.time);
            }
            parity = if self.part.is_speculative() { 0 } else { 1 - parity };
        };
        // Drains the messages of the last window, and leaves the memory as between calls of a
        // single run. No window continues from here.
        let end = if stop == Stop::Time && !self.part.is_calendar() { until.time } else { Ticks::ZERO };
        if parity == 0 && self.saved.is_none() {
            // A run to time zero makes the first copy, as on a single device.
            self.save(ends);
        }
        for parity in parity..2 {
            self.step(parity, end, GO)?;
        }
        Ok(stop)
    }

    /// Copies the host's state, and with the next dispatch the memory, on the way to these ends.
    fn save(&mut self, ends: &[Until]) {
        let (heads, arrived) = (self.heads.clone(), self.arrived.clone());
        let (windows, events) = (self.windows, self.events);
        self.saved = Some(PartSnapshot { heads, arrived, windows, events });
        self.part.save(ends);
    }

    /// After an overflow, all parts go back to the last copy of the memory, and the part that
    /// overflowed gets more room. Returns the ends of the runs since. Other errors are returned.
    fn recover(&mut self, error: HybridError) -> Result<Vec<Until>, HybridError> {
        let HybridError::Simulation(SimulationError::Fault(fault)) = error else { return Err(error) };
        let room =
            [FaultKind::QueueFull, FaultKind::MailboxFull, FaultKind::OutboxFull].contains(&fault.kind);
        let saved = self.saved.clone().filter(|_| room);
        let able = saved.is_some() && self.part.can_go_back();
        let ([able, ..], Some(saved)) = (self.transport.least([able.into(), 0, 0])?, saved) else {
            return Err(error);
        };
        if able == 0 {
            return Err(error);
        }
        // A larger memory may have no copy.
        let ends = self.part.ends();
        let own = self.lps.contains(&fault.lp).then_some(fault);
        let earliest = saved.heads.iter().map(|head| head.earliest).min().map_or(Ticks::ZERO, Ticks::new);
        let back = self.part.go_back(own, earliest).map_err(HybridError::from);
        agreed(&mut *self.transport, back)?;
        (self.heads, self.windows, self.events) = (saved.heads, saved.windows, saved.events);
        (self.arrived, self.reached) = (saved.arrived, Ticks::ZERO);
        log::info!("{fault}: the run continues with more room");
        Ok(ends)
    }

    /// The progress of all parts.
    pub fn progress(&self) -> Progress {
        let now = self.heads.iter().map(|head| head.earliest).min().map_or(Ticks::NEVER, Ticks::new);
        let now = now.max(self.reached);
        let events = self.heads.iter().map(|head| head.events).sum();
        Progress { now, events, windows: self.windows, stop: None }
    }

    /// The fingerprint of the run, over all parts. All ranks must call this.
    ///
    /// # Errors
    /// A device error, on all ranks, and errors of [`Transport`] about ranks that are gone.
    pub fn fingerprint(&mut self) -> Result<Fingerprint, HybridError> {
        let own = self.part.simulation().fingerprint().map_err(HybridError::from);
        let own = agreed(&mut *self.transport, own)?;
        let mut sum = 0_u64;
        for (rank, bytes) in (0..).zip(self.transport.gather(own.0.to_le_bytes().to_vec())?) {
            let bytes = <[u8; 8]>::try_from(bytes.as_slice());
            let reason = "expected a number of 8 bytes".to_owned();
            sum = sum
                .wrapping_add(u64::from_le_bytes(bytes.map_err(|_| HybridError::Garbled { rank, reason })?));
        }
        Ok(Fingerprint(sum))
    }

    /// The LPs of this part.
    pub fn lps(&self) -> Range<u32> {
        self.lps.clone()
    }

    /// The states of this part's LPs.
    ///
    /// # Errors
    /// As [`pdes::Simulation::states`](crate::pdes::Simulation::states).
    pub fn states(&self) -> Result<Vec<M::State>, SimulationError> {
        self.part.simulation().states()
    }

    /// The buffer of these states:
    /// [`pdes::Simulation::states_buffer`](crate::pdes::Simulation::states_buffer).
    pub fn states_buffer(&self) -> &wgpu::Buffer {
        self.part.simulation().states_buffer()
    }

    /// The pending events of this part's LPs. (After an error, the last messages of other parts are
    /// missing.)
    ///
    /// # Errors
    /// As [`pdes::Simulation::pending`](crate::pdes::Simulation::pending).
    pub fn pending(&self) -> Result<Pending<M::Payload>, SimulationError> {
        self.part.simulation().pending()
    }

    /// The outputs of this part's LPs:
    /// [`pdes::Simulation::outputs`](crate::pdes::Simulation::outputs).
    ///
    /// # Errors
    /// As [`pdes::Simulation::outputs`](crate::pdes::Simulation::outputs).
    pub fn outputs(&self, at: Ticks) -> Result<Outputs<M::Output>, SimulationError> {
        self.part.simulation().outputs(at)
    }

    /// The transport of this rank, for a program's own messages.
    pub fn transport(&mut self) -> &mut dyn Transport {
        &mut *self.transport
    }

    /// Runs a dispatch of this parity on all parts, and exchanges reports.
    fn step(&mut self, parity: u32, until: Ticks, state: u32) -> Result<(), HybridError> {
        // Includes this part: after a growth the device knows its pending events, but not what it
        // sent.
        let earliest = self.progress().now;
        let arrived = std::mem::take(&mut self.arrived);
        let mut reported = self.part.step(parity, (until, earliest), arrived, HEAD);
        if let (Ok(reported), true) = (&mut reported, self.part.is_speculative() && parity == 0) {
            reported.events = 0; // a bound on future events
        }
        self.exchange(reported, state)
    }

    /// Exchanges reports and events between all parts.
    fn exchange(
        &mut self,
        reported: Result<PartReport, SimulationError>,
        state: u32,
    ) -> Result<(), HybridError> {
        let own = self.transport.rank() as usize;
        let ranks = self.heads.len();
        let mut head = Head { state: FAILED, failure: u32::MAX, ..Head::zeroed() };
        let (mut mails, failed) = match reported {
            Ok(reported) => {
                self.events += reported.events;
                head = Head {
                    earliest: reported.earliest.get(),
                    events: self.events,
                    failure: reported.failure,
                    needed: reported.needed,
                    state,
                    due: self.part.is_due(EVERY).into(),
                };
                (reported.mails, None)
            }
            Err(error) => {
                let words = [&[0; HEAD], error.to_string().as_bytes()].concat();
                (vec![words; ranks - 1], Some(error))
            }
        };
        mails.iter_mut().for_each(|mail| mail[..HEAD].copy_from_slice(bytemuck::bytes_of(&head)));
        mails.insert(own, bytemuck::bytes_of(&head).to_vec());
        let came = self.transport.exchange(mails)?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let entry = PartOf::<M>::entry();
        for (rank, came) in (0..).zip(&came) {
            let garbled = |reason: &str| HybridError::Garbled { rank, reason: reason.to_owned() };
            let (head, rest) =
                came.split_at_checked(HEAD).ok_or_else(|| garbled("it is shorter than a report"))?;
            let head: Head = bytemuck::pod_read_unaligned(head);
            if head.state == FAILED {
                return Err(HybridError::Rank { rank, message: String::from_utf8_lossy(rest).into_owned() });
            }
            if !rest.len().is_multiple_of(entry) {
                return Err(garbled("its length is not a whole number of events"));
            }
            self.heads[rank as usize] = head;
        }
        self.arrived = came;
        let failure = self.heads.iter().map(|head| head.failure).min().expect("there is a rank");
        let needed = std::array::from_fn(|place| {
            self.heads.iter().map(|head| head.needed[place]).max().unwrap_or_default()
        });
        Ok(Fault::decode(failure, needed, 0, self.windows)?)
    }
}

impl<M: Model> RunUntil for GpuPart<M> {
    type Error = HybridError;

    fn run_until(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, HybridError> {
        self.run_to(until, watch)
    }
}

impl<M: Model> std::fmt::Debug for GpuPart<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GpuPart").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

/// Checks that all ranks have the same model and options.
fn same<M: Model>(transport: &mut dyn Transport, model: &M, options: &Options) -> Result<(), HybridError> {
    let bytes = |bytes: &[u8]| mix(0, bytes.iter().map(|&byte| u32::from(byte)));
    let options = [
        ("the seed", options.seed),
        ("the options", bytes(format!("{:?} {:?}", options.replica, options.sync).as_bytes())),
    ];
    equal(transport, &[&compared(model)[..], &options].concat())
}

/// Checks that all ranks have the same numbers.
pub(super) fn equal(transport: &mut dyn Transport, given: &[(&'static str, u64)]) -> Result<(), HybridError> {
    let reported = given.iter().flat_map(|(_, number)| number.to_le_bytes()).collect();
    let all = transport.gather(reported)?;
    for (rank, bytes) in (0..).zip(&all) {
        if bytes.len() != all[0].len() {
            let reason = "it has more or fewer numbers than that of rank 0".to_owned();
            return Err(HybridError::Garbled { rank, reason });
        }
        let pairs = bytes.chunks_exact(8).zip(all[0].chunks_exact(8));
        if let Some((&(what, _), _)) = given.iter().zip(pairs).find(|(_, (other, first))| other != first) {
            return Err(HybridError::Differs { rank, what });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::in_process;
    use crate::models::Phold;
    use crate::pdes::{Capacity, CpuSimulation, Sync};
    use crate::queue::QueueDesign;
    use crate::time::Resolution;

    fn until(units: f64) -> Until {
        Until::time(Resolution::default().ticks(units).unwrap())
    }

    // One device for all parts: each device compiles its own kernels.
    fn grow_between_sparse_windows(lps: u32, rate: f64) {
        let gpu = &Gpu::for_test();
        let end = until(2000.0);
        let model = Phold::new(lps, 2, rate, 0.5, Resolution::default()).unwrap();
        let narrow = model.with_capacity(Capacity { queue: 1, mailbox: 1 });
        for seed in 0..6 {
            let usual = Options::default().seed(seed);
            let mut expected = CpuSimulation::new(&model, usual).unwrap();
            expected.run(end).unwrap();
            for options in [
                usual.sync(Sync::Yawns),
                usual.sync(Sync::Horizon),
                usual.sync(Sync::Yawns).queue(QueueDesign::Calendar),
            ] {
                let ran = in_process(2, |rank| {
                    let mut part = GpuPart::on(Box::new(rank), gpu, &narrow, options)?;
                    part.run(end)?;
                    part.fingerprint()
                });
                for found in ran {
                    assert_eq!(found.unwrap(), expected.fingerprint(), "{lps} LPs, {options:?}");
                }
            }
        }
    }

    #[test]
    fn parts_that_grow_between_sparse_windows_keep_the_order() {
        grow_between_sparse_windows(3, 0.01);
    }

    #[test]
    #[ignore = "long: other kernels"]
    fn more_parts_that_grow_keep_the_order() {
        grow_between_sparse_windows(6, 0.003);
    }

    /// Windows, events, the first pending time and the fingerprint, after ends at and within
    /// epochs, after events, and after a checkpoint. Some LPs have room for fewer events than they
    /// get.
    fn calendars_of_parts(parts: u32, lps: u32, population: u32, rate: f64) {
        let gpu = &Gpu::for_test();
        let options = Options::default().seed(7).queue(QueueDesign::Calendar);
        let ends = [until(20.0), until(34.5), Until::events(4000), until(34.5), until(400.0), until(403.25)];
        let model = Phold::new(lps, population, rate, 10.0, Resolution::default()).unwrap();
        let narrow = model.with_capacity(Capacity { queue: 2, mailbox: 2 });
        let mut sequential = CpuSimulation::new(&model, options).unwrap();
        let mut expected = Vec::new();
        for end in ends {
            expected.push((sequential.run(end).unwrap(), sequential.fingerprint()));
        }
        let (middle, bytes) = (2, sequential_checkpoint(&model, options, &ends[..=2]));
        let ran = in_process(parts, |rank| {
            let mut part = GpuPart::on(Box::new(rank), gpu, &narrow, options).unwrap();
            ends.map(|end| (part.run(end).unwrap(), part.fingerprint().unwrap())).to_vec()
        });
        for found in ran {
            assert_eq!(found, expected, "{parts} parts of {lps} LPs");
        }
        let resumed = in_process(parts, |rank| {
            let mut part = GpuPart::resume(Box::new(rank), gpu, &model, options, &bytes).unwrap();
            let rest = ends[middle + 1..].iter();
            rest.map(|&end| (part.run(end).unwrap(), part.fingerprint().unwrap())).collect::<Vec<_>>()
        });
        for found in resumed {
            assert_eq!(found, expected[middle + 1..], "{parts} parts of {lps} LPs, resumed");
        }
    }

    #[test]
    fn calendars_of_parts_equal_the_sequential_engine() {
        calendars_of_parts(3, 130, 2, 0.01);
    }

    #[test]
    #[ignore = "long: other kernels"]
    fn calendars_of_one_and_two_parts_equal_the_sequential_engine() {
        calendars_of_parts(2, 65, 8, 0.1);
        calendars_of_parts(2, 3, 1, 0.002);
        calendars_of_parts(1, 64, 4, 0.1);
    }

    fn sequential_checkpoint(model: &Phold, options: Options, ends: &[Until]) -> Checkpoint {
        let mut sequential = CpuSimulation::new(model, options).unwrap();
        for &end in ends {
            sequential.run(end).unwrap();
        }
        sequential.checkpoint().unwrap()
    }
}
