//! Quantiles of Student's t.

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};
use statrs::function::beta::beta_reg;

/// The two-sided quantile of Student's t: `level` of the distribution with `degrees` degrees of
/// freedom lies between minus and plus this.
///
/// # Panics
/// If `degrees` is 0 or `level` is not between 0 and 1.
#[allow(clippy::cast_precision_loss, reason = "beyond 2^53 degrees of freedom the distribution is normal")]
pub(crate) fn student_t(degrees: u64, level: f64) -> f64 {
    // For levels near 1 the tail still has all digits, unlike one half plus half the level.
    let (n, probability, far) = (degrees as f64, 0.5 + level / 2.0, level > 0.999_999);
    if degrees <= 200 {
        return match far {
            true => far_quantile(n, 1.0 - level),
            false => {
                StudentsT::new(0.0, 1.0, n).expect("at least one degree of freedom").inverse_cdf(probability)
            }
        };
    }
    // For many degrees statrs loses digits (the fifth one at 10^6 degrees); use Abramowitz and
    // Stegun 26.7.5.
    let z = match far {
        true => -Normal::standard().inverse_cdf((1.0 - level) / 2.0),
        false => Normal::standard().inverse_cdf(probability),
    };
    let z2 = z * z;
    let g1 = z * (z2 + 1.0) / 4.0;
    let g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    z + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n
}

/// The quantile with `n` degrees of freedom for a tiny probability `outside`, by bisection of its
/// logarithm: Abramowitz and Stegun 26.7.1.
fn far_quantile(n: f64, outside: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 350.0_f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        let t = middle.exp();
        match beta_reg(n / 2.0, 0.5, n / (n + t * t)) > outside {
            true => low = middle,
            false => high = middle,
        }
    }
    high.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal to `digits` significant digits.
    #[track_caller]
    fn assert_close(got: f64, expected: f64, digits: i32) {
        let error = (got - expected).abs();
        assert!(error <= expected.abs() * 10_f64.powi(-digits), "{got} is not {expected} to {digits} digits");
    }

    /// NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2, and more digits from R's
    /// qt().
    #[test]
    fn student_quantiles_are_those_of_the_tables() {
        for (degrees, level, expected) in [
            (1, 0.95, 12.706_204_736_174_7),
            (2, 0.95, 4.302_652_729_749_46),
            (4, 0.95, 2.776_445_105_197_79),
            (5, 0.99, 4.032_142_983_555_23),
            (9, 0.95, 2.262_157_162_854_1),
            (10, 0.95, 2.228_138_851_964_94),
            (20, 0.9, 1.724_718_242_920_79),
            (30, 0.95, 2.042_272_456_301_24),
            (99, 0.95, 1.984_216_951_586_42),
            (1_000_000, 0.95, 1.959_966_356_781_07),
        ] {
            assert_close(student_t(degrees, level), expected, 9);
        }
        // The normal distribution, which no finite count reaches.
        assert_close(student_t(1 << 40, 0.95), 1.959_963_984_540_05, 9);
    }

    /// The distribution function for even degrees of freedom is a finite sum (Abramowitz and Stegun
    /// 26.7.4).
    #[test]
    fn student_quantiles_invert_the_distribution() {
        for degrees in [2_u32, 4, 10, 50, 100, 198, 200, 202, 210, 300, 1000, 10_000, 1_000_000] {
            for level in [0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999_99] {
                let n = f64::from(degrees);
                let t = student_t(degrees.into(), level);
                let (sine, cosine2) = (t / (n + t * t).sqrt(), n / (n + t * t));
                let (mut term, mut sum) = (1.0, 1.0);
                for i in 1..degrees / 2 {
                    term *= cosine2 * (2.0 * f64::from(i) - 1.0) / (2.0 * f64::from(i));
                    sum += term;
                }
                let error = (sine * sum - level).abs();
                // The error of the part outside the interval.
                assert!(error < 1e-7 * (1.0 - level), "{degrees} {level}: {t} covers {error:e} more or less");
            }
        }
    }

    /// Closed forms for one and two degrees of freedom, and the normal quantile of 2^-54.
    #[test]
    fn quantiles_of_levels_next_to_1_are_finite_and_right() {
        let level = 0.9999999999999999_f64;
        let tail = (1.0 - level) / 2.0;
        let one = 1.0 / (std::f64::consts::PI * tail).tan();
        let two = (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt();
        for (degrees, expected) in [(1, one), (2, two), (u64::MAX, 8.292_361_075_813_595)] {
            let found = student_t(degrees, level);
            assert!((found / expected - 1.0).abs() < 1e-6, "{degrees}: {found} and not {expected}");
        }
        for degrees in [3, 10, 199, 200, 201, 1000] {
            let found = student_t(degrees, level);
            assert!(found.is_finite() && found > 8.29 && found < 1e6, "{degrees}: {found}");
        }
    }
}
