//! Runs a model: a WGSL file, and a TOML file with its parameters and measures. `docs/program.md`
//! describes both files.
//!
//! ```text
//! eventhorizon run examples/models/epidemic.toml
//! eventhorizon run examples/models/epidemic.toml --precision 0.01 --json result.json
//! eventhorizon run examples/models/epidemic.toml --backend cpu
//! eventhorizon run examples/models/epidemic.toml --check
//! ```

pub(super) mod check;
pub(super) mod plots;

use std::io::{Write as _, stdout};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use eventhorizon::description::{DescribedModel, Description, Results as Found, Run, RunProgress};
use eventhorizon::gpu::{FieldKind, Gpu, StructLayout};
use eventhorizon::queue::QueueDesign;
use eventhorizon::statistics::{Design, Observations, Selection};
use eventhorizon::{Backend, OwnedBackend};
use serde_json::json;

use crate::shared::results::{Looks, Results, Source};
use crate::shared::{self, FileUse, Outcome, usage};
use check::{CHECKED, Checked};

/// Run a model: a WGSL file, and a TOML file with its parameters
#[derive(ClapArgs)]
pub struct Args {
    /// The TOML file, which names the WGSL file
    file: PathBuf,
    /// Set a parameter to another value, or to several: NAME=VALUE,VALUE
    #[arg(long, value_name = "NAME=VALUES")]
    set: Vec<String>,
    /// Set the seed of the random streams. Default: the seed in the file, or 1
    #[arg(long)]
    seed: Option<u64>,
    /// Number of replications. Default: the number in the file; else 1 with [processes], 1024
    /// without. With --best and --precision: the upper bound
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    replications: Option<u32>,
    /// Confidence level
    #[arg(long, default_value_t = 0.95, value_parser = shared::level)]
    level: f64,
    /// Run until the half width of each measure is at most this share of its mean
    #[arg(long, value_parser = shared::positive)]
    precision: Option<f64>,
    /// Find the combination of parameters with the largest mean of this measure. Combinations that
    /// are clearly worse get no more replications. The answer is right with probability --level if
    /// the best is better than the others by --difference
    #[arg(long, value_name = "MEASURE", requires = "difference", conflicts_with_all = ["precision", "check", "plot"])]
    best: Option<String>,
    /// With --best: look for the smallest mean
    #[arg(long, requires = "best")]
    smallest: bool,
    /// With --best: the smallest difference of means that matters
    #[arg(long, requires = "best", value_parser = shared::positive)]
    difference: Option<f64>,
    /// Set the end of each run of a model of logical processes (a file with `[processes]`), in
    /// units of time. Default: the end in the file
    #[arg(long, value_parser = shared::not_negative)]
    until: Option<f64>,
    /// Map runs to the device by grid, team, thread or auto for processes; by thread, warp or auto
    /// for replications. Changes the speed only
    #[arg(long, default_value = "auto")]
    mapping: String,
    #[command(flatten)]
    place: shared::Where,
    /// Print the parameters and result columns that the WGSL declares, and run nothing
    #[arg(long)]
    describe: bool,
    /// Repeat some of the runs in several ways, on the CPU and on the default adapter, also a
    /// software adapter, and compare their fingerprints. Without an adapter there is nothing to
    /// compare: exit code 1
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    json: shared::Json,
    /// Write the table as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the results of each process in the first run as CSV to this file, or to standard
    /// output for `-`
    #[arg(long, value_name = "CSV")]
    each: Option<PathBuf>,
    /// Draw the distributions of measures, the convergence of their intervals, and their means
    /// against parameters with several values, as SVG files in this folder
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
}

/// The upper bound of replications of --best, by default.
const REPLICATIONS: u32 = 1024;

pub fn run(args: &Args) -> Outcome<()> {
    let mut description = Description::read(&args.file)?;
    for change in &args.set {
        description.set(change)?;
    }
    if let Some(until) = args.until {
        description.until(until)?;
    }
    let mut files = vec![(FileUse::Reads, "the description", Some(&*args.file))];
    let named = description.files().to_vec();
    files.extend(named.iter().map(|path| (FileUse::Reads, "a part of the description", Some(&**path))));
    files.extend([
        args.json.file(),
        (FileUse::Writes, "--csv", args.csv.as_deref()),
        (FileUse::Writes, "--each", args.each.as_deref()),
        (FileUse::Draws, "--plot", args.plot.as_deref()),
    ]);
    if !args.describe {
        shared::check_files(&files)?;
    }
    let model = description.compile()?;
    if args.describe {
        return describe(&model);
    }
    if args.each.is_some() && !model.has_processes() {
        return Err(usage(format!(
            "--each is for processes, and {} has no [processes]",
            args.file.display()
        )));
    }
    model.design()?; // what is wrong with it comes before the device
    let place = args.place.study()?;
    let run = || run_on(args, &model, place.backend());
    let results = results(args, &model, run())?;
    // A run that was stopped early runs nothing more. Errors here are reported after the results.
    let first = || {
        let mut csv = Vec::new();
        run().outputs()?.to_csv(&mut csv)?;
        Ok(csv)
    };
    let each = (args.each.is_some() && !shared::interrupted()).then(first);
    let checked = if args.check { check(args, &model, &place)? } else { Vec::new() };
    print_report(args, &model, &place, &results, &checked, each)
}

