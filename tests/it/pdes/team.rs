//! Single runs by a team of one workgroup: the bits of the sequential engine, and all that a run
//! can do between calls.

use std::ops::ControlFlow;

use super::common::models::Mischief;
use super::common::references::Reference;
use super::common::{gpu, is_long, random_cases};
use super::own_events::{Busy, Wide};
use super::{phold, same, until};
use eventhorizon::ErrorKind;
use eventhorizon::models::FifoTorus;
use eventhorizon::pdes::{
    Capacity, CpuModel, CpuSimulation, Mapping, Options, Simulation, SimulationError, Stop, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};

const TINY: Capacity = Capacity { queue: 1, mailbox: 1 };

fn team(sync: Sync) -> Options {
    Options::default().seed(6).sync(sync).mapping(Mapping::Team)
}

/// Compares a run to several ends with the sequential engine, and that a team made it.
fn same_in_team<M: CpuModel<State: PartialEq>>(model: &M, options: Options, ends: &[Until]) {
    let gpu = gpu();
    same(&gpu, model, options, ends);
    let mut simulation = Simulation::new(&gpu, model, options).unwrap();
    assert_eq!(simulation.mapping(), Mapping::Team);
    for &end in ends {
        simulation.run(end).unwrap();
    }
    assert_eq!(simulation.mapping(), Mapping::Team, "{options:?}: it can follow");
}

#[test]
fn lp_counts_around_powers_of_two_by_either_windows() {
    // Not each of them by both: kernels are compiled for each power of two.
    for (sync, counts) in [(Sync::Yawns, &[1, 33, 256][..]), (Sync::Horizon, &[2, 64, 257])] {
        for &lps in
            if is_long() { &[1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257][..] } else { counts }
        {
            let model = Reference(phold(lps, 3, 0.1));
            same_in_team(&model, team(sync), &[until(0.0), until(25.0), until(25.5), until(60.0)]);
        }
    }
}

/// With four events each, they do not fit the workgroup memory of most devices.
#[test]
fn many_lps_keep_their_events_in_buffers() {
    same_in_team(&Reference(phold(1024, 4, 0.001)), team(Sync::Horizon), &[until(200.0), until(900.0)]);
}

#[test]
fn lp_memory_and_large_events() {
    // Either may grow beyond what a team can hold.
    let (gpu, capacity) = (gpu(), Capacity { queue: 40, mailbox: 10 });
    for sync in [Sync::Yawns, Sync::Horizon] {
        let ends = [Until::time(Ticks::new(300)), Until::EMPTY];
        same(&gpu, &Busy { capacity, ..Busy::new(33) }, team(sync), &ends);
        same(&gpu, &Wide { capacity, ..Wide::new(33) }, team(sync), &ends);
    }
}

#[test]
fn sparse_runs_of_any_rate_by_event_horizons() {
    let (mut runner, gpu) = (random_cases(6), gpu());
    // One size, for one set of kernels.
    let run = |(rate, seed): (i32, u64)| {
        let rate = 10_f64.powi(-rate);
        let model = Reference(phold(48, 3, rate));
        same(&gpu, &model, team(Sync::Horizon).seed(seed), &[until(0.7 / rate), until(2.0 / rate + 10.0)]);
        Ok(())
    };
    runner.run(&(0..6_i32, 0..u64::MAX), run).unwrap();
}

#[test]
fn runs_that_begin_with_little_room_grow_in_their_team() {
    let model = Reference(phold(60, 9, 0.1).with_capacity(TINY));
    same_in_team(&model, team(Sync::Horizon), &[until(0.0), until(31.0), until(90.0)]);
    // Its events multiply, until a team cannot hold them.
    let gpu = gpu();
    let model = Busy { capacity: Capacity { queue: 40, mailbox: 10 }, ..Busy::with_children(48, 3) };
    same(&gpu, &model, team(Sync::Yawns), &[Until::time(Ticks::new(300)), Until::EMPTY]);
}

#[test]
fn a_broken_rule_is_that_of_the_sequential_engine() {
    let gpu = gpu();
    let capacity = Capacity { queue: 64, mailbox: 64 };
    for sync in [Sync::Yawns, Sync::Horizon] {
        for (rule, culprit, at) in [(0, 0, 0), (1, 5, 0), (2, 17, 3000), (0, 59, 0)] {
            let model = Mischief { lps: 60, rule, culprit, at, capacity };
            let mut cpu = CpuSimulation::in_rust(&model, Options::default()).unwrap();
            let Err(SimulationError::Fault(mut expected)) = cpu.run(Until::EMPTY) else {
                panic!("a rule is broken")
            };
            let mut simulation = Simulation::new(&gpu, &model, team(sync)).unwrap();
            for end in [Until::EMPTY, Until::time(Ticks::new(5))] {
                let Err(SimulationError::Fault(found)) = simulation.run(end) else { panic!("{sync}") };
                if sync == Sync::Horizon {
                    expected.window = found.window;
                }
                assert_eq!(found, expected, "{sync}: rule {rule}, culprit {culprit}, at {at}");
            }
        }
    }
}

