//! Replications on a device, an invocation for each, in batches.

use std::sync::Arc;

use web_time::Instant;

use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Pace, Plan, Recipe};
use crate::pdes::{Fault, FaultKind, WatchRuns};
use crate::time::Ticks;

use super::super::model::Printed;
use super::{
    Made, PROCESS_CUT, PROCESS_DONE, PROCESS_FULL, PROCESS_PENDING, ProcessGiven, Saved, Shape, Trouble,
    files,
};

/// Replications of a batch, at most.
const MOST_JOBS: usize = 1 << 16;
/// Invocations of a workgroup: as many as run in lockstep.
const GROUP_SIZE: u32 = 32;
const GROUP_SIZE_OF_SOFTWARE: u32 = 8;
/// Events of the unit in which slices are measured, and units of a slice at most: a software
/// adapter ends the loops of an invocation after 65,535 iterations.
const UNIT: u32 = 64;
const MOST_UNITS: u32 = 1 << 12;
const MOST_UNITS_OF_SOFTWARE: u32 = 1 << 3;
/// Rows that a slice hashes for each of its events, at least this number.
const ROWS: u32 = 8;
const LEAST_ROWS: u32 = 1 << 10;
/// Room for pending events: at least one for each entity, and at most.
const LEAST_PENDING: u32 = 64;
const MOST_PENDING: u32 = 1 << 20;
/// Slices that are shorter by this factor do not get any shorter.
const SHORTEST: u32 = UNIT;

/// A replication: its point, and the key of its streams.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    /// The point.
    pub point: u32,
    /// The key.
    pub key: u64,
}

/// A program on a device.
#[derive(Debug)]
pub struct DeviceProgram {
    gpu: Gpu,
    printed: Arc<Printed>,
    kernel: Kernel,
    group_size: u32,
    data: Buffer<u32>,
    shape: Shape,
    pace: Pace,
    /// How many times the usual room pending events have, and slices are shorter than usual.
    pending: u32,
    shorter: u32,
}

/// The kernel of a slice, for one point or for several.
fn recipe(printed: &Printed, is_one: bool, int64: bool, group_size: u32) -> Recipe {
    let (slices, params) = match is_one {
        true => (printed.slices.clone(), "pdes/replicas/params_none.wgsl"),
        false => (printed.slices.without_uniform("params"), "pdes/replicas/params_of_replica.wgsl"),
    };
    let files = files(&slices, "process/run/many.wgsl", params, int64);
    let name = format!("{} process/run/slice.wgsl", printed.program.name);
    Recipe::new(name, "process_kernel", files).with([("GROUP_SIZE", f64::from(group_size))])
}

/// All kernels of a program.
pub fn kernels(printed: &Printed) -> Vec<Recipe> {
    let all = [(false, false), (false, true), (true, false), (true, true)];
    all.map(|(is_one, int64)| recipe(printed, is_one, int64, GROUP_SIZE)).into()
}

