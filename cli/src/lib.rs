//! The commands of the program `eventhorizon`, and what all programs of the project share.
//!
//! Without the feature `pictures`, which is on by default, only those commands are here that draw
//! nothing.

pub mod commands;
pub mod shared;
