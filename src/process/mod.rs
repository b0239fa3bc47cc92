//! Process models: entities that hold resources, wait, and let time pass.
//!
//! `text` reads descriptions, and [`build`] makes them in Rust. Statements ([`ir`]) are compiled by
//! `lower` into a [`Program`](program::Program): numbered steps, lines, draws and sums; a printer
//! makes WGSL of it, and [`ProcessRun`] runs that as a model of `pdes`. The module is hidden:
//! results are raw rows, and its interface will change. The [guide](crate::guide::processes) has
//! the language and the order of events.

pub mod build;
mod error;
pub mod ir;
mod lower;
mod model;
mod print;
pub mod program;
mod text;

pub use error::ProcessError;
pub use ir::ProcessModel;
pub use lower::lower;
pub use model::{Large, Medium, Printed, ProcessRun, Rows, Sized3, Small};
