//! Bound work: dispatches that are recorded together.

use bytemuck::{Pod, Zeroable};

use super::{Count, PrimitiveError};
use crate::gpu::{Bindings, Buffer, Gpu, Kernel, Program};
use crate::shaders;

/// A primitive bound to its buffers, to be recorded as often as wanted. It holds on to what it needs.
///
/// Tasks of one primitive share its scratch memory. That is safe, because dispatches run in the order in which they
/// were recorded and submitted.
#[derive(Debug, Clone)]
pub struct Task {
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Step {
    kernel: Kernel,
    bindings: Bindings,
    workgroups: u32,
}

impl Task {
    pub(super) fn new() -> Self {
        Self { steps: Vec::new() }
    }

    /// Records the task into a pass of the caller's.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        for step in &self.steps {
            step.kernel.dispatch(pass, &step.bindings, step.workgroups);
        }
    }

    /// Records the task into an encoder of the caller's, in a pass of its own.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        self.record(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
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
        let bindings = kernel.bind(gpu, &all)?;
        self.steps.push(Step { kernel: kernel.clone(), bindings, workgroups });
        Ok(())
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
    pub(super) unused: [u32; 2],
}

/// Links files of `shaders/primitives/` and makes an entry point ready.
pub(super) fn kernel(
    gpu: &Gpu,
    entry: &str,
    files: &[&str],
    constants: &[(&str, f64)],
) -> Result<Kernel, PrimitiveError> {
    let sources: Vec<_> =
        files.iter().map(|file| shaders::file(&format!("primitives/{file}.wgsl"))).collect();
    let program = Program::link("primitives", &sources).map_err(crate::gpu::GpuError::from)?;
    // SAFETY: no kernel of this room holds WGSL of a user's. Elements are indexed below `length()`, which is at most the
    // maximum that the host compared with the length of every buffer; partial results by workgroup number, of which
    // the host allots as many as it dispatches; the count and single results at indices that the host checked; workgroup
    // memory by lane and item. Digits are masked to 8 bits. Every loop counts up to a bound that does not change.
    Ok(unsafe { Kernel::trusted(gpu, &program, entry, constants) }?)
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
            offsets[..7],
            [
                std::mem::offset_of!(Params, count_index),
                std::mem::offset_of!(Params, maximum),
                std::mem::offset_of!(Params, first_bit),
                std::mem::offset_of!(Params, digit_mask),
                std::mem::offset_of!(Params, destination),
                std::mem::offset_of!(Params, options),
                std::mem::offset_of!(Params, unused),
            ]
        );
        assert_eq!(layout.bytes as usize, size_of::<Params>());
        assert!(layout.is_dense());
    }
}
