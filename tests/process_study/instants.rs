//! Events of one instant: in both forms of a network, what ends comes before what arrives.

use eventhorizon::Backend;
use eventhorizon::facility::{Measure, Report, Study};

use crate::networks::{agrees, network, plan, reported, row, translated};

/// The reports of both forms. No random number decides anything, so they agree.
fn both(text: &str) -> [Report; 2] {
    let study = Study::new(2, 1000.0, 100.0);
    let network = network(text);
    let facility = network.compile_unstable().unwrap();
    [
        facility.study(&study).backend(Backend::Cpu).run().unwrap(),
        translated(&network, &study).unwrap_or_else(|error| panic!("{error}\n{text}")),
    ]
}

#[test]
fn services_end_before_customers_arrive() {
    let desk = |arrivals: &str, settings: &str| {
        format!(
            "name = \"n\"\n[source.in]\n{arrivals}\nto = \"desk\"\n[sink.out]\n[station.desk]\nto = \"out\"\n{settings}\n"
        )
    };
    let every = |time: u32| format!("interarrival = {{ constant = {time} }}");
    for (text, measure, expected) in [
        // Each comes as the one before leaves.
        (desk(&every(1), "service = { constant = 1 }\ncapacity = 1"), Measure::Loss, 0.0),
        (desk(&every(2), "service = { constant = 2 }\nbalking = [0, 1]"), Measure::Balked, 0.0),
        // The server that comes at 4, 8, 12, ... is taken by a customer that waits for it.
        (desk(&every(2), "service = { constant = 1 }\nschedule = [[2, 1], [2, 0]]"), Measure::Wait, 1.5),
        // Of three that come together, one is lost.
        (
            desk(&format!("{}\nbatch = 3", every(4)), "service = { constant = 1 }\ncapacity = 2"),
            Measure::Loss,
            1.0 / 3.0,
        ),
    ] {
        for (form, report) in both(&text).iter().enumerate() {
            let found = row(report, "desk", None, measure).mean.unwrap();
            assert!((found - expected).abs() < 0.01, "form {form}: {found}, not {expected}\n{text}");
        }
    }
}

#[test]
fn customers_that_come_together_take_different_lines() {
    let text = r#"
name = "n"
source.in = { interarrival = { constant = 10 }, batch = 2, to = { shortest = ["x", "y"] } }
station.x = { service = { constant = 1 }, to = "last" }
station.y = { service = { constant = 1 }, to = "last" }
station.last = { service = { constant = 1 }, to = "out" }
sink.out = {}
"#;
    for report in both(text) {
        for (station, wait) in [("x", 0.0), ("y", 0.0), ("last", 0.5)] {
            let found = row(&report, station, None, Measure::Wait).mean.unwrap();
            assert!((found - wait).abs() < 0.01, "{station}: {found}, not {wait}");
        }
    }
}

#[test]
fn who_gets_a_place_does_not_overtake_the_line() {
    // Two customers may be inside. The one that gets the place of a customer that leaves comes
    // behind the other one, so that each waits for one service.
    for line in ["groups.all = { servers = 1, serves = [\"customer\"] }", "discipline = \"polling\""] {
        let text = format!(
            r#"
name = "n"
source.in = {{ interarrival = {{ constant = 4 }}, batch = 4, to = "desk" }}
sink.out = {{}}
region.room = {{ nodes = ["desk"], capacity = 2 }}
[station.desk]
service = {{ constant = 1 }}
to = "out"
{line}
"#
        );
        let report = translated(&network(&text), &Study::new(2, 1000.0, 100.0)).unwrap();
        // Waits in the station are 0, 1, 1 and 1, not 0, 3, 0 and 0.
        let deviation = row(&report, "desk", None, Measure::WaitDeviation).mean.unwrap();
        assert!((deviation - 0.1875_f64.sqrt()).abs() < 0.01, "{line}: {deviation}");
    }
}

#[test]
fn who_loses_patience_goes_by_the_probabilities_of_its_own_links() {
    for choice in ["{ in_turn = [\"x\", \"y\"] }", "{ shortest = [\"x\", \"y\"] }"] {
        let text = format!(
            r#"
name = "n"
[source.in]
interarrival = {{ exponential = 1 }}
to = "desk"
[station.desk]
service = {{ exponential = 2 }}
patience = {{ exponential = 1 }}
reneged_to = [{{ node = "z", probability = 0.9 }}, "out"]
to = {choice}
[delay]
x = {{ time = {{ exponential = 1 }}, to = "out" }}
y = {{ time = {{ exponential = 1 }}, to = "out" }}
z = {{ time = {{ exponential = 1 }}, to = "out" }}
[sink.out]
"#
        );
        let report = reported(&text, &plan(64, 4000.0, 400.0));
        let reneged = row(&report, "desk", None, Measure::Reneged).mean.unwrap();
        agrees(&report, ("z", None, Measure::Throughput), 0.9 * reneged);
    }
}

#[test]
fn a_group_keeps_its_server_while_a_customer_draws_its_way() {
    let text = r#"
name = "n"
source.in = { interarrival = { exponential = 1 }, to = "desk" }
sink.out = {}
[station.desk]
service = { exponential = 0.8 }
groups.first = { servers = 1, serves = ["customer"] }
groups.second = { servers = 1, serves = ["customer"] }
to = { shortest = ["x", "y", "z"], of = 2 }
[station]
x = { service = { exponential = 1 }, capacity = 9, when_full = "block", to = "out" }
y = { service = { exponential = 1 }, to = "out" }
z = { service = { exponential = 1 }, to = "out" }
"#;
    let report = reported(text, &plan(16, 4000.0, 400.0));
    agrees(&report, ("out", None, Measure::Throughput), 1.0);
}

#[test]
fn one_server_polls_many_classes() {
    let classes: Vec<_> = (0..24).map(|class| format!("class {class}")).collect();
    let sources: String = classes
        .iter()
        .map(|class| {
            format!(
                "[source.\"in {class}\"]\ninterarrival = {{ exponential = 40 }}\nclass = \"{class}\"\nto = \"desk\"\n"
            )
        })
        .collect();
    let text = format!(
        "name = \"n\"\nclasses = {classes:?}\n{sources}[station.desk]\ndiscipline = \"polling\"\n\
         service = {{ exponential = 1 }}\nto = \"out\"\n[sink.out]\n"
    );
    // The order of service does not change the number of customers: that of M/M/1 at load 0.6.
    let report = reported(&text, &plan(32, 8000.0, 800.0));
    agrees(&report, ("desk", None, Measure::Number), 1.5);
}
