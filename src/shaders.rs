//! The WGSL files of the library: the folder `shaders/`, by path.

use crate::gpu::Source;

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        /// Path within `shaders/`, what errors call the file, and its text.
        const FILES: &[(&str, &str, &str)] =
            &[$(($path, concat!("shaders/", $path), include_str!(concat!("../shaders/", $path)))),*];
    };
}

files! {
    "facility/event_list.wgsl",
    "facility/fel_arrive.wgsl",
    "facility/fel_depart.wgsl",
    "facility/network.wgsl",
    "facility/network/laws.wgsl",
    "facility/network/lines.wgsl",
    "facility/network/records.wgsl",
    "facility/network/sharing.wgsl",
    "facility/network/streams.wgsl",
    "facility/network/tables.wgsl",
    "facility/network/ways.wgsl",
    "facility/network_plain.wgsl",
    "facility/network_simple.wgsl",
    "facility/network_special.wgsl",
    "gpu/loops.wgsl",
    "gpu/reduce.wgsl",
    "gpu/reduce_subgroups.wgsl",
    "gpu/search.wgsl",
    "gpu/subgroups.wgsl",
    "gpu/wide.wgsl",
    "hybrid/batched.wgsl",
    "hybrid/multithreaded.wgsl",
    "hybrid/work.wgsl",
    "matching/below.wgsl",
    "matching/boxes.wgsl",
    "matching/brute.wgsl",
    "matching/candidates.wgsl",
    "matching/common.wgsl",
    "matching/differences.wgsl",
    "matching/firsts.wgsl",
    "matching/grid.wgsl",
    "matching/grid_bounds.wgsl",
    "matching/grid_cells.wgsl",
    "matching/grid_entries.wgsl",
    "matching/grid_lay.wgsl",
    "matching/grid_params.wgsl",
    "matching/grid_place.wgsl",
    "matching/import.wgsl",
    "matching/index.wgsl",
    "matching/index_build.wgsl",
    "matching/moves.wgsl",
    "matching/moves_apply.wgsl",
    "matching/moves_exchange.wgsl",
    "matching/moves_search.wgsl",
    "matching/order.wgsl",
    "matching/ranges.wgsl",
    "matching/sample.wgsl",
    "matching/sweep_count.wgsl",
    "matching/tasks.wgsl",
    "matching/tree_level.wgsl",
    "matching/tree_query.wgsl",
    "models/call_centre.wgsl",
    "models/epidemic.wgsl",
    "models/fifo_torus.wgsl",
    "models/mm1.wgsl",
    "models/mm1_team.wgsl",
    "models/mmck.wgsl",
    "models/phold.wgsl",
    "models/phold_ring.wgsl",
    "models/pi.wgsl",
    "models/priorities.wgsl",
    "models/torus.wgsl",
    "models/walk.wgsl",
    "models/workshop.wgsl",
    "pdes/answer_default.wgsl",
    "pdes/answers.wgsl",
    "pdes/answers_none.wgsl",
    "pdes/arrive.wgsl",
    "pdes/bounds.wgsl",
    "pdes/calendar.wgsl",
    "pdes/calendar_first.wgsl",
    "pdes/calendar_held.wgsl",
    "pdes/calendar_pick.wgsl",
    "pdes/calendar_send.wgsl",
    "pdes/calendar_sort.wgsl",
    "pdes/calendar_sort_all.wgsl",
    "pdes/calendar_sort_bins.wgsl",
    "pdes/calendar_start.wgsl",
    "pdes/calendar_step.wgsl",
    "pdes/calendar_sync.wgsl",
    "pdes/calendar_window.wgsl",
    "pdes/cell_for_all.wgsl",
    "pdes/cells.wgsl",
    "pdes/deliver_mail.wgsl",
    "pdes/digest.wgsl",
    "pdes/digest_memory.wgsl",
    "pdes/dry_earliest.wgsl",
    "pdes/dry_run.wgsl",
    "pdes/engine.wgsl",
    "pdes/execute.wgsl",
    "pdes/execute_team.wgsl",
    "pdes/fingerprint.wgsl",
    "pdes/held_apart_none.wgsl",
    "pdes/horizon.wgsl",
    "pdes/horizon_look.wgsl",
    "pdes/lift.wgsl",
    "pdes/lifting.wgsl",
    "pdes/line.wgsl",
    "pdes/lower.wgsl",
    "pdes/lp_memory.wgsl",
    "pdes/lp_memory_dry.wgsl",
    "pdes/mailboxes.wgsl",
    "pdes/mailboxes_of_replica.wgsl",
    "pdes/mails.wgsl",
    "pdes/model.wgsl",
    "pdes/near.wgsl",
    "pdes/near_held.wgsl",
    "pdes/near_horizon.wgsl",
    "pdes/near_pool.wgsl",
    "pdes/near_slice.wgsl",
    "pdes/near_start.wgsl",
    "pdes/neighbours.wgsl",
    "pdes/neighbours_relax.wgsl",
    "pdes/next_default.wgsl",
    "pdes/outbox.wgsl",
    "pdes/outbox_none.wgsl",
    "pdes/output.wgsl",
    "pdes/pack.wgsl",
    "pdes/params_none.wgsl",
    "pdes/params_of_replica.wgsl",
    "pdes/partials.wgsl",
    "pdes/payload_2.wgsl",
    "pdes/payload_6.wgsl",
    "pdes/queue_windows.wgsl",
    "pdes/queues.wgsl",
    "pdes/queues_held.wgsl",
    "pdes/queues_start.wgsl",
    "pdes/reach_for_all.wgsl",
    "pdes/replica_digest.wgsl",
    "pdes/run.wgsl",
    "pdes/run_of_replica.wgsl",
    "pdes/same_for_all.wgsl",
    "pdes/scheduled_lp.wgsl",
    "pdes/settle.wgsl",
    "pdes/start.wgsl",
    "pdes/store_many.wgsl",
    "pdes/store_one.wgsl",
    "pdes/team.wgsl",
    "pdes/team_open.wgsl",
    "pdes/team_settle.wgsl",
    "pdes/thread.wgsl",
    "pdes/thread_held.wgsl",
    "pdes/thread_keys.wgsl",
    "pdes/thread_keys_near.wgsl",
    "pdes/thread_queue.wgsl",
    "pdes/thread_rounds.wgsl",
    "pdes/thread_rounds_none.wgsl",
    "pdes/thread_start.wgsl",
    "pdes/totals.wgsl",
    "pdes/window.wgsl",
    "pdes/window_team.wgsl",
    "pdes/yawns.wgsl",
    "primitives/acc_wide.wgsl",
    "primitives/acc_word.wgsl",
    "primitives/block_baseline.wgsl",
    "primitives/block_subgroup.wgsl",
    "primitives/digits.wgsl",
    "primitives/downsweep.wgsl",
    "primitives/histogram.wgsl",
    "primitives/key_wide.wgsl",
    "primitives/key_word.wgsl",
    "primitives/keys.wgsl",
    "primitives/params.wgsl",
    "primitives/pick.wgsl",
    "primitives/rank_baseline.wgsl",
    "primitives/rank_order.wgsl",
    "primitives/rank_subgroup.wgsl",
    "primitives/reduce.wgsl",
    "primitives/scatter.wgsl",
    "primitives/spine.wgsl",
    "queue/cb_par.wgsl",
    "queue/cb_seq.wgsl",
    "queue/cb_seq_sp.wgsl",
    "queue/circular.wgsl",
    "queue/events_4.wgsl",
    "queue/events_8.wgsl",
    "queue/heap.wgsl",
    "queue/parallel_heap.wgsl",
    "queue/parallel_heap_gather.wgsl",
    "queue/parallel_heap_levels.wgsl",
    "queue/splay.wgsl",
    "random/distributions.wgsl",
    "random/exponential_table.wgsl",
    "random/mix.wgsl",
    "random/mul_wide.wgsl",
    "random/mul_wide_int64.wgsl",
    "random/no_tables.wgsl",
    "random/philox.wgsl",
    "random/stream.wgsl",
    "replication/job.wgsl",
    "replication/team.wgsl",
    "replication/team_subgroups.wgsl",
    "replication/team_workgroup.wgsl",
    "replication/thread.wgsl",
    "replication/warp.wgsl",
    "replication/warp_subgroups.wgsl",
    "search/all_pairs.wgsl",
    "search/bands.wgsl",
    "search/fronts.wgsl",
    "search/fronts_graph.wgsl",
    "search/fronts_grid.wgsl",
    "search/graph.wgsl",
    "search/grid.wgsl",
    "search/guess_none.wgsl",
    "search/guess_straight.wgsl",
    "search/items.wgsl",
    "search/relax.wgsl",
    "search/slots.wgsl",
    "search/team.wgsl",
    "search/terrain_bytes.wgsl",
    "search/terrain_one.wgsl",
    "search/thread.wgsl",
    "search/walk.wgsl",
    "search/walk_graph.wgsl",
    "search/walk_grid.wgsl",
    "self_test/probes.wgsl",
    "statistics/histogram.wgsl",
    "statistics/tally.wgsl",
    "statistics/time_average.wgsl",
    "time/ticks.wgsl",
}

