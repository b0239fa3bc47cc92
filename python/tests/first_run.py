"""A first run in a fresh environment, with its times."""

from time import perf_counter

begun = perf_counter()
import eventhorizon as eh  # noqa: E402

imported = perf_counter()
mm1 = eh.Network("M/M/1", until=20_000).source("arrivals", eh.exponential(1.25), to="server")
mm1.station("server", eh.exponential(1), to="out").sink("out")
wait = mm1.run(backend="cpu").estimate("wait", "server")
first = perf_counter()
mm1.run(backend="cpu")
second = perf_counter()
assert wait.theory in wait, wait
print(f"wait {wait}, theory {wait.theory:g}")
print(f"import {imported - begun:.3f} s, first run {first - imported:.3f} s, second {second - first:.3f} s")
