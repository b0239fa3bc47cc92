//! Region matching from the command line: the synthetic workload of Marzolla and D'Angelo (2020), or positions
//! from a file, as in their experiment with the cars of Cologne.
//!
//! ```text
//! cargo run --release --example region_matching -- --regions 1000000 --alpha 1
//! cargo run --release --example region_matching -- --regions 20000 --alpha 100 --dims 2 --find --pairs pairs.csv
//! cargo run --release --example region_matching -- --positions cars.csv --width 100 --json
//! ```
//!
//! Synthetic regions all have the same size and random places in a space of 2^32 per dimension. The size is
//! chosen such that the regions together are `alpha` times the space. Half of them are subscriptions.
//!
//! Two times are given. "In all" is the first run over the data, from arrays on the host to the result, with the kernels
//! built before on a small part of it. "With the data on the device" is a second run, for which buffers are there.

pub(crate) mod shared;

use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use eventhorizon::gpu::Gpu;
use eventhorizon::matching::{
    self, Algorithm, Coordinate, Counter, Matcher, Matches, MatchingError, Region, Regions,
};
use shared::{Outcome, Use};

/// Counts or lists the overlaps of subscription and update regions on the GPU.
#[derive(Parser)]
pub(crate) struct Options {
    /// Regions of the synthetic workload, half of them subscriptions.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(2..))]
    regions: u32,
    /// Overlapping degree: how often the regions together cover the space.
    #[arg(long, default_value_t = 1.0, value_parser = shared::positive)]
    alpha: f64,
    /// Dimensions of the synthetic workload.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
    dims: u8,
    /// Seed of the synthetic workload.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Take positions from a CSV file instead, one per line, 1 to 4 columns: each is the centre of one
    /// subscription and one update region.
    #[arg(long, value_name = "FILE.csv", requires = "width", conflicts_with_all = ["regions", "alpha", "dims", "seed"])]
    positions: Option<PathBuf>,
    /// Width of the regions around positions, in every dimension.
    #[arg(long, value_name = "W", requires = "positions", value_parser = shared::positive)]
    width: Option<f64>,
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Name::Auto)]
    algorithm: Name,
    /// Cells per dimension for the grid; the library chooses them otherwise.
    #[arg(long)]
    cells: Option<u32>,
    /// Count the pairs (the default).
    #[arg(long)]
    count: bool,
    /// Find the pairs and leave them on the device.
    #[arg(long)]
    find: bool,
    /// Find the pairs and write them to a file, `subscription,update` per line.
    #[arg(long, value_name = "OUT.csv")]
    pairs: Option<PathBuf>,
    #[command(flatten)]
    json: shared::Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    Brute,
    Grid,
    #[value(alias = "interval-tree")]
    Tree,
    Sort,
    Auto,
}

fn main() -> ExitCode {
    shared::main(run)
}

pub(crate) fn run(options: &Options) -> Outcome<()> {
    shared::check_files(&[
        (Use::Reads, "--positions", options.positions.as_deref()),
        (Use::WritesFile, "--pairs", options.pairs.as_deref()),
        options.json.file(),
    ])?;
    if options.cells.is_some() && !matches!(options.algorithm, Name::Grid) {
        return Err(shared::usage("--cells is for --algorithm grid"));
    }
    let matcher = Matcher::new(&Gpu::new()?);
    if let (Some(path), Some(width)) = (&options.positions, options.width) {
        let (positions, lines) = read_positions(path)?;
        let around = Around { path, positions: &positions, lines: &lines, width };
        return match positions[0].len() {
            1 => report(options, &matcher, &around.regions::<1>()?, |m, s, u| m.counter(s, u).map(Some)),
            2 => report(options, &matcher, &around.regions::<2>()?, no_counter),
            3 => report(options, &matcher, &around.regions::<3>()?, no_counter),
            _ => report(options, &matcher, &around.regions::<4>()?, no_counter),
        };
    }
    match options.dims {
        1 => report(options, &matcher, &synthetic::<1>(options, &matcher)?, |m, s, u| {
            m.counter(s, u).map(Some)
        }),
        2 => report(options, &matcher, &synthetic::<2>(options, &matcher)?, no_counter),
        3 => report(options, &matcher, &synthetic::<3>(options, &matcher)?, no_counter),
        _ => report(options, &matcher, &synthetic::<4>(options, &matcher)?, no_counter),
    }
}

