//! Checks reduce, scan and radix sort on the default adapter, and times them.

#![allow(clippy::cast_precision_loss, reason = "printed numbers")]
#![allow(clippy::cast_possible_truncation, reason = "keys are hashes of indices below 2^32")]

use std::io::{Write as _, stdout};
use std::time::Instant;

use clap::Args as ClapArgs;
use eventhorizon::gpu::{Buffer, Gpu, Plan};
use eventhorizon::primitives::{Count, RadixSort, Reduce, Scan, ScanKind, SortKey, Tuning};

use crate::shared::Outcome as Result;

/// Measure the times of reduce, scan and radix sort, and check their results
///
/// A time is the median of several submissions of many recorded tasks, divided by the number of
/// tasks: the cost of a task without its submission. "GB/s" counts the bytes that the algorithm
/// must move to and from buffers.
#[derive(ClapArgs)]
#[command(after_help = "\
Example:
  cargo run --release -p eventhorizon-bench -- primitives")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<()> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    let baseline = gpu.without(wgpu::Features::SUBGROUP);
    let mut ways = vec![("baseline", &baseline)];
    if gpu.has(wgpu::Features::SUBGROUP) {
        ways.insert(0, ("subgroup", &gpu));
    }
    let software = gpu.info().device_type == wgpu::DeviceType::Cpu;
    let largest = if software { 20 } else { 27 };
    let exponents: Vec<u32> = [20, 24, 27]
        .map(|exponent: u32| exponent.min(largest))
        .into_iter()
        .filter(|&exponent| 4u64 << exponent <= gpu.max_buffer_bytes())
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    if software {
        writeln!(stdout(), "software adapter: at most 2^{largest} elements")?;
    }
    for exponent in exponents {
        let n = 1u64 << exponent;
        writeln!(stdout(), "\n2^{exponent} elements")?;
        writeln!(stdout(), "{:<44} {:>10} {:>10} {:>8}", "", "ms", "1e9/s", "GB/s")?;
        let keys: Vec<u32> = (0..n).map(hash).collect();
        let input = Buffer::storage_from(&gpu, "input", &keys)?;
        let work = Work { gpu: &gpu, n, keys: &keys, input: &input, count: Count::host(&gpu, n)? };
        for (way, gpu) in &ways {
            work.reductions(way, gpu)?;
        }
        for (way, gpu) in &ways {
            work.scans(way, gpu)?;
        }
        for (way, gpu) in &ways {
            work.sorts(way, gpu)?;
        }
    }
    Ok(())
}

/// The key for an index: the finalizer of MurmurHash3, a permutation of the words.
fn hash(index: u64) -> u32 {
    let mut word = index as u32;
    word = (word ^ (word >> 16)).wrapping_mul(0x85eb_ca6b);
    word = (word ^ (word >> 13)).wrapping_mul(0xc2b2_ae35);
    word ^ (word >> 16)
}

struct Work<'a> {
    gpu: &'a Gpu,
    n: u64,
    keys: &'a [u32],
    input: &'a Buffer<u32>,
    count: Count,
}

