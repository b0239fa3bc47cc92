"""Process models: entities that hold things, wait, decide and let time pass.

A model is read from TOML, JSON or a dictionary, or built by calls. The builder writes what the TOML file
says, and the same reader reads it. Keys that are words of Python have other names: ``for`` is ``lasting``,
``if`` is ``branch``, ``else`` is ``otherwise``, ``while`` is ``repeat_while``, ``with`` is ``chance`` (of
several ``chances``), ``set`` is ``set_to``, ``{ do, interrupted }`` is ``interruptible``. ::

    from eventhorizon import ProcessModel, exponential, uniform
    from eventhorizon.process import count, entity, tally, use

    bank = ProcessModel("bank", until=10_000, warm_up=500)
    bank.resource("counter", 1)
    bank.entity(
        "customer",
        every=exponential(10),
        do=[
            use("counter", lasting=exponential(8), patience={"time": uniform(5, 15), "else": "reneges"}, tally="wait"),
            tally("stay"),
        ],
        reneges=[count("reneged")],
    )
    print(bank.run())

A text that stands for a number is an expression: ``"level >= 4"``. The guide describes the language:
``docs/guide-processes.md``.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike, fspath
from typing import Any, Literal, TypeVar

import numpy as np

from . import _core
from ._compile import Compiled, maker
from ._description import Backend, Levels, Part, Value, Written, changes, check_counts, is_path, read, times
from ._errors import UsageError
from ._optimise import Searched
from ._pictures import Drawn, escape, outline
from ._progress import Progress, calls
from ._results import RunResults
from ._table import Table

__all__ = [
    "ProcessModel",
    "batch",
    "branch",
    "chance",
    "chances",
    "choice",
    "clone",
    "count",
    "delay",
    "end",
    "forever",
    "get",
    "give",
    "go",
    "interrupt",
    "interruptible",
    "join",
    "note",
    "put",
    "release",
    "repeat",
    "repeat_while",
    "resize",
    "seize",
    "select",
    "send",
    "set_to",
    "share",
    "spawn",
    "statement",
    "take",
    "tally",
    "use",
    "wait",
    "wait_any",
    "wait_until",
]

#: A number, an expression, a distribution of times or a choice.
Amount = float | str | Mapping[str, Any]

#: Statements, or the name of a block of the entity.
Block = Sequence[Mapping[str, Any]] | str

#: A time, or ``{"time": ..., "when": ..., "else": ..., "continue": True}``.
Patience = Amount

Function = TypeVar("Function", bound=Callable[..., Any])

#: The most entities at a time.
MOST_ENTITIES = 65_534


class ProcessModel(Searched):
    """A process model, built by calls or read. It can be pickled: a model of a file is read again."""

    def __init__(
        self,
        name: str,
        *,
        unit: str | None = None,
        about: str | None = None,
        until: float | None = None,
        warm_up: float | None = None,
        ticks_per_unit: int | None = None,
    ) -> None:
        """A model without entities. Times are in its unit.

        :param unit: the unit of time, for readers.
        :param until: the end of each replication.
        :param warm_up: the time at which statistics begin.
        :param ticks_per_unit: the resolution of times; by default it is chosen from the times.
        """
        keys = {
            "name": name,
            "about": about,
            "unit": unit,
            "until": until,
            "warm_up": warm_up,
            "ticks_per_unit": ticks_per_unit,
        }
        self._source: tuple[str, str] | None = None
        self._keys: dict[str, Any] = {key: value for key, value in keys.items() if value is not None}

    @classmethod
    def _read(cls, kind: str, source: str) -> ProcessModel:
        model = cls.__new__(cls)
        model._source, model._keys = (kind, source), {}
        model._native()
        return model

    @classmethod
    def from_toml(cls, source: str | PathLike[str]) -> ProcessModel:
        """Read a description: TOML text, or the path of a TOML file (or of JSON, if it ends in .json).
        Files that it names are relative to its folder.

        :raises ModelError: with file, line and remedy.
        """
        return cls._read("read", fspath(source)) if is_path(source) else cls._read("from_toml", str(source))

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> ProcessModel:
        """Read a description: JSON text, or the path of a file whose name ends in .json."""
        return cls._read("read", fspath(source)) if is_path(source) else cls._read("from_json", str(source))

    @classmethod
    def from_dict(cls, description: Mapping[str, Value]) -> ProcessModel:
        """A description as a dictionary, with the keys of the TOML file."""
        model = cls.__new__(cls)
        model._source, model._keys = None, dict(description)
        model._native()
        return model

    def _searched(self) -> tuple[_core.Process, AbstractContextManager[Any]]:
        return self._native(), (self._written() or Written({})).explained()

    def _written(self) -> Written | None:
        return Written(self._keys) if self._source is None else None

    def _native(self) -> _core.Process:
        written = self._written()
        if written is not None:
            return written.load(_core.Process.from_json)
        assert self._source is not None
        kind, source = self._source
        process: _core.Process = getattr(_core.Process, kind)(source)
        return process

    def _named(self, table: str, name: str, value: Any) -> ProcessModel:
        if self._source is not None:
            raise UsageError("a model that was read cannot be changed; change its text")
        named: dict[str, Any] = self._keys.setdefault(table, {})
        if name in named:
            raise UsageError(f"there is a {table} {name!r} already; give one of them another name")
        named[name] = value
        return self

    def parameter(self, name: str, value: Value) -> ProcessModel:
        """Add a constant that an experiment changes: a number, a list of numbers, ``{"time": 9}`` for a
        time in units, or ``{"real": 1.5}``. Returns the model."""
        return self._named("parameters", name, value)

    def resource(
        self,
        name: str,
        units: Amount | None = None,
        *,
        queue: Literal["fifo", "priority", "preempt"] | None = None,
        schedule: Sequence[Sequence[float]] | None = None,
        shift: Literal["preempt"] | None = None,
        **keys: Value,
    ) -> ProcessModel:
        """Add a resource: its units, or a ``schedule`` of pairs of times and units. Returns the model."""
        given = {"units": units, "queue": queue, "schedule": schedule, "shift": shift, **keys}
        return self._named("resource", name, Part(given))

    def container(
        self,
        name: str,
        capacity: Amount,
        *,
        level: Amount | None = None,
        queue: Literal["fifo", "priority"] | None = None,
        **keys: Value,
    ) -> ProcessModel:
        """Add a quantity in whole units, with its level at the start. Returns the model."""
        return self._named("container", name, Part({"capacity": capacity, "level": level, "queue": queue, **keys}))

    def store(
        self,
        name: str,
        capacity: Amount | None = None,
        *,
        queue: Literal["fifo", "priority"] | None = None,
        **keys: Value,
    ) -> ProcessModel:
        """Add a place where entities rest until others take them. Returns the model."""
        return self._named("store", name, Part({"capacity": capacity, "queue": queue, **keys}))

    def signal(self, name: str) -> ProcessModel:
        """Add a signal, which entities wait for and others send. Returns the model."""
        return self._named("signal", name, Part({}))

    def variable(
        self,
        name: str,
        value: Amount | None = None,
        *,
        kind: Literal["integer", "time", "real"] | None = None,
        level: bool | None = None,
        histogram: bool | None = None,
        **keys: Value,
    ) -> ProcessModel:
        """Add a global number; with ``level`` it has a time average, and with ``histogram`` its quantiles over
        time, too. Returns the model."""
        given = {"value": value, "kind": kind, "level": level, "histogram": histogram, **keys}
        return self._named("variable", name, Part(given))

    def tally(
        self,
        name: str,
        *,
        up_to: Sequence[float | str] | None = None,
        histogram: float | str | None = None,
    ) -> ProcessModel:
        """Report more of the observations that statements make by this name.

        :param up_to: bounds: ``share(wait <= 5)`` is the share of observations that are at most 5.
        :param histogram: the width of the first bins of a histogram, from which ``quantile_50(wait)``, 90, 95
            and 99 follow.
        :returns: the model.
        """
        bounds = None if up_to is None else list(up_to)
        return self._named("tally", name, Part({"up_to": bounds, "histogram": histogram}))

    def entity(
        self,
        name: str,
        *,
        do: Sequence[Mapping[str, Any]],
        every: Amount | None = None,
        rates: Sequence[Mapping[str, Amount]] | None = None,
        times: Value | None = None,
        at_start: Amount | None = None,
        batch: Amount | None = None,
        most: Amount | None = None,
        source: Sequence[Mapping[str, Any]] | None = None,
        attributes: Mapping[str, Any] | None = None,
        **blocks: Sequence[Mapping[str, Any]],
    ) -> ProcessModel:
        """Add a type of entities: when they enter, and what they do.

        :param do: statements.
        :param every: the time before the first entry and between two.
        :param rates: periods ``{"lasts": time, "rate": entries per unit}`` of a Poisson process, repeated.
        :param times: times of entry, or ``{"time": [...], "size": [...]}`` with attributes. Only a model that is
            read from a file names CSV files.
        :param at_start: entities that enter at time zero.
        :param batch: how many enter at a time.
        :param most: no more arrivals than these.
        :param source: further sources.
        :param attributes: numbers of each entity: values, choices or times.
        :param blocks: named lists of statements.
        :returns: the model.
        """
        keys = {
            "every": every,
            "rates": rates,
            "times": times,
            "at_start": at_start,
            "batch": batch,
            "most": most,
            "source": source,
            "attributes": attributes,
            "do": do,
            **blocks,
        }
        return self._named("entity", name, Part(keys))

    def process(
        self,
        *,
        every: Amount | None = None,
        rates: Sequence[Mapping[str, Amount]] | None = None,
        times: Value | None = None,
        at_start: Amount | None = None,
        batch: Amount | None = None,
        most: Amount | None = None,
        source: Sequence[Mapping[str, Any]] | None = None,
    ) -> Callable[[Function], Function]:
        """Add a type of entities by a generator function, as SimPy's, which is compiled and never called::

            @bank.process(every=exponential(10))
            def customer(env):
                with env.counter.request(patience=uniform(5, 15), tally="wait") as got:
                    if not (yield got):
                        env.count("reneged")
                        return
                    yield env.timeout(exponential(8))
                env.tally("stay")

        The arguments are those of :meth:`entity`. ``docs/guide-python.md`` lists what can be compiled.

        :raises ModelError: with file, line and remedy, for what cannot be compiled.
        """

        def added(function: Function) -> Function:
            if not inspect.isgeneratorfunction(function):
                raise UsageError("expected a generator function: decorate a `def` with `yield`")
            compiled = Compiled(function)
            self.entity(
                compiled.name,
                every=every,
                rates=rates,
                times=times,
                at_start=at_start,
                batch=batch,
                most=most,
                source=source,
                attributes=compiled.attributes or None,
                do=compiled.statements,
            )
            return function

        return added

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._native().name

    @property
    def parameters(self) -> dict[str, list[float]]:
        """The values of each parameter, times in units."""
        return dict(self._native().parameters)

    @property
    def measures(self) -> list[str]:
        """The names of all measures."""
        core, written = self._native(), self._written()
        if written is None:
            return core.measures()
        with written.explained():
            return core.measures()

    def to_dict(self) -> dict[str, Any]:
        """The description as a dictionary. A model that was read has none."""
        if self._source is not None:
            raise UsageError("a model that was read has no dictionary; use its text")
        copy: dict[str, Any] = json.loads(Written(self._keys).text)
        return copy

    def run(
        self,
        *,
        parameters: Mapping[str, Levels] | None = None,
        replications: int | None = None,
        seed: int = 1,
        until: float | None = None,
        warm_up: float | None = None,
        precision: float | None = None,
        level: float = 0.95,
        backend: Backend = "auto",
        mapping: str = "auto",
        room: int = MOST_ENTITIES,
        allow_deadlock: bool = False,
        save: str | PathLike[str] | None = None,
        resume: str | PathLike[str] | None = None,
        progress: Progress = False,
    ) -> RunResults:
        """Run replications of each combination of parameters, on all cores or on a GPU.

        Replication r has the same random numbers at all points. Ctrl-C ends the run with the replications
        made so far. Other threads of Python run meanwhile.

        :param parameters: other values of parameters, times in units; several make an experiment.
        :param replications: their number for each point, 64 by default; with ``precision`` the upper bound.
        :param seed: names the random streams.
        :param until: the end of each replication, in units of time; that of the description by default.
        :param warm_up: the time at which statistics begin; that of the description, or a tenth of the run.
        :param precision: run until each half width that decides (see the guide) is at most this share of its mean.
        :param level: the confidence level of intervals.
        :param backend: ``"auto"`` is a GPU where that is expected to be faster, else the CPU.
        :param mapping: ``"auto"``, ``"grid"``, ``"team"`` or ``"thread"``; it changes the speed only.
        :param room: the most entities at a time.
        :param allow_deadlock: accept replications that end with entities that wait for ever.
        :param save: a file for the study, written at its end (also after Ctrl-C) and each minute.
        :param resume: such a file: the study continues there, with the results of an uninterrupted one.
            More replications, or a higher precision, extend a study that has ended.
        :param progress: ``True`` for a bar, a callable of replications and events done, or a tqdm bar.
        :raises ModelError: the description is wrong.
        :raises FaultError: a replication failed; the message names entity, statement and time.
        """
        return self._run(
            parameters,
            (until, warm_up),
            progress,
            replications=replications,
            seed=seed,
            precision=precision,
            best=None,
            level=level,
            backend=backend,
            mapping=mapping,
            room=room,
            allow_deadlock=allow_deadlock,
            saves=(save, resume),
        )

    def select(
        self,
        measure: str,
        difference: float | None = None,
        *,
        budget: int | None = None,
        smallest: bool = False,
        parameters: Mapping[str, Levels] | None = None,
        replications: int | None = None,
        seed: int = 1,
        until: float | None = None,
        warm_up: float | None = None,
        level: float = 0.95,
        backend: Backend = "auto",
        mapping: str = "auto",
        room: int = MOST_ENTITIES,
        allow_deadlock: bool = False,
        progress: Progress = False,
    ) -> RunResults:
        """Find the point with the largest (or smallest) mean of a measure; see ``results.selected``.

        Points that are clearly worse get no more replications. The answer is right with probability
        ``level`` if the best is better than the others by ``difference``. With a ``budget`` instead, this number
        of replications is spent, most on points that are close to the best; the answer has no guarantee, but
        ``results.selected.probability`` estimates how likely it is right.
        """
        check_counts(budget=budget)
        return self._run(
            parameters,
            (until, warm_up),
            progress,
            replications=replications,
            seed=seed,
            precision=None,
            best=(measure, smallest, difference, budget),
            level=level,
            backend=backend,
            mapping=mapping,
            room=room,
            allow_deadlock=allow_deadlock,
            saves=(None, None),
        )

    def _run(
        self,
        parameters: Mapping[str, Levels] | None,
        ends: tuple[float | None, float | None],
        progress: Progress,
        *,
        level: float,
        **settings: Any,
    ) -> RunResults:
        check_counts(**{name: settings[name] for name in ("replications", "seed", "room")})
        core, written = self._native(), self._written() or Written({})
        until, warm_up = times(core, *ends, 4)
        with calls(progress) as call, written.explained():
            run = core.run(
                changes=changes(parameters), until=until, warm_up=warm_up, level=level, progress=call, **settings
            )
        results = RunResults(run, level)
        results._warn(4)
        return results

    def _first(
        self,
        what: str,
        parameters: Mapping[str, Levels] | None,
        seed: int,
        until: float | None,
        point: int,
        most: int,
        between: tuple[float, float] = (0.0, 0.0),
    ) -> tuple[Any, str]:
        """What the library reports of the first replication, and a picture of it."""
        check_counts(seed=seed, point=point, most=most)
        core, written = self._native(), self._written() or Written({})
        end, _ = times(core, until, 0.0, 4)
        with written.explained():
            found, svg = core.first(
                what,
                changes=changes(parameters),
                seed=seed,
                until=end,
                point=point,
                most=most,
                between=(between[0], between[1] or end),
            )
        return json.loads(found), svg

    def trace(
        self,
        most: int = 1000,
        *,
        parameters: Mapping[str, Levels] | None = None,
        seed: int = 1,
        until: float | None = None,
        point: int = 0,
    ) -> Table:
        """What entities do in the first replication: the first ``most`` changes, as a table with ``time``,
        ``entity``, its ``number`` (from 1), ``what`` (``"waits"``, ``"delays"``, ``"rests"``, ``"joins"``,
        ``"follows"``, ``"notes"`` or ``"ends"``), ``statement`` (of a note, its name and value), and the ``line`` where
        it is written (0 if nowhere). Of several changes of an entity at one time, the last one is listed, and all its
        notes."""
        rows, _ = self._first("trace", parameters, seed, until, point, most)
        written = self._written()
        if written is not None:
            for row in rows:
                row["line"] = written.line(row["line"])
        kinds = {"time": float, "entity": str, "number": int, "what": str, "statement": str, "line": int}
        return Table.of_rows(rows, kinds)

    def timeline(
        self,
        parts: int = 400,
        *,
        parameters: Mapping[str, Levels] | None = None,
        seed: int = 1,
        until: float | None = None,
        point: int = 0,
    ) -> Drawn:
        """Lengths of lines, levels and units in use over the first replication, as averages of ``parts``
        parts of equal length: a picture in notebooks, and a table with ``time`` (the end of the part) and a
        column for each average."""
        found, svg = self._first("timeline", parameters, seed, until, point, parts)
        ends = found["part"] * np.arange(1, parts + 1)
        return Drawn({"time": ends, **{name: np.array(values) for name, values in found["averages"]}}, svg)

    def gantt(
        self,
        begin: float = 0.0,
        end: float | None = None,
        *,
        parameters: Mapping[str, Levels] | None = None,
        seed: int = 1,
        until: float | None = None,
        point: int = 0,
        most: int = 500,
    ) -> Drawn:
        """Who holds which units of resources in the first replication: a Gantt chart in notebooks, and a
        table with ``resource``, ``unit`` (from 1), ``entity``, ``number``, ``from`` and ``until``. It ends
        earlier where there would be more than about ``most`` rows."""
        found, svg = self._first("gantt", parameters, seed, until, point, most, (begin, end or 0.0))
        rows = [
            {"resource": of["resource"], **holding} for of in found["resources"] for holding in of["holdings"]
        ]
        kinds = {"resource": str, "unit": int, "entity": str, "number": int, "from": float, "until": float}
        return Drawn.drawn(rows, kinds, svg)

    async def run_async(self, **settings: Any) -> RunResults:
        """:meth:`run` in another thread, to be awaited. Ctrl-C does not end it early."""
        return await asyncio.to_thread(lambda: self.run(**settings))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessModel) and (self._source, self._keys) == (other._source, other._keys)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<ProcessModel {self.name!r}>"

    def _repr_html_(self) -> str:
        if self._source is not None:
            kind, source = self._source
            text = read(source) if kind == "read" else source
            return f"<pre>{escape(text)}</pre>"
        return outline(self.to_dict())


def statement(**keys: Any) -> Part:
    """Any statement by its keys: ``statement(delay=3)``. For keys that are words of Python, pass
    ``**{"for": 3}``."""
    return Part(keys)


def delay(time: Amount, *, label: str | None = None) -> Part:
    """Let time pass."""
    return Part({"delay": time, "label": label})


def _waiting(
    priority: Amount | None,
    patience: Patience | None,
    tally: str | None,
    label: str | None,
) -> dict[str, Any]:
    return {"priority": priority, "patience": patience, "tally": tally, "label": label}


def use(
    resource: str | Mapping[str, Amount],
    *,
    lasting: Amount | None = None,
    then: Sequence[Mapping[str, Any]] | None = None,
    do: Sequence[Mapping[str, Any]] | None = None,
    units: Amount | None = None,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    preempted: Block | None = None,
    label: str | None = None,
) -> Part:
    """Seize units, execute ``do``, let a time pass, and release.

    :param lasting: the key ``for``.
    :param then: statements behind the time, before the release.
    :param priority: the place in a line by priority: smaller is sooner.
    :param patience: how long to wait.
    :param tally: observe the time waited.
    :param preempted: what happens when the unit is taken: ``"resume"``, ``"repeat"``, ``"restart"`` or a
        block.
    """
    keys = {"use": resource, "units": units, "do": do, "for": lasting, "then": then, "preempted": preempted}
    return Part({**keys, **_waiting(priority, patience, tally, label)})


def seize(
    resource: str | Mapping[str, Amount],
    *,
    units: Amount | None = None,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Take units of a resource, or of several one after the other, and keep them."""
    return Part({"seize": resource, "units": units, **_waiting(priority, patience, tally, label)})


