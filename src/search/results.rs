//! Results of searches.

use std::marker::PhantomData;

use glam::UVec2;
use rayon::prelude::*;

use crate::gpu::{Buffer, Gpu};
use crate::random::mix;

use super::{Cell, SearchError};

/// The result of one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The cost of the cheapest path; `None` without a path.
    pub cost: Option<u32>,
    /// The cells (or vertices) whose cost so far plus heuristic is below the cost of the path;
    /// without a path, the cells reachable from the start. 0 if the start or the goal is blocked.
    pub expanded: u32,
}

/// The results of a list of searches, in the order of the list, between cells of a map or vertices
/// (`u32`) of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results<C = UVec2> {
    pub(super) outcomes: Vec<Outcome>,
    /// The first index in `cells` of each search's path, and the end; empty if no paths were
    /// requested.
    pub(super) firsts: Vec<u64>,
    /// The cells of all paths, as places.
    pub(super) cells: Vec<u32>,
    pub(super) fingerprint: u64,
    named: PhantomData<C>,
}

impl<C: Cell> Results<C> {
    /// Results of a list of searches from another source, such as
    /// [`AStar`](super::reference::AStar) without a device: the outcome of each search, and its
    /// path if paths are wanted.
    pub fn new(searches: &[(C, C)], outcomes: Vec<Outcome>, paths: Option<Vec<Vec<C>>>) -> Self {
        let place = |cell: &C| cell.place();
        let paths = paths.map(|paths| paths.iter().map(|path| path.iter().map(place).collect()).collect());
        Self::from_places(searches, outcomes, paths)
    }

    pub(super) fn from_places(
        searches: &[(C, C)],
        outcomes: Vec<Outcome>,
        paths: Option<Vec<Vec<u32>>>,
    ) -> Self {
        let (mut firsts, mut cells) = (Vec::new(), Vec::new());
        if let Some(paths) = paths {
            firsts.push(0);
            for path in &paths {
                cells.extend_from_slice(path);
                firsts.push(cells.len() as u64);
            }
        }
        let fingerprint = fingerprint(searches, &outcomes);
        Self { outcomes, firsts, cells, fingerprint, named: PhantomData }
    }

    /// The outcome of each search.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The cells of a search's path from start to goal; empty without a path, or if no paths were
    /// requested.
    ///
    /// # Panics
    /// If there is no such search.
    pub fn path(&self, search: usize) -> impl ExactSizeIterator<Item = C> + '_ {
        let searches = self.outcomes.len();
        assert!(search < searches, "search {search} does not exist: there are {searches}, numbered from 0");
        let at = |first: u64| usize::try_from(first).expect("the cells are in memory");
        let cells = match self.firsts.get(search..search + 2) {
            Some(ends) => &self.cells[at(ends[0])..at(ends[1])],
            None => &[],
        };
        cells.iter().map(|&place| C::at(place))
    }

    /// How many searches found a path.
    pub fn found(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.cost.is_some()).count()
    }

    /// The total number of expanded cells.
    pub fn expanded(&self) -> u64 {
        self.outcomes.iter().map(|outcome| u64::from(outcome.expanded)).sum()
    }

    /// 64 bits that depend only on start, goal and cost of every search.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The costs on a device, for an application's kernels: a word for each search, all ones
    /// without a path.
    ///
    /// # Errors
    /// [`SearchError::Gpu`].
    pub fn costs_on(&self, gpu: &Gpu) -> Result<Buffer<u32>, SearchError> {
        let costs: Vec<_> = self.outcomes.iter().map(|outcome| outcome.cost.unwrap_or(u32::MAX)).collect();
        Ok(Buffer::storage_from(gpu, "search: costs", &costs)?)
    }

    /// The paths on a device: the first index of each search's path and the end of all; and the
    /// cells of all paths (x | y << 16, or vertices).
    ///
    /// # Errors
    /// [`SearchError::Gpu`].
    pub fn paths_on(&self, gpu: &Gpu) -> Result<(Buffer<u64>, Buffer<u32>), SearchError> {
        let firsts = Buffer::storage_from(gpu, "search: firsts", &self.firsts)?;
        Ok((firsts, Buffer::storage_from(gpu, "search: paths", &self.cells)?))
    }
}

/// The fingerprint of a list of searches with their outcomes.
pub(super) fn fingerprint<C: Cell>(searches: &[(C, C)], outcomes: &[Outcome]) -> u64 {
    let pairs = searches.par_iter().zip(outcomes).enumerate();
    pairs
        .map(|(number, ((start, goal), outcome))| {
            // Lists are shorter than 2^32.
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let cost = [u32::from(outcome.cost.is_some()), outcome.cost.unwrap_or(0)];
            mix(1, [number].into_iter().chain(start.words()).chain(goal.words()).chain(cost))
        })
        .reduce(|| 0, u64::wrapping_add)
}
