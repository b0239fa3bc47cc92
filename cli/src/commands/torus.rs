//! The closed torus of service facilities of Park and Fishwick (section 6): their Figures 19 and 20
//! for the default adapter.
//!
//! ```text
//! eventhorizon torus                            # both figures, into the folder torus
//! eventhorizon torus --sides 32,64 --seconds 0.2
//! ```
//!
//! Every facility serves for exponential times of mean 10 and sends each token to one of its four
//! neighbours. Figure 19 compares the event list with time intervals, its sequential reference
//! implementation, and the conservative engine, which has no error. Figure 20 shows how the error
//! of the utilisation grows with the interval.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use eventhorizon::facility::{FelNetwork, FelReference, FelSimulation};
use eventhorizon::gpu::Gpu;
use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{Options, Simulation, Sync, Until};
use eventhorizon::statistics::theory::ClosedNetwork;
use eventhorizon::time::{Resolution, Ticks};
use figure::{Line, Panel};

use crate::shared::figure;
use crate::shared::{self, Outcome};

/// The mean service time, in units of time.
const MEAN: f64 = 10.0;

#[derive(Parser)]
pub struct Args {
    /// Set the sides of the tori of Figure 19
    #[arg(long, value_delimiter = ',', default_values_t = [32, 64, 128, 256, 512, 1024])]
    sides: Vec<u32>,
    /// Set the number of tokens per facility (the paper's message population)
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    tokens: u32,
    /// Set the time interval of Figure 19, in units of time; a mean service takes 10
    #[arg(long, default_value_t = 1.0, value_parser = shared::positive)]
    interval: f64,
    /// Set the time intervals of Figure 20
    #[arg(long, value_delimiter = ',', default_values_t = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0], value_parser = shared::positive)]
    intervals: Vec<f64>,
    /// Set the side of Figure 20's torus
    #[arg(long, default_value_t = 64)]
    side: u32,
    /// Set the simulated time of Figure 20, in units of time
    #[arg(long, default_value_t = 2000.0, value_parser = shared::positive)]
    until: f64,
    /// Set the seconds of each measurement; as long a run before it keeps the device busy
    #[arg(long, default_value_t = 0.5, value_parser = shared::seconds)]
    seconds: f64,
    /// Set the seed of the random streams
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Write CSV and PNG files into this folder
    #[arg(long, default_value = "torus")]
    out: PathBuf,
}

pub fn run(args: &Args) -> Outcome<()> {
    let units = Resolution::default();
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}\n")?;
    std::fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    speed(args, units, &gpu)?;
    if shared::interrupted() {
        return Ok(());
    }
    errors(args, units, &gpu)
}

/// Measures events per second. `run` continues a run to a time; it returns the seconds it took and
/// the events since its start. Steps grow until one lasts `seconds`. Steps before it keep the
/// device busy for `seconds` and include the compilation of kernels.
fn rate(seconds: f64, units: Resolution, mut run: impl FnMut(Ticks) -> Outcome<(f64, u64)>) -> Outcome<f64> {
    let (mut end, mut step, mut done, mut busy) = (0.0, 1.0, 0, 0.0);
    loop {
        end += step;
        let (took, executed) = run(units.ticks(end)?)?;
        if busy >= seconds && took >= seconds {
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            return Ok((executed - done) as f64 / took);
        }
        done = executed;
        busy += took;
        step *= (1.3 * seconds / took).clamp(1.3, 8.0);
    }
}

