//! Ticks of a unit of time: chosen so that times are exact, printed, and reported if they are
//! rounded.

use eventhorizon::facility::{Distribution, FacilityError, Measure, Network, Report, Source, Station, Study};

use super::common::is_long;
use super::shipped;

fn study(network: &Network, replications: u32, until: f64) -> Report {
    let study = Study::new(replications, until, 0.0);
    network.compile().unwrap().study(&study).run().unwrap()
}

#[test]
fn a_million_arrivals_a_tenth_apart_are_a_million() {
    let network = Network::from_toml(include_str!("../../data/networks/ten_a_unit.toml")).unwrap();
    let report = study(&network, 1, 100_000.05);
    assert_eq!(report.ticks_per_unit, 10_000_000);
    assert_eq!(report.warnings, [""; 0]);
    assert!(report.to_string().contains("10000000 ticks"), "{report}");
    let throughput = report.row("x", Some("customer"), Measure::Throughput).unwrap().mean.unwrap();
    let arrivals = throughput * 100_000.05;
    assert!((arrivals - 1e6).abs() < 0.01, "{arrivals}");
}

#[test]
fn three_passes_of_a_tenth_fill_three_tenths_and_nobody_waits() {
    let network = Network::from_toml(
        "name = \"passes\"\nuntil = 300.05\nclasses = [\"first\", \"second\", \"third\"]\n[source.in]\n\
         interarrival = { constant = 0.3 }\nto = \"s\"\n[station.s]\nservice = { constant = 0.1 }\nto = [\n\
         { node = \"s\", class = \"first\", becomes = \"second\" },\n\
         { node = \"s\", class = \"second\", becomes = \"third\" },\n{ node = \"out\", class = \"third\" }]\n[sink.out]\n",
    );
    let report = study(&network.unwrap(), 1, 300.05);
    let value = |class, measure| report.row("s", class, measure).unwrap().mean.unwrap();
    assert_eq!(value(None, Measure::Wait), 0.0);
    let services = value(None, Measure::Throughput) * 300.05;
    assert!((services - 2997.0).abs() < 1e-6, "{services}");
}

/// Service 1.72 s, arrivals 1.81 s apart, in hours: with a million ticks, a service has some 500.
fn fast() -> Network {
    Network::new("fast")
        .source("in", Source::new(Distribution::Exponential(1.81 / 3600.0), "server"))
        .station("server", Station::new(Distribution::Exponential(1.72 / 3600.0), "out"))
        .sink("out")
}

#[test]
fn means_have_enough_ticks_whatever_the_unit() {
    let facility = fast().compile().unwrap();
    assert!(facility.resolution().is_fine(1.72 / 3600.0), "{:?}", facility.resolution());
    assert_eq!(facility.rounding(), [""; 0]);
    let mut stated = fast();
    stated.ticks_per_unit = Some(1 << 20);
    let stated = stated.compile().unwrap();
    assert_eq!(stated.resolution().ticks_per_unit(), 1 << 20);
    let [warning] = stated.rounding() else { panic!("{:?}", stated.rounding()) };
    for word in ["`in`", "`server`: the service", "1/1048576", "ticks_per_unit"] {
        assert!(warning.contains(word), "{warning}");
    }
    if is_long() {
        let report = study(&fast(), 16, 1000.0);
        let row = report.row("server", Some("customer"), Measure::Number).unwrap();
        let (mean, theory) = (row.mean.unwrap(), row.theory.unwrap());
        assert!((mean / theory - 1.0).abs() < 0.025, "{mean} {theory}");
    }
}

#[test]
fn a_study_beyond_the_ticks_of_runs_is_refused() {
    let facility = fast().compile().unwrap();
    let latest = (1_u64 << 62) as f64 / f64::from(facility.resolution().ticks_per_unit());
    let refused = facility.study(&Study::new(1, latest * 1.001, 0.0)).run().unwrap_err();
    assert!(matches!(refused, FacilityError::Time { .. }), "{refused}");
    assert!(refused.to_string().contains("`until`"), "{refused}");
}

