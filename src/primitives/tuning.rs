//! The sizes of kernels: invocations, items and workgroups.

use crate::gpu::Gpu;

/// The most workgroups of a dispatch in one dimension: WebGPU's default limit.
pub(super) const MAX_WORKGROUPS: u32 = 65_535;

shared! {
    "primitives/params.wgsl":
    const VECTORS: u32;
}
/// Elements that an invocation of reduce, scan and compact processes at a time: four in each
/// vector, which reaches the memory bandwidth of an H200.
pub(super) const SWEEP_ITEMS: u32 = 4 * VECTORS;

/// The sizes of a primitive's kernels. Results do not depend on them; the default suits the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Invocations of a workgroup: a power of two from 32 to 256.
    pub group_size: u32,
    /// Elements that an invocation processes at a time: 16 for reduce, scan and compact. For sorts:
    /// 18 if they rank by subgroups (13 for keys of 64 bits), else 8.
    pub items: u32,
    /// Maximum number of workgroups of a dispatch. Each serves a contiguous run of tiles, so that a
    /// dispatch needs no second dimension and partial results stay few at every length. A run has
    /// at most 32 tiles while more workgroups are possible, because some drivers cut long loops
    /// short.
    pub workgroups: u32,
}

impl Tuning {
    /// The tuning of reduce, scan and compact on this device.
    pub fn sweep(_gpu: &Gpu) -> Self {
        // 256 invocations: the largest workgroup that WebGPU guarantees. 2048 workgroups: 4096 are
        // no faster on an H200.
        Self { group_size: 256, items: SWEEP_ITEMS, workgroups: 2048 }
    }

    /// Elements that a workgroup processes at a time.
    pub(super) fn tile(&self) -> u32 {
        self.group_size * self.items
    }

    /// The workgroups that serve up to `len` elements of each of `arrays` arrays, per array: at
    /// least 1, at most 65,535 in all, and never fewer for a larger `len`.
    pub(super) fn workgroups_for(&self, len: u32, arrays: u32) -> u32 {
        let tiles = len.div_ceil(self.tile());
        // llvmpipe ends an invocation's loops after 65,535 iterations in all. A sort needs up to
        // 1000 for a tile of 32 items; `few_workgroups_serve_many_tiles` tests that.
        let least = tiles.div_ceil(32).clamp(1, MAX_WORKGROUPS / arrays);
        tiles.min(self.workgroups / arrays).max(least)
    }
}
