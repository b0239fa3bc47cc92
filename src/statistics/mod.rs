//! What a sample says: designs, observations, intervals, comparisons, precision stops, series, reports and plots.
//!
//! It runs on the host and knows nothing of devices: [`replication`](crate::replication) fills its [`Observations`], and any other module or
//! program can. [`Observations::summary`] says what is summed in integers and what in `f64`.
//!
//! ```text
//!   Design: the parameter points
//!   Observations of a point: named columns, one value per replication, failures with their index
//!      |            |              |
//!   Summary:     compare:       Report: table, CSV, JSON;  plot (feature `plot`)
//!   mean,        differences    against theory
//!   interval     of points
//!      |
//!   Stopping: precise enough, or how many more?
//!
//!   batch_means, mser5: one long series instead of many replications
//! ```
//!
//! ```
//! use eventhorizon::statistics::{Column, Observations, Pairing, Values};
//!
//! let waits = Column { name: "wait".into(), values: Values::U32(vec![3, 5, 4, 8, 6, 4]) };
//! let observations = Observations::new(6, vec![waits], [], Pairing::Independent)?;
//! let wait = observations.summary("wait", 0.95)?;
//! assert_eq!(wait.mean, Some(5.0));
//! assert!(wait.interval.is_some_and(|interval| interval.contains(4.5)));
//! # Ok::<(), eventhorizon::statistics::AnalysisError>(())
//! ```

mod design;
mod error;
mod observations;
#[cfg(feature = "plot")]
pub mod plot;
mod report;
mod series;
mod stopping;
mod summary;
pub mod theory;

pub use design::{Design, Value};
pub use error::AnalysisError;
pub use observations::{Column, Failure, FailureCause, Observations, Pairing, Values};
pub(crate) use observations::{PARALLEL, each};
pub use report::{PointFailure, Report, Row};
pub use series::{BatchMeans, batch_means, mser5};
pub use stopping::{Budget, Decision, Precision, Stopping};
pub use summary::{Interval, Summary, compare, student_t};
