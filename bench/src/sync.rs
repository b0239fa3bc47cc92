//! Event rates of the synchronisation methods on a torus of FIFO stations with exponential service
//! and zero travel time.

use std::io::{Write as _, stdout};
use std::time::Instant;

use clap::Args as ClapArgs;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{CpuSimulation, Mapping, Options, Simulation, Sync, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};

use crate::shared::rates::{measure, or};
use crate::shared::{self, Outcome};
use crate::{named, or_auto};

/// Measure the events per second of the synchronisation methods, on a torus of FIFO stations
///
/// Service is exponential, and travel between stations takes no time. Checks every row first: a
/// shorter run must have the fingerprint of the sequential CPU engine, whose rate is the first row.
/// Lists are separated by commas; each combination is a row.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- sync
  cargo run --release -p eventhorizon-bench -- sync --side 32,512 --sync horizon,neighbours")]
pub(crate) struct Args {
    #[arg(long, value_delimiter = ',', help = format!(
        "Synchronise by {}. Default: all with windows wider than epochs",
        Sync::help(|_| true)
    ))]
    sync: Vec<Sync>,
    /// Set the sides of the torus, in stations. Default: 32, 128 and 512
    #[arg(long, value_delimiter = ',')]
    side: Vec<u32>,
    /// Set the customers per station. Default: 1
    #[arg(long, value_delimiter = ',', value_parser = shared::positive)]
    customers: Vec<f64>,
    /// Compare these queue designs. Default: heap
    #[arg(long, value_delimiter = ',')]
    queue: Vec<QueueDesign>,
    /// Set the invocations per workgroup. Default: the library's choice
    #[arg(long, value_delimiter = ',', value_parser = shared::group_size)]
    group_size: Vec<u32>,
    /// Set the LPs that an invocation serves in each window. Default: the library's choice
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    tiles: Vec<u32>,
    /// Set the seconds to measure for each row; as long a run before it keeps the device busy
    #[arg(long, default_value_t = 0.3, value_parser = shared::seconds)]
    seconds: f64,
    /// Set the mean services until which runs are compared with the CPU engine
    #[arg(long, default_value_t = 3.0, value_parser = shared::positive)]
    check: f64,
}

pub(crate) fn run(args: &Args) -> Outcome<()> {
    let services = Resolution::default();
    let check = Until::time(services.ticks(args.check)?);
    // All models are checked before the first run.
    let mut models = Vec::new();
    for side in or(&args.side, &[32, 128, 512]) {
        let stations = side
            .checked_mul(side)
            .ok_or_else(|| shared::usage(format!("a side of {side} has too many stations")))?;
        for customers in or(&args.customers, &[1.0]) {
            let all = (f64::from(stations) * customers).round();
            if all > 1e8 {
                return Err(shared::usage(format!("{all} customers are too many: choose at most 100000000")));
            }
            let all = all as u32;
            models.push((FifoTorus::new(side, side, all, 1.0, services)?, format!("{stations:8} {all:10}")));
        }
    }
    let mut ways = Vec::new();
    let wide: Vec<_> = Sync::ALL.into_iter().filter(|sync| sync.is_wide() == Some(true)).collect();
    for sync in or(&args.sync, &wide) {
        for queue in or(&args.queue, &[QueueDesign::Heap]) {
            for group_size in or_auto(&args.group_size) {
                for tiles in or_auto(&args.tiles) {
                    ways.push(
                        Options::default()
                            .seed(42)
                            .queue(queue)
                            .group_size(group_size)
                            .tiles(tiles)
                            .sync(sync)
                            .mapping(Mapping::Grid),
                    );
                }
            }
        }
    }
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    writeln!(
        stdout(),
        "{:>8} {:>10} {:>11} {:>16} {:>5} {:>5} {:>11} {:>14} {:>11}",
        "stations",
        "customers",
        "sync",
        "queue",
        "group",
        "tiles",
        "events/s",
        "events/window",
        "us/window"
    )?;
    for (model, name) in &models {
        let mut cpu = CpuSimulation::new(model, Options::default().seed(42))?;
        let begin = Instant::now();
        let done = cpu.run(check)?;
        let rate = done.events as f64 / begin.elapsed().as_secs_f64();
        writeln!(stdout(), "{name} {:>11} {:>28} {rate:11.4e}", "CPU engine", "")?;
        for &options in &ways {
            let mut simulation = Simulation::new(&gpu, model, options)?;
            simulation.run(check)?;
            let what = format!("the fingerprint with {options:?}");
            shared::same(&simulation.fingerprint()?, &cpu.fingerprint(), what)?;
            let first = (check.time.get(), services.ticks(0.1)?.get());
            let until = |ticks| Until::time(Ticks::new(ticks));
            let rate = measure(&mut simulation, args.seconds, None, first, until)?;
            let rate = rate.ok_or("no deadline is set")?;
            let Options { queue, group_size, tiles, .. } = options;
            let [queue, group_size, tiles] = [named(queue), named(group_size), named(tiles)];
            writeln!(
                stdout(),
                "{name} {:>11} {queue:>16} {group_size:>5} {tiles:>5} {:11.4e} {:14.1} {:11.2}",
                simulation.sync().to_string(),
                rate.events_per_second(),
                rate.events as f64 / rate.windows as f64,
                rate.microseconds_per_window()
            )?;
        }
    }
    Ok(())
}
