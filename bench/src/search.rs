//! Searches per second on square maps with random obstacles, for each side, mapping and queue
//! design (`eventhorizon papers baudis-12` draws the paper's figure). Also in graphs like roads,
//! and distances from many sources to all cells.

use std::io::{self, Write as _, stdout};
use std::time::Instant;

use clap::Args as ClapArgs;
use eventhorizon::gpu::Gpu;
use eventhorizon::queue::QueueDesign;
use eventhorizon::random::Stream;
use eventhorizon::search::reference::{self, AStar};
use eventhorizon::search::{
    AllPairs, Engine, Graph, Grid, Guided, Mapping, Options, Outcome, Results, SearchError, Space,
    WavefrontOptions, Wavefronts,
};
use serde::Serialize;

use crate::shared::rates::or;
use crate::shared::{self, Failure};
use crate::{named, or_auto};

/// Measure shortest-path searches per second, on square maps with random obstacles and in graphs
/// like roads
///
/// Checks every row: its outcomes must be those of the sequential search on one core, which is the
/// first row of each map. With --json or --csv the rows also go to a file. Lists are separated by
/// commas, or given by repeated options; each combination is a row.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- search
  cargo run --release -p eventhorizon-bench -- search --side 64 --mapping thread --queue heap,splay --slots 1024,16384
  cargo run --release -p eventhorizon-bench -- search --roads 100,500 --queue heap,heap-4,cb-seq
  cargo run --release -p eventhorizon-bench -- search --fronts 100 --side 256 --roads 256")]
pub(crate) struct Args {
    /// Set the sides of maps, in cells. Default: 64, 256 and 1024; with --roads none
    #[arg(long, value_delimiter = ',')]
    side: Vec<u32>,
    /// Search in graphs of this number of vertices a side, joined to their neighbours like roads,
    /// with the straight line as heuristic
    #[arg(long, value_delimiter = ',')]
    roads: Vec<u32>,
    /// Measure distances from this number of sources to all cells instead, in cells per second, on
    /// the maps and graphs of --side and --roads
    #[arg(long)]
    fronts: Option<u32>,
    /// Set the obstacles per cell. Default: 0.2
    #[arg(long, value_delimiter = ',')]
    density: Vec<f64>,
    /// Compare these mappings: thread, bands, team, auto. Default: team, bands and thread
    #[arg(long, value_delimiter = ',')]
    mapping: Vec<Mapping>,
    /// Compare these queue designs of searches by threads. Default: the library's choice
    #[arg(long, value_delimiter = ',')]
    queue: Vec<QueueDesign>,
    /// Set the searches at once. Default: the library's choice
    #[arg(long, value_delimiter = ',')]
    slots: Vec<u32>,
    /// Set the invocations of a workgroup. Default: the library's choice
    #[arg(long, value_delimiter = ',')]
    group_size: Vec<u32>,
    /// Set the widths of the bands of teams, bands and wavefronts, in straight moves (on roads
    /// 1,000). Default: the library's choice
    #[arg(long, value_delimiter = ',')]
    band: Vec<f64>,
    /// Set the searches of a run. Default: as many as the device completes in about --seconds, in a
    /// multiple of those that the CPU checks
    #[arg(long)]
    searches: Option<u32>,
    /// Set the approximate seconds of a measurement
    #[arg(long, default_value_t = 1.0, value_parser = shared::not_negative)]
    seconds: f64,
    /// Set the approximate seconds of the sequential search for each map, which determine how many
    /// searches are checked
    #[arg(long, default_value_t = 1.0, value_parser = shared::not_negative)]
    cpu_seconds: f64,
    /// Measure with paths
    #[arg(long)]
    paths: bool,
    /// Do not count expanded cells
    #[arg(long)]
    uncounted: bool,
    /// Measure the distances between all pairs of this number of vertices instead, in sums per
    /// second
    #[arg(long, value_delimiter = ',')]
    all_pairs: Vec<u32>,
    /// Set the seed of the maps and the searches
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Write the rows as CSV to a file
    #[arg(long)]
    csv: Option<String>,
    #[command(flatten)]
    json: shared::Json,
}

