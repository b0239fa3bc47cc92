//! Results of the points of a design, as `run`, `network` and `process` print, write and draw them.

use std::io::{Write as _, stdout};
use std::path::Path;

use eventhorizon::facility::{Measure, Network};
use eventhorizon::process::CompiledProcess;
use eventhorizon::statistics::{
    Decision, Design, Observations, Profile, ProfileRow, Report, Stopping, plot, with_error,
};
use serde_json::{Map, Value, json};

use super::page::{self, Axes, Line, Page};
use super::{Outcome, count, decided};

/// Where results come from. What a command does not have is `None`.
pub struct Source<'r> {
    /// The name of the model.
    pub model: &'r str,
    pub seed: u64,
    /// `cpu` or `gpu`.
    pub engine: &'static str,
    pub adapter: &'r str,
    pub mapping: &'r str,
    pub replications: u64,
    pub unit: Option<&'r str>,
    pub ticks_per_unit: Option<u32>,
    /// The end of each replication, and that of its warm-up.
    pub times: Option<[f64; 2]>,
    pub events: Option<u64>,
    pub seconds: f64,
    pub fingerprint: u64,
    /// Where it ran and why, if that was chosen.
    pub choice: Option<String>,
}

impl Source<'_> {
    fn json(&self) -> Map<String, Value> {
        let pairs = [
            ("model", json!(self.model)),
            ("seed", json!(self.seed)),
            ("engine", json!(self.engine)),
            ("adapter", json!(self.adapter)),
            ("mapping", json!(self.mapping)),
            ("replications", json!(self.replications)),
            ("unit", json!(self.unit)),
            ("ticks_per_unit", json!(self.ticks_per_unit)),
            ("until", json!(self.times.map(|times| times[0]))),
            ("warm_up", json!(self.times.map(|times| times[1]))),
            ("events", json!(self.events)),
            ("seconds", json!(self.seconds)),
            ("fingerprint", json!(format!("{:016x}", self.fingerprint))),
        ];
        let given = pairs.into_iter().filter(|(_, value)| !value.is_null());
        given.map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// The event rate: `before` of the events come from earlier runs of a resumed study.
    pub fn rate(&self, before: Option<u64>) -> String {
        let events = self.events.unwrap_or(0);
        let executed = events.saturating_sub(before.unwrap_or(0));
        let now = if before.is_some() { format!(", {executed} of them now") } else { String::new() };
        let (running, compiling) = super::without_compilations(self.seconds);
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        let rate = executed as f64 / running;
        format!(
            "{} ({}), mapping {}: {}{now}, {:.3} s{compiling}, {rate:.3e} events/s",
            self.adapter,
            self.engine,
            self.mapping,
            count(events, "event"),
            self.seconds
        )
    }

    /// What ran, as a sentence.
    pub fn runs(&self) -> String {
        let unit =
            self.unit.filter(|unit| !unit.is_empty()).map_or_else(String::new, |unit| format!(" {unit}"));
        let times = match self.times {
            Some([until, warm_up]) if warm_up > 0.0 => {
                format!(" until {until}{unit}, with statistics from {warm_up}{unit} on")
            }
            Some([until, _]) => format!(" until {until}{unit}"),
            None => String::new(),
        };
        format!("{}{times}.", count(self.replications, "replication"))
    }

    /// The last section of a page.
    pub fn add_to(&self, page: &mut Page, file: &Path) {
        let command: Vec<_> = std::env::args().collect();
        let unit = self.unit.unwrap_or_default();
        let mut list = vec![
            ("program", format!("eventhorizon {}", env!("CARGO_PKG_VERSION"))),
            ("command", command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
            ("description", file.display().to_string()),
            ("seed", self.seed.to_string()),
            ("replications", self.replications.to_string()),
        ];
        list.extend(
            self.times.map(|[until, warm_up]| ("end, warm-up", format!("{until}, {warm_up} ({unit})"))),
        );
        list.extend(self.ticks_per_unit.map(|ticks| ("ticks in a unit of time", ticks.to_string())));
        list.push(("adapter", format!("{} ({}), mapping {}", self.adapter, self.engine, self.mapping)));
        list.extend(self.events.map(|events| ("events", format!("{events} in {:.3} s", self.seconds))));
        list.push(("fingerprint", format!("{:016x}", self.fingerprint)));
        page.heading("Where the results come from");
        page.list(&list);
    }
}

/// A word of a command as a shell reads it: in quotation marks if it has other characters than
/// names and numbers.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./=:,+@%".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// How pictures show measures: their units, and the things that have a colour each, such as nodes.
#[derive(Default)]
pub struct Looks {
    units: Vec<(String, String)>,
    things: Vec<String>,
}

impl Looks {
    pub fn new(units: impl IntoIterator<Item = (String, Option<String>)>, things: Vec<String>) -> Self {
        let units = units.into_iter().filter_map(|(name, unit)| Some((name, unit?))).collect();
        Self { units, things }
    }

    /// Of the measures of a network; `time` is its unit.
    pub fn of_network(network: &Network, columns: &[String]) -> Self {
        let unit = |column: &String| {
            let measure = Measure::named(column.split('(').next()?)?;
            measure.unit(&network.unit)
        };
        let units = columns.iter().map(|column| (column.clone(), unit(column)));
        Self::new(units, network.names().map(str::to_owned).collect())
    }

    /// Of the measures of a process model.
    pub fn of_process(compiled: &CompiledProcess) -> Self {
        let names = compiled.measures();
        let mut things: Vec<String> = Vec::new();
        for name in &names {
            let is_of = ["in_use(", "queue(", "level(", "average("].iter().any(|kind| name.starts_with(kind));
            if let Some(thing) = page::of(name).filter(|_| is_of)
                && !things.iter().any(|known| known == thing)
            {
                things.push(thing.to_owned());
            }
        }
        Self::new(names.into_iter().zip(compiled.units()), things)
    }

    /// How a measure is drawn.
    pub fn of(&self, name: &str) -> plot::Look<'_> {
        let unit_of =
            |name: &str| self.units.iter().find(|(known, _)| known == name).map(|(_, unit)| &**unit);
        // Quantiles have the unit of their tally.
        let tally = name.starts_with("quantile_").then(|| page::of(name)).flatten();
        let unit = unit_of(name).or_else(|| unit_of(tally?));
        plot::Look { unit, colour: page::place_of(&self.things, name).unwrap_or(0) }
    }
}

