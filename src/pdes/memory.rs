//! The memory of a run on the device: its buffers, and what a dispatch sees of them.

use bytemuck::{Pod, Zeroable};

use crate::gpu::{Buffer, Gpu, GpuError, Plan};
use crate::queue::QueueDesign;
use crate::time::Ticks;

use super::cut::{Cut, MAIL_PARTS, ROW, group_size_at_most};
use super::error::{Fault, SimulationError};
use super::{Capacity, Event, Model, Payload, Pending, Progress, Until};

/// `struct Run` in `shaders/pdes/engine.wgsl`.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Run {
    unread: u64,
    pub(super) seed: u64,
    pub(super) lookahead: Ticks,
    pub(super) until: Ticks,
    pub(super) event_limit: u64,
    reciprocal: u64,
    epoch: Ticks,
    pub(super) first_lp: u32,
    pub(super) rows: u32,
    pub(super) total: u32,
    pub(super) groups: u32,
    pub(super) queue_capacity: u32,
    pub(super) queue_stride: u32,
    pub(super) mail_capacity: u32,
    pub(super) state_words: u32,
    pub(super) memory_rows: u32,
    budget: u32,
    pub(super) part: Part,
}

/// Rows of LP memory that an invocation of `shaders/pdes/digest_memory.wgsl` takes.
const SPAN: u64 = 64;

impl Run {
    /// The workgroups that digest the memory of so many LPs of a part.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part's memory fits a binding, so it has fewer than 2^28 rows"
    )]
    pub(super) fn memory_groups(&self, gpu: &Gpu, lps: u32) -> u32 {
        let rows = u64::from(lps) * u64::from(self.memory_rows);
        rows.div_ceil(SPAN * u64::from(group_size_at_most(gpu, 256))) as u32
    }
}

/// `struct Part` in `shaders/pdes/engine.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Part {
    pub(super) parity: u32,
    pub(super) first_group: u32,
    pub(super) queue_first: u32,
    pub(super) queue_rows: u32,
    pub(super) inbox_first: u32,
    pub(super) partials_first: u32,
    pub(super) partials_count: u32,
    pub(super) memory_first: u32,
}

/// Words of `words` in `shaders/pdes/engine.wgsl`: of a half of control, and where things lie behind the halves. Between calls,
/// half 0 is the one that counts: windows are recorded in pairs.
const HALF_WORDS: usize = 8;
pub(super) const FAILURE: usize = 7;
const QUEUE_NEEDED: usize = 16;
const MAIL_NEEDED: usize = 17;
pub(super) const DIGEST_CUT: usize = 18;
/// Of the first meta word of a queue.
const STANDS: u32 = 1 << 31;
pub(super) const COUNTS: usize = 32;

/// Bytes of a state from which on llvmpipe takes seconds to compile a window (1.2 s at 256, 25 s at 1,024, 42 s at 2,048).
const SLOW_STATE: u32 = 256;

/// The offsets of bindings are multiples of this many bytes.
const ALIGNMENT: u64 = 256;

/// The buffers of a run.
#[derive(Debug)]
pub(super) struct Memory<S, P> {
    pub(super) cut: Cut,
    pub(super) run: Run,
    words: Buffer<u32>,
    lps: Buffer<[u32; 4]>,
    /// By dispatch.
    queues: Vec<Buffer<Event<P>>>,
    /// By dispatch.
    pub(super) memories: Vec<Buffer<[u32; 4]>>,
    /// By parity of the window that finds them, then by binding.
    mails: [Vec<Buffer<Event<P>>>; 2],
    pub(super) states: Buffer<S>,
    pub(super) digests: Buffer<u64>,
    params: wgpu::Buffer,
    data: Buffer<u32>,
    /// Stands in for bindings of mailboxes that are not needed: a part for each.
    nothing: Buffer<u32>,
}