/// A run as the command line describes it.
fn run_on<'m>(args: &Args, model: &'m DescribedModel, backend: Backend<'m>) -> Run<'m> {
    let run = model.on(backend).seed(args.seed.unwrap_or(model.seed())).mapping(&args.mapping);
    match args.replications {
        Some(replications) => run.replications(replications),
        None => run,
    }
}

/// Runs until the goal of the command line is met.
fn results(args: &Args, model: &DescribedModel, run: Run<'_>) -> Outcome<Found> {
    let run = match (args.precision, &args.best, args.difference) {
        (Some(relative), ..) => run.precision(shared::precise(args.level, relative, args.replications)?),
        (None, Some(measure), Some(difference)) => {
            let most = args.replications.or(model.replications()).unwrap_or(REPLICATIONS);
            let selection = Selection {
                smallest: args.smallest,
                replications: Some(most.into()),
                ..Selection::new(difference, args.level)
            };
            run.best(selection, measure)
        }
        _ => run,
    };
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let results = run.watch(|progress: &RunProgress| {
        bar.tick();
        bar.set_message(match progress.events {
            0 => format!("{} runs of {}", progress.runs, shared::count(progress.points, "point")),
            events => format!("{} runs, {events} events", progress.runs),
        });
        shared::watch()
    });
    let results = results.run();
    bar.finish_and_clear();
    Ok(results?)
}

