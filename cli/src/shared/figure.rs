//! A figure as PNG: panels side by side, curves on linear or logarithmic axes, one legend.
//!
//! plotters draws text into bitmaps only with fonts of the system, which may have none, or with a
//! feature that asks all users of plotters in the build for fonts. So this file draws text itself,
//! pixel by pixel, with a font that comes with the program.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::shared::write_png;

pub type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

pub struct Panel {
    /// Drawn above the panel, unless it is also the label of an axis.
    pub title: String,
    /// The labels of the horizontal and the vertical axis.
    pub axes: [String; 2],
    /// Their scales.
    pub scales: [Scale; 2],
    pub lines: Vec<Line>,
}

/// How an axis is divided.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Logarithmic, with ticks at powers of two.
    Twos,
    /// Logarithmic, with ticks at powers of ten.
    Tens,
}

impl Scale {
    /// The place of a value on the axis.
    fn place(self, value: f64) -> f64 {
        if self == Self::Linear { value } else { value.ln() }
    }

    /// Whether the axis has the value.
    pub fn has(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }

    /// The range of an axis with these values, with some room at both ends.
    fn around(self, values: impl Iterator<Item = f64>, room: f64) -> Range<f64> {
        let (least, most) = values.fold((f64::MAX, f64::MIN), |(l, m), value| (l.min(value), m.max(value)));
        if self != Self::Linear {
            return least / (1.0 + room)..most * (1.0 + room);
        }
        // Zero is on the axis if it is not far.
        let least = if least > 0.0 && least < 0.5 * most { 0.0 } else { least };
        let span = (most - least).max(1e-3 * most.abs()).max(1e-9);
        let below = if least == 0.0 { 0.02 } else { 0.2 * room };
        least - below * span..most + 0.2 * room * span
    }

    fn ticks(self, range: &Range<f64>) -> Vec<f64> {
        match self {
            Self::Linear => even_ticks(range),
            Self::Twos => powers_of_two(range),
            Self::Tens => decimal_ticks(range),
        }
    }

    fn label(self, tick: f64) -> String {
        if self == Self::Twos { tick.to_string() } else { short(tick) }
    }
}

pub struct Line {
    pub name: String,
    /// Those that the scales of the panel have are drawn.
    pub points: Vec<(f64, f64)>,
    /// Points from elsewhere, drawn as rings; the legend names them by `STATED`.
    pub stated: Vec<(f64, f64)>,
}

/// The name of [`Line::stated`].
const STATED: &str = "ring of the same colour: stated in the paper";

const WIDTH: u32 = 1680;
const TALLEST: u32 = 800;
const TITLE: i32 = 84;
const LEGEND_ROW: i32 = 30;
const LEFT: i32 = 84;
const BOTTOM: i32 = 62;
const TOP: i32 = 40;
const TOP_WITHOUT_TITLE: i32 = 12;
const RIGHT: i32 = 20;

/// Colours that people with the usual kinds of colour blindness can distinguish. Markers
/// distinguish further curves.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 0, 0),
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(120, 80, 40),
    RGBColor(120, 60, 170),
    RGBColor(120, 120, 120),
];
const GRID: RGBColor = RGBColor(222, 222, 222);
const FRAME: RGBColor = RGBColor(110, 110, 110);

/// The horizontal alignment of a text to its point: 0.0 starts there, 1.0 ends there.
pub type Anchor = f32;

pub struct Pen {
    font: FontRef<'static>,
}

