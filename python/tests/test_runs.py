"""Runs: progress, Ctrl-C, threads, PHOLD, the doctor."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator

import pytest
from conftest import EXAMPLES, LONG

import eventhorizon as eh

pytestmark = pytest.mark.filterwarnings("ignore:.*was never observed:eventhorizon.EventhorizonWarning")

MM1 = EXAMPLES / "networks" / "mm1.toml"

#: Replications that take minutes, of runs that are ended early.
MANY = 1_000_000


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """The handler of Python, which shells leave out of what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_leaves_the_replications_made_so_far() -> None:
    def interrupt(runs: int, events: int) -> None:
        if runs > 0:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(eh.EventhorizonWarning, match="Ctrl-C ended the run") as warned:
        results = eh.Network.from_toml(MM1).run(replications=MANY, backend="cpu", progress=interrupt)
    assert results.interrupted and 0 < results.replications < MANY
    assert warned[0].filename == __file__
    assert results.stopped == "stopped"
    assert len(results.values("wait", "server")) == results.replications


def test_ctrl_c_ends_process_models_and_models_in_wgsl() -> None:
    def interrupt(runs: int, events: int) -> None:
        # Replications end in blocks.
        if runs > 500:
            raise KeyboardInterrupt

    port = eh.ProcessModel.from_toml(EXAMPLES / "processes" / "port.toml")
    counter = eh.Model.from_toml(EXAMPLES / "models" / "counter.toml")
    with pytest.warns(eh.EventhorizonWarning, match="Ctrl-C ended the run") as warned:
        runs = [
            # One point: those of several end one after the other.
            port.run(
                parameters={"berths": 3, "tugs": 2},
                until=200,
                warm_up=20,
                replications=MANY,
                backend="cpu",
                progress=interrupt,
            ),
            counter.run(parameters={"service": 1.0}, replications=MANY, backend="cpu", progress=interrupt),
        ]
    assert all(run.interrupted and 0 < run.replications < MANY for run in runs)
    assert {warning.filename for warning in warned} == {__file__}


def test_other_exceptions_of_the_callable_are_raised() -> None:
    def fail(runs: int, events: int) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        eh.Network.from_toml(MM1).run(replications=MANY, backend="cpu", progress=fail)


def test_bars_of_tqdm_get_the_replications() -> None:
    class Bar:
        n = 0

        def update(self, n: int) -> None:
            self.n += n
            if self.n > 0:
                raise KeyboardInterrupt

    bar = Bar()
    with pytest.warns(eh.EventhorizonWarning):
        results = eh.Network.from_toml(MM1).run(replications=MANY, backend="cpu", progress=bar)
    assert 0 < bar.n <= results.replications


def test_other_threads_run_meanwhile() -> None:
    counted, moved = [0], threading.Event()
    ended = [counted[0]]

    def look(runs: int, events: int) -> None:
        # Between two calls only native code runs in that thread.
        if ended[0] and counted[0] > ended[0]:
            moved.set()
            raise KeyboardInterrupt
        ended[0] = counted[0]

    def run() -> None:
        with pytest.warns(eh.EventhorizonWarning):
            eh.Network.from_toml(MM1).run(replications=MANY, backend="cpu", progress=look)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        counted[0] += 1
    thread.join()
    assert moved.is_set()


def test_runs_can_be_awaited() -> None:
    async def both() -> list[eh.NetworkResults]:
        network = eh.Network.from_toml(MM1)
        runs = [network.run_async(replications=4, seed=seed, backend="cpu") for seed in (1, 1)]
        return await asyncio.gather(*runs)

    first, second = asyncio.run(both())
    assert first.fingerprint == second.fingerprint


def test_phold_is_the_same_on_cpu_and_gpu() -> None:
    runs = [eh.phold(lps=64, population=4, until=200, backend=backend) for backend in ("cpu", "gpu")]
    assert runs[0].fingerprint == runs[1].fingerprint and runs[0].events == runs[1].events > 0
    assert runs[0].rate > 0
    with pytest.raises(eh.ModelError, match="population is 0"):
        eh.phold(population=0)


@pytest.mark.skipif(not LONG, reason="EVENTHORIZON_LONG is not set")
def test_the_doctor_finds_the_adapter_fit() -> None:
    found = eh.doctor()
    assert found.passed, str(found)
    assert "passed" not in found._repr_html_() and len(found.checks) > 5
