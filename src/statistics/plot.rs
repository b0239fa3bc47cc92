//! A picture of a column: its distribution over the replications, the mean and the mean's confidence
//! interval.

use super::error::Result;
use super::report::with_error;
use super::{AnalysisError, Observations, Summary};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

const SIZE: (u32, u32) = (800, 450);
const BARS: RGBColor = RGBColor(158, 188, 218);
const MEAN: RGBColor = RGBColor(33, 56, 99);
const THEORY: RGBColor = RGBColor(201, 79, 24);
const MOST_BARS: usize = 80;

/// Draws a column as SVG text, ready to be written to a file: a histogram of the replications, the mean as a
/// line with its interval at `level` as a band (often narrower than the line), and the value that theory
/// gives, dashed, where there is one.
///
/// The width of the bars follows Freedman and Diaconis (twice the interquartile range over the cube root of
/// n), for at most 80 bars.
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
