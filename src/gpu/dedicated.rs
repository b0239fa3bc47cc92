//! Large buffers in memory of their own.
//!
//! wgpu puts every buffer into memory that could hold others, too. NVIDIA's Vulkan driver maps such
//! memory by small pages, and what random accesses reach without a walk through the page tables
//! ends at some 2 GiB. Of an allocation that is *dedicated* to one buffer it makes large pages.
//! Random reads of 16 bytes on an H200 (driver 580.159.04), 10⁹ per second, over buffers of 2 GiB:
//! as wgpu allocates them 30 (1 buffer), 5.9 (2), 1.4 (4), 0.09 (8); dedicated 18 (4) and 24 (8).
//! Random writes: 13, 5.7, 0.95, 0.08; 12 and 13.

use super::Gpu;

/// From so many bytes on, a buffer has memory of its own: no device has room for as many as
/// Vulkan's least limit of allocations (4,096).
pub(super) const LARGE: u64 = 64 << 20;

/// A buffer of zeros in memory of its own; none where that is not to be had. Its usages are among
/// `STORAGE`, `COPY_SRC` and `COPY_DST`, with the last.
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
    // On a device that is gone, nothing is made.
    gpu.alive().ok()?;
    let flags = usages.iter().filter(|(usage, _)| desc.usage.contains(*usage));
    let flags = flags.fold(vk::BufferUsageFlags::empty(), |flags, (_, flag)| flags | *flag);
    // SAFETY: nothing of the device is destroyed by hand; it lives as long as `hal`, which ends
    // with this function.
    let hal = unsafe { gpu.device().as_hal::<api::Vulkan>() }?;
    let (device, instance) = (hal.raw_device(), hal.shared_instance().raw_instance());
    // SAFETY: the instance made the device of this adapter, and lives as long.
    let version = unsafe { instance.get_physical_device_properties(hal.raw_physical_device()) }.api_version;
    if version < vk::API_VERSION_1_1 {
        return None;
    }
    let info =
        vk::BufferCreateInfo::default().size(desc.size).usage(flags).sharing_mode(vk::SharingMode::EXCLUSIVE);
    // SAFETY: `info` is a valid description of a buffer, whose size is not 0 (`Buffer::create`).
    let raw = unsafe { device.create_buffer(&info, None) }.ok()?;
    // SAFETY: the buffer was just made by this device, and has no memory yet. Memory is made for it
    // alone, of a type and size that it takes, and bound once at offset 0.
    let bound = unsafe {
        let needs = device.get_buffer_memory_requirements(raw);
        let kinds = instance.get_physical_device_memory_properties(hal.raw_physical_device());
        // As wgpu would take it: on the device, and of no kind that must be asked for.
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
        // SAFETY: it was made above, and nobody has seen it.
        unsafe { device.destroy_buffer(raw, None) };
        return None;
    };
    // SAFETY: buffer and memory are handed over whole, to be freed with the last of the device's
    // uses of them.
    let buffer = unsafe { vulkan::Buffer::from_raw_managed(raw, memory, 0, size) };
    // SAFETY: it is of this device, was made as `desc` says, and is cleared before anybody can use
    // it.
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
        // What wgpu would have to know of.
        assert!(create(&gpu, &desc(usage | wgpu::BufferUsages::INDIRECT)).is_none());
        assert!(create(&gpu, &desc(wgpu::BufferUsages::STORAGE)).is_none(), "it cannot be cleared");
    }
}
