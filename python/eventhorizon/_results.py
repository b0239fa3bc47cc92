"""Results of runs."""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import EventhorizonWarning, UsageError
from ._kept import KeptNetworkRun, KeptRuns, NetworkRun
from ._pictures import Picture
from ._table import Categories, Column, Table, columns, html

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SHOWN = ("mean", "half_width", "lower", "upper", "theory")


@dataclass(frozen=True)
class Estimate:
    """A measure with its confidence interval. ``value in estimate`` is whether it is in the interval."""

    measure: str
    """The name of the measure, such as ``"utilisation"``."""
    mean: float
    """The estimate from all replications; NaN if nothing was observed."""
    half_width: float
    """Half the width of the interval; NaN without one."""
    lower: float
    """The lower end of the interval."""
    upper: float
    """The upper end of the interval."""
    theory: float
    """The exact value by theory; NaN if none is known."""
    observations: int
    """Replications with observations."""
    node: str | None = None
    """The node of a network."""
    class_: str | None = None
    """The class of customers; ``None`` for all together."""

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return f"{self.mean:.6g} ± {self.half_width:.2g}"

    def __format__(self, form: str) -> str:
        """The mean in this form; without one, the mean and half the width."""
        return format(self.mean, form) if form else str(self)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _numbers(rows: Sequence[dict[str, Any]], key: str) -> NDArray[np.float64]:
    return np.array([_number(row[key]) for row in rows], dtype=np.float64)


def _codes(rows: Sequence[str]) -> Categories:
    names = list(dict.fromkeys(rows))
    place = {name: number for number, name in enumerate(names)}
    return Categories(np.array([place[row] for row in rows], dtype=np.int32), names)


class Results(ABC):
    """What all results have: a table of measures with intervals, and the values of each replication.

    pandas, polars, pyarrow and DuckDB read them as the table (``polars.DataFrame(results)``).
    """

    model: str
    """The name of the model."""
    unit: str
    """The unit of time, for readers."""
    seed: int
    """The seed of the random streams."""
    engine: str
    """``"cpu"`` or ``"gpu"``."""
    adapter: str
    """The device."""
    mapping: str
    """How replications were mapped to the device."""
    seconds: float
    """Wall-clock time of the run in seconds, compilation included."""
    events: int | None
    """Events of all replications, where they are counted."""
    fingerprint: str
    """64 bits to compare runs of two machines, as hexadecimal text."""
    level: float
    """The confidence level of intervals."""
    until: float | None
    """The end of each replication, in units of time."""
    warm_up: float | None
    """The time at which statistics begin, in units of time."""
    warnings: list[str]
    """Reasons to doubt the results, in sentences."""
    interrupted: bool
    """Whether Ctrl-C ended the run; the results are of the replications up to then."""

    @property
    @abstractmethod
    def replications(self) -> int:
        """Replications (of each point of an experiment, at most)."""

    @cached_property
    def table(self) -> Table:
        """One row for each measure, with its interval."""
        raise NotImplementedError

    @cached_property
    def observations(self) -> Table:
        """One row for each measure and replication: the tidy form for pandas and polars."""
        raise NotImplementedError

    @abstractmethod
    def to_json(self) -> str:
        """The report as JSON, as the program writes it."""

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the table as CSV."""
        import csv

        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.table.columns)
            for row in self.table.rows():
                empty = (value if value == value else "" for value in row.values())
                writer.writerow(empty)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas ``DataFrame``; ``results.observations.to_pandas()`` has each replication."""
        return self.table.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The capsule of Arrow's C stream interface, for the table."""
        return self.table.__arrow_c_stream__(requested_schema)

    def _head(self) -> str:
        runs = f"{self.replications} replication{'s' if self.replications != 1 else ''}"
        end = "" if self.until is None else f" until {self.until:g} {self.unit}".rstrip()
        return f"{self.model}: {runs}{end}, {self.adapter}, {self.seconds:.3g} s"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._head()}>"

    def _repr_html_(self) -> str:
        names = [name for name in self.table.columns if name not in _SHOWN]
        names = [name for name in names if name in self._keys()]
        shown = [*names, "mean", "±", "theory"]

        def cells(row: dict[str, Any]) -> list[str]:
            numbers = (row["mean"], row["half_width"], row["theory"])
            return [str(row[name]) for name in names] + [
                "" if number != number else f"{number:.5g}" for number in numbers
            ]

        rows = [cells(row) for row in self.table.rows()]
        return html(shown, rows, ". ".join([self._head(), *self.warnings]))

    @abstractmethod
    def _keys(self) -> list[str]:
        """The columns that name a row."""

    def plot(self, *measures: str, ax: Axes | None = None) -> Axes:
        """Draw intervals beside theory, by matplotlib. Without names: all measures with an interval.

        Returns the axes; ``ax`` draws into others.
        """
        import matplotlib.pyplot as plt

        rows = [row for row in self.table.rows() if row["half_width"] == row["half_width"]]
        rows = [row for row in rows if not measures or row["measure"] in measures]
        if not rows:
            raise UsageError("there is no interval to draw; run more replications, or name other measures")
        axes: Axes = plt.subplots()[1] if ax is None else ax
        keys = self._keys()
        names = [" ".join(str(row[key]) for key in keys if row[key] not in ("all", "(network)")) for row in rows]
        places = np.arange(len(rows))
        means = np.array([row["mean"] for row in rows])
        sides = np.array([[row["mean"] - row["lower"], row["upper"] - row["mean"]] for row in rows]).T
        axes.errorbar(means, places, xerr=sides, fmt="o", label="simulated")
        known = [(row["theory"], place) for row, place in zip(rows, places, strict=True)]
        known = [(theory, place) for theory, place in known if theory == theory]
        if known:
            axes.plot(*zip(*known, strict=True), "x", label="theory")
            axes.legend()
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.set_title(self.model)
        return axes

    def _warn(self, stacklevel: int) -> None:
        """Report doubts as Python warnings, from the line of the caller of ``run``, this number of calls above."""
        for warning in self.warnings:
            warnings.warn(warning, EventhorizonWarning, stacklevel=stacklevel)
        if self.interrupted:
            text = f"Ctrl-C ended the run: the results are of {self.replications} replications"
            warnings.warn(text, EventhorizonWarning, stacklevel=stacklevel)


