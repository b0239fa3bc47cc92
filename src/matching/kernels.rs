//! Shared by all algorithms of the module: kernels, their dispatches, and the primitives' scratch
//! memory.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytemuck::Pod;
use web_time::Instant;

use super::MatchingError;
use super::call_size::CallSizes;
use super::limits::{GROUP_SIZE, MAX_COUNT, UNIT};
use super::memory::{Pool, PooledBuffer, Slot};
use super::prepared::{GridRun, Ranking};
use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, Recipe};
use crate::primitives::{Count, RadixSort, Scan, ScanKind};

/// Maximum number of cached uniforms and counts: a call has some dozens.
const SMALL: usize = 64;

/// Words of a submission's output that the host reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadbackRange<'a> {
    pub(super) from: &'a wgpu::Buffer,
    pub(super) first: u64,
    pub(super) words: u64,
}

impl<'a> ReadbackRange<'a> {
    /// One number of 64 bits.
    pub(super) fn wide(from: &'a Buffer<u64>, index: u32) -> Self {
        Self { from: from.raw(), first: 2 * u64::from(index), words: 2 }
    }
}

/// The number that was read by [`ReadbackRange::wide`].
pub(super) fn wide(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

/// One device, with scratch memory that is cached between calls.
#[derive(Debug)]
pub(super) struct Kernels {
    gpu: Gpu,
    /// The last sort, with its maximum number of keys: its scratch memory serves all sorts that are
    /// not longer.
    sort: Mutex<Option<(u32, RadixSort<u32>)>>,
    scan: Mutex<Option<Scan>>,
    words: Pool<u32>,
    wide: Pool<u64>,
    /// Parameters of dispatches, and their buffers.
    uniforms: Mutex<Vec<(Vec<u8>, wgpu::Buffer)>>,
    counts: Mutex<Vec<(u32, Count)>>,
    /// The last matching by a grid.
    pub(super) grid: Slot<GridRun>,
    pub(super) took: CallSizes,
    /// The last count by ranks, without the source of its bounds.
    pub(super) ranking: Mutex<Option<Ranking>>,
    /// How fast pages of pairs are written, in units of `UNIT` tiles. Cached, because writing a
    /// page takes less time than waiting for its first part.
    pub(super) page_pace: Mutex<Pace>,
    /// The same for candidates under test.
    pub(super) test_pace: Mutex<Pace>,
}

impl Kernels {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let pace = || Mutex::new(Pace::new(u32::MAX));
        Self {
            gpu: gpu.clone(),
            sort: Mutex::default(),
            scan: Mutex::default(),
            words: Pool::default(),
            wide: Pool::default(),
            uniforms: Mutex::default(),
            counts: Mutex::default(),
            grid: Slot::default(),
            took: CallSizes::default(),
            ranking: Mutex::default(),
            page_pace: pace(),
            test_pace: pace(),
        }
    }

    pub(super) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Checks the outcome of work on the device. After a device error it drops all memory cached
    /// between calls. True if a retry may help: cached memory may be the missing memory, and the
    /// assumed sizes (`call_size.rs`) may exceed the need. Call it when the work has returned its
    /// pooled memory.
    pub(super) fn forget_if_failed<T>(&self, done: &Result<T, MatchingError>) -> bool {
        let Err(MatchingError::Gpu(error)) = done else { return false };
        // In browsers the error may come from a much earlier call, and everything created since may
        // be invalid.
        self.forget();
        match error {
            GpuError::TooLarge { .. } => true,
            // There it may be another caller's error, which would be lost.
            GpuError::OutOfMemory { .. } => !cfg!(target_arch = "wasm32"),
            _ => false,
        }
    }

    /// Frees all memory cached between calls.
    fn forget(&self) {
        fn clear<T: Default>(kept: &Mutex<T>) {
            drop(std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner)));
        }
        // The memory of the last matching returns to the pool.
        self.grid.clear();
        clear(&self.words);
        clear(&self.wide);
        clear(&self.uniforms);
        clear(&self.counts);
        clear(&self.sort);
        clear(&self.scan);
        clear(&self.ranking);
        self.took.clear();
    }

    /// Words for a call: see [`PooledBuffer`].
    pub(super) fn lend(&self, label: &str, len: u64) -> Result<PooledBuffer<u32>, MatchingError> {
        self.lend_from(&self.words, label, len)
    }

    /// The same with 64 bits each.
    pub(super) fn lend_wide(&self, label: &str, len: u64) -> Result<PooledBuffer<u64>, MatchingError> {
        self.lend_from(&self.wide, label, len)
    }

    fn lend_from<T: Pod>(
        &self,
        pool: &Pool<T>,
        label: &str,
        len: u64,
    ) -> Result<PooledBuffer<T>, MatchingError> {
        let lent = PooledBuffer::new(&self.gpu, pool, label, len);
        if self.forget_if_failed(&lent) { PooledBuffer::new(&self.gpu, pool, label, len) } else { lent }
    }

    pub(super) fn kernel(&self, recipe: &Recipe) -> Result<Kernel, MatchingError> {
        // SAFETY: the `// bounds:` paragraphs of shaders/matching/common.wgsl and of each file
        // argue that accesses stay within bounds.
        let kernel = unsafe { recipe.trusted(&self.gpu)? };
        Ok(kernel)
    }

    /// A uniform with this value. Similar calls use the same parameters, and creating a buffer
    /// costs more than a lookup.
    fn uniform<P: Pod>(&self, value: &P) -> Result<wgpu::Buffer, MatchingError> {
        let bytes = bytemuck::bytes_of(value);
        let kept = || self.uniforms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, buffer)) = again(&mut kept(), |(known, _)| known == bytes) {
            return Ok(buffer);
        }
        let buffer = Buffer::uniform(&self.gpu, "parameters", value)?.raw().clone();
        keep(&mut kept(), (bytes.to_vec(), buffer.clone()));
        Ok(buffer)
    }

    /// The number of elements of a primitive, cached likewise.
    fn count(&self, count: u32) -> Result<Count, MatchingError> {
        let kept = || self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = again(&mut kept(), |(known, _)| *known == count) {
            return Ok(known);
        }
        let made = Count::host(&self.gpu, count.into())?;
        keep(&mut kept(), (count, made.clone()));
        Ok(made)
    }

    /// Adds a dispatch of `workgroups` workgroups to a plan; `params` is the uniform `params`.
    pub(super) fn add<P: Pod>(
        &self,
        plan: &mut Plan,
        recipe: &Recipe,
        workgroups: u32,
        params: &P,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        self.add_with(plan, recipe, workgroups, &self.uniform(params)?, buffers)
    }

    /// The same with an invocation for each of `items`, and with parameters that rarely recur.
    pub(super) fn add_once<P: Pod>(
        &self,
        plan: &mut Plan,
        recipe: &Recipe,
        items: u32,
        params: &P,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        let params = Buffer::uniform(&self.gpu, "parameters", params)?;
        self.add_with(plan, recipe, items.div_ceil(GROUP_SIZE), params.raw(), buffers)
    }

    fn add_with(
        &self,
        plan: &mut Plan,
        recipe: &Recipe,
        workgroups: u32,
        params: &wgpu::Buffer,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        let mut bound = vec![("params", params.as_entire_binding())];
        bound.extend(buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
        Ok(plan.dispatch(&self.gpu, &self.kernel(recipe)?, workgroups, &bound)?)
    }

    /// The same with an invocation for each of `items`.
    pub(super) fn add_each<P: Pod>(
        &self,
        plan: &mut Plan,
        recipe: &Recipe,
        items: u32,
        params: &P,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        self.add(plan, recipe, items.div_ceil(GROUP_SIZE), params, buffers)
    }

    /// A sort of up to `count` keys.
    pub(super) fn sort(&self, count: u32) -> Result<RadixSort<u32>, MatchingError> {
        let mut kept = self.sort.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((most, sort)) if *most >= count => Ok(sort.clone()),
            _ => {
                // Frees the smaller sort's memory first.
                *kept = None;
                let sort = RadixSort::new(&self.gpu, count.into())?;
                *kept = Some((count, sort.clone()));
                Ok(sort)
            }
        }
    }

    /// Adds a sort of the first `count` of `keys`, and of `values` with them, by the lowest `bits`
    /// bits.
    pub(super) fn add_sort(
        &self,
        plan: &mut Plan,
        keys: &Buffer<u32>,
        values: &Buffer<u32>,
        count: u32,
        bits: u32,
    ) -> Result<(), MatchingError> {
        let count_of = self.count(count)?;
        plan.append(&self.sort(count)?.bind(&self.gpu, &count_of, keys, values, 0..bits)?);
        Ok(())
    }

    /// Adds exclusive 64-bit prefix sums of the first `count` of `lengths` to a plan, with the
    /// total at the end.
    pub(super) fn add_offsets(
        &self,
        plan: &mut Plan,
        lengths: &Buffer<u32>,
        count: u32,
    ) -> Result<PooledBuffer<u64>, MatchingError> {
        let gpu = &self.gpu;
        let offsets = self.lend_wide("offsets", u64::from(count) + 1)?;
        let scan = {
            let mut kept = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.is_none() {
                *kept = Some(Scan::new(gpu, MAX_COUNT)?);
            }
            kept.clone().expect("made above")
        };
        let total = Some((&*offsets, count));
        let count = self.count(count)?;
        plan.append(&scan.bind_wide(gpu, ScanKind::Exclusive, &count, lengths, &offsets, total)?);
        Ok(offsets)
    }

    /// Runs `plan`, which writes `count` lengths. Returns their exclusive 64-bit prefix sums, with
    /// the total at the end, and the total.
    pub(super) async fn offsets(
        &self,
        mut plan: Plan,
        lengths: &Buffer<u32>,
        count: u32,
    ) -> Result<(PooledBuffer<u64>, u64), MatchingError> {
        let offsets = self.add_offsets(&mut plan, lengths, count)?;
        let read = self.run(&[&plan], false, &[ReadbackRange::wide(&offsets, count)]).await?;
        Ok((offsets, wide(&read[0])))
    }

    /// Whether `tasks` tiles of candidates are tested in one submission, judged by past speed.
    pub(super) fn tests_at_once(&self, tasks: u32) -> bool {
        let pace = self.test_pace.lock().unwrap_or_else(PoisonError::into_inner);
        tasks <= pace.units().saturating_mul(UNIT)
    }

    /// [`Kernels::run`] for plans that test `tasks` tiles of candidates in one submission, together
    /// with other work. A short time says nothing about the tests, but a long one may be due to
    /// them.
    pub(super) async fn run_tests(
        &self,
        plans: &[&Plan],
        apart: bool,
        wanted: &[ReadbackRange<'_>],
        tasks: u32,
    ) -> Result<Vec<Vec<u32>>, MatchingError> {
        let start = Instant::now();
        let read = self.run(plans, apart, wanted).await?;
        self.tested_within(tasks, start.elapsed());
        Ok(read)
    }

    /// Records that `tasks` tiles of candidates were tested in one submission, in at most
    /// `elapsed`.
    fn tested_within(&self, tasks: u32, elapsed: Duration) {
        if tasks > 0 && elapsed > LONG {
            let mut pace = self.test_pace.lock().unwrap_or_else(PoisonError::into_inner);
            let before = pace.clone();
            pace.record(tasks.div_ceil(UNIT), elapsed);
            if pace.units() > before.units() {
                *pace = before;
            }
        }
    }

    /// Runs plans one after the other, and returns the wanted words of their output. All in one
    /// submission, because a wait takes longer than the work of small sets; slow plans are
    /// submitted `apart`.
    pub(super) async fn run(
        &self,
        plans: &[&Plan],
        apart: bool,
        wanted: &[ReadbackRange<'_>],
    ) -> Result<Vec<Vec<u32>>, MatchingError> {
        let gpu = &self.gpu;
        let mut encoder = gpu.encoder("matching");
        if apart {
            for plan in plans {
                plan.submit(gpu)?;
            }
        } else {
            // Dispatches of several plans share a pass.
            let mut all = Plan::new("matching");
            plans.iter().for_each(|plan| all.append(plan));
            all.record(&mut encoder);
        }
        let bytes = 4 * wanted.iter().map(|part| part.words).sum::<u64>();
        let download = Download::new(gpu, "sizes", bytes)?;
        let mut place = 0;
        for part in wanted {
            download.record_part(&mut encoder, part.from, 4 * part.first, (place, 4 * part.words));
            place += 4 * part.words;
        }
        let submission = gpu.submit(encoder)?;
        let read = download.finish(gpu, submission).await?;
        let mut words = bytemuck::pod_collect_to_vec::<u8, u32>(&read).into_iter();
        #[expect(clippy::cast_possible_truncation, reason = "a few words")]
        let parts = wanted.iter().map(|part| words.by_ref().take(part.words as usize).collect());
        Ok(parts.collect())
    }
}

/// Maximum regions or entries of both sides with plans in one submission: their sort takes some
/// milliseconds on most devices.
const TOGETHER: u64 = 1 << 22;

/// A longer submission with tests counts as too long. Eight times the intended duration of a
/// submission, because it has other work.
const LONG: Duration = Duration::from_millis(240);

/// Whether plans for these regions or entries of both sides are slow.
pub(super) fn apart(counts: [u32; 2]) -> bool {
    counts.map(u64::from).iter().sum::<u64>() > TOGETHER
}

/// A cached item, if there is one. The least recently used items are dropped first.
fn again<T: Clone>(kept: &mut Vec<T>, is_it: impl Fn(&T) -> bool) -> Option<T> {
    let place = kept.iter().position(is_it)?;
    let found = kept.remove(place);
    kept.push(found.clone());
    Some(found)
}

/// Caches one more small item, up to a limit.
fn keep<T>(kept: &mut Vec<T>, new: T) {
    if kept.len() == SMALL {
        kept.remove(0);
    }
    kept.push(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{Algorithm, Matcher, Region};

    #[test]
    fn tests_that_took_long_are_cut_the_next_time() {
        let kernels = Kernels::new(&Gpu::for_test());
        let mut pace = Pace::new(u32::MAX);
        pace.record(8, Duration::ZERO);
        *kernels.test_pace.lock().unwrap() = pace;
        let tasks = 64 * UNIT;
        // No tests, or fast ones.
        kernels.tested_within(0, Duration::from_secs(3));
        kernels.tested_within(UNIT, Duration::ZERO);
        assert!(kernels.tests_at_once(tasks) && !kernels.tests_at_once(tasks + 1));
        // 30 of 3,000 ms cover less than one of 64 units.
        kernels.tested_within(tasks, Duration::from_secs(3));
        assert!(kernels.tests_at_once(UNIT) && !kernels.tests_at_once(UNIT + 1));
    }

    #[test]
    fn nothing_is_kept_when_the_device_failed() {
        let matcher = Matcher::new(&Gpu::for_test());
        let line: Vec<_> = (0..600u32).map(|i| Region::new([i, 0], [i + 2, 1])).collect();
        let set = matcher.upload("line", &line).unwrap();
        let count = |algorithm| matcher.count(&set, &set, algorithm).unwrap();
        let algorithms = [Algorithm::Sort, Algorithm::Grid { cells: None }, Algorithm::IntervalTree];
        let before = algorithms.map(count);
        assert_eq!(before, [600 + 2 * 599; 3]);
        let kernels = matcher.kernels();
        let refused = GpuError::OutOfMemory { context: "a buffer".into(), message: "none left".into() };
        assert!(kernels.forget_if_failed::<()>(&Err(refused.into())));
        assert!(kernels.words.lock().unwrap().is_empty() && kernels.wide.lock().unwrap().is_empty());
        assert!(kernels.sort.lock().unwrap().is_none() && kernels.uniforms.lock().unwrap().is_empty());
        assert!(kernels.grid.take(|_| true, || Err(())).is_err());
        assert_eq!(algorithms.map(count), before);
        // Other errors are not device errors.
        let other = MatchingError::GridCells { cells: 0, dimensions: 2, limit: 2048 };
        assert!(!kernels.forget_if_failed::<()>(&Err(other)));
        assert!(!kernels.words.lock().unwrap().is_empty());
    }
}
