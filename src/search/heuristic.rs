//! Estimates of path costs.

#[cfg(doc)]
use super::{Guided, SearchError};
use crate::gpu::Source;

/// An estimate of the cost of a path between two vertices of a graph, in WGSL and in Rust.
///
/// The WGSL file has one function and its callees:
///
/// ```wgsl
/// fn estimate(vertex: u32, goal: u32) -> u32
/// ```
///
/// It may declare `@group(1) @binding(0) var<storage, read> data: array<...>`, which holds
/// [`Heuristic::data`]. It may call `mul_wide` (with `// import: random/mul_wide.wgsl`) and
/// `wide_add`, `wide_subtract` and `wide_less` (`// import: gpu/wide.wgsl`). It has no other
/// variables at module scope. It computes only with integers: each comparison repeats the
/// estimates, and they must be the same bits every time. Floating-point values are rejected
/// ([`SearchError::Gpu`], with file and line).
///
/// # Consistency
///
/// A heuristic must be *consistent*: `estimate(u, goal) <= weight + estimate(v, goal)` for each arc
/// from `u` to `v`, and 0 at the goal. So it never exceeds the cost of a path. `u32::MAX` means
/// that the goal is unreachable; searches skip such vertices without an error. A search checks
/// consistency on every arc by which it reaches a vertex, and a violation is
/// [`SearchError::Heuristic`]. It cannot detect an estimate that is too large at a vertex which it
/// therefore never visits: then its path may not be the cheapest. [`Guided::check`] checks all arcs
/// for some goals.
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

    /// The content of `data`, as words.
    fn data(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The same estimate in Rust, bit for bit.
    fn estimate(&self, vertex: u32, goal: u32) -> u32;
}
