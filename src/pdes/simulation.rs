//! The engine on the GPU: buffers, kernels, and the host's side of a run.

use std::collections::VecDeque;
use std::marker::PhantomData;

use web_time::Instant;

use crate::gpu::{Bindings, Buffer, Download, Gpu, GpuError, Kernel, Pace};
use crate::queue::{QueueDesign, Traverse};
use crate::time::Ticks;

use super::cpu::check;
use super::error::{Fault, SimulationError};
use super::programs::{Programs, constants};
use super::{Event, Fingerprint, Model, Progress, Until};

/// Choices that change how fast a simulation runs, and the seed, which alone changes its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Names the run's random streams.
    pub seed: u64,
    /// The queue design; `None` takes the one that suits the model's queue capacity.
    pub queue: Option<QueueDesign>,
    /// Threads per workgroup, a power of two within the device's limits; `None` takes a good one.
    pub workgroup: Option<u32>,
}

/// A simulation on the GPU.
///
/// The LPs' states stay on the device between calls, where an application's own passes can bind them
/// ([`Simulation::states_buffer`]).
pub struct Simulation<M: Model> {
    gpu: Gpu,
    queue: QueueDesign,
    groups: u32,
    buffers: Buffers<M::State>,
    chunks: Vec<Chunk>,
    window: Kernel,
    gather: Option<Gather>,
    digest: Kernel,
    run: Run,
    pace: Pace,
    /// The half that the next window reads.
    parity: usize,
    fault: Option<Fault>,
    model: PhantomData<M>,
}

/// The Rust side of `struct Run` in `shaders/pdes/engine.wgsl`.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Run {
    seed: u64,
    lookahead: Ticks,
    until: Ticks,
    event_limit: u64,
    lps: u32,
    queue_capacity: u32,
    mail_capacity: u32,
    groups: u32,
    parity: u32,
    partials_first: u32,
    partials_count: u32,
    first_group: u32,
    state_words: u32,
    queue_stride: u32,
}

#[derive(Debug)]
struct Buffers<S> {
    control: Buffer<u32>,
    partials: Buffer<[u32; 4]>,
    queue_events: Buffer<Event>,
    lps: Buffer<[u32; 4]>,
    mail_events: Buffer<Event>,
    mail_counts: Buffer<u32>,
    states: Buffer<S>,
    digests: Buffer<u64>,
}

/// The workgroups that one dispatch takes of a window, with what the kernels see of either parity.
#[derive(Debug)]
struct Chunk {
    groups: u32,
    runs: [Buffer<Run>; 2],
    windows: [Bindings; 2],
    digests: [Bindings; 2],
}

#[derive(Debug)]
struct Gather {
    kernel: Kernel,
    bindings: [Bindings; 2],
}

/// Words of a half of `control`, as in `shaders/pdes/engine.wgsl`.
const CONTROL_WORDS: usize = 8;

/// A window takes one dispatch up to this many LPs, and more beyond, so that no dispatch runs long on slow devices.
const DISPATCH_LPS: u32 = 1 << 20;

/// Up to this many partial reductions, every workgroup of the next window reads them all; beyond, a dispatch of its
/// own merges them first.
const DIRECT_PARTIALS: u32 = 1024;

/// Up to this queue capacity, CB-SEQ is the faster design; beyond, the heap is. (PHOLD with 4 events per LP needs room
/// for 32, and with 16 for 62.)
const SHORT_QUEUE: u32 = 40;

/// From this many LPs on, the larger workgroup is faster; below, the smaller one spreads LPs over more processors.
const MANY_LPS: u32 = 16_384;

/// Windows in one submission at the most.
const MAX_WINDOWS: u32 = 4096;

