"""Pictures and outlines for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any

from ._table import Column, Table, columns

__all__ = ["Drawn", "Picture", "escape", "outline"]


class Picture:
    """A picture as SVG, which notebooks show."""

    def __init__(self, svg: str) -> None:
        self.svg = svg
        """Its text."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


class Drawn(Table):
    """A table with a picture, which notebooks show instead of its rows."""

    def __init__(self, columns: Mapping[str, Column], svg: str) -> None:
        super().__init__(columns)
        self.picture = Picture(svg)
        """The picture."""

    @classmethod
    def drawn(cls, rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, type], svg: str) -> Drawn:
        """Columns from rows, with a picture."""
        return cls(columns(rows, kinds), svg)

    def _repr_html_(self) -> str:
        return self.picture.svg



def outline(description: Mapping[str, Any]) -> str:
    """A process model as nested lists: its things, and for each entity when it enters and what it does."""
    things = ("parameters", "resource", "container", "store", "signal", "variable", "tally")
    lines = [
        f"<li>{escape(kind.rstrip('s'))} <b>{escape(name)}</b> {escape(_short(value))}</li>"
        for kind in things
        for name, value in description.get(kind, {}).items()
    ]
    for name, entity in description.get("entity", {}).items():
        plain = {key: value for key, value in entity.items() if not _is_block(value)}
        blocks = [(key, value) for key, value in entity.items() if _is_block(value)]
        shown = "".join(f"{'' if key == 'do' else escape(key)}{_block(value)}" for key, value in blocks)
        lines.append(f"<li>entity <b>{escape(name)}</b> {escape(_short(plain))}{shown}</li>")
    return f"<b>{escape(str(description.get('name', '')))}</b><ul>{''.join(lines)}</ul>"


def _is_block(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _short(value: Any) -> str:
    """A value of a description on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _block(statements: Sequence[Mapping[str, Any]]) -> str:
    """Statements as a list; blocks inside are lists in it."""

    def line(statement: Mapping[str, Any]) -> str:
        plain: dict[str, Any] = {}
        below = ""
        for key, value in statement.items():
            patience = key == "patience" and isinstance(value, dict)
            inner: Any = value.get("else") if patience else value
            if _is_block(inner):
                below += f"<i>{escape('gives up' if patience else key)}</i>{_block(inner)}"
                value = {name: item for name, item in value.items() if name != "else"} if patience else None
            if value is not None:
                plain[key] = value
        return f"<li>{escape(_short(plain))}{below}</li>"

    return f"<ol>{''.join(map(line, statements))}</ol>"
