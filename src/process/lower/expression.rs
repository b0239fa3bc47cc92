//! Kinds of expressions: finds names, converts literals to the kind that they meet, and puts parts
//! that depend on parameters only into `Params`.

use super::super::error::ProcessError;
use super::super::ir::{Binary, Expression, Kind, Place, ProcessModel, Reading, SELECTED, Unary};
use super::super::program::{self, ConstantKind, Expr, Line, Node, Slot, Variable};
use super::constants::{Constants, evaluate, literal};
use super::names::{Named, Scope, index, resource};
use crate::time::Resolution;

/// What expressions are compiled with.
pub(super) struct Expressions<'m> {
    pub(super) model: &'m ProcessModel,
    pub(super) resolution: Resolution,
    pub(super) constants: &'m mut Constants,
    pub(super) variables: &'m [Variable],
    pub(super) stores: &'m [program::Store],
    pub(super) containers: &'m [program::Container],
    pub(super) resources: &'m [program::Resource],
    pub(super) processes: &'m [program::Process],
    /// The resource that a statement around it chose.
    pub(super) selected: Option<u32>,
    pub(super) signals: &'m [u32],
    pub(super) lines: &'m [Line],
    pub(super) created: program::EntityWord,
    /// The two words with the length of the last wait, if the entity's type has them.
    pub(super) waited: Option<program::EntityWord>,
}

