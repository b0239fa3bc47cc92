//! The parallel heap alone, in bulk: the experiment of Figure 11 of Baudis et al. (section IV.B).
//!
//! Each cycle deletes as many items as a node holds and inserts as many new ones, which a kernel
//! creates according to PHOLD (rate 0.1), so that the number of items stays the same. A row is the
//! rate for one node size and one number of items: items deleted and replaced per second,
//! submissions and new items included. The paper describes neither axis; its rates fall with the
//! number of nodes, so that number is a column too.
//!
//! Every row is checked first: a shorter run must delete and hold the same items as a `BinaryHeap`.
//!
//! ```text
//! eventhorizon queue-bulk --csv figure_11.csv
//! eventhorizon queue-bulk --node 256,1024 --items 65536 --seconds 2
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use eventhorizon::gpu::{Buffer, Gpu, Pace, Plan, Recipe};
use eventhorizon::queue::{HeapBatch, HeapItem, ParallelHeap};
use eventhorizon::random::Stream;
use eventhorizon::time::{Resolution, Ticks};

use crate::shared::rates::or;
use crate::shared::{self, Outcome as Result, same};

#[derive(Parser)]
pub struct Args {
    /// Set the node sizes to compare, in items: powers of two from 64 to 1024. Default: all
    #[arg(long, value_name = "ITEMS", value_delimiter = ',', value_parser = node)]
    node: Vec<u32>,
    /// Set the numbers of items to compare. Default: 2^10, 2^12, ..., 2^22 (on a software adapter
    /// up to 2^16)
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    items: Vec<u32>,
    /// Set the number of LPs that items are for
    #[arg(long, default_value_t = 32768, value_parser = clap::value_parser!(u32).range(1..))]
    lps: u32,
    /// Set the seconds to measure for each row
    #[arg(long, default_value_t = 0.5, value_parser = shared::seconds)]
    seconds: f64,
    /// Write the table to a file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// The items of a node, as `ParallelHeap` supports them.
fn node(text: &str) -> std::result::Result<u32, String> {
    match shared::group_size(text)? {
        size @ 64..=1024 => Ok(size),
        _ => Err("expected a power of two from 64 to 1024".to_owned()),
    }
}

/// A row of the table.
#[derive(serde::Serialize)]
struct Row {
    node_items: u32,
    items_held: u32,
    nodes: u32,
    cycles: u64,
    seconds: f64,
    items_per_second: f64,
}

pub fn run(args: &Args) -> Result<()> {
    shared::check_files(&[(shared::FileUse::Writes, "--csv", args.csv.as_deref())])?;
    let gpu = Gpu::new()?;
    shared::print_report(&gpu.to_string());
    let largest = if gpu.info().device_type == wgpu::DeviceType::Cpu { 16 } else { 22 };
    let nodes = or(&args.node, &[64, 128, 256, 512, 1024]);
    let items = or(&args.items, &(10..=largest).step_by(2).map(|exponent| 1 << exponent).collect::<Vec<_>>());
    let out: Box<dyn Write> = match args.csv.as_ref().filter(|path| !shared::on_stdout(Some(path))) {
        Some(path) => {
            Box::new(std::fs::File::create(path).map_err(|error| format!("{}: {error}", path.display()))?)
        }
        None => Box::new(stdout()),
    };
    let mut table = csv::Writer::from_writer(out);
    figure_11(&gpu, &nodes, &items, args.lps, Duration::try_from_secs_f64(args.seconds)?, |row| {
        table.serialize(row)?;
        Ok(table.flush()?)
    })
}

/// Writes a row for each node size and each number of items, measured for `time` each.
fn figure_11(
    gpu: &Gpu,
    nodes: &[u32],
    items: &[u32],
    lps: u32,
    time: Duration,
    mut report: impl FnMut(Row) -> Result<()>,
) -> Result<()> {
    for &node in nodes {
        for &held in items {
            check(gpu, node, held.min(7 * node + 1), lps)?;
            let mut hold = Hold::new(gpu, node, held, lps)?;
            let (cycles, seconds) = hold.measure(time)?;
            hold.heap.check(gpu)?;
            same(&hold.heap.len(gpu)?, &held, "items held")?;
            let items_per_second = cycles as f64 * f64::from(node) / seconds;
            let nodes = held.div_ceil(node);
            report(Row { node_items: node, items_held: held, nodes, cycles, seconds, items_per_second })?;
        }
    }
    Ok(())
}

const SEED: u64 = 42;

/// The WGSL struct of the same name.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    seed: u64,
    mean: Ticks,
    lookahead: Ticks,
    lps: u32,
    count: u32,
}

impl Params {
    /// PHOLD with a rate of 0.1 and a lookahead of 10 units of time, which the paper does not
    /// state.
    fn new(lps: u32, count: u32) -> Result<Self> {
        let time = Resolution::default().ticks(10.0)?;
        Ok(Self { seed: SEED, mean: time, lookahead: time, lps, count })
    }

    /// New item number `index` at a place, created at time `now`: the reference implementation of
    /// `renew`.
    fn item(&self, now: Ticks, place: u32, index: u64) -> HeapItem {
        let mut stream = Stream::new(self.seed, place, index);
        let delay = self.lookahead.saturating_add(stream.exponential(self.mean));
        let [low, high] = now.saturating_add(delay).to_words();
        [low, high, stream.below(self.lps), place]
    }

