//! Models for one question each: what went wrong before, and each fault.

use eventhorizon::process::ir::*;
use eventhorizon::process::lower;
use eventhorizon::process::program::FaultCode;

use crate::compare::{Case, Seen, compare};
use crate::models::*;

fn case(model: ProcessModel) -> Case {
    let point = model.parameters.values().map(|of| of.values[0]).collect();
    Case { model, point, seeds: vec![5], warm_up: 0.0, until: 50.0, room: 100, most_events: 10_000 }
}

fn seen(model: ProcessModel) -> Seen {
    let case = case(model);
    compare(&case).unwrap_or_else(|trouble| panic!("{trouble:?}\n{:#?}", case.model))
}

/// Two entities of one type at the start, with an attribute `own` of 2.
fn two(actions: impl IntoIterator<Item = Action>) -> Entity {
    let start = Source { batch: 2.into(), ..source(Arrivals::Start) };
    let mut two = entity(vec![start], actions);
    two.attributes = named([("own", variable(Kind::Integer, Some(Value::Expression(2.into()))))]);
    two
}

/// Two entities do this at the start; resource `r` has 3 units.
fn of_two(actions: impl IntoIterator<Item = Action>) -> ProcessModel {
    ProcessModel {
        resources: named([("r", resource(3, Order::Fifo))]),
        variables: named([("v", variable(Kind::Integer, None))]),
        ..model("two", [("two", two(actions))])
    }
}

fn wait(units: f64) -> Action {
    Action::Delay(Value::Expression(units.into()))
}

fn when(condition: Expression, action: Action) -> Action {
    Action::If { arms: vec![(condition, all([action]))], otherwise: Vec::new() }
}

fn own_is(value: i32) -> Expression {
    binary(Binary::Equal, "own", value)
}

fn spawn(count: impl Into<Expression>, joined: bool) -> Action {
    Action::Spawn { entity: "part".to_owned(), count: count.into(), set: Vec::new(), joined }
}

/// The same with a type `part`, which lets time pass.
fn with_parts(actions: impl IntoIterator<Item = Action>) -> ProcessModel {
    let mut model = of_two(actions);
    model.entities.insert("part".to_owned(), entity(Vec::new(), [wait(2.0), count("parts")]));
    model
}

#[test]
fn what_is_held_is_counted_beside_the_time_of_entry() {
    let counted = [
        wait(1.5),
        when(own_is(2), take("r")),
        wait(1.0),
        when(own_is(2), release("r", 1)),
        tally("stay", None),
    ];
    let seen = seen(of_two(counted));
    assert_eq!((seen.fault, seen.observations), (None, 2));
}

#[test]
fn a_list_of_arrivals_may_be_empty() {
    let list = |times: &[f64]| {
        let attributes = named([("size", times.to_vec())]);
        source(Arrivals::Trace { times: times.to_vec(), attributes })
    };
    let mut visitor = entity(vec![list(&[]), list(&[1.0, 1.0])], [tally("stay", None)]);
    visitor.attributes = named([("size", variable(Kind::Integer, None))]);
    assert_eq!(seen(model("visitors", [("visitor", visitor)])).events, 2);
}

#[test]
fn a_use_gives_back_what_it_took() {
    let used = Action::Use {
        requests: request("r", "own"),
        waiting: Waiting::default(),
        body: all([set("own", 1), wait(1.0)]),
        time: None,
    };
    assert_eq!(seen(of_two([used])).fault, None);
    // The second resource is never free, and what was taken of the first depends on a variable.
    let several = vec![
        Request { resource: "r".to_owned(), units: binary(Binary::Plus, "v", 1) },
        Request { resource: "s".to_owned(), units: 1.into() },
    ];
    let seize = Action::Seize { requests: several, waiting: impatient(1.0) };
    let mut model = of_two([seize, release("s", 1), release("r", 1)]);
    let holder = [take("s"), wait(0.5), set("v", 1), wait(60.0), release("s", 1)];
    let holder = entity(vec![source(Arrivals::Start)], holder);
    model.entities.shift_insert(0, "holder".to_owned(), holder);
    model.resources.insert("s".to_owned(), resource(1, Order::Fifo));
    assert_eq!(seen(model).fault, None);
}

