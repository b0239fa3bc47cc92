use eventhorizon::models::Priorities;
use eventhorizon::pdes::{CpuSimulation, Options};
use eventhorizon::statistics::theory;
use eventhorizon::time::Resolution;

use super::{Estimate, Reference, same_in_all_ways, ticks, until};

const CLASSES: [(f64, f64); 3] = [(0.3, 1.5), (0.2, 0.8), (0.1, 1.0)];

fn stations(stations: u32, classes: &[(f64, f64)], room: u32) -> Priorities {
    Priorities::new(stations, classes, room, Resolution::default()).unwrap()
}

#[test]
fn the_gpu_has_the_bits_of_the_cpu() {
    same_in_all_ways(&Reference(stations(70, &CLASSES, 20).with_warm_up(ticks(40.0))), 60.3, 300.0);
    // Classes without customers.
    let options = Options::default().seed(2);
    let states = super::same(&Reference(stations(40, &CLASSES[..1], 20)), options, &[until(100.0)]);
    assert!(states.iter().all(|state| state.system[0].count() > 0 && state.system[1].count() == 0));
}

#[test]
fn times_in_the_system_are_those_of_the_formula() {
    let model = stations(400, &CLASSES, 64).with_warm_up(ticks(200.0));
    let mut simulation = CpuSimulation::new(&model, Options::default().seed(1)).unwrap();
    simulation.run(until(5000.0)).unwrap();
    let queue = theory::Priorities::new(&CLASSES).unwrap();
    let unit = ticks(1.0).get() as f64;
    let estimate = |class: usize| {
        let tallies = simulation.states().iter().map(|state| &state.system[class]);
        Estimate::of(tallies.map(|tally| (tally.sum() as f64 / unit, tally.count() as f64)))
    };
    for class in 0..3 {
        estimate(class).assert_is("time in the system", queue.time_in_system(class).unwrap());
    }
    // Without preemption (Cobham 1954), the first class would wait for the rest of any service, and
    // the last one less.
    let left: f64 = CLASSES.iter().map(|(arrival, service)| arrival / (service * service)).sum();
    let politely = |class: usize| {
        left / ((1.0 - queue.load(class)) * (1.0 - queue.load(class + 1))) + 1.0 / CLASSES[class].1
    };
    assert!(estimate(0).away(politely(0)) > 20.0 && estimate(2).away(politely(2)) > 4.0);
}
