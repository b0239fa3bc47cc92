//! Kernels: one entry point of a linked program, made ready to dispatch.

mod build;

use std::fmt;
use std::sync::Arc;

use super::compilations::Dispatched;

/// A compute pipeline whose buffers are bound by the names that they have in WGSL. Clones share it.
#[derive(Debug, Clone)]
pub struct Kernel {
    name: Arc<str>,
    pipeline: wgpu::ComputePipeline,
    groups: Arc<[wgpu::BindGroupLayout]>,
    variables: Arc<[Variable]>,
    max_groups: u32,
    dispatched: Arc<Dispatched>,
}

/// Equal are kernels that share a compiled pipeline.
impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.pipeline == other.pipeline
    }
}

impl Eq for Kernel {}

#[derive(Debug)]
struct Variable {
    name: String,
    group: usize,
    binding: u32,
    kind: wgpu::BufferBindingType,
}

/// The buffers of one dispatch, in the shape that a [`Kernel`] wants.
#[derive(Debug, Clone)]
pub struct Bindings {
    groups: Vec<wgpu::BindGroup>,
    /// The first byte and the bytes of what each of the kernel's variables is bound to.
    places: Vec<(u64, u64)>,
}

impl Bindings {
    pub(super) fn set(&self, pass: &mut wgpu::ComputePass<'_>) {
        for (index, group) in (0..).zip(&self.groups) {
            pass.set_bind_group(index, group, &[]);
        }
    }

    /// Writes what the variables of `kernel` are bound to.
    pub(super) fn describe(&self, kernel: &Kernel, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (variable, (first, bytes))) in kernel.variables.iter().zip(&self.places).enumerate() {
            let access = match variable.kind {
                wgpu::BufferBindingType::Uniform => "uniform",
                wgpu::BufferBindingType::Storage { read_only: true } => "reads",
                wgpu::BufferBindingType::Storage { read_only: false } => "writes",
            };
            let separator = if number == 0 { ": " } else { ", " };
            write!(f, "{separator}{access} {} ({bytes} bytes", variable.name)?;
            match first {
                0 => f.write_str(")")?,
                _ => write!(f, " from byte {first})")?,
            }
        }
        Ok(())
    }
}

/// What a kernel checks while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Checks {
    /// Indices, divisors and loops. (Counters end a loop after 2⁶⁴ iterations, so that no compiler
    /// can make use of one that never ends.)
    All,
    /// The same, but loops only where the entry point comes to one of a file that is not the
    /// library's: the library's must end.
    UsersLoops,
    /// Nothing: whatever its buffers hold, the kernel must index within them, every loop must end,
    /// and no divisor may be zero.
    None,
}

impl Kernel {
    /// What error messages call the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Records a dispatch of `workgroups` workgroups.
    ///
    /// Beyond the device's limit per dimension (65,535 by default) the grid gets a second one. The
    /// kernel finds its number as `workgroup_id.y * num_workgroups.x + workgroup_id.x` and must
    /// pass over numbers from `workgroups` on.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, bindings: &Bindings, workgroups: u32) {
        pass.set_pipeline(self.pipeline());
        bindings.set(pass);
        let (x, y) = grid(workgroups, self.max_groups);
        pass.dispatch_workgroups(x, y, 1);
    }

    /// For a dispatch.
    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        self.dispatched.record();
        &self.pipeline
    }

    pub(super) fn max_groups(&self) -> u32 {
        self.max_groups
    }
}

/// The smallest two-dimensional grid of at least `workgroups` with at most `max` in a row.
pub(crate) fn grid(workgroups: u32, max: u32) -> (u32, u32) {
    let rows = workgroups.div_ceil(max).max(1);
    (workgroups.div_ceil(rows), rows)
}

#[cfg(test)]
mod tests {
    use super::grid;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_grid_holds_all_workgroups_and_wastes_less_than_a_row(workgroups in 1u32..10_000_000, max in 1u32..70_000) {
            let (x, y) = grid(workgroups, max);
            prop_assert!(x <= max);
            let cells = u64::from(x) * u64::from(y);
            prop_assert!(cells >= u64::from(workgroups));
            prop_assert!(cells - u64::from(workgroups) < u64::from(y));
        }
    }
}
