//! PHOLD over ranks: on the cores or GPUs of this machine, or on many machines through MPI.
//!
//! Shows: a model of `pdes` on the host engine and partitioned over devices; ranks as threads of
//! one process and as MPI processes; a saved run that other ranks resume. The results are always
//! the same bits.
//!
//! ```text
//! eventhorizon phold-ranks --ranks 2 --verify
//! eventhorizon phold-ranks --engine gpu --ranks 2 --neighbours 4 --verify
//! eventhorizon phold-ranks --engine gpu --ranks 2 --until 100000 \
//!     --checkpoint phold.checkpoint --every 60    # Ctrl-C, and then
//! eventhorizon phold-ranks --engine gpu --ranks 3 --resume phold.checkpoint
//! cargo build --release -p eventhorizon-cli --features mpi
//! mpirun -n 4 target/release/eventhorizon phold-ranks
//! ```

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::{Parser, ValueEnum};
use eventhorizon::gpu::Gpu;
use eventhorizon::hybrid::{self, GpuPart, HybridError, Lp, Transport};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    self, Autosave, Checkpoint, CheckpointError, CpuSimulation, Fingerprint, Model as _, Options, Progress,
    SimulationError, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use serde_json::json;

use crate::shared::{self, FileUse, Outcome as Ended, Stopwatch};

#[derive(Parser)]
#[command(about = "Run PHOLD over ranks (threads, MPI processes) or over devices, and print its event rate")]
pub struct Args {
    /// Set the number of logical processes. With --resume, the defaults of this, the next three
    /// options and --neighbours come from the saved run. [default: 32768]
    #[arg(long)]
    lps: Option<u32>,
    /// Set the events per LP. [default: 16]
    #[arg(long)]
    population: Option<u32>,
    /// Set the rate of the exponential delay, per unit of time. [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Set the least delay of an event, in units of time; it may be 0. [default: 10]
    #[arg(long, allow_negative_numbers = true)]
    lookahead: Option<f64>,
    /// Set the end of the simulation, in units of time: exactly the earlier events are executed.
    /// [default: 1000, or that of the run that --resume continues]
    #[arg(long, allow_negative_numbers = true)]
    until: Option<f64>,
    /// Send only to this number of LPs on a ring, half of them on each side: an even number below
    /// --lps. Default: send to all
    #[arg(long)]
    neighbours: Option<u32>,
    /// Set the seed of the random streams. [default: 42, or that of the run that --resume
    /// continues]
    #[arg(long)]
    seed: Option<u64>,
    /// Use the host engine on all ranks, or the GPU engine with a device for each rank
    #[arg(long, value_enum, default_value_t = Engine::Host)]
    engine: Engine,
    #[arg(long, default_value_t = pdes::Sync::Auto, help = format!(
        "Synchronise devices by {}. Changes the speed only",
        pdes::Sync::help(pdes::Sync::serves_parts)
    ))]
    sync: pdes::Sync,
    /// Use this queue design on devices, a name from docs/queues.md. Default: the library's choice.
    /// Changes the speed only
    #[arg(long)]
    queue: Option<QueueDesign>,
    /// Set the number of ranks, each a thread of this process with its own worker threads or
    /// device. Under mpirun, the number of its processes is used. Devices are taken from the best
    /// adapters in turn
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    ranks: u32,
    /// Set the threads of each rank. Changes the speed only
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Place LPs on ranks in this pattern. Changes the speed only
    #[arg(long, value_enum, default_value_t = RankPlacement::Block)]
    placement: RankPlacement,
    /// Let the first rank save the run to this file when it ends, also after Ctrl-C
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Overwrite the checkpoint of another run, or a later one of this run, in that file
    #[arg(long, requires = "checkpoint")]
    force: bool,
    /// Also save it at this interval, in seconds
    #[arg(long, value_name = "SECONDS", requires = "checkpoint", value_parser = shared::seconds)]
    every: Option<f64>,
    /// Resume a saved run, with any ranks and engine
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Run the sequential engine too and compare; the exit code is 1 if they differ
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
enum RankPlacement {
    Block,
    Hash,
}

