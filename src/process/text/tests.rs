use super::super::error::ProcessError;
use super::super::ir::*;
use super::tree::{self, Node, Tree};

/// A model whose entity executes these statements, from line 3 on.
fn around(statements: &str) -> String {
    format!(
        "[entity.part]\ndo = [\n{statements}\n]\nblock = [{{ go = \"block\" }}]\nmore = [{{ go = \"block\" }}, {{ go = \"more\" }}]"
    )
}

/// The first statement of a model whose blocks are named by a last one.
fn read(statement: &str) -> Statement {
    let text = around(&format!("{statement},\n{{ if = \"1 < 2\", do = \"block\", else = \"more\" }}"));
    let model = ProcessModel::from_toml(&text).unwrap_or_else(|error| panic!("{statement}: {error}"));
    assert_eq!(model.entities["part"].statements.len(), 2);
    model.entities["part"].statements[0].clone()
}

fn text(text: &str) -> Expression {
    Expression::parse(text).unwrap()
}

fn statement(action: Action) -> Statement {
    Statement { action, label: None, place: Place { line: 3 } }
}

fn go(block: &str) -> Vec<Statement> {
    vec![statement(Action::Go { block: block.to_owned() })]
}

fn one(resource: &str) -> Vec<Request> {
    request(&[(resource, 1)])
}

fn request(all: &[(&str, i32)]) -> Vec<Request> {
    all.iter().map(|(name, units)| Request { resource: (*name).to_owned(), units: (*units).into() }).collect()
}

fn law(name: &str, arguments: Arguments) -> Value {
    Value::Law(Law { name: name.to_owned(), arguments })
}

