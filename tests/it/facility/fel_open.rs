//! The event list with several servers, bounded queues that drop tokens, sources and an exit: the
//! GPU against the reference implementation, and both against theory.

use eventhorizon::facility::{FelFacility, FelNetwork, FelReference, FelResults};
use eventhorizon::statistics::theory::Mmck;
use eventhorizon::time::Ticks;
use proptest::prelude::*;

use super::common::{few, gpu};
use super::fel::{same, same_end};

const EXIT: u32 = FelFacility::EXIT;

fn station(mean: u64, targets: &[u32]) -> FelFacility {
    FelFacility::new(Ticks::new(mean), targets)
}

fn source(mean: u64, targets: &[u32]) -> FelFacility {
    FelFacility::source(Ticks::new(mean), targets)
}

/// M/M/c with a bounded queue.
fn single(between: u64, service: u64, servers: u32, places: u32) -> FelNetwork {
    let station = station(service, &[EXIT]).servers(servers).queue(places);
    FelNetwork::from_facilities([source(between, &[1]), station]).unwrap()
}

/// Three stations with feedback.
fn jackson(places: u32) -> FelNetwork {
    FelNetwork::from_facilities([
        source(20_000, &[1, 1, 2]),
        station(30_000, &[4, EXIT]).servers(3).queue(places),
        station(16_000, &[1, EXIT]).queue(places),
        source(50_000, &[4]),
        station(10_000, &[2, 1, 4, EXIT]).servers(2).queue(places),
    ])
    .unwrap()
}

fn by_reference(network: &FelNetwork, seed: u64, interval: u64, end: u64) -> FelResults {
    let mut reference = FelReference::new(network, seed, Ticks::new(interval)).unwrap();
    reference.run(Ticks::new(end)).unwrap();
    reference.results()
}

#[test]
fn open_networks_have_the_bits_of_the_reference() {
    let gpu = gpu();
    for &interval in few(2, &[0, 700, 1, 5000]) {
        let results = same(&gpu, &single(1000, 3500, 4, 3), 7, interval, &[900, 30_000, 200_000]);
        assert!(results.facilities[1].dropped > 0 && results.facilities[1].began > 100);
    }
    for &interval in few(2, &[0, 3000, 20_000]) {
        same(&gpu, &jackson(5), 3, interval, &[1_000_000, 4_000_000]);
    }
    // Without any place to wait, and with a facility that begins full.
    same(&gpu, &single(100, 250, 2, 0), 1, 10, &[20_000]);
    let full = [station(50, &[0, EXIT]).servers(3).queue(2).tokens(5), source(400, &[0])];
    same(&gpu, &FelNetwork::from_facilities(full).unwrap(), 5, 0, &[1, 5000]);
    // Closed, with several servers and with queues that drop.
    let ring =
        |facility: u32| station(100, &[(facility + 1) % 70]).servers(1 + facility % 5).tokens(facility % 9);
    same(&gpu, &FelNetwork::from_facilities((0..70).map(ring)).unwrap(), 2, 20, &[400, 3000]);
    let drops = |facility| ring(facility).queue(7);
    let results = same(&gpu, &FelNetwork::from_facilities((0..70).map(drops)).unwrap(), 2, 20, &[400, 3000]);
    assert!(results.facilities.iter().any(|row| row.dropped > 0));
    for gpu in few(1, &[gpu.without(wgpu::Features::all()), gpu.checked()]) {
        same(gpu, &jackson(2), 4, 3000, &[1_000_000]);
    }
}

#[test]
fn any_open_network() {
    let network = |count: u32| {
        let target = prop_oneof![4 => 0..count, 1 => Just(EXIT)];
        let targets = prop::collection::vec(target, 1..5);
        let facility = (0_u64..300, targets, 1_u32..5, 0_u32..6, 0_u32..6);
        let sources = prop::collection::vec((1_u64..200, 0..count), 1..4);
        (prop::collection::vec(facility, count as usize), sources)
    };
    let case = (1_u32..30).prop_flat_map(network);
    let gpu = gpu();
    let mut runner = super::common::random_cases(5);
    let cases = (case, any::<u64>(), 0_u64..300, 1_u64..2000);
    let checked = runner.run(&cases, |((facilities, sources), seed, interval, end)| {
        let stations = facilities.into_iter().map(|(mean, to, servers, places, held)| {
            station(mean, &to).servers(servers).queue(places).tokens(held.min(servers + places))
        });
        let sources = sources.into_iter().map(|(mean, to)| source(mean, &[to]));
        let network = FelNetwork::from_facilities(stations.chain(sources)).unwrap();
        same_end(&gpu, &network, seed, interval, end)
    });
    checked.unwrap();
}

/// Compares loads, waits and losses of a station with theory, in shares of it.
fn near(results: &FelResults, station: usize, [between, service]: [f64; 2], (servers, places): (u32, u32)) {
    let theory = Mmck::new(1.0 / between, 1.0 / service, servers, servers + places).unwrap();
    let row = &results.facilities[station];
    let busy = row.busy.get() as f64 / results.time.get() as f64;
    let load = service / between * (1.0 - theory.blocking());
    assert!((busy / load - 1.0).abs() < 0.01, "station {station}: load {busy} and {load}");
    let [wait, expected] = [row.mean_wait(), theory.time_in_queue()];
    assert!((wait / expected - 1.0).abs() < 0.05, "station {station}: wait {wait} and {expected}");
    assert!((row.loss() - theory.blocking()).abs() < 0.002, "station {station}: {}", row.loss());
}

