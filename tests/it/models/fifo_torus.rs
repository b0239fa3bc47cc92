use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{CpuSimulation, Options, Sync};
use eventhorizon::statistics::theory::ClosedNetwork;
use eventhorizon::time::Resolution;

use super::{Estimate, Reference, neighbours_in_all_ways, same_in_all_ways, ticks, until};

fn torus(rows: u32, columns: u32, customers: u32) -> FifoTorus {
    FifoTorus::new(rows, columns, customers, 1.0, Resolution::default()).unwrap()
}

#[test]
fn the_gpu_has_the_bits_of_the_cpu() {
    // YAWNS windows span one tick here, and a unit has a million: they suit only little work.
    same_in_all_ways(&Reference(torus(6, 4, 40)), 0.71, 1.9);
    neighbours_in_all_ways(&Reference(torus(6, 10, 200)), 4.21, 12.0);
    // Neighbours that are the same station or the station itself; fewer customers than stations.
    for (rows, columns, customers) in [(1, 1, 5), (2, 2, 3), (1, 33, 20), (3, 1, 90)] {
        let options = Options::default().seed(3).sync(Sync::Neighbours);
        let model = Reference(torus(rows, columns, customers));
        let states = super::same(&model, options, &[until(30.0)]);
        assert!(states.iter().all(|state| state.served > 0 && state.busy > ticks(0.0)));
    }
}

/// Stations of one network are dependent, so independent runs have several seeds. For each:
/// utilisation, number waiting at a station, throughput of a station per unit of time.
fn runs(model: &FifoTorus, stations: f64, begin: f64, end: f64, seeds: u64) -> [Estimate; 3] {
    let unit = ticks(1.0).get() as f64;
    let runs: Vec<[f64; 3]> = (0..seeds)
        .map(|seed| {
            let mut simulation = CpuSimulation::new(model, Options::default().seed(seed)).unwrap();
            // The model has no warm-up: the values at `begin` are subtracted.
            let [before, after] = [begin, end].map(|at| {
                simulation.run(until(at)).unwrap();
                let outputs = simulation.outputs(ticks(at)).unwrap();
                outputs.rows().iter().fold([0.0; 3], |[busy, waited, served], station| {
                    [
                        busy + station.busy.get() as f64 / unit,
                        waited + station.waited.get() as f64 / unit,
                        served + station.served as f64,
                    ]
                })
            });
            [0, 1, 2].map(|i| after[i] - before[i])
        })
        .collect();
    [0, 1, 2].map(|column| Estimate::of(runs.iter().map(|run| (run[column], stations * (end - begin)))))
}

#[test]
fn utilisation_is_that_of_the_closed_network() {
    for (rows, columns, customers) in [(4, 4, 32), (2, 6, 7)] {
        let stations = rows * columns;
        let [busy, waiting, served] =
            runs(&torus(rows, columns, customers), f64::from(stations), 50.0, 2050.0, 64);
        let theory = ClosedNetwork::new(&[(stations, 1.0)], 0.0, customers).unwrap();
        let utilisation = f64::from(customers) / f64::from(customers + stations - 1);
        assert!((theory.utilisation(0).unwrap() - utilisation).abs() < 1e-12);
        busy.assert_is("utilisation", utilisation);
        // A customer in a station waits or is served.
        waiting.assert_is("number that waits", theory.number(0).unwrap() - utilisation);
        served.assert_is("throughput of a station", theory.throughput());
    }
}
