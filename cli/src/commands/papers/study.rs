//! One experiment in progress: its CSV file and its picture.

use std::fs::File;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use eventhorizon::gpu::Gpu;

use super::table::BY_PANEL;
use super::{Args, Axes, Experiment};
use crate::shared::figure::{self, Line, Panel};
use crate::shared::{self, Outcome};

/// An experiment that runs.
pub(super) struct Study<'a> {
    pub(super) args: &'a Args,
    /// `None` without an adapter.
    gpu: Option<Gpu>,
    experiment: &'static Experiment,
    csv: csv::Writer<File>,
    picture: Arc<Mutex<Picture>>,
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
    /// Creates the CSV file.
    pub(super) fn new(experiment: &'static Experiment, args: &'a Args, gpu: Option<&Gpu>) -> Outcome<Self> {
        let path = args.out.join(experiment.name).with_extension("csv");
        let mut csv =
            csv::Writer::from_path(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let Axes { x, y, .. } = experiment.axes;
        csv.write_record(["panel", "line", x, y, "paper", "note", "adapter"])?;
        csv.flush()?;
        let picture = Picture {
            experiment,
            path: path.with_extension("png"),
            panels: Vec::new(),
            missing: 0,
            notes: gpu.map_or("no adapter", |gpu| &gpu.info().name).to_owned(),
            is_drawn: false,
        };
        Ok(Self { args, gpu: gpu.cloned(), experiment, csv, picture: Arc::new(Mutex::new(picture)) })
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

    /// Writes a row, and keeps its points for the picture.
    pub(super) fn row(
        &mut self,
        [panel, line]: [&str; 2],
        x: f64,
        y: Option<f64>,
        paper: Option<f64>,
        note: &str,
    ) -> Outcome<()> {
        let text = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let adapter = self.gpu.as_ref().map_or("none", |gpu| &gpu.info().name);
        self.csv.write_record([panel, line, &x.to_string(), &text(y), &text(paper), note, adapter])?;
        self.csv.flush()?;
        let shown =
            |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4e}"));
        let beside = paper.map_or_else(String::new, |paper| format!("  the paper {paper}"));
        writeln!(stdout(), "{panel:<24} {line:<34} {x:>10} {:>12}{beside}  {note}", shown(y))?;
        let Axes { x: across, y: upwards, scales, .. } = self.experiment.axes;
        let [y, stated] = [y, paper].map(|number| number.filter(|&number| scales[1].has(number)));
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
