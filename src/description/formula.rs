//! Measures: formulas over the result columns of a model.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = factor (("*" | "/") factor)*
//! factor  = "-" factor | "(" sum ")" | number | name | ("mean" | "min" | "max") "(" name ")"
//! ```
//!
//! A quotient is one of means over all replications: the average of each replication's own would be
//! biased.

use std::fmt;

/// A formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Formula {
    Number(f64),
    /// A column by its name, or what a function makes of it.
    Of(Function, String),
    Negative(Box<Formula>),
    Both(Box<Formula>, char, Box<Formula>),
}

/// How a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// Its value; of several LPs, their sum.
    Sum,
    /// Of a `Tally` or a `TimeAverage`, its mean.
    Mean,
    /// The smallest value of any LP.
    Min,
    Max,
    /// What a mean divides, and by what.
    Over,
    Under,
}

/// A formula with quotients, as a formula over the means of parts that have none.
pub(super) struct Pooled {
    /// Their names, and what each replication's value is.
    pub(super) parts: Vec<(String, Formula)>,
    /// Over these names.
    pub(super) whole: Formula,
}

/// What is wrong with a formula, and at which character (from 1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FormulaError {
    at: usize,
    what: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {} of the formula: {}", self.at, self.what)
    }
}

/// Bytes of a formula, and its depth: the parser is recursive, so the depth is bounded for the
/// stack.
const MOST_BYTES: usize = 4096;
const MOST_DEPTH: usize = 100;

impl Formula {
    pub(super) fn parse(text: &str) -> Result<Self, FormulaError> {
        if text.len() > MOST_BYTES {
            return Err(FormulaError {
                at: MOST_BYTES,
                what: format!("it has more than {MOST_BYTES} bytes"),
            });
        }
        let mut parser = Parser { rest: text, whole: text, depth: 0 };
        let formula = parser.sum()?;
        match parser.next() {
            None => Ok(formula),
            Some(other) => {
                Err(parser
                    .wrong(format!("`{other}` is where the formula should end, or continue with + - * /")))
            }
        }
    }

    /// All columns that are read, and how.
    pub(super) fn columns(&self) -> Vec<(Function, &str)> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Of(function, name) => vec![(*function, name)],
            Self::Negative(inner) => inner.columns(),
            Self::Both(left, _, right) => [left.columns(), right.columns()].concat(),
        }
    }

    /// The formula over means, if it divides by something that is not `constant`. `name` is the
    /// name
    /// of the measure.
    pub(super) fn pooled(&self, name: &str, constant: &impl Fn(&str) -> bool) -> Option<Pooled> {
        if !self.divides(constant) {
            return None;
        }
        let mut parts = Vec::new();
        let whole = self.over_means(name, constant, &mut parts);
        Some(Pooled { parts, whole })
    }

    fn varies(&self, constant: &impl Fn(&str) -> bool) -> bool {
        self.columns().iter().any(|&(function, name)| function != Function::Sum || !constant(name))
    }

    fn divides(&self, constant: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Of(function, _) => *function == Function::Mean,
            Self::Negative(inner) => inner.divides(constant),
            Self::Both(left, sign, right) => {
                *sign == '/' && right.varies(constant) || left.divides(constant) || right.divides(constant)
            }
        }
    }

    fn over_means(
        &self,
        name: &str,
        constant: &impl Fn(&str) -> bool,
        parts: &mut Vec<(String, Self)>,
    ) -> Self {
        if !self.varies(constant) {
            return self.clone();
        }
        if !self.divides(constant) {
            // No name in a file has a colon.
            let part = format!("{name}:{}", parts.len());
            parts.push((part.clone(), self.clone()));
            return Self::Of(Function::Sum, part);
        }
        match self {
            Self::Of(_, column) => {
                let [over, under] = [Function::Over, Function::Under]
                    .map(|half| Self::Of(half, column.clone()).over_means(name, constant, parts));
                Self::Both(over.into(), '/', under.into())
            }
            Self::Negative(inner) => Self::Negative(inner.over_means(name, constant, parts).into()),
            Self::Both(left, sign, right) => Self::Both(
                left.over_means(name, constant, parts).into(),
                *sign,
                right.over_means(name, constant, parts).into(),
            ),
            Self::Number(_) => self.clone(),
        }
    }

    /// Its value, with the values of columns from `value`. NaN if a value is missing.
    pub(super) fn value(&self, value: &impl Fn(Function, &str) -> f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Of(function, name) => value(*function, name),
            Self::Negative(inner) => -inner.value(value),
            Self::Both(left, sign, right) => {
                let (left, right) = (left.value(value), right.value(value));
                match sign {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    // 0 / 0 is NaN; an infinite result is reported as not a number.
                    _ => left / right,
                }
            }
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
    whole: &'t str,
    depth: usize,
}