/// Repeats some of the runs on the CPU, and on the device in several ways: on a software adapter
/// too, which the runs themselves leave to the CPU.
fn check(args: &Args, model: &DescribedModel, place: &OwnedBackend) -> Outcome<Vec<Checked>> {
    let opened = match place {
        OwnedBackend::Gpu(gpu) => Ok(gpu.clone()),
        _ => Gpu::new().map_err(|error| error.to_string()),
    };
    let few = |backend| {
        let default = if model.has_processes() { 1 } else { CHECKED };
        let replications = args.replications.or(model.replications()).unwrap_or(default);
        run_on(args, model, backend).replications(replications.min(CHECKED))
    };
    let mut ways = vec![("the CPU".to_owned(), Ok(few(Backend::Cpu).mapping("auto")))];
    let on_device = |way: String, run: &dyn Fn(Run<'_>) -> Run<'_>| {
        let run = opened.as_ref().map(|gpu| run(few(Backend::Gpu(gpu))));
        (way, run.map_err(String::clone))
    };
    if model.has_processes() {
        for (mapping, queue) in [
            ("thread", None),
            ("team", Some(QueueDesign::Heap)),
            ("grid", Some(QueueDesign::Heap)),
            ("grid", Some(QueueDesign::Heap4)),
        ] {
            ways.push(match queue {
                Some(queue) => {
                    on_device(format!("{mapping} with {queue}"), &|run| run.mapping(mapping).queue(queue))
                }
                None => on_device(mapping.to_owned(), &|run| run.mapping(mapping)),
            });
        }
    } else {
        for (mapping, size) in [("thread", 32), ("thread", 64), ("warp", 64)] {
            let way = format!("{mapping}, workgroups of {size}");
            ways.push(on_device(way, &|run| run.mapping(mapping).group_size(size)));
        }
    }
    let mut checked = Vec::new();
    for (way, run) in ways {
        if shared::interrupted() {
            break;
        }
        let found = run.and_then(|run| run.run().map_err(|error| model.in_words_of_file(error)));
        let found = found.map(|results| (results.fingerprint, results.observations));
        checked.push(Checked::new(way, found));
    }
    Ok(checked)
}

/// Prints and writes the results in all requested forms.
fn print_report(
    args: &Args,
    model: &DescribedModel,
    place: &OwnedBackend,
    found: &Found,
    checked: &[Checked],
    each: Option<Outcome<Vec<u8>>>,
) -> Outcome<()> {
    let device = place.adapter().filter(|_| found.mapping != "cores");
    let adapter = device.unwrap_or("the CPU");
    let replications = found.observations.iter().map(Observations::replications).max().unwrap_or(0);
    let stopping = args.precision.map(|relative| shared::precise(args.level, relative, args.replications));
    let stopping = stopping.transpose()?;
    let which = if args.smallest { "smallest" } else { "largest" };
    let best = found.selected.as_ref().zip(args.best.as_ref());
    let best =
        best.map(|(best, measure)| format!("{which} {measure}: {}", shared::selected(&found.design, best)));
    let selected = found.selected.as_ref().map(|found| {
        json!({
            "measure": args.best,
            "best": found.best,
            "left": found.survivors,
            "ended_after": found.eliminated,
        })
    });
    let results = Results {
        source: Source {
            model: model.name(),
            seed: args.seed.unwrap_or(model.seed()),
            engine: shared::engine(device.is_some()),
            adapter,
            mapping: &found.mapping,
            replications: replications as u64,
            unit: None,
            ticks_per_unit: Some(model.resolution().ticks_per_unit()),
            times: None,
            events: None,
            seconds: found.seconds,
            fingerprint: found.fingerprint,
            choice: place.choice(),
        },
        report: found.report(args.level)?,
        design: &found.design,
        observations: &found.observations,
        decisions: &found.decisions,
        stopping: stopping.as_ref(),
        level: args.level,
        warnings: model.warnings().iter().chain(&found.missing).cloned().collect(),
        best: (best, json!(selected)),
        reference: None,
        looks: Looks::default(),
    };
    let (_, compiling) = shared::without_compilations(found.seconds);
    let head = format!(
        "{} on {adapter}, mapping {}: {}, {:.3} s{compiling}, {} ticks per unit",
        model.name(),
        found.mapping,
        shared::count(replications, "run"),
        found.seconds,
        model.resolution().ticks_per_unit()
    );
    let show = || {
        results.show(&head, None)?;
        checked.iter().try_for_each(Checked::show)
    };
    let quiet = [args.csv.as_deref(), args.each.as_deref(), args.json.file().2];
    let shown = if quiet.into_iter().any(shared::on_stdout) { Ok(()) } else { show() };
    let more = json!({ "checked": checked.iter().map(Checked::json).collect::<Vec<_>>() });
    let each = match (&args.each, each) {
        (Some(path), Some(each)) => each.and_then(|each| shared::write(path, &each)),
        _ => Ok(()),
    };
    let object = results.json(more).and_then(|object| args.json.write(&object));
    let csv = args.csv.as_ref().map_or(Ok(()), |path| results.csv(path));
    // Of runs that all failed there may be nothing to draw: why they failed says more than that.
    let drawn = match &args.plot {
        Some(folder) => plots::draw(args.level, folder, &found.design, &found.observations, &results.looks),
        None => Ok(()),
    };
    let verdict = verdict(args, model, found, checked);
    shared::all([shown, object, csv, each, verdict.and(drawn)])
}

/// An error if checks differ, or if all runs of a point failed.
fn verdict(args: &Args, model: &DescribedModel, results: &Found, checked: &[Checked]) -> Outcome<()> {
    if args.check && !shared::interrupted() {
        check::verdict(checked)?;
    }
    let design: &Design = &results.design;
    for (point, observations) in results.observations.iter().enumerate() {
        let mut failures = observations.failures();
        if failures.len() == observations.replications() {
            let place =
                if design.len() > 1 { format!(" of {}", design.describe(point)) } else { String::new() };
            let cause = failures
                .next()
                .map(|failure| format!(": {}", model.in_words_of_file(failure.cause)))
                .unwrap_or_default();
            return Err(format!("all runs{place} failed{cause}").into());
        }
    }
    Ok(())
}

/// Prints what the WGSL declares.
pub(in crate::commands) fn describe(model: &DescribedModel) -> Outcome<()> {
    // Probabilities are parameters only.
    for (title, layout, word) in [
        ("parameters", model.params(), "a whole number of 32 bits, or a probability"),
        ("result columns", model.output(), "a whole number of 32 bits"),
    ] {
        writeln!(stdout(), "{title}")?;
        for field in layout.into_iter().flat_map(StructLayout::columns) {
            let kind = match field.kind {
                FieldKind::U32 => word,
                FieldKind::I32 => "a whole number of 32 bits, with a sign",
                FieldKind::F32 => "a number (f32)",
                FieldKind::U64 => "a whole number of 64 bits, or a time",
                FieldKind::U128 => "a whole number of 128 bits",
                FieldKind::Other => "not a number",
            };
            writeln!(stdout(), "  {:<24}{kind}", field.name)?;
        }
    }
    writeln!(stdout(), "measures")?;
    for name in model.measures() {
        writeln!(stdout(), "  {name}")?;
    }
    Ok(())
}
