//! Finds the numbers in a network or a process model that minimise a measure or a cost, subject to
//! bounds on other measures.
//!
//! ```text
//! eventhorizon optimise examples/networks/call_centre.toml --set station.agents.servers=1..30 \
//!     --minimise station.agents.servers --subject-to 'reneged(agents) <= 0.05' --budget 2000
//! eventhorizon optimise examples/networks/call_centre.toml --set station.agents.servers=1..30 \
//!     --minimise station.agents.servers --subject-to 'share(wait(agents) <= 1) >= 0.8'
//! eventhorizon optimise examples/processes/emergency.toml --set doctors=2..8 \
//!     --minimise '60 * doctors + doctor_wait' --budget 1000
//! ```

use std::io::{Write as _, stdout};
use std::path::PathBuf;

use clap::Parser;
use eventhorizon::optimise::{Expression, NumberRange, OptimiseError, Optimum, Search, bound};
use eventhorizon::statistics::with_error;
use serde_json::json;

use crate::shared::points::{self, Kind, Points};
use crate::shared::{self, FileUse, Outcome, usage};

#[derive(Parser)]
#[command(about = "Find the numbers in a network or a process model that minimise a measure or a cost")]
pub struct Args {
    /// Read the description from this file; `-` is standard input
    file: PathBuf,
    /// Search this number from FIRST to LAST, both included: whole numbers by PATH=FIRST..LAST,
    /// real ones in steps from FIRST by PATH=FIRST..LAST:STEP. Without `..`, set it
    #[arg(long, value_name = "PATH=RANGE", required = true)]
    set: Vec<String>,
    /// Minimise this expression of measures and paths, such as 'wait(desk)' or
    /// '30 * station.desk.servers + queue(desk)'
    #[arg(long, value_name = "EXPRESSION", required_unless_present = "maximise", conflicts_with = "maximise", value_parser = str::parse::<Expression>)]
    minimise: Option<Expression>,
    /// Maximise it
    #[arg(long, value_name = "EXPRESSION", value_parser = str::parse::<Expression>)]
    maximise: Option<Expression>,
    /// Keep this bound: EXPRESSION <= EXPRESSION, or >=
    #[arg(long, value_name = "BOUND", value_parser = bound)]
    subject_to: Vec<Expression>,
    /// Spend at most this number of replications, of all points together
    #[arg(long, value_name = "REPLICATIONS", default_value_t = 2000)]
    budget: u64,
    /// Set the seed of the random streams, and of the search
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Set the level at which neighbours have to be worse, all together, for an end before the
    /// budget, and of intervals
    #[arg(long, default_value_t = 0.95, value_parser = shared::level)]
    level: f64,
    /// Set the end of each replication. Default: the end in the file
    #[arg(long, value_parser = shared::positive)]
    until: Option<f64>,
    /// Set the time at which statistics begin. Default: the warm-up in the file, or a tenth of the
    /// run
    #[arg(long, value_parser = shared::not_negative)]
    warm_up: Option<f64>,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
    /// Write the visited points as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[
        (FileUse::Reads, "the description", Some(&*args.file)),
        args.json.file(),
        (FileUse::Writes, "--csv", args.csv.as_deref()),
    ])?;
    let text = points::text(&args.file)?;
    points::check_set(&args.set)?;
    // A range, and not a path such as `../times.csv`.
    let is_searched = |change: &&String| change.contains("..") && !change.contains("../");
    let (searched, fixed): (Vec<_>, Vec<_>) = args.set.iter().partition(is_searched);
    let set = fixed.into_iter().cloned().collect();
    let points = Points { set, paired: false, design: None };
    let objective = match (&args.minimise, &args.maximise) {
        (Some(objective), _) | (None, Some(objective)) => objective.clone(),
        (None, None) => unreachable!("one is required"),
    };
    let search = |written: [Option<f64>; 2]| -> Outcome<Search> {
        let until = shared::end_of_runs(args.until, written[0])?;
        let times = [until, shared::warm_up(until, args.warm_up, written[1])];
        let mut search = Search::new(objective, times).budget(args.budget).seed(args.seed).level(args.level);
        for range in searched {
            let range: NumberRange = range.parse().map_err(|error| usage(format!("--set {error}")))?;
            search = search.range(range);
        }
        for bound in &args.subject_to {
            search = search.subject_to(bound.clone());
        }
        Ok(if args.maximise.is_some() { search.maximised() } else { search })
    };
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = |made: u64| {
        bar.set_message(format!("{made} of {} replications", args.budget));
        shared::watch()
    };
    let place = args.place.study()?;
    let found = match points::kind(&args.file, &text)? {
        Kind::Network => {
            let description = points.network_of(&args.file, &text)?;
            let written = shared::in_file(&args.file, description.design())?;
            let written = shared::in_file(&args.file, description.network(&written, 0))?;
            search([written.until, written.warm_up])?.network(description, place.backend(), watch)
        }
        Kind::Process => {
            let model = points.process_of(&args.file, &text)?;
            search([model.until, model.warm_up])?.process(model, place.backend(), watch)
        }
        Kind::Model => {
            return Err(usage(format!(
                "{}: networks and process models are optimised, not WGSL",
                args.file.display()
            )));
        }
    };
    bar.finish_and_clear();
    let found = match found {
        Err(error @ (OptimiseError::Network(_) | OptimiseError::Process(_))) => {
            shared::in_file(&args.file, Err(error))
        }
        other => Ok(other?),
    };
    report(args, &found?, place.adapter().map(str::to_owned))
}

