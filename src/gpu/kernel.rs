//! Kernels: one entry point of a linked program, made ready to dispatch.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::depth::on_stack;
use super::device::{Compiling, Dispatched};
use super::{Gpu, GpuError, Program};

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
    /// Indices, divisors and loops. (Counters end a loop after 2⁶⁴ iterations, so that no compiler can make use of one that never ends.)
    All,
    /// The same, but loops only where the entry point comes to one of a file that is not the library's: the library's must end.
    UsersLoops,
    /// Nothing: whatever its buffers hold, the kernel must index within them, every loop must end, and no divisor may be zero.
    None,
}

impl Checks {
    /// Those that a device wants.
    pub(super) fn on(self, gpu: &Gpu) -> Self {
        if gpu.trusting() { self } else { Self::All }
    }
}

impl Kernel {
    /// Makes entry point `entry` of `program` ready, with run-time checks: for kernels that hold WGSL of a user's.
    ///
    /// `constants` gives values to WGSL `override`s.
    ///
    /// # Errors
    /// [`GpuError::MissingFeature`] and [`GpuError::Limit`] where the device cannot run it,
    /// [`GpuError::Refused`] where the driver's compiler fails.
    pub fn new(
        gpu: &Gpu,
        program: &Program,
        entry: &str,
        constants: &[(&str, f64)],
    ) -> Result<Self, GpuError> {
        // SAFETY: everything is checked.
        unsafe { Self::with_checks(gpu, program, entry, constants, Checks::All) }
    }

