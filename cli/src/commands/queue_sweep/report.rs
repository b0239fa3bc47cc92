//! Reports of the sweep: lines, a table of the best designs, figures.

use std::fmt::Write as _;
use std::path::Path;

use eventhorizon::gpu::Gpu;
use eventhorizon::queue::QueueDesign;

use super::{Cell, Figure, LOOKAHEAD, Outcome, Panels, Row};
use crate::shared::figure as png;
use crate::shared::rates::Rate;

/// Formats a row for the terminal.
pub(crate) fn line(row: &Row) -> String {
    let Row { cell, name, rate, note, .. } = row;
    let [rate, window] = match rate {
        Some(rate) => {
            [format!("{:.4e}", rate.events_per_second()), format!("{:.2}", rate.microseconds_per_window())]
        }
        None => ["-".into(), "-".into()],
    };
    let Cell { figure, lps, rate: cell_rate, population, .. } = cell;
    let (figure, group) = (figure.name, cell.group());
    format!(
        "{figure:>5} {lps:>7} {cell_rate:>8} {population:>7} {group:>6} {name:>18} {rate:>11} {window:>11}  {note}"
    )
}

/// Formats a row of `cells.csv`.
pub(crate) fn record(row: &Row, gpu: &Gpu) -> [String; 15] {
    let Row { cell, name, rate, fingerprint, note, .. } = row;
    let of = |value: fn(&Rate) -> String| rate.as_ref().map_or_else(String::new, value);
    [
        cell.figure.name.into(),
        cell.lps.to_string(),
        cell.population.to_string(),
        cell.rate.to_string(),
        LOOKAHEAD.to_string(),
        cell.group(),
        name.clone(),
        of(|rate| format!("{:.1}", rate.events_per_second())),
        of(|rate| format!("{:.3}", rate.microseconds_per_window())),
        of(|rate| rate.events.to_string()),
        of(|rate| rate.windows.to_string()),
        of(|rate| format!("{:.4}", rate.seconds)),
        fingerprint.map_or_else(String::new, |fingerprint| fingerprint.to_string()),
        gpu.info().name.clone(),
        note.clone(),
    ]
}

/// The best design of each cell, as a Markdown table.
pub(crate) fn best_of(figure: &Figure, rows: &[&Row]) -> Outcome<String> {
    let mut text = format!(
        "\n## {}\n\n| LPs | rate | events per LP | workgroup | best design | events/s | against the heap | not measured |\n\
         | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- |\n",
        figure.title
    );
    let same = |a: &&Row, b: &&Row| a.cell.key() == b.cell.key() && a.cell.group_size == b.cell.group_size;
    for rows in rows.chunk_by(same) {
        let cell = &rows[0].cell;
        let rate = |row: &Row| row.rate.map_or(0.0, |rate| rate.events_per_second());
        write!(text, "| {} | {} | {} | {} ", cell.lps, cell.rate, cell.population, cell.group())?;
        // The choice of `auto` is one of the designs, and would differ only by the measurement.
        let designs = rows.iter().filter(|row| row.queue.0.is_some() && row.rate.is_some());
        let best = designs.max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let heap = rows.iter().find(|row| row.queue.0 == Some(QueueDesign::Heap) && row.rate.is_some());
        match best {
            Some(best) => write!(text, "| {} | {:.3e} ", best.name, rate(best))?,
            None => write!(text, "| – | – ")?,
        }
        match best.zip(heap) {
            Some((best, heap)) => write!(text, "| {:.2} ", rate(best) / rate(heap))?,
            None => write!(text, "| – ")?,
        }
        let missing: Vec<_> =
            rows.iter().filter(|row| row.rate.is_none()).map(|row| row.name.as_str()).collect();
        writeln!(text, "| {} |", missing.join(", "))?;
    }
    Ok(text + "\n")
}

/// Draws a figure as PNG.
pub(crate) fn draw_figure(figure: &Figure, rows: &[&Row], gpu: &Gpu, out: &Path) -> Outcome<()> {
    // Panels are in the order of the rows.
    let mut panels: Vec<png::Panel> = Vec::new();
    for row in rows {
        let (panel, line) = match figure.panels {
            Panels::Designs => {
                (row.queue.to_string(), format!("workgroups of {}", row.cell.group_size.unwrap_or(0)))
            }
            _ => (format!("rate {}", row.cell.rate), row.queue.to_string()),
        };
        let panel = find_or_push(
            &mut panels,
            |known| known.title == panel,
            || png::Panel {
                title: panel.clone(),
                axes: ("events per LP", "events per second"),
                lines: Vec::new(),
            },
        );
        let line = find_or_push(
            &mut panel.lines,
            |known| known.name == line,
            || png::Line { name: line.clone(), points: Vec::new() },
        );
        line.points.extend(row.rate.map(|rate| (row.cell.population.into(), rate.events_per_second())));
    }
    let missing = rows.iter().filter(|row| row.rate.is_none()).count();
    let mut notes = format!("{}; lookahead {LOOKAHEAD}, rates per unit of time", gpu.info().name);
    if missing > 0 {
        write!(notes, "; {missing} points could not be measured (cells.csv says why)")?;
    }
    let lps = rows.first().map_or(figure.lps, |row| row.cell.lps);
    let title = format!("{}, {lps} LPs", figure.title);
    let columns = if matches!(figure.panels, Panels::Designs) { 4 } else { 3 };
    png::draw(&out.join(format!("figure-{}.png", figure.name)), &title, &notes, &panels, columns)
}

/// Finds the first item that is `known`, or appends a new one.
fn find_or_push<T>(items: &mut Vec<T>, known: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let place = items.iter().position(known).unwrap_or_else(|| {
        items.push(new());
        items.len() - 1
    });
    &mut items[place]
}
