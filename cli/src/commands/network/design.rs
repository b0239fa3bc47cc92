//! A run of each point of a design.

use std::io::{Write as _, stdout};
use std::path::PathBuf;

use eventhorizon::OwnedBackend;
use eventhorizon::facility::{DesignResults, FacilityDesign, FacilityError, NetworkDescription, Study};
use eventhorizon::pdes::EngineOptions;
use eventhorizon::statistics::{Design, Report};
use serde_json::json;

use super::{Args, REPLICATIONS};
use crate::commands::run::plots;
use crate::shared::points::Way;
use crate::shared::{self, Outcome, usage};

/// The upper bound of replications of --best, by default.
const MOST_OF_BEST: u32 = 1024;

/// What only a single network has.
fn check(args: &Args) -> Outcome<()> {
    let [resume, checkpoint] = args.saves.files();
    let given = [
        ("--find-warm-up", args.find_warm_up),
        ("--batches", args.batches.is_some()),
        ("--quantiles", args.quantiles),
        ("--show", args.show.is_some()),
        ("--interval", args.interval.is_some()),
        ("--trace", args.trace.is_some()),
        ("--checkpoint", checkpoint.2.is_some()),
        ("--resume", resume.2.is_some()),
        ("--report", args.report.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(usage(format!(
            "{option} is for a single network: give each path one value, or leave the option out"
        ))),
    }
}

/// Compiles the network of each point.
pub(super) fn compile(
    args: &Args,
    description: &NetworkDescription,
    design: Design,
    [until, warm_up]: [f64; 2],
) -> Outcome<FacilityDesign> {
    let networks = shared::in_file(&args.file, description.networks())?;
    let compiled = networks.into_iter().enumerate().map(|(point, mut network)| {
        // The resolution of ticks depends on the times of the runs too.
        (network.until, network.warm_up) = (Some(until), Some(warm_up));
        let compiled = if args.allow_unstable { network.compile_unstable() } else { network.compile() };
        let at = |source| FacilityError::Point { point: design.describe(point), source: Box::new(source) };
        compiled.map_err(at)
    });
    let facilities = shared::in_file(&args.file, compiled.collect::<Result<Vec<_>, _>>())?;
    Ok(FacilityDesign::new(design, facilities))
}

pub(super) fn run(args: &Args, description: &NetworkDescription, design: Design) -> Outcome<()> {
    check(args)?;
    let written = shared::in_file(&args.file, description.network(&design, 0))?;
    let until = shared::end_of_runs(args.until, written.until)?;
    let warm_up = shared::warm_up(until, args.warm_up, written.warm_up);
    let points = compile(args, description, design, [until, warm_up])?;
    let study = Study::new(args.runs.replications(REPLICATIONS), until, warm_up)
        .seed(args.seed)
        .level(args.runs.level)
        .stopping(args.runs.stopping()?)
        .room(args.room);
    let way = args.best.way(args.runs.level, args.runs.replications(MOST_OF_BEST))?;
    let place = args.place.study()?;
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let number = points.design().len();
    let run = points
        .study(&study)
        .backend(place.backend())
        .options(EngineOptions::default().mapping(args.mapping))
        .watch(|runs: usize, events: u64| {
            bar.set_message(format!("{runs} replications of {number} points, {events} events"));
            shared::watch()
        });
    let results = match &way {
        None => run.run(),
        Some((measure, Way::Guaranteed(selection))) => run.select(selection, measure),
        Some((measure, Way::Budget(allocation))) => run.allocate(allocation, measure),
    };
    bar.finish_and_clear();
    let results = shared::in_file(&args.file, results)?;
    write(args, &study, &place, &written.name, &written.unit, &results)
}

/// Prints and writes the results in all requested forms.
fn write(
    args: &Args,
    study: &Study,
    place: &OwnedBackend,
    name: &str,
    unit: &str,
    results: &DesignResults,
) -> Outcome<()> {
    let mut report = results.report(args.runs.level)?;
    let is_shown = |column: &str| {
        let measure = column.split('(').next();
        args.only.is_empty() || args.only.iter().any(|only| Some(only.name()) == measure)
    };
    report.rows.retain(|row| is_shown(&row.name));
    let quiet = args.json.on_stdout() || shared::on_stdout(args.csv.as_deref());
    let best = (results.selected.as_ref(), results.allocated.as_ref());
    let mut object = json!({
        "model": name,
        "seed": args.seed,
        "engine": results.engine,
        "adapter": results.adapter,
        "mapping": results.mapping,
        "replications": report.rows.iter().map(|row| row.replications).max(),
        "unit": unit,
        "warnings": results.warnings,
        "until": study.until,
        "warm_up": study.warm_up,
        "events": results.events,
        "seconds": results.seconds,
        "fingerprint": format!("{:016x}", results.fingerprint),
        "level": args.runs.level,
        "reference": results.reference(),
        "stopped": results.decisions.iter().map(|decision| decision.name()).collect::<Vec<_>>(),
        "selected": args.best.json(best.0, best.1),
    });
    let serde_json::Value::Object(rows) = serde_json::to_value(&report)? else { unreachable!("a struct") };
    object.as_object_mut().expect("an object").extend(rows);
    let csv = |path: &PathBuf| {
        let mut csv = Vec::new();
        report.to_csv(&mut csv)?;
        shared::write(path, &csv)
    };
    let draw = |path: &PathBuf| {
        plots::responses(args.runs.level, path, &results.design, &results.observations, is_shown)
    };
    shared::all([
        if quiet {
            Ok(())
        } else {
            show(args, study, (name, unit), results, &report).and_then(|()| shared::print_choice(place))
        },
        args.json.write(&object),
        args.csv.as_ref().map_or(Ok(()), csv),
        args.plot.as_ref().map_or(Ok(()), draw),
    ])
}

fn show(
    args: &Args,
    study: &Study,
    (name, unit): (&str, &str),
    results: &DesignResults,
    report: &Report,
) -> Outcome<()> {
    let replications = report.rows.iter().map(|row| row.replications).max().unwrap_or(0);
    let (until, warm_up) = (study.until, study.warm_up);
    writeln!(
        stdout(),
        "{name}: {} of {} points until {until} with a warm-up until {warm_up} ({unit})",
        shared::count(replications, "replication"),
        results.design.len()
    )?;
    write!(stdout(), "{report}")?;
    for warning in &results.warnings {
        writeln!(stdout(), "warning: {warning}")?;
    }
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let rate = results.events as f64 / results.seconds;
    writeln!(
        stdout(),
        "{} ({}), mapping {}: {}, {:.3} s, {rate:.3e} events/s",
        results.adapter,
        results.engine,
        results.mapping,
        shared::count(results.events, "event"),
        results.seconds
    )?;
    for (point, &decision) in results.decisions.iter().enumerate() {
        writeln!(stdout(), "{}: {}", results.design.describe(point), shared::decided(decision))?;
    }
    if let Some(stopping) = study.stopping.as_ref().filter(|_| !results.decisions.is_empty()) {
        writeln!(stdout(), "{}", shared::bounds(&stopping.budget))?;
    }
    if let Some(best) = args.best.text(&results.design, results.selected.as_ref(), results.allocated.as_ref())
    {
        writeln!(stdout(), "{best}")?;
    }
    Ok(writeln!(stdout(), "fingerprint {:016x}", results.fingerprint)?)
}
