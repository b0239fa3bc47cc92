//! Arithmetic over measures and parameters: `100 * station.agents.servers + 5 * queue(agents)`.

use std::collections::HashMap;

use eventhorizon::facility::{NetworkDescription, Share};
use eventhorizon::statistics::{AnalysisError, Observations};

use super::{Outcome, usage};

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Number(f64),
    /// A measure, such as `wait(agents)`, or a parameter, such as `station.agents.servers`.
    Name(String),
    Negative(Box<Expression>),
    Binary(char, Box<[Expression; 2]>),
}

/// Levels of brackets.
const MOST_DEPTH: usize = 64;

impl Expression {
    /// Parses a text: numbers, names, `+ - * /` and brackets. A name that a bracket follows at once
    /// has everything up to its end.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let found = parser.sum()?;
        match parser.next() {
            None => Ok(found),
            Some(other) => Err(format!("`{other}` is not expected at character {}", parser.at + 1)),
        }
    }

    /// The names in it, each once, in their order.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.add_names(&mut names);
        names
    }

    fn add_names(&self, names: &mut Vec<String>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) if names.contains(name) => {}
            Self::Name(name) => names.push(name.clone()),
            Self::Negative(of) => of.add_names(names),
            Self::Binary(_, of) => of.iter().for_each(|of| of.add_names(names)),
        }
    }

    /// The same with expressions for names.
    #[must_use]
    pub fn replaced(&self, name_by: &impl Fn(&str) -> Self) -> Self {
        match self {
            Self::Number(value) => Self::Number(*value),
            Self::Name(name) => name_by(name),
            Self::Negative(value) => Self::Negative(Box::new(value.replaced(name_by))),
            Self::Binary(operator, both) => {
                Self::Binary(*operator, Box::new([both[0].replaced(name_by), both[1].replaced(name_by)]))
            }
        }
    }

    /// Adds its values as a column. Names are numbers by `number_of`, or columns.
    pub fn add_to(
        &self,
        made: &mut Observations,
        name: &str,
        number_of: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<(), AnalysisError> {
        let numbers: HashMap<String, f64> =
            self.names().into_iter().filter_map(|name| Some((name.clone(), number_of(&name)?))).collect();
        let measures: Vec<String> =
            self.names().into_iter().filter(|name| !numbers.contains_key(name)).collect();
        let from: Vec<&str> = measures.iter().map(String::as_str).collect();
        let (expression, places) = (self.clone(), measures.clone());
        made.combine(name, &from, move |values| {
            expression.value(&|name| match numbers.get(name) {
                Some(number) => *number,
                None => places.iter().position(|place| place == name).map_or(f64::NAN, |place| values[place]),
            })
        })
    }

    /// Its value.
    pub fn value(&self, of: &impl Fn(&str) -> f64) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Name(name) => of(name),
            Self::Negative(value) => -value.value(of),
            Self::Binary(operator, both) => {
                let [left, right] = [&both[0], &both[1]].map(|side| side.value(of));
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                }
            }
        }
    }
}

/// A bound: `LEFT <= RIGHT` as the difference that is at most 0.
pub fn bound(text: &str) -> Result<Expression, String> {
    let mut depth = 0_i32;
    for (at, character) in text.char_indices() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        let sides = ["<=", ">="].into_iter().find(|sign| depth == 0 && text[at..].starts_with(sign));
        if let Some(sign) = sides {
            let [left, right] = [&text[..at], &text[at + 2..]].map(Expression::parse);
            let both = if sign == "<=" { [left?, right?] } else { [right?, left?] };
            return Ok(Expression::Binary('-', Box::new(both)));
        }
    }
    Err("expected `MEASURE <= NUMBER` or `MEASURE >= NUMBER`".to_owned())
}

/// A column of one's own: `NAME = EXPRESSION`.
pub fn column(text: &str) -> Result<(String, Expression), String> {
    let (name, formula) = text.split_once('=').ok_or("expected NAME = EXPRESSION")?;
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|character| character.is_alphanumeric() || character == '_') {
        return Err(format!("`{name}` is no name: use letters, digits and `_`"));
    }
    Ok((name.to_owned(), Expression::parse(formula)?))
}

/// Formulas in whose place their names may be written.
#[derive(Default)]
pub struct Columns {
    /// Without names of each other.
    pub all: Vec<(String, Expression)>,
    /// Shares of times in them, and in expressions that were expanded.
    pub shares: Vec<Share>,
}

impl Columns {
    /// Takes formulas: each may have the names of those before it.
    pub fn new(formulas: impl IntoIterator<Item = (String, Expression)>) -> Outcome<Self> {
        let mut columns = Self::default();
        for (name, formula) in formulas {
            if columns.all.iter().any(|(known, _)| *known == name) {
                return Err(usage(format!("the column `{name}` is written twice: remove one")));
            }
            let formula = columns.expanded(&formula)?;
            columns.all.push((name, formula));
        }
        Ok(columns)
    }

    /// The formulas of the table `[columns]` of a description.
    pub fn of_file(description: &NetworkDescription) -> Outcome<Self> {
        let formulas = description.columns().iter().map(|(name, formula)| {
            column(&format!("{name} = {formula}"))
                .map_err(|wrong| usage(format!("[columns] {name}: {wrong}")))
        });
        Self::new(formulas.collect::<Outcome<Vec<_>>>()?)
    }

