"""Results without the run that made them: what is pickled."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._errors import UsageError

#: The most differences of points that are kept, over all measures: a second's work.
_MOST_DIFFERENCES = 20_000


class NetworkRun(Protocol):
    """What results of a network read: a run, or a kept one."""

    @property
    def seed(self) -> int: ...
    @property
    def interrupted(self) -> bool: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    def svg(self) -> str: ...
    def values(self, row: int) -> NDArray[np.float64]: ...


class KeptNetworkRun:
    """A run of a network as it was pickled."""

    def __init__(self, run: NetworkRun, rows: int) -> None:
        self.seed, self.interrupted = run.seed, run.interrupted
        self._json, self._text, self._svg = run.json(), run.text(), run.svg()
        self._values = [run.values(row) for row in range(rows)]

    def json(self) -> str:
        return self._json

    def text(self) -> str:
        return self._text

    def svg(self) -> str:
        return self._svg

    def values(self, row: int) -> NDArray[np.float64]:
        return self._values[row]


#: What a run of a process model or of a model in WGSL has as properties.
_PROPERTIES = (
    "model unit engine adapter mapping ticks_per_unit seed until warm_up events seconds fingerprint warnings interrupted"
).split()


class KeptRuns:
    """A run of a process model or of a model in WGSL as it was pickled."""

    def __init__(self, run: Any, level: float) -> None:
        self._state: dict[str, Any] = {name: getattr(run, name) for name in _PROPERTIES}
        self._answers: dict[tuple[Any, ...], Any] = {}

        def keep(method: str, *arguments: Any) -> Any:
            found, question = getattr(run, method)(*arguments), (method, *arguments)
            self._answers[question] = found
            return found

        for method in ("factors", "levels", "stopped", "selected"):
            keep(method)
        names, points = keep("names"), range(len(keep("replications")))
        for method in ("json", "text"):
            keep(method, level)
        for point in points:
            keep("failures", point)
            for name in names:
                self._answers["values", point, name] = np.array(run.values(point, name))
        if len(points) ** 2 * len(names) <= _MOST_DIFFERENCES:
            for left in points:
                for right in points:
                    if run.replications()[left] == run.replications()[right]:
                        for name in names:
                            keep("compare", left, right, name, level)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._state:
            return self._state[name]

        def answer(*arguments: Any) -> Any:
            question = (name, *arguments)
            try:
                return self._answers[question]
            except KeyError:
                raise UsageError(
                    f"pickled results have no {name} of {', '.join(map(repr, arguments))}: compute it before"
                ) from None

        return answer
