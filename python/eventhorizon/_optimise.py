"""Searches for the best numbers of a network or of a process model."""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from . import _core
from ._description import Backend, check_counts, times
from ._errors import EventhorizonWarning, UsageError
from ._progress import Progress, calls
from ._results import Estimate
from ._table import Table

#: The numbers to search: ``(first, last)`` or ``range(...)`` are whole numbers, ``(first, last, step)`` real ones.
Range = range | tuple[int, int] | tuple[float, float, float]


@dataclass(frozen=True)
class Optimum:
    """The result of a search: the best of the visited points."""

    values: dict[str, float]
    """The best numbers, by path or parameter."""
    objective: Estimate
    """The objective there."""
    bounds: list[Estimate]
    """The bounds there: the side that has to be smaller minus the other side, so at most 0 where a bound holds."""
    is_feasible: bool
    """Whether the estimates keep all bounds."""
    is_local_optimum: bool
    """Whether all neighbours are visited: points that differ by one step in one number."""
    is_clear: bool
    """Whether the neighbours are worse and the bounds are kept, at the level."""
    replications: int
    """Replications of all points together."""
    visited: Table
    """One row for each visited point: its numbers, ``replications``, and ``objective``, ``bound 1`` and so on, each
    with its half width. NaN where lines grow without end, which is not simulated."""
    seed: int
    """The seed of the random streams."""
    engine: str
    """``"cpu"`` or ``"gpu"``."""
    adapter: str
    """The device."""
    interrupted: bool
    """Whether Ctrl-C ended the search."""

    @classmethod
    def _of(
        cls, found: dict[str, Any], paths: Sequence[str], bounds: int, adapter: str | None, interrupted: bool
    ) -> Optimum:
        rows: list[dict[str, Any]] = found["visited"]
        best: dict[str, Any] = found["best"]
        columns = ["objective", *(f"bound {number}" for number in range(1, bounds + 1))]

        def estimate(column: str) -> Estimate:
            mean, half = (float("nan") if best[key] is None else best[key] for key in (column, f"{column} half_width"))
            return Estimate(
                measure=column,
                mean=mean,
                half_width=half,
                lower=mean - half,
                upper=mean + half,
                theory=float("nan"),
                observations=best["replications"],
            )

        kinds: dict[str, type] = {**dict.fromkeys(paths, float), "replications": int}
        for column in columns:
            kinds |= {column: float, f"{column} half_width": float}
        return cls(
            values={path: best[path] for path in paths},
            objective=estimate("objective"),
            bounds=[estimate(column) for column in columns[1:]],
            visited=Table.of_rows(rows, kinds),
            engine="cpu" if adapter is None else "gpu",
            adapter="the CPU" if adapter is None else adapter,
            interrupted=interrupted,
            **{key: found[key] for key in ("is_feasible", "is_local_optimum", "is_clear", "replications", "seed")},
        )


def _written(path: str, numbers: Range) -> str:
    """A range as the library reads it."""
    if isinstance(numbers, range):
        if numbers.step != 1 or not numbers:
            raise UsageError(f"the range of {path!r} is {numbers}: its step is 1, and it is not empty")
        return f"{path}={numbers[0]}..{numbers[-1]}"
    if not isinstance(numbers, tuple) or len(numbers) not in (2, 3):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"the range of {path!r} is {numbers!r}: write (first, last), or (first, last, step)")
    first, last, *step = numbers
    if not step and (int(first) != first or int(last) != last):
        raise UsageError(f"the range of {path!r} has no step: write ({first}, {last}, step) for real numbers")
    if not step:
        return f"{path}={int(first)}..{int(last)}"
    return f"{path}={first!r}..{last!r}:{step[0]!r}"


class Searched(ABC):
    """What has numbers that can be searched."""

    @abstractmethod
    def _searched(self) -> tuple[_core.Network | _core.Process, AbstractContextManager[Any]]:
        """The description, and a context that explains its errors."""

    def optimise(
        self,
        ranges: Mapping[str, Range],
        *,
        minimise: str | None = None,
        maximise: str | None = None,
        subject_to: str | Sequence[str] = (),
        budget: int = 2000,
        seed: int = 1,
        until: float | None = None,
        warm_up: float | None = None,
        level: float = 0.95,
        backend: Backend = "auto",
        progress: Progress = False,
    ) -> Optimum:
        """Find the numbers that minimise or maximise an expression of measures, subject to bounds::

            clinic.optimise(
                {"station.doctor.servers": (1, 10)},
                minimise="station.doctor.servers",
                subject_to="share(wait(doctor) <= 10) >= 0.9",
            )

        The method is COMPASS: the result is a local optimum with probability 1 as the budget grows. All points
        have common random numbers. Ctrl-C ends the search with the points visited so far.

        :param ranges: by path of a number (a parameter of a process model): ``(first, last)``, both included, or
            ``(first, last, step)`` for real numbers.
        :param minimise: an expression of measures and paths, such as ``"30 * station.doctor.servers + queue(doctor)"``.
        :param subject_to: one bound or several: expressions with ``<=`` or ``>=`` between them.
        :param budget: the most replications, of all points together.
        :param level: at which neighbours have to be worse for an end before the budget, and of intervals.
        :raises ModelError: the description, or a path, is wrong.
        :raises UsageError: an expression, a range or a setting is wrong.
        """
        objective = minimise if maximise is None else maximise
        if objective is None or (minimise is not None and maximise is not None):
            raise UsageError("give one of `minimise` and `maximise`")
        check_counts(seed=seed, budget=budget)
        bounds = [subject_to] if isinstance(subject_to, str) else list(subject_to)
        goal = (objective, maximise is not None, bounds, [_written(*of) for of in ranges.items()])
        core, explained = self._searched()
        effort = (budget, seed, level, times(core, until, warm_up, 3))
        with explained, calls(progress) as call:
            found, adapter, interrupted = core.optimise(goal, effort, backend, call)
        if interrupted:
            text = "Ctrl-C ended the search: the result is the best of the points visited up to then"
            warnings.warn(text, EventhorizonWarning, stacklevel=2)
        return Optimum._of(json.loads(found), list(ranges), len(bounds), adapter, interrupted)
