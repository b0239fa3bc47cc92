//! Region matching from the command line: the synthetic workload of Marzolla and D'Angelo (2020),
//! or positions from a file, as in their experiment with the cars of Cologne.
//!
//! ```text
//! eventhorizon match --regions 1000000 --alpha 1
//! eventhorizon match --regions 20000 --alpha 100 --dims 2 --find --pairs pairs.csv
//! eventhorizon match --positions cars.csv --width 100 --json
//! eventhorizon match --positions fcd.xml --time 3600 --width 100      # cars of SUMO
//! ```
//!
//! Synthetic regions have equal sizes and random positions in a space of 2^32 per dimension. Their
//! sizes add up to `alpha` times the space. Half of them are subscriptions.
//!
//! Two times are printed. "In all" is the first run over the data, from arrays on the host to the
//! result; kernels were built before, on a small part of the data. "With the data on the device" is
//! a second run, with existing buffers. Without a GPU the host's cores match, and there is one
//! time.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Parser, ValueEnum};
use eventhorizon::gpu::Gpu;
use eventhorizon::matching::decimal::{self, Decimal, DecimalError};
use eventhorizon::matching::{
    self, Algorithm, Counter, Matcher, Matches, MatchingError, Region, Regions, host,
};

use crate::formats::fcd;
use crate::shared::{self, FileUse, Outcome};

/// Count or list the overlaps of subscription and update regions
#[derive(Parser)]
pub struct Options {
    /// Set the number of regions of the synthetic workload, half of them subscriptions
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(2..))]
    regions: u32,
    /// Set the overlapping degree: how often the regions together cover the space
    #[arg(long, default_value_t = 1.0, value_parser = shared::positive)]
    alpha: f64,
    /// Set the dimensions of the synthetic workload
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
    dims: u8,
    /// Set the seed of the synthetic workload
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Take positions from a file instead: each is the centre of one subscription and one update
    /// region. CSV with one per line, 1 to 4 columns; or floating car data of SUMO, as XML or CSV
    #[arg(long, value_name = "FILE", requires = "width", conflicts_with_all = ["regions", "alpha", "dims", "seed"])]
    positions: Option<PathBuf>,
    /// Take the positions of floating car data at this time. Default: the last time in the file
    #[arg(long, requires = "positions")]
    time: Option<f64>,
    /// Set the width of the regions around positions, in every dimension. Width and positions are
    /// exact decimals: regions that touch do not overlap
    #[arg(long, value_name = "W", requires = "positions", value_parser = width)]
    width: Option<Decimal>,
    /// Find pairs on the GPU with this algorithm; the CPU has only one
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Name::Auto)]
    algorithm: Name,
    /// Set the cells per dimension of the grid. Default: the library's choice
    #[arg(long)]
    cells: Option<u32>,
    /// Count the pairs (the default)
    #[arg(long)]
    count: bool,
    /// Find the pairs and leave them on the device
    #[arg(long)]
    find: bool,
    /// Find the pairs and write them to a file, `subscription,update` per line
    #[arg(long, value_name = "OUT.csv")]
    pairs: Option<PathBuf>,
    #[command(flatten)]
    place: shared::Where,
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