impl<S: Pod, P: Payload> Memory<S, P> {
    /// Allots the memory of a run of the LPs `first_lp ..` of `model`, as many as `cut` has rows.
    pub(super) fn new<M: Model<State = S, Payload = P>>(
        gpu: &Gpu,
        model: &M,
        seed: u64,
        first_lp: u32,
        cut: Cut,
        (queue, capacity): (QueueDesign, Capacity),
        state_bytes: u32,
    ) -> Result<Self, SimulationError> {
        let rows = u64::from(cut.rows);
        if gpu.info().device_type == wgpu::DeviceType::Cpu && state_bytes > SLOW_STATE {
            log::warn!(
                "a State of {state_bytes} bytes: drivers that run on the processor take long to compile copies of more than \
                 {SLOW_STATE} (llvmpipe 25 s for 1,024). Keep tables in `data`, or less in the State"
            );
        }
        let run = Run {
            unread: 0,
            seed,
            lookahead: model.lookahead(),
            until: Ticks::ZERO,
            event_limit: 0,
            reciprocal: u64::MAX / model.lookahead().get(),
            epoch: Ticks::ZERO,
            first_lp,
            rows: cut.rows,
            total: model.lps(),
            groups: cut.groups(),
            queue_capacity: capacity.queue,
            queue_stride: cut.queue_stride,
            mail_capacity: capacity.mailbox,
            state_words: state_bytes / 4,
            memory_rows: model.memory_rows(),
            budget: super::budget(model.lps()),
            part: Part::default(),
        };
        let params = Buffer::uniform(gpu, "model parameters", &model.params())?.raw().clone();
        let states = Buffer::storage(gpu, "states", rows)?;
        Self::allot(
            gpu,
            cut,
            queue,
            run,
            states,
            (params, Buffer::storage_from(gpu, "model data", model.data())?),
        )
    }

    /// The memory of the same run with other capacities, in a cut with the same workgroups; nothing is in it but what does not depend
    /// on them.
    pub(super) fn with_room(
        &self,
        gpu: &Gpu,
        cut: Cut,
        queue: QueueDesign,
        capacity: Capacity,
    ) -> Result<Self, SimulationError> {
        let run = Run {
            groups: cut.groups(),
            queue_capacity: capacity.queue,
            queue_stride: cut.queue_stride,
            mail_capacity: capacity.mailbox,
            ..self.run
        };
        Self::allot(gpu, cut, queue, run, self.states.clone(), (self.params.clone(), self.data.clone()))
    }

    fn allot(
        gpu: &Gpu,
        cut: Cut,
        queue: QueueDesign,
        run: Run,
        states: Buffer<S>,
        (params, data): (wgpu::Buffer, Buffer<u32>),
    ) -> Result<Self, SimulationError> {
        let (rows, groups) = (u64::from(cut.rows), u64::from(cut.groups()));
        let queues = cut
            .parts()
            .map(|(_, rows)| Buffer::storage(gpu, "queues", queue.slots(rows, run.queue_capacity)));
        let memories = cut
            .parts()
            .map(|(_, rows)| Buffer::storage(gpu, "LP memory", u64::from(rows) * u64::from(run.memory_rows)));
        let mails = |label| {
            let firsts = (0..cut.rows).step_by(cut.mail_rows as usize);
            let parts = firsts.map(|first| {
                let rows = cut.mail_rows.min(cut.rows - first);
                Buffer::storage(gpu, label, u64::from(rows) * u64::from(run.mail_capacity))
            });
            parts.collect::<Result<_, _>>()
        };
        let memory_groups: u64 = cut.parts().map(|(_, lps)| u64::from(run.memory_groups(gpu, lps))).sum();
        let words =
            Buffer::storage(gpu, "control, counts of mails and of windows", COUNTS as u64 + 3 * rows)?;
        let mut control = [0; 2 * HALF_WORDS];
        control[FAILURE] = u32::MAX; // NO_FAILURE
        control[HALF_WORDS + FAILURE] = u32::MAX;
        words.write(gpu, 0, &control)?;
        Ok(Self {
            cut,
            run,
            words,
            lps: Buffer::storage(gpu, "LPs", 2 * rows + 2 * groups + 1)?,
            queues: queues.collect::<Result<_, _>>()?,
            memories: memories.collect::<Result<_, _>>()?,
            mails: [mails("mailboxes, even")?, mails("mailboxes, odd")?],
            states,
            digests: Buffer::storage(gpu, "digests", groups + memory_groups)?,
            params,
            data,
            nothing: Buffer::storage(gpu, "nothing", u64::from(MAIL_PARTS) * ALIGNMENT / 4)?,
        })
    }

    /// What the dispatch of a part is told.
    pub(super) fn run_for(&self, part: Part) -> Run {
        Run { part, ..self.run }
    }

