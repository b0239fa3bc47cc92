//! The conservative engine on the GPU does what the sequential engine does, bit for bit.

mod bursts;
mod checkpoints;
mod designs;
mod growth;
mod horizon;
mod neighbours;
mod outputs;
mod outputs_refused;
mod own_events;
mod promises;
mod replicas;
mod saves;
mod stopped;
mod team;

use crate::{common, hostile};
use common::models::{Mischief, Ring};
use common::references::Reference;
use common::{each_queue, few, gpu, is_long};
use eventhorizon::gpu::Gpu;
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    Capacity, CpuModel, CpuSimulation, FaultKind, Fingerprint, Options, Simulation, SimulationError, Stop,
    Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use proptest::prelude::*;

fn phold(lps: u32, population: u32, rate: f64) -> Phold {
    Phold::new(lps, population, rate, 10.0, Resolution::default()).unwrap()
}

fn until(units: f64) -> Until {
    Until::time(Resolution::default().ticks(units).unwrap())
}

/// Runs both engines to each end in turn and compares everything that a user can see. By default
/// with YAWNS windows, which are those of the sequential engine.
fn same<M>(gpu: &Gpu, model: &M, options: Options, ends: &[Until]) -> Fingerprint
where
    M: CpuModel<State: PartialEq>,
{
    let mut options = options;
    if options.sync == Sync::Auto {
        options.sync = Sync::Yawns;
    }
    let mut cpu = CpuSimulation::in_rust(model, options).unwrap();
    let mut simulation = Simulation::new(gpu, model, options).unwrap();
    for &end in ends {
        let expected = cpu.run(end).unwrap();
        let mut found = simulation.run(end).unwrap();
        if options.sync.is_wide() == Some(true) {
            found.windows = expected.windows;
        }
        assert_eq!(found, expected, "{options:?}");
        assert!(simulation.states().unwrap() == cpu.states(), "states differ: {options:?}");
        assert!(simulation.memory().unwrap() == cpu.memory(), "LP memory differs: {options:?}");
        assert!(simulation.pending().unwrap() == cpu.pending(), "pending events differ: {options:?}");
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{options:?}");
    }
    // From its WGSL on the CPU.
    let mut native = CpuSimulation::new(model, options).unwrap();
    ends.iter().for_each(|&end| assert!(native.run(end).is_ok()));
    assert_eq!(native.fingerprint(), cpu.fingerprint(), "{options:?}");
    cpu.fingerprint()
}

#[test]
fn every_queue_and_workgroup_size_gives_the_bits_of_the_cpu() {
    let gpu = gpu();
    let model = phold(200, 8, 0.1);
    for (queue, group_size) in each_queue(&[1, 8, 64, 256]) {
        let options = Options::default().seed(42).queue(queue).group_size(group_size);
        same(&gpu, &Reference(model), options, &[until(100.0)]);
    }
}

#[test]
fn lp_counts_around_the_workgroup_size() {
    let gpu = gpu();
    for lps in [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129] {
        let options = Options::default().seed(lps.into()).group_size(32);
        same(&gpu, &Reference(phold(lps, 3, 0.1)), options, &[until(60.0)]);
    }
}

#[test]
fn kernels_without_optional_features_and_with_all_checks_give_the_same_bits() {
    let gpu = gpu();
    let model = phold(300, 8, 0.1);
    let options = Options::default().seed(7);
    for gpu in [gpu.without(wgpu::Features::all()), gpu.checked()] {
        same(&gpu, &Reference(model), options, &[until(50.0)]);
    }
}

#[test]
fn sparse_windows_and_wide_ones() {
    let gpu = gpu();
    for (queue, rate) in each_queue(&[0.001, 0.00001, 5.0]) {
        let options = Options::default().seed(1).queue(queue);
        same(&gpu, &Reference(phold(256, 16, rate)), options, &[Until::events(4000)]);
    }
}

#[test]
fn a_run_in_parts_is_the_run_in_one() {
    let gpu = gpu();
    let model = phold(100, 4, 0.1);
    let options = Options::default().seed(3);
    let whole = same(&gpu, &Reference(model), options, &[until(80.0)]);
    let ends =
        [until(0.0), until(0.5), until(13.0), until(13.0), Until::events(900), until(41.0), until(80.0)];
    assert_eq!(same(&gpu, &Reference(model), options, &ends), whole);
}

