//! Results of process models and of models in WGSL: observations at the points of a design.

use std::fmt::Write as _;

use eventhorizon::statistics::{
    Allocated, Decision, Design, Observations, Report, Selected, Values, compare,
};
use numpy::ndarray::ArrayView1;
use numpy::{Element, PyArray1};
use pyo3::prelude::*;

use crate::device;
use crate::errors::{Failure, OrRaise as _};

/// Results at the points of a design.
#[pyclass(frozen, module = "eventhorizon._core")]
pub(crate) struct Runs {
    design: Design,
    observations: Vec<Observations>,
    decisions: Vec<Decision>,
    selected: Option<Selected>,
    allocated: Option<Allocated>,
    /// The table with quantiles, if there are histograms.
    quantiles: Option<Report>,
    #[pyo3(get)]
    model: String,
    #[pyo3(get)]
    unit: String,
    #[pyo3(get)]
    engine: &'static str,
    #[pyo3(get)]
    adapter: String,
    #[pyo3(get)]
    mapping: String,
    #[pyo3(get)]
    ticks_per_unit: u32,
    #[pyo3(get)]
    seed: u64,
    /// Of a model in WGSL without processes: none.
    #[pyo3(get)]
    until: Option<f64>,
    #[pyo3(get)]
    warm_up: Option<f64>,
    /// Counted in process models.
    #[pyo3(get)]
    events: Option<u64>,
    #[pyo3(get)]
    seconds: f64,
    #[pyo3(get)]
    fingerprint: u64,
    #[pyo3(get)]
    warnings: Vec<String>,
    has_common_numbers: bool,
    #[pyo3(get)]
    interrupted: bool,
}

/// What both kinds of models give.
pub(crate) struct Found {
    pub(crate) design: Design,
    pub(crate) observations: Vec<Observations>,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) selected: Option<Selected>,
    pub(crate) allocated: Option<Allocated>,
    /// The table with quantiles, at the level of the run, if there are histograms.
    pub(crate) quantiles: Option<Report>,
    pub(crate) fingerprint: u64,
    pub(crate) mapping: String,
    /// The adapter, if a device made replications.
    pub(crate) adapter: Option<String>,
    pub(crate) seconds: f64,
    pub(crate) events: Option<u64>,
    pub(crate) warnings: Vec<String>,
    /// Whether replications have the same random numbers at all points.
    pub(crate) has_common_numbers: bool,
}

/// What was run.
pub(crate) struct Described {
    pub(crate) model: String,
    pub(crate) unit: String,
    pub(crate) ticks_per_unit: u32,
    pub(crate) seed: u64,
    pub(crate) until: Option<f64>,
    pub(crate) warm_up: Option<f64>,
}

impl Runs {
    pub(crate) fn new(found: Found, described: Described, interrupted: bool) -> Self {
        let Found {
            design,
            observations,
            decisions,
            selected,
            allocated,
            quantiles,
            fingerprint,
            mapping,
            adapter,
            seconds,
            events,
            warnings,
            has_common_numbers,
        } = found;
        let (engine, adapter) = device::names(adapter);
        let Described { model, unit, ticks_per_unit, seed, until, warm_up } = described;
        Self {
            design,
            observations,
            decisions,
            selected,
            allocated,
            quantiles,
            model,
            unit,
            engine,
            adapter,
            mapping,
            ticks_per_unit,
            seed,
            until,
            warm_up,
            events,
            seconds,
            fingerprint,
            warnings,
            has_common_numbers,
            interrupted,
        }
    }

    fn point(&self, point: usize) -> Result<&Observations, Failure> {
        let points = self.observations.len();
        let missing = || Failure::usage(format!("point {point} does not exist: there are {points}, from 0"));
        self.observations.get(point).ok_or_else(missing)
    }

    /// The table of all measures and points. The level is that of the run.
    fn made(&self, level: f64) -> Result<Report, Failure> {
        if let Some(report) = &self.quantiles {
            return Ok(report.clone());
        }
        let mut report = Report::default();
        for (point, observations) in self.observations.iter().enumerate() {
            report.add(&self.design, point, observations, level, |_| None)?;
        }
        if self.has_common_numbers {
            let best = self.selected.as_ref().and_then(|selected| selected.best);
            report.compare(&self.observations, best.unwrap_or(0), level)?;
        }
        Ok(report)
    }
}

