//! Plots of a column as SVG text: its distribution over the replications with the mean and its
//! confidence interval, means and box plots against a factor of the design, and the convergence of
//! an interval. Legends are above the data.

mod factor;
mod look;

use super::error::Result;
use super::report::with_error;
use super::summary::{check_level, interval};
use super::{AnalysisError, Observations, Profile, ProfileRow, Summary};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub(crate) use factor::draw_curves;
pub use factor::{boxes, response};
pub use look::Look;
pub(crate) use look::{CURVES, LINES};

const SIZE: (u32, u32) = (800, 450);
const BARS: RGBColor = RGBColor(158, 188, 218);
const MEAN: RGBColor = RGBColor(33, 56, 99);
const THEORY: RGBColor = RGBColor(201, 79, 24);
/// The bands of profiles with 90 and 50 % of the averages.
const BAND_90: RGBColor = RGBColor(212, 217, 227);
const BAND_50: RGBColor = RGBColor(166, 176, 197);
const MOST_BARS: usize = 80;
/// Most rows of a Gantt chart, and most kinds in its legend.
pub(crate) const MOST_ROWS: u32 = 200;

/// Draws a column: a histogram of the replications, the mean as a line with its interval at `level`
/// as a band (often narrower than the line), and the theoretical value, dashed, if there is one.
///
/// The width of the bars follows Freedman and Diaconis (twice the interquartile range over the cube
/// root of n), for at most 80 bars.
pub fn distribution(
    observations: &Observations,
    name: &str,
    level: f64,
    theory: Option<f64>,
    look: Look<'_>,
) -> Result<String> {
    let summary = observations.summary(name, level)?;
    let column = observations.column(name)?;
    let (Some(mean), Some(min), Some(max)) = (summary.mean, summary.min, summary.max) else {
        let (failed, replications) = (summary.failed, summary.replications);
        return Err(AnalysisError::NoObservations { name: name.into(), failed, replications });
    };
    let quartiles = observations.quantiles(name, &[0.25, 0.75])?.unwrap_or_default();
    let values = observations.used().map(|replication| column.values.get(replication));
    let values = values.filter(|value| value.is_finite());
    let histogram = Histogram::new(values, min, max, quartiles[1] - quartiles[0]);

    let mut svg = String::new();
    draw(&mut svg, &summary, mean, &histogram, theory, &look.axis(name))
        .map_err(|error| AnalysisError::Plot { name: name.into(), message: error.to_string() })?;
    Ok(svg)
}

struct Histogram {
    first: f64,
    width: f64,
    counts: Vec<u32>,
}

impl Histogram {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a picture; the indices are kept in range"
    )]
    fn new(values: impl Iterator<Item = f64> + Clone, min: f64, max: f64, spread: f64) -> Self {
        let n = values.clone().count() as f64;
        let range = max - min;
        if range == 0.0 {
            let width = if min == 0.0 { 1.0 } else { min.abs() / 10.0 };
            return Self { first: min - width / 2.0, width, counts: vec![n as u32] };
        }
        let ideal = range / (2.0 * spread / n.cbrt());
        let bars = if ideal.is_finite() { (ideal.ceil() as usize).clamp(5, MOST_BARS) } else { 20 };
        let width = range / bars as f64;
        let mut counts = vec![0; bars];
        for value in values {
            counts[(((value - min) / width) as usize).min(bars - 1)] += 1;
        }
        Self { first: min, width, counts }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a picture")]
fn draw(
    svg: &mut String,
    summary: &Summary,
    mean: f64,
    histogram: &Histogram,
    theory: Option<f64>,
    axis: &str,
) -> std::result::Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let end = histogram.first + histogram.width * histogram.counts.len() as f64;
    let low = theory.map_or(histogram.first, |theory| histogram.first.min(theory));
    let high = theory.map_or(end, |theory| end.max(theory));
    let margin = (high - low) * 0.02;
    let most = histogram.counts.iter().copied().max().unwrap_or(0);
    let top = most.saturating_add(most / 12 + 1);

    let half = summary.interval.map(|interval| interval.half_width);
    let interval = match summary.interval {
        Some(interval) => {
            let half = with_error(interval.half_width, half);
            format!(
                "{} +/- {half} ({} %)",
                with_error(mean, Some(interval.half_width)),
                interval.level * 100.0
            )
        }
        None => with_error(mean, None),
    };
    let caption = format!("{}: {interval}, n = {}", summary.name, summary.observations);
    let mut legend = vec![("mean and interval", Mark::Line(MEAN))];
    legend.extend(theory.map(|_| ("theory", Mark::Dashes(THEORY))));
    let root = begin(svg, SIZE, &caption, &legend)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(low - margin..high + margin, 0..top)?;
    let mesh = &mut chart.configure_mesh();
    mesh.disable_x_mesh().light_line_style(TRANSPARENT).x_desc(axis).y_desc("replications").draw()?;

    chart.draw_series(histogram.counts.iter().enumerate().map(|(bar, &count)| {
        let left = histogram.first + histogram.width * bar as f64;
        Rectangle::new([(left, 0), (left + histogram.width, count)], BARS.filled())
    }))?;
    if let Some(interval) = summary.interval {
        let band = [(interval.lower, 0), (interval.upper, top)];
        chart.draw_series([Rectangle::new(band, MEAN.mix(0.25).filled())])?;
    }
    let line = |at: f64| [(at, 0), (at, top)];
    chart.draw_series([PathElement::new(line(mean), MEAN.stroke_width(2))])?;
    if let Some(theory) = theory {
        chart.draw_series([DashedPathElement::new(line(theory), 8, 6, THEORY.stroke_width(2))])?;
    }
    root.present()
}

