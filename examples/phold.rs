//! PHOLD, the usual benchmark of parallel discrete-event simulation, on the GPU or on the CPU.
//!
//! Shows: preparing a model, running it with a progress bar, comparing two engines by fingerprint, and what to do
//! where there is no GPU.
//!
//! ```text
//! cargo run --release --example phold
//! cargo run --release --example phold -- --lps 1024 --until 200 --verify
//! cargo run --release --example phold -- --neighbours 4 --rate 0.001 --until 3000 --sync neighbours
//! cargo run --release --example phold -- --lps 64 --population 4 --until 200 --replicas 1000 --verify
//! ```

#[path = "phold/replicas.rs"]
mod replicas;
mod shared;

use std::io::{Write as _, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    CpuSimulation, Fingerprint, Mapping, Model, Options, Progress, Simulation, SimulationError, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use indicatif::ProgressBar;
use serde_json::json;
use shared::{Failure, Outcome as Ended};

#[derive(Parser)]
#[command(about = "Runs the PHOLD model and tells how many events per second were executed")]
struct Args {
    /// Logical processes.
    #[arg(long, default_value_t = 32768)]
    lps: u32,
    /// Events per LP.
    #[arg(long, default_value_t = 16)]
    population: u32,
    /// Rate of the exponential delay, per unit of time.
    #[arg(long, default_value_t = 0.1, allow_negative_numbers = true)]
    rate: f64,
    /// Least delay of an event, in units of time. It may be 0.
    #[arg(long, default_value_t = 10.0, allow_negative_numbers = true)]
    lookahead: f64,
    /// End of the simulation, in units of time: exactly the earlier events are executed.
    #[arg(long, default_value_t = 1000.0, allow_negative_numbers = true)]
    until: f64,
    /// End after the first window that completes this many events, instead of at a time.
    #[arg(long, conflicts_with = "until")]
    events: Option<u64>,
    /// Queue design, by its name in docs/queues.md, or auto.
    #[arg(long, default_value = "auto")]
    queue: String,
    /// Send only to so many LPs on a ring, half of them on each side: an even number, less than --lps. Otherwise to all.
    #[arg(long)]
    neighbours: Option<u32>,
    /// How far windows go: yawns, horizon, neighbours (which takes --neighbours, and a lookahead) or auto. It changes the speed only.
    #[arg(long, default_value_t = Sync::Auto)]
    sync: Sync,
    /// Names the random streams of the run.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Invocations per workgroup: a power of two. It changes the speed only.
    #[arg(long, alias = "workgroup", value_parser = shared::group_size)]
    group_size: Option<u32>,
    /// LPs that an invocation serves in each window. It changes the speed only.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    tiles: Option<u32>,
    /// Runs the model so many times at once, each run with random streams of its own: the first is the run without this.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["sync", "tiles"])]
    replicas: Option<u32>,
    /// How these are mapped to the device: grid (one after the other), team, thread (which takes an end in time) or auto. It changes the speed only.
    #[arg(long, default_value_t = Mapping::Auto, requires = "replicas")]
    mapping: Mapping,
    #[command(flatten)]
    place: shared::Where,
    /// Runs the sequential engine too and compares; the exit code is 1 on a difference.
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    json: shared::Json,
}

struct Outcome {
    adapter: String,
    queue: String,
    sync: String,
    progress: Progress,
    seconds: f64,
    fingerprint: Fingerprint,
}

fn main() -> ExitCode {
    shared::main(run)
}

fn run(args: &Args) -> Ended<()> {
    let resolution = Resolution::default();
    let model = Phold::new(args.lps, args.population, args.rate, args.lookahead, resolution)?;
    let model = match args.neighbours {
        Some(neighbours) => model.with_neighbours(neighbours)?,
        None => model,
    };
    let until = match args.events {
        Some(events) => Until::events(events),
        None => Until::time(resolution.ticks(args.until)?),
    };
    let queue = match args.queue.as_str() {
        "auto" => None,
        name => {
            Some(name.parse::<QueueDesign>().map_err(|error| shared::usage(format!("{error}, and auto")))?)
        }
    };
    let options = Options {
        seed: args.seed,
        queue,
        group_size: args.group_size,
        tiles: args.tiles,
        sync: args.sync,
        ..Options::default()
    };
    let gpu = args.place.gpu()?;
    if args.verify && gpu.is_none() {
        return Err(shared::usage("--verify compares the GPU with the CPU engine, and this run has no GPU"));
    }
    if let Some(replicas) = args.replicas {
        return replicas::run(args, gpu.as_ref(), model, options, until, replicas);
    }
    let outcome = match &gpu {
        Some(gpu) => on_gpu(gpu, &model, options, until, args)?,
        None => on_cpu(&model, args.seed, until, args)?,
    };
    let rate = events_per_second(&outcome);
    let mut ok = true;
    let mut table = vec![
        ("adapter", outcome.adapter.clone()),
        ("queue", outcome.queue.clone()),
        ("windows by", outcome.sync.clone()),
        ("LPs x events", format!("{} x {}", args.lps, args.population)),
        ("sends to", args.neighbours.map_or("all".to_owned(), |number| format!("{number} on a ring"))),
        ("rate, lookahead", format!("{}, {}", args.rate, args.lookahead)),
        ("events", outcome.progress.events.to_string()),
        ("windows", outcome.progress.windows.to_string()),
        ("seconds", format!("{:.6}", outcome.seconds)),
        ("events per second", format!("{rate:.4e}")),
        ("fingerprint", outcome.fingerprint.to_string()),
    ];
    if shared::interrupted() {
        let now = resolution.units(outcome.progress.now);
        table.push(("stopped early", format!("at {now:.3} units of time")));
    } else if args.verify {
        let cpu = on_cpu(&model, args.seed, until, args)?;
        let of = |progress: Progress| (progress.events, progress.now, progress.stop);
        ok = cpu.fingerprint == outcome.fingerprint && of(cpu.progress) == of(outcome.progress);
        let verdict = if ok { "equal" } else { "DIFFERENT" };
        table.push((
            "CPU engine",
            format!("{verdict}: {} events, fingerprint {}", cpu.progress.events, cpu.fingerprint),
        ));
        table.push(("CPU events per second", format!("{:.4e}", events_per_second(&cpu))));
    }
    let json = json!({
        "model": "phold",
        "backend": if gpu.is_some() { "gpu" } else { "cpu" },
        "adapter": outcome.adapter,
        "queue": outcome.queue,
        "sync": outcome.sync,
        "lps": args.lps,
        "population": args.population,
        "neighbours": args.neighbours,
        "rate": args.rate,
        "lookahead": args.lookahead,
        "seed": args.seed,
        "until": args.events.is_none().then_some(args.until),
        "events": outcome.progress.events,
        "windows": outcome.progress.windows,
        "seconds": outcome.seconds,
        "event_rate": rate,
        "fingerprint": outcome.fingerprint.to_string(),
    });
    if !args.json.on_stdout() {
        for (name, value) in table {
            writeln!(stdout(), "{name:<24}{value}")?;
        }
    }
    args.json.write(&json)?;
    verdict(ok)
}

/// What a comparison comes to.
fn verdict(equal: bool) -> Ended<()> {
    match equal {
        true => Ok(()),
        false => {
            Err("the engines differ. Please report the adapter, the driver and this command line".into())
        }
    }
}

fn on_gpu(gpu: &Gpu, model: &Phold, options: Options, until: Until, args: &Args) -> Result<Outcome, Failure> {
    let mut simulation = Simulation::new(gpu, model, options).map_err(|error| explain(error, gpu, args))?;
    simulation.run(Until::time(Ticks::ZERO))?; // waits for the set-up, and for drivers that compile at first use
    let bar = Bar::new(args)?;
    let begin = Instant::now();
    let progress = simulation.run_watched(until, |progress| bar.tell(progress))?;
    let seconds = begin.elapsed().as_secs_f64();
    bar.0.finish_and_clear();
    Ok(Outcome {
        adapter: gpu.info().name.clone(),
        queue: simulation.queue().to_string(),
        sync: simulation.sync().to_string(),
        progress,
        seconds,
        fingerprint: simulation.fingerprint()?,
    })
}

fn on_cpu(model: &Phold, seed: u64, until: Until, args: &Args) -> Result<Outcome, Failure> {
    let mut simulation = CpuSimulation::new(model, seed)?;
    let bar = Bar::new(args)?;
    let begin = Instant::now();
    let progress = simulation.run_watched(until, |progress| bar.tell(progress))?;
    let seconds = begin.elapsed().as_secs_f64();
    bar.0.finish_and_clear();
    Ok(Outcome {
        adapter: "CPU, sequential".into(),
        queue: "binary heap".into(),
        sync: "none".into(),
        progress,
        seconds,
        fingerprint: simulation.fingerprint(),
    })
}

/// How far a run is, and whether it goes on.
struct Bar<'a>(ProgressBar, &'a Args);

