//! Replications by warps and by threads: Figures 5, 6 and 7 of Passerat-Palmbach et al. (section
//! 5): the time of replications on one CPU core, with one subgroup per replication (WLP), and with
//! one invocation per replication (TLP).
//!
//! Each time is the median of five whole runs, readback and statistics included; of one, if that
//! takes more than half a second.

use std::time::Instant;

use eventhorizon::models::{Mm1, Pi, PiParams, Walk, WalkParams};
use eventhorizon::replication::{self, CpuEngine, Design, Engine, Experiment, Mapping, Model};

use super::study::Study;
use crate::shared::Outcome;

fn median(mut run: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut seconds = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        run()?;
        seconds.push(begun.elapsed().as_secs_f64());
        if seconds[0] > 0.5 {
            break;
        }
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[seconds.len() / 2])
}

/// Writes the seconds of three ways to make `sizes` replications.
fn curves<M: Model + Copy + Sync>(
    study: &mut Study<'_>,
    panel: &str,
    model: M,
    params: &M::Params,
    sizes: &[u32],
) -> Outcome<()> {
    let experiment = |replications| Experiment::new(Design::default(), replications, 2011);
    let cpu = CpuEngine::new(model, replication::Options::default())?;
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut last = (1.0, 0.0);
    for &size in sizes {
        if !study.goes_on() {
            return Ok(());
        }
        // One core runs one replication after the other, so times above a second are extrapolated.
        let seconds = match last {
            (of, seconds) if seconds > 1.0 => seconds * f64::from(size) / of,
            _ => one_core.install(|| -> Result<f64, String> {
                median(|| Ok(cpu.run(params, &experiment(size)).map(|_| ())?))
                    .map_err(|error| error.to_string())
            })?,
        };
        last = (f64::from(size), seconds);
        study.point(panel, "CPU, one core", size.into(), seconds)?;
    }
    for (name, mapping) in
        [("GPU, one subgroup each (WLP)", Mapping::Warp), ("GPU, one thread each (TLP)", Mapping::Thread)]
    {
        let mut engine = Engine::new(&study.gpu, model, replication::Options::default().mapping(mapping))?;
        // This run compiles the kernel and tunes the length of slices.
        engine.run(params, &experiment(*sizes.last().unwrap_or(&1)))?;
        for &size in sizes {
            if !study.goes_on() {
                return Ok(());
            }
            let seconds = median(|| Ok(engine.run(params, &experiment(size)).map(|_| ())?))?;
            study.point(panel, name, size.into(), seconds)?;
        }
    }
    Ok(())
}

/// Numbers of replications: 1, then multiples of `step`; with --small every fifth.
fn sizes(study: &Study<'_>, step: u32) -> Vec<u32> {
    (0..=20).step_by(study.size(1, 5)).map(|x| (step * x).max(1)).collect()
}

pub(super) fn figure_5(study: &mut Study<'_>) -> Outcome<()> {
    let software = study.gpu.info().device_type == wgpu::DeviceType::Cpu;
    let points = study.size(if software { 100_000 } else { 10_000_000 }, 20_000);
    let sizes = sizes(study, 10);
    study.note(&format!("{points} draws (the paper: 10,000,000)"));
    curves(study, "", Pi, &PiParams { points }, &sizes)
}

pub(super) fn figure_6(study: &mut Study<'_>) -> Outcome<()> {
    let (model, sizes) = (Mm1::default(), sizes(study, 10));
    let clients = study.size(10_000, 1000);
    study.note(&format!("{clients} clients (the paper: 10,000)"));
    curves(study, "", model, &model.params(0.8, 1.0, clients)?, &sizes)
}

pub(super) fn figure_7(study: &mut Study<'_>) -> Outcome<()> {
    study.note("1,000 steps, 30 chunks");
    for (panel, step) in [("up to 100 replications", 5_u32), ("up to 1,000 replications", 50)] {
        let sizes = sizes(study, step);
        curves(study, panel, Walk, &WalkParams { steps: 1000 }, &sizes)?;
    }
    Ok(())
}
