//! Values and expressions: what an expression of a model is worth, by the words of
//! `docs/guide-processes.md`. All arithmetic is in 128 bits and checked at the end.

use eventhorizon::process::ir::{Binary, Expression, Kind, Reading, Unary};
use eventhorizon::process::program::FaultCode;
use eventhorizon::time::{Resolution, Ticks};

/// Steps of a real in 1.
const STEPS: i128 = 1 << 24;

/// A value with its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    Integer(i32),
    /// Ticks.
    Time(u64),
    /// Steps of 2^-24.
    Real(i64),
    Condition(bool),
    /// Of numbers and parameters only, as it was written. Without a kind it takes that of what it
    /// meets.
    Constant(f64, Option<Kind>),
}

/// Why a value cannot be computed, or a statement not be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    pub code: FaultCode,
    pub detail: u32,
}

pub fn wrong<T>(code: FaultCode, detail: u32) -> Result<T, Wrong> {
    Err(Wrong { code, detail })
}

impl Quantity {
    /// The zero of a kind.
    pub fn zero(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integer(0),
            Kind::Time => Self::Time(0),
            Kind::Real => Self::Real(0),
            Kind::Condition => Self::Condition(false),
        }
    }

    /// The bits of an observation: a number of 64 bits with a sign.
    pub fn bits(self) -> i64 {
        match self {
            Self::Integer(value) => value.into(),
            Self::Time(value) => value.cast_signed(),
            Self::Real(value) => value,
            Self::Condition(_) | Self::Constant(..) => panic!("no observation: {self:?}"),
        }
    }

    pub fn kind(self) -> Option<Kind> {
        match self {
            Self::Integer(_) => Some(Kind::Integer),
            Self::Time(_) => Some(Kind::Time),
            Self::Real(_) => Some(Kind::Real),
            Self::Condition(_) => Some(Kind::Condition),
            Self::Constant(_, kind) => kind,
        }
    }

    /// The same value in a kind: a constant is rounded, an integer becomes a real.
    pub fn of_kind(self, kind: Kind, resolution: Resolution) -> Self {
        match (self, kind) {
            (Self::Constant(value, _), kind) => rounded(value, kind, resolution),
            (Self::Integer(value), Kind::Real) => Self::Real(i64::from(value) << 24),
            (found, kind) if found.kind() == Some(kind) => found,
            (found, kind) => panic!("{found:?} is no {kind:?}"),
        }
    }

    /// The same value with a kind: the one that it has, or `want`, or that of its digits.
    fn settled(self, want: Option<Kind>, resolution: Resolution) -> Self {
        match self {
            Self::Constant(value, kind) => {
                let own = if value.fract() == 0.0 { Kind::Integer } else { Kind::Real };
                rounded(value, kind.or(want).unwrap_or(own), resolution)
            }
            found => found,
        }
    }
}

/// A number as it was written, in a kind.
fn rounded(value: f64, kind: Kind, resolution: Resolution) -> Quantity {
    match kind {
        Kind::Integer => {
            assert!(value.fract() == 0.0, "{value} is no integer");
            Quantity::Integer(value as i32)
        }
        Kind::Time => Quantity::Time(resolution.ticks(value).expect("a time").get()),
        Kind::Real => Quantity::Real((value * STEPS as f64).round() as i64),
        Kind::Condition => Quantity::Condition(value != 0.0),
    }
}

/// What an expression of numbers and parameters is, in floating point; `None` for any other.
pub fn constant(expression: &Expression, parameter: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let of = |expression| constant(expression, parameter);
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    let value = match expression {
        Expression::Number(value) => *value,
        Expression::Name(name) => parameter(name)?,
        Expression::Reading(_) => return None,
        Expression::Unary(Unary::Minus, a) => -of(a)?,
        Expression::Unary(Unary::Not, a) => truth(of(a)? == 0.0),
        Expression::Unary(Unary::Integer, a) => of(a)?.floor(),
        Expression::Unary(Unary::Real | Unary::Time, a) => of(a)?,
        Expression::Select(of_three) => {
            let [condition, yes, no] = [of(&of_three[0])?, of(&of_three[1])?, of(&of_three[2])?];
            if condition != 0.0 { yes } else { no }
        }
        Expression::Binary(operator, operands) => {
            let (a, b) = (of(&operands[0])?, of(&operands[1])?);
            match operator {
                Binary::Plus => a + b,
                Binary::Minus => a - b,
                Binary::Times => a * b,
                Binary::Over => a / b,
                Binary::Modulo => a - b * (a / b).floor(),
                Binary::Min => a.min(b),
                Binary::Max => a.max(b),
                Binary::Equal => truth(a == b),
                Binary::Unequal => truth(a != b),
                Binary::Less => truth(a < b),
                Binary::LessOrEqual => truth(a <= b),
                Binary::Greater => truth(a > b),
                Binary::GreaterOrEqual => truth(a >= b),
                Binary::And => truth(a != 0.0 && b != 0.0),
                Binary::Or => truth(a != 0.0 || b != 0.0),
            }
        }
    };
    value.is_finite().then_some(value)
}

