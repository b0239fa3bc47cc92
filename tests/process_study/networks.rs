//! Networks that run as process models: against theory, against the interpreter of networks, and
//! by hand.

use std::path::PathBuf;

use eventhorizon::Backend;
use eventhorizon::facility::{Discipline, Measure, Network, Report, Row, Study};
use eventhorizon::process::{NetworkProcess, ProcessError};

use crate::long::is_long;

pub(super) fn network(text: &str) -> Network {
    Network::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The report of a network as a process model.
pub(super) fn translated(network: &Network, study: &Study) -> Result<Report, ProcessError> {
    let process = NetworkProcess::new_unstable(network)?;
    let plan = process.study(study)?.allow_deadlock(false);
    let results = process.compiled().study(&plan).backend(Backend::Cpu).run()?;
    process.report(study, &results)
}

pub(super) fn reported(text: &str, study: &Study) -> Report {
    translated(&network(text), study).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(super) fn row<'r>(report: &'r Report, node: &str, class: Option<&str>, measure: Measure) -> &'r Row {
    let all = || report.rows.iter().find(|row| class.is_none() && row.node == node && row.measure == measure);
    // Of one class, there are no rows for all.
    report
        .row(node, class, measure)
        .or_else(all)
        .unwrap_or_else(|| panic!("{node} {class:?} {measure}: not reported"))
}

/// Checks that an interval of level 0.9999 contains a value, and is not too wide.
pub(super) fn agrees(report: &Report, (node, class, measure): (&str, Option<&str>, Measure), expected: f64) {
    let row = row(report, node, class, measure);
    let (lower, upper) = (row.lower.unwrap(), row.upper.unwrap());
    assert!(
        lower <= expected && expected <= upper,
        "{node} {class:?} {measure}: {expected}, {lower} to {upper}"
    );
    assert!(upper - lower < 0.4 * expected.abs(), "{node} {class:?} {measure}: {lower} to {upper}");
}

/// The mean number in line of Erlang A with one server: n customers leave at the rate
/// 1 + (n - 1) / 2, and come at the rate 1.
pub(super) fn waiting_of_erlang_a() -> f64 {
    let mut weights = vec![1.0];
    for customers in 1..200 {
        weights.push(weights[customers - 1] / (1.0 + 0.5 * (customers - 1) as f64));
    }
    let all: f64 = weights.iter().sum();
    weights.iter().enumerate().skip(1).map(|(n, w)| w * (n - 1) as f64).sum::<f64>() / all
}

pub(super) fn plan(replications: u32, until: f64, warm_up: f64) -> Study {
    Study::new(replications, until, warm_up).seed(11).level(0.9999)
}

const FIVE: &str = r#"
name = "five"
classes = ["one", "two", "three", "four", "five"]
source.a = { interarrival = { exponential = 10 }, class = "one", to = "desk" }
source.b = { interarrival = { exponential = 8 }, class = "two", to = "desk" }
source.c = { interarrival = { exponential = 10 }, class = "three", to = "desk" }
source.d = { interarrival = { exponential = 6 }, class = "four", to = "desk" }
source.e = { interarrival = { exponential = 9 }, class = "five", to = "desk" }
station.desk = { discipline = "priority", service = { erlang = { stages = 2, mean = 1.2 } }, service_of.one = { exponential = 2 }, to = "out" }
sink.out = {}
"#;

#[test]
fn five_classes_agree_with_cobham() {
    let report = reported(FIVE, &plan(64, 12_000.0, 1000.0));
    let mut compared = 0;
    for row in report.rows.iter().filter(|row| row.theory.is_some()) {
        agrees(&report, (&row.node, row.class.as_deref(), row.measure), row.theory.unwrap());
        compared += 1;
    }
    // Five measures of five classes and of all at the desk, and what follows from them.
    assert!(compared >= 30, "{compared}");
    // The shares of the server add up.
    let of = |class| row(&report, "desk", class, Measure::Utilisation).mean.unwrap();
    let classes: f64 = ["one", "two", "three", "four", "five"].iter().map(|class| of(Some(class))).sum();
    assert!((classes - of(None)).abs() < 1e-9);
}

/// White and Christie (1958): the number of customers of an M/M/1 that breaks down, also when it is
/// idle.
pub(super) fn unreliable(arrival: f64, service: f64, failure: f64, repair: f64) -> f64 {
    let all = failure + repair;
    arrival * (all * all + failure * service) / (all * (repair * service - arrival * all))
}

