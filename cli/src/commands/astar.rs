//! Shortest paths on a map or in a graph: thousands of A* searches at once.
//!
//! Shows: maps and graphs from files, or random maps; batches of searches on the GPU, or on the CPU
//! without a device; and uses of the paths.
//!
//! ```text
//! eventhorizon search
//! eventhorizon search --random 256 --density 0.2 --searches 10000 --picture searches.png
//! eventhorizon search --map tests/data/movingai/arena.map \
//!     --scen tests/data/movingai/arena.map.scen --paths paths.csv
//! eventhorizon search --graph roads.gr --coords roads.co --searches 1000
//! eventhorizon search --graph roadNet-PA.txt --searches 100        # an edge list of SNAP
//! ```
//!
//! With a scenario, the lengths of all paths are compared with those in the scenario. The exit code
//! is 1 if one differs.

use std::io::{BufReader, Write as _, stdout};
use std::path::Path;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use eventhorizon::OwnedBackend;
use eventhorizon::queue::QueueDesign;
use eventhorizon::random::Stream;
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{
    AnyEngine, Graph, Grid, Guided, Mapping, Moves, Options, Outcome, Results, ScenarioSearch, SearchError,
    Space, Terrain, dimacs_coordinates, dimacs_graph, moving_ai_map, moving_ai_scenario,
};
use glam::UVec2;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::formats::graphs;
use crate::shared::{self, Failure, FileUse};

#[derive(Parser)]
#[command(about = "Find shortest paths on a map, thousands at once, and print the rate of searches")]
pub struct Args {
    /// Search on this map: one of the Moving AI benchmarks (.map), or a picture (.png) whose dark
    /// half is blocked
    #[arg(long, value_name = "FILE")]
    map: Option<String>,
    /// Treat the water, W, of a .map file as passable from water only (as the format defines it),
    /// as open ground, or as blocked (land)
    #[arg(long, value_enum, requires = "map", default_value_t = Water::Format)]
    terrain: Water,
    /// Search in this graph instead of on a map: of the 9th DIMACS challenge (.gr), an edge list of
    /// SNAP, or GraphML
    #[arg(long, value_name = "FILE", conflicts_with_all = ["map", "random", "four", "picture"])]
    graph: Option<String>,
    /// Read the coordinates of the vertices of a .gr file (.co): the heuristic is then the straight
    /// line to the goal
    #[arg(long, value_name = "FILE", requires = "graph")]
    coords: Option<String>,
    /// Search on a square map with random obstacles, with this number of cells a side
    #[arg(long, value_name = "SIDE", default_value_t = 64, conflicts_with = "map")]
    random: u32,
    /// Set the obstacles per cell of the random map
    #[arg(long, default_value_t = 0.2)]
    density: f64,
    /// Make the searches of this scenario of the Moving AI benchmarks, and check the lengths of the
    /// paths
    #[arg(long, value_name = "FILE", requires = "map")]
    scen: Option<String>,
    /// Make this number of searches between random cells
    #[arg(long, default_value_t = 100_000, conflicts_with = "scen")]
    searches: u32,
    #[arg(long, default_value = "auto", help = queue_help())]
    queue: String,
    /// Map searches to the device by thread (one invocation and a queue for each), bands (one
    /// invocation and unordered lists), team (a workgroup for each) or auto. Changes the speed only
    #[arg(long, default_value_t = Mapping::Auto)]
    mapping: Mapping,
    /// Use only the four neighbours that share an edge. Default: also those that share a corner, at
    /// a cost of sqrt 2
    #[arg(long, conflicts_with = "scen")]
    four: bool,
    /// Set the costs of a straight and of a diagonal move; the diagonal one costs as much to twice
    /// as much. Use 70,99 if costs of paths exceed 32 bits
    #[arg(
        long,
        value_name = "STRAIGHT,DIAGONAL",
        conflicts_with_all = ["scen", "four", "graph"],
        value_parser = costs
    )]
    costs: Option<Moves>,
    /// Write the paths as CSV to this file, or to standard output for `-`: search,step,x,y, or for
    /// a graph search,step,vertex, with the number or name of the vertex in its file
    #[arg(long, value_name = "CSV")]
    paths: Option<String>,
    /// Draw the first search of a random map, or the longest of a scenario, as PNG: the path white,
    /// expanded cells dark
    #[arg(long, value_name = "PNG")]
    picture: Option<String>,
    /// Set the seed of the random map and searches
    #[arg(long, default_value_t = 42)]
    seed: u64,
    #[command(flatten)]
    place: shared::Where,
    #[command(flatten)]
    json: shared::Json,
}

