//! Conservative parallel discrete-event simulation: logical processes, windows, mailboxes, and the sequential engine
//! that says what a simulation means.
//!
//! The synchronisation is YAWNS (Baudis et al., section IV.A). With t the smallest pending timestamp and L the
//! lookahead, no event of another LP can appear any more before t + L, the *event horizon*: every LP executes its events before
//! it, at once and in order, and what it schedules for itself among them.
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
//! That is [`Sync::Yawns`]. Where delays are far longer than the lookahead, or there is none, the engine finds a wider horizon itself
//! ([`Sync::Horizon`]), or one for each LP ([`Sync::Neighbours`]); results are the same. `docs/synchronisation.md` says how they work and when each wins.
//!
//! # Results
//!
//! A model with an [`Output`](Model::Output) says in its `fn output` what each LP has to tell at a time. [`Simulation::outputs`] gives
//! it LP by LP, as rows and as named columns ([`Outputs`]); [`Simulation::totals`] sums, and finds the smallest and the largest, on the
//! device, over all LPs or over classes of them ([`Totals`]). Both engines give the same. Ratios are the user's:
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

mod auto;
mod bounds;
mod capacity;
pub(crate) mod checkpoint;
mod checkpoint_error;
mod contract;
mod control;
mod cpu;
mod cut;
mod declared;
mod dispatch;
mod error;
mod event;
mod event_list;
mod fingerprint;
mod fits;
mod growth;
mod kernels;
mod lift;
mod line;
mod memory;
mod model;
mod options;
mod output;
mod plans;
mod recipes;
mod replica;
mod replicas;
mod results;
mod schema;
mod simulation;
mod strategy;
mod sync;
mod totals;
mod until;
mod windows;

pub use capacity::Capacity;
pub use checkpoint::{Autosave, Checkpoint, CheckpointError};
pub use cpu::CpuSimulation;
pub use error::{Fault, FaultKind, SimulationError};
pub use event::{Event, Payload};
pub use fingerprint::Fingerprint;
#[doc(hidden)]
pub use kernels::{kernels, output_kernels};
pub use line::Line;
pub use model::{Context, CpuModel, Model};
pub use options::Options;
pub use output::{Number, Outputs};
pub use replica::Replica;
pub use replicas::{CpuEngine, Engine, EngineOptions, Mapping, Ran, Results, UnknownMapping};
pub use schema::Schema;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use simulation::part;
pub use simulation::{Simulation, Telling};
pub use sync::{Sync, UnknownSync};
pub use totals::{ClassTotals, MAX_CLASSES, Total, Totals};
pub use until::{Pending, Progress, Stop, Until};

/// The guide's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-pdes.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/checkpoints.md")]
struct Checkpoints;