fn number(number: f64) -> Value {
    Value::Expression(number.into())
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

fn waiting() -> Waiting {
    Waiting::default()
}

#[test]
fn each_statement_is_read() {
    let own = str::to_owned;
    let end = || vec![statement(Action::End)];
    let patience = Patience {
        when: Some(text("level >= 4")),
        time: law("exponential", Arguments::One(120.into())),
        otherwise: go("block"),
        continues: true,
    };
    let impatient = Waiting {
        priority: Some("level".into()),
        patience: Some(patience),
        tally: Some(own("wait")),
        ..waiting()
    };
    let short = Patience { when: None, time: number(5.0), otherwise: Vec::new(), continues: false };
    let short = Waiting { patience: Some(short), ..waiting() };
    for (written, expected) in [
        ("{ delay = 3 }", Action::Delay(number(3.0))),
        ("{ delay = \"now % 24\" }", Action::Delay(Value::Expression(text("now % 24")))),
        (
            "{ delay = { uniform = [1, \"high\"] } }",
            Action::Delay(law("uniform", Arguments::List(vec![1.into(), "high".into()]))),
        ),
        (
            "{ delay = { erlang = { stages = 3, mean = \"2 * m\" } } }",
            Action::Delay(law(
                "erlang",
                Arguments::Named([(own("stages"), 3.into()), (own("mean"), text("2 * m"))].into()),
            )),
        ),
        (
            "{ seize = \"bed\", priority = \"level\", patience = { when = \"level >= 4\", time = { exponential = 120 }, else = \"block\", continue = true }, tally = \"wait\" }",
            Action::Seize { requests: one("bed"), waiting: impatient },
        ),
        (
            "{ seize = { berth = 1, tug = 2 }, patience = 5 }",
            Action::Seize { requests: request(&[("berth", 1), ("tug", 2)]), waiting: short },
        ),
        ("{ release = \"bed\", units = 2 }", Action::Release { requests: request(&[("bed", 2)]) }),
        (
            "{ use = \"doctor\", for = 15, do = [{ end = true }] }",
            Action::Use {
                requests: one("doctor"),
                waiting: waiting(),
                body: end(),
                time: Some(number(15.0)),
            },
        ),
        (
            "{ put = \"tank\", amount = \"size\" }",
            Action::Put { container: own("tank"), amount: "size".into(), waiting: waiting() },
        ),
        ("{ get = \"tank\" }", Action::Get { container: own("tank"), amount: 1.into(), waiting: waiting() }),
        ("{ give = \"desk\" }", Action::Give { store: own("desk"), waiting: waiting() }),
        (
            "{ take = \"desk\", into = { size = \"weight\" } }",
            Action::Take { store: own("desk"), into: named(&[("size", "weight")]), waiting: waiting() },
        ),
        ("{ wait = \"opened\" }", Action::Wait { signal: own("opened"), waiting: waiting() }),
        (
            "{ wait_until = \"free(berth) > 0\" }",
            Action::WaitUntil { condition: text("free(berth) > 0"), waiting: waiting() },
        ),
        (
            "{ wait_any = [{ signal = \"opened\", do = [{ end = true }] }, { until = \"x > 3\" }] }",
            Action::WaitAny {
                arms: vec![
                    (Awaited::Signal(own("opened")), end()),
                    (Awaited::Until(text("x > 3")), Vec::new()),
                ],
                waiting: waiting(),
            },
        ),
        ("{ resize = \"bed\", units = 3 }", Action::Resize { resource: own("bed"), units: 3.into() }),
        (
            "{ select = [\"north\", \"south\"], by = \"in_turn\", do = [{ end = true }] }",
            Action::Select { among: vec![own("north"), own("south")], by: Policy::InTurn, body: end() },
        ),
        (
            "{ batch = 5, do = [{ end = true }], tally = \"together\" }",
            Action::Batch {
                permanent: false,
                size: 5.into(),
                body: end(),
                waiting: Waiting { tally: Some(own("together")), ..waiting() },
            },
        ),
        (
            "{ batch = 5, permanent = true }",
            Action::Batch { permanent: true, size: 5.into(), body: Vec::new(), waiting: waiting() },
        ),
        (
            "{ clone = \"size\", do = [{ end = true }], join = true }",
            Action::Clone { count: "size".into(), body: end(), joined: true },
        ),
        (
            "{ do = [{ end = true }], interrupted = \"block\" }",
            Action::Interruptible { body: end(), handler: go("block") },
        ),
        (
            "{ interrupt = \"part\", number = \"last(part)\" }",
            Action::Interrupt { entity: own("part"), number: text("last(part)") },
        ),
        (
            "{ use = \"doctor\", for = 15, preempted = [{ end = true }] }",
            Action::Use {
                requests: one("doctor"),
                waiting: Waiting { preempted: Preempted::Lose(end()), ..waiting() },
                body: Vec::new(),
                time: Some(number(15.0)),
            },
        ),
        ("{ send = \"opened\" }", Action::Send { signal: own("opened") }),
        (
            "{ spawn = \"part\", count = 3, set = { size = \"2 * size\" }, join = true }",
            Action::Spawn {
                entity: own("part"),
                count: 3.into(),
                set: vec![(own("size"), text("2 * size"))],
                joined: true,
            },
        ),
        ("{ join = true }", Action::Join),
        (
            "{ if = \"x < 3\", do = [{ end = true }], elif = [{ if = \"x < 4\", do = \"block\" }], else = \"more\" }",
            Action::If {
                arms: vec![(text("x < 3"), end()), (text("x < 4"), go("block"))],
                otherwise: go("more"),
            },
        ),
        (
            "{ with = 0.6, do = [{ end = true }] }",
            Action::With { arms: vec![(0.6.into(), end())], otherwise: Vec::new() },
        ),
        (
            "{ with = [{ p = 0.2, do = \"block\" }, { p = \"share\", do = [{ end = true }] }], else = [{ end = true }] }",
            Action::With { arms: vec![(0.2.into(), go("block")), ("share".into(), end())], otherwise: end() },
        ),
        (
            "{ while = \"x < 3\", do = [{ end = true }] }",
            Action::While { condition: text("x < 3"), body: end() },
        ),
        (
            "{ repeat = \"size\", do = [{ end = true }] }",
            Action::Repeat { count: Some("size".into()), body: end() },
        ),
        ("{ forever = [{ end = true }] }", Action::Repeat { count: None, body: end() }),
        (
            "{ set = \"x\", to = { choice = { -1 = 0.5, 2 = \"p\" } } }",
            Action::Set { name: own("x"), value: Value::Choice(vec![(-1, 0.5.into()), (2, "p".into())]) },
        ),
        (
            "{ tally = \"stay\", value = \"now - due\" }",
            Action::Tally { name: own("stay"), value: Some(text("now - due")) },
        ),
        ("{ tally = \"stay\" }", Action::Tally { name: own("stay"), value: None }),
        ("{ count = \"lost\", by = 2 }", Action::Count { name: own("lost"), by: Some(2.into()) }),
        ("{ go = \"block\" }", Action::Go { block: own("block") }),
        ("{ end = true }", Action::End),
    ] {
        assert_eq!(read(written), statement(expected), "{written}");
    }
    let labelled = read("\n{ delay = 3, label = \"first\" }");
    assert_eq!((labelled.label.as_deref(), labelled.place.line), (Some("first"), 4));
}

const WHOLE: &str = r#"
name = "all"
about = "Everything once."
unit = "hour"
ticks_per_unit = 1000
until = 24
warm_up = 2.5
[parameters]
doctors = [3, 4]
share = 0.5
review = { time = [9, 10] }
factor = { real = 2 }
[resource]
nurse = 2
bed = { units = "2 * doctors", queue = "priority", cost = { busy = 8, use = "2 * factor" } }
surgeon = { queue = "preempt" }
porter = { schedule = [[480, 2], [960, "doctors"]], shift = "preempt" }
[container.tank]
capacity = 200
level = 50
queue = "priority"
[store]
desk = { capacity = 3, queue = "priority" }
floor = {}
[signal]
opened = {}
[tally]
stay = { up_to = [5, "2 * review"] }
[variable]
seen = { value = 1, level = true }
due = { kind = "time" }
speed = 1.5
[entity.car]
every = { exponential = 7 }
batch = 2
most = 100
attributes = { size = { choice = { 1 = 0.5, 2 = 0.5 } }, due = { kind = "time", value = "now" }, x = 0.5, time = { uniform = [1, 2] }, n = {} }
source = [{ rates = [{ lasts = 60, rate = "1 / 5" }] }, { times = { time = [1, 2.5], size = [1, 2] } }, { times = [3] }, { at_start = 10 }]
do = [{ go = "out" }]
out = [{ end = true }]
"#;

#[test]
fn each_table_is_read() {
    let model = ProcessModel::from_toml(WHOLE).unwrap();
    assert_eq!((&*model.name, &*model.about, &*model.unit), ("all", "Everything once.", "hour"));
    assert_eq!((model.ticks_per_unit, model.until, model.warm_up), (Some(1000), Some(24.0), Some(2.5)));
    let parameters: Vec<_> = model.parameters.values().map(|of| (of.kind, of.values.clone())).collect();
    let expected = [
        (Kind::Integer, vec![3.0, 4.0]),
        (Kind::Real, vec![0.5]),
        (Kind::Time, vec![9.0, 10.0]),
        (Kind::Real, vec![2.0]),
    ];
    assert_eq!(parameters, expected);
    let bed = &model.resources["bed"];
    assert_eq!((&bed.units, bed.order, bed.place.line), (&text("2 * doctors"), Order::Priority, 15));
    assert_eq!((&model.resources["nurse"].units, model.resources["nurse"].order), (&2.into(), Order::Fifo));
    assert_eq!(
        (&model.resources["surgeon"].units, model.resources["surgeon"].order),
        (&1.into(), Order::Preempt)
    );
    let cost = &model.costs["bed"];
    assert_eq!((model.costs.len(), &cost.busy, &cost.idle), (1, &Some(8.into()), &None));
    assert_eq!(cost.each_use, Some(text("2 * factor")));
    let bounds = [("5".to_owned(), 5.into()), ("2 * review".to_owned(), text("2 * review"))];
    assert_eq!(model.tallies["stay"].up_to, bounds);
    let porter = &model.schedules["porter"];
    let periods =
        vec![Period { lasts: 480.0, units: 2.into() }, Period { lasts: 960.0, units: "doctors".into() }];
    assert_eq!((model.schedules.len(), &porter.periods, porter.preempts), (1, &periods, true));
    let tank = &model.containers["tank"];
    assert_eq!(
        (&tank.capacity, &tank.level, tank.order),
        (&Some(200.into()), &Some(50.into()), Order::Priority)
    );
    let [desk, floor] = ["desk", "floor"].map(|name| &model.stores[name]);
    assert_eq!((&desk.capacity, desk.order), (&Some(3.into()), Order::Priority));
    assert_eq!((&floor.capacity, floor.order), (&None, Order::Fifo));
    assert_eq!(model.signals.len(), 1);
    let kinds = |variables: &indexmap::IndexMap<String, Variable>| {
        variables.values().map(|of| (of.kind, of.value.is_some(), of.level)).collect::<Vec<_>>()
    };
    let expected = [(Kind::Integer, true, true), (Kind::Time, false, false), (Kind::Real, true, false)];
    assert_eq!(kinds(&model.variables), expected);
    let car = &model.entities["car"];
    let expected = [Kind::Integer, Kind::Time, Kind::Real, Kind::Time, Kind::Integer];
    assert_eq!(car.attributes.values().map(|of| of.kind).collect::<Vec<_>>(), expected);
    assert_eq!(car.attributes["n"].value, None);
    let every = Arrivals::Every(law("exponential", Arguments::One(7.into())));
    let rates = Arrivals::Rates(vec![Rate { lasts: 60.0, rate: text("1 / 5") }]);
    let trace = |times: &[f64], sizes: Option<Vec<f64>>| Arrivals::Trace {
        times: times.to_vec(),
        attributes: sizes.map(|sizes| ("size".to_owned(), sizes)).into_iter().collect(),
    };
    let expected =
        [every, rates, trace(&[1.0, 2.5], Some(vec![1.0, 2.0])), trace(&[3.0], None), Arrivals::Start];
    assert!(car.sources.iter().map(|of| &of.times).eq(&expected), "{:?}", car.sources);
    let batches: Vec<_> = car.sources.iter().map(|of| (of.batch.clone(), of.most.clone())).collect();
    let one = || (1.into(), None);
    assert_eq!(batches, [(2.into(), Some(100.into())), one(), one(), one(), (10.into(), None)]);
    assert_eq!(car.blocks["out"].len(), 1);
}

#[test]
fn json_gives_the_same_model() {
    let [a, b] = [ProcessModel::from_toml(WHOLE), ProcessModel::from_json(&json(WHOLE))]
        .map(|model| without_lines(&model.unwrap()));
    assert_eq!(a, b);
}

/// TOML as JSON, in the same order.
pub(in crate::process) fn json(toml: &str) -> String {
    fn text(node: &Node) -> String {
        match &node.value {
            Tree::Number(number) => number.to_string(),
            Tree::Text(text) => serde_json::to_string(text).unwrap(),
            Tree::Truth(truth) => truth.to_string(),
            Tree::List(list) => format!("[{}]", list.iter().map(text).collect::<Vec<_>>().join(",\n")),
            Tree::Table(table) => {
                let pairs = table.iter().map(|(key, node)| format!("{key:?}: {}", text(node)));
                format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
        }
    }
    text(&tree::of_toml(toml).unwrap())
}

/// A model without places.
pub(in crate::process) fn without_lines(model: &ProcessModel) -> String {
    let text = format!("{model:?}");
    text.split("line: ").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())).collect()
}

