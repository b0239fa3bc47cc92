//! Parts of the table of distributions: checks of parameters, tails and moments.

use statrs::function::erf::erfc;
use statrs::function::gamma::{gamma_lr, gamma_ur};

use crate::text::number;

/// Lower and upper tail at a time: the probabilities of at most it, and of more.
pub(in crate::facility) type Tails = Box<dyn Fn(f64) -> [f64; 2]>;

/// Shapes of distributions with all moments, and of those whose mean needs a shape above 1.
pub(super) const SHAPES: [f64; 2] = [0.1, 1000.0];
pub(super) const MEANS: [f64; 2] = [1.01, 1000.0];

pub(super) fn within(what: &str, value: f64, [low, high]: [f64; 2]) -> Result<(), String> {
    match (low..=high).contains(&value) {
        true => Ok(()),
        false => Err(format!("its {what} is {}; it has to be from {low} to {high}", number(value))),
    }
}

pub(super) fn positive(what: &str, value: f64) -> Result<(), String> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(format!("its {what} is {}; it has to be above 0", number(value))),
    }
}

pub(super) fn ordered(low: f64, high: f64) -> Result<(), String> {
    match 0.0 <= low && low < high && high.is_finite() {
        true => Ok(()),
        false if high == f64::MAX => {
            Err(format!("it begins at {}; expected a time of at least 0", number(low)))
        }
        false => Err(format!(
            "it is between {} and {}; the first has to be at least 0, and the second greater",
            number(low),
            number(high)
        )),
    }
}

/// Refuses weights that make no probabilities.
pub(super) fn weights(weights: impl Iterator<Item = f64>) -> Result<(), String> {
    let mut sum = 0.0;
    for weight in weights {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(format!("it has the weight {}; weights are numbers of at least 0", number(weight)));
        }
        sum += weight;
    }
    match sum > 0.0 && sum.is_finite() {
        true => Ok(()),
        false if sum > 0.0 => Err("its weights add up to more than a number can be; divide them".to_owned()),
        false => Err("its weights add up to 0; give one that is above 0".to_owned()),
    }
}

pub(super) fn step(x: f64, value: f64) -> [f64; 2] {
    if x < value { [0.0, 1.0] } else { [1.0, 0.0] }
}

/// Tails by the lower, or by the upper one.
pub(super) fn below(lower: f64) -> [f64; 2] {
    [lower, 1.0 - lower]
}

pub(super) fn above(upper: f64) -> [f64; 2] {
    [1.0 - upper, upper]
}

/// Tails whose upper one is e^-x.
pub(super) fn exponential_tails(x: f64) -> [f64; 2] {
    [-(-x).exp_m1(), (-x).exp()]
}

pub(super) fn gamma_tails(shape: f64, x: f64) -> [f64; 2] {
    match x {
        x if x <= 0.0 => [0.0, 1.0],
        x if x.is_infinite() => [1.0, 0.0],
        x => [gamma_lr(shape, x), gamma_ur(shape, x)],
    }
}

pub(super) fn normal_tails(z: f64) -> [f64; 2] {
    if z.is_nan() {
        return step(0.0, 0.0);
    }
    [-z, z].map(|z| 0.5 * erfc(z / std::f64::consts::SQRT_2))
}

/// E(X^k) of a log-logistic time, for k below its shape.
pub(super) fn loglogistic_moment(k: f64, shape: f64, scale: f64) -> f64 {
    let angle = std::f64::consts::PI * k / shape;
    scale.powf(k) * angle / angle.sin()
}

/// Mean and variance of a normal variate with negative values set to zero.
pub(super) fn cut_normal(mean: f64, deviation: f64) -> [f64; 2] {
    if deviation <= 0.0 {
        return [mean.max(0.0), 0.0];
    }
    let at = mean / deviation;
    let above = 0.5 * erfc(-at / std::f64::consts::SQRT_2);
    let density = (-0.5 * at * at).exp() / std::f64::consts::TAU.sqrt();
    let first = mean * above + deviation * density;
    let second = (mean * mean + deviation * deviation) * above + mean * deviation * density;
    [first, second - first * first]
}