#[test]
fn a_run_is_stopped_saved_and_resumed_by_either_engine_and_mapping() {
    let (gpu, model, end) = (gpu(), phold(60, 4, 0.01), until(20_000.0));
    let mut whole = CpuSimulation::new(&model, team(Sync::Yawns)).unwrap();
    let expected = whole.run(end).unwrap();
    let mut simulation = Simulation::new(&gpu, &model, team(Sync::Yawns)).unwrap();
    let stopped = simulation.until(end).watch(|_| ControlFlow::Break(())).run().unwrap();
    assert_eq!((stopped.stop, simulation.mapping()), (Some(Stop::Watcher), Mapping::Team));
    assert!(stopped.events < expected.events);
    let saved = simulation.checkpoint().unwrap();
    assert_eq!(saved.progress().events, stopped.events);
    // The run itself, and others from its checkpoint.
    assert_eq!(simulation.run(end).unwrap(), expected);
    assert!(simulation.checkpoint().unwrap().as_bytes() == whole.checkpoint().unwrap().as_bytes());
    for mapping in [Mapping::Team, Mapping::Grid] {
        let options = team(Sync::Yawns).mapping(mapping);
        let mut resumed = Simulation::resume(&gpu, &model, options, &saved).unwrap();
        assert!(resumed.checkpoint().unwrap() == saved);
        assert_eq!(resumed.run(end).unwrap(), expected);
        assert_eq!((resumed.mapping(), resumed.fingerprint().unwrap()), (mapping, whole.fingerprint()));
    }
    let mut resumed = CpuSimulation::resume(&model, &saved).unwrap();
    assert_eq!(resumed.run(end).unwrap(), expected);
}

#[test]
fn event_limited_runs_leave_the_team() {
    let (gpu, model) = (gpu(), phold(64, 4, 0.01));
    for sync in [Sync::Yawns, Sync::Horizon] {
        let mut cpu = CpuSimulation::new(&model, team(sync)).unwrap();
        let mut simulation = Simulation::new(&gpu, &model, team(sync)).unwrap();
        let states = simulation.states_buffer().clone();
        for (end, mapping) in [
            (until(200.0), Mapping::Team),
            (Until::events(cpu.run(until(200.0)).unwrap().events + 100), Mapping::Grid),
            (until(600.0), Mapping::Grid),
        ] {
            let (found, expected) = (simulation.run(end).unwrap(), cpu.run(end).unwrap());
            assert_eq!((found.now, found.events, found.stop), (expected.now, expected.events, expected.stop));
            assert_eq!(
                (simulation.mapping(), simulation.fingerprint().unwrap()),
                (mapping, cpu.fingerprint())
            );
        }
        assert_eq!(simulation.states_buffer(), &states, "an application keeps its binding");
    }
}

#[test]
fn an_application_records_windows_of_a_team_and_of_an_event_limited_run() {
    let (gpu, model) = (gpu(), phold(64, 4, 0.01));
    let mut cpu = CpuSimulation::new(&model, team(Sync::Horizon)).unwrap();
    let mut simulation = Simulation::new(&gpu, &model, team(Sync::Horizon)).unwrap();
    let record = |simulation: &Simulation<_>, windows| {
        let mut encoder = gpu.encoder("windows");
        simulation.record(&mut encoder, windows);
        gpu.submit(encoder).unwrap();
        simulation.progress().unwrap()
    };
    simulation.set_until(until(100.0)).unwrap();
    let first = record(&simulation, 1);
    assert!(first.events > 0 && first.stop.is_none(), "{first:?}");
    let found = (0..100).map(|_| record(&simulation, 30)).find(|progress| progress.stop.is_some()).unwrap();
    let expected = cpu.run(until(100.0)).unwrap();
    assert_eq!((found.events, found.now, found.stop), (expected.events, expected.now, expected.stop));
    assert_eq!((simulation.mapping(), simulation.fingerprint().unwrap()), (Mapping::Team, cpu.fingerprint()));
    let end = Until::events(found.events + 50);
    simulation.set_until(end).unwrap();
    let found = (0..100).map(|_| record(&simulation, 30)).find(|progress| progress.stop.is_some()).unwrap();
    let expected = cpu.run(end).unwrap();
    assert_eq!((found.events, found.now, found.stop), (expected.events, expected.now, expected.stop));
    assert_eq!((simulation.mapping(), simulation.fingerprint().unwrap()), (Mapping::Grid, cpu.fingerprint()));
}

#[test]
fn what_has_no_team_is_refused_where_one_is_chosen() {
    let gpu = gpu();
    let units = Resolution::default();
    let torus = FifoTorus::new(5, 6, 30, 1.0, units).unwrap();
    let model = phold(64, 4, 0.1);
    let yawns = team(Sync::Yawns);
    let refused = |result: Result<_, SimulationError>, what: &str| {
        let error: SimulationError = result.err().unwrap_or_else(|| panic!("{what} is impossible"));
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    refused(Simulation::new(&gpu, &torus, team(Sync::Neighbours)).map(drop), "synchronisation");
    for options in [yawns.fixed(true), yawns.queue(QueueDesign::Heap), yawns.tiles(1), yawns.group_size(64)] {
        refused(Simulation::new(&gpu, &model, options).map(drop), "fixed");
    }
    refused(Simulation::new(&gpu, &model, yawns.mapping(Mapping::Thread)).map(drop), "many runs");
    refused(Simulation::new(&gpu, &phold(100_000, 1, 0.1), yawns).map(drop), "too many");
    refused(Simulation::new(&gpu, &phold(8, 100, 0.1), yawns).map(drop), "too many");
    let at_once = Busy { lookahead: Ticks::ZERO, ..Busy::new(20) };
    refused(Simulation::new(&gpu, &at_once, yawns).map(drop), "lookahead");
}
