//! Errors of region matching.

use crate::ErrorKind;
use crate::gpu::{GpuError, LinkError};
use crate::primitives::PrimitiveError;

/// An error of the `matching` module. Nothing was changed unless a variant documents otherwise; the
/// next call may succeed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MatchingError {
    /// A region's lower bound is above its upper bound.
    #[error(
        "{set}: region {region} is inverted in dimension {dimension}: its lower bound {lo} is above its upper \
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
        "{set}: region {region} has a bound that is not a number in dimension {dimension}: [{lo}, {hi}); \
         for an unbounded region use an infinite bound"
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
    /// More regions than a set can hold: indices have 32 bits, and all bounds are in one binding of
    /// the device.
    #[error("{set}: a set holds at most {limit} regions, found {regions}; split the set")]
    TooManyRegions {
        /// The label of the set.
        set: String,
        /// The number of regions.
        regions: u64,
        /// The maximum number of regions.
        limit: u64,
    },
    /// The work list of an algorithm exceeds its 32-bit numbers.
    #[error(
        "{what}: {needed} are needed, but at most {limit} are possible. \
         Choose another algorithm (`Algorithm::Grid` tests the fewest pairs of small regions in several \
         dimensions, `Sort` in one), or match parts of the sets"
    )]
    TooMuchWork {
        /// The kind of items.
        what: &'static str,
        /// The needed number.
        needed: u64,
        /// The maximum number.
        limit: u64,
    },
    /// A grid has no cell in some dimension, or more cells than the library can number.
    #[error("a grid in {dimensions} dimensions has 1 to {limit} cells per dimension, found {cells}")]
    GridCells {
        /// Cells per dimension, as requested.
        cells: u32,
        /// Dimensions of the regions.
        dimensions: u32,
        /// The largest number of cells per dimension for them.
        limit: u32,
    },
    /// The id of a region that does not exist.
    #[error("{set}: there is no region {region}; the set has {regions}, numbered from 0")]
    UnknownRegion {
        /// The label of the set.
        set: String,
        /// The unknown id.
        region: u32,
        /// The number of regions.
        regions: u32,
    },
    /// A region occurs twice among the moved regions.
    #[error("{set}: region {region} is listed twice among the moved regions; give each its last bounds only")]
    MovedTwice {
        /// The label of the set.
        set: String,
        /// The duplicate id.
        region: u32,
    },
    /// A handle that the HLA service did not create, or whose region was deleted.
    #[error("there is no {kind} with handle {handle}: it was deleted, or another service made it")]
    UnknownHandle {
        /// The kind of object that the handle should name.
        kind: &'static str,
        /// The handle.
        handle: u64,
    },
    /// A region of the HLA service cannot be deleted while it is used.
    #[error(
        "region {region} is still associated with an object or subscribed with: unassociate and unsubscribe first"
    )]
    RegionInUse {
        /// The handle.
        region: u64,
    },
    /// A range of the HLA service is empty, inverted or outside its dimension.
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
    /// A step of moving regions did not end: it failed, or its future was dropped. Some regions
    /// have moved and others have not.
    #[error(
        "the last step of these moving regions did not end, because it failed or was dropped; create new ones from the current bounds"
    )]
    Unfinished,
    /// The device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A sort or a scan was rejected.
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
