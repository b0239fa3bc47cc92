//! The engine on the CPU: the reference for the device, and an engine without an adapter.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use super::batch::check_steps;
use super::jobs::Jobs;
use super::native::Compiled;
use super::options::MOST_STEPS;
use super::reference;
use super::results::{CollectedResults, in_rounds, points};
use super::schema::Schema;
use super::{Experiment, Model, Options, ReferenceModel, ReplicationError, Results};
use crate::gpu::values_of;
use crate::native;

/// Jobs that a core runs at once, at most.
const PART: usize = 64;

/// Runs replications of a model on all cores, each one from its start to its end.
///
/// It executes the model's WGSL, translated to machine code. Where that is impossible (wasm32, a
/// system that forbids it, the library without the feature `native`) the WGSL is interpreted, much
/// more slowly. A model with a second implementation in Rust ([`ReferenceModel`]) can be run from
/// that instead, to compare: [`CpuEngine::in_rust`]. Results are the same bits.
pub struct CpuEngine<M: Model> {
    model: M,
    schema: Schema,
    options: Options,
    functions: Functions<M>,
}

/// The functions of a model.
#[expect(clippy::type_complexity, reason = "the signature of one function, named nowhere else")]
enum Functions<M: Model> {
    Wgsl(Compiled),
    Rust(fn(&M, &Jobs<'_, M::Params>, u32, &mut [M::Output], &mut [[u32; 2]])),
}

impl<M: Model + Sync> CpuEngine<M> {
    /// Translates the model's WGSL; no device is needed.
    ///
    /// # Errors
    /// [`ReplicationError`] if the WGSL does not link or breaks the contract.
    pub fn new(model: M, options: Options) -> Result<Self, ReplicationError> {
        Self::of_wgsl(model, native::Engine::default(), options)
    }

    /// The same with WGSL that is interpreted, for comparisons.
    ///
    /// # Errors
    /// As [`CpuEngine::new`].
    pub fn interpreted(model: M, options: Options) -> Result<Self, ReplicationError> {
        Self::of_wgsl(model, native::Engine::Interpreter, options)
    }

    /// The same with the model's functions in Rust instead of its WGSL.
    ///
    /// # Errors
    /// As [`CpuEngine::new`].
    pub fn in_rust(model: M, options: Options) -> Result<Self, ReplicationError>
    where
        M: ReferenceModel,
    {
        reference::check_types(&model)?;
        Ok(Self {
            schema: Schema::of(&model)?,
            functions: Functions::Rust(reference::replicate),
            model,
            options,
        })
    }

    fn of_wgsl(model: M, engine: native::Engine, options: Options) -> Result<Self, ReplicationError> {
        let schema = Schema::of(&model)?;
        Ok(Self { schema, functions: Functions::Wgsl(Compiled::new(&model, engine)?), model, options })
    }

    /// Runs these replications of each point. `None` if `watch` stopped it before any replication
    /// of all points had ended. A run without `watch` is one round.
    pub(super) fn replicate(
        &self,
        params: &M::Params,
        experiment: &Experiment,
        replications: Range<u32>,
        watch: Option<impl FnMut(u64) -> ControlFlow<()>>,
    ) -> Result<Option<Results<M::Output>>, ReplicationError> {
        check_steps(MOST_STEPS, self.options.max_steps)?;
        let points = points(&self.model, &self.schema, params, experiment, &replications)?;
        let Some(mut watch) = watch else {
            return self.make(&points, experiment, replications).map(Some);
        };
        let (start, mut stopped) = (replications.start, false);
        let jobs = 8 * u32::try_from(rayon::current_num_threads()).unwrap_or(1);
        // Nothing in it waits.
        pollster::block_on(in_rounds(replications, experiment, jobs, async |round: Range<u32>| {
            if stopped {
                return Ok(None);
            }
            let ended = u64::from(round.end - start) * experiment.design.len() as u64;
            let results = self.make(&points, experiment, round)?;
            stopped = watch(ended).is_break();
            Ok(Some(results))
        }))
    }

    fn make(
        &self,
        points: &[M::Params],
        experiment: &Experiment,
        replications: Range<u32>,
    ) -> Result<Results<M::Output>, ReplicationError> {
        let (schema, max_steps) = (&self.schema, self.options.max_steps);
        let mut gathered = CollectedResults::new(schema, experiment.design.len(), replications.clone());
        let number = experiment.design.len() * replications.len();
        let jobs = Jobs { schema, points, experiment, replications, max_steps };
        let (outputs, outcomes) = gathered.next(number);
        let values = values_of::<M::Output>(schema.output.bytes).expect("its size was checked");
        let part = (number / (8 * rayon::current_num_threads())).clamp(1, PART);
        let parts = outputs.par_chunks_mut(part * values).zip(outcomes.par_chunks_mut(part));
        parts.enumerate().try_for_each_init(
            || match &self.functions {
                Functions::Wgsl(compiled) => Some(compiled.worker()),
                Functions::Rust(_) => None,
            },
            |worker, (number, (outputs, outcomes))| {
                let first = u32::try_from(number * part).expect("the jobs were counted");
                match (&self.functions, worker) {
                    (Functions::Wgsl(compiled), Some(worker)) => {
                        compiled.replicate(worker, &jobs, first, outputs, outcomes)
                    }
                    (Functions::Wgsl(_), None) => unreachable!("it was made"),
                    (Functions::Rust(replicate), _) => {
                        replicate(&self.model, &jobs, first, outputs, outcomes);
                        Ok(())
                    }
                }
            },
        )?;
        gathered.take(number);
        Results::new(&self.model, schema, points, experiment, gathered)
    }
}

impl<M: Model> std::fmt::Debug for CpuEngine<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuEngine").field("options", &self.options).finish_non_exhaustive()
    }
}
