//! Region matching: which subscription regions overlap which update regions.
//!
//! The problem behind data distribution management in distributed simulation, and behind interest
//! management in games: given two sets of boxes in 1 to 4 dimensions, find every pair (one of each
//! set) that overlaps, each exactly once. After Marzolla and D'Angelo, *Parallel Data Distribution
//! Management on Shared-Memory Multiprocessors*, ACM TOMACS 30 (2020).
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
//!     assert_eq!(page.read()?, [[0, 0], [0, 1], [1, 1]]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! Bounds of any type become `u32` keys with the same order, so one set of kernels serves all types
//! and every comparison is exact. All algorithms cut their candidates into tasks, count the matches
//! of each task, place them by a 64-bit prefix sum and write them: every pair has its place before
//! it is written, in the same order on every device. If the pairs are more than one binding holds,
//! [`Matches`] gives them in pages.
//!
//! Sort-based matching here needs no active sets, which the paper names as the obstacle on GPUs.
//! With both sides ordered by lower bound, an overlap is of one of two kinds, each a contiguous
//! range:
//!
//! ```text
//! the update starts inside the subscription      the subscription starts inside the update, behind its first point
//!      s |---------------)                                  s |--------------)
//!      u        |-------------)                        u |---------------)
//!        s.lo <= u.lo < s.hi                             u.lo < s.lo < u.hi
//! ```
//!
//! Wider bounds (`i64`, `i128`, `f64`) become 32-bit ones with the same overlaps by [`narrow`];
//! [`decimal`] reads decimals, for
//! instance positions in a map's projection, exactly.
//!
//! # What bounds each
//!
//! Milliseconds on an NVIDIA H200 (Vulkan, driver 580.159.04) with `cargo run --release -p
//! eventhorizon-bench -- matching`: half the regions are subscriptions, all of one size, placed at
//! random, together as large as the space (100 times as large for `find`).
//!
//! | in one dimension | 10⁶ regions | 10⁷ | 10⁸ | bound by |
//! | --- | --- | --- | --- | --- |
//! | count: sorting the lower bounds | 0.096 | 0.572 | 5.19 | for 10⁶ the dispatches, each of which waits for the one before; then the sort's writes |
//! | count: searching the upper bounds | 0.025 | 0.226 | 2.02 | steps of the binary searches in workgroup memory |
//! | count, with regions that lie on the host | 0.70 to 0.98 | 4.0 to 4.6 | 39 to 42 | filling mapped memory, which lies on the device: all cores fill it at 33 GB/s, and their own at 52 to 63; from there it is copied at 350 (`--only copies`) |
//! | find: order and ranges | 0.60 | 1.98 | | submissions and readbacks of sizes around a sort like the above |
//! | find: pairs written | 0.270 for 50·10⁶ | 1.188 for 268·10⁶ | | memory: 8 bytes per pair, 1,730 to 1,810 GB/s of them, where a copy moves 4,149 |
//!
//! | count, all but the upload | brute force | grid | tree | sort |
//! | --- | --- | --- | --- | --- |
//! | 30,000 regions in 1, 2, 3 dimensions | 0.29, 0.39, 0.51 | 0.35, 0.34, 0.35 | 0.59, 0.81, 1.08 | 0.17, 0.80, 0.82 |
//! | 300,000 | 6.27, 11.9, 17.4 | 0.45, 0.37, 0.48 | 0.60, 0.89, 3.84 | 0.16, 1.09, 3.44 |
//! | 1,000,000 | | 0.45, 0.67, 0.99 | 0.68, 2.60, 19.6 | 0.19, 3.14, 20.0 |
//!
//! [`Algorithm::Auto`] takes 0.19, 0.69 and 1.05 to 1.21 ms for 10⁶ regions in 1, 2 and 3
//! dimensions: in several, a look at a sample comes first. Before calls kept their memory and a
//! grid was laid on the device, it took 0.22, 1.59 and 1.84 ms (the same run).
//!
//! Brute force is bound by arithmetic: 3.1·10¹², 1.8·10¹² and 1.2·10¹² tests per second. Small sets
//! cost the others a submission with its wait and the dispatches in it, each of which waits for the
//! one before. In several dimensions a sweep and a tree test all that overlaps in one of them: at
//! 10⁶ regions in 3 dimensions that is 5·10⁹ pairs.
//!
//! A call is one submission with one wait, where the last one with sets like these (the same
//! algorithm and dimensions, sizes within a factor of two) is known: it assumes the room for
//! entries and candidates that served there, and what a sample told of the way to go, and is made
//! again where the numbers that come back say something else. Every call is made again where a few
//! regions are so large that the sample of a grid misses them: once for each time that cells must
//! be joined further for them. Before there was a submission with a wait for each of these numbers.
//! The way of matching, and so the order of pairs, follows from the sets alone.
//!
//! Regions that move between steps: [`MovingRegions`]. Milliseconds a step on the same device, 10⁶
//! regions in two dimensions, half of the moved ones on each side; `near` is by up to half their
//! size.
//!
//! | moved | 10 | 1,000 | 10,000 | 300,000 | all | a matching from scratch, with its upload |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | near | 0.10 | 0.15 | 0.71 | 2.9 | 5.2 | 3.8 |
//! | anywhere | 0.10 | 1.1 | 1.7 | 3.6 | 5.7 | 3.8 |
//!
//! (The longest of such steps took up to 2 ms more.) A step reports what changed, in order: two
//! million pairs where all move anywhere, which is why it takes longer than a matching from scratch
//! there, whose pairs nobody compares with those of before. Where nearly all move, and only the
//! pairs that overlap then are wanted, [`Matcher::find`] has less to do.
//!
//! The standard's services: [`hla`]. Without a GPU: [`host`], which finds the same pairs on all
//! cores. [`reference`](mod@reference) tests each pair, for comparison.

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