/// Subscriptions and updates.
type Sets<T, const D: usize> = (Vec<Region<T, D>>, Vec<Region<T, D>>);

/// Regions of equal size at random places.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32, and saturating")]
fn synthetic<const D: usize>(options: &Options, matcher: &Matcher) -> Outcome<Sets<u32, D>> {
    matcher.check_len::<D>("updates", options.regions.div_ceil(2).into())?;
    let space = 2f64.powi(32);
    let exact = space * (options.alpha / f64::from(options.regions)).powf(1.0 / f64::from(options.dims));
    if exact > space / 2.0 {
        let most = f64::from(options.regions) * 0.5_f64.powi(options.dims.into());
        return Err(shared::usage(format!(
            "--alpha is too large: regions would be larger than half of the space. Choose at most {most}, or more regions"
        )));
    }
    let size = exact.round().max(1.0);
    if (size / exact - 1.0).abs() > 0.01 {
        shared::tell(&format!(
            "notice: regions of size {exact:.3} are rounded to {size}: alpha is not quite {}",
            options.alpha
        ));
    }
    let mut state = options.seed;
    let mut place = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let random = (z ^ (z >> 31)) >> 32;
        // The last regions still end within the space.
        ((random as f64 * (space - size)) / space) as u32
    };
    let mut set = |count: u32| {
        let region = |_| {
            let lo = std::array::from_fn(|_| place());
            Region::new(lo, lo.map(|lo| lo + size as u32))
        };
        let mut regions = Vec::new();
        regions.try_reserve_exact(count as usize).map_err(|error| format!("{count} regions: {error}"))?;
        regions.extend((0..count).map(region));
        Outcome::Ok(regions)
    };
    let subscriptions = options.regions / 2;
    Ok((set(subscriptions)?, set(options.regions - subscriptions)?))
}

/// One number per dimension.
type Position = Vec<f64>;