pub(crate) type Drawn<T = ()> = std::result::Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// The sample of a name in a legend.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    Line(RGBColor),
    Dashes(RGBColor),
    Area(RGBColor),
}

/// Begins a picture of a size: a caption, below it the legend, for which the picture is higher, and
/// the area for the chart.
pub(crate) fn begin<'s>(
    svg: &'s mut String,
    (width, height): (u32, u32),
    caption: &str,
    legend: &[(&str, Mark)],
) -> Drawn<DrawingArea<SVGBackend<'s>, Shift>> {
    const ROW: u32 = 20;
    const EDGE: u32 = 24;
    let (mut row, mut left) = (0, EDGE);
    let mut places = Vec::new();
    for (name, _) in legend {
        // A letter is about seven pixels wide.
        let wide = 48 + 7 * u32::try_from(name.chars().count()).unwrap_or(0).min(width);
        if left > EDGE && left + wide > width {
            (row, left) = (row + 1, EDGE);
        }
        places.push((left, row));
        left += wide;
    }
    let rows = if legend.is_empty() { 0 } else { ROW * (row + 1) };
    let root = SVGBackend::with_string(svg, (width, height + rows)).into_drawing_area();
    root.fill(&WHITE)?;
    let (keys, chart) = root.titled(caption, ("sans-serif", 20))?.split_vertically(rows);
    for ((name, mark), (left, row)) in legend.iter().zip(places) {
        let (x, y) = (left.cast_signed(), (ROW * row + ROW / 2).cast_signed());
        let line = [(x, y), (x + 22, y)];
        match mark {
            Mark::Line(colour) => keys.draw(&PathElement::new(line, colour.stroke_width(3)))?,
            Mark::Dashes(colour) => {
                keys.draw(&DashedPathElement::new(line, 5, 3, colour.stroke_width(2)))?;
            }
            Mark::Area(colour) => {
                keys.draw(&Rectangle::new([(x, y - 6), (x + 22, y + 6)], colour.filled()))?;
            }
        }
        let style = ("sans-serif", 14).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        keys.draw(&Text::new((*name).to_owned(), (x + 28, y), style))?;
    }
    Ok(chart)
}

