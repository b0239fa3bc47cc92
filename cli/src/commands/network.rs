//! Runs a queueing network that a file describes, and tells every measure with its interval, beside
//! what theory says.
//!
//! ```text
//! eventhorizon network examples/networks/mm1.toml
//! eventhorizon network examples/networks/clinic.toml --precision 0.01
//! eventhorizon network examples/networks/jackson.toml --backend cpu --json result.json --csv result.csv
//! eventhorizon network examples/networks/jackson.toml --precision 0.0001 --replications 10000000 --checkpoint jackson.study --every 60    # Ctrl-C, and then
//! eventhorizon network examples/networks/jackson.toml --precision 0.0001 --replications 10000000 --resume jackson.study
//! eventhorizon network examples/networks/order.toml --plot order --trace 100 --trace-to order.csv
//! ```
//!
//! `examples/networks/` has a file for each thing that a network can have. `docs/guide-networks.md`
//! says what may be written in one.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};

use clap::Parser;
use eventhorizon::facility::{
    Backend, Facility, FacilityError, FelNetwork, FelReference, FelSimulation, Follow, Network, Report,
    SavedStudy, Study, StudyAutosave, Visit, plot, write_visits,
};
use eventhorizon::pdes::{Autosave, EngineOptions, Mapping, Progress};
use eventhorizon::statistics::{Column, Observations, Pairing, Stopping, Values};
use eventhorizon::time::Ticks;

use crate::shared::{self, FileUse, Outcome};

#[derive(Parser)]
#[command(about = "A queueing network, described and not programmed")]
#[command(mut_arg("replications", |replications| replications.help(REPLICATIONS_HELP)))]
pub struct Args {
    /// The description: TOML, or JSON where the name ends so.
    file: PathBuf,
    /// Names the random streams.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    runs: shared::Runs,
    /// The end of each replication, in the network's unit of time; what the file says, if it is not
    /// said here.
    #[arg(long, value_parser = shared::positive)]
    until: Option<f64>,
    /// Where statistics begin; what the file says, or a tenth of the run.
    #[arg(long, value_parser = shared::not_negative)]
    warm_up: Option<f64>,
    /// The most customers that may wait at a station.
    #[arg(long, default_value_t = 65_536)]
    room: u32,
    /// Finds where statistics should begin, by the rule MSER-5, in runs of another seed.
    #[arg(long, conflicts_with_all = ["warm_up", "interval"])]
    find_warm_up: bool,
    /// Makes one long run instead of replications, with intervals from this number of batches of
    /// it.
    #[arg(long, value_name = "N", conflicts_with_all = ["replications", "precision", "interval", "quantiles"])]
    batches: Option<usize>,
    /// Tells quantiles of waits and sojourns, too, and with --json how often there are how many
    /// customers.
    #[arg(long, conflicts_with = "interval")]
    quantiles: bool,
    /// Runs a network even if more customers come to a station than it serves.
    #[arg(long)]
    allow_unstable: bool,
    /// Simulates as Park and Fishwick do: by one event list, with times rounded to whole intervals
    /// of this length, and with an error. 0 is for none. For closed networks of single exponential
    /// servers.
    #[arg(long, value_parser = shared::not_negative, conflicts_with_all = ["precision", "csv", "path", "mapping"])]
    interval: Option<f64>,
    /// How replications are mapped to the device: grid, team, thread or auto. It changes the speed
    /// only.
    #[arg(long, default_value_t = Mapping::Auto)]
    mapping: Mapping,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
    /// Saves the study to this file where it ends, on Ctrl-C too.
    #[arg(long, value_name = "FILE", conflicts_with = "interval")]
    checkpoint: Option<PathBuf>,
    /// Overwrites the checkpoint of another study, or a later one of this study, in that file.
    #[arg(long, requires = "checkpoint", conflicts_with = "interval")]
    force: bool,
    /// Saves it at this interval, in seconds, too.
    #[arg(long, value_name = "SECONDS", requires = "checkpoint", conflicts_with = "interval", value_parser = shared::seconds)]
    every: Option<f64>,
    /// Goes on with a study that was saved: with the same network, seed and times. It may ask for
    /// more replications, or more precision.
    #[arg(long, value_name = "FILE", conflicts_with = "interval")]
    resume: Option<PathBuf>,
    /// Writes the table as CSV to this file, or to standard output for `-`.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draws pictures into this folder (SVG): how many customers are where in the course of the
    /// first replication, how long they stay, and the network by utilisation.
    #[arg(long, value_name = "FOLDER", conflicts_with = "interval")]
    plot: Option<PathBuf>,
    /// Follows this number of customers of each source, and of those at each node at the beginning,
    /// through the first replication: their visits, as CSV in --trace-to.
    #[arg(long, value_name = "N", conflicts_with = "interval", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    trace: Option<u32>,
    /// Of them, one in this number.
    #[arg(long, value_name = "K", requires = "trace", conflicts_with = "interval", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    trace_every: u32,
    /// Where traces go: a file, or standard output for `-`.
    #[arg(
        long,
        value_name = "FILE",
        requires = "trace",
        conflicts_with = "interval",
        default_value = "trace.csv"
    )]
    trace_to: PathBuf,
}

