//! The device and everything that touches it: adapters, limits, buffers, linking and checking WGSL,
//! pipelines, sliced submission, readback, errors.
//!
//! Every other module uses this one; this module depends on none of them.
//!
//! Applications meet [`Gpu`] with its errors, the [`Source`] of a model, and a [`Buffer`] and a
//! [`Plan`] where they call [`primitives`](crate::primitives) or [`queue`](crate::queue).

#[cfg(not(target_arch = "wasm32"))]
mod background;
mod buffer;
mod compilations;
mod compile;
mod contract;
mod dedicated;
mod depth;
mod device;
#[cfg(not(target_arch = "wasm32"))]
mod disk_cache;
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
mod recent;
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

#[cfg(not(target_arch = "wasm32"))]
pub use background::has_abandoned_threads;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use background::{Background, CompileAhead, abandon};
pub use buffer::Buffer;
pub(crate) use buffer::{Download, copy};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use compilations::{HOST_WAIT, in_background};
pub(crate) use contract::{Allowed, Declaration, MOST_KEPT};
#[cfg(test)]
pub(crate) use device::CALLS;
pub use device::{Gpu, Submission};
#[cfg(not(target_arch = "wasm32"))]
pub use disk_cache::{DiskCache, keep_kernels_in};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use disk_cache::{keep_text, kept_text};
pub use error::{GpuError, LinkError};
pub(crate) use kernel::{Bindings, KernelBuild, build_together};
pub(crate) use layout::{Field, is_words, values_of};
pub use pace::Verdict;
pub use plan::Plan;
pub(crate) use recent::RecentCode;
pub use source::Source;
pub(crate) use source::listed;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use staging::CHUNK_BYTES;
pub(crate) use staging::STAGING_BYTES;
pub(crate) use units::{FieldUnit, FieldUse};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use upload::{Flow, Upload};

// Kernels for the program, the benchmarks and the tests of this workspace.
#[doc(hidden)]
pub use compilations::{compiled, compiling};
#[doc(hidden)]
pub use kernel::Kernel;
#[doc(hidden)]
pub use layout::{FieldKind, StructLayout, Word};
#[doc(hidden)]
pub use link::Program;
#[doc(hidden)]
pub use pace::{Pace, SLICE};
#[doc(hidden)]
pub use recipe::Recipe;
#[doc(hidden)]
pub use subgroups::{Subgroups, kernels};
