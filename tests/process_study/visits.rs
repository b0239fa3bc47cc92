//! Followed customers and long runs of networks that run as process models: beside the network form,
//! and beside the sums of the same replication.

use std::ops::ControlFlow;

use eventhorizon::Backend;
use eventhorizon::facility::{FacilityError, Follow, Measure, Outcome, Study, Visit, write_visits};
use eventhorizon::pdes::SimulationError;
use eventhorizon::process::{NetworkProcess, ProcessError};

use super::networks::{agrees, network, plan, row};
use super::{compiled, mean};

/// Nothing is drawn, so both forms do the same.
const CLOCKWORK: &str = r#"
name = "clockwork"
classes = ["one", "two"]
source.in = { interarrival = { constant = 5 }, class = "one", to = "desk" }
source.other = { interarrival = { constant = 7.3 }, class = "two", to = "small" }
source.third = { interarrival = { constant = 11.1 }, class = "one", to = "patient" }
station.desk = { service = { constant = 3 }, to = [{ node = "look", becomes = "two" }] }
station.small = { capacity = 2, service = { constant = 20.1 }, to = "out" }
station.patient = { service = { constant = 13.7 }, patience = { constant = 6 }, to = "split" }
delay.look = { time = { constant = 4.2 }, to = "out" }
fork.split = { tasks = ["left", "right"], to = "out" }
delay.left = { time = { constant = 2.3 }, to = "split" }
delay.right = { time = { constant = 1.9 }, to = "split" }
sink.out = {}
"#;

fn visits_of(text: &str, study: &Study, follow: Follow) -> Vec<Visit> {
    NetworkProcess::new_unstable(&network(text)).unwrap().trace(study, follow).unwrap()
}

#[test]
fn both_forms_follow_customers_alike() {
    let study = Study::new(1, 100.0, 0.0);
    for follow in [Follow::first(3), Follow::first(100), Follow { every: 2, most: 100 }] {
        let facility = network(CLOCKWORK).compile_unstable().unwrap();
        let expected = facility.trace(&study, follow).backend(Backend::Cpu).run().unwrap();
        let found = visits_of(CLOCKWORK, &study, follow);
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.len(), expected.len());
        for outcome in [Outcome::Served, Outcome::Lost, Outcome::Reneged] {
            assert!(
                follow != Follow::first(100) || found.iter().any(|visit| visit.outcome == outcome),
                "{outcome:?}"
            );
        }
    }
    let process = NetworkProcess::new_unstable(&network(CLOCKWORK)).unwrap();
    for (every, most) in [(0, 1), (1, 0), (1, 60_000)] {
        let refused = process.trace(&study, Follow { every, most }).unwrap_err();
        let ProcessError::Network(refused) = refused else { panic!("{refused}") };
        assert!(matches!(*refused, FacilityError::Setting { .. }), "{refused}");
    }
}

/// What only process models run: batches, splits, and customers that are there from the begin.
const BOXES: &str = r#"
name = "boxes"
source.in = { interarrival = { exponential = 2 }, to = "lift" }
station.lift = { service = { exponential = 2 }, batch = { least = 1, most = 4 }, splits = 2, to = "desk" }
station.desk = { servers = 4, service = { exponential = 1 }, discipline = "preemptive", to = "out" }
station.round = { service = { exponential = 1 }, population = 3, to = "round" }
sink.out = {}
"#;

#[test]
fn visits_are_those_of_the_study() {
    let study = Study::new(1, 300.0, 0.0).seed(5);
    let process = NetworkProcess::new(&network(BOXES)).unwrap();
    let visits = process.trace(&study, Follow::first(1000)).unwrap();
    let results = process.compiled().study(&process.study(&study).unwrap()).run().unwrap();
    let report = process.report(&study, &results).unwrap();
    for node in ["lift", "desk", "round", "out"] {
        let served: Vec<_> =
            visits.iter().filter(|visit| visit.node == node && visit.outcome == Outcome::Served).collect();
        let throughput = row(&report, node, None, Measure::Throughput).mean.unwrap();
        assert_eq!(served.len() as f64, (throughput * 300.0).round(), "{node}");
        let times = served.iter().map(|visit| visit.left.unwrap() - visit.arrived);
        let sojourn = times.sum::<f64>() / served.len() as f64;
        if node != "out" {
            let expected = row(&report, node, None, Measure::Sojourn).mean.unwrap();
            assert!((sojourn - expected).abs() < 1e-6, "{node}: {sojourn} {expected}");
            let began = visits
                .iter()
                .filter(|visit| visit.node == node)
                .filter_map(|visit| visit.began.map(|began| (began - visit.arrived, began)));
            let waits: Vec<f64> = began.map(|(wait, _)| wait).collect();
            let expected = row(&report, node, None, Measure::Wait).mean.unwrap();
            let wait = waits.iter().sum::<f64>() / waits.len() as f64;
            assert!((wait - expected).abs() < 1e-6, "{node}: {wait} {expected}");
        }
    }
    // Customers that are split have the number of the first.
    let of_first = visits.iter().filter(|visit| visit.customer == 1 && visit.node == "out");
    assert!((1..=2).contains(&of_first.count()));
    assert!(visits.iter().any(|visit| visit.from == "round" && visit.arrived == 0.0));
    let mut csv = Vec::new();
    write_visits(&visits, &mut csv).unwrap();
    assert!(csv.starts_with(b"customer,from,class,node,arrived,began,left,outcome\n"));
}

