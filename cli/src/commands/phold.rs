//! PHOLD, the usual benchmark of parallel discrete-event simulation, on the GPU or the CPU.
//!
//! Shows: building a model, running it with a progress bar, comparing two engines by fingerprint,
//! saving and resuming a run, and handling a missing or lost GPU.
//!
//! ```text
//! eventhorizon phold
//! eventhorizon phold --lps 1024 --until 200 --verify
//! eventhorizon phold --neighbours 4 --rate 0.001 --until 3000 --sync neighbours
//! eventhorizon phold --lps 1024,32768 --population 4,16       # four runs, a line for each
//! eventhorizon phold --lps 64 --population 4 --until 200 --replicas 1000 --verify
//! eventhorizon phold --until 100000 --checkpoint phold.checkpoint --every 60    # Ctrl-C, and then
//! eventhorizon phold --resume phold.checkpoint --verify
//! ```

mod replicas;

use std::io::{Write as _, stdout};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::models::{Phold, PholdError};
use eventhorizon::pdes::{
    Autosave, Checkpoint, CheckpointError, CpuSimulation, Fingerprint, Mapping, Model, Options, Progress,
    Simulation, SimulationError, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use eventhorizon::{OneRun, OwnedBackend};
use indicatif::ProgressBar;
use serde_json::json;

use crate::shared::{self, Failure, FileUse, Outcome as Ended, Stopwatch};

#[derive(Parser)]
#[command(about = "Run PHOLD, the benchmark of parallel discrete-event simulation, and print its event rate")]
pub struct Args {
    /// Set the number of logical processes. If this or one of the next three options has several
    /// values, each combination is run. With --resume, the defaults of these and of --neighbours
    /// come from the saved run. [default: 32768]
    #[arg(long, value_delimiter = ',')]
    lps: Vec<u32>,
    /// Set the events per LP. [default: 16]
    #[arg(long, value_delimiter = ',')]
    population: Vec<u32>,
    /// Set the rate of the exponential delay, per unit of time. [default: 0.1]
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    rate: Vec<f64>,
    /// Set the least delay of an event, in units of time; it may be 0. [default: 10]
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true)]
    lookahead: Vec<f64>,
    /// Set the end of the simulation, in units of time: exactly the earlier events are executed.
    /// [default: 1000, or that of the run that --resume continues]
    #[arg(long, allow_negative_numbers = true)]
    until: Option<f64>,
    /// End after the first window that completes this many events, instead of at a time
    #[arg(long, conflicts_with = "until")]
    events: Option<u64>,
    /// Use this queue design: a name from docs/queues.md, or auto
    #[arg(long, default_value = "auto")]
    queue: String,
    /// Send only to this number of LPs on a ring, half of them on each side: an even number below
    /// --lps. Default: send to all
    #[arg(long)]
    neighbours: Option<u32>,
    #[arg(long, default_value_t = Sync::Auto, help = format!(
        "Synchronise by {}. Changes the speed only. Neighbours need --neighbours and a lookahead; --replicas \
         supports yawns and, with a lookahead, horizon",
        Sync::help(|_| true)
    ))]
    sync: Sync,
    /// Set the seed of the random streams. [default: 42, or that of the run that --resume
    /// continues]
    #[arg(long)]
    seed: Option<u64>,
    /// Set the invocations per workgroup: a power of two. Changes the speed only
    #[arg(long, alias = "workgroup", value_parser = shared::group_size)]
    group_size: Option<u32>,
    /// Set the number of LPs that an invocation serves in each window. Changes the speed only
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    tiles: Option<u32>,
    /// Run the model this number of times at once, each with its own random streams; the first run
    /// equals the run without this option
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "tiles")]
    replicas: Option<u32>,
    /// Map runs to the device by grid (one after the other), team (a workgroup each), thread (for
    /// --replicas with an end in time) or auto. Changes the speed only
    #[arg(long, default_value_t = Mapping::Auto)]
    mapping: Mapping,
    /// Save the run to this file when it ends, also after Ctrl-C. If the device is lost, the run
    /// continues from there on a new one
    #[arg(long, value_name = "FILE", conflicts_with = "replicas")]
    checkpoint: Option<PathBuf>,
    /// Overwrite the checkpoint of another run, or a later one of this run, in that file
    #[arg(long, requires = "checkpoint", conflicts_with = "replicas")]
    force: bool,
    /// Also save it at this interval, in seconds
    #[arg(long, value_name = "SECONDS", requires = "checkpoint", conflicts_with = "replicas", value_parser = shared::seconds)]
    every: Option<f64>,
    /// Resume a saved run with its model, seed and end, with any options that change the speed
    /// only, on either engine
    #[arg(long, value_name = "FILE", conflicts_with = "replicas")]
    resume: Option<PathBuf>,
    /// Continue from the saved state with the parameters and the seed of this command line, even if
    /// they differ
    #[arg(long, requires = "resume", conflicts_with = "replicas")]
    fork: bool,
    #[command(flatten)]
    place: shared::Where,
    /// Run the sequential engine too and compare; the exit code is 1 if they differ
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    json: shared::Json,
}

