"""Runs the generator functions of a process model under SimPy, with the draws of the package and with what SimPy
lacks: patience, joins, and times that continue after a preemption.

Times are whole ticks, so both runs have the same. Of what happens, the last of each entity at each time is noted,
as traces of the package do. Random statements need labels; one in a loop is executed in each round.
"""

from __future__ import annotations

import types
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from typing import Any

import simpy
from streams import arm, ticks_of, words

import eventhorizon as eh

#: Time, type and number of an entity, what it does, and with what it waits.
Note = tuple[int, str, int, str, str]

Steps = Generator[Any, Any, Any]


class Held:
    """A request of a resource."""

    def __init__(self, being: Being, name: str, keys: dict[str, Any]) -> None:
        self.being, self.name, self.keys = being, name, keys
        self.resource = being.world.things[name]
        self.request: Any = None

    def __enter__(self) -> Held:
        self.being.uses.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.being.uses.pop() is self
        self.release()

    def ask(self) -> Any:
        lines = isinstance(self.resource, simpy.PriorityResource)
        return self.resource.request(priority=self.keys.get("priority", 0)) if lines else self.resource.request()

    def release(self) -> None:
        if self.request is not None:
            self.resource.release(self.request)
            self.request = None

    def __iter__(self) -> Steps:
        request = self.ask()
        if not (yield from self.being.waits(request, self.name, self.keys, f"{self.name}/the patience")):
            return False
        self.request = request
        if self not in self.being.uses:
            self.being.seized[self.name] = self
        return True

    def passes(self, ticks: int) -> Steps:
        """Time that passes while it is held; after a preemption it is waited for again."""
        world, left = self.being.world, ticks
        # Traces list time that can be preempted as a wait.
        preempts = isinstance(self.resource, simpy.PreemptiveResource)
        while True:
            began = world.now
            self.being.note(*(("waits", self.name) if preempts else ("delays",)))
            try:
                yield world.env.timeout(left)
                return
            except simpy.Interrupt:
                if self.keys.get("preempted", "resume") == "resume":
                    left -= world.now - began
                self.request = self.ask()
                self.being.note("waits", self.name)
                yield self.request
                if left == 0:
                    return


class Thing:
    """A resource, container, store or signal, as an entity sees it."""

    def __init__(self, being: Being, name: str) -> None:
        self.being, self.name = being, name
        self.thing = being.world.things[name]

    def request(self, **keys: Any) -> Held:
        return Held(self.being, self.name, keys)

    def release(self) -> None:
        self.being.seized.pop(self.name).release()

    def get(self, amount: int = 1, **keys: Any) -> Steps:
        return self.being.waits(self.thing.get(amount), self.name, keys, "the patience")

    def put(self, amount: int = 1, **keys: Any) -> Steps:
        return self.being.waits(self.thing.put(amount), self.name, keys, "the patience")

    def give(self) -> Steps:
        taken = self.being.world.env.event()
        self.thing.put(taken)
        self.being.note("rests", self.name)
        yield taken

    def take(self, **keys: Any) -> Steps:
        item = self.thing.get()
        got = yield from self.being.waits(item, self.name, keys, "the patience")
        if got:
            item.value.succeed()
        return got

    def wait(self, **keys: Any) -> Steps:
        return self.being.waits(self.thing, self.name, keys, "the patience")

    def send(self) -> None:
        self.being.world.things[self.name] = self.being.world.env.event()
        self.thing.succeed()

    @property
    def queue(self) -> list[Any]:
        return list(self.thing.queue)

    @property
    def count(self) -> int:
        return int(self.thing.count)

    @property
    def level(self) -> int:
        return int(self.thing.level)


