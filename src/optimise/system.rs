//! What makes the replications of a search: a network, or a process model.

use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};

use crate::Backend;
use crate::facility::{self, FacilityError, NetworkDescription, PointRun, Share};
use crate::pdes::EngineOptions;
use crate::process::{self, CompiledProcess, NetworkForm, ProcessError, ProcessModel};
use crate::statistics::{Column, Design, Observations, Pairing, Value, Values};

use super::error::OptimiseError;
use super::expression::{Columns, Expression, unwritten};
use super::range::NumberRange;

/// What all replications of a search have.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub(super) ranges: &'t [NumberRange],
    /// The end of each replication, and that of its warm-up.
    pub(super) times: [f64; 2],
    pub(super) seed: u64,
    pub(super) level: f64,
}

/// Stands for points without a steady state: larger than any measure, and larger for larger loads.
const UNSTABLE: f64 = 1e12;

/// The most points of a process model: its program has all of them as data.
const MOST_POINTS: u64 = 100_000;

/// The makers of replications.
pub(super) enum System {
    Network {
        description: NetworkDescription,
        compiled: HashMap<Vec<i64>, Result<NetworkForm, f64>>,
        study: facility::Study,
        columns: Columns,
    },
    Process {
        compiled: Box<CompiledProcess>,
        study: process::Study,
        /// The point of the design at places.
        points: BTreeMap<Vec<i64>, usize>,
        /// Points at which too many entities are there, by how soon.
        full: HashMap<Vec<i64>, f64>,
    },
}

fn several(path: &str) -> OptimiseError {
    OptimiseError::invalid(format!("{path} has several values: give it a range or one value"))
}

impl System {
    pub(super) fn network(
        task: Task<'_>,
        mut description: NetworkDescription,
    ) -> Result<Self, OptimiseError> {
        let design = description.design()?;
        let is_searched = |path: &str| task.ranges.iter().any(|range| range.path == path);
        if let Some(path) = design.factors().iter().find(|factor| !is_searched(factor)) {
            return Err(several(path));
        }
        for range in task.ranges {
            // Each path is tried before the search.
            description.set(&format!("{}={}", range.path, range.value(*range.places().start())))?;
        }
        let [until, warm_up] = task.times;
        let study = facility::Study::new(1, until, warm_up).seed(task.seed).level(task.level);
        let columns = Columns::of_file(&description)?;
        Ok(Self::Network { description, compiled: HashMap::new(), study, columns })
    }

    pub(super) fn process(task: Task<'_>, mut model: ProcessModel) -> Result<Self, OptimiseError> {
        let ranges = task.ranges;
        let mut counts =
            ranges.iter().map(|range| range.places().end().abs_diff(*range.places().start()) + 1);
        let count = counts.try_fold(1_u64, |all, count| all.checked_mul(count));
        if count.is_none_or(|count| count > MOST_POINTS) {
            return Err(OptimiseError::invalid(format!(
                "the ranges have more than {MOST_POINTS} combinations: choose shorter ones"
            )));
        }
        model.paired = false;
        for range in ranges {
            let values: Vec<String> = range.places().map(|place| range.value(place).to_string()).collect();
            model.set(&format!("{}={}", range.path, values.join(",")))?;
        }
        let is_searched = |name: &str| ranges.iter().any(|range| range.path == name);
        let open = model.parameters.iter().find(|(name, of)| of.values.len() > 1 && !is_searched(name));
        if let Some((name, _)) = open {
            return Err(several(name));
        }
        let [until, warm_up] = task.times;
        (model.until, model.warm_up) = (Some(until), Some(warm_up));
        let compiled = model.compile()?;
        let design = compiled.design();
        let at = |point: usize| {
            let places = ranges.iter().map(|range| {
                let level = design.point(point).level(&range.path);
                level.and_then(|level| range.place_of(level.as_f64())).unwrap_or(*range.places().start())
            });
            (places.collect(), point)
        };
        let points = (0..design.len()).map(at).collect();
        let study = process::Study::new(1, until, warm_up).seed(task.seed);
        Ok(Self::Process { compiled: Box::new(compiled), study, points, full: HashMap::new() })
    }

