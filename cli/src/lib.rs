//! The commands of the program `eventhorizon`, and what all commands share.
//!
//! Without the feature `pictures`, which is on by default, commands that draw are missing.

pub mod commands;
pub mod shared;
