use indexmap::IndexMap;

use super::super::error::ProcessError;
use super::super::ir::*;
use super::super::program::{Act, Node, Op, Program, Size};
use super::lower;
use crate::time::Ticks;

fn place(line: u32) -> Place {
    Place { line }
}

fn statement(line: u32, action: Action) -> Statement {
    Statement { action, label: None, place: place(line) }
}

fn one(resource: &str) -> Vec<Request> {
    vec![Request { resource: resource.to_owned(), units: 1.into() }]
}

fn law(name: &str, mean: f64) -> Value {
    Value::Law(Law { name: name.to_owned(), arguments: Arguments::One(mean.into()) })
}

fn resource(units: Expression, order: Order) -> Resource {
    Resource { units, order, place: Place::default() }
}

/// A model with two resources, a parameter, and an entity that does this.
fn model(statements: Vec<Statement>) -> ProcessModel {
    let less = Expression::Binary(Binary::Times, Box::new(["doctors".into(), 2.into()]));
    let choice = vec![(1, 0.25.into()), (2, 0.75.into())];
    let level =
        Variable { kind: Kind::Integer, value: Some(Value::Choice(choice)), level: false, place: place(4) };
    let source = Source {
        times: Arrivals::Every(law("exponential", 7.0)),
        batch: 1.into(),
        most: None,
        place: place(3),
    };
    let patient = Entity {
        sources: vec![source],
        attributes: [("level".to_owned(), level)].into_iter().collect(),
        statements,
        ..Entity::default()
    };
    let doctors = Parameter { kind: Kind::Integer, values: vec![3.0, 4.0], place: place(1) };
    ProcessModel {
        name: "department".to_owned(),
        until: Some(1000.0),
        parameters: [("doctors".to_owned(), doctors)].into_iter().collect(),
        resources: [
            ("bed".to_owned(), resource(less, Order::Priority)),
            ("doctor".to_owned(), resource("doctors".into(), Order::Fifo)),
        ]
        .into_iter()
        .collect(),
        entities: [("patient".to_owned(), patient)].into_iter().collect::<IndexMap<_, _>>(),
        ..ProcessModel::default()
    }
}

fn department() -> ProcessModel {
    let patience = Patience {
        when: Some(Expression::Binary(Binary::GreaterOrEqual, Box::new(["level".into(), 2.into()]))),
        time: law("exponential", 120.0),
        otherwise: vec![statement(6, Action::Tally { name: "left".to_owned(), value: None })],
        continues: false,
    };
    let waiting = Waiting {
        priority: Some("level".into()),
        patience: Some(patience),
        tally: Some("bed_wait".to_owned()),
    };
    let doctor = Action::Use {
        requests: one("doctor"),
        waiting: Waiting::default(),
        body: Vec::new(),
        time: Some(law("exponential", 15.0)),
    };
    model(vec![
        statement(5, Action::Seize { requests: one("bed"), waiting }),
        statement(7, doctor),
        statement(8, Action::Release { requests: one("bed") }),
        statement(9, Action::Tally { name: "stay".to_owned(), value: None }),
    ])
}

fn acts(program: &Program) -> Vec<&'static str> {
    let name = |act: &Act| match act {
        Act::Choose { .. } => "choose",
        Act::Seize { .. } => "seize",
        Act::Release { .. } => "release",
        Act::Delay { .. } => "delay",
        Act::Jump { .. } => "jump",
        Act::End { .. } => "end",
        _ => "other",
    };
    program.steps.iter().map(|step| name(&step.act)).collect()
}

fn refused(statements: Vec<Statement>) -> String {
    lower(&model(statements)).unwrap_err().to_string()
}

#[test]
fn a_department_has_few_steps_and_its_levels_in_the_state() {
    let program = lower(&department()).unwrap();
    let mut acts = acts(&program);
    acts.sort_unstable();
    assert_eq!(acts, ["choose", "delay", "end", "end", "release", "release", "seize", "seize"]);
    assert_eq!(program.size, Size::Medium);
    assert_eq!(program.draws.len(), 4, "{:?}", program.draws);
    let held = program.steps.iter().any(|step| match &step.act {
        Act::Release { held, .. } => held.is_some(),
        Act::Seize { wait, .. } => wait.held.is_some(),
        _ => false,
    });
    assert!(!held, "what is known is not counted");
    let stays = program.steps.iter().flat_map(|step| &step.ops);
    assert!(stays.filter(|op| matches!(op, Op::Tally(..))).count() == 3);
}

