//! PHOLD over ranks: on the cores of this machine, or of many machines through MPI.
//!
//! Shows: a model of `pdes` on the host engine, ranks as threads of one process and as MPI processes, and that neither changes a bit.
//!
//! ```text
//! cargo run --release --example phold_ranks -- --ranks 2 --verify
//! cargo build --release --features mpi --example phold_ranks && mpirun -n 4 target/release/examples/phold_ranks
//! ```

mod shared;

use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use eventhorizon::gpu::Gpu;
use eventhorizon::hybrid::{self, HybridError, Lp, Transport};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{self, CpuSimulation, Fingerprint, Progress, Until};
use eventhorizon::time::{Resolution, Ticks};
use serde_json::json;
use shared::Outcome as Ended;

#[derive(Parser)]
#[command(about = "Runs the PHOLD model over ranks and tells how many events per second were executed")]
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
    /// Send only to so many LPs on a ring, half of them on each side: an even number, less than --lps. Otherwise to all.
    #[arg(long)]
    neighbours: Option<u32>,
    /// Names the random streams of the run.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// The host's engine on all ranks, or the GPU's on this one.
    #[arg(long, value_enum, default_value_t = Engine::Host)]
    engine: Engine,
    /// Ranks, each a thread of this process with threads of its own. Under mpirun, it says how many.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    ranks: u32,
    /// Threads of each rank. It changes the speed only.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Which LPs lie on which rank. It changes the speed only.
    #[arg(long, value_enum, default_value_t = Spread::Block)]
    spread: Spread,
    /// Runs the sequential engine too and compares; the exit code is 1 on a difference.
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    json: shared::Json,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Engine {
    Host,
    Gpu,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Spread {
    Block,
    Hash,
}

/// What a rank ends with: all the same, but for the seconds.
struct Ran {
    rank: u32,
    ranks: u32,
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
    let until = resolution.ticks(args.until)?;
    let ran = match args.engine {
        Engine::Gpu => on_gpu(args, &model, until)?,
        Engine::Host => on_ranks(args, model, until)?,
    };
    if ran.rank != 0 {
        return Ok(()); // the first one tells
    }
    let rate = ran.progress.events as f64 / ran.seconds;
    let mut table = vec![
        ("ranks x threads", format!("{} x {}", ran.ranks, args.threads)),
        ("LPs x events", format!("{} x {}", args.lps, args.population)),
        ("rate, lookahead", format!("{}, {}", args.rate, args.lookahead)),
        ("events", ran.progress.events.to_string()),
        ("windows", ran.progress.windows.to_string()),
        ("seconds", format!("{:.6}", ran.seconds)),
        ("events per second", format!("{rate:.4e}")),
        ("fingerprint", ran.fingerprint.to_string()),
    ];
    let mut equal = true;
    if args.verify && !shared::interrupted() {
        let mut sequential = CpuSimulation::new(&model, args.seed)?;
        let begun = Instant::now();
        let progress = sequential.run(Until::time(until))?;
        let rate = progress.events as f64 / begun.elapsed().as_secs_f64();
        equal = sequential.fingerprint() == ran.fingerprint && progress.events == ran.progress.events;
        let verdict = if equal { "equal" } else { "DIFFERENT" };
        table.push(("sequential engine", format!("{verdict}, {rate:.4e} events per second")));
    }
    let json = json!({
        "model": "phold",
        "backend": match args.engine { Engine::Host => "host", Engine::Gpu => "gpu" },
        "ranks": ran.ranks,
        "threads": args.threads,
        "lps": args.lps,
        "population": args.population,
        "neighbours": args.neighbours,
        "rate": args.rate,
        "lookahead": args.lookahead,
        "seed": args.seed,
        "until": args.until,
        "events": ran.progress.events,
        "windows": ran.progress.windows,
        "seconds": ran.seconds,
        "event_rate": rate,
        "fingerprint": ran.fingerprint.to_string(),
    });
    if !args.json.on_stdout() {
        for (name, value) in table {
            writeln!(stdout(), "{name:<24}{value}")?;
        }
    }
    args.json.write(&json)?;
    match equal {
        true => Ok(()),
        false => Err("the engines differ. Please report this command line".into()),
    }
}

/// One rank of the host engine.
fn on_rank(
    args: &Args,
    model: Phold,
    until: Ticks,
    transport: Option<Box<dyn Transport>>,
) -> Result<Ran, HybridError> {
    let spread = match args.spread {
        Spread::Block => hybrid::Spread::Block,
        Spread::Hash => hybrid::Spread::Hash,
    };
    let options = hybrid::Options {
        seed: args.seed,
        threads: Some(args.threads.into()),
        spread,
        ..hybrid::Options::default()
    };
    let mut simulation = Lp::simulation(model, transport, options)?;
    let (rank, ranks) = (simulation.transport().rank(), simulation.transport().ranks());
    let begun = Instant::now();
    let progress = simulation.run_watched(until, |_| shared::watch())?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Ran { rank, ranks, progress, seconds, fingerprint: simulation.fingerprint()? })
}

fn on_ranks(args: &Args, model: Phold, until: Ticks) -> Ended<Ran> {
    let ran = match args.ranks {
        1 => vec![on_rank(args, model, until, mpi_rank())],
        ranks => hybrid::in_process(ranks, |rank| on_rank(args, model, until, Some(Box::new(rank)))),
    };
    let ran: Vec<_> = ran.into_iter().collect::<Result<_, _>>()?;
    for other in &ran {
        shared::same(&other.fingerprint, &ran[0].fingerprint, "two ranks know different fingerprints")?;
    }
    Ok(ran.into_iter().next().expect("there is a rank"))
}

/// This process among those that mpirun started.
#[cfg(feature = "mpi")]
fn mpi_rank() -> Option<Box<dyn Transport>> {
    hybrid::MpiRank::new().map(|rank| Box::new(rank) as Box<dyn Transport>)
}

#[cfg(not(feature = "mpi"))]
fn mpi_rank() -> Option<Box<dyn Transport>> {
    None
}

fn on_gpu(args: &Args, model: &Phold, until: Ticks) -> Ended<Ran> {
    if args.ranks > 1 {
        return Err(shared::usage(
            "the GPU engine runs on one rank: leave out --ranks, or take --engine host",
        ));
    }
    let gpu = Gpu::new()?;
    let options = pdes::Options { seed: args.seed, ..pdes::Options::default() };
    let mut simulation = pdes::Simulation::new(&gpu, model, options)?;
    simulation.run(Until::time(Ticks::ZERO))?; // waits for the set-up
    let begun = Instant::now();
    let progress = simulation.run_watched(Until::time(until), |_| shared::watch())?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Ran { rank: 0, ranks: 1, progress, seconds, fingerprint: simulation.fingerprint()? })
}
