//! Where entities enter.

use crate::time::Ticks;

use super::super::error::ProcessError;
use super::super::ir::{self, Arguments, Arrivals, Binary, Expression, Kind, Place, Value};
use super::super::program::{self, ConstantKind, GlobalWord};
use super::constants::literal;
use super::lowering::{Lowering, number, words_of};

/// Most periods of a rate that changes.
const MOST_PERIODS: usize = 1024;

impl Lowering<'_> {
    /// The sources of a type. `count` is the word of the first.
    pub(super) fn sources(&mut self, process: u32, count: GlobalWord) -> Result<(), ProcessError> {
        let model = self.model;
        let (name, entity) = model.entities.get_index(process as usize).expect("a type of the model");
        for (index, source) in (0..).zip(&entity.sources) {
            let place = source.place;
            let name = format!("{name}/source {}", index + 1);
            let whole = |value: &Expression, low| ConstantKind::Whole(value.clone(), [low, 65_534]);
            let what = format!("the batch of `{name}`");
            let batch = self.constants.constant(whole(&source.batch, 1), &what, place);
            let most = match &source.most {
                Some(most) => ConstantKind::Whole(most.clone(), [0, u32::MAX - 1]),
                None => ConstantKind::Unbounded,
            };
            let most = self.constants.constant(most, &format!("the bound of `{name}`"), place);
            let mut given = Vec::new();
            let arrivals = match &source.times {
                Arrivals::Start => program::Arrivals::Start,
                Arrivals::Every(Value::Law(law)) => {
                    program::Arrivals::Drawn(self.draw(&name, Some(law), None, place)?)
                }
                Arrivals::Every(Value::Expression(time)) => {
                    let kind = ConstantKind::Value(Kind::Time, time.clone());
                    let what = format!("the time between entries of `{name}`");
                    program::Arrivals::Constant(self.constants.constant(kind, &what, place))
                }
                Arrivals::Every(Value::Choice(_)) => {
                    return Err(ProcessError::Unsupported {
                        place,
                        what: "a choice as a time between entries".to_owned(),
                        remedy: "use a distribution, or a process that spawns",
                    });
                }
                Arrivals::Rates(_) if source.most.is_some() => {
                    return Err(ProcessError::Unsupported {
                        place,
                        what: "`most` with a rate that changes".to_owned(),
                        remedy: "count entries in a variable, and end the others",
                    });
                }
                Arrivals::Rates(rates) => self.rates(&name, rates, place)?,
                Arrivals::Trace { times, attributes } => {
                    given = attributes.keys().cloned().collect();
                    self.trace(process, times, attributes, place)?
                }
            };
            let entry = self.entry(process, &given)?;
            let count = count + index;
            self.sources.push(program::Source { process, entry, arrivals, batch, most, count, name });
        }
        Ok(())
    }

    fn rates(
        &mut self,
        name: &str,
        rates: &[ir::Rate],
        place: Place,
    ) -> Result<program::Arrivals, ProcessError> {
        if rates.is_empty() || rates.len() > MOST_PERIODS {
            let (count, most) = (rates.len(), MOST_PERIODS);
            return Err(ProcessError::TooMany { what: "periods of a rate (1 is the least)", count, most });
        }
        // The mean time of the highest rate.
        let all: Vec<Expression> = rates.iter().map(|rate| rate.rate.clone()).collect();
        let of = |binary, a, b| Expression::Binary(binary, Box::new([a, b]));
        let highest = all.iter().cloned().reduce(|a, b| of(Binary::Max, a, b)).expect("not empty");
        let mean = of(Binary::Over, Expression::Number(1.0), highest);
        let law = ir::Law { name: "exponential".to_owned(), arguments: Arguments::One(mean) };
        let gap = self.draw(&format!("{name}/gap"), Some(&law), None, place)?;
        let keep = self.draw(&format!("{name}/keep"), None, None, place)?;
        let (first, mut cycle) = (number(self.data.len()), 0);
        for (index, rate) in rates.iter().enumerate() {
            cycle += self.ticks(rate.lasts, "a period of a rate", place)?;
            let share = ConstantKind::Share(index, all.clone());
            let share = self.constants.constant(share, &format!("a rate of `{name}`"), place);
            let [low, high] = Ticks::new(cycle).to_words();
            self.data.push([low, high, share, 0]);
        }
        Ok(program::Arrivals::Rates { gap, keep, first, periods: number(rates.len()), cycle })
    }

    fn trace(
        &mut self,
        process: u32,
        times: &[f64],
        attributes: &indexmap::IndexMap<String, Vec<f64>>,
        place: Place,
    ) -> Result<program::Arrivals, ProcessError> {
        let (first, mut last) = (number(self.data.len()), 0);
        let mut words = Vec::new();
        let mut columns = Vec::new();
        for (name, values) in attributes {
            let (slot, kind) = self.scopes[process as usize].slot(name, place)?;
            let program::Slot::Attribute(word) = slot else {
                return Err(ProcessError::Unsupported {
                    place,
                    what: format!("the variable `{name}` in a list of arrivals"),
                    remedy: "name attributes of the entity",
                });
            };
            words.extend(word..word + words_of(kind));
            columns.push((name, values, kind));
        }
        let rows = 1 + number(words.len().div_ceil(4));
        for (index, &units) in times.iter().enumerate() {
            let ticks = self.ticks(units, "a time of entry", place)?;
            if ticks < last {
                return Err(ProcessError::Setting {
                    place,
                    what: "a time of entry".to_owned(),
                    value: crate::text::number(units),
                    remedy: "sort the times".to_owned(),
                });
            }
            last = ticks;
            let [low, high] = Ticks::new(ticks).to_words();
            self.data.push([low, high, 0, 0]);
            let mut row = Vec::new();
            for (name, values, kind) in &columns {
                let value = values.get(index).copied().unwrap_or(f64::NAN);
                let bits =
                    literal(value, *kind, self.resolution).map_err(|remedy| ProcessError::Setting {
                        place,
                        what: format!("`{name}` of entry {}", index + 1),
                        value: crate::text::number(value),
                        remedy: remedy.to_owned(),
                    })?;
                let both = Ticks::new(bits.cast_unsigned()).to_words();
                row.extend_from_slice(&both[..words_of(*kind) as usize]);
            }
            row.resize(4 * (rows as usize - 1), 0);
            self.data.extend(row.chunks_exact(4).map(|row| [row[0], row[1], row[2], row[3]]));
        }
        if times.is_empty() {
            // Kernels name its first row.
            self.data.push([0; 4]);
        }
        Ok(program::Arrivals::Trace { first, rows, count: number(times.len()), words })
    }

    fn ticks(&self, units: f64, what: &str, place: Place) -> Result<u64, ProcessError> {
        let found = literal(units, Kind::Time, self.resolution);
        found.map(i64::cast_unsigned).map_err(|remedy| ProcessError::Setting {
            place,
            what: what.to_owned(),
            value: crate::text::number(units),
            remedy: remedy.to_owned(),
        })
    }
}