/// Results of all points.
pub struct Results<'r> {
    pub source: Source<'r>,
    pub report: Report,
    pub design: &'r Design,
    pub observations: &'r [Observations],
    /// By point: why its replications ended, if they had a goal.
    pub decisions: &'r [Decision],
    pub stopping: Option<&'r Stopping>,
    pub level: f64,
    pub warnings: Vec<String>,
    /// The selected point, as text and as JSON.
    pub best: (Option<String>, Value),
    /// The point that differences are from.
    pub reference: Option<usize>,
    pub looks: Looks,
}

impl Results<'_> {
    /// The results as JSON, with `more` keys.
    pub fn json(&self, more: Value) -> Outcome<Value> {
        let mut object = self.source.json();
        object.insert("warnings".to_owned(), json!(self.warnings));
        object.insert("level".to_owned(), json!(self.level));
        let stopped: Vec<_> = self.decisions.iter().map(|decision| decision.name()).collect();
        object.insert("stopped".to_owned(), json!(stopped));
        object.insert("selected".to_owned(), self.best.1.clone());
        if let Some(reference) = self.reference {
            object.insert("reference".to_owned(), json!(reference));
        }
        for part in [more, serde_json::to_value(&self.report)?] {
            let Value::Object(part) = part else { unreachable!("both are objects") };
            object.extend(part);
        }
        Ok(Value::Object(object))
    }

    /// Writes the table as CSV.
    pub fn csv(&self, path: &Path) -> Outcome<()> {
        let mut csv = Vec::new();
        self.report.to_csv(&mut csv)?;
        super::write(path, &csv)
    }

    /// Prints a first line, the table, and what ended the runs.
    pub fn show(&self, head: &str, rate: Option<&str>) -> Outcome<()> {
        let mut out = stdout();
        writeln!(out, "{head}")?;
        write!(out, "{}", self.report)?;
        for warning in &self.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        if let Some(rate) = rate {
            writeln!(out, "{rate}")?;
        }
        for decision in self.decided() {
            writeln!(out, "{decision}")?;
        }
        if let Some(best) = &self.best.0 {
            writeln!(out, "{best}")?;
        }
        writeln!(out, "fingerprint {:016x}", self.source.fingerprint)?;
        match &self.source.choice {
            Some(choice) => Ok(writeln!(out, "ran on {choice}")?),
            None => Ok(()),
        }
    }

    /// Why the replications of each point ended, and their bounds.
    fn decided(&self) -> Vec<String> {
        let place = |point| match self.design.len() {
            1 => String::new(),
            _ => format!("{}: ", self.design.describe(point)),
        };
        let mut lines: Vec<String> = self
            .decisions
            .iter()
            .enumerate()
            .map(|(point, &decision)| format!("{}{}", place(point), decided(decision)))
            .collect();
        lines.extend(self.stopping.map(|stopping| super::bounds(&stopping.budget)));
        lines
    }

    /// A page with the warnings, and what `first` adds before the table.
    pub fn page(
        &self,
        about: &str,
        file: &Path,
        first: impl FnOnce(&mut Page) -> Outcome<()>,
    ) -> Outcome<Page> {
        let mut page = Page::new(self.source.model, about, self.looks.things.iter().cloned());
        page.text(&self.source.runs());
        self.warnings.iter().for_each(|warning| page.warning(warning));
        self.decided().iter().chain(&self.best.0).for_each(|line| page.text(line));
        first(&mut page)?;
        page.heading("Results");
        self.table(&mut page);
        if !self.design.factors().is_empty() {
            page.heading("By parameter");
            self.responses(&mut page)?;
        }
        self.source.add_to(&mut page, file);
        Ok(page)
    }

    fn table(&self, page: &mut Page) {
        let report = &self.report;
        let factors: Vec<&str> = self.design.factors().iter().map(String::as_str).collect();
        let compared = report.rows.iter().any(|row| row.difference.is_some());
        let theory = report.rows.iter().any(|row| row.theory.is_some());
        let interval = format!("{} % interval", rounded_percent(self.level));
        let mut head = vec!["measure", "unit"];
        head.extend(&factors);
        head.extend(["mean", &interval]);
        head.extend(theory.then_some("theory"));
        head.extend(compared.then_some("difference"));
        // Points of one measure are below each other.
        let mut rows: Vec<_> = report.rows.iter().collect();
        let first: Vec<&str> =
            rows.iter().filter(|row| row.point == rows[0].point).map(|row| row.name.as_str()).collect();
        rows.sort_by_key(|row| (first.iter().position(|name| *name == row.name), row.point));
        let rows = rows.into_iter().map(|row| {
            let unit = self.looks.of(&row.name).unit.unwrap_or_default();
            let mut cells = vec![row.name.clone(), unit.to_owned()];
            cells.extend(row.factors.iter().map(|(_, value)| value.to_string()));
            let half = row.half_width;
            cells.push(number(row.mean, half));
            let around = || row.mean.zip(half).map(|(mean, half)| [mean - half, mean + half]);
            let ends = row.lower.zip(row.upper).map(|(lower, upper)| [lower, upper]);
            cells.push(between(ends.or_else(around), half));
            if theory {
                cells.push(number(row.theory, half));
            }
            if compared {
                let half = row.difference_half_width;
                let sign = if row.difference.is_some_and(|difference| difference > 0.0) { "+" } else { "" };
                let width =
                    half.map_or_else(String::new, |half| format!(" ± {}", with_error(half, Some(half))));
                cells.push(format!("{sign}{}{width}", number(row.difference, half)));
            }
            cells
        });
        page.table(&head, 2, rows);
        if let Some(reference) = self.reference.filter(|_| compared) {
            let point = self.design.describe(reference);
            page.text(&format!(
                "Differences are from the point {point}, replication by replication, with common random numbers."
            ));
        }
    }

    /// A picture of each measure against each parameter.
    fn responses(&self, page: &mut Page) -> Outcome<()> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.report.rows {
            if !names.contains(&row.name.as_str()) {
                names.push(&row.name);
            }
        }
        let all =
            names.iter().flat_map(|name| self.design.factors().iter().map(move |factor| (*name, factor)));
        for (name, factor) in all.take(MOST_PICTURES) {
            let look = self.looks.of(name);
            let means = plot::response(self.design, self.observations, factor, name, self.level, look);
            let boxes = plot::boxes(self.design, self.observations, factor, name, look);
            // Where nothing was observed, the table shows it.
            let (Ok(means), Ok(boxes)) = (means, boxes) else { continue };
            let percent = rounded_percent(self.level);
            page.picture(&means, &format!("Mean of {name} by {factor}, with {percent} % intervals."));
            page.picture(&boxes, &format!("{name} by {factor}: {BOXES}"));
        }
        Ok(())
    }
}

