//! Discrete-event simulation on any GPU, through wgpu and WGSL.

pub mod gpu;
pub mod models;
pub mod random;
pub mod replication;
mod shaders;
pub mod time;