/// Names and texts of all files.
#[cfg(test)]
pub(crate) fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().map(|&(_, name, text)| (name, text))
}

/// What a file says that a constant is: `const NAME = 16u;` or `const NAME = 1u << 4u;`. For the tests of those that Rust has, too.
#[cfg(test)]
pub(crate) fn constant(path: &str, name: &str) -> Option<u32> {
    let (_, _, text) = FILES.iter().find(|(found, ..)| *found == path)?;
    let (_, rest) = text.split_once(&format!("\nconst {name} = "))?;
    let word = |text: &str| text.trim().strip_suffix('u')?.parse::<u32>().ok();
    let (value, _) = rest.split_once(';')?;
    match value.split_once("<<") {
        Some((value, bits)) => Some(word(value)? << word(bits)?),
        None => word(value),
    }
}

/// Parts of the file of a model, which have no more rights than it has.
const OF_MODELS: &str = "facility/network";

/// The file at `path`, relative to `shaders/`; errors in it are reported as `shaders/PATH`.
pub(crate) fn find(path: &str) -> Option<Source> {
    let (_, name, text) = FILES.iter().find(|(found, ..)| *found == path)?;
    Some(if path.starts_with(OF_MODELS) { Source::new(*name, *text) } else { Source::library(name, text) })
}

/// The file at `path`, which the library itself names: absent only if the list above is out of date.
pub(crate) fn file(path: &str) -> Source {
    find(path).unwrap_or_else(|| panic!("shaders/{path} is not in the list of src/shaders.rs"))
}

/// The files that a model's file may import.
const IMPORTABLE: [&str; 6] = [
    "gpu/wide.wgsl",
    "pdes/line.wgsl",
    "random/exponential_table.wgsl",
    "statistics/histogram.wgsl",
    "statistics/tally.wgsl",
    "statistics/time_average.wgsl",
];

/// The one of them that declares this function or struct.
pub(crate) fn importable(name: &str) -> Option<&'static str> {
    let declares =
        |text: &str| text.contains(&format!("fn {name}(")) || text.contains(&format!("struct {name} {{"));
    IMPORTABLE.into_iter().find(|path| FILES.iter().any(|(file, _, text)| file == path && declares(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_list_is_the_folder() {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        let mut found = Vec::new();
        walk(&root, &root, &mut found);
        let mut listed: Vec<_> = FILES.iter().map(|(name, ..)| (*name).to_owned()).collect();
        found.sort();
        listed.sort();
        assert_eq!(listed, found);
    }
}
