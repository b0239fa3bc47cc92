"""Models in WGSL."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from . import _core
from ._description import Backend, Levels, Value, changes, check_counts, is_path, toml
from ._errors import UsageError
from ._progress import Progress, calls
from ._results import RunResults


class Model:
    """A model whose state changes in WGSL: replications of a function, or logical processes.

    ::

        model = Model.from_toml("epidemic.toml")
        results = model.run(parameters={"infection": [0.5, 0.9]}, replications=100)

    Or from texts, with the tables of the TOML file as arguments::

        model = Model(wgsl, parameters={"rate": 0.5}, measures={"wait": "waited / served"})

    Models can be pickled: a model of a file is read again.
    """

    def __init__(
        self,
        wgsl: str,
        *,
        name: str = "model",
        parameters: Mapping[str, Value] | None = None,
        measures: Mapping[str, str] | None = None,
        processes: Mapping[str, Value] | None = None,
        replications: int | None = None,
        seed: int | None = None,
        **keys: Value,
    ) -> None:
        """A model from WGSL, and what its TOML file would contain.

        :param parameters: values of the fields of ``struct Params``.
        :param measures: formulas of the columns of ``struct Output``.
        :param processes: for logical processes: ``count``, ``lookahead``, ``until`` and others.
        """
        tables: dict[str, Any] = {
            "name": name,
            "model": f"{name}.wgsl",
            "replications": replications,
            "seed": seed,
            **keys,
            "processes": processes,
            "parameters": parameters,
            "measures": measures,
        }
        lines = [f"{key} = {toml(value)}" for key, value in tables.items() if value is not None]
        self._source: tuple[str, ...] = (name, "\n".join(lines), f"{name}.wgsl", wgsl)
        self._model = self._open()

    def _open(self) -> _core.Model:
        if len(self._source) == 1:
            return _core.Model.read(self._source[0])
        return _core.Model.from_texts(*self._source)

    @classmethod
    def from_toml(cls, source: str | PathLike[str], wgsl: str | None = None) -> Model:
        """Read a description: the path of a TOML file, which names its WGSL file, or both texts."""
        model = cls.__new__(cls)
        if is_path(source):
            model._source = (fspath(source),)
        elif wgsl is None:
            raise UsageError("a model from a text needs its WGSL: Model.from_toml(toml, wgsl)")
        else:
            model._source = ("model.toml", str(source), "model.wgsl", wgsl)
        model._model = model._open()
        return model

    def __reduce__(self) -> tuple[Any, tuple[tuple[str, ...]]]:
        return _restored, (self._source,)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.described()[0]

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return self._model.described()[1]

    def run(
        self,
        *,
        parameters: Mapping[str, Levels] | None = None,
        replications: int | None = None,
        seed: int | None = None,
        until: float | None = None,
        precision: float | None = None,
        level: float = 0.95,
        backend: Backend = "auto",
        mapping: str = "auto",
        progress: Progress = False,
    ) -> RunResults:
        """Run replications of each combination of parameters, on all cores or on a GPU.

        Ctrl-C ends the run with the replications made so far. Other threads of Python run meanwhile.

        :param parameters: other values of parameters; several make an experiment.
        :param replications: their number for each point; with ``precision`` the upper bound.
        :param seed: names the random streams; that of the description, or 1.
        :param until: the end of each run of logical processes, in units of time.
        :param precision: run until each half width is at most this share of its mean.
        :param level: the confidence level of intervals.
        :param backend: ``"auto"`` begins on all CPU cores, and runs the remaining replications on a GPU if that
            is expected to be faster.
        :param mapping: how replications are mapped to the device; it changes the speed only.
        :param progress: ``True`` for a bar, a callable of replications and events done, or a tqdm bar.
        """
        return self._run(
            None, parameters, replications, seed, until, precision, level, backend, mapping, progress
        )

    def select(
        self,
        measure: str,
        difference: float,
        *,
        smallest: bool = False,
        parameters: Mapping[str, Levels] | None = None,
        replications: int | None = None,
        seed: int | None = None,
        until: float | None = None,
        level: float = 0.95,
        backend: Backend = "auto",
        mapping: str = "auto",
        progress: Progress = False,
    ) -> RunResults:
        """Find the point with the largest (or smallest) mean of a measure; see ``results.selected``.

        Points that are clearly worse get no more replications. The answer is right with probability
        ``level`` if the best is better than the others by ``difference``.
        """
        best = (measure, smallest, difference, None)
        return self._run(best, parameters, replications, seed, until, None, level, backend, mapping, progress)

    def _run(
        self,
        best: tuple[str, bool, float | None, int | None] | None,
        parameters: Mapping[str, Levels] | None,
        replications: int | None,
        seed: int | None,
        until: float | None,
        precision: float | None,
        level: float,
        backend: str,
        mapping: str,
        progress: Progress,
    ) -> RunResults:
        check_counts(replications=replications, seed=seed)
        with calls(progress) as call:
            run = self._model.run(
                changes=changes(parameters),
                replications=replications,
                seed=seed,
                until=until,
                level=level,
                precision=precision,
                best=best,
                backend=backend,
                mapping=mapping,
                progress=call,
            )
        results = RunResults(run, level)
        results._warn(4)
        return results

    async def run_async(self, **settings: Any) -> RunResults:
        """:meth:`run` in another thread, to be awaited. Ctrl-C does not end it early."""
        return await asyncio.to_thread(lambda: self.run(**settings))

    def __repr__(self) -> str:
        return f"<Model {self.name!r} with {', '.join(self.measures)}>"


def _restored(source: Sequence[str]) -> Model:
    model = Model.__new__(Model)
    model._source = tuple(source)
    model._model = model._open()
    return model
