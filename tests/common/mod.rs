//! What integration tests share.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this module")]

pub mod counted;
pub mod models;
pub mod replications;

use std::sync::OnceLock;

use eventhorizon::gpu::Gpu;

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
