//! Runs a process model that a file describes, and prints every measure with its interval.
//!
//! ```text
//! eventhorizon process examples/processes/emergency.toml
//! eventhorizon process examples/processes/emergency.toml --set doctors=3,4,5 --csv result.csv
//! eventhorizon process examples/processes/emergency.toml --precision 0.01 --json result.json
//! eventhorizon process examples/processes/emergency.toml --set doctors=3,4,5 \
//!     --best doctor_wait --smallest --difference 1
//! eventhorizon process examples/processes/emergency.toml --set doctors=3,4,5 \
//!     --best doctor_wait --smallest --budget 1000
//! eventhorizon process examples/processes/emergency.toml --report emergency.html --profile 60
//! eventhorizon process examples/processes/emergency.toml --check
//! eventhorizon process examples/processes/emergency.toml --plot emergency --trace 1000
//! eventhorizon process examples/processes/emergency.toml --gantt emergency.svg --gantt-until 600
//! ```

use std::path::{Path, PathBuf};

use clap::Parser;
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{EngineOptions, Mapping};
use eventhorizon::process::{
    CompiledProcess, ProcessError, SavedStudy, Study, StudyResults, draw_timeline, write_changes,
};
use eventhorizon::statistics::Profile;
use eventhorizon::{Backend, OwnedBackend};
use serde_json::json;

use super::run::check::{self, CHECKED, Checked};
use super::run::plots;
use crate::shared::each;
use crate::shared::only::{self, Only};
use crate::shared::page::{Axes, Line, Page};
use crate::shared::points::{Best, Points, Way};
use crate::shared::profiles::Profiled;
use crate::shared::results::{self, Looks, Results, Source};
use crate::shared::{self, FileUse, Outcome};

#[derive(Parser)]
#[command(about = "Run a process model that a TOML or JSON file describes")]
#[command(mut_arg("replications", |replications| replications.help(REPLICATIONS_HELP)))]
#[command(mut_arg("best", |best| best.conflicts_with_all(["precision", "check", "plot", "checkpoint", "resume"])))]
pub struct Args {
    /// Read the description from this file: TOML, or JSON if its name ends in .json. `-` is
    /// standard input
    file: PathBuf,
    #[command(flatten)]
    points: Points,
    #[command(flatten)]
    best: Best,
    /// Set the seed of the random streams
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    runs: shared::Runs,
    /// Set the end of each replication, in the model's unit of time. Default: the end in the file
    #[arg(long, value_parser = shared::positive)]
    until: Option<f64>,
    /// Set the time at which statistics begin. Default: the warm-up in the file, or a tenth of the
    /// run
    #[arg(long, value_parser = shared::not_negative)]
    warm_up: Option<f64>,
    /// Set the largest number of entities at a time
    #[arg(long, default_value_t = 65_534)]
    room: u32,
    /// Accept replications that end with entities that wait for ever
    #[arg(long)]
    allow_deadlock: bool,
    /// Map replications to the device by grid, team, thread or auto. Changes the speed only
    #[arg(long, default_value_t = Mapping::Auto)]
    mapping: Mapping,
    #[command(flatten)]
    place: shared::Where,
    /// Repeat some of the replications in several ways, on the CPU and on the default adapter, also
    /// a software adapter, and compare their fingerprints. Without an adapter there is nothing to
    /// compare: exit code 1
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    json: shared::Json,
    #[command(flatten)]
    saves: shared::Saves,
    /// Write the table as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the measures of each replication to this file, or to standard output for `-`: as CSV,
    /// or as JSON or Parquet if its name ends in .json or .parquet
    #[arg(long, value_name = "FILE")]
    each: Option<PathBuf>,
    /// Draw the lengths of lines and the units in use over the first replication, the shares of
    /// observations up to the bounds of tallies, the distributions of measures, the convergence of
    /// their intervals, and their means against parameters with several values, as SVG files in
    /// this folder
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    /// Print quantiles of all tallies too, and how large variables with `level` are in 90, 95 and
    /// 99 % of the time
    #[arg(long)]
    quantiles: bool,
    /// Print and write these measures only: wait, or one by its name, such as 'queue(bed)',
    /// separated by commas
    #[arg(long, value_name = "MEASURES", value_parser = Only::parse)]
    only: Vec<Only>,
    #[command(flatten)]
    profile: Profiled,
    /// Write everything as one HTML page to this file: the tables, the first replication over time,
    /// pictures, and what the results come from
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Draw which entity holds which unit of each resource over the first replication as SVG, or
    /// write it as CSV if the name of the file ends in .csv
    #[arg(long, value_name = "FILE")]
    gantt: Option<PathBuf>,
    /// Begin --gantt at this time, in the model's unit
    #[arg(long, value_name = "TIME", requires = "gantt", default_value_t = 0.0, value_parser = shared::not_negative)]
    gantt_from: f64,
    /// End --gantt at this time. Default: the end of the run; of a picture, after 500 bars
    #[arg(long, value_name = "TIME", requires = "gantt", value_parser = shared::positive)]
    gantt_until: Option<f64>,
    /// Write what entities do in the first replication as CSV to --trace-to: this number of changes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    trace: Option<u32>,
    /// Write traces to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE", requires = "trace", default_value = "trace.csv")]
    trace_to: PathBuf,
}

