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
mod tuning;

pub use compact::Compact;
pub use count::{Count, Status};
pub use error::PrimitiveError;
pub use reduce::{Element, Reduce};
pub use scan::{Scan, ScanKind};
pub use sort::{RadixSort, SortKey};
pub use task::Task;
pub use tuning::Tuning;
