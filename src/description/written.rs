//! The TOML file of a description: parsing and checking.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::gpu::{FieldKind, Source, StructLayout};
use crate::pdes::{Capacity, Payload, SimulationError};
use crate::time::{Resolution, Ticks};
use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;

use super::error::{DescriptionError, invalid};
use super::files::{MOST_TEXT, read, table};
use super::formula::{Formula, Function};
use super::model::{COUNT, Measure, Measures, UNIT, WgslModel, WgslReplication};
use super::parameter::{Kind, Parameter, parameter, set, ticks};

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

/// The table [processes]. Times are in units.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Processes {
    count: Spanned<u32>,
    /// Infinite if processes send each other nothing.
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

#[derive(Clone, Deserialize)]
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

// The defaults of models in Rust.
const QUEUE: u32 = 32;
const MAILBOX: u32 = 16;

/// The texts of a description, read once.
#[derive(Clone)]
pub(super) struct Texts {
    /// The name of the TOML file in messages.
    pub(super) path: PathBuf,
    toml: String,
    source: Arc<Source>,
    data: Arc<[u32]>,
    /// The other files that the TOML file names.
    pub(super) named: Vec<PathBuf>,
}

impl Texts {
    /// Reads a TOML file and the files that it names, relative to its folder.
    pub(super) fn read(path: &Path) -> Result<Self, DescriptionError> {
        let toml = read(path, MOST_TEXT)?;
        let file = ModelFile::parse(path, &toml)?;
        let beside = |name: &Path| path.parent().unwrap_or(Path::new("")).join(name);
        let model = beside(Path::new(&file.model));
        let source = Source::new(model.display().to_string(), read(&model, MOST_TEXT)?).into();
        let mut named = vec![model];
        let data = match file.data() {
            Some(Data::File(name)) => {
                named.push(beside(name));
                table(&beside(name))?
            }
            Some(Data::Numbers(numbers)) => numbers.clone(),
            None => Vec::new(),
        };
        Ok(Self { path: path.to_owned(), toml, source, data: data.into(), named })
    }

    /// The same from texts in memory. `data` in the TOML is then a list.
    pub(super) fn new(name: &str, toml: &str, wgsl: Source) -> Result<Self, DescriptionError> {
        let path = PathBuf::from(name);
        let file = ModelFile::parse(&path, toml)?;
        let data = match file.data() {
            Some(Data::File(_)) => {
                return Err(invalid(format!(
                    "{name}: `data` names a file, and the description is a text: give the numbers as a list"
                )));
            }
            Some(Data::Numbers(numbers)) => numbers.clone(),
            None => Vec::new(),
        };
        Ok(Self { path, toml: toml.to_owned(), source: wgsl.into(), data: data.into(), named: Vec::new() })
    }
}

impl ModelFile {
    fn parse(path: &Path, text: &str) -> Result<Self, DescriptionError> {
        toml::from_str(text).map_err(|error| {
            invalid(format!("{}: {}", path.display(), short(&crate::suggested(&error.to_string()))))
        })
    }

    fn data(&self) -> Option<&Data> {
        Some(self.processes.as_ref()?.data.as_ref()?.get_ref())
    }
}

/// A TOML file with its changes, checked as far as it can be without the WGSL.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) replications: Option<u32>,
    pub(super) units: Resolution,
    /// Times that whole ticks round.
    pub(super) warnings: Vec<String>,
    pub(super) processes: Option<Processes>,
    pub(super) measures: Arc<Measures>,
    pub(super) source: Arc<Source>,
    data: Arc<[u32]>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) path: PathBuf,
    until: Option<f64>,
    text: String,
}