#[pymethods]
impl Runs {
    /// The table of all measures and points as JSON.
    fn json(&self, py: Python<'_>, level: f64) -> Result<String, Failure> {
        py.detach(|| Ok(self.made(level)?.to_json()))
    }

    /// The table of the program.
    fn text(&self, py: Python<'_>, level: f64) -> Result<String, Failure> {
        py.detach(|| {
            let mut text = self.made(level)?.to_string();
            for warning in &self.warnings {
                let _ = writeln!(text, "warning: {warning}");
            }
            Ok(text)
        })
    }

    /// The names of the measures.
    fn names(&self) -> Vec<String> {
        let first = self.observations.first();
        first.into_iter().flat_map(Observations::shown).map(|column| column.name.clone()).collect()
    }

    /// The replications of each point.
    fn replications(&self) -> Vec<usize> {
        self.observations.iter().map(Observations::replications).collect()
    }

    fn factors(&self) -> Vec<String> {
        self.design.factors().to_vec()
    }

    /// The values of the factors, by point.
    fn levels(&self) -> Vec<Vec<f64>> {
        let levels = |point| self.design.levels(point).iter().map(|level| level.as_f64()).collect();
        (0..self.design.len()).map(levels).collect()
    }

    /// Why the replications of each point ended, of a run to a precision.
    fn stopped(&self) -> Vec<&'static str> {
        self.decisions.iter().map(|decision| decision.name()).collect()
    }

    /// Of a selection: the best point, those that are left, after how many runs others ended, and
    /// with a budget the estimated probability.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn selected(&self) -> Option<(Option<usize>, Vec<usize>, Vec<Option<u64>>, Option<f64>)> {
        let points = self.design.len();
        match (&self.selected, &self.allocated) {
            (Some(found), _) => Some((found.best, found.survivors.clone(), found.eliminated.clone(), None)),
            (None, Some(found)) => {
                Some((Some(found.best), (0..points).collect(), vec![None; points], Some(found.probability)))
            }
            (None, None) => None,
        }
    }

    /// The values of a measure at a point, by replication: a view of the memory of these results
    /// where NumPy has the type.
    fn values<'py>(slf: &Bound<'py, Self>, point: usize, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let observations = slf.get().point(point).or_raise()?;
        let column = observations.column(name).or_raise()?;
        match &column.values {
            Values::U32(values) => view(slf, values),
            Values::I32(values) => view(slf, values),
            Values::U64(values) => view(slf, values),
            Values::F32(values) => view(slf, values),
            Values::F64(values) => view(slf, values),
            values @ Values::U128(_) => {
                let reals = (0..values.len()).map(|replication| values.get(replication)).collect();
                Ok(PyArray1::<f64>::from_vec(slf.py(), reals).into_any())
            }
        }
    }

    /// The replications of a point without a result, with their causes.
    fn failures(&self, point: usize) -> Result<Vec<(u64, String)>, Failure> {
        let failures = self.point(point)?.failures();
        Ok(failures.map(|failure| (failure.replication, failure.cause.to_string())).collect())
    }

    /// A measure of the right point minus that of the left one: mean, ends, observations.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn compare(
        &self,
        left: usize,
        right: usize,
        name: &str,
        level: f64,
    ) -> Result<(Option<f64>, Option<f64>, Option<f64>, u64), Failure> {
        let found = compare(self.point(left)?, self.point(right)?, name, level)?;
        let interval = found.interval;
        Ok((found.mean, interval.map(|of| of.lower), interval.map(|of| of.upper), found.observations))
    }
}

/// An array that shares memory with the results and keeps them.
fn view<'py, T: Element>(owner: &Bound<'py, Runs>, values: &[T]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the class is frozen, so the memory stays where it is while `owner` is there, which
    // the array keeps.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(values), owner.clone().into_any()) };
    // Other arrays may share the memory.
    array.call_method1("setflags", (false,))?;
    Ok(array.into_any())
}
