//! Tables of distributions: values, lines and inverse distribution functions.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::coder::{LEAST_MEAN, Law, finer};
use super::tails::{Tails, weights};
use crate::facility::error::no_time;
use crate::random::{self, Mix, Row, table as alias_table};
use crate::text::number;
use crate::time::{Resolution, Ticks};

/// A table, with the quantities that are in the words of its distribution.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) rows: Arc<[Row]>,
    parts: u32,
    least: Ticks,
    hash: u64,
}

impl Table {
    /// The words of its distribution, if its rows begin at 0.
    pub(super) fn law(&self) -> Law {
        Law { number: self.parts, a: Ticks::ZERO, b: Ticks::new(self.hash), c: self.least }
    }
}

/// Tables that were made last: models are compiled several times.
pub(super) struct Made<K>(Mutex<VecDeque<(K, Resolution, Table)>>);

const MOST_MADE: usize = 64;
/// Most curves of a distribution, of 32 KiB each.
const MOST_CURVES: usize = 64;

impl<K: PartialEq> Made<K> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// The table of a key, made of a mean and of parts if it is not known.
    pub(super) fn table(
        &self,
        key: K,
        resolution: Resolution,
        of: impl FnOnce() -> Result<(f64, Parts), String>,
    ) -> Result<Table, String> {
        let made = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |(known, of, _): &&(K, Resolution, Table)| *known == key && *of == resolution;
        if let Some((_, _, table)) = made().iter().find(known) {
            return Ok(table.clone());
        }
        let (mean, parts) = of()?;
        let table = make(mean, &parts, resolution)?;
        let mut made = made();
        if made.len() == MOST_MADE {
            made.pop_front();
        }
        made.push_back((key, resolution, table.clone()));
        Ok(table)
    }
}

/// Parts of a distribution with their weights.
pub(super) type Parts = Vec<(f64, Part)>;

fn make(mean: f64, parts: &[(f64, Part)], resolution: Resolution) -> Result<Table, String> {
    let ticks = |units: f64| {
        let ticks = resolution.ticks(units).map_err(|error| no_time(&error))?;
        match ticks.get() < 1 << 57 {
            true => Ok(ticks.get()),
            false => Err(format!("{} is too long; choose fewer ticks per unit", number(units))),
        }
    };
    weights(parts.iter().map(|(weight, _)| *weight))?;
    if ticks(mean)? < LEAST_MEAN {
        return Err(format!(
            "its mean {} has fewer than {LEAST_MEAN} ticks, and times are rounded to whole ticks; choose {}",
            number(mean),
            finer(mean)
        ));
    }
    if parts.iter().filter(|(_, part)| matches!(part, Part::Curve(_))).count() > MOST_CURVES {
        return Err(format!("it has more than {MOST_CURVES} curves; mix fewer distributions"));
    }
    let tick = 1.0 / f64::from(resolution.ticks_per_unit());
    let inverses: Vec<[Inverse; 2]> = parts
        .iter()
        .filter_map(|(_, part)| match part {
            Part::Curve(curve) => Some([false, true].map(|upper| curve.inverse(upper, tick))),
            _ => None,
        })
        .collect();
    let mut curves = inverses.iter();
    let mut entries = Vec::new();
    for (weight, part) in parts {
        let entry = match part {
            Part::Value(value) => random::Part::Value(ticks(*value)?),
            Part::Line(ends) => random::Part::Line([ticks(ends[0])?, ticks(ends[1])?]),
            Part::Curve(_) => {
                let [lower, upper] = curves.next().expect("one for each curve");
                random::Part::Curve([lower, upper])
            }
        };
        entries.push((*weight, entry));
    }
    let rows: Arc<[Row]> = alias_table(&entries).map_err(|error| error.to_string())?.into();
    let hash = rows.as_flattened().iter().fold(Mix::of(0x7ab1e), |mix, &word| mix.word(word)).end();
    let least = parts.iter().map(|(_, part)| match part {
        Part::Value(value) => *value,
        Part::Line([low, _]) => *low,
        Part::Curve(curve) => curve.least(tick),
    });
    let least = least.fold(f64::INFINITY, f64::min);
    // A curve rounds to the nearest tick.
    let least = ticks(least.max(0.0))?.saturating_sub(2);
    let parts = u32::try_from(parts.len()).map_err(|_| "it has too many values".to_owned())?;
    Ok(Table { rows, parts, least: Ticks::new(least), hash })
}

/// Times at falling probabilities of a tail.
type Inverse = Box<dyn Fn(&[f64]) -> Vec<f64>>;

/// A part of a distribution.
pub(super) enum Part {
    Value(f64),
    Line([f64; 2]),
    Curve(Curve),
}

/// A distribution without jumps between two times, moved.
#[derive(Clone)]
pub(super) struct Curve {
    pub(super) tails: Rc<dyn Fn(f64) -> [f64; 2]>,
    /// A time in the middle.
    pub(super) mean: f64,
    pub(super) ends: [f64; 2],
    pub(super) shift: f64,
    /// Whether nothing lies outside the ends.
    pub(super) whole: bool,
}

