//! What integration tests share.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this module")]

pub mod counted;
pub mod like;
pub mod models;
pub mod replications;

use std::sync::OnceLock;

use eventhorizon::gpu::Gpu;
use eventhorizon::queue::QueueDesign;

/// The device that the tests of a file share. A missing adapter is a failure: tests that were skipped prove nothing.
pub fn gpu() -> Gpu {
    static GPU: OnceLock<Gpu> = OnceLock::new();
    GPU.get_or_init(own_gpu).clone()
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

/// Every queue design with values of what else a test tries. The heap and CB-SEQ meet all of them, the others one each,
/// in turn, so that a design does not make every test longer.
pub fn each_queue<T: Copy>(values: &[T]) -> Vec<(QueueDesign, T)> {
    let plain = |queue: &QueueDesign| matches!(queue, QueueDesign::Heap | QueueDesign::CbSeq(_));
    let (all, others): (Vec<_>, Vec<_>) = QueueDesign::ALL.into_iter().partition(plain);
    let all = all.into_iter().flat_map(|queue| values.iter().map(move |&value| (queue, value)));
    all.chain(others.into_iter().zip(values.iter().copied().cycle())).collect()
}

/// The designs that are queues of their own: all but the calendar, which fills up elsewhere.
pub fn queues() -> impl Iterator<Item = QueueDesign> {
    QueueDesign::ALL.into_iter().filter(|design| design.source().is_some())
}
