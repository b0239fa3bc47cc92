//! Queueing networks, described and not programmed.
//!
//! A [`Network`] is data: sources, stations, delays, forks and sinks by name, made in Rust or read
//! from TOML or JSON. [`Network::compile`] checks it and makes a [`Facility`] of it, a model of
//! [`pdes`](crate::pdes) with an LP for each node; [`Facility::study`] makes replications of it on
//! the CPU or on a GPU, with the same bits, and gives a [`Report`]: every measure with its
//! confidence interval, beside what theory says where it is exact.
//!
//! ```
//! use eventhorizon::facility::{Distribution, Measure, Network, Source, Station, Study};
//!
//! let network = Network::new("M/M/1")
//!     .source("arrivals", Source::new(Distribution::Exponential(1.25), "server"))
//!     .station("server", Station::new(Distribution::Exponential(1.0), "out"))
//!     .sink("out");
//! // 16 replications until the time 2,000; the first 200 do not count.
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
//! # What there is
//!
//! | node | what it has |
//! | --- | --- |
//! | [`Source`] | a distribution of times between arrivals, a class, batches, a rate that changes in the course of time |
//! | [`Station`] | servers, whose number may follow a schedule; services by class; a capacity, beyond which customers are lost, or wait where they are and keep their server there ([`WhenFull`]); first come first served, last come first served, random order, priorities with and without preemption, polling, processor sharing ([`Discipline`]); patience, whose end makes customers leave the network; balking; breakdowns |
//! | [`Delay`] | a time that customers spend there; nobody waits |
//! | [`Router`] | where ways part, which takes no time |
//! | [`Fork`] | where customers are parted into siblings, and joined when all of them have come back |
//! | [`Sink`] | the end of the way, and the time in the network |
//!
//! Customers go on by probabilities, in turn, or to the shortest of several lines, and may change
//! their class ([`Link`], [`Route`]). Networks are open, closed (with customers from the beginning:
//! [`Station::population`]), or both. All times are of a [`Distribution`].
//!
//! A way may take a time ([`Link::taking`], [`Network::with_travel`]). What is not there is
//! refused, and never approximated: more than [`MAX_CLASSES`] classes, and what does not go
//! together, such as patience in a line in random order, or breakdowns of shared servers: the error
//! names the node, and why.
//!
//! # What it means
//!
//! Times are whole ticks ([`Network::ticks_per_unit`]), of which a unit of time has as many as make
//! the times of the description exact ([`Facility::rounding`] names what is rounded); each time
//! that is drawn is rounded once. Ways from node to node take no time by default. Where all
//! from one node to another take some, never less than a known one, and nobody chooses the shortest
//! line, that is the model's lookahead, and the windows of large networks are as long; else there
//! is none, and what happens at one time has an order by rounds (see
//! [`pdes::Model`](crate::pdes::Model)). At a node, changes of the number of servers come first,
//! then departures, arrivals, and ends of patience; arrivals at one time in one round are in the
//! order of their classes, those along ways that take time after others, then of the nodes that
//! they come from, and then of when they entered the network.
//!
//! * *Blocking.* Who is served goes to the next node, and his server stays his until that node
//!   takes him in: two rounds later if it has room, and else when somebody leaves there, in the
//!   order in which they came. Both are at the same time, so no tick is lost. But for these two
//!   rounds he counts at his old station, too, even if the next has room: who comes there at that
//!   very time may find it full, and is lost where customers are. Stations that wait for each other
//!   for ever are found at the end of a run ([`FacilityError::Deadlock`]).
//! * *The shortest line.* A node that sends customers to the shortest of several lines knows what
//!   each told by the end of the last round, and whom it sent there since; of equal ones it takes
//!   the first. So what others do in the same round does not count, and all else does.
//! * *Travel.* Who goes along a way that takes time is at no node meanwhile; he is counted in the
//!   network ([`Measure::Number`], [`Measure::Travelling`]), and his time on the way is part of
//!   that which a sink tells. A way to a station that blocks takes none, whatever the network says
//!   of all: who is on his way has no server to wait at. Who sends to the shortest line counts
//!   those whom it sent there, on their way or not.
//! * *Shared servers* give everybody the same part, in units of 2^-16 ticks of service, rounded
//!   down at each arrival and departure; who has got all his service leaves at the next whole tick.
//!   (`shaders/facility/network/sharing.wgsl`)
//! * *Fork and join.* Who comes to a fork stays there, and his siblings go on at once; a sibling
//!   that comes back is told from who is to be parted, and joined with those of the same customer,
//!   by what it carries in the place of the time when he entered the network. Of those of a class
//!   that arrive at a node at one time, siblings that come right from a fork are the first (along
//!   ways that take time, of those who came along such).
//! * *A rate that changes*: customers come at the highest rate, and each stays away with the
//!   probability that is too much (thinning), which is exact for Poisson processes.
//! * *A breakdown* stops all servers at once; services go on after the repair, and count as busy
//!   meanwhile.
//!
//! Quantiles are of histograms with 16 bins for each power of two: from 16 units on, a bin is at
//! most 1/16 as wide as the times in it; below, it is one unit: at most 1/64 of the shortest mean
//! of a service, or a tick. Times are spread evenly within, but that waits in the first bin are
//! told as 0, and a quantile in the last, which has no end, is not told. They are of the histograms
//! of all replications together, and told where [`Study::details`] says so, since they take memory.
//!
//! A measure counts from the warm-up on: arrivals, departures and losses that happen then, and
//! times of those who depart (or, of waits, whose service begins) then.
//!
//! # How it works
//!
//! `network.rs` is the description, `names.rs` makes nodes of it and `check.rs` looks them through
//! (`places.rs`: who may be where, as whose sibling), `model.rs` compiles it into tables, and its
//! folder has the twins of the kernel file that interprets them (`shaders/facility/network.wgsl`,
//! whose head says what lies where in LP memory) and of its parts (`network/tables.wgsl` says it of
//! the tables); `theory.rs` says what is known, `study.rs` makes replications and `long.rs` one
//! long run, `sums.rs`, `measures.rs` and `quantiles.rs` what they mean, `report.rs` how it is
//! told, `course.rs` what one run did in the course of time, `trace.rs` what single customers did,
//! and `plot.rs` pictures.
//!
//! # Another way
//!
//! [`FelSimulation`] simulates closed networks as Park and Fishwick do: by one event list without
//! order for all facilities, with time intervals that make it faster and wrong by as much as
//! [`FelReference`] says. It stands alone, for comparison (`fel.rs` and its folder).

