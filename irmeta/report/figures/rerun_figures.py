"""Figure of reruns beside an original experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.charts.intervals import intervals

if TYPE_CHECKING:
    import altair as alt


def rerun_intervals(
    rows: pl.DataFrame, value: str, reproduced: float, original: str
) -> alt.LayerChart:
    """Draw a value of each rerun with its 95 % interval, and a rule at its value if reproduced.

    `rows` are `Reproduction.runs` or `Reproduction.effects`, with the columns VALUE, _low and
    _high.
    """
    runs = ("rerun",) if "rerun" in rows.columns else ("baseline", "advanced")
    several = [
        name
        for name in ("measure", "qrels")
        if rows.get_column(name, default=rows[:, 0]).n_unique() > 1
    ]
    label = pl.concat_str(pl.concat_str(*runs, separator=", "), *several, separator=" ")
    title = value.replace("_", " ")
    by = "" if several else f" of {rows['measure'][0]}"
    return intervals(
        rows.select(row=label, value=value, low=f"{value}_low", high=f"{value}_high"),
        title=f"Reruns of {original}: {title}{by}",
        subtitle=f"rule: {reproduced:g}, reproduced; lines: 95 % intervals over queries",
        x_title=title,
        empty=f"No rerun has a value of {title}.",
        mark=reproduced,
        always=True,
    )