/// The parameters of a run: one value of each list.
#[derive(Clone, Copy)]
struct Setting {
    lps: u32,
    population: u32,
    rate: f64,
    lookahead: f64,
    neighbours: Option<u32>,
}

impl Setting {
    fn of(model: &Phold) -> Self {
        Self {
            lps: model.lps(),
            population: model.population(),
            rate: model.rate(Resolution::default()),
            lookahead: Resolution::default().units(model.lookahead()),
            neighbours: model.neighbours(),
        }
    }

    fn model(&self) -> Result<Phold, PholdError> {
        let Self { lps, population, rate, lookahead, .. } = *self;
        let model = Phold::new(lps, population, rate, lookahead, Resolution::default())?;
        self.neighbours.map_or(Ok(model), |neighbours| model.with_neighbours(neighbours))
    }

    /// What decides where the run to an end is faster. An event follows another after the lookahead
    /// and the mean delay.
    fn work(&self, until: Until) -> OneRun {
        let pending = f64::from(self.lps) * f64::from(self.population);
        let step = self.lookahead + 1.0 / self.rate;
        let by_time = pending * Resolution::default().units(until.time) / step;
        let events = if until.time == Ticks::NEVER { until.events as f64 } else { by_time };
        let lps = self.lps.into();
        OneRun { lps, events, pending, lookahead: pending * self.lookahead / step }
    }
}

impl Args {
    /// All combinations; the last list varies fastest. Empty lists have the value of `default`.
    fn settings(&self, default: Setting) -> Vec<Setting> {
        fn or<T: Clone>(values: &[T], default: T) -> Vec<T> {
            if values.is_empty() { vec![default] } else { values.to_vec() }
        }
        let neighbours = self.neighbours.or(default.neighbours);
        let mut settings = Vec::new();
        for lps in or(&self.lps, default.lps) {
            for population in or(&self.population, default.population) {
                for rate in or(&self.rate, default.rate) {
                    for lookahead in or(&self.lookahead, default.lookahead) {
                        settings.push(Setting { lps, population, rate, lookahead, neighbours });
                    }
                }
            }
        }
        settings
    }

    /// Where to run: comparisons and options that only a device has need one.
    fn place(&self) -> Result<OwnedBackend, GpuError> {
        let is_of_device = self.verify
            || self.queue != "auto"
            || self.sync != Sync::Auto
            || self.mapping != Mapping::Auto
            || self.group_size.is_some()
            || self.tiles.is_some();
        match is_of_device {
            true => Ok(self.place.any_adapter()?.map_or(OwnedBackend::Cpu, OwnedBackend::Gpu)),
            false => self.place.study(),
        }
    }
}

/// The default parameters.
const DEFAULT: Setting = Setting { lps: 32768, population: 16, rate: 0.1, lookahead: 10.0, neighbours: None };

struct Outcome {
    adapter: String,
    queue: String,
    sync: String,
    /// Whether one workgroup executed the run, at its end.
    in_team: bool,
    progress: Progress,
    /// The events that this process executed, not those before --resume.
    executed: u64,
    /// The time of the run, and of compilations before it and in it.
    time: [Duration; 2],
    fingerprint: Fingerprint,
    /// Why the run could not be saved.
    unsaved: Option<Failure>,
}

/// Runs the command as a program of its own.
pub fn main() -> ExitCode {
    shared::main(run)
}

pub fn run(args: &Args) -> Ended<()> {
    shared::in_checkpoint(args.resume.as_deref(), run_all(args))
}

