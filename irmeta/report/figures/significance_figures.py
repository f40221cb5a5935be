"""Figures of significant differences between systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.falling_curves import falling_curves
from irmeta.report.charts.panes import linear_ticks
from irmeta.report.charts.row_places import RowPlaces
from irmeta.report.theme import BLUE, INK, MUTED, RULE, finish, nothing

if TYPE_CHECKING:
    import altair as alt

BOTH_NAMED = 22  # largest number of systems with a name on both axes
ALL_NAMED = 40  # largest number of systems that all have a name
BEST_NAMED, NEAR_NAMED = 20, 5  # named systems of more: the best, and either side of the baseline
SHOWN = 0.15  # greatest p-value that is drawn
DIFFERENT, UNCLEAR = "significantly different", "not significantly different"


def pairwise_significance(
    frame: pl.DataFrame, systems: Sequence[str], title: str, alpha: float, correction: str = ""
) -> alt.LayerChart:
    """Draw the significantly different pairs of systems, ordered by their means.

    `frame` has the columns system_a, system_b, p (NaN: undefined), one row per unordered pair. Up
    to 22 systems have their names on both axes. Of more, each row is a system and the systems below
    it by mean, across, have their ranks; of more than 40, the best 20 have a name and a high row.
    """
    if len(systems) < 2:
        return nothing("There is one system, and none to compare it with.")
    index = {name: i for i, name in enumerate(systems)}
    different = {
        tuple(sorted((index[a], index[b])))
        for a, b, p in frame.select("system_a", "system_b", "p").iter_rows()
        if p is not None and p <= alpha
    }
    size = len(systems)
    is_square = size <= BOTH_NAMED
    chart: Any = (_named_square if is_square else _named_rows)(systems, different)
    pairs = size * (size - 1) // 2
    share = f"{len(different):,} of {pairs:,} pairs ({100 * len(different) / pairs:.1f}%)"
    subtitle = f"{share} differ ({_level(alpha, correction)}); systems by their means"
    if untested := int(frame["p"].is_nan().sum()):
        subtitle += f"; {untested:,} cannot be tested"
    if size > ALL_NAMED:
        subtitle += f", the best {BEST_NAMED} with their names"
    height = max(140, 17 * size) if is_square else chart.height
    return finish(chart, height=height, title=title, subtitle=subtitle)


def _level(alpha: float, correction: str) -> str:
    return ", ".join(part for part in (f"p <= {alpha:g}", correction) if part)


def _legend(orient: Any) -> dict[str, Any]:
    import altair as alt

    return {
        "scale": alt.Scale(domain=[DIFFERENT, UNCLEAR], range=[BLUE, RULE]),
        "legend": alt.Legend(title=None, orient=orient),
    }


def _named_square(systems: Sequence[str], different: set[tuple[int, ...]]) -> alt.LayerChart:
    """Draw a row for each system but the first, and a column for each but the last."""
    import altair as alt

    rows = (
        {"row": systems[row], "column": systems[column], "is": kind}
        for row in range(1, len(systems))
        for column, kind in enumerate(_kinds(row, range(row), different))
    )
    axis: dict[str, Any] = {"labelOverlap": False, "grid": False, "ticks": False, "domain": False}
    scale = alt.Scale(paddingInner=0, paddingOuter=0)
    chart = alt.Chart(pl.DataFrame(list(rows))).mark_rect(stroke="white", strokeWidth=1)
    cells: Any = alt.layer(
        chart.encode(
            alt.X("column:N", sort=None, title=None, scale=scale,
                  axis=alt.Axis(labelAngle=-40, **axis)),
            alt.Y("row:N", sort=None, title=None, scale=scale, axis=alt.Axis(**axis)),
            alt.Color("is:N", **_legend("top-right")),
        )
    )  # fmt: skip
    return cells


def _named_rows(systems: Sequence[str], different: set[tuple[int, ...]]) -> alt.LayerChart:
    """Draw a row for each system, with the systems below it as columns by rank."""
    import altair as alt

    size = len(systems)
    named = range(size if size <= ALL_NAMED else BEST_NAMED)
    places = RowPlaces(systems, named, numbered=True)
    rows = places.frame().with_columns(row=pl.int_range(pl.len()))
    strips = pl.DataFrame(
        list(_strips(size, different)),
        schema={"row": pl.Int64, "start": pl.Float64, "stop": pl.Float64, "is": pl.String},
        orient="row",
    )
    x = alt.X(
        "start:Q",
        title="rank of the other system",
        scale=alt.Scale(domain=[0.5, size + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=linear_ticks(1, size, whole=True), format=",d", grid=False),
    )
    marks = alt.Chart(alt.NamedData("strips")).mark_rect(stroke="white", strokeWidth=30 / size)
    chart: Any = alt.layer(
        marks.encode(
            x, alt.X2("stop:Q"), places.channel("top:Q"), alt.Y2("bottom:Q"),
            alt.Color("is:N", **_legend("bottom-left")),
        )
    )  # fmt: skip
    # inline, because altair refuses more than 5,000 rows
    chart.datasets = {"strips": strips.join(rows, on="row", maintain_order="left").to_dicts()}
    chart.height = places.height
    return chart


def _kinds(row: int, columns: Sequence[int], different: set[tuple[int, ...]]) -> Iterator[str]:
    for column in columns:
        pair = (min(row, column), max(row, column))
        yield DIFFERENT if pair in different else UNCLEAR


def _strips(size: int, different: set[tuple[int, ...]]) -> Iterator[tuple[int, float, float, str]]:
    """Merge neighbouring cells of one kind into strips, so that 143 systems make a small figure.

    A strip is a row, the ends of its ranks, and its kind.
    """
    for row in range(size - 1):
        columns = range(row + 1, size)
        cells = zip(columns, _kinds(row, columns, different), strict=True)
        for kind, run in groupby(cells, key=lambda cell: cell[1]):
            strip = [column for column, _ in run]
            yield row, strip[0] + 0.5, strip[-1] + 1.5, kind


def achieved_significance(
    frame: pl.DataFrame, levels: Sequence[float], title: str, correction: str = ""
) -> alt.LayerChart:
    """Draw the sorted p-values of all pairs of systems; curves closer to the axes have more power.

    `frame` has the columns measure, rank (from 1, by p from the greatest down), p; `levels` are
    lines.
    """
    top = SHOWN if max(levels, default=0.0) <= SHOWN / 2 else 1.0
    lowest = frame.group_by("measure").agg(pl.col("p").min())["p"]
    top = top if (lowest <= top).all() else 1.0
    text = " and ".join(f"{level:g}" for level in levels)
    pairs = frame["rank"].max() or 0
    shown = f"p-values of {pairs:,} pairs{f', {correction}' if correction else ''}"
    shown += f", up to {top:g}" * (top < 1)
    return falling_curves(
        frame.select(pl.col("measure").alias("name"), pl.col("rank").alias("x"), y="p"),
        top=top,
        title=title,
        subtitle=f"{shown}; dashed: {text}",
        x_title="pairs of systems, the greatest p-value first",
        y_title="p-value",
        levels=levels,
    )


def baseline_differences(
    frame: pl.DataFrame, baseline: str, title: str, alpha: float, correction: str = ""
) -> alt.LayerChart:
    """Draw the difference of each system from a baseline, with its interval.

    `frame` has the columns system, difference, low, high, interval (null: none), p, verdict, of
    one-sided tests alternative; best system first. Of more than 40 systems, the best 10, five
    either side of the baseline and the worst have a name and a high row.
    """
    import altair as alt

    place = frame["system"].to_list().index(baseline) if baseline in frame["system"] else 0
    is_drawn = (pl.col("verdict") != "baseline") & pl.col("difference").is_not_nan()
    above = frame.head(place).filter(is_drawn).height
    rows = frame.filter(is_drawn)
    if rows.is_empty():
        return nothing(f"No system has a difference from {baseline}.")
    ends = pl.col("low", "high").replace([float("inf"), float("-inf"), float("nan")], None)
    is_one_sided = "alternative" in frame.columns
    if is_one_sided:  # a line from the limit to the difference
        ends = ends.fill_null(pl.col("difference"))
    is_unclear = ~pl.col("verdict").is_in(["better", "worse"])
    kind = pl.when(is_unclear).then(pl.lit(UNCLEAR)).otherwise(pl.lit(DIFFERENT)).alias("is")
    places = RowPlaces(rows["system"].to_list(), _named_systems(rows.height, above))
    shown = rows.select("difference", ends, kind).hstack(places.frame())
    colour = alt.Color(
        "is:N",
        scale=alt.Scale(domain=[DIFFERENT, UNCLEAR], range=[BLUE, MUTED]),
        legend=alt.Legend(title=None, orient="top", direction="horizontal"),
    )
    size = alt.SizeValue(12, condition={"test": "datum.tall", "value": 56})
    base = alt.Chart(shown).encode(places.channel("middle:Q"), colour)
    x = alt.X(
        "difference:Q",
        title=f"mean difference from {baseline}",
        axis=alt.Axis(tickCount=5, labelSeparation=6),
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=INK).encode(alt.X("zero:Q"))
    intervals = base.mark_rule().encode(
        alt.X("low:Q"), alt.X2("high:Q"),
        strokeWidth=alt.StrokeWidthValue(0.7, condition={"test": "datum.tall", "value": 1.5}),
    )  # fmt: skip
    dots = base.mark_point(filled=True, opacity=1).encode(
        x, size,
        alt.Shape("is:N", scale=alt.Scale(domain=[DIFFERENT, UNCLEAR], range=["circle", "square"])),
    )  # fmt: skip
    different = rows.filter(~is_unclear).height
    subtitle = f"{different:,} of {rows.height:,} differ ({_level(alpha, correction)}); best first"
    if untested := int(rows["verdict"].str.starts_with("cannot").sum()):
        subtitle += f"; {untested:,} cannot be tested"
    if (interval := rows["interval"][0]) is not None:
        what = "confidence limits of one side" if is_one_sided else "confidence intervals"
        subtitle += f"; lines: {interval} {100 * (1 - alpha):g}% {what}"
    chart = alt.layer(zero, intervals, dots)
    return finish(chart, height=places.height + 8, title=title, subtitle=subtitle)


def _named_systems(size: int, above: int) -> set[int]:
    """Return the systems with a name, of which `above` precede the baseline."""
    if size <= ALL_NAMED:
        return set(range(size))
    near = range(max(0, above - NEAR_NAMED), min(size, above + NEAR_NAMED))
    return {*range(BEST_NAMED - 2 * NEAR_NAMED), *near, size - 1}
