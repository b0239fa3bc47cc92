//! Replications of a compiled network on a device, and what the CPU shares with it.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;
use web_time::Instant;

use super::ir::Ir;
use super::rows::{NETWORK_CONTROL, Recorded};
use super::uniform::{Memory, Uniform};
use super::{CompiledError, CompiledNetwork};
use crate::facility::FacilityOutput;
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Pace, Plan, Recipe, Source};
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
    const NETWORK_CUT: u32;
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
        let uniform = Uniform::new(&self.ir).ok();
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

    /// The largest size of rings with which at most `room` customers wait at a station.
    pub(super) fn most_of_ring(&self, room: u32) -> u32 {
        let rings = &self.ir.rings;
        let of_node = |place: u32| rings.iter().filter(|ring| ring.0 == place).count();
        let most = rings.iter().map(|ring| of_node(ring.0)).max().unwrap_or(1);
        let each = room / u32::try_from(most).expect("a ring for each class, and one more");
        each.checked_ilog2().map_or(0, |power| 1 << power)
    }

    /// Whether studies on a device run it as a kernel of its own.
    pub fn has_kernel(&self) -> bool {
        Uniform::new(&self.ir).is_ok()
    }

    /// Whether lines can have a place if at most `room` customers wait at a station.
    pub(in crate::facility) fn fits(&self, room: u32) -> bool {
        self.most_of_ring(room) > 0
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
    /// features that this form lacks have the other one. The state of replications is in workgroup
    /// memory, if it fits.
    Uniform,
    /// The same with the state in private memory.
    Private,
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
    /// How many times shorter than usual slices are.
    shorter: u32,
}

impl<'g> DeviceNetwork<'g> {
    /// Compiles the kernel: in the uniform form, where that covers the network.
    ///
    /// # Errors
    /// [`CompiledError::Gpu`], errors of the device.
    pub fn new(gpu: &'g Gpu, network: &CompiledNetwork) -> Result<Self, CompiledError> {
        match Self::with_form(gpu, network, Form::Uniform) {
            Err(CompiledError::NotCovered { .. }) => Self::with_form(gpu, network, Form::Switch),
            made => made,
        }
    }

    /// Compiles the kernel in a form. Drivers compile [`Form::Switch`] for long.
    ///
    /// # Errors
    /// [`CompiledError::NotCovered`] if the form lacks a feature, and errors of the device.
    pub fn with_form(gpu: &'g Gpu, network: &CompiledNetwork, form: Form) -> Result<Self, CompiledError> {
        let not_covered = |what: &str| CompiledError::NotCovered { what: format!("{what} on a device") };
        let uniform = match form {
            Form::Uniform | Form::Private => Some(Uniform::new(&network.ir).map_err(not_covered)?),
            Form::Switch => None,
        };
        Ok(Self::made(gpu, network, uniform, form == Form::Private)?)
    }

