//! Region matching in one dimension (Marzolla and D'Angelo, section 5): Figures 9 to 14.
//!
//! Half of the regions are subscriptions. All have one length, and alpha is the sum of their
//! lengths over that of the space. Pairs are counted, not listed, as in the paper. Each count is
//! compared with the library's reference.

use std::path::Path;
use std::time::Instant;

use eventhorizon::gpu::Gpu;
use eventhorizon::matching::{Algorithm, Matcher, Region, host, reference};
use eventhorizon::random::Stream;
use rayon::ThreadPoolBuilder;

use super::sbm;
use super::study::Study;
use crate::shared::{self, Outcome, same, usage};

const SEED: u64 = 42;
/// The overlapping degree of all figures but the one that varies it.
const ALPHA: f64 = 100.0;

type Set = Vec<Region<u32, 1>>;

/// Subscriptions and updates, `regions` in all.
fn workload(regions: u32, alpha: f64) -> [Set; 2] {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^32")]
    let size = (2_f64.powi(32) * (alpha / f64::from(regions)).min(0.5)).round().max(1.0) as u32;
    [0, 1].map(|side| {
        let mut stream = Stream::new(SEED, side, 0);
        let mut region = || {
            let lo = stream.draw().min(u32::MAX - size);
            Region::new([lo], [lo + size])
        };
        (0..regions / 2).map(|_| region()).collect()
    })
}