/// The seconds that `work` takes.
fn seconds<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Figure 19: events per second for each side of the torus.
fn speed(args: &Args, units: Resolution, gpu: &Gpu) -> Outcome<()> {
    let (mean, interval) = (units.ticks(MEAN)?, units.ticks(args.interval)?);
    let names = ["one core".to_owned(), "event list, exact".to_owned()];
    let names = names.into_iter().chain([
        format!("event list, intervals of {}", args.interval),
        "conservative engine (per-LP bounds)".to_owned(),
    ]);
    let mut lines: Vec<_> = names.map(|name| Line { name, points: Vec::new() }).collect();
    writeln!(stdout(), "Events per second, {} tokens per facility", args.tokens)?;
    write!(stdout(), "{:>6}", "side")?;
    for line in &lines {
        write!(stdout(), "  {}", line.name)?;
    }
    writeln!(stdout())?;
    let mut csv = String::from("side,way,events_per_second\n");
    for &side in &args.sides {
        if shared::watch().is_break() {
            break;
        }
        let tokens = side.checked_mul(side).and_then(|count| count.checked_mul(args.tokens));
        let tokens = tokens.ok_or_else(|| format!("--sides {side}: too many tokens, choose less"))?;
        let network = FelNetwork::torus(side, side, tokens, mean)?;
        let mut reference = FelReference::new(&network, args.seed, Ticks::ZERO)?;
        let list = |interval| -> Outcome<f64> {
            let mut simulation = FelSimulation::new(gpu, &network, args.seed, interval)?;
            rate(args.seconds, units, |until| {
                let took = seconds(|| simulation.run(until))?;
                Ok((took, simulation.results()?.served()))
            })
        };
        let model = FifoTorus::new(side, side, tokens, 1.0 / MEAN, units)?;
        let options = Options::default().seed(args.seed).sync(Sync::Neighbours);
        let mut conservative = Simulation::new(gpu, &model, options)?;
        let rates = [
            rate(args.seconds, units, |until| {
                let took = seconds(|| reference.run(until))?;
                Ok((took, reference.results().served()))
            })?,
            list(Ticks::ZERO)?,
            list(interval)?,
            rate(args.seconds, units, |until| {
                let took = seconds(|| conservative.run(Until::time(until)))?;
                Ok((took, conservative.progress()?.events))
            })?,
        ];
        write!(stdout(), "{side:>6}")?;
        for (line, rate) in lines.iter_mut().zip(rates) {
            write!(stdout(), "  {:>width$}", format!("{rate:.3e}"), width = line.name.len())?;
            writeln!(csv, "{side},{},{rate}", line.name)?;
            line.points.push((side.into(), rate));
        }
        writeln!(stdout())?;
    }
    let panels = [Panel { title: String::new(), axes: ("side of the torus", "events per second"), lines }];
    save(&args.out, "figure-19", &csv)?;
    let title = "Closed torus of service facilities, mean service 10 (Park and Fishwick, Figure 19)";
    figure::draw(&args.out.join("figure-19.png"), title, &gpu.info().name, &panels, 1)
}

/// Figure 20: the error of the utilisation for each interval.
fn errors(args: &Args, units: Resolution, gpu: &Gpu) -> Outcome<()> {
    let facilities = args.side.checked_mul(args.side).ok_or("--side: too many facilities")?;
    let tokens = facilities.checked_mul(args.tokens).ok_or("--side: too many tokens")?;
    let network = FelNetwork::torus(args.side, args.side, tokens, units.ticks(MEAN)?)?;
    let end = units.ticks(args.until)?;
    let utilisation = |interval| -> Outcome<f64> {
        let mut simulation = FelSimulation::new(gpu, &network, args.seed, units.ticks(interval)?)?;
        simulation.run(end)?;
        Ok(simulation.results()?.utilisation())
    };
    let exact = utilisation(0.0)?;
    let theory = ClosedNetwork::new(&[(facilities, MEAN)], 0.0, tokens)?.utilisation(0).unwrap_or_default();
    writeln!(
        stdout(),
        "\nUtilisation of {0} x {0} facilities up to {1}: theory {theory:.5}",
        args.side,
        args.until
    )?;
    writeln!(stdout(), "{:>9}  {:>11}  {:>9}", "interval", "utilisation", "error")?;
    writeln!(stdout(), "{:>9}  {exact:>11.5}  {:>9}", "none", "-")?;
    let mut csv = String::from("interval,utilisation,error\n");
    writeln!(csv, "0,{exact},0")?;
    let mut points = Vec::new();
    for &interval in &args.intervals {
        if shared::watch().is_break() {
            break;
        }
        let found = utilisation(interval)?;
        let error = 100.0 * (found / exact - 1.0);
        writeln!(stdout(), "{interval:>9}  {found:>11.5}  {error:>7.2} %")?;
        writeln!(csv, "{interval},{found},{}", error / 100.0)?;
        points.push((interval, error.abs().max(1e-3)));
    }
    let lines = vec![Line { name: "error of the utilisation".to_owned(), points }];
    let panels = [Panel { title: String::new(), axes: ("time interval", "error in percent"), lines }];
    save(&args.out, "figure-20", &csv)?;
    let title =
        "Error of the utilisation by the time interval, mean service 10 (Park and Fishwick, Figure 20)";
    figure::draw(&args.out.join("figure-20.png"), title, &gpu.info().name, &panels, 1)
}

fn save(out: &Path, name: &str, csv: &str) -> Outcome<()> {
    shared::write(&out.join(name).with_extension("csv"), csv.as_bytes())
}
