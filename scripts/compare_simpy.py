#!/usr/bin/env python3
"""Runs models of examples/processes in SimPy, too, and checks that both give the same.

    python3 -m venv target/simpy && target/simpy/bin/pip install simpy
    cargo build --release -p eventhorizon-cli
    target/simpy/bin/python scripts/compare_simpy.py [--program PATH] [--backend cpu|gpu] [--share X] [MODEL ...]

The models are written by hand in SimPy, as its users write them. Two kinds of comparison:

* Means of independent replications. A mean agrees if it lies no further from the other than 1.5 times the half width of the interval of their
  difference (at 95 %).
* Models with constant times, in which many things happen at once (`ties`, `priorities`). Their totals have to be equal.

Two orders differ, and `grants` and `releases` check that they do. In SimPy grants and releases are events: they come behind all that is already
scheduled for this time. Here they are none: a release grants at once, and who is granted continues before the next event. Ends with 1 if something
does not agree.
"""

import argparse
import csv
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

import simpy

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "processes"


class Run:
    """One replication: tallies and counters as `eventhorizon process` names them."""

    def __init__(self, seed, until, warm_up):
        self.env, self.rng = simpy.Environment(), random.Random(seed)
        self.until, self.warm_up = until, warm_up
        self.tallies, self.counters = {}, {}

    def tally(self, name, value):
        if self.env.now >= self.warm_up:
            self.tallies.setdefault(name, []).append(value)

    def count(self, name):
        if self.env.now >= self.warm_up:
            self.counters[name] = self.counters.get(name, 0) + 1

    def exponential(self, mean):
        return self.env.timeout(self.rng.expovariate(1 / mean))

    def triangular(self, low, mode, high):
        return self.env.timeout(self.rng.triangular(low, high, mode))

    def lognormal(self, mean, deviation):
        spread = math.log(1 + (deviation / mean) ** 2)
        return self.env.timeout(self.rng.lognormvariate(math.log(mean) - spread / 2, math.sqrt(spread)))

    def erlang(self, stages, mean):
        return self.env.timeout(self.rng.gammavariate(stages, mean / stages))

    def arrivals(self, gap, process):
        while True:
            yield gap()
            self.env.process(process())

    def measures(self):
        self.env.run(self.until)
        found = dict(self.counters)
        for name, values in self.tallies.items():
            found[name] = statistics.fmean(values)
            found[f"count({name})"] = len(values)
        return found


def mm3(run):
    env, server = run.env, simpy.Resource(run.env, 3)

    def customer():
        came = env.now
        with server.request() as request:
            yield request
            run.tally("wait", env.now - came)
            yield run.exponential(3)
        run.tally("stay", env.now - came)

    env.process(run.arrivals(lambda: run.exponential(1.25), customer))


def bank(run):
    env, counter = run.env, simpy.Resource(run.env, 1)

    def customer():
        came = env.now
        with counter.request() as request:
            yield request | env.timeout(run.rng.uniform(1, 15))
            if not request.triggered:
                run.count("reneged")
                return
            run.tally("wait", env.now - came)
            yield run.exponential(12)
        run.count("served")
        run.tally("stay", env.now - came)

    env.process(run.arrivals(lambda: run.exponential(10), customer))


def emergency(run):
    env = run.env
    nurse, bed, doctor = simpy.Resource(env, 2), simpy.PriorityResource(env, 14), simpy.PriorityResource(env, 4)

    def patient():
        came = env.now
        level = run.rng.choices((1, 2, 3, 4, 5), (0.05, 0.15, 0.40, 0.30, 0.10))[0]
        with nurse.request() as request:
            yield request
            yield run.triangular(3, 5, 9)
        begin, place = env.now, bed.request(priority=level)
        if level >= 4:
            yield place | run.exponential(120)
            if not place.triggered:
                place.cancel()
                run.tally("left", env.now - came)
                return
        else:
            yield place
        run.tally("bed_wait", env.now - begin)
        begin = env.now
        with doctor.request(priority=level) as request:
            yield request
            run.tally("doctor_wait", env.now - begin)
            yield run.exponential(15)
        if run.rng.random() < 0.6:
            with nurse.request() as request:
                yield request
                yield run.triangular(2, 4, 8)
            yield run.lognormal(40, 20)
            with doctor.request(priority=level) as request:
                yield request
                yield env.timeout(9)
        if run.rng.random() < 0.3:
            yield run.erlang(3, 20)
        bed.release(place)
        run.tally("stay", env.now - came)

    env.process(run.arrivals(lambda: run.exponential(7), patient))


