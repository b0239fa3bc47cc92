//! How replications are laid on the device.

use std::fmt;

use super::Model;
use super::ReplicationError;
use super::schema::link;
use crate::gpu::{Gpu, Kernel, Program, Variant};
use crate::shaders;

/// Invocations per workgroup that every device takes: TEAM_MOST in `shaders/replication/team.wgsl`.
const MOST_LANES: u32 = 256;

/// Which invocations serve a replication. The results are the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One invocation per replication: thread-level parallelism. For many replications that do much the same.
    Thread,
    /// One subgroup per replication, of which one invocation works: the paper's warp-level parallelism. Replications never wait for
    /// each other in branches. For up to some thousand replications that branch differently: see the [module](super).
    /// Where subgroups are missing, a workgroup plays the subgroup.
    Warp,
    /// All invocations of a workgroup serve one replication. For few replications; the model must offer it.
    Cooperative,
    /// Whichever of them a short trial finds the fastest, and [`Mapping::Thread`] from 32,768 replications on.
    #[default]
    Auto,
}

impl fmt::Display for Mapping {
    /// The word that examples take and print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Thread => "thread",
            Self::Warp => "warp",
            Self::Cooperative => "coop",
            Self::Auto => "auto",
        })
    }
}

/// A mapping with the number of invocations per workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The mapping; never [`Mapping::Auto`].
    pub mapping: Mapping,
    /// Invocations per workgroup.
    pub lanes: u32,
}

impl Shape {
    /// The shape that usually serves this many replications.
    pub(super) fn usual(gpu: &Gpu, mapping: Mapping, jobs: u32) -> Self {
        let warp = warp_size(gpu);
        let lanes = match mapping {
            // As few as run in lockstep: the hardware spreads the workgroups, so few replications reach all its cores.
            Mapping::Thread | Mapping::Auto => warp.max(32),
            Mapping::Warp => warp,
            // About 2^17 invocations fill large devices; more of them per replication cost more in the scan.
            Mapping::Cooperative => (131_072 / jobs.max(1)).next_power_of_two().clamp(128.max(warp), 256),
        };
        Self { mapping, lanes: lanes.min(most_lanes(gpu)) }
    }

    /// Replications per workgroup.
    fn per_group(self, gpu: &Gpu) -> u32 {
        match self.mapping {
            Mapping::Thread | Mapping::Auto => self.lanes,
            Mapping::Warp if gpu.has(wgpu::Features::SUBGROUP) => (self.lanes / warp_size(gpu)).max(1),
            Mapping::Warp | Mapping::Cooperative => 1,
        }
    }

    /// Workgroups that serve this many replications.
    pub(super) fn workgroups(self, gpu: &Gpu, jobs: u32) -> u32 {
        jobs.div_ceil(self.per_group(gpu))
    }

    fn check(self, gpu: &Gpu) -> Result<(), ReplicationError> {
        let limits = gpu.limits();
        let most = most_lanes(gpu);
        let refused =
            |remedy| Err(ReplicationError::Lanes { mapping: self.mapping, lanes: self.lanes, remedy });
        if self.lanes == 0 || self.lanes > most {
            return refused(format!("from 1 to {most}"));
        }
        debug_assert!(limits.max_compute_workgroup_size_x >= most);
        Ok(())
    }

    /// Links and compiles the model in this shape.
    pub(super) fn kernel<M: Model>(
        self,
        gpu: &Gpu,
        model: &M,
        trusted: bool,
    ) -> Result<Kernel, ReplicationError> {
        self.check(gpu)?;
        let files = self.files(gpu);
        let program = files.link(model)?;
        let constants = files.constants(self.lanes, self.per_group(gpu), warp_size(gpu));
        let entry = files.entry();
        let kernel = match trusted {
            // SAFETY: `Engine::trusted` had its caller vouch for the model. The engine's own files index by the slot, which they
            // compare with the jobs of the batch (the buffers have room for these), and by lanes below LANES; their
            // loops count to a value that does not change, and the divisor, the replications per point, is above 0.
            true => unsafe { Kernel::trusted(gpu, &program, entry, &constants)? },
            false => Kernel::new(gpu, &program, entry, &constants)?,
        };
        Ok(kernel)
    }

