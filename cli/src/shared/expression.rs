//! Arithmetic over measures and parameters: `100 * station.agents.servers + 5 * queue(agents)`.

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
    fn what_is_no_expression_is_refused() {
        for wrong in ["", "1 +", "wait(a", "(1", "1 1", "2x", "$", "1 + * 2", &"(".repeat(100)] {
            assert!(Expression::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["wait", "wait < 3", "wait <=", "share(stay <= 4)"] {
            assert!(bound(wrong).is_err(), "{wrong}");
        }
    }
}
