//! Process models: entities that hold resources, wait, and let time pass.
//!
//! `text` reads descriptions, and [`build`] makes them in Rust. Statements ([`ir`]) are compiled by
//! `lower` into a [`Program`](program::Program): numbered steps, lines, draws and sums; a printer
//! makes WGSL of it, and [`ProcessRun`] runs that as a model of `pdes`. [`CompiledProcess::study`]
//! runs replications of it. The module is hidden: its interface will change. The
//! [guide](crate::guide::processes) has the language and the order of events.

pub mod build;
mod compiled;
mod error;
pub mod ir;
mod lower;
mod model;
mod print;
pub mod program;
mod study;
mod text;

pub use compiled::CompiledProcess;
pub use error::{Deadlock, Full, ProcessError, Replication, RunFault, Waits};
pub use ir::ProcessModel;
pub use lower::lower;
pub use model::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small};
#[cfg(feature = "plot")]
pub use study::draw_timeline;
pub use study::{Change, Study, StudyResults, StudyRun, Timeline, write_changes};
