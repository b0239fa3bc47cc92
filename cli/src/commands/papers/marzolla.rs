//! Region matching in one dimension (Marzolla and D'Angelo, section 5): Figures 9 to 14.
//!
//! Half of the regions are subscriptions. All have one length, and alpha is the sum of their
//! lengths over that of the space. Pairs are counted, not listed, as in the paper. Each count is
//! compared with the library's reference.

use std::path::Path;
use std::time::Instant;

use eventhorizon::matching::{Algorithm, Matcher, Region, host, reference};
use eventhorizon::random::Stream;
use rayon::ThreadPoolBuilder;

use super::sbm;
use super::sets::SetMatcher;
use super::study::{Study, thousands};
use crate::shared::{self, Outcome, same, usage};

const SEED: u64 = 42;
/// The overlapping degree of all figures but the one that varies it.
const ALPHA: f64 = 100.0;

type Set = Vec<Region<u32, 1>>;

/// Subscriptions and updates, and the number of their overlapping pairs.
struct Workload {
    sets: [Set; 2],
    pairs: u64,
}

impl Workload {
    fn new(sets: [Set; 2]) -> Self {
        let pairs = reference::count(&sets[0], &sets[1]);
        Self { sets, pairs }
    }

    fn regions(&self) -> u64 {
        (self.sets[0].len() + self.sets[1].len()) as u64
    }
}

/// Subscriptions and updates, `regions` in all.
fn workload(regions: u32, alpha: f64) -> Workload {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^32")]
    let size = (2_f64.powi(32) * (alpha / f64::from(regions)).min(0.5)).round().max(1.0) as u32;
    Workload::new([0, 1].map(|side| {
        let mut stream = Stream::new(SEED, side, 0);
        let mut region = || {
            let lo = stream.draw().min(u32::MAX - size);
            Region::new([lo], [lo + size])
        };
        (0..regions / 2).map(|_| region()).collect()
    }))
}

/// The shortest of some runs in seconds, and the count, which is the same in all. After `budget`
/// seconds there is no further run.
fn timed(runs: u32, budget: f64, mut count: impl FnMut() -> Outcome<u64>) -> Outcome<(f64, u64)> {
    let (mut best, mut found) = (f64::INFINITY, 0);
    let first = Instant::now();
    for run in 0..runs {
        if run > 0 && first.elapsed().as_secs_f64() > budget {
            break;
        }
        let begun = Instant::now();
        found = count()?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    Ok((best, found))
}

/// A way to count, by the paper's name of the algorithm.
#[derive(Clone, Copy)]
enum Way {
    /// Sort-based matching with sets, on this number of threads.
    Sets(usize),
    /// The library's ranks, on this number of threads.
    Ranks(usize),
    /// On the device.
    Device(Algorithm),
    /// Sort-based matching with sets, on the device.
    DeviceSets,
}

/// Seconds of a way to count, with everything from the regions on the host to the number.
fn measure(study: &Study<'_>, workload: &Workload, way: Way, runs: u32) -> Outcome<f64> {
    let [s, u] = &workload.sets;
    let on = |threads: usize, count: &(dyn Fn() -> Result<u64, String> + Sync)| -> Outcome<(f64, u64)> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        timed(runs, study.args.budget, || Ok(pool.install(count)?))
    };
    let (seconds, found) = match way {
        Way::Sets(threads) => on(threads, &|| Ok(sbm::count(s, u, threads)))?,
        Way::Ranks(threads) => on(threads, &|| host::count(s, u).map_err(|error| error.to_string()))?,
        Way::Device(algorithm) => {
            let matcher = Matcher::new(&study.gpu()?);
            // The first run builds the kernels.
            timed(runs + 1, f64::INFINITY, || {
                let (s, u) = (matcher.upload("subscriptions", s)?, matcher.upload("updates", u)?);
                Ok(matcher.count(&s, &u, algorithm)?)
            })?
        }
        Way::DeviceSets => {
            let matcher = SetMatcher::new(&study.gpu()?)?;
            timed(runs + 1, f64::INFINITY, || {
                let found = matcher.count(s, u, matcher.segments(s.len() + u.len()))?;
                Ok(found.ok_or(CUT)?.pairs.into_iter().sum())
            })?
        }
    };
    same(&found, &workload.pairs, "overlapping pairs")?;
    Ok(seconds)
}

/// 1, 2, 4 ... threads, up to the cores.
fn threads() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<_> = (0..).map(|power| 1 << power).take_while(|&count| count < cores).collect();
    all.push(cores);
    all
}