/// The measures that a profile does not show by default.
const NOT_BY_TIME: [&str; 4] = ["count(", "cost(", "deviation(", "rate("];

/// The default number of replications, and the upper bound of --best.
const REPLICATIONS: u32 = 64;
const MOST_OF_BEST: u32 = 1024;
const REPLICATIONS_HELP: &str = "Number of replications of each combination of parameters. Default: 64. With --precision and --best: the \
    upper bound, instead of the default bound";

pub fn run(args: &Args) -> Outcome<()> {
    shared::in_checkpoint(args.saves.resume.as_deref(), simulate(args))
}

fn simulate(args: &Args) -> Outcome<()> {
    let [resume, checkpoint] = args.saves.files();
    shared::check_files(&[
        (FileUse::Reads, "the description", Some(&*args.file)),
        resume,
        checkpoint,
        args.json.file(),
        (FileUse::Writes, "--csv", args.csv.as_deref()),
        (FileUse::Writes, "--each", args.each.as_deref()),
        (FileUse::Writes, "--trace-to", args.trace.and(Some(&*args.trace_to))),
        (FileUse::Writes, "--gantt", args.gantt.as_deref()),
        args.profile.file(),
        (FileUse::WritesFile, "--report", args.report.as_deref()),
        (FileUse::Draws, "--plot", args.plot.as_deref()),
    ])?;
    each::check(args.each.as_deref())?;
    let mut model = args.points.process(&args.file)?;
    let until = shared::end_of_runs(args.until, model.until)?;
    args.profile.check(until)?;
    let warm_up = shared::warm_up(until, args.warm_up, model.warm_up);
    // The resolution of ticks depends on the times of the runs too.
    (model.until, model.warm_up) = (Some(until), Some(warm_up));
    model.quantiles |= args.quantiles;
    let compiled = model.compile().map_err(|error| error.in_file(&args.file))?;
    only::check(&args.only, &[compiled.measures(), compiled.quantiles()].concat())?;
    if args.profile.profile.is_some() && compiled.design().len() > 1 {
        return Err(shared::usage("--profile is for a single point: give each parameter one value"));
    }
    let study = Study::new(args.runs.replications(REPLICATIONS), until, warm_up)
        .seed(args.seed)
        .stopping(args.runs.stopping()?)
        .room(args.room)
        .allow_deadlock(args.allow_deadlock);
    let place = args.place.study()?;
    let saved = args.saves.resume.as_ref().map(SavedStudy::load).transpose()?;
    let results = results(args, &compiled, &study, &place, saved.as_ref())?;
    let checked = match args.check && !shared::interrupted() {
        true => check(args, &compiled, &study, &place),
        false => Vec::new(),
    };
    report(args, &compiled, &study, &place, &results, &checked, saved.as_ref())
}