    /// The expressions without names of the file's own columns, whose shares become measures.
    pub(super) fn expanded(
        &mut self,
        objective: &Expression,
        bounds: &[Expression],
    ) -> Result<(Expression, Vec<Expression>), OptimiseError> {
        let Self::Network { columns, .. } = self else { return Ok((objective.clone(), bounds.to_vec())) };
        let objective = columns.expanded(objective)?;
        Ok((objective, bounds.iter().map(|bound| columns.expanded(bound)).collect::<Result<_, _>>()?))
    }

    /// The number in the description, where the search begins.
    pub(super) fn written(&self, path: &str) -> Option<f64> {
        match self {
            Self::Network { description, .. } => Some(description.value(path)?.as_f64()),
            Self::Process { .. } => None,
        }
    }

    /// The load of a point that was not simulated, because its lines grow without end.
    pub(super) fn load(&self, at: &[i64]) -> Option<f64> {
        match self {
            Self::Network { compiled, .. } => compiled.get(at)?.as_ref().err().copied(),
            Self::Process { full, .. } => full.get(at).copied(),
        }
    }

    /// Makes the same replications of points, with the columns of the search.
    pub(super) fn observe(
        &mut self,
        ranges: &[NumberRange],
        points: &[Vec<i64>],
        range: Range<u32>,
        columns: &[(&str, &Expression)],
        backend: Backend<'_>,
    ) -> Result<Vec<Observations>, OptimiseError> {
        match self {
            Self::Process { compiled, study, points: numbers, full } => {
                let run = |at: &[Vec<i64>]| {
                    let numbers: Vec<usize> = at.iter().map(|at| numbers[at]).collect();
                    compiled.study(study).backend(backend).observe(&numbers, range.clone())
                };
                let made =
                    if points.iter().any(|at| full.contains_key(at)) { None } else { Some(run(points)) };
                if let Some(Ok(made)) = made {
                    let with_columns = |(at, mut made): (&Vec<i64>, Observations)| {
                        add_columns(&mut made, columns, At { ranges, places: at }, &|_| None)?;
                        Ok(made)
                    };
                    return points.iter().zip(made).map(with_columns).collect();
                }
                if let Some(Err(error)) = made
                    && !matches!(error, ProcessError::Full(_))
                {
                    return Err(error.into());
                }
                // Entities enter faster than they leave at some of the points.
                let mut all = Vec::with_capacity(points.len());
                for at in points {
                    if let Some(load) = full.get(at) {
                        all.push(unstable(*load, range.len(), columns)?);
                        continue;
                    }
                    all.push(match run(std::slice::from_ref(at)) {
                        Ok(mut made) => {
                            let mut made = made.swap_remove(0);
                            add_columns(&mut made, columns, At { ranges, places: at }, &|_| None)?;
                            made
                        }
                        // Instead of what was made of it before, too.
                        Err(ProcessError::Full(found)) => {
                            let load = study.until / found.time;
                            full.insert(at.clone(), load);
                            unstable(load, range.end as usize, columns)?
                        }
                        Err(error) => return Err(error.into()),
                    });
                }
                Ok(all)
            }
            Self::Network { description, compiled, study, columns: own } => {
                let study = study.replications(range.end);
                let mut all = Vec::with_capacity(points.len());
                for places in points {
                    let at = At { ranges, places };
                    if !compiled.contains_key(places) {
                        let made = compile(description, at, &study, &own.shares)?;
                        compiled.insert(places.clone(), made);
                    }
                    let form = match &compiled[places] {
                        Ok(form) => form,
                        Err(load) => {
                            all.push(unstable(*load, range.len(), columns)?);
                            continue;
                        }
                    };
                    let options = EngineOptions::default();
                    let run = PointRun { shares: &own.shares, backend, options, first: range.start };
                    let report = form.run(&study, run, &mut |_, _| ControlFlow::Continue(()));
                    let mut made = report.map_err(|error| at.named(error))?.observations()?;
                    let written = |path: &str| description.changed_value(path).map(Value::as_f64);
                    add_columns(&mut made, columns, at, &written)?;
                    all.push(made);
                }
                Ok(all)
            }
        }
    }
}

