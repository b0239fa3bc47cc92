//! What integration tests share.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this module")]

pub mod models;

use eventhorizon::gpu::Gpu;

/// The adapter that the tests run on. A missing one is a failure: tests that were skipped prove nothing.
pub fn gpu() -> Gpu {
    let _ = env_logger::builder().is_test(true).try_init();
    Gpu::new().unwrap_or_else(|error| panic!("these tests need an adapter: {error}"))
}

/// What outputs are filled with before a dispatch, so that an element nobody wrote is seen.
pub const POISON: u32 = 0xdead_beef;