def release(resource: str | Mapping[str, Amount], *, units: Amount | None = None) -> Part:
    """Give units back."""
    return Part({"release": resource, "units": units})


def resize(resource: str, units: Amount) -> Part:
    """Change the units of a resource; those held are kept."""
    return Part({"resize": resource, "units": units})


def select(among: Sequence[str], by: str, do: Sequence[Mapping[str, Any]]) -> Part:
    """Choose a resource, which is ``"selected"`` in ``do``: by ``"shortest"``, ``"most_free"``,
    ``"in_turn"`` or ``"random"``."""
    return Part({"select": list(among), "by": by, "do": do})


def put(
    container: str,
    amount: Amount = 1,
    *,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Put an amount into a container; wait until there is room."""
    return Part({"put": container, "amount": amount, **_waiting(priority, patience, tally, label)})


def get(
    container: str,
    amount: Amount = 1,
    *,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Get an amount out of a container; wait until there is enough."""
    return Part({"get": container, "amount": amount, **_waiting(priority, patience, tally, label)})


def give(
    store: str,
    *,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Rest in a store until another entity takes this one."""
    return Part({"give": store, **_waiting(priority, patience, tally, label)})


def take(
    store: str,
    *,
    into: Mapping[str, str] | None = None,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Take an entity out of a store. ``into`` names own attributes, and those of the taken entity."""
    return Part({"take": store, "into": into, **_waiting(priority, patience, tally, label)})


def wait(
    signal: str,
    *,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Wait for the next sending of a signal."""
    return Part({"wait": signal, **_waiting(priority, patience, tally, label)})


def wait_until(
    condition: str,
    *,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Wait until a condition holds."""
    return Part({"wait_until": condition, **_waiting(priority, patience, tally, label)})


def wait_any(
    branches: Sequence[Mapping[str, Any]],
    *,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Wait until the first of several: ``{"signal": name, "do": [...]}``, ``{"until": condition, ...}``."""
    return Part({"wait_any": list(branches), **_waiting(priority, patience, tally, label)})


def batch(
    size: Amount,
    *,
    do: Sequence[Mapping[str, Any]] | None = None,
    permanent: bool | None = None,
    priority: Amount | None = None,
    patience: Patience | None = None,
    tally: str | None = None,
    label: str | None = None,
) -> Part:
    """Wait until as many are together; the last one executes ``do``, then all continue. With ``permanent``
    only the last one continues, and the others end."""
    keys = {"batch": size, "do": do, "permanent": permanent}
    return Part({**keys, **_waiting(priority, patience, tally, label)})


def send(signal: str) -> Part:
    """Send a signal to all that wait for it."""
    return Part({"send": signal})


def spawn(
    entity: str,
    *,
    count: Amount | None = None,
    set: Mapping[str, Amount] | None = None,
    join: bool | None = None,
) -> Part:
    """Start entities and set their attributes. With ``join``, :func:`join` waits for them."""
    return Part({"spawn": entity, "count": count, "set": set, "join": join})


def clone(copies: Amount, do: Sequence[Mapping[str, Any]], *, join: bool | None = None) -> Part:
    """Start copies of the entity, with its attributes; they execute ``do`` and end. With ``join``, :func:`join`
    waits for them."""
    return Part({"clone": copies, "do": do, "join": join})


def join() -> Part:
    """Wait until all entities that this one started with ``join`` have ended."""
    return Part({"join": True})


def interruptible(do: Sequence[Mapping[str, Any]], interrupted: Block) -> Part:
    """Execute ``do``; from where it is interrupted, the other block instead."""
    return Part({"do": do, "interrupted": interrupted})


def interrupt(entity: str, number: Amount) -> Part:
    """Interrupt the entity of a type with a number."""
    return Part({"interrupt": entity, "number": number})


def branch(
    condition: str,
    do: Block,
    *,
    otherwise: Block | None = None,
    elif_: Sequence[Mapping[str, Any]] | None = None,
) -> Part:
    """Execute a block if a condition holds: the statement ``if``. ``elif_`` is a list of others."""
    return Part({"if": condition, "do": do, "elif": elif_, "else": otherwise})


def chance(probability: Amount, do: Block, *, otherwise: Block | None = None, label: str | None = None) -> Part:
    """Execute a block with a probability: the statement ``with``."""
    return Part({"with": probability, "do": do, "else": otherwise, "label": label})


def chances(
    shares: Sequence[Mapping[str, Any]], *, otherwise: Block | None = None, label: str | None = None
) -> Part:
    """Execute one of several blocks at random; each is a :func:`share`."""
    return Part({"with": list(shares), "else": otherwise, "label": label})


def share(probability: Amount, do: Block) -> Part:
    """A block of :func:`chances`."""
    return Part({"p": probability, "do": do})


def repeat_while(condition: str, do: Sequence[Mapping[str, Any]]) -> Part:
    """Repeat a block while a condition holds: the statement ``while``."""
    return Part({"while": condition, "do": do})


def repeat(times: Amount, do: Sequence[Mapping[str, Any]]) -> Part:
    """Repeat a block a number of times."""
    return Part({"repeat": times, "do": do})


def forever(do: Sequence[Mapping[str, Any]]) -> Part:
    """Repeat a block for ever."""
    return Part({"forever": do})


def go(block: str) -> Part:
    """Continue in a named block."""
    return Part({"go": block})


def end() -> Part:
    """End."""
    return Part({"end": True})


def set_to(name: str, value: Amount, *, label: str | None = None) -> Part:
    """Set an attribute or a variable: the statement ``set``."""
    return Part({"set": name, "to": value, "label": label})


def tally(name: str, value: Amount | None = None) -> Part:
    """Observe a value; the age of the entity by default."""
    return Part({"tally": name, "value": value})


def count(name: str, by: Amount | None = None) -> Part:
    """Add to a counter, 1 by default."""
    return Part({"count": name, "by": by})


def note(name: str, value: Amount | None = None) -> Part:
    """Write a row of :meth:`ProcessModel.trace`, with an integer, 0 by default. Runs do not have it."""
    return Part({"note": name, "value": value})


@maker
def choice(probabilities: Mapping[int, Amount]) -> dict[str, dict[str, Any]]:
    """Whole numbers with their probabilities, for attributes and expressions."""
    return {"choice": {str(value): probability for value, probability in probabilities.items()}}