fn run_all(args: &Args) -> Ended<()> {
    shared::check_files(&[
        (FileUse::Resumes, "--resume", args.resume.as_deref()),
        (FileUse::Saves, "--checkpoint", args.checkpoint.as_deref()),
        args.json.file(),
    ])?;
    let saved = args.resume.as_ref().map(Checkpoint::load).transpose()?;
    let default = saved.as_ref().map(Phold::saved).transpose()?.as_ref().map_or(DEFAULT, Setting::of);
    let settings = args.settings(default);
    let place = args.place()?;
    if let [setting] = settings[..] {
        return one(args, &place, setting, saved, &mut |table, json| {
            let shown = if args.json.on_stdout() { Ok(()) } else { show(&table) };
            shared::all([shown, args.json.write(&json)])
        });
    }
    for (given, name) in [
        (args.checkpoint.is_some(), "--checkpoint"),
        (args.resume.is_some(), "--resume"),
        (args.replicas.is_some(), "--replicas"),
    ] {
        if given {
            return Err(shared::usage(format!(
                "{name} needs a single run, and the lists make {}",
                settings.len()
            )));
        }
    }
    // All settings are checked before the first run.
    for setting in &settings {
        setting.model()?;
    }
    let (mut rows, mut first) = (Vec::new(), true);
    for setting in settings {
        let ended = one(args, &place, setting, None, &mut |table, json| {
            let table: Vec<_> = table.into_iter().filter(|(name, _)| !SAME.contains(name)).collect();
            let width = |name: &str| name.len().max(16) + 2;
            if !args.json.on_stdout() {
                if std::mem::take(&mut first) {
                    for (name, _) in &table {
                        write!(stdout(), "{name:>width$}", width = width(name))?;
                    }
                    writeln!(stdout())?;
                }
                for (name, value) in &table {
                    let value = value.split(':').next().unwrap_or_default();
                    write!(stdout(), "{value:>width$}", width = width(name))?;
                }
                writeln!(stdout())?;
            }
            rows.push(json);
            Ok(())
        });
        // The rows of completed runs are printed even after an error.
        if ended.is_err() || shared::interrupted() {
            return shared::all([ended, args.json.write(&rows.into())]);
        }
    }
    args.json.write(&rows.into())
}

fn show(table: &[(&str, String)]) -> Ended<()> {
    for (name, value) in table {
        writeln!(stdout(), "{name:<24}{value}")?;
    }
    Ok(())
}

/// Columns that are the same in all rows of a table, or too wide for it.
const SAME: [&str; 4] = ["adapter", "sends to", "resume with", "ran on"];

