//! Bound work: dispatches that are recorded together.

use bytemuck::{Pod, Zeroable};

use super::tuning::{Block, Constants};
use super::{Count, PrimitiveError};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Program, Variant};
use crate::shaders;

/// A primitive bound to its buffers, to be recorded as often as wanted. It holds on to what it needs.
///
/// Tasks of one primitive share its scratch memory. That is safe, because dispatches run in the order in which they
/// were recorded and submitted.
#[derive(Debug, Clone)]
pub struct Task {
    plan: Plan,
}

impl Task {
    pub(super) fn new() -> Self {
        Self { plan: Plan::new("primitives") }
    }

    /// Records the task into a pass of the caller's.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.plan.record_in(pass);
    }

    /// Records the task into an encoder of the caller's, in a pass of its own.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        self.plan.record(encoder);
    }

    /// The task as a plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Adds a dispatch.
    pub(super) fn push(
        &mut self,
        gpu: &Gpu,
        kernel: &Kernel,
        workgroups: u32,
        count: &Count,
        params: &Params,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), PrimitiveError> {
        let params = Params { count_index: count.index, ..*params };
        let params = Buffer::uniform(gpu, "primitives task", &params)?;
        let mut all = vec![
            ("task", params.binding()),
            ("count", count.buffer.binding()),
            ("status", count.status.buffer().binding()),
        ];
        all.extend(buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
        Ok(self.plan.dispatch(gpu, kernel, workgroups, &all)?)
    }
}

/// `TaskParams` of `shaders/primitives/count.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct Params {
    pub(super) count_index: u32,
    /// More elements are an error.
    pub(super) maximum: u32,
    /// Where a radix sort's digit begins in the key, and its ones.
    pub(super) first_bit: u32,
    pub(super) digit_mask: u32,
    /// Where a single result goes.
    pub(super) destination: u32,
    /// What the kernel says.
    pub(super) options: u32,
    /// How many keys a sort of several arrays takes from the beginning of one to that of the next.
    pub(super) array_length: u32,
    pub(super) unused: u32,
}

/// What a kernel is made from.
pub(super) struct Recipe {
    entry: &'static str,
    /// Names in `shaders/primitives/`.
    files: Vec<&'static str>,
    constants: Constants,
}

impl Recipe {
    /// The kernel of the file that is called as its entry point, with the files that it chooses and the workgroup's scan.
    pub(super) fn new(entry: &'static str, choices: &[&'static str], block: &Block) -> Self {
        let files = [choices, &[block.file, entry]].concat();
        Self { entry, files, constants: block.constants.clone() }
    }

    /// With further constants.
    pub(super) fn with(mut self, constants: &[(&'static str, f64)]) -> Self {
        self.constants.extend(constants);
        self
    }

    fn link(&self) -> Result<Program, GpuError> {
        let file = |file| shaders::file(&format!("primitives/{file}.wgsl"));
        let sources: Vec<_> = self.files.iter().map(file).collect();
        Ok(Program::link(&format!("primitives {}", self.files.join(" ")), &sources)?)
    }

    pub(super) fn variant(&self) -> Result<Variant, GpuError> {
        Ok((self.link()?, self.constants.clone()))
    }

    pub(super) fn kernel(&self, gpu: &Gpu) -> Result<Kernel, GpuError> {
        // SAFETY: no kernel of this room holds WGSL of a user's. Elements are indexed below `length()`, which is at most the
        // maximum that the host compared with the length of every buffer; partial results by workgroup number, of which
        // the host allots as many as it dispatches; the count and single results at indices that the host checked; workgroup
        // memory by lane and item. Digits are masked to 8 bits. Every loop counts up to a bound that does not change, and a
        // workgroup takes few enough tiles (`Tuning::workgroups_for`) for drivers that cut loops short.
        unsafe { Kernel::trusted(gpu, &self.link()?, self.entry, &self.constants) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_lie_as_in_wgsl() {
        let program = Program::link("t", &[shaders::file("primitives/count.wgsl")]).unwrap();
        let layout = program.layout("TaskParams").unwrap();
        let offsets: Vec<_> = layout.fields.iter().map(|field| field.offset as usize).collect();
        assert_eq!(
            offsets,
            [
                std::mem::offset_of!(Params, count_index),
                std::mem::offset_of!(Params, maximum),
                std::mem::offset_of!(Params, first_bit),
                std::mem::offset_of!(Params, digit_mask),
                std::mem::offset_of!(Params, destination),
                std::mem::offset_of!(Params, options),
                std::mem::offset_of!(Params, array_length),
                std::mem::offset_of!(Params, unused),
            ]
        );
        assert_eq!(layout.bytes as usize, size_of::<Params>());
        assert!(layout.is_dense());
    }
}
