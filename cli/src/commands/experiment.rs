//! An experiment over a model of logical processes: which measure against an epidemic helps more?
//!
//! Shows: a factorial design, common random numbers, runs until the answer is precise enough, and
//! uses of the results: a table, CSV, JSON, plots, comparisons of points, and the best point. All
//! of that is in the module `statistics` and works for models of `replication` too (`mrip-mm1`).
//!
//! ```text
//! eventhorizon experiment
//! eventhorizon experiment --precision 0.005 --csv epidemic.csv --plot .
//! eventhorizon experiment --best 0.01
//! eventhorizon experiment --backend cpu
//! ```

use std::io::{Write as _, stdout};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Parser;
use eventhorizon::models::Epidemic;
use eventhorizon::pdes::{AnyEngine, EngineOptions, Mapping, Until};
use eventhorizon::statistics::{
    Design, Experiment, Observations, Point, Report, Selected, Selection, compare, plot,
};
use eventhorizon::time::Resolution;
use serde_json::json;

use crate::shared::{self, FileUse, Outcome};

#[derive(Parser)]
#[command(about = "Compare measures against an epidemic in a factorial experiment")]
#[command(mut_arg("precision", |precision| precision.default_value("0.02")))]
#[command(mut_arg("replications", |replications| replications.help(REPLICATIONS_HELP)))]
pub struct Args {
    /// Set the number of people
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(25..=1 << 24))]
    people: u32,
    /// Map runs to the device by grid, team, thread or auto. Changes the speed only
    #[arg(long, default_value_t = Mapping::Auto)]
    mapping: Mapping,
    /// Set the seed of the random streams
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    runs: shared::Runs,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
    /// Write the table as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw SVG files into this folder: for each point the distribution of the attack rate and the
    /// convergence of its interval, and the means by factor
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Find the point with the smallest attack rate, by the confidence level, if it is smaller than
    /// at other points by at least this difference
    #[arg(long, value_parser = shared::positive)]
    best: Option<f64>,
}

/// The measures of `Epidemic::measures` that are reported: the share of people who are infected,
/// and the day of the last infection.
const MEASURES: [&str; 2] = ["attack_rate", "last"];
/// The default upper bound of replications of --best.
const REPLICATIONS: u32 = 10_000;
const REPLICATIONS_HELP: &str =
    "Upper bound of replications of each point. Default: 4194304, and 10000 for --best";

/// The measure that --precision applies to.
const DECISIVE: &str = MEASURES[0];

