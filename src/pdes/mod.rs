//! Conservative parallel discrete-event simulation: logical processes, windows, mailboxes, and the
//! sequential engine that says what a simulation means.
//!
//! The synchronisation is YAWNS (Baudis et al., section IV.A). With t the smallest pending
//! timestamp and L the lookahead, no event of another LP can appear any more before t + L, the
//! *event horizon*: every LP executes its events before it, at once and in order, and what it
//! schedules for itself among them.
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
//! That is [`Sync::Yawns`]. Where delays are far longer than the lookahead, or there is none, the
//! engine finds a wider horizon itself ([`Sync::Horizon`]), or one for each LP
//! ([`Sync::Neighbours`]); results are the same. `docs/synchronisation.md` says how they work and
//! when each wins.
//!
//! # Results
//!
//! A model with an [`Output`](Model::Output) says in its `fn output` what each LP has to tell at a
//! time. [`Simulation::outputs`] gives it LP by LP, as rows and as named columns ([`Outputs`]);
//! [`Simulation::totals`] sums, and finds the smallest and the largest, on the device, over all LPs
//! or over classes of them ([`Totals`]). Both engines give the same. Ratios are the user's:
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
pub(crate) use contract::error_kind::device_kind;
pub use contract::event::{Event, Payload};
pub use contract::fingerprint::Fingerprint;
pub use contract::line::Line;
pub use contract::model::{Context, CpuModel, Model};
pub use contract::output::{Number, Outputs};
pub use contract::replica::Replica;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use contract::simulation_run::RunUntil;
pub use contract::simulation_run::SimulationRun;
pub use contract::sync::{Sync, UnknownSync};
pub use contract::totals::{ClassTotals, MAX_CLASSES, Total, Totals};
pub use contract::until::{Pending, Progress, Stop, Until};
pub use device::schema::Schema;
#[doc(hidden)]
pub use run::kernels::{kernels, output_kernels};
pub use run::options::Options;
pub use run::replicas::{
    CpuEngine, Engine, EngineOptions, ExperimentRun, Mapping, Results, RunResult, SequentialRun,
    UnknownMapping,
};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use run::simulation::part;
pub use run::simulation::{PendingProgress, Simulation};
pub use sequential::engine::CpuSimulation;

/// The guide's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-pdes.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/checkpoints.md")]
struct Checkpoints;
