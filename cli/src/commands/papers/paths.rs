//! A* as in Baudis et al. (section IV.A), which takes eight cells from the open list at a time. The
//! kernels are `paths.wgsl` and `paths_team.wgsl`, with the designs' own files; the reference
//! implementation is `lists.rs`.

use std::time::Instant;

use eventhorizon::gpu::{Buffer, Gpu, GpuError, Plan, Recipe};
use eventhorizon::queue::QueueDesign;
use eventhorizon::search::Grid;
use glam::UVec2;

use super::lists::{self, AROUND};
use crate::shared::Outcome;

/// The WGSL `struct Shape`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Shape {
    width: u32,
    cells: u32,
    words: u32,
    searches: u32,
    slots: u32,
    capacity: u32,
    stride: u32,
    straight: u32,
    diagonal: u32,
}

/// Words of the WGSL `struct Slot`, and the rows of a slot.
const SLOT: usize = 8;
const ROWS: u64 = 8 + 64;

/// Iterations in a submission.
const AT_ONCE: u32 = 32;

/// The open list's capacity at first, for each cell of a side; it grows where a list is longer.
const CAPACITY: u32 = 3;

/// What a search found: the cost of its path, and the number of insertions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) cost: Option<u32>,
    pub(super) insertions: u32,
}

/// Makes the searches, `slots` of them at once. Returns the seconds without compilation, and what
/// each found.
pub(super) fn search(
    gpu: &Gpu,
    grid: &Grid,
    searches: &[(UVec2, UVec2)],
    design: QueueDesign,
    slots: u32,
) -> Outcome<(f64, Vec<Found>)> {
    let mut capacity = CAPACITY * grid.width();
    // Bound: the doublings to the number of cells, which no list exceeds.
    loop {
        match run(gpu, grid, searches, design, [slots, capacity])? {
            Some(found) => return Ok(found),
            None => capacity *= 2,
        }
    }
}

