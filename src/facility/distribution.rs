//! Distributions of times, as descriptions name them.

mod coder;
mod curves;
mod data;
mod kept;
mod phases;
#[macro_use]
mod rows;
mod tails;

use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::gamma;

use super::scale::TimeScale;
use crate::random::{Row, Stream, lognormal_spread, probability, time_of_table, weibull_power};
use crate::time::{Resolution, Ticks};

use coder::Coder;
use curves::{Curve, Made, Part, Table, has_enough, kept_between, moments, truncated};
use tails::{
    MEANS, SHAPES, Tails, above, below, cut_normal, exponential_tails, gamma_tails, loglogistic_moment,
    normal_tails, ordered, positive, step, weights, within,
};

pub(crate) use coder::Law;
pub(super) use coder::whole;
pub use data::{Samples, Weighted, in_folder};
pub(crate) use data::{column, column_with_lines, read_text};
pub use kept::Kept;
pub use phases::Phases;

/// What kernels need of a kind of distribution, independent of its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The first word of its records: its index in [`KINDS`].
    pub(crate) number: u32,
    /// Words drawn for one time, at most 3; 0 if `wgsl` itself draws them.
    pub(crate) draws: u32,
    /// A time in WGSL, computed from `words` (the last drawn comes first), `number`, `a`, `b` and
    /// `c`. Rows with the same text share one call.
    pub(crate) wgsl: &'static str,
    /// The same time in Rust. The last argument is all data, of which `a` may name a row.
    pub(crate) time: fn(&mut Stream, &Law, &[u32]) -> Ticks,
    /// A lower bound of all times; zero also for distributions that begin near zero.
    pub(crate) least: fn(&Law) -> Ticks,
    /// A distribution of this kind.
    pub(crate) example: Distribution,
}

const fn zero(_: &Law) -> Ticks {
    Ticks::ZERO
}

const fn first(law: &Law) -> Ticks {
    law.a
}

/// An exponential time with one of two means; `exponential` has only the first.
const EXPONENTIAL: &str =
    "exponential_of(words.x, select(b, a, (kind == 1u) | (words.y < number) | (number == SURE)))";

/// The word of a distribution that names the first row of its table, if it has one.
pub(crate) const TABLE_WORD: usize = 2;

/// The kind of all distributions that are drawn from a table: `number` parts, and `a` is the row of
/// the first. `b` is a hash of the table, and `c` the least time.
const TABLE: Kind = Kind {
    number: 9,
    draws: 2,
    wgsl: "time_of_table(words.y, words.x, number, a.x)",
    time: |stream, law, data| {
        let [choice, word] = [(); 2].map(|()| stream.draw());
        let (rows, _) = data[4 * law.a.to_words()[0] as usize..].as_chunks();
        time_of_table(choice, word, law.number, rows)
    },
    least: |law| law.c,
    example: Distribution::Gamma { shape: 2.5, scale: 0.8 },
};