/// Replications where nobody says how many.
const REPLICATIONS: u32 = 64;
const REPLICATIONS_HELP: &str = "Replications, 64 by default; with --precision, the most of them in the place of the default \
    bound, which is printed";

/// Runs in which the warm-up is looked for.
const PILOTS: u32 = 8;

/// Bytes of a description, at the most.
const MOST_TEXT: u64 = 64 << 20;

impl Args {
    /// Whether a result goes to standard output, so that no table may be printed there.
    fn on_stdout(&self) -> bool {
        let trace_to = self.trace.and(Some(&*self.trace_to));
        self.json.on_stdout() || shared::on_stdout(self.csv.as_deref()) || shared::on_stdout(trace_to)
    }

    fn check_files(&self) -> Outcome<()> {
        shared::check_files(&[
            (FileUse::Reads, "the description", Some(&*self.file)),
            (FileUse::Resumes, "--resume", self.resume.as_deref()),
            (FileUse::Saves, "--checkpoint", self.checkpoint.as_deref()),
            self.json.file(),
            (FileUse::Writes, "--csv", self.csv.as_deref()),
            (FileUse::Writes, "--trace-to", self.trace.and(Some(&*self.trace_to))),
            (FileUse::Draws, "--plot", self.plot.as_deref()),
        ])
    }
}

pub fn run(args: &Args) -> Outcome<()> {
    args.check_files()?;
    let text = shared::read_text(&args.file, MOST_TEXT)?;
    let json = args.file.extension().is_some_and(|extension| extension == "json");
    let written = if json { Network::from_json(&text)? } else { Network::from_toml(&text)? };
    // Ticks are chosen by the times of the runs, too.
    let until = args.until.or(written.until);
    let later = |warm_up: &f64| args.until.is_none_or(|until| *warm_up < until);
    let warm_up = args.warm_up.or(written.warm_up.filter(later));
    let mut network = written.clone();
    (network.until, network.warm_up) = (until, warm_up);
    let facility = if args.allow_unstable { network.compile_unstable()? } else { network.compile()? };

    let until =
        until.ok_or_else(|| shared::usage("say where replications end: `until` in the file, or --until"))?;
    let tenth = until / 10.0;
    let warm_up = match (args.warm_up, written.warm_up) {
        (Some(warm_up), _) => warm_up,
        (None, Some(written)) if written >= until && !args.find_warm_up => {
            shared::print_report(&format!(
                "notice: the file's warm_up of {written} is not below the end at {until}: statistics begin at {tenth} (--warm-up says where else)."
            ));
            tenth
        }
        (None, written) => written.filter(|&written| written < until).unwrap_or(tenth),
    };
    if let Some(interval) = args.interval {
        return by_event_list(args, &facility, interval, until, warm_up);
    }
    let warm_up = match args.find_warm_up {
        // (Not of the runs that are then observed.)
        true => facility.settles(!args.seed, until, PILOTS)?,
        false => warm_up,
    };
    let study = Study::new(args.runs.replications(REPLICATIONS), until, warm_up)
        .seed(args.seed)
        .details(args.quantiles)
        .level(args.runs.level)
        .stopping(args.runs.stopping()?)
        .room(args.room);

    let gpu = args.place.hardware()?;
    // The same bits on both, so this choice shows in nothing but the time.
    let backend = gpu.as_ref().map_or(Backend::Cpu, Backend::Gpu);
    let options = EngineOptions { mapping: args.mapping, ..EngineOptions::default() };
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let watch = |runs: usize, events: u64| {
        bar.set_message(format!("{runs} replications, {events} events"));
        shared::watch()
    };
    let saved = args.resume.as_ref().map(SavedStudy::load).transpose()?;
    // It takes a run of its own. Before the others, so that what cannot be followed is refused
    // before there is something to lose.
    let follow = args.trace.map(|most| Follow { every: args.trace_every, most });
    let visits = match follow.map(|follow| facility.trace(&study, follow, backend)) {
        Some(Err(refused @ FacilityError::Setting { .. })) => return Err(refused.into()),
        visits => visits,
    };
    let every = shared::every(args.every);
    let autosave = |path| Autosave::new(path, every).force(args.force).on_failure(&shared::unsaved);
    let keep = StudyAutosave::default().from(saved.as_ref()).to(args.checkpoint.as_ref().map(autosave));
    let report = match args.batches {
        Some(batches) => facility
            .long_run(&study, batches)
            .backend(backend)
            .save(keep)
            .watch(|progress: &Progress| {
                bar.set_message(format!("{} events", progress.events));
                shared::watch()
            })
            .run(),
        None => facility.study(&study).backend(backend).options(options).save(keep).watch(watch).run(),
    }?;
    bar.finish_and_clear();

    // Whatever of it cannot be written, the rest is.
    let csv = |path: &PathBuf| {
        let mut csv = Vec::new();
        report.to_csv(&mut csv)?;
        shared::write(path, &csv)
    };
    let trace = |visits: Result<Vec<Visit>, FacilityError>| {
        let mut csv = Vec::new();
        write_visits(&visits?, &mut csv)?;
        shared::write(&args.trace_to, &csv)
    };
    shared::all([
        if args.on_stdout() {
            Ok(())
        } else {
            let saved = saved.as_ref().map_or(0, SavedStudy::events);
            print_report(&report, study.stopping.as_ref(), saved)
        },
        args.csv.as_ref().map_or(Ok(()), csv),
        as_json(args, &report),
        visits.map_or(Ok(()), trace),
        args.plot.as_ref().map_or(Ok(()), |folder| draw(folder, &facility, &study, &report)),
        report.unsaved.as_deref().map_or(Ok(()), |error| Err(error.into())),
    ])
}

