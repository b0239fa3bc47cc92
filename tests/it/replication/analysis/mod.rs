//! Statistics, designs, stopping and reports of the module `statistics`, and of designs as
//! `replication` packs them: all that needs no adapter.

#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers in tests")]

mod coverage;
mod designs;
mod reports;
mod selection;
mod series;
mod statistics;
mod stopping;

use eventhorizon::statistics::{Column, Observations, Pairing, Values};

/// Independent replications of one column `x`, none failed.
fn sample(values: Values) -> Observations {
    let column = Column { name: "x".into(), values };
    Observations::new(column.values.len(), vec![column], [], Pairing::Independent).unwrap()
}

/// Equal to `digits` significant digits.
#[track_caller]
fn assert_close(got: f64, expected: f64, digits: i32) {
    let error = (got - expected).abs();
    assert!(error <= expected.abs() * 10_f64.powi(-digits), "{got} is not {expected} to {digits} digits");
}