#[test]
fn waits_and_losses_are_those_of_theory() {
    // M/M/3 at a load of 0.8, M/M/1/5 and M/M/4/4 (Erlang's loss). Times are long, so that the
    // extra tick of each does not count.
    for (between, service, servers, places) in [(10_000, 24_000, 3, 3000), (10_000, 9000, 1, 4)] {
        let results = by_reference(&single(between, service, servers, places), 1, 0, 4_000_000_000);
        near(&results, 1, [between as f64, service as f64], (servers, places));
        assert!((results.facilities[0].began as f64 / 400_000.0 - 1.0).abs() < 0.01);
    }
    let results = by_reference(&single(10_000, 30_000, 4, 0), 1, 0, 4_000_000_000);
    let theory = Mmck::new(1.0 / 10_000.0, 1.0 / 30_000.0, 4, 4).unwrap().blocking();
    let loss = results.facilities[1].loss();
    assert!((loss / theory - 1.0).abs() < 0.02, "{loss} {theory}");
    assert_eq!(results.facilities[1].waited, Ticks::ZERO);
}

#[test]
fn an_open_network_of_jackson_has_its_product_form() {
    let results = by_reference(&jackson(5000), 2, 0, 8_000_000_000);
    // Traffic equations, per 100,000 ticks: a = 10/3 + b/2 + d/4, b = 5/3 + d/4,
    // d = 2 + a/2 + d/4.
    let [a, b, d] = [62.0 / 9.0, 94.0 / 27.0, 196.0 / 27.0];
    for (station, rate, service, servers) in [(1, a, 30_000.0, 3), (2, b, 16_000.0, 1), (4, d, 10_000.0, 2)] {
        near(&results, station, [100_000.0 / rate, service], (servers, 5000));
    }
}

#[test]
fn the_error_of_the_loss_is_small_with_short_intervals_and_large_with_long_ones() {
    let network = single(10_000, 9000, 1, 4);
    let theory = Mmck::new(1.0 / 10_000.0, 1.0 / 9000.0, 1, 5).unwrap().blocking();
    let error =
        |interval| by_reference(&network, 3, interval, 4_000_000_000).facilities[1].loss() / theory - 1.0;
    // Up to half a mean service, and twice of it.
    let errors = [0, 900, 4500, 18_000].map(error);
    assert!(errors[0].abs() < 0.01, "{errors:?}");
    assert!(errors[1..3].iter().all(|error| error.abs() < 0.03) && errors[3] > 0.2, "{errors:?}");
}

#[test]
fn steps_are_iterations() {
    let network = jackson(5);
    let end = Ticks::new(2_000_000);
    let mut stepped = FelReference::new(&network, 9, Ticks::new(500)).unwrap();
    let (mut last, mut left) = (Ticks::ZERO, 0);
    while let Some(now) = stepped.next_event_time().filter(|&now| now < end) {
        assert!(now >= last && now.get().is_multiple_of(500));
        last = now;
        let released = stepped.next_events(now);
        assert!(!released.is_empty());
        assert!(released.iter().all(|token| token.to.is_none_or(|to| [1, 2, 4].contains(&to))));
        left += released.iter().filter(|token| token.to.is_none()).count() as u64;
        stepped.schedule_servers(now, &released);
    }
    stepped.run(end).unwrap();
    let results = stepped.results();
    assert_eq!(results, by_reference(&network, 9, 500, end.get()));
    // Tokens are conserved: those that came have left, were dropped, wait or are in service.
    let came: u64 = [0, 3].map(|source| results.facilities[source].began - 1).iter().sum();
    let dropped: u64 = results.facilities.iter().map(|row| row.dropped).sum();
    let inside = came - left - dropped;
    let serving: u64 = [1, 2, 4].map(|station| u64::from(results.facilities[station].serving)).iter().sum();
    assert!(inside >= serving && inside <= serving + 15, "{inside} {serving}");
}

#[test]
fn open_networks_that_are_invalid_are_refused() {
    let build = |facilities: Vec<FelFacility>| FelNetwork::from_facilities(facilities);
    let wide = |count: u32| {
        let all = (0..count).map(|_| station(9, &[0]).servers(16).tokens(1));
        build(all.collect())
    };
    assert!(wide(15).is_ok());
    for (network, words) in [
        (build(vec![source(9, &[1]), station(9, &[EXIT])]), "facility 1 has a queue without a bound"),
        (build(vec![source(9, &[1]), station(9, &[0]).queue(1)]), "facility 0, which is a source"),
        (build(vec![source(9, &[0]).servers(2)]), "facility 0 is a source with servers"),
        (build(vec![station(9, &[0]).servers(65).tokens(1)]), "facility 0 has 65 servers"),
        (build(vec![station(9, &[0]).servers(0).tokens(1)]), "facility 0 has 0 servers"),
        (build(vec![station(9, &[0]).queue(2).tokens(4)]), "facility 0 begins with 4 tokens"),
        (build(vec![station(9, &[EXIT]).queue(1 << 29).tokens(1)]), "more than 2^28 places"),
        (build(vec![station(9, &[EXIT])]), "a network with 0 tokens"),
        (wide(16), "facilities with 16 servers, of which up to 256 send"),
    ] {
        let error = network.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), eventhorizon::ErrorKind::Usage);
    }
}

#[test]
fn an_open_description_is_a_network_of_the_event_list() {
    let facility = super::shipped_one("mmck").compile().unwrap();
    let network = FelNetwork::of(&facility).unwrap();
    assert_eq!(network.names(), ["cars", "garage"]);
    let end = facility.resolution().ticks(50_000.0).unwrap();
    same(&gpu(), &network, 1, 0, &[end.get() / 500]);
    let results = by_reference(&network, 1, 0, end.get());
    let theory = Mmck::new(2.5, 1.0, 3, 5).unwrap().blocking();
    let loss = results.facilities[1].loss();
    assert!((loss / theory - 1.0).abs() < 0.03, "{loss} {theory}");
}
