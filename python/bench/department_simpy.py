"""The department in SimPy."""

import random

import simpy

UNTIL, WARM_UP = 14_400, 1_440


def replicate(seed):
    """The mean wait for a doctor in one replication."""
    env, rng, waits = simpy.Environment(), random.Random(seed), []
    nurse, doctor = simpy.PriorityResource(env, 2), simpy.PriorityResource(env, 4)

    def patient():
        level = 1 if rng.random() < 0.2 else 2
        with nurse.request(priority=level) as request:
            yield request
            yield env.timeout(rng.triangular(3, 9, 5))
        came = env.now
        with doctor.request(priority=level) as request:
            yield request
            if env.now >= WARM_UP:
                waits.append(env.now - came)
            yield env.timeout(rng.expovariate(1 / 15))
        if rng.random() < 0.4:
            yield env.timeout(rng.expovariate(1 / 30))

    def arrivals():
        while True:
            yield env.timeout(rng.expovariate(1 / 5))
            env.process(patient())

    env.process(arrivals())
    env.run(until=UNTIL)
    return sum(waits) / len(waits)


def run(replications, seed):
    return [replicate(seed * 1_000_000 + number) for number in range(replications)]
