//! Replications in parallel, with their statistics.
//!
//! A stochastic model is run many times with different random numbers, and its result is a mean with a confidence interval. The
//! replications are independent, so a GPU runs thousands of them at once: Passerat-Palmbach, Caux, Siregar, Mazel, Hill, "Warp-Level
//! Parallelism: Enabling Multiple Replications in Parallel on GPU" (ESM 2011).
//!
//! ```text
//!   Model (WGSL + plain data)      Experiment (Design x replications, seed)
//!                    \             /
//!                 Engine::run, or CpuEngine::run        same bits
//!                           |
//!     Observations per point: named columns, failures with their index
//!                           |
//!     Summary: mean, interval;  Stopping: enough?  Report: table, CSV, JSON
//! ```
//!
//! Long replications are cut into time slices that resume, and each [`Mapping`] of replications to invocations gives the same bits.
//! `docs/guide-replication.md` builds a model from an empty file.
//!
//! ```no_run
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::models::Mm1;
//! use eventhorizon::replication::{Design, Engine, Experiment};
//!
//! let model = Mm1::default();
//! let mut engine = Engine::new(&Gpu::new()?, model)?;
//! let params = model.params(0.8, 1.0, 10_000)?;
//! let results = engine.run(&params, &Experiment::new(Design::default(), 1024, 1))?;
//! let wait = results.observations[0].summary("time_in_queue", 0.95)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
#[doc(hidden)]
pub use mapping::kernels;
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

/// The guide's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-replication.md")]
struct Guide;