distributions! {{
    /// Always the same time.
    Constant(f64): {
        kind: Kind {
            number: 0,
            draws: 0,
            wgsl: "a",
            time: |_, law, _| law.a,
            least: first,
            example: Distribution::Constant(2.0),
        },
        of: Self::Constant(value),
        mean: value,
        variance: 0.0,
        scales: [Some(value), None],
        law: |to| Ok(Law { a: whole(value, to.scale)?, ..Law::default() }),
        tails: move |x| step(x, value),
    }
    /// Exponential, with this mean.
    Exponential(f64): {
        kind: Kind {
            number: 1,
            draws: 1,
            wgsl: EXPONENTIAL,
            time: |stream, law, _| stream.exponential(law.a),
            least: zero,
            example: Distribution::Exponential(2.0),
        },
        of: Self::Exponential(mean),
        mean: mean,
        variance: mean * mean,
        scales: [Some(mean), None],
        law: |to| Ok(Law { a: to.drawn(mean)?, ..Law::default() }),
        tails: move |x| exponential_tails(x.max(0.0) / mean),
    }
    /// Uniform between two times.
    Uniform([f64; 2]): {
        kind: Kind {
            number: 2,
            draws: 3,
            wgsl: "uniform_of(words.z, words.y, words.x, a, b)",
            time: |stream, law, _| stream.uniform(law.a, law.b),
            least: first,
            example: Distribution::Uniform([1.0, 3.0]),
        },
        of: Self::Uniform([low, high]),
        mean: f64::midpoint(low, high),
        variance: (high - low).powi(2) / 12.0,
        scales: [Some(high - low), None],
        law: |to| {
            let (a, b) = (to.time(low)?, to.positive(high)?);
            if a >= b {
                return Err(format!(
                    "it is uniform between {low} and {high}; the second has to be greater"
                ));
            }
            to.drawn(high - low)?;
            Ok(Law { a, b, ..Law::default() })
        },
        tails: move |x| below(((x - low) / (high - low)).clamp(0.0, 1.0)),
    }
    /// The sum of `stages` exponential times with the same mean; `mean` is the mean of the sum.
    Erlang {
        /// Number of stages, 1 to 100.
        stages: u32,
        /// Mean of the sum.
        mean: f64,
    }: {
        kind: Kind {
            number: 3,
            // `draw_erlang` draws one word for each stage.
            draws: 0,
            wgsl: "draw_erlang(number, a)",
            time: |stream, law, _| stream.erlang(law.number, law.a),
            least: zero,
            example: Distribution::Erlang { stages: 3, mean: 2.0 },
        },
        of: Self::Erlang { stages, mean },
        mean: mean,
        variance: mean * mean / f64::from(stages),
        scales: [Some(mean / f64::from(stages.max(1))), None],
        law: |to| {
            if !(1..=MOST_STAGES).contains(&stages) {
                return Err(format!("it has {stages} stages; 1 to {MOST_STAGES} can be drawn"));
            }
            Ok(Law { number: stages, a: to.drawn(mean / f64::from(stages))?, ..Law::default() })
        },
        tails: move |x| gamma_tails(f64::from(stages), x * f64::from(stages) / mean),
    }
    /// Exponential, with one of two means.
    Hyperexponential {
        /// Probability of the first mean.
        probability: f64,
        /// First mean.
        first: f64,
        /// Second mean.
        second: f64,
    }: {
        kind: Kind {
            number: 4,
            draws: 2,
            wgsl: EXPONENTIAL,
            time: |stream, law, _| stream.hyperexponential(law.number, law.a, law.b),
            least: zero,
            example: Distribution::Hyperexponential { probability: 0.75, first: 1.0, second: 4.0 },
        },
        of: Self::Hyperexponential { probability: share, first, second },
        mean: share * first + (1.0 - share) * second,
        variance: {
            let mean = share * first + (1.0 - share) * second;
            2.0 * (share * first * first + (1.0 - share) * second * second) - mean * mean
        },
        scales: [Some(first), Some(second)],
        law: |to| {
            let number = probability(share).map_err(|error| error.to_string())?;
            Ok(Law { number, a: to.drawn(first)?, b: to.drawn(second)?, ..Law::default() })
        },
        tails: move |x| {
            let x = x.max(0.0);
            above(share * (-x / first).exp() + (1.0 - share) * (-x / second).exp())
        },
    }
    /// Triangular: the minimum, the mode and the maximum.
    Triangular([f64; 3]): {
        kind: Kind {
            number: 5,
            draws: 2,
            wgsl: "triangular_of(words.y, words.x, a, b, c)",
            time: |stream, law, _| stream.triangular(law.a, law.b, law.c),
            least: first,
            example: Distribution::Triangular([1.0, 2.0, 4.0]),
        },
        of: Self::Triangular([low, mode, high]),
        mean: (low + mode + high) / 3.0,
        variance: {
            (low * low + mode * mode + high * high - low * mode - low * high - mode * high) / 18.0
        },
        scales: [Some(high - low), None],
        law: |to| {
            let (a, b, c) = (to.time(low)?, to.time(mode)?, to.positive(high)?);
            if b < a || c < b {
                return Err(format!(
                    "it is triangular over {low}, {mode} and {high}; they have to be in order"
                ));
            }
            to.drawn(high - low)?;
            Ok(Law { a, b, c, ..Law::default() })
        },
        tails: move |x| {
            let x = x.clamp(low, high);
            if x < mode {
                below((x - low).powi(2) / ((high - low) * (mode - low)))
            } else {
                above((high - x).powi(2) / ((high - low) * (high - mode)).max(f64::MIN_POSITIVE))
            }
        },
    }
    /// Normal, with negative values set to zero.
    Normal {
        /// Mean, before negative values are set to zero.
        mean: f64,
        /// Standard deviation, before negative values are set to zero.
        deviation: f64,
    }: {
        kind: Kind {
            number: 6,
            draws: 1,
            wgsl: "normal_of(words.x, a, b)",
            time: |stream, law, _| stream.normal(law.a, law.b),
            least: zero,
            example: Distribution::Normal { mean: 9.0, deviation: 1.0 },
        },
        of: Self::Normal { mean, deviation },
        mean: cut_normal(mean, deviation)[0],
        variance: cut_normal(mean, deviation)[1],
        scales: [Some(mean), Some(deviation)],
        law: |to| Ok(Law { a: to.drawn(mean)?, b: to.time(deviation)?, ..Law::default() }),
        tails: move |x| if x < 0.0 { [0.0, 1.0] } else { normal_tails((x - mean) / deviation) },
    }
    /// Lognormal, by the mean and the standard deviation of the time itself.
    Lognormal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    }: {
        kind: Kind {
            number: 7,
            draws: 1,
            wgsl: "lognormal_of(words.x, a, number)",
            time: |stream, law, _| stream.lognormal(law.a, law.number),
            least: zero,
            example: Distribution::Lognormal { mean: 2.0, deviation: 1.0 },
        },
        of: Self::Lognormal { mean, deviation },
        mean: mean,
        variance: deviation * deviation,
        scales: [Some(mean / (1.0 + (deviation / mean).powi(2)).sqrt()), None],
        law: |to| {
            to.positive(mean)?;
            to.time(deviation)?;
            let squared = 1.0 + (deviation / mean).powi(2);
            let number = lognormal_spread(squared.ln().sqrt()).map_err(|error| error.to_string())?;
            Ok(Law { number, a: to.drawn(mean / squared.sqrt())?, ..Law::default() })
        },
        tails: {
            let squared = 1.0 + (deviation / mean).powi(2);
            move |x| normal_tails((x.max(0.0) * squared.sqrt() / mean).ln() / squared.ln().sqrt())
        },
    }
    /// Weibull.
    Weibull {
        /// Scale, a time.
        scale: f64,
        /// Shape, 0.3 to 1000.
        shape: f64,
    }: {
        kind: Kind {
            number: 8,
            draws: 1,
            wgsl: "weibull_of(words.x, a, number)",
            time: |stream, law, _| stream.weibull(law.a, law.number),
            least: zero,
            example: Distribution::Weibull { scale: 2.0, shape: 1.5 },
        },
        of: Self::Weibull { scale, shape },
        mean: scale * gamma(1.0 + 1.0 / shape),
        variance: {
            let mean = scale * gamma(1.0 + 1.0 / shape);
            scale * scale * gamma(1.0 + 2.0 / shape) - mean * mean
        },
        scales: [Some(scale), None],
        law: |to| {
            let number = weibull_power(shape).map_err(|error| error.to_string())?;
            Ok(Law { number, a: to.drawn(scale)?, ..Law::default() })
        },
        tails: move |x| exponential_tails((x.max(0.0) / scale).powf(shape)),
    }
} {
    /// Gamma: the sum of `shape` exponential times, also for a shape that is not whole.
    Gamma {
        /// Shape, 0.1 to 1000.
        shape: f64,
        /// Scale, a time: the mean is `shape` times this.
        scale: f64,
    }: {
        of: Self::Gamma { shape, scale },
        mean: shape * scale,
        variance: shape * scale * scale,
        check: |_| within("shape", shape, SHAPES).and(positive("scale", scale)),
        tails: move |x| gamma_tails(shape, x / scale),
        example: Self::Gamma { shape: 2.5, scale: 0.8 },
    }
    /// Beta, stretched to the times from `low` to `high`.
    Beta {
        /// Shape at the low end, 0.1 to 1000.
        alpha: f64,
        /// Shape at the high end, 0.1 to 1000.
        beta: f64,
        /// The shortest time; 0 by default.
        #[serde(default)]
        low: f64,
        /// The longest time; 1 by default.
        #[serde(default = "one")]
        high: f64,
    }: {
        of: Self::Beta { alpha, beta, low, high },
        mean: low + (high - low) * alpha / (alpha + beta),
        variance: (high - low).powi(2) * alpha * beta / ((alpha + beta).powi(2) * (alpha + beta + 1.0)),
        check: |_| {
            within("alpha", alpha, SHAPES)?;
            within("beta", beta, SHAPES)?;
            ordered(low, high)
        },
        tails: move |x| {
            let x = ((x - low) / (high - low)).clamp(0.0, 1.0);
            [beta_reg(alpha, beta, x), beta_reg(beta, alpha, 1.0 - x)]
        },
        example: Self::Beta { alpha: 2.0, beta: 3.0, low: 1.0, high: 4.0 },
    }
    /// Pareto: at least `scale`, with the probability (`scale` / time)^`shape` of more.
    Pareto {
        /// Shape, above 1, so that there is a mean, to 1000.
        shape: f64,
        /// The shortest time.
        scale: f64,
    }: {
        of: Self::Pareto { shape, scale },
        mean: shape * scale / (shape - 1.0),
        variance: if shape > 2.0 {
            shape * scale * scale / ((shape - 1.0).powi(2) * (shape - 2.0))
        } else {
            f64::INFINITY
        },
        check: |_| within("shape", shape, MEANS).and(positive("scale", scale)),
        tails: move |x| exponential_tails(shape * (x / scale).max(1.0).ln()),
        example: Self::Pareto { shape: 6.0, scale: 1.5 },
    }
    /// Log-logistic: its odds are (time / `scale`)^`shape`.
    LogLogistic {
        /// Shape, above 1, so that there is a mean, to 1000.
        shape: f64,
        /// The median.
        scale: f64,
    }: {
        of: Self::LogLogistic { shape, scale },
        mean: loglogistic_moment(1.0, shape, scale),
        variance: if shape > 2.0 {
            loglogistic_moment(2.0, shape, scale) - loglogistic_moment(1.0, shape, scale).powi(2)
        } else {
            f64::INFINITY
        },
        check: |_| within("shape", shape, MEANS).and(positive("scale", scale)),
        tails: move |x| {
            let odds = (x.max(0.0) / scale).powf(shape);
            [1.0 / (1.0 + 1.0 / odds), 1.0 / (1.0 + odds)]
        },
        example: Self::LogLogistic { shape: 6.0, scale: 2.0 },
    }
    /// Coxian: phases of exponential times in a row, after each of which it may end. With
    /// `continues` of 1 throughout, a sum of exponential times.
    Coxian(Kept<Phases>): {
        of: Self::Coxian(phases),
        mean: phases.moments()[0],
        variance: phases.moments()[1] - phases.moments()[0].powi(2),
        check: |_| phases.check(),
        tails: phases.tails(),
        example: Self::Coxian(Kept::new(Phases { means: vec![1.0, 2.0], continues: vec![0.5] })),
    }
    /// One of several times, each with a weight.
    Discrete(Kept<Weighted>): {
        of: Self::Discrete(weighted),
        mean: weighted.moment(1),
        variance: weighted.moment(2) - weighted.moment(1).powi(2),
        check: |_| weighted.check(),
        tails: move |x| weighted.tails(x),
        example: Self::Discrete(Kept::new(Weighted {
            values: vec![1.0, 2.0, 4.0],
            weights: vec![0.5, 0.3, 0.2],
        })),
    }
    /// Times that were measured: each with the same probability, or interpolated between them.
    Empirical(Kept<Samples>): {
        of: Self::Empirical(samples),
        mean: samples.moments()[0],
        variance: samples.moments()[1],
        check: |_| samples.check(),
        tails: move |x| samples.tails(x),
        example: Self::Empirical(Kept::new(Samples::of(vec![1.0, 2.0, 4.0], false))),
    }
    /// One of several distributions, each with a weight.
    Mixture(Kept<Vec<MixturePart>>): {
        of: Self::Mixture(parts),
        mean: mixed(&parts, |law| law.mean()),
        variance: {
            let mean = mixed(&parts, |law| law.mean());
            mixed(&parts, |law| law.variance() + (law.mean() - mean).powi(2))
        },
        check: |to| {
            weights(parts.iter().map(|part| part.weight))?;
            parts.iter().try_for_each(|part| part.law.law(to).map(|_| ()))
        },
        tails: {
            let all: Vec<_> = parts.iter().map(|part| part.law.tails()).collect();
            move |x| {
                let weights = parts.iter().map(|part| part.weight);
                let sum: f64 = weights.clone().sum();
                let each = weights.zip(&all).map(|(weight, tails)| tails(x).map(|tail| weight / sum * tail));
                each.fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
            }
        },
        example: Self::Mixture(Kept::new(vec![
            MixturePart { weight: 0.7, law: Self::Exponential(2.0) },
            MixturePart { weight: 0.3, law: Self::Constant(5.0) },
        ])),
    }
    /// A distribution and a constant time before it.
    Shifted {
        /// The constant time.
        by: f64,
        /// The distribution.
        law: Kept<Distribution>,
    }: {
        of: Self::Shifted { by, law },
        mean: by + law.mean(),
        variance: law.variance(),
        check: |to| to.time(by).and(law.law(to)).map(|_| ()),
        tails: {
            let tails = law.tails();
            move |x| tails(x - by)
        },
        example: Self::Shifted { by: 2.0, law: Kept::new(Self::Exponential(3.0)) },
    }
    /// The part of a distribution between two times.
    Truncated {
        /// The shortest time; 0 by default.
        #[serde(default)]
        low: f64,
        /// The longest time; none by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
        /// The distribution.
        law: Kept<Distribution>,
    }: {
        of: all @ Self::Truncated { low, high, law },
        mean: moments(&all.parts())[0],
        variance: moments(&all.parts())[1],
        check: |to| {
            law.law(to)?;
            ordered(low, high.unwrap_or(f64::MAX))?;
            has_enough(&law.tails(), low, high.unwrap_or(f64::INFINITY))
        },
        tails: {
            truncated(law.tails(), [low, high.unwrap_or(f64::INFINITY)])
        },
        example: Self::Truncated { low: 1.0, high: Some(6.0), law: Kept::new(Self::Exponential(3.0)) },
    }
}}

