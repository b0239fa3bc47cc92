//! Process models: entities that hold resources, wait, and let time pass.
//!
//! `text` reads descriptions ([`ProcessModel::read`]), and [`build`] makes them in Rust. Statements
//! ([`ir`]) are compiled by `lower` into a [`Program`](program::Program): numbered steps, lines,
//! draws and sums; a printer makes WGSL of it. Studies run that in a loop of its own ([`run`]),
//! [`ProcessRun`] as a model of `pdes`. [`CompiledProcess::study`] runs replications. The
//! [guide](crate::guide::processes) has the language and the order of events.

mod blocking;
pub mod build;
mod compiled;
mod error;
#[doc(hidden)]
pub mod ir;
mod lower;
mod model;
mod network;
mod print;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod run;
mod study;
mod text;

pub use compiled::CompiledProcess;
pub use error::{Deadlock, Full, ProcessError, Replication, RunFault, Waits};
pub use ir::ProcessModel;
#[doc(hidden)]
pub use lower::lower;
#[doc(hidden)]
pub use model::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small};
pub use network::{NetworkForm, NetworkProcess};
#[cfg(feature = "plot")]
pub use study::draw_timeline;
pub use study::{
    Change, Holding, Occupation, Occupied, SavedStudy, Study, StudyResults, StudyRun, Timeline, write_changes,
};
