//! The engine on the GPU: buffers, kernels, and the host's side of a run.

use std::collections::VecDeque;
use std::marker::PhantomData;

use web_time::Instant;

use crate::gpu::{Bindings, Buffer, Download, Gpu, GpuError, Kernel, Pace};
use crate::queue::{QueueDesign, Traverse};
use crate::time::Ticks;

use super::cpu::check;
use super::error::{Fault, FaultKind, SimulationError};
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
    buffers: Buffers<M::State>,
    chunks: Vec<Chunk>,
    window: Kernel,
    gather: Option<Gather>,
    digest: Kernel,
    run: Run,
    pace: Pace,
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
    digest: Bindings,
}

#[derive(Debug)]
struct Gather {
    kernel: Kernel,
    bindings: [Bindings; 2],
}

/// Words of a half of `control`, as in `shaders/pdes/engine.wgsl`. Between calls, half 0 is the one that counts: windows
/// are recorded in pairs.
const CONTROL_WORDS: usize = 8;

/// The word of `control` that says that the driver cut a loop of the digest.
const DIGEST_CUT: usize = 2 * CONTROL_WORDS;

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
        let queue_stride = fits(gpu, "queues", capacity.queue, |events| queue.stride(events), model.lps())?;
        fits(gpu, "mailboxes", capacity.mailbox, |events| 2 * u64::from(events), model.lps())?;
        let programs = Programs::link(model, queue, gpu.has(wgpu::Features::SHADER_INT64))?;
        let state_bytes = programs.check_layouts(model)?;

        let max = gpu.limits().max_compute_invocations_per_workgroup;
        let usual = |threads: u32| threads.min(1 << max.max(1).ilog2());
        let group = options.workgroup.unwrap_or(usual(if model.lps() >= MANY_LPS { 256 } else { 64 }));
        if !group.is_power_of_two() || group > max {
            return Err(SimulationError::Workgroup { threads: group, max });
        }
        let groups = model.lps().div_ceil(group);
        let lps = u64::from(model.lps());
        let buffers = Buffers {
            control: Buffer::storage(gpu, "control", DIGEST_CUT as u64 + 1)?,
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
        // One dimension is enough for a dispatch: a second one might launch workgroups of the next chunk too.
        let chunk_groups = (DISPATCH_LPS / group).clamp(1, gpu.limits().max_compute_workgroups_per_dimension);
        for first_group in (0..groups).step_by(chunk_groups as usize) {
            let runs = run.halves(first_group).map(|half| Buffer::uniform(gpu, "run", &half));
            let [even, odd] = runs;
            let runs = [even?, odd?];
            starts.push((bind(&init, &runs[0])?, bind(&settle, &runs[0])?));
            chunks.push(Chunk {
                groups: chunk_groups.min(groups - first_group),
                windows: [bind(&window, &runs[0])?, bind(&window, &runs[1])?],
                digest: bind(&digest, &runs[0])?,
                runs,
            });
        }
        let gather = match gathered {
            false => None,
            true => {
                let kernel =
                    Kernel::new(gpu, &programs.gather, "gather", &[("GROUP", f64::from(usual(256)))])?;
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
        let simulation = Self {
            gpu: gpu.clone(),
            queue,
            buffers,
            chunks,
            window,
            gather,
            digest,
            run,
            pace: Pace::new(MAX_WINDOWS),
            model: PhantomData,
        };
        // A browser cannot wait here; there, the first call that reads something tells of a fault.
        if cfg!(not(target_arch = "wasm32")) {
            simulation.progress()?;
        }
        Ok(simulation)
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
        let mut flying: VecDeque<(Download, wgpu::SubmissionIndex)> = VecDeque::new();
        let (mut last, mut windows) = (Instant::now(), None);
        loop {
            while flying.len() < 2 {
                let mut encoder = self.gpu.encoder("windows");
                self.record(&mut encoder, self.pace.units());
                let download = self.record_progress(&mut encoder)?;
                flying.push_back((download, self.gpu.submit(encoder)?));
            }
            let Some((download, submission)) = flying.pop_front() else { unreachable!("two were submitted") };
            let words = download.finish(&self.gpu, submission).await?;
            let progress = self.progress_from(&words)?;
            // Windows beyond the end take no time and say nothing of those to come.
            if let (None, Some(before)) = (progress.stop, windows) {
                let done = u32::try_from(progress.windows - before).unwrap_or(u32::MAX);
                self.pace.record(done, last.elapsed());
            }
            (last, windows) = (Instant::now(), Some(progress.windows));
            watch(&progress);
            if progress.stop.is_some() {
                return Ok(progress);
            }
        }
    }

    /// Sets the end for windows that are submitted from now on: submit what was recorded for another end before.
    ///
    /// # Errors
    /// The device's error.
    pub fn set_until(&mut self, until: Until) -> Result<(), SimulationError> {
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

    /// Records windows into an application's own encoder, up to the end that [`Simulation::set_until`] set: `windows` of
    /// them, and one more if that is odd, so that an encoder that is never submitted does no harm.
    ///
    /// Windows beyond the end do nothing. [`Simulation::progress`] tells of the end after one window more than the run
    /// takes: it is that one which finds nothing left to do.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, windows: u32) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("windows"),
            timestamp_writes: None,
        });
        let mut again = false;
        for parity in (0..windows.div_ceil(2)).flat_map(|_| [0, 1]) {
            if let Some(gather) = &self.gather {
                gather.kernel.dispatch(&mut pass, &gather.bindings[parity], 1);
                again = false;
            }
            for chunk in &self.chunks {
                let bindings = &chunk.windows[parity];
                if again {
                    self.window.dispatch_again(&mut pass, bindings, chunk.groups);
                } else {
                    self.window.dispatch(&mut pass, bindings, chunk.groups);
                }
                again = true;
            }
        }
    }

    /// How far the windows that were submitted so far have come.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn progress(&self) -> Result<Progress, SimulationError> {
        pollster::block_on(self.progress_async())
    }

    /// [`Simulation::progress`] without blocking, for browsers and frames that must not wait.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub async fn progress_async(&self) -> Result<Progress, SimulationError> {
        let mut encoder = self.gpu.encoder("progress");
        let download = self.record_progress(&mut encoder)?;
        let submission = self.gpu.submit(encoder)?;
        self.progress_from(&download.finish(&self.gpu, submission).await?)
    }

    /// The LPs' states, by LP.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or the device's error.
    pub fn states(&self) -> Result<Vec<M::State>, SimulationError> {
        pollster::block_on(self.states_async())
    }

    /// [`Simulation::states`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::states`].
    pub async fn states_async(&self) -> Result<Vec<M::State>, SimulationError> {
        self.progress_async().await?;
        Ok(self.buffers.states.read_range(&self.gpu, 0, self.buffers.states.len()).await?)
    }

    /// The buffer of the LPs' states, one after the other, to bind in an application's own passes. Its size is rounded up
    /// to 16 bytes: `arrayLength` may be larger than the number of LPs.
    pub fn states_buffer(&self) -> &wgpu::Buffer {
        self.buffers.states.raw()
    }

    /// The events still pending, by LP and then in order.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or the device's error.
    pub fn pending(&self) -> Result<Vec<(u32, Event)>, SimulationError> {
        // The half of the mailboxes that the next window empties.
        let mail_half = (self.progress()?.windows & 1) * u64::from(self.run.lps);
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
            let mailbox = usize::try_from(mail_half).expect("mailboxes fit the host's memory") + row;
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
        pollster::block_on(self.fingerprint_async())
    }

    /// [`Simulation::fingerprint`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::fingerprint`].
    pub async fn fingerprint_async(&self) -> Result<Fingerprint, SimulationError> {
        let progress = self.progress_async().await?;
        self.buffers.control.write(&self.gpu, DIGEST_CUT as u64, &[0])?;
        for chunk in &self.chunks {
            let mut encoder = self.gpu.encoder("digest");
            let mut pass = encoder.begin_compute_pass(&Default::default());
            self.digest.dispatch(&mut pass, &chunk.digest, chunk.groups);
            drop(pass);
            self.gpu.submit(encoder)?;
        }
        let digests = &self.buffers.digests;
        let sums = digests.read_range(&self.gpu, 0, digests.len()).await?;
        let cut = self.buffers.control.read_range(&self.gpu, DIGEST_CUT as u64, 1).await?[0];
        if cut != 0 {
            // The run is sound, and can go on; its fingerprint cannot be had on this driver.
            return Err(Fault { kind: FaultKind::LoopsCut, lp: cut - 1, window: progress.windows }.into());
        }
        Ok(Fingerprint(sums.into_iter().fold(0, u64::wrapping_add)))
    }

    /// The queue design in use.
    pub fn queue(&self) -> QueueDesign {
        self.queue
    }

    fn record_progress(&self, encoder: &mut wgpu::CommandEncoder) -> Result<Download, GpuError> {
        let download = Download::new(&self.gpu, "progress", 4 * CONTROL_WORDS as u64)?;
        download.record(encoder, self.buffers.control.raw(), 0);
        Ok(download)
    }

    fn progress_from(&self, bytes: &[u8]) -> Result<Progress, SimulationError> {
        let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        let number = |at: usize| Ticks::from_words([words[at], words[at + 1]]);
        let (windows, events, now, stopped) = (number(0).get(), number(2).get(), number(4), words[6] != 0);
        Fault::decode(words[7], windows)?;
        let until = Until { time: self.run.until, events: self.run.event_limit };
        Ok(Progress { now, events, windows, stop: until.reached(now, events).filter(|_| stopped) })
    }
}