impl<M: Model> Simulation<M> {
    /// Prepares the kernels and buffers of `model` and initialises its LPs.
    ///
    /// # Errors
    /// Everything that [`SimulationError`] names.
    pub fn new(gpu: &Gpu, model: &M, options: Options) -> Result<Self, SimulationError> {
        check(model)?;
        let capacity = model.capacity();
        for (what, size) in [("queue", capacity.queue), ("mailbox", capacity.mailbox)] {
            if size == 0 {
                return Err(SimulationError::NoCapacity { what });
            }
        }
        let queue = options.queue.unwrap_or(if capacity.queue <= SHORT_QUEUE {
            QueueDesign::CbSeq(Traverse::BackToFront)
        } else {
            QueueDesign::Heap
        });
        let queue_stride = fits(gpu, "queues", capacity.queue, queue.stride(capacity.queue), model.lps())?;
        fits(gpu, "mailboxes", capacity.mailbox, 2 * u64::from(capacity.mailbox), model.lps())?;
        let programs = Programs::link(model, queue, gpu.has(wgpu::Features::SHADER_INT64))?;
        let state_bytes = programs.check_layouts(model)?;

        let group = options.workgroup.unwrap_or(if model.lps() >= MANY_LPS { 256 } else { 64 });
        let max = gpu.limits().max_compute_invocations_per_workgroup;
        if !group.is_power_of_two() || group > max {
            return Err(SimulationError::Workgroup { threads: group, max });
        }
        let groups = model.lps().div_ceil(group);
        let lps = u64::from(model.lps());
        let buffers = Buffers {
            control: Buffer::storage(gpu, "control", 2 * CONTROL_WORDS as u64)?,
            partials: Buffer::storage(gpu, "partials", 2 * u64::from(groups) + 1)?,
            queue_events: Buffer::storage(gpu, "queues", lps * u64::from(queue_stride))?,
            lps: Buffer::storage(gpu, "LPs", 2 * lps)?,
            mail_events: Buffer::storage(gpu, "mailboxes", 2 * lps * u64::from(capacity.mailbox))?,
            mail_counts: Buffer::storage(gpu, "mailbox counts", 2 * lps)?,
            states: Buffer::storage(gpu, "states", lps)?,
            digests: Buffer::storage(gpu, "digests", u64::from(groups))?,
        };
        let mut control = [0; 2 * CONTROL_WORDS];
        control[CONTROL_WORDS - 1] = u32::MAX; // NO_FAILURE, in the word FAILURE of either half
        control[2 * CONTROL_WORDS - 1] = u32::MAX;
        buffers.control.write(gpu, 0, &control)?;

        let params = Buffer::uniform(gpu, "model parameters", &model.params())?;
        let data = Buffer::storage_from(gpu, "model data", model.data())?;
        let constants = constants(queue, group);
        let kernel = |program, entry| Kernel::new(gpu, program, entry, &constants);
        let window = kernel(&programs.window, "window")?;
        let digest = kernel(&programs.digest, "digest")?;
        let (init, settle) = (kernel(&programs.init, "init_lps")?, kernel(&programs.init, "settle_lps")?);

        let gathered = groups > DIRECT_PARTIALS;
        let run = Run {
            seed: options.seed,
            lookahead: model.lookahead(),
            until: Ticks::ZERO,
            event_limit: 0,
            lps: model.lps(),
            queue_capacity: capacity.queue,
            mail_capacity: capacity.mailbox,
            groups,
            parity: 0,
            partials_first: if gathered { 2 * groups } else { 0 },
            partials_count: if gathered { 1 } else { groups },
            first_group: 0,
            state_words: state_bytes / 4,
            queue_stride,
        };
        let bind = |kernel: &Kernel, run: &Buffer<Run>| {
            let mut all = buffers.bindings();
            all.extend([("run", run.binding()), ("params", params.binding()), ("data", data.binding())]);
            kernel.bind(gpu, &all)
        };
        let mut chunks = Vec::new();
        let mut starts = Vec::new();
        let chunk_groups = (DISPATCH_LPS / group).max(1);
        for first_group in (0..groups).step_by(chunk_groups as usize) {
            let runs = run.halves(first_group).map(|half| Buffer::uniform(gpu, "run", &half));
            let [even, odd] = runs;
            let runs = [even?, odd?];
            starts.push((bind(&init, &runs[0])?, bind(&settle, &runs[0])?));
            chunks.push(Chunk {
                groups: chunk_groups.min(groups - first_group),
                windows: [bind(&window, &runs[0])?, bind(&window, &runs[1])?],
                digests: [bind(&digest, &runs[0])?, bind(&digest, &runs[1])?],
                runs,
            });
        }
        let gather = match gathered {
            false => None,
            true => {
                let kernel = Kernel::new(gpu, &programs.gather, "gather", &[("GROUP", 256.0)])?;
                let [even, odd] = &chunks[0].runs;
                let bindings = [bind(&kernel, even)?, bind(&kernel, odd)?];
                Some(Gather { kernel, bindings })
            }
        };
        for (kernel, of) in [(&init, 0), (&settle, 1)] {
            for (chunk, start) in chunks.iter().zip(&starts) {
                let mut encoder = gpu.encoder("start");
                let bindings = if of == 0 { &start.0 } else { &start.1 };
                kernel.dispatch(&mut encoder.begin_compute_pass(&Default::default()), bindings, chunk.groups);
                gpu.submit(encoder)?;
            }
        }
        Ok(Self {
            gpu: gpu.clone(),
            queue,
            groups,
            buffers,
            chunks,
            window,
            gather,
            digest,
            run,
            pace: Pace::new(MAX_WINDOWS),
            parity: 0,
            fault: None,
            model: PhantomData,
        })
    }

