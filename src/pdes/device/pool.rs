//! The pending events of a run that a team executes: one pool in workgroup memory, or in buffers if
//! they do not fit (`shaders/pdes/replicas/team_local_pool.wgsl`).

use crate::gpu::Gpu;

use crate::pdes::Model;
use crate::pdes::contract::capacity::{mean_for, room_for};

/// The pool of one run in a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pdes) struct Pool {
    /// Slots for events.
    pub(in crate::pdes) slots: u32,
    /// Lists of slots, and invocations of the workgroup: one for each LP, a power of two.
    pub(in crate::pdes) lists: u32,
    /// Whether the events are in buffers.
    pub(in crate::pdes) is_far: bool,
}

/// The maximum of other workgroup memory of a team: nine variables of 16 bytes each in WebGPU's
/// count.
const OTHERS: u64 = 9 * 16;

/// The maximum number of events per LP, because they are in a list. (A guess.)
pub(in crate::pdes) const EVENTS_OF_LP: u32 = 32;

impl Pool {
    /// The pool of `lps` LPs with this many pending events; `None` if the device has no workgroup
    /// for them, or if lists would be long.
    pub(in crate::pdes) fn new(gpu: &Gpu, lps: u32, events: u32, event_bytes: u32) -> Option<Self> {
        let (slots, lists) = (Self::slots(events)?, lps.checked_next_power_of_two()?);
        let fits = |slots| Self::fits(gpu, (1, lists), slots, event_bytes.into());
        let has_room = lists <= gpu.limits().max_compute_invocations_per_workgroup && fits(0);
        (has_room && slots / lps <= EVENTS_OF_LP).then(|| Self { slots, lists, is_far: !fits(slots) })
    }

    /// The slots for this many events, rounded up, so that fewer kernels are compiled.
    pub(in crate::pdes) fn slots(events: u32) -> Option<u32> {
        events.checked_next_multiple_of(16)
    }

    /// Whether the pools of `teams` teams fit workgroup memory, if they have `invocations`
    /// together.
    pub(in crate::pdes) fn fits(
        gpu: &Gpu,
        (teams, invocations): (u32, u32),
        slots: u32,
        event_bytes: u64,
    ) -> bool {
        let bytes =
            u64::from(teams) * (u64::from(slots) * (event_bytes + 4) + OTHERS) + u64::from(invocations) * 8;
        bytes <= gpu.limits().max_compute_workgroup_storage_size.into()
    }

    /// The bytes of a buffer with a word for each slot and each list, as whole events.
    pub(in crate::pdes) fn link_bytes(slots: u32, lists: u32, event_bytes: u64) -> u64 {
        (4 * (u64::from(slots) + u64::from(lists))).next_multiple_of(event_bytes)
    }
}

/// The capacity for the events of a run of this model: by the capacity of its queues, or the
/// model's estimate if that is less.
pub(in crate::pdes) fn events_of<M: Model>(model: &M) -> u32 {
    let by_queues = room_for(f64::from(model.lps()) * mean_for(model.capacity().queue));
    by_queues.min(model.events_held().unwrap_or(u32::MAX)).max(model.lps()).saturating_add(4)
}
