//! Runs that are saved and resumed, by either engine and with any options, with the bits of an
//! uninterrupted run.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use super::common::counted::Counted;
use super::common::models::Ring;
use super::common::references::Reference;
use super::common::{few, gpu, is_long, own_gpu};
use super::hostile::sealed;
use super::own_events::{Busy, Wide};
use super::{phold, until};
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::models::{FifoTorus, Phold};
use eventhorizon::pdes::{
    Autosave, Capacity, Checkpoint, CheckpointError, CpuModel, CpuSimulation, FaultKind, Options, Replica,
    Simulation, SimulationError, Stop, Sync, Until,
};
use eventhorizon::queue::QueueDesign;
use eventhorizon::time::{Resolution, Ticks};
use proptest::prelude::*;
use proptest::sample::Index;

const TINY: Capacity = Capacity { queue: 1, mailbox: 1 };

fn by(queue: QueueDesign) -> Options {
    Options::default().seed(9).queue(queue).sync(Sync::Yawns)
}

/// Runs a model to several ends on the CPU without interruption, and on the GPU, where it is saved
/// at each end and resumed with other options, every other time through the sequential engine.
fn through<M>(gpu: &Gpu, model: &M, ways: &[Options], ends: impl Fn(u64) -> Until)
where
    M: CpuModel<State: PartialEq>,
{
    let mut cpu = CpuSimulation::in_rust(model, Options::default().seed(9)).unwrap();
    let mut saved = cpu.checkpoint().unwrap();
    assert_eq!(saved.until(), Until::EMPTY);
    for (step, options) in (1..).zip(ways) {
        // The seed is the checkpoint's.
        let mut simulation = match step {
            1 => Simulation::new(gpu, model, *options).unwrap(),
            _ => Simulation::resume(gpu, model, options.seed(77), &saved).unwrap(),
        };
        assert!(simulation.checkpoint().unwrap() == saved, "{options:?}: at the start of step {step}");
        let (end, exact) = (ends(step), options.sync == Sync::Yawns);
        let (found, expected) = (simulation.run(end).unwrap(), cpu.run(end).unwrap());
        assert_eq!((found.events, found.now, found.stop), (expected.events, expected.now, expected.stop));
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint(), "{options:?}, step {step}");
        let (mine, its) = (cpu.checkpoint().unwrap(), simulation.checkpoint().unwrap());
        assert_eq!((its.until(), its.progress().events), (end, expected.events));
        if exact {
            assert_eq!(found, expected, "{options:?}, step {step}");
            assert!(its.as_bytes() == mine.as_bytes(), "{options:?}, step {step}: {its:?}, {mine:?}");
        }
        // Another synchronisation counts windows differently.
        saved = if exact { its } else { mine };
        if step % 2 == 0 {
            let mut other = CpuSimulation::resume_in_rust(model, &saved).unwrap();
            assert_eq!(other.fingerprint(), cpu.fingerprint());
            assert!(other.checkpoint().unwrap() == saved);
            let (next, expected) =
                (ends(step + 1), CpuSimulation::resume_in_rust(model, &saved).unwrap().run(ends(step + 1)));
            assert_eq!(other.run(next).unwrap(), expected.unwrap());
            // The CPU has reached the end before the GPU starts.
            cpu.run(next).unwrap();
            assert_eq!(other.fingerprint(), cpu.fingerprint());
            saved = other.checkpoint().unwrap();
        }
    }
}

#[test]
fn any_engine_and_queue_design_goes_on_where_any_other_was_saved() {
    let gpu = gpu();
    let calendar = QueueDesign::Calendar;
    let ways: Vec<_> =
        QueueDesign::PRODUCTION.into_iter().flat_map(|queue| [by(queue), by(calendar)]).collect();
    // LP memory, and more events in a window than an LP executes; then events of 32 bytes, data.
    through(&gpu, &Busy::new(70), &ways[..if is_long() { 6 } else { 2 }], |step| Until::events(90 * step));
    if is_long() {
        through(&gpu, &Reference(phold(2, 300, 0.1)), &ways[..], |step| Until::events(700 * step));
    }
    through(&gpu, &Reference(phold(130, 9, 0.1)), few(4, &ways), |step| until(6.1 * step as f64));
    if is_long() {
        through(&gpu, &Wide::new(33), &ways, |step| Until::time(Ticks::new(9 * step)));
        through(&gpu, &Ring::new(40, 1000), &ways[..4], |step| Until::events(333 * step));
    }
    through(&gpu, &Counted::new(50), &ways[..2], |step| Until::time(Ticks::new(77 * step)));
}