/// The lines of a CSV file, all with the same number of columns, and their numbers in the file.
fn read_positions(path: &Path) -> Result<(Vec<Position>, Vec<u64>), shared::Failure> {
    let name = path.display();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(|error| format!("{name}: {error}"))?;
    let (mut positions, mut lines) = (Vec::<Position>::new(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(|error| format!("{name}: {error}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        let position = record
            .iter()
            .map(|field| match field.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(value),
                _ => Err(format!("{name}:{line}: '{}' is not a number", short(field))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let expected = positions.first().map_or(position.len(), Vec::len);
        if position.len() != expected || !(1..=4).contains(&expected) {
            let found = position.len();
            return Err(format!(
                "{name}:{line}: {found} columns; positions have 1 to 4, all lines as many as the first ({expected})"
            )
            .into());
        }
        positions.push(position);
        lines.push(line);
    }
    match positions.is_empty() {
        true => Err(format!("{name} holds no position").into()),
        false => Ok((positions, lines)),
    }
}

/// What is told of a field.
fn short(field: &str) -> String {
    const MOST: usize = 40;
    let cut: String = field.chars().take(MOST).collect();
    if cut.len() < field.len() { format!("{cut}...") } else { cut }
}

/// One subscription and one update region around each position.
struct Around<'a> {
    path: &'a Path,
    positions: &'a [Position],
    /// The line of each.
    lines: &'a [u64],
    width: f64,
}

impl Around<'_> {
    /// The regions, measured from the middle of all.
    fn regions<const D: usize>(&self) -> Outcome<Sets<f32, D>> {
        let region = |position: &Position| {
            let at = |offset: f64| std::array::from_fn(|d| position[d] + offset);
            Region::<f64, D>::new(at(-self.width / 2.0), at(self.width / 2.0))
        };
        let regions: Vec<_> = self.positions.iter().map(region).collect();
        if let Some(number) = regions.iter().position(Region::is_empty) {
            let (name, line, width) = (self.path.display(), self.lines[number], self.width);
            return Err(format!(
                "{name}:{line}: so far out a region of width {width} is empty: take a larger one"
            )
            .into());
        }
        match matching::round(&regions, &regions) {
            Ok(near) => Ok((near.subscriptions, near.updates)),
            Err(error) => Err(format!("{}: {error}", self.place(&error)).into()),
        }
    }

    /// The file, and the lines that an error speaks of.
    fn place(&self, error: &MatchingError) -> String {
        let name = self.path.display();
        let line = |region: u32| self.lines[region as usize];
        match *error {
            MatchingError::Rounded { subscription, update, .. } => {
                format!("{name}:{} and line {}", line(subscription), line(update))
            }
            MatchingError::RoundedAway { region, .. } => format!("{name}:{}", line(region)),
            _ => name.to_string(),
        }
    }
}

type Prepared = Result<Option<Counter>, MatchingError>;

/// Only one dimension has a count that can be prepared.
fn no_counter<T, const D: usize>(_: &Matcher, _: &Regions<T, D>, _: &Regions<T, D>) -> Prepared {
    Ok(None)
}

fn report<T: Coordinate, const D: usize>(
    options: &Options,
    matcher: &Matcher,
    (subscriptions, updates): &Sets<T, D>,
    counter: impl Fn(&Matcher, &Regions<T, D>, &Regions<T, D>) -> Prepared,
) -> Outcome<()> {
    let algorithm = match options.algorithm {
        Name::Brute => Algorithm::Brute,
        Name::Grid => Algorithm::Grid { cells: options.cells },
        Name::Tree => Algorithm::IntervalTree,
        Name::Sort => Algorithm::Sort,
        Name::Auto => Algorithm::Auto,
    };
    let gpu = matcher.gpu();
    let finding = options.find || options.pairs.is_some();
    let counting = options.count || !finding;
    // Kernels are built at their first use; a small part of the work builds them.
    let some = |set: &[Region<T, D>]| matcher.upload("warm-up", &set[..set.len().min(3000)]);
    let some = (some(subscriptions)?, some(updates)?);
    let used = match algorithm {
        Algorithm::Auto => vec![algorithm, Algorithm::Sort, Algorithm::Grid { cells: None }],
        _ => vec![algorithm],
    };
    for algorithm in used {
        matcher.find(&some.0, &some.1, algorithm)?.next_page()?;
        matcher.count(&some.0, &some.1, algorithm)?;
    }

    let start = Instant::now();
    let (s, u) = (matcher.upload("subscriptions", subscriptions)?, matcher.upload("updates", updates)?);
    let counted = counting.then(|| matcher.count(&s, &u, algorithm)).transpose()?;
    let found = match finding {
        true => Some(write_pairs(gpu, &mut matcher.find(&s, &u, algorithm)?, options.pairs.as_deref())?),
        false => None,
    };
    let seconds_total = start.elapsed().as_secs_f64();
    if let (Some(counted), Some(found)) = (counted, found)
        && counted != found
        && !shared::interrupted()
    {
        return Err(format!("{counted} pairs counted and {found} found: please report this").into());
    }
    let count = counted.or(found).unwrap_or(0);

    // Once more, with the data on the device.
    let chosen = if algorithm == Algorithm::Auto { matcher.choose(&s, &u)? } else { algorithm };
    let counter = match chosen == Algorithm::Sort && !finding {
        true => counter(matcher, &s, &u)?,
        false => None,
    };
    let seconds_match = match counter {
        Some(counter) => {
            counter.count(gpu)?;
            timed(|| {
                let mut encoder = gpu.encoder("count");
                counter.record(&mut encoder);
                Ok(gpu.wait(gpu.submit(encoder)?)?)
            })?
            .0
        }
        None if finding => find_again(matcher, &s, &u, chosen)?,
        None => timed(|| Ok(matcher.count(&s, &u, chosen)?))?.0,
    };
    let name = match chosen {
        Algorithm::Brute => "brute",
        Algorithm::Grid { .. } => "grid",
        Algorithm::IntervalTree => "tree",
        _ => "sort",
    };
    let name = match algorithm {
        Algorithm::Auto => format!("auto ({name})"),
        _ => name.to_owned(),
    };
    let regions = subscriptions.len() + updates.len();
    // Readers of JSON may keep numbers as doubles.
    let pairs = match count <= 1 << 53 {
        true => serde_json::Value::from(count),
        false => serde_json::Value::from(count.to_string()),
    };
    let written = options.json.write(&serde_json::json!({
        "regions": regions,
        "pairs": pairs,
        "seconds_match": seconds_match,
        "seconds_total": seconds_total,
        "algorithm": name,
        "adapter": gpu.info().name,
    }));
    if !options.json.on_stdout() {
        let dimensions = if D == 1 { "dimension" } else { "dimensions" };
        writeln!(stdout(), "{regions} regions in {D} {dimensions}: {count} overlapping pairs")?;
        writeln!(
            stdout(),
            "{name} on {}: {:.3} ms with the data on the device (second run), {:.3} ms in all (first run)",
            gpu.info().name,
            seconds_match * 1e3,
            seconds_total * 1e3
        )?;
    }
    written
}

/// Asks for all pages and writes them to a file if there is to be one; returns the number of pairs, up to where it was stopped.
fn write_pairs(gpu: &Gpu, matches: &mut Matches, path: Option<&Path>) -> Outcome<u64> {
    let file = path.map(|path| File::create(path).map_err(|error| format!("{}: {error}", path.display())));
    let mut file = file.transpose()?.map(BufWriter::new);
    let bar = shared::bar(matches.total(), "{wide_bar} {pos} of {len} pairs")?;
    let mut pairs = 0;
    while !shared::interrupted()
        && let Some(page) = matches.next_page()?
    {
        pairs += u64::from(page.len());
        bar.set_position(pairs);
        match &mut file {
            Some(file) => {
                for [subscription, update] in page.read()? {
                    writeln!(file, "{subscription},{update}")?;
                }
            }
            None => wait(gpu)?,
        }
    }
    if let Some(mut file) = file {
        file.flush()?;
    }
    bar.finish_and_clear();
    Ok(pairs)
}

/// Seconds of placing all pairs and of writing them, to a page buffer that is there.
fn find_again<T: Coordinate, const D: usize>(
    matcher: &Matcher,
    s: &Regions<T, D>,
    u: &Regions<T, D>,
    algorithm: Algorithm,
) -> Outcome<f64> {
    let (placing, mut matches) = timed(|| Ok(matcher.find(s, u, algorithm)?))?;
    matches.next_page()?;
    matches.set_page_len(matches.page_len());
    let gpu = matcher.gpu();
    wait(gpu)?;
    let (writing, ()) = timed(|| {
        while matches.next_page()?.is_some() {}
        wait(gpu)
    })?;
    Ok(placing + writing)
}

/// Waits for all that was submitted.
fn wait(gpu: &Gpu) -> Outcome<()> {
    Ok(gpu.wait(gpu.submit(gpu.encoder("all before"))?)?)
}

/// The seconds that `work` takes, and its result.
fn timed<R>(work: impl FnOnce() -> Outcome<R>) -> Outcome<(f64, R)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}
