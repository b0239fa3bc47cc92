//! The memory of a run on the device: its buffers and their bindings.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::gpu::{Buffer, Download, Gpu, GpuError, values_of};
use crate::time::Ticks;

mod contents;
#[cfg(not(target_arch = "wasm32"))]
mod outbox;

use super::control::{CONTROL_ROWS, COUNTS, FAILURE, MAIL_NEEDED, OUTBOX_NEEDED, QUEUE_NEEDED, control_at};
use super::cut::{Cut, ROW, STORE_PARTS, group_size_at_most};
use super::dispatch::Part;
use super::pool::Pool;
use super::strategy::Strategy;
use crate::pdes::contract::bounds::{budget, epoch_length};
use crate::pdes::contract::capacity::Capacity;
use crate::pdes::contract::error::{Fault, SimulationError};
use crate::pdes::contract::event::{Event, Payload};
use crate::pdes::contract::model::Model;
use crate::pdes::contract::replica::Replica;
use crate::pdes::contract::until::{Progress, Until};

shared! {
    "pdes/engine.wgsl":
    pub(in crate::pdes) struct Run {
        pub(in crate::pdes) unread: [u64; 2],
        pub(in crate::pdes) seed: u64,
        pub(in crate::pdes) lookahead: Ticks,
        pub(in crate::pdes) until: Ticks,
        pub(in crate::pdes) event_limit: u64,
        pub(in crate::pdes) pause: u64,
        pub(in crate::pdes) epoch_length: Ticks,
        pub(in crate::pdes) reciprocal: u64,
        pub(in crate::pdes) epoch: Ticks,
        pub(in crate::pdes) first_lp: u32,
        pub(in crate::pdes) rows: u32,
        pub(in crate::pdes) total: u32,
        pub(in crate::pdes) groups: u32,
        pub(in crate::pdes) queue_capacity: u32,
        pub(in crate::pdes) queue_stride: u32,
        pub(in crate::pdes) mail_capacity: u32,
        pub(in crate::pdes) state_words: u32,
        pub(in crate::pdes) memory_rows: u32,
        pub(in crate::pdes) budget: u32,
        pub(in crate::pdes) lowest: u32,
        pub(in crate::pdes) addresses: u32,
        pub(in crate::pdes) failures: u32,
        pub(in crate::pdes) replica: u32,
        pub(in crate::pdes) earliest: Ticks,
        pub(in crate::pdes) part: Part,
    }
}

shared! {
    "pdes/results/digest_memory.wgsl":
    /// Rows of LP memory per invocation.
    const SPAN: u64;
}

impl Run {
    /// The parameters of a model with this many LPs, without rows.
    pub(in crate::pdes) fn of_none(lps: u32) -> Self {
        Self { total: lps, budget: budget(lps), pause: u64::MAX, earliest: Ticks::NEVER, ..Self::zeroed() }
    }

    /// The number of workgroups that digest the memory of `lps` LPs of a part.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part's memory fits a binding, so it has fewer than 2^28 rows"
    )]
    pub(in crate::pdes) fn memory_groups(&self, gpu: &Gpu, lps: u32) -> u32 {
        let rows = u64::from(lps) * u64::from(self.memory_rows);
        rows.div_ceil(SPAN * u64::from(group_size_at_most(gpu, 256))) as u32
    }
}

/// The size of a state in bytes from which llvmpipe takes seconds to compile a window.
const SLOW_STATE: u32 = 256;

/// The offsets of bindings are multiples of this many bytes.
const ALIGNMENT: u64 = 256;