#[test]
fn a_run_goes_on_with_other_windows_without_a_lookahead_and_with_too_little_room() {
    let gpu = gpu();
    let heap = by(QueueDesign::Heap);
    let at_once = Busy { lookahead: Ticks::ZERO, ..Busy::new(70) };
    let torus = FifoTorus::new(5, 6, 30, 1.0, Resolution::default()).unwrap();
    for sync in Sync::ALL.into_iter().filter(|sync| sync.is_wide() == Some(true)) {
        let wide = heap.sync(sync);
        if sync.needs_senders() {
            let ways = [wide, heap, wide, heap.sync(Sync::Horizon)];
            through(&gpu, &Reference(torus), &ways, |step| until(3.0 * step as f64));
        } else {
            let ways = [heap, wide, heap, wide];
            through(&gpu, &at_once, &ways, |step| Until::events(150 * step));
            if is_long() {
                through(&gpu, &Reference(phold(200, 5, 0.01)), &ways, |step| until(31.0 * step as f64));
            }
        }
    }
    let groups = heap.group_size(8).tiles(3);
    through(
        &gpu,
        &Reference(phold(100, 9, 0.1).with_capacity(TINY)),
        &[heap, groups, by(QueueDesign::Calendar)],
        |step| until(9.0 * step as f64),
    );
    // Several bindings; a row is in one of them.
    let small = gpu.binding_at_most(1 << 13);
    through(&small, &Reference(phold(64, 9, 0.1)), &[groups, groups], |step| until(9.0 * step as f64));
    // If capacities are fixed, a lack of memory is a fault.
    let model = phold(100, 9, 0.1);
    let saved = CpuSimulation::new(&model, Options::default().seed(9)).unwrap().checkpoint().unwrap();
    let tiny = model.with_capacity(TINY);
    match Simulation::resume(&gpu, &tiny, heap.fixed(true), &saved) {
        Err(SimulationError::Fault(fault)) => {
            assert!(fault.kind == FaultKind::QueueFull && fault.needed >= 9, "{fault}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_that_is_stopped_between_two_ends_goes_on_to_the_same_windows() {
    let (gpu, model, end) = (gpu(), phold(300, 4, 0.1), until(900.0));
    let mut whole = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
    let expected = whole.run(end).unwrap();
    let mut simulation = Simulation::new(&gpu, &model, by(QueueDesign::Heap)).unwrap();
    let stopped = simulation.until(end).watch(|_| ControlFlow::Break(())).run().unwrap();
    assert_eq!(stopped.stop, Some(Stop::Watcher));
    let saved = simulation.checkpoint().unwrap();
    assert_eq!(
        (saved.until(), saved.progress()),
        (end, eventhorizon::pdes::Progress { stop: None, ..stopped })
    );
    for queue in [QueueDesign::Heap, QueueDesign::Calendar] {
        let mut simulation = Simulation::resume(&gpu, &model, by(queue), &saved).unwrap();
        assert_eq!(simulation.run(saved.until()).unwrap(), expected);
        assert_eq!(simulation.fingerprint().unwrap(), whole.fingerprint());
    }
    assert_eq!(CpuSimulation::resume(&model, &saved).unwrap().run(saved.until()).unwrap(), expected);
    // Windows in an application's encoder stop in the middle: sent events are still in mailboxes.
    for queue in [QueueDesign::Heap, QueueDesign::Calendar] {
        let mut simulation = Simulation::new(&gpu, &model, by(queue)).unwrap();
        simulation.set_until(end).unwrap();
        let mut encoder = gpu.encoder("an application's windows");
        simulation.record(&mut encoder, 6);
        gpu.submit(encoder).unwrap();
        let saved = simulation.checkpoint().unwrap();
        assert_eq!(saved.progress().windows, 6);
        assert_eq!(CpuSimulation::resume(&model, &saved).unwrap().run(end).unwrap(), expected);
        assert_eq!(simulation.run(end).unwrap(), expected);
    }
}

#[test]
fn results_are_those_of_the_whole_run() {
    let (model, end) = (Counted::new(60), Until::time(Ticks::new(900)));
    let mut whole = CpuSimulation::in_rust(&model, Options::default().seed(9)).unwrap();
    whole.run(Until::time(Ticks::new(400))).unwrap();
    let saved = whole.checkpoint().unwrap();
    whole.run(end).unwrap();
    let mut simulation = Simulation::resume(&gpu(), &model, Options::default(), &saved).unwrap();
    // The run has reached 400, on either engine.
    let early = simulation.outputs(Ticks::new(399));
    assert!(matches!(early, Err(SimulationError::ResultTime { .. })));
    simulation.run(end).unwrap();
    let (found, expected) = (simulation.outputs(end.time).unwrap(), whole.outputs(end.time).unwrap());
    assert!(found.rows() == expected.rows());
}

/// A folder for one test.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("eventhorizon-pdes-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn runs_save_themselves_and_leave_one_whole_file() {
    let folder = Folder::new("saving");
    let file = folder.0.join("run.checkpoint");
    let (model, end) = (phold(100, 4, 0.1), until(600.0));
    let mut whole = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
    let expected = whole.run(end).unwrap();
    let mut simulation = Simulation::new(&gpu(), &model, by(QueueDesign::Heap)).unwrap();
    let mut seen = 0;
    // Whenever the watcher is called, the file is complete; it is written after each call.
    let watch = |_: &_| {
        if seen > 0 {
            assert!(Checkpoint::load(&file).unwrap().progress().events > 0);
        }
        seen += 1;
        if seen < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let stopped =
        simulation.until(end).watch(watch).save(Autosave::new(&file, Duration::ZERO)).run().unwrap();
    assert_eq!(stopped.stop, Some(Stop::Watcher));
    let saved = Checkpoint::load(&file).unwrap();
    assert_eq!((saved.progress().events, saved.until()), (stopped.events, end));
    let mut cpu = CpuSimulation::resume(&model, &saved).unwrap();
    assert_eq!(cpu.until(end).save(Autosave::new(&file, Duration::MAX)).run().unwrap(), expected);
    assert_eq!(cpu.fingerprint(), whole.fingerprint());
    assert!(Checkpoint::load(&file).unwrap() == whole.checkpoint().unwrap());
    assert_eq!(folder.names(), ["run.checkpoint"]);
    // The folder does not exist; existing files remain.
    let refused = whole.checkpoint().unwrap().save(folder.0.join("none").join("file")).unwrap_err();
    assert!(matches!(refused, CheckpointError::Write { .. }), "{refused}");
    std::fs::create_dir(folder.0.join("taken")).unwrap();
    assert!(whole.checkpoint().unwrap().save(folder.0.join("taken")).is_err());
    assert!(whole.checkpoint().unwrap().save("/").is_err());
    let read = Checkpoint::load(folder.0.join("none")).unwrap_err();
    assert!(matches!(read, CheckpointError::Read { .. }), "{read}");
    // A file that is not a checkpoint remains, and is detected before a run that could not be
    // saved.
    let mine = folder.0.join("mine.toml");
    std::fs::write(&mine, "dear to me").unwrap();
    let mut again = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
    let refused = again.until(end).save(Autosave::new(&mine, Duration::MAX)).run().unwrap_err();
    assert!(
        matches!(refused, SimulationError::Checkpoint(CheckpointError::Place { .. })),
        "it was found before the run"
    );
    let refused = refused.to_string();
    assert!(refused.contains("mine.toml") && refused.contains("choose another name"), "{refused}");
    assert_eq!(again.run(Until::events(0)).unwrap().events, 0);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "dear to me");
    std::fs::remove_file(&mine).unwrap();
    #[cfg(unix)]
    {
        // Through links, also to missing files; devices remain devices.
        let link = folder.0.join("link");
        std::os::unix::fs::symlink("linked", &link).unwrap();
        whole.checkpoint().unwrap().save(&link).unwrap();
        whole.checkpoint().unwrap().save(&link).unwrap();
        assert!(link.is_symlink() && Checkpoint::load(folder.0.join("linked")).is_ok());
        for file in ["link", "linked"] {
            std::fs::remove_file(folder.0.join(file)).unwrap();
        }
        let socket = folder.0.join("socket");
        let listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(whole.checkpoint().unwrap().save(&socket).is_err() && socket.exists());
        drop(listens);
        std::fs::remove_file(&socket).unwrap();
    }
    assert_eq!(folder.names().len(), 2, "no unfinished file is left: {:?}", folder.names());
}

#[test]
fn a_run_goes_on_on_a_new_device_after_its_own_is_lost() {
    let folder = Folder::new("lost");
    let file = folder.0.join("run.checkpoint");
    let (model, end) = (phold(100, 4, 0.1), until(600.0));
    let mut whole = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
    let expected = whole.run(end).unwrap();
    let device = own_gpu();
    let mut simulation = Simulation::new(&device, &model, by(QueueDesign::Heap)).unwrap();
    let mut asked = 0;
    let watch = |_: &_| {
        asked += 1;
        if asked == 3 {
            device.device().destroy();
        }
    };
    let lost =
        simulation.until(end).watch(watch).save(Autosave::new(&file, Duration::ZERO)).run().unwrap_err();
    assert!(matches!(lost, SimulationError::Gpu(GpuError::Lost { .. })), "{lost}");
    assert!(matches!(simulation.checkpoint(), Err(SimulationError::Gpu(GpuError::Lost { .. }))));
    let saved = Checkpoint::load(&file).unwrap();
    assert!(saved.progress().events > 0 && saved.progress().events < expected.events);
    let mut simulation = Simulation::resume(&own_gpu(), &model, by(QueueDesign::Heap), &saved).unwrap();
    assert_eq!(simulation.run(saved.until()).unwrap(), expected);
    assert_eq!(simulation.fingerprint().unwrap(), whole.fingerprint());
}

#[test]
fn a_fork_has_other_streams_or_another_model_from_a_warm_state_on() {
    let (gpu, model, end) = (gpu(), phold(90, 4, 0.1), until(300.0));
    let mut warm = CpuSimulation::new(&model, Options::default().seed(9)).unwrap();
    warm.run(until(100.0)).unwrap();
    let saved = warm.checkpoint().unwrap();
    warm.run(end).unwrap();
    // A fork without changes is the run itself.
    assert!(saved.fork(&model, 9, Replica::default()).unwrap() == saved);
    let replica = Replica { point: 1, number: 5 };
    let other = phold(90, 4, 0.3);
    let longer = Phold::new(90, 4, 0.1, 20.0, Resolution::default()).unwrap();
    let mut found = vec![warm.fingerprint()];
    for (model, seed, replica) in [
        (&model, 10, Replica::default()),
        (&model, 9, replica),
        (&other, 9, Replica::default()),
        (&longer, 9, replica),
    ] {
        let fork = saved.fork(model, seed, replica).unwrap();
        assert_eq!((fork.seed(), fork.replica(), fork.progress()), (seed, replica, saved.progress()));
        assert_eq!(fork.pending::<[u32; 2]>().unwrap(), saved.pending().unwrap());
        let mut cpu = CpuSimulation::resume(model, &fork).unwrap();
        let mut simulation = Simulation::resume(&gpu, model, by(QueueDesign::Heap), &fork).unwrap();
        assert_eq!(simulation.run(end).unwrap(), cpu.run(end).unwrap());
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
        assert!(!found.contains(&cpu.fingerprint()));
        found.push(cpu.fingerprint());
    }
}

#[test]
fn a_fork_is_refused_where_lps_went_ahead_on_what_others_were_going_to_send() {
    let (gpu, model, end) = (gpu(), phold(90, 4, 0.1), until(3000.0));
    let shorter = Phold::new(90, 4, 0.1, 5.0, Resolution::default()).unwrap();
    let fork = |saved: &Checkpoint, model: &Phold| saved.fork(model, 10, Replica::default());
    let apart = |fork: Result<Checkpoint, CheckpointError>| matches!(fork, Err(CheckpointError::Skew));
    for sync in [Sync::Yawns, Sync::Horizon] {
        let mut simulation = Simulation::new(&gpu, &model, by(QueueDesign::Heap).sync(sync)).unwrap();
        assert!(!apart(fork(&simulation.checkpoint().unwrap(), &shorter)));
        simulation.until(end).watch(|_| ControlFlow::Break(())).run().unwrap();
        let saved = simulation.checkpoint().unwrap();
        assert_eq!(apart(fork(&saved, &model)), sync == Sync::Horizon);
        assert!(apart(fork(&saved, &shorter)));
        // The run itself continues on either engine, and its LPs are at one time at its end, unless
        // the run was beyond that end.
        let mut cpu = CpuSimulation::resume(&model, &saved).unwrap();
        cpu.run(until(0.0)).unwrap();
        assert!(apart(fork(&cpu.checkpoint().unwrap(), &shorter)));
        cpu.run(end).unwrap();
        simulation.run(end).unwrap();
        assert_eq!(simulation.fingerprint().unwrap(), cpu.fingerprint());
        for saved in [cpu.checkpoint().unwrap(), simulation.checkpoint().unwrap()] {
            assert!(!apart(fork(&saved, &shorter)));
        }
        // An application's windows end anywhere.
        let mut encoder = gpu.encoder("an application's");
        simulation.set_until(Until::EMPTY).unwrap();
        simulation.record(&mut encoder, 2);
        gpu.submit(encoder).unwrap();
        assert!(apart(fork(&simulation.checkpoint().unwrap(), &shorter)));
    }
}

#[test]
fn a_foreign_checkpoint_is_refused_with_what_differs() {
    let saved =
        CpuSimulation::new(&phold(90, 4, 0.1), Options::default().seed(9)).unwrap().checkpoint().unwrap();
    let counted = Counted::new(90);
    let ring = Ring::new(90, 3);
    let of_ring = CpuSimulation::in_rust(&ring, Options::default().seed(9)).unwrap().checkpoint().unwrap();
    let of_counted =
        CpuSimulation::in_rust(&counted, Options::default().seed(9)).unwrap().checkpoint().unwrap();
    let mut turned = Ring::new(90, 3);
    turned.next.rotate_left(5);
    let commented = counted.with("fn handle", "// as before\nfn handle");
    let slower = Phold::new(90, 4, 0.1, 11.0, Resolution::default()).unwrap();
    let refused = [
        (
            CpuSimulation::resume_in_rust(&counted, &saved).err(),
            "of the model `phold`, and this is `counted`",
        ),
        (CpuSimulation::resume(&phold(91, 4, 0.1), &saved).err(), "with 90 LPs, and this one has 91"),
        (CpuSimulation::resume(&phold(90, 4, 0.2), &saved).err(), "other parameters"),
        (CpuSimulation::resume(&slower, &saved).err(), "ticks of lookahead"),
        (CpuSimulation::resume_in_rust(&turned, &of_ring).err(), "other data"),
        (CpuSimulation::resume_in_rust(&commented, &of_counted).err(), "another WGSL text"),
        (Simulation::resume(&gpu(), &ring, Options::default(), &saved).err(), "of the model `phold`"),
    ];
    for (error, words) in refused {
        let error = error.expect("foreign").to_string();
        assert!(error.contains(words) && error.contains("Checkpoint::fork"), "{error}");
    }
    let wide = Wide::new(90);
    let layout = saved.fork(&wide, 9, Replica::default()).unwrap_err().to_string();
    assert!(layout.contains("bytes of `State`") || layout.contains("payload"), "{layout}");
    assert!(saved.pending::<[u32; 6]>().is_err());
    // Converted line ends are no change of a model.
    let text = counted.source.text().replace('\n', "\r\n");
    let source = eventhorizon::gpu::Source::new("counted.wgsl", text);
    assert!(CpuSimulation::resume_in_rust(&Counted { source, ..counted.clone() }, &of_counted).is_ok());
}

/// A checkpoint with all kinds of contents, and its model.
fn sample() -> (Busy, Vec<u8>) {
    let model = Busy::new(20);
    let mut simulation = CpuSimulation::in_rust(&model, Options::default().seed(3)).unwrap();
    simulation.run(Until::events(60)).unwrap();
    (model, simulation.checkpoint().unwrap().as_bytes().to_vec())
}

#[test]
fn what_is_said_of_files_that_are_none() {
    let (model, bytes) = sample();
    let reported = |bytes: Vec<u8>| Checkpoint::from_bytes(bytes).expect_err("it is damaged").to_string();
    assert!(reported(Vec::new()).contains("not a checkpoint"));
    assert!(reported(b"[network]\nname = 'clinic'".to_vec()).contains("not a checkpoint"));
    assert!(
        reported(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").into_bytes())
            .contains("as if it were text")
    );
    assert!(reported(bytes[..10].to_vec()).contains("end is missing"));
    assert!(reported(bytes[..bytes.len() - 1].to_vec()).contains("end is missing"));
    assert!(reported([&bytes[..], &[0]].concat()).contains("appended"));
    let mut later = bytes.clone();
    later[8] = 9;
    assert_eq!(
        reported(later),
        "the checkpoint has version 9 of the file format, and this library has version 2: \
         continue with the library that wrote it, or start again"
    );
    let mut flipped = bytes.clone();
    flipped[900] ^= 4;
    assert!(reported(flipped.clone()).contains("checksum"));
    // Numbers for 2^62 LPs with the right checksum: no memory of that size is allocated.
    for (place, what) in [
        (48, "number of LPs or its payload"),
        (56, "rows"),
        (72, "out of range"),
        (144, "out of range"),
        (40, "longer than the file"),
    ] {
        let mut bombed = bytes.clone();
        bombed[place..place + 8].copy_from_slice(&(1_u64 << 62).to_le_bytes());
        let reported = reported(sealed(bombed));
        assert!(reported.contains(what), "{place}: {reported}");
    }
    // A file states its length, and no more is read; of other files only the first bytes are read.
    let folder = Folder::new("endless");
    let mut claims = bytes[..32].to_vec();
    claims[16..24].copy_from_slice(&(1_u64 << 60).to_le_bytes());
    std::fs::write(folder.0.join("claims"), &claims).unwrap();
    let claimed = Checkpoint::load(folder.0.join("claims")).unwrap_err();
    assert!(matches!(claimed, CheckpointError::Length { .. }), "{claimed}");
    if cfg!(unix) {
        let endless = Checkpoint::load("/dev/zero").unwrap_err();
        assert!(matches!(endless, CheckpointError::NoCheckpoint), "{endless}");
    }
    assert!(CpuSimulation::resume_in_rust(&model, &Checkpoint::from_bytes(bytes).unwrap()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    /// A thousand damaged files give a thousand errors. Those with a corrected checksum may be
    /// valid runs; resuming them neither panics nor takes more memory than the file.
    #[test]
    fn a_damaged_file_is_an_error(
        way in 0..5, places in [any::<Index>(), any::<Index>(), any::<Index>()], byte in any::<u8>(), number in any::<u64>(),
    ) {
        let (model, bytes) = sample();
        let mut damaged = bytes.clone();
        let [a, b, c] = places.map(|place| place.index(bytes.len()));
        match way {
            0 => damaged[a] = byte,
            1 => damaged.truncate(a),
            2 => { damaged.splice(a..a, bytes[b.min(c)..b.max(c)].iter().copied()); }
            3 => { damaged.drain(b.min(c)..b.max(c)); }
            _ => {
                let place = (a & !7).min(bytes.len() & !7) - if a >= bytes.len() & !7 { 8 } else { 0 };
                damaged[place..place + 8].copy_from_slice(&(number >> (byte % 64)).to_le_bytes());
            }
        }
        let same = damaged == bytes;
        let found = Checkpoint::from_bytes(damaged.clone());
        prop_assert_eq!(found.is_ok(), same);
        if let Ok(checkpoint) = Checkpoint::from_bytes(sealed(damaged)) {
            let _ = CpuSimulation::resume_in_rust(&model, &checkpoint);
            prop_assert!(checkpoint.model().len() < bytes.len());
        }
    }
}
