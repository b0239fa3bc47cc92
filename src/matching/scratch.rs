//! A step of moving regions by matching from scratch. If very many regions move far, that takes
//! less time than two lookups of each.
//!
//! The sorted pairs of the last step are stored on the device. The pairs of this step are found and
//! sorted; pairs in only one of the lists are the changes.

use super::changes::Changes;
use super::kernels::{Kernels, ReadbackRange};
use super::memory::PooledBuffer;
use super::set::Columns;
use super::{Algorithm, Matcher, Matches, MatchingError, programs};
use crate::gpu::{Buffer, Download, GpuError, Plan};
use crate::primitives::{Count, RadixSort, Status};

/// Maximum length of a list: some 80 bytes for each pair, with all related memory.
pub(super) const MOST: u64 = 1 << 24;

/// Maximum number of changes that are read together with their number; the rest is read later.
const MOST_AT_ONCE: u32 = 1 << 22;

shared! {
    "matching/differences.wgsl":
    struct DifferenceParams {
        now: u32,
        old: u32,
    }
}

/// The overlapping pairs of one step and the next, in order.
#[derive(Debug)]
pub(super) struct PairLists {
    /// Capacity in pairs.
    room: u32,
    pairs: Buffer<[u32; 2]>,
    keys: [Buffer<u64>; 2],
    sorts: [Plan; 2],
    /// The number of pairs to sort.
    count: Buffer<u32>,
    /// The index of the last step's list; `len` is its length, if known.
    current: usize,
    len: Option<u32>,
    /// Changes that are read together with their number: somewhat more than the last step had.
    expected: u32,
    /// Maximum pairs in a list.
    most: u64,
    /// Bits of the ids of each side.
    bits: [u32; 2],
}

impl PairLists {
    /// Lists of up to `most` pairs of these sets.
    pub(super) fn new(kernels: &Kernels, sides: [&Columns; 2], most: u64) -> Result<Self, MatchingError> {
        // Both lists together, and one word more, are in one binding.
        let most = most.min((kernels.gpu().max_buffer_bytes() / size_of::<u64>() as u64 - 1) / 2);
        Self::with_room(kernels, 1, sides.map(|side| u32::BITS - side.count.leading_zeros()), most)
    }

