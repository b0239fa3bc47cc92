//! What can go wrong in region matching.

use crate::ErrorKind;
use crate::gpu::{GpuError, LinkError};
use crate::primitives::PrimitiveError;

/// An error of the `matching` module. Nothing was changed unless a variant says otherwise; the next
/// call may succeed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MatchingError {
    /// A region's lower bound lies above its upper bound.
    #[error(
        "{set}: region {region} is inverted in dimension {dimension}: its lower bound {lo} lies above its upper \
         bound {hi}. Bounds are half-open intervals [lower, upper); equal bounds make an empty region"
    )]
    Inverted {
        /// The label of the set.
        set: String,
        /// Index of the first region at fault.
        region: u32,
        /// Its first dimension at fault, from 0.
        dimension: u32,
        /// Its lower bound there.
        lo: String,
        /// Its upper bound there.
        hi: String,
    },
    /// A bound of a region is not a number.
    #[error(
        "{set}: region {region} has a bound that is not a number in dimension {dimension}: [{lo}, {hi}). \
         For a region without an end use an infinite bound"
    )]
    NotANumber {
        /// The label of the set.
        set: String,
        /// Index of the first region at fault.
        region: u32,
        /// Its first dimension at fault, from 0.
        dimension: u32,
        /// Its lower bound there.
        lo: String,
        /// Its upper bound there.
        hi: String,
    },
    /// More regions than a set can hold: indices are 32 bits, and all bounds are in one binding of
    /// the device.
    #[error("{set}: {regions} regions, and a set holds at most {limit}. Split the set")]
    TooManyRegions {
        /// The label of the set.
        set: String,
        /// How many there are.
        regions: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The work list of an algorithm is larger than its 32-bit numbers reach.
    #[error(
        "{what}: {needed} are needed, and at most {limit} can be numbered. \
         Choose another algorithm (sort and grid test the fewest pairs), or match parts of the sets"
    )]
    TooMuchWork {
        /// What there is too much of.
        what: &'static str,
        /// How many are needed.
        needed: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A grid has no cell in some dimension, or more than the library can number.
    #[error(
        "a grid of {cells} cells per dimension in {dimensions} dimensions: choose from 1 to {limit} cells"
    )]
    GridCells {
        /// Cells per dimension, as given.
        cells: u32,
        /// Dimensions of the regions.
        dimensions: u32,
        /// The largest number of cells per dimension for them.
        limit: u32,
    },
    /// A region id that is not in the set.
    #[error("{set}: there is no region {region}; the set has {regions}, numbered from 0")]
    UnknownRegion {
        /// The label of the set.
        set: String,
        /// The id as given.
        region: u32,
        /// How many regions there are.
        regions: u32,
    },
    /// A region is listed twice among those that moved.
    #[error("{set}: region {region} is listed twice among the moved regions; give each its last bounds only")]
    MovedTwice {
        /// The label of the set.
        set: String,
        /// The id as given.
        region: u32,
    },
    /// A handle that the HLA service did not give out, or whose region was deleted.
    #[error("there is no {kind} with handle {handle}")]
    UnknownHandle {
        /// What the handle should stand for.
        kind: &'static str,
        /// The handle.
        handle: u64,
    },
    /// A region of the HLA service that shall be deleted is still used.
    #[error(
        "region {region} is still associated with an object or subscribed with: unassociate and unsubscribe first"
    )]
    RegionInUse {
        /// The handle.
        region: u64,
    },
    /// A range of the HLA service that is empty, inverted or not within its dimension.
    #[error(
        "dimension {dimension}: the range [{lower}, {upper}) must hold a point and end at or below {limit}"
    )]
    Range {
        /// The dimension, from 0.
        dimension: u32,
        /// The range's lower bound.
        lower: u32,
        /// The range's upper bound.
        upper: u32,
        /// The dimension's upper bound.
        limit: u32,
    },
    /// A step of moving regions did not end: it failed, or its future was dropped, and some regions
    /// have moved and others have not.
    #[error(
        "the last step of these moving regions did not end, because it failed or was given up: make new ones from where the regions are"
    )]
    Unfinished,
    /// The device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A sort or a scan was refused.
    #[error(transparent)]
    Primitive(PrimitiveError),
}

crate::text::debug_is_display!(MatchingError);

impl MatchingError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            Self::Primitive(error) => error.kind(),
            Self::Unfinished => ErrorKind::Fault,
            _ => ErrorKind::Usage,
        }
    }
}

impl From<PrimitiveError> for MatchingError {
    fn from(error: PrimitiveError) -> Self {
        match error {
            PrimitiveError::Gpu(error) => Self::Gpu(error),
            error => Self::Primitive(error),
        }
    }
}

impl From<LinkError> for MatchingError {
    fn from(error: LinkError) -> Self {
        Self::Gpu(error.into())
    }
}
