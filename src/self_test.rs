//! Checks an adapter: each part that the library relies on is compared with known answers, in
//! seconds.
//!
//! ```no_run
//! use eventhorizon::gpu::Gpu;
//!
//! let report = eventhorizon::self_test(&Gpu::new()?);
//! if !report.passed() {
//!     println!("{report}"); // what a bug report asks for; `eventhorizon doctor` prints it with all else that matters
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is no proof: the test suite covers far more. But a faulty driver usually fails basic checks
//! first, and this report names the failing one.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use web_time::Instant;

use crate::gpu::{Buffer, Gpu, GpuError, Plan, Recipe, Subgroups};
use crate::matching::{Algorithm, Matcher, Region, reference};
use crate::models::{Mm1, Phold};
use crate::pdes::{CpuSimulation, Fault, FaultKind, Options, Simulation, SimulationError, Sync, Until};
use crate::primitives::{Count, RadixSort, Reduce, Scan, ScanKind};
use crate::queue::QueueDesign;
use crate::random::{Stream, exponential_unit};
use crate::replication::{self, CpuEngine, Design, Engine, Experiment, Mapping};
use crate::shaders;
use crate::time::Resolution;

/// One check and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name of the part.
    pub name: String,
    /// A note for the report, or the error that the check found.
    pub outcome: Result<String, String>,
    /// How long it took, including the compilation of kernels.
    pub took: Duration,
}

/// The result of [`self_test`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfTest {
    /// In order of execution. Each check relies on the earlier ones.
    pub checks: Vec<Check>,
}

impl SelfTest {
    /// True if no check failed.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The failed checks. Start with the first: later ones may follow from it.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.outcome.is_err())
    }
}

impl fmt::Display for SelfTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Check { name, outcome, took } in &self.checks {
            let (word, note) = match outcome {
                Ok(note) => ("ok", note),
                Err(wrong) => ("FAILED", wrong),
            };
            writeln!(f, "{name:<32} {word:<7} {:>7.2} s  {note}", took.as_secs_f64())?;
        }
        let failed = self.failures().count();
        match failed {
            0 => write!(f, "{} checks passed", self.checks.len()),
            _ => write!(f, "{failed} of {} checks failed", self.checks.len()),
        }
    }
}

type Outcome = Result<String, Box<dyn Error>>;

/// Checks a device: known answers of the random streams and the exponentials, atomics, barriers and
/// loops, the layout of subgroups, scans and sorts, a small PHOLD for each queue design and each
/// synchronisation, replications, and matching. It compares all of them with the host, with the
/// kernels that the library would choose on this device.
///
/// It blocks for some seconds. If the device is lost during the test, the remaining checks are
/// missing.
#[cfg(not(target_arch = "wasm32"))]
pub fn self_test(gpu: &Gpu) -> SelfTest {
    pollster::block_on(self_test_async(gpu))
}

/// [`self_test`] for browsers, where no call may block. (The expected results are still computed
/// synchronously between waits.)
pub async fn self_test_async(gpu: &Gpu) -> SelfTest {
    let mut checks = Vec::new();
    let mut lost = false;
    let mut check = async |name: String, work: Pin<Box<dyn Future<Output = Outcome> + '_>>| {
        if lost {
            return;
        }
        let begun = Instant::now();
        let outcome = work.await;
        lost = outcome.as_ref().is_err_and(|error| {
            let error =
                error.downcast_ref::<SimulationError>().map_or(error.downcast_ref(), |error| match error {
                    SimulationError::Gpu(error) => Some(error),
                    _ => None,
                });
            matches!(error, Some(GpuError::Lost { .. } | GpuError::Timeout { .. }))
        });
        checks.push(Check {
            name,
            outcome: outcome.map_err(|error| error.to_string()),
            took: begun.elapsed(),
        });
    };
    for product in products(gpu) {
        let with = if *product == PRODUCTS[0] { "" } else { ", 64-bit integers" };
        check(format!("Philox4x32-10{with}"), Box::pin(philox(gpu, product))).await;
        check(format!("exponentials{with}"), Box::pin(exponentials(gpu, product))).await;
    }
    check("atomics".into(), Box::pin(atomics(gpu))).await;
    check("barriers".into(), Box::pin(barriers(gpu))).await;
    check("loops".into(), Box::pin(loops(gpu))).await;
    check("subgroups".into(), Box::pin(std::future::ready(subgroups(gpu)))).await;
    let baseline = gpu.without(wgpu::Features::SUBGROUP);
    let ways = [(gpu, ""), (&baseline, ", without subgroups")];
    for (gpu, with) in &ways[..if gpu.subgroups().is_some() { 2 } else { 1 }] {
        check(format!("reduce{with}"), Box::pin(reduce(gpu))).await;
        check(format!("scan{with}"), Box::pin(scan(gpu))).await;
        check(format!("sort{with}"), Box::pin(sort(gpu))).await;
    }
    for design in QueueDesign::PRODUCTION {
        let options = Options::default().queue(design).sync(Sync::Yawns);
        check(format!("PHOLD, {design}"), Box::pin(phold(gpu, options))).await;
    }
    for sync in Sync::ALL.into_iter().filter(|sync| sync.is_wide() == Some(true)) {
        let options = Options::default().queue(QueueDesign::Heap).sync(sync);
        check(format!("PHOLD, windows by {sync}"), Box::pin(phold(gpu, options))).await;
    }
    for mapping in [Mapping::Thread, Mapping::Warp, Mapping::Team] {
        check(format!("M/M/1, mapping {mapping}"), Box::pin(replications(gpu, mapping))).await;
    }
    for (name, algorithm) in [("sort", Algorithm::Sort), ("grid", Algorithm::Grid { cells: None })] {
        check(format!("matching, {name}"), Box::pin(matching(gpu, algorithm))).await;
    }
    SelfTest { checks }
}