pub fn run(args: &Args) -> Outcome<()> {
    let stopping = args.runs.stopping()?;
    // Outputs are checked before the runs.
    shared::check_files(&[
        args.json.file(),
        (FileUse::Writes, "--csv", args.csv.as_deref()),
        (FileUse::Draws, "--plot", args.plot.as_deref()),
    ])?;

    // The factors: people meet less often, or they notice sooner that they are ill and stay at
    // home. Each has two levels, and all combinations make four points, with the last factor
    // varying fastest.
    let design = Design::default().cross("contacts", [0.6, 0.45])?.cross("recovery", [1.0, 1.4])?;

    // The model of a point. Points may differ in parameters, lookahead and capacities. They share
    // the number of LPs, the WGSL file and the data: here the contact graph, which is therefore
    // built once.
    let people = args.people;
    let edges = Epidemic::random_edges(people, 2 * people, people / 10, 99);
    let days = Resolution::default();
    let build = move |point: &Point<'_>| {
        let (contacts, recovery) = (point.real("contacts", 0.6), point.real("recovery", 1.0));
        Epidemic::new(people, &edges, people / 25, 0.5, contacts, recovery, days)
    };
    // Results are those at the end of a run, so the end must be a time: long after this graph's
    // epidemics are over.
    let until = Until::time(days.ticks(1000.0)?);

    // Common random numbers: run r draws the same numbers at all points, since streams are keyed by
    // (seed, run, LP, number of the event at the LP). A person's first event draws all of the
    // illness, so it has the same length at all points except for the factor, and common noise
    // cancels in differences. Models whose events change their order gain less.
    let experiment =
        Experiment::new(design, args.runs.replications(REPLICATIONS), args.seed).with_common_random_numbers();
    let design = &experiment.design;

    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = &mut |runs: usize, events: u64| {
        bar.tick();
        bar.set_message(format!("{runs} runs, {events} events"));
        shared::watch()
    };
    let place = args.place.study()?;
    let stopwatch = shared::Stopwatch::start();
    // All engines give the same bits: this choice changes only the time.
    let options = EngineOptions::default().mapping(args.mapping);
    let mut engine = AnyEngine::new(place.backend(), build, options);
    let (observations, decisions, fingerprint) = match &stopping {
        Some(stopping) => {
            let run = engine.run_precisely(&experiment, (stopping, &[DECISIVE]), until, watch)?;
            (run.observations, run.decisions, run.fingerprint)
        }
        None => {
            let results = engine.run(&experiment, 0..experiment.replications, until, watch)?;
            (results.observations, Vec::new(), results.fingerprint)
        }
    };
    let [running, compiling] = stopwatch.parts().map(|part| part.as_secs_f64());
    let seconds = running + compiling;
    bar.finish_and_clear();

    // Which point is best? Not by the runs above, whose number does not suit that question, but by
    // as many as it needs: clearly worse points end early. The streams are the same, so the first
    // runs of both are equal.
    let best = match args.best {
        None => None,
        Some(indifference) => {
            let selection = Selection {
                replications: Some(args.runs.replications(REPLICATIONS).into()),
                ..Selection::new(indifference, args.runs.level).smallest()
            };
            let unwatched = &mut |_, _| ControlFlow::Continue(());
            let selected: Outcome<Selected> = selection.run(&experiment, DECISIVE, |experiment, runs| {
                Ok(engine.run(experiment, runs, until, unwatched)?.observations)
            });
            Some(selected?)
        }
    };

    // There are also columns for the sums of all result columns. The report has only the measures.
    let mut report = Report::default();
    for (point, observations) in observations.iter().enumerate() {
        report.add(design, point, &observations.select(&MEASURES)?, args.runs.level, |_| None)?;
    }
    let device = place.adapter().filter(|_| engine.used_device());
    let adapter = device.unwrap_or("CPU, all cores");
    let comparisons = comparisons(design, &observations, args.runs.level)?;
    let runs = observations[0].replications();
    let reported = || -> Outcome<()> {
        writeln!(
            stdout(),
            "{adapter}: {} of each of {} points, {seconds:.3} s{}",
            shared::count(runs, "run"),
            design.len(),
            shared::compilations(compiling)
        )?;
        writeln!(stdout(), "{report}")?;
        for (text, _) in &comparisons {
            writeln!(stdout(), "{text}")?;
        }
        for (point, decision) in decisions.iter().enumerate() {
            writeln!(stdout(), "{}: {}", design.describe(point), shared::decided(*decision))?;
        }
        if let Some(selected) = &best {
            writeln!(stdout(), "smallest {DECISIVE}: {}", shared::selected(design, selected))?;
        }
        writeln!(stdout(), "fingerprint {fingerprint:016x}")?;
        shared::print_choice(&place)
    };
    let quiet = args.json.on_stdout() || shared::on_stdout(args.csv.as_deref());
    let reported = if quiet { Ok(()) } else { reported() };
    let csv = |path: &PathBuf| {
        let mut csv = Vec::new();
        report.to_csv(&mut csv)?;
        shared::write(path, &csv)
    };
    let draw = |folder: &PathBuf| -> Outcome<()> {
        let save = |name: String, svg: String| shared::write(&folder.join(name), svg.as_bytes());
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for (point, observations) in observations.iter().enumerate() {
            let svg =
                plot::distribution(observations, DECISIVE, args.runs.level, None, plot::Look::default())?;
            save(format!("{DECISIVE}_{point}.svg"), svg)?;
            let svg =
                plot::convergence(observations, DECISIVE, args.runs.level, None, plot::Look::default())?;
            save(format!("{DECISIVE}_{point}_convergence.svg"), svg)?;
        }
        for factor in design.factors() {
            let svg = plot::response(
                design,
                &observations,
                factor,
                DECISIVE,
                args.runs.level,
                plot::Look::default(),
            )?;
            save(format!("{DECISIVE}_by_{factor}.svg"), svg)?;
            let svg = plot::boxes(design, &observations, factor, DECISIVE, plot::Look::default())?;
            save(format!("{DECISIVE}_by_{factor}_boxes.svg"), svg)?;
        }
        Ok(())
    };
    let (csv, drawn) = (args.csv.as_ref().map_or(Ok(()), csv), args.plot.as_ref().map_or(Ok(()), draw));
    let mut object = json!({
        "seed": args.seed,
        "engine": shared::engine(device.is_some()),
        "adapter": adapter,
        "replications": runs,
        "seconds": seconds,
        "compiling": compiling,
        "fingerprint": format!("{fingerprint:016x}"),
        "stopped": decisions.iter().map(|decision| decision.name()).collect::<Vec<_>>(),
        "best": best.as_ref().and_then(|selected| selected.best),
        "comparisons": comparisons.iter().map(|(_, numbers)| numbers).collect::<Vec<_>>(),
    });
    let serde_json::Value::Object(rows) = serde_json::to_value(&report)? else { unreachable!("a struct") };
    object.as_object_mut().expect("an object").extend(rows);
    shared::all([reported, csv, drawn, args.json.write(&object)])
}

/// Each measure compared with none, and the two with each other: differences of the decisive
/// column, run by run.
fn comparisons(
    design: &Design,
    observations: &[Observations],
    level: f64,
) -> Outcome<Vec<(String, serde_json::Value)>> {
    let compared = [(0, 1), (0, 2), (1, 2)].map(|(left, right)| -> Outcome<_> {
        let [first, second] = [left, right].map(|point| &observations[point]);
        let half_width = |of: &Observations| -> Outcome<f64> {
            Ok(of.summary(DECISIVE, level)?.interval.ok_or("too few runs for an interval")?.half_width)
        };
        let difference = compare(first, second, DECISIVE, level)?;
        let (mean, interval) = difference.mean.zip(difference.interval).ok_or("too few runs to compare")?;
        // About the half width if the points had independent streams.
        let independent = half_width(first)?.hypot(half_width(second)?);
        let half_width = interval.half_width;
        let text = format!(
            "{DECISIVE} from {} to {}: {mean:+.4} ± {half_width:.4} (± {independent:.4} without common random numbers){}",
            design.describe(left),
            design.describe(right),
            if interval.contains(0.0) { ", which is not significant" } else { "" },
        );
        Ok((text, json!({ "left": left, "right": right, "difference": mean, "half_width": half_width })))
    });
    compared.into_iter().collect()
}
