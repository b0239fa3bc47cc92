//! Probes the layout of subgroups on the device: WGSL does not define it, and adapters report a
//! range of sizes.

use super::{GROUP_SIZES, SubgroupLayout, Subgroups};
use crate::gpu::{Buffer, Gpu, GpuError, Plan, Recipe};
use crate::shaders;

/// Workgroups of each size in the probe.
const SAMPLES: u32 = 4;

impl Subgroups {
    /// The size of all subgroups of the device; `None` if the adapter reports several sizes.
    pub(crate) fn fixed(gpu: &Gpu) -> Option<u32> {
        let (min, max) = (gpu.info().subgroup_min_size, gpu.info().subgroup_max_size);
        (gpu.has(wgpu::Features::SUBGROUP) && min == max && min > 0).then_some(min)
    }

    /// The size of all subgroups of the device, if subgroups in workgroups of this size follow the
    /// order of local indices.
    pub(crate) fn in_order(gpu: &Gpu, group_size: u32) -> Option<u32> {
        let size = Self::fixed(gpu)?;
        let seen = *gpu.subgroups()?.of(group_size)?;
        (seen.in_order && seen.min == size).then_some(size)
    }

    /// Runs the probe.
    async fn probe(gpu: &Gpu) -> Result<Self, GpuError> {
        let mut plan = Plan::new("probe of subgroups");
        let mut outputs = Vec::new();
        for group_size in GROUP_SIZES {
            let kernel = recipe(group_size).kernel(gpu)?;
            let label = format!("subgroups in workgroups of {group_size}");
            let output = Buffer::<Seen>::storage(gpu, &label, u64::from(group_size * SAMPLES))?;
            plan.dispatch(gpu, &kernel, SAMPLES, &[("subgroups_seen", output.binding())])?;
            outputs.push(output);
        }
        plan.submit(gpu)?;
        let mut layouts = GROUP_SIZES.map(SubgroupLayout::unknown);
        for (layout, output) in layouts.iter_mut().zip(&outputs) {
            *layout = SubgroupLayout::of(layout.group_size, &output.read_async(gpu).await?);
        }
        Ok(Self { layouts })
    }
}

impl Gpu {
    /// The layout of subgroups in this device's workgroups. A small kernel measures it at the first
    /// call (in browsers, where calls may not block, in [`Gpu::open`]); the result is cached.
    ///
    /// `None` if kernels may not use subgroups, or if the probe fails, which is logged. Then
    /// baseline kernels run. Browsers always return `None` today: wgpu 30 does not request
    /// subgroups from them.
    #[doc(hidden)]
    pub fn subgroups(&self) -> Option<Subgroups> {
        if !self.has(wgpu::Features::SUBGROUP) {
            return None;
        }
        #[cfg(not(target_arch = "wasm32"))]
        {
            *self.probed().get_or_init(|| pollster::block_on(self.probe_subgroups()))
        }
        #[cfg(target_arch = "wasm32")]
        {
            self.probed().get().copied().flatten()
        }
    }

    pub(in crate::gpu) async fn probe_subgroups(&self) -> Option<Subgroups> {
        Subgroups::probe(self).await.inspect_err(|error| log::warn!("no subgroups: {error}")).ok()
    }
}

shared! {
    "gpu/subgroups.wgsl":
    /// The observations of an invocation.
    struct Seen {
        size: u32,
        index: u32,
        subgroup: u32,
        subgroups: u32,
        voters: u32,
        before: u32,
        across: u32,
        first: u32,
        votes: [u32; 4],
    }
}

impl SubgroupLayout {
    fn unknown(group_size: u32) -> Self {
        Self { group_size, min: 0, max: 0, whole: false, in_order: false }
    }

    /// The layout, from the observations of several workgroups' invocations by local index.
    fn of(group_size: u32, seen: &[Seen]) -> Self {
        let sizes = || seen.iter().map(|seen| seen.size);
        let groups = || seen.chunks(group_size as usize);
        let whole = groups().all(is_whole);
        let mut numbered = groups().flat_map(|group| (0..).zip(group));
        Self {
            group_size,
            min: sizes().min().unwrap_or(0),
            max: sizes().max().unwrap_or(0),
            whole: whole && sizes().all(|size| size == seen[0].size),
            in_order: whole && numbered.all(|(local, seen)| number(seen) == Some(local)),
        }
    }
}

/// The invocation's number, subgroup by subgroup. `None` if the observations contradict each other.
fn number(seen: &Seen) -> Option<usize> {
    let number = seen.subgroup.checked_mul(seen.size)?.checked_add(seen.index)?;
    (seen.index < seen.size).then_some(number as usize)
}