/// Writes the report as JSON, with the seed.
fn as_json(args: &Args, report: &Report) -> Outcome<()> {
    let mut value = serde_json::to_value(report)?;
    value["seed"] = args.seed.into();
    args.json.write(&value)
}

/// The table, and how fast it came: of what a study has that was saved, others made `saved` events.
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
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let rate = executed as f64 / report.seconds;
    writeln!(stdout(), "{:.3} s, {rate:.3e} events/s", report.seconds)?;
    if let (Some(decision), Some(stopping)) = (report.stopped, stopping) {
        writeln!(stdout(), "{}; {}", shared::decided(decision), shared::bounds(&stopping.budget))?;
    }
    Ok(writeln!(stdout(), "fingerprint {:016x}", report.fingerprint)?)
}

/// Parts of a run whose averages are drawn.
const PARTS: usize = 400;

fn draw(folder: &Path, facility: &Facility, study: &Study, report: &Report) -> Outcome<()> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let course = facility.course(study, PARTS)?;
    let pictures = [
        ("numbers.svg", plot::numbers(&course)),
        ("sojourns.svg", plot::sojourns(&course)),
        ("network.svg", plot::network(facility, report)),
    ];
    // Whatever of them cannot be drawn, the rest is.
    shared::all(pictures.map(|(name, svg)| shared::write(&folder.join(name), svg?.as_bytes())))
}

/// Utilisations and throughputs by Park and Fishwick's method, with intervals over the
/// replications.
fn by_event_list(args: &Args, facility: &Facility, interval: f64, until: f64, warm_up: f64) -> Outcome<()> {
    let (network, units) = (FelNetwork::of(facility)?, facility.resolution());
    let [interval, end, begin] = [interval, until, warm_up].map(|time| units.ticks(time));
    let (interval, end, begin) = (interval?, end?, begin?);
    if begin >= end {
        return Err(shared::usage("--warm-up: choose less than --until"));
    }
    let gpu = args.place.gpu()?;
    let bar =
        shared::bar(args.runs.replications(REPLICATIONS).into(), "{wide_bar} {pos} of {len} replications")?;
    // By node: utilisation and throughput of each replication.
    let mut found: Vec<[Vec<f64>; 2]> = vec![Default::default(); network.len()];
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
                let mut twin = FelReference::new(&network, seed, interval)?;
                twin.run(begin)?;
                let first = twin.results();
                twin.run(end)?;
                [first, twin.results()]
            }
        };
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        for ((first, last), [busy, began]) in first.facilities.iter().zip(&last.facilities).zip(&mut found) {
            let span = |ticks: u64| units.units(Ticks::new(ticks));
            busy.push(span(last.busy.get() - first.busy.get()) / (until - warm_up));
            began.push((last.began - first.began) as f64 / (until - warm_up));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    writeln!(stdout(), "{:<12}  {:>11} {:>9}  {:>11} {:>9}", "node", "utilisation", "±", "throughput", "±")?;
    for (node, columns) in facility.nodes().zip(&found) {
        write!(stdout(), "{node:<12}")?;
        for values in columns {
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
