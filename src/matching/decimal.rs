//! Decimals as integers: positions from a file are matched exactly as written.
//!
//! ```
//! use eventhorizon::matching::{decimal, narrow, reference};
//!
//! // As 64-bit floats, the upper bound 1.2 + 1.1 / 2 lies above the lower bound 2.3 - 1.1 / 2.
//! // As decimals they touch.
//! let positions = [["2.3".parse()?], ["1.2".parse()?]];
//! let regions = decimal::around(&positions, "1.1".parse()?)?;
//! let near = narrow(&regions, &regions)?;
//! assert_eq!(reference::find(&near.subscriptions, &near.updates), [[0, 0], [1, 1]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::ErrorKind;
use std::fmt;
use std::str::FromStr;

use super::region::Region;
use crate::text::quoted;

/// Maximum number of digits of a decimal, and of all decimals of a dimension from the first digit
/// of the largest to the last one of the finest. Twice that range in units plus a width fits 127
/// bits.
const MAX_DIGITS: u32 = 36;
/// The largest power of ten, in either direction: beyond the range of 64-bit floats.
const MAX_EXPONENT: i64 = 400;

/// An exact decimal number: at most 36 digits and a power of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// Without trailing zeros.
    digits: i128,
    exponent: i32,
}

/// Why a decimal is invalid.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecimalError {
    /// It is not a number.
    #[error("'{text}' is not a number; write digits with a point, as in -12.5 or 1.25e1")]
    NotANumber {
        /// Its text, or the start of the text.
        text: String,
    },
    /// It has too many digits, or too large a power of ten.
    #[error(
        "'{text}' is out of range: a number has at most {MAX_DIGITS} digits between leading and trailing zeros, and powers of ten from \
         -{MAX_EXPONENT} to {MAX_EXPONENT}. Round it"
    )]
    Range {
        /// Its text, or the start of the text.
        text: String,
    },
    /// The width of regions is not positive.
    #[error("expected a width of regions above 0, found {width}")]
    Width {
        /// The width.
        width: String,
    },
    /// A large number and a fine one need too many digits together.
    #[error(
        "{value} in dimension {dimension} has more than {MAX_DIGITS} digits in the unit 1e{unit} that the other numbers of \
         this dimension, or the width, need. Round them, or remove the position"
    )]
    Digits {
        /// Index of the position; `None` if the width is too large.
        position: Option<usize>,
        /// The dimension, from 0.
        dimension: usize,
        /// The number there.
        value: String,
        /// The power of ten of the unit.
        unit: i32,
    },
}

crate::text::debug_is_display!(DecimalError);

impl DecimalError {
    /// [`ErrorKind::Usage`].
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Parses digits with an optional sign, point and power of ten: `-12.5`, `.5`, `1.25e1`.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let not_a_number = || DecimalError::NotANumber { text: quoted(text) };
        let range = || DecimalError::Range { text: quoted(text) };
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, whole_number(power).ok_or_else(not_a_number)?),
            None => (text, "0"),
        };
        let (negative, mantissa) = signed_digits(mantissa).ok_or_else(not_a_number)?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // Zeros count only if another digit follows.
        let (mut digits, mut zeros) = (0i128, 0u32);
        for digit in whole.bytes().chain(fraction.bytes()) {
            match (digit, digits) {
                (b'0', 0) => {}
                (b'0', _) => zeros += 1,
                _ => {
                    let shift = 10i128.checked_pow(zeros + 1).ok_or_else(range)?;
                    let more = digits.checked_mul(shift).ok_or_else(range)?;
                    (digits, zeros) = (more + i128::from(digit - b'0'), 0);
                    if digits >= 10i128.pow(MAX_DIGITS) {
                        return Err(range());
                    }
                }
            }
        }
        if digits == 0 {
            return Ok(Self { digits: 0, exponent: 0 });
        }
        // A power that does not fit 64 bits is out of range.
        let power = power.parse::<i64>().ok();
        let places = i64::try_from(fraction.len()).ok();
        let exponent = power.zip(places).and_then(|(power, places)| power.checked_sub(places));
        let exponent = exponent.and_then(|exponent| exponent.checked_add(zeros.into()));
        let exponent = exponent.filter(|exponent| exponent.abs() <= MAX_EXPONENT).ok_or_else(range)?;
        let exponent = i32::try_from(exponent).map_err(|_| range())?;
        Ok(Self { digits: if negative { -digits } else { digits }, exponent })
    }
}

/// Accepts digits with at most a sign.
fn whole_number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(text)
}

/// Whether a text of digits with at most one point is negative, and the text without its sign.
fn signed_digits(text: &str) -> Option<(bool, &str)> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut all = whole.bytes().chain(fraction.bytes()).peekable();
    let is_number = all.peek().is_some() && all.all(|digit| digit.is_ascii_digit());
    is_number.then_some((text.starts_with('-'), digits))
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, digits) = (if self.digits < 0 { "-" } else { "" }, self.digits.unsigned_abs());
        match (usize::try_from(self.exponent), usize::try_from(-self.exponent)) {
            (Ok(zeros @ 0..=18), _) => write!(f, "{sign}{digits}{:0<zeros$}", ""),
            (_, Ok(places @ 1..=36)) => {
                let text = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = text.split_at(text.len() - places);
                write!(f, "{sign}{whole}.{fraction}")
            }
            _ => write!(f, "{sign}{digits}e{}", self.exponent),
        }
    }
}

impl Decimal {
    /// Whether it is above zero.
    pub fn is_positive(self) -> bool {
        self.digits > 0
    }