fn take(name: &str) -> Action {
    seize(name, 1, Waiting::default())
}

#[test]
fn an_entity_that_enters_has_not_waited() {
    let mut visitor = entity(every(1.0), [tally("waited", Expression::from("before"))]);
    let waited = Some(Value::Expression(Expression::Reading(Reading::Waited)));
    visitor.attributes = named([("before", variable(Kind::Time, waited))]);
    assert!(seen(model("visitors", [("visitor", visitor)])).observations > 20);
}

#[test]
fn what_cannot_be_is_refused() {
    let error = lower(&model("none", [("part", entity(Vec::new(), [wait(1.0)]))])).unwrap_err();
    assert!(error.to_string().starts_with("a model that no entity enters is not possible"), "{error}");
    let error = lower(&of_two([tally("truth", own_is(2))])).unwrap_err();
    assert!(error.to_string().contains("expected an integer, found a condition"), "{error}");
}

#[test]
fn each_fault_has_its_entity_statement_time_and_detail() {
    use FaultCode as F;
    let divided = binary(Binary::Over, 7, binary(Binary::Minus, "own", 2));
    let square =
        binary(Binary::Times, binary(Binary::Times, "own", 46_341), binary(Binary::Times, "own", 46_341));
    let age = || Expression::Reading(Reading::Age);
    let eternal = binary(Binary::Times, binary(Binary::Plus, age(), 6e9), 2_000_000_000);
    let again = Action::Repeat { count: None, body: all([set("v", binary(Binary::Max, "v", "own"))]) };
    let less = Action::Count { name: "n".to_owned(), by: Some(binary(Binary::Minus, 0, "own")) };
    let own = |value| set("own", value);
    let faults = [
        (F::NotHeld, of_two([take("r"), wait(1.0), when(own_is(2), release("r", 1)), release("r", "own")])),
        (F::Holding, of_two([own(1), wait(0.5), when(own_is(1), take("r"))])),
        (F::Endless, of_two([wait(2.0), again])),
        (F::Request, of_two([own(4), wait(1.0), seize("r", "own", Waiting::default()), release("r", 4)])),
        (F::Negative, of_two([wait(1.0), less])),
        (F::Overflow, of_two([wait(1.0), set("v", square)])),
        (F::Division, of_two([wait(3.0), set("v", divided)])),
        (F::Never, of_two([wait(1.0), Action::Delay(Value::Expression(eternal))])),
        (F::Children, with_parts([wait(1.0), spawn("own", true)])),
        (F::Spawned, with_parts([wait(1.0), spawn(binary(Binary::Times, "own", 40_000), false)])),
    ];
    for (code, model) in faults {
        assert_eq!(seen(model).fault, Some(code));
    }
}

#[test]
fn a_run_without_room_stops_where_the_interpreter_does() {
    let Case { model, .. } = case(with_parts([spawn(3, false), wait(5.0), spawn(4, false)]));
    for room in [1, 5, 8, 12, 20] {
        let case = Case { room, ..case(model.clone()) };
        let seen = compare(&case).unwrap_or_else(|trouble| panic!("{room}: {trouble:?}"));
        assert_eq!(seen.full, room < 10, "{room}");
    }
}

