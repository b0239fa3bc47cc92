//! `eventhorizon run`: a model that is a WGSL file, and a TOML file of what else there is to say.
//!
//! `docs/program.md` says what may be written in both.

mod check;
mod file;
mod measure;
mod model;
mod parameter;
mod plots;
mod read;

use std::cell::RefCell;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use clap::Args as ClapArgs;
use eventhorizon::gpu::{FieldKind, Gpu, StructLayout, Word};
use eventhorizon::pdes::{self, EngineOptions, Payload, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::replication;
use eventhorizon::statistics::{
    Decision, Design, Experiment, Observations, Point, Report, Selected, Selection, Stopping,
};
use serde_json::json;

use crate::shared::{self, FileUse, Outcome, usage};
use check::{CHECKED, Checked};
use file::File;
use parameter::Points;

/// Runs a model: a WGSL file, and a TOML file of its parameters
#[derive(ClapArgs)]
pub struct Args {
    /// The TOML file, which names the WGSL file
    file: PathBuf,
    /// Gives a parameter another value, or several: NAME=VALUE,VALUE
    #[arg(long, value_name = "NAME=VALUES")]
    set: Vec<String>,
    /// Names the random streams; what the file says, or 1
    #[arg(long)]
    seed: Option<u64>,
    /// Replications: what the file says, or 1 for processes and 1024 for replications. With
    /// --best the most of them; with --precision the most in the place of the default bound,
    /// which is printed
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    replications: Option<u32>,
    /// Confidence level
    #[arg(long, default_value_t = 0.95, value_parser = shared::level)]
    level: f64,
    /// Run until the half width of each measure is at most this share of its mean
    #[arg(long, value_parser = shared::positive)]
    precision: Option<f64>,
    /// Find the combination of parameters with the largest mean of this measure: those that are
    /// clearly worse get no more replications. The answer is right with the probability --level,
    /// where the best is better than the others by --difference
    #[arg(long, value_name = "MEASURE", requires = "difference", conflicts_with_all = ["precision", "check", "plot"])]
    best: Option<String>,
    /// With --best: the smallest mean is the best
    #[arg(long, requires = "best")]
    smallest: bool,
    /// With --best: the smallest difference of means that matters
    #[arg(long, requires = "best", value_parser = shared::positive)]
    difference: Option<f64>,
    /// The end of each run of processes, in units of time; what the file says
    #[arg(long, value_parser = shared::not_negative)]
    until: Option<f64>,
    /// How runs are mapped to the device: grid, team, thread or auto for processes; thread, warp or
    /// auto for replications. It changes the speed only
    #[arg(long, default_value = "auto")]
    mapping: String,
    /// Tells the parameters and result columns that the WGSL declares, and runs nothing
    #[arg(long)]
    describe: bool,
    /// Makes some of the runs in several ways, and compares their fingerprints
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    json: shared::Json,
    /// Writes the table as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Writes what each process gives in the first run as CSV to this file, or to standard output
    /// for `-`
    #[arg(long, value_name = "CSV")]
    each: Option<PathBuf>,
    /// Draws how measures are distributed, how their intervals shrink, and their means against the
    /// parameters that have several values, as SVG files in this folder
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
}

/// Replications where nobody says how many.
const REPLICATIONS: u32 = 1024;

/// How many runs are made of each point.
enum ReplicationGoal {
    All,
    Precise(Stopping),
    Best(Selection, String),
}

/// What came of the runs.
struct RunReport {
    observations: Vec<Observations>,
    decisions: Vec<Decision>,
    selected: Option<Selected>,
    fingerprint: u64,
    adapter: String,
    mapping: String,
    seconds: f64,
    checked: Vec<Checked>,
    /// What each process gives in the first run, as CSV.
    each: Option<Outcome<Vec<u8>>>,
}

pub fn run(args: &Args) -> Outcome<()> {
    let file = File::read(&args.file, &args.set, args.until)?;
    if args.describe {
        return describe(&file);
    }
    let mut files = vec![(FileUse::Reads, "the description", Some(&*args.file))];
    files.extend(file.named.iter().map(|path| (FileUse::Reads, "a part of the description", Some(&**path))));
    files.extend([
        args.json.file(),
        (FileUse::Writes, "--csv", args.csv.as_deref()),
        (FileUse::Writes, "--each", args.each.as_deref()),
        (FileUse::Draws, "--plot", args.plot.as_deref()),
    ]);
    shared::check_files(&files)?;
    let replications = args.replications.or(file.replications);
    if let Some(0) = replications {
        return Err(usage(format!("{}: replications is 0: choose at least 1", args.file.display())));
    }
    let most = replications.unwrap_or(REPLICATIONS);
    let goal = match (args.precision, &args.best, args.difference) {
        (Some(relative), ..) if file.measures.names().is_empty() => {
            return Err(usage(format!(
                "--precision {relative} is of measures, and {} has none: say what is to be precise in [measures]",
                args.file.display()
            )));
        }
        (Some(relative), ..) => {
            ReplicationGoal::Precise(shared::precise(args.level, relative, args.replications)?)
        }
        (None, Some(measure), Some(difference)) => {
            let names = file.measures.names();
            if !names.contains(&measure.as_str()) {
                let path = args.file.display();
                let known = if names.is_empty() {
                    "has none".to_owned()
                } else {
                    format!("has {}", names.join(", "))
                };
                return Err(usage(format!(
                    "--best {measure} is no measure: the table [measures] of {path} {known}"
                )));
            }
            let selection = Selection {
                smallest: args.smallest,
                replications: Some(most.into()),
                ..Selection::new(difference, args.level)
            };
            ReplicationGoal::Best(selection, measure.clone())
        }
        _ => ReplicationGoal::All,
    };
    let (points, reported) = match &file.processes {
        None => replicate(args, &file, most, &goal)?,
        Some(processes) => {
            let replications =
                if matches!(goal, ReplicationGoal::All) { replications.unwrap_or(1) } else { most };
            match processes.payload.get_ref() {
                2 => simulate::<[u32; 2]>(args, &file, replications, &goal)?,
                6 => simulate::<[u32; 6]>(args, &file, replications, &goal)?,
                other => {
                    let what = format!("payload is {other}: events carry 2 or 6 words");
                    return Err(file.wrong(processes.payload.span(), &what));
                }
            }
        }
    };
    print_report(args, &file, &goal, &points.shown, reported)
}

/// Tells what the WGSL declares.
fn describe(file: &File) -> Outcome<()> {
    let (params, output) = match file.processes.as_ref().map(|processes| *processes.payload.get_ref()) {
        None => {
            let schema = replication::Schema::of(&file.replication_model(Vec::new()))?;
            (Some(schema.params), Some(schema.output))
        }
        Some(words) => {
            let schema = match words {
                6 => pdes::Schema::of(&file.process_model::<[u32; 6]>(Vec::new())?)?,
                _ => pdes::Schema::of(&file.process_model::<[u32; 2]>(Vec::new())?)?,
            };
            (schema.params, schema.output)
        }
    };
    // A probability is what a model is given: no result is one.
    for (title, layout, word) in [
        ("parameters", params, "a whole number of 32 bits, or a probability"),
        ("result columns", output, "a whole number of 32 bits"),
    ] {
        writeln!(stdout(), "{title}")?;
        for field in layout.iter().flat_map(StructLayout::columns) {
            let kind = match field.kind {
                FieldKind::U32 => word,
                FieldKind::I32 => "a whole number of 32 bits, with a sign",
                FieldKind::F32 => "a number (f32)",
                FieldKind::U64 => "a whole number of 64 bits, or a time",
                FieldKind::U128 => "a whole number of 128 bits",
                FieldKind::Other => "no number",
            };
            writeln!(stdout(), "  {:<24}{kind}", field.name)?;
        }
    }
    writeln!(stdout(), "measures")?;
    for name in file.measures.names() {
        writeln!(stdout(), "  {name}")?;
    }
    Ok(())
}

/// The experiment over a design.
fn experiment(args: &Args, file: &File, design: &Design, replications: u32) -> Experiment {
    Experiment::new(design.clone(), replications, args.seed.unwrap_or(file.seed))
}

/// Runs a model of logical processes.
fn simulate<P: Payload>(
    args: &Args,
    file: &File,
    replications: u32,
    goal: &ReplicationGoal,
) -> Outcome<(Points, RunReport)> {
    let placed = |error| file.placed(error);
    let schema = pdes::Schema::of(&file.process_model::<P>(Vec::new())?).map_err(placed)?;
    let Some(output) = &schema.output else {
        return Err(usage(format!(
            "{} tells no results: declare them in the WGSL, as `struct Output` and `fn output(lp: u32, state: ptr<function, State>) -> Output`",
            file.name
        )));
    };
    file.check_measures(output)?;
    let points = file.points(schema.params.as_ref(), &schema.uses)?;
    let until = Until::time(file.until(args.until)?);
    let models = (0..points.design.len()).map(|point| file.process_model::<P>(points.bytes(point)));
    // Engines take a model for each run of theirs. The points of a selection are fewer and fewer of
    // all, which it numbers anew.
    let models = Rc::new(models.collect::<Outcome<Vec<_>>>()?);
    let left = Rc::new(RefCell::new((0..models.len()).collect::<Vec<_>>()));
    let gpu = Gpu::new()?;
    let engine = |options| {
        let (models, left) = (models.clone(), left.clone());
        let model = move |point: &Point<'_>| Ok::<_, String>(models[left.borrow()[point.number()]].clone());
        pdes::Engine::new(&gpu, model, options)
    };
    let mapping = args.mapping.parse::<pdes::Mapping>().map_err(|error| usage(error.to_string()))?;
    let options = EngineOptions { mapping, ..EngineOptions::default() };
    let experiment = experiment(args, file, &points.design, replications);

    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = |runs: usize, events: u64| {
        bar.tick();
        bar.set_message(format!("{runs} runs, {events} events"));
        shared::watch()
    };
    let begun = Instant::now();
    let mut selected = None;
    let (observations, decisions, fingerprint, mapping) = match goal {
        ReplicationGoal::Best(selection, measure) => {
            let (mut engine, mut sum) = (engine(options), 0_u64);
            let found = selection.run(&experiment, measure, |some, runs| -> Outcome<_> {
                stopped()?;
                *left.borrow_mut() = those_of(&points.design, &some.design);
                let run = engine.run_range(some, runs, until).map_err(placed)?;
                sum = sum.wrapping_add(run.fingerprint);
                bar.tick();
                bar.set_message(format!("{} left", some.design.len()));
                Ok(run.observations)
            })?;
            let observations = found.observations.clone();
            selected = Some(found);
            (observations, Vec::new(), sum, mapping)
        }
        ReplicationGoal::Precise(stopping) => {
            let names = file.measures.names();
            let run = engine(options)
                .run_until_watched(&experiment, until, stopping, &names, watch)
                .map_err(placed)?;
            (run.observations, run.decisions, run.fingerprint, mapping)
        }
        ReplicationGoal::All => {
            let results = engine(options).run_watched(&experiment, until, watch).map_err(placed)?;
            (results.observations, Vec::new(), results.fingerprint, results.mapping)
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    bar.finish_and_clear();
    // Who stops a run early waits for nothing more. What goes wrong here is told after what the
    // runs gave.
    let first = || {
        let run = engine(EngineOptions { outputs: true, ..options })
            .run_range(&experiment, 0..1, until)
            .map_err(placed)?;
        let ran = run.runs[0][0]
            .as_ref()
            .map_err(|fault| format!("--each: the first run failed: {}", file::in_words(fault)))?;
        let outputs = ran.outputs.as_ref().ok_or("a run that was asked for outputs has none")?;
        let mut csv = Vec::new();
        outputs.to_csv(&mut csv)?;
        Ok(csv)
    };
    let each = (args.each.is_some() && !shared::interrupted()).then(first);
    let mut checked = Vec::new();
    if args.check {
        let ways = [
            (pdes::Mapping::Thread, None),
            (pdes::Mapping::Team, Some(QueueDesign::Heap)),
            (pdes::Mapping::Grid, Some(QueueDesign::Heap)),
            (pdes::Mapping::Grid, Some(QueueDesign::Heap4)),
        ];
        for (mapping, queue) in ways {
            if shared::interrupted() {
                break;
            }
            let way = queue.map_or_else(|| mapping.to_string(), |queue| format!("{mapping} with {queue}"));
            let options = EngineOptions { mapping, queue, ..EngineOptions::default() };
            let run = engine(options).run_range(&experiment, 0..replications.min(CHECKED), until);
            let came = run.map(|run| (run.fingerprint, run.observations)).map_err(file::in_words);
            checked.push(Checked::new(way, came));
        }
    }
    let (adapter, mapping) = (gpu.info().name.clone(), mapping.to_string());
    let reported = RunReport {
        observations,
        decisions,
        selected,
        fingerprint,
        adapter,
        mapping,
        seconds,
        checked,
        each,
    };
    Ok((points, reported))
}

/// Runs a model of replications.
fn replicate(
    args: &Args,
    file: &File,
    replications: u32,
    goal: &ReplicationGoal,
) -> Outcome<(Points, RunReport)> {
    use replication::Mapping;

    for (given, name) in [(args.until.is_some(), "--until"), (args.each.is_some(), "--each")] {
        if given {
            let file = args.file.display();
            return Err(usage(format!("{name} is for processes, and {file} has no [processes]")));
        }
    }
    let mapping = match args.mapping.as_str() {
        "auto" => Mapping::Auto,
        "thread" => Mapping::Thread,
        "warp" => Mapping::Warp,
        other => return Err(usage(format!("--mapping {other}: replications take thread, warp or auto"))),
    };
    let schema = replication::Schema::of(&file.replication_model(Vec::new()))?;
    file.check_measures(&schema.output)?;
    let params: &StructLayout = &schema.params;
    let points = file.points(Some(params), &schema.uses)?;
    let gpu = Gpu::new()?;
    let options = replication::Options::default().mapping(mapping);
    let engine =
        |options| replication::Engine::new(&gpu, file.replication_model(points.constants.clone()), options);
    let experiment = experiment(args, file, &points.design, replications);

    let runs = u64::from(replications) * points.design.len() as u64;
    let bar = shared::bar(runs, "{wide_bar} {pos} of {len} replications")?;
    let watch = |ended| {
        bar.set_position(ended);
        shared::watch()
    };
    let mut served = engine(options)?;
    let begun = Instant::now();
    let mut selected = None;
    let (observations, decisions, fingerprint) = match goal {
        ReplicationGoal::Best(selection, measure) => {
            let mut sum = 0_u64;
            let found = selection.run(&experiment, measure, |some, range| -> Outcome<_> {
                stopped()?;
                let made = u64::from(range.end - range.start) * some.design.len() as u64;
                let results = served.experiment(&Word::default(), some).range(range).run()?;
                sum = sum.wrapping_add(results.fingerprint);
                bar.inc(made);
                Ok(results.observations)
            })?;
            let observations = found.observations.clone();
            selected = Some(found);
            (observations, Vec::new(), sum)
        }
        ReplicationGoal::Precise(stopping) => {
            let names = file.measures.names();
            let run = served
                .experiment(&Word::default(), &experiment)
                .watch(watch)
                .precision(stopping, &names)
                .run()?;
            (run.observations, run.decisions, run.fingerprint)
        }
        ReplicationGoal::All => {
            let results = served.experiment(&Word::default(), &experiment).watch(watch).run()?;
            (results.observations, Vec::new(), results.fingerprint)
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let mut checked = Vec::new();
    if args.check {
        for (mapping, group_size) in [(Mapping::Thread, 32), (Mapping::Thread, 64), (Mapping::Warp, 64)] {
            if shared::interrupted() {
                break;
            }
            let mut engine = engine(options.mapping(mapping).group_size(group_size))?;
            let some = 0..replications.min(CHECKED);
            let run = engine.experiment(&Word::default(), &experiment).range(some).run();
            let way = format!("{mapping}, workgroups of {group_size}");
            let came = run.map(|run| (run.fingerprint, run.observations)).map_err(|error| error.to_string());
            checked.push(Checked::new(way, came));
        }
    }
    let mapping = served.chosen().map_or(mapping, |chosen| chosen.mapping).to_string();
    let adapter = gpu.info().name.clone();
    Ok((
        points,
        RunReport {
            observations,
            decisions,
            selected,
            fingerprint,
            adapter,
            mapping,
            seconds,
            checked,
            each: None,
        },
    ))
}

/// The numbers of some points among all, both in one order.
fn those_of(all: &Design, some: &Design) -> Vec<usize> {
    let mut all_points = 0..all.len();
    let place = |point| all_points.find(|&number| all.levels(number) == some.levels(point));
    (0..some.len()).map(place).map(|number| number.expect("points of the design")).collect()
}

/// An error once Ctrl-C was pressed.
fn stopped() -> Outcome<()> {
    if shared::interrupted() { Err("stopped before the best was found".into()) } else { Ok(()) }
}

/// Tells what came of it, in all the forms that were asked for.
fn print_report(
    args: &Args,
    file: &File,
    goal: &ReplicationGoal,
    design: &Design,
    reported: RunReport,
) -> Outcome<()> {
    let mut report = Report::default();
    for (point, observations) in reported.observations.iter().enumerate() {
        report.add(design, point, observations, args.level, |_| None)?;
    }
    let replications = reported.observations.iter().map(Observations::replications).max().unwrap_or(0);
    let adapter = &reported.adapter;
    let stopped: Vec<_> = reported.decisions.iter().map(|&decision| shared::decided(decision)).collect();
    let show = || -> Outcome<()> {
        writeln!(
            stdout(),
            "{} on {adapter}, mapping {}: {}, {:.3} s, {} ticks per unit",
            file.name,
            reported.mapping,
            shared::count(replications, "run"),
            reported.seconds,
            file.units.ticks_per_unit()
        )?;
        write!(stdout(), "{report}")?;
        for warning in &file.warnings {
            writeln!(stdout(), "warning: {warning}")?;
        }
        for (point, stopped) in stopped.iter().enumerate() {
            let place =
                if design.len() > 1 { format!("{}: ", design.describe(point)) } else { String::new() };
            writeln!(stdout(), "{place}{stopped}")?;
        }
        if let ReplicationGoal::Precise(stopping) = goal {
            writeln!(stdout(), "{}", shared::bounds(&stopping.budget))?;
        }
        if let (Some(found), Some(measure)) = (&reported.selected, &args.best) {
            let which = if args.smallest { "smallest" } else { "largest" };
            writeln!(stdout(), "{which} {measure}: {}", shared::selected(design, found))?;
        }
        writeln!(stdout(), "fingerprint {:016x}", reported.fingerprint)?;
        reported.checked.iter().try_for_each(Checked::show)
    };
    let quiet = [args.csv.as_deref(), args.each.as_deref(), args.json.file().2];
    let shown = if quiet.into_iter().any(shared::on_stdout) { Ok(()) } else { show() };
    let mut object = json!({
        "model": file.name,
        "seed": args.seed.unwrap_or(file.seed),
        "engine": "gpu",
        "adapter": adapter,
        "mapping": reported.mapping,
        "replications": replications,
        "ticks_per_unit": file.units.ticks_per_unit(),
        "warnings": file.warnings,
        "seconds": reported.seconds,
        "fingerprint": format!("{:016x}", reported.fingerprint),
        "level": args.level,
        "stopped": reported.decisions.iter().map(|decision| decision.name()).collect::<Vec<_>>(),
        "selected": reported.selected.as_ref().map(|found| json!({
            "measure": args.best,
            "best": found.best,
            "left": found.survivors,
            "ended_after": found.eliminated,
        })),
        "checked": reported.checked.iter().map(Checked::json).collect::<Vec<_>>(),
    });
    let serde_json::Value::Object(rows) = serde_json::to_value(&report)? else { unreachable!("a struct") };
    object.as_object_mut().expect("an object").extend(rows);
    let csv = |path: &PathBuf| {
        let mut csv = Vec::new();
        report.to_csv(&mut csv)?;
        shared::write(path, &csv)
    };
    let each = match (&args.each, reported.each) {
        (Some(path), Some(each)) => each.and_then(|each| shared::write(path, &each)),
        _ => Ok(()),
    };
    let csv = args.csv.as_ref().map_or(Ok(()), csv);
    let written = [shown, args.json.write(&object), csv, each];
    // Of runs that all failed there may be nothing to draw: why they failed says more than that.
    let drawn = match &args.plot {
        Some(folder) => plots::draw(args.level, folder, design, &reported.observations),
        None => Ok(()),
    };
    let verdict = verdict(args, design, &reported.observations, &reported.checked);
    shared::all(written.into_iter().chain([verdict.and(drawn)]))
}

/// Whether the runs are what was asked for.
fn verdict(args: &Args, design: &Design, observations: &[Observations], checked: &[Checked]) -> Outcome<()> {
    if args.check && !shared::interrupted() {
        check::verdict(checked)?;
    }
    for (point, observations) in observations.iter().enumerate() {
        let failures = observations.failures();
        if failures.len() == observations.replications() {
            let place =
                if design.len() > 1 { format!(" of {}", design.describe(point)) } else { String::new() };
            let cause = failures
                .map(|failure| format!(": {}", file::in_words(failure.cause)))
                .next()
                .unwrap_or_default();
            return Err(format!("all runs{place} failed{cause}").into());
        }
    }
    Ok(())
}
