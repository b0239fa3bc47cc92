//! Graphs with heuristics.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::memory::{FrontMap, Map, WalkMap, Work};
use super::space::{Space, sealed};
use super::{Graph, Heuristic, SearchError};
use crate::gpu::{Buffer, Gpu, Source};
use crate::shaders;

/// A graph and a heuristic: the search space of [`Engine`](super::Engine).
#[derive(Debug, Clone)]
pub struct Guided {
    graph: Arc<Graph>,
    /// The reversed arcs, once paths are wanted.
    reversed: Arc<OnceLock<Graph>>,
    heuristic: Arc<dyn Heuristic>,
    /// Whether the heuristic is the library's own, for this graph.
    own: bool,
}

impl Guided {
    /// A graph with a custom heuristic.
    pub fn new(graph: Graph, heuristic: Arc<dyn Heuristic>) -> Self {
        Self { graph: Arc::new(graph), reversed: Arc::default(), heuristic, own: false }
    }

    /// A graph whose vertices have coordinates. The estimate is the minimum cost of the straight
    /// line to the goal, at the rate of the arc that is cheapest for its length. So weights should
    /// be about proportional to lengths; one nearly free arc makes the estimate useless.
    ///
    /// Lengths follow a norm with sixteen sides, in integers: within 2 % of the Euclidean length if
    /// coordinates span less than 2^21, else within 6 %. If they span 2^26 or more they are rounded
    /// to multiples of a power of two.
    ///
    /// # Errors
    /// [`SearchError::Coordinates`] if the numbers of coordinates and vertices differ.
    pub fn straight(graph: Graph, coordinates: &[(i32, i32)]) -> Result<Self, SearchError> {
        let heuristic = Arc::new(StraightLine::new(&graph, coordinates)?);
        Ok(Self { own: true, ..Self::new(graph, heuristic) })
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    fn reversed(&self) -> &Graph {
        self.reversed.get_or_init(|| self.graph.reversed())
    }

    /// The heuristic.
    pub(crate) fn heuristic(&self) -> &dyn Heuristic {
        &*self.heuristic
    }

    /// Checks on the CPU that the heuristic is consistent for these goals, on all arcs. It costs
    /// two estimates for each arc and goal.
    ///
    /// # Errors
    /// [`SearchError::NoVertex`] if a goal is not a vertex, and [`SearchError::Heuristic`] with the
    /// number of the goal instead of the search, and the first arc.
    pub fn check(&self, goals: &[u32]) -> Result<(), SearchError> {
        let vertices = self.graph.vertices();
        if let Some((search, &vertex)) = goals.iter().enumerate().find(|(_, goal)| **goal >= vertices) {
            return Err(SearchError::NoVertex { search, vertex, vertices });
        }
        for (search, &goal) in goals.iter().enumerate() {
            let estimate = |vertex| u64::from(self.heuristic.estimate(vertex, goal));
            let breaks = |from: u32| {
                let most = |to, weight: u32| u64::from(weight) + estimate(to);
                let mut arcs = self.graph.arcs_from(from).iter();
                arcs.find(|&&(to, weight)| estimate(from) > most(to, weight)).map(|&(to, _)| (from, to))
            };
            let first = match estimate(goal) {
                0 => (0..vertices).into_par_iter().find_map_first(breaks),
                _ => Some((goal, goal)),
            };
            if let Some((from, to)) = first {
                let search = u32::try_from(search).unwrap_or(u32::MAX);
                return Err(SearchError::Heuristic { search, from, to });
            }
        }
        Ok(())
    }
}

/// Without a heuristic: searches expand in all directions, like Dijkstra's algorithm.
impl From<Graph> for Guided {
    fn from(graph: Graph) -> Self {
        Self { own: true, ..Self::new(graph, Arc::new(Unguided)) }
    }
}

/// No heuristic.
#[derive(Debug)]
struct Unguided;

impl Heuristic for Unguided {
    fn source(&self) -> Source {
        shaders::file("search/guess_none.wgsl")
    }