/// The kind of a constant expression; `None` if no parameter and no conversion gives it one.
fn constant_kind(expression: &Expression, parameter: &dyn Fn(&str) -> Option<Kind>) -> Option<Kind> {
    let of = |expression| constant_kind(expression, parameter);
    match expression {
        Expression::Number(_) | Expression::Reading(_) => None,
        Expression::Name(name) => parameter(name),
        Expression::Unary(Unary::Minus, a) => of(a),
        Expression::Unary(Unary::Not, _) => Some(Kind::Condition),
        Expression::Unary(Unary::Integer, _) => Some(Kind::Integer),
        Expression::Unary(Unary::Real, _) => Some(Kind::Real),
        Expression::Unary(Unary::Time, _) => Some(Kind::Time),
        Expression::Select(operands) => of(&operands[1]).or_else(|| of(&operands[2])),
        Expression::Binary(operator, operands) => {
            let kinds = [of(&operands[0]), of(&operands[1])];
            let has = |kind| kinds.contains(&Some(kind));
            // A literal with a fraction beside a whole number makes both reals.
            let fraction = |side: usize| {
                kinds[side].is_none()
                    && constant(&operands[side], &|_| None).is_some_and(|value| value.fract() != 0.0)
            };
            let real = has(Kind::Integer) && (fraction(0) || fraction(1));
            match operator {
                Binary::Plus | Binary::Minus | Binary::Modulo | Binary::Min | Binary::Max if real => {
                    Some(Kind::Real)
                }
                Binary::Times | Binary::Over if kinds == [Some(Kind::Time); 2] => Some(Kind::Real),
                Binary::Times | Binary::Over if has(Kind::Time) => Some(Kind::Time),
                Binary::Times
                | Binary::Over
                | Binary::Plus
                | Binary::Minus
                | Binary::Modulo
                | Binary::Min
                | Binary::Max => {
                    if has(Kind::Real) {
                        Some(Kind::Real)
                    } else {
                        kinds[0].or(kinds[1])
                    }
                }
                Binary::Equal
                | Binary::Unequal
                | Binary::Less
                | Binary::LessOrEqual
                | Binary::Greater
                | Binary::GreaterOrEqual
                | Binary::And
                | Binary::Or => Some(Kind::Condition),
            }
        }
    }
}

/// What expressions read.
pub trait Reads {
    fn resolution(&self) -> Resolution;
    fn parameter(&self, name: &str) -> Option<(f64, Kind)>;
    /// A variable or an attribute.
    fn name(&self, name: &str) -> Quantity;
    fn reading(&self, reading: &Reading) -> Quantity;
}

/// What an expression is worth. `want` is the kind that fits where it stands.
pub fn value(of: &dyn Reads, written: &Expression, want: Option<Kind>) -> Result<Quantity, Wrong> {
    let resolution = of.resolution();
    if let Some(number) = constant(written, &|name| Some(of.parameter(name)?.0)) {
        let kind = constant_kind(written, &|name| Some(of.parameter(name)?.1));
        return Ok(Quantity::Constant(number, kind));
    }
    match written {
        Expression::Number(_) => panic!("{written:?} is not finite"),
        Expression::Name(name) => Ok(of.name(name)),
        Expression::Reading(reading) => Ok(of.reading(reading)),
        Expression::Unary(operator, a) => {
            let want = if *operator == Unary::Minus { want } else { None };
            unary(*operator, value(of, a, want)?.settled(None, resolution), resolution)
        }
        Expression::Binary(operator, operands) => {
            let [a, b] = &**operands;
            match operator {
                Binary::And | Binary::Or => {
                    let (a, b) = (holds(of, a)?, holds(of, b)?);
                    Ok(Quantity::Condition(if *operator == Binary::And { a && b } else { a || b }))
                }
                Binary::Times | Binary::Over => {
                    let a = value(of, a, None)?.settled(None, resolution);
                    let b = value(of, b, None)?.settled(None, resolution);
                    product(*operator, a, b, resolution)
                }
                Binary::Plus | Binary::Minus | Binary::Modulo | Binary::Min | Binary::Max => {
                    let [a, b] = [value(of, a, want)?, value(of, b, want)?];
                    sum(*operator, alike(a, b, want, resolution))
                }
                Binary::Equal
                | Binary::Unequal
                | Binary::Less
                | Binary::LessOrEqual
                | Binary::Greater
                | Binary::GreaterOrEqual => {
                    let [a, b] = [value(of, a, None)?, value(of, b, None)?];
                    Ok(Quantity::Condition(compares(*operator, alike(a, b, None, resolution))))
                }
            }
        }
        Expression::Select(operands) => {
            let condition = holds(of, &operands[0])?;
            let [yes, no] = [value(of, &operands[1], want)?, value(of, &operands[2], want)?];
            let [yes, no] = alike(yes, no, want, resolution);
            Ok(if condition { yes } else { no })
        }
    }
}

