//! Replications as machine code of the CPU, one at a time.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::gpu::{GpuError, Program as Linked, RecentCode, Source};
use crate::native::{Block, Code, Engine};
use crate::pdes::{Fault, FaultKind};
use crate::time::Ticks;

use super::super::model::Printed;
use super::super::program::{HEADER, Program};
use super::{
    Made, PROCESS_DONE, PROCESS_FULL, PROCESS_PENDING, ProcessGiven, SAVED_STATE, Saved, Shape, Trouble,
    files,
};

/// Events of a slice, some milliseconds, and the iterations of loops that it may make.
const EVENTS: u32 = 1 << 14;
const MOST_ITERATIONS: i64 = 1 << 40;
/// Room for pending events: at first, and at most.
const PENDING: usize = 1 << 12;
const MOST_PENDING: usize = 1 << 24;

/// Code of the last programs. Distributions and units of resources are data.
static RECENT: RecentCode = RecentCode::new();

/// A program as machine code.
#[derive(Debug)]
pub struct NativeProgram {
    printed: Arc<Printed>,
    code: Arc<Code>,
    given: Range<usize>,
    params: Option<Range<usize>>,
    shape: Shape,
}

/// The files that are linked for a program on the CPU.
pub fn native_sources(printed: &Printed) -> Vec<Source> {
    files(&printed.slices, "process/run/one.wgsl", "pdes/replicas/params_none.wgsl", true)
}

impl NativeProgram {
    /// Translates a program.
    ///
    /// # Errors
    /// [`GpuError`], if the text does not link.
    pub fn new(printed: &Arc<Printed>) -> Result<Self, GpuError> {
        let code = RECENT.of(printed.slices.text(), || {
            let linked = Linked::link_for_cpu(&printed.program.name, &native_sources(printed))?;
            linked.compile(&["process_slice"], Engine::default()).map_err(GpuError::from)
        })?;
        Ok(Self {
            printed: Arc::clone(printed),
            given: code.variable("process_given").expect("process/run/slice.wgsl has it"),
            params: code.variable("params"),
            shape: Shape::of(&printed.program),
            code,
        })
    }

    /// The printed program.
    pub fn printed(&self) -> &Arc<Printed> {
        &self.printed
    }

    fn program(&self) -> &Program {
        &self.printed.program
    }
}

/// The memory of a replication on a core.
#[derive(Debug)]
pub struct NativeWorker<'n> {
    native: &'n NativeProgram,
    block: Block,
    saved: Vec<[u32; 4]>,
    /// Zeros before a replication. The system maps the pages that replications use.
    memory: Vec<[u32; 4]>,
    pending: Vec<[u32; 4]>,
    results: Vec<[u32; 4]>,
    running: [u32; 2],
    job: [[u32; 4]; 1],
}

impl<'n> NativeWorker<'n> {
    /// Memory for this number of entities.
    pub fn new(native: &'n NativeProgram, room: u32) -> Self {
        let Shape { saved, results } = native.shape;
        Self {
            native,
            block: native.code.block(),
            saved: vec![[0; 4]; saved],
            memory: vec![[0; 4]; native.program().memory_rows(room) as usize],
            pending: vec![[0; 4]; PENDING],
            results: vec![[0; 4]; results.max(1)],
            running: [0; 2],
            job: [[0; 4]],
        }
    }