impl Pen {
    pub fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self { font: FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT)? })
    }

    /// The glyphs of a text with their offsets from the left, and the total width.
    fn layout(&self, text: &str, size: f32) -> (Vec<(GlyphId, f32)>, f32) {
        let font = self.font.as_scaled(PxScale::from(size));
        let (mut x, mut last, mut glyphs) = (0.0, None, Vec::new());
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            x += last.map_or(0.0, |last| font.kern(last, id));
            glyphs.push((id, x));
            x += font.h_advance(id);
            last = Some(id);
        }
        (glyphs, x)
    }

    fn width(&self, text: &str, size: f32) -> i32 {
        pixels(self.layout(text, size).1)
    }

    /// Draws a text with its middle line at `at`, optionally upwards.
    pub fn write(
        &self,
        area: &Area<'_>,
        text: &str,
        size: f32,
        at: (i32, i32),
        anchor: Anchor,
        upwards: bool,
    ) -> Result<(), Box<dyn Error>> {
        let (glyphs, width) = self.layout(text, size);
        // The middle of capital letters is this far above the baseline.
        let base = 0.27 * size;
        for (id, x) in glyphs {
            let glyph = id.with_scale_and_position(size, point(x - anchor * width, base));
            let Some(outline) = self.font.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            let mut dots = Vec::new();
            outline.draw(|dx, dy, cover| {
                // The font is light; this darkens it a little.
                dots.push((dx, dy, f64::from(cover).powf(0.7)));
            });
            for (dx, dy, cover) in dots {
                let (dx, dy) = (pixels(corner.x) + dx.cast_signed(), pixels(corner.y) + dy.cast_signed());
                let (dx, dy) = if upwards { (dy, -dx) } else { (dx, dy) };
                area.draw_pixel((at.0 + dx, at.1 + dy), &BLACK.mix(cover))?;
            }
        }
        Ok(())
    }
}

#[allow(clippy::cast_possible_truncation, reason = "places in a picture")]
fn pixels(length: f32) -> i32 {
    length.round() as i32
}

/// Draws `panels` in rows of `columns`.
pub fn draw(
    path: &Path,
    title: &str,
    notes: &str,
    panels: &[Panel],
    columns: usize,
) -> Result<(), Box<dyn Error>> {
    let pen = Pen::new()?;
    let mut curves: Vec<&Line> = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.lines) {
        if curves.iter().all(|known| known.name != line.name) {
            curves.push(line);
        }
    }
    let mut names: Vec<&str> = curves.iter().map(|curve| &*curve.name).collect();
    if panels.iter().flat_map(|panel| &panel.lines).any(|line| !line.stated.is_empty()) {
        names.push(STATED);
    }
    let columns = columns.min(panels.len()).max(1);
    let width = WIDTH / u32::try_from(columns)?;
    let height = (width * 4 / 5).min(TALLEST);
    let rows = u32::try_from(panels.len().div_ceil(columns))?;
    let legend = Legend::new(&pen, &names);
    let below = height * rows + TITLE.cast_unsigned();
    let size = (WIDTH, below + legend.height.cast_unsigned());
    let mut pixels = vec![0; 3 * (size.0 * size.1) as usize];
    {
        let root = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        root.fill(&WHITE)?;
        let middle = WIDTH.cast_signed() / 2;
        pen.write(&root, title, 27.0, (middle, 28), 0.5, false)?;
        pen.write(&root, notes, 19.0, (middle, 60), 0.5, false)?;
        let (header, rest) = root.split_vertically(TITLE);
        drop(header);
        let (grid, legend_area) = rest.split_vertically(height * rows);
        for (place, panel) in grid.split_evenly((rows as usize, columns)).iter().zip(panels) {
            draw_panel(&pen, place, panel, &names)?;
        }
        legend.draw(&pen, &legend_area, &names)?;
        root.present()?;
    }
    write_png(path, size, png::ColorType::Rgb, &pixels)
}