/// What statements are refused for. They begin in line 3.
#[test]
fn wrong_statements_are_refused_with_line_and_remedy() {
    for (written, expected) in [
        ("{ dealy = 3 }", "line 3: `dealy` is not a statement; did you mean `delay`?"),
        ("{ priority = 3, sieze = \"bed\" }", "line 3: `sieze` is not a statement; did you mean `seize`?"),
        ("{ colour = 3 }", "line 3: `colour` is not a statement; there are: delay, seize,"),
        ("{}", "line 3: a statement is an empty table; write an action"),
        ("3", "line 3: `a statement` is 3; write a table"),
        (
            "{ delay = 3, seize = \"bed\" }",
            "line 3: a statement is both `delay` and `seize`; write two statements",
        ),
        ("{ seize = \"bed\", unit = 2 }", "line 3: `unit` is not a key of `seize`; did you mean `units`?"),
        ("{ seize = { bed = 1 }, units = 2 }", "line 3: `units` is not a key of `seize`; there are:"),
        ("{ seize = 3 }", "line 3: `seize` is 3; name a resource, or several"),
        (
            "{ delay = true }",
            "line 3: `delay` is true; write a number, an expression in quotes, or a distribution",
        ),
        ("{ delay = {} }", "line 3: `delay` is a table with 0 keys; write one distribution"),
        ("{ delay = { uniform = [true] } }", "line 3: `uniform` is true; write a number, or an expression"),
        ("{ delay = inf }", "line 3: a value is inf; write a finite number"),
        ("{ delay = 1979-05-27 }", "line 3: a value is the date 1979-05-27; write times as numbers"),
        (
            "{ delay = \"3 +\" }",
            "line 3: character 4 of `3 +`: expected a number, a name or `(`, found the end",
        ),
        ("{ put = \"tank\", amount = [1] }", "line 3: `amount` is a list; write a number, or an expression"),
        ("{ set = \"x\" }", "line 3: `set` has no `to`; write its value"),
        (
            "{ set = \"x\", to = { choice = { a = 1 } } }",
            "line 3: a value of the choice is \"a\"; write whole numbers",
        ),
        ("{ end = false }", "line 3: `end` is false; write `true`"),
        ("{ spawn = \"part\", join = 1 }", "line 3: `join` is 1; write `true`, or leave it out"),
        ("{ while = \"x < 3\" }", "line 3: `while` has no `do`; write what is done"),
        ("{ while = \"x < 3\", do = \"block\" }", "line 3: `do` is \"block\"; write a list"),
        (
            "{ if = \"x < 3\", do = 3 }",
            "line 3: `do` is 3; write a list of statements, or the name of a block",
        ),
        ("{ if = \"x < 3\", do = [],\n elif = [{ iff = 3 }] }", "line 4: a branch of `if` has no `if`"),
        ("{ with = [{ p = 0.3, do = [], x = 1 }] }", "line 3: `x` is not a key of a branch of `with`"),
        ("{ seize = \"bed\", patience = { tme = 3, when = \"x\" } }", "line 3: `patience` has no `time`"),
        ("{ seize = \"bed\", patience = { time = 3, els = \"b\" } }", "did you mean `else`?"),
        ("{ take = \"desk\", into = { a = 3 } }", "line 3: `a` is 3; write a text in quotes"),
        (
            "{ use = \"bed\", for = 3, preempted = \"again\" }",
            "line 3: `preempted` is \"again\"; write \"resume\", ",
        ),
        (
            "{ select = [\"bed\"], by = \"longest\", do = [] }",
            "line 3: `by` is \"longest\"; write \"shortest\", ",
        ),
        ("{ select = [\"bed\"], do = [] }", "line 3: `select` has no `by`; write how"),
        ("{ wait_any = [{ do = [] }] }", "line 3: `wait_any` is a table; write `signal"),
        ("{ interrupted = [] }", "line 3: `interrupted` has no `do`"),
        ("{ interrupt = \"part\" }", "line 3: `interrupt` has no `number`; write which"),
        ("{ seize = \"bed\", preempted = \"repeat\" }", "line 3: `preempted` is not a key of `seize`"),
        ("{ use = \"bed\",\n for = 3,\n do = [{ delya = 3 }] }", "line 5: `delya` is not a statement"),
    ] {
        let error = ProcessModel::from_toml(&around(written)).unwrap_err().to_string();
        assert!(error.contains(expected), "{written}: {error}");
    }
}

