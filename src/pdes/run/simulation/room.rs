//! Room for a run: the number of LPs per invocation, the snapshot, and the memory of a resumed run.

use bytemuck::Pod;

use crate::gpu::{Gpu, GpuError};

use crate::pdes::checkpoint::Checkpoint;
use crate::pdes::contract::capacity::Capacity;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::contract::event::Payload;
use crate::pdes::contract::until::Progress;
use crate::pdes::device::control::Control;
use crate::pdes::device::cut::{at_once, usual_tiles};
use crate::pdes::device::growth::Snapshot;
use crate::pdes::device::memory::Memory;
use crate::pdes::device::plans;
use crate::pdes::device::recipes::Recipes;
use crate::pdes::device::strategy::Strategy;
use crate::pdes::device::transfer::ExportedEvents;

/// Whether another queue design or less room may avoid the error: true unless it is a fault of the
/// run or the loss of the device.
pub(super) fn of_design(error: &SimulationError) -> bool {
    !matches!(
        error,
        SimulationError::Fault(_) | SimulationError::Gpu(GpuError::Lost { .. } | GpuError::Timeout { .. })
    )
}

/// The number of LPs that an invocation serves, one after the other. More than one workgroup needs
/// would serve nothing.
pub(super) fn tiles_for(
    gpu: &Gpu,
    rows: u32,
    group_size: u32,
    chosen: Option<u32>,
    Strategy { queue, windows, .. }: Strategy,
    capacity: Capacity,
) -> u32 {
    // A workgroup selects its rows by a bit for each tile.
    let most = rows.div_ceil(at_once(group_size, queue.lanes())).clamp(1, 32);
    chosen.unwrap_or_else(|| usual_tiles(gpu, rows, queue, capacity.queue, windows.is_busy)).clamp(1, most)
}

/// Allocates a snapshot.
pub(super) fn new_snapshot<S: Pod, P: Payload>(
    gpu: &Gpu,
    memory: &Memory<S, P>,
) -> Result<Snapshot, GpuError> {
    Snapshot::new(gpu, &memory.buffers())
}

/// Room in a team's pool for a run that has this many pending events: twice as much, because each
/// size has kernels of its own.
pub(super) fn for_events(held: u64) -> u32 {
    u32::try_from(2 * held + 4).unwrap_or(u32::MAX)
}

pub(super) fn cannot_grow(error: &GpuError) {
    log::warn!("queues and mailboxes cannot grow: {error}");
}

/// Fills an empty memory from a checkpoint of the same model, for the whole run or a part, instead
/// of `plans::start`.
pub(super) fn put<S: Pod, P: Payload>(
    gpu: &Gpu,
    recipes: &Recipes,
    memory: &Memory<S, P>,
    saved: &Checkpoint,
) -> Result<(), GpuError> {
    let lps = memory.lps();
    let Progress { now, events, windows, .. } = saved.progress();
    memory.states.write(gpu, 0, &saved.states(&lps))?;
    memory.put_lp_memory(gpu, &saved.memory(&lps))?;
    memory.put_control(gpu, Control { windows, events, now, rounds: 0 }, now)?;
    let (held, pending) = (saved.held(lps.clone()), saved.events(lps.clone()));
    ExportedEvents::of_host(gpu, held, pending)?.import(gpu, recipes, memory)?;
    plans::settle(gpu, recipes, memory)?;
    // The first part has the sum of all parts.
    let digest = if lps.start == 0 { saved.digest() } else { 0 };
    memory.put_executed(gpu, saved.executed(lps), digest)
}
