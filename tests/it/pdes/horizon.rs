//! Event-horizon windows, and models without a lookahead: rounds at one time.

use super::common::models::Ring;
use super::common::references::Reference;
use super::common::{each_queue, few, gpu, is_long, queues};
use super::own_events::{Busy, Wide};
use super::{phold, same, until};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    Capacity, CpuSimulation, FaultKind, Model, Options, Simulation, SimulationError, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use proptest::prelude::*;

fn by_horizon() -> Options {
    Options::default().seed(4).sync(Sync::Horizon)
}

fn dense(lps: u32, lookahead: f64) -> Phold {
    Phold::new(lps, 5, 0.1, lookahead, Resolution::default()).unwrap()
}

/// Busy, with LPs that also send each other events for the current time.
fn at_once(lps: u32) -> Busy {
    Busy { lookahead: Ticks::ZERO, ..Busy::new(lps) }
}

#[test]
fn every_queue_and_workgroup_size_gives_the_bits_of_the_cpu() {
    let gpu = gpu();
    for (queue, group_size) in each_queue(&[1, 64]) {
        if queue == QueueDesign::Calendar {
            continue;
        }
        let options = by_horizon().queue(queue).group_size(group_size);
        same(
            &gpu,
            &Reference(phold(200, 8, 0.001)),
            options,
            &[until(700.0), Until::events(3000), until(5000.0)],
        );
        same(&gpu, &Busy::new(100), options, &[Until::time(Ticks::new(150)), Until::EMPTY]);
    }
    // Sizes around a workgroup of 8, of 32 with two LPs each, and many of one LP.
    let shapes = [
        (8, 8, 1),
        (9, 8, 1),
        (65, 32, 2),
        (3000, 1, 1),
        (1, 8, 1),
        (7, 8, 1),
        (63, 32, 2),
        (64, 32, 2),
        (8, 8, 2),
        (9, 8, 3),
    ];
    for &(lps, group_size, tiles) in few(4, &shapes) {
        let options = by_horizon().group_size(group_size).tiles(tiles);
        same(&gpu, &Reference(phold(lps, 3, 0.01)), options, &[until(90.0), until(400.0)]);
    }
}

#[test]
fn many_workgroups_and_bindings() {
    let gpu = gpu();
    // More than a thousand workgroups, whose partial reductions are merged by a separate dispatch;
    // and queues over several bindings.
    let options = by_horizon().group_size(4).tiles(1);
    same(&gpu, &Reference(phold(5000, 2, 0.01)), options, &[until(50.0), until(200.0)]);
    let small = gpu.binding_at_most(1 << 16);
    if gpu.limits().max_storage_buffers_per_shader_stage >= 31 && is_long() {
        let options = by_horizon().group_size(8);
        same(&small, &Reference(phold(400, 6, 0.01)), options, &[until(60.0), until(300.0)]);
        same(&small, &Busy { room: 40, ..Busy::new(300) }, options, &[Until::EMPTY]);
    }
}

#[test]
fn without_a_lookahead_windows_are_rounds() {
    let gpu = gpu();
    for (i, sync) in [Sync::Yawns, Sync::Horizon].into_iter().enumerate() {
        for (j, queue) in queues().enumerate() {
            if i != j && !is_long() {
                continue;
            }
            let options = by_horizon().queue(queue).group_size(8).sync(sync);
            same(
                &gpu,
                &at_once(70),
                options,
                &[Until::events(90), Until::time(Ticks::new(77)), Until::EMPTY],
            );
            same(&gpu, &Reference(dense(60, 0.0)), options, &[until(1.5), Until::events(700), until(12.0)]);
        }
    }
    // A token moves around the ring at one time.
    for sync in [Sync::Yawns, Sync::Horizon] {
        let options = by_horizon().sync(sync);
        let ring = Ring { step: 0, stride: 11, ..Ring::new(40, 900) };
        same(&gpu, &ring, options, &[Until::events(200), Until::time(Ticks::new(3)), Until::EMPTY]);
    }
}

#[test]
fn wide_events_memory_and_growth() {
    let gpu = gpu();
    let tiny = Capacity { queue: 1, mailbox: 1 };
    for &queue in few(1, &[QueueDesign::Heap, QueueDesign::Heap4]) {
        let options = by_horizon().queue(queue);
        same(&gpu, &Wide::new(100), options, &[Until::events(100), Until::EMPTY]);
        same(
            &gpu,
            &Reference(phold(130, 9, 0.005).with_capacity(tiny)),
            options,
            &[until(0.0), until(90.0), until(700.0)],
        );
        let busy = Busy { capacity: tiny, ..at_once(70) };
        same(&gpu, &busy, options, &[Until::events(100), Until::time(Ticks::new(300)), Until::EMPTY]);
    }
    // More rows of LP memory are written than speculative execution can undo.
    let mut many = Busy { room: 300, ..at_once(40) };
    many.params.rows = 300;
    same(&gpu, &many, by_horizon(), &[Until::EMPTY]);
}

