//! Plots of a network and its runs, as SVG text.

mod layout;
mod quantiles;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use layout::Layout;

pub use quantiles::quantiles;

use super::nodes::{Kind, Node};
use super::{Facility, FacilityError, Measure, Report, Timeline};
use crate::statistics::plot::{Drawn, LINES, colours, labels, over_time};

const SIZE: (u32, u32) = (900, 480);

/// Most nodes of a network that is drawn.
pub const MOST_NODES: usize = 300;

/// Pixels from layer to layer and from node to node within a layer, half the size of a node, and
/// margins.
const ACROSS: f64 = 168.0;
const DOWN: f64 = 92.0;
const BOX: (i32, i32) = (58, 21);
const MARGIN: i32 = 100;
const TITLE: i32 = 50;
const LEGEND: i32 = 70;

/// The colours of shares from 0 to 1: yellow to red, with decreasing lightness (Brewer's `YlOrRd`).
const SHARES: [(u8, u8, u8); 6] =
    [(255, 255, 229), (254, 217, 118), (254, 178, 76), (253, 141, 60), (240, 59, 32), (150, 0, 38)];

fn svg(draw: impl FnOnce(&mut String) -> Drawn) -> Result<String, FacilityError> {
    let mut svg = String::new();
    draw(&mut svg).map_err(|error| FacilityError::Plot { message: error.to_string() })?;
    Ok(svg)
}

fn nothing(message: &str) -> FacilityError {
    FacilityError::Plot { message: message.to_owned() }
}

/// Draws the number of customers at each station, delay and fork over the time of a run: the
/// average of each part. Of more than eight nodes, draws those with the most customers.
///
/// # Errors
/// [`FacilityError::Plot`].
pub fn numbers(course: &Timeline) -> Result<String, FacilityError> {
    if course.numbers.is_empty() {
        return Err(nothing("the network has no station and no delay"));
    }
    let texts = ["Customers over the time of one run", &format!("time ({})", course.unit), "customers"];
    svg(|svg| over_time(svg, texts, course.part, &course.numbers))
}

/// Draws the distribution functions of sojourn times at each station, delay and fork, and of the
/// times in the network that sinks record. Of more than eight nodes, draws those with the most
/// departures.
///
/// # Errors
/// [`FacilityError::Plot`], if no customer left any node after the warm-up.
pub fn sojourns(course: &Timeline) -> Result<String, FacilityError> {
    let mut lines: Vec<_> = course.sojourns.iter().collect();
    lines.sort_by_key(|times| std::cmp::Reverse(times.count()));
    lines.truncate(LINES);
    // From the first nonempty bin to the bin that covers all but 1/1000.
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let curves: Vec<Vec<(f64, f64)>> = lines
        .iter()
        .map(|times| {
            let all = times.count() as f64;
            let (mut below, mut curve) = (0, Vec::new());
            for &(from, to, count) in &times.bins {
                let share = |below: u64| below as f64 / all;
                low = low.min(if from > 0.0 { from } else { to });
                if share(below) < 0.999 {
                    high = high.max(to);
                }
                curve.push((from, share(below)));
                below += count;
                curve.push((to, share(below)));
            }
            curve
        })
        .collect();
    if curves.is_empty() {
        return Err(nothing("no customer left any node after the warm-up"));
    }
    svg(|svg| {
        let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("Time from arrival to departure (of a sink: in the network)", ("sans-serif", 20))
            .margin(12)
            .margin_right(32)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d((low..high.max(low * 1.5)).log_scale(), 0.0..1.0)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(format!("time ({})", course.unit))
            .y_desc("share that stayed no longer")
            .draw()?;
        for ((times, curve), colour) in lines.iter().zip(&curves).zip(colours()) {
            let points =
                curve.iter().map(|&(at, share)| (at.max(low), share)).filter(|point| point.0 <= high);
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
                .label(&times.node)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(3)));
        }
        labels(&mut chart, SeriesLabelPosition::LowerRight)?;
        root.present()
    })
}

