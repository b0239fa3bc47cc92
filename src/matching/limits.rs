//! Numbers that the kernels of the module share.

shared! {
    "matching/common.wgsl":
    /// Invocations of a workgroup, in every kernel of the module.
    pub(super) const GROUP_SIZE: u32;
    /// Candidates per workgroup.
    pub(super) const TILE: u32;
}

/// The maximum length of the primitives.
pub(super) const MAX_COUNT: u64 = (1 << 31) - 1;

/// Tiles of candidates in a first submission: 3·10⁷ candidates, or 268 MB of pairs. Meant for
/// devices that write 10 GB/s.
pub(super) const UNIT: u32 = 1 << 14;

/// The maximum number of tasks: the numbers of workgroups beyond the last must not wrap around.
pub(super) const MAX_TASKS: u32 = (1 << 31) - 1;
