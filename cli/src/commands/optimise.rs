//! Finds the integers in a network or a process model that minimise a measure or a cost, subject to
//! bounds on other measures.
//!
//! ```text
//! eventhorizon optimise examples/networks/call_centre.toml --set station.agents.servers=1..30 \
//!     --minimise station.agents.servers --subject-to 'reneged(agents) <= 0.05' --budget 2000
//! eventhorizon optimise examples/networks/call_centre.toml --set station.agents.servers=1..30 \
//!     --minimise station.agents.servers --subject-to 'share(wait(agents) <= 1) >= 0.8'
//! eventhorizon optimise examples/processes/emergency.toml --set doctors=2..8 \
//!     --minimise '60 * doctors + doctor_wait' --budget 1000
//! ```

use std::collections::{BTreeMap, HashMap};
use std::io::{Write as _, stdout};
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::path::PathBuf;

use clap::Parser;
use eventhorizon::Backend;
use eventhorizon::facility::{self, FacilityError, NetworkDescription, PointRun, Share};
use eventhorizon::pdes::EngineOptions;
use eventhorizon::process::{self, CompiledProcess, NetworkForm, ProcessError};
use eventhorizon::statistics::{
    Column, Compass, Design, Found, Observations, Pairing, Value, Values, with_error,
};
use serde_json::json;

use crate::shared::expression::{Columns, Expression, bound};
use crate::shared::points::{self, Kind, Points};
use crate::shared::{self, Failure, FileUse, Outcome, usage};

