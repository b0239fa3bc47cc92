//! One experiment in progress: its CSV file and its picture.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use eventhorizon::gpu::Gpu;

use super::table::BY_PANEL;
use super::{Args, Axes, Experiment, WITH_POSITIONS};
use crate::shared::figure::{self, Line, Panel};
use crate::shared::{self, Outcome};

/// An experiment that runs.
pub(super) struct Study<'a> {
    pub(super) args: &'a Args,
    /// `None` without an adapter.
    gpu: Option<Gpu>,
    experiment: &'static Experiment,
    /// The last columns of each row.
    options: Options,
    csv: csv::Writer<File>,
    /// The values in the CSV file; none for points that exceeded a budget.
    known: HashMap<Point, Option<f64>>,
    picture: Arc<Mutex<Picture>>,
}

/// The panel, the line and the bits of x.
type Point = (String, String, u64);

/// A row of the CSV file.
pub(super) struct Row {
    point: Point,
    value: Option<f64>,
    paper: Option<f64>,
    note: String,
}

/// The picture of an experiment, which is drawn at its end or after Ctrl-C.
pub(super) struct Picture {
    experiment: &'static Experiment,
    path: PathBuf,
    panels: Vec<Panel>,
    missing: u32,
    notes: String,
    is_drawn: bool,
}

impl<'a> Study<'a> {
    /// Creates the CSV file, with the rows of an earlier run that `--continue` keeps.
    pub(super) fn new(experiment: &'static Experiment, args: &'a Args, gpu: Option<&Gpu>) -> Outcome<Self> {
        let path = args.out.join(experiment.name).with_extension("csv");
        let of_file = |error: &dyn Display| format!("{}: {error}", path.display());
        let Axes { x, y, .. } = experiment.axes;
        let columns = columns(x, y);
        let options = options(experiment, args, gpu);
        let kept = kept(experiment, args, gpu)?;
        if path.exists() && !path.is_file() {
            return Err(of_file(&"not a regular file: name another folder by --out").into());
        }
        let mut csv = csv::Writer::from_path(&path).map_err(|error| of_file(&error))?;
        csv.write_record(columns)?;
        csv.flush()?;
        let picture = Picture {
            experiment,
            path: path.with_extension("png"),
            panels: Vec::new(),
            missing: 0,
            notes: gpu.map_or("no adapter", |gpu| &gpu.info().name).to_owned(),
            is_drawn: false,
        };
        let picture = Arc::new(Mutex::new(picture));
        let known = HashMap::new();
        let mut study = Self { args, gpu: gpu.cloned(), experiment, options, csv, known, picture };
        for row in kept {
            study.picture.lock().unwrap_or_else(PoisonError::into_inner).missing +=
                u32::from(row.value.is_none());
            study.write(row)?;
        }
        Ok(study)
    }

    /// A value that the CSV file has already, with `--continue`.
    pub(super) fn known(&self, panel: &str, line: &str, x: f64) -> Option<f64> {
        self.known.get(&(panel.to_owned(), line.to_owned(), x.to_bits())).copied().flatten()
    }

    /// Whether the CSV file has the point: its value, or that it exceeded this budget or a larger
    /// one.
    pub(super) fn has(&self, panel: &str, line: &str, x: f64) -> bool {
        self.known.contains_key(&(panel.to_owned(), line.to_owned(), x.to_bits()))
    }

    /// The device.
    ///
    /// # Errors
    /// Why the system has no adapter.
    pub(super) fn gpu(&self) -> Outcome<Gpu> {
        self.gpu.clone().map_or_else(|| Ok(Gpu::new()?), Ok)
    }

    /// Whether the device is a software adapter.
    pub(super) fn is_software(&self) -> bool {
        self.gpu.as_ref().is_some_and(|gpu| gpu.info().device_type == wgpu::DeviceType::Cpu)
    }

    /// Opens the device again after it was lost.
    pub(super) fn reopen(&mut self) -> Outcome<()> {
        self.gpu = Some(Gpu::new()?);
        Ok(())
    }

    /// The picture, for Ctrl-C.
    pub(super) fn picture(&self) -> Arc<Mutex<Picture>> {
        Arc::clone(&self.picture)
    }

    /// Whether the experiment continues: until Ctrl-C.
    pub(super) fn goes_on(&self) -> bool {
        shared::watch().is_continue()
    }

    /// `full`, or with --small `small`.
    pub(super) fn size<T>(&self, full: T, small: T) -> T {
        if self.args.small { small } else { full }
    }

    /// Adds a text below the title of the picture.
    pub(super) fn note(&mut self, text: &str) {
        let mut picture = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        if !picture.notes.contains(text) {
            picture.notes += "; ";
            picture.notes += text;
        }
    }

    /// The known value of a point, or a measured one, which is written.
    pub(super) fn point_by(
        &mut self,
        panel: &str,
        line: &str,
        x: f64,
        measure: impl FnOnce(&Self) -> Outcome<f64>,
    ) -> Outcome<f64> {
        if let Some(known) = self.known(panel, line, x) {
            return Ok(known);
        }
        let measured = measure(self)?;
        self.point(panel, line, x, measured)?;
        Ok(measured)
    }

