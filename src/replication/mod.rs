//! Replications in parallel, with their statistics.
//!
//! A stochastic model is run many times with different random numbers, and its result is a mean
//! with a confidence interval. The replications are independent, so a GPU runs thousands of them at
//! once: Passerat-Palmbach, Caux, Siregar, Mazel, Hill, "Warp-Level Parallelism: Enabling Multiple
//! Replications in Parallel on GPU" (ESM 2011).
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
//! [`statistics`](crate::statistics) evaluates the replications; its types for experiments are
//! re-exported here.
//!
//! Long replications are divided into time slices that resume, and each [`Mapping`] of replications
//! to invocations gives the same bits. The [guide](crate::guide::replication) builds a model from
//! an empty file.
//!
//! # What is exact
//! * **Integers, on the device and on the CPU**: time, draws, and everything that a model counts
//!   and sums in fields `u32`, `i32` and `vec2<u32>`. Outputs and their fingerprint are the same
//!   bits everywhere.
//! * **Integers on the host**: the sums of such columns and of their squares over the replications
//!   ([`Observations::summary`]), which do not depend on the order of the replications. A mean or a
//!   variance is rounded to `f64` when it is computed from these sums.
//! * **`f64` on the host**: columns that [`Model::derive`] adds (such as M/M/1's `time_in_queue`),
//!   their sums in the order of the replications, all intervals, quantiles of derived columns,
//!   stopping decisions and formulas. Arithmetic and square roots are the same on every host;
//!   quantiles of Student's t and formulas also use logarithms and powers, whose last bits depend
//!   on the platform's mathematical library.
//! * **`f32` on the device**, if a model uses it: the same bits only on the same device.
//!
//! # Which mapping to use
//! [`Mapping::Auto`] measures the mappings. `cargo run --release -p eventhorizon-bench --
//! replication` prints their speeds on the present adapter.
//!
//! | mapping | use |
//! | --- | --- |
//! | [`Mapping::Thread`] | tens of thousands of replications or more, which fill the device with one invocation each; its speed is limited by integer arithmetic |
//! | [`Mapping::Team`] | few replications: one invocation each leaves most of the device idle. Cooperation costs additional work (in M/M/1, a parallel scan), so it is slower than `Thread` once replications fill the device |
//! | [`Mapping::Warp`] | up to some thousand replications that branch differently |
//!
//! The paper finds one subgroup per replication up to six times faster than one invocation each
//! between 20 and 700 replications of the random walk. A subgroup with one active invocation never
//! diverges, while invocations that share a subgroup wait in every branch that another one takes.
//! The advantage ends when the subgroups fill the device, since 31 of 32 invocations stay idle.
//! Models that hardly branch, such as M/M/1, and software adapters such as llvmpipe gain nothing.
//!
//! ```no_run
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::models::Mm1;
//! use eventhorizon::replication::{Design, Engine, Experiment, Options};
//!
//! let model = Mm1::default();
//! let mut engine = Engine::new(&Gpu::new()?, model, Options::default())?;
//! let params = model.params(0.8, 1.0, 10_000)?;
//! let results = engine.run(&params, &Experiment::new(Design::default(), 1024, 1))?;
//! let wait = results.observations[0].summary("time_in_queue", 0.95)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(target_arch = "wasm32"))]
mod any;
mod batch;
mod cpu;
mod engine;
mod error;
mod jobs;
mod mapping;
mod mapping_choice;
mod model;
mod native;
mod options;
mod reference;
mod results;
mod run;
mod schema;
mod speed_check;
mod structs;
mod trial;
mod work;

#[cfg(not(target_arch = "wasm32"))]
pub use any::AnyEngine;
pub use batch::Batch;
pub use cpu::CpuEngine;
pub use engine::Engine;
pub use error::ReplicationError;
pub(crate) use mapping::Shape;
#[doc(hidden)]
pub use mapping::kernels;
pub use mapping_choice::{ChoiceReason, Mapping, MappingChoice};
pub use model::{Fail, Model, ReferenceModel};
pub use options::{MAX_STEPS, Options};
pub use results::Results;
pub use run::{ExperimentRun, SequentialRun};
pub(crate) use schema::Schema;
#[doc(hidden)]
pub use structs::{columns, pack};

// Types for experiments and their results.
pub use crate::statistics::{
    AnalysisError, Budget, Decision, Design, Experiment, Failure, FailureCause, Observations, Pairing,
    Precision, Selected, Selection, Sequential, Stopping, StreamKey, Summary,
};
