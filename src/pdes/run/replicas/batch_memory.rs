//! What executes a batch of runs: invocations, the number of concurrent runs, kernels and memory.

use std::time::Duration;

use web_time::Instant;

use crate::gpu::{Gpu, GpuError, Kernel, KernelBuild, Pace, Recipe, build_together};
use crate::time::Ticks;

use super::maker::{Driver, about};
use super::mapping::{BatchMapping, Recipes, plain_group};
use super::memory::{self, Memory};
use super::slice_tuner::{SliceTuner, usual};
use crate::pdes::contract::error::SimulationError;
use crate::pdes::device::cut::group_size_at_most;
use crate::pdes::device::pool::{EVENTS_OF_LP, Pool};
use crate::pdes::device::strategy::USUAL;
use crate::pdes::{Event, Mapping, Model, Sync, Until};

/// Kernels and memory for batches of up to `most` runs.
pub(super) struct BatchMemory<S, P> {
    pub(super) crowd: BatchMapping,
    pub(super) memory: Memory<S, P>,
    pub(super) most: u32,
    pub(super) start: Kernel,
    pub(super) settle: Kernel,
    /// By shape: [`BatchMapping::shapes`].
    pub(super) slices: Vec<Recipe>,
    pub(super) digest: Kernel,
    pub(super) output: Option<Kernel>,
    pub(super) tuner: SliceTuner,
    /// How long a batch runs before a trial that needs its own kernels.
    pub(super) patience: Duration,
}

/// The approximate minimum time of a trial: slices of growing length, and a long one.
pub(super) const TRIAL: Duration = Duration::from_millis(40);
/// A kernel is compiled for a trial of the runs per workgroup once a batch has run this many times
/// as long as a trial takes plus the preparation of the batch.
const PATIENCE: u32 = 2;

/// Up to this many teams have large workgroups: each has a processor of a large device to itself.
const FEW_TEAMS: usize = 128;