#[derive(Serialize)]
struct Line {
    adapter: String,
    map: &'static str,
    side: u32,
    density: f64,
    mapping: String,
    queue: String,
    slots: Option<u32>,
    group_size: Option<u32>,
    band: Option<f64>,
    searches: usize,
    found: usize,
    expanded_each: f64,
    seconds: f64,
    searches_per_second: f64,
}

impl Line {
    fn print(&self) -> io::Result<()> {
        writeln!(
            stdout(),
            "{:5} {:5} {:7} {:>8} {:>16} {:>7} {:>5} {:>5} {:9} {:9} {:10.1} {:8.3} {:12.1}",
            self.map,
            self.side,
            self.density,
            self.mapping,
            self.queue,
            named(self.slots),
            named(self.group_size),
            named(self.band),
            self.searches,
            self.found,
            self.expanded_each,
            self.seconds,
            self.searches_per_second
        )
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "adapter {}", gpu.info().name)?;
    if !args.all_pairs.is_empty() {
        return all_pairs(&gpu, args);
    }
    if let Some(sources) = args.fronts {
        return fronts(&gpu, args, sources);
    }
    writeln!(
        stdout(),
        "map    side density  mapping            queue   slots group  band  searches     found   expanded  seconds searches/s"
    )?;
    let mut lines = Vec::new();
    let usual: &[u32] = if args.roads.is_empty() { &[64, 256, 1024] } else { &[] };
    for side in or(&args.side, usual) {
        for density in or(&args.density, &[0.2]) {
            let grid = Grid::random(side, density, args.seed)?;
            let all = grid.random_searches(1 << 20, args.seed);
            let engine = |options| Engine::new(&gpu, grid.clone(), options);
            let band = f64::from(grid.moves().straight());
            measure(&gpu, args, &grid, ("grid", side, density, band), &all, &engine, &mut lines)?;
        }
    }
    for &side in &args.roads {
        let (graph, places) = Graph::random_roads(side, args.seed)?;
        let guided = Guided::straight(graph, &places)?;
        let mut stream = Stream::new(args.seed, 1, side.into());
        let mut vertex = || ((u64::from(stream.draw()) * u64::from(side * side)) >> 32) as u32;
        let all: Vec<_> = (0..1 << 18).map(|_| (vertex(), vertex())).collect();
        let engine = |options| Engine::new(&gpu, guided.clone(), options);
        measure(&gpu, args, &guided, ("roads", side, 0.0, 1.0), &all, &engine, &mut lines)?;
    }
    if let Some(path) = &args.csv {
        let mut file = csv::Writer::from_path(path)?;
        lines.iter().try_for_each(|line| file.serialize(line))?;
        file.flush()?;
    }
    args.json.write(&serde_json::to_value(&lines)?)
}

/// Measures distances from many sources to all cells. Some rows are compared with Dijkstra's
/// algorithm.
fn fronts(gpu: &Gpu, args: &Args, sources: u32) -> Result<(), Failure> {
    writeln!(stdout(), "map    side  band   sources     passes    seconds    cells/s  one core")?;
    let mut lines = Vec::new();
    let usual: &[u32] = if args.roads.is_empty() { &[64, 256, 1024] } else { &[] };
    for side in or(&args.side, usual) {
        for density in or(&args.density, &[0.2]) {
            let grid = Grid::random(side, density, args.seed)?;
            let cells = grid.random_cells(sources, args.seed);
            let unit = f64::from(grid.moves().straight());
            let wave = |options| Wavefronts::new(gpu, grid.clone(), options);
            front(gpu, args, ("grid", side, unit), &wave, &cells, &mut lines)?;
        }
    }
    for &side in &args.roads {
        let (graph, _) = Graph::random_roads(side, args.seed)?;
        let mut stream = Stream::new(args.seed, 1, side.into());
        let mut vertex = || ((u64::from(stream.draw()) * u64::from(side * side)) >> 32) as u32;
        let vertices: Vec<_> = (0..sources).map(|_| vertex()).collect();
        let wave = |options| Wavefronts::new(gpu, Guided::from(graph.clone()), options);
        front(gpu, args, ("roads", side, 1000.0), &wave, &vertices, &mut lines)?;
    }
    args.json.write(&lines.into())
}

