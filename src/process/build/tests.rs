use super::*;
use crate::facility::Distribution::{Exponential, Triangular};
use crate::process::text::tests::{json, without_lines};

/// The emergency department, as a description and by calls.
#[test]
fn toml_json_and_the_builder_give_the_same_department() {
    let written = include_str!("../../../examples/processes/emergency.toml");
    let levels = [(1, 0.05), (2, 0.15), (3, 0.4), (4, 0.3), (5, 0.1)];
    let patient = every(Exponential(7.0))
        .attribute("level", choice(levels))
        .does([
            hold("nurse").lasting(Triangular([3.0, 5.0, 9.0])),
            seize("bed")
                .priority("level")
                .patience(time(Exponential(120.0)).when("level >= 4").otherwise("left"))
                .tally("bed_wait"),
            hold("doctor").priority("level").lasting(Exponential(15.0)).tally("doctor_wait"),
            chance(
                0.6,
                [
                    hold("nurse").lasting(Triangular([2.0, 4.0, 8.0])),
                    delay(drawn("lognormal", pairs([("mean", 40), ("deviation", 20)]))),
                    hold("doctor").priority("level").lasting("review"),
                ],
            ),
            chance(0.3, [delay(drawn("erlang", pairs([("stages", 3), ("mean", 20)])))]),
            release("bed"),
            tally("stay"),
        ])
        .block("left", [tally("left")]);
    let built = ModelBuilder::new("emergency")
        .about("An emergency department: a bed is held from triage to the end.")
        .unit("minute")
        .until(11_520)
        .warm_up(1_440)
        .parameter("doctors", [3, 4, 5])
        .parameter("review", time(9))
        .resource("nurse", 2)
        .resource("bed", units(14).queue("priority"))
        .resource("doctor", units("doctors").queue("priority"))
        .entity("patient", patient)
        .build()
        .unwrap();
    let toml = ProcessModel::from_toml(written).unwrap();
    let json = ProcessModel::from_json(&json(written)).unwrap();
    assert_eq!(without_lines(&built), without_lines(&toml));
    assert_eq!(without_lines(&json), without_lines(&toml));
    let lines: Vec<u32> = built.entities["patient"].statements.iter().map(|of| of.place.line).collect();
    assert!(lines.is_sorted() && lines[0] > 0, "{lines:?}");
}

#[test]
fn a_builder_refuses_what_the_reader_refuses() {
    let line = line!() + 1;
    let built = ModelBuilder::new("m").entity("part", empty().does([delay(3).priority("x")])).build();
    let error = built.unwrap_err().to_string();
    assert_eq!(error, format!("line {line}: `priority` is not a key of `delay`; there are: delay, label"));
    let twice = ModelBuilder::new("m").resource("bed", 1).resource("bed", 2).build();
    assert!(matches!(twice, Err(ProcessError::Repeated { .. })));
}