/// More resources than the state has rows for, so that the line of the signal is in LP memory.
#[test]
fn an_event_may_change_many_rows() {
    let wait = Action::Wait { signal: "opened".to_owned(), waiting: waiting("gate_wait") };
    let start = |batch: i32| Source { batch: batch.into(), ..source(Arrivals::Start) };
    let car = entity(vec![start(3000)], [wait, delay(1.0), count("passed")]);
    let pause = Action::Delay(Value::Expression(1.into()));
    let keeper = entity(vec![start(1)], [pause, Action::Send { signal: "opened".to_owned() }]);
    let names = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"];
    let model = ProcessModel {
        signals: named([("opened", Signal::default())]),
        resources: named(names.map(|name| (name, resource(1, Order::Fifo)))),
        ..model("gate", [("car", car), ("keeper", keeper)])
    };
    let seen = compare(&Case { room: 4000, ..case(model) }).unwrap_or_else(|trouble| panic!("{trouble:?}"));
    assert_eq!((seen.fault, seen.events), (None, 3001));
}

#[test]
fn the_last_entity_of_a_type_is_the_one_that_was_started_last() {
    let last = || tally("last", Expression::Reading(Reading::Last("part".to_owned())));
    let seen = seen(with_parts([last(), spawn(3, false), last(), wait(1.0), last()]));
    assert!(seen.fault.is_none() && seen.observations == 6, "{:?}, {}", seen.fault, seen.observations);
}

fn resize(name: &str, units: impl Into<Expression>) -> Action {
    Action::Resize { resource: name.to_owned(), units: units.into() }
}

fn select(among: &[&str], actions: impl IntoIterator<Item = Action>) -> Action {
    let among = among.iter().map(|name| (*name).to_owned()).collect();
    Action::Select { among, by: Policy::Shortest, body: all(actions) }
}

#[test]
fn a_request_waits_for_units_that_a_selected_resource_gets() {
    let mut model = of_two([when(own_is(2), wait(1.0)), seize("r", 5, waiting("wait")), release("r", 5)]);
    let grows = select(&["r"], [wait(2.0), resize(SELECTED, 6)]);
    model.entities.insert("grower".to_owned(), entity(vec![source(Arrivals::Start)], [grows]));
    let seen = seen(model);
    assert_eq!((seen.fault, seen.observations), (None, 2));
}

#[test]
fn what_a_grant_changes_is_no_condition_of_the_first_of_several() {
    let condition = |reading| binary(Binary::Greater, Expression::Reading(reading), time_of(3));
    let any = |reading| {
        let arms = vec![
            (Awaited::Until(condition(reading)), all([count("first")])),
            (Awaited::Until(binary(Binary::Greater, "v", 0)), all([count("second")])),
        ];
        of_two([wait(1.0), Action::WaitAny { arms, waiting: waiting("wait") }])
    };
    for (reading, what) in [(Reading::Waited, "`waited` in `wait_any`"), (Reading::Now, "of the time")] {
        let error = lower(&any(reading)).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

fn time_of(units: i32) -> Expression {
    Expression::Unary(Unary::Time, Box::new(units.into()))
}

#[test]
fn choices_with_and_without_preemption_draw_the_same_numbers() {
    let used = Action::Use {
        requests: request(SELECTED, 1),
        waiting: Waiting::default(),
        body: Vec::new(),
        time: Some(law("exponential", &[1.0])),
    };
    let rounds = Action::Repeat { count: Some(3.into()), body: all([delay(0.5), count("rounds")]) };
    let mut model = of_two([select(&["r", "p", "r"], [used, rounds])]);
    model.resources.insert("p".to_owned(), resource(1, Order::Preempt));
    assert_eq!(seen(model).fault, None);
}

#[test]
fn what_a_spawn_sets_is_read_before_it_starts_entities() {
    let last = Expression::Reading(Reading::Last("part".to_owned()));
    let set = vec![("before".to_owned(), last)];
    let spawn = Action::Spawn { entity: "part".to_owned(), count: 3.into(), set, joined: false };
    let mut model = with_parts([spawn, wait(1.0)]);
    model.entities["part"].statements.insert(0, statement(tally("before", Expression::from("before"))));
    model.entities["part"].attributes = named([("before", variable(Kind::Integer, None))]);
    let seen = seen(model);
    assert_eq!((seen.fault, seen.observations), (None, 6));
}