/// Draws the network: nodes in layers from left to right, an arrow for each route, and stations
/// coloured by utilisation.
///
/// # Errors
/// [`FacilityError::Plot`] for more than [`MOST_NODES`] nodes.
pub fn network(facility: &Facility, report: &Report) -> Result<String, FacilityError> {
    let nodes = &facility.nodes;
    if nodes.len() > MOST_NODES {
        let (has, most) = (nodes.len(), MOST_NODES);
        return Err(nothing(&format!("the network has {has} nodes, and at most {most} can be drawn")));
    }
    let layout = Layout::new(nodes);
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a picture")]
    let from_middle = |node: usize| {
        let (layer, place) = layout.places[node];
        (MARGIN + (layer as f64 * ACROSS) as i32, (place * DOWN) as i32)
    };
    // Room above the highest node for edges back, which pass there.
    let round = layout.edges.iter().filter(|edge| edge.2).map(|&(from, to, _)| {
        let (from, to) = (from_middle(from), from_middle(to));
        f64::from(from.1.min(to.1)) - 0.75 * rise(from, to)
    });
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let half = layout.most as f64 * DOWN / 2.0;
    #[expect(clippy::cast_possible_truncation, reason = "a picture")]
    let middle = TITLE + (-round.fold(-half, f64::min)) as i32;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a picture")]
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let size = (
        ((layout.layers.max(3) as f64 - 1.0) * ACROSS) as u32 + 2 * MARGIN.cast_unsigned(),
        (f64::from(middle + LEGEND) + half) as u32,
    );
    let at = |node: usize| {
        let (x, y) = from_middle(node);
        (x, middle + y)
    };
    svg(|svg| {
        let root = SVGBackend::with_string(svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let width = i32::try_from(size.0).unwrap_or(i32::MAX);
        let title = text(20.0, BLACK);
        root.draw(&Text::new(report.network.clone(), (width / 2, 24), title))?;
        for &(from, to, back) in &layout.edges {
            edge(&root, (at(from), &nodes[from]), (at(to), &nodes[to]), back)?;
        }
        for (number, node) in nodes.iter().enumerate() {
            let of = |measure| {
                let mut rows =
                    report.rows.iter().filter(|row| row.node == node.name && row.measure == measure);
                // If there are several classes, the first row is of all classes.
                rows.next().and_then(|row| row.mean)
            };
            draw_node(&root, node, at(number), of)?;
        }
        let (left, bottom) = (width / 2 - 100, i32::try_from(size.1).unwrap_or(i32::MAX) - 44);
        for step in 0..100 {
            let x = left + 2 * step;
            let colour = shade(f64::from(step) / 99.0);
            root.draw(&Rectangle::new([(x, bottom), (x + 2, bottom + 12)], colour.filled()))?;
        }
        root.draw(&Rectangle::new([(left, bottom), (left + 200, bottom + 12)], BLACK.mix(0.5)))?;
        for (x, emit) in [(left, "0"), (left + 100, "utilisation"), (left + 200, "1")] {
            root.draw(&Text::new(emit, (x, bottom + 25), text(13.0, BLACK)))?;
        }
        root.present()
    })
}

fn text(size: f64, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour).pos(Pos::new(HPos::Center, VPos::Center))
}

