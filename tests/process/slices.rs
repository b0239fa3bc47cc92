//! Runs without the general engine do what runs in it do: events, results and fingerprints.

use std::ops::ControlFlow;
use std::sync::Arc;

use eventhorizon::gpu::Gpu;
use eventhorizon::pdes::{CpuSimulation, FaultKind, Options, SimulationError, Stop, Until};
use eventhorizon::process::program::{Program, Size};
use eventhorizon::process::run::{DeviceProgram, Job, Made, NativeProgram, NativeWorker, Trouble};
use eventhorizon::process::{Large, Medium, ProcessRun, Rows, Sized3, Small};
use eventhorizon::time::Ticks;

use crate::compare::{Case, Trouble as Unequal, model_of, printed};

/// A run in the general engine.
fn by_engine<S: Sized3>(run: &ProcessRun<S>, seed: u64, until: Ticks) -> Result<Made, Trouble> {
    let fails = |error: SimulationError| match error {
        SimulationError::Fault(fault) if fault.kind == FaultKind::MemoryFull => Trouble::Full,
        SimulationError::Fault(fault) => Trouble::Engine(fault),
        other => panic!("{other}"),
    };
    let mut simulation = CpuSimulation::new(run, Options::default().seed(seed)).map_err(fails)?;
    let progress = simulation.run(Until::time(until)).map_err(fails)?;
    let outputs = simulation.outputs(until).unwrap();
    let listed = outputs.rows()[0].rows();
    let program = run.program();
    let place = |row: u32| (row - program.size.state_rows()) as usize;
    let histograms = match program.histograms.is_empty() {
        true => &[],
        false => &simulation.memory()[place(program.histograms.start)..place(program.histograms.end)],
    };
    Ok(Made {
        events: progress.events,
        fingerprint: simulation.fingerprint(),
        is_empty: progress.stop == Some(Stop::Empty),
        rows: [&listed[..program.output_rows.len()], histograms].concat(),
    })
}

/// Compares runs of all seeds of a case on a core. Returns the number of events, or of runs without
/// enough room.
pub fn compare_native(case: &Case) -> Result<u64, Unequal> {
    let printed = printed(case)?;
    let native = Arc::new(NativeProgram::new(&printed).unwrap_or_else(|error| panic!("{error}")));
    match printed.program.size {
        Size::Small => native_sized::<Small>(case, &native, &printed.program),
        Size::Medium => native_sized::<Medium>(case, &native, &printed.program),
        Size::Large => native_sized::<Large>(case, &native, &printed.program),
    }
}

fn native_sized<S: Sized3>(case: &Case, native: &NativeProgram, program: &Program) -> Result<u64, Unequal> {
    let (run, until) = model_of::<S>(case, native.printed())?;
    // All runs use one memory.
    let mut worker = NativeWorker::new(native, run.room());
    let mut events = 0;
    for &seed in &case.seeds {
        let expected = by_engine(&run, seed, until);
        let found = worker.make(run.words(), seed, until, &mut |_| ControlFlow::Continue(())).unwrap();
        if found != expected {
            let what =
                format!("{}, seed {seed}: {found:?} without the engine, {expected:?} in it", program.name);
            return Err(Unequal::Differs(what));
        }
        events += expected.map_or(1, |made| made.events);
    }
    Ok(events)
}

/// Compares runs on a device with those on a core, as two points of a design.
pub fn compare_on_device(gpu: &Gpu, case: &Case) -> Result<u64, Unequal> {
    let printed = printed(case)?;
    let native = NativeProgram::new(&printed).unwrap_or_else(|error| panic!("{error}"));
    let program = &printed.program;
    let warm_up = program.resolution.ticks(case.warm_up).unwrap();
    let until = program.resolution.ticks(case.until).unwrap();
    let params = |warm_up| program.params(&case.point, warm_up, case.room);
    let params = match (params(warm_up), params(Ticks::ZERO)) {
        (Ok(first), Ok(second)) => vec![first, second],
        (Err(error), _) | (_, Err(error)) => return Err(Unequal::Refused(error.to_string())),
    };
    let jobs: Vec<_> = case.seeds.iter().zip([0, 1, 0].into_iter().cycle()).collect();
    let jobs: Vec<_> = jobs.into_iter().map(|(&key, point)| Job { point, key }).collect();
    let mut device = DeviceProgram::new(gpu, &printed, params.len()).unwrap();
    let watch = &mut |_: usize, _: u64| ControlFlow::Continue(());
    let found = pollster::block_on(device.run(&params, &jobs, case.room, until, watch)).unwrap();
    let mut worker = NativeWorker::new(&native, case.room);
    let mut events = 0;
    for (job, found) in jobs.iter().zip(&found) {
        let params = &params[job.point as usize];
        let expected = worker.make(params, job.key, until, &mut |_| ControlFlow::Continue(())).unwrap();
        if *found != expected {
            let what = format!("{}, {job:?}: {found:?} on the device, {expected:?} on a core", program.name);
            return Err(Unequal::Differs(what));
        }
        events += expected.map_or(1, |made| made.events);
    }
    assert_eq!(found.len(), case.seeds.len());
    Ok(events)
}
