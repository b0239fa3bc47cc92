//! The statistics of the driver's compiler for the library's kernels, if Vulkan reports them.

#[cfg(any(target_os = "linux", windows))]
mod driver;

use clap::Args as ClapArgs;

use crate::shared::Outcome;

/// Measure what the driver's compiler makes of each kernel: registers, workgroup memory, code size
/// and compile time
///
/// Prints the driver's own words, for the library's models and for the kernels that tests check.
/// Registers and workgroup memory determine how many workgroups share a processor, and so how a
/// kernel hides latency. Needs Vulkan, and a driver that reports these numbers.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- kernels --only neighbours_relax
  cargo run --release -p eventhorizon-bench -- kernels --only rank_subgroup,scatter --unchecked")]
pub(crate) struct Args {
    /// Print only kernels whose file, entry point or constants contain one of these texts
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Compile without the checks of indices and loops, which only kernels with a model's WGSL have
    #[arg(long)]
    pub(crate) unchecked: bool,
}

#[cfg(any(target_os = "linux", windows))]
pub(crate) fn run(args: &Args) -> Outcome<()> {
    driver::run(args)
}

#[cfg(not(any(target_os = "linux", windows)))]
pub(crate) fn run(_: &Args) -> Outcome<()> {
    Err(crate::shared::usage("only Vulkan reports the statistics of kernels"))
}
