//! Runs a queueing network that a file describes, and prints every measure with its interval and
//! the value of theory.
//!
//! ```text
//! eventhorizon network examples/networks/mm1.toml
//! eventhorizon network examples/networks/clinic.toml --precision 0.01 --csv result.csv
//! eventhorizon network examples/networks/clinic.toml --report clinic.html \
//!     --profile 60 --period 1440
//! eventhorizon network examples/networks/clinic.toml --share 'wait(doctor, urgent) <= 5'
//! eventhorizon network examples/networks/jackson.toml --backend cpu --json result.json
//! eventhorizon network examples/networks/jackson.toml --precision 0.0001 \
//!     --replications 10000000 --checkpoint jackson.study --every 60    # Ctrl-C, and then
//! eventhorizon network examples/networks/jackson.toml --precision 0.0001 \
//!     --replications 10000000 --resume jackson.study
//! eventhorizon network examples/networks/order.toml --plot order --trace 100 --trace-to order.csv
//! eventhorizon network examples/networks/call_centre.toml --set station.agents.servers=8,10,12 \
//!     --only wait --plot wait.svg
//! eventhorizon network model.jsimg                                # a model of JMT
//! ```
//!
//! `examples/networks/` has a file for each feature of networks. `docs/guide-networks.md` describes
//! the format.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};

use clap::Parser;
use eventhorizon::facility::{
    CompiledNetwork, Facility, FacilityError, FelNetwork, FelReference, FelSimulation, Follow, Report,
    SavedStudy, Share, Study, StudyAutosave, Visit, plot, write_visits,
};
use eventhorizon::optimise::{Columns, Expression, column};
use eventhorizon::pdes::{EngineOptions, Mapping, Progress};
use eventhorizon::process::NetworkForm;
use eventhorizon::statistics::{Column, Design, Observations, Pairing, Profile, Stopping, Values};
use eventhorizon::time::Ticks;
use eventhorizon::{OneRun, OwnedBackend};

use super::run::plots;
use crate::formats::scalars;
use crate::shared::each;
use crate::shared::only::{self, Only};
use crate::shared::page::{Axes, Line, Page};
use crate::shared::points::{Best, Points};
use crate::shared::profiles::Profiled;
use crate::shared::results::{self, Looks, Source};
use crate::shared::{self, FileUse, Outcome};

mod design;
mod translated;

