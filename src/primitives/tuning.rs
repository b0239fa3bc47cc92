//! How the kernels are cut.

use super::PrimitiveError;
use crate::gpu::Gpu;

/// The most workgroups of a dispatch in one dimension: WebGPU's default limit.
pub(super) const MAX_WORKGROUPS: u32 = 65_535;

/// How the kernels of a primitive are cut. Results do not depend on it; the default suits the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Threads of a workgroup: a power of two from 32 to 256.
    pub threads: u32,
    /// Elements that a thread takes at a time: 16 for reduce, scan and compact; for sorts 8, or 12 or 32 where
    /// they rank by subgroups.
    pub items: u32,
    /// Workgroups of a dispatch at the most. Each serves a contiguous run of tiles, so that a dispatch needs no second
    /// dimension and partial results stay few, whatever the length. A run has 32 tiles at the most as long as there can
    /// be more workgroups: drivers are known that cut long loops short.
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
        let items = if info.device_type == wgpu::DeviceType::Cpu { 32 } else { 12 };
        let tuning = Self { threads: threads.clamp(32, 256), items, workgroups: 65_535 };
        match Rank::of(gpu, &tuning).items.contains(&items) {
            true => tuning,
            false => Self { threads: 256, items: 8, ..tuning },
        }
    }

    /// Refuses what no kernel is made for.
    pub(super) fn checked(self, items: &[u32]) -> Result<Self, PrimitiveError> {
        let threads = self.threads.is_power_of_two() && (32..=256).contains(&self.threads);
        if threads && items.contains(&self.items) && (1..=MAX_WORKGROUPS).contains(&self.workgroups) {
            return Ok(self);
        }
        Err(PrimitiveError::Tuning { tuning: self, items: items.to_vec() })
    }

    /// Elements that a workgroup takes at a time.
    pub(super) fn tile(&self) -> u32 {
        self.threads * self.items
    }

    /// The workgroups that serve up to `len` elements of each of `arrays` arrays, per array.
    pub(super) fn workgroups_for(&self, len: u32, arrays: u32) -> u32 {
        let tiles = len.div_ceil(self.tile());
        // llvmpipe ends the loops of an invocation after 65,535 iterations in all; a sort takes up to 1000 for a tile.
        let least = tiles.div_ceil(32).clamp(1, MAX_WORKGROUPS / arrays);
        tiles.min(self.workgroups / arrays).max(least)
    }
}

/// Values of WGSL overrides.
pub(super) type Constants = Vec<(&'static str, f64)>;

/// The file with the workgroup's scan, and what kernels with it are made for.
pub(super) struct Block {
    pub(super) file: &'static str,
    pub(super) constants: Constants,
}

impl Block {
    pub(super) fn baseline(threads: u32) -> Self {
        Self { file: "block_baseline", constants: vec![("GROUP_SIZE", threads.into())] }
    }

    /// For subgroups of at most `largest` threads.
    pub(super) fn subgroup(threads: u32, largest: u32) -> Self {
        let constants = vec![("GROUP_SIZE", threads.into()), ("MAX_SUBGROUP", largest.into())];
        Self { file: "block_subgroup", constants }
    }

    /// What suits the device.
    pub(super) fn of(gpu: &Gpu, tuning: &Tuning) -> Self {
        match whole_subgroups(gpu, tuning) {
            true => Self::subgroup(tuning.threads, gpu.info().subgroup_max_size),
            false => Self::baseline(tuning.threads),
        }
    }
}

/// Whether the device has subgroups, and workgroups consist of whole ones.
fn whole_subgroups(gpu: &Gpu, tuning: &Tuning) -> bool {
    gpu.has(wgpu::Features::SUBGROUP) && gpu.info().subgroup_max_size <= tuning.threads
}

/// How a sort ranks the digits of a tile, which goes with how the workgroup scans.
pub(super) struct Rank {
    pub(super) file: &'static str,
    pub(super) block: Block,
    /// Constants of the kernel that ranks, beside the block's.
    pub(super) constants: Constants,
    /// The items per thread that there are.
    pub(super) items: &'static [u32],
}

impl Rank {
    pub(super) fn baseline(threads: u32) -> Self {
        let block = Block::baseline(threads);
        Self { file: "rank_baseline", block, constants: Vec::new(), items: &[8] }
    }

    /// With a pool of `pool` words of workgroup memory.
    pub(super) fn subgroup(threads: u32, largest: u32, pool: u32) -> Self {
        let constants = vec![("POOL", pool.into())];
        let block = Block::subgroup(threads, largest);
        Self { file: "rank_subgroup", block, constants, items: &[12, 32] }
    }

    /// What suits the device.
    pub(super) fn of(gpu: &Gpu, tuning: &Tuning) -> Self {
        let Tuning { threads, .. } = *tuning;
        // 4 is the least that WebGPU knows.
        let subgroups = threads.div_ceil(gpu.info().subgroup_min_size.max(4));
        // A counter per digit and subgroup and a word per thread; later a word per key.
        let pool = tuning.tile().max(256 * subgroups + threads);
        // Beside the pool: two words per digit, a sum per subgroup.
        let bytes = 4 * (pool + 2 * 256 + 1 + threads / 4);
        let fits = bytes <= gpu.limits().max_compute_workgroup_storage_size;
        match fits && whole_subgroups(gpu, tuning) {
            true => Self::subgroup(threads, gpu.info().subgroup_max_size, pool),
            false => Self::baseline(threads),
        }
    }
}