impl Expressions<'_> {
    /// An expression of a kind. `what` names it in errors.
    pub(super) fn of(
        &mut self,
        scope: &Scope,
        expression: &Expression,
        kind: Kind,
        what: &str,
        place: Place,
    ) -> Result<Expr, ProcessError> {
        let mut at = At { scope, what, place };
        let found = self.infer(&mut at, expression, Some(kind))?;
        convert(found, kind, &at)
    }

    /// An expression of the kind that it has.
    pub(super) fn any(
        &mut self,
        scope: &Scope,
        expression: &Expression,
        what: &str,
        place: Place,
    ) -> Result<Expr, ProcessError> {
        self.infer(&mut At { scope, what, place }, expression, None)
    }

    fn infer(
        &mut self,
        at: &mut At<'_>,
        written: &Expression,
        want: Option<Kind>,
    ) -> Result<Expr, ProcessError> {
        if let Some(value) = evaluate(written, &|_| None) {
            let kind = want.or_else(|| self.kind_of(at, written));
            let whole = if value.fract() == 0.0 { Kind::Integer } else { Kind::Real };
            return self.number(at, value, kind.unwrap_or(whole));
        }
        if let Some(kind) = self.constant(at, written, want) {
            let word = self.constants.constant(ConstantKind::Value(kind, written.clone()), at.what, at.place);
            return Ok(Expr { kind, node: Node::Param(word) });
        }
        match written {
            Expression::Number(value) => self.number(at, *value, want.unwrap_or(Kind::Integer)),
            Expression::Name(name) => Ok(match at.scope.find(name, at.place)? {
                Named::Parameter(kind) => {
                    let what = format!("the parameter `{name}`");
                    let value = ConstantKind::Value(kind, written.clone());
                    Expr { kind, node: Node::Param(self.constants.constant(value, &what, at.place)) }
                }
                Named::Slot(slot, kind) => self.slot(slot, kind),
            }),
            Expression::Reading(reading) => self.reading(at, reading),
            Expression::Unary(unary, operand) => self.unary(at, *unary, operand, want),
            Expression::Binary(binary, operands) => self.binary(at, *binary, operands, want),
            Expression::Select(operands) => {
                let condition = self.infer(at, &operands[0], Some(Kind::Condition))?;
                let condition = convert(condition, Kind::Condition, at)?;
                let [yes, no] = self.pair(at, &operands[1], &operands[2], want)?;
                Ok(Expr { kind: yes.kind, node: Node::Select(Box::new([condition, yes, no])) })
            }
        }
    }

    fn number(&self, at: &At<'_>, value: f64, kind: Kind) -> Result<Expr, ProcessError> {
        let bits = literal(value, kind, self.resolution).map_err(|remedy| at.setting(value, remedy))?;
        Ok(Expr { kind, node: Node::Literal(bits) })
    }

    /// The kind of an expression of numbers and parameters, with at least one parameter.
    fn constant(&self, at: &At<'_>, written: &Expression, want: Option<Kind>) -> Option<Kind> {
        let known = |name: &str| match at.scope.names.get(name) {
            Some(Named::Parameter(_)) => self.model.parameters.get(name)?.values.first().copied(),
            _ => None,
        };
        evaluate(written, &known)?;
        let kind = self.kind_of(at, written)?;
        // A real where a whole number of units was expected stays what it is.
        Some(match (kind, want) {
            (Kind::Integer, Some(Kind::Real)) => Kind::Real,
            (kind, _) => kind,
        })
    }

    /// The kind of an expression of numbers and parameters; `None` if it adapts.
    fn kind_of(&self, at: &At<'_>, written: &Expression) -> Option<Kind> {
        match written {
            Expression::Number(_) | Expression::Reading(_) => None,
            Expression::Name(name) => match at.scope.names.get(name)? {
                Named::Parameter(kind) | Named::Slot(_, kind) => Some(*kind),
            },
            Expression::Unary(unary, operand) => match unary {
                Unary::Minus => self.kind_of(at, operand),
                Unary::Not => Some(Kind::Condition),
                Unary::Integer => Some(Kind::Integer),
                Unary::Real => Some(Kind::Real),
                Unary::Time => Some(Kind::Time),
            },
            Expression::Select(operands) => {
                self.kind_of(at, &operands[1]).or_else(|| self.kind_of(at, &operands[2]))
            }
            Expression::Binary(binary, operands) => {
                let [a, b] = [0, 1].map(|side| self.kind_of(at, &operands[side]));
                match binary {
                    Binary::Times | Binary::Over => match (a, b) {
                        (Some(Kind::Time), Some(Kind::Time)) => Some(Kind::Real),
                        (Some(Kind::Time), _) | (_, Some(Kind::Time)) => Some(Kind::Time),
                        (Some(Kind::Real), _) | (_, Some(Kind::Real)) => Some(Kind::Real),
                        _ => a.or(b),
                    },
                    Binary::Plus | Binary::Minus | Binary::Modulo | Binary::Min | Binary::Max => match (a, b)
                    {
                        (Some(Kind::Real), _) | (_, Some(Kind::Real)) => Some(Kind::Real),
                        (Some(kind), None) => Some(widest(kind, &operands[1])),
                        (None, Some(kind)) => Some(widest(kind, &operands[0])),
                        _ => a.or(b),
                    },
                    _ => Some(Kind::Condition),
                }
            }
        }
    }

    fn slot(&self, slot: Slot, kind: Kind) -> Expr {
        let node = match slot {
            Slot::Attribute(word) => Node::Attribute(word),
            Slot::Variable(index) => Node::Global(self.variables[index as usize].word),
        };
        Expr { kind, node }
    }

    fn reading(&mut self, at: &At<'_>, reading: &Reading) -> Result<Expr, ProcessError> {
        let (model, place) = (self.model, at.place);
        let integer = |node| Expr { kind: Kind::Integer, node };
        let time = |node| Expr { kind: Kind::Time, node };
        Ok(match reading {
            Reading::Now => time(Node::Now),
            Reading::Age => {
                let operands = [time(Node::Now), time(Node::Attribute(self.created))];
                time(Node::Binary(Binary::Minus, Box::new(operands)))
            }
            Reading::Waited => match self.waited {
                Some(word) => time(Node::Attribute(word)),
                None => time(Node::Waited),
            },
            Reading::Number => integer(Node::Attribute(0)),
            Reading::InUse(name) => integer(Node::InUse(self.resource(name, place)?)),
            Reading::Units(name) => integer(Node::Units(self.resource(name, place)?)),
            Reading::Last(name) => {
                let process = index(&model.entities, name, "an entity", place)?;
                integer(Node::Global(self.processes[process as usize].count))
            }
            Reading::Free(name) => {
                let resource = self.resource(name, place)?;
                let operands = [Node::Units(resource), Node::InUse(resource)].map(integer);
                integer(Node::Binary(Binary::Minus, Box::new(operands)))
            }
            Reading::Queue(name) => integer(Node::Length(self.line(at, name)?)),
            Reading::Level(name) => match model.stores.get_index_of(&**name) {
                Some(store) => integer(Node::Length(self.stores[store].items)),
                None => {
                    integer(Node::Content(index(&model.containers, name, "a container or a store", place)?))
                }
            },
        })
    }

    fn resource(&self, name: &str, place: Place) -> Result<u32, ProcessError> {
        resource(self.model, name, self.selected, place)
    }

    /// The line that `queue(name)` reads.
    fn line(&self, at: &At<'_>, name: &str) -> Result<u32, ProcessError> {
        let model = self.model;
        if let (SELECTED, Some(resource)) = (name, self.selected) {
            return Ok(self.resources[resource as usize].line);
        }
        let found = (model.resources.get_index_of(name).map(|index| self.resources[index].line))
            .or_else(|| model.containers.get_index_of(name).map(|index| self.containers[index].getters))
            .or_else(|| model.stores.get_index_of(name).map(|index| self.stores[index].takers))
            .or_else(|| model.signals.get_index_of(name).map(|index| self.signals[index]));
        found.ok_or_else(|| ProcessError::Unknown {
            place: at.place,
            name: name.to_owned(),
            what: "a resource, a container, a store or a signal",
            known: self.lines.iter().map(|line| line.name.clone()).collect(),
        })
    }

    fn unary(
        &mut self,
        at: &mut At<'_>,
        unary: Unary,
        operand: &Expression,
        want: Option<Kind>,
    ) -> Result<Expr, ProcessError> {
        let want = match unary {
            Unary::Minus => want,
            Unary::Not => Some(Kind::Condition),
            Unary::Integer | Unary::Real | Unary::Time => None,
        };
        let operand = self.infer(at, operand, want)?;
        let (kind, how) = match (unary, operand.kind) {
            (Unary::Minus, Kind::Integer | Kind::Real) => (operand.kind, program::Unary::Minus),
            (Unary::Not, Kind::Condition) => (Kind::Condition, program::Unary::Not),
            (Unary::Integer, Kind::Integer) | (Unary::Real, Kind::Real) | (Unary::Time, Kind::Time) => {
                return Ok(operand);
            }
            (Unary::Integer, Kind::Real) => (Kind::Integer, program::Unary::IntegerOfReal),
            (Unary::Integer, Kind::Time) => (Kind::Integer, program::Unary::IntegerOfTime),
            (Unary::Real, Kind::Integer) => (Kind::Real, program::Unary::RealOfInteger),
            (Unary::Real, Kind::Time) => (Kind::Real, program::Unary::RealOfTime),
            (Unary::Time, Kind::Integer) => (Kind::Time, program::Unary::TimeOfInteger),
            (Unary::Time, Kind::Real) => (Kind::Time, program::Unary::TimeOfReal),
            (Unary::Not, found) => return Err(at.kinds(Kind::Condition, found)),
            (_, found) => return Err(at.kinds(Kind::Integer, found)),
        };
        Ok(Expr { kind, node: Node::Unary(how, Box::new(operand)) })
    }

    /// Two operands of one kind: that of the one that is no literal.
    fn pair(
        &mut self,
        at: &mut At<'_>,
        first: &Expression,
        second: &Expression,
        want: Option<Kind>,
    ) -> Result<[Expr; 2], ProcessError> {
        let adapts = |written: &Expression| evaluate(written, &|_| None).is_some();
        let (a, b) = match adapts(first) {
            true => {
                let b = self.infer(at, second, want)?;
                (self.infer(at, first, Some(widest(b.kind, first)))?, b)
            }
            false => {
                let a = self.infer(at, first, want)?;
                let kind = if adapts(second) { widest(a.kind, second) } else { a.kind };
                (a, self.infer(at, second, Some(kind))?)
            }
        };
        let kind = if a.kind == Kind::Integer { b.kind } else { a.kind };
        Ok([convert(a, kind, at)?, convert(b, kind, at)?])
    }

    fn binary(
        &mut self,
        at: &mut At<'_>,
        binary: Binary,
        operands: &[Expression; 2],
        want: Option<Kind>,
    ) -> Result<Expr, ProcessError> {
        let [first, second] = operands;
        let (kind, sides) = match binary {
            Binary::And | Binary::Or => {
                let sides = [first, second].map(|side| {
                    let side = self.infer(at, side, Some(Kind::Condition))?;
                    convert(side, Kind::Condition, at)
                });
                let [a, b] = sides;
                (Kind::Condition, [a?, b?])
            }
            Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::LessOrEqual
            | Binary::Greater
            | Binary::GreaterOrEqual => (Kind::Condition, self.pair(at, first, second, None)?),
            Binary::Times | Binary::Over => return self.product(at, binary, operands),
            Binary::Plus | Binary::Minus | Binary::Modulo | Binary::Min | Binary::Max => {
                let sides = self.pair(at, first, second, want.filter(|kind| *kind != Kind::Condition))?;
                (sides[0].kind, sides)
            }
        };
        let arithmetic = !matches!(binary, Binary::And | Binary::Or);
        if arithmetic && sides[0].kind == Kind::Condition {
            return Err(at.kinds(Kind::Integer, Kind::Condition));
        }
        Ok(Expr { kind, node: Node::Binary(binary, Box::new(sides)) })
    }

    /// Of two equal kinds, or of a time and a number, the time first.
    fn product(
        &mut self,
        at: &mut At<'_>,
        binary: Binary,
        [first, second]: &[Expression; 2],
    ) -> Result<Expr, ProcessError> {
        let [a, b] = [self.infer(at, first, None)?, self.infer(at, second, None)?];
        let (kind, sides) = match (a.kind, b.kind) {
            (Kind::Condition, _) | (_, Kind::Condition) => {
                return Err(at.kinds(Kind::Integer, Kind::Condition));
            }
            (Kind::Time, Kind::Time) if binary == Binary::Over => (Kind::Real, [a, b]),
            (Kind::Time, Kind::Integer | Kind::Real) => (Kind::Time, [a, b]),
            (Kind::Integer | Kind::Real, Kind::Time) if binary == Binary::Times => (Kind::Time, [b, a]),
            (Kind::Time, _) | (_, Kind::Time) => return Err(at.kinds(Kind::Real, Kind::Time)),
            (Kind::Integer, Kind::Integer) => (Kind::Integer, [a, b]),
            _ => (Kind::Real, [convert(a, Kind::Real, at)?, convert(b, Kind::Real, at)?]),
        };
        Ok(Expr { kind, node: Node::Binary(binary, Box::new(sides)) })
    }
}

