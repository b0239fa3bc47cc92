//! Points of a design on the command line, and the selection of the best of them.

use std::path::{Path, PathBuf};

use clap::Args;
use eventhorizon::facility::NetworkDescription;
use eventhorizon::process::ProcessModel;
use eventhorizon::statistics::{Allocated, Allocation, Design, Observations, Selected, Selection};
use serde_json::{Value, json};

use super::{Outcome, check_input, count, in_file, positive, read_bytes, read_text, usage, utf8};
use crate::formats::{jmt, xml};

/// The largest size of a description, and of a CSV file of points, in bytes.
const MOST_TEXT: u64 = 64 << 20;

/// Numbers that differ from those of the description.
#[derive(Args)]
pub struct Points {
    /// Set a number or a name to another value, or to several, which makes a run of each:
    /// PATH=VALUE,VALUE. A path has the keys of the file, such as station.server.servers; of a
    /// process model, it is the name of a parameter
    #[arg(long, value_name = "PATH=VALUES")]
    pub set: Vec<String>,
    /// Take lists of values as belonging together, instead of all their combinations
    #[arg(long)]
    pub paired: bool,
    /// Read the points from a CSV file with a column for each path
    #[arg(long, value_name = "CSV", conflicts_with_all = ["set", "paired"])]
    pub design: Option<PathBuf>,
}

impl Points {
    /// Reads a network with its points.
    pub fn network(&self, file: &Path) -> Outcome<NetworkDescription> {
        self.network_of(file, &text(file)?)
    }

    /// The same of the text of a file.
    pub fn network_of(&self, file: &Path, text: &str) -> Outcome<NetworkDescription> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let read = if jmt::is_model(text) {
            let network = jmt::read(file, text)?;
            NetworkDescription::in_folder(&serde_json::to_string(&network)?, true, folder)
        } else {
            check_kind(file, text, Kind::Network)?;
            check_data(file, text)?;
            NetworkDescription::in_folder(text, is_json(file, text), folder)
        };
        let mut description = in_file(file, read)?;
        if let Some(csv) = &self.design {
            description.points(&self.table(csv)?)?;
        }
        check_set(&self.set)?;
        for change in &self.set {
            description.set(change)?;
        }
        if self.paired {
            description.paired();
            self.check_paired(in_file(file, description.design())?.factors().len())?;
        }
        Ok(description)
    }

    /// Reads a process model with its points.
    pub fn process(&self, file: &Path) -> Outcome<ProcessModel> {
        self.process_of(file, &text(file)?)
    }

    /// The same of the text of a file.
    pub fn process_of(&self, file: &Path, text: &str) -> Outcome<ProcessModel> {
        check_kind(file, text, Kind::Process)?;
        check_data(file, text)?;
        let mut model = match super::on_stdout(Some(file)) {
            false => ProcessModel::read(file)?,
            true if is_json(file, text) => in_file(file, ProcessModel::from_json(text))?,
            true => in_file(file, ProcessModel::from_toml(text))?,
        };
        if let Some(csv) = &self.design {
            let design = self.table(csv)?;
            model.paired = true;
            for (_, parameter) in &mut model.parameters {
                parameter.values.truncate(1);
            }
            for factor in design.factors() {
                let levels = design.column(factor).expect("a factor of the design");
                let levels: Vec<_> = levels.iter().map(ToString::to_string).collect();
                model.set(&format!("{factor}={}", levels.join(",")))?;
            }
        }
        check_set(&self.set)?;
        for change in &self.set {
            model.set(change)?;
        }
        model.paired |= self.paired;
        let lists = model.parameters.iter().filter(|(_, parameter)| parameter.values.len() > 1).count();
        self.check_paired(lists)?;
        Ok(model)
    }

    /// Refuses --paired where fewer than two numbers have lists.
    fn check_paired(&self, lists: usize) -> Outcome<()> {
        match self.paired && lists < 2 {
            false => Ok(()),
            true => Err(usage(format!(
                "--paired takes lists of several numbers as belonging together, and {}: give them by --set",
                if lists == 0 { "none has a list" } else { "only one has a list" }
            ))),
        }
    }

    fn table(&self, csv: &Path) -> Outcome<Design> {
        check_input("--design", csv)?;
        in_file(csv, Design::from_csv_with_names(read_text(csv, MOST_TEXT)?.as_bytes()))
    }
}

