//! Random expressions of a kind.

use eventhorizon::process::ir::*;

use super::Make;

fn binary(operator: Binary, a: Expression, b: Expression) -> Expression {
    Expression::Binary(operator, Box::new([a, b]))
}

fn unary(operator: Unary, a: Expression) -> Expression {
    Expression::Unary(operator, Box::new(a))
}

impl Make {
    /// A number of this kind, in units.
    pub(super) fn value_of(&mut self, kind: Kind) -> f64 {
        match kind {
            Kind::Integer => self.of(&[-7.0, -1.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 10.0]),
            Kind::Time => self.of(&[0.0, 0.5, 1.0, 1.0, 2.0, 3.25, 10.0]),
            Kind::Real => self.of(&[-2.5, -0.125, 0.0, 0.3, 1.0, 1.5, 7.75]),
            Kind::Condition => self.of(&[0.0, 1.0]),
        }
    }

    pub(super) fn literal(&mut self, kind: Kind) -> Expression {
        let huge = kind != Kind::Condition && self.chance(60);
        let value = match kind {
            Kind::Integer if huge => self.of(&[2_147_483_647.0, -2_147_483_648.0, 46_341.0]),
            Kind::Real if huge => self.of(&[3e11, -5e11, 1e-7]),
            Kind::Time if huge => 6e12,
            kind => self.value_of(kind),
        };
        Self::number(kind, value)
    }

    /// A name or a reading of this kind, if there is one.
    fn read(&mut self, kind: Kind, timeless: bool) -> Option<Expression> {
        let own = self.attributes[self.entity].iter();
        let all = own.chain(&self.variables).filter(|(_, of)| *of == kind);
        let mut all: Vec<_> = all.map(|(name, _)| Expression::Name(name.clone())).collect();
        let reading = match kind {
            Kind::Integer => {
                let resource = self.resource();
                let mut readings = vec![
                    Reading::Number,
                    Reading::InUse(resource.clone()),
                    Reading::Free(resource.clone()),
                    Reading::Units(resource.clone()),
                    Reading::Queue(resource),
                ];
                let model = &self.model;
                readings.extend(model.containers.keys().cloned().map(Reading::Level));
                readings.extend(model.stores.keys().cloned().map(Reading::Level));
                let lines = model.containers.keys().chain(model.stores.keys()).chain(model.signals.keys());
                readings.extend(lines.cloned().map(Reading::Queue));
                if !timeless {
                    readings.extend(self.model.entities.keys().cloned().map(Reading::Last));
                }
                Some(self.of(&readings))
            }
            Kind::Time if !timeless => Some(self.of(&[Reading::Now, Reading::Age, Reading::Waited])),
            _ => None,
        };
        if self.chance(2) {
            all.extend(reading.map(Expression::Reading));
        }
        if !self.chance(3) {
            all.extend(self.parameter_of(kind).map(Expression::Name));
        }
        (!all.is_empty()).then(|| self.of(&all))
    }

    /// An expression that is not a constant, if there is something to read.
    pub(super) fn varying(&mut self, kind: Kind, depth: u32, timeless: bool) -> Expression {
        match self.read(kind, timeless) {
            Some(read) if depth == 0 || self.chance(3) => read,
            Some(read) => self.operation(kind, read, depth, timeless),
            None => self.literal(kind),
        }
    }

    /// Any expression of this kind. `timeless` ones do not read the time.
    pub(super) fn expression(&mut self, kind: Kind, depth: u32, timeless: bool) -> Expression {
        match kind {
            Kind::Condition => self.condition(depth, timeless),
            kind if self.chance(4) => self.literal(kind),
            kind => self.varying(kind, depth, timeless),
        }
    }