/// The buffers of a run.
#[derive(Debug)]
pub(in crate::pdes) struct Memory<S, P> {
    pub(in crate::pdes) cut: Cut,
    pub(in crate::pdes) run: Run,
    words: Buffer<u32>,
    lps: Buffer<[u32; 4]>,
    /// By dispatch.
    queues: Vec<Buffer<Event<P>>>,
    /// By dispatch.
    pub(in crate::pdes) memories: Vec<Buffer<[u32; 4]>>,
    /// Mailboxes by the parity of the window that reads them, then by binding. The first has the
    /// calendar, if there is one.
    stores: [Vec<Buffer<Event<P>>>; 2],
    pub(in crate::pdes) states: Buffer<S>,
    pub(in crate::pdes) digests: Buffer<u64>,
    params: wgpu::Buffer,
    data: Buffer<u32>,
    /// A placeholder for unused mailbox bindings: a part for each.
    nothing: Buffer<u32>,
}

impl<S: Pod, P: Payload> Memory<S, P> {
    /// Allocates the memory of a run of the LPs `first_lp ..` of `model`, with the rows of `cut`.
    pub(in crate::pdes) fn new<M: Model<State = S, Payload = P>>(
        gpu: &Gpu,
        model: &M,
        (seed, replica): (u64, Replica),
        first_lp: u32,
        cut: Cut,
        strategy: Strategy,
        state_bytes: u32,
    ) -> Result<Self, SimulationError> {
        let rows = u64::from(cut.rows);
        if gpu.is_software() && state_bytes > SLOW_STATE {
            log::warn!(
                "a State of {state_bytes} bytes: software adapters take long to compile copies of more than \
                 {SLOW_STATE} bytes (llvmpipe 25 s for 1,024). Move tables to `data`, or shrink the State"
            );
        }
        let epoch_length = epoch_length(model.lookahead());
        let run = Run {
            seed: replica.key(seed),
            lookahead: model.lookahead(),
            epoch_length,
            reciprocal: u64::MAX / epoch_length.get(),
            epoch: epoch(epoch_length, cut),
            first_lp,
            rows: cut.rows,
            groups: cut.groups(),
            queue_capacity: cut.queue_capacity(),
            queue_stride: cut.queue_stride,
            mail_capacity: cut.room,
            state_words: state_bytes / 4,
            memory_rows: model.memory_rows(),
            budget: if strategy.windows.is_single { 1 } else { budget(model.lps()) },
            // A part of a run sends to all LPs; an independent range sends to its own.
            lowest: if cut.outbox.is_some() { 0 } else { first_lp },
            addresses: if cut.outbox.is_some() { model.lps() } else { cut.rows },
            replica: replica.number,
            ..Run::of_none(model.lps())
        };
        let params = Buffer::uniform_from(gpu, "model parameters", &model.params_bytes())?.raw().clone();
        let values = values_of::<S>(state_bytes).expect("its size was checked");
        let states = Buffer::storage(gpu, "states", rows * values as u64)?;
        Self::allot(
            gpu,
            cut,
            strategy,
            run,
            states,
            (params, Buffer::storage_from(gpu, "model data", model.data())?),
        )
    }

    /// The memory of the same run with other capacities, with workgroups of the same size. It has
    /// only the contents that do not depend on capacities.
    pub(in crate::pdes) fn with_room(
        &self,
        gpu: &Gpu,
        cut: Cut,
        strategy: Strategy,
    ) -> Result<Self, SimulationError> {
        let run = Run {
            groups: cut.groups(),
            queue_capacity: cut.queue_capacity(),
            queue_stride: cut.queue_stride,
            mail_capacity: cut.room,
            epoch: epoch(self.run.epoch_length, cut),
            ..self.run
        };
        Self::allot(gpu, cut, strategy, run, self.states.clone(), (self.params.clone(), self.data.clone()))
    }

