//! Conservative parallel discrete-event simulation: logical processes (LPs), windows, mailboxes,
//! and the sequential engine that defines the results.
//!
//! Conservative: no executed event is ever undone because of another. Speculative execution works
//! on copies and only finds how far a window may go. A run goes back to a snapshot only to get
//! larger queues, or to serve one LP per invocation if a driver cuts its loops.
//!
//! Windows follow YAWNS (Baudis et al., section IV.A). Let t be the smallest pending timestamp and
//! L the lookahead: no event of another LP can appear before t + L. Every LP therefore executes its
//! events before t + L at once and in order, including the events it schedules for itself.
//!
//! ```text
//!            window w                          window w + 1
//!   LP 0   ──●──●─────────────│──────────────────●───────│──
//!   LP 1   ─────●─────────────│─────────●────────────────│──
//!   LP 2   ───────────●───────│──────────────●──●────────│──
//!            t              t + L       t'             t' + L
//!             what these send goes to mailboxes,
//!             which window w + 1 empties first
//! ```
//!
//! This is [`Sync::Yawns`]. If delays are far longer than the lookahead, or there is no lookahead,
//! the engine finds a wider window itself ([`Sync::Horizon`]), or a bound for each LP
//! ([`Sync::Neighbours`]). Results are the same. The [guide](crate::guide::synchronisation)
//! explains how they work and when each is fastest.
//!
//! # Results
//!
//! A model with an [`Output`](Model::Output) computes the results of each LP at a time in its `fn
//! output`. [`Simulation::outputs`] returns them LP by LP, as rows and as named columns
//! ([`Outputs`]). [`Simulation::totals`] computes sums, minima and maxima on the device, over all
//! LPs or over classes of LPs ([`Totals`]). Both engines return the same values. Compute ratios
//! from them:
//!
//! ```no_run
//! # fn example<M: eventhorizon::pdes::Model>(simulation: &eventhorizon::pdes::Simulation<M>) -> Result<(), Box<dyn std::error::Error>> {
//! # use eventhorizon::time::Ticks;
//! let totals = simulation.totals(Ticks::new(1_000_000), Some("kind"))?;
//! println!("{totals}");
//! let served = totals.column("served")?.sum()?.to_f64();
//! let lost = totals.column("lost")?.sum()?.to_f64();
//! println!("lost: {}", lost / (served + lost));
//! for class in totals.classes() {
//!     let wait = class.tally("wait").ok_or("no tally")?; // the library's `Tally`, of all LPs of the class
//!     println!("{:?}: mean wait {:?}", class.class(), wait.mean());
//! }
//! # Ok(())
//! # }
//! ```

pub(crate) mod checkpoint;
mod contract;
mod device;
mod run;
mod sequential;

pub use checkpoint::{Autosave, Checkpoint, CheckpointError, SavedRun};
pub use contract::capacity::Capacity;
pub use contract::error::{Fault, FaultKind, SimulationError};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use contract::event::LpEvent;
pub use contract::event::{Event, Payload};
pub use contract::fingerprint::Fingerprint;
pub use contract::line::Line;
pub use contract::mapping::Mapping;
pub use contract::model::{Context, CpuModel, Model};
pub use contract::options::Options;
pub use contract::output::{Number, Outputs};
pub use contract::replica::Replica;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use contract::simulation_run::RunUntil;
pub use contract::simulation_run::SimulationRun;
pub use contract::sync::Sync;
#[doc(hidden)]
pub use contract::totals::MAX_CLASSES;
pub use contract::totals::{ClassTotals, Total, Totals};
pub use contract::until::{Pending, Progress, Stop, Until};
pub(crate) use device::schema::Schema;
#[doc(hidden)]
pub use run::kernels::{handler_kernels, kernels, output_kernels};
#[cfg(not(target_arch = "wasm32"))]
pub use run::replicas::AnyEngine;
pub(crate) use run::replicas::{CORES, Reports, WatchRuns, fingerprint_row, on_cores};
pub use run::replicas::{CpuEngine, Engine, EngineOptions, ExperimentRun, Results, RunResult, SequentialRun};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use run::simulation::part;
pub use run::simulation::{PendingProgress, Simulation};
pub use sequential::engine::CpuSimulation;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use sequential::functions::{Call, Functions, MakeFunctions, RunConstants};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use sequential::native::functions as functions_of;
#[doc(hidden)]
pub use sequential::native::native_sources;
