//! Models of preemption, schedules, interrupts, choices and batches, some with known ends.

use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{CpuSimulation, Options, Until};
use eventhorizon::process::ir::*;
use eventhorizon::process::program::{FaultCode, HEADER, Size};
use eventhorizon::process::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small, lower};
use eventhorizon::time::Ticks;

use crate::long::is_long;
use crate::models::*;
use crate::{all_run, mean, run_any};

fn constant(time: f64) -> Option<Value> {
    Some(Value::Expression(time.into()))
}

fn used(resource: &str, priority: i32, time: Option<Value>, preempted: Preempted) -> Action {
    let waiting = Waiting { priority: Some(priority.into()), preempted, ..Waiting::default() };
    Action::Use { requests: request(resource, 1), waiting, body: Vec::new(), time }
}

/// One resource for each policy. Long work is interrupted by urgent work at time 4, for 3.
fn surgery() -> ProcessModel {
    let lost = Preempted::Lose(all([count("lost")]));
    let policies = [
        ("resume", Preempted::Resume),
        ("repeat", Preempted::Repeat),
        ("restart", Preempted::Restart),
        ("lose", lost),
    ];
    let start = || vec![source(Arrivals::Start)];
    let mut entities = Vec::new();
    for (name, policy) in policies.clone() {
        let long = [used(name, 2, constant(10.0), policy), tally(name, None)];
        entities.push((format!("long_{name}"), entity(start(), long)));
        let delay = Action::Delay(Value::Expression(4.into()));
        let urgent = [delay, used(name, 1, constant(3.0), Preempted::Resume), tally("urgent", None)];
        entities.push((format!("urgent_{name}"), entity(start(), urgent)));
    }
    // Two that are equal, and a third: the one that began last loses its unit. `patient` cannot be
    // preempted before its own time begins, so `first` waits for it.
    let two = |time| [used("two", 3, constant(time), Preempted::Resume), tally("two", None)];
    let early = entity(start(), two(9.0));
    let mut late = entity(start(), two(5.0));
    late.statements.insert(0, statement(Action::Delay(Value::Expression(1.into()))));
    let delay = Action::Delay(Value::Expression(2.into()));
    let third =
        entity(start(), [delay, used("two", 0, constant(2.0), Preempted::Resume), tally("third", None)]);
    let mut patient = used("one", 5, constant(4.0), Preempted::Resume);
    if let Action::Use { body, .. } = &mut patient {
        *body = all([Action::Delay(Value::Expression(6.into()))]);
    }
    let patient = entity(start(), [patient, tally("patient", None)]);
    let delay = Action::Delay(Value::Expression(1.into()));
    let first =
        entity(start(), [delay, used("one", 0, constant(2.0), Preempted::Resume), tally("first", None)]);
    // Random work of all policies, of which some is impatient, in two rooms.
    let busy = policies.iter().map(|(_, policy)| {
        let mut work = used("many", 0, Some(law("uniform", &[0.5, 4.0])), policy.clone());
        if let Action::Use { waiting, .. } = &mut work {
            let priority = Some("urgency".into());
            *waiting = Waiting { priority, preempted: policy.clone(), ..impatient(5.0) };
        }
        statement(work)
    });
    let mut busy = Entity { sources: every(5.0), statements: busy.collect(), ..Entity::default() };
    let urgency = choice(&[(1, 0.3), (2, 0.3), (3, 0.4)]);
    busy.attributes = named([("urgency", variable(Kind::Integer, Some(urgency)))]);
    let others = [
        ("busy", busy),
        ("early", early),
        ("late", late),
        ("third", third),
        ("patient", patient),
        ("first", first),
    ];
    entities.extend(others.map(|(name, entity)| (name.to_owned(), entity)));
    let resources = ["resume", "repeat", "restart", "lose", "one", "two", "many"];
    let units = |name: &str| if matches!(name, "two" | "many") { 2 } else { 1 };
    ProcessModel {
        resources: named(resources.map(|name| (name, resource(units(name), Order::Preempt)))),
        entities: entities.into_iter().collect(),
        ..model("surgery", [])
    }
}

