//! Searches on the device, from a list to its results.

use std::sync::{Mutex, TryLockError};

use rayon::prelude::*;
use web_time::Instant;

use super::memory::{
    BROKEN, Control, FOUND, FULL, Map, Memory, NONE, PLACE_NONE, Record, Slot, WalkMap, Work,
};
use super::{Grid, Guided, Outcome, Results, SearchError, Space};
use crate::gpu::{Buffer, Download, Gpu, GpuError, Pace, Plan};
use crate::queue::QueueDesign;

/// Which invocations serve a search. The results are the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// One invocation for each search, its open list a queue of this design.
    Thread(QueueDesign),
    /// One invocation for each search, which takes cells in bands of estimates from a list without order. On maps.
    Bands,
    /// A workgroup for each search. On maps.
    Team,
    /// The library's choice, by device and map.
    #[default]
    Auto,
}

impl std::fmt::Display for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Thread(_) => "thread",
            Self::Bands => "bands",
            Self::Team => "team",
            Self::Auto => "auto",
        })
    }
}

impl std::str::FromStr for Mapping {
    type Err = UnknownMapping;

    /// `thread` is one with the queue design that the library chooses.
    fn from_str(name: &str) -> Result<Self, UnknownMapping> {
        match name {
            "thread" => Ok(Self::Thread(THREAD_QUEUE)),
            "bands" => Ok(Self::Bands),
            "team" => Ok(Self::Team),
            "auto" => Ok(Self::Auto),
            _ => Err(UnknownMapping(name.to_owned())),
        }
    }
}

/// No mapping of searches has this name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no mapping of searches: there are thread, bands, team and auto")]
pub struct UnknownMapping(pub String);

crate::text::debug_is_display!(UnknownMapping);

/// The design for searches by threads where nobody chooses.
const THREAD_QUEUE: QueueDesign = QueueDesign::Heap4;

/// Lanes of a processor's vectors, as llvmpipe has them with AVX.
const LANES: u32 = 8;

/// How many cores a processor has.
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(4, |cores| cores.get() as u64)
}

/// A mapping that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) open: Open,
    pub(super) group_size: u32,
}

/// The open lists of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Open {
    /// A queue for each search, which one invocation serves.
    Queue(QueueDesign),
    /// Two lists for each search, which one invocation serves.
    Bands,
    /// Three lists for each search, which a workgroup serves.
    Team,
}

impl Open {
    /// Items of a slot's lists together.
    pub(super) fn items(self, capacity: u32) -> u64 {
        match self {
            Self::Queue(design) => design.stride(capacity),
            Self::Bands => 2 * u64::from(capacity),
            Self::Team => 3 * u64::from(capacity),
        }
    }

    /// Items of so many slots.
    pub(super) fn items_of(self, slots: u32, capacity: u32) -> u64 {
        match self {
            Self::Queue(design) => design.slots(slots, capacity),
            _ => self.items(capacity) * u64::from(slots),
        }
    }

    /// So many slots lie in one another.
    fn neighbours(self) -> u64 {
        match self {
            Self::Queue(design) => design.neighbours().into(),
            _ => 1,
        }
    }

    /// The bytes of the least number of slots that a buffer can have.
    fn bytes(self, capacity: u32) -> u64 {
        8 * self.items(capacity) * self.neighbours()
    }

    /// The longest lists that so many bytes have room for.
    fn fitting(self, bytes: u64) -> u32 {
        let (mut fits, mut beyond) = (0, u32::MAX);
        // Bound: 32.
        while beyond - fits > 1 {
            let middle = fits + (beyond - fits) / 2;
            *(if self.bytes(middle) <= bytes { &mut fits } else { &mut beyond }) = middle;
        }
        fits
    }
}

impl Shape {
    /// Whether one invocation can serve a queue of this design.
    pub(super) fn serves(design: QueueDesign) -> bool {
        design.lanes() == 1 && design.source().is_some()
    }
}

/// Finds shortest paths on one map, or in one graph.
///
/// Memory and kernels are kept between runs. Runs of one engine follow one another, whichever threads ask for them.
#[derive(Debug)]
pub struct Engine<S = Grid> {
    gpu: Gpu,
    space: S,
    map: Map,
    mapping: Mapping,
    paths: bool,
    count: bool,
    slots: Option<u32>,
    capacity: Option<u32>,
    group_size: Option<u32>,
    band: Option<u32>,
    path_room: u32,
    kept: Mutex<Kept>,
}

