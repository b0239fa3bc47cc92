//! Expressions as they are written: `level >= 4 and free(bed) > 0`.
//!
//! ```text
//! expression = operand (operator operand)*     operators bind as in LEVELS
//! operand    = ("-" | "not") operand | number | name | name "(" expression ("," expression)* ")"
//!            | "(" expression ")"
//! ```
//!
//! `not` binds less tightly than comparisons and more tightly than `and`.

use super::super::error::ProcessError;
use super::super::ir::{Binary, Expression, Place, Reading, Unary};

/// Bytes of an expression.
const MOST_BYTES: usize = 4096;
/// Levels of an expression: what reads and compiles it is recursive, so the stack bounds them.
const MOST_DEPTH: usize = 64;

/// Operators with two operands, and how tightly they bind. The longer of two texts comes first.
const OPERATORS: [(&str, u8, Binary); 13] = [
    ("or", 1, Binary::Or),
    ("and", 2, Binary::And),
    ("==", COMPARED, Binary::Equal),
    ("!=", COMPARED, Binary::Unequal),
    ("<=", COMPARED, Binary::LessOrEqual),
    (">=", COMPARED, Binary::GreaterOrEqual),
    ("<", COMPARED, Binary::Less),
    (">", COMPARED, Binary::Greater),
    ("+", 5, Binary::Plus),
    ("-", 5, Binary::Minus),
    ("*", 6, Binary::Times),
    ("/", 6, Binary::Over),
    ("%", 6, Binary::Modulo),
];

/// How tightly comparisons bind. They are not chained.
const COMPARED: u8 = 4;
/// The operand of `not` is a comparison, that of `-` a factor.
const NEGATED: u8 = 3;
const SIGNED: u8 = 7;