    /// The number of units of this power of ten, if it is an integer of at most [`MAX_DIGITS`]
    /// digits.
    fn in_units(self, unit: i32) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let shift = u32::try_from(self.exponent.checked_sub(unit)?).ok()?;
        let units = self.digits.checked_mul(10i128.checked_pow(shift)?)?;
        (units.unsigned_abs() < 10u128.pow(MAX_DIGITS)).then_some(units)
    }
}

/// The regions of this width, in every dimension, around positions. Bounds are integers in half the
/// unit in which all decimals of the dimension are integers, so overlaps are exactly those of the
/// decimals.
///
/// # Errors
/// [`DecimalError::Width`], and [`DecimalError::Digits`] for the first position that is too large
/// for the unit.
pub fn around<const D: usize>(
    positions: &[[Decimal; D]],
    width: Decimal,
) -> Result<Vec<Region<i128, D>>, DecimalError> {
    if !width.is_positive() {
        return Err(DecimalError::Width { width: width.to_string() });
    }
    let units: [i32; D] = std::array::from_fn(|d| {
        let used = positions.iter().map(|position| position[d]).filter(|place| place.digits != 0);
        used.map(|place| place.exponent).min().unwrap_or(width.exponent).min(width.exponent)
    });
    let too_large = |position, dimension: usize, value: Decimal| {
        let (value, unit) = (value.to_string(), units[dimension]);
        DecimalError::Digits { position, dimension, value, unit }
    };
    let mut widths = [0; D];
    for (d, scaled) in widths.iter_mut().enumerate() {
        *scaled = width.in_units(units[d]).ok_or_else(|| too_large(None, d, width))?;
    }
    let region = |(number, position): (usize, &[Decimal; D])| {
        let (mut lo, mut hi) = ([0; D], [0; D]);
        for (d, place) in position.iter().enumerate() {
            let units = place.in_units(units[d]).ok_or_else(|| too_large(Some(number), d, *place))?;
            (lo[d], hi[d]) = (2 * units - widths[d], 2 * units + widths[d]);
        }
        Ok(Region::new(lo, hi))
    };
    positions.iter().enumerate().map(region).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn forms_of_a_number_are_one_number() {
        for same in ["12.5", "+12.50", "012.5", "1.25e1", "125E-1", ".125e+2", "0.0000125e6", "12.500000e00"]
        {
            assert_eq!(decimal(same), Decimal { digits: 125, exponent: -1 }, "{same}");
        }
        assert_eq!(decimal("-7000"), Decimal { digits: -7, exponent: 3 });
        assert_eq!(decimal("3."), decimal("3"));
        for text in ["0.125", "-12.5", "-7000", "1000000000000000000", "1e19", "-1.5", "3e-400"] {
            assert_eq!(decimal(text).to_string(), text);
        }
        for zero in ["0", "-0.000", ".0", "0e99999999999999999999"] {
            assert_eq!(decimal(zero), Decimal { digits: 0, exponent: 0 }, "{zero}");
        }
        // A position with the maximum number of digits.
        assert_eq!(decimal(&"9".repeat(36)).digits, 10i128.pow(36) - 1);
    }

    #[test]
    fn other_texts_are_errors_that_quote_them() {
        let texts = [
            "", ".", "-", "e5", "1e", "1e+", "1.2.3", "1,5", "inf", "NaN", "0x10", "1_000", " 1", "1-",
            "--1", "1e5.0",
        ];
        for text in texts {
            let error = text.parse::<Decimal>().unwrap_err();
            assert_eq!(error, DecimalError::NotANumber { text: text.to_owned() });
        }
        let nines = "9".repeat(37);
        for text in
            ["1e401", "1e-401", "1e99999999999999999999", &nines, "1000000000000000000000000000000000000.1"]
        {
            assert!(matches!(text.parse::<Decimal>(), Err(DecimalError::Range { .. })), "{text}");
        }
    }

    #[test]
    fn numbers_without_a_common_unit_are_errors() {
        let error = around(&[[decimal("1e20")], [decimal("1e-20")]], decimal("1")).unwrap_err();
        assert!(
            matches!(error, DecimalError::Digits { position: Some(0), dimension: 0, unit: -20, .. }),
            "{error}"
        );
        assert!(around(&[[decimal("1e15")], [decimal("1e-20")]], decimal("1")).is_ok());
        let error = around(&[[decimal("1e-20")]], decimal("1e20")).unwrap_err();
        assert!(matches!(error, DecimalError::Digits { position: None, .. }), "{error}");
        assert!(matches!(around(&[[decimal("1")]], decimal("0.0")), Err(DecimalError::Width { .. })));
        assert!(matches!(around(&[[decimal("1")]], decimal("-1")), Err(DecimalError::Width { .. })));
        // Each dimension has its own unit.
        let regions = around(&[[decimal("1e33"), decimal("-1e-33")]], decimal("1")).unwrap();
        let (one, far) = (10i128.pow(33), 2 * 10i128.pow(33));
        assert_eq!(regions, [Region::new([far - 1, -2 - one], [far + 1, one - 2])]);
    }

    proptest! {
        #[test]
        fn whole_numbers_and_fractions_are_what_is_printed(digits: i64, places in 0u32..25) {
            let text = format!("{:0width$}", digits.unsigned_abs(), width = places as usize + 1);
            let (whole, fraction) = text.split_at(text.len() - places as usize);
            let sign = if digits < 0 { "-" } else { "" };
            let read = decimal(&format!("{sign}{whole}.{fraction}"));
            let expected = i128::from(digits).checked_mul(10i128.pow(25 - places));
            let expected = expected.filter(|units| units.unsigned_abs() < 10u128.pow(MAX_DIGITS));
            prop_assert_eq!(read.in_units(-25), expected);
            prop_assert_eq!(decimal(&read.to_string()), read);
        }
    }
}
