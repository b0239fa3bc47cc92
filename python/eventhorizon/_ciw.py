"""Networks of Ciw as descriptions. Ciw is not imported: its objects are known by the names of their classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._errors import UsageError

#: What is given to ``ciw.create_network``.
_ARGUMENTS = {
    "arrival_distributions",
    "service_distributions",
    "number_of_servers",
    "routing",
    "queue_capacities",
    "priority_classes",
    "class_change_matrices",
    "batching_distributions",
    "reneging_time_distributions",
    "service_disciplines",
}

#: Arguments without an equivalent, with the value that they have if nothing is asked for.
_UNKNOWN = ("baulking_functions", "class_change_time_distributions", "ps_thresholds", "server_priority_functions")

_REMEDY = "leave it out, or write the network by hand"


def _refuse(what: str) -> UsageError:
    return UsageError(f"{what} of Ciw has no equivalent here: {_REMEDY}")


def _kind(of: object) -> str:
    return type(of).__name__


def distribution(of: Any) -> dict[str, Any] | None:
    """A distribution of Ciw as one of a description; None if there is none."""
    if of is None or (kind := _kind(of)) == "NoArrivals":
        return None
    if kind == "Exponential":
        return {"exponential": 1 / of.rate}
    if kind == "Deterministic":
        return {"constant": of.value}
    if kind == "Uniform":
        return {"uniform": [of.lower, of.upper]}
    if kind == "Triangular":
        return {"triangular": [of.lower, of.mode, of.upper]}
    if kind == "Gamma":
        return {"gamma": {"shape": of.shape, "scale": of.scale}}
    if kind == "Normal":  # drawn again where it is negative
        return {"truncated": {"law": {"normal": {"mean": of._mean, "deviation": of._sd}}}}
    if kind == "Lognormal":
        mean = math.exp(of._mean + of._sd**2 / 2)
        return {"lognormal": {"mean": mean, "deviation": mean * math.sqrt(math.expm1(of._sd**2))}}
    if kind == "Weibull":
        return {"weibull": {"scale": of.scale, "shape": of.shape}}
    if kind == "Erlang":
        return {"erlang": {"stages": of.num_phases, "mean": of.num_phases / of.rate}}
    if kind == "HyperExponential":
        return _mixture(zip(of.probs, ({"exponential": 1 / rate} for rate in of.rates), strict=True))
    if kind == "HyperErlang":
        parts = zip(of.rates, of.phase_lengths, strict=True)
        laws = [{"erlang": {"stages": length, "mean": length / rate}} for rate, length in parts]
        return _mixture(zip(of.probs, laws, strict=True))
    if kind in ("PhaseType", "Coxian"):
        return _phases(list(of.initial_state), [list(row) for row in of.absorbing_matrix])
    if kind == "Pmf":
        return {"discrete": {"values": list(of.values), "weights": list(of.probs)}}
    if kind == "Empirical":
        values = sorted({*of.observations})
        return {"discrete": {"values": values, "weights": [list(of.observations).count(value) for value in values]}}
    if kind == "MixtureDistribution":
        return _mixture(zip(of.probs, (_some(law) for law in of.dists), strict=True))
    raise _refuse(f"the distribution {kind}")


def _some(of: Any) -> dict[str, Any]:
    law = distribution(of)
    if law is None:
        raise _refuse("a mixture with no time")
    return law


def _mixture(parts: Iterable[tuple[float, dict[str, Any]]]) -> dict[str, Any]:
    kept: list[dict[str, Any]] = [{"weight": weight, "law": law} for weight, law in parts if weight > 0]
    if len(kept) > 1:
        return {"mixture": kept}
    only: dict[str, Any] = kept[0]["law"]
    return only


def _phases(first: list[float], rates: list[list[float]]) -> dict[str, Any]:
    """Phases of which each leads to the next one or to the end, the last state."""
    end = len(first) - 1
    for phase, row in enumerate(rates[:end]):
        if any(rate for to, rate in enumerate(row) if to not in (phase, phase + 1, end)):
            raise _refuse("a phase-type distribution whose phases lead to others than the next")

    def begun(start: int) -> dict[str, Any]:
        means, continues = [], []
        for phase in range(start, end):
            means.append(-1 / rates[phase][phase])
            on = -rates[phase][phase + 1] / rates[phase][phase] if phase + 1 < end else 0.0
            if on <= 0:
                break
            continues.append(on)
        return {"coxian": {"means": means, "continues": continues}} if continues else {"exponential": means[0]}

    return _mixture((weight, begun(start)) for start, weight in enumerate(first[:end]) if weight > 0)


def _whole(of: Any) -> Mapping[str, Any]:
    """The arguments of ``ciw.create_network`` that a network of Ciw was made from."""
    if isinstance(of, Mapping):
        return of
    if not hasattr(of, "service_centres") or not hasattr(of, "customer_classes"):
        raise UsageError(
            f"expected a network of Ciw, or the arguments of `ciw.create_network` as a dictionary, found {_kind(of)}"
        )
    nodes, classes = of.service_centres, of.customer_classes
    preempt = [node.priority_preempt for node in nodes]
    changes = [node.class_change_matrix for node in nodes]
    times = [law for each in classes.values() for law in each.class_change_time_distributions.values()]
    found: dict[str, Any] = {
        key: {name: getattr(each, key) for name, each in classes.items()}
        for key in (
            "arrival_distributions",
            "service_distributions",
            "routing",
            "batching_distributions",
            "reneging_time_distributions",
            "baulking_functions",
        )
    }
    found |= {
        "number_of_servers": [node.number_of_servers for node in nodes],
        "queue_capacities": [node.queueing_capacity for node in nodes],
        "service_disciplines": [node.service_discipline for node in nodes],
        "server_priority_functions": [node.server_priority_function for node in nodes],
        "priority_classes": ({name: each.priority_class for name, each in classes.items()}, preempt),
        "class_change_matrices": changes if any(changes) else None,
        "class_change_time_distributions": times,
        "system_capacity": of.system_capacity,
    }
    return found


def _is_nothing(value: Any) -> bool:
    """Whether an argument asks for nothing."""
    if isinstance(value, Mapping):
        return all(_is_nothing(each) for each in value.values())
    if isinstance(value, (list, tuple)):
        return all(_is_nothing(each) for each in value)
    return value is None or value == 1


def _links(routing: Any, node: int, name: str) -> list[tuple[int, float]] | dict[str, list[int]]:
    """Where customers of a class go from a node: nodes with probabilities, 0 for leaving; or a rule."""
    if _kind(routing) == "ProcessBased" or hasattr(routing, "route_function"):
        raise _refuse("routing by a function")
    if isinstance(routing, Sequence):
        row = list(routing[node])
        links = [(to + 1, share) for to, share in enumerate(row) if share]
        return [*links, (0, 1 - sum(row))]
    router = routing.routers[node]
    kind = _kind(router)
    if kind == "Probabilistic":
        pairs = zip(router.destinations, router.probs, strict=True)
        return [(max(to, 0), share) for to, share in pairs if share]
    if kind == "Direct":
        return [(router.to, 1.0)]
    if kind == "Leave":
        return [(0, 1.0)]
    if kind == "Cycle":
        return {"in_turn": list(router.cycle)}
    if kind == "LoadBalancing" and router.tie_break == "order":
        return {"shortest": list(router.destinations)}
    if kind in ("LoadBalancing", "JoinShortestQueue"):
        raise UsageError(
            f"the routing {kind} at {name} has no equivalent here: "
            "use `LoadBalancing(..., tie_break='order')`, which counts customers in service too"
        )
    raise _refuse(f"the routing {kind} at {name}")


def _shares(links: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Links without those that nobody takes."""
    return [(to, share) for to, share in links if share > 1e-12]