def machine_shop(run):
    env, repairer = run.env, simpy.PreemptiveResource(run.env, 1)

    class Machine:
        def __init__(self):
            self.broken = False
            self.process = env.process(self.work())
            env.process(self.breaks())

        def work(self):
            while True:
                left = max(0.0, run.rng.normalvariate(10, 2))
                while left > 0:
                    begin = env.now
                    try:
                        yield env.timeout(left)
                        left = 0
                    except simpy.Interrupt:
                        self.broken = True
                        left -= env.now - begin
                        broke = env.now
                        with repairer.request(priority=1) as request:
                            yield request
                            run.tally("repair_wait", env.now - broke)
                            yield env.timeout(30)
                        self.broken = False
                run.count("parts")

        def breaks(self):
            while True:
                yield run.exponential(300)
                if not self.broken:
                    self.process.interrupt()

    def job():
        while True:
            left = 30
            while left > 0:
                with repairer.request(priority=2) as request:
                    yield request
                    begin = env.now
                    try:
                        yield env.timeout(left)
                        left = 0
                    except simpy.Interrupt:
                        left -= env.now - begin
            run.count("jobs")

    for _ in range(10):
        Machine()
    env.process(job())


def gas_station(run):
    env, pump = run.env, simpy.Resource(run.env, 2)
    tank, low = simpy.Container(env, 200, init=200), [env.event()]

    def car():
        came, amount = env.now, 50 - run.rng.randint(5, 25)
        with pump.request() as request:
            yield request
            run.tally("pump_wait", env.now - came)
            begin = env.now
            yield tank.get(amount)
            if tank.level < 50 and not low[0].triggered:
                low[0].succeed()
            run.tally("fuel_wait", env.now - begin)
            yield env.timeout(amount / 2)
        run.tally("stay", env.now - came)

    def truck():
        while True:
            if tank.level >= 50:
                low[0] = env.event()
                yield low[0]
            yield env.timeout(300)
            run.tally("delivery", 200 - tank.level)
            yield tank.put(200 - tank.level)

    env.process(truck())
    env.process(run.arrivals(lambda: env.timeout(run.rng.uniform(30, 300)), car))


def port(run):
    env, berth, tug = run.env, simpy.Resource(run.env, 3), simpy.Container(run.env, 2, init=2)
    # Those who come in are the first at high tide: their condition is the first in the description.
    high, turned = [False], [env.event(), env.event()]

    def tide():
        while True:
            yield env.timeout(7)
            high[0] = True
            for event in turned:
                event.succeed()
            yield env.timeout(5)
            high[0], turned[:] = False, [env.event(), env.event()]

    def high_tide(place):
        if not high[0]:
            yield turned[place]

    def ship():
        came = env.now
        with berth.request() as request:
            yield request
            run.tally("berth_wait", env.now - came)
            begin = env.now
            yield from high_tide(0)
            run.tally("tide_wait", env.now - begin)
            begin = env.now
            yield tug.get(2)
            run.tally("tug_wait", env.now - begin)
            yield env.timeout(run.rng.uniform(0.5, 1.5))
            yield tug.put(2)
            yield run.erlang(4, 18)
            yield from high_tide(1)
            yield tug.get(2)
            yield env.timeout(0.5)
            yield tug.put(2)
        run.tally("stay", env.now - came)

    env.process(tide())
    env.process(run.arrivals(lambda: run.exponential(12), ship))


# The model in SimPy, and the parameters for which it is written.
MODELS = {
    "mm3": (mm3, []),
    "bank": (bank, ["counters=1"]),
    "emergency": (emergency, ["doctors=4"]),
    "machine_shop": (machine_shop, ["repairers=1"]),
    "gas_station": (gas_station, ["trip=300"]),
    "port": (port, ["berths=3", "tugs=2"]),
}

# A clinic in which most things happen at whole multiples of five minutes, in lines by arrival.
TIES = """
name = "ties"
until = 2001
warm_up = 0
[resource]
nurse = 2
bed = 14
doctor = 4
[entity.patient]
source = [{ every = 5 }, { every = 10 }]
do = [
  { use = "nurse", for = 5, tally = "nurse_wait" },
  { seize = "bed", tally = "bed_wait" },
  { use = "doctor", for = 10, tally = "doctor_wait" },
  { use = "nurse", for = 5 },
  { delay = 15 },
  { use = "doctor", for = 5 },
  { release = "bed" },
  { tally = "stay" },
]
"""


