//! Distributions of times, as descriptions name them.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::gamma;

use super::error::no_time;
use super::scale::TimeScale;
use crate::random::{Stream, lognormal_spread, probability, weibull_power};
use crate::text::number;
use crate::time::{Resolution, Ticks};

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
    /// The same time in Rust.
    pub(crate) time: fn(&mut Stream, &Law) -> Ticks,
    /// A lower bound of all times; zero also for distributions that begin near zero.
    pub(crate) least: fn(&Law) -> Ticks,
    /// A distribution of this kind.
    pub(crate) example: Distribution,
}

/// The parameters of a distribution as kernels read them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Law {
    pub(crate) number: u32,
    pub(crate) a: Ticks,
    pub(crate) b: Ticks,
    pub(crate) c: Ticks,
}

impl Law {
    /// The index of its kind in [`KINDS`], and its parameters.
    pub(crate) fn of(words: &[u32]) -> (usize, Self) {
        let time = |at: usize| Ticks::from_words([words[at], words[at + 1]]);
        (words[0] as usize, Self { number: words[1], a: time(2), b: time(4), c: time(6) })
    }
}

/// Defines [`Distribution`] and [`KINDS`] by rows: a variant, its kind, and the quantities that
/// follow from its parameters.
macro_rules! distributions {
    ($($(#[$doc:meta])* $name:ident $fields:tt: {
        kind: $kind:expr,
        of: $numbers:pat,
        mean: $mean:expr,
        variance: $variance:expr,
        scales: $scales:expr,
        law: $law:expr,
    })*) => {
        /// A distribution of times, in the network's unit of time.
        ///
        /// In a file, one of its names with its parameters: `{ exponential = 1.5 }`, `{ uniform =
        /// [1.0, 2.0] }`, `{ erlang = { stages = 3, mean = 2.0 } }`.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum Distribution { $($(#[$doc])* $name $fields,)* }

        /// All kinds, in the order of their numbers.
        pub(crate) const KINDS: &[Kind] = &[$($kind),*];

        impl Distribution {
            fn kind(&self) -> u32 {
                match self { $(Self::$name { .. } => const { $kind.number },)* }
            }

            /// The mean, in the network's unit.
            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            pub fn mean(&self) -> f64 {
                match *self { $($numbers => $mean,)* }
            }

            /// The variance, in the network's unit squared.
            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            pub fn variance(&self) -> f64 {
                match *self { $($numbers => $variance,)* }
            }

            /// The times that have to be many ticks long for draws to be accurate.
            #[expect(unused_variables, reason = "a row takes the numbers that it needs")]
            pub(super) fn scales(&self) -> [Option<f64>; 2] {
                match *self { $($numbers => $scales,)* }
            }

            fn law(&self, to: &Coder) -> Result<Law, String> {
                match *self { $($numbers => to.law($law),)* }
            }
        }
    };
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

distributions! {
    /// Always the same time.
    Constant(f64): {
        kind: Kind {
            number: 0,
            draws: 0,
            wgsl: "a",
            time: |_, law| law.a,
            least: first,
            example: Distribution::Constant(2.0),
        },
        of: Self::Constant(value),
        mean: value,
        variance: 0.0,
        scales: [Some(value), None],
        law: |to| Ok(Law { a: whole(value, to.scale)?, ..Law::default() }),
    }
    /// Exponential, with this mean.
    Exponential(f64): {
        kind: Kind {
            number: 1,
            draws: 1,
            wgsl: EXPONENTIAL,
            time: |stream, law| stream.exponential(law.a),
            least: zero,
            example: Distribution::Exponential(2.0),
        },
        of: Self::Exponential(mean),
        mean: mean,
        variance: mean * mean,
        scales: [Some(mean), None],
        law: |to| Ok(Law { a: to.drawn(mean)?, ..Law::default() }),
    }
    /// Uniform between two times.
    Uniform([f64; 2]): {
        kind: Kind {
            number: 2,
            draws: 3,
            wgsl: "uniform_of(words.z, words.y, words.x, a, b)",
            time: |stream, law| stream.uniform(law.a, law.b),
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
            time: |stream, law| stream.erlang(law.number, law.a),
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
            time: |stream, law| stream.hyperexponential(law.number, law.a, law.b),
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
    }
    /// Triangular: the minimum, the mode and the maximum.
    Triangular([f64; 3]): {
        kind: Kind {
            number: 5,
            draws: 2,
            wgsl: "triangular_of(words.y, words.x, a, b, c)",
            time: |stream, law| stream.triangular(law.a, law.b, law.c),
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
            time: |stream, law| stream.normal(law.a, law.b),
            least: zero,
            example: Distribution::Normal { mean: 9.0, deviation: 1.0 },
        },
        of: Self::Normal { mean, deviation },
        mean: cut_normal(mean, deviation)[0],
        variance: cut_normal(mean, deviation)[1],
        scales: [Some(mean), Some(deviation)],
        law: |to| Ok(Law { a: to.drawn(mean)?, b: to.time(deviation)?, ..Law::default() }),
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
            time: |stream, law| stream.lognormal(law.a, law.number),
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
            time: |stream, law| stream.weibull(law.a, law.number),
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
    }
}

/// Most stages of an Erlang distribution: each is a draw.
const MOST_STAGES: u32 = 100;

/// Mean and variance of a normal variate with negative values set to zero.
fn cut_normal(mean: f64, deviation: f64) -> [f64; 2] {
    if deviation <= 0.0 {
        return [mean.max(0.0), 0.0];
    }
    let at = mean / deviation;
    let above = 0.5 * statrs::function::erf::erfc(-at / std::f64::consts::SQRT_2);
    let density = (-0.5 * at * at).exp() / std::f64::consts::TAU.sqrt();
    let first = mean * above + deviation * density;
    let second = (mean * mean + deviation * deviation) * above + mean * deviation * density;
    [first, second - first * first]
}

/// Least mean of drawn times, in ticks: times are rounded down to whole ticks, so the mean is off
/// by half a tick, a thousandth of this.
const LEAST_MEAN: u64 = 500;

/// A positive time in whole ticks, if that is accurate enough; otherwise the reason why not.
pub(super) fn whole(units: f64, scale: TimeScale) -> Result<Ticks, String> {
    scale.never(units).map_or_else(|| reached(units, scale.resolution), Ok)
}

/// The same for a time that runs reach.
fn reached(units: f64, resolution: Resolution) -> Result<Ticks, String> {
    match resolution.ticks(units).map_err(|error| no_time(&error))? {
        Ticks::ZERO => {
            let units = number(units);
            Err(format!("{units} is less than a tick; choose a longer time, or more ticks per unit"))
        }
        ticks if (resolution.units(ticks) / units - 1.0).abs() > 1e-3 => Err(format!(
            "{units} would be {ticks} in whole ticks, which is more than a thousandth off; choose more ticks per unit"
        )),
        ticks => Ok(ticks),
    }
}

impl Distribution {
    /// Whether it is a time that runs do not reach.
    pub(super) fn is_never(&self, scale: TimeScale) -> bool {
        matches!(*self, Self::Constant(units) if scale.never(units).is_some())
    }
}

/// Converts times of a description into ticks and checks them.
struct Coder {
    scale: TimeScale,
}

impl Coder {
    /// Calls a row's closure; it exists to fix the type of the closure's argument.
    fn law(&self, law: impl FnOnce(&Self) -> Result<Law, String>) -> Result<Law, String> {
        law(self)
    }

    /// Any time.
    fn time(&self, units: f64) -> Result<Ticks, String> {
        self.scale.resolution.ticks(units).map_err(|error| no_time(&error))
    }

    /// A positive time.
    fn positive(&self, units: f64) -> Result<Ticks, String> {
        reached(units, self.scale.resolution)
    }

    /// The mean of drawn times.
    fn drawn(&self, units: f64) -> Result<Ticks, String> {
        match self.positive(units)? {
            ticks if ticks.get() < LEAST_MEAN => Err(format!(
                "{units} is a mean of {} ticks, and times are rounded down to whole ticks; choose more ticks per unit, so that the mean is {LEAST_MEAN} ticks or more",
                ticks.get()
            )),
            ticks => Ok(ticks),
        }
    }
}

impl Distribution {
    /// One distribution of each kind.
    #[doc(hidden)]
    pub fn examples() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|kind| kind.example)
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
mod tests {
    use indexmap::IndexMap;

    use super::*;

    #[test]
    fn rows_lie_where_their_numbers_say_and_have_the_words_that_they_draw() {
        let scale = TimeScale::new(Resolution::default(), None);
        for (place, kind) in KINDS.iter().enumerate() {
            assert_eq!((kind.number as usize, kind.example.kind()), (place, kind.number));
            let (found, law) = Law::of(&kind.example.words(scale).unwrap());
            assert_eq!(found, place);
            let mut stream = Stream::new(1, 2, 3);
            assert!((kind.time)(&mut stream, &law) >= (kind.least)(&law));
            if !kind.wgsl.starts_with("draw_") {
                let mut other = Stream::new(1, 2, 3);
                other.seek(kind.draws);
                assert_eq!(stream.draw(), other.draw(), "{:?}", kind.example);
            }
        }
    }

    #[test]
    fn the_guide_shows_each_kind() {
        let guide = include_str!("../../docs/guide-networks.md");
        for law in Distribution::examples() {
            let shown = guide.split('`').any(|code| {
                let read = toml::from_str::<IndexMap<String, Distribution>>(&format!("law = {code}"));
                read.is_ok_and(|read| read.values().eq([&law]))
            });
            assert!(shown, "{law:?}");
        }
    }

    #[test]
    fn descriptions_name_each_kind_and_an_unknown_name_lists_them() {
        let error = toml::from_str::<IndexMap<String, Distribution>>("law = { gauss = 1 }");
        let error = error.unwrap_err().to_string();
        for law in Distribution::examples() {
            let value = toml::Value::try_from(law).unwrap();
            let name = value.as_table().unwrap().keys().next().unwrap();
            assert!(error.contains(&format!("`{name}`")), "{error}");
            assert_eq!(value.try_into::<Distribution>().unwrap(), law);
        }
    }

    #[test]
    fn means_and_variances_are_those_of_the_variates() {
        let resolution = Resolution::default();
        let cut = [[1.0, 1.0], [1.0, 3.0]].map(|[mean, deviation]| Distribution::Normal { mean, deviation });
        for law in Distribution::examples().chain(cut) {
            let (kind, drawn) = Law::of(&law.words(TimeScale::new(resolution, None)).unwrap());
            let n = 200_000_u32;
            let (mut sum, mut squares) = (0.0, 0.0);
            for index in 0..n {
                let time = (KINDS[kind].time)(&mut Stream::new(5, 1, index.into()), &drawn);
                let value = resolution.units(time);
                sum += value;
                squares += value * value;
            }
            let mean = sum / f64::from(n);
            let variance = squares / f64::from(n) - mean * mean;
            assert!((mean / law.mean() - 1.0).abs() < 0.01, "{law:?}: {mean} {}", law.mean());
            let expected = law.variance();
            assert!((variance - expected).abs() <= 0.03 * expected + 1e-9, "{law:?}: {variance} {expected}");
        }
    }

    #[test]
    fn laws_that_cannot_be_drawn_are_refused() {
        for law in [
            Distribution::Constant(0.0),
            Distribution::Exponential(-1.0),
            Distribution::Exponential(f64::NAN),
            Distribution::Uniform([2.0, 1.0]),
            Distribution::Erlang { stages: 0, mean: 1.0 },
            Distribution::Hyperexponential { probability: 1.5, first: 1.0, second: 1.0 },
            Distribution::Triangular([3.0, 2.0, 5.0]),
            Distribution::Normal { mean: 1.0, deviation: -1.0 },
            Distribution::Lognormal { mean: 0.0, deviation: 1.0 },
            Distribution::Weibull { scale: 1.0, shape: 0.1 },
            Distribution::Constant(1e300),
            Distribution::Exponential(1e-5),
            Distribution::Constant(1.4e-6),
            Distribution::Erlang { stages: 100, mean: 0.01 },
            Distribution::Uniform([1.0, 1.0001]),
        ] {
            assert!(law.words(TimeScale::new(Resolution::default(), None)).is_err(), "{law:?}");
        }
    }
}
