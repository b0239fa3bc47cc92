//! The tables of a model: parameters, resources, containers, stores, signals, variables, entities.

use indexmap::IndexMap;

use super::super::error::ProcessError;
use super::super::ir::{
    Action, Arrivals, Container, Cost, Entity, Expression, Kind, Order, Parameter, Period, Place,
    ProcessModel, Rate, Resource, Schedule, Signal, Source, Store, Tally,
};
use super::super::lower::walk;
use super::files::Traces;
use super::keys::{Keys, expression, list, number, setting, table};
use super::statements::{statements, time};
use super::tree::{Node, Tree};
use super::values::{number_kind, numbers, value, variable};

/// Reads a model. `traces` reads the files that it names.
pub(in crate::process) fn model(root: &Node, traces: &Traces<'_>) -> Result<ProcessModel, ProcessError> {
    let mut keys = Keys::of(root, "a process model")?;
    let text = |text: Option<String>| text.unwrap_or_default();
    let resources = all(&mut keys, "resource", resource)?;
    let (mut schedules, mut costs) = (IndexMap::new(), IndexMap::new());
    for (name, (_, schedule, cost)) in &resources {
        schedules.extend(schedule.clone().map(|schedule| (name.clone(), schedule)));
        costs.extend(cost.clone().map(|cost| (name.clone(), cost)));
    }
    let mut parameters = all(&mut keys, "parameters", parameter)?;
    let paired = keys.take("design").map(|node| design(node, &mut parameters, traces)).transpose()?;
    let model = ProcessModel {
        name: text(keys.text("name")?),
        about: text(keys.text("about")?),
        unit: text(keys.text("unit")?),
        ticks_per_unit: keys.take("ticks_per_unit").map(ticks_per_unit).transpose()?,
        until: keys.take("until").map(|node| time(node, "until")).transpose()?,
        warm_up: keys.take("warm_up").map(|node| time(node, "warm_up")).transpose()?,
        parameters,
        paired: paired.unwrap_or(false),
        variables: all(&mut keys, "variable", |node, name| variable(node, name, true))?,
        resources: resources.into_iter().map(|(name, (resource, ..))| (name, resource)).collect(),
        containers: all(&mut keys, "container", container)?,
        stores: all(&mut keys, "store", store)?,
        signals: all(&mut keys, "signal", signal)?,
        entities: all(&mut keys, "entity", |node, name| entity(node, name, traces))?,
        schedules,
        costs,
        tallies: all(&mut keys, "tally", tally)?,
        quantiles: false,
        notes: 0,
    };
    keys.end()?;
    match model.entities.is_empty() {
        false => Ok(model),
        true => Err(ProcessError::Missing {
            place: root.place,
            what: "a process model".to_owned(),
            key: "entity",
            remedy: "write what an entity does: `[entity.NAME]`",
        }),
    }
}

/// Things by name.
fn all<T>(
    keys: &mut Keys<'_>,
    key: &'static str,
    mut read: impl FnMut(&Node, &str) -> Result<T, ProcessError>,
) -> Result<IndexMap<String, T>, ProcessError> {
    let Some(node) = keys.take(key) else { return Ok(IndexMap::new()) };
    table(node, key)?.iter().map(|(name, node)| Ok((name.clone(), read(node, name)?))).collect()
}

fn ticks_per_unit(node: &Node) -> Result<u32, ProcessError> {
    match node.value {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Tree::Number(ticks) if ticks.fract() == 0.0 && (1.0..4_294_967_296.0).contains(&ticks) => {
            Ok(ticks as u32)
        }
        _ => Err(setting(node, "ticks_per_unit", "write a whole number from 1 to 4294967295")),
    }
}

