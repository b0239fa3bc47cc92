//! An experiment over a model of logical processes: which measure against an epidemic helps more?
//!
//! Shows: a factorial design, common random numbers, runs until the answer is precise enough, and
//! what can be made of the results: a table, CSV, JSON, plots, comparisons of points, and the best
//! of them. All of that is of the module `statistics`, and the same as for the models of
//! `replication` (`mrip-mm1`).
//!
//! ```text
//! eventhorizon experiment
//! eventhorizon experiment --precision 0.005 --csv epidemic.csv --plot .
//! eventhorizon experiment --best 0.01
//! eventhorizon experiment --backend cpu
//! ```

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use eventhorizon::models::Epidemic;
use eventhorizon::pdes::{CpuEngine, Engine, EngineOptions, Mapping, Until};
use eventhorizon::statistics::{
    Design, Experiment, Observations, Point, Report, Selected, Selection, compare, plot,
};
use eventhorizon::time::Resolution;
use serde_json::json;

use crate::shared::{self, FileUse, Outcome};

#[derive(Parser)]
#[command(
    about = "An epidemic with measures against it: a factorial design with common random numbers, until the precision is reached"
)]
#[command(mut_arg("precision", |precision| precision.default_value("0.02")))]
pub struct Args {
    /// People.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(25..=1 << 24))]
    people: u32,
    /// How runs are mapped to the device: grid, team, thread or auto. It changes the speed only.
    #[arg(long, default_value_t = Mapping::Auto)]
    mapping: Mapping,
    /// Names the random streams.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    runs: shared::Runs,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
    /// Writes the table as CSV to this file, or to standard output for `-`.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draws how the attack rate is distributed and how its interval shrinks, into SVG files for
    /// each point in this folder, and its means against the factors.
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Finds the point with the smallest attack rate, at the level of the intervals, where it is
    /// smaller by at least so much than elsewhere.
    #[arg(long, value_parser = shared::positive)]
    best: Option<f64>,
}

/// What is looked at, of what `Epidemic::measures` makes of each run: the share of the people who
/// are infected, and the day of the last infection.
const MEASURES: [&str; 2] = ["attack_rate", "last"];
/// Replications where nobody says how many.
const REPLICATIONS: u32 = 10_000;

/// The one that has to be precise.
const DECISIVE: &str = MEASURES[0];

