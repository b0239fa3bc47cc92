//! The results of a run of replications.

use std::ops::Range;
use std::time::Duration;

use bytemuck::Pod;
use rayon::prelude::*;
use web_time::Instant;

use super::structs::{columns, pack};
use super::{Experiment, Failure, FailureCause, Model, Observations, Pairing, ReplicationError, Schema};
use crate::gpu::{StructLayout, values_of};
use crate::random::mix;
use crate::statistics::{PARALLEL, Round, check_room};

/// The replications of an experiment's points, in the order of the points and, within each, of the
/// replications.
#[derive(Debug, Clone)]
pub struct Results<O> {
    /// By point, then by replication; zeros for a failed replication. (Words of a
    /// replication of a model that is loaded at run time are consecutive.)
    pub outputs: Vec<O>,
    /// By point: the fields of the outputs as named columns, derived columns, and the failures.
    pub observations: Vec<Observations>,
    /// A commutative sum over (point, replication, outcome, output): equal on every device and for
    /// every mapping. The fingerprint of consecutive ranges is the sum of theirs.
    pub fingerprint: u64,
}

shared! {
    "replication/job.wgsl":
    const JOB_DONE: u32;
    const JOB_FAILED: u32;
    const JOB_ENDLESS: u32;
    const JOB_EXHAUSTED: u32;
}

/// How a replication ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplicationEnd {
    Done,
    Failed(u32),
    Endless,
    Exhausted,
}

impl ReplicationEnd {
    /// From (status, code) as in `job_outcomes` of `shaders/replication/job.wgsl`.
    fn from_words([status, code]: [u32; 2]) -> Self {
        match status {
            JOB_DONE => Self::Done,
            JOB_FAILED => Self::Failed(code),
            JOB_ENDLESS => Self::Endless,
            JOB_EXHAUSTED => Self::Exhausted,
            _ => unreachable!("the engine waits until no replication is fresh or running"),
        }
    }

    pub(super) fn to_words(self) -> [u32; 2] {
        match self {
            Self::Done => [JOB_DONE, 0],
            Self::Failed(code) => [JOB_FAILED, code],
            Self::Endless => [JOB_ENDLESS, 0],
            Self::Exhausted => [JOB_EXHAUSTED, 0],
        }
    }

    fn cause(self) -> Option<FailureCause> {
        match self {
            Self::Done => None,
            Self::Failed(code) => Some(FailureCause::Code(code)),
            Self::Endless => Some(FailureCause::Endless),
            Self::Exhausted => Some(FailureCause::Exhausted),
        }
    }
}

/// The outputs of the jobs of a run, received in order, part by part.
#[derive(Debug)]
pub(super) struct CollectedResults<O> {
    replications: Range<u32>,
    /// Values of one output.
    values: usize,
    outputs: Vec<O>,
    /// (status, code) by job, as in [`ReplicationEnd::to_words`].
    outcomes: Vec<[u32; 2]>,
    /// Jobs received.
    taken: usize,
    failures: Vec<(usize, FailureCause)>,
    fingerprint: u64,
}

impl<O: Pod + Send + Sync> CollectedResults<O> {
    /// With room for `points` points, and without results.
    pub(super) fn new(schema: &Schema, points: usize, replications: Range<u32>) -> Self {
        let values = values_of::<O>(schema.output.bytes).expect("its size was checked");
        let jobs = points * replications.len();
        // Zeroed lazily by the system: the cores that copy are the first to write these pages.
        let (outputs, outcomes) = (bytemuck::zeroed_vec(jobs * values), bytemuck::zeroed_vec(jobs));
        Self { replications, values, outputs, outcomes, taken: 0, failures: Vec::new(), fingerprint: 0 }
    }

    /// The places of the outputs and the outcomes of the next jobs.
    pub(super) fn next(&mut self, jobs: usize) -> (&mut [O], &mut [[u32; 2]]) {
        let (first, end) = (self.taken, self.taken + jobs);
        (&mut self.outputs[first * self.values..end * self.values], &mut self.outcomes[first..end])
    }

