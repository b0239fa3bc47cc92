//! The program of the benchmarks: each is a command, and a file of its name here with `Args` and `run`.
//!
//! ```text
//! cargo run --release -p eventhorizon-bench -- --help
//! cargo run --release -p eventhorizon-bench -- phold --lps 1024
//! ```
//!
//! Elsewhere the second line is called `bench phold --lps 1024`. Results are compared with those of the processor before anything is timed.

mod exponential_error;
mod kernels;
mod matching;
mod matching_cpu;
mod phold;
mod primitives;
mod replicas;
mod replication;
mod search;
mod sync;

#[path = "../../examples/shared/figure.rs"]
mod figure;
#[path = "../../examples/shared/mod.rs"]
mod shared;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures how fast the library is on the present adapter, and checks what it times
#[derive(Parser)]
#[command(name = "eventhorizon-bench", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

// What each does is said at its `Args`.
#[derive(Subcommand)]
enum Command {
    Phold(phold::Args),
    Sync(sync::Args),
    Replicas(replicas::Args),
    Replication(replication::Args),
    Matching(matching::Args),
    MatchingCpu(matching_cpu::Args),
    Primitives(primitives::Args),
    Search(search::Args),
    ExponentialError(exponential_error::Args),
    Kernels(kernels::Args),
}

fn main() -> ExitCode {
    let program = match shared::parse::<Program>() {
        Ok(program) => program,
        Err(told) => return told,
    };
    shared::end(match &program.command {
        Command::Phold(args) => phold::run(args),
        Command::Sync(args) => sync::run(args),
        Command::Replicas(args) => replicas::run(args),
        Command::Replication(args) => replication::run(args),
        Command::Matching(args) => matching::run(args),
        Command::MatchingCpu(args) => matching_cpu::run(args),
        Command::Primitives(args) => primitives::run(args),
        Command::Search(args) => search::run(args),
        Command::ExponentialError(args) => exponential_error::run(args),
        Command::Kernels(args) => kernels::run(args),
    })
}

/// The choices that were given, or the library's.
fn or_auto<T: Clone>(given: &[T]) -> Vec<Option<T>> {
    if given.is_empty() { vec![None] } else { given.iter().cloned().map(Some).collect() }
}

/// How a table tells of such a choice.
fn named<T: ToString>(choice: Option<T>) -> String {
    choice.map_or_else(|| "auto".to_owned(), |choice| choice.to_string())
}
