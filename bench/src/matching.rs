//! Times of region matching on the default adapter, with the workload of Marzolla and D'Angelo
//! (2020).

#![allow(clippy::cast_precision_loss, reason = "times and rates")]

use std::io::{Write as _, stdout};
use std::time::Instant;

use clap::{Args as ClapArgs, ValueEnum};
use eventhorizon::gpu::{Buffer, Gpu, Kernel, Program, Source};
use eventhorizon::matching::{Algorithm, Matcher, MovingRegions, Region, reference};
use rayon::prelude::*;

use crate::shared::{Outcome, same};
use crate::{median, time};

const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("brute", Algorithm::Brute),
    ("grid", Algorithm::Grid { cells: None }),
    ("tree", Algorithm::IntervalTree),
    ("sort", Algorithm::Sort),
];

/// Measure the times of region matching, after a comparison of all algorithms with the CPU
///
/// Half of the regions are subscriptions. All have one size, and alpha is the sum of their sizes
/// over that of the space. "On the device" is the time of recorded work with the bounds on the
/// device, with many repetitions per submission. "With copies" is everything from host arrays to
/// the number on the host. Times are in milliseconds.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- matching
  cargo run --release -p eventhorizon-bench -- matching --only moving,find")]
pub(crate) struct Args {
    /// Time only these parts. Default: all
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Count in one dimension, on the device and with copies
    Count,
    /// Find pairs in one dimension
    Find,
    /// Compare all algorithms in 1 to 3 dimensions
    Compare,
    /// Compare grids with few and many cells
    Cells,
    /// Match moving regions
    Moving,
    /// Measure the bounds of copies from the host: filling mapped memory, and copying from it
    Copies,
}

pub(crate) fn run(args: &Args) -> Outcome<()> {
    let wanted = |part| args.only.is_empty() || args.only.contains(&part);
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    let matcher = Matcher::new(&gpu);
    let slow = gpu.info().device_type == wgpu::DeviceType::Cpu;
    verify::<1>(&matcher)?;
    verify::<2>(&matcher)?;
    verify::<3>(&matcher)?;
    writeln!(stdout(), "all algorithms agree with the CPU\n")?;
    if wanted(Part::Count) {
        counting(&matcher, if slow { &[100_000, 1_000_000] } else { &[1_000_000, 10_000_000, 100_000_000] })?;
    }
    if wanted(Part::Copies) {
        copies(&gpu, if slow { 1 << 26 } else { 1 << 28 })?;
    }
    if wanted(Part::Find) {
        let copied = copy_bandwidth(&gpu, if slow { 1 << 26 } else { 1 << 30 })?;
        writeln!(stdout(), "copy: {copied:.0} GB/s read plus write\n")?;
        finding(&matcher, if slow { &[100_000] } else { &[1_000_000, 10_000_000] }, copied)?;
    }
    if wanted(Part::Compare) {
        comparison(&matcher, slow)?;
    }
    if wanted(Part::Cells) {
        writeln!(
            stdout(),
            "count with grids of N cells per dimension, alpha 1 (ms, everything except the upload)"
        )?;
        let regions = if slow { 30_000 } else { 1_000_000 };
        cells::<2>(&matcher, regions, 2048)?;
        cells::<3>(&matcher, regions, 128)?;
        writeln!(stdout())?;
    }
    if wanted(Part::Moving) {
        moving(&matcher, if slow { 100_000 } else { 1_000_000 })?;
    }
    Ok(())
}

/// A word that depends on `i` and the stream, from two rounds of a 64-bit mix.
fn hash(i: u64, stream: u64) -> u32 {
    let mut z = i.wrapping_add(stream << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}

/// One side of the workload: half of `regions` regions.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating: a size of at most 2^32"
)]
fn workload<const D: usize>(regions: u64, alpha: f64, side: u64) -> Vec<Region<u32, D>> {
    let size = (2f64.powi(32) * (alpha / regions as f64).powf(1.0 / D as f64)).round().max(1.0) as u32;
    (0..regions / 2)
        .into_par_iter()
        .map(|i| {
            let lo = std::array::from_fn(|d| hash(i, 2 * d as u64 + side).min(u32::MAX - size));
            Region::new(lo, lo.map(|lo| lo + size))
        })
        .collect()
}

