"""What is left of a run: saved studies, pickled results, traces, pictures."""

from __future__ import annotations

import pickle
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLES

import eventhorizon as eh
from eventhorizon import search
from eventhorizon.process import delay, use

pytestmark = pytest.mark.filterwarnings("ignore:.*was never observed:eventhorizon.EventhorizonWarning")

MM1 = EXAMPLES / "networks" / "mm1.toml"
BANK = EXAMPLES / "processes" / "bank.toml"
COUNTER = EXAMPLES / "models" / "counter.toml"


def runs(model: Any, path: Path) -> None:
    """A study in two parts is that in one."""
    settings: dict[str, Any] = {"until": 2000, "warm_up": 200, "backend": "cpu"}
    whole = model.run(replications=12, **settings)
    part = model.run(replications=5, save=path, **settings)
    assert part.fingerprint != whole.fingerprint and path.exists()
    more = model.run(replications=12, resume=path, save=path, **settings)
    assert more.fingerprint == whole.fingerprint and more.table.to_pandas().equals(whole.table.to_pandas())
    with pytest.raises(eh.UsageError, match="seed"):
        model.run(replications=12, resume=path, seed=2, **settings)
    with pytest.raises(eh.FileError, match="missing.study"):
        model.run(resume=path.with_name("missing.study"), **settings)
    with pytest.raises(eh.FileError):
        model.run(resume=MM1, **settings)


def test_studies_of_networks_are_saved_and_continued(tmp_path: Path) -> None:
    runs(eh.Network.from_toml(MM1), tmp_path / "mm1.study")
    long = {"until": 2000.0, "warm_up": 200.0, "batches": 10}
    path = tmp_path / "long.study"
    first = eh.Network.from_toml(MM1).run(save=path, **long)  # type: ignore[arg-type]
    assert eh.Network.from_toml(MM1).run(resume=path, **long).fingerprint == first.fingerprint  # type: ignore[arg-type]


def test_studies_of_process_models_are_saved_and_continued(tmp_path: Path) -> None:
    runs(eh.ProcessModel.from_toml(BANK), tmp_path / "bank.study")
    with pytest.raises(eh.UsageError, match="nowhere"):
        eh.ProcessModel.from_toml(BANK).run(until=100, warm_up=10, save=tmp_path / "nowhere" / "bank.study")


def test_results_can_be_pickled() -> None:
    network = eh.Network.from_toml(MM1).run(replications=5, until=500, warm_up=50, backend="cpu")
    bank = eh.ProcessModel.from_toml(BANK).run(replications=5, until=500, warm_up=50, backend="cpu")
    counter = eh.Model.from_toml(COUNTER).run(replications=50, backend="cpu")
    for before in (network, bank, counter):
        after = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(before))))
        assert type(after) is type(before) and after.fingerprint == before.fingerprint
        assert str(after) == str(before) and after.to_json() == before.to_json()
        assert after.observations.to_pandas().equals(before.observations.to_pandas())
        assert after._repr_html_() == before._repr_html_() and repr(after) == repr(before)
    kept = pickle.loads(pickle.dumps(bank))
    differences = [results.difference("wait", 0, 1) for results in (kept, bank)]
    assert differences[0].lower == differences[1].lower and str(differences[0]) == str(differences[1])
    assert kept.failures() == {} and kept.points == bank.points
    with pytest.raises(eh.UsageError, match="compute it before"):
        kept.difference("wait", 0, 1, level=0.5)
    assert pickle.loads(pickle.dumps(network)).picture.svg == network.picture.svg


def test_a_trace_names_what_entities_do_and_where_it_is_written() -> None:
    shop = eh.ProcessModel("shop", until=100).resource("desk", 1)

    @shop.process(every=10)
    def customer(env: Any) -> Any:
        with env.desk.request() as got:
            yield got
            yield env.timeout(15)

    first = customer.__code__.co_firstlineno
    rows = [tuple(row.values()) for row in shop.trace(5).rows()]
    assert rows == [
        (10, "customer", 1, "delays", "use desk", first + 2),
        (20, "customer", 2, "waits", "use desk", first + 2),
        (25, "customer", 1, "ends", "", 0),
        (25, "customer", 2, "delays", "use desk", first + 2),
        (30, "customer", 3, "waits", "use desk", first + 2),
    ]
    visits = eh.Network.from_toml(MM1).trace(3, until=50)
    assert list(visits["customer"]) == [1, 1, 2, 2, 3, 3] and set(visits["node"]) == {"server", "out"}
    assert np.isnan(visits["began"][1]) and visits["left"][0] >= visits["began"][0] >= visits["arrived"][0]
    with pytest.raises(eh.UsageError, match="point 1 does not exist"):
        shop.trace(point=1)


def drawn(svg: str | None) -> set[str]:
    """The texts of a picture."""
    assert svg is not None
    return {text.strip() for text in ElementTree.fromstring(svg).itertext() if text.strip()}


def test_pictures_of_models_runs_and_paths(tmp_path: Path) -> None:
    network = eh.Network.from_toml(MM1)
    assert {"arrivals", "server", "out"} <= drawn(network._repr_svg_()) and "utilisation" not in drawn(network._repr_svg_())
    results = network.run(replications=2, until=500, warm_up=50, backend="cpu")
    results.picture.save(tmp_path / "mm1.svg")
    assert "utilisation" in drawn((tmp_path / "mm1.svg").read_text())
    shop = eh.ProcessModel("shop", until=100).resource("desk", 2)
    shop.entity("customer", every=10, do=[use("desk", do=[delay(12)], patience={"time": 9, "else": [delay(2)]})])
    timeline, gantt = shop.timeline(10), shop.gantt(20, 60)
    assert list(timeline["time"]) == list(range(10, 101, 10)) and "in_use(desk)" in timeline.columns
    assert gantt["entity"][0] == "customer" and min(gantt["from"]) == 20 and max(gantt["until"]) == 60
    for table in (timeline, gantt):
        assert drawn(table._repr_html_()) and "time" in " ".join(drawn(table.picture._repr_svg_()))
    shown = shop._repr_html_()
    assert "delay 12" in shown and "gives up" in shown and ElementTree.fromstring(f"<p>{shown}</p>") is not None
    assert "entity.customer" in eh.ProcessModel.from_toml(BANK)._repr_html_()
    terrain = np.ones((4, 5), dtype=np.uint8)
    terrain[:3, 2] = 0
    paths = search.Grid(terrain).paths([[0, 0]], [[4, 0]], backend="cpu")
    assert str(paths._repr_svg_()).count("<path") == 2
    graph = search.Graph(2, [[0, 1, 1]]).paths([0], [1], backend="cpu")
    assert graph._repr_svg_() is None
    with pytest.raises(eh.UsageError, match="no map"):
        graph.picture.svg