#[derive(Parser)]
#[command(about = "Run a queueing network that a TOML or JSON file describes")]
#[command(mut_arg("replications", |replications| replications.help(REPLICATIONS_HELP)))]
#[command(mut_arg("checkpoint", |checkpoint| checkpoint.conflicts_with("interval")))]
#[command(mut_arg("resume", |resume| resume.conflicts_with("interval")))]
#[command(mut_arg("profile", |profile| profile.conflicts_with("interval")))]
#[command(mut_arg("best", |best| best.conflicts_with_all(["precision", "checkpoint", "resume"])))]
pub struct Args {
    /// Read the description from this file: TOML, JSON if its name ends in .json, or a model of JMT
    /// (.jsimg, .jsimw, .jsim, .jmva). `-` is standard input
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
    /// Set the end of each replication, in the network's unit of time. Default: the end in the file
    #[arg(long, value_parser = shared::positive)]
    until: Option<f64>,
    /// Set the time at which statistics begin. Default: the warm-up in the file, or a tenth of the
    /// run
    #[arg(long, value_parser = shared::not_negative)]
    warm_up: Option<f64>,
    /// Set the largest number of customers that may wait at a station. Default: 65536
    #[arg(long, conflicts_with = "interval")]
    room: Option<u32>,
    /// Find the time at which statistics should begin, by the rule MSER-5, in runs of another seed
    #[arg(long, conflicts_with_all = ["warm_up", "interval"])]
    find_warm_up: bool,
    /// Make one long run instead of replications, with intervals from this number of batches
    #[arg(long, value_name = "N", conflicts_with_all = ["replications", "precision", "interval", "quantiles"])]
    batches: Option<usize>,
    /// Print quantiles of waits and sojourns too, and write the distribution of the number of
    /// customers with --json
    #[arg(long, conflicts_with = "interval")]
    quantiles: bool,
    /// Print and write these measures only: names of the table, or with the node and the class,
    /// such as 'wait(desk)', separated by commas. Those of --share are always there
    #[arg(long, value_name = "MEASURES", conflicts_with = "interval", value_parser = Only::parse)]
    only: Vec<Only>,
    /// Report the share of times up to a bound: 'wait(NODE) <= TIME', 'sojourn(NODE, CLASS) <=
    /// TIME'. It cannot be combined with --batches, --checkpoint and --resume
    #[arg(long, value_name = "BOUND", conflicts_with_all = ["interval", "batches", "checkpoint", "resume"], value_parser = share)]
    share: Vec<Share>,
    /// Report a column of one's own, computed from measures and paths, such as
    /// 'cost = 20 * station.desk.servers + 5 * queue(desk)'
    #[arg(long, value_name = "NAME = EXPRESSION", value_parser = column)]
    column: Vec<(String, Expression)>,
    #[command(flatten)]
    profile: Profiled,
    /// Run a network even if customers arrive at a station faster than it serves them
    #[arg(long)]
    allow_unstable: bool,
    /// Print what the network is compiled to on the CPU, and run nothing: ir, a listing for people,
    /// or wgsl. Or print process, the process model as JSON, which runs what the network form does
    /// not
    #[arg(long, value_name = "FORM", conflicts_with_all = ["interval", "plot", "trace", "resume", "checkpoint"])]
    show: Option<Form>,
    /// Simulate as Park and Fishwick do, with one event list and times rounded to intervals of this
    /// length, which causes an error. 0 does not round. Only for FIFO stations, which have a
    /// capacity in open networks
    #[arg(
        long,
        value_parser = shared::not_negative,
        conflicts_with_all = ["precision", "csv", "path", "mapping", "checkpoint", "force", "every", "resume"]
    )]
    interval: Option<f64>,
    /// Map replications to the device by grid, team, thread or auto. Changes the speed only: all
    /// but auto are mappings of the interpreter
    #[arg(long, default_value_t = Mapping::Auto)]
    mapping: Mapping,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
    #[command(flatten)]
    saves: shared::Saves,
    /// Write the table as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the measures of each replication to this file, or to standard output for `-`: as CSV,
    /// or as JSON or Parquet if its name ends in .json or .parquet
    #[arg(long, value_name = "FILE", conflicts_with = "interval")]
    each: Option<PathBuf>,
    /// Write the values of each replication as scalars of OMNeT++ to this file (.sca), or to
    /// standard output for `-`
    #[arg(long, value_name = "FILE", conflicts_with = "interval")]
    sca: Option<PathBuf>,
    /// Draw SVG pictures into this folder: the number of customers at each node over the first
    /// replication, their sojourn times, and the network by utilisation. Of several points:
    /// measures against each number that varies, or the only one, with --only, into a file that
    /// ends in .svg
    #[arg(long, value_name = "PATH", conflicts_with = "interval")]
    plot: Option<PathBuf>,
    /// Write everything as one HTML page to this file: the network, the table, the number of
    /// customers over the first replication, and what the results come from
    #[arg(long, value_name = "FILE", conflicts_with = "interval")]
    report: Option<PathBuf>,
    /// Follow this number of customers from each source, and of those that start at each node,
    /// through the first replication, and write their visits as CSV to --trace-to
    #[arg(long, value_name = "N", conflicts_with = "interval", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    trace: Option<u32>,
    /// Follow one in this number of customers
    #[arg(long, value_name = "K", requires = "trace", conflicts_with = "interval", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    trace_every: u32,
    /// Write traces to this file, or to standard output for `-`
    #[arg(
        long,
        value_name = "FILE",
        requires = "trace",
        conflicts_with = "interval",
        default_value = "trace.csv"
    )]
    trace_to: PathBuf,
}

