//! The engine of searches: its options, and the processing of lists.

mod run;

use std::sync::Mutex;

use rayon::prelude::*;

#[cfg(doc)]
use super::Guided;
use super::mapping::{OpenList, Shape, THREAD_QUEUE};
use super::memory::{Map, Memory, PLACE_NONE, Slot, WalkMap};
use super::{Grid, Mapping, Options, SearchError, Space};
use crate::gpu::{Gpu, GpuError, Pace};

/// Lanes of a CPU vector, as llvmpipe uses them with AVX.
const LANES: u32 = 8;

/// The number of CPU cores.
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(4, |cores| cores.get() as u64)
}

/// Finds shortest paths on one map, or in one graph.
///
/// Memory and kernels are cached between runs. Runs of one engine execute one after the other, from
/// any threads.
#[derive(Debug)]
pub struct Engine<S = Grid> {
    gpu: Gpu,
    space: S,
    map: Map,
    options: Options,
    pub(super) kept: Mutex<WarmMemory>,
}

/// State that a run leaves to the next.
#[derive(Debug, Default)]
pub(super) struct WarmMemory {
    memory: Option<Memory>,
    pace: Option<Pace>,
    /// Steps of a dispatch: fewer than at first if the driver cut loops.
    steps: Option<u32>,
    /// The buffers for walks along paths, once they are needed.
    walked: Option<WalkMap>,
}

/// Maximum searches of a list on the device: starts, goals and records then fit a binding of 128
/// MiB.
const LIST: usize = 1 << 22;

impl<S: Space> Engine<S> {
    /// Brings a map ([`Grid`]) or a graph with its heuristic ([`Guided`]) to the device. A graph is
    /// searched by [`Mapping::Thread`] only.
    ///
    /// # Errors
    /// [`SearchError::Gpu`]; [`SearchError::Contract`], and [`SearchError::Gpu`] with file and
    /// line, where the WGSL of a heuristic is wrong.
    pub fn new(gpu: &Gpu, map: S, options: Options) -> Result<Self, SearchError> {
        let memory_map = map.map(gpu)?;
        Ok(Self { gpu: gpu.clone(), space: map, map: memory_map, options, kept: Mutex::default() })
    }