#[test]
fn nodes_may_have_names_in_any_alphabet() {
    let text = r#"
name = "n"
source.in = { interarrival = { constant = 2 }, to = "станок" }
station."станок" = { service = { constant = 1 }, speeds = [1], to = "受付" }
station."受付" = { service = { constant = 1.5 }, to = "n" }
station.n = { service = { constant = 0.5 }, to = "out" }
sink.out = {}
"#;
    let visits = visits_of(text, &Study::new(1, 100.0, 0.0), Follow::first(2));
    let nodes: Vec<_> = visits.iter().filter(|visit| visit.customer == 2).map(|visit| &*visit.node).collect();
    assert_eq!(nodes, ["станок", "受付", "n", "out"]);
}

#[test]
fn one_long_run_of_both_forms_has_the_same_rows() {
    let study = Study::new(1, 800.0, 50.0);
    let go_on = |_: &eventhorizon::pdes::Progress| ControlFlow::Continue(());
    let facility = network(CLOCKWORK).compile_unstable().unwrap();
    let expected = facility.long_run(&study, 10).backend(Backend::Cpu).run().unwrap();
    let process = NetworkProcess::new_unstable(&network(CLOCKWORK)).unwrap();
    let found = process.long_run(&study, 10, go_on).unwrap();
    assert_eq!(found.names(), expected.names());
    for (found, expected) in found.rows.iter().zip(&expected.rows) {
        let (Some(a), Some(b)) = (found.mean, expected.mean) else {
            assert_eq!(found.mean, expected.mean, "{found:?} {expected:?}");
            continue;
        };
        // Deviations of the process model are rounded.
        assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{found:?} {expected:?}");
    }
    assert_eq!((found.replications, found.customers), (1, expected.customers));
    assert!(process.long_run(&study, 5, go_on).is_err(), "too few batches");
    let stopped = process.long_run(&study, 10, |_| ControlFlow::Break(())).unwrap_err();
    assert!(matches!(stopped, ProcessError::Simulation(SimulationError::Stopped)), "{stopped}");
}

/// An M/M/1 with a load of one half.
const QUEUE: &str = r#"
name = "queue"
source.in = { interarrival = { exponential = 2 }, to = "desk" }
station.desk = { service = { exponential = 1 }, speeds = [1], to = "out" }
sink.out = {}
"#;

#[test]
fn batches_agree_with_theory() {
    for warm_up in [0.0, 500.0] {
        let process = NetworkProcess::new(&network(QUEUE)).unwrap();
        let report =
            process.long_run(&plan(1, 60_000.0, warm_up), 20, |_| ControlFlow::Continue(())).unwrap();
        for (measure, expected) in [
            (Measure::Number, 1.0),
            (Measure::Sojourn, 2.0),
            (Measure::Utilisation, 0.5),
            (Measure::Throughput, 0.5),
        ] {
            agrees(&report, ("desk", None, measure), expected);
        }
    }
}

#[test]
fn a_warm_up_is_found_where_there_is_one() {
    let process = NetworkProcess::new(&network(QUEUE)).unwrap();
    let found = process.settles(7, 2000.0, 8).unwrap();
    assert!((0.0..1000.0).contains(&found), "{found}");
    let growing = QUEUE.replace("exponential = 2", "exponential = 0.8");
    let process = NetworkProcess::new_unstable(&network(&growing)).unwrap();
    let refused = process.settles(7, 2000.0, 8).unwrap_err();
    assert!(matches!(refused, FacilityError::NotSettled { .. }), "{refused}");
}

#[test]
fn notes_are_lines_of_traces_and_nothing_in_studies() {
    let text = |note: &str| {
        format!(
            r#"
[entity.visitor]
every = {{ constant = 10 }}
do = [{note}{{ delay = 3 }}, {{ tally = "stay" }}]
"#
        )
    };
    let study = eventhorizon::process::Study::new(2, 35.0, 0.0);
    let noting = compiled(&text(r#"{ note = "came", value = "7 * number" }, "#));
    let trace = noting.trace(&study, 0, 100).unwrap();
    let notes: Vec<_> = trace.iter().filter(|change| change.what == "notes").collect();
    let found: Vec<_> = notes.iter().map(|note| (note.time, note.number, note.statement.as_str())).collect();
    assert_eq!(found, [(10.0, 1, "came 7"), (20.0, 2, "came 14"), (30.0, 3, "came 21")]);
    let [noted, without] = [noting, compiled(&text(""))].map(|model| model.study(&study).run().unwrap());
    assert_eq!(mean(&noted.observations[0], "stay"), mean(&without.observations[0], "stay"));
    assert_eq!(noted.events, without.events);
}
