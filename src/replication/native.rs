//! Models that the engine on the CPU runs from their WGSL: `job_slice` of
//! `shaders/replication/job.wgsl`, which serves all mappings.

use std::ops::Range;
use std::sync::Arc;

use super::executable::{Executable, Jobs};
use super::mapping::product;
use super::schema::link;
use super::work::Work;
use super::{AnalysisError, Model, Observations, ReplicationError};
use crate::gpu::{GpuError, Source};
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

/// A model that [`CpuEngine`](super::CpuEngine) runs from its WGSL, like a model with a reference
/// implementation. Results are the same bits.
///
/// The WGSL is translated to machine code. Where that is impossible (wasm32, a system that forbids
/// it, the library without the feature `native`) it is interpreted, much more slowly.
///
/// ```
/// use eventhorizon::models::Mm1;
/// use eventhorizon::replication::{CpuEngine, Design, Experiment, NativeModel, Options};
///
/// let model = Mm1::default();
/// let params = model.params(0.8, 1.0, 100)?;
/// let experiment = Experiment::new(Design::default(), 100, 1);
/// let native = CpuEngine::new(NativeModel::new(model)?, Options::default())?;
/// let reference = CpuEngine::new(model, Options::default())?; // `Mm1` has one
/// let fingerprint = native.run(&params, &experiment)?.fingerprint;
/// assert_eq!(fingerprint, reference.run(&params, &experiment)?.fingerprint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct NativeModel<M> {
    model: M,
    compiled: Arc<Compiled>,
}

/// The code of a model's file with the places that the engine uses.
struct Compiled {
    code: Code,
    work: Range<usize>,
    points: Option<usize>,
    saved: usize,
    outcomes: usize,
    results: usize,
    running: usize,
    chords: Option<usize>,
}

impl<M: Model> NativeModel<M> {
    /// Translates a model's WGSL.
    ///
    /// # Errors
    /// [`ReplicationError`] if the file does not link, with file and line.
    pub fn new(model: M) -> Result<Self, ReplicationError> {
        Self::with(model, Engine::default())
    }

    /// The same without machine code, for comparisons: the WGSL is interpreted.
    ///
    /// # Errors
    /// As [`NativeModel::new`].
    pub fn interpreted(model: M) -> Result<Self, ReplicationError> {
        Self::with(model, Engine::Interpreter)
    }

    fn with(model: M, engine: Engine) -> Result<Self, ReplicationError> {
        let program = link(&model, &["replication/job.wgsl", product(true)].map(shaders::file))?;
        let code = program.compile(&ENTRIES, engine).map_err(GpuError::from)?;
        let buffer = |name| code.buffer(name).expect("replication/job.wgsl uses it");
        let compiled = Compiled {
            work: code.variable("job_work").expect("replication/job.wgsl uses it"),
            points: code.buffer("job_points"),
            saved: buffer("job_saved"),
            outcomes: buffer("job_outcomes"),
            results: buffer("job_results"),
            running: buffer("job_running"),
            chords: code.buffer("exponential_given"),
            code,
        };
        Ok(Self { model, compiled: Arc::new(compiled) })
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }
}

impl<M> std::fmt::Debug for NativeModel<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeModel").finish_non_exhaustive()
    }
}

impl<M: Model> Model for NativeModel<M> {
    type Params = M::Params;
    type Output = M::Output;

    fn source(&self) -> Source {
        self.model.source()
    }

    fn team_source(&self) -> Option<Source> {
        self.model.team_source()
    }

    fn params_bytes(&self, params: &M::Params) -> Vec<u8> {
        self.model.params_bytes(params)
    }

    fn check(&self, params: &M::Params) -> Result<(), String> {
        self.model.check(params)
    }

    fn derive(&self, params: &M::Params, observations: &mut Observations) -> Result<(), AnalysisError> {
        self.model.derive(params, observations)
    }
}

/// The memory of code that runs replications.
#[derive(Debug)]
pub struct Worker {
    block: Block,
    /// `JobSaved` by slot.
    saved: Vec<u32>,
    running: [u32; 2],
}

impl<M: Model + Sync> Executable for NativeModel<M> {
    type Worker = Worker;

    fn check_executable(&self) -> Result<(), ReplicationError> {
        Ok(())
    }

    fn worker(&self, _: &Jobs<'_, M::Params>) -> Worker {
        let Compiled { code, chords, .. } = &*self.compiled;
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

    fn replicate(
        &self,
        worker: &mut Worker,
        jobs: &Jobs<'_, M::Params>,
        first: u32,
        outputs: &mut [M::Output],
        outcomes: &mut [[u32; 2]],
    ) -> Result<(), ReplicationError> {
        let Compiled { code, work, points, saved, outcomes: status, results, running, .. } = &*self.compiled;
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
