//! Values: computed, drawn from a distribution, or chosen.

use serde_json::Value as Json;

use super::super::error::ProcessError;
use super::super::ir::{Arguments, Expression, Kind, Law, Value, Variable};
use crate::facility::Distribution;

use super::keys::{Keys, expression, list, setting, table};
use super::tree::{Node, Tree};

/// `3`, `"now + 3"`, `{ exponential = 3 }`, `{ choice = { 1 = 0.5, 2 = 0.5 } }`.
pub(super) fn value(node: &Node, what: &str) -> Result<Value, ProcessError> {
    let Tree::Table(of) = &node.value else {
        return match &node.value {
            Tree::Number(_) | Tree::Text(_) => Ok(Value::Expression(expression(node, what)?)),
            _ => Err(setting(node, what, "write a number, an expression in quotes, or a distribution")),
        };
    };
    let mut pairs = of.iter();
    let (Some((name, arguments)), None) = (pairs.next(), pairs.next()) else {
        let remedy =
            "write one distribution, `{ exponential = 3 }`, or a choice, `{ choice = { 1 = 0.5, 2 = 0.5 } }`";
        let value = format!("a table with {}", crate::text::count(of.len(), "key"));
        let (place, what) = (node.place, format!("`{what}`"));
        return Err(ProcessError::Setting { place, what, value, remedy: remedy.to_owned() });
    };
    if name == "choice" {
        return Ok(Value::Choice(choice(arguments)?));
    }
    let arguments = match &arguments.value {
        _ if Distribution::is_of_others(name) => Arguments::Whole(whole(name, arguments)?),
        Tree::List(values) => {
            let all = values.iter().map(|value| expression(value, name));
            Arguments::List(all.collect::<Result<_, ProcessError>>()?)
        }
        Tree::Table(values) => {
            let all = values.iter().map(|(key, value)| Ok((key.clone(), expression(value, key)?)));
            Arguments::Named(all.collect::<Result<_, ProcessError>>()?)
        }
        _ => Arguments::One(expression(arguments, name)?),
    };
    Ok(Value::Law(Law { name: name.clone(), arguments }))
}

/// A distribution of data or of other distributions.
fn whole(name: &str, arguments: &Node) -> Result<Distribution, ProcessError> {
    let written = Json::Object([(name.to_owned(), json(arguments))].into_iter().collect());
    serde_json::from_value(written).map_err(|error| ProcessError::Distribution {
        place: arguments.place,
        name: name.to_owned(),
        reason: crate::text::suggested(&error.to_string()),
    })
}

fn json(node: &Node) -> Json {
    match &node.value {
        Tree::Number(number) if number.fract() == 0.0 && (0.0..4e9).contains(number) =>
        {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            Json::from(*number as u32)
        }
        Tree::Number(number) => Json::from(*number),
        Tree::Text(text) => Json::from(text.as_str()),
        Tree::List(all) => all.iter().map(json).collect(),
        Tree::Table(all) => all.iter().map(|(key, node)| (key.clone(), json(node))).collect(),
        other => Json::from(matches!(other, Tree::Truth(true))),
    }
}

/// `{ 1 = 0.5, 2 = 0.5 }`.
fn choice(node: &Node) -> Result<Vec<(i32, Expression)>, ProcessError> {
    let pair = |(key, probability): (&String, &Node)| {
        let value = key.parse::<i32>().map_err(|_| ProcessError::Setting {
            place: probability.place,
            what: "a value of the choice".to_owned(),
            value: format!("\"{}\"", crate::text::quoted(key).escape_debug()),
            remedy: "write whole numbers with their probabilities: `{ 1 = 0.3, 2 = 0.7 }`".to_owned(),
        })?;
        Ok((value, expression(probability, key)?))
    };
    table(node, "choice")?.iter().map(pair).collect()
}

/// A variable, or an attribute: `{ kind = "time", value = 3 }`, or its value alone.
pub(super) fn variable(node: &Node, name: &str, global: bool) -> Result<Variable, ProcessError> {
    let place = node.place;
    let long = match &node.value {
        Tree::Table(of) => {
            of.is_empty() || ["kind", "value", "level", "histogram"].iter().any(|key| of.contains_key(*key))
        }
        _ => false,
    };
    if !long {
        let value = value(node, name)?;
        return Ok(Variable {
            kind: kind_of(&value),
            value: Some(value),
            level: false,
            histogram: false,
            place,
        });
    }
    let mut keys = Keys::of(node, format!("`{name}`"))?;
    let first = keys.take("value").map(|value| self::value(value, name)).transpose()?;
    let kind = match keys.take("kind") {
        None => first.as_ref().map_or(Kind::Integer, kind_of),
        Some(node) => kind(node)?,
    };
    let [level, histogram] = match global {
        true => [keys.truth("level")?, keys.truth("histogram")?],
        false => [false; 2],
    };
    keys.end()?;
    Ok(Variable { kind, value: first, level, histogram, place })
}

fn kind(node: &Node) -> Result<Kind, ProcessError> {
    match &node.value {
        Tree::Text(text) if text == "integer" => Ok(Kind::Integer),
        Tree::Text(text) if text == "time" => Ok(Kind::Time),
        Tree::Text(text) if text == "real" => Ok(Kind::Real),
        _ => Err(setting(node, "kind", "write \"integer\", \"time\" or \"real\"")),
    }
}

/// The kind that a value has alone: expressions count as integers.
fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Expression(Expression::Number(number)) => number_kind(&[*number]),
        Value::Expression(_) | Value::Choice(_) => Kind::Integer,
        Value::Law(_) => Kind::Time,
    }
}

/// The kind of numbers: integers if all are whole.
pub(super) fn number_kind(numbers: &[f64]) -> Kind {
    if numbers.iter().all(|number| number.fract() == 0.0) { Kind::Integer } else { Kind::Real }
}

/// A list of numbers, or one.
pub(super) fn numbers(node: &Node, what: &str) -> Result<Vec<f64>, ProcessError> {
    match &node.value {
        Tree::List(_) => list(node, what)?.iter().map(|value| super::keys::number(value, what)).collect(),
        _ => Ok(vec![super::keys::number(node, what)?]),
    }
}
