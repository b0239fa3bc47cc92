//! The commands of the program `eventhorizon`, and what all commands share.
//!
//! Without the features `all` and `pictures`, which are on by default, there are `phold` and
//! `mrip_mm1` alone.

pub mod commands;
#[cfg(any(feature = "all", feature = "pictures"))]
pub mod formats;
pub mod shared;