def ties(run):
    env = run.env
    nurse, bed, doctor = simpy.Resource(env, 2), simpy.Resource(env, 14), simpy.Resource(env, 4)

    def patient():
        came = env.now
        with nurse.request() as request:
            yield request
            run.tally("nurse_wait", env.now - came)
            yield env.timeout(5)
        begin, place = env.now, bed.request()
        yield place
        run.tally("bed_wait", env.now - begin)
        begin = env.now
        with doctor.request() as request:
            yield request
            run.tally("doctor_wait", env.now - begin)
            yield env.timeout(10)
        with nurse.request() as request:
            yield request
            yield env.timeout(5)
        yield env.timeout(15)
        with doctor.request() as request:
            yield request
            yield env.timeout(5)
        bed.release(place)
        run.tally("stay", env.now - came)

    env.process(run.arrivals(lambda: env.timeout(5), patient))
    env.process(run.arrivals(lambda: env.timeout(10), patient))


# Two machines with a line by priority. Many parts enter at the same time, and both machines end at the same time; but no part enters when one ends.
PRIORITIES = """
name = "priorities"
until = 5001
warm_up = 0
[resource]
machine = { units = 2, queue = "priority" }
[entity.part]
source = [{ every = 20, batch = 6 }, { every = 30, batch = 3 }]
do = [
  { use = "machine", priority = "number % 3", for = 3, tally = "wait" },
  { tally = "stay" },
  { tally = "product", value = "(number % 100) * integer(age)" },
]
"""


def priorities(run):
    env, machine, count = run.env, simpy.PriorityResource(run.env, 2), [0]

    def part():
        count[0] += 1
        came, number = env.now, count[0]
        with machine.request(priority=number % 3) as request:
            yield request
            run.tally("wait", env.now - came)
            yield env.timeout(3)
        run.tally("stay", env.now - came)
        run.tally("product", number % 100 * (env.now - came))

    def arrivals(gap, batch):
        while True:
            yield env.timeout(gap)
            for _ in range(batch):
                env.process(part())

    env.process(arrivals(20, 6))
    env.process(arrivals(30, 3))


# `second` waits for `first`, and wants `other` as soon as it has that; `third` wants `other` at the same time. Its event is scheduled before the
# grant: in SimPy `third` is sooner, here `second` is.
GRANTS = """
name = "grants"
until = 100
warm_up = 0
[resource]
first = 1
other = 1
[entity.holder]
at_start = 1
do = [{ use = "first", for = 5 }]
[entity.second]
at_start = 1
do = [{ delay = 1 }, { use = "first", do = [{ use = "other", for = 3, tally = "second_wait" }] }]
[entity.third]
at_start = 1
do = [{ delay = 5 }, { use = "other", for = 3, tally = "third_wait" }]
"""


def grants(run):
    env = run.env
    first, other = simpy.Resource(env, 1), simpy.Resource(env, 1)

    def uses_other(name):
        begin = env.now
        with other.request() as request:
            yield request
            run.tally(name, env.now - begin)
            yield env.timeout(3)

    def holder():
        with first.request() as request:
            yield request
            yield env.timeout(5)

    def second():
        yield env.timeout(1)
        with first.request() as request:
            yield request
            yield from uses_other("second_wait")

    def third():
        yield env.timeout(5)
        yield from uses_other("third_wait")

    for process in (holder, second, third):
        env.process(process())


# `low` waits when `holder` releases, and `urgent` comes at this time, in an event behind that. In SimPy a release is an event, too: `urgent` comes before
# it, and is sooner. Here the release grants `low`.
RELEASES = """
name = "releases"
until = 100
warm_up = 0
[resource]
machine = { units = 1, queue = "priority" }
[entity.holder]
at_start = 1
do = [{ use = "machine", for = 5 }]
[entity.low]
at_start = 1
do = [{ delay = 1 }, { use = "machine", priority = 2, for = 3, tally = "low_wait" }]
[entity.urgent]
at_start = 1
do = [{ delay = 5 }, { use = "machine", priority = 1, for = 4, tally = "urgent_wait" }]
"""


def releases(run):
    env, machine = run.env, simpy.PriorityResource(run.env, 1)

    def uses(begin, priority, lasts, name):
        yield env.timeout(begin)
        came = env.now
        with machine.request(priority=priority) as request:
            yield request
            run.tally(name, env.now - came)
            yield env.timeout(lasts)

    def holder():
        with machine.request() as request:
            yield request
            yield env.timeout(5)

    env.process(holder())
    env.process(uses(1, 2, 3, "low_wait"))
    env.process(uses(5, 1, 4, "urgent_wait"))


