//! Process models: entities that hold resources, wait, and let time pass.
//!
//! Statements ([`ir`]) are compiled by `lower` into a [`Program`](program::Program): numbered
//! steps, lines, draws and sums; a printer makes WGSL of it, and [`ProcessRun`] runs that as a
//! model of `pdes`. The module is hidden: no description is read yet, results are raw rows, and its
//! interface will change. `notes/process.md` has the language and the order of events.

mod compiled;
mod error;
pub mod ir;
mod lower;
mod model;
mod print;
pub mod program;
mod study;

pub use compiled::CompiledProcess;
pub use error::{Deadlock, Full, ProcessError, Replication, RunFault, Waits};
pub use ir::ProcessModel;
pub use lower::lower;
pub use model::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small};
pub use study::{Study, StudyResults, StudyRun};
