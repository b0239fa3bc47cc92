//! Sort-based matching: regions ordered by their lower bounds, overlaps as ranges of the other
//! side's order.

use super::call_size::CallSize;
use super::kernels::{self, Kernels, wide};
use super::prepared::{Filter, Origin, Ranges};
use super::ranges::{Scratch, order};
use super::sample_decision::SampleDecision;
use super::set::Columns;
use super::source::Source;
use super::work::Memory;
use super::{MatchingError, filter};
use crate::gpu::Plan;

/// Plans that sort both sides and find the ranges of a sweep, with their scratch memory.
fn sweep(
    kernels: &Kernels,
    [subscriptions, updates]: [&Columns; 2],
    dim: u32,
) -> Result<(Vec<Plan>, Ranges, [Scratch; 2]), MatchingError> {
    let (first, ordered, scratch) = order(kernels, subscriptions, dim)?;
    let (second, others, more) = order(kernels, updates, dim)?;
    let mut finding = Plan::new("ranges of a sweep");
    let origin = Origin::Sweep { dim };
    let ranges = Ranges::new(kernels, &mut finding, [ordered, others], subscriptions.dims, origin)?;
    Ok((vec![first, second, finding], ranges, [scratch, more]))
}

/// Matches by sorting: in one dimension the ranges themselves, in more the candidates in ranges
/// that pass the test. `None` if `look` decides on another source.
pub(super) async fn matches(
    kernels: &Kernels,
    sides: [&Columns; 2],
    dim: u32,
    look: &mut SampleDecision,
    room: &mut CallSize,
) -> Result<Option<(u64, Source)>, MatchingError> {
    let (plans, ranges, scratch) = sweep(kernels, sides, dim)?;
    let (origin, several) = (Origin::Sweep { dim }, sides[0].dims > 1);
    let filter = match several && kernels.tests_at_once(room.tasks) {
        true => Some(Filter::new(kernels, &ranges, origin, room.tasks, true)?),
        false => None,
    };
    let looked = look.part();
    let mut wanted: Vec<_> = looked.iter().map(|(_, wanted)| *wanted).collect();
    wanted.push(ranges.wanted());
    wanted.extend(filter.as_ref().map(Filter::wanted));
    let mut all: Vec<_> = looked.iter().map(|(plan, _)| *plan).chain(&plans).collect();
    all.extend(filter.iter().flat_map(Filter::plans));
    let looked = looked.is_some();
    let apart = kernels::apart(sides.map(|side| side.count));
    let tested = filter.as_ref().map_or(0, |_| room.tasks);
    let mut read = kernels.run_tests(&all, apart, &wanted, tested).await?.into_iter();
    drop(scratch);
    if looked && !read.next().is_none_or(|hits| look.reported(&hits)) {
        return Ok(None);
    }
    let candidates = read.next().map_or(0, |words| wide(&words));
    if !several {
        return Ok(Some((candidates, Source::Ranges(ranges))));
    }
    let done = filter.zip(read.next().map(|words| wide(&words)));
    let counted = filter::count(kernels, &ranges, origin, candidates, done, room).await?;
    let source = counted.source(&ranges);
    let (total, placed) = filter::found(source, Memory::Sweep(Box::new((ranges, counted.filter))));
    Ok(Some((total, Source::PlacedWork(placed))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Buffer, Gpu};
    use crate::matching::work::Window;
    use crate::matching::{Matcher, Region};

    #[test]
    fn a_page_that_is_written_in_slices_is_whole() {
        let gpu = Gpu::for_test();
        let matcher = Matcher::new(&gpu);
        let set = matcher.upload("identical", &[Region::new([3u32], [5]); 150]).unwrap().columns;
        let kernels = matcher.kernels();
        let (plans, ranges, _scratch) = sweep(kernels, [&set, &set], 0).unwrap();
        for plan in &plans {
            plan.submit(&gpu).unwrap();
        }
        // 22,500 pairs are 11 tiles: start with a slice of one.
        let window = Window { first: 10, len: 22_490 };
        let pairs = Buffer::storage_from(&gpu, "pairs", &vec![[u32::MAX; 2]; 22_490]).unwrap();
        pollster::block_on(ranges.write_in_units(matcher.kernels(), window, &pairs, 1)).unwrap();
        let pairs = pairs.read(&gpu).unwrap();
        assert!(pairs.iter().all(|[s, u]| *s < 150 && *u < 150));
        assert_eq!(pairs.iter().collect::<std::collections::HashSet<_>>().len(), 22_490);
    }
}
