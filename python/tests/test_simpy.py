"""The same generator functions, compiled here and run by SimPy with the same draws, do the same event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from simpy_shim import Note, World

import eventhorizon as eh
from eventhorizon.process import choice

TICKS = 1_000_000


class Model:
    """A model, with its functions for SimPy."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.model = eh.ProcessModel("model", until=until, warm_up=0, ticks_per_unit=TICKS)
        self.functions: list[Callable[..., Any]] = []

    def process(self, **source: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def added(function: Callable[..., Any]) -> Callable[..., Any]:
            self.functions.append(function)
            return self.model.process(**source)(function)

        return added


def bank() -> Model:
    """Patience that is drawn, and constant."""
    bank = Model(3000)
    bank.model.resource("counter", 2)

    @bank.process(every=eh.exponential(4))
    def customer(env: Any) -> Any:
        with env.counter.request(patience=eh.uniform(2, 9), tally="wait", label="serve") as got:
            if not (yield got):
                env.count("reneged")
                return
            yield env.timeout(eh.exponential(8))
        env.tally("stay")

    @bank.process(every=eh.uniform(50, 90))
    def auditor(env: Any) -> Any:
        with env.counter.request(patience=3.5) as got:
            if not (yield got):
                env.count("no_audit")
                return
            yield env.timeout(11)
        env.count("audits")

    return bank


def emergency() -> Model:
    """Priorities, patience of some, chances, and a bed that is kept over other waits."""
    ward = Model(4000)
    ward.model.resource("nurse", 2).resource("bed", 9, queue="priority").resource("doctor", 3, queue="priority")

    @ward.process(every=eh.exponential(7))
    def patient(env: Any) -> Any:
        level = choice({1: 0.05, 2: 0.15, 3: 0.4, 4: 0.3, 5: 0.1})
        with env.nurse.request(label="triage") as got:
            yield got
            yield env.timeout(eh.uniform(3, 9))
        if not (
            yield env.bed.request(
                priority=level,
                patience={"when": level >= 4, "time": eh.exponential(60)},
                tally="bed_wait",
                label="bed",
            )
        ):
            env.tally("left")
            return
        with env.doctor.request(priority=level, tally="doctor_wait", label="doctor") as got:
            yield got
            yield env.timeout(eh.exponential(17))
        if env.chance(0.6, label="tests"):
            with env.nurse.request(label="again") as got:
                yield got
                yield env.timeout(eh.uniform(2, 8))
            yield env.timeout(eh.exponential(40), label="laboratory")
        if level <= 2:
            yield env.timeout(12.25)
        env.bed.release()
        env.tally("stay")

    return ward


def gas_station() -> Model:
    """A container, a signal, and a loop whose rounds have their own draws."""
    station = Model(20_000)
    station.model.resource("pump", 2).container("tank", 200, level=200).signal("low")

    @station.process(every=eh.uniform(30, 300))
    def car(env: Any) -> Any:
        with env.pump.request(tally="pump_wait", label="pump") as got:
            yield got
            yield env.tank.get(25 + env.number % 16, tally="fuel_wait")
            if env.tank.level < 60:
                env.low.send()
            yield env.timeout(eh.exponential(20))
        env.tally("stay")

    @station.process(at_start=1)
    def truck(env: Any) -> Any:
        while True:
            yield env.low.wait()
            yield env.timeout(eh.uniform(200, 500), label="drive")
            env.tally("delivery", 200 - env.tank.level)
            yield env.tank.put(200 - env.tank.level)

    return station


def assembly() -> Model:
    """A store: parts rest until an assembler takes them."""
    line = Model(3000)
    line.model.store("shelf").variable("made", 0)

    @line.process(every=eh.exponential(3))
    def part(env: Any) -> Any:
        yield env.timeout(eh.uniform(1, 4), label="turn")
        yield env.shelf.give()
        env.made += 1
        env.tally("rest")

    @line.process(at_start=2)
    def assembler(env: Any) -> Any:
        while True:
            yield env.shelf.take(tally="idle")
            yield env.shelf.take()
            yield env.timeout(eh.exponential(11), label="assemble")
            env.count("pieces")

    return line


def preemption() -> Model:
    """Jobs that are preempted, and resume or repeat."""
    shop = Model(6000)
    shop.model.resource("repairer", 2, queue="preempt")

    @shop.process(every=eh.exponential(40))
    def breakdown(env: Any) -> Any:
        with env.repairer.request(priority=1, tally="repair_wait", label="repair") as got:
            yield got
            yield env.timeout(eh.exponential(30))
        env.tally("down")

    @shop.process(every=eh.exponential(25))
    def job(env: Any) -> Any:
        with env.repairer.request(priority=2 + env.number % 2, preempted="resume", label="work") as got:
            yield got
            yield env.timeout(eh.uniform(5, 60))
        env.tally("job")

    @shop.process(every=eh.uniform(100, 150))
    def polish(env: Any) -> Any:
        with env.repairer.request(priority=4, preempted="repeat", patience=70, label="polish") as got:
            if not (yield got):
                env.count("unpolished")
                return
            yield env.timeout(eh.exponential(12))
        env.tally("polished")

    return shop


def orders() -> Model:
    """Entities that start others and wait for them."""
    shop = Model(3000)
    shop.model.resource("robot", 3)

    @shop.process(every=eh.exponential(12))
    def order(env: Any) -> Any:
        env.spawn(item, count=3, join=True)
        yield env.timeout(eh.uniform(1, 3), label="invoice")
        yield env.join()
        env.tally("order")

    @shop.process()
    def item(env: Any) -> Any:
        rounds: int = 0
        while rounds < 2:
            rounds += 1
            with env.robot.request(tally="robot_wait", label="robot") as got:
                yield got
                yield env.timeout(eh.exponential(3.5))

    return shop


MODELS = [bank, emergency, gas_station, assembly, preemption, orders]


def trace(model: eh.ProcessModel, seed: int) -> list[Note]:
    """The trace of the first replication as the shim notes it."""
    notes = []
    for row in model.trace(100_000, seed=seed).rows():
        thing = row["statement"].split()[-1] if row["what"] in ("waits", "rests") else ""
        notes.append((round(row["time"] * TICKS), row["entity"], row["number"], row["what"], thing))
    return notes


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("made", MODELS, ids=lambda made: str(made.__name__))
def test_simpy_does_the_same_event_by_event(made: Callable[[], Model], seed: int) -> None:
    model = made()
    here, simulated = trace(model.model, seed), World(model.model, model.functions, model.until, seed)
    there = simulated.trace()
    for number, (ours, theirs) in enumerate(zip(here, there, strict=False)):
        assert ours == theirs, f"event {number}"
    assert len(here) == len(there) > 300
    results = model.model.run(replications=1, seed=seed, backend="cpu")
    assert simulated.observed
    for name, count in simulated.counted.items():
        assert results.values(name)[0] == count, name
    for name, values in simulated.observed.items():
        assert results.values(f"count({name})")[0] == len(values) > 5, name
        assert results.values(name)[0] == pytest.approx(sum(values) / len(values), rel=1e-5, abs=1e-5), name


def test_the_models_reach_what_they_are_for() -> None:
    """Each has events of its kind: patience that ends, preemptions, rests, joins."""
    found = {made.__name__: made().model for made in MODELS}
    runs = {name: model.run(replications=1, backend="cpu") for name, model in found.items()}
    assert min(runs["bank"].values("reneged")[0], runs["bank"].values("audits")[0]) > 5
    assert runs["emergency"].values("count(left)")[0] > 5
    assert runs["preemption"].values("unpolished")[0] > 0
    kinds = {name: set(model.trace(100_000)["what"]) for name, model in found.items()}
    assert "rests" in kinds["assembly"] and "joins" in kinds["orders"]
    # One in the line, one with the resource, and more after a preemption.
    shop = found["preemption"].trace(100_000).rows()
    waits = Counter((row["entity"], row["number"]) for row in shop if row["what"] == "waits")
    preempted = Counter(kind for (kind, _), count in waits.items() if count > 2)
    assert preempted["job"] > 5 and preempted["polish"] > 1 and not preempted["breakdown"]
