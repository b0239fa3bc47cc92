//! The layout of subgroups in workgroups.

mod probe;

pub use probe::kernels;

/// The workgroup sizes of the probe: those that kernels use.
const GROUP_SIZES: [u32; 4] = [32, 64, 128, 256];

/// The layout of subgroups in a device's workgroups, by workgroup size: the result of
/// [`Gpu::subgroups`](super::Gpu::subgroups).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subgroups {
    layouts: [SubgroupLayout; GROUP_SIZES.len()],
}

/// The layout of subgroups in workgroups of one size, as a small kernel observed it.
///
/// If the adapter reports one size ([`Subgroups::fixed`]), all kernels have it. If it reports a
/// range, a driver may compile another kernel for another size. A kernel that reads its size when
/// it runs works with any size. A kernel with space for a fixed number of subgroups must check that
/// there are no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubgroupLayout {
    /// Invocations per workgroup.
    pub group_size: u32,
    /// The smallest `subgroup_size` of any invocation.
    pub min: u32,
    /// The largest `subgroup_size`.
    pub max: u32,
    /// Whether subgroups are whole: all have one size, which divides the workgroup's size, and
    /// there are `num_subgroups` of them. `subgroup_id * subgroup_size + subgroup_invocation_id`
    /// gives each invocation a unique number below the workgroup's size. Ballots and shuffles use
    /// `subgroup_invocation_id`.
    pub whole: bool,
    /// Whether subgroups are whole and that number equals `local_invocation_index`.
    pub in_order: bool,
}

impl Subgroups {
    /// The layout in workgroups of this size; `None` if it is not 32, 64, 128 or 256.
    pub fn of(&self, workgroup: u32) -> Option<&SubgroupLayout> {
        self.layouts.iter().find(|layout| layout.group_size == workgroup)
    }

    /// The layouts in workgroups of 32, 64, 128 and 256.
    pub fn layouts(&self) -> &[SubgroupLayout] {
        &self.layouts
    }
}