/// `3`, `[3, 4]`, `{ time = 9 }` or `{ real = [1.5, 2] }`.
fn parameter(node: &Node, name: &str) -> Result<Parameter, ProcessError> {
    let place = node.place;
    let (kind, values) = match &node.value {
        Tree::Table(_) => {
            let mut keys = Keys::of(node, format!("the parameter `{name}`"))?;
            let (time, real) = (keys.take("time"), keys.take("real"));
            let found = match (time, real) {
                (Some(values), None) => (Kind::Time, numbers(values, name)?),
                (None, Some(values)) => (Kind::Real, numbers(values, name)?),
                _ => {
                    let remedy = "write numbers, `{ time = ... }` or `{ real = ... }`";
                    return Err(setting(node, name, remedy));
                }
            };
            keys.end()?;
            found
        }
        _ => {
            let values = numbers(node, name)?;
            (number_kind(&values), values)
        }
    };
    Ok(Parameter { kind, values, place })
}

/// `[design]`: values of parameters, and whether they belong together.
fn design(
    node: &Node,
    parameters: &mut IndexMap<String, Parameter>,
    traces: &Traces<'_>,
) -> Result<bool, ProcessError> {
    let mut keys = Keys::of(node, "the design")?;
    let (paired, csv) = (keys.truth("paired")?, keys.take("csv"));
    let mut levels: Vec<(String, Place, Vec<f64>)> = Vec::new();
    for (name, node) in keys.others() {
        levels.push((name.clone(), node.place, numbers(node, name)?));
    }
    if let Some(node) = csv {
        if !levels.is_empty() {
            return Err(setting(node, "csv", "`csv` has all points: remove the other keys"));
        }
        levels = traces.points(node)?.into_iter().map(|(name, values)| (name, node.place, values)).collect();
    }
    for (name, place, values) in levels {
        let known = parameters.keys().cloned().collect();
        let Some(parameter) = parameters.get_mut(&name) else {
            return Err(ProcessError::Unknown { place, name, what: "a parameter", known });
        };
        parameter.values = values;
    }
    Ok(paired || csv.is_some())
}

fn order(keys: &mut Keys<'_>) -> Result<Order, ProcessError> {
    let Some(node) = keys.take("queue") else { return Ok(Order::Fifo) };
    match &node.value {
        Tree::Text(text) if text == "fifo" => Ok(Order::Fifo),
        Tree::Text(text) if text == "priority" => Ok(Order::Priority),
        Tree::Text(text) if text == "preempt" => Ok(Order::Preempt),
        _ => Err(setting(node, "queue", "write \"fifo\", \"priority\" or, for a resource, \"preempt\"")),
    }
}

/// A resource, with its schedule and its costs if it has them.
fn resource(node: &Node, name: &str) -> Result<(Resource, Option<Schedule>, Option<Cost>), ProcessError> {
    let place = node.place;
    if !matches!(node.value, Tree::Table(_)) {
        return Ok((Resource { units: expression(node, name)?, order: Order::Fifo, place }, None, None));
    }
    let mut keys = Keys::of(node, format!("the resource `{name}`"))?;
    let (units, periods) = (keys.expression("units")?, keys.take("schedule"));
    let order = order(&mut keys)?;
    let schedule = periods.map(|periods| schedule(periods, &mut keys)).transpose()?;
    if let (Some(_), Some(periods)) = (&units, periods) {
        return Err(setting(periods, "schedule", "write `units` or `schedule`, not both"));
    }
    let cost = keys.take("cost").map(|node| cost(node, name)).transpose()?;
    keys.end()?;
    let units = units.unwrap_or(Expression::Number(1.0));
    Ok((Resource { units, order, place }, schedule, cost))
}

fn cost(node: &Node, name: &str) -> Result<Cost, ProcessError> {
    let mut keys = Keys::of(node, format!("the cost of `{name}`"))?;
    let [busy, idle, each_use] = ["busy", "idle", "use"].map(|key| keys.expression(key));
    keys.end()?;
    Ok(Cost { busy: busy?, idle: idle?, each_use: each_use?, place: node.place })
}

