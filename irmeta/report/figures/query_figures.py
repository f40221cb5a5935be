"""Figure of the differences of two systems by query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import legend
from irmeta.report.text_width import text_width
from irmeta.report.theme import BLUE, INK, NARROW, VERMILLION, finish, nothing

if TYPE_CHECKING:
    import altair as alt

LABEL_FONT, LABEL_ROOM = 9, 10  # pixels of a label's text, and of its line
MOST_BARS = 400  # more would be thinner than a pixel


def difference_bars(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Draw a bar for each query, the queries in the order of a frame of `query_differences`.

    Labels below are queries with their numbers of relevant docs, where they are known. Of queries
    that leave no room for all labels, every second, third, ... has one. More than 400 queries are
    an area.
    """
    import altair as alt

    bars = frame.filter(pl.col("difference").is_not_nan())
    if bars.is_empty():
        return nothing("No query has a value of both systems.")
    measure, system, baseline = bars.select("measure", "system", "baseline").row(0)
    wins, losses = (int((bars["better"] == name).sum()) for name in (system, baseline))
    sides = {system: f"{system} better: {wins:,}", baseline: f"{baseline} better: {losses:,}"}
    rows = bars.select(
        pl.int_range(pl.len()).alias("place"),
        pl.when(pl.col("relevant").is_null())
        .then("query")
        .otherwise(pl.format("{} ({})", "query", "relevant"))
        .alias("label"),
        "difference",
        pl.col("better").replace_strict(sides, return_dtype=pl.String).alias("side"),
    )
    known = rows.height - bars["relevant"].null_count()
    x_title = f"query{' (relevant docs)' if known else ''}, the most in favour of {system} first"
    x = alt.X(
        "place:Q",
        title=x_title,
        scale=alt.Scale(domain=[-0.5, rows.height - 0.5], nice=False, zero=False),
        axis=_labels(rows["label"].to_list()),
    )
    y = alt.Y("difference:Q", title=f"{measure}: {system} minus {baseline}")
    labels = list(sides.values())
    colour = alt.Color(
        "side:N",
        scale=alt.Scale(domain=labels, range=[BLUE, VERMILLION]),
        legend=legend(labels),
    )
    if rows.height > MOST_BARS:
        marks: Any = alt.Chart(alt.NamedData("bars")).mark_area(interpolate="step", color=BLUE)
        marks = marks.encode(x, y)
    else:
        said = "datum.label + ': ' + format(datum.difference, '+.4f')"
        marks = alt.Chart(alt.NamedData("bars")).mark_bar(size=0.8 * NARROW / rows.height)
        marks = marks.transform_calculate(said=said).encode(
            x, y, colour, tooltip=alt.Tooltip("said:N", title=" "), description="said:N"
        )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=INK).encode(alt.Y("zero:Q"))
    chart: Any = alt.layer(marks, zero)
    chart.datasets = {"bars": rows.to_dicts()}
    ties = rows.height - wins - losses
    queries = "1 query" if rows.height == 1 else f"{rows.height:,} queries"
    subtitle = f"{queries}, {ties:,} with equal values"
    if rows.height > MOST_BARS:
        subtitle += f"; {'; '.join(labels)}"
    return finish(chart, height=240, title=title, subtitle=subtitle)


def _labels(labels: list[str]) -> alt.Axis:
    """Return an axis with as many upright labels as fit."""
    import altair as alt

    step = -(-len(labels) * LABEL_ROOM // NARROW)
    shown = {place: labels[place] for place in range(0, len(labels), step)}
    longest = max(text_width(label, LABEL_FONT) for label in shown.values())
    is_upright = longest * len(shown) > NARROW
    return alt.Axis(
        values=list(shown),
        labelExpr=f"{json.dumps({str(place): text for place, text in shown.items()})}[datum.value]",
        labelAngle=-90 if is_upright else 0,
        labelAlign="right" if is_upright else "center",
        labelBaseline="middle" if is_upright else "top",
        labelFontSize=LABEL_FONT,
        labelOverlap=False,
        labelLimit=160,
        grid=False,
        ticks=False,
    )
