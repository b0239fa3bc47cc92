//! Descriptions of networks with changed numbers: the points of a design.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::{FacilityError, Network, in_folder};
use crate::statistics::{Design, Value};
use crate::text::{closest, quoted, suggested, unmarked};

/// A description of a network, and the numbers and names in it that vary.
///
/// A change names a number by the keys that lead to it: `station.server.servers=2,3,4`, or a name:
/// `station.server.discipline=fifo,lifo`. Places in lists are numbers from 0; a key with a dot has
/// quotation marks. A missing key is added. The table `[design]` of the description has changes
/// too: lists by their keys, `paired = true` for lists that belong together instead of all
/// combinations, or `csv = "points.csv"`, a file with a column for each path. The table `[columns]`
/// has formulas by name, such as costs, which programs evaluate ([`columns`](Self::columns)).
///
/// ```
/// use eventhorizon::facility::NetworkDescription;
///
/// let mut description = NetworkDescription::from_toml(r#"
/// name = "M/M/c"
///
/// [source.arrivals]
/// interarrival = { exponential = 1.0 }
/// to = "server"
///
/// [station.server]
/// service = { exponential = 1.5 }
/// to = "out"
///
/// [sink.out]
/// "#)?;
/// description.set("station.server.servers=2,3")?;
/// let networks = description.networks()?;
/// assert_eq!(networks.iter().map(|network| network.stations["server"].servers).collect::<Vec<_>>(), [2, 3]);
/// # Ok::<(), eventhorizon::facility::FacilityError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NetworkDescription {
    text: String,
    is_json: bool,
    /// Of files that it names.
    folder: Option<PathBuf>,
    /// Path and levels of each factor.
    factors: Vec<(String, Vec<Value>)>,
    paired: bool,
    /// Names and formulas of columns of one's own.
    columns: Vec<(String, String)>,
}

/// The key of the design in a description.
const DESIGN: &str = "design";
/// The key of columns of one's own.
const COLUMNS: &str = "columns";

/// Bytes of a CSV file of points.
const MOST_TEXT: u64 = 64 << 20;

fn wrong(change: &str, reason: impl Into<String>) -> FacilityError {
    FacilityError::Change { change: quoted(change), reason: reason.into() }
}

impl NetworkDescription {
    /// Reads a description in TOML.
    ///
    /// # Errors
    /// [`FacilityError::Toml`] with line and field; [`FacilityError::Change`] for an invalid
    /// `[design]`.
    pub fn from_toml(text: &str) -> Result<Self, FacilityError> {
        Self::new(text, false, None)
    }

    /// Reads a description in JSON.
    ///
    /// # Errors
    /// [`FacilityError::Json`] with line and column; [`FacilityError::Change`].
    pub fn from_json(text: &str) -> Result<Self, FacilityError> {
        Self::new(text, true, None)
    }

    /// Reads a description whose files are relative to a folder.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml) and [`from_json`](Self::from_json).
    pub fn in_folder(text: &str, is_json: bool, folder: &Path) -> Result<Self, FacilityError> {
        Self::new(text, is_json, Some(folder))
    }

    fn new(text: &str, is_json: bool, folder: Option<&Path>) -> Result<Self, FacilityError> {
        let text = unmarked(text).to_owned();
        let folder = folder.map(Path::to_owned);
        let mut description =
            Self { text, is_json, folder, factors: Vec::new(), paired: false, columns: Vec::new() };
        let whole: Json = match is_json {
            true => serde_json::from_str(&description.text).map_err(FacilityError::Json)?,
            false => {
                let table = toml::from_str::<toml::Table>(&description.text)
                    .map_err(|error| FacilityError::Toml(Box::new(error)))?;
                serde_json::to_value(table).map_err(FacilityError::Json)?
            }
        };
        if let Some(columns) = whole.get(COLUMNS) {
            let form = || wrong("[columns]", "write formulas by name: `cost = \"20 * queue(desk)\"`");
            for (name, formula) in columns.as_object().ok_or_else(form)? {
                let formula = formula.as_str().ok_or_else(form)?;
                description.columns.push((name.clone(), formula.to_owned()));
            }
        }
        if let Some(design) = whole.get(DESIGN) {
            description.read_design(design)?;
        }
        // What is wrong in the file comes before what is wrong in its changes.
        description.with(&[])?;
        Ok(description)
    }

