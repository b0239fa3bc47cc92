//! Sort-based matching with sets of active regions (Marzolla and D'Angelo, Algorithms 6 and 7) as
//! kernels: the paper's algorithm on a device, beside the library's ranks. The kernels are in
//! `sets.wgsl`; the reference implementation is `sbm.rs`.

use eventhorizon::gpu::{Buffer, Gpu, GpuError, Kernel, Recipe};
use eventhorizon::matching::Region;
use eventhorizon::primitives::{Count, PrimitiveError, RadixSort};

/// The invocations of a workgroup, as in `sets.wgsl`.
const GROUP_SIZE: u32 = 64;

/// The most segments: enough for a device, and as few as its memory allows.
const MOST_SEGMENTS: u64 = 1024;

/// The most bytes of the two sets of all segments.
const MOST_BYTES: u64 = 1 << 31;

/// The WGSL `struct Params`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Params {
    ends: u32,
    segments: u32,
    length: u32,
    words: u32,
    first_update: u32,
}

/// The kernels, built once.
pub(super) struct SetMatcher {
    gpu: Gpu,
    delta: Kernel,
    combine: Kernel,
    scan: Kernel,
}

/// What a count found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The pairs of each segment.
    pub(super) pairs: Vec<u64>,
    /// The bytes of all buffers.
    pub(super) bytes: u64,
}

impl SetMatcher {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let kernel =
            |entry| Recipe::new("SBM with sets", entry, [eventhorizon::wgsl!("sets.wgsl")]).kernel(gpu);
        Ok(Self {
            gpu: gpu.clone(),
            delta: kernel("delta")?,
            combine: kernel("combine")?,
            scan: kernel("scan")?,
        })
    }

    /// The number of segments for a number of regions.
    pub(super) fn segments(&self, regions: usize) -> u32 {
        let room = MOST_BYTES / 2;
        let row = 4 * (regions as u64 / 32 + 2);
        let fit = room.min(self.gpu.max_buffer_bytes()) / row;
        u32::try_from(fit.clamp(1, MOST_SEGMENTS)).expect("at most 1,024")
    }

    /// Counts the overlapping pairs. `None` if the driver ended a loop early.
    pub(super) fn count(
        &self,
        subscriptions: &[Region<u32, 1>],
        updates: &[Region<u32, 1>],
        segments: u32,
    ) -> Result<Option<Found>, PrimitiveError> {
        let gpu = &self.gpu;
        let first_update = u32::try_from(subscriptions.len().next_multiple_of(32)).unwrap_or(u32::MAX);
        let words = first_update / 32 + u32::try_from(updates.len().div_ceil(32)).unwrap_or(u32::MAX);
        let numbered = || {
            let all = (0..).zip(subscriptions).chain((first_update..).zip(updates));
            all.filter(|(_, region)| !region.is_empty())
        };
        // At one place upper ends come first, because intervals are half open; the sort is stable.
        let (keys, values): (Vec<u32>, Vec<u32>) = numbered()
            .map(|(number, region)| (region.hi[0], 2 * number))
            .chain(numbered().map(|(number, region)| (region.lo[0], 2 * number + 1)))
            .unzip();
        let count = keys.len() as u64;
        let ends = u32::try_from(count).unwrap_or(u32::MAX);
        if ends == 0 {
            return Ok(Some(Found { pairs: Vec::new(), bytes: 0 }));
        }
        let length = ends.div_ceil(segments.max(1));
        let segments = ends.div_ceil(length);
        let params = Params { ends, segments, length, words, first_update };
        let params = Buffer::uniform(gpu, "sets: params", &params)?;
        let keys = Buffer::storage_from(gpu, "sets: places of ends", &keys)?;
        let values = Buffer::storage_from(gpu, "sets: ends", &values)?;
        let bits = u64::from(segments) * u64::from(words);
        let added = Buffer::<u32>::storage(gpu, "sets: added", bits)?;
        let removed = Buffer::<u32>::storage(gpu, "sets: removed", bits)?;
        let nets = Buffer::<[i32; 2]>::storage(gpu, "sets: nets", segments.into())?;
        let found = Buffer::<[u32; 4]>::storage(gpu, "sets: found", segments.into())?;
        let buffers = [
            ("params", params.binding()),
            ("ends", values.binding()),
            ("added", added.binding()),
            ("removed", removed.binding()),
            ("nets", nets.binding()),
            ("found", found.binding()),
        ];
        let sort = RadixSort::<u32>::new(gpu, count)?;
        let mut plan = sort.bind(gpu, &Count::host(gpu, count)?, &keys, &values, 0..32)?;
        for (kernel, invocations) in [(&self.delta, segments), (&self.combine, words), (&self.scan, segments)]
        {
            plan.dispatch(gpu, kernel, invocations.div_ceil(GROUP_SIZE), &buffers)?;
        }
        gpu.wait(plan.submit(gpu)?)?;
        let found = found.read(gpu)?;
        if found.iter().any(|row| row[2] > 0) {
            return Ok(None);
        }
        let pairs = found.iter().map(|&[low, high, ..]| u64::from(high) << 32 | u64::from(low)).collect();
        // The sort has as many keys and values again.
        let bytes = 16 * count + 8 * bits + 24 * u64::from(segments);
        Ok(Some(Found { pairs, bytes }))
    }
}

#[cfg(test)]
mod tests {
    use eventhorizon::matching::reference;
    use eventhorizon::random::Stream;

    use super::super::sbm;
    use super::*;

    #[test]
    fn segments_have_the_pairs_of_the_reference() {
        let gpu = Gpu::new().unwrap_or_else(|error| panic!("{error}"));
        let matcher = SetMatcher::new(&gpu).unwrap();
        let mut stream = Stream::new(7, 0, 0);
        let mut regions = |count| -> Vec<_> {
            let mut region = || {
                let lo = stream.below(500);
                // Some are empty.
                Region::new([lo], [lo + stream.below(60)])
            };
            (0..count).map(|_| region()).collect()
        };
        for [subscriptions, updates] in [[31, 33], [32, 32], [1, 300], [0, 5], [0, 0], [65, 64]] {
            let (subscriptions, updates) = (regions(subscriptions), regions(updates));
            // Around the words of a set and the invocations of a workgroup.
            for segments in [1, 2, 31, 32, 33, 63, 64, 65, 129, 2000] {
                let found =
                    matcher.count(&subscriptions, &updates, segments).unwrap().expect("no loop is cut");
                let expected = sbm::counts(&subscriptions, &updates, segments as usize);
                assert_eq!(found.pairs, expected, "{segments} segments");
                assert_eq!(expected.iter().sum::<u64>(), reference::count(&subscriptions, &updates));
            }
        }
    }
}
