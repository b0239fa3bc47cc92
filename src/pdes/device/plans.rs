//! The dispatches of a run: the start, two windows, the digest.

use crate::gpu::{Buffer, Gpu, GpuError, Kernel, KernelBuild, Plan, Recipe, build_together};

use super::cut::Cut;
use super::dispatch::Part;
use super::memory::{Memory, Run};
use super::recipes::Recipes;
use crate::pdes::Payload;

shared! {
    "pdes/engine.wgsl":
    const RELAXATIONS: u32;
}

/// Up to this many LPs, windows have one relaxation less: there a dispatch costs a tenth of a
/// window, and few bounds still change.
const FEW: u32 = 1 << 15;

/// The maximum number of workgroups that sort the buckets of a calendar: about as many as an H200
/// holds at once.
const SORT_GROUPS: u32 = 4096;

/// The windows of a team's dispatches, the longest first: one takes about a fifth of a millisecond.
const SLICES: [u32; 3] = [256, 16, 4];

/// The same on a software adapter, which may end loops after 65,535 iterations: a window takes some
/// hundreds of them.
const SLICES_IN_SOFTWARE: [u32; 3] = [64, 16, 4];

/// Windows to the lookahead after each dispatch of event-horizon windows: these end at an event
/// that speculative execution cannot follow.
const BETWEEN: u32 = 4;

#[derive(Debug)]
pub(in crate::pdes) struct Plans {
    /// The parameters of the dispatches of windows and digests.
    pub(in crate::pdes) runs: Vec<(Part, Buffer<Run>)>,
    /// Numbers of windows with their dispatches, the longest first: two windows, or one of two
    /// dispatches, so that between calls half 0 of the memory is valid; or slices of a team.
    windows: Vec<(u32, Plan)>,
    /// Each half alone.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "for parts of a run, which need threads"))]
    pub(in crate::pdes) halves: [Plan; 2],
    /// Merges the partial reductions of a half, if windows do: before a part of a run is read.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "for parts of a run, which need threads"))]
    pub(in crate::pdes) gathers: [Plan; 2],
    /// Dispatches to record before a readback of the progress.
    pub(in crate::pdes) progress: Plan,
    /// One dispatch each, to be submitted separately: together they might run long.
    pub(in crate::pdes) digests: Vec<Plan>,
}

impl Plans {
    /// Records this many windows, rounded up to whole dispatches or pairs of them.
    pub(in crate::pdes) fn record(&self, encoder: &mut wgpu::CommandEncoder, windows: u32) {
        let mut left = windows;
        for (number, (length, plan)) in (1..).zip(&self.windows) {
            let is_last = number == self.windows.len();
            let times = if is_last { left.div_ceil(*length) } else { left / length };
            plan.record_times(encoder, times);
            left = left.saturating_sub(times * length);
        }
    }
}

/// A dispatch: its workgroups, its part, and its parameters.
type Dispatch = (u32, Part, Buffer<Run>);

/// The dispatches over all rows in a window of a parity.
fn parts<S: bytemuck::Pod, P: Payload>(
    gpu: &Gpu,
    memory: &Memory<S, P>,
    parity: u32,
) -> Result<Vec<Dispatch>, GpuError> {
    let cut = &memory.cut;
    let parts = cut.parts().map(|(first, rows)| (cut.groups_of(rows), cut.part(first, rows, parity)));
    parts
        .map(|(groups, part)| Ok((groups, part, Buffer::uniform(gpu, "run", &memory.run_for(part))?)))
        .collect()
}

/// Submits a dispatch.
fn once<S: bytemuck::Pod, P: Payload>(
    gpu: &Gpu,
    memory: &Memory<S, P>,
    kernel: &Kernel,
    (groups, part, buffer): &Dispatch,
) -> Result<(), GpuError> {
    let mut plan = Plan::new("start");
    plan.dispatch(gpu, kernel, *groups, &memory.bindings(part, buffer))?;
    plan.submit(gpu)?;
    Ok(())
}

