//! Times drawn from a table: the reference implementation of `shaders/random/table.wgsl`, whose
//! head has the form of tables, and what writes them.

use super::{AliasTable, RandomError, mul_wide};
use crate::time::Ticks;

shared! {
    "random/table.wgsl":
    const TABLE_CURVE: u32;
    const TABLE_LINE: u32;
    const TABLE_HALF: u32;
}

/// The sampler in WGSL, for texts that are checked as a model's, with its access to tables that
/// lie in `data`.
pub(crate) fn table_wgsl() -> String {
    let text = include_str!("../../shaders/random/table.wgsl");
    let body = text.find("const TABLE_CURVE").map_or(text, |at| &text[at..]);
    format!("fn law_row(row: u32) -> vec4<u32> {{ return data[row]; }}\n\n{body}")
}

/// A row of four words.
pub(crate) type Row = [u32; 4];

/// Rows of a curve.
const CURVE: usize = 2 * TABLE_HALF as usize;
/// Bits of a base in a cell of a curve, and the largest time of a curve.
const BASE_BITS: u32 = 58;
const LARGEST: f64 = (1_u64 << (BASE_BITS - 1)) as f64;

/// A part of a distribution, with times in ticks.
pub(crate) enum Part<'p> {
    /// One time.
    Value(u64),
    /// Any time from the first to before the second, with equal probability.
    Line([u64; 2]),
    /// The times that these tails have: the first function returns the times below which the
    /// probabilities of a falling list lie, the second those above which they lie.
    Curve([Tail<'p>; 2]),
}

/// The times of a falling list of probabilities.
pub(crate) type Tail<'p> = &'p dyn Fn(&[f64]) -> Vec<f64>;

/// A table of parts with their weights.
///
/// # Errors
/// As [`AliasTable::new`].
pub(crate) fn table(parts: &[(f64, Part<'_>)]) -> Result<Vec<Row>, RandomError> {
    let weights: Vec<f64> = parts.iter().map(|(weight, _)| *weight).collect();
    let alias = AliasTable::new(&weights)?;
    let mut rows: Vec<Row> = alias.words().chunks_exact(2).map(|slot| [slot[0], slot[1], 0, 0]).collect();
    for (index, (_, part)) in parts.iter().enumerate() {
        let at = u32::try_from(rows.len()).expect("a table has fewer than 2^32 rows");
        let [low, high] = match part {
            Part::Value(ticks) => {
                assert!(*ticks < 1 << 62, "a value fits 62 bits");
                Ticks::new(*ticks).to_words()
            }
            Part::Line([first, end]) => {
                let [a, b] = Ticks::new(*first).to_words();
                let [c, d] = Ticks::new(end - first).to_words();
                rows.push([a, b, c, d]);
                [at, TABLE_LINE << 30]
            }
            Part::Curve(tails) => {
                rows.extend(curve(tails));
                [at, TABLE_CURVE << 30]
            }
        };
        (rows[index][2], rows[index][3]) = (low, high);
    }
    Ok(rows)
}

/// The cells of a curve.
fn curve(tails: &[Tail<'_>; 2]) -> Vec<Row> {
    // From 1/2 down to 2^-34, with the middle of each cell.
    let mut probabilities = vec![0.5];
    for octave in 0..32 {
        for step in (0..64).rev() {
            probabilities.push(2f64.powi(-2 - octave) * (1.0 + f64::from(step) / 64.0));
        }
    }
    let mut rows = vec![[0; 4]; CURVE];
    for (half, tail) in tails.iter().enumerate() {
        let times = tail(&probabilities);
        assert_eq!(times.len(), probabilities.len(), "a time for each probability");
        for (cell, ends) in times.windows(3).step_by(2).enumerate() {
            // The middle of the time is between its ends, which numerical inverses may miss.
            let [end, middle, begin] = [ends[0], ends[1], ends[2]].map(|time| time.clamp(0.0, LARGEST));
            let (octave, step) = (cell / 32, 31 - cell % 32);
            rows[half * TABLE_HALF as usize + 32 * octave + step] =
                row((middle - begin).abs(), (end - begin).abs(), begin);
        }
    }
    rows
}

/// A cell that begins at a time, with the distances to its middle and to its end.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^58, or saturated")]
fn row(middle: f64, end: f64, begin: f64) -> Row {
    let base = begin.round() as u64;
    let shift = if end < 1.0 { 0 } else { end.log2().floor() as u32 + 1 };
    let unit = 2f64.powi(32 - shift.cast_signed());
    let rise = (end * unit) as u32;
    // A curve that stays between its ends keeps the order of times.
    let most = i64::from(rise).min(i64::from(i32::MAX));
    let bend = (((4.0 * middle - 2.0 * end) * unit) as i64).clamp(-most, most) as i32;
    let [low, high] = Ticks::new(base).to_words();
    [low, high | shift << 26, rise, bend.cast_unsigned()]
}

/// The time of two words: the first chooses a part, the second the time within it. WGSL:
/// `time_of_table`.
pub(crate) fn time_of_table(choice: u32, word: u32, parts: u32, rows: &[Row]) -> Ticks {
    let [low, slot] = mul_wide(choice, parts);
    let mut part = rows[slot as usize];
    if low >= part[0] {
        part = rows[part[1] as usize];
    }
    let [_, _, at, last] = part;
    let words = |low: u32, high: u32| Ticks::from_words([low, high]).get();
    match last >> 30 {
        0 => Ticks::from_words([at, last]),
        TABLE_LINE => {
            let [a, b, c, d] = rows[at as usize];
            let along = (u128::from(words(c, d)) * u128::from(word)) >> 32;
            let along = u64::try_from(along).expect("less than the length");
            Ticks::new(words(a, b).wrapping_add(along))
        }
        _ => {
            let above = word >> 31;
            let tail = 2 * (if above == 1 { !word } else { word }) + 1;
            let octave = tail.leading_zeros();
            let place = tail << octave;
            let cell = at + TABLE_HALF * above + 32 * octave + ((place >> 26) & 31);
            let [base, high, rise, bend] = rows[cell as usize];
            let x = place << 6;
            let bend = bend.cast_signed();
            let bent = u64::from(bend.unsigned_abs()) * u64::from(mul_wide(x, !x)[1]);
            let straight = u64::from(rise) * u64::from(x);
            let rise = if bend < 0 { straight.wrapping_sub(bent) } else { straight.wrapping_add(bent) };
            let change = rise.checked_shr(64 - (high >> 26)).unwrap_or(0);
            let base = words(base, high & 0x03ff_ffff);
            Ticks::new(if above == 1 { base.wrapping_sub(change) } else { base.wrapping_add(change) })
        }
    }
}
