//! A town: vertices, and roads that do not cross, each with a travel time and a capacity.

use std::sync::Arc;

use eventhorizon::gpu::Gpu;
use eventhorizon::hybrid::{Handler, HybridError};
use eventhorizon::random::Stream;
use eventhorizon::search::{AllPairs, Graph, SearchError};

pub(crate) struct Road {
    pub(crate) ends: [u32; 2],
    /// Travel time in seconds without traffic.
    pub(crate) seconds: u32,
    /// Cars in half an hour that double the travel time.
    pub(crate) capacity: u32,
}

pub(crate) struct Town {
    pub(crate) roads: Vec<Road>,
    /// Positions for pictures, in 1/256 of a block.
    pub(crate) places: Vec<[u32; 2]>,
    /// For each vertex: its roads, each with the vertex at its other end.
    ways: Vec<Vec<(u32, usize)>>,
}

impl Town {
    /// A grid in which some streets are missing, some are diagonal, and corners are displaced.
    pub(crate) fn new(vertices: u32, agents: u32, seed: u64) -> Self {
        let side = vertices.isqrt() + u32::from(vertices.isqrt().pow(2) < vertices);
        let mut stream = Stream::new(seed, u32::MAX, 0);
        let mut roads = Vec::new();
        // About the number of cars on a road in half an hour of a usual day, so that busy roads are
        // slow for any number of agents and vertices.
        let typical = agents / (20 * vertices.isqrt()) + 1;
        let mut road = |stream: &mut Stream, a: u32, b: u32| {
            let seconds = 30 + stream.below(120);
            let capacity = 1 + stream.below(2 * typical + 1);
            roads.push(Road { ends: [a, b], seconds, capacity });
        };
        for vertex in 0..vertices {
            let column = vertex % side;
            let (right, below) = (vertex + 1, vertex + side);
            // The roads along rows and the first column connect the town.
            if column + 1 < side && right < vertices {
                road(&mut stream, vertex, right);
            }
            if below < vertices && (column == 0 || stream.below(8) > 0) {
                road(&mut stream, vertex, below);
            }
            if column + 1 < side && below + 1 < vertices && stream.below(4) == 0 {
                road(&mut stream, vertex, below + 1);
            }
        }
        let mut place =
            |vertex: u32| [vertex % side, vertex / side].map(|at| at * 256 + 40 + stream.below(176));
        let places = (0..vertices).map(&mut place).collect();
        let mut ways = vec![Vec::new(); vertices as usize];
        for (number, Road { ends: [a, b], .. }) in roads.iter().enumerate() {
            ways[*a as usize].push((*b, number));
            ways[*b as usize].push((*a, number));
        }
        Self { roads, places, ways }
    }

    pub(crate) fn vertices(&self) -> u32 {
        u32::try_from(self.ways.len()).expect("it was built from a u32")
    }

    /// Travel times of the roads in seconds, for a number of cars on each.
    pub(crate) fn weights(&self, cars: &[u32]) -> Vec<u32> {
        let weight = |(road, &cars): (&Road, &u32)| {
            let more = u64::from(road.seconds) * u64::from(cars) / u64::from(road.capacity);
            road.seconds + u32::try_from(more.min(36_000)).expect("at most 36,000")
        };
        self.roads.iter().zip(cars).map(weight).collect()
    }

    /// The roads of a shortest path. Of several, the one whose roads come first at each vertex.
    pub(crate) fn path(&self, [from, to]: [u32; 2], weights: &[u32], distances: &[u32]) -> Vec<usize> {
        let vertices = self.ways.len();
        let left = |vertex: u32| distances[vertex as usize * vertices + to as usize];
        let (mut at, mut path) = (from, Vec::new());
        while at != to {
            let shortest =
                |&&(other, road): &&(u32, usize)| weights[road].checked_add(left(other)) == Some(left(at));
            let &(next, road) =
                self.ways[at as usize].iter().find(shortest).expect("distances are those of the weights");
            path.push(road);
            at = next;
        }
        path
    }

    fn arcs(&self, weights: &[u32]) -> Vec<(u32, u32, u32)> {
        let both = |(road, &weight): (&Road, &u32)| {
            let [a, b] = road.ends;
            [(a, b, weight), (b, a, weight)]
        };
        self.roads.iter().zip(weights).flat_map(both).collect()
    }
}

/// Shortest paths between all pairs: from road weights to rows of distances.
pub(crate) struct Routes(pub(crate) Arc<Town>);

impl Handler for Routes {
    type Call = Vec<u32>;
    type Answer = Vec<u32>;

    fn name(&self) -> &str {
        "all pairs"
    }

    /// The algorithm of Floyd and Warshall in its textbook form.
    fn on_cpu(&self, weights: &Vec<u32>) -> Vec<u32> {
        const FAR: u32 = u32::MAX / 2;
        let side = self.0.vertices() as usize;
        let mut distances = vec![FAR; side * side];
        for (from, to, weight) in self.0.arcs(weights) {
            let distance = &mut distances[from as usize * side + to as usize];
            *distance = weight.min(*distance);
        }
        for vertex in 0..side {
            distances[vertex * side + vertex] = 0;
        }
        let mut onward = vec![0; side];
        for way in 0..side {
            onward.copy_from_slice(&distances[way * side..][..side]);
            for row in distances.chunks_exact_mut(side) {
                let first = row[way];
                row.iter_mut()
                    .zip(&onward)
                    .for_each(|(distance, onward)| *distance = (*distance).min(first + onward));
            }
        }
        distances
    }

    fn on_gpu(&self, gpu: &Gpu, calls: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, HybridError> {
        let wrong = |error: SearchError| HybridError::Handler {
            handler: self.name().to_owned(),
            what: error.to_string(),
        };
        let vertices = self.0.vertices();
        let mut answers = Vec::with_capacity(calls.len());
        for weights in calls {
            let graph = Graph::new(vertices, &self.0.arcs(weights)).map_err(wrong)?;
            let pairs = AllPairs::new(gpu, &graph).map_err(wrong)?;
            let rows = pairs.distances().read(gpu)?;
            let rows = rows.chunks_exact(pairs.row() as usize).take(vertices as usize);
            answers.push(rows.flat_map(|row| &row[..vertices as usize]).copied().collect());
        }
        Ok(answers)
    }
}