/// The shop of machines that fail, whose repairs take the repairman from other work: an example of
/// SimPy.
fn shop() -> ProcessModel {
    let now = || Expression::Reading(Reading::Now);
    let passed = binary(Binary::Minus, now(), "begin");
    let work = Action::Interruptible {
        body: all([Action::Delay(Value::Expression("rest".into())), set("rest", 0), count("parts")]),
        handler: all([
            set("rest", binary(Binary::Minus, "rest", passed)),
            used("repairman", 1, constant(30.0), Preempted::Resume),
            tally("repaired", None),
        ]),
    };
    let part = [
        Action::Set { name: "rest".to_owned(), value: law("uniform", &[8.0, 12.0]) },
        Action::While {
            condition: binary(Binary::Greater, "rest", 0),
            body: all([set("begin", now()), work]),
        },
    ];
    let fails = Action::Spawn {
        entity: "failure".to_owned(),
        count: 1.into(),
        set: vec![("owner".to_owned(), Expression::Reading(Reading::Number))],
        joined: false,
    };
    let start = Source { batch: 10.into(), ..source(Arrivals::Start) };
    let mut machine = entity(vec![start], [fails, Action::Repeat { count: None, body: all(part) }]);
    machine.attributes = named([("rest", variable(Kind::Time, None)), ("begin", variable(Kind::Time, None))]);
    let interrupt = Action::Interrupt { entity: "machine".to_owned(), number: "owner".into() };
    let mut failure =
        entity(Vec::new(), [Action::Repeat { count: None, body: all([delay(300.0), interrupt]) }]);
    failure.attributes = named([("owner", variable(Kind::Integer, None))]);
    let other = used("repairman", 2, constant(30.0), Preempted::Resume);
    let other = Action::Repeat { count: None, body: all([other, tally("other", None)]) };
    let other = entity(vec![source(Arrivals::Start)], [other]);
    ProcessModel {
        resources: named([("repairman", resource(1, Order::Preempt))]),
        ..model("shop", [("machine", machine), ("failure", failure), ("other", other)])
    }
}

