//! The models of `pdes` that ship.

use std::convert::Infallible;

use eventhorizon::models::{CallCentre, Epidemic, FifoTorus, Phold, Priorities, Torus};
use eventhorizon::pdes::{CpuEngine, CpuModel, CpuSimulation, EngineOptions, Options, Simulation, Until};
use eventhorizon::statistics::{Design, Experiment, Point};
use eventhorizon::time::Resolution;

use super::common::references::Reference;
use super::{agrees, common, ticks};

fn units() -> Resolution {
    Resolution::default()
}

fn torus() -> Torus {
    Torus::new(7, 10, 200, 1.0, 0.01, units()).unwrap().with_warm_up(ticks(3.0))
}

#[test]
fn phold_has_the_bits_of_its_reference_implementation() {
    let phold = Phold::new(200, 4, 0.1, 10.0, units()).unwrap();
    agrees(&Reference(phold), &[ticks(15.0), ticks(400.0)]);
    agrees(&Reference(phold.with_neighbours(4).unwrap()), &[ticks(15.0), ticks(400.0)]);
    agrees(&Reference(Phold::new(1, 3, 5.0, 0.0, units()).unwrap()), &[ticks(1.0), ticks(100.0)]);
}

#[test]
fn models_with_results_and_memory_have_the_bits_of_their_reference_implementations() {
    let ends = &[ticks(4.21), ticks(60.0)];
    agrees(&Reference(torus()), ends);
    agrees(&Reference(FifoTorus::new(5, 6, 60, 1.0, units()).unwrap()), ends);
    agrees(&Reference(CallCentre::new(20, 3, 4.0, 1.0, 0.5, 64, units()).unwrap()), ends);
    let classes = [(0.2, 1.0), (0.2, 1.0), (0.2, 2.0)];
    let priorities = Priorities::new(20, &classes, 64, units()).unwrap().with_warm_up(ticks(2.0));
    agrees(&Reference(priorities), ends);
    let edges = Epidemic::random_edges(300, 600, 30, 99);
    let epidemic = Epidemic::new(300, &edges, 3, 0.5, 0.6, 1.0, units()).unwrap();
    agrees(&Reference(epidemic), &[ticks(2.0), ticks(30.0)]);
}

/// A run that began in one way continues in another.
#[test]
fn runs_are_saved_and_resumed_by_any_engine() {
    let (model, end) = (Reference(torus()), Until::time(ticks(20.0)));
    let mut whole = CpuSimulation::in_rust(&model, Options::default().seed(5)).unwrap();
    whole.run(end).unwrap();
    let mut begun = CpuSimulation::new(&model, Options::default().seed(5)).unwrap();
    begun.run(Until::time(ticks(7.0))).unwrap();
    let saved = begun.checkpoint().unwrap();
    let mut by_reference = CpuSimulation::resume_in_rust(&model, &saved).unwrap();
    assert_eq!(by_reference.checkpoint().unwrap(), saved);
    by_reference.run(end).unwrap();
    let mut by_native = CpuSimulation::resume(&model, &saved).unwrap();
    by_native.run(end).unwrap();
    let mut by_device = Simulation::resume(&common::gpu(), &model, Options::default(), &saved).unwrap();
    by_device.run(end).unwrap();
    let fingerprints =
        [by_reference.fingerprint(), by_native.fingerprint(), by_device.fingerprint().unwrap()];
    assert_eq!(fingerprints, [whole.fingerprint(); 3]);
}

/// Runs an experiment over customers with both engines of the CPU.
fn experiment<M: CpuModel<Output: PartialEq> + Sync + 'static>(
    model: impl Fn(f64) -> M + Copy + 'static,
    options: EngineOptions,
) {
    let design = Design::default().cross("level", [40, 70]).unwrap();
    let (experiment, end) = (Experiment::new(design, 9, 3), Until::time(ticks(8.0)));
    let level = |point: &Point<'_>| point.real("level", 0.0);
    let build = move |point: &Point<'_>| Ok::<_, Infallible>(model(level(point)));
    let (reference, native) = (CpuEngine::in_rust(build, options), CpuEngine::new(build, options));
    let (expected, found) = (reference.run(&experiment, end).unwrap(), native.run(&experiment, end).unwrap());
    assert_eq!(found.fingerprint, expected.fingerprint);
    for (found, expected) in found.runs.iter().flatten().zip(expected.runs.iter().flatten()) {
        let (found, expected) = (found.as_ref().unwrap(), expected.as_ref().unwrap());
        assert_eq!(found.totals, expected.totals);
        assert!(found.outputs == expected.outputs && found.memory == expected.memory);
    }
}

#[test]
fn replications_on_all_cores_have_the_same_bits() {
    let torus = |customers: f64| Reference(Torus::new(4, 5, customers as u32, 1.0, 0.1, units()).unwrap());
    experiment(torus, EngineOptions::default());
    experiment(torus, EngineOptions::default().outputs(true));
    let centre = |rate: f64| Reference(CallCentre::new(4, 3, rate / 10.0, 1.0, 0.5, 64, units()).unwrap());
    experiment(centre, EngineOptions::default().memory([0, 3]));
}
