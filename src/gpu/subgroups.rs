//! How subgroups lie in workgroups.

mod probe;

pub use probe::kernels;

/// The workgroup sizes that are looked at: the ones that kernels use.
const GROUP_SIZES: [u32; 4] = [32, 64, 128, 256];

/// How subgroups lie in the workgroups of a device, by the size of these: what
/// [`Gpu::subgroups`](super::Gpu::subgroups) found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subgroups {
    layouts: [SubgroupLayout; GROUP_SIZES.len()],
}

/// How subgroups lie in workgroups of one size.
///
/// This is what a small kernel saw. Where the adapter reports one size ([`Subgroups::fixed`]), all
/// kernels have it. Where it reports a range, a driver may compile another kernel for another size:
/// a kernel that reads its size when it runs is right whatever that is, and one that has room for
/// so many subgroups only must check that it has no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubgroupLayout {
    /// Invocations per workgroup.
    pub group_size: u32,
    /// The smallest `subgroup_size` that an invocation saw.
    pub min: u32,
    /// The largest.
    pub max: u32,
    /// Whether subgroups are whole and say so: all have one size, which divides the workgroup's;
    /// there are `num_subgroups` of them, `subgroup_id * subgroup_size + subgroup_invocation_id`
    /// gives each invocation a number of its own below the workgroup's size; and ballots and
    /// shuffles go by `subgroup_invocation_id`.
    pub whole: bool,
    /// Whether they are whole and that number is `local_invocation_index`.
    pub in_order: bool,
}

impl Subgroups {
    /// The layout in workgroups of this size; none if it is not one of 32, 64, 128 and 256.
    pub fn of(&self, workgroup: u32) -> Option<&SubgroupLayout> {
        self.layouts.iter().find(|layout| layout.group_size == workgroup)
    }

    /// The layouts in workgroups of 32, 64, 128 and 256.
    pub fn layouts(&self) -> &[SubgroupLayout] {
        &self.layouts
    }
}
