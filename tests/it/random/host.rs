//! The module `random` on the host: known answers, accuracy, goodness of fit.

mod variates;

use eventhorizon::random::{Stream, exponential_short, exponential_tabled, exponential_unit, philox4x32};
use eventhorizon::time::Ticks;
use proptest::prelude::*;
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

#[test]
fn philox_gives_the_known_answers_of_random123() {
    let vectors = include_str!("../../data/random123_kat_vectors.txt");
    let mut checked = 0;
    for line in vectors.lines() {
        let Some(hex) = line.strip_prefix("philox4x32 10 ") else { continue };
        let words: Vec<u32> = hex.split_whitespace().map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
        let (counter, key) = (words[..4].try_into().unwrap(), words[4..6].try_into().unwrap());
        assert_eq!(philox4x32(counter, key), words[6..], "{line}");
        checked += 1;
    }
    assert_eq!(checked, 3);
}

#[test]
fn a_stream_is_its_philox_blocks_in_order() {
    let mut stream = Stream::new(0x0123_4567_89ab_cdef, 7, 0xfedc_ba98_7654_3210);
    for block in 0..5 {
        let words = philox4x32([block, 7, 0x7654_3210, 0xfedc_ba98], [0x89ab_cdef, 0x0123_4567]);
        assert_eq!([0; 4].map(|_| stream.draw()), words, "block {block}");
    }
    assert_eq!(stream.position(), 20);
}

#[test]
fn a_stream_starts_again_after_2_to_the_32_draws() {
    let mut stream = Stream::new(1, 2, 3);
    stream.seek(u32::MAX);
    stream.draw();
    assert_eq!(stream.position(), 0);
    assert_eq!(stream.draw(), Stream::new(1, 2, 3).draw());
}

/// -ln((2 word + 1) / 2^33), to the precision of an `f64`.
fn exact(word: u32) -> f64 {
    let (v, one) = (2.0 * f64::from(word) + 1.0, 2f64.powi(33));
    // Near u = 1 the logarithm needs the exact distance from 1.
    if v < one / 2.0 { -(v / one).ln() } else { -((v - one) / one).ln_1p() }
}

#[allow(clippy::cast_precision_loss, reason = "an f64 holds 53 bits, the error is sought near bit 29")]
fn relative_error(word: u32) -> f64 {
    (exponential_unit(word) as f64 * 2f64.powi(-59) / exact(word) - 1.0).abs()
}

/// The bound in the documentation of `exponential_unit`. `bench exponential-error` checks every
/// word.
const LARGEST_ERROR: f64 = 1.17e-9;

/// In means, for a mean so long that ticks are as fine as the table.
fn table_error(word: u32) -> f64 {
    let mean = (1 << 27) - 1;
    f64::from(exponential_tabled(word, mean)) / f64::from(mean) - exact(word)
}

#[test]
fn exponentials_by_the_table_are_as_exact_as_documented() {
    let strided = (0..u32::MAX / 601).into_par_iter().map(|i| i * 601);
    let ends = (0..1024u32).into_par_iter().flat_map(|i| [!(i << 21), !((i + 1) << 21) + 1]);
    let last = [0, 1, u32::MAX - 1, u32::MAX].into_par_iter();
    let words = strided.clone().chain(ends).chain(last);
    assert_eq!(words.map(table_error).find_any(|error| error.abs() > 1e-7), None);
    // The midpoints of 7 million strips: far finer than the error.
    let mean = strided.map(table_error).sum::<f64>() / f64::from(u32::MAX / 601);
    assert!(mean.abs() < 3e-9, "{mean}");
}

#[test]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2^32 saturates to the last word")]
fn the_exponential_is_as_exact_as_documented() {
    let strided = (0..u32::MAX / 61).into_par_iter().map(|i| i * 61);
    assert_eq!(strided.find_any(|&word| relative_error(word) > LARGEST_ERROR), None);
    // Both ends, and around every place where the normalisation or a fold changes: 1 - s is the
    // reciprocal of a product of the factors 1 + 2^-k.
    let places = (0..1u32 << 4).map(|used| {
        (1..=4).filter(|k| used >> (k - 1) & 1 == 1).map(|k| 1.0 + 2f64.powi(-k)).product::<f64>().recip()
    });
    let edges = places.flat_map(|place| (0..=32).map(move |n| (place * 2f64.powi(n)) as u32));
    for edge in edges {
        for word in edge.saturating_sub(2000)..=edge.saturating_add(2000) {
            assert!(relative_error(word) <= LARGEST_ERROR, "{word:#x}");
        }
    }
    // The documented worst word has nearly the documented error.
    assert!(relative_error(0xf0f2_300b) > 0.998 * LARGEST_ERROR);
}

#[test]
fn the_exponential_ends_where_documented() {
    assert_eq!(exponential_unit(u32::MAX), 1 << (59 - 33));
    assert!((exact(0) - 33.0 * 2f64.ln()).abs() < 1e-12);
    for word in 0..10_000 {
        assert!(exponential_unit(word) >= exponential_unit(word + 1), "{word}");
    }
}

#[test]
fn exponential_means_at_the_ends_of_the_range() {
    let (mut stream, mut same) = (Stream::new(9, 0, 0), Stream::new(9, 0, 0));
    assert_eq!(stream.exponential(Ticks::ZERO), Ticks::ZERO);
    assert_eq!(stream.exponential(Ticks::NEVER), Ticks::NEVER);
    assert_eq!(stream.position(), 2, "one draw each, whatever the mean");
    same.seek(2);
    let mut overflows = 0;
    for _ in 0..1000 {
        let unit = u128::from(exponential_unit(same.draw()));
        let ticks = stream.exponential(Ticks::new(1 << 63));
        assert_eq!(u128::from(ticks.get()), (unit << 4).min(u128::from(u64::MAX)));
        overflows += u32::from(ticks == Ticks::NEVER);
    }
    // A share of exp(-2) of the variates is above 2 means.
    assert!((100..170).contains(&overflows), "{overflows}");
}