    fn operation(&mut self, kind: Kind, read: Expression, depth: u32, timeless: bool) -> Expression {
        let depth = depth - 1;
        let sums = [Binary::Plus, Binary::Plus, Binary::Minus, Binary::Min, Binary::Max, Binary::Modulo];
        let other = |make: &mut Self| make.expression(kind, depth, timeless);
        match self.below(9) {
            0..=3 => {
                let operator = self.of(&sums);
                let b = match operator {
                    Binary::Modulo => self.divisor(kind),
                    _ => other(self),
                };
                if operator != Binary::Modulo && self.chance(3) {
                    binary(operator, b, read)
                } else {
                    binary(operator, read, b)
                }
            }
            4 => {
                let (condition, yes) = (self.condition(depth, timeless), other(self));
                Expression::Select(Box::new([condition, yes, read]))
            }
            5 => match kind {
                Kind::Time => {
                    let by = self.of(&[Kind::Integer, Kind::Real]);
                    let by = self.factor(by);
                    binary(Binary::Times, read, by)
                }
                kind => {
                    let by = self.factor(kind);
                    binary(Binary::Times, read, by)
                }
            },
            6 => {
                let by = match kind {
                    Kind::Time => self.of(&[Kind::Integer, Kind::Real]),
                    kind => kind,
                };
                let by = self.divisor(by);
                binary(Binary::Over, read, by)
            }
            7 => self.converted(kind, depth, timeless).unwrap_or(read),
            _ => match kind {
                Kind::Integer | Kind::Real => unary(Unary::Minus, read),
                _ => read,
            },
        }
    }

    /// A value of another kind, converted.
    fn converted(&mut self, kind: Kind, depth: u32, timeless: bool) -> Option<Expression> {
        let kinds = [Kind::Integer, Kind::Time, Kind::Real].into_iter().filter(|of| *of != kind);
        let from = self.of(&kinds.collect::<Vec<_>>());
        let read = self.read(from, timeless)?;
        let inner = if depth > 0 { self.operation(from, read, depth, timeless) } else { read };
        let operator = match kind {
            Kind::Integer => Unary::Integer,
            Kind::Time => Unary::Time,
            Kind::Real if from == Kind::Time && self.chance(2) => {
                let other = self.read(Kind::Time, timeless)?;
                return Some(binary(Binary::Over, inner, other));
            }
            Kind::Real => Unary::Real,
            Kind::Condition => return None,
        };
        Some(unary(operator, inner))
    }

    fn factor(&mut self, kind: Kind) -> Expression {
        match self.read(kind, true) {
            Some(read) if self.chance(2) => read,
            _ => self.literal(kind),
        }
    }

    /// Mostly not 0.
    fn divisor(&mut self, kind: Kind) -> Expression {
        if self.chance(12) {
            return self.factor(kind);
        }
        let value = match kind {
            Kind::Integer => self.of(&[1.0, 2.0, 3.0, -3.0]),
            Kind::Time => self.of(&[0.5, 1.0, 24.0]),
            _ => self.of(&[0.25, 1.5, -2.0, 3.0]),
        };
        Self::number(kind, value)
    }

    pub(super) fn condition(&mut self, depth: u32, timeless: bool) -> Expression {
        if depth > 0 && self.chance(3) {
            let a = self.condition(depth - 1, timeless);
            return match self.below(3) {
                0 => unary(Unary::Not, a),
                1 => binary(Binary::And, a, self.condition(depth - 1, timeless)),
                _ => binary(Binary::Or, a, self.condition(depth - 1, timeless)),
            };
        }
        let operators = [
            Binary::Equal,
            Binary::Unequal,
            Binary::Less,
            Binary::LessOrEqual,
            Binary::Greater,
            Binary::GreaterOrEqual,
        ];
        let kind = self.of(&[Kind::Integer, Kind::Integer, Kind::Time, Kind::Real]);
        let (operator, depth) = (self.of(&operators), depth.saturating_sub(1));
        let [a, b] = [self.varying(kind, depth, timeless), self.expression(kind, depth, timeless)];
        if self.chance(4) { binary(operator, b, a) } else { binary(operator, a, b) }
    }
}
