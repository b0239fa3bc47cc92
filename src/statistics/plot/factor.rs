//! Pictures of a column against a factor of the design: means with intervals, and box plots.

use std::ops::Range;

use plotters::element::ErrorBar;
use plotters::prelude::*;
use plotters::series::LineSeries;

use super::look::Look;
use super::{Drawn, Mark, SIZE, begin};
use crate::statistics::error::Result;
use crate::statistics::{AnalysisError, Design, Observations, Value};
use crate::text::quoted;

/// The points of a design by one factor: for each combination of the other factors' levels its
/// points, each with its place on the axis of the factor. Lists suffice: there are few.
struct ByFactor {
    curves: Vec<(String, Vec<(f64, usize)>)>,
    /// Levels that are names stand side by side.
    names: Vec<String>,
}

impl ByFactor {
    /// The points with observations of a column.
    fn new(design: &Design, observations: &[Observations], factor: &str, name: &str) -> Result<Self> {
        if observations.len() != design.len() {
            return Err(AnalysisError::Points { points: design.len(), given: observations.len() });
        }
        let place = design.factors().iter().position(|known| known == factor);
        let place = place.ok_or_else(|| AnalysisError::NoFactor {
            factor: quoted(factor),
            known: design.factors().join(", "),
        })?;
        let mut by = Self { curves: Vec::new(), names: Vec::new() };
        // Points of one design may have other measures.
        let has = |observed: &&Observations| observed.column(name).is_ok();
        if let Some(first) = observations.first().filter(|_| !observations.iter().any(|of| has(&of))) {
            first.column(name)?;
        }
        let (mut failed, mut replications) = (0, 0);
        for (point, observed) in observations.iter().enumerate().filter(|(_, of)| has(of)) {
            failed += observed.failures().len() as u64;
            replications += observed.replications() as u64;
            if values(observed, name)?.is_empty() {
                continue;
            }
            let others = design.factors().iter().zip(design.levels(point)).enumerate();
            let others = others.filter(|(number, _)| *number != place);
            let label = others.map(|(_, (name, level))| format!("{name}={level}"));
            let label = label.collect::<Vec<_>>().join(" ");
            let at = match design.levels(point)[place] {
                Value::Name(level) => {
                    let level = Value::Name(level).to_string();
                    let known = by.names.iter().position(|known| *known == level);
                    #[expect(clippy::cast_precision_loss, reason = "a few names")]
                    let at = known.unwrap_or(by.names.len()) as f64;
                    by.names.extend(known.is_none().then_some(level));
                    at
                }
                number => number.as_f64(),
            };
            match by.curves.iter_mut().find(|(known, _)| *known == label) {
                Some((_, points)) => points.push((at, point)),
                None => by.curves.push((label, vec![(at, point)])),
            }
        }
        if by.curves.is_empty() {
            return Err(AnalysisError::NoObservations { name: name.into(), failed, replications });
        }
        for (_, points) in &mut by.curves {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Ok(by)
    }
}

/// The values of a column in the valid replications.
fn values(observations: &Observations, name: &str) -> Result<Vec<f64>> {
    let column = observations.column(name)?;
    let values = observations.used().map(|replication| column.values.get(replication));
    Ok(values.filter(|value| value.is_finite()).collect())
}

fn drawn(name: &str, draw: impl FnOnce(&mut String) -> Drawn) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg).map_err(|error| AnalysisError::Plot { name: name.into(), message: error.to_string() })?;
    Ok(svg)
}

/// Draws the mean of a column against a factor of the design, with intervals at `level`: a curve
/// for each combination of the other factors' levels.
///
/// `observations` are those of the design's points, in their order. Points without a valid
/// replication, or without the column, are omitted.
///
/// # Errors
/// [`AnalysisError::Points`], [`AnalysisError::NoFactor`], [`AnalysisError::NoColumn`],
/// [`AnalysisError::Level`]; [`AnalysisError::NoObservations`] if no point has any.
pub fn response(
    design: &Design,
    observations: &[Observations],
    factor: &str,
    name: &str,
    level: f64,
    look: Look<'_>,
) -> Result<String> {
    let by = ByFactor::new(design, observations, factor, name)?;
    let mut curves = Vec::new();
    for (label, points) in by.curves {
        let mut values = Vec::new();
        for (at, point) in points {
            let summary = observations[point].summary(name, level)?;
            let half = summary.interval.map_or(0.0, |interval| interval.half_width);
            values.extend(summary.mean.map(|mean| [at, mean, half]));
        }
        curves.push((label, values));
    }
    drawn(name, |svg| draw_curves(svg, &curves, &by.names, [factor, name], level, look))
}

