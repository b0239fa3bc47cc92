//! Variates beyond the exponential: accuracy and goodness of fit.

use super::{assert_uniform, exact};
use eventhorizon::random::{
    AliasTable, RandomError, Stream, exponential_of, exponential_unit, geometric_scale, log2_unit,
    lognormal_of, lognormal_spread, normal_of, normal_unit, poisson_mean, probability, weibull_of,
    weibull_power, words_between,
};
use eventhorizon::time::Ticks;
use rayon::prelude::*;
use statrs::distribution::{
    ChiSquared, ContinuousCDF, Discrete, DiscreteCDF, Gamma, LogNormal, Normal, Poisson, Triangular, Weibull,
};
use statrs::function::erf::erfc;
use statrs::statistics::Distribution;

/// Fails if counts this far from the probabilities occur less than once in a million times. Cells
/// that expect few counts are joined with their neighbours.
fn assert_fits(counts: &[u32], probabilities: &[f64], what: &str) {
    assert_eq!(counts.len(), probabilities.len(), "{what}");
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{what}: probabilities of all there is");
    let total: f64 = counts.iter().copied().map(f64::from).sum();
    let (mut statistic, mut cells, mut count, mut expected) = (0.0, 0.0, 0.0, 0.0);
    let mut remaining = total;
    for (&c, &p) in counts.iter().zip(probabilities) {
        count += f64::from(c);
        expected += p * total;
        remaining -= p * total;
        if expected >= 20.0 && remaining >= 20.0 {
            statistic += (count - expected).powi(2) / expected;
            (cells, count, expected) = (cells + 1.0, 0.0, 0.0);
        }
    }
    // The last cell has the remainder.
    statistic += (count - expected).powi(2) / expected;
    let p = ChiSquared::new(cells).unwrap().sf(statistic);
    assert!(p > 1e-6, "{what}: chi-square {statistic:.1} for {} cells, p = {p:.2e}", cells + 1.0);
}

