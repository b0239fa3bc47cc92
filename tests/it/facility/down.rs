//! Servers that serve, are down, blocked or idle.

use eventhorizon::Backend;
use eventhorizon::facility::{Distribution, Measure, Network, Report, Station, Study};

use super::common::gpu;

fn value(report: &Report, node: &str, measure: Measure) -> f64 {
    let class = (measure == Measure::Utilisation).then_some("customer");
    report.row(node, class, measure).unwrap().mean.unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

/// Down from 12 to 16 and from 28 to 32. Services from 10 to 12 and on to 19, 20 to 25, 32 to 37.
fn machine(servers: u32) -> Network {
    Network::from_toml(&format!(
        "name = \"machine\"\n[source.a]\ninterarrival = {{ constant = 10 }}\nto = \"s\"\n[station.s]\nservers = {servers}\n\
         service = {{ constant = 5 }}\nbreakdown = {{ up = {{ constant = 12 }}, down = {{ constant = 4 }} }}\n\
         to = \"out\"\n[sink.out]\n"
    ))
    .unwrap()
}

#[test]
fn servers_that_are_down_are_not_busy() {
    let gpu = gpu();
    for servers in [1, 2] {
        let facility = machine(servers).compile().unwrap();
        for (warm_up, span, busy, down, held) in [(0.0, 40.0, 15.0, 8.0, 19.0), (14.0, 26.0, 13.0, 6.0, 15.0)]
        {
            let study = Study::new(2, 40.0, warm_up);
            let report = facility.study(&study).run().unwrap();
            let all = span * f64::from(servers);
            near(value(&report, "s", Measure::Busy), busy / all);
            near(value(&report, "s", Measure::Down), down / span);
            near(value(&report, "s", Measure::Utilisation), held / all);
            let place = Backend::Gpu(&gpu);
            let other = facility.study(&study).backend(place).run().unwrap();
            assert_eq!((report.rows, report.fingerprint), (other.rows, other.fingerprint));
        }
    }
}

#[test]
fn where_there_is_always_work_a_server_is_busy_or_down() {
    let exponential = Distribution::Exponential;
    let press = Station::new(exponential(1.0), "press")
        .with_population(5)
        .with_servers(3)
        .with_breakdowns(exponential(20.0), exponential(5.0));
    let facility = Network::new("press").station("press", press).compile().unwrap();
    let study = Study::new(8, 400.0, 33.3);
    let replications = facility.study(&study).run().unwrap();
    let batches = facility.long_run(&study, 10).run().unwrap();
    for report in [replications, batches] {
        let [busy, down] = [Measure::Busy, Measure::Down].map(|measure| value(&report, "press", measure));
        near(busy + down, 1.0);
        near(value(&report, "press", Measure::Utilisation), 1.0);
        assert!(down > 0.05 && busy > 0.5, "{busy} {down}");
    }
}

#[test]
fn a_schedule_says_how_many_servers_are_down() {
    // Two servers until 10, and one until 20; down from 8 to 12: 2 * 2 + 1 * 2 of 30.
    let text = "name = \"shifts\"\n[source.a]\ninterarrival = { constant = 100 }\nto = \"s\"\n[station.s]\n\
         service = { constant = 1 }\nschedule = [{ lasts = 10, servers = 2 }, { lasts = 10, servers = 1 }]\n\
         breakdown = { up = { constant = 8 }, down = { constant = 4 } }\nto = \"out\"\n[sink.out]\n";
    let facility = Network::from_toml(text).unwrap().compile().unwrap();
    let report = facility.study(&Study::new(2, 20.0, 0.0)).run().unwrap();
    near(value(&report, "s", Measure::Down), 6.0 / 30.0);
    near(value(&report, "s", Measure::Busy), 0.0);
}
