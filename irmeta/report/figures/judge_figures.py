"""Figures of the agreement of judges with a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.charts.heat import heat_map
from irmeta.report.theme import BLUE, RULE, described, finish, nothing

if TYPE_CHECKING:
    import altair as alt


def judge_intervals(judges: pl.DataFrame, coefficient: str) -> alt.LayerChart:
    """Draw a coefficient of each judge with its 95 % interval, the greatest first.

    Parameters
    ----------
    judges
        One track of `JudgeAgreement.judges`.
    coefficient
        Name of a column with columns `_low` and `_high`.
    """
    import altair as alt

    columns = {"value": coefficient, "low": f"{coefficient}_low", "high": f"{coefficient}_high"}
    rows = judges.select("judge", **columns).filter(pl.col("value").is_not_nan())
    title = coefficient.replace("_", " ")
    if rows.is_empty():
        return nothing(f"No judge has a value of {title}: their scales differ.")
    rows = rows.sort("value", "judge", descending=[True, False])
    rows = rows.with_columns(pl.col("low", "high").fill_nan(None))
    order = rows["judge"].to_list()
    base = alt.Chart(rows).encode(
        alt.Y("judge:N", sort=order, title=None, axis=alt.Axis(grid=True, labelOverlap=False))
    )
    scale = alt.Scale(zero=False, nice=True)
    ends = base.mark_rule(color=BLUE, strokeWidth=1.5, aria=False).encode(
        alt.X("low:Q", scale=scale, title=title), alt.X2("high:Q")
    )
    dots = described(base.mark_circle(color=BLUE, size=46, opacity=1), "judge", "value", ".4f")
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=RULE, aria=False)
    layers = [ends, dots.encode(alt.X("value:Q", title=title))]
    if (rows["low"].fill_null(rows["value"]) < 0).any():
        layers.insert(0, zero.encode(alt.X("zero:Q", title=title)))
    docs = judges["docs"].max()
    return finish(
        alt.layer(*layers),
        height=max(60, 19 * len(order)),
        title=f"Agreement with {judges['reference'][0]}: {title}",
        subtitle=f"up to {docs:,} docs; lines: 95 % intervals over queries",
    )


def confusion_map(confusion: pl.DataFrame) -> alt.LayerChart:
    """Draw the docs by grade of the reference, down, and of one judge, across.

    The colour is the share of the docs of the reference's grade.

    Parameters
    ----------
    confusion
        One track and judge of `JudgeAgreement.confusion`.
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
