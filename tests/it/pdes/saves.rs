//! Places of saves: failures, and temporary files.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::time::Duration;

use super::checkpoints::Folder;
use super::common::gpu;
use super::{phold, until};
use eventhorizon::models::Phold;
use eventhorizon::pdes::{
    Autosave, Checkpoint, CheckpointError, CpuSimulation, Options, Progress, Simulation, SimulationError,
    Until,
};

type Watch<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// Runs, saves at each call of the watcher, and has no folder to save in at some of them.
fn unsaved(name: &str, run: &mut dyn FnMut(Until, Autosave<'_>, Watch<'_>) -> SimulationError) {
    let folder = Folder::new(name);
    let file = folder.0.join("run");
    let (looks, saved) = (Cell::new(0), Cell::new(0));
    let failures = RefCell::new(Vec::new());
    let mut watch = |_: &Progress| {
        looks.set(looks.get() + 1);
        match looks.get() {
            2 | 6 => fs::remove_dir_all(&folder.0).unwrap(),
            4 => fs::create_dir(&folder.0).unwrap(),
            5 => saved.set(Checkpoint::load(&file).unwrap().progress().events),
            7 => return ControlFlow::Break(()),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let failed = |error: &CheckpointError| failures.borrow_mut().push((looks.get(), error.to_string()));
    let autosave = Autosave::new(&file, Duration::ZERO).on_failure(&failed);
    let error = run(until(1e9), autosave, &mut watch);
    assert!(matches!(error, SimulationError::Checkpoint(CheckpointError::Write { .. })), "{error}");
    assert!(saved.get() > 0, "it was saved again as soon as it could be");
    let failures = failures.into_inner();
    assert_eq!(failures.iter().map(|failure| failure.0).collect::<Vec<_>>(), [2, 6], "one warning each");
    assert!(failures.iter().all(|(_, text)| text.contains("run") && text.contains("No such file")));
}

#[test]
#[cfg(unix)]
fn a_run_goes_on_from_memory_where_it_cannot_be_saved() {
    let model = phold(100, 4, 0.1);
    let check = |saved: Checkpoint| {
        let end = Until::events(saved.progress().events + 1000);
        let mut other = CpuSimulation::resume(&model, &saved).unwrap();
        other.run(end).unwrap();
        let mut whole = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
        whole.run(end).unwrap();
        assert_eq!(other.fingerprint(), whole.fingerprint());
    };
    let mut cpu = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
    unsaved("unsaved-cpu", &mut |end, autosave, watch| {
        cpu.until(end).watch(watch).save(autosave).run().unwrap_err()
    });
    check(cpu.checkpoint().unwrap());
    let options = Options::default().seed(9);
    let mut device = Simulation::new(&gpu(), &model, options).unwrap();
    unsaved("unsaved-gpu", &mut |end, autosave, watch| {
        device.until(end).watch(watch).save(autosave).run().unwrap_err()
    });
    check(device.checkpoint().unwrap());
}

#[test]
fn a_place_where_nothing_can_be_saved_is_found_before_the_run() {
    let folder = Folder::new("places");
    let model = phold(10, 4, 0.1);
    let saved = CpuSimulation::new(&model, Options::default().seed(9)).unwrap().checkpoint().unwrap();
    let refused = |path: std::path::PathBuf| {
        let error = Autosave::new(&path, Duration::MAX).check().unwrap_err();
        assert!(matches!(error, CheckpointError::Place { .. }), "{error}");
        let mut simulation = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
        let error =
            simulation.until(until(1e12)).save(Autosave::new(&path, Duration::MAX)).run().unwrap_err();
        assert!(matches!(error, SimulationError::Checkpoint(CheckpointError::Place { .. })), "{error}");
        assert!(matches!(saved.save(&path), Err(CheckpointError::Write { .. })));
    };
    for path in ["none/run", "", "..", "."] {
        refused(folder.0.join(path));
    }
    refused(folder.0.join("a".repeat(256)));
    #[cfg(target_os = "linux")]
    refused("/proc/run".into());
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    // Names of the greatest length, for which temporary files have shorter ones.
    for name in ["a".repeat(255), format!("b{}", "ä".repeat(127))] {
        let path = folder.0.join(&name);
        Autosave::new(&path, Duration::MAX).check().unwrap();
        saved.save(&path).unwrap();
        assert!(Checkpoint::load(&path).unwrap() == saved);
    }
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn the_checkpoint_of_another_run_is_not_overwritten() {
    let folder = Folder::new("taken");
    let file = folder.0.join("run");
    let (model, other, end) = (phold(20, 4, 0.1), phold(20, 4, 0.2), until(40.0));
    let save = |model: &Phold, seed: u64, force: bool| {
        let autosave = Autosave::new(&file, Duration::MAX).force(force);
        CpuSimulation::new(model, Options::default().seed(seed)).unwrap().until(end).save(autosave).run()
    };
    save(&model, 9, false).unwrap();
    save(&model, 9, true).unwrap();
    let saved = fs::read(&file).unwrap();
    let options = Options::default().seed(10);
    let mut device = Simulation::new(&gpu(), &model, options).unwrap();
    let autosave = Autosave::new(&file, Duration::MAX);
    for (error, says) in [
        (save(&model, 10, false).unwrap_err(), "seed 9"),
        (save(&other, 9, false).unwrap_err(), "other parameters"),
        (save(&phold(21, 4, 0.1), 9, false).unwrap_err(), "20 LPs, and this one has 21"),
        (device.until(end).save(autosave).run().unwrap_err(), "seed 9"),
    ] {
        let text = error.to_string();
        assert!(matches!(error, SimulationError::Checkpoint(CheckpointError::Taken { .. })), "{text}");
        assert!(text.contains(says) && text.contains("--force"), "{text}");
        assert_eq!(fs::read(&file).unwrap(), saved, "{says}");
    }
    save(&other, 9, true).unwrap();
    assert!(fs::read(&file).unwrap() != saved);
}

#[test]
fn a_checkpoint_of_the_same_run_that_is_further_on_is_not_overwritten() {
    let folder = Folder::new("ahead");
    let file = folder.0.join("run");
    let (model, gpu) = (phold(20, 4, 0.1), gpu());
    let options = Options::default().seed(9);
    let at = |events: u64| {
        let mut cpu = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
        cpu.run(Until::events(events)).unwrap();
        cpu.checkpoint().unwrap()
    };
    let there = at(200);
    there.save(&file).unwrap();
    let events = there.progress().events;
    let refused = |found: Result<Progress, SimulationError>| {
        let error = found.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, SimulationError::Checkpoint(CheckpointError::Ahead { .. })), "{text}");
        for word in ["run", &format!("after {events} events"), "--resume", "--force"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(Checkpoint::load(&file).unwrap() == there);
    };
    let (autosave, end) = (Autosave::new(&file, Duration::MAX), Until::events(400));
    refused(CpuSimulation::new(&model, Options::default().seed(9)).unwrap().until(end).save(autosave).run());
    refused(Simulation::new(&gpu, &model, options).unwrap().until(end).save(autosave).run());
    // The same if a run continues from an earlier checkpoint.
    let early = at(100);
    assert!(early.progress().events < events);
    refused(CpuSimulation::resume(&model, &early).unwrap().until(end).save(autosave).run());
    refused(Simulation::resume(&gpu, &model, options, &early).unwrap().until(end).save(autosave).run());
    // A run that continues from the file is saved there each time; and `force` overwrites with a
    // new run.
    let mut device = Simulation::resume(&gpu, &model, options, &there).unwrap();
    device.until(end).save(autosave).run().unwrap();
    let later = device.until(Until::events(600)).save(autosave).run().unwrap();
    assert_eq!(Checkpoint::load(&file).unwrap().progress().events, later.events);
    let mut again = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
    let first = again.until(Until::events(50)).save(autosave.force(true)).run().unwrap();
    assert_eq!(Checkpoint::load(&file).unwrap().progress().events, first.events);
}

#[test]
fn what_an_ended_process_left_is_removed_and_what_another_writes_is_not() {
    let folder = Folder::new("left");
    let file = folder.0.join("run");
    let saved =
        CpuSimulation::new(&phold(10, 4, 0.1), Options::default().seed(9)).unwrap().checkpoint().unwrap();
    let others = ["run.1.part", "run.x.1.part", "run.1.2.3.part", "run.1.2.parts", "walk.1.2.part"];
    for name in others.iter().chain(&["run.1.2.part", "run.4194999.0.part", "run.1.3.part"]) {
        fs::write(folder.0.join(name), "left").unwrap();
    }
    let written = File::open(folder.0.join("run.1.3.part")).unwrap();
    written.lock().unwrap();
    saved.save(&file).unwrap();
    let mut kept: Vec<_> = others.iter().copied().chain(["run", "run.1.3.part"]).collect();
    let mut names = folder.names();
    kept.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, kept);
    drop(written);
    saved.save(&file).unwrap();
    assert!(!folder.names().contains(&"run.1.3.part".to_owned()));
}

#[test]
#[cfg(unix)]
fn a_checkpoint_keeps_the_permissions_of_its_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("permissions");
    let file = folder.0.join("run");
    let saved =
        CpuSimulation::new(&phold(10, 4, 0.1), Options::default().seed(9)).unwrap().checkpoint().unwrap();
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    saved.save(&file).unwrap();
    for bits in [0o600, 0o664, 0o640] {
        fs::set_permissions(&file, fs::Permissions::from_mode(bits)).unwrap();
        saved.save(&file).unwrap();
        assert_eq!(mode(), bits, "{bits:o}");
    }
}