#[derive(Parser)]
#[command(about = "Find the integers in a network or a process model that minimise a measure or a cost")]
pub struct Args {
    /// Read the description from this file; `-` is standard input
    file: PathBuf,
    /// Search this number from FIRST to LAST, both included: PATH=FIRST..LAST. Without `..`, set it
    #[arg(long, value_name = "PATH=RANGE", required = true)]
    set: Vec<String>,
    /// Minimise this expression of measures and paths, such as 'wait(desk)' or
    /// '30 * station.desk.servers + queue(desk)'
    #[arg(long, value_name = "EXPRESSION", required_unless_present = "maximise", conflicts_with = "maximise", value_parser = Expression::parse)]
    minimise: Option<Expression>,
    /// Maximise it
    #[arg(long, value_name = "EXPRESSION", value_parser = Expression::parse)]
    maximise: Option<Expression>,
    /// Keep this bound: EXPRESSION <= EXPRESSION, or >=
    #[arg(long, value_name = "BOUND", value_parser = bound)]
    subject_to: Vec<Expression>,
    /// Spend at most this number of replications, of all points together
    #[arg(long, value_name = "REPLICATIONS", default_value_t = 2000)]
    budget: u64,
    /// Set the seed of the random streams, and of the search
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Set the level at which neighbours have to be worse, all together, for an end before the
    /// budget, and of intervals
    #[arg(long, default_value_t = 0.95, value_parser = shared::level)]
    level: f64,
    /// Set the end of each replication. Default: the end in the file
    #[arg(long, value_parser = shared::positive)]
    until: Option<f64>,
    /// Set the time at which statistics begin. Default: the warm-up in the file, or a tenth of the
    /// run
    #[arg(long, value_parser = shared::not_negative)]
    warm_up: Option<f64>,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
    /// Write the visited points as CSV to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// The names of columns that the search reads.
const OBJECTIVE: &str = "objective";

/// Stands for points without a steady state: larger than any measure, and larger for larger loads.
const UNSTABLE: f64 = 1e12;

/// What is searched.
struct SearchBox {
    paths: Vec<String>,
    ranges: Vec<RangeInclusive<i64>>,
}

/// The makers of replications.
enum System {
    Network {
        description: NetworkDescription,
        compiled: HashMap<Vec<i64>, Result<NetworkForm, f64>>,
        study: facility::Study,
        columns: Columns,
    },
    Process {
        compiled: Box<CompiledProcess>,
        study: process::Study,
        /// The point of the design at levels.
        points: BTreeMap<Vec<i64>, usize>,
        /// Points at which too many entities are there, by how soon.
        full: HashMap<Vec<i64>, f64>,
    },
}

pub fn run(args: &Args) -> Outcome<()> {
    shared::check_files(&[
        (FileUse::Reads, "the description", Some(&*args.file)),
        args.json.file(),
        (FileUse::Writes, "--csv", args.csv.as_deref()),
    ])?;
    let text = points::text(&args.file)?;
    let (searched, fixed) = ranges(&args.set)?;
    let mut system = match points::kind(&args.file, &text)? {
        Kind::Network => network(args, &text, &searched, fixed)?,
        Kind::Process => processes(args, &text, &searched, fixed)?,
        Kind::Model => {
            return Err(usage(format!(
                "{}: networks and process models are optimised, not WGSL",
                args.file.display()
            )));
        }
    };
    let place = args.place.study()?;
    let objective = match (&args.minimise, &args.maximise) {
        (Some(objective), _) => objective.clone(),
        (None, Some(objective)) => Expression::Negative(Box::new(objective.clone())),
        (None, None) => unreachable!("one is required"),
    };
    let (objective, bounds) = system.expanded(&objective, &args.subject_to)?;
    let names: Vec<String> = (1..=args.subject_to.len()).map(|number| format!("bound {number}")).collect();
    let mut columns = vec![(OBJECTIVE, &objective)];
    columns.extend(names.iter().map(String::as_str).zip(&bounds));
    let compass = Compass {
        constraints: names.clone(),
        level: args.level,
        seed: args.seed,
        ..Compass::new(OBJECTIVE, args.budget)
    };
    let start: Option<Vec<i64>> = searched.paths.iter().map(|path| system.written(path)).collect();
    let bar = shared::bar(0, "{spinner} {elapsed} {wide_msg}")?;
    let mut runs = 0;
    let found = compass.run(&searched.ranges, start.as_deref(), |points, range| {
        if shared::watch().is_break() {
            return match runs {
                0 => Err("stopped before the search had a result".into()),
                _ => Ok(Vec::new()),
            };
        }
        runs += points.len() as u64 * u64::from(range.end - range.start);
        bar.set_message(format!("{runs} of {} replications", args.budget));
        system.observe(args, &searched.paths, points, range, &columns, place.backend())
    });
    bar.finish_and_clear();
    let unstable = |at: &[i64]| system.load(at);
    report(args, &searched, &found?, &columns, &unstable, place.adapter().map(str::to_owned))
}

/// The ranges of --set, and the changes with one value.
fn ranges(changes: &[String]) -> Outcome<(SearchBox, Vec<String>)> {
    let (mut searched, mut fixed) = (SearchBox { paths: Vec::new(), ranges: Vec::new() }, Vec::new());
    for change in changes {
        let wrong = || {
            usage(format!(
                "--set {change}: expected PATH=FIRST..LAST, with whole numbers, such as station.desk.servers=1..20"
            ))
        };
        let (path, values) = change.split_once('=').ok_or_else(wrong)?;
        match values.split_once("..") {
            None => fixed.push(change.clone()),
            Some((first, last)) => {
                let [first, last] = [first, last].map(|end| end.trim().parse::<i64>().map_err(|_| wrong()));
                let (first, last) = (first?, last?);
                if first > last {
                    return Err(wrong());
                }
                let path = path.trim().to_owned();
                if searched.paths.contains(&path) {
                    return Err(usage(format!("--set {change}: the path has a range already")));
                }
                searched.paths.push(path);
                searched.ranges.push(first..=last);
            }
        }
    }
    match searched.paths.is_empty() {
        false => Ok((searched, fixed)),
        true => Err(usage("no number is searched: give one a range, as in --set station.desk.servers=1..20")),
    }
}

fn network(args: &Args, text: &str, searched: &SearchBox, fixed: Vec<String>) -> Outcome<System> {
    let points = Points { set: fixed, paired: false, design: None };
    let mut description = points.network_of(&args.file, text)?;
    let design = shared::in_file(&args.file, description.design())?;
    let open = design.factors().iter().find(|factor| !searched.paths.contains(factor));
    if let Some(path) = open {
        return Err(several(args, path));
    }
    for (path, range) in searched.paths.iter().zip(&searched.ranges) {
        // Each path is tried before the search.
        description.set(&format!("{path}={}", range.start()))?;
    }
    let design = shared::in_file(&args.file, description.design())?;
    let written = shared::in_file(&args.file, description.network(&design, 0))?;
    let until = shared::end_of_runs(args.until, written.until)?;
    let warm_up = shared::warm_up(until, args.warm_up, written.warm_up);
    let study = facility::Study::new(1, until, warm_up).seed(args.seed).level(args.level);
    let columns = shared::in_file(&args.file, Columns::of_file(&description))?;
    Ok(System::Network { description, compiled: HashMap::new(), study, columns })
}

fn several(args: &Args, path: &str) -> Failure {
    usage(format!(
        "{}: {path} has several values: give it a range or one value by --set",
        args.file.display()
    ))
}

/// The most points of a process model: its program has all of them as data.
const MOST_POINTS: u64 = 100_000;

fn processes(args: &Args, text: &str, searched: &SearchBox, fixed: Vec<String>) -> Outcome<System> {
    let count = searched
        .ranges
        .iter()
        .try_fold(1_u64, |count, range| count.checked_mul(range.end().abs_diff(*range.start()) + 1));
    if count.is_none_or(|count| count > MOST_POINTS) {
        return Err(usage(format!(
            "the ranges have more than {MOST_POINTS} combinations: choose shorter ones"
        )));
    }
    let points = Points { set: fixed, paired: false, design: None };
    let mut model = points.process_of(&args.file, text)?;
    model.paired = false;
    for (path, range) in searched.paths.iter().zip(&searched.ranges) {
        let values: Vec<String> = range.clone().map(|value| value.to_string()).collect();
        model.set(&format!("{path}={}", values.join(",")))?;
    }
    let open =
        model.parameters.iter().find(|(name, of)| of.values.len() > 1 && !searched.paths.contains(name));
    if let Some((name, _)) = open {
        return Err(several(args, name));
    }
    let until = shared::end_of_runs(args.until, model.until)?;
    let warm_up = shared::warm_up(until, args.warm_up, model.warm_up);
    (model.until, model.warm_up) = (Some(until), Some(warm_up));
    let compiled = model.compile().map_err(|error| error.in_file(&args.file))?;
    let design = compiled.design();
    let at = |point: usize| {
        let levels = searched.paths.iter().zip(&searched.ranges).map(|(path, range)| {
            let level = design.point(point).level(path).and_then(Value::whole);
            level.and_then(|level| i64::try_from(level).ok()).unwrap_or(*range.start())
        });
        (levels.collect(), point)
    };
    let points = (0..design.len()).map(at).collect();
    let study = process::Study::new(1, until, warm_up).seed(args.seed);
    Ok(System::Process { compiled: Box::new(compiled), study, points, full: HashMap::new() })
}

impl System {
    /// The expressions without names of the file's own columns, whose shares become measures.
    fn expanded(
        &mut self,
        objective: &Expression,
        bounds: &[Expression],
    ) -> Outcome<(Expression, Vec<Expression>)> {
        let Self::Network { columns, .. } = self else { return Ok((objective.clone(), bounds.to_vec())) };
        let objective = columns.expanded(objective)?;
        Ok((objective, bounds.iter().map(|bound| columns.expanded(bound)).collect::<Outcome<_>>()?))
    }

