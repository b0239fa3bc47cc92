//! The twin of `shaders/random/more_distributions.wgsl`.

use super::{RandomError, Stream};
use crate::time::Ticks;

/// `p` as [`Stream::bernoulli`] and [`Stream::hyperexponential`] take it: the nearest multiple of 2^-32, and
/// [`u32::MAX`] for what is nearer to 1 than to 1 - 2^-31. So it is exact at 0 and at 1, and off by at most 2^-33
/// below 1 - 2^-31, by at most 2^-32 above.
///
/// # Errors
/// [`RandomError::Probability`] where `p` is not in 0 ..= 1.
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
    // u32::MAX means 1, so a p is rounded to it only where 1 is the nearest that can be said.
    if p > 1.0 - 1.0 / top {
        return Ok(u32::MAX);
    }
    Ok((p * top).round().min(top - 2.0) as u32)
}

impl Stream {
    /// True with the probability `p` / 2^32, but for `p` = [`u32::MAX`], which is always: so both certainties are
    /// exact, and 1 - 2^-32 is the one probability that `p` cannot say. [`probability`] makes `p` from a fraction.
    ///
    /// Uses one draw. WGSL: `draw_bernoulli`.
    pub fn bernoulli(&mut self, p: u32) -> bool {
        self.draw() < p || p == u32::MAX
    }

    /// A time in `low` .. `high`, without `high`; `low` where the two are the same, and [`Ticks::NEVER`] where `high`
    /// is before `low`.
    ///
    /// The upper 64 bits of (96 random bits) × (`high` - `low`): no loop, and a larger variate for larger words.
    /// Each tick's probability is off by a fraction below 2^-32 of itself, and below 2^-64 where the span is
    /// below 2^32 ticks. Uses three draws. WGSL: `draw_uniform`.
    pub fn uniform(&mut self, low: Ticks, high: Ticks) -> Ticks {
        let [a, b, c] = [(); 3].map(|()| self.draw());
        let Some(span) = high.get().checked_sub(low.get()) else {
            return Ticks::NEVER;
        };
        let lower = u128::from(u64::from(b) << 32 | u64::from(c)) * u128::from(span) >> 64;
        let upper = (u128::from(a) * u128::from(span) + lower) >> 32;
        u64::try_from(upper).map_or(Ticks::NEVER, |offset| low.saturating_add(Ticks::new(offset)))
    }
}