/// A form of a compiled network.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Form {
    Ir,
    Wgsl,
    Process,
}

fn share(text: &str) -> Result<Share, String> {
    text.parse().map_err(|error: FacilityError| error.to_string())
}

/// The default number of replications.
const REPLICATIONS: u32 = 64;
const REPLICATIONS_HELP: &str = "Number of replications. Default: 64. With --precision: the upper bound, instead of the default \
    bound, which is printed";

/// The default number of customers that may wait at a station.
const ROOM: u32 = 65_536;

/// The number of runs that determine the warm-up.
const PILOTS: u32 = 8;

impl Args {
    /// Whether a result goes to standard output, so that no table may be printed there.
    fn on_stdout(&self) -> bool {
        let trace_to = self.trace.and(Some(&*self.trace_to));
        let files =
            [self.csv.as_deref(), self.each.as_deref(), self.sca.as_deref(), trace_to, self.profile.file().2];
        self.json.on_stdout() || files.into_iter().any(shared::on_stdout)
    }

    fn check_files(&self) -> Outcome<()> {
        let [resume, checkpoint] = self.saves.files();
        let drawn = if self.plot.as_deref().is_some_and(plots::is_picture) {
            FileUse::WritesFile
        } else {
            FileUse::Draws
        };
        shared::check_files(&[
            (FileUse::Reads, "the description", Some(&*self.file)),
            resume,
            checkpoint,
            self.json.file(),
            (FileUse::Writes, "--csv", self.csv.as_deref()),
            (FileUse::Writes, "--each", self.each.as_deref()),
            (FileUse::Writes, "--sca", self.sca.as_deref()),
            (FileUse::Writes, "--trace-to", self.trace.and(Some(&*self.trace_to))),
            self.profile.file(),
            (drawn, "--plot", self.plot.as_deref()),
            (FileUse::WritesFile, "--report", self.report.as_deref()),
        ])
    }

    /// The shares, each once.
    fn shares(&self) -> Vec<Share> {
        let mut all: Vec<Share> = Vec::new();
        for share in &self.share {
            if !all.contains(share) {
                all.push(share.clone());
            }
        }
        all
    }

    /// Whether --only and --share show a measure.
    fn shows(&self, name: &str) -> bool {
        only::shows(&self.only, name) || self.share.iter().any(|share| share.to_string() == name)
    }

    /// Refuses measures of --only that a network does not have.
    fn check_only(&self, facility: &Facility) -> Outcome<()> {
        let mut known = facility.measures(self.quantiles);
        known.extend(self.share.iter().map(Share::to_string));
        only::check(&self.only, &known)
    }
}

pub fn run(args: &Args) -> Outcome<()> {
    shared::in_checkpoint(args.saves.resume.as_deref(), simulate(args))
}