pub fn run(args: &Args) -> Outcome<()> {
    let stopping = args.runs.stopping()?;
    // Before all the work for them is done.
    shared::check_files(&[
        args.json.file(),
        (FileUse::Writes, "--csv", args.csv.as_deref()),
        (FileUse::Draws, "--plot", args.plot.as_deref()),
    ])?;

    // The factors. People meet less often, or they know sooner that they are ill and stay at home;
    // each at two levels, and all combinations: four points, of which the last factor varies
    // fastest.
    let design = Design::default().cross("contacts", [0.6, 0.45])?.cross("recovery", [1.0, 1.4])?;

    // The model of a point. Points may differ in parameters, lookahead and capacities. What they
    // share is the number of LPs, the WGSL file, and the data, here the graph of who meets whom: so
    // it is drawn once.
    let people = args.people;
    let edges = Epidemic::random_edges(people, 2 * people, people / 10, 99);
    let days = Resolution::default();
    let build = move |point: &Point<'_>| {
        let (contacts, recovery) = (point.real("contacts", 0.6), point.real("recovery", 1.0));
        Epidemic::new(people, &edges, people / 25, 0.5, contacts, recovery, days)
    };
    // Results are those at the end of a run, so that has to be a time: when this graph's epidemics
    // are long over.
    let until = Until::time(days.ticks(1000.0)?);

    // Common random numbers: run r draws the same numbers at all points. Streams are keyed by
    // (seed, run, LP, number of the event at the LP). All that a person's illness leads to is drawn
    // in the person's first event, so each is ill for the same time in run r of all points, but for
    // the factor: what the points have in common cancels in their difference. A model whose events
    // come in another order at another point gains less from it.
    let experiment =
        Experiment::new(design, args.runs.replications(REPLICATIONS), args.seed).with_common_random_numbers();
    let design = &experiment.design;

    let again = build.clone();

    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = |runs: usize, events: u64| {
        bar.tick();
        bar.set_message(format!("{runs} runs, {events} events"));
        shared::watch()
    };
    let gpu = args.place.gpu()?;
    let begin = Instant::now();
    // Both engines give the same bits, so this choice shows in nothing but the time.
    let (observations, decisions, fingerprint) = match &gpu {
        Some(gpu) => {
            let options = EngineOptions::default().mapping(args.mapping);
            let mut engine = Engine::new(gpu, build, options)?;
            match &stopping {
                Some(stopping) => {
                    let run = engine
                        .experiment(&experiment, until)
                        .precision(stopping, &[DECISIVE])
                        .watch(watch)
                        .run()?;
                    (run.observations, run.decisions, run.fingerprint)
                }
                None => {
                    let results = engine.experiment(&experiment, until).watch(watch).run()?;
                    (results.observations, Vec::new(), results.fingerprint)
                }
            }
        }
        None => {
            let engine = CpuEngine::new(build, EngineOptions::default());
            match &stopping {
                Some(stopping) => {
                    let run = engine
                        .experiment(&experiment, until)
                        .precision(stopping, &[DECISIVE])
                        .watch(watch)
                        .run()?;
                    (run.observations, run.decisions, run.fingerprint)
                }
                None => {
                    let results = engine.experiment(&experiment, until).watch(watch).run()?;
                    (results.observations, Vec::new(), results.fingerprint)
                }
            }
        }
    };
    let seconds = begin.elapsed().as_secs_f64();
    bar.finish_and_clear();

    // Which point is the best? Not by the runs above, of which nobody asked whether they are enough
    // for that, but by as many as it takes: points that are clearly worse end early. (The streams
    // are the same, so the first runs of both are.)
    let best = match args.best {
        None => None,
        Some(indifference) => {
            let selection = Selection {
                replications: Some(args.runs.replications(REPLICATIONS).into()),
                ..Selection::new(indifference, args.runs.level).smallest()
            };
            let selected: Outcome<Selected> = match &gpu {
                Some(gpu) => {
                    let options = EngineOptions::default().mapping(args.mapping);
                    let mut engine = Engine::new(gpu, again, options)?;
                    selection.run(&experiment, DECISIVE, |experiment, runs| {
                        Ok(engine.experiment(experiment, until).range(runs).run()?.observations)
                    })
                }
                None => {
                    let engine = CpuEngine::new(again, EngineOptions::default());
                    selection.run(&experiment, DECISIVE, |experiment, runs| {
                        Ok(engine.experiment(experiment, until).range(runs).run()?.observations)
                    })
                }
            };
            Some(selected?)
        }
    };

    // There are columns for the sums of all result columns, too. The report is of those that are
    // asked about.
    let mut report = Report::default();
    for (point, observations) in observations.iter().enumerate() {
        report.add(design, point, &observations.select(&MEASURES)?, args.runs.level, |_| None)?;
    }
    let place = match &gpu {
        Some(gpu) => gpu.info().name.clone(),
        None => "processor, all cores".to_owned(),
    };
    let comparisons = comparisons(design, &observations, args.runs.level)?;
    let runs = observations[0].replications();
    let reported = || -> Outcome<()> {
        writeln!(
            stdout(),
            "{place}: {} of each of {} points, {seconds:.3} s",
            shared::count(runs, "run"),
            design.len()
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
        Ok(writeln!(stdout(), "fingerprint {fingerprint:016x}")?)
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
            let svg = plot::distribution(observations, DECISIVE, args.runs.level, None)?;
            save(format!("{DECISIVE}_{point}.svg"), svg)?;
            let svg = plot::convergence(observations, DECISIVE, args.runs.level, None)?;
            save(format!("{DECISIVE}_{point}_convergence.svg"), svg)?;
        }
        for factor in design.factors() {
            let svg = plot::response(design, &observations, factor, DECISIVE, args.runs.level)?;
            save(format!("{DECISIVE}_by_{factor}.svg"), svg)?;
        }
        Ok(())
    };
    let (csv, drawn) = (args.csv.as_ref().map_or(Ok(()), csv), args.plot.as_ref().map_or(Ok(()), draw));
    let mut object = json!({
        "seed": args.seed,
        "engine": shared::engine(gpu.is_some()),
        "adapter": place,
        "replications": runs,
        "seconds": seconds,
        "fingerprint": format!("{fingerprint:016x}"),
        "stopped": decisions.iter().map(|decision| decision.name()).collect::<Vec<_>>(),
        "best": best.as_ref().and_then(|selected| selected.best),
        "comparisons": comparisons.iter().map(|(_, numbers)| numbers).collect::<Vec<_>>(),
    });
    let serde_json::Value::Object(rows) = serde_json::to_value(&report)? else { unreachable!("a struct") };
    object.as_object_mut().expect("an object").extend(rows);
    shared::all([reported, csv, drawn, args.json.write(&object)])
}

/// Each measure against nothing, and against the other: differences of the decisive column, run by
/// run.
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
        // About what it would be if the points had streams of their own.
        let independent = half_width(first)?.hypot(half_width(second)?);
        let half_width = interval.half_width;
        let text = format!(
            "{DECISIVE} from {} to {}: {mean:+.4} ± {half_width:.4} (± {independent:.4} without common random numbers){}",
            design.describe(left),
            design.describe(right),
            if interval.contains(0.0) { ", which may be nothing" } else { "" },
        );
        Ok((text, json!({ "left": left, "right": right, "difference": mean, "half_width": half_width })))
    });
    compared.into_iter().collect()
}
