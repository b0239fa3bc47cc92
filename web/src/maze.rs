//! A maze, and a thousand searches in it at once.

use eventhorizon::gpu::Gpu;
use eventhorizon::random::Stream;
use eventhorizon::search::{Engine, Grid, Options};
use glam::UVec2;
use wasm_bindgen::prelude::*;

use crate::reported;

/// A maze with the paths that searches found.
#[wasm_bindgen]
pub struct Maze {
    engine: Engine,
    /// The number of paths through each cell.
    ways: Vec<u32>,
    rounds: u32,
    cells: f64,
}

/// The cells of a random maze: 1 for an open cell. Every wall is omitted with probability 1/8, so
/// that several paths exist.
fn carve(side: u32, seed: u32) -> Vec<u8> {
    let mut stream = Stream::new(seed.into(), 0, 0);
    let mut open = vec![0_u8; (side * side) as usize];
    let at = |x: u32, y: u32| (y * side + x) as usize;
    let mut way = vec![(1_u32, 1_u32)];
    open[at(1, 1)] = 1;
    while let Some(&(x, y)) = way.last() {
        let around = [(x + 2, y), (x.wrapping_sub(2), y), (x, y + 2), (x, y.wrapping_sub(2))];
        let inside = |&(x, y): &(u32, u32)| x < side - 1 && y < side - 1;
        let closed: Vec<_> =
            around.into_iter().filter(inside).filter(|&(x, y)| open[at(x, y)] == 0).collect();
        if closed.is_empty() {
            way.pop();
            continue;
        }
        let (to_x, to_y) = closed[stream.draw() as usize % closed.len()];
        open[at(u32::midpoint(x, to_x), u32::midpoint(y, to_y))] = 1;
        open[at(to_x, to_y)] = 1;
        way.push((to_x, to_y));
    }
    for y in 1..side - 1 {
        for x in 1..side - 1 {
            if (x % 2 != y % 2) && stream.draw() % 8 == 0 {
                open[at(x, y)] = 1;
            }
        }
    }
    open
}

#[wasm_bindgen]
impl Maze {
    /// A maze of an odd number of cells on each side; half as many on a software adapter.
    pub async fn open(side: u32, seed: u32) -> Result<Maze, JsError> {
        let gpu = Gpu::open().await.map_err(reported)?;
        let slow = gpu.info().device_type == wgpu::DeviceType::Cpu;
        let side = (if slow { side / 2 } else { side }).clamp(9, 511) | 1;
        let grid = Grid::new(side, side, carve(side, seed)).map_err(reported)?;
        let engine = Engine::new(&gpu, grid, Options::default().paths(true)).map_err(reported)?;
        Ok(Self { engine, ways: vec![0; (side * side) as usize], rounds: 0, cells: 0.0 })
    }

    /// Finds the shortest paths of `count` searches between random cells. Returns the number of
    /// paths, and of expanded cells.
    pub async fn search(&mut self, count: u32) -> Result<Vec<f64>, JsError> {
        let searches: Vec<(UVec2, UVec2)> = self.engine.map().random_searches(count, self.rounds.into());
        self.rounds += 1;
        let results = self.engine.searches(&searches).run_async().await.map_err(reported)?;
        self.ways.fill(0);
        let width = self.engine.map().width();
        for search in 0..searches.len() {
            for cell in results.path(search) {
                self.ways[(cell.y * width + cell.x) as usize] += 1;
            }
        }
        let (found, expanded) = (results.found() as f64, results.expanded() as f64);
        self.cells += expanded;
        Ok(vec![found, expanded])
    }

    /// The number of cells on each side.
    #[must_use]
    pub fn side(&self) -> u32 {
        self.engine.map().width()
    }

    /// The maze with the paths of the last searches, four bytes for each cell: red, green, blue and
    /// opacity.
    #[must_use]
    pub fn picture(&self) -> Vec<u8> {
        let most = f64::from(self.ways.iter().copied().max().unwrap_or(0)).max(1.0);
        let terrain = self.engine.map().terrain();
        let colour = |(ways, open): (&u32, &u8)| match (ways, open) {
            (_, 0) => [16, 24, 48, 255],
            (0, _) => [236, 239, 244, 255],
            (ways, _) => {
                let heat = (f64::from(*ways).ln_1p() / most.ln_1p()).clamp(0.0, 1.0);
                let shade = |from: f64, to: f64| (from + (to - from) * heat) as u8;
                [shade(255.0, 200.0), shade(214.0, 24.0), shade(102.0, 48.0), 255]
            }
        };
        self.ways.iter().zip(terrain).flat_map(colour).collect()
    }
}