/// The names of [`Terrain`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Water {
    Format,
    Open,
    Land,
}

impl From<Water> for Terrain {
    fn from(water: Water) -> Self {
        match water {
            Water::Format => Self::Format,
            Water::Open => Self::Open,
            Water::Land => Self::Land,
        }
    }
}

/// The help of `--queue`.
fn queue_help() -> String {
    let designs = QueueDesign::ALL.into_iter().filter(|design| design.serves_one_invocation());
    let names: Vec<_> = designs.map(QueueDesign::name).collect();
    format!("Use this queue design for searches by threads: {} or auto", names.join(", "))
}

pub fn run(args: &Args) -> shared::Outcome<()> {
    shared::check_files(&[
        (FileUse::Reads, "--map", args.map.as_deref().map(Path::new)),
        (FileUse::Reads, "--scen", args.scen.as_deref().map(Path::new)),
        (FileUse::Reads, "--graph", args.graph.as_deref().map(Path::new)),
        (FileUse::Reads, "--coords", args.coords.as_deref().map(Path::new)),
        (FileUse::Writes, "--paths", args.paths.as_deref().map(Path::new)),
        (FileUse::WritesFile, "--picture", args.picture.as_deref().map(Path::new)),
        args.json.file(),
    ])?;
    let mapping = match (args.queue.as_str(), args.mapping) {
        ("auto", mapping) => mapping,
        (_, Mapping::Team | Mapping::Bands) => {
            return Err(shared::usage(
                "--queue needs searches by threads: omit --mapping, or use --mapping thread",
            ));
        }
        (name, _) => {
            let design = name.parse::<QueueDesign>();
            Mapping::Thread(design.map_err(|error| shared::usage(format!("{error}, or auto")))?)
        }
    };
    for (option, given) in [("--queue", args.queue != "auto"), ("--mapping", args.mapping != Mapping::Auto)] {
        if given {
            args.place.needs_device(option)?;
        }
    }
    match &args.graph {
        Some(path) => in_graph(args, path, mapping),
        None => on_map(args, mapping),
    }
}

/// Reads the costs of a straight and of a diagonal move.
fn costs(text: &str) -> Result<Moves, String> {
    let wrong = |_| "expected two whole numbers, such as 70,99".to_owned();
    let (straight, diagonal) = text.split_once(',').ok_or("expected two numbers, such as 70,99")?;
    let straight = straight.trim().parse().map_err(wrong)?;
    Ok(Moves::Eight { straight, diagonal: diagonal.trim().parse().map_err(wrong)? })
}

/// A graph and the names of its vertices; a graph of the 9th DIMACS challenge numbers them from 1.
fn read_graph(path: &str, text: &str) -> shared::Outcome<(Graph, Option<Vec<String>>)> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    let named = match first {
        Some(line) if line.starts_with('<') => graphs::from_graphml(text),
        // Lines of the challenge begin with a letter.
        Some(line) if line.starts_with(|first: char| first.is_ascii_digit()) => graphs::from_edges(text),
        _ => return Ok((dimacs_graph(path, text)?, None)),
    };
    let named = named.map_err(|error| shared::usage(format!("{path}: {error}")))?;
    Ok((named.graph, Some(named.names)))
}

