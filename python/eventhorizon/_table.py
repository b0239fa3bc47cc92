"""Tables: named columns of equal length, for pandas, polars, DuckDB and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core

if TYPE_CHECKING:
    import pandas as pd

#: Rows that are shown in a notebook.
_SHOWN = 60


@dataclass(frozen=True)
class Categories:
    """A column of texts that repeat: a number for each row, and the text of each number."""

    codes: NDArray[np.int32]
    """Numbers of texts, shape (rows,)."""
    names: list[str]
    """The texts."""

    def __len__(self) -> int:
        return len(self.codes)


Column = NDArray[Any] | Categories | list[str]


class Table:
    """Named columns of equal length.

    ``table["mean"]`` is a NumPy array; columns of texts are lists. pandas, polars, pyarrow and DuckDB
    read it without a copy of its numbers, by Arrow's C data interface:
    ``polars.DataFrame(table)``, ``pyarrow.table(table)``, ``duckdb.sql("from table")``.
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, type]) -> Table:
        """Columns of ``str``, ``int`` or ``float`` from rows; missing numbers are NaN."""
        return cls(columns(rows, kinds))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return min(map(len, self._columns.values()), default=0)

    def __getitem__(self, name: str) -> NDArray[Any] | list[str]:
        column = self._columns[name]
        if isinstance(column, Categories):
            return [column.names[code] for code in column.codes]
        return column

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, as dictionaries."""
        columns = [self[name] for name in self._columns]
        values = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
        for row in zip(*values, strict=True):
            yield dict(zip(self._columns, row, strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A pandas ``DataFrame``. Texts that repeat are categories."""
        import pandas as pd

        def column(column: Column) -> Any:
            if isinstance(column, Categories):
                return pd.Categorical.from_codes(column.codes, categories=pd.Index(column.names))
            return column

        frame: pd.DataFrame = pd.DataFrame({name: column(values) for name, values in self._columns.items()})
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The capsule of Arrow's C stream interface. The requested schema is ignored, as it may be."""
        columns: list[tuple[str, Any]] = []
        for name, column in self._columns.items():
            if isinstance(column, Categories):
                columns.append((name, (np.ascontiguousarray(column.codes), column.names)))
            elif isinstance(column, np.ndarray):
                kind = np.float64 if column.dtype.kind == "f" else np.int64
                columns.append((name, np.ascontiguousarray(column, dtype=kind)))
            else:
                columns.append((name, column))
        return _core.arrow_stream(columns)

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows of {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        rows = [row for row, _ in zip(self.rows(), range(_SHOWN), strict=False)]
        shown = [[_text(value) for value in row.values()] for row in rows]
        more = len(self) - len(shown)
        return html(list(self._columns), shown, f"{more} more rows" if more > 0 else "")


def columns(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, type]) -> dict[str, Column]:
    """Columns of ``str``, ``int`` or ``float`` from rows; missing numbers are NaN."""

    def column(name: str, kind: type) -> Column:
        values = [row[name] for row in rows]
        if kind is str:
            return values
        if kind is int:
            return np.array(values, dtype=np.int64)
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    return {name: column(name, kind) for name, kind in kinds.items()}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def html(head: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """A table for notebooks."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{below}"
