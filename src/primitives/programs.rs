//! The kernels that the module can link, for the test that translates them all.

use super::ranking::Block;
use super::{compact, reduce, scan, sort};
use crate::gpu::Recipe;

/// Every kernel that a primitive can create.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    let mut recipes = Vec::new();
    // Ranking differs between subgroups of at most 32 invocations and larger ones.
    for block in [Block::baseline(256), Block::subgroup(256, 32), Block::subgroup(256, 128)] {
        recipes.extend(reduce::all(&block));
        recipes.extend(scan::recipes(&block));
        recipes.extend(compact::recipes(&block));
    }
    recipes.extend(sort::all());
    recipes
}