/// Searches between random vertices of a graph.
fn in_graph(args: &Args, path: &str, mapping: Mapping) -> shared::Outcome<()> {
    let text = read(path)?;
    let (graph, names) = read_graph(path, &text)?;
    let name = |vertex: u32| match &names {
        Some(names) => names[vertex as usize].clone(),
        None => (u64::from(vertex) + 1).to_string(),
    };
    if names.is_some() && args.coords.is_some() {
        return Err(shared::usage(format!(
            "{path}: --coords needs a graph of the 9th DIMACS challenge (.gr)"
        )));
    }
    let guided = match &args.coords {
        None => Guided::from(graph),
        Some(path) => {
            let coordinates = dimacs_coordinates(path, &read(path)?)?;
            shared::in_file(Path::new(path), Guided::straight(graph, &coordinates))?
        }
    };
    if let (Some((from, to)), Some(_)) = (guided.graph().free_arc(), &args.paths) {
        let (from, to) = (name(from), name(to));
        return Err(shared::usage(format!(
            "{path}: the arc from the vertex {from} to {to} has the weight 0, so paths could contain cycles. Omit --paths, or give the arc a weight"
        )));
    }
    let vertices = u64::from(guided.graph().vertices());
    check_memory(args.searches, vertices)?;
    let searches: Vec<_> = (0..if vertices == 0 { 0 } else { args.searches })
        .map(|search| {
            let mut stream = Stream::new(args.seed, 0x7061_6972, search.into());
            let mut vertex = || ((u64::from(stream.draw()) * vertices) >> 32) as u32;
            (vertex(), vertex())
        })
        .collect();
    let remedy = format!("write the weights of {path} in larger units");
    let ran = search_all(args, (&guided, &remedy), &searches, mapping)?;
    let shape = format!("{vertices} vertices, {} arcs", guided.graph().arcs());
    let reported = print_report(args, &ran, ("graph", shape), &[]);
    let written = write_paths(args, ["search", "step", "vertex"], |file| {
        for search in 0..searches.len() {
            for (step, vertex) in ran.found.path(search).enumerate() {
                file.serialize((search, step, name(vertex)))?;
            }
        }
        Ok(())
    });
    shared::all([reported, written])
}

/// The results of searches, and how they ran.
struct SearchReport<S: Space> {
    adapter: String,
    mapping: String,
    queue: &'static str,
    /// Where the searches ran and why, if that was chosen.
    choice: Option<String>,
    seconds: f64,
    found: Results<S::Cell>,
}

/// Makes the searches wherever results are expected first. `remedy` says what to do if the
/// cost of a path exceeds 32 bits.
fn search_all<S: Space + Send + 'static>(
    args: &Args,
    (space, remedy): (&S, &str),
    searches: &[(S::Cell, S::Cell)],
    mapping: Mapping,
) -> shared::Outcome<SearchReport<S>> {
    let bar = ProgressBar::new(searches.len() as u64).with_style(ProgressStyle::with_template(
        "{wide_bar} {human_pos} of {human_len} searches, {per_sec}, {eta} left",
    )?);
    let wants_paths = args.paths.is_some();
    let dear = |error| match error {
        SearchError::Overflow { search, limit } => Failure::from(format!(
            "search {search}: a path to the goal, if there is one, costs {limit} or more, \
             which exceeds 32 bits: {remedy}"
        )),
        other => Failure::from(other),
    };
    // The CPU has no mappings and queue designs to choose from.
    let place = match mapping {
        Mapping::Auto => args.place.study()?,
        _ => args.place.any_adapter()?.map_or(OwnedBackend::Cpu, OwnedBackend::Gpu),
    };
    let options = Options::default().mapping(mapping).paths(wants_paths);
    let begun = Instant::now();
    let mut engine = AnyEngine::new(place.backend(), space.clone(), options);
    let found = engine.run(searches, |ended| bar.set_position(ended)).map_err(dear)?;
    let seconds = begun.elapsed().as_secs_f64();
    let (adapter, mapping, queue) = match (engine.device(), place.adapter()) {
        (Some(engine), Some(adapter)) => {
            let queue = match engine.mapping() {
                Mapping::Thread(design) => design.name(),
                _ => "none",
            };
            (adapter.to_owned(), engine.mapping().to_string(), queue)
        }
        _ => ("CPU".to_owned(), "cores".to_owned(), "BinaryHeap"),
    };
    let ran = SearchReport { adapter, mapping, queue, choice: place.choice(), seconds, found };
    bar.finish_and_clear();
    Ok(ran)
}

/// Prints the results, and writes JSON if it was requested.
fn print_report<S: Space>(
    args: &Args,
    ran: &SearchReport<S>,
    shape: (&str, String),
    more: &[(&str, String)],
) -> shared::Outcome<()> {
    let SearchReport { adapter, mapping, queue, choice, seconds, found } = ran;
    let searches = found.outcomes().len();
    let rate = searches as f64 / shared::without_compilations(*seconds).0;
    if !args.json.on_stdout() && !shared::on_stdout(args.paths.as_deref().map(Path::new)) {
        let lines = [
            ("adapter", adapter.clone()),
            shape,
            ("mapping, queue", format!("{mapping}, {queue}")),
            ("searches", searches.to_string()),
            ("found", found.found().to_string()),
            ("expanded", found.expanded().to_string()),
            ("seconds", format!("{seconds:.6}")),
            ("searches per second", format!("{rate:.4e}")),
        ];
        let choice = choice.iter().map(|choice| ("ran on", choice.clone())).collect::<Vec<_>>();
        let fingerprint = ("fingerprint", format!("{:016x}", found.fingerprint()));
        for (name, value) in lines.iter().chain(more).chain([&fingerprint]).chain(&choice) {
            writeln!(stdout(), "{name:<24}{value}")?;
        }
    }
    args.json.write(&json!({
        "seed": args.seed,
        "searches": searches,
        "found": found.found(),
        "seconds": seconds,
        "searches_per_second": rate,
        "expanded": found.expanded(),
        "queue": queue,
        "mapping": mapping,
        "adapter": adapter,
        "fingerprint": format!("{:016x}", found.fingerprint()),
    }))
}

