"""The department as a generator function of this package."""

import eventhorizon as eh
from eventhorizon.process import choice

department = eh.ProcessModel("department", unit="minute", until=14_400, warm_up=1_440)
department.resource("nurse", 2, queue="priority").resource("doctor", 4, queue="priority")


@department.process(every=eh.exponential(5))
def patient(env):
    level = choice({1: 0.2, 2: 0.8})
    with env.nurse.request(priority=level) as got:
        yield got
        yield env.timeout(eh.triangular(3, 5, 9))
    with env.doctor.request(priority=level, tally="wait") as got:
        yield got
        yield env.timeout(eh.exponential(15))
    if env.chance(0.4):
        yield env.timeout(eh.exponential(30))


def run(replications, seed, backend="cpu"):
    return department.run(replications=replications, seed=seed, backend=backend).values("wait")
