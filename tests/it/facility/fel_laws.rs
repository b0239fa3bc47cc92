//! The event list with times that are not exponential: the GPU against the reference
//! implementation, and that against theory.

use eventhorizon::facility::{Distribution, FelFacility, FelNetwork, FelReference, Network, Source, Station};
use eventhorizon::time::{Resolution, Ticks};

use super::common::{few, gpu};
use super::fel::same;

const EXIT: u32 = FelFacility::EXIT;

fn units() -> Resolution {
    Resolution::new(10_000).unwrap()
}

/// One distribution of each way to draw: without a draw, with one to three, with a loop, from a
/// table.
const LAWS: [Distribution; 9] = [
    Distribution::Constant(1.0),
    Distribution::Exponential(1.0),
    Distribution::Uniform([0.5, 2.0]),
    Distribution::Erlang { stages: 5, mean: 1.0 },
    Distribution::Triangular([0.5, 1.0, 2.0]),
    Distribution::Normal { mean: 0.5, deviation: 0.5 },
    Distribution::Lognormal { mean: 1.0, deviation: 2.0 },
    Distribution::Weibull { scale: 1.0, shape: 0.7 },
    Distribution::Gamma { shape: 2.5, scale: 0.5 },
];

fn station(law: Distribution, targets: &[u32]) -> FelFacility {
    FelFacility::new(Ticks::ZERO, targets).times(law, units())
}

#[test]
fn all_distributions_have_the_bits_of_the_reference() {
    let gpu = gpu();
    let count = u32::try_from(LAWS.len()).unwrap();
    // A ring, with one plain facility and two tokens for each.
    let stations = (0..).zip(LAWS).map(|(number, law)| station(law, &[number + 1]).tokens(2));
    let plain = FelFacility::new(Ticks::new(9000), [0]).servers(2).tokens(1);
    let ring = FelNetwork::from_facilities(stations.chain([plain])).unwrap();
    for &interval in few(2, &[0, 3000, 1, 25_000]) {
        let results = same(&gpu, &ring, 3, interval, &[40_000, 900_000]);
        assert!(results.facilities.iter().all(|row| row.began > 20), "{results:?}");
    }
    // An open network: sources with these times, and queues that drop.
    let sources = LAWS.map(|law| FelFacility::source(Ticks::ZERO, [count, count + 1]).times(law, units()));
    let servers = [3, 2].map(|servers| {
        let law = Distribution::Constant(0.4);
        station(law, &[EXIT, EXIT, count + 1]).servers(servers).queue(4)
    });
    let open = FelNetwork::from_facilities(sources.into_iter().chain(servers)).unwrap();
    for gpu in few(2, &[&gpu, &gpu.checked(), &gpu.without(wgpu::Features::all())]) {
        let results = same(gpu, &open, 8, 700, &[200_000]);
        assert!(results.facilities[10].dropped > 0);
    }
}

/// Services of more than 2^32 ticks are rounded to whole intervals too.
#[test]
fn long_times_are_rounded() {
    let law = Distribution::Hyperexponential { probability: 0.99, first: 1.0, second: 1e6 };
    let network = FelNetwork::from_facilities([station(law, &[0]).servers(4).tokens(5)]).unwrap();
    for &interval in few(1, &[1 << 31, 0, 7, 12_345]) {
        let results = same(&gpu(), &network, 1, interval, &[1 << 33, 1 << 38]);
        assert!(results.facilities[0].began > 100 && results.facilities[0].busy.get() > 1 << 36);
    }
}

#[test]
fn waits_are_those_of_pollaczek_and_khinchine() {
    // Means of 0.7 units at one arrival in a unit, and the squared coefficients of variation.
    let laws = [
        (Distribution::Constant(0.7), 0.0),
        (Distribution::Erlang { stages: 2, mean: 0.7 }, 0.5),
        (Distribution::Uniform([0.0, 1.4]), 1.0 / 3.0),
        (Distribution::Exponential(0.7), 1.0),
        (Distribution::Lognormal { mean: 0.7, deviation: 0.7 }, 1.0),
        (Distribution::Gamma { shape: 2.5, scale: 0.28 }, 0.4),
    ];
    for &(law, scv) in few(2, &laws) {
        let source = FelFacility::source(Ticks::new(10_000), [1]);
        let network = FelNetwork::from_facilities([source, station(law, &[EXIT]).queue(2000)]).unwrap();
        let mut reference = FelReference::new(&network, 5, Ticks::ZERO).unwrap();
        reference.run(Ticks::new(4_000_000_000)).unwrap();
        let results = reference.results();
        let row = &results.facilities[1];
        assert_eq!(row.dropped, 0);
        let load = row.busy.get() as f64 / results.time.get() as f64;
        assert!((load / 0.7 - 1.0).abs() < 0.01, "{law:?}: load {load}");
        let wait = units().units(Ticks::new(row.waited.get())) / row.began as f64;
        let theory = 0.7 * 0.7 * (1.0 + scv) / (2.0 * (1.0 - 0.7));
        assert!((wait / theory - 1.0).abs() < 0.04, "{law:?}: wait {wait}, by theory {theory}");
    }
}

#[test]
fn descriptions_may_have_any_distribution() {
    let law = Distribution::Erlang { stages: 3, mean: 0.5 };
    let facility = Network::new("queue")
        .source("in", Source::new(Distribution::Constant(1.0), "server"))
        .station("server", Station::new(law, "out").with_capacity(9))
        .sink("out")
        .compile()
        .unwrap();
    let network = FelNetwork::of(&facility).unwrap();
    let interval = facility.resolution().ticks(0.1).unwrap();
    let end = facility.resolution().ticks(300.0).unwrap();
    let results = same(&gpu(), &network, 2, interval.get(), &[end.get()]);
    assert_eq!(results.facilities[0].began, 300);
    assert!((results.facilities[1].busy.get() as f64 / end.get() as f64 - 0.5).abs() < 0.05);
}

#[test]
fn invalid_times_are_refused() {
    for (law, words) in [
        (Distribution::Erlang { stages: 0, mean: 1.0 }, "facility 0 has invalid times: it has 0 stages"),
        (Distribution::Constant(1e5), "facility 0 has times of 1000000000 ticks on average"),
    ] {
        let error = FelNetwork::from_facilities([station(law, &[0]).tokens(1)]).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), eventhorizon::ErrorKind::Usage);
    }
}
