//! Replications of models in Rust.

use bytemuck::Zeroable;

use super::jobs::Jobs;
use super::results::ReplicationEnd;
use super::{Fail, ReferenceModel, ReplicationError};
use crate::gpu::is_words;
use crate::random::Stream;

/// Refuses a model whose types Rust does not know.
pub(super) fn check_types<M: ReferenceModel>(model: &M) -> Result<(), ReplicationError> {
    match is_words::<M::Params>() || is_words::<M::Output>() {
        true => Err(ReplicationError::NoReference { file: model.source().name().to_owned() }),
        false => Ok(()),
    }
}

/// Runs consecutive jobs from `first` on, one for each row of `outcomes`: (status, code) as in
/// `shaders/replication/job.wgsl`. All are zero before.
pub(super) fn replicate<M: ReferenceModel>(
    model: &M,
    jobs: &Jobs<'_, M::Params>,
    first: u32,
    outputs: &mut [M::Output],
    outcomes: &mut [[u32; 2]],
) {
    let Jobs { points, experiment, replications, max_steps, .. } = jobs;
    let per_point = replications.end - replications.start;
    for ((job, output), outcome) in (first..).zip(outputs).zip(outcomes) {
        let (point, replication) = (job / per_point, replications.start + job % per_point);
        let key = experiment.stream(point, replication);
        let stream = Stream::of_replication(experiment.seed, key.point, key.replication);
        let mut stream = if key.complement { stream.complement() } else { stream };
        let (made, ended) = simulate(model, &points[point as usize], &mut stream, *max_steps);
        (*output, *outcome) = (made, ended.to_words());
    }
}

/// Runs one replication.
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