    /// Receives the jobs written there: on all cores if there are many.
    pub(super) fn take(&mut self, jobs: usize) {
        /// Jobs per task of a core.
        const PART: usize = PARALLEL / 4;
        let (first, values, replications) = (self.taken, self.values, self.replications.clone());
        self.taken += jobs;
        let outputs = &mut self.outputs[first * values..self.taken * values];
        let outcomes = &self.outcomes[first..self.taken];
        let part = |from: usize, outputs: &mut [O], outcomes: &[[u32; 2]]| {
            let (mut failures, mut sum) = (Vec::new(), 0_u64);
            for (job, (output, &words)) in (from..).zip(outputs.chunks_exact_mut(values).zip(outcomes)) {
                if let Some(cause) = ReplicationEnd::from_words(words).cause() {
                    // The device's output is undefined here.
                    output.fill(O::zeroed());
                    failures.push((job, cause));
                }
                sum = sum.wrapping_add(row(job, &replications, words, bytemuck::cast_slice(output)));
            }
            (failures, sum)
        };
        let parts = match jobs <= PARALLEL {
            true => vec![part(first, outputs, outcomes)],
            false => {
                let outputs = outputs.par_chunks_mut(PART * values);
                let parts = outputs.zip(outcomes.par_chunks(PART)).enumerate();
                parts
                    .map(|(number, (outputs, outcomes))| part(first + number * PART, outputs, outcomes))
                    .collect()
            }
        };
        for (failures, sum) in parts {
            self.failures.extend(failures);
            self.fingerprint = self.fingerprint.wrapping_add(sum);
        }
    }
}

impl<O: Pod + Send + Sync> Results<O> {
    /// Sorts the outputs of the jobs by point.
    pub(super) fn new<M: Model<Output = O>>(
        model: &M,
        schema: &Schema,
        points: &[M::Params],
        experiment: &Experiment,
        gathered: CollectedResults<O>,
    ) -> Result<Self, ReplicationError> {
        let CollectedResults { replications, values, outputs, failures, fingerprint, .. } = gathered;
        let per_point = replications.len();
        let mut failures = failures.into_iter().peekable();
        let mut observations = Vec::with_capacity(experiment.design.len());
        let jobs = outputs.chunks_exact(per_point * values).zip(by_point(points, &schema.params));
        for (first, (outputs, params)) in (0..).step_by(per_point).zip(jobs) {
            let own = std::iter::from_fn(|| failures.next_if(|(job, _)| *job < first + per_point));
            let own = own.map(|(job, cause)| Failure { replication: (job - first) as u64, cause });
            let columns = columns(&schema.output, bytemuck::cast_slice(outputs), per_point)?;
            let mut seen = Observations::new(per_point, columns, own, experiment.pairing)?;
            model.derive(params, &mut seen)?;
            observations.push(seen);
        }
        Ok(Self { outputs, observations, fingerprint })
    }
}

impl<O: Clone> Results<O> {
    /// Appends the replications that follow these.
    pub(super) fn append(&mut self, more: Self) -> Result<(), ReplicationError> {
        let points = self.observations.len();
        let [old, new] = [&self.outputs, &more.outputs].map(|outputs| outputs.len() / points);
        let each = self.outputs.chunks_exact(old).zip(more.outputs.chunks_exact(new));
        self.outputs = each.flat_map(|(old, new)| [old, new].concat()).collect();
        for (known, new) in self.observations.iter_mut().zip(more.observations) {
            known.append(new)?;
        }
        self.fingerprint = self.fingerprint.wrapping_add(more.fingerprint);
        Ok(())
    }
}

/// A watched run goes in rounds: stopping ends a round, and the results are those of the rounds
/// before it. Rounds grow to this length.
const ROUND_LASTS: Duration = Duration::from_millis(500);