/// Draws 2^18 times: compares with the distribution function in 256 cells of equal probability, and
/// the mean and the variance in ticks with their expected values, to five standard errors.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bins, and ticks below 2^53"
)]
fn assert_times_fit(
    what: &str,
    mut draw: impl FnMut() -> Ticks,
    cdf: impl Fn(f64) -> f64,
    mean: f64,
    variance: f64,
) {
    const BINS: usize = 256;
    const DRAWS: usize = 1 << 18;
    let variates: Vec<f64> = (0..DRAWS).map(|_| draw().get() as f64).collect();
    let mut counts = [0; BINS];
    for &x in &variates {
        counts[((cdf(x) * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    assert_fits(&counts, &[1.0 / BINS as f64; BINS], what);
    let moment = |n: i32| variates.iter().map(|x| (x - mean).powi(n)).sum::<f64>() / DRAWS as f64;
    let (offset, squares, fourth) = (moment(1), moment(2), moment(4));
    let root = (DRAWS as f64).sqrt();
    assert!(offset.abs() < 5.0 * variance.sqrt() / root, "{what}: mean {} for {mean}", mean + offset);
    let deviation = (fourth - squares * squares).sqrt();
    assert!((squares - variance).abs() < 5.0 * deviation / root, "{what}: variance {squares} for {variance}");
}

#[test]
fn bernoulli_trials_succeed_as_often_as_they_should() {
    for p in [0.0, 1e-3, 0.25, 0.5, 0.9, 1.0] {
        let mut stream = Stream::new(2024, 0, 3);
        let word = probability(p).unwrap();
        let successes: u32 = (0..100_000).map(|_| u32::from(stream.bernoulli(word))).sum();
        assert_eq!(stream.position(), 100_000, "one draw each");
        match p {
            0.0 => assert_eq!(successes, 0),
            1.0 => assert_eq!(successes, 100_000),
            _ => assert_fits(&[successes, 100_000 - successes], &[p, 1.0 - p], &format!("bernoulli({p})")),
        }
    }
    // The threshold itself is exact.
    let word = Stream::new(1, 2, 3).draw();
    assert!(!Stream::new(1, 2, 3).bernoulli(word));
    assert!(Stream::new(1, 2, 3).bernoulli(word + 1));
}

#[test]
fn probabilities_are_rounded_to_what_can_be_said() {
    let unit = 2f64.powi(-32);
    for (p, word) in [
        (0.0, 0),
        (0.4 * unit, 0),
        (0.6 * unit, 1),
        (0.5, 1 << 31),
        (1.0 - 2.0 * unit, u32::MAX - 1),
        (1.0 - 1.1 * unit, u32::MAX - 1),
        (1.0 - 0.9 * unit, u32::MAX),
        (1.0, u32::MAX),
    ] {
        assert_eq!(probability(p), Ok(word), "{p}");
    }
    for p in [-f64::MIN_POSITIVE, 1.0 + f64::EPSILON, f64::INFINITY] {
        assert_eq!(probability(p), Err(RandomError::Probability { p }));
    }
    assert!(probability(f64::NAN).is_err());
}

#[test]
#[allow(clippy::cast_precision_loss, reason = "ticks below 2^53")]
fn uniform_times_are_uniform() {
    for (low, span) in [(0u64, 7u64), (1000, 1000), (1 << 40, 1 << 45), (5, 3 << 48)] {
        let mut stream = Stream::new(2024, 1, span);
        let (from, to) = (Ticks::new(low), Ticks::new(low + span));
        if span <= 1000 {
            let mut counts = vec![0; usize::try_from(span).unwrap()];
            for _ in 0..1000 * span {
                counts[usize::try_from(stream.uniform(from, to).get() - low).unwrap()] += 1;
            }
            assert_uniform(&counts, &format!("uniform over {span} ticks"));
            continue;
        }
        let (low, span) = (low as f64, span as f64);
        let cdf = |x: f64| (x - low) / span;
        assert_times_fit(
            "uniform",
            || stream.uniform(from, to),
            cdf,
            low + (span - 1.0) / 2.0,
            span * span / 12.0,
        );
        // The lowest bits are as uniform as the highest.
        let mut counts = [0; 8];
        for _ in 0..10_000 {
            counts[(stream.uniform(from, to).get() % 8) as usize] += 1;
        }
        assert_uniform(&counts, "uniform modulo 8");
    }
}

#[test]
fn uniform_times_at_the_ends_of_the_range() {
    let mut stream = Stream::new(4, 0, 0);
    let (early, late) = (Ticks::new(10), Ticks::new(11));
    assert_eq!(stream.uniform(late, early), Ticks::NEVER);
    assert_eq!(stream.uniform(early, early), early);
    assert_eq!(stream.uniform(early, late), early);
    assert_eq!(stream.position(), 9, "three draws each");
    for _ in 0..1000 {
        assert!(stream.uniform(Ticks::ZERO, Ticks::NEVER) < Ticks::NEVER);
    }
}

/// 2^30 ticks, as a number of ticks and as a time.
const MEAN: (f64, Ticks) = (1_073_741_824.0, Ticks::new(1 << 30));

#[test]
fn hyperexponential_variates_are_hyperexponential() {
    let ((a, first), p, b) = (MEAN, 0.3, 10.0 * MEAN.0);
    let second = Ticks::new(10 << 30);
    let word = probability(p).unwrap();
    let cdf = |x: f64| 1.0 - p * (-x / a).exp() - (1.0 - p) * (-x / b).exp();
    let mean = p * a + (1.0 - p) * b;
    let variance = 2.0 * (p * a * a + (1.0 - p) * b * b) - mean * mean;
    let mut stream = Stream::new(2024, 2, 0);
    assert_times_fit(
        "hyperexponential",
        || stream.hyperexponential(word, first, second),
        cdf,
        mean,
        variance,
    );
    assert_eq!(stream.position(), 2 << 18, "two draws each");
    // The component of each variate, exactly: a fit would not detect a probability that is wrong by
    // a percent.
    let (mut stream, mut parts) = (Stream::new(2024, 2, 1), Stream::new(2024, 2, 1));
    for _ in 0..10_000 {
        let mean = if parts.bernoulli(word) { first } else { second };
        assert_eq!(stream.hyperexponential(word, first, second), parts.exponential(mean));
    }
}

#[test]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ticks")]
fn truncated_variates_are_what_is_left_of_the_whole() {
    let between = |cdf: &dyn Fn(f64) -> f64, low: f64, high: f64| {
        let (lower, upper) = (cdf(low), cdf(high));
        let part = move |x: f64, p: f64| if x < low { -1.0 } else { (p - lower) / (upper - lower) };
        (lower, upper, part)
    };
    // Low and high in means or medians; whether variates increase with the word.
    let unit = MEAN.0;
    let ticks = |x: f64| Ticks::new((x * unit) as u64);
    let (normal, lognormal) = (Normal::new(4.0, 1.0).unwrap(), LogNormal::new(0.0, 0.8).unwrap());
    let (exponential, weibull) = (Gamma::new(1.0, 1.0).unwrap(), Weibull::new(1.7, 1.0).unwrap());
    let (spread, power) = (lognormal_spread(0.8).unwrap(), weibull_power(1.7).unwrap());
    type Case<'m> = (&'m str, &'m dyn Fn(f64) -> f64, &'m dyn Fn(u32) -> Ticks, bool);
    let cases: [Case<'_>; 4] = [
        ("normal", &|x| normal.cdf(x), &|word| normal_of(word, ticks(4.0), ticks(1.0)), true),
        ("lognormal", &|x| lognormal.cdf(x), &|word| lognormal_of(word, ticks(1.0), spread), true),
        ("exponential", &|x| exponential.cdf(x), &|word| exponential_of(word, ticks(1.0)), false),
        ("weibull", &|x| weibull.cdf(x), &|word| weibull_of(word, ticks(1.0), power), false),
    ];
    for (what, cdf, make, grows) in cases {
        for (low, high) in [(0.0, 1.3), (0.4, 2.5), (3.0, 5.5), (1.0, 1.01)] {
            let (lower, upper, part) = between(cdf, low, high);
            let words = match grows {
                true => words_between(lower, upper),
                false => words_between(1.0 - upper, 1.0 - lower),
            };
            let [first, last] = words.unwrap();
            let mut stream = Stream::new(2024, 30, 0);
            let mut counts = [0; 200];
            for _ in 0..100_000 {
                let x = make(stream.word(first, last)).get() as f64 / unit;
                let inside = x > low - 1e-6 && x < high + 1e-6;
                assert!(inside, "{what} between {low} and {high}: {x}");
                counts[((part(x.max(low), cdf(x)) * 200.0) as usize).min(199)] += 1;
            }
            assert_uniform(&counts, &format!("{what} between {low} and {high}"));
        }
    }
}

#[test]
fn parts_of_a_distribution_that_are_none_are_refused() {
    assert_eq!(words_between(0.0, 1.0), Ok([0, u32::MAX]));
    assert_eq!(words_between(0.5, 1.0), Ok([1 << 31, u32::MAX]));
    assert_eq!(words_between(0.0, 0.5), Ok([0, (1 << 31) - 1]));
    assert_eq!(words_between(-0.1, 1.0), Err(RandomError::Probability { p: -0.1 }));
    let error = words_between(0.3, 0.3 + 1e-6).unwrap_err();
    assert!(error.to_string().contains("0.3") && error.to_string().contains("2^-16"), "{error}");
    assert!(matches!(words_between(0.8, 0.2), Err(RandomError::Narrow { .. })));
    let mut stream = Stream::new(1, 1, 1);
    assert_eq!((stream.word(7, 7), stream.word(9, 3), stream.position()), (7, 9, 0));
}

#[test]
fn erlang_variates_are_erlang() {
    for stages in [1, 2, 5, 40] {
        let k = f64::from(stages);
        let exact = Gamma::new(k, 1.0).unwrap();
        let cdf = |x: f64| exact.cdf(x / MEAN.0);
        let mut stream = Stream::new(2024, 3, stages.into());
        let what = format!("erlang of {stages}");
        assert_times_fit(&what, || stream.erlang(stages, MEAN.1), cdf, k * MEAN.0, k * MEAN.0 * MEAN.0);
        assert_eq!(stream.position(), stages << 18, "one draw per stage");
    }
}

#[test]
fn erlang_sums_at_the_ends_of_the_range() {
    let mut stream = Stream::new(9, 0, 1);
    assert_eq!(stream.erlang(0, MEAN.1), Ticks::ZERO);
    assert_eq!(stream.erlang(2049, MEAN.1), Ticks::NEVER);
    assert_eq!(stream.position(), 0);
    assert_eq!(stream.erlang(2, Ticks::NEVER), Ticks::NEVER);
    assert_eq!(stream.erlang(3, Ticks::ZERO), Ticks::ZERO);
    assert_eq!(stream.position(), 5);
    // 2048 of the longest variates fit the sum.
    assert!((exponential_unit(0) >> 11).checked_mul(2048).is_some());
    assert_eq!(stream.erlang(2048, Ticks::new(1 << 62)), Ticks::NEVER);
    assert!(stream.erlang(2048, Ticks::new(1 << 52)) < Ticks::NEVER);
    // One stage is an exponential variate, except for the bits that are cut.
    let mut same = stream.clone();
    for _ in 0..1000 {
        let (erlang, exponential) = (stream.erlang(1, MEAN.1), same.exponential(MEAN.1));
        assert!(exponential.get() - erlang.get() <= 1);
    }
}

/// Counts of `draw` in 0 .. `cells` - 1, and in the last cell those beyond.
fn counts_of(draws: u32, cells: usize, mut draw: impl FnMut() -> u32) -> Vec<u32> {
    let mut counts = vec![0; cells];
    for _ in 0..draws {
        counts[(draw() as usize).min(cells - 1)] += 1;
    }
    counts
}

#[test]
fn geometric_variates_are_geometric() {
    for (p, cells) in [(0.001_f64, 15_000), (0.05, 400), (0.5, 24), (0.97, 6)] {
        let scale = geometric_scale(p).unwrap();
        let mut stream = Stream::new(2024, 4, scale);
        let counts = counts_of(1 << 18, cells, || stream.geometric(scale));
        assert_eq!(stream.position(), 1 << 18, "one draw each");
        let tail = (f64::from(u32::try_from(cells).unwrap() - 1) * (-p).ln_1p()).exp();
        let mut probabilities: Vec<f64> =
            std::iter::successors(Some(p), |q| Some(q * (1.0 - p))).take(cells - 1).collect();
        probabilities.push(tail);
        assert_fits(&counts, &probabilities, &format!("geometric of {p}"));
    }
}

#[test]
fn geometric_is_as_exact_as_documented() {
    let unit = 2f64.powi(-32);
    let mut worst: (f64, f64, u32) = (0.0, 0.0, 0);
    for p in [2f64.powi(-31), 1e-9_f64, 1e-6, 0.001, 0.05, 0.3, 0.5, 0.7, 0.97, 0.999_999, 1.0 - 3.0 * unit] {
        let scale = geometric_scale(p).unwrap();
        let of = |word: u32| (u128::from(exponential_unit(word)) * u128::from(scale)) >> 91;
        // Around the quantiles of the distribution: every count if they are dense.
        let top = -22.0 / (-p).ln_1p();
        for step in 0..=1000 {
            let n = (top * f64::from(step) / 1000.0).floor();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^37")]
            let count = n as u128;
            // Larger words give smaller variates: find the number of words with at most n failures.
            let (mut low, mut high) = (0u64, 1u64 << 32);
            while low < high {
                let middle = u64::midpoint(low, high);
                if of(u32::try_from(middle).unwrap()) <= count { high = middle } else { low = middle + 1 }
            }
            #[allow(clippy::cast_precision_loss, reason = "33 bits")]
            let beyond = low as f64 * unit;
            let exact = ((n + 1.0) * (-p).ln_1p()).exp();
            let error = (beyond - exact).abs();
            if error > worst.0 {
                worst = (error, p, u32::try_from(count.min(u32::MAX.into())).unwrap());
            }
        }
    }
    // The bound in the documentation of `Stream::geometric`, which is nearly reached.
    assert!((2e-10..2.5e-10).contains(&worst.0), "error, probability, count: {worst:?}");
}

#[test]
fn geometric_scales_at_the_ends_of_the_range() {
    let mut stream = Stream::new(9, 0, 2);
    let [certain, never] = [1.0, 0.0].map(|p| geometric_scale(p).unwrap());
    for _ in 0..100 {
        assert_eq!(stream.geometric(certain), 0);
        assert_eq!(stream.geometric(never), u32::MAX);
    }
    for p in [-0.1, 1.1, f64::INFINITY] {
        assert_eq!(geometric_scale(p), Err(RandomError::Probability { p }));
    }
    assert!(geometric_scale(f64::NAN).is_err());
    let p = 2f64.powi(-32);
    assert_eq!(geometric_scale(p), Err(RandomError::TooRare { p }));
    assert!(geometric_scale(2.0 * p).unwrap() < 1 << 63);
}

#[test]
fn triangular_times_are_triangular() {
    for (low, mode, high) in
        [(0u64, 0u64, 1u64 << 40), (0, 1 << 40, 1 << 40), (1 << 36, 3 << 36, 9 << 36), (7, 1 << 33, 1 << 45)]
    {
        #[allow(clippy::cast_precision_loss, reason = "ticks below 2^53")]
        let [a, c, b] = [low, mode, high].map(|time| time as f64);
        let exact = Triangular::new(a, b, c).unwrap();
        let variance = (a * a + b * b + c * c - a * b - a * c - b * c) / 18.0;
        let [low, mode, high] = [low, mode, high].map(Ticks::new);
        let mut stream = Stream::new(2024, 5, mode.get());
        let what = format!("triangular {low} {mode} {high}");
        assert_times_fit(
            &what,
            || stream.triangular(low, mode, high),
            |x| exact.cdf(x),
            (a + b + c) / 3.0,
            variance,
        );
        assert_eq!(stream.position(), 2 << 18, "two draws each");
    }
}

#[test]
fn triangular_times_at_the_ends_of_the_range() {
    let [a, b, c] = [10, 11, 12].map(Ticks::new);
    let mut stream = Stream::new(9, 0, 3);
    assert_eq!(stream.triangular(b, a, c), Ticks::NEVER);
    assert_eq!(stream.triangular(a, c, b), Ticks::NEVER);
    assert_eq!(stream.triangular(a, a, a), a);
    for _ in 0..1000 {
        assert!((a..c).contains(&stream.triangular(a, b, c)));
        assert!(stream.triangular(Ticks::ZERO, Ticks::NEVER, Ticks::NEVER) < Ticks::NEVER);
    }
}

#[test]
fn alias_tables_have_the_probabilities_of_their_weights() {
    let mut stream = Stream::new(2024, 6, 0);
    let many = (0..1000).map(|_| f64::from(stream.draw()) / f64::from(stream.draw())).collect();
    let few = [vec![5.0], vec![1.0, 0.0], vec![0.5, 0.0, 0.2, 0.3], vec![1e308; 3], vec![1e-320, 3e-320]];
    for weights in few.into_iter().chain([many, vec![1.0; 64], vec![1.0; 63]]) {
        let table = AliasTable::new(&weights).unwrap();
        let n = f64::from(table.count());
        assert_eq!(weights.len() * 2, table.words().len());
        let sum: f64 = weights.iter().map(|weight| weight / n).sum();
        let exact: Vec<f64> = weights.iter().map(|weight| weight / n / sum).collect();
        for (number, &p) in (0..).zip(&exact) {
            let is = table.probability(number);
            assert!((is - p).abs() < 2f64.powi(-32) / n + 1e-15, "number {number} of {n}: {is} for {p}");
            assert!(p > 0.0 || is == 0.0, "number {number} of {n} has no weight");
        }
        let draws = 100 * table.count().max(1000);
        let counts = counts_of(draws, weights.len(), || stream.alias(&table));
        if exact.iter().filter(|&&p| p > 0.0).count() > 1 {
            assert_fits(&counts, &exact, &format!("table of {n}"));
        }
        for (count, p) in counts.iter().zip(&exact) {
            assert!(*p > 0.0 || *count == 0);
        }
    }
}

#[test]
fn alias_tables_refuse_what_are_no_weights() {
    assert_eq!(AliasTable::new(&[]), Err(RandomError::Weights { count: 0 }));
    assert_eq!(AliasTable::new(&[0.0, 0.0]), Err(RandomError::NoWeight));
    for weight in [-1.0, f64::INFINITY] {
        assert_eq!(AliasTable::new(&[1.0, weight]), Err(RandomError::Weight { index: 1, weight }));
    }
    assert!(matches!(AliasTable::new(&[f64::NAN]), Err(RandomError::Weight { index: 0, .. })));
}

#[test]
fn poisson_variates_are_poisson() {
    for mean in [0.01, 1.0, 4.5, 30.0, 256.0] {
        let word = poisson_mean(mean).unwrap();
        let exact = Poisson::new(mean).unwrap();
        let mut stream = Stream::new(2024, 7, word);
        let cells = 600;
        let draws = 1 << 16;
        let mut sum = 0;
        let counts = counts_of(draws, cells, || {
            let count = stream.poisson(word);
            sum += count;
            count
        });
        assert_eq!(stream.position(), sum + draws, "one draw more than the result");
        let mut probabilities: Vec<f64> = (0..599).map(|count| exact.pmf(count)).collect();
        probabilities.push(exact.sf(598));
        assert_fits(&counts, &probabilities, &format!("poisson of {mean}"));
        let deviation = (mean / f64::from(draws)).sqrt();
        assert!(
            (f64::from(sum) / f64::from(draws) - mean).abs() < 5.0 * deviation,
            "{sum} for a mean of {mean}"
        );
    }
}

#[test]
fn poisson_means_at_the_ends_of_the_range() {
    let mut stream = Stream::new(9, 0, 4);
    for _ in 0..1000 {
        assert_eq!(stream.poisson(0), 0);
    }
    assert_eq!(stream.position(), 1000);
    assert_eq!(stream.poisson((256 << 32) + 1), u32::MAX);
    assert_eq!(stream.position(), 1000);
    assert_eq!(poisson_mean(256.0), Ok(256 << 32));
    for mean in [-1e-9, 256.1, f64::INFINITY] {
        assert_eq!(poisson_mean(mean), Err(RandomError::PoissonMean { mean }));
    }
    assert!(poisson_mean(f64::NAN).is_err());
}

/// The distance of `normal_unit` from the exact quantile: the probability in between, over the
/// density.
fn normal_error(word: u32) -> f64 {
    let tail = (2.0 * f64::from(word.min(!word)) + 1.0) * 2f64.powi(-33);
    let z = f64::from(normal_unit(word).abs()) * 2f64.powi(-28);
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (erfc(z / 2f64.sqrt()) / 2.0 - tail) / density
}

#[test]
fn normal_quantiles_are_as_exact_as_documented() {
    let strided = (0..(1u32 << 31) / 251).into_par_iter().map(|i| i * 251);
    // The ends of octaves of -ln(tail), and both ends.
    let ends = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0].into_par_iter().flat_map(|e| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let word = ((-f64::max(e, 2f64.ln())).exp() * 2f64.powi(32)) as u32;
        (word.saturating_sub(2000)..word.saturating_add(2000)).into_par_iter()
    });
    let worst = strided
        .chain(ends)
        .chain((0..2000).into_par_iter())
        .map(|word| (normal_error(word).abs(), word))
        .reduce(|| (0.0, 0), |a, b| if a.0 < b.0 { b } else { a });
    // The bound in the documentation of `normal_unit`, which the worst of every 61st word nearly
    // reaches.
    assert!(worst.0 < 8.9e-9, "{:e} at {:#x}", worst.0, worst.1);
    assert!(normal_error(0x2366_7c15).abs() > 8.79e-9);
    let mut stream = Stream::new(9, 0, 5);
    for _ in 0..10_000 {
        let word = stream.draw();
        assert_eq!(normal_unit(word), -normal_unit(!word));
    }
    assert!((f64::from(normal_unit(u32::MAX)) * 2f64.powi(-28) - 6.338).abs() < 1e-3);
}

#[test]
fn normal_variates_are_normal() {
    let (mean, deviation) = (100.0 * MEAN.0, MEAN.0);
    let exact = Normal::new(mean, deviation).unwrap();
    let mut stream = Stream::new(2024, 8, 0);
    let draw = || stream.normal(Ticks::new(100 << 30), MEAN.1);
    assert_times_fit("normal", draw, |x| exact.cdf(x), mean, deviation * deviation);
    assert_eq!(stream.position(), 1 << 18, "one draw each");
}

#[test]
fn normal_times_at_the_ends_of_the_range() {
    let mut stream = Stream::new(9, 0, 6);
    assert_eq!(stream.normal(Ticks::NEVER, MEAN.1), Ticks::NEVER);
    assert_eq!(stream.normal(MEAN.1, Ticks::NEVER), Ticks::NEVER);
    assert_eq!(stream.normal(MEAN.1, Ticks::ZERO), MEAN.1);
    for _ in 0..100 {
        let (word, variate) = (stream.clone().draw(), stream.normal(Ticks::ZERO, Ticks::new(1 << 28)));
        assert_eq!(variate.get(), u64::try_from(normal_unit(word)).unwrap_or(0));
    }
    let late = Ticks::new(u64::MAX - 1);
    let mut seen = [0; 3];
    for _ in 0..100 {
        match stream.normal(Ticks::ZERO, late) {
            Ticks::ZERO => seen[0] += 1,
            Ticks::NEVER => seen[1] += 1,
            _ => seen[2] += 1,
        }
    }
    // One half is below zero, and one in six above one deviation.
    assert!(seen.iter().all(|&count| count > 5) && seen[0] > seen[1], "{seen:?}");
}

#[test]
#[allow(clippy::cast_precision_loss, reason = "an f64 holds 53 bits, the error is sought near bit 27")]
fn lognormal_variates_are_as_exact_as_documented() {
    let mut worst: (f64, f64) = (0.0, 0.0);
    for sigma in [0.01, 0.1, 0.5, 1.0, 2.0, 4.0] {
        let spread = lognormal_spread(sigma).unwrap();
        let mut stream = Stream::new(2024, 9, spread.into());
        for _ in 0..20_000 {
            let word = stream.clone().draw();
            // The quantile, corrected by its own error.
            let z = f64::from(normal_unit(word).abs()) * 2f64.powi(-28) + normal_error(word);
            let z = if word < 1 << 31 { -z } else { z };
            let ticks = stream.lognormal(Ticks::new(1 << 50), spread).get() as f64;
            // Rounding to ticks is negligible.
            if ticks > 2f64.powi(34) && ticks < 2f64.powi(63) {
                let error = (ticks / (2f64.powi(50) * (sigma * z).exp()) - 1.0).abs();
                if error / (0.1 + sigma) > worst.0 {
                    worst = (error / (0.1 + sigma), sigma);
                }
            }
        }
    }
    // The bound in the documentation of `Stream::lognormal`, which is nearly reached.
    assert!((1.2e-8..1.4e-8).contains(&worst.0), "{worst:?}");
}

#[test]
fn lognormal_variates_are_lognormal() {
    for sigma in [0.25, 0.8] {
        let exact = LogNormal::new(MEAN.0.ln(), sigma).unwrap();
        let (mean, variance) = (exact.mean().unwrap(), exact.variance().unwrap());
        let spread = lognormal_spread(sigma).unwrap();
        let mut stream = Stream::new(2024, 9, 0);
        let draw = || stream.lognormal(MEAN.1, spread);
        assert_times_fit(&format!("lognormal of {sigma}"), draw, |x| exact.cdf(x), mean, variance);
        assert_eq!(stream.position(), 1 << 18, "one draw each");
    }
}

#[test]
fn lognormal_times_at_the_ends_of_the_range() {
    let mut stream = Stream::new(9, 0, 7);
    assert_eq!(stream.lognormal(Ticks::NEVER, 1), Ticks::NEVER);
    assert_eq!(stream.lognormal(MEAN.1, 0), MEAN.1);
    let late = Ticks::new(1 << 63);
    let spread = lognormal_spread(11.0).unwrap();
    for _ in 0..100 {
        assert_eq!(stream.lognormal(Ticks::ZERO, spread), Ticks::ZERO);
        let above = stream.clone().draw() >= 1 << 31;
        let variate = stream.lognormal(late, spread);
        assert!(if above { variate >= late } else { variate < late });
    }
    for sigma in [-0.1, 11.1, f64::INFINITY] {
        assert_eq!(lognormal_spread(sigma), Err(RandomError::Spread { sigma }));
    }
    assert!(lognormal_spread(f64::NAN).is_err());
}

#[test]
#[allow(clippy::cast_precision_loss, reason = "an f64 holds 53 bits, the error is sought near bit 27")]
fn weibull_variates_are_as_exact_as_documented() {
    let mut worst: (f64, f64) = (0.0, 0.0);
    for shape in [0.3, 0.5, 1.0, 2.0, 3.5, 20.0] {
        let power = weibull_power(shape).unwrap();
        let mut stream = Stream::new(2024, 10, power.into());
        for _ in 0..20_000 {
            let quantile = exact(stream.clone().draw()).powf(1.0 / shape);
            let ticks = stream.weibull(Ticks::new(1 << 54), power).get() as f64;
            // Rounding to ticks is negligible.
            if ticks > 2f64.powi(34) && ticks < 2f64.powi(63) {
                let error = (ticks / (2f64.powi(54) * quantile) - 1.0).abs() / (0.1 + 1.0 / shape);
                if error > worst.0 {
                    worst = (error, shape);
                }
            }
        }
    }
    // The bound in the documentation of `Stream::weibull`, which is nearly reached.
    assert!((1e-8..1.2e-8).contains(&worst.0), "{worst:?}");
}

#[test]
fn weibull_variates_are_weibull() {
    for shape in [0.7, 1.0, 3.0] {
        let exact = Weibull::new(shape, MEAN.0).unwrap();
        let (mean, variance) = (exact.mean().unwrap(), exact.variance().unwrap());
        let power = weibull_power(shape).unwrap();
        let mut stream = Stream::new(2024, 10, 0);
        let draw = || stream.weibull(MEAN.1, power);
        assert_times_fit(&format!("weibull of {shape}"), draw, |x| exact.cdf(x), mean, variance);
        assert_eq!(stream.position(), 1 << 18, "one draw each");
    }
}

#[test]
fn weibull_times_at_the_ends_of_the_range() {
    let mut stream = Stream::new(9, 0, 8);
    assert_eq!(stream.weibull(Ticks::NEVER, 1), Ticks::NEVER);
    assert_eq!(stream.weibull(MEAN.1, 0xf000_0001), Ticks::NEVER);
    assert_eq!(stream.weibull(Ticks::ZERO, 1 << 30), Ticks::ZERO);
    assert_eq!(stream.weibull(MEAN.1, 0), MEAN.1);
    assert_eq!(stream.position(), 4, "one draw each");
    for shape in [0.29, 1001.0, -1.0, f64::INFINITY] {
        assert_eq!(weibull_power(shape), Err(RandomError::Shape { shape }));
    }
    assert!(weibull_power(f64::NAN).is_err());
    assert!(weibull_power(0.3).unwrap() <= 0xf000_0000);
    // The logarithm of the shortest exponential variate fits its word.
    let shortest = exponential_unit(u32::MAX);
    assert_eq!(log2_unit(shortest), -33 << 25);
}

#[test]
#[allow(clippy::cast_precision_loss, reason = "the logarithm is sought to bit 27")]
fn logarithms_are_as_exact_as_documented() {
    let mut stream = Stream::new(9, 0, 9);
    let near = (0..64)
        .flat_map(|n| (0..100).flat_map(move |d| [(1u64 << n) + d, (1u64 << n).wrapping_sub(d).max(1)]));
    let all = (0..100_000).map(|_| {
        let e = u64::from(stream.draw()) << 32 | u64::from(stream.draw());
        (e >> stream.below(64)).max(1)
    });
    let worst =
        near.chain(all).map(|e| (f64::from(log2_unit(e)) - ((e as f64).log2() - 59.0) * 2f64.powi(25)).abs());
    let worst = worst.fold(0.0, f64::max);
    assert!((0.5..0.55).contains(&worst), "{worst}");
    assert_eq!(log2_unit(0), log2_unit(1));
}
