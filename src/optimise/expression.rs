//! Arithmetic over measures and parameters: `100 * station.agents.servers + 5 * queue(agents)`.

use std::collections::HashMap;
use std::str::FromStr;

use crate::facility::{NetworkDescription, Share};
use crate::statistics::{AnalysisError, Observations};

use super::error::OptimiseError;

/// A parsed expression: numbers, names, `+ - * /` and brackets. A name that a bracket follows at
/// once has everything up to its end: `wait(desk, urgent)`. Keys of paths may have quotation marks.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression(Term);

#[derive(Debug, Clone, PartialEq)]
enum Term {
    Number(f64),
    /// A measure, such as `wait(agents)`, or a parameter, such as `station.agents.servers`.
    Name(String),
    Negative(Box<Term>),
    Binary(char, Box<[Term; 2]>),
}

/// Levels of brackets.
const MOST_DEPTH: usize = 64;

impl FromStr for Expression {
    type Err = OptimiseError;

    fn from_str(text: &str) -> Result<Self, OptimiseError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let found = parser.sum().map_err(OptimiseError::invalid)?;
        match parser.next() {
            None => Ok(Self(found)),
            Some(other) => Err(OptimiseError::invalid(format!(
                "`{other}` is not expected at character {}",
                parser.at + 1
            ))),
        }
    }
}

impl Expression {
    /// The names in it, each once, in their order.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.0.add_names(&mut names);
        names
    }

    /// The same with the other sign.
    pub(super) fn negative(&self) -> Self {
        Self(Term::Negative(Box::new(self.0.clone())))
    }

    /// Adds its values as a column. Names are numbers by `number_of`, or columns.
    ///
    /// # Errors
    /// [`AnalysisError::NoColumn`] for names that are neither.
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

    /// Its value, by those of its names.
    pub fn value(&self, of: &impl Fn(&str) -> f64) -> f64 {
        self.0.value(of)
    }
}

impl Term {
    fn add_names(&self, names: &mut Vec<String>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) if names.contains(name) => {}
            Self::Name(name) => names.push(name.clone()),
            Self::Negative(of) => of.add_names(names),
            Self::Binary(_, of) => of.iter().for_each(|of| of.add_names(names)),
        }
    }

    /// The same with terms for names.
    fn replaced(&self, name_by: &impl Fn(&str) -> Self) -> Self {
        match self {
            Self::Number(value) => Self::Number(*value),
            Self::Name(name) => name_by(name),
            Self::Negative(value) => Self::Negative(Box::new(value.replaced(name_by))),
            Self::Binary(operator, both) => {
                Self::Binary(*operator, Box::new([both[0].replaced(name_by), both[1].replaced(name_by)]))
            }
        }
    }

    fn value(&self, of: &impl Fn(&str) -> f64) -> f64 {
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

/// Parses a bound, `LEFT <= RIGHT` or `LEFT >= RIGHT`, as a difference that is at most 0.
///
/// # Errors
/// [`OptimiseError::Invalid`].
pub fn bound(text: &str) -> Result<Expression, OptimiseError> {
    let (mut depth, mut is_quoted) = (0_i32, false);
    for (at, character) in text.char_indices() {
        is_quoted ^= character == '"';
        if is_quoted {
            continue;
        }
        depth += i32::from(character == '(') - i32::from(character == ')');
        let sides = ["<=", ">="].into_iter().find(|sign| depth == 0 && text[at..].starts_with(sign));
        if let Some(sign) = sides {
            let [left, right] = [&text[..at], &text[at + 2..]].map(str::parse::<Expression>);
            let both = if sign == "<=" { [left?.0, right?.0] } else { [right?.0, left?.0] };
            return Ok(Expression(Term::Binary('-', Box::new(both))));
        }
    }
    Err(OptimiseError::invalid("expected `MEASURE <= NUMBER` or `MEASURE >= NUMBER`"))
}

/// Parses a column of one's own: `NAME = EXPRESSION`.
///
/// # Errors
/// [`OptimiseError::Invalid`].
pub fn column(text: &str) -> Result<(String, Expression), OptimiseError> {
    let (name, formula) =
        text.split_once('=').ok_or_else(|| OptimiseError::invalid("expected NAME = EXPRESSION"))?;
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|character| character.is_alphanumeric() || character == '_') {
        return Err(OptimiseError::invalid(format!("`{name}` is no name: use letters, digits and `_`")));
    }
    Ok((name.to_owned(), formula.parse()?))
}