    fn with_room(kernels: &Kernels, room: u32, bits: [u32; 2], most: u64) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let list = |label| Buffer::<u64>::storage(gpu, label, room.into());
        let keys = [list("pairs in order")?, list("pairs in order, others")?];
        let count = Buffer::storage(gpu, "number of pairs", 1)?;
        let sort = RadixSort::<u64>::new(gpu, room.into())?;
        let counted = Count::device(&count, 0, &Status::new(gpu)?)?;
        // Updates are the low word.
        let sorted = |keys| -> Result<Plan, MatchingError> {
            let mut plan = sort.bind_keys(gpu, &counted, keys, 0..bits[1].max(1))?;
            plan.append(&sort.bind_keys(gpu, &counted, keys, 32..32 + bits[0].max(1))?);
            Ok(plan)
        };
        let sorts = [sorted(&keys[0])?, sorted(&keys[1])?];
        Ok(Self {
            room,
            pairs: Buffer::storage(gpu, "pairs", room.into())?,
            keys,
            sorts,
            count,
            current: 0,
            len: None,
            expected: 1 << 10,
            most,
            bits,
        })
    }

    /// The sets have changed without an update of the lists.
    pub(super) fn forget(&mut self) {
        self.len = None;
    }

    /// Ensures capacity for `needed` pairs; the list of the last step stays.
    fn reserve(&mut self, kernels: &Kernels, needed: u32) -> Result<(), MatchingError> {
        if needed <= self.room {
            return Ok(());
        }
        let most = u32::try_from(self.most).unwrap_or(u32::MAX);
        let room = needed.next_power_of_two().min(most).max(needed);
        let mut larger = Self::with_room(kernels, room, self.bits, self.most)?;
        let mut plan = Plan::new("pairs in order");
        let bytes = 8 * u64::from(self.len.unwrap_or(0));
        if bytes > 0 {
            plan.copy(
                "pairs",
                (self.keys[self.current].raw(), 0),
                (larger.keys[self.current].raw(), 0),
                bytes,
            );
            plan.submit(kernels.gpu())?;
        }
        (larger.current, larger.len, larger.expected) = (self.current, self.len, self.expected);
        *self = larger;
        Ok(())
    }

    /// Puts these pairs into a list, sorted. `None` if there are too many.
    async fn list(
        &mut self,
        kernels: &Kernels,
        matches: &Matches,
        other: bool,
    ) -> Result<Option<(u32, Plan)>, MatchingError> {
        let Some(len) = u32::try_from(matches.total()).ok().filter(|len| u64::from(*len) <= self.most) else {
            return Ok(None);
        };
        self.reserve(kernels, len)?;
        matches.write(&self.pairs, len).await?;
        self.count.write(kernels.gpu(), 0, &[len])?;
        let list = self.current ^ usize::from(other);
        let mut plan = Plan::new("pairs in order");
        kernels.add_each(
            &mut plan,
            &programs::key_pairs(),
            len.max(1),
            &DifferenceParams { now: len, old: 0 },
            &[("pairs", self.pairs.raw()), ("keys", self.keys[list].raw())],
        )?;
        plan.append(&self.sorts[list]);
        Ok(Some((len, plan)))
    }

    /// Stores the pairs before a step, if they are not known. False if there are too many.
    async fn begin(&mut self, kernels: &Kernels, matches: &Matches) -> Result<bool, MatchingError> {
        let Some((len, plan)) = self.list(kernels, matches, false).await? else { return Ok(false) };
        plan.submit(kernels.gpu())?;
        self.len = Some(len);
        Ok(true)
    }

    pub(super) fn is_known(&self) -> bool {
        self.len.is_some()
    }

    /// The changes, from the pairs after the step, and one additional word. `None` if there are too
    /// many pairs.
    pub(super) async fn advance(
        &mut self,
        kernels: &Kernels,
        matches: &Matches,
        besides: ReadbackRange<'_>,
    ) -> Result<Option<(Changes, u32)>, MatchingError> {
        let Some((now, mut plan)) = self.list(kernels, matches, true).await? else { return Ok(None) };
        let gpu = kernels.gpu();
        let old = self.len.take().expect("the pairs before the step are known");
        // At most 2^25 together: MOST.
        let all = (now + old).max(1);
        let params = DifferenceParams { now, old };
        let flags = kernels.lend("differences", all.into())?;
        let [now_keys, old_keys] = [&self.keys[1 - self.current], &self.keys[self.current]];
        let lists = [("now", now_keys.raw()), ("old", old_keys.raw())];
        let flagged = [&lists[..], &[("flags", flags.raw())]].concat();
        // If both are empty, no invocation writes a flag, and arbitrary values must not count.
        plan.clear("differences", flags.raw());
        kernels.add_each(&mut plan, &programs::find_differences(), all, &params, &flagged)?;
        let places = kernels.add_offsets(&mut plan, &flags, all)?;
        let changes: PooledBuffer<u64> = kernels.lend_wide("changes", all.into())?;
        let put = [("marked", flags.raw()), ("places", places.raw()), ("changes", changes.raw())];
        kernels.add_each(
            &mut plan,
            &programs::put_differences(),
            all,
            &params,
            &[&lists[..], &put[..]].concat(),
        )?;
        let at_once = self.expected.min(all);
        let mut encoder = gpu.encoder("what changed");
        plan.record(&mut encoder);
        let head = 16;
        let bytes = (head + 8 * u64::from(at_once)).next_power_of_two();
        let download = Download::new(gpu, "changes", bytes)?;
        download.record_part(&mut encoder, places.raw(), 8 * u64::from(all), (0, 8));
        download.record_part(&mut encoder, besides.from, 4 * besides.first, (8, 4));
        download.record_part(&mut encoder, changes.raw(), 0, (head, 8 * u64::from(at_once)));
        let submission = gpu.submit(encoder)?;
        let take = |read: &[u8]| {
            let head: Vec<u32> = bytemuck::pod_collect_to_vec(&read[..12]);
            let found = (head[0] <= at_once).then(|| Changes::new(&read[16..][..8 * head[0] as usize]));
            (head[0], head[2], found)
        };
        let (count, besides, found) = download.finish_with(gpu, submission, take).await?;
        let found = match found {
            Some(found) => found,
            None => Changes::new(bytemuck::cast_slice(&changes.read_range(gpu, 0, count.into()).await?)),
        };
        self.expected = (count + count / 8).clamp(1 << 10, MOST_AT_ONCE);
        self.current = 1 - self.current;
        self.len = Some(now);
        Ok(Some((found, besides)))
    }
}

/// The lists, with the pairs of these sets in one of them. `None` if there are too many.
pub(super) async fn known<'l>(
    matcher: &Matcher,
    lists: &'l mut Option<PairLists>,
    [subscriptions, updates]: &[Columns; 2],
    most: u64,
) -> Result<Option<&'l mut PairLists>, MatchingError> {
    let kernels = matcher.kernels();
    let lists = match lists {
        Some(lists) => lists,
        none => none.insert(PairLists::new(kernels, [subscriptions, updates], most)?),
    };
    if !lists.is_known() {
        let matches = matcher.matches(subscriptions, updates, Algorithm::Auto).await?;
        if !lists.begin(kernels, &matches).await? {
            return Ok(None);
        }
    }
    Ok(Some(lists))
}

/// The value of an attempt; `None` if it needs too much memory and a cheaper method remains.
pub(super) fn possible<V>(outcome: Result<V, MatchingError>) -> Result<Option<V>, MatchingError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error @ MatchingError::Gpu(GpuError::Lost { .. } | GpuError::Timeout { .. })) => Err(error),
        Err(error) => {
            log::debug!("not from scratch: {error}");
            Ok(None)
        }
    }
}

/// Sets as they were with these numbers of non-empty regions.
pub(super) fn with_filled(sides: [&Columns; 2], filled: [u32; 2]) -> [Columns; 2] {
    let [subscriptions, updates] = sides;
    [Columns { filled: filled[0], ..subscriptions.clone() }, Columns { filled: filled[1], ..updates.clone() }]
}
