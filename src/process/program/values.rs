//! Values: how they are computed, and where they are stored.

use super::super::ir::{self, Kind};
use super::layout::{EntityWord, GlobalWord, ParamWord};

/// A value and its kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expr {
    /// Its kind.
    pub kind: Kind,
    /// How it is computed.
    pub node: Node,
}

/// How a value is computed. Operands have the kinds that the comment says; conversions are
/// explicit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// A literal: an integer, ticks, or steps of 2^-24; 0 or 1 for a condition.
    Literal(i64),
    /// A constant of `Params`.
    Param(ParamWord),
    /// An attribute of the entity.
    Attribute(EntityWord),
    /// A variable.
    Global(GlobalWord),
    /// The time.
    Now,
    /// Now less `since` of the entity.
    Waited,
    /// Units of a resource in use.
    InUse(u32),
    /// Units of a resource.
    Units(u32),
    /// The length of a line.
    Length(u32),
    /// What a container holds.
    Content(u32),
    /// Of one operand.
    Unary(Unary, Box<Expr>),
    /// Of two operands.
    Binary(ir::Binary, Box<[Expr; 2]>),
    /// The second if the first holds, else the third. All are computed.
    Select(Box<[Expr; 3]>),
}

/// Operations with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Of an integer or a real.
    Minus,
    /// Of a condition.
    Not,
    /// A real of an integer: exact.
    RealOfInteger,
    /// An integer of a real, rounded down; [`FaultCode::Overflow`](super::FaultCode::Overflow) if
    /// it does not fit.
    IntegerOfReal,
    /// An integer of a time in whole units, rounded down.
    IntegerOfTime,
    /// A real of a time in units, rounded down.
    RealOfTime,
    /// The time of an integer of units; 0 if it is negative.
    TimeOfInteger,
    /// The time of a real of units, rounded down; 0 if it is negative.
    TimeOfReal,
}

/// Where a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// An attribute: one word, or two for a time or a real.
    Attribute(EntityWord),
    /// A variable, by its number.
    Variable(u32),
}

impl Expr {
    /// Whether this holds for any node; it is called for nodes until it holds.
    pub fn any(&self, holds: &mut dyn FnMut(&Node) -> bool) -> bool {
        holds(&self.node)
            || match &self.node {
                Node::Unary(_, operand) => operand.any(holds),
                Node::Binary(_, operands) => operands.iter().any(|operand| operand.any(holds)),
                Node::Select(operands) => operands.iter().any(|operand| operand.any(holds)),
                _ => false,
            }
    }

    /// Reads something else in place of `from`.
    pub(in super::super) fn replace(&mut self, from: &Node, to: &Node) {
        if self.node == *from {
            self.node = to.clone();
        }
        match &mut self.node {
            Node::Unary(_, operand) => operand.replace(from, to),
            Node::Binary(_, operands) => operands.iter_mut().for_each(|operand| operand.replace(from, to)),
            Node::Select(operands) => operands.iter_mut().for_each(|operand| operand.replace(from, to)),
            _ => {}
        }
    }
}