/// Whether the invocations of a workgroup, by local index, form whole subgroups.
fn is_whole(group: &[Seen]) -> bool {
    let size = group[0].size as usize;
    // A ballot has 128 bits.
    if !(1..=128).contains(&size) || !group.len().is_multiple_of(size) {
        return false;
    }
    // The local index of each number.
    let mut locals = vec![None; group.len()];
    for (local, seen) in (0..).zip(group) {
        let alike = seen.size as usize == size && seen.subgroups as usize == group.len() / size;
        let place = number(seen).and_then(|number| locals.get_mut(number));
        match place {
            Some(place @ None) if alike => *place = Some(local),
            _ => return false,
        }
    }
    // There are as many numbers as local indices and no duplicates, so each occurs once.
    let locals: Vec<u32> = locals.into_iter().flatten().collect();
    locals.chunks(size).all(|subgroup| {
        let mut votes = [0; 4];
        for (index, local) in subgroup.iter().enumerate() {
            votes[index / 32] |= (local.count_ones() & 1) << (index % 32);
        }
        subgroup.iter().enumerate().all(|(index, &local)| {
            let seen = &group[local as usize];
            let before = index.checked_sub(1).map(|before| subgroup[before]);
            seen.voters as usize == size
                && seen.votes == votes
                && before.is_none_or(|before| before == seen.before)
                && seen.across == subgroup[size - 1 - index]
                && seen.first == subgroup[0]
        })
    })
}

fn recipe(group_size: u32) -> Recipe {
    Recipe::new("subgroups", "subgroups", [shaders::file("gpu/subgroups.wgsl")])
        .with([("GROUP_SIZE", group_size.into())])
}

/// Every kernel that this module can link.
#[doc(hidden)]
pub fn kernels() -> Vec<Recipe> {
    GROUP_SIZES.iter().map(|&group_size| recipe(group_size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The observations on a device that numbers the invocation with local index `i` as `order[i]`.
    fn seen(order: &[u32], size: u32) -> Vec<Seen> {
        let subgroups = u32::try_from(order.len()).unwrap() / size;
        let local = |number| u32::try_from(order.iter().position(|&other| other == number).unwrap()).unwrap();
        let see = |&number: &u32| {
            let (subgroup, index) = (number / size, number % size);
            let first = subgroup * size;
            let mut votes = [0; 4];
            for other in 0..size {
                votes[other as usize / 32] |= (local(first + other).count_ones() & 1) << (other % 32);
            }
            let before = local(first + index.saturating_sub(1));
            let across = local(first + size - 1 - index);
            Seen {
                size,
                index,
                subgroup,
                subgroups,
                voters: size,
                before,
                across,
                first: local(first),
                votes,
            }
        };
        order.iter().map(see).collect()
    }

    #[test]
    fn whole_subgroups_differ_by_their_order() {
        let straight: Vec<u32> = (0..64).collect();
        // A device that puts 8 by 4 invocations into a subgroup may have this order.
        let turned: Vec<u32> = (0..64).map(|i| i ^ 5).collect();
        for size in [1, 4, 8, 16, 32, 64] {
            let expected =
                SubgroupLayout { group_size: 64, min: size, max: size, whole: true, in_order: true };
            assert_eq!(SubgroupLayout::of(64, &seen(&straight, size)), expected);
            let expected = SubgroupLayout { in_order: false, ..expected };
            assert_eq!(SubgroupLayout::of(64, &seen(&turned, size)), expected);
        }
    }

    #[test]
    fn what_is_not_whole_is_seen() {
        let fine = seen(&(0..64).collect::<Vec<u32>>(), 16);
        let faults: [fn(&mut [Seen]); 10] = [
            |seen| seen[17].size = 8,
            |seen| seen[17].index = 0,
            |seen| seen[17].subgroup = 4,
            |seen| seen[17].subgroup = u32::MAX,
            |seen| seen[17].subgroups = 5,
            |seen| seen[17].voters = 15,
            |seen| seen[17].before = 17,
            |seen| seen[17].across = 17,
            |seen| seen[17].first = 17,
            |seen| seen[17].votes[1] = 1,
        ];
        for (number, fault) in faults.iter().enumerate() {
            let mut seen = fine.clone();
            fault(&mut seen);
            let layout = SubgroupLayout::of(64, &seen);
            assert!(!layout.whole && !layout.in_order, "fault {number}");
        }
        // No output was written; the size does not divide the workgroup's; another workgroup has
        // another size.
        assert!(!SubgroupLayout::of(64, &vec![bytemuck::Zeroable::zeroed(); 64]).whole);
        let mut odd = seen(&(0..48).collect::<Vec<u32>>(), 16);
        odd.iter_mut().for_each(|seen| seen.size = 32);
        assert!(!SubgroupLayout::of(48, &odd).whole);
        let other = seen(&(0..64).collect::<Vec<u32>>(), 32);
        let both = SubgroupLayout::of(64, &[fine, other].concat());
        assert_eq!((both.min, both.max, both.whole), (16, 32, false));
    }
}
