//! What a model's TOML file says.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eventhorizon::gpu::{FieldKind, Source, StructLayout};
use eventhorizon::pdes::{Capacity, Payload, SimulationError};
use eventhorizon::time::{Resolution, Ticks};
use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;

use super::measure::{Formula, Function};
use super::model::{COUNT, Measure, Measures, Replicating, UNIT, WgslModel};
use super::parameter::{Kind, Parameter, parameter, set, ticks};
use super::read::{MOST_TEXT, read, table};
use crate::shared::{Failure, Outcome, usage};

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    name: Option<Spanned<String>>,
    model: String,
    #[serde(default = "one")]
    seed: u64,
    replications: Option<u32>,
    ticks_per_unit: Option<Spanned<u32>>,
    processes: Option<Processes>,
    #[serde(default)]
    parameters: IndexMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    measures: IndexMap<String, Spanned<String>>,
}

/// What a model of logical processes is told besides its parameters. Times are in units.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Processes {
    count: Spanned<u32>,
    /// Infinite for processes that send each other nothing.
    #[serde(default = "zero")]
    lookahead: Spanned<f64>,
    until: Option<Spanned<f64>>,
    /// Words of an event: 2 or 6.
    #[serde(default = "two")]
    pub(super) payload: Spanned<u32>,
    memory_rows: Option<Spanned<u32>>,
    queue: Option<Spanned<u32>>,
    mailbox: Option<Spanned<u32>>,
    data: Option<Spanned<Data>>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "data has to be a list of whole numbers from 0 to 4294967295, or the name of a text file of them"
)]
enum Data {
    Numbers(Vec<u32>),
    File(PathBuf),
}

fn one() -> u64 {
    1
}

fn zero() -> Spanned<f64> {
    Spanned::new(0..0, 0.0)
}

fn two() -> Spanned<u32> {
    Spanned::new(0..0, 2)
}

// As where a model in Rust says nothing.
const QUEUE: u32 = 32;
const MAILBOX: u32 = 16;

/// A model's file, read and checked as far as it can be without the WGSL.
pub(super) struct File {
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) replications: Option<u32>,
    pub(super) units: Resolution,
    /// What the ticks of a unit of time round.
    pub(super) warnings: Vec<String>,
    pub(super) processes: Option<Processes>,
    pub(super) measures: Arc<Measures>,
    pub(super) source: Arc<Source>,
    data: Arc<[u32]>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) path: PathBuf,
    /// The other files that it names.
    pub(super) named: Vec<PathBuf>,
    text: String,
}

