//! The event rates of the ways to synchronise, on a torus of FIFO stations with exponential service, between which customers walk in no time.
//!
//! Every line is checked first: a shorter run must have the fingerprint of the sequential CPU engine.
//!
//! ```text
//! cargo run --release --example bench_sync -- --side 32 --side 512 --sync horizon --sync neighbours
//! ```

#[path = "shared/rates.rs"]
mod rates;

use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{CpuSimulation, Options, Simulation, Sync, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use rates::{measure, or};

#[derive(Parser)]
struct Args {
    /// Ways to synchronise; by default horizon and neighbours.
    #[arg(long)]
    sync: Vec<Sync>,
    /// Stations in a row, of as many rows; by default 32, 128 and 512.
    #[arg(long)]
    side: Vec<u32>,
    /// Customers per station; by default 1.
    #[arg(long)]
    customers: Vec<f64>,
    /// Queue design.
    #[arg(long, default_value_t = QueueDesign::Heap)]
    queue: QueueDesign,
    /// Invocations per workgroup; the library's choice by default.
    #[arg(long)]
    group_size: Option<u32>,
    /// LPs that an invocation serves in each window; the library's choice by default.
    #[arg(long)]
    tiles: Option<u32>,
    /// Seconds to measure for each line, after as many that keep the device busy.
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Mean services until which runs are compared with the CPU engine.
    #[arg(long, default_value_t = 3.0)]
    check: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    env_logger::init();
    let args = Args::parse();
    let gpu = Gpu::new()?;
    println!("{gpu}");
    println!(
        "{:>8} {:>10} {:>11} {:>11} {:>14} {:>11}",
        "stations", "customers", "sync", "events/s", "events/window", "us/window"
    );
    let services = Resolution::default();
    for side in or(&args.side, &[32, 128, 512]) {
        for customers in or(&args.customers, &[1.0]) {
            let stations = side * side;
            let all = (f64::from(stations) * customers).round() as u32;
            let model = FifoTorus::new(side, side, all, 1.0, services)?;
            let check = Until::time(services.ticks(args.check)?);
            let mut cpu = CpuSimulation::new(&model, 42)?;
            let begin = Instant::now();
            let done = cpu.run(check)?;
            let rate = done.events as f64 / begin.elapsed().as_secs_f64();
            println!("{stations:8} {all:10} {:>11} {rate:11.4e}", "CPU engine");
            for sync in or(&args.sync, &[Sync::Horizon, Sync::Neighbours]) {
                let options = Options {
                    seed: 42,
                    queue: Some(args.queue),
                    group_size: args.group_size,
                    tiles: args.tiles,
                    sync,
                    ..Options::default()
                };
                let mut simulation = Simulation::new(&gpu, &model, options)?;
                simulation.run(check)?;
                assert_eq!(simulation.fingerprint()?, cpu.fingerprint(), "{options:?}");
                let first = (check.time.get(), services.ticks(0.1)?.get());
                let until = |ticks| Until::time(Ticks::new(ticks));
                let rate = measure(&mut simulation, args.seconds, None, first, until)?;
                let rate = rate.ok_or("there is no deadline")?;
                println!(
                    "{stations:8} {all:10} {:>11} {:11.4e} {:14.1} {:11.2}",
                    simulation.sync().to_string(),
                    rate.events_per_second(),
                    rate.events as f64 / rate.windows as f64,
                    rate.microseconds_per_window()
                );
            }
        }
    }
    Ok(())
}