const PRODUCTS: [&str; 2] = ["random/mul_wide.wgsl", "random/mul_wide_int64.wgsl"];

/// The multiplication methods that the device supports.
fn products(gpu: &Gpu) -> &'static [&'static str] {
    &PRODUCTS[..if gpu.has(wgpu::Features::SHADER_INT64) { 2 } else { 1 }]
}

fn recipe(entry: &'static str, product: &str) -> Recipe {
    Recipe::new("self test", entry, ["self_test/probes.wgsl", product].map(shaders::file))
}

/// Every kernel that this module defines.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    let entries = ["philox", "exponentials", "atomics", "barriers", "loops"];
    PRODUCTS.iter().flat_map(|product| entries.map(|entry| recipe(entry, product))).collect()
}

/// The value that fills a buffer before a kernel writes to it.
const POISON: u32 = 0xdead_beef;

/// Runs kernel `entry` and returns its output of `output` words.
async fn probe(
    gpu: &Gpu,
    entry: &'static str,
    product: &str,
    input: &[u32],
    output: usize,
    groups: u32,
) -> Result<Vec<u32>, GpuError> {
    let input = Buffer::storage_from(gpu, "self test: input", input)?;
    let output = Buffer::storage_from(gpu, "self test: output", &vec![POISON; output])?;
    let mut plan = Plan::new("self test");
    let kernel = recipe(entry, product).kernel(gpu)?;
    let all = [
        ("self_test_input", input.binding()),
        ("self_test_output", output.binding()),
        ("self_test_atomics", output.binding()),
    ];
    plan.dispatch(gpu, &kernel, groups, &all)?;
    plan.submit(gpu)?;
    output.read_async(gpu).await
}

/// Describes the first difference between two lists.
fn same<T: PartialEq + fmt::Debug>(found: &[T], expected: &[T], note: impl Into<String>) -> Outcome {
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None if found.len() == expected.len() => Ok(note.into()),
        None => Err(format!("found {} values, expected {}", found.len(), expected.len()).into()),
        Some(place) => {
            let wrong = found.iter().zip(expected).filter(|(found, expected)| found != expected).count();
            let (found, right) = (&found[place], &expected[place]);
            Err(format!(
                "{wrong} of {} values are wrong: value {place} is {found:x?}, expected {right:x?}",
                expected.len()
            )
            .into())
        }
    }
}

