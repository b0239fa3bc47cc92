"""The department as a network of this package."""

import eventhorizon as eh

department = eh.Network("department", unit="minute", classes=["urgent", "sick"], until=14_400, warm_up=1_440)
department.source("urgent patients", eh.exponential(25), class_="urgent", to="nurse")
department.source("sick patients", eh.exponential(6.25), class_="sick", to="nurse")
department.station("nurse", eh.triangular(3, 5, 9), servers=2, discipline="priority", to="doctor")
to = [{"node": "laboratory", "probability": 0.4}, "home"]
department.station("doctor", eh.exponential(15), servers=4, discipline="priority", to=to)
department.delay("laboratory", eh.exponential(30), to="home").sink("home")


def run(replications, seed, backend="cpu"):
    return department.run(replications=replications, seed=seed, backend=backend).values("wait", "doctor")
