//! Observations of tallies, and how many of them are up to bounds.

use indexmap::IndexMap;

use super::super::error::ProcessError;
use super::super::ir::{Binary, Expression, Kind, Place, ProcessModel, Tally};
use super::super::program::{ConstantKind, Expr, Histogram, Node, Op, Sum, SumKind};
use super::lowering::Lowering;
use super::statements::{binary, literal};

impl Lowering<'_> {
    /// Adds a value to a tally, and counts it for each bound that it does not exceed.
    pub(super) fn observed(
        &mut self,
        name: &str,
        value: Expr,
        place: Place,
    ) -> Result<Vec<Op>, ProcessError> {
        let (model, kind) = (self.model, value.kind);
        let tally = self.sum(name, SumKind::Tally(kind), place)?;
        let mut ops = vec![Op::Tally(tally, value.clone())];
        let declared = model.tallies.get(name);
        let width = match declared.and_then(|declared| declared.histogram.clone()) {
            Some(width) => Some(ConstantKind::Bin(kind, width)),
            None => model.quantiles.then(|| self.widest(kind)),
        };
        if let Some(width) = width {
            let place = declared.map_or(place, |declared| declared.place);
            let shift = self.constants.constant(width, &format!("the histogram of `{name}`"), place);
            self.sums[tally as usize].histogram = Some(Histogram::Observations { row: 0, shift });
        }
        let Some(declared) = declared else { return Ok(ops) };
        for (number, (text, bound)) in declared.up_to.iter().enumerate() {
            // Equal bounds are one measure.
            if declared.up_to[..number].iter().any(|(known, _)| known == text) {
                continue;
            }
            let sum = self.sum(&Tally::share(name, text), SumKind::Share(tally), declared.place)?;
            let constant = ConstantKind::Value(kind, bound.clone());
            let bound = self.constants.constant(constant, &format!("a bound of `{name}`"), declared.place);
            let bound = Expr { kind, node: Node::Param(bound) };
            let within = binary(Binary::LessOrEqual, Kind::Condition, value.clone(), bound);
            let one = Node::Select(Box::new([within, literal(1), literal(0)]));
            ops.push(Op::Count(sum, Expr { kind: Kind::Integer, node: one }));
        }
        Ok(ops)
    }

    /// The binary logarithm of the width of bins by default: all times of a run fit.
    fn widest(&self, kind: Kind) -> ConstantKind {
        let shift = match kind {
            Kind::Integer | Kind::Condition => 0,
            Kind::Real => 20,
            Kind::Time => {
                let end = self.model.until.and_then(|until| self.resolution.ticks(until).ok());
                end.map_or(0, |end| end.get().max(1).ilog2().saturating_sub(31))
            }
        };
        ConstantKind::Whole(Expression::Number(shift.into()), [0, 31])
    }
}

/// Checks that statements observe all tallies that the model declares.
pub(super) fn all_observed(model: &ProcessModel, sums: &IndexMap<String, Sum>) -> Result<(), ProcessError> {
    let observed = |name: &str| sums.get(name).is_some_and(|sum| matches!(sum.kind, SumKind::Tally(_)));
    let Some((name, tally)) = model.tallies.iter().find(|(name, _)| !observed(name)) else { return Ok(()) };
    let known = sums.values().filter(|sum| matches!(sum.kind, SumKind::Tally(_)));
    Err(ProcessError::Unknown {
        place: tally.place,
        name: name.clone(),
        what: "a tally that a statement observes",
        known: known.map(|sum| sum.name.clone()).collect(),
    })
}