/// Known answers of Random123 (Salmon et al., SC 2011): counter, key and block.
const PHILOX: [[u32; 10]; 3] = [
    [0, 0, 0, 0, 0, 0, 0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
    [!0, !0, !0, !0, !0, !0, 0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
    [
        0x243f_6a88,
        0x85a3_08d3,
        0x1319_8a2e,
        0x0370_7344,
        0xa409_3822,
        0x299f_31d0,
        0xd16c_fe09,
        0x94fd_cceb,
        0x5001_e420,
        0x2412_6ea1,
    ],
];

async fn philox(gpu: &Gpu, product: &str) -> Outcome {
    let input: Vec<u32> = PHILOX.iter().flat_map(|case| case[..6].to_vec()).collect();
    let expected: Vec<u32> = PHILOX.iter().flat_map(|case| case[6..].to_vec()).collect();
    same(&probe(gpu, "philox", product, &input, expected.len(), 1).await?, &expected, "known answers")
}

async fn exponentials(gpu: &Gpu, product: &str) -> Outcome {
    let edges = (0..32).flat_map(|n| [(1_u32 << n) - 1, 1 << n, !(1 << n)]);
    let mut stream = Stream::new(1, 2, 3);
    let words: Vec<u32> = edges.chain(std::iter::repeat_with(|| stream.draw())).take(4096).collect();
    let halves = |word| crate::time::Ticks::new(exponential_unit(word)).to_words();
    let expected: Vec<u32> = words.iter().flat_map(|&word| halves(word)).collect();
    same(&probe(gpu, "exponentials", product, &words, expected.len(), 64).await?, &expected, "4096 words")
}

async fn atomics(gpu: &Gpu) -> Outcome {
    const GROUPS: u32 = 128;
    let count = 64 * GROUPS;
    let input = Buffer::storage_from(gpu, "self test: atomics", &[0, u32::MAX, 0, 0, 0, 0])?;
    let kernel = recipe("atomics", PRODUCTS[0]).kernel(gpu)?;
    let mut plan = Plan::new("self test");
    plan.dispatch(gpu, &kernel, GROUPS, &[("self_test_atomics", input.binding())])?;
    plan.submit(gpu)?;
    let found = input.read_async(gpu).await?;
    // The device decides how often an exchange fails; every reported success must be in the sum.
    let expected = [count / 2 * (count - 1), 0, count - 1, u32::MAX, 3 * found[5], found[5].min(count)];
    same(&found, &expected, format!("{count} invocations"))
}

async fn barriers(gpu: &Gpu) -> Outcome {
    const GROUPS: u32 = 64;
    let mut words: Vec<u32> = (0..64 * GROUPS).collect();
    for round in 0..8 {
        for group in words.chunks_mut(64) {
            group.reverse();
            group.iter_mut().for_each(|word| *word = word.wrapping_mul(3).wrapping_add(round));
        }
    }
    same(
        &probe(gpu, "barriers", PRODUCTS[0], &[0], words.len(), GROUPS).await?,
        &words,
        format!("{GROUPS} workgroups of 64"),
    )
}

async fn loops(gpu: &Gpu) -> Outcome {
    const LONG: u32 = 200_000;
    let found = probe(gpu, "loops", PRODUCTS[0], &[LONG, 1], 2, 1).await?;
    match found[..] {
        [0, LONG] => Ok(format!("{LONG} iterations run")),
        // The library detects such a driver and shortens its slices.
        [1, made] if made < LONG => {
            Ok(format!("the driver ends loops early, here after {made} iterations; the library detects it"))
        }
        _ => {
            Err(format!("expected {LONG} iterations, found {}; the check found {}", found[1], found[0])
                .into())
        }
    }
}

fn subgroups(gpu: &Gpu) -> Outcome {
    let Some(subgroups) = gpu.subgroups() else {
        return Ok("not used: baseline kernels run instead".into());
    };
    let fixed = Subgroups::fixed(gpu).map_or("of several sizes".into(), |size| format!("of {size}"));
    let layouts = subgroups.layouts();
    let how = if layouts.iter().all(|layout| layout.in_order) {
        "whole and in order"
    } else if layouts.iter().all(|layout| layout.whole) {
        "whole, numbered in another order"
    } else {
        "not whole everywhere: baseline kernels replace those that need whole subgroups"
    };
    Ok(format!("{fixed}, {how}"))
}

/// Unsorted words, more than a tile of any kernel.
fn words() -> Vec<u32> {
    let mut stream = Stream::new(4, 5, 6);
    (0..70_001).map(|_| stream.draw() >> 4).collect()
}

async fn reduce(gpu: &Gpu) -> Outcome {
    let words = words();
    let input = Buffer::storage_from(gpu, "self test: input", &words)?;
    let count = Count::host(gpu, words.len() as u64)?;
    let output = Buffer::<u64>::storage(gpu, "self test: sum", 1)?;
    Reduce::<u32, u64>::sum_wide(gpu, words.len() as u64)?
        .bind(gpu, &count, &input, &output, 0)?
        .submit(gpu)?;
    let expected: u64 = words.iter().map(|&word| u64::from(word)).sum();
    same(&output.read_async(gpu).await?, &[expected], format!("{} words", words.len()))
}

async fn scan(gpu: &Gpu) -> Outcome {
    let words = words();
    let input = Buffer::storage_from(gpu, "self test: input", &words)?;
    let count = Count::host(gpu, words.len() as u64)?;
    let output = Buffer::storage_from(gpu, "self test: sums", &vec![POISON; words.len()])?;
    Scan::new(gpu, words.len() as u64)?
        .bind(gpu, ScanKind::Exclusive, &count, &input, &output, None)?
        .submit(gpu)?;
    let sums = words.iter().scan(0_u32, |sum, &word| {
        let before = *sum;
        *sum = sum.wrapping_add(word);
        Some(before)
    });
    same(&output.read_async(gpu).await?, &sums.collect::<Vec<_>>(), format!("{} words", words.len()))
}

async fn sort(gpu: &Gpu) -> Outcome {
    let mut words = words();
    let keys = Buffer::storage_from(gpu, "self test: keys", &words)?;
    let numbers: Vec<u32> = (0..).take(words.len()).collect();
    let values = Buffer::storage_from(gpu, "self test: values", &numbers)?;
    let count = Count::host(gpu, words.len() as u64)?;
    RadixSort::<u32>::new(gpu, words.len() as u64)?.bind(gpu, &count, &keys, &values, 0..32)?.submit(gpu)?;
    let mut expected: Vec<(u32, u32)> = words.iter().copied().zip(numbers).collect();
    expected.sort_unstable();
    let found: Vec<(u32, u32)> =
        keys.read_async(gpu).await?.into_iter().zip(values.read_async(gpu).await?).collect();
    words.clear();
    same(&found, &expected, format!("{} pairs", expected.len()))
}

async fn phold(gpu: &Gpu, options: Options) -> Outcome {
    let resolution = Resolution::default();
    let model = Phold::new(300, 4, 0.1, 10.0, resolution)?;
    let model = if options.sync.needs_senders() { model.with_neighbours(4)? } else { model };
    let end = Until::time(resolution.ticks(60.0)?);
    let mut cpu = CpuSimulation::new(&model, options)?;
    let expected = cpu.run(end)?;
    let made = async || -> Result<_, SimulationError> {
        let mut simulation = Simulation::new_async(gpu, &model, options).await?;
        let progress = simulation.until(end).run_async().await?;
        Ok((progress.events, simulation.fingerprint_async().await?))
    };
    match made().await {
        Ok((events, fingerprint)) if (events, fingerprint) == (expected.events, cpu.fingerprint()) => {
            Ok(format!("{events} events, fingerprint {fingerprint}"))
        }
        Ok((events, fingerprint)) => Err(format!(
            "found {events} events and fingerprint {fingerprint}, expected {} and {}",
            expected.events,
            cpu.fingerprint()
        )
        .into()),
        // The engine detects the cut loop and reports it: a bound of the driver, not a wrong
        // result.
        Err(SimulationError::Fault(Fault { kind: FaultKind::LoopsCut, .. })) => {
            Ok("not available: the driver ends its loops early, and the engine detects it".into())
        }
        Err(error) => Err(error.into()),
    }
}

async fn replications(gpu: &Gpu, mapping: Mapping) -> Outcome {
    let model = Mm1::default();
    let params = model.params(0.8, 1.0, 200)?;
    let experiment = Experiment::new(Design::default(), 100, 1);
    let options = replication::Options::default().mapping(mapping);
    let found = Engine::new(gpu, model, options)?.experiment(&params, &experiment).run_async().await?;
    let expected = CpuEngine::new(model, options)?.run(&params, &experiment)?;
    same(&found.outputs, &expected.outputs, format!("fingerprint {:016x}", found.fingerprint))
}

async fn matching(gpu: &Gpu, algorithm: Algorithm) -> Outcome {
    let mut stream = Stream::new(7, 8, 9);
    let mut regions = || -> Vec<Region<u32, 2>> {
        let mut region = |_| {
            let low = [stream.below(10_000), stream.below(10_000)];
            Region::new(low, low.map(|low| low + 100))
        };
        (0..3000).map(&mut region).collect()
    };
    let (subscriptions, updates) = (regions(), regions());
    let expected = reference::find(&subscriptions, &updates);
    let matcher = Matcher::new(gpu);
    let s = matcher.upload_async("subscriptions", &subscriptions).await?;
    let u = matcher.upload_async("updates", &updates).await?;
    let mut found = matcher.find_async(&s, &u, algorithm).await?.read_async().await?;
    found.sort_unstable();
    same(&found, &expected, format!("{} pairs", expected.len()))
}
