//! Errors of searches.

use crate::ErrorKind;
use crate::facility::FacilityError;
use crate::process::ProcessError;
use crate::statistics::AnalysisError;

/// An error of the `optimise` module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptimiseError {
    /// An expression, a range or a setting that is invalid.
    #[error("{what}")]
    Invalid {
        /// What is wrong, and what to do.
        what: String,
    },
    /// An error of the network, or of its runs.
    #[error(transparent)]
    Network(#[from] FacilityError),
    /// An error of the process model, or of its runs.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// An error of the search.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The watch ended the search before its first replications.
    #[error("stopped before the search had a result")]
    Stopped,
}

impl OptimiseError {
    pub(super) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid { .. } => ErrorKind::Usage,
            Self::Network(error) => error.kind(),
            Self::Process(error) => error.kind(),
            Self::Analysis(error) => error.kind(),
            Self::Stopped => ErrorKind::Fault,
        }
    }
}
