//! The event rates of PHOLD over the parameters of Baudis et al. (section IV.B), for each queue design.
//!
//! Every line is checked first: a shorter run must have the fingerprint of the sequential CPU engine.
//!
//! ```text
//! cargo run --release --example bench_phold
//! cargo run --release --example bench_phold -- --queue heap --group-size 64 --group-size 128
//! ```

#[path = "shared/rates.rs"]
mod rates;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuSimulation, Fingerprint, Options, Simulation, SimulationError, Sync, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Resolution;
use rates::{measure_events, or, too_large};

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
    /// Seconds to measure for each line, after as many that keep the device busy.
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// How far windows go: yawns, horizon or auto.
    #[arg(long, default_value_t = Sync::Yawns)]
    sync: Sync,
    /// Least delay of an event, in units of time.
    #[arg(long, default_value_t = 10.0)]
    lookahead: f64,
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
                let model = Phold::new(lps, population, rate, args.lookahead, Resolution::default())?;
                let mut expected = None;
                for &queue in &queues {
                    for &group_size in &groups {
                        let options = Options {
                            seed: 42,
                            queue: Some(queue),
                            group_size,
                            tiles: args.tiles,
                            fixed: args.fixed,
                            sync: args.sync,
                            ..Options::default()
                        };
                        let line = line(&gpu, &model, options, &args, &mut expected)
                            .or_else(|error| too_large(&error).ok_or(error))?;
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

fn line(
    gpu: &Gpu,
    model: &Phold,
    options: Options,
    args: &Args,
    expected: &mut Option<Fingerprint>,
) -> Result<String, SimulationError> {
    let mut simulation = Simulation::new(gpu, model, options)?;
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
    // The device was idle while the CPU engine ran: `measure` keeps it busy first.
    let Some(rate) = measure_events(&mut simulation, args.seconds, None)? else {
        unreachable!("there is no deadline")
    };
    Ok(format!("{:11.4e} {:11.2}", rate.events_per_second(), rate.microseconds_per_window()))
}
