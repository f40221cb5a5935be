"""Frames as cells of text, for the page and for a paper."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

Kind = Literal["score", "length", "count", "text", "printed"]

ABSENT = "—"

BEST_LABELS: Mapping[str, str] = {
    "system": "best system",
    "value": "its value",
    "second": "runner-up",
    "second_value": "its value",
    "median": "median system",
    "worst": "worst system",
}

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "—": "---",
    "\u2013": "--",
    "∞": r"$\infty$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}
LONGEST_FLOAT = 45  # rows that one page of a paper holds
_LATEX_SPECIAL = re.compile("[" + re.escape("".join(_LATEX)) + "]")


@dataclass(frozen=True)
class Table:
    """A frame as text: one heading and one alignment a column, rows of equal length."""

    head: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


def format_value(value: object, kind: Kind) -> str:
    """
    One value as text.

    Parameters
    ----------
    value
        A number or anything `str` takes; None and NaN print as a dash.
    kind
        ``score`` prints 4 decimals, ``length`` 1 decimal and thousands separators, ``count``
        thousands separators, ``text`` the value as it is, and so ``printed``, a number already.
    """
    if value is None:
        return ABSENT
    if kind in ("text", "printed") or not isinstance(value, (int, float)):
        return str(value)
    if math.isnan(value):
        return ABSENT
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:{ {'score': '.4f', 'length': ',.1f', 'count': ',.0f'}[kind] }}"


def fact_kind(value: object) -> Kind:
    """How a lone value prints: whole numbers are counts, fractions within [-1, 1] scores."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "text"
    if isinstance(value, int):
        return "count"
    return "score" if abs(value) <= 1 else "length"


def column_kind(column: pl.Series) -> Kind:
    """How a column prints if the caller does not say."""
    if column.dtype.is_integer():
        return "count"
    if column.dtype.is_float() or column.dtype.is_decimal():
        # one value outside [-1, 1] makes a search length of the whole column
        numbers = column.cast(pl.Float64)
        beyond = numbers.filter(numbers.is_finite()).abs() > 1
        return "length" if beyond.any() else "score"
    return "text"


def measure_kind(direction: int, values: Iterable[float | None]) -> Kind:
    """
    How the values of one measure print.

    A measure whose best value is low and that never goes under 1 is a search length, even where
    every system has the perfect 1.0; otherwise the size of the values decides.
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if not sizes:
        return "score"
    if direction < 0 and min(sizes) >= 1:
        return "length"
    return "length" if max(sizes) > 1 else "score"


def table(
    frame: pl.DataFrame,
    *,
    kinds: Mapping[str, Kind] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Table:
    """
    A frame as text, its rows in the order they come.

    Parameters
    ----------
    frame
        Any frame; its columns are shown as they are.
    kinds
        How a column prints, by column name; `column_kind` decides for the others.
    labels
        Headings, by column name; the others are the name with spaces for underscores.
    """
    kinds, labels = kinds or {}, labels or {}
    shown: list[Kind] = [kinds.get(c.name) or column_kind(c) for c in frame.iter_columns()]
    return Table(
        head=tuple(labels.get(name, name.replace("_", " ")) for name in frame.columns),
        numeric=tuple(kind != "text" for kind in shown),
        rows=tuple(_row(values, shown) for values in frame.iter_rows()),
    )


def best_table(frame: pl.DataFrame) -> Table:
    """
    The best systems of a track, a row a measure, each row printed as its own measure asks.

    Parameters
    ----------
    frame
        Columns measure, direction (1: higher is better; -1: lower is), system, value, second,
        second_value, median, worst, and optionally note. Null where there is nothing to say.
    """
    numbers = ("value", "second_value", "median", "worst")
    columns = ["measure", "system", "value", "second", "second_value", "median", "worst"]
    # a column of empty notes would only take width
    if "note" in frame.columns and frame["note"].drop_nulls().len():
        columns.append("note")
    rows = []
    for row in frame.iter_rows(named=True):
        kind = measure_kind(row["direction"], (row[name] for name in numbers))
        row["measure"] = f"{row['measure']} {'↑' if row['direction'] > 0 else '↓'}"
        row["note"] = row.get("note") or ""
        kinds: list[Kind] = [kind if name in numbers else "text" for name in columns]
        rows.append(_row([row[name] for name in columns], kinds))
    return Table(
        head=tuple(BEST_LABELS.get(name, name) for name in columns),
        numeric=tuple(name in numbers for name in columns),
        rows=tuple(rows),
    )


def to_latex(
    frame: pl.DataFrame,
    caption: str,
    label: str,
    *,
    kinds: Mapping[str, Kind] | None = None,
    labels: Mapping[str, str] | None = None,
    tight: bool = False,
) -> str:
    """
    A frame as a LaTeX table that needs the package booktabs; a long one longtable too.

    Parameters
    ----------
    frame, kinds, labels
        As in `table`.
    caption
        Plain text; it is escaped, as every cell is.
    label
        What ``\\ref`` takes; written as it is.
    tight
        Small type and narrow gaps; and over pages where it has more than 45 rows.

    Returns
    -------
    str
        The table environment, ending in a newline.
    """
    text = table(frame, kinds=kinds, labels=labels)
    columns = "".join("r" if number else "l" for number in text.numeric)
    said = rf"\caption{{{escape_latex(caption)}}}\label{{{label}}}"
    head, rows = _latex_row(text.head), [*map(_latex_row, text.rows)]
    small = [r"\footnotesize", r"\setlength{\tabcolsep}{3.5pt}"] if tight else []
    if tight and len(rows) > LONGEST_FLOAT:
        begin, end = rf"\begin{{longtable}}{{{columns}}}", r"\end{longtable}"
        heading = [r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
        lines = ["{", *small, begin, said + r" \\", *heading, *rows, end, "}"]
    else:
        begin = [r"\begin{table}[tb]", r"\centering", *small, said]
        body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows]
        lines = [*begin, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it stands, on one line."""
    return _LATEX_SPECIAL.sub(lambda found: _LATEX[found[0]], " ".join(text.split()))


def _row(values: Iterable[object], kinds: Sequence[Kind]) -> tuple[str, ...]:
    return tuple(format_value(value, kind) for value, kind in zip(values, kinds, strict=True))


def _latex_row(cells: Iterable[str]) -> str:
    row = " & ".join(map(escape_latex, cells)) + r" \\"
    # what begins with these would be an argument of the line's end before it
    return "{}" + row if row.startswith(("[", "*")) else row