const BREAKING: &str = r#"
name = "breaking"
classes = ["high", "low"]
source.a = { interarrival = { exponential = 5 }, class = "high", to = "machine" }
source.b = { interarrival = { exponential = 2.5 }, class = "low", to = "machine" }
sink.out = {}
[station.machine]
discipline = "preemptive"
service = { exponential = 1 }
breakdown = { up = { exponential = 10 }, down = { exponential = 2 } }
to = "out"
"#;

#[test]
fn a_preemptive_station_that_breaks_down_agrees_with_theory() {
    let breaking = network(BREAKING);
    assert!(breaking.compile().is_err_and(|error| error.needs_process()));
    let report = reported(BREAKING, &plan(100, 4000.0, 400.0));
    let number = |class, expected| agrees(&report, ("machine", class, Measure::Number), expected);
    number(Some("high"), unreliable(0.2, 1.0, 0.1, 0.5));
    // All services have one exponential time, so the order does not change the number of all.
    number(None, unreliable(0.6, 1.0, 0.1, 0.5));
    agrees(&report, ("machine", None, Measure::Down), 2.0 / 12.0);
    agrees(&report, ("machine", None, Measure::Busy), 0.6);
}

/// All networks that ship and that both forms run.
fn shipped() -> Vec<(String, Network)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/networks");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, network(&std::fs::read_to_string(&path).unwrap()))
    };
    let mut all: Vec<_> = files.map(read).collect();
    all.retain(|(_, network)| network.compile().is_ok() && NetworkProcess::new(network).is_ok());
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// Checks that two reports have the same rows, whose means are within six standard errors.
fn compare(name: &str, one: &Report, two: &Report) {
    let head = |report: &Report| {
        let rows = report.rows.iter();
        rows.map(|row| (row.node.clone(), row.class.clone(), row.measure)).collect::<Vec<_>>()
    };
    assert_eq!(head(one), head(two), "{name}");
    for (one, two) in one.rows.iter().zip(&two.rows) {
        let (Some(a), Some(b)) = (one.mean, two.mean) else {
            assert_eq!(one.mean, two.mean, "{name}: {one:?} {two:?}");
            continue;
        };
        // Half a width at the level 0.95 is about two standard errors.
        let width = |row: &Row| (row.upper.unwrap_or(a) - row.lower.unwrap_or(a)) / 2.0;
        let allowed = 3.0 * width(one).hypot(width(two)) + 1e-9 * a.abs();
        let place = format!("{name}: {} {:?} {}", one.node, one.class, one.measure);
        assert!((a - b).abs() <= allowed, "{place}: {a} and {b}, {allowed} allowed");
    }
}

#[test]
fn both_forms_agree_where_both_run_a_network() {
    let networks = shipped();
    // All but those with shared servers, polling and lines in random order.
    assert!(networks.len() >= 14, "{}", networks.len());
    for (name, network) in networks {
        let until = network.until.unwrap_or(1000.0) * if is_long() { 0.5 } else { 0.02 };
        let study = Study::new(24, until, until / 10.0).seed(5);
        let facility = network.compile().unwrap();
        let interpreted = facility.study(&study).backend(Backend::Cpu).run().unwrap();
        let translated = translated(&network, &study).unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &interpreted, &translated);
    }
}

#[test]
fn preemption_of_one_class_before_a_full_station_is_first_come_first_served() {
    let fifo = network(
        r#"
name = "line"
source.in = { interarrival = { exponential = 1.4 }, to = "first" }
station.first = { servers = 2, service = { exponential = 2 }, to = "second" }
station.second = { capacity = 2, when_full = "block", service = { exponential = 1 }, to = "out" }
sink.out = {}
"#,
    );
    let mut preemptive = fifo.clone();
    preemptive.stations["first"].discipline = Discipline::Preemptive;
    assert!(preemptive.compile().is_err_and(|error| error.needs_process()));
    let study = Study::new(32, 2000.0, 200.0).seed(3);
    let facility = fifo.compile_unstable().unwrap();
    let interpreted = facility.study(&study).backend(Backend::Cpu).run().unwrap();
    compare("line", &interpreted, &translated(&preemptive, &study).unwrap());
}

