//! What all commands share: how they start, read their command line, stop and end.
//!
//! [`main`] sets the exit code ([`exit`], [`EXIT_CODES`]). Results go through
//! `writeln!(stdout(), ...)?`, not `println!`, which panics on a closed pipe or a full disk.

pub mod cache;
#[cfg(feature = "pictures")]
pub mod each;
pub mod exit;
#[cfg(feature = "pictures")]
#[cfg(feature = "pictures")]
pub mod figure;
pub mod files;
#[cfg(feature = "pictures")]
pub mod only;
#[cfg(feature = "pictures")]
pub mod page;
#[cfg(feature = "pictures")]
pub mod points;
#[cfg(feature = "pictures")]
pub mod profiles;
pub mod rates;
#[cfg(feature = "pictures")]
pub mod results;
pub mod threads;

use std::error::Error;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _, stderr, stdout};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use std::time::{Duration, Instant};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, ValueEnum};
use eventhorizon::gpu::{Gpu, GpuError, compiled, compiling};
#[cfg(target_os = "linux")]
use eventhorizon::has_abandoned_threads;
use eventhorizon::hybrid::Transport;
use eventhorizon::pdes::{Autosave, Checkpoint, CheckpointError, Until};
use eventhorizon::random::STREAMS_VERSION;
use eventhorizon::statistics::{Budget, Decision, Design, Observations, Selected, Stopping};
use eventhorizon::time::Resolution;
use eventhorizon::{OnDemand, OneRun, OwnedBackend};
pub use exit::{EXIT_CODES, in_checkpoint, in_file, usage};
#[cfg(feature = "pictures")]
pub use files::write_png;
pub use files::{FileUse, all, check_files, check_input, on_stdout, read_bytes, read_text, utf8, write};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
pub use threads::{check_memory, check_threads, start_threads};

pub type Failure = Box<dyn Error>;
pub type Outcome<T> = Result<T, Failure>;

/// Reads the command line, runs the command and returns its exit code.
pub fn main<A: Parser>(run: impl FnOnce(&A) -> Outcome<()>) -> ExitCode {
    match parse() {
        Ok(args) => end(run(&args)),
        Err(reported) => reported,
    }
}

/// Returns the command line, or the exit code after it printed help or an error.
pub fn parse<A: Parser>() -> Result<A, ExitCode> {
    parse_as(A::command())
}

/// Like [`parse`], for a command with changes, for example with more help.
pub fn parse_as<A: Parser>(command: clap::Command) -> Result<A, ExitCode> {
    set_runtime_folder();
    let _ = env_logger::try_init();
    let matches = command.try_get_matches();
    let args = matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(|reported| {
        let _ = reported.print(); // help or an error
        ExitCode::from(u8::try_from(reported.exit_code()).unwrap_or(2))
    })?;
    match start_threads() {
        Ok(()) => Ok(args),
        failed => Err(end(failed)),
    }
}

/// Sets `XDG_RUNTIME_DIR` where it is missing, as in containers and under `sudo`: the Vulkan driver
/// looks there for a display, and without the variable prints a line that begins with "error:".
/// Nothing is found in a folder that does not exist.
#[cfg(target_os = "linux")]
fn set_runtime_folder() {
    const NAME: &str = "XDG_RUNTIME_DIR";
    if !std::env::var_os(NAME).is_some_and(|folder| Path::new(&folder).is_absolute()) {
        // SAFETY: a program reads its command line first in `main`, and has no other thread yet.
        unsafe { std::env::set_var(NAME, "/nonexistent") };
    }
}

#[cfg(not(target_os = "linux"))]
fn set_runtime_folder() {}

/// Turns the outcome of a command into its exit code and reports its error.
pub fn end(outcome: Outcome<()>) -> ExitCode {
    let ended = outcome.and_then(|()| Ok(stdout().flush()?));
    let code = match ended {
        _ if interrupted() && ended.is_ok() => 130,
        Ok(()) => 0,
        // The reader closed the pipe, as `| head` does. 141 is the code that shells report for
        // SIGPIPE.
        Err(error) if closed(&*error) => 141,
        Err(error) => {
            print_report(&format!("error: {error}"));
            if interrupted() { 130 } else { exit::code(&*error) }
        }
    };
    leave_threads(code);
    ExitCode::from(code)
}

/// Ends the process at once if a thread may still be in a driver, whose exit handlers would not
/// survive that. All files are written.
fn leave_threads(code: u8) {
    if has_abandoned_threads() {
        exit_at_once(code);
    }
}

