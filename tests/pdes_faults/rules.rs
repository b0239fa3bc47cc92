//! Rules that models break while they run, and capacities that they exceed.

use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    Capacity, CpuSimulation, Fault, FaultKind, Options, Simulation, SimulationError, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Resolution;

use super::common::models::Mischief;
use super::common::{gpu, own_gpu, queues};
use super::{HANDLE, INIT, ROOMY, STATE, Text, fault, fault_on_cpu, fault_on_gpu, fixed, handler};

#[test]
fn broken_rules_are_found_at_the_same_place_by_both_engines() {
    let gpu = gpu();
    for (rule, kind) in [(0, FaultKind::Lookahead), (1, FaultKind::Destination), (2, FaultKind::TimeOverflow)]
    {
        for (culprit, at) in [(0, 0), (5, 0), (17, 3000), (299, 0)] {
            let model = Mischief { lps: 300, rule, culprit, at, capacity: ROOMY };
            let expected = fault_on_cpu(&model);
            assert_eq!((expected.kind, expected.window > 0), (kind, true));
            for workgroup in [8, 64] {
                let options = fixed().group_size(workgroup);
                assert_eq!(
                    fault_on_gpu(&gpu, &model, options),
                    expected,
                    "rule {rule}, culprit {culprit}, at {at}"
                );
            }
        }
    }
}

#[test]
fn rules_hold_in_the_initialisation_too() {
    let gpu = gpu();
    for (rule, kind) in [(10, FaultKind::Destination), (12, FaultKind::TimeOverflow)] {
        let model = Mischief { lps: 300, rule, culprit: 0, at: 0, capacity: ROOMY };
        let expected = Fault { kind, lp: 0, window: 0, needed: 0 };
        assert_eq!(fault_on_cpu(&model), expected);
        assert_eq!(fault_on_gpu(&gpu, &model, fixed()), expected);
    }
}

#[test]
fn a_full_mailbox_names_the_lp_that_owns_it() {
    let gpu = gpu();
    // LP 3 gets one event from its neighbour and one from each of the 40 culprits.
    let mut model =
        Mischief { lps: 100, rule: 3, culprit: 60, at: 0, capacity: Capacity { queue: 200, mailbox: 41 } };
    let run = |model: &Mischief, queue| {
        let mut simulation = Simulation::new(&gpu, model, fixed().queue(queue)).unwrap();
        simulation.run(Until::events(100)).map(|_| simulation.fingerprint().unwrap())
    };
    let unbounded = model;
    let mut cpu = CpuSimulation::in_rust(&unbounded, Options::default()).unwrap();
    cpu.run(Until::events(100)).unwrap();
    for queue in queues() {
        model.capacity.mailbox = 41;
        assert_eq!(run(&model, queue).unwrap(), cpu.fingerprint(), "exactly full is not too full");
        model.capacity.mailbox = 40;
        assert_eq!(
            fault(run(&model, queue)),
            Fault { kind: FaultKind::MailboxFull, lp: 3, window: 1, needed: 41 }
        );
    }
}

#[test]
fn a_full_queue_names_the_lp_that_owns_it() {
    let gpu = gpu();
    for queue in queues() {
        let model =
            Mischief { lps: 10, rule: 4, culprit: 9, at: 0, capacity: Capacity { queue: 6, mailbox: 4 } };
        let found = fault_on_gpu(&gpu, &model, fixed().queue(queue));
        assert_eq!((found.kind, found.lp, found.needed), (FaultKind::QueueFull, 4, 7));
        assert!(found.window > 3, "{found}: the queue filled by one event for each window");
    }
}

#[test]
fn a_population_that_overflows_its_queue_at_the_start_is_a_fault() {
    let gpu = gpu();
    let model = Mischief { lps: 100, rule: 11, culprit: 0, at: 0, capacity: ROOMY };
    let found = fault_on_gpu(&gpu, &model, fixed());
    assert_eq!(found, Fault { kind: FaultKind::QueueFull, lp: 2, window: 0, needed: 101 });

    let tight = Phold::new(1000, 16, 0.1, 10.0, Resolution::default())
        .unwrap()
        .with_capacity(Capacity { queue: 20, mailbox: 100 });
    for queue in queues() {
        let found = fault_on_gpu(&gpu, &tight, fixed().queue(queue));
        assert_eq!((found.kind, found.window), (FaultKind::QueueFull, 0));
    }
}