impl Parser<'_> {
    fn wrong(&self, what: String) -> FormulaError {
        let before = self.whole.len() - self.rest.len();
        FormulaError { at: self.whole[..before].chars().count() + 1, what }
    }

    /// The next character that is not a space.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes one of these characters, if it is the next.
    fn take(&mut self, any: &[char]) -> Option<char> {
        let found = self.next().filter(|next| any.contains(next))?;
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    fn sum(&mut self) -> Result<Formula, FormulaError> {
        let mut left = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            left = Formula::Both(left.into(), sign, self.product()?.into());
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Formula, FormulaError> {
        let mut left = self.factor()?;
        while let Some(sign) = self.take(&['*', '/']) {
            left = Formula::Both(left.into(), sign, self.factor()?.into());
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Formula, FormulaError> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.wrong("it is nested too deeply".to_owned()));
        }
        let factor = self.inner();
        self.depth -= 1;
        factor
    }

    fn inner(&mut self) -> Result<Formula, FormulaError> {
        if self.take(&['-']).is_some() {
            return Ok(Formula::Negative(self.factor()?.into()));
        }
        if self.take(&['(']).is_some() {
            let inner = self.sum()?;
            return self.close().map(|()| inner);
        }
        let Some(first) = self.next() else {
            return Err(self.wrong("it ends where a column or a number should be".to_owned()));
        };
        if first.is_ascii_digit() || first == '.' {
            return self.number();
        }
        let name = self.name()?;
        let function = match name.as_str() {
            "mean" => Function::Mean,
            "min" => Function::Min,
            "max" => Function::Max,
            _ => return Ok(Formula::Of(Function::Sum, name)),
        };
        // A column may have the name of a function.
        if self.take(&['(']).is_none() {
            return Ok(Formula::Of(Function::Sum, name));
        }
        let of = self.name()?;
        self.close()?;
        Ok(Formula::Of(function, of))
    }

    fn close(&mut self) -> Result<(), FormulaError> {
        match self.take(&[')']) {
            Some(_) => Ok(()),
            None => Err(self.wrong("a `)` is missing".to_owned())),
        }
    }

    fn number(&mut self) -> Result<Formula, FormulaError> {
        // Digits and points, and an exponent with its sign.
        let mut end = 0;
        let mut before = ' ';
        for c in self.rest.chars() {
            let part = c.is_ascii_alphanumeric()
                || c == '.'
                || (matches!(c, '+' | '-') && matches!(before, 'e' | 'E'));
            if !part {
                break;
            }
            (end, before) = (end + c.len_utf8(), c);
        }
        let (text, rest) = self.rest.split_at(end);
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.rest = rest;
                Ok(Formula::Number(number))
            }
            _ => Err(self.wrong(format!("`{text}` is not a number"))),
        }
    }

    /// A column: `served`, `wait.sum`, `bins[2]`.
    fn name(&mut self) -> Result<String, FormulaError> {
        let first = self.next();
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']')));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        match first.is_some_and(|first| first.is_alphabetic() || first == '_') {
            true => {
                self.rest = rest;
                Ok(name.to_owned())
            }
            false => {
                let found = first.map_or_else(|| "the end".to_owned(), |first| format!("`{first}`"));
                Err(self.wrong(format!("{found} is where the name of a column should be")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let columns = |function: Function, name: &str| match (function, name) {
            (Function::Sum, "a") => 6.0,
            (Function::Sum, "b.sum") => 3.0,
            (Function::Mean, "b") => 1.5,
            (Function::Max, "c[1]") => 9.0,
            (Function::Sum, "mean") => 2.0,
            _ => f64::NAN,
        };
        Formula::parse(text).unwrap().value(&columns)
    }

    #[test]
    fn formulas_have_the_usual_meaning() {
        for (text, expected) in [
            ("a", 6.0),
            ("1 - 2 - 3", -4.0),
            ("2 * a + b.sum / 3", 13.0),
            ("a / (a + b.sum)", 6.0 / 9.0),
            ("-a * -2", 12.0),
            ("mean(b) + max( c[1] )", 10.5),
            ("mean", 2.0),
            ("1e3 + 2.5e-1 + .5", 1000.75),
            ("12/3/2", 2.0),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        assert!(value("d").is_nan());
    }

    #[test]
    fn quotients_are_of_means() {
        // Two replications, of which the columns have these values.
        let values = |name: &str| match name {
            "a" => [6.0, 2.0],
            "n" => [3.0, 0.0],
            "unit" => [4.0, 4.0],
            _ => [f64::NAN; 2],
        };
        for (text, expected) in [
            ("a / n", 8.0 / 3.0),
            ("mean(w) / unit", 30.0 / 8.0 / 4.0),
            ("1 - a / n * 2", 1.0 - 16.0 / 3.0),
            ("a * a / unit + n / a", 20.0 / 4.0 + 3.0 / 8.0),
            ("-(a / n) / (n / unit)", -(8.0 / 3.0) / (1.5 / 4.0)),
        ] {
            let formula = Formula::parse(text).unwrap();
            let Pooled { parts, whole } = formula.pooled("m", &|name| name == "unit").unwrap();
            let part = |formula: &Formula, run: usize| {
                formula.value(&|function, name| match function {
                    Function::Over => [10.0, 20.0][run],
                    Function::Under => [3.0, 5.0][run],
                    _ => values(name)[run],
                })
            };
            let means: Vec<f64> =
                parts.iter().map(|(_, formula)| (part(formula, 0) + part(formula, 1)) / 2.0).collect();
            let found = whole.value(&|_, name| {
                let place = parts.iter().position(|(part, _)| part == name);
                place.map_or_else(|| values(name)[0], |place| means[place])
            });
            assert!((found - expected).abs() < 1e-12, "{text}: {found}");
        }
        // Formulas that divide by constants only stay as they are.
        for text in ["a / unit + 3 * n", "max(a) - 1", "1 / (2 * unit)"] {
            assert!(Formula::parse(text).unwrap().pooled("m", &|name| name == "unit").is_none(), "{text}");
        }
    }

    #[test]
    fn errors_have_their_place() {
        for (text, at, word) in [
            ("", 1, "ends"),
            ("a +", 4, "ends"),
            ("(a", 3, "`)`"),
            ("a b", 3, "`b`"),
            ("1..2", 1, "not a number"),
            ("mean(3)", 6, "`3`"),
            ("a % 2", 3, "`%`"),
            ("é + ?", 5, "`?`"),
        ] {
            let wrong = Formula::parse(text).unwrap_err();
            assert!(wrong.at == at && wrong.what.contains(word), "{text}: {wrong}");
        }
        assert!(
            Formula::parse(&"(".repeat(100_000)).is_err() && Formula::parse(&"-".repeat(100_000)).is_err()
        );
    }
}
