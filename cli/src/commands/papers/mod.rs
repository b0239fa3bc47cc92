//! The figures and tables of the five papers on which this project is built, run on this machine.
//!
//! ```text
//! eventhorizon papers                           # list every figure and table
//! eventhorizon papers baudis-7 park-20          # run two of them, into the folder papers
//! eventhorizon papers --all --small             # minutes, on a software adapter too
//! eventhorizon papers baudis-8 --continue       # measure what a stopped run left out
//! ```
//!
//! Each experiment writes `NAME.csv`, a row as soon as it is measured, and `NAME.png` at its end.
//! Numbers of the paper stand beside them only where its text or a table states them. Runs of one
//! setting are compared with each other, or with the sequential engine. If results differ, or the
//! device fails, the experiment fails and the others continue; the exit code is then 1.

mod chapuis;
mod counts;
mod heap;
mod lists;
mod marzolla;
mod park;
mod passerat;
mod paths;
mod phold;
mod sbm;
mod search;
mod sets;
mod study;
mod table;

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use eventhorizon::gpu::{Gpu, GpuError};

use crate::shared::{self, Failure, FileUse, Outcome};
use study::Study;
use table::{Axes, EXPERIMENTS, Experiment, Paper, Run};

/// The experiment that --positions is for.
const WITH_POSITIONS: &str = "marzolla-14";

#[derive(Parser)]
#[command(about = "List, run and draw the figures and tables of the papers")]
pub struct Args {
    /// Run these experiments. Without a name and --all, the list is printed
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(EXPERIMENTS.iter().map(|one| one.name)))]
    names: Vec<String>,
    /// Run every experiment
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Run smaller models for shorter times; the numbers do not apply to large ones
    #[arg(long)]
    small: bool,
    /// Write CSV and PNG files into this folder
    #[arg(long, value_name = "DIR", default_value = "papers")]
    out: PathBuf,
    /// Keep what the CSV files have of an earlier run with the same options, adapter and version,
    /// and measure the rest; points that exceeded a budget again only with a larger --budget
    #[arg(long)]
    r#continue: bool,
    /// Read the positions of vehicles for marzolla-14, one in metres on each line
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Set the seconds of each measurement [default: 0.3, with --small 0.02]
    #[arg(long, value_parser = shared::seconds)]
    seconds: Option<f64>,
    /// Set the largest time in seconds of one point of a figure, checks included
    #[arg(long, value_parser = shared::seconds, default_value_t = 10.0)]
    budget: f64,
}

impl Args {
    /// The seconds of a measurement.
    fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.small { 0.02 } else { 0.3 })
    }
}

pub fn run(args: &Args) -> Outcome<()> {
    let chosen = |one: &&Experiment| args.all || args.names.iter().any(|name| name == one.name);
    let chosen: Vec<_> = EXPERIMENTS.iter().filter(chosen).collect();
    if chosen.is_empty() {
        return list();
    }
    if let [Experiment { name, run: Run::Not(reason), .. }] = chosen[..] {
        return Err(shared::usage(format!("{name} cannot be run: {reason}")));
    }
    shared::check_files(&[(FileUse::Draws, "--out", Some(&*args.out))])?;
    if let Some(path) = &args.positions {
        // Before files of earlier runs are overwritten.
        marzolla::positions(path)?;
        for Experiment { name, .. } in &chosen {
            let csv = args.out.join(name).with_extension("csv");
            if csv.canonicalize().is_ok_and(|csv| path.canonicalize().is_ok_and(|path| path == csv)) {
                return Err(shared::usage(format!(
                    "--positions {}: {name} would overwrite it: name another folder by --out",
                    path.display()
                )));
            }
        }
    }
    std::fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    let mut gpu = adapter()?;
    let chosen: Vec<_> = chosen.into_iter().filter(|one| matches!(one.run, Run::By(_))).collect();
    // Before anything is measured.
    for experiment in &chosen {
        study::kept(experiment, args, gpu.as_ref())?;
    }
    let mut failed = Vec::new();
    for experiment in &chosen {
        if shared::watch().is_break() {
            break;
        }
        match attempt(experiment, args, gpu.as_ref()) {
            Ok(()) => {}
            Err(error) if chosen.len() == 1 || shared::closed(&*error) => return Err(error),
            Err(error) => {
                shared::print_report(&format!("error: {error}"));
                failed.push(experiment.name);
                // The device may be lost.
                gpu = gpu.and_then(|_| Gpu::new().ok());
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => {
            Err(format!("{} of {} experiments failed: {}", failed.len(), chosen.len(), failed.join(", "))
                .into())
        }
    }
}

/// The device, or `None` without an adapter: some experiments need none.
fn adapter() -> Outcome<Option<Gpu>> {
    match Gpu::new() {
        Ok(gpu) => {
            writeln!(stdout(), "{gpu}")?;
            Ok(Some(gpu))
        }
        Err(error @ GpuError::NoAdapter { .. }) => {
            shared::print_report(&format!(
                "notice: {error}.\nnotice: only what runs on the CPU is measured."
            ));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs an experiment and draws what it measured, also after an error or Ctrl-C.
fn attempt(experiment: &'static Experiment, args: &Args, gpu: Option<&Gpu>) -> Outcome<()> {
    let Run::By(run) = experiment.run else { return Ok(()) };
    let mut study = Study::new(experiment, args, gpu)?;
    let picture = study.picture();
    shared::on_slow_stop(move || {
        shared::print_report("notice: stopped; what was measured is in the CSV file and the picture");
        if let Err(error) = study::draw(&picture) {
            shared::print_report(&format!("error: {error}"));
        }
    });
    let source = study::source(experiment);
    writeln!(stdout(), "\n{}: {} ({source})", experiment.name, experiment.title)?;
    let begun = Instant::now();
    let ran = run(&mut study).map_err(|error| -> Failure {
        match shared::closed(&*error) {
            true => error,
            false => format!("{}: {error}", experiment.name).into(),
        }
    });
    shared::all([ran, study.draw()])?;
    if !shared::interrupted() {
        writeln!(stdout(), "{} ({:.1} s)", experiment.verdict, begun.elapsed().as_secs_f64())?;
    }
    Ok(())
}

/// Prints all experiments, by paper.
fn list() -> Outcome<()> {
    for paper in Paper::ALL {
        writeln!(stdout(), "{}", paper.title())?;
        for Experiment { name, figure, title, run, .. } in EXPERIMENTS.iter().filter(|one| one.paper == paper)
        {
            writeln!(stdout(), "  {name:<18} {figure:<10} {title}")?;
            if let Run::Not(reason) = run {
                writeln!(stdout(), "  {:<18} not run: {reason}", "")?;
            }
        }
    }
    Ok(())
}