/// Initialises the LPs.
pub(in crate::pdes) async fn start<S: bytemuck::Pod, P: Payload>(
    gpu: &Gpu,
    recipes: &Recipes,
    memory: &Memory<S, P>,
) -> Result<(), GpuError> {
    // The start writes half 0, as a window of parity 1 does.
    let parts = parts(gpu, memory, 1)?;
    let start = recipes.start.kernel(gpu)?;
    // A calendar accepts all events in one pass.
    let passes = if memory.cut.buckets > 0 { 1 } else { parts.len() };
    let mut number = 0;
    let mut init = |others_first, others_rows| {
        for (_, queues, _) in parts.iter().take(passes) {
            if number > 0 {
                // Buffers are zero at first, but not after an `init`.
                let mut plan = Plan::new("start");
                memory.memories.iter().for_each(|buffer| plan.clear("LP memory", buffer.raw()));
                plan.submit(gpu)?;
            }
            number += 1;
            // Every LP's first events that go to these queues.
            for (groups, lps, _) in &parts {
                let Part { first_group, memory_first, .. } = *lps;
                let part = Part { first_group, memory_first, others_first, others_rows, ..*queues };
                let run = Buffer::uniform(gpu, "run", &memory.run_for(part))?;
                once(gpu, memory, &start, &(*groups, part, run))?;
            }
        }
        Ok::<_, GpuError>(())
    };
    // A part of a run also receives the first events of other parts' LPs.
    let own = memory.lps();
    let others =
        if memory.cut.outbox.is_some() { [0..own.start, own.end..memory.run.total] } else { [0..0, 0..0] };
    for others in others {
        for first in others.clone().step_by(memory.run.rows as usize) {
            init(first, memory.run.rows.min(others.end - first))?;
        }
    }
    if memory.cut.outbox.is_some() {
        memory.forget_others(gpu).await?;
    }
    init(0, 0)?;
    settle(gpu, recipes, memory)
}

/// Orders the events that were inserted into queues, as counted in the mailbox counts, and prepares
/// the first window.
pub(in crate::pdes) fn settle<S: bytemuck::Pod, P: Payload>(
    gpu: &Gpu,
    recipes: &Recipes,
    memory: &Memory<S, P>,
) -> Result<(), GpuError> {
    let settle = recipes.settle.kernel(gpu)?;
    parts(gpu, memory, 1)?.iter().try_for_each(|dispatch| once(gpu, memory, &settle, dispatch))
}

/// Compiles the kernels of [`windows`] together, and of [`start`] or of another begin.
pub(in crate::pdes) fn compile<'a>(
    gpu: &Gpu,
    recipes: &'a Recipes,
    (cut, memory_rows): (&Cut, u32),
    begin: impl IntoIterator<Item = &'a Recipe>,
) {
    let Recipes { settle, gather, digest, digest_memory, first, sort, window, look, relax, .. } = recipes;
    let gather = cut.gathered().then_some(gather);
    let digest_memory = (memory_rows > 0).then_some(digest_memory);
    let small = [settle, digest].into_iter().chain(begin).chain(gather).chain(digest_memory);
    let small =
        small.chain(first.iter().flatten()).map(|recipe| -> KernelBuild<'_> { (recipe, Recipe::kernel) });
    let large = [window].into_iter().chain(look).chain(relax);
    let large = large.map(|recipe| -> KernelBuild<'_> {
        // SAFETY: as in `of_windows`.
        (recipe, if recipes.counted { Recipe::kernel } else { |recipe, gpu| unsafe { recipe.ending(gpu) } })
    });
    let sort = sort.iter().map(|recipe| -> KernelBuild<'_> {
        // SAFETY: as in `windows`.
        (recipe, |recipe, gpu| unsafe { recipe.trusted(gpu) })
    });
    build_together(gpu, large.chain(sort).chain(small));
}

/// Compiles a kernel of windows.
fn of_windows(gpu: &Gpu, recipes: &Recipes, recipe: &Recipe) -> Result<Kernel, GpuError> {
    if recipes.counted {
        return recipe.kernel(gpu);
    }
    // SAFETY: the loops of `pdes/window/window.wgsl`, `pdes/horizon/horizon_look.wgsl`,
    // `pdes/bounds/neighbours_relax.wgsl` and of all they link count up to a bound or down to zero.
    unsafe { recipe.ending(gpu) }
}

