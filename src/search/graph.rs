//! Directed graphs with integer weights.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::SearchError;

/// A directed graph in rows (CSR): vertices by number, and arcs with weights. Of several arcs from
/// one vertex to another it has the lightest, and none from a vertex to itself: no shortest path
/// has any others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Where the arcs of each vertex begin in `arcs`, and the end.
    firsts: Vec<u32>,
    /// (to, weight), by the vertex that they come from, and then by `to`, which differ.
    arcs: Vec<(u32, u32)>,
    /// The greatest weight, and the mean of all, rounded up; 0 without arcs.
    heaviest: u32,
    mean: u32,
    /// The ends of the first arc of weight 0.
    free: Option<(u32, u32)>,
}

impl Graph {
    /// A graph of so many vertices with arcs (from, to, weight), in any order.
    ///
    /// # Errors
    /// [`SearchError::Vertex`] where an arc begins or ends at no vertex, [`SearchError::Arcs`]
    /// beyond 2^32 arcs.
    pub fn new(vertices: u32, arcs: &[(u32, u32, u32)]) -> Result<Self, SearchError> {
        let limit = u32::MAX;
        if arcs.len() > limit as usize {
            return Err(SearchError::Arcs { arcs: arcs.len(), limit });
        }
        if let Some(arc) = arcs.iter().position(|(from, to, _)| *from.max(to) >= vertices) {
            let (from, to, _) = arcs[arc];
            return Err(SearchError::Vertex { arc, vertex: from.max(to), vertices });
        }
        Ok(Self::sorted(vertices, arcs.iter().copied()))
    }

    fn sorted(vertices: u32, arcs: impl Iterator<Item = (u32, u32, u32)> + Clone) -> Self {
        let arcs = arcs.filter(|(from, to, _)| from != to);
        let mut firsts = vec![0; vertices as usize + 1];
        arcs.clone().for_each(|(from, ..)| firsts[from as usize + 1] += 1);
        for vertex in 0..vertices as usize {
            firsts[vertex + 1] += firsts[vertex];
        }
        let mut next = firsts.clone();
        let mut rows = vec![(0, 0); firsts[vertices as usize] as usize];
        for (from, to, weight) in arcs {
            rows[next[from as usize] as usize] = (to, weight);
            next[from as usize] += 1;
        }
        let (mut kept, mut begin) = (0, 0);
        for vertex in 0..vertices as usize {
            let end = firsts[vertex + 1] as usize;
            rows[begin..end].sort_unstable();
            for arc in begin..end {
                if arc == begin || rows[arc].0 != rows[arc - 1].0 {
                    rows[kept] = rows[arc];
                    kept += 1;
                }
            }
            begin = end;
            firsts[vertex + 1] = u32::try_from(kept).expect("not more than there were");
        }
        rows.truncate(kept);
        let heaviest = rows.iter().map(|(_, weight)| *weight).max().unwrap_or(0);
        let sum: u64 = rows.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mean = sum.div_ceil(rows.len().max(1) as u64);
        let mean = u32::try_from(mean).expect("not above the greatest");
        let free = rows.iter().position(|(_, weight)| *weight == 0).map(|arc| {
            let from = firsts.partition_point(|first| *first as usize <= arc) - 1;
            (u32::try_from(from).expect("a vertex"), rows[arc].0)
        });
        Self { firsts, arcs: rows, heaviest, mean, free }
    }

