//! Queueing networks.

use std::path::PathBuf;

use eventhorizon::facility::{
    self, FacilityDesign, FacilityError, Follow, NetworkDescription, Report, SavedStudy, Study, StudyAutosave,
};
use eventhorizon::pdes::{EngineOptions, Mapping, Progress};
use eventhorizon::process::{self, NetworkForm};
use eventhorizon::statistics::Stopping;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::device;
use crate::errors::{Failure, OrRaise as _};
use crate::optimise::{Effort, Goal, optimised};
use crate::runs::{Described, Found, Runs};
use crate::saves::Saves;
use crate::studies::{Best, MOST_OF_BEST, Way, way};
use crate::watch::{Watch, watched};

/// Runs that determine a warm-up.
const PILOTS: u32 = 8;

/// A description of a network.
#[pyclass(frozen, module = "eventhorizon._core")]
pub(crate) struct Network(facility::Network);

#[pymethods]
impl Network {
    /// Reads TOML. Files that it names are relative to the folder; without one, it names none.
    #[staticmethod]
    #[pyo3(signature = (text, folder=None))]
    fn from_toml(text: &str, folder: Option<PathBuf>) -> Result<Self, Failure> {
        Self::read(folder, || facility::Network::from_toml(text))
    }

    /// The same of JSON.
    #[staticmethod]
    #[pyo3(signature = (text, folder=None))]
    fn from_json(text: &str, folder: Option<PathBuf>) -> Result<Self, Failure> {
        Self::read(folder, || facility::Network::from_json(text))
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

    #[getter]
    fn nodes(&self) -> Vec<String> {
        self.0.names().map(str::to_owned).collect()
    }

    /// Compiles it, for its errors.
    fn check(&self) -> Result<(), Failure> {
        NetworkForm::new(&self.0, &[], false)?;
        Ok(())
    }

    /// The description.
    fn json(&self) -> Result<String, Failure> {
        Ok(serde_json::to_string(&self.0)?)
    }

    /// A picture.
    fn svg(&self) -> Result<String, Failure> {
        Ok(NetworkForm::new(&self.0, &[], true)?.draw(None)?)
    }

    /// The visits of the first customers of each source, of the first replication, as JSON.
    #[pyo3(signature = (*, seed, until, most))]
    fn trace(&self, py: Python<'_>, seed: u64, until: f64, most: u32) -> Result<String, Failure> {
        py.detach(|| {
            let form = NetworkForm::new(&self.with_times(until, None), &[], true)?;
            let study = Study::new(1, until, 0.0).seed(seed);
            Ok(serde_json::to_string(&form.trace(&study, Follow::first(most))?)?)
        })
    }

    /// Replications of all points of changes, with common random numbers.
    #[pyo3(signature = (*, changes, paired, replications, seed, until, warm_up, level, precision, best, backend, mapping, room, allow_unstable, progress))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn experiment(
        &self,
        py: Python<'_>,
        changes: Vec<String>,
        paired: bool,
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
        allow_unstable: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Runs> {
        let mapping: Mapping = mapping.parse().map_err(|error| Failure::usage(format!("{error}")))?;
        let options = EngineOptions::default().mapping(mapping);
        let run = |watch: &Watch| -> Result<(Found, Described), Failure> {
            let mut description = NetworkDescription::from_json(&serde_json::to_string(&self.0)?)?;
            for change in &changes {
                description.set(change)?;
            }
            if paired {
                description.paired();
            }
            let design = description.design()?;
            let mut networks = description.networks()?;
            for network in &mut networks {
                (network.until, network.warm_up) = (Some(until), Some(warm_up));
            }
            let forms = NetworkForm::of_points(&networks, &[], allow_unstable);
            let forms = forms.map_err(|(point, source)| FacilityError::Point {
                point: design.describe(point),
                source: Box::new(source),
            });
            let points = FacilityDesign::new(design.clone(), forms?);
            let stopping = precision.map(|bound| Stopping::relative(bound, level, replications));
            let study = Study::new(replications.unwrap_or(REPLICATIONS), until, warm_up)
                .seed(seed)
                .level(level)
                .stopping(stopping)
                .room(room);
            let place = device::place(backend)?;
            let run = points
                .study(&study)
                .backend(place.backend())
                .options(options)
                .watch(|runs: usize, events: u64| watch.flow(runs as u64, events));
            let results = match &best {
                Some(best) => match way(best, level, replications.unwrap_or(MOST_OF_BEST))? {
                    Way::Guaranteed(selection) => run.select(&selection, &best.0)?,
                    Way::Budget(allocation) => run.allocate(&allocation, &best.0)?,
                },
                None => run.run()?,
            };
            let resolution = points.facilities()[0].resolution();
            let described = Described {
                model: self.0.name.clone(),
                unit: self.0.unit.clone(),
                ticks_per_unit: resolution.ticks_per_unit(),
                seed,
                until: Some(until),
                warm_up: Some(warm_up),
            };
            let found = Found {
                design: results.design,
                observations: results.observations,
                decisions: results.decisions,
                selected: results.selected,
                allocated: results.allocated,
                quantiles: None,
                fingerprint: results.fingerprint,
                mapping: results.mapping,
                adapter: (results.engine == "gpu").then_some(results.adapter),
                seconds: results.seconds,
                events: Some(results.events),
                warnings: results.warnings,
                has_common_numbers: true,
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
        let json = serde_json::to_string(&self.0).map_err(Failure::from)?;
        optimised(py, goal, effort, backend, progress, |search, backend, watch| {
            let description = NetworkDescription::from_json(&json)?;
            Ok(search.network(description, backend, watch)?)
        })
    }

    #[pyo3(signature = (*, replications, seed, until, warm_up, level, precision, backend, mapping, room, quantiles, allow_unstable, batches, saves, progress))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
    fn run(
        &self,
        py: Python<'_>,
        replications: Option<u32>,
        seed: u64,
        until: f64,
        warm_up: Option<f64>,
        level: f64,
        precision: Option<f64>,
        backend: &str,
        mapping: &str,
        room: u32,
        quantiles: bool,
        allow_unstable: bool,
        batches: Option<usize>,
        saves: Saves,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<NetworkRun> {
        let mapping: Mapping = mapping.parse().map_err(|error| Failure::usage(format!("{error}")))?;
        let options = EngineOptions::default().mapping(mapping);
        let run = |watch: &Watch| -> Result<(Report, NetworkForm), Failure> {
            let network = self.with_times(until, warm_up);
            let form = NetworkForm::new(&network, &[], allow_unstable)?;
            let form = if quantiles { form.with_details()? } else { form };
            let warm_up = match warm_up {
                Some(warm_up) => warm_up,
                // Another seed, so that it does not depend on the runs that it is used for.
                None => form.settles(!seed, until, PILOTS)?,
            };
            let stopping = precision.map(|bound| Stopping::relative(bound, level, replications));
            let study = Study::new(replications.unwrap_or(REPLICATIONS), until, warm_up)
                .seed(seed)
                .details(quantiles)
                .level(level)
                .stopping(stopping)
                .room(room);
            let place = device::place(backend)?;
            let facility = match &form {
                NetworkForm::Network(facility) => facility,
                NetworkForm::Process(process) => {
                    let report = match batches {
                        Some(_) if saves.is_used() => {
                            let what = "a checkpoint of batches is not there for this network, which runs as \
                                        a process model";
                            return Err(Failure::usage(what));
                        }
                        Some(batches) => {
                            process.long_run(&study, batches, |progress| watch.flow(0, progress.events))?
                        }
                        None => {
                            let saved = saves.resumed(process::SavedStudy::load)?;
                            let plan = process.study(&study)?;
                            let run = process.compiled().study(&plan).backend(place.backend());
                            let run = run.options(options).resume(saved.as_ref()).save(saves.place());
                            let run = run.watch(|runs: usize, events: u64| watch.flow(runs as u64, events));
                            process.report(&study, &run.run().map_err(|error| process.explained(error))?)?
                        }
                    };
                    return Ok((report, form));
                }
            };
            let saved = saves.resumed(SavedStudy::load)?;
            let autosave = StudyAutosave::default().from(saved.as_ref()).to(saves.place());
            let report = match batches {
                Some(batches) => facility
                    .long_run(&study, batches)
                    .backend(place.backend())
                    .save(autosave)
                    .watch(|progress: &Progress| watch.flow(0, progress.events))
                    .run()?,
                None => facility
                    .study(&study)
                    .backend(place.backend())
                    .options(options)
                    .save(autosave)
                    .watch(|runs: usize, events: u64| watch.flow(runs as u64, events))
                    .run()?,
            };
            Ok((report, form))
        };
        let ((mut report, form), interrupted) = watched(py, progress, run)?;
        let unsaved = report.unsaved.take();
        report.warnings.extend(unsaved);
        Ok(NetworkRun { report, form, seed, interrupted })
    }
}

impl Network {
    /// Calls a reader of a description. Files that this names are relative to the folder.
    fn read(
        folder: Option<PathBuf>,
        reader: impl FnOnce() -> Result<facility::Network, FacilityError>,
    ) -> Result<Self, Failure> {
        let network = match folder {
            Some(folder) => facility::in_folder(&folder, reader),
            None => reader(),
        };
        Ok(Self(network?))
    }

    /// The network with the times of runs, on which the resolution of ticks depends too.
    fn with_times(&self, until: f64, warm_up: Option<f64>) -> facility::Network {
        let mut network = self.0.clone();
        (network.until, network.warm_up) = (Some(until), warm_up);
        network
    }
}

/// The default number of replications.
const REPLICATIONS: u32 = 64;

/// The results of a run of a network.
#[pyclass(frozen, module = "eventhorizon._core")]
pub(crate) struct NetworkRun {
    report: Report,
    form: NetworkForm,
    #[pyo3(get)]
    seed: u64,
    #[pyo3(get)]
    interrupted: bool,
}

#[pymethods]
impl NetworkRun {
    /// The report as JSON.
    fn json(&self) -> String {
        self.report.to_json()
    }

    /// The table of the program.
    fn text(&self) -> String {
        self.report.to_string()
    }

    /// A picture of the network with utilisations.
    fn svg(&self) -> Result<String, Failure> {
        Ok(self.form.draw(&self.report)?)
    }

    /// The values of a row, by replication or batch.
    fn values<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let row = self.report.rows.get(row).ok_or_else(|| Failure::usage(format!("there is no row {row}")));
        Ok(PyArray1::from_vec(py, row.or_raise()?.values().collect()))
    }
}