/// Prints and writes the result.
fn report(args: &Args, found: &Optimum, adapter: Option<String>) -> Outcome<()> {
    let best = found.best();
    let engine = shared::engine(adapter.is_some());
    let adapter = adapter.unwrap_or_else(|| "the CPU".to_owned());
    let mut object = found.to_json()?;
    object["engine"] = json!(engine);
    object["adapter"] = json!(adapter);
    let csv = |path: &PathBuf| {
        let rows = found.rows()?;
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(rows[0].keys())?;
        for row in &rows {
            let text =
                |value: &serde_json::Value| if value.is_null() { String::new() } else { value.to_string() };
            writer.write_record(row.values().map(text))?;
        }
        shared::write(path, &writer.into_inner().map_err(|error| error.to_string())?)
    };
    let shown = || -> Outcome<()> {
        if let Some(load) = found.load(best) {
            writeln!(
                stdout(),
                "best: none. Lines grow without end at all visited points, least at {} (by a factor of {load:.3}): \
                 search other numbers, or allow a larger --budget",
                found.describe(best)
            )?;
            return Ok(());
        }
        writeln!(stdout(), "best: {}", found.describe(best))?;
        for (number, name) in found.columns().iter().enumerate() {
            let [mean, half] = found.estimate(best, name)?;
            let number_of =
                |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| with_error(value, half));
            let what = match number {
                0 => "objective".to_owned(),
                _ => format!("bound {number}, at most 0"),
            };
            writeln!(stdout(), "{what}: {} +/- {}", number_of(mean), number_of(half))?;
        }
        let feasible =
            if found.is_feasible() { "" } else { "no visited point keeps all bounds; this one is closest. " };
        let state = match (found.is_local_optimum(), found.is_clear()) {
            (_, false) if shared::interrupted() => "stopped before the search ended".to_owned(),
            (true, true) => format!("all neighbours are visited, and are worse at the level {}", args.level),
            (true, false) => {
                "all neighbours are visited, but not all are clearly worse: a larger --budget decides"
                    .to_owned()
            }
            (false, _) => {
                "the budget ended before all neighbours were visited: allow a larger --budget".to_owned()
            }
        };
        writeln!(
            stdout(),
            "{feasible}{state}. {} of {} at {} on {adapter}",
            shared::count(found.replications(best), "replication"),
            found.spent(),
            shared::count(found.visited(), "point"),
        )?;
        Ok(())
    };
    let quiet = args.json.on_stdout() || shared::on_stdout(args.csv.as_deref());
    shared::all([
        if quiet { Ok(()) } else { shown() },
        args.json.write(&object),
        args.csv.as_ref().map_or(Ok(()), csv),
    ])
}