/// Runs until the goal of the command line is met.
fn results(
    args: &Args,
    compiled: &CompiledProcess,
    study: &Study,
    place: &OwnedBackend,
    saved: Option<&SavedStudy>,
) -> Outcome<StudyResults> {
    let (points, known) = (compiled.design().len(), compiled.measures());
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let run = compiled
        .study(study)
        .backend(place.backend())
        .options(EngineOptions::default().mapping(args.mapping))
        .resume(saved)
        .save(args.saves.autosave())
        .watch(|runs: usize, events: u64| {
            let of = if points > 1 { format!(" of {points} points") } else { String::new() };
            bar.set_message(format!("{}{of}, {events} events", shared::count(runs, "replication")));
            shared::watch()
        });
    let found = match args.best.way(args.runs.level, args.runs.replications(MOST_OF_BEST))? {
        Some((measure, Way::Guaranteed(selection))) => run.select(&selection, only::column(measure, &known)),
        Some((measure, Way::Budget(allocation))) => run.allocate(&allocation, only::column(measure, &known)),
        None => run.run(),
    };
    bar.finish_and_clear();
    Ok(found.map_err(|error| match error {
        // A checkpoint is not the description.
        ProcessError::Simulation(_) => error,
        error => error.in_file(&args.file),
    })?)
}

/// Repeats some of the replications on the CPU, and on the device in several ways: on a software
/// adapter too, which the study itself leaves to the CPU.
fn check(args: &Args, compiled: &CompiledProcess, study: &Study, place: &OwnedBackend) -> Vec<Checked> {
    let few = study.replications(study.replications.min(CHECKED)).stopping(None);
    let opened = match place {
        OwnedBackend::Gpu(gpu) => Ok(gpu.clone()),
        _ => Gpu::new().map_err(|error| error.to_string()),
    };
    let run = |backend, mapping| {
        let options = EngineOptions::default().mapping(mapping);
        let found = compiled.study(&few).backend(backend).options(options).run();
        let found = found.map_err(|error| error.in_file(&args.file).to_string())?;
        Ok((found.fingerprint, found.observations))
    };
    let mut checked = vec![Checked::new("the CPU".to_owned(), run(Backend::Cpu, Mapping::Auto))];
    // The general engine returns no histograms.
    let mappings = match compiled.program().histograms.is_empty() {
        true => &[Mapping::Auto, Mapping::Thread, Mapping::Team, Mapping::Grid][..],
        false => &[Mapping::Auto],
    };
    for &mapping in mappings {
        if shared::interrupted() {
            break;
        }
        let found = opened.as_ref().map_err(String::clone);
        let found = found.and_then(|gpu| run(Backend::Gpu(gpu), mapping));
        checked.push(Checked::new(mapping.to_string(), found));
    }
    checked
}

