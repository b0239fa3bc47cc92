//! How replications are mapped to the device.

use super::{Mapping, Model, ReplicationError};
use crate::gpu::{Gpu, Kernel, Recipe, Source, Subgroups};
use crate::shaders;

/// The largest workgroup of the kernels: WebGPU's default limit is 256 invocations.
const MOST_INVOCATIONS: u32 = 256;

/// A mapping with the number of invocations per workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The mapping; never [`Mapping::Auto`].
    pub mapping: Mapping,
    /// Invocations per workgroup.
    pub group_size: u32,
}

impl Shape {
    /// The default shape for this many replications of a model; `tabled` if it draws with a table.
    pub(super) fn usual(gpu: &Gpu, mapping: Mapping, jobs: u32, tabled: bool) -> Self {
        let warp = warp_size(gpu);
        let group_size = match mapping {
            // Each workgroup has a table, and a core's memory bounds their number (about 25 in 228
            // KiB), so workgroups of 32 would leave invocations idle. 64 give cores even shares of
            // few replications; 128 suit many.
            Mapping::Thread | Mapping::Auto if tabled => warp.max(if jobs < 1 << 17 { 64 } else { 128 }),
            // As few as run in lockstep: the hardware spreads the workgroups, so even few
            // replications reach all cores.
            Mapping::Thread | Mapping::Auto => warp.max(32),
            Mapping::Warp => warp,
            // About 2^17 invocations fill large devices; more of them per replication make the scan
            // more expensive.
            Mapping::Team => (131_072 / jobs.max(1)).next_power_of_two().clamp(128.max(warp), 256),
        };
        Self { mapping, group_size: group_size.min(most_invocations(gpu)) }
    }

    /// Replications per workgroup.
    fn per_group(self, gpu: &Gpu) -> u32 {
        match self.mapping {
            Mapping::Thread | Mapping::Auto => self.group_size,
            Mapping::Warp if gpu.has(wgpu::Features::SUBGROUP) => (self.group_size / warp_size(gpu)).max(1),
            Mapping::Warp | Mapping::Team => 1,
        }
    }

    /// Workgroups for this many replications.
    pub(super) fn workgroups(self, gpu: &Gpu, jobs: u32) -> u32 {
        jobs.div_ceil(self.per_group(gpu))
    }

    fn check(self, gpu: &Gpu) -> Result<(), ReplicationError> {
        let Self { mapping, group_size } = self;
        let most = most_invocations(gpu);
        match (1..=most).contains(&group_size) {
            true => Ok(()),
            false => {
                let remedy = format!("from 1 to {most}");
                Err(ReplicationError::GroupSize { mapping, group_size, remedy })
            }
        }
    }

    /// The model in this shape, compiled; the device caches compiled kernels.
    pub(super) fn kernel<M: Model>(
        self,
        gpu: &Gpu,
        model: &M,
        trusted: bool,
    ) -> Result<Kernel, ReplicationError> {
        self.check(gpu)?;
        let recipe = self.files(gpu).recipe(model, self.group_size, self.per_group(gpu), warp_size(gpu))?;
        Ok(match trusted {
            // SAFETY: see `// bounds:` of shaders/replication/job.wgsl; the caller vouches for the
            // model.
            true => unsafe { recipe.trusted(gpu)? },
            false => recipe.kernel(gpu)?,
        })
    }

    /// The files that the device supports.
    fn files(self, gpu: &Gpu) -> Files {
        Files {
            mapping: self.mapping,
            int64: gpu.has(wgpu::Features::SHADER_INT64),
            subgroups: match self.mapping {
                Mapping::Team => self.whole_subgroups(gpu),
                _ => gpu.has(wgpu::Features::SUBGROUP),
            },
        }
    }

    /// Whether a workgroup consists of whole subgroups in every kernel, according to the adapter
    /// and to a probe kernel.
    fn whole_subgroups(self, gpu: &Gpu) -> bool {
        let Some(size) = Subgroups::fixed(gpu) else { return false };
        let seen = gpu.subgroups().and_then(|seen| seen.of(self.group_size).copied());
        seen.is_some_and(|seen| seen.whole && seen.min == size)
    }
}