    fn made(
        gpu: &'g Gpu,
        network: &CompiledNetwork,
        uniform: Option<Uniform>,
        is_private: bool,
    ) -> Result<Self, GpuError> {
        let is_software = gpu.is_software();
        let mut group_size = if is_software { GROUP_SIZE_OF_SOFTWARE } else { GROUP_SIZE };
        let int64 = gpu.has(wgpu::Features::SHADER_INT64);
        let recipe = match &uniform {
            None => network.recipe(int64, group_size),
            Some(uniform) => {
                // wgpu accepts a kernel with more workgroup memory than there is.
                let limit = gpu.limits().max_compute_workgroup_storage_size;
                let fits = |group_size| uniform.workgroup_bytes(group_size) <= limit.into();
                // Mesa's lavapipe compiles large private arrays for minutes.
                let smaller =
                    [4, 2, 1].into_iter().filter(|_| is_software && !is_private && !fits(group_size));
                group_size = smaller.into_iter().find(|&size| fits(size)).unwrap_or(group_size);
                let memory = match fits(group_size) && !is_private {
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
        let (network, pace) = (network.clone(), Pace::new(most));
        Ok(Self { network, uniform, gpu, kernel, group_size, data, pace, shorter: 1 })
    }

    /// The words of the state of a replication.
    fn saved_words(&self) -> usize {
        match &self.uniform {
            Some(uniform) => NETWORK_CONTROL + uniform.layout.words,
            None => self.network.saved_words(),
        }
    }

    /// As [`NativeNetwork::run`](super::NativeNetwork::run), on the device.
    ///
    /// # Errors
    /// As there, and errors of the device.
    pub async fn run(
        &mut self,
        seed: u64,
        range: Range<u32>,
        times: [Ticks; 2],
    ) -> Result<Vec<Vec<FacilityOutput>>, CompiledError> {
        let watch = &mut |_| ControlFlow::Continue(());
        let made = self.replications(seed, range.clone(), times, u32::MAX, watch).await?;
        let made = range.zip(made);
        made.map(|(replication, made)| match made {
            Ok(made) => Ok(made.rows),
            Err(faults) => Err(CompiledError::Fault { replication, faults }),
        })
        .collect()
    }

    /// The same, with at most `room` customers that wait at a station, and the faults of
    /// replications that are left to the interpreter. `watch` gets the number of replications that
    /// are done; if it stops the run, those before the first one that is not are returned.
    pub(in crate::facility) async fn replications<W: FnMut(usize) -> ControlFlow<()>>(
        &mut self,
        seed: u64,
        range: Range<u32>,
        times: Times,
        room: u32,
        watch: &mut W,
    ) -> Result<Vec<Result<Recorded, u32>>, GpuError> {
        let most = self.network.most_of_ring(room);
        let keys: Vec<u64> = range.map(|number| key(seed, number)).collect();
        let mut found: Vec<Option<Result<Recorded, u32>>> = keys.iter().map(|_| None).collect();
        let mut waiting: Vec<usize> = (0..keys.len()).collect();
        let (mut room, mut done) = (Room(ROOM), 0);
        while !waiting.is_empty() {
            let ring = room.0.min(most);
            let (mut again, mut grows, mut shorter) = (Vec::new(), false, false);
            for batch in waiting.chunks(self.most_jobs(room)) {
                let keys: Vec<u64> = batch.iter().map(|&number| keys[number]).collect();
                let report = &mut |ended: usize| watch(done + ended);
                let Some(ended) = self.batch(&keys, times, (room, ring), report).await? else {
                    return Ok(found.into_iter().map_while(|found| found).collect());
                };
                for (&number, ended) in batch.iter().zip(ended) {
                    match ended {
                        Err(Ended { faults, has_full_ring })
                            if faults == NETWORK_FULL
                                && room.grown().is_some()
                                && (ring < most || !has_full_ring) =>
                        {
                            grows = true;
                            again.push(number);
                        }
                        Err(Ended { faults, .. }) if faults & NETWORK_CUT != 0 && self.shorter < UNIT => {
                            shorter = true;
                            again.push(number);
                        }
                        ended => {
                            found[number] = Some(ended.map_err(|ended| ended.faults));
                            done += 1;
                        }
                    }
                }
            }
            if grows {
                room = room.grown().expect("checked");
            }
            self.shorter *= if shorter { 8 } else { 1 };
            waiting = again;
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// The replications whose words fit buffers.
    fn most_jobs(&self, room: Room) -> usize {
        let ir = &self.network.ir;
        let words = room.words(ir).max(self.saved_words()).max(ir.result_words());
        let fitting = usize::try_from(self.gpu.max_buffer_bytes()).unwrap_or(usize::MAX) / (4 * words);
        fitting.clamp(1, MOST_JOBS)
    }

    /// Makes a batch of replications, with rings of `ring` customers. `None`, if `watch` stopped
    /// it.
    async fn batch<W: FnMut(usize) -> ControlFlow<()>>(
        &mut self,
        batch: &[u64],
        times: Times,
        (room, ring): (Room, u32),
        watch: &mut W,
    ) -> Result<Option<Vec<Result<Recorded, Ended>>>, GpuError> {
        let (gpu, network) = (self.gpu, &self.network);
        let jobs = u32::try_from(batch.len()).expect("at most MOST_JOBS");
        let storage =
            |words: usize| Buffer::<u32>::storage(gpu, "compiled network", (words * batch.len()) as u64);
        let keys = Buffer::storage_from(gpu, "compiled network: keys", batch)?;
        let saved = storage(self.saved_words())?;
        let rings = storage(room.words(&network.ir))?;
        let results = storage(network.ir.result_words())?;
        let running = Buffer::<[u32; 2]>::storage(gpu, "compiled network: running", 1)?;
        let shorter = self.shorter;
        let given = |units: u32| NetworkGiven { ring, ..room.given(times, jobs, units * UNIT / shorter) };
        let uniform = Buffer::uniform(gpu, "compiled network: given", &given(1))?;
        let bindings = [
            ("network_given", uniform.binding()),
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
            uniform.write(gpu, 0, &[given(units)])?;
            slice.submit(gpu)?;
            let left = running.read_async(gpu).await?[0][0];
            if watch(batch.len() - left as usize).is_break() {
                return Ok(None);
            }
            if left == 0 {
                break;
            }
            self.pace.record(units, began.elapsed());
        }
        let (saved, results) = (saved.read_async(gpu).await?, results.read_async(gpu).await?);
        let (network, uniform) = (&self.network, self.uniform.as_ref());
        let ended = (0..batch.len()).into_par_iter().map(|job| {
            let of = |words: &[u32]| words[job..].iter().copied().step_by(batch.len()).collect::<Vec<_>>();
            let state = of(&saved);
            match state[1] {
                0 => Ok(recorded(network, uniform, &state, &of(&results), times)),
                faults => {
                    let has_full_ring = match uniform {
                        Some(uniform) => uniform.layout.has_full_ring(&state[NETWORK_CONTROL..], ring),
                        None => network.has_full_ring(&state, ring),
                    };
                    Err(Ended { faults, has_full_ring })
                }
            }
        });
        Ok(Some(ended.collect()))
    }
}

/// How a replication with a fault ended.
struct Ended {
    faults: u32,
    has_full_ring: bool,
}

/// The results of a replication, from its state and what it left at visits.
fn recorded(
    network: &CompiledNetwork,
    uniform: Option<&Uniform>,
    saved: &[u32],
    results: &[u32],
    times: Times,
) -> Recorded {
    let ir = &network.ir;
    let rows = match uniform {
        None => network.outputs(saved, results, times),
        Some(uniform) => {
            let [warm_up, until] = times;
            let state = uniform.layout.expand(ir, &saved[NETWORK_CONTROL..], ir.pairs());
            ir.outputs(&state, results, until.get() - warm_up.get())
        }
    };
    Recorded { histograms: ir.histograms(results, &rows), rows }
}
