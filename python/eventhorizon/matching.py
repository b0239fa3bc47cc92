"""Region matching: which regions of two sets overlap.

A region is a box in 1 to 4 dimensions, with its lower bounds inside and its upper bounds outside. A set is an
array of shape ``(regions, 2 * dimensions)`` (a row has all lower bounds, then all upper bounds), or a pair of
arrays ``(lower, upper)``, each of shape ``(regions, dimensions)`` or ``(regions,)``. Both sets have one of the
types ``float32``, ``float64``, ``int32``, ``int64`` and ``uint32``. Arrays of the first form in C order are read
without a copy.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import UsageError

__all__ = ["count", "pairs"]

Backend = Literal["auto", "cpu", "gpu"]

#: A set of regions.
Regions = ArrayLike | tuple[ArrayLike, ArrayLike]


def _rows(regions: Regions, what: str) -> NDArray[Any]:
    if isinstance(regions, tuple):
        lower, upper = (np.asarray(side) for side in regions)
        if lower.shape != upper.shape or lower.ndim not in (1, 2):
            raise UsageError(f"{what}: lower and upper bounds have the shapes {lower.shape} and {upper.shape}")
        sides = [side.reshape(len(side), -1) for side in (lower, upper)]
        return np.concatenate(sides, axis=1)
    rows: NDArray[Any] = np.ascontiguousarray(regions)
    if rows.ndim != 2:
        raise UsageError(f"{what} has the shape {rows.shape}; expected (regions, 2 * dimensions)")
    return rows


def _both(subscriptions: Regions, updates: Regions) -> tuple[NDArray[Any], NDArray[Any]]:
    return _rows(subscriptions, "the first set"), _rows(updates, "the second set")


def pairs(subscriptions: Regions, updates: Regions, *, backend: Backend = "auto") -> NDArray[np.uint32]:
    """All overlapping pairs, each once, as an array of shape ``(pairs, 2)``: the index in the first set and
    that in the second. The order is the same in every run and otherwise unspecified.

    ::

        >>> pairs([[0.0, 4.0], [5.0, 9.0]], [[3.0, 6.0]])
        array([[0, 0],
               [1, 0]], dtype=uint32)
    """
    found: NDArray[np.uint32] = _core.match_regions(*_both(subscriptions, updates), True, backend)
    return found


def count(subscriptions: Regions, updates: Regions, *, backend: Backend = "auto") -> int:
    """The number of overlapping pairs."""
    found: int = _core.match_regions(*_both(subscriptions, updates), False, backend)
    return found
