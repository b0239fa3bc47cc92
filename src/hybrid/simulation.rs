//! The engine: windows of all partitions and ranks (the paper's Algorithms 1 and 2).

mod saved;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;
use web_time::Instant;

use super::HybridError;
use super::entity::{Entity, Event};
use super::error::{Fault, Full};
use super::handler::{HandlerUsage, Handlers};
use super::options::Options;
use super::part::{Address, Mail, Part, Shared};
use super::streams::{Answered, Group, Streams};
use super::transport::{SingleRank, Transport};
use crate::gpu::SLICE;
use crate::pdes::checkpoint::{Identity, RunHistory, Skew};
use crate::pdes::{Fingerprint, Progress, Replica, RunUntil, SimulationRun, Stop, Until};
use crate::random::mix;
use crate::statistics::fits_host;
use crate::time::Ticks;

/// The maximum number of rounds at one time, as in `pdes`.
const ROUNDS: u32 = 1 << 16;

/// The maximum number of partitions of a rank.
const MOST_PARTS: usize = 1024;

/// A simulation of entities on the host's cores, on one rank or on many.
///
/// With several ranks, each creates its own `Simulation` and calls the same functions in the same
/// order.
pub struct Simulation<E: Entity> {
    shared: Shared,
    parts: Vec<Part<E>>,
    transport: Box<dyn Transport>,
    handlers: Arc<Handlers>,
    /// `None` for one thread: the caller's.
    pool: Option<Arc<Pool>>,
    windows: u64,
    events: u64,
    over: bool,
    /// An error that this rank found after the last exchange: the others learn of it with the next
    /// window.
    late: Option<HybridError>,
    /// The time of the last window's first event, and the number of consecutive windows that began
    /// there.
    rounds: (Ticks, u32),
    /// Seed and replica.
    seed: (u64, Replica),
    /// The history of its runs.
    course: RunHistory,
    /// The identity of its `pdes` model, if it has one.
    identity: Option<Identity>,
}

enum Pool {
    Global,
    Own(rayon::ThreadPool),
}

impl Pool {
    fn install<R: Send>(&self, function: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::Global => function(),
            Self::Own(pool) => pool.install(function),
        }
    }
}

impl<E: Entity> Simulation<E> {
    /// Creates and starts entities with the names `0..entities`, on this rank alone. A message
    /// takes at least `lookahead` from one entity to another. It may be zero, and is
    /// [`Ticks::NEVER`] if entities send each other nothing. The longer it is, the more entities
    /// run at once.
    ///
    /// # Errors
    /// [`HybridError::NoEntities`], [`HybridError::HostMemory`], [`HybridError::Threads`], and a
    /// [`Fault`] of an entity.
    pub fn new(
        entities: u32,
        lookahead: Ticks,
        make: impl FnMut(u32) -> E,
        options: Options,
    ) -> Result<Self, HybridError> {
        Self::on(Box::new(SingleRank), entities, lookahead, make, options)
    }

    /// The same as one rank of several: creates only this rank's entities. All ranks must have the
    /// same model, seed, replica and placement.
    ///
    /// # Errors
    /// As [`Simulation::new`]; [`HybridError::Map`], [`HybridError::Differs`], and errors of other
    /// ranks.
    pub fn on(
        transport: Box<dyn Transport>,
        entities: u32,
        lookahead: Ticks,
        make: impl FnMut(u32) -> E,
        options: Options,
    ) -> Result<Self, HybridError> {
        let mut simulation = Self::begin(transport, entities, lookahead, make, options)?;
        let started = simulation.window(None);
        simulation.end_window(started)?;
        simulation.report_late()?;
        Ok(simulation)
    }

    /// The same without starting the entities.
    fn begin(
        mut transport: Box<dyn Transport>,
        entities: u32,
        lookahead: Ticks,
        make: impl FnMut(u32) -> E,
        options: Options,
    ) -> Result<Self, HybridError> {
        let handlers = Arc::new(options.handlers);
        let options = Options { handlers: Handlers::default(), ..options };
        let made = Self::make(&*transport, entities, lookahead, make, (&options, &handlers));
        let (shared, parts, pool) = agreed(&mut *transport, made)?;
        same(&mut *transport, &shared, entities, lookahead)?;
        Ok(Self {
            shared,
            parts,
            transport,
            handlers,
            pool,
            windows: 0,
            events: 0,
            over: false,
            late: None,
            rounds: (Ticks::ZERO, 0),
            seed: (options.seed, options.replica),
            course: RunHistory::BEGUN,
            identity: None,
        })
    }