/// Draws the half width of a column's interval at `level` against the number of observations, in
/// their order, on logarithmic axes. In the long run it is a straight line, which falls by half for
/// four times the observations. A dashed line shows the requested half width, if there is one.
///
/// # Errors
/// [`AnalysisError::NoColumn`], [`AnalysisError::Level`]; [`AnalysisError::NoObservations`] for
/// fewer than two observations; [`AnalysisError::Plot`] if all are the same.
pub fn convergence(
    observations: &Observations,
    name: &str,
    level: f64,
    wanted: Option<f64>,
    look: Look<'_>,
) -> Result<String> {
    check_level(level)?;
    let values = observations.independent(name)?;
    if values.len() < 2 {
        let (failed, replications) =
            (observations.failures().len() as u64, observations.replications() as u64);
        return Err(AnalysisError::NoObservations { name: name.into(), failed, replications });
    }
    let curve = half_widths(&values, level);
    let plot = |message: String| AnalysisError::Plot { name: name.into(), message };
    if curve.is_empty() {
        return Err(plot("all observations are the same, so there is no interval".into()));
    }
    let mut svg = String::new();
    let axis = look.axis("half width");
    let wanted = wanted.filter(|&wanted| wanted > 0.0);
    draw_convergence(&mut svg, &curve, values.len(), (name, &axis), level, wanted)
        .map_err(|error| plot(error.to_string()))?;
    Ok(svg)
}

/// (observations, half width) at about 200 numbers of observations in a geometric sequence, without
/// those at which all observations so far are the same.
#[allow(clippy::cast_precision_loss, reason = "a picture")]
fn half_widths(values: &[f64], level: f64) -> Vec<(f64, f64)> {
    let mut curve = Vec::new();
    // Welford's update.
    let (mut mean, mut squares, mut next) = (0.0, 0.0, 2.0);
    for (n, value) in (1_u64..).zip(values) {
        let distance = value - mean;
        mean += distance / n as f64;
        squares += distance * (value - mean);
        if n as f64 >= next || (n == values.len() as u64 && n > 1) {
            next = n as f64 * 1.08;
            let half = interval(mean, squares / (n - 1) as f64, n, level).half_width;
            if half > 0.0 {
                curve.push((n as f64, half));
            }
        }
    }
    curve
}

#[allow(clippy::cast_precision_loss, reason = "a picture")]
fn draw_convergence(
    svg: &mut String,
    curve: &[(f64, f64)],
    observations: usize,
    (name, axis): (&str, &str),
    level: f64,
    wanted: Option<f64>,
) -> Drawn {
    let halves = curve.iter().map(|(_, half)| *half).chain(wanted);
    let low = halves.clone().fold(f64::INFINITY, f64::min) / 1.5;
    let high = halves.fold(0.0, f64::max) * 1.5;
    let (first, last) = (curve[0].0, (observations as f64).max(curve[0].0 + 1.0));
    let mut legend = vec![("half width", Mark::Line(MEAN))];
    legend.extend(wanted.map(|_| ("wanted", Mark::Dashes(THEORY))));
    let caption = format!("{name}: half width of the {} % interval", level * 100.0);
    let root = begin(svg, SIZE, &caption, &legend)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d((first..last).log_scale(), (low..high).log_scale())?;
    let number = |value: &f64| with_error(*value, None);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("observations")
        .y_desc(axis)
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .draw()?;
    chart.draw_series(LineSeries::new(curve.iter().copied(), MEAN.stroke_width(2)))?;
    if let Some(wanted) = wanted {
        let line = [(first, wanted), (last, wanted)];
        chart.draw_series([DashedPathElement::new(line, 8, 6, THEORY.stroke_width(2))])?;
    }
    root.present()
}

/// Draws a measure of a profile over time: its mean, and the bands with 50 and 90 % of the averages
/// of single intervals.
///
/// # Errors
/// [`AnalysisError::NoColumn`]; [`AnalysisError::NoObservations`] if nothing was observed.
pub fn profile(profile: &Profile, measure: &str) -> Result<String> {
    let rows: Vec<&ProfileRow> = profile.of(measure).collect();
    if rows.is_empty() {
        let known = profile.measures().collect::<Vec<_>>().join(", ");
        return Err(AnalysisError::NoColumn { name: measure.to_owned(), known });
    }
    let Some(top) = rows.iter().filter_map(|row| row.q95).reduce(f64::max) else {
        let replications = profile.replications as u64;
        return Err(AnalysisError::NoObservations { name: measure.to_owned(), failed: 0, replications });
    };
    let mut svg = String::new();
    draw_profile(&mut svg, profile, measure, &rows, top)
        .map_err(|error| AnalysisError::Plot { name: measure.to_owned(), message: error.to_string() })?;
    Ok(svg)
}