class Being:
    """An entity: the environment of its function."""

    def __init__(self, world: World, kind: str, number: int) -> None:
        self.world, self.kind, self.number, self.came = world, kind, number, world.now
        self.uses: list[Held] = []
        self.seized: dict[str, Held] = {}
        self.rounds: Counter[str] = Counter()
        self.children: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["world"].variables:
            return self.world.variables[name]
        return Thing(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "world" and name in self.world.variables:
            self.world.variables[name] = value
        else:
            object.__setattr__(self, name, value)

    @property
    def now(self) -> float:
        return float(self.world.now) / float(self.world.ticks)

    def note(self, what: str, thing: str = "") -> None:
        self.world.noted[self.world.now][self.kind, self.number] = (what, thing)

    def word(self, name: str) -> Any:
        """The words of a draw of this entity."""
        visit = 0
        if name.split("/")[0] in self.world.loops[self.kind]:
            self.rounds[name] += 1
            visit = self.rounds[name]
        return words(self.world.seed, f"{self.kind}/{name}", visit, self.number)

    def ticks(self, time: Any, name: str | None) -> int:
        if isinstance(time, dict):
            assert name is not None, "a random time needs a label"
            return ticks_of(time, self.word(name), self.world.ticks)
        return int(round(time * self.world.ticks))

    def waits(self, event: Any, thing: str, keys: dict[str, Any], what: str) -> Steps:
        """Waits for an event, or until the patience ends. Returns whether it happened."""
        began = self.world.now
        self.note("waits", thing)
        patience = keys.get("patience")
        if isinstance(patience, dict) and "time" in patience:
            patience = patience["time"] if patience.get("when", True) else None
        if patience is None:
            yield event
        else:
            name = f"{keys['label']}/{what}" if "label" in keys else None
            yield event | self.world.env.timeout(self.ticks(patience, name))
            if not event.triggered:
                event.cancel()
                return False
        if "tally" in keys:
            self.world.observed[keys["tally"]].append((self.world.now - began) / self.world.ticks)
        return True

    def timeout(self, time: Any, label: str | None = None) -> Steps:
        if label is None and self.uses:
            use = self.uses[-1]
            name = f"{use.keys['label']}/the time" if "label" in use.keys else None
            return use.passes(self.ticks(time, name))
        return self.delays(self.ticks(time, None if label is None else f"{label}/the delay"))

    def delays(self, ticks: int) -> Steps:
        self.note("delays")
        yield self.world.env.timeout(ticks)

    def chance(self, probability: float, label: str) -> bool:
        return arm(next(self.word(f"{label}/arm")), [probability]) == 0

    def tally(self, name: str, value: float | None = None) -> None:
        since = (self.world.now - self.came) / self.world.ticks
        self.world.observed[name].append(since if value is None else value)

    def count(self, name: str, by: int = 1) -> None:
        self.world.counted[name] += by

    def spawn(self, function: Callable[..., Any], count: int = 1, join: bool = False) -> None:
        begun = [self.world.start(function.__name__) for _ in range(count)]
        self.children += begun if join else []

    def join(self) -> Steps:
        self.note("joins")
        yield self.world.env.all_of(self.children)
        self.children.clear()


class World:
    """A model under SimPy."""

    def __init__(self, model: eh.ProcessModel, functions: list[Callable[..., Any]], until: float, seed: int = 1) -> None:
        described = model.to_dict()
        self.env, self.seed, self.ticks = simpy.Environment(), seed, described["ticks_per_unit"]
        self.noted: dict[int, dict[tuple[str, int], tuple[str, str]]] = defaultdict(dict)
        self.observed: dict[str, list[float]] = defaultdict(list)
        self.counted: Counter[str] = Counter()
        self.numbers: Counter[str] = Counter()
        self.variables = {name: of["value"] for name, of in described.get("variable", {}).items()}
        self.entities = described["entity"]
        self.loops = {name: labels_in_loops(entity["do"]) for name, entity in self.entities.items()}
        self.things: dict[str, Any] = {}
        kinds = {"priority": simpy.PriorityResource, "preempt": simpy.PreemptiveResource}
        for name, of in described.get("resource", {}).items():
            self.things[name] = kinds.get(of.get("queue"), simpy.Resource)(self.env, of["units"])
        for name, of in described.get("container", {}).items():
            self.things[name] = simpy.Container(self.env, of["capacity"], of.get("level", 0))
        self.things |= {name: simpy.Store(self.env) for name in described.get("store", {})}
        self.things |= {name: self.env.event() for name in described.get("signal", {})}
        self.being: Being | None = None
        self.functions = {function.__name__: self.drawing(function) for function in functions}
        for name, entity in self.entities.items():
            for _ in range(entity.get("at_start", 0)):
                self.start(name)
            if "every" in entity:
                self.env.process(self.source(name, entity["every"]))
        self.env.run(until=round(until * self.ticks))

    @property
    def now(self) -> int:
        """The time in ticks."""
        return int(self.env.now)

    def drawing(self, function: Any) -> Callable[..., Any]:
        """The function with a `choice` that draws."""
        names = {**function.__globals__, "choice": self.choice}
        return types.FunctionType(function.__code__, names, function.__name__, None, function.__closure__)

    def choice(self, probabilities: dict[int, float]) -> int:
        """The first value of the attribute whose turn it is."""
        being = self.being
        assert being is not None
        attributes = self.entities[being.kind]["attributes"].items()
        drawn = [name for name, of in attributes if isinstance(of, dict) and "choice" in of]
        name = drawn[being.rounds["choice"]]
        being.rounds["choice"] += 1
        word = next(words(self.seed, f"{being.kind}/{name}/value", 0, being.number))
        return list(probabilities)[arm(word, list(probabilities.values()))]

    def source(self, name: str, every: Any) -> Steps:
        number = 0
        while True:
            drawn = words(self.seed, f"{name}/source 1", 0, number)
            gap = ticks_of(every, drawn, self.ticks) if isinstance(every, dict) else round(every * self.ticks)
            yield self.env.timeout(gap)
            number += 1
            self.start(name)

    def start(self, name: str) -> Any:
        self.numbers[name] += 1
        being = Being(self, name, self.numbers[name])
        return self.env.process(self.drive(being, self.functions[name](being)))

    def drive(self, being: Being, steps: Steps) -> Steps:
        value = None
        while True:
            self.being = being
            try:
                step = steps.send(value)
            except StopIteration:
                break
            value = yield from step
        came_now = being.came == self.now
        self.noted[self.now].pop((being.kind, being.number), None)
        if not came_now:
            being.note("ends")

    def trace(self) -> list[Note]:
        """What happened, by time and then by entity; what ends comes first of the same entity."""
        return [
            (time, *who, *what) for time, notes in sorted(self.noted.items()) for who, what in sorted(notes.items())
        ]


def labels_in_loops(statements: Any, inside: bool = False) -> set[str]:
    """The labels of statements that are executed once in each round of a loop."""
    found: set[str] = set()
    if isinstance(statements, dict):
        loops = {"forever", "while", "repeat"} & statements.keys()
        if inside and "label" in statements:
            found.add(statements["label"])
        statements = [(value, inside or bool(loops)) for value in statements.values()]
    elif isinstance(statements, list):
        statements = [(value, inside) for value in statements]
    else:
        return found
    for value, within in statements:
        found |= labels_in_loops(value, within)
    return found
