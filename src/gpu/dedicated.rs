//! Large buffers in memory of their own.
//!
//! wgpu places every buffer in memory that other buffers could share. NVIDIA's Vulkan driver maps
//! such memory with small pages, so random accesses beyond some 2 GiB walk the page tables. It uses
//! large pages for an allocation that is *dedicated* to one buffer, which makes random accesses to
//! large buffers many times as fast.

use super::Gpu;

/// Minimum bytes of a buffer with memory of its own. No device has memory for 4,096 such buffers,
/// Vulkan's guaranteed number of allocations.
pub(super) const LARGE: u64 = 64 << 20;

/// A buffer of zeros in memory of its own, or `None` if that is not available. Its usages are among
/// `STORAGE`, `COPY_SRC` and `COPY_DST`, and include `COPY_DST`.
#[cfg(any(target_os = "linux", windows))]
pub(super) fn create(gpu: &Gpu, desc: &wgpu::BufferDescriptor<'_>) -> Option<wgpu::Buffer> {
    use ash::vk;
    use wgpu::hal::{api, vulkan};

    let usages = [
        (wgpu::BufferUsages::STORAGE, vk::BufferUsageFlags::STORAGE_BUFFER),
        (wgpu::BufferUsages::COPY_SRC, vk::BufferUsageFlags::TRANSFER_SRC),
        (wgpu::BufferUsages::COPY_DST, vk::BufferUsageFlags::TRANSFER_DST),
    ];
    let known = usages.iter().fold(wgpu::BufferUsages::empty(), |known, (usage, _)| known | *usage);
    if !known.contains(desc.usage) || !desc.usage.contains(wgpu::BufferUsages::COPY_DST) {
        return None;
    }
    // A lost device creates no buffer.
    gpu.alive().ok()?;
    let flags = usages.iter().filter(|(usage, _)| desc.usage.contains(*usage));
    let flags = flags.fold(vk::BufferUsageFlags::empty(), |flags, (_, flag)| flags | *flag);
    // SAFETY: no code destroys anything of the device by hand. The device outlives `hal`, whose
    // scope ends with this function.
    let hal = unsafe { gpu.device().as_hal::<api::Vulkan>() }?;
    let (device, instance) = (hal.raw_device(), hal.shared_instance().raw_instance());
    // SAFETY: the instance created the device of this adapter and outlives it.
    let version = unsafe { instance.get_physical_device_properties(hal.raw_physical_device()) }.api_version;
    if version < vk::API_VERSION_1_1 {
        return None;
    }
    let info =
        vk::BufferCreateInfo::default().size(desc.size).usage(flags).sharing_mode(vk::SharingMode::EXCLUSIVE);
    // SAFETY: `info` is a valid description of a buffer with a size that is not 0
    // (`Buffer::create`).
    let raw = unsafe { device.create_buffer(&info, None) }.ok()?;
    // SAFETY: this device just created the buffer, which has no memory yet. The memory is allocated
    // for it alone, with a suitable type and size, and bound once at offset 0.
    let bound = unsafe {
        let needs = device.get_buffer_memory_requirements(raw);
        let kinds = instance.get_physical_device_memory_properties(hal.raw_physical_device());
        // The type that wgpu would choose: on the device, without properties that need a feature.
        let plain = vk::MemoryPropertyFlags::DEVICE_LOCAL
            | vk::MemoryPropertyFlags::HOST_VISIBLE
            | vk::MemoryPropertyFlags::HOST_COHERENT
            | vk::MemoryPropertyFlags::HOST_CACHED;
        let fits = |&kind: &u32| {
            let flags = kinds.memory_types[kind as usize].property_flags;
            needs.memory_type_bits & (1 << kind) != 0
                && flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
                && plain.contains(flags)
        };
        (0..kinds.memory_type_count).find(fits).and_then(|kind| {
            let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(raw);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind)
                .push_next(&mut dedicated);
            let memory = device.allocate_memory(&info, None).ok()?;
            if device.bind_buffer_memory(raw, memory, 0).is_err() {
                device.free_memory(memory, None);
                return None;
            }
            Some((memory, needs.size))
        })
    };
    let Some((memory, size)) = bound else {
        // SAFETY: it was created above and is not shared.
        unsafe { device.destroy_buffer(raw, None) };
        return None;
    };
    // SAFETY: buffer and memory are handed over completely. wgpu frees them after the device's last
    // use.
    let buffer = unsafe { vulkan::Buffer::from_raw_managed(raw, memory, 0, size) };
    // SAFETY: it belongs to this device, matches `desc`, and is cleared before any use.
    let wrap = |device: &wgpu::Device| unsafe { device.create_buffer_from_hal::<api::Vulkan>(buffer, desc) };
    let buffer = gpu.catch("a large buffer", wrap).ok()?;
    let mut encoder = gpu.encoder("zeros");
    encoder.clear_buffer(&buffer, 0, None);
    gpu.submit(encoder).ok()?;
    Some(buffer)
}

#[cfg(not(any(target_os = "linux", windows)))]
pub(super) fn create(_gpu: &Gpu, _desc: &wgpu::BufferDescriptor<'_>) -> Option<wgpu::Buffer> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vulkan_gives_a_large_buffer_memory_of_its_own() {
        let gpu = Gpu::new().unwrap();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let desc = |usage| wgpu::BufferDescriptor {
            label: Some("large"),
            size: LARGE,
            usage,
            mapped_at_creation: false,
        };
        let vulkan = gpu.info().backend == wgpu::Backend::Vulkan && cfg!(any(target_os = "linux", windows));
        let buffer = create(&gpu, &desc(usage));
        assert_eq!(buffer.map(|buffer| (buffer.size(), buffer.usage())), vulkan.then_some((LARGE, usage)));
        // A usage that wgpu itself must track.
        assert!(create(&gpu, &desc(usage | wgpu::BufferUsages::INDIRECT)).is_none());
        assert!(create(&gpu, &desc(wgpu::BufferUsages::STORAGE)).is_none(), "it cannot be cleared");
    }
}
