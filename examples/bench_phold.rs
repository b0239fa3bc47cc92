//! The event rates of PHOLD over the parameters of Baudis et al. (section IV.B), for each queue design.
//!
//! Every line is checked first: a shorter run must have the fingerprint of the sequential CPU engine.
//!
//! ```text
//! cargo run --release --example bench_phold
//! cargo run --release --example bench_phold -- --queue heap --group-size 64 --group-size 128
//! ```

use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuSimulation, Options, Simulation, SimulationError, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Resolution;

#[derive(Parser)]
struct Args {
    /// Queue designs to compare; all of them by default.
    #[arg(long)]
    queue: Vec<QueueDesign>,
    /// Invocations per workgroup to compare; the library's choice by default.
    #[arg(long, alias = "workgroup")]
    group_size: Vec<u32>,
    /// LPs that an invocation serves in each window; the library's choice by default.
    #[arg(long)]
    tiles: Option<u32>,
    /// LPs; by default 1024, 32768 and 1048576.
    #[arg(long)]
    lps: Vec<u32>,
    /// Events per LP; by default 4, 16 and 128.
    #[arg(long)]
    population: Vec<u32>,
    /// Rates; by default 0.1, 0.001 and 0.00001.
    #[arg(long)]
    rate: Vec<f64>,
    /// Seconds to measure for each line.
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Capacities that cannot grow, so that no snapshots are taken.
    #[arg(long)]
    fixed: bool,
    /// Skips the comparison with the CPU engine.
    #[arg(long)]
    unchecked: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    env_logger::init();
    let args = Args::parse();
    let gpu = Gpu::new()?;
    println!("{gpu}");
    println!(
        "{:>8} {:>6} {:>8} {:>13} {:>5} {:>11} {:>11}",
        "LPs", "events", "rate", "queue", "group", "events/s", "us/window"
    );
    let queues = or(&args.queue, &QueueDesign::ALL);
    let groups: Vec<Option<u32>> =
        or(&args.group_size.iter().copied().map(Some).collect::<Vec<_>>(), &[None]);
    for lps in or(&args.lps, &[1024, 32768, 1 << 20]) {
        for rate in or(&args.rate, &[0.1, 0.001, 0.00001]) {
            for population in or(&args.population, &[4, 16, 128]) {
                let model = Phold::new(lps, population, rate, 10.0, Resolution::default())?;
                let mut expected = None;
                for &queue in &queues {
                    for &group_size in &groups {
                        let options = Options {
                            seed: 42,
                            queue: Some(queue),
                            group_size,
                            tiles: args.tiles,
                            fixed: args.fixed,
                        };
                        let line = match measure(&gpu, &model, options, &args, &mut expected) {
                            Err(SimulationError::TooLarge { needed, limit, .. }) => {
                                format!("needs {} MiB, in bindings of {}", needed >> 20, limit >> 20)
                            }
                            other => other?,
                        };
                        let name = queue.to_string();
                        let group = group_size.map_or("auto".to_owned(), |size| size.to_string());
                        println!("{lps:8} {population:6} {rate:8} {name:>13} {group:>5} {line}");
                    }
                }
            }
        }
    }
    Ok(())
}

fn measure(
    gpu: &Gpu,
    model: &Phold,
    options: Options,
    args: &Args,
    expected: &mut Option<eventhorizon::pdes::Fingerprint>,
) -> Result<String, SimulationError> {
    let mut simulation = Simulation::new(gpu, model, options)?;
    // The first windows hold the compilation of kernels; they are the check at the same time.
    let check = Until::events(100_000);
    simulation.run(check)?;
    if !args.unchecked {
        if expected.is_none() {
            let mut cpu = CpuSimulation::new(model, options.seed)?;
            cpu.run(check)?;
            *expected = Some(cpu.fingerprint());
        }
        let found = simulation.fingerprint()?;
        assert!(Some(found) == *expected, "{options:?}: fingerprint {found} is not that of the CPU engine");
    }
    // Runs of growing length, until one takes long enough to be a measurement.
    let mut goal = simulation.progress()?.events;
    let mut step = 100_000;
    loop {
        let before = simulation.progress()?;
        goal += step;
        let begin = Instant::now();
        let after = simulation.run(Until::events(goal))?;
        let seconds = begin.elapsed().as_secs_f64();
        if seconds >= args.seconds {
            let events = (after.events - before.events) as f64;
            let windows = (after.windows - before.windows) as f64;
            return Ok(format!("{:11.4e} {:11.2}", events / seconds, 1e6 * seconds / windows));
        }
        let factor = (1.2 * args.seconds / seconds).clamp(2.0, 20.0);
        step = (step as f64 * factor) as u64;
        goal = after.events;
    }
}

fn or<T: Clone>(given: &[T], otherwise: &[T]) -> Vec<T> {
    if given.is_empty() { otherwise.to_vec() } else { given.to_vec() }
}