fn simulate(args: &Args) -> Outcome<()> {
    args.check_files()?;
    each::check(args.each.as_deref())?;
    let description = args.points.network(&args.file)?;
    let points = shared::in_file(&args.file, description.design())?;
    let of_file = shared::in_file(&args.file, Columns::of_file(&description))?;
    let columns = Columns::new(of_file.all.into_iter().chain(args.column.iter().cloned()))?;
    if points.len() == 1 && args.plot.as_deref().is_some_and(plots::is_picture) {
        return Err(shared::usage("--plot of one network takes a folder: several pictures are drawn"));
    }
    if points.len() > 1 || !columns.all.is_empty() {
        return design::run(args, &description, points, columns);
    }
    if args.best.best.is_some() {
        return Err(shared::usage("--best compares points: give a number several values by --set"));
    }
    let written = shared::in_file(&args.file, description.network(&points, 0))?;
    // The resolution of ticks depends on the times of the runs too.
    let until = args.until.or(written.until);
    let later = |warm_up: &f64| args.until.is_none_or(|until| *warm_up < until);
    let warm_up = args.warm_up.or(written.warm_up.filter(later));
    let mut network = written.clone();
    (network.until, network.warm_up) = (until, warm_up);
    let facility = if args.allow_unstable { network.compile_unstable() } else { network.compile() };
    let show_process = matches!(args.show, Some(Form::Process));
    if show_process || facility.as_ref().is_err_and(FacilityError::needs_process) {
        return translated::run(args, &network, &written);
    }
    let facility = shared::in_file(&args.file, facility)?;

    args.check_only(&facility)?;
    if let Some(form) = args.show {
        let compiled = shared::in_file(&args.file, CompiledNetwork::new(&facility))?;
        let text = match form {
            Form::Ir => compiled.listing(&facility),
            Form::Wgsl | Form::Process => compiled.wgsl().to_owned(),
        };
        return Ok(write!(stdout(), "{text}")?);
    }
    let until = shared::end_of_runs(until, None)?;
    args.profile.check(until)?;
    // What is found replaces it.
    let written_before = written.warm_up.filter(|&written| !args.find_warm_up || written < until);
    let warm_up = shared::warm_up(until, args.warm_up, written_before);
    if let Some(interval) = args.interval {
        return by_event_list(args, &facility, interval, until, warm_up);
    }
    let warm_up = match args.find_warm_up {
        // Another seed, so that the warm-up does not depend on the runs that it is used for.
        true => facility.settles(!args.seed, until, PILOTS)?,
        false => warm_up,
    };
    let study = Study::new(args.runs.replications(REPLICATIONS), until, warm_up)
        .seed(args.seed)
        .details(args.quantiles)
        .level(args.runs.level)
        .stopping(args.runs.stopping()?)
        .room(args.room.unwrap_or(ROOM));

    let place = args.place.study()?;
    let backend = place.backend();
    let options = EngineOptions::default().mapping(args.mapping);
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = |runs: usize, events: u64| {
        bar.set_message(format!("{runs} replications, {events} events"));
        shared::watch()
    };
    let saved = args.saves.resume.as_ref().map(SavedStudy::load).transpose()?;
    // Traces take a run of their own. It comes first, so that an invalid request fails before other
    // work is done.
    let follow = args.trace.map(|most| Follow { every: args.trace_every, most });
    let visits = match follow.map(|follow| facility.trace(&study, follow).backend(backend).run()) {
        Some(Err(refused @ FacilityError::Setting { .. })) => return Err(refused.into()),
        visits => visits,
    };
    let shares = args.shares();
    let keep = StudyAutosave::default().from(saved.as_ref()).to(args.saves.autosave());
    let mut report = match args.batches {
        Some(batches) => facility
            .long_run(&study, batches)
            .backend(backend)
            .save(keep)
            .watch(|progress: &Progress| {
                bar.set_message(format!("{} events", progress.events));
                shared::watch()
            })
            .run(),
        None => {
            let run = facility.study(&study).shares(&shares).backend(backend).options(options);
            run.save(keep).watch(watch).run()
        }
    }?;
    bar.finish_and_clear();
    let form = NetworkForm::Network(Box::new(facility));
    shared::all([
        write(args, &form, &study, &mut report, &place, saved.as_ref().map_or(0, SavedStudy::events)),
        visits.map_or(Ok(()), |visits| trace(args, visits)),
    ])
}

/// Writes the visits of followed customers.
fn trace(args: &Args, visits: Result<Vec<Visit>, FacilityError>) -> Outcome<()> {
    let mut csv = Vec::new();
    write_visits(&visits?, &mut csv)?;
    shared::write(&args.trace_to, &csv)
}

