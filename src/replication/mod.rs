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
//! What the replications say is a matter of [`statistics`](crate::statistics); the parts of it that
//! experiments are made of can be named from here too.
//!
//! Long replications are cut into time slices that resume, and each [`Mapping`] of replications to
//! invocations gives the same bits. `docs/guide-replication.md` builds a model from an empty file.
//!
//! # What is exact
//! * **Integers, on the device and in the Rust twins**: time, draws, and whatever a model counts
//!   and sums in fields `u32`, `i32` and `vec2<u32>`. Outputs and the fingerprint made of them are
//!   the same bits everywhere.
//! * **Integers on the host**: the sums of such columns and of their squares over the replications
//!   ([`Observations::summary`]); the order of the replications shows in no digit. A mean or a
//!   variance is rounded to `f64` when it is made from these sums.
//! * **`f64` on the host**: columns that [`Model::derive`] adds (M/M/1's `time_in_queue`, say),
//!   their sums, which follow the order of the replications, and all intervals, quantiles of
//!   derived columns, stopping decisions and formulas. Additions to divisions and square roots are
//!   the same on every host; the quantiles of Student's t and the formulas also use logarithms and
//!   powers, whose last bits the platform's mathematical library decides.
//! * **`f32` on the device**, where a model uses it: the same bits per device only.
//!
//! # Which mapping is fast where
//! Measured on an NVIDIA H200 (Vulkan, driver 580.159.04): time on the device of kernels without
//! run-time checks ([`Engine::trusted`]), many runs in one submission. `cargo run --release -p
//! eventhorizon-bench -- replication` measures the present adapter.
//!
//! M/M/1 at rates 0.8 and 1.0 with 10,000 clients, in 1e9 clients per second:
//!
//! | replications | 64 | 1,024 | 32,768 | 1,048,576 |
//! |---|---|---|---|---|
//! | thread, best workgroup | 0.93 (128) | 14.7 (64) | 313 (64) | 360 (128) |
//! | cooperative, best workgroup | 13.3 (256) | 81.4 (128) | 117 (128) | 120 (128) |
//! | warp, best workgroup | 0.93 (32) | 9.9 (128) | 11.1 (128) | 11.5 (128) |
//! | all of [`Engine::run`], results on the host | 7.6 | 45.8 | 154 | 271 |
//!
//! * 64 replications are bound by latency: 64 workgroups leave half of the 132 cores idle, and the
//!   rounds of the prefix scan follow one another. One invocation each would be worse, as each
//!   serves its 10,000 clients one after the other.
//! * 1,024 cooperative workgroups fill the cores; the scan then costs work that one invocation per
//!   replication does not have. That is why the cooperative mapping ends at 120.
//! * From 32,768 on, one invocation each hides the latency, and integer instructions are the bound:
//!   of memory a replication touches its result and, between slices, some tens of bytes. Philox's
//!   products are a large part of them: without 64-bit integers 1,048,576 replications reach 141
//!   (with workgroups of 64, which reach 344 otherwise), and the same bits. Run-time checks cost 2
//!   % there, and 1 % at 32,768.
//! * Variates come from a table of chords in workgroup memory
//!   ([`exponential_tabled`](crate::random::exponential_tabled)): with the polynomial of
//!   [`exponential_short`](crate::random::exponential_short), and two clients a step instead of
//!   eight, it were 128.
//! * A small run is one submission and one wait in the memory of the run before. Of 524,288
//!   replications and more that are over soon, the host takes in the results of one part of 262,144
//!   while the device makes the next.
//!
//! The paper finds one subgroup per replication up to six times faster than one invocation each
//! between 20 and 700 replications of the random walk. Speed-up of [`Mapping::Warp`] over
//! [`Mapping::Thread`] on the H200, each with its best workgroup:
//!
//! | replications | 20 | 64 | 100 | 200 | 400 | 700 | 1,000 | 4,000 | 20,000 |
//! |---|---|---|---|---|---|---|---|---|---|
//! | random walk, 1,000 steps | 3.6 | 4.1 | 4.0 | 4.0 | 4.0 | 3.7 | 3.7 | 2.0 | 0.55 |
//! | workshop, 1,000 jobs, many branches | 9.8 | 11.8 | 11.9 | 11.9 | 11.9 | 9.3 | 9.3 | 3.5 | 0.97 |
//!
//! So the claim holds today where replications are few and branch differently: a subgroup with one
//! active invocation never diverges, while invocations that share a subgroup wait in every branch
//! that another one takes. It ends where the subgroups fill the device, since 31 of 32 invocations
//! stay idle. M/M/1, which hardly branches, gains nothing from 1,024 replications on. On llvmpipe,
//! a Vulkan driver for processors, it does not hold at all: 0.37 to 0.55 for the walk.
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

mod batch;
mod cpu;
mod engine;
mod error;
mod mapping;
mod mapping_choice;
mod model;
mod options;
mod results;
mod run;
mod schema;
mod speed_check;
mod structs;
mod trial;
mod work;

pub use batch::Batch;
pub use cpu::CpuEngine;
pub use engine::{Engine, MAX_STEPS};
pub use error::ReplicationError;
pub use mapping::Shape;
#[doc(hidden)]
pub use mapping::kernels;
pub use mapping_choice::{ChoiceReason, Mapping, MappingChoice};
pub use model::{Fail, Model, ReferenceModel};
pub use options::Options;
pub use results::Results;
pub use run::{ExperimentRun, SequentialRun};
pub use schema::Schema;
pub use structs::{columns, pack};

// What experiments and their results are made of.
pub use crate::statistics::{
    AnalysisError, Budget, Decision, Design, Experiment, Failure, FailureCause, Observations, Pairing,
    Precision, Selected, Selection, Sequential, Stopping, StreamKey, Summary,
};

/// The guide's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-replication.md")]
struct Guide;
