//! The room's kernels, built when they are first needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::MatchingError;
use crate::gpu::{Buffer, Gpu, Kernel, Program};
use crate::shaders;

/// Threads of a workgroup, in every kernel of the room.
pub(super) const SIZE: u32 = 256;

/// A kernel by program, entry point and constants.
type Key = (&'static str, &'static str, Vec<(&'static str, u32)>);

/// Kernels that were built so far, for one device.
#[derive(Debug)]
pub(super) struct Kernels {
    gpu: Gpu,
    built: Mutex<HashMap<Key, Arc<Kernel>>>,
}

impl Kernels {
    pub(super) fn new(gpu: &Gpu) -> Self {
        Self { gpu: gpu.clone(), built: Mutex::default() }
    }

    pub(super) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Entry point `entry` of the files in `shaders/matching/`.
    pub(super) fn get(
        &self,
        name: &'static str,
        files: &[&str],
        entry: &'static str,
        constants: &[(&'static str, u32)],
    ) -> Result<Arc<Kernel>, MatchingError> {
        let key = (name, entry, constants.to_vec());
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = built.get(&key) {
            return Ok(Arc::clone(kernel));
        }
        let sources: Vec<_> = files.iter().map(|file| shaders::file(&format!("matching/{file}"))).collect();
        let program = Program::link(name, &sources)?;
        let values: Vec<_> = constants.iter().map(|&(name, value)| (name, f64::from(value))).collect();
        // SAFETY: no file of the room holds a user's WGSL. Each guards its indices by counts from the host that are
        // taken from the buffers' lengths, every loop has a bound, and nothing is divided by but constants.
        let kernel = Arc::new(unsafe { Kernel::trusted(self.gpu(), &program, entry, &values)? });
        built.insert(key, Arc::clone(&kernel));
        Ok(kernel)
    }

    /// A uniform buffer of these words, padded to what a uniform struct may need.
    pub(super) fn params(gpu: &Gpu, words: &[u32]) -> Result<Buffer<[u32; 8]>, MatchingError> {
        let mut padded = [0; 8];
        padded[..words.len()].copy_from_slice(words);
        Ok(Buffer::uniform(gpu, "parameters", &padded)?)
    }
}
