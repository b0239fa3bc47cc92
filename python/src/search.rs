//! Shortest paths on maps and graphs.

use eventhorizon::search::{AnyEngine, Cell, Graph, Grid, Guided, Options, Results, Space};
use glam::UVec2;
use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

use crate::device;
use crate::errors::{Failure, OrRaise as _};

/// Costs (-1 without a path), cells expanded, the first index of each path and the end, and the
/// words of all cells of paths.
type Found<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    u64,
);

/// Searches on a map: row by row, 0 for blocked cells, other values multiply costs. A search is a
/// row of x and y of start and goal.
#[pyfunction]
pub(crate) fn search_grid<'py>(
    terrain: PyReadonlyArray2<'py, u8>,
    searches: PyReadonlyArray2<'py, u32>,
    paths: bool,
    backend: &str,
) -> PyResult<Found<'py>> {
    let py = terrain.py();
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let [height, width] = [terrain.shape()[0], terrain.shape()[1]].map(side);
    let cells = terrain.as_array().iter().copied().collect();
    let pairs = pairs::<4, _>(&searches, |row| (UVec2::new(row[0], row[1]), UVec2::new(row[2], row[3])))?;
    let found = py.detach(|| search(Grid::new(width, height, cells)?, &pairs, paths, backend));
    Ok(arrays(py, &found.or_raise()?, |cell| [cell.x, cell.y]))
}

/// Searches in a graph whose arcs go from `tails` to `heads`. A search is a row of start and goal.
#[pyfunction]
pub(crate) fn search_graph<'py>(
    vertices: u32,
    arcs: PyReadonlyArray2<'py, u32>,
    searches: PyReadonlyArray2<'py, u32>,
    paths: bool,
    backend: &str,
) -> PyResult<Found<'py>> {
    let py = arcs.py();
    let arcs = rows::<3>(&arcs, "arcs")?.map(|[from, to, weight]| (from, to, weight)).collect::<Vec<_>>();
    let pairs = pairs::<2, _>(&searches, |row| (row[0], row[1]))?;
    let found = py.detach(|| search(Guided::from(Graph::new(vertices, &arcs)?), &pairs, paths, backend));
    Ok(arrays(py, &found.or_raise()?, |vertex| [vertex]))
}

fn search<S: Space + Send + 'static>(
    space: S,
    pairs: &[(S::Cell, S::Cell)],
    paths: bool,
    backend: &str,
) -> Result<Results<S::Cell>, Failure> {
    let place = device::place(backend)?;
    Ok(AnyEngine::new(place.backend(), space, Options::default().paths(paths)).run(pairs, |_| {})?)
}

/// The rows of an array with `N` columns.
fn rows<'a, const N: usize>(
    array: &'a PyReadonlyArray2<'_, u32>,
    what: &str,
) -> Result<impl Iterator<Item = [u32; N]> + 'a, Failure> {
    let found = array.shape()[1];
    if found != N {
        return Err(Failure::usage(format!("{what} have {found} columns; expected {N}")));
    }
    let rows = array.as_array();
    Ok((0..array.shape()[0]).map(move |row| std::array::from_fn(|column| rows[[row, column]])))
}

fn pairs<const N: usize, P>(
    searches: &PyReadonlyArray2<'_, u32>,
    pair: impl Fn([u32; N]) -> P,
) -> PyResult<Vec<P>> {
    Ok(rows::<N>(searches, "searches").or_raise()?.map(pair).collect())
}

fn arrays<'py, C: Cell, const N: usize>(
    py: Python<'py>,
    found: &Results<C>,
    words: impl Fn(C) -> [u32; N],
) -> Found<'py> {
    let outcomes = found.outcomes();
    let costs = outcomes.iter().map(|outcome| outcome.cost.map_or(-1, i64::from)).collect();
    let expanded = outcomes.iter().map(|outcome| outcome.expanded).collect();
    let (mut firsts, mut cells) = (vec![0], Vec::new());
    for search in 0..outcomes.len() {
        cells.extend(found.path(search).flat_map(&words));
        firsts.push((cells.len() / N) as u64);
    }
    (
        PyArray1::from_vec(py, costs),
        PyArray1::from_vec(py, expanded),
        PyArray1::from_vec(py, firsts),
        PyArray1::from_vec(py, cells),
        found.fingerprint(),
    )
}
