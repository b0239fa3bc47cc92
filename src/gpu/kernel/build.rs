//! Builds kernels from programs and recipes, and binds them to buffers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Bindings, Checks, Kernel, Variable};
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::background::COMPILER_STACK;
use crate::gpu::compilations::Compiling;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::compilations::{in_background, is_in_background};
use crate::gpu::depth::on_stack;
use crate::gpu::{Gpu, GpuError, Program, Recipe};

impl Checks {
    /// The checks on a device: all of them if it is [`Gpu::checked`].
    pub(super) fn on(self, gpu: &Gpu) -> Self {
        if gpu.trusting() { self } else { Self::All }
    }
}

impl Kernel {
    /// Compiles entry point `entry` of `program` with run-time checks: for kernels with user WGSL.
    ///
    /// `constants` gives values to WGSL `override`s.
    ///
    /// # Errors
    /// [`GpuError::MissingFeature`] and [`GpuError::Limit`] if the device cannot run it,
    /// [`GpuError::Refused`] if the driver's compiler fails.
    pub fn new(
        gpu: &Gpu,
        program: &Program,
        entry: &str,
        constants: &[(&str, f64)],
    ) -> Result<Self, GpuError> {
        // SAFETY: all run-time checks are on.
        unsafe { Self::with_checks(gpu, program, entry, constants, Checks::All) }
    }

    /// [`Kernel::new`] without run-time checks (unless the device is [`Gpu::checked`]).
    ///
    /// # Safety
    /// Whatever its buffers hold, the kernel must index within them, every loop must end, and no
    /// divisor may be zero.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub unsafe fn trusted(
        gpu: &Gpu,
        program: &Program,
        entry: &str,
        constants: &[(&str, f64)],
    ) -> Result<Self, GpuError> {
        // SAFETY: the caller guarantees that the kernel needs no checks.
        unsafe { Self::with_checks(gpu, program, entry, constants, Checks::None) }
    }

    /// The kernel with these run-time checks, or with all if the device is [`Gpu::checked`].
    ///
    /// # Safety
    /// Properties without a check must hold: see [`Checks`].
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
        let text = match (cfg!(target_arch = "wasm32"), gpu.is_software()) {
            (true, _) => program.standard_text(),
            (_, true) => program.software_text().into_owned(),
            _ => program.device_text().to_owned(),
        };
        let _compiling = (Compiling::begin(), gpu.compilation());
        #[cfg(not(target_arch = "wasm32"))]
        let (disk, begun) = (gpu.disk_cache(), std::time::Instant::now());
        #[cfg(not(target_arch = "wasm32"))]
        let cache = disk.map(crate::gpu::DiskCache::cache);
        #[cfg(target_arch = "wasm32")]
        let cache = None;
        let (pipeline, groups) = gpu.catch(&name, |device| {
            let module = wgpu::ShaderModuleDescriptor {
                label: Some(&name),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            };
            // SAFETY: `checks` omits a check only if the caller of `with_checks` guarantees it.
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
                    // Library kernels write workgroup memory before they read it; user code may
                    // not.
                    zero_initialize_workgroup_memory: checks.bounds_checks,
                },
                cache,
            });
            (pipeline, groups)
        })?;
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(disk) = disk {
            disk.compiled(begun.elapsed());
        }
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

    /// Binds buffers by the names of their WGSL variables. Names that the kernel does not have are
    /// skipped, so that kernels of one family can share a list.
    ///
    /// # Errors
    /// [`GpuError::Unbound`] if a variable has no buffer, [`GpuError::Refused`] if one does not
    /// fit.
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
}

impl Recipe {
    /// The kernel with run-time checks: for user WGSL.
    ///
    /// # Errors
    /// As [`Kernel::new`], and [`GpuError::Link`].
    pub fn kernel(&self, gpu: &Gpu) -> Result<Kernel, GpuError> {
        // SAFETY: all run-time checks are on.
        unsafe { self.built(gpu, Checks::All) }
    }

    /// The kernel without run-time checks (unless the device is [`Gpu::checked`]).
    ///
    /// # Safety
    /// As [`Kernel::trusted`].
    ///
    /// # Errors
    /// As [`Recipe::kernel`].
    pub unsafe fn trusted(&self, gpu: &Gpu) -> Result<Kernel, GpuError> {
        // SAFETY: the caller guarantees that the kernel needs no checks.
        unsafe { self.built(gpu, Checks::None) }
    }