/// A part of a [`Distribution::Mixture`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixturePart {
    /// Its weight: probabilities are in proportion to weights.
    pub weight: f64,
    /// Its distribution.
    pub law: Distribution,
}

fn one() -> f64 {
    1.0
}

/// The mean of a quantity over the parts of a mixture.
fn mixed(parts: &[MixturePart], of: impl Fn(&Distribution) -> f64) -> f64 {
    let sum: f64 = parts.iter().map(|part| part.weight).sum();
    parts.iter().map(|part| part.weight / sum * of(&part.law)).sum()
}

/// Most stages of an Erlang distribution: each is a draw.
const MOST_STAGES: u32 = 100;

impl Distribution {
    /// Whether it is a time that runs do not reach.
    pub(super) fn is_never(&self, scale: TimeScale) -> bool {
        matches!(*self, Self::Constant(units) if scale.never(units).is_some())
    }
}

impl Distribution {
    /// The table that it is drawn from.
    fn made(&self, scale: TimeScale) -> Result<Table, String> {
        static MADE: Made<Distribution> = Made::new();
        MADE.table(*self, scale.resolution, || Ok((self.mean(), self.parts())))
    }

    /// Values, lines and curves with their weights.
    fn parts(&self) -> Vec<(f64, Part)> {
        let mut parts = Vec::new();
        self.add_parts(1.0, 0.0, &mut parts);
        parts
    }

