//! Checks reduce, scan and radix sort on this adapter, then times them.
//!
//! ```text
//! cargo run --release --example bench_primitives
//! ```
//!
//! A time is the median of several submissions, each of many recorded tasks, divided by their number: what a task costs among
//! others, without the submission. "GB/s" counts the bytes that the algorithm moves to and from buffers at the least.

#![allow(clippy::print_stdout, reason = "the tables are what it is for")]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]
#![allow(clippy::cast_possible_truncation, reason = "keys are hashes of indices below 2^32")]

use std::error::Error;
use std::time::Instant;

use eventhorizon::gpu::{Buffer, Gpu};
use eventhorizon::primitives::{Count, RadixSort, Reduce, Scan, ScanKind, Task, Tuning};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let gpu = Gpu::new()?;
    println!("{gpu}");
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
        println!("a processor plays the GPU: up to 2^{largest} elements only");
    }
    for exponent in exponents {
        let n = 1u64 << exponent;
        println!("\n2^{exponent} elements");
        println!("{:<44} {:>10} {:>10} {:>8}", "", "ms", "1e9/s", "GB/s");
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

/// The key of an index: the finalizer of MurmurHash3, a permutation of the words.
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
            self.line(&name, seconds, 4);
        }
        let total = Buffer::<u64>::storage(gpu, "output", 1)?;
        let task =
            Reduce::<u32, u64>::sum_wide(gpu, self.n)?.bind(gpu, &self.count, self.input, &total, 0)?;
        let seconds = self.time(&[&task])?;
        if total.read(gpu)? != [self.keys.iter().map(|&key| u64::from(key)).sum::<u64>()] {
            return Err("sum to 64 bits: wrong".into());
        }
        self.line(&format!("sum to 64 bits, {way}"), seconds, 4);
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
            if workgroups == self.workgroups()[0] {
                let mut sum = 0u32;
                for (i, (&key, found)) in self.keys.iter().zip(output.read(gpu)?).enumerate() {
                    if found != sum {
                        return Err(format!("{name}: element {i} is {found} and not {sum}").into());
                    }
                    sum = sum.wrapping_add(key);
                }
            }
            self.line(&name, seconds, 12);
        }
        if self.n * 8 <= gpu.max_buffer_bytes() {
            let output = Buffer::<u64>::storage(gpu, "output", self.n)?;
            let scan = Scan::new(gpu, self.n)?;
            let task = scan.bind_wide(gpu, ScanKind::Exclusive, &self.count, self.input, &output, None)?;
            self.line(&format!("exclusive scan to 64 bits, {way}"), self.time(&[&task])?, 16);
        }
        Ok(())
    }

    fn sorts(&self, way: &str, gpu: &Gpu) -> Result<()> {
        let keys = Buffer::<u32>::storage(gpu, "keys", self.n)?;
        let values = Buffer::<u32>::storage(gpu, "values", self.n)?;
        let default = Tuning::sort(gpu);
        let mut tunings = vec![default];
        for items in [8, 12, 13] {
            for workgroups in [2048, 4096, 8192, 16384] {
                tunings.push(Tuning { items, workgroups, ..default });
            }
        }
        tunings.push(Tuning { threads: 128, ..default });
        if gpu.info().device_type == wgpu::DeviceType::Cpu {
            tunings.truncate(1);
        } else if way == "baseline" {
            tunings.retain(|tuning| tuning.items == 8 && [2048, 8192].contains(&tuning.workgroups));
        }
        for (number, tuning) in tunings.into_iter().enumerate() {
            let Ok(sort) = RadixSort::<u32>::with_tuning(gpu, self.n, tuning) else { continue };
            let Tuning { threads, items, workgroups } = tuning;
            let name = format!("pairs, {way}, {threads} x {items}, {workgroups} workgroups");
            if number == 0 {
                let values_in: Vec<u32> = (0..self.n).map(|i| i as u32).collect();
                values.write(gpu, 0, &values_in)?;
            }
            let task = sort.bind(gpu, &self.count, &keys, &values, 0..32)?;
            let once = |gpu: &Gpu| -> Result<()> {
                let mut encoder = gpu.encoder("sort");
                encoder.copy_buffer_to_buffer(self.input.raw(), 0, keys.raw(), 0, self.n * 4);
                task.encode(&mut encoder);
                gpu.wait(gpu.submit(encoder)?)?;
                Ok(())
            };
            if number == 0 {
                once(gpu)?;
                let sorted = keys.read(gpu)?;
                let moved = values.read(gpu)?;
                let fits = sorted.iter().zip(&moved).all(|(&key, &value)| hash(value.into()) == key);
                // Keys are distinct: ascending ones, each with the index that it belongs to, are all of them.
                if !fits || !sorted.windows(2).all(|pair| pair[0] < pair[1]) {
                    return Err(format!("{name}: wrong").into());
                }
            }
            self.line(&name, self.time_sort(&keys, &task)?, 80);
        }
        let sort = RadixSort::<u32>::new(gpu, self.n)?;
        let task = sort.bind_keys(gpu, &self.count, &keys, 0..32)?;
        self.line(&format!("keys alone, {way}"), self.time_sort(&keys, &task)?, 48);
        let task = sort.bind(gpu, &self.count, &keys, &values, 0..16)?;
        self.line(&format!("pairs by 16 bits, {way}"), self.time_sort(&keys, &task)?, 40);
        // Repeated without new keys: what a sort of sorted pairs takes.
        let task = sort.bind(gpu, &self.count, &keys, &values, 0..32)?;
        self.line(&format!("sorted pairs, {way}"), self.time(&[&task])?, 80);
        keys.write(gpu, 0, &vec![7; usize::try_from(self.n)?])?;
        self.line(&format!("equal pairs, {way}"), self.time(&[&task])?, 80);
        if self.n * 8 <= gpu.max_buffer_bytes() {
            let keys = Buffer::<u64>::storage(gpu, "keys", self.n)?;
            let sort = RadixSort::<u64>::new(gpu, self.n)?;
            let task = sort.bind(gpu, &self.count, &keys, &values, 0..64)?;
            self.line(&format!("equal pairs of 64-bit keys, {way}"), self.time(&[&task])?, 256);
        }
        Ok(())
    }

    /// The most workgroups to try; a processor is slow, so it tries the default alone.
    fn workgroups(&self) -> Vec<u32> {
        match self.gpu.info().device_type {
            wgpu::DeviceType::Cpu => vec![Tuning::sweep(self.gpu).workgroups],
            _ => vec![1024, 2048, 4096, 8192],
        }
    }

    /// Seconds of a sort of random keys: they are copied anew before each, and copies alone are timed and taken off.
    fn time_sort(&self, keys: &Buffer<u32>, task: &Task) -> Result<f64> {
        let copy = |encoder: &mut wgpu::CommandEncoder| {
            encoder.copy_buffer_to_buffer(self.input.raw(), 0, keys.raw(), 0, self.n * 4);
        };
        let both = median(self.gpu, &|encoder| {
            copy(encoder);
            task.encode(encoder);
        })?;
        Ok(both - median(self.gpu, &copy)?)
    }

    fn time(&self, tasks: &[&Task]) -> Result<f64> {
        median(self.gpu, &|encoder| tasks.iter().for_each(|task| task.encode(encoder)))
    }

    fn line(&self, name: &str, seconds: f64, bytes: u64) {
        let rate = self.n as f64 / seconds / 1e9;
        println!("{name:<44} {:>10.4} {rate:>10.3} {:>8.0}", seconds * 1e3, rate * bytes as f64);
    }
}

/// Seconds that the recorded work takes among others of its kind.
fn median(gpu: &Gpu, record: &dyn Fn(&mut wgpu::CommandEncoder)) -> Result<f64> {
    let submit = |repeats: u32| -> Result<f64> {
        let mut encoder = gpu.encoder("benchmark");
        (0..repeats).for_each(|_| record(&mut encoder));
        let start = Instant::now();
        gpu.wait(gpu.submit(encoder)?)?;
        Ok(start.elapsed().as_secs_f64())
    };
    submit(1)?;
    // As many as fill some 20 ms, so that the cost of a submission hardly shows.
    #[expect(clippy::cast_sign_loss, reason = "clamped")]
    let repeats = (0.02 / submit(1)?).clamp(1.0, 200.0) as u32;
    let mut times = (0..5).map(|_| submit(repeats)).collect::<Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[2] / f64::from(repeats))
}
