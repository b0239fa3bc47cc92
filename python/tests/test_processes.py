"""Process models and experiments."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLES

import eventhorizon as eh
from eventhorizon.process import (
    batch,
    branch,
    chance,
    choice,
    clone,
    count,
    delay,
    join,
    note,
    release,
    seize,
    set_to,
    tally,
    use,
)

# Short runs observe some tallies never.
pytestmark = pytest.mark.filterwarnings("ignore:.*was never observed:eventhorizon.EventhorizonWarning")

EMERGENCY = EXAMPLES / "processes" / "emergency.toml"


def emergency() -> eh.ProcessModel:
    model = eh.ProcessModel("emergency", unit="minute", until=11_520, warm_up=1_440)
    model.parameter("doctors", [3, 4, 5]).parameter("review", {"time": 9})
    model.resource("nurse", 2).resource("bed", 14, queue="priority")
    model.resource("doctor", "doctors", queue="priority")
    patience = {"when": "level >= 4", "time": eh.exponential(120), "else": "left"}
    return model.entity(
        "patient",
        every=eh.exponential(7),
        attributes={"level": choice({1: 0.05, 2: 0.15, 3: 0.4, 4: 0.3, 5: 0.1})},
        do=[
            use("nurse", lasting=eh.triangular(3, 5, 9)),
            seize("bed", priority="level", patience=patience, tally="bed_wait"),
            use("doctor", priority="level", lasting=eh.exponential(15), tally="doctor_wait"),
            chance(
                0.6,
                [
                    use("nurse", lasting=eh.triangular(2, 4, 8)),
                    delay(eh.lognormal(40, 20)),
                    use("doctor", priority="level", lasting="review"),
                ],
            ),
            chance(0.3, [delay(eh.erlang(3, 20))]),
            release("bed"),
            tally("stay"),
        ],
        left=[tally("left")],
    )


def test_the_builder_writes_what_the_file_says() -> None:
    ways = [emergency(), eh.ProcessModel.from_toml(EMERGENCY), eh.ProcessModel.from_dict(emergency().to_dict())]
    ways += [pickle.loads(pickle.dumps(model)) for model in ways[:2]]
    found = {model.run(replications=2, until=500, warm_up=50, backend="cpu").fingerprint for model in ways}
    assert len(found) == 1
    assert ways[0].parameters == ways[1].parameters == {"doctors": [3, 4, 5], "review": [9]}
    assert ways[0].measures == ways[1].measures


def test_an_experiment_has_points_and_common_random_numbers() -> None:
    results = emergency().run(parameters={"doctors": [3, 5]}, replications=12, until=2000, warm_up=200, backend="cpu")
    assert results.points == [{"doctors": 3}, {"doctors": 5}]
    waits = [results.values("doctor_wait", point) for point in (0, 1)]
    difference = results.difference("doctor_wait", 0, 1)
    means = [results.estimate("doctor_wait", point).mean for point in (0, 1)]
    assert difference.mean == pytest.approx(means[0] - means[1]) and difference.lower > 0
    tidy = results.observations.to_pandas()
    assert list(tidy.columns) == ["point", "doctors", "measure", "replication", "value"]
    of_two = tidy[(tidy["measure"] == "doctor_wait") & (tidy["doctors"] == 5)]
    assert np.array_equal(of_two["value"], waits[1])
    assert len(results.table) == 2 * len(results.measures)


def test_values_are_read_only_views() -> None:
    results = emergency().run(parameters={"doctors": 4}, replications=3, until=500, warm_up=50, backend="cpu")
    first, second = results.values("stay"), results.values("stay")
    assert np.shares_memory(first, second) and not first.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0
    before = first.copy()
    del results, second
    assert np.array_equal(first, before)


def test_a_selection_names_the_best_point() -> None:
    results = emergency().select(
        "doctor_wait", 5, smallest=True, parameters={"doctors": [2, 5]}, until=1000, warm_up=100, backend="cpu"
    )
    assert results.selected is not None and results.selected.best == 1
    with pytest.raises(eh.UsageError, match="either a `difference` or a `budget`"):
        emergency().select("doctor_wait", smallest=True)
    found = emergency().optimise(
        {"doctors": range(3, 7)}, maximise="0 - 20 * doctors - doctor_wait", until=1000, warm_up=100, budget=150, backend="cpu"
    )
    assert 3 <= found.values["doctors"] <= 5 and found.objective.mean < -60 and found.bounds == []


def test_a_precision_is_reached() -> None:
    results = emergency().run(
        parameters={"doctors": 5}, precision=0.5, replications=60, until=2000, warm_up=200, backend="cpu"
    )
    assert results.stopped in (["reached"], ["replications_spent"]) and results.replications >= 30


def test_errors_name_the_line_of_the_call() -> None:
    model = eh.ProcessModel("m", until=10)
    frame = inspect.currentframe()
    assert frame is not None
    line = frame.f_lineno + 5
    model.entity(
        "part",
        every=3,
        do=[
            branch("number => 4", [count("many")]),
        ],
    )
    with pytest.raises(eh.ModelError, match="write `==`|compare") as caught:
        model.run(backend="cpu")
    assert f"{__file__}:{line}: " in str(caught.value)
    with pytest.raises(eh.ModelError, match="line 4: `dela` is not a statement; did you mean `delay`"):
        eh.ProcessModel.from_toml('until = 9\n[entity.a]\nevery = 3\ndo = [{ dela = 3 }]\n')
    with pytest.raises(eh.ModelError, match=r"^`dela` is not a statement"):
        eh.ProcessModel.from_dict({"until": 9, "entity": {"a": {"every": 3, "do": [{"dela": 3}]}}})


def test_faults_name_entity_and_statement() -> None:
    model = eh.ProcessModel("m", until=100).resource("bed", 1)
    model.entity("patient", at_start=1, do=[seize("bed"), seize("bed"), release("bed", units=2)])
    with pytest.raises(eh.FaultError, match="`patient`.*bed|bed.*`patient`"):
        model.run(replications=1, backend="cpu")
    with pytest.raises(eh.UsageError, match="no end"):
        eh.ProcessModel("m").entity("part", every=3, do=[delay(1)]).run()
    with pytest.raises(eh.UsageError, match="the measures are"):
        emergency().run(replications=2, until=200, warm_up=20, backend="cpu").values("joy")


@pytest.mark.filterwarnings("ignore::eventhorizon.EventhorizonWarning")
def test_copies_permanent_batches_and_tables_of_tallies() -> None:
    model = eh.ProcessModel("packing", unit="minute", until=1000, warm_up=0)
    model.parameter("promised", {"time": 4}).resource("clerk", 2).resource("dock", 1)
    model.variable("packed", 0, level=True, histogram=True)
    model.tally("handled", up_to=[2, "promised"], histogram=0.5)
    model.entity(
        "order",
        every=10,
        do=[
            clone(2, [use("clerk", lasting=3)], join=True),
            join(),
            tally("handled"),
            use("dock", lasting=1, then=[set_to("packed", "packed + 1"), note("leaves", "packed")]),
        ],
    )
    model.entity("bottle", every=1, do=[batch(12, permanent=True), count("crates")])
    results = model.run(replications=3, backend="cpu")
    means = {
        # Both copies are served at once: 99 orders of 3 minutes.
        "count(handled)": 99,
        "handled": 3,
        "share(handled <= 2)": 0,
        "share(handled <= promised)": 1,
        "quantile_90(handled)": 3,
        # One of each twelve bottles continues.
        "crates": 83,
        # The orders leave at 14, 24, and so on to 994.
        "average(packed)": sum(1000 - left for left in range(14, 995, 10)) / 1000,
        "zero(packed)": 0.014,
    }
    for measure, mean in means.items():
        assert results.estimate(measure).mean == pytest.approx(mean, rel=1e-6, abs=1e-9), measure
    assert "quantile_50(handled)" in results.table["measure"]
    assert pickle.loads(pickle.dumps(results)).estimate("quantile_90(handled)").mean == pytest.approx(3)
    with pytest.raises(eh.UsageError, match="there are 1 points, from 0"):
        results.estimate("handled", point=1)
    with pytest.raises(eh.UsageError, match="there is a tally 'handled' already"):
        model.tally("handled", up_to=[5])
    first = next(row for row in model.trace(200).rows() if row["what"] == "notes")
    assert (first["time"], first["entity"], first["statement"]) == (14, "order", "leaves 1")
    assert model.to_dict()["tally"] == {"handled": {"up_to": [2, "promised"], "histogram": 0.5}}
    assert "tally <b>handled</b>" in model._repr_html_()
    assert eh.ProcessModel.from_dict(model.to_dict()).run(replications=3, backend="cpu").fingerprint == results.fingerprint


def test_distributions_of_others_and_of_lists_are_compiled() -> None:
    model = eh.ProcessModel("m", until=100, warm_up=0)

    @model.process(every=10)
    def part(env: Any) -> Any:
        yield env.timeout(eh.mixture([(0.5, eh.constant(2)), (0.5, eh.shifted(1, eh.constant(2)))]))
        yield env.timeout(eh.discrete([3, 4], weights=(0.25, 0.75)))
        env.tally("stay")

    laws = [statement["delay"] for statement in model.to_dict()["entity"]["part"]["do"][:2]]
    parts = [{"weight": 0.5, "law": {"constant": 2}}, {"weight": 0.5, "law": {"shifted": {"by": 1, "law": {"constant": 2}}}}]
    assert laws == [{"mixture": parts}, {"discrete": {"values": [3, 4], "weights": [0.25, 0.75]}}]
    assert 5 <= model.run(replications=2, backend="cpu").estimate("stay").mean <= 7
