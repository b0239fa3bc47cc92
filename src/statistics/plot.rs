//! Plots of a column as SVG text: its distribution over the replications with the mean and its
//! confidence interval, means against a factor of the design, and the convergence of an interval.

use super::error::Result;
use super::report::with_error;
use super::summary::{check_level, interval};
use super::{AnalysisError, Design, Observations, Profile, ProfileRow, Summary, Value};
use crate::text::quoted;
use plotters::element::{DashedPathElement, ErrorBar};
use plotters::prelude::*;
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (800, 450);
const BARS: RGBColor = RGBColor(158, 188, 218);
const MEAN: RGBColor = RGBColor(33, 56, 99);
const THEORY: RGBColor = RGBColor(201, 79, 24);
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
    draw(&mut svg, &summary, mean, &histogram, theory)
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
) -> std::result::Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
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
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(low - margin..high + margin, 0..top)?;
    let mesh = &mut chart.configure_mesh();
    mesh.disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(&summary.name)
        .y_desc("replications")
        .draw()?;

    chart.draw_series(histogram.counts.iter().enumerate().map(|(bar, &count)| {
        let left = histogram.first + histogram.width * bar as f64;
        Rectangle::new([(left, 0), (left + histogram.width, count)], BARS.filled())
    }))?;
    if let Some(interval) = summary.interval {
        let band = [(interval.lower, 0), (interval.upper, top)];
        chart.draw_series([Rectangle::new(band, MEAN.mix(0.25).filled())])?;
    }
    let line = |at: f64| [(at, 0), (at, top)];
    chart
        .draw_series([PathElement::new(line(mean), MEAN.stroke_width(2))])?
        .label("mean and interval")
        .legend(|(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], MEAN.stroke_width(2)));
    if let Some(theory) = theory {
        chart
            .draw_series([DashedPathElement::new(line(theory), 8, 6, THEORY.stroke_width(2))])?
            .label("theory")
            .legend(|(x, y)| DashedPathElement::new([(x, y), (x + 18, y)], 5, 3, THEORY.stroke_width(2)));
    }
    let place = SeriesLabelPosition::UpperRight;
    chart.configure_series_labels().position(place).background_style(WHITE.mix(0.8)).draw()?;
    root.present()
}

/// The colours of curves (Okabe and Ito, distinguishable with colour blindness).
pub(crate) const CURVES: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];

pub(crate) type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws the mean of a column against a factor of the design, with intervals at `level`: a curve
/// for each combination of the other factors' levels.
///
/// `observations` are those of the design's points, in their order. Points without a valid
/// replication are omitted.
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
) -> Result<String> {
    if observations.len() != design.len() {
        return Err(AnalysisError::Points { points: design.len(), given: observations.len() });
    }
    let place = design.factors().iter().position(|known| known == factor);
    let place = place.ok_or_else(|| AnalysisError::NoFactor {
        factor: quoted(factor),
        known: design.factors().join(", "),
    })?;
    // By the levels of the other factors: (level, mean, half width). Lists suffice: levels cannot
    // be keys, and there are few.
    let mut curves: Vec<(String, Vec<[f64; 3]>)> = Vec::new();
    // Levels that are names stand side by side.
    let mut names: Vec<String> = Vec::new();
    let (mut failed, mut replications) = (0, 0);
    for (point, observed) in observations.iter().enumerate() {
        let summary = observed.summary(name, level)?;
        failed += summary.failed;
        replications += summary.replications;
        let Some(mean) = summary.mean else { continue };
        let others = design.factors().iter().zip(design.levels(point)).enumerate();
        let others = others.filter(|(number, _)| *number != place);
        let label = others.map(|(_, (name, level))| format!("{name}={level}")).collect::<Vec<_>>().join(" ");
        let half = summary.interval.map_or(0.0, |interval| interval.half_width);
        let at = match design.levels(point)[place] {
            Value::Name(level) => {
                let level = Value::Name(level).to_string();
                let known = names.iter().position(|known| *known == level);
                #[expect(clippy::cast_precision_loss, reason = "a few names")]
                let at = known.unwrap_or(names.len()) as f64;
                names.extend(known.is_none().then_some(level));
                at
            }
            number => number.as_f64(),
        };
        let value = [at, mean, half];
        match curves.iter_mut().find(|(known, _)| *known == label) {
            Some((_, values)) => values.push(value),
            None => curves.push((label, vec![value])),
        }
    }
    if curves.is_empty() {
        return Err(AnalysisError::NoObservations { name: name.into(), failed, replications });
    }
    for (_, values) in &mut curves {
        values.sort_by(|a, b| a[0].total_cmp(&b[0]));
    }
    let mut svg = String::new();
    draw_curves(&mut svg, &curves, &names, [factor, name], level)
        .map_err(|error| AnalysisError::Plot { name: name.into(), message: error.to_string() })?;
    Ok(svg)
}