/// A customer every 10, two services, and a breakdown of 3 after each 12.
#[test]
fn a_breakdown_and_a_full_station_by_hand() {
    let report = reported(
        r#"
name = "hand"
source.in = { interarrival = { constant = 10 }, to = "first" }
sink.out = {}
[station.first]
service = { constant = 6 }
breakdown = { up = { constant = 12 }, down = { constant = 3 } }
to = "second"
[station.second]
capacity = 1
when_full = "block"
service = { constant = 9 }
to = "out"
"#,
        &Study::new(2, 44.0, 0.0),
    );
    // Down 12 to 15 and 27 to 30 and 42 to 44. First: 10 to 12 and 15 to 19; 20 to 26, blocked to
    // 28; 30 to 36, blocked to 37; 40 to 42. Second: 19 to 28, 28 to 37, 37 to 46.
    let mean = |node, measure| row(&report, node, None, measure).mean.unwrap();
    let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} {expected}");
    close(mean("first", Measure::Blocked), (2.0 + 1.0) / 44.0);
    close(mean("first", Measure::Down), (3.0 + 3.0 + 2.0) / 44.0);
    close(mean("first", Measure::Busy), (2.0 + 4.0 + 6.0 + 6.0 + 2.0) / 44.0);
    close(mean("first", Measure::Sojourn), (9.0 + 8.0 + 7.0) / 3.0);
    close(mean("second", Measure::Utilisation), (44.0 - 19.0) / 44.0);
    close(mean("out", Measure::Sojourn), (18.0 + 17.0) / 2.0);
}

/// M/M/2 with 1.5 arrivals in a mean service.
const PAIR: &str = r#"
name = "pair"
classes = ["a", "b"]
source.in_a = { interarrival = { exponential = 2 }, class = "a", to = "desk" }
source.in_b = { interarrival = { exponential = 1 }, class = "b", to = "desk" }
station.desk = { servers = 2, service = { exponential = 1 }, to = "out" }
sink.out = {}
"#;

#[test]
fn groups_with_all_skills_are_one_station() {
    let pair = network(PAIR);
    let mut groups = pair.clone();
    let desk = &mut groups.stations["desk"];
    desk.servers = 1;
    *desk = desk.clone().with_group("first", 1, &["a", "b"]).with_group("second", 1, &["b", "a"]);
    let study = Study::new(40, 2000.0, 200.0).seed(2);
    let interpreted = pair.compile().unwrap().study(&study).backend(Backend::Cpu).run().unwrap();
    compare("fifo", &interpreted, &translated(&groups, &study).unwrap());
    let mut priority = pair;
    priority.stations["desk"].discipline = Discipline::Priority;
    groups.stations["desk"].discipline = Discipline::Priority;
    let interpreted = priority.compile().unwrap().study(&study).backend(Backend::Cpu).run().unwrap();
    compare("priority", &interpreted, &translated(&groups, &study).unwrap());
}