impl File {
    /// Reads a file, and those that it names. `changes` are `NAME=VALUES` of parameters; `until` is
    /// the end of runs where it is not that of the file.
    pub(super) fn read(path: &Path, changes: &[String], until: Option<f64>) -> Outcome<Self> {
        let text = read(path, MOST_TEXT)?;
        let written: ModelFile = toml::from_str(&text).map_err(|error| {
            usage(format!("{}: {}", path.display(), short(&eventhorizon::suggested(&error.to_string()))))
        })?;
        let at = |span: Range<usize>| format!("{}:{}", path.display(), line(&text, span.start));
        let beside = |name: &Path| path.parent().unwrap_or(Path::new("")).join(name);
        let model = beside(Path::new(&written.model));
        let source = Source::new(model.display().to_string(), read(&model, MOST_TEXT)?).into();

        let mut parameters = Vec::new();
        for (name, value) in written.parameters {
            let place = at(value.span());
            if name.chars().any(char::is_control) {
                return Err(usage(format!("{place}: {name:?} is no field of `struct Params`")));
            }
            let (kind, levels) =
                parameter(value.get_ref()).map_err(|what| usage(format!("{place}: {name} {what}")))?;
            parameters.push(Parameter { name, kind, levels, place });
        }
        for (number, change) in changes.iter().enumerate() {
            let name = |change: &str| change.split('=').next().unwrap_or_default().trim().to_owned();
            if let Some(first) = changes[..number].iter().find(|first| name(first) == name(change)) {
                return Err(usage(format!(
                    "--set {first} and --set {change} set the same parameter. \
                     Choose one, or give its values as a list, such as n=10,20"
                )));
            }
            set(&mut parameters, change)?;
        }
        let times = times(&parameters, written.processes.as_ref(), until);
        let units = match &written.ticks_per_unit {
            Some(ticks) => Resolution::new(*ticks.get_ref())
                .map_err(|error| usage(format!("{}: {error}", at(ticks.span()))))?,
            None => chosen(&times),
        };
        let warnings = rounded(&times, units);
        let mut formulas = Vec::new();
        for (name, text) in written.measures {
            let place = at(text.span());
            let wrong = |what: &str| usage(format!("{place}: the measure {name:?} {what}"));
            named(&name).map_err(|what| wrong(&what))?;
            if ["events", UNIT, COUNT].contains(&&*name) || parameters.iter().any(|known| known.name == name)
            {
                return Err(wrong("is called as something else is: give it another name"));
            }
            let formula =
                Formula::parse(text.get_ref()).map_err(|wrong| usage(format!("{place}: {name}: {wrong}")))?;
            formulas.push(Measure { name, formula, place });
        }
        let mut named_files = vec![model];
        let data = match written.processes.as_ref().and_then(|processes| processes.data.as_ref()) {
            None => Vec::new(),
            Some(data) => match data.get_ref() {
                Data::Numbers(numbers) => numbers.clone(),
                Data::File(name) => {
                    named_files.push(beside(name));
                    table(&beside(name))?
                }
            },
        };
        if let Some(name) = &written.name {
            let place = at(name.span());
            named(name.get_ref())
                .map_err(|what| usage(format!("{place}: the name {:?} {what}", name.get_ref())))?;
        }
        let processes =
            written.processes.as_ref().map_or(0.0, |processes| f64::from(*processes.count.get_ref()));
        let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self {
            name: written.name.map_or_else(stem, Spanned::into_inner),
            seed: written.seed,
            replications: written.replications,
            units,
            warnings,
            processes: written.processes,
            measures: Arc::new(Measures { formulas, units, processes }),
            source,
            data: data.into(),
            parameters,
            path: path.to_owned(),
            named: named_files,
            text,
        })
    }

    /// An error of what stands at a place of the file.
    pub(super) fn wrong(&self, span: Range<usize>, what: &str) -> Failure {
        usage(format!("{}:{}: {what}", self.path.display(), line(&self.text, span.start)))
    }

    /// An error of the library's that is of something in [processes], at the place where that is
    /// written.
    pub(super) fn placed(&self, error: SimulationError) -> Failure {
        use SimulationError as S;
        let Some(processes) = &self.processes else { return error.into() };
        let span = match &error {
            S::NoLps | S::TooManyLps { .. } | S::ReplicaTooLarge { .. } => Some(processes.count.span()),
            S::NoCapacity { what } | S::TooLarge { what, .. } => {
                let given = match *what {
                    "queue" | "queues" => &processes.queue,
                    "mailbox" | "mailboxes" => &processes.mailbox,
                    _ => &processes.memory_rows,
                };
                given.as_ref().map(Spanned::span)
            }
            S::Data { .. } => processes.data.as_ref().map(Spanned::span),
            _ => return error.into(),
        };
        let reported = in_words(&error);
        match span {
            Some(span) => self.wrong(span, &reported),
            None => usage(format!("{}: {reported}", self.path.display())),
        }
    }

    /// The end of runs: that of the command line, or of the file.
    pub(super) fn until(&self, given: Option<f64>) -> Outcome<Ticks> {
        let written = self.processes.as_ref().and_then(|processes| processes.until.as_ref());
        match (given, written) {
            (Some(until), _) => ticks(self.units, until).map_err(|what| usage(format!("--until {what}"))),
            (None, Some(until)) => ticks(self.units, *until.get_ref())
                .map_err(|what| self.wrong(until.span(), &format!("until {what}"))),
            (None, None) => Err(usage("say where runs end: `until` in [processes], or --until")),
        }
    }

    /// Checks the measures by the columns that there are.
    pub(super) fn check_measures(&self, output: &StructLayout) -> Outcome<()> {
        let names: Vec<_> = output.columns().iter().map(|field| field.name.as_str()).collect();
        let has = |name: &str| names.contains(&name);
        let is =
            |name: &str, kind| output.columns().iter().any(|field| field.name == name && field.kind == kind);
        let processes = self.processes.is_some();
        // Over processes the library's own structs alone have a mean, and their sums have 128 bits.
        let total = |name: &str| if processes { is(name, FieldKind::U128) } else { has(name) };
        for Measure { name, formula, place } in &self.measures.formulas {
            if has(name) {
                return Err(usage(format!(
                    "{place}: {name} is a result column, too: give the measure another name"
                )));
            }
            for (function, column) in formula.asked() {
                let known = match function {
                    Function::Mean => {
                        total(&format!("{column}.area"))
                            || (total(&format!("{column}.sum")) && has(&format!("{column}.count")))
                    }
                    Function::Sum => has(column) || column == UNIT || (processes && column == COUNT),
                    Function::Min | Function::Max => has(column) && processes,
                    Function::Over | Function::Under => unreachable!("no formula of a file has them"),
                };
                if processes && function == Function::Sum && is(column, FieldKind::F32) {
                    return Err(usage(format!(
                        "{place}: {name}: {column} is f32, and has no exact sum over the processes: take its min or max, or let the WGSL give a whole \
                         number in a fixed unit"
                    )));
                }
                if !known {
                    let what = match function {
                        Function::Mean => {
                            format!("mean({column}) takes a Tally or a TimeAverage of `struct Output`")
                        }
                        Function::Min | Function::Max if !processes => {
                            "min and max are over processes, and a replication is none".to_owned()
                        }
                        _ => format!("{column} is no result column"),
                    };
                    return Err(usage(format!(
                        "{place}: {name}: {what}. The columns are {}",
                        names.join(", ")
                    )));
                }
            }
        }
        Ok(())
    }

    /// The model of logical processes that has these parameters.
    pub(super) fn process_model<P: Payload>(&self, params: Vec<u8>) -> Outcome<WgslModel<P>> {
        let processes = self.processes.as_ref().ok_or("it has no [processes]")?;
        let lookahead = match *processes.lookahead.get_ref() {
            f64::INFINITY => Ticks::NEVER,
            units => ticks(self.units, units)
                .map_err(|what| self.wrong(processes.lookahead.span(), &format!("lookahead {what}")))?,
        };
        let or = |given: &Option<Spanned<u32>>, other| given.as_ref().map_or(other, |given| *given.get_ref());
        Ok(WgslModel {
            name: self.name.clone(),
            source: Arc::clone(&self.source),
            lps: *processes.count.get_ref(),
            lookahead,
            params,
            data: Arc::clone(&self.data),
            memory_rows: or(&processes.memory_rows, 0),
            capacity: Capacity {
                queue: or(&processes.queue, QUEUE),
                mailbox: or(&processes.mailbox, MAILBOX),
            },
            measures: Arc::clone(&self.measures),
            payload: PhantomData,
        })
    }

    /// The model of replications that has these parameters.
    pub(super) fn replication_model(&self, params: Vec<u8>) -> Replicating {
        Replicating { source: Arc::clone(&self.source), params, measures: Arc::clone(&self.measures) }
    }
}