/// Makes one run and passes its results to `tell`: names with values, and JSON.
fn one(
    args: &Args,
    place: &OwnedBackend,
    setting: Setting,
    saved: Option<Checkpoint>,
    print_report: &mut dyn FnMut(Vec<(&'static str, String)>, serde_json::Value) -> Ended<()>,
) -> Ended<()> {
    let Setting { lps, population, rate: delay_rate, lookahead, neighbours } = setting;
    let resolution = Resolution::default();
    let model = setting.model()?;
    let saved = saved.map(|saved| match args.fork {
        true => saved.fork(&model, args.seed.unwrap_or(saved.seed()), saved.replica()),
        false => Ok(saved),
    });
    let saved = saved.transpose()?;
    let seed = match (&saved, args.seed) {
        (Some(saved), Some(seed)) if saved.seed() != seed => {
            return Err(shared::usage(format!(
                "the saved run has seed {}: use --fork for another seed",
                saved.seed()
            )));
        }
        (Some(saved), _) => saved.seed(),
        (None, seed) => seed.unwrap_or(42),
    };
    let until = match (args.events, args.until, &saved) {
        (Some(events), ..) => Until::events(events),
        (None, None, Some(saved)) => saved.until(),
        (None, until, _) => Until::time(resolution.ticks(until.unwrap_or(1000.0))?),
    };
    if let Some(saved) = &saved {
        let option = match (args.events, args.until) {
            (Some(events), _) => format!("--events {events}"),
            (None, until) => until.map_or_else(String::new, |until| format!("--until {until}")),
        };
        shared::not_beyond(saved, until, &option)?;
    }
    let queue = match args.queue.as_str() {
        "auto" => None,
        name => {
            Some(name.parse::<QueueDesign>().map_err(|error| shared::usage(format!("{error}, or auto")))?)
        }
    };
    let options = Options::default()
        .seed(seed)
        .queue(queue)
        .group_size(args.group_size)
        .tiles(args.tiles)
        .sync(args.sync)
        .mapping(args.mapping);
    if args.verify && matches!(place, OwnedBackend::Cpu) {
        return Err(shared::usage("--verify compares the GPU with the CPU engine: use --backend gpu"));
    }
    if let Some(replicas) = args.replicas {
        return replicas::run(args, setting, place, model, options, until, replicas);
    }
    let work = setting.work(until);
    let gpu = match place {
        OwnedBackend::Auto(device) => device.for_run(&work),
        place => place.backend().gpu(),
    };
    let outcome = match gpu {
        Some(gpu) => on_gpu(gpu, &model, options, until, (args, setting), saved.as_ref())?,
        None => on_cpu(&model, seed, until, args, saved.as_ref())?,
    };
    if let (OwnedBackend::Auto(device), Some(_), None) = (place, gpu, &saved)
        && !shared::interrupted()
    {
        let [running, compiling] = outcome.time;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let ran = OneRun { events: outcome.executed as f64, ..work };
        device.observe_run(&ran, outcome.in_team, compiling, running);
    }
    let [running, compiling] = outcome.time.map(|time| time.as_secs_f64());
    let rate = events_per_second(&outcome);
    let mut ok = true;
    let mut table = vec![
        (
            "adapter",
            if outcome.in_team {
                format!("a team of one workgroup on {}", outcome.adapter)
            } else {
                outcome.adapter.clone()
            },
        ),
        ("queue", outcome.queue.clone()),
        ("windows by", outcome.sync.clone()),
        ("LPs x events", format!("{lps} x {population}")),
        ("sends to", neighbours.map_or("all".to_owned(), |number| format!("{number} on a ring"))),
        ("rate, lookahead", format!("{delay_rate}, {lookahead}")),
        ("events", outcome.progress.events.to_string()),
        ("windows", outcome.progress.windows.to_string()),
        ("seconds", format!("{running:.6}")),
        ("compiling, seconds", format!("{compiling:.6}")),
        ("events per second", format!("{rate:.4e}")),
        ("fingerprint", outcome.fingerprint.to_string()),
    ];
    table.extend(place.choice().map(|choice| ("ran on", choice)));
    if shared::interrupted() {
        let now = resolution.units(outcome.progress.now);
        table.push(("stopped early", format!("at {now:.3} units of time")));
        if let (Some(path), None) = (&args.checkpoint, &outcome.unsaved) {
            table.push(("resume with", format!("--resume {}", path.display())));
        }
    } else if args.verify {
        // The whole run from its start, except for a fork, which has no such run.
        let cpu = on_cpu(&model, seed, until, args, saved.as_ref().filter(|_| args.fork))?;
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
        "engine": shared::engine(gpu.is_some()),
        "adapter": outcome.adapter,
        "queue": outcome.queue,
        "sync": outcome.sync,
        "mapping": if gpu.is_none() { "none" } else if outcome.in_team { "team" } else { "grid" },
        "lps": lps,
        "population": population,
        "neighbours": neighbours,
        "rate": delay_rate,
        "lookahead": lookahead,
        "seed": seed,
        "until": (until.time != Ticks::NEVER).then(|| resolution.units(until.time)),
        "events": outcome.progress.events,
        "windows": outcome.progress.windows,
        "seconds": running,
        "compiling": compiling,
        "event_rate": rate,
        "fingerprint": outcome.fingerprint.to_string(),
    });
    shared::all([print_report(table, json), verdict(ok), outcome.unsaved.map_or(Ok(()), Err)])
}

/// The outcome of a comparison.
fn verdict(equal: bool) -> Ended<()> {
    match equal {
        true => Ok(()),
        false => {
            Err("the engines differ. Please report the adapter, the driver and this command line".into())
        }
    }
}

fn on_gpu(
    gpu: &Gpu,
    model: &Phold,
    options: Options,
    until: Until,
    (args, setting): (&Args, Setting),
    saved: Option<&Checkpoint>,
) -> Result<Outcome, Failure> {
    let before = Stopwatch::start();
    let simulation = match saved {
        None => Simulation::new(gpu, model, options),
        Some(saved) => Simulation::resume(gpu, model, options, saved),
    };
    let mut simulation = simulation.map_err(|error| explain(error, gpu, (args, setting)))?;
    if saved.is_none() {
        simulation.run(Until::time(Ticks::ZERO))?; // includes set-up and compilation
    }
    let bar = Bar::new(until)?;
    let [_, compiled] = before.parts();
    let stopwatch = Stopwatch::start();
    let watch = |progress: &_| bar.print_report(progress);
    let saves = args.checkpoint.as_ref().map(|path| autosave(args, path));
    let progress = simulation.until(until).watch(watch).save(saves).run();
    let (progress, unsaved) = without_saving(progress, || simulation.until(until).watch(watch).run());
    let [running, compiling] = stopwatch.parts();
    bar.bar.finish_and_clear();
    let progress = match (progress, &args.checkpoint) {
        // Ends, because each retry must start from a later checkpoint.
        (Err(SimulationError::Gpu(error @ GpuError::Lost { .. })), Some(path)) => {
            let last = Checkpoint::load(path).map_err(|none| format!("{error}. And {none}"))?;
            // A checkpoint of another run is not used.
            if last.seed() != options.seed
                || saved.is_some_and(|saved| saved.progress().events >= last.progress().events)
            {
                return Err(error.into());
            }
            shared::print_report(&format!(
                "notice: {error}.\nnotice: continuing from {} on a new device.",
                path.display()
            ));
            return on_gpu(&Gpu::new()?, model, options, until, (args, setting), Some(&last));
        }
        (progress, _) => progress?,
    };
    let in_team = simulation.mapping() == Mapping::Team;
    Ok(Outcome {
        adapter: gpu.info().name.clone(),
        queue: if in_team { "one pool".into() } else { simulation.queue().to_string() },
        sync: simulation.sync().to_string(),
        in_team,
        progress,
        executed: progress.events - saved.map_or(0, |saved| saved.progress().events),
        time: [running, compiled + compiling],
        fingerprint: simulation.fingerprint()?,
        unsaved,
    })
}

fn on_cpu(
    model: &Phold,
    seed: u64,
    until: Until,
    args: &Args,
    saved: Option<&Checkpoint>,
) -> Result<Outcome, Failure> {
    let mut simulation = match saved {
        None => CpuSimulation::new(model, Options::default().seed(seed))?,
        Some(saved) => CpuSimulation::resume(model, saved)?,
    };
    let bar = Bar::new(until)?;
    let stopwatch = Stopwatch::start();
    let watch = |progress: &_| bar.print_report(progress);
    let saves = args.checkpoint.as_ref().filter(|_| !args.verify).map(|path| autosave(args, path));
    let progress = simulation.until(until).watch(watch).save(saves).run();
    let (progress, unsaved) = without_saving(progress, || simulation.until(until).watch(watch).run());
    let progress = progress?;
    let time = stopwatch.parts();
    bar.bar.finish_and_clear();
    Ok(Outcome {
        adapter: "CPU, sequential".into(),
        queue: "binary heap".into(),
        sync: "none".into(),
        in_team: false,
        progress,
        executed: progress.events - saved.map_or(0, |saved| saved.progress().events),
        time,
        fingerprint: simulation.fingerprint(),
        unsaved,
    })
}

/// Continues a run whose save at the end failed, and returns the error with its results.
fn without_saving(
    ended: Result<Progress, SimulationError>,
    rest: impl FnOnce() -> Result<Progress, SimulationError>,
) -> (Result<Progress, SimulationError>, Option<Failure>) {
    match ended {
        Err(SimulationError::Checkpoint(error @ CheckpointError::Write { .. })) => {
            (rest(), Some(error.into()))
        }
        ended => (ended, None),
    }
}

fn autosave<'a>(args: &Args, path: &'a Path) -> Autosave<'a> {
    Autosave::new(path, shared::every(args.every)).force(args.force).on_failure(&shared::unsaved)
}

