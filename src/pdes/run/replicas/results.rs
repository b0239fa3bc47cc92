//! The results of an experiment's runs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytemuck::Pod;
use rayon::prelude::*;

use crate::gpu::{Buffer, Gpu, Kernel, Plan};
use crate::random::mix;
use crate::statistics::{Column, Failure, FailureCause, Observations, Pairing, Values};
use crate::time::Ticks;

use super::cores::{Reports, on_cores};
use super::mapping::plain_group;
use super::memory::{Job, Memory, rows_of};
use super::options::EngineOptions;
use crate::pdes::contract::error::{Fault, FaultKind, SimulationError};
use crate::pdes::contract::output::Columns;
use crate::pdes::device::cut::group_size_at_most;
use crate::pdes::device::dispatch::Part;
use crate::pdes::device::memory::Run;
use crate::pdes::device::recipes;
use crate::pdes::device::results::{CHUNK, Reduction};
use crate::pdes::sequential::functions::MakeFunctions;
use crate::pdes::{
    CpuSimulation, Fingerprint, Mapping, Model, Number, Options, Outputs, Progress, Stop, Totals, Until,
};

/// The result of each job.
pub(crate) type Runs<O> = Vec<Result<RunResult<O>, Fault>>;

/// The result of a run of an experiment; `O` is the model's [`Model::Output`].
#[derive(Clone)]
pub struct RunResult<O = ()> {
    /// The progress at its end.
    pub progress: Progress,
    /// The same fingerprint as for a single run.
    pub fingerprint: Fingerprint,
    /// The totals of the model's results over its LPs, for a model with results.
    pub totals: Option<Totals>,
    /// Instead of the totals, the results themselves, if requested:
    /// [`EngineOptions::outputs`](super::EngineOptions::outputs).
    pub outputs: Option<Outputs<O>>,
    /// The requested rows of LP memory, by LP:
    /// [`EngineOptions::memory`](super::EngineOptions::memory).
    pub memory: Vec<[u32; 4]>,
}

impl<O> std::fmt::Debug for RunResult<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunResult")
            .field("progress", &self.progress)
            .field("fingerprint", &self.fingerprint)
            .field("totals", &self.totals)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

/// The runs of an experiment's points, in the order of the points and, within each, of the
/// replications.
#[derive(Clone)]
pub struct Results<O = ()> {
    /// By point, then by replication: the result of the run, or the fault that ended it.
    pub runs: Vec<Vec<Result<RunResult<O>, Fault>>>,
    /// By point, as named columns: the sums of the model's result columns over the LPs (if they
    /// have sums), the [`Model::measures`] of the totals, the executed `events`, and the failures.
    /// (If the results of each LP were requested, there are no sums and measures.)
    pub observations: Vec<Observations>,
    /// A commutative sum over (point, replication, fingerprint or fault): equal on every device and
    /// for every mapping.
    pub fingerprint: u64,
    /// The mapping of the runs. (Runs on the host have none.)
    pub mapping: Mapping,
}

// Outputs need not be `Debug`, because they are printed as rows.
impl<O> std::fmt::Debug for Results<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results")
            .field("runs", &self.runs)
            .field("observations", &self.observations)
            .field("fingerprint", &self.fingerprint)
            .field("mapping", &self.mapping)
            .finish()
    }
}

impl<O: Pod> Results<O> {
    /// Sorts the results of jobs by point. They are in the order of the replications, from `first`
    /// on, and, within each, of the points. An incomplete last replication is left out.
    pub(super) fn new<M: Model<Output = O>>(
        models: &[M],
        columns: Option<&Columns>,
        first: u32,
        runs: Runs<O>,
        mapping: Mapping,
    ) -> Result<Self, SimulationError> {
        let replications = runs.len() / models.len();
        if replications == 0 {
            return Err(SimulationError::Stopped);
        }
        let mut by_point: Vec<Vec<_>> = models.iter().map(|_| Vec::with_capacity(replications)).collect();
        for (number, run) in runs.into_iter().take(replications * models.len()).enumerate() {
            by_point[number % models.len()].push(run);
        }
        let runs = by_point;
        let mut fingerprint = 0_u64;
        for (point, runs) in (0..).zip(&runs) {
            for (number, run) in (first..).zip(runs) {
                fingerprint = fingerprint.wrapping_add(fingerprint_row(
                    point,
                    number,
                    run.as_ref().map(|ran| ran.fingerprint),
                ));
            }
        }
        let observations = models.iter().zip(&runs).map(|(model, runs)| observations(model, columns, runs));
        let mut observations = observations.collect::<Result<Vec<_>, _>>()?;
        // The columns are known from completed runs.
        if let Some(reported) = observations.iter().find(|point| !point.all_failed()).cloned() {
            observations
                .iter_mut()
                .filter(|point| point.all_failed())
                .for_each(|point| point.shape_as(&reported));
        }
        Ok(Self { observations, runs, fingerprint, mapping })
    }
}

