//! The parallel heap (Baudis et al., section IV.B): serving PHOLD, Figure 10, and in bulk,
//! Figure 11.
//!
//! In bulk, each cycle deletes as many items as a node holds and inserts as many new ones, which a
//! kernel creates according to PHOLD (rate 0.1), so that the number of items stays the same. A
//! point is the rate for one node size and one number of items: items deleted and replaced per
//! second, submissions and new items included. The text does not describe the axes; its rates fall
//! with the number of nodes, so that is the horizontal one here.
//!
//! For PHOLD, all LPs share the heap. A cycle deletes as many items as a node holds, executes the
//! smallest one of each LP among them if it is below t + lookahead, and inserts the others again.
//!
//! Every point is checked first: a shorter run must delete and hold the same items as a
//! `BinaryHeap`.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::{Duration, Instant};

use eventhorizon::gpu::{Buffer, Gpu, Pace, Plan, Recipe};
use eventhorizon::queue::{HeapBatch, HeapItem, ParallelHeap};
use eventhorizon::random::Stream;
use eventhorizon::time::{Resolution, Ticks};

use super::study::{Study, thousands};
use crate::shared::{Outcome as Result, same};

/// The number of LPs that items are for.
const LPS: u32 = 32768;

pub(super) fn figure_11(study: &mut Study<'_>) -> Result<()> {
    let gpu = study.gpu()?;
    let (least, most) = study.size((10, if study.is_software() { 16 } else { 22 }), (10, 13));
    let nodes: &[u32] = study.size(&[64, 128, 256, 512, 1024], &[64, 256, 1024]);
    let time = Duration::from_secs_f64(study.args.seconds());
    for &node in nodes {
        for held in (least..=most).step_by(if study.args.small { 1 } else { 2 }).map(|power| 1_u32 << power) {
            if !study.goes_on() {
                return Ok(());
            }
            check(&gpu, node, held.min(7 * node + 1), LPS, Work::Bulk)?;
            let mut hold = Hold::new(&gpu, node, held, LPS, Work::Bulk)?;
            let (cycles, seconds) = hold.measure(time)?;
            hold.heap.check(&gpu)?;
            same(&hold.heap.len(&gpu)?, &held, "items held")?;
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            let rate = cycles as f64 * f64::from(node) / seconds;
            study.point("", &format!("nodes of {node}"), held.div_ceil(node).into(), rate)?;
        }
    }
    Ok(())
}

pub(super) fn figure_10(study: &mut Study<'_>) -> Result<()> {
    let gpu = study.gpu()?;
    let lps = study.size(LPS, 1024);
    let populations: &[u32] = study.size(&[4, 8, 16, 32, 64, 128], &[4, 8]);
    let nodes: &[u32] = study.size(&[256, 1024], &[256]);
    for &node in nodes {
        check(&gpu, node, 7 * node + 1, node / 4, Work::Phold)?;
        for &population in populations {
            if !study.goes_on() {
                return Ok(());
            }
            let mut hold = Hold::new(&gpu, node, lps * population - node, lps, Work::Phold)?;
            let (cycles, seconds) = hold.measure(Duration::from_secs_f64(study.args.seconds()))?;
            hold.heap.check(&gpu)?;
            let executed: u64 = hold.drawn.read(&gpu)?.into_iter().map(u64::from).sum();
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            let [executed, cycles] = [executed, cycles].map(|number| number as f64);
            let note = format!("{:.1} events in a cycle", executed / (cycles + 1.0));
            // One cycle ran before the measured ones.
            let rate = executed * cycles / (cycles + 1.0) / seconds;
            study.row(["", &format!("nodes of {node}")], population.into(), Some(rate), None, &note)?;
        }
    }
    study.note(&format!("{} LPs, rate 0.1, lookahead 10", thousands(lps.into())));
    Ok(())
}

/// What a cycle does with the deleted items.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// Replaces all of them.
    Bulk,
    /// Executes those that PHOLD may.
    Phold,
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
    /// By item: how often it was replaced.
    drawn: Buffer<u32>,
}