/// Ends the process without exit handlers.
#[cfg(target_os = "linux")]
fn exit_at_once(code: u8) -> ! {
    unsafe extern "C" {
        fn _exit(code: i32) -> !;
    }
    // SAFETY: the function of POSIX, which any thread may call at any time.
    unsafe { _exit(code.into()) }
}

#[cfg(not(target_os = "linux"))]
fn exit_at_once(code: u8) -> ! {
    std::process::exit(code.into())
}

/// Writes a line to standard error. Ignores a closed pipe.
pub fn print_report(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Fails if two methods gave different results.
pub fn same<T: PartialEq + std::fmt::Debug>(
    found: &T,
    expected: &T,
    what: impl std::fmt::Display,
) -> Outcome<()> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected:?}, found {found:?}. Please report the adapter, the driver and this command line").into()),
    }
}

/// Whether the error is a closed pipe: the reader has stopped.
pub fn closed(error: &(dyn Error + 'static)) -> bool {
    let kind = |error: &io::Error| error.kind() == ErrorKind::BrokenPipe;
    let mut next = Some(error);
    while let Some(error) = next {
        let csv = error.downcast_ref().map(csv::Error::kind);
        if error.downcast_ref().is_some_and(kind)
            || matches!(csv, Some(csv::ErrorKind::Io(error)) if kind(error))
        {
            return true;
        }
        next = error.source();
    }
    false
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the program has something to save before it ends.
static SAVES: AtomicBool = AtomicBool::new(false);

/// What [`on_slow_stop`] was given.
static ON_SLOW_STOP: Mutex<Option<Box<dyn FnMut() + Send>>> = Mutex::new(None);

/// The time from Ctrl-C to the next boundary of a program that calls [`on_slow_stop`].
const BOUNDARY: Duration = Duration::from_millis(300);

/// Ends the program soon after Ctrl-C: if it has not ended after `BOUNDARY`, calls `last` and
/// exits. During a compilation it does so at once.
pub fn on_slow_stop(last: impl FnMut() + Send + 'static) {
    *ON_SLOW_STOP.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(last));
}

/// Calls what [`on_slow_stop`] was given, and exits.
fn stop_now(last: &mut Option<Box<dyn FnMut() + Send>>) -> ! {
    if let Some(last) = last {
        last();
    }
    // A thread may be in a driver.
    let _ = stdout().flush();
    exit_at_once(130)
}

/// Whether Ctrl-C was pressed in a program that calls [`watch`].
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// After Ctrl-C, prints that a profile is still made, which takes runs of its own.
pub fn profile_follows(replications: u64) {
    if interrupted() {
        let of = count(replications, "replication");
        print_report(&format!("notice: making the profile of {of}. Press Ctrl-C again to end without it."));
    }
}

/// Continues until Ctrl-C. After the first call, the first Ctrl-C stops work at its next boundary,
/// so that the program can report partial results; the second one ends the program. A compilation
/// has no boundary: there the first one ends the program, unless it has something to save.
pub fn watch() -> ControlFlow<()> {
    static HEEDED: Once = Once::new();
    HEEDED.call_once(|| {
        let heeded = ctrlc::set_handler(|| {
            let loses = SAVES.load(Ordering::Relaxed);
            let mut last = ON_SLOW_STOP.lock().unwrap_or_else(PoisonError::into_inner);
            if INTERRUPTED.swap(true, Ordering::Relaxed) || compiling() && !loses {
                stop_now(&mut last);
            }
            if last.is_some() {
                std::thread::sleep(BOUNDARY);
                stop_now(&mut last);
            }
            print_report("notice: stopping at the next boundary, with partial results. Press Ctrl-C again to end at once.");
        });
        if let Err(error) = heeded {
            log::warn!("Ctrl-C ends the program at once: {error}");
        }
        log::debug!("watching for Ctrl-C");
    });
    if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// This process among those that mpirun started, once in a process.
#[cfg(feature = "mpi")]
pub fn mpi_rank() -> Option<Box<dyn Transport>> {
    eventhorizon::hybrid::MpiRank::new().map(|rank| Box::new(rank) as Box<dyn Transport>)
}

/// None: the program was built without the feature `mpi`.
#[cfg(not(feature = "mpi"))]
pub fn mpi_rank() -> Option<Box<dyn Transport>> {
    None
}

/// A progress bar on standard error if that is a terminal. It shows a spinner during compilations.
pub fn bar(length: u64, template: &str) -> Outcome<ProgressBar> {
    let _ = watch();
    let style = ProgressStyle::with_template(&format!("{{compiling}}{template}"))?;
    let style = style.with_key("compiling", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        if compiling() {
            let turn = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
            let turn = turn[usize::try_from(state.elapsed().as_millis() / 100).unwrap_or(0) % turn.len()];
            let _ = write!(out, "{turn} compiling, {} s  ", state.elapsed().as_secs());
        }
    });
    let bar = ProgressBar::new(length).with_style(style);
    if stderr().is_terminal() {
        bar.enable_steady_tick(Duration::from_millis(100));
    }
    Ok(bar)
}

/// Warns of a failed save. The run continues.
pub fn unsaved(error: &CheckpointError) {
    print_report(&format!("warning: {error}. The run continues and saves again later."));
}

/// The interval between saves. Without `--every` a run is saved only at its end.
pub fn every(seconds: Option<f64>) -> Duration {
    seconds.map_or(Duration::MAX, Duration::from_secs_f64)
}

/// A number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    match number(text)? {
        value if value > 0.0 => Ok(value),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// A number of at least 0.
pub fn not_negative(text: &str) -> Result<f64, String> {
    match number(text)? {
        value if value >= 0.0 => Ok(value),
        _ => Err("expected a number of at least 0".to_owned()),
    }
}

/// Seconds of a measurement or a budget.
pub fn seconds(text: &str) -> Result<f64, String> {
    match positive(text)? {
        value if value <= 86_400.0 => Ok(value),
        _ => Err("expected at most 86400 s (one day)".to_owned()),
    }
}

/// Invocations of a workgroup.
pub fn group_size(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(size) if size.is_power_of_two() => Ok(size),
        Ok(_) => Err("expected a power of two".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A confidence level.
pub fn level(text: &str) -> Result<f64, String> {
    let level = number(text)?;
    eventhorizon::statistics::check_level(level).map_err(|error| error.to_string())?;
    Ok(level)
}

/// A number with six decimal places, or with an exponent if these would hide it.
pub fn six_places(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-3..1e9).contains(&size) => format!("{value:.6}"),
        _ => format!("{value:.6e}"),
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err("expected a finite number".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The command line of an example without options.
#[derive(Parser)]
#[command(about = "Run the example; it has no options", long_about = None)]
pub struct NoOptions {}

#[derive(Args)]
pub struct Where {
    /// Run on the GPU or the CPU. Default: whichever is expected to be faster, and never a software
    /// adapter. `soak`, --verify and options that only a GPU has use any adapter
    #[arg(long)]
    backend: Option<Backend>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Backend {
    Gpu,
    Cpu,
}

impl Where {
    /// Any adapter, also software, or `None` for the CPU: for comparisons of both, and for options
    /// that only a device has.
    pub fn any_adapter(&self) -> Result<Option<Gpu>, GpuError> {
        match self.backend {
            Some(Backend::Cpu) => Ok(None),
            Some(Backend::Gpu) => Gpu::new().map(Some),
            None => match Gpu::new() {
                Err(error @ GpuError::NoAdapter { .. }) => {
                    print_report(&format!("notice: {error}.\nnotice: running on the CPU instead."));
                    Ok(None)
                }
                other => other.map(Some),
            },
        }
    }

    /// Refuses an option that only a device has on the CPU.
    pub fn needs_device(&self, option: &str) -> Outcome<()> {
        match self.backend {
            Some(Backend::Cpu) => {
                Err(usage(format!("{option} is for a device: leave it out, or leave out --backend cpu")))
            }
            _ => Ok(()),
        }
    }

    /// Where one run is expected to end first.
    pub fn for_run(&self, run: &OneRun) -> Result<Option<Gpu>, GpuError> {
        Ok(match self.study()? {
            OwnedBackend::Auto(device) => device.for_run(run).cloned(),
            place => place.backend().gpu().cloned(),
        })
    }

    /// Where matching runs that is expected to take the CPU this number of seconds.
    pub fn for_matching(&self, seconds: f64) -> Result<Option<Gpu>, GpuError> {
        Ok(match self.study()? {
            OwnedBackend::Auto(device) => device.for_matching(seconds).cloned(),
            place => place.backend().gpu().cloned(),
        })
    }

    /// Where a study runs. A device is opened now only if it was requested.
    pub fn study(&self) -> Result<OwnedBackend, GpuError> {
        Ok(match self.backend {
            Some(Backend::Cpu) => OwnedBackend::Cpu,
            Some(Backend::Gpu) if cfg!(target_os = "linux") => OwnedBackend::Gpu(Gpu::new()?.abandoning()),
            Some(Backend::Gpu) => OwnedBackend::Gpu(Gpu::new()?),
            None if cfg!(target_os = "linux") => OwnedBackend::Auto(OnDemand::new().abandoning()),
            None => OwnedBackend::Auto(OnDemand::new()),
        })
    }
}

/// Seconds of the first run of the program without those in which it waited for compilations, and
/// these as text.
pub fn without_compilations(seconds: f64) -> (f64, String) {
    let compiling = compiled().as_secs_f64().min(seconds);
    (seconds - compiling, compilations(compiling))
}

/// Seconds of compilations as text, behind those that include them.
pub fn compilations(seconds: f64) -> String {
    if seconds > 0.0 { format!(" ({seconds:.3} s of them compiling)") } else { String::new() }
}

/// Parts the seconds since its start into those in which runs waited for compilations and others.
pub struct Stopwatch {
    begun: Instant,
    compiled: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { begun: Instant::now(), compiled: compiled() }
    }

    /// The time without compilations, and the time of these.
    pub fn parts(&self) -> [Duration; 2] {
        let (all, compiling) = (self.begun.elapsed(), compiled() - self.compiled);
        let compiling = compiling.min(all);
        [all - compiling, compiling]
    }
}

/// Prints where work ran and why, if that was chosen.
pub fn print_choice(place: &OwnedBackend) -> Outcome<()> {
    match place.choice() {
        Some(choice) => Ok(writeln!(stdout(), "ran on {choice}")?),
        None => Ok(()),
    }
}

/// The version of the JSON output (docs/program.md). It increases when a key is removed or changes
/// its meaning.
const SCHEMA: u32 = 1;

/// The name in JSON of the engine that computed a result.
pub fn engine(on_gpu: bool) -> &'static str {
    if on_gpu { "gpu" } else { "cpu" }
}

#[derive(Args)]
pub struct Json {
    /// Write the result as JSON to a file, or to standard output for `-` or no name
    #[arg(long = "json", value_name = "PATH", num_args = 0..=1, default_missing_value = "-", value_parser = NonEmptyStringValueParser::new())]
    path: Option<String>,
}

impl Json {
    /// Whether JSON goes to standard output, so that nothing else may be printed there.
    pub fn on_stdout(&self) -> bool {
        on_stdout(self.file().2)
    }

    /// The entry for [`check_files`].
    pub fn file(&self) -> files::Named<'_> {
        (FileUse::Writes, "--json", self.path.as_deref().map(Path::new))
    }

    /// Writes `value` if JSON was requested, with the versions of its format and of the random
    /// streams.
    pub fn write(&self, value: &serde_json::Value) -> Outcome<()> {
        let Some(path) = self.file().2 else { return Ok(()) };
        let mut value = value.clone();
        let objects = match &mut value {
            serde_json::Value::Array(all) => all.as_mut_slice(),
            one => std::slice::from_mut(one),
        };
        for object in objects.iter_mut().filter_map(serde_json::Value::as_object_mut) {
            object.insert("schema".to_owned(), SCHEMA.into());
            object.insert("streams".to_owned(), STREAMS_VERSION.into());
        }
        write(path, format!("{value:#}\n").as_bytes())
    }
}

#[derive(Args)]
pub struct Runs {
    /// Number of replications. Default: 1024. With --precision: the upper bound, instead of the
    /// default bound, which is printed
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    replications: Option<u32>,
    /// Set the confidence level
    #[arg(long, default_value_t = 0.95, value_parser = level)]
    pub level: f64,
    /// Run until the half width of each deciding measure is at most this share of its mean
    /// (docs/program.md)
    #[arg(long, value_parser = positive)]
    precision: Option<f64>,
}

impl Runs {
    /// The number of the command line, or the default.
    pub fn replications(&self, default: u32) -> u32 {
        self.replications.unwrap_or(default)
    }

    /// The stopping rule, if --precision is given.
    pub fn stopping(&self) -> Outcome<Option<Stopping>> {
        self.precision.map(|relative| precise(self.level, relative, self.replications)).transpose()
    }
}

/// Where a study is saved, and the saved study that it resumes.
#[derive(Args)]
pub struct Saves {
    /// Save the study to this file when it ends, also after Ctrl-C
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Overwrite the checkpoint of another study, or a later one of this study, in that file
    #[arg(long, requires = "checkpoint")]
    force: bool,
    /// Also save it at this interval, in seconds
    #[arg(long, value_name = "SECONDS", requires = "checkpoint", value_parser = seconds)]
    every: Option<f64>,
    /// Resume a saved study: with the same model, seed and times, but possibly more replications or
    /// a higher precision
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

impl Saves {
    /// The files, to be checked.
    pub fn files(&self) -> [files::Named<'_>; 2] {
        [
            (FileUse::Resumes, "--resume", self.resume.as_deref()),
            (FileUse::Saves, "--checkpoint", self.checkpoint.as_deref()),
        ]
    }

    /// Where the study is saved.
    pub fn autosave(&self) -> Option<Autosave<'_>> {
        let path = self.checkpoint.as_ref()?;
        Some(Autosave::new(path, every(self.every)).force(self.force).on_failure(&unsaved))
    }
}

/// Refuses an end that a saved run has passed: executed events cannot be removed from its results.
/// A run that has reached its own end may end there again.
pub fn not_beyond(saved: &Checkpoint, until: Until, option: &str) -> Outcome<()> {
    let (ended, progress) = (saved.until(), saved.progress());
    let time = progress.now.min(ended.time);
    if until.time >= time && (until.events > progress.events || until.events >= ended.events) {
        return Ok(());
    }
    let (at, events) = (Resolution::default().units(time), progress.events);
    Err(usage(format!(
        "{option}: the saved run is at {at} units of time, with {events} events, which is not before that end. Choose a later one, or omit --resume \
         to run from the start"
    )))
}

/// Stops when each half width is at most `relative` of its mean, or after `replications`.
pub fn precise(level: f64, relative: f64, replications: Option<u32>) -> Outcome<Stopping> {
    let stopping = Stopping::relative(relative, level, replications);
    stopping.check()?;
    Ok(stopping)
}

/// The end of each replication: of the command line, or of the description.
pub fn end_of_runs(until: Option<f64>, written: Option<f64>) -> Outcome<f64> {
    until
        .or(written)
        .ok_or_else(|| usage("the replications have no end: set `until` in the file, or use --until"))
}

/// The time at which statistics begin: of the command line, or of the description if it is before
/// the end, or a tenth of the run.
pub fn warm_up(until: f64, warm_up: Option<f64>, written: Option<f64>) -> f64 {
    match (warm_up, written) {
        (Some(warm_up), _) => warm_up,
        (None, Some(written)) if written >= until => {
            let tenth = until / 10.0;
            print_report(&format!(
                "notice: the file's warm_up of {written} is not below the end at {until}: statistics begin at {tenth}. Use --warm-up to change it."
            ));
            tenth
        }
        (None, written) => written.unwrap_or(until / 10.0),
    }
}

/// Why the replications of a point ended.
pub fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Reached => "reached the requested precision",
        Decision::ReplicationsSpent => "stopped at the bound of replications, before the requested precision",
        Decision::EventsSpent => {
            "stopped at the bound of events, before the requested precision (--replications sets another bound)"
        }
        Decision::TimeSpent => "stopped at the bound of time, before the requested precision",
        Decision::AllFailed => "no replication has an observation",
        Decision::Stopped => "stopped early",
        _ => "continues",
    }
}