fn verify<const D: usize>(matcher: &Matcher) -> Outcome<()> {
    let (s, u) = (workload::<D>(6000, 50.0, 0), workload::<D>(6000, 50.0, 1));
    let expected = reference::find(&s, &u);
    let (s, u) = (matcher.upload("subscriptions", &s)?, matcher.upload("updates", &u)?);
    for (name, algorithm) in ALGORITHMS {
        let mut pairs = matcher.find(&s, &u, algorithm)?.read()?;
        pairs.sort_unstable();
        let what = format!("{name} in {D} dimensions");
        same(&matcher.count(&s, &u, algorithm)?, &(expected.len() as u64), &what)?;
        same(&(pairs == expected), &true, what)?;
    }
    Ok(())
}

/// Each workgroup copies 4,096 words, in vectors of four.
const COPY: &str = "
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4<u32>>;

@compute @workgroup_size(256)
fn copy(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let first = (group.y * groups.x + group.x) * 1024u + lane;
    let words = array(source[first], source[first + 256u], source[first + 512u], source[first + 768u]);
    copied[first] = words[0];
    copied[first + 256u] = words[1];
    copied[first + 512u] = words[2];
    copied[first + 768u] = words[3];
}
";

/// GB/s of a kernel that copies a large buffer, reads plus writes.
fn copy_bandwidth(gpu: &Gpu, bytes: u64) -> Outcome<f64> {
    let source = Buffer::storage_from(gpu, "source", &vec![7u32; usize::try_from(bytes / 4)?])?;
    let copied = Buffer::<u32>::storage(gpu, "copied", bytes / 4)?;
    let kernel = Kernel::new(gpu, &Program::link("copy", &[Source::new("copy", COPY)])?, "copy", &[])?;
    let bindings = kernel.bind(gpu, &[("source", source.binding()), ("copied", copied.binding())])?;
    let workgroups = u32::try_from(bytes / 16_384)?;
    let ms = time(gpu, &|pass| kernel.dispatch(pass, &bindings, workgroups))?;
    same(&pollster::block_on(copied.read_range(gpu, bytes / 4 - 1, 1))?, &vec![7], "the last word copied")?;
    Ok(2.0 * bytes as f64 / ms / 1e6)
}

/// How fast all cores fill their own memory and mapped memory of the device, and how fast the
/// device copies from the latter. These rates bound all transfers from the host.
fn copies(gpu: &Gpu, bytes: u64) -> Outcome<()> {
    const SHARE: usize = 1 << 20;
    let source = vec![7u8; usize::try_from(bytes)?];
    let mut own = vec![0u8; source.len()];
    let target = Buffer::<u32>::storage(gpu, "target", bytes / 4)?;
    let staging = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("staging"),
        size: bytes,
        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: true,
    });
    let mut rates = [const { Vec::new() }; 3];
    for _ in 0..6 {
        let mut timed = |of: usize, start: Instant| {
            rates[of].push(bytes as f64 / start.elapsed().as_secs_f64() / 1e9);
        };
        let start = Instant::now();
        own.par_chunks_mut(SHARE)
            .zip(source.par_chunks(SHARE))
            .for_each(|(own, source)| own.copy_from_slice(source));
        timed(0, start);
        let firsts = (0..bytes).step_by(SHARE);
        let views = firsts.map(|first| staging.get_mapped_range_mut(first..first + SHARE as u64));
        let views = views.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        let start = Instant::now();
        views
            .into_par_iter()
            .zip(source.par_chunks(SHARE))
            .for_each(|(mut view, source)| view.slice(..).copy_from_slice(source));
        timed(1, start);
        staging.unmap();
        let mut encoder = gpu.encoder("copy");
        encoder.copy_buffer_to_buffer(&staging, 0, target.raw(), 0, bytes);
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Write, .., |_| {});
        let start = Instant::now();
        gpu.wait(gpu.submit(encoder)?)?;
        timed(2, start);
    }
    let [own, mapped, copied] = rates.map(|mut rates| median(&mut rates[1..]));
    writeln!(
        stdout(),
        "from the host, GB/s: into its own memory {own:.1}, into mapped memory {mapped:.1}, from there to the device {copied:.1}\n"
    )?;
    Ok(())
}

