"""Chart of names by value, best first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median as middle
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.table_grid import FORMATS
from irmeta.report.theme import (
    BLUE,
    INK,
    MUTED,
    axis_title,
    described,
    either,
    finish,
    nothing,
    right_words,
)
from irmeta.schema.columns import PLAIN, Display

if TYPE_CHECKING:
    import altair as alt

NAMED = 30  # largest number of names with a line each


def ranked(frame: pl.DataFrame, measure: str, display: Display = PLAIN) -> alt.LayerChart:
    """Draw systems by one measure, best first.

    The best system is dark; a dashed line is the median.

    Parameters
    ----------
    frame
        Columns name and value. Up to 30 names have one line each; more are a curve over their
        ranks. Names with a null or NaN value are not drawn, only counted.
    measure
        The measure's name.
    display
        How the measure's values are shown.
    """
    import altair as alt

    scores = (
        frame.select("name", pl.col("value").cast(pl.Float64))
        .filter(pl.col("value").is_finite())
        .sort(pl.col("value") * -display.direction, "name")
        .with_row_index("rank", offset=1)
        .with_columns(best=pl.col("rank") == 1)
    )
    if scores.is_empty():
        return nothing(f"No system has a value of {measure}.")
    values = scores["value"].to_list()
    low, high, median = min(values), max(values), middle(values)
    # Over orders of magnitude a linear axis would squeeze the best systems into a corner.
    log = display.format == "length" and low > 0 and high > 30 * low
    digits = FORMATS[display.format]
    named = scores.height <= NAMED
    floor = min(0.0, low)
    top = high + 0.05 * (high - floor) or 1.0
    domain = [low / 1.3, high * 1.3] if log else [floor, top]
    axis = {
        "scale": alt.Scale(type="log" if log else "linear", domain=domain, nice=False),
        "axis": alt.Axis(values=_log_ticks(low, high)) if log else alt.Axis(tickCount=6),
        "title": axis_title(measure, display.unit, "log scale" if log else ""),
    }
    missing, better = frame.height - scores.height, "higher" if display.direction > 0 else "lower"
    return finish(
        (_lines if named else _curve)(scores, axis, digits, median),
        height=17 * scores.height + 8 if named else 290,
        title=f"{scores.height:,} system{'s' * (scores.height > 1)} by {measure}",
        subtitle=f"{better} is better; median {median:{digits}}"
        + (f"; {missing:,} without a value left out" if missing else ""),
    )


def _lines(scores: pl.DataFrame, axis: Mapping[str, Any], digits: str, median: float) -> Any:
    """Draw one line per name, with the values in a column at the right."""
    import altair as alt

    log = axis["scale"].type == "log"
    rows = scores.with_columns(
        aside=pl.Series([format(v, digits) for v in scores["value"]], dtype=pl.String)
    )
    domain = alt.Scale(domain=rows["name"].to_list())
    names = alt.Axis(grid=log, labelOverlap=False)
    base = alt.Chart(rows).encode(
        alt.X("value:Q", **axis), alt.Y("name:N", scale=domain, axis=None)
    )
    dots = _marked(base.mark_circle(size=80, opacity=1), digits)
    dots = dots.encode(alt.Y("name:N", scale=domain, title=None, axis=names))
    words = base.mark_point(opacity=0, aria=False).encode(
        alt.Y("name:N", scale=domain, axis=right_words(rows, "name", "mean", 11))
    )
    line = _median_line(median).encode(alt.X("value:Q", **axis))
    layers = [line, dots, words]
    if not log:  # a log scale has no zero for a stem to stand on
        stems = base.mark_rule(color="#c9cdd2", strokeWidth=1.5, aria=False)
        layers.insert(1, stems.encode(x2=alt.X2Datum(axis["scale"].domain[0])))
    return alt.layer(*layers).resolve_axis(y="independent")


def _curve(scores: pl.DataFrame, axis: Mapping[str, Any], digits: str, median: float) -> Any:
    """Draw values over ranks, with the best name beside its dot."""
    import altair as alt

    ranks = alt.Scale(domain=[0, scores.height + 1], nice=False)
    base = alt.Chart(alt.NamedData("systems")).encode(
        alt.X("rank:Q", scale=ranks, title="rank of the system, best first"),
        alt.Y("value:Q", **axis),
    )
    dots = _marked(base.mark_circle(size=26, opacity=0.9), digits)
    best = pl.col("name") + "  " + pl.lit(format(scores["value"][0], digits))
    falling = scores["value"][0] >= scores["value"][-1]
    name = (
        alt.Chart(scores.head(1).with_columns(label=best))
        .mark_text(align="left", dx=5, dy=-9 if falling else 11, fontWeight="bold")
        .encode(alt.X("rank:Q"), alt.Y("value:Q", **axis), alt.Text("label:N"))
    )
    line = _median_line(median).encode(alt.Y("value:Q", **axis))
    chart = alt.layer(line, dots, name)
    # A named dataset: altair refuses frames above 5,000 rows, and copies others with each layer.
    chart.datasets = {"systems": scores.to_dicts()}
    return chart


def _marked(dots: alt.Chart, digits: str) -> alt.Chart:
    """Draw the best name dark."""
    best = either("datum.best", INK, BLUE)
    return described(dots, "name", "value", digits).encode(color=best)


def _median_line(median: float) -> alt.Chart:
    import altair as alt

    frame = pl.DataFrame({"value": [median]})
    return alt.Chart(frame).mark_rule(strokeDash=[5, 3], color=MUTED, aria=False)


def _log_ticks(low: float, high: float) -> list[int]:
    """Return a few round numbers between two search lengths, as ticks."""
    powers = range(int(math.log10(high)) + 2)
    steps = (1, 2, 5) if high < 1000 * low else (1,)
    ticks = [step * 10**power for power in powers for step in steps]
    return [tick for tick in ticks if low / 1.3 <= tick <= high * 2]
