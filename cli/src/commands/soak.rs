//! Runs random simulations, one after the other, for a given time. Checks that the engine and the
//! sequential engine agree for every combination of options, and that memory does not grow.
//!
//! Shows: everything that may change during a run without changing its results. A round is a model
//! of the library with random sizes and rates. It runs in several steps; after each one it may get
//! another queue design, or be saved and resumed with other options, with too little capacity, or
//! by the other engine. Every fifth round is an experiment in a random mapping. After each step
//!
//! * events, the time of the first pending event, the reason of the stop, the fingerprint and the
//!   checkpoint equal those of the sequential engine, which runs without interruption;
//! * time has not decreased, and if the model neither creates nor loses events, the number of
//!   pending events is that of the start.
//!
//! ```text
//! eventhorizon soak --seconds 600
//! eventhorizon soak --seed 7 --round 123        # what a violation asks for
//! ```
//!
//! The exit code is 1 if anything differs. The error then contains the configuration of the round.

use std::convert::Infallible;
use std::io::{Write as _, stdout};
use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::{CallCentre, Epidemic, FifoTorus, Phold, Torus};
use eventhorizon::pdes::{
    Capacity, Checkpoint, CpuEngine, CpuSimulation, Engine, EngineOptions, Mapping, Model, Options, Progress,
    Simulation, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::random::Stream;
use eventhorizon::statistics::{Design, Experiment, Point};
use eventhorizon::time::{Resolution, Ticks};
use serde_json::json;

use crate::shared::{self, Outcome};

/// Compare random simulations with the sequential engine, for as long as requested
#[derive(Parser)]
pub struct Args {
    /// Set the seconds to run
    #[arg(long, default_value_t = 60.0, value_parser = shared::seconds)]
    seconds: f64,
    /// Set the seed of the rounds
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run only this round
    #[arg(long)]
    round: Option<u64>,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
}

/// A device caches the kernels that are built for it. After this number of rounds a new device is
/// opened, which drops them.
const ROUNDS: u64 = 10;
/// The bound on the growth of the peak memory from the first half to the second. Rounds build
/// different kernels, and allocators keep freed memory.
const SLACK: f64 = 1.25;
/// Memory is compared in runs of at least this many seconds.
const LONG: f64 = 300.0;

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[args.json.file()])?;
    // What it compares is the device, even a slow one.
    let mut gpu = args.place.any_adapter()?;
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let begin = Instant::now();
    let (mut rounds, mut events) = (0_u64, 0_u64);
    // The peak of resident memory in each half.
    let mut most = [None; 2];
    loop {
        let seconds = begin.elapsed().as_secs_f64();
        let over = if args.round.is_some() { rounds > 0 } else { seconds >= args.seconds };
        if over || shared::watch().is_break() {
            break;
        }
        let number = args.round.unwrap_or(rounds);
        let mut round = Round {
            gpu: gpu.as_ref(),
            chance: Stream::new(args.seed, 0, number),
            story: Vec::new(),
            events: 0,
        };
        if let Err(error) = round.run() {
            let story = round.story.join("\n  ");
            return Err(format!("round {number} of seed {}: {error}\n  {story}", args.seed).into());
        }
        log::debug!("round {number}: {}", round.story.join("; "));
        rounds += 1;
        events += round.events;
        let resident = resident();
        let half = &mut most[usize::from(seconds >= args.seconds / 2.0)];
        *half = resident.max(*half);
        if rounds.is_multiple_of(ROUNDS) {
            gpu = gpu.map(|gpu| Gpu::from_device(gpu.device().clone(), gpu.queue().clone()));
        }
        bar.set_message(format!("{rounds} rounds, {events} events, {} MiB", resident.unwrap_or(0) >> 20));
    }
    bar.finish_and_clear();
    let seconds = begin.elapsed().as_secs_f64();
    let adapter = gpu.map_or_else(|| "CPU, sequential".to_owned(), |gpu| gpu.info().name.clone());
    let mib = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    if !args.json.on_stdout() {
        writeln!(stdout(), "{:<24}{adapter}", "adapter")?;
        writeln!(stdout(), "{:<24}{rounds}, all correct", "rounds")?;
        writeln!(stdout(), "{:<24}{events}", "events")?;
        writeln!(stdout(), "{:<24}{seconds:.1}", "seconds")?;
        writeln!(
            stdout(),
            "{:<24}at most {} in the first half, {} in the second",
            "resident memory",
            mib(most[0]),
            mib(most[1])
        )?;
    }
    args.json.write(&json!({
        "adapter": adapter,
        "seed": args.seed,
        "rounds": rounds,
        "events": events,
        "seconds": seconds,
        "resident": most,
    }))?;
    match most {
        [Some(first), Some(second)] if seconds >= LONG && second as f64 > SLACK * first as f64 => {
            Err(format!("memory grows: at most {first} bytes in the first half, {second} in the second")
                .into())
        }
        _ => Ok(()),
    }
}

