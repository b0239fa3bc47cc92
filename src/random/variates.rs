//! Variates beyond the uniform and the exponential ones (`distributions.rs`): the reference
//! implementation of `shaders/random/distributions.wgsl`.

use super::{RandomError, Stream, exponential_unit, mul_wide};
use crate::time::Ticks;

/// `p` in the form of [`Stream::bernoulli`] and [`Stream::hyperexponential`]: the nearest multiple
/// of 2^-32, and [`u32::MAX`] if `p` is nearer to 1 than to 1 - 2^-31. So it is exact at 0 and at
/// 1, and off by at most 2^-33 below 1 - 2^-31, by at most 2^-32 above.
///
/// # Errors
/// [`RandomError::Probability`] if `p` is not in 0 ..= 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in 0 ..= 2^32 - 1"
)]
pub fn probability(p: f64) -> Result<u32, RandomError> {
    if !(0.0..=1.0).contains(&p) {
        return Err(RandomError::Probability { p });
    }
    let top = 2f64.powi(32);
    // u32::MAX means 1, so p becomes u32::MAX only if 1 is the nearest representable value.
    if p > 1.0 - 1.0 / top {
        return Ok(u32::MAX);
    }
    Ok((p * top).round().min(top - 2.0) as u32)
}

/// -1 / ln(1 - `p`), the scale of [`Stream::geometric`] for the probability `p` of success: 32
/// binary places, rounded to the nearest. 0 for `p` = 1, which has no failures, and [`u64::MAX`]
/// for 0, which has no success.
///
/// # Errors
/// [`RandomError::Probability`] if `p` is not in 0 ..= 1, [`RandomError::TooRare`] between 0 and
/// 2^-31.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 2^63")]
pub fn geometric_scale(p: f64) -> Result<u64, RandomError> {
    if !(0.0..=1.0).contains(&p) {
        return Err(RandomError::Probability { p });
    }
    match p {
        0.0 => Ok(u64::MAX),
        p if p < 2f64.powi(-31) => Err(RandomError::TooRare { p }),
        p => Ok((-2f64.powi(32) / (-p).ln_1p()).round() as u64),
    }
}

/// `mean` in the form of [`Stream::poisson`]: 32 binary places, rounded to the nearest.
///
/// # Errors
/// [`RandomError::PoissonMean`] if `mean` is not in 0 ..= 256.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^40")]
pub fn poisson_mean(mean: f64) -> Result<u64, RandomError> {
    match (0.0..=256.0).contains(&mean) {
        true => Ok((mean * 2f64.powi(32)).round() as u64),
        false => Err(RandomError::PoissonMean { mean }),
    }
}

/// A standard normal variate in units of 2^-28, from a word that was drawn before: the quantile of
/// (2 `word` + 1) / 2^33.
///
/// It is within 8.9e-9 (2^-26.7) of the exact quantile, measured at every fifth word. It grows with
/// the word, except for that error, and `!word` gives exactly the negative of `word`. It lies
/// between -6.338 and 6.338: each missing tail has the probability 2^-33.
///
/// The quantile is a smooth function of the exponential variate -ln(probability of the tail). In
/// each octave of that variate, it is a polynomial of degree 9 with alternating signs. WGSL:
/// `normal_unit`.
#[expect(clippy::cast_possible_wrap, reason = "constant coefficients are signed numbers, the rest is small")]
pub fn normal_unit(word: u32) -> i32 {
    /// Coefficients by the octave of the exponential variate. The constant comes first, in units of
    /// 2^-28; the others are in units of 2^-30 and have alternating signs.
    const OCTAVES: [[u32; 10]; 6] = [
        // 16 to 23
        [
            0x52d6_63bf,
            0xbf1b_c779,
            0x339b_b7c0,
            0x1b58_31a2,
            0x11ea_9040,
            0x0d01_96e6,
            0x09cf_abb9,
            0x06f9_b888,
            0x03e0_22b7,
            0x0128_ac55,
        ],
        // 8 to 16
        [
            0x366b_48ff,
            0x8bf4_64d4,
            0x2758_aaa5,
            0x1557_e902,
            0x0e14_5816,
            0x09d1_4a9c,
            0x065d_c28c,
            0x034a_81ab,
            0x011f_42ac,
            0x002e_58dd,
        ],
        // 4 to 8
        [
            0x2170_068a,
            0x685c_4f22,
            0x1ee6_8fb2,
            0x1139_dfd7,
            0x0b8f_5377,
            0x0826_cfa0,
            0x0552_cede,
            0x02c3_7d8c,
            0x00f1_d393,
            0x0027_1346,
        ],
        // 2 to 4
        [
            0x119f_d30d,
            0x4fa6_6161,
            0x190d_b8c6,
            0x0e59_3fac,
            0x09c7_8d36,
            0x06f6_958e,
            0x0493_1018,
            0x0262_1439,
            0x00d0_f508,
            0x0021_ce3c,
        ],
        // 1 to 2
        [
            0x0566_4c26,
            0x3e79_96ac,
            0x14f2_1771,
            0x0c49_d7cc,
            0x087c_10af,
            0x0616_c70b,
            0x0404_efda,
            0x0219_8adc,
            0x00b8_6a15,
            0x001d_dd46,
        ],
        // ln 2 to 1
        [
            0xfbac_ec7c,
            0x3274_70ab,
            0x11f1_c793,
            0x0a90_9de6,
            0x06f1_c71e,
            0x0462_6972,
            0x0259_4834,
            0x00f1_c6d8,
            0x003e_937e,
            0x0007_aa30,
        ],
    ];
    let e = exponential_unit(word.min(!word));
    // The variate is between ln 2 and 23 and has 59 binary places.
    let octave = e.leading_zeros();
    let x = (e << (octave + 1) >> 32) as u32;
    let [constant, coefficients @ ..] = &OCTAVES[octave as usize];
    let sum = coefficients.iter().rev().copied().reduce(|sum, c| c - mul_wide(sum, x)[1]).unwrap_or_default();
    let quantile = (*constant as i32 + ((mul_wide(sum, x)[1] + 2) >> 2) as i32).max(0);
    if word < 1 << 31 { -quantile } else { quantile }
}

