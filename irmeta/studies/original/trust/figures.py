"""The figures of the study."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from irmeta.report.charts.heat import graded_table, heat_map
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.original.trust.grades import CRITERIA, GRADES, UNKNOWN
from irmeta.studies.original.trust.study import TABLES, TrustOptions

CELLS = ("track", "grade", "column", "group", "row", "text", "name")
"""Columns of the cells of a heat table: measures in `row` are printed as in papers."""


def _cells(tables: Tables, options: TrustOptions) -> pl.DataFrame:
    return tables["grades"].select(
        "track",
        "grade",
        column="family",
        group=pl.lit("families"),
        row="measure",
        text="number",
        name=pl.format("{}, {}: {}, {}", "measure", "family", "grade", "why"),
    )


def _draw(rows: pl.DataFrame, options: TrustOptions, is_wide: bool = False) -> Any:
    return graded_table(
        rows,
        GRADES,
        title=f"Reliability on {rows['track'][0]}",
        subtitle="numbers, shaded by their grades",
        is_wide=is_wide,
    )


def _criteria(tables: Tables, options: TrustOptions) -> pl.DataFrame:
    columns = next(table.columns for table in TABLES if table.name == "trust")
    rows = list[dict[str, str]]()
    for row in tables["trust"].iter_rows(named=True):
        for criterion in CRITERIA:
            value, label = row[criterion.column], columns[criterion.column].label
            grade = criterion.grade(value)
            text = "\u2014" if grade == UNKNOWN else criterion.short.format(value)
            rows.append(
                {
                    "track": row["track"],
                    "grade": grade,
                    "column": label,
                    "group": criterion.family.replace("_", " "),
                    "row": row["measure"],
                    "text": text,
                    "name": f"{row['measure']}, {label}: {grade}, {text}",
                }
            )
    return pl.DataFrame(rows, dict.fromkeys(CELLS, pl.String))


def _safe(tables: Tables, options: TrustOptions) -> pl.DataFrame:
    """Return the shares of tracks on which each measure is safe, where there are several."""
    rows = tables["safe_measures"]
    if tables["trust"]["track"].n_unique() < 2:
        rows = rows.clear()
    safe = (pl.col("safe").fill_nan(0) * pl.col("tracks")).round().cast(pl.Int64)
    words = pl.format("{} of {}", safe, "tracks")
    return rows.select(
        across=pl.col("family"),
        down="measure",
        value="safe",
        text=pl.when(pl.col("tracks") > 0).then(words),
        name=pl.format("{}, {}", "measure", "family"),
    )


def _draw_safe(rows: pl.DataFrame, options: TrustOptions) -> Any:
    return heat_map(
        rows,
        title="Tracks on which each measure is safe",
        subtitle="of the tracks where the family has a grade; a dash: none",
    )


_EVERY = "Every criterion on {track}: its value and grade."
_READING = (
    "Rows are measures, columns criteria, by their families: queries, depth, judgments, ties and "
    "ends. The darker a cell, the less reliable. A dash: cannot be said."
)


FIGURES = (
    Figure("criteria_wide", _criteria, partial(_draw, is_wide=True), _EVERY, _READING, by="track"),
    Figure("criteria", _criteria, _draw, _EVERY, _READING, by="track"),
    Figure("families", _cells, _draw,
           "Reliability of measures on {track}: grade, and the number that decides it.",
           "Rows are measures, columns families of criteria. The darker a cell, the less reliable; "
           "its number is that of the criterion with the worst grade. A dash: nothing can be said.",
           by="track"),
    Figure("safe", _safe, _draw_safe,
           "Number of tracks on which each measure is safe by all criteria of a family.",
           "The darker a cell, the more tracks."),
)  # fmt: skip
