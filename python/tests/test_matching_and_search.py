"""Region matching and shortest paths."""

from __future__ import annotations

import numpy as np
import pytest

import eventhorizon as eh
from eventhorizon import matching, search


def brute(first: np.ndarray, second: np.ndarray) -> set[tuple[int, int]]:
    """The pairs, by testing all."""
    half = first.shape[1] // 2
    low = np.maximum(first[:, None, :half], second[None, :, :half])
    high = np.minimum(first[:, None, half:], second[None, :, half:])
    return {(int(a), int(b)) for a, b in np.argwhere((low < high).all(axis=2))}


KINDS = (np.float32, np.float64, np.int32, np.int64, np.uint32)


@pytest.mark.parametrize(
    ("backend", "kind", "dimensions"),
    [
        *(("cpu", kind, dimensions) for kind in KINDS for dimensions in (1, 2, 3, 4)),
        # Kernels take some time to compile.
        *(("gpu", kind, dimensions) for kind, dimensions in ((np.float32, 2), (np.float64, 2), (np.uint32, 1))),
    ],
)
def test_pairs_are_those_of_brute_force(backend: matching.Backend, kind: type, dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)

    def regions(count: int) -> np.ndarray:
        low = rng.integers(0, 90, (count, dimensions))
        return np.concatenate([low, low + rng.integers(1, 40, low.shape)], axis=1).astype(kind)

    first, second = regions(60), regions(50)
    pairs = matching.pairs(first, second, backend=backend)
    assert pairs.dtype == np.uint32 and pairs.shape[1] == 2
    expected = brute(first, second)
    assert len(pairs) == len(expected) and {(int(a), int(b)) for a, b in pairs} == expected
    sides = [(side[:, :dimensions], side[:, dimensions:]) for side in (first, second)]
    assert matching.count(sides[0], sides[1], backend=backend) == len(expected) > 0


def test_sets_that_do_not_fit_are_refused() -> None:
    one = np.zeros((1, 2), dtype=np.float32)
    with pytest.raises(eh.UsageError, match="2 and 4 bounds"):
        matching.pairs(one, np.zeros((1, 4), dtype=np.float32), backend="cpu")
    with pytest.raises(eh.UsageError, match="one type"):
        matching.pairs(one, one.astype(np.float64), backend="cpu")
    with pytest.raises(eh.Error, match="subscriptions"):
        matching.pairs([[2.0, 1.0]], [[0.0, 1.0]], backend="cpu")
    assert matching.pairs(np.zeros((0, 2)), np.zeros((0, 2)), backend="cpu").shape == (0, 2)


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_paths_on_a_map(backend: search.Backend) -> None:
    terrain = np.ones((5, 7), dtype=np.uint8)
    terrain[1:5, 3] = 0  # a wall with a gap at the top
    starts, goals = [[0, 4], [0, 0], [3, 2]], [[6, 4], [2, 0], [0, 0]]
    paths = search.Grid(terrain).paths(starts, goals, backend=backend)
    assert paths[0][0].tolist() == [0, 4] and paths[0][-1].tolist() == [6, 4]
    assert [3, 0] in paths[0].tolist() and np.abs(np.diff(paths[0].astype(int), axis=0)).max() == 1
    assert paths[1].tolist() == [[0, 0], [1, 0], [2, 0]]
    # The last search starts in the wall.
    assert paths.costs[2] == -1 and len(paths[2]) == 0 and len(paths) == 3
    costs = search.Grid(terrain > 0).paths(starts, goals, cells=False, backend=backend)
    assert np.array_equal(costs.costs, paths.costs) and costs.fingerprint == paths.fingerprint


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_paths_in_a_graph(backend: search.Backend) -> None:
    graph = search.Graph(4, [[0, 1, 5], [1, 2, 5], [0, 2, 20], [2, 0, 1]])
    paths = graph.paths([0, 2, 0], [2, 1, 3], backend=backend)
    assert paths.costs.tolist() == [10, 6, -1]
    assert [path.tolist() for path in (paths[0], paths[1], paths[-1])] == [[0, 1, 2], [2, 0, 1], []]


def test_searches_that_do_not_fit_are_refused() -> None:
    with pytest.raises(eh.UsageError, match="shape"):
        search.Grid([1, 2, 3])
    with pytest.raises(eh.UsageError, match="from 0 to 255"):
        search.Grid([[300]])
    with pytest.raises(eh.UsageError, match="1 starts and 2 goals"):
        search.Graph(3, [[0, 1, 1]]).paths([0], [1, 2])
    with pytest.raises(eh.Error, match="4"):
        search.Graph(3, [[0, 4, 1]]).paths([0], [1], backend="cpu")
