//! Reduce, scan, radix sort and stream compaction on the GPU: a small library of its own.
//!
//! A primitive is prepared once for a device and a greatest length, bound to buffers and a [`Count`], and the [`Task`] that
//! comes of it is recorded into a compute pass of the caller's as often as wanted.

mod compact;
mod count;
mod error;
pub mod keys;
mod reduce;
mod scan;
mod sort;
mod task;

pub use compact::Compact;
pub use count::{Count, Status};
pub use error::PrimitiveError;
pub use reduce::{Element, Reduce};
pub use scan::{Scan, ScanKind};
pub use sort::{RadixSort, SortKey};
pub use task::Task;

use crate::gpu::Gpu;

/// How reduce, scan and compact are cut.
const SWEEP: task::Cut = task::Cut { threads: 256, tile: 256 * 16, workgroups: 2048 };

/// The file with the workgroup's scan that suits the device.
fn block(_gpu: &Gpu) -> &'static str {
    "block_baseline"
}