    /// [`Kernel::new`] without run-time checks (unless the device is [`Gpu::checked`]).
    ///
    /// # Safety
    /// Whatever its buffers hold, the kernel must index within them, every loop must end, and no divisor may be
    /// zero.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub unsafe fn trusted(
        gpu: &Gpu,
        program: &Program,
        entry: &str,
        constants: &[(&str, f64)],
    ) -> Result<Self, GpuError> {
        // SAFETY: the caller vouches for the kernel.
        unsafe { Self::with_checks(gpu, program, entry, constants, Checks::None) }
    }

    /// The kernel with these run-time checks, or with all of them, if the device is [`Gpu::checked`].
    ///
    /// # Safety
    /// What is not checked must hold by itself: [`Checks`] says what that is.
    pub(super) unsafe fn with_checks(
        gpu: &Gpu,
        program: &Program,
        entry: &str,
        constants: &[(&str, f64)],
        checks: Checks,
    ) -> Result<Self, GpuError> {
        let checks = match checks.on(gpu) {
            Checks::All => wgpu::ShaderRuntimeChecks::checked(),
            Checks::UsersLoops => wgpu::ShaderRuntimeChecks {
                force_loop_bounding: program.users_loop(entry),
                ..wgpu::ShaderRuntimeChecks::checked()
            },
            Checks::None => wgpu::ShaderRuntimeChecks::unchecked(),
        };
        on_stack(program.is_deep(), || Self::build(gpu, program, entry, constants, checks))?
    }

    fn build(
        gpu: &Gpu,
        program: &Program,
        entry: &str,
        constants: &[(&str, f64)],
        checks: wgpu::ShaderRuntimeChecks,
    ) -> Result<Self, GpuError> {
        let name = format!("{}::{entry}", program.name());
        let missing = program.features() - gpu.features();
        if !missing.is_empty() {
            return Err(GpuError::MissingFeature { kernel: name, feature: format!("{missing:?}") });
        }
        let variables = variables(program, entry);
        let storage = variables.iter().filter(|v| v.kind != wgpu::BufferBindingType::Uniform).count() as u64;
        let limit = u64::from(gpu.limits().max_storage_buffers_per_shader_stage);
        if storage > limit {
            return Err(GpuError::Limit { kernel: name, what: "storage buffers", needed: storage, limit });
        }
        let text = match (cfg!(target_arch = "wasm32"), gpu.on_processor()) {
            (true, _) => program.standard_text(),
            (_, true) => program.software_text().into_owned(),
            _ => program.device_text().to_owned(),
        };
        let _compiling = (Compiling::begin(), gpu.compilation());
        let (pipeline, groups) = gpu.catch(&name, |device| {
            let module = wgpu::ShaderModuleDescriptor {
                label: Some(&name),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            };
            // SAFETY: `checks` leaves something out only where the caller of `with_checks` has vouched for it.
            let module = unsafe { device.create_shader_module_trusted(module, checks) };
            #[cfg(target_arch = "wasm32")]
            gpu.expect(program.refusal(module.clone()));
            let groups = layouts(device, &name, &variables);
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(&name),
                bind_group_layouts: &groups.iter().map(Some).collect::<Vec<_>>(),
                immediate_size: 0,
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&name),
                layout: Some(&layout),
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants,
                    // Library kernels write workgroup memory before they read it; a user's may not.
                    zero_initialize_workgroup_memory: checks.bounds_checks,
                },
                cache: None,
            });
            (pipeline, groups)
        })?;
        let max_groups = gpu.limits().max_compute_workgroups_per_dimension;
        Ok(Self {
            name: name.into(),
            pipeline,
            groups: groups.into(),
            variables: variables.into(),
            max_groups,
            dispatched: Arc::default(),
        })
    }

    /// What error messages call the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Binds buffers by the names of their WGSL variables. Names that the kernel does not have are passed over, so
    /// that kernels of one family can share a list.
    ///
    /// # Errors
    /// [`GpuError::Unbound`] if a variable is left without a buffer, [`GpuError::Refused`] if one does not fit.
    pub fn bind(
        &self,
        gpu: &Gpu,
        buffers: &[(&str, wgpu::BindingResource<'_>)],
    ) -> Result<Bindings, GpuError> {
        let mut entries = vec![Vec::new(); self.groups.len()];
        let mut places = Vec::with_capacity(self.variables.len());
        for variable in self.variables.iter() {
            let (_, resource) = buffers.iter().find(|(name, _)| *name == variable.name).ok_or_else(|| {
                GpuError::Unbound { kernel: self.name.to_string(), variable: variable.name.clone() }
            })?;
            places.push(match resource {
                wgpu::BindingResource::Buffer(part) => {
                    let rest = part.buffer.size().saturating_sub(part.offset);
                    (part.offset, part.size.map_or(rest, std::num::NonZero::get))
                }
                _ => (0, 0),
            });
            entries[variable.group]
                .push(wgpu::BindGroupEntry { binding: variable.binding, resource: resource.clone() });
        }
        let groups = gpu.catch(&self.name, |device| {
            let groups = self.groups.iter().zip(&entries);
            groups
                .map(|(layout, entries)| {
                    device.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: Some(&self.name),
                        layout,
                        entries,
                    })
                })
                .collect()
        })?;
        Ok(Bindings { groups, places })
    }

    /// Records a dispatch of `workgroups` workgroups.
    ///
    /// Beyond the device's limit per dimension (65,535 by default) the grid gets a second one. The kernel finds
    /// its number as `workgroup_id.y * num_workgroups.x + workgroup_id.x` and must pass over numbers from
    /// `workgroups` on.
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

/// The buffers that an entry point uses, itself or through the functions that it calls, each with its place.
fn variables(program: &Program, entry: &str) -> Vec<Variable> {
    let mut variables = Vec::new();
    for variable in program.used(entry) {
        let Some(at) = &variable.binding else { continue };
        let kind = match variable.space {
            naga::AddressSpace::Uniform => wgpu::BufferBindingType::Uniform,
            naga::AddressSpace::Storage { access } => {
                wgpu::BufferBindingType::Storage { read_only: !access.contains(naga::StorageAccess::STORE) }
            }
            _ => continue,
        };
        variables.push(Variable {
            name: variable.name.clone().unwrap_or_default(),
            group: at.group as usize,
            binding: at.binding,
            kind,
        });
    }
    variables
}

/// One layout per group.
fn layouts(device: &wgpu::Device, name: &str, variables: &[Variable]) -> Vec<wgpu::BindGroupLayout> {
    let mut groups: BTreeMap<usize, Vec<wgpu::BindGroupLayoutEntry>> = BTreeMap::new();
    for variable in variables {
        groups.entry(variable.group).or_default().push(wgpu::BindGroupLayoutEntry {
            binding: variable.binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: variable.kind,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        });
    }
    let count = groups.keys().next_back().map_or(0, |last| last + 1);
    (0..count)
        .map(|group| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(name),
                entries: groups.get(&group).map_or(&[], Vec::as_slice),
            })
        })
        .collect()
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
