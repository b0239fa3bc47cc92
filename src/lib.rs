//! Discrete-event simulation on any GPU, through wgpu and WGSL.

#![warn(clippy::cast_possible_truncation)] // a truncated index or count is a wrong simulation

pub mod gpu;
pub mod matching;
pub mod models;
pub mod pdes;
pub mod primitives;
pub mod queue;
pub mod random;
mod shaders;
pub mod time;
