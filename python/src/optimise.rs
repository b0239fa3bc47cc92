//! Searches for the best numbers of a network or of a process model.

use std::ops::ControlFlow;

use eventhorizon::Backend;
use eventhorizon::optimise::{OptimiseError, Optimum, Search, bound};
use pyo3::prelude::*;

use crate::device;
use crate::errors::Failure;
use crate::watch::{Watch, watched};

/// What is searched: the objective, whether it is maximised, the bounds, and the ranges.
pub(crate) type Goal = (String, bool, Vec<String>, Vec<String>);

/// How: budget, seed, level, and the end and the warm-up of each replication.
pub(crate) type Effort = (u64, u64, f64, [f64; 2]);

/// Searches by `run`, which gets the search, the place and the watch. Returns the result as JSON, the
/// adapter if a device was used, and whether Ctrl-C ended the search.
pub(crate) fn optimised(
    py: Python<'_>,
    (objective, is_maximised, bounds, ranges): Goal,
    (budget, seed, level, times): Effort,
    backend: &str,
    progress: Option<Py<PyAny>>,
    run: impl FnOnce(&Search, Backend<'_>, &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<Optimum, Failure>
    + Send,
) -> PyResult<(String, Option<String>, bool)> {
    let work = |watch: &Watch| -> Result<(String, Option<String>), Failure> {
        let wrong = |text: &str, error: OptimiseError| Failure::usage(format!("`{text}`: {error}"));
        let parsed = objective.parse().map_err(|error| wrong(&objective, error))?;
        let mut search = Search::new(parsed, times).budget(budget).seed(seed).level(level);
        for text in &bounds {
            search = search.subject_to(bound(text).map_err(|error| wrong(text, error))?);
        }
        for range in &ranges {
            search = search.range(range.parse()?);
        }
        if is_maximised {
            search = search.maximised();
        }
        let place = device::place(backend)?;
        let found = run(&search, place.backend(), &mut |made| watch.flow(made, 0))?;
        Ok((found.to_json()?.to_string(), place.adapter().map(str::to_owned)))
    };
    let ((json, adapter), interrupted) = watched(py, progress, work)?;
    Ok((json, adapter, interrupted))
}
