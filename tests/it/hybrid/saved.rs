//! Runs partitioned over devices that are saved and resumed: any ranks write the same file and
//! resume the same run.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use eventhorizon::hybrid::{self, EntityPlacement, GpuPart, HybridError, Lp, Message, Transport, in_process};
use eventhorizon::models::{CallCentre, FifoTorus, Phold};
use eventhorizon::pdes::{
    Autosave, Capacity, Checkpoint, CheckpointError, CpuModel, CpuSimulation, FaultKind, Model, Options,
    Replica, Simulation, SimulationError, Stop, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::Resolution;

use super::common::gpu;
use super::common::like::Like;
use super::common::references::Reference;
use super::devices::{Devices, own_device, until};

const SEED: u64 = 9;

fn options() -> Options {
    Options::default().seed(SEED).replica(Replica { point: 1, number: 3 })
}

/// Resumes a checkpoint on parts, runs to an end, and returns the checkpoint of the first rank.
fn parts_go_on<M: Model + std::marker::Sync>(
    parts: u32,
    model: &M,
    options: Options,
    saved: &Checkpoint,
    end: Until,
) -> Checkpoint {
    let devices = Devices::new();
    let ran = in_process(parts, |rank| {
        let gpu = devices.of(&rank);
        // The seed is the checkpoint's.
        let options = options.seed(77);
        let mut part = GpuPart::resume(Box::new(rank), &gpu, model, options, saved).unwrap();
        assert_eq!(part.progress(), saved.progress());
        let again = part.checkpoint().unwrap();
        assert!(again.is_none_or(|again| again == *saved), "it is saved as it was");
        part.run(end).unwrap();
        part.checkpoint().unwrap()
    });
    assert!(ran[1..].iter().all(Option::is_none));
    ran.into_iter().next().unwrap().unwrap()
}

/// Runs a model to some ends and saves it at each. Parts must write the same file as the sequential
/// engine, and all resume from it.
fn same<M: CpuModel + std::marker::Sync>(model: &M, ends: [Until; 3], parts: &[u32]) {
    let gpu = gpu();
    let mut cpu = CpuSimulation::in_rust(model, options()).unwrap();
    let expected = ends.map(|end| {
        cpu.run(end).unwrap();
        cpu.checkpoint().unwrap()
    });
    for &from in parts {
        let devices = Devices::new();
        let saved = in_process(from, |rank| {
            let gpu = devices.of(&rank);
            let mut part = GpuPart::on(Box::new(rank), &gpu, model, options()).unwrap();
            part.run(ends[0]).unwrap();
            part.checkpoint().unwrap()
        });
        assert!(saved[0].as_ref() == Some(&expected[0]), "{} on {from} parts", model.name());
        let second = parts_go_on(from, model, options(), &expected[0], ends[1]);
        assert!(second == expected[1], "{}: {from} parts: {second:?}, {:?}", model.name(), expected[1]);
    }
    for (saved, (end, expected)) in expected.iter().zip(ends.iter().zip(&expected).skip(1)) {
        let mut simulation = Simulation::resume(&gpu, model, options(), saved).unwrap();
        simulation.run(*end).unwrap();
        assert!(simulation.checkpoint().unwrap() == *expected, "undivided");
    }
    let last = parts_go_on(parts[0], model, options(), &expected[1], ends[2]);
    assert!(last == expected[2], "{}: {last:?}, {:?}", model.name(), expected[2]);
}

#[test]
fn parts_write_the_file_of_the_whole_and_go_on_from_it() {
    let units = Resolution::default();
    let phold = Phold::new(301, 4, 0.1, 10.0, units).unwrap();
    // An end within a window, one by events, one by time.
    same(&Reference(phold), [until(33.3), Until::events(4000), until(120.0)], &[2, 1, 3]);
    // A calendar of the resumed parts.
    let model = Reference(phold);
    let mut cpu = CpuSimulation::in_rust(&model, options()).unwrap();
    cpu.run(until(33.3)).unwrap();
    let saved = cpu.checkpoint().unwrap();
    cpu.run(until(50.0)).unwrap();
    let calendar = options().queue(QueueDesign::Calendar);
    let last = parts_go_on(2, &model, calendar, &saved, until(50.0));
    assert!(last == cpu.checkpoint().unwrap(), "{last:?}");
    // Events of 32 bytes, LP memory, data.
    let centre = CallCentre::new(64, 3, 4.0, 1.0, 0.5, 64, units).unwrap();
    same(&Reference(centre), [until(0.0), until(20.0), until(40.0)], &[2]);
}

#[test]
fn wide_windows_are_saved_and_gone_on_with() {
    let torus = FifoTorus::new(5, 5, 64, 1.0, Resolution::default()).unwrap();
    let ends = [until(3.0), until(9.9)];
    let mut cpu = CpuSimulation::new(&torus, options()).unwrap();
    let expected = ends.map(|end| (cpu.run(end).unwrap().events, cpu.fingerprint()));
    let horizon = options().sync(Sync::Horizon);
    let devices = Devices::new();
    let saved = in_process(2, |rank| {
        let gpu = devices.of(&rank);
        let mut part = GpuPart::on(Box::new(rank), &gpu, &torus, horizon).unwrap();
        part.run(ends[0]).unwrap();
        part.checkpoint().unwrap()
    });
    let saved = saved[0].as_ref().unwrap();
    let last = parts_go_on(3, &torus, horizon, saved, ends[1]);
    for (saved, (events, fingerprint)) in [saved, &last].into_iter().zip(expected) {
        // Windows are counted differently.
        assert_eq!(saved.progress().events, events);
        assert_eq!(CpuSimulation::resume(&torus, saved).unwrap().fingerprint(), fingerprint);
    }
}

#[test]
fn parts_grow_after_they_went_on_or_fail_alike() {
    let model = Phold::new(100, 9, 0.1, 10.0, Resolution::default()).unwrap();
    let mut cpu = CpuSimulation::new(&model, Options::default().seed(SEED)).unwrap();
    cpu.run(until(31.0)).unwrap();
    let saved = cpu.checkpoint().unwrap();
    cpu.run(until(60.0)).unwrap();
    let tiny = Like(model, model.source(), Capacity { queue: 1, mailbox: 1 });
    assert!(parts_go_on(2, &tiny, Options::default(), &saved, until(60.0)) == cpu.checkpoint().unwrap());
    let fixed = Options::default().fixed(true);
    let devices = Devices::new();
    let failed = in_process(2, |rank| {
        let gpu = devices.of(&rank);
        GpuPart::resume(Box::new(rank), &gpu, &tiny, fixed, &saved).unwrap_err()
    });
    for error in failed {
        let HybridError::Simulation(SimulationError::Fault(fault)) = error else { panic!("{error}") };
        assert!(fault.kind == FaultKind::QueueFull && fault.needed >= 9, "{fault}");
    }
}

/// A file for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("eventhorizon-hybrid-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn parts_save_themselves_until_one_is_stopped() {
    let folder = Folder::new("parts");
    let file = folder.0.join("run.checkpoint");
    let model = Phold::new(300, 4, 0.1, 1.0, Resolution::default()).unwrap();
    let end = until(30_000.0);
    let devices = Devices::new();
    let stopped = in_process(2, |rank| {
        let (gpu, second) = (devices.of(&rank), rank.rank() == 1);
        let mut part = GpuPart::on(Box::new(rank), &gpu, &model, options()).unwrap();
        let mut asked = 0;
        let watch = |_: &_| {
            asked += 1;
            // A complete file exists from the second call of the first watcher on.
            assert!(second || asked == 1 || Checkpoint::load(&file).unwrap().progress().events > 0);
            if second && asked == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // Only one of them uses the interval.
        let every = if second { Duration::MAX } else { Duration::ZERO };
        part.until(end).watch(watch).save(Autosave::new(&file, every)).run().unwrap()
    });
    assert_eq!((stopped[0].stop, stopped[0]), (Some(Stop::Watcher), stopped[1]));
    let saved = Checkpoint::load(&file).unwrap();
    assert_eq!((saved.progress().events, saved.until()), (stopped[0].events, end));
    let beyond = Until::events(saved.progress().events + 1000);
    let mut whole = CpuSimulation::new(&model, options()).unwrap();
    let mut other = CpuSimulation::resume(&model, &saved).unwrap();
    assert_eq!(whole.run(beyond).unwrap(), other.run(beyond).unwrap());
    assert_eq!(whole.fingerprint(), other.fingerprint());
    let nowhere = folder.0.join("none").join("file");
    let devices = Devices::new();
    let failed = in_process(2, |rank| {
        let gpu = devices.of(&rank);
        let mut part = GpuPart::on(Box::new(rank), &gpu, &model, options()).unwrap();
        let failed = part.until(until(5.0)).save(Autosave::new(&nowhere, Duration::MAX)).run().unwrap_err();
        // The run itself is valid.
        assert_eq!(part.run(until(9.0)).unwrap().stop, Some(Stop::Time));
        failed
    });
    use SimulationError::Checkpoint as Wrong;
    assert!(
        matches!(failed[0], HybridError::Simulation(Wrong(CheckpointError::Place { .. }))),
        "{}",
        failed[0]
    );
    assert!(matches!(failed[1], HybridError::Rank { rank: 0, .. }), "{}", failed[1]);
}

#[test]
fn a_checkpoint_of_another_run_is_refused_on_all_parts() {
    let units = Resolution::default();
    let (model, other) =
        (Phold::new(20, 4, 0.1, 1.0, units).unwrap(), Phold::new(20, 4, 0.2, 1.0, units).unwrap());
    let save =
        |seed| CpuSimulation::new(&model, Options::default().seed(seed)).unwrap().checkpoint().unwrap();
    let saved = [save(1), save(2)];
    let resume = |model: &Phold, of: &(dyn Fn(u32) -> usize + std::marker::Sync)| {
        let devices = Devices::new();
        in_process(2, |rank| {
            let (gpu, saved) = (devices.of(&rank), &saved[of(rank.rank())]);
            GpuPart::resume(Box::new(rank), &gpu, model, options(), saved).unwrap_err()
        })
    };
    for error in resume(&other, &|_| 0) {
        use SimulationError::Checkpoint as Wrong;
        let foreign = matches!(&error, HybridError::Simulation(Wrong(CheckpointError::Foreign { .. })));
        assert!(foreign, "{error}");
    }
    for error in resume(&model, &|rank| rank as usize) {
        assert!(matches!(error, HybridError::Differs { rank: 1, what: "the checkpoint" }), "{error}");
    }
}

#[test]
fn a_part_that_cannot_be_read_ends_the_saving_of_all() {
    let model = Phold::new(300, 4, 0.1, 10.0, Resolution::default()).unwrap();
    let ended = in_process(2, |rank| {
        let (gpu, own) = (own_device(rank.rank()), rank.rank());
        let mut part = GpuPart::on(Box::new(rank), &gpu, &model, options()).unwrap();
        part.run(until(50.0)).unwrap();
        if own == 1 {
            gpu.device().destroy();
        }
        let first = part.checkpoint().unwrap_err();
        let second = part.run(until(60.0)).unwrap_err();
        // A failed run cannot be resumed.
        assert!(matches!(part.checkpoint(), Err(HybridError::Over)));
        (first, second)
    });
    let ((mine, run), (lost, _)) = (&ended[0], &ended[1]);
    assert!(matches!(lost, HybridError::Gpu(_)), "{lost}");
    for error in [mine, run] {
        assert!(matches!(error, HybridError::Rank { rank: 1, .. }), "{error}");
    }
    // A run that has ended.
    let devices = Devices::new();
    let gone = in_process(2, |rank| {
        let (gpu, own) = (devices.of(&rank), rank.rank());
        let mut part = GpuPart::on(Box::new(rank), &gpu, &model, options()).unwrap();
        (own == 0).then(|| part.checkpoint().unwrap_err())
    });
    assert!(matches!(gone[0], Some(HybridError::Gone { rank: 1 })), "{:?}", gone[0]);
}

/// The options of a rank of the host engine.
fn on_host(threads: usize, spread: &EntityPlacement) -> hybrid::Options {
    let Options { seed, replica, .. } = options();
    hybrid::Options::default().seed(seed).replica(replica).threads(threads).placement(spread.clone())
}

/// Saves a model on the host engine with any ranks; any ranks and the sequential engine resume the
/// one file.
fn same_on_host<M>(model: &M, [first, second]: [Until; 2])
where
    M: CpuModel<State: Send, Payload: Message> + Clone + Send + std::marker::Sync + 'static,
{
    let mut cpu = CpuSimulation::in_rust(model, options()).unwrap();
    cpu.run(first).unwrap();
    let (its, fingerprint) = (cpu.checkpoint().unwrap(), cpu.fingerprint());
    let expected = (cpu.run(second).unwrap().events, cpu.fingerprint());
    let mut before: Option<Checkpoint> = None;
    for (ranks, threads, spread) in [(1, 2, 0), (2, 1, 1), (3, 1, 2)] {
        let spread = &super::spreads()[spread];
        let saved = in_process(ranks, |rank| {
            let options = on_host(threads, spread);
            let mut simulation = Lp::simulation(model.clone(), Some(Box::new(rank)), options).unwrap();
            simulation.run(first.time).unwrap();
            simulation.checkpoint().unwrap()
        });
        assert!(saved[1..].iter().all(Option::is_none));
        let saved = saved.into_iter().next().unwrap().unwrap();
        assert!(before.is_none_or(|before| before == saved), "{}: {ranks} ranks", model.name());
        // Windows begin at events, not at epochs.
        let mut other = CpuSimulation::resume_in_rust(model, &saved).unwrap();
        assert_eq!(other.fingerprint(), fingerprint);
        assert_eq!((other.run(second).unwrap().events, other.fingerprint()), expected);
        for from in [&its, &saved] {
            let ran = in_process(ranks, |rank| {
                let options = on_host(threads, spread);
                let mut simulation = Lp::resume(model.clone(), Some(Box::new(rank)), options, from).unwrap();
                let again = simulation.checkpoint().unwrap();
                assert!(again.is_none_or(|again| again == *from), "it is saved as it was");
                let events = simulation.run(second.time).unwrap().events;
                (events, simulation.fingerprint().unwrap())
            });
            assert!(ran.iter().all(|ran| *ran == expected), "{}: {ranks} ranks", model.name());
        }
        before = Some(saved);
    }
}

#[test]
fn models_on_the_host_are_saved_and_gone_on_with_by_any_engine() {
    let units = Resolution::default();
    same_on_host(&Reference(Phold::new(301, 4, 0.1, 10.0, units).unwrap()), [until(33.3), until(90.0)]);
    same_on_host(
        &Reference(CallCentre::new(64, 3, 4.0, 1.0, 0.5, 64, units).unwrap()),
        [until(20.0), until(40.0)],
    );
    let rounds = Phold::new(200, 3, 0.5, 0.0, Resolution::new(2).unwrap()).unwrap();
    same_on_host(&Reference(rounds), [until(0.0001), until(0.0002)]);
}

#[test]
fn ranks_of_the_host_save_themselves_until_one_is_stopped() {
    let folder = Folder::new("ranks");
    let file = folder.0.join("run.checkpoint");
    let model = Phold::new(300, 4, 0.1, 0.1, Resolution::default()).unwrap();
    let stopped = in_process(2, |rank| {
        let second = rank.rank() == 1;
        let options = on_host(1, &EntityPlacement::Hash);
        let mut simulation = Lp::simulation(model, Some(Box::new(rank)), options).unwrap();
        let mut asked = 0;
        let watch = |_: &_| {
            asked += 1;
            if second && asked == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let every = if second { Duration::MAX } else { Duration::ZERO };
        simulation.until(until(1e7).time).watch(watch).save(Autosave::new(&file, every)).run().unwrap()
    });
    assert_eq!((stopped[0].stop, stopped[0]), (Some(Stop::Watcher), stopped[1]));
    let saved = Checkpoint::load(&file).unwrap();
    assert_eq!((saved.progress().events, saved.until()), (stopped[0].events, until(1e7)));
    // On devices, to a later end.
    let gpu = gpu();
    let mut whole = Simulation::new(&gpu, &model, options()).unwrap();
    let end = Until::time(saved.progress().now.saturating_add(until(5.0).time));
    whole.run(end).unwrap();
    let last = parts_go_on(2, &model, options(), &saved, end);
    assert_eq!(last.progress().events, whole.checkpoint().unwrap().progress().events);
    assert_eq!(CpuSimulation::resume(&model, &last).unwrap().fingerprint(), whole.fingerprint().unwrap());
}
