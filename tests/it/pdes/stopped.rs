//! Runs that their watchers stop at a window. Results are valid, and the runs can continue.

use std::ops::ControlFlow;

use eventhorizon::models::CallCentre;
use eventhorizon::pdes::{
    CpuEngine, CpuSimulation, Engine, EngineOptions, Mapping, Options, Simulation, SimulationError, Stop,
    Sync, Until,
};
use eventhorizon::statistics::{
    Budget, Decision, Design, Experiment, Observations, Point, Precision, Stopping,
};
use eventhorizon::time::Resolution;

use super::common::is_hardware;
use super::common::models::Ring;
use super::{gpu, phold, until};

#[test]
fn a_run_stops_after_some_window_and_goes_on_to_the_same_bits() {
    let (model, end) = (phold(500, 4, 0.1), until(2000.0));
    let mut cpu = CpuSimulation::new(&model, Options::default().seed(7)).unwrap();
    let expected = cpu.run(end).unwrap();
    let options = Options::default().seed(7).sync(Sync::Yawns);
    let gpu = gpu();
    let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
    let mut last = 0;
    for stops in 1..4 {
        let mut calls = 0;
        let stopped = simulation
            .until(end)
            .watch(|progress| {
                calls += 1;
                assert!(progress.events >= last);
                last = progress.events;
                if calls == stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .run()
            .unwrap();
        // Hardware may be at the end before it asks.
        if is_hardware(&gpu) && stopped.stop == Some(Stop::Time) {
            break;
        }
        assert_eq!(stopped.stop, Some(Stop::Watcher), "{stopped:?}");
        assert!(stopped.events >= last && stopped.events < expected.events, "{stopped:?}");
        // It has executed the same events as the sequential engine by then.
        let mut same = CpuSimulation::new(&model, Options::default().seed(7)).unwrap();
        same.run(Until::events(stopped.events)).unwrap();
        assert_eq!(simulation.fingerprint().unwrap(), same.fingerprint());
        assert_eq!(simulation.progress().unwrap().events, stopped.events);
    }
    assert_eq!(simulation.run(end).unwrap(), expected);
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
}

#[test]
fn a_run_that_has_to_grow_after_it_was_stopped_loses_nothing() {
    // A queue that overflows some time after the stop: growth returns to a snapshot of the stopped
    // run, not to an earlier one.
    let (tight, end) = (phold(300, 4, 0.1), until(1500.0));
    let tight = tight.with_capacity(eventhorizon::pdes::Capacity { queue: 12, mailbox: 8 });
    let mut cpu = CpuSimulation::new(&tight, Options::default().seed(1)).unwrap();
    cpu.run(end).unwrap();
    let mut simulation = Simulation::new(&gpu(), &tight, Options::default().seed(1)).unwrap();
    for _ in 0..5 {
        simulation.until(end).watch(|_| ControlFlow::Break(())).run().unwrap();
    }
    simulation.run(end).unwrap();
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
}

#[test]
fn the_sequential_engine_stops_too() {
    // It would never end otherwise.
    let model = phold(100, 4, 0.1);
    let mut simulation = CpuSimulation::new(&model, Options::default().seed(7)).unwrap();
    let stopped = simulation.until(Until::EMPTY).watch(|_| ControlFlow::Break(())).run().unwrap();
    assert_eq!(stopped.stop, Some(Stop::Watcher));
    let mut same = CpuSimulation::new(&model, Options::default().seed(7)).unwrap();
    same.run(Until::events(stopped.events)).unwrap();
    assert_eq!(simulation.fingerprint(), same.fingerprint());
    // A run that ends before the watcher is called ends normally.
    let ring = Ring::new(10, 3);
    let mut simulation = CpuSimulation::in_rust(&ring, Options::default().seed(7)).unwrap();
    let ended = simulation.until(Until::EMPTY).watch(|_| ControlFlow::Break(())).run().unwrap();
    assert_eq!(ended.stop, Some(Stop::Empty));
}

fn centre(point: &Point<'_>) -> Result<CallCentre, Box<dyn std::error::Error + Send + std::marker::Sync>> {
    Ok(CallCentre::new(3, point.whole("servers", 3)?, 3.0, 1.0, 0.5, 32, Resolution::default())?)
}

fn reported(observations: &[Observations]) -> Vec<String> {
    observations.iter().map(|point| format!("{:?}", point.columns())).collect()
}

#[test]
fn an_experiment_that_is_stopped_has_the_results_of_its_first_replications() {
    let design = Design::default().cross("servers", [3, 4]).unwrap();
    let experiment = Experiment::new(design, 40, 3);
    let end = until(30.0);
    for mapping in [Mapping::Grid, Mapping::Team, Mapping::Thread] {
        let options = EngineOptions::default().mapping(mapping);
        let mut engine = Engine::new(&gpu(), centre, options).unwrap();
        let none = engine.experiment(&experiment, end).watch(|_, _| ControlFlow::Break(())).run();
        assert!(none.is_err_and(|error| matches!(error, SimulationError::Stopped)), "{mapping}");
    }
    // One run after the other: it is stopped after the seventh of 80, so three of each point have
    // ended.
    let options = EngineOptions::default().mapping(Mapping::Grid);
    let mut engine = Engine::new(&gpu(), centre, options).unwrap();
    let stop =
        |ended: usize, _: u64| if ended >= 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let found = engine.experiment(&experiment, end).watch(stop).run().unwrap();
    let expected = CpuEngine::new(centre, EngineOptions::default())
        .experiment(&experiment, end)
        .range(0..3)
        .run()
        .unwrap();
    assert_eq!(reported(&found.observations), reported(&expected.observations));
    assert_eq!(found.fingerprint, expected.fingerprint);

    let mut asked = 0;
    let cpu = CpuEngine::new(centre, EngineOptions::default());
    let none = cpu
        .experiment(&experiment, end)
        .watch(|_, _| {
            asked += 1;
            ControlFlow::Break(())
        })
        .run();
    assert!(none.is_err_and(|error| matches!(error, SimulationError::Stopped)));
    assert!(asked > 0);
    let (mut ended, mut events) = (0, 0);
    let whole = cpu
        .experiment(&experiment, end)
        .watch(|all, executed| (ended, events) = (all, executed))
        .run()
        .unwrap();
    let executed: u64 = whole.runs.iter().flatten().flatten().map(|run| run.progress.events).sum();
    assert_eq!((ended, events), (80, executed));
}

#[test]
fn runs_to_a_precision_that_are_stopped_tell_so() {
    let design = Design::default().cross("servers", [3, 4]).unwrap();
    let experiment = Experiment::new(design, 1, 3);
    let budget = Budget { replications: Some(100_000), ..Budget::default() };
    let stopping = Stopping::new(Precision::relative(1e-6), budget);
    let end = until(30.0);
    let stop =
        |ended: usize, _: u64| if ended > 70 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = EngineOptions::default().mapping(Mapping::Thread);
    let mut engine = Engine::new(&gpu(), centre, options).unwrap();
    let found =
        engine.experiment(&experiment, end).precision(&stopping, &["wait"]).watch(stop).run().unwrap();
    let cpu = CpuEngine::new(centre, EngineOptions::default())
        .experiment(&experiment, end)
        .precision(&stopping, &["wait"])
        .watch(stop)
        .run()
        .unwrap();
    for run in [&found, &cpu] {
        assert_eq!(run.decisions, [Decision::Stopped; 2]);
        let made = u32::try_from(run.observations[0].replications()).unwrap();
        assert!(made >= 30, "{made}");
        let expected = CpuEngine::new(centre, EngineOptions::default())
            .experiment(&experiment, end)
            .range(0..made)
            .run()
            .unwrap();
        assert_eq!(reported(&run.observations), reported(&expected.observations));
    }
}

/// Experiments and engines too large for the host are refused, before they take its memory.
#[test]
fn what_the_host_has_no_memory_for_is_refused() {
    let experiment = Experiment::new(Design::default(), u32::MAX, 1);
    let refused = CpuEngine::new(centre, EngineOptions::default())
        .run(&experiment, until(1.0))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("4294967295 replications") && refused.contains("bytes"), "{refused}");
    let refused = Engine::new(&gpu(), centre, EngineOptions::default()).unwrap().run(&experiment, until(1.0));
    assert!(refused.unwrap_err().to_string().contains("bytes"));
}