/// Refuses two --set of one path, with or without quotes: only one would count.
pub fn check_set(set: &[String]) -> Outcome<()> {
    let path = |set: &String| set.split_once('=').map_or(&**set, |(path, _)| path).trim().replace('"', "");
    let paths: Vec<String> = set.iter().map(path).collect();
    match (1..paths.len()).find(|&at| paths[..at].contains(&paths[at])) {
        None => Ok(()),
        Some(at) => {
            Err(usage(format!("--set is given twice for `{}`: write all its values in one", paths[at])))
        }
    }
}

/// Whether a description is JSON: by its name, or by its first character on standard input.
fn is_json(file: &Path, text: &str) -> bool {
    let named = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    named || super::on_stdout(Some(file)) && text.trim_start().starts_with('{')
}

/// Refuses outputs that would overwrite a file of data that a description names. What it does not
/// understand, the reader of the description reports.
fn check_data(file: &Path, text: &str) -> Outcome<()> {
    let whole: Option<Value> = match is_json(file, text) {
        true => serde_json::from_str(text).ok(),
        false => toml::from_str(text).ok(),
    };
    let mut names = Vec::new();
    if let Some(whole) = &whole {
        add_files(whole, &mut names);
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    names.iter().try_for_each(|name| check_input("the description", &folder.join(name)))
}

/// The files of data that a part of a description names.
fn add_files<'v>(part: &'v Value, names: &mut Vec<&'v str>) {
    match part {
        Value::Object(table) => {
            for (key, value) in table {
                match value {
                    Value::String(name) if matches!(key.as_str(), "empirical" | "file" | "csv" | "times") => {
                        names.push(name);
                    }
                    _ => add_files(value, names),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|part| add_files(part, names)),
        _ => {}
    }
}

/// The text of a description, or of standard input.
pub fn text(file: &Path) -> Outcome<String> {
    // Models of JMT may be in another encoding than UTF-8.
    let bytes = read_bytes(file, MOST_TEXT)?;
    match xml::decoded(&bytes) {
        Some(text) => Ok(text),
        None => utf8(file, bytes),
    }
}

/// What a description describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A queueing network.
    Network,
    /// A process model.
    Process,
    /// A model in WGSL.
    Model,
}

/// Finds what a description describes, by its tables.
pub fn kind(file: &Path, text: &str) -> Outcome<Kind> {
    if jmt::is_model(text) {
        return Ok(Kind::Network);
    }
    let keys: Vec<String> = match is_json(file, text) {
        true => {
            let whole = serde_json::from_str::<serde_json::Map<String, Value>>(text);
            whole.map_err(|error| usage(format!("{}: {error}", file.display())))?.keys().cloned().collect()
        }
        false => {
            let whole = toml::from_str::<toml::Table>(text);
            whole.map_err(|error| usage(format!("{}: {error}", file.display())))?.keys().cloned().collect()
        }
    };
    let has = |names: &[&str]| keys.iter().any(|key| names.contains(&key.as_str()));
    if has(&["model"]) {
        Ok(Kind::Model)
    } else if has(&["entity"]) {
        Ok(Kind::Process)
    } else if has(&["source", "station", "delay", "router", "fork", "sink"]) {
        Ok(Kind::Network)
    } else {
        Err(usage(format!(
            "{}: it is no network (with [station.NAME]), no process model (with [entity.NAME]) and no model in WGSL \
             (with `model`). `eventhorizon init` writes one of each",
            file.display()
        )))
    }
}

impl Kind {
    /// What it is, and the command that runs it.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Network => ["a network", "network"],
            Self::Process => ["a process model", "process"],
            Self::Model => ["a model in WGSL", "run"],
        }
    }
}