/// The most measures by parameter that a page draws.
const MOST_PICTURES: usize = 30;

/// What box plots show.
const BOXES: &str = "one value for each replication. A box has the median and the quartiles, its whiskers end at the last values within 1.5 times its height, and points are values beyond.";

/// A level as a percentage: 95, 99.5.
pub fn rounded_percent(level: f64) -> String {
    with_error(100.0 * level, None)
}

/// A number with the digits that its interval supports.
pub fn number(value: Option<f64>, half: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| with_error(value, half))
}

/// An interval.
pub fn between(ends: Option<[f64; 2]>, half: Option<f64>) -> String {
    match ends.map(|ends| ends.map(|end| with_error(end, half))) {
        Some([lower, upper]) => format!("{lower} to {upper}"),
        None => "-".to_owned(),
    }
}

/// Draws a profile on a page: for each measure the mean, and the band of 5 to 95 %.
pub fn add_profile(page: &mut Page, profile: &Profile, warm_up: f64, looks: &Looks) {
    page.heading("Profile");
    let time = format!("time ({})", profile.unit);
    for measure in profile.measures() {
        let rows: Vec<&ProfileRow> = profile.of(measure).collect();
        let values = |of: fn(&ProfileRow) -> Option<f64>| -> Vec<f64> {
            rows.iter().map(|row| of(row).unwrap_or(f64::NAN)).collect()
        };
        let (mean, band) = (values(|row| row.mean), [values(|row| row.q05), values(|row| row.q95)]);
        let line = Line { name: measure, values: &mean, band: Some([&band[0], &band[1]]) };
        let value = looks.of(measure).axis(measure);
        let axes = Axes { time: &time, value: &value, part: profile.length, warm_up };
        let caption = format!(
            "Mean of {}, and the band with 90 % of the averages of single intervals.",
            count(profile.replications, "replication"),
        );
        page.over_time(&axes, &[line], &caption);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        for (word, expected) in [
            ("--set=a.servers=1,2", "--set=a.servers=1,2"),
            ("wait(desk) <= 1", "'wait(desk) <= 1'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn quantiles_have_the_unit_of_their_tally() {
        let units = [("w".to_owned(), Some("minute".to_owned())), ("n".to_owned(), None)];
        let looks = Looks::new(units, Vec::new());
        assert_eq!(looks.of("quantile_95(w)").unit, Some("minute"));
        assert_eq!(looks.of("quantile_95(n)").unit, None);
    }
}