/// The inputs of all ranks.
struct Run<'a> {
    args: &'a Args,
    model: Phold,
    seed: u64,
    until: Until,
    saved: Option<&'a Checkpoint>,
}

/// The results of a rank. They are equal on all ranks, except for the seconds.
struct RankReport {
    rank: u32,
    ranks: u32,
    progress: Progress,
    seconds: f64,
    fingerprint: Fingerprint,
    device: Option<String>,
    /// Why the run could not be saved at its end.
    unsaved: Option<String>,
}

pub fn run(args: &Args) -> Ended<()> {
    shared::in_checkpoint(args.resume.as_deref(), run_ranks(args))
}

fn run_ranks(args: &Args) -> Ended<()> {
    shared::check_files(&[
        (FileUse::Resumes, "--resume", args.resume.as_deref()),
        (FileUse::Saves, "--checkpoint", args.checkpoint.as_deref()),
        args.json.file(),
    ])?;
    let resolution = Resolution::default();
    let saved = args.resume.as_ref().map(Checkpoint::load).transpose()?;
    let given = saved.as_ref().map(Phold::saved).transpose()?;
    let lps = args.lps.or(given.map(|model| model.lps())).unwrap_or(32768);
    let population = args.population.or(given.map(|model| model.population())).unwrap_or(16);
    let rate = args.rate.or(given.map(|model| model.rate(resolution))).unwrap_or(0.1);
    let lookahead = given.map(|model| resolution.units(model.lookahead()));
    let lookahead = args.lookahead.or(lookahead).unwrap_or(10.0);
    let neighbours = args.neighbours.or(given.and_then(|model| model.neighbours()));
    let model = Phold::new(lps, population, rate, lookahead, resolution)?;
    let model = match neighbours {
        Some(neighbours) => model.with_neighbours(neighbours)?,
        None => model,
    };
    let seed = match (&saved, args.seed) {
        (Some(saved), Some(seed)) if saved.seed() != seed => {
            return Err(shared::usage(format!(
                "the saved run has seed {}: use that seed, or omit --seed",
                saved.seed()
            )));
        }
        (Some(saved), _) => saved.seed(),
        (None, seed) => seed.unwrap_or(42),
    };
    let until = match (&saved, args.until) {
        (Some(saved), None) => saved.until(),
        (_, until) => Until::time(resolution.ticks(until.unwrap_or(1000.0))?),
    };
    if let Some(saved) = &saved {
        let option = args.until.map_or_else(String::new, |until| format!("--until {until}"));
        shared::not_beyond(saved, until, &option)?;
    }
    if args.engine == Engine::Host && until.events != Until::EMPTY.events {
        return Err(shared::usage(
            "the saved run is event-limited, and the host engine needs a stop time: use --until",
        ));
    }
    let run = Run { args, model, seed, until, saved: saved.as_ref() };
    let ran = match args.engine {
        Engine::Gpu => {
            // Devices are dropped here, after the threads of all ranks have ended: a driver may
            // hang if both happen at once.
            let devices = Mutex::new(Vec::new());
            on_ranks(args, |rank| on_device(&run, rank, &devices))?
        }
        Engine::Host => on_ranks(args, |rank| on_host(&run, rank))?,
    };
    if ran.rank != 0 {
        return Ok(()); // only the first rank prints
    }
    let executed = ran.progress.events - saved.as_ref().map_or(0, |saved| saved.progress().events);
    let event_rate = executed as f64 / ran.seconds;
    let mut table = vec![
        match &ran.device {
            Some(device) => ("ranks", format!("{}, the first on {device}", ran.ranks)),
            None => ("ranks x threads", format!("{} x {}", ran.ranks, args.threads)),
        },
        ("LPs x events", format!("{lps} x {population}")),
        ("rate, lookahead", format!("{rate}, {lookahead}")),
        ("events", ran.progress.events.to_string()),
        ("windows", ran.progress.windows.to_string()),
        ("seconds", format!("{:.6}", ran.seconds)),
        ("events per second", format!("{event_rate:.4e}")),
        ("fingerprint", ran.fingerprint.to_string()),
    ];
    let mut equal = true;
    if shared::interrupted() {
        table.push(("stopped early", format!("at {:.3} units of time", resolution.units(ran.progress.now))));
        if let (Some(path), None) = (&args.checkpoint, &ran.unsaved) {
            table.push(("resume with", format!("--resume {}", path.display())));
        }
    } else if args.verify {
        // The whole run, from its start.
        let mut sequential = CpuSimulation::new(&model, Options::default().seed(seed))?;
        let begun = Instant::now();
        let progress = sequential.run(until)?;
        let rate = progress.events as f64 / begun.elapsed().as_secs_f64();
        equal = sequential.fingerprint() == ran.fingerprint && progress.events == ran.progress.events;
        let verdict = if equal { "equal" } else { "DIFFERENT" };
        table.push(("sequential engine", format!("{verdict}, {rate:.4e} events per second")));
    }
    let json = json!({
        "model": "phold",
        "engine": shared::engine(matches!(args.engine, Engine::Gpu)),
        "ranks": ran.ranks,
        "threads": args.threads,
        "device": ran.device,
        "lps": lps,
        "population": population,
        "neighbours": neighbours,
        "rate": rate,
        "lookahead": lookahead,
        "seed": seed,
        "until": (until.time != Ticks::NEVER).then(|| resolution.units(until.time)),
        "events": ran.progress.events,
        "windows": ran.progress.windows,
        "seconds": ran.seconds,
        "event_rate": event_rate,
        "fingerprint": ran.fingerprint.to_string(),
    });
    if !args.json.on_stdout() {
        for (name, value) in table {
            writeln!(stdout(), "{name:<24}{value}")?;
        }
    }
    let verdict = match equal {
        true => Ok(()),
        false => {
            Err("the engines differ. Please report the adapter, the driver and this command line".into())
        }
    };
    shared::all([args.json.write(&json), verdict, ran.unsaved.map_or(Ok(()), |error| Err(error.into()))])
}

