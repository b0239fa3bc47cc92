//! What a model's TOML file says, and the models that it makes of a WGSL file.

use std::collections::HashSet;
use std::fmt::Display;
use std::io::Read as _;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eventhorizon::gpu::{FieldKind, Source, StructLayout, Word};
use eventhorizon::pdes::{self, Capacity, Payload, SimulationError, Totals};
use eventhorizon::replication::{self, pack};
use eventhorizon::statistics::{AnalysisError, Design, Observations, Value};
use eventhorizon::time::{Resolution, Ticks};
use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;

use super::measure::{Formula, Function};
use crate::shared::{Failure, Outcome, usage};

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
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

/// Combinations of the parameters' values, and bytes of them: a small file may ask for more than any machine has.
const MOST_POINTS: u128 = 100_000;
const MOST_BYTES: u128 = 256 << 20;

/// Bytes of a file, and of one with the words of `data`.
const MOST_TEXT: u64 = 16 << 20;
const MOST_DATA: u64 = 256 << 20;

/// A parameter: what kind of number it is, and its levels as people write them.
struct Parameter {
    name: String,
    kind: Kind,
    levels: Vec<Value>,
    /// Where it is written.
    place: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The number itself.
    Plain,
    /// Units of time, for the model in ticks.
    Time,
    /// From 0 to 1, for the model in 2^-32.
    Probability,
}

/// A model's file, read and checked as far as it can be without the WGSL.
pub(super) struct File {
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) replications: Option<u32>,
    pub(super) units: Resolution,
    pub(super) processes: Option<Processes>,
    pub(super) measures: Arc<Measures>,
    source: Arc<Source>,
    data: Arc<[u32]>,
    parameters: Vec<Parameter>,
    path: PathBuf,
    text: String,
}

impl File {
    /// Reads a file, and those that it names. `changes` are `NAME=VALUES` of parameters.
    pub(super) fn read(path: &Path, changes: &[String]) -> Outcome<Self> {
        let text = read(path, MOST_TEXT)?;
        let written: Written = toml::from_str(&text)
            .map_err(|error| usage(format!("{}: {}", path.display(), short(&error.to_string()))))?;
        let at = |span: Range<usize>| format!("{}:{}", path.display(), line(&text, span.start));
        let units = match &written.ticks_per_unit {
            Some(ticks) => Resolution::new(*ticks.get_ref())
                .map_err(|error| usage(format!("{}: {error}", at(ticks.span()))))?,
            None => Resolution::default(),
        };
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
        for change in changes {
            set(&mut parameters, change)?;
        }
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
        let data = match written.processes.as_ref().and_then(|processes| processes.data.as_ref()) {
            None => Vec::new(),
            Some(data) => match data.get_ref() {
                Data::Numbers(numbers) => numbers.clone(),
                Data::File(name) => table(&beside(name))?,
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
            processes: written.processes,
            measures: Arc::new(Measures { formulas, units, processes }),
            source,
            data: data.into(),
            parameters,
            path: path.to_owned(),
            text,
        })
    }

    /// An error of what stands at a place of the file.
    pub(super) fn wrong(&self, span: Range<usize>, what: &str) -> Failure {
        usage(format!("{}:{}: {what}", self.path.display(), line(&self.text, span.start)))
    }