/// `sigma` / ln 2 with 28 binary places, rounded to the nearest: the spread of
/// [`Stream::lognormal`]. `sigma` is the standard deviation of the variate's natural logarithm. For
/// a mean and a standard deviation of the variate itself, with the quotient c = deviation / mean:
/// sigma = sqrt(ln(1 + c²)) and median = mean / sqrt(1 + c²).
///
/// # Errors
/// [`RandomError::Spread`] if `sigma` is not in 0 ..= 11.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
pub fn lognormal_spread(sigma: f64) -> Result<u32, RandomError> {
    match (0.0..=11.0).contains(&sigma) {
        true => Ok((sigma / std::f64::consts::LN_2 * 2f64.powi(28)).round() as u32),
        false => Err(RandomError::Spread { sigma }),
    }
}

/// 2^(`x` / 2^32) in units of 2^-31, for a fraction `x`.
fn exp2_fraction(x: u32) -> u32 {
    /// A polynomial without its constant 1, in units of 2^-31.
    const COEFFICIENTS: [u32; 7] =
        [0x58b9_0bfd, 0x1ebf_bdae, 0x071a_c671, 0x013b_148c, 0x002b_e9b7, 0x0004_c0fa, 0x0000_b0a7];
    let sum = COEFFICIENTS.iter().rev().copied().reduce(|sum, c| c + mul_wide(sum, x)[1]).unwrap_or_default();
    (1 << 31) + mul_wide(sum, x)[1]
}

/// `time` × 2^(`exponent` / 2^56), rounded down; [`Ticks::NEVER`] if it does not fit, and for
/// [`Ticks::NEVER`].
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the exponent is cut on purpose")]
fn times_exp2(time: Ticks, exponent: i64) -> Ticks {
    if time == Ticks::NEVER {
        return Ticks::NEVER;
    }
    let factor = exp2_fraction((exponent >> 24) as u32);
    let product = u128::from(time.get()) * u128::from(factor);
    // The factor has 31 binary places; the product has 96 bits.
    let right = 31 - (exponent >> 56) as i32;
    let ticks = match right.unsigned_abs() {
        _ if product == 0 => 0,
        right_by if right >= 0 => product.checked_shr(right_by).unwrap_or(0),
        left if left < product.leading_zeros() => product << left,
        _ => u128::MAX,
    };
    u64::try_from(ticks).map_or(Ticks::NEVER, Ticks::new)
}

/// 1 / `shape` with 30 binary places, rounded to the nearest: the power of [`Stream::weibull`].
///
/// # Errors
/// [`RandomError::Shape`] if `shape` is not in 0.3 ..= 1000.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
pub fn weibull_power(shape: f64) -> Result<u32, RandomError> {
    match (0.3..=1000.0).contains(&shape) {
        true => Ok((2f64.powi(30) / shape).round() as u32),
        false => Err(RandomError::Shape { shape }),
    }
}

