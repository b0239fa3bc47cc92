//! Numbers that the kernels of the module share.

shared! {
    "matching/common.wgsl":
    /// Invocations of a workgroup, in every kernel of the module.
    pub(super) const GROUP_SIZE: u32;
    /// Candidates of a workgroup.
    pub(super) const TILE: u32;
}

/// What the primitives take at the most.
pub(super) const MAX_COUNT: u64 = (1 << 31) - 1;

/// Tiles of candidates that go into a first submission: 3·10⁷ candidates, or 268 MB of pairs. An
/// estimate for devices that write 10 GB/s, not measured.
pub(super) const UNIT: u32 = 1 << 14;

/// The most tasks: the numbers of workgroups beyond the last must not wrap around.
pub(super) const MAX_TASKS: u32 = (1 << 31) - 1;
