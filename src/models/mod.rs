//! Models that ship with the library, each with its WGSL and its Rust twin. They use only what a user can.
//!
//! [`Phold`] is a model of the module [`pdes`](crate::pdes), the others are of the module [`replication`](crate::replication).

mod mm1;
mod mmck;
mod phold;
mod pi;
mod walk;
mod workshop;

pub use mm1::{Mm1, Mm1Output, Mm1Params};
pub use mmck::{Mmck, MmckOutput, MmckParams};
pub use phold::{Phold, PholdError, PholdParams, PholdState};
pub use pi::{Pi, PiOutput, PiParams};
pub use walk::{Walk, WalkOutput, WalkParams};
pub use workshop::{Workshop, WorkshopOutput, WorkshopParams};

use crate::time::{Resolution, TimeError};

/// The mean of an exponential time in ticks, from a rate.
fn mean_ticks(resolution: Resolution, rate: f64) -> Result<u32, TimeError> {
    let ticks = resolution.ticks(1.0 / rate)?.get();
    // Where it does not fit, `Model::check` refuses it with the largest mean that it takes.
    Ok(u32::try_from(ticks).unwrap_or(u32::MAX))
}