/// Prints and writes the results in all requested forms. `saved` events of a resumed study come
/// from earlier runs.
fn write(
    args: &Args,
    form: &NetworkForm,
    study: &Study,
    report: &mut Report,
    place: &OwnedBackend,
    saved: u64,
) -> Outcome<()> {
    let mut names = report.names().into_iter();
    report.rows.retain(|_| args.shows(&names.next().expect("a name for each row")));
    let report = &*report;
    let csv = |path: &PathBuf| {
        let mut csv = Vec::new();
        report.to_csv(&mut csv)?;
        shared::write(path, &csv)
    };
    // Outputs that can be written are written even if others fail.
    let written = shared::all([
        if args.on_stdout() {
            Ok(())
        } else {
            print_report(report, study.stopping.as_ref(), saved).and_then(|()| shared::print_choice(place))
        },
        args.csv.as_ref().map_or(Ok(()), csv),
        args.each
            .as_ref()
            .map_or(Ok(()), |path| each::write(path, &Design::default(), &[report.observations()?])),
        args.sca
            .as_ref()
            .map_or(Ok(()), |path| shared::write(path, scalars::of_report(report, args.seed).as_bytes())),
        as_json(args, report),
        args.plot.as_ref().map_or(Ok(()), |folder| draw(folder, form, study, Some(report))),
        report.unsaved.as_deref().map_or(Ok(()), |error| Err(error.into())),
    ]);
    // It takes runs of its own, and comes last: it can be interrupted without a loss.
    let profile = args.profile.intervals().map(|intervals| {
        shared::profile_follows(report.replications.into());
        // As many replications as the report has.
        let study = study.replications(report.replications).stopping(None);
        form.profile(&study, intervals, |name| match args.only.is_empty() {
            true => BY_TIME.contains(&name.split('(').next().unwrap_or(name)),
            false => only::shows(&args.only, name),
        })
    });
    let (profile, made) = match profile.transpose() {
        Ok(profile) => (profile, Ok(())),
        Err(error) => (None, Err(error.into())),
    };
    shared::all([
        written,
        made,
        profile.as_ref().map_or(Ok(()), |profile| args.profile.write(profile, args.plot.as_deref())),
        args.report.as_ref().map_or(Ok(()), |path| {
            let page = page(args, form, study, report, profile.as_ref())?;
            shared::write(path, page.html().as_bytes())
        }),
    ])
}

/// The measures that a profile shows by default.
const BY_TIME: [&str; 3] = ["number", "queue", "utilisation"];

/// Where the results of a report come from.
fn source<'r>(seed: u64, report: &'r Report) -> Source<'r> {
    Source {
        model: &report.network,
        seed,
        engine: report.engine,
        adapter: &report.adapter,
        mapping: &report.mapping,
        replications: report.replications.into(),
        unit: Some(&report.unit),
        ticks_per_unit: Some(report.ticks_per_unit),
        times: Some([report.until, report.warm_up]),
        events: Some(report.events),
        seconds: report.seconds,
        fingerprint: report.fingerprint,
        choice: None,
    }
}

/// The report as a page.
fn page(
    args: &Args,
    form: &NetworkForm,
    study: &Study,
    report: &Report,
    profile: Option<&Profile>,
) -> Outcome<Page> {
    let network = form.network();
    let mut page = Page::new(&report.network, &network.about, network.names().map(str::to_owned));
    page.text(&source(args.seed, report).runs());
    if let (Some(decision), Some(stopping)) = (report.stopped, study.stopping.as_ref()) {
        page.warning(&format!("{}; {}", shared::decided(decision), shared::bounds(&stopping.budget)));
    }
    report.warnings.iter().for_each(|warning| page.warning(warning));
    let unobserved = report.rows.iter().filter(|row| row.mean.is_none()).count();
    if unobserved > 0 {
        page.warning(&format!("Nothing was observed for {}.", shared::count(unobserved as u64, "measure")));
    }
    if let Some(error) = &report.unsaved {
        page.warning(error);
    }
    add_network(&mut page, form, Some(report));
    page.heading("Results");
    let interval = format!("{} % interval", results::rounded_percent(report.level));
    let rows = report.rows.iter().map(|row| {
        let class = row.class.clone().unwrap_or_else(|| "all".to_owned());
        let between =
            results::between(row.lower.zip(row.upper).map(|(lower, upper)| [lower, upper]), row.half());
        let [mean, theory] = [row.mean, row.theory].map(|value| results::number(value, row.half()));
        let unit = row.measure.unit(&network.unit).unwrap_or_default();
        vec![row.node.clone(), class, row.label(), unit, mean, between, theory]
    });
    page.table(&["node", "class", "measure", "unit", "mean", &interval, "theory"], 4, rows);
    add_course(&mut page, form, study)?;
    if let Some(profile) = profile {
        let looks = Looks::of_network(network, &profile.measures().map(str::to_owned).collect::<Vec<_>>());
        results::add_profile(&mut page, profile, args.profile.marked(report.warm_up), &looks);
    }
    source(args.seed, report).add_to(&mut page, &args.file);
    Ok(page)
}