/// `[[480, 2], [960, 1]]`: times and units.
fn schedule(node: &Node, keys: &mut Keys<'_>) -> Result<Schedule, ProcessError> {
    let period = |node: &Node| match list(node, "schedule")? {
        [lasts, units] => {
            Ok(Period { lasts: number(lasts, "schedule")?, units: expression(units, "schedule")? })
        }
        _ => Err(setting(node, "schedule", "write pairs of a time and units: `[[480, 2], [960, 1]]`")),
    };
    let periods = list(node, "schedule")?.iter().map(period).collect::<Result<_, _>>()?;
    let preempts = match keys.take("shift") {
        None => false,
        Some(Node { value: Tree::Text(text), .. }) if text == "preempt" => true,
        Some(node) => return Err(setting(node, "shift", "write \"preempt\", or leave it out")),
    };
    Ok(Schedule { periods, preempts, place: node.place })
}

fn container(node: &Node, name: &str) -> Result<Container, ProcessError> {
    let mut keys = Keys::of(node, format!("the container `{name}`"))?;
    let (capacity, level) = (keys.expression("capacity")?, keys.expression("level")?);
    let order = order(&mut keys)?;
    keys.end()?;
    Ok(Container { capacity, level, order, place: node.place })
}

fn store(node: &Node, name: &str) -> Result<Store, ProcessError> {
    let mut keys = Keys::of(node, format!("the store `{name}`"))?;
    let capacity = keys.expression("capacity")?;
    let order = order(&mut keys)?;
    keys.end()?;
    Ok(Store { capacity, order, place: node.place })
}

fn tally(node: &Node, name: &str) -> Result<Tally, ProcessError> {
    let mut keys = Keys::of(node, format!("the tally `{name}`"))?;
    let histogram = keys.expression("histogram")?;
    let bounds = match histogram {
        Some(_) => keys.take("up_to"),
        None => Some(keys.need("up_to", "write bounds, or `histogram`: `up_to = [5, 10]`")?),
    };
    let bounds = bounds.map(|bounds| list(bounds, "up_to")).transpose()?.unwrap_or_default();
    let bound = |node: &Node| {
        let text = match &node.value {
            Tree::Text(text) => text.clone(),
            other => other.to_string(),
        };
        Ok((text, expression(node, "up_to")?))
    };
    let up_to = bounds.iter().map(bound).collect::<Result<_, ProcessError>>()?;
    keys.end()?;
    Ok(Tally { up_to, histogram, place: node.place })
}

fn signal(node: &Node, name: &str) -> Result<Signal, ProcessError> {
    Keys::of(node, format!("the signal `{name}`"))?.end()?;
    Ok(Signal { place: node.place })
}

/// An entity. Its lists of statements besides `do` are named blocks.
fn entity(node: &Node, name: &str, traces: &Traces<'_>) -> Result<Entity, ProcessError> {
    let mut keys = Keys::of(node, format!("the entity `{name}`"))?;
    let mut sources: Vec<Source> = source(node, &mut keys, traces)?.into_iter().collect();
    match keys.take("source") {
        Some(Node { value: Tree::List(list), .. }) => {
            sources.extend(
                list.iter().map(|node| lone_source(node, name, traces)).collect::<Result<Vec<_>, _>>()?,
            );
        }
        Some(node) => sources.push(lone_source(node, name, traces)?),
        None => {}
    }
    let attributes = keys.take("attributes").map(|node| table(node, "attributes")).transpose()?;
    let attributes = attributes.into_iter().flatten();
    let attributes = attributes.map(|(name, node)| Ok((name.clone(), variable(node, name, false)?)));
    let attributes = attributes.collect::<Result<_, ProcessError>>()?;
    let does = keys.need("do", "write what it does: `do = [...]`")?;
    let does = statements(does, "do", 0)?;
    let mut blocks = IndexMap::new();
    for (block, node) in keys.others().filter(|(_, node)| matches!(node.value, Tree::List(_))) {
        blocks.insert(block.clone(), (node.place, statements(node, block, 0)?));
    }
    if let Some((key, node)) = keys.others().find(|(key, _)| !blocks.contains_key(*key)) {
        return Err(keys.unknown(key, node));
    }
    for (block, (place, _)) in &blocks {
        let mut leads = |action: &Action| matches!(action, Action::Go { block: to } if to == block);
        let mut all =
            blocks.iter().filter(|(other, _)| *other != block).map(|(_, (_, all))| all).chain([&does]);
        if !all.any(|statements| walk::any(statements, &mut leads)) {
            return Err(ProcessError::Setting {
                place: *place,
                what: format!("the block `{block}` of `{name}`"),
                value: "named by no statement".to_owned(),
                remedy: "name it by `go` or `else`, or remove it".to_owned(),
            });
        }
    }
    let blocks = blocks.into_iter().map(|(name, (_, statements))| (name, statements)).collect();
    Ok(Entity { sources, attributes, statements: does, blocks, place: node.place })
}

