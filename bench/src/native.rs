//! Times of models that run on the CPU from their WGSL, against the same models in Rust.

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args as ClapArgs;
use eventhorizon::facility::Network;
use eventhorizon::models::{
    CallCentre, Epidemic, FifoTorus, Mm1, Mmck, Phold, Pi, PiParams, Priorities, Torus, Walk, WalkParams,
    Workshop, WorkshopParams,
};
use eventhorizon::pdes::{self, CpuModel, CpuSimulation, Until};
use eventhorizon::replication::{self, CpuEngine, Experiment, Options, ReferenceModel};
use eventhorizon::statistics::Design;
use eventhorizon::time::{Resolution, Ticks};

use crate::median;
use crate::references::Reference;
use crate::shared::{self, Outcome, same};

/// Measure models that run on the CPU from their WGSL, against the same models in Rust
///
/// Both run on one core, interleaved, and must have the same fingerprint. Times are medians.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- native
  cargo run --release -p eventhorizon-bench -- native --seconds 2 examples/networks/*.toml")]
pub(crate) struct Args {
    /// Networks to measure besides the models that ship, as TOML
    networks: Vec<PathBuf>,
    /// Set the least seconds of a run
    #[arg(long, default_value_t = 0.3, value_parser = shared::seconds)]
    seconds: f64,
    /// Set the number of runs of each kind
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Interpret the WGSL instead of translating it to machine code
    #[arg(long)]
    interpreted: bool,
}

/// What a row measured: the name, what was counted and how many, and nanoseconds of each way.
struct Row {
    name: String,
    unit: &'static str,
    count: u64,
    native: f64,
    reference: f64,
    /// Milliseconds to link and translate.
    translation: f64,
}

impl Row {
    fn show(&self) -> Outcome<f64> {
        let Self { name, unit, count, native, reference, translation } = self;
        let ratio = native / reference;
        writeln!(
            stdout(),
            "{name:<24} {count:>10} {unit:<7} {native:>9.1} {reference:>9.1} {ratio:>6.2} {translation:>8.1}"
        )?;
        Ok(ratio)
    }
}

pub(crate) fn run(args: &Args) -> Outcome<()> {
    let units = Resolution::default();
    writeln!(
        stdout(),
        "{:<24} {:>10} {:<7} {:>9} {:>9} {:>6} {:>8}",
        "model",
        "count",
        "",
        "native ns",
        "Rust ns",
        "ratio",
        "link ms"
    )?;
    let mut ratios = Vec::new();
    let mut show = |row: Row| -> Outcome<()> {
        ratios.push(row.show()?);
        Ok(())
    };
    for lps in [1024, 65_536] {
        show(simulations(args, &format!("PHOLD {lps}"), &Reference(Phold::new(lps, 4, 0.1, 10.0, units)?))?)?;
    }
    show(simulations(args, "torus", &Reference(Torus::new(32, 32, 2048, 1.0, 0.1, units)?))?)?;
    show(simulations(args, "FIFO torus", &Reference(FifoTorus::new(32, 32, 2048, 1.0, units)?))?)?;
    let edges = Epidemic::random_edges(20_000, 60_000, 30, 99);
    let epidemic = Epidemic::new(20_000, &edges, 20, 0.5, 0.6, 1.0, units)?;
    show(simulations(args, "epidemic", &Reference(epidemic))?)?;
    show(simulations(args, "call centre", &Reference(CallCentre::new(256, 3, 4.0, 1.0, 0.5, 64, units)?))?)?;
    let classes = [(0.2, 1.0), (0.2, 1.0), (0.2, 2.0)];
    show(simulations(args, "priorities", &Reference(Priorities::new(256, &classes, 64, units)?))?)?;
    for path in &args.networks {
        let network = Network::from_toml(&std::fs::read_to_string(path)?)?;
        show(simulations(args, &network.name, &network.compile()?)?)?;
    }
    show(replications(args, "M/M/1", Reference(Mm1::default()), Mm1::default().params(0.8, 1.0, 1000)?)?)?;
    show(replications(
        args,
        "M/M/c/K",
        Reference(Mmck::default()),
        Mmck::default().params(3.0, 1.0, 3, 7, 1000)?,
    )?)?;
    show(replications(args, "pi", Reference(Pi), PiParams { points: 10_000 })?)?;
    show(replications(args, "random walk", Reference(Walk), WalkParams { steps: 1000 })?)?;
    show(replications(
        args,
        "workshop",
        Reference(Workshop),
        WorkshopParams { jobs: 1000, operation: 1 << 20 },
    )?)?;
    let number = f64::from(u32::try_from(ratios.len())?);
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / number).exp();
    writeln!(stdout(), "geometric mean of the ratios: {mean:.3}")?;
    Ok(())
}

/// The seed of all runs.
const SEED: u64 = 42;

/// A model of logical processes.
fn simulations<M: CpuModel>(args: &Args, name: &str, model: &M) -> Outcome<Row> {
    let options = pdes::Options::default().seed(SEED);
    let native = || match args.interpreted {
        true => CpuSimulation::interpreted(model, options),
        false => CpuSimulation::new(model, options),
    };
    let reference = || CpuSimulation::in_rust(model, options);
    // The first one translates; the others find the code in a cache.
    let [first, second] = [(); 2].map(|()| {
        let begun = Instant::now();
        native().map(|_| begun.elapsed().as_secs_f64())
    });
    let translation = (first? - second?) * 1e3;
    // An end after which the model in Rust has run long enough.
    let mut end = Ticks::new(1 << 20);
    let (events, expected) = loop {
        let (seconds, events, fingerprint) = simulate(reference()?, Until::time(end))?;
        if seconds > args.seconds || events == 0 || end.get() > 1 << 50 {
            break (events, fingerprint);
        }
        end = Ticks::new(2 * end.get());
    };
    let (mut natives, mut references) = (Vec::new(), Vec::new());
    for _ in 0..args.runs {
        let (seconds, _, fingerprint) = simulate(native()?, Until::time(end))?;
        same(&fingerprint, &expected, format_args!("the fingerprint of {name}"))?;
        natives.push(seconds);
        references.push(simulate(reference()?, Until::time(end))?.0);
    }
    Ok(row(name, "events", events, natives, references, translation))
}

/// Seconds, events and fingerprint of a run.
fn simulate<M: pdes::Model>(
    mut simulation: CpuSimulation<'_, M>,
    until: Until,
) -> Outcome<(f64, u64, String)> {
    let begun = Instant::now();
    let events = simulation.run(until)?.events;
    Ok((begun.elapsed().as_secs_f64(), events, simulation.fingerprint().to_string()))
}

/// A model of replications, on one core.
fn replications<M: ReferenceModel + Copy + Sync>(
    args: &Args,
    name: &str,
    model: M,
    params: M::Params,
) -> Outcome<Row> {
    let begun = Instant::now();
    let native = match args.interpreted {
        true => CpuEngine::interpreted(model, Options::default())?,
        false => CpuEngine::new(model, Options::default())?,
    };
    let translation = begun.elapsed().as_secs_f64() * 1e3;
    let reference = CpuEngine::in_rust(model, Options::default())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut count = 16;
    let expected = loop {
        let (seconds, fingerprint) = pool.install(|| replicate(&reference, &params, count))?;
        if seconds > args.seconds || count > 1 << 24 {
            break fingerprint;
        }
        count *= 2;
    };
    let (mut natives, mut references) = (Vec::new(), Vec::new());
    for _ in 0..args.runs {
        let (seconds, fingerprint) = pool.install(|| replicate(&native, &params, count))?;
        same(&fingerprint, &expected, format_args!("the fingerprint of {name}"))?;
        natives.push(seconds);
        references.push(pool.install(|| replicate(&reference, &params, count))?.0);
    }
    Ok(row(name, "runs", count.into(), natives, references, translation))
}

/// Seconds and fingerprint of some replications.
fn replicate<M: replication::Model + Sync>(
    engine: &CpuEngine<M>,
    params: &M::Params,
    count: u32,
) -> Result<(f64, u64), replication::ReplicationError> {
    let experiment = Experiment::new(Design::default(), count, SEED);
    let begun = Instant::now();
    let fingerprint = engine.run(params, &experiment)?.fingerprint;
    Ok((begun.elapsed().as_secs_f64(), fingerprint))
}

#[expect(clippy::cast_precision_loss, reason = "a count below 2^53")]
fn row(
    name: &str,
    unit: &'static str,
    count: u64,
    mut natives: Vec<f64>,
    mut references: Vec<f64>,
    translation: f64,
) -> Row {
    let each = |times: &mut Vec<f64>| median(times) * 1e9 / count.max(1) as f64;
    let (native, reference) = (each(&mut natives), each(&mut references));
    Row { name: name.to_owned(), unit, count, native, reference, translation }
}
