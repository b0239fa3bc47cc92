//! What the module may link, for the test that translates it all.

use super::ranking::Block;
use super::{compact, reduce, scan, sort};
use crate::gpu::Recipe;

/// Every kernel that a primitive may make.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    let mut recipes = Vec::new();
    // Subgroups of at most 32 invocations, and of more, are ranked in two ways.
    for block in [Block::baseline(256), Block::subgroup(256, 32), Block::subgroup(256, 128)] {
        recipes.extend(reduce::all(&block));
        recipes.extend(scan::recipes(&block));
        recipes.extend(compact::recipes(&block));
    }
    recipes.extend(sort::all());
    recipes
}
