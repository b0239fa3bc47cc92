//! Descriptions of kernels, and the cache of the kernels that a device has built.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::kernel::Checks;
use super::{Kernel, LinkError, Program, Source};

/// The ingredients of a kernel: files to link, an entry point, and values for `override`s.
///
/// Building it costs a compilation, once for each device. A device caches its kernels, so a second
/// simulation of the same model starts at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Recipe {
    name: String,
    entry: &'static str,
    sources: Vec<Source>,
    /// The bits of an `f64`, which are comparable and hashable.
    constants: Vec<(&'static str, u64)>,
}

impl Recipe {
    /// Entry point `entry` of `sources` with all their imports; error messages use `name`.
    pub fn new(name: impl Into<String>, entry: &'static str, sources: impl Into<Vec<Source>>) -> Self {
        Self { name: name.into(), entry, sources: sources.into(), constants: Vec::new() }
    }

    /// The same with values for WGSL `override`s.
    #[must_use]
    pub fn with(mut self, constants: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        self.constants.extend(constants.into_iter().map(|(name, value)| (name, value.to_bits())));
        self
    }

    /// The same with an additional file.
    #[must_use]
    pub(crate) fn and(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// The entry point.
    pub fn entry(&self) -> &'static str {
        self.entry
    }

    /// The files, without their imports.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The values of `override`s.
    pub fn constants(&self) -> Vec<(&'static str, f64)> {
        self.constants.iter().map(|&(name, bits)| (name, f64::from_bits(bits))).collect()
    }

    /// Joins and checks the files.
    ///
    /// # Errors
    /// [`LinkError`], with file and line of the faulty piece.
    pub fn link(&self) -> Result<Program, LinkError> {
        Program::link(&self.name, &self.sources)
    }
}

/// The kernels that a device has built.
#[derive(Debug, Default)]
pub(super) struct Built {
    kernels: Mutex<HashMap<Kind, HashMap<Recipe, Kernel>>>,
}

/// The features that kernels may use, and their run-time checks.
pub(super) type Kind = (wgpu::Features, Checks);

impl Built {
    /// Forgets all kernels: one of them was rejected after it was built.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn forget(&self) {
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The kernel of a recipe, if it is built.
    pub(super) fn find(&self, kind: Kind, recipe: &Recipe) -> Option<Kernel> {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.get(&kind)?.get(recipe).cloned()
    }

    /// Whether the kernel of a recipe is built, with any run-time checks.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn has(&self, features: wgpu::Features, recipe: &Recipe) -> bool {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.iter().any(|(kind, kernels)| kind.0 == features && kernels.contains_key(recipe))
    }

    /// Caches a kernel.
    pub(super) fn keep(&self, kind: Kind, recipe: &Recipe, kernel: &Kernel) {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.entry(kind).or_default().insert(recipe.clone(), kernel.clone());
    }
}