#[test]
fn what_is_rounded_is_named() {
    let with = |service: f64, ticks_per_unit| {
        let mut network = Network::new("test")
            .source("in", Source::new(Distribution::Exponential(2.0), "desk"))
            .station("desk", Station::new(Distribution::Constant(service), "out"))
            .sink("out");
        network.ticks_per_unit = ticks_per_unit;
        network.compile().unwrap()
    };
    assert_eq!(with(0.1, None).rounding(), [""; 0]);
    assert_eq!(with(1.0 / 3.0, None).rounding(), [""; 0]);
    for (service, ticks, words) in [
        (0.1, Some(1 << 20), ["`desk`: the service, 0.1 -> 0.1000003", "remove `ticks_per_unit`"]),
        (1.0 / 7.0, None, ["`desk`: the service, 0.14285714285714285 -> 0.142857142", "fewer digits"]),
    ] {
        let facility = with(service, ticks);
        let [warning] = facility.rounding() else { panic!("{:?}", facility.rounding()) };
        assert!(words.iter().all(|word| warning.contains(word)), "{warning}");
    }
    // The report has the warnings, also for an end that only the study has.
    let study = Study::new(2, 100.123_456_789_012, 0.0);
    let report = with(0.1, Some(1 << 20)).study(&study).run().unwrap();
    assert_eq!(report.warnings.len(), 2, "{:?}", report.warnings);
    assert!(report.warnings[1].contains("100.123456789012"), "{:?}", report.warnings);
}

#[test]
fn the_networks_that_ship_are_exact() {
    for (name, network) in shipped() {
        let facility = network.compile().unwrap();
        assert_eq!(facility.rounding(), [""; 0], "{name}");
    }
}

#[test]
fn a_run_of_any_length_fits() {
    let longest = |until: f64| {
        let mut network = fast();
        network.until = Some(until);
        network.compile().unwrap().resolution()
    };
    assert!(longest(1e9).ticks(1e9).unwrap().get() <= 1 << 62);
    assert!(longest(1e12).ticks(1e12).unwrap().get() <= 1 << 62);
}

/// Services need nine decimals; other times need too many ticks.
fn decimals(until: Option<f64>, more: &str) -> Network {
    let text = format!(
        "name = \"decimals\"\n[source.in]\ninterarrival = {{ constant = 0.25 }}\nto = \"desk\"\n[station.desk]\n\
         service = {{ constant = 0.123456789 }}\n{more}\nto = \"out\"\n[sink.out]\n"
    );
    let mut network = Network::from_toml(&text).unwrap();
    network.until = until;
    network
}

#[test]
fn times_that_runs_do_not_reach_need_not_fit() {
    let until = 100.0;
    let base = study(&decimals(Some(until), ""), 2, until);
    assert_eq!(base.ticks_per_unit, 1_000_000_000);
    for more in [
        "patience = { constant = 1e11 }",
        "patience = { constant = 100000000000.3 }",
        "schedule = [{ lasts = 1e11, servers = 1 }, { lasts = 1, servers = 0 }]",
        "breakdown = { up = { constant = 1e11 }, down = { constant = 1 } }",
    ] {
        let report = study(&decimals(Some(until), more), 2, until);
        assert_eq!((report.ticks_per_unit, &report.warnings[..]), (1_000_000_000, &[][..]), "{more}");
        let busy = |report: &Report| report.row("desk", Some("customer"), Measure::Utilisation).unwrap().mean;
        assert_eq!(busy(&report), busy(&base), "{more}");
    }
    // A repair that outlasts the run: the station is down from 10 on, and keeps its customer.
    let more = "breakdown = { up = { constant = 10.3 }, down = { constant = 1e11 } }";
    let facility = decimals(Some(until), more).compile_unstable().unwrap();
    let report = facility.study(&Study::new(2, until, 0.0)).run().unwrap();
    let down = report.row("desk", None, Measure::Down).unwrap().mean.unwrap();
    assert!((down - 0.897).abs() < 1e-12, "{down}");
    // Without an end there are fewer ticks, and rounded times are reported.
    let facility = decimals(None, "patience = { constant = 1e11 }").compile().unwrap();
    assert!(facility.resolution().ticks_per_unit() < 1_000_000_000);
    assert!(matches!(facility.rounding(), [one] if one.contains("`desk`: the service")), "{facility:?}");
    // The end of a run must fit.
    let mut reached = decimals(Some(1e12), "patience = { constant = 1e11 }");
    reached.ticks_per_unit = Some(1_000_000_000);
    assert!(reached.compile().is_err());
}
