//! Reads and writes the contents of a run between calls: for growth, for other queue designs, and
//! for checkpoints.

use bytemuck::Pod;

use crate::gpu::{Gpu, GpuError, Plan};
use crate::time::Ticks;

use super::super::control::{Control, FAILURE, SERVED, control_at};
use super::super::cut::ROW;
use super::Memory;
use crate::pdes::{FaultKind, Payload, SimulationError};

impl<S: Pod, P: Payload> Memory<S, P> {
    /// Copies the LP memory of `old`, the same run in another division.
    pub(in crate::pdes) fn take_memory(&self, gpu: &Gpu, old: &Self) -> Result<(), GpuError> {
        // It is contiguous by row, in any division.
        let mut plan = Plan::new("growth");
        let row_bytes = ROW * u64::from(self.run.memory_rows);
        let bounds = |memory: &Self| -> Vec<(u64, u64)> {
            memory.cut.parts().map(|(first, rows)| (u64::from(first), u64::from(first + rows))).collect()
        };
        for (from, (from_first, from_end)) in old.memories.iter().zip(bounds(old)) {
            for (to, (to_first, to_end)) in self.memories.iter().zip(bounds(self)) {
                let (first, end) = (from_first.max(to_first), from_end.min(to_end));
                if first < end && row_bytes > 0 {
                    let (from_byte, to_byte) =
                        ((first - from_first) * row_bytes, (first - to_first) * row_bytes);
                    let bytes = (end - first) * row_bytes;
                    plan.copy("LP memory", (from.raw(), from_byte), (to.raw(), to_byte), bytes);
                }
            }
        }
        plan.submit(gpu)?;
        Ok(())
    }

    /// Copies the numbers of events that the LPs of `old` have executed, with their fingerprints.
    pub(in crate::pdes) fn keep_counts(&self, gpu: &Gpu, old: &Self) -> Result<(), GpuError> {
        let mut plan = Plan::new("growth");
        let half = u64::from(self.run.rows) * 16;
        plan.copy("LPs", (old.lps.raw(), half), (self.lps.raw(), half), half);
        plan.submit(gpu)?;
        Ok(())
    }

    /// The state of the run between calls.
    pub(in crate::pdes) async fn control_of(&self, gpu: &Gpu) -> Result<Control, GpuError> {
        let [done, status] = self.lps.read_range(gpu, self.control(), 2).await?[..] else {
            unreachable!("two rows were requested")
        };
        let partials =
            self.lps.read_range(gpu, 2 * u64::from(self.cut.rows), self.cut.groups().into()).await?;
        let number = |[low, high, ..]: [u32; 4]| Ticks::from_words([low, high]);
        let events = Ticks::from_words([done[2], done[3]]).get();
        let last = partials.iter().map(|partial| u64::from(partial[2])).sum::<u64>();
        // In a calendar, a window that executed nothing does not count, and windows at one time are
        // not counted.
        let calendar = self.cut.buckets > 0;
        let none = calendar && status[3] & SERVED != 0 && last == 0;
        Ok(Control {
            windows: number(done).get() - u64::from(none),
            events: events + last,
            now: number(status),
            rounds: if calendar { 0 } else { status[3] },
        })
    }

    /// Writes the control block of a run that has not stopped. `first` is the time of the first
    /// pending event.
    pub(in crate::pdes) fn put_control(
        &self,
        gpu: &Gpu,
        control: Control,
        first: Ticks,
    ) -> Result<(), GpuError> {
        // Other parts may have earlier events.
        let earlier = self.cut.outbox.map_or(first, |_| self.run.earliest.min(control.now));
        let first = first.min(earlier);
        let base = match self.cut.buckets {
            0 => Ticks::ZERO,
            _ if first == Ticks::NEVER => Ticks::ZERO,
            buckets => {
                let epoch = first.get() / self.run.epoch_length.get();
                Ticks::new((epoch - epoch % u64::from(buckets / 2)) * self.run.epoch_length.get())
            }
        };
        // Windows at one time are counted if there may be many; a calendar has few.
        let now = (control.now, if self.cut.buckets > 0 { 0 } else { control.rounds });
        self.lps.write(gpu, self.control(), &control_at(control.windows, control.events, now, base))
    }

    /// The numbers of events that LPs have executed, with the sum of their fingerprints.
    pub(in crate::pdes) async fn executed(&self, gpu: &Gpu) -> Result<(Vec<u64>, u64), GpuError> {
        let rows = u64::from(self.cut.rows);
        let counts = self.lps.read_range(gpu, rows, rows).await?;
        let number = |low, high| Ticks::from_words([low, high]).get();
        let digests = counts.iter().map(|&[.., low, high]| number(low, high));
        let digest = digests.fold(0, u64::wrapping_add);
        Ok((counts.iter().map(|&[low, high, ..]| number(low, high)).collect(), digest))
    }

    /// Sets the numbers of events that LPs have executed, and the sum of their fingerprints, which
    /// is stored at the first LP.
    pub(in crate::pdes) fn put_executed(
        &self,
        gpu: &Gpu,
        counts: impl Iterator<Item = u64>,
        digest: u64,
    ) -> Result<(), GpuError> {
        let digests = std::iter::once(digest).chain(std::iter::repeat(0));
        let words = |number| Ticks::new(number).to_words();
        let counts: Vec<_> = counts
            .zip(digests)
            .map(|(count, digest)| {
                let ([a, b], [c, d]) = (words(count), words(digest));
                [a, b, c, d]
            })
            .collect();
        self.lps.write(gpu, self.cut.rows.into(), &counts)
    }

    /// Sets the rows of LP memory, by row of the run.
    pub(in crate::pdes) fn put_lp_memory(&self, gpu: &Gpu, mut rows: &[[u32; 4]]) -> Result<(), GpuError> {
        for memory in &self.memories {
            let length = usize::try_from(memory.len()).expect("it is in memory");
            let (these, others) = rows.split_at(length);
            memory.write(gpu, 0, these)?;
            rows = others;
        }
        Ok(())
    }

    /// Clears failures of `init` at LPs of other parts, which report them themselves. Overflows
    /// here are kept, and loops ended by this device's driver, which the others may not see.
    pub(in crate::pdes) async fn forget_others(&self, gpu: &Gpu) -> Result<(), GpuError> {
        let here = [FaultKind::QueueFull, FaultKind::LoopsCut]
            .map(|kind| kind.number().and_then(|number| u32::try_from(number + 1).ok()));
        let failures = self.words.read_range(gpu, FAILURE as u64, 2).await?;
        let kept: Vec<u32> = failures
            .into_iter()
            .map(|word| if here.contains(&Some(word % 16)) { word } else { u32::MAX })
            .collect();
        self.words.write(gpu, FAILURE as u64, &kept)
    }

    /// The rows of LP memory, by row of the run.
    pub(in crate::pdes) async fn lp_memory(&self, gpu: &Gpu) -> Result<Vec<[u32; 4]>, SimulationError> {
        let mut rows = Vec::new();
        for memory in &self.memories {
            rows.extend(memory.read_range(gpu, 0, memory.len()).await?);
        }
        Ok(rows)
    }
}