/// A function with what it reads.
type Read = (&'static str, fn(String) -> Reading);
/// Functions with what they read, and with one operand.
const READINGS: [Read; 6] = [
    ("in_use", Reading::InUse),
    ("free", Reading::Free),
    ("units", Reading::Units),
    ("queue", Reading::Queue),
    ("level", Reading::Level),
    ("last", Reading::Last),
];
const UNARY: [(&str, Unary); 3] = [("integer", Unary::Integer), ("real", Unary::Real), ("time", Unary::Time)];
const FUNCTIONS: [&str; 12] =
    ["if", "min", "max", "integer", "real", "time", "in_use", "free", "units", "queue", "level", "last"];

/// Texts of other languages, and what to write.
const ELSEWHERE: [(&str, &str); 6] = [
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("!", "write `not`"),
    ("=", "write `==` to compare"),
    ("^", "there are no powers; multiply"),
    ("?", "write `if(condition, a, b)`"),
];

impl Expression {
    /// Reads an expression: `level >= 4 and free(bed) > 0`.
    ///
    /// # Errors
    /// [`ProcessError::Expression`], with the character.
    pub fn parse(text: &str) -> Result<Self, ProcessError> {
        parse(text, Place::default())
    }
}

/// An expression at a place.
pub(super) fn parse(text: &str, place: Place) -> Result<Expression, ProcessError> {
    let wrong = |at: usize, reason: String| ProcessError::Expression {
        place,
        text: text.to_owned(),
        at: text[..at].chars().count() + 1,
        reason,
    };
    if text.len() > MOST_BYTES {
        return Err(wrong(0, format!("it has more than {MOST_BYTES} bytes; compute a part of it before")));
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.whole().map_err(|Wrong { at, reason }| wrong(at, reason))
}

struct Parser<'t> {
    text: &'t str,
    /// The next byte.
    at: usize,
    depth: usize,
}

/// What is wrong at a byte.
struct Wrong {
    at: usize,
    reason: String,
}

/// An expression and its levels.
type Found = Result<(Expression, usize), Wrong>;

impl<'t> Parser<'t> {
    fn wrong(&self, at: usize, reason: impl Into<String>) -> Wrong {
        Wrong { at: at.min(self.text.len()), reason: reason.into() }
    }

    fn whole(&mut self) -> Result<Expression, Wrong> {
        let (found, _) = self.binary(0)?;
        match self.rest().chars().next() {
            None => Ok(found),
            Some(other) => {
                let here = self.elsewhere().map(str::to_owned);
                let reason =
                    here.unwrap_or_else(|| format!("expected an operator or the end, found `{other}`"));
                Err(self.wrong(self.at, reason))
            }
        }
    }

    /// The remaining text without leading spaces.
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// What to write instead of the text of another language that is next.
    fn elsewhere(&mut self) -> Option<&'static str> {
        let rest = self.rest();
        ELSEWHERE.iter().find(|(text, _)| rest.starts_with(text)).map(|(_, remedy)| *remedy)
    }

    /// Takes a text, if it is next. A word does not end in a longer one.
    fn take(&mut self, text: &str) -> bool {
        let Some(behind) = self.rest().strip_prefix(text) else { return false };
        let is_word = text.starts_with(char::is_alphabetic);
        let taken = !(is_word && behind.starts_with(part_of_name));
        self.at += if taken { text.len() } else { 0 };
        taken
    }

    fn expect(&mut self, text: &str) -> Result<(), Wrong> {
        if self.take(text) {
            return Ok(());
        }
        let found = self.found();
        Err(self.wrong(self.at, format!("expected `{text}`, found {found}")))
    }

    /// What is next, for errors.
    fn found(&mut self) -> String {
        self.rest().chars().next().map_or_else(|| "the end".to_owned(), |next| format!("`{next}`"))
    }

    fn level(&self, at: usize, depth: usize) -> Result<usize, Wrong> {
        if depth >= MOST_DEPTH {
            let reason = format!("it has more than {MOST_DEPTH} levels; compute a part of it before");
            return Err(self.wrong(at, reason));
        }
        Ok(depth + 1)
    }

    /// Operands with operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Found {
        let (mut left, mut depth) = self.operand()?;
        let mut compared = false;
        loop {
            self.rest();
            let begin = self.at;
            let found = OPERATORS.iter().find(|(text, binds, _)| *binds >= least && self.take(text));
            let Some(&(text, binds, operator)) = found else { return Ok((left, depth)) };
            if binds == COMPARED && compared {
                return Err(self.wrong(begin, "comparisons are not chained; write `a < b and b < c`"));
            }
            compared |= binds == COMPARED;
            if matches!(text, "<" | ">") && self.rest().starts_with(['=', '<', '>']) {
                return Err(self.wrong(begin, "expected one of < <= > >= == !="));
            }
            let (right, other) = self.binary(binds + 1)?;
            depth = self.level(begin, depth.max(other))?;
            left = Expression::Binary(operator, Box::new([left, right]));
        }
    }

    fn operand(&mut self) -> Found {
        self.depth = self.level(self.at, self.depth)?;
        let found = self.inner();
        self.depth -= 1;
        found
    }

    fn inner(&mut self) -> Found {
        let first = self.rest().chars().next();
        let begin = self.at;
        for (text, binds, unary) in [("-", SIGNED, Unary::Minus), ("not", NEGATED, Unary::Not)] {
            if self.take(text) {
                let (operand, depth) = self.binary(binds)?;
                // A negative number is a literal.
                if let (Unary::Minus, Expression::Number(number)) = (unary, &operand) {
                    return Ok((Expression::Number(-number), depth));
                }
                return Ok((Expression::Unary(unary, Box::new(operand)), self.level(begin, depth)?));
            }
        }
        if self.take("(") {
            let inner = self.binary(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        match first {
            Some(c) if c.is_ascii_digit() || c == '.' => Ok((Expression::Number(self.number()?), 1)),
            Some(c) if part_of_name(c) => self.named(),
            _ => {
                let remedy = self.elsewhere().map(|remedy| format!("; {remedy}")).unwrap_or_default();
                let found = self.found();
                Err(self.wrong(begin, format!("expected a number, a name or `(`, found {found}{remedy}")))
            }
        }
    }

    /// Digits and points, and an exponent with its sign.
    fn number(&mut self) -> Result<f64, Wrong> {
        let rest = self.rest();
        let mut before = ' ';
        let part = |c: char| {
            let signed = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            before = c;
            part_of_name(c) || c == '.' || signed
        };
        let end = rest.chars().map(part).zip(rest.char_indices()).find(|(part, _)| !part);
        let text = &rest[..end.map_or(rest.len(), |(_, (at, _))| at)];
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.at += text.len();
                Ok(number)
            }
            _ => Err(self.wrong(self.at, format!("`{text}` is not a number"))),
        }
    }

    fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let name = &rest[..rest.find(|c| !part_of_name(c)).unwrap_or(rest.len())];
        self.at += name.len();
        name
    }

    /// A name, a word, or a function.
    fn named(&mut self) -> Found {
        let begin = self.at;
        let name = self.name();
        if self.take("(") {
            return self.function(name, begin);
        }
        let found = match name {
            "now" => Expression::Reading(Reading::Now),
            "age" => Expression::Reading(Reading::Age),
            "waited" => Expression::Reading(Reading::Waited),
            "number" => Expression::Reading(Reading::Number),
            "and" | "or" => {
                return Err(self.wrong(begin, format!("expected a number, a name or `(`, found `{name}`")));
            }
            "true" | "false" => {
                let reason = format!("`{name}` is not a value; use 1 and 0, and compare");
                return Err(self.wrong(begin, reason));
            }
            "if" => return Err(self.wrong(begin, "write `if(condition, a, b)`")),
            name => Expression::Name(name.to_owned()),
        };
        Ok((found, 1))
    }

    fn function(&mut self, name: &str, begin: usize) -> Found {
        if let Some((_, reading)) = READINGS.iter().find(|(text, _)| *text == name) {
            self.rest();
            let at = self.at;
            let of = self.name();
            if !of.starts_with(|c: char| !c.is_numeric()) || !self.take(")") {
                return Err(self.wrong(at, format!("expected one name and `)`: `{name}(bed)`")));
            }
            return Ok((Expression::Reading(reading(of.to_owned())), 1));
        }
        if !FUNCTIONS.contains(&name) {
            let meant = crate::text::closest(name, FUNCTIONS);
            let remedy = meant.map_or_else(
                || format!("there are: {}", FUNCTIONS.join(", ")),
                |meant| format!("did you mean `{meant}`?"),
            );
            return Err(self.wrong(begin, format!("`{name}` is not a function; {remedy}")));
        }
        let mut operands = Vec::new();
        let mut depth = 0;
        loop {
            let (operand, levels) = self.binary(0)?;
            operands.push(operand);
            depth = depth.max(levels);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        let count = operands.len();
        let wants = |expected: &str| self.wrong(begin, format!("`{name}` has {expected}, found {count}"));
        let unary = UNARY.iter().find(|(text, _)| *text == name);
        let found = match (name, unary) {
            (_, Some((_, unary))) => {
                let [operand] = <[_; 1]>::try_from(operands).map_err(|_| wants("1 operand"))?;
                Expression::Unary(*unary, Box::new(operand))
            }
            ("if", _) => {
                let operands = operands.try_into().map_err(|_| wants("3 operands"))?;
                Expression::Select(Box::new(operands))
            }
            _ => {
                let operator = if name == "min" { Binary::Min } else { Binary::Max };
                // More than two are taken from the left.
                depth += count.saturating_sub(2);
                let all = operands.into_iter();
                let folded = all.reduce(|a, b| Expression::Binary(operator, Box::new([a, b])));
                folded.filter(|_| count > 1).ok_or_else(|| wants("at least 2 operands"))?
            }
        };
        Ok((found, self.level(begin, depth)?))
    }
}