    #[expect(clippy::type_complexity, reason = "the fields of a new simulation")]
    fn make(
        transport: &dyn Transport,
        entities: u32,
        lookahead: Ticks,
        mut make: impl FnMut(u32) -> E,
        (options, handlers): (&Options, &Arc<Handlers>),
    ) -> Result<(Shared, Vec<Part<E>>, Option<Arc<Pool>>), HybridError> {
        if entities == 0 {
            return Err(HybridError::NoEntities);
        }
        let pool = match options.threads {
            Some(1) => None,
            None if rayon::current_num_threads() == 1 => None,
            None => Some(Arc::new(Pool::Global)),
            Some(threads) => {
                let refused = |reason: String| HybridError::Threads { threads, reason };
                if threads == 0 || threads > 1 << 16 {
                    return Err(refused("choose from 1 to 65,536".to_owned()));
                }
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                Some(Arc::new(Pool::Own(pool.map_err(|error| refused(error.to_string()))?)))
            }
        };
        // More partitions than threads, so that a thread with less work takes another one.
        let count = match &pool {
            None => 1,
            // Each partition has a list for each other one, and empty lists need memory.
            Some(pool) => {
                (4 * pool.install(rayon::current_num_threads)).min(entities as usize).min(MOST_PARTS)
            }
        };
        let (rank, ranks) = (transport.rank(), transport.ranks());
        let least = u64::from(entities) * size_of::<Address>() as u64;
        let own = u64::from(entities / ranks) * (size_of::<E>() as u64 + 32);
        if !fits_host(least.saturating_add(own)) {
            return Err(HybridError::HostMemory { what: "the entities", bytes: least.saturating_add(own) });
        }
        let mut shared = Shared {
            seed: options.replica.key(options.seed),
            rank,
            lookahead,
            replica: options.replica.number,
            entities,
            addresses: Vec::new(),
            streams: None,
        };
        let mut addresses = Vec::with_capacity(entities as usize);
        let mut parts: Vec<Part<E>> =
            (0..count).map(|part| Part::new(narrow(part), count, ranks as usize, &shared)).collect();
        // Entities with close names often have similar work, so they are assigned round-robin.
        let mut turn = 0;
        for name in 0..entities {
            let on = options.placement.rank(name, entities, ranks)?;
            let mut address = Address { rank: on, part: 0, slot: 0 };
            if on == rank {
                address.part = narrow(turn % count);
                address.slot = parts[turn % count].add(name, make(name));
                turn += 1;
            }
            addresses.push(address);
        }
        shared.addresses = addresses;
        let (handlers, cores) = (Arc::clone(handlers), pool.clone());
        let run = move |handler, group| answer(cores.as_deref(), &handlers, handler, group);
        shared.streams = Streams::new(options.overlap, run)?;
        Ok((shared, parts, pool))
    }

    /// Executes exactly the events before `until`.
    ///
    /// # Errors
    /// A [`Fault`] and what else [`HybridError`] lists: on all ranks, after the same window. After
    /// any, the simulation can be read, and not run.
    pub fn run(&mut self, until: Ticks) -> Result<Progress, HybridError> {
        self.until(until).run()
    }

