//! What the engine on the CPU runs: the reference implementation of a model, or the model's WGSL.

use std::ops::Range;

use bytemuck::Zeroable;

use super::results::ReplicationEnd;
use super::{Experiment, Fail, Model, ReferenceModel, ReplicationError, Schema};
use crate::gpu::is_words;
use crate::random::Stream;

/// A model that [`CpuEngine`](super::CpuEngine) runs: one with a reference implementation in Rust
/// ([`ReferenceModel`]), or any model from its WGSL ([`NativeModel`](super::NativeModel)).
///
/// Only the library implements it.
pub trait Executable: Model + Sync + Sized {
    /// The memory of one core.
    #[doc(hidden)]
    type Worker;

    /// Refuses a model that cannot run on the CPU.
    #[doc(hidden)]
    fn check_executable(&self) -> Result<(), ReplicationError>;

    /// Memory for replications of these jobs.
    #[doc(hidden)]
    fn worker(&self, jobs: &Jobs<'_, Self::Params>) -> Self::Worker;

    /// Runs consecutive jobs from `first` on, one for each row of `outcomes`: (status, code) as in
    /// `shaders/replication/job.wgsl`. All are zero before.
    #[doc(hidden)]
    fn replicate(
        &self,
        worker: &mut Self::Worker,
        jobs: &Jobs<'_, Self::Params>,
        first: u32,
        outputs: &mut [Self::Output],
        outcomes: &mut [[u32; 2]],
    ) -> Result<(), ReplicationError>;
}

/// The replications of an experiment's points, numbered point by point.
#[derive(Debug, Clone)]
pub struct Jobs<'j, P> {
    pub(super) schema: &'j Schema,
    /// Those of one point are one value, or all their [`Word`](crate::gpu::Word)s.
    pub(super) points: &'j [P],
    pub(super) experiment: &'j Experiment,
    pub(super) replications: Range<u32>,
    pub(super) max_steps: u32,
}

impl<M: ReferenceModel + Sync> Executable for M {
    type Worker = ();

    fn check_executable(&self) -> Result<(), ReplicationError> {
        match is_words::<M::Params>() || is_words::<M::Output>() {
            true => Err(ReplicationError::NoReference { file: self.source().name().to_owned() }),
            false => Ok(()),
        }
    }

    fn worker(&self, _: &Jobs<'_, M::Params>) {}

    fn replicate(
        &self,
        (): &mut (),
        jobs: &Jobs<'_, M::Params>,
        first: u32,
        outputs: &mut [M::Output],
        outcomes: &mut [[u32; 2]],
    ) -> Result<(), ReplicationError> {
        let Jobs { points, experiment, replications, max_steps, .. } = jobs;
        let per_point = replications.end - replications.start;
        for ((job, output), outcome) in (first..).zip(outputs).zip(outcomes) {
            let (point, replication) = (job / per_point, replications.start + job % per_point);
            let key = experiment.stream(point, replication);
            let stream = Stream::of_replication(experiment.seed, key.point, key.replication);
            let mut stream = if key.complement { stream.complement() } else { stream };
            let (made, ended) = simulate(self, &points[point as usize], &mut stream, *max_steps);
            (*output, *outcome) = (made, ended.to_words());
        }
        Ok(())
    }
}

/// Runs one replication of a reference implementation.
fn simulate<M: ReferenceModel>(
    model: &M,
    params: &M::Params,
    stream: &mut Stream,
    max_steps: u32,
) -> (M::Output, ReplicationEnd) {
    let failed = |Fail(code)| (M::Output::zeroed(), ReplicationEnd::Failed(code));
    let started = model.start(params, stream);
    stream.main();
    if stream.lost() {
        return (M::Output::zeroed(), ReplicationEnd::Exhausted);
    }
    let mut state = match started {
        Ok(state) => state,
        Err(fail) => return failed(fail),
    };
    for _ in 0..max_steps {
        let before = stream.position();
        let more = model.step(params, &mut state, stream);
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
            return match model.finish(params, &state) {
                Ok(output) => (output, ReplicationEnd::Done),
                Err(fail) => failed(fail),
            };
        }
    }
    (M::Output::zeroed(), ReplicationEnd::Endless)
}
