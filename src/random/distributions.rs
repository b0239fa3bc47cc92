//! Uniform integers and exponential times: the reference implementation of the first part of
//! `shaders/random/distributions.wgsl`.

use std::sync::LazyLock;

use super::{Stream, mul_wide, words};
use crate::time::Ticks;

impl Stream {
    /// An unbiased integer in `0..n`; 0 if `n` is 0.
    ///
    /// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019: the result
    /// is the high word of word × `n`. A word is drawn again while the low word is among the 2^32
    /// mod `n` that would favour some results. So it uses one draw, and more with a probability
    /// below `n` / 2^32. The 64th word is accepted as it is, which bounds the loop on the GPU: a
    /// bias below 2^-64. WGSL: `draw_below`.
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
    /// mean on average, and sometimes [`Ticks::ZERO`] if the mean is short.
    ///
    /// [`Ticks::NEVER`] if it does not fit 64 bits, and for the mean [`Ticks::NEVER`] (a rate of
    /// zero). Uses one draw. [`exponential_unit`] states its accuracy and the end of its tail.
    /// WGSL: `draw_exponential`.
    pub fn exponential(&mut self, mean: Ticks) -> Ticks {
        exponential_of(self.draw(), mean)
    }

    /// A word in `low ..= high`; `low` if `high` is smaller. [`exponential_of`] and similar
    /// functions turn it into a truncated variate: see [`words_between`](super::words_between).
    /// Uses one draw, rarely more, as [`Stream::below`] does, and no draw if the two words are the
    /// same. WGSL: `draw_word`.
    pub fn word(&mut self, low: u32, high: u32) -> u32 {
        match high.saturating_sub(low) {
            0 => low,
            u32::MAX => self.draw(),
            span => low + self.below(span + 1),
        }
    }
}

/// The variate of [`Stream::exponential`] for a word: a larger word gives a smaller variate. WGSL:
/// `exponential_of`.
pub fn exponential_of(word: u32, mean: Ticks) -> Ticks {
    if mean == Ticks::NEVER {
        return Ticks::NEVER;
    }
    let ticks = (u128::from(exponential_unit(word)) * u128::from(mean.get())) >> 59;
    u64::try_from(ticks).map_or(Ticks::NEVER, Ticks::new)
}

/// [`Stream::exponential`] for a mean of at most 2^27 ticks, from a word that was drawn before. The
/// ticks are the same, and they fit a word, because every variate is below 23 means. WGSL:
/// `exponential_short`.
///
/// # Panics
/// If the mean is longer.
pub fn exponential_short(word: u32, mean: u32) -> u32 {
    assert!(mean <= 1 << 27, "a mean of {mean} ticks is longer than 2^27");
    let ticks = (u128::from(exponential_unit(word)) * u128::from(mean)) >> 59;
    u32::try_from(ticks).expect("23 * 2^27 is below 2^32")
}

/// Approximates [`exponential_short`], for a mean below 2^27 ticks, with a table of 1,024 chords of
/// the logarithm. It costs a GPU 17 instructions instead of 89.
///
/// Over all 2^32 words, the largest error is 8.8e-8 of a mean, and the mean is 1 - 2.4e-9 (`cargo
/// run --release -p eventhorizon-bench -- exponential-error` computes both). A mean shows the error
/// after 1e17 draws; a histogram whose bins are the chords shows it after 1e10. WGSL:
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

/// The table of [`exponential_tabled`]: offset and slope of 1,024 chords. The device reads it from
/// the buffer `exponential_given`.
pub fn exponential_chords() -> &'static [[u32; 2]] {
    static CHORDS: LazyLock<Vec<[u32; 2]>> = LazyLock::new(|| (0..1024).map(chord).collect());
    &CHORDS
}

/// The chord of -ln(1 - s) between s = 2^22 `i` + 1 and 2^22 (`i` + 1) - 1 in units of 2^-33, as
/// offset and slope * 2^32 in units of 2^-27.
fn chord(i: u32) -> [u32; 2] {
    // From the words for which exponential_unit gives both ends and the middle.
    let begin = exponential_unit(!(i << 21));
    let middle = exponential_unit(!((i << 21) + (1 << 20)));
    let end = exponential_unit(!((i + 1) << 21) + 1);
    // Divided by 2^22 - 2, rounded to the nearest.
    let rise = end - begin;
    let slope = (rise + (rise >> 21) + (1 << 21)) >> 22;
    // The chord lies above the curve, on average by two thirds of its excess in the middle. The
    // first chord is not shifted: no variate is below 0.
    let excess = begin + (slope << 21) - middle;
    let lower = if i == 0 { 0 } else { ((excess >> 6) * 43691) >> 10 };
    let offset = begin.wrapping_sub(slope * ((u64::from(i) << 22) + 1)).wrapping_sub(lower);
    let ([_, offset], [slope, _]) = (words(offset), words(slope));
    // Compensates the two roundings down, here and in the use of the chord: half a unit each.
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
/// exponential-error` computes both). The variate lies between 2^-33 and 33 ln 2 = 22.87: the
/// missing tail has the probability 2^-33.
///
/// With u = (1 - s) / 2^n and s at most 1/2, -ln(u) = n ln 2 - ln(1 - s). Then 1 - s is multiplied
/// by each of 3/2, 5/4, 9/8 and 17/16 if the product stays below 1. So s falls below 1/17, where a
/// polynomial of degree 5 suffices. The arithmetic is written for GPUs that multiply 32 bits by 32
/// bits; this is the same in 64 bits. WGSL: `exponential_unit`.
pub fn exponential_unit(word: u32) -> u64 {
    /// ln 2 in units of 2^-59, to 48 bits.
    const LN_2: u64 = 0x058b_90bf_be8e_0000;
    /// ln(1 + 2^-k) in units of 2^-32, for k = 1, 2, 3, 4.
    const LN: [u32; 4] = [0x67cc_8fb4, 0x391f_ef8f, 0x1e27_076e, 0x0f85_1860];

    let n = word.leading_zeros();
    // s in units of 2^-33. For word 0, n is 32, the shift wraps to 0, and s is 1/2 - 2^-33.
    let s = (!(word << 1)).wrapping_shl(n);
    // Multiplying 1 - s by 1 + 2^-k adds s 2^-k - 2^-k to s. If the product stays below 1, the bit
    // that overflows the word is the subtraction: here in the sum, below in the shift that halves
    // the unit.
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