/// Refuses a description of another kind than a command takes. What is no description, its reader
/// reports.
fn check_kind(file: &Path, text: &str, wanted: Kind) -> Outcome<()> {
    let found = kind(file, text).ok().filter(|found| *found != wanted);
    found.map_or(Ok(()), |found| {
        let ([is, command], [not, _]) = (found.words(), wanted.words());
        let file = file.display();
        Err(usage(format!("{file}: it is {is}, not {not}: `eventhorizon {command}` runs it")))
    })
}

/// The best of several points.
#[derive(Args)]
pub struct Best {
    /// Find the point with the largest mean of this measure: with --difference or --budget
    #[arg(long, value_name = "MEASURE")]
    pub best: Option<String>,
    /// With --best: look for the smallest mean
    #[arg(long, requires = "best")]
    pub smallest: bool,
    /// With --best: the smallest difference of means that matters. The answer is right with
    /// probability --level if the best is better than the others by this difference (procedure KN
    /// of Kim and Nelson)
    #[arg(long, requires = "best", value_name = "NUMBER", conflicts_with = "budget", value_parser = positive)]
    pub difference: Option<f64>,
    /// With --best: replications of all points together, most for points that are close to the best
    /// (OCBA). The answer has no guarantee
    #[arg(long, requires = "best", value_name = "REPLICATIONS", conflicts_with = "replications")]
    pub budget: Option<u64>,
}

/// A way to select the best point.
pub enum Way {
    Guaranteed(Selection),
    Budget(Allocation),
}

impl Best {
    /// The measure and the way, if --best is given. `most` bounds the replications of a point.
    pub fn way(&self, level: f64, most: u32) -> Outcome<Option<(&str, Way)>> {
        let Some(measure) = self.best.as_deref() else { return Ok(None) };
        let way = match (self.difference, self.budget) {
            (Some(difference), _) => Way::Guaranteed(Selection {
                smallest: self.smallest,
                replications: Some(most.into()),
                ..Selection::new(difference, level)
            }),
            (None, Some(budget)) => {
                Way::Budget(Allocation { smallest: self.smallest, ..Allocation::new(budget) })
            }
            (None, None) => {
                return Err(usage(
                    "--best needs --difference, for a guarantee, or --budget, for a bound of the cost",
                ));
            }
        };
        Ok(Some((measure, way)))
    }

    /// The selected point, as a line of text.
    pub fn text(
        &self,
        design: &Design,
        selected: Option<&Selected>,
        allocated: Option<&Allocated>,
    ) -> Option<String> {
        let measure = self.best.as_deref()?;
        let which = if self.smallest { "smallest" } else { "largest" };
        let found = match (selected, allocated) {
            (Some(found), _) => super::selected(design, found),
            (None, Some(found)) => {
                let made = found.observations.iter().map(Observations::replications);
                let made: Vec<_> = made
                    .enumerate()
                    .map(|(point, made)| format!("{} {made}", design.describe(point)))
                    .collect();
                format!(
                    "{}, with an estimated probability of {:.4} ({}: {})",
                    design.describe(found.best),
                    found.probability,
                    count(found.observations.iter().map(|of| of.replications() as u64).sum::<u64>(), "run"),
                    made.join(", ")
                )
            }
            (None, None) => return None,
        };
        Some(format!("{which} {measure}: {found}"))
    }

    /// The same as JSON.
    pub fn json(&self, selected: Option<&Selected>, allocated: Option<&Allocated>) -> Value {
        match (selected, allocated) {
            (Some(found), _) => json!({
                "measure": self.best,
                "best": found.best,
                "left": found.survivors,
                "ended_after": found.eliminated,
            }),
            (None, Some(found)) => json!({
                "measure": self.best,
                "best": found.best,
                "probability": found.probability,
                "replications": found.observations.iter().map(Observations::replications).collect::<Vec<_>>(),
            }),
            (None, None) => Value::Null,
        }
    }
}
