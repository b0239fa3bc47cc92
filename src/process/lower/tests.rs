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
    let level = Variable {
        kind: Kind::Integer,
        value: Some(Value::Choice(choice)),
        level: false,
        histogram: false,
        place: place(4),
    };
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
        ..Waiting::default()
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
        Variable { kind: Kind::Integer, value: None, level: false, histogram: false, place: place(2) },
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

fn error_of(model: &ProcessModel) -> String {
    lower(model).unwrap_err().to_string()
}

#[test]
fn runs_and_resolutions_fit_the_sums() {
    let mut long = department();
    long.ticks_per_unit = Some(1 << 30);
    long.until = Some(f64::from(1 << 17));
    assert!(error_of(&long).starts_with("`ticks_per_unit` is 1073741824; runs have less than 2^47 ticks"));
    long.until = Some(f64::from((1 << 17) - 1));
    let program = lower(&long).unwrap();
    assert!(program.end(f64::from((1 << 17) - 1)).is_ok());
    assert!(program.end(f64::from(1 << 17)).unwrap_err().to_string().contains("2^47"));
    assert!(program.end(-1.0).is_err());
    let mut coarse = model(vec![statement(5, Action::Delay(Value::Expression(0.25.into())))]);
    coarse.ticks_per_unit = Some(2);
    assert!(error_of(&coarse).contains("less than a tick"), "{}", error_of(&coarse));
    // Nothing is chosen for a run that does not fit either.
    coarse.ticks_per_unit = None;
    coarse.until = Some(1e15);
    assert!(error_of(&coarse).contains("2^47"), "{}", error_of(&coarse));
}

#[test]
fn entities_enter_or_are_refused() {
    let spawn = |entity: &str| Action::Spawn {
        entity: entity.to_owned(),
        count: 1.into(),
        set: Vec::new(),
        joined: false,
    };
    let mut model = model(vec![statement(5, spawn("part"))]);
    let lost = |spawns: &str| Entity {
        statements: vec![statement(8, spawn(spawns))],
        place: place(7),
        ..Entity::default()
    };
    let part = Entity { statements: vec![statement(6, Action::End)], ..Entity::default() };
    model.entities.insert("part".to_owned(), part);
    assert!(lower(&model).is_ok());
    model.entities.insert("lost".to_owned(), lost("lost"));
    assert!(error_of(&model).starts_with("line 7: no entity of the type `lost` ever enters"));
}

#[test]
fn what_is_nested_too_deeply_is_refused_without_recursion() {
    let sum = |terms| {
        (0..terms).fold(Expression::from("level"), |sum, _| {
            Expression::Binary(Binary::Plus, Box::new([sum, 1.into()]))
        })
    };
    let count = |terms| vec![statement(5, Action::Count { name: "n".to_owned(), by: Some(sum(terms)) })];
    assert!(lower(&model(count(64))).is_ok());
    assert!(refused(count(65)).starts_with("line 5: the nesting of an expression is above 64"));
    let deep = |blocks| {
        (0..blocks).fold(count(1), |body, _| vec![statement(5, Action::While { condition: 1.into(), body })])
    };
    assert!(refused(deep(65)).contains("the nesting of blocks"), "{}", refused(deep(65)));
    let arms = vec![(0.0.into(), Vec::new()); 1025];
    let wide = vec![statement(5, Action::With { arms, otherwise: Vec::new() })];
    assert!(refused(wide).contains("the number of arms is 1025"));
}

fn used(resource: &str, preempted: Preempted) -> Action {
    let waiting = Waiting { preempted, ..Waiting::default() };
    let time = Some(Value::Expression(4.into()));
    Action::Use { requests: one(resource), waiting, body: Vec::new(), time }
}

/// The model with a resource that has preemption.
fn theatre(statements: Vec<Statement>) -> ProcessModel {
    let mut model = model(statements);
    model.resources.insert("theatre".to_owned(), resource(1.into(), Order::Preempt));
    model
}

#[test]
fn preemption_is_for_one_unit_of_one_resource_in_use() {
    assert!(lower(&theatre(vec![statement(5, used("theatre", Preempted::Repeat))])).is_ok());
    let error = |action| error_of(&theatre(vec![statement(5, action)]));
    let found = error(used("doctor", Preempted::Repeat));
    assert!(found.starts_with("line 5: `preempted` is given for a statement that cannot be"), "{found}");
    let waiting = Waiting { preempted: Preempted::Repeat, ..Waiting::default() };
    let found = error(Action::Seize { requests: one("theatre"), waiting });
    assert!(found.starts_with("line 5: `preempted` is given"), "{found}");
    let two = vec![Request { resource: "theatre".to_owned(), units: 2.into() }];
    let found = error(Action::Seize { requests: two, waiting: Waiting::default() });
    assert!(found.starts_with("line 5: several units of `theatre`"), "{found}");
    let mut both = used("theatre", Preempted::Resume);
    if let Action::Use { requests, .. } = &mut both {
        requests.extend(one("doctor"));
    }
    let found = error(both);
    assert!(found.contains("use one inside the `do` of the other"), "{found}");
    let mut shop = theatre(vec![statement(5, Action::End)]);
    let desk = Store { capacity: None, order: Order::Preempt, place: place(3) };
    shop.stores.insert("desk".to_owned(), desk);
    assert!(error_of(&shop).starts_with("line 3: preemption at `desk` is not possible"));
}

