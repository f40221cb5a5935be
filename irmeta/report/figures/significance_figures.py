"""Figures of significant differences between systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.curves import curves
from irmeta.report.look import BLUE, INK, MUTED, RULE, WIDTH, finish, nothing

if TYPE_CHECKING:
    import altair as alt

LABELLED = 45  # largest number of systems with a name on the axes
DIFFERENT, UNCLEAR = "significantly different", "not significantly different"


def pairwise_significance(
    frame: pl.DataFrame, systems: Sequence[str], title: str, alpha: float
) -> alt.LayerChart:
    """Draw the significantly different pairs of systems, ordered by their means.

    Parameters
    ----------
    frame
        Columns system_a, system_b, p: one row per unordered pair; p is NaN if undefined.
    systems
        Names of the systems, best first.
    alpha
        Significance level.
    """
    import altair as alt

    if len(systems) < 2:
        return nothing("There is one system, and none to compare it with.")
    index = {name: i for i, name in enumerate(systems)}
    different = {
        tuple(sorted((index[a], index[b])))
        for a, b, p in frame.select("system_a", "system_b", "p").iter_rows()
        if p is not None and p <= alpha
    }
    size = len(systems)
    cells = pl.DataFrame(
        list(_strips(size, different)),
        schema={"row": pl.Float64, "start": pl.Float64, "stop": pl.Float64, "is": pl.String},
        orient="row",
    )
    length = min(WIDTH - 100, max(140, 17 * size))
    colour = alt.Scale(domain=[DIFFERENT, UNCLEAR], range=[BLUE, RULE])
    strips = (
        alt.Chart(alt.NamedData("strips"))
        .mark_rect(stroke="white", strokeWidth=min(1.0, 30 / size))
        .encode(
            alt.X("start:Q", axis=_axis(systems[:-1], -40), scale=_scale(0, size - 1)),
            alt.X2("stop:Q"),
            alt.Y("row:Q", axis=_axis(systems, 0, 1), scale=_scale(size, 1)),
            alt.Y2("below:Q"),
            alt.Color("is:N", scale=colour, legend=alt.Legend(title=None, orient="top-right")),
        )
        .transform_calculate(below="datum.row + 1")
    )
    pairs = size * (size - 1) // 2
    share = f"{len(different):,} of {pairs:,} pairs ({100 * len(different) / pairs:.1f}%)"
    subtitle = f"{share} differ (p <= {alpha:g}); systems by their means"
    chart = alt.layer(strips)
    chart.datasets = {
        "strips": cells.to_dicts()
    }  # inline, because altair refuses more than 5,000 rows
    return finish(chart, height=length, title=title, subtitle=subtitle)


def _strips(size: int, different: set[tuple[int, ...]]) -> Any:
    """Merge neighbouring cells of one kind into strips, so that 129 systems make a small figure."""
    for row in range(1, size):
        columns = range(row)
        for differs, run in groupby(columns, key=lambda column: (column, row) in different):
            strip = list(run)
            yield float(row), float(strip[0]), strip[-1] + 1.0, DIFFERENT if differs else UNCLEAR


def _scale(start: float, stop: float) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=[start, stop], nice=False, zero=False)


def _axis(systems: Sequence[str], angle: int, first: int = 0) -> alt.Axis:
    import altair as alt

    if len(systems) > LABELLED:
        return alt.Axis(title="systems by rank", grid=False, tickCount=8, format="d")
    middles = [i + 0.5 for i in range(first, len(systems))]
    names = f"{json.dumps(list(systems))}[floor(datum.value)]"
    return alt.Axis(
        title=None,
        values=middles,
        labelExpr=names,
        labelAngle=angle,
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )


def achieved_significance(
    frame: pl.DataFrame, levels: Sequence[float], title: str
) -> alt.LayerChart:
    """Draw the sorted p-values of all pairs of systems; curves closer to the axes have more power.

    Parameters
    ----------
    frame
        Columns measure, rank (from 1, by p from the greatest down), p.
    levels
        Significance levels, drawn as lines.
    """
    text = " and ".join(f"{level:g}" for level in levels)
    return curves(
        frame.select(pl.col("measure").alias("name"), pl.col("rank").alias("x"), y="p"),
        title=title,
        subtitle=f"p-values of all pairs of systems in order; dashed: {text}",
        x_title="pairs of systems, by p-value",
        y_title="p-value",
        domain=(0.0, 1.0),
        steps=True,
        rules=levels,
    )


def baseline_differences(
    frame: pl.DataFrame, baseline: str, title: str, alpha: float
) -> alt.LayerChart:
    """Draw the difference of each system from a baseline, with its interval.

    Parameters
    ----------
    frame
        Columns system, difference, low, high (NaN: no interval), p, verdict; best system first.
    baseline
        Name of the baseline, whose row is left out.
    alpha
        Significance level.
    """
    import altair as alt

    rows = frame.filter(pl.col("verdict") != "baseline", pl.col("difference").is_not_nan())
    if rows.is_empty():
        return nothing(f"No system has a difference from {baseline}.")
    ends = pl.col("low", "high").replace([float("inf"), float("-inf"), float("nan")], None)
    is_unclear = pl.col("verdict") == "not different"
    kind = pl.when(is_unclear).then(pl.lit(UNCLEAR)).otherwise(pl.lit(DIFFERENT)).alias("is")
    rows = rows.with_columns(ends, kind)
    y = alt.Y("system:N", sort=None, title=None, axis=alt.Axis(labelLimit=225, labelOverlap=False))
    colour = alt.Color(
        "is:N",
        scale=alt.Scale(domain=[DIFFERENT, UNCLEAR], range=[BLUE, MUTED]),
        legend=alt.Legend(title=None, orient="top", direction="horizontal"),
    )
    base = alt.Chart(rows.select("system", "difference", "low", "high", "is")).encode(y, colour)
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=INK).encode(alt.X("zero:Q"))
    intervals = base.mark_rule(strokeWidth=1.5).encode(alt.X("low:Q"), alt.X2("high:Q"))
    dots = base.mark_point(filled=True, opacity=1, size=60).encode(
        alt.X("difference:Q", title=f"mean difference from {baseline}"),
        alt.Shape("is:N", scale=alt.Scale(domain=[DIFFERENT, UNCLEAR], range=["circle", "square"])),
    )
    different = rows.filter(pl.col("is") == DIFFERENT).height
    subtitle = f"{different:,} of {rows.height:,} differ significantly (p <= {alpha:g}); best first"
    if rows["low"].count():
        subtitle += "; lines: 95% confidence intervals"
    chart = alt.layer(zero, intervals, dots)
    return finish(chart, height=17 * rows.height + 8, title=title, subtitle=subtitle)
