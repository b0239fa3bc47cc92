//! Entities on the host, handlers on the GPU, ranks over many machines: a conservative engine after
//! Simian (Chapuis, Eidenbenz, Santhi and Park, "Simian integrated framework for parallel discrete
//! event simulation on GPUs").
//!
//! It is for models whose entities are Rust: with states of any shape, files, maps, code of others.
//! What of them is heavy arithmetic, their events hand to the GPU, many calls at once. A model
//! whose LPs are small and many is faster in [`pdes`](crate::pdes), all of it on the GPU.
//!
//! # Entities and processes
//!
//! An [`Entity`] is a state, and a function for the messages that it is sent; services are variants
//! of its message. A process ([`Context::spawn`]) is an async function of an entity that waits for
//! times and messages.
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
//! Those of the paper's Algorithms 1 and 2: the earliest pending time *t* of all ranks is known,
//! all events before *t* plus the lookahead are executed, the GPU's answers are waited for,
//! messages change hands. Within a window each entity executes its own events alone, so cores share
//! them as they like ([`Options::threads`]).
//!
//! # One meaning
//!
//! A run has the same bits on any number of threads and ranks, with handlers on the GPU or not. An
//! entity executes its smallest event: by time, then by the order of messages, then by the numbers
//! of processes ([`Entity`]); its random streams are keyed by (seed, replica, entity, number of the
//! event at the entity); a handler's answer is part of the event that asked for it.
//! [`Simulation::fingerprint`] sums up what was executed, the states, and what is pending. [`Lp`]
//! runs any model of [`pdes`](crate::pdes) here, to the fingerprint that it has there.
//!
//! # Handlers
//!
//! [`Context::call`] hands work to a [`Handler`]. The calls of a window are merged (those of all
//! entities that got as far as a call), and answered together: on the device, or on all cores by a
//! Rust twin, whichever takes less time ([`Placement::Auto`] measures). [`WgslHandler`] makes a
//! handler of a WGSL function, batched (an invocation for each call) or multithreaded (workgroups
//! for each call); what a call is given and what it answers are the structs `Call` and `Answer` of
//! the file, which are compared with the Rust types. Shared data stays on the device between calls,
//! and buffers serve again. Several devices share the calls of a window, each as many as it was
//! found to be fast ([`Handlers::new`]). While devices work this rank's entities wait: cores and
//! devices do not overlap yet.
//!
//! # Ranks
//!
//! [`Simulation::on`] is one rank of several: threads of a process ([`in_process`]), processes of
//! MPI (`MpiRank`, with the cargo feature `mpi`), or whatever implements [`Transport`]. A window
//! takes an all-reduce for its beginning, one for its faults, and an all-to-all for its messages.
//! An error of one rank, of whatever kind, is one of all after the same window, or, of messages
//! that cannot be read where they arrive, before the next: a [`Fault`] is the same everywhere, of
//! any other error the rest hear as [`HybridError::Rank`]. A rank that ends in another way ends the
//! others by [`HybridError::Gone`], one that hangs by [`HybridError::Silent`].
//!
//! # Checkpoints
//!
//! A run of a `pdes` model is saved by all ranks together and gone on with by any number of ranks,
//! of this engine, of [`GpuPart`] or of one device: [`Lp::resume`], [`GpuPart::resume`], and
//! `checkpoint` and `until(…).save(…)` of [`Simulation`] and [`GpuPart`]; `docs/checkpoints.md`. Other
//! entities have none: what a process has come to cannot be written down.
//!
//! # Many GPUs
//!
//! [`GpuPart`] is a simulation of [`pdes`](crate::pdes) cut into ranges of LPs, each on a device of
//! its own, on the same ranks. `docs/devices.md` says what each scale needs, and when it pays.
//!
//! # Speed
//!
//! PHOLD with 32,768 LPs, 16 events each, rate 0.1 and lookahead 10 ([`Lp`], `eventhorizon
//! phold-ranks`), on the host of an NVIDIA H200 with 16 cores, in 10⁶ events per second: 3.8 with
//! one thread, 7.3 with two, 14 with four, 25 with eight; two ranks of one thread each in one
//! process 8.2.
//!
//! # Panics
//!
//! Where the program unwinds, panics of an entity's functions and processes are caught and are
//! faults of the entity, with the panic's words; those of a [`Handler`]'s code and of twins are
//! [`HybridError::Handler`]. Others (of a message's `Ord`, of [`Entity::state`]) go on in the
//! caller, and a simulation that was in a window cannot run any more.

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
mod transport;

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
pub use options::{EntityPlacement, Options};
pub use process::Process;
pub use simulation::Simulation;
pub use transport::{LocalRank, Transport, in_process};