/// Constant times alone: units that change, interrupts, choices, the first of several.
fn week() -> ProcessModel {
    let start = |count: i32| vec![Source { batch: count.into(), ..source(Arrivals::Start) }];
    let pause = |time: f64| Action::Delay(constant(time).unwrap());
    let serve = |name: &str, time| used_by(name, constant(time));
    let schedule = |preempts, periods: &[(f64, i32)]| Schedule {
        periods: periods.iter().map(|&(lasts, units)| Period { lasts, units: units.into() }).collect(),
        preempts,
        place: Place::default(),
    };
    let interrupt =
        |entity: &str, number: Expression| Action::Interrupt { entity: entity.to_owned(), number };
    let woken = |body, handler| Action::Interruptible { body: all(body), handler: all(handler) };
    let sleeper = [
        woken(vec![serve("pillow", 10.0)], vec![tally("woken", None)]),
        serve("pillow", 1.0),
        tally("after", None),
    ];
    let leaver =
        woken(vec![seize("door", 1, Waiting::default()), release("door", 1)], vec![tally("left", None)]);
    let waker = [
        pause(3.0),
        interrupt("sleeper", 1.into()),
        interrupt("sleeper", 7.into()),
        pause(0.5),
        interrupt("sleeper", 1.into()),
        interrupt("leaver", 1.into()),
        Action::Send { signal: "bell".to_owned() },
        set("light", 1),
    ];
    let arms = || {
        let light = binary(Binary::Greater, "light", 0);
        vec![
            (Awaited::Signal("bell".to_owned()), all([tally("bell", None)])),
            (Awaited::Until(light), all([tally("light", None)])),
        ]
    };
    let any = |waiting| Action::WaitAny { arms: arms(), waiting };
    let late = [pause(4.0), any(Waiting::default())];
    let select = |by, name: &str| Action::Select {
        among: ["north", "south"].map(str::to_owned).to_vec(),
        by,
        body: all([serve(SELECTED, 4.0), tally(name, None)]),
    };
    let turns =
        [pause(100.0), select(Policy::InTurn, "turn"), pause(100.0), select(Policy::MostFree, "free")];
    let batch = Action::Batch {
        permanent: false,
        size: 2.into(),
        body: all([pause(3.0), tally("leader", None)]),
        waiting: waiting("together"),
    };
    let arrives = Source { most: Some(5.into()), ..source(Arrivals::Every(constant(1.0).unwrap())) };
    let child = woken(vec![pause(9.0)], vec![tally("child", None)]);
    let spawn = Action::Spawn { entity: "child".to_owned(), count: 2.into(), set: Vec::new(), joined: true };
    let parent = [
        spawn,
        set("last", Expression::Reading(Reading::Last("child".to_owned()))),
        pause(2.0),
        interrupt("child", "last".into()),
        Action::Join,
        tally("parent", None),
    ];
    let mut parent = entity(start(1), parent);
    parent.attributes = named([("last", variable(Kind::Integer, None))]);
    let entities = [
        ("day", entity(start(5), [serve("porter", 6.0), tally("day", None)])),
        ("night", entity(start(1), [serve("guard", 6.0), serve("guard", 6.0), tally("night", None)])),
        ("sleeper", entity(start(1), sleeper)),
        ("guest", entity(start(1), [serve("pillow", 2.0), tally("guest", None)])),
        ("blocker", entity(start(1), [serve("door", 10.0)])),
        ("leaver", entity(start(1), [leaver])),
        ("follower", entity(start(1), [serve("door", 1.0), tally("follower", None)])),
        ("waker", entity(start(1), waker)),
        ("early", entity(start(1), [any(Waiting::default())])),
        ("late", entity(start(1), late)),
        ("short", entity(start(3), [select(Policy::Shortest, "short")])),
        ("turns", entity(start(3), turns)),
        ("parent", parent),
        ("guest_of_bus", entity(vec![arrives], [batch, tally("bus", None)])),
        ("child", entity(Vec::new(), [child])),
    ];
    let resources =
        ["porter", "pillow", "door", "north", "south"].map(|name| (name, resource(1, Order::Fifo)));
    let guard = ("guard", resource(1, Order::Preempt));
    ProcessModel {
        resources: named(resources.into_iter().chain([guard])),
        schedules: named([
            ("porter", schedule(false, &[(8.0, 2), (16.0, 0)])),
            ("guard", schedule(true, &[(8.0, 1), (16.0, 0), (24.0, 9)])),
        ]),
        signals: named([("bell", Signal::default())]),
        variables: named([("light", variable(Kind::Integer, None))]),
        ..model("week", entities)
    }
}

fn used_by(resource: &str, time: Option<Value>) -> Action {
    let (requests, waiting) = (request(resource, 1), Waiting::default());
    Action::Use { requests, waiting, body: Vec::new(), time }
}

/// Units that change, by time and by statements.
fn shifts() -> ProcessModel {
    let schedule = |preempts, periods: &[(f64, i32)]| Schedule {
        periods: periods.iter().map(|&(lasts, units)| Period { lasts, units: units.into() }).collect(),
        preempts,
        place: Place::default(),
    };
    let serve = |name: &str| used_by(name, constant(6.0));
    let busy = entity(every(0.7), [serve("guard"), serve("clerk"), serve("porter"), tally("busy", None)]);
    let size = binary(
        Binary::Modulo,
        binary(Binary::Plus, Expression::Reading(Reading::Units("clerk".to_owned())), 1),
        9,
    );
    let resize = Action::Resize { resource: "clerk".to_owned(), units: size };
    let grow = entity(vec![source(Arrivals::Every(constant(3.0).unwrap()))], [resize]);
    let free = binary(Binary::Greater, Expression::Reading(Reading::Free("clerk".to_owned())), 2);
    let until = Action::WaitUntil { condition: free, waiting: waiting("seen") };
    let seer = entity(every(20.0), [until]);
    ProcessModel {
        resources: named([
            ("porter", resource(1, Order::Fifo)),
            ("guard", resource(1, Order::Preempt)),
            ("clerk", resource(1, Order::Fifo)),
        ]),
        schedules: named([
            ("porter", schedule(false, &[(8.0, 2), (16.0, 0)])),
            ("guard", schedule(true, &[(8.0, 1), (16.0, 0), (24.0, 9)])),
        ]),
        ..model("shifts", [("busy", busy), ("grow", grow), ("seer", seer)])
    }
}