    /// The items at the start, at time 0. Their places follow those of a cycle.
    fn start(&self, held: u32) -> impl Iterator<Item = HeapItem> {
        (self.count..self.count + held).map(|place| self.item(Ticks::ZERO, place, 0))
    }

    /// The items of the first cycle.
    fn first(&self) -> Vec<HeapItem> {
        // `renew` never reaches the highest number.
        (0..self.count).map(|place| self.item(Ticks::ZERO, place, u64::MAX)).collect()
    }
}

/// A heap that holds the same number of items after each cycle.
struct Hold {
    gpu: Gpu,
    heap: ParallelHeap,
    /// Inserts, deletes, and creates the items of the next cycle.
    cycle: Plan,
    deletes: Buffer<HeapItem>,
}

impl Hold {
    fn new(gpu: &Gpu, node: u32, held: u32, lps: u32) -> Result<Self> {
        let params = Params::new(lps, node)?;
        let heap = ParallelHeap::with_node(gpu, held, node)?;
        fill(gpu, &heap, &params.start(held).collect::<Vec<_>>())?;

        let inserts = Buffer::storage_from(gpu, "inserts", &params.first())?;
        let deletes = Buffer::storage(gpu, "deletes", node.into())?;
        let batch = HeapBatch { to_insert: node, to_delete: node, deleted: 0 };
        let batch = Buffer::storage_from(gpu, "batch", &[batch])?;
        let mut cycle = heap.bind(gpu, &batch, &inserts, &deletes)?;
        let renew = Recipe::new("PHOLD", "renew", [eventhorizon::wgsl!("queue_bulk.wgsl")]).kernel(gpu)?;
        let params = Buffer::uniform(gpu, "params", &params)?;
        let drawn = Buffer::<u32>::storage(gpu, "drawn", node.into())?;
        let buffers = [
            ("params", params.binding()),
            ("deletes", deletes.binding()),
            ("inserts", inserts.binding()),
            ("drawn", drawn.binding()),
        ];
        cycle.dispatch(gpu, &renew, node.div_ceil(64), &buffers)?;
        Ok(Self { gpu: gpu.clone(), heap, cycle, deletes })
    }

    /// Runs cycles for `time`; returns their number and the seconds they took.
    fn measure(&mut self, time: Duration) -> Result<(u64, f64)> {
        let mut pace = Pace::new(u32::MAX);
        // The first submission of a plan may be slow.
        self.run(1)?;
        let begin = Instant::now();
        let mut cycles = 0;
        while begin.elapsed() < time {
            let units = pace.units();
            let begin = Instant::now();
            self.run(units)?;
            pace.record(units, begin.elapsed());
            cycles += u64::from(units);
        }
        Ok((cycles, begin.elapsed().as_secs_f64()))
    }

    fn run(&self, cycles: u32) -> Result<()> {
        let mut encoder = self.gpu.encoder("cycles");
        self.cycle.record_times(&mut encoder, cycles);
        Ok(self.gpu.wait(self.gpu.submit(encoder)?)?)
    }
}

/// Inserts `items` into an empty heap.
fn fill(gpu: &Gpu, heap: &ParallelHeap, items: &[HeapItem]) -> Result<()> {
    // Items of one submission, 64 nodes: a few milliseconds of work.
    let chunk = 64 * heap.node();
    let inserts = Buffer::storage(gpu, "start", chunk.into())?;
    let batch = Buffer::storage(gpu, "batch of the start", 1)?;
    let plan = heap.bind(gpu, &batch, &inserts, &Buffer::storage(gpu, "nothing", 0)?)?;
    for items in items.chunks(chunk as usize) {
        inserts.write(gpu, 0, items)?;
        let to_insert = u32::try_from(items.len())?;
        batch.write(gpu, 0, &[HeapBatch { to_insert, ..HeapBatch::default() }])?;
        gpu.wait(plan.submit(gpu)?)?;
    }
    Ok(heap.check(gpu)?)
}

/// Compares some cycles, and the items in the heap after them, with a `BinaryHeap`.
fn check(gpu: &Gpu, node: u32, held: u32, lps: u32) -> Result<()> {
    /// The timestamp of an item, and its payload.
    fn key([low, high, lp, place]: HeapItem) -> Reverse<(Ticks, u32, u32)> {
        Reverse((Ticks::from_words([low, high]), lp, place))
    }
    let params = Params::new(lps, node)?;
    let hold = Hold::new(gpu, node, held, lps)?;
    let mut expected: BinaryHeap<_> = params.start(held).map(key).collect();
    let mut inserts = params.first();
    for cycle in 0..20 {
        expected.extend(inserts.iter().copied().map(key));
        let deletes: Vec<_> = (0..node).filter_map(|_| expected.pop()).collect();
        hold.run(1)?;
        let found: Vec<_> = hold.deletes.read(gpu)?.into_iter().map(key).collect();
        same(&found, &deletes, format!("nodes of {node}, {held} items: items deleted in cycle {cycle}"))?;
        let Reverse((now, ..)) = deletes[0];
        inserts = (0..node).map(|place| params.item(now, place, cycle)).collect();
    }
    let left: Vec<_> = hold.heap.exchange(gpu, &[], held)?.into_iter().map(key).collect();
    let expected: Vec<_> = std::iter::from_fn(|| expected.pop()).collect();
    same(&left, &expected, format!("nodes of {node}, {held} items: items in the heap"))
}
