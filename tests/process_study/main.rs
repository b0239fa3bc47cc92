//! Studies of process models: against theory and by hand, points, room that grows, and errors that
//! say who and where.

mod assembly;
mod blocking;
mod case_studies;
mod forms;
mod instants;
#[path = "../common/long.rs"]
mod long;
mod networks;
mod over_time;
mod pairs;
mod quantiles;
mod quorums;
mod saved;
mod statements;
mod stations;
mod visits;

use eventhorizon::gpu::Gpu;
use eventhorizon::process::{CompiledProcess, ProcessError, ProcessModel, Study, StudyResults};
use eventhorizon::statistics::theory::{ErlangA, Mm1};
use eventhorizon::statistics::{Budget, Decision, Observations, Precision, Selection, Stopping};
use eventhorizon::{Backend, OnDemand};

fn compiled(text: &str) -> CompiledProcess {
    let model = ProcessModel::from_toml(text).and_then(|model| model.compile());
    model.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(text: &str, study: &Study) -> StudyResults {
    compiled(text).study(study).run().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn failing(text: &str, study: &Study) -> ProcessError {
    compiled(text).study(study).run().err().unwrap_or_else(|| panic!("no error: {text}"))
}

fn mean(observations: &Observations, name: &str) -> f64 {
    observations.summary(name, 0.95).unwrap().mean.unwrap_or(f64::NAN)
}

/// Checks that an interval that fails once in 10,000 times contains a value.
fn agrees(results: &StudyResults, name: &str, expected: f64) {
    let summary = results.observations[0].summary(name, 0.9999).unwrap();
    let interval = summary.interval.unwrap();
    assert!(interval.contains(expected), "{name}: {expected} is not in {interval:?}");
    assert!(interval.half_width < 0.2 * expected, "{name}: {interval:?}");
}

/// A queue with a mean time of service of 1 and customers that may leave.
fn queue(servers: u32, gap: f64, patience: &str) -> String {
    let left = if patience.is_empty() { "" } else { r#"left = [{ count = "left" }]"# };
    format!(
        r#"
[resource]
server = {servers}
[entity.customer]
every = {{ exponential = {gap} }}
do = [
  {{ count = "came" }},
  {{ seize = "server", tally = "wait" {patience} }},
  {{ delay = {{ exponential = 1 }} }},
  {{ release = "server" }},
  {{ tally = "stay" }},
]
{left}
"#
    )
}

const PATIENCE: &str = r#", patience = { time = { exponential = 2 }, else = "left" }"#;

#[test]
fn a_queue_with_one_server_agrees_with_theory() {
    let results = run(&queue(1, 2.0, ""), &Study::new(100, 1200.0, 200.0).seed(3));
    let theory = Mm1::new(0.5, 1.0).unwrap();
    agrees(&results, "stay", theory.time_in_system().unwrap());
    agrees(&results, "wait", theory.time_in_queue().unwrap());
    agrees(&results, "utilisation(server)", 0.5);
    agrees(&results, "in_use(server)", 0.5);
    agrees(&results, "queue(server)", 0.5 * theory.time_in_queue().unwrap());
    agrees(&results, "rate(came)", 0.5);
    assert_eq!(results.replications, 100);
}

#[test]
fn three_servers_agree_with_theory() {
    let results = run(&queue(3, 0.5, ""), &Study::new(60, 700.0, 100.0).seed(5));
    // Nobody leaves: a patience of a million services.
    let theory = ErlangA::new(2.0, 1.0, 1e-6, 3).unwrap();
    agrees(&results, "utilisation(server)", 2.0 / 3.0);
    agrees(&results, "queue(server)", theory.number_waiting());
    agrees(&results, "wait", theory.number_waiting() / 2.0);
}

#[test]
fn customers_with_patience_agree_with_theory() {
    let results = run(&queue(1, 0.8, PATIENCE), &Study::new(80, 900.0, 100.0).seed(9));
    let theory = ErlangA::new(1.25, 1.0, 0.5, 1).unwrap();
    agrees(&results, "utilisation(server)", theory.utilisation());
    agrees(&results, "queue(server)", theory.number_waiting());
    agrees(&results, "rate(left)", 1.25 * theory.abandonment());
}

/// Two come at 2, 4, 6 and 8, and leave at 3, 4, 5, … 9; statistics are of the times from 4 to 10.
const BY_HAND: &str = r#"
unit = "hour"
[resource]
server = { units = 1, cost = { busy = 30, idle = 7, use = "6 - 1" } }
[tally]
stay = { up_to = [0.5, "2 - 0.5", 2, 2] }
[container.tank]
capacity = 20
level = 20
[variable]
seen = { value = 0, level = true }
[entity.customer]
every = 2
batch = 2
do = [
  { use = "server", for = 1 },
  { set = "seen", to = "seen + 1" },
  { get = "tank", amount = 1 },
  { count = "served" },
  { tally = "stay" },
  { tally = "half", value = "real(seen) / 2" },
  { if = "seen > 99", do = [{ tally = "never" }] },
]
"#;

#[test]
fn measures_are_those_that_a_hand_computes() {
    let results = run(BY_HAND, &Study::new(2, 10.0, 4.0));
    let observations = &results.observations[0];
    for (name, expected) in [
        ("stay", 1.5),
        ("deviation(stay)", 0.5),
        ("share(stay <= 0.5)", 0.0),
        ("share(stay <= 2 - 0.5)", 0.5),
        ("share(stay <= 2)", 1.0),
        ("smallest(stay)", 1.0),
        ("largest(stay)", 2.0),
        ("count(stay)", 6.0),
        ("half", (2.0 + 3.0 + 4.0 + 5.0 + 6.0 + 7.0) / 12.0),
        ("deviation(half)", (35.0_f64 / 12.0).sqrt() / 2.0),
        ("smallest(half)", 1.0),
        ("largest(half)", 3.5),
        ("served", 6.0),
        ("rate(served)", 1.0),
        ("average(seen)", 4.5),
        ("level(tank)", 15.5),
        ("queue(tank)", 0.0),
        ("utilisation(server)", 1.0),
        ("queue(server)", 0.5),
        ("uses(server)", 6.0),
        ("cost(server)", 6.0 * 30.0 + 6.0 * 5.0),
        ("cost(all)", 6.0 * 30.0 + 6.0 * 5.0),
        ("count(never)", 0.0),
    ] {
        let found = mean(observations, name);
        assert!((found - expected).abs() < 1e-6, "{name}: {found}, not {expected}");
    }
    assert_eq!(observations.summary("never", 0.95).unwrap().mean, None);
    assert_eq!(results.warnings(), ["`never` was never observed"]);
    let mut csv = Vec::new();
    results.each_to_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|column| *column == name).unwrap();
    assert_eq!(lines.len(), 3);
    assert_eq!((lines[2][column("replication")], lines[2][column("served")]), ("1", "6"));
    assert_eq!(lines[1][column("never")], "");
    assert_eq!(observations.summary("deviation(never)", 0.95).unwrap().mean, None);
    let shown = results.report(0.95).unwrap().to_string();
    assert!(shown.contains("average(seen)") && !shown.contains("above"), "{shown}");
    let measures = compiled(BY_HAND).measures();
    assert!(measures.iter().any(|name| name == "largest(stay)"), "{measures:?}");
}

const DESIGN: &str = r#"
[parameters]
servers = [1, 2, 3]
service = { time = 1.5 }
[resource]
server = "servers"
[entity.customer]
every = { exponential = 1 }
do = [{ count = "came" }, { use = "server", for = "service", tally = "wait" }]
"#;

#[test]
fn points_have_the_same_random_numbers() {
    let compiled = compiled(DESIGN);
    let results = compiled.study(&Study::new(8, 100.0, 10.0)).run().unwrap();
    assert_eq!((results.design.len(), results.design.factors()), (3, &["servers".to_owned()][..]));
    let came = |point: usize| &results.observations[point].column("came").unwrap().values;
    assert!(came(0) == came(1) && came(1) == came(2));
    let waits = [0, 1, 2].map(|point| mean(&results.observations[point], "wait"));
    assert!(waits[0] > waits[1] && waits[1] > waits[2], "{waits:?}");
    // A point alone is the same.
    let mut model = ProcessModel::from_toml(DESIGN).unwrap();
    model.set("servers = 2").unwrap();
    model.ticks_per_unit = Some(compiled.resolution().ticks_per_unit());
    let alone = model.compile().unwrap();
    let alone = alone.study(&Study::new(8, 100.0, 10.0)).run().unwrap();
    let waits = |results: &StudyResults, point: usize| {
        results.observations[point].column("wait").unwrap().values.clone()
    };
    assert_eq!(waits(&alone, 0), waits(&results, 1));
    assert!(model.set("server=2").unwrap_err().to_string().contains("did you mean `servers`"));
    for wrong in ["servers", "servers=", "servers=x", "servers=1,,2"] {
        assert!(matches!(model.set(wrong), Err(ProcessError::Setting { .. })), "{wrong}");
    }
}

#[test]
fn a_study_ends_at_its_precision_or_when_the_watcher_says_so() {
    let text = queue(1, 2.0, "");
    let stopping = Stopping::new(Precision::relative(0.1), Budget::default());
    let results = run(&text, &Study::new(1, 300.0, 50.0).stopping(stopping));
    assert_eq!(results.decisions, [Decision::Reached]);
    let wait = results.observations[0].summary("wait", 0.95).unwrap();
    assert!(wait.relative_half_width().unwrap() <= 0.1, "{wait:?}");
    let compiled = compiled(&text);
    let study = Study::new(2_000, 50.0, 0.0);
    let stop = |runs: usize, _: u64| match runs {
        0..300 => std::ops::ControlFlow::Continue(()),
        _ => std::ops::ControlFlow::Break(()),
    };
    let some = compiled.study(&study).watch(stop).run().unwrap();
    assert!((1..2_000).contains(&some.replications), "{}", some.replications);
    let all =
        compiled.study(&Study::new(u32::try_from(some.replications).unwrap(), 50.0, 0.0)).run().unwrap();
    assert_eq!(all.fingerprint, some.fingerprint);
}

#[test]
fn the_best_point_is_found() {
    let compiled = compiled(DESIGN);
    let study = Study::new(1, 100.0, 10.0);
    let selection = Selection::new(0.5, 0.95).smallest();
    let results = compiled.study(&study).select(&selection, "queue(server)").unwrap();
    let found = results.selected.unwrap();
    assert_eq!(found.best, Some(2), "{found:?}");
    assert!(found.eliminated[0].is_some());
    let wrong = compiled.study(&study).select(&selection, "queue(servers)").unwrap_err();
    assert!(wrong.to_string().contains("did you mean `queue(server)`"), "{wrong}");
}

#[test]
fn room_grows_and_changes_no_result() {
    // 400 customers are in the line at the end, and others in few replications.
    let text = queue(1, 0.5, "");
    let study = Study::new(3, 400.0, 0.0);
    let results = run(&text, &study);
    assert!(mean(&results.observations[0], "queue(server)") > 130.0);
    // With room for all from the beginning.
    let enough = run(&text, &study.room(512));
    assert_eq!((results.fingerprint, results.events), (enough.fingerprint, enough.events));
    let gpu = Gpu::new().expect("an adapter: set up Vulkan, or install lavapipe");
    let compiled = compiled(&text);
    let on_gpu = compiled.study(&study).backend(Backend::Gpu(&gpu)).run().unwrap();
    assert_eq!((results.fingerprint, results.events), (on_gpu.fingerprint, on_gpu.events));
    let line = |observations: &Observations| observations.column("queue(server)").unwrap().values.clone();
    assert_eq!(line(&results.observations[0]), line(&on_gpu.observations[0]));
    // From the CPU to the device after any number of replications.
    for after in 0..=3 {
        let device = OnDemand::from(gpu.clone()).handing_over_after(after);
        let moved = compiled.study(&study).backend(Backend::Auto(&device)).run().unwrap();
        assert_eq!(moved.adapter.is_some(), after < 3, "{after}");
        assert_eq!((results.fingerprint, results.events), (moved.fingerprint, moved.events), "{after}");
        assert_eq!(line(&results.observations[0]), line(&moved.observations[0]), "{after}");
    }
    let full = failing(&text, &study.room(200)).to_string();
    for words in
        ["more than 200 entities", "replication 0 of seed 1", "the longest line is `queue(server)` with 1"]
    {
        assert!(full.contains(words), "{full}");
    }
}

#[test]
fn parts_of_a_study_change_no_result() {
    // Some 100 entities at the end: the room changes after the first part.
    let compiled = compiled(&queue(1, 0.6, ""));
    let run = |replications| compiled.study(&Study::new(replications, 120.0, 20.0)).run().unwrap();
    let (few, many) = (run(20), run(600));
    let values = |results: &StudyResults| {
        let column = results.observations[0].column("stay").unwrap().values.clone();
        (0..20).map(|replication| column.get(replication)).collect::<Vec<_>>()
    };
    assert_eq!((values(&few), many.replications), (values(&many), 600));
    assert_eq!((few.mapping.as_str(), many.mapping.as_str()), ("cores", "cores"));
}

#[test]
fn a_fault_names_entity_statement_and_time() {
    let text = r#"unit = "minute"
[resource]
bed = 3
[entity.patient]
every = 10
attributes = { level = "number", weight = 1 }
do = [
  { if = "level != 2", do = [{ seize = "bed" }] },
  { delay = 4 },
  { release = "bed" },
]
"#;
    let error = failing(text, &Study::new(4, 100.0, 0.0).seed(7));
    let ProcessError::Fault(fault) = &error else { panic!("{error}") };
    assert_eq!((fault.place.line, fault.time, fault.replication.number), (10, 24.0, 0));
    let words =
        ["line 10: `release bed` of `patient` 2 fails at 24 minute in replication 0 of seed 7: ", "holds 0"];
    assert!(words.iter().all(|words| error.to_string().contains(words)), "{error}");
}

#[test]
fn faults_name_what_is_wrong() {
    for (statement, words) in [
        ("{ while = \"x < 2\", do = [{ set = \"x\", to = 1 }] }", "16384 steps"),
        ("{ set = \"x\", to = \"1 / x\" }", "division by zero"),
        ("{ repeat = 40, do = [{ set = \"x\", to = \"2 * (x + 1)\" }] }", "does not fit"),
        (
            "{ seize = \"bed\", units = \"x + 9\" }, { release = \"bed\", units = \"x + 9\" }",
            "a request of 9",
        ),
        ("{ count = \"n\", by = \"x - 5\" }", "would be reduced by 5"),
        ("{ if = \"x == 0\", do = [{ seize = \"bed\" }] }", "ends while it holds `bed`"),
    ] {
        let text = format!(
            "[resource]\nbed = 3\n[entity.patient]\nat_start = 1\nattributes = {{ x = 0, y = 0 }}\ndo = [{{ delay = 1 }}, {statement}]\n"
        );
        let error = failing(&text, &Study::new(1, 10.0, 0.0));
        assert!(matches!(error, ProcessError::Fault(_)), "{error}");
        let shown = error.to_string();
        assert!(shown.contains(words) && shown.contains("`patient` 1"), "{shown}");
    }
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let text = r#"
[resource]
fork = 1
knife = 1
[entity.anna]
at_start = 1
do = [
  { seize = "fork" },
  { delay = 1 },
  { seize = "knife" },
  { release = { fork = 1, knife = 1 } },
]
[entity.berta]
at_start = 1
do = [
  { seize = "knife" },
  { delay = 2 },
  { seize = "fork" },
  { release = { fork = 1, knife = 1 } },
]
"#;
    let study = Study::new(2, 100.0, 0.0);
    let error = failing(text, &study);
    let ProcessError::Deadlock(found) = &error else { panic!("{error}") };
    assert_eq!((found.time, found.waits.len(), found.replication.number), (2.0, 2, 0));
    for words in [
        "1 `anna` waits in line 10: `seize knife` (1 of 1 `knife` in use, held by `berta` in line 18)",
        "1 `berta` waits in line 18: `seize fork` (1 of 1 `fork` in use, held by `anna` in line 10)",
    ] {
        assert!(error.to_string().contains(words), "{error}");
    }
    let accepted = run(text, &study.allow_deadlock(true));
    assert_eq!(mean(&accepted.observations[0], "queue(fork)"), 0.98);
}

#[test]
fn times_that_do_not_fit_are_refused() {
    let compiled = compiled(BY_HAND);
    for (until, warm_up, words) in [
        (10.0, 10.0, "statistics begin at 10"),
        (-1.0, 0.0, "the end of the run"),
        (10.0, f64::NAN, "the end of the warm-up"),
        (1e12, 0.0, "ticks"),
    ] {
        let error = compiled.study(&Study::new(1, until, warm_up)).run().unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(compiled.study(&Study::new(0, 10.0, 0.0)).run().is_err());
}

#[test]
fn a_model_that_measures_nothing_runs() {
    let nothing = compiled("[entity.visitor]\nevery = 1\ndo = [{ delay = 1 }]\n");
    let study = Study::new(3, 10.0, 0.0);
    let results = nothing.study(&study).run().unwrap();
    assert_eq!(results.replications, 3);
    let [warning] = &results.warnings()[..] else { panic!("{:?}", results.warnings()) };
    assert!(warning.contains("measures nothing"), "{warning}");
    assert!(results.report(0.95).unwrap().rows.is_empty());
    assert_eq!(nothing.trace(&study, 0, 3).unwrap().len(), 3);
    let stopping = Stopping::new(Precision::relative(0.1), Budget::default());
    let error = nothing.study(&study.stopping(stopping)).run().unwrap_err();
    assert!(error.to_string().contains("measures nothing"), "{error}");
}

#[test]
fn a_trace_reports_the_fault_of_a_note() {
    let noted = compiled(
        "[entity.visitor]\nevery = 1\n\
         do = [{ note = \"odd\", value = \"1 / (number - 3)\" }, { count = \"c\" }]\n",
    );
    let study = Study::new(1, 10.0, 0.0);
    assert_eq!(noted.study(&study).run().unwrap().replications, 1);
    let error = noted.trace(&study, 0, 200).unwrap_err();
    assert!(matches!(error, ProcessError::Fault(_)), "{error}");
    assert!(error.to_string().contains("division by zero"), "{error}");
}

#[test]
fn ticks_are_fine_enough_for_attributes_and_rates() {
    for text in [
        "until = 1000\n[entity.e]\nevery = 1\nattributes = { a = { exponential = 0.001 } }\n\
         do = [{ delay = \"a\" }, { tally = \"x\" }]\n",
        "until = 10\n[entity.e]\nrates = [{ lasts = 5, rate = 1000 }, { lasts = 5, rate = 10 }]\n\
         do = [{ count = \"c\" }]\n",
    ] {
        let resolution = compiled(text).resolution();
        assert!(resolution.is_fine(0.001), "{resolution:?}: {text}");
    }
}

#[test]
fn events_count_once_where_a_run_begins_again_with_more_room() {
    // The crowd comes after a slice of 16,384 events; pending events have no room for it at first.
    let text = "[entity.tick]\nat_start = 1\ndo = [{ forever = [{ delay = 1 }, { count = \"ticks\" }] }]\n\
                [entity.crowd]\ntimes = [20000]\nbatch = 6000\ndo = [{ delay = 10 }]\n";
    let mut most = 0;
    let watch = |_: usize, events: u64| {
        most = most.max(events);
        std::ops::ControlFlow::<()>::Continue(())
    };
    let results = compiled(text).study(&Study::new(1, 20_001.0, 0.0)).watch(watch).run().unwrap();
    assert_eq!(mean(&results.observations[0], "ticks"), 20_000.0);
    assert!(most <= results.events, "{most} of {}", results.events);
}

#[test]
fn one_run_is_shown_over_time_and_entity_by_entity() {
    let compiled = compiled(BY_HAND);
    let study = Study::new(1, 10.0, 4.0);
    let course = compiled.timeline(&study, 0, 5).unwrap();
    let averages = |name: &str| &course.averages.iter().find(|(of, _)| of == name).unwrap().1;
    assert_eq!((course.part, course.unit.as_str()), (2.0, "hour"));
    for (name, expected) in [
        ("in_use(server)", [0.0, 1.0, 1.0, 1.0, 1.0]),
        ("queue(server)", [0.0, 0.5, 0.5, 0.5, 0.5]),
        ("average(seen)", [0.0, 0.5, 2.5, 4.5, 6.5]),
    ] {
        let found = averages(name);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{name}: {found:?}");
    }
    let changes = compiled.trace(&study, 0, 5).unwrap();
    let shown: Vec<_> =
        changes.iter().map(|of| (of.time, of.number, of.what, of.statement.as_str())).collect();
    let expected = [
        (2.0, 1, "delays", "use server"),
        (2.0, 2, "waits", "use server"),
        (3.0, 1, "ends", ""),
        (3.0, 2, "delays", "use server"),
        (4.0, 2, "ends", ""),
    ];
    assert_eq!(shown, expected);
    assert!(changes.iter().all(|change| change.entity == "customer"));
    assert!(compiled.timeline(&study, 0, 0).is_err());
}
