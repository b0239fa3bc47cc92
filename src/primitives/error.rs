//! Errors of the `primitives` module.

use super::Tuning;
use crate::ErrorKind;
use crate::gpu::GpuError;

/// An error of the `primitives` module. No work was recorded and no data changed, unless a variant
/// documents otherwise.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PrimitiveError {
    /// The device failed, or rejected a buffer or a kernel.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// More elements than the indices of the kernels can hold.
    #[error("{len} elements exceed the {limit} that kernels can index; split the work into parts")]
    TooLong {
        /// Requested elements.
        len: u64,
        /// Maximum number of elements.
        limit: u64,
    },
    /// A count that the host knows exceeds the maximum that the primitive was prepared for.
    #[error("the primitive was prepared for at most {max} elements, found {count}; prepare it for more")]
    CountBeyondMaximum {
        /// The count.
        count: u64,
        /// The prepared maximum.
        max: u64,
    },
    /// A count read on the device exceeds the maximum that the plan was prepared for. This plan and
    /// every other plan with the same [`Status`](super::Status) whose count was too large acted as
    /// on no elements.
    #[error(
        "a plan was prepared for at most {max} elements and read a count of {count} on the device; prepare it for more"
    )]
    CountTooLarge {
        /// The first count that was too large.
        count: u32,
        /// The maximum of the plan that read it.
        max: u32,
    },
    /// The number of kept elements of a compaction would overwrite its count, which its last step
    /// reads again.
    #[error(
        "the number of kept elements would overwrite word {index}, which holds the count; give it a word of its own"
    )]
    CountOverwritten {
        /// The word's index in its buffer.
        index: u32,
    },
    /// A buffer is too short for the range that may be read or written.
    #[error("the {what} buffer holds {len} elements and needs {needed}")]
    TooShort {
        /// The buffer's part in the plan.
        what: &'static str,
        /// Needed elements.
        needed: u64,
        /// Elements that it holds.
        len: u64,
    },
    /// A range of bits that is empty or exceeds the key.
    #[error(
        "bits {start}..{end} are not a range of keys of {width} bits; give a range that is not empty and ends within the key"
    )]
    Bits {
        /// The first bit.
        start: u32,
        /// The bit after the last.
        end: u32,
        /// Bits of a key.
        width: u32,
    },
    /// No arrays, or more than a sort accepts at once.
    #[error("expected 1 to {limit} arrays in one sort, found {arrays}")]
    Arrays {
        /// Requested arrays.
        arrays: u32,
        /// Maximum number of arrays.
        limit: u32,
    },
    /// Sizes of kernels that no kernel supports.
    #[error(
        "{tuning:?}: group_size must be a power of two from 32 to 256, items one of {items:?} here, workgroups at most 65535"
    )]
    Tuning {
        /// The requested tuning.
        tuning: Tuning,
        /// The supported items per invocation.
        items: Vec<u32>,
    },
}

crate::text::debug_is_display!(PrimitiveError);

impl PrimitiveError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            _ => ErrorKind::Usage,
        }
    }
}