/// What a run leaves to the next.
#[derive(Debug, Default)]
struct Kept {
    memory: Option<Memory>,
    pace: Option<Pace>,
    /// Steps of a dispatch: fewer than at first where the driver cut loops.
    steps: Option<u32>,
    /// What paths are walked by, once there are some.
    walked: Option<WalkMap>,
}

/// Steps of a dispatch at the most: a submission has several dispatches. Loops of a step of a search by threads are those of its queue.
const THREAD_STEPS: u32 = 512;
const TEAM_STEPS: u32 = 2048;
/// Steps of a submission at the most.
const MOST_STEPS: u32 = 1 << 17;
/// Moves of a path that a dispatch walks.
const WALK_STEPS: u32 = 2048;
/// Searches that go into one list on the device, so that starts and goals, and records, fit a binding of 128 MiB.
const LIST: usize = 1 << 22;
/// Cells of paths that are read back together, if the map has no more.
const PATH_ROOM: u32 = 1 << 24;

impl Engine {
    /// Brings a map to the device.
    ///
    /// # Errors
    /// [`SearchError::Gpu`].
    pub fn grid(gpu: &Gpu, grid: Grid) -> Result<Self, SearchError> {
        Self::new(gpu, grid)
    }
}

impl Engine<Guided> {
    /// Brings a graph to the device, with a heuristic ([`Guided::new`], [`Guided::straight`]) or without. Searches are by [`Mapping::Thread`].
    ///
    /// # Errors
    /// [`SearchError::Contract`] and [`SearchError::Gpu`] with file and line where the WGSL of the heuristic is wrong, and [`SearchError::Gpu`].
    pub fn graph(gpu: &Gpu, graph: impl Into<Guided>) -> Result<Self, SearchError> {
        Self::new(gpu, graph.into())
    }
}

impl<S: Space> Engine<S> {
    fn new(gpu: &Gpu, space: S) -> Result<Self, SearchError> {
        let map = space.map(gpu)?;
        Ok(Self {
            gpu: gpu.clone(),
            space,
            map,
            mapping: Mapping::Auto,
            paths: false,
            count: true,
            slots: None,
            capacity: None,
            group_size: None,
            band: None,
            path_room: PATH_ROOM,
            kept: Mutex::default(),
        })
    }

    /// The same with another mapping (default: [`Mapping::Auto`]).
    #[must_use]
    pub fn with_mapping(self, mapping: Mapping) -> Self {
        Self { mapping, kept: Mutex::default(), ..self }
    }

    /// The same, and the paths are told as well.
    #[must_use]
    pub fn with_paths(self) -> Self {
        Self { paths: true, kept: Mutex::default(), ..self }
    }

    /// The same without counting the cells expanded, which costs teams and bands some time: [`Outcome::expanded`] is 0.
    #[must_use]
    pub fn without_count(self) -> Self {
        Self { count: false, kept: Mutex::default(), ..self }
    }

    /// The same with so many searches at once at the most, where the library would choose.
    #[must_use]
    pub fn with_slots(self, slots: u32) -> Self {
        Self { slots: Some(slots), kept: Mutex::default(), ..self }
    }

    /// The same with room for so many cells in an open list at first, where the library would choose. A search that needs more is run
    /// again with more.
    #[must_use]
    pub fn with_capacity(self, capacity: u32) -> Self {
        Self { capacity: Some(capacity), kept: Mutex::default(), ..self }
    }

    /// The same with so many invocations in a workgroup.
    #[must_use]
    pub fn with_group_size(self, group_size: u32) -> Self {
        Self { group_size: Some(group_size), kept: Mutex::default(), ..self }
    }

    /// The same with another width of the bands in which [`Mapping::Team`] and [`Mapping::Bands`] take cells: estimates up to so much above the least, in units of cost. It
    /// changes the speed only.
    #[must_use]
    pub fn with_band(self, band: u32) -> Self {
        Self { band: Some(band), ..self }
    }

    /// The same with room for the cells of so many paths at a time (and of one path at least): for tests of what is read back in parts.
    #[doc(hidden)]
    #[must_use]
    pub fn with_path_room(self, path_room: u32) -> Self {
        Self { path_room, kept: Mutex::default(), ..self }
    }

    /// The map, or the graph.
    pub fn map(&self) -> &S {
        &self.space
    }