    /// Writes a point of a curve.
    pub(super) fn point(&mut self, panel: &str, line: &str, x: f64, y: f64) -> Outcome<()> {
        self.row([panel, line], x, Some(y), None, "")
    }

    /// Writes a point of a curve, with the paper's number for it.
    pub(super) fn beside(&mut self, panel: &str, line: &str, (x, y): (f64, f64), paper: f64) -> Outcome<()> {
        self.row([panel, line], x, Some(y), Some(paper), "")
    }

    /// Writes that a point was not measured, and why.
    pub(super) fn missing(&mut self, panel: &str, line: &str, x: f64, why: &str) -> Outcome<()> {
        self.picture.lock().unwrap_or_else(PoisonError::into_inner).missing += 1;
        self.row([panel, line], x, None, None, why)
    }

    /// Writes a row, and keeps its points for the picture. A known value stays as it is.
    pub(super) fn row(
        &mut self,
        [panel, line]: [&str; 2],
        x: f64,
        y: Option<f64>,
        paper: Option<f64>,
        note: &str,
    ) -> Outcome<()> {
        if self.has(panel, line, x) {
            return Ok(());
        }
        let shown =
            |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4e}"));
        let beside = paper.map_or_else(String::new, |paper| format!("  the paper {paper}"));
        writeln!(stdout(), "{panel:<24} {line:<34} {x:>10} {:>12}{beside}  {note}", shown(y))?;
        let point = (panel.to_owned(), line.to_owned(), x.to_bits());
        self.write(Row { point, value: y, paper, note: note.to_owned() })
    }

    /// Writes a row to the file and the picture.
    fn write(&mut self, Row { point, value, paper, note }: Row) -> Outcome<()> {
        let text = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let (panel, line, x) = (&*point.0, &*point.1, f64::from_bits(point.2));
        let [x_text, value_text, paper_text] = [x.to_string(), text(value), text(paper)];
        let fields = [panel, line, &x_text, &value_text, &paper_text, &note];
        self.csv.write_record(fields.into_iter().chain(self.options.iter().map(|(_, value)| &**value)))?;
        self.csv.flush()?;
        self.known.insert(point.clone(), value);
        let Axes { x: across, y: upwards, scales, .. } = self.experiment.axes;
        let [y, stated] = [value, paper].map(|number| number.filter(|&number| scales[1].has(number)));
        if y.is_none() && stated.is_none() {
            return Ok(());
        }
        let mut picture = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        let panel = find_or_push(
            &mut picture.panels,
            |known| known.title == panel,
            || Panel {
                title: panel.to_owned(),
                axes: [across, upwards].map(|axis| (if axis == BY_PANEL { panel } else { axis }).to_owned()),
                scales,
                lines: Vec::new(),
            },
        );
        let line = find_or_push(
            &mut panel.lines,
            |known| known.name == line,
            || Line { name: line.to_owned(), points: Vec::new(), stated: Vec::new() },
        );
        line.points.extend(y.map(|y| (x, y)));
        line.stated.extend(stated.map(|y| (x, y)));
        Ok(())
    }

    /// The file of this experiment with another ending.
    pub(super) fn file(&self, ending: &str) -> PathBuf {
        self.args.out.join(self.experiment.name).with_extension(ending)
    }

    /// Draws the figure, if there are curves. Tables and pictures have none.
    pub(super) fn draw(&self) -> Outcome<()> {
        draw(&self.picture)
    }
}