#[test]
fn the_end_is_exclusive() {
    let gpu = gpu();
    let model = Ring::new(3, 100); // first events at ticks 0, 1 and 2
    for queue in QueueDesign::PRODUCTION {
        let options = Options::default().queue(queue);
        let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
        for (end, events) in [(0, 0), (1, 1), (3, 3), (10, 3), (11, 4), (12, 5)] {
            let found = simulation.run(Until::time(Ticks::new(end))).unwrap();
            assert_eq!((found.events, found.stop), (events, Some(Stop::Time)), "end {end}");
            assert!(found.now >= Ticks::new(end));
        }
    }
}

#[test]
fn an_empty_event_set_ends_a_run() {
    let gpu = gpu();
    for hops in [0, 1, 6] {
        let model = Ring::new(50, hops);
        same(&gpu, &model, Options::default(), &[Until::EMPTY]);
        let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
        let end = simulation.run(Until::EMPTY).unwrap();
        assert_eq!(
            (end.events, end.stop, end.now),
            (50 * (u64::from(hops) + 1), Some(Stop::Empty), Ticks::NEVER)
        );
        assert_eq!(simulation.pending().unwrap(), []);
    }
}

#[test]
fn a_number_of_events_ends_a_run_after_the_window_that_reaches_it() {
    let gpu = gpu();
    let model = phold(64, 4, 0.1);
    same(&gpu, &Reference(model), Options::default(), &[0, 1, 100, 101, 5000].map(Until::events));
}

#[test]
fn many_workgroups_take_the_second_reduction() {
    let gpu = gpu();
    // 70,000 workgroups of one thread; about 1,100 of 64.
    for workgroup in [1, 64] {
        let mut model = Ring::new(70_000, 4);
        model.stride = 97;
        let options = Options::default().group_size(workgroup);
        same(&gpu, &model, options, &[Until::time(Ticks::new(23)), Until::EMPTY]);
    }
}

#[test]
fn a_window_of_more_than_one_dispatch() {
    let gpu = gpu();
    let mut model = Ring::new((1 << 20) + 5, 3);
    model.stride = 1009;
    let queue = Some(QueueDesign::Heap4);
    for &group_size in few(1, &[Some(2), None]) {
        let options = Options::default().queue(queue).group_size(group_size);
        same(&gpu, &model, options, &[Until::time(Ticks::new(15)), Until::EMPTY]);
    }
}

#[test]
fn invocations_that_serve_several_lps() {
    let gpu = gpu();
    for lps in [1, 63, 64, 65, 191, 192, 193, 1000] {
        for &(group_size, tiles) in few(2, &[(8, 24), (64, u32::MAX), (1, 70), (64, 3), (32, 2)]) {
            let options = Options::default().seed(9).group_size(group_size).tiles(tiles);
            same(&gpu, &Reference(phold(lps, 3, 0.1)), options, &[until(25.0), until(60.0)]);
        }
    }
    // If a binding cannot hold a workgroup's rows, it serves fewer.
    let mut model = Ring::new(500, 9);
    model.capacity = Capacity { queue: 200, mailbox: 8 };
    let options = Options::default().tiles(100).group_size(8);
    same(&gpu.binding_at_most(1 << 16), &model, options, &[Until::time(Ticks::new(33)), Until::EMPTY]);
}

#[test]
fn memory_that_is_cut_over_several_bindings() {
    let gpu = gpu();
    // 64 KiB hold the queues, or mailboxes, of 64 to some hundred LPs each.
    let small = gpu.binding_at_most(1 << 16);
    if gpu.limits().max_storage_buffers_per_shader_stage < 30 {
        // Mailboxes in several bindings need an adapter with as many; queues do not.
        let refused = Simulation::new(&small, &phold(1000, 16, 0.1), Options::default());
        assert!(matches!(refused, Err(SimulationError::TooLarge { what: "mailboxes", .. })), "{refused:?}");
        let model = phold(1000, 16, 0.1).with_capacity(Capacity { queue: 62, mailbox: 4 });
        same(&small, &Reference(model), Options::default(), &[Until::events(0)]);
        return;
    }
    for (queue, (lps, group_size)) in
        each_queue(&[(1000, 8), (1000, 64), (65, 8), (65, 64), (64, 8), (64, 64)])
    {
        // A calendar takes more memory.
        let (lps, population, group_size) =
            if queue == QueueDesign::Calendar { (300, 1, 8) } else { (lps, 15, group_size) };
        let options = Options::default().seed(3).queue(queue).group_size(group_size);
        same(
            &small,
            &Reference(phold(lps, population, 0.1)),
            options,
            &[until(25.0), until(40.0), until(90.0)],
        );
    }
    // A calendar whose buckets are sorted by teams.
    let model = phold(70, 40, 0.1).with_capacity(Capacity { queue: 160, mailbox: 110 });
    let options = Options::default().queue(QueueDesign::Calendar).group_size(8);
    same(&gpu.binding_at_most(1 << 18), &Reference(model), options, &[until(13.0), until(44.0)]);
    // Many mailboxes and few queues in a binding, and the reverse.
    for (queue, mailbox) in [(240, 20), (40, 100)] {
        let model = phold(500, 4, 0.1).with_capacity(Capacity { queue, mailbox });
        let options = Options::default().group_size(8);
        same(&small, &Reference(model), options, &[until(70.0)]);
    }
}