    /// The number in the file, where the search begins.
    fn written(&self, path: &str) -> Option<i64> {
        match self {
            Self::Network { description, .. } => description.value(path)?.whole()?.try_into().ok(),
            Self::Process { .. } => None,
        }
    }

    /// The load of a point that was not simulated, because its lines grow without end.
    fn load(&self, at: &[i64]) -> Option<f64> {
        match self {
            Self::Network { compiled, .. } => compiled.get(at)?.as_ref().err().copied(),
            Self::Process { full, .. } => full.get(at).copied(),
        }
    }

    /// Makes the same replications of points, with the columns of the search.
    fn observe(
        &mut self,
        args: &Args,
        paths: &[String],
        points: &[Vec<i64>],
        range: Range<u32>,
        columns: &[(&str, &Expression)],
        backend: Backend<'_>,
    ) -> Outcome<Vec<Observations>> {
        match self {
            Self::Process { compiled, study, points: numbers, full } => {
                let run = |at: &[Vec<i64>]| {
                    let numbers: Vec<usize> = at.iter().map(|at| numbers[at]).collect();
                    compiled.study(study).backend(backend).observe(&numbers, range.clone())
                };
                let made =
                    if points.iter().any(|at| full.contains_key(at)) { None } else { Some(run(points)) };
                if let Some(Ok(made)) = made {
                    let with_columns = |(at, mut made): (&Vec<i64>, Observations)| {
                        add_columns(&mut made, columns, (paths, at), &|_| None)?;
                        Ok(made)
                    };
                    return points.iter().zip(made).map(with_columns).collect();
                }
                if let Some(Err(error)) = made
                    && !matches!(error, ProcessError::Full(_))
                {
                    return Err(error.in_file(&args.file).into());
                }
                // Entities enter faster than they leave at some of the points.
                let mut all = Vec::with_capacity(points.len());
                for at in points {
                    let made = match full.get(at) {
                        Some(_) => Err(full[at]),
                        None => match run(std::slice::from_ref(at)) {
                            Ok(mut made) => Ok(made.swap_remove(0)),
                            Err(ProcessError::Full(found)) if range.start == 0 => {
                                Err(study.until / found.time)
                            }
                            Err(error) => return Err(error.in_file(&args.file).into()),
                        },
                    };
                    all.push(match made {
                        Ok(mut made) => {
                            add_columns(&mut made, columns, (paths, at), &|_| None)?;
                            made
                        }
                        Err(load) => {
                            full.insert(at.clone(), load);
                            unstable(load, range.len(), columns)?
                        }
                    });
                }
                Ok(all)
            }
            Self::Network { description, compiled, study, columns: own } => {
                let study = study.replications(range.end);
                let mut all = Vec::with_capacity(points.len());
                for at in points {
                    if !compiled.contains_key(at) {
                        let made = compile(args, description, (paths, at), &study, &own.shares)?;
                        compiled.insert(at.clone(), made);
                    }
                    let form = match &compiled[at] {
                        Ok(form) => form,
                        Err(load) => {
                            all.push(unstable(*load, range.len(), columns)?);
                            continue;
                        }
                    };
                    let options = EngineOptions::default();
                    let run = PointRun { shares: &own.shares, backend, options, first: range.start };
                    let report = form.run(&study, run, &mut |_, _| ControlFlow::Continue(()));
                    let report = report.map_err(|error| named(args, (paths, at), error))?;
                    let mut made = report.observations()?;
                    let written = |path: &str| description.changed_value(path).map(Value::as_f64);
                    add_columns(&mut made, columns, (paths, at), &written)?;
                    all.push(made);
                }
                Ok(all)
            }
        }
    }
}

/// A point: its paths and levels.
type At<'a> = (&'a [String], &'a [i64]);

fn described((paths, at): At<'_>) -> String {
    paths.iter().zip(at).map(|(path, level)| format!("{path}={level}")).collect::<Vec<_>>().join(" ")
}

fn named(args: &Args, at: At<'_>, source: FacilityError) -> Failure {
    let error = FacilityError::Point { point: described(at), source: Box::new(source) };
    shared::in_file::<()>(&args.file, Err(error)).expect_err("it is an error")
}

/// The network at a point, or its load if it has no steady state.
fn compile(
    args: &Args,
    description: &NetworkDescription,
    (paths, at): At<'_>,
    study: &facility::Study,
    shares: &[Share],
) -> Outcome<Result<NetworkForm, f64>> {
    let levels = paths.iter().zip(at);
    let design =
        levels.clone().try_fold(Design::default(), |design, (path, level)| design.cross(path, [*level]))?;
    let mut network = description.network(&design, 0).map_err(|error| named(args, (paths, at), error))?;
    (network.until, network.warm_up) = (Some(study.until), Some(study.warm_up));
    match NetworkForm::new(&network, shares, false) {
        Ok(form) => Ok(Ok(form)),
        Err(FacilityError::Unstable { load, .. }) => Ok(Err(load)),
        Err(error) => Err(named(args, (paths, at), error)),
    }
}

/// The columns of a point whose lines grow without end: worse than all others.
fn unstable(load: f64, replications: usize, columns: &[(&str, &Expression)]) -> Outcome<Observations> {
    let column = |(name, _): &(&str, &Expression)| Column {
        name: (*name).to_owned(),
        values: Values::F64(vec![UNSTABLE * load; replications]),
    };
    let columns = columns.iter().map(column).collect();
    Ok(Observations::new(replications, columns, [], Pairing::Independent)?)
}

/// Adds the objective and the bounds. Names are paths, or measures.
fn add_columns(
    made: &mut Observations,
    columns: &[(&str, &Expression)],
    (paths, at): At<'_>,
    written: &dyn Fn(&str) -> Option<f64>,
) -> Outcome<()> {
    for (name, expression) in columns {
        let (mut numbers, mut measures) = (HashMap::new(), Vec::new());
        for used in expression.names() {
            let level = paths.iter().zip(at).find(|(path, _)| **path == used).map(|(_, level)| *level);
            #[allow(clippy::cast_precision_loss, reason = "levels are small")]
            let number = level.map(|level| level as f64).or_else(|| written(&used));
            match number {
                Some(number) => drop(numbers.insert(used, number)),
                None if made.shown().any(|column| column.name == used) => measures.push(used),
                None => {
                    let known: Vec<_> = made.shown().map(|column| column.name.as_str()).collect();
                    let quantile = used
                        .split('(')
                        .next()
                        .is_some_and(|name| name.contains("_9") || name.contains("_50"));
                    let hint = match quantile {
                        true => {
                            " (Instead of a quantile, bound a share, as in 'share(wait(desk) <= 4) >= 0.95'.)"
                        }
                        false => "",
                    };
                    return Err(usage(format!(
                        "`{used}` is no measure, and no number of the file.{hint} Paths: {}. Measures: {}",
                        paths.join(", "),
                        known.join(", ")
                    )));
                }
            }
        }
        let constant = expression.value(&|name| numbers.get(name).copied().unwrap_or(f64::NAN));
        if measures.is_empty() && !constant.is_finite() {
            return Err(usage(format!(
                "at {} the {name} is {constant}: write an expression that is a number at all points",
                described((paths, at))
            )));
        }
        expression.add_to(made, name, &|name| numbers.get(name).copied())?;
    }
    Ok(())
}

/// Prints and writes the result.
fn report(
    args: &Args,
    searched: &SearchBox,
    found: &Found,
    columns: &[(&str, &Expression)],
    load: &dyn Fn(&[i64]) -> Option<f64>,
    adapter: Option<String>,
) -> Outcome<()> {
    let sign = if args.maximise.is_some() { -1.0 } else { 1.0 };
    let estimate = |place: usize, name: &str| -> Outcome<[Option<f64>; 2]> {
        if load(&found.visited[place].at).is_some() {
            return Ok([None; 2]);
        }
        let summary = found.visited[place].observations.summary(name, args.level)?;
        let sign = if name == OBJECTIVE { sign } else { 1.0 };
        Ok([summary.mean.map(|mean| sign * mean), summary.interval.map(|interval| interval.half_width)])
    };
    let mut rows = Vec::new();
    for (place, visited) in found.visited.iter().enumerate() {
        let levels = searched.paths.iter().cloned().zip(visited.at.iter().map(|&level| json!(level)));
        let mut row: serde_json::Map<_, _> = levels.collect();
        row.insert("replications".to_owned(), json!(visited.observations.replications()));
        for (name, _) in columns {
            let [mean, half] = estimate(place, name)?;
            row.insert((*name).to_owned(), json!(mean));
            row.insert(format!("{name} half_width"), json!(half));
        }
        rows.push(row);
    }
    let best_load = load(&found.visited[found.best].at);
    let engine = shared::engine(adapter.is_some());
    let adapter = adapter.unwrap_or_else(|| "the CPU".to_owned());
    let object = json!({
        "seed": args.seed,
        "engine": engine,
        "adapter": adapter,
        "level": args.level,
        "best": rows[found.best],
        "is_feasible": found.is_feasible && best_load.is_none(),
        "is_local_optimum": found.is_local && best_load.is_none(),
        "is_clear": found.is_clear && best_load.is_none(),
        "replications": found.spent,
        "visited": rows,
    });
    let csv = |path: &PathBuf| {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(rows[0].keys())?;
        for row in &rows {
            let text =
                |value: &serde_json::Value| if value.is_null() { String::new() } else { value.to_string() };
            writer.write_record(row.values().map(text))?;
        }
        shared::write(path, &writer.into_inner().map_err(|error| error.to_string())?)
    };
    let shown = || -> Outcome<()> {
        let visited = &found.visited[found.best];
        if let Some(load) = best_load {
            writeln!(
                stdout(),
                "best: none. Lines grow without end at all visited points, least at {} (by a factor of {load:.3}): \
                 search other numbers, or allow a larger --budget",
                described((&searched.paths, &visited.at))
            )?;
            return Ok(());
        }
        writeln!(stdout(), "best: {}", described((&searched.paths, &visited.at)))?;
        for (number, (name, _)) in columns.iter().enumerate() {
            let [mean, half] = estimate(found.best, name)?;
            let number_of =
                |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| with_error(value, half));
            let what = match number {
                0 => "objective".to_owned(),
                _ => format!("bound {number}, at most 0"),
            };
            writeln!(stdout(), "{what}: {} +/- {}", number_of(mean), number_of(half))?;
        }
        let feasible =
            if found.is_feasible { "" } else { "no visited point keeps all bounds; this one is closest. " };
        let state = match (found.is_local, found.is_clear) {
            (_, false) if shared::interrupted() => "stopped before the search ended".to_owned(),
            (true, true) => format!("all neighbours are visited, and are worse at the level {}", args.level),
            (true, false) => {
                "all neighbours are visited, but not all are clearly worse: a larger --budget decides"
                    .to_owned()
            }
            (false, _) => {
                "the budget ended before all neighbours were visited: allow a larger --budget".to_owned()
            }
        };
        writeln!(
            stdout(),
            "{feasible}{state}. {} of {} at {} on {adapter}",
            shared::count(visited.observations.replications(), "replication"),
            found.spent,
            shared::count(found.visited.len(), "point"),
        )?;
        Ok(())
    };
    let quiet = args.json.on_stdout() || shared::on_stdout(args.csv.as_deref());
    shared::all([
        if quiet { Ok(()) } else { shown() },
        args.json.write(&object),
        args.csv.as_ref().map_or(Ok(()), csv),
    ])
}
