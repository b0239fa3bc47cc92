//! Discrete-event simulation on any GPU, through [wgpu] and WGSL: Vulkan, Metal, DX12 and the
//! browser's WebGPU, on its own or inside a wgpu application.
//!
//! # Where to start
//!
//! | you have | you use |
//! | --- | --- |
//! | a model of many logical processes that send each other events | [`pdes`]: write a [`pdes::Model`], run a [`pdes::Simulation`] |
//! | a queueing network | [`facility`]: describe it in Rust, TOML or JSON, run it |
//! | entities that take several things at once, wait and decide: patients, parts, ships | [`process`]: describe it in TOML, JSON or Rust, run it |
//! | a TOML and a WGSL file, and no Rust | [`description`] |
//! | entities in Rust, on many cores or machines, with work for the GPU now and then | [`hybrid`]: write a [`hybrid::Entity`], run a [`hybrid::Simulation`] |
//! | a stochastic model to replicate many times | [`replication`] |
//! | observations to turn into intervals, comparisons or reports | [`statistics`] |
//! | regions to test for overlap | [`matching`] |
//! | many pairs of map cells or graph vertices that need shortest paths or distances | [`search`] |
//! | arrays to reduce, scan, sort or compact on the GPU | [`primitives`] |
//! | items in a priority queue on the GPU that takes and inserts many at a time | [`queue::ParallelHeap`] |
//! | an adapter, and doubts about its driver | [`self_test()`] |
//! | an application with a wgpu device of its own | [`gpu::Gpu::from_device`], then any of the above |
//!
//! The [guides](crate::guide) lead from an empty file to results and explain the methods.
//!
//! # A first run
//!
//! PHOLD ships with the library. The sequential engine defines the result of a simulation; the GPU
//! computes the same bits.
//!
//! ```
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::models::Phold;
//! use eventhorizon::pdes::{CpuSimulation, Options, Simulation, Until};
//! use eventhorizon::time::Resolution;
//!
//! let seconds = Resolution::default();
//! let model = Phold::new(200, 4, 0.1, 10.0, seconds)?; // LPs, events per LP, rate, lookahead
//! let end = Until::time(seconds.ticks(100.0)?);
//!
//! let gpu = Gpu::new()?;
//! let mut simulation = Simulation::new(&gpu, &model, Options::default().seed(42))?;
//! let progress = simulation.run(end)?;
//!
//! let mut on_cpu = CpuSimulation::new(&model, Options::default().seed(42))?;
//! assert_eq!(progress.events, on_cpu.run(end)?.events);
//! assert_eq!(simulation.fingerprint()?, on_cpu.fingerprint());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Promises
//!
//! * Results depend on the model, its parameters and the seed. They never depend on the adapter,
//!   the queue design, the workgroup size or the order of threads. Times ([`time`]), draws and
//!   distributions ([`random`]) and the sums and counts of models are therefore integers. A model
//!   that uses `f32` is reproducible per device only. The host derives means, columns and intervals
//!   in `f64`; [`replication`] lists which of them are exact.
//! * Kernels check every capacity. The first failure is returned as a typed error with its
//!   location; work submitted after it has no effect.
//! * No kernel needs an optional feature. On adapters with subgroups or 64-bit integers, faster
//!   kernels compute the same bits.
//! * Every blocking call that waits for a device has a form `…_async` beside it for browsers, where
//!   nothing may block. Nothing else has such a suffix: runs are described (`until`, `experiment`)
//!   and then started.
//! * A device that an application lends stays the application's: the library sets no callback on it
//!   and uses only the features and limits that it has.

// docs.rs labels items that need a feature.
#![cfg_attr(docsrs, feature(doc_cfg))]
// A truncated or wrapped index or count makes a simulation wrong.
#![warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
// A panic is a bug in the library, and its message names the broken assumption.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
// A library reports errors to its caller; it does not print.
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod shared;

mod backend;
mod columns;
pub mod description;
mod error;
pub mod facility;
pub mod gpu;
// The pages of docs/; their code is compiled.
#[cfg(any(doc, doctest))]
pub mod guide;
// Browsers have no threads and cannot wait for the device.
#[cfg(not(target_arch = "wasm32"))]
pub mod hybrid;
pub mod matching;
pub mod models;
mod native;
// Browsers have no blocking runs.
#[cfg(not(target_arch = "wasm32"))]
pub mod optimise;
pub mod pdes;
pub mod primitives;
pub mod process;
pub mod queue;
pub mod random;
pub mod replication;
pub mod search;
pub mod self_test;
mod shaders;
pub mod statistics;
mod text;
#[doc(hidden)]
pub use text::suggested;
pub mod time;

pub use backend::{Backend, OnDemand, OwnedBackend};
#[doc(hidden)]
pub use backend::{OneRun, kept_costs};
pub use error::ErrorKind;
#[doc(hidden)]
#[cfg(not(target_arch = "wasm32"))]
pub use gpu::has_abandoned_threads;

/// The versions that this crate's public interface uses.
pub use {bytemuck, glam, indexmap, wgpu};

#[doc(inline)]
#[cfg(not(target_arch = "wasm32"))]
pub use self_test::self_test;
pub use self_test::{SelfTest, self_test_async};