    fn estimate(&self, _: u32, _: u32) -> u32 {
        0
    }
}

/// The minimum cost of straight lines: `shaders/search/guess_straight.wgsl`.
#[derive(Debug)]
struct StraightLine {
    /// A unit of length costs `factor` / 2^`shift`.
    factor: u32,
    shift: u32,
    /// A unit of coordinates has the length 1024 >> `bits`.
    bits: u32,
    /// Coordinates, below [`SIDE`] << `bits`.
    places: Vec<(u32, u32)>,
}

/// Limit of coordinates at which lengths in units of 1/1024 fit 31 bits.
const SIDE: u32 = 1 << 20;
/// Beyond that limit the unit of lengths grows, up to 1/16. Beyond 2^6 times the limit, coordinates
/// are rounded.
const MOST_BITS: u32 = 6;

impl StraightLine {
    fn new(graph: &Graph, coordinates: &[(i32, i32)]) -> Result<Self, SearchError> {
        if coordinates.len() != graph.vertices() as usize {
            let (given, vertices) = (coordinates.len(), graph.vertices());
            return Err(SearchError::Coordinates { given, vertices });
        }
        let least = |of: fn(&(i32, i32)) -> i32| coordinates.iter().map(of).min().unwrap_or(0);
        let corner = (least(|place| place.0), least(|place| place.1));
        let from_corner = |&(x, y): &(i32, i32)| (x.abs_diff(corner.0), y.abs_diff(corner.1));
        let mut places: Vec<_> = coordinates.iter().map(from_corner).collect();
        let most = places.iter().map(|&(x, y)| x.max(y)).max().unwrap_or(0);
        let beyond = (most / SIDE).checked_ilog2().map_or(0, |bits| bits + 1);
        let bits = beyond.min(MOST_BITS);
        // Rounding changes the coordinates slightly. Their lengths are still a norm, and the factor
        // below is computed for the rounded coordinates.
        let cut = beyond - bits;
        places.iter_mut().for_each(|place| *place = (place.0 >> cut, place.1 >> cut));
        let mut straight = Self { factor: 0, shift: 63, bits, places };
        // The cheapest arc for its length, as (weight, length). The initial pair keeps estimates in
        // 32 bits: no length is greater.
        let mut cheapest = (u32::MAX - 1, straight.norm(most >> cut, most >> cut).max(1024));
        for from in 0..graph.vertices() {
            for &(to, weight) in graph.arcs_from(from) {
                let length = straight.length(from, to);
                if u64::from(weight) * u64::from(cheapest.1) < u64::from(cheapest.0) * u64::from(length) {
                    cheapest = (weight, length);
                }
            }
        }
        let factor = |shift| (u128::from(cheapest.0) << shift) / u128::from(cheapest.1);
        // Bound: 63. For a shift of 1 the quotient is below 2^23.
        while straight.shift > 1 && factor(straight.shift) > u32::MAX.into() {
            straight.shift -= 1;
        }
        straight.factor = u32::try_from(factor(straight.shift)).unwrap_or(u32::MAX);
        Ok(straight)
    }

    /// The length of the straight line between two vertices. A unit of coordinates has the length
    /// 1024 >> `bits`.
    fn length(&self, from: u32, to: u32) -> u32 {
        let (from, to) = (self.places[from as usize], self.places[to as usize]);
        let (x, y) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
        self.norm(x.max(y), x.min(y))
    }

    fn norm(&self, far: u32, near: u32) -> u32 {
        // The cosines and sines of 0, 22.5 and 45 degrees.
        let [zero, eighth, sine, quarter] = [1024, 946, 391, 724].map(|part: u32| part >> self.bits);
        (zero * far).max(eighth * far + sine * near).max(quarter * (far + near))
    }
}

impl Heuristic for StraightLine {
    fn source(&self) -> Source {
        shaders::file("search/guess_straight.wgsl")
    }

    fn data(&self) -> Vec<u32> {
        let places = self.places.iter().flat_map(|&(x, y)| [x, y]);
        [self.factor, self.shift, self.bits].into_iter().chain(places).collect()
    }

    fn estimate(&self, vertex: u32, goal: u32) -> u32 {
        let product = u64::from(self.length(vertex, goal)) * u64::from(self.factor);
        u32::try_from(product >> self.shift).expect("the factor keeps estimates in 32 bits")
    }
}

impl Space for Guided {}

impl sealed::Space for Guided {
    type Cell = u32;
    type MoveMap = ();

    const BANDS: bool = false;

    fn move_map(&self) {}

    fn count(&self) -> u32 {
        self.graph.vertices()
    }

    fn locate(&self, search: usize, vertex: u32) -> Result<u32, SearchError> {
        let vertices = self.graph.vertices();
        match vertex < vertices {
            true => Ok(vertex),
            false => Err(SearchError::NoVertex { search, vertex, vertices }),
        }
    }

    fn index(&self, place: u32) -> usize {
        place as usize
    }

    fn place(&self, index: usize) -> u32 {
        u32::try_from(index).expect("vertices are numbered in 32 bits")
    }

    fn is_open(&self, _: u32) -> bool {
        true
    }

    fn estimate(&self, place: u32, goal: u32) -> u32 {
        self.heuristic.estimate(place, goal)
    }

