//! Runs a list of searches on the device: dispatches, their results, and paths.

use std::ops::ControlFlow;

use rayon::prelude::*;
use web_time::Instant;

use super::super::mapping::{OpenList, Shape};
use super::super::memory::{BROKEN, Control, FOUND, FULL, Memory, NONE, Record, Work};
use super::super::{Outcome, Results, SearchError, Space};
use super::{Engine, LIST, WarmMemory};
use crate::gpu::{Buffer, Download, Gpu, GpuError, Pace, Plan};

/// Maximum number of steps of a dispatch; a submission has several dispatches. The loops of a step
/// of a search by threads are those of its queue.
const THREAD_STEPS: u32 = 512;
const TEAM_STEPS: u32 = 2048;
/// Maximum number of steps of a submission.
const MOST_STEPS: u32 = 1 << 17;
/// Moves of a path per dispatch.
const WALK_STEPS: u32 = 2048;
impl<S: Space> Engine<S> {
    /// Runs searches, list by list.
    pub(in crate::search) async fn run_with(
        &self,
        kept: &mut WarmMemory,
        searches: &[(S::Cell, S::Cell)],
        mut watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Results<S::Cell>, SearchError> {
        let shape = self.shape()?;
        if self.options.paths {
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
            let count = self.options.count;
            outcomes.par_extend(records.par_iter().map(|record| Outcome {
                cost: (record.status == FOUND).then_some(record.cost),
                expanded: if count { record.expanded } else { 0 },
            }));
            paths.extend(some);
        }
        Ok(Results::from_places(searches, outcomes, self.options.paths.then_some(paths)))
    }
}

/// The list that is running.
struct Run<'r, S, F> {
    engine: &'r Engine<S>,
    shape: Shape,
    kept: &'r mut WarmMemory,
    /// The number of the list's first search.
    first: usize,
    /// Finished searches.
    over: u64,
    watch: &'r mut F,
}

impl<S: Space, F: FnMut(u64) -> ControlFlow<()>> Run<'_, S, F> {
    /// The records of a list, and its paths if they are wanted.
    async fn list(&mut self, list: &[[u32; 2]]) -> Result<(Vec<Record>, Vec<Vec<u32>>), SearchError> {
        let space = &self.engine.space;
        let (mut capacity, most_capacity) = self.engine.capacities(self.shape);
        let most_range = space.most_cost();
        // A smaller range clears marks less often.
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
        // Memory for longer lists is used once; the usual memory stays for the next run.
        if let Some(memory) =
            self.kept.memory.take_if(|memory| (memory.shape, memory.capacity) == (self.shape, capacity))
            && memory.slots >= slots
        {
            return Ok(memory);
        }
        let cells = engine.space.count();
        let room = match engine.options.paths {
            true => {
                let most = u32::try_from(engine.gpu.max_buffer_bytes() / 4).unwrap_or(u32::MAX);
                engine.options.path_room.min(most).max(cells)
            }
            false => 0,
        };
        loop {
            let made = Memory::new(&engine.gpu, self.shape, cells, (slots, capacity), room);
            // A browser reports later whether there is enough memory.
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
        // Not cached if the run fails, because its content is then unknown.
        let memory = self.memory(capacity, list.len()).await?;
        let mut work = Work {
            cells: engine.space.count(),
            range,
            searches: u32::try_from(list.len()).expect("a list is short"),
            slots: memory.slots,
            capacity,
            stride: u32::try_from(self.shape.open.items(capacity)).expect("an open list fits a binding"),
            steps: 0,
            all_paths: engine.options.paths.into(),
            count: engine.options.count.into(),
            delta: engine.options.band.unwrap_or(engine.space.usual_band()),
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
        let mut paths = vec![Vec::new(); if engine.options.paths { list.len() } else { 0 }];
        let usual_steps = if self.shape.open == OpenList::Team { TEAM_STEPS } else { THREAD_STEPS };
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
            // Steps of mostly idle slots do not predict the first ones of the next run.
            if control.next < work.searches {
                full_pace = Some(pace.clone());
            }
            if control.cut > 0 {
                // The affected searches have restarted. Dispatches become shorter permanently.
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
            let flow = (self.watch)(self.over);
            if control.ended >= work.searches {
                break;
            }
            if flow.is_break() {
                return Err(SearchError::Stopped);
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

/// The paths of a list that are known so far.
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
        // Bound: every slot's path is written once there is space, and after a readback there is
        // space for any path.
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
                // The space is used up; paths with space finish first.
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

/// Submits a plan `times` times, and returns the control words afterwards.
async fn submit(gpu: &Gpu, memory: &Memory, plan: &Plan, times: u32) -> Result<Control, SearchError> {
    let mut encoder = gpu.encoder("searches");
    plan.record_times(&mut encoder, times);
    let download = Download::new(gpu, "search: control", size_of::<Control>() as u64)?;
    download.record(&mut encoder, memory.control.raw(), 0);
    let submission = gpu.submit(encoder)?;
    let bytes = download.finish(gpu, submission).await?;
    Ok(bytemuck::pod_read_unaligned(&bytes))
}
