//! Region matching: which subscription regions overlap which update regions.
//!
//! This is the problem of data distribution management in distributed simulation, and of interest
//! management in games. Given two sets of boxes in 1 to 4 dimensions, it finds every overlapping
//! pair (one box of each set) exactly once. After Marzolla and D'Angelo, *Parallel Data
//! Distribution Management on Shared-Memory Multiprocessors*, ACM TOMACS 30 (2020).
//!
//! ```
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::matching::{Algorithm, Matcher, Region};
//!
//! let gpu = Gpu::new()?;
//! let matcher = Matcher::new(&gpu);
//! // What two agents see, and where three of them are. Intervals are half-open: [lo, hi).
//! let subscriptions = [Region::new([0.0, 0.0], [4.0, 4.0]), Region::new([5.0, 5.0], [9.0, 9.0])];
//! let updates = [
//!     Region::new([1.0, 1.0], [2.0, 2.0]),
//!     Region::new([3.0, 3.0], [6.0, 6.0]),
//!     Region::new([4.0, 0.0], [5.0, 4.0]),
//! ];
//! let subscriptions = matcher.upload("subscriptions", &subscriptions)?;
//! let updates = matcher.upload("updates", &updates)?;
//!
//! assert_eq!(matcher.count(&subscriptions, &updates, Algorithm::Auto)?, 3);
//! let mut matches = matcher.find(&subscriptions, &updates, Algorithm::Auto)?;
//! while let Some(page) = matches.next_page()? {
//!     // `page.buffer()` holds the pairs on the device, for further kernels.
//!     // Pairs [subscription, update], ordered.
//!     assert_eq!(page.read()?, [[0, 0], [0, 1], [1, 1]]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! Bounds of any type become `u32` keys with the same order, so one set of kernels serves all types
//! and every comparison is exact. All algorithms split their candidates into tasks, count the
//! matches of each task, place them by a 64-bit prefix sum and write them. So every pair has its
//! place before it is written, in the same order on every device. If the pairs exceed one binding,
//! [`Matches`] returns them in pages.
//!
//! Sort-based matching here needs no active sets, which the paper names as the obstacle on GPUs.
//! With both sides ordered by lower bound, each overlap is of one of two kinds, and each kind is a
//! contiguous range:
//!
//! ```text
//! the update starts inside the subscription      the subscription starts inside the update, behind its first point
//!      s |---------------)                                  s |--------------)
//!      u        |-------------)                        u |---------------)
//!        s.lo <= u.lo < s.hi                             u.lo < s.lo < u.hi
//! ```
//!
//! Wider bounds (`i64`, `i128`, `f64`) become 32-bit ones with the same overlaps by [`narrow`];
//! [`decimal`] reads decimals, such as positions in a map's projection, exactly.
//!
//! # Cost
//!
//! `cargo run --release -p eventhorizon-bench -- matching` measures the algorithms on a device.
//!
//! | step | bound by |
//! | --- | --- |
//! | count in one dimension: sorting the lower bounds | the sort's writes; for few regions the dispatches, which wait for each other |
//! | count in one dimension: searching the upper bounds | steps of the binary searches in workgroup memory |
//! | upload of regions on the host | filling mapped memory with all cores |
//! | find: pairs written | memory: 8 bytes per pair |
//! | brute force | arithmetic |
//!
//! For small sets the other algorithms cost one submission with a wait, plus their dispatches. In
//! several dimensions [`Algorithm::Sort`] and [`Algorithm::IntervalTree`] test all pairs that
//! overlap in one dimension.
//!
//! A call is one submission with one wait if a similar call came before (the same algorithm and
//! dimensions, sizes within a factor of two). The first call of its kind may need further
//! submissions, because it has to learn how much memory entries and candidates take. A call with a
//! few very large regions may be repeated a few times. Results do not change: the algorithm, and so
//! the order of pairs, depends only on the sets.
//!
//! [`MovingRegions`] matches regions that move between steps. A step reports the changes in order,
//! so its time grows with the number of moved regions and of changed pairs. If nearly all regions
//! move, and only the pairs that overlap afterwards are wanted, [`Matcher::find`] has less to do.
//!
//! [`hla`] has the region services of the High Level Architecture (IEEE 1516). [`host`] works
//! without a GPU: it finds the same pairs on all cores. [`reference`](mod@reference) tests each
//! pair, for comparison.

mod algorithm;
mod auto;
mod brute;
mod call_size;
mod changes;
mod counter;
pub mod decimal;
mod dynamic;
mod error;
mod filter;
mod grid;
pub mod hla;
pub mod host;
mod index;
mod kernels;
mod limits;
mod matcher;
mod matches;
mod memory;
mod moves;
mod narrow;
mod prepared;
mod programs;
mod ranges;
pub mod reference;
mod region;
mod run;
mod sample;
mod sample_decision;
mod scratch;
mod set;
mod source;
mod sweep;
mod tree;
mod upload;
mod work;

pub use algorithm::Algorithm;
pub use changes::Changes;
pub use counter::Counter;
pub use dynamic::MovingRegions;
pub use error::MatchingError;
pub use matcher::Matcher;
pub use matches::{Matches, Page};
pub use narrow::{Narrowed, narrow};
#[doc(hidden)]
pub use programs::kernels;
pub use region::{Bound, Coordinate, Region};
pub use run::PairsRun;
pub use set::Regions;
