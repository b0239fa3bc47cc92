//! Discrete-event simulation on any GPU, through wgpu and WGSL.

pub mod random;
pub mod time;