/// Draws the network on a page, with the utilisations of a report.
fn add_network(page: &mut Page, form: &NetworkForm, report: Option<&Report>) {
    page.heading("Network");
    match form.draw(report) {
        Ok(svg) if report.is_some() => page.picture(&svg, "Stations are coloured by utilisation."),
        Ok(svg) => page.picture(&svg, "Nodes and routes."),
        Err(error) => page.warning(&error.to_string()),
    }
}

/// Draws the customers at each node on a page.
fn add_course(page: &mut Page, form: &NetworkForm, study: &Study) -> Outcome<()> {
    page.heading("Over time");
    let course = form.course(study, PARTS)?;
    let time = format!("time ({})", course.unit);
    let axes = Axes { time: &time, value: "customers", part: course.part, warm_up: study.warm_up };
    let lines = course.numbers.iter().map(|(name, values)| Line { name, values, band: None });
    let lines: Vec<_> = lines.collect();
    let caption = format!("Customers at each node in the first replication, averages of {PARTS} parts.");
    for lines in lines.chunks(8) {
        page.over_time(&axes, lines, &caption);
    }
    Ok(())
}

/// Writes the report as JSON, with the seed.
fn as_json(args: &Args, report: &Report) -> Outcome<()> {
    let mut value = serde_json::to_value(report)?;
    value["seed"] = args.seed.into();
    args.json.write(&value)
}

/// Prints the table and the event rate. `saved` events of a resumed study come from earlier runs.
fn print_report(report: &Report, stopping: Option<&Stopping>, saved: u64) -> Outcome<()> {
    write!(stdout(), "{report}")?;
    write!(
        stdout(),
        "{} ({}), mapping {}: {}, {}, ",
        report.adapter,
        report.engine,
        report.mapping,
        shared::count(report.customers, "service"),
        shared::count(report.events, "event")
    )?;
    let executed = report.events.saturating_sub(saved);
    if saved > 0 {
        write!(stdout(), "{executed} of them now, ")?;
    }
    let (running, compiling) = shared::without_compilations(report.seconds);
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let rate = executed as f64 / running;
    writeln!(stdout(), "{:.3} s{compiling}, {rate:.3e} events/s", report.seconds)?;
    if let (Some(decision), Some(stopping)) = (report.stopped, stopping) {
        writeln!(stdout(), "{}; {}", shared::decided(decision), shared::bounds(&stopping.budget))?;
    }
    Ok(writeln!(stdout(), "fingerprint {:016x}", report.fingerprint)?)
}

/// The number of intervals of a run whose averages are drawn.
const PARTS: u32 = 400;

fn draw(folder: &Path, form: &NetworkForm, study: &Study, report: Option<&Report>) -> Outcome<()> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let course = form.course(study, PARTS)?;
    let mut pictures = vec![("numbers.svg", plot::numbers(&course)), ("network.svg", form.draw(report))];
    match form {
        NetworkForm::Network(_) => pictures.push(("sojourns.svg", plot::sojourns(&course))),
        NetworkForm::Process(_) => shared::print_report(
            "notice: sojourns.svg is not drawn: the network runs as a process model, \
             which has no histograms of times",
        ),
    }
    // Pictures that can be drawn are drawn even if others fail.
    shared::all(pictures.into_iter().map(|(name, svg)| shared::write(&folder.join(name), svg?.as_bytes())))
}

