"""Progress of runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Bar(Protocol):
    """A progress bar as tqdm's: ``update`` gets the number of further replications."""

    def update(self, n: int, /) -> object:
        """Advance by ``n`` replications."""


#: ``True`` for a bar on the terminal, a callable of replications and events done, or a bar such as tqdm's.
Progress = bool | Callable[[int, int], object] | Bar


@contextmanager
def calls(progress: Progress) -> Generator[Callable[[int, int], object] | None, None, None]:
    """The callable for a run."""
    if progress is False:
        yield None
    elif progress is True:
        if not sys.stderr.isatty() and "ipykernel" not in sys.modules:
            yield None
            return
        shown = False

        def line(runs: int, events: int) -> None:
            nonlocal shown
            shown = True
            print(f"\r{runs} replications, {events} events", end="", file=sys.stderr, flush=True)

        yield line
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    elif isinstance(progress, Bar):
        bar: Bar = progress
        done = 0

        def update(runs: int, _events: int) -> Any:
            nonlocal done
            more, done = runs - done, runs
            return bar.update(more)

        yield update
    else:
        yield progress