/// Formulas in whose place their names may be written.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    /// Without names of each other.
    pub all: Vec<(String, Expression)>,
    /// Shares of times in them, and in expressions that were expanded.
    pub shares: Vec<Share>,
}

impl Columns {
    /// Takes formulas: each may have the names of those before it.
    ///
    /// # Errors
    /// [`OptimiseError::Invalid`] for two with one name, [`OptimiseError::Network`] for a share.
    pub fn new(formulas: impl IntoIterator<Item = (String, Expression)>) -> Result<Self, OptimiseError> {
        let mut columns = Self::default();
        for (name, formula) in formulas {
            if columns.all.iter().any(|(known, _)| *known == name) {
                let what = format!("the column `{name}` is written twice: remove one");
                return Err(OptimiseError::Invalid { what });
            }
            let formula = columns.expanded(&formula)?;
            columns.all.push((name, formula));
        }
        Ok(columns)
    }

    /// The formulas of the table `[columns]` of a description.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of_file(description: &NetworkDescription) -> Result<Self, OptimiseError> {
        let formulas = description.columns().iter().map(|(name, formula)| {
            column(&format!("{name} = {formula}"))
                .map_err(|wrong| OptimiseError::invalid(format!("[columns] {name}: {wrong}")))
        });
        Self::new(formulas.collect::<Result<Vec<_>, _>>()?)
    }

    /// An expression without names of columns, and with shares by their names as measures.
    ///
    /// # Errors
    /// [`OptimiseError::Network`] for an invalid share.
    pub fn expanded(&mut self, expression: &Expression) -> Result<Expression, OptimiseError> {
        for name in expression.names().iter().filter(|name| name.starts_with("share(")) {
            let share: Share = name.parse()?;
            if !self.shares.contains(&share) {
                self.shares.push(share);
            }
        }
        let replaced =
            expression.0.replaced(&|name| match self.all.iter().find(|(known, _)| known == name) {
                Some((_, formula)) => formula.0.clone(),
                None => Term::Name(
                    name.parse()
                        .ok()
                        .filter(|_| name.starts_with("share("))
                        .map_or_else(|| name.to_owned(), |share: Share| share.to_string()),
                ),
            });
        Ok(Expression(replaced))
    }

    /// Refuses names that are neither measures nor numbers.
    ///
    /// # Errors
    /// [`OptimiseError::Invalid`].
    pub fn check(
        &self,
        known: &[String],
        number_of: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<(), OptimiseError> {
        for (column, formula) in &self.all {
            if let Some(name) =
                formula.names().into_iter().find(|name| !known.contains(name) && number_of(name).is_none())
            {
                return Err(OptimiseError::invalid(format!(
                    "column `{column}`: `{name}` is no measure, and no number of the file.{} Measures: {}",
                    unwritten(&name),
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// The remedy for a path whose number a description leaves out, because it is the default.
pub(super) fn unwritten(path: &str) -> String {
    let defaults = [("servers", 1), ("batch", 1), ("population", 0)];
    let found = path.rsplit_once('.').and_then(|(table, key)| {
        let (_, value) = defaults.into_iter().find(|(known, _)| *known == key)?;
        Some(format!(" If it is the default, write `{key} = {value}` in [{table}]."))
    });
    found.unwrap_or_default()
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

    fn sum(&mut self) -> Result<Term, String> {
        let mut left = self.product()?;
        while let Some(operator) = self.takes(&['+', '-']) {
            left = Term::Binary(operator, Box::new([left, self.product()?]));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Term, String> {
        let mut left = self.factor()?;
        while let Some(operator) = self.takes(&['*', '/']) {
            left = Term::Binary(operator, Box::new([left, self.factor()?]));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Term, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(format!("there are more than {MOST_DEPTH} levels of brackets and signs"));
        }
        let found = match self.next() {
            Some('-') => {
                self.at += 1;
                Ok(Term::Negative(Box::new(self.factor()?)))
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

    fn number(&mut self) -> Result<Term, String> {
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
        rest[..end].parse().map(Term::Number).map_err(|_| format!("`{}` is not a number", &rest[..end]))
    }

    fn name(&mut self) -> Result<Term, String> {
        let rest = &self.text[self.at..];
        // A key in quotation marks may have any characters.
        let (mut is_quoted, mut last) = (false, ' ');
        let ends = |(_, character): &(usize, char)| {
            let begins = *character == '"' && (is_quoted || last == '.');
            is_quoted ^= begins;
            last = *character;
            !(is_quoted || begins || character.is_alphanumeric() || matches!(character, '_' | '.'))
        };
        let mut end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
        if is_quoted {
            return Err("a quotation mark is not closed".to_owned());
        }
        if rest[end..].starts_with('(') {
            let mut depth = 0_i32;
            let close = rest[end..].char_indices().find(|&(_, character)| {
                depth += i32::from(character == '(') - i32::from(character == ')');
                depth == 0
            });
            end += close.ok_or_else(|| "a bracket is not closed".to_owned())?.0 + 1;
        }
        self.at += end;
        Ok(Term::Name(rest[..end].to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let of = |name: &str| match name {
            "station.a.servers" | "station.\"a - (b\".servers" => 3.0,
            "wait(a, urgent)" => 0.5,
            "share(stay <= 4)" => 0.9,
            _ => panic!("{name}"),
        };
        text.parse::<Expression>().unwrap().value(&of)
    }

    #[test]
    fn arithmetic_has_its_usual_order() {
        assert_eq!(value("2 + 3 * 4 - -6 / 2"), 17.0);
        assert_eq!(value("(2 + 3) * 1.5e1 - 10 * wait(a, urgent)"), 70.0);
        assert_eq!(value("10*station.a.servers+share(stay <= 4)"), 30.9);
        assert_eq!(value("2 * station.\"a - (b\".servers - 1"), 5.0);
    }

    #[test]
    fn bounds_are_differences() {
        let found = bound("share(stay <= 4) >= 0.95").unwrap();
        assert_eq!(found.names(), ["share(stay <= 4)"]);
        assert!(found.value(&|_| 0.96) < 0.0 && found.value(&|_| 0.94) > 0.0);
        assert!(bound("wait <= 3").unwrap().value(&|_| 4.0) > 0.0);
        let quoted = bound("station.\"a (b <= c\".servers <= 3").unwrap();
        assert_eq!(quoted.names(), ["station.\"a (b <= c\".servers"]);
    }

    #[test]
    fn columns_are_put_in_the_place_of_their_names() {
        let of = |texts: &[&str]| Columns::new(texts.iter().map(|text| column(text).unwrap()));
        let mut columns = of(&["cost = 2 * queue(a)", "profit = 9 - cost"]).unwrap();
        assert_eq!(columns.all[1].1, "9 - 2 * queue(a)".parse().unwrap());
        let bound = columns.expanded(&"share( wait(a)<=4.0 ) + cost".parse().unwrap()).unwrap();
        assert_eq!(bound.names(), ["share(wait(a) <= 4)", "queue(a)"]);
        assert_eq!(columns.shares.len(), 1);
        let known = ["queue(a)".to_owned()];
        assert!(columns.check(&known, &|_| None).is_ok() && columns.check(&[], &|_| None).is_err());
        assert!(of(&["a = 1", "a = 2"]).is_err() && column("a b = 1").is_err() && column("1").is_err());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for wrong in
            ["", "1 +", "wait(a", "(1", "1 1", "2x", "$", "1 + * 2", "a.\"b", "a\"b\"", &"(".repeat(100)]
        {
            assert!(wrong.parse::<Expression>().is_err(), "{wrong}");
        }
        for wrong in ["wait", "wait < 3", "wait <=", "share(stay <= 4)"] {
            assert!(bound(wrong).is_err(), "{wrong}");
        }
    }
}
