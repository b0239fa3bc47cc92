//! How the kernels are cut.

use super::PrimitiveError;
use crate::gpu::Gpu;

/// How the kernels of a primitive are cut. Results do not depend on it; the default suits the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Threads of a workgroup: a power of two from 32 to 256.
    pub threads: u32,
    /// Elements that a thread takes at a time: 16 for reduce, scan and compact; for sorts 8, with subgroups 12, 13 or 32 too.
    pub items: u32,
    /// Workgroups of a dispatch at the most. Each serves a contiguous run of tiles, so that a dispatch needs no second
    /// dimension and partial results stay few, whatever the length.
    pub workgroups: u32,
}

impl Tuning {
    /// What reduce, scan and compact use on this device.
    pub fn sweep(_gpu: &Gpu) -> Self {
        Self { threads: 256, items: 16, workgroups: 2048 }
    }

    /// What sorts use on this device.
    pub fn sort(gpu: &Gpu) -> Self {
        // Eight subgroups at the most, because each needs a counter for every digit in workgroup memory.
        let info = gpu.info();
        let threads = (8 * info.subgroup_min_size).max(info.subgroup_max_size).next_power_of_two();
        // A processor that plays the GPU has small subgroups and no registers to run out of: more keys share the counters.
        let items = if info.device_type == wgpu::DeviceType::Cpu { 32 } else { 13 };
        let tuning = Self { threads: threads.clamp(32, 256), items, workgroups: 4096 };
        match subgroup_pool(gpu, &tuning) {
            Some(_) => tuning,
            None => Self { threads: 256, items: 8, ..tuning },
        }
    }

    /// Refuses what no kernel is made for.
    pub(super) fn checked(self, items: &[u32]) -> Result<Self, PrimitiveError> {
        let threads = self.threads.is_power_of_two() && (32..=256).contains(&self.threads);
        if threads && items.contains(&self.items) && (1..=65_535).contains(&self.workgroups) {
            return Ok(self);
        }
        Err(PrimitiveError::Tuning { tuning: self, items: items.to_vec() })
    }

    /// Elements that a workgroup takes at a time.
    pub(super) fn tile(&self) -> u32 {
        self.threads * self.items
    }

    /// The workgroups that serve up to `len` elements.
    pub(super) fn workgroups_for(&self, len: u32) -> u32 {
        len.div_ceil(self.tile()).clamp(1, self.workgroups)
    }
}

/// Values of WGSL overrides.
pub(super) type Constants = Vec<(&'static str, f64)>;

/// The file with the workgroup's scan that suits the device, and its constants.
pub(super) fn block(gpu: &Gpu, tuning: &Tuning) -> (&'static str, Constants) {
    match whole_subgroups(gpu, tuning) {
        true => block_subgroup(gpu, tuning),
        false => block_baseline(tuning),
    }
}

pub(super) fn block_subgroup(gpu: &Gpu, tuning: &Tuning) -> (&'static str, Constants) {
    let largest = f64::from(gpu.info().subgroup_max_size);
    ("block_subgroup", vec![("GROUP_SIZE", f64::from(tuning.threads)), ("MAX_SUBGROUP", largest)])
}

pub(super) fn block_baseline(tuning: &Tuning) -> (&'static str, Constants) {
    ("block_baseline", vec![("GROUP_SIZE", f64::from(tuning.threads))])
}

/// Whether the device has subgroups, and workgroups consist of whole ones.
fn whole_subgroups(gpu: &Gpu, tuning: &Tuning) -> bool {
    gpu.has(wgpu::Features::SUBGROUP) && gpu.info().subgroup_max_size <= tuning.threads
}

/// The words that a sort exchanges keys through, if it ranks them by subgroups: a counter per digit and subgroup, and
/// a word per key. Nothing if the device is not fit for it.
pub(super) fn subgroup_pool(gpu: &Gpu, tuning: &Tuning) -> Option<u32> {
    // 4 is the least that WebGPU knows.
    let subgroups = tuning.threads.div_ceil(gpu.info().subgroup_min_size.max(4));
    let pool = tuning.tile().max(256 * subgroups);
    // Beside the pool: two words per digit, a sum per subgroup.
    let bytes = 4 * (pool + 2 * 256 + 1 + tuning.threads / 4);
    let fits = bytes <= gpu.limits().max_compute_workgroup_storage_size;
    (whole_subgroups(gpu, tuning) && fits).then_some(pool)
}
