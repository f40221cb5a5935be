"""The figures of the study."""

from __future__ import annotations

from typing import Any

import polars as pl

from irmeta.report.charts.graded import graded_table
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.papers.trust.grades import GRADES
from irmeta.studies.papers.trust.options import TrustOptions


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
        subtitle="the number that decides each grade",
    )


FIGURES = (
    Figure("trust", _cells, _draw,
           lambda rows, _: f"Reliability of measures on {rows['track'][0]}: grade, and the number "
           "that decides it.",
           "Rows are measures, columns families of criteria. The darker a cell, the less reliable; "
           "its number is the criterion with the worst grade. A dash: nothing can be said.",
           each="track"),
)  # fmt: skip
