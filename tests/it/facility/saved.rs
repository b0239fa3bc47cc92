//! Studies that are stopped, saved and resumed have the results of uninterrupted ones, on either
//! engine.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use eventhorizon::Backend;
use eventhorizon::facility::{Facility, FacilityError, Report, SavedStudy, Study, StudyAutosave};
use eventhorizon::pdes::{
    Autosave, Checkpoint, CheckpointError, CpuSimulation, Model, Options, Simulation, SimulationError, Until,
};
use eventhorizon::random::Stream;
use eventhorizon::statistics::{Budget, Precision, Stopping};
use eventhorizon::time::Ticks;

use super::shipped_one;
use crate::common::gpu;
use crate::hostile::sealed;

/// A file for one test.
struct OwnFile(PathBuf);

impl OwnFile {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("eventhorizon-facility-{name}-{}", std::process::id())))
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// All parts of a report that do not depend on how the study ran.
fn made(report: &Report) -> String {
    let mut report = report.clone();
    (report.engine, report.seconds) = ("", 0.0);
    (report.adapter, report.mapping) = (String::new(), String::new());
    format!("{report:?}")
}

/// Makes a part of a study on one backend, and the rest on another.
fn in_two(facility: &Facility, study: &Study, places: [Backend<'_>; 2], file: &OwnFile) -> Report {
    let keep = StudyAutosave::default().to(Autosave::new(&file.0, Duration::ZERO).force(true));
    let first = match places[0] {
        // After the first part.
        Backend::Cpu => facility.study(study).save(keep).watch(|_, _| ControlFlow::Break(())).run().unwrap(),
        // Replications that share a device end together.
        device => {
            let few = study.replications(30).stopping(None);
            facility.study(&few).backend(device).save(keep).run().unwrap()
        }
    };
    let saved = SavedStudy::load(&file.0).unwrap();
    assert_eq!((saved.seed(), saved.replications()), (study.seed, first.replications));
    assert!((1..40).contains(&first.replications));
    facility.study(study).backend(places[1]).save(StudyAutosave::default().from(&saved)).run().unwrap()
}

#[test]
fn a_study_goes_on_where_it_was_stopped() {
    let (gpu, file) = (gpu(), OwnFile::new("study"));
    let facility = shipped_one("clinic").compile().unwrap();
    let device = Backend::Gpu(&gpu);
    let plain = Study::new(150, 100.0, 10.0).details(true);
    // With a check after each part whether the precision is reached: the parts of the two backends
    // differ.
    let precise = plain.stopping(Stopping::new(
        Precision::relative(0.2),
        Budget { replications: Some(400), ..Budget::default() },
    ));
    for study in [plain, precise] {
        let whole = facility.study(&study).run().unwrap();
        assert!(whole.replications > 40, "{whole}");
        for places in [[Backend::Cpu, device], [device, Backend::Cpu]] {
            let found = in_two(&facility, &study, places, &file);
            assert_eq!(made(&found), made(&whole));
        }
    }
    // A study that has ended continues if more is requested, and returns the same results if not.
    let few = plain.replications(40);
    let keep = StudyAutosave::default().to(Autosave::new(&file.0, Duration::MAX).force(true));
    let ended = facility.study(&few).save(keep).run().unwrap();
    let saved = SavedStudy::load(&file.0).unwrap();
    let from = StudyAutosave::default().from(&saved);
    assert_eq!(made(&facility.study(&few).save(from).run().unwrap()), made(&ended));
    let more = facility.study(&plain).save(from).run().unwrap();
    assert_eq!(made(&more), made(&facility.study(&plain).backend(device).run().unwrap()));
    // A file without histograms: the last section, cut after tag and zeros.
    let place = saved.as_bytes().windows(8).rposition(|bytes| bytes == b"hist\0\0\0\0").unwrap();
    let bytes = [&saved.as_bytes()[..place + 8], &[0; 12]].concat();
    let short = SavedStudy::from_bytes(sealed(bytes)).unwrap();
    let from = StudyAutosave::default().from(&short);
    let error = facility.study(&plain).save(from).run().unwrap_err();
    assert!(error.to_string().contains("its histograms are not those of the network"), "{error}");
}

#[test]
fn a_long_run_goes_on_where_it_was_stopped() {
    let (gpu, file) = (gpu(), OwnFile::new("long"));
    let facility = shipped_one("mm1").compile().unwrap();
    let study = Study::new(1, 3000.0, 200.0);
    let whole = facility.long_run(&study, 10).run().unwrap();
    let device = Backend::Gpu(&gpu);
    for places in [[Backend::Cpu, device], [device, Backend::Cpu]] {
        // Saved at every opportunity, and stopped in the middle.
        let keep = StudyAutosave::default().to(Autosave::new(&file.0, Duration::ZERO).force(true));
        let watch = |progress: &eventhorizon::pdes::Progress| match progress.events > whole.events / 2 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let stopped =
            facility.long_run(&study, 10).backend(places[0]).save(keep).watch(watch).run().unwrap_err();
        assert!(matches!(stopped, FacilityError::Simulation(SimulationError::Stopped)), "{stopped}");
        let saved = SavedStudy::load(&file.0).unwrap();
        let keep = StudyAutosave::default().from(&saved).to(Autosave::new(&file.0, Duration::MAX));
        let found = facility.long_run(&study, 10).backend(places[1]).save(keep).run().unwrap();
        assert_eq!(made(&found), made(&whole));
        // A study that has ended returns the saved results.
        let saved = SavedStudy::load(&file.0).unwrap();
        let keep = StudyAutosave::default().from(&saved);
        assert_eq!(made(&facility.long_run(&study, 10).save(keep).run().unwrap()), made(&whole));
    }
}

#[test]
#[cfg(unix)]
fn a_study_that_cannot_be_saved_ends_with_its_results() {
    let folder = std::env::temp_dir().join(format!("eventhorizon-unsaved-{}", std::process::id()));
    let file = folder.join("study");
    let facility = shipped_one("mm1").compile().unwrap();
    let study = Study::new(70, 100.0, 10.0);
    let whole = facility.study(&study).run().unwrap();
    let (looks, warned) = (Cell::new(0), RefCell::new(Vec::new()));
    let failed = |error: &CheckpointError| warned.borrow_mut().push((looks.get(), error.to_string()));
    // The folder is missing at the first call, and exists again at the third or never.
    for back in [3, u32::MAX] {
        std::fs::create_dir_all(&folder).unwrap();
        looks.set(0);
        warned.borrow_mut().clear();
        let autosave = Autosave::new(&file, Duration::ZERO).force(true).on_failure(&failed);
        let report = facility
            .study(&study)
            .save(StudyAutosave::default().to(autosave))
            .watch(|_, _| {
                looks.set(looks.get() + 1);
                match looks.get() {
                    1 => std::fs::remove_dir_all(&folder).unwrap(),
                    look if look == back => std::fs::create_dir(&folder).unwrap(),
                    _ => {}
                }
            })
            .run()
            .unwrap();
        assert!(looks.get() > 3, "{} parts", looks.get());
        let warned = warned.borrow();
        assert!(warned.len() == 1 && warned[0].0 == 1 && warned[0].1.contains("study"), "{warned:?}");
        assert_eq!(report.unsaved.is_some(), back == u32::MAX);
        assert_eq!(made(&Report { unsaved: None, ..report }), made(&whole));
        if back == 3 {
            let saved = SavedStudy::load(&file).unwrap();
            assert_eq!(saved.replications(), 70, "it was saved again");
        }
    }
    // Long runs: at their end, and when they are stopped.
    let long = Study::new(1, 3000.0, 200.0);
    let whole = facility.long_run(&long, 10).run().unwrap();
    for stop in [false, true] {
        std::fs::create_dir_all(&folder).unwrap();
        let keep = StudyAutosave::default().to(Autosave::new(&file, Duration::MAX));
        let ended = facility
            .long_run(&long, 10)
            .save(keep)
            .watch(|_: &_| {
                let _ = std::fs::remove_dir_all(&folder);
                if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .run();
        match ended {
            Ok(report) if !stop => {
                assert!(report.unsaved.as_ref().is_some_and(|error| error.contains("study")), "{report:?}");
                assert_eq!(made(&Report { unsaved: None, ..report }), made(&whole));
            }
            Err(FacilityError::Checkpoint(CheckpointError::Write { .. })) if stop => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_checkpoint_of_another_study_is_not_overwritten() {
    let file = OwnFile::new("taken");
    let facility = shipped_one("mm1").compile().unwrap();
    let study = Study::new(4, 100.0, 10.0);
    let save = |facility: &Facility, study: &Study, batches: Option<usize>, force: bool| {
        let to = Some(Autosave::new(&file.0, Duration::MAX).force(force));
        let keep = StudyAutosave::default().to(to);
        match batches {
            None => facility.study(study).save(keep).run(),
            Some(batches) => facility.long_run(study, batches).save(keep).run(),
        }
    };
    save(&facility, &study, None, false).unwrap();
    save(&facility, &study.replications(5).level(0.9), None, true).unwrap();
    let saved = std::fs::read(&file.0).unwrap();
    let mut runs = CpuSimulation::in_rust(&facility, Options::default().seed(1)).unwrap();
    let jackson = shipped_one("jackson").compile().unwrap();
    let other = study.seed(2);
    for (error, says) in [
        (save(&jackson, &study, None, false).unwrap_err(), "another network"),
        (save(&facility, &other, None, false).unwrap_err(), "seed 1, and this one has 2"),
        (save(&facility, &study.until(101.0), None, false).unwrap_err(), "the end at 100"),
        (save(&facility, &study, Some(8), false).unwrap_err(), "replications"),
        (
            runs.until(Until::events(9))
                .save(Autosave::new(&file.0, Duration::MAX))
                .run()
                .unwrap_err()
                .into(),
            "of a study of a network",
        ),
    ] {
        let text = error.to_string();
        assert!(text.contains(says) && text.contains("--force"), "{text}");
        assert!(
            matches!(
                error,
                FacilityError::Checkpoint(CheckpointError::Taken { .. })
                    | FacilityError::Simulation(SimulationError::Checkpoint(CheckpointError::Taken { .. }))
            ),
            "{text}"
        );
        assert_eq!(std::fs::read(&file.0).unwrap(), saved, "{says}");
    }
    save(&facility, &other, None, true).unwrap();
    assert_eq!(SavedStudy::load(&file.0).unwrap().seed(), 2);
    // A file that cannot be read may belong to another program.
    std::fs::write(&file.0, &saved[..saved.len() - 1]).unwrap();
    let error = save(&facility, &study, None, false).unwrap_err();
    assert!(error.to_string().contains("its end is missing"), "{error}");
    save(&facility, &study, Some(8), true).unwrap();
}

#[test]
fn a_checkpoint_of_the_same_study_that_is_further_on_is_not_overwritten() {
    let file = OwnFile::new("ahead");
    let facility = shipped_one("mm1").compile().unwrap();
    let study = Study::new(4, 100.0, 10.0);
    let save = |batches: Option<usize>, from: Option<&SavedStudy>, replications: u32, force: bool| {
        let study = study.replications(replications);
        let keep =
            StudyAutosave::default().from(from).to(Autosave::new(&file.0, Duration::ZERO).force(force));
        match batches {
            None => facility.study(&study).save(keep).run(),
            Some(batches) => facility.long_run(&study, batches).save(keep).run(),
        }
    };
    let refused = |found: Result<Report, FacilityError>, words: &[&str]| {
        let (error, before) = (found.unwrap_err(), std::fs::read(&file.0).unwrap());
        let text = error.to_string();
        assert!(matches!(error, FacilityError::Checkpoint(CheckpointError::Ahead { .. })), "{text}");
        for word in words.iter().chain(&["--resume", "--force"]) {
            assert!(text.contains(word), "{text}");
        }
        before
    };
    save(None, None, 1, false).unwrap();
    let one = SavedStudy::load(&file.0).unwrap();
    assert_eq!(refused(save(None, None, 9, false), &["after 1 replication,"]), one.as_bytes());
    save(None, Some(&one), 4, false).unwrap();
    let four = SavedStudy::load(&file.0).unwrap();
    assert_eq!(four.replications(), 4);
    // More replications, and a study that continues from an earlier file.
    for from in [None, Some(&one)] {
        assert_eq!(refused(save(None, from, 9, false), &["after 4 replications"]), four.as_bytes());
    }
    save(None, Some(&four), 4, false).unwrap();
    save(None, None, 2, true).unwrap();
    assert_eq!(SavedStudy::load(&file.0).unwrap().replications(), 2);
    // One long run.
    save(Some(8), None, 1, true).unwrap();
    let long = SavedStudy::load(&file.0).unwrap();
    let says = format!("after {} events", long.events());
    assert_eq!(refused(save(Some(8), None, 1, false), &[&says]), long.as_bytes());
    save(Some(8), Some(&long), 1, false).unwrap();
}

#[test]
fn what_is_no_saved_study_of_this_is_refused() {
    let file = OwnFile::new("refused");
    let facility = shipped_one("mm1").compile().unwrap();
    let study = Study::new(4, 100.0, 10.0);
    let keep = StudyAutosave::default().to(Autosave::new(&file.0, Duration::MAX));
    facility.study(&study).save(keep).run().unwrap();
    let saved = SavedStudy::load(&file.0).unwrap();
    assert_eq!(std::fs::read(&file.0).unwrap(), saved.as_bytes());
    let refused = |facility: &Facility, study: &Study, saved: &SavedStudy, says: &str| {
        let keep = StudyAutosave::default().from(saved);
        let error = facility.study(study).save(keep).run().unwrap_err();
        assert!(matches!(error, FacilityError::Checkpoint(_)), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    refused(&shipped_one("jackson").compile().unwrap(), &study, &saved, "another network");
    refused(&facility, &study.seed(2), &saved, "seed 1, and this one has 2");
    refused(&facility, &study.until(101.0), &saved, "the end at 100, and this one has 101");
    refused(&facility, &study.warm_up(11.0), &saved, "a warm-up to 10, and this one has 11");
    refused(&facility, &study.details(true), &saved, "no quantiles, and this one has quantiles");
    let keep = StudyAutosave::default().from(&saved);
    let error = facility.long_run(&study, 8).save(keep).run().unwrap_err();
    assert!(error.to_string().contains("batches"), "{error}");
    // The checkpoint of a run is refused as a study, and the reverse.
    let mut simulation = CpuSimulation::in_rust(&facility, Options::default().seed(1)).unwrap();
    simulation.run(Until::events(100)).unwrap();
    let run = simulation.checkpoint().unwrap().as_bytes().to_vec();
    let kinds = [
        SavedStudy::from_bytes(run).unwrap_err(),
        Checkpoint::from_bytes(saved.as_bytes().to_vec()).unwrap_err(),
    ];
    for error in kinds {
        assert!(matches!(error, CheckpointError::Kind { .. }), "{error}");
    }
    // Each byte counts. With a corrected checksum, inconsistent contents are found, or the study is
    // another one.
    for place in 0..saved.as_bytes().len() {
        let mut bytes = saved.as_bytes().to_vec();
        bytes[place] ^= 1 << (place % 8);
        SavedStudy::from_bytes(bytes.clone()).unwrap_err();
        if let Ok(other) = SavedStudy::from_bytes(sealed(bytes)) {
            let keep = StudyAutosave::default().from(&other);
            // A byte of the observations or counts has changed; no further replication is
            // requested.
            let _ = facility.study(&study).save(keep).run();
        }
    }
    for length in [0, 7, 23, 24, 31, 32, 100, saved.as_bytes().len() - 1] {
        SavedStudy::from_bytes(saved.as_bytes()[..length].to_vec()).unwrap_err();
    }
}

/// Files of earlier versions, and of future ones.
#[test]
fn files_of_other_versions_are_refused() {
    let fixture =
        |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let refused = |error: CheckpointError, words: &[&str]| {
        let text = error.to_string();
        assert!(matches!(error, CheckpointError::Version { .. }), "{text}");
        let words = words.iter().chain(&["with the library that wrote it, or start again"]);
        words.for_each(|word| assert!(text.contains(word), "{text}"));
    };
    let run = Checkpoint::load(fixture("run.v1.checkpoint")).unwrap_err();
    let study = SavedStudy::load(fixture("study.v1.checkpoint")).unwrap_err();
    for error in [run, study] {
        refused(error, &["version 1 of the file format", "version 2"]);
    }
    let file = OwnFile::new("versions");
    let facility = shipped_one("mm1").compile().unwrap();
    let keep = StudyAutosave::default().to(Autosave::new(&file.0, Duration::MAX));
    facility.study(&Study::new(4, 100.0, 10.0)).save(keep).run().unwrap();
    let study = std::fs::read(&file.0).unwrap();
    let run = CpuSimulation::in_rust(&facility, Options::default().seed(1))
        .unwrap()
        .checkpoint()
        .unwrap()
        .as_bytes()
        .to_vec();
    for (place, of) in [(8, "the file format"), (24, "a study of a network"), (28, "the random streams")] {
        for change in [-1, 1] {
            let other = |mut bytes: Vec<u8>, of: &str| {
                bytes[place] = bytes[place].wrapping_add_signed(change);
                let says = format!("version {} of {of},", bytes[place]);
                (sealed(bytes), says)
            };
            let (bytes, says) = other(study.clone(), of);
            refused(SavedStudy::from_bytes(bytes).unwrap_err(), &[&says]);
            let (bytes, says) = other(run.clone(), if place == 24 { "a run" } else { of });
            refused(Checkpoint::from_bytes(bytes).unwrap_err(), &[&says]);
        }
    }
}

/// Sums carry from word to word, in both engines alike: the host and the device add to rows of sums
/// that are full or nearly full in a file.
#[test]
fn sums_and_counts_are_carried_from_word_to_word() {
    let mut over = [0; 4];
    for name in ["clinic", "call_centre", "processor", "emergency", "workshop"] {
        let network = shipped_one(name);
        let facility = network.compile().unwrap();
        let facility = if name == "emergency" { facility.with_details() } else { facility };
        let until = facility.resolution().ticks(network.until.unwrap() / 100.0).unwrap();
        let half = Ticks::new(until.get() / 2);
        let mut cpu = CpuSimulation::in_rust(&facility, Options::default().seed(7)).unwrap();
        cpu.run(Until::time(half)).unwrap();
        let mut file = cpu.checkpoint().unwrap().as_bytes().to_vec();
        // After tag, zeros and length.
        let place = file.windows(8).position(|bytes| bytes == b"memo\0\0\0\0").unwrap() + 16;
        let rows = facility.memory_rows() as usize;
        let mut stream = Stream::new(1, 2, 3);
        for lp in 0..facility.lps() as usize {
            // Sums are in `shaders/facility/network.wgsl` SERVERS and TRAVELLERS, the rows of
            // blocks except the first, and the others.
            let classes = network.classes.len();
            let sums = (1..3).chain((8..8 * (1 + classes)).filter(|row| row % 8 > 0));
            for row in sums.chain(8 * (1 + classes)..13 * classes + 8) {
                for word in file[place + 16 * (lp * rows + row)..][..16].chunks_exact_mut(4) {
                    // Most words are full, so that carries propagate.
                    let filled = if stream.below(4) == 0 { stream.draw() } else { u32::MAX };
                    word.copy_from_slice(&filled.to_le_bytes());
                }
            }
        }
        let saved = Checkpoint::from_bytes(sealed(file)).unwrap();
        let mut cpu = CpuSimulation::resume_in_rust(&facility, &saved).unwrap();
        let mut gpu = Simulation::resume(&gpu(), &facility, Options::default(), &saved).unwrap();
        let before = cpu.memory().to_vec();
        cpu.run(Until::time(until)).unwrap();
        gpu.run(Until::time(until)).unwrap();
        assert!(gpu.memory().unwrap() == cpu.memory(), "{name}");
        assert!(gpu.outputs(until).unwrap() == cpu.outputs(until).unwrap(), "{name}: outputs");
        for (before, after) in before.iter().zip(cpu.memory()) {
            (0..4).for_each(|word| over[word] += u32::from(after[word] < before[word]));
        }
    }
    // The test is effective: many words overflowed, in each of the four places.
    assert!(over.iter().all(|&words| words > 20), "{over:?}");
}
