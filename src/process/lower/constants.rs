//! Words of `Params`: constants and distributions, and their values at a point of an experiment.

use indexmap::IndexMap;

use crate::facility::Distribution;
use crate::facility::distribution::TABLE_WORD;
use crate::random::probability;
use crate::time::{Resolution, Ticks};

use super::super::error::ProcessError;
use super::super::ir::{self, Arguments, Binary, Expression, Kind, Place, Unary};
use super::super::program::{Constant, ConstantKind, Cost, Law, ParamWord, Program};

/// Steps of a real in 1.
pub(super) const REAL: f64 = (1 << 24) as f64;

/// Words before the constants: end of the warm-up (2), room for entities, 0.
const FIRST: u32 = 4;

/// Words of `Params` that are taken.
#[derive(Debug)]
pub(super) struct Constants {
    pub(super) constants: Vec<Constant>,
    pub(super) laws: Vec<Law>,
    next: u32,
}

impl Constants {
    pub(super) fn new() -> Self {
        Self { constants: Vec::new(), laws: Vec::new(), next: FIRST }
    }

    fn take(&mut self, words: u32, align: u32) -> ParamWord {
        let word = self.next.next_multiple_of(align);
        self.next = word + words;
        word
    }

    pub(super) fn rows(&self) -> u32 {
        self.next.div_ceil(4)
    }

    /// A constant; equal ones share their word.
    pub(super) fn constant(&mut self, kind: ConstantKind, what: &str, place: Place) -> ParamWord {
        if let Some(known) = self.constants.iter().find(|known| known.kind == kind && known.what == what) {
            return known.word;
        }
        let wide = matches!(kind, ConstantKind::Value(Kind::Time | Kind::Real, _));
        let words = if wide { 2 } else { 1 };
        let word = self.take(words, words);
        self.constants.push(Constant { word, kind, what: what.to_owned(), place });
        word
    }

    /// A distribution's number; equal ones share their words. `words` are those at the first point,
    /// and `table` its table, which goes to `data`.
    pub(super) fn law(
        &mut self,
        written: &ir::Law,
        mut words: [u32; 8],
        table: Option<&[[u32; 4]]>,
        data: &mut Vec<[u32; 4]>,
        place: Place,
    ) -> u32 {
        let found = self.laws.iter().position(|known| known.written == *written);
        let index = found.unwrap_or_else(|| {
            let table = table.map(|rows| {
                words[TABLE_WORD] = u32::try_from(data.len()).expect("fewer than 2^32 rows");
                data.extend(rows);
                words
            });
            let (written, at) = (written.clone(), self.take(8, 4));
            self.laws.push(Law { written, kind: words[0], words: at, table, place });
            self.laws.len() - 1
        });
        u32::try_from(index).expect("as many as there are words")
    }
}

/// An expression of numbers and parameters, with times in units; `None` for any other, and for a
/// division by zero.
pub(super) fn evaluate(expression: &Expression, point: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let value = match expression {
        Expression::Number(value) => *value,
        Expression::Name(name) => point(name)?,
        Expression::Reading(_) => return None,
        Expression::Unary(unary, operand) => {
            let value = evaluate(operand, point)?;
            match unary {
                Unary::Minus => -value,
                Unary::Not => f64::from(value == 0.0),
                Unary::Integer => value.floor(),
                Unary::Real | Unary::Time => value,
            }
        }
        Expression::Select(operands) => {
            let [condition, yes, no] = [0, 1, 2].map(|at| evaluate(&operands[at], point));
            if condition? == 0.0 { no? } else { yes? }
        }
        Expression::Binary(binary, operands) => {
            let [a, b] = [evaluate(&operands[0], point)?, evaluate(&operands[1], point)?];
            match binary {
                Binary::Plus => a + b,
                Binary::Minus => a - b,
                Binary::Times => a * b,
                Binary::Over => a / b,
                Binary::Modulo => a - b * (a / b).floor(),
                Binary::Min => a.min(b),
                Binary::Max => a.max(b),
                Binary::Equal => f64::from(a == b),
                Binary::Unequal => f64::from(a != b),
                Binary::Less => f64::from(a < b),
                Binary::LessOrEqual => f64::from(a <= b),
                Binary::Greater => f64::from(a > b),
                Binary::GreaterOrEqual => f64::from(a >= b),
                Binary::And => f64::from(a != 0.0 && b != 0.0),
                Binary::Or => f64::from(a != 0.0 || b != 0.0),
            }
        }
    };
    value.is_finite().then_some(value)
}

