//! Replications of a compiled network on a device, and what the CPU shares with it.

use std::ops::Range;

use web_time::Instant;

use super::ir::Ir;
use super::rows::NETWORK_CONTROL;
use super::uniform::{Memory, Uniform};
use super::{CompiledError, CompiledNetwork};
use crate::facility::FacilityOutput;
use crate::gpu::{Buffer, Gpu, Kernel, Pace, Plan, Recipe, Source};
use crate::pdes::Replica;
use crate::shaders;
use crate::time::Ticks;

shared! {
    "facility/compiled/state.wgsl":
    #[derive(PartialEq, Eq)]
    pub(super) struct NetworkGiven {
        unread: u64,
        warm_up: Ticks,
        until: Ticks,
        jobs: u32,
        steps: u32,
        pub(super) ring: u32,
        heap: u32,
    }
}

shared! {
    "facility/compiled/state.wgsl":
    pub(super) const NETWORK_FULL: u32;
    const NETWORK_MAIL: u32;
    const MAIL_WORDS: u32;
    const HEAP_WORDS: u32;
}

/// Replications of one batch on a device, at most.
const MOST_JOBS: usize = 1 << 16;
/// Invocations of a workgroup: as many as run in lockstep.
const GROUP_SIZE: u32 = 32;
const GROUP_SIZE_OF_SOFTWARE: u32 = 8;
/// Steps of the unit in which slices on a device are measured, and units of a slice at most: a
/// software adapter ends the loops of an invocation after 65,535 iterations, of which a step has
/// some dozens.
const UNIT: u32 = 64;
const MOST_UNITS: u32 = 1 << 14;
const MOST_UNITS_OF_SOFTWARE: u32 = 1 << 3;
/// Customers of a ring and a heap: at first, and at most.
pub(super) const ROOM: u32 = 64;
const MOST_ROOM: u32 = 1 << 20;

/// The kernel's name and entry point, in all forms.
const NAME: &str = "compiled network";
const ENTRY: &str = "network_kernel";

/// When statistics begin, and the end.
pub(super) type Times = [Ticks; 2];

/// The number of customers of a ring, and of a heap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room(pub(super) u32);

impl Room {
    pub(super) fn grown(self) -> Option<Self> {
        (self.0 < MOST_ROOM).then(|| Self(4 * self.0))
    }

    pub(super) fn given(self, [warm_up, until]: Times, jobs: u32, steps: u32) -> NetworkGiven {
        NetworkGiven { unread: 0, warm_up, until, jobs, steps, ring: self.0, heap: self.0 }
    }

    /// Words of rings, heaps and lists of a replication.
    pub(super) fn words(self, ir: &Ir) -> usize {
        let ring = ir.ring_words() * self.0 as usize;
        let heap = (HEAP_WORDS * self.0) as usize;
        ring * ir.rings.len() + heap * ir.heaps as usize + 2 * (NETWORK_MAIL * MAIL_WORDS) as usize
    }
}

/// The key of a replication's streams, as in runs of the interpreter.
pub(super) fn key(seed: u64, number: u32) -> u64 {
    Replica { point: 0, number }.key(seed)
}

fn product(int64: bool) -> Source {
    shaders::file(if int64 { "random/mul_wide_int64.wgsl" } else { "random/mul_wide.wgsl" })
}

/// The kernel of a slice, in the uniform form.
fn uniform_recipe(uniform: &Uniform, memory: Memory, int64: bool, group_size: u32) -> Recipe {
    let mut files = uniform.files(memory, group_size);
    files.push(product(int64));
    Recipe::new(NAME, ENTRY, files)
}

impl CompiledNetwork {
    pub(super) fn files(&self, int64: bool) -> Vec<Source> {
        let mut files =
            vec![self.source.clone(), shaders::file("facility/compiled/kernel.wgsl"), product(int64)];
        if self.ir.forks > 0 {
            files.push(shaders::file("facility/compiled/forks.wgsl"));
        }
        if self.ir.shares() {
            files.push(shaders::file("facility/compiled/shared.wgsl"));
        }
        files
    }