    fn curve(&self, shift: f64, whole: bool) -> Curve {
        Curve { tails: Rc::from(self.tails()), mean: self.mean(), ends: [0.0, f64::INFINITY], shift, whole }
    }

    /// Adds its parts with a weight, moved by a time.
    fn add_parts(&self, weight: f64, shift: f64, to: &mut Vec<(f64, Part)>) {
        match *self {
            Self::Constant(value) => to.push((weight, Part::Value(value + shift))),
            Self::Uniform(ends) => to.push((weight, Part::Line(ends.map(|end| end + shift)))),
            Self::Discrete(weighted) => {
                let sum: f64 = weighted.weights.iter().sum();
                let all = weighted.values.iter().zip(&weighted.weights);
                to.extend(all.map(|(value, of)| (weight * of / sum, Part::Value(value + shift))));
            }
            Self::Empirical(samples) => {
                let values = samples.values();
                match samples.is_interpolated() {
                    false => {
                        let each = weight / values.len() as f64;
                        to.extend(values.iter().map(|value| (each, Part::Value(value + shift))));
                    }
                    true => {
                        let each = weight / (values.len() - 1) as f64;
                        let line = |ends: &[f64]| match ends[0] < ends[1] {
                            true => Part::Line([ends[0] + shift, ends[1] + shift]),
                            false => Part::Value(ends[0] + shift),
                        };
                        to.extend(values.windows(2).map(|ends| (each, line(ends))));
                    }
                }
            }
            Self::Mixture(parts) => {
                let sum: f64 = parts.iter().map(|part| part.weight).sum();
                parts.iter().for_each(|part| part.law.add_parts(weight * part.weight / sum, shift, to));
            }
            Self::Shifted { by, law } => law.add_parts(weight, shift + by, to),
            Self::Normal { .. } => {
                let [lower, upper] = self.tails()(0.0);
                to.push((weight * lower, Part::Value(shift)));
                let curve = self.curve(shift, false);
                to.push((weight * upper, Part::Curve(curve)));
            }
            Self::Truncated { low, high, law } => {
                let kept = kept_between(law.parts(), [low, high.unwrap_or(f64::INFINITY)]);
                to.extend(kept.into_iter().map(|(of, part)| (weight * of, part.shifted(shift))));
            }
            _ => to.push((weight, Part::Curve(self.curve(shift, true)))),
        }
    }
}

