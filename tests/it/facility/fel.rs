//! The event list of Park and Fishwick: the GPU against its reference implementation, and without
//! intervals against the sequential engine of `pdes`.

use std::ops::ControlFlow;

use eventhorizon::facility::{FelError, FelNetwork, FelReference, FelResults, FelSimulation};
use eventhorizon::gpu::Gpu;
use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{CpuSimulation, Options, Until};
use eventhorizon::statistics::theory::ClosedNetwork;
use eventhorizon::time::{Resolution, Ticks};
use proptest::prelude::*;

use super::common::gpu;

/// Compares both at some times.
pub(super) fn same(gpu: &Gpu, network: &FelNetwork, seed: u64, interval: u64, ends: &[u64]) -> FelResults {
    let interval = Ticks::new(interval);
    let mut simulation = FelSimulation::new(gpu, network, seed, interval).unwrap();
    let mut reference = FelReference::new(network, seed, interval).unwrap();
    let mut last = None;
    for &end in ends {
        simulation.run(Ticks::new(end)).unwrap();
        reference.run(Ticks::new(end)).unwrap();
        let results = simulation.results().unwrap();
        assert_eq!(results, reference.results(), "interval {interval:?}, until {end}");
        assert_eq!(results.fingerprint(), reference.results().fingerprint());
        last = Some(results);
    }
    last.unwrap()
}

/// Compares how both end: with the same results, or stuck at the same time.
pub(super) fn same_end(
    gpu: &Gpu,
    network: &FelNetwork,
    seed: u64,
    interval: u64,
    end: u64,
) -> Result<(), TestCaseError> {
    let (interval, end) = (Ticks::new(interval), Ticks::new(end));
    let mut simulation = FelSimulation::new(gpu, network, seed, interval).unwrap();
    let mut reference = FelReference::new(network, seed, interval).unwrap();
    match (simulation.run(end), reference.run(end)) {
        (Ok(time), Ok(expected)) => {
            prop_assert_eq!(time, expected);
            prop_assert_eq!(simulation.results().unwrap(), reference.results());
        }
        (Err(FelError::Stuck { time, .. }), Err(FelError::Stuck { time: expected, .. })) => {
            prop_assert_eq!(time, expected);
        }
        other => prop_assert!(false, "{:?}", other),
    }
    Ok(())
}

fn torus(rows: u32, columns: u32, tokens: u32, mean: u64) -> FelNetwork {
    FelNetwork::torus(rows, columns, tokens, Ticks::new(mean)).unwrap()
}

#[test]
fn without_an_interval_it_has_the_bits_of_the_conservative_engine() {
    // Service times of a few ticks, so that many events are simultaneous. (With an odd side,
    // stations are numbered row by row.)
    for (ticks, rows, columns, tokens) in
        [(3, 15, 7, 105), (100, 9, 5, 12), (1 << 20, 15, 7, 300), (2, 1, 1, 3)]
    {
        let resolution = Resolution::new(ticks).unwrap();
        let model = FifoTorus::new(rows, columns, tokens, 1.0, resolution).unwrap();
        let end = Ticks::new(u64::from(ticks) * 30);
        let mut cpu = CpuSimulation::new(&model, Options::default().seed(7)).unwrap();
        cpu.run(Until::time(end)).unwrap();
        let expected = cpu.outputs(end).unwrap();
        let network = torus(rows, columns, tokens, u64::from(ticks));
        let results = same(&gpu(), &network, 7, 0, &[end.get() / 3, end.get()]);
        for (row, expected) in results.facilities.iter().zip(expected.rows()) {
            assert_eq!(row.busy, expected.busy);
            assert!(row.began <= expected.served && row.waited <= expected.waited);
        }
        assert!(results.served() > u64::from(tokens));
    }
}

#[test]
fn intervals_of_any_length_and_runs_cut_anywhere() {
    let gpu = gpu();
    for (rows, columns, tokens) in [(1, 1, 1), (1, 2, 5), (3, 21, 63), (8, 8, 64), (5, 51, 500), (16, 16, 99)]
    {
        for interval in [1, 2, 7, 10, 30] {
            same(&gpu, &torus(rows, columns, tokens, 100), 3, interval, &[1, 250, 251, 999, 2000]);
        }
    }
    // Several workgroups, and the last of them nearly empty.
    for (rows, columns) in [(1, 257), (32, 40), (11, 93)] {
        same(&gpu, &torus(rows, columns, rows * columns, 50), 5, 5, &[300]);
    }
    for gpu in [gpu.without(wgpu::Features::all()), gpu.checked()] {
        same(&gpu, &torus(9, 15, 200, 100), 1, 10, &[500, 1000]);
    }
}

#[test]
fn tokens_that_arrive_together_are_taken_by_their_original_times() {
    // Many send to one, in whole intervals of a mean: most arrivals are simultaneous. A later end
    // shows the order of service.
    let facilities = (0..40).map(|facility| {
        let targets = if facility == 0 { (1..40).collect() } else { vec![0] };
        (Ticks::new(if facility == 0 { 3 } else { 100 }), targets, 2)
    });
    let network = FelNetwork::new(facilities).unwrap();
    let by_seed = [1, 2].map(|seed| same(&gpu(), &network, seed, 100, &[3000, 30_000]));
    assert_ne!(by_seed[0], by_seed[1]);
    // True ties: services of a tick or two.
    let facilities =
        (0..30_u32).map(|facility| (Ticks::new(1), vec![facility / 2, (facility * 7 + 1) % 30], 3));
    same(&gpu(), &FelNetwork::new(facilities).unwrap(), 3, 0, &[50, 400]);
}

