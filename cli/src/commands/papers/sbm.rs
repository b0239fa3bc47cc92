//! Parallel sort-based matching with sets of active regions (Marzolla and D'Angelo, Algorithms 6
//! and 7): the reference with which this library's ranks and searches are compared.
//!
//! The sorted endpoints are split into segments. Each segment finds which regions it adds to and
//! removes from the active ones (Algorithm 7); a sequential pass combines these in order; then each
//! segment is scanned from the regions that are active before it (Algorithm 6). Sets are ordered
//! trees, as in the paper's program (`std::set`).

use std::collections::BTreeSet;

use eventhorizon::matching::Region;
use rayon::prelude::*;

/// The end of an interval. At one place, upper ends come first, because intervals are half open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Endpoint {
    at: u32,
    lower: bool,
    update: bool,
    number: u32,
}

/// The active subscriptions and updates, or those that a segment adds or removes.
type Sets = [BTreeSet<u32>; 2];

/// The number of overlapping pairs, found in `segments` segments on the threads of the current
/// pool.
pub(super) fn count(subscriptions: &[Region<u32, 1>], updates: &[Region<u32, 1>], segments: usize) -> u64 {
    counts(subscriptions, updates, segments).into_iter().sum()
}

/// The pairs that each segment finds.
pub(super) fn counts(
    subscriptions: &[Region<u32, 1>],
    updates: &[Region<u32, 1>],
    segments: usize,
) -> Vec<u64> {
    let count = |sum: &mut u64, _: &Endpoint, others: &BTreeSet<u32>| *sum += others.len() as u64;
    scan(subscriptions, updates, segments, count)
}

/// Calls `report` with the upper end of each region and the regions of the other kind that are then
/// active; returns a result of each segment.
fn scan<R: Default + Send>(
    subscriptions: &[Region<u32, 1>],
    updates: &[Region<u32, 1>],
    segments: usize,
    report: impl Fn(&mut R, &Endpoint, &BTreeSet<u32>) + Sync,
) -> Vec<R> {
    let ends = |regions: &[Region<u32, 1>], update| -> Vec<Endpoint> {
        let filled = (0..).zip(regions).filter(|(_, region)| !region.is_empty());
        let both = |(number, region): (u32, &Region<u32, 1>)| {
            [(region.lo[0], true), (region.hi[0], false)].map(|(at, lower)| Endpoint {
                at,
                lower,
                update,
                number,
            })
        };
        filled.flat_map(both).collect()
    };
    let (mut endpoints, of_updates) = rayon::join(|| ends(subscriptions, false), || ends(updates, true));
    endpoints.extend(of_updates);
    endpoints.par_sort_unstable();
    let length = endpoints.len().div_ceil(segments.max(1)).max(1);
    // Algorithm 7, lines 1 to 17.
    let deltas: Vec<[Sets; 2]> = endpoints
        .par_chunks(length)
        .map(|segment| {
            let [mut added, mut removed] = [Sets::default(), Sets::default()];
            for &Endpoint { lower, update, number, .. } in segment {
                let kind = usize::from(update);
                if lower {
                    added[kind].insert(number);
                } else if !added[kind].remove(&number) {
                    removed[kind].insert(number);
                }
            }
            [added, removed]
        })
        .collect();
    // The rest of Algorithm 7, by one thread.
    let mut active = Sets::default();
    let mut before = Vec::with_capacity(deltas.len());
    for [added, removed] in deltas {
        before.push(active.clone());
        for (kind, (added, removed)) in added.into_iter().zip(removed).enumerate() {
            active[kind].extend(added);
            active[kind].retain(|number| !removed.contains(number));
        }
    }
    // Algorithm 6.
    let segments = endpoints.par_chunks(length).zip(before);
    let scanned = segments.map(|(segment, mut active)| {
        let mut found = R::default();
        for endpoint in segment {
            let kind = usize::from(endpoint.update);
            if endpoint.lower {
                active[kind].insert(endpoint.number);
            } else {
                active[kind].remove(&endpoint.number);
                report(&mut found, endpoint, &active[1 - kind]);
            }
        }
        found
    });
    scanned.collect()
}

#[cfg(test)]
mod tests {
    use eventhorizon::matching::reference;
    use eventhorizon::random::Stream;

    use super::*;

    #[test]
    fn pairs_are_those_of_the_reference_for_any_number_of_segments() {
        let mut stream = Stream::new(7, 0, 0);
        let mut regions = |count| -> Vec<_> {
            let mut region = || {
                let lo = stream.below(50);
                // Some are empty.
                Region::new([lo], [lo + stream.below(9)])
            };
            (0..count).map(|_| region()).collect()
        };
        for [subscriptions, updates] in [[40, 60], [1, 30], [0, 5]] {
            let (subscriptions, updates) = (regions(subscriptions), regions(updates));
            let mut expected = reference::find(&subscriptions, &updates);
            expected.sort_unstable();
            for segments in [1, 2, 3, 7, 500] {
                let report =
                    |pairs: &mut Vec<[u32; 2]>, end: &Endpoint, others: &BTreeSet<u32>| {
                        pairs.extend(others.iter().map(|&other| {
                            if end.update { [other, end.number] } else { [end.number, other] }
                        }));
                    };
                let mut found = scan(&subscriptions, &updates, segments, report).concat();
                found.sort_unstable();
                assert_eq!(found, expected, "{segments} segments");
                assert_eq!(count(&subscriptions, &updates, segments), expected.len() as u64);
            }
        }
    }
}