    fn read_design(&mut self, design: &Json) -> Result<(), FacilityError> {
        let table = "[design]";
        let Json::Object(keys) = design else {
            return Err(wrong(table, "write a table of lists of numbers or names"));
        };
        for (key, value) in keys {
            match (key.as_str(), value) {
                ("paired", Json::Bool(paired)) => self.paired = *paired,
                ("csv", Json::String(name)) => {
                    let Some(folder) = &self.folder else {
                        return Err(wrong(
                            table,
                            "`csv` names a file, and the description is a text: write lists",
                        ));
                    };
                    let path = folder.join(name);
                    let text = crate::text::read(&path, MOST_TEXT)
                        .map_err(|error| wrong(table, format!("{}: {error}", path.display())))?;
                    let design = Design::from_csv_with_names(text.as_bytes())
                        .map_err(|error| wrong(table, format!("{}: {error}", path.display())))?;
                    if keys.len() > 1 {
                        return Err(wrong(table, "`csv` has all points: remove the other keys"));
                    }
                    self.points(&design)?;
                }
                _ => self.read_levels(&key_in_path(key), value)?,
            }
        }
        Ok(())
    }

    /// The lists below a key of `[design]`.
    fn read_levels(&mut self, path: &str, value: &Json) -> Result<(), FacilityError> {
        let form = "write numbers or names, or a list of them";
        let number = |value: &Json| match value {
            Json::Number(number) => Value::parse(&number.to_string()).ok_or_else(|| wrong(path, form)),
            Json::String(name) => Ok(Value::from(name.as_str())),
            Json::Bool(switch) => Ok(Value::from(if *switch { "true" } else { "false" })),
            _ => Err(wrong(path, form)),
        };
        let levels = match value {
            Json::Object(keys) => {
                let mut below = keys.iter();
                return below.try_for_each(|(key, value)| {
                    self.read_levels(&format!("{path}.{}", key_in_path(key)), value)
                });
            }
            Json::Array(levels) => levels.iter().map(number).collect::<Result<Vec<_>, _>>()?,
            one => vec![number(one)?],
        };
        self.vary(path, levels)
    }