/// The count on all cores of the CPU.
fn expected(s: &[Region<u32, 1>], u: &[Region<u32, 1>]) -> u64 {
    let sorted = |mut keys: Vec<u32>| {
        keys.par_sort_unstable();
        keys
    };
    let starts = sorted(u.par_iter().map(|u| u.lo[0]).collect());
    let ends = sorted(u.par_iter().map(|u| u.hi[0]).collect());
    s.par_iter()
        .map(|s| {
            let started = starts.partition_point(|lo| *lo < s.hi[0]);
            (started - ends.partition_point(|hi| *hi <= s.lo[0])) as u64
        })
        .sum()
}

fn counting(matcher: &Matcher, sizes: &[u64]) -> Outcome<()> {
    let gpu = matcher.gpu();
    writeln!(stdout(), "count, alpha 1, 1 dimension (sort)")?;
    writeln!(
        stdout(),
        "     regions        pairs   on the device   of it sorting   searching     with copies"
    )?;
    for &regions in sizes {
        let needed = regions / 2 * 8;
        if needed > gpu.max_buffer_bytes() {
            writeln!(
                stdout(),
                "{regions:>12}   skipped: a side needs {needed} bytes, and a binding of this device has at most {}",
                gpu.max_buffer_bytes()
            )?;
            continue;
        }
        let (s, u) = (workload::<1>(regions, 1.0, 0), workload::<1>(regions, 1.0, 1));
        let mut with_copies = Vec::new();
        let mut count = 0;
        for _ in 0..4 {
            let start = Instant::now();
            let (s, u) = (matcher.upload("s", &s)?, matcher.upload("u", &u)?);
            count = matcher.count(&s, &u, Algorithm::Sort)?;
            with_copies.push(start.elapsed().as_secs_f64() * 1e3);
        }
        same(&count, &expected(&s, &u), format!("pairs of {regions} regions"))?;
        let counter = matcher.counter(&matcher.upload("s", &s)?, &matcher.upload("u", &u)?)?;
        let all = time(gpu, &|pass| {
            counter.record_sort(pass);
            counter.record_search(pass);
        })?;
        same(&counter.total().read(gpu)?, &vec![count], "pairs, recorded")?;
        let sorting = time(gpu, &|pass| counter.record_sort(pass))?;
        let searching = time(gpu, &|pass| counter.record_search(pass))?;
        writeln!(
            stdout(),
            "{regions:>12} {count:>12} {all:>12.3} ms {sorting:>12.3} ms {searching:>8.3} ms {:>12.2} ms",
            median(&mut with_copies[1..])
        )?;
        drop(counter);
        let (s, u) = (matcher.upload("s", &s)?, matcher.upload("u", &u)?);
        let baseline = Matcher::new(&gpu.without(wgpu::Features::all()));
        let counter = baseline.counter(&s, &u)?;
        same(&counter.count(gpu)?, &count, "pairs without subgroups")?;
        let ms = time(gpu, &|pass| counter.record_sort(pass))?;
        writeln!(stdout(), "             sorting without subgroups: {ms:.3} ms")?;
    }
    writeln!(stdout())?;
    Ok(())
}

