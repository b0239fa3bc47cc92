//! Event rates of PHOLD over the parameters of Baudis et al. (section IV.B), for each queue design.

use std::io::{Write as _, stdout};

use clap::Args as ClapArgs;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuSimulation, Fingerprint, Mapping, Options, Simulation, Sync, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Resolution;

use crate::shared::rates::{measure_events, or, too_large};
use crate::shared::{self, Outcome};
use crate::{named, or_auto};

/// Measure the events per second of PHOLD, for each queue design
///
/// Checks every row first: a shorter run must have the fingerprint of the sequential CPU engine.
/// Lists are separated by commas; each combination is a row.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- phold
  cargo run --release -p eventhorizon-bench -- phold --queue heap --group-size 64,128 --population 4,16")]
pub(crate) struct Args {
    /// Compare these queue designs. Default: those that the library chooses from (all are in
    /// docs/queues.md)
    #[arg(long, value_delimiter = ',')]
    queue: Vec<QueueDesign>,
    /// Set the invocations per workgroup. Default: the library's choice
    #[arg(long, alias = "workgroup", value_delimiter = ',', value_parser = shared::group_size)]
    group_size: Vec<u32>,
    /// Set the LPs that an invocation serves in each window. Default: the library's choice
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    tiles: Vec<u32>,
    /// Set the numbers of LPs. Default: 1024, 32768 and 1048576
    #[arg(long, value_delimiter = ',')]
    lps: Vec<u32>,
    /// Set the events per LP. Default: 4, 16 and 128
    #[arg(long, value_delimiter = ',')]
    population: Vec<u32>,
    /// Set the rates: an event follows its sender by the lookahead and on average 1/rate units of
    /// time. Default: 0.1, 0.001 and 0.00001
    #[arg(long, value_delimiter = ',', value_parser = shared::positive)]
    rate: Vec<f64>,
    /// Set the seconds to measure for each row; as long a run before it keeps the device busy
    #[arg(long, default_value_t = 0.3, value_parser = shared::seconds)]
    seconds: f64,
    #[arg(long, value_delimiter = ',', help = format!(
        "Synchronise by {}. Default: yawns",
        Sync::help(|sync| !sync.needs_senders())
    ))]
    sync: Vec<Sync>,
    /// Set the least delays of an event (the lookahead), in units of time. Default: 10
    #[arg(long, value_delimiter = ',', value_parser = shared::not_negative)]
    lookahead: Vec<f64>,
    /// Use capacities that cannot grow, so that no snapshots are taken
    #[arg(long)]
    fixed: bool,
    /// Skip the comparison with the CPU engine
    #[arg(long)]
    unchecked: bool,
}

pub(crate) fn run(args: &Args) -> Outcome<()> {
    // All models are checked before the first run.
    let mut models = Vec::new();
    for lps in or(&args.lps, &[1024, 32768, 1 << 20]) {
        for lookahead in or(&args.lookahead, &[10.0]) {
            for rate in or(&args.rate, &[0.1, 0.001, 0.00001]) {
                for population in or(&args.population, &[4, 16, 128]) {
                    let model = Phold::new(lps, population, rate, lookahead, Resolution::default())?;
                    models.push((model, format!("{lps:8} {population:6} {rate:8} {lookahead:9}")));
                }
            }
        }
    }
    if let Some(sync) = args.sync.iter().find(|sync| sync.needs_senders()) {
        return Err(shared::usage(format!("PHOLD sends to any LP: use `bench sync` for windows by {sync}")));
    }
    let mut ways = Vec::new();
    for queue in or(&args.queue, &QueueDesign::PRODUCTION) {
        for sync in or(&args.sync, &[Sync::Yawns]) {
            for group_size in or_auto(&args.group_size) {
                for tiles in or_auto(&args.tiles) {
                    ways.push(
                        Options::default()
                            .seed(42)
                            .queue(queue)
                            .group_size(group_size)
                            .tiles(tiles)
                            .fixed(args.fixed)
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
        "{:>8} {:>6} {:>8} {:>9} {:>16} {:>10} {:>5} {:>5} {:>11} {:>11}",
        "LPs",
        "events",
        "rate",
        "lookahead",
        "queue",
        "windows by",
        "group",
        "tiles",
        "events/s",
        "us/window"
    )?;
    for (model, name) in &models {
        let mut expected = None;
        for &options in &ways {
            let line = line(&gpu, model, options, args, &mut expected)
                .or_else(|error| error.downcast_ref().and_then(too_large).ok_or(error))?;
            let Options { queue, group_size, tiles, sync, .. } = options;
            let [queue, sync, group_size, tiles] =
                [named(queue), sync.to_string(), named(group_size), named(tiles)];
            writeln!(stdout(), "{name} {queue:>16} {sync:>10} {group_size:>5} {tiles:>5} {line}")?;
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
) -> Outcome<String> {
    let mut simulation = Simulation::new(gpu, model, options)?;
    let check = Until::events(100_000);
    simulation.run(check)?;
    if !args.unchecked {
        if expected.is_none() {
            let mut cpu = CpuSimulation::new(model, options)?;
            cpu.run(check)?;
            *expected = Some(cpu.fingerprint());
        }
        let found = simulation.fingerprint()?;
        shared::same(&Some(found), expected, format!("the fingerprint with {options:?}"))?;
    }
    // The device was idle during the run of the CPU engine: `measure` keeps it busy first.
    let Some(rate) = measure_events(&mut simulation, args.seconds, None)? else {
        unreachable!("no deadline is set")
    };
    Ok(format!("{:11.4e} {:11.2}", rate.events_per_second(), rate.microseconds_per_window()))
}