/// Time and speed-up by threads. The device is a level line.
fn by_threads(study: &mut Study<'_>, workload: &Workload, device: &[(&str, Way)]) -> Outcome<()> {
    study.note(&format!("{} regions", thousands(workload.regions())));
    let threads = threads();
    let as_f64 = |threads: usize| u32::try_from(threads).map_or(0.0, f64::from);
    for (line, way) in [(SETS, Way::Sets as fn(usize) -> Way), (RANKS, Way::Ranks)] {
        let mut one = None;
        for &threads in &threads {
            if !study.goes_on() {
                return Ok(());
            }
            let x = as_f64(threads);
            let seconds =
                study.point_by("seconds", line, x, |study| measure(study, workload, way(threads), 3))?;
            let one = *one.get_or_insert(seconds);
            study.point("speed-up over one thread", line, x, one / seconds)?;
        }
    }
    for &(line, way) in device {
        if !study.goes_on() {
            return Ok(());
        }
        let seconds = measure(study, workload, way, 3)?;
        for &threads in [&threads[..1], &threads[threads.len() - 1..]].concat().iter() {
            study.row(
                ["seconds", line],
                as_f64(threads),
                Some(seconds),
                None,
                "all threads of the device",
            )?;
        }
    }
    Ok(())
}

const SETS: &str = "SBM with sets (Algorithms 6, 7)";
const RANKS: &str = "SBM by ranks (this library)";
const SETS_ON_DEVICE: &str = "SBM with sets on the device";
const RANKS_ON_DEVICE: &str = "SBM by ranks on the device";

const DEVICE: [(&str, Way); 5] = [
    ("BFM on the device", Way::Device(Algorithm::Brute)),
    ("GBM on the device", Way::Device(Algorithm::Grid { cells: None })),
    ("ITM on the device", Way::Device(Algorithm::IntervalTree)),
    (SETS_ON_DEVICE, Way::DeviceSets),
    (RANKS_ON_DEVICE, Way::Device(Algorithm::Sort)),
];

const CUT: &str = "the driver ended a loop early";

pub(super) fn figure_9(study: &mut Study<'_>) -> Outcome<()> {
    study.note("alpha 100");
    by_threads(study, &workload(study.size(1_000_000, 20_000), ALPHA), &DEVICE)
}

pub(super) fn figure_10(study: &mut Study<'_>) -> Outcome<()> {
    study.note("alpha 100");
    by_threads(study, &workload(study.size(20_000_000, 100_000), ALPHA), &DEVICE[2..])
}

pub(super) fn figure_11(study: &mut Study<'_>) -> Outcome<()> {
    let sets = workload(study.size(1_000_000, 20_000), ALPHA);
    for power in study.size(8..=17, 6..=11) {
        if !study.goes_on() {
            return Ok(());
        }
        let cells = 1_u32 << power;
        let way = Way::Device(Algorithm::Grid { cells: Some(cells) });
        study.point_by("", "GBM on the device", cells.into(), |study| measure(study, &sets, way, 2))?;
    }
    let seconds = measure(study, &sets, Way::Device(Algorithm::Grid { cells: None }), 2)?;
    study.note(&format!(
        "{} regions, alpha 100; {seconds:.4} s with the library's number of cells",
        thousands(sets.regions())
    ));
    Ok(())
}

pub(super) fn figure_12(study: &mut Study<'_>) -> Outcome<()> {
    let cores = threads().pop().unwrap_or(1);
    let ways = [
        (SETS, Way::Sets(cores)),
        (RANKS, Way::Ranks(cores)),
        ("ITM on the device", Way::Device(Algorithm::IntervalTree)),
        (SETS_ON_DEVICE, Way::DeviceSets),
        (RANKS_ON_DEVICE, Way::Device(Algorithm::Sort)),
    ];
    let most = study.size(10_000_000, 40_000);
    let gpu = study.gpu();
    let by_regions = [most / 8, most / 4, most / 2, most].map(|regions| (regions, ALPHA, f64::from(regions)));
    let by_alpha = [0.01, 1.0, 100.0].map(|alpha| (most, alpha, alpha));
    let alpha = format!("alpha, with {} regions", thousands(most.into()));
    for (panel, points) in [("regions, with alpha 100", &by_regions[..]), (&alpha, &by_alpha)] {
        for &(regions, alpha, x) in points {
            let sets = workload(regions, alpha);
            for (line, way) in ways {
                if !study.goes_on() {
                    return Ok(());
                }
                if gpu.is_err() && matches!(way, Way::Device(_) | Way::DeviceSets) {
                    continue;
                }
                study.point_by(panel, line, x, |study| measure(study, &sets, way, 2))?;
            }
        }
    }
    gpu.map(drop)
}

/// The peak of this process's memory in MiB while `work` runs, and its result. `None` where the
/// system does not report it.
fn peak<T>(work: impl FnOnce() -> T) -> (Option<f64>, T) {
    // Linux resets the peak when 5 is written there.
    let is_reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let result = work();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    (peak.filter(|_| is_reset).map(|kilobytes| kilobytes / 1024.0), result)
}

/// The panel of memory by regions, which is also the label of its axis.
const BY_REGIONS: &str = "regions";
const NO_PEAK: &str = "the system does not reset the peak";

