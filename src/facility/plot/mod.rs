//! Plots of a network and its runs, as SVG text.

mod layout;
mod places;
mod quantiles;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use places::{BOX, nothing};
pub use places::{MOST_NODES, NodePlace, Places, RoutePlace, places};

pub use quantiles::quantiles;

use super::nodes::{Kind, Node};
use super::{Facility, FacilityError, Measure, Report, Timeline};
use crate::statistics::plot::{Drawn, Mark, begin, largest, over_time};

const SIZE: (u32, u32) = (900, 480);

/// The colours of shares from 0 to 1: yellow to red, with decreasing lightness (Brewer's `YlOrRd`).
const SHARES: [(u8, u8, u8); 6] =
    [(255, 255, 229), (254, 217, 118), (254, 178, 76), (253, 141, 60), (240, 59, 32), (150, 0, 38)];

fn svg(draw: impl FnOnce(&mut String) -> Drawn) -> Result<String, FacilityError> {
    let mut svg = String::new();
    draw(&mut svg).map_err(|error| FacilityError::Plot { message: error.to_string() })?;
    Ok(svg)
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
    // Nodes have their colours of the picture of numbers; sinks are behind them.
    let mut names: Vec<&str> = course.numbers.iter().map(|(name, _)| &**name).collect();
    names.extend(course.sojourns.iter().map(|times| &*times.node));
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let lines = largest(&course.sojourns, |times| &times.node, |times| times.count() as f64, &names);
    // From the first nonempty bin to the bin that covers all but 1/1000.
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let curves: Vec<Vec<(f64, f64)>> = lines
        .iter()
        .map(|(times, _)| {
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
        let legend = lines.iter().map(|(times, colour)| (&*times.node, Mark::Line(*colour)));
        let caption = "Time from arrival to departure (of a sink: in the network)";
        let root = begin(svg, SIZE, caption, &legend.collect::<Vec<_>>())?;
        let mut chart = ChartBuilder::on(&root)
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
        for ((_, colour), curve) in lines.iter().zip(&curves) {
            let points =
                curve.iter().map(|&(at, share)| (at.max(low), share)).filter(|point| point.0 <= high);
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        }
        root.present()
    })
}

/// Draws the network: nodes in layers from left to right, an arrow for each route, and stations
/// coloured by utilisation if there is a report.
///
/// # Errors
/// [`FacilityError::Plot`] for more than [`MOST_NODES`] nodes.
pub fn network<'r>(
    facility: &Facility,
    report: impl Into<Option<&'r Report>>,
) -> Result<String, FacilityError> {
    let rows = report.into().map(|report| &report.rows[..]);
    let places = places(facility)?;
    let size = places.size.into();
    svg(|svg| {
        let root = SVGBackend::with_string(svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let width = i32::try_from(places.size[0]).unwrap_or(i32::MAX);
        let title = text(20.0, BLACK);
        root.draw(&Text::new(facility.network.name.clone(), (width / 2, 24), title))?;
        for route in &places.routes {
            edge(&root, route)?;
        }
        for (node, place) in facility.nodes.iter().zip(&places.nodes) {
            let of = |measure| {
                // If there are several classes, the first row is of all classes.
                let mut rows = rows.into_iter().flatten();
                rows.find(|row| row.node == node.name && row.measure == measure)?.mean
            };
            draw_node(&root, node, place.middle.map(pixel).into(), of)?;
        }
        if rows.is_none() {
            return root.present();
        }
        let (left, bottom) = (width / 2 - 100, i32::try_from(places.size[1]).unwrap_or(i32::MAX) - 44);
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

#[expect(clippy::cast_possible_truncation, reason = "a picture")]
fn pixel(place: f64) -> i32 {
    place.round() as i32
}

/// The arrow of a route, lighter if it leads back.
fn edge(root: &Area<'_>, RoutePlace { is_back, curve, .. }: &RoutePlace) -> Drawn {
    let colour = if *is_back { RGBColor(150, 150, 150) } else { RGBColor(60, 60, 60) };
    let point = |t: f64| {
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        [0, 1].map(|axis| weights.iter().zip(curve).map(|(weight, point)| weight * point[axis]).sum::<f64>())
    };
    let points: Vec<_> = (0..=24).map(|step| point(f64::from(step) / 24.0).map(pixel).into()).collect();
    root.draw(&PathElement::new(points, colour.stroke_width(1)))?;
    // The head, along the end of the curve.
    let ([tx, ty], [nx, ny]) = (curve[3], point(0.94));
    let long = ((tx - nx).powi(2) + (ty - ny).powi(2)).sqrt().max(1e-6);
    let (ux, uy) = ((tx - nx) / long * 9.0, (ty - ny) / long * 9.0);
    let head =
        [(tx, ty), (tx - ux - uy * 0.45, ty - uy + ux * 0.45), (tx - ux + uy * 0.45, ty - uy - ux * 0.45)];
    root.draw(&Polygon::new(head.map(|(x, y)| (pixel(x), pixel(y))), colour.filled()))
}
