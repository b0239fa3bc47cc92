//! Quantiles of a fitted distribution against those of the data.

use plotters::prelude::*;

use super::svg;
use crate::facility::FacilityError;
use crate::facility::fit::Fit;

const SIZE: (u32, u32) = (640, 640);
/// Most points.
const MOST: usize = 500;
const POINTS: RGBColor = RGBColor(0, 114, 178);
const EQUAL: RGBColor = RGBColor(110, 110, 110);

/// Draws the quantiles of measured times against those of a fitted distribution: points near the
/// line, on which both are equal, are a good fit.
///
/// # Errors
/// [`FacilityError::Plot`].
pub fn quantiles(fit: &Fit, times: &[f64]) -> Result<String, FacilityError> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    // All of few, and of many at equal distances, with both ends.
    let count = sorted.len().clamp(2, MOST);
    let place = |point: usize| point * sorted.len().saturating_sub(1) / (count - 1);
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let share = |place: usize| (place as f64 + 0.5) / sorted.len() as f64;
    let points: Vec<(f64, f64)> =
        (0..count).map(place).map(|place| (fit.quantile(share(place)), sorted[place])).collect();
    let most = points.iter().fold(0.0_f64, |most, point| most.max(point.0).max(point.1));
    svg(|svg| {
        let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(format!("Quantiles: {} and data", fit.family), ("sans-serif", 20))
            .margin(12)
            .margin_right(32)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..1.03 * most, 0.0..1.03 * most)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(format!("time by the {} distribution", fit.family))
            .y_desc("measured time (in the unit of the data)")
            .draw()?;
        chart.draw_series(LineSeries::new([(0.0, 0.0), (most, most)], EQUAL.stroke_width(1)))?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, POINTS.filled())))?;
        root.present()
    })
}