fn draw_panel(pen: &Pen, area: &Area<'_>, panel: &Panel, names: &[&str]) -> Result<(), Box<dyn Error>> {
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (width.cast_signed(), height.cast_signed());
    let has_title = !panel.title.is_empty() && !panel.axes.contains(&panel.title);
    let (left, right, bottom) = (LEFT, width - RIGHT, height - BOTTOM);
    let top = if has_title { TOP } else { TOP_WITHOUT_TITLE };
    let centre = i32::midpoint(left, right);
    if has_title {
        pen.write(area, &panel.title, 21.0, (centre, top - 18), 0.5, false)?;
    }
    let [across, upwards] = panel.scales;
    let is_drawn = |&&(x, y): &&(f64, f64)| across.has(x) && upwards.has(y);
    let points =
        || panel.lines.iter().flat_map(|line| line.points.iter().chain(&line.stated)).filter(is_drawn);
    if points().next().is_none() {
        return pen.write(area, "nothing was measured", 19.0, (centre, (top + bottom) / 2), 0.5, false);
    }
    let xs = across.around(points().map(|&(x, _)| x), 0.25);
    let ys = upwards.around(points().map(|&(_, y)| y), 0.4);
    let at = |&(x, y): &(f64, f64)| (across.place(x), upwards.place(y));
    let [(left_end, low_end), (right_end, high_end)] =
        [(xs.start, ys.start), (xs.end, ys.end)].map(|c| at(&c));
    let mut chart = ChartBuilder::on(area)
        .margin_left(left)
        .margin_right(RIGHT)
        .margin_top(top)
        .margin_bottom(BOTTOM)
        .build_cartesian_2d(left_end..right_end, low_end..high_end)?;
    let (x_ticks, y_ticks) = (across.ticks(&xs), upwards.ticks(&ys));
    let level = |y: f64| PathElement::new([(left_end, y), (right_end, y)], GRID);
    let upright = |x: f64| PathElement::new([(x, low_end), (x, high_end)], GRID);
    chart.draw_series(y_ticks.iter().map(|&y| level(upwards.place(y))))?;
    chart.draw_series(x_ticks.iter().map(|&x| upright(across.place(x))))?;
    chart.draw_series([Rectangle::new([(left_end, low_end), (right_end, high_end)], FRAME)])?;
    for line in &panel.lines {
        let style = names.iter().position(|name| *name == line.name).unwrap_or(0);
        let points: Vec<_> = line.points.iter().filter(is_drawn).map(at).collect();
        let colour = COLOURS[style % COLOURS.len()];
        chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
        for point in &points {
            marker(area, chart.backend_coord(point), area.get_base_pixel(), style)?;
        }
        for point in line.stated.iter().filter(is_drawn).map(at) {
            let ((x, y), corner) = (chart.backend_coord(&point), area.get_base_pixel());
            area.draw(&Circle::new((x - corner.0, y - corner.1), 8, colour.stroke_width(2)))?;
        }
    }
    let corner = area.get_base_pixel();
    let place = |point: (f64, f64)| {
        let (x, y) = chart.backend_coord(&at(&point));
        (x - corner.0, y - corner.1)
    };
    for x in x_ticks {
        pen.write(area, &across.label(x), 17.0, (place((x, ys.start)).0, bottom + 16), 0.5, false)?;
    }
    for y in y_ticks {
        pen.write(area, &upwards.label(y), 17.0, (left - 8, place((xs.start, y)).1), 1.0, false)?;
    }
    pen.write(area, &panel.axes[0], 18.0, (centre, bottom + 42), 0.5, false)?;
    pen.write(area, &panel.axes[1], 18.0, (16, (top + bottom) / 2), 0.5, true)
}

/// The marker of curve number `style`: its shape and colour.
fn marker(
    area: &Area<'_>,
    (x, y): (i32, i32),
    corner: (i32, i32),
    style: usize,
) -> Result<(), Box<dyn Error>> {
    let at = (x - corner.0, y - corner.1);
    let colour = COLOURS[style % COLOURS.len()];
    match style % 4 {
        0 => area.draw(&Circle::new(at, 5, colour.filled()))?,
        1 => area.draw(&Rectangle::new([(at.0 - 4, at.1 - 4), (at.0 + 4, at.1 + 4)], colour.filled()))?,
        2 => area.draw(&TriangleMarker::new(at, 7, colour.filled()))?,
        _ => area.draw(&Cross::new(at, 5, colour.stroke_width(2)))?,
    }
    Ok(())
}