    /// What a dispatch sees, by the names of WGSL variables; `run` is what it is told.
    pub(super) fn bindings<'m>(
        &'m self,
        part: &Part,
        run: &'m Buffer<Run>,
    ) -> Vec<(&'static str, wgpu::BindingResource<'m>)> {
        let (parity, queue) = (part.parity as usize, part.queue_first / self.cut.part_rows);
        let (inbox, memory) = (part.inbox_first / self.cut.mail_rows, part.memory_first / self.cut.part_rows);
        let outbox = &self.mails[1 - parity];
        let mut bound = vec![
            ("run", run.binding()),
            ("words", self.words.binding()),
            ("lps", self.lps.binding()),
            ("queue_events", self.queues[queue as usize].binding()),
            ("inbox", self.mails[parity][inbox as usize].binding()),
            ("outbox", outbox[0].binding()),
            ("memory", self.memories[memory as usize].binding()),
            ("states", self.states.binding()),
            ("state_rows", self.states.binding()),
            ("digests", self.digests.binding()),
            ("params", self.params.as_entire_binding()),
            ("data", self.data_binding()),
        ];
        bound.extend(OUTBOXES.iter().enumerate().map(|(number, name)| match outbox.get(number) {
            Some(buffer) => (*name, buffer.binding()),
            None => {
                let part = wgpu::BufferBinding {
                    buffer: self.nothing.raw(),
                    offset: number as u64 * ALIGNMENT,
                    size: std::num::NonZero::new(size_of::<Event<P>>() as u64),
                };
                (*name, wgpu::BindingResource::Buffer(part))
            }
        }));
        bound
    }

    /// The model's data, as long as they are: `arrayLength` says so.
    fn data_binding(&self) -> wgpu::BindingResource<'_> {
        let size = std::num::NonZero::new(4 * self.data.len());
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.data.raw(), offset: 0, size })
    }

    /// What the words of control say.
    pub(super) fn progress(&self, words: &[u32]) -> Result<Progress, SimulationError> {
        let number = |at: usize| Ticks::from_words([words[at], words[at + 1]]);
        let (windows, events, now, stopped) = (number(0).get(), number(2).get(), number(4), words[6] != 0);
        let needed = [words[QUEUE_NEEDED], words[MAIL_NEEDED]];
        Fault::decode(words[FAILURE], needed, self.run.first_lp, windows)?;
        let until = Until { time: self.run.until, events: self.run.event_limit };
        Ok(Progress { now, events, windows, stop: until.reached(now, events).filter(|_| stopped) })
    }

    /// All that windows change, between calls: the mailboxes that count then are those of parity 0.
    pub(super) fn buffers(&self) -> Vec<&wgpu::Buffer> {
        let events = self.queues.iter().chain(&self.mails[0]).map(Buffer::raw);
        let memories = self.memories.iter().map(Buffer::raw);
        [self.words.raw(), self.lps.raw(), self.states.raw()]
            .into_iter()
            .chain(events)
            .chain(memories)
            .collect()
    }

    /// The room of queues and mailboxes.
    pub(super) fn capacity(&self) -> Capacity {
        Capacity { queue: self.run.queue_capacity, mailbox: self.run.mail_capacity }
    }

    /// Takes over what `old`, the same run with less room, holds: its pending events lie unordered in the queues then, counted as mails. What
    /// orders them (`plans::settle`) forgets how many events LPs have executed: then comes `keep_counts`.
    pub(super) fn take_over(
        &self,
        gpu: &Gpu,
        old: &Self,
        pending: &Pending<P>,
        queue: QueueDesign,
    ) -> Result<(), GpuError> {
        // LP memory is one row after the other, whatever it is cut into.
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
        let mut counts = vec![0_u32; self.cut.rows as usize];
        let mut pending = pending.iter().peekable();
        for ((first, rows), events) in self.cut.parts().zip(&self.queues) {
            let size = usize::try_from(events.len()).expect("a buffer fits the host's memory");
            let mut slots = vec![Event::<P>::zeroed(); size];
            for row in first..first + rows {
                let of_row = |(lp, _): &&(u32, Event<P>)| *lp == self.run.first_lp + row;
                while let Some((_, event)) = pending.next_if(of_row) {
                    let count = &mut counts[row as usize];
                    slots[queue.place(row - first, *count, self.run.queue_capacity)] = *event;
                    *count += 1;
                }
            }
            events.write(gpu, 0, &slots)?;
        }
        self.words.write(gpu, COUNTS as u64 + u64::from(self.cut.rows), &counts)
    }

    /// Copies how many events the LPs of `old` have executed, with their fingerprints.
    pub(super) fn keep_counts(&self, gpu: &Gpu, old: &Self) -> Result<(), GpuError> {
        let mut plan = Plan::new("growth");
        let half = u64::from(self.run.rows) * 16;
        plan.copy("LPs", (old.lps.raw(), half), (self.lps.raw(), half), half);
        plan.submit(gpu)?;
        Ok(())
    }

    /// Windows, events and time as they are in `words` and in the partial reductions of half 0, as the control of a run that nobody has
    /// stopped.
    pub(super) async fn control_of(&self, gpu: &Gpu, words: &[u32]) -> Result<Vec<u32>, GpuError> {
        let partials =
            self.lps.read_range(gpu, 2 * u64::from(self.cut.rows), self.cut.groups().into()).await?;
        let number = |at: usize| Ticks::from_words([words[at], words[at + 1]]);
        let events = number(2).get() + partials.iter().map(|partial| u64::from(partial[2])).sum::<u64>();
        let mut control = vec![0; 2 * HALF_WORDS];
        control[..2].copy_from_slice(&words[..2]);
        control[2..4].copy_from_slice(&Ticks::new(events).to_words());
        control[4..6].copy_from_slice(&words[4..6]);
        control[FAILURE] = u32::MAX;
        control[HALF_WORDS + FAILURE] = u32::MAX;
        Ok(control)
    }

    /// Control, and the counts of mails.
    pub(super) fn control(&self) -> &Buffer<u32> {
        &self.words
    }

    /// The rows of LP memory, by row of the run.
    pub(super) async fn lp_memory(&self, gpu: &Gpu) -> Result<Vec<[u32; 4]>, SimulationError> {
        let mut rows = Vec::new();
        for memory in &self.memories {
            rows.extend(memory.read_range(gpu, 0, memory.len()).await?);
        }
        Ok(rows)
    }

    /// The events that every row holds, in queues and mailboxes, by name.
    pub(super) async fn pending(&self, gpu: &Gpu, queue: QueueDesign) -> Result<Pending<P>, SimulationError> {
        let lps = self.lps.read_range(gpu, 0, self.cut.rows.into()).await?;
        let rows = u64::from(self.cut.rows);
        let counts = self.words.read_range(gpu, COUNTS as u64 + rows, rows).await?;
        let mut pending = Vec::new();
        for ((first, rows), queues) in self.cut.parts().zip(&self.queues) {
            let events = queues.read_range(gpu, 0, queues.len()).await?;
            for row in first..first + rows {
                let [.., length, front] = lps[row as usize];
                let meta = [length & !STANDS, front];
                let held = queue.held(&events, row - first, meta, self.run.queue_capacity);
                pending.extend(held.map(|event| (self.run.first_lp + row, *event)));
            }
        }
        for (number, mails) in (0..).zip(&self.mails[0]) {
            let first = number * self.cut.mail_rows;
            let rows = first..self.cut.rows.min(first + self.cut.mail_rows);
            if counts[rows.start as usize..rows.end as usize].iter().all(|&count| count == 0) {
                continue;
            }
            let events = mails.read_range(gpu, 0, mails.len()).await?;
            for row in rows {
                let base = (row - first) as usize * self.run.mail_capacity as usize;
                let held = &events[base..base + counts[row as usize] as usize];
                pending.extend(held.iter().map(|event| (self.run.first_lp + row, *event)));
            }
        }
        pending.sort_unstable();
        Ok(pending)
    }
}