fn lone_source(node: &Node, name: &str, traces: &Traces<'_>) -> Result<Source, ProcessError> {
    let mut keys = Keys::of(node, format!("a source of `{name}`"))?;
    let found = source(node, &mut keys, traces)?;
    let (place, what) = (node.place, keys.what.clone());
    keys.end()?;
    let remedy = "write when entities enter: `every`, `rates`, `times` or `at_start`";
    found.ok_or(ProcessError::Missing { place, what, key: "every", remedy })
}

/// The source in the keys of a table, if there is one.
fn source(node: &Node, keys: &mut Keys<'_>, traces: &Traces<'_>) -> Result<Option<Source>, ProcessError> {
    let [every, rates, times, start] = ["every", "rates", "times", "at_start"].map(|key| keys.take(key));
    let (batch, most) = (keys.take("batch"), keys.take("most"));
    let place = node.place;
    let mut found = Vec::new();
    if let Some(node) = every {
        found.push(Arrivals::Every(value(node, "every")?));
    }
    if let Some(node) = rates {
        found.push(Arrivals::Rates(list(node, "rates")?.iter().map(rate).collect::<Result<_, _>>()?));
    }
    if let Some(node) = times {
        let (times, attributes) = traces.read(node)?;
        found.push(Arrivals::Trace { times, attributes });
    }
    if start.is_some() {
        found.push(Arrivals::Start);
    }
    let both = |first: &str, second: &str, remedy: &str| ProcessError::Setting {
        place,
        what: "a source".to_owned(),
        value: format!("both {first} and {second}"),
        remedy: remedy.to_owned(),
    };
    let arrivals = match (found.pop(), found.is_empty()) {
        (Some(arrivals), true) => arrivals,
        (Some(_), false) => {
            return Err(both(
                "one of `every`, `rates`, `times`, `at_start`",
                "another",
                "write a list `source = [{ ... }, { ... }]`",
            ));
        }
        (None, _) => {
            return match batch.or(most) {
                None => Ok(None),
                Some(node) => Err(ProcessError::Missing {
                    place: node.place,
                    what: keys.what.clone(),
                    key: "every",
                    remedy: "`batch` and `most` go with a source",
                }),
            };
        }
    };
    if let (Some(_), Some(_)) = (start, batch) {
        return Err(both("`at_start`", "`batch`", "write the number as `at_start`"));
    }
    let batch = batch.or(start).map(|node| expression(node, "batch")).transpose()?;
    let most = most.map(|node| expression(node, "most")).transpose()?;
    Ok(Some(Source { times: arrivals, batch: batch.unwrap_or(Expression::Number(1.0)), most, place }))
}

fn rate(node: &Node) -> Result<Rate, ProcessError> {
    let mut keys = Keys::of(node, "a period of `rates`")?;
    let lasts = number(keys.need("lasts", "write its length: `lasts = 60`")?, "lasts")?;
    let rate = expression(keys.need("rate", "write entries per unit: `rate = 0.2`")?, "rate")?;
    keys.end()?;
    Ok(Rate { lasts, rate })
}