/// What measured a row: columns with the name of an option, or of what it depends on, and the
/// value. (A larger --budget only measures more points.)
type Options = [(&'static str, String); 5];

fn options(experiment: &Experiment, args: &Args, gpu: Option<&Gpu>) -> Options {
    let positions = args.positions.as_ref().filter(|_| experiment.name == WITH_POSITIONS);
    [
        ("--small", if args.small { "yes" } else { "no" }.to_owned()),
        ("--seconds", args.seconds().to_string()),
        ("--positions", positions.map_or_else(|| "none".to_owned(), |path| path.display().to_string())),
        ("adapter", gpu.map_or("none", |gpu| &gpu.info().name).to_owned()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ]
}

/// The columns of a CSV file.
fn columns(x: &str, y: &str) -> Vec<String> {
    let own = ["panel", "line", x, y, "paper", "note", "small", "seconds", "positions", "adapter", "version"];
    own.map(str::to_owned).into()
}

/// The note of a point that was not measured, because something took longer than the budget.
pub(super) fn over(what: &str, budget: f64) -> String {
    format!("{what} exceeded the budget of {budget} s")
}

/// The budget in such a note.
fn budget_in(note: &str) -> Option<f64> {
    note.rsplit_once(" exceeded the budget of ")?.1.strip_suffix(" s")?.parse().ok()
}

/// The rows of an earlier run with the same options, which --continue keeps: those that were
/// measured, and those that exceeded a budget of at least the present one.
///
/// # Errors
/// The file is of another version, or was measured with other options.
pub(super) fn kept(experiment: &Experiment, args: &Args, gpu: Option<&Gpu>) -> Outcome<Vec<Row>> {
    const REMEDY: &str = "name another folder by --out, or leave out --continue to measure everything again";
    let path = args.out.join(experiment.name).with_extension("csv");
    if !args.r#continue || !path.exists() {
        return Ok(Vec::new());
    }
    let of_file = |what: &dyn Display| format!("--continue: {}: {what}", path.display());
    if !path.is_file() {
        return Err(of_file(&"not a regular file: name another folder by --out").into());
    }
    let mut text = std::fs::read_to_string(&path).map_err(|error| of_file(&error))?;
    // The last row of a run that was killed may be half a row.
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = columns(experiment.axes.x, experiment.axes.y);
    let found = reader.headers().map_err(|error| of_file(&error))?;
    if !text.is_empty() && *found != *columns {
        return Err(shared::usage(of_file(&format!(
            "its columns are not those that this version of {} writes: {REMEDY}",
            experiment.name
        ))));
    }
    let options = options(experiment, args, gpu);
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| of_file(&error))?;
        for (column, (name, value)) in options.iter().enumerate() {
            let measured = &record[columns.len() - options.len() + column];
            if measured != value {
                return Err(shared::usage(of_file(&format!(
                    "it was measured with {name} {measured}, and now {name} is {value}: {REMEDY}"
                ))));
            }
        }
        let [panel, line, x, value, paper, note] = [0, 1, 2, 3, 4, 5].map(|column| &record[column]);
        let (Ok(x), value) = (x.parse::<f64>(), value.parse().ok()) else { continue };
        if value.is_none() && budget_in(note).is_none_or(|budget| budget < args.budget) {
            continue;
        }
        let point = (panel.to_owned(), line.to_owned(), x.to_bits());
        rows.push(Row { point, value, paper: paper.parse().ok(), note: note.to_owned() });
    }
    Ok(rows)
}

/// Draws a picture once, if it has curves.
pub(super) fn draw(picture: &Mutex<Picture>) -> Outcome<()> {
    let mut picture = picture.lock().unwrap_or_else(PoisonError::into_inner);
    if picture.is_drawn || picture.panels.is_empty() || !picture.experiment.axes.drawn {
        return Ok(());
    }
    picture.is_drawn = true;
    let mut notes = picture.notes.clone();
    if picture.missing > 0 {
        let missing = shared::count(picture.missing, "point");
        notes += &format!("; not measured: {missing} (the CSV file has the reasons)");
    }
    let title = format!("{} ({})", picture.experiment.title, source(picture.experiment));
    figure::draw(&picture.path, &title, &notes, &picture.panels, picture.experiment.axes.columns)
}

/// The paper of an experiment, and the place in it.
pub(super) fn source(experiment: &Experiment) -> String {
    format!("{}, {}", experiment.paper.short(), experiment.figure)
}

/// Finds the first item that is `known`, or appends a new one.
fn find_or_push<T>(items: &mut Vec<T>, known: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let place = items.iter().position(known).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    });
    &mut items[place]
}

/// A number with commas: 1,000,000.
pub(super) fn thousands(number: u64) -> String {
    match number / 1000 {
        0 => number.to_string(),
        more => format!("{},{:03}", thousands(more), number % 1000),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::table::EXPERIMENTS;
    use super::*;

    #[test]
    fn points_that_exceeded_a_budget_are_measured_again_with_a_larger_one_only() {
        let folder = std::env::temp_dir().join(format!("eventhorizon-papers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let all = &EXPERIMENTS;
        let experiment = all.iter().find(|experiment| experiment.name == "baudis-8").unwrap();
        let args = |budget: &str| {
            let out = folder.to_str().unwrap();
            Args::parse_from(["papers", "baudis-8", "--continue", "--out", out, "--budget", budget])
        };
        let Axes { x, y, .. } = experiment.axes;
        let options = options(experiment, &args("2"), None);
        let mut text = columns(x, y).join(",") + "\n";
        for (x, value, note) in
            [("1", "5", ""), ("2", "", &*over("it", 2.0)), ("3", "", "the device was lost"), ("4", "6", "")]
        {
            let fields = ["p", "line", x, value, "", note];
            let fields = fields.into_iter().chain(options.iter().map(|(_, value)| &**value));
            text += &(fields.collect::<Vec<_>>().join(",") + "\n");
        }
        std::fs::write(folder.join("baudis-8.csv"), text).unwrap();
        let kept = |budget| {
            let rows = kept(experiment, &args(budget), None).unwrap();
            rows.iter().map(|row| (f64::from_bits(row.point.2), row.value)).collect::<Vec<_>>()
        };
        let measured = [(1.0, Some(5.0)), (4.0, Some(6.0))];
        assert_eq!(kept("2.5"), measured);
        for budget in ["2", "0.5"] {
            assert_eq!(kept(budget), [measured[0], (2.0, None), measured[1]]);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
