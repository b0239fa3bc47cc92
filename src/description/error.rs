//! What can go wrong with a description.

use crate::ErrorKind;
use crate::gpu::GpuError;
use crate::pdes::SimulationError;
use crate::replication::ReplicationError;
use crate::statistics::AnalysisError;

/// Why a description cannot be read, compiled or run. Each message begins with the file and line,
/// if there is one.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// A file that the system does not let us read.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// Something in a file, or a change of a parameter, is invalid.
    #[error("{0}")]
    Invalid(String),
    /// A run was stopped before it had a result.
    #[error("the run was stopped before it had a result")]
    Stopped,
    /// The model, or its run on a device.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A model of replications, or its run on a device.
    #[error(transparent)]
    Replication(#[from] ReplicationError),
    /// The analysis of the results.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

crate::text::debug_is_display!(DescriptionError);

impl DescriptionError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::File { .. } => ErrorKind::Io,
            Self::Invalid(_) => ErrorKind::Model,
            Self::Stopped => ErrorKind::Usage,
            Self::Simulation(error) => error.kind(),
            Self::Replication(error) => error.kind(),
            Self::Analysis(error) => error.kind(),
            Self::Gpu(error) => error.kind(),
        }
    }
}

/// Something invalid, in a sentence that begins with its place.
pub(super) fn invalid(what: impl Into<String>) -> DescriptionError {
    DescriptionError::Invalid(what.into())
}
