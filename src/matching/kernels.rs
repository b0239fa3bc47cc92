//! The room's kernels, built when they are first needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::MatchingError;
use super::programs::Recipe;
use crate::gpu::{Buffer, Gpu, Kernel};
use crate::primitives::{Count, RadixSort, Scan, ScanKind};

/// Threads of a workgroup, in every kernel of the room.
pub(super) const SIZE: u32 = 256;

/// What the primitives take at the most.
pub(super) const MAX_COUNT: u64 = (1 << 31) - 1;

/// A kernel by name and constants.
type Key = (&'static str, Vec<(&'static str, u32)>);

/// Kernels that were built so far, for one device.
#[derive(Debug)]
pub(super) struct Kernels {
    gpu: Gpu,
    built: Mutex<HashMap<Key, Arc<Kernel>>>,
    /// The last sort, for as many keys as `0` says: its scratch memory serves all that are not longer.
    sort: Mutex<Option<(u32, RadixSort<u32>)>>,
    scan: Mutex<Option<Scan>>,
}

impl Kernels {
    pub(super) fn new(gpu: &Gpu) -> Self {
        Self { gpu: gpu.clone(), built: Mutex::default(), sort: Mutex::default(), scan: Mutex::default() }
    }

    pub(super) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// A kernel, with values for its overrides.
    pub(super) fn get(
        &self,
        recipe: &Recipe,
        constants: &[(&'static str, u32)],
    ) -> Result<Arc<Kernel>, MatchingError> {
        let key = (recipe.name, constants.to_vec());
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = built.get(&key) {
            return Ok(Arc::clone(kernel));
        }
        let program = recipe.link()?;
        let values: Vec<_> = constants.iter().map(|&(name, value)| (name, f64::from(value))).collect();
        // SAFETY: no file of the room holds a user's WGSL. Each guards its indices by counts from the host that are
        // taken from the buffers' lengths, every loop has a bound, and nothing is divided by but constants.
        let kernel = Arc::new(unsafe { Kernel::trusted(self.gpu(), &program, recipe.entry, &values)? });
        built.insert(key, Arc::clone(&kernel));
        Ok(kernel)
    }

    /// A sort of up to `count` keys.
    pub(super) fn sort(&self, count: u32) -> Result<RadixSort<u32>, MatchingError> {
        let mut kept = self.sort.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((most, sort)) if *most >= count => Ok(sort.clone()),
            _ => {
                // The smaller one's memory is given back first.
                *kept = None;
                let sort = RadixSort::new(&self.gpu, count.into())?;
                *kept = Some((count, sort.clone()));
                Ok(sort)
            }
        }
    }

    /// The exclusive 64-bit prefix sums of `count` lengths, with their sum at the end, and that sum.
    pub(super) fn offsets(
        &self,
        lengths: &Buffer<u32>,
        count: u32,
    ) -> Result<(Buffer<u64>, u64), MatchingError> {
        let gpu = &self.gpu;
        let offsets = Buffer::<u64>::storage(gpu, "offsets", u64::from(count) + 1)?;
        let scan = {
            let mut kept = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.is_none() {
                *kept = Some(Scan::new(gpu, MAX_COUNT)?);
            }
            kept.clone().expect("made above")
        };
        let total = Some((&offsets, count));
        let count = Count::host(gpu, count.into())?;
        let task = scan.bind_wide(gpu, ScanKind::Exclusive, &count, lengths, &offsets, total)?;
        let mut encoder = gpu.encoder("offsets");
        task.record(&mut encoder);
        gpu.submit(encoder)?;
        let total = pollster::block_on(offsets.read_range(gpu, offsets.len() - 1, 1))?[0];
        Ok((offsets, total))
    }

    /// Submits one dispatch with a thread for each of `threads`.
    pub(super) fn run(
        &self,
        kernel: &Kernel,
        threads: u32,
        params: &[u32],
        buffers: &[(&'static str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        let params = Self::params(&self.gpu, params)?;
        let mut bound = vec![("params", params.binding())];
        bound.extend(buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
        let bindings = kernel.bind(&self.gpu, &bound)?;
        let mut encoder = self.gpu.encoder(kernel.name());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            kernel.dispatch(&mut pass, &bindings, threads.div_ceil(SIZE));
        }
        self.gpu.submit(encoder)?;
        Ok(())
    }

    /// A uniform buffer of these words, padded to what a uniform struct may need.
    pub(super) fn params(gpu: &Gpu, words: &[u32]) -> Result<Buffer<[u32; 8]>, MatchingError> {
        let mut padded = [0; 8];
        padded[..words.len()].copy_from_slice(words);
        Ok(Buffer::uniform(gpu, "parameters", &padded)?)
    }
}
