//! The GPU engine partitioned over devices: the bits of the sequential engine on any number of
//! parts, and every fault on all of them.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use eventhorizon::gpu::Gpu;
use eventhorizon::hybrid::{GpuPart, HybridError, Transport, in_process};
use eventhorizon::models::{CallCentre, Epidemic, FifoTorus, Phold, Torus};
use eventhorizon::pdes::{
    Capacity, CpuModel, CpuSimulation, Fault, FaultKind, Model, Options, Replica, SimulationError, Stop,
    Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Resolution;

use super::common::like::Like;
use super::common::models::Mischief;
use super::common::references::Reference;
use super::common::{few, gpu, is_hardware, is_long};
use super::{networks, ticks};

/// The devices of the ranks of a test: on llvmpipe the one of the test's thread, since each device
/// compiles its own kernels.
pub(crate) struct Devices(Gpu);

impl Devices {
    pub(crate) fn new() -> Self {
        Self(gpu())
    }

    pub(crate) fn of(&self, rank: &dyn Transport) -> Gpu {
        static OTHERS: [OnceLock<Gpu>; 4] = [const { OnceLock::new() }; 4];
        if is_hardware(&self.0) {
            OTHERS[rank.rank() as usize].get_or_init(|| own_device(rank.rank())).clone()
        } else {
            self.0.clone()
        }
    }
}

/// A device for one test.
pub(crate) fn own_device(rank: u32) -> Gpu {
    let gpu = Gpu::nth(rank).unwrap();
    // NVIDIA's driver deadlocks if a device is destroyed while threads end.
    std::mem::forget(gpu.clone());
    gpu
}

/// Runs the model on the sequential engine and on parts, to one end after the other.
fn same<M: CpuModel<State: std::marker::Sync> + std::marker::Sync>(
    model: &M,
    ends: &[Until],
    parts: &[u32],
    options: Options,
) {
    let mut sequential = CpuSimulation::in_rust(model, options).unwrap();
    let expected: Vec<_> = ends
        .iter()
        .map(|&end| {
            let progress = sequential.run(end).unwrap();
            (progress.now, progress.events, progress.stop, sequential.fingerprint())
        })
        .collect();
    let states = sequential.states().to_vec();
    for &parts in parts {
        let devices = Devices::new();
        let ran = in_process(parts, |rank| {
            let gpu = devices.of(&rank);
            let mut part = GpuPart::on(Box::new(rank), &gpu, model, options).unwrap();
            let run = |&end| {
                let progress = part.run(end).unwrap();
                (progress.now, progress.events, progress.stop, part.fingerprint().unwrap())
            };
            let ran: Vec<_> = ends.iter().map(run).collect();
            let lps = part.lps();
            let own = &states[lps.start as usize..][..lps.len()];
            let found = part.states().unwrap();
            let bytes = |states| bytemuck::cast_slice::<M::State, u8>(states);
            assert!(bytes(&found) == bytes(own), "states");
            ran
        });
        for ran in ran {
            assert_eq!(ran, expected, "{} on {parts} parts, {options:?}", model.name());
        }
    }
}

pub(crate) fn until(units: f64) -> Until {
    Until::time(ticks(units))
}

#[test]
fn parts_have_the_bits_of_the_sequential_engine() {
    let units = Resolution::default();
    let options = Options::default().seed(42).replica(Replica { point: 0, number: 3 });
    // Ends after an even and an odd number of windows, within one, twice the same, and by a number
    // of events.
    let mut ends = [0.0, 10.0, 33.3, 33.3, 50.0, 90.0].map(until).to_vec();
    ends.extend([Until::events(4000), Until { events: 4700, ..until(1e6) }]);
    let phold = Phold::new(301, 4, 0.1, 10.0, units).unwrap();
    same(&Reference(phold), &ends, few(2, &[3, 1, 2, 4]), options);
    let ring = phold.with_neighbours(4).unwrap();
    same(&Reference(ring), &[until(7.0), until(120.0)], &[3], options.group_size(8).tiles(3));
    // The messages between parts are so large that several cores copy them.
    same(&Reference(Phold::new(250_000, 2, 0.1, 10.0, units).unwrap()), &[until(15.0)], &[2], options);
    // A dispatch merges what 1,250 workgroups of a part leave.
    let calendar = Options::default().queue(QueueDesign::Calendar).group_size(16);
    same(&Reference(Phold::new(40_000, 2, 0.1, 10.0, units).unwrap()), &[until(15.0)], &[2], calendar);
    // A payload of 6 words, LP memory, and events that `init` sends to other LPs.
    same(
        &Reference(CallCentre::new(64, 3, 4.0, 1.0, 0.5, 64, units).unwrap()),
        &[until(20.0), until(40.0)],
        &[2],
        options,
    );
    let edges: Vec<_> = (0..64).map(|i| (i, (i + 1) % 64)).collect();
    same(
        &Reference(Epidemic::new(64, &edges, 3, 0.5, 0.6, 1.0, units).unwrap()),
        &[until(30.0), Until::EMPTY],
        &[3],
        options,
    );
}

#[test]
fn wide_windows_have_the_same_bits() {
    let units = Resolution::default();
    let wide = Sync::ALL.into_iter().filter(|sync| sync.is_wide() == Some(true) && sync.serves_parts());
    for wide in wide.map(|sync| Options::default().sync(sync)) {
        let torus = FifoTorus::new(5, 5, 64, 1.0, units).unwrap();
        same(&Reference(torus), &[until(3.0), until(9.9), until(20.0)], &[2, 3], wide);
        same(&Reference(Torus::new(6, 6, 64, 1.0, 0.01, units).unwrap()), &[until(12.0)], &[2], wide);
    }
    // Without a lookahead, the default of parts is the event horizon; with YAWNS each round is a
    // window.
    let rounds = Phold::new(90, 3, 0.5, 0.0, Resolution::new(2).unwrap()).unwrap();
    let ends = [0.0001, 0.0002].map(until);
    same(&Reference(rounds), &ends, &[2], Options::default());
    same(&Reference(rounds), &ends, &[2], Options::default().sync(Sync::Yawns));
}

#[test]
fn queueing_networks_are_cut() {
    // Without travel times by the event horizon, the default of parts; with them by YAWNS windows,
    // or either.
    let [tandem, towns] = networks();
    same(&tandem, &[until(40.0), until(60.0)], &[2], Options::default());
    same(&towns, &[until(9.5), until(30.0)], &[4], Options::default());
    if is_long() {
        same(&towns, &[until(20.0)], &[2], Options::default().sync(Sync::Horizon));
    }
}

#[test]
fn queues_of_all_kinds_are_cut() {
    let model = Phold::new(70, 4, 0.1, 10.0, Resolution::default()).unwrap();
    for queue in [QueueDesign::Heap, QueueDesign::Heap4] {
        same(&Reference(model), &[until(60.0)], &[2], Options::default().queue(queue));
    }
}

/// The error of each part.
fn errors<M: Model + std::marker::Sync>(model: &M, parts: u32, options: Options) -> Vec<HybridError> {
    let devices = Devices::new();
    in_process(parts, |rank| {
        let gpu = devices.of(&rank);
        let mut part = GpuPart::on(Box::new(rank), &gpu, model, options)?;
        let error = part.run(until(1e6)).unwrap_err();
        assert!(matches!(part.run(until(1e6)), Err(HybridError::Over)));
        Err(error)
    })
    .into_iter()
    .map(Result::<(), _>::unwrap_err)
    .collect()
}

fn fault(error: &HybridError) -> Fault {
    match error {
        HybridError::Simulation(SimulationError::Fault(fault)) => *fault,
        other => panic!("expected a fault, got {other}"),
    }
}

#[test]
fn a_fault_is_the_same_on_all_parts() {
    for (rule, culprit) in [(0, 5), (1, 299), (2, 120)] {
        let capacity = Capacity { queue: 64, mailbox: 64 };
        let model = Mischief { lps: 300, rule, culprit, at: 3000, capacity };
        let Err(SimulationError::Fault(expected)) =
            CpuSimulation::in_rust(&model, Options::default()).unwrap().run(Until::EMPTY)
        else {
            panic!("it breaks a rule");
        };
        for error in errors(&model, 3, Options::default()) {
            assert_eq!(fault(&error), expected);
        }
    }
}

#[test]
fn too_little_room_is_a_fault_of_all_parts() {
    let units = Resolution::default();
    let fixed = Options::default().fixed(true);
    let narrow = |lps, population, queue, mailbox| {
        let model = Phold::new(lps, population, 1.0, 10.0, units).unwrap();
        Like(model, model.source(), Capacity { queue, mailbox })
    };
    let mailboxes = narrow(100, 8, 100, 3);
    let queues = narrow(100, 8, 9, 60);
    // Nearly all events of a window go to random other LPs, half of them to the other part. Of
    // several faults, the first LP's is reported.
    let outboxes = narrow(12_000, 1, 40, 4);
    for (model, kind) in [
        (mailboxes, FaultKind::MailboxFull),
        (queues, FaultKind::QueueFull),
        (outboxes, FaultKind::OutboxFull),
    ] {
        let errors = errors(&model, 2, fixed);
        let [first, second] = [&errors[0], &errors[1]].map(fault);
        assert_eq!((first.kind, first), (kind, second));
        let most = if kind == FaultKind::OutboxFull { 2000 } else { model.2.mailbox.min(model.2.queue) };
        assert!(first.needed > most, "{first}");
        // No other fault occurs.
        let mut sequential = CpuSimulation::new(&model.0, Options::default()).unwrap();
        let ends = [until(12.0), until(35.0)];
        let expected = ends.map(|end| (sequential.run(end).unwrap().events, sequential.fingerprint()));
        let devices = Devices::new();
        let ran = in_process(2, |rank| {
            let gpu = devices.of(&rank);
            let mut part = GpuPart::on(Box::new(rank), &gpu, &model, Options::default()).unwrap();
            ends.map(|end| (part.run(end).unwrap().events, part.fingerprint().unwrap()))
        });
        assert_eq!(ran, [expected; 2], "{kind:?}");
    }
}

/// Runs within a second share one copy of the memory. An overflow in a later one repeats them all,
/// each to its own end, or windows are others.
#[test]
fn runs_since_the_copy_are_repeated_after_an_overflow() {
    let model = Phold::new(300, 4, 0.1, 10.0, Resolution::default()).unwrap();
    let mut ends: Vec<_> = (1..=14).map(|i| until(7.3 * f64::from(i))).collect();
    ends.insert(9, Until::events(7000));
    // Nine of them fit, and the tenth does not.
    let narrow = Like(model, model.source(), Capacity { queue: 12, mailbox: 12 });
    let options = Options::default().queue(QueueDesign::Heap);
    let mut sequential = CpuSimulation::new(&model, options).unwrap();
    let expected: Vec<_> =
        ends.iter().map(|&end| (sequential.run(end).unwrap(), sequential.fingerprint())).collect();
    for (fixed, runs) in [(true, 9), (false, ends.len())] {
        let devices = Devices::new();
        let ran = in_process(2, |rank| {
            let gpu = devices.of(&rank);
            let mut part = GpuPart::on(Box::new(rank), &gpu, &narrow, options.fixed(fixed)).unwrap();
            let mut run = |&end| Ok::<_, HybridError>((part.run(end)?, part.fingerprint()?));
            ends.iter().map_while(|end| run(end).ok()).collect::<Vec<_>>()
        });
        for ran in ran {
            assert_eq!(ran, expected[..runs]);
        }
    }
}

#[test]
fn what_parts_cannot_have_is_refused_on_all() {
    let model = Phold::new(3, 4, 0.1, 10.0, Resolution::default()).unwrap();
    let usual = Options::default();
    for (parts, options, words) in [
        (2, usual.queue(QueueDesign::Calendar).sync(Sync::Horizon), "calendar"),
        (2, usual.sync(Sync::Neighbours), "Sync::Yawns"),
        (4, usual, "fewer devices"),
    ] {
        for error in errors(&model, parts, options) {
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    let devices = Devices::new();
    let differ = in_process(2, |rank| {
        let (gpu, seed) = (devices.of(&rank), rank.rank().into());
        GpuPart::on(Box::new(rank), &gpu, &model, usual.seed(seed)).err().map(|error| error.to_string())
    });
    assert!(
        differ.iter().all(|error| error.as_ref().is_some_and(|error| error.contains("seed"))),
        "{differ:?}"
    );
    let gpu = gpu();
    let mut part = GpuPart::alone(&gpu, &model, usual.sync(Sync::Horizon)).unwrap();
    let refused = part.run(Until::events(10)).unwrap_err().to_string();
    assert!(refused.contains("Sync::Yawns"), "{refused}");
    // The part can still be run.
    assert_eq!(part.run(until(20.0)).unwrap().stop, Some(Stop::Time));
}

#[test]
fn a_device_that_is_lost_ends_all_parts() {
    let model = Phold::new(300, 4, 0.1, 10.0, Resolution::default()).unwrap();
    let ended = in_process(3, |rank| {
        let (gpu, own) = (own_device(rank.rank()), rank.rank());
        let mut part = GpuPart::on(Box::new(rank), &gpu, &model, Options::default()).unwrap();
        part.run(until(50.0)).unwrap();
        if own == 1 {
            gpu.device().destroy();
        }
        part.run(until(1e6)).unwrap_err()
    });
    assert!(matches!(ended[1], HybridError::Gpu(_)), "{}", ended[1]);
    for error in [&ended[0], &ended[2]] {
        assert!(matches!(error, HybridError::Rank { rank: 1, .. }), "{error}");
    }
}

#[test]
fn a_watcher_stops_all_parts_and_the_run_goes_on() {
    let model = Phold::new(2000, 4, 0.1, 0.1, Resolution::default()).unwrap();
    let end = until(40.0);
    let mut sequential = CpuSimulation::new(&model, Options::default()).unwrap();
    let events = sequential.run(end).unwrap().events;
    let devices = Devices::new();
    let ran = in_process(2, |rank| {
        let (gpu, second) = (devices.of(&rank), rank.rank() == 1);
        let mut part = GpuPart::on(Box::new(rank), &gpu, &model, Options::default()).unwrap();
        let watch = |_: &_| if second { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let first = part.until(end).watch(watch).run().unwrap();
        let progress = part.run(end).unwrap();
        assert_eq!(progress.stop, Some(Stop::Time));
        (first.stop, progress.events, part.fingerprint().unwrap())
    });
    assert_eq!(ran[0], ran[1]);
    assert_eq!(ran[0], (Some(Stop::Watcher), events, sequential.fingerprint()));
}