const EVERYTHING: &str = r#"
name = "everything"
ticks_per_unit = 1000
[parameters]
factor = { real = [1.5, 2] }
[resource]
bed = { units = 2, cost = { busy = 8, use = 5 } }
porter = { schedule = [[480, 2], [960, 1]], shift = "preempt", queue = "preempt" }
[tally]
late = { up_to = [0, "2 * factor"] }
[container.tank]
capacity = 200
level = 50
[store]
desk = { capacity = 3, queue = "priority" }
floor = {}
[signal]
opened = {}
[variable]
seen = { value = 0, level = true }
due = { kind = "time" }
[entity.part]
rates = [{ lasts = 60, rate = 0.5 }]
batch = 2
most = 9
source = [{ times = [1, 2.5] }, { at_start = 3 }]
attributes = { size = 1, due = { kind = "time", value = "now" } }
do = [
  { seize = { bed = 1, porter = 2 }, patience = { time = 3, continue = true } },
  { release = "bed", units = 1 },
  { resize = "bed", units = 3 },
  { select = ["bed", "porter"], by = "random", do = [{ use = "selected", for = 3, preempted = "repeat" }] },
  { put = "tank", amount = 20 },
  { get = "tank", amount = "size" },
  { give = "desk" },
  { take = "desk", into = { size = "size" } },
  { wait = "opened" },
  { wait_until = "seen > 3" },
  { wait_any = [{ signal = "opened", do = [{ end = true }] }, { until = "seen > 4" }] },
  { batch = 5, do = [{ delay = 1 }] },
  { batch = 4, permanent = true },
  { clone = 2, do = [{ delay = 1 }], join = true },
  { send = "opened" },
  { spawn = "part", count = 3, set = { size = 2 }, join = true },
  { join = true },
  { do = [{ delay = 3 }], interrupted = [{ count = "stopped", by = 2 }] },
  { interrupt = "part", number = 3 },
  { if = "size == 1", do = "out", elif = [{ if = "size == 2", do = [{ delay = 1 }] }], else = [{ delay = 2 }] },
  { with = [{ p = 0.2, do = [{ delay = 1 }] }, { p = 0.3, do = "out" }], else = [{ delay = 2 }] },
  { while = "size < 3", do = [{ set = "size", to = "size + 1" }] },
  { repeat = 3, do = [{ delay = 1, label = "again" }] },
  { tally = "late", value = "now - due" },
  { forever = [{ go = "out" }] },
]
out = [{ end = true }]
"#;

#[test]
fn each_call_is_a_key_of_toml() {
    let part = rates([period(60, 0.5)])
        .batch(2)
        .most(9)
        .sources([times([1.0, 2.5]), at_start(3)])
        .attribute("size", 1)
        .attribute("due", kind("time").value("now"))
        .does([
            seize(pairs([("bed", 1), ("porter", 2)])).patience(time(3).continues()),
            release("bed").units(1),
            resize("bed", 3),
            select(["bed", "porter"], "random", [hold("selected").lasting(3).preempted("repeat")]),
            put("tank").amount(20),
            get("tank").amount("size"),
            give("desk"),
            take("desk").into_attributes(pairs([("size", "size")])),
            wait("opened"),
            wait_until("seen > 3"),
            wait_any([signal("opened").does([end()]), until("seen > 4")]),
            batch(5).does([delay(1)]),
            batch(4).permanent(),
            copies(2).does([delay(1)]).joined(),
            send("opened"),
            spawn("part").count(3).set(pairs([("size", 2)])).joined(),
            join(),
            interruptible([delay(3)], [count("stopped").by(2)]),
            interrupt("part", 3),
            branch("size == 1", "out").elif([branch("size == 2", [delay(1)])]).otherwise([delay(2)]),
            chances([share(0.2, [delay(1)]), share(0.3, "out")]).otherwise([delay(2)]),
            repeat_while("size < 3", [set("size", "size + 1")]),
            repeat(3, [delay(1).label("again")]),
            tally("late").value("now - due"),
            forever([go("out")]),
        ])
        .block("out", [end()]);
    let built = ModelBuilder::new("everything")
        .ticks_per_unit(1000)
        .parameter("factor", real([1.5, 2.0]))
        .resource("bed", units(2).cost(pairs([("busy", 8), ("use", 5)])))
        .tally("late", up_to([Given::from(0), "2 * factor".into()]))
        .resource("porter", schedule([[480, 2], [960, 1]]).shift("preempt").queue("preempt"))
        .container("tank", capacity(200).level(50))
        .store("desk", capacity(3).queue("priority"))
        .store("floor", empty())
        .signal("opened")
        .variable("seen", value(0).level(true))
        .variable("due", kind("time"))
        .entity("part", part)
        .build()
        .unwrap();
    let read = ProcessModel::from_toml(EVERYTHING).unwrap();
    assert_eq!(without_lines(&built), without_lines(&read));
}