/// Prints and writes the results in all requested forms.
fn report(
    args: &Args,
    compiled: &CompiledProcess,
    study: &Study,
    place: &OwnedBackend,
    found: &StudyResults,
    checked: &[Checked],
    saved: Option<&SavedStudy>,
) -> Outcome<()> {
    let mut report = found.report(args.runs.level)?;
    report.rows.retain(|row| only::shows(&args.only, &row.name));
    let (adapter, on_gpu) = (found.adapter.clone(), found.adapter.is_some());
    let adapter = adapter.unwrap_or_else(|| "the CPU".to_owned());
    let best = (found.selected.as_ref(), found.allocated.as_ref());
    let results = Results {
        source: Source {
            model: &compiled.model().name,
            seed: found.seed,
            engine: shared::engine(on_gpu),
            adapter: &adapter,
            mapping: &found.mapping,
            replications: found.replications as u64,
            unit: Some(&compiled.model().unit),
            ticks_per_unit: Some(compiled.resolution().ticks_per_unit()),
            times: Some([found.until, found.warm_up]),
            events: Some(found.events),
            seconds: found.seconds,
            fingerprint: found.fingerprint,
            choice: place.choice(),
        },
        report,
        design: &found.design,
        observations: &found.observations,
        decisions: &found.decisions,
        stopping: study.stopping.as_ref(),
        level: args.runs.level,
        warnings: found.warnings(),
        best: (args.best.text(&found.design, best.0, best.1), args.best.json(best.0, best.1)),
        reference: Some(found.reference()),
        looks: Looks::of_process(compiled),
    };
    let trace_to = args.trace.and(Some(&*args.trace_to));
    let quiet = [
        args.csv.as_deref(),
        args.each.as_deref(),
        args.json.file().2,
        trace_to,
        args.gantt.as_deref(),
        args.profile.file().2,
    ];
    let shown = || {
        results.show(&head(compiled, found), Some(&results.source.rate(saved.map(SavedStudy::events))))?;
        checked.iter().try_for_each(Checked::show)
    };
    let shown = if quiet.into_iter().any(shared::on_stdout) { Ok(()) } else { shown() };
    let more = json!({ "checked": checked.iter().map(Checked::json).collect::<Vec<_>>() });
    let trace = |most: u32| {
        let mut csv = Vec::new();
        let changes = compiled.trace(study, 0, most as usize);
        write_changes(&changes.map_err(|error| error.in_file(&args.file))?, &mut csv)?;
        shared::write(&args.trace_to, &csv)
    };
    // Outputs that can be written are written even if others fail.
    let written = shared::all([
        shown,
        results.json(more).and_then(|object| args.json.write(&object)),
        args.csv.as_ref().map_or(Ok(()), |path| results.csv(path)),
        args.each.as_ref().map_or(Ok(()), |path| {
            let shown = only::select(&found.observations, |name| only::shows(&args.only, name))?;
            each::write(path, &found.design, &shown)
        }),
        args.plot
            .as_ref()
            .map_or(Ok(()), |folder| draw(args, compiled, study, (found, &results.looks), folder)),
        args.trace.map_or(Ok(()), trace),
        args.gantt.as_ref().map_or(Ok(()), |path| gantt(args, compiled, study, path)),
        found.unsaved.as_deref().map_or(Ok(()), |error| Err(error.into())),
        if checked.is_empty() || shared::interrupted() { Ok(()) } else { check::verdict(checked) },
    ]);
    // It takes runs of its own, and comes last: it can be interrupted without a loss.
    let profile = args.profile.intervals().map(|intervals| {
        shared::profile_follows(found.replications as u64);
        // As many replications as the results have.
        let made = u32::try_from(found.replications).unwrap_or(u32::MAX);
        let study = study.replications(made).stopping(None);
        let is_wanted = |name: &str| match args.only.is_empty() {
            true => !NOT_BY_TIME.iter().any(|kind| name.starts_with(kind)),
            false => only::shows(&args.only, name),
        };
        compiled.profile(&study, 0, intervals, args.runs.level, is_wanted)
    });
    let (profile, made) = match profile.transpose() {
        Ok(profile) => (profile, Ok(())),
        Err(error) => (None, Err(error.in_file(&args.file).into())),
    };
    shared::all([
        written,
        made,
        profile.as_ref().map_or(Ok(()), |profile| args.profile.write(profile, args.plot.as_deref())),
        args.report.as_ref().map_or(Ok(()), |path| {
            let page = page(args, compiled, study, found, &results, profile.as_ref())?;
            shared::write(path, page.html().as_bytes())
        }),
    ])
}

/// The first line of the printed results.
fn head(compiled: &CompiledProcess, found: &StudyResults) -> String {
    let model = compiled.model();
    let unit = if model.unit.is_empty() { String::new() } else { format!("{}, ", model.unit) };
    let points = match found.design.len() {
        1 => String::new(),
        points => format!(" of {points} points"),
    };
    format!(
        "{}: {}{points} until {} with a warm-up until {} ({unit}{} ticks)",
        model.name,
        shared::count(found.replications, "replication"),
        found.until,
        found.warm_up,
        compiled.resolution().ticks_per_unit()
    )
}

