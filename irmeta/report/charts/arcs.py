"""Arcs between the ranks of paired docs in two lists."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from irmeta.report.charts.panes import (
    Datasets,
    arrange,
    axis_room,
    heading,
    legend,
    log_ticks,
    pane_width,
)
from irmeta.report.theme import (
    BLUE,
    GREY,
    INK,
    MUTED,
    PRINT_WIDTH,
    RULE,
    VERMILLION,
    axis_title,
    nothing,
    whole_ticks,
)

if TYPE_CHECKING:
    import altair as alt

ROOM, HEIGHT = 110, 96  # pixels for the names of the lists, and between the lists
LINEAR = 30  # deepest rank that is drawn on a linear axis
CURVED = 300  # largest number of arcs that are curved; others are straight
STEPS = 13  # points of a curved arc
BAND = 0.14  # share of the axis for docs that a list does not have
STYLES: tuple[tuple[str, list[float]], ...] = (
    (BLUE, [1, 0]),
    (VERMILLION, [5, 2]),
    (GREY, [1.5, 2]),
)
"""Colour and dashes of arcs where the first list is better, the second, or neither."""


def arcs(
    frame: pl.DataFrame,
    lists: tuple[str, str],
    *,
    title: str,
    subtitle: str,
    kinds: tuple[str, str, str],
) -> alt.ConcatChart | alt.LayerChart:
    """Draw two lists, one above the other, and an arc between the ranks of each pair of docs.

    Parameters
    ----------
    frame
        Columns pane (heading of a pane; panes in order of appearance), above and below (rank in
        the first and the second list; null: not retrieved, drawn at the end in the order of the
        rows), sign (1: the first is better, -1: the second, 0: neither), weight (width of the arc),
        said (tooltip).
    lists
        Names of the two lists.
    kinds
        What the signs 1, -1 and 0 mean, for the legend.
    """
    if frame.is_empty():
        return nothing(f"{title}: nothing to draw.")
    axis = _RankAxis.of(frame)
    sign = pl.col("sign")
    kind = pl.when(sign > 0).then(pl.lit(kinds[0])).when(sign < 0).then(pl.lit(kinds[1]))
    frame = frame.with_row_index("arc").with_columns(kind=kind.otherwise(pl.lit(kinds[2])))
    data, panes = Datasets(), frame["pane"].unique(maintain_order=True).to_list()
    drawn = [one for one in kinds if frame["kind"].eq(one).any()]
    heaviest = frame["weight"].max()
    charts = [
        _pane(data, frame.filter(pane=pane), axis, lists, kinds, drawn, heaviest, pane == panes[-1])
        for pane in panes
    ]
    for chart, pane in zip(charts, panes, strict=True):
        chart.title = heading(pane, [], ROOM)
    return arrange(charts, 1, data, title=title, subtitle=subtitle)


class _RankAxis:
    """Places of ranks from 0 to 1, with a band at the end for docs that are not retrieved.

    Parameters
    ----------
    deepest
        Deepest rank.
    slots
        Number of places in the band.
    """

    def __init__(self, deepest: int, slots: int) -> None:
        self.deepest, self.slots = deepest, slots
        self.is_log = deepest > LINEAR
        self.end = 1.0 - BAND if slots else 1.0

    @classmethod
    def of(cls, frame: pl.DataFrame) -> _RankAxis:
        """Return an axis for all ranks of a frame."""
        ranks = frame["above"].append(frame["below"]).drop_nulls().to_list()
        slots = [len(rows) - _first_missing(rows) for _, rows in frame.group_by("pane")]
        return cls(max(ranks, default=1), max(slots))

    def places(self, ranks: Sequence[int]) -> np.ndarray:
        """Return the place of each rank."""
        first, last, known = 0.5, self.deepest + 0.5, np.asarray(ranks, np.float64)
        if self.is_log:
            first, last, known = math.log(0.9), math.log(self.deepest * 1.1), np.log(known)
        return (known - first) / (last - first) * self.end

    def ends(self, rows: pl.DataFrame) -> list[np.ndarray]:
        """Return the places of both ends of the arcs of a pane.

        A doc that a list does not have stands in the band at its recall level, as at the end of the
        corpus.
        """
        level = np.arange(1, rows.height + 1) - _first_missing(rows)
        band = self.end + (1.0 - self.end) * level / (self.slots + 1)
        both = (rows["above"], rows["below"])
        return [
            np.where(ranks.is_null(), band, self.places(ranks.fill_null(1).to_list()))
            for ranks in both
        ]

    def ticks(self) -> list[int]:
        """Return the ranks with a label."""
        if self.is_log:
            room = pane_width(1, ROOM, PRINT_WIDTH) * self.end
            return log_ticks(1, self.deepest, 0.9 * room)
        return sorted({1, *(tick for tick in whole_ticks(self.deepest) if tick)})


def _pane(
    data: Datasets,
    rows: pl.DataFrame,
    axis: _RankAxis,
    lists: tuple[str, str],
    kinds: Sequence[str],
    drawn: Sequence[str],
    heaviest: Any,
    is_last: bool,
) -> alt.LayerChart:
    import altair as alt

    ends, ticks = axis.ends(rows), axis.ticks()
    places = axis.places(ticks).tolist()
    labels = json.dumps(dict(zip([f"{place:.6f}" for place in places], ticks, strict=True)))
    scale = alt.Scale(domain=[0, 1], nice=False)
    x_axis = alt.Axis(
        values=places, labelExpr=f"{labels}[format(datum.value, '.6f')]", grid=True, tickSize=4,
        title=axis_title("rank", "log scale" if axis.is_log else ""),
    ) if is_last else alt.Axis(
        values=places, labels=False, title=None, grid=True, ticks=False, domain=False,
    )  # fmt: skip
    x = alt.X("x:Q", scale=scale, axis=x_axis)
    names = alt.Axis(
        values=[0, 1], labelExpr=f"{json.dumps(list(lists[::-1]))}[datum.value]", title=None,
        grid=False, labelLimit=ROOM - 12, **axis_room(ROOM - 4),
    )  # fmt: skip
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.06, 1.06], nice=False), axis=names)
    colours, dashes = zip(*(STYLES[kinds.index(kind)] for kind in drawn), strict=True)
    colour = alt.Color(
        "kind:N",
        sort=list(drawn),
        scale=alt.Scale(domain=list(drawn), range=list(colours)),
        legend=legend(drawn, symbolType="stroke", symbolStrokeWidth=2),
    )
    dash = alt.StrokeDash(
        "kind:N", scale=alt.Scale(domain=list(drawn), range=list(dashes)), sort=list(drawn)
    )
    width = alt.StrokeWidth(
        "weight:Q", scale=alt.Scale(domain=[0, heaviest], range=[0.3, 1.8]), legend=None
    )
    base = alt.Chart(pl.DataFrame({"y": [0.0, 1.0], "x": [0.0, 0.0], "to": [1.0, 1.0]}))
    lines = base.mark_rule(color=RULE, strokeWidth=2, clip=True, aria=False).encode(
        x, y, alt.X2("to:Q")
    )
    paths = data.chart(_paths(rows, *ends)).mark_line(clip=True, aria=False)
    dots = data.chart(_dots(rows, *ends)).mark_circle(color=INK, opacity=1, size=24)
    layers: list[Any] = [
        lines,
        paths.encode(x, y, colour, dash, width, alt.Detail("arc:N"), order=alt.Order("y:Q")),
        dots.encode(
            x,
            y,
            tooltip=alt.Tooltip("said:N", title=" "),
            description=alt.Description("said:N"),
        ),
    ]
    if axis.slots:
        label = alt.Chart(pl.DataFrame({"x": [1.0], "label": ["not retrieved"]}))
        label = label.mark_text(align="right", baseline="bottom", fontSize=10, color=MUTED)
        layers.append(label.encode(x, alt.Text("label:N"), alt.YValue(-3)))
    chart: Any = alt.layer(*layers)
    chart.width, chart.height = pane_width(1, ROOM), HEIGHT
    return chart


def _first_missing(rows: pl.DataFrame) -> int:
    """Return the index of the first arc with an end that is not retrieved; or their number."""
    missing = rows.select(pl.col("above").is_null() | pl.col("below").is_null()).to_series()
    return int(missing.arg_max() or 0) if missing.any() else rows.height


def _paths(rows: pl.DataFrame, above: np.ndarray, below: np.ndarray) -> pl.DataFrame:
    """Return the points of each arc, from the second list up to the first."""
    steps = np.linspace(0.0, 1.0, STEPS if rows.height <= CURVED else 2)
    share = steps * steps * (3.0 - 2.0 * steps)  # vertical at both lists
    x = below[:, None] + (above - below)[:, None] * share
    repeated = rows.select("arc", "kind", "weight")[np.repeat(np.arange(rows.height), len(steps))]
    return repeated.with_columns(x=x.ravel(), y=np.tile(steps, rows.height))


def _dots(rows: pl.DataFrame, above: np.ndarray, below: np.ndarray) -> pl.DataFrame:
    """Return a dot for each end of an arc that is retrieved."""
    ends = (("above", above, 1.0), ("below", below, 0.0))
    return pl.concat(
        rows.select("said", name, x=pl.Series(x), y=pl.lit(y)).drop_nulls(name).drop(name)
        for name, x, y in ends
    )
