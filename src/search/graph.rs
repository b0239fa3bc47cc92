//! Directed graphs with integer weights.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::SearchError;

/// A directed graph in rows (CSR): numbered vertices, and arcs with weights. Of parallel arcs it
/// has only the lightest, and no loops, because shortest paths need no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The first index in `arcs` of each vertex, and the end.
    firsts: Vec<u32>,
    /// (to, weight), sorted by source vertex and then by `to`, without duplicates.
    arcs: Vec<(u32, u32)>,
    /// The largest weight, and the mean of all, rounded up; 0 without arcs.
    heaviest: u32,
    mean: u32,
    /// The endpoints of the first arc with weight 0.
    free: Option<(u32, u32)>,
}

impl Graph {
    /// A graph of `vertices` vertices with arcs (from, to, weight), in any order.
    ///
    /// # Errors
    /// [`SearchError::Vertex`] if an arc starts or ends at a vertex that does not exist,
    /// [`SearchError::Arcs`] beyond 2^32 arcs.
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
            firsts[vertex + 1] = u32::try_from(kept).expect("at most the number of input arcs");
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

    /// A random graph for tests and measurements. Its grid of `side` times `side` vertices is
    /// joined in both directions, and one of eight neighbours is missing. Arcs have weights from
    /// 1,000 to 1,999 and a length of 1,000 in units of the coordinates. It is about as sparse as
    /// road networks.
    ///
    /// # Errors
    /// [`SearchError::Sides`] if the side is 0 or above [`MAX_SIDE`](super::MAX_SIDE).
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

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        u32::try_from(self.firsts.len() - 1).expect("the number of vertices is a u32")
    }

    /// The arcs from a vertex: (to, weight).
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn arcs_from(&self, vertex: u32) -> &[(u32, u32)] {
        &self.arcs[self.firsts[vertex as usize] as usize..self.firsts[vertex as usize + 1] as usize]
    }

    /// The number of arcs.
    pub fn arcs(&self) -> u32 {
        u32::try_from(self.arcs.len()).expect("they are numbered in 32 bits")
    }

    /// The same graph with all arcs reversed.
    pub(super) fn reversed(&self) -> Self {
        let arcs = |vertex| self.arcs_from(vertex).iter().map(move |&(to, weight)| (to, vertex, weight));
        Self::sorted(self.vertices(), (0..self.vertices()).flat_map(arcs))
    }

    /// A graph with the same distances between the vertices of this one, which come first, and at
    /// most 64 arcs per vertex. A vertex with more arcs gets extra vertices, which arcs of weight 0
    /// lead to. `None` if 32-bit numbers do not suffice.
    pub(super) fn cut(&self) -> Option<Self> {
        const MOST: usize = 64;
        let mut next = u64::from(self.vertices());
        // Rows of the extra vertices, in order.
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

    /// The endpoints of an arc of weight 0, if there is one: such a graph has no defined paths
    /// ([`SearchError::FreeArc`]).
    pub fn free_arc(&self) -> Option<(u32, u32)> {
        self.free
    }

    /// The graph as words for kernels (`shaders/search/graph.wgsl`).
    pub(super) fn words(&self) -> Vec<u32> {
        let arcs = self.arcs.iter().flat_map(|&(to, weight)| [to, weight]);
        self.firsts.iter().copied().chain(arcs).collect()
    }

    /// The distances from one vertex to all vertices, with Dijkstra's algorithm on one core; `None`
    /// for unreachable ones.
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

    /// The largest weight; 0 without arcs.
    pub(super) fn heaviest(&self) -> u32 {
        self.heaviest
    }

    /// The mean weight, rounded up; 0 without arcs.
    pub(super) fn mean(&self) -> u32 {
        self.mean
    }
}
