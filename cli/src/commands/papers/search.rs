//! A* on grids with random obstacles (Baudis et al., section IV.B.2): Figures 5 and 12, Table III.
//!
//! Paths are optimal here: a search takes the cell of the lowest estimate and ends with the goal.
//! The paper's searches take eight cells at once. Every measured set of searches is compared with
//! the sequential search.

use std::collections::HashMap;
use std::time::Instant;

use eventhorizon::gpu::Gpu;
use eventhorizon::queue::{QueueDesign, Traverse};
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{Engine, Grid, Mapping, Options};

use super::study::Study;
use crate::commands::astar;
use crate::shared::{Outcome, same};

const SEED: u64 = 42;
/// The obstacles per cell, of exponential sizes with rate 1.
const DENSITY: f64 = 0.2;
/// The searches of each map that the CPU repeats.
const CHECKED: usize = 16;

/// The designs and the paper's names of them. (CB-PAR needs teams, which searches do not have.)
const DESIGNS: [(&str, QueueDesign); 5] = [
    ("CB-SEQ", QueueDesign::CbSeq(Traverse::BackToFront)),
    ("CB-SEQ-SP", QueueDesign::CbSeqSp),
    ("Heaps", QueueDesign::Heap),
    ("Splays", QueueDesign::Splay),
    ("this library's heap-4", QueueDesign::Heap4),
];

/// Table III: side, searches at once, average queue length, average relative insertion place, and
/// searches per second of CB-SEQ, CB-SEQ-SP, CB-PAR, Heaps and Splays.
const TABLE_3: [(u32, u32, f64, f64, [f64; 5]); 5] = [
    (64, 32768, 57.6, 0.30, [49016.2, 36104.9, 37088.5, 35009.4, 32656.0]),
    (128, 8192, 114.3, 0.37, [10676.8, 8177.7, 12412.0, 12436.6, 11428.9]),
    (256, 2048, 235.7, 0.43, [960.5, 906.6, 2620.9, 2956.3, 2601.8]),
    (512, 512, 322.6, 0.45, [48.9, 43.0, 327.9, 314.7, 249.9]),
    (1024, 128, 532.8, 0.35, [3.8, 3.5, 41.7, 40.6, 24.4]),
];

pub(super) fn figure_5(study: &mut Study<'_>) -> Outcome<()> {
    let grid = Grid::random(study.size(256, 64), DENSITY, SEED)?;
    let longest = grid.random_searches(64, SEED);
    let mut search = AStar::new(&grid);
    let cost = |&(from, to): &(_, _)| search.find(from, to).cost;
    let cost = longest.iter().map(cost).collect::<Vec<_>>();
    let chosen = (0..longest.len()).max_by_key(|&number| cost[number]).map(|number| longest[number]);
    let path = study.file("png");
    astar::draw(&path.to_string_lossy(), &grid, chosen)
}

/// A measurement: searches per second with a design and a number of searches at once.
fn rate(gpu: &Gpu, grid: &Grid, seconds: f64, slots: u32, mapping: Mapping) -> Outcome<f64> {
    let options = Options::default().mapping(mapping).slots(Some(slots)).count(false);
    let engine = Engine::new(gpu, grid.clone(), options)?;
    let all = grid.random_searches(slots.max(64), SEED);
    let mut reference = AStar::new(grid);
    let checked = engine.run(&all[..CHECKED])?;
    for (&(from, to), found) in all.iter().zip(checked.outcomes()) {
        same(&found.cost, &reference.find(from, to).cost, format!("cost of a path, {mapping}"))?;
    }
    let mut list = all;
    loop {
        let begun = Instant::now();
        engine.run(&list)?;
        let took = begun.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        if took >= seconds || list.len() >= 1 << 20 {
            return Ok(list.len() as f64 / took);
        }
        list.extend_from_within(..);
    }
}

