//! What can go wrong in the `primitives` module.

use super::Tuning;
use crate::ErrorKind;
use crate::gpu::GpuError;

/// An error of the `primitives` module. Nothing was recorded or changed unless a variant says
/// otherwise.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum PrimitiveError {
    /// The device failed, or refused a buffer or a kernel.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// More elements than the indices of the kernels can hold.
    #[error("{len} elements are more than the {limit} that the kernels can index: cut the work into parts")]
    TooLong {
        /// Elements asked for.
        len: u64,
        /// Elements at the most.
        limit: u64,
    },
    /// A count that is known on the host is larger than what the primitive was prepared for.
    #[error("{count} elements, and the primitive was prepared for at most {max}: prepare it for more")]
    CountBeyondMaximum {
        /// The count.
        count: u64,
        /// The prepared maximum.
        max: u64,
    },
    /// A count that was read on the device was larger than what the primitive was prepared for. The
    /// plan, and every other plan with the same [`Status`](super::Status) whose count was too
    /// large, did what it does for no elements.
    #[error(
        "a plan found a count of {count} on the device and was prepared for at most {max}: prepare it for more"
    )]
    CountTooLarge {
        /// The count that was found first.
        count: u32,
        /// The prepared maximum of the plan that found it.
        max: u32,
    },
    /// A compaction would put the number of elements kept where it reads their count, which its
    /// last step reads again.
    #[error("the number kept would go to word {index}, which holds the count: give it a word of its own")]
    CountOverwritten {
        /// The word's index in its buffer.
        index: u32,
    },
    /// A buffer is too short for what may be read from or written to it.
    #[error("the {what} buffer holds {len} elements and needs {needed}")]
    TooShort {
        /// The buffer's part in the plan.
        what: &'static str,
        /// How many elements it needs.
        needed: u64,
        /// How many it holds.
        len: u64,
    },
    /// A range of bits that is empty or not within the key.
    #[error(
        "bits {start}..{end} of keys of {width} bits: give a range that is not empty and ends within the key"
    )]
    Bits {
        /// The first bit.
        start: u32,
        /// The bit after the last.
        end: u32,
        /// Bits of a key.
        width: u32,
    },
    /// No arrays, or more than a sort takes at once.
    #[error("a sort of {arrays} arrays at once: give it 1 to {limit}")]
    Arrays {
        /// Arrays asked for.
        arrays: u32,
        /// Arrays at the most.
        limit: u32,
    },
    /// A [`Tuning`] that no kernel is made for.
    #[error(
        "{tuning:?}: group_size must be a power of two from 32 to 256, items one of {items:?} here, workgroups at most 65535"
    )]
    Tuning {
        /// What was asked for.
        tuning: Tuning,
        /// The items per invocation that there are.
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