#[test]
fn parts_of_a_run_add_up_to_the_whole() {
    let gpu = gpu();
    // Tokens move around two rings: the LPs below 40, and the others.
    let mut model = Ring::new(100, 20);
    model.next = (0..40).map(|lp| (lp + 1) % 40).chain((40..100).map(|lp| 40 + (lp - 39) % 60)).collect();
    let mut cpu = CpuSimulation::in_rust(&model, Options::default().seed(5)).unwrap();
    let end = Until::time(Ticks::new(123));
    cpu.run(end).unwrap();
    let parts = [0..40, 40..100].map(|lps| {
        let options = Options::default().seed(5);
        let mut part = Simulation::of_range(&gpu, &model, lps.clone(), options).unwrap();
        part.run(end).unwrap();
        let lps = lps.start as usize..lps.end as usize;
        assert_eq!(part.states().unwrap(), cpu.states()[lps.clone()]);
        let pending = cpu.pending().into_iter().filter(|(lp, _)| lps.contains(&(*lp as usize)));
        assert_eq!(part.pending().unwrap(), pending.collect::<Vec<_>>());
        part.fingerprint().unwrap().0
    });
    assert_eq!(parts[0].wrapping_add(parts[1]), cpu.fingerprint().0);
    // An event from one part to the other is reported, not lost.
    model.next[99] = 0;
    let mut part = Simulation::of_range(&gpu, &model, 40..100, Options::default()).unwrap();
    let refused = part.run(Until::EMPTY);
    match refused {
        Err(SimulationError::Fault(fault)) => {
            assert_eq!((fault.kind, fault.lp), (FaultKind::Destination, 99));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_that_ends_after_each_window_goes_on_as_if_it_had_not() {
    let gpu = gpu();
    let model = phold(60, 4, 0.1);
    let ends: Vec<_> = (1..40).map(|window| Until::time(Ticks::new(window * (7 << 20)))).collect();
    let whole = same(&gpu, &Reference(model), Options::default(), &[ends[ends.len() - 1]]);
    assert_eq!(same(&gpu, &Reference(model), Options::default(), &ends), whole);
}

#[test]
fn an_encoder_that_is_never_submitted_does_no_harm() {
    let gpu = gpu();
    let model = phold(50, 4, 0.1);
    let mut cpu = CpuSimulation::new(&model, Options::default()).unwrap();
    let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
    for end in [30.0, 60.0, 90.0] {
        assert_eq!(simulation.run(until(end)).unwrap(), cpu.run(until(end)).unwrap());
        simulation.set_until(Until::EMPTY).unwrap();
        let mut dropped = gpu.encoder("dropped");
        simulation.record(&mut dropped, 1);
        drop(dropped);
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
    }
}

/// A calendar with buckets that are too small: the other events go through the lists.
#[test]
fn buckets_that_overflow() {
    let gpu = gpu();
    for &(group_size, tiles, mailbox) in few(2, &[(8, 1, 1), (32, 2, 3), (64, 1, 6)]) {
        let options = Options::default()
            .seed(7)
            .queue(QueueDesign::Calendar)
            .group_size(group_size)
            .tiles(tiles)
            .fixed(true);
        let model = phold(150, 12, 0.1).with_capacity(Capacity { queue: 60, mailbox });
        same(&gpu, &Reference(model), options, &[until(7.0), Until::events(500), until(55.0), until(111.0)]);
    }
}

/// CPU adapters, which tests usually run on, have other sizes of calendars and of teams that sort
/// them: these are the sizes of GPUs.
#[test]
fn calendars_as_on_hardware() {
    let gpu = gpu().taken_for_hardware();
    let options = Options::default().seed(7).queue(QueueDesign::Calendar);
    // Buckets that overflow, that a thread picks from, and that a team sorts; in one binding and in
    // several.
    let model = phold(150, 12, 0.1).with_capacity(Capacity { queue: 60, mailbox: 3 });
    same(&gpu, &Reference(model), options.fixed(true), &[until(7.0), Until::events(500), until(55.0)]);
    if is_long() {
        same(&gpu, &Reference(phold(70, 16, 0.1)), options, &[until(25.0), until(40.0), until(90.0)]);
        same(&gpu, &Reference(phold(65, 4, 0.001)), options, &[until(500.0), Until::events(400)]);
    }
    // Capacities of 40, of which a thread picks from 32 and sorts more, and of 24.
    for &(population, mailbox) in few(1, &[(60, 64), (32, 40)]) {
        let model = phold(70, population, 0.1).with_capacity(Capacity { queue: 200, mailbox });
        same(&gpu, &Reference(model), options, &[until(13.0), until(44.0)]);
    }
    if is_long() {
        let model = phold(70, 40, 0.1).with_capacity(Capacity { queue: 160, mailbox: 110 });
        same(&gpu, &Reference(model), options, &[until(13.0), until(44.0)]);
    }
    if gpu.limits().max_storage_buffers_per_shader_stage >= 30 && is_long() {
        let options = options.group_size(8);
        same(
            &gpu.binding_at_most(1 << 16),
            &Reference(phold(300, 1, 0.1)),
            options,
            &[until(25.0), until(90.0)],
        );
    }
    // Own events in their window, in either batch; events of 32 bytes.
    for &lps in few(1, &[70, 1]) {
        let ends = [Until::time(Ticks::new(77)), Until::events(600), Until::EMPTY];
        same(&gpu, &own_events::Busy::new(lps), options, &ends);
    }
    if is_long() {
        let ends = [Until::time(Ticks::new(6)), Until::events(500), Until::EMPTY];
        same(&gpu, &own_events::Wide::new(129), options, &ends);
    }
    // Broken rules.
    let options = options.fixed(true);
    for (model, kind) in [
        (own_events::Busy::new(100).breaking(2, 64), FaultKind::Past),
        (own_events::Busy::new(10).breaking(3, 7), FaultKind::QueueFull),
    ] {
        let expected = CpuSimulation::in_rust(&model, Options::default().seed(7)).unwrap().run(Until::EMPTY);
        let found = Simulation::new(&gpu, &model, options).unwrap().run(Until::EMPTY);
        match (found, expected) {
            (Err(SimulationError::Fault(found)), _) if kind == FaultKind::QueueFull => {
                assert_eq!((found.kind, found.lp), (kind, 7));
            }
            (Err(SimulationError::Fault(found)), Err(SimulationError::Fault(expected))) => {
                assert_eq!((found.kind, found), (kind, expected));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Buckets of a calendar that a separate dispatch sorts: sizes around those of teams, all events at
/// one time, and sizes that only a single thread can sort. Software adapters sort them differently.
#[test]
fn buckets_that_a_team_sorts() {
    few(1, &[gpu(), gpu().taken_for_hardware()]).iter().for_each(buckets_that_a_team_sorts_on);
}

fn buckets_that_a_team_sorts_on(gpu: &Gpu) {
    let options = Options::default().seed(4).queue(QueueDesign::Calendar);
    let sizes = [
        (70, 30, 60),
        (33, 100, 128),
        (3, 900, 1024),
        (70, 32, 95),
        (70, 40, 110),
        (20, 200, 250),
        (9, 300, 600),
    ];
    for &(lps, population, capacity) in few(1, &sizes) {
        let capacity = Capacity { queue: 4 * population, mailbox: capacity };
        let model = phold(lps, population, 0.1).with_capacity(capacity);
        same(gpu, &Reference(model), options, &[until(13.0), until(44.0)]);
    }
    // More buckets than workgroups: some workgroups sort two, one after the other.
    let model = phold(4200, 2, 0.1).with_capacity(Capacity { queue: 160, mailbox: 200 });
    same(gpu, &Reference(model), options, &[until(25.0), until(44.0)]);
    // 2,600 events in two buckets are too many for a team.
    let model = phold(2, 2600, 0.1).with_capacity(Capacity { queue: 6000, mailbox: 4000 });
    same(gpu, &Reference(model), options, &[until(1.0), until(11.0)]);
    // Lookaheads of one tick, of a few in which many events share a time, and of more than 2^32.
    for resolution in few(2, &[7, u32::MAX, 1]).iter().map(|&ticks| Resolution::new(ticks).unwrap()) {
        let model =
            Phold::new(20, 90, 0.1, if resolution.ticks_per_unit() == 1 { 1.0 } else { 10.0 }, resolution);
        let model = model.unwrap().with_capacity(Capacity { queue: 400, mailbox: 200 });
        let end = |units| Until::time(resolution.ticks(units).unwrap());
        same(gpu, &Reference(model), options, &[end(7.0), end(30.0)]);
    }
}

#[test]
fn seeds_are_told_apart_and_repeat() {
    let gpu = gpu();
    let run = |seed| {
        let mut simulation =
            Simulation::new(&gpu, &phold(64, 4, 0.1), Options::default().seed(seed)).unwrap();
        simulation.run(until(50.0)).unwrap();
        simulation.fingerprint().unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    assert_ne!(run(1), run(1 << 32 | 1), "the high word of the seed counts");
}

#[test]
fn a_known_fingerprint_stays() {
    // A change of the draws, the order of events or the digest changes published results: it must
    // be intended.
    let model = phold(1024, 16, 0.1);
    let mut cpu = CpuSimulation::new(&model, Options::default().seed(42)).unwrap();
    let end = cpu.run(until(200.0)).unwrap();
    assert_eq!((end.events, end.windows), (166_035, 20));
    assert_eq!(cpu.fingerprint().to_string(), "a76f08100a92f1cc");
}

#[test]
fn random_models_agree() {
    let gpu = gpu();
    let strategy = (
        1u32..150,
        1u32..12,
        0.01f64..3.0,
        0.5f64..20.0,
        any::<u64>(),
        0..QueueDesign::PRODUCTION.len(),
        (0u32..9, 1u32..5),
        0u64..3000,
    );
    let mut runner = common::random_cases(6);
    runner
        .run(&strategy, |(lps, population, rate, lookahead, seed, queue, (group, tiles), events)| {
            let model = Phold::new(lps, population, rate, lookahead, Resolution::default()).unwrap();
            let queue = Some(QueueDesign::PRODUCTION[queue]);
            let options = Options::default().seed(seed).queue(queue).group_size(1 << group).tiles(tiles);
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
fn an_application_runs_windows_in_its_own_encoder_and_binds_the_states() {
    let own = gpu();
    // As in an application: its own device, queue and encoder.
    let (device, queue) = (own.device().clone(), own.queue().clone());
    let gpu = Gpu::from_device(device.clone(), queue.clone());
    let model = Ring::new(40, 9);
    let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
    simulation.set_until(Until::EMPTY).unwrap();
    let copy = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("the application's"),
        size: simulation.states_buffer().size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let mut progress = simulation.progress().unwrap();
    assert_eq!((progress.events, progress.stop), (0, None));
    for _ in 0..30 {
        let mut encoder = device.create_command_encoder(&Default::default());
        simulation.record(&mut encoder, 1);
        encoder.copy_buffer_to_buffer(simulation.states_buffer(), 0, &copy, 0, copy.size());
        queue.submit([encoder.finish()]);
        progress = simulation.progress().unwrap();
    }
    assert_eq!((progress.events, progress.stop), (400, Some(Stop::Empty)));
    let mut cpu = CpuSimulation::in_rust(&model, Options::default()).unwrap();
    cpu.run(Until::EMPTY).unwrap();
    assert_eq!(simulation.states().unwrap(), cpu.states());
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
}

#[test]
fn an_application_is_told_how_far_its_windows_are_without_a_wait() {
    let gpu = gpu();
    let (device, queue) = (gpu.device(), gpu.queue());
    let model = Ring::new(40, 9);
    let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
    simulation.set_until(Until::EMPTY).unwrap();
    let (mut pending, mut events) = (None, 0);
    for _ in 0..30 {
        let mut encoder = device.create_command_encoder(&Default::default());
        simulation.record(&mut encoder, 1);
        if pending.is_none() {
            pending = Some(simulation.record_progress(&mut encoder).unwrap());
        }
        queue.submit([encoder.finish()]);
        if let Some(asked) = &mut pending
            && let Some(progress) = simulation.poll(asked).unwrap()
        {
            assert!(progress.events >= events);
            events = progress.events;
            pending = None;
        }
    }
    // The progress of completed work is available at once.
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut last = simulation.record_progress(&mut encoder).unwrap();
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    assert_eq!(simulation.poll(&mut last).unwrap(), Some(simulation.progress().unwrap()));
    assert_eq!(simulation.progress().unwrap().events, 400);

    // A fault is reported in the same way.
    let capacity = Capacity { queue: 20, mailbox: 20 };
    let model = Mischief { lps: 10, rule: 1, culprit: 7, at: 0, capacity };
    let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
    simulation.set_until(Until::EMPTY).unwrap();
    let mut encoder = device.create_command_encoder(&Default::default());
    simulation.record(&mut encoder, 20);
    let mut last = simulation.record_progress(&mut encoder).unwrap();
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    match simulation.poll(&mut last) {
        Err(SimulationError::Fault(fault)) => assert_eq!((fault.kind, fault.lp), (FaultKind::Destination, 7)),
        other => panic!("{other:?}"),
    }
}