fn width(text: &str) -> Result<Decimal, String> {
    match text.parse::<Decimal>() {
        Ok(width) if width.is_positive() => Ok(width),
        Ok(_) => Err("expected a number above 0".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl Options {
    /// Seconds that the CPU is expected to take: on a core, 0.35 us for a region and dimension, and
    /// 6 ns for a pair. A file has not been read yet: most have few positions.
    fn seconds_on_cpu(&self) -> f64 {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        match self.positions {
            Some(_) => 0.0,
            None => f64::from(self.regions) * (3.5e-7 * f64::from(self.dims) + 6e-9 * self.alpha) / cores,
        }
    }
}

pub fn run(options: &Options) -> Outcome<()> {
    shared::check_files(&[
        (FileUse::Reads, "--positions", options.positions.as_deref()),
        (FileUse::WritesFile, "--pairs", options.pairs.as_deref()),
        options.json.file(),
    ])?;
    if options.cells.is_some() && !matches!(options.algorithm, Name::Grid) {
        return Err(shared::usage("--cells needs --algorithm grid"));
    }
    // A named algorithm runs on the device, even on a software adapter.
    let gpu = match options.algorithm {
        Name::Auto => options.place.for_matching(options.seconds_on_cpu())?,
        _ => options.place.any_adapter()?,
    };
    if gpu.is_none() && !matches!(options.algorithm, Name::Auto) {
        return Err(shared::usage("--algorithm needs --backend gpu: omit it on the CPU"));
    }
    let matcher = gpu.as_ref().map(Matcher::new);
    let matcher = matcher.as_ref();
    if let (Some(path), Some(width)) = (&options.positions, options.width) {
        let (positions, lines) = read_positions(path, options.time)?;
        let around = AroundPositions { path, positions: &positions, lines: &lines, width };
        return match positions[0].len() {
            1 => report(options, matcher, &around.regions::<1>()?, |m, s, u| m.counter(s, u).map(Some)),
            2 => report(options, matcher, &around.regions::<2>()?, no_counter),
            3 => report(options, matcher, &around.regions::<3>()?, no_counter),
            _ => report(options, matcher, &around.regions::<4>()?, no_counter),
        };
    }
    match options.dims {
        1 => {
            report(options, matcher, &synthetic::<1>(options, matcher)?, |m, s, u| m.counter(s, u).map(Some))
        }
        2 => report(options, matcher, &synthetic::<2>(options, matcher)?, no_counter),
        3 => report(options, matcher, &synthetic::<3>(options, matcher)?, no_counter),
        _ => report(options, matcher, &synthetic::<4>(options, matcher)?, no_counter),
    }
}

/// Subscriptions and updates.
type Sets<const D: usize> = (Vec<Region<u32, D>>, Vec<Region<u32, D>>);

/// Regions of equal size at random positions.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32, and saturating")]
fn synthetic<const D: usize>(options: &Options, matcher: Option<&Matcher>) -> Outcome<Sets<D>> {
    let larger = options.regions.div_ceil(2).into();
    matcher.map_or_else(
        || host::check_len("updates", larger),
        |matcher| matcher.check_len::<D>("updates", larger),
    )?;
    let space = 2f64.powi(32);
    let exact = space * (options.alpha / f64::from(options.regions)).powf(1.0 / f64::from(options.dims));
    if exact > space / 2.0 {
        let most = f64::from(options.regions) * 0.5_f64.powi(options.dims.into());
        return Err(shared::usage(format!(
            "--alpha is too large: regions would exceed half of the space. Choose at most {most}, or more regions"
        )));
    }
    let size = exact.round().max(1.0);
    if (size / exact - 1.0).abs() > 0.01 {
        shared::print_report(&format!(
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
        // The last regions end within the space.
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
type Position = Vec<Decimal>;

/// The positions in a file, all with the same number of coordinates, and their line numbers.
fn read_positions(path: &Path, time: Option<f64>) -> Result<(Vec<Position>, Vec<u64>), shared::Failure> {
    let name = path.display();
    let open = || File::open(path).map(BufReader::new).map_err(|error| format!("{name}: {error}"));
    let mut file = open()?;
    let start = file.fill_buf().map_err(|error| format!("{name}: {error}"))?;
    let first: String =
        start.iter().take_while(|byte| **byte != b'\n').map(|byte| char::from(*byte)).collect();
    let is_xml = start.trim_ascii_start().starts_with(b"<");
    if is_xml || fcd::is_header(&first) {
        let found = if is_xml { fcd::from_xml(file, time) } else { fcd::from_csv(file, time) };
        return car_positions(path, found.map_err(|error| shared::usage(format!("{name}: {error}")))?);
    }
    if time.is_some() {
        return Err(shared::usage(format!(
            "{name}: --time is for floating car data, which this file is not"
        )));
    }
    let (mut positions, mut lines) = (Vec::<Position>::new(), Vec::new());
    for (line, text) in (1..).zip(file.lines()) {
        let text = text.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => shared::usage(format!("{name}:{line}: {error}")),
            _ => format!("{name}: {error}").into(),
        })?;
        // Some editors start a file with a byte-order mark.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        let wrong = |what: &dyn std::fmt::Display| shared::usage(format!("{name}:{line}: {what}"));
        let fields = text.split(',').map(|field| field.trim().trim_matches('"').parse::<Decimal>());
        let position = fields.collect::<Result<Vec<_>, _>>().map_err(|error| wrong(&error))?;
        let expected = positions.first().map_or(position.len(), Vec::len);
        if position.len() != expected || !(1..=4).contains(&expected) {
            let found = position.len();
            return Err(wrong(&format!(
                "expected 1 to 4 columns, as many as in the first line ({expected}), found {found}"
            )));
        }
        positions.push(position);
        lines.push(line);
    }
    match positions.is_empty() {
        true => Err(shared::usage(format!("{name} contains no position"))),
        false => Ok((positions, lines)),
    }
}

/// Positions of floating car data as numbers.
fn car_positions(
    path: &Path,
    found: Vec<fcd::Position>,
) -> Result<(Vec<Position>, Vec<u64>), shared::Failure> {
    let name = path.display();
    if found.is_empty() {
        return Err(shared::usage(format!(
            "{name}: no vehicle is there at that time: choose another by --time"
        )));
    }
    let position = |(line, coordinates): &fcd::Position| {
        let numbers = coordinates.iter().map(|text| text.trim().parse::<Decimal>());
        let numbers = numbers.collect::<Result<Vec<_>, _>>();
        numbers.map_err(|error| shared::usage(format!("{name}:{line}: {error}")))
    };
    let positions = found.iter().map(position).collect::<Result<Vec<_>, _>>()?;
    Ok((positions, found.into_iter().map(|(line, _)| line).collect()))
}

/// One subscription and one update region around each position.
struct AroundPositions<'a> {
    path: &'a Path,
    positions: &'a [Position],
    /// The line number of each position.
    lines: &'a [u64],
    width: Decimal,
}

impl AroundPositions<'_> {
    /// The regions, with 32-bit bounds that give the same overlaps.
    fn regions<const D: usize>(&self) -> Outcome<Sets<D>> {
        let positions: Vec<[Decimal; D]> =
            self.positions.iter().map(|position| std::array::from_fn(|d| position[d])).collect();
        let regions = decimal::around(&positions, self.width).map_err(|error| {
            let name = self.path.display();
            match error {
                DecimalError::Digits { position: Some(number), .. } => {
                    shared::usage(format!("{name}:{}: {error}", self.lines[number]))
                }
                _ => shared::usage(format!("{name}, --width {}: {error}", self.width)),
            }
        })?;
        let near = shared::in_file(self.path, matching::narrow(&regions, &regions))?;
        Ok((near.subscriptions, near.updates))
    }
}

type PreparedCounter = Result<Option<Counter>, MatchingError>;

/// Only one dimension has a prepared count.
fn no_counter<const D: usize>(_: &Matcher, _: &Regions<u32, D>, _: &Regions<u32, D>) -> PreparedCounter {
    Ok(None)
}

/// The results of a matching.
struct MatchReport<'a> {
    regions: usize,
    dimensions: usize,
    pairs: u64,
    algorithm: &'a str,
    adapter: Option<&'a str>,
    seconds_match: f64,
    seconds_total: f64,
}

impl MatchReport<'_> {
    fn write(&self, options: &Options) -> Outcome<()> {
        let Self { regions, dimensions, pairs, algorithm, adapter, seconds_match, seconds_total } = *self;
        // Readers of JSON may keep numbers as doubles.
        let number = match pairs <= 1 << 53 {
            true => serde_json::Value::from(pairs),
            false => serde_json::Value::from(pairs.to_string()),
        };
        let written = options.json.write(&serde_json::json!({
            "regions": regions,
            "pairs": number,
            "seconds_match": seconds_match,
            "seconds_total": seconds_total,
            "algorithm": algorithm,
            "engine": shared::engine(adapter.is_some()),
            "adapter": adapter,
        }));
        if !options.json.on_stdout() {
            let noun = if dimensions == 1 { "dimension" } else { "dimensions" };
            writeln!(stdout(), "{regions} regions in {dimensions} {noun}: {pairs} overlapping pairs")?;
            let (fast, all) = (seconds_match * 1e3, seconds_total * 1e3);
            match adapter {
                Some(name) => writeln!(
                    stdout(),
                    "{algorithm} on {name}: {fast:.3} ms with the data on the device (second run), \
                    {all:.3} ms in all (first run)"
                )?,
                None => writeln!(stdout(), "{algorithm} on the CPU: {all:.3} ms")?,
            }
        }
        written
    }
}

/// Fails if complete counts from counting and from finding differ.
fn agreed(counted: Option<u64>, found: Option<u64>) -> Outcome<u64> {
    match (counted, found) {
        (Some(counted), Some(found)) if counted != found && !shared::interrupted() => {
            Err(format!("{counted} pairs were counted, but {found} were found. Please report the adapter, the driver and this command line").into())
        }
        _ => Ok(counted.or(found).unwrap_or(0)),
    }
}

/// Matches on the host's cores.
fn report_host<const D: usize>(options: &Options, (subscriptions, updates): &Sets<D>) -> Outcome<()> {
    let finding = options.find || options.pairs.is_some();
    let counting = options.count || !finding;
    let start = Instant::now();
    let counted = counting.then(|| host::count(subscriptions, updates)).transpose()?;
    let found = finding.then(|| host::find(subscriptions, updates)).transpose()?;
    let seconds_match = start.elapsed().as_secs_f64();
    if let (Some(pairs), Some(path)) = (&found, &options.pairs) {
        let mut file = create(path)?;
        for [subscription, update] in pairs {
            writeln!(file, "{subscription},{update}")?;
        }
        file.flush()?;
    }
    let seconds_total = start.elapsed().as_secs_f64();
    let (regions, dimensions) = (subscriptions.len() + updates.len(), D);
    let pairs = agreed(counted, found.map(|pairs| pairs.len() as u64))?;
    let (algorithm, adapter) = ("sweep", None);
    MatchReport { regions, dimensions, pairs, algorithm, adapter, seconds_match, seconds_total }
        .write(options)
}

fn create(path: &Path) -> Outcome<BufWriter<File>> {
    match File::create(path) {
        Ok(file) => Ok(BufWriter::new(file)),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}

fn report<const D: usize>(
    options: &Options,
    matcher: Option<&Matcher>,
    sets: &Sets<D>,
    counter: impl Fn(&Matcher, &Regions<u32, D>, &Regions<u32, D>) -> PreparedCounter,
) -> Outcome<()> {
    let Some(matcher) = matcher else { return report_host(options, sets) };
    let (subscriptions, updates) = sets;
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
    // Kernels are built at their first use, here with a small part of the data.
    let some = |set: &[Region<u32, D>]| matcher.upload("warm-up", &set[..set.len().min(3000)]);
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
    let pairs = agreed(counted, found)?;

    // The second run, with the data on the device.
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
    let (regions, dimensions) = (subscriptions.len() + updates.len(), D);
    let (algorithm, adapter) = (&*name, Some(&*gpu.info().name));
    MatchReport { regions, dimensions, pairs, algorithm, adapter, seconds_match, seconds_total }
        .write(options)
}

/// Reads all pages and writes them to the file, if one is given. Returns the number of pairs until
/// the end or Ctrl-C.
fn write_pairs(gpu: &Gpu, matches: &mut Matches, path: Option<&Path>) -> Outcome<u64> {
    let mut file = path.map(create).transpose()?;
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

/// The seconds to place all pairs and write them to an existing page buffer.
fn find_again<const D: usize>(
    matcher: &Matcher,
    s: &Regions<u32, D>,
    u: &Regions<u32, D>,
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

/// Waits until all submitted work has finished.
fn wait(gpu: &Gpu) -> Outcome<()> {
    Ok(gpu.wait(gpu.submit(gpu.encoder("all before"))?)?)
}

/// The seconds that `work` takes, and its result.
fn timed<R>(work: impl FnOnce() -> Outcome<R>) -> Outcome<(f64, R)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}
