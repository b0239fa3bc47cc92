//! Uniform integers and exponential times: the twin of the first part of
//! `shaders/random/distributions.wgsl`.

use std::sync::LazyLock;

use super::{Stream, mul_wide, words};
use crate::time::Ticks;

impl Stream {
    /// An unbiased integer in `0..n`; 0 where `n` is 0.
    ///
    /// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019: the high
    /// word of word × `n`, drawn again while the low word is among the 2^32 mod `n` that some
    /// results have in excess. So it uses one draw, and with a probability below `n` / 2^32 more.
    /// The 64th is taken as it is, so that the loop on the GPU has a bound: a bias below 2^-64.
    /// WGSL: `draw_below`.
    pub fn below(&mut self, n: u32) -> u32 {
        let mut tries = 0;
        loop {
            let [low, high] = mul_wide(self.draw(), n);
            tries += 1;
            if low >= n || low >= n.wrapping_neg() % n || tries == 64 {
                return high;
            }
        }
    }

    /// An exponential variate of the given mean, rounded down to the tick: half a tick below the
    /// mean on average, and [`Ticks::ZERO`] at times where the mean is short.
    ///
    /// [`Ticks::NEVER`] where it does not fit 64 bits, and for the mean [`Ticks::NEVER`] (a rate of
    /// zero). Uses one draw. [`exponential_unit`] tells how exact it is and where its tail ends.
    /// WGSL: `draw_exponential`.
    pub fn exponential(&mut self, mean: Ticks) -> Ticks {
        exponential_of(self.draw(), mean)
    }

    /// A word in `low ..= high`; `low` where `high` is below. What [`exponential_of`] and its kin
    /// make of it is a truncated variate: [`words_between`](super::words_between). Uses one draw,
    /// with rare exceptions more, as [`Stream::below`] does, and none where the two words are the
    /// same. WGSL: `draw_word`.
    pub fn word(&mut self, low: u32, high: u32) -> u32 {
        match high.saturating_sub(low) {
            0 => low,
            u32::MAX => self.draw(),
            span => low + self.below(span + 1),
        }
    }
}

/// The variate of [`Stream::exponential`] that a word stands for: a smaller one for a larger word.
/// WGSL: `exponential_of`.
pub fn exponential_of(word: u32, mean: Ticks) -> Ticks {
    if mean == Ticks::NEVER {
        return Ticks::NEVER;
    }
    let ticks = (u128::from(exponential_unit(word)) * u128::from(mean.get())) >> 59;
    u64::try_from(ticks).map_or(Ticks::NEVER, Ticks::new)
}

/// [`Stream::exponential`] for a mean of at most 2^27 ticks, from a word that was drawn before: the
/// same ticks, and they fit a word, because no variate is as long as 23 means. WGSL:
/// `exponential_short`.
///
/// # Panics
/// If the mean is longer.
pub fn exponential_short(word: u32, mean: u32) -> u32 {
    assert!(mean <= 1 << 27, "a mean of {mean} ticks is longer than 2^27");
    let ticks = (u128::from(exponential_unit(word)) * u128::from(mean)) >> 59;
    u32::try_from(ticks).expect("23 * 2^27 is below 2^32")
}

/// About the ticks of [`exponential_short`], for a mean below 2^27 ticks: by a table of 1,024
/// chords of the logarithm, which costs a GPU 17 instructions instead of 89.
///
/// Over all 2^32 words, the largest error is 8.8e-8 of a mean, and the mean is 1 - 2.4e-9 (`cargo
/// run --release -p eventhorizon-bench -- exponential-error` measures both): it takes 1e17 draws to
/// see that in a mean, and 1e10 to see the chords in a histogram whose bins are theirs. WGSL:
/// `exponential_tabled` with `// import: random/exponential_table.wgsl`, for models of
/// [`replication`](crate::replication).
///
/// # Panics
/// If the mean is longer.
pub fn exponential_tabled(word: u32, mean: u32) -> u32 {
    /// ln 2 in units of 2^-27.
    const LN_2: u32 = 93_032_640;
    assert!(mean < 1 << 27, "a mean of {mean} ticks is not below 2^27");
    let n = word.leading_zeros();
    let s = (!(word << 1)).wrapping_shl(n);
    let [offset, slope] = exponential_chords()[(s >> 22) as usize];
    let unit = (n * LN_2).wrapping_add(offset).wrapping_add(high(s, slope));
    high(unit, mean << 5)
}