/// The binary logarithm of `e`, which has 59 binary places like [`exponential_unit`]. In units of
/// 2^-25, within 0.55 units; for 0 the logarithm of 2^-59. WGSL: `log2_unit`.
#[expect(
    clippy::cast_possible_wrap,
    reason = "leading zeros are at most 63, and the shifted sum has 26 bits"
)]
pub fn log2_unit(e: u64) -> i32 {
    /// A polynomial of alternating signs without a constant, in units of 2^-31.
    const COEFFICIENTS: [u32; 11] = [
        0xb8aa_3b1b,
        0x5c55_160d,
        0x3d8d_3459,
        0x2e1f_3a9f,
        0x249d_6ab5,
        0x1d5a_b737,
        0x1621_49c9,
        0x0e2d_9070,
        0x06d3_4c6e,
        0x021a_a9f9,
        0x004d_d1ec,
    ];
    let e = e.max(1);
    let leading = e.leading_zeros();
    let x = ((e << leading << 1) >> 32) as u32;
    let sum = COEFFICIENTS.iter().rev().copied().reduce(|sum, c| c - mul_wide(sum, x)[1]).unwrap_or_default();
    (4 - leading as i32) * (1 << 25) + ((mul_wide(sum, x)[1] + 32) >> 6) as i32
}

/// (`a` × `b`) / 2^`shift`, or [`Ticks::NEVER`].
fn scaled(a: u64, b: u64, shift: u32) -> Ticks {
    let product = u128::from(a) * u128::from(b);
    u64::try_from(product >> shift).map_or(Ticks::NEVER, Ticks::new)
}

impl Stream {
    /// True with the probability `p` / 2^32, or always if `p` = [`u32::MAX`]. So 0 and 1 are exact,
    /// and 1 - 2^-32 is the only probability that `p` cannot represent. [`probability`] converts a
    /// fraction to `p`.
    ///
    /// Uses one draw. WGSL: `draw_bernoulli`.
    pub fn bernoulli(&mut self, p: u32) -> bool {
        self.draw() < p || p == u32::MAX
    }

    /// A time in `low` .. `high`, without `high`; `low` if the two are the same, and
    /// [`Ticks::NEVER`] if `high` is before `low`.
    ///
    /// The upper 64 bits of (96 random bits) × (`high` - `low`): no loop, and a larger word gives a
    /// larger variate. Each tick's probability is off by a fraction below 2^-32 of itself, and
    /// below 2^-64 if the span is below 2^32 ticks. Uses three draws. WGSL: `draw_uniform`.
    pub fn uniform(&mut self, low: Ticks, high: Ticks) -> Ticks {
        let [a, b, c] = [(); 3].map(|()| self.draw());
        let Some(span) = high.get().checked_sub(low.get()) else {
            return Ticks::NEVER;
        };
        let lower = (u128::from(u64::from(b) << 32 | u64::from(c)) * u128::from(span)) >> 64;
        let upper = (u128::from(a) * u128::from(span) + lower) >> 32;
        u64::try_from(upper).map_or(Ticks::NEVER, |offset| low.saturating_add(Ticks::new(offset)))
    }

    /// An exponential variate of the mean `first` with the probability `p` / 2^32 (as in
    /// [`bernoulli`](Self::bernoulli)), otherwise of the mean `second`.
    ///
    /// It is as exact as [`exponential`](Self::exponential). Uses two draws. WGSL:
    /// `draw_hyperexponential`.
    pub fn hyperexponential(&mut self, p: u32, first: Ticks, second: Ticks) -> Ticks {
        let mean = if self.bernoulli(p) { first } else { second };
        self.exponential(mean)
    }

    /// An exponential variate of mean 1 in units of 2^-48: the sum of 2849 variates fits 64 bits.
    fn unit_48(&mut self) -> u64 {
        exponential_unit(self.draw()) >> 11
    }

    /// The sum of `stages` exponential variates of the mean `mean` each, rounded down to the tick
    /// once: half a tick below `stages` × `mean` on average. [`Ticks::ZERO`] for no stages.
    ///
    /// [`Ticks::NEVER`] if the sum does not fit 64 bits, for the mean [`Ticks::NEVER`], and for
    /// more than 2048 stages, which draw nothing. Otherwise it uses one draw per stage, and each
    /// stage costs as much as an exponential variate.
    ///
    /// The mean is exact to a fraction of 1e-10. The distribution function, without the rounding,
    /// is exact to 5.6e-10 × `stages`: each stage adds the error of [`exponential_unit`] (2^-33 for
    /// the grid of its words, 1.17e-9 / e for its rounding). WGSL: `draw_erlang`.
    pub fn erlang(&mut self, stages: u32, mean: Ticks) -> Ticks {
        if stages > 2048 {
            return Ticks::NEVER;
        }
        let sum = (0..stages).map(|_| self.unit_48()).sum();
        if mean == Ticks::NEVER { Ticks::NEVER } else { scaled(sum, mean.get(), 48) }
    }

