//! Shortest paths in batches: thousands of A* searches on one map or graph at once, with optimal
//! paths and the same results on every device. Also distances from many sources to all cells, and
//! between all pairs of vertices.
//!
//! It is the second application of Baudis et al., "Performance Evaluation of Priority Queues for
//! Fine-Grained Parallel Tasks on GPUs" (sections II.C.2 and IV.B). That implementation stores
//! distances as half floats and takes eight cells from the open list at a time, so its paths are
//! not optimal. Here costs are integers, and every path is a shortest one.
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
//! * `cost` is exact, in units of [`Moves`]; [`Grid::length`] converts it to a length.
//! * `expanded` depends only on the map, not on the search method. It counts the cells whose cost
//!   so far plus heuristic is below the cost of the path, which every A* must expand. Without a
//!   path it counts the reachable cells.
//! * The choice among several cheapest paths does not depend on the order of the search either
//!   ([`reference::AStar::find_path`]).
//! * In a graph the same holds for vertices. With a custom heuristic it requires consistency
//!   ([`Heuristic`]).
//! * The fingerprint is a sum of [`mix`](crate::random::mix) of each search's number, start, goal
//!   and cost.
//!
//! # Which mapping, which queue
//!
//! [`Mapping::Thread`] runs one invocation for each search, with an open list of any design of
//! [`queue`](crate::queue) that one invocation can serve. [`Mapping::Team`] runs a workgroup for
//! each search: it takes all cells with estimates in a band together, and corrects costs that turn
//! out too high. [`Mapping::Bands`] does the same with one invocation. Results do not depend on the
//! mapping.
//!
//! # Layout and dispatches
//!
//! A *slot* is the memory of one search at a time: a word for each cell of the map (its *mark*, the
//! cost so far), the open list (items of 8 bytes), and 64 bytes. Slots take searches from the list
//! one after the other, by a counter; no workgroup waits for another. `shaders/search/slots.wgsl`
//! documents the buffers, and how marks pass from one search to the next without being cleared.
//! Searches run on a *space*, a file that the kernels are linked with: `grid.wgsl`, a map, or
//! `graph.wgsl`.
//!
//! | dispatch | invocations | reads | writes |
//! | --- | --- | --- | --- |
//! | `thread.wgsl` | one for each slot | map, searches | marks, queues, slots, records, control |
//! | `bands.wgsl` | one for each slot | map, searches | marks, lists, slots, records, control |
//! | `team.wgsl` | a workgroup for each slot | map, searches | marks, lists, slots, records, control |
//! | `walk.wgsl`, if paths are wanted | one for each slot | map, marks | paths, slots, records, control |
//!
//! A dispatch executes a number of *steps* of every slot: an expanded cell, or a part of a list.
//! The number is chosen so that a submission takes some 30 ms on any map; between steps a search's
//! state is in its slot. The number of slots follows from the map: each takes `cells * 4 + list`
//! bytes, within the device's binding limit. A search whose open list is too short runs again with
//! a longer one; nothing is truncated.
//!
//! # Graphs
//!
//! [`Graph`] is a directed graph in rows (CSR) with integer weights. [`Engine`] searches it,
//! by [`Mapping::Thread`], with a heuristic ([`Guided`]) or without. A vertex may have any number
//! of arcs: a step reads four of them.
//!
//! # Distances without a goal
//!
//! [`Wavefronts`] finds the distances from many cells or vertices to all or some others, by
//! delta-stepping on the whole device. A *pass* expands a list of (source, cell) pairs with costs
//! in a band. Results that depend on order are corrected until nothing changes, so the distances
//! equal those of Dijkstra's algorithm ([`reference::distances`]). Each cell takes 24 bytes per
//! source.
//!
//! | dispatch | invocations | reads | writes |
//! | --- | --- | --- | --- |
//! | `front_begin` | one for each source | lists | marks |
//! | `front_pass` | one for each entry of a slice of a list | map, lists | marks, flags, lists, control |
//! | `front_decide` | one | control | control |
//! | `front_gather` | one for each distance that is wanted | marks, targets | table |
//!
//! [`AllPairs`] finds the distances between all pairs of vertices of a graph, dense or sparse, with
//! the Floyd-Warshall algorithm.

mod all_pairs;
#[cfg(not(target_arch = "wasm32"))]
mod any;
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
#[cfg(not(target_arch = "wasm32"))]
pub use any::AnyEngine;
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

/// Runs the programs of the guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide-search.md")]
struct Guide;
