//! Shortest paths in batches: thousands of A* searches on one map, or in one graph, at once, with
//! optimal paths, and the same results on every device; distances from many sources to all cells;
//! distances between all pairs.
//!
//! It is the second application of Baudis et al., "Performance Evaluation of Priority Queues for
//! Fine-Grained Parallel Tasks on GPUs" (sections II.C.2 and IV.B). Theirs keeps distances in half
//! floats and takes eight cells from the open list at a time, so that its paths are not optimal;
//! costs here are integers, and every path is a shortest one.
//!
//! ```
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::search::{Engine, Grid, Options};
//! use glam::UVec2;
//!
//! let gpu = Gpu::new()?;
//! let grid = Grid::random(64, 0.1, 1)?;
//! let searches = grid.random_searches(100, 2);
//! let engine = Engine::new(&gpu, grid, Options::default().paths(true))?;
//! let results = engine.run(&searches)?;
//! for (search, (start, goal)) in searches.iter().enumerate() {
//!     let Some(cost) = results.outcomes()[search].cost else { continue };
//!     let path: Vec<UVec2> = results.path(search).collect();
//!     assert_eq!((path[0], path[path.len() - 1]), (*start, *goal));
//!     let steps = path.windows(2).map(|pair| engine.map().step(pair[0], pair[1]).unwrap());
//!     assert_eq!(steps.sum::<u32>(), cost);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Results
//!
//! * `cost` is exact, and in units of [`Moves`]; [`Grid::length`] makes a length of it.
//! * `expanded` is a property of the map and not of the way in which it was searched: the cells
//!   whose cost so far and heuristic together are below the cost of the path, which every A* has to
//!   expand; where there is no path, the cells that can be reached.
//! * Of several cheapest paths, the one that is told is defined without regard to the order of the
//!   search, too ([`reference::AStar::find_path`]).
//! * In a graph all of this is said of vertices. With a heuristic of your own it rests on what that
//!   promises ([`Heuristic`]).
//! * The fingerprint is a sum of [`mix`](crate::random::mix) of each search's number, start, goal
//!   and cost.
//!
//! # Which mapping, which queue
//!
//! [`Mapping::Thread`] is one invocation for each search, with an open list of any design of
//! [`queue`](crate::queue) that one invocation serves. [`Mapping::Team`] is a workgroup for each:
//! it takes all cells whose estimates lie within a band together, and corrects costs that turn out
//! not to be the least. [`Mapping::Bands`] does the same with one invocation. Nothing of the
//! results depends on any of this.
//!
//! # Layout and dispatches
//!
//! A *slot* is the memory of one search at a time: a word for each cell of the map (its *mark*: the
//! cost so far), the open list (items of 8 bytes), and 64 bytes. Slots take searches from the list
//! one after the other, by a counter; no workgroup waits for another. `shaders/search/slots.wgsl`
//! says what the buffers hold, and how marks go from one search to the next without being cleared.
//! What is searched is a *space*, a file that the kernels are linked with: `grid.wgsl`, a map, or
//! `graph.wgsl`.
//!
//! | dispatch | invocations | reads | writes |
//! | --- | --- | --- | --- |
//! | `thread.wgsl` | one for each slot | map, searches | marks, queues, slots, records, control |
//! | `bands.wgsl` | one for each slot | map, searches | marks, lists, slots, records, control |
//! | `team.wgsl` | a workgroup for each slot | map, searches | marks, lists, slots, records, control |
//! | `walk.wgsl`, if paths are wanted | one for each slot | map, marks | paths, slots, records, control |
//!
//! A dispatch makes so many *steps* of every slot: a cell expanded, or a part of a list. The number
//! is set so that a submission takes some 30 ms, whatever the map; what a search is between two
//! steps lies in its slot. How many slots there are follows from the map: `cells * 4 + list` bytes
//! each, within what the device binds at once. A search whose open list is too short is run again
//! with a longer one; nothing is cut off.
//!
//! # Graphs
//!
//! [`Graph`] is a directed graph in rows (CSR) with integer weights. [`Engine`] searches it,
//! by [`Mapping::Thread`], with a heuristic ([`Guided`]) or without. A vertex may have any number
//! of arcs: a step looks at four of them.
//!
//! # Distances without a goal
//!
//! [`Wavefronts`] finds the distances from many cells, or vertices, to all or to some, by
//! delta-stepping on the whole device: a *pass* expands a list of (source, cell) whose costs lie
//! within a band, and all that depends on order is corrected until nothing changes, so that the
//! distances are those of Dijkstra's algorithm ([`reference::distances`]). Of a source each cell
//! takes 24 bytes.
//!
//! | dispatch | invocations | reads | writes |
//! | --- | --- | --- | --- |
//! | `front_begin` | one for each source | lists | marks |
//! | `front_pass` | one for each entry of a slice of a list | map, lists | marks, flags, lists, control |
//! | `front_decide` | one | control | control |
//! | `front_gather` | one for each distance that is wanted | marks, targets | table |
//!
//! [`AllPairs`] finds the distances between all pairs of vertices of a graph, dense or sparse, by
//! Floyd and Warshall's algorithm.

mod all_pairs;
mod engine;
mod error;
mod format;
mod fronts;
mod graph;
mod grid;
mod guided;
mod heuristic;
mod limits;
mod mapping;
mod memory;
mod options;
pub mod reference;
mod results;
mod run;
mod space;

pub use all_pairs::AllPairs;
pub use engine::Engine;
pub use error::SearchError;
pub use format::{
    ScenarioSearch, Terrain, dimacs_coordinates, dimacs_graph, moving_ai_map, moving_ai_scenario,
};
pub use fronts::{Distances, Wavefronts};
pub use graph::Graph;
pub use grid::{Grid, Moves};
pub use guided::Guided;
pub use heuristic::Heuristic;
pub use limits::MAX_SIDE;
pub use mapping::{Mapping, UnknownMapping};
#[doc(hidden)]
pub use memory::kernels;
pub use options::{Options, WavefrontOptions};
pub use results::{Outcome, Results};
pub use run::SearchRun;
pub use space::{Cell, Space};

/// The programs of the guide run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-search.md")]
struct Guide;