/// The times of a file, and what each is of.
struct Times {
    /// Above zero: of parameters, of all their levels, and the lookahead.
    spans: Vec<(String, f64)>,
    until: Option<f64>,
    /// Whether a parameter is a time.
    any: bool,
}

fn times(parameters: &[Parameter], processes: Option<&Processes>, until: Option<f64>) -> Times {
    let is_span = |units: f64| units > 0.0 && units.is_finite();
    let parameters: Vec<_> = parameters.iter().filter(|parameter| parameter.kind == Kind::Time).collect();
    let levels = parameters
        .iter()
        .flat_map(|parameter| parameter.levels.iter().map(|level| (parameter.name.clone(), level.as_f64())));
    let lookahead = processes.map(|processes| ("lookahead".to_owned(), *processes.lookahead.get_ref()));
    let written = || processes.and_then(|processes| Some(*processes.until.as_ref()?.get_ref()));
    Times {
        spans: levels.chain(lookahead).filter(|&(_, units)| is_span(units)).collect(),
        until: until.or_else(written).filter(|&until| is_span(until)),
        any: !parameters.is_empty(),
    }
}

/// The ticks of a unit where the file says nothing: by its times, or the library's where no
/// parameter is one.
fn chosen(times: &Times) -> Resolution {
    if !times.any {
        return Resolution::default();
    }
    let constants = times.spans.iter().map(|(_, units)| *units);
    let shortest = constants.clone().fold(f64::INFINITY, f64::min);
    let constants: Vec<f64> = constants.chain(times.until).collect();
    Resolution::for_times(&constants, shortest, times.until.unwrap_or(0.0))
}