#[test]
fn what_is_lost_is_not_released_again() {
    let back = || vec![statement(6, Action::Release { requests: one("theatre") })];
    let found = error_of(&theatre(vec![statement(5, used("theatre", Preempted::Lose(back())))]));
    assert!(found.starts_with("line 6: `patient` releases `theatre`, of which it holds 0"), "{found}");
}

#[test]
fn interrupted_entities_keep_what_they_seized() {
    let seize = Action::Seize { requests: one("doctor"), waiting: Waiting::default() };
    let delay = || statement(7, Action::Delay(Value::Expression(4.into())));
    let release = || statement(8, Action::Release { requests: one("doctor") });
    let block = |body, handler| statement(6, Action::Interruptible { body, handler });
    let kept = |handler| vec![statement(5, seize.clone()), block(vec![delay()], handler), release()];
    assert!(lower(&model(kept(Vec::new()))).is_ok());
    let found = refused(kept(vec![statement(9, Action::End)]));
    assert!(found.starts_with("line 9: `patient` ends while it holds `doctor`"), "{found}");
    // A `use` gives back what it has: the block begins without it.
    let uses = vec![statement(7, used("doctor", Preempted::Resume))];
    assert!(lower(&model(vec![block(uses, vec![statement(9, Action::End)])])).is_ok());
}

#[test]
fn schedules_and_choices_are_checked() {
    let schedule = |periods: &[(f64, i32)], preempts| Schedule {
        periods: periods.iter().map(|&(lasts, units)| Period { lasts, units: units.into() }).collect(),
        preempts,
        place: place(2),
    };
    let with = |name: &str, schedule| {
        let mut model = theatre(vec![statement(5, used("doctor", Preempted::Resume))]);
        model.schedules.insert(name.to_owned(), schedule);
        model
    };
    let two = [(8.0, 2), (16.0, 0)];
    let program = lower(&with("doctor", schedule(&two, false))).unwrap();
    assert_eq!(program.processes.last().unwrap().name, "schedule(doctor)");
    let doctor = &program.resources[1];
    let words = program.params(&[3.0], Ticks::ZERO, 8).unwrap();
    assert_eq!([words[doctor.units as usize], words[doctor.most as usize]], [2, 2]);
    let error = |name: &str, schedule| error_of(&with(name, schedule));
    assert!(error("bed2", schedule(&two, false)).starts_with("line 2: `bed2` is not a resource"));
    assert!(error("doctor", schedule(&[], false)).starts_with("line 2: the schedule of `doctor` is empty"));
    assert!(error("doctor", schedule(&[(0.0, 1)], false)).contains("choose lengths above 0"));
    assert!(error("doctor", schedule(&two, true)).contains("queue = \"preempt\""));
    assert!(error("doctor", schedule(&[(1.0, -1), (2.0, 1)], false)).contains("whole number from 0"));

    let select = |body| Action::Select { among: vec!["bed".to_owned()], by: Policy::Random, body };
    let seize = || vec![statement(6, used(SELECTED, Preempted::Resume))];
    assert!(lower(&model(vec![statement(5, select(seize()))])).is_ok());
    assert!(refused(seize()).starts_with("line 6: `selected` is not a resource"));
    let nothing = Action::Select { among: Vec::new(), by: Policy::InTurn, body: Vec::new() };
    assert!(refused(vec![statement(5, nothing)]).starts_with("line 5: `select` is empty"));
    let nothing = Action::WaitAny { arms: Vec::new(), waiting: Waiting::default() };
    assert!(refused(vec![statement(5, nothing)]).starts_with("line 5: `wait_any` is empty"));
    let last = Expression::Reading(Reading::Last("patient".to_owned()));
    let condition = Expression::Binary(Binary::Greater, Box::new([last, 4.into()]));
    let until = Action::WaitUntil { condition, waiting: Waiting::default() };
    assert!(refused(vec![statement(5, until)]).contains("a condition of `last()`"));
}

#[test]
fn copies_of_a_block_draw_the_same_streams() {
    let delay = || statement(6, Action::Delay(law("exponential", 3.0)));
    let body = vec![statement(6, Action::Repeat { count: Some(2.into()), body: vec![delay()] })];
    let among = ["bed", "doctor"].map(str::to_owned).to_vec();
    let select = |body| Action::Select { among: among.clone(), by: Policy::Shortest, body };
    let one = lower(&model(body.clone())).unwrap();
    let both = lower(&model(vec![statement(5, select(body))])).unwrap();
    let names = |program: &Program| program.draws.iter().map(|draw| draw.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&both));
}
