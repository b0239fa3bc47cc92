//! The event rates of many runs of PHOLD at once, for each mapping of runs to the device.
//!
//! Every line is checked first: the fingerprints of a shorter experiment must be those of the sequential CPU engine.
//!
//! ```text
//! cargo run --release --example bench_replicas
//! cargo run --release --example bench_replicas -- --replicas 1024 --lps 64 --rate 0.001 --mapping team
//! ```

#[path = "shared/rates.rs"]
mod rates;

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuEngine, Engine, EngineOptions, Mapping, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::statistics::{Design, Experiment, Point};
use eventhorizon::time::Resolution;
use rates::or;

#[derive(Parser)]
struct Args {
    /// Mappings to compare; by default thread and team.
    #[arg(long)]
    mapping: Vec<Mapping>,
    /// Runs; by default 64, 1024 and 10000.
    #[arg(long)]
    replicas: Vec<u32>,
    /// LPs of a run; by default 16, 64 and 256.
    #[arg(long)]
    lps: Vec<u32>,
    /// Events per LP.
    #[arg(long, default_value_t = 4)]
    population: u32,
    /// Rates; by default 0.1, 0.001 and 0.00001.
    #[arg(long)]
    rate: Vec<f64>,
    /// The queue design of teams; the library's choice by default.
    #[arg(long)]
    queue: Option<QueueDesign>,
    /// Invocations per workgroup to compare; the library's choice by default.
    #[arg(long)]
    group_size: Vec<u32>,
    /// Seconds of an experiment at the least.
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Skips the comparison with the CPU engine.
    #[arg(long)]
    unchecked: bool,
}

const LOOKAHEAD: f64 = 10.0;

fn main() -> Result<(), Box<dyn Error>> {
    env_logger::init();
    let args = Args::parse();
    let gpu = Gpu::new()?;
    println!("adapter {}", gpu.info().name);
    println!("replicas    lps events     rate mapping group   events/s");
    let groups: Vec<_> = match &args.group_size[..] {
        [] => vec![None],
        sizes => sizes.iter().copied().map(Some).collect(),
    };
    for lps in or(&args.lps, &[16, 64, 256]) {
        for rate in or(&args.rate, &[0.1, 0.001, 0.00001]) {
            for replicas in or(&args.replicas, &[64, 1024, 10_000]) {
                for mapping in or(&args.mapping, &[Mapping::Thread, Mapping::Team]) {
                    for &group_size in &groups {
                        let options = EngineOptions {
                            mapping,
                            queue: args.queue,
                            group_size,
                            ..EngineOptions::default()
                        };
                        let speed = measure(&gpu, (lps, rate, replicas), options, &args)?;
                        let group = group_size.map_or("auto".to_owned(), |size| size.to_string());
                        let population = args.population;
                        let mapping = mapping.to_string();
                        println!(
                            "{replicas:8} {lps:6} {population:6} {rate:8} {mapping:>7} {group:>5} {speed:10.3e}"
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn measure(
    gpu: &Gpu,
    (lps, rate, replicas): (u32, f64, u32),
    options: EngineOptions,
    args: &Args,
) -> Result<f64, Box<dyn Error>> {
    let resolution = Resolution::default();
    let population = args.population;
    let build = move |_: &Point<'_>| Phold::new(lps, population, rate, LOOKAHEAD, resolution);
    let until = |units: f64| Ok::<_, Box<dyn Error>>(Until::time(resolution.ticks(units)?));
    let mut engine = Engine::new(gpu, build, options);
    let mean = LOOKAHEAD + 1.0 / rate;
    let experiment = |replications| Experiment::new(Design::default(), replications, 42);
    let some = experiment(replicas.min(16));
    let found = engine.run(&some, until(10.0 * mean)?)?;
    if !args.unchecked {
        let expected = CpuEngine::new(build).run(&some, until(10.0 * mean)?)?;
        assert_eq!(found.fingerprint, expected.fingerprint, "{options:?}: other bits than the CPU engine");
    }
    // Kernels are compiled when they are first used.
    engine.run(&experiment(replicas), until(mean)?)?;
    let mut end = 10.0 * mean;
    loop {
        let begin = Instant::now();
        let results = engine.run(&experiment(replicas), until(end)?)?;
        let seconds = begin.elapsed().as_secs_f64();
        if seconds >= args.seconds {
            let events: u64 = results.runs[0].iter().flatten().map(|run| run.progress.events).sum();
            return Ok(events as f64 / seconds);
        }
        end *= (1.2 * args.seconds / seconds).clamp(1.5, 10.0);
    }
}
