//! Stations that wait for each other for ever while other things happen: both forms of networks
//! name them, and no others.

use std::ops::ControlFlow;

use eventhorizon::Backend;
use eventhorizon::facility::{FacilityError, Measure, Network, Report, Study};
use eventhorizon::process::{NetworkProcess, ProcessError};
use eventhorizon::statistics::Intervals;

use crate::networks::{network, row, translated};

/// Stations that block, beside one with arrivals.
fn with_bystander(stations: &str) -> Network {
    network(&format!(
        r#"
name = "circle"
classes = ["x", "y"]
source.in = {{ interarrival = {{ exponential = 2 }}, class = "y", to = "bystander" }}
station.bystander = {{ service = {{ exponential = 1 }}, to = "out" }}
sink.out = {{}}
{stations}
"#
    ))
}

/// The names of a deadlock, or the report.
fn outcome(result: Result<Report, ProcessError>) -> Result<Report, String> {
    result.map_err(|error| match error {
        ProcessError::Network(error) => named(*error),
        error => panic!("{error}"),
    })
}

fn named(error: FacilityError) -> String {
    match error {
        FacilityError::Deadlock { nodes, replication: 0 } => nodes,
        error => panic!("{error}"),
    }
}

/// Both forms find this deadlock, or none. The throughput of `a` in each form.
#[track_caller]
fn both(network: &Network, until: f64, expected: Option<&str>) -> [f64; 2] {
    let study = Study::new(2, until, 0.0);
    let process = outcome(translated(network, &study));
    let facility = network.compile_unstable().unwrap();
    let facility = facility.study(&study).backend(Backend::Cpu).run().map_err(named);
    [process, facility].map(|found| {
        assert_eq!(found.as_ref().err().map(String::as_str), expected);
        found.map_or(0.0, |report| row(&report, "a", None, Measure::Throughput).mean.unwrap())
    })
}

/// A circle of stations with a server, a customer and a number of places each.
fn circle(places: &[u32]) -> Network {
    let names = ["a", "b", "c"];
    let count = places.len();
    let station = |(number, places): (usize, &u32)| {
        let to = names[(number + 1) % count];
        format!(
            "station.{} = {{ service = {{ exponential = 1 }}, capacity = {places}, when_full = \"block\", population = 1, to = \"{to}\" }}\n",
            names[number]
        )
    };
    with_bystander(&places.iter().enumerate().map(station).collect::<String>())
}

#[test]
fn a_full_circle_is_named_while_others_are_served() {
    for places in [&[1, 1][..], &[1, 1, 1]] {
        let names = ["`a`, `b`", "`a`, `b`, `c`"][places.len() - 2];
        both(&circle(places), 100.0, Some(names));
        // One more place is enough.
        let mut more = places.to_vec();
        *more.last_mut().unwrap() = 2;
        assert!(both(&circle(&more), 100.0, None).iter().all(|moves| *moves > 0.2));
    }
}

