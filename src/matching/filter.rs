//! Tests candidates: those of a sweep in several dimensions, or of a grid.

use super::call_size::{CallSize, room};
use super::kernels::{Kernels, ReadbackRange, wide};
use super::limits::{MAX_TASKS, TILE, UNIT};
use super::prepared::{Filter, Origin, Ranges};
use super::work::{Memory, PlacedWork, TaskParams, Window, Work};
use super::{MatchingError, programs};
use crate::gpu::{Buffer, Plan};

impl Filter {
    /// `at_once`: whether one submission tests everything ([`Kernels::tests_at_once`]).
    pub(super) fn new(
        kernels: &Kernels,
        ranges: &Ranges,
        origin: Origin,
        tasks: u32,
        at_once: bool,
    ) -> Result<Self, MatchingError> {
        let mut finding = Plan::new("first ranges of tiles");
        let firsts = ranges.firsts(kernels, &mut finding, 0, tasks)?;
        let lengths = kernels.lend("matches of tasks", tasks.into())?;
        let mut placing = Plan::new("places of tasks");
        let offsets = kernels.add_offsets(&mut placing, &lengths, tasks)?;
        let mut filter = Self { origin, tasks, firsts, lengths, offsets, finding, testing: None, placing };
        if !at_once {
            return Ok(filter);
        }
        let work = filter.work(ranges, tasks);
        let mut buffers: Vec<_> = work.inputs.iter().map(|(name, buffer)| (*name, buffer)).collect();
        buffers.push(("lengths", filter.lengths.raw()));
        let params = TaskParams::new(work.sides, (0, tasks), work.ranges, Window::NONE);
        let mut testing = Plan::new("tests");
        kernels.add(&mut testing, &work.count, tasks, &params, &buffers)?;
        filter.testing = Some(testing);
        Ok(filter)
    }

    /// All plans, if the tests are among them.
    pub(super) fn plans(&self) -> impl Iterator<Item = &Plan> {
        [&self.finding].into_iter().chain(&self.testing).chain([&self.placing])
    }

    /// Whether it has capacity for `tasks` tiles and tests them in one submission.
    pub(super) fn is_at_once(&self, tasks: u32) -> bool {
        self.testing.is_some() && self.tasks == tasks
    }

    /// The number of matching candidates, available when the plans have run.
    pub(super) fn wanted(&self) -> ReadbackRange<'_> {
        ReadbackRange::wide(&self.offsets, self.tasks)
    }

    /// The first `tasks` tasks, as work that can be counted and written.
    fn work(&self, ranges: &Ranges, tasks: u32) -> Work {
        let homes = matches!(self.origin, Origin::Grid);
        Work {
            count: programs::candidates_count(ranges.dims, homes),
            write: programs::candidates_write(ranges.dims, homes),
            inputs: ranges.inputs(&self.firsts).map(|(name, buffer)| (name, buffer.clone())).to_vec(),
            sides: ranges.sides(),
            ranges: ranges.count,
            tasks,
            unit: UNIT,
        }
    }

    /// Tests and counts in as many submissions as needed.
    async fn run(&self, kernels: &Kernels, ranges: &Ranges) -> Result<u64, MatchingError> {
        let read = if self.testing.is_some() {
            let plans: Vec<_> = self.plans().collect();
            kernels.run_tests(&plans, false, &[self.wanted()], self.tasks).await?
        } else {
            self.finding.submit(kernels.gpu())?;
            let work = self.work(ranges, self.tasks);
            work.run(kernels, &work.count, &[("lengths", self.lengths.raw())], Window::NONE).await?;
            kernels.run(&[&self.placing], false, &[self.wanted()]).await?
        };
        Ok(wide(&read[0]))
    }
}

/// Candidates with a known number of matches.
pub(super) struct Counted {
    pub(super) filter: Filter,
    tasks: u32,
    total: u64,
}

/// Counts the matches among the candidates. `done` is a filter that has already run, with its
/// count; it is used if its capacity was sufficient.
pub(super) async fn count(
    kernels: &Kernels,
    ranges: &Ranges,
    origin: Origin,
    candidates: u64,
    done: Option<(Filter, u64)>,
    known: &mut CallSize,
) -> Result<Counted, MatchingError> {
    let needed = candidates.div_ceil(TILE.into());
    let tasks = u32::try_from(needed)
        .ok()
        .filter(|tasks| *tasks <= MAX_TASKS)
        .ok_or(MatchingError::TooMuchWork { what: "tiles of candidates", needed, limit: MAX_TASKS.into() })?;
    known.tasks = room(known.tasks, tasks).min(MAX_TASKS);
    if let Some((filter, total)) = done.filter(|(filter, _)| tasks <= filter.tasks) {
        return Ok(Counted { filter, tasks, total });
    }
    // Spare tiles are for the next call, which tests them in one submission or not at all: slices
    // of empty tiles would wrongly show that tests take no time.
    let tiles = if kernels.tests_at_once(known.tasks) { known.tasks } else { tasks };
    let filter = Filter::new(kernels, ranges, origin, tiles, kernels.tests_at_once(tiles))?;
    let total = filter.run(kernels, ranges).await?;
    Ok(Counted { filter, tasks, total })
}

impl Counted {
    /// The matches, as work that is written later.
    pub(super) fn source(&self, ranges: &Ranges) -> (Work, Buffer<u64>, u64) {
        (self.filter.work(ranges, self.tasks), self.filter.offsets.clone(), self.total)
    }
}

/// The counted matches, with the memory that they use.
pub(super) fn found((work, offsets, total): (Work, Buffer<u64>, u64), memory: Memory) -> (u64, PlacedWork) {
    (total, PlacedWork { work, offsets, memory })
}
