"""The same generator functions, compiled here and run by SimPy, give the same observations.

Times are constant and nothing happens at one time, so the orders of events agree.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
import simpy

import eventhorizon as eh

UNTIL = 500.0


class Held:
    """A request of a resource, with the patience that SimPy lacks."""

    def __init__(self, entity: Entity, resource: simpy.PriorityResource, keys: dict[str, Any]) -> None:
        self.entity, self.resource, self.keys = entity, resource, keys
        self.request: Any = None

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        if self.request is not None:
            self.resource.release(self.request)

    def wait(self) -> Generator[Any, Any, bool]:
        began = self.entity.env.now
        request = self.resource.request(priority=self.keys.get("priority", 0))
        patience = self.entity.env.timeout(self.keys.get("patience", 2 * UNTIL))
        yield request | patience
        if not request.triggered:
            request.cancel()
            return False
        self.request = self.entity.held[self.resource] = request
        if "tally" in self.keys:
            self.entity.tally(self.keys["tally"], self.entity.env.now - began)
        return True


class Timeout:
    """Time that passes."""

    def __init__(self, env: simpy.Environment, time: float) -> None:
        self.env, self.time = env, time

    def wait(self) -> Generator[Any, Any, None]:
        yield self.env.timeout(self.time)


class Thing:
    """A resource, as an entity sees it."""

    def __init__(self, entity: Entity, resource: simpy.PriorityResource) -> None:
        self.entity, self.resource = entity, resource

    def request(self, **keys: Any) -> Held:
        return Held(self.entity, self.resource, keys)

    def release(self) -> None:
        self.resource.release(self.entity.held[self.resource])

    @property
    def queue(self) -> list[Any]:
        return list(self.resource.queue)


class Entity:
    """The environment of an entity."""

    def __init__(self, model: Simulated, number: int) -> None:
        self.env, self.number, self.came = model.env, number, model.env.now
        self.model = model
        self.held: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Thing:
        return Thing(self, self.model.resources[name])

    @property
    def now(self) -> float:
        return float(self.env.now)

    def timeout(self, time: float) -> Timeout:
        return Timeout(self.env, time)

    def tally(self, name: str, value: float | None = None) -> None:
        self.model.observed.setdefault(name, []).append(self.now - self.came if value is None else value)

    def count(self, name: str) -> None:
        self.model.counted[name] = self.model.counted.get(name, 0) + 1


class Simulated:
    """A model under SimPy."""

    def __init__(self, function: Callable[[Any], Any], every: float, resources: dict[str, int]) -> None:
        self.env = simpy.Environment()
        self.resources = {name: simpy.PriorityResource(self.env, units) for name, units in resources.items()}
        self.observed: dict[str, list[float]] = {}
        self.counted: dict[str, int] = {}
        self.env.process(self.source(function, every))
        self.env.run(until=UNTIL)

    def source(self, function: Callable[[Any], Any], every: float) -> Generator[Any, Any, None]:
        number = 0
        while True:
            yield self.env.timeout(every)
            number += 1
            self.env.process(self.drive(function(Entity(self, number))))

    def drive(self, steps: Generator[Any, Any, None]) -> Generator[Any, Any, None]:
        value = None
        while True:
            try:
                step = steps.send(value)
            except StopIteration:
                return
            value = yield from step.wait()


def customer(env: Any) -> Any:
    urgency = env.number % 3
    with env.counter.request(priority=urgency, patience=11.03, tally="wait") as got:
        if not (yield got):
            env.count("reneged")
            return
        if urgency == 0:
            yield env.timeout(7.37)
        else:
            yield env.timeout(4.91)
    env.tally("stay")


def part(env: Any) -> Any:
    came = env.now
    rounds: int = 0
    yield env.pallet.request(tally="pallet_wait")
    while rounds < 2:
        rounds += 1
        with env.machine.request(tally="machine_wait") as got:
            yield got
            if env.number % 4 < 2:
                yield env.timeout(5.31)
            else:
                yield env.timeout(1.57)
        if len(env.machine.queue) > 1 and rounds == 1:
            yield env.timeout(0.23)
    env.pallet.release()
    env.tally("age", env.now - came)


@pytest.mark.parametrize(
    ("function", "every", "resources"),
    [(customer, 5.3, {"counter": 1}), (part, 3.71, {"pallet": 3, "machine": 2})],
)
def test_simpy_observes_the_same(
    function: Callable[[Any], Any], every: float, resources: dict[str, int]
) -> None:
    model = eh.ProcessModel("model", until=UNTIL, warm_up=0, ticks_per_unit=1000)
    for name, units in resources.items():
        model.resource(name, units, queue="priority")
    model.process(every=every)(function)
    here = model.run(replications=1, backend="cpu")
    simulated = Simulated(function, every, resources)
    for name, count in simulated.counted.items():
        assert count > 0 and here.values(name)[0] == count, name
    for name, values in simulated.observed.items():
        assert here.values(f"count({name})")[0] == len(values) > 50, name
        assert here.values(name)[0] == pytest.approx(sum(values) / len(values)), name
        assert here.values(f"largest({name})")[0] == pytest.approx(max(values)), name