mod check;
mod distribution;
mod error;
mod fel;
mod long;
mod measures;
mod model;
mod names;
mod network;
mod nodes;
mod places;
mod plan;
#[cfg(feature = "plot")]
pub mod plot;
mod quantiles;
mod report;
mod resolution;
mod route;
mod run;
mod saved;
mod scale;
mod study;
mod sums;
mod theory;
mod timeline;
mod trace;
mod traffic;

pub use distribution::Distribution;
pub use error::FacilityError;
#[doc(hidden)]
pub use fel::kernels;
pub use fel::{FelError, FelNetwork, FelReference, FelResults, FelRow, FelRun, FelSimulation};
pub use measures::{Measure, QUANTILES};
pub use model::{
    ClassOutput, Facility, FacilityOutput, FacilityParams, FacilityState, LENGTHS, Level, TimeSums,
};
pub use network::{
    Breakdown, Delay, Discipline, Fork, Network, Rate, Router, Shift, Sink, Source, Station, WhenFull,
};
pub use plan::Study;
pub use report::{Length, Report, Row};
pub use route::{Link, Route};
pub use run::{LongRun, StudyRun};
pub use saved::{SavedStudy, StudyAutosave};
pub use timeline::{Timeline, Times};
pub use trace::{Follow, Outcome, Visit, write_visits};

pub use crate::Backend;

/// The siblings that a customer may be parted into at a fork.
pub const MAX_FORK_TASKS: usize = 64;

shared! {
    "facility/network.wgsl":
    /// The classes of customers that a network may have.
    pub const MAX_CLASSES: usize as CLASSES;
}

/// The guide's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-networks.md")]
struct Guide;
