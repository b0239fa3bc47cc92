//! What suits a device: how workgroups scan, and how sorts rank.

use super::tuning::MAX_WORKGROUPS;
use super::work::Constants;
use super::{PrimitiveError, SortKey, Tuning};
use crate::gpu::{self, Gpu};

impl Tuning {
    /// What sorts by such keys use on this device.
    pub fn sort<K: SortKey>(gpu: &Gpu) -> Self {
        // A workgroup per tile as long as a dispatch can have so many: `bench primitives` on an
        // H200 ("pairs", by workgroups).
        let baseline = Self { group_size: 256, items: RANK_BASELINE_ITEMS, workgroups: MAX_WORKGROUPS };
        // The largest workgroup whose pool, counters for all its subgroups at the least, fits the
        // device's workgroup memory.
        let sizes = [256, 128, 64, 32].into_iter();
        let mut by_subgroups = sizes.map(|group_size| Self { group_size, items: K::ITEMS, ..baseline });
        by_subgroups.find(|tuning| Rank::by_subgroups::<K>(gpu, tuning).is_some()).unwrap_or(baseline)
    }

    /// Refuses what no kernel is made for.
    pub(super) fn checked(self, items: &[u32]) -> Result<Self, PrimitiveError> {
        let group_size = self.group_size.is_power_of_two() && (32..=256).contains(&self.group_size);
        if group_size && items.contains(&self.items) && (1..=MAX_WORKGROUPS).contains(&self.workgroups) {
            return Ok(self);
        }
        Err(PrimitiveError::Tuning { tuning: self, items: items.to_vec() })
    }
}

/// The subgroups in workgroups of one size. They are whole.
struct Subgroups {
    /// Invocations of each. Of subgroups in another kernel only if not `varying`.
    size: u32,
    /// Invocations at the most.
    largest: u32,
    varying: bool,
}

impl Subgroups {
    /// None where there are none, or where a workgroup does not consist of whole ones: by what the
    /// adapter says, and by what a kernel saw.
    fn of(gpu: &Gpu, group_size: u32) -> Option<Self> {
        let largest = gpu.info().subgroup_max_size;
        let seen = *gpu.subgroups()?.of(group_size)?;
        // WebGPU knows 4 to 128. A driver that may make a kernel with larger subgroups than the
        // workgroup has no whole ones then.
        let sizes = 4 <= seen.min && seen.max <= largest && largest <= group_size.min(128);
        let fixed = gpu::Subgroups::fixed(gpu) == Some(seen.min);
        (seen.whole && sizes).then_some(Self { size: seen.min, largest, varying: !fixed })
    }
}

/// The file with the workgroup's scan, and what kernels with it are made for.
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

    /// What suits the device.
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

/// How a sort ranks the digits of a tile, which goes with how the workgroup scans.
pub(super) struct Rank {
    pub(super) file: &'static str,
    /// The file with what the block scans, if that of the ranking does not say it.
    pub(super) acc: &'static [&'static str],
    pub(super) block: Block,
    /// Constants of the ranking, beside the block's.
    pub(super) constants: Constants,
    /// The items per invocation.
    pub(super) items: u32,
    /// How pairs are moved: `IN_TURNS` of `shaders/primitives/scatter.wgsl`.
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

    /// With counters for `room` subgroups of at most `largest` invocations; if there may be more
    /// subgroups, `varying`.
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

    /// Items of an invocation that are exchanged at once: of all, where splits may rank, which have
    /// room for them.
    fn at_once<K: SortKey>(varying: bool) -> u32 {
        const { assert!(K::ITEMS <= 2 * K::AT_ONCE) };
        if varying { K::ITEMS } else { K::AT_ONCE }
    }

    /// Words of workgroup memory: a counter per digit and subgroup and a word per invocation; later
    /// words that are exchanged.
    fn pool<K: SortKey>(group_size: u32, room: u32, varying: bool) -> u32 {
        (group_size * Self::at_once::<K>(varying)).max(256 * room + group_size)
    }

    /// What suits the device.
    pub(super) fn of<K: SortKey>(gpu: &Gpu, tuning: &Tuning) -> Self {
        Self::by_subgroups::<K>(gpu, tuning).unwrap_or_else(|| Self::baseline(tuning.group_size))
    }

    /// Ranking by subgroups, where the device has them and enough workgroup memory.
    fn by_subgroups<K: SortKey>(gpu: &Gpu, tuning: &Tuning) -> Option<Self> {
        let Tuning { group_size, .. } = *tuning;
        let subgroups = Subgroups::of(gpu, group_size)?;
        let room = group_size / subgroups.size;
        // Beside the pool: two words per digit and one at their end, whether it is crowded, a sum
        // per subgroup.
        let bytes = 4 * (Self::pool::<K>(group_size, room, subgroups.varying) + 2 * 256 + 2 + group_size / 4);
        let fits = bytes <= gpu.limits().max_compute_workgroup_storage_size;
        let rank = || Self::subgroup::<K>(group_size, subgroups.largest, room, subgroups.varying);
        fits.then(|| Self { in_turns: !gpu.is_software(), ..rank() })
    }
}
