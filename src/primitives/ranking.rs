//! Chooses for a device how workgroups scan and how sorts rank.

use super::tuning::MAX_WORKGROUPS;
use super::work::Constants;
use super::{PrimitiveError, SortKey, Tuning};
use crate::gpu::{self, Gpu};

impl Tuning {
    /// The tuning of sorts with such keys on this device.
    pub fn sort<K: SortKey>(gpu: &Gpu) -> Self {
        // One workgroup per tile, up to the limit of a dispatch: the fastest setting in `bench
        // primitives`.
        let baseline = Self { group_size: 256, items: RANK_BASELINE_ITEMS, workgroups: MAX_WORKGROUPS };
        // The largest workgroup whose pool fits the device's workgroup memory. The pool holds at
        // least the counters of all its subgroups.
        let sizes = [256, 128, 64, 32].into_iter();
        let mut by_subgroups = sizes.map(|group_size| Self { group_size, items: K::ITEMS, ..baseline });
        by_subgroups.find(|tuning| Rank::by_subgroups::<K>(gpu, tuning).is_some()).unwrap_or(baseline)
    }

    /// Rejects a tuning that no kernel supports.
    pub(super) fn checked(self, items: &[u32]) -> Result<Self, PrimitiveError> {
        let group_size = self.group_size.is_power_of_two() && (32..=256).contains(&self.group_size);
        if group_size && items.contains(&self.items) && (1..=MAX_WORKGROUPS).contains(&self.workgroups) {
            return Ok(self);
        }
        Err(PrimitiveError::Tuning { tuning: self, items: items.to_vec() })
    }
}

/// The subgroups in workgroups of one size. All are whole.
struct Subgroups {
    /// Invocations of each subgroup. Other kernels have the same size only if `varying` is false.
    size: u32,
    /// Invocations of a subgroup, at most.
    largest: u32,
    varying: bool,
}

impl Subgroups {
    /// `None` if there are no subgroups, or if a workgroup does not consist of whole ones. Both the
    /// adapter's report and a probe kernel decide that.
    fn of(gpu: &Gpu, group_size: u32) -> Option<Self> {
        let largest = gpu.info().subgroup_max_size;
        let seen = *gpu.subgroups()?.of(group_size)?;
        // WebGPU allows 4 to 128. If a driver may compile a kernel with subgroups larger than the
        // workgroup, the workgroup has no whole ones.
        let sizes = 4 <= seen.min && seen.max <= largest && largest <= group_size.min(128);
        let fixed = gpu::Subgroups::fixed(gpu) == Some(seen.min);
        (seen.whole && sizes).then_some(Self { size: seen.min, largest, varying: !fixed })
    }
}

/// The file with the workgroup's scan, and the constants of kernels with it.
pub(super) struct Block {
    pub(super) file: &'static str,
    pub(super) constants: Constants,
}

impl Block {
    pub(super) fn baseline(group_size: u32) -> Self {
        Self { file: "block_baseline", constants: vec![("GROUP_SIZE", group_size.into())] }
    }

    /// For subgroups of at most `largest` invocations.
    pub(super) fn subgroup(group_size: u32, largest: u32) -> Self {
        let constants = vec![("GROUP_SIZE", group_size.into()), ("MAX_SUBGROUP", largest.into())];
        Self { file: "block_subgroup", constants }
    }

    /// The scan that suits the device.
    pub(super) fn of(gpu: &Gpu, tuning: &Tuning) -> Self {
        match Subgroups::of(gpu, tuning.group_size) {
            Some(subgroups) => Self::subgroup(tuning.group_size, subgroups.largest),
            None => Self::baseline(tuning.group_size),
        }
    }
}

shared! {
    "primitives/rank_baseline.wgsl":
    const RANK_BASELINE_ITEMS: u32 as ITEMS;
}

/// How a sort ranks the digits of a tile. It depends on how the workgroup scans.
pub(super) struct Rank {
    pub(super) file: &'static str,
    /// The file with the block's accumulator, unless the ranking file names it.
    pub(super) acc: &'static [&'static str],
    pub(super) block: Block,
    /// Constants of the ranking, in addition to the block's.
    pub(super) constants: Constants,
    /// The items per invocation.
    pub(super) items: u32,
    /// How pairs move: `IN_TURNS` of `shaders/primitives/scatter.wgsl`.
    pub(super) in_turns: bool,
}

impl Rank {
    pub(super) fn baseline(group_size: u32) -> Self {
        Self {
            file: "rank_baseline",
            acc: &[],
            block: Block::baseline(group_size),
            constants: Vec::new(),
            items: RANK_BASELINE_ITEMS,
            in_turns: false,
        }
    }

    /// Has counters for `room` subgroups of at most `largest` invocations. `varying`: a kernel may
    /// have more subgroups.
    pub(super) fn subgroup<K: SortKey>(group_size: u32, largest: u32, room: u32, varying: bool) -> Self {
        Self {
            file: "rank_subgroup",
            acc: &["acc_word"],
            block: Block::subgroup(group_size, largest),
            constants: vec![
                ("ROOM", room.into()),
                ("VARYING", varying.into()),
                ("POOL", Self::pool::<K>(group_size, room, varying).into()),
                ("ITEMS", K::ITEMS.into()),
                ("AT_ONCE", Self::at_once::<K>(varying).into()),
            ],
            items: K::ITEMS,
            in_turns: false,
        }
    }

    /// Items of an invocation that are exchanged at once: all of them if splits may rank, because
    /// splits have room for them.
    fn at_once<K: SortKey>(varying: bool) -> u32 {
        const { assert!(K::ITEMS <= 2 * K::AT_ONCE) };
        if varying { K::ITEMS } else { K::AT_ONCE }
    }

    /// Words of workgroup memory: a counter per digit and subgroup and a word per invocation. Later
    /// the same words hold exchanged items.
    fn pool<K: SortKey>(group_size: u32, room: u32, varying: bool) -> u32 {
        (group_size * Self::at_once::<K>(varying)).max(256 * room + group_size)
    }

    /// The ranking that suits the device.
    pub(super) fn of<K: SortKey>(gpu: &Gpu, tuning: &Tuning) -> Self {
        Self::by_subgroups::<K>(gpu, tuning).unwrap_or_else(|| Self::baseline(tuning.group_size))
    }

    /// Ranking by subgroups, if the device has them and enough workgroup memory.
    fn by_subgroups<K: SortKey>(gpu: &Gpu, tuning: &Tuning) -> Option<Self> {
        let Tuning { group_size, .. } = *tuning;
        let subgroups = Subgroups::of(gpu, group_size)?;
        let room = group_size / subgroups.size;
        // In addition to the pool: two words per digit, one at their end, the crowded flag, and a
        // sum per subgroup.
        let bytes = 4 * (Self::pool::<K>(group_size, room, subgroups.varying) + 2 * 256 + 2 + group_size / 4);
        let fits = bytes <= gpu.limits().max_compute_workgroup_storage_size;
        let rank = || Self::subgroup::<K>(group_size, subgroups.largest, room, subgroups.varying);
        fits.then(|| Self { in_turns: !gpu.is_software(), ..rank() })
    }
}
