//! Estimates of what paths cost.

#[cfg(doc)]
use super::{Guided, SearchError};
use crate::gpu::Source;

/// An estimate of what a path between two vertices of a graph costs, as WGSL and as Rust.
///
/// The file of WGSL has one function and what that calls:
///
/// ```wgsl
/// fn estimate(vertex: u32, goal: u32) -> u32
/// ```
///
/// It may declare `@group(1) @binding(0) var<storage, read> data: array<...>`, which holds
/// [`Heuristic::data`], and call `mul_wide` (with `// import: random/mul_wide.wgsl`) and
/// `wide_add`, `wide_subtract` and `wide_less` (`// import: gpu/wide.wgsl`); it has no other
/// variables at module scope. It computes with integers only: estimates are made again wherever
/// they are compared, and each time they have to be the same bits. Floating-point values are
/// refused ([`SearchError::Gpu`], with file and line).
///
/// # What it has to promise
///
/// It is *consistent*: no more than the weight of an arc and the estimate from where that leads,
/// `estimate(u, goal) <= weight + estimate(v, goal)` for each arc from `u` to `v`, and 0 at the
/// goal. So it never says more than a path costs. `u32::MAX` says that there is no way from there
/// to the goal: searches do not go there, and are not told of it. A search looks at that for every
/// arc by which it reaches a vertex, and a breach is [`SearchError::Heuristic`]. What it cannot see
/// is an estimate that is too great at a vertex where it then never goes: with such a heuristic, a
/// path may be told that is not the cheapest. [`Guided::check`] looks at all arcs for some goals.
///
/// ```
/// use std::sync::Arc;
/// use eventhorizon::gpu::{Gpu, Source};
/// use eventhorizon::search::{Engine, Graph, Guided, Heuristic, Options};
///
/// /// Vertices in a row, each arc of weight 2 or more.
/// #[derive(Debug)]
/// struct Row;
///
/// impl Heuristic for Row {
///     fn source(&self) -> Source {
///         let text = "fn estimate(vertex: u32, goal: u32) -> u32 { return 2u * (max(vertex, goal) - min(vertex, goal)); }";
///         Source::new("row.wgsl", text)
///     }
///
///     fn estimate(&self, vertex: u32, goal: u32) -> u32 {
///         2 * vertex.abs_diff(goal)
///     }
/// }
///
/// let arcs: Vec<_> = (0..99).flat_map(|vertex| [(vertex, vertex + 1, 2), (vertex + 1, vertex, 3)]).collect();
/// let graph = Guided::new(Graph::new(100, &arcs)?, Arc::new(Row));
/// graph.check(&[7, 93])?;
/// let engine = Engine::new(&Gpu::new()?, graph, Options::default().paths(true))?;
/// let found = engine.run(&[(50, 60), (60, 50)])?;
/// assert_eq!((found.outcomes()[0].cost, found.outcomes()[1].cost), (Some(20), Some(30)));
/// assert_eq!(found.outcomes()[0].expanded, 0); // all estimates on the route are the cost of the path
/// assert!(found.path(0).eq(50..=60));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Heuristic: std::fmt::Debug + Send + Sync {
    /// The WGSL.
    fn source(&self) -> Source;

    /// What its `data` holds, as words.
    fn data(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The same in Rust, to the bit.
    fn estimate(&self, vertex: u32, goal: u32) -> u32;
}