/// Prints utilisations and throughputs by Park and Fishwick's method, with intervals over the
/// replications.
fn by_event_list(args: &Args, facility: &Facility, interval: f64, until: f64, warm_up: f64) -> Outcome<()> {
    let network = shared::in_file(&args.file, FelNetwork::of(facility))?;
    let units = facility.resolution();
    let ticks = |option: &str, time: f64| {
        units.ticks(time).map_err(|error| shared::usage(format!("{option} {time}: {error}")))
    };
    let (interval, end) = (ticks("--interval", interval)?, ticks("--until", until)?);
    let begin = ticks("--warm-up", warm_up)?;
    if begin >= end {
        return Err(shared::usage("--warm-up is not below the end of the run: choose a smaller one"));
    }
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    let nodes = network.len() as f64;
    // At most an event of each node begins in an interval.
    let windows = f64::from(args.runs.replications(REPLICATIONS)) * (until / args.interval.unwrap_or(until));
    let gpu = args.place.for_run(&OneRun::of_grid(windows * nodes, nodes))?;
    let bar =
        shared::bar(args.runs.replications(REPLICATIONS).into(), "{wide_bar} {pos} of {len} replications")?;
    // For each node: utilisation, throughput and loss of each replication.
    let mut found: Vec<[Vec<f64>; 3]> = vec![Default::default(); network.len()];
    for run in 0..u64::from(args.runs.replications(REPLICATIONS)) {
        if shared::interrupted() {
            break;
        }
        let seed = args.seed.wrapping_add(run);
        let [first, last] = match &gpu {
            Some(gpu) => {
                let mut simulation = FelSimulation::new(gpu, &network, seed, interval)?;
                simulation.run(begin)?;
                let first = simulation.results()?;
                simulation.run(end)?;
                [first, simulation.results()?]
            }
            None => {
                let mut reference = FelReference::new(&network, seed, interval)?;
                reference.run(begin)?;
                let first = reference.results();
                reference.run(end)?;
                [first, reference.results()]
            }
        };
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        for ((first, last), [busy, began, lost]) in
            first.facilities.iter().zip(&last.facilities).zip(&mut found)
        {
            let time = f64::from(last.servers) * (until - warm_up);
            busy.push(units.units(Ticks::new(last.busy.get() - first.busy.get())) / time);
            let [served, dropped] = [last.began - first.began, last.dropped - first.dropped];
            began.push(served as f64 / (until - warm_up));
            lost.push(dropped as f64 / ((served + dropped) as f64).max(1.0));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let names = ["utilisation", "throughput", "lost"].map(|name| format!("  {name:>11} {:>9}", "±"));
    // Only networks with bounded queues lose customers.
    let loses = found.iter().flat_map(|[.., lost]| lost).any(|&lost| lost > 0.0);
    let columns = if loses { 3 } else { 2 };
    writeln!(stdout(), "{:<12}{}", "node", names[..columns].concat())?;
    for (node, found) in network.names().iter().zip(&found) {
        write!(stdout(), "{node:<12}")?;
        for values in &found[..columns] {
            // The time of a source's servers is zero: it has none.
            if values.iter().any(|value| !value.is_finite()) {
                write!(stdout(), "  {:>11} {:>9}", "-", "-")?;
                continue;
            }
            let column = Column { name: "values".to_owned(), values: Values::F64(values.clone()) };
            let observations = Observations::new(values.len(), vec![column], [], Pairing::Independent)?;
            let summary = observations.summary("values", args.runs.level)?;
            let [mean, half] = [summary.mean, summary.interval.map(|interval| interval.half_width)]
                .map(|value| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.6}")));
            write!(stdout(), "  {mean:>11} {half:>9}")?;
        }
        writeln!(stdout())?;
    }
    Ok(())
}