    /// The kernels in all forms, without and with 64-bit integers.
    pub fn kernels(&self) -> Vec<Recipe> {
        let uniform = Uniform::new(&self.ir);
        let kernels = [false, true].map(|int64| {
            let of = |uniform, memory| uniform_recipe(uniform, memory, int64, GROUP_SIZE);
            let uniform = uniform
                .iter()
                .flat_map(|uniform| [of(uniform, Memory::Workgroup), of(uniform, Memory::Private)]);
            uniform.chain([self.recipe(int64, GROUP_SIZE)]).collect::<Vec<_>>()
        });
        kernels.into_iter().flatten().collect()
    }

    /// The kernel of a slice, in the switch form.
    fn recipe(&self, int64: bool, group_size: u32) -> Recipe {
        let size = [("GROUP_SIZE", f64::from(group_size))];
        Recipe::new(NAME, ENTRY, self.files(int64)).with(size)
    }

    /// The words of the state of a replication.
    pub(super) fn saved_words(&self) -> usize {
        NETWORK_CONTROL + self.ir.words()
    }

    /// Whether a ring of `size` customers is full, in a replication's state.
    pub(super) fn has_full_ring(&self, saved: &[u32], size: u32) -> bool {
        self.ir.has_full_ring(&saved[NETWORK_CONTROL..], size)
    }

    pub(super) fn outputs(
        &self,
        saved: &[u32],
        results: &[u32],
        [warm_up, until]: Times,
    ) -> Vec<FacilityOutput> {
        self.ir.outputs(&saved[NETWORK_CONTROL..], results, until.get() - warm_up.get())
    }
}

/// How the code of a network on a device is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Code for each node.
    Switch,
    /// The same code for all nodes: the time to compile does not grow with them. Networks with
    /// features that this form lacks have the other one.
    Uniform,
}

/// A compiled network on a device.
#[derive(Debug)]
pub struct DeviceNetwork<'g> {
    network: CompiledNetwork,
    /// The uniform form, if that is run.
    uniform: Option<Uniform>,
    gpu: &'g Gpu,
    kernel: Kernel,
    group_size: u32,
    data: Buffer<[u32; 4]>,
    pace: Pace,
}

impl<'g> DeviceNetwork<'g> {
    /// Compiles the kernel.
    ///
    /// # Errors
    /// [`CompiledError::Gpu`], errors of the device.
    pub fn new(gpu: &'g Gpu, network: &CompiledNetwork) -> Result<Self, CompiledError> {
        Self::with_form(gpu, network, Form::Uniform)
    }

    /// Compiles the kernel in a form.
    ///
    /// # Errors
    /// As [`DeviceNetwork::new`].
    pub fn with_form(gpu: &'g Gpu, network: &CompiledNetwork, form: Form) -> Result<Self, CompiledError> {
        let group_size = if gpu.is_software() { GROUP_SIZE_OF_SOFTWARE } else { GROUP_SIZE };
        let int64 = gpu.has(wgpu::Features::SHADER_INT64);
        let uniform = if form == Form::Uniform { Uniform::new(&network.ir) } else { None };
        let recipe = match &uniform {
            None => network.recipe(int64, group_size),
            Some(uniform) => {
                // wgpu accepts a kernel with more workgroup memory than there is.
                let limit = gpu.limits().max_compute_workgroup_storage_size;
                let memory = match uniform.workgroup_bytes(group_size) <= limit.into() {
                    true => Memory::Workgroup,
                    false => Memory::Private,
                };
                log::debug!(
                    "compiled network: {} words for each replication, {memory:?} memory",
                    uniform.layout.words
                );
                uniform_recipe(uniform, memory, int64, group_size)
            }
        };
        // SAFETY: the text is the library's, and no one else writes its buffers. The heads of
        // shaders/facility/compiled/ say how indices and loops are bounded.
        let kernel = unsafe { recipe.trusted(gpu)? };
        let rows = uniform.as_ref().map_or_else(|| network.ir.rows(), |uniform| uniform.data.clone());
        let data = Buffer::storage_from(gpu, "compiled network: data", &rows)?;
        let most = if gpu.is_software() { MOST_UNITS_OF_SOFTWARE } else { MOST_UNITS };
        Ok(Self { network: network.clone(), uniform, gpu, kernel, group_size, data, pace: Pace::new(most) })
    }

    /// The words of the state of a replication.
    fn saved_words(&self) -> usize {
        match &self.uniform {
            Some(uniform) => NETWORK_CONTROL + uniform.layout.words,
            None => self.network.saved_words(),
        }
    }