/// The transport to other ranks, if there are any.
type RankTransport = Option<Box<dyn Transport>>;

/// Runs one rank of the host engine.
fn on_host(run: &Run<'_>, transport: RankTransport) -> Result<RankReport, HybridError> {
    let placement = match run.args.placement {
        RankPlacement::Block => hybrid::EntityPlacement::Block,
        RankPlacement::Hash => hybrid::EntityPlacement::Hash,
    };
    let options =
        hybrid::Options::default().seed(run.seed).threads(usize::from(run.args.threads)).placement(placement);
    let mut simulation = match run.saved {
        None => Lp::simulation(run.model, transport, options)?,
        Some(saved) => Lp::resume(run.model, transport, options, saved)?,
    };
    let (rank, ranks) = (simulation.transport().rank(), simulation.transport().ranks());
    let (end, watch) = (run.until.time, |_: &_| shared::watch());
    let begun = Instant::now();
    let saves = run.args.checkpoint.as_ref().map(|path| autosave(run.args, path));
    let ended = simulation.until(end).watch(watch).save(saves).run();
    let (progress, unsaved) = without_saving(ended, || simulation.until(end).watch(watch).run())?;
    let seconds = begun.elapsed().as_secs_f64();
    let fingerprint = simulation.fingerprint()?;
    Ok(RankReport { rank, ranks, progress, seconds, fingerprint, device: None, unsaved })
}

fn autosave<'a>(args: &Args, path: &'a Path) -> Autosave<'a> {
    Autosave::new(path, shared::every(args.every)).force(args.force).on_failure(&shared::unsaved)
}

