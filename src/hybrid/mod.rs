//! Entities on the host, handlers on the GPU, ranks over many machines.
mod digest;
mod entity;
mod error;
mod handler;
mod lp;
#[cfg(feature = "mpi")]
mod mpi;
mod part;
mod pending;
mod process;
mod simulation;
mod transport;

pub use digest::Digest;
pub use entity::{Context, Entity, Message};
pub use error::{Fault, FaultKind, HybridError};
#[doc(hidden)]
pub use handler::kernels;
pub use handler::{Handle, Handler, Handlers, Placement, Used, WgslHandler};
pub use lp::Lp;
#[cfg(feature = "mpi")]
pub use mpi::MpiRank;
pub use process::{Process, ProcessId};
pub use simulation::{Options, Simulation, Spread};
pub use transport::{LocalRank, Transport, in_process};
