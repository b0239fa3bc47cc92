//! Shortest paths on a map: 1,000 A* searches at once on the GPU, with optimal paths.
//!
//! Prints the number of searches that found a path and their total cost, then the longest path,
//! drawn on the map (`#` is a wall, `*` the path).
//!
//! ```text
//! cargo run --release --example shortest_paths
//! ```

use eventhorizon::gpu::Gpu;
use eventhorizon::search::{Engine, Grid, Options};
use glam::UVec2;

const SIDE: u32 = 32;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A random map, and pairs of cells to search between.
    let grid = Grid::random(SIDE, 0.2, 1)?;
    let searches = grid.random_searches(1000, 2);
    let engine = Engine::new(&Gpu::new()?, grid, Options::default().paths(true))?;
    let results = engine.run(&searches)?;

    let costs: Vec<Option<u32>> = results.outcomes().iter().map(|outcome| outcome.cost).collect();
    let found = costs.iter().flatten().count();
    let total: u64 = costs.iter().flatten().map(|&cost| u64::from(cost)).sum();
    println!("{found} of {} searches found a path; together these cost {total}", searches.len());

    let longest = (0..searches.len()).max_by_key(|&search| costs[search]).ok_or("no searches")?;
    let path: Vec<UVec2> = results.path(longest).collect();
    println!("the longest goes from {} to {}:", searches[longest].0, searches[longest].1);
    for y in 0..SIDE {
        let row = (0..SIDE).map(|x| match UVec2::new(x, y) {
            cell if path.contains(&cell) => '*',
            cell if engine.map().passable(cell) => '.',
            _ => '#',
        });
        println!("{}", row.collect::<String>());
    }
    Ok(())
}