impl DeviceProgram {
    /// Compiles the kernel for runs of a number of points.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu, printed: &Arc<Printed>, points: usize) -> Result<Self, GpuError> {
        let is_software = gpu.is_software();
        let group_size = if is_software { GROUP_SIZE_OF_SOFTWARE } else { GROUP_SIZE };
        let recipe = recipe(printed, points == 1, gpu.has(wgpu::Features::SHADER_INT64), group_size);
        Ok(Self {
            gpu: gpu.clone(),
            printed: Arc::clone(printed),
            // SAFETY: the library's loops end, as their files say.
            kernel: unsafe { recipe.ending(gpu)? },
            group_size,
            data: Buffer::storage_from(gpu, "process: data", &printed.data)?,
            shape: Shape::of(&printed.program),
            pace: Pace::new(if is_software { MOST_UNITS_OF_SOFTWARE } else { MOST_UNITS }),
            pending: 1,
            shorter: 1,
        })
    }

    /// Makes replications up to a time, in this room for entities: with the words of `Params` of
    /// each point. The results of the first ones, if `watch` stopped it.
    ///
    /// # Errors
    /// [`GpuError`].
    pub async fn run(
        &mut self,
        params: &[Vec<u32>],
        jobs: &[Job],
        room: u32,
        until: Ticks,
        watch: WatchRuns<'_>,
    ) -> Result<Vec<Result<Made, Trouble>>, GpuError> {
        let gpu = self.gpu.clone();
        let params = match params {
            [params] => Buffer::uniform_from(&gpu, "process: parameters", params)?,
            all => Buffer::storage_from(&gpu, "process: parameters", &all.concat())?,
        };
        let mut found: Vec<Option<Result<Made, Trouble>>> = vec![None; jobs.len()];
        let mut waiting: Vec<usize> = (0..jobs.len()).collect();
        let (mut done, mut events) = (0, 0);
        while !waiting.is_empty() {
            let pending = room.max(LEAST_PENDING).saturating_mul(self.pending).min(MOST_PENDING);
            let most = self.most_jobs(room, pending);
            let (mut again, mut more, mut shorter) = (Vec::new(), false, false);
            for batch in waiting.chunks(most) {
                let of_batch: Vec<Job> = batch.iter().map(|&number| jobs[number]).collect();
                let report = &mut |ended: usize, executed: u64| watch(done + ended, events + executed);
                let Some(ended) = self.batch(&params, &of_batch, (room, pending), until, report).await?
                else {
                    return Ok(found.into_iter().map_while(|found| found).collect());
                };
                for (&number, (saved, rows)) in batch.iter().zip(ended) {
                    events += u64::from(saved.events);
                    let engine =
                        |kind| Some(Err(Trouble::Engine(Fault { kind, lp: 0, window: 0, needed: 0 })));
                    let trouble = saved.trouble;
                    found[number] = match () {
                        () if trouble & PROCESS_CUT != 0 && self.shorter < SHORTEST => {
                            shorter = true;
                            None
                        }
                        () if trouble & PROCESS_CUT != 0 => engine(FaultKind::LoopsCut),
                        () if trouble & PROCESS_FULL != 0 => Some(Err(Trouble::Full)),
                        () if trouble & PROCESS_PENDING != 0 && pending < MOST_PENDING => {
                            more = true;
                            None
                        }
                        () if trouble & PROCESS_PENDING != 0 => engine(FaultKind::QueueFull),
                        () => Some(Ok(saved.made(rows))),
                    };
                    match found[number] {
                        None => again.push(number),
                        Some(_) => done += 1,
                    }
                }
            }
            self.pending *= if more { 4 } else { 1 };
            self.shorter *= if shorter { 8 } else { 1 };
            waiting = again;
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// The replications whose rows fit buffers.
    fn most_jobs(&self, room: u32, pending: u32) -> usize {
        let Shape { saved, results } = self.shape;
        let memory = self.printed.program.memory_rows(room) as usize;
        let rows = [saved, results, memory, pending as usize + 2].map(even);
        let bytes = 16 * rows.into_iter().max().unwrap_or(1);
        let fitting = usize::try_from(self.gpu.max_buffer_bytes()).unwrap_or(usize::MAX) / bytes;
        fitting.clamp(1, MOST_JOBS)
    }

    /// Makes a batch of replications: what each saved, and its results. `None`, if `watch` stopped
    /// it.
    async fn batch(
        &mut self,
        params: &Buffer<u32>,
        batch: &[Job],
        (room, pending): (u32, u32),
        until: Ticks,
        watch: WatchRuns<'_>,
    ) -> Result<Option<Vec<(Saved, Vec<[u32; 4]>)>>, GpuError> {
        let gpu = &self.gpu;
        let jobs = u32::try_from(batch.len()).expect("at most MOST_JOBS");
        let Shape { saved, results } = self.shape;
        let rows = |rows: usize| {
            Buffer::<[u32; 4]>::storage(gpu, "process: rows", (even(rows) * batch.len()) as u64)
        };
        let listed: Vec<[u32; 4]> = batch.iter().map(job_row).collect();
        let listed = Buffer::storage_from(gpu, "process: jobs", &listed)?;
        let memory = rows(self.printed.program.memory_rows(room) as usize)?;
        let (saved, events, results) = (rows(saved)?, rows(pending as usize + 2)?, rows(results)?);
        let running = Buffer::<[u32; 2]>::storage(gpu, "process: running", 1)?;
        let shorter = self.shorter;
        let given = |units: u32| {
            let events = (units * UNIT / shorter).max(1);
            let rows = (ROWS * events).max(LEAST_ROWS / shorter);
            ProcessGiven { unread: 0, until, jobs, events, rows, pending }
        };
        let uniform = Buffer::uniform(gpu, "process: given", &given(1))?;
        let bindings = [
            ("process_given", uniform.binding()),
            ("process_jobs", listed.binding()),
            ("process_saved", saved.binding()),
            ("process_memory", memory.binding()),
            ("process_pending", events.binding()),
            ("process_results", results.binding()),
            ("process_running", running.binding()),
            ("params", params.binding()),
            ("params_rows", params.binding()),
            ("data", self.data.binding()),
        ];
        let mut slice = Plan::new("process: slice");
        slice.clear("process: running", running.raw());
        slice.dispatch(gpu, &self.kernel, jobs.div_ceil(self.group_size), &bindings)?;
        let mut executed = 0;
        loop {
            let (began, units) = (Instant::now(), self.pace.units());
            uniform.write(gpu, 0, &[given(units)])?;
            slice.submit(gpu)?;
            let [left, made] = running.read_async(gpu).await?[0];
            executed += u64::from(made);
            if watch(batch.len() - left as usize, executed).is_break() {
                return Ok(None);
            }
            if left == 0 {
                break;
            }
            self.pace.record(units, began.elapsed());
        }
        let saved = saved.read_range(gpu, 0, 2 * u64::from(jobs)).await?;
        let results = results.read_async(gpu).await?;
        let of = |job: usize| {
            let row = |index: usize| results[(index / 2 * batch.len() + job) * 2 + index % 2];
            let saved = Saved::of([saved[2 * job], saved[2 * job + 1]]);
            debug_assert_eq!(saved.status, PROCESS_DONE, "all replications are done");
            (saved, (0..self.shape.results).map(row).collect())
        };
        Ok(Some((0..batch.len()).map(of).collect()))
    }
}

/// A replication as a row.
fn job_row(job: &Job) -> [u32; 4] {
    let [low, high] = Ticks::new(job.key).to_words();
    [low, high, job.point, 0]
}

/// Rows lie in pairs.
fn even(rows: usize) -> usize {
    rows.next_multiple_of(2)
}