class NetworkResults(Results):
    """Results of a queueing network, beside theory."""

    def __init__(self, run: NetworkRun) -> None:
        self._run = run
        self._report: dict[str, Any] = json.loads(run.json())
        self._rows: list[dict[str, Any]] = self._report["results"]
        report = self._report
        self.model = report["model"]
        self.unit = report["unit"]
        self.seed = run.seed
        self.engine = report["engine"]
        self.adapter = report["adapter"]
        self.mapping = report["mapping"]
        self.seconds = report["seconds"]
        self.events = report["events"]
        self.fingerprint = report["fingerprint"]
        self.level = report["level"]
        self.until = report["until"]
        self.warm_up = report["warm_up"]
        self.warnings = report["warnings"]
        self.interrupted = run.interrupted
        self.customers: int = report["customers"]
        """Services that ended after the warm-up, in all replications."""
        self.stopped: str | None = next(iter(report["stopped"]), None)
        """Why replications stopped, if a precision was requested: ``"reached"`` and others."""

    def __reduce__(self) -> tuple[Any, ...]:
        return NetworkResults, (KeptNetworkRun(self._run, len(self._rows)),)

    @property
    def picture(self) -> Picture:
        """The network as SVG, with stations coloured by utilisation."""
        return Picture(self._run.svg())

    @property
    def replications(self) -> int:
        replications: int = self._report["replications"]
        return replications

    def _keys(self) -> list[str]:
        return ["node", "class", "measure"]

    @cached_property
    def table(self) -> Table:
        """One row for each measure of a class at a node: ``node``, ``class`` (``all`` for all together),
        ``measure``, ``mean``, ``half_width``, ``lower``, ``upper``, ``theory``, ``observations`` and
        ``resolution`` (of quantiles). Missing numbers are NaN. Times are in units of the network."""
        kinds = {**dict.fromkeys(self._keys(), str), **dict.fromkeys(_SHOWN, float)}
        return Table.of_rows(self._rows, {**kinds, "observations": int, "resolution": float})

    @cached_property
    def lengths(self) -> Table:
        """The distribution of the number of customers at each station, as shares of time, of a run with
        ``quantiles=True``: ``node``, ``customers``, ``most`` (the largest number of the share, NaN if it
        is open), ``or_more``, ``mean`` and ``half_width``."""
        kinds = {"node": str, "customers": int, "most": float, "or_more": int, "mean": float, "half_width": float}
        return Table.of_rows(self._report["lengths"], kinds)

    @cached_property
    def observations(self) -> Table:
        """``node``, ``class``, ``measure``, ``replication`` and ``value``, one row for each replication (or
        batch of one long run) of each measure but quantiles. NaN where nothing was observed."""
        values = [self._run.values(number) for number in range(len(self._rows))]
        counts = [len(of) for of in values]

        def column(key: str) -> Categories:
            of_rows = _codes([row[key] for row in self._rows])
            return Categories(np.repeat(of_rows.codes, counts), of_rows.names)

        numbers = [np.arange(count, dtype=np.int64) for count in counts]
        return Table(
            {
                **{key: column(key) for key in self._keys()},
                "replication": np.concatenate(numbers),
                "value": np.concatenate(values),
            }
        )

    def _row(self, measure: str, node: str | None, class_: str | None) -> int:
        named = [number for number, row in enumerate(self._rows) if row["measure"] == measure]
        if node is not None:
            nodes = dict.fromkeys(row["node"] for row in self._rows)
            if node not in nodes:
                raise UsageError(f"there is no node {node!r}; the nodes are {', '.join(nodes)}")
            named = [number for number in named if self._rows[number]["node"] == node]
        together = [number for number in named if self._rows[number]["class"] == (class_ or "all")]
        # A class alone at its node needs no name.
        found = together or ([] if class_ else named)
        if len(found) == 1:
            return found[0]
        asked = " at ".join([repr(measure), *([] if node is None else [repr(node)])])
        if not found:
            known = ", ".join(dict.fromkeys(row["measure"] for row in self._rows))
            raise UsageError(f"there is no {asked}; the measures are {known}")
        places = ", ".join(f"{self._rows[number]['node']} ({self._rows[number]['class']})" for number in found)
        raise UsageError(f"{asked} is measured at several places: {places}; name `node` and `class_`")

    def estimate(self, measure: str, node: str | None = None, class_: str | None = None) -> Estimate:
        """A measure with its interval and theory. ``node`` and ``class_`` may be omitted where only one
        row has the measure."""
        row = self._rows[self._row(measure, node, class_)]
        return Estimate(
            measure=measure,
            observations=row["observations"],
            node=row["node"],
            class_=None if row["class"] == "all" else row["class"],
            **{key: _number(row[key]) for key in _SHOWN},
        )

    def values(self, measure: str, node: str | None = None, class_: str | None = None) -> NDArray[np.float64]:
        """The value of a measure in each replication, shape ``(replications,)``, ``float64``; NaN where
        nothing was observed."""
        return self._run.values(self._row(measure, node, class_))

    def to_json(self) -> str:
        return json.dumps({**self._report, "seed": self.seed}, indent=2)

    def __str__(self) -> str:
        return self._run.text()