    /// The kernel with run-time checks. Loops are counted only if a user file has one (or if the
    /// device is [`Gpu::checked`]).
    ///
    /// # Safety
    /// Every loop in library files must end.
    ///
    /// # Errors
    /// As [`Recipe::kernel`].
    pub unsafe fn ending(&self, gpu: &Gpu) -> Result<Kernel, GpuError> {
        // SAFETY: the caller guarantees that the library's loops end.
        unsafe { self.built(gpu, Checks::UsersLoops) }
    }

    /// # Safety
    /// As [`Kernel::with_checks`].
    unsafe fn built(&self, gpu: &Gpu, checks: Checks) -> Result<Kernel, GpuError> {
        let kind = (gpu.features(), checks.on(gpu));
        if let Some(kernel) = gpu.built().find(kind, self) {
            return Ok(kernel);
        }
        // Not under the lock: a compilation is long, and another thread may want another kernel.
        // Two threads that want the same one both build it.
        let program = self.link()?;
        // SAFETY: the caller guarantees the properties without checks.
        let kernel = unsafe { Kernel::with_checks(gpu, &program, self.entry(), &self.constants(), checks)? };
        gpu.built().keep(kind, self, &kernel);
        Ok(kernel)
    }
}

/// A recipe, and how its kernel is built.
pub(crate) type KernelBuild<'a> = (&'a Recipe, fn(&Recipe, &Gpu) -> Result<Kernel, GpuError>);

/// Builds those kernels that are missing, in threads, so that calls that need them find them on the
/// device. What fails here fails again there, and is reported there.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn build_together<'a>(gpu: &Gpu, all: impl IntoIterator<Item = KernelBuild<'a>>) {
    let missing = all.into_iter().filter(|(recipe, _)| !gpu.built().has(gpu.features(), recipe));
    let missing: Vec<_> = missing.collect();
    // A call builds a single one itself, unless this is ahead of it.
    if missing.is_empty() || missing.len() == 1 && !is_in_background() {
        return;
    }
    // The run waits for all of them together.
    let _compiling = Compiling::begin();
    std::thread::scope(|scope| {
        let thread = |(recipe, build): KernelBuild<'a>| {
            let begun = std::thread::Builder::new().stack_size(COMPILER_STACK);
            begun.spawn_scoped(scope, move || in_background(|| drop(build(recipe, gpu))))
        };
        let threads: Vec<_> = missing.into_iter().map(thread).collect();
        // Waits for their ends, not only for their results: NVIDIA's driver (580.159) can deadlock
        // if a device is destroyed while threads end.
        threads.into_iter().flatten().for_each(|thread| drop(thread.join()));
    });
}

/// Browsers have no threads: calls build the kernels that they need.
#[cfg(target_arch = "wasm32")]
pub(crate) fn build_together<'a>(_: &Gpu, _: impl IntoIterator<Item = KernelBuild<'a>>) {}

/// The buffers that an entry point or its callees use, each with its place.
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

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::{Source, disk_cache};

    /// A file whose check sum is right but whose contents no driver has written.
    #[test]
    fn a_foreign_file_is_ignored() {
        let folder = std::env::temp_dir().join(format!("eventhorizon-foreign-{}", std::process::id()));
        let open = || {
            let gpu = pollster::block_on(Gpu::open_in(0, Some(folder.clone())));
            let gpu = gpu.unwrap_or_else(|error| panic!("this test needs an adapter: {error}"));
            // As in `Gpu::for_test`.
            std::mem::forget(gpu.clone());
            gpu
        };
        let first = open();
        let Some(disk) = first.disk_cache() else {
            assert_ne!(first.info().backend, wgpu::Backend::Vulkan, "Vulkan has caches");
            return;
        };
        assert_eq!(disk.bytes(), 0);
        disk_cache::save(disk.path(), &[7; 4096]).unwrap();
        let gpu = open();
        assert_eq!(gpu.disk_cache().unwrap().bytes(), 4096);
        let source = Source::new("cached.wgsl", "@compute @workgroup_size(1) fn cached() {}");
        Recipe::new("cached", "cached", [source]).kernel(&gpu).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }
}
