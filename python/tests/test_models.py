"""Models in WGSL."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import EXAMPLES, LONG

import eventhorizon as eh

COUNTER = EXAMPLES / "models" / "counter.toml"

#: A replication that makes one draw.
DRAW = """
struct Params { bound: u32 }
struct State { value: u32 }
struct Output { value: u32 }
fn start(state: ptr<function, State>) { *state = State(); }
fn step(state: ptr<function, State>) -> bool {
    (*state).value = draw_block().x % params.bound;
    return false;
}
fn finish(state: ptr<function, State>) -> Output { return Output((*state).value); }
"""


def draw() -> eh.Model:
    return eh.Model(DRAW, name="draw", parameters={"bound": 6}, measures={"half": "value / 2"})


def test_models_come_from_files_and_texts() -> None:
    toml = COUNTER.read_text()
    ways = [eh.Model.from_toml(COUNTER), eh.Model.from_toml(toml, COUNTER.with_suffix(".wgsl").read_text())]
    ways += [pickle.loads(pickle.dumps(model)) for model in ways]
    runs = [model.run(replications=50, backend="cpu") for model in ways]
    assert len({run.fingerprint for run in runs}) == 1
    assert ways[0].measures == ["wait", "longest", "idle"]
    assert runs[0].points == [{"service": 1.0}, {"service": 0.9}]
    changed = ways[0].run(parameters={"service": 0.5}, replications=50, backend="cpu")
    assert changed.estimate("wait").mean < runs[0].estimate("wait").mean


def test_a_model_of_texts_has_the_type_of_its_wgsl() -> None:
    results = draw().run(replications=600, backend="cpu")
    values = results.values("half")
    assert results.measures == ["half"] and values.dtype == np.float64
    assert {2 * value for value in values.tolist()} == set(range(6))
    assert results.estimate("half").mean == pytest.approx(values.mean())
    assert results.failures() == {}


def test_errors_name_file_and_line() -> None:
    with pytest.raises(eh.ModelError, match="draw.wgsl:3"):
        eh.Model(DRAW.replace("value: u32 }\nstruct Output", "value: u33 }\nstruct Output"), name="draw").measures
    with pytest.raises(eh.ModelError, match="bond"):
        draw().run(parameters={"bond": 3}, backend="cpu")
    with pytest.raises(eh.UsageError, match="needs its WGSL"):
        eh.Model.from_toml("name = 1")


@pytest.mark.skipif(not LONG, reason="EVENTHORIZON_LONG is not set")
def test_ten_million_observations_are_not_copied() -> None:
    import resource

    results = draw().run(replications=10_000_000, backend="cpu")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arrays = [results.values("half") for _ in range(10)]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # In KiB: ten copies would be 780,000.
    assert all(len(array) == 10_000_000 for array in arrays) and after - before < 10_000
