//! How pictures show a column: its unit and its colour.

use plotters::prelude::*;

/// Most lines in a plot; those with the largest values are drawn.
pub(crate) const LINES: usize = 8;

/// The colours of curves, after Okabe and Ito (distinguishable with colour blindness). Pages of the
/// program have the same.
pub(crate) const CURVES: [RGBColor; LINES] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(184, 134, 11),
    RGBColor(86, 180, 233),
    RGBColor(123, 79, 163),
    RGBColor(107, 114, 128),
];

/// How a column is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look<'l> {
    /// The unit of its values, for the axis.
    pub unit: Option<&'l str>,
    /// The colour of a picture with one curve, from 0: that of the column's node.
    pub colour: usize,
}

impl Look<'_> {
    /// The label of the axis of a column.
    pub fn axis(&self, name: &str) -> String {
        match self.unit {
            Some(unit) if !unit.is_empty() => format!("{name} ({unit})"),
            _ => name.to_owned(),
        }
    }

    /// The colours of curves.
    pub(super) fn colours(&self, curves: usize) -> impl Iterator<Item = RGBColor> {
        let first = if curves == 1 { self.colour } else { 0 };
        CURVES.into_iter().cycle().skip(first % CURVES.len())
    }
}