#[test]
fn wrong_tables_are_refused_with_line_and_remedy() {
    for (written, expected) in [
        ("", "line 1: a process model has no `entity`; write what an entity does"),
        ("name = ", "line 1: this is not TOML: "),
        ("a = 1\na = 2", "line 2: this is not TOML: duplicate key"),
        ("untill = 3", "line 1: `untill` is not a key of a process model; did you mean `until`?"),
        ("until = -1", "line 1: `until` is -1; write a time that is not negative"),
        ("ticks_per_unit = 1.5", "line 1: `ticks_per_unit` is 1.5; write a whole number"),
        ("name = 3", "line 1: `name` is 3; write a text in quotes"),
        ("[parameters]\na = \"b\"", "line 2: `a` is \"b\"; write a number"),
        ("[parameters]\na = { tim = 3 }", "line 2: `a` is a table; write numbers, `{ time = ... }`"),
        (
            "[resource]\nbed = { unit = 3 }",
            "line 2: `unit` is not a key of the resource `bed`; did you mean `units`?",
        ),
        (
            "[resource]\nbed = { queue = \"lifo\" }",
            "line 2: `queue` is \"lifo\"; write \"fifo\", \"priority\" or",
        ),
        (
            "[resource]\nbed = { units = 2, schedule = [[1, 2]] }",
            "line 2: `schedule` is a list; write `units` or `schedule`, not both",
        ),
        ("[resource]\nbed = { schedule = [[1]] }", "line 2: `schedule` is a list; write pairs of a time and"),
        ("[resource]\nbed = { schedule = [[1, 2]], shift = 3 }", "line 2: `shift` is 3; write \"preempt\""),
        ("[resource]\nbed = { shift = \"preempt\" }", "`shift` is not a key of the resource `bed`"),
        ("[container]\ntank = 3", "line 2: `the container `tank`` is 3"),
        ("[signal]\nopened = { x = 1 }", "line 2: `x` is not a key of the signal `opened`"),
        (
            "[variable]\nx = { kind = \"float\" }",
            "line 2: `kind` is \"float\"; write \"integer\", \"time\" or \"real\"",
        ),
        ("[variable]\nx = { value = 3, levle = true }", "did you mean `level`?"),
        ("[entity.a]\nevery = 3", "line 1: the entity `a` has no `do`"),
        (
            "[entity.a]\ndo = []\natributes = { x = 1 }",
            "line 3: `atributes` is not a key of the entity `a`; did you mean `attributes`?",
        ),
        (
            "[entity.a]\ndo = []\nlost = [{ end = true }]",
            "line 3: the block `lost` of `a` is named by no statement",
        ),
        (
            "[entity.a]\ndo = []\nbatch = 3",
            "line 3: the entity `a` has no `every`; `batch` and `most` go with a source",
        ),
        ("[entity.a]\ndo = []\nevery = 3\nat_start = 1", "a source is both one of"),
        ("[entity.a]\ndo = []\nbatch = 3\nat_start = 1", "a source is both `at_start` and `batch`"),
        ("[entity.a]\ndo = []\nsource = [{ most = 3 }]", "line 3: a source of `a` has no `every`"),
        ("[entity.a]\ndo = []\nsource = [{}]", "line 3: a source of `a` has no `every`"),
        ("[entity.a]\ndo = []\nrates = [{ lasts = 3 }]", "line 3: a period of `rates` has no `rate`"),
        (
            "[entity.a]\ndo = []\ntimes = \"a.csv\"",
            "line 3: `times` is \"a.csv\"; a text in memory names no files",
        ),
        ("[entity.a]\ndo = []\ntimes = { size = [1] }", "line 3: `times` has no `time`"),
        (
            "[entity.a]\ndo = []\ntimes = { time = [1], size = [1, 2] }",
            "the column `size` is a list of 2 for 1 time",
        ),
        ("[entity.a]\ndo = []\nattributes = { x = { level = true } }", "`level` is not a key of `x`"),
    ] {
        let error = ProcessModel::from_toml(written).unwrap_err().to_string();
        assert!(error.contains(expected), "{written}: {error}");
    }
}

