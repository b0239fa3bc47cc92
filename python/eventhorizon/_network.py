"""Queueing networks."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import Any, Literal

from . import _ciw, _core
from ._description import (
    Backend,
    Levels,
    Part,
    Value,
    Written,
    changes,
    check_counts,
    in_file,
    is_path,
    read,
    times,
)
from ._errors import Error, UsageError
from ._optimise import Searched
from ._pictures import Picture
from ._progress import Progress, calls
from ._results import NetworkResults, RunResults
from ._table import Table
from .distributions import Distribution

#: Where customers go: a name; a list of links such as ``{"node": "x-ray", "probability": 0.3}``;
#: ``{"in_turn": [...]}`` or ``{"shortest": [...]}``.
Route = str | Mapping[str, Value] | Sequence[str | Mapping[str, Value]]

#: The most customers that may wait at a station.
MOST_ROOM = 65_536


class Network(Searched):
    """A queueing network: sources, stations and routes by name.

    Built by calls::

        network = Network("M/M/1", until=20_000, warm_up=1_000)
        network.source("arrivals", exponential(1.25), to="server")
        network.station("server", exponential(1), to="out").sink("out")
        print(network.run())

    or read: :meth:`from_toml`, :meth:`from_json`, :meth:`from_dict`, :meth:`from_ciw`. Networks can be pickled and compared.
    """

    def __init__(
        self,
        name: str,
        *,
        unit: str | None = None,
        about: str | None = None,
        classes: Sequence[str] | None = None,
        until: float | None = None,
        warm_up: float | None = None,
        travel: Distribution | None = None,
        ticks_per_unit: int | None = None,
        folder: str | PathLike[str] | None = None,
    ) -> None:
        """A network without nodes. Times are in its unit.

        :param unit: the unit of time, for readers.
        :param classes: the classes of customers; where there are priorities, the first goes first.
        :param until: the end of each replication.
        :param warm_up: the time at which statistics begin.
        :param travel: the travel time of routes without their own.
        :param ticks_per_unit: the resolution of times; by default it is chosen from the times.
        :param folder: the folder of files that the network names, such as ``empirical("times.csv")``; without
            it, the network names no files.
        """
        self._path: str | PathLike[str] | None = None
        self._folder: str | None = None if folder is None else os.path.abspath(folder)
        self._text: str | None = None
        self._keys: dict[str, Any] = {
            key: value
            for key, value in {
                "name": name,
                "about": about,
                "unit": unit,
                "ticks_per_unit": ticks_per_unit,
                "classes": None if classes is None else list(classes),
                "until": until,
                "warm_up": warm_up,
                "travel": travel,
            }.items()
            if value is not None
        }

    @classmethod
    def _from(
        cls,
        text: str | None,
        keys: Mapping[str, Any],
        path: str | PathLike[str] | None,
        folder: str | None,
    ) -> Network:
        network = cls.__new__(cls)
        network._path, network._folder, network._text, network._keys = path, folder, text, dict(keys)
        network._native()
        return network

    @classmethod
    def from_toml(cls, source: str | PathLike[str]) -> Network:
        """Read a description: TOML text, or the path of a TOML file (or of JSON, if it ends in .json).
        Files that it names are relative to its folder; a text names no files.

        :raises ModelError: with line and remedy.
        """
        if not is_path(source):
            return cls._from(str(source), {}, None, None)
        if str(source).endswith(".json"):
            return cls.from_json(source)
        return cls._from(read(source), {}, source, _folder_of(source))

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> Network:
        """Read a description: JSON text, or the path of a JSON file."""
        text, path = (read(source), source) if is_path(source) else (str(source), None)
        folder = None if path is None else _folder_of(path)
        with in_file(path):
            _core.Network.from_json(text, folder)  # its errors have lines
        return cls._from(None, json.loads(text), path, folder)

    @classmethod
    def from_dict(cls, description: Mapping[str, Value], *, folder: str | PathLike[str] | None = None) -> Network:
        """A description as a dictionary, with the keys of the TOML file.

        :param folder: the folder of files that it names; without it, it names none.
        """
        return cls._from(None, description, None, None if folder is None else os.path.abspath(folder))

    @classmethod
    def from_ciw(
        cls,
        network: object,
        *,
        name: str = "network",
        until: float | None = None,
        warm_up: float | None = None,
        unit: str | None = None,
        names: Sequence[str] | None = None,
    ) -> Network:
        """Read a network of Ciw: what ``ciw.create_network`` returns, or a dictionary of its arguments::

            import ciw
            network = ciw.create_network(
                arrival_distributions=[ciw.dists.Exponential(rate=0.2)],
                service_distributions=[ciw.dists.Exponential(rate=0.125)],
                number_of_servers=[2],
            )
            eh.Network.from_ciw(network, until=20_000).run()

        Customers that find a node full are blocked where they are, and lost if they come from outside, as in
        Ciw. What is given to ``ciw.Simulation`` (classes of nodes, trackers) is not seen.

        :param names: the names of the nodes; ``node 1``, ``node 2`` ... by default.
        :raises UsageError: if a part of it has no equivalent.
        """
        keys = {"name": name, "unit": unit, "until": until, "warm_up": warm_up}
        given = {key: value for key, value in keys.items() if value is not None}
        return cls.from_dict({**given, **_ciw.description(network, names)})

    def _native(self) -> _core.Network:
        with in_file(self._path):
            if self._text is not None:
                return _core.Network.from_toml(self._text, self._folder)
            return Written(self._keys).load(lambda text: _core.Network.from_json(text, self._folder))

    def _searched(self) -> tuple[_core.Network, AbstractContextManager[Any]]:
        return self._native(), in_file(self._path)

    def _node(self, kind: str, name: str, keys: Mapping[str, Any]) -> Network:
        if self._text is not None:
            raise UsageError("a network that was read from TOML cannot be changed; change its text")
        nodes: dict[str, Any] = self._keys.setdefault(kind, {})
        if name in nodes:
            raise UsageError(f"there is a {kind} {name!r} already; give one of them another name")
        for key in ("interarrival", "service", "time", "patience", "setup"):
            if isinstance(keys.get(key), (int, float)):
                remedy = f"write a distribution: `exponential({keys[key]})` or `constant({keys[key]})`"
                raise UsageError(f"`{key}` of `{name}` is the number {keys[key]}; {remedy}")
        nodes[name] = Part(keys)
        return self

    def source(
        self,
        name: str,
        interarrival: Distribution | None = None,
        *,
        to: Route,
        times: str | Iterable[float] | None = None,
        map: Mapping[str, Sequence[Sequence[float]]] | None = None,
        class_: str | None = None,
        batch: int | None = None,
        rates: Sequence[Mapping[str, float]] | None = None,
    ) -> Network:
        """Add a source: a distribution of times between arrivals, or ``times``, or ``map``.

        :param times: the times of arrivals in increasing order, or the name of a CSV file with a column ``time``.
        :param map: a Markovian arrival process ``{"d0": rows, "d1": rows}``: the rates of changes of phase
            without and with an arrival.
        :param class_: the class of its customers; the first class by default.
        :param batch: customers that arrive at a time.
        :param rates: periods ``{"lasts": time, "factor": share}`` by which the rate changes, repeated.
        :returns: the network.
        """
        keys = {
            "interarrival": interarrival,
            "times": times if times is None or isinstance(times, str) else list(times),
            "map": map,
            "class": class_,
            "batch": batch,
            "rates": rates,
            "to": to,
        }
        return self._node("source", name, keys)

    def station(
        self,
        name: str,
        service: Distribution | None = None,
        *,
        to: Route,
        servers: int | None = None,
        service_of: Mapping[str, Distribution] | None = None,
        capacity: int | None = None,
        capacity_of: Mapping[str, int] | None = None,
        when_full: Literal["lose", "block"] | None = None,
        balking: Sequence[float] | None = None,
        schedule: Sequence[Mapping[str, float]] | None = None,
        breakdown: Mapping[str, Distribution] | None = None,
        discipline: str | None = None,
        patience: Distribution | None = None,
        patience_of: Mapping[str, Distribution] | None = None,
        population: int | None = None,
        population_of: Mapping[str, int] | None = None,
        groups: Mapping[str, Mapping[str, Value]] | None = None,
        shift: Literal["finish", "preempt"] | None = None,
        interrupted: Literal["resume", "repeat", "restart"] | None = None,
        setup: Distribution | None = None,
        setup_of: Mapping[str, Distribution] | None = None,
        aging: float | None = None,
        speeds: Sequence[float] | None = None,
        batch: Mapping[str, Value] | None = None,
        splits: int | None = None,
        reneged_to: Route | None = None,
    ) -> Network:
        """Add a station with servers and a line. Networks with one of the arguments from ``groups`` on run as
        process models.

        :param service: the distribution of service times; ``service_of`` has those of single classes.
        :param servers: the number of servers, 1 by default.
        :param capacity: the most customers in service and in line.
        :param capacity_of: at an assembly, where ``capacity`` is of each class: those of other classes.
        :param when_full: ``"lose"`` customers that find no room, or ``"block"`` those that come from
            another station.
        :param balking: probabilities to leave at once, by the number of customers there.
        :param schedule: periods ``{"lasts": time, "servers": number}``, repeated.
        :param breakdown: ``{"up": distribution, "down": distribution}``.
        :param discipline: ``"fifo"``, ``"lifo"``, ``"random"``, ``"priority"``, ``"preemptive"``,
            ``"polling"`` or ``"sharing"``.
        :param patience: how long customers wait before they leave.
        :param population: customers that are there at the start.
        :param groups: groups of servers with skills, instead of ``servers``:
            ``{"nurses": {"servers": 2, "serves": ["urgent", "sick"], "speed": 1.2}}``.
        :param shift: ``"preempt"`` interrupts services when a schedule takes servers away; ``"finish"``, the
            default, completes them.
        :param interrupted: an interrupted service has the rest of its time (``"resume"``, the default), the same
            time again (``"repeat"``) or a new time (``"restart"``).
        :param setup: the time that the server takes before it serves another class than the last one;
            ``setup_of`` has those of single classes.
        :param aging: with ``discipline="priority"``: the wait that is worth one class.
        :param speeds: the speed of each server with 1, 2, 3 ... customers present; the last applies to more.
        :param batch: a server takes several customers at once: ``{"least": 2, "most": 4, "joins": True}``, or the
            parts of an assembly: ``{"parts": {"frame": 1, "wheel": 4}, "becomes": "bicycle"}``.
        :param splits: behind its service a customer becomes this number of customers.
        :param reneged_to: where customers go whose patience ends; by default they leave the network.
        :returns: the network.
        """
        keys = {
            "servers": servers,
            "service": service,
            "service_of": service_of,
            "capacity": capacity,
            "capacity_of": capacity_of,
            "when_full": when_full,
            "balking": balking,
            "schedule": schedule,
            "breakdown": breakdown,
            "discipline": discipline,
            "patience": patience,
            "patience_of": patience_of,
            "population": population,
            "population_of": population_of,
            "groups": groups,
            "shift": shift,
            "interrupted": interrupted,
            "setup": setup,
            "setup_of": setup_of,
            "aging": aging,
            "speeds": speeds,
            "batch": batch,
            "splits": splits,
            "reneged_to": reneged_to,
            "to": to,
        }
        return self._node("station", name, keys)

    def delay(
        self,
        name: str,
        time: Distribution | None = None,
        *,
        to: Route,
        time_of: Mapping[str, Distribution] | None = None,
        population: int | None = None,
        population_of: Mapping[str, int] | None = None,
    ) -> Network:
        """Add a time that customers spend without waiting. Returns the network."""
        keys = {
            "time": time,
            "time_of": time_of,
            "population": population,
            "population_of": population_of,
            "to": to,
        }
        return self._node("delay", name, keys)

    def router(self, name: str, *, to: Route) -> Network:
        """Add a choice of routes, which takes no time. Returns the network."""
        return self._node("router", name, {"to": to})

    def fork(
        self, name: str, *, tasks: Sequence[str | Mapping[str, Value]], quorum: int | None = None, to: Route
    ) -> Network:
        """Add a node that divides customers into tasks, and joins them when all have come back.

        :param tasks: a node or a link for each task.
        :param quorum: a customer continues when this number of its tasks are back; all by default.
        :returns: the network.
        """
        return self._node("fork", name, {"tasks": list(tasks), "quorum": quorum, "to": to})

    def sink(self, name: str) -> Network:
        """Add a node where customers leave the network. Returns the network."""
        return self._node("sink", name, {})

    def region(self, name: str, nodes: Sequence[str], capacity: int) -> Network:
        """Bound the number of customers at several nodes together. Others wait outside, at no node.

        :param nodes: stations and delays.
        :param capacity: the most customers there.
        :returns: the network.
        """
        return self._node("region", name, {"nodes": list(nodes), "capacity": capacity})

    @property
    def name(self) -> str:
        """The name of the network."""
        return self._native().name

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes."""
        return self._native().nodes

    def to_dict(self) -> dict[str, Any]:
        """The description as a dictionary."""
        if self._text is None:
            return self._keys
        keys: dict[str, Any] = json.loads(self._native().json())
        return keys

    def trace(self, most: int = 10, *, seed: int = 1, until: float | None = None) -> Table:
        """The visits of the first ``most`` customers of each source in the first replication, as a table:
        ``customer`` (from 1), ``from``, ``class``, ``node``, ``arrived``, ``began`` (its service), ``left``
        and ``outcome`` (``"served"``, ``"lost"``, ``"balked"``, ``"reneged"`` or ``"present"``). Times that did not
        come are NaN."""
        core = self._native()
        with in_file(self._path):
            found = core.trace(seed=seed, until=times(core, until, 0.0, 3)[0], most=most)
        texts = dict.fromkeys(("from", "class", "node"), str)
        visits = dict.fromkeys(("arrived", "began", "left"), float)
        return Table.of_rows(json.loads(found), {"customer": int, **texts, **visits, "outcome": str})

    @property
    def picture(self) -> Picture:
        """The network as SVG: nodes in layers, an arrow for each route. Notebooks show it for the network."""
        with in_file(self._path):
            return Picture(self._native().svg())

    def _repr_svg_(self) -> str | None:
        try:
            return self.picture.svg
        except Error:  # too many nodes, or an error that a run reports
            return None

    def check(self) -> None:
        """Check the network, without a run.

        :raises ModelError: with the node and a remedy.
        """
        with in_file(self._path):
            self._native().check()

    def run(
        self,
        *,
        replications: int | None = None,
        seed: int = 1,
        until: float | None = None,
        warm_up: float | Literal["find"] | None = None,
        precision: float | None = None,
        level: float = 0.95,
        backend: Backend = "auto",
        mapping: str = "auto",
        quantiles: bool = False,
        batches: int | None = None,
        room: int = MOST_ROOM,
        allow_unstable: bool = False,
        save: str | PathLike[str] | None = None,
        resume: str | PathLike[str] | None = None,
        progress: Progress = False,
    ) -> NetworkResults:
        """Run replications on all cores or on a GPU, with the same results.

        Ctrl-C ends the run with the replications made so far. Other threads of Python run meanwhile.

        :param replications: their number, 64 by default; with ``precision`` the upper bound.
        :param seed: names the random streams.
        :param until: the end of each replication, in units of time; that of the description by default.
        :param warm_up: the time at which statistics begin; that of the description, or a tenth of the
            run. ``"find"`` finds it by the rule MSER-5.
        :param precision: run until each half width that decides (see the guide) is at most this share of its mean.
        :param level: the confidence level of intervals.
        :param backend: ``"auto"`` is a GPU where that is expected to be faster, else the CPU.
        :param mapping: ``"auto"``, ``"grid"``, ``"team"`` or ``"thread"``; it changes the speed only.
        :param quantiles: report quantiles of times, and the distribution of the number of customers.
        :param batches: make one long run instead, with intervals from this number of batches.
        :param room: the most customers that may wait at a station.
        :param allow_unstable: run even if customers arrive faster than they are served.
        :param save: a file for the study, written at its end (also after Ctrl-C) and each minute.
        :param resume: such a file: the study continues there, with the results of an uninterrupted one.
            More replications, or a higher precision, extend a study that has ended.
        :param progress: ``True`` for a bar, a callable of replications and events done, or a tqdm bar.
        :raises ModelError: the description is wrong.
        :raises FaultError: a replication failed.
        """
        check_counts(replications=replications, seed=seed, batches=batches, room=room)
        core = self._native()
        end, begin = times(core, until, None if warm_up == "find" else warm_up, 3)
        with in_file(self._path), calls(progress) as call:
            run = core.run(
                replications=replications,
                seed=seed,
                until=end,
                warm_up=None if warm_up == "find" else begin,
                level=level,
                precision=precision,
                backend=backend,
                mapping=mapping,
                room=room,
                quantiles=quantiles,
                allow_unstable=allow_unstable,
                batches=batches,
                saves=(save, resume),
                progress=call,
            )
        results = NetworkResults(run)
        results._warn(3)
        return results

    def experiment(
        self,
        parameters: Mapping[str, Levels],
        *,
        paired: bool = False,
        best: str | None = None,
        smallest: bool = False,
        difference: float | None = None,
        budget: int | None = None,
        replications: int | None = None,
        seed: int = 1,
        until: float | None = None,
        warm_up: float | None = None,
        precision: float | None = None,
        level: float = 0.95,
        backend: Backend = "auto",
        mapping: str = "auto",
        room: int = MOST_ROOM,
        allow_unstable: bool = False,
        progress: Progress = False,
    ) -> RunResults:
        """Run replications at several points: networks that differ in numbers.

        Replication r has the same random numbers at all points. Ctrl-C ends the run with the replications
        made so far.

        :param parameters: values by the path of a number, such as ``{"station.desk.servers": [2, 3]}``. The
            keys of a path are those of the TOML file.
        :param paired: lists belong together, instead of all their combinations.
        :param best: find the point with the largest mean of this measure, such as ``"wait(desk)"``, with
            ``smallest`` the smallest; see ``results.selected``. The answer is right with probability
            ``level`` if the best is better than the others by ``difference``.
        :param budget: instead of ``difference``: the replications of all points together, most for those that are
            close to the best, without a guarantee.
        :param replications: their number for each point, 64 by default; with ``precision`` or ``best`` the
            upper bound.

        The other arguments are those of :meth:`run`.

        :raises ModelError: the description, or a path, is wrong.
        """
        check_counts(replications=replications, seed=seed, room=room, budget=budget)
        if (best is None) != (difference is None and budget is None):
            raise UsageError("`best` belongs to `difference` or `budget`: give it with one of them, or none of them")
        if best is not None and precision is not None:
            raise UsageError("a run ends by `precision` or by `best`: leave one of them out")
        core = self._native()
        end, begin = times(core, until, warm_up, 3)
        with in_file(self._path), calls(progress) as call:
            run = core.experiment(
                changes=changes(parameters),
                paired=paired,
                replications=replications,
                seed=seed,
                until=end,
                warm_up=begin,
                level=level,
                precision=precision,
                best=None if best is None else (best, smallest, difference, budget),
                backend=backend,
                mapping=mapping,
                room=room,
                allow_unstable=allow_unstable,
                progress=call,
            )
        results = RunResults(run, level)
        results._warn(3)
        return results

    async def run_async(self, **settings: Any) -> NetworkResults:
        """:meth:`run` in another thread, to be awaited. Ctrl-C does not end it early."""
        return await asyncio.to_thread(lambda: self.run(**settings))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return False
        return (self._text, self._keys, self._folder) == (other._text, other._keys, other._folder)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Network {self.name!r} of {', '.join(self.nodes)}>"


def _folder_of(path: str | PathLike[str]) -> str:
    """The folder of a file, wherever the program goes later."""
    return os.path.dirname(os.path.abspath(path))