fn finding(matcher: &Matcher, sizes: &[u64], copied: f64) -> Outcome<()> {
    let gpu = matcher.gpu();
    writeln!(stdout(), "find, alpha 100, 1 dimension (sort)")?;
    writeln!(
        stdout(),
        "     regions        pairs   order and ranges   write the pairs   written   of copy bandwidth"
    )?;
    for &regions in sizes {
        let (s, u) = (workload::<1>(regions, 100.0, 0), workload::<1>(regions, 100.0, 1));
        let (s, u) = (matcher.upload("s", &s)?, matcher.upload("u", &u)?);
        let mut placing = Vec::new();
        for _ in 0..4 {
            let start = Instant::now();
            matcher.find(&s, &u, Algorithm::Sort)?;
            placing.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let mut matches = matcher.find(&s, &u, Algorithm::Sort)?;
        let repeats = 20;
        let mut times = Vec::new();
        for _ in 0..6 {
            let start = Instant::now();
            for _ in 0..repeats {
                matches.set_page_len(u32::MAX);
                matches.next_page()?;
            }
            gpu.wait(gpu.submit(gpu.encoder("end"))?)?;
            times.push(start.elapsed().as_secs_f64() * 1e3 / f64::from(repeats));
        }
        let pairs = matches.total().min(matches.page_len().into());
        let ms = median(&mut times[1..]);
        let rate = 8.0 * pairs as f64 / ms / 1e6;
        writeln!(
            stdout(),
            "{regions:>12} {pairs:>12} {:>15.2} ms {ms:>14.3} ms {rate:>7.1} GB/s {:>16.1} %",
            median(&mut placing[1..]),
            100.0 * rate / copied
        )?;
    }
    writeln!(stdout())?;
    Ok(())
}

fn comparison(matcher: &Matcher, slow: bool) -> Outcome<()> {
    writeln!(stdout(), "count with all algorithms, alpha 1 (ms, everything except the upload)")?;
    writeln!(stdout(), "     regions  dims      brute       grid       tree       sort       auto")?;
    let sizes: &[u64] = if slow { &[3_000, 30_000] } else { &[3_000, 30_000, 300_000, 1_000_000] };
    for &regions in sizes {
        compare::<1>(matcher, regions)?;
        compare::<2>(matcher, regions)?;
        compare::<3>(matcher, regions)?;
    }
    writeln!(stdout())?;
    Ok(())
}

fn compare<const D: usize>(matcher: &Matcher, regions: u64) -> Outcome<()> {
    let (s, u) = (workload::<D>(regions, 1.0, 0), workload::<D>(regions, 1.0, 1));
    let (s, u) = (matcher.upload("s", &s)?, matcher.upload("u", &u)?);
    let slow = matcher.gpu().info().device_type == wgpu::DeviceType::Cpu;
    let most = if slow { 10_000 } else { 300_000 };
    let mut line = format!("{regions:>12} {D:>5}");
    let mut counts = Vec::new();
    for (_, algorithm) in ALGORITHMS.into_iter().chain([("auto", Algorithm::Auto)]) {
        // Testing every pair would take minutes.
        if algorithm == Algorithm::Brute && regions > most {
            line += "          -";
            continue;
        }
        let mut times = Vec::new();
        for _ in 0..8 {
            let start = Instant::now();
            counts.push(matcher.count(&s, &u, algorithm)?);
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        line += &format!(" {:>10.2}", median(&mut times[1..]));
    }
    same(&counts, &vec![counts[0]; counts.len()], "pairs")?;
    writeln!(stdout(), "{line}")?;
    Ok(())
}

/// Measures grids. The library takes the finest (a power of two, with a bound on cells per region)
/// in which the regions of a sample meet few cells.
fn cells<const D: usize>(matcher: &Matcher, regions: u64, most: u32) -> Outcome<()> {
    let (s, u) = (workload::<D>(regions, 1.0, 0), workload::<D>(regions, 1.0, 1));
    let (s, u) = (matcher.upload("s", &s)?, matcher.upload("u", &u)?);
    let powers = (3..=most.ilog2()).map(|power| Some(1 << power));
    for cells in powers.chain([None]) {
        let mut times = Vec::new();
        for _ in 0..8 {
            let start = Instant::now();
            matcher.count(&s, &u, Algorithm::Grid { cells })?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let name = cells.map_or("the library's".to_owned(), |cells: u32| cells.to_string());
        writeln!(
            stdout(),
            "{regions:>12} regions, {D} dimensions {name:>16} {:>10.2}",
            median(&mut times[1..])
        )?;
    }
    Ok(())
}

/// Times steps of moving regions, and what they replace: copying both sets and finding all pairs.
fn moving(matcher: &Matcher, regions: u64) -> Outcome<()> {
    writeln!(
        stdout(),
        "moving regions, 2 dimensions, alpha 1, {regions} regions, half of the moved ones on each side"
    )?;
    writeln!(stdout(), "       moved  how far    changes   ms per step   the longest   from scratch")?;
    let (mut s, mut u) = (workload::<2>(regions, 1.0, 0), workload::<2>(regions, 1.0, 1));
    let mut scratch = Vec::new();
    for _ in 0..4 {
        let start = Instant::now();
        let (s, u) = (matcher.upload("s", &s)?, matcher.upload("u", &u)?);
        matcher.find(&s, &u, Algorithm::Auto)?.read()?;
        scratch.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let scratch = median(&mut scratch[1..]);
    let slow = matcher.gpu().info().device_type == wgpu::DeviceType::Cpu;
    for (moved, steps) in
        [(10, 200), (1_000, 100), (regions / 100, 20), (regions * 3 / 10, 10), (regions, 10)]
    {
        let steps = if slow { steps.min(8) } else { steps };
        for far in [false, true] {
            let mut sets = MovingRegions::new(matcher, &s, &u)?;
            let (mut times, mut changes) = (Vec::new(), 0);
            for step in 0..steps + 2 {
                let some = |set: &mut [Region<u32, 2>], side: u64| -> Vec<_> {
                    let stride = regions / moved;
                    let first = step % stride;
                    let ids = (first..regions / 2).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
                    let ids = ids.take(usize::try_from(moved / 2).unwrap_or(usize::MAX));
                    ids.map(|id| {
                        let region = &mut set[usize::try_from(id).unwrap_or(0)];
                        let size = region.hi[0] - region.lo[0];
                        region.lo = std::array::from_fn(|d| {
                            let random = hash(id + step * regions, 100 + 2 * d as u64 + side);
                            let near = region.lo[d].wrapping_add(random % size).saturating_sub(size / 2);
                            if far { random } else { near }.min(u32::MAX - size)
                        });
                        region.hi = region.lo.map(|lo| lo + size);
                        (u32::try_from(id).unwrap_or(0), *region)
                    })
                    .collect()
                };
                let (some_s, some_u) = (some(&mut s, 0), some(&mut u, 1));
                let start = Instant::now();
                let step = sets.update(&some_s, &some_u)?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
                changes = step.began.len() + step.ended.len();
            }
            // The first steps allocate memory.
            let times = &mut times[2..];
            let middle = median(times);
            writeln!(
                stdout(),
                "{moved:>12} {:>8} {changes:>10} {middle:>10.3} ms {:>10.3} ms {scratch:>11.3} ms",
                if far { "anywhere" } else { "near" },
                times[times.len() - 1],
            )?;
        }
    }
    let sets = MovingRegions::new(matcher, &s, &u)?;
    let total = matcher.find(&matcher.upload("s", &s)?, &matcher.upload("u", &u)?, Algorithm::Auto)?.total();
    same(&sets.matches()?.total(), &total, "pairs at the end")?;
    Ok(())
}
