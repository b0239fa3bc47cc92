//! The device and everything that touches it: adapters, limits, buffers, linking and checking WGSL, pipelines,
//! sliced submission, readback, errors.
//!
//! Every other module goes through here; this one knows nothing of them.
//!
//! # What of it stays
//!
//! [`Gpu`], [`GpuError`], [`LinkError`], [`Source`] and [`Verdict`] are what a program meets that uses the other modules, and change with care. The rest
//! ([`Buffer`], [`Kernel`], [`Plan`], [`Program`], [`Recipe`], [`Pace`] and what belongs to them) is what those modules are made of: good for kernels of
//! your own beside a simulation, and free to change with each release.

mod buffer;
mod contract;
mod dedicated;
mod depth;
mod device;
mod error;
mod idle;
mod joined;
mod kernel;
#[cfg(target_arch = "wasm32")]
mod later;
mod layout;
mod link;
mod names;
mod pace;
mod plan;
mod recipe;
mod size;
mod source;
mod subgroups;
mod tables;
pub(crate) mod tune;
mod units;
#[cfg(not(target_arch = "wasm32"))]
mod upload;
mod words;

pub use buffer::Buffer;
pub(crate) use buffer::{Download, STAGING_BYTES, copy};
pub use contract::Allowed;
pub(crate) use contract::{Declaration, MOST_KEPT};
#[cfg(test)]
pub(crate) use device::CALLS;
pub use device::{Gpu, HOST_WAIT, Submission, compiling};
pub use error::GpuError;
pub(crate) use joined::listed;
pub use kernel::{Bindings, Kernel};
#[cfg(test)]
pub(crate) use layout::assert_same_layout;
pub use layout::{Field, FieldKind, StructLayout, Word};
pub(crate) use layout::{is_words, values_of};
pub use link::{LinkError, Program};
pub use pace::{Pace, SLICE, Verdict};
pub use plan::Plan;
pub use recipe::Recipe;
pub use source::Source;
#[doc(hidden)]
pub use subgroups::kernels;
pub use subgroups::{SubgroupLayout, Subgroups};
pub use units::{FieldUnit, FieldUse};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use upload::{CHUNK_BYTES, Flow, Upload};
