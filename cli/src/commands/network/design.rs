//! A run of each point of a design.

use std::path::PathBuf;

use eventhorizon::OwnedBackend;
use eventhorizon::facility::{
    DesignResults, FacilityDesign, FacilityError, Network, NetworkDescription, Share, Study,
};
use eventhorizon::optimise::Columns;
use eventhorizon::pdes::EngineOptions;
use eventhorizon::process::NetworkForm;
use eventhorizon::statistics::{Design, Observations};
use serde_json::json;

use super::{Args, REPLICATIONS, ROOM};
use crate::commands::run::plots;
use crate::shared::each;
use crate::shared::only;
use crate::shared::points::Way;
use crate::shared::results::{Looks, Results, Source};
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
        ("--profile", args.profile.profile.is_some()),
        ("--sca", args.sca.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(usage(format!(
            "{option} is for a single network without columns of its own: give each path one value, or leave the option out"
        ))),
    }
}

/// Compiles the network of each point.
pub(super) fn compile(
    args: &Args,
    description: &NetworkDescription,
    design: Design,
    shares: &[Share],
    [until, warm_up]: [f64; 2],
) -> Outcome<FacilityDesign<NetworkForm>> {
    let mut networks = shared::in_file(&args.file, description.networks())?;
    for network in &mut networks {
        // The resolution of ticks depends on the times of the runs too.
        (network.until, network.warm_up) = (Some(until), Some(warm_up));
    }
    let forms = NetworkForm::of_points(&networks, shares, args.allow_unstable);
    let forms = forms.map_err(|(point, source)| FacilityError::Point {
        point: design.describe(point),
        source: Box::new(source),
    });
    Ok(FacilityDesign::new(design, shared::in_file(&args.file, forms)?))
}

pub(super) fn run(
    args: &Args,
    description: &NetworkDescription,
    design: Design,
    mut columns: Columns,
) -> Outcome<()> {
    check(args)?;
    for share in &args.share {
        if !columns.shares.contains(share) {
            columns.shares.push(share.clone());
        }
    }
    let written = shared::in_file(&args.file, description.network(&design, 0))?;
    let until = shared::end_of_runs(args.until, written.until)?;
    let warm_up = shared::warm_up(until, args.warm_up, written.warm_up);
    let points = compile(args, description, design, &columns.shares, [until, warm_up])?;
    let is_process = |form: &NetworkForm| matches!(form, NetworkForm::Process(_));
    if args.room.is_some() && points.facilities().iter().any(is_process) {
        return Err(usage("--room is not there for points that run as process models: leave it out"));
    }
    let number_of = |point: usize, path: &str| -> Option<f64> {
        let level = points.design().point(point).level(path);
        Some(level.or_else(|| description.changed_value(path))?.as_f64()).filter(|number| number.is_finite())
    };
    let mut known = points.facilities()[0].measures();
    known.extend(columns.shares.iter().map(Share::to_string));
    columns.check(&known, &|path| number_of(0, path))?;
    check_constants(&columns, points.design(), &number_of)?;
    known.extend(columns.all.iter().map(|(name, _)| name.clone()));
    only::check(&args.only, &known)?;
    let derive = |point: usize, made: &mut Observations| {
        let mut all = columns.all.iter();
        all.try_for_each(|(name, formula)| formula.add_to(made, name, &|path| number_of(point, path)))
    };
    let study = Study::new(args.runs.replications(REPLICATIONS), until, warm_up)
        .seed(args.seed)
        .level(args.runs.level)
        .stopping(args.runs.stopping()?)
        .room(args.room.unwrap_or(ROOM));
    let way = args.best.way(args.runs.level, args.runs.replications(MOST_OF_BEST))?;
    let place = args.place.study()?;
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let number = points.design().len();
    let run = points
        .study(&study)
        .shares(&columns.shares)
        .derive(&derive)
        .backend(place.backend())
        .options(EngineOptions::default().mapping(args.mapping))
        .watch(|runs: usize, events: u64| {
            bar.set_message(format!("{runs} replications of {number} points, {events} events"));
            shared::watch()
        });
    let results = match &way {
        None => run.run(),
        Some((measure, Way::Guaranteed(selection))) => run.select(selection, only::column(measure, &known)),
        Some((measure, Way::Budget(allocation))) => run.allocate(allocation, only::column(measure, &known)),
    };
    bar.finish_and_clear();
    let results = shared::in_file(&args.file, results)?;
    write(args, &study, &place, &written, &points, &results)
}