    /// Runs to the end that `until` names.
    ///
    /// # Errors
    /// [`SimulationError::Fault`] where the run fails, [`SimulationError::Gpu`] where the device does. The run cannot
    /// go on after either.
    pub fn run(&mut self, until: Until) -> Result<Progress, SimulationError> {
        self.run_watched(until, |_| {})
    }

    /// [`Simulation::run`], telling `watch` how far it is some 30 times a second.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn run_watched(
        &mut self,
        until: Until,
        watch: impl FnMut(&Progress),
    ) -> Result<Progress, SimulationError> {
        pollster::block_on(self.run_async(until, watch))
    }

    /// [`Simulation::run_watched`] for browsers, where nothing may block.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub async fn run_async(
        &mut self,
        until: Until,
        mut watch: impl FnMut(&Progress),
    ) -> Result<Progress, SimulationError> {
        self.set_until(until)?;
        // Two submissions at a time: the device works on one while the host takes in the other. Windows that are
        // submitted beyond the end do nothing.
        let mut flying: VecDeque<(Download, wgpu::SubmissionIndex, u32)> = VecDeque::new();
        let mut last = Instant::now();
        loop {
            while flying.len() < 2 {
                let windows = self.pace.units();
                let mut encoder = self.gpu.encoder("windows");
                self.record(&mut encoder, windows);
                let download = self.record_progress(&mut encoder)?;
                flying.push_back((download, self.gpu.submit(encoder)?, windows));
            }
            let Some((download, submission, windows)) = flying.pop_front() else {
                unreachable!("two were submitted")
            };
            let words = download.finish(&self.gpu, submission).await?;
            self.pace.record(windows, last.elapsed());
            last = Instant::now();
            let progress = self.progress_from(&words)?;
            watch(&progress);
            if progress.stop.is_some() {
                return Ok(progress);
            }
        }
    }

    /// Sets the end for windows that are recorded from now on.
    ///
    /// # Errors
    /// A [`Fault`] of the windows before, or the device's error.
    pub fn set_until(&mut self, until: Until) -> Result<(), SimulationError> {
        self.faultless()?;
        self.run.until = until.time;
        self.run.event_limit = until.events;
        let mut first_group = 0;
        for chunk in &self.chunks {
            for (buffer, half) in chunk.runs.iter().zip(self.run.halves(first_group)) {
                buffer.write(&self.gpu, 0, &[half])?;
            }
            first_group += chunk.groups;
        }
        Ok(())
    }

    /// Records `windows` windows into an application's own encoder, up to the end that [`Simulation::set_until`] set.
    ///
    /// Windows beyond the end do nothing. Encoders must be submitted in the order in which they were recorded.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder, windows: u32) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("windows"),
            timestamp_writes: None,
        });
        let mut again = false;
        for _ in 0..windows {
            if let Some(gather) = &self.gather {
                gather.kernel.dispatch(&mut pass, &gather.bindings[self.parity], 1);
                again = false;
            }
            for chunk in &self.chunks {
                let bindings = &chunk.windows[self.parity];
                if again {
                    self.window.dispatch_again(&mut pass, bindings, chunk.groups);
                } else {
                    self.window.dispatch(&mut pass, bindings, chunk.groups);
                }
                again = true;
            }
            self.parity = 1 - self.parity;
        }
    }

    /// How far the windows that were submitted so far have come.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn progress(&mut self) -> Result<Progress, SimulationError> {
        let mut encoder = self.gpu.encoder("progress");
        let download = self.record_progress(&mut encoder)?;
        let submission = self.gpu.submit(encoder)?;
        let words = pollster::block_on(download.finish(&self.gpu, submission))?;
        self.progress_from(&words)
    }

    /// The LPs' states, by LP.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or the device's error.
    pub fn states(&self) -> Result<Vec<M::State>, SimulationError> {
        self.faultless()?;
        Ok(self.buffers.states.read(&self.gpu)?)
    }

    /// The buffer of the LPs' states, one after the other, to bind in an application's own passes.
    pub fn states_buffer(&self) -> &wgpu::Buffer {
        self.buffers.states.raw()
    }

    /// The events still pending, by LP and then in order.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or the device's error.
    pub fn pending(&self) -> Result<Vec<(u32, Event)>, SimulationError> {
        self.faultless()?;
        let control = self.buffers.control.read(&self.gpu)?;
        let mail_half = control[self.parity * CONTROL_WORDS] as usize & 1; // the low word of WINDOWS
        let lps = self.buffers.lps.read(&self.gpu)?;
        let queues = self.buffers.queue_events.read(&self.gpu)?;
        let counts = self.buffers.mail_counts.read(&self.gpu)?;
        let mails = self.buffers.mail_events.read(&self.gpu)?;
        let mut pending = Vec::new();
        let (queue_room, mail_room) = (self.run.queue_stride as usize, self.run.mail_capacity as usize);
        for lp in 0..self.run.lps {
            let row = lp as usize;
            let meta = [lps[row][2], lps[row][3]];
            let slots = self.queue.slots(meta, self.run.queue_capacity);
            pending.extend(slots.map(|slot| (lp, queues[row * queue_room + slot as usize])));
            let mailbox = mail_half * self.run.lps as usize + row;
            let first = mailbox * mail_room;
            pending.extend(mails[first..first + counts[mailbox] as usize].iter().map(|event| (lp, *event)));
        }
        pending.sort_unstable();
        Ok(pending)
    }

    /// The fingerprint of what was executed, of the states, and of what is pending. Equal to that of
    /// [`CpuSimulation`](super::CpuSimulation) after the same run.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or the device's error.
    pub fn fingerprint(&self) -> Result<Fingerprint, SimulationError> {
        self.faultless()?;
        for chunk in &self.chunks {
            let mut encoder = self.gpu.encoder("digest");
            let bindings = &chunk.digests[self.parity];
            self.digest.dispatch(
                &mut encoder.begin_compute_pass(&Default::default()),
                bindings,
                chunk.groups,
            );
            self.gpu.submit(encoder)?;
        }
        let digests = self.buffers.digests.read(&self.gpu)?;
        let control = self.buffers.control.read(&self.gpu)?;
        Self::fault_in(&control[self.parity * CONTROL_WORDS..])?;
        Ok(Fingerprint(digests.into_iter().fold(0, u64::wrapping_add)))
    }

    /// The queue design in use.
    pub fn queue(&self) -> QueueDesign {
        self.queue
    }

    /// Workgroups per window.
    pub fn workgroups(&self) -> u32 {
        self.groups
    }

    fn record_progress(&self, encoder: &mut wgpu::CommandEncoder) -> Result<Download, GpuError> {
        let bytes = 4 * CONTROL_WORDS as u64;
        let download = Download::new(&self.gpu, "progress", bytes)?;
        download.record(encoder, self.buffers.control.raw(), self.parity as u64 * bytes);
        Ok(download)
    }

    fn progress_from(&mut self, bytes: &[u8]) -> Result<Progress, SimulationError> {
        let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        if let Err(fault) = Self::fault_in(&words) {
            self.fault = Some(fault);
        }
        self.faultless()?;
        let number = |at: usize| Ticks::from_words([words[at], words[at + 1]]);
        let (windows, events, now, stopped) = (number(0).get(), number(2).get(), number(4), words[6] != 0);
        let until = Until { time: self.run.until, events: self.run.event_limit };
        Ok(Progress { now, events, windows, stop: until.reached(now, events).filter(|_| stopped) })
    }

    /// The failure that a half of `control` tells of.
    fn fault_in(half: &[u32]) -> Result<(), Fault> {
        let windows = Ticks::from_words([half[0], half[1]]).get();
        Fault::decode(half[7], windows).map_or(Ok(()), Err)
    }

    fn faultless(&self) -> Result<(), SimulationError> {
        self.fault.map_or(Ok(()), |fault| Err(fault.into()))
    }
}