    /// An error of the library's that is of something in [processes], at the place where that is written.
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
        let told = in_words(&error);
        match span {
            Some(span) => self.wrong(span, &told),
            None => usage(format!("{}: {told}", self.path.display())),
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

    /// The parameters by the layout of `struct Params`, if there is one.
    pub(super) fn points(&self, layout: Option<&StructLayout>) -> Outcome<Points> {
        let fields = layout.map_or(&[][..], |layout| &layout.fields);
        let lengths = self.parameters.iter().map(|parameter| parameter.levels.len() as u128);
        let all = lengths.fold(1, u128::saturating_mul);
        if all > MOST_POINTS {
            let path = self.path.display();
            return Err(usage(format!(
                "{path}: the lists of values make {all} combinations, and at most {MOST_POINTS} are taken: give fewer values"
            )));
        }
        let bytes = all * layout.map_or(0, |layout| layout.bytes.into());
        if bytes > MOST_BYTES {
            let (path, file) = (self.path.display(), self.source.name());
            return Err(usage(format!(
                "{path}: `struct Params` of {file} takes {bytes} bytes for {all} combinations of values, and at most {MOST_BYTES} are taken: give fewer \
                 values, or make it smaller"
            )));
        }
        let (mut shown, mut design, mut constants) =
            (Design::default(), Design::default(), Design::default());
        for Parameter { name, kind, levels, place } in &self.parameters {
            let wrong = |what: String| usage(format!("{place}: {what}"));
            let Some(field) = fields.iter().find(|field| field.name == *name) else {
                let known: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
                let known = match known.is_empty() {
                    true => "it has none".to_owned(),
                    false => format!("it has {}", known.join(", ")),
                };
                let file = self.source.name();
                return Err(wrong(format!("{name} is no field of `struct Params` in {file}: {known}")));
            };
            if matches!(field.kind, FieldKind::U128 | FieldKind::Other) {
                return Err(wrong(format!(
                    "{name} is no single number in `struct Params`: give a field of its own to each number (u32, i32, f32, vec2<u32> for a time), \
                     and a table as `data`"
                )));
            }
            let (what, takes) = match kind {
                Kind::Plain => ("a number", &[field.kind][..]),
                Kind::Time => ("a time", &[FieldKind::U64, FieldKind::U32][..]),
                Kind::Probability => ("a probability", &[FieldKind::U32][..]),
            };
            if !takes.contains(&field.kind) {
                let (is, declare) = (in_wgsl(field.kind), in_wgsl(takes[0]));
                return Err(wrong(format!("{name} is {what}, and the field is {is}: declare it {declare}")));
            }
            let device = levels.iter().map(|&level| on_device(kind, level, self.units));
            let device =
                device.collect::<Result<Vec<_>, _>>().map_err(|what| wrong(format!("{name} {what}")))?;
            // Each by itself, so that an error is told where it is written.
            let alone = Design::default().cross(name, device.iter().copied())?;
            let layout = layout.expect("it has a field");
            pack(&alone, layout, Some(&vec![0; layout.bytes as usize]))
                .map_err(|error| wrong(described(&error)))?;
            match levels.len() {
                1 => constants = constants.cross(name, device)?,
                _ => {
                    shown = shown.cross(name, levels.iter().copied())?;
                    design = design.cross(name, device)?;
                }
            }
        }
        let given: HashSet<_> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let fills = |name: &str| name == "unused" || name.starts_with('_');
        if let Some(field) = fields.iter().find(|field| !given.contains(&*field.name) && !fills(&field.name))
        {
            let (path, file, name) = (self.path.display(), self.source.name(), &field.name);
            return Err(usage(format!(
                "{path} says nothing of {name}, which is a field of `struct Params` in {file}: say it in [parameters]"
            )));
        }
        let Some(layout) = layout else {
            return Ok(Points { shown, design, constants: Vec::new(), all: Vec::new() });
        };
        let constants = pack(&constants, layout, Some(&vec![0; layout.bytes as usize]))?;
        let all = pack(&design, layout, Some(&constants))?;
        Ok(Points { shown, design, constants, all })
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
    pub(super) fn process_model<P: Payload>(&self, params: Vec<u8>) -> Outcome<Processing<P>> {
        let processes = self.processes.as_ref().ok_or("it has no [processes]")?;
        let lookahead = match *processes.lookahead.get_ref() {
            f64::INFINITY => Ticks::NEVER,
            units => ticks(self.units, units)
                .map_err(|what| self.wrong(processes.lookahead.span(), &format!("lookahead {what}")))?,
        };
        let or = |given: &Option<Spanned<u32>>, other| given.as_ref().map_or(other, |given| *given.get_ref());
        Ok(Processing {
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

/// The points of a design.
pub(super) struct Points {
    /// In the numbers of the file.
    pub(super) shown: Design,
    /// In those of the model.
    pub(super) design: Design,
    /// `struct Params` with the parameters that have one value.
    pub(super) constants: Vec<u8>,
    /// And those of all points, one after the other.
    all: Vec<u8>,
}

impl Points {
    /// `struct Params` of a point.
    pub(super) fn bytes(&self, point: usize) -> Vec<u8> {
        let each = self.all.len() / self.design.len();
        self.all[point * each..][..each].to_vec()
    }
}

struct Measure {
    name: String,
    formula: Formula,
    place: String,
}

/// What is made of result columns.
pub(super) struct Measures {
    formulas: Vec<Measure>,
    units: Resolution,
    /// How many processes there are.
    processes: f64,
}

/// What a formula calls the ticks of a unit of time, and the number of processes.
const UNIT: &str = "unit";
const COUNT: &str = "processes";

impl Measures {
    pub(super) fn names(&self) -> Vec<&str> {
        self.formulas.iter().map(|measure| measure.name.as_str()).collect()
    }

    /// What a formula may name besides columns.
    fn constant(&self, name: &str) -> Option<f64> {
        match name {
            UNIT => Some(self.units.ticks_per_unit().into()),
            COUNT => Some(self.processes),
            _ => None,
        }
    }
}

/// A model of logical processes that is known by its WGSL alone.
#[derive(Clone)]
pub(super) struct Processing<P> {
    name: String,
    source: Arc<Source>,
    lps: u32,
    lookahead: Ticks,
    params: Vec<u8>,
    data: Arc<[u32]>,
    memory_rows: u32,
    capacity: Capacity,
    measures: Arc<Measures>,
    payload: PhantomData<P>,
}

impl<P: Payload> pdes::Model for Processing<P> {
    type State = Word;
    type Params = Word;
    type Payload = P;
    type Output = Word;

    fn name(&self) -> &str {
        &self.name
    }

    fn source(&self) -> Source {
        Source::clone(&self.source)
    }

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> Ticks {
        self.lookahead
    }

    fn params(&self) -> Word {
        Word::default()
    }

    fn params_bytes(&self) -> Vec<u8> {
        self.params.clone()
    }

    fn data(&self) -> &[u32] {
        &self.data
    }

    fn memory_rows(&self) -> u32 {
        self.memory_rows
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn measures(&self, totals: &Totals) -> Vec<(&'static str, f64)> {
        let of = |function: Function, name: &str| {
            let total = || totals.column(name).ok();
            match function {
                Function::Sum => self.measures.constant(name).or_else(|| Some(total()?.sum().ok()?.to_f64())),
                Function::Min => total().map(|total| total.minimum().to_f64()),
                Function::Max => total().map(|total| total.maximum().to_f64()),
                Function::Mean => match totals.tally(name) {
                    Some(tally) => tally.mean(),
                    None => totals.time_average(name).and_then(|average| average.mean()),
                },
            }
            .unwrap_or(f64::NAN)
        };
        let measures = self.measures.formulas.iter();
        measures.map(|measure| (kept(&measure.name), measure.formula.value(&of))).collect()
    }
}

/// A name for as long as the program runs: a file has few, and each is kept once.
fn kept(name: &str) -> &'static str {
    use std::sync::{Mutex, PoisonError};
    static KEPT: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.iter().find(|known| **known == name) {
        return known;
    }
    let new = name.to_owned().leak();
    all.push(new);
    new
}

/// A model of replications that is known by its WGSL alone.
pub(super) struct Replicating {
    source: Arc<Source>,
    params: Vec<u8>,
    measures: Arc<Measures>,
}

impl replication::Model for Replicating {
    type Params = Word;
    type Output = Word;

    fn source(&self) -> Source {
        Source::clone(&self.source)
    }

    fn params_bytes(&self, _: &Word) -> Vec<u8> {
        self.params.clone()
    }

    fn derive(&self, _: &Word, observations: &mut Observations) -> Result<(), AnalysisError> {
        let columns: Vec<String> = observations.columns().iter().map(|column| column.name.clone()).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        for Measure { name, formula, .. } in &self.measures.formulas {
            observations.derive(name, &columns, |row| {
                let value =
                    |name: &str| columns.iter().position(|known| *known == name).map(|place| row[place]);
                formula.value(&|function, name| {
                    let part = |part: &str| value(&format!("{name}.{part}"));
                    let mean = || match (part("area"), part("sum")) {
                        (Some(area), _) => Some(area / (part("changed")? - part("since")?)),
                        (None, sum) => Some(sum? / part("count")?),
                    };
                    let found = match function {
                        Function::Mean => mean(),
                        _ => self.measures.constant(name).or_else(|| value(name)),
                    };
                    found.unwrap_or(f64::NAN)
                })
            })?;
        }
        match self.measures.formulas.is_empty() {
            true => Ok(()),
            // The measures say it in the units of the model's users.
            false => observations.hide(&columns),
        }
    }
}

/// A text file of at most so many bytes. What is no regular file may have no end.
fn read(path: &Path, most: u64) -> Outcome<String> {
    let wrong = |what: String| usage(format!("{}: {what}", path.display()));
    let failed = |error: std::io::Error| wrong(error.to_string());
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(wrong("it is no regular file".to_owned()));
    }
    let large = |bytes: u64| wrong(format!("it has {bytes} bytes, and at most {most} are read"));
    if about.len() > most {
        return Err(large(about.len()));
    }
    // It may have grown, or tell no length.
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(most + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > most {
        return Err(large(text.len() as u64));
    }
    // Some editors of Windows begin files with it.
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

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

/// Whole numbers, apart by spaces, commas or ends of lines.
fn table(path: &Path) -> Outcome<Vec<u32>> {
    let text = read(path, MOST_DATA)?;
    let mut numbers = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty()) {
            let place = || format!("{}:{number}", path.display());
            let value = word.parse::<u32>();
            numbers.push(value.map_err(|_| {
                let word: String = word.chars().take(40).collect();
                usage(format!("{}: `{word}` is no whole number from 0 to 4294967295", place()))
            })?);
        }
    }
    Ok(numbers)
}

/// What a value in TOML says.
fn parameter(value: &toml::Value) -> Result<(Kind, Vec<Value>), String> {
    const WHAT: &str = "has to be a number, { time = … } in units of time or { probability = … } from 0 to 1, or a list in the place of the number";
    let number = |value: &toml::Value| match value {
        toml::Value::Integer(value) => Ok(Value::from(*value)),
        toml::Value::Float(value) => Ok(Value::from(*value)),
        toml::Value::Boolean(value) => Ok(Value::from(u32::from(*value))),
        _ => Err(WHAT.to_owned()),
    };
    let numbers = |value: &toml::Value| match value {
        toml::Value::Array(values) if values.is_empty() => Err("has no value in its list".to_owned()),
        toml::Value::Array(values) => values.iter().map(number).collect(),
        value => number(value).map(|value| vec![value]),
    };
    let toml::Value::Table(table) = value else { return Ok((Kind::Plain, numbers(value)?)) };
    match table.iter().collect::<Vec<_>>()[..] {
        [(kind, value)] if kind == "time" => Ok((Kind::Time, numbers(value)?)),
        [(kind, value)] if kind == "probability" => Ok((Kind::Probability, numbers(value)?)),
        _ => Err(WHAT.to_owned()),
    }
}

/// A kind of number, as WGSL calls it.
fn in_wgsl(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::U32 => "u32",
        FieldKind::I32 => "i32",
        FieldKind::F32 => "f32",
        FieldKind::U64 => "vec2<u32>",
        FieldKind::U128 => "vec4<u32>",
        FieldKind::Other => "no number",
    }
}

/// Gives a parameter other values: `NAME=VALUE` or `NAME=VALUE,VALUE`, in the kind of number that the file says.
fn set(parameters: &mut [Parameter], change: &str) -> Outcome<()> {
    let wrong = |what: &str| usage(format!("--set {change}: {what}"));
    let (name, values) =
        change.split_once('=').ok_or_else(|| wrong("write NAME=VALUE, or NAME=VALUE,VALUE"))?;
    let Some(parameter) = parameters.iter_mut().find(|parameter| parameter.name == name.trim()) else {
        let known: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        return Err(wrong(&format!("the file has no such parameter; it has {}", known.join(", "))));
    };
    let number = |text: &str| {
        let text = text.trim();
        let whole = text.parse::<i64>().map(Value::from).ok();
        whole
            .or_else(|| text.parse::<f64>().map(Value::from).ok())
            .ok_or_else(|| wrong(&format!("`{text}` is not a number")))
    };
    parameter.levels = values.split(',').map(number).collect::<Result<_, _>>()?;
    parameter.place = format!("--set {change}");
    Ok(())
}

/// A time in ticks. One that is not 0 is no 0 either in ticks.
fn ticks(resolution: Resolution, units: f64) -> Result<Ticks, String> {
    if !units.is_finite() {
        return Err(format!("is {units}, and has to be a finite time"));
    }
    let ticks = resolution.ticks(units).map_err(|error| format!("is no time: {error}"))?;
    if ticks == Ticks::ZERO && units > 0.0 {
        let per_unit = resolution.ticks_per_unit();
        return Err(format!(
            "is {units:e}, less than half a tick of 1/{per_unit}: choose more `ticks_per_unit`"
        ));
    }
    Ok(ticks)
}

/// What the library says, in which a Rust program's words are those of the file.
pub(super) fn in_words(told: impl Display) -> String {
    let words = [
        ("`Mapping::Grid`", "`--mapping grid`"),
        ("`Model::data`", "`data` in [processes]"),
        ("return the table there", "give the table there"),
        ("`Model::memory_rows`", "`memory_rows` in [processes]"),
        ("`Capacity::queue`", "`queue` in [processes]"),
        ("`Capacity::mailbox`", "`mailbox` in [processes]"),
    ];
    words.iter().fold(told.to_string(), |told, (library, file)| told.replace(library, file))
}

/// What is wrong in a file, with the parts of it that are quoted cut where they are long.
fn short(told: &str) -> String {
    const MOST: usize = 240;
    let cut = |line: &str| match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    told.trim_end().lines().map(cut).collect::<Vec<_>>().join("\n")
}

/// The number that the model is given.
fn on_device(kind: &Kind, level: Value, units: Resolution) -> Result<Value, String> {
    let number = level.as_f64();
    match kind {
        Kind::Plain => Ok(level),
        Kind::Time => Ok(Value::from(ticks(units, number)?.get())),
        Kind::Probability if !(0.0..=1.0).contains(&number) => {
            Err(format!("is {number}, and a probability is from 0 to 1"))
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 2^32, and saturating"
        )]
        Kind::Probability => Ok(Value::from((number * 2f64.powi(32)).round() as u32)),
    }
}

/// What `pack` says, without the number of a point.
fn described(error: &AnalysisError) -> String {
    match error {
        AnalysisError::Value { factor, value, reason, .. } => format!("{factor} is {value}, {reason}"),
        other => other.to_string(),
    }
}
