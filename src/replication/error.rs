//! Errors of running replications.

use super::AnalysisError;
use crate::ErrorKind;
use crate::gpu::GpuError;

/// An error of the engines of this module.
///
/// Nothing has been run when one is returned, unless it is [`ReplicationError::Gpu`] or
/// [`ReplicationError::Cut`]. A failed replication is not an error: it is reported with its index
/// among the results.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ReplicationError {
    /// The device failed, or the model's WGSL does not link.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// An invalid design, experiment or column.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The model's WGSL lacks a part of the contract.
    #[error("{file} {problem} (see `replication::Model`)")]
    Contract {
        /// The model's file.
        file: String,
        /// What is missing, or different.
        problem: String,
    },
    /// A struct has bytes that belong to no field.
    #[error(
        "{file}: struct {name} has padding ({place}). Fill it with explicit fields (such as `unused: u32`) \
         or put the fields in another order, so that its bytes mean the same on the host and on the device"
    )]
    Padding {
        /// The model's file.
        file: String,
        /// The WGSL struct.
        name: &'static str,
        /// Where it lies.
        place: String,
    },
    /// A struct on the host differs in size from the WGSL struct.
    #[error(
        "{file}: struct {name} has {wgsl} bytes, and the model's Rust type {rust}. Give both the same fields"
    )]
    Size {
        /// The model's file.
        file: String,
        /// The WGSL struct.
        name: &'static str,
        /// Bytes of the WGSL struct.
        wgsl: u32,
        /// Bytes of the Rust type.
        rust: usize,
    },
    /// The model refuses its parameters.
    #[error("point {point} of the design: {reason}")]
    Point {
        /// Index of the point, from 0.
        point: usize,
        /// The message of the model.
        reason: String,
    },
    /// The model offers no team mapping.
    #[error("{file} has no file for the team mapping; choose thread, warp or auto")]
    NoTeam {
        /// The model's file.
        file: String,
    },
    /// The functions in Rust of a model that is loaded at run time, whose types Rust does not know.
    #[error(
        "{file} has parameters or results of `Word`s, which functions in Rust cannot use. Run its WGSL: `CpuEngine::new`"
    )]
    NoReference {
        /// The model's file.
        file: String,
    },
    /// The number of invocations per workgroup does not suit the mapping.
    #[error("workgroups of {group_size} invocations do not suit the mapping {mapping}; choose {remedy}")]
    GroupSize {
        /// The mapping.
        mapping: super::Mapping,
        /// The requested number.
        group_size: u32,
        /// What to do.
        remedy: String,
    },
    /// The driver ends loops early without an error: llvmpipe, Mesa's software driver, does so
    /// after 65,535 iterations of an invocation in all its loops together. Slices are shortened
    /// until it does not; here a single step was too long.
    #[error(
        "the driver ended a loop of the model early within a single step; let a step do less work (llvmpipe allows \
         65,535 iterations), or use another adapter"
    )]
    Cut,
    /// On the CPU, 256 steps of a replication made more than 2^30 iterations of loops.
    #[error(
        "256 steps of replication {replication} of point {point} made more than 2^30 iterations of loops: does a loop of the model not end?"
    )]
    LoopsCut {
        /// Index of the point, from 0.
        point: u32,
        /// The replication.
        replication: u32,
    },
    /// A watcher stopped the run before any replication of all points had ended.
    #[error(
        "it was stopped before a replication of each point had ended: there are no results. Let it run longer"
    )]
    Stopped,
    /// One replication alone is more than the device can hold.
    #[error(
        "a replication's state or output has {bytes} bytes, and a buffer of this device holds {limit}; make the larger of the \
         two structs smaller, or use another adapter"
    )]
    TooLarge {
        /// Bytes of the larger of the two, as stored on the device.
        bytes: u64,
        /// The most bytes of a storage buffer.
        limit: u64,
    },
}

crate::text::debug_is_display!(ReplicationError);

impl ReplicationError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Gpu(error) => error.kind(),
            Self::Analysis(error) => error.kind(),
            Self::Contract { .. } | Self::Padding { .. } | Self::Size { .. } => ErrorKind::Model,
            Self::LoopsCut { .. } => ErrorKind::Fault,
            Self::Cut | Self::TooLarge { .. } => ErrorKind::Device,
            Self::Point { .. }
            | Self::NoTeam { .. }
            | Self::NoReference { .. }
            | Self::GroupSize { .. }
            | Self::Stopped => ErrorKind::Usage,
        }
    }
}