    /// What the device lets be linked.
    fn files(self, gpu: &Gpu) -> Files {
        let info = gpu.info();
        let fixed = info.subgroup_min_size == info.subgroup_max_size;
        let whole = fixed && self.lanes.is_multiple_of(warp_size(gpu));
        Files {
            mapping: self.mapping,
            int64: gpu.has(wgpu::Features::SHADER_INT64),
            subgroups: gpu.has(wgpu::Features::SUBGROUP) && (self.mapping != Mapping::Cooperative || whole),
        }
    }
}

/// Which of the files that define the same functions a kernel is linked from.
#[derive(Debug, Clone, Copy)]
struct Files {
    /// Never [`Mapping::Auto`].
    mapping: Mapping,
    int64: bool,
    subgroups: bool,
}

impl Files {
    fn link<M: Model>(self, model: &M) -> Result<Program, ReplicationError> {
        let engine = match (self.mapping, self.subgroups) {
            (Mapping::Thread | Mapping::Auto, _) => "replication/thread.wgsl",
            (Mapping::Warp, true) => "replication/warp_subgroups.wgsl",
            (Mapping::Warp, false) => "replication/warp.wgsl",
            (Mapping::Cooperative, true) => "replication/team_subgroups.wgsl",
            (Mapping::Cooperative, false) => "replication/team_workgroup.wgsl",
        };
        let product = match self.int64 {
            true => "random/mul_wide_int64.wgsl",
            false => "random/mul_wide.wgsl",
        };
        let mut sources = Vec::new();
        if self.mapping == Mapping::Cooperative {
            let file = model.source().name().to_owned();
            sources.push(model.team_source().ok_or(ReplicationError::NoTeam { file })?);
        }
        sources.extend([engine, product].map(shaders::file));
        link(model, &sources)
    }

    fn entry(self) -> &'static str {
        match self.mapping {
            Mapping::Thread | Mapping::Auto => "thread",
            Mapping::Warp => "warp",
            Mapping::Cooperative => "team",
        }
    }

    /// The values of the `override`s.
    fn constants(self, lanes: u32, per_group: u32, warp: u32) -> Vec<(&'static str, f64)> {
        let [lanes, per_group, warp] = [lanes, per_group, warp].map(f64::from);
        match self.mapping {
            Mapping::Thread | Mapping::Auto => vec![("GROUP", lanes)],
            Mapping::Warp => vec![("GROUP", lanes), ("PER_GROUP", per_group)],
            Mapping::Cooperative if self.subgroups => vec![("LANES", lanes), ("SUBLANES", warp)],
            Mapping::Cooperative => vec![("LANES", lanes)],
        }
    }
}

/// Every program that an engine of `model` may link.
#[doc(hidden)]
pub fn kernels<M: Model>(model: &M) -> Result<Vec<Variant>, ReplicationError> {
    let mut kernels = Vec::new();
    for int64 in [false, true] {
        for (mapping, subgroups) in [
            (Mapping::Thread, false),
            (Mapping::Warp, false),
            (Mapping::Warp, true),
            (Mapping::Cooperative, false),
            (Mapping::Cooperative, true),
        ] {
            if mapping == Mapping::Cooperative && model.team_source().is_none() {
                continue;
            }
            let files = Files { mapping, int64, subgroups };
            // The largest workgroups, of subgroups as most devices have them.
            let per_group = if subgroups { MOST_LANES / 32 } else { 1 };
            kernels.push((files.link(model)?, files.constants(MOST_LANES, per_group, 32)));
        }
    }
    Ok(kernels)
}

/// Invocations that run in lockstep, or a guess at it.
fn warp_size(gpu: &Gpu) -> u32 {
    match gpu.has(wgpu::Features::SUBGROUP) {
        true => gpu.info().subgroup_max_size.max(1),
        false => 32,
    }
}

/// The largest workgroup that the kernels and the device take.
fn most_lanes(gpu: &Gpu) -> u32 {
    gpu.limits().max_compute_invocations_per_workgroup.min(MOST_LANES)
}