impl Distribution {
    /// One distribution of each kind.
    #[doc(hidden)]
    pub fn examples() -> impl Iterator<Item = Self> {
        let drawn = KINDS.iter().filter(|kind| kind.number != TABLE.number).map(|kind| kind.example);
        drawn.chain(Self::tabled_examples())
    }

    /// Whether a name is that of a distribution of data or of other distributions, whose arguments
    /// are more than numbers.
    pub(crate) fn is_of_others(name: &str) -> bool {
        ["coxian", "discrete", "empirical", "mixture", "shifted", "truncated"].contains(&name)
    }

    /// The probabilities of at most a time, and of more.
    pub fn probabilities(&self, time: f64) -> [f64; 2] {
        self.tails()(time)
    }

    /// The same for times without a bound.
    pub(crate) fn table_at(&self, resolution: Resolution) -> Option<Arc<[Row]>> {
        self.table(TimeScale::new(resolution, None))
    }

    /// The table that it is drawn from, if any: the rows that a word of it names.
    pub(super) fn table(&self, scale: TimeScale) -> Option<Arc<[Row]>> {
        (self.kind() == TABLE.number).then(|| self.made(scale).ok().map(|table| table.rows)).flatten()
    }

    /// A lower bound of all times drawn by `words`; zero for distributions that begin at or near
    /// zero.
    pub(super) fn least(words: &[u32; 8]) -> Ticks {
        let (kind, law) = Law::of(words);
        (KINDS[kind].least)(&law)
    }

    /// The same for times without a bound.
    pub(crate) fn words_at(&self, resolution: Resolution) -> Result<[u32; 8], String> {
        self.words(TimeScale::new(resolution, None))
    }

    /// The distribution as kernels read it, 8 words: kind, a number, three times; or why it is
    /// invalid.
    pub(super) fn words(&self, scale: TimeScale) -> Result<[u32; 8], String> {
        let Law { number, a, b, c } = self.law(&Coder { scale })?;
        let [a, b, c] = [a, b, c].map(Ticks::to_words);
        Ok([self.kind(), number, a[0], a[1], b[0], b[1], c[0], c[1]])
    }
}

#[cfg(test)]
mod tests;