    fn each_move(&self, (): &(), place: u32, mut to: impl FnMut(u32, u32)) {
        self.graph.arcs_from(place).iter().for_each(|&(vertex, weight)| to(vertex, weight));
    }

    fn before(&self, (): &(), place: u32, mut is: impl FnMut(u32, u32) -> bool) -> Option<u32> {
        self.reversed()
            .arcs_from(place)
            .iter()
            .find(|&&(from, weight)| is(from, weight))
            .map(|&(from, _)| from)
    }

    fn most_cost(&self) -> u32 {
        let vertices = u64::from(self.graph.vertices());
        let path = vertices.saturating_sub(1) * u64::from(self.graph.heaviest()) + 1;
        u32::try_from(path).unwrap_or(u32::MAX)
    }

    fn dearest_path(&self) -> u32 {
        // A cost so far never reaches a smaller `most_cost`: paths are skipped only if the sum with
        // the estimate does not fit.
        u32::MAX
    }

    fn usual_cost(&self) -> u64 {
        // Paths in road networks have a few square roots of all vertices.
        u64::from(self.graph.heaviest()) * 4 * u64::from(self.graph.vertices().isqrt()) + 1
    }

    fn usual_open(&self) -> u32 {
        self.graph.vertices().isqrt().saturating_mul(8)
    }

    fn most_open(&self) -> u32 {
        self.graph.arcs().saturating_add(1)
    }

    fn usual_band(&self) -> u32 {
        0
    }

    fn check_paths(&self) -> Result<(), SearchError> {
        match self.graph.free_arc() {
            None => Ok(()),
            Some((from, to)) => Err(SearchError::FreeArc { from, to }),
        }
    }

    fn map(&self, gpu: &Gpu) -> Result<Map, SearchError> {
        Map::of_graph(gpu, &self.graph, self.heuristic(), self.own)
    }

    fn walk_map(&self, gpu: &Gpu) -> Result<WalkMap, SearchError> {
        let words = self.reversed().words();
        Ok(vec![("arcs_to", Buffer::storage_from(gpu, "search: arcs turned round", &words)?)])
    }

    fn front_map(&self, gpu: &Gpu) -> Result<FrontMap, SearchError> {
        FrontMap::of_graph(gpu, &self.graph)
    }

    fn front_band(&self) -> u32 {
        // A multiple of the mean, so that one very large weight does not put all vertices into one
        // band.
        self.graph.mean().saturating_mul(12)
    }

    fn describe(&self, _: &mut Work) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_cost_no_more_than_arcs() {
        let far = i32::MAX;
        let places = [(-far - 1, -far - 1), (far, far), (0, 0), (3, 4), (-far, far)];
        for weights in [[1, 1, 1, 1], [u32::MAX; 4], [0, 5, 5, 5], [1 << 20, 77, 3, 1 << 31]] {
            let arcs = [(0, 1), (1, 2), (2, 3), (4, 0)].map(|(from, to)| (from, to));
            let arcs: Vec<_> =
                arcs.into_iter().zip(weights).map(|((from, to), weight)| (from, to, weight)).collect();
            let guided = Guided::straight(Graph::new(5, &arcs).unwrap(), &places).unwrap();
            guided.check(&[0, 1, 2, 3, 4]).unwrap();
        }
        // Estimates are also close for weights that are large for their lengths and for coordinates
        // beyond 2^20.
        for (step, weight) in [(1, 4_000_000), (10_000_000, 12_345), (50, u32::MAX / 20)] {
            let row: Vec<_> = (0..9).map(|vertex| (vertex, vertex + 1, weight)).collect();
            let places: Vec<_> = (0..10).map(|vertex| (vertex * step, -7)).collect();
            let guided = Guided::straight(Graph::new(10, &row).unwrap(), &places).unwrap();
            guided.check(&[0, 5, 9]).unwrap();
            let estimate = guided.heuristic().estimate(0, 9);
            assert!(estimate <= 9 * weight && estimate >= 9 * (weight / 100 * 99), "{estimate}");
        }
        // With proportional weights the estimate is exact, except for rounding.
        let row: Vec<_> = (0..9).map(|vertex| (vertex, vertex + 1, 1000)).collect();
        let places: Vec<_> = (0..10).map(|vertex| (vertex * 50, 7)).collect();
        let guided = Guided::straight(Graph::new(10, &row).unwrap(), &places).unwrap();
        let estimate = guided.heuristic().estimate(0, 9);
        assert!((8999..=9000).contains(&estimate), "{estimate}");
        assert!(matches!(
            Guided::straight(Graph::new(3, &[]).unwrap(), &places),
            Err(SearchError::Coordinates { given: 10, vertices: 3 })
        ));
    }
}
