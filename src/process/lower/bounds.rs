//! Bounds of a description, before anything recurses into it; and entities that never enter.

use indexmap::IndexSet;

use super::super::error::ProcessError;
use super::super::ir::{
    Action, Arrivals, Entity, Expression, Place, Preempted, ProcessModel, Source, Statement, Value, Waiting,
};
use super::walk;

/// Most blocks inside each other, and most operators of an expression.
const MOST_NESTING: usize = 64;

/// Most arms of a statement, values of a choice, resources of a request.
const MOST_ARMS: usize = 1024;

/// Checks that nothing is nested too deeply or branches too widely.
pub(super) fn check(model: &ProcessModel) -> Result<(), ProcessError> {
    let nested = |all: Vec<&Expression>, place: Place| {
        all.into_iter().try_for_each(|expression| nesting(expression, place, "an expression"))
    };
    for of in model.resources.values() {
        nested(vec![&of.units], of.place)?;
    }
    for of in model.schedules.values() {
        wide(of.periods.len(), of.place, "the number of periods")?;
        nested(of.periods.iter().map(|period| &period.units).collect(), of.place)?;
    }
    for of in model.containers.values() {
        nested(of.capacity.iter().chain(&of.level).collect(), of.place)?;
    }
    for of in model.stores.values() {
        nested(of.capacity.iter().collect(), of.place)?;
    }
    for of in model.costs.values() {
        nested([&of.busy, &of.idle, &of.each_use].into_iter().flatten().collect(), of.place)?;
    }
    for of in model.tallies.values() {
        wide(of.up_to.len(), of.place, "the number of bounds of a tally")?;
        nested(of.up_to.iter().map(|(_, bound)| bound).chain(&of.histogram).collect(), of.place)?;
    }
    let attributes = model.entities.values().flat_map(|entity| entity.attributes.values());
    for of in model.variables.values().chain(attributes) {
        of.value.iter().try_for_each(|value| width(value, of.place))?;
        nested(of.value.iter().flat_map(walk::of_value).collect(), of.place)?;
    }
    for entity in model.entities.values() {
        for source in &entity.sources {
            nested(of_source(source), source.place)?;
        }
        for block in bodies(entity) {
            statements(block, 0)?;
        }
    }
    Ok(())
}

fn bodies(entity: &Entity) -> impl Iterator<Item = &[Statement]> {
    entity.blocks.values().map(|block| &block[..]).chain([&entity.statements[..]])
}

fn of_source(source: &Source) -> Vec<&Expression> {
    let mut all: Vec<&Expression> = source.most.iter().chain([&source.batch]).collect();
    match &source.times {
        Arrivals::Every(value) => all.extend(walk::of_value(value)),
        Arrivals::Rates(rates) => all.extend(rates.iter().map(|rate| &rate.rate)),
        Arrivals::Trace { .. } | Arrivals::Start => {}
    }
    all
}

fn too_deep(place: Place, what: &str) -> ProcessError {
    ProcessError::Setting {
        place,
        what: format!("the nesting of {what}"),
        value: format!("above {MOST_NESTING}"),
        remedy: "use variables, or named blocks".to_owned(),
    }
}

/// Walks without recursion.
fn nesting(expression: &Expression, place: Place, what: &str) -> Result<(), ProcessError> {
    let mut work = vec![(expression, 0)];
    while let Some((expression, depth)) = work.pop() {
        if depth > MOST_NESTING {
            return Err(too_deep(place, what));
        }
        match expression {
            Expression::Number(_) | Expression::Name(_) | Expression::Reading(_) => {}
            Expression::Unary(_, operand) => work.push((operand, depth + 1)),
            Expression::Binary(_, operands) => work.extend(operands.iter().map(|of| (of, depth + 1))),
            Expression::Select(operands) => work.extend(operands.iter().map(|of| (of, depth + 1))),
        }
    }
    Ok(())
}

fn width(value: &Value, place: Place) -> Result<(), ProcessError> {
    let Value::Choice(values) = value else { return Ok(()) };
    wide(values.len(), place, "the number of values of a choice")
}

fn wide(count: usize, place: Place, what: &str) -> Result<(), ProcessError> {
    if count <= MOST_ARMS {
        return Ok(());
    }
    Err(ProcessError::Setting {
        place,
        what: what.to_owned(),
        value: count.to_string(),
        remedy: format!("choose at most {MOST_ARMS}"),
    })
}

/// Bounded by the depth, which is checked first.
fn statements(all: &[Statement], depth: usize) -> Result<(), ProcessError> {
    for statement in all {
        let place = statement.place;
        if depth > MOST_NESTING {
            return Err(too_deep(place, "blocks"));
        }
        for expression in walk::expressions(&statement.action) {
            nesting(expression, place, "an expression")?;
        }
        match &statement.action {
            Action::If { arms, .. } | Action::With { arms, .. } => {
                wide(arms.len(), place, "the number of arms")?;
            }
            Action::Set { value, .. } => width(value, place)?,
            Action::WaitAny { arms, .. } => wide(arms.len(), place, "the number of arms")?,
            Action::Select { among, .. } => wide(among.len(), place, "the number of resources")?,
            _ => {}
        }
        for block in walk::blocks(&statement.action) {
            statements(block, depth + 1)?;
        }
    }
    Ok(())
}

/// Checks that entities of each type can enter: by a source, or spawned by one that can.
pub(super) fn entries(model: &ProcessModel) -> Result<(), ProcessError> {
    let sources = (0..model.entities.len()).filter(|&of| !model.entities[of].sources.is_empty());
    let mut enter: IndexSet<usize> = sources.collect();
    let mut at = 0;
    while let Some(&of) = enter.get_index(at) {
        at += 1;
        for block in bodies(&model.entities[of]) {
            walk::any(block, &mut |action| {
                if let Action::Spawn { entity, .. } = action {
                    enter.extend(model.entities.get_index_of(entity));
                }
                false
            });
        }
    }
    match (0..model.entities.len()).find(|of| !enter.contains(of)) {
        None => Ok(()),
        Some(of) => {
            let (name, entity) = model.entities.get_index(of).expect("below the number of types");
            Err(ProcessError::NeverEnters { place: entity.place, entity: name.clone() })
        }
    }
}

/// Refuses what only a statement has whose unit can be taken.
pub(super) fn not_preempted(waiting: &Waiting, place: Place) -> Result<(), ProcessError> {
    match waiting.preempted {
        Preempted::Resume => Ok(()),
        _ => Err(ProcessError::Setting {
            place,
            what: "`preempted`".to_owned(),
            value: "given for a statement that cannot be preempted".to_owned(),
            remedy: "give it to a `use` with `for`, of a resource with `queue = \"preempt\"`".to_owned(),
        }),
    }
}
