//! Compares the host engine of matching with a sorted sweep and a grid, each in plain code for one
//! core.

#![allow(clippy::cast_precision_loss, reason = "times")]

use std::io::{Write as _, stdout};
use std::time::Instant;

use clap::Args as ClapArgs;
use eventhorizon::matching::{Region, host};

use crate::median;
use crate::shared::rates::or;
use crate::shared::{Outcome, same};

/// Measure the host engine of matching beside a sorted sweep and a grid, each in plain code for one
/// core
///
/// Finds the pairs of the synthetic workload in 1 to 3 dimensions, and in two dimensions those of
/// players that all move in each tick. Needs no adapter. Times are medians of five, in
/// milliseconds; `RAYON_NUM_THREADS=1` limits the engine to one core too.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  RAYON_NUM_THREADS=1 cargo run --release -p eventhorizon-bench -- matching-host
  cargo run --release -p eventhorizon-bench -- matching-host 1000000 --players 20000")]
pub(crate) struct Args {
    /// Set the numbers of regions. Default: 100000
    #[arg(value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..))]
    regions: Vec<u32>,
    /// Set the numbers of players. Default: 20000
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..))]
    players: Vec<u32>,
}

/// Pseudo-random numbers below 2^32 from SplitMix64.
fn random(mut state: u64) -> impl FnMut() -> u32 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }
}

/// One side of the synthetic workload: regions of one size. Both sides together are `alpha` times
/// the space.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^31")]
fn workload<const D: usize>(regions: u32, alpha: f64, seed: u64) -> Vec<Region<u32, D>> {
    let share = (alpha / f64::from(regions)).powf(1.0 / D as f64).min(0.5);
    let size = (2f64.powi(32) * share).max(1.0) as u32;
    let mut random = random(seed);
    let region = |_| {
        let lo = std::array::from_fn(|_| random().min(u32::MAX - size));
        Region::new(lo, lo.map(|lo| lo + size))
    };
    (0..regions / 2).map(region).collect()
}

/// Merges two sets in the order of their lower bounds; each region meets those that begin inside
/// it.
fn plain_sweep<const D: usize>(s: &[Region<u32, D>], u: &[Region<u32, D>]) -> Vec<[u32; 2]> {
    let sorted = |set: &[Region<u32, D>]| {
        let mut sorted: Vec<(Region<u32, D>, u32)> = set.iter().copied().zip(0..).collect();
        sorted.sort_unstable_by_key(|(region, _)| region.lo[0]);
        sorted
    };
    let (s, u) = (sorted(s), sorted(u));
    let overlap =
        |a: &Region<u32, D>, b: &Region<u32, D>| (1..D).all(|d| a.lo[d] < b.hi[d] && b.lo[d] < a.hi[d]);
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < s.len() && j < u.len() {
        if s[i].0.lo[0] <= u[j].0.lo[0] {
            for (other, id) in u[j..].iter().take_while(|(other, _)| other.lo[0] < s[i].0.hi[0]) {
                if overlap(&s[i].0, other) {
                    pairs.push([s[i].1, *id]);
                }
            }
            i += 1;
        } else {
            for (other, id) in s[i..].iter().take_while(|(other, _)| other.lo[0] < u[j].0.hi[0]) {
                if overlap(&u[j].0, other) {
                    pairs.push([*id, u[j].1]);
                }
            }
            j += 1;
        }
    }
    pairs
}

/// Puts players (points) into cells of the size of a sight, and looks up each sight (a square) in
/// the cells it meets.
fn plain_grid(sights: &[Region<u32, 2>], players: &[Region<u32, 2>], sight: u32) -> Vec<[u32; 2]> {
    let side = (u32::MAX / sight).clamp(1, 2048);
    let cell = |x: u32| ((u64::from(x) * u64::from(side)) >> 32) as usize;
    let mut cells = vec![Vec::new(); (side * side) as usize];
    for (id, player) in (0u32..).zip(players) {
        cells[cell(player.lo[0]) * side as usize + cell(player.lo[1])].push(id);
    }
    let mut pairs = Vec::new();
    for (s, sight) in (0..).zip(sights) {
        for x in cell(sight.lo[0])..=cell(sight.hi[0] - 1) {
            for y in cell(sight.lo[1])..=cell(sight.hi[1] - 1) {
                let there = cells[x * side as usize + y].iter();
                pairs.extend(there.filter(|u| players[**u as usize].overlaps(sight)).map(|u| [s, *u]));
            }
        }
    }
    pairs
}