impl Work<'_> {
    fn reductions(&self, way: &str, gpu: &Gpu) -> Result<()> {
        let output = Buffer::<u32>::storage(gpu, "output", 1)?;
        let expected = self.keys.iter().copied().min().unwrap_or(u32::MAX);
        for workgroups in self.workgroups() {
            let tuning = Tuning { workgroups, ..Tuning::sweep(gpu) };
            let reduce = Reduce::<u32>::min(gpu, self.n)?.with_tuning(gpu, tuning)?;
            let task = reduce.bind(gpu, &self.count, self.input, &output, 0)?;
            let name = format!("min, {way}, {workgroups} workgroups");
            let seconds = self.time(&[&task])?;
            if output.read(gpu)? != [expected] {
                return Err(format!("{name}: wrong").into());
            }
            self.line(&name, seconds, 4)?;
        }
        let total = Buffer::<u64>::storage(gpu, "output", 1)?;
        let task =
            Reduce::<u32, u64>::sum_wide(gpu, self.n)?.bind(gpu, &self.count, self.input, &total, 0)?;
        let seconds = self.time(&[&task])?;
        if total.read(gpu)? != [self.keys.iter().map(|&key| u64::from(key)).sum::<u64>()] {
            return Err("sum to 64 bits: wrong".into());
        }
        self.line(&format!("sum to 64 bits, {way}"), seconds, 4)?;
        Ok(())
    }

    fn scans(&self, way: &str, gpu: &Gpu) -> Result<()> {
        let output = Buffer::<u32>::storage(gpu, "output", self.n)?;
        for workgroups in self.workgroups() {
            let tuning = Tuning { workgroups, ..Tuning::sweep(gpu) };
            let scan = Scan::with_tuning(gpu, self.n, tuning)?;
            let task = scan.bind(gpu, ScanKind::Exclusive, &self.count, self.input, &output, None)?;
            let name = format!("exclusive scan, {way}, {workgroups} workgroups");
            let seconds = self.time(&[&task])?;
            let mut sum = 0u32;
            for (i, (&key, found)) in self.keys.iter().zip(output.read(gpu)?).enumerate() {
                if found != sum {
                    return Err(format!("{name}: element {i}: expected {sum}, found {found}").into());
                }
                sum = sum.wrapping_add(key);
            }
            self.line(&name, seconds, 12)?;
        }
        if self.n * 8 <= gpu.max_buffer_bytes() {
            let output = Buffer::<u64>::storage(gpu, "output", self.n)?;
            let scan = Scan::new(gpu, self.n)?;
            let task = scan.bind_wide(gpu, ScanKind::Exclusive, &self.count, self.input, &output, None)?;
            self.line(&format!("exclusive scan to 64 bits, {way}"), self.time(&[&task])?, 16)?;
            let mut sum = 0u64;
            for (&key, found) in self.keys.iter().zip(output.read(gpu)?) {
                if found != sum {
                    return Err(
                        format!("exclusive scan to 64 bits, {way}: expected {sum}, found {found}").into()
                    );
                }
                sum += u64::from(key);
            }
        }
        Ok(())
    }

    fn sorts(&self, way: &str, gpu: &Gpu) -> Result<()> {
        let key = |index| hash(index);
        let pairs = Pairs::new(gpu, self.n, key)?;
        let default = Tuning::sort::<u32>(gpu);
        for workgroups in self.sort_workgroups(default) {
            let tuning = Tuning { workgroups, ..default };
            let sort = RadixSort::<u32>::with_tuning(gpu, self.n, tuning)?;
            let task = sort.bind(gpu, &self.count, &pairs.keys, &pairs.values, 0..32)?;
            let Tuning { group_size, items, .. } = tuning;
            let name = format!("pairs, {way}, {group_size} x {items}, {workgroups} workgroups");
            self.line(&name, pairs.time(gpu, &task)?, 80)?;
            pairs.check(gpu, &task, key, |key| key.into()).map_err(|error| format!("{name}: {error}"))?;
        }
        let sort = RadixSort::<u32>::new(gpu, self.n)?;

        // Repeated with keys that are already sorted.
        let task = sort.bind(gpu, &self.count, &pairs.keys, &pairs.values, 0..32)?;
        self.line(&format!("sorted pairs, {way}"), self.time(&[&task])?, 80)?;
        pairs.compare(gpu, key, |key| key.into()).map_err(|error| format!("sorted pairs: {error}"))?;
        let sorted = pairs.keys.read(gpu)?;

        let task = sort.bind_keys(gpu, &self.count, &pairs.keys, 0..32)?;
        let name = format!("keys alone, {way}");
        self.line(&name, pairs.time(gpu, &task)?, 48)?;
        if pairs.keys.read(gpu)? != sorted {
            return Err(format!("{name}: wrong").into());
        }

        let half = Count::host(gpu, self.n / 2)?;
        let task = sort.arrays(gpu, 2)?.bind_keys(gpu, &half, &pairs.keys, 0..32)?;
        let name = format!("keys alone in two halves at once, {way}");
        self.line(&name, pairs.time(gpu, &task)?, 48)?;
        let half = self.keys.len() / 2;
        for (sorted, keys) in pairs.keys.read(gpu)?.chunks(half).zip(self.keys.chunks(half)) {
            // Sums of squares as well: both together identify a set of keys.
            let sum = |keys: &[u32]| {
                keys.iter().fold((0u64, 0u64), |(sum, squares), &key| {
                    let key = u64::from(key);
                    (sum + key, squares.wrapping_add(key * key))
                })
            };
            if !sorted.is_sorted() || sum(sorted) != sum(keys) {
                return Err(format!("{name}: wrong").into());
            }
        }

        let task = sort.bind(gpu, &self.count, &pairs.keys, &pairs.values, 0..16)?;
        let name = format!("pairs by 16 bits, {way}");
        self.line(&name, pairs.time(gpu, &task)?, 40)?;
        pairs
            .check(gpu, &task, key, |key| (key & 0xffff).into())
            .map_err(|error| format!("{name}: {error}"))?;

        let equal = Pairs::new(gpu, self.n, |_| 7u32)?;
        let task = sort.bind(gpu, &self.count, &equal.keys, &equal.values, 0..32)?;
        let name = format!("equal pairs, {way}");
        self.line(&name, equal.time(gpu, &task)?, 80)?;
        equal.check(gpu, &task, |_| 7, |key| key.into()).map_err(|error| format!("{name}: {error}"))?;
        drop((sort, pairs, equal));

        if self.n * 8 <= gpu.max_buffer_bytes() {
            let key = |index| u64::from(hash(index)) << 32 | u64::from(hash(index ^ 0x5555_5555));
            let pairs = Pairs::new(gpu, self.n, key)?;
            let sort = RadixSort::<u64>::new(gpu, self.n)?;
            let task = sort.bind(gpu, &self.count, &pairs.keys, &pairs.values, 0..64)?;
            let name = format!("pairs of 64-bit keys, {way}");
            self.line(&name, pairs.time(gpu, &task)?, 256)?;
            pairs.check(gpu, &task, key, |key| key).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
    }

    /// The workgroup limits to try for a sort: the default, and on a GPU also its neighbours.
    fn sort_workgroups(&self, default: Tuning) -> Vec<u32> {
        let mut all = vec![default.workgroups];
        if self.gpu.info().device_type != wgpu::DeviceType::Cpu {
            let tiles = self.n.div_ceil(u64::from(default.group_size * default.items));
            let most = |workgroups: &u32| tiles.min(u64::from(*workgroups));
            all.extend([4096, 8192, 32_768, 65_535]);
            all.dedup_by_key(|workgroups| most(workgroups));
        }
        all
    }

    /// The workgroup limits to try. A software adapter is slow and tries only the default.
    fn workgroups(&self) -> Vec<u32> {
        match self.gpu.info().device_type {
            wgpu::DeviceType::Cpu => vec![Tuning::sweep(self.gpu).workgroups],
            _ => vec![2048, 4096],
        }
    }

    fn time(&self, tasks: &[&Plan]) -> Result<f64> {
        median(self.gpu, &|encoder| tasks.iter().for_each(|task| task.record(encoder)))
    }

    fn line(&self, name: &str, seconds: f64, bytes: u64) -> Result<()> {
        let rate = self.n as f64 / seconds / 1e9;
        writeln!(stdout(), "{name:<44} {:>10.4} {rate:>10.3} {:>8.0}", seconds * 1e3, rate * bytes as f64)?;
        Ok(())
    }
}