fn front<S: Space>(
    gpu: &Gpu,
    args: &Args,
    (map, side, unit): (&'static str, u32, f64),
    make: &dyn Fn(WavefrontOptions) -> Result<Wavefronts<S>, SearchError>,
    sources: &[S::Cell],
    lines: &mut Vec<serde_json::Value>,
) -> Result<(), Failure> {
    let mut expected = Vec::new();
    let begun = Instant::now();
    let space = make(WavefrontOptions::default())?;
    for source in sources {
        if !expected.is_empty() && begun.elapsed().as_secs_f64() > args.cpu_seconds {
            break;
        }
        expected.push(reference::distances(space.map(), std::slice::from_ref(source)));
    }
    let core = expected.iter().map(Vec::len).sum::<usize>() as f64 / begun.elapsed().as_secs_f64();
    for band in or_auto(&args.band) {
        let band = band.map(|band| (band * unit) as u32);
        let wave = make(WavefrontOptions::default().band(band))?;
        // The first run builds the kernels.
        wave.nearest(&sources[..sources.len().min(1)])?;
        let found = wave.from_each(sources)?;
        for (row, expected) in (0..).zip(&expected) {
            if found.row(gpu, row)? != *expected {
                return Err(format!("distances from source {row} differ from Dijkstra's").into());
            }
        }
        let (rows, passes) = (found.rows(), found.passes());
        let seconds = found.took().as_secs_f64();
        let rate = f64::from(rows) * f64::from(found.columns()) / seconds;
        let shown = named(band);
        writeln!(
            stdout(),
            "{map:5} {side:5} {shown:>5} {rows:9} {passes:10} {seconds:10.4} {rate:10.3e} {core:9.2e}"
        )?;
        lines.push(serde_json::json!({
            "adapter": gpu.info().name, "map": map, "side": side, "band": band, "sources": rows, "passes": passes,
            "seconds": seconds, "cells_per_second": rate, "one_core_cells_per_second": core,
        }));
    }
    Ok(())
}

/// Measures distances between all pairs. Some rows are compared with Dijkstra's algorithm.
fn all_pairs(gpu: &Gpu, args: &Args) -> Result<(), Failure> {
    let mut lines = Vec::new();
    writeln!(stdout(), "vertices    seconds     sums/s")?;
    for &vertices in &args.all_pairs {
        let mut stream = Stream::new(args.seed, 0, vertices.into());
        let mut below = |limit: u32| ((u64::from(stream.draw()) * u64::from(limit)) >> 32) as u32;
        let arcs: Vec<_> =
            (0..vertices * 8).map(|_| (below(vertices), below(vertices), 1 + below(10_000))).collect();
        let graph = Graph::new(vertices, &arcs)?;
        // The first run builds the kernels.
        AllPairs::new(gpu, &graph)?;
        let all = AllPairs::new(gpu, &graph)?;
        for vertex in (0..vertices).step_by((vertices as usize / 8).max(1)) {
            let found = all.from(gpu, vertex)?.into_iter().map(|distance| distance.map(u64::from));
            if found.collect::<Vec<_>>() != graph.distances_from(vertex) {
                return Err(format!("distances from vertex {vertex} differ from Dijkstra's").into());
            }
        }
        let seconds = all.took().as_secs_f64();
        let rate = f64::from(vertices).powi(3) / seconds;
        writeln!(stdout(), "{vertices:8} {seconds:10.4} {rate:10.3e}")?;
        lines.push(serde_json::json!({
            "adapter": gpu.info().name, "vertices": vertices, "seconds": seconds, "sums_per_second": rate,
        }));
    }
    args.json.write(&lines.into())
}

/// Measures the sequential search and every requested mapping.
fn measure<S: Space>(
    gpu: &Gpu,
    args: &Args,
    space: &S,
    (map, side, density, band_unit): (&'static str, u32, f64, f64),
    all: &[(S::Cell, S::Cell)],
    make: &dyn Fn(Options) -> Result<Engine<S>, SearchError>,
    lines: &mut Vec<Line>,
) -> Result<(), Failure> {
    let line = |mapping: Mapping, searches: usize| Line {
        adapter: gpu.info().name.clone(),
        map,
        side,
        density,
        mapping: mapping.to_string(),
        queue: match mapping {
            Mapping::Thread(design) => design.name().to_owned(),
            _ => "-".to_owned(),
        },
        slots: None,
        group_size: None,
        band: None,
        searches,
        found: 0,
        expanded_each: 0.0,
        seconds: 0.0,
        searches_per_second: 0.0,
    };

    // On the CPU: the number of searches that fit into the time, at least one.
    let mut search = AStar::new(space);
    let mut outcomes = Vec::new();
    let begun = Instant::now();
    while outcomes.len() < all.len()
        && (outcomes.is_empty() || begun.elapsed().as_secs_f64() < args.cpu_seconds)
    {
        let (start, goal) = all[outcomes.len()];
        outcomes.push(search.find(start, goal));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let known = outcomes.len();
    let expanded: u64 = outcomes.iter().map(|outcome| u64::from(outcome.expanded)).sum();
    let cpu = Line {
        adapter: "one core of the CPU".to_owned(),
        mapping: "cpu".to_owned(),
        found: outcomes.iter().filter(|outcome| outcome.cost.is_some()).count(),
        expanded_each: expanded as f64 / known as f64,
        seconds,
        searches_per_second: known as f64 / seconds,
        ..line(Mapping::Auto, known)
    };
    cpu.print()?;
    lines.push(cpu);

    let usual: Vec<Mapping> = match map {
        "grid" => vec![Mapping::Team, Mapping::Bands, "thread".parse()?],
        _ => vec!["thread".parse()?],
    };
    let (queues, slots_list) = (&args.queue, or_auto(&args.slots));
    let mut mappings = Vec::new();
    for mapping in or(&args.mapping, &usual) {
        match mapping {
            Mapping::Thread(_) if !queues.is_empty() => {
                mappings.extend(queues.iter().copied().map(Mapping::Thread));
            }
            other => mappings.push(other),
        }
    }
    for mapping in mappings {
        for &slots in &slots_list {
            for group_size in or_auto(&args.group_size) {
                for band in or_auto(&args.band) {
                    if band.is_some() && !matches!(mapping, Mapping::Team | Mapping::Bands) {
                        continue;
                    }
                    let options = Options::default().mapping(mapping).slots(slots).group_size(group_size);
                    let options = options.band(band.map(|band| (band * band_unit) as u32));
                    let engine = make(options.paths(args.paths).count(!args.uncounted))?;
                    let first = engine.run(&all[..known])?;
                    let costs = |outcomes: &[Outcome]| {
                        outcomes.iter().map(|outcome| outcome.cost).collect::<Vec<_>>()
                    };
                    if costs(first.outcomes()) != costs(&outcomes)
                        || !args.uncounted && first.outcomes() != outcomes
                    {
                        return Err(format!("{mapping} differs from the sequential search").into());
                    }
                    let (searches, seconds, results) = timed(&engine, args, slots, all)?;
                    let line = Line {
                        slots,
                        group_size,
                        band,
                        found: results.found(),
                        expanded_each: results.expanded() as f64 / searches as f64,
                        seconds,
                        searches_per_second: searches as f64 / seconds,
                        ..line(engine.mapping(), searches)
                    };
                    line.print()?;
                    lines.push(line);
                }
            }
        }
    }
    Ok(())
}

/// Runs as many searches as take about the requested time; returns their number and the seconds.
fn timed<S: Space>(
    engine: &Engine<S>,
    args: &Args,
    slots: Option<u32>,
    all: &[(S::Cell, S::Cell)],
) -> Result<(usize, f64, Results<S::Cell>), Failure> {
    // Every slot has a search.
    let least = slots.unwrap_or(0).max(256);
    let mut count = args.searches.unwrap_or(least) as usize;
    loop {
        let list: Vec<_> = all.iter().cycle().take(count).copied().collect();
        let begun = Instant::now();
        let results = engine.run(&list)?;
        let seconds = begun.elapsed().as_secs_f64();
        if args.searches.is_some() || seconds > 0.6 * args.seconds || count >= 1 << 25 {
            return Ok((count, seconds, results));
        }
        let factor = (args.seconds / seconds.max(1e-4)).clamp(2.0, 16.0);
        count = ((count as f64 * factor) as usize).min(1 << 25);
    }
}