    fn allot(
        gpu: &Gpu,
        cut: Cut,
        strategy: Strategy,
        run: Run,
        states: Buffer<S>,
        (params, data): (wgpu::Buffer, Buffer<u32>),
    ) -> Result<Self, SimulationError> {
        let (rows, groups) = (u64::from(cut.rows), u64::from(cut.groups()));
        let store = |label| {
            let firsts = (0..cut.rows).step_by(cut.store_rows as usize);
            // All bindings of a calendar have the same layout.
            let rows =
                |first| if cut.buckets > 0 { cut.store_rows } else { cut.store_rows.min(cut.rows - first) };
            let buffers =
                firsts.map(|first| Buffer::storage(gpu, label, u64::from(rows(first)) * cut.stored));
            buffers.collect::<Result<_, _>>()
        };
        let (queues, stores) = match (cut.pool, cut.buckets) {
            (Some(Pool { slots, lists, .. }), _) => {
                let event = size_of::<Event<P>>() as u64;
                let links = Buffer::storage(gpu, "links", Pool::link_bytes(slots, lists, event) / event)?;
                let pool = Buffer::storage(gpu, "pending events", slots.into())?;
                (vec![pool], [vec![links.clone()], vec![links]])
            }
            (None, 0) => {
                let slots = |(_, rows)| strategy.queue.slots(rows, run.queue_capacity);
                let queues = cut.parts().map(|part| Buffer::storage(gpu, "queues", slots(part)));
                (queues.collect::<Result<_, _>>()?, [store("mailboxes, even")?, store("mailboxes, odd")?])
            }
            (None, _) => (Vec::new(), [store("calendar")?, Vec::new()]),
        };
        let memories = cut
            .parts()
            .map(|(_, rows)| Buffer::storage(gpu, "LP memory", u64::from(rows) * u64::from(run.memory_rows)));
        let memory_groups: u64 = cut.parts().map(|(_, lps)| u64::from(run.memory_groups(gpu, lps))).sum();
        let away = cut.outbox.map_or(0, |outbox| outbox.words(size_of::<Event<P>>()));
        let words = Buffer::storage(
            gpu,
            "failures and counts",
            COUNTS as u64 + u64::from(cut.counts()) * rows + away,
        )?;
        words.write(gpu, FAILURE as u64, &[u32::MAX; 2])?; // NO_FAILURE
        let control = 2 * (rows + groups) + 1;
        let found = strategy.windows.found_rows * rows;
        let lps = Buffer::storage(gpu, "LPs", control + 2 * CONTROL_ROWS as u64 + found)?;
        lps.write(gpu, control, &control_at(0, 0, (Ticks::ZERO, 0), Ticks::ZERO))?;
        Ok(Self {
            cut,
            run,
            words,
            lps,
            queues,
            memories: memories.collect::<Result<_, _>>()?,
            stores,
            states,
            digests: Buffer::storage(gpu, "digests", groups + memory_groups)?,
            params,
            data,
            nothing: Buffer::storage(gpu, "nothing", u64::from(STORE_PARTS) * ALIGNMENT / 4)?,
        })
    }

    /// The LPs in this memory.
    pub(in crate::pdes) fn lps(&self) -> Range<u32> {
        self.run.first_lp..self.run.first_lp + self.run.rows
    }

    /// The parameters of the dispatch of a part.
    pub(in crate::pdes) fn run_for(&self, part: Part) -> Run {
        Run { part, ..self.run }
    }