impl Part {
    /// Its part between two times, with its weight.
    fn within(self, weight: f64, [low, high]: [f64; 2]) -> Option<(f64, Self)> {
        let found = match self {
            Self::Value(value) => ((low..=high).contains(&value), weight, self),
            Self::Line([a, b]) => {
                let [c, d] = [a.max(low), b.min(high)];
                (c < d, weight * (d - c) / (b - a), Self::Line([c, d]))
            }
            Self::Curve(curve) => {
                let [a, b] = curve.ends;
                let ends = [a.max(low - curve.shift), b.min(high - curve.shift)];
                let share = between(&*curve.tails, ends) / between(&*curve.tails, curve.ends);
                let whole = curve.whole && ends == curve.ends;
                (ends[0] < ends[1], weight * share, Self::Curve(Curve { ends, whole, ..curve }))
            }
        };
        (found.0 && found.1 > 0.0).then_some((found.1, found.2))
    }

    /// It moved by a time.
    pub(super) fn shifted(self, by: f64) -> Self {
        match self {
            Self::Value(value) => Self::Value(value + by),
            Self::Line(ends) => Self::Line(ends.map(|end| end + by)),
            Self::Curve(curve) => Self::Curve(Curve { shift: curve.shift + by, ..curve }),
        }
    }
}

/// What of parts lies between two times, with weights that add up to 1.
pub(super) fn kept_between(parts: Parts, ends: [f64; 2]) -> Parts {
    let kept: Vec<_> = parts.into_iter().filter_map(|(weight, part)| part.within(weight, ends)).collect();
    let sum: f64 = kept.iter().map(|(weight, _)| weight).sum();
    kept.into_iter().map(|(weight, part)| (weight / sum, part)).collect()
}

/// Tails at a time, which may be infinite.
fn tails_at(tails: &dyn Fn(f64) -> [f64; 2], x: f64) -> [f64; 2] {
    if x.is_finite() || x < 0.0 { tails(x) } else { [1.0, 0.0] }
}

/// The probability between two times.
fn between(tails: &dyn Fn(f64) -> [f64; 2], ends: [f64; 2]) -> f64 {
    // A time of 0 has nothing below it here: jumps are parts of their own.
    share(ends.map(|end| tails_at(tails, end)))
}

/// The probability between two times by their tails, of which those count that lose fewer digits.
fn share([[a, b], [c, d]]: [[f64; 2]; 2]) -> f64 {
    if c < 0.5 { c - a } else { b - d }
}

/// The tails of the part between two times. Each takes one of the whole, so that truncated parts of
/// truncated parts cost no more than their number.
pub(super) fn truncated(tails: Tails, [low, high]: [f64; 2]) -> Tails {
    // What lies at the lower end belongs to it.
    let below = low - low.abs() * 1e-12 - f64::MIN_POSITIVE;
    let ends = [below, high].map(|end| tails_at(&*tails, end));
    let all = share(ends);
    Box::new(move |x| match x {
        x if x < low => [0.0, 1.0],
        x if x >= high => [1.0, 0.0],
        x => {
            let here = tails_at(&*tails, x);
            [share([ends[0], here]) / all, share([here, ends[1]]) / all]
        }
    })
}

/// Refuses a part that is too small to resemble its distribution.
pub(super) fn has_enough(tails: &dyn Fn(f64) -> [f64; 2], low: f64, high: f64) -> Result<(), String> {
    let below = low - low.abs() * 1e-12 - f64::MIN_POSITIVE;
    let found = between(tails, [below, high]);
    match found >= LEAST_SHARE {
        true => Ok(()),
        false => Err(format!(
            "the probability from {} on{} is {}; at least {LEAST_SHARE:e} can be cut out",
            number(low),
            if high.is_finite() { format!(" to {}", number(high)) } else { String::new() },
            number(found.max(0.0))
        )),
    }
}

/// Least probability of a part that is cut out.
const LEAST_SHARE: f64 = 1e-6;

/// Mean and variance of a distribution of parts.
pub(super) fn moments(parts: &[(f64, Part)]) -> [f64; 2] {
    let [mut mean, mut square] = [0.0; 2];
    for (weight, part) in parts {
        let [first, second] = match part {
            Part::Value(value) => [*value, value * value],
            Part::Line([a, b]) => [f64::midpoint(*a, *b), (a * a + a * b + b * b) / 3.0],
            Part::Curve(curve) => curve.moments(),
        };
        mean += weight * first;
        square += weight * second;
    }
    [mean, (square - mean * mean).max(0.0)]
}