    /// Compiles the kernels of its runs.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn compile(&self) -> Result<(), SearchError> {
        Ok(self.map.compile(&self.gpu, self.shape()?, self.options.paths)?)
    }

    /// The options that the engine was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The same map with other options; it stays on the device.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Self { options, kept: Mutex::default(), ..self }
    }

    /// The map, or the graph.
    pub fn map(&self) -> &S {
        &self.space
    }

    /// The mapping that runs have; never [`Mapping::Auto`].
    pub fn mapping(&self) -> Mapping {
        match self.options.mapping {
            Mapping::Auto if !S::BANDS => Mapping::Thread(THREAD_QUEUE),
            Mapping::Auto => match self.gpu.is_software() {
                // To count cells, bands look at them once more; queues do so by the way.
                true if self.options.count => Mapping::Thread(THREAD_QUEUE),
                true => Mapping::Bands,
                false => Mapping::Team,
            },
            chosen => chosen,
        }
    }

    fn shape(&self) -> Result<Shape, SearchError> {
        let limits = self.gpu.limits();
        let most =
            limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).min(1024);
        // A CPU runs the lanes of a vector in lockstep.
        let alone = if self.gpu.is_software() { LANES } else { 32 };
        let (open, usual) = match self.mapping() {
            Mapping::Thread(design) if !design.serves_one_invocation() => {
                return Err(SearchError::Queue { design: design.name() });
            }
            Mapping::Thread(design) => (OpenList::Queue(design), alone),
            mapping if !S::BANDS => return Err(SearchError::Mapping { mapping }),
            Mapping::Bands => (OpenList::Bands, alone),
            // About as many invocations as cells with similar estimates, times directions; larger
            // maps have more.
            _ if self.space.count() <= 256 * 256 => (OpenList::Team, 64),
            _ if self.space.count() <= 512 * 512 => (OpenList::Team, 128),
            _ => (OpenList::Team, 512.min(most)),
        };
        let group_size = self.options.group_size.unwrap_or(usual);
        // A team has an invocation for each direction.
        let least = if open == OpenList::Team { 8 } else { 1 };
        match (least..=most).contains(&group_size) {
            true => Ok(Shape { open, group_size }),
            false => {
                let remedy = format!("from {least} to {most}");
                Err(SearchError::Setting { what: "invocations in a workgroup", value: group_size, remedy })
            }
        }
    }

    /// Starts and goals as places.
    fn places(&self, searches: &[(S::Cell, S::Cell)]) -> Result<Vec<[u32; 2]>, SearchError> {
        let limit = u32::MAX - 1;
        if searches.len() > limit as usize {
            return Err(SearchError::TooMany { what: "searches", count: searches.len(), limit });
        }
        // Excludes the device, which in browsers belongs to one thread.
        let space = &self.space;
        let ends = |(search, &(start, goal)): (usize, &(S::Cell, S::Cell))| {
            let places = [space.locate(search, start)?, space.locate(search, goal)?];
            let open = places.into_iter().all(|place| space.is_open(place));
            Ok(if open { places } else { [PLACE_NONE; 2] })
        };
        let places: Result<_, SearchError> = searches.par_iter().enumerate().map(ends).collect();
        // Of several errors, return the first in the list.
        places.or_else(|_| searches.iter().enumerate().map(ends).collect())
    }

    /// Initial and maximum length of open lists, as the device binds them for a slot. No queue
    /// needs more than an item for each move, because with a consistent heuristic a move inserts a
    /// cell at most once. Lists in bands have no such bound.
    fn capacities(&self, shape: Shape) -> (u32, u32) {
        let most = match shape.open {
            OpenList::Queue(_) => self.space.most_open(),
            OpenList::Bands | OpenList::Team => u32::MAX,
        };
        let most = most.min(shape.open.fitting(self.gpu.max_buffer_bytes())).max(1);
        (self.options.capacity.unwrap_or(self.space.usual_open().max(64)).clamp(1, most), most)
    }

    /// The number of slots for this many searches.
    fn slots(&self, shape: Shape, capacity: u32, searches: usize) -> Result<u32, SearchError> {
        let marks = 4 * u64::from(self.space.count());
        let open = 8 * shape.open.items(capacity);
        let limit = self.gpu.max_buffer_bytes();
        let lists = limit / shape.open.bytes(capacity);
        let fits = lists.min(limit / marks).min(limit / size_of::<Slot>() as u64);
        // A CPU serves as many searches at once as its cores have lanes. Two workgroups for each
        // share the work at the end of a dispatch; more would compete for caches. A GPU runs some
        // thousand workgroups and hides latency with more.
        let (most, bytes) = match (self.gpu.is_software(), shape.open == OpenList::Team) {
            (true, false) => (2 * u64::from(LANES) * cores(), 512 << 20),
            (true, true) => (64, 512 << 20),
            (false, false) => (1 << 17, 4 << 30),
            (false, true) => (1 << 16, 6 << 30),
        };
        let wanted = match self.options.slots {
            Some(slots) => u64::from(slots.max(1)),
            None => u64::min(most, bytes / (marks + open)).max(1),
        };
        if fits == 0 {
            let (what, needed) = match marks > limit {
                true => ("the cells of a search", marks),
                false => ("the open list of a search", shape.open.bytes(capacity)),
            };
            return Err(GpuError::TooLarge { what: what.to_owned(), needed, limit }.into());
        }
        let slots = wanted.min(fits).min(searches as u64).max(1);
        Ok(u32::try_from(slots).unwrap_or(u32::MAX))
    }
}