/// A point: the places of its numbers in their ranges.
#[derive(Clone, Copy)]
struct At<'a> {
    ranges: &'a [NumberRange],
    places: &'a [i64],
}

impl At<'_> {
    fn levels(&self) -> impl Iterator<Item = (&str, Value)> {
        self.ranges.iter().zip(self.places).map(|(range, place)| (&*range.path, range.value(*place)))
    }

    fn describe(&self) -> String {
        self.levels().map(|(path, level)| format!("{path}={level}")).collect::<Vec<_>>().join(" ")
    }

    fn named(&self, source: FacilityError) -> FacilityError {
        FacilityError::Point { point: self.describe(), source: Box::new(source) }
    }
}

/// The network at a point, or its load if it has no steady state.
fn compile(
    description: &NetworkDescription,
    at: At<'_>,
    study: &facility::Study,
    shares: &[Share],
) -> Result<Result<NetworkForm, f64>, OptimiseError> {
    let design = at
        .levels()
        .try_fold(Design::default(), |design, (path, level)| design.cross_values(path, [level]))?;
    let mut network = description.network(&design, 0).map_err(|error| at.named(error))?;
    (network.until, network.warm_up) = (Some(study.until), Some(study.warm_up));
    match NetworkForm::new(&network, shares, false) {
        Ok(form) => Ok(Ok(form)),
        Err(
            FacilityError::Unstable { load, .. }
            | FacilityError::Unmatched { load, .. }
            | FacilityError::CrowdedRegion { load, .. },
        ) => Ok(Err(load)),
        Err(error) => Err(at.named(error).into()),
    }
}

/// The columns of a point whose lines grow without end: worse than all others.
fn unstable(
    load: f64,
    replications: usize,
    columns: &[(&str, &Expression)],
) -> Result<Observations, OptimiseError> {
    let column = |(name, _): &(&str, &Expression)| Column {
        name: (*name).to_owned(),
        values: Values::F64(vec![UNSTABLE * load; replications]),
    };
    let columns = columns.iter().map(column).collect();
    Ok(Observations::new(replications, columns, [], Pairing::Independent)?)
}

/// Adds the objective and the bounds. Names are paths, or measures.
fn add_columns(
    made: &mut Observations,
    columns: &[(&str, &Expression)],
    at: At<'_>,
    written: &dyn Fn(&str) -> Option<f64>,
) -> Result<(), OptimiseError> {
    for (name, expression) in columns {
        let (mut numbers, mut measures) = (HashMap::new(), Vec::new());
        for used in expression.names() {
            let level = at.levels().find(|(path, _)| *path == used).map(|(_, level)| level.as_f64());
            match level.or_else(|| written(&used)) {
                Some(number) => drop(numbers.insert(used, number)),
                None if made.shown().any(|column| column.name == used) => measures.push(used),
                None => return Err(unknown(&used, made, at)),
            }
        }
        let constant = expression.value(&|name| numbers.get(name).copied().unwrap_or(f64::NAN));
        if measures.is_empty() && !constant.is_finite() {
            return Err(OptimiseError::invalid(format!(
                "at {} the {name} is {constant}: write an expression that is a number at all points",
                at.describe()
            )));
        }
        expression.add_to(made, name, &|name| numbers.get(name).copied())?;
    }
    Ok(())
}

/// The error of a name that is neither a path nor a measure.
fn unknown(used: &str, made: &Observations, at: At<'_>) -> OptimiseError {
    let known: Vec<_> = made.shown().map(|column| column.name.as_str()).collect();
    let measure = used.split('(').next().unwrap_or_default();
    let hint = match measure.contains("_9") || measure.contains("_50") {
        true => " (Instead of a quantile, bound a share, as in 'share(wait(desk) <= 4) >= 0.95'.)",
        false => "",
    };
    let remedy = unwritten(used);
    let paths: Vec<_> = at.levels().map(|(path, _)| path).collect();
    OptimiseError::invalid(format!(
        "`{used}` is no measure, and no number of the file.{remedy}{hint} Paths: {}. Measures: {}",
        paths.join(", "),
        known.join(", ")
    ))
}
