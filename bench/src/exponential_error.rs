//! Compares the integer exponential variates with `f64` for every one of the 2^32 random words.
//!
//! The documentation of `random::exponential_unit` and `random::exponential_tabled` quotes the
//! output.

use std::io::{Write as _, stdout};

use clap::Args as ClapArgs;
use eventhorizon::random::{exponential_tabled, exponential_unit};
use rayon::prelude::*;

use crate::shared::Outcome;

/// Measure the errors of the integer exponential variates against f64, for every one of the 2^32
/// random words
///
/// Prints the largest errors and the means. Takes about a minute of CPU time. Needs no adapter.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  cargo run --release -p eventhorizon-bench -- exponential-error")]
pub(crate) struct Args {}

/// -ln((2 word + 1) / 2^33), to the precision of an `f64`.
fn exact(word: u32) -> f64 {
    let v = 2.0 * f64::from(word) + 1.0;
    let half = 2f64.powi(32);
    // Near u = 1 the logarithm needs the exact distance from 1.
    if v < half { -(v / (2.0 * half)).ln() } else { -((v - 2.0 * half) / (2.0 * half)).ln_1p() }
}

#[allow(clippy::cast_precision_loss, reason = "an f64 holds 53 bits, the error is near bit 29")]
pub(crate) fn run(_: &Args) -> Outcome<()> {
    let unit = 2f64.powi(-59);
    let blocks = (0..1u32 << 12).into_par_iter().map(|block| {
        let mut worst = (0.0f64, 0);
        let mut sum = 0u128;
        for word in (block << 20)..=(block << 20 | 0xf_ffff) {
            let value = exponential_unit(word);
            let expected = exact(word);
            let error = (value as f64 * unit - expected).abs() / expected;
            if error > worst.0 {
                worst = (error, word);
            }
            sum += u128::from(value);
        }
        (worst, sum)
    });
    let (worst, sum) =
        blocks.reduce(|| ((0.0, 0), 0), |a, b| (if b.0.0 > a.0.0 { b.0 } else { a.0 }, a.1 + b.1));
    writeln!(stdout(), "words                    4294967296")?;
    writeln!(
        stdout(),
        "largest relative error   {:.4e} (2^{:.2}) at word {:#010x}",
        worst.0,
        worst.0.log2(),
        worst.1
    )?;
    writeln!(stdout(), "mean                     1 - {:.3e}", 1.0 - sum as f64 * unit * 2f64.powi(-32))?;
    writeln!(
        stdout(),
        "smallest                 2^{:.4}",
        (exponential_unit(u32::MAX) as f64 * unit).log2()
    )?;
    writeln!(stdout(), "largest                  {:.6}", exponential_unit(0) as f64 * unit)?;

    // A mean so long that ticks are as fine as the table.
    let mean = (1 << 27) - 1;
    let blocks = (0..1u32 << 12).into_par_iter().map(|block| {
        let words = (block << 20)..=(block << 20 | 0xf_ffff);
        words.fold((0.0f64, 0.0), |(worst, sum), word| {
            let error = f64::from(exponential_tabled(word, mean)) / f64::from(mean) - exact(word);
            (worst.max(error.abs()), sum + error)
        })
    });
    let (worst, sum) = blocks.reduce(|| (0.0, 0.0), |a, b| (a.0.max(b.0), a.1 + b.1));
    writeln!(stdout(), "\nby the table of chords")?;
    writeln!(stdout(), "largest error            {worst:.4e} means")?;
    writeln!(stdout(), "mean                     1 {:+.3e}", sum * 2f64.powi(-32))?;
    Ok(())
}
