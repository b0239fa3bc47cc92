//! Room for a run: how many LPs an invocation serves, the snapshot, and the memory that takes in a
//! saved run.

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

/// Whether it may be otherwise with another queue design, or with less room: whatever is no fault
/// of the run, and does not end the device.
pub(super) fn of_design(error: &SimulationError) -> bool {
    !matches!(
        error,
        SimulationError::Fault(_) | SimulationError::Gpu(GpuError::Lost { .. } | GpuError::Timeout { .. })
    )
}

/// The LPs that an invocation serves, one after the other, unless somebody chooses: more than one
/// workgroup's would serve nothing.
pub(super) fn tiles_for(
    gpu: &Gpu,
    rows: u32,
    group_size: u32,
    chosen: Option<u32>,
    Strategy { queue, windows }: Strategy,
    capacity: Capacity,
) -> u32 {
    // A workgroup chooses its rows by a bit for each tile.
    let most = rows.div_ceil(at_once(group_size, queue.lanes())).clamp(1, 32);
    chosen.unwrap_or_else(|| usual_tiles(gpu, rows, queue, capacity.queue, windows.is_busy)).clamp(1, most)
}

/// Room for a snapshot.
pub(super) fn new_snapshot<S: Pod, P: Payload>(
    gpu: &Gpu,
    memory: &Memory<S, P>,
) -> Result<Snapshot, GpuError> {
    Snapshot::new(gpu, &memory.buffers())
}

pub(super) fn cannot_grow(error: &GpuError) {
    log::warn!("queues and mailboxes cannot grow: {error}");
}

/// Makes a memory that holds nothing that of a saved run of the same model, or of a part of it:
/// what `plans::start` does at the start.
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
    // Of parts, the first keeps the sum of all.
    let digest = if lps.start == 0 { saved.digest() } else { 0 };
    memory.put_executed(gpu, saved.executed(lps), digest)
}
