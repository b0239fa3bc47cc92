//! Process models, and models in WGSL.

use std::path::PathBuf;

use eventhorizon::description::{Description, RunProgress};
use eventhorizon::gpu::Source;
use eventhorizon::pdes::{EngineOptions, Mapping};
use eventhorizon::process::{CompiledProcess, ProcessModel, SavedStudy, Study, draw_timeline};
use eventhorizon::statistics::{Allocation, Selection, Stopping};
use pyo3::prelude::*;

use crate::device;
use crate::errors::Failure;
use crate::optimise::{Effort, Goal, optimised};
use crate::runs::{Described, Found, Runs};
use crate::saves::Saves;
use crate::watch::{Watch, watched};

/// The goal of a selection: measure, whether its smallest mean is looked for, and the smallest
/// difference that matters, or a budget of replications.
pub(crate) type Best = (String, bool, Option<f64>, Option<u64>);

/// The upper bound of replications of a selection.
pub(crate) const MOST_OF_BEST: u32 = 1024;

/// How the best point is selected.
pub(crate) enum Way {
    Guaranteed(Selection),
    Budget(Allocation),
}

/// The way of a goal. `most` bounds the replications of a point.
pub(crate) fn way(best: &Best, level: f64, most: u32) -> Result<Way, Failure> {
    match *best {
        (_, smallest, Some(difference), None) => Ok(Way::Guaranteed(Selection {
            smallest,
            replications: Some(most.into()),
            ..Selection::new(difference, level)
        })),
        (_, smallest, None, Some(budget)) => {
            Ok(Way::Budget(Allocation { smallest, ..Allocation::new(budget) }))
        }
        _ => Err(Failure::usage("a selection has either a `difference` or a `budget`")),
    }
}

/// A process model.
#[pyclass(frozen, module = "eventhorizon._core")]
pub(crate) struct Process(ProcessModel);

#[pymethods]
impl Process {
    #[staticmethod]
    fn from_toml(text: &str) -> Result<Self, Failure> {
        Ok(Self(ProcessModel::from_toml(text)?))
    }

    #[staticmethod]
    fn from_json(text: &str) -> Result<Self, Failure> {
        Ok(Self(ProcessModel::from_json(text)?))
    }

    #[staticmethod]
    fn read(path: PathBuf) -> Result<Self, Failure> {
        Ok(Self(ProcessModel::read(&path)?))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn unit(&self) -> &str {
        &self.0.unit
    }

    #[getter]
    fn until(&self) -> Option<f64> {
        self.0.until
    }

    #[getter]
    fn warm_up(&self) -> Option<f64> {
        self.0.warm_up
    }

    /// The names and values of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<(String, Vec<f64>)> {
        self.0.parameters.iter().map(|(name, of)| (name.clone(), of.values.clone())).collect()
    }

    /// The names of the measures.
    fn measures(&self) -> Result<Vec<String>, Failure> {
        Ok(self.0.compile()?.measures())
    }