    /// The outputs of nodes of a replication.
    fn outputs(&self, saved: &[u32], results: &[u32], times: Times) -> Vec<FacilityOutput> {
        let Some(uniform) = &self.uniform else { return self.network.outputs(saved, results, times) };
        let [warm_up, until] = times;
        let ir = &self.network.ir;
        let state = uniform.layout.expand(ir, &saved[NETWORK_CONTROL..], ir.pairs());
        ir.outputs(&state, results, until.get() - warm_up.get())
    }

    /// As [`NativeNetwork::run`], on the device.
    ///
    /// # Errors
    /// As [`NativeNetwork::run`], and errors of the device.
    pub async fn run(
        &mut self,
        seed: u64,
        range: Range<u32>,
        times: [Ticks; 2],
    ) -> Result<Vec<Vec<FacilityOutput>>, CompiledError> {
        let mut outputs: Vec<Option<Vec<FacilityOutput>>> = range.clone().map(|_| None).collect();
        let (mut left, mut room) = (range.clone().collect::<Vec<_>>(), Room(ROOM));
        while !left.is_empty() {
            let ir = &self.network.ir;
            let words = room.words(ir).max(self.saved_words()).max(ir.result_words());
            let fits = usize::try_from(self.gpu.max_buffer_bytes()).unwrap_or(usize::MAX) / (4 * words);
            let batch: Vec<u32> = left.iter().copied().take(fits.clamp(1, MOST_JOBS)).collect();
            let ended = self.batch(seed, &batch, times, room).await?;
            let mut full = false;
            for (&replication, result) in batch.iter().zip(ended) {
                match result {
                    Ok(rows) => outputs[(replication - range.start) as usize] = Some(rows),
                    Err(NETWORK_FULL) if room.grown().is_some() => full = true,
                    Err(faults) => return Err(CompiledError::Fault { replication, faults }),
                }
            }
            left.retain(|&replication| outputs[(replication - range.start) as usize].is_none());
            if full {
                room = room.grown().expect("checked");
            }
        }
        Ok(outputs.into_iter().flatten().collect())
    }

    /// Makes a batch of replications: the rows of each, or its faults.
    async fn batch(
        &mut self,
        seed: u64,
        batch: &[u32],
        times: Times,
        room: Room,
    ) -> Result<Vec<Result<Vec<FacilityOutput>, u32>>, CompiledError> {
        let (gpu, network) = (self.gpu, &self.network);
        let jobs = u32::try_from(batch.len()).expect("at most MOST_JOBS");
        let keys: Vec<u64> = batch.iter().map(|&number| key(seed, number)).collect();
        let storage =
            |words: usize| Buffer::<u32>::storage(gpu, "compiled network", (words * batch.len()) as u64);
        let keys = Buffer::storage_from(gpu, "compiled network: keys", &keys)?;
        let saved = storage(self.saved_words())?;
        let rings = storage(room.words(&network.ir))?;
        let results = storage(network.ir.result_words())?;
        let running = Buffer::<[u32; 2]>::storage(gpu, "compiled network: running", 1)?;
        let given = Buffer::uniform(gpu, "compiled network: given", &room.given(times, jobs, UNIT))?;
        let bindings = [
            ("network_given", given.binding()),
            ("network_data", self.data.binding()),
            ("network_keys", keys.binding()),
            ("network_saved", saved.binding()),
            ("network_rings", rings.binding()),
            ("network_results", results.binding()),
            ("network_running", running.binding()),
        ];
        let mut slice = Plan::new("compiled network: slice");
        slice.clear("compiled network: running", running.raw());
        slice.dispatch(gpu, &self.kernel, jobs.div_ceil(self.group_size), &bindings)?;
        loop {
            let (began, units) = (Instant::now(), self.pace.units());
            given.write(gpu, 0, &[room.given(times, jobs, units * UNIT)])?;
            slice.submit(gpu)?;
            if running.read_async(gpu).await?[0][0] == 0 {
                break;
            }
            self.pace.record(units, began.elapsed());
        }
        let (saved, results) = (saved.read_async(gpu).await?, results.read_async(gpu).await?);
        let of = |words: &[u32], job: usize| {
            words.iter().skip(job).step_by(batch.len()).copied().collect::<Vec<_>>()
        };
        let ended = (0..batch.len()).map(|job| {
            let state = of(&saved, job);
            match state[1] {
                0 => Ok(self.outputs(&state, &of(&results, job), times)),
                faults => Err(faults),
            }
        });
        Ok(ended.collect())
    }
}
