//! Parameters of a description, and the design whose points are the combinations of their values.

use crate::statistics::Value;
use crate::time::{Resolution, Ticks};

use super::error::{DescriptionError, invalid};

/// A parameter: its kind of number, and its values as they are written.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) levels: Vec<Value>,
    /// The file and line, or the change, that sets it.
    pub(super) place: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number.
    Plain,
    /// A time in units, passed to the model in ticks.
    Time,
    /// Ticks, passed as they are.
    Ticks,
    /// From 0 to 1, passed in units of 2^-32.
    Probability,
}

/// The kind and the values of a parameter in TOML.
pub(super) fn parameter(value: &toml::Value) -> Result<(Kind, Vec<Value>), String> {
    const WHAT: &str = "has to be a number, { time = … } in units of time, { ticks = … } or { probability = … } from \
        0 to 1, or a list instead of the number";
    let number = |value: &toml::Value| match value {
        toml::Value::Integer(value) => Ok(Value::from(*value)),
        toml::Value::Float(value) => Ok(Value::from(*value)),
        toml::Value::Boolean(value) => Ok(Value::from(u32::from(*value))),
        _ => Err(WHAT.to_owned()),
    };
    let numbers = |value: &toml::Value| match value {
        toml::Value::Array(values) if values.is_empty() => Err("has no value in its list".to_owned()),
        toml::Value::Array(values) => values.iter().map(number).collect(),
        value => number(value).map(|value| vec![value]),
    };
    let toml::Value::Table(table) = value else { return Ok((Kind::Plain, numbers(value)?)) };
    match table.iter().collect::<Vec<_>>()[..] {
        [(kind, value)] if kind == "time" => Ok((Kind::Time, numbers(value)?)),
        [(kind, value)] if kind == "ticks" => Ok((Kind::Ticks, numbers(value)?)),
        [(kind, value)] if kind == "probability" => Ok((Kind::Probability, numbers(value)?)),
        _ => Err(WHAT.to_owned()),
    }
}

/// Sets the values of a parameter: `NAME=VALUE` or `NAME=VALUE,VALUE`. Its kind stays.
pub(super) fn set(parameters: &mut [Parameter], change: &str) -> Result<(), DescriptionError> {
    let wrong = |what: &str| invalid(format!("the change {change}: {what}"));
    let (name, values) =
        change.split_once('=').ok_or_else(|| wrong("write NAME=VALUE, or NAME=VALUE,VALUE"))?;
    let Some(parameter) = parameters.iter_mut().find(|parameter| parameter.name == name.trim()) else {
        let known: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        return Err(wrong(&format!("the file has no such parameter; it has {}", known.join(", "))));
    };
    let number = |text: &str| {
        let text = text.trim();
        let whole = text.parse::<i64>().map(Value::from).ok();
        whole
            .or_else(|| text.parse::<f64>().map(Value::from).ok())
            .ok_or_else(|| wrong(&format!("`{text}` is not a number")))
    };
    parameter.levels = values.split(',').map(number).collect::<Result<_, _>>()?;
    parameter.place = format!("the change {change}");
    Ok(())
}

/// A time in ticks. A positive time that rounds to 0 ticks, or by more than a thousandth, is an
/// error.
pub(super) fn ticks(resolution: Resolution, units: f64) -> Result<Ticks, String> {
    if !units.is_finite() {
        return Err(format!("is {units}, and has to be a finite time"));
    }
    let ticks = resolution.ticks(units).map_err(|error| format!("is not a time: {error}"))?;
    let per_unit = resolution.ticks_per_unit();
    if ticks == Ticks::ZERO && units > 0.0 {
        return Err(format!(
            "is {units:e}, less than half a tick of 1/{per_unit}: choose more `ticks_per_unit`, or a \
            smaller unit of time"
        ));
    }
    if units > 0.0 && (resolution.units(ticks) / units - 1.0).abs() > 1e-3 {
        return Err(format!(
            "is {units}, and {ticks} in whole ticks of 1/{per_unit}, which is more than a thousandth \
            off: choose more `ticks_per_unit`"
        ));
    }
    Ok(ticks)
}