/// Draws the values of a column in the replications as box plots, by a factor of the design: the
/// median, the quartiles, whiskers to the last values within 1.5 interquartile ranges of the
/// quartiles, and the values beyond. Levels stand side by side, in equal distances.
///
/// # Errors
/// Those of [`response`].
pub fn boxes(
    design: &Design,
    observations: &[Observations],
    factor: &str,
    name: &str,
    look: Look<'_>,
) -> Result<String> {
    let by = ByFactor::new(design, observations, factor, name)?;
    let mut levels: Vec<f64> = by.curves.iter().flat_map(|(_, points)| points).map(|(at, _)| *at).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let mut curves = Vec::new();
    for (label, points) in &by.curves {
        let mut boxes = Vec::new();
        for &(at, point) in points {
            let level = levels.partition_point(|level| *level < at);
            let quartiles = observations[point].quantiles(name, &[0.25, 0.5, 0.75])?.unwrap_or_default();
            if let [low, median, high] = quartiles[..] {
                boxes.push((level, BoxPlot::new(&values(&observations[point], name)?, [low, median, high])));
            }
        }
        curves.push((label.as_str(), boxes));
    }
    let names = levels.iter().enumerate().map(|(number, level)| match by.names.get(number) {
        Some(name) => name.clone(),
        None => level.to_string(),
    });
    let names: Vec<String> = names.collect();
    drawn(name, |svg| draw_boxes(svg, &curves, &names, [factor, name], look))
}

/// The parts of one box plot.
#[derive(Debug, PartialEq)]
struct BoxPlot {
    quartiles: [f64; 3],
    whiskers: [f64; 2],
    beyond: Vec<f64>,
}

impl BoxPlot {
    fn new(values: &[f64], quartiles: [f64; 3]) -> Self {
        let [low, _, high] = quartiles;
        let reach = 1.5 * (high - low);
        let is_within = |value: &f64| (low - reach..=high + reach).contains(value);
        let within = values.iter().copied().filter(is_within);
        // Quartiles lie between values: a whisker that would end in its box has no length.
        let whiskers = [within.clone().fold(low, f64::min), within.fold(high, f64::max)];
        let beyond = values.iter().copied().filter(|value| !is_within(value)).collect();
        Self { quartiles, whiskers, beyond }
    }

    fn all(&self) -> impl Iterator<Item = f64> + Clone {
        self.whiskers.into_iter().chain(self.beyond.iter().copied())
    }
}

/// Draws box plots at places 0, 1 and so on, which have names: by curve, the place and the box.
fn draw_boxes(
    svg: &mut String,
    curves: &[(&str, Vec<(usize, BoxPlot)>)],
    names: &[String],
    [factor, name]: [&str; 2],
    look: Look<'_>,
) -> Drawn {
    let colours: Vec<RGBColor> = look.colours(curves.len()).take(curves.len()).collect();
    let legend: Vec<_> = match curves {
        [_] => Vec::new(),
        _ => curves.iter().zip(&colours).map(|((label, _), colour)| (*label, Mark::Area(*colour))).collect(),
    };
    let root = begin(svg, SIZE, &format!("{name} by {factor}: values of the replications"), &legend)?;
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let (places, side_by_side) = (names.len() as f64, curves.len() as f64);
    let up = range(curves.iter().flat_map(|(_, boxes)| boxes).flat_map(|(_, drawn)| drawn.all()));
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(-0.5..places - 0.5, up)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(names.len().max(2))
        .x_label_formatter(&|at| name_of(names, *at))
        .x_desc(factor)
        .y_desc(look.axis(name))
        .draw()?;
    // Boxes of one place share four fifths of its width.
    let wide = (0.8 / side_by_side).min(0.4);
    for (number, ((_, boxes), colour)) in curves.iter().zip(colours).enumerate() {
        for (place, BoxPlot { quartiles: [low, median, high], whiskers: [least, most], beyond }) in boxes {
            #[expect(clippy::cast_precision_loss, reason = "a picture")]
            let middle = *place as f64 + (number as f64 - (side_by_side - 1.0) / 2.0) * wide;
            let half = 0.42 * wide;
            let (left, right) = (middle - half, middle + half);
            let line =
                |from: (f64, f64), to: (f64, f64)| PathElement::new([from, to], colour.stroke_width(1));
            chart.draw_series([Rectangle::new([(left, *low), (right, *high)], colour.mix(0.3).filled())])?;
            chart.draw_series([Rectangle::new([(left, *low), (right, *high)], colour.stroke_width(1))])?;
            let cap = half / 2.0;
            chart.draw_series([
                line((middle, *least), (middle, *low)),
                line((middle, *high), (middle, *most)),
                line((middle - cap, *least), (middle + cap, *least)),
                line((middle - cap, *most), (middle + cap, *most)),
                PathElement::new([(left, *median), (right, *median)], colour.stroke_width(3)),
            ])?;
            chart
                .draw_series(beyond.iter().map(|value| Circle::new((middle, *value), 2, colour.filled())))?;
        }
    }
    root.present()
}

