//! Discrete-event simulation on any GPU, through wgpu and WGSL.

pub mod gpu;
pub mod random;
pub mod replication;
#[allow(dead_code, reason = "used by the rooms that follow")]
mod shaders;
pub mod time;