    /// Sets a number, a name, `true` or `false`: `PATH=VALUE`, or `PATH=VALUE,VALUE` for several
    /// points of a design. It replaces levels of the same path in `[design]`.
    ///
    /// # Errors
    /// [`FacilityError::Change`] for values that the path cannot have, and paths that lead nowhere.
    pub fn set(&mut self, change: &str) -> Result<(), FacilityError> {
        let (path, values) =
            change.split_once('=').ok_or_else(|| wrong(change, "write PATH=VALUE or PATH=VALUE,VALUE"))?;
        let values = values.split(',').map(|value| match Value::parse(value.trim()) {
            Some(number) if number.as_f64().is_finite() => Ok(number),
            None if !value.trim().is_empty() => Ok(Value::from(value.trim())),
            _ => Err(wrong(change, format!("`{}` is neither a number nor a name", quoted(value.trim())))),
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        self.vary(path.trim(), values)
    }

    /// Sets the levels of a path. The first ones are tried at once.
    fn vary(&mut self, path: &str, levels: Vec<Value>) -> Result<(), FacilityError> {
        if ["until", "warm_up"].contains(&path) {
            return Err(wrong(path, "times of runs are equal at all points: use --until and --warm-up"));
        }
        let Some(&first) = levels.first() else {
            return Err(wrong(path, "the list is empty: write numbers or names"));
        };
        self.with(&[(path, first)])?;
        match self.factors.iter_mut().find(|(known, _)| known == path) {
            Some((_, known)) => *known = levels,
            None => self.factors.push((path.to_owned(), levels)),
        }
        Ok(())
    }

    /// Takes lists as belonging together: point i has number i of each. Default: all combinations.
    pub fn paired(&mut self) {
        self.paired = true;
    }

    /// Takes all points of a design, whose factors are paths.
    ///
    /// # Errors
    /// [`FacilityError::Change`].
    pub fn points(&mut self, design: &Design) -> Result<(), FacilityError> {
        self.factors.clear();
        self.paired = true;
        for factor in design.factors() {
            let levels = design.column(factor).expect("a factor of the design");
            self.vary(factor, levels)?;
        }
        Ok(())
    }

    /// The points. Changes with one value are in the network, and are no factors.
    ///
    /// # Errors
    /// [`FacilityError::Analysis`]: lists of several lengths that belong together.
    pub fn design(&self) -> Result<Design, FacilityError> {
        let mut design = Design::default();
        for (path, levels) in self.factors.iter().filter(|(_, levels)| levels.len() > 1) {
            let levels = levels.iter().copied();
            design = if self.paired {
                design.pair_values(path, levels)?
            } else {
                design.cross_values(path, levels)?
            };
        }
        Ok(design)
    }

    /// The names and formulas of the table `[columns]`, as they are written: arithmetic of measures
    /// and paths.
    pub fn columns(&self) -> &[(String, String)] {
        &self.columns
    }

    /// The network of each point of the design.
    ///
    /// # Errors
    /// As [`design`](Self::design); [`FacilityError::Change`].
    pub fn networks(&self) -> Result<Vec<Network>, FacilityError> {
        let design = self.design()?;
        (0..design.len()).map(|point| self.network(&design, point)).collect()
    }

    /// The network of a point of a design whose factors are paths, with all changes that have one
    /// value.
    ///
    /// # Errors
    /// [`FacilityError::Change`].
    ///
    /// # Panics
    /// If there is no such point.
    pub fn network(&self, design: &Design, point: usize) -> Result<Network, FacilityError> {
        let fixed = self.factors.iter().filter(|(_, levels)| levels.len() == 1);
        let fixed = fixed.map(|(path, levels)| (path.as_str(), levels[0]));
        let levels = design.factors().iter().map(String::as_str).zip(design.levels(point).iter().copied());
        let changes: Vec<_> =
            fixed.filter(|(path, _)| !design.factors().iter().any(|of| of == path)).chain(levels).collect();
        self.with(&changes)
    }

    /// The value at a path after the changes with one value, if there is one.
    pub fn changed_value(&self, path: &str) -> Option<Value> {
        let change = self.factors.iter().find(|(known, levels)| known == path && levels.len() == 1);
        change.map(|(_, levels)| levels[0]).or_else(|| self.value(path))
    }

    /// The number at a path, if the description has one there, without changes.
    pub fn value(&self, path: &str) -> Option<Value> {
        let keys = keys(path)?;
        let whole: Json = match self.is_json {
            true => serde_json::from_str(&self.text).ok()?,
            false => serde_json::to_value(toml::from_str::<toml::Table>(&self.text).ok()?).ok()?,
        };
        let found = keys.iter().try_fold(&whole, |at, key| match at {
            Json::Array(list) => list.get(key.parse::<usize>().ok()?),
            other => other.get(key),
        });
        match found? {
            Json::Number(number) => Value::parse(&number.to_string()),
            _ => None,
        }
    }

    /// The network with changes.
    fn with(&self, changes: &[(&str, Value)]) -> Result<Network, FacilityError> {
        match &self.folder {
            Some(folder) => in_folder(folder, || self.changed(changes)),
            None => self.changed(changes),
        }
    }

    fn changed(&self, changes: &[(&str, Value)]) -> Result<Network, FacilityError> {
        // Numbers, true and false, and names in quotation marks: in TOML and in JSON.
        let literal = |value: &Value| match (value, value.to_string()) {
            (Value::Name(_), name) if !["true", "false"].contains(&name.as_str()) => {
                Json::String(name).to_string()
            }
            (_, plain) => plain,
        };
        let texts: Vec<String> = changes.iter().map(|(_, value)| literal(value)).collect();
        let said = |number: usize| format!("{}={}", changes[number].0, changes[number].1);
        let form = "write keys with dots between them";
        if self.is_json {
            let mut whole: Json = serde_json::from_str(&self.text).map_err(FacilityError::Json)?;
            if let Json::Object(whole) = &mut whole {
                whole.remove(DESIGN);
                whole.remove(COLUMNS);
            }
            if changes.is_empty() && ![DESIGN, COLUMNS].iter().any(|key| self.text.contains(key)) {
                return serde_json::from_str(&self.text).map_err(FacilityError::Json);
            }
            for (number, text) in texts.iter().enumerate() {
                let keys = keys(changes[number].0).ok_or_else(|| wrong(&said(number), form))?;
                let value = serde_json::from_str(text).map_err(FacilityError::Json)?;
                set_json(&mut whole, &keys, value).map_err(|reason| wrong(&said(number), reason))?;
            }
            let all: Vec<_> = (0..changes.len()).map(said).collect();
            return Network::deserialize(whole).map_err(|error| match all.is_empty() {
                true => FacilityError::Json(error),
                false => wrong(&all.join(" "), suggested(&error.to_string())),
            });
        }
        let toml = |error| FacilityError::Toml(Box::new(error));
        let mut table = DeTable::parse(&self.text).map_err(toml)?;
        table.get_mut().remove(DESIGN);
        table.get_mut().remove(COLUMNS);
        for (number, text) in texts.iter().enumerate() {
            let keys = keys(changes[number].0).ok_or_else(|| wrong(&said(number), form))?;
            let mut value = DeValue::parse(text).map_err(toml)?;
            // Behind the text, so that errors of a change are known from those of the file.
            let place = self.text.len() + 1 + number;
            value = Spanned::new(place..place, value.into_inner());
            set_toml(table.get_mut(), &keys, value).map_err(|reason| wrong(&said(number), reason))?;
        }
        Network::deserialize(Deserializer::from(table)).map_err(|mut error| {
            let place = error.span().map_or(0, |span| span.start);
            match place.checked_sub(self.text.len() + 1).filter(|&number| number < changes.len()) {
                Some(number) => wrong(&said(number), suggested(error.message())),
                None => {
                    error.set_input(Some(&self.text));
                    toml(error)
                }
            }
        })
    }
}

/// A key as a path has it.
fn key_in_path(key: &str) -> String {
    if key.contains('.') { format!("\"{key}\"") } else { key.to_owned() }
}

/// The keys of a path; `None` if one is empty.
fn keys(path: &str) -> Option<Vec<String>> {
    let (mut keys, mut rest) = (Vec::new(), path);
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if key.is_empty() {
            return None;
        }
        keys.push(key.to_owned());
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None => return after.is_empty().then_some(keys),
        }
    }
}

