//! One experiment in progress: its CSV file and its picture.

use std::fs::File;
use std::io::{Write as _, stdout};
use std::path::PathBuf;

use eventhorizon::gpu::Gpu;

use super::table::BY_PANEL;
use super::{Args, Axes, Experiment};
use crate::shared::figure::{self, Line, Panel};
use crate::shared::{self, Outcome};

/// The name of the curve of numbers that the paper states.
const PAPER: &str = "stated in the paper";

/// An experiment that runs.
pub(super) struct Study<'a> {
    pub(super) args: &'a Args,
    pub(super) gpu: Gpu,
    experiment: &'static Experiment,
    csv: csv::Writer<File>,
    panels: Vec<Panel>,
    missing: u32,
    notes: String,
}

impl<'a> Study<'a> {
    /// Creates the CSV file.
    pub(super) fn new(experiment: &'static Experiment, args: &'a Args, gpu: &Gpu) -> Outcome<Self> {
        let path = args.out.join(experiment.name).with_extension("csv");
        let mut csv =
            csv::Writer::from_path(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let Axes { x, y, .. } = experiment.axes;
        csv.write_record(["panel", "line", x, y, "paper", "note", "adapter"])?;
        csv.flush()?;
        let (gpu, notes) = (gpu.clone(), String::new());
        Ok(Self { args, gpu, experiment, csv, panels: Vec::new(), missing: 0, notes })
    }

    /// The paper and the place in it.
    pub(super) fn source(&self) -> String {
        format!("{}, {}", self.experiment.paper.short(), self.experiment.figure)
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
        if !self.notes.contains(text) {
            self.notes += "; ";
            self.notes += text;
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
        self.missing += 1;
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
        let adapter = &self.gpu.info().name;
        self.csv.write_record([panel, line, &x.to_string(), &text(y), &text(paper), note, adapter])?;
        self.csv.flush()?;
        let shown =
            |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4e}"));
        let beside = paper.map_or_else(String::new, |paper| format!("  the paper {paper}"));
        writeln!(stdout(), "{panel:<24} {line:<34} {x:>10} {:>12}{beside}  {note}", shown(y))?;
        let scales = self.experiment.axes.scales;
        for (name, y, joined) in [(line, y, true), (PAPER, paper, false)] {
            let Some(y) = y.filter(|&y| scales[1].has(y)) else { continue };
            let Axes { x: across, y: upwards, scales, .. } = self.experiment.axes;
            let panel = find_or_push(
                &mut self.panels,
                |known| known.title == panel,
                || Panel {
                    title: panel.to_owned(),
                    axes: (across, (if upwards == BY_PANEL { panel } else { upwards }).to_owned()),
                    scales,
                    lines: Vec::new(),
                },
            );
            let line = find_or_push(
                &mut panel.lines,
                |known| known.name == name,
                || Line { name: name.to_owned(), points: Vec::new(), joined },
            );
            line.points.push((x, y));
        }
        Ok(())
    }

    /// The file of this experiment with another ending.
    pub(super) fn file(&self, ending: &str) -> PathBuf {
        self.args.out.join(self.experiment.name).with_extension(ending)
    }

    /// Draws the figure, if there are curves. Tables and pictures have none.
    pub(super) fn draw(&mut self) -> Outcome<()> {
        if self.panels.is_empty() || !self.experiment.axes.drawn {
            return Ok(());
        }
        let mut notes = self.gpu.info().name.clone() + &self.notes;
        if self.missing > 0 {
            notes += &format!("; {} points were not measured (the CSV file says why)", self.missing);
        }
        let title = format!("{} ({})", self.experiment.title, self.source());
        let columns = self.experiment.axes.columns;
        figure::draw(&self.file("png"), &title, &notes, &self.panels, columns)
    }
}

/// Finds the first item that is `known`, or appends a new one.
fn find_or_push<T>(items: &mut Vec<T>, known: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let place = items.iter().position(known).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    });
    &mut items[place]
}