/// Runs the replications of a range in rounds by `run`, the first with about `jobs` jobs; `None` if
/// it is stopped in the first round.
pub(super) async fn in_rounds<O: Clone>(
    replications: Range<u32>,
    experiment: &Experiment,
    jobs: u32,
    mut run: impl AsyncFnMut(Range<u32>) -> Result<Option<Results<O>>, ReplicationError>,
) -> Result<Option<Results<O>>, ReplicationError> {
    let points = u32::try_from(experiment.design.len()).unwrap_or(u32::MAX);
    let mut all: Option<Results<O>> = None;
    // An even number, for antithetic pairs.
    let (mut first, mut round) = (replications.start, (jobs / points).max(2) & !1);
    loop {
        // No small remainder at the end, for which a trial might choose another mapping.
        let left = replications.end - first;
        let end = if left / 2 < round { replications.end } else { first + round };
        let begun = Instant::now();
        let Some(some) = run(first..end).await? else { return Ok(all) };
        match &mut all {
            None => all = Some(some),
            Some(all) => all.append(some)?,
        }
        if end == replications.end {
            return Ok(all);
        }
        first = end;
        if begun.elapsed() < ROUND_LASTS {
            round = round.saturating_mul(4) & !1;
        }
    }
}

/// The round for [`Sequential`](super::Sequential) from replications that begin with `first`; an
/// error if a watcher stopped them before there were any.
pub(super) fn some<O>(results: Option<Results<O>>, first: u32) -> Result<Option<Round>, ReplicationError> {
    match results {
        Some(Results { observations, fingerprint, .. }) => {
            let events = observations.iter().map(|point| point.replications() as u64).sum();
            Ok(Some(Round { observations, fingerprint, events }))
        }
        None if first > 0 => Ok(None),
        None => Err(ReplicationError::Stopped),
    }
}

/// The parameters of each point as the model gets them: all, or the first word of them.
fn by_point<'p, P: Pod>(points: &'p [P], layout: &StructLayout) -> impl Iterator<Item = &'p P> {
    points.iter().step_by(values_of::<P>(layout.bytes).expect("its size was checked"))
}

/// Checks an experiment for the engines, and packs its points.
pub(super) fn points<M: Model>(
    model: &M,
    schema: &Schema,
    params: &M::Params,
    experiment: &Experiment,
    replications: &Range<u32>,
) -> Result<Vec<M::Params>, ReplicationError> {
    let count = replications.end.saturating_sub(replications.start);
    let part = Experiment { replications: count, ..experiment.clone() };
    part.check()?;
    if experiment.pairing == Pairing::Antithetic && replications.start % 2 == 1 {
        return Err(super::AnalysisError::Odd { replications: replications.start.into() }.into());
    }
    let bytes = pack(&experiment.design, &schema.params, Some(&model.params_bytes(params)))?;
    let points: Vec<M::Params> = bytemuck::pod_collect_to_vec(&bytes);
    for (point, params) in by_point(&points, &schema.params).enumerate() {
        model.check(params).map_err(|reason| ReplicationError::Point { point, reason })?;
    }
    let number = experiment.design.len();
    let jobs = (number as u64).checked_mul(count.into());
    if jobs.is_none_or(|jobs| jobs > u32::MAX.into()) {
        return Err(super::AnalysisError::TooMany { points: number, replications: count }.into());
    }
    // Outputs, outcomes, columns of both, and derived columns.
    check_room(number, count, 2 * schema.output.bytes as usize + 32)?;
    Ok(points)
}

/// The row of a job in a fingerprint: the point and the number of a replication, its outcome, and
/// its output.
fn row(job: usize, replications: &Range<u32>, ended: [u32; 2], output: &[u8]) -> u64 {
    /// Separates these rows from those of other modules' fingerprints: "repl".
    const KIND: u32 = 0x7265_706c;
    let job = u32::try_from(job).expect("the jobs were counted");
    let per_point = replications.end - replications.start;
    let (point, replication) = (job / per_point, replications.start + job % per_point);
    let words = output.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
    mix(KIND, [point, replication].into_iter().chain(ended).chain(words))
}
