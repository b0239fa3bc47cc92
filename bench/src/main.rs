//! The benchmark program. Each command is a file of its name in this folder, with `Args` and `run`.
//!
//! ```text
//! cargo run --release -p eventhorizon-bench -- --help
//! cargo run --release -p eventhorizon-bench -- phold --lps 1024
//! ```
//!
//! The notes write the second line as `bench phold --lps 1024`. Results are compared with those of
//! the CPU before anything is timed.

mod access;
mod compiled;
mod exponential_error;
mod kernels;
mod matching;
mod matching_cpu;
mod matching_host;
mod native;
mod phold;
mod primitives;
#[path = "../../tests/common/references/mod.rs"]
mod references;
mod replicas;
mod replication;
mod search;
mod sync;

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use eventhorizon::gpu::Gpu;
use eventhorizon_cli::shared::{self, Outcome};

/// Measure how fast the library is on the default adapter, and check what is timed
#[derive(Parser)]
#[command(name = "eventhorizon-bench", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

// The help of each command is at its `Args`.
#[derive(Subcommand)]
enum Command {
    Phold(phold::Args),
    Sync(sync::Args),
    Replicas(replicas::Args),
    Replication(replication::Args),
    Matching(matching::Args),
    MatchingCpu(matching_cpu::Args),
    MatchingHost(matching_host::Args),
    Native(native::Args),
    Compiled(compiled::Args),
    Primitives(primitives::Args),
    Search(search::Args),
    ExponentialError(exponential_error::Args),
    Kernels(kernels::Args),
    Access(access::Args),
}

fn main() -> ExitCode {
    let program = match shared::parse::<Program>() {
        Ok(program) => program,
        Err(reported) => return reported,
    };
    shared::end(match &program.command {
        Command::Phold(args) => phold::run(args),
        Command::Sync(args) => sync::run(args),
        Command::Replicas(args) => replicas::run(args),
        Command::Replication(args) => replication::run(args),
        Command::Matching(args) => matching::run(args),
        Command::MatchingCpu(args) => matching_cpu::run(args),
        Command::MatchingHost(args) => matching_host::run(args),
        Command::Native(args) => native::run(args),
        Command::Compiled(args) => compiled::run(args),
        Command::Primitives(args) => primitives::run(args),
        Command::Search(args) => search::run(args),
        Command::ExponentialError(args) => exponential_error::run(args),
        Command::Kernels(args) => kernels::run(args),
        Command::Access(args) => access::run(args),
    })
}

/// The values of the command line, or the library's choice.
fn or_auto<T: Clone>(given: &[T]) -> Vec<Option<T>> {
    if given.is_empty() { vec![None] } else { given.iter().cloned().map(Some).collect() }
}

/// The name of such a choice in a table.
fn named<T: ToString>(choice: Option<T>) -> String {
    choice.map_or_else(|| "auto".to_owned(), |choice| choice.to_string())
}

type Record<'a> = &'a dyn Fn(&mut wgpu::ComputePass<'_>);

/// Milliseconds on the device for one of many recordings: the median of seven submissions, after
/// some for warming up.
fn time(gpu: &Gpu, record: Record<'_>) -> Outcome<f64> {
    let submit = |repeats: u32| -> Outcome<f64> {
        let mut encoder = gpu.encoder("timed");
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            (0..repeats).for_each(|_| record(&mut pass));
        }
        // The time in which the host translates the commands is not counted.
        let commands = encoder.finish();
        let start = Instant::now();
        gpu.wait(gpu.queue().submit([commands]))?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    // The first submissions free memory and raise clocks: this many milliseconds of work suffice.
    let enough = if gpu.info().device_type == wgpu::DeviceType::Cpu { 100 } else { 600 };
    let start = Instant::now();
    let mut once = submit(1)?;
    while start.elapsed().as_millis() < enough {
        once = once.min(submit(1)?);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let repeats = (30.0 / once).clamp(1.0, 200.0) as u32;
    let mut times = (0..7).map(|_| submit(repeats)).collect::<Result<Vec<_>, _>>()?;
    Ok(median(&mut times) / f64::from(repeats))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