@dataclass(frozen=True)
class Selected:
    """The result of a selection."""

    best: int | None
    """The number of the best point; ``None`` if it was not decided."""
    left: list[int]
    """Points that may be the best."""
    ended_after: list[int | None]
    """By point: the replications after which it was out of the selection, if it was."""
    probability: float | None = None
    """With a budget: an estimate of the probability that no other point is better."""


class RunResults(Results):
    """Results at each point of an experiment, of a process model, a model in WGSL or a network."""

    def __init__(self, run: _core.Runs, level: float) -> None:
        self._run = run
        self.model = run.model
        self.unit = run.unit
        self.seed = run.seed
        self.engine = run.engine
        self.adapter = run.adapter
        self.mapping = run.mapping
        self.seconds = run.seconds
        self.events = run.events
        self.fingerprint = f"{run.fingerprint:016x}"
        self.level = level
        self.until = run.until
        self.warm_up = run.warm_up
        self.warnings = run.warnings
        self.interrupted = run.interrupted
        self.measures: list[str] = run.names()
        """The names of the measures."""
        self.factors: list[str] = run.factors()
        """The names of parameters with several values."""
        self.points: list[dict[str, float]] = [
            dict(zip(self.factors, levels, strict=True)) for levels in run.levels()
        ]
        """The values of these parameters, by point."""
        self.stopped: list[str] = run.stopped()
        """Why the replications of each point ended, if a precision was requested."""
        selected = run.selected()
        self.selected: Selected | None = None if selected is None else Selected(*selected)
        """The result of a selection."""

    def __reduce__(self) -> tuple[Any, ...]:
        return RunResults, (KeptRuns(self._run, self.level), self.level)

    @property
    def replications(self) -> int:
        return max(self._run.replications(), default=0)

    def _keys(self) -> list[str]:
        return [*self.factors, "measure"]

    @cached_property
    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self._run.json(self.level))
        return report

    @cached_property
    def table(self) -> Table:
        """One row for each point and measure: ``point``, a column for each parameter with several values,
        ``measure``, ``mean``, ``half_width``, ``lower``, ``upper``, ``theory``, the quantiles of
        replications (``min``, ``q05``, ``q25``, ``median``, ``q75``, ``q95``, ``max``), ``observations``
        and ``failed``, and the ``resolution`` of quantiles, if there are any. Missing numbers are NaN. Times are in units of the model."""
        rows: list[dict[str, Any]] = self._report["results"]
        found: dict[str, Column] = {
            **columns(rows, {"point": int}),
            **columns([row["factors"] for row in rows], dict.fromkeys(self.factors, float)),
            **columns(rows, {"measure": str, "mean": float, "half_width": float}),
        }
        mean, half = _numbers(rows, "mean"), _numbers(rows, "half_width")
        # Intervals of quantiles need not be symmetrical.
        around = {"lower": mean - half, "upper": mean + half}
        for name, ends in around.items():
            known = [row.get(name, end) for row, end in zip(rows, ends, strict=True)]
            found[name] = np.asarray(known, dtype=np.float64)
        quantiles = ("theory", "min", "q05", "q25", "median", "q75", "q95", "max")
        found |= columns(rows, {**dict.fromkeys(quantiles, float), "observations": int, "failed": int})
        if any("resolution" in row for row in rows):
            resolution = [row.get("resolution") for row in rows]
            found["resolution"] = np.array([np.nan if width is None else width for width in resolution])
        return Table(found)

    @cached_property
    def observations(self) -> Table:
        """``point``, a column for each parameter with several values, ``measure``, ``replication`` and
        ``value``, one row for each replication of each measure. NaN where nothing was observed."""
        runs = self._run.replications()
        names = self.measures
        sizes = [count for count in runs for _ in names]
        values = [
            np.asarray(self.values(name, point), dtype=np.float64) for point in range(len(runs)) for name in names
        ]
        points = np.repeat(np.arange(len(runs), dtype=np.int64), [count * len(names) for count in runs])
        columns: dict[str, Column] = {"point": points}
        for number, factor in enumerate(self.factors):
            columns[factor] = np.array([levels[number] for levels in self._run.levels()])[points]
        codes = np.tile(np.arange(len(names), dtype=np.int32), len(runs))
        columns["measure"] = Categories(np.repeat(codes, sizes), names)
        numbers = [np.arange(count, dtype=np.int64) for count in sizes]
        columns["replication"] = np.concatenate(numbers) if numbers else np.array([], dtype=np.int64)
        columns["value"] = np.concatenate(values) if values else np.array([])
        return Table(columns)

    def estimate(self, measure: str, point: int = 0) -> Estimate:
        """A measure at a point with its interval, or a quantile of a tally with a histogram."""
        rows: list[dict[str, Any]] = self._report["results"]
        row = next((row for row in rows if row["point"] == point and row["measure"] == measure), None)
        if row is None:
            self._check(measure)
            raise UsageError(f"there is no {measure!r} at point {point}: there are {len(self.points)} points, from 0")
        mean, half = _number(row["mean"]), _number(row["half_width"])
        # Intervals of quantiles need not be symmetrical.
        return Estimate(
            measure=measure,
            mean=mean,
            half_width=half,
            lower=_number(row.get("lower", mean - half)),
            upper=_number(row.get("upper", mean + half)),
            theory=_number(row["theory"]),
            observations=row["observations"],
        )

    def _check(self, measure: str) -> None:
        if measure not in self.measures:
            raise UsageError(f"there is no {measure!r}; the measures are {', '.join(self.measures)}")

    def values(self, measure: str, point: int = 0) -> NDArray[Any]:
        """The value of a measure in each replication of a point, shape ``(replications,)``, in the type of
        the model: ``float64``, ``float32``, ``uint32``, ``int32`` or ``uint64``. It is a read-only view of
        the memory of the results. Failed replications have arbitrary values: see :meth:`failures`."""
        self._check(measure)
        return self._run.values(point, measure)

    def failures(self, point: int = 0) -> dict[int, str]:
        """The replications of a point without a result, with their causes."""
        return dict(self._run.failures(point))

    def difference(self, measure: str, left: int, right: int, level: float | None = None) -> Estimate:
        """The difference of a measure, point ``left`` minus point ``right``, from the differences of
        replications with the same number. Where points share random numbers, as those of process models
        do, its interval is much narrower than those of the points."""
        self._check(measure)
        # The library subtracts the first from the second.
        mean, lower, upper, observations = self._run.compare(right, left, measure, level or self.level)
        ends = _number(lower), _number(upper)
        return Estimate(
            measure=measure,
            mean=_number(mean),
            half_width=(ends[1] - ends[0]) / 2,
            lower=ends[0],
            upper=ends[1],
            theory=float("nan"),
            observations=observations,
        )

    def to_json(self) -> str:
        header = {
            key: getattr(self, key)
            for key in (
                "model seed engine adapter mapping replications warnings until warm_up events seconds "
                "fingerprint level stopped"
            ).split()
        }
        return json.dumps({**header, **self._report}, indent=2)

    def __str__(self) -> str:
        return self._run.text(self.level)