    /// Makes a replication up to a time: with the words of `Params`, whose room is at most that of
    /// this memory, and the key of its streams. Calls `watch` with the events of each slice; those
    /// of a replication that begins again with more room count once. `None`: `watch` stopped it.
    pub fn make(
        &mut self,
        params: &[u32],
        key: u64,
        until: Ticks,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Option<Result<Made, Trouble>> {
        if let Some(place) = self.native.params.clone() {
            self.block.bytes_mut()[place].copy_from_slice(bytemuck::cast_slice(params));
        }
        let [low, high] = Ticks::new(key).to_words();
        self.job = [[low, high, 0, 0]];
        let mut reported = 0;
        loop {
            let found = self.slices(until, &mut reported, watch);
            let Some(saved) = found else {
                self.memory.fill([0; 4]);
                return None;
            };
            let cut = self.block.fuel() < 0;
            self.clear(cut);
            let trouble = saved.trouble;
            let engine = |kind| Some(Err(Trouble::Engine(Fault { kind, lp: 0, window: 0, needed: 0 })));
            return match () {
                () if cut => engine(FaultKind::LoopsCut),
                () if trouble & PROCESS_FULL != 0 => Some(Err(Trouble::Full)),
                () if trouble & PROCESS_PENDING == 0 => Some(Ok(saved.made(self.results.clone()))),
                () if self.pending.len() >= MOST_PENDING => engine(FaultKind::QueueFull),
                () => {
                    self.pending.resize(4 * self.pending.len(), [0; 4]);
                    continue;
                }
            };
        }
    }

    /// Clears the memory that the replication used.
    fn clear(&mut self, all: bool) {
        let fresh = self.saved[SAVED_STATE as usize][HEADER.fresh as usize];
        let used = self.native.program().entity_row(fresh) as usize;
        let end = if all { self.memory.len() } else { used.min(self.memory.len()) };
        self.memory[..end].fill([0; 4]);
    }

    /// Runs to the end. `reported` are the events that `watch` knows.
    fn slices(
        &mut self,
        until: Ticks,
        reported: &mut u64,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Option<Saved> {
        let Self { native, block, saved, memory, pending, results, running, job } = self;
        let code = &native.code;
        saved.fill([0; 4]);
        let room = u32::try_from(pending.len() - 2).expect("at most MOST_PENDING");
        let given = ProcessGiven { unread: 0, until, jobs: 1, events: EVENTS, rows: u32::MAX, pending: room };
        block.bytes_mut()[native.given.clone()].copy_from_slice(bytemuck::bytes_of(&given));
        let data = &native.printed.data;
        let buffers: [(&str, *mut u8, usize); 7] = [
            ("process_jobs", job.as_mut_ptr().cast(), size_of_val(job)),
            ("process_saved", saved.as_mut_ptr().cast(), size_of_val(&saved[..])),
            ("process_memory", memory.as_mut_ptr().cast(), size_of_val(&memory[..])),
            ("process_pending", pending.as_mut_ptr().cast(), size_of_val(&pending[..])),
            ("process_results", results.as_mut_ptr().cast(), size_of_val(&results[..])),
            ("process_running", running.as_mut_ptr().cast(), size_of_val(running)),
            ("data", data.as_ptr().cast_mut().cast(), size_of_val(&data[..])),
        ];
        let first = saved.as_ptr();
        for (name, at, bytes) in buffers {
            // A program may have no results and no data.
            let Some(buffer) = code.buffer(name) else { continue };
            // SAFETY: the memory outlives the calls below. The code does not write `process_jobs`
            // and `data`, which are declared `read`.
            unsafe { block.bind(buffer, at, bytes) };
        }
        loop {
            block.set_fuel(MOST_ITERATIONS);
            // SAFETY: the argument is a number, and all buffers are bound.
            unsafe { code.call(block, 0, &[0]) };
            // SAFETY: there are more than two rows.
            let found = Saved::of(unsafe { [first.read(), first.add(1).read()] });
            if found.status == PROCESS_DONE || block.fuel() < 0 {
                return Some(found);
            }
            let events = u64::from(found.events);
            if watch(events.saturating_sub(*reported)).is_break() {
                return None;
            }
            *reported = events.max(*reported);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facility::NetworkDescription;
    use crate::process::NetworkProcess;

    #[test]
    fn points_that_differ_in_distributions_share_their_code() {
        let mut description = NetworkDescription::from_toml(
            "name = \"n\"\nsource.in = { interarrival = { exponential = 2 }, to = \"desk\" }\n\
             station.desk = { service = { exponential = 1 }, speeds = [1], to = \"out\" }\nsink.out = {}\n",
        )
        .unwrap();
        description.set("station.desk.service.exponential=1,0.7").unwrap();
        description.set("station.desk.speeds.0=1,2").unwrap();
        let networks = description.networks().unwrap();
        let code = |point: usize| {
            let process = NetworkProcess::new(&networks[point]).unwrap();
            Arc::clone(&process.compiled().native().unwrap().code)
        };
        let [first, speed, service] = [0, 1, 2].map(code);
        assert!(Arc::ptr_eq(&first, &service) && !Arc::ptr_eq(&first, &speed));
    }
}