/// The choice among files that define the same functions.
#[derive(Debug, Clone, Copy)]
struct Files {
    /// Never [`Mapping::Auto`].
    mapping: Mapping,
    int64: bool,
    subgroups: bool,
}

impl Files {
    /// The files with the values of their `override`s.
    fn recipe<M: Model>(
        self,
        model: &M,
        group_size: u32,
        per_group: u32,
        warp: u32,
    ) -> Result<Recipe, ReplicationError> {
        let (engine, entry) = match (self.mapping, self.subgroups) {
            (Mapping::Thread | Mapping::Auto, _) => ("replication/thread.wgsl", "thread"),
            (Mapping::Warp, true) => ("replication/warp_subgroups.wgsl", "warp"),
            (Mapping::Warp, false) => ("replication/warp.wgsl", "warp"),
            (Mapping::Team, true) => ("replication/team_subgroups.wgsl", "team"),
            (Mapping::Team, false) => ("replication/team_workgroup.wgsl", "team"),
        };
        let source = model.source();
        let name = source.name().to_owned();
        let mut sources = vec![source];
        if self.mapping == Mapping::Team {
            let team = model.team_source();
            sources.push(team.ok_or_else(|| ReplicationError::NoTeam { file: name.clone() })?);
        }
        sources.extend([engine, product(self.int64), tables(&sources)].map(shaders::file));
        let mut constants = vec![("GROUP_SIZE", group_size.into())];
        match self.mapping {
            Mapping::Warp => constants.push(("PER_GROUP", per_group.into())),
            Mapping::Team if self.subgroups => constants.push(("SUBGROUP_SIZE", warp.into())),
            _ => {}
        }
        Ok(Recipe::new(name, entry, sources).with(constants))
    }
}

/// The file with `mul_wide`, for a device with or without 64-bit integers.
pub(super) fn product(int64: bool) -> &'static str {
    match int64 {
        true => "random/mul_wide_int64.wgsl",
        false => "random/mul_wide.wgsl",
    }
}

/// The file with the table that models may draw with.
pub(super) const TABLE: &str = "random/exponential_table.wgsl";

/// The file that fills the tables with which a model draws.
pub(super) fn tables(model: &[Source]) -> &'static str {
    if model.iter().any(|source| source.imports(TABLE)) { TABLE } else { "random/no_tables.wgsl" }
}

/// Every kernel that an engine of `model` may build, in the largest workgroups.
///
/// # Errors
/// None for a model that an [`Engine`](super::Engine) accepts.
#[doc(hidden)]
pub fn kernels<M: Model>(model: &M) -> Result<Vec<Recipe>, ReplicationError> {
    let mut kernels = Vec::new();
    for int64 in [false, true] {
        for (mapping, subgroups) in [
            (Mapping::Thread, false),
            (Mapping::Warp, false),
            (Mapping::Warp, true),
            (Mapping::Team, false),
            (Mapping::Team, true),
        ] {
            if mapping == Mapping::Team && model.team_source().is_none() {
                continue;
            }
            let files = Files { mapping, int64, subgroups };
            // With the subgroup size of most devices.
            let per_group = if subgroups { MOST_INVOCATIONS / 32 } else { 1 };
            kernels.push(files.recipe(model, MOST_INVOCATIONS, per_group, 32)?);
        }
    }
    Ok(kernels)
}

/// Invocations that run in lockstep, or an estimate.
fn warp_size(gpu: &Gpu) -> u32 {
    match gpu.has(wgpu::Features::SUBGROUP) {
        true => gpu.info().subgroup_max_size.max(1),
        false => 32,
    }
}

/// The largest workgroup that both the kernels and the device support.
fn most_invocations(gpu: &Gpu) -> u32 {
    let limits = gpu.limits();
    let device = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
    device.min(MOST_INVOCATIONS)
}
