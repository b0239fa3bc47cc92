//! Brute-force matching.

use super::MatchingError;
use super::kernels::{Kernels, SIZE};
use super::programs;
use super::set::Columns;
use super::work::Work;

/// Updates that a task takes: `SPAN` in brute.wgsl.
const SPAN: u32 = 16 * SIZE;

/// Tests every pair.
pub(super) fn work(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
) -> Result<Work, MatchingError> {
    let needed = u64::from(subscriptions.count.div_ceil(SIZE)) * u64::from(updates.count.div_ceil(SPAN));
    let tasks = u32::try_from(needed).map_err(|_| MatchingError::TooMuchWork {
        what: "tasks of brute-force matching",
        needed,
        limit: u32::MAX.into(),
    })?;
    let dims = [("DIMS", subscriptions.dims)];
    Ok(Work {
        count: kernels.get(&programs::BRUTE_COUNT, &dims)?,
        write: kernels.get(&programs::BRUTE_PAIRS, &dims)?,
        inputs: vec![
            ("subscriptions", subscriptions.keys.raw().clone()),
            ("updates", updates.keys.raw().clone()),
        ],
        sides: [subscriptions.count, updates.count],
        extra: 0,
        tasks,
        // 2^20 tests each.
        unit: 64,
    })
}