    /// The number of failures before the first success. `scale` is -1 / ln(1 - p) with 32 binary
    /// places, for the probability p of success: [`geometric_scale`] computes it.
    ///
    /// An exponential variate of mean 1 times the scale, rounded down. [`u32::MAX`] if it does not
    /// fit a word, and for a scale of [`u64::MAX`] (p = 0). The measured error of the distribution
    /// function is at most 2.4e-10: eleven probabilities, a thousand counts each. Uses one draw.
    /// WGSL: `draw_geometric`.
    pub fn geometric(&mut self, scale: u64) -> u32 {
        let unit = exponential_unit(self.draw());
        match scale {
            u64::MAX => u32::MAX,
            _ => u32::try_from(scaled(unit, scale, 59 + 32).get()).unwrap_or(u32::MAX),
        }
    }

    /// A triangular variate: from `low`, most often near `mode`, to before `high`; `low` if all
    /// three are the same. [`Ticks::NEVER`] if the three are not in order.
    ///
    /// Rounded down to the tick: half a tick below (`low` + `mode` + `high`) / 3 on average. It
    /// uses two words, and each represents the middle of an interval of 2^-32. So it is within
    /// (`high` - `low`) / 2^33 and a tick of an exact variate. Uses two draws and no square root:
    /// `shaders/random/distributions.wgsl` explains the method. WGSL: `draw_triangular`.
    pub fn triangular(&mut self, low: Ticks, mode: Ticks, high: Ticks) -> Ticks {
        let [a, b] = [(); 2].map(|()| self.draw());
        if mode < low || high < mode {
            return Ticks::NEVER;
        }
        let [up, down] = [mode.get() - low.get(), high.get() - mode.get()];
        let middle = (high.get() - low.get()) / 2;
        let offset = u128::from(up) * u128::from(a.max(b))
            + u128::from(down) * u128::from(a.min(b))
            + u128::from(middle);
        u64::try_from(offset >> 32).map_or(Ticks::NEVER, |offset| low.saturating_add(Ticks::new(offset)))
    }

    /// The number of events of a Poisson process in a time with `mean` expected events. `mean` has
    /// 32 binary places ([`poisson_mean`] computes it) and is at most 256; a larger mean gives
    /// [`u32::MAX`] and draws nothing. A sum of Poisson variates is a Poisson variate of the sum of
    /// their means.
    ///
    /// Counts the exponential variates that fit into the mean, so it uses one draw more than the
    /// result. (If one mean is used often, an [`AliasTable`](super::AliasTable) of the
    /// probabilities needs two draws.) The probability of at most k events is off by at most
    /// 5.6e-10 × (k + 1), as for an [`erlang`](Self::erlang) variate of k + 1 stages. The loop ends
    /// at 1024; larger results have a probability below 1e-300. WGSL: `draw_poisson`.
    pub fn poisson(&mut self, mean: u64) -> u32 {
        if mean > 256 << 32 {
            return u32::MAX;
        }
        let end = mean << 16;
        let mut sum = 0;
        for count in 0..1024 {
            sum += self.unit_48();
            if sum > end {
                return count;
            }
        }
        1024
    }

    /// A normal variate of the given mean and standard deviation, rounded to the nearest tick.
    /// There is no time before 0: a negative variate becomes [`Ticks::ZERO`]. Models with a mean of
    /// only a few deviations need care.
    ///
    /// [`Ticks::NEVER`] if it does not fit 64 bits, and for a mean or a deviation of
    /// [`Ticks::NEVER`]. Uses one draw, and a complemented stream gives the variate on the other
    /// side of the mean. [`normal_unit`] states its accuracy and the ends of its tails. WGSL:
    /// `draw_normal`.
    pub fn normal(&mut self, mean: Ticks, deviation: Ticks) -> Ticks {
        normal_of(self.draw(), mean, deviation)
    }

    /// A lognormal variate, rounded down to the tick: `median` × e^(sigma z), for a standard normal
    /// z. `spread` is sigma / ln 2 with 28 binary places: [`lognormal_spread`] computes it from
    /// sigma, or from a mean and a standard deviation.
    ///
    /// Without the rounding to ticks, the quantiles are exact to a fraction of 1.4e-8 × (0.1 +
    /// sigma), measured for sigma from 0.01 to 4. [`Ticks::NEVER`] if it does not fit 64 bits, and
    /// for the median [`Ticks::NEVER`]. Uses one draw. WGSL: `draw_lognormal`.
    pub fn lognormal(&mut self, median: Ticks, spread: u32) -> Ticks {
        lognormal_of(self.draw(), median, spread)
    }

