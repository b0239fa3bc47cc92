"""Generator functions, compiled to process models."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from conftest import EXAMPLES

import eventhorizon as eh
from eventhorizon.process import choice

pytestmark = pytest.mark.filterwarnings("ignore:.*was never observed:eventhorizon.EventhorizonWarning")

#: Numbers outside of the functions are constants.
OBSERVED = 0.3


def test_a_function_gives_the_results_of_the_file() -> None:
    model = eh.ProcessModel("emergency", unit="minute", until=11_520, warm_up=1_440)
    model.parameter("doctors", [3, 4, 5]).parameter("review", {"time": 9})
    model.resource("nurse", 2).resource("bed", 14, queue="priority")
    model.resource("doctor", "doctors", queue="priority")

    @model.process(every=eh.exponential(7))
    def patient(env: Any) -> Any:
        """A patient keeps a bed until the end."""
        level = choice({1: 0.05, 2: 0.15, 3: 0.4, 4: 0.3, 5: 0.1})
        with env.nurse.request() as got:
            yield got
            yield env.timeout(eh.triangular(3, 5, 9))
        if not (
            yield env.bed.request(
                priority=level, patience={"when": level >= 4, "time": eh.exponential(120)}, tally="bed_wait"
            )
        ):
            env.tally("left")
            return
        with env.doctor.request(priority=level, tally="doctor_wait") as got:
            yield got
            yield env.timeout(eh.exponential(15))
        if env.chance(0.6):
            with env.nurse.request() as got:
                yield got
                yield env.timeout(eh.triangular(2, 4, 8))
            yield env.timeout(eh.lognormal(40, 20))
            with env.doctor.request(priority=level) as got:
                yield got
                yield env.timeout(env.review)
        if env.chance(OBSERVED):
            yield env.timeout(eh.erlang(3, 20))
        env.bed.release()
        env.tally("stay")

    read = eh.ProcessModel.from_toml(EXAMPLES / "processes" / "emergency.toml")
    runs = [each.run(replications=2, until=2000, warm_up=200, backend="cpu") for each in (model, read)]
    assert sorted(runs[0].measures) == sorted(runs[1].measures)
    for measure in runs[0].measures:
        estimates = [run.estimate(measure) for run in runs]
        assert estimates[0].mean == estimates[1].mean or estimates[0].mean != estimates[0].mean, measure
    assert inspect.isgeneratorfunction(patient)


def test_loops_variables_and_other_entities() -> None:
    model = eh.ProcessModel("m", until=1000, warm_up=0)
    model.container("tank", 200, level=200).store("desk").signal("opened").variable("seen", 0, level=True)

    @model.process(every=eh.uniform(30, 300))
    def car(env: Any) -> Any:
        came = env.now
        litres: int = 0
        for _ in range(2):
            yield env.tank.get(10, tally="fuel_wait")
            litres += 10
        env.tally("litres", litres)
        env.seen += 1
        if litres > 10 and 0 < env.seen < 1000:
            env.opened.send()
        elif env.seen == 0:
            env.count("never")
        else:
            env.count("many", 2)
        env.tally("time", env.now - came)

    @model.process(at_start=1)
    def truck(env: Any) -> Any:
        while True:
            yield env.until(env.tank.level < 150)
            yield env.timeout(3)
            yield env.tank.put(200 - env.tank.level)
            env.spawn(part, count=2, join=True)
            yield env.join()

    @model.process()
    def part(env: Any) -> Any:
        yield env.timeout(1)
        env.count("parts")

    results = model.run(replications=2, backend="cpu")
    assert results.estimate("litres").mean == 20
    assert results.estimate("parts").mean > 0 and results.estimate("time").mean >= 0
    assert model.to_dict()["entity"]["car"]["attributes"] == {"came": {"kind": "time", "value": "now"}, "litres": {"kind": "integer", "value": 0}}


def refused(function: Callable[[Any], Any], line: int, message: str) -> None:
    """The function is refused at its line."""
    with pytest.raises(eh.ModelError, match=message) as caught:
        eh.ProcessModel("m", until=10).resource("bed", 1).process(every=3)(function)
    _, first = inspect.getsourcelines(function)
    assert f"{__file__}:{first + line}: " in str(caught.value)


def test_what_cannot_be_compiled_is_refused_with_line_and_remedy() -> None:
    def breaks(env: Any) -> Any:
        while True:
            yield env.timeout(1)
            break

    refused(breaks, 3, "put the condition into `while`")

    def forgets(env: Any) -> Any:
        with env.bed.request() as got:
            yield env.timeout(1)
        del got

    refused(forgets, 1, "write `yield got` first")

    def divides(env: Any) -> Any:
        level = 3
        yield env.timeout(level / 2)

    refused(divides, 2, "write `//` to round down")

    def does_not_wait(env: Any) -> Any:
        env.bed.request()
        yield env.timeout(1)

    refused(does_not_wait, 1, "write `yield` before it")

    def prints(env: Any) -> Any:
        print("here")
        yield env.timeout(1)

    refused(prints, 1, "call what `env` has")

    def goes_on(env: Any) -> Any:
        with env.bed.request(patience=3) as got:
            if not (yield got):
                env.count("left")
            yield env.timeout(1)

    refused(goes_on, 3, "`return` here")

    def has_rates(env: Any) -> Any:
        yield env.timeout(eh.exponential(rate=3))  # type: ignore[call-arg]

    refused(has_rates, 1, "means, not rates")

    def either(env: Any) -> Any:
        with env.bed.request() as got:
            yield got | env.timeout(3)

    refused(either, 2, "give the request a `patience`")

    def unknown(env: Any) -> Any:
        yield env.bed.request(urgency=3)

    refused(unknown, 1, "there are: label, patience, priority, tally, units")

    def later(env: Any) -> Any:
        yield env.timeout(1)
        x = min(1, 2)
        env.tally("x", x)

    refused(later, 2, "annotate it")
