use eventhorizon::models::Torus;
use eventhorizon::pdes::{CpuSimulation, Options};
use eventhorizon::statistics::theory::ClosedNetwork;
use eventhorizon::time::Resolution;

use super::{Estimate, Reference, neighbours_in_all_ways, same_in_all_ways, ticks, until};

fn torus(rows: u32, columns: u32, customers: u32, travel: f64) -> Torus {
    Torus::new(rows, columns, customers, 1.0, travel, Resolution::default()).unwrap()
}

#[test]
fn the_gpu_has_the_bits_of_the_cpu() {
    let model = Reference(torus(7, 10, 200, 0.01).with_warm_up(ticks(3.0)));
    same_in_all_ways(&model, 4.21, 12.0);
    neighbours_in_all_ways(&model, 4.21, 12.0);
    // Neighbours that are the same station or the station itself; fewer customers than stations;
    // long travel times.
    for (rows, columns, customers, travel) in
        [(1, 1, 5, 0.3), (2, 2, 3, 5.0), (1, 33, 20, 0.5), (3, 1, 90, 1.0)]
    {
        let options = Options::default().seed(3);
        let model = Reference(torus(rows, columns, customers, travel));
        let states = super::same(&model, options, &[until(50.0)]);
        let here: u32 = states.iter().map(|state| state.number.level()).sum();
        assert!(here <= customers);
    }
}

/// Stations of one network are dependent, so independent runs have several seeds. For each:
/// utilisation, number in station, throughput of a station per unit of time.
fn runs(model: &Torus, stations: f64, begin: f64, end: f64, seeds: u64) -> [Estimate; 3] {
    let model = model.with_warm_up(ticks(begin));
    let unit = ticks(1.0).get() as f64;
    let runs: Vec<[f64; 3]> = (0..seeds)
        .map(|seed| {
            let mut simulation = CpuSimulation::new(&model, Options::default().seed(seed)).unwrap();
            simulation.run(until(end)).unwrap();
            simulation.states().iter().fold([0.0; 3], |[busy, number, served], state| {
                [
                    busy + state.busy.at(ticks(end)).area().unwrap() as f64 / unit,
                    number + state.number.at(ticks(end)).area().unwrap() as f64 / unit,
                    served + state.served as f64,
                ]
            })
        })
        .collect();
    [0, 1, 2].map(|column| Estimate::of(runs.iter().map(|run| (run[column], stations * (end - begin)))))
}

#[test]
fn utilisation_is_that_of_the_closed_network() {
    let [busy, number, served] = runs(&torus(4, 4, 32, 0.01), 16.0, 50.0, 2050.0, 64);
    let theory = ClosedNetwork::new(&[(16, 1.0)], 16.0 * 0.01, 32).unwrap();
    busy.assert_is("utilisation", theory.utilisation(0).unwrap());
    number.assert_is("number in station", theory.number(0).unwrap());
    served.assert_is("throughput of a station", theory.throughput());
    // K / (K + N - 1) omits the travel time, whose share is small here, but shows in the number of
    // customers in stations.
    assert!((busy.mean / (32.0 / 47.0) - 1.0).abs() < 0.01);
    assert!(number.away(2.0) > 100.0);
}

#[test]
fn long_ways_count() {
    let [busy, number, served] = runs(&torus(3, 4, 18, 0.5), 12.0, 50.0, 2050.0, 64);
    let theory = ClosedNetwork::new(&[(12, 1.0)], 12.0 * 0.5, 18).unwrap();
    busy.assert_is("utilisation", theory.utilisation(0).unwrap());
    number.assert_is("number in station", theory.number(0).unwrap());
    served.assert_is("throughput of a station", theory.throughput());
    assert!(busy.away(18.0 / 29.0) > 20.0, "the ways have their part in it");
}
