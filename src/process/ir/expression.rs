//! Expressions of statements.

/// An expression. Literals take the kind of what they meet: beside a time they are units of time.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A parameter, a variable or an attribute.
    Name(String),
    /// What the model has at the moment.
    Reading(Reading),
    /// `-a`, `not a`, `integer(a)`, …
    Unary(Unary, Box<Expression>),
    /// `a + b`, `a < b`, `a and b`, …
    Binary(Binary, Box<[Expression; 2]>),
    /// `if(condition, a, b)`.
    Select(Box<[Expression; 3]>),
}

impl From<i32> for Expression {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Expression {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// What a model reads of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The time: `now`.
    Now,
    /// The time since the entity entered: `age`.
    Age,
    /// How long the last wait of the entity lasted: `waited`.
    Waited,
    /// The entity's number among those of its type, from 1, modulo 2^31: `number`.
    Number,
    /// The units of a resource that are held: `in_use(nurse)`.
    InUse(String),
    /// The units that are not held: `free(nurse)`.
    Free(String),
    /// The units of a resource: `units(nurse)`.
    Units(String),
    /// How many wait: `queue(bed)` for a resource or a signal, those that want to take or get for a
    /// store or a container.
    Queue(String),
    /// What a container holds, or how many rest in a store: `level(tank)`.
    Level(String),
    /// The number of the entity of a type that entered last, 0 if none did: `last(part)`. Behind an
    /// [`Action::Spawn`](super::Action::Spawn) it is that of the last one spawned.
    Last(String),
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-a`, of integers and reals.
    Minus,
    /// `not a`.
    Not,
    /// `integer(a)`: an integer of a real, rounded down; of a time, in whole units.
    Integer,
    /// `real(a)`: a real of an integer, or of a time in units.
    Real,
    /// `time(a)`: the time of a number of units.
    Time,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`.
    Plus,
    /// `a - b`; zero if a time is taken from an earlier one.
    Minus,
    /// `a * b`.
    Times,
    /// `a / b`; of integers, rounded down.
    Over,
    /// `a % b` with the sign of `b`: `now % 24` is the hour of the day.
    Modulo,
    /// `min(a, b)`.
    Min,
    /// `max(a, b)`.
    Max,
    /// `a == b`.
    Equal,
    /// `a != b`.
    Unequal,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessOrEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterOrEqual,
    /// `a and b`. Both are computed.
    And,
    /// `a or b`. Both are computed.
    Or,
}
