//! The program `eventhorizon`: each command is a module of `commands`.

mod manual;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use eventhorizon_cli::commands::{
    activity, astar, check, convert, doctor, experiment, fit, init, moving_crowd, mrip_mm1, mrip_pi,
    mrip_walk, network, optimise, papers, phold, phold_ranks, process, region_matching, run, soak,
};
use eventhorizon_cli::shared::{self, EXIT_CODES};

/// Discrete-event simulation on any GPU
#[derive(Parser)]
#[command(name = "eventhorizon", version)]
#[command(after_help = format!(
    "`eventhorizon COMMAND --help` shows the options of a command, with examples.\n\n{EXIT_CODES}"
))]
struct Program {
    /// Keep no compiled kernels in the user's cache folder, and read none
    #[arg(long, global = true)]
    no_cache: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a model: a WGSL file and a TOML file of its parameters
    Run(run::Args),
    /// Run a queueing network that a TOML or JSON file describes
    Network(network::Args),
    /// Run a process model that a TOML or JSON file describes
    Process(process::Args),
    /// Write a starting file of a network, a process model or a model in WGSL
    Init(init::Args),
    /// Compile a network, a process model or a WGSL model, and print what was understood
    Check(check::Args),
    /// Write a network in another form: TOML, JSON, DOT or Mermaid
    Convert(convert::Args),
    /// Find the numbers in a network or a process model that minimise a measure or a cost
    Optimise(optimise::Args),
    /// Fit distributions to measured times in a CSV file
    Fit(fit::Args),
    /// Count or list the overlaps of subscription and update regions
    Match(region_matching::Options),
    /// Find shortest paths on a map, thousands at once
    Search(astar::Args),
    /// List, run and draw the figures and tables of the papers
    Papers(papers::Args),
    /// Print adapters and test the default one
    Doctor(doctor::Args),
    /// Run PHOLD, the benchmark of parallel discrete-event simulation, and print its event rate
    Phold(phold::Args),
    /// Run PHOLD over ranks (threads, MPI processes) or over devices, and print its event rate
    PholdRanks(phold_ranks::Args),
    /// Compare measures against an epidemic in a factorial experiment
    Experiment(experiment::Args),
    /// Replicate an M/M/1 queue and compare its means with theory
    MripMm1(mrip_mm1::Options),
    /// Replicate a Monte Carlo estimate of pi
    MripPi(mrip_pi::Options),
    /// Replicate random walks over 30 chunks of a map
    MripWalk(mrip_walk::Options),
    /// Simulate people who plan their days, and print the traffic they cause
    Activity(activity::Args),
    /// Match the moving regions of a crowd and draw who sees whom
    MovingCrowd(moving_crowd::Options),
    /// Compare random simulations with the sequential engine, for as long as requested
    Soak(soak::Args),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write pages for `man` into a folder, one for each command
    Man {
        /// The folder; it is created if it is missing
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let program: Program = match shared::parse_as(manual::with_examples(Program::command())) {
        Ok(program) => program,
        Err(reported) => return reported,
    };
    shared::cache::keep_kernels(program.no_cache);
    shared::end(match &program.command {
        Command::Run(args) => run::run(args),
        Command::Network(args) => network::run(args),
        Command::Process(args) => process::run(args),
        Command::Init(args) => init::run(args),
        Command::Check(args) => check::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Optimise(args) => optimise::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Match(args) => region_matching::run(args),
        Command::Search(args) => astar::run(args),
        Command::Papers(args) => papers::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Phold(args) => phold::run(args),
        Command::PholdRanks(args) => phold_ranks::run(args),
        Command::Experiment(args) => experiment::run(args),
        Command::MripMm1(args) => mrip_mm1::run(args),
        Command::MripPi(args) => mrip_pi::run(args),
        Command::MripWalk(args) => mrip_walk::run(args),
        Command::Activity(args) => activity::run(args),
        Command::MovingCrowd(args) => moving_crowd::run(args),
        Command::Soak(args) => soak::run(args),
        Command::Completions { shell } => {
            manual::completions(*shell, Program::command());
            Ok(())
        }
        Command::Man { folder } => manual::pages(folder, manual::with_examples(Program::command())),
    })
}