    /// A random graph for tests and measurements: a grid of `side` times `side` vertices, joined to
    /// their neighbours in both directions, of which one in eight is missing, by arcs with weights
    /// from 1,000 to 1,999, with coordinates in units of which an arc is 1,000 long. It is about as
    /// sparse as roads are.
    ///
    /// # Errors
    /// [`SearchError::Sides`] where the side is 0 or above [`MAX_SIDE`](super::MAX_SIDE).
    pub fn random_roads(side: u32, seed: u64) -> Result<(Self, Vec<(i32, i32)>), SearchError> {
        let most = super::MAX_SIDE;
        if !(1..=most).contains(&side) {
            return Err(SearchError::Sides { width: side.into(), height: side.into() });
        }
        let mut arcs = Vec::new();
        for vertex in 0..side * side {
            let mut stream = crate::random::Stream::new(seed, 0x726f_6164, vertex.into());
            let below = (vertex / side + 1 < side).then_some(vertex + side);
            let beside = (vertex % side + 1 < side).then_some(vertex + 1);
            for to in [below, beside].into_iter().flatten() {
                for (from, to) in [(vertex, to), (to, vertex)] {
                    let word = stream.draw();
                    if word >> 29 != 0 {
                        arcs.push((from, to, 1000 + (word & 0xffff) * 1000 / 0x1_0000));
                    }
                }
            }
        }
        let coordinate = |place: u32| i32::try_from(place * 1000).expect("a side is below 2^15");
        let places = (0..side * side).map(|vertex| (coordinate(vertex % side), coordinate(vertex / side)));
        Ok((Self::new(side * side, &arcs)?, places.collect()))
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> u32 {
        u32::try_from(self.firsts.len() - 1).expect("it was made from a u32")
    }

    /// The arcs from a vertex: (to, weight).
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn arcs_from(&self, vertex: u32) -> &[(u32, u32)] {
        &self.arcs[self.firsts[vertex as usize] as usize..self.firsts[vertex as usize + 1] as usize]
    }

    /// How many arcs there are.
    pub fn arcs(&self) -> u32 {
        u32::try_from(self.arcs.len()).expect("they are numbered in 32 bits")
    }

    /// The same with all arcs turned round.
    pub(super) fn reversed(&self) -> Self {
        let arcs = |vertex| self.arcs_from(vertex).iter().map(move |&(to, weight)| (to, vertex, weight));
        Self::sorted(self.vertices(), (0..self.vertices()).flat_map(arcs))
    }

    /// A graph with the same distances between the vertices of this one, which come first, in which
    /// none has more than 64 arcs: those of vertices with more lead from vertices of their own, to
    /// which arcs of weight 0 lead. None where numbers do not suffice.
    pub(super) fn cut(&self) -> Option<Self> {
        const MOST: usize = 64;
        let mut next = u64::from(self.vertices());
        // Rows of the vertices that come last, in their order.
        let mut more: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut arcs = Vec::with_capacity(self.arcs.len());
        for vertex in 0..self.vertices() {
            let mut row = self.arcs_from(vertex).to_vec();
            while row.len() > MOST {
                let parts = row.chunks(MOST).map(<[_]>::to_vec);
                more.extend(parts);
                let end = u64::from(self.vertices()) + more.len() as u64;
                row = (next..end).map(|part| Some((u32::try_from(part).ok()?, 0))).collect::<Option<_>>()?;
                next = end;
            }
            arcs.extend(row.into_iter().map(|(to, weight)| (vertex, to, weight)));
        }
        let last = u32::try_from(next).ok()?;
        for (vertex, row) in (self.vertices()..last).zip(more) {
            arcs.extend(row.into_iter().map(|(to, weight)| (vertex, to, weight)));
        }
        u32::try_from(arcs.len()).ok().map(|_| Self::sorted(last, arcs.iter().copied()))
    }

    /// The ends of an arc of weight 0, if there is one: no paths are told in such a graph
    /// ([`SearchError::FreeArc`]).
    pub fn free_arc(&self) -> Option<(u32, u32)> {
        self.free
    }

    /// As kernels have it (`shaders/search/graph.wgsl`).
    pub(super) fn words(&self) -> Vec<u32> {
        let arcs = self.arcs.iter().flat_map(|&(to, weight)| [to, weight]);
        self.firsts.iter().copied().chain(arcs).collect()
    }

    /// The distances from one vertex to all, by Dijkstra's algorithm on one core; none where there
    /// is no way.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn distances_from(&self, vertex: u32) -> Vec<Option<u64>> {
        let mut distances = vec![None; self.vertices() as usize];
        let mut open = BinaryHeap::from([Reverse((0_u64, vertex))]);
        while let Some(Reverse((distance, at))) = open.pop() {
            let known = &mut distances[at as usize];
            if known.is_none() {
                *known = Some(distance);
                let arcs = self.arcs_from(at).iter();
                open.extend(arcs.map(|&(to, weight)| Reverse((distance + u64::from(weight), to))));
            }
        }
        distances
    }

    /// The greatest weight; 0 without arcs.
    pub(super) fn heaviest(&self) -> u32 {
        self.heaviest
    }

    /// The mean weight, rounded up; 0 without arcs.
    pub(super) fn mean(&self) -> u32 {
        self.mean
    }
}
