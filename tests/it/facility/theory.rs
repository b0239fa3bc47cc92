//! Networks compared with theory.

use eventhorizon::facility::{Discipline, Distribution, Measure, Network, Report, Source, Station, Study};

use super::{shipped, shipped_one};

/// The number of intervals that contain the value of theory, the number of all, and the largest
/// distance from theory in half widths, with its measure.
pub(crate) fn covered(report: &Report) -> (usize, usize, f64, String) {
    let (mut inside, mut all, mut furthest, mut which) = (0, 0, 0.0, String::new());
    for row in &report.rows {
        let (Some(mean), Some(half_width), Some(theory)) = (row.mean, row.half_width, row.theory) else {
            continue;
        };
        // A measure without spread, such as the customers of a closed network, equals theory except
        // for rounding.
        let error = (mean - theory).abs();
        let distance = if error < 1e-9 * theory { 0.0 } else { error / half_width };
        all += 1;
        inside += usize::from(distance <= 1.0);
        if distance > furthest {
            furthest = distance;
            which = format!("{row:?}");
        }
    }
    (inside, all, furthest, which)
}

fn studied(network: &Network, replications: u32, share: f64, seed: u64) -> Report {
    let (until, warm_up) = (network.until.unwrap() * share, network.warm_up.unwrap());
    let study = Study::new(replications, until + warm_up, warm_up).seed(seed);
    network.compile().unwrap().study(&study).run().unwrap()
}

#[test]
fn the_networks_that_ship_are_within_their_intervals() {
    let (mut inside, mut all) = (0, 0);
    for (name, network) in shipped() {
        let report = studied(&network, 16, 0.1, 3);
        let (found, of, furthest, which) = covered(&report);
        if matches!(&*name, "emergency" | "line" | "bank" | "workshop") {
            assert!(of <= 4, "{name}: theory exists only for sources: {of}");
        } else {
            assert!(of >= 5, "{name}: {report}");
        }
        // About five standard deviations for 16 replications.
        assert!(furthest < 3.0, "{name}: {which}\n{report}");
        inside += found;
        all += of;
    }
    assert!(inside * 10 >= all * 8, "{inside} of {all} at the level 0.95");
}

#[test]
#[ignore = "long: 200 studies of each network"]
fn intervals_cover_what_theory_says() {
    for (name, network) in shipped() {
        let (mut inside, mut all) = (0, 0);
        for seed in 0..200 {
            let (found, of, ..) = covered(&studied(&network, 20, 0.2, 1000 + seed));
            inside += found;
            all += of;
        }
        let share = inside as f64 / all as f64;
        println!("{name}: {share:.3} of {all}");
        assert!((0.91..=0.98).contains(&share), "{name}: {share} of {all}");
    }
}

/// One station, Poisson arrivals of two classes.
fn two_classes(discipline: Discipline, service: [Distribution; 2]) -> Network {
    let mut network = Network::new("two classes")
        .with_classes(&["a", "b"])
        .source("first", Source::new(Distribution::Exponential(4.0), "server"))
        .source("second", Source::new(Distribution::Exponential(3.0), "server").of("b"))
        .station(
            "server",
            Station::new(service[0], "out").with_service_of("b", service[1]).with_discipline(discipline),
        )
        .sink("out");
    (network.until, network.warm_up) = (Some(20_000.0), Some(500.0));
    network
}

#[test]
fn every_order_of_one_line_has_the_same_mean_wait() {
    let services = [Distribution::Uniform([0.5, 1.5]), Distribution::Exponential(1.2)];
    for discipline in [Discipline::Fifo, Discipline::Lifo, Discipline::Random] {
        let report = studied(&two_classes(discipline, services), 16, 0.2, 1);
        let (_, all, furthest, which) = covered(&report);
        assert!(all >= 15 && furthest < 2.5, "{discipline:?}: {which}\n{report}");
    }
    // The wait of the last-come first-served discipline varies more.
    let deviation = |discipline| {
        let report = studied(&two_classes(discipline, services), 8, 0.2, 1);
        report.row("server", None, Measure::WaitDeviation).unwrap().mean.unwrap()
    };
    assert!(deviation(Discipline::Lifo) > 1.2 * deviation(Discipline::Fifo));
}

#[test]
fn priorities_are_those_of_cobham_with_and_without_interruption() {
    let services = [
        Distribution::Erlang { stages: 2, mean: 1.0 },
        Distribution::Lognormal { mean: 1.2, deviation: 1.0 },
    ];
    for discipline in [Discipline::Priority, Discipline::Preemptive] {
        let report = studied(&two_classes(discipline, services), 16, 0.2, 2);
        let (_, all, furthest, which) = covered(&report);
        assert!(all >= 12 && furthest < 2.5, "{discipline:?}: {which}\n{report}");
    }
}

#[test]
fn times_of_no_chance_are_exact() {
    // Two arrivals at once every 10, and a server that takes 3 for each: they wait 0 and 3.
    let network = Network::new("clockwork")
        .source("in", Source::new(Distribution::Constant(10.0), "server").in_batches(2))
        .station("server", Station::new(Distribution::Constant(3.0), "out"))
        .sink("out");
    let report = network.compile().unwrap().study(&Study::new(2, 110.0, 10.0)).run().unwrap();
    let row = |node, measure| report.row(node, Some("customer"), measure).unwrap().mean.unwrap();
    assert_eq!(row("server", Measure::Utilisation), 0.6);
    assert_eq!(row("server", Measure::Wait), 1.5);
    assert_eq!(row("server", Measure::Sojourn), 4.5);
    assert_eq!(row("server", Measure::Number), 0.9);
    assert_eq!(row("server", Measure::Queue), 0.3);
    assert_eq!(row("out", Measure::Throughput), 0.2);
    assert_eq!(row("out", Measure::Sojourn), 4.5);
    assert_eq!(report.row("(network)", None, Measure::Number).unwrap().mean, Some(0.9));
}

#[test]
fn a_closed_network_has_the_customers_that_it_has() {
    let report = studied(&shipped_one("central_server"), 4, 0.02, 1);
    let row = report.row("(network)", None, Measure::Number).unwrap();
    assert_eq!((row.mean, row.half_width), (Some(8.0), Some(0.0)));
}