    /// A Weibull variate, rounded down to the tick: `scale` × e^`power`, for an exponential variate
    /// e of mean 1. `power` is 1 / shape with 30 binary places ([`weibull_power`] computes it), at
    /// most 3.75.
    ///
    /// Without the rounding to ticks, the quantiles are exact to a fraction of 1.2e-8 × (0.1 + 1 /
    /// shape), measured for shapes from 0.3 to 20. [`Ticks::NEVER`] for a larger power, if the
    /// variate does not fit 64 bits, and for the scale [`Ticks::NEVER`]. Uses one draw. WGSL:
    /// `draw_weibull`.
    pub fn weibull(&mut self, scale: Ticks, power: u32) -> Ticks {
        weibull_of(self.draw(), scale, power)
    }
}

/// The variate of [`Stream::normal`] for a word. It grows with the word, except for the error of
/// [`normal_unit`]. WGSL: `normal_of`.
pub fn normal_of(word: u32, mean: Ticks, deviation: Ticks) -> Ticks {
    let z = normal_unit(word);
    if mean == Ticks::NEVER || deviation == Ticks::NEVER {
        return Ticks::NEVER;
    }
    let distance = (u128::from(z.unsigned_abs()) * u128::from(deviation.get()) + (1 << 27)) >> 28;
    match u64::try_from(distance) {
        Ok(distance) if z < 0 => Ticks::new(mean.get().saturating_sub(distance)),
        Err(_) if z < 0 => Ticks::ZERO,
        Ok(distance) => mean.saturating_add(Ticks::new(distance)),
        Err(_) => Ticks::NEVER,
    }
}

/// The variate of [`Stream::lognormal`] for a word. It grows with the word, except for the error of
/// [`normal_unit`]. WGSL: `lognormal_of`.
pub fn lognormal_of(word: u32, median: Ticks, spread: u32) -> Ticks {
    times_exp2(median, i64::from(normal_unit(word)) * i64::from(spread))
}

/// The variate of [`Stream::weibull`] for a word: a larger word gives a smaller variate. WGSL:
/// `weibull_of`.
pub fn weibull_of(word: u32, scale: Ticks, power: u32) -> Ticks {
    let logarithm = log2_unit(exponential_unit(word));
    if power > 0xf000_0000 {
        return Ticks::NEVER;
    }
    // The product has 25 + 30 binary places and gains one more; it is below 33 * 3.75.
    times_exp2(scale, i64::from(logarithm) * i64::from(power) * 2)
}

/// The first and the last word for the part of a distribution between two probabilities: the
/// arguments of [`Stream::word`] for truncated variates. Normal and lognormal variates grow with
/// the word, so the probabilities are those of a smaller variate. Exponential and Weibull variates
/// fall with it, so the probabilities are those of a larger one.
///
/// ```
/// use eventhorizon::random::{Stream, exponential_of, words_between};
/// use eventhorizon::time::Ticks;
///
/// // Exponential with a mean of 1000 ticks, but never longer than 3000.
/// let [low, high] = words_between((-3.0_f64).exp(), 1.0)?;
/// let mut stream = Stream::new(1, 2, 3);
/// let service = exponential_of(stream.word(low, high), Ticks::new(1000));
/// assert!(service <= Ticks::new(3000));
/// # Ok::<(), eventhorizon::random::RandomError>(())
/// ```
///
/// # Errors
/// [`RandomError::Probability`] if one is not in 0 ..= 1, [`RandomError::Narrow`] if less than 2^16
/// words lie between them: a part with a probability below 2^-16 has too few variates to resemble
/// the distribution.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 2^32")]
pub fn words_between(lower: f64, upper: f64) -> Result<[u32; 2], RandomError> {
    if let Some(&p) = [lower, upper].iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(RandomError::Probability { p });
    }
    // Word w represents the probability (w + 1/2) / 2^32.
    let place = |p: f64| p * 2f64.powi(32) - 0.5;
    let (first, end) = (place(lower).ceil().max(0.0) as u64, (place(upper).floor() + 1.0) as u64);
    match end.saturating_sub(first) {
        0..0x1_0000 => Err(RandomError::Narrow { lower, upper }),
        _ => Ok([first as u32, (end - 1) as u32]),
    }
}
