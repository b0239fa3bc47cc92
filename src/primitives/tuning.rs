//! How the kernels are cut.

use crate::gpu::Gpu;

/// The most workgroups of a dispatch in one dimension: WebGPU's default limit.
pub(super) const MAX_WORKGROUPS: u32 = 65_535;

shared! {
    "primitives/params.wgsl":
    const VECTORS: u32;
}
/// Elements that an invocation of reduce, scan and compact takes at a time: four in each vector.
/// A guess that reaches the bandwidth of memory on an H200 (the module's table).
pub(super) const SWEEP_ITEMS: u32 = 4 * VECTORS;

/// How the kernels of a primitive are cut. Results do not depend on it; the default suits the
/// device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Invocations of a workgroup: a power of two from 32 to 256.
    pub group_size: u32,
    /// Elements that an invocation takes at a time: 16 for reduce, scan and compact; for sorts 18
    /// where they rank by subgroups, 13 of keys of 64 bits, else 8.
    pub items: u32,
    /// Workgroups of a dispatch at the most. Each serves a contiguous run of tiles, so that a
    /// dispatch needs no second dimension and partial results stay few, whatever the length. A run
    /// has 32 tiles at the most as long as there can be more workgroups: drivers are known that cut
    /// long loops short.
    pub workgroups: u32,
}

impl Tuning {
    /// What reduce, scan and compact use on this device.
    pub fn sweep(_gpu: &Gpu) -> Self {
        // On an H200, `bench primitives` shows 2048 and 4096 workgroups beside each other. The size
        // is a guess: the most that WebGPU promises.
        Self { group_size: 256, items: SWEEP_ITEMS, workgroups: 2048 }
    }

    /// Elements that a workgroup takes at a time.
    pub(super) fn tile(&self) -> u32 {
        self.group_size * self.items
    }

    /// The workgroups that serve up to `len` elements of each of `arrays` arrays, per array: at
    /// least 1, at most 65,535 in all, and never fewer for a greater `len`.
    pub(super) fn workgroups_for(&self, len: u32, arrays: u32) -> u32 {
        let tiles = len.div_ceil(self.tile());
        // llvmpipe ends the loops of an invocation after 65,535 iterations in all; a sort takes up
        // to 1000 for a tile (32 items, counted by hand; `few_workgroups_serve_many_tiles` in
        // tests/it/primitives/mod.rs).
        let least = tiles.div_ceil(32).clamp(1, MAX_WORKGROUPS / arrays);
        tiles.min(self.workgroups / arrays).max(least)
    }
}
