//! Fits distributions to measured times by maximum likelihood.
//!
//! ```
//! use eventhorizon::facility::fit::{Options, fit};
//!
//! let times: Vec<f64> = (1..500).map(|n| -2.0 * (1.0 - f64::from(n) / 500.0).ln()).collect();
//! let fits = fit(&times, Options::default())?;
//! assert_eq!(fits[0].family, "exponential");
//! # Ok::<(), eventhorizon::facility::fit::FitError>(())
//! ```

mod families;

use super::Distribution;
use super::distribution::KINDS;
use super::distribution::Law;
use crate::ErrorKind;
use crate::random::Stream;
use crate::time::Resolution;

use families::{FAMILIES, Family, Sample};

/// How to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Samples of the parametric bootstrap that p-values count, 0 for no p-values.
    pub bootstrap: u32,
    /// The seed of these samples.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { bootstrap: 400, seed: 1 }
    }
}

builder!(Options:
    bootstrap: u32,
    seed: u64,
);

/// A family of distributions with its most likely parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The name of the family in descriptions.
    pub family: &'static str,
    /// The distribution.
    pub law: Distribution,
    /// Parameters that were fitted.
    pub parameters: u32,
    /// The logarithm of the likelihood.
    pub log_likelihood: f64,
    /// Anderson's and Darling's statistic: smaller is nearer to the data.
    pub anderson_darling: f64,
    /// The share of samples of the distribution, fitted in the same way, that are further from
    /// their fit than the data.
    pub p_value: Option<f64>,
}

impl Fit {
    /// Akaike's criterion: smaller is better.
    pub fn aic(&self) -> f64 {
        2.0 * (f64::from(self.parameters) - self.log_likelihood)
    }

    /// The time that a share of all times does not exceed, for a share between 0 and 1.
    pub fn quantile(&self, share: f64) -> f64 {
        let tails = self.law.tails();
        let (mut low, mut high) = (0.0, self.law.mean().max(f64::MIN_POSITIVE));
        while tails(high)[0] < share && high < 1e300 {
            high *= 2.0;
        }
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if tails(middle)[0] < share { low = middle } else { high = middle }
        }
        high
    }

    /// The distribution as an inline table of TOML, with six digits, or with more where times are
    /// large beside their spread.
    pub fn toml(&self) -> String {
        let law = serde_json::to_value(self.law).expect("a distribution is names and numbers");
        written(&law, self.digits())
    }

    /// Significant digits that keep the error of a parameter below 1e-5 of the spread of times.
    fn digits(&self) -> usize {
        let [low, middle, high] = [0.25, 0.5, 0.75].map(|share| self.quantile(share));
        let (mut digits, mut ratio) = (6, middle / (high - low));
        while ratio > 2.0 && digits < MOST_DIGITS {
            digits += 1;
            ratio /= 10.0;
        }
        digits
    }
}

/// The names of all families.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name)
}

/// Why times cannot be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Too few times.
    #[error("expected at least {LEAST} times, found {found}")]
    Few {
        /// Times that there are.
        found: usize,
    },
    /// A value that is no time.
    #[error("value {number} is {value}; times to fit are numbers above 0")]
    Value {
        /// Its place, from 1.
        number: usize,
        /// The value.
        value: f64,
    },
    /// All times are the same.
    #[error("all times are {value}; use `{{ constant = {value} }}`")]
    Same {
        /// The time.
        value: f64,
    },
    /// A column that cannot be read.
    #[error("the column cannot be read{reason}")]
    Column {
        /// Why.
        reason: String,
    },
}