/// The results as a page.
fn page(
    args: &Args,
    compiled: &CompiledProcess,
    study: &Study,
    found: &StudyResults,
    results: &Results<'_>,
    profile: Option<&Profile>,
) -> Outcome<Page> {
    let model = compiled.model();
    let course = compiled.timeline(study, 0, PARTS)?;
    let mut kinds: Vec<&str> = Vec::new();
    for (name, _) in &course.averages {
        let kind = name.split('(').next().unwrap_or_default();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let first = |page: &mut Page| -> Outcome<()> {
        if let Some(error) = &found.unsaved {
            page.warning(error);
        }
        if found.design.len() > 1 {
            return Ok(());
        }
        page.heading("Over time");
        let time = format!("time ({})", course.unit);
        let caption = format!("The first replication, averages of {PARTS} parts.");
        for kind in kinds {
            let axes = Axes { time: &time, value: kind, part: course.part, warm_up: study.warm_up };
            let is_of = |name: &str| name.split('(').next() == Some(kind);
            let lines = course.averages.iter().filter(|(name, _)| is_of(name));
            let lines: Vec<_> = lines.map(|(name, values)| Line { name, values, band: None }).collect();
            for lines in lines.chunks(8) {
                page.over_time(&axes, lines, &caption);
            }
        }
        if let Some(profile) = profile {
            let marked = args.profile.marked(study.warm_up);
            results::add_profile(page, profile, marked, &Looks::of_process(compiled));
        }
        for tally in found.tallies_with_bounds() {
            let svg = found.draw_shares(tally, args.runs.level)?;
            page.picture(&svg, &format!("Share of {tally} up to its bounds, with intervals."));
        }
        Ok(())
    };
    results.page(&model.about, &args.file, first)
}

/// The number of intervals of a run whose averages are drawn.
const PARTS: u32 = 400;

/// Draws the first replication of each point over time, and the measures.
fn draw(
    args: &Args,
    compiled: &CompiledProcess,
    study: &Study,
    (results, looks): (&StudyResults, &Looks),
    folder: &Path,
) -> Outcome<()> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let points = results.design.len();
    let course = |point: usize| {
        let number = if points > 1 { format!("_{point}") } else { String::new() };
        let svg = draw_timeline(&compiled.timeline(study, point, PARTS)?)?;
        shared::write(&folder.join(format!("course{number}.svg")), svg.as_bytes())
    };
    let shown = only::select(&results.observations, |name| only::shows(&args.only, name))?;
    let measures = plots::draw(args.runs.level, folder, &results.design, &shown, looks);
    let shares = results.tallies_with_bounds().map(|tally| {
        let svg = results.draw_shares(tally, args.runs.level)?;
        shared::write(&folder.join(format!("shares_{tally}.svg")), svg.as_bytes())
    });
    // Pictures that can be drawn are drawn even if others fail.
    shared::all((0..points.min(MOST_COURSES)).map(course).chain([measures]).chain(shares))
}

/// Most bars of a picture, unless its end is set.
const BARS: usize = 500;

/// Draws or writes who holds which units.
fn gantt(args: &Args, compiled: &CompiledProcess, study: &Study, path: &Path) -> Outcome<()> {
    let csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let most = if csv || args.gantt_until.is_some() { usize::MAX } else { BARS };
    let times = [args.gantt_from, args.gantt_until.unwrap_or(study.until)];
    let found = compiled.occupation(study, 0, times, most)?;
    let bytes = match csv {
        true => {
            let mut bytes = Vec::new();
            found.to_csv(&mut bytes)?;
            bytes
        }
        false => found.draw()?.into_bytes(),
    };
    shared::write(path, &bytes)
}

/// Most points whose first replication is drawn.
const MOST_COURSES: usize = 16;
