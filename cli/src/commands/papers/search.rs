//! A* on grids with random obstacles (Baudis et al., section IV.B.2): Figures 5 and 12, Table III.
//!
//! Paths are optimal here: a search takes the cell of the lowest estimate and ends with the goal.
//! The paper's searches take eight cells at once. Every measured set of searches is compared with
//! the sequential search.

use std::time::Instant;

use eventhorizon::gpu::Gpu;
use eventhorizon::queue::{QueueDesign, Traverse};
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{Engine, Grid, Mapping, Options};

use super::lists::{LANES, List, OpenLists};
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
    let (gpu, seconds) = (study.gpu()?, study.args.seconds());
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
                study.point_by(&panel, name, slots.into(), |_| rate(&gpu, &grid, seconds, slots, mapping))?;
            }
        }
    }
    Ok(())
}

pub(super) fn table_3(study: &mut Study<'_>) -> Outcome<()> {
    for (side, _, length, place, _) in TABLE_3.into_iter().take(study.size(5, 2)) {
        let grid = Grid::random(side, DENSITY, SEED)?;
        // Larger grids have longer searches.
        let searches = study.size((1 << 22) / (side * side), 64).clamp(16, 256);
        let x = f64::from(side);
        for (line, list) in [("the paper's lists", List::Paper), ("optimal searches", List::Optimal)] {
            if !study.goes_on() {
                return Ok(());
            }
            let found = OpenLists::count(&grid, &grid.random_searches(searches, SEED), list);
            study.beside("average length of the open list", line, (x, found.length), length)?;
            study.beside("average relative insertion place", line, (x, found.place), place)?;
            if list == List::Optimal {
                continue;
            }
            let ends =
                ["comparisons per insertion, from the back", "comparisons per insertion, from the front"];
            for (panel, by_lanes) in ends.into_iter().zip(found.comparisons) {
                for (lanes, comparisons) in LANES.into_iter().zip(by_lanes) {
                    let line =
                        if lanes == 1 { "CB-SEQ".to_owned() } else { format!("CB-PAR, {lanes} lanes") };
                    study.point(panel, &line, x, comparisons)?;
                }
            }
        }
    }
    let (gpu, seconds) = (study.gpu()?, study.args.seconds());
    for (side, at_once, _, _, stated) in TABLE_3.into_iter().take(study.size(5, 1)) {
        let grid = Grid::random(side, DENSITY, SEED)?;
        let slots = study.size(at_once, 64);
        for (name, design) in DESIGNS {
            if !study.goes_on() {
                return Ok(());
            }
            if study.known("searches per second", name, side.into()).is_some() {
                continue;
            }
            let found = rate(&gpu, &grid, seconds, slots, Mapping::Thread(design))?;
            let column =
                ["CB-SEQ", "CB-SEQ-SP", "CB-PAR", "Heaps", "Splays"].iter().position(|known| *known == name);
            let stated = column.map(|column| stated[column]);
            study.row(["searches per second", name], side.into(), Some(found), stated, "")?;
        }
    }
    Ok(())
}
