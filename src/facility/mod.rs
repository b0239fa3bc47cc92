//! Queueing networks, described and not programmed.
//!
//! A [`Network`] is data: sources, stations, delays and sinks by name, made in Rust or read from TOML or JSON. [`Network::compile`] checks it and makes a
//! [`Facility`] of it, a model of [`pdes`](crate::pdes) with an LP for each node; [`Facility::study`] makes replications of it on the CPU or on a GPU, with the same bits, and
//! gives a [`Report`]: every measure with its confidence interval, beside what theory says where it is exact.
//!
//! ```
//! use eventhorizon::facility::{Distribution, Measure, Network, Place, Source, Station, Study};
//!
//! let network = Network::new("M/M/1")
//!     .source("arrivals", Source::new(Distribution::Exponential(1.25), "server"))
//!     .station("server", Station::new(Distribution::Exponential(1.0), "out"))
//!     .sink("out");
//! // 16 replications until the time 2,000; the first 200 do not count.
//! let report = network.compile()?.study(&Study::new(16, 2000.0, 200.0), Place::Cpu, |_, _| {})?;
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
//! | [`Source`] | a distribution of times between arrivals, a class, batches |
//! | [`Station`] | servers; services by class; a capacity, beyond which customers are lost; first come first served, last come first served, random order, priorities with and without preemption; patience, whose end makes customers leave the network |
//! | [`Delay`] | a time that customers spend there; nobody waits |
//! | [`Sink`] | the end of the way, and the time in the network |
//!
//! Customers go on by probabilities or in turn, and may change their class ([`Link`], [`Route`]). Networks are open, closed (with customers from the beginning:
//! [`Station::population`]), or both. All times are of a [`Distribution`].
//!
//! What is not there is refused, and never approximated: blocking, processor sharing, fork and join, breakdowns, schedules, ways to the shortest queue, more than
//! [`MAX_CLASSES`] classes, patience in a line in random order.
//!
//! # What it means
//!
//! Times are whole ticks ([`Network::ticks_per_unit`]); each time that is drawn is rounded once. Ways from node to node take no time: the model has no lookahead, and what
//! happens at one time has an order by rounds (see [`pdes::Model`](crate::pdes::Model)): at a node, departures come before arrivals, and arrivals before ends of
//! patience; arrivals at one time in one round are in the order of their classes, and then of when they entered the network.
//!
//! A measure counts from the warm-up on: arrivals, departures and losses that happen then, and times of those who depart (or, of waits, whose service begins) then.
//!
//! # How it works
//!
//! `network.rs` is the description, `check.rs` looks it through, `model.rs` compiles it into tables and is the twin of the one kernel file that interprets
//! them (`shaders/facility/network.wgsl`, whose head says what lies where), `theory.rs` says what is known, `study.rs` makes runs and reports.
//!
//! # Another way
//!
//! [`FelSimulation`] simulates closed networks as Park and Fishwick do: by one event list without order for all facilities, with time intervals that make
//! it faster and wrong by as much as [`FelTwin`] says. It stands alone, for comparison (`fel.rs` and its folder).

mod check;
mod distribution;
mod error;
mod fel;
mod long;
mod measures;
mod model;
mod network;
mod report;
mod study;
mod theory;

pub use distribution::Distribution;
pub use error::FacilityError;
#[doc(hidden)]
pub use fel::kernels;
pub use fel::{FelError, FelNetwork, FelResults, FelRow, FelSimulation, FelTwin};
pub use measures::Measure;
pub use model::{
    ClassOutput, Facility, FacilityOutput, FacilityParams, FacilityState, LENGTHS, QUANTILES, Quantile,
    Quantiles,
};
pub use network::{
    Breakdown, Delay, Discipline, Link, Network, Rate, Route, Router, Shift, Sink, Source, Station, WhenFull,
};
pub use report::{Length, Report, Row};
pub use study::{Place, Study};

/// The classes of customers that a network may have.
pub const MAX_CLASSES: usize = 4;

/// The guide's code compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-networks.md")]
struct Guide;