    /// The mapping that runs have; never [`Mapping::Auto`].
    pub fn mapping(&self) -> Mapping {
        match self.mapping {
            Mapping::Auto if !S::BANDS => Mapping::Thread(THREAD_QUEUE),
            Mapping::Auto => match self.gpu.on_processor() {
                // To count cells, bands look at them once more; queues do so by the way.
                true if self.count => Mapping::Thread(THREAD_QUEUE),
                true => Mapping::Bands,
                false => Mapping::Team,
            },
            chosen => chosen,
        }
    }

    /// Runs a list of searches: (start, goal) each. Where one of them is blocked there is no path.
    ///
    /// # Errors
    /// [`SearchError`] where a cell is not on the map, costs leave 32 bits, a heuristic is found not to be consistent, or the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(&self, searches: &[(S::Cell, S::Cell)]) -> Result<Results<S::Cell>, SearchError> {
        self.run_watched(searches, |_| ())
    }

    /// The same, and `watch` hears now and then how many searches are over. It may not run this engine, which would wait for itself.
    ///
    /// # Errors
    /// As [`Engine::run`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_watched(
        &self,
        searches: &[(S::Cell, S::Cell)],
        watch: impl FnMut(u64),
    ) -> Result<Results<S::Cell>, SearchError> {
        let mut kept = self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        pollster::block_on(self.run_with(&mut kept, searches, watch))
    }

    /// [`Engine::run_watched`] for browsers, where nothing may block. One run at a time: a second one, while the first waits, fails.
    ///
    /// # Errors
    /// As [`Engine::run`], and [`SearchError::Busy`] while another run of this engine is not over.
    #[expect(clippy::await_holding_lock, reason = "nobody waits for it here: a second run is refused")]
    pub async fn run_async(
        &self,
        searches: &[(S::Cell, S::Cell)],
        watch: impl FnMut(u64),
    ) -> Result<Results<S::Cell>, SearchError> {
        let mut kept = match self.kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(SearchError::Busy),
        };
        self.run_with(&mut kept, searches, watch).await
    }

    async fn run_with(
        &self,
        kept: &mut Kept,
        searches: &[(S::Cell, S::Cell)],
        mut watch: impl FnMut(u64),
    ) -> Result<Results<S::Cell>, SearchError> {
        let shape = self.shape()?;
        if self.paths {
            self.space.check_paths()?;
            if kept.walked.is_none() {
                kept.walked = Some(self.space.walk_map(&self.gpu)?);
            }
        }
        let places = self.places(searches)?;
        let mut outcomes = Vec::with_capacity(searches.len());
        let mut paths = Vec::new();
        for (number, list) in places.chunks(LIST).enumerate() {
            let first = number * LIST;
            let mut run =
                Run { engine: self, shape, kept: &mut *kept, first, over: first as u64, watch: &mut watch };
            let (records, some) = run.list(list).await?;
            let count = self.count;
            outcomes.par_extend(records.par_iter().map(|record| Outcome {
                cost: (record.status == FOUND).then_some(record.cost),
                expanded: if count { record.expanded } else { 0 },
            }));
            paths.extend(some);
        }
        Ok(Results::from_places(searches, outcomes, self.paths.then_some(paths)))
    }

    fn shape(&self) -> Result<Shape, SearchError> {
        let limits = self.gpu.limits();
        let most =
            limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).min(1024);
        // A processor has the lanes of a vector in lockstep.
        let alone = if self.gpu.on_processor() { LANES } else { 32 };
        let (open, usual) = match self.mapping() {
            Mapping::Thread(design) if !Shape::serves(design) => {
                return Err(SearchError::Queue { design: design.name() });
            }
            Mapping::Thread(design) => (Open::Queue(design), alone),
            mapping if !S::BANDS => return Err(SearchError::Mapping { mapping }),
            Mapping::Bands => (Open::Bands, alone),
            // As many as there are cells with about the same estimate, and directions. (`bench search` on an H200, density 0.2, 1000 searches a second with
            // teams of 64, 128, 256 and 512: 64 x 64 cells 10,185, 9,702; 256 x 256 1,333, 1,284, 993; 512 x 512 -, 303, 285, 205; 1,024 x 1,024
            // 2.0, 19.6, 37.7, 55.8, and 41.2 with 1,024. With 32, 8,550 and 3,172 where 64 made 9,981 and 4,264, at sides of 64 and 128.)
            _ if self.space.count() <= 256 * 256 => (Open::Team, 64),
            _ if self.space.count() <= 512 * 512 => (Open::Team, 128),
            _ => (Open::Team, 512.min(most)),
        };
        let group_size = self.group_size.unwrap_or(usual);
        // A team has an invocation for each direction.
        let least = if open == Open::Team { 8 } else { 1 };
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
        // Not the device, which in browsers belongs to one thread.
        let space = &self.space;
        let ends = |(search, &(start, goal)): (usize, &(S::Cell, S::Cell))| {
            let places = [space.locate(search, start)?, space.locate(search, goal)?];
            let open = places.into_iter().all(|place| space.is_open(place));
            Ok(if open { places } else { [PLACE_NONE; 2] })
        };
        let places: Result<_, SearchError> = searches.par_iter().enumerate().map(ends).collect();
        // Of several errors, the first in the list is told.
        places.or_else(|_| searches.iter().enumerate().map(ends).collect())
    }

    /// Open lists that searches begin with, and the longest that there may be: as the device binds them for a slot. No queue needs more than an item
    /// for each move, because each puts a cell there once at most where the heuristic is consistent; for lists in bands there is no such bound.
    fn capacities(&self, shape: Shape) -> (u32, u32) {
        let most = match shape.open {
            Open::Queue(_) => self.space.most_open(),
            Open::Bands | Open::Team => u32::MAX,
        };
        let most = most.min(shape.open.fitting(self.gpu.max_buffer_bytes())).max(1);
        (self.capacity.unwrap_or(self.space.usual_open().max(64)).clamp(1, most), most)
    }

    /// How many slots there are for so many searches.
    fn slots(&self, shape: Shape, capacity: u32, searches: usize) -> Result<u32, SearchError> {
        let marks = 4 * u64::from(self.space.count());
        let open = 8 * shape.open.items(capacity);
        let limit = self.gpu.max_buffer_bytes();
        // Marks have no neighbours: a group of lists may have fewer slots than it has room for.
        let lists = limit / shape.open.bytes(capacity) * shape.open.neighbours();
        let fits = lists.min(limit / marks).min(limit / size_of::<Slot>() as u64);
        // A processor serves as many at once as its cores have lanes; two workgroups for each share the work at the end of a dispatch, and more would share the caches: lavapipe on
        // two busy cores, 64 x 64 cells, heap-4, took 0.9 s of a processor for 10,000 searches with 32 slots and 1.3 s with 256. A GPU of today takes some thousand
        // workgroups, and hides waits with more. (Teams on an H200, 64 x 64 cells, 10⁶ searches a second with 16,384, 32,768 and 65,536 slots: 10.2, 10.7,
        // 11.8; 256 x 256 cells, with 4,096, 8,192 and 16,384: 1.29, 1.33, 1.32. The rest are guesses.)
        let (most, bytes) = match (self.gpu.on_processor(), shape.open == Open::Team) {
            (true, false) => (2 * u64::from(LANES) * cores(), 512 << 20),
            (true, true) => (64, 512 << 20),
            (false, false) => (1 << 17, 4 << 30),
            (false, true) => (1 << 16, 6 << 30),
        };
        let wanted = match self.slots {
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

/// A list that is being run.
struct Run<'r, S, F> {
    engine: &'r Engine<S>,
    shape: Shape,
    kept: &'r mut Kept,
    /// The number of the list's first search.
    first: usize,
    /// Searches that are over.
    over: u64,
    watch: &'r mut F,
}

impl<S: Space, F: FnMut(u64)> Run<'_, S, F> {
    /// The records of a list, and its paths, if they are wanted.
    async fn list(&mut self, list: &[[u32; 2]]) -> Result<(Vec<Record>, Vec<Vec<u32>>), SearchError> {
        let space = &self.engine.space;
        let (mut capacity, most_capacity) = self.engine.capacities(self.shape);
        let most_range = space.most_cost();
        // The less it is the more seldom marks are cleared. A guess.
        let usual = space.usual_cost().min(most_range.into());
        let mut range = u32::try_from(usual).expect("not above most_range");
        let (mut records, mut paths) = self.pass(list, capacity, range).await?;
        let mut numbers: Vec<u32> = (0..).zip(list).map(|(number, _)| number).collect();
        // Bound: the capacity or the range grows each time, up to a limit.
        loop {
            let status = |number: &u32| records[*number as usize].status;
            numbers.retain(|number| !matches!(status(number), FOUND | NONE));
            if numbers.is_empty() {
                return Ok((records, paths));
            }
            let name = |number: u32| u32::try_from(self.first).unwrap_or(u32::MAX) + number;
            if let Some(&search) = numbers.iter().find(|number| status(number) == BROKEN) {
                let Record { cost: from, expanded: to, .. } = records[search as usize];
                return Err(SearchError::Heuristic { search: name(search), from, to });
            }
            let full = numbers.iter().find(|number| status(number) == FULL);
            if let Some(&number) = full {
                if capacity >= most_capacity {
                    return Err(SearchError::OpenList { search: name(number), items: capacity });
                }
                capacity = capacity.saturating_mul(4).min(most_capacity);
            } else if let Some(&number) = numbers.first() {
                if range >= most_range {
                    let limit = self.engine.space.dearest_path();
                    return Err(SearchError::Overflow { search: name(number), limit });
                }
                range = most_range;
            }
            self.over -= numbers.len() as u64;
            let some: Vec<_> = numbers.iter().map(|&number| list[number as usize]).collect();
            let (new, new_paths) = self.pass(&some, capacity, range).await?;
            for (place, (&number, record)) in numbers.iter().zip(new).enumerate() {
                records[number as usize] = record;
                if let Some(path) = new_paths.get(place) {
                    paths[number as usize].clone_from(path);
                }
            }
        }
    }

    async fn memory(&mut self, capacity: u32, searches: usize) -> Result<Memory, SearchError> {
        let engine = self.engine;
        let mut slots = engine.slots(self.shape, capacity, searches)?;
        // That of searches with longer lists is used once, and the usual one waits for the next run.
        if let Some(memory) =
            self.kept.memory.take_if(|memory| (memory.shape, memory.capacity) == (self.shape, capacity))
            && memory.slots >= slots
        {
            return Ok(memory);
        }
        let cells = engine.space.count();
        let room = match engine.paths {
            true => {
                let most = u32::try_from(engine.gpu.max_buffer_bytes() / 4).unwrap_or(u32::MAX);
                engine.path_room.min(most).max(cells)
            }
            false => 0,
        };
        loop {
            let made = Memory::new(&engine.gpu, self.shape, cells, (slots, capacity), room);
            // A browser says later whether there is room.
            match engine.gpu.settle().await.and(made) {
                Err(GpuError::OutOfMemory { .. }) if slots > 1 => slots /= 2,
                other => return Ok(other?),
            }
        }
    }

    /// Runs all searches of a list once.
    async fn pass(
        &mut self,
        list: &[[u32; 2]],
        capacity: u32,
        range: u32,
    ) -> Result<(Vec<Record>, Vec<Vec<u32>>), SearchError> {
        let engine = self.engine;
        let gpu = &engine.gpu;
        // Not kept if the run fails: nobody knows what it holds.
        let memory = self.memory(capacity, list.len()).await?;
        let mut work = Work {
            cells: engine.space.count(),
            range,
            searches: u32::try_from(list.len()).expect("a list is short"),
            slots: memory.slots,
            capacity,
            stride: u32::try_from(self.shape.open.items(capacity)).expect("an open list fits a binding"),
            steps: 0,
            all_paths: engine.paths.into(),
            count: engine.count.into(),
            delta: engine.band.unwrap_or(engine.space.usual_band()),
            path_room: memory
                .paths
                .as_ref()
                .map_or(0, |paths| u32::try_from(paths.len()).unwrap_or(u32::MAX)),
            drain: 1,
            ..Work::default()
        };
        engine.space.describe(&mut work);
        let searches = Buffer::storage_from(gpu, "search: starts and goals", list)?;
        let records = Buffer::<Record>::storage(gpu, "search: records", list.len() as u64)?;
        memory.control.write(gpu, 0, &[Control::default()])?;
        let walked = self.kept.walked.get_or_insert_default();
        let (search, walk) = memory.plans(gpu, self.shape, (&engine.map, walked), &searches, &records)?;
        let mut paths = vec![Vec::new(); if engine.paths { list.len() } else { 0 }];
        let usual_steps = if self.shape.open == Open::Team { TEAM_STEPS } else { THREAD_STEPS };
        let mut most_steps = self.kept.steps.unwrap_or(usual_steps);
        let mut pace = self.kept.pace.take().unwrap_or_else(|| Pace::new(MOST_STEPS));
        let mut full_pace = None;
        let begun_with = self.over;
        loop {
            let steps = pace.units().min(most_steps);
            let times = (pace.units() / steps).max(1);
            work.steps = steps;
            memory.work.write(gpu, 0, &[work])?;
            let begun = Instant::now();
            let mut control = submit(gpu, &memory, &search, times).await?;
            log::debug!(
                "{times} times {steps} steps of {} slots: {:?}, {control:?}",
                work.slots,
                begun.elapsed()
            );
            if control.ended < work.searches {
                pace.record(steps * times, begun.elapsed());
            }
            // Steps of slots of which many are idle say nothing of the next run's first ones.
            if control.next < work.searches {
                full_pace = Some(pace.clone());
            }
            if control.cut > 0 {
                // It has begun those searches again. Dispatches are made shorter for good.
                if steps == 1 {
                    return Err(SearchError::Cut);
                }
                most_steps = steps / 2;
                self.kept.steps = Some(most_steps);
                control.cut = 0;
                memory.control.write(gpu, 0, &[control])?;
            }
            if let (Some(walk), Some(buffer)) = (&walk, &memory.paths) {
                control =
                    Walk { gpu, memory: &memory, plan: walk, buffer, records: &records, paths: &mut paths }
                        .finish(&mut work, control)
                        .await?;
            }
            self.over = begun_with + u64::from(control.ended);
            (self.watch)(self.over);
            if control.ended >= work.searches {
                break;
            }
        }
        if let (Some(walk), Some(buffer)) = (&walk, &memory.paths) {
            Walk { gpu, memory: &memory, plan: walk, buffer, records: &records, paths: &mut paths }
                .collect(work.drain)
                .await?;
        }
        let records = records.read_range(gpu, 0, list.len() as u64).await?;
        if capacity == engine.capacities(self.shape).0 {
            self.kept.memory = Some(memory);
        }
        self.kept.pace = full_pace;
        Ok((records, paths))
    }
}