#[test]
fn a_run_goes_on_with_other_queues() {
    let gpu = gpu();
    let model = phold(150, 6, 0.001);
    let mut cpu = CpuSimulation::new(&model, by_horizon()).unwrap();
    let mut simulation = Simulation::new(&gpu, &model, by_horizon().sync(Sync::Auto)).unwrap();
    for (i, queue) in QueueDesign::PRODUCTION.into_iter().enumerate() {
        simulation.set_queue(queue).unwrap();
        let end = until(400.0 * (i + 1) as f64);
        assert_eq!(simulation.run(end).unwrap().events, cpu.run(end).unwrap().events);
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{queue}");
    }
    let mut simulation = Simulation::new(&gpu, &model, by_horizon()).unwrap();
    assert!(matches!(simulation.set_queue(QueueDesign::Calendar), Err(SimulationError::Calendar)));
    assert_eq!(simulation.sync(), Sync::Horizon);
    simulation.run(until(100.0)).unwrap();
}

#[test]
fn a_calendar_takes_a_lookahead_and_yawns() {
    let gpu = gpu();
    for (lookahead, sync, fine) in [
        (10.0, Sync::Horizon, false),
        (0.0, Sync::Auto, false),
        (0.0, Sync::Yawns, false),
        (10.0, Sync::Auto, true),
    ] {
        let options = by_horizon().queue(QueueDesign::Calendar).sync(sync);
        match Simulation::new(&gpu, &dense(10, lookahead), options) {
            Ok(simulation) => assert!(fine && simulation.sync() == Sync::Yawns),
            Err(error) => assert!(!fine && matches!(error, SimulationError::Calendar), "{error}"),
        }
    }
}

#[test]
fn a_cycle_at_one_time_names_its_lps() {
    let gpu = gpu();
    // Only the first of the tokens of LPs 0, 11, 22 and 33 starts at time 0.
    let ring = Ring { step: 0, stride: 11, ..Ring::new(40, u32::MAX) };
    let cycle = |error: SimulationError| match error {
        SimulationError::Cycle { fault, time, count, lps } => (fault, time, count, lps),
        other => panic!("expected a cycle, got {other}"),
    };
    let (expected, at, count, names) =
        cycle(CpuSimulation::in_rust(&ring, Options::default()).unwrap().run(Until::EMPTY).unwrap_err());
    assert_eq!((expected.kind, at, count), (FaultKind::Cycle, Ticks::ZERO, 1));
    for &sync in few(1, &[Sync::Horizon, Sync::Yawns]) {
        let options = by_horizon().sync(sync).seed(0);
        let mut simulation = Simulation::new(&gpu, &ring, options).unwrap();
        let found = cycle(simulation.run(Until::EMPTY).unwrap_err());
        assert_eq!(found, (expected, at, count, names.clone()), "{sync}");
        assert!(matches!(simulation.run(Until::EMPTY), Err(SimulationError::Cycle { .. })));
    }
}

#[test]
fn random_models_agree() {
    let gpu = gpu();
    let queues: Vec<_> = queues().collect();
    let strategy = (
        1u32..120,
        1u32..10,
        prop_oneof![0.0005f64..0.05, 0.05f64..3.0],
        prop_oneof![Just(0.0), 0.001f64..20.0],
        any::<u64>(),
        0..queues.len(),
        (0u32..8, 1u32..4),
        0u64..2000,
    );
    let mut runner = super::common::random_cases(3);
    runner
        .run(&strategy, |(lps, population, rate, lookahead, seed, queue, (group, tiles), events)| {
            let model = Phold::new(lps, population, rate, lookahead, Resolution::default()).unwrap();
            let options = by_horizon().seed(seed).queue(queues[queue]).group_size(1 << group).tiles(tiles);
            same(
                &gpu,
                &Reference(model),
                options,
                &[until(0.7 / rate), Until::events(events), until(2.0 / rate + lookahead)],
            );
            Ok(())
        })
        .unwrap();
}

#[test]
fn random_models_with_events_of_their_own_agree() {
    let gpu = gpu();
    let queues: Vec<_> = queues().collect();
    let strategy = (
        1u32..100,
        prop_oneof![Just(0u64), 1u64..500],
        0u32..4,
        0..queues.len(),
        any::<u64>(),
        (0u32..8, 1u32..4),
        0u64..500,
        any::<bool>(),
    );
    let mut runner = super::common::random_cases(3);
    runner
        .run(&strategy, |(lps, lookahead, children, queue, seed, (group, tiles), cut, yawns)| {
            let mut model = Busy { lookahead: Ticks::new(lookahead), ..Busy::new(lps) };
            model.params.children = children;
            model.capacity = Capacity { queue: 2000, mailbox: 400 };
            let options = by_horizon()
                .seed(seed)
                .queue(queues[queue])
                .group_size(1 << group)
                .tiles(tiles)
                .sync(if yawns { Sync::Yawns } else { Sync::Horizon });
            same(&gpu, &model, options, &[Until::time(Ticks::new(cut)), Until::events(cut), Until::EMPTY]);
            Ok(())
        })
        .unwrap();
}

/// If a model states the number of events it holds, its mailboxes have capacity for an event
/// horizon, and no window is repeated with more.
#[test]
fn a_run_that_begins_with_the_horizon_has_room_for_its_windows() {
    let gpu = gpu();
    let model = phold(64, 64, 0.00001);
    let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
    assert_eq!(simulation.sync(), Sync::Horizon);
    let capacity = simulation.capacity();
    assert!(capacity.mailbox > model.capacity().mailbox);
    simulation.run(Until::events(40_000)).unwrap();
    assert_eq!(simulation.capacity(), capacity);
}
