//! Distances between all pairs of vertices of a graph.

use std::time::Duration;

use web_time::Instant;

use super::{Graph, SearchError};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Pace, Plan, Recipe};
use crate::shaders;

shared! {
    "search/all_pairs.wgsl":
    struct Work as AllPairsWork {
        side: u32,
        block: u32,
    }
}

shared! {
    "search/all_pairs.wgsl":
    const STEP: u32;
    const TILE: u32;
    /// The distance of unreachable vertices.
    const FAR: u32;
}

/// The distances between all pairs of vertices, on the device.
#[derive(Debug, Clone)]
pub struct AllPairs {
    vertices: u32,
    side: u32,
    distances: Buffer<u32>,
    took: Duration,
}

impl AllPairs {
    /// Finds all distances of a graph with the Floyd-Warshall algorithm in blocks of vertices. The
    /// number of sums is the cube of the number of vertices, for any arcs. It is for graphs of up
    /// to some thousand vertices with more than some arcs each. For few sources in a large sparse
    /// graph, [`Graph::distances_from`] reads each arc only once.
    ///
    /// # Errors
    /// [`SearchError::Weights`] if a path could be as long as 2^31 - 1, and [`SearchError::Gpu`]:
    /// the matrix needs 4 bytes for each pair in one buffer, with the number of vertices rounded up
    /// to a multiple of 64.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(gpu: &Gpu, graph: &Graph) -> Result<Self, SearchError> {
        pollster::block_on(Self::new_async(gpu, graph))
    }

    /// [`AllPairs::new`] for browsers, where calls may not block.
    ///
    /// # Errors
    /// As [`AllPairs::new`].
    pub async fn new_async(gpu: &Gpu, graph: &Graph) -> Result<Self, SearchError> {
        let vertices = graph.vertices();
        let longest = u64::from(graph.heaviest()) * u64::from(vertices.max(1) - 1);
        if longest >= FAR.into() || graph.heaviest() >= FAR {
            return Err(SearchError::Weights { heaviest: graph.heaviest(), vertices });
        }
        let wide = u64::from(vertices).next_multiple_of(TILE.into()).max(TILE.into());
        let bytes = 4 * wide * wide;
        if bytes > gpu.max_buffer_bytes() {
            let what = format!("the distances of {vertices} vertices");
            return Err(GpuError::TooLarge { what, needed: bytes, limit: gpu.max_buffer_bytes() }.into());
        }
        let side = u32::try_from(wide).expect("its square fits a binding");
        let words = usize::try_from(wide * wide).expect("a matrix fits the memory");
        let mut matrix = vec![FAR; words];
        for vertex in 0..vertices {
            let row = &mut matrix[vertex as usize * side as usize..];
            for &(to, weight) in graph.arcs_from(vertex) {
                row[to as usize] = row[to as usize].min(weight);
            }
            row[vertex as usize] = 0;
        }
        let distances = Buffer::storage_from(gpu, "distances", &matrix)?;
        let rounds: Vec<_> =
            (0..side / STEP).map(|block| round(gpu, side, block, &distances)).collect::<Result<_, _>>()?;
        let mut pace = Pace::new(side / STEP);
        let mut done = 0;
        let all_begun = Instant::now();
        while done < rounds.len() {
            let count = rounds.len().min(done + pace.units() as usize) - done;
            let mut encoder = gpu.encoder("all pairs");
            rounds[done..done + count].iter().for_each(|round| round.record(&mut encoder));
            let begun = Instant::now();
            gpu.submit(encoder)?;
            // A read waits, even in browsers.
            distances.read_range(gpu, 0, 1).await?;
            pace.record(u32::try_from(count).expect("not above the units"), begun.elapsed());
            done += count;
        }
        Ok(Self { vertices, side, distances, took: all_begun.elapsed() })
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        self.vertices
    }

    /// The distances on the device: rows of [`AllPairs::row`] words. A row is the start of paths, a
    /// column their end; unreachable vertices have 2^31 - 1. Rows and columns beyond the last
    /// vertex have no meaning.
    pub fn distances(&self) -> &Buffer<u32> {
        &self.distances
    }

    /// The duration of the rounds, without the upload of the graph: the cube of [`AllPairs::row`]
    /// sums.
    pub fn took(&self) -> Duration {
        self.took
    }

    /// The number of words of a row of the buffer.
    pub fn row(&self) -> u32 {
        self.side
    }

    /// The distances from one vertex to all vertices; `None` for unreachable ones.
    ///
    /// # Errors
    /// [`SearchError::Source`] if there is no such vertex, and [`SearchError::Gpu`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn from(&self, gpu: &Gpu, vertex: u32) -> Result<Vec<Option<u32>>, SearchError> {
        pollster::block_on(self.from_async(gpu, vertex))
    }

    /// [`AllPairs::from`] without blocking.
    ///
    /// # Errors
    /// As [`AllPairs::from`].
    pub async fn from_async(&self, gpu: &Gpu, vertex: u32) -> Result<Vec<Option<u32>>, SearchError> {
        if vertex >= self.vertices {
            return Err(SearchError::Source { vertex, vertices: self.vertices });
        }
        let first = u64::from(vertex) * u64::from(self.side);
        let row = self.distances.read_range(gpu, first, self.vertices.into()).await?;
        Ok(row.into_iter().map(|distance| (distance < FAR).then_some(distance)).collect())
    }
}

/// The dispatches of one round.
fn round(gpu: &Gpu, side: u32, block: u32, distances: &Buffer<u32>) -> Result<Plan, SearchError> {
    let work = Buffer::uniform(gpu, "all pairs", &Work { side, block })?;
    let buffers = [("work", work.binding()), ("distances", distances.binding())];
    let mut plan = Plan::new("all pairs");
    let [pivots, panels, rest] = recipes();
    plan.dispatch(gpu, &kernel(gpu, &pivots)?, 1, &buffers)?;
    plan.dispatch(gpu, &kernel(gpu, &panels)?, 2 * side / STEP, &buffers)?;
    let tiles = side / TILE;
    plan.dispatch(gpu, &kernel(gpu, &rest)?, tiles * tiles, &buffers)?;
    Ok(plan)
}

fn kernel(gpu: &Gpu, recipe: &Recipe) -> Result<Kernel, GpuError> {
    // SAFETY: the `// bounds:` paragraph of shaders/search/all_pairs.wgsl argues that accesses stay
    // within bounds.
    unsafe { recipe.trusted(gpu) }
}

fn recipes() -> [Recipe; 3] {
    let source = || shaders::file("search/all_pairs.wgsl");
    ["pivots", "panels", "rest"].map(|entry| Recipe::new("search/all_pairs", entry, [source()]))
}

/// Every kernel of this file.
pub(super) fn kernels() -> impl Iterator<Item = Recipe> {
    recipes().into_iter()
}