/// Keys in their first order, and buffers in which they are sorted with their indices.
struct Pairs<K> {
    input: Buffer<K>,
    indices: Buffer<u32>,
    keys: Buffer<K>,
    values: Buffer<u32>,
}

impl<K: SortKey + PartialEq> Pairs<K> {
    fn new(gpu: &Gpu, n: u64, key: impl Fn(u64) -> K) -> Result<Self> {
        Ok(Self {
            input: Buffer::storage_from(gpu, "input", &(0..n).map(key).collect::<Vec<_>>())?,
            indices: Buffer::storage_from(gpu, "indices", &(0..n as u32).collect::<Vec<_>>())?,
            keys: Buffer::storage(gpu, "keys", n)?,
            values: Buffer::storage(gpu, "values", n)?,
        })
    }

    fn copy_keys(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(self.input.raw(), 0, self.keys.raw(), 0, self.keys.raw().size());
    }

    /// Seconds of a sort, which keeps its result. The keys are copied before each sort; the time of
    /// copies alone is subtracted.
    fn time(&self, gpu: &Gpu, task: &Plan) -> Result<f64> {
        let copies = median(gpu, &|encoder| self.copy_keys(encoder))?;
        let both = median(gpu, &|encoder| {
            self.copy_keys(encoder);
            task.record(encoder);
        })?;
        Ok(both - copies)
    }

    /// Sorts once more, and compares the result.
    fn check(&self, gpu: &Gpu, task: &Plan, key: impl Fn(u64) -> K, part: impl Fn(K) -> u64) -> Result<()> {
        let mut encoder = gpu.encoder("check");
        self.copy_keys(&mut encoder);
        encoder.copy_buffer_to_buffer(self.indices.raw(), 0, self.values.raw(), 0, self.values.raw().size());
        task.record(&mut encoder);
        gpu.submit(encoder)?;
        self.compare(gpu, key, part)
    }

    /// Checks that each index is with its key, in the order of `part`, with equal ones in the order
    /// of indices. Such ascending indices are distinct, so none is lost.
    fn compare(&self, gpu: &Gpu, key: impl Fn(u64) -> K, part: impl Fn(K) -> u64) -> Result<()> {
        let n = self.keys.len();
        let mut last = None;
        for (found, index) in self.keys.read(gpu)?.into_iter().zip(self.values.read(gpu)?) {
            let index = u64::from(index);
            let now = Some((part(found), index));
            if index >= n || key(index) != found || last >= now {
                return Err(format!("index {index} is wrong or not in order").into());
            }
            last = now;
        }
        Ok(())
    }
}

/// Seconds of the recorded work as one of many in a submission.
fn median(gpu: &Gpu, record: &dyn Fn(&mut wgpu::CommandEncoder)) -> Result<f64> {
    let submit = |repeats: u32| -> Result<f64> {
        let mut encoder = gpu.encoder("benchmark");
        (0..repeats).for_each(|_| record(&mut encoder));
        // The time in which the host translates the commands is not counted.
        let commands = encoder.finish();
        let start = Instant::now();
        gpu.wait(gpu.queue().submit([commands]))?;
        Ok(start.elapsed().as_secs_f64())
    };
    submit(1)?;
    // Enough repetitions for about 20 ms, so that the cost of a submission is negligible.
    #[expect(clippy::cast_sign_loss, reason = "clamped")]
    let repeats = (0.02 / submit(1)?).clamp(1.0, 200.0) as u32;
    let mut times = (0..5).map(|_| submit(repeats)).collect::<Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[2] / f64::from(repeats))
}
