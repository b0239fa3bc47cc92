//! The numbers that a search may choose.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::statistics::Value;

use super::error::OptimiseError;

/// A path of a description, and the numbers that it may have. `PATH=FIRST..LAST` are whole numbers,
/// both ends included. `PATH=FIRST..LAST:STEP` are real ones in steps from the first, not beyond
/// the last.
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
        let wrong = |reason: &str| OptimiseError::invalid(format!("{text}: {reason}"));
        let form = "write PATH=FIRST..LAST, with whole numbers, such as station.desk.servers=1..20, or \
                    PATH=FIRST..LAST:STEP";
        let (path, values) = text.split_once('=').ok_or_else(|| wrong(form))?;
        let (first, last) = values.split_once("..").ok_or_else(|| wrong(form))?;
        let path = path.trim().to_owned();
        let not_a_number =
            |number: &str, what: &str| wrong(&format!("`{}` is not {what}; {form}", number.trim()));
        let backwards = || wrong("the first number is above the last one; swap them");
        let Some((last, step)) = last.split_once(':') else {
            let whole = |end: &str| {
                let what = match end.trim().parse::<f64>() {
                    Ok(number) if number.is_finite() => "a whole number, and there is no step",
                    _ => "a number",
                };
                end.trim().parse::<i64>().map_err(|_| not_a_number(end, what))
            };
            let (first_place, last) = (whole(first)?, whole(last)?);
            #[expect(clippy::cast_precision_loss, reason = "numbers of descriptions are smaller")]
            let first = first_place as f64;
            return match first_place > last {
                true => Err(backwards()),
                false => Ok(Self { path, first, step: None, places: (first_place, last) }),
            };
        };
        let real = |number: &str| {
            let found = number.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            found.ok_or_else(|| not_a_number(number, "a number"))
        };
        let (first, last, step) = (real(first)?, real(last)?, real(step)?);
        if step <= 0.0 {
            return Err(wrong(&format!("the step {step} is not above 0; choose a larger one")));
        }
        if first > last {
            return Err(backwards());
        }
        // A last number that is no whole step away is left out.
        let steps = ((last - first) / step + 1e-9).floor();
        if steps < 1.0 && last > first {
            return Err(wrong(&format!("the step {step} is longer than the range; choose a shorter one")));
        }
        if steps > MOST_STEPS {
            return Err(wrong(&format!("there are more than {MOST_STEPS} steps; choose a longer step")));
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
        // 0.3 - 0.1 is less than 0.2.
        assert_eq!("a=0.1..0.3:0.2".parse::<NumberRange>().unwrap().places(), 0..=1);
        for (wrong, says) in [
            ("a", "write PATH"),
            ("a=1", "write PATH"),
            ("a=3..1", "swap them"),
            ("a=1.5..2", "`1.5` is not a whole number"),
            ("a=1..2:0", "the step 0 is not above 0"),
            ("a=1..2:-1", "the step -1 is not above 0"),
            ("a=2..1:0.1", "swap them"),
            ("a=1..2:5", "the step 5 is longer than the range"),
            ("a=1..x:1", "`x` is not a number"),
            ("a=1..2:1e-12", "more than 1000000000 steps"),
        ] {
            let error = wrong.parse::<NumberRange>().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