    /// The bindings of a dispatch, by the names of WGSL variables; `run` has its parameters.
    pub(in crate::pdes) fn bindings<'m>(
        &'m self,
        part: &Part,
        run: &'m Buffer<Run>,
    ) -> Vec<(&'static str, wgpu::BindingResource<'m>)> {
        let (parity, queue) = (part.parity as usize, part.queue_first / self.cut.part_rows);
        let (inbox, memory) =
            (part.inbox_first / self.cut.store_rows, part.memory_first / self.cut.part_rows);
        let store = if self.cut.buckets > 0 { &self.stores[0] } else { &self.stores[1 - parity] };
        let mut bound = vec![
            ("run", run.binding()),
            ("shared_run", run.binding()),
            ("words", self.words.binding()),
            ("lps", self.lps.binding()),
            ("store", store[0].binding()),
            ("links", store[0].binding()),
            ("memory", self.memories[memory as usize].binding()),
            ("states", self.states.binding()),
            ("state_rows", self.states.binding()),
            ("digests", self.digests.binding()),
            ("params", self.params.as_entire_binding()),
            ("data", self.data_binding()),
        ];
        if self.cut.buckets == 0 {
            bound.push(("queue_events", self.queues[queue as usize].binding()));
            bound.push(("inbox", self.stores[parity][inbox as usize].binding()));
        }
        bound.extend(STORES.iter().enumerate().map(|(number, name)| match store.get(number) {
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

    /// The model's data with the exact size, which `arrayLength` returns.
    fn data_binding(&self) -> wgpu::BindingResource<'_> {
        let size = std::num::NonZero::new(4 * self.data.len());
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: self.data.raw(), offset: 0, size })
    }

    /// The first row of control in `lps`.
    fn control(&self) -> u64 {
        2 * (u64::from(self.cut.rows) + u64::from(self.cut.groups())) + 1
    }

    /// Records the readback of the progress.
    pub(in crate::pdes) fn encode_progress(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<Download, GpuError> {
        const WORDS: u64 = 4 * COUNTS as u64;
        let download = Download::new(gpu, "progress", WORDS + 2 * ROW)?;
        download.record_part(encoder, self.words.raw(), 0, (0, WORDS));
        download.record_part(encoder, self.lps.raw(), ROW * self.control(), (WORDS, 2 * ROW));
        Ok(download)
    }

    /// Decodes a progress.
    pub(in crate::pdes) fn progress(&self, bytes: &[u8]) -> Result<Progress, SimulationError> {
        let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        let (words, control) = words.split_at(COUNTS);
        let number = |at: usize| Ticks::from_words([control[at], control[at + 1]]);
        let (windows, events, now, stopped) = (number(0).get(), number(2).get(), number(4), control[6] != 0);
        // A team leaves failures in either half, and other windows copy those of half 1 to half 0.
        let failure = words[FAILURE].min(words[FAILURE + 1]);
        Fault::decode(failure, needed(words), self.run.lowest, windows)?;
        let until = Until { time: self.run.until, events: self.run.event_limit };
        Ok(Progress { now, events, windows, stop: until.reached(now, events).filter(|_| stopped) })
    }

    /// All buffers that windows change. Between calls the mailboxes of parity 0 are valid.
    pub(in crate::pdes) fn buffers(&self) -> Vec<&wgpu::Buffer> {
        let events = self.queues.iter().chain(&self.stores[0]).map(Buffer::raw);
        let memories = self.memories.iter().map(Buffer::raw);
        [self.words.raw(), self.lps.raw(), self.states.raw()]
            .into_iter()
            .chain(events)
            .chain(memories)
            .collect()
    }

    /// The capacities of queues and mailboxes; for a calendar, the mailbox capacity that its
    /// buckets are sized for.
    pub(in crate::pdes) fn capacity(&self) -> Capacity {
        self.cut.capacity
    }

    /// Failures, and the counts of messages.
    pub(in crate::pdes) fn words(&self) -> &Buffer<u32> {
        &self.words
    }
}

/// The capacities that overflows would have needed, by kind.
pub(in crate::pdes) fn needed(words: &[u32]) -> [u32; 3] {
    [words[QUEUE_NEEDED], words[MAIL_NEEDED], words[OUTBOX_NEEDED]]
}

/// The time span of half of a calendar's buckets.
fn epoch(epoch_length: Ticks, cut: Cut) -> Ticks {
    Ticks::new(epoch_length.get().saturating_mul(u64::from(cut.buckets / 2)))
}

const STORES: [&str; STORE_PARTS as usize] = [
    "store_0", "store_1", "store_2", "store_3", "store_4", "store_5", "store_6", "store_7", "store_8",
    "store_9", "store_10", "store_11", "store_12", "store_13", "store_14", "store_15", "store_16",
    "store_17", "store_18", "store_19", "store_20", "store_21", "store_22", "store_23",
];