/// Makes the searches of a scenario, or between random cells of a map.
fn on_map(args: &Args, mapping: Mapping) -> shared::Outcome<()> {
    let side = u64::from(args.random);
    check_memory(args.searches, if args.map.is_some() { 0 } else { side * side })?;
    let grid = match &args.map {
        None => Grid::random(args.random, args.density, args.seed)?,
        Some(path) if path.ends_with(".png") => picture_map(path)?,
        Some(path) => moving_ai_map(path, &read(path)?, args.terrain.into())?,
    };
    let grid = match args.costs {
        _ if args.four => grid.with_moves(Moves::MANHATTAN)?,
        Some(moves) => grid.with_moves(moves)?,
        None => grid,
    };
    let scenario = match &args.scen {
        None => Vec::new(),
        Some(path) => scenario_for(&grid, args.map.as_deref().unwrap_or_default(), path)?,
    };
    let searches: Vec<_> = match args.scen {
        None => grid.random_searches(args.searches, args.seed),
        Some(_) => scenario.iter().map(|search| (search.start, search.goal)).collect(),
    };
    let remedy = "choose smaller costs, such as --costs 70,99";
    let ran = search_all(args, (&grid, remedy), &searches, mapping)?;
    let found = &ran.found;

    let wrong = wrong_lengths(&grid, &scenario, found.outcomes());
    let written = write_paths(args, ["search", "step", "x", "y"], |file| {
        for search in 0..searches.len() {
            for (step, cell) in found.path(search).enumerate() {
                file.serialize((search, step, cell.x, cell.y))?;
            }
        }
        Ok(())
    });
    let drawn = args.picture.as_ref().map_or(Ok(()), |path| {
        let shown = (0..searches.len()).max_by_key(|&search| {
            let cost = found.outcomes()[search].cost;
            if scenario.is_empty() {
                (cost.is_some(), u32::MAX - u32::try_from(search).unwrap_or(0))
            } else {
                (true, cost.unwrap_or(0))
            }
        });
        draw(path, &grid, shown.map(|search| searches[search]).as_slice())
    });
    let checked = match scenario.len() {
        0 => "none to compare with".to_owned(),
        all => format!("{} of {all} equal to the scenario", all - wrong.len()),
    };
    let shape = ("map", format!("{} x {}", grid.width(), grid.height()));
    let shown = print_report(args, &ran, shape, &[("lengths", checked)]);
    let reported = |(search, length): &(usize, f64)| {
        let reported = &scenario[*search];
        format!(
            "search {search} from {} to {}: expected length {} of the scenario, found {length}",
            reported.start, reported.goal, reported.length
        )
    };
    let verdict = match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.iter().take(10).map(reported).collect::<Vec<_>>().join("\n").into()),
    };
    shared::all([shown, written, drawn, verdict])
}

/// Refuses more searches or cells than the host's memory holds: starts, goals and outcomes, and the
/// data of each cell.
fn check_memory(searches: u32, cells: u64) -> shared::Outcome<()> {
    let what = format!("{searches} searches in a space of {cells} cells");
    shared::check_memory(what, 48 * u64::from(searches) + 16 * cells)
}

/// Reads the searches of a scenario for a map of this size. Warns if the map has another name.
fn scenario_for(grid: &Grid, map: &str, path: &str) -> shared::Outcome<Vec<ScenarioSearch>> {
    let scenario = moving_ai_scenario(path, &read(path)?)?;
    scenario.iter().try_for_each(|search| search.check_size(path, grid))?;
    if let Some(search) = scenario.iter().find(|search| !search.is_on(map)) {
        shared::print_report(&format!(
            "warning: {path}, line {}: the search is for the map {}, and this map is {map}",
            search.line, search.map
        ));
    }
    Ok(scenario)
}