/// The table of [`exponential_tabled`]: offset and slope of 1,024 chords, which the device is given
/// in the buffer `exponential_given`.
pub fn exponential_chords() -> &'static [[u32; 2]] {
    static CHORDS: LazyLock<Vec<[u32; 2]>> = LazyLock::new(|| (0..1024).map(chord).collect());
    &CHORDS
}

/// The chord of -ln(1 - s) between s = 2^22 `i` + 1 and 2^22 (`i` + 1) - 1 in units of 2^-33, as
/// offset and slope * 2^32 in units of 2^-27.
fn chord(i: u32) -> [u32; 2] {
    // Of the words of which exponential_unit makes both ends and the middle.
    let begin = exponential_unit(!(i << 21));
    let middle = exponential_unit(!((i << 21) + (1 << 20)));
    let end = exponential_unit(!((i + 1) << 21) + 1);
    // Divided by 2^22 - 2 to the nearest.
    let rise = end - begin;
    let slope = (rise + (rise >> 21) + (1 << 21)) >> 22;
    // The chord lies above the curve, on average by two thirds of that in the middle. (Not of the
    // first: no variate is below 0.)
    let excess = begin + (slope << 21) - middle;
    let lower = if i == 0 { 0 } else { ((excess >> 6) * 43691) >> 10 };
    let offset = begin.wrapping_sub(slope * ((u64::from(i) << 22) + 1)).wrapping_sub(lower);
    let ([_, offset], [slope, _]) = (words(offset), words(slope));
    // For what is cut off here and where the chord is used: half a unit each.
    [offset.wrapping_add(1), slope]
}

/// The upper half of a product.
fn high(a: u32, b: u32) -> u32 {
    words(u64::from(a) * u64::from(b))[1]
}

/// -ln(u) for u = (2 `word` + 1) / 2^33, in units of 2^-59: an exponential variate of mean 1.
///
/// Over all 2^32 words, against `f64`: the largest relative error is 1.17e-9 (2^-29.67), at the
/// word `0xf0f2300b`, and the mean is 1 - 7.5e-11 (`cargo run --release -p eventhorizon-bench --
/// exponential-error` measures both). The variate lies between 2^-33 and 33 ln 2 = 22.87: the tail
/// that is cut off has the probability 2^-33.
///
/// With u = (1 - s) / 2^n and s at most 1/2, -ln(u) = n ln 2 - ln(1 - s). Then 1 - s is multiplied
/// by 3/2, 5/4, 9/8 and 17/16, each where the product stays below 1; so s falls below 1/17, where a
/// polynomial of degree 5 suffices. The arithmetic is for GPUs that multiply 32 bits by 32 bits, of
/// which this is a plain 64-bit reading. WGSL: `exponential_unit`.
pub fn exponential_unit(word: u32) -> u64 {
    /// ln 2 in units of 2^-59, to 48 bits.
    const LN_2: u64 = 0x058b_90bf_be8e_0000;
    /// ln(1 + 2^-k) in units of 2^-32, for k = 1, 2, 3, 4.
    const LN: [u32; 4] = [0x67cc_8fb4, 0x391f_ef8f, 0x1e27_076e, 0x0f85_1860];

    let n = word.leading_zeros();
    // s in units of 2^-33. For word 0 n is 32, the shift wraps to 0, and s comes out as 1/2 -
    // 2^-33.
    let s = (!(word << 1)).wrapping_shl(n);
    // Multiplying 1 - s by 1 + 2^-k adds s 2^-k - 2^-k to s. Where the product stays below 1, the
    // subtraction is that of the bit which falls out of the word: here in the sum, below in the
    // shift that makes the unit twice as fine.
    let (mut x, mut logarithms) = match s.overflowing_add(s >> 1) {
        (folded, true) => (folded, LN[0]),
        (_, false) => (s, 0),
    };
    for k in 2..=4 {
        let folded = x + (x >> k);
        if folded >= 1 << 31 {
            x = folded;
            logarithms += LN[k - 1];
        }
        x <<= 1;
    }
    // Now x is 16 s in units of 2^-32, and -ln(1 - s) = s (1 + h).
    let x = u64::from(x);
    let x_high = x >> 16;
    let h3 = (x_high * (0xfea6 + ((x_high * 0x0e77) >> 16))) >> 10;
    let h2 = (x * (0x0555_70a8 + h3)) >> 32;
    let h = (x * (0x7fff_fd8a + h2)) >> 36;
    u64::from(n) * LN_2 + (u64::from(logarithms) << 27) + (((x << 32) + x * h) >> 9)
}
