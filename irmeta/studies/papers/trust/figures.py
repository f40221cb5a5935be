"""The figures of the study."""

from __future__ import annotations

from typing import Any

import polars as pl

from irmeta.report.charts.graded import graded_table
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.papers.trust.grades import CRITERIA, GRADES, UNKNOWN
from irmeta.studies.papers.trust.options import TrustOptions
from irmeta.studies.papers.trust.tables import TABLES

CELLS = ("track", "grade", "across", "down", "text", "name")
"""Columns of the cells of a heat table."""


def _cells(tables: Tables, options: TrustOptions) -> pl.DataFrame:
    return tables["grades"].select(
        "track",
        "grade",
        across="family",
        down="measure",
        text="number",
        name=pl.format("{}, {}: {}, {}", "measure", "family", "grade", "why"),
    )


def _draw(rows: pl.DataFrame, options: TrustOptions) -> Any:
    return graded_table(
        rows,
        GRADES,
        title=f"Reliability on {rows['track'][0]}",
        subtitle="numbers, shaded by their grades",
    )


def _criteria(tables: Tables, options: TrustOptions) -> pl.DataFrame:
    columns = next(table.columns for table in TABLES if table.name == "trust")
    rows = list[dict[str, str]]()
    for row in tables["trust"].iter_rows(named=True):
        for one in CRITERIA:
            value, label = row[one.column], columns[one.column].label
            grade = one.grade(value, options)
            text = "\u2014" if grade == UNKNOWN else one.short.format(value)
            rows.append(
                {
                    "track": row["track"],
                    "grade": grade,
                    "across": label,
                    "down": row["measure"],
                    "text": text,
                    "name": f"{row['measure']}, {label}: {grade}, {text}",
                }
            )
    return pl.DataFrame(rows, dict.fromkeys(CELLS, pl.String))


FIGURES = (
    Figure("trust", _cells, _draw,
           lambda rows, _: f"Reliability of measures on {rows['track'][0]}: grade, and the number "
           "that decides it.",
           "Rows are measures, columns families of criteria. The darker a cell, the less reliable; "
           "its number is the criterion with the worst grade. A dash: nothing can be said.",
           each="track"),
    Figure("criteria", _criteria, _draw,
           lambda rows, _: f"Every criterion on {rows['track'][0]}: its value and grade.",
           "Rows are measures, columns criteria, in the order of the families: queries, depth, "
           "judgments, ties and ends.",
           each="track"),
)  # fmt: skip