/// Whether a condition holds.
pub fn holds(of: &dyn Reads, written: &Expression) -> Result<bool, Wrong> {
    match value(of, written, Some(Kind::Condition))?.of_kind(Kind::Condition, of.resolution()) {
        Quantity::Condition(holds) => Ok(holds),
        found => panic!("{found:?} is no condition"),
    }
}

/// An integer.
pub fn integer(of: &dyn Reads, written: &Expression) -> Result<i32, Wrong> {
    match value(of, written, Some(Kind::Integer))?.of_kind(Kind::Integer, of.resolution()) {
        Quantity::Integer(found) => Ok(found),
        found => panic!("{found:?} is no integer"),
    }
}

/// Ticks.
pub fn time(of: &dyn Reads, written: &Expression) -> Result<u64, Wrong> {
    match value(of, written, Some(Kind::Time))?.of_kind(Kind::Time, of.resolution()) {
        Quantity::Time(found) => Ok(found),
        found => panic!("{found:?} is no time"),
    }
}

/// Any kind: an observation.
pub fn observation(of: &dyn Reads, written: &Expression) -> Result<Quantity, Wrong> {
    Ok(value(of, written, None)?.settled(None, of.resolution()))
}

/// Both in one kind.
fn alike(a: Quantity, b: Quantity, want: Option<Kind>, resolution: Resolution) -> [Quantity; 2] {
    let fraction = |of: Quantity| matches!(of, Quantity::Constant(value, None) if value.fract() != 0.0);
    let kind = match (a.kind(), b.kind()) {
        (Some(Kind::Integer), Some(other)) | (Some(other), Some(Kind::Integer)) => other,
        (Some(Kind::Integer), None) if fraction(b) => Kind::Real,
        (None, Some(Kind::Integer)) if fraction(a) => Kind::Real,
        (Some(kind), _) | (None, Some(kind)) => kind,
        (None, None) if fraction(a) || fraction(b) => want.unwrap_or(Kind::Real),
        (None, None) => want.unwrap_or(Kind::Integer),
    };
    [a, b].map(|of| of.settled(None.or(Some(kind)), resolution).of_kind(kind, resolution))
}

fn fits_integer(value: i128) -> Result<Quantity, Wrong> {
    i32::try_from(value).map(Quantity::Integer).or_else(|_| wrong(FaultCode::Overflow, 0))
}

fn fits_real(value: i128) -> Result<Quantity, Wrong> {
    i64::try_from(value).map(Quantity::Real).or_else(|_| wrong(FaultCode::Overflow, 0))
}

/// A time: 0 below 0, and the last tick beyond it.
fn saturated(value: i128) -> Quantity {
    Quantity::Time(u64::try_from(value.max(0)).unwrap_or(Ticks::NEVER.get()))
}

/// Rounded down.
fn over(a: i128, b: i128) -> Result<i128, Wrong> {
    if b == 0 {
        return wrong(FaultCode::Division, 0);
    }
    let rest = a % b;
    Ok(a / b - i128::from(rest != 0 && (rest < 0) != (b < 0)))
}

/// With the sign of the divisor.
fn modulo(a: i128, b: i128) -> Result<i128, Wrong> {
    Ok(a - b * over(a, b)?)
}