#[test]
fn wrong_json_is_refused_with_its_line() {
    for (written, expected) in [
        ("{", "line 1: this is not JSON: "),
        ("{\n\"a\": 1,\n\"a\": 2}", "line 3: `a` is already the name of another key of this table"),
        ("{\n\"name\": null}", "line 2: a value is null; leave the key out"),
        ("{\"until\":\n1e999}", "line 2: a value is 1e999; write a finite number"),
        ("[1, 2]", "a process model` is a list"),
        ("{\"x\": \"\\ud800\"}", "line 1: this is not JSON: "),
        (
            "{\n\n\"naem\": \"\\\"[{\\\\\"}",
            "line 3: `naem` is not a key of a process model; did you mean `name`?",
        ),
    ] {
        let error = ProcessModel::from_json(written).unwrap_err().to_string();
        assert!(error.contains(expected), "{written}: {error}");
    }
}

#[test]
fn deep_texts_are_refused() {
    let deep = |open: &str, inner: &str, close: &str, levels: usize| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let nested = |levels| deep("{\"forever\": [", "{\"end\": true}", "]}", levels);
    let model = |levels| format!("{{\"entity\": {{\"a\": {{\"do\": [{}]}}}}}}", nested(levels));
    assert!(ProcessModel::from_json(&model(31)).is_ok());
    let error = ProcessModel::from_json(&model(32)).unwrap_err();
    assert!(matches!(error, ProcessError::TooMany { .. }), "{error}");
    for levels in [100, 100_000] {
        assert!(ProcessModel::from_json(&model(levels)).is_err());
        assert!(ProcessModel::from_toml(&around(&deep("{ forever = [", "", "] }", levels))).is_err());
    }
    for deep in [
        deep("(", "1", ")", 1_000),
        "-".repeat(1_000) + "1",
        "not ".repeat(500) + "1",
        "1".to_owned() + &"+1".repeat(1_000),
        format!("min({}1)", "1,".repeat(1_000)),
        "1 + ".repeat(2_000),
    ] {
        assert!(Expression::parse(&deep).is_err(), "{deep}");
    }
}

