//! Studies that are saved, stopped and resumed.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use eventhorizon::Backend;
use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{Autosave, CheckpointError, SimulationError};
use eventhorizon::process::{ProcessError, SavedStudy, Study, StudyResults};
use eventhorizon::statistics::{Budget, Decision, Precision, Selection, Stopping};

use super::{DESIGN, compiled, queue};

/// A file that is removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("eventhorizon-process-{name}-{}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What has to be the same.
fn all_of(results: &StudyResults) -> (u64, u64, usize, Vec<Decision>, String) {
    let table = results.report(0.95).unwrap().to_string();
    (results.fingerprint, results.events, results.replications, results.decisions.clone(), table)
}

fn because(error: &ProcessError) -> &CheckpointError {
    match error {
        ProcessError::Simulation(SimulationError::Checkpoint(error)) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn a_resumed_study_is_the_uninterrupted_one() {
    let (compiled, place) = (compiled(DESIGN), Place::new("resumed"));
    let study = Study::new(60, 60.0, 10.0);
    let whole = compiled.study(&study).run().unwrap();
    let autosave = || Autosave::new(&place.0, Duration::ZERO);
    // Stopped after some replications, which are saved.
    let stop = |runs: usize, _: u64| match runs {
        // The first part has 32 replications of 3 points.
        0..96 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let some = compiled.study(&study).save(autosave()).watch(stop).run().unwrap();
    let saved = SavedStudy::load(&place.0).unwrap();
    assert!((1..60).contains(&some.replications), "{}", some.replications);
    assert_eq!((saved.replications() as usize, saved.events()), (some.replications, some.events));
    assert_eq!(saved.seed(), 1);
    // A start from the beginning would lose it.
    let again = compiled.study(&study).save(autosave()).run().unwrap_err();
    assert!(matches!(because(&again), CheckpointError::Ahead { .. }), "{again}");
    // Either engine resumes it.
    let gpu = Gpu::new().expect("an adapter: set up Vulkan, or install lavapipe");
    let other = Place::new("resumed-gpu");
    let on_gpu = compiled.study(&study).backend(Backend::Gpu(&gpu)).resume(&saved);
    let on_gpu = on_gpu.save(Autosave::new(&other.0, Duration::MAX)).run().unwrap();
    let on_cpu = compiled.study(&study).resume(&saved).save(autosave()).run().unwrap();
    assert_eq!(all_of(&on_gpu), all_of(&whole));
    assert_eq!(all_of(&on_cpu), all_of(&whole));
    let [one, two] = [&place, &other].map(|place| std::fs::read(&place.0).unwrap());
    assert!(one == two, "the files of both engines differ");
    // An ended study can be extended; none of its replications is made again.
    let saved = SavedStudy::from_bytes(one.clone()).unwrap();
    let more = Study::new(70, 60.0, 10.0);
    let extended = compiled.study(&more).resume(&saved).run().unwrap();
    assert_eq!(all_of(&extended), all_of(&compiled.study(&more).run().unwrap()));
    // Damage is found.
    let mut damaged = one;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    assert!(matches!(SavedStudy::from_bytes(damaged), Err(CheckpointError::Checksum)));
}

#[test]
fn a_study_to_a_precision_makes_the_same_decisions() {
    let (compiled, place) = (compiled(&queue(1, 2.0, "")), Place::new("precise"));
    let stopping = |relative: f64| Stopping::new(Precision::relative(relative), Budget::default());
    let study = |relative: f64| Study::new(1, 100.0, 20.0).stopping(stopping(relative));
    let rough = compiled.study(&study(0.3)).save(Autosave::new(&place.0, Duration::MAX)).run().unwrap();
    let saved = SavedStudy::load(&place.0).unwrap();
    assert_eq!(saved.replications() as usize, rough.replications);
    let fine = compiled.study(&study(0.1)).resume(&saved).run().unwrap();
    assert!(fine.replications > rough.replications);
    assert_eq!(all_of(&fine), all_of(&compiled.study(&study(0.1)).run().unwrap()));
}

#[test]
fn another_study_is_refused() {
    let (of_design, place) = (compiled(DESIGN), Place::new("other"));
    let study = Study::new(4, 60.0, 10.0);
    let autosave = || Autosave::new(&place.0, Duration::MAX);
    of_design.study(&study).save(autosave()).run().unwrap();
    let saved = SavedStudy::load(&place.0).unwrap();
    let resumed = |text: &str, study: &Study| {
        let error = compiled(text).study(study).resume(&saved).run().unwrap_err();
        let error = because(&error);
        assert!(matches!(error, CheckpointError::Study { .. }), "{error}");
        error.to_string()
    };
    for (text, study, words) in [
        (DESIGN.to_owned(), study.seed(2), "seed 1, and this one has 2"),
        (DESIGN.to_owned(), Study::new(4, 70.0, 10.0), "the end at 60"),
        (DESIGN.to_owned(), Study::new(4, 60.0, 20.0), "a warm-up to 10"),
        (DESIGN.to_owned(), study.allow_deadlock(true), "no deadlocks"),
        (DESIGN.replace("time = 1.5", "time = 1.25"), study, "other values of parameters"),
        (DESIGN.replace("\"wait\"", "\"waits\""), study, "another model"),
        (queue(1, 2.0, ""), study, "another model"),
    ] {
        let error = resumed(&text, &study);
        assert!(error.contains(words), "{words}: {error}");
    }
    let taken = compiled(&queue(1, 2.0, "")).study(&study).save(autosave()).run().unwrap_err();
    assert!(matches!(because(&taken), CheckpointError::Taken { .. }), "{taken}");
    let best = of_design.study(&study).resume(&saved).select(&Selection::new(0.5, 0.95), "wait");
    assert!(matches!(best, Err(ProcessError::Setting { .. })));
}
