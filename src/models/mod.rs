//! Models that ship with the library, each with its WGSL and its Rust twin. They use only what a user can.

mod phold;

pub use phold::{Phold, PholdError, PholdParams, PholdState};
