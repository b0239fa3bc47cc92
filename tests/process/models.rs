//! Ten models that use all statements, operators and sources.

use eventhorizon::process::ir::*;
use indexmap::IndexMap;

pub fn statement(action: Action) -> Statement {
    Statement { action, label: None, place: Place::default() }
}

pub fn all(actions: impl IntoIterator<Item = Action>) -> Vec<Statement> {
    actions.into_iter().map(statement).collect()
}

pub fn named<T>(pairs: impl IntoIterator<Item = (&'static str, T)>) -> IndexMap<String, T> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub fn request(resource: &str, units: impl Into<Expression>) -> Vec<Request> {
    vec![Request { resource: resource.to_owned(), units: units.into() }]
}

pub fn law(name: &str, values: &[f64]) -> Value {
    let arguments = match values {
        [one] => Arguments::One((*one).into()),
        values => Arguments::List(values.iter().map(|value| (*value).into()).collect()),
    };
    Value::Law(Law { name: name.to_owned(), arguments })
}

pub fn delay(mean: f64) -> Action {
    Action::Delay(law("exponential", &[mean]))
}

pub fn binary(binary: Binary, a: impl Into<Expression>, b: impl Into<Expression>) -> Expression {
    Expression::Binary(binary, Box::new([a.into(), b.into()]))
}

pub fn waiting(tally: &str) -> Waiting {
    Waiting { tally: Some(tally.to_owned()), ..Waiting::default() }
}

pub fn impatient(time: f64) -> Waiting {
    let otherwise = all([Action::Count { name: "left".to_owned(), by: None }]);
    let patience = Patience { when: None, time: law("exponential", &[time]), otherwise, continues: false };
    Waiting { patience: Some(patience), ..Waiting::default() }
}

pub fn seize(resource: &str, units: impl Into<Expression>, waiting: Waiting) -> Action {
    Action::Seize { requests: request(resource, units), waiting }
}

pub fn release(resource: &str, units: impl Into<Expression>) -> Action {
    Action::Release { requests: request(resource, units) }
}

pub fn tally(name: &str, value: impl Into<Option<Expression>>) -> Action {
    Action::Tally { name: name.to_owned(), value: value.into() }
}

pub fn count(name: &str) -> Action {
    Action::Count { name: name.to_owned(), by: None }
}

pub fn set(name: &str, value: impl Into<Expression>) -> Action {
    Action::Set { name: name.to_owned(), value: Value::Expression(value.into()) }
}

pub fn choice(values: &[(i32, f64)]) -> Value {
    Value::Choice(values.iter().map(|(value, p)| (*value, (*p).into())).collect())
}

pub fn variable(kind: Kind, value: Option<Value>) -> Variable {
    Variable { kind, value, level: false, histogram: false, place: Place::default() }
}

pub fn resource(units: i32, order: Order) -> Resource {
    Resource { units: units.into(), order, place: Place::default() }
}

pub fn source(times: Arrivals) -> Source {
    Source { times, batch: 1.into(), most: None, place: Place::default() }
}

pub fn every(mean: f64) -> Vec<Source> {
    vec![source(Arrivals::Every(law("exponential", &[mean])))]
}

pub fn entity(sources: Vec<Source>, actions: impl IntoIterator<Item = Action>) -> Entity {
    Entity { sources, statements: all(actions), ..Entity::default() }
}

pub fn model(name: &str, entities: impl IntoIterator<Item = (&'static str, Entity)>) -> ProcessModel {
    ProcessModel {
        name: name.to_owned(),
        until: Some(1000.0),
        ticks_per_unit: Some(1 << 16),
        entities: named(entities),
        ..ProcessModel::default()
    }
}

pub fn queue() -> ProcessModel {
    let serve = Action::Use {
        requests: request("server", 1),
        waiting: waiting("wait"),
        body: Vec::new(),
        time: Some(law("exponential", &[0.5])),
    };
    let customer = entity(every(1.0), [serve, tally("stay", None)]);
    let bounds = |all: &[f64]| Tally {
        up_to: all.iter().map(|bound| (bound.to_string(), (*bound).into())).collect(),
        ..Tally::default()
    };
    ProcessModel {
        resources: named([("server", resource(1, Order::Fifo))]),
        tallies: named([("wait", bounds(&[0.0, 0.75])), ("stay", bounds(&[2.0]))]),
        ..model("queue", [("customer", customer)])
    }
}

fn department() -> ProcessModel {
    let mut wait = impatient(20.0);
    wait.priority = Some("level".into());
    wait.tally = Some("bed_wait".to_owned());
    wait.patience.as_mut().unwrap().when = Some(binary(Binary::GreaterOrEqual, "level", 3));
    let doctor = Action::Use {
        requests: request("doctor", 1),
        waiting: Waiting { priority: Some("level".into()), ..waiting("doctor_wait") },
        body: Vec::new(),
        time: Some(law("triangular", &[1.0, 4.0, 7.0])),
    };
    let laboratory = Action::With { arms: vec![(0.6.into(), all([delay(3.0)]))], otherwise: Vec::new() };
    let mut patient = entity(
        every(3.0),
        [seize("bed", 1, wait), doctor, laboratory, release("bed", 1), tally("stay", None)],
    );
    let levels = choice(&[(1, 0.2), (2, 0.3), (3, 0.4), (4, 0.1)]);
    patient.attributes = named([("level", variable(Kind::Integer, Some(levels)))]);
    ProcessModel {
        resources: named([("bed", resource(3, Order::Priority)), ("doctor", resource(2, Order::Priority))]),
        ..model("department", [("patient", patient)])
    }
}

fn tank() -> ProcessModel {
    let own = || "tank".to_owned();
    let put = Action::Put { container: own(), amount: "size".into(), waiting: Waiting::default() };
    let get = Action::Get { container: own(), amount: 7.into(), waiting: waiting("fuel_wait") };
    let mut ship = entity(every(4.0), [put, delay(1.0)]);
    let sizes = choice(&[(5, 0.5), (20, 0.5)]);
    ship.attributes = named([("size", variable(Kind::Integer, Some(sizes)))]);
    let car = entity(every(2.5), [get, tally("level", Expression::Reading(Reading::Level(own())))]);
    let container = Container {
        capacity: Some(40.into()),
        level: Some(20.into()),
        order: Order::Fifo,
        place: Place::default(),
    };
    ProcessModel { containers: named([("tank", container)]), ..model("tank", [("ship", ship), ("car", car)]) }
}

fn desk() -> ProcessModel {
    let mut wait = impatient(9.0);
    wait.priority = Some(Expression::Unary(Unary::Minus, Box::new("weight".into())));
    let give = Action::Give { store: "desk".to_owned(), waiting: wait };
    let mut letter = entity(every(2.0), [give, tally("rested", None)]);
    letter.attributes =
        named([("weight", variable(Kind::Integer, Some(choice(&[(1, 0.5), (2, 0.25), (9, 0.25)]))))]);
    let take = Action::Take {
        store: "desk".to_owned(),
        into: vec![("size".to_owned(), "weight".to_owned())],
        waiting: waiting("idle"),
    };
    let clerk = Action::Repeat {
        count: None,
        body: all([take, tally("size", Expression::from("size")), delay(1.9)]),
    };
    let start = Source { batch: 2.into(), ..source(Arrivals::Start) };
    let mut clerk = entity(vec![start], [clerk]);
    clerk.attributes = named([("size", variable(Kind::Integer, None))]);
    let store = Store { capacity: Some(3.into()), order: Order::Priority, place: Place::default() };
    ProcessModel { stores: named([("desk", store)]), ..model("desk", [("letter", letter), ("clerk", clerk)]) }
}

fn gate() -> ProcessModel {
    let wait = Action::Wait { signal: "opened".to_owned(), waiting: waiting("gate_wait") };
    let car = entity(every(1.0), [wait, count("passed")]);
    let send = Action::Send { signal: "opened".to_owned() };
    let keeper = entity(
        vec![source(Arrivals::Every(Value::Expression(5.into())))],
        [tally("line", Expression::Reading(Reading::Queue("opened".to_owned()))), send],
    );
    ProcessModel {
        signals: named([("opened", Signal::default())]),
        ..model("gate", [("car", car), ("keeper", keeper)])
    }
}

fn harbour() -> ProcessModel {
    let tide = binary(Binary::Greater, "tide", "draught");
    let free = binary(Binary::Greater, Expression::Reading(Reading::Free("berth".to_owned())), 0);
    let until = Action::WaitUntil {
        condition: binary(Binary::And, tide, free),
        waiting: Waiting { tally: Some("tide_wait".to_owned()), ..impatient(300.0) },
    };
    let note = Action::Note { name: "moored".to_owned(), value: Some("draught".into()) };
    let berth = [seize("berth", 1, Waiting::default()), note, delay(6.0), release("berth", 1)];
    let berth = berth.into_iter().chain([tally("stay", None)]);
    let mut ship = entity(every(9.0), [until].into_iter().chain(berth));
    ship.attributes = named([("draught", variable(Kind::Integer, Some(choice(&[(1, 0.4), (3, 0.6)]))))]);
    let rise = set("tide", binary(Binary::Modulo, binary(Binary::Plus, "tide", 1), 6));
    let moon = entity(
        vec![source(Arrivals::Start)],
        [Action::Repeat { count: None, body: all([delay(4.0), rise]) }],
    );
    let tide = Variable { level: true, histogram: true, ..variable(Kind::Integer, None) };
    let stay = Tally { histogram: Some(0.5.into()), ..Tally::default() };
    ProcessModel {
        variables: named([("tide", tide)]),
        tallies: named([("stay", stay)]),
        notes: 8,
        resources: named([("berth", resource(2, Order::Fifo))]),
        ..model("harbour", [("ship", ship), ("moon", moon)])
    }
}

fn orders() -> ProcessModel {
    let spawn = Action::Spawn {
        entity: "part".to_owned(),
        count: "size".into(),
        set: vec![
            ("work".to_owned(), binary(Binary::Times, "size", 2)),
            ("due".to_owned(), Expression::Reading(Reading::Now)),
        ],
        joined: true,
    };
    let mut order = entity(every(5.0), [spawn, Action::Join, tally("order", None)]);
    order.attributes =
        named([("size", variable(Kind::Integer, Some(choice(&[(0, 0.1), (1, 0.4), (4, 0.5)]))))]);
    let time = binary(Binary::Over, Expression::Unary(Unary::Time, Box::new("work".into())), 4);
    let work = Action::Use {
        requests: request("machine", 1),
        waiting: Waiting { priority: Some("work".into()), ..Waiting::default() },
        body: Vec::new(),
        time: Some(Value::Expression(time)),
    };
    let late = binary(Binary::Minus, Expression::Reading(Reading::Now), "due");
    let mut part = entity(Vec::new(), [work, tally("late", late)]);
    part.attributes = named([("due", variable(Kind::Time, None)), ("work", variable(Kind::Integer, None))]);
    ProcessModel {
        resources: named([("machine", resource(2, Order::Priority))]),
        ..model("orders", [("order", order), ("part", part)])
    }
}

/// All operators, on values of all kinds.
fn numbers() -> ProcessModel {
    let now = || Expression::Reading(Reading::Now);
    let arithmetic = |a: &str, b: &str| {
        let of = |operator| binary(operator, a, b);
        use Binary as B;
        [B::Plus, B::Minus, B::Times, B::Over, B::Modulo, B::Min, B::Max].map(of)
    };
    let compare = |a: &str, b: &str| {
        let of = |operator| binary(operator, a, b);
        use Binary as B;
        [B::Equal, B::Unequal, B::Less, B::LessOrEqual, B::Greater, B::GreaterOrEqual].map(of)
    };
    let one = |condition: Expression| Expression::Select(Box::new([condition, 1.into(), 0.into()]));
    let unary = |unary, operand: Expression| Expression::Unary(unary, Box::new(operand));
    let mut body = vec![
        set("t", now()),
        set("i", binary(Binary::Minus, "i", 7)),
        set("x", binary(Binary::Plus, "x", 0.3)),
    ];
    let integers = arithmetic("i", "j").into_iter().chain([
        unary(Unary::Minus, "i".into()),
        unary(Unary::Integer, "x".into()),
        unary(Unary::Integer, "t".into()),
    ]);
    body.extend(integers.map(|value| set("k", value)));
    let reals = arithmetic("x", "y").into_iter().chain([
        binary(Binary::Over, "t", "u"),
        binary(Binary::Plus, "i", "x"),
        unary(Unary::Real, "t".into()),
        unary(Unary::Minus, "x".into()),
    ]);
    body.extend(reals.map(|value| tally("reals", value)));
    use Binary as B;
    let times = [B::Plus, B::Minus, B::Modulo, B::Min, B::Max].map(|operator| binary(operator, "t", "u"));
    let scaled = [("i", B::Times), ("x", B::Times), ("j", B::Over), ("y", B::Over)]
        .map(|(by, operator)| binary(operator, "t", by));
    let converted = [unary(Unary::Time, "i".into()), unary(Unary::Time, "x".into())];
    body.extend(times.into_iter().chain(scaled).chain(converted).map(|value| tally("times", value)));
    let conditions = [("i", "j"), ("x", "y"), ("t", "u")].into_iter().flat_map(|(a, b)| compare(a, b));
    let both = [B::And, B::Or].map(|operator| {
        binary(operator, binary(B::Less, "i", "j"), unary(Unary::Not, binary(B::Less, "x", "y")))
    });
    body.extend(conditions.chain(both).map(|condition| tally("conditions", one(condition))));
    body.push(delay(3.0));
    let mut worker = entity(vec![source(Arrivals::Start)], [Action::Repeat { count: None, body: all(body) }]);
    let number = |kind, value: f64| variable(kind, Some(Value::Expression(value.into())));
    worker.attributes = named([
        ("i", number(Kind::Integer, 1000.0)),
        ("j", number(Kind::Integer, 13.0)),
        ("k", number(Kind::Integer, 0.0)),
        ("x", number(Kind::Real, -7.5)),
        ("y", number(Kind::Real, 1.25)),
        ("t", number(Kind::Time, 1.0)),
    ]);
    ProcessModel {
        variables: named([("u", number(Kind::Time, 24.0))]),
        ..model("numbers", [("worker", worker)])
    }
}

fn entries() -> ProcessModel {
    let rate = |lasts, rate: f64| Rate { lasts, rate: rate.into() };
    let rates = Arrivals::Rates(vec![rate(8.0, 0.1), rate(8.0, 2.0), rate(8.0, 0.0)]);
    let times = vec![1.5, 1.5, 40.0, 90.25];
    let trace = Arrivals::Trace {
        times,
        attributes: named([("size", vec![3.0, -4.0, 5.0, 6.0]), ("gap", vec![0.5, 1.0, 2.0, 3.0])]),
    };
    let few = Source {
        most: Some(5.into()),
        batch: 3.into(),
        ..source(Arrivals::Every(law("uniform", &[1.0, 30.0])))
    };
    let mut visitor = entity(
        vec![source(rates), source(trace), few],
        [
            tally("size", Expression::from("size")),
            Action::Delay(Value::Expression("gap".into())),
            tally("number", Expression::Reading(Reading::Number)),
        ],
    );
    visitor.attributes = named([
        ("gap", variable(Kind::Time, Some(law("erlang", &[])))),
        ("size", variable(Kind::Integer, None)),
    ]);
    let stages = [("stages".to_owned(), 3.into()), ("mean".to_owned(), 2.into())].into_iter().collect();
    let erlang = Value::Law(Law { name: "erlang".to_owned(), arguments: Arguments::Named(stages) });
    visitor.attributes["gap"].value = Some(erlang);
    model("entries", [("visitor", visitor)])
}

fn yard() -> ProcessModel {
    let busy = binary(Binary::Greater, Expression::Reading(Reading::InUse("crane".to_owned())), 1);
    let more = Action::If {
        arms: vec![(busy.clone(), all([count("busy")]))],
        otherwise: all([seize("crane", 1, Waiting::default())]),
    };
    let back = Action::If {
        arms: vec![(binary(Binary::Equal, "extra", 1), all([set("extra", 0)]))],
        otherwise: Vec::new(),
    };
    let several = vec![
        Request { resource: "dock".to_owned(), units: 1.into() },
        Request { resource: "crane".to_owned(), units: "size".into() },
    ];
    let mut lorry = entity(
        every(4.0),
        [
            Action::Seize {
                requests: several,
                waiting: Waiting { tally: Some("both".to_owned()), ..Waiting::default() },
            },
            delay(5.0),
            release("crane", "size"),
            more,
            delay(0.5),
            Action::While {
                condition: binary(Binary::Greater, "size", 0),
                body: all([delay(0.25), set("size", binary(Binary::Minus, "size", 1))]),
            },
            back,
            release("dock", 1),
            tally("waited", Expression::Reading(Reading::Waited)),
            Action::End,
        ],
    );
    // Not balanced on purpose: `more` seizes a crane on one way alone, so a word counts it.
    lorry.statements.remove(3);
    lorry.attributes = named([
        ("size", variable(Kind::Integer, Some(choice(&[(1, 0.5), (2, 0.3), (3, 0.2)])))),
        ("extra", variable(Kind::Integer, None)),
    ]);
    ProcessModel {
        resources: named([("dock", resource(4, Order::Fifo)), ("crane", resource(3, Order::Fifo))]),
        ..model("yard", [("lorry", lorry)])
    }
}

pub fn models() -> Vec<ProcessModel> {
    vec![queue(), department(), tank(), desk(), gate(), harbour(), orders(), numbers(), entries(), yard()]
}
