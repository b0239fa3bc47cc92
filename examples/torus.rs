//! Customers on a torus of queueing stations: utilisation, against the theory of closed networks.
//!
//! ```text
//! cargo run --release --example torus -- --rows 32 --columns 32 --customers 2048
//! ```

mod shared;

use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Torus;
use eventhorizon::pdes::{CpuSimulation, Options, Simulation, Until};
use eventhorizon::statistics::student_t;
use eventhorizon::statistics::theory::ClosedNetwork;
use eventhorizon::time::Resolution;
use shared::Outcome;

#[derive(Parser)]
struct Args {
    /// Rows of stations.
    #[arg(long, default_value_t = 32)]
    rows: u32,
    /// Columns of stations.
    #[arg(long, default_value_t = 32)]
    columns: u32,
    /// Customers, who never leave.
    #[arg(long, default_value_t = 2048)]
    customers: u32,
    /// Time of a walk to a neighbour, in mean services. It is the lookahead.
    #[arg(long, default_value_t = 0.01, value_parser = shared::positive)]
    travel: f64,
    /// Length of a run, in mean services.
    #[arg(long, default_value_t = 1000.0, value_parser = shared::positive)]
    until: f64,
    /// Statistics begin then: it takes a while until the customers have spread as they do in the long run.
    #[arg(long, default_value_t = 250.0, value_parser = shared::not_negative)]
    warm_up: f64,
    /// Runs, at least two.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..))]
    runs: u32,
}

fn main() -> ExitCode {
    shared::main(run)
}

fn run(args: &Args) -> Outcome<()> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    let services = Resolution::default();
    let end = services.ticks(args.until)?;
    let model = Torus::new(args.rows, args.columns, args.customers, 1.0, args.travel, services)?
        .with_warm_up(services.ticks(args.warm_up)?);
    let stations = args.rows * args.columns;
    let (mut shares, mut events, begin) = (Vec::new(), 0, Instant::now());
    let bar = shared::bar(100 * u64::from(args.runs), "{wide_bar} {percent}%")?;
    for run in 0..args.runs {
        let mut simulation =
            Simulation::new(&gpu, &model, Options { seed: run.into(), ..Options::default() })?;
        let progress = simulation.run_watched(Until::time(end), |progress| {
            bar.set_position(
                100 * u64::from(run) + (100.0 * services.units(progress.now) / args.until) as u64,
            );
            shared::watch()
        })?;
        events += progress.events;
        if shared::interrupted() {
            break; // what is left of this run would be missing in its averages
        }
        let totals = simulation.totals(end, None)?;
        shares.push(totals.time_average("busy").and_then(|busy| busy.mean()).ok_or("no average")?);
        if run == 0 {
            let mut cpu = CpuSimulation::new(&model, 0)?;
            cpu.run(Until::time(end))?;
            shared::same(&simulation.fingerprint()?, &cpu.fingerprint(), "the fingerprint on the GPU")?;
            writeln!(stdout(), "fingerprint {} on both engines", cpu.fingerprint())?;
        }
    }
    bar.finish_and_clear();
    writeln!(stdout(), "{events} events in {:.2?}", begin.elapsed())?;
    if shares.len() < 2 {
        return Err("stopped before two runs had ended: there is no utilisation to tell of".into());
    }
    let runs = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / runs;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (runs - 1.0);
    let half = student_t(shares.len() as u64 - 1, 0.95) * (variance / runs).sqrt();
    if shared::interrupted() {
        writeln!(stdout(), "stopped early, after {} of {} runs", shares.len(), args.runs)?;
    }
    writeln!(stdout(), "utilisation {mean:.5} ± {half:.5} (95 %)")?;
    let delay = f64::from(stations) * args.travel;
    let theory = ClosedNetwork::new(&[(stations, 1.0)], delay, args.customers)?;
    writeln!(stdout(), "theory      {:.5}", theory.utilisation(0).unwrap_or_default())?;
    let customers = f64::from(args.customers);
    writeln!(
        stdout(),
        "K/(K+N-1)   {:.5}, where walks take no time",
        customers / (customers + f64::from(stations) - 1.0)
    )?;
    Ok(())
}
