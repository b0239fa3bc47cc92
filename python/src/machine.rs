//! PHOLD and the test of the adapter.

use std::time::Instant;

use eventhorizon::models::Phold;
use eventhorizon::pdes::{CpuSimulation, Options, Progress, Simulation, Until};
use eventhorizon::self_test;
use eventhorizon::time::Resolution;
use pyo3::prelude::*;

use crate::device;
use crate::errors::{Failure, OrRaise as _};
use crate::watch::{Watch, watched};

/// Runs PHOLD: events, seconds, fingerprint, engine, adapter, and whether Ctrl-C ended it.
#[pyfunction]
#[pyo3(signature = (*, lps, population, rate, lookahead, until, seed, backend, progress))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python call")]
pub(crate) fn phold(
    py: Python<'_>,
    lps: u32,
    population: u32,
    rate: f64,
    lookahead: f64,
    until: f64,
    seed: u64,
    backend: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, f64, u64, &'static str, String, bool)> {
    let run = |watch: &Watch| -> Result<_, Failure> {
        let resolution = Resolution::default();
        let model = Phold::new(lps, population, rate, lookahead, resolution)?;
        let end = Until::time(resolution.ticks(until)?);
        let options = Options::default().seed(seed);
        let place = device::place(backend)?;
        let gpu = place.backend().gpu();
        let (engine, adapter) = device::names(gpu.map(|gpu| gpu.info().name.clone()));
        let mut watch = |progress: &Progress| watch.flow(0, progress.events);
        let begun;
        let (events, fingerprint) = match place.backend().gpu() {
            Some(gpu) => {
                let mut simulation = Simulation::new(gpu, &model, options)?;
                begun = Instant::now();
                let progress = simulation.until(end).watch(&mut watch).run()?;
                (progress.events, simulation.fingerprint()?)
            }
            None => {
                let mut simulation = CpuSimulation::new(&model, options)?;
                begun = Instant::now();
                let progress = simulation.until(end).watch(&mut watch).run()?;
                (progress.events, simulation.fingerprint())
            }
        };
        Ok((events, begun.elapsed().as_secs_f64(), fingerprint.0, engine, adapter))
    };
    let ((events, seconds, fingerprint, engine, adapter), interrupted) = watched(py, progress, run)?;
    Ok((events, seconds, fingerprint, engine, adapter, interrupted))
}

/// A check: name, whether it passed, a note, and seconds.
type Check = (String, bool, String, f64);

/// Tests the adapter: its description, and the checks.
#[pyfunction]
pub(crate) fn doctor(py: Python<'_>) -> PyResult<(String, Vec<Check>)> {
    let found = py.detach(|| -> Result<_, Failure> {
        let gpu = device::open()?;
        Ok((gpu.to_string(), self_test(&gpu)))
    });
    let (adapter, report) = found.or_raise()?;
    let checks = report.checks.into_iter().map(|check| {
        let (passed, seconds) = (check.outcome.is_ok(), check.took.as_secs_f64());
        (check.name, passed, check.outcome.unwrap_or_else(|wrong| wrong), seconds)
    });
    Ok((adapter, checks.collect()))
}