/// A distribution with the parameters of a point.
pub(super) fn distribution(
    law: &ir::Law,
    point: &dyn Fn(&str) -> Option<f64>,
    place: Place,
) -> Result<Distribution, ProcessError> {
    let wrong = |reason: String| ProcessError::Distribution { place, name: law.name.clone(), reason };
    let number = |expression: &Expression| {
        let value = evaluate(expression, point);
        value.ok_or_else(|| wrong("its arguments have to be numbers and parameters".to_owned()))
    };
    // Counts are whole numbers in the description of a distribution.
    let json = |value: f64| match value.fract() == 0.0 && (0.0..4_294_967_296.0).contains(&value) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        true => serde_json::Value::from(value as u64),
        false => serde_json::Value::from(value),
    };
    let arguments = match &law.arguments {
        Arguments::One(value) => json(number(value)?),
        Arguments::List(values) => {
            values.iter().map(|value| Ok(json(number(value)?))).collect::<Result<_, ProcessError>>()?
        }
        Arguments::Named(values) => {
            let pairs = values.iter().map(|(name, value)| Ok((name.clone(), json(number(value)?))));
            serde_json::Value::Object(pairs.collect::<Result<_, ProcessError>>()?)
        }
        Arguments::Whole(whole) => return Ok(*whole),
    };
    let written = serde_json::Value::Object([(law.name.clone(), arguments)].into_iter().collect());
    serde_json::from_value(written).map_err(|error| wrong(crate::text::suggested(&error.to_string())))
}

impl Program {
    /// The words of `Params` at a point: values of [`Program::parameters`], the end of the warm-up,
    /// and the room for entities.
    ///
    /// # Errors
    /// [`ProcessError::Setting`] and [`ProcessError::Distribution`], with the place.
    pub fn params(&self, point: &[f64], warm_up: Ticks, room: u32) -> Result<Vec<u32>, ProcessError> {
        let values: IndexMap<&str, f64> =
            self.parameters.iter().map(String::as_str).zip(point.iter().copied()).collect();
        let of = |name: &str| values.get(name).copied();
        let mut words = vec![0; 4 * self.param_rows as usize];
        let [low, high] = warm_up.to_words();
        words[..3].copy_from_slice(&[low, high, room]);
        for constant in &self.constants {
            let found = constant.words(&of, self.resolution)?;
            words[constant.word as usize..][..found.len()].copy_from_slice(&found);
        }
        for law in &self.laws {
            let drawn = distribution(&law.written, &of, law.place)?;
            let wrong = |reason| {
                let name = law.written.name.clone();
                ProcessError::Distribution { place: law.place, name, reason }
            };
            let mut found = drawn.words_at(self.resolution).map_err(wrong)?;
            if let Some(table) = law.table {
                found[TABLE_WORD] = table[TABLE_WORD];
                if found != table {
                    let reason = "it is drawn from a table, so its parameters cannot change between points; write a model for each point";
                    return Err(wrong(reason.to_owned()));
                }
            }
            words[law.words as usize..][..8].copy_from_slice(&found);
        }
        Ok(words)
    }
}

impl Program {
    /// The number that an expression of numbers and parameters has at a point, with times in units.
    pub fn number_at(&self, written: &Expression, point: &[f64]) -> Option<f64> {
        let place = |name: &str| self.parameters.iter().position(|known| known == name);
        evaluate(written, &|name| Some(point[place(name)?]))
    }

    /// The costs at a point: those of [`Program::costs`], each for units in use, for units that are
    /// not, and for a use.
    ///
    /// # Errors
    /// [`ProcessError::Setting`], with the place.
    pub fn costs_at(&self, point: &[f64]) -> Result<Vec<[f64; 3]>, ProcessError> {
        let rates = |cost: &Cost| {
            let mut found = [0.0; 3];
            let ir::Cost { busy, idle, each_use, place } = &cost.written;
            for (found, written) in found.iter_mut().zip([busy, idle, each_use]) {
                let Some(written) = written else { continue };
                *found = self.number_at(written, point).ok_or_else(|| ProcessError::Setting {
                    place: *place,
                    what: format!("the cost of `{}`", self.resources[cost.resource as usize].name),
                    value: "not a number".to_owned(),
                    remedy: "use numbers and parameters only".to_owned(),
                })?;
            }
            Ok(found)
        };
        self.costs.iter().map(rates).collect()
    }
}