impl<M: Model> std::fmt::Debug for Simulation<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("gpu", &self.gpu)
            .field("queue", &self.queue)
            .field("run", &self.run)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// What the two parities see, for the dispatch that begins with workgroup `first_group`.
    fn halves(self, first_group: u32) -> [Self; 2] {
        let direct = self.partials_count == self.groups && self.partials_first == 0;
        [0, 1].map(|parity| Self {
            parity,
            first_group,
            partials_first: if direct { parity * self.groups } else { self.partials_first },
            ..self
        })
    }
}

impl<S: bytemuck::Pod> Buffers<S> {
    fn bindings(&self) -> Vec<(&'static str, wgpu::BindingResource<'_>)> {
        vec![
            ("control", self.control.binding()),
            ("partials", self.partials.binding()),
            ("queue_events", self.queue_events.binding()),
            ("lps", self.lps.binding()),
            ("mail_events", self.mail_events.binding()),
            ("mail_counts", self.mail_counts.binding()),
            ("states", self.states.binding()),
            ("state_rows", self.states.binding()),
            ("digests", self.digests.binding()),
        ]
    }
}

/// Checks that `slots` slots for each LP can be bound, and returns their number.
fn fits(gpu: &Gpu, what: &'static str, capacity: u32, slots: u64, lps: u32) -> Result<u32, SimulationError> {
    let row = size_of::<Event>() as u64 * u64::from(lps);
    // Kernels number slots by 32 bits.
    let limit = gpu.max_buffer_bytes().min(size_of::<Event>() as u64 * u64::from(u32::MAX));
    let needed = row.saturating_mul(slots);
    if needed > limit {
        // How many slots an event takes is the same for the largest capacity, but for rounding.
        let largest = limit / row * u64::from(capacity) / slots;
        return Err(SimulationError::TooLarge { what, capacity, lps, needed, limit, largest });
    }
    Ok(u32::try_from(slots).expect("slots of all LPs have 32-bit numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Program;
    use crate::shaders;
    use std::mem::offset_of;

    #[test]
    fn run_has_the_layout_of_its_wgsl_struct() {
        let program = Program::link("gather", &[shaders::file("pdes/gather.wgsl")]).unwrap();
        let layout = program.layout("Run").unwrap();
        let offsets: Vec<_> = layout.fields.iter().map(|f| (f.name.as_str(), f.offset as usize)).collect();
        let expected = [
            ("seed", offset_of!(Run, seed)),
            ("lookahead", offset_of!(Run, lookahead)),
            ("until", offset_of!(Run, until)),
            ("event_limit", offset_of!(Run, event_limit)),
            ("lps", offset_of!(Run, lps)),
            ("queue_capacity", offset_of!(Run, queue_capacity)),
            ("mail_capacity", offset_of!(Run, mail_capacity)),
            ("groups", offset_of!(Run, groups)),
            ("parity", offset_of!(Run, parity)),
            ("partials_first", offset_of!(Run, partials_first)),
            ("partials_count", offset_of!(Run, partials_count)),
            ("first_group", offset_of!(Run, first_group)),
            ("state_words", offset_of!(Run, state_words)),
            ("queue_stride", offset_of!(Run, queue_stride)),
        ];
        assert_eq!(offsets, expected);
        assert_eq!(layout.bytes as usize, size_of::<Run>());
    }
}
