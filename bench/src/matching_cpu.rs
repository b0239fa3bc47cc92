//! The CPU's side of the comparison: counts overlaps in one dimension with all cores, by the
//! interval trees of the crate coitrees and by sorting.
//!
//! The workload is that of `matching.rs`, in 31-bit coordinates because coitrees takes `i32`.

use std::io::{Write as _, stdout};
use std::time::Instant;

use clap::Args as ClapArgs;
use coitrees::{COITree, Interval, IntervalTree};
use rayon::prelude::*;

use crate::shared::rates::or;
use crate::shared::{self, Outcome};

/// One side of the synthetic workload: half-open intervals of one size at random positions.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "31 bits")]
fn workload(regions: u64, alpha: f64, side: u64) -> Vec<(i32, i32)> {
    let size = (2f64.powi(31) * alpha / regions as f64).round().max(1.0) as i32;
    let place = |i: u64| {
        let mut z = i.wrapping_add(side << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let lo = ((z ^ (z >> 31)) >> 33) as i32;
        let lo = lo.min(i32::MAX - size);
        (lo, lo + size)
    };
    (0..regions / 2).into_par_iter().map(place).collect()
}

/// Builds a tree per core for a part of the subscriptions and queries it with all updates, in
/// parallel.
fn by_trees(subscriptions: &[(i32, i32)], updates: &[(i32, i32)]) -> (u64, f64) {
    let start = Instant::now();
    let part = subscriptions.len().div_ceil(rayon::current_num_threads()).max(1);
    // Neighbouring intervals are in the same tree, so that a query meets few trees.
    let mut sorted = subscriptions.to_vec();
    sorted.par_sort_unstable();
    let trees: Vec<COITree<(), u32>> = sorted
        .par_chunks(part)
        .map(|part| {
            // coitrees takes closed intervals.
            let nodes: Vec<_> = part.iter().map(|(lo, hi)| Interval::new(*lo, *hi - 1, ())).collect();
            COITree::new(&nodes)
        })
        .collect();
    let starts: Vec<i32> = sorted.chunks(part).map(|part| part[0].0).collect();
    let ends: Vec<i32> =
        sorted.chunks(part).map(|part| part.iter().map(|(_, hi)| *hi).max().unwrap_or(0)).collect();
    let count = updates
        .par_iter()
        .map(|(lo, hi)| {
            (0..trees.len())
                .filter(|tree| starts[*tree] < *hi && *lo < ends[*tree])
                .map(|tree| trees[tree].query_count(*lo, *hi - 1) as u64)
                .sum::<u64>()
        })
        .sum();
    (count, start.elapsed().as_secs_f64() * 1e3)
}

/// Counts with two sorts and two searches per subscription.
fn by_sorting(subscriptions: &[(i32, i32)], updates: &[(i32, i32)]) -> (u64, f64) {
    let start = Instant::now();
    let mut starts: Vec<i32> = updates.par_iter().map(|update| update.0).collect();
    let mut ends: Vec<i32> = updates.par_iter().map(|update| update.1).collect();
    starts.par_sort_unstable();
    ends.par_sort_unstable();
    let count = subscriptions
        .par_iter()
        .map(|(lo, hi)| {
            let started = starts.partition_point(|start| start < hi);
            (started - ends.partition_point(|end| end <= lo)) as u64
        })
        .sum();
    (count, start.elapsed().as_secs_f64() * 1e3)
}

/// Measure the times of counting overlaps on all cores of the CPU, for comparison with `matching`
///
/// Counts in one dimension, by the interval trees of the crate coitrees and by sorting; both must
/// give the same count. Needs no adapter. Times are in milliseconds.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  cargo run --release -p eventhorizon-bench -- matching-cpu
  cargo run --release -p eventhorizon-bench -- matching-cpu 1000000,10000000 --alpha 1")]
pub(crate) struct Args {
    /// Set the numbers of regions. Default: 1000000 and 10000000
    #[arg(value_delimiter = ',', value_parser = clap::value_parser!(u64).range(2..=1 << 31))]
    regions: Vec<u64>,
    /// Set how often the regions together cover the space. Default: 0.01, 1 and 100
    #[arg(long, value_delimiter = ',', value_parser = shared::positive)]
    alpha: Vec<f64>,
}

pub(crate) fn run(args: &Args) -> Outcome<()> {
    let threads = rayon::current_num_threads();
    writeln!(stdout(), "{threads} threads; time with the data in memory, trees built and sorts included")?;
    writeln!(stdout(), "     regions    alpha          pairs       coitrees        sorting")?;
    for regions in or(&args.regions, &[1_000_000, 10_000_000]) {
        for alpha in or(&args.alpha, &[0.01, 1.0, 100.0]) {
            let (s, u) = (workload(regions, alpha, 0), workload(regions, alpha, 1));
            let (pairs, trees) = by_trees(&s, &u);
            let (counted, sorting) = by_sorting(&s, &u);
            shared::same(&counted, &pairs, "pairs by sorting")?;
            writeln!(stdout(), "{regions:>12} {alpha:>8} {pairs:>14} {trees:>11.1} ms {sorting:>11.1} ms")?;
        }
    }
    Ok(())
}