/// Fails where counts this far from uniform come up less than once in a thousand times.
fn assert_uniform(counts: &[u32], what: &str) {
    let total: f64 = counts.iter().copied().map(f64::from).sum();
    let cells = f64::from(u32::try_from(counts.len()).unwrap());
    let expected = total / cells;
    let statistic: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
    let p = ChiSquared::new(cells - 1.0).unwrap().sf(statistic);
    assert!(p > 1e-3, "{what}: chi-square {statistic:.1} for {cells} cells, p = {p:.2e}");
}

#[test]
fn below_is_uniform() {
    for n in [2u32, 3, 6, 7, 64, 100, 1000] {
        let mut counts = vec![0; n as usize];
        let mut stream = Stream::new(2024, n, 0);
        for _ in 0..1000 * n {
            counts[stream.below(n) as usize] += 1;
        }
        assert_uniform(&counts, &format!("below({n})"));
    }
}

#[test]
fn below_rejects_what_would_be_in_excess() {
    // Without rejection, every third value of below(3 * 2^30) would come up twice as often as the
    // others.
    let mut counts = [0; 3];
    let mut stream = Stream::new(2024, 0, 1);
    for _ in 0..30_000 {
        counts[(stream.below(3 << 30) % 3) as usize] += 1;
    }
    assert_uniform(&counts, "below(3 * 2^30) modulo 3");
    // One word in four is rejected.
    assert!((39_000..41_000).contains(&stream.position()), "{}", stream.position());
}

#[test]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bins"
)]
fn exponential_variates_are_exponential() {
    const BINS: usize = 256;
    let mean = Ticks::new(1 << 40);
    let mut stream = Stream::new(2024, 0, 2);
    let mut counts = [0; BINS];
    let (mut sum, mut squares) = (0.0, 0.0);
    let draws = 1 << 20;
    for _ in 0..draws {
        let x = stream.exponential(mean).get() as f64 / mean.get() as f64;
        sum += x;
        squares += x * x;
        counts[((-x).exp() * BINS as f64) as usize] += 1;
    }
    assert_uniform(&counts, "exp(-exponential)");
    // Four standard errors: 4 / sqrt(draws), and 4 sqrt(20 / draws) for the second moment.
    let draws = f64::from(draws);
    assert!((sum / draws - 1.0).abs() < 4.0 / draws.sqrt(), "mean {}", sum / draws);
    assert!((squares / draws - 2.0).abs() < 4.0 * (20.0 / draws).sqrt(), "second moment {}", squares / draws);
}

#[test]
fn streams_of_neighbouring_names_are_uncorrelated() {
    // Equal bits of neighbours differ as often as they agree.
    for (what, other) in
        [("seed", (1, 0, 0)), ("owner", (0, 1, 0)), ("index", (0, 0, 1)), ("index high", (0, 0, 1 << 32))]
    {
        let (mut a, mut b) = (Stream::new(0, 0, 0), Stream::new(other.0, other.1, other.2));
        let differing: u32 = (0..10_000).map(|_| (a.draw() ^ b.draw()).count_ones()).sum();
        // Four standard errors of a binomial with 320,000 trials.
        assert!((158_868..=161_132).contains(&differing), "{what}: {differing} of 320000");
    }
}

proptest! {
    #[test]
    fn below_is_below(seed: u64, n: u32) {
        let mut stream = Stream::new(seed, 0, 0);
        for _ in 0..8 {
            let value = stream.below(n);
            prop_assert!(value < n || (n == 0 && value == 0));
        }
    }

    #[test]
    fn blocks_are_the_draws_and_complements_their_complements(seed: u64, owner: u32, index: u64, start: u32) {
        let mut drawn = Stream::new(seed, owner, index);
        drawn.seek((start.div_ceil(4) % (1 << 30)) * 4);
        let mut blocks = Stream::new(seed, owner, index).complement();
        blocks.seek(start);
        let block = blocks.draw_block();
        prop_assert_eq!(block.map(|word| !word), [0; 4].map(|_| drawn.draw()));
        prop_assert_eq!(blocks.position(), drawn.position());
        prop_assert_eq!(!blocks.draw(), drawn.draw());
    }

    #[test]
    fn short_exponentials_are_exponentials(seed: u64, mean in 0u32..=1 << 27) {
        let mut stream = Stream::new(seed, 0, 0);
        let word = stream.clone().draw();
        prop_assert_eq!(u64::from(exponential_short(word, mean)), stream.exponential(Ticks::new(mean.into())).get());
    }

    #[test]
    fn seeking_continues_where_drawing_was(seed: u64, owner: u32, index: u64, start in 0u32..99, ahead in 0u32..9) {
        let mut drawn = Stream::new(seed, owner, index);
        for _ in 0..start + ahead {
            drawn.draw();
        }
        let mut sought = Stream::new(seed, owner, index);
        sought.seek(start);
        for _ in 0..ahead {
            sought.draw();
        }
        prop_assert_eq!(sought.position(), drawn.position());
        for _ in 0..6 {
            prop_assert_eq!(sought.draw(), drawn.draw());
        }
    }
}
