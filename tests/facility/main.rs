//! Queueing networks.

#[path = "../common/mod.rs"]
mod common;
mod fel;
