//! Discrete-event simulation on any GPU, through wgpu and WGSL.

// A truncated or wrapped index or count is a wrong simulation.
#![warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
// A panic is a bug of the library's, and says what was thought impossible.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
// A library reports; it does not print.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod gpu;
pub mod matching;
pub mod models;
pub mod pdes;
pub mod primitives;
pub mod queue;
pub mod random;
pub mod replication;
mod shaders;
pub mod time;