    /// The first replication of a point: as JSON the first changes of entities (`trace`), averages
    /// of parts (`timeline`), or who holds which units between two times (`gantt`), with a picture.
    #[pyo3(signature = (what, *, changes, seed, until, point, most, between))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn first(
        &self,
        py: Python<'_>,
        what: &str,
        changes: Vec<String>,
        seed: u64,
        until: f64,
        point: usize,
        most: u32,
        between: [f64; 2],
    ) -> Result<(String, String), Failure> {
        py.detach(|| {
            let compiled = self.compiled(&changes, until, 0.0)?;
            let points = compiled.design().len();
            if point >= points {
                return Err(Failure::usage(format!(
                    "point {point} does not exist: there are {points}, from 0"
                )));
            }
            let study = Study::new(1, until, 0.0).seed(seed);
            Ok(match what {
                "timeline" => {
                    let timeline = compiled.timeline(&study, point, most)?;
                    (serde_json::to_string(&timeline)?, draw_timeline(&timeline)?)
                }
                "gantt" => {
                    let found = compiled.occupation(&study, point, between, most as usize)?;
                    (serde_json::to_string(&found)?, found.draw()?)
                }
                _ => (serde_json::to_string(&compiled.trace(&study, point, most as usize)?)?, String::new()),
            })
        })
    }

    #[pyo3(signature = (*, changes, replications, seed, until, warm_up, level, precision, best, backend, mapping, room, allow_deadlock, saves, progress))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn run(
        &self,
        py: Python<'_>,
        changes: Vec<String>,
        replications: Option<u32>,
        seed: u64,
        until: f64,
        warm_up: f64,
        level: f64,
        precision: Option<f64>,
        best: Option<Best>,
        backend: &str,
        mapping: &str,
        room: u32,
        allow_deadlock: bool,
        saves: Saves,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Runs> {
        let mapping: Mapping = mapping.parse().map_err(|error| Failure::usage(format!("{error}")))?;
        let options = EngineOptions::default().mapping(mapping);
        let run = |watch: &Watch| -> Result<(Found, Described), Failure> {
            let compiled = self.compiled(&changes, until, warm_up)?;
            let stopping = precision.map(|bound| Stopping::relative(bound, level, replications));
            if let Some(stopping) = &stopping {
                stopping.check()?;
            }
            let study = Study::new(replications.unwrap_or(REPLICATIONS), until, warm_up)
                .seed(seed)
                .stopping(stopping)
                .room(room)
                .allow_deadlock(allow_deadlock);
            let place = device::place(backend)?;
            let saved = saves.resumed(SavedStudy::load)?;
            let run = compiled
                .study(&study)
                .backend(place.backend())
                .options(options)
                .resume(saved.as_ref())
                .save(saves.place())
                .watch(|runs: usize, events: u64| watch.flow(runs as u64, events));
            let results = match &best {
                Some(best) => match way(best, level, replications.unwrap_or(MOST_OF_BEST))? {
                    Way::Guaranteed(selection) => run.select(&selection, &best.0)?,
                    Way::Budget(allocation) => run.allocate(&allocation, &best.0)?,
                },
                None => run.run()?,
            };
            let model = compiled.model();
            let has_histograms = model.variables.values().any(|variable| variable.histogram)
                || model.tallies.values().any(|tally| tally.histogram.is_some());
            let quantiles = has_histograms.then(|| results.report(level)).transpose()?;
            let described = Described {
                model: model.name.clone(),
                unit: model.unit.clone(),
                ticks_per_unit: compiled.resolution().ticks_per_unit(),
                seed,
                until: Some(until),
                warm_up: Some(warm_up),
            };
            let found = Found {
                warnings: results.warnings().into_iter().chain(results.unsaved).collect(),
                has_common_numbers: true,
                design: results.design,
                observations: results.observations,
                decisions: results.decisions,
                selected: results.selected,
                allocated: results.allocated,
                quantiles,
                fingerprint: results.fingerprint,
                mapping: results.mapping,
                adapter: results.adapter,
                seconds: results.seconds,
                events: Some(results.events),
            };
            Ok((found, described))
        };
        let ((found, described), interrupted) = watched(py, progress, run)?;
        Ok(Runs::new(found, described, interrupted))
    }

    /// Searches for the best numbers: see [`optimised`].
    #[pyo3(signature = (goal, effort, backend, progress))]
    fn optimise(
        &self,
        py: Python<'_>,
        goal: Goal,
        effort: Effort,
        backend: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, Option<String>, bool)> {
        optimised(py, goal, effort, backend, progress, |search, backend, watch| {
            Ok(search.process(self.0.clone(), backend, watch)?)
        })
    }
}

impl Process {
    /// The model with other values of parameters. The resolution of ticks depends on the times of
    /// the runs too.
    fn compiled(&self, changes: &[String], until: f64, warm_up: f64) -> Result<CompiledProcess, Failure> {
        let mut model = self.0.clone();
        for change in changes {
            model.set(change)?;
        }
        (model.until, model.warm_up) = (Some(until), Some(warm_up));
        Ok(model.compile()?)
    }
}

/// The default number of replications of process models.
const REPLICATIONS: u32 = 64;

/// A model of a TOML and a WGSL text.
#[pyclass(frozen, module = "eventhorizon._core")]
pub(crate) struct Model(Origin);