/// The resident memory of this process in bytes, if the system reports it.
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(4096 * pages.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

struct Round<'a> {
    gpu: Option<&'a Gpu>,
    chance: Stream,
    /// The steps so far, for the report of an error.
    story: Vec<String>,
    events: u64,
}

/// The properties of a model that limit its options.
#[derive(Clone, Copy)]
struct ModelTraits {
    lookahead: bool,
    /// Whether it names the senders of each LP.
    senders: bool,
    /// Whether it neither creates nor loses events.
    conserved: bool,
}

impl Round<'_> {
    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.chance.below(u32::try_from(list.len()).expect("a short list")) as usize].clone()
    }

    fn chances(&mut self, of: u32) -> bool {
        self.chance.below(of) == 0
    }

    fn run(&mut self) -> Outcome<()> {
        let units = Resolution::default();
        let conserved = ModelTraits { lookahead: true, senders: false, conserved: true };
        let (lps, rate) =
            (self.one_of(&[1, 2, 31, 64, 65, 257, 1000, 3000]), self.one_of(&[0.001, 0.01, 0.1, 1.0]));
        match self.chance.below(10) {
            0..4 => {
                let (population, lookahead) = (self.one_of(&[1, 4, 9]), self.one_of(&[0.0, 1.0, 10.0, 10.0]));
                let mut model = Phold::new(lps, population, rate, lookahead, units)?;
                let mut traits = ModelTraits { lookahead: lookahead > 0.0, ..conserved };
                if lps > 8 && self.chances(2) {
                    (model, traits.senders) = (model.with_neighbours(4)?, true);
                }
                self.story.push(format!("phold: {lps} LPs, {population} events each, rate {rate}, lookahead {lookahead}, neighbours {}", traits.senders));
                self.follow(&model, &model.with_capacity(TINY), traits)
            }
            4 | 5 => {
                let (side, customers) = (self.one_of(&[2, 5, 16]), self.one_of(&[1, 20, 300]));
                self.story.push(format!("torus: {side} x {side}, {customers} customers"));
                let traits = ModelTraits { senders: true, conserved: false, ..conserved };
                if self.chances(2) {
                    let model = FifoTorus::new(side, side + 1, customers, 1.0, units)?;
                    return self.follow(&model, &model.with_capacity(TINY), traits);
                }
                let model = Torus::new(side, side + 1, customers, 1.0, 8.0, units)?;
                self.follow(&model, &model.with_capacity(TINY), traits)
            }
            6 => {
                let people = self.one_of(&[10, 300, 2000]);
                let edges = Epidemic::random_edges(people, 2 * people, 0, u64::from(people));
                self.story.push(format!("epidemic: {people} people"));
                let model = Epidemic::new(people, &edges, 1 + people / 100, 2.0, 0.4, 0.2, units)?;
                self.follow(
                    &model,
                    &model.clone().with_capacity(TINY),
                    ModelTraits { conserved: false, ..conserved },
                )
            }
            7 => {
                let (centres, servers) = (self.one_of(&[1, 40, 300]), self.one_of(&[1, 5]));
                self.story.push(format!("call centre: {centres}, {servers} servers"));
                let model = CallCentre::new(centres, servers, 3.0, 1.0, 0.5, 64, units)?;
                self.follow(&model, &model.with_capacity(TINY), ModelTraits { conserved: false, ..conserved })
            }
            _ => self.experiment(units),
        }
    }

    /// Runs an experiment on both engines.
    fn experiment(&mut self, units: Resolution) -> Outcome<()> {
        let (lps, rate) = (self.one_of(&[4, 50, 130]), self.one_of(&[0.01, 0.1]));
        let (runs, seed) = (1 + self.chance.below(9), self.chance.draw().into());
        let mapping = self.one_of(&[Mapping::Grid, Mapping::Team, Mapping::Thread]);
        let until = Until::time(units.ticks(self.one_of(&[20.0, 55.5, 130.0]))?);
        self.story.push(format!(
            "{runs} runs of phold: {lps} LPs, rate {rate}, {mapping}, seed {seed}, until {until:?}"
        ));
        let model = Phold::new(lps, 3, rate, 10.0, units)?;
        let build = move |_: &Point<'_>| Ok::<_, Infallible>(model);
        let experiment = Experiment::new(Design::default(), runs, seed);
        let expected = CpuEngine::new(build, EngineOptions::default()).run(&experiment, until)?;
        self.events += expected.runs.iter().flatten().flatten().map(|run| run.progress.events).sum::<u64>();
        let Some(gpu) = self.gpu else { return Ok(()) };
        let options = EngineOptions::default().mapping(mapping);
        let found = Engine::new(gpu, build, options)?.run(&experiment, until)?;
        shared::same(&found.fingerprint, &expected.fingerprint, "the fingerprint of an experiment")
    }

    /// Random options for a model.
    fn way(&mut self, traits: ModelTraits) -> Options {
        let known = traits.senders && traits.lookahead;
        let syncs = Sync::ALL.into_iter().filter(|sync| known || !sync.needs_senders());
        // Windows that the sequential engine has, too, twice as often.
        let syncs: Vec<_> = syncs.chain([Sync::Yawns]).collect();
        let sync = self.one_of(&syncs);
        let queue = self.queue(traits, sync);
        Options::default().sync(sync).queue(queue).group_size(self.one_of(&[None, Some(32)])).seed(11)
    }

    fn queue(&mut self, traits: ModelTraits, sync: Sync) -> Option<QueueDesign> {
        let calendar = traits.lookahead && sync.is_wide() != Some(true);
        let queues = QueueDesign::ALL.into_iter().filter(|&queue| calendar || !queue.is_calendar());
        let queues: Vec<_> = queues.map(Some).chain([None]).collect();
        self.one_of(&queues)
    }

    /// Runs a model from start to end. `tight` is the same model with too little capacity.
    fn follow<M>(&mut self, model: &M, tight: &M, traits: ModelTraits) -> Outcome<()>
    where
        M: Model,
    {
        let seed = self.chance.draw().into();
        let mut cpu = CpuSimulation::new(model, Options::default().seed(seed))?;
        let held = cpu.pending().len();
        let mut options = self.way(traits).seed(seed);
        let first = if self.chances(4) { tight } else { model };
        self.story.push(format!("{options:?}, capacity {:?}", first.capacity()));
        let mut simulation = self.gpu.map(|gpu| Simulation::new(gpu, first, options)).transpose()?;
        // The number of windows is reproducible as long as windows are those of epochs.
        let mut exact = options.sync.is_wide() == Some(false);
        let mut last: Option<Progress> = None;
        for _ in 0..2 + self.chance.below(4) {
            let events = last.map_or(0, |last| last.events) + u64::from(self.chance.below(4000));
            let now = last.map_or(Ticks::ZERO, |last| last.now);
            let until = match self.chance.below(3) {
                0 => Until { time: now.saturating_add(Ticks::new(now.get() / 4 + 1)), events },
                _ => Until::events(events),
            };
            self.story.push(format!("to {until:?}"));
            let expected = cpu.run(until)?;
            if last.is_some_and(|last| expected.now < last.now || expected.events < last.events) {
                return Err(format!("time goes back: {expected:?} after {last:?}").into());
            }
            if traits.conserved && cpu.pending().len() != held {
                return Err(format!("expected {held} pending events, found {}", cpu.pending().len()).into());
            }
            let saved = cpu.checkpoint()?;
            if let Some(simulation) = &mut simulation {
                let mut found = simulation.run(until)?;
                if !exact {
                    found.windows = expected.windows;
                }
                shared::same(&found, &expected, "the progress at a stop")?;
                shared::same(&simulation.fingerprint()?, &cpu.fingerprint(), "the fingerprint")?;
                let own = simulation.checkpoint()?;
                if exact && own != saved {
                    return Err("the checkpoints differ".into());
                }
                if own.pending::<M::Payload>()? != cpu.pending() {
                    return Err("pending events differ".into());
                }
                match self.chance.below(4) {
                    0 => {
                        let queue = self.queue(traits, options.sync);
                        self.story.push(format!("from here with {queue:?}"));
                        if let Some(queue) = queue {
                            simulation.set_queue(queue)?;
                        }
                    }
                    1 | 2 => {
                        let from = if self.chances(2) { &own } else { &saved };
                        options = self.way(traits);
                        let model = if self.chances(3) { tight } else { model };
                        self.story.push(format!(
                            "saved; resumed with {options:?}, capacity {:?}",
                            model.capacity()
                        ));
                        let from = Checkpoint::from_bytes(from.as_bytes().to_vec())?;
                        exact = options.sync.is_wide() == Some(false) && (exact || from == saved);
                        *simulation =
                            Simulation::resume(self.gpu.expect("it runs there"), model, options, &from)?;
                    }
                    _ => {}
                }
            }
            if self.chances(3) {
                self.story.push("the sequential engine continues from its checkpoint".to_owned());
                cpu = CpuSimulation::resume(model, &Checkpoint::from_bytes(saved.as_bytes().to_vec())?)?;
            }
            last = Some(expected);
        }
        self.events += last.map_or(0, |last| last.events);
        Ok(())
    }
}

/// Capacity for a single event, so that memory has to grow.
const TINY: Capacity = Capacity { queue: 1, mailbox: 1 };
