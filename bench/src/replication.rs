//! Checks every model in every mapping against its reference implementation on the default adapter,
//! then times the mappings.
//!
//! Each row starts with half a second that is not timed, because idle devices are slow at first.

use std::io::{Write as _, stdout};
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use eventhorizon::gpu::Gpu;
use eventhorizon::models::{Mm1, Mm1Params, Mmck, Pi, PiParams, Walk, WalkParams, Workshop, WorkshopParams};
use eventhorizon::replication::{
    CpuEngine, Design, Engine, Experiment, Mapping, Model, Options, ReferenceModel, ReplicationError,
};

use crate::references::Reference;
use crate::shared::Outcome;

/// Measure the speed of replications in each mapping, after comparing every model with its
/// reference implementation
///
/// Takes about a minute on a large device. Times are those of the device: many runs in one
/// submission, wall-clock time from submission to completion, the median of five, divided by the
/// number of runs.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  cargo run --release -p eventhorizon-bench -- replication")]
pub(crate) struct Args {}

/// The longest time of one run. Larger sizes are skipped if the smaller ones predict a longer time.
fn most(gpu: &Gpu) -> f64 {
    match gpu.info().device_type {
        wgpu::DeviceType::Cpu => 0.05,
        _ => 1.5,
    }
}

/// The time that a device works before it is timed, so that it raises its clock. An estimate.
fn warm_up(gpu: &Gpu) -> Duration {
    match gpu.info().device_type {
        wgpu::DeviceType::Cpu => Duration::ZERO,
        _ => Duration::from_millis(500),
    }
}

fn experiment(replications: u32) -> Experiment {
    Experiment::new(Design::default(), replications, 2011)
}

/// An engine without run-time checks, as for the library's own kernels.
fn engine<M: Model>(
    gpu: &Gpu,
    model: M,
    mapping: Mapping,
    group_size: Option<u32>,
) -> Result<Engine<M>, ReplicationError> {
    let engine = Engine::new(gpu, model, Options::default().mapping(mapping).group_size(group_size))?;
    // SAFETY: the library's models index arrays by constants or below a constant, their loops have
    // bounds, and `draw_below` divides by n only if n is above 0.
    Ok(unsafe { engine.trusted() })
}

fn verify<M: ReferenceModel + Copy + Sync>(
    gpu: &Gpu,
    name: &str,
    model: M,
    params: M::Params,
    mappings: &[Mapping],
) -> Outcome<()> {
    let cpu = CpuEngine::in_rust(model, Options::default())?.run(&params, &experiment(300))?;
    let mut seen = Vec::new();
    for features in [wgpu::Features::empty(), wgpu::Features::SHADER_INT64, wgpu::Features::SUBGROUP] {
        for &mapping in mappings {
            let results =
                engine(&gpu.without(features), model, mapping, None)?.run(&params, &experiment(300))?;
            let same = bytemuck::cast_slice::<_, u8>(&results.outputs)
                == bytemuck::cast_slice::<_, u8>(&cpu.outputs)
                && results.fingerprint == cpu.fingerprint;
            if !same {
                return Err(format!(
                    "{name}, {mapping}, without {features:?}: differs from the reference implementation"
                )
                .into());
            }
            seen.push(format!("{mapping}"));
        }
    }
    writeln!(
        stdout(),
        "  {name:9} fingerprint {:016x}: {} runs equal the reference implementation",
        cpu.fingerprint,
        seen.len()
    )?;
    Ok(())
}