/// The shortest of some runs in seconds, and the count, which is the same in all.
fn timed(runs: u32, mut count: impl FnMut() -> Outcome<u64>) -> Outcome<(f64, u64)> {
    let mut best = f64::INFINITY;
    let mut found = 0;
    for _ in 0..runs {
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
}

/// Seconds of a way to count, with everything from the regions on the host to the number.
fn measure(gpu: &Gpu, [s, u]: &[Set; 2], way: Way, runs: u32) -> Outcome<f64> {
    let on = |threads: usize, count: &(dyn Fn() -> Result<u64, String> + Sync)| -> Outcome<(f64, u64)> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        timed(runs, || Ok(pool.install(count)?))
    };
    let (seconds, found) = match way {
        Way::Sets(threads) => on(threads, &|| Ok(sbm::count(s, u, threads)))?,
        Way::Ranks(threads) => on(threads, &|| host::count(s, u).map_err(|error| error.to_string()))?,
        Way::Device(algorithm) => {
            let matcher = Matcher::new(gpu);
            // The first run builds the kernels.
            timed(runs + 1, || {
                let (s, u) = (matcher.upload("subscriptions", s)?, matcher.upload("updates", u)?);
                Ok(matcher.count(&s, &u, algorithm)?)
            })?
        }
    };
    same(&found, &reference::count(s, u), "overlapping pairs")?;
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
fn by_threads(study: &mut Study<'_>, sets: &[Set; 2], device: &[(&str, Algorithm)]) -> Outcome<()> {
    let (gpu, threads) = (study.gpu.clone(), threads());
    let as_f64 = |threads: usize| u32::try_from(threads).map_or(0.0, f64::from);
    for (line, way) in [
        ("SBM with sets (Algorithms 6, 7)", Way::Sets as fn(usize) -> Way),
        ("SBM by ranks (this library)", Way::Ranks),
    ] {
        let mut one = None;
        for &threads in &threads {
            if !study.goes_on() {
                return Ok(());
            }
            let seconds = measure(&gpu, sets, way(threads), 3)?;
            let one = *one.get_or_insert(seconds);
            study.point("seconds", line, as_f64(threads), seconds)?;
            study.point("speed-up over one thread", line, as_f64(threads), one / seconds)?;
        }
    }
    for &(line, algorithm) in device {
        if !study.goes_on() {
            return Ok(());
        }
        let seconds = measure(&gpu, sets, Way::Device(algorithm), 3)?;
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
    study.note(&format!("{} regions", sets[0].len() + sets[1].len()));
    Ok(())
}

const DEVICE: [(&str, Algorithm); 4] = [
    ("BFM on the device", Algorithm::Brute),
    ("GBM on the device", Algorithm::Grid { cells: None }),
    ("ITM on the device", Algorithm::IntervalTree),
    ("SBM on the device", Algorithm::Sort),
];

pub(super) fn figure_9(study: &mut Study<'_>) -> Outcome<()> {
    let sets = workload(study.size(1_000_000, 20_000), ALPHA);
    by_threads(study, &sets, &DEVICE)?;
    study.note("alpha 100");
    Ok(())
}

pub(super) fn figure_10(study: &mut Study<'_>) -> Outcome<()> {
    let sets = workload(study.size(20_000_000, 100_000), ALPHA);
    by_threads(study, &sets, &DEVICE[2..])?;
    study.note("alpha 100");
    Ok(())
}

pub(super) fn figure_11(study: &mut Study<'_>) -> Outcome<()> {
    let (gpu, sets) = (study.gpu.clone(), workload(study.size(1_000_000, 20_000), ALPHA));
    for power in study.size(8..=17, 6..=11) {
        if !study.goes_on() {
            return Ok(());
        }
        let cells = 1_u32 << power;
        let seconds = measure(&gpu, &sets, Way::Device(Algorithm::Grid { cells: Some(cells) }), 2)?;
        study.point("", "GBM on the device", cells.into(), seconds)?;
    }
    let seconds = measure(&gpu, &sets, Way::Device(Algorithm::Grid { cells: None }), 2)?;
    study.note(&format!(
        "{} regions, alpha 100; {seconds:.4} s with the library's number of cells",
        2 * sets[0].len()
    ));
    Ok(())
}

pub(super) fn figure_12(study: &mut Study<'_>) -> Outcome<()> {
    let (gpu, cores) = (study.gpu.clone(), threads().pop().unwrap_or(1));
    let ways = [
        ("SBM with sets (Algorithms 6, 7)", Way::Sets(cores)),
        ("SBM by ranks (this library)", Way::Ranks(cores)),
        ("ITM on the device", Way::Device(Algorithm::IntervalTree)),
        ("SBM on the device", Way::Device(Algorithm::Sort)),
    ];
    let most = study.size(10_000_000, 40_000);
    let by_regions = [most / 8, most / 4, most / 2, most].map(|regions| (regions, ALPHA, f64::from(regions)));
    let by_alpha = [0.01, 1.0, 100.0].map(|alpha| (most, alpha, alpha));
    for (panel, points) in [("by regions, alpha 100", &by_regions[..]), ("by alpha", &by_alpha)] {
        for &(regions, alpha, x) in points {
            let sets = workload(regions, alpha);
            for (line, way) in ways {
                if !study.goes_on() {
                    return Ok(());
                }
                let seconds = measure(&gpu, &sets, way, 2)?;
                study.point(panel, line, x, seconds)?;
            }
        }
    }
    study.note(&format!("by alpha: {most} regions"));
    Ok(())
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

pub(super) fn figure_13(study: &mut Study<'_>) -> Outcome<()> {
    let most = study.size(20_000_000, 400_000);
    let cores = threads().pop().unwrap_or(1);
    for regions in [most / 8, most / 4, most / 2, most] {
        let [s, u] = workload(regions, ALPHA);
        let expected = reference::count(&s, &u);
        let (peak_of_input, ()) = peak(|| ());
        let (peak_of_ranks, found) = peak(|| host::count(&s, &u));
        same(&found?, &expected, "overlapping pairs")?;
        // Last: the system's allocator keeps the memory of its many small parts.
        let (peak_of_sets, found) = peak(|| sbm::count(&s, &u, cores));
        same(&found, &expected, "overlapping pairs")?;
        for (line, peak) in [
            ("SBM with sets (Algorithms 6, 7)", peak_of_sets),
            ("SBM by ranks (this library)", peak_of_ranks),
            ("the regions and the program", peak_of_input),
        ] {
            match peak {
                Some(peak) => study.point("", line, regions.into(), peak)?,
                None => study.missing("", line, regions.into(), "the system does not reset the peak")?,
            }
        }
    }
    study.note("alpha 100");
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
    let sets = around(&positions);
    study.note(&format!("{name}, {} pairs", reference::count(&sets[0], &sets[1])));
    by_threads(study, &sets, &DEVICE[1..])
}
