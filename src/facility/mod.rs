//! Queueing networks, described as data instead of programmed.
//!
//! A [`Network`] is data: sources, stations, delays, routers, forks and sinks by name, built in
//! Rust or read from TOML or JSON. [`Network::compile`] checks it and returns a [`Facility`], a
//! model of [`pdes`](crate::pdes) with an LP for each node. [`Facility::study`] runs replications
//! on the CPU or on a GPU, with the same bits, and returns a [`Report`]: every measure with its
//! confidence interval, next to the theoretical value if one is exact.
//!
//! ```
//! use eventhorizon::facility::{Distribution, Measure, Network, Source, Station, Study};
//!
//! let network = Network::new("M/M/1")
//!     .source("arrivals", Source::new(Distribution::Exponential(1.25), "server"))
//!     .station("server", Station::new(Distribution::Exponential(1.0), "out"))
//!     .sink("out");
//! // 16 replications until time 2,000; statistics begin at time 200.
//! let report = network.compile()?.study(&Study::new(16, 2000.0, 200.0)).run()?;
//! println!("{report}");
//! let busy = report.row("server", Some("customer"), Measure::Utilisation).ok_or("it is measured")?;
//! assert_eq!(busy.theory, Some(0.8));
//! assert!((busy.mean.ok_or("and observed")? - 0.8).abs() < 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same in TOML:
//!
//! ```
//! # use eventhorizon::facility::Network;
//! # let network = Network::from_toml(r#"
//! name = "M/M/1"
//!
//! [source.arrivals]
//! interarrival = { exponential = 1.25 }
//! to = "server"
//!
//! [station.server]
//! service = { exponential = 1.0 }
//! to = "out"
//!
//! [sink.out]
//! # "#)?;
//! # network.compile()?;
//! # Ok::<(), eventhorizon::facility::FacilityError>(())
//! ```
//!
//! # Nodes
//!
//! | node | features |
//! | --- | --- |
//! | [`Source`] | a distribution of times between arrivals, a class, batches, a rate that changes over time |
//! | [`Station`] | servers, whose number may follow a schedule; services by class; a capacity, beyond which customers are lost, or wait where they are and keep their server there ([`WhenFull`]); first come first served, last come first served, random order, priorities with and without preemption, polling, processor sharing ([`Discipline`]); patience, whose end makes customers leave the network; balking; breakdowns |
//! | [`Delay`] | a time that customers spend there without waiting |
//! | [`Router`] | a choice of routes, which takes no time |
//! | [`Fork`] | divides customers into tasks, and joins them when all tasks have come back |
//! | [`Sink`] | customers leave the network, and their time in it is recorded |
//!
//! Routing is probabilistic, cyclic, or to the shortest of several lines, and customers may change
//! their class ([`Link`], [`Route`]). Networks are open, closed (with customers from the beginning:
//! [`Station::population`]), or both. All times follow a [`Distribution`].
//!
//! A route may take time ([`Link::taking`], [`Network::with_travel`]).
//!
//! Unsupported features are refused, never approximated: more than [`MAX_CLASSES`] classes, and
//! combinations such as patience in a line in random order, or breakdowns of shared servers. The
//! error names the node and the reason. A [process model](crate::process::NetworkProcess) runs many
//! of them ([`FacilityError::needs_process`]).
//!
//! # Semantics
//!
//! Times are whole ticks ([`Network::ticks_per_unit`]). By default a unit of time has as many ticks
//! as make the times of the description exact ([`Facility::rounding`] lists rounded ones); each
//! drawn time is rounded once.
//!
//! Routes take no time by default. If all routes between nodes take times with a positive lower
//! bound, and no node chooses the shortest line, the least bound is the model's lookahead, and the
//! windows of large networks have at least this length. Otherwise the lookahead is zero, and events
//! of one time are ordered by rounds (see [`pdes::Model`](crate::pdes::Model)).
//!
//! Events at a node at one time have this order: completions of services, repairs, breakdowns,
//! changes of a schedule, ends of patience, arrivals (all kinds are in the
//! [guide](crate::guide::networks)). Arrivals at one time in one round are ordered as follows:
//! first those that hold no server elsewhere; then by class; then those along untimed routes before
//! those along timed ones. Within each, tasks that come directly from a fork are first; then the
//! order is by node of origin, then by time of entry into the network.
//!
//! * *Blocking.* A served customer goes to the next node and holds its server until that node
//!   accepts it: two rounds later if there is room, otherwise when a customer leaves there, in the
//!   order of arrival. A round takes no simulated time, so the customer loses none. During these
//!   two rounds it counts at its old station even if the next has room: a customer that arrives
//!   there at this very time may find it full, and is lost if customers are lost there. Stations
//!   that wait for each other for ever are found at the end of a run ([`FacilityError::Deadlock`]).
//! * *The shortest line.* A node that sends customers to the shortest of several lines knows their
//!   lengths at the end of the last round, and the customers that it sent there since. It takes the
//!   first of equal ones. Other events of the same round do not count.
//! * *Travel.* A customer on a timed route is at no node. It counts in the network
//!   ([`Measure::Number`], [`Measure::Travelling`]), and its travel time is part of the time that a
//!   sink reports. A route to a station that blocks takes no time, even if the network has a
//!   default, because a travelling customer has no server to wait at. A node that chooses the
//!   shortest line counts the customers that it sent there, on their way or not.
//! * *Shared servers* give every customer the same share, in units of 2^-16 ticks of service,
//!   rounded down at each arrival and departure. A customer whose service is complete leaves at the
//!   next whole tick. (`shaders/facility/network/sharing.wgsl`)
//! * *Fork and join.* A customer that arrives at a fork stays there, and its forked tasks leave at
//!   once. A forked task carries its fork instead of its time of entry into the network; this
//!   separates it from customers that are to be forked, and joins it with the tasks of the same
//!   customer.
//! * *A variable rate*: customers are generated at the highest rate, and each is dropped with the
//!   probability of the excess (thinning), which is exact for Poisson processes.
//! * *A breakdown* stops all servers at once; services continue after the repair, and count as busy
//!   meanwhile.
//!
//! Quantiles come from histograms with 16 bins for each power of two. From 16 units on, a bin is at
//! most 1/16 as wide as the times in it; below, it is one unit: at most 1/64 of the shortest mean
//! service, or a tick. Times are taken as evenly spread within a bin, except that waits in the
//! first bin are reported as 0. A quantile in the last bin, which has no upper end, is not
//! reported. Histograms of all replications are merged; [`Study::details`] switches them on, since
//! they take memory.
//!
//! Statistics begin at the end of the warm-up: they count arrivals, departures and losses after it.
//! A sojourn time counts if the customer departs after it, a wait if the service begins after it.
//!
//! # Implementation
//!
//! `network.rs` is the description, `names.rs` resolves it into nodes, and `check.rs` validates
//! them (`places.rs`: which customers and forked tasks can be where). `model.rs` compiles it into
//! tables; its folder has the reference implementations of the kernel file that interprets them
//! (`shaders/facility/network.wgsl`, whose head describes LP memory) and of its parts
//! (`network/tables.wgsl` describes the tables). `compiled/` makes machine code of a network for
//! studies on the CPU. `theory.rs` has exact results. `study.rs` runs replications (`runner.rs`
//! chooses where) and `long.rs` one long run; `sums.rs`, `measures.rs` and `quantiles.rs` evaluate
//! them, and `report.rs` prints results. `timeline.rs` is one run over time, `profile.rs` averages
//! all replications by time, `shares.rs` counts times up to a bound, `trace.rs` follows
//! single customers, and `plot/` draws plots. `changes.rs` reads a description with numbers that
//! vary, `points.rs` runs the points of a design, and `facts.rs` has what follows without a run.
//!
//! # A second method
//!
//! [`FelSimulation`] simulates networks as Park and Fishwick do: with one unordered event
//! list for all facilities, and time intervals that make it faster and inexact; [`FelReference`]
//! has the same deviation. It is separate from the rest, for comparison (`fel.rs` and its folder).

