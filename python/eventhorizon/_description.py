"""Descriptions: where their text comes from, and where in a Python file an error is."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from . import _core
from ._errors import Error, EventhorizonWarning, FileError, ModelError, UsageError

Backend = Literal["auto", "cpu", "gpu"]

#: A value of a description, as in its TOML or JSON.
Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]

#: Values of parameters of an experiment: one, or several for several points.
Levels = float | Sequence[float]

Loaded = TypeVar("Loaded")


def is_path(source: str | PathLike[str]) -> bool:
    """Whether a source names a file. A text of TOML or JSON has a line end, ``=`` or ``{``."""
    return not isinstance(source, str) or not re.search(r"[\n={]", source)


def read(path: str | PathLike[str]) -> str:
    """The text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{fspath(path)}: {error}") from error


@contextmanager
def in_file(path: str | PathLike[str] | None) -> Generator[None, None, None]:
    """Put the name of the file before an error of its contents."""
    try:
        yield
    except ModelError as error:
        if path is None:
            raise
        raise ModelError(f"{fspath(path)}: {error}") from None


def changes(parameters: Mapping[str, Levels] | None) -> list[str]:
    """Values of parameters in the form that the library reads: ``NAME=VALUE,VALUE``."""

    def written(levels: Levels) -> str:
        several = [levels] if isinstance(levels, (int, float)) else list(levels)
        return ",".join(repr(float(level)) if isinstance(level, float) else str(level) for level in several)

    return [f"{name}={written(levels)}" for name, levels in (parameters or {}).items()]


def check_counts(**counts: int | None) -> None:
    """Refuse numbers that are not whole, or negative."""
    for name, count in counts.items():
        if count is not None and (isinstance(count, float) or count < 0):
            raise UsageError(f"{name} is {count}; expected a whole number from 0")


class Part(dict[str, Any]):
    """A part of a description made by a call: its keys, and the place of the call."""

    def __init__(self, keys: Mapping[str, Any], place: tuple[str, int] | None = None) -> None:
        super().__init__({key: value for key, value in keys.items() if value is not None})
        self.place = place or caller()

    def __reduce__(self) -> tuple[Callable[..., Part], tuple[dict[str, Any], tuple[str, int]]]:
        return Part, (dict(self), self.place)


def caller() -> tuple[str, int]:
    """File and line of the first frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "eventhorizon":
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Written:
    """JSON of a description, in which each line belongs to one call."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._places: list[tuple[str, int] | None] = [getattr(description, "place", None)]
        self._pieces: list[str] = []
        self._write(description)
        self.text = "".join(self._pieces)

    def _line(self, place: tuple[str, int] | None) -> None:
        self._pieces.append("\n")
        self._places.append(place)

    def _write(self, value: Any) -> None:
        if isinstance(value, Mapping):
            table: Mapping[Any, Any] = value
            place = getattr(table, "place", None)
            before = self._places[-1]
            if place is not None:
                self._line(place)
            self._pieces.append("{")
            for number, (key, item) in enumerate(table.items()):
                self._pieces.append(f"{', ' if number else ''}{json.dumps(str(key))}: ")
                self._write(item)
            self._pieces.append("}")
            if place is not None:
                self._line(before)
        elif isinstance(value, (list, tuple)):
            self._pieces.append("[")
            for number, item in enumerate(cast("list[Any]", value)):
                if number:
                    self._pieces.append(", ")
                self._write(item)
            self._pieces.append("]")
        else:
            try:
                self._pieces.append(json.dumps(value, default=_number, allow_nan=False))
            except (TypeError, ValueError) as error:
                raise ModelError(f"the description contains {value!r}: {error}") from None

    def load(self, reader: Callable[[str], Loaded]) -> Loaded:
        """Read the text. Errors name lines of Python instead of lines of the text."""
        with self.explained():
            return reader(self.text)

    @contextmanager
    def explained(self) -> Generator[None, None, None]:
        """Errors name lines of Python instead of lines of the text."""
        try:
            yield
        except Error as error:
            raise type(error)(self.explain(str(error))) from None

    def line(self, line: int) -> int:
        """The line of the call that wrote a line of the text; 0 if none did."""
        place = self._places[line - 1] if 0 < line <= len(self._places) else None
        return 0 if place is None else place[1]

    def explain(self, message: str) -> str:
        """A message with lines of Python instead of lines of the text."""

        def place(found: re.Match[str]) -> str:
            number = int(found[1]) - 1
            place = self._places[number] if number < len(self._places) else None
            if place is None:
                return "" if found[2] else "the description"
            return f"{place[0]}:{place[1]}{found[2] or ''}"

        return re.sub(r"\bline (\d+)(: )?", place, message)


def _number(value: Any) -> Any:
    """Numbers of NumPy as those of Python."""
    item = getattr(value, "item", None)
    if item is None:
        raise TypeError("expected text, numbers, lists and dictionaries")
    return item()


def toml(value: Any) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        table: Mapping[Any, Any] = value
        items = table.items()
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {toml(item)}" for key, item in items) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in cast("list[Any]", value)) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    return toml(_number(value))


def times(
    description: _core.Network | _core.Process, until: float | None, warm_up: float | None, stacklevel: int
) -> tuple[float, float]:
    """The end of each replication, and the time at which statistics begin: a tenth of the run by default.
    A warning is from the line of the caller of ``run``, this number of calls above."""
    end = description.until if until is None else until
    if end is None:
        raise UsageError("the replications have no end: set `until` in the description or in the call")
    if warm_up is not None:
        return end, warm_up
    written = description.warm_up
    if written is not None and written >= end:
        text = f"the warm-up of {written:g} is not before the end at {end:g}: statistics begin at {end / 10:g}"
        warnings.warn(text, EventhorizonWarning, stacklevel=stacklevel)
        written = None
    return end, end / 10 if written is None else written