const OUTBOXES: [&str; MAIL_PARTS as usize] = [
    "outbox_0",
    "outbox_1",
    "outbox_2",
    "outbox_3",
    "outbox_4",
    "outbox_5",
    "outbox_6",
    "outbox_7",
    "outbox_8",
    "outbox_9",
    "outbox_10",
    "outbox_11",
    "outbox_12",
    "outbox_13",
    "outbox_14",
    "outbox_15",
    "outbox_16",
    "outbox_17",
    "outbox_18",
    "outbox_19",
    "outbox_20",
    "outbox_21",
    "outbox_22",
    "outbox_23",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Program, assert_same_layout};
    use crate::shaders;

    #[test]
    fn structs_lie_as_in_wgsl() {
        let program =
            Program::link("engine", &["pdes/yawns.wgsl", "pdes/payload_2.wgsl", "random/mul_wide.wgsl"].map(shaders::file)).unwrap();
        assert_same_layout!(
            program,
            Run {
                unread,
                seed,
                lookahead,
                until,
                event_limit,
                reciprocal,
                epoch,
                first_lp,
                rows,
                total,
                groups,
                queue_capacity,
                queue_stride,
                mail_capacity,
                state_words,
                memory_rows,
                budget,
                part
            }
        );
        assert_same_layout!(
            program,
            Part {
                parity,
                first_group,
                queue_first,
                queue_rows,
                inbox_first,
                partials_first,
                partials_count,
                memory_first
            }
        );
    }
}