fn unary(operator: Unary, a: Quantity, resolution: Resolution) -> Result<Quantity, Wrong> {
    use Quantity as Q;
    let per_unit = i128::from(resolution.ticks_per_unit());
    match (operator, a) {
        (Unary::Minus, Q::Integer(a)) => fits_integer(-i128::from(a)),
        (Unary::Minus, Q::Real(a)) => fits_real(-i128::from(a)),
        (Unary::Not, Q::Condition(a)) => Ok(Q::Condition(!a)),
        (Unary::Integer, Q::Integer(_)) | (Unary::Real, Q::Real(_)) | (Unary::Time, Q::Time(_)) => Ok(a),
        (Unary::Integer, Q::Real(a)) => fits_integer(over(a.into(), STEPS)?),
        (Unary::Integer, Q::Time(a)) => fits_integer(over(a.into(), per_unit)?),
        (Unary::Real, Q::Integer(a)) => fits_real(i128::from(a) * STEPS),
        (Unary::Real, Q::Time(a)) => fits_real(over(i128::from(a) * STEPS, per_unit)?),
        (Unary::Time, Q::Integer(a)) => Ok(saturated(i128::from(a) * per_unit)),
        (Unary::Time, Q::Real(a)) => Ok(saturated(over(i128::from(a) * per_unit, STEPS)?)),
        (operator, a) => panic!("{operator:?} of {a:?}"),
    }
}

fn sum(operator: Binary, [a, b]: [Quantity; 2]) -> Result<Quantity, Wrong> {
    use Quantity as Q;
    let of = |a: i128, b: i128| match operator {
        Binary::Plus => Ok(a + b),
        Binary::Minus => Ok(a - b),
        Binary::Modulo => modulo(a, b),
        Binary::Min => Ok(a.min(b)),
        Binary::Max => Ok(a.max(b)),
        other => panic!("{other:?}"),
    };
    match (a, b) {
        (Q::Integer(a), Q::Integer(b)) => fits_integer(of(a.into(), b.into())?),
        (Q::Real(a), Q::Real(b)) => fits_real(of(a.into(), b.into())?),
        (Q::Time(a), Q::Time(b)) => Ok(saturated(of(a.into(), b.into())?)),
        (a, b) => panic!("{operator:?} of {a:?} and {b:?}"),
    }
}

fn product(operator: Binary, a: Quantity, b: Quantity, resolution: Resolution) -> Result<Quantity, Wrong> {
    use Quantity as Q;
    let times = operator == Binary::Times;
    let positive = |b: i128| if b > 0 { Ok(b) } else { wrong(FaultCode::Division, 0) };
    match (a, b) {
        (Q::Integer(a), Q::Integer(b)) if times => fits_integer(i128::from(a) * i128::from(b)),
        (Q::Integer(a), Q::Integer(b)) => fits_integer(over(a.into(), b.into())?),
        (Q::Integer(number), Q::Time(time)) | (Q::Time(time), Q::Integer(number)) if times => {
            Ok(saturated(i128::from(time) * i128::from(number)))
        }
        (Q::Real(number), Q::Time(time)) | (Q::Time(time), Q::Real(number)) if times => {
            Ok(saturated(over(i128::from(time) * i128::from(number.max(0)), STEPS)?))
        }
        (Q::Time(a), Q::Integer(b)) => Ok(saturated(over(a.into(), positive(b.into())?)?)),
        (Q::Time(a), Q::Real(b)) => Ok(saturated(over(i128::from(a) * STEPS, positive(b.into())?)?)),
        (Q::Time(a), Q::Time(b)) => fits_real(over(i128::from(a) * STEPS, b.into())?),
        (a, b) => {
            let [Q::Real(a), Q::Real(b)] = [a, b].map(|of| of.of_kind(Kind::Real, resolution)) else {
                panic!("{operator:?} of {a:?} and {b:?}");
            };
            let (a, b) = (i128::from(a), i128::from(b));
            fits_real(if times { over(a * b, STEPS)? } else { over(a * STEPS, b)? })
        }
    }
}

fn compares(operator: Binary, [a, b]: [Quantity; 2]) -> bool {
    let order = match (a, b) {
        (Quantity::Integer(a), Quantity::Integer(b)) => a.cmp(&b),
        (Quantity::Real(a), Quantity::Real(b)) => a.cmp(&b),
        (Quantity::Time(a), Quantity::Time(b)) => a.cmp(&b),
        (a, b) => panic!("{operator:?} of {a:?} and {b:?}"),
    };
    match operator {
        Binary::Equal => order.is_eq(),
        Binary::Unequal => order.is_ne(),
        Binary::Less => order.is_lt(),
        Binary::LessOrEqual => order.is_le(),
        Binary::Greater => order.is_gt(),
        Binary::GreaterOrEqual => order.is_ge(),
        other => panic!("{other:?} does not compare"),
    }
}