struct Legend {
    /// For each name: its row and its offset from the left.
    places: Vec<(i32, i32)>,
    widths: Vec<i32>,
    height: i32,
}

impl Legend {
    const SIZE: f32 = 20.0;
    const SAMPLE: i32 = 44;
    const GAP: i32 = 34;

    fn new(pen: &Pen, names: &[&str]) -> Self {
        let (mut places, mut widths) = (Vec::new(), Vec::new());
        let (mut row, mut x) = (0, 0);
        for name in names {
            let width = Self::SAMPLE + pen.width(name, Self::SIZE) + Self::GAP;
            if x + width > WIDTH.cast_signed() - 40 {
                widths.push(x);
                (row, x) = (row + 1, 0);
            }
            places.push((row, x));
            x += width;
        }
        widths.push(x);
        Self { places, widths, height: (row + 1) * LEGEND_ROW + 18 }
    }

    fn draw(&self, pen: &Pen, area: &Area<'_>, names: &[&str]) -> Result<(), Box<dyn Error>> {
        for (style, (name, &(row, x))) in names.iter().zip(&self.places).enumerate() {
            let row_width = self.widths[usize::try_from(row)?] - Self::GAP;
            let x = (WIDTH.cast_signed() - row_width) / 2 + x;
            let y = row * LEGEND_ROW + LEGEND_ROW / 2;
            let colour = COLOURS[style % COLOURS.len()];
            if *name == STATED {
                area.draw(&Circle::new((x + 17, y), 8, FRAME.stroke_width(2)))?;
            } else {
                area.draw(&PathElement::new([(x, y), (x + 34, y)], colour.stroke_width(2)))?;
                marker(area, (x + 17, y), (0, 0), style)?;
            }
            pen.write(area, name, Self::SIZE, (x + Self::SAMPLE, y), 0.0, false)?;
        }
        Ok(())
    }
}

/// Round numbers at even distances in a range, about five.
fn even_ticks(range: &Range<f64>) -> Vec<f64> {
    let rough = (range.end - range.start) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (range.start / step).ceil();
    let ticks = (0..12).map(|n| (first + f64::from(n)) * step);
    ticks.take_while(|tick| *tick <= range.end).collect()
}

/// Powers of two in a range; every second one if there are many.
fn powers_of_two(range: &Range<f64>) -> Vec<f64> {
    let powers: Vec<f64> = (-16..32).map(|n| f64::from(n).exp2()).filter(|x| range.contains(x)).collect();
    match powers.len() {
        0..=8 => powers,
        _ => powers.into_iter().filter(|x| x.log2() % 2.0 == 0.0).collect(),
    }
}

/// Powers of ten in a range; also 2 and 5 times them if there are few, and others in a narrow
/// range.
fn decimal_ticks(range: &Range<f64>) -> Vec<f64> {
    let ticks = |steps: &[f64]| -> Vec<f64> {
        let all = (-16..16).flat_map(|n| steps.iter().map(move |step| step * 10_f64.powi(n)));
        all.filter(|y| range.contains(y)).collect()
    };
    let tens = ticks(&[1.0]);
    let more = ticks(&[1.0, 2.0, 5.0]);
    match (tens.len(), more.len()) {
        (4.., _) => tens,
        (_, 3..) => more,
        _ => even_ticks(range),
    }
}

/// A round number with its unit prefix.
fn short(value: f64) -> String {
    let (scale, unit) = match value {
        1e9.. => (1e9, " G"),
        1e6.. => (1e6, " M"),
        1e3.. => (1e3, " k"),
        _ => (1.0, ""),
    };
    // Sums of steps are not exact.
    let rounded = (value / scale * 1e9).round() / 1e9;
    format!("{rounded}{unit}")
}