impl Written {
    /// `changes` are `NAME=VALUES` of parameters; `until` replaces the end of the file.
    pub(super) fn new(
        texts: &Texts,
        changes: &[String],
        until: Option<f64>,
    ) -> Result<Self, DescriptionError> {
        let Texts { path, toml: text, source, data, .. } = texts;
        let written = ModelFile::parse(path, text)?;
        let at = |span: Range<usize>| format!("{}:{}", path.display(), line(text, span.start));

        let mut parameters = Vec::new();
        for (name, value) in written.parameters {
            let place = at(value.span());
            if name.chars().any(char::is_control) {
                return Err(invalid(format!("{place}: {name:?} is not a field of `struct Params`")));
            }
            let (kind, levels) =
                parameter(value.get_ref()).map_err(|what| invalid(format!("{place}: {name} {what}")))?;
            parameters.push(Parameter { name, kind, levels, place });
        }
        for (number, change) in changes.iter().enumerate() {
            let name = |change: &str| change.split('=').next().unwrap_or_default().trim().to_owned();
            if let Some(first) = changes[..number].iter().find(|first| name(first) == name(change)) {
                return Err(invalid(format!(
                    "the changes {first} and {change} set the same parameter. \
                     Choose one, or give its values as a list, such as n=10,20"
                )));
            }
            set(&mut parameters, change)?;
        }
        let times = times(&parameters, written.processes.as_ref(), until);
        let units = match &written.ticks_per_unit {
            Some(ticks) => Resolution::new(*ticks.get_ref())
                .map_err(|error| invalid(format!("{}: {error}", at(ticks.span()))))?,
            None => chosen(&times),
        };
        let warnings = rounded(&times, units);
        let mut formulas = Vec::new();
        for (name, text) in written.measures {
            let place = at(text.span());
            let wrong = |what: &str| invalid(format!("{place}: the measure {name:?} {what}"));
            named(&name).map_err(|what| wrong(&what))?;
            if ["events", UNIT, COUNT].contains(&&*name) || parameters.iter().any(|known| known.name == name)
            {
                return Err(wrong("has the name of something else: give it another name"));
            }
            let formula = Formula::parse(text.get_ref())
                .map_err(|wrong| invalid(format!("{place}: {name}: {wrong}")))?;
            formulas.push(Measure { name, formula, place });
        }
        if let Some(name) = &written.name {
            let place = at(name.span());
            named(name.get_ref())
                .map_err(|what| invalid(format!("{place}: the name {:?} {what}", name.get_ref())))?;
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
            source: Arc::clone(source),
            data: Arc::clone(data),
            parameters,
            path: path.clone(),
            until,
            text: text.clone(),
        })
    }

    /// Words of the payload of an event: 2 or 6. `None` without processes.
    pub(super) fn payload(&self) -> Result<Option<u32>, DescriptionError> {
        let Some(processes) = &self.processes else { return Ok(None) };
        match *processes.payload.get_ref() {
            words @ (2 | 6) => Ok(Some(words)),
            other => {
                let what = format!("payload is {other}: events carry 2 or 6 words");
                Err(self.wrong(processes.payload.span(), &what))
            }
        }
    }

    /// An error at a place of the file.
    pub(super) fn wrong(&self, span: Range<usize>, what: &str) -> DescriptionError {
        invalid(format!("{}:{}: {what}", self.path.display(), line(&self.text, span.start)))
    }

    /// An error of the engine, at the line of [processes] that causes it.
    pub(super) fn placed(&self, error: SimulationError) -> DescriptionError {
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
            S::HostMemory { .. } => {
                Some(processes.memory_rows.as_ref().map_or(processes.count.span(), Spanned::span))
            }
            S::Data { .. } => processes.data.as_ref().map(Spanned::span),
            _ => return error.into(),
        };
        let reported = in_words(&error);
        match span {
            Some(span) => self.wrong(span, &reported),
            None => invalid(format!("{}: {reported}", self.path.display())),
        }
    }

    /// The end of runs: that of [`Description::until`](super::Description::until), or of the file.
    pub(super) fn until(&self) -> Result<Ticks, DescriptionError> {
        let written = self.processes.as_ref().and_then(|processes| processes.until.as_ref());
        match (self.until, written) {
            (Some(until), _) => {
                ticks(self.units, until).map_err(|what| invalid(format!("the end of runs {what}")))
            }
            (None, Some(until)) => ticks(self.units, *until.get_ref())
                .map_err(|what| self.wrong(until.span(), &format!("until {what}"))),
            (None, None) => Err(invalid(format!(
                "{}: the end of runs is missing: add `until` to [processes]",
                self.path.display()
            ))),
        }
    }

    /// Checks that measures read columns that exist.
    pub(super) fn check_measures(&self, output: &StructLayout) -> Result<(), DescriptionError> {
        let names: Vec<_> = output.columns().iter().map(|field| field.name.as_str()).collect();
        let has = |name: &str| names.contains(&name);
        let is =
            |name: &str, kind| output.columns().iter().any(|field| field.name == name && field.kind == kind);
        let processes = self.processes.is_some();
        // Over processes only Tally and TimeAverage have a mean; their sums have 128 bits.
        let total = |name: &str| if processes { is(name, FieldKind::U128) } else { has(name) };
        for Measure { name, formula, place } in &self.measures.formulas {
            if has(name) {
                return Err(invalid(format!(
                    "{place}: {name} is also a result column: give the measure another name"
                )));
            }
            for (function, column) in formula.columns() {
                let known = match function {
                    Function::Mean => {
                        total(&format!("{column}.area"))
                            || (total(&format!("{column}.sum")) && has(&format!("{column}.count")))
                    }
                    Function::Sum => has(column) || column == UNIT || (processes && column == COUNT),
                    Function::Min | Function::Max => has(column) && processes,
                    Function::Over | Function::Under => unreachable!("the parser makes neither"),
                };
                if processes && function == Function::Sum && is(column, FieldKind::F32) {
                    return Err(invalid(format!(
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
                            "min and max are over processes, and a replication has none".to_owned()
                        }
                        _ => format!("{column} is not a result column"),
                    };
                    return Err(invalid(format!(
                        "{place}: {name}: {what}. The columns are {}",
                        names.join(", ")
                    )));
                }
            }
        }
        Ok(())
    }

    /// The model of logical processes with these parameters.
    pub(super) fn process_model<P: Payload>(
        &self,
        params: Vec<u8>,
    ) -> Result<WgslModel<P>, DescriptionError> {
        let processes = self.processes.as_ref().expect("the caller checked it");
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

    /// The model of replications with these parameters.
    pub(super) fn replication_model(&self, params: Vec<u8>) -> WgslReplication {
        WgslReplication { source: Arc::clone(&self.source), params, measures: Arc::clone(&self.measures) }
    }
}

/// The times of a file with their names.
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

/// The ticks in a unit if the file sets none: chosen by its times; the default if no parameter is a
/// time.
fn chosen(times: &Times) -> Resolution {
    if !times.any {
        return Resolution::default();
    }
    let constants = times.spans.iter().map(|(_, units)| *units);
    let shortest = constants.clone().fold(f64::INFINITY, f64::min);
    let constants: Vec<f64> = constants.chain(times.until).collect();
    Resolution::for_times(&constants, shortest, times.until.unwrap_or(0.0))
}

/// Warnings of times that are not whole ticks.
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

/// Rounded times that are named in warnings; others are counted.
const MOST_WARNINGS: usize = 8;

/// Checks a name of a model or a measure: reports show it, and files are named after it.
fn named(name: &str) -> Result<(), String> {
    const MOST: usize = 100;
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match name.chars().all(fits) && !name.is_empty() && !name.starts_with('.') {
        true if name.len() <= MOST => Ok(()),
        true => Err(format!("has more than {MOST} bytes")),
        false => {
            Err("must consist of letters, digits, `_`, `-` and `.`, and not begin with a `.`".to_owned())
        }
    }
}

/// The line of a place in a text, from 1.
fn line(text: &str, place: usize) -> usize {
    text.bytes().take(place).filter(|byte| *byte == b'\n').count() + 1
}

/// A message with names of Rust items replaced by those of the file.
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

/// A message of the TOML parser, with long quoted lines cut.
fn short(reported: &str) -> String {
    const MOST: usize = 240;
    let cut = |line: &str| match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    reported.trim_end().lines().map(cut).collect::<Vec<_>>().join("\n")
}
