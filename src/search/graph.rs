//! Directed graphs with integer weights.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::SearchError;

/// A directed graph: vertices by number, and arcs with weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Where the arcs of each vertex begin in `arcs`, and the end.
    firsts: Vec<u32>,
    /// (to, weight), by the vertex that they come from.
    arcs: Vec<(u32, u32)>,
}

impl Graph {
    /// A graph of so many vertices with arcs (from, to, weight), in any order.
    ///
    /// # Errors
    /// [`SearchError::Vertex`] where an arc begins or ends at no vertex, [`SearchError::TooMany`] beyond 2^32 arcs.
    pub fn new(vertices: u32, arcs: &[(u32, u32, u32)]) -> Result<Self, SearchError> {
        let limit = u32::MAX;
        if arcs.len() > limit as usize {
            return Err(SearchError::TooMany { searches: arcs.len(), limit });
        }
        if let Some(arc) = arcs.iter().position(|(from, to, _)| *from.max(to) >= vertices) {
            let (from, to, _) = arcs[arc];
            return Err(SearchError::Vertex { arc, vertex: from.max(to), vertices });
        }
        let mut firsts = vec![0; vertices as usize + 1];
        arcs.iter().for_each(|(from, ..)| firsts[*from as usize + 1] += 1);
        for vertex in 0..vertices as usize {
            firsts[vertex + 1] += firsts[vertex];
        }
        let mut next = firsts.clone();
        let mut sorted = vec![(0, 0); arcs.len()];
        for &(from, to, weight) in arcs {
            sorted[next[from as usize] as usize] = (to, weight);
            next[from as usize] += 1;
        }
        Ok(Self { firsts, arcs: sorted })
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

    /// The distances from one vertex to all, by Dijkstra's algorithm on one core; none where there is no way.
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
        self.arcs.iter().map(|(_, weight)| *weight).max().unwrap_or(0)
    }
}
