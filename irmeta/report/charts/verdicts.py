"""Verdicts on claims: a matrix of claims and tracks, numbers against a fact, and bounds swept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import legend, linear_ticks, log_ticks
from irmeta.report.theme import (
    BLUE,
    GREY,
    INK,
    MUTED,
    RULE,
    TEXT_WIDTH,
    VERMILLION,
    WIDTH,
    finish,
    nothing,
    right_words,
)

if TYPE_CHECKING:
    import altair as alt

YES = ("#d3e6f4", "#85bbdd", BLUE)
NO = ("#f9dccb", "#ec9f6b", "#b84c00")
"""Near the bound, farther, and far from it; both ramps have equal steps of lightness."""
UNDECIDED_COLOUR, OPEN_COLOUR = "#f3ecc4", "#eef0f1"
NARROW_COLUMNS = 16  # more tracks need the width of both columns of a paper
LOG_RATIO = 50  # of the largest to the smallest value of a positive fact, for a log axis
LABEL, FONT = 190, 10


def verdict_matrix(
    cells: pl.DataFrame,
    rows: pl.DataFrame,
    columns: pl.DataFrame,
    levels: dict[str, str],
    *,
    title: str,
    subtitle: str,
) -> alt.LayerChart:
    """Draw verdicts as shaded cells, with counts at the right of each row and below each column.

    Parameters
    ----------
    cells
        row, column, level, sign (text in the cell), name (under the pointer).
    rows
        row (unique), label, aside (the count), is_heading (whether it is a heading without cells).
    columns
        column, below (the count).
    levels
        Colour of each level, in the order of the legend.
    """
    import altair as alt

    if cells.is_empty():
        return nothing(f"{title}: no verdict on a track.")
    across, down = columns["column"].to_list(), rows["row"].to_list()
    width = WIDTH if len(across) <= NARROW_COLUMNS else TEXT_WIDTH
    height = (15 if len(down) <= 40 else 12) * len(down)
    font = FONT if len(down) <= 40 else 9
    x_scale, y_scale = (alt.Scale(domain=of, padding=0) for of in (across, down))
    base = alt.Chart(alt.NamedData("cells"))  # a frame may have at most 5,000 rows
    x: dict[str, Any] = {"scale": x_scale, "title": None}
    blank = rows.with_columns(label=pl.when("is_heading").then(pl.lit("")).otherwise("label"))
    tracks = alt.Axis(
        orient="top", labelAngle=-90, labelLimit=150, labelFontSize=9, labelOverlap=False,
        ticks=False, domain=False,
    )  # fmt: skip
    labels = alt.Axis(
        labelExpr=_mapped(blank, "row", "label"), labelLimit=LABEL, labelFontSize=font,
        labelOverlap=False, grid=False,
    )  # fmt: skip
    present = [level for level in levels if (cells["level"] == level).any()]
    shades = alt.Scale(domain=present, range=[levels[level] for level in present])
    key = legend(present, symbolStrokeColor=MUTED, offset=4)
    rects = base.mark_rect(stroke="white", strokeWidth=1).encode(
        alt.X("column:N", axis=tracks, **x),
        alt.Y("row:N", scale=y_scale, title=None, axis=labels),
        alt.Color("level:N", scale=shades, legend=key),
        tooltip=alt.Tooltip("name:N", title=" "),
        description=alt.Description("name:N"),
    )
    dark = [level for level in present if levels[level] in (YES[2], NO[2])]
    ink = alt.ColorValue(INK, condition={"test": f"indexof({json.dumps(dark)}, datum.level) >= 0",
                                         "value": "white"})  # fmt: skip
    place: dict[str, Any] = {
        "x": alt.X("column:N", axis=None, **x),
        "y": alt.Y("row:N", scale=y_scale, axis=None),
    }
    signs = base.transform_filter("datum.sign != ''").mark_text(fontSize=9, aria=False)
    headings = rows.filter("is_heading")
    texts = alt.Chart(headings).mark_text(
        align="left", fontWeight="bold", fontSize=font + 0.5, dx=2, aria=False
    )
    asides = alt.Chart(rows).mark_point(opacity=0, aria=False)
    belows = alt.Chart(columns).mark_point(opacity=0, aria=False)
    counts = alt.Axis(
        orient="bottom", labelExpr=_mapped(columns, "column", "below"), labelAngle=-90,
        labelFontSize=9, labelColor=MUTED, labelOverlap=False, ticks=False, domain=False,
    )  # fmt: skip
    words = right_words(rows, "row", "", font)
    layers = [
        rects,
        signs.encode(text="sign:N", color=ink, **place),
        texts.encode(x=alt.value(0), y=place["y"], text="label:N"),
        asides.encode(alt.Y("row:N", scale=y_scale, axis=words)),
        belows.encode(alt.X("column:N", axis=counts, **x)),
    ]
    chart: Any = alt.layer(*layers).resolve_axis(x="independent", y="independent")
    chart.datasets = {"cells": cells.to_dicts()}
    return finish(chart, height=height, title=title, subtitle=subtitle, width=width)


def fact_scatter(
    points: pl.DataFrame, bounds: Sequence[float], *, title: str, subtitle: str, x_title: str,
    y_title: str,
) -> alt.LayerChart:  # fmt: skip
    """Draw the number of each track against a fact, with the bounds of the claim.

    `points` has the columns x, y, low, high (of an interval, or null), verdict and name; points
    without a coordinate are counted in the subtitle. Tracks on which the claim does not hold are
    named.
    """
    import altair as alt

    known = points.with_columns(pl.col("x", "y", "low", "high").cast(pl.Float64).fill_nan(None))
    drawn = known.filter(pl.col("x").is_finite(), pl.col("y").is_finite())
    if drawn.is_empty():
        return nothing(f"{title}: no track has both numbers.")
    missing = points.height - drawn.height
    subtitle += f"; {missing} without a number or without the fact" if missing else ""
    low, high = (float(getattr(drawn["x"], end)()) for end in ("min", "max"))
    is_log = low >= 1 and high > LOG_RATIO * low
    room = (high - low) / 20 or 0.5
    domain = [low / 1.3, high * 1.3] if is_log else [low - room, high + room]
    ticks = log_ticks(low, high) if is_log else linear_ticks(low, high, bool(high - low >= 5))
    form = "d" if x_title == "year" else ",.6~g"
    x = alt.X(
        "x:Q", title=f"{x_title}, log scale" if is_log else x_title,
        scale=alt.Scale(type="log" if is_log else "linear", domain=domain, nice=False, zero=False),
        axis=alt.Axis(values=ticks, format=form),
    )  # fmt: skip
    y = alt.Y("y:Q", title=y_title, scale=alt.Scale(zero=False), axis=alt.Axis(format=",.6~g"))
    colours = {"holds": BLUE, "undecided": GREY, "does not hold": VERMILLION}
    kinds = [kind for kind in colours if (drawn["verdict"] == kind).any()]
    shades = alt.Scale(domain=kinds, range=[colours[kind] for kind in kinds])
    colour = alt.Color("verdict:N", sort=kinds, legend=legend(kinds), scale=shades)
    base = alt.Chart(drawn)
    dots = base.mark_point(filled=True, opacity=1, size=40).encode(
        x, y, colour, tooltip=alt.Tooltip("name:N", title=" "), description="name:N",
        shape=alt.Shape("verdict:N", legend=None, scale=alt.Scale(
            domain=[*colours], range=["circle", "square", "cross"])),
    )  # fmt: skip
    layers: list[Any] = [
        alt.Chart(pl.DataFrame({"y": [float(bound)]}))
        .mark_rule(color=INK, strokeDash=[4, 2], aria=False).encode(y)
        for bound in bounds
    ]  # fmt: skip
    lines = base.transform_filter("isValid(datum.low)").mark_rule(color=MUTED, aria=False)
    layers += [lines.encode(x, alt.Y("low:Q"), alt.Y2("high:Q")), dots]
    least, most = pl.min_horizontal("y", "low").min(), pl.max_horizontal("y", "high").max()
    middle = sum(drawn.select(least=least, most=most).row(0)) / 2
    sides: Sequence[tuple[str, Any]] = (("<=", "left"), (">", "right"))
    for side, align in sides:  # upright, towards the middle
        named = base.transform_filter(
            f"datum.verdict == 'does not hold' && datum.y {side} {middle!r}"
        )
        text = named.mark_text(
            align=align, angle=270, dy=8, fontSize=9, color=MUTED, aria=False
        )  # fmt: skip
        layers.append(text.encode(x, y, text="track:N"))
    return finish(alt.layer(*layers), height=240, title=title, subtitle=subtitle)


def bound_sweep(
    steps: pl.DataFrame,
    stated: float,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    is_after: bool,
) -> alt.LayerChart:
    """Draw the share of tracks on which a claim holds by its bound; `stated` is its own bound.

    `steps` has the columns bound, share and name (under the pointer); `is_after`: the share between
    two bounds is that of the lower bound.
    """
    import altair as alt

    if steps.is_empty():
        return nothing(f"{title}: no track has a number.")
    x = alt.X("bound:Q", title=x_title, scale=alt.Scale(zero=False), axis=alt.Axis(format=",.6~g"))
    y = alt.Y(
        "share:Q", title="share of the tracks", scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=5),
    )  # fmt: skip
    base = alt.Chart(steps)
    line = base.mark_line(
        color=BLUE, interpolate="step-after" if is_after else "step-before", aria=False
    ).encode(x, y)
    dots = base.mark_point(filled=True, color=BLUE, size=18, opacity=1).encode(
        x, y, tooltip=alt.Tooltip("name:N", title=" "), description="name:N"
    )
    rule = alt.Chart(pl.DataFrame({"bound": [stated]}))
    rule = rule.mark_rule(color=INK, strokeDash=[4, 2], aria=False).encode(x)
    grid = alt.Chart(pl.DataFrame({"share": [0.5]})).mark_rule(color=RULE, aria=False).encode(y)
    return finish(alt.layer(grid, rule, line, dots), height=180, title=title, subtitle=subtitle)


def _mapped(frame: pl.DataFrame, key: str, text: str) -> str:
    """Return an expression of the text of each label of an axis."""
    return f"{json.dumps(dict(frame.select(key, text).iter_rows()))}[datum.label]"