/// The kind of a literal beside a value of a kind: a fraction beside an integer is a real.
fn widest(kind: Kind, literal: &Expression) -> Kind {
    match (kind, evaluate(literal, &|_| None)) {
        (Kind::Integer, Some(value)) if value.fract() != 0.0 => Kind::Real,
        _ => kind,
    }
}

/// The same value in another kind, if no information is lost.
fn convert(value: Expr, kind: Kind, at: &At<'_>) -> Result<Expr, ProcessError> {
    match (value.kind, kind) {
        (found, expected) if found == expected => Ok(value),
        (Kind::Integer, Kind::Real) => {
            let node = Node::Unary(program::Unary::RealOfInteger, Box::new(value));
            Ok(Expr { kind, node })
        }
        (found, expected) => Err(at.kinds(expected, found)),
    }
}

/// Where an expression is.
struct At<'a> {
    scope: &'a Scope,
    what: &'a str,
    place: Place,
}

impl At<'_> {
    fn kinds(&self, expected: Kind, found: Kind) -> ProcessError {
        let remedy = match expected {
            Kind::Condition => "compare it with a number",
            Kind::Integer => "convert it with `integer()`",
            Kind::Time => "convert it with `time()`",
            Kind::Real => "convert it with `real()`",
        };
        let remedy = if found == Kind::Condition { "use `if(condition, 1, 0)`" } else { remedy };
        ProcessError::Kinds { place: self.place, what: self.what.to_owned(), expected, found, remedy }
    }

    fn setting(&self, value: f64, remedy: &str) -> ProcessError {
        ProcessError::Setting {
            place: self.place,
            what: self.what.to_owned(),
            value: crate::text::number(value),
            remedy: remedy.to_owned(),
        }
    }
}
