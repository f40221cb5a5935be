"""Tables of systems by measures, with the best values in bold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from irmeta.report.table_grid import ABSENT, Cell, Grid, Head

_KEYS = ("track", "system", "query")
_TIE = 1e-12  # largest difference of equal values, as in irmeta.results.verdicts


def score_grid(
    frame: pl.DataFrame,
    directions: Mapping[str, int],
    *,
    name: str = "scores",
    caption: str = "",
    digits: int = 4,
    marks: Mapping[tuple[Any, ...], str] | None = None,
    notes: tuple[str, ...] = (),
) -> Grid:
    """Return a table with one row per system, and one column per measure.

    Parameters
    ----------
    frame
        The columns track, system and query, where present, then one column per measure.
    directions
        For each measure, 1 (greater is better) or -1. The best values of a track and, in a table
        of queries, of a query are bold, unless all are equal; a measure without a direction has
        no best value.
    name, caption, notes
        See `Grid`.
    digits
        Decimal places.
    marks
        Superscripts by key and measure: ``(track, system, "AP")``.
    """
    keys = [column for column in _KEYS if column in frame.columns]
    measures = [column for column in frame.columns if column not in keys]
    head = [Head(key, key, is_text=True, is_key=True) for key in keys]
    head += [Head(measure, measure, is_text=False) for measure in measures]
    best = frame.select(_is_best(m, directions.get(m, 0), keys).alias(m) for m in measures)
    rows = [
        (
            *(Cell(str(row[key])) for key in keys),
            *(
                Cell(
                    _number(row[m], digits),
                    is_best=is_best[m],
                    marks=(marks or {}).get((*(row[key] for key in keys), m), ""),
                )
                for m in measures
            ),
        )
        for row, is_best in zip(
            frame.iter_rows(named=True), best.iter_rows(named=True), strict=True
        )
    ]
    return Grid(name, caption, tuple(head), tuple(rows), notes)


def _is_best(measure: str, direction: int, keys: list[str]) -> pl.Expr:
    """Return whether a value is the best of its track and query, and another is worse."""
    if direction == 0:
        return pl.lit(False)
    value = pl.col(measure).fill_nan(None) * direction
    inside = [key for key in keys if key != "system"] or [pl.lit(1)]
    best, worst = value.max().over(inside), value.min().over(inside)
    return ((best - value <= _TIE) & (best - worst > _TIE)).fill_null(False)


def _number(value: float | None, digits: int) -> str:
    return (
        ABSENT if value is None or value != value else f"{value:.{digits}f}".replace("-", "\u2212")
    )