impl<M: Model> Driver<'_, M> {
    fn team(&self, jobs: usize) -> Result<BatchMapping, SimulationError> {
        if self.options.sync.windows().is_some_and(|windows| !windows.serves_teams) {
            return Err(SimulationError::TeamSync { sync: self.options.sync });
        }
        let queue = match self.options.queue {
            Some(queue) if !queue.serves_one_invocation() => return Err(SimulationError::TeamQueue),
            Some(queue) => queue,
            None => USUAL,
        };
        let lps = self.model().lps();
        let most = if jobs > FEW_TEAMS { 256 } else { 512 };
        let usual = lps.next_power_of_two().clamp(32, most);
        let group_size = self.options.group_size.unwrap_or_else(|| group_size_at_most(self.gpu, usual));
        Ok(BatchMapping::Team { group_size, queue })
    }

    /// Teams with an invocation for each LP, and all pending events in workgroup memory if they
    /// fit, or in buffers if there are few runs.
    fn local_team(&self, jobs: usize) -> Option<BatchMapping> {
        let (lps, limits) = (self.model().lps(), self.gpu.limits());
        let lists = lps.checked_next_power_of_two()?;
        // A chosen size is filled with teams.
        let least = self.options.group_size.unwrap_or(if jobs > LOCAL_RUNS { LOCAL_GROUP } else { 1 });
        let group_size = lists.max(least);
        let mut teams = group_size / lists;
        let pool = Pool::slots(self.prepared.room.events)?;
        let event = u64::try_from(size_of::<Event<M::Payload>>()).ok()?;
        let fits = |teams: u32, pool: u32| Pool::fits(self.gpu, (teams, group_size), pool, event);
        while teams > 1 && !fits(teams, pool) {
            teams /= 2;
        }
        let far = !fits(teams, pool);
        let serves_far = jobs <= FEW_TEAMS && !self.gpu.is_software() && fits(teams, 0);
        let most = if far { FAR_EVENTS } else { EVENTS_OF_LP };
        let fits = (!far || serves_far) && group_size <= limits.max_compute_invocations_per_workgroup;
        // Fixed capacities are those of queues and mailboxes. Event-limited runs end with an epoch,
        // which teams in workgroup memory do not have.
        let counted = self.until.events != Until::EMPTY.events;
        let chosen = self.options.fixed || self.options.queue.is_some() || counted;
        let ahead = self.prepared.models.iter().all(|model| model.lookahead() > Ticks::ZERO);
        let horizon = match self.options.sync.windows() {
            None => ahead,
            Some(windows) if windows.serves_local_teams && (ahead || !windows.is_speculative()) => {
                windows.is_speculative()
            }
            Some(_) => return None,
        };
        (fits && !chosen && pool / lps <= most).then_some(BatchMapping::LocalTeam {
            group_size,
            pool,
            teams,
            horizon,
            far,
        })
    }

    fn thread(&self) -> BatchMapping {
        let is_software = self.gpu.is_software();
        let group_size = self.options.group_size.or_else(|| is_software.then_some(8));
        let rounds = self.prepared.models.iter().any(|model| model.lookahead() == Ticks::ZERO);
        // A CPU has no faster workgroup memory.
        BatchMapping::Thread { group_size, local_keys: !is_software, rounds }
    }

    /// The tuner that chooses the shape of slices.
    fn tuner(&self, crowd: BatchMapping, batch: u32, jobs: usize) -> SliceTuner {
        let pace = Pace::new(most_steps(self.gpu, crowd, self.shorter));
        let found = self.fastest.found.get(&about(jobs)).copied().unwrap_or_default();
        match crowd {
            BatchMapping::Thread { group_size: None, .. } => {
                SliceTuner::found(crowd.shapes(), usual(batch), found.threads, &pace)
            }
            BatchMapping::LocalTeam { horizon: true, .. } if self.options.sync == Sync::Auto => {
                SliceTuner::found(crowd.shapes(), 0, found.teams, &pace)
            }
            BatchMapping::LocalTeam { horizon: true, .. } => SliceTuner::fixed(crowd.shapes(), 1, &pace),
            BatchMapping::Team { .. } | BatchMapping::LocalTeam { .. } | BatchMapping::Thread { .. } => {
                SliceTuner::fixed(crowd.shapes(), 0, &pace)
            }
        }
    }

    pub(super) fn batch_memory(
        &mut self,
        mapping: Mapping,
        jobs: usize,
    ) -> Result<BatchMemory<M::State, M::Payload>, SimulationError> {
        let (gpu, begin) = (self.gpu, Instant::now());
        let crowd = match (mapping, self.local_team(jobs)) {
            (Mapping::Thread, _) => self.thread(),
            (_, Some(local)) => local,
            (_, None) => self.team(jobs)?,
        };
        let recipes =
            Recipes::new(self.model(), crowd, gpu.has(wgpu::Features::SHADER_INT64), plain_group(gpu));
        let most = self.batch_size(crowd, jobs)?;
        let tuner = self.tuner(crowd, most, jobs);
        // The first kernel of slices is compiled now.
        let slice = &recipes.slices[tuner.next()];
        let plain = [&recipes.start, &recipes.settle, &recipes.digest].into_iter().chain(&recipes.output);
        let plain = plain.map(|recipe| -> KernelBuild<'_> { (recipe, Recipe::kernel) });
        build_together(gpu, [(slice, of_slices(crowd))].into_iter().chain(plain));
        slice_kernel(gpu, crowd, slice)?;
        let mut batch_memory = BatchMemory {
            crowd,
            memory: Memory::new(gpu, self.model(), crowd, self.prepared.room, most)?,
            most,
            start: recipes.start.kernel(gpu)?,
            settle: recipes.settle.kernel(gpu)?,
            slices: recipes.slices,
            digest: recipes.digest.kernel(gpu)?,
            output: recipes.output.as_ref().map(|output| output.kernel(gpu)).transpose()?,
            tuner,
            patience: Duration::ZERO,
        };
        self.fastest.cost = self.fastest.cost.max(begin.elapsed());
        batch_memory.patience = PATIENCE * TRIAL.max(self.fastest.cost);
        Ok(batch_memory)
    }

    /// The number of runs on the device at once.
    fn batch_size(&self, crowd: BatchMapping, jobs: usize) -> Result<u32, SimulationError> {
        let (model, limit) = (self.model(), self.gpu.max_buffer_bytes());
        let bytes = memory::bytes(model, crowd, self.prepared.room);
        let widest = bytes.into_iter().max().unwrap_or(1);
        let whole: u64 = bytes.iter().sum();
        // A dispatch of rows has one dimension.
        let groups = u64::from(self.gpu.limits().max_compute_workgroups_per_dimension);
        let rows = groups * u64::from(plain_group(self.gpu)) / u64::from(model.lps());
        let most = (limit / widest).min(rows).min(groups).min((MEMORY / whole).max(1)).min(jobs as u64);
        if most == 0 {
            return Err(SimulationError::ReplicaTooLarge { lps: model.lps(), needed: widest, limit });
        }
        // Batches of about equal size.
        let batches = (jobs as u64).div_ceil(most);
        Ok(u32::try_from((jobs as u64).div_ceil(batches)).expect("no more than the runs"))
    }
}

