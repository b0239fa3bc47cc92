//! Entities on the host, handlers on the GPU, ranks over many machines: a conservative engine after
//! Simian (Chapuis, Eidenbenz, Santhi and Park, "Simian integrated framework for parallel discrete
//! event simulation on GPUs").
//!
//! It is for models with entities in Rust: states of any shape, files, maps, other libraries. Their
//! events pass heavy arithmetic to the GPU, many calls at once. A model with many small LPs is
//! faster in [`pdes`](crate::pdes), entirely on the GPU.
//!
//! # Entities and processes
//!
//! An [`Entity`] is a state and a function that receives messages; services are variants of its
//! message. A process ([`Context::spawn`]) is an async function of an entity that waits for times
//! and messages, and calls handlers ([`Process::call`]).
//!
//! Processes have names and kinds ([`ProcessLabel`]), by which their entity finds and ends them,
//! and children ([`Process::spawn`]): [`Context::kill`] ends a process with all processes below it.
//! [`Context::attach`] adds a service to an entity during a run.
//!
//! ```
//! use eventhorizon::hybrid::{Context, Digest, Entity, Options, Simulation};
//! use eventhorizon::time::Ticks;
//!
//! /// Entity 0 sends a ball now and then, the others pass it on.
//! #[derive(Default)]
//! struct Player {
//!     seen: u32,
//! }
//!
//! impl Entity for Player {
//!     type Message = u32; // who threw it
//!
//!     fn start(&mut self, context: &mut Context<Self>) {
//!         if context.name() != 0 {
//!             return;
//!         }
//!         context.spawn(async |process| {
//!             for _ in 0..10 {
//!                 process.wait(Ticks::new(100)).await;
//!                 process.with(|_, context| context.send(1, Ticks::new(context.now().get() + 10), 0));
//!                 // It comes back, or is lost.
//!                 let back = process.receive_within(Ticks::new(50), |_| true).await;
//!                 process.with(|player, _| player.seen += u32::from(back.is_some()));
//!             }
//!         });
//!     }
//!
//!     fn receive(&mut self, _from: u32, context: &mut Context<Self>) {
//!         if context.name() == 0 {
//!             return; // it came too late
//!         }
//!         self.seen += 1;
//!         let flight = 10 + u64::from(context.stream().below(30));
//!         let to = (context.name() + 1) % context.entities();
//!         context.send(to, Ticks::new(context.now().get() + flight), context.name());
//!     }
//!
//!     fn state(&self, digest: &mut Digest) {
//!         digest.put(&self.seen);
//!     }
//! }
//!
//! let lookahead = Ticks::new(10); // no ball flies faster
//! let mut simulation = Simulation::new(3, lookahead, |_| Player::default(), Options::default())?;
//! simulation.run(Ticks::new(5000))?;
//! assert_eq!(simulation.entity(1).map(|player| player.seen), Some(10));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Windows
//!
//! Windows follow the paper's Algorithms 1 and 2. The ranks agree on the earliest pending time *t*,
//! execute all events before *t* plus the lookahead, wait for the GPU's answers, and exchange
//! messages. Within a window entities are independent, so cores share them freely
//! ([`Options::threads`]).
//!
//! # One meaning
//!
//! A run has the same bits on any number of threads and ranks, with handlers on the GPU or not. An
//! entity executes its smallest event: ordered by time, then by the order of messages, then by the
//! numbers of processes ([`Entity`]). Its random streams are keyed by (seed, replica, entity,
//! number of the event at the entity). A handler's answer is part of the event that called it.
//!
//! [`Simulation::fingerprint`] sums over executed events, states and pending events. [`Lp`] runs
//! any model of [`pdes`](crate::pdes) here, to the same fingerprint as there.
//!
//! # Handlers
//!
//! [`Context::call`] passes work to a [`Handler`]. The calls of a window are merged (over all
//! entities that have reached a call) and answered together: on the device, or on all cores by a
//! reference implementation in Rust, whichever is faster ([`Placement::Auto`] measures).
//!
//! [`WgslHandler`] builds a handler from a WGSL function, batched (an invocation for each call) or
//! multithreaded (workgroups for each call). The input and the answer of a call are the structs
//! `Call` and `Answer` of the file, which are compared with the Rust types. Shared data stays on
//! the device between calls, and buffers are reused.
//!
//! Several devices share the calls of a window in proportion to their measured speed
//! ([`Handlers::new`]).
//!
//! With [`Overlap::Streams`], calls leave in groups while entities execute other events of the
//! window, as in the paper's Algorithm 2; the results stay the same. A stream is a thread that
//! uploads a group, runs its kernel and downloads the answers. The paper has a CUDA stream for each
//! block that fits the device; here all streams share the device's one queue, which executes their
//! kernels in the order in which they come.
//!
//! # Ranks
//!
//! [`Simulation::on`] is one rank of several: threads of a process ([`in_process`]), processes of
//! MPI (`MpiRank`, with the cargo feature `mpi`), or another [`Transport`]. A window takes an
//! all-reduce for its beginning, one for its faults, and an all-to-all for its messages.
//!
//! An error on one rank ends all ranks after the same window, or, if a received message cannot be
//! read, before the next one. A [`Fault`] is the same on all ranks; other errors reach the other
//! ranks as [`HybridError::Rank`]. A rank that ends in another way ends the others with
//! [`HybridError::Gone`], one that hangs with [`HybridError::Silent`].
//!
//! # Checkpoints
//!
//! A run of a `pdes` model is saved by all ranks together, and resumed by any number of ranks of
//! this engine, of [`GpuPart`] or of one device: [`Lp::resume`], [`GpuPart::resume`], and
//! `checkpoint` and `until(…).save(…)` of [`Simulation`] and [`GpuPart`]; see
//! `docs/checkpoints.md`. Other entities have no checkpoints, because the state of an async process
//! cannot be saved.
//!
//! # Many GPUs
//!
//! [`GpuPart`] is a simulation of [`pdes`](crate::pdes) split into ranges of LPs, each on its own
//! device, on the same ranks. `docs/devices.md` describes what each scale needs, and when it pays.
//!
//! # Panics
//!
//! If the program unwinds, panics in an entity's functions and processes are caught, and are faults
//! of the entity with the panic's message. Panics in a [`Handler`]'s code and in reference
//! implementations are [`HybridError::Handler`]. Others (in a message's `Ord`, in
//! [`Entity::state`]) propagate to the caller, and a simulation that was in a window cannot run any
//! more.

mod devices;
mod digest;
mod entity;
mod error;
mod handler;
mod lp;
#[cfg(feature = "mpi")]
mod mpi;
mod options;
mod part;
mod pending;
mod process;
mod saved;
mod simulation;
mod streams;
mod transport;
mod tree;

pub use devices::GpuPart;
pub use digest::Digest;
pub use entity::{Context, Entity, Message, ProcessId};
pub use error::{Fault, FaultKind, HybridError};
#[doc(hidden)]
pub use handler::kernels;
pub use handler::{Handle, Handler, HandlerUsage, Handlers, Placement, WgslHandler};
pub use lp::Lp;
#[cfg(feature = "mpi")]
pub use mpi::MpiRank;
pub use options::{EntityPlacement, Options, Overlap};
pub use process::Process;
pub use simulation::Simulation;
pub use transport::{LocalRank, Transport, in_process};
pub use tree::ProcessLabel;
