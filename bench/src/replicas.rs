//! Event rates of many runs of PHOLD at once, for each mapping of runs to the device.

use std::convert::Infallible;
use std::io::{Write as _, stdout};

use clap::Args as ClapArgs;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuEngine, Engine, EngineOptions, Mapping, Sync, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::statistics::{Design, Experiment, Point};
use eventhorizon::time::Resolution;

use crate::shared::rates::or;
use crate::shared::{self, Outcome};
use crate::{named, or_auto};

/// Measure the events per second of many runs of PHOLD at once, for each mapping of runs to the
/// device
///
/// Checks every row first: the fingerprints of a shorter experiment must be those of the sequential
/// CPU engine. Lists are separated by commas; each combination is a row.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- replicas
  cargo run --release -p eventhorizon-bench -- replicas --replicas 1024 --lps 64 --rate 0.001 --mapping team")]
pub(crate) struct Args {
    /// Compare these mappings. Default: thread and team
    #[arg(long, value_delimiter = ',')]
    mapping: Vec<Mapping>,
    /// Set the runs of an experiment. Default: 64, 1024 and 10000
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    replicas: Vec<u32>,
    /// Set the LPs of a run. Default: 16, 64 and 256
    #[arg(long, value_delimiter = ',')]
    lps: Vec<u32>,
    /// Set the events per LP. Default: 4
    #[arg(long, value_delimiter = ',')]
    population: Vec<u32>,
    /// Set the rates: an event follows its sender by 10 and on average 1/rate units of time.
    /// Default: 0.1, 0.001 and 0.00001
    #[arg(long, value_delimiter = ',', value_parser = shared::positive)]
    rate: Vec<f64>,
    /// Compare these queue designs of teams. Default: the library's choice
    #[arg(long, value_delimiter = ',')]
    queue: Vec<QueueDesign>,
    #[arg(long, value_delimiter = ',', help = format!(
        "Synchronise teams by {}. Default: auto",
        Sync::help(|sync| !sync.needs_senders())
    ))]
    sync: Vec<Sync>,
    /// Set the invocations per workgroup. Default: the library's choice
    #[arg(long, value_delimiter = ',', value_parser = shared::group_size)]
    group_size: Vec<u32>,
    /// Set the least seconds of an experiment
    #[arg(long, default_value_t = 0.3, value_parser = shared::seconds)]
    seconds: f64,
    /// Skip the comparison with the CPU engine
    #[arg(long)]
    unchecked: bool,
}

const LOOKAHEAD: f64 = 10.0;

pub(crate) fn run(args: &Args) -> Outcome<()> {
    // All models are checked before the first run.
    let mut models = Vec::new();
    for lps in or(&args.lps, &[16, 64, 256]) {
        for population in or(&args.population, &[4]) {
            for rate in or(&args.rate, &[0.1, 0.001, 0.00001]) {
                models.push((
                    Phold::new(lps, population, rate, LOOKAHEAD, Resolution::default())?,
                    lps,
                    population,
                    rate,
                ));
            }
        }
    }
    let mut ways = Vec::new();
    for replicas in or(&args.replicas, &[64, 1024, 10_000]) {
        for mapping in or(&args.mapping, &[Mapping::Thread, Mapping::Team]) {
            for queue in or_auto(&args.queue) {
                for sync in or(&args.sync, &[Sync::Auto]) {
                    for group_size in or_auto(&args.group_size) {
                        ways.push((
                            replicas,
                            EngineOptions::default()
                                .mapping(mapping)
                                .queue(queue)
                                .sync(sync)
                                .group_size(group_size),
                        ));
                    }
                }
            }
        }
    }
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    writeln!(
        stdout(),
        "replicas    lps events     rate mapping            queue       sync group   events/s"
    )?;
    for &(model, lps, population, rate) in &models {
        for &(replicas, options) in &ways {
            let speed = measure(&gpu, model, (rate, replicas), options, args)?;
            let EngineOptions { mapping, queue, sync, group_size, .. } = options;
            let [mapping, queue, sync, group_size] =
                [mapping.to_string(), named(queue), sync.to_string(), named(group_size)];
            writeln!(
                stdout(),
                "{replicas:8} {lps:6} {population:6} {rate:8} {mapping:>7} {queue:>16} {sync:>10} {group_size:>5} {speed:10.3e}"
            )?;
        }
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn measure(
    gpu: &Gpu,
    model: Phold,
    (rate, replicas): (f64, u32),
    options: EngineOptions,
    args: &Args,
) -> Outcome<f64> {
    let resolution = Resolution::default();
    let build = move |_: &Point<'_>| Ok::<_, Infallible>(model);
    let until = |units: f64| Outcome::Ok(Until::time(resolution.ticks(units)?));
    let mut engine = Engine::new(gpu, build, options)?;
    let mean = LOOKAHEAD + 1.0 / rate;
    let experiment = |replications| Experiment::new(Design::default(), replications, 42);
    let some = experiment(replicas.min(16));
    let found = engine.run(&some, until(10.0 * mean)?)?;
    if !args.unchecked {
        let expected = CpuEngine::new(build, EngineOptions::default()).run(&some, until(10.0 * mean)?)?;
        shared::same(&found.fingerprint, &expected.fingerprint, format!("the fingerprint with {options:?}"))?;
    }
    // This run compiles the kernels.
    engine.run(&experiment(replicas), until(mean)?)?;
    let mut end = 10.0 * mean;
    loop {
        let stopwatch = shared::Stopwatch::start();
        let results = engine.run(&experiment(replicas), until(end)?)?;
        let seconds = stopwatch.parts()[0].as_secs_f64();
        if seconds >= args.seconds {
            let events: u64 = results.runs[0].iter().flatten().map(|run| run.progress.events).sum();
            return Ok(events as f64 / seconds);
        }
        end *= (1.2 * args.seconds / seconds).clamp(1.5, 10.0);
    }
}
