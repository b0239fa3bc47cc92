"""Queueing networks."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import EXAMPLES

import eventhorizon as eh
from eventhorizon.distributions import Distribution

MM1 = EXAMPLES / "networks" / "mm1.toml"


def built() -> eh.Network:
    network = eh.Network("M/M/1", unit="minute", until=20_000, warm_up=1_000)
    network.source("arrivals", eh.exponential(1.25), to="server")
    return network.station("server", eh.exponential(1.0), to="out").sink("out")


def test_mm1_in_three_lines_has_theory_in_its_interval() -> None:
    mm1 = eh.Network("M/M/1", until=20_000).source("arrivals", eh.exponential(1.25), to="server")
    mm1.station("server", eh.exponential(1), to="out").sink("out")
    wait = mm1.run(backend="cpu").estimate("wait", "server")
    assert wait.theory == pytest.approx(4.0)
    assert wait.theory in wait


def test_the_builder_writes_what_the_file_says() -> None:
    ways = [built(), eh.Network.from_toml(MM1), eh.Network.from_dict(built().to_dict())]
    ways.append(pickle.loads(pickle.dumps(ways[1])))
    ways.append(pickle.loads(pickle.dumps(ways[0])))
    found = {network.run(replications=4, backend="cpu").fingerprint for network in ways}
    assert len(found) == 1
    assert ways[3] == ways[1] and ways[4] == ways[0]
    assert ways[1].nodes == ["arrivals", "server", "out"]


def test_cpu_and_gpu_give_the_same_results() -> None:
    runs = [built().run(replications=3, until=300, warm_up=30, backend=backend) for backend in ("cpu", "gpu")]
    assert runs[0].fingerprint == runs[1].fingerprint
    assert runs[0].table.to_pandas().equals(runs[1].table.to_pandas())
    assert (runs[0].engine, runs[1].engine) == ("cpu", "gpu")


def test_values_are_those_of_the_replications() -> None:
    results = built().run(replications=8, backend="cpu")
    values = results.values("utilisation", "server")
    assert values.shape == (8,) and values.dtype == np.float64
    estimate = results.estimate("utilisation", "server")
    # All replications have the same length, so their mean is the pooled one.
    assert values.mean() == pytest.approx(estimate.mean)
    assert float(estimate) == estimate.mean and estimate.observations == 8
    assert len({*values.tolist()}) == 8


def test_tables_reach_pandas_polars_and_arrow() -> None:
    results = built().run(replications=5, backend="cpu")
    frame, tidy = results.to_pandas(), results.observations.to_pandas()
    assert list(frame.columns[:4]) == ["node", "class", "measure", "mean"]
    assert list(tidy.columns) == ["node", "class", "measure", "replication", "value"]
    assert len(tidy) == 5 * len(frame)
    of_server = tidy[(tidy["measure"] == "sojourn") & (tidy["node"] == "server")]
    assert np.array_equal(of_server["value"], results.values("sojourn", "server"))
    for table in (results.table, results.observations):
        pandas, polars, arrow = table.to_pandas(), pl.DataFrame(table), pa.table(table)
        assert polars.columns == arrow.column_names == list(pandas.columns)
        for name in table.columns:
            column = pandas[name].tolist()
            for other in (polars[name].to_list(), arrow[name].to_pylist()):
                same = [a == b or (a != a and b != b) for a, b in zip(column, other, strict=True)]
                assert all(same), name
    assert pl.DataFrame(results).equals(pl.DataFrame(results.table), null_equal=True)


def test_arrow_keeps_the_memory_that_it_shows() -> None:
    table = pa.table(built().run(replications=5, backend="cpu").observations)
    before = table["value"].to_pylist()
    for _ in range(3):
        built().run(replications=5, backend="cpu", seed=2)
    after = table["value"].to_pylist()
    assert [a for a in after if a == a] == [b for b in before if b == b] and len(after) > 0


def test_notebooks_show_tables_and_intervals() -> None:
    results = built().run(replications=5, backend="cpu")
    shown = results._repr_html_()
    assert "<table>" in shown and "utilisation" in shown and "M/M/1" in shown
    assert "5 replications" in repr(results)
    assert "theory" in str(results)
    assert "<th>value</th>" in results.observations._repr_html_()


def test_a_precision_is_reached_and_bounded() -> None:
    found = built().run(precision=0.2, until=2000, warm_up=200, backend="cpu")
    assert found.stopped == "reached" and found.replications >= 30
    spent = built().run(precision=0.0001, replications=40, until=2000, warm_up=200, backend="cpu")
    assert (spent.stopped, spent.replications) == ("replications_spent", 40)


def test_long_runs_and_quantiles() -> None:
    long = built().run(batches=20, backend="cpu")
    assert long.values("utilisation", "server").shape == (20,)
    detailed = built().run(replications=4, quantiles=True, backend="cpu")
    assert detailed.estimate("sojourn_90", "server").mean > detailed.estimate("sojourn_50", "server").mean > 0
    assert len(detailed.values("sojourn_90", "server")) == 0
    assert sum(detailed.lengths.to_pandas()["mean"]) == pytest.approx(1)


def test_the_warm_up_is_a_tenth_or_found() -> None:
    network = built().to_dict() | {"warm_up": 500}
    assert eh.Network.from_dict(network).run(replications=2, backend="cpu").warm_up == 500
    with pytest.warns(eh.EventhorizonWarning, match="not before the end"):
        results = eh.Network.from_dict(network).run(replications=2, until=400, backend="cpu")
    assert results.warm_up == 40
    found = eh.Network.from_dict(network).run(replications=2, warm_up="find", backend="cpu").warm_up
    assert found is not None and 0 <= found < 10_000


def test_errors_have_classes_and_the_sentences_of_the_library() -> None:
    with pytest.raises(eh.ModelError, match="did you mean `until`|unknown field"):
        eh.Network.from_toml('name = "m"\nuntill = 3\n[station.a]\nto = "b"\n[sink.b]\n')
    lost = eh.Network("m", until=10).station("a", eh.exponential(1), to="nowhere")
    with pytest.raises(eh.ModelError, match="`a` sends customers to `nowhere`"):
        lost.run()
    with pytest.raises(ValueError, match="which does not exist|nowhere"):
        lost.check()
    with pytest.raises(eh.UsageError, match="until 1 has nothing to observe"):
        built().run(until=1, warm_up=2, backend="cpu")
    with pytest.raises(eh.UsageError, match='choose "auto", "cpu" or "gpu"'):
        built().run(backend="tpu")  # type: ignore[arg-type]
    with pytest.raises(eh.FaultError, match="more than 2 customers wait at `server`"):
        built().run(replications=2, room=2, backend="cpu")
    with pytest.raises(eh.UsageError, match="seed is -1"):
        built().run(seed=-1, backend="cpu")
    with pytest.raises(eh.UsageError, match=r"the number 2; write a distribution: `exponential\(2\)`"):
        eh.Network("m", until=10).source("a", 2, to="b")  # type: ignore[arg-type]
    with pytest.raises(eh.UsageError, match=r"`setup` of `a` is the number 0.5; write a distribution"):
        eh.Network("m", until=10).station("a", eh.exponential(1), setup=0.5, to="b")  # type: ignore[arg-type]
    with pytest.raises(eh.ModelError, match=r"\(`allow_unstable`\)"):
        eh.Network.from_dict(built().to_dict() | {"source": {"a": {"interarrival": eh.exponential(0.5), "to": "server"}}}).run()
    with pytest.raises(eh.FileError, match="missing.toml"):
        eh.Network.from_toml("missing.toml")
    with pytest.raises(eh.UsageError, match="there is a station 'server' already"):
        built().station("server", eh.exponential(1), to="out")
    for error in (eh.ModelError, eh.UsageError, eh.FaultError, eh.FileError, eh.DeviceError):
        assert issubclass(error, eh.Error)


def test_measures_are_found_by_name() -> None:
    results = eh.Network.from_toml(EXAMPLES / "networks" / "clinic.toml").run(replications=2, until=5000, backend="cpu")
    assert results.estimate("wait", "doctor", "urgent").class_ == "urgent"
    with pytest.raises(eh.UsageError, match="the measures are"):
        results.estimate("delight")
    with pytest.raises(eh.UsageError, match="several places"):
        results.estimate("throughput")
    wait = results.estimate("wait", "doctor", "urgent")
    assert not math.isnan(wait.theory) and f"{wait:.3f}" == f"{wait.mean:.3f}"
    with pytest.raises(eh.UsageError, match="the nodes are .*doctor"):
        results.estimate("wait", "server")


def test_points_of_a_network_have_common_random_numbers() -> None:
    mm2 = eh.Network("M/M/c", until=400, warm_up=50)
    mm2.source("arrivals", eh.exponential(1), to="desk").station("desk", eh.exponential(1.5), servers=2, to="out")
    mm2.sink("out")
    results = mm2.experiment({"station.desk.servers": [2, 3]}, replications=16, backend="cpu")
    assert [point["station.desk.servers"] for point in results.points] == [2, 3]
    one = mm2.run(replications=16, backend="cpu")
    assert results.values("wait(desk)", point=0) == pytest.approx(one.values("wait", "desk"))
    chosen = mm2.experiment(
        {"station.desk.servers": [2, 3]}, best="wait(desk)", smallest=True, difference=0.1, backend="cpu"
    )
    assert chosen.selected is not None and chosen.selected.best == 1
    with pytest.raises(eh.UsageError, match="`difference` or `budget`"):
        mm2.experiment({"station.desk.servers": [2, 3]}, best="wait(desk)")
    spent = mm2.experiment({"station.desk.servers": [2, 3]}, best="wait(desk)", smallest=True, budget=60, backend="cpu")
    assert spent.selected is not None and spent.selected.best == 1 and spent.selected.probability is not None
    assert spent.selected.probability > 0.9
    with pytest.raises(eh.ModelError, match="Did you mean"):
        mm2.experiment({"station.desc.servers": [2, 3]})


def test_a_search_finds_the_cheapest_numbers_that_keep_a_bound() -> None:
    # Erlang A: the fewest agents with which at most 4 % of the callers hang up.
    def hung_up(agents: int) -> float:
        weights = [1.0]
        for callers in range(1, 200):
            weights.append(weights[-1] * 10 / (min(callers, agents) + 0.5 * max(callers - agents, 0)))
        waiting = sum(weight * max(callers - agents, 0) for callers, weight in enumerate(weights)) / sum(weights)
        return 0.5 * waiting / 10

    fewest = next(agents for agents in range(1, 20) if hung_up(agents) <= 0.04)
    calls = eh.Network("calls", until=600, warm_up=50)
    calls.source("calls", eh.exponential(0.1), to="desk").sink("out")
    calls.station("desk", eh.exponential(1), patience=eh.exponential(2), servers=10, to="out")
    found = calls.optimise(
        {"station.desk.servers": (1, 20)}, minimise="station.desk.servers", subject_to="reneged(desk) <= 0.04", backend="cpu"
    )
    assert found.values == {"station.desk.servers": fewest} and found.objective.mean == fewest
    assert found.is_feasible and found.bounds[0].mean <= 0 and found.replications <= 2000
    assert list(found.visited.columns)[:3] == ["station.desk.servers", "replications", "objective"]
    # Real numbers in steps: the mean service with which an agent and the wait cost least, at one end.
    short = calls.optimise({"station.desk.service.exponential": (0.5, 0.9, 0.2)}, minimise="number(desk)", budget=120, backend="cpu")
    assert short.values == {"station.desk.service.exponential": 0.5} and set(short.visited.columns) >= {"objective"}
    for wrong, words in [
        ({"ranges": {"station.desk.servers": (1, 2.5)}, "minimise": "1"}, "no step"),
        ({"ranges": {"station.desk.servers": (3, 1)}, "minimise": "1"}, "swap them"),
        ({"ranges": {"station.desk.servers": (1, 3)}}, "`minimise` and `maximise`"),
        ({"ranges": {"station.desk.servers": (1, 3)}, "minimise": "weight(desk)"}, "is no measure"),
    ]:
        with pytest.raises(eh.UsageError, match=words):
            calls.optimise(**wrong)  # type: ignore[arg-type]


def test_networks_that_need_process_models_run_as_such(tmp_path: Path) -> None:
    described = built().to_dict()
    described["station"]["server"] |= {"batch": {"least": 1, "most": 4}}
    lift = eh.Network.from_dict(described)
    results = lift.run(replications=8, until=2000, warm_up=200, backend="cpu")
    assert results.mapping.startswith("process model")
    assert results.estimate("throughput", "out").mean == pytest.approx(0.8, rel=0.1)
    points = lift.experiment(
        {"station.server.batch.most": [2, 4]}, replications=8, until=2000, warm_up=200, backend="cpu"
    )
    assert points.values("wait(server)", point=1) == pytest.approx(results.values("wait", "server"))
    assert "<svg" in results.picture.svg
    # What networks of the other form have.
    detailed = lift.run(replications=16, until=500, warm_up=50, quantiles=True, backend="cpu")
    assert detailed.estimate("wait_90", "server").mean > detailed.estimate("wait", "server").mean
    assert sum(detailed.lengths.to_pandas()["mean"]) == pytest.approx(1)
    batches = lift.run(until=4000, warm_up="find", batches=20, backend="cpu")
    assert batches.estimate("throughput", "out").mean == pytest.approx(0.8, rel=0.1)
    saved = str(tmp_path / "lift.study")
    lift.run(replications=4, until=500, warm_up=50, save=saved, backend="cpu")
    resumed = lift.run(replications=8, until=500, warm_up=50, resume=saved, backend="cpu")
    assert resumed.fingerprint == lift.run(replications=8, until=500, warm_up=50, backend="cpu").fingerprint
    visits = lift.trace(3, until=200).to_pandas()
    assert set(visits["node"]) == {"server", "out"} and set(visits["customer"]) == {1, 2, 3}
    with pytest.raises(eh.UsageError, match="process model"):
        lift.run(batches=20, save=saved, backend="cpu")


def keys_of(kind: str) -> set[str]:
    """The keys of a node in the file: the error of an unknown key lists them."""
    with pytest.raises(eh.ModelError, match="unknown field `zzz`, expected") as caught:
        eh.Network.from_dict({"name": "n", kind: {"x": {"zzz": 1}}})
    return set(re.findall(r"`(\w+)`", str(caught.value).split("expected", 1)[1]))


@pytest.mark.parametrize("kind", ["source", "station", "delay", "fork", "router", "region"])
def test_methods_have_the_keys_of_the_file(kind: str) -> None:
    network = eh.Network("n")
    add = getattr(network, kind)
    names = [name for name in inspect.signature(add).parameters if name != "name"]
    keys = {"class" if name == "class_" else name: [name] for name in names}
    assert set(keys) == keys_of(kind)
    # Each argument becomes its key.
    add("x", **{name: [name] for name in names})
    assert network.to_dict() == {"name": "n", kind: {"x": keys}}


@pytest.mark.filterwarnings("ignore::eventhorizon.EventhorizonWarning")
def test_batches_regions_and_quorums_are_built_by_calls() -> None:
    built = eh.Network("kitchen", until=500, warm_up=50)
    built.source("orders", eh.exponential(4), to="cook")
    built.fork("cook", tasks=["grill", "oven"], quorum=1, to="serve")
    built.station("grill", eh.exponential(1), to="cook")
    built.station("oven", eh.exponential(2), batch={"least": 1, "most": 3}, to="cook")
    built.station("serve", eh.exponential(1), to="wash").station("wash", eh.exponential(1), to="out")
    built.region("hall", ["serve", "wash"], 5).sink("out")
    description: dict[str, Any] = {
        "name": "kitchen",
        "until": 500,
        "warm_up": 50,
        "source": {"orders": {"interarrival": {"exponential": 4}, "to": "cook"}},
        "fork": {"cook": {"tasks": ["grill", "oven"], "quorum": 1, "to": "serve"}},
        "station": {
            "grill": {"service": {"exponential": 1}, "to": "cook"},
            "oven": {"service": {"exponential": 2}, "batch": {"least": 1, "most": 3}, "to": "cook"},
            "serve": {"service": {"exponential": 1}, "to": "wash"},
            "wash": {"service": {"exponential": 1}, "to": "out"},
        },
        "region": {"hall": {"nodes": ["serve", "wash"], "capacity": 5}},
        "sink": {"out": {}},
    }
    read = eh.Network.from_dict(description)
    assert built == read and built.to_dict() == description
    runs = [network.run(replications=8, backend="cpu") for network in (built, read)]
    assert runs[0].fingerprint == runs[1].fingerprint and runs[0].mapping.startswith("process model")
    assert runs[0].estimate("throughput", "out").mean == pytest.approx(0.25, rel=0.2)
    # Both tasks would take longer than the oven alone, 2 on average.
    assert 0 < runs[0].estimate("sojourn", "cook").mean < 1.8


DESK = """
name = "desk"
until = 502
warm_up = 52
source.door = { times = "arrivals.csv", to = "desk" }
station.desk = { service = { empirical = "times.csv" }, to = "out" }
sink.out = {}
"""


@pytest.mark.filterwarnings("ignore::eventhorizon.EventhorizonWarning")
def test_files_that_a_description_names_are_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    description: dict[str, Any] = {
        "name": "desk",
        "until": 502,
        "warm_up": 52,
        "source": {"door": {"times": "arrivals.csv", "to": "desk"}},
        "station": {"desk": {"service": {"empirical": "times.csv"}, "to": "out"}},
        "sink": {"out": {}},
    }
    folder, elsewhere = tmp_path / "models", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "arrivals.csv").write_text("time\n" + "".join(f"{time}\n" for time in range(5, 601, 5)))
    (folder / "times.csv").write_text("minutes\n1\n2\n3\n")
    (folder / "desk.toml").write_text(DESK)
    (folder / "desk.json").write_text(json.dumps(description))
    monkeypatch.chdir(tmp_path)
    of_toml, of_json = eh.Network.from_toml("models/desk.toml"), eh.Network.from_json(Path("models/desk.json"))
    built = eh.Network("desk", until=502, warm_up=52, folder="models")
    built.source("door", times="arrivals.csv", to="desk").station("desk", eh.empirical("times.csv"), to="out")
    ways = [of_toml, of_json, built.sink("out"), eh.Network.from_dict(description, folder="models")]
    assert of_json == built == ways[3]
    with pytest.raises(eh.ModelError, match="a text in memory names no files"):
        eh.Network.from_toml(DESK)
    with pytest.raises(eh.ModelError, match="a text in memory names no files"):
        eh.Network.from_dict(description)
    monkeypatch.chdir(elsewhere)
    copies = [pickle.loads(pickle.dumps(network)) for network in (of_toml, of_json)]
    assert copies == [of_toml, of_json]
    runs = [network.run(replications=8, backend="cpu") for network in ways + copies]
    assert len({run.fingerprint for run in runs}) == 1
    # 90 arrivals, each served before the next one comes.
    assert runs[0].estimate("throughput", "door").mean == pytest.approx(0.2, rel=0.01)
    assert runs[0].estimate("sojourn", "desk").mean == pytest.approx(2, rel=0.1)
    assert len(of_toml.experiment({"station.desk.servers": [1, 2]}, replications=2, backend="cpu").points) == 2
    (folder / "times.csv").unlink()
    with pytest.raises(eh.ModelError, match="No such file") as caught:
        of_toml.run(backend="cpu")
    assert str(caught.value).startswith("models/desk.toml: ")


#: Distributions, what the file says, and their means.
LAWS: list[tuple[Distribution, dict[str, Any], float]] = [
    (eh.gamma(2.5, 0.8), {"gamma": {"shape": 2.5, "scale": 0.8}}, 2.0),
    (eh.beta(2, 3), {"beta": {"alpha": 2, "beta": 3}}, 0.4),
    (eh.beta(2, 3, low=1, high=4), {"beta": {"alpha": 2, "beta": 3, "low": 1, "high": 4}}, 2.2),
    (eh.pareto(6, 1.5), {"pareto": {"shape": 6, "scale": 1.5}}, 1.8),
    (eh.loglogistic(6, 2), {"loglogistic": {"shape": 6, "scale": 2}}, math.pi / 3 / math.sin(math.pi / 6)),
    (eh.coxian([1, 2], [0.5]), {"coxian": {"means": [1, 2], "continues": [0.5]}}, 2.0),
    (eh.discrete([1, 2, 4], [0.5, 0.3, 0.2]), {"discrete": {"values": [1, 2, 4], "weights": [0.5, 0.3, 0.2]}}, 1.9),
    (eh.empirical(np.array([1.0, 2.0, 4.0])), {"empirical": [1, 2, 4]}, 7 / 3),
    (eh.empirical([4, 1, 2], interpolated=True), {"empirical": {"values": [4, 1, 2], "interpolated": True}}, 2.25),
    (
        eh.mixture([(0.7, eh.exponential(2)), (0.3, eh.constant(5))]),
        {"mixture": [{"weight": 0.7, "law": {"exponential": 2}}, {"weight": 0.3, "law": {"constant": 5}}]},
        2.9,
    ),
    (eh.shifted(2, eh.exponential(3)), {"shifted": {"by": 2, "law": {"exponential": 3}}}, 5.0),
    (
        eh.truncated(eh.exponential(3), 1, 6),
        {"truncated": {"low": 1, "high": 6, "law": {"exponential": 3}}},
        4 - 5 / math.expm1(5 / 3),
    ),
    (eh.truncated(eh.uniform(0, 2), low=1), {"truncated": {"low": 1, "law": {"uniform": [0, 2]}}}, 1.5),
]


@pytest.mark.filterwarnings("ignore::eventhorizon.EventhorizonWarning")
@pytest.mark.parametrize(("law", "written", "mean"), LAWS, ids=[next(iter(law)) for law, _, _ in LAWS])
def test_distributions_have_their_means(law: Distribution, written: dict[str, Any], mean: float) -> None:
    assert law == written
    network = eh.Network("n", until=1000, warm_up=100).source("arrivals", eh.exponential(0.5), to="stay")
    network.delay("stay", law, to="out").sink("out")
    sojourn = network.run(replications=4, backend="cpu").estimate("sojourn", "out")
    assert sojourn.mean == pytest.approx(mean, rel=0.1)


def test_all_distributions_are_exported() -> None:
    functions = [name for name in eh.distributions.__all__ if name != "Distribution"]
    assert set(functions) <= set(eh.__all__) and len(functions) == 19
    assert all(getattr(eh, name) is getattr(eh.distributions, name) for name in functions)
    assert eh.empirical("all.csv", column="b") == {"empirical": {"file": "all.csv", "column": "b"}}