#[test]
fn any_network() {
    let network = |count: u32| {
        let facility = (0_u64..300, prop::collection::vec(0..count, 1..5), 0_u32..4);
        prop::collection::vec(facility, count as usize)
    };
    let case = (1_u32..40).prop_flat_map(network);
    let gpu = gpu();
    let mut runner = super::common::random_cases(12);
    let checked =
        runner.run(&(case, any::<u64>(), 0_u64..400, 1_u64..3000), |(facilities, seed, interval, end)| {
            let facilities = facilities.into_iter().map(|(mean, to, held)| (Ticks::new(mean), to, held + 1));
            let network = FelNetwork::new(facilities).unwrap();
            same_end(&gpu, &network, seed, interval, end)
        });
    checked.unwrap();
}

#[test]
fn the_error_of_the_utilisation_grows_with_the_interval() {
    let units = Resolution::new(1000).unwrap();
    let network = torus(16, 16, 256, units.ticks(10.0).unwrap().get());
    let end = units.ticks(8000.0).unwrap();
    let utilisation = |interval: f64| {
        let mut reference = FelReference::new(&network, 1, units.ticks(interval).unwrap()).unwrap();
        reference.run(end).unwrap();
        reference.results().utilisation()
    };
    let theory = ClosedNetwork::new(&[(256, 10.0)], 0.0, 256).unwrap().utilisation(0).unwrap();
    let exact = utilisation(0.0);
    assert!((exact / theory - 1.0).abs() < 0.01, "{exact} {theory}");
    let errors = [2.0, 10.0, 30.0].map(|interval| (utilisation(interval) / exact - 1.0).abs());
    assert!(errors[0] < errors[1] && errors[1] < errors[2] && errors[2] > 0.05, "{errors:?}");
}

#[test]
fn a_run_that_its_watcher_ends_goes_on_from_there() {
    let network = torus(9, 9, 100, 1000);
    let interval = Ticks::new(100);
    let mut simulation = FelSimulation::new(&gpu(), &network, 3, interval).unwrap();
    let end = Ticks::new(200_000);
    let time = simulation.until(end).watch(|_| ControlFlow::Break(())).run().unwrap();
    assert!(time < end);
    let (early, mut reference) =
        (simulation.results().unwrap(), FelReference::new(&network, 3, interval).unwrap());
    assert_eq!(early.time, time);
    assert_eq!(simulation.run(end).unwrap(), end);
    reference.run(end).unwrap();
    assert_eq!(simulation.results().unwrap(), reference.results());
    assert!(early.served() < reference.results().served());
}

#[test]
fn time_that_stands_still_is_told() {
    // Every service is rounded to zero.
    let network = torus(4, 4, 16, 100);
    let interval = Ticks::new(1 << 20);
    let mut simulation = FelSimulation::new(&gpu(), &network, 1, interval).unwrap();
    let mut reference = FelReference::new(&network, 1, interval).unwrap();
    for error in [simulation.run(Ticks::new(1)), reference.run(Ticks::new(1))] {
        let error = error.unwrap_err();
        assert!(matches!(error, FelError::Stuck { time: 0, interval: 1_048_576 }), "{error}");
    }
}

#[test]
fn networks_that_are_none_are_refused() {
    let one = |mean, targets: Vec<u32>, tokens| FelNetwork::new([(Ticks::new(mean), targets, tokens)]);
    let many = (0..66).map(|facility| (Ticks::new(9), vec![u32::from(facility == 0)], 1));
    for (network, words) in [
        (FelNetwork::new([]), "0 facilities"),
        (one(1 << 28, vec![0], 1), "has times of 268435456 ticks"),
        (one(9, vec![], 1), "facility 0 sends to 0"),
        (one(9, vec![1], 1), "facility 0 sends to facility 1 of 1"),
        (one(9, vec![0], 0), "0 tokens"),
        (FelNetwork::torus(0, 7, 7, Ticks::new(9)), "torus of 0 x 7"),
        (FelNetwork::torus(1 << 20, 1 << 20, 7, Ticks::new(9)), "1048576 x 1048576"),
        (FelNetwork::new(many), "65 facilities send to facility 0"),
    ] {
        let error = network.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let network = torus(2, 2, 4, 9);
    let error = FelReference::new(&network, 1, Ticks::new(1 << 40)).unwrap_err().to_string();
    assert!(error.contains("1099511627776 ticks"), "{error}");
}

#[test]
fn a_description_is_a_network_of_the_event_list_or_is_refused() {
    let facility = super::shipped_one("torus").compile().unwrap();
    let network = FelNetwork::of(&facility).unwrap();
    assert_eq!(network.len(), 9);
    let end = facility.resolution().ticks(60_000.0).unwrap();
    let results = same(&gpu(), &network, 1, 0, &[end.get() / 30]);
    assert!(results.served() > 300);
    let mut reference = FelReference::new(&network, 1, Ticks::ZERO).unwrap();
    reference.run(end).unwrap();
    // Nine equal facilities, nine customers.
    let utilisation = reference.results().utilisation();
    assert!((utilisation - 9.0 / 17.0).abs() < 0.01, "{utilisation}");
    for (name, words) in [
        ("mm1", "has no `capacity`"),
        ("machine_repair", "`running` is a delay"),
        ("processor", "serves several classes"),
    ] {
        let error = FelNetwork::of(&super::shipped_one(name).compile().unwrap()).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}