/// The colour of a share.
fn shade(share: f64) -> RGBColor {
    let place = share.clamp(0.0, 1.0) * 5.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 4")]
    let step = (place as usize).min(4);
    #[expect(clippy::cast_precision_loss, reason = "0 to 4")]
    let part = place - step as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
    let mix = |a: u8, b: u8| (f64::from(a) + part * (f64::from(b) - f64::from(a))).round() as u8;
    let (a, b) = (SHARES[step], SHARES[step + 1]);
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw_node(root: &Area<'_>, node: &Node, (x, y): (i32, i32), of: impl Fn(Measure) -> Option<f64>) -> Drawn {
    let frame = RGBColor(70, 70, 70);
    let plain = RGBColor(232, 238, 244);
    let (wide, high) = BOX;
    let corners = [(x - wide, y - high), (x + wide, y + high)];
    let emit = |what: &str, value: Option<f64>| value.map(|value| format!("{what} {}", short(value)));
    let mut below = None;
    let mut ink = BLACK;
    match node.kind {
        Kind::Source { .. } | Kind::Sink => {
            root.draw(&Circle::new((x, y), 17, plain.filled()))?;
            root.draw(&Circle::new((x, y), 17, frame.stroke_width(1)))?;
            if node.kind == Kind::Sink {
                root.draw(&Circle::new((x, y), 12, frame.stroke_width(1)))?;
            } else {
                root.draw(&Polygon::new([(x - 5, y - 8), (x + 9, y), (x - 5, y + 8)], frame.filled()))?;
            }
        }
        Kind::Router | Kind::Fork => {
            let diamond = vec![(x, y - 17), (x + 17, y), (x, y + 17), (x - 17, y), (x, y - 17)];
            root.draw(&Polygon::new(diamond.clone(), plain.filled()))?;
            root.draw(&PathElement::new(diamond, frame.stroke_width(1)))?;
            if node.kind == Kind::Fork {
                root.draw(&PathElement::new(vec![(x - 8, y), (x + 8, y)], frame.stroke_width(2)))?;
                root.draw(&PathElement::new(vec![(x, y - 8), (x, y + 8)], frame.stroke_width(2)))?;
            }
        }
        Kind::Station { servers, .. } => {
            let busy = of(Measure::Utilisation);
            let fill = match (servers, busy) {
                (Some(_), Some(busy)) => shade(busy),
                _ => plain,
            };
            if servers.is_some() && busy.is_some_and(|busy| busy > 0.85) {
                ink = WHITE;
            }
            root.draw(&Rectangle::new(corners, fill.filled()))?;
            let line = if servers.is_some() { frame.stroke_width(1) } else { frame.mix(0.5).stroke_width(1) };
            root.draw(&Rectangle::new(corners, line))?;
            let number = emit("number", of(Measure::Number));
            below = if servers.is_some() { emit("busy", busy).or(number) } else { number };
        }
    }
    let boxed = matches!(node.kind, Kind::Station { .. });
    let name = if node.name.chars().count() > 17 {
        node.name.chars().take(16).chain(['…']).collect()
    } else {
        node.name.clone()
    };
    let line = if boxed { y - if below.is_some() { 8 } else { 0 } } else { y + 29 };
    root.draw(&Text::new(name, (x, line), text(13.0, ink)))?;
    if let Some(below) = below {
        root.draw(&Text::new(below, (x, y + 9), text(12.0, ink)))?;
    }
    Ok(())
}

/// A number with about three digits.
fn short(value: f64) -> String {
    match value {
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// How far above the higher of its ends an edge back passes.
fn rise(from: (i32, i32), to: (i32, i32)) -> f64 {
    f64::from(BOX.1) + 16.0 + f64::from((from.0 - to.0).abs()) / 9.0
}

/// Half the size of a node.
fn half(node: &Node) -> (f64, f64) {
    match node.kind {
        Kind::Station { .. } => (f64::from(BOX.0), f64::from(BOX.1)),
        _ => (17.0, 17.0),
    }
}

/// An arrow from one node to another: a curve that leaves to the right and arrives from the left.
/// Edges back pass above, in a lighter colour.
fn edge(root: &Area<'_>, from: ((i32, i32), &Node), to: ((i32, i32), &Node), back: bool) -> Drawn {
    let place = |(x, y): (i32, i32)| (f64::from(x), f64::from(y));
    let ((from, node), (to, other)) = (from, to);
    let ((ax, ay), (bx, by)) = (place(from), place(to));
    let ((wide, high), (other_wide, other_high)) = (half(node), half(other));
    let colour = if back { RGBColor(150, 150, 150) } else { RGBColor(60, 60, 60) };
    // A Bézier curve: start, two control points, end.
    let bend = if from == to {
        [(ax + 20.0, ay - high), (ax + 52.0, ay - 60.0), (ax - 52.0, ay - 60.0), (ax - 20.0, ay - high)]
    } else if from.0 == to.0 {
        [(ax + wide, ay), (ax + wide + 44.0, ay), (bx + other_wide + 44.0, by), (bx + other_wide, by)]
    } else if back {
        let top = ay.min(by) - rise(from, to);
        [(ax, ay - high), (ax, top), (bx, top), (bx, by - other_high)]
    } else {
        let pull = (bx - ax) * 0.25;
        [(ax + wide, ay), (ax + wide + pull, ay), (bx - other_wide - pull, by), (bx - other_wide, by)]
    };
    let point = |t: f64| {
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        let sum = |of: fn((f64, f64)) -> f64| -> f64 {
            weights.iter().zip(bend).map(|(weight, point)| weight * of(point)).sum()
        };
        (sum(|point| point.0), sum(|point| point.1))
    };
    #[expect(clippy::cast_possible_truncation, reason = "a picture")]
    let pixel = |(x, y): (f64, f64)| (x.round() as i32, y.round() as i32);
    let points: Vec<_> = (0..=24).map(|step| pixel(point(f64::from(step) / 24.0))).collect();
    root.draw(&PathElement::new(points, colour.stroke_width(1)))?;
    // The head, along the end of the curve.
    let ((tx, ty), (nx, ny)) = (bend[3], point(0.94));
    let long = ((tx - nx).powi(2) + (ty - ny).powi(2)).sqrt().max(1e-6);
    let (ux, uy) = ((tx - nx) / long * 9.0, (ty - ny) / long * 9.0);
    let head =
        [(tx, ty), (tx - ux - uy * 0.45, ty - uy + ux * 0.45), (tx - ux + uy * 0.45, ty - uy - ux * 0.45)];
    root.draw(&Polygon::new(head.map(pixel), colour.filled()))
}
