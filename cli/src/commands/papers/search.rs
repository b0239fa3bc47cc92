//! A* on grids with random obstacles (Baudis et al., section IV.B.2): Figures 5 and 12, Table III.
//!
//! The paper's searches take eight cells at once (`paths.rs`). The library's are optimal: a search
//! takes the cell of the lowest estimate and ends with the goal. Every measured set of searches is
//! compared with the sequential search of its kind.

use std::time::Instant;

use eventhorizon::gpu::Gpu;
use eventhorizon::queue::{Lanes, QueueDesign, Traverse};
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{Engine, Grid, Mapping, Options};

use glam::UVec2;

use super::lists::{self, LANES, List, OpenLists};
use super::paths;
use super::study::Study;
use crate::commands::astar;
use crate::shared::{Outcome, same};

const SEED: u64 = 42;
/// The obstacles per cell, of exponential sizes with rate 1.
const DENSITY: f64 = 0.2;
/// The searches of each map that the CPU repeats.
const CHECKED: usize = 16;

/// The designs and the paper's names of them. Circular buffers begin at the back.
const DESIGNS: [(&str, QueueDesign); 5] = [
    ("CB-SEQ", QueueDesign::CbSeq(Traverse::BackToFront)),
    ("CB-SEQ-SP", QueueDesign::CbSeqSp),
    ("CB-PAR", QueueDesign::CB_PAR),
    ("Heaps", QueueDesign::Heap),
    ("Splays", QueueDesign::Splay),
];

/// CB-PAR with other numbers of invocations, and circular buffers from the front.
const OTHERS: [(&str, QueueDesign); 7] = [
    ("CB-SEQ, from the front", QueueDesign::CbSeq(Traverse::FrontToBack)),
    ("CB-PAR, from the front", QueueDesign::CB_PAR_FRONT),
    ("CB-PAR, 2 lanes", QueueDesign::CbPar(Lanes::Two)),
    ("CB-PAR, 4 lanes", QueueDesign::CbPar(Lanes::Four)),
    ("CB-PAR, 8 lanes", QueueDesign::CbPar(Lanes::Eight)),
    ("CB-PAR, 16 lanes", QueueDesign::CbPar(Lanes::Sixteen)),
    ("CB-PAR, 64 lanes", QueueDesign::CbPar(Lanes::SixtyFour)),
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
    let side = study.size(256, 64);
    // The paper's grid is half of a square one.
    let mut terrain = Grid::random(side, DENSITY, SEED)?.terrain().to_vec();
    terrain.truncate(terrain.len() / 2);
    let grid = Grid::new(side, side / 2, terrain)?;
    let mut searches = grid.random_searches(256, SEED);
    let mut search = AStar::new(&grid);
    searches.sort_by_cached_key(|&(from, to)| std::cmp::Reverse(search.find(from, to).cost));
    // The longest path, and the longest whose rectangle is beside that of the first.
    let is_beside = |(a, b): (UVec2, UVec2), (c, d): (UVec2, UVec2)| {
        let apart = a.max(b).cmplt(c.min(d)) | c.max(d).cmplt(a.min(b));
        apart.any()
    };
    let first = searches[0];
    let second = searches.iter().copied().find(|&second| is_beside(first, second));
    let shown: Vec<_> = std::iter::once(first).chain(second).collect();
    let path = study.file("png");
    astar::draw(&path.to_string_lossy(), &grid, &shown)
}

/// A measurement: the paper's searches per second with a design and a number of searches at once.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn paper_rate(gpu: &Gpu, grid: &Grid, seconds: f64, slots: u32, design: QueueDesign) -> Outcome<f64> {
    let mut list = grid.random_searches(slots.max(64), SEED);
    let mut unchecked = CHECKED;
    loop {
        let (took, found) = paths::search(gpu, grid, &list, design, slots)?;
        for (&search, found) in list.iter().zip(&found).take(std::mem::take(&mut unchecked)) {
            let expected = lists::search(grid, search, List::Paper);
            same(&found.cost.map(u64::from), &expected.cost, format!("cost of a path, {design}"))?;
            let insertions = found.insertions as usize;
            same(&insertions, &expected.insertions.len(), format!("insertions, {design}"))?;
        }
        if took >= seconds || list.len() >= 1 << 20 {
            return Ok(list.len() as f64 / took);
        }
        list.extend_from_within(..);
    }
}

/// A measurement: optimal searches per second with a mapping and a number of searches at once.
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
        let optimal = format!("{panel}, optimal searches");
        for &slots in slots {
            // The searches take the square of a side each; the paper was limited by memory too.
            if u64::from(side * side) * u64::from(slots) > 1 << 30 {
                continue;
            }
            for (name, design) in DESIGNS {
                if !study.goes_on() {
                    return Ok(());
                }
                study.point_by(&panel, name, slots.into(), |_| {
                    paper_rate(&gpu, &grid, seconds, slots, design)
                })?;
            }
            let own = [("heap-4", Mapping::Thread(QueueDesign::Heap4)), ("teams", Mapping::Team)];
            let designs = DESIGNS.into_iter().filter(|(_, design)| design.lanes() == 1);
            for (name, mapping) in designs.map(|(name, design)| (name, Mapping::Thread(design))).chain(own) {
                if !study.goes_on() {
                    return Ok(());
                }
                study
                    .point_by(&optimal, name, slots.into(), |_| rate(&gpu, &grid, seconds, slots, mapping))?;
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
        let lines = DESIGNS.into_iter().zip(stated.map(Some));
        let others = OTHERS.map(|other| (other, None));
        for ((name, design), stated) in lines.chain(others).take(study.size(12, 7)) {
            if !study.goes_on() {
                return Ok(());
            }
            let panel = "searches per second";
            if study.known(panel, name, side.into()).is_none() {
                let found = paper_rate(&gpu, &grid, seconds, slots, design)?;
                study.row([panel, name], side.into(), Some(found), stated, "")?;
            }
        }
        let own = [("heap-4", QueueDesign::Heap4)];
        let designs = DESIGNS.into_iter().filter(|(_, design)| design.lanes() == 1);
        for (name, design) in designs.chain(own) {
            if !study.goes_on() {
                return Ok(());
            }
            study.point_by("optimal searches per second", name, side.into(), |_| {
                rate(&gpu, &grid, seconds, slots, Mapping::Thread(design))
            })?;
        }
    }
    Ok(())
}
