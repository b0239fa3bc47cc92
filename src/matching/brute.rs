//! Brute-force matching.

use super::limits::{GROUP_SIZE, MAX_TASKS};
use super::set::Columns;
use super::work::Work;
use super::{MatchingError, programs};

shared! {
    "matching/brute.wgsl":
    const TILES: u32;
}
/// Updates of one task.
const SPAN: u32 = TILES * GROUP_SIZE;

/// Tests every pair.
pub(super) fn work(subscriptions: &Columns, updates: &Columns) -> Result<Work, MatchingError> {
    let needed =
        u64::from(subscriptions.count.div_ceil(GROUP_SIZE)) * u64::from(updates.count.div_ceil(SPAN));
    let tasks =
        u32::try_from(needed).ok().filter(|tasks| *tasks <= MAX_TASKS).ok_or(MatchingError::TooMuchWork {
            what: "tasks of brute-force matching",
            needed,
            limit: MAX_TASKS.into(),
        })?;
    let dims = subscriptions.dims;
    Ok(Work {
        count: programs::brute_count(dims),
        write: programs::brute_write(dims),
        inputs: vec![
            ("subscriptions", subscriptions.keys.raw().clone()),
            ("updates", updates.keys.raw().clone()),
        ],
        sides: [subscriptions.count, updates.count],
        ranges: 0,
        tasks,
        // 2^26 tests: 7 ms at 10^10 tests per second, assumed for the slowest GPU.
        unit: 64,
    })
}