/// The median time of five runs of `find`, which must return the expected pairs.
fn timed(what: &str, expected: &[[u32; 2]], find: impl Fn() -> Outcome<Vec<[u32; 2]>>) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let mut pairs = find()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        pairs.sort_unstable();
        same(&(pairs == expected), &true, what)?;
    }
    Ok(median(&mut times))
}

fn sweeps<const D: usize>(regions: u32, alpha: f64) -> Outcome<()> {
    let (s, u) = (workload::<D>(regions, alpha, 1), workload::<D>(regions, alpha, 2));
    let mut expected = plain_sweep(&s, &u);
    expected.sort_unstable();
    let plain = timed("a plain sweep", &expected, || Ok(plain_sweep(&s, &u)))?;
    let engine = timed("the host engine", &expected, || Ok(host::find(&s, &u)?))?;
    let pairs = expected.len();
    writeln!(stdout(), "{regions:>10} {D:>4} {alpha:>7} {pairs:>10} {plain:>12.2} {engine:>12.2}")?;
    Ok(())
}

/// Times players that all move in each tick, by a hundredth of their sight.
fn players(count: u32, seen: f64) -> Outcome<()> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^31")]
    let sight = (2f64.powi(32) * (seen / f64::from(count)).sqrt().min(0.5)) as u32;
    let half = sight / 2;
    let mut random = random(count.into());
    let mut places: Vec<[u32; 2]> =
        (0..count).map(|_| std::array::from_fn(|_| random().clamp(half + 1, u32::MAX - half - 1))).collect();
    let mut tick = || {
        for place in places.iter_mut().flatten() {
            *place = (*place + random() % (half / 50 + 1)).saturating_sub(half / 100);
            *place = (*place).clamp(half + 1, u32::MAX - half - 1);
        }
        let sights = places.iter().map(|at| Region::new(at.map(|x| x - half), at.map(|x| x + half)));
        let bodies = places.iter().map(|at| Region::new(*at, at.map(|x| x + 1)));
        (sights.collect::<Vec<_>>(), bodies.collect::<Vec<_>>())
    };
    let (sights, bodies) = tick();
    let mut expected = plain_grid(&sights, &bodies, sight);
    expected.sort_unstable();
    let grid = timed("a plain grid", &expected, || Ok(plain_grid(&sights, &bodies, sight)))?;
    let engine = timed("the host engine", &expected, || Ok(host::find(&sights, &bodies)?))?;
    let mut moving = host::MovingRegions::new(&sights, &bodies)?;
    let mut times = Vec::new();
    for _ in 0..6 {
        let (sights, bodies) = tick();
        let moved = |set: Vec<Region<u32, 2>>| (0..).zip(set).collect::<Vec<_>>();
        let (sights, bodies) = (moved(sights), moved(bodies));
        let start = Instant::now();
        moving.update(&sights, &bodies)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    // The first call also finds the pairs that existed before.
    let changes = median(&mut times[1..]);
    let pairs = expected.len();
    writeln!(stdout(), "{count:>10} {pairs:>10} {grid:>12.2} {engine:>12.2} {changes:>12.2}")?;
    Ok(())
}

pub(crate) fn run(args: &Args) -> Outcome<()> {
    writeln!(stdout(), "{} threads for the engine", rayon::current_num_threads())?;
    writeln!(stdout(), "   regions dims   alpha      pairs  plain sweep  host engine")?;
    for regions in or(&args.regions, &[100_000]) {
        sweeps::<1>(regions, 1.0)?;
        sweeps::<1>(regions, 100.0)?;
        sweeps::<2>(regions, 1.0)?;
        sweeps::<2>(regions, 100.0)?;
        sweeps::<3>(regions, 1.0)?;
    }
    writeln!(stdout(), "   players      pairs   plain grid  host engine host changes")?;
    for count in or(&args.players, &[20_000]) {
        players(count, 3.0)?;
        players(count, 50.0)?;
    }
    Ok(())
}