/// The same with a capacity; `None` if a list was full.
fn run(
    gpu: &Gpu,
    grid: &Grid,
    searches: &[(UVec2, UVec2)],
    design: QueueDesign,
    [slots, capacity]: [u32; 2],
) -> Outcome<Option<(f64, Vec<Found>)>> {
    let too_large = |_| GpuError::TooLarge {
        what: "the open lists".to_owned(),
        needed: design.slots(slots, capacity).saturating_mul(16),
        limit: gpu.max_buffer_bytes(),
    };
    let (width, cells) = (grid.width(), grid.cells());
    let words = cells.div_ceil(32);
    let stride = u32::try_from(design.stride(capacity)).map_err(too_large)?;
    let count = u32::try_from(searches.len())?;
    let [straight, diagonal] = lists::costs(grid);
    let shape = Shape { width, cells, words, searches: count, slots, capacity, stride, straight, diagonal };
    let shape = Buffer::uniform(gpu, "paths: shape", &shape)?;
    let all = u64::from(slots);
    let events = Buffer::<[u32; 4]>::storage(gpu, "paths: open lists", design.slots(slots, capacity))?;
    let state = Buffer::<[u32; SLOT]>::storage(gpu, "paths: slots", all)?;
    let rows = Buffer::<[u32; 4]>::storage(gpu, "paths: rows", ROWS * all)?;
    let visited = Buffer::<u32>::storage(gpu, "paths: visited", u64::from(words) * all)?;
    let map = Buffer::storage_from(gpu, "paths: map", &map(grid, searches))?;
    let records = Buffer::<[u32; 2]>::storage(gpu, "paths: records", count.into())?;
    let control = Buffer::<u32>::storage(gpu, "paths: control", 4)?;
    let buffers = [
        ("shape", shape.binding()),
        ("queue_events", events.binding()),
        ("slots", state.binding()),
        ("rows", rows.binding()),
        ("visited", visited.binding()),
        ("map", map.binding()),
        ("records", records.binding()),
        ("control", control.binding()),
    ];
    let mut sources = vec![eventhorizon::wgsl!("paths.wgsl"), design.source().expect("a queue of its own")];
    let mut constants = design.constants();
    let (entry, served) = match design.lanes() {
        1 => ("serve", 64),
        lanes => {
            sources.push(eventhorizon::wgsl!("paths_team.wgsl"));
            constants.push(("GROUP_SIZE", lanes.max(32).into()));
            ("serve_team", lanes.max(32) / lanes)
        }
    };
    let kernel = |entry, constants: Vec<(&'static str, f64)>| {
        Recipe::new("paths", entry, sources.clone()).with(constants).kernel(gpu)
    };
    let mut iteration = Plan::new("paths");
    iteration.dispatch(gpu, &kernel(entry, constants)?, slots.div_ceil(served), &buffers)?;
    iteration.dispatch(gpu, &kernel("look", Vec::new())?, slots, &buffers)?;
    let begun = Instant::now();
    // Bound: each iteration of a search takes cells, each at most once.
    loop {
        let mut encoder = gpu.encoder("paths");
        iteration.record_times(&mut encoder, AT_ONCE);
        gpu.wait(gpu.submit(encoder)?)?;
        let [_, ended, full, cut] = control.read(gpu)?[..] else { unreachable!("it has four words") };
        if cut > 0 {
            return Err("the driver ended a loop early".into());
        }
        if full > 0 {
            return Ok(None);
        }
        if ended == count {
            break;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let found = records
        .read(gpu)?
        .into_iter()
        .map(|[cost, insertions]| Found { cost: (cost != u32::MAX).then_some(cost), insertions });
    Ok(Some((seconds, found.collect())))
}

/// The words of `map`.
fn map(grid: &Grid, searches: &[(UVec2, UVec2)]) -> Vec<u32> {
    let mut words: Vec<u32> = (0..grid.width()).map(|moves| lists::diagonals(grid, moves)).collect();
    let at = |cell: u32| UVec2::new(cell % grid.width(), cell / grid.width());
    let allowed = |cell: u32| {
        let moves = (0..).zip(AROUND).filter(|&(_, around)| lists::moved(grid, at(cell), around).is_some());
        moves.fold(0, |bits, (direction, _)| bits | 1_u32 << direction)
    };
    let cells: Vec<_> = (0..grid.cells()).collect();
    let four = |cells: &[u32]| cells.iter().rev().fold(0, |word, &cell| word << 8 | allowed(cell));
    words.extend(cells.chunks(4).map(four));
    let number = |cell: UVec2| cell.y * grid.width() + cell.x;
    words.extend(searches.iter().flat_map(|&(from, to)| [number(from), number(to)]));
    words
}

#[cfg(test)]
mod tests {
    use eventhorizon::queue::{Lanes, Traverse};

    use super::super::lists::List;
    use super::*;

    #[test]
    fn searches_find_what_the_reference_does_with_every_design() {
        let gpu = Gpu::new().unwrap_or_else(|error| panic!("{error}"));
        let grid = Grid::random(24, 0.3, 3).unwrap();
        let searches = grid.random_searches(40, 4);
        let expected: Vec<_> = searches
            .iter()
            .map(|&search| {
                let found = lists::search(&grid, search, List::Paper);
                let insertions = u32::try_from(found.insertions.len()).unwrap();
                Found { cost: found.cost.map(|cost| u32::try_from(cost).unwrap()), insertions }
            })
            .collect();
        assert!(expected.iter().any(|found| found.cost.is_none() || found.insertions > 100));
        let designs = [
            QueueDesign::CbSeq(Traverse::BackToFront),
            QueueDesign::CbSeqSp,
            QueueDesign::Heap,
            QueueDesign::Splay,
            QueueDesign::CbPar(Lanes::Four),
            QueueDesign::CB_PAR,
            QueueDesign::CB_PAR_FRONT,
        ];
        for (design, slots) in designs.into_iter().zip([1, 7, 40].into_iter().cycle()) {
            // The second has lists that are full.
            for capacity in [400, 16] {
                let found = run(&gpu, &grid, &searches, design, [slots, capacity]).unwrap();
                match found {
                    Some((_, found)) => assert_eq!(found, expected, "{design}, {slots} slots"),
                    None => assert_eq!(capacity, 16, "{design}"),
                }
            }
        }
    }
}
