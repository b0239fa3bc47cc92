"""The department in Cimba's compiled Python models."""

import cimba as cb
from cimba import random

UNTIL, WARM_UP = 14_400, 1_440


class Patient(cb.Model):
    department: cb.Ref["Department"]

    @cb.process
    def life(self):
        level = -1 if random.uniform(0.0, 1.0) < 0.2 else -2
        self.department.nurse.acquire(1, level)
        cb.hold(random.triangular(3.0, 5.0, 9.0))
        self.department.nurse.release()
        came = cb.now()
        self.department.doctor.acquire(1, level)
        self.department.wait.record(cb.now() - came)
        cb.hold(random.exponential(15.0))
        self.department.doctor.release()
        if random.uniform(0.0, 1.0) < 0.4:
            cb.hold(random.exponential(30.0))
        cb.release(self)


class Department(cb.Model):
    nurse: cb.Resource = cb.Resource(capacity=2)
    doctor: cb.Resource = cb.Resource(capacity=4)
    wait: cb.Dataset
    mean_wait: cb.Output[float]

    @cb.process
    def arrivals(self):
        while True:
            cb.hold(random.exponential(5.0))
            cb.spawn(Patient, department=self)

    @cb.on_end
    def measure(self):
        self.mean_wait = self.wait.sample_mean()


MODEL = Department()


def run(replications, seed):
    window = cb.Window(warmup=WARM_UP, duration=UNTIL - WARM_UP)
    results = cb.Experiment(MODEL, replications=replications, window=window, seed=seed).run()
    return list(results[MODEL].mean_wait.values.ravel())
