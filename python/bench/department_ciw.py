"""The department in Ciw."""

import ciw

UNTIL, WARM_UP = 14_400, 1_440
LEVELS = {"urgent": 0.2, "sick": 0.8}

NETWORK = ciw.create_network(
    arrival_distributions={
        level: [ciw.dists.Exponential(rate=share / 5), None, None] for level, share in LEVELS.items()
    },
    service_distributions={
        level: [
            ciw.dists.Triangular(lower=3, mode=5, upper=9),
            ciw.dists.Exponential(rate=1 / 15),
            ciw.dists.Exponential(rate=1 / 30),
        ]
        for level in LEVELS
    },
    number_of_servers=[2, 4, float("inf")],
    routing={level: [[0.0, 1.0, 0.0], [0.0, 0.0, 0.4], [0.0, 0.0, 0.0]] for level in LEVELS},
    # The nurse takes the next one, of whichever level.
    priority_classes={"urgent": 0, "sick": 1},
)


def replicate(seed):
    """The mean wait for a doctor in one replication."""
    ciw.seed(seed)
    simulation = ciw.Simulation(NETWORK)
    simulation.simulate_until_max_time(UNTIL)
    records = simulation.get_all_records()
    waits = [of.waiting_time for of in records if of.node == 2 and of.service_start_date >= WARM_UP]
    return sum(waits) / len(waits)


def run(replications, seed):
    return [replicate(seed * 1_000_000 + number) for number in range(replications)]