    /// An expression without names of columns, and with shares by their names as measures.
    pub fn expanded(&mut self, expression: &Expression) -> Outcome<Expression> {
        for name in expression.names().iter().filter(|name| name.starts_with("share(")) {
            let share: Share = name.parse()?;
            if !self.shares.contains(&share) {
                self.shares.push(share);
            }
        }
        Ok(expression.replaced(&|name| match self.all.iter().find(|(known, _)| known == name) {
            Some((_, formula)) => formula.clone(),
            None => Expression::Name(
                name.parse()
                    .ok()
                    .filter(|_| name.starts_with("share("))
                    .map_or_else(|| name.to_owned(), |share: Share| share.to_string()),
            ),
        }))
    }

    /// Refuses names that are neither measures nor numbers.
    pub fn check(&self, known: &[String], number_of: &dyn Fn(&str) -> Option<f64>) -> Outcome<()> {
        for (column, formula) in &self.all {
            if let Some(name) =
                formula.names().into_iter().find(|name| !known.contains(name) && number_of(name).is_none())
            {
                return Err(usage(format!(
                    "column `{column}`: `{name}` is no measure, and no number of the file. Measures: {}",
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// The next character that is no space.
    fn next(&mut self) -> Option<char> {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest.chars().next()
    }

    fn takes(&mut self, all: &[char]) -> Option<char> {
        let next = self.next().filter(|next| all.contains(next))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        while let Some(operator) = self.takes(&['+', '-']) {
            left = Expression::Binary(operator, Box::new([left, self.product()?]));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.factor()?;
        while let Some(operator) = self.takes(&['*', '/']) {
            left = Expression::Binary(operator, Box::new([left, self.factor()?]));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(format!("there are more than {MOST_DEPTH} levels of brackets and signs"));
        }
        let found = match self.next() {
            Some('-') => {
                self.at += 1;
                Ok(Expression::Negative(Box::new(self.factor()?)))
            }
            Some('(') => {
                self.at += 1;
                let inside = self.sum()?;
                self.takes(&[')']).map(|_| inside).ok_or_else(|| "a bracket is not closed".to_owned())
            }
            Some(first) if first.is_ascii_digit() || first == '.' => self.number(),
            Some(first) if first.is_alphabetic() || first == '_' => self.name(),
            Some(other) => Err(format!("`{other}` is not expected at character {}", self.at + 1)),
            None => Err("it ends where a number or a name is expected".to_owned()),
        };
        self.depth -= 1;
        found
    }

    fn number(&mut self) -> Result<Expression, String> {
        let rest = &self.text[self.at..];
        let mut end = 0;
        for (at, character) in rest.char_indices() {
            let signed = matches!(character, '+' | '-') && rest[..at].ends_with(['e', 'E']);
            if !(character.is_ascii_alphanumeric() || character == '.' || signed) {
                break;
            }
            end = at + 1;
        }
        self.at += end;
        rest[..end].parse().map(Expression::Number).map_err(|_| format!("`{}` is not a number", &rest[..end]))
    }

    fn name(&mut self) -> Result<Expression, String> {
        let rest = &self.text[self.at..];
        let part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
        let mut end = rest.find(|character| !part(character)).unwrap_or(rest.len());
        if rest[end..].starts_with('(') {
            let mut depth = 0_i32;
            let close = rest[end..].char_indices().find(|&(_, character)| {
                depth += i32::from(character == '(') - i32::from(character == ')');
                depth == 0
            });
            end += close.ok_or_else(|| "a bracket is not closed".to_owned())?.0 + 1;
        }
        self.at += end;
        Ok(Expression::Name(rest[..end].to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let of = |name: &str| match name {
            "station.a.servers" => 3.0,
            "wait(a, urgent)" => 0.5,
            "share(stay <= 4)" => 0.9,
            _ => panic!("{name}"),
        };
        Expression::parse(text).unwrap().value(&of)
    }

    #[test]
    fn arithmetic_has_its_usual_order() {
        assert_eq!(value("2 + 3 * 4 - -6 / 2"), 17.0);
        assert_eq!(value("(2 + 3) * 1.5e1 - 10 * wait(a, urgent)"), 70.0);
        assert_eq!(value("10*station.a.servers+share(stay <= 4)"), 30.9);
    }

    #[test]
    fn bounds_are_differences() {
        let found = bound("share(stay <= 4) >= 0.95").unwrap();
        assert_eq!(found.names(), ["share(stay <= 4)"]);
        assert!(found.value(&|_| 0.96) < 0.0 && found.value(&|_| 0.94) > 0.0);
        assert!(bound("wait <= 3").unwrap().value(&|_| 4.0) > 0.0);
    }

    #[test]
    fn columns_are_put_in_the_place_of_their_names() {
        let of = |texts: &[&str]| Columns::new(texts.iter().map(|text| column(text).unwrap()));
        let mut columns = of(&["cost = 2 * queue(a)", "profit = 9 - cost"]).unwrap();
        assert_eq!(columns.all[1].1, Expression::parse("9 - 2 * queue(a)").unwrap());
        let bound = columns.expanded(&Expression::parse("share( wait(a)<=4.0 ) + cost").unwrap()).unwrap();
        assert_eq!(bound.names(), ["share(wait(a) <= 4)", "queue(a)"]);
        assert_eq!(columns.shares.len(), 1);
        let known = ["queue(a)".to_owned()];
        assert!(columns.check(&known, &|_| None).is_ok() && columns.check(&[], &|_| None).is_err());
        assert!(of(&["a = 1", "a = 2"]).is_err() && column("a b = 1").is_err() && column("1").is_err());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for wrong in ["", "1 +", "wait(a", "(1", "1 1", "2x", "$", "1 + * 2", &"(".repeat(100)] {
            assert!(Expression::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["wait", "wait < 3", "wait <=", "share(stay <= 4)"] {
            assert!(bound(wrong).is_err(), "{wrong}");
        }
    }
}