pub(super) fn figure_13(study: &mut Study<'_>) -> Outcome<()> {
    let most = study.size(20_000_000, 400_000);
    let cores = threads().pop().unwrap_or(1);
    study.note("alpha 100");
    for regions in [most / 8, most / 4, most / 2, most] {
        if !study.goes_on() {
            return Ok(());
        }
        let Workload { sets: [s, u], pairs: expected } = workload(regions, ALPHA);
        let (peak_of_input, ()) = peak(|| ());
        let (peak_of_ranks, found) = peak(|| host::count(&s, &u));
        same(&found?, &expected, "overlapping pairs")?;
        // Last: the system's allocator keeps the memory of its many small parts.
        let (peak_of_sets, found) = peak(|| sbm::count(&s, &u, cores));
        same(&found, &expected, "overlapping pairs")?;
        for (line, peak) in
            [(SETS, peak_of_sets), (RANKS, peak_of_ranks), ("the regions and the program", peak_of_input)]
        {
            match peak {
                Some(peak) => study.point(BY_REGIONS, line, regions.into(), peak)?,
                None => study.missing(BY_REGIONS, line, regions.into(), NO_PEAK)?,
            }
        }
    }
    let Workload { sets: [s, u], pairs: expected } = workload(most, ALPHA);
    let panel = format!("threads, with {} regions", thousands(most.into()));
    for threads in threads() {
        if !study.goes_on() {
            return Ok(());
        }
        let (peak, found) = peak(|| sbm::count(&s, &u, threads));
        same(&found, &expected, "overlapping pairs")?;
        let x = u32::try_from(threads).map_or(0.0, f64::from);
        match peak {
            Some(peak) => study.point(&panel, SETS, x, peak)?,
            None => study.missing(&panel, SETS, x, NO_PEAK)?,
        }
    }
    // After the process's memory was measured, which would have buffers of a software adapter.
    let Ok(gpu) = study.gpu() else { return Ok(()) };
    let matcher = SetMatcher::new(&gpu)?;
    for regions in [most / 8, most / 4, most / 2, most] {
        if !study.goes_on() {
            return Ok(());
        }
        let Workload { sets: [s, u], pairs } = workload(regions, ALPHA);
        let segments = matcher.segments(s.len() + u.len());
        let found = matcher.count(&s, &u, segments)?.ok_or(CUT)?;
        same(&found.pairs.iter().sum(), &pairs, "overlapping pairs")?;
        let note = format!("buffers for {segments} segments");
        #[expect(clippy::cast_precision_loss, reason = "a size")]
        let size = found.bytes as f64 / f64::from(1 << 20);
        study.row([BY_REGIONS, SETS_ON_DEVICE], regions.into(), Some(size), None, &note)?;
    }
    Ok(())
}

/// Positions of vehicles in metres along a line of 20 km: queues behind 200 junctions.
fn vehicles(count: u32) -> Vec<f64> {
    let mut stream = Stream::new(SEED, 2, 0);
    let mut unit = || (f64::from(stream.draw()) + 0.5) / 2_f64.powi(32);
    let junctions: Vec<_> = (0..200).map(|_| 20_000.0 * unit()).collect();
    (0..count).map(|vehicle| junctions[vehicle as usize % junctions.len()] - 60.0 * unit().ln()).collect()
}

/// Regions of 100 metres around positions: one subscription and one update each.
fn around(positions: &[f64]) -> [Set; 2] {
    let least = positions.iter().copied().fold(f64::INFINITY, f64::min);
    // In centimetres.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
    let region = |position: &f64| {
        let lo = (100.0 * (position - least)) as u32;
        Region::new([lo], [lo.saturating_add(10_000)])
    };
    let regions: Set = positions.iter().map(region).collect();
    [regions.clone(), regions]
}

/// The largest file of positions in bytes.
const MOST_TEXT: u64 = 256 << 20;

/// Reads positions, one on each line.
pub(super) fn positions(path: &Path) -> Outcome<Vec<f64>> {
    let wrong = |what: String| usage(format!("{}: {what}", path.display()));
    let text = shared::read_text(path, MOST_TEXT)?;
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let position = |(number, line): (u32, &str)| match line.trim().parse::<f64>() {
        Ok(position) if position.is_finite() => Ok(position),
        _ => Err(wrong(format!("line {number}: expected a position in metres, found `{line}`"))),
    };
    let positions = numbered.map(position).collect::<Outcome<Vec<_>>>()?;
    match positions.is_empty() {
        true => Err(wrong("it has no positions: write one in metres on each line".to_owned())),
        false => Ok(positions),
    }
}

pub(super) fn figure_14(study: &mut Study<'_>) -> Outcome<()> {
    let positions = match &study.args.positions {
        None => vehicles(study.size(250_000, 10_000)),
        Some(path) => positions(path)?,
    };
    let name = if study.args.positions.is_some() { "positions from the file" } else { "generated positions" };
    let sets = Workload::new(around(&positions));
    study.note(&format!("{name}, {} pairs", thousands(sets.pairs)));
    by_threads(study, &sets, &DEVICE[1..])
}
