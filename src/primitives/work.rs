//! Shared parts of the primitives: recipes of kernels, and the dispatches of a plan.

use super::{Count, PrimitiveError};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Recipe};
use crate::shaders;

/// Values of WGSL overrides.
pub(super) type Constants = Vec<(&'static str, f64)>;

/// Entry point `entry` of the given files of `shaders/primitives/`.
pub(super) fn recipe(entry: &'static str, files: &[&str], constants: &[Constants]) -> Recipe {
    let sources: Vec<_> =
        files.iter().map(|file| shaders::file(&format!("primitives/{file}.wgsl"))).collect();
    Recipe::new(format!("primitives {}", files.join(" ")), entry, sources).with(constants.concat())
}

/// The kernel of a [`recipe`] of this module.
pub(super) fn kernel(recipe: &Recipe, gpu: &Gpu) -> Result<Kernel, GpuError> {
    // SAFETY: the `// bounds:` paragraphs of shaders/primitives/params.wgsl and of each file argue
    // that accesses stay within bounds.
    unsafe { recipe.trusted(gpu) }
}

/// The dispatches of a primitive, with their common parts.
pub(super) struct Work<'a> {
    gpu: &'a Gpu,
    count: &'a Count,
    params: Buffer<Params>,
    plan: Plan,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        gpu: &'a Gpu,
        label: &'static str,
        count: &'a Count,
        params: Params,
    ) -> Result<Self, GpuError> {
        let params = uniform(gpu, count, params)?;
        Ok(Self { gpu, count, params, plan: Plan::new(label) })
    }

    /// Sets the parameters of the following dispatches.
    pub(super) fn set(&mut self, params: Params) -> Result<(), GpuError> {
        self.params = uniform(self.gpu, self.count, params)?;
        Ok(())
    }

    /// Adds a dispatch.
    pub(super) fn dispatch(
        &mut self,
        kernel: &Kernel,
        workgroups: u32,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), PrimitiveError> {
        let mut all = vec![
            ("params", self.params.binding()),
            ("count", self.count.buffer.binding()),
            ("status", self.count.status.buffer().binding()),
        ];
        all.extend(buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
        Ok(self.plan.dispatch(self.gpu, kernel, workgroups, &all)?)
    }

    pub(super) fn plan(self) -> Plan {
        self.plan
    }
}

fn uniform(gpu: &Gpu, count: &Count, params: Params) -> Result<Buffer<Params>, GpuError> {
    Buffer::uniform(gpu, "primitive", &Params { count_index: count.index, ..params })
}

shared! {
    "primitives/params.wgsl":
    #[derive(Default)]
    pub(super) struct Params {
        /// [`Work`] fills it in.
        pub(super) count_index: u32,
        pub(super) maximum: u32,
        pub(super) groups: u32,
        pub(super) destination: u32,
        pub(super) inclusive: u32,
        pub(super) first_bit: u32,
        pub(super) digit_mask: u32,
        pub(super) array_length: u32,
        pub(super) chunk: u32,
    }
}

impl Params {
    /// For up to `maximum` elements, split into shares for `groups` workgroups: at least 1, because
    /// kernels divide by it.
    pub(super) fn new(maximum: u32, groups: u32) -> Self {
        assert!(groups > 0, "kernels divide by the number of workgroups");
        Self { maximum, groups, chunk: 1, ..Self::default() }
    }
}
