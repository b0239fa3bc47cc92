//! What the driver's compiler makes of the library's kernels, where Vulkan tells it.

#[cfg(any(target_os = "linux", windows))]
mod driver;

use clap::Args as ClapArgs;

use crate::shared::Outcome;

/// Measures what the driver's compiler makes of each kernel: registers, workgroup memory, code, and
/// the time that it takes
///
/// In the driver's own words, for the models that ship and for the cuts that tests look at. How
/// many workgroups are on a processor at once follows from registers and workgroup memory, and so
/// does what a kernel waits for. It takes Vulkan, and a driver that reports it.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- kernels --only neighbours_relax
  cargo run --release -p eventhorizon-bench -- kernels --only rank_subgroup,scatter --unchecked")]
pub(crate) struct Args {
    /// Only kernels of whose file, entry point or constants the line holds one of these.
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Without the checks of indices and loops that kernels with a model's WGSL have, and others do
    /// without.
    #[arg(long)]
    pub(crate) unchecked: bool,
}

#[cfg(any(target_os = "linux", windows))]
pub(crate) fn run(args: &Args) -> Outcome<()> {
    driver::run(args)
}

#[cfg(not(any(target_os = "linux", windows)))]
pub(crate) fn run(_: &Args) -> Outcome<()> {
    Err(crate::shared::usage("only Vulkan tells what became of a kernel"))
}