#[test]
fn files_of_entries_are_read() {
    let folder = std::env::temp_dir().join(format!("eventhorizon-traces-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("cars.toml", "[entity.car]\ntimes = \"cars.csv\"\nattributes = { size = {} }\ndo = []\n");
    let read = || ProcessModel::read(&folder.join("cars.toml")).map_err(|error| error.to_string());
    assert!(read().unwrap_err().contains("cars.csv: "));
    write("cars.csv", "time, size\n1.5, 3\n2, 4\n");
    let model = read().unwrap();
    let Arrivals::Trace { times, attributes } = &model.entities["car"].sources[0].times else { panic!() };
    assert_eq!((times, &attributes["size"]), (&vec![1.5, 2.0], &vec![3.0, 4.0]));
    assert_eq!(model.name, "cars");
    for (text, expected) in [
        ("time,size\n1,3\nx,4\n", "cars.csv: line 3: `time` is \"x\"; write a number"),
        ("time,size\n1\n", "cars.csv: line 2: this is not CSV: "),
        ("size\n1\n", "cars.toml: line 2: `times` has no `time`"),
        ("time,time\n1,1\n", "cars.csv: line 1: `time` is already the name of another column"),
    ] {
        write("cars.csv", text);
        let error = read().unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    write("cars.toml", "until = x");
    assert!(read().unwrap_err().contains("cars.toml: line 1: this is not TOML"));
    std::fs::remove_dir_all(&folder).unwrap();
}