impl Constant {
    fn words(
        &self,
        point: &dyn Fn(&str) -> Option<f64>,
        resolution: Resolution,
    ) -> Result<Vec<u32>, ProcessError> {
        let wrong = |value: String, remedy: &str| ProcessError::Setting {
            place: self.place,
            what: self.what.clone(),
            value,
            remedy: remedy.to_owned(),
        };
        let number = |expression: &Expression| {
            let value = evaluate(expression, point);
            value.ok_or_else(|| wrong("not a number".to_owned(), "use numbers and parameters only"))
        };
        match &self.kind {
            ConstantKind::Unbounded => Ok(vec![u32::MAX]),
            ConstantKind::Whole(expression, [low, high]) => {
                let value = number(expression)?;
                let fits = value.fract() == 0.0 && (f64::from(*low)..=f64::from(*high)).contains(&value);
                let remedy = format!("choose a whole number from {low} to {high}");
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
                fits.then(|| vec![value as u32]).ok_or_else(|| wrong(value.to_string(), &remedy))
            }
            ConstantKind::Value(kind, expression) => {
                let value = number(expression)?;
                literal(value, *kind, resolution)
                    .map(|bits| match kind {
                        Kind::Time | Kind::Real => Ticks::new(bits.cast_unsigned()).to_words().to_vec(),
                        Kind::Integer | Kind::Condition => {
                            vec![Ticks::new(bits.cast_unsigned()).to_words()[0]]
                        }
                    })
                    .map_err(|remedy| wrong(value.to_string(), remedy))
            }
            ConstantKind::Bin(kind, expression) => {
                let value = number(expression)?;
                let bits = literal(value, *kind, resolution).ok().filter(|bits| *bits > 0);
                let remedy = match kind {
                    Kind::Time => "choose a time of at least a tick",
                    _ => "choose a number above 0; of integers, at least 1",
                };
                bits.map(|bits| vec![bits.ilog2().min(31)]).ok_or_else(|| wrong(value.to_string(), remedy))
            }
            ConstantKind::Probability(parts) | ConstantKind::Certainty(parts) => {
                let sum = parts.iter().map(number).sum::<Result<f64, _>>()?;
                // A sum of probabilities may be off by rounding.
                let sum = if (sum - 1.0).abs() < 1e-9 { 1.0 } else { sum };
                let remedy = "choose probabilities from 0 to 1 with a sum of at most 1";
                let negative = parts.iter().any(|part| evaluate(part, point).is_some_and(|p| p < 0.0));
                if matches!(self.kind, ConstantKind::Certainty(_)) && sum != 1.0 {
                    return Err(wrong(crate::text::number(sum), "choose probabilities with a sum of 1"));
                }
                let found = probability(sum).ok().filter(|_| !negative);
                found.map(|word| vec![word]).ok_or_else(|| wrong(crate::text::number(sum), remedy))
            }
            ConstantKind::Share(which, rates) => {
                let rates = rates.iter().map(number).collect::<Result<Vec<_>, _>>()?;
                let most = rates.iter().copied().fold(0.0, f64::max);
                let found = probability(rates[*which] / most).ok();
                let remedy = "choose rates of at least 0, and one of them above 0";
                found.map(|word| vec![word]).ok_or_else(|| wrong(rates[*which].to_string(), remedy))
            }
        }
    }
}

/// A number as a value of a kind, in the low bits; else what to do.
#[expect(clippy::cast_possible_truncation, reason = "checked to fit")]
pub(super) fn literal(value: f64, kind: Kind, resolution: Resolution) -> Result<i64, &'static str> {
    match kind {
        Kind::Integer | Kind::Condition => {
            let fits = value.fract() == 0.0 && (-2_147_483_648.0..=2_147_483_647.0).contains(&value);
            fits.then_some(value as i64).ok_or("choose a whole number of 32 bits, or a real")
        }
        Kind::Real => {
            let steps = (value * REAL).round();
            let fits = steps.abs() < 9.2e18;
            fits.then_some(steps as i64).ok_or("choose a number below 5 * 10^11")
        }
        Kind::Time => {
            let ticks = resolution.ticks(value).ok().filter(|ticks| ticks.get() < 1 << 62);
            let ticks = ticks.map(|ticks| ticks.get().cast_signed());
            ticks.ok_or("choose a time that is not negative, shorter, or fewer ticks per unit")
        }
    }
}