/// Continues a run whose save at the end failed, and returns the error with its results, on all
/// ranks.
fn without_saving(
    ended: Result<Progress, HybridError>,
    rest: impl FnOnce() -> Result<Progress, HybridError>,
) -> Result<(Progress, Option<String>), HybridError> {
    match ended {
        Err(
            error @ (HybridError::Unsaved
            | HybridError::Simulation(SimulationError::Checkpoint(CheckpointError::Write { .. }))),
        ) => Ok((rest()?, Some(error.to_string()))),
        ended => Ok((ended?, None)),
    }
}

/// Runs a part on a device, or the whole run if there is one rank.
fn on_device(
    run: &Run<'_>,
    transport: RankTransport,
    devices: &Mutex<Vec<Gpu>>,
) -> Result<RankReport, HybridError> {
    let Run { args, model, until, saved, .. } = run;
    let (rank, ranks) = transport.as_ref().map_or((0, 1), |rank| (rank.rank(), rank.ranks()));
    let gpu = Gpu::nth(rank)?;
    devices.lock().unwrap_or_else(PoisonError::into_inner).push(gpu.clone());
    let device = Some(gpu.info().name.clone());
    let options = pdes::Options::default().seed(run.seed).sync(args.sync).queue(args.queue);
    let watch = |_: &_| shared::watch();
    let saves = args.checkpoint.as_ref().map(|path| autosave(args, path));
    // A run to time zero includes the set-up. A resumed run has only its own end.
    let set_up = saved.is_none().then(|| Until::time(Ticks::ZERO));
    let (progress, unsaved, seconds, fingerprint);
    match transport.filter(|_| ranks > 1) {
        Some(transport) => {
            let mut part = match saved {
                None => GpuPart::on(transport, &gpu, model, options)?,
                Some(saved) => GpuPart::resume(transport, &gpu, model, options, saved)?,
            };
            set_up.map_or(Ok(()), |end| part.run(end).map(drop))?;
            let stopwatch = Stopwatch::start();
            let ended = part.until(*until).watch(watch).save(saves).run();
            (progress, unsaved) = without_saving(ended, || part.until(*until).watch(watch).run())?;
            seconds = stopwatch.parts()[0].as_secs_f64();
            fingerprint = part.fingerprint()?;
        }
        None => {
            let mut simulation = match saved {
                None => pdes::Simulation::new(&gpu, model, options)?,
                Some(saved) => pdes::Simulation::resume(&gpu, model, options, saved)?,
            };
            set_up.map_or(Ok(()), |end| simulation.run(end).map(drop))?;
            let stopwatch = Stopwatch::start();
            let ended = simulation.until(*until).watch(watch).save(saves).run();
            let ended = ended.map_err(HybridError::from);
            (progress, unsaved) =
                without_saving(ended, || Ok(simulation.until(*until).watch(watch).run()?))?;
            seconds = stopwatch.parts()[0].as_secs_f64();
            fingerprint = simulation.fingerprint()?;
        }
    }
    Ok(RankReport { rank, ranks, progress, seconds, fingerprint, device, unsaved })
}

fn on_ranks(
    args: &Args,
    run: impl Fn(RankTransport) -> Result<RankReport, HybridError> + Sync,
) -> Ended<RankReport> {
    let ran = match args.ranks {
        1 => vec![run(shared::mpi_rank())],
        ranks => {
            shared::check_threads(format!("{ranks} ranks in one process"), ranks as usize)?;
            hybrid::in_process(ranks, |rank| run(Some(Box::new(rank))))
        }
    };
    let ran: Vec<_> = ran.into_iter().collect::<Result<_, _>>()?;
    for other in &ran {
        shared::same(&other.fingerprint, &ran[0].fingerprint, "fingerprints of two ranks")?;
    }
    Ok(ran.into_iter().next().expect("there is a rank"))
}