# Models with constant times. The last of each: what differs, as (SimPy, here).
CONSTANT = {
    "ties": (TIES, ties, {}),
    "priorities": (PRIORITIES, priorities, {}),
    "grants": (GRANTS, grants, {"second_wait": (3, 0), "third_wait": (0, 3)}),
    "releases": (RELEASES, releases, {"low_wait": (8, 4), "urgent_wait": (0, 3)}),
}


def ours(program, file, *options):
    """The columns of all replications."""
    command = [program, "process", str(file), "--each", "-", *options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)}: {run.stderr or run.stdout}")
    rows = list(csv.DictReader(run.stdout.splitlines()))
    return {name: [float(row[name]) for row in rows if row[name]] for name in rows[0]}


def half_width(values):
    # Student's t at 97.5 %: close enough from 16 replications on.
    student = 1.96 + 2.5 / (len(values) - 1)
    return student * statistics.stdev(values) / math.sqrt(len(values))


def means(args, name):
    """Whether the means of a model agree."""
    model, changes = MODELS[name]
    file = FOLDER / f"{name}.toml"
    described = tomllib.loads(file.read_text())
    until, warm_up = described["until"], described["warm_up"]
    until = warm_up + args.share * (until - warm_up)
    options = ["--until", str(until), "--warm-up", str(warm_up), "--replications", str(args.ours), "--seed", "1"]
    options += ["--backend", args.backend] + [part for change in changes for part in ("--set", change)]
    here = ours(args.program, file, *options)
    begun, there = time.perf_counter(), []
    for seed in range(args.replications):
        run = Run(seed, until, warm_up)
        model(run)
        there.append(run.measures())
    seconds = time.perf_counter() - begun
    measures = list(dict.fromkeys(measure for run in there for measure in run))
    agreed = 0
    for measure in measures:
        # Nothing observed is a count of 0, and no mean.
        counts = measure.startswith("count(") or f"count({measure})" not in measures
        values = [run.get(measure, 0) for run in there if counts or measure in run]
        others = here[measure]
        apart = abs(statistics.fmean(values) - statistics.fmean(others))
        fits = apart <= 1.5 * math.hypot(half_width(values), half_width(others)) + 1e-9
        agreed += fits
        if args.all or not fits:
            print(
                f"  {measure}: {statistics.fmean(others):.5g} ± {half_width(others):.2g}, "
                f"SimPy {statistics.fmean(values):.5g} ± {half_width(values):.2g}{'' if fits else ': differs'}"
            )
    print(f"{name}: {agreed} of {len(measures)} means agree; SimPy {seconds / args.replications:.3f} s a replication")
    return agreed == len(measures)


def constant(args, name):
    """Whether totals of a model with constant times agree."""
    text, model, differs = CONSTANT[name]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"{name}.toml"
        file.write_text(text)
        here = ours(args.program, file, "--replications", "2", "--backend", args.backend)
    run = Run(1, tomllib.loads(text)["until"], 0)
    model(run)
    there, wrong = run.measures(), 0
    for measure, value in there.items():
        pair = (value, here[measure][0])
        expected = differs.get(measure, (value, value))
        fits = all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in zip(pair, expected))
        wrong += not fits
        if args.all or not fits:
            print(f"  {measure}: {pair[1]}, SimPy {pair[0]}, expected {expected[1]} and {expected[0]}")
    known = f", of which {len(differs)} differ as they have to" if differs else ""
    print(f"{name}: {len(there) - wrong} of {len(there)} totals are as expected{known}")
    return not wrong


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--program", default="target/release/eventhorizon")
    options.add_argument("--backend", default="cpu")
    options.add_argument("--replications", type=int, default=24, help="in SimPy")
    options.add_argument("--ours", type=int, default=200, help="replications of eventhorizon")
    options.add_argument("--share", type=float, default=1.0, help="of the time that the description says")
    options.add_argument("--all", action="store_true", help="print measures that agree, too")
    options.add_argument("models", nargs="*", help=f"default: {' '.join([*MODELS, *CONSTANT])}")
    args = options.parse_args()
    unknown = [name for name in args.models if name not in MODELS and name not in CONSTANT]
    if unknown:
        options.error(f"no model in SimPy: {' '.join(unknown)}")
    names = args.models or [*MODELS, *CONSTANT]
    fits = [(constant if name in CONSTANT else means)(args, name) for name in names]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
