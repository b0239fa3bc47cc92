//! Schedules: a type of entities that changes the units of its resource, for ever.

use std::borrow::Cow;

use super::super::error::ProcessError;
use super::super::ir::{
    Action, Arrivals, Entity, Expression, Order, ProcessModel, Resource, SELECTED, Schedule, Source,
    Statement, Value,
};
use super::super::program::{ConstantKind, ParamWord};
use super::lowering::Lowering;
use super::names::index;
use super::walk;

/// The most units of a resource.
const MOST_UNITS: u32 = 65_535;

/// The model with the entities of its schedules, behind all others.
pub(super) fn expanded(model: &ProcessModel) -> Result<Cow<'_, ProcessModel>, ProcessError> {
    if model.schedules.is_empty() {
        return Ok(Cow::Borrowed(model));
    }
    let mut found = model.clone();
    for (name, schedule) in &model.schedules {
        index(&model.resources, name, "a resource", schedule.place)?;
        check(name, schedule, model.resources[name].order)?;
        found.resources[name].units = schedule.periods[0].units.clone();
        if schedule.periods.len() > 1 {
            found.entities.insert(format!("schedule({name})"), entity(name, schedule));
        }
    }
    Ok(Cow::Owned(found))
}

fn check(name: &str, schedule: &Schedule, order: Order) -> Result<(), ProcessError> {
    let wrong = |value: &str, remedy: &str| ProcessError::Setting {
        place: schedule.place,
        what: format!("the schedule of `{name}`"),
        value: value.to_owned(),
        remedy: remedy.to_owned(),
    };
    if schedule.periods.is_empty() {
        return Err(wrong("empty", "write periods, each with its length and its units"));
    }
    if let Some(short) = schedule.periods.iter().find(|of| of.lasts.is_nan() || of.lasts <= 0.0) {
        let value = format!("a period that lasts {}", crate::text::number(short.lasts));
        return Err(wrong(&value, "choose lengths above 0"));
    }
    if schedule.preempts && order != Order::Preempt {
        return Err(wrong("one that preempts", "declare the resource with `queue = \"preempt\"`"));
    }
    Ok(())
}

fn entity(name: &str, schedule: &Schedule) -> Entity {
    let place = schedule.place;
    let statement = |action| Statement { action, label: None, place };
    let following = schedule.periods.iter().cycle().skip(1);
    let body = schedule.periods.iter().zip(following).flat_map(|(period, next)| {
        let delay = Action::Delay(Value::Expression(Expression::Number(period.lasts)));
        let resize = Action::Resize { resource: name.to_owned(), units: next.units.clone() };
        [statement(delay), statement(resize)]
    });
    let forever = Action::Repeat { count: None, body: body.collect() };
    let source = Source { times: Arrivals::Start, batch: 1.into(), most: None, place };
    Entity { sources: vec![source], statements: vec![statement(forever)], place, ..Entity::default() }
}

/// Whether statements change the units of a resource, which a statement around them may select.
fn resizes(block: &[Statement], name: &str, selected: bool) -> bool {
    let is = |of: &String| of == name || (selected && of == SELECTED);
    block.iter().any(|statement| match &statement.action {
        Action::Resize { resource, .. } => is(resource),
        Action::Select { among, body, .. } => resizes(body, name, among.iter().any(is)),
        action => walk::blocks(action).into_iter().any(|block| resizes(block, name, selected)),
    })
}

impl Lowering<'_> {
    /// The units of a resource at first, and the most that it has.
    pub(super) fn units(&mut self, name: &str, resource: &Resource) -> [ParamWord; 2] {
        let (model, place) = (self.model, resource.place);
        let what = format!("the units of `{name}`");
        let whole = |units: Expression, least| ConstantKind::Whole(units, [least, MOST_UNITS]);
        let schedule = model.schedules.get(name);
        let least = u32::from(schedule.is_none());
        let first = self.constants.constant(whole(resource.units.clone(), least), &what, place);
        for period in schedule.iter().flat_map(|schedule| &schedule.periods) {
            self.constants.constant(whole(period.units.clone(), 0), &what, place);
        }
        // Entities of schedules resize, too; their units are known.
        let mut written = model.entities.iter().filter(|(of, _)| **of != format!("schedule({name})"));
        let resized = written.any(|(_, entity)| {
            let mut blocks = entity.blocks.values().map(|block| &block[..]).chain([&entity.statements[..]]);
            blocks.any(|block| resizes(block, name, false))
        });
        let most = match schedule {
            _ if resized => Expression::Number(MOST_UNITS.into()),
            None => return [first, first],
            Some(schedule) => {
                let all = schedule.periods.iter().map(|period| period.units.clone());
                let of = |a, b| Expression::Binary(super::super::ir::Binary::Max, Box::new([a, b]));
                all.reduce(of).expect("a schedule has periods")
            }
        };
        [first, self.constants.constant(whole(most, 0), &format!("the most units of `{name}`"), place)]
    }
}