#[test]
fn points_change_parameters_and_not_the_program() {
    let program = lower(&department()).unwrap();
    let words = |doctors: f64| program.params(&[doctors], Ticks::new(7), 64).unwrap();
    let (three, four) = (words(3.0), words(4.0));
    assert_eq!(three[..3], [7, 0, 64]);
    let [bed, doctor] = [0, 1].map(|at: usize| program.resources[at].units as usize);
    assert_eq!([three[bed], three[doctor], four[bed], four[doctor]], [6, 3, 8, 4]);
    assert_eq!(three.iter().zip(&four).filter(|(a, b)| a != b).count(), 2);
    let error = program.params(&[0.5], Ticks::ZERO, 64).unwrap_err();
    assert!(error.to_string().contains("whole number from 1"), "{error}");
}

#[test]
fn wrong_releases_and_ends_have_lines() {
    let seize = || statement(5, Action::Seize { requests: one("bed"), waiting: Waiting::default() });
    let release = |line| statement(line, Action::Release { requests: one("bed") });
    assert!(refused(vec![release(6)]).starts_with("line 6: `patient` releases `bed`, of which it holds 0"));
    assert!(refused(vec![seize(), release(6), release(7)]).starts_with("line 7: "));
    assert!(refused(vec![seize()]).starts_with("line 5: `patient` ends while it holds `bed`"));
}

#[test]
fn what_depends_on_the_way_is_counted() {
    let condition = Expression::Binary(Binary::Less, Box::new(["level".into(), 2.into()]));
    let branch = |action: Action| Action::If {
        arms: vec![(condition.clone(), vec![statement(5, action)])],
        otherwise: Vec::new(),
    };
    let seize = Action::Seize { requests: one("bed"), waiting: Waiting::default() };
    let statements =
        vec![statement(4, branch(seize)), statement(6, branch(Action::Release { requests: one("bed") }))];
    let program = lower(&model(statements)).unwrap();
    let ends = program.steps.iter().filter_map(|step| match &step.act {
        Act::End { held, .. } => Some(held.len()),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [1]);
}

#[test]
fn mistakes_name_line_name_and_remedy() {
    let delay = |value: Expression| vec![statement(9, Action::Delay(Value::Expression(value)))];
    let error = refused(vec![statement(9, Action::Release { requests: one("beds") })]);
    assert_eq!(error, "line 9: `beds` is not a resource; did you mean `bed`?");
    assert!(refused(delay("levle".into())).contains("did you mean `level`?"));
    let error = refused(delay("level".into()));
    assert_eq!(error, "line 9: the delay: expected a time, found an integer; convert it with `time()`");
    let after = vec![statement(8, Action::End), statement(9, Action::End)];
    assert!(refused(after).starts_with("line 9: no entity reaches this statement of `patient`"));
    let waiting = Waiting { priority: Some(1.into()), ..Waiting::default() };
    let seize = Action::Seize { requests: one("doctor"), waiting };
    assert!(refused(vec![statement(9, seize)]).contains("queue = \"priority\""));
    let mut twice = department();
    twice.variables.insert(
        "bed".to_owned(),
        Variable { kind: Kind::Integer, value: None, level: false, place: place(2) },
    );
    assert!(matches!(lower(&twice), Err(ProcessError::Repeated { .. })));
}

#[test]
fn loops_count_their_rounds_for_draws() {
    let body = vec![statement(6, Action::Delay(law("exponential", 3.0)))];
    let program = lower(&model(vec![statement(5, Action::Repeat { count: None, body })])).unwrap();
    let visit = program.draws.iter().find_map(|draw| draw.visit).unwrap();
    let counts = program.steps.iter().flat_map(|step| &step.ops).filter(
        |op| matches!(op, Op::Set(_, value) if value.any(&mut |node| *node == Node::Attribute(visit))),
    );
    assert_eq!(counts.count(), 1);
}

#[test]
fn numbers_take_the_kind_of_what_they_meet() {
    let later = Expression::Binary(Binary::Plus, Box::new([Expression::Reading(Reading::Now), 5.into()]));
    let action = Action::Tally { name: "later".to_owned(), value: Some(later) };
    let program = lower(&model(vec![statement(5, action)])).unwrap();
    let found = program.steps.iter().flat_map(|step| &step.ops).any(|op| match op {
        Op::Tally(_, value) => {
            let ticks = i64::from(program.resolution.ticks_per_unit()) * 5;
            value.kind == Kind::Time && value.any(&mut |node| *node == Node::Literal(ticks))
        }
        _ => false,
    });
    assert!(found);
}
