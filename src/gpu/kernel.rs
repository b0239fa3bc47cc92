//! Kernels: one entry point of a linked program, ready to dispatch.

mod build;

use std::fmt;
use std::sync::Arc;

use super::compilations::Dispatched;
pub(crate) use build::{KernelBuild, build_together};

/// A compute pipeline whose buffers are bound by their WGSL names. Clones share it.
#[derive(Debug, Clone)]
pub struct Kernel {
    name: Arc<str>,
    pipeline: wgpu::ComputePipeline,
    groups: Arc<[wgpu::BindGroupLayout]>,
    variables: Arc<[Variable]>,
    max_groups: u32,
    dispatched: Arc<Dispatched>,
}

/// Kernels are equal if they share a compiled pipeline.
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

/// The buffers of one dispatch, grouped as a [`Kernel`] expects them.
#[derive(Debug, Clone)]
pub struct Bindings {
    groups: Vec<wgpu::BindGroup>,
    /// First byte and length of the binding of each variable of the kernel.
    places: Vec<(u64, u64)>,
}

impl Bindings {
    pub(super) fn set(&self, pass: &mut wgpu::ComputePass<'_>) {
        for (index, group) in (0..).zip(&self.groups) {
            pass.set_bind_group(index, group, &[]);
        }
    }

    /// Writes the bindings of the variables of `kernel`.
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

/// The run-time checks of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Checks {
    /// Checks indices, divisors and loops. (Counters end a loop after 2⁶⁴ iterations, so that no
    /// compiler can exploit an endless loop.)
    All,
    /// The same, but loops only if the entry point reaches a loop of a user file. The library's
    /// loops must end.
    UsersLoops,
    /// No checks. Whatever its buffers hold, the kernel must index within them, every loop must
    /// end, and no divisor may be zero.
    None,
}

impl Kernel {
    /// The name in error messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Records a dispatch of `workgroups` workgroups.
    ///
    /// Beyond the device's limit per dimension (65,535 by default) the grid gets a second
    /// dimension. The kernel computes its number as `workgroup_id.y * num_workgroups.x +
    /// workgroup_id.x` and must skip numbers from `workgroups` on.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, bindings: &Bindings, workgroups: u32) {
        pass.set_pipeline(self.pipeline());
        bindings.set(pass);
        let (x, y) = grid(workgroups, self.max_groups);
        pass.dispatch_workgroups(x, y, 1);
    }

    /// The pipeline of a dispatch.
    pub(super) fn pipeline(&self) -> &wgpu::ComputePipeline {
        self.dispatched.record();
        &self.pipeline
    }

    pub(super) fn max_groups(&self) -> u32 {
        self.max_groups
    }
}

/// The smallest two-dimensional grid with at least `workgroups` workgroups and rows of at most
/// `max`.
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