fn read(path: &str) -> shared::Outcome<String> {
    shared::read_text(Path::new(path), 1 << 32)
}

/// Searches with other lengths than in the scenario, with the lengths found.
fn wrong_lengths(grid: &Grid, scenario: &[ScenarioSearch], outcomes: &[Outcome]) -> Vec<(usize, f64)> {
    let length = |outcome: &Outcome| outcome.cost.map_or(f64::INFINITY, |cost| grid.length(cost));
    let lengths = outcomes.iter().map(length).enumerate();
    lengths
        .zip(scenario)
        .filter(|((_, length), reported)| !reported.agrees(*length))
        .map(|(wrong, _)| wrong)
        .collect()
}

/// Writes the paths if they were requested.
fn write_paths<const N: usize>(
    args: &Args,
    head: [&str; N],
    rows: impl FnOnce(&mut csv::Writer<&mut Vec<u8>>) -> csv::Result<()>,
) -> shared::Outcome<()> {
    let Some(path) = &args.paths else { return Ok(()) };
    let mut table = Vec::new();
    let mut file = csv::Writer::from_writer(&mut table);
    file.write_record(head)?;
    rows(&mut file)?;
    file.flush()?;
    drop(file);
    shared::write(Path::new(path), &table)
}

/// Reads a map from a picture: cells that are transparent or darker than half grey are blocked.
fn picture_map(path: &str) -> Result<Grid, Failure> {
    let named = |error: &dyn std::fmt::Display| shared::usage(format!("{path}: {error}"));
    let file = std::fs::File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| named(&error))?;
    let (width, height) = (reader.info().width, reader.info().height);
    // Checked before memory is allocated for the size that the file claims.
    if width.max(height) > eventhorizon::search::MAX_SIDE {
        return Err(named(&format!("{width} times {height} cells exceed the largest map")));
    }
    let bytes = reader.output_buffer_size().ok_or_else(|| named(&"it is too large"))?;
    let mut pixels = vec![0; bytes];
    let frame = reader.next_frame(&mut pixels).map_err(|error| named(&error))?;
    let samples = frame.color_type.samples();
    let terrain = pixels[..frame.buffer_size()].chunks_exact(samples).map(|pixel| {
        let (grey, opaque) = match *pixel {
            [grey] => (u32::from(grey), true),
            [grey, alpha] => (u32::from(grey), alpha > 127),
            [red, green, blue, ref alpha @ ..] => {
                let grey = (u32::from(red) + u32::from(green) + u32::from(blue)) / 3;
                (grey, alpha.first().is_none_or(|alpha| *alpha > 127))
            }
            [] => (0, false),
        };
        u8::from(opaque && grey > 127)
    });
    shared::in_file(Path::new(path), Grid::new(width, height, terrain.collect()))
}

/// Draws searches as the paper's Figure 5: obstacles black, paths white, expanded cells dark, other
/// cells light.
pub(crate) fn draw(path: &str, grid: &Grid, searches: &[(UVec2, UVec2)]) -> Result<(), Failure> {
    const BLOCKED: u8 = 0;
    const VISITED: u8 = 96;
    const OPEN: u8 = 192;
    const PATH: u8 = 255;
    let mut pixels: Vec<u8> =
        grid.terrain().iter().map(|terrain| if *terrain == 0 { BLOCKED } else { OPEN }).collect();
    let index = |cell: UVec2| cell.y as usize * grid.width() as usize + cell.x as usize;
    let mut search = AStar::new(grid);
    for &(start, goal) in searches {
        search.find(start, goal);
        for y in 0..grid.height() {
            for x in (0..grid.width()).filter(|x| search.visited(UVec2::new(*x, y))) {
                pixels[index(UVec2::new(x, y))] = VISITED;
            }
        }
    }
    for &(start, goal) in searches {
        let (_, cells) = search.find_path(start, goal);
        cells.iter().for_each(|cell| pixels[index(*cell)] = PATH);
    }
    // Small maps with several pixels for a cell.
    let scale = (512 / grid.width().max(grid.height())).max(1);
    let (width, height) = (scale * grid.width(), scale * grid.height());
    let cell = |at: u32| pixels[(at / width / scale * grid.width() + at % width / scale) as usize];
    let scaled: Vec<_> = (0..width * height).map(cell).collect();
    shared::write_png(Path::new(path), (width, height), png::ColorType::Grayscale, &scaled)
}
