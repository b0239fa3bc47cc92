//! Times of networks that are compiled to code of their own, against the interpreter.

mod device;

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args as ClapArgs;
use eventhorizon::facility::{CompiledNetwork, Facility, NativeNetwork, Network};
use eventhorizon::pdes::{CpuSimulation, Options, Replica, Until};
use eventhorizon::time::Ticks;

use crate::median;
use crate::shared::{Outcome, same};

/// Measure networks that are compiled to code of their own, against the interpreter in Rust
///
/// Both run on one core, interleaved, and must give the same rows. Speeds are medians of customers
/// from sources per second. With --device, both run on the default adapter; then speeds are slopes:
/// units of simulated time of all replications per second, between runs of two lengths.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- compiled examples/networks/mm1.toml examples/networks/jackson.toml
  cargo run --release -p eventhorizon-bench -- compiled --device --replications 10000 examples/networks/jackson.toml")]
pub(crate) struct Args {
    /// Networks as TOML, each with its own end of runs
    #[arg(required = true)]
    networks: Vec<PathBuf>,
    /// Set the number of replications of a run
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    replications: u32,
    /// Set the number of runs of each kind
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Do not time the interpreter; the rows of some replications are compared
    #[arg(long)]
    alone: bool,
    /// Run on the default adapter
    #[arg(long)]
    device: bool,
    /// Multiply the lengths of runs on the adapter
    #[arg(long, default_value_t = 1.0, value_parser = crate::shared::positive)]
    length: f64,
    /// Also run code with a case for each node on the adapter: drivers compile it slowly
    #[arg(long)]
    switch: bool,
    /// Print the text of each network
    #[arg(long)]
    wgsl: bool,
}

/// The seed of all runs.
const SEED: u64 = 42;

pub(crate) fn run(args: &Args) -> Outcome<()> {
    if args.device {
        return device::run(args);
    }
    writeln!(
        stdout(),
        "{:<24} {:>10} {:>14} {:>14} {:>6} {:>8}",
        "network",
        "customers",
        "compiled, 1/s",
        "interp., 1/s",
        "ratio",
        "link ms"
    )?;
    for path in &args.networks {
        let network = Network::from_toml(&std::fs::read_to_string(path)?)?;
        measure(args, &network)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a count below 2^53")]
fn measure(args: &Args, network: &Network) -> Outcome<()> {
    let facility = network.compile()?;
    let until = facility.resolution().ticks(network.until.ok_or("the network has no `until`")?)?;
    let begun = Instant::now();
    let compiled = CompiledNetwork::new(&facility)?;
    let native = NativeNetwork::new(&compiled)?;
    let translation = begun.elapsed().as_secs_f64() * 1e3;
    if args.wgsl {
        writeln!(stdout(), "{}", compiled.wgsl())?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (mut natives, mut interpreted, mut customers) = (Vec::new(), Vec::new(), 0);
    for run in 0..args.runs {
        let begun = Instant::now();
        let rows = pool.install(|| native.run(SEED, 0..args.replications, [Ticks::ZERO, until]))?;
        natives.push(begun.elapsed().as_secs_f64());
        customers = rows.iter().map(|rows| compiled.entered(rows)).sum();
        let others = if args.alone { u32::from(run == 0) } else { args.replications };
        let begun = Instant::now();
        for (number, rows) in (0..others).zip(&rows) {
            let words = bytemuck::cast_slice::<_, u32>(rows);
            let expected = interpret(&facility, number, until)?;
            same(&(words == expected), &true, format_args!("equal rows of {}, {number}", network.name))?;
        }
        if !args.alone {
            interpreted.push(begun.elapsed().as_secs_f64());
        }
    }
    let speed = |times: &mut Vec<f64>| customers as f64 / median(times);
    let compiled = speed(&mut natives);
    let (interpreter, ratio) = match args.alone {
        true => (f64::NAN, f64::NAN),
        false => (speed(&mut interpreted), compiled / speed(&mut interpreted)),
    };
    writeln!(
        stdout(),
        "{:<24} {customers:>10} {compiled:>14.0} {interpreter:>14.0} {ratio:>6.2} {translation:>8.1}",
        network.name
    )?;
    Ok(())
}

/// The words of the interpreter's rows of a replication.
fn interpret(facility: &Facility, number: u32, until: Ticks) -> Outcome<Vec<u32>> {
    let options = Options::default().seed(SEED).replica(Replica { point: 0, number });
    let mut simulation = CpuSimulation::new(facility, options)?;
    simulation.run(Until::time(until))?;
    Ok(bytemuck::cast_slice(simulation.outputs(until)?.rows()).to_vec())
}
