//! Errors of the library as exceptions of the package: one class for each [`ErrorKind`].

use eventhorizon::ErrorKind;
use eventhorizon::description::DescriptionError;
use eventhorizon::facility::FacilityError;
use eventhorizon::gpu::GpuError;
use eventhorizon::matching::MatchingError;
use eventhorizon::models::PholdError;
use eventhorizon::optimise::OptimiseError;
use eventhorizon::pdes::{CheckpointError, SimulationError};
use eventhorizon::process::ProcessError;
use eventhorizon::search::SearchError;
use eventhorizon::statistics::AnalysisError;
use eventhorizon::time::TimeError;
use pyo3::prelude::*;

use crate::device;

/// An error of the library: its kind and its sentences.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: ErrorKind,
    message: String,
}

impl Failure {
    /// A call that is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Usage, message: message.into() }
    }
}

macro_rules! failures {
    ($($error:ident),* $(,)?) => { $(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self { kind: error.kind(), message: error.to_string() }
            }
        }
    )* };
}

failures!(
    AnalysisError,
    CheckpointError,
    DescriptionError,
    FacilityError,
    GpuError,
    MatchingError,
    OptimiseError,
    PholdError,
    ProcessError,
    SearchError,
    SimulationError,
    TimeError,
);

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(Failure { kind, message }: Failure) -> Self {
        let name = match kind {
            ErrorKind::Usage => "UsageError",
            ErrorKind::Model => "ModelError",
            ErrorKind::Fault => "FaultError",
            ErrorKind::Io => "FileError",
            // Kinds to come are about the machine.
            _ => "DeviceError",
        };
        if kind == ErrorKind::Device {
            device::forget();
        }
        Python::attach(|py| exception(py, name, &message).map_or_else(|error| error, PyErr::from_value))
    }
}

/// An exception of the package.
fn exception<'py>(py: Python<'py>, class: &str, message: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("eventhorizon._errors")?.getattr(class)?.call1((message,))
}

/// Results of the library as results of Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Into<Failure>> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| error.into().into())
    }
}
