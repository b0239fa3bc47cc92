//! Discrete-event simulation on any GPU, through wgpu and WGSL.

pub mod gpu;
pub mod models;
pub mod pdes;
pub mod queue;
pub mod random;
mod shaders;
pub mod time;
