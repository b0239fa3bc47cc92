//! Replications in parallel, with their statistics.

mod analysis_error;
mod design;
mod experiment;
mod observations;
#[cfg(feature = "plot")]
pub mod plot;
mod report;
mod series;
mod statistics;
mod stopping;
pub mod theory;

pub use analysis_error::AnalysisError;
pub use design::{Design, Value};
pub use experiment::{Experiment, StreamKey};
pub use observations::{Column, Failure, FailureCause, Observations, Pairing, Values};
pub use report::{PointFailure, Report, Row};
pub use series::{BatchMeans, batch_means, mser5};
pub use statistics::{Interval, Summary, compare, student_t};
pub use stopping::{Budget, Decision, Precision, Stopping};