/// Warnings of times that are no whole ticks.
fn rounded(times: &Times, units: Resolution) -> Vec<String> {
    let until = times.until.map(|until| ("until".to_owned(), until));
    let all = times.spans.iter().cloned().chain(until).filter(|&(_, time)| !units.is_exact(time));
    let reported = all.map(|(name, time)| {
        let (per_unit, ticks) = (units.ticks_per_unit(), units.ticks(time).unwrap_or(Ticks::NEVER));
        format!("{name}: {time} is rounded to {}, whole ticks of 1/{per_unit}", units.units(ticks))
    });
    let mut reported: Vec<String> = reported.collect();
    let others = reported.len().saturating_sub(MOST_WARNINGS);
    reported.truncate(MOST_WARNINGS);
    reported.extend((others > 0).then(|| format!("{others} more times are rounded")));
    reported
}

/// The rounded times that are named; others are counted.
const MOST_WARNINGS: usize = 8;

/// Checks a name of the user's: reports show it, and files are called so.
fn named(name: &str) -> Result<(), String> {
    const MOST: usize = 100;
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match name.chars().all(fits) && !name.is_empty() && !name.starts_with('.') {
        true if name.len() <= MOST => Ok(()),
        true => Err(format!("has more than {MOST} bytes")),
        false => Err("has to be of letters, digits, `_`, `-` and `.`, and not begin with a `.`".to_owned()),
    }
}

/// The line of a place in a text, from 1.
fn line(text: &str, place: usize) -> usize {
    text.bytes().take(place).filter(|byte| *byte == b'\n').count() + 1
}

/// What the library says, in which a Rust program's words are those of the file.
pub(super) fn in_words(reported: impl Display) -> String {
    let words = [
        ("`Mapping::Grid`", "`--mapping grid`"),
        ("`Model::data`", "`data` in [processes]"),
        ("return the table there", "give the table there"),
        ("`Model::memory_rows`", "`memory_rows` in [processes]"),
        ("`Capacity::queue`", "`queue` in [processes]"),
        ("`Capacity::mailbox`", "`mailbox` in [processes]"),
    ];
    words.iter().fold(reported.to_string(), |reported, (library, file)| reported.replace(library, file))
}

/// What is wrong in a file, with the parts of it that are quoted cut where they are long.
fn short(reported: &str) -> String {
    const MOST: usize = 240;
    let cut = |line: &str| match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    reported.trim_end().lines().map(cut).collect::<Vec<_>>().join("\n")
}
