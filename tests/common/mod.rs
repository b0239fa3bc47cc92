//! What integration tests share.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this module")]

pub mod counted;
pub mod like;
pub mod models;
pub mod replications;

use std::sync::{Mutex, OnceLock};

use eventhorizon::gpu::Gpu;
use eventhorizon::queue::QueueDesign;

/// The devices that the tests of a file share, and how many tests have each at present.
static GPUS: [OnceLock<Gpu>; 2] = [const { OnceLock::new() }; 2];
static TESTS: Mutex<[u32; 2]> = Mutex::new([0; 2]);

/// A test's part in one of these devices, until its thread ends.
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

/// A device that the tests of a file share, always the same one in a thread. A missing adapter is a failure: tests that were skipped prove nothing.
///
/// There are two, because lavapipe compiles and runs all that a device is given in one thread: two tests would wait for each other.
pub fn gpu() -> Gpu {
    thread_local!(static MINE: Share = Share::new());
    MINE.with(|share| GPUS[share.0].get_or_init(own_gpu).clone())
}

/// A device of a test's own, for tests that do harm to it.
pub fn own_gpu() -> Gpu {
    let _ = env_logger::builder().is_test(true).try_init();
    let gpu = Gpu::new().unwrap_or_else(|error| panic!("these tests need an adapter: {error}"));
    // Never dropped: NVIDIA's driver (580.159) can deadlock when a device is destroyed while other threads end.
    std::mem::forget(gpu.clone());
    gpu
}

/// What outputs are filled with before a dispatch, so that an element nobody wrote is seen.
pub const POISON: u32 = 0xdead_beef;

/// Every queue design that the library chooses from with every value of what else a test tries.
pub fn each_queue<T: Copy>(values: &[T]) -> Vec<(QueueDesign, T)> {
    let each = |queue| values.iter().map(move |&value| (queue, value));
    QueueDesign::PRODUCTION.into_iter().flat_map(each).collect()
}

/// Those of them that are queues of their own: all but the calendar, which fills up elsewhere.
pub fn queues() -> impl Iterator<Item = QueueDesign> {
    QueueDesign::PRODUCTION.into_iter().filter(|design| !design.is_calendar())
}

/// The designs of the paper. They need not meet all that a run may be.
pub fn paper_queues() -> impl Iterator<Item = QueueDesign> {
    QueueDesign::ALL.into_iter().filter(|design| design.row().paper)
}