/// Compiles the kernel of a slice.
pub(super) fn slice_kernel(gpu: &Gpu, crowd: BatchMapping, recipe: &Recipe) -> Result<Kernel, GpuError> {
    of_slices(crowd)(recipe, gpu)
}

/// How the kernel of a slice is compiled. For teams in workgroup memory it counts only the
/// iterations of the model's loops, which is faster.
fn of_slices(crowd: BatchMapping) -> fn(&Recipe, &Gpu) -> Result<Kernel, GpuError> {
    match crowd {
        // SAFETY: the loops of `team_local.wgsl`, `team_local_horizon.wgsl` and of all they link
        // count up to a bound or follow a list of slots. Models cannot write lists, and a slot is
        // in at most one list, once: it leaves a list before it enters another.
        BatchMapping::LocalTeam { .. } => |recipe, gpu| unsafe { recipe.ending(gpu) },
        // Threads read beyond their own slots (`keys_sink` in `pdes/replicas/thread_queue.wgsl`).
        BatchMapping::Team { .. } | BatchMapping::Thread { .. } => Recipe::kernel,
    }
}

/// The maximum number of steps in a slice. Software adapters may end the loops of an invocation
/// after 65,535 iterations. A step of a team takes about 100 of them, one of a thread 30. If it
/// takes more, slices get shorter by a factor.
fn most_steps(gpu: &Gpu, crowd: BatchMapping, shorter: u32) -> u32 {
    let most = match (gpu.is_software(), crowd) {
        (true, BatchMapping::Team { .. } | BatchMapping::LocalTeam { .. }) => 128,
        (true, BatchMapping::Thread { .. }) => 1024,
        // A bound on the time of a slice: in a window an LP may execute a whole budget of events.
        (false, BatchMapping::Team { .. } | BatchMapping::LocalTeam { .. }) => 8192,
        (false, BatchMapping::Thread { .. }) => 1 << 24,
    };
    (most / shorter).max(1)
}

/// The minimum number of invocations of a workgroup shared by teams in workgroup memory. (A guess.)
const LOCAL_GROUP: u32 = 32;

/// The number of runs above which such teams of few LPs share a workgroup: about enough to keep a
/// device busy. (A guess.)
const LOCAL_RUNS: usize = 2048;

/// The maximum number of events per LP for such teams if events are in buffers: between 4 per LP,
/// which gain at all rates, and 16, which lose where windows are full.
const FAR_EVENTS: u32 = 12;

/// The maximum size of a batch in bytes.
const MEMORY: u64 = 4 << 30;