/// Shows the progress of a run, and stops it on Ctrl-C.
struct Bar {
    bar: ProgressBar,
    until: Until,
}

impl Bar {
    fn new(until: Until) -> Ended<Self> {
        Ok(Self { bar: shared::bar(1000, "{wide_bar} {percent}% {msg}")?, until })
    }

    fn print_report(&self, progress: &Progress) -> ControlFlow<()> {
        let units = |time| Resolution::default().units(time);
        let by_time = units(progress.now) / units(self.until.time);
        let share = by_time.max(progress.events as f64 / self.until.events as f64);
        self.bar.set_position((1000.0 * share.min(1.0)) as u64);
        self.bar.set_message(format!("{} events", progress.events));
        shared::watch()
    }
}

/// Adds to the error the largest population that fits.
fn explain(error: SimulationError, gpu: &Gpu, (args, setting): (&Args, Setting)) -> Failure {
    if !matches!(error, SimulationError::TooLarge { .. }) {
        return error.into();
    }
    // Automatic choices never need more memory than the heap.
    let queue = args.queue.parse().unwrap_or(QueueDesign::Heap);
    let fits = |population: u32| {
        Setting { population, ..setting }
            .model()
            .is_ok_and(|model| model.capacity().fits(gpu, setting.lps, queue))
    };
    let (mut low, mut high) = (0, setting.population);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    shared::usage(format!("{error}.\nWith {} LPs the largest --population that fits is {low}", setting.lps))
}

fn events_per_second(outcome: &Outcome) -> f64 {
    outcome.executed as f64 / outcome.time[0].as_secs_f64()
}