impl FitError {
    /// [`ErrorKind::Usage`].
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Significant digits that every number of 64 bits has at most.
const MOST_DIGITS: usize = 17;
/// Fewest times that are fitted.
const LEAST: usize = 10;
/// Values of a sample of the bootstrap: the distribution of the statistic hardly depends on their
/// number from here on.
const MOST_OF_SAMPLE: usize = 500;

/// How much longer times are where samples are drawn from tables.
const FINER: f64 = (1_u64 << 30) as f64;

/// The numbers of a column of a text in CSV, or of the only one.
///
/// # Errors
/// [`FitError::Column`], with the line.
pub fn column(text: &str, name: Option<&str>) -> Result<Vec<f64>, FitError> {
    super::distribution::column(text, name).map_err(|reason| FitError::Column { reason })
}

/// Fits all families that can have these times, the best by [`Fit::aic`] first.
///
/// # Errors
/// [`FitError`].
pub fn fit(times: &[f64], options: Options) -> Result<Vec<Fit>, FitError> {
    if times.len() < LEAST {
        return Err(FitError::Few { found: times.len() });
    }
    if let Some(at) = times.iter().position(|time| !(*time > 0.0 && time.is_finite())) {
        return Err(FitError::Value { number: at + 1, value: times[at] });
    }
    let sample = Sample::of(times.to_vec());
    if sample.least() == sample.most() {
        return Err(FitError::Same { value: sample.least() });
    }
    let mut found: Vec<Fit> = FAMILIES.iter().filter_map(|family| one(family, &sample, options)).collect();
    found.sort_by(|a, b| a.aic().total_cmp(&b.aic()));
    Ok(found)
}

fn one(family: &Family, sample: &Sample, options: Options) -> Option<Fit> {
    // Parameters are those of times with the mean 1, so that searches begin near them.
    let unit = if family.scales { sample.mean() } else { 1.0 };
    let scaled = sample.scaled(1.0 / unit);
    let law = (family.fit)(&scaled)?;
    let log_likelihood = (family.log_likelihood)(&law, &scaled) - sample.count() * unit.ln();
    let anderson_darling = statistic(&law, &scaled);
    if !(log_likelihood.is_finite() && anderson_darling.is_finite()) {
        return None;
    }
    let p_value = p_value(family, &law, &scaled, anderson_darling, options);
    Some(Fit {
        family: family.name,
        law: (family.scaled)(&law, unit),
        parameters: family.parameters,
        log_likelihood,
        anderson_darling,
        p_value,
    })
}

/// Anderson's and Darling's statistic of sorted times.
fn statistic(law: &Distribution, sample: &Sample) -> f64 {
    // The shortest time of a Pareto distribution is a parameter, and the longer ones are a sample.
    let shortest = match law {
        Distribution::Pareto { .. } => sample.values.partition_point(|value| *value <= sample.least()),
        _ => 0,
    };
    let values = &sample.values[shortest..];
    let tails = law.tails();
    let both: Vec<[f64; 2]> = values.iter().map(|&value| tails(value).map(f64::ln)).collect();
    let n = values.len() as f64;
    let each = both.iter().zip(both.iter().rev()).zip(0_u32..);
    let sum: f64 = each.map(|((lower, upper), i)| f64::from(2 * i + 1) * (lower[0] + upper[1])).sum();
    -n - sum / n
}

fn p_value(
    family: &Family,
    law: &Distribution,
    sample: &Sample,
    statistic: f64,
    options: Options,
) -> Option<f64> {
    let count = sample.values.len().min(MOST_OF_SAMPLE) as u64;
    let resolution = Resolution::default();
    // Small shapes of a gamma distribution have many times far below its mean, which are not to be
    // one: tables of such laws are made for longer times, if they can be.
    let finer = (family.scaled)(law, FINER);
    let (finest, fine) = match finer.table_at(resolution) {
        Some(_) if family.scales => (finer, FINER),
        _ => (*law, 1.0),
    };
    let words = finest.words_at(resolution).ok()?;
    let table = finest.table_at(resolution).unwrap_or_default();
    let (kind, drawn) = Law::of(&words);
    let (mut further, mut samples) = (0, 0);
    for number in 0..options.bootstrap {
        let mut stream = Stream::new(options.seed, number, 0);
        // A draw of 0 ticks is half a tick, because times are above 0.
        let tick = 0.5 / f64::from(resolution.ticks_per_unit());
        let mut draw = |_| resolution.units((KINDS[kind].time)(&mut stream, &drawn, table.as_flattened()));
        let values = (0..count).map(|i| draw(i).max(tick) / fine).collect();
        let other = Sample::of(values);
        let Some(fitted) = (family.fit)(&other) else { continue };
        let found = self::statistic(&fitted, &other);
        if !found.is_nan() {
            samples += 1;
            further += u32::from(found >= statistic);
        }
    }
    (samples > 0).then(|| f64::from(further + 1) / f64::from(samples + 1))
}

/// JSON as an inline table of TOML.
fn written(value: &serde_json::Value, digits: usize) -> String {
    use serde_json::Value;
    match value {
        Value::Object(pairs) => {
            let pairs: Vec<_> =
                pairs.iter().map(|(key, value)| format!("{key} = {}", written(value, digits))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(list) => {
            let list: Vec<_> = list.iter().map(|value| written(value, digits)).collect();
            format!("[{}]", list.join(", "))
        }
        Value::Number(number) if number.is_f64() => rounded(number.as_f64().unwrap_or_default(), digits),
        other => other.to_string(),
    }
}

fn rounded(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    // TOML needs digits on both sides of a point.
    if rounded != 0.0 && !(1e-4..1e15).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests;