/// The smallest range that holds all values, with a margin.
fn range(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
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
) -> Drawn {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let values = curves.iter().flat_map(|(_, values)| values);
    let across = range(values.clone().map(|value| value[0]));
    let up = range(values.flat_map(|&[_, mean, half]| [mean - half, mean + half]));
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{name} against {factor} ({} % intervals)", level * 100.0), ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(across, up)?;
    let place_of = |at: &f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
        let name = names.get(at.round() as usize).filter(|_| (at - at.round()).abs() < 1e-6 && *at > -0.5);
        name.cloned().unwrap_or_default()
    };
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT).x_desc(factor).y_desc(name);
    if !names.is_empty() {
        mesh.x_label_formatter(&place_of);
    }
    mesh.draw()?;
    for ((label, values), colour) in curves.iter().zip(CURVES.into_iter().cycle()) {
        let means = values.iter().map(|&[at, mean, _]| (at, mean));
        let drawn = chart.draw_series(LineSeries::new(means, colour.stroke_width(2)))?;
        if curves.len() > 1 {
            drawn
                .label(label)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        chart.draw_series(values.iter().map(|&[at, mean, half]| {
            ErrorBar::new_vertical(at, mean - half, mean, mean + half, colour.filled(), 8)
        }))?;
    }
    if curves.len() > 1 {
        let place = SeriesLabelPosition::UpperLeft;
        chart.configure_series_labels().position(place).background_style(WHITE.mix(0.8)).draw()?;
    }
    root.present()
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
    draw_convergence(&mut svg, &curve, values.len(), name, level, wanted.filter(|&wanted| wanted > 0.0))
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
    name: &str,
    level: f64,
    wanted: Option<f64>,
) -> Drawn {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let halves = curve.iter().map(|(_, half)| *half).chain(wanted);
    let low = halves.clone().fold(f64::INFINITY, f64::min) / 1.5;
    let high = halves.fold(0.0, f64::max) * 1.5;
    let (first, last) = (curve[0].0, (observations as f64).max(curve[0].0 + 1.0));
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{name}: half width of the {} % interval", level * 100.0), ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d((first..last).log_scale(), (low..high).log_scale())?;
    let number = |value: &f64| with_error(*value, None);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("observations")
        .y_desc("half width")
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .draw()?;
    chart
        .draw_series(LineSeries::new(curve.iter().copied(), MEAN.stroke_width(2)))?
        .label("half width")
        .legend(|(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], MEAN.stroke_width(2)));
    if let Some(wanted) = wanted {
        let line = [(first, wanted), (last, wanted)];
        chart
            .draw_series([DashedPathElement::new(line, 8, 6, THEORY.stroke_width(2))])?
            .label("wanted")
            .legend(|(x, y)| DashedPathElement::new([(x, y), (x + 18, y)], 5, 3, THEORY.stroke_width(2)));
    }
    let place = SeriesLabelPosition::UpperRight;
    chart.configure_series_labels().position(place).background_style(WHITE.mix(0.8)).draw()?;
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
    let root = SVGBackend::with_string(svg, WIDE).into_drawing_area();
    root.fill(&WHITE)?;
    let end = rows.iter().map(|row| row.end).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!("{measure}: mean of {} replications, bands of 50 and 90 %", profile.replications),
            ("sans-serif", 20),
        )
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
    let bands: [[Quantile; 2]; 2] = [[|row| row.q05, |row| row.q95], [|row| row.q25, |row| row.q75]];
    for ([low, high], strength) in bands.into_iter().zip([0.18, 0.28]) {
        let there = rows.iter().flat_map(|row| ends(row, low(row)));
        let mut band: Vec<(f64, f64)> = there.collect();
        let back: Vec<(f64, f64)> = rows.iter().flat_map(|row| ends(row, high(row))).collect();
        band.extend(back.into_iter().rev());
        chart.draw_series([Polygon::new(band, MEAN.mix(strength).filled())])?;
    }
    let mean = rows.iter().flat_map(|row| ends(row, row.mean));
    chart.draw_series(LineSeries::new(mean, MEAN.stroke_width(2)))?;
    root.present()
}

/// The size of a plot with several lines.
const WIDE: (u32, u32) = (900, 480);

/// Most lines in a plot; those with the largest values are drawn.
pub(crate) const LINES: usize = 8;

/// The colours of lines: those of curves, and brown.
pub(crate) fn colours() -> impl Iterator<Item = RGBColor> {
    CURVES.into_iter().chain([RGBColor(120, 80, 40)])
}

/// Draws values over the time of a run, by name: the average of each part, which lasts `part`. Of
/// more than eight, draws the largest. The texts are the caption and those of both axes.
pub(crate) fn over_time(
    svg: &mut String,
    [caption, across, up]: [&str; 3],
    part: f64,
    values: &[(String, Vec<f64>)],
) -> Drawn {
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let mut lines: Vec<&(String, Vec<f64>)> = values.iter().collect();
    // A stable sort: equal lines keep their order.
    lines.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
    lines.truncate(LINES);
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let end = lines.first().map_or(0, |line| line.1.len()) as f64 * part;
    let all = lines.iter().flat_map(|line| &line.1).copied();
    let (bottom, top) = (all.clone().fold(0.0, f64::min), all.fold(0.0, f64::max));
    let root = SVGBackend::with_string(svg, WIDE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 20))
        .margin(12)
        .margin_right(32)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end, bottom * 1.06..(top * 1.06).max(1e-9))?;
    chart.configure_mesh().light_line_style(TRANSPARENT).x_desc(across).y_desc(up).draw()?;
    for ((name, values), colour) in lines.into_iter().zip(colours()) {
        // Each part from its beginning to its end.
        #[expect(clippy::cast_precision_loss, reason = "a picture")]
        let points = values.iter().enumerate().flat_map(|(number, &value)| {
            [(number as f64 * part, value), ((number + 1) as f64 * part, value)]
        });
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(1)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(3)));
    }
    labels(&mut chart, SeriesLabelPosition::UpperLeft)?;
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
    let ink: Vec<RGBColor> = colours().take(kinds.len()).collect();
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

/// Draws the legend.
pub(crate) fn labels<'a, X, Y>(
    chart: &mut ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>,
    place: SeriesLabelPosition,
) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let style = WHITE.mix(0.8);
    chart
        .configure_series_labels()
        .position(place)
        .background_style(style)
        .border_style(BLACK.mix(0.3))
        .draw()
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
