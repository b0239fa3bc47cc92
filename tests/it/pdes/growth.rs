//! Queues and mailboxes that overflow grow, without an effect on the results.

use super::common::references::Reference;
use super::own_events::{Busy, Wide};
use super::{phold, same, until};
use crate::common::{gpu, is_long};
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{
    Capacity, CpuModel, CpuSimulation, FaultKind, Options, Simulation, SimulationError, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Ticks;

const TINY: Capacity = Capacity { queue: 1, mailbox: 1 };

#[test]
fn runs_that_begin_with_room_for_one_event_are_those_with_room_for_all() {
    let gpu = gpu();
    for queue in QueueDesign::PRODUCTION {
        let options = Options::default().seed(6).queue(queue);
        // From the first event on; more in each window; stopped in between.
        same(
            &gpu,
            &Reference(phold(130, 9, 0.1).with_capacity(TINY)),
            options,
            &[until(0.0), until(31.0), until(90.0)],
        );
        if queue == QueueDesign::Calendar || is_long() {
            same(
                &gpu,
                &Busy { capacity: TINY, ..Busy::new(70) },
                options,
                &[Until::events(100), Until::time(Ticks::new(300)), Until::EMPTY],
            );
        }
        if queue == QueueDesign::Heap || is_long() {
            same(&gpu, &Wide { capacity: TINY, ..Wide::new(33) }, options, &[Until::EMPTY]);
        }
    }
    if is_long() {
        for (group_size, tiles) in [(8, 2), (1, 3), (8, 1), (64, 2)] {
            let options = Options::default().seed(2).group_size(group_size).tiles(tiles);
            same(
                &gpu,
                &Reference(phold(100, 4, 0.1).with_capacity(TINY)),
                options,
                &[Until::events(700), until(80.0)],
            );
        }
    }
}

#[test]
fn a_queue_or_a_mailbox_alone_grows() {
    let gpu = gpu();
    let enough = Capacity { queue: 300, mailbox: 300 };
    for capacity in [Capacity { queue: 3, ..enough }, Capacity { mailbox: 2, ..enough }] {
        let model = phold(60, 16, 0.1).with_capacity(capacity);
        let mut simulation =
            Simulation::new(&gpu, &model, Options::default().queue(QueueDesign::Heap)).unwrap();
        simulation.run(until(60.0)).unwrap();
        let found = simulation.capacity();
        assert!(found.queue > 16 && found.mailbox > 5, "{found:?}");
        assert_eq!(found.queue == 300, capacity.queue == 300, "{found:?}: what suffices stays");
        assert_eq!(found.mailbox == 300, capacity.mailbox == 300, "{found:?}: what suffices stays");
        let mut cpu = CpuSimulation::new(&model, Options::default()).unwrap();
        cpu.run(until(60.0)).unwrap();
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
    }
}

#[test]
#[ignore = "long: kernels with many bindings"]
fn growth_goes_over_several_bindings() {
    let gpu = gpu();
    // 64 KiB: queues and memory of 300 LPs fit one binding at first, and several then.
    let small = gpu.binding_at_most(1 << 16);
    let options = Options::default().seed(3).group_size(8);
    if gpu.limits().max_storage_buffers_per_shader_stage < 31 {
        // Mailboxes in several bindings need an adapter with as many; queues do not.
        let model = Busy { capacity: Capacity { queue: 4, mailbox: 13 }, ..Busy::new(300) };
        same(&small, &model, options, &[Until::time(Ticks::new(200)), Until::EMPTY]);
        return;
    }
    let model = Busy { capacity: Capacity { queue: 4, mailbox: 2 }, ..Busy::new(300) };
    same(&small, &model, options, &[Until::time(Ticks::new(200)), Until::EMPTY]);
    if is_long() {
        let model = Reference(phold(500, 8, 0.1).with_capacity(TINY));
        same(&small, &model, options, &[until(25.0), until(70.0)]);
    }
    let options = options.queue(QueueDesign::Calendar);
    same(&small, &Reference(phold(150, 1, 0.1).with_capacity(TINY)), options, &[until(25.0), until(70.0)]);
}

#[test]
fn where_the_device_has_no_more_room_the_run_stays_what_it_was() {
    // Bindings of 8 KiB hold the queues of 8 LPs of up to 64 events, and LP 7 will have more.
    let gpu = gpu().binding_at_most(1 << 13);
    let mut model = Busy::new(8);
    model.room = 4;
    model.capacity = Capacity { queue: 8, mailbox: 8 };
    let model = model.breaking(3, 7); // each event sends two: the queue fills
    let options = Options::default().group_size(8);
    let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
    let mut cpu = CpuSimulation::in_rust(&model, Options::default()).unwrap();
    let early = Until::time(Ticks::new(30));
    assert_eq!(simulation.run(early).unwrap(), cpu.run(early).unwrap());
    match simulation.run(Until::EMPTY) {
        Err(SimulationError::TooLarge { what: "queues", capacity, .. }) => assert!(capacity > 8),
        other => panic!("{other:?}"),
    }
    // The run is where it was, or at a later snapshot if it took long. It can be read, and
    // continues to an earlier end.
    let events = simulation.progress().unwrap().events;
    assert!(events >= cpu.run(early).unwrap().events);
    cpu.run(Until::events(events)).unwrap();
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
    assert!(simulation.states().unwrap() == cpu.states());
    let next = Until::time(Ticks::new(33));
    assert_eq!(simulation.run(next).unwrap(), cpu.run(next).unwrap());
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
    // And it is refused again.
    assert!(matches!(simulation.run(Until::EMPTY), Err(SimulationError::TooLarge { .. })));
    assert!(simulation.progress().unwrap().events >= events);
}

#[test]
fn more_lps_than_can_be_numbered_are_refused_by_both_engines() {
    let model = phold((1 << 28) + 1, 1, 0.1);
    let refused = [
        Simulation::new(&gpu(), &model, Options::default()).err(),
        CpuSimulation::new(&model, Options::default()).err(),
    ];
    for error in refused {
        assert!(matches!(error, Some(SimulationError::TooManyLps { lps: 268_435_457, .. })), "{error:?}");
    }
}

#[test]
fn other_faults_are_faults_and_growth_can_be_refused() {
    let gpu = gpu();
    let model = Busy { capacity: TINY, ..Busy::new(100) }.breaking(2, 40);
    let kind = |result: Result<_, _>| match result {
        Err(SimulationError::Fault(fault)) => (fault.kind, fault.lp, fault.window),
        other => panic!("{other:?}"),
    };
    let mut cpu = CpuSimulation::in_rust(&model, Options::default()).unwrap();
    let mut simulation = Simulation::new(&gpu, &model, Options::default()).unwrap();
    assert_eq!(kind(simulation.run(Until::EMPTY)), kind(cpu.run(Until::EMPTY)));
    let fixed = Options::default().fixed(true);
    let model = Busy { capacity: TINY, ..Busy::new(100) };
    let mut simulation = Simulation::new(&gpu, &model, fixed).unwrap();
    let (found, ..) = kind(simulation.run(Until::EMPTY));
    assert!([FaultKind::QueueFull, FaultKind::MailboxFull].contains(&found));
}

#[test]
fn windows_of_an_application_do_not_grow_and_say_so() {
    let gpu = gpu();
    let model = phold(50, 8, 0.1).with_capacity(Capacity { queue: 100, mailbox: 1 });
    // Mailboxes for an event horizon have more capacity.
    let options = Options::default().sync(Sync::Yawns);
    let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
    simulation.set_until(until(60.0)).unwrap();
    let mut encoder = gpu.encoder("the application's");
    simulation.record(&mut encoder, 4);
    gpu.submit(encoder).unwrap();
    match simulation.progress() {
        Err(SimulationError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::MailboxFull),
        other => panic!("{other:?}"),
    }
    // A run starts from the state of the application's windows, which is invalid here.
    assert!(simulation.run(until(60.0)).is_err());
}

#[test]
fn a_run_goes_from_one_design_to_another() {
    let gpu = gpu();
    let model = Busy::new(70);
    let cut = phold(130, 9, 0.1).with_capacity(Capacity { queue: 30, mailbox: 3 });
    let calendar = QueueDesign::Calendar;
    let mut designs = vec![calendar];
    designs.extend(QueueDesign::PRODUCTION.into_iter().flat_map(|queue| [queue, calendar]));
    through(&gpu, &model, &designs, |step| Until::time(Ticks::new(25 * step)));
    through(&gpu, &model, &designs, |step| Until::events(300 * step));
    through(&gpu, &Reference(cut), &designs, |step| until(6.1 * step as f64));
}

/// Runs a model to several ends, with another design after each.
fn through<M: CpuModel<State: PartialEq>>(
    gpu: &Gpu,
    model: &M,
    designs: &[QueueDesign],
    end: impl Fn(u64) -> Until,
) {
    let mut cpu = CpuSimulation::in_rust(model, Options::default().seed(5)).unwrap();
    let options = Options::default().seed(5).queue(QueueDesign::Heap);
    let mut simulation = Simulation::new(gpu, model, options).unwrap();
    for (step, &design) in (1..).zip(designs) {
        simulation.set_queue(design).unwrap();
        assert_eq!(simulation.queue(), design);
        assert!(simulation.pending().unwrap() == cpu.pending(), "{design}");
        assert_eq!(simulation.run(end(step)).unwrap(), cpu.run(end(step)).unwrap(), "{design}, step {step}");
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{design}, step {step}");
        assert!(simulation.memory().unwrap() == cpu.memory(), "LP memory differs: {design}");
    }
}

#[test]
fn windows_recorded_before_a_change_do_nothing_after_it() {
    let gpu = gpu();
    let model = Busy::new(40);
    let mut cpu = CpuSimulation::in_rust(&model, Options::default().seed(5)).unwrap();
    let options = Options::default().seed(5).queue(QueueDesign::Heap);
    let mut simulation = Simulation::new(&gpu, &model, options).unwrap();
    let mut recorded = Vec::new();
    for (step, &design) in (1..).zip(&[QueueDesign::Calendar, QueueDesign::Heap4, QueueDesign::Calendar]) {
        let end = Until::time(Ticks::new(30 * step));
        assert_eq!(simulation.run(end).unwrap(), cpu.run(end).unwrap());
        simulation.set_until(Until::EMPTY).unwrap();
        let mut encoder = gpu.encoder("recorded before");
        simulation.record(&mut encoder, 3);
        recorded.push(encoder);
        simulation.set_queue(design).unwrap();
    }
    for encoder in recorded {
        gpu.submit(encoder).unwrap();
    }
    assert!(simulation.states().unwrap() == cpu.states());
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
    assert_eq!(simulation.run(Until::EMPTY).unwrap(), cpu.run(Until::EMPTY).unwrap());
    assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
}