/// Why a path ends before a key.
fn no_key<'k>(key: &str, known: impl Iterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.collect();
    let meant = closest(key, known.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!(". Did you mean `{meant}`?"));
    format!("there is no `{}` here; there are {}{meant}", quoted(key), known.join(", "))
}

const NO_TABLE: &str = "it leads into a value that is neither a table nor a list";
const TABLE: &str = "it leads to a table or a list, not to a number";

fn set_json(at: &mut Json, keys: &[String], value: Json) -> Result<(), String> {
    let (key, rest) = keys.split_first().expect("a path has a key");
    let next = match at {
        Json::Object(table) if rest.is_empty() && !table.contains_key(key) => {
            table.insert(key.clone(), value);
            return Ok(());
        }
        Json::Object(table) => {
            let reason = no_key(key, table.keys().map(String::as_str));
            table.get_mut(key).ok_or(reason)?
        }
        Json::Array(list) => {
            let count = list.len();
            let place = key.parse::<usize>().ok().and_then(|place| list.get_mut(place));
            place.ok_or_else(|| format!("`{}` is not a place in a list of {count}, from 0", quoted(key)))?
        }
        _ => return Err(NO_TABLE.to_owned()),
    };
    match (rest.is_empty(), &next) {
        (true, Json::Object(_) | Json::Array(_)) => Err(TABLE.to_owned()),
        (true, _) => {
            *next = value;
            Ok(())
        }
        (false, _) => set_json(next, rest, value),
    }
}

fn set_toml<'t>(table: &mut DeTable<'t>, keys: &[String], value: Spanned<DeValue<'t>>) -> Result<(), String> {
    let (key, rest) = keys.split_first().expect("a path has a key");
    let reason = no_key(key, table.keys().map(|key| key.get_ref().as_ref()));
    match table.iter_mut().find(|(known, _)| known.get_ref().as_ref() == key.as_str()) {
        Some((_, next)) => set_value(next, rest, value),
        None if rest.is_empty() => {
            table.insert(Spanned::new(value.span(), key.clone().into()), value);
            Ok(())
        }
        None => Err(reason),
    }
}

fn set_value<'t>(
    at: &mut Spanned<DeValue<'t>>,
    keys: &[String],
    value: Spanned<DeValue<'t>>,
) -> Result<(), String> {
    match (at.get_mut(), keys.split_first()) {
        (DeValue::Table(_) | DeValue::Array(_), None) => Err(TABLE.to_owned()),
        (_, None) => {
            *at = value;
            Ok(())
        }
        (DeValue::Table(table), Some(_)) => set_toml(table, keys, value),
        (DeValue::Array(list), Some((key, rest))) => {
            let count = list.len();
            let place = key.parse::<usize>().ok().and_then(|place| list.get_mut(place));
            let place = place
                .ok_or_else(|| format!("`{}` is not a place in a list of {count}, from 0", quoted(key)))?;
            set_value(place, rest, value)
        }
        _ => Err(NO_TABLE.to_owned()),
    }
}