/// Refuses formulas of numbers only that have no value.
fn check_constants(
    columns: &Columns,
    design: &Design,
    number_of: &dyn Fn(usize, &str) -> Option<f64>,
) -> Outcome<()> {
    for point in 0..design.len() {
        for (name, formula) in &columns.all {
            let is_constant = formula.names().iter().all(|name| number_of(point, name).is_some());
            if !is_constant {
                continue;
            }
            let value = formula.value(&|name| number_of(point, name).unwrap_or(f64::NAN));
            if !value.is_finite() {
                return Err(usage(format!(
                    "column `{name}`{} is {value}: write a formula with a finite value, \
                     and do not divide by 0",
                    place(design, point)
                )));
            }
        }
    }
    Ok(())
}

/// A point in an error.
fn place(design: &Design, point: usize) -> String {
    if design.len() > 1 { format!(" of {}", design.describe(point)) } else { String::new() }
}

/// An error if all replications of a point failed.
fn verdict(results: &DesignResults) -> Outcome<()> {
    for (point, made) in results.observations.iter().enumerate() {
        let mut failures = made.failures();
        if made.replications() > 0 && failures.len() == made.replications() {
            let place = place(&results.design, point);
            let cause = failures.next().map_or_else(String::new, |failure| format!(": {}", failure.cause));
            return Err(format!("all replications{place} failed{cause}").into());
        }
    }
    Ok(())
}

/// Prints and writes the results in all requested forms.
fn write(
    args: &Args,
    study: &Study,
    place: &OwnedBackend,
    network: &Network,
    points: &FacilityDesign<NetworkForm>,
    design: &DesignResults,
) -> Outcome<()> {
    let mut report = design.report(args.runs.level)?;
    let is_shown = |column: &str| args.shows(column);
    let shown = only::select(&design.observations, is_shown)?;
    // One network with columns of its own.
    let single = points.facilities().first().filter(|_| design.design.factors().is_empty());
    report.rows.retain(|row| is_shown(&row.name));
    let quiet = args.on_stdout();
    let columns: Vec<String> =
        design.observations.iter().flat_map(Observations::shown).map(|column| column.name.clone()).collect();
    let best = (design.selected.as_ref(), design.allocated.as_ref());
    let results = Results {
        source: Source {
            model: &network.name,
            seed: args.seed,
            engine: design.engine,
            adapter: &design.adapter,
            mapping: &design.mapping,
            replications: report.rows.iter().map(|row| row.replications).max().unwrap_or(0),
            unit: Some(&network.unit),
            ticks_per_unit: None,
            times: Some([study.until, study.warm_up]),
            events: Some(design.events),
            seconds: design.seconds,
            fingerprint: design.fingerprint,
            choice: place.choice(),
        },
        report,
        design: &design.design,
        observations: &design.observations,
        decisions: &design.decisions,
        stopping: study.stopping.as_ref().filter(|_| !design.decisions.is_empty()),
        level: args.runs.level,
        warnings: design.warnings.clone(),
        best: (args.best.text(&design.design, best.0, best.1), args.best.json(best.0, best.1)),
        reference: Some(design.reference()),
        looks: Looks::of_network(network, &columns),
    };
    let draw = |path: &PathBuf| match single {
        None => {
            let (level, looks) = (args.runs.level, &results.looks);
            plots::responses(level, path, &design.design, &design.observations, looks, is_shown)
        }
        Some(form) => shared::all([
            super::draw(path, form, study, None),
            plots::draw(args.runs.level, path, &design.design, &shown, &results.looks),
        ]),
    };
    let page = |path: &PathBuf| {
        let page = results.page(&network.about, &args.file, |page| match single {
            None => Ok(()),
            Some(form) => {
                super::add_network(page, form, None);
                super::add_course(page, form, study)
            }
        })?;
        shared::write(path, page.html().as_bytes())
    };
    let head = || {
        format!(
            "{}: {} of {} until {} with a warm-up until {} ({})",
            network.name,
            shared::count(results.source.replications, "replication"),
            shared::count(design.design.len() as u64, "point"),
            study.until,
            study.warm_up,
            network.unit
        )
    };
    shared::all([
        if quiet { Ok(()) } else { results.show(&head(), Some(&results.source.rate(None))) },
        results.json(json!({})).and_then(|object| args.json.write(&object)),
        args.csv.as_ref().map_or(Ok(()), |path| results.csv(path)),
        args.each.as_ref().map_or(Ok(()), |path| each::write(path, &design.design, &shown)),
        args.plot.as_ref().map_or(Ok(()), draw),
        args.report.as_ref().map_or(Ok(()), page),
        verdict(design),
    ])
}