/// Each policy of a choice of resources; statements in the block know which.
fn lanes() -> ProcessModel {
    let select = |by, name: &str| Action::Select {
        among: ["north", "east", "south"].map(str::to_owned).to_vec(),
        by,
        body: all([
            Action::Use {
                requests: request(SELECTED, 1),
                waiting: waiting(name),
                body: all([tally("used", Expression::Reading(Reading::InUse(SELECTED.to_owned())))]),
                time: Some(law("exponential", &[1.5])),
            },
            Action::With { arms: vec![(0.3.into(), all([delay(0.5)]))], otherwise: Vec::new() },
        ]),
    };
    let policies = [
        ("shortest", Policy::Shortest),
        ("most_free", Policy::MostFree),
        ("in_turn", Policy::InTurn),
        ("random", Policy::Random),
    ];
    let rounds = policies.map(|(name, by)| select(by, name));
    let car = entity(every(6.0), [Action::Repeat { count: Some(2.into()), body: all(rounds) }]);
    ProcessModel {
        resources: named([
            ("north", resource(1, Order::Fifo)),
            ("east", resource(2, Order::Fifo)),
            ("south", resource(1, Order::Priority)),
        ]),
        ..model("lanes", [("car", car)])
    }
}

/// Waits for the first of two signals and a condition, or gives up.
fn rescue() -> ProcessModel {
    let high = binary(Binary::Greater, "water", 5);
    let arms = vec![
        (Awaited::Signal("boat".to_owned()), all([count("by_boat")])),
        (Awaited::Signal("helicopter".to_owned()), all([count("by_air")])),
        (Awaited::Until(high), all([count("swam")])),
    ];
    let any =
        Action::WaitAny { arms, waiting: Waiting { tally: Some("wait".to_owned()), ..impatient(30.0) } };
    let person = entity(every(2.0), [any, count("saved")]);
    let sends = |signal: &str, mean| entity(every(mean), [Action::Send { signal: signal.to_owned() }]);
    let rise = set("water", binary(Binary::Modulo, binary(Binary::Plus, "water", 1), 9));
    // Groups of three, in which one may be impatient, and which are rescued together.
    let raft = Action::Batch {
        permanent: false,
        size: 3.into(),
        body: all([delay(9.0), count("raft")]),
        waiting: Waiting { tally: Some("raft_wait".to_owned()), ..impatient(12.0) },
    };
    let group = Action::Interruptible { body: all([raft]), handler: all([count("swept")]) };
    let group = entity(every(2.0), [group, tally("grouped", None)]);
    let number = binary(Binary::Minus, Expression::Reading(Reading::Last("group".to_owned())), 1);
    let wave = Action::Interrupt { entity: "group".to_owned(), number };
    ProcessModel {
        signals: named([("boat", Signal::default()), ("helicopter", Signal::default())]),
        variables: named([("water", variable(Kind::Integer, None))]),
        ..model(
            "rescue",
            [
                ("person", person),
                ("boats", sends("boat", 12.0)),
                ("helicopters", sends("helicopter", 20.0)),
                ("group", group),
                ("waves", entity(every(5.0), [wave])),
                ("rain", entity(every(3.0), [rise])),
            ],
        )
    }
}

/// All models of this file.
pub fn models() -> Vec<ProcessModel> {
    vec![surgery(), shop(), week(), shifts(), lanes(), rescue()]
}

#[test]
fn programs_with_scopes_run() {
    all_run(vec![rescue(), shop(), shifts(), lanes()]);
}

/// These models take llvmpipe long to compile.
fn adapter() -> Option<Gpu> {
    is_long().then(|| Gpu::new().unwrap())
}

