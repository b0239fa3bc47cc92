//! The numbers that a search may choose.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::statistics::Value;

use super::error::OptimiseError;

/// A path of a description, and the numbers that it may have: `PATH=FIRST..LAST` are whole numbers,
/// both ends included; `PATH=FIRST..LAST:STEP` are real ones in steps.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberRange {
    /// The path.
    pub path: String,
    first: f64,
    /// The step of real numbers; whole numbers have none.
    step: Option<f64>,
    /// The places of the numbers: themselves, or steps from the first.
    places: (i64, i64),
}

/// Most numbers of a range with steps.
const MOST_STEPS: f64 = 1e9;

impl FromStr for NumberRange {
    type Err = OptimiseError;

    fn from_str(text: &str) -> Result<Self, OptimiseError> {
        let wrong = || {
            OptimiseError::invalid(format!(
                "{text}: expected PATH=FIRST..LAST, with whole numbers, such as station.desk.servers=1..20, or \
                 PATH=FIRST..LAST:STEP"
            ))
        };
        let (path, values) = text.split_once('=').ok_or_else(wrong)?;
        let (first, last) = values.split_once("..").ok_or_else(wrong)?;
        let path = path.trim().to_owned();
        let Some((last, step)) = last.split_once(':') else {
            let [first, last] = [first, last].map(|end| end.trim().parse::<i64>().map_err(|_| wrong()));
            let (first_place, last) = (first?, last?);
            #[expect(clippy::cast_precision_loss, reason = "numbers of descriptions are smaller")]
            let first = first_place as f64;
            return match first_place > last {
                true => Err(wrong()),
                false => Ok(Self { path, first, step: None, places: (first_place, last) }),
            };
        };
        let [first, last, step] = [first, last, step].map(|number| {
            number.trim().parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(wrong)
        });
        let (first, last, step) = (first?, last?, step?);
        // A last number that is no whole step away is left out.
        let steps = ((last - first) / step + 1e-9).floor();
        if step <= 0.0 || !(0.0..=MOST_STEPS).contains(&steps) {
            return Err(wrong());
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is bounded")]
        let places = (0, steps as i64);
        Ok(Self { path, first, step: Some(step), places })
    }
}

impl NumberRange {
    /// The places of the numbers.
    pub(super) fn places(&self) -> RangeInclusive<i64> {
        self.places.0..=self.places.1
    }

    /// The number at a place.
    pub(super) fn value(&self, place: i64) -> Value {
        match self.step {
            None => place.into(),
            #[expect(clippy::cast_precision_loss, reason = "it is bounded")]
            Some(step) => {
                let value = self.first + step * place as f64;
                // Rounded, so that 0.1 + 2 * 0.1 is printed as 0.3.
                format!("{value:.12}").parse::<f64>().unwrap_or(value).into()
            }
        }
    }

    /// The place of a number, if it is in the range.
    pub(super) fn place_of(&self, value: f64) -> Option<i64> {
        let place = ((value - self.first) / self.step.unwrap_or(1.0)).round();
        #[expect(clippy::cast_possible_truncation, reason = "it is compared with the number")]
        let place = place as i64 + self.places.0;
        let is_it = (self.value(place).as_f64() - value).abs() <= 1e-9 * value.abs().max(1.0);
        Some(place).filter(|place| is_it && self.places().contains(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_whole_numbers_or_steps() {
        let whole: NumberRange = "doctors=2..8".parse().unwrap();
        assert_eq!((whole.places(), whole.value(3)), (2..=8, Value::Integer(3)));
        assert_eq!((whole.place_of(8.0), whole.place_of(9.0), whole.place_of(2.5)), (Some(8), None, None));
        let steps: NumberRange = "a.speed = 0.1..1.05:0.1".parse().unwrap();
        assert_eq!((steps.path.as_str(), steps.places()), ("a.speed", 0..=9));
        assert_eq!((steps.value(2), steps.value(9)), (Value::Real(0.3), Value::Real(1.0)));
        assert_eq!((steps.place_of(0.3), steps.place_of(0.35), steps.place_of(1.1)), (Some(2), None, None));
        for wrong in ["a", "a=1", "a=3..1", "a=1.5..2", "a=1..2:0", "a=1..2:-1", "a=2..1:0.1", "a=1..x:1"] {
            assert!(wrong.parse::<NumberRange>().is_err(), "{wrong}");
        }
    }
}