/// The paths of a list, as far as they are known.
struct Walk<'w> {
    gpu: &'w Gpu,
    memory: &'w Memory,
    plan: &'w Plan,
    buffer: &'w Buffer<u32>,
    records: &'w Buffer<Record>,
    paths: &'w mut [Vec<u32>],
}

impl Walk<'_> {
    /// Walks until no slot waits for its path.
    async fn finish(&mut self, work: &mut Work, mut control: Control) -> Result<Control, SearchError> {
        let room = work.path_room;
        work.steps = WALK_STEPS;
        // Bound: every slot's path is written once there is room, and there is room for any after a readback.
        while control.hold > 0 {
            self.memory.work.write(self.gpu, 0, &[*work])?;
            control = submit(self.gpu, self.memory, self.plan, 1).await?;
            if control.cut > 0 {
                if work.steps == 1 {
                    return Err(SearchError::Cut);
                }
                work.steps /= 2;
                control.cut = 0;
                self.memory.control.write(self.gpu, 0, &[control])?;
            }
            if control.full > 0 {
                // No room any more; what has some is finished first.
                work.path_room = 0;
                if control.writing == 0 {
                    self.collect(work.drain).await?;
                    work.path_room = room;
                    work.drain += 1;
                    (control.full, control.paths) = (0, 0);
                    self.memory.control.write(self.gpu, 0, &[control])?;
                }
            }
        }
        work.path_room = room;
        Ok(control)
    }

    /// Reads the paths of one readback.
    async fn collect(&mut self, drain: u32) -> Result<(), SearchError> {
        let records = self.records.read_range(self.gpu, 0, self.paths.len() as u64).await?;
        let here = || records.iter().enumerate().filter(|(_, record)| record.drain == drain);
        let end = here().map(|(_, record)| u64::from(record.path_first) + u64::from(record.path_cells)).max();
        let cells = self.buffer.read_range(self.gpu, 0, end.unwrap_or(0)).await?;
        for (search, record) in here() {
            let first = record.path_first as usize;
            self.paths[search] = cells[first..first + record.path_cells as usize].to_vec();
        }
        Ok(())
    }
}

/// Submits a plan so many times, and says how things are after it.
async fn submit(gpu: &Gpu, memory: &Memory, plan: &Plan, times: u32) -> Result<Control, SearchError> {
    let mut encoder = gpu.encoder("searches");
    plan.record_times(&mut encoder, times);
    let download = Download::new(gpu, "search: control", size_of::<Control>() as u64)?;
    download.record(&mut encoder, memory.control.raw(), 0);
    let submission = gpu.submit(encoder)?;
    let bytes = download.finish(gpu, submission).await?;
    Ok(bytemuck::pod_read_unaligned(&bytes))
}