/// A number of things: "1 replication", "2 replications".
pub fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    format!("{number} {thing}{}", if number == N::from(1) { "" } else { "s" })
}

/// The bounds of a run to a precision, as text.
pub fn bounds(budget: &Budget) -> String {
    let events = budget.events.map(|most| count(most, "event"));
    let replications = budget.replications.map(|most| count(most, "replication"));
    let bounds: Vec<_> = events.into_iter().chain(replications).collect();
    format!("at most {} were allowed", bounds.join(" and "))
}

/// The result of a selection, and after how many runs each other point was eliminated.
pub fn selected(design: &Design, selected: &Selected) -> String {
    let all = |points: &[usize]| {
        let points: Vec<_> = points.iter().map(|&point| design.describe(point)).collect();
        points.join(" and ")
    };
    let found = selected
        .best
        .map_or_else(|| format!("not decided between {}", all(&selected.survivors)), |point| all(&[point]));
    let ended = selected.eliminated.iter().enumerate();
    let ended: Vec<_> =
        ended.filter_map(|(point, after)| Some(format!("{} after {}", all(&[point]), (*after)?))).collect();
    let ended = if ended.is_empty() { String::new() } else { format!("; out of it: {}", ended.join(", ")) };
    let runs = selected.observations.iter().map(Observations::replications).max().unwrap_or(0);
    format!("{found} ({}{ended})", count(runs, "run"))
}
