//! What comes of searches.

use std::marker::PhantomData;

use glam::UVec2;
use rayon::prelude::*;

use crate::gpu::{Buffer, Gpu};
use crate::random::mix;

use super::{Cell, SearchError};

/// What came of one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// What the cheapest path costs; none where there is no path.
    pub cost: Option<u32>,
    /// The cells (or vertices) whose cost so far and heuristic together are below the cost of the
    /// path; where there is no path, the cells that can be reached from the start. 0 where the
    /// start or the goal is blocked.
    pub expanded: u32,
}

/// What came of a list of searches, in the order of the list, between cells of a map or vertices
/// (`u32`) of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results<C = UVec2> {
    pub(super) outcomes: Vec<Outcome>,
    /// Where the path of each search begins in `cells`, and the end; empty where no paths were
    /// asked for.
    pub(super) firsts: Vec<u64>,
    /// Places.
    pub(super) cells: Vec<u32>,
    pub(super) fingerprint: u64,
    named: PhantomData<C>,
}

impl<C: Cell> Results<C> {
    /// The results of a list of searches that were made elsewhere: by
    /// [`AStar`](super::reference::AStar), say, where there is no device. The outcome of each
    /// search, and the path of each, if paths are wanted.
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

    /// The cells of a search's path from start to goal; none where there is no path, or no paths
    /// were asked for.
    ///
    /// # Panics
    /// If there is no such search.
    pub fn path(&self, search: usize) -> impl ExactSizeIterator<Item = C> + '_ {
        let searches = self.outcomes.len();
        assert!(search < searches, "the path of search {search}, and there are {searches}, numbered from 0");
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

    /// The sum of the cells expanded.
    pub fn expanded(&self) -> u64 {
        self.outcomes.iter().map(|outcome| u64::from(outcome.expanded)).sum()
    }

    /// 64 bits that depend on start, goal and cost of every search, and on nothing else.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The costs on a device, for kernels of an application's: a word for each search, all ones
    /// where there is no path.
    ///
    /// # Errors
    /// [`SearchError::Gpu`].
    pub fn costs_on(&self, gpu: &Gpu) -> Result<Buffer<u32>, SearchError> {
        let costs: Vec<_> = self.outcomes.iter().map(|outcome| outcome.cost.unwrap_or(u32::MAX)).collect();
        Ok(Buffer::storage_from(gpu, "search: costs", &costs)?)
    }

    /// The paths on a device: (where the path of each search begins, and the end of all; the cells
    /// of all paths, x | y << 16, or vertices).
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
