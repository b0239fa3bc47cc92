//! The engine on the host: the reference for the device, and an engine without an adapter.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use super::batch::check_steps;
use super::executable::{Executable, Jobs};
use super::options::MOST_STEPS;
use super::results::{CollectedResults, in_rounds, points};
use super::schema::Schema;
use super::{Experiment, Options, ReplicationError, Results};
use crate::gpu::values_of;

/// Jobs that a core runs at once, at most.
const PART: usize = 64;

/// Runs replications of a model on all cores, each one from its start to its end. The model has a
/// reference implementation ([`ReferenceModel`](super::ReferenceModel)), or is run from its WGSL
/// ([`NativeModel`](super::NativeModel)).
#[derive(Debug)]
pub struct CpuEngine<M> {
    model: M,
    schema: Schema,
    options: Options,
}

impl<M: Executable> CpuEngine<M> {
    /// Reads the names of factors and columns from the model's WGSL; no device is needed.
    ///
    /// # Errors
    /// [`ReplicationError`] if the WGSL does not link or breaks the contract.
    pub fn new(model: M, options: Options) -> Result<Self, ReplicationError> {
        let schema = Schema::of(&model)?;
        model.check_executable()?;
        Ok(Self { model, schema, options })
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
            || self.model.worker(&jobs),
            |worker, (number, (outputs, outcomes))| {
                let first = u32::try_from(number * part).expect("the jobs were counted");
                self.model.replicate(worker, &jobs, first, outputs, outcomes)
            },
        )?;
        gathered.take(number);
        Results::new(&self.model, schema, points, experiment, gathered)
    }
}