impl Curve {
    /// Its tails at a time before the shift.
    fn tails(&self) -> impl Fn(f64) -> [f64; 2] + use<> {
        let (tails, ends, whole) = (self.tails.clone(), self.ends, self.whole);
        let all = between(&*tails, ends);
        move |x| match x {
            x if whole => tails(x),
            x if x <= ends[0] => [0.0, 1.0],
            x if x >= ends[1] => [1.0, 0.0],
            x => [between(&*tails, [ends[0], x]) / all, between(&*tails, [x, ends[1]]) / all],
        }
    }

    /// A lower bound, in units of time.
    fn least(&self, tick: f64) -> f64 {
        tick * self.inverse(false, tick)(&[0.5, 2f64.powi(-34)])[1]
    }

    /// The times at falling probabilities of a tail, beginning with 1/2; in ticks.
    fn inverse(&self, upper: bool, tick: f64) -> Inverse {
        let (tails, ends, shift) = (self.tails(), self.ends, self.shift);
        let first = self.mean.clamp(ends[0], ends[1]).max(tick);
        Box::new(move |probabilities| {
            let tail = |x: f64| tails(x)[usize::from(upper)];
            let mut times = Vec::with_capacity(probabilities.len());
            let (mut last, mut step) = (None, 0.0);
            for &p in probabilities {
                let x = solve(&tail, p, last, step, first, upper, ends, tick);
                step = last.map_or(0.0, |last: f64| (x - last).abs());
                last = Some(x);
                times.push((x + shift) / tick);
            }
            times
        })
    }

    /// E(X) and E(X²), by integrating over the inverse.
    fn moments(&self) -> [f64; 2] {
        let scale = self.mean.clamp(self.ends[0], self.ends[1]).max(f64::MIN_POSITIVE);
        let tick = scale * 1e-9;
        // Simpson's rule in each quarter of an octave of the tails.
        let mut probabilities = vec![0.5];
        for octave in 0..48 {
            probabilities.extend((0..16).rev().map(|k| 2f64.powi(-2 - octave) * (1.0 + f64::from(k) / 16.0)));
        }
        let mut sums = [0.0; 2];
        for upper in [false, true] {
            let times = self.inverse(upper, tick)(&probabilities);
            for (p, x) in probabilities.windows(3).step_by(2).zip(times.windows(3).step_by(2)) {
                let width = p[0] - p[2];
                for (sum, power) in sums.iter_mut().zip([1, 2]) {
                    let [a, b, c] = [x[0], x[1], x[2]].map(|x| (x * tick).powi(power));
                    *sum += width * (a + 4.0 * b + c) / 6.0;
                }
            }
        }
        sums
    }
}

/// Where a tail has a probability, outward from the last solution, or near `first`.
#[expect(clippy::too_many_arguments, reason = "one caller, whose state it is")]
fn solve(
    tail: &dyn Fn(f64) -> f64,
    p: f64,
    last: Option<f64>,
    step: f64,
    first: f64,
    upper: bool,
    ends: [f64; 2],
    tick: f64,
) -> f64 {
    // Positive inside, towards the middle of the distribution.
    let excess = |x: f64| (tail(x) / p).ln();
    let outward = |from: f64, step: f64| match upper {
        true => (from + step).min(ends[1]),
        false => (from - step).max(ends[0]),
    };
    let mut inside = last.unwrap_or(first);
    let mut high = excess(inside);
    if last.is_none() {
        // The median: steps inward until the tail is larger.
        let mut tries = 0;
        while high < 0.0 && tries < 200 {
            inside = if upper { (inside / 2.0).max(ends[0]) } else { (inside * 2.0).min(ends[1]) };
            high = excess(inside);
            tries += 1;
        }
    }
    let mut step = (1.2 * step).max(tick / 4.0).max(1e-3 * inside * f64::from(last.is_none()));
    let (mut outside, mut low) = (inside, high);
    for _ in 0..200 {
        outside = outward(outside, step);
        low = excess(outside);
        if low.is_nan() || low <= 0.0 || outside == ends[usize::from(upper)] {
            break;
        }
        (inside, high) = (outside, low);
        step *= 2.0;
    }
    // Regula falsi with halved weights (Illinois), bisection where a tail is 0.
    let mut kept = 0;
    for _ in 0..100 {
        if (outside - inside).abs() <= tick / 64.0 + 1e-12 * inside.abs() {
            break;
        }
        let x = match low.is_finite() && high.is_finite() && high > low {
            true => {
                let share = (high / (high - low)).clamp(0.01, 0.99);
                inside + share * (outside - inside)
            }
            false => f64::midpoint(inside, outside),
        };
        let found = excess(x);
        if found >= 0.0 {
            (inside, high) = (x, found);
            if kept == 1 {
                low /= 2.0;
            }
            kept = 1;
        } else {
            (outside, low) = (x, found);
            if kept == -1 {
                high /= 2.0;
            }
            kept = -1;
        }
        if found.abs() < 1e-11 {
            return x;
        }
    }
    if high.abs() <= low.abs() || !low.is_finite() { inside } else { outside }
}