fn part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(operator: Binary, a: impl Into<Expression>, b: impl Into<Expression>) -> Expression {
        Expression::Binary(operator, Box::new([a.into(), b.into()]))
    }

    #[test]
    fn expressions_bind_as_usual() {
        use Binary as B;
        let not = |of: Expression| Expression::Unary(Unary::Not, Box::new(of));
        let minus = |of: Expression| Expression::Unary(Unary::Minus, Box::new(of));
        let reading = Expression::Reading;
        let bed = || "bed".to_owned();
        for (written, expected) in [
            ("3", 3.into()),
            (" 1.5e-1 ", 0.15.into()),
            ("-2", (-2).into()),
            ("- x", minus("x".into())),
            ("a - b - c", binary(B::Minus, binary(B::Minus, "a", "b"), "c")),
            ("a + b * c", binary(B::Plus, "a", binary(B::Times, "b", "c"))),
            ("(a + b) * c", binary(B::Times, binary(B::Plus, "a", "b"), "c")),
            ("a / b % 3", binary(B::Modulo, binary(B::Over, "a", "b"), 3)),
            ("-a * 2", binary(B::Times, minus("a".into()), 2)),
            ("a--2", binary(B::Minus, "a", -2)),
            ("now % 24", binary(B::Modulo, reading(Reading::Now), 24)),
            (
                "level >= 4 and free(bed) > 0",
                binary(
                    B::And,
                    binary(B::GreaterOrEqual, "level", 4),
                    binary(B::Greater, reading(Reading::Free(bed())), 0),
                ),
            ),
            (
                "not a == b or c != d and e <= f",
                binary(
                    B::Or,
                    not(binary(B::Equal, "a", "b")),
                    binary(B::And, binary(B::Unequal, "c", "d"), binary(B::LessOrEqual, "e", "f")),
                ),
            ),
            ("order", "order".into()),
            ("nothing < android", binary(B::Less, "nothing", "android")),
            ("min(a, b + 1)", binary(B::Min, "a", binary(B::Plus, "b", 1))),
            ("max(a, b, c)", binary(B::Max, binary(B::Max, "a", "b"), "c")),
            (
                "if(a < b, 1, real(c))",
                Expression::Select(Box::new([
                    binary(B::Less, "a", "b"),
                    1.into(),
                    Expression::Unary(Unary::Real, Box::new("c".into())),
                ])),
            ),
            ("level(bed)", reading(Reading::Level(bed()))),
            ("level", "level".into()),
            ("in_use ( bed )", reading(Reading::InUse(bed()))),
            (
                "units(bed)+queue(bed)",
                binary(B::Plus, reading(Reading::Units(bed())), reading(Reading::Queue(bed()))),
            ),
            ("age + waited", binary(B::Plus, reading(Reading::Age), reading(Reading::Waited))),
            ("number", reading(Reading::Number)),
            ("last(bed)", reading(Reading::Last(bed()))),
            ("größe", "größe".into()),
            (
                "time(integer(x))",
                Expression::Unary(
                    Unary::Time,
                    Box::new(Expression::Unary(Unary::Integer, Box::new("x".into()))),
                ),
            ),
        ] {
            assert_eq!(Expression::parse(written).unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn wrong_expressions_name_the_character() {
        for (written, at, expected) in [
            ("", 1, "found the end"),
            ("a +", 4, "found the end"),
            ("(a", 3, "expected `)`, found the end"),
            ("a b", 3, "expected an operator or the end, found `b`"),
            ("1..2", 1, "`1..2` is not a number"),
            ("3x", 1, "`3x` is not a number"),
            ("1e999", 1, "is not a number"),
            ("a & b", 3, "found `&`"),
            ("a && b", 3, "write `and`"),
            ("a || b", 3, "write `or`"),
            ("!a", 1, "write `not`"),
            ("a = b", 3, "write `==` to compare"),
            ("a => b", 3, "write `==` to compare"),
            ("a >> b", 3, "expected one of"),
            ("a ^ 2", 3, "no powers"),
            ("a ? b : c", 3, "if(condition, a, b)"),
            ("a < b < c", 7, "write `a < b and b < c`"),
            ("a == b != c", 8, "comparisons are not chained"),
            ("a and or b", 7, "found `or`"),
            ("true", 1, "`true` is not a value"),
            ("if", 1, "write `if(condition, a, b)`"),
            ("if(a, b)", 1, "`if` has 3 operands, found 2"),
            ("min(a)", 1, "`min` has at least 2 operands, found 1"),
            ("real(a, b)", 1, "`real` has 1 operand, found 2"),
            ("fre(bed)", 1, "`fre` is not a function; did you mean `free`?"),
            ("sin(x)", 1, "`sin` is not a function; "),
            ("free(bed, x)", 6, "expected one name and `)`: `free(bed)`"),
            ("free(3)", 6, "expected one name"),
            ("free()", 6, "expected one name"),
            ("min(a b)", 7, "expected `)`, found `b`"),
            ("é + ?", 5, "found `?`"),
        ] {
            let error = Expression::parse(written).unwrap_err();
            let ProcessError::Expression { at: found, reason, .. } = &error else { panic!("{error}") };
            assert!(*found == at && reason.contains(expected), "{written}: {error}");
        }
    }
}