#[test]
fn preempted_work_takes_the_time_that_its_policy_says() {
    let program = lower(&surgery()).unwrap();
    let (header, rows, _) = run_any(adapter().as_ref(), program.clone(), 100.0);
    assert_eq!(header[HEADER.fault as usize], 0);
    let found = |name: &str| mean(&program, &rows, name);
    // 4 of 10 are done when it is interrupted until 7.
    assert_eq!(found("resume"), (13.0, 1));
    assert_eq!(found("repeat"), (17.0, 1));
    assert_eq!(found("restart"), (17.0, 1));
    assert_eq!(found("lose"), (4.0, 1));
    assert_eq!(found("urgent"), (7.0, 4));
    // At 2 the one that began at 1 stops until 4: 9 and 8.
    assert_eq!(found("third"), (4.0, 1));
    assert_eq!(found("two"), (8.5, 2));
    // From 6 to 8, when the other's time begins.
    assert_eq!(found("first"), (8.0, 1));
    assert_eq!(found("patient"), (12.0, 1));
}

#[test]
fn constant_times_have_known_ends() {
    let program = lower(&week()).unwrap();
    let (header, rows, _) = run_any(adapter().as_ref(), program.clone(), 300.0);
    assert_eq!(header[HEADER.fault as usize], 0);
    let found = |name: &str| mean(&program, &rows, name);
    // 6, 6, 12, 12 (which began before 8), and from 24 on.
    assert_eq!(found("day"), (13.2, 5));
    // 6, and 2 of 6 before 8; the rest from 24 on.
    assert_eq!(found("night"), (28.0, 1));
    // The pillow goes to the guest from 3 to 5, then back.
    assert_eq!(found("woken"), (3.0, 1));
    assert_eq!(found("guest"), (5.0, 1));
    assert_eq!(found("after"), (6.0, 1));
    assert_eq!(found("left"), (3.5, 1));
    assert_eq!(found("follower"), (11.0, 1));
    // Both arms hold for the first, which takes the bell; the other hears none.
    assert_eq!(found("bell"), (3.5, 1));
    assert_eq!(found("light"), (4.0, 1));
    // Two at once, and the third behind the first; the same in turn.
    assert_eq!(found("short"), (16.0 / 3.0, 3));
    assert_eq!(found("turn"), (316.0 / 3.0, 3));
    // The third comes at 208, before the others release.
    assert_eq!(found("free"), (628.0 / 3.0, 3));
    // They come at 1, 2, 3, 4 and 5; the last one waits for a sixth. Each bus leaves 3 after it is
    // full, and the one that came first was there for 4.
    assert_eq!(found("leader"), (3.0, 2));
    assert_eq!(found("together"), (4.0, 2));
    assert_eq!(found("bus"), (3.5, 4));
    assert_eq!(found("child"), (2.0, 1));
    assert_eq!(found("parent"), (9.0, 1));
}

/// The fault of a run on the CPU, with its step.
fn fault_of(model: &ProcessModel) -> (Option<FaultCode>, u32) {
    fn run<S: Sized3>(printed: Printed) -> u32 {
        let run = ProcessRun::<S>::new(printed.into(), &[], Ticks::ZERO, 8).unwrap();
        let mut simulation = CpuSimulation::new(&run, Options::default()).unwrap();
        simulation.run(Until::time(Ticks::new(1 << 50))).unwrap();
        simulation.states()[0].rows()[0][HEADER.fault as usize]
    }
    let printed = Printed::new(lower(model).unwrap());
    let fault = match printed.program.size {
        Size::Small => run::<Small>(printed),
        Size::Medium => run::<Medium>(printed),
        Size::Large => run::<Large>(printed),
    };
    (FaultCode::of(fault & 0xff), fault >> 8)
}

#[test]
fn events_behind_the_room_of_sums_are_faults() {
    // 2^47 ticks are 2^31 units.
    let waits = |units: f64| {
        let long = Action::Delay(constant(units).unwrap());
        fault_of(&model("late", [("one", entity(vec![source(Arrivals::Start)], [long]))]))
    };
    assert_eq!(waits(2_147_483_647.0), (None, 0));
    assert_eq!(waits(2_147_483_648.0), (Some(FaultCode::Late), 0));
}