    /// Describes a run, to be watched: [`SimulationRun`]. A run of a model of `pdes` ([`Lp`]) can
    /// also be saved.
    ///
    /// ```
    /// use eventhorizon::hybrid::{Lp, Options};
    /// use eventhorizon::models::Phold;
    /// use eventhorizon::time::Resolution;
    ///
    /// let seconds = Resolution::default();
    /// let model = Phold::new(200, 4, 0.1, 10.0, seconds)?;
    /// let mut simulation = Lp::simulation(model, None, Options::default().seed(42))?;
    /// let end = seconds.ticks(100.0)?;
    /// simulation.until(end).watch(|progress| println!("{} events", progress.events)).run()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Lp`]: super::Lp
    pub fn until(&mut self, until: Ticks) -> SimulationRun<'_, Self> {
        SimulationRun::new(self, Until::time(until))
    }

    /// [`Simulation::run`], which calls `watch` about 30 times a second, after a window. With
    /// several ranks, each reports its own events, and the result has those of all.
    fn run_to(
        &mut self,
        until: Ticks,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, HybridError> {
        if self.over {
            return Err(HybridError::Over);
        }
        self.course.heads(Until::time(until));
        let mut reported = Instant::now();
        let mut going = ControlFlow::Continue(());
        loop {
            let mine = self.parts.iter().map(Part::first).min().unwrap_or(Ticks::NEVER);
            let goes = u64::from(going.is_continue());
            let sound = u64::from(self.late.is_none());
            let least = self.transport.least([mine.get(), goes, sound]);
            let [now, goes, sound] = least.inspect_err(|_| self.over = true)?;
            // Before it may stop: a run that lost a message must not succeed.
            if sound == 0 {
                self.over = true;
                self.report_late()?;
            }
            let now = Ticks::new(now);
            let stop = match now {
                Ticks::NEVER => Some(Stop::Empty),
                _ if now >= until => Some(Stop::Time),
                _ if goes == 0 => Some(Stop::Watcher),
                _ => None,
            };
            if let Some(stop) = stop {
                let events = self.sum(self.events)?;
                self.course.ended(Some(stop), Until::time(until), Skew::Epoch);
                return Ok(Progress { now, events, windows: self.windows, stop: Some(stop) });
            }
            self.rounds = (now, if self.rounds.0 == now { self.rounds.1 } else { 0 } + 1);
            if self.rounds.1 > ROUNDS {
                self.over = true;
                return Err(HybridError::Cycle { time: now, rounds: ROUNDS });
            }
            // Without a lookahead, the window is one tick.
            let span = self.shared.lookahead.max(Ticks::new(1));
            let end = now.saturating_add(span).min(until);
            self.windows += 1;
            // Until the window succeeds: an error or a panic of the model's code may end it.
            self.over = true;
            let window = self.window(Some(end));
            self.end_window(window)?;
            self.over = false;
            if reported.elapsed() >= SLICE {
                let progress = Progress { now, events: self.events, windows: self.windows, stop: None };
                going = watch(&progress);
                reported = Instant::now();
            }
        }
    }

    /// Runs a window on this rank, up to its end (or starts the entities), and collects its
    /// messages. An error is this rank's own, and others do not know of it.
    fn window(&mut self, end: Option<Ticks>) -> Result<Option<Fault>, HybridError> {
        let shared = &self.shared;
        let each = |parts: &mut [Part<E>], function: &(dyn Fn(&mut Part<E>) + Sync)| match &self.pool {
            None => parts.iter_mut().for_each(function),
            Some(pool) => pool.install(|| parts.par_iter_mut().for_each(function)),
        };
        match end {
            None => each(&mut self.parts, &|part| part.start(shared)),
            Some(end) => each(&mut self.parts, &|part| part.window(shared, end)),
        }
        let end = end.unwrap_or(Ticks::ZERO);
        loop {
            let answers = match &shared.streams {
                Some(streams) => streams.next()?,
                None => {
                    let mut groups = BTreeMap::new();
                    Group::sort(self.parts.iter_mut().flat_map(|part| part.calls.drain(..)), &mut groups);
                    let each = groups.into_iter();
                    let answered = each
                        .map(|(handler, group)| answer(self.pool.as_deref(), &self.handlers, handler, group));
                    answered.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
                }
            };
            if answers.is_empty() {
                break;
            }
            for (seat, answer) in answers {
                self.parts[seat.part as usize].answers.push((seat, answer));
            }
            each(&mut self.parts, &|part| part.answer(shared, end));
        }
        // Exchanges lists between the partitions.
        for from in 0..self.parts.len() {
            for to in 0..self.parts.len() {
                if !self.parts[from].out[to].is_empty() {
                    let spare = self.parts[to].spare.pop().unwrap_or_default();
                    let list: Vec<Event<E::Message>> =
                        std::mem::replace(&mut self.parts[from].out[to], spare);
                    self.parts[to].inbox.push(list);
                }
            }
        }
        if let Some(Full { bytes }) = self.parts.iter_mut().find_map(|part| part.full.take()) {
            return Err(HybridError::HostMemory { what: "pending events", bytes });
        }
        self.events = self.parts.iter().map(|part| part.events).sum();
        Ok(self.parts.iter_mut().filter_map(|part| part.fault.take()).min())
    }

    /// After a window: all ranks learn of any rank's error, and messages are exchanged. Errors in
    /// received messages are reported later.
    fn end_window(&mut self, mut window: Result<Option<Fault>, HybridError>) -> Result<(), HybridError> {
        if self.transport.ranks() == 1 {
            return match window? {
                Some(fault) => Err(HybridError::Fault(fault)),
                None => Ok(()),
            };
        }
        let mut mails = Vec::new();
        if let Ok(None) = window {
            match self.mails() {
                Ok(written) => mails = written,
                Err(error) => window = Err(error),
            }
        }
        let fault = match &window {
            Err(_) => 0,
            Ok(Some(_)) => 1,
            Ok(None) => 2,
        };
        let [worst, ..] = self.transport.least([fault, 0, 0])?;
        if worst < 2 {
            let reported = match &window {
                Err(error) => Err(error.to_string()),
                Ok(fault) => Ok(fault),
            };
            let reported = postcard::to_stdvec(&reported).map_err(|error| unwritten(&error))?;
            let gathered = self.transport.gather(reported)?;
            let own = self.transport.rank();
            let mut faults = Vec::new();
            for (rank, reported) in (0..).zip(gathered) {
                if rank == own {
                    continue;
                }
                match read::<Result<Option<Fault>, String>>(rank, &reported)? {
                    Ok(fault) => faults.extend(fault),
                    Err(message) if window.is_ok() => return Err(HybridError::Rank { rank, message }),
                    Err(_) => {}
                }
            }
            faults.extend(window?);
            let first = faults.into_iter().min().expect("a rank reported a fault");
            return Err(HybridError::Fault(first));
        }
        self.parts.iter_mut().flat_map(|part| &mut part.far).for_each(Vec::clear);
        let came = self.transport.exchange(mails)?;
        self.late = self.deliver(&came).err();
        Ok(())
    }

    /// The messages for each rank, as bytes.
    fn mails(&self) -> Result<Vec<Vec<u8>>, HybridError> {
        let written = |to: usize| {
            let mut mails = self.parts.iter().flat_map(|part| &part.far[to]);
            mails.try_fold(Vec::new(), |bytes, mail| postcard::to_extend(mail, bytes))
        };
        let ranks = self.transport.ranks() as usize;
        (0..ranks).map(|to| written(to).map_err(|error| unwritten(&error))).collect()
    }

    /// Delivers the messages of all ranks to partitions.
    fn deliver(&mut self, came: &[Vec<u8>]) -> Result<(), HybridError> {
        let own = self.transport.rank();
        for (rank, bytes) in (0..).zip(came) {
            let mut rest = if rank == own { &[][..] } else { bytes.as_slice() };
            while !rest.is_empty() {
                let (mail, left): (Mail<E::Message>, _) = postcard::take_from_bytes(rest)
                    .map_err(|error| HybridError::Garbled { rank, reason: error.to_string() })?;
                rest = left;
                let here = self.shared.addresses.get(mail.to as usize).filter(|address| address.rank == own);
                let Some(&address) = here else {
                    let reason = format!("a message for entity {}, which is not on this rank", mail.to);
                    return Err(HybridError::Garbled { rank, reason });
                };
                self.parts[address.part as usize].deliver(address.slot, mail)?;
            }
        }
        Ok(())
    }

    /// Reports an error that one rank found after the exchange to all ranks.
    fn report_late(&mut self) -> Result<(), HybridError> {
        let late = self.late.take();
        agreed(&mut *self.transport, late.map_or(Ok(()), Err))
    }

    /// The sum over all ranks.
    fn sum(&mut self, value: u64) -> Result<u64, HybridError> {
        // Until this succeeds.
        let over = std::mem::replace(&mut self.over, true);
        let gathered = self.transport.gather(value.to_le_bytes().to_vec())?;
        let mut sum = 0_u64;
        for (rank, bytes) in (0..).zip(&gathered) {
            let bytes = <[u8; 8]>::try_from(bytes.as_slice());
            let wrong = |_| HybridError::Garbled { rank, reason: "expected a number of 8 bytes".to_owned() };
            sum = sum.wrapping_add(u64::from_le_bytes(bytes.map_err(wrong)?));
        }
        self.over = over;
        Ok(sum)
    }

    /// The fingerprint of executed events, states and pending events, over all ranks. All ranks
    /// must call this.
    ///
    /// # Errors
    /// If another rank is gone or silent.
    pub fn fingerprint(&mut self) -> Result<Fingerprint, HybridError> {
        let each = self.parts.iter().map(Part::fingerprint);
        let own = each.fold(0, u64::wrapping_add);
        Ok(Fingerprint(self.sum(own)?))
    }

    /// The entities of this rank with their names, in unspecified order.
    pub fn entities(&self) -> impl Iterator<Item = (u32, &E)> {
        self.parts.iter().flat_map(|part| {
            part.names.iter().zip(&part.entities).filter_map(|(&name, entity)| Some((name, entity.as_ref()?)))
        })
    }

    /// An entity, if it is on this rank.
    pub fn entity(&self, name: u32) -> Option<&E> {
        let address = self.shared.addresses.get(name as usize)?;
        let here = (address.rank == self.shared.rank).then_some(&self.parts[address.part as usize])?;
        here.entities[address.slot as usize].as_ref()
    }

    /// The usage of handlers on this rank.
    pub fn used(&self) -> Vec<HandlerUsage> {
        self.handlers.used()
    }

    /// The transport of this rank, for a program's own messages.
    pub fn transport(&mut self) -> &mut dyn Transport {
        &mut *self.transport
    }
}