class _Reader:
    def __init__(self, given: Mapping[str, Any], names: Sequence[str] | None) -> None:
        known = _ARGUMENTS | {*_UNKNOWN, "system_capacity", "number_of_nodes", "customer_class_names"}
        for key, value in given.items():
            if key not in known:
                raise UsageError(f"`{key}` is no argument of `ciw.create_network`")
            if key in _UNKNOWN and not _is_nothing(value):
                raise _refuse(f"`{key}`")
        if given.get("system_capacity", math.inf) != math.inf:
            raise _refuse("`system_capacity`")
        missing = [key for key in ("arrival_distributions", "service_distributions", "number_of_servers") if given.get(key) is None]
        if missing:
            raise UsageError(f"`{missing[0]}` is missing: `ciw.create_network` needs it")
        self.given = given
        arrivals = given["arrival_distributions"]
        self.classes = list(arrivals) if isinstance(arrivals, Mapping) else ["Customer"]
        self.servers = list(given["number_of_servers"])
        count = len(self.servers)
        self.names = list(names) if names is not None else [f"node {number}" for number in range(1, count + 1)]
        if len(self.names) != count:
            raise UsageError(f"there are {count} nodes, and {len(self.names)} names")
        priorities = given.get("priority_classes") or dict.fromkeys(self.classes, 0)
        self.preempt = [False] * count
        if isinstance(priorities, tuple):
            priorities, self.preempt = priorities
        self.priorities: dict[str, int] = {name: priorities[name] for name in self.classes}
        # Ours is the order of classes.
        self.classes.sort(key=lambda name: self.priorities[name])

    def of(self, argument: str, name: str, node: int) -> Any:
        """The value of an argument for a class at a node."""
        value = self.given.get(argument)
        if isinstance(value, Mapping):
            value = value.get(name)
        return None if value is None else value[node]

    def routes(self, name: str, node: int) -> list[tuple[int, float]] | dict[str, list[int]]:
        routing = self.given.get("routing")
        if isinstance(routing, Mapping):
            routing = routing[name]
        if routing is None:
            return [(0, 1.0)]
        return _links(routing, node, self.names[node])

    def after(self, name: str, node: int) -> list[tuple[str, int, float]] | dict[str, list[int]]:
        """The class and the node afterwards: the class changes first."""
        matrices = self.given.get("class_change_matrices")
        changes = matrices[node] if matrices and matrices[node] else {}
        if name not in changes:
            routes = self.routes(name, node)
            return routes if isinstance(routes, dict) else [(name, to, share) for to, share in _shares(routes)]
        found = []
        for becomes, chance in changes[name].items():
            routes = self.routes(becomes, node) if chance else []
            if isinstance(routes, dict):
                raise _refuse("a class that changes before routes in turn or to the shortest line")
            found += [(becomes, to, chance * share) for to, share in _shares(routes)]
        return found

    def reached(self) -> set[tuple[str, int]]:
        """The classes that come to each node."""
        pending = [
            (name, node)
            for name in self.classes
            for node in range(len(self.names))
            if distribution_of_arrivals(self.of("arrival_distributions", name, node)) is not None
        ]
        found: set[tuple[str, int]] = set()
        while pending:
            name, node = pending.pop()
            if (name, node) in found:
                continue
            found.add((name, node))
            after = self.after(name, node)
            if isinstance(after, dict):
                pending += [(name, to - 1) for each in after.values() for to in each]
            else:
                pending += [(becomes, to - 1) for becomes, to, _ in after if to]
        return found

    def route(self, node: int, coming: list[str]) -> Any:
        """The routes of a node in the form of a description."""

        def place(to: int) -> str:
            return self.names[to - 1] if to else "out"

        found = {name: self.after(name, node) for name in coming}
        rules = [after for after in found.values() if isinstance(after, dict)]
        if rules:
            same = all(after == rules[0] for after in found.values())
            if not same or ("in_turn" in rules[0] and len(coming) > 1):
                raise _refuse(f"routes in turn at {self.names[node]} for several classes")
            return {key: [place(to) for to in nodes] for key, nodes in rules[0].items()}
        each: dict[str, list[dict[str, Any]]] = {}
        for name, after in found.items():
            links: list[dict[str, Any]] = []
            assert not isinstance(after, dict), "no node has both"
            for becomes, to, share in after:
                link: dict[str, Any] = {"node": place(to), "probability": share}
                if becomes != name:
                    link["becomes"] = becomes
                links.append(link)
            del links[-1]["probability"]  # it gets the rest
            each[name] = links
        first = each[coming[0]]
        if all(links == first for links in each.values()) and not any("becomes" in link for link in first):
            return first
        return [{"class": name, **link} for name, links in each.items() for link in links]

    def description(self) -> dict[str, Any]:
        reached = self.reached()
        sources: dict[str, Any] = {}
        stations: dict[str, Any] = {}
        delays: dict[str, Any] = {}
        for node, name in enumerate(self.names):
            coming = [each for each in self.classes if (each, node) in reached]
            if not coming:
                continue
            for each in coming:
                arrivals = distribution_of_arrivals(self.of("arrival_distributions", each, node))
                if arrivals is not None:
                    title = f"arrivals at {name}" if len(self.classes) == 1 else f"{each} at {name}"
                    sources[title] = {**arrivals, "class": each, **self.batch(each, node), "to": name}
            laws = {each: _service(self.of("service_distributions", each, node), name) for each in coming}
            keys = self.times(laws)
            if self.servers[node] == math.inf or self.servers[node] == "Inf":
                key = {"service": "time", "service_of": "time_of"}
                delays[name] = {**{key[old]: value for old, value in keys.items()}, "to": self.route(node, coming)}
            else:
                stations[name] = self.station(node, coming, keys)
        found = {"classes": self.classes, "source": sources, "station": stations, "delay": delays, "sink": {"out": {}}}
        return {key: value for key, value in found.items() if value}

    def times(self, laws: dict[str, dict[str, Any]]) -> dict[str, Any]:
        values = list(laws.values())
        return {"service": values[0]} if all(law == values[0] for law in values) else {"service_of": laws}

    def batch(self, name: str, node: int) -> dict[str, Any]:
        law = self.of("batching_distributions", name, node)
        if law is None:
            return {}
        if _kind(law) != "Deterministic":
            raise _refuse(f"batches by the distribution {_kind(law)}")
        return {"batch": int(law.value)}

    def station(self, node: int, coming: list[str], keys: dict[str, Any]) -> dict[str, Any]:
        found = dict(keys)
        servers = self.servers[node]
        if _kind(servers) == "Schedule":
            if servers.preemption is not False or getattr(servers, "offset", None):
                raise _refuse("a schedule that interrupts services, or with an offset,")
            ends = [0.0, *servers.shift_end_dates]
            lengths = [end - begin for begin, end in zip(ends, ends[1:])]  # noqa: RUF007
            pairs = zip(lengths, servers.numbers_of_servers, strict=True)
            found["schedule"] = [{"lasts": length, "servers": number} for length, number in pairs]
            most = max(servers.numbers_of_servers)
        elif isinstance(servers, int):
            found["servers"] = most = servers
        else:
            raise _refuse(f"`number_of_servers` with {_kind(servers)}")
        capacities = self.given.get("queue_capacities")
        capacity = math.inf if capacities is None else capacities[node]
        if capacity not in (math.inf, "Inf"):
            if "schedule" in found:
                raise _refuse("a schedule with a bounded queue, whose room changes with the servers,")
            found |= {"capacity": most + int(capacity), "when_full": "block"}
        found |= self.discipline(node, coming)
        patience = {each: distribution(self.of("reneging_time_distributions", each, node)) for each in coming}
        if all(law is not None and law == patience[coming[0]] for law in patience.values()):
            found["patience"] = patience[coming[0]]
        elif any(patience.values()):
            found["patience_of"] = {each: law for each, law in patience.items() if law is not None}
        found["to"] = self.route(node, coming)
        return found

    def discipline(self, node: int, coming: list[str]) -> dict[str, Any]:
        disciplines = self.given.get("service_disciplines")
        rule = None if disciplines is None else disciplines[node]
        name = "FIFO" if rule is None else rule.__name__
        known = {"FIFO": "fifo", "SIRO": "random", "LIFO": "lifo"}
        if name not in known:
            raise _refuse(f"the discipline {name}")
        levels = [self.priorities[each] for each in coming]
        if len({*levels}) == 1:
            return {} if name == "FIFO" else {"discipline": known[name]}
        if name != "FIFO" or len({*levels}) < len(levels):
            raise _refuse(f"{self.names[node]}: priorities of several classes on a level, or with {name},")
        preempt = self.preempt[node]
        if preempt not in (False, None, "resume"):
            raise _refuse(f"preemption with {preempt!r}")
        return {"discipline": "preemptive" if preempt else "priority"}


def distribution_of_arrivals(of: Any) -> dict[str, Any] | None:
    """The keys of a source, or None without arrivals."""
    if of is not None and _kind(of) == "PoissonIntervals":
        ends = [0.0, *of.endpoints]
        most = max(of.rates)
        rates = [
            {"lasts": end - begin, "factor": rate / most}
            for begin, end, rate in zip(ends, ends[1:], of.rates, strict=False)
        ]
        return {"interarrival": {"exponential": 1 / most}, "rates": rates}
    law = distribution(of)
    return None if law is None else {"interarrival": law}


def _service(of: Any, name: str) -> dict[str, Any]:
    law = distribution(of)
    if law is None:
        raise UsageError(f"a class comes to {name} and has no service there")
    return law


def description(of: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The keys of a description, without its name and times."""
    return _Reader(_whole(of), names).description()
