"""PHOLD, and the test of the adapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from . import _core
from ._progress import Progress, calls
from ._table import html


@dataclass(frozen=True)
class PholdRun:
    """A run of PHOLD."""

    events: int
    """Executed events."""
    seconds: float
    """Wall-clock time of the run in seconds, without its preparation."""
    fingerprint: str
    """64 bits to compare runs of two machines, as hexadecimal text."""
    engine: str
    """``"cpu"`` or ``"gpu"``."""
    adapter: str
    """The device."""
    interrupted: bool
    """Whether Ctrl-C ended the run."""

    @property
    def rate(self) -> float:
        """Events per second."""
        return self.events / self.seconds


def phold(
    *,
    lps: int = 32_768,
    population: int = 16,
    rate: float = 0.1,
    lookahead: float = 10.0,
    until: float = 1000.0,
    seed: int = 42,
    backend: Literal["auto", "cpu", "gpu"] = "auto",
    progress: Progress = False,
) -> PholdRun:
    """Run PHOLD, the usual benchmark of parallel discrete-event simulation.

    :param lps: logical processes.
    :param population: events per logical process.
    :param rate: the rate of the exponential delay, per unit of time.
    :param lookahead: the least delay of an event, in units of time.
    :param until: the end of the simulation: exactly the earlier events are executed.
    """
    with calls(progress) as call:
        events, seconds, fingerprint, engine, adapter, interrupted = _core.phold(
            lps=lps,
            population=population,
            rate=rate,
            lookahead=lookahead,
            until=until,
            seed=seed,
            backend=backend,
            progress=call,
        )
    return PholdRun(events, seconds, f"{fingerprint:016x}", engine, adapter, interrupted)


@dataclass(frozen=True)
class Check:
    """A check of the adapter."""

    name: str
    """The part that was checked."""
    passed: bool
    """Whether it gives the known answers."""
    note: str
    """A note, or the error."""
    seconds: float
    """How long it took."""


@dataclass(frozen=True)
class Diagnosis:
    """The result of :func:`doctor`."""

    adapter: str
    """The adapter and its driver."""
    checks: list[Check]
    """In order of execution."""

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        lines = [
            f"{check.name:<32} {'ok' if check.passed else 'FAILED':<7} {check.seconds:7.2f} s  {check.note}"
            for check in self.checks
        ]
        return "\n".join([self.adapter, *lines])

    def _repr_html_(self) -> str:
        rows = [[check.name, "ok" if check.passed else "FAILED", check.note] for check in self.checks]
        return html(["check", "", "note"], rows, self.adapter)


def doctor() -> Diagnosis:
    """Check that the default adapter does what the library requires. It takes some seconds.

    :raises DeviceError: if there is no adapter.
    """
    adapter, checks = _core.doctor()
    return Diagnosis(adapter, [Check(*check) for check in checks])
