//! The module's kernel recipes: the files that are linked for each entry point.

use super::region::Kind;
use crate::gpu::Recipe;
use crate::shaders;

/// Entry point `entry` of `shaders/matching/FILE.wgsl`.
fn recipe(name: &'static str, path: &'static str, entry: &'static str) -> Recipe {
    Recipe::new(name, entry, [shaders::file(path)])
}

macro_rules! recipes {
    ($($(#[$doc:meta])* $function:ident($($argument:ident: $ty:ty => $constant:literal),*) = $file:ident::$entry:ident;)*) => {
        $($(#[$doc])* pub(super) fn $function($($argument: $ty),*) -> Recipe {
            let name = concat!("matching/", stringify!($file));
            recipe(name, concat!("matching/", stringify!($file), ".wgsl"), stringify!($entry))
                $(.with([($constant, f64::from(u32::from($argument)))]))*
        })*
    };
}

// function(values of overrides) = file::entry point
recipes! {
    import_rows(dims: u32 => "DIMS", kind: Kind => "KIND") = import::import_rows;
    sample(dims: u32 => "DIMS") = sample::sample;
    number_ids() = order::number_ids;
    gather() = order::gather;
    brute_count(dims: u32 => "DIMS") = brute::count_pairs;
    brute_write(dims: u32 => "DIMS") = brute::write_pairs;
    copy_bounds() = sweep_count::copy_bounds;
    count_ranks(ends: u32 => "ENDS") = sweep_count::count_ranks;
    total_ranks() = sweep_count::total_ranks;
    sweep_ranges(dims: u32 => "DIMS") = ranges::sweep_ranges;
    grid_ranges(dims: u32 => "DIMS") = ranges::grid_ranges;
    find_firsts() = firsts::find_firsts;
    candidates_count(dims: u32 => "DIMS", homes: bool => "HOMES") = candidates::count_matches;
    candidates_write(dims: u32 => "DIMS", homes: bool => "HOMES") = candidates::write_matches;
    candidates_write_all(dims: u32 => "DIMS") = candidates::write_all;
    tree_level() = tree_level::build_level;
    tree_count(dims: u32 => "DIMS") = tree_query::count_walks;
    tree_write(dims: u32 => "DIMS") = tree_query::write_walks;
    grid_bounds(dims: u32 => "DIMS") = grid_bounds::find_bounds;
    grid_lay(dims: u32 => "DIMS", kind: Kind => "KIND") = grid_lay::lay_grid;
    grid_cells(dims: u32 => "DIMS", kind: Kind => "KIND") = grid_cells::find_cells;
    list_entries(dims: u32 => "DIMS") = grid_entries::list_entries;
    gather_entries(dims: u32 => "DIMS") = grid_entries::gather_entries;
    index_edges(dims: u32 => "DIMS") = index_build::pick_edges;
    index_codes(dims: u32 => "DIMS") = index_build::code_regions;
    index_leaves(dims: u32 => "DIMS") = index_build::gather_leaves;
    index_nodes(dims: u32 => "DIMS") = index_build::build_nodes;
    moves_mark(dims: u32 => "DIMS") = moves_apply::mark;
    moves_settle(dims: u32 => "DIMS") = moves_apply::settle;
    moves_exchange(dims: u32 => "DIMS") = moves_exchange::exchange;
    moves_take_back(dims: u32 => "DIMS") = moves_exchange::take_back;
    key_pairs() = differences::key_pairs;
    find_differences() = differences::find_differences;
    put_differences() = differences::put_differences;
    moves_queries(dims: u32 => "DIMS") = moves_search::list_queries;
    moves_descend(dims: u32 => "DIMS", each: u32 => "EACH") = moves_search::descend;
    moves_changes(dims: u32 => "DIMS", each: u32 => "EACH") = moves_search::find_changes;
}

/// Every kernel that the module can build, with the smallest and the largest values of its
/// overrides.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    let mut all = vec![number_ids(), gather(), copy_bounds(), total_ranks(), find_firsts(), tree_level()];
    all.extend([key_pairs(), find_differences(), put_differences()]);
    all.extend([1, 8].map(count_ranks));
    for (dims, kind, homes, each) in [(1, Kind::U32, false, 1), (4, Kind::F32, true, 16)] {
        all.extend([
            import_rows(dims, kind),
            sample(dims),
            brute_count(dims),
            brute_write(dims),
            sweep_ranges(dims),
            grid_ranges(dims),
            candidates_count(dims, homes),
            candidates_write(dims, homes),
            candidates_write_all(dims),
            tree_count(dims),
            tree_write(dims),
            grid_bounds(dims),
            grid_lay(dims, kind),
            grid_cells(dims, kind),
            list_entries(dims),
            gather_entries(dims),
            index_edges(dims),
            index_codes(dims),
            index_leaves(dims),
            index_nodes(dims),
            moves_exchange(dims),
            moves_take_back(dims),
            moves_mark(dims),
            moves_settle(dims),
            moves_queries(dims),
            moves_descend(dims, each),
            moves_changes(dims, each),
        ]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No entry point is missing in the tests that translate all kernels.
    #[test]
    fn every_entry_point_is_listed() {
        let all = kernels();
        for recipe in &all {
            let program = recipe.link().unwrap();
            for point in &program.module().entry_points {
                let listed = |other: &Recipe| {
                    other.entry() == point.name && other.link().unwrap().name() == program.name()
                };
                assert!(all.iter().any(listed), "{}::{}", program.name(), point.name);
            }
        }
    }
}