/// Where a model is.
enum Origin {
    /// In files, which each run reads.
    File { path: PathBuf },
    /// In memory.
    Texts { name: String, toml: String, wgsl_name: String, wgsl: String },
}

impl Origin {
    fn open(&self) -> Result<Description, Failure> {
        Ok(match self {
            Self::File { path } => Description::read(path)?,
            Self::Texts { name, toml, wgsl_name, wgsl } => {
                Description::from_texts(name, toml, Source::new(wgsl_name.clone(), wgsl.clone()))?
            }
        })
    }

    /// The model, if it can be read.
    fn model(self) -> Result<Model, Failure> {
        self.open()?;
        Ok(Model(self))
    }
}

#[pymethods]
impl Model {
    #[staticmethod]
    fn read(path: PathBuf) -> Result<Self, Failure> {
        Origin::File { path }.model()
    }

    #[staticmethod]
    fn from_texts(name: String, toml: String, wgsl_name: String, wgsl: String) -> Result<Self, Failure> {
        Origin::Texts { name, toml, wgsl_name, wgsl }.model()
    }

    /// Name, measures and result columns.
    fn described(&self, py: Python<'_>) -> Result<(String, Vec<String>, Vec<String>), Failure> {
        py.detach(|| {
            let model = self.0.open()?.compile()?;
            let measures = model.measures().into_iter().map(str::to_owned).collect();
            let columns = model.output().into_iter().flat_map(|output| output.columns());
            let columns = columns.map(|column| column.name.to_string()).collect();
            Ok((model.name().to_owned(), measures, columns))
        })
    }

    #[pyo3(signature = (*, changes, replications, seed, until, level, precision, best, backend, mapping, progress))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn run(
        &self,
        py: Python<'_>,
        changes: Vec<String>,
        replications: Option<u32>,
        seed: Option<u64>,
        until: Option<f64>,
        level: f64,
        precision: Option<f64>,
        best: Option<Best>,
        backend: &str,
        mapping: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Runs> {
        let run = |watch: &Watch| -> Result<(Found, Described), Failure> {
            let mut description = self.0.open()?;
            for change in &changes {
                description.set(change)?;
            }
            if let Some(until) = until {
                description.until(until)?;
            }
            let model = description.compile()?;
            model.design()?; // what is wrong with it comes before the device
            let place = device::place(backend)?;
            let seed = seed.unwrap_or(model.seed());
            let mut run = model.on(place.backend()).seed(seed).mapping(mapping);
            if let Some(replications) = replications {
                run = run.replications(replications);
            }
            let run = match (precision, &best) {
                (Some(bound), _) => {
                    let stopping = Stopping::relative(bound, level, replications);
                    stopping.check()?;
                    run.precision(stopping)
                }
                (None, Some(best)) => {
                    let most = replications.or(model.replications()).unwrap_or(MOST_OF_BEST);
                    match way(best, level, most)? {
                        Way::Guaranteed(selection) => run.best(selection, &best.0),
                        Way::Budget(_) => {
                            return Err(Failure::usage("a `budget` is for networks and process models"));
                        }
                    }
                }
                (None, None) => run,
            };
            let results =
                run.watch(|progress: &RunProgress| watch.flow(progress.runs, progress.events)).run()?;
            let adapter = place.adapter().filter(|_| results.mapping != "cores").map(str::to_owned);
            let until = if model.has_processes() { Some(model.end()?) } else { None };
            let described = Described {
                model: model.name().to_owned(),
                unit: String::new(),
                ticks_per_unit: model.resolution().ticks_per_unit(),
                seed,
                until: until.map(|until| model.resolution().units(until)),
                warm_up: None,
            };
            let found = Found {
                design: results.design,
                observations: results.observations,
                decisions: results.decisions,
                selected: results.selected,
                allocated: None,
                quantiles: None,
                fingerprint: results.fingerprint,
                mapping: results.mapping,
                adapter,
                seconds: results.seconds,
                events: None,
                warnings: model.warnings().to_vec(),
                has_common_numbers: false,
            };
            Ok((found, described))
        };
        let ((found, described), interrupted) = watched(py, progress, run)?;
        Ok(Runs::new(found, described, interrupted))
    }
}
