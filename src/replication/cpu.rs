//! The engine on the host: the reference for the device, and an engine without an adapter.

use std::ops::{ControlFlow, Range};

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::batch::check_steps;
use super::options::MOST_STEPS;
use super::results::{CollectedResults, ReplicationEnd, in_rounds, points};
use super::schema::Schema;
use super::{Experiment, Fail, Options, ReferenceModel, ReplicationError, Results};
use crate::gpu::is_words;
use crate::random::Stream;

/// Runs replications of a model's [`ReferenceModel`], each one from its start to its end, on all
/// cores.
#[derive(Debug)]
pub struct CpuEngine<M> {
    model: M,
    schema: Schema,
    options: Options,
}

impl<M: ReferenceModel + Sync> CpuEngine<M> {
    /// Reads the names of factors and columns from the model's WGSL; no device is needed.
    ///
    /// # Errors
    /// [`ReplicationError`] if the WGSL does not link or breaks the contract.
    pub fn new(model: M, options: Options) -> Result<Self, ReplicationError> {
        let schema = Schema::of(&model)?;
        if is_words::<M::Params>() || is_words::<M::Output>() {
            return Err(ReplicationError::NoReference { file: model.source().name().to_owned() });
        }
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
            let ended = u64::from(round.end - start) * points.len() as u64;
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
        let jobs = (0_u32..).zip(points).flat_map(|(number, point)| {
            replications.clone().map(move |replication| (number, point, replication))
        });
        let jobs: Vec<_> = jobs.collect();
        let mut gathered = CollectedResults::new(&self.schema, points.len(), replications);
        let (outputs, outcomes) = gathered.next(jobs.len());
        let places = outputs.par_iter_mut().zip(outcomes).zip(&jobs);
        places.for_each(|((output, outcome), &(number, point, replication))| {
            let key = experiment.stream(number, replication);
            let stream = Stream::of_replication(experiment.seed, key.point, key.replication);
            let mut stream = if key.complement { stream.complement() } else { stream };
            let (made, ended) = self.simulate(point, &mut stream);
            (*output, *outcome) = (made, ended.to_words());
        });
        gathered.take(jobs.len());
        Results::new(&self.model, &self.schema, points, experiment, gathered)
    }

    /// Runs one replication.
    fn simulate(&self, params: &M::Params, stream: &mut Stream) -> (M::Output, ReplicationEnd) {
        let failed = |Fail(code)| (M::Output::zeroed(), ReplicationEnd::Failed(code));
        let started = self.model.start(params, stream);
        stream.main();
        if stream.lost() {
            return (M::Output::zeroed(), ReplicationEnd::Exhausted);
        }
        let mut state = match started {
            Ok(state) => state,
            Err(fail) => return failed(fail),
        };
        for _ in 0..self.options.max_steps {
            let before = stream.position();
            let more = self.model.step(params, &mut state, stream);
            stream.main();
            // Checked first: results after the end of the stream are invalid.
            if stream.lost() || stream.position() < before {
                return (M::Output::zeroed(), ReplicationEnd::Exhausted);
            }
            let more = match more {
                Ok(more) => more,
                Err(fail) => return failed(fail),
            };
            if !more {
                return match self.model.finish(params, &state) {
                    Ok(output) => (output, ReplicationEnd::Done),
                    Err(fail) => failed(fail),
                };
            }
        }
        (M::Output::zeroed(), ReplicationEnd::Endless)
    }
}
