//! A Vulkan device that reports statistics of kernels: `VK_KHR_pipeline_executable_properties`.
//!
//! wgpu does not enable that extension, so each kernel is compiled again, on a separate Vulkan
//! device. It compiles nearly the same code as wgpu: naga's SPIR-V of the same module, with the
//! same constants.

use std::ffi::{CStr, CString};
use std::io::{Write as _, stdout};
use std::time::Instant;

use ash::{khr, vk};
use eventhorizon::gpu::{Gpu, Program, Recipe};
use naga::back::{PipelineConstants, pipeline_constants::process_overrides, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, ShaderStage};
use wgpu::hal::{api, vulkan};

use super::Args;
use crate::shared::{self, Outcome};

#[path = "../../../tests/common/kernels.rs"]
mod recipes;

pub(crate) fn run(args: &Args) -> Outcome<()> {
    let gpu = Gpu::new()?;
    writeln!(stdout(), "{gpu}")?;
    // SAFETY: no part of wgpu's device is destroyed here, and it lives as long as `gpu`.
    let hal = unsafe { gpu.device().as_hal::<api::Vulkan>() };
    let hal = hal.ok_or_else(|| shared::usage("only Vulkan reports the statistics of kernels"))?;
    let driver = Driver::new(&hal)?;
    for recipe in recipes::recipes() {
        let program = recipe.link()?;
        let constants: Vec<_> =
            recipe.constants().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let name = format!("{}::{} {}", program.name(), recipe.entry(), constants.join(" "));
        let wanted = args.only.is_empty() || args.only.iter().any(|only| name.contains(only));
        if !wanted || !gpu.features().contains(program.features()) {
            continue;
        }
        let start = Instant::now();
        let reported = driver.compile(&recipe, &program, !args.unchecked)?;
        writeln!(stdout(), "{name}\n    {reported}compiled in {} ms", start.elapsed().as_millis())?;
    }
    Ok(())
}

/// A device that reports statistics.
struct Driver {
    device: ash::Device,
    reported: khr::pipeline_executable_properties::Device,
}

impl Driver {
    /// A second device of the adapter of wgpu's device, with all of the adapter's features.
    fn new(hal: &vulkan::Device) -> Outcome<Self> {
        let (instance, adapter) = (hal.shared_instance().raw_instance(), hal.raw_physical_device());
        let name = khr::pipeline_executable_properties::NAME;
        // SAFETY: the adapter belongs to this instance, which lives as long as `hal`.
        let extensions = unsafe { instance.enumerate_device_extension_properties(adapter)? };
        if !extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name)) {
            return Err(shared::usage("this driver does not report the statistics of kernels"));
        }
        let mut features_11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut features_12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features_13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut statistics = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut features_11)
            .push_next(&mut features_12)
            .push_next(&mut features_13)
            .push_next(&mut statistics);
        // SAFETY: as above; a driver fills in the structs of the chain that it knows.
        unsafe { instance.get_physical_device_features2(adapter, &mut features) };
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(hal.queue_family_index())
            .queue_priorities(&priorities)];
        let names = [name.as_ptr()];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut features);
        // SAFETY: the extension exists, the adapter has the features, and wgpu uses a queue of the
        // same family.
        let device = unsafe { instance.create_device(adapter, &info, None)? };
        let reported = khr::pipeline_executable_properties::Device::new(instance, &device);
        Ok(Self { device, reported })
    }

    /// The statistics of the driver for a kernel.
    fn compile(&self, recipe: &Recipe, program: &Program, checked: bool) -> Outcome<String> {
        let (words, sets) = translate(recipe, program, checked)?;
        let device = &self.device;
        let entry = CString::new(recipe.entry())?;
        // SAFETY: all objects belong to this device, are used by no other thread, and are destroyed
        // once, after their last use. The layout has all bindings of the module.
        unsafe {
            let made = sets.iter().map(|set| {
                let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(set);
                device.create_descriptor_set_layout(&info, None)
            });
            let made = made.collect::<Result<Vec<_>, _>>()?;
            let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&made);
            let layout = device.create_pipeline_layout(&layout, None)?;
            let module = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = device.create_shader_module(&module, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&entry);
            let info = vk::ComputePipelineCreateInfo::default()
                .flags(vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR)
                .stage(stage)
                .layout(layout);
            let pipelines = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let pipeline = pipelines.map_err(|(_, error)| error)?[0];
            let reported = self.statistics(pipeline);
            device.destroy_pipeline(pipeline, None);
            device.destroy_shader_module(module, None);
            device.destroy_pipeline_layout(layout, None);
            for set in made {
                device.destroy_descriptor_set_layout(set, None);
            }
            reported
        }
    }

    /// # Safety
    /// The pipeline belongs to this device and captures statistics.
    unsafe fn statistics(&self, pipeline: vk::Pipeline) -> Outcome<String> {
        let mut text = String::new();
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: the caller guarantees the pipeline; executables are numbered from 0.
        unsafe {
            let parts = self.reported.get_pipeline_executable_properties(&info)?;
            for part in (0..).take(parts.len()) {
                let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(part);
                for statistic in self.reported.get_pipeline_executable_statistics(&info)? {
                    let name = CStr::from_ptr(statistic.name.as_ptr()).to_string_lossy();
                    let value = match statistic.format {
                        vk::PipelineExecutableStatisticFormatKHR::FLOAT64 => statistic.value.f64.to_string(),
                        vk::PipelineExecutableStatisticFormatKHR::INT64 => statistic.value.i64.to_string(),
                        _ => statistic.value.u64.to_string(),
                    };
                    text += &format!("{name} {value}, ");
                }
            }
        }
        Ok(text)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // SAFETY: no object of the device remains, and no work was submitted to it.
        unsafe { self.device.destroy_device(None) };
    }
}

type Bindings = Vec<vk::DescriptorSetLayoutBinding<'static>>;

/// A kernel as SPIR-V, and the bindings of each group.
fn translate(recipe: &Recipe, program: &Program, checked: bool) -> Outcome<(Vec<u32>, Vec<Bindings>)> {
    let module = naga::front::wgsl::parse_str(program.device_text())?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module)?;
    let constants: PipelineConstants =
        recipe.constants().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let point = Some((ShaderStage::Compute, recipe.entry()));
    let (module, info) = process_overrides(&module, &info, point, &constants)?;
    let policy = if checked { BoundsCheckPolicy::Restrict } else { BoundsCheckPolicy::Unchecked };
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: policy,
            buffer: policy,
            image_load: policy,
            binding_array: policy,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: checked,
        fake_missing_bindings: true,
        ..spv::Options::default()
    };
    let stage =
        spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: recipe.entry().to_owned() };
    let words = spv::write_vec(&module, &info, &options, Some(&stage))?;
    let mut sets = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = variable.binding else { continue };
        let kind = match variable.space {
            AddressSpace::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
            _ => vk::DescriptorType::STORAGE_BUFFER,
        };
        let group = usize::try_from(binding.group)?;
        if sets.len() <= group {
            sets.resize_with(group + 1, Vec::new);
        }
        sets[group].push(
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding.binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE),
        );
    }
    Ok((words, sets))
}
