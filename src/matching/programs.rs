//! The room's programs: which files are linked for which kernel.

use crate::gpu::{GpuError, Program, Variant};
use crate::shaders;

/// A kernel before it is built: files of `shaders/matching/` and an entry point. Its name is unique.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) name: &'static str,
    pub(super) entry: &'static str,
    files: &'static [&'static str],
}

impl Recipe {
    const fn new(name: &'static str, entry: &'static str, files: &'static [&'static str]) -> Self {
        Self { name, entry, files }
    }

    pub(super) fn link(&self) -> Result<Program, GpuError> {
        let sources: Vec<_> =
            self.files.iter().map(|file| shaders::file(&format!("matching/{file}.wgsl"))).collect();
        Ok(Program::link(self.name, &sources)?)
    }
}

macro_rules! recipes {
    ($($constant:ident = $name:literal: $entry:ident in $($file:ident)+;)*) => {
        $(pub(super) const $constant: Recipe =
            Recipe::new($name, stringify!($entry), &[$(stringify!($file)),+]);)*
        const ALL: &[Recipe] = &[$($constant),*];
    };
}

recipes! {
    IMPORT = "import": import_rows in import;
    SAMPLE = "sample": sample in sample;
    IOTA = "iota": iota in iota;
    GATHER = "gather": gather in gather;
    SCATTER = "scatter": scatter in scatter;
    BRUTE_COUNT = "brute, count": brute in brute sink_count;
    BRUTE_PAIRS = "brute, pairs": brute in brute sink_pairs;
    SWEEP_RANGES = "sweep ranges": ranges in sweep_ranges;
    SWEEP_BOUNDS = "sweep bounds": copy_bounds in sweep_bounds;
    RANKS = "ranks": count_ranks in sweep_count;
    TOTAL_OF_RANKS = "total of ranks": total_ranks in sweep_total;
    FIRSTS = "firsts": find_firsts in firsts;
    EXPAND = "expand": expand in expand;
    FILTER_COUNT = "filter, count": filter_candidates in filter accept_overlap sink_count;
    FILTER_PAIRS = "filter, pairs": filter_candidates in filter accept_overlap sink_pairs;
    HOME_COUNT = "filter home, count": filter_candidates in filter accept_home sink_count;
    HOME_PAIRS = "filter home, pairs": filter_candidates in filter accept_home sink_pairs;
    TREE_LEVEL = "tree level": build_level in tree_level;
    TREE_COUNT = "tree, count": query in tree_query tree_count;
    TREE_PAIRS = "tree, pairs": query in tree_query tree_pairs;
    GRID_BOUNDS = "grid bounds": find_bounds in grid_bounds;
    GRID_CELLS = "grid cells": find_cells in grid_cells;
    GRID_ENTRIES = "grid entries": list_entries in grid_entries;
    GRID_GATHER = "grid gather": gather_entries in grid_gather;
    GRID_RANGES = "grid ranges": ranges in grid_ranges;
    CHANGES_COUNT = "changes, count": find_changes in changes sink_count;
    CHANGES_PAIRS = "changes, pairs": find_changes in changes sink_pairs;
}

/// Every program that the room may link, with the least and the greatest values of its overrides.
#[doc(hidden)]
pub fn kernels() -> Result<Vec<Variant>, GpuError> {
    let ranges = [("DIMS", [1.0, 4.0]), ("KIND", [0.0, 2.0]), ("SIDE", [0.0, 1.0])];
    let mut kernels = Vec::new();
    for recipe in ALL {
        for end in [0, 1] {
            let program = recipe.link()?;
            let names: Vec<_> =
                program.module().overrides.iter().filter_map(|(_, found)| found.name.clone()).collect();
            let values = ranges.iter().filter(|(name, _)| names.iter().any(|found| found == name));
            let values: Vec<_> = values.map(|(name, values)| (*name, values[end])).collect();
            let alone = values.is_empty();
            kernels.push((program, values));
            if alone {
                break;
            }
        }
    }
    Ok(kernels)
}