/// The name of a place on an axis: nothing between two.
fn name_of(names: &[String], at: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
    let name = names.get(at.round() as usize).filter(|_| (at - at.round()).abs() < 1e-6 && at > -0.5);
    name.cloned().unwrap_or_default()
}

/// The smallest range that holds all values, with a margin.
fn range(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let margin = match high > low {
        true => (high - low) * 0.05,
        false => (low.abs() * 0.1).max(f64::MIN_POSITIVE.sqrt()),
    };
    low - margin..high + margin
}

/// Draws curves through means with intervals: (place, mean, half width) of each point. Places 0, 1
/// and so on have names, if there are any.
pub(crate) fn draw_curves(
    svg: &mut String,
    curves: &[(String, Vec<[f64; 3]>)],
    names: &[String],
    [factor, name]: [&str; 2],
    level: f64,
    look: Look<'_>,
) -> Drawn {
    let colours: Vec<RGBColor> = look.colours(curves.len()).take(curves.len()).collect();
    let legend: Vec<_> = match curves {
        [_] => Vec::new(),
        _ => {
            curves.iter().zip(&colours).map(|((label, _), colour)| (&**label, Mark::Line(*colour))).collect()
        }
    };
    let caption = format!("{name} against {factor} ({} % intervals)", level * 100.0);
    let root = begin(svg, SIZE, &caption, &legend)?;
    let values = curves.iter().flat_map(|(_, values)| values);
    let across = range(values.clone().map(|value| value[0]));
    let up = range(values.flat_map(|&[_, mean, half]| [mean - half, mean + half]));
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(across, up)?;
    let place_of = |at: &f64| name_of(names, *at);
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT).x_desc(factor).y_desc(look.axis(name));
    if !names.is_empty() {
        mesh.x_label_formatter(&place_of);
    }
    mesh.draw()?;
    for ((_, values), colour) in curves.iter().zip(colours) {
        let means = values.iter().map(|&[at, mean, _]| (at, mean));
        chart.draw_series(LineSeries::new(means, colour.stroke_width(2)))?;
        chart.draw_series(values.iter().map(|&[at, mean, half]| {
            ErrorBar::new_vertical(at, mean - half, mean, mean + half, colour.filled(), 8)
        }))?;
    }
    root.present()
}

#[cfg(test)]
mod tests {
    use super::BoxPlot;

    #[test]
    fn whiskers_end_at_values_and_outliers_are_beyond_them() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 8.1, -2.0];
        let parts = BoxPlot::new(&values, [2.0, 3.5, 4.4]);
        // 1.5 * 2.4 = 3.6: from -1.6 to 8.
        assert_eq!(parts.whiskers, [1.0, 8.0]);
        assert_eq!(parts.beyond, [8.1, -2.0]);
        let one = BoxPlot::new(&[7.0], [7.0; 3]);
        assert_eq!((one.whiskers, one.beyond), ([7.0; 2], vec![]));
    }
}
