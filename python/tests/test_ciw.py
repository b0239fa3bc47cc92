"""Networks of Ciw, by objects that have the names and attributes of its classes."""

from __future__ import annotations

import math
from typing import Any

import pytest

import eventhorizon as eh


def like(name: str, **attributes: Any) -> Any:
    """An object of a class with this name."""
    return type(name, (), attributes)()


def exponential(rate: float) -> Any:
    return like("Exponential", rate=rate)


def fifo(customers: list[Any], time: float) -> Any:
    return customers[0]


fifo.__name__ = "FIFO"

MM2: dict[str, Any] = {
    "arrival_distributions": [exponential(0.2)],
    "service_distributions": [exponential(0.125)],
    "number_of_servers": [2],
}


def test_a_queue_has_theory() -> None:
    network = eh.Network.from_ciw(MM2, until=20_000, names=["doctors"])
    assert network.to_dict()["station"]["doctors"] == {
        "service": {"exponential": 8.0},
        "servers": 2,
        "to": [{"node": "out"}],
    }
    wait = network.run(replications=16, backend="cpu").estimate("wait", "doctors")
    assert wait.theory is not None and abs(wait.mean - wait.theory) < 0.6


def test_a_network_object_is_read_as_its_arguments() -> None:
    centre = like(
        "ServiceCentre",
        number_of_servers=2,
        queueing_capacity=math.inf,
        class_change_matrix=None,
        priority_preempt=False,
        server_priority_function=None,
        service_discipline=fifo,
    )
    matrix = like("TransitionMatrix", routers=[like("Probabilistic", destinations=[1, -1], probs=[0.0, 1.0])])
    customers = like(
        "CustomerClass",
        arrival_distributions=[exponential(0.2)],
        service_distributions=[exponential(0.125)],
        routing=matrix,
        priority_class=0,
        baulking_functions=[None],
        batching_distributions=[like("Deterministic", value=1)],
        reneging_time_distributions=[None],
        class_change_time_distributions={"Customer": None},
    )
    network = like(
        "Network", service_centres=[centre], customer_classes={"Customer": customers}, system_capacity=math.inf
    )
    one, other = (eh.Network.from_ciw(each, until=500).run(replications=2, backend="cpu") for each in (MM2, network))
    assert one.fingerprint == other.fingerprint


def test_classes_routes_and_bounds_have_their_equivalent() -> None:
    schedule = like(
        "Schedule", numbers_of_servers=[1, 2], shift_end_dates=[50.0, 120.0], preemption=False, offset=0.0
    )
    given = {
        "arrival_distributions": {"A": [exponential(0.3), None], "B": [exponential(0.1), None]},
        "service_distributions": {
            "A": [like("Erlang", rate=4.0, num_phases=2), exponential(1.0)],
            "B": [like("Lognormal", _mean=0.0, _sd=0.5), exponential(1.0)],
        },
        "routing": {"A": [[0.0, 0.5], [0.0, 0.0]], "B": [[0.0, 1.0], [0.0, 0.0]]},
        "class_change_matrices": [{"A": {"A": 0.75, "B": 0.25}, "B": {"B": 1.0}}, {}],
        "priority_classes": ({"A": 1, "B": 0}, [False, "resume"]),
        "queue_capacities": [math.inf, 3],
        "number_of_servers": [schedule, 1],
        "reneging_time_distributions": {"A": [None, None], "B": [exponential(0.05), None]},
    }
    network = eh.Network.from_ciw(given, until=1_000)
    keys = network.to_dict()
    assert keys["classes"] == ["B", "A"]
    first, second = keys["station"]["node 1"], keys["station"]["node 2"]
    assert first["schedule"] == [{"lasts": 50.0, "servers": 1}, {"lasts": 70.0, "servers": 2}]
    assert first["discipline"] == "priority" and second["discipline"] == "preemptive"
    assert first["patience_of"] == {"B": {"exponential": 20.0}}
    assert (second["capacity"], second["when_full"]) == (4, "block")
    assert first["to"] == [
        {"class": "B", "node": "node 2"},
        {"class": "A", "node": "node 2", "probability": 0.375},
        {"class": "A", "node": "out", "probability": 0.375},
        {"class": "A", "node": "node 2", "becomes": "B"},
    ]
    assert first["service_of"]["A"] == {"erlang": {"stages": 2, "mean": 0.5}}
    assert first["service_of"]["B"]["lognormal"]["mean"] == pytest.approx(math.exp(0.125))


def test_distributions_keep_their_mean() -> None:
    from eventhorizon._ciw import distribution

    phases = like(
        "PhaseType",
        initial_state=[0.5, 0.5, 0.0],
        absorbing_matrix=[[-2.0, 1.0, 1.0], [0.0, -4.0, 4.0], [0.0, 0.0, 0.0]],
    )
    laws = [
        like("Gamma", shape=2.0, scale=1.5),
        like("Normal", _mean=5.0, _sd=1.0),
        like("Weibull", scale=2.0, shape=1.5),
        like("HyperExponential", rates=[2.0, 0.5], probs=[0.25, 0.75]),
        like("HyperErlang", rates=[2.0, 1.0], probs=[0.5, 0.5], phase_lengths=[2, 3]),
        phases,
        like("Pmf", values=[1.0, 2.0], probs=[0.5, 0.5]),
        like("Empirical", observations=[1.0, 1.0, 4.0]),
        like("MixtureDistribution", dists=[exponential(1.0), like("Deterministic", value=3.0)], probs=[0.5, 0.5]),
        like("Triangular", lower=1.0, mode=2.0, upper=3.0),
    ]
    # E(X) of the phases: from the first 0.5 + 0.5 · 0.25, from the second 0.25.
    means = [3.0, 5.0, 2.0 * math.gamma(1 + 2 / 3), 1.625, 2.0, 0.4375, 1.5, 2.0, 2.0, 2.0]
    for law, mean in zip(laws, means, strict=True):
        arrivals = {**MM2, "service_distributions": [law], "number_of_servers": [math.inf]}
        found = eh.Network.from_ciw(arrivals, until=20_000, names=["delay"]).run(replications=8, backend="cpu")
        estimate = found.estimate("sojourn", "delay")
        assert estimate.theory == pytest.approx(mean, rel=1e-4), distribution(law)


def test_what_has_no_equivalent_is_refused() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"baulking_functions": [fifo]}, "baulking_functions"),
        ({"system_capacity": 4}, "system_capacity"),
        ({"service_distributions": [like("Sequential", sequence=[1.0])]}, "the distribution Sequential"),
        ({"service_disciplines": [lambda customers, time: customers[-1]]}, "the discipline <lambda>"),
        ({"servers": [2]}, "`servers` is no argument"),
    ]
    for change, words in refused:
        with pytest.raises(eh.UsageError, match=words):
            eh.Network.from_ciw({**MM2, **change})
    router = like("JoinShortestQueue", destinations=[1], tie_break="random")
    with pytest.raises(eh.UsageError, match="JoinShortestQueue at node 1"):
        eh.Network.from_ciw({**MM2, "routing": like("NetworkRouting", routers=[router])})
    with pytest.raises(eh.UsageError, match="expected a network of Ciw"):
        eh.Network.from_ciw(3)
