//! Replications of a compiled network on the CPU, as machine code.

use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::rows::Recorded;
use super::run::{NETWORK_FULL, NetworkGiven, ROOM, Room, Times, key};
use super::{CompiledError, CompiledNetwork};
use crate::facility::FacilityOutput;
use crate::gpu::{GpuError, Program, RecentCode};
use crate::native::{Block, Code, Engine};
use crate::time::Ticks;

shared! {
    "facility/compiled/state.wgsl":
    const NETWORK_DONE: u32;
}

/// Steps of a slice, and the iterations of loops that it may make.
const STEPS: u32 = 1 << 20;
const MOST_ITERATIONS: i64 = 1 << 30;

/// Code of the last structures. The points of a design differ in numbers, which the code reads.
static RECENT: RecentCode = RecentCode::new();

/// A compiled network as machine code of the CPU.
#[derive(Debug)]
pub struct NativeNetwork {
    network: CompiledNetwork,
    code: Arc<Code>,
    data: Vec<[u32; 4]>,
    /// Memory that no thread uses now.
    idle: Mutex<Vec<Worker>>,
}

impl NativeNetwork {
    /// Translates the network, unless a network of its structure was translated before.
    ///
    /// # Errors
    /// [`CompiledError::Gpu`] if the text does not link: a bug.
    pub fn new(network: &CompiledNetwork) -> Result<Self, CompiledError> {
        let (data, code) = (network.ir.rows(), code(network)?);
        Ok(Self { network: network.clone(), code, data, idle: Mutex::default() })
    }

    /// Whether it is machine code, not an interpreter's program.
    pub(in crate::facility) fn is_machine_code(&self) -> bool {
        self.code.is_machine()
    }

    /// Makes replications of a seed, on all cores: the outputs of nodes, by replication. Statistics
    /// begin at `warm_up`.
    ///
    /// # Errors
    /// [`CompiledError::Fault`], if the interpreter has to make one of them.
    pub fn run(
        &self,
        seed: u64,
        range: Range<u32>,
        times: [Ticks; 2],
    ) -> Result<Vec<Vec<FacilityOutput>>, CompiledError> {
        let made = self.run_recorded(seed, range, times)?;
        Ok(made.into_iter().map(|made| made.rows).collect())
    }

    /// The same, with the histograms of a network with details.
    ///
    /// # Errors
    /// As [`NativeNetwork::run`].
    pub fn run_recorded(
        &self,
        seed: u64,
        range: Range<u32>,
        times: [Ticks; 2],
    ) -> Result<Vec<Recorded>, CompiledError> {
        let made = range.clone().zip(self.replications(seed, range, times, u32::MAX));
        made.map(|(replication, made)| made.map_err(|faults| CompiledError::Fault { replication, faults }))
            .collect()
    }

    /// The same, with at most `room` customers that wait at a station, and the faults of
    /// replications that are left to the interpreter.
    pub(in crate::facility) fn replications(
        &self,
        seed: u64,
        range: Range<u32>,
        times: Times,
        room: u32,
    ) -> Vec<Result<Recorded, u32>> {
        let most = self.network.most_of_ring(room);
        let run = |worker: &mut Borrowed<'_>, number| worker.replicate(self, key(seed, number), times, most);
        let made = range.into_par_iter().map_init(|| Borrowed::new(self), run);
        made.collect()
    }
}

/// The code of a network, of which the cache has the last ones.
fn code(network: &CompiledNetwork) -> Result<Arc<Code>, CompiledError> {
    RECENT.of(network.wgsl(), || {
        let program =
            Program::link_for_cpu("compiled network", &network.files(true)).map_err(GpuError::from)?;
        Ok(program.compile(&["network_slice"], Engine::default()).map_err(GpuError::from)?)
    })
}

/// The memory of a replication.
#[derive(Debug)]
struct Worker {
    block: Block,
    room: Room,
    saved: Vec<u32>,
    rings: Vec<u32>,
    results: Vec<u32>,
    running: [u32; 2],
    key: [u64; 1],
}

/// Memory that returns to its network.
struct Borrowed<'n>(&'n NativeNetwork, Option<Worker>);

impl<'n> Borrowed<'n> {
    fn new(native: &'n NativeNetwork) -> Self {
        let idle = native.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self(native, Some(idle.unwrap_or_else(|| Worker::new(native))))
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.1.take());
    }
}

impl Deref for Borrowed<'_> {
    type Target = Worker;

    fn deref(&self) -> &Worker {
        self.1.as_ref().expect("until it is dropped")
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Worker {
        self.1.as_mut().expect("until it is dropped")
    }
}

impl Worker {
    fn new(native: &NativeNetwork) -> Self {
        let network = &native.network;
        Self {
            block: native.code.block(),
            room: Room(ROOM),
            saved: vec![0; network.saved_words()],
            rings: Vec::new(),
            results: vec![0; network.ir.result_words()],
            running: [0; 2],
            key: [0],
        }
    }

    /// Makes a replication, with rings of at most `most` customers: its rows, or its faults.
    fn replicate(
        &mut self,
        native: &NativeNetwork,
        key: u64,
        times: Times,
        most: u32,
    ) -> Result<Recorded, u32> {
        let network = &native.network;
        loop {
            self.rings.resize(self.room.words(&network.ir), 0);
            self.saved[..2].fill(0);
            self.key = [key];
            let mut given = self.room.given(times, 1, STEPS);
            given.ring = given.ring.min(most);
            match self.slices(native, given) {
                0 => {
                    let rows = network.outputs(&self.saved, &self.results, times);
                    return Ok(Recorded { histograms: network.ir.histograms(&self.results, &rows), rows });
                }
                NETWORK_FULL if given.ring < most || !network.has_full_ring(&self.saved, given.ring) => {
                    self.room = self.room.grown().ok_or(NETWORK_FULL)?;
                }
                faults => return Err(faults),
            }
        }
    }

    /// Runs to the end. Returns the faults.
    fn slices(&mut self, native: &NativeNetwork, given: NetworkGiven) -> u32 {
        let Self { block, saved, rings, results, running, key, .. } = self;
        let NativeNetwork { code, data, .. } = native;
        let place = code.variable("network_given").expect("shaders/facility/compiled/ has it");
        block.bytes_mut()[place].copy_from_slice(bytemuck::bytes_of(&given));
        let buffers: [(&str, *mut u8, usize); 6] = [
            ("network_data", data.as_ptr().cast_mut().cast(), size_of_val(&data[..])),
            ("network_keys", key.as_mut_ptr().cast(), size_of_val(key)),
            ("network_saved", saved.as_mut_ptr().cast(), size_of_val(&saved[..])),
            ("network_rings", rings.as_mut_ptr().cast(), size_of_val(&rings[..])),
            ("network_results", results.as_mut_ptr().cast(), size_of_val(&results[..])),
            ("network_running", running.as_mut_ptr().cast(), size_of_val(running)),
        ];
        let state = saved.as_ptr();
        for (name, at, bytes) in buffers {
            let buffer = code.buffer(name).expect("shaders/facility/compiled/ has it");
            // SAFETY: the memory outlives the calls below. The code does not write `network_data`
            // and `network_keys`, which are declared `read`.
            unsafe { block.bind(buffer, at, bytes) };
        }
        loop {
            block.set_fuel(MOST_ITERATIONS);
            // SAFETY: the argument is a number, and all buffers are bound.
            unsafe { code.call(block, 0, &[0]) };
            // SAFETY: the state has more than two words.
            let [status, faults] = unsafe { [state.read(), state.add(1).read()] };
            if status == NETWORK_DONE {
                return faults;
            }
        }
    }
}
