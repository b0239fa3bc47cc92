//! PHOLD on the GPU is PHOLD on the CPU, bit for bit.

mod common;

use common::gpu;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuSimulation, Options, Simulation, Until};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Resolution;

fn phold(lps: u32, population: u32, rate: f64) -> Phold {
    Phold::new(lps, population, rate, 10.0, Resolution::default()).unwrap()
}

fn until(units: f64) -> Until {
    Until::time(Resolution::default().ticks(units).unwrap())
}

/// Runs both engines and compares everything that a user can see.
fn same(gpu: &Gpu, model: &Phold, options: Options, ends: &[Until]) {
    let mut cpu = CpuSimulation::new(model, options.seed).unwrap();
    let mut simulation = Simulation::new(gpu, model, options).unwrap();
    for &end in ends {
        let expected = cpu.run(end).unwrap();
        let found = simulation.run(end).unwrap();
        assert_eq!(found, expected, "{options:?}");
        assert!(simulation.states().unwrap() == cpu.states(), "states differ: {options:?}");
        assert!(simulation.pending().unwrap() == cpu.pending(), "pending events differ: {options:?}");
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{options:?}");
    }
}

#[test]
fn every_queue_and_workgroup_size_gives_the_bits_of_the_cpu() {
    let gpu = gpu();
    let model = phold(200, 8, 0.1);
    for queue in QueueDesign::ALL {
        for workgroup in [1, 8, 64, 256] {
            let options = Options { seed: 42, queue: Some(queue), workgroup: Some(workgroup) };
            same(&gpu, &model, options, &[until(100.0)]);
        }
    }
}