#[test]
fn groups_with_one_skill_each_are_stations_of_their_own() {
    let text = PAIR.replace(
        "servers = 2",
        r#"groups.a = { servers = 1, serves = ["a"] }, groups.b = { servers = 1, serves = ["b"], speed = 2 }"#,
    );
    let report = reported(&text, &plan(60, 3000.0, 300.0));
    // Two M/M/1 with loads of one half.
    agrees(&report, ("desk", Some("a"), Measure::Number), 1.0);
    agrees(&report, ("desk", Some("b"), Measure::Number), 1.0);
    agrees(&report, ("desk", Some("a"), Measure::Wait), 1.0);
    agrees(&report, ("desk", Some("b"), Measure::Wait), 0.5);
    agrees(&report, ("desk", None, Measure::Utilisation), 0.5);
    // No group serves a class.
    let none = text.replace(r#"["b"]"#, r#"["a"]"#);
    let error = NetworkProcess::new(&network(&none)).unwrap_err().to_string();
    assert!(error.contains("`b` customers reach `desk`") && error.contains("group"), "{error}");
}

#[test]
fn customers_whose_patience_ends_go_to_another_node() {
    let report = reported(
        r#"
name = "overflow"
source.in = { interarrival = { exponential = 1 }, to = "desk" }
station.desk = { service = { exponential = 1 }, patience = { exponential = 2 }, reneged_to = "machine", to = "out" }
delay.machine = { time = { constant = 3 }, to = "out" }
sink.out = {}
"#,
        &plan(60, 3000.0, 300.0),
    );
    let waiting = waiting_of_erlang_a();
    agrees(&report, ("desk", None, Measure::Queue), waiting);
    agrees(&report, ("desk", None, Measure::Reneged), 0.5 * waiting);
    agrees(&report, ("machine", None, Measure::Throughput), 0.5 * waiting);
    agrees(&report, ("out", None, Measure::Throughput), 1.0);
}

#[test]
fn setups_between_classes_take_their_share() {
    let report = reported(
        r#"
name = "setups"
classes = ["a", "b"]
source.in_a = { interarrival = { exponential = 5 }, class = "a", to = "machine" }
source.in_b = { interarrival = { exponential = 5 }, class = "b", to = "machine" }
sink.out = {}
[station.machine]
service = { exponential = 1 }
setup = { constant = 1 }
setup_of.b = { uniform = [0, 1] }
to = "out"
"#,
        &plan(60, 3000.0, 300.0),
    );
    // First come, first served: the classes are independent, so every second service has a setup.
    agrees(&report, ("machine", Some("a"), Measure::Utilisation), 0.2 * (1.0 + 0.5 * 1.0));
    agrees(&report, ("machine", Some("b"), Measure::Utilisation), 0.2 * (1.0 + 0.5 * 0.5));
}

#[test]
fn a_region_bounds_its_nodes_together() {
    let report = reported(
        r#"
name = "region"
source.in = { interarrival = { exponential = 1 }, to = "first" }
delay.first = { time = { exponential = 0.5 }, to = "second" }
delay.second = { time = { exponential = 1 }, to = "out" }
region.both = { nodes = ["first", "second"], capacity = 2 }
sink.out = {}
"#,
        &plan(60, 4000.0, 400.0),
    );
    // Those inside are an M/G/2 with a load of 1.5 in all.
    agrees(&report, ("first", None, Measure::Number), 0.5);
    agrees(&report, ("second", None, Measure::Number), 1.0);
    // One of them alone, with exponential times, is an M/M/2.
    let alone = r#"
name = "alone"
source.in = { interarrival = { exponential = 1 }, to = "first" }
delay.first = { time = { exponential = 1.5 }, to = "out" }
region.one = { nodes = ["first"], capacity = 2 }
sink.out = {}
"#;
    let crowded = network(&alone.replace("capacity = 2", "capacity = 1"));
    let error = NetworkProcess::new(&crowded).unwrap_err().to_string();
    assert!(error.contains("region `one` need 1.500 times its places"), "{error}");
    let report = reported(alone, &plan(60, 4000.0, 400.0));
    let waiting = 1.5 * 1.5 * 1.5 / (4.0 - 1.5 * 1.5);
    let whole = report.rows.iter().find(|row| row.node == "(network)").unwrap();
    assert!(whole.lower.unwrap() < 1.5 + waiting && 1.5 + waiting < whole.upper.unwrap(), "{whole:?}");
    agrees(&report, ("out", None, Measure::Sojourn), 1.5 + waiting);
}

#[test]
fn the_least_work_of_several_lines_is_one_line_for_all() {
    let text = r#"
name = "least"
source.in = { interarrival = { exponential = 1 }, to = { least_work = ["one", "two"] } }
station.one = { service = { exponential = 1.5 }, to = "out" }
station.two = { service = { exponential = 1.5 }, to = "out" }
sink.out = {}
"#;
    let report = reported(text, &plan(60, 4000.0, 400.0));
    // Each customer begins as early as in the line of an M/M/2.
    let waiting = 1.5 * 1.5 * 1.5 / (4.0 - 1.5 * 1.5);
    agrees(&report, ("out", None, Measure::Sojourn), 1.5 + waiting);
    // Of two lines, two at random are all.
    let of_two =
        text.replace(r#"{ least_work = ["one", "two"] }"#, r#"{ shortest = ["one", "two"], of = 2 }"#);
    let shortest = network(&of_two.replace(", of = 2", ""));
    let study = Study::new(60, 2000.0, 200.0).seed(2);
    let interpreted = shortest.compile().unwrap().study(&study).backend(Backend::Cpu).run().unwrap();
    let translated = translated(&network(&of_two), &study).unwrap();
    let of = |report: &Report| row(report, "out", None, Measure::Sojourn).clone();
    let (one, two) = (of(&interpreted), of(&translated));
    let allowed = 3.0 * one.half_width.unwrap().hypot(two.half_width.unwrap());
    assert!((one.mean.unwrap() - two.mean.unwrap()).abs() < allowed, "{one:?} {two:?}");
}

#[test]
fn priorities_that_age_lie_between_priorities_and_the_order_of_arrival() {
    let wait = |aging: &str, class: &str| {
        let text = PAIR.replace("servers = 2,", &format!(r#"servers = 2, discipline = "priority", {aging}"#));
        row(&reported(&text, &plan(40, 3000.0, 300.0)), "desk", Some(class), Measure::Wait).mean.unwrap()
    };
    let [none, slow, fast] =
        ["", "aging = 2,", "aging = 0.0001,"].map(|aging| ["a", "b"].map(|class| wait(aging, class)));
    assert!(none[0] < 0.9 * slow[0] && slow[0] < 0.9 * fast[0], "{none:?} {slow:?} {fast:?}");
    assert!(none[1] > slow[1] && slow[1] > fast[1], "{none:?} {slow:?} {fast:?}");
    // Nearly first come, first served: both wait as long.
    assert!((fast[0] / fast[1] - 1.0).abs() < 0.05, "{fast:?}");
    // Kleinrock's conservation law.
    let work = |[a, b]: [f64; 2]| 0.5 * a + b;
    assert!((work(none) / work(fast) - 1.0).abs() < 0.05 && (work(slow) / work(fast) - 1.0).abs() < 0.05);
}

/// Arrivals at 10, 30 …, services of 6, no server from 12 to 20 and so on.
const SHIFTS: &str = r#"
name = "shifts"
source.in = { interarrival = { constant = 10 }, to = "desk" }
sink.out = {}
[station.desk]
service = { constant = 6 }
schedule = [{ lasts = 12, servers = 1 }, { lasts = 8, servers = 0 }]
shift = "preempt"
to = "out"
"#;

#[test]
fn shifts_end_with_interrupted_services() {
    let sojourn = |interrupted: &str| {
        let text = SHIFTS.replace(r#"shift = "preempt""#, &format!("shift = \"preempt\"\n{interrupted}"));
        let report = reported(&text, &Study::new(2, 31.0, 0.0));
        row(&report, "desk", None, Measure::Sojourn).mean.unwrap()
    };
    let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} {expected}");
    // The first from 10 to 12 and 20 to 24, the second from 24 to 30.
    close(sojourn(""), (14.0 + 10.0) / 2.0);
    // Again from 20 to 26; the second from 26 on is interrupted at 32.
    close(sojourn("interrupted = \"repeat\""), 16.0);
    close(sojourn("interrupted = \"restart\""), 16.0);
    // Completed, from 10 to 16: the schedule of the network form.
    let finished = network(&SHIFTS.replace("shift = \"preempt\"\n", ""));
    assert!(finished.compile_unstable().is_ok());
}

#[test]
fn times_of_a_list_are_the_arrivals_of_each_class() {
    let text = r#"
name = "list"
classes = ["a", "b"]
source.first = { times = { times = [0.5, 1.0, 1.0, 4.0], classes = ["a", "b", "a", "a"] }, class = "a", to = "desk" }
source.second = { times = { times = [0.5, 1.0, 1.0, 4.0], classes = ["a", "b", "a", "a"] }, class = "b", batch = 2, to = "desk" }
station.desk = { service = { constant = 1.0 }, to = "out" }
sink.out = {}
"#;
    assert!(network(text).compile().is_err_and(|error| error.needs_process()));
    let report = reported(text, &plan(2, 10.0, 0.0));
    let value = |class: &str, measure| row(&report, "desk", Some(class), measure).mean.unwrap();
    assert!((value("a", Measure::Throughput) - 0.3).abs() < 1e-9);
    assert!((value("b", Measure::Throughput) - 0.2).abs() < 1e-9);
    // Services begin at 0.5, 1.5, 2.5, 3.5 and 4.5: three at time 1 wait 0.5, 1.5 and 2.5.
    let waits = 3.0 * value("a", Measure::Wait) + 2.0 * value("b", Measure::Wait);
    assert!((waits - 5.0).abs() < 1e-6, "{report}");
}

#[test]
fn a_markovian_arrival_process_has_its_rate_and_its_bursts() {
    // A quarter of the time 8 arrivals by unit, else none: bursts of the mean length 1.
    let text = r#"
name = "bursts"
source.in = { map = { d0 = [[-9.0, 1.0], [0.3333333333333333, -0.3333333333333333]], d1 = [[8.0, 0.0], [0.0, 0.0]] }, to = "stay" }
delay.stay = { time = { exponential = 0.5 }, to = "out" }
sink.out = {}
"#;
    let report = reported(text, &plan(64, 2000.0, 100.0));
    agrees(&report, ("in", None, Measure::Throughput), 2.0);
    agrees(&report, ("stay", None, Measure::Number), 1.0);
    let one = text.replace("exponential = 0.5", "exponential = 0.25");
    agrees(&reported(&one, &plan(64, 2000.0, 100.0)), ("stay", None, Measure::Number), 0.5);
    // With one phase it is a Poisson process.
    let poisson = r#"
name = "poisson"
source.in = { map = { d0 = [[-0.5]], d1 = [[0.5]] }, to = "desk" }
station.desk = { service = { exponential = 1 }, to = "out" }
sink.out = {}
"#;
    agrees(&reported(poisson, &plan(100, 3000.0, 300.0)), ("desk", None, Measure::Number), 1.0);
}

#[test]
fn rates_of_any_renewal_source_slow_its_clock() {
    // Constant times: arrivals are the whole times of a clock that runs at the rate of the day.
    let text = r#"
name = "day"
source.in = { interarrival = { constant = 2 }, rates = [{ lasts = 10, factor = 1 }, { lasts = 10, factor = 0 }, { lasts = 20, factor = 0.5 }], to = "stay" }
delay.stay = { time = { constant = 1 }, to = "out" }
sink.out = {}
"#;
    // The clock is at 20 after each 40 units: 10 arrivals of 2.
    let count = |until: f64| {
        let report = reported(text, &plan(2, until, 0.0));
        (row(&report, "in", None, Measure::Throughput).mean.unwrap() * until).round()
    };
    // At 2, 4, 6, 8 and 10, and after the pause each 4 units.
    assert_eq!([9.0, 21.0, 23.0, 25.0, 41.0, 401.0].map(count), [4.0, 5.0, 5.0, 6.0, 10.0, 100.0]);
    // An exponential time has the same distribution in both forms.
    let erlang = text.replace("constant = 2", "erlang = { stages = 1, mean = 0.5 }");
    let exponential = text.replace("constant = 2", "exponential = 0.5");
    for text in [erlang, exponential] {
        let report = reported(&text, &plan(100, 400.0, 0.0));
        agrees(&report, ("in", None, Measure::Throughput), 1.0);
    }
}

#[test]
fn arrivals_that_say_two_things_are_refused() {
    let refused = |source: &str, word: &str| {
        let text = format!("name = \"n\"\nsource.in = {{ {source}, to = \"out\" }}\nsink.out = {{}}\n");
        let error = Network::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(word), "{source}: {error}");
    };
    refused("class = \"a\"", "missing field `interarrival`");
    refused("times = [1.0], map = { d0 = [[-1.0]], d1 = [[1.0]] }", "choose one");
    refused("times = [1.0], interarrival = { constant = 1 }", "choose one");
    refused("times = [2.0, 1.0]", "increasing order");
    refused("map = { d0 = [[-1.0]], d1 = [[2.0]] }", "row 1");
    refused("times = [1.0], rates = [{ lasts = 1, factor = 1 }]", "`rates`");
    // Written and read again.
    let text =
        "name = \"n\"\nsource.in = { map = { d0 = [[-3.0]], d1 = [[3.0]] }, to = \"out\" }\nsink.out = {}\n";
    let written = serde_json::to_string(&network(text)).unwrap();
    assert_eq!(Network::from_json(&written).unwrap(), network(text));
    let unknown = "name = \"n\"\nsource.in = { times = { times = [1.0], classes = [\"b\"] }, to = \"out\" }\nsink.out = {}\n";
    assert!(NetworkProcess::new(&network(unknown)).unwrap_err().to_string().contains("`b`"));
}

#[test]
fn the_emergency_department_has_the_flows_that_its_description_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/networks/triage.toml");
    let triage = network(&std::fs::read_to_string(path).unwrap());
    assert!(triage.compile().is_err_and(|error| error.needs_process()));
    NetworkProcess::new(&triage).unwrap();
    let report = translated(&triage, &plan(24, 30_000.0, 3000.0)).unwrap();
    let rates = [1.0 / 90.0, 1.0 / 40.0, 1.0 / 15.0, 1.0 / 20.0, 1.0 / 30.0];
    agrees(&report, ("home", None, Measure::Throughput), rates.iter().sum());
    agrees(&report, ("bed", None, Measure::Number), (rates[0] + 0.5 * rates[1]) * 240.0);
    // All whose patience ends go to the clinic.
    let of = |node, measure| row(&report, node, Some("not_urgent"), measure).mean.unwrap();
    let reneged = of("doctors", Measure::Reneged) * rates[4];
    assert!((of("clinic", Measure::Throughput) / reneged - 1.0).abs() < 0.1, "{reneged}");
}
