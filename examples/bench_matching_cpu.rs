//! The processor's side of the comparison: counts overlaps in one dimension with all cores, by the interval
//! trees of the crate coitrees and by sorting. Anyone can run it:
//!
//! ```text
//! cargo run --release --example bench_matching_cpu [REGIONS ...]
//! ```
//!
//! The workload is that of `bench_matching`, in 31-bit coordinates because coitrees takes `i32`.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::time::Instant;

use coitrees::{COITree, Interval, IntervalTree};
use rayon::prelude::*;

/// One side of the synthetic workload: half-open intervals of one size at random places.
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

/// A tree per core over a part of the subscriptions, queried by all updates; both in parallel.
fn by_trees(subscriptions: &[(i32, i32)], updates: &[(i32, i32)]) -> (u64, f64) {
    let start = Instant::now();
    let part = subscriptions.len().div_ceil(rayon::current_num_threads()).max(1);
    // Neighbours into the same tree: a query then meets few trees.
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

/// Two sorts and two searches per subscription.
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

fn main() {
    let sizes: Result<Vec<u64>, _> = std::env::args().skip(1).map(|size| size.parse()).collect();
    let sizes = match sizes {
        Ok(sizes) if sizes.is_empty() => vec![1_000_000, 10_000_000],
        Ok(sizes) if sizes.iter().all(|size| *size >= 2) => sizes,
        _ => {
            eprintln!("bench_matching_cpu: sizes are numbers of regions, 2 or more");
            std::process::exit(1);
        }
    };
    println!(
        "{} threads; time with the data in memory, trees built and sorts included",
        rayon::current_num_threads()
    );
    println!("     regions    alpha          pairs       coitrees        sorting");
    for regions in sizes {
        for alpha in [0.01, 1.0, 100.0] {
            let (s, u) = (workload(regions, alpha, 0), workload(regions, alpha, 1));
            let (pairs, trees) = by_trees(&s, &u);
            let (same, sorting) = by_sorting(&s, &u);
            assert_eq!(pairs, same, "both ways count the same pairs");
            println!("{regions:>12} {alpha:>8} {pairs:>14} {trees:>11.1} ms {sorting:>11.1} ms");
        }
    }
}
