//! Replications of models from their WGSL: `job_slice` of `shaders/replication/job.wgsl`, which
//! serves all mappings.

use std::ops::Range;

use bytemuck::Pod;

use super::jobs::Jobs;
use super::mapping::product;
use super::schema::link;
use super::work::Work;
use super::{Model, ReplicationError};
use crate::gpu::GpuError;
use crate::native::{Block, Code, Engine};
use crate::random::exponential_chords;
use crate::shaders;

shared! {
    "replication/job.wgsl":
    const JOB_RUNNING: u32;
}

/// The steps of a slice, and the iterations of loops that it may make: about a second of machine
/// code.
const STEPS: u32 = 256;
const MOST_ITERATIONS: i64 = 1 << 30;

/// The entries of a model's code, by number.
const ENTRIES: [&str; 2] = ["job_slice", "tables_open"];
const SLICE: usize = 0;
const TABLES: usize = 1;

/// The code of a model's file with the places that the engine uses.
pub(super) struct Compiled {
    code: Code,
    work: Range<usize>,
    points: Option<usize>,
    saved: usize,
    outcomes: usize,
    results: usize,
    running: usize,
    chords: Option<usize>,
}

/// The memory of code that runs replications.
pub(super) struct Worker {
    block: Block,
    /// `JobSaved` by slot.
    saved: Vec<u32>,
    running: [u32; 2],
}

impl Compiled {
    /// Translates a model's WGSL.
    pub(super) fn new<M: Model>(model: &M, engine: Engine) -> Result<Self, ReplicationError> {
        let program = link(model, &["replication/job.wgsl", product(true)].map(shaders::file))?;
        let code = program.compile(&ENTRIES, engine).map_err(GpuError::from)?;
        let buffer = |name| code.buffer(name).expect("replication/job.wgsl uses it");
        Ok(Self {
            work: code.variable("job_work").expect("replication/job.wgsl uses it"),
            points: code.buffer("job_points"),
            saved: buffer("job_saved"),
            outcomes: buffer("job_outcomes"),
            results: buffer("job_results"),
            running: buffer("job_running"),
            chords: code.buffer("exponential_given"),
            code,
        })
    }

    /// Memory for replications.
    pub(super) fn worker(&self) -> Worker {
        let Self { code, chords, .. } = self;
        let mut block = code.block();
        block.set_fuel(MOST_ITERATIONS);
        if let Some(chords) = *chords {
            let table = exponential_chords();
            // SAFETY: the table is static, and the code does not write it: it is declared `read`.
            unsafe { block.bind(chords, table.as_ptr().cast_mut().cast(), size_of_val(table)) };
        }
        // SAFETY: the arguments are two numbers: lane 0 of 1.
        unsafe { code.call(&mut block, TABLES, &[0, 1]) };
        Worker { block, saved: Vec::new(), running: [0; 2] }
    }

    /// Runs consecutive jobs from `first` on, one for each row of `outcomes`: (status, code) as in
    /// `shaders/replication/job.wgsl`. All are zero before.
    pub(super) fn replicate<P: Pod, O: Pod>(
        &self,
        worker: &mut Worker,
        jobs: &Jobs<'_, P>,
        first: u32,
        outputs: &mut [O],
        outcomes: &mut [[u32; 2]],
    ) -> Result<(), ReplicationError> {
        let Self { code, work, points, saved, outcomes: status, results, running, .. } = self;
        let Worker { block, saved: states, running: counts } = worker;
        let slots = u32::try_from(outcomes.len()).expect("the jobs were counted");
        states.resize(outcomes.len() * jobs.schema.saved_bytes as usize / 4, 0);
        block.bytes_mut()[work.clone()].copy_from_slice(bytemuck::bytes_of(&jobs.work(first, slots)));
        let ended = outcomes.as_mut_ptr();
        // SAFETY: the code writes only within these buffers, which outlive its calls, and does not
        // write the points, which are declared `read`.
        unsafe {
            if let Some(points) = *points {
                block.bind(points, jobs.points.as_ptr().cast_mut().cast(), size_of_val(jobs.points));
            }
            block.bind(*saved, states.as_mut_ptr().cast(), size_of_val(&**states));
            block.bind(*status, ended.cast(), size_of_val(&*outcomes));
            block.bind(*results, outputs.as_mut_ptr().cast(), size_of_val(outputs));
            block.bind(*running, counts.as_mut_ptr().cast(), size_of_val(counts));
        }
        for slot in 0..slots {
            loop {
                block.set_fuel(MOST_ITERATIONS);
                // SAFETY: the argument is a number, and the buffers are bound.
                unsafe { code.call(block, SLICE, &[slot.into()]) };
                if block.fuel() < 0 {
                    return Err(jobs.cut(first + slot));
                }
                // SAFETY: the slot is one of `outcomes`.
                if unsafe { ended.add(slot as usize).read() }[0] != JOB_RUNNING {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl<P> Jobs<'_, P> {
    /// The description of consecutive jobs for `shaders/replication/job.wgsl`.
    fn work(&self, first: u32, jobs: u32) -> Work {
        let Self { experiment, replications, max_steps, .. } = self;
        let all = Work::new(experiment, replications, experiment.design.len(), *max_steps);
        let mut work = all.after(first).unwrap_or(all).at_most(jobs);
        work.steps = STEPS;
        work
    }

    /// The error of a job whose loops did not end.
    fn cut(&self, job: u32) -> ReplicationError {
        let per_point = self.replications.end - self.replications.start;
        let (point, replication) = (job / per_point, self.replications.start + job % per_point);
        ReplicationError::LoopsCut { point, replication }
    }
}
