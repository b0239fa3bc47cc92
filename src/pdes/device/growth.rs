//! Growth: if a queue or a mailbox overflows, the run goes back to a snapshot, gets larger
//! capacities, and continues.
//!
//! A run copies all that windows change, at most once a second and while no submission is in
//! flight. After an overflow it restores the copy, exports the pending events, imports them into
//! larger buffers, and runs to the ends of all runs since. `states` stays the same buffer. A change
//! of queue design works the same way, without the restore.

use std::iter::successors;

use web_time::{Duration, Instant};

use crate::gpu::{Gpu, GpuError, Plan};

use crate::pdes::{Capacity, Fault, FaultKind, Until};

/// The time between snapshots: at most this much work is repeated after a growth.
const EVERY: Duration = Duration::from_secs(1);

/// The maximum number of runs since a snapshot: all of them are repeated.
const MOST_ENDS: usize = 64;

/// A copy of a run's memory at some window.
#[derive(Debug)]
pub(in crate::pdes) struct Snapshot {
    save: Plan,
    restore: Plan,
    /// The time of the copy, and the ends of the runs since, including the current one.
    saved: Option<(Instant, Vec<Until>)>,
}

impl Snapshot {
    /// Allocates a copy of these buffers.
    pub(in crate::pdes) fn new(gpu: &Gpu, buffers: &[&wgpu::Buffer]) -> Result<Self, GpuError> {
        let (mut save, mut restore) = (Plan::new("snapshot"), Plan::new("back to the snapshot"));
        for buffer in buffers {
            let bytes = buffer.size();
            let copy = gpu.catch("a snapshot", |device| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("snapshot"),
                    size: bytes,
                    usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            })?;
            save.copy("snapshot", (buffer, 0), (&copy, 0), bytes);
            restore.copy("snapshot", (&copy, 0), (buffer, 0), bytes);
        }
        Ok(Self { save, restore, saved: None })
    }

    /// Whether a new copy is due.
    pub(in crate::pdes) fn is_due(&self) -> bool {
        self.is_due_after(EVERY)
    }

    /// The same with another time between snapshots.
    pub(in crate::pdes) fn is_due_after(&self, every: Duration) -> bool {
        self.saved.as_ref().is_none_or(|(saved, ends)| saved.elapsed() >= every || ends.len() > MOST_ENDS)
    }

    /// Records a copy of the run on its way to `ends`. All work in flight must be known to be
    /// valid.
    pub(in crate::pdes) fn save(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        ends: impl Iterator<Item = Until>,
    ) {
        self.save.record(encoder);
        self.saved = Some((Instant::now(), ends.collect()));
    }

    /// Records the end of another run.
    pub(in crate::pdes) fn begin(&mut self, until: Until) {
        if let Some((_, ends)) = &mut self.saved {
            ends.push(until);
        }
    }

    /// The ends of the runs since the copy.
    pub(in crate::pdes) fn ends(&self) -> Vec<Until> {
        self.saved.as_ref().map_or_else(Vec::new, |(_, ends)| ends.clone())
    }

    /// Restores the copied state.
    pub(in crate::pdes) fn restore(&self, gpu: &Gpu) -> Result<(), GpuError> {
        self.restore.submit(gpu)?;
        Ok(())
    }

    /// Invalidates the copy.
    pub(in crate::pdes) fn forget(&mut self) {
        self.saved = None;
    }
}

/// The capacities to try after an overflow, the largest first; empty for other faults.
pub(in crate::pdes) fn larger(capacity: Capacity, fault: Fault) -> Vec<Capacity> {
    // The reserve is halved each time. With all or nothing, a run near the limits of its device
    // would grow event by event.
    let sizes = |before: u32| {
        let more = before.saturating_mul(2).saturating_sub(fault.needed);
        successors(Some(more), |&more| (more > 0).then_some(more / 2)).map(|more| fault.needed + more)
    };
    match fault.kind {
        FaultKind::QueueFull => sizes(capacity.queue).map(|queue| Capacity { queue, ..capacity }).collect(),
        FaultKind::MailboxFull => {
            sizes(capacity.mailbox).map(|mailbox| Capacity { mailbox, ..capacity }).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(kind: FaultKind, needed: u32) -> Fault {
        Fault { kind, lp: 0, window: 1, needed }
    }

    #[test]
    fn room_is_doubled_where_it_can_be() {
        let before = Capacity { queue: 10, mailbox: 4 };
        let queues = |needed| {
            larger(before, full(FaultKind::QueueFull, needed))
                .into_iter()
                .map(|capacity| (capacity.queue, capacity.mailbox))
                .collect::<Vec<_>>()
        };
        assert_eq!(queues(11), [(20, 4), (15, 4), (13, 4), (12, 4), (11, 4)]);
        assert_eq!(queues(20), [(20, 4)]);
        assert_eq!(queues(70), [(70, 4)]);
        let mailboxes = larger(before, full(FaultKind::MailboxFull, 5));
        assert_eq!(mailboxes.first(), Some(&Capacity { queue: 10, mailbox: 8 }));
        assert_eq!(larger(before, full(FaultKind::Stuck, 0)), []);
        let most = Capacity { queue: u32::MAX - 1, mailbox: 4 };
        assert_eq!(larger(most, full(FaultKind::QueueFull, u32::MAX)).len(), 1);
    }

    #[test]
    fn near_a_limit_few_steps_are_enough() {
        for limit in [1, 2, 65, 17_000, u32::MAX] {
            let (mut capacity, mut steps) = (Capacity { queue: 1, mailbox: 1 }, 0);
            while capacity.queue < limit {
                // An LP reports one event more than the capacity.
                let fault = full(FaultKind::QueueFull, capacity.queue + 1);
                let fits = |capacity: &Capacity| capacity.queue <= limit;
                capacity = larger(capacity, fault).into_iter().find(fits).expect("what is needed fits");
                steps += 1;
            }
            assert!(steps <= 64, "{steps} steps to {limit}");
        }
    }
}