/// `before` waits for the circle.
#[test]
fn an_open_circle_deadlocks_by_chance() {
    let text = |leaves: &str| {
        with_bystander(&format!(
            r#"
source.work = {{ interarrival = {{ exponential = 1 }}, class = "x", to = "before" }}
station.before = {{ service = {{ exponential = 0.5 }}, capacity = 9, to = "a" }}
station.a = {{ service = {{ exponential = 1 }}, capacity = 2, when_full = "block", to = "door" }}
router.door = {{ to = "b" }}
station.b = {{ service = {{ exponential = 1 }}, capacity = 2, when_full = "block", to = {leaves} }}
"#
        ))
    };
    let returns = text(r#"[{ node = "a", probability = 0.5 }, "out"]"#);
    let found = outcome(translated(&returns, &Study::new(2, 2000.0, 0.0)));
    assert_eq!(found.unwrap_err(), "`before`, `a`, `b`");
    // A line without a circle is as full, and never stops.
    let leaves = text("\"out\"");
    let report = outcome(translated(&leaves, &Study::new(2, 2000.0, 0.0))).unwrap();
    assert!(row(&report, "b", None, Measure::Throughput).mean.unwrap() > 0.4, "{report}");
    // The other form has no router before a station that blocks.
    let direct = |network: &Network| {
        let mut network = network.clone();
        network.stations["a"].to = "b".into();
        network.routers.clear();
        network
    };
    both(&direct(&returns), 2000.0, Some("`before`, `a`, `b`"));
    both(&direct(&leaves), 2000.0, None);
}

/// One of two servers is blocked from 1 on, the other one serves until 50.
#[test]
fn all_servers_have_to_wait() {
    let text = |to: &str| {
        with_bystander(&format!(
            r#"
[station.a]
servers = 2
capacity = 2
when_full = "block"
population_of = {{ x = 1, y = 1 }}
service = {{ constant = 1 }}
service_of.y = {{ constant = 50 }}
to = {to}
[station.b]
capacity = 1
when_full = "block"
population = 1
service = {{ constant = 1 }}
to = "a"
"#
        ))
    };
    let all = text("\"b\"");
    let found = |network: &Network, until: f64| {
        let study = Study::new(1, until, 0.0);
        let facility = network.compile().unwrap().study(&study).backend(Backend::Cpu).run().map_err(named);
        [outcome(translated(network, &study)), facility].map(|found| found.err())
    };
    assert_eq!(found(&all, 49.5), [None, None]);
    assert_eq!(found(&all, 50.5), [(); 2].map(|()| Some("`a`, `b`".to_owned())));
    // That one leaves.
    let leaves = text("[{ node = \"b\" }, { class = \"y\", node = \"out\" }]");
    assert_eq!(found(&leaves, 60.0), [None, None]);
}

/// A customer in a line will lose its patience at 50, which ends a circle that began at 1.
#[test]
fn patience_ends_a_circle() {
    let text = |patience: &str| {
        with_bystander(&format!(
            r#"
station.a = {{ service = {{ constant = 1 }}, capacity = 1, when_full = "block", population = 1, to = "b" }}
station.b = {{ service = {{ constant = 1 }}, capacity = 2, when_full = "block", population = 2, to = "a"{patience} }}
"#
        ))
    };
    both(&text(""), 40.0, Some("`a`, `b`"));
    both(&text(", patience = { constant = 50 }"), 40.0, None);
    assert!(both(&text(", patience = { constant = 50 }"), 80.0, None).iter().all(|moves| *moves > 0.2));
    // Of another class, which is not in line.
    both(&text(", patience_of = { y = { constant = 50 } }"), 40.0, Some("`a`, `b`"));
}

/// Lines that only process models run. A deadlock can be accepted.
#[test]
fn every_kind_of_line_is_found() {
    let settings = [
        "discipline = \"polling\"",
        "discipline = \"random\"\npatience_of.y = { constant = 1 }",
        "discipline = \"preemptive\"",
        "speeds = [1, 2]",
        "groups.all = { servers = 1, serves = [\"x\"] }",
        "breakdown = { up = { constant = 1000 }, down = { constant = 1 } }",
        "schedule = [{ lasts = 30, servers = 1 }, { lasts = 5, servers = 0 }]",
    ];
    for settings in settings {
        let text = format!(
            "station.a = {{ service = {{ constant = 1 }}, capacity = 1, when_full = \"block\", population = 1, to = \"b\" }}\n\
             [station.b]\nservice = {{ constant = 1 }}\ncapacity = 2\nwhen_full = \"block\"\npopulation = 2\nto = \"a\"\n{settings}\n"
        );
        let process = NetworkProcess::new(&with_bystander(&text)).unwrap();
        let study = process.study(&Study::new(1, 40.0, 0.0)).unwrap();
        let run = |study| process.compiled().study(study).backend(Backend::Cpu).run();
        let error = run(&study).unwrap_err().to_string();
        assert!(error.contains("deadlock at `a`, `b`:"), "{settings}: {error}");
        assert!(run(&study.allow_deadlock(true)).is_ok());
    }
}

#[test]
fn runs_over_time_find_a_deadlock() {
    let text = r#"
station.a = { service = { exponential = 1 }, capacity = 1, when_full = "block", population = 1, to = "b" }
station.b = { service = { exponential = 1 }, capacity = 1, when_full = "block", population = 1, speeds = [1], to = "a" }
"#;
    let process = NetworkProcess::new(&with_bystander(text)).unwrap();
    let study = Study::new(1, 1000.0, 0.0);
    let errors = [
        process.long_run(&study, 10, |_| ControlFlow::Continue(())).unwrap_err().to_string(),
        process.profile(&study, Intervals::new(100.0), |_| true).unwrap_err().to_string(),
        process.settles(1, 1000.0, 2).unwrap_err().to_string(),
    ];
    for error in errors {
        assert!(error.contains("deadlock at `a`, `b`:"), "{error}");
    }
}

/// Routes lead from `s` through `r` to `d`, but not for the customers of `s`.
#[test]
fn a_class_that_goes_elsewhere_does_not_wait() {
    let network = network(
        r#"
name = "elsewhere"
classes = ["a", "b"]
source.ina = { interarrival = { exponential = 10 }, class = "a", to = "s" }
source.inb = { interarrival = { exponential = 10 }, class = "b", to = "r" }
router.r = { to = [{ node = "d", class = "b" }, { node = "out", class = "a" }] }
sink.out = {}
[station.s]
service = { exponential = 2 }
capacity = 3
when_full = "block"
speeds = [1, 1.5]
to = "r"
[station.d]
service = { exponential = 2 }
capacity = 3
when_full = "block"
to = [{ node = "s", class = "b", becomes = "a" }, { node = "out", class = "a" }]
"#,
    );
    let report = outcome(translated(&network, &Study::new(2, 1000.0, 0.0))).unwrap();
    assert!(row(&report, "s", None, Measure::Throughput).mean.unwrap() > 0.1, "{report}");
}

/// One machine makes both parts, three frames and a wheel in turn. With room for two frames, it
/// waits with the third one, and the wheel behind it never comes.
#[test]
fn an_assembly_may_wait_for_the_machine_that_waits_for_it() {
    let text = |room: u32, more: &str| {
        network(&format!(
            r#"
name = "parts"
classes = ["frame", "wheel"]
source.in = {{ interarrival = {{ constant = 1 }}, class = "frame", to = "sort" }}
router.sort = {{ to = {{ in_turn = ["keep", "keep", "keep", "turn"] }} }}
router.keep = {{ to = "make" }}
router.turn = {{ to = {{ node = "make", becomes = "wheel" }} }}
station.make = {{ service = {{ constant = 0.5 }}, to = "fit" }}
sink.out = {{}}
[station.fit]
batch = {{ parts = {{ frame = 1, wheel = 1 }}, becomes = "frame" }}
service = {{ constant = 0.25 }}
capacity = {room}
when_full = "block"
to = "out"
{more}
"#
        ))
    };
    let study = Study::new(1, 9.25, 0.0);
    assert_eq!(outcome(translated(&text(2, ""), &study)).unwrap_err(), "`make`, `fit`");
    // Until the room is filled by frames that no wheel finds, or other wheels come.
    assert!(outcome(translated(&text(20, ""), &study)).is_ok());
    let others = "[source.wheels]\ninterarrival = { constant = 8 }\nclass = \"wheel\"\nto = \"fit\"";
    assert!(outcome(translated(&text(2, others), &study)).is_ok());
    assert!(outcome(translated(&text(2, "patience_of.frame = { constant = 90 }"), &study)).is_ok());
}

/// Customers of two classes from `a`: `x` keep their server until there is room, `y` travel first.
#[test]
fn a_travelling_customer_waits_for_room_on_its_way() {
    let text = r#"
name = "n"
classes = ["x", "y"]
source.x = { times = [39], class = "x", to = "a" }
source.y = { times = [1, 2], class = "y", to = "a" }
station.a = { service = { constant = 0.5 }, to = [{ class = "x", node = "b" }, { class = "y", node = "c", travel = { constant = 5 } }] }
station.b = { service = { constant = 1 }, capacity = 1, when_full = "block", to = "out" }
station.c = { service = { constant = 10 }, capacity = 1, when_full = "block", to = "out" }
sink.out = {}
"#;
    // At `c` at 6.5 and 7.5, served from 6.5 and 16.5.
    let report = translated(&network(text), &Study::new(2, 40.0, 0.0)).unwrap();
    let sojourn = row(&report, "out", Some("y"), Measure::Sojourn).mean.unwrap();
    assert!((sojourn - (15.5 + 24.5) / 2.0).abs() < 1e-6, "{report}");
    assert_eq!(row(&report, "a", Some("y"), Measure::Sojourn).mean, Some(0.5), "{report}");
}