/// Builds the kernels and dispatches of windows and digests.
pub(in crate::pdes) fn windows<S: bytemuck::Pod, P: Payload>(
    gpu: &Gpu,
    recipes: &Recipes,
    memory: &Memory<S, P>,
) -> Result<Plans, GpuError> {
    let cut = &memory.cut;
    let parities = [parts(gpu, memory, 0)?, parts(gpu, memory, 1)?];

    let window = of_windows(gpu, recipes, &recipes.window)?;
    let gather = cut.gathered().then(|| recipes.gather.kernel(gpu)).transpose()?;
    let sort = match (&recipes.sort, cut.sort) {
        // SAFETY: see `// bounds:` in shaders/pdes/calendar/calendar_sort.wgsl and the files that
        // it links.
        (Some(recipe), Some(sort)) => Some((unsafe { recipe.trusted(gpu)? }, sort.group_size / sort.team)),
        _ => None,
    };
    let look = recipes.look.as_ref().map(|look| of_windows(gpu, recipes, look)).transpose()?;
    let relax = recipes.relax.as_ref().map(|relax| of_windows(gpu, recipes, relax)).transpose()?;
    let mut turns = Vec::new();
    let (mut windows, mut halves) = (Vec::new(), [(); 2].map(|()| Plan::new("windows")));
    if cut.pool.is_some() {
        let lengths = if gpu.is_software() { SLICES_IN_SOFTWARE } else { SLICES };
        for length in lengths {
            let mut plan = Plan::new("windows of a team");
            let between = look.as_ref().map(|_| (&window, BETWEEN));
            for (kernel, slice) in [(look.as_ref().unwrap_or(&window), length)].into_iter().chain(between) {
                let part = Part { slice, ..cut.part(0, cut.rows, 0) };
                let buffer = Buffer::uniform(gpu, "run", &memory.run_for(part))?;
                plan.dispatch(gpu, kernel, 1, &memory.bindings(&part, &buffer))?;
                turns.push((part, buffer));
            }
            windows.push((length, plan));
        }
    }
    let mut gathers = [(); 2].map(|()| Plan::new("partial reductions"));
    let relaxations = if cut.rows > FEW { RELAXATIONS } else { RELAXATIONS - 1 };
    let of_grid = parities.iter().enumerate().filter(|_| cut.pool.is_none());
    for ((parity, parts), half) in of_grid.zip(&mut halves) {
        let window = look.as_ref().filter(|_| parity == 0).unwrap_or(&window);
        if let Some(gather) = &gather {
            let (_, part, buffer) = &parts[0];
            half.dispatch(gpu, gather, 1, &memory.bindings(part, buffer))?;
            gathers[parity].dispatch(gpu, gather, 1, &memory.bindings(part, buffer))?;
        }
        if let Some((sort, buckets)) = &sort {
            for (_, part, buffer) in parts {
                let groups = part.queue_rows.div_ceil(*buckets);
                // Each workgroup sorts several groups, one after the other: at most 64, for drivers
                // that end long loops.
                let groups = groups.min(SORT_GROUPS.max(groups.div_ceil(64)));
                half.dispatch(gpu, sort, groups, &memory.bindings(part, buffer))?;
            }
        }
        for (groups, part, buffer) in parts {
            half.dispatch(gpu, window, *groups, &memory.bindings(part, buffer))?;
        }
        if let (Some(relax), 0) = (&relax, parity) {
            for turn in 0..relaxations {
                for (_, part, _) in parts {
                    let part = Part { turn, ..*part };
                    let groups = part.queue_rows.div_ceil(recipes.relax_rows);
                    let buffer = Buffer::uniform(gpu, "run", &memory.run_for(part))?;
                    half.dispatch(gpu, relax, groups, &memory.bindings(&part, &buffer))?;
                    turns.push((part, buffer));
                }
            }
        }
    }
    if cut.pool.is_none() {
        let mut pair = Plan::new("windows");
        halves.iter().for_each(|half| pair.append(half));
        windows.push((if look.is_some() { 1 } else { 2 }, pair));
    }

    let mut progress = Plan::new("the first pending event");
    if let Some([rows, all]) = &recipes.first {
        let rows = rows.kernel(gpu)?;
        // As in windows of parity 1, failures go to half 0.
        for (groups, part, buffer) in &parities[1] {
            progress.dispatch(gpu, &rows, *groups, &memory.bindings(part, buffer))?;
        }
        let (_, part, buffer) = &parities[1][0];
        progress.dispatch(gpu, &all.kernel(gpu)?, 1, &memory.bindings(part, buffer))?;
    }

    let digest = recipes.digest.kernel(gpu)?;
    let mut digests = Vec::new();
    for (groups, part, buffer) in &parities[0] {
        let mut plan = Plan::new("digest");
        plan.dispatch(gpu, &digest, *groups, &memory.bindings(part, buffer))?;
        digests.push(plan);
    }
    let mut first_group = cut.groups();
    let with_memory = if memory.run.memory_rows > 0 { &parities[0][..] } else { &[] };
    for (_, part, _) in with_memory {
        let groups = memory.run.memory_groups(gpu, part.queue_rows);
        let part = Part { first_group, ..*part };
        let buffer = Buffer::uniform(gpu, "run", &memory.run_for(part))?;
        let mut plan = Plan::new("digest of LP memory");
        plan.dispatch(gpu, &recipes.digest_memory.kernel(gpu)?, groups, &memory.bindings(&part, &buffer))?;
        digests.push(plan);
        first_group += groups;
    }
    windows.iter().for_each(|(_, plan)| log::debug!("{plan}"));
    let runs = parities.into_iter().flatten().map(|(_, part, buffer)| (part, buffer)).chain(turns).collect();
    Ok(Plans { runs, windows, halves, gathers, progress, digests })
}
