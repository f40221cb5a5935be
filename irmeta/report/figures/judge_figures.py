"""Figures of the agreement of judges with a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.charts.heat import heat_map
from irmeta.report.charts.intervals import intervals

if TYPE_CHECKING:
    import altair as alt


def judge_intervals(judges: pl.DataFrame, coefficient: str) -> alt.LayerChart:
    """Draw a coefficient of each judge with its 95 % interval, the greatest first.

    `judges` is one track of `JudgeAgreement.judges`, with the columns COEFFICIENT, _low and _high.
    """
    ends = {"low": f"{coefficient}_low", "high": f"{coefficient}_high"}
    title = coefficient.replace("_", " ")
    docs = judges["docs"].max()
    return intervals(
        judges.select(row="judge", value=coefficient, **ends),
        title=f"Agreement with {judges['reference'][0]}: {title}",
        subtitle=f"up to {docs:,} docs; lines: 95 % intervals over queries",
        x_title=title,
        empty=f"No judge has a value of {title}: their scales differ.",
    )


def confusion_map(confusion: pl.DataFrame) -> alt.LayerChart:
    """Draw the docs by grade of the reference, down, and of one judge, across.

    `confusion` is one track and judge of `JudgeAgreement.confusion`. The colour is the share of the
    docs of the reference's grade.
    """
    columns = ("reference_grade", "judge_grade")
    grades = [confusion[name].unique().sort() for name in columns]
    every = grades[0].to_frame().join(grades[1].to_frame(), how="cross")
    cells = every.join(confusion, on=columns, how="left").with_columns(pl.col("docs").fill_null(0))
    down, across = (pl.col(name).map_elements(_grade, pl.String) for name in columns)
    cells = cells.select(
        down.alias("down"),
        across.alias("across"),
        value=pl.col("docs") / pl.col("docs").sum().over("reference_grade"),
        text=pl.col("docs").map_elements(lambda docs: f"{docs:,}", pl.String),
    )
    name = pl.format("reference {}, judge {}", "down", "across")
    return heat_map(
        cells.with_columns(name=name),
        title=f"Grades of {confusion['judge'][0]}, across, and of the reference",
        subtitle="docs; colour: share of the docs of a reference's grade",
    )


def _grade(grade: float) -> str:
    return f"{grade:g}"