/// The row of a run in the fingerprint.
pub(crate) fn fingerprint_row(point: u32, replication: u32, run: Result<Fingerprint, &Fault>) -> u64 {
    /// Distinguishes these rows from those in other modules' fingerprints: "pdes".
    const KIND: u32 = 0x7064_6573;
    let words = match run {
        Ok(Fingerprint(fingerprint)) => {
            let [low, high] = Ticks::new(fingerprint).to_words();
            [0, 0, low, high]
        }
        Err(fault) => {
            let kind = fault.kind.number().map_or(0, |kind| u32::try_from(kind).expect("a small number"));
            [1, fault.lp, kind, 0]
        }
    };
    mix(KIND, [point, replication].into_iter().chain(words))
}

/// The replications of a point as named columns.
fn observations<M: Model>(
    model: &M,
    columns: Option<&Columns>,
    runs: &[Result<RunResult<M::Output>, Fault>],
) -> Result<Observations, SimulationError> {
    let failed = (0..).zip(runs).filter_map(|(replication, run)| {
        let fault = run.as_ref().err()?;
        Some(Failure {
            replication,
            cause: FailureCause::Fault { kind: fault.kind.to_string(), lp: fault.lp },
        })
    });
    let mut named: Vec<Column> = Vec::new();
    // If the results of each LP were requested, there are no sums.
    let columns = columns.filter(|_| !runs.iter().flatten().any(|ran| ran.outputs.is_some()));
    for name in columns.iter().flat_map(|columns| &columns.names) {
        if let Some(values) = sums(runs, name)? {
            named.push(Column { name: name.to_string(), values });
        }
    }
    let summed: Vec<String> = named.iter().map(|column| column.name.clone()).collect();
    let measured: Vec<_> =
        runs.iter().map(|run| totals_of(run).map(|totals| model.measures(totals))).collect();
    let names: Vec<_> = measured.iter().flatten().flatten().map(|(name, _)| name).collect();
    let mut seen = Vec::new();
    for name in names {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let values = measured.iter().map(|measures| {
            let found = measures.iter().flatten().find(|(found, _)| found == name);
            match measures {
                None => 0.0,
                Some(_) => found.map_or(f64::NAN, |(_, value)| *value),
            }
        });
        named.push(Column { name: name.to_string(), values: Values::F64(values.collect()) });
    }
    let counted = named.iter().any(|column| column.name == "events");
    let mut observations =
        Observations::new(runs.len(), named, failed.collect::<Vec<_>>(), Pairing::Independent)?;
    if !seen.is_empty() {
        // The measures have the same values in the units of the model's users.
        observations.hide(&summed.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    // Derived columns depend on measures.
    if measured.iter().any(Option::is_some) {
        model.derive(&mut observations)?;
    }
    if !counted {
        let events = runs.iter().map(|run| run.as_ref().map_or(0, |ran| ran.progress.events));
        observations.push(Column { name: "events".to_owned(), values: Values::U64(events.collect()) })?;
    }
    Ok(observations)
}

fn totals_of<O>(run: &Result<RunResult<O>, Fault>) -> Option<&Totals> {
    run.as_ref().ok().and_then(|ran| ran.totals.as_ref())
}

/// The sums of a column by run, 0 for a failed run: integers if all are below 2^64. `None` for a
/// column without sums.
fn sums<O>(runs: &[Result<RunResult<O>, Fault>], name: &str) -> Result<Option<Values>, SimulationError> {
    // `None`: too large for any number type.
    let mut found = Vec::with_capacity(runs.len());
    for run in runs {
        let sum = totals_of(run).map_or(Ok(Number::Unsigned(0)), |totals| totals.column(name)?.sum());
        match sum {
            Ok(sum) => found.push(Some(sum)),
            Err(SimulationError::SumOverflow { .. }) => found.push(None),
            Err(SimulationError::NoSum { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let integer = |sum: &Option<Number>| match sum {
        Some(Number::Unsigned(sum)) => u64::try_from(*sum).ok(),
        _ => None,
    };
    let real = |sum: &Option<Number>| sum.map_or(f64::INFINITY, Number::to_f64);
    let integers: Option<Vec<u64>> = found.iter().map(integer).collect();
    Ok(Some(integers.map_or_else(|| Values::F64(found.iter().map(real).collect()), Values::U64)))
}

/// The time of the results.
pub(super) fn at(until: Until) -> Result<Ticks, SimulationError> {
    match until.time {
        Ticks::NEVER => Err(SimulationError::NoEnd),
        time => Ok(time),
    }
}

/// Separates a fault of the run from an error that ends the experiment.
pub(super) fn fault_apart<O>(
    run: Result<RunResult<O>, SimulationError>,
) -> Result<Result<RunResult<O>, Fault>, SimulationError> {
    match run {
        Ok(ran) => Ok(Ok(ran)),
        Err(SimulationError::Fault(fault) | SimulationError::Cycle { fault, .. }) => Ok(Err(fault)),
        Err(error) => Err(error),
    }
}

/// Executes the runs on the host, one per core at a time; only the first ones, if `watch` stops
/// them.
pub(super) fn on_cpu<M: Model + Sync>(
    (models, functions): (&[M], &MakeFunctions<M>),
    columns: Option<&Arc<Columns>>,
    jobs: &[Job],
    seed: u64,
    until: Until,
    options: EngineOptions,
    watch: &mut (impl FnMut(usize, u64) -> ControlFlow<()> + Send),
) -> Result<Runs<M::Output>, SimulationError> {
    let make = |(): &mut (), job: &Job, reports: &Reports<'_>| {
        let model = &models[job.point as usize];
        let mut before = 0;
        let options_of_run = Options::default().seed(seed).replica(job.replica);
        let made =
            CpuSimulation::begin(model, functions.clone(), options_of_run).and_then(|mut simulation| {
                let watch = |progress: &Progress| {
                    reports.add(0, progress.events - before);
                    before = progress.events;
                    reports.flow()
                };
                let progress = simulation.until(until).watch(watch).run()?;
                if progress.stop == Some(Stop::Watcher) {
                    return Err(SimulationError::Stopped);
                }
                reports.add(1, progress.events - before);
                let outputs = match columns {
                    Some(columns) => Some(simulation.outputs_in(at(until)?, columns.clone())?),
                    None => None,
                };
                let totals = match &outputs {
                    Some(outputs) if !options.outputs => Some(outputs.totals(None)?),
                    _ => None,
                };
                let outputs = outputs.filter(|_| options.outputs);
                let memory = rows_of(simulation.memory(), model.lps(), options.memory);
                Ok(RunResult { progress, fingerprint: simulation.fingerprint(), totals, outputs, memory })
            });
        fault_apart(made)
    };
    on_cores(jobs, watch, || (), make)
}

/// The totals or the results of a run.
pub(super) type RunOutput<O> = (Option<Totals>, Option<Outputs<O>>);

/// The totals of each replica of a batch, or the results of its LPs if `rows_wanted`.
#[expect(clippy::too_many_arguments, reason = "called once")]
pub(super) async fn totals<M: Model>(
    gpu: &Gpu,
    memory: &Memory<M::State, M::Payload>,
    output: &Kernel,
    bound: &[(&'static str, wgpu::BindingResource<'_>)],
    run: &Run,
    columns: &Arc<Columns>,
    at: Ticks,
    rows_wanted: bool,
) -> Result<Vec<RunOutput<M::Output>>, SimulationError> {
    let group_size = plain_group(gpu);
    let kernel = recipes::totals("totals", group_size_at_most(gpu, 64));
    let reduction = Reduction::new(gpu, columns, &kernel)?;
    // Whole workgroups of rows with outputs that fit a binding.
    let fitting = gpu.max_buffer_bytes() / u64::from(columns.bytes.max(8));
    let whole = u32::try_from(fitting).unwrap_or(u32::MAX) / group_size * group_size;
    let most = if u64::from(run.rows) <= fitting { run.rows } else { whole };
    let values = columns.values::<M::Output>();
    let outputs = Buffer::<M::Output>::storage(gpu, "outputs", u64::from(most) * values)?;
    let bound = [bound, &[("outputs", outputs.binding())]].concat();
    let mut found = BTreeMap::new();
    let mut kept: Vec<M::Output> = Vec::new();
    for first in (0..run.rows).step_by(most as usize) {
        let rows = most.min(run.rows - first);
        memory.write_run(
            gpu,
            &Run { until: at, part: Part { others_first: first, others_rows: rows, ..run.part }, ..*run },
        )?;
        let mut plan = Plan::new("outputs");
        plan.dispatch(gpu, output, rows.div_ceil(group_size), &bound)?;
        plan.submit(gpu)?;
        if rows_wanted {
            let read = outputs.read_range(gpu, 0, u64::from(rows) * values).await?;
            // The first block is moved, not copied: most batches fit one, and new memory is slow to
            // allocate.
            if kept.is_empty() {
                kept = read;
            } else {
                kept.extend(read);
            }
            continue;
        }
        // Chunks of rows, each of one replica.
        let mut chunks = Vec::new();
        let mut row = first;
        while row < first + rows {
            let end = (row / run.total + 1).saturating_mul(run.total).min(first + rows);
            let end = end.min(row + u32::try_from(CHUNK).expect("a small number"));
            chunks.push((row / run.total, row - first, end - row));
            row = end;
        }
        if let Some(place) = reduction.of_rows(gpu, &outputs, rows, &chunks, &mut found).await? {
            let lp = (first + place) % run.total;
            return Err(SimulationError::Output { kind: FaultKind::LoopsCut, lp });
        }
    }
    memory.write_run(gpu, run)?;
    if rows_wanted {
        let of = |rows: &[M::Output]| {
            let columns = columns.clone();
            (None, Some(Outputs { at, first_lp: 0, rows: rows.to_vec(), columns }))
        };
        let each = kept.len() / run.groups as usize;
        return Ok(kept.par_chunks(each).map(of).collect());
    }
    let of = |taken| (Some(Totals::of(at, columns, &BTreeMap::from([(None, taken)]))), None);
    Ok(found.into_values().map(of).collect())
}