impl<'a> Bar<'a> {
    fn new(args: &'a Args) -> Ended<Self> {
        Ok(Self(shared::bar(1000, "{wide_bar} {percent}% {msg}")?, args))
    }

    fn tell(&self, progress: &Progress) -> ControlFlow<()> {
        let share = match self.1.events {
            Some(events) => progress.events as f64 / events as f64,
            None => Resolution::default().units(progress.now) / self.1.until,
        };
        self.0.set_position((1000.0 * share.min(1.0)) as u64);
        self.0.set_message(format!("{} events", progress.events));
        shared::watch()
    }
}

/// Says what population would fit, where the one asked for does not.
fn explain(error: SimulationError, gpu: &Gpu, args: &Args) -> Failure {
    if !matches!(error, SimulationError::TooLarge { .. }) {
        return error.into();
    }
    // None that is chosen by itself takes more memory than the heap.
    let queue = args.queue.parse().unwrap_or(QueueDesign::Heap);
    let fits = |population: u32| {
        Phold::new(args.lps, population, args.rate, args.lookahead, Resolution::default())
            .is_ok_and(|model| model.capacity().fits(gpu, args.lps, queue))
    };
    let (mut low, mut high) = (0, args.population);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    shared::usage(format!("{error}.\nWith {} LPs the largest --population that fits is {low}", args.lps))
}

fn events_per_second(outcome: &Outcome) -> f64 {
    outcome.progress.events as f64 / outcome.seconds
}