fn draw_profile(svg: &mut String, profile: &Profile, measure: &str, rows: &[&ProfileRow], top: f64) -> Drawn {
    let bands = [("90 %", BAND_90), ("50 %", BAND_50)];
    let mut legend = vec![("mean", Mark::Line(MEAN))];
    legend.extend(bands.map(|(name, colour)| (name, Mark::Area(colour))));
    let caption = format!("{measure} in {} replications", profile.replications);
    let root = begin(svg, WIDE, &caption, &legend)?;
    let end = rows.iter().map(|row| row.end).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .margin_right(32)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end, 0.0..(top * 1.06).max(1e-9))?;
    let time = format!("time ({})", profile.unit);
    chart.configure_mesh().light_line_style(TRANSPARENT).x_desc(time).y_desc(measure).draw()?;
    let ends = |row: &ProfileRow, value: Option<f64>| {
        value.map(|value| [(row.begin, value), (row.end, value)]).into_iter().flatten()
    };
    type Quantile = fn(&ProfileRow) -> Option<f64>;
    let quantiles: [[Quantile; 2]; 2] = [[|row| row.q05, |row| row.q95], [|row| row.q25, |row| row.q75]];
    for ([low, high], colour) in quantiles.into_iter().zip([BAND_90, BAND_50]) {
        let there = rows.iter().flat_map(|row| ends(row, low(row)));
        let mut band: Vec<(f64, f64)> = there.collect();
        let back: Vec<(f64, f64)> = rows.iter().flat_map(|row| ends(row, high(row))).collect();
        band.extend(back.into_iter().rev());
        chart.draw_series([Polygon::new(band, colour.filled())])?;
    }
    let mean = rows.iter().flat_map(|row| ends(row, row.mean));
    chart.draw_series(LineSeries::new(mean, MEAN.stroke_width(2)))?;
    root.present()
}

/// The size of a plot with several lines.
const WIDE: (u32, u32) = (900, 480);

/// The largest of the values with a name, at most eight, with their colours. As far as there are
/// colours, a name has the same in all pictures that have the same `names`.
pub(crate) fn largest<'v, T>(
    values: &'v [T],
    name: impl Fn(&T) -> &str,
    size: impl Fn(&T) -> f64,
    names: &[&str],
) -> Vec<(&'v T, RGBColor)> {
    let mut largest: Vec<&T> = values.iter().collect();
    // A stable sort: equal ones keep their order.
    largest.sort_by(|a, b| size(b).total_cmp(&size(a)));
    largest.truncate(LINES);
    let place = |value: &T| names.iter().position(|known| *known == name(value)).unwrap_or(names.len());
    largest.sort_by_key(|value| place(value));
    let mut free: Vec<(usize, RGBColor)> = CURVES.into_iter().enumerate().collect();
    let mut given = Vec::new();
    for value in largest {
        let wanted = place(value) % LINES;
        let at = free.iter().position(|(number, _)| *number >= wanted).unwrap_or(0);
        given.push((value, free.remove(at).1));
    }
    given
}

/// Draws values over the time of a run, by name: the average of each part, which lasts `part`. Of
/// more than eight, draws the largest. The texts are the caption and those of both axes.
pub(crate) fn over_time(
    svg: &mut String,
    [caption, across, up]: [&str; 3],
    part: f64,
    values: &[(String, Vec<f64>)],
) -> Drawn {
    let names: Vec<&str> = values.iter().map(|(name, _)| &**name).collect();
    let lines = largest(values, |(name, _)| name, |(_, values)| values.iter().sum(), &names);
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let end = lines.first().map_or(0, |(line, _)| line.1.len()) as f64 * part;
    let all = lines.iter().flat_map(|(line, _)| &line.1).copied();
    let (bottom, top) = (all.clone().fold(0.0, f64::min), all.fold(0.0, f64::max));
    let legend: Vec<_> = lines.iter().map(|((name, _), colour)| (&**name, Mark::Line(*colour))).collect();
    let root = begin(svg, WIDE, caption, &legend)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .margin_right(32)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end, bottom * 1.06..(top * 1.06).max(1e-9))?;
    chart.configure_mesh().light_line_style(TRANSPARENT).x_desc(across).y_desc(up).draw()?;
    for ((_, values), colour) in lines {
        // Each part from its beginning to its end.
        #[expect(clippy::cast_precision_loss, reason = "a picture")]
        let points = values.iter().enumerate().flat_map(|(number, &value)| {
            [(number as f64 * part, value), ((number + 1) as f64 * part, value)]
        });
        chart.draw_series(LineSeries::new(points, colour.stroke_width(1)))?;
    }
    root.present()
}

