//! Replications by warps and by threads: Figures 5 to 8 of Passerat-Palmbach et al. (section 5).
//! Figures 5 to 7 are the time of replications on one CPU core, with one subgroup per replication
//! (WLP), and with one invocation per replication (TLP).
//!
//! Each time is the median of five whole runs, readback and statistics included; of one, if that
//! takes more than half a second.

use std::time::Instant;

use eventhorizon::models::{Mm1, Pi, PiParams, Walk, WalkParams};
use eventhorizon::random::Stream;
use eventhorizon::replication::{self, CpuEngine, Design, Engine, Experiment, Mapping, Model};

use super::study::{Study, thousands};
use crate::shared::{Outcome, same};

const SEED: u64 = 2011;

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
    let experiment = |replications| Experiment::new(Design::default(), replications, SEED);
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
        let mut engine = Engine::new(&study.gpu()?, model, replication::Options::default().mapping(mapping))?;
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
    let points = study.size(if study.is_software() { 100_000 } else { 10_000_000 }, 20_000);
    let sizes = sizes(study, 10);
    study.note(&format!("{} draws (the paper: 10,000,000)", thousands(points.into())));
    curves(study, "", Pi, &PiParams { points }, &sizes)
}

pub(super) fn figure_6(study: &mut Study<'_>) -> Outcome<()> {
    let (model, sizes) = (Mm1::default(), sizes(study, 10));
    let clients = study.size(10_000, 1000);
    study.note(&format!("{} clients (the paper: 10,000)", thousands(clients.into())));
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

/// What the walks of a warp do in a step.
#[derive(Clone, Copy, Default)]
struct WarpCounts {
    /// Branches that at least one lane takes: the warp executes one after the other. A walk takes
    /// one of four for its direction, and one of 30 for its chunk.
    branches: u32,
    /// Of these, the branches for a chunk. Each reads and writes a counter, which is one
    /// transaction for all its lanes if memory interleaves those of a warp.
    chunks: u32,
}

/// A walk of `Walk` with the streams of its replications.
struct Walker {
    stream: Stream,
    x: u32,
    y: u32,
}

impl Walker {
    fn new(replication: u32) -> Self {
        let mut stream = Stream::new(SEED, 0, replication.into());
        let [x, y] = [60, 50].map(|cells| stream.below(cells));
        Self { stream, x, y }
    }

    /// Makes a step; returns the numbers of the two branches.
    fn step(&mut self) -> (u32, u32) {
        let direction = self.stream.draw() >> 30;
        match direction {
            0 => self.x = (self.x + 1) % 60,
            1 => self.x = (self.x + 59) % 60,
            2 => self.y = (self.y + 1) % 50,
            _ => self.y = (self.y + 49) % 50,
        }
        (direction, self.y / 10 * 6 + self.x / 10)
    }
}

/// Sums over the steps of all warps, and the chunks in which the walks end.
fn warps(replications: u32, active: u32, steps: u32) -> (WarpCounts, Vec<u32>) {
    let (mut sums, mut ends) = (WarpCounts::default(), Vec::new());
    for first in (0..replications).step_by(active as usize) {
        let mut walkers: Vec<_> = (first..first + active).map(Walker::new).collect();
        let mut last = Vec::new();
        for _ in 0..steps {
            let (mut directions, mut chunks) = (0_u32, 0_u32);
            last.clear();
            for (direction, chunk) in walkers.iter_mut().map(Walker::step) {
                directions |= 1 << direction;
                chunks |= 1 << chunk;
                last.push(chunk);
            }
            sums.branches += directions.count_ones() + chunks.count_ones();
            sums.chunks += chunks.count_ones();
        }
        ends.append(&mut last);
    }
    (sums, ends)
}

/// Counts branches and accesses of warps by the number of their lanes that have a replication. The
/// walks end where the library's engine ends them.
pub(super) fn figure_8(study: &mut Study<'_>) -> Outcome<()> {
    let (steps, replications) = (1000, study.size(1024, 64));
    study.note(&format!("{replications} replications of {steps} steps, counted on the CPU"));
    let cpu = CpuEngine::new(Walk, replication::Options::default())?;
    let ran = cpu.run(&WalkParams { steps }, &Experiment::new(Design::default(), replications, SEED))?;
    let expected: Vec<_> = ran.outputs.iter().map(|output| output.chunk).collect();
    for active in [1, 2, 4, 8, 16, 32] {
        if !study.goes_on() {
            return Ok(());
        }
        let (WarpCounts { branches, chunks }, ends) = warps(replications, active, steps);
        same(&ends, &expected, "chunks in which walks end")?;
        let of_steps = |count: u32| f64::from(count) / f64::from(replications / active * steps);
        let (branches, chunks) = (of_steps(branches), of_steps(chunks));
        let line = "random walk, 30 chunks";
        study.point("branches of a warp in a step", line, active.into(), branches)?;
        study.point("active lanes of a branch", line, active.into(), 2.0 * f64::from(active) / branches)?;
        study.point("reads of a warp in a step", line, active.into(), chunks)?;
    }
    Ok(())
}
