"""Shortest paths in batches: thousands of searches on one map or graph at once. Every path is a shortest one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import UsageError
from ._pictures import Picture

__all__ = ["Graph", "Grid", "Paths"]

Backend = Literal["auto", "cpu", "gpu"]


class Paths:
    """The results of a list of searches, in its order."""

    def __init__(
        self,
        costs: NDArray[np.int64],
        expanded: NDArray[np.uint32],
        firsts: NDArray[np.uint64],
        cells: NDArray[np.uint32],
        fingerprint: int,
        terrain: NDArray[np.uint8] | None = None,
    ) -> None:
        self._terrain = terrain
        self.costs = costs
        """The cost of each cheapest path, shape ``(searches,)``, ``int64``; -1 without a path."""
        self.expanded = expanded
        """Cells or vertices that every such search must expand, shape ``(searches,)``, ``uint32``."""
        self.firsts = firsts
        """The first index of each path in ``cells``, and the end, shape ``(searches + 1,)``, ``uint64``."""
        self.cells = cells
        """The cells of all paths: shape ``(cells, 2)`` as x and y on a map, ``(cells,)`` in a graph."""
        self.fingerprint = f"{fingerprint:016x}"
        """64 bits that depend only on start, goal and cost of every search, as hexadecimal text."""

    def __len__(self) -> int:
        return len(self.costs)

    def __getitem__(self, search: int) -> NDArray[np.uint32]:
        """The cells of a path from start to goal; empty without a path."""
        number = range(len(self))[search]
        return self.cells[int(self.firsts[number]) : int(self.firsts[number + 1])]

    def __repr__(self) -> str:
        return f"<Paths of {len(self)} searches, {int((self.costs >= 0).sum())} found>"

    @property
    def picture(self) -> Picture:
        """The first paths on their map as SVG: blocked cells are black. Notebooks show it for the paths."""
        if self._terrain is None or not len(self.cells):
            raise UsageError("there is no map with paths to draw")
        return Picture(_drawn(self._terrain, [self[search] for search in range(min(len(self), _DRAWN))]))

    def _repr_svg_(self) -> str | None:
        return self.picture.svg if self._terrain is not None and len(self.cells) else None


#: Paths in a picture.
_DRAWN = 100


def _drawn(terrain: NDArray[np.uint8], paths: Sequence[NDArray[np.uint32]]) -> str:
    """A map with paths. Blocked cells of a row that touch are one rectangle."""
    height, width = terrain.shape
    edges = np.diff(np.pad(terrain == 0, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    begins, ends = np.argwhere(edges == 1).tolist(), np.argwhere(edges == -1).tolist()
    blocked = "".join(f"M{x} {y}h{end - x}v1h{x - end}z" for (y, x), (_, end) in zip(begins, ends, strict=True))
    lines = ("M" + "L".join(f"{x}.5 {y}.5" for x, y in path.tolist()) for path in paths if len(path))
    drawn = "".join(f'<path d="{line}"/>' for line in lines)
    wide = 640
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{wide}" '
        f'height="{round(wide * height / width)}"><rect width="{width}" height="{height}" fill="#eee"/>'
        f'<path d="{blocked}"/><g fill="none" stroke="#c33" stroke-opacity="0.5" '
        f'stroke-width="{max(0.4, width / 400):.3g}">{drawn}</g></svg>'
    )


def _searches(starts: ArrayLike, goals: ArrayLike, width: int) -> NDArray[np.uint32]:
    ends = [np.asarray(side) for side in (starts, goals)]
    if any(side.size and (side.dtype.kind not in "iu" or side.min() < 0) for side in ends):
        raise UsageError("starts and goals have to be whole numbers from 0")
    rows = [side.reshape(-1, width) for side in ends]
    if len(rows[0]) != len(rows[1]):
        raise UsageError(f"there are {len(rows[0])} starts and {len(rows[1])} goals")
    return np.concatenate(rows, axis=1).astype(np.uint32)


class Grid:
    """A map of cells with eight moves from each. Diagonal moves cost 3363/2378 of straight ones."""

    def __init__(self, terrain: ArrayLike) -> None:
        """``terrain`` has the shape ``(height, width)``: 0 is blocked; other values, up to 255, multiply the
        cost of moves into a cell. Booleans are whether a cell is free."""
        cells = np.asarray(terrain)
        if cells.ndim != 2:
            raise UsageError(f"the map has the shape {cells.shape}; expected (height, width)")
        if cells.dtype.kind not in "biu" or (cells.size and not 0 <= int(cells.min()) <= int(cells.max()) <= 255):
            raise UsageError("the map has to be of whole numbers from 0 to 255")
        self.terrain: NDArray[np.uint8] = cells.astype(np.uint8)
        """The map, shape ``(height, width)``."""

    def paths(
        self, starts: ArrayLike, goals: ArrayLike, *, cells: bool = True, backend: Backend = "auto"
    ) -> Paths:
        """Search from each start to its goal.

        :param starts: x and y of cells, shape ``(searches, 2)``.
        :param goals: the same.
        :param cells: whether results have the cells of paths, or only costs.
        """
        searches = _searches(starts, goals, 2)
        costs, expanded, firsts, words, fingerprint = _core.search_grid(self.terrain, searches, cells, backend)
        return Paths(costs, expanded, firsts, words.reshape(-1, 2), fingerprint, self.terrain)


class Graph:
    """A directed graph with whole weights."""

    def __init__(self, vertices: int, arcs: ArrayLike | Sequence[Sequence[int]]) -> None:
        """``arcs`` has a row for each arc: from, to and weight."""
        rows: NDArray[Any] = np.asarray(arcs)
        if rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0):
            raise UsageError("arcs have to be whole numbers from 0")
        self.vertices = vertices
        """The number of vertices."""
        self.arcs: NDArray[np.uint32] = rows.reshape(-1, 3).astype(np.uint32)
        """The arcs, shape ``(arcs, 3)``."""

    def paths(
        self, starts: ArrayLike, goals: ArrayLike, *, cells: bool = True, backend: Backend = "auto"
    ) -> Paths:
        """Search from each start to its goal: vertices, shape ``(searches,)``.

        :param cells: whether results have the vertices of paths, or only costs.
        """
        searches = _searches(starts, goals, 1)
        return Paths(*_core.search_graph(self.vertices, self.arcs, searches, cells, backend))