/// A row of a Gantt chart.
pub(crate) struct Bars {
    /// What it is of.
    pub(crate) name: String,
    /// Begin, end and colour of its bars; grey without one.
    pub(crate) bars: Vec<(f64, f64, Option<usize>)>,
}

/// Draws bars over time, of which `kinds` are the names of the colours.
pub(crate) fn gantt(
    svg: &mut String,
    across: &str,
    [from, until]: [f64; 2],
    rows: &[Bars],
    kinds: &[&str],
) -> Drawn {
    const ROW: u32 = 22;
    const LEGEND: u32 = 20;
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX).clamp(1, MOST_ROWS);
    let letters = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let names = u32::try_from(letters).unwrap_or(u32::MAX).clamp(4, 40) * 8 + 12;
    let legend = LEGEND * u32::try_from(kinds.len()).unwrap_or(u32::MAX).clamp(1, MOST_ROWS);
    let root = SVGBackend::with_string(svg, (WIDE.0, ROW * count + legend + 90)).into_drawing_area();
    root.fill(&WHITE)?;
    let (keys, below) = root.split_vertically(legend + 16);
    let mut chart = ChartBuilder::on(&below)
        .margin(12)
        .margin_right(32)
        .x_label_area_size(42)
        .y_label_area_size(names)
        .build_cartesian_2d(from..until, f64::from(count)..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .light_line_style(TRANSPARENT)
        .x_desc(across)
        .draw()?;
    let ink: Vec<RGBColor> = CURVES.into_iter().take(kinds.len()).collect();
    for (row, Bars { name, bars }) in (0..count).zip(rows) {
        let (top, bottom) = (f64::from(row) + 0.1, f64::from(row) + 0.9);
        chart.draw_series(bars.iter().flat_map(|&(begin, end, colour)| {
            let place = [(begin, top), (end, bottom)];
            let fill = colour.map_or(BLACK.mix(0.12), |colour| ink[colour].mix(0.85));
            // A thin gap parts bars that meet.
            [Rectangle::new(place, fill.filled()), Rectangle::new(place, WHITE.stroke_width(1))]
        }))?;
        let (x, y) = chart.plotting_area().map_coordinate(&(from, f64::from(row) + 0.5));
        let style = ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(name.clone(), (x - 8, y), style))?;
    }
    for (place, (kind, colour)) in kinds.iter().zip(&ink).enumerate() {
        let y = 12 + i32::try_from(place * LEGEND as usize).unwrap_or(0);
        keys.draw(&Rectangle::new([(24, y), (42, y + 12)], colour.mix(0.85).filled()))?;
        let style = ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        keys.draw(&Text::new((*kind).to_owned(), (50, y + 7), style))?;
    }
    root.present()
}

#[cfg(test)]
mod tests {
    use super::half_widths;
    use crate::statistics::{Column, Observations, Pairing, Values};

    #[test]
    fn the_curve_ends_with_the_interval_of_all_and_begins_with_two() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from((i * i) % 997)).collect();
        let curve = half_widths(&values, 0.9);
        assert!(curve.len() < 200 && curve.is_sorted_by(|a, b| a.0 < b.0), "{curve:?}");
        for &(n, half) in [&curve[0], &curve[20], curve.last().unwrap()] {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let some = values[..n as usize].to_vec();
            let column = Column { name: "x".into(), values: Values::F64(some) };
            let sample =
                Observations::new(column.values.len(), vec![column], [], Pairing::Independent).unwrap();
            let expected = sample.summary("x", 0.9).unwrap().interval.unwrap().half_width;
            assert!((half - expected).abs() <= 1e-9 * expected, "{n}: {half}, {expected}");
        }
        assert_eq!((curve[0].0, curve.last().unwrap().0), (2.0, 1000.0));
        assert!(half_widths(&[3.0; 10], 0.9).is_empty());
    }
}