pub(super) fn figure_12(study: &mut Study<'_>) -> Outcome<()> {
    let (gpu, seconds) = (study.gpu.clone(), study.args.seconds());
    let sides: &[u32] = study.size(&[64, 256, 512], &[32, 64]);
    let slots: &[u32] = study.size(&[64, 256, 1024, 4096, 16384], &[16, 64]);
    for &side in sides {
        let grid = Grid::random(side, DENSITY, SEED)?;
        let panel = format!("{side} x {side} grid");
        for &slots in slots {
            // The searches take the square of a side each; the paper was limited by memory too.
            if u64::from(side * side) * u64::from(slots) > 1 << 30 {
                continue;
            }
            let team = ("this library (teams)", Mapping::Team);
            for (name, mapping) in
                DESIGNS.map(|(name, design)| (name, Mapping::Thread(design))).into_iter().chain([team])
            {
                if !study.goes_on() {
                    return Ok(());
                }
                let found = rate(&gpu, &grid, seconds, slots, mapping)?;
                study.point(&panel, name, slots.into(), found)?;
            }
        }
    }
    Ok(())
}

pub(super) fn table_3(study: &mut Study<'_>) -> Outcome<()> {
    let (gpu, seconds) = (study.gpu.clone(), study.args.seconds());
    let small = study.args.small;
    for (side, at_once, length, place, stated) in TABLE_3.into_iter().take(study.size(5, 1)) {
        let grid = Grid::random(side, DENSITY, SEED)?;
        let slots = if small { 64 } else { at_once };
        for (name, design) in DESIGNS {
            if !study.goes_on() {
                return Ok(());
            }
            let found = rate(&gpu, &grid, seconds, slots, Mapping::Thread(design))?;
            let column =
                ["CB-SEQ", "CB-SEQ-SP", "CB-PAR", "Heaps", "Splays"].iter().position(|known| *known == name);
            let stated = column.map(|column| stated[column]);
            study.row(["searches per second", name], side.into(), Some(found), stated, "")?;
        }
        let (found_length, found_place) = open_list(&grid, study.size(64, 16));
        study.beside("average length of the open list", "any design", (side.into(), found_length), length)?;
        study.beside("average relative insertion place", "any design", (side.into(), found_place), place)?;
    }
    Ok(())
}

/// The average length of the open list at an insertion, and the average place of the new cell among
/// the others by their estimates, from 0 (first) to 1: of sequential searches.
#[expect(clippy::cast_precision_loss, reason = "averages")]
fn open_list(grid: &Grid, searches: u32) -> (f64, f64) {
    let (mut insertions, mut lengths, mut places) = (0_u64, 0_u64, 0.0);
    let (straight, root) = (grid.moves().straight(), 2_f64.sqrt());
    for (from, to) in grid.random_searches(searches, SEED) {
        let estimate = |cell: glam::UVec2| {
            let (x, y) = (cell.x.abs_diff(to.x), cell.y.abs_diff(to.y));
            (f64::from(straight) * (f64::from(x.max(y)) + (root - 1.0) * f64::from(x.min(y)))) as u64
        };
        let mut open: Vec<(u64, u64, glam::UVec2)> = vec![(estimate(from), 0, from)];
        let mut best = HashMap::from([(from, 0_u64)]);
        let mut closed = std::collections::HashSet::new();
        while !open.is_empty() {
            let (_, cost, cell) = open.remove(0);
            if !closed.insert(cell) {
                continue;
            }
            if cell == to {
                break;
            }
            for (dx, dy) in [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)] {
                let (Some(x), Some(y)) = (cell.x.checked_add_signed(dx), cell.y.checked_add_signed(dy))
                else {
                    continue;
                };
                let next = glam::UVec2::new(x, y);
                if !grid.contains(next) || closed.contains(&next) {
                    continue;
                }
                let Some(step) = grid.step(cell, next) else { continue };
                let cost = cost + u64::from(step);
                if best.get(&next).is_some_and(|&known| known <= cost) {
                    continue;
                }
                best.insert(next, cost);
                // A better way to a cell replaces its entry.
                open.retain(|&(_, _, other)| other != next);
                let total = cost + estimate(next);
                let place = open.partition_point(|&(other, ..)| other <= total);
                insertions += 1;
                lengths += open.len() as u64;
                places += if open.is_empty() { 0.0 } else { place as f64 / open.len() as f64 };
                open.insert(place, (total, cost, next));
            }
        }
    }
    let insertions = insertions.max(1) as f64;
    (lengths as f64 / insertions, places / insertions)
}
