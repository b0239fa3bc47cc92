//! Replications in parallel, with their statistics.

mod analysis_error;
mod batch;
mod cpu;
mod design;
mod engine;
mod error;
mod experiment;
mod mapping;
mod model;
mod observations;
#[cfg(feature = "plot")]
pub mod plot;
mod report;
mod results;
mod schema;
mod sequential;
mod series;
mod statistics;
mod stopping;
pub mod theory;

pub use analysis_error::AnalysisError;
pub use batch::Batch;
pub use cpu::CpuEngine;
pub use design::{Design, Value};
pub use engine::{Engine, MAX_STEPS};
pub use error::ReplicationError;
pub use experiment::{Experiment, StreamKey};
pub use mapping::{Mapping, Shape};
pub use model::{Fail, Model, Twin};
pub use observations::{Column, Failure, FailureCause, Observations, Pairing, Values};
pub use report::{PointFailure, Report, Row};
pub use results::Results;
pub use schema::Schema;
pub use sequential::Sequential;
pub use series::{BatchMeans, batch_means, mser5};
pub use statistics::{Interval, Summary, compare, student_t};
pub use stopping::{Budget, Decision, Precision, Stopping};
