//! How replications are laid on the device.

use std::fmt;

use super::Model;
use super::ReplicationError;
use super::schema::link;
use crate::gpu::{Gpu, Kernel, Program};
use crate::shaders;

/// Which invocations serve a replication. The results are the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One invocation per replication: thread-level parallelism. For many replications that do much the same.
    Thread,
    /// One subgroup per replication, of which one invocation works: the paper's warp-level parallelism. Replications never wait for
    /// each other in branches. Where subgroups are missing, a workgroup plays the subgroup.
    Warp,
    /// All invocations of a workgroup serve one replication. For few replications; the model must offer it.
    Cooperative,
    /// Whichever of them a short trial finds the fastest.
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
            Mapping::Thread | Mapping::Auto => 64,
            // One subgroup per workgroup: the hardware spreads the workgroups, so few replications reach all its cores.
            Mapping::Warp => warp,
            // About 2^16 invocations fill large devices; more of them per replication cost more in the scan.
            Mapping::Cooperative => (65_536 / jobs.max(1)).next_power_of_two().clamp(32.max(warp), 256),
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
        let (program, entry, lanes) = self.program(gpu, model)?;
        let per_group = f64::from(self.per_group(gpu));
        let mut constants = vec![(lanes, f64::from(self.lanes))];
        match self.mapping {
            Mapping::Warp => constants.push(("PER_GROUP", per_group)),
            Mapping::Cooperative if program.features().contains(wgpu::Features::SUBGROUP) => {
                constants.push(("SUBLANES", f64::from(warp_size(gpu))));
            }
            _ => {}
        }
        let kernel = match trusted {
            // SAFETY: `Engine::trusted` had its caller vouch for the model. The engine's own files index by the slot, which they
            // compare with the jobs of the batch (the buffers have room for these), and by lanes below LANES; their
            // loops count to a value that does not change, and the divisor, the replications per point, is above 0.
            true => unsafe { Kernel::trusted(gpu, &program, entry, &constants)? },
            false => Kernel::new(gpu, &program, entry, &constants)?,
        };
        Ok(kernel)
    }

    /// The linked program, its entry point and the name of its workgroup size.
    pub(super) fn program<M: Model>(
        self,
        gpu: &Gpu,
        model: &M,
    ) -> Result<(Program, &'static str, &'static str), ReplicationError> {
        let product = match gpu.has(wgpu::Features::SHADER_INT64) {
            true => "random/mul_wide_int64.wgsl",
            false => "random/mul_wide.wgsl",
        };
        let subgroups = gpu.has(wgpu::Features::SUBGROUP);
        let info = gpu.info();
        let (file, entry, lanes) = match self.mapping {
            Mapping::Thread | Mapping::Auto => ("replication/thread.wgsl", "thread", "GROUP"),
            Mapping::Warp if subgroups => ("replication/warp_subgroups.wgsl", "warp", "GROUP"),
            Mapping::Warp => ("replication/warp.wgsl", "warp", "GROUP"),
            Mapping::Cooperative => {
                let fixed = info.subgroup_min_size == info.subgroup_max_size;
                let whole = self.lanes.is_multiple_of(warp_size(gpu));
                let file = match subgroups && fixed && whole {
                    true => "replication/team_subgroups.wgsl",
                    false => "replication/team_workgroup.wgsl",
                };
                (file, "team", "LANES")
            }
        };
        let mut sources = Vec::new();
        if self.mapping == Mapping::Cooperative {
            let file = model.source().name().to_owned();
            sources.push(model.team_source().ok_or(ReplicationError::NoTeam { file })?);
        }
        sources.extend([file, product].map(shaders::file));
        Ok((link(model, &sources)?, entry, lanes))
    }
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
    gpu.limits().max_compute_invocations_per_workgroup.min(256)
}