impl<E: Entity> RunUntil for Simulation<E> {
    type Error = HybridError;

    fn run_until(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, HybridError> {
        self.run_to(until.time, watch)
    }
}

impl<E: Entity> std::fmt::Debug for Simulation<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("entities", &self.shared.addresses.len())
            .field("rank", &self.shared.rank)
            .field("events", &self.events)
            .field("windows", &self.windows)
            .finish_non_exhaustive()
    }
}

/// Answers a group of calls of a handler.
fn answer(
    pool: Option<&Pool>,
    handlers: &Handlers,
    handler: usize,
    group: Group,
) -> Result<Vec<Answered>, HybridError> {
    match pool {
        None => group.run(handlers, handler, false),
        Some(pool) => pool.install(|| group.run(handlers, handler, true)),
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("partitions are few")
}

fn read<T: serde::de::DeserializeOwned>(rank: u32, bytes: &[u8]) -> Result<T, HybridError> {
    postcard::from_bytes(bytes).map_err(|error| HybridError::Garbled { rank, reason: error.to_string() })
}

/// A message, or an error, that cannot be sent.
fn unwritten(error: &postcard::Error) -> HybridError {
    HybridError::Unwritten { reason: error.to_string() }
}

/// The value, if all ranks have created theirs.
pub(super) fn agreed<T>(
    transport: &mut dyn Transport,
    made: Result<T, HybridError>,
) -> Result<T, HybridError> {
    if transport.ranks() == 1 {
        return made;
    }
    let reported = made.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let all = transport.gather(reported.into_bytes())?;
    let made = made?;
    match (0..).zip(all).find(|(rank, text)| *rank != transport.rank() && !text.is_empty()) {
        Some((rank, text)) => {
            Err(HybridError::Rank { rank, message: String::from_utf8_lossy(&text).into_owned() })
        }
        None => Ok(made),
    }
}

/// Checks that all ranks have the same parameters.
fn same(
    transport: &mut dyn Transport,
    shared: &Shared,
    entities: u32,
    lookahead: Ticks,
) -> Result<(), HybridError> {
    if transport.ranks() == 1 {
        return Ok(());
    }
    let map = shared.addresses.iter().map(|address| address.rank);
    let given = [entities.into(), lookahead.get(), shared.seed, shared.replica.into(), mix(0, map)];
    let names = ["the number of entities", "the lookahead", "the seed", "the replica", "the placement"];
    let all = transport.gather(bytemuck::bytes_of(&given).to_vec())?;
    for (rank, bytes) in (0..).zip(&all) {
        let other: [u64; 5] = bytemuck::try_pod_read_unaligned(bytes)
            .map_err(|error| HybridError::Garbled { rank, reason: error.to_string() })?;
        // Compares with the first rank, so that all find the same difference.
        let first: [u64; 5] = bytemuck::try_pod_read_unaligned(&all[0])
            .map_err(|error| HybridError::Garbled { rank: 0, reason: error.to_string() })?;
        if let Some(place) = (0..given.len()).find(|&place| other[place] != first[place]) {
            return Err(HybridError::Differs { rank, what: names[place] });
        }
    }
    Ok(())
}
