//! Ticks in a unit of time: as written, or chosen from the times of the model.

use crate::facility::Distribution;
use crate::time::{Resolution, Ticks};

use super::super::error::ProcessError;
use super::super::ir::{Action, Arguments, Arrivals, Kind, Place, ProcessModel, Statement, Value};
use super::super::program::{MOST_TICKS, Program};
use super::constants::{distribution, evaluate};
use super::lowering::first_point;
use super::walk;

impl Program {
    /// The end of a run, in units.
    ///
    /// # Errors
    /// [`ProcessError::Setting`], if it is not a time below [`MOST_TICKS`].
    pub fn end(&self, units: f64) -> Result<Ticks, ProcessError> {
        let found = self.resolution.ticks(units).map_err(|error| error.to_string());
        let found =
            found.and_then(|ticks| match ticks.get() < MOST_TICKS {
                true => Ok(ticks),
                false => Err("runs have less than 2^47 ticks: end earlier, or choose fewer `ticks_per_unit`"
                    .to_owned()),
            });
        found.map_err(|remedy| ProcessError::Setting {
            place: Place::default(),
            what: "the end of the run".to_owned(),
            value: crate::text::number(units),
            remedy,
        })
    }
}

/// Ticks in a unit: as written, or chosen from the times of the model.
pub(super) fn resolution(model: &ProcessModel) -> Result<Resolution, ProcessError> {
    for (name, parameter) in &model.parameters {
        if parameter.values.is_empty() {
            return Err(ProcessError::Setting {
                place: parameter.place,
                what: format!("the parameter `{name}`"),
                value: "a list without values".to_owned(),
                remedy: "write at least one value".to_owned(),
            });
        }
    }
    let mut times = Times { constants: Vec::new(), shortest: f64::INFINITY };
    let point = first_point(model);
    for entity in model.entities.values() {
        for source in &entity.sources {
            arrivals(&source.times, &point, &mut times);
        }
        // Any number may be the value of an attribute; only distributions are surely times.
        let values = entity.attributes.values().filter_map(|attribute| attribute.value.as_ref());
        values.filter(|value| matches!(value, Value::Law(_))).for_each(|value| times.value(value, &point));
        let blocks = entity.blocks.values().map(|block| &block[..]).chain([&entity.statements[..]]);
        blocks.for_each(|block| statements(block, &point, &mut times));
    }
    times
        .constants
        .extend(model.parameters.values().filter(|of| of.kind == Kind::Time).flat_map(|of| of.values.iter()));
    times.constants.extend([model.until, model.warm_up].into_iter().flatten());
    let until = model.until.unwrap_or_else(|| times.constants.iter().copied().fold(0.0, f64::max));
    let found = match model.ticks_per_unit {
        None => Resolution::for_times(&times.constants, times.shortest, until * ROOM_OF_SUMS),
        Some(ticks) => Resolution::new(ticks).map_err(|error| wrong(ticks, &error.to_string()))?,
    };
    let ticks = found.ticks_per_unit();
    if !found.ticks(until).is_ok_and(|end| end.get() < MOST_TICKS) {
        return Err(wrong(
            ticks,
            "runs have less than 2^47 ticks: choose fewer, a larger unit, or an earlier end",
        ));
    }
    if times.shortest * f64::from(ticks) < 1.0 {
        return Err(wrong(ticks, "the shortest time is less than a tick: choose more, or an earlier end"));
    }
    Ok(found)
}

fn wrong(ticks: u32, remedy: &str) -> ProcessError {
    let what = "`ticks_per_unit`".to_owned();
    let (value, remedy) = (ticks.to_string(), remedy.to_owned());
    ProcessError::Setting { place: Place::default(), what, value, remedy }
}

/// Ticks end at 2^62.
const ROOM_OF_SUMS: f64 = (1 << 15) as f64;

/// Times of a model, in units.
struct Times {
    constants: Vec<f64>,
    shortest: f64,
}

impl Times {
    fn value(&mut self, value: &Value, point: &dyn Fn(&str) -> Option<f64>) {
        match value {
            Value::Expression(written) => {
                if let Some(units) = evaluate(written, point).filter(|units| *units > 0.0) {
                    self.constants.push(units);
                    self.shortest = self.shortest.min(units);
                }
            }
            Value::Law(law) => {
                let Ok(found) = distribution(law, point, Place::default()) else { return };
                if found.mean() > 0.0 {
                    self.shortest = self.shortest.min(found.mean());
                }
                let exact = matches!(
                    found,
                    Distribution::Constant(_) | Distribution::Uniform(_) | Distribution::Triangular(_)
                );
                let of = |written| evaluate(written, point);
                if let (true, Arguments::List(list)) = (exact, &law.arguments) {
                    self.constants.extend(list.iter().filter_map(of));
                }
                if let (true, Arguments::One(one)) = (exact, &law.arguments) {
                    self.constants.extend(of(one));
                }
            }
            Value::Choice(_) => {}
        }
    }
}

fn arrivals(arrivals: &Arrivals, point: &dyn Fn(&str) -> Option<f64>, times: &mut Times) {
    match arrivals {
        Arrivals::Every(value) => times.value(value, point),
        Arrivals::Rates(rates) => {
            times.constants.extend(rates.iter().map(|rate| rate.lasts));
            let highest = rates.iter().filter_map(|rate| evaluate(&rate.rate, point)).fold(0.0, f64::max);
            if highest > 0.0 {
                times.shortest = times.shortest.min(highest.recip());
            }
        }
        Arrivals::Trace { times: written, .. } => times.constants.extend(written),
        Arrivals::Start => {}
    }
}

/// The times of statements, in units.
fn statements(all: &[Statement], point: &dyn Fn(&str) -> Option<f64>, times: &mut Times) {
    for statement in all {
        match &statement.action {
            Action::Delay(value) | Action::Set { value, .. } => match value {
                // Any number may be set; only distributions are surely times.
                Value::Expression(_) if matches!(statement.action, Action::Set { .. }) => {}
                value => times.value(value, point),
            },
            Action::Use { time: Some(time), .. } => times.value(time, point),
            _ => {}
        }
        if let Some(patience) = walk::waiting(&statement.action).and_then(|waiting| waiting.patience.as_ref())
        {
            times.value(&patience.time, point);
        }
        for block in walk::blocks(&statement.action) {
            self::statements(block, point, times);
        }
    }
}
