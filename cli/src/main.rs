//! The program `eventhorizon`. `run` is its own; the other commands are examples of the library, which run alone, too.

#![allow(
    clippy::duplicate_mod,
    reason = "each example brings what all programs share, as where it is a program of its own"
)]

mod run;

#[path = "../../examples/shared/mod.rs"]
mod shared;

#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/astar.rs"]
mod astar;
#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/doctor.rs"]
mod doctor;
#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/network.rs"]
mod network;
#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/queue_sweep.rs"]
mod queue_sweep;
#[allow(dead_code, reason = "its `main` is that of the example")]
#[path = "../../examples/region_matching.rs"]
mod region_matching;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Discrete-event simulation on any GPU
#[derive(Parser)]
#[command(name = "eventhorizon", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a model: a WGSL file and a TOML file of its parameters
    Run(run::Args),
    /// Runs a queueing network that a TOML file describes
    Network(network::Args),
    /// Counts or lists the overlaps of subscription and update regions
    Match(region_matching::Options),
    /// Finds shortest paths on a map, thousands at once
    Search(astar::Args),
    /// Compares the priority queues on the present adapter
    Sweep(queue_sweep::Args),
    /// Tells of the adapters of this machine, and checks the one that the library would take
    Doctor(doctor::Args),
}

fn main() -> ExitCode {
    let program = match shared::parse::<Program>() {
        Ok(program) => program,
        Err(told) => return told,
    };
    match &program.command {
        Command::Run(args) => shared::end(run::run(args)),
        Command::Network(args) => network::shared::end(network::run(args)),
        Command::Match(args) => region_matching::shared::end(region_matching::run(args)),
        Command::Search(args) => astar::run(args).unwrap_or_else(|error| astar::shared::end(Err(error))),
        Command::Sweep(args) => queue_sweep::shared::end(queue_sweep::run(args)),
        Command::Doctor(args) => doctor::shared::end(doctor::run(args)),
    }
}
