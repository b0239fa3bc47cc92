//! What `scripts/test --long` checks beyond the usual.

#![allow(unreachable_pub, reason = "a module of several programs")]

/// Whether all combinations run, for hours. Otherwise, each value is in some: llvmpipe takes most of
/// the time to compile kernels, and each combination has its own.
pub fn is_long() -> bool {
    std::env::var_os("EVENTHORIZON_LONG").is_some()
}