/// Seconds of one run of an experiment on the device, or `None` if it would take too long.
fn time<M: Model>(
    gpu: &Gpu,
    engine: &mut Engine<M>,
    params: &M::Params,
    replications: u32,
    guess: f64,
) -> Outcome<Option<f64>> {
    if guess > most(gpu) {
        return Ok(None);
    }
    let mut batch = engine.batch(params, &experiment(replications))?;
    if batch.len() < replications {
        return Ok(None);
    }
    batch.set_steps(gpu, u32::MAX)?;
    let run = |times: u32| -> Outcome<f64> {
        let begun = Instant::now();
        let mut encoder = gpu.encoder("bench");
        for _ in 0..times {
            batch.reset().record(&mut encoder);
            batch.slice().record(&mut encoder);
        }
        gpu.wait(gpu.submit(encoder)?)?;
        Ok(begun.elapsed().as_secs_f64())
    };
    // The first measurement of a row.
    let begun = Instant::now();
    while guess == 0.0 && begun.elapsed() < warm_up(gpu) {
        run(1)?;
    }
    let once = run(1)?.min(run(1)?);
    if batch.running().read(gpu)? != [0, 0] {
        // llvmpipe ends long loops early.
        return Ok(None);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 200")]
    let times = (0.03 / once).clamp(1.0, 200.0) as u32;
    let mut samples = Vec::new();
    for _ in 0..if once > 0.3 { 1 } else { 5 } {
        samples.push(run(times)? / f64::from(times));
    }
    samples.sort_by(f64::total_cmp);
    Ok(Some(samples[samples.len() / 2]))
}

fn mm1(gpu: &Gpu) -> Outcome<()> {
    let model = Mm1::default();
    let params = model.params(0.8, 1.0, 10_000)?;
    let sizes = [64_u32, 1024, 32_768, 1_048_576];
    writeln!(
        stdout(),
        "\nM/M/1, rates 0.8 and 1.0, 10,000 clients: 1e9 clients per second by number of replications"
    )?;
    writeln!(
        stdout(),
        "  {:34}{:>10}{:>10}{:>10}{:>10}",
        "mapping, invocations",
        64,
        1024,
        32_768,
        1_048_576
    )?;
    let plain = gpu.without(wgpu::Features::SHADER_INT64);
    let bare = gpu.without(wgpu::Features::SHADER_INT64 | wgpu::Features::SUBGROUP);
    let mut rows = Vec::new();
    for size in [32, 64, 128, 256] {
        rows.push((Mapping::Thread, size, gpu, ""));
    }
    for size in [32, 64, 128, 256] {
        rows.push((Mapping::Team, size, gpu, ""));
    }
    for size in [32, 128] {
        rows.push((Mapping::Warp, size, gpu, ""));
    }
    rows.push((Mapping::Thread, 64, &plain, ", no int64"));
    rows.push((Mapping::Team, 64, &plain, ", no int64"));
    rows.push((Mapping::Team, 64, &bare, ", no subgroups"));
    for (mapping, size, gpu, note) in rows {
        let mut engine = engine(gpu, model, mapping, Some(size))?;
        write!(stdout(), "  {:34}", format!("{mapping} {size}{note}"))?;
        row(gpu, &mut engine, &params, &sizes)?;
    }
    let mut checked = Engine::new(gpu, model, Options::default().mapping(Mapping::Thread).group_size(64))?;
    write!(stdout(), "  {:34}", "thread 64, checked")?;
    row(gpu, &mut checked, &params, &sizes)?;
    // All of `Engine::run` except its first call: submission, readback and statistics, the median
    // of nine.
    let mut engine = engine(gpu, model, Mapping::Auto, None)?;
    write!(stdout(), "  {:34}", "auto, all of Engine::run")?;
    for replications in sizes {
        if replications > 1024 && gpu.info().device_type == wgpu::DeviceType::Cpu {
            break;
        }
        let begun = Instant::now();
        engine.run(&params, &experiment(replications))?;
        while begun.elapsed() < warm_up(gpu) {
            engine.run(&params, &experiment(replications))?;
        }
        let mut samples = Vec::new();
        for _ in 0..9 {
            let begun = Instant::now();
            let results = engine.run(&params, &experiment(replications))?;
            samples.push(begun.elapsed().as_secs_f64());
            // Freeing memory is not timed.
            drop(results);
        }
        samples.sort_by(f64::total_cmp);
        let clients = f64::from(params.clients) * f64::from(replications);
        write!(stdout(), "{:>10.3}", clients / samples[samples.len() / 2] / 1e9)?;
    }
    writeln!(stdout())?;
    let cpu = CpuEngine::new(model, Options::default())?;
    let begun = Instant::now();
    cpu.run(&params, &experiment(64))?;
    writeln!(stdout(), "  {:34}{:>10.3}", "CPU, all cores", 64e4 / begun.elapsed().as_secs_f64() / 1e9)?;
    Ok(())
}

/// Prints a row of the table of clients per second.
fn row(gpu: &Gpu, engine: &mut Engine<Mm1>, params: &Mm1Params, sizes: &[u32]) -> Outcome<()> {
    let (mut last, mut at) = (0.0, 1.0);
    for &replications in sizes {
        // A full device needs time in proportion to the replications, at worst.
        let guess = last * f64::from(replications) / at;
        match time(gpu, engine, params, replications, guess)? {
            Some(seconds) => {
                (last, at) = (seconds, f64::from(replications));
                write!(stdout(), "{:>10.3}", f64::from(params.clients) * at / seconds / 1e9)?;
            }
            None => {
                // Larger sizes would take longer.
                last = f64::INFINITY;
                write!(stdout(), "{:>10}", "-")?;
            }
        }
    }
    writeln!(stdout())?;
    Ok(())
}

/// Compares thread-level and warp-level parallelism, as in the paper's Figure 7.
fn figure<M: Model + Copy>(gpu: &Gpu, title: &str, model: M, params: M::Params) -> Outcome<()> {
    writeln!(stdout(), "\n{title}: microseconds per run")?;
    let mut table = vec![("thread 32", Mapping::Thread, 32), ("thread 64", Mapping::Thread, 64)];
    table.extend([
        ("warp 32", Mapping::Warp, 32),
        ("warp 64", Mapping::Warp, 64),
        ("warp 128", Mapping::Warp, 128),
    ]);
    let sizes = [20, 64, 100, 200, 400, 700, 1000, 4000, 20_000];
    write!(stdout(), "  {:12}", "")?;
    for size in sizes {
        write!(stdout(), "{size:>9}")?;
    }
    writeln!(stdout())?;
    let mut best: Vec<[f64; 2]> = vec![[f64::INFINITY; 2]; sizes.len()];
    for (name, mapping, size) in table {
        let mut engine = engine(gpu, model, mapping, Some(size))?;
        write!(stdout(), "  {name:12}")?;
        let mut last = 0.0;
        for (best, replications) in best.iter_mut().zip(sizes) {
            match time(gpu, &mut engine, &params, replications, last * 5.0)? {
                Some(seconds) => {
                    last = seconds;
                    let kind = usize::from(mapping == Mapping::Warp);
                    best[kind] = best[kind].min(seconds);
                    write!(stdout(), "{:>9.1}", seconds * 1e6)?;
                }
                None => {
                    last = f64::INFINITY;
                    write!(stdout(), "{:>9}", "-")?;
                }
            }
        }
        writeln!(stdout())?;
    }
    write!(stdout(), "  {:12}", "thread/warp")?;
    for [thread, warp] in best {
        match (thread / warp).is_normal() {
            true => write!(stdout(), "{:>9.2}", thread / warp)?,
            false => write!(stdout(), "{:>9}", "-")?,
        }
    }
    writeln!(stdout())?;
    Ok(())
}

pub(crate) fn run(_: &Args) -> Outcome<()> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    writeln!(
        stdout(),
        "verified bit by bit, 300 replications, with and without 64-bit integers and subgroups:"
    )?;
    let scalar = [Mapping::Thread, Mapping::Warp];
    let all = [Mapping::Thread, Mapping::Warp, Mapping::Team];
    verify(&gpu, "pi", Reference(Pi), PiParams { points: 1001 }, &scalar)?;
    verify(&gpu, "mm1", Reference(Mm1::default()), Mm1::default().params(0.8, 1.0, 3001)?, &all)?;
    verify(&gpu, "walk", Reference(Walk), WalkParams { steps: 1000 }, &scalar)?;
    verify(&gpu, "mmck", Reference(Mmck::default()), Mmck::default().params(3.0, 1.0, 3, 7, 1000)?, &scalar)?;
    let workshop = WorkshopParams { jobs: 300, operation: 1 << 20 };
    verify(&gpu, "workshop", Reference(Workshop), workshop, &scalar)?;
    mm1(&gpu)?;
    figure(&gpu, "Random walk, 1000 steps", Walk, WalkParams { steps: 1000 })?;
    figure(&gpu, "Workshop, 1000 jobs", Workshop, WorkshopParams { jobs: 1000, operation: 1 << 20 })
}
