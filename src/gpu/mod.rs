//! The device and everything that touches it: adapters, limits, buffers, linking and checking WGSL,
//! pipelines, sliced submission, readback, errors.
//!
//! Every other module uses this one; this module depends on none of them.
//!
//! # Stability
//!
//! [`Gpu`], [`GpuError`], [`LinkError`], [`Source`] and [`Verdict`] appear in programs that use the
//! other modules, and change with care. The rest ([`Buffer`], [`Kernel`], [`Plan`], [`Program`],
//! [`Recipe`], [`Pace`] and related types) implements those modules. It is useful for your own
//! kernels next to a simulation, and may change with each release.

mod buffer;
mod compilations;
mod compile;
mod contract;
mod dedicated;
mod depth;
mod device;
mod error;
mod idle;
mod kernel;
mod layout;
mod link;
mod linked_text;
mod names;
mod pace;
#[cfg(target_arch = "wasm32")]
mod pending_answers;
mod plan;
mod recipe;
mod size;
mod source;
mod staging;
mod subgroups;
mod tables;
pub(crate) mod tune;
mod units;
#[cfg(not(target_arch = "wasm32"))]
mod upload;
mod words;

pub use buffer::Buffer;
pub(crate) use buffer::{Download, copy};
pub use compilations::{HOST_WAIT, compiling};
pub use contract::Allowed;
pub(crate) use contract::{Declaration, MOST_KEPT};
#[cfg(test)]
pub(crate) use device::CALLS;
pub use device::{Gpu, Submission};
pub use error::{GpuError, LinkError};
pub use kernel::{Bindings, Kernel};
pub use layout::{Field, FieldKind, StructLayout, Word};
pub(crate) use layout::{is_words, values_of};
pub use link::Program;
pub use pace::{Pace, SLICE, Verdict};
pub use plan::Plan;
pub use recipe::Recipe;
pub use source::Source;
pub(crate) use source::listed;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use staging::CHUNK_BYTES;
pub(crate) use staging::STAGING_BYTES;
#[doc(hidden)]
pub use subgroups::kernels;
pub use subgroups::{SubgroupLayout, Subgroups};
pub use units::{FieldUnit, FieldUse};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use upload::{Flow, Upload};
