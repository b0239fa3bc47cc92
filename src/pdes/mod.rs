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
mod capacity;
pub(crate) mod checkpoint;
mod contract;
mod cpu;
mod cut;
mod error;
mod event_list;
mod fingerprint;
mod growth;
mod lift;
mod line;
mod memory;
mod model;
mod output;
mod plans;
mod recipes;
mod replica;
mod replicas;
mod results;
mod schema;
mod simulation;
mod sync;
mod totals;
mod windows;

pub use capacity::Capacity;
pub use checkpoint::{Autosave, Checkpoint, CheckpointError};
pub use cpu::CpuSimulation;
pub use error::{Fault, FaultKind, SimulationError};
pub use fingerprint::Fingerprint;
pub use line::Line;
pub use model::{Context, CpuModel, Event, Model, Payload};
pub use output::{Number, Outputs};
#[doc(hidden)]
pub use recipes::{kernels, output_kernels};
pub use replica::Replica;
pub use replicas::{CpuEngine, Engine, EngineOptions, Mapping, Ran, Results, UnknownMapping};
pub use schema::Schema;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use simulation::part;
pub use simulation::{Options, Simulation, Telling};
pub use sync::{Sync, UnknownSync};
pub use totals::{ClassTotals, MAX_CLASSES, Total, Totals};

use crate::time::Ticks;

/// The events that each of so many LPs executes in a window at the most, so that a dispatch does not run long: all of them together 2^26,
/// which take a tenth of a second where 700 million events per second are executed. It depends on the model alone, because windows
/// decide where a run ends that ends by a number of events. Up to half a million LPs it is 128, because llvmpipe ends the
/// loops of a long window. Windows of 2^28 LPs count their events in 32 bits.
fn budget(lps: u32) -> u32 {
    ((1 << 26) / lps.max(1)).clamp(8, 128)
}

/// The length of the cells that time is cut into, for a lookahead: where there is none, a tick.
fn cell(lookahead: Ticks) -> Ticks {
    lookahead.max(Ticks::new(1))
}

/// Events that are pending, each with the LP that holds it.
pub type Pending<P = [u32; 2]> = Vec<(u32, Event<P>)>;

/// Where a run ends: at whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// Events at this time and later are left pending.
    pub time: Ticks,
    /// The run ends after the first window in which so many events, counted from the start of the simulation, were
    /// executed.
    pub events: u64,
}

impl Until {
    /// Until no event is pending.
    pub const EMPTY: Self = Self { time: Ticks::NEVER, events: u64::MAX };

    /// Until `time`: exactly the events with smaller timestamps are executed.
    pub const fn time(time: Ticks) -> Self {
        Self { time, ..Self::EMPTY }
    }

    /// Until the first window that ends with at least `events` events executed.
    pub const fn events(events: u64) -> Self {
        Self { events, ..Self::EMPTY }
    }

    /// Whether a run is at its end when the first pending event is at `now` and `events` were executed.
    fn reached(self, now: Ticks, events: u64) -> Option<Stop> {
        if now == Ticks::NEVER {
            Some(Stop::Empty)
        } else if now >= self.time {
            Some(Stop::Time)
        } else if events >= self.events {
            Some(Stop::Events)
        } else {
            None
        }
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// At the end of a run, the time of the first pending event, or [`Ticks::NEVER`] where none is pending. While it
    /// runs, the start of the last window.
    pub now: Ticks,
    /// Events executed since the simulation began. While it runs, those of the last window may be missing.
    pub events: u64,
    /// Windows since the simulation began. They depend on where runs were cut, and on how far windows go ([`Sync`]); all else does not. With [`Sync::Neighbours`]
    /// they also depend on which LPs share a workgroup or a binding: how far bounds have come does.
    pub windows: u64,
    /// Why the run ended; `None` while it goes on.
    pub stop: Option<Stop>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// The time of [`Until::time`] was reached.
    Time,
    /// The number of events of [`Until::events`] was reached.
    Events,
    /// No event is pending.
    Empty,
    /// The watcher stopped it, after some window. It can be read, and a later run goes on from there.
    Watcher,
}

/// The guide's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-pdes.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../../docs/checkpoints.md")]
struct Checkpoints;
