//! Helpers that integration tests share.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this module")]

pub mod counted;
pub mod like;
pub mod long;
pub mod models;
pub mod references;
pub mod replications;

use std::sync::Mutex;

use eventhorizon::gpu::Gpu;
use eventhorizon::queue::QueueDesign;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub use long::is_long;

/// The devices that the tests of a module share, each with the module's name, and the number of
/// tests that currently use each.
static GPUS: [Mutex<Option<(String, Gpu)>>; 2] = [const { Mutex::new(None) }; 2];
static TESTS: Mutex<[u32; 2]> = Mutex::new([0; 2]);

/// A test's use of one of these devices, until its thread ends.
struct Share(usize);

impl Share {
    fn new() -> Self {
        let mut tests = TESTS.lock().unwrap();
        let fewest = usize::from(tests[1] < tests[0]);
        tests[fewest] += 1;
        Self(fewest)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        TESTS.lock().unwrap()[self.0] -= 1;
    }
}

/// A device that the tests of a module share, always the same one in a thread. A missing adapter is
/// a failure, since skipped tests prove nothing.
///
/// There are two, because lavapipe compiles and runs all work of a device in one thread, so two
/// tests would wait for each other. The next module gets new ones there: a device caches its
/// kernels, 13 GB for all modules. On hardware all modules share them: NVIDIA's driver (580.159)
/// opens only some dozens.
pub fn gpu() -> Gpu {
    thread_local!(static MINE: Share = Share::new());
    let thread = std::thread::current();
    // Tests run in threads with their names; threads that they spawn have none.
    let module = thread.name().map(|name| name.split_once("::").map_or("", |(module, _)| module));
    MINE.with(|share| {
        let mut shared = GPUS[share.0].lock().unwrap();
        match &*shared {
            Some((of, gpu)) if is_hardware(gpu) || module.is_none_or(|module| module == of) => gpu.clone(),
            _ => {
                if let Some((_, gpu)) = shared.take() {
                    let queue = gpu.queue().clone();
                    drop(gpu);
                    queue.submit([]); // lavapipe frees what was compiled with the next submission
                }
                let gpu = own_gpu();
                *shared = Some((module.unwrap_or_default().to_owned(), gpu.clone()));
                gpu
            }
        }
    })
}

pub fn is_hardware(gpu: &Gpu) -> bool {
    gpu.info().device_type != wgpu::DeviceType::Cpu
}

/// A device for one test that may damage it.
pub fn own_gpu() -> Gpu {
    let _ = env_logger::builder().is_test(true).try_init();
    let gpu = Gpu::new().unwrap_or_else(|error| panic!("these tests need an adapter: {error}"));
    // Never destroyed: NVIDIA's driver (580.159) can deadlock when a device is destroyed while
    // other threads end.
    std::mem::forget(gpu.device().clone());
    gpu
}

/// The contents of outputs before a dispatch, so that a missing write is visible.
pub const POISON: u32 = 0xdead_beef;

/// The first `few` of these values; in long tests, all.
pub fn few<T>(few: usize, values: &[T]) -> &[T] {
    &values[..if is_long() { values.len() } else { few.min(values.len()) }]
}

/// Each queue design that the library chooses from and each of some values, at least once; in long
/// tests, all pairs.
pub fn each_queue<T: Copy>(values: &[T]) -> Vec<(QueueDesign, T)> {
    let queues = QueueDesign::PRODUCTION;
    if is_long() {
        let each = |queue| values.iter().map(move |&value| (queue, value));
        return queues.into_iter().flat_map(each).collect();
    }
    let pairs = queues.into_iter().cycle().zip(values.iter().copied().cycle());
    pairs.take(queues.len().max(values.len())).collect()
}

/// Those that are queues of their own: all except the calendar, which overflows differently.
pub fn queues() -> impl Iterator<Item = QueueDesign> {
    QueueDesign::PRODUCTION.into_iter().filter(|design| !design.is_calendar())
}

/// The designs of the paper, which need not support every run.
pub fn paper_queues() -> impl Iterator<Item = QueueDesign> {
    QueueDesign::ALL.into_iter().filter(|design| design.row().paper)
}

/// Runs a test with random cases: the same ones each time, so that drivers with a kernel cache find
/// them. EVENTHORIZON_LONG runs 40 times as many, with a new seed each time.
pub fn random_cases(cases: u32) -> TestRunner {
    let config = |cases| Config { cases, failure_persistence: None, ..Config::default() };
    match std::env::var_os("EVENTHORIZON_LONG") {
        None => TestRunner::new_with_rng(config(cases), TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
        Some(_) => TestRunner::new(config(40 * cases)),
    }
}
