//! What a run records: the start, two windows, the digest.

use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Recipe};

use super::dispatch::Part;
use super::memory::{Memory, Run};
use super::recipes::Recipes;
use crate::pdes::Payload;

shared! {
    "pdes/engine.wgsl":
    const RELAXATIONS: u32;
}

/// Up to so many LPs, windows have one less: a dispatch is a tenth of them, and leaves bounds that
/// fewer change. (`bench sync`, H100: 14.0 in place of 12.5·10⁶ events per second of 1,024
/// stations, 167 and 158 of 16,384, 547 and 558 of 65,536.)
const FEW: u32 = 1 << 15;

/// Workgroups that sort the buckets of a calendar. (An H200 has room for some 4,200 of one subgroup
/// at once, 2,100 of two.)
const SORT_GROUPS: u32 = 4096;

#[derive(Debug)]
pub(in crate::pdes) struct Plans {
    /// What the dispatches of windows and digests are told.
    pub(in crate::pdes) runs: Vec<(Part, Buffer<Run>)>,
    /// Two windows, or one of two dispatches, so that between calls it is always half 0 of the
    /// memory that counts.
    windows: Plan,
    /// Each of the two alone.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "for parts of a run, which need threads"))]
    pub(in crate::pdes) halves: [Plan; 2],
    /// Which of them.
    pair: u32,
    /// To be recorded before anybody asks how far a run is.
    pub(in crate::pdes) progress: Plan,
    /// One dispatch each, to be submitted alone: together they might run long.
    pub(in crate::pdes) digests: Vec<Plan>,
}

impl Plans {
    /// Records so many windows, and one more where they come in pairs.
    pub(in crate::pdes) fn record(&self, encoder: &mut wgpu::CommandEncoder, windows: u32) {
        self.windows.record_times(encoder, windows.div_ceil(self.pair));
    }
}

/// A dispatch: its workgroups, what it serves, and what it is told of it.
type Dispatch = (u32, Part, Buffer<Run>);

/// The dispatches over all rows in a window of some parity.
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
    // The start writes what a window of parity 1 would: half 0.
    let parts = parts(gpu, memory, 1)?;
    let start = recipes.start.kernel(gpu)?;
    // A calendar takes everything in one go.
    let passes = if memory.cut.buckets > 0 { 1 } else { parts.len() };
    let mut number = 0;
    let mut init = |others_first, others_rows| {
        for (_, queues, _) in parts.iter().take(passes) {
            if number > 0 {
                // Buffers are zero at first; after an `init` they are not.
                let mut plan = Plan::new("start");
                memory.memories.iter().for_each(|buffer| plan.clear("LP memory", buffer.raw()));
                plan.submit(gpu)?;
            }
            number += 1;
            // Every LP's first events, as far as they go to these queues.
            for (groups, lps, _) in &parts {
                let Part { first_group, memory_first, .. } = *lps;
                let part = Part { first_group, memory_first, others_first, others_rows, ..*queues };
                let run = Buffer::uniform(gpu, "run", &memory.run_for(part))?;
                once(gpu, memory, &start, &(*groups, part, run))?;
            }
        }
        Ok::<_, GpuError>(())
    };
    // A part of a run has the first events of all LPs that go to its own.
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

/// Puts the events in order that lie in queues as many as mails are counted, and prepares the first
/// window.
pub(in crate::pdes) fn settle<S: bytemuck::Pod, P: Payload>(
    gpu: &Gpu,
    recipes: &Recipes,
    memory: &Memory<S, P>,
) -> Result<(), GpuError> {
    let settle = recipes.settle.kernel(gpu)?;
    parts(gpu, memory, 1)?.iter().try_for_each(|dispatch| once(gpu, memory, &settle, dispatch))
}

/// A kernel of windows.
fn of_windows(gpu: &Gpu, recipes: &Recipes, recipe: &Recipe) -> Result<Kernel, GpuError> {
    if recipes.counted {
        return recipe.kernel(gpu);
    }
    // SAFETY: the loops of `pdes/window/window.wgsl`, `pdes/horizon/horizon_look.wgsl`,
    // `pdes/bounds/neighbours_relax.wgsl` and of what they link count up to a bound or down to
    // nothing.
    unsafe { recipe.ending(gpu) }
}

/// Builds the kernels of windows and digests, and plans them.
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
        // SAFETY: as `// bounds:` of shaders/pdes/calendar/calendar_sort.wgsl and of the files that
        // it links says.
        (Some(recipe), Some(sort)) => Some((unsafe { recipe.trusted(gpu)? }, sort.group_size / sort.team)),
        _ => None,
    };
    let look = recipes.look.as_ref().map(|look| of_windows(gpu, recipes, look)).transpose()?;
    let relax = recipes.relax.as_ref().map(|relax| of_windows(gpu, recipes, relax)).transpose()?;
    let mut halves = [(); 2].map(|()| Plan::new("windows"));
    let relaxations = if cut.rows > FEW { RELAXATIONS } else { RELAXATIONS - 1 };
    let mut turns = Vec::new();
    for ((parity, parts), half) in parities.iter().enumerate().zip(&mut halves) {
        let window = look.as_ref().filter(|_| parity == 0).unwrap_or(&window);
        if let Some(gather) = &gather {
            let (_, part, buffer) = &parts[0];
            half.dispatch(gpu, gather, 1, &memory.bindings(part, buffer))?;
        }
        if let Some((sort, buckets)) = &sort {
            for (_, part, buffer) in parts {
                let groups = part.queue_rows.div_ceil(*buckets);
                // Each sorts several, one group of them after the other: no more than 64, for
                // drivers that cut loops.
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
    let mut windows = Plan::new("windows");
    halves.iter().for_each(|half| windows.append(half));

    let mut progress = Plan::new("the first pending event");
    if let Some([rows, all]) = &recipes.first {
        let rows = rows.kernel(gpu)?;
        // As if they were windows of parity 1, whose failures go to half 0.
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
    log::debug!("{windows}");
    let runs = parities.into_iter().flatten().map(|(_, part, buffer)| (part, buffer)).chain(turns).collect();
    let pair = if look.is_some() { 1 } else { 2 };
    Ok(Plans { runs, windows, halves, pair, progress, digests })
}