impl Hold {
    fn new(gpu: &Gpu, node: u32, held: u32, lps: u32, work: Work) -> Result<Self> {
        let params = Params::new(lps, node)?;
        let heap = ParallelHeap::with_node(gpu, held, node)?;
        fill(gpu, &heap, &params.start(held).collect::<Vec<_>>())?;

        let inserts = Buffer::storage_from(gpu, "inserts", &params.first())?;
        let deletes = Buffer::storage(gpu, "deletes", node.into())?;
        let batch = HeapBatch { to_insert: node, to_delete: node, deleted: 0 };
        let batch = Buffer::storage_from(gpu, "batch", &[batch])?;
        let mut cycle = heap.bind(gpu, &batch, &inserts, &deletes)?;
        let params = Buffer::uniform(gpu, "params", &params)?;
        let drawn = Buffer::<u32>::storage(gpu, "drawn", u64::from(held) + u64::from(node))?;
        let firsts = Buffer::storage_from(gpu, "firsts", &vec![u32::MAX; lps as usize])?;
        let buffers = [
            ("params", params.binding()),
            ("deletes", deletes.binding()),
            ("inserts", inserts.binding()),
            ("drawn", drawn.binding()),
            ("firsts", firsts.binding()),
        ];
        let entries: &[_] = if work == Work::Bulk { &["renew"] } else { &["mark", "serve", "clear"] };
        for entry in entries {
            let kernel = Recipe::new("PHOLD", entry, [eventhorizon::wgsl!("heap.wgsl")]).kernel(gpu)?;
            cycle.dispatch(gpu, &kernel, node.div_ceil(64), &buffers)?;
        }
        Ok(Self { gpu: gpu.clone(), heap, cycle, deletes, drawn })
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
fn check(gpu: &Gpu, node: u32, held: u32, lps: u32, work: Work) -> Result<()> {
    /// The timestamp of an item, and its payload.
    fn key([low, high, lp, place]: HeapItem) -> Reverse<(Ticks, u32, u32)> {
        Reverse((Ticks::from_words([low, high]), lp, place))
    }
    let params = Params::new(lps, node)?;
    let hold = Hold::new(gpu, node, held, lps, work)?;
    let mut expected: BinaryHeap<_> = params.start(held).map(key).collect();
    let mut inserts = params.first();
    let mut drawn = vec![0_u64; (held + node) as usize];
    for cycle in 0..20 {
        expected.extend(inserts.iter().copied().map(key));
        let deletes: Vec<_> = (0..node).filter_map(|_| expected.pop()).collect();
        hold.run(1)?;
        let found: Vec<_> = hold.deletes.read(gpu)?.into_iter().map(key).collect();
        same(&found, &deletes, format!("nodes of {node}, {held} items: items deleted in cycle {cycle}"))?;
        let Reverse((now, ..)) = deletes[0];
        inserts = match work {
            Work::Bulk => (0..node).map(|place| params.item(now, place, cycle)).collect(),
            Work::Phold => {
                let (horizon, mut served) = (now.saturating_add(params.lookahead), BTreeSet::new());
                let serve = |&Reverse((time, lp, number)): &Reverse<(Ticks, u32, u32)>| {
                    // The first of an LP is its smallest.
                    if !served.insert(lp) || time >= horizon {
                        let [low, high] = time.to_words();
                        return [low, high, lp, number];
                    }
                    let drawn = &mut drawn[number as usize];
                    *drawn += 1;
                    params.item(time, number, *drawn - 1)
                };
                deletes.iter().map(serve).collect()
            }
        };
    }
    let left: Vec<_> = hold.heap.exchange(gpu, &[], held)?.into_iter().map(key).collect();
    let expected: Vec<_> = std::iter::from_fn(|| expected.pop()).collect();
    same(&left, &expected, format!("nodes of {node}, {held} items: items in the heap"))
}