pub(crate) mod arrivals;
pub(crate) mod beyond;
mod changes;
mod check;
mod compiled;
pub(crate) mod distribution;
mod error;
mod facts;
mod fel;
pub mod fit;
mod long;
mod makers;
pub(crate) mod measures;
mod model;
mod names;
mod network;
pub(crate) mod nodes;
pub(crate) mod outline;
mod places;
mod plan;
#[cfg(feature = "plot")]
pub mod plot;
mod points;
mod profile;
mod quantiles;
mod report;
mod resolution;
mod route;
mod run;
mod runner;
mod saved;
mod scale;
mod shares;
mod source;
mod study;
mod sums;
mod theory;
mod timeline;
mod trace;
mod traffic;
mod translated;
mod visits;

pub use arrivals::{ArrivalTimes, MarkovArrivals};
pub use beyond::{Batch, Group, Interrupted, Region, ShiftEnd};
pub use changes::NetworkDescription;
#[doc(hidden)]
pub use compiled::{CompiledError, CompiledNetwork, DeviceNetwork, Form, NativeNetwork, Recorded};
pub use distribution::{Distribution, Kept, MixturePart, Phases, Samples, Weighted, in_folder};
pub use error::FacilityError;
pub use facts::{ClassFacts, Facts, NodeFacts};
#[doc(hidden)]
pub use fel::kernels;
pub use fel::{
    FelError, FelFacility, FelNetwork, FelReference, FelReleased, FelResults, FelRow, FelRun, FelSimulation,
};
pub use measures::Measure;
pub(in crate::facility) use measures::QUANTILES;
pub use model::Facility;
pub(in crate::facility) use model::{ClassOutput, FacilityOutput, Level, TimeSums};
pub use network::{Breakdown, Delay, Discipline, Fork, Network, Router, Shift, Sink, Station, WhenFull};
pub use plan::Study;
pub use points::{DesignResults, DesignRun, FacilityDesign, PointNetwork, PointRun, WatchPoint};
pub use report::{Length, Report, Row};
pub use route::{Link, Route};
pub use run::{LongRun, StudyRun, TraceRun};
pub use saved::{SavedStudy, StudyAutosave};
pub use shares::Share;
pub use source::{Rate, Source};
pub use timeline::{Timeline, Times};
pub use visits::{Follow, Outcome, Visit, write_visits};

/// Most tasks that a fork divides a customer into.
pub const MAX_FORK_TASKS: usize = 64;

shared! {
    "facility/network.wgsl":
    /// Most classes of customers of a network.
    pub const MAX_CLASSES: usize as CLASSES;
}