#[test]
fn a_driver_that_cuts_loops_gives_an_error_and_no_wrong_result() {
    let gpu = gpu();
    // Sorting 1,500 events by insertion takes more iterations than llvmpipe permits; other drivers
    // permit them.
    let model = Phold::new(2, 1500, 0.1, 10.0, Resolution::default()).unwrap();
    let end = Until::events(2000);
    let mut cpu = CpuSimulation::new(&model, Options::default()).unwrap();
    cpu.run(end).unwrap();
    for queue in QueueDesign::PRODUCTION {
        let run = || {
            let options = fixed().queue(queue);
            let mut simulation = Simulation::new(&gpu, &model, options)?;
            simulation.run(end)?;
            simulation.fingerprint()
        };
        match run() {
            Ok(found) => assert_eq!(found, cpu.fingerprint(), "{queue}"),
            Err(SimulationError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::LoopsCut, "{queue}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_fault_says_what_where_and_what_to_do() {
    let fault = Fault { kind: FaultKind::MailboxFull, lp: 7, window: 12, needed: 99 };
    let text = fault.to_string();
    for part in ["mailbox", "LP 7", "window 12", "99 events", "Capacity::mailbox"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(Fault { window: 0, ..fault }.to_string().contains("initialisation"));
}

#[test]
fn a_fault_that_the_host_has_not_seen_is_no_result() {
    let gpu = gpu();
    let model =
        Mischief { lps: 100, rule: 3, culprit: 60, at: 0, capacity: Capacity { queue: 200, mailbox: 40 } };
    let mut simulation = Simulation::new(&gpu, &model, fixed()).unwrap();
    simulation.set_until(Until::EMPTY).unwrap();
    let mut encoder = gpu.encoder("the application's");
    simulation.record(&mut encoder, 4);
    gpu.submit(encoder).unwrap();
    let expected = Fault { kind: FaultKind::MailboxFull, lp: 3, window: 1, needed: 41 };
    assert_eq!(fault(simulation.states()), expected);
    assert_eq!(fault(simulation.pending()), expected);
    assert_eq!(fault(simulation.fingerprint()), expected);
    assert_eq!(fault(simulation.progress()), expected);
}

#[test]
fn a_queue_that_is_too_full_is_the_fault_whatever_its_first_mails_would_do() {
    let gpu = gpu();
    // All LPs send to LP 50, which has capacity for 60 messages but not for as many events. If it
    // handled some of them, it would flood LP 0.
    let wgsl = [
        STATE,
        INIT,
        "fn handle(lp: u32, event: Event, state: ptr<function, State>) {
            let next = time_add(event.time, lookahead());
            if event.payload.x == 99u {
                for (var i = 0u; i < 9u; i += 1u) { schedule(0u, next, vec2<u32>(i, event.payload.y)); }
            } else {
                schedule(50u, next, vec2<u32>(99u, lp));
            }
        }",
    ];
    let model = Text { capacity: Capacity { queue: 40, mailbox: 60 }, ..Text::new(wgsl.concat()) };
    for queue in queues() {
        let found = fault_on_gpu(&gpu, &model, fixed().queue(queue));
        assert_eq!(found, Fault { kind: FaultKind::QueueFull, lp: 50, window: 2, needed: 60 }, "{queue}");
    }
}

#[test]
fn a_loop_without_end_is_a_fault_where_the_driver_ends_it_and_long_ones_are_right_elsewhere() {
    // A device of its own, because the driver may remove it.
    let gpu = own_gpu().waiting(std::time::Duration::from_secs(60));
    // An endless loop would block a device whose driver has no watchdog: there the loop is only
    // long.
    let endless = gpu.info().device_type == wgpu::DeviceType::Cpu;
    let end = if endless { "" } else { "if i == 1000000u { break; }" };
    let looping = format!("var i = 0u; loop {{ i += 1u; (*state).count = i ^ lp; {end} }}");
    let model = handler(&looping);
    for queue in [QueueDesign::Heap, QueueDesign::Calendar] {
        let run = || {
            let mut simulation = Simulation::new(&gpu, &model, fixed().queue(queue))?;
            simulation.run(Until::EMPTY)?;
            simulation.states()
        };
        match run() {
            Err(SimulationError::Fault(Fault { kind: FaultKind::LoopsCut, window: 1, .. })) => {}
            Ok(states) if !endless => assert_eq!(states[3], 1_000_000 ^ 3),
            other => panic!("{queue}: {other:?}"),
        }
    }
    if endless {
        // In the initialisation, too.
        let init = format!("fn init(lp: u32, state: ptr<function, State>) {{ {looping} }}\n");
        let model = Text::new([STATE, &init, HANDLE].concat());
        let found = fault::<()>(Simulation::new(&gpu, &model, fixed()).and_then(|mut simulation| {
            simulation.run(Until::EMPTY)?;
            Ok(())
        }));
        assert_eq!(found.kind, FaultKind::LoopsCut);
    }
}

#[test]
fn loops_that_are_too_long_for_several_lps_are_one_lps() {
    let gpu = gpu();
    // Two of these loops exceed the iterations that llvmpipe permits, which on fewer than 32 cores
    // serves many LPs with one invocation; one does not.
    let body = "for (var i = 0u; i < 40000u; i += 1u) { (*state).count = (*state).count * 3u + (i ^ lp); }";
    let model = Text { lps: 16_000, ..handler(body) };
    let expected = |lp: u32| (0..40_000u32).fold(0u32, |count, i| count.wrapping_mul(3).wrapping_add(i ^ lp));
    for options in [fixed().fixed(false), fixed()] {
        let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
        assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 16_000);
        assert!((0..).zip(simulation.states().unwrap()).step_by(99).all(|(lp, found)| found == expected(lp)));
    }
    let mut two = Simulation::new(&gpu, &model, fixed().tiles(2)).unwrap();
    match two.run(Until::EMPTY) {
        Err(SimulationError::Fault(Fault { kind: FaultKind::LoopsCut, .. })) => {}
        other => assert_ne!(gpu.info().device_type, wgpu::DeviceType::Cpu, "{other:?}"),
    }
}

#[test]
fn what_wgsl_defines_for_bad_arithmetic_and_bad_indices_is_what_happens() {
    let gpu = gpu();
    let run = |body: &str| {
        let mut simulation = Simulation::new(&gpu, &handler(body), fixed()).unwrap();
        assert_eq!(simulation.run(Until::EMPTY).unwrap().events, 60);
        simulation.states().unwrap()
    };
    // Payload y is 0, which no compiler can infer.
    let all = |value: fn(u32) -> u32| (0..60).map(value).collect::<Vec<_>>();
    assert_eq!(run("(*state).count = lp / event.payload.y;"), all(|lp| lp));
    assert_eq!(run("(*state).count = lp % event.payload.y;"), all(|_| 0));
    assert_eq!(run("(*state).count = u32(i32(lp) / i32(event.payload.y));"), all(|lp| lp));
    let least = "let least = i32(0x80000000u + event.payload.y);";
    assert_eq!(
        run(&format!("{least} (*state).count = u32(least / (i32(event.payload.y) - 1));")),
        all(|_| 1 << 31)
    );
    assert_eq!(
        run(&format!("{least} (*state).count = u32(least % (i32(event.payload.y) - 1));")),
        all(|_| 0)
    );
    assert_eq!(run("(*state).count = lp << (event.payload.y + 33u);"), all(|lp| lp << 1));
    // An access beyond an array happens within it: it neither reads another LP's state nor crashes.
    let list = "var list = array<u32, 4>(0u, 1u, 2u, 3u);";
    for index in ["event.payload.y + 4u", "event.payload.y - 1u", "lp * 0x01000000u + 4u"] {
        let read = run(&format!("{list} (*state).count = list[{index}];"));
        assert!(read.iter().all(|&value| value < 4), "{index}: {read:?}");
        let written = run(&format!(
            "{list} list[{index}] = 9u; (*state).count = list[0] + list[1] + list[2] + list[3];"
        ));
        assert!(written.iter().all(|&value| [6, 15, 14, 13, 12].contains(&value)), "{index}: {written:?}");
    }
    let swizzle = run(
        "var pair = vec2<u32>(7u, 8u); pair[event.payload.y + 9u] = 1u; (*state).count = pair[event.payload.y + 9u];",
    );
    assert!(swizzle.iter().all(|value| [0, 1, 7, 8].contains(value)), "{swizzle:?}");
}

#[test]
fn thousands_of_events_from_one_handler_grow_or_are_a_fault() {
    let gpu = gpu();
    // LP 7 sends 3,000 events to LP 9, and 1,000 to itself for later.
    let model = handler(
        "(*state).count += 1u;
        if lp != 7u || event.payload.y != 0u { return; }
        for (var i = 0u; i < 3000u; i += 1u) { schedule(9u, time_add(now(), vec2<u32>(1000u + i, 0u)), vec2<u32>(i, 1u)); }
        for (var i = 0u; i < 1000u; i += 1u) { schedule(7u, time_add(now(), vec2<u32>(5000u + i, 0u)), vec2<u32>(i, 1u)); }",
    );
    let grown = fixed().fixed(false);
    for queue in [QueueDesign::Heap, QueueDesign::Calendar] {
        let mut simulation = Simulation::new(&gpu, &model, grown.queue(queue)).unwrap();
        match simulation.run(Until::EMPTY) {
            Ok(progress) => {
                assert_eq!(progress.events, 60 + 4000, "{queue}");
                let states = simulation.states().unwrap();
                assert_eq!((states[7], states[9], states[8]), (1001, 3001, 1), "{queue}");
            }
            // 3,000 events in order take more iterations in a window than llvmpipe permits.
            Err(SimulationError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::LoopsCut, "{queue}"),
            Err(other) => panic!("{queue}: {other}"),
        }
        let mut tight = Simulation::new(&gpu, &model, fixed().queue(queue)).unwrap();
        let found = fault(tight.run(Until::EMPTY));
        assert!(
            matches!(found.kind, FaultKind::MailboxFull | FaultKind::QueueFull) && [7, 9].contains(&found.lp),
            "{queue}: {found}"
        );
    }
    // Too many for any memory: an error, after which the earlier results can be read.
    let flood = handler(
        "for (var i = 0u; i < 60000u; i += 1u) { schedule(lp, time_add(now(), vec2<u32>(1u, 0u)), vec2<u32>(i)); }",
    );
    // Little memory, because a window in which such handlers find space takes minutes.
    let small = gpu.binding_at_most(1 << 24);
    let mut simulation = Simulation::new(&small, &flood, grown).unwrap();
    match simulation.run(Until::EMPTY) {
        Err(SimulationError::TooLarge { .. } | SimulationError::Fault(_)) => {}
        other => panic!("{other:?}"),
    }
}