impl<M: Model> std::fmt::Debug for Simulation<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("gpu", &self.gpu)
            .field("queue", &self.queue)
            .field("run", &self.run)
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

/// Checks that the slots that `capacity` events take for each LP can be bound, and returns their number.
fn fits(
    gpu: &Gpu,
    what: &'static str,
    capacity: u32,
    slots: impl Fn(u32) -> u64,
    lps: u32,
) -> Result<u32, SimulationError> {
    let row = size_of::<Event>() as u64 * u64::from(lps);
    // Kernels number slots by 32 bits.
    let limit = gpu.max_buffer_bytes().min(size_of::<Event>() as u64 * u64::from(u32::MAX));
    let needed = row.saturating_mul(slots(capacity));
    if needed > limit {
        // An event takes a slot or more, and the slots of none are few.
        let most = u32::try_from(limit / row).unwrap_or(u32::MAX);
        let share = u32::try_from(u64::from(most) * u64::from(capacity) / slots(capacity)).unwrap_or(most);
        let largest = (0..=share.saturating_add(1)).rev().find(|&events| slots(events) <= u64::from(most));
        let largest = largest.unwrap_or(0).into();
        return Err(SimulationError::TooLarge { what, capacity, lps, needed, limit, largest });
    }
    Ok(u32::try_from(slots(capacity)).expect("slots of all LPs have 32-bit numbers"))
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
