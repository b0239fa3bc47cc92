//! What the room may link, for the test that translates it all.

use super::tuning::{Block, Rank};
use super::{compact, reduce, scan, sort};
use crate::gpu::{GpuError, Variant};

/// Every program that a primitive may link.
#[doc(hidden)]
pub fn kernels() -> Result<Vec<Variant>, GpuError> {
    let mut recipes = Vec::new();
    // Subgroups of at most 32 threads, and of more, are ranked in two ways.
    for block in [Block::baseline(256), Block::subgroup(256, 32), Block::subgroup(256, 128)] {
        recipes.extend(reduce::all(&block));
        recipes.extend(scan::recipes(&block));
        recipes.extend(compact::recipes(&block));
    }
    for rank in [Rank::baseline(256), Rank::subgroup(256, 32, 3072), Rank::subgroup(256, 128, 3072)] {
        recipes.extend(sort::all(&rank));
    }
    recipes.iter().map(super::task::Recipe::variant).collect()
}
