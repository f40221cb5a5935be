"""Bars, intervals and dots in a row each, and names by value, best first."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from statistics import median as middle
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import legend, linear_ticks
from irmeta.report.table_grid import FORMATS
from irmeta.report.theme import (
    BLUE,
    GREY,
    INK,
    MUTED,
    RULE,
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


def dumbbell(
    frame: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    aside: str,
    display: Display = PLAIN,
) -> alt.LayerChart:
    """Draw a filled dot and a ring per row, best filled value first.

    `frame` has the columns row, filled, ring (null or NaN: no mark), filled_name, ring_name (in
    tooltips) and aside (text at the right, below the heading `aside`). Rows without a filled value
    are only counted, in the subtitle.
    """
    import altair as alt

    rows = (
        frame.with_columns(pl.col("filled", "ring").cast(pl.Float64).fill_nan(None))
        .filter(pl.col("filled").is_not_null())
        .sort(pl.col("filled") * -display.direction, "row")
    )
    if rows.is_empty():
        return nothing(f"{title}: no value to draw.")
    values = [v for name in ("filled", "ring") for v in rows[name].drop_nulls()]
    digits = FORMATS[display.format]
    font = 11 if rows.height <= 30 else 10 if rows.height <= 60 else 9
    domain = alt.Scale(domain=rows["row"].to_list())
    lengths = display.format == "length"
    title_of_axis = axis_title(x_title, "log scale" if lengths else "")
    x: dict[str, Any] = {"title": title_of_axis, **value_axis(values, lengths)}
    left = alt.Axis(grid=True, labelFontSize=font, labelLimit=225, labelOverlap=False)
    base = alt.Chart(rows).encode(alt.X("filled:Q", **x), alt.Y("row:N", scale=domain, axis=None))
    gaps = base.mark_rule(color=MUTED, strokeWidth=1.5, aria=False).encode(
        alt.X2("ring:Q"), alt.Y("row:N", scale=domain, title=None, axis=left)
    )
    size = 70 if rows.height <= 30 else 36
    dots = base.mark_point(filled=True, opacity=1, color=BLUE, size=size)
    rings = base.mark_point(
        filled=True, fill="white", stroke=INK, strokeWidth=1.4, opacity=1, size=size
    ).encode(alt.X("ring:Q", **x))
    words = base.mark_point(opacity=0, aria=False).encode(
        alt.Y("row:N", scale=domain, axis=right_words(rows, "row", aside, font))
    )
    missing = frame.height - rows.height
    layers = [
        gaps,
        described(rings, "ring_name", "ring", digits),
        described(dots, "filled_name", "filled", digits),
        words,
    ]
    return finish(
        alt.layer(*layers).resolve_axis(y="independent"),
        height=(17 if font == 11 else 14 if font == 10 else 11) * rows.height + 8,
        title=title,
        subtitle=subtitle + (f"; {missing:,} without a value left out" if missing else ""),
    )


def value_axis(values: list[float], lengths: bool) -> dict[str, Any]:
    """Return scale and axis for values: logarithmic for search lengths, from 0 for others."""
    import altair as alt

    low, high = min(values), max(values)
    if not lengths:
        scale = alt.Scale(domain=[min(0.0, low), high * 1.05 or 1.0], nice=False)
        return {"scale": scale, "axis": alt.Axis(tickCount=6)}
    # Means are below 1, even 0, only by Eq. 3, for lists without a non-relevant doc.
    kind = "log" if low > 0 else "symlog"
    # At least a decade, so that there are ticks.
    domain = [low / 1.2 if low > 0 else 0, max(1.2 * high, 10 * low, 10)]
    steps = (1, 2, 5) if high < 300 * low else (1,)
    powers = range(math.floor(math.log10(low)) if low > 0 else 0, int(math.log10(domain[1])) + 1)
    ticks = [0.0] * (low <= 0) + [step * 10.0**power for power in powers for step in steps]
    ticks = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    return {
        "scale": alt.Scale(type=kind, domain=domain, nice=False),
        "axis": alt.Axis(values=ticks, format=",~f"),
    }


def intervals(
    rows: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    empty: str,
    mark: float = 0.0,
    always: bool = False,
) -> alt.LayerChart:
    """Draw a dot and a line from low to high per row, the greatest value first.

    `rows` has the columns row (name), value (null or NaN: not drawn), low, high (null or NaN: no
    line). A rule stands at `mark`; without `always`, only where an interval reaches below it.
    """
    import altair as alt

    rows = rows.with_columns(pl.col("value", "low", "high").cast(pl.Float64).fill_nan(None))
    rows = rows.filter(pl.col("value").is_not_null() & pl.col("value").is_finite())
    if rows.is_empty():
        return nothing(empty)
    rows = rows.sort("value", "row", descending=[True, False])
    order = rows["row"].to_list()
    base = alt.Chart(rows).encode(
        alt.Y("row:N", sort=order, title=None, axis=alt.Axis(grid=True, labelOverlap=False))
    )
    scale = alt.Scale(zero=False, nice=True)
    ends = base.mark_rule(color=BLUE, strokeWidth=1.5, aria=False).encode(
        alt.X("low:Q", scale=scale, title=x_title), alt.X2("high:Q")
    )
    dots = described(base.mark_circle(color=BLUE, size=46, opacity=1), "row", "value", ".4f")
    rule = alt.Chart(pl.DataFrame({"mark": [mark]})).mark_rule(
        color=MUTED if always else RULE, aria=False
    )
    layers = [ends, dots.encode(alt.X("value:Q", title=x_title))]
    if always or (rows["low"].fill_null(rows["value"]) < mark).any():
        layers.insert(0, rule.encode(alt.X("mark:Q", title=x_title)))
    height = max(60, 19 * len(order))
    return finish(alt.layer(*layers), height=height, title=title, subtitle=subtitle)


ALL_NAMED, BEST_NAMED = 40, 20  # largest number of rows that all have a name; of more, the best
FIRST, OTHER = "could be first", "could not be first"


def rank_places(rows: pl.DataFrame, title: str, subtitle: str) -> alt.LayerChart:
    """Draw the rank of each name and the set of its ranks, best first; a line divides the tiers.

    `rows` has the columns name, rank (null: not drawn), rank_low, rank_high, tier. Of more than 40
    rows, the best 20 have a name and a high row, and the others are thin.
    """
    import altair as alt

    rows = rows.drop_nulls(["rank", "rank_low"])
    if rows.is_empty():
        return nothing("No system has a rank.")
    number = rows.height
    named = range(number if number <= ALL_NAMED else BEST_NAMED)
    places = RowPlaces(rows["name"].to_list(), named, numbered=number > ALL_NAMED)
    kind = pl.when(pl.col("rank_low") == 1).then(pl.lit(FIRST)).otherwise(pl.lit(OTHER))
    shown = rows.with_columns(kind.alias("is")).hstack(places.frame())
    colour = alt.Color(
        "is:N",
        scale=alt.Scale(domain=[FIRST, OTHER], range=[BLUE, MUTED]),
        legend=alt.Legend(title=None, orient="top", direction="horizontal"),
    )
    x = alt.X(
        "rank_low:Q",
        title="rank",
        scale=alt.Scale(domain=[0.5, number + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=[1, *linear_ticks(2, number, whole=True)], format=",d"),
    )
    base = alt.Chart(alt.NamedData("ranks")).encode(places.channel("middle:Q"), colour)
    sets = base.mark_rule(aria=False).encode(
        x, alt.X2("rank_high:Q"),
        strokeWidth=alt.StrokeWidthValue(0.9, condition={"test": "datum.tall", "value": 1.6}),
    )  # fmt: skip
    dots = described(base.mark_point(filled=True, opacity=1), "name", "rank", "d").encode(
        alt.X("rank:Q"),
        alt.SizeValue(9, condition={"test": "datum.tall", "value": 50}),
        alt.Shape("is:N", scale=alt.Scale(domain=[FIRST, OTHER], range=["circle", "square"])),
    )
    is_end = pl.col("tier") != pl.col("tier").shift(-1)
    ends = alt.Chart(shown.filter(is_end).select("bottom"))
    tiers = ends.mark_rule(color=INK, strokeWidth=0.8, aria=False).encode(
        places.channel("bottom:Q")
    )
    chart = alt.layer(tiers, sets, dots)
    chart.datasets = {"ranks": shown.to_dicts()}  # altair refuses frames of more than 5,000 rows
    return finish(chart, height=places.height + 8, title=title, subtitle=subtitle)


MARKED = 5  # names of the greatest falls, and of the greatest rises, that are emphasised
ROW = 11  # pixels of a name


def slopes(
    frame: pl.DataFrame,
    sides: tuple[str, str],
    *,
    title: str,
    subtitle: str,
) -> alt.LayerChart:
    """Draw the places of names in two orders, the first place at the top.

    `frame` has the columns name, left, right (places from 1, each once on either side). The
    greatest falls are dark, the greatest rises blue.
    """
    import altair as alt

    if frame.is_empty():
        return nothing(f"{title}: nothing to draw.")
    fall = pl.col("right").cast(pl.Int64) - pl.col("left").cast(pl.Int64)
    rows = frame.with_columns(fall=fall)
    first, last = _marked(rows, falls=True), _marked(rows, falls=False)
    colour = pl.col("name").replace_strict(
        dict.fromkeys(first, INK) | dict.fromkeys(last, BLUE), default=GREY, return_dtype=pl.String
    )
    rows = rows.with_columns(
        colour=colour,
        width=pl.when(colour == GREY).then(0.8).otherwise(1.8),
        text=pl.when(colour == GREY).then(pl.lit(MUTED)).otherwise(colour),
        moved=pl.format("{}, places lost", "name"),
        x=pl.lit(0.0),
        x2=pl.lit(1.0),
    ).sort(colour != GREY, "left")
    scale = alt.Scale(domain=[-0.62, 1.62], nice=False)
    places = alt.Scale(domain=[0.4, frame.height + 0.6], nice=False, reverse=True)
    x = alt.X("x:Q", scale=scale, axis=None)
    y = alt.Y("left:Q", scale=places, axis=None)
    base = alt.Chart(rows)
    lines = described(base.mark_rule(), "moved", "fall", "d").encode(
        x,
        alt.X2("x2:Q"),
        y,
        alt.Y2("right:Q"),
        alt.Color("colour:N", scale=None),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None),
    )
    layers: list[Any] = [lines]
    look: dict[str, Any] = {"fontSize": 9, "limit": 170, "aria": False}
    texts = base.mark_text(align="right", dx=-5, **look), base.mark_text(align="left", dx=5, **look)
    for side, at, text in zip(("left", "right"), ("x", "x2"), texts, strict=True):
        layers.append(
            text.encode(
                alt.X(f"{at}:Q", scale=scale, axis=None),
                alt.Y(f"{side}:Q", scale=places, axis=None),
                alt.Text("name:N"),
                alt.Color("text:N", scale=None),
            )
        )
    heads = alt.Chart(pl.DataFrame({"x": [0.0, 1.0], "head": list(sides)}))
    layers.append(
        heads.mark_text(dy=-8, fontSize=10.5, color=MUTED, aria=False).encode(
            x, alt.Text("head:N"), y=alt.value(0)
        )
    )
    height = max(80, ROW * frame.height)
    return finish(alt.layer(*layers), height=height, title=title, subtitle=subtitle)


def _marked(rows: pl.DataFrame, *, falls: bool) -> list[str]:
    """Return the names with the greatest falls or rises, at most `MARKED`."""
    moved = rows.filter(pl.col("fall") > 0 if falls else pl.col("fall") < 0)
    return moved.sort("fall", "name", descending=[falls, False])["name"].head(MARKED).to_list()


def stacked_bars(
    frame: pl.DataFrame,
    parts: Mapping[str, str],
    *,
    title: str,
    subtitle: str,
    x_title: str,
) -> alt.LayerChart:
    """Draw a bar per row, with its parts in the order of `parts`.

    `frame` has the columns row (in the order in which they first appear), part, value (at least 0).
    """
    import altair as alt

    known = frame.filter(pl.col("value").is_finite(), pl.col("value") > 0)
    if known.is_empty():
        return nothing(f"{title}: nothing to draw.")
    labels = list(parts)
    place = {name: n for n, name in enumerate(labels)}
    rows = known.with_columns(
        place=pl.col("part").replace_strict(place, return_dtype=pl.Int64),
        name=pl.format("{}: {}", "row", "part"),
    )
    order = frame["row"].unique(maintain_order=True).to_list()
    bars = described(alt.Chart(rows).mark_bar(), "name", "value", ",d").encode(
        alt.X("value:Q", title=x_title, stack="zero", axis=alt.Axis(tickCount=6, format=",d")),
        alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelOverlap=False)),
        alt.Color(
            "part:N",
            sort=labels,
            scale=alt.Scale(domain=labels, range=list(parts.values())),
            legend=legend(labels, symbolType="square"),
        ),
        order=alt.Order("place:Q"),
    )
    height = max(60, (20 if len(order) <= 20 else 13) * len(order))
    return finish(alt.layer(bars), height=height, title=title, subtitle=subtitle)


SPOKEN = 1500  # most dots with tooltips; more would make a huge SVG
MANY = 60  # dots of a line; larger numbers are drawn thinner


def strip(
    frame: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    domain: tuple[float, float],
    digits: str,
    spread: bool = False,
    rule: tuple[float, str] | None = None,
    axis_format: str = "",
) -> alt.LayerChart:
    """Draw one dot per value, one line per row, and the mean of each line.

    `frame` has the columns row (its name, "|" for a new line), name (under the pointer) and value
    (null or NaN: counted, not drawn). With `spread` a bar of one standard deviation either side of
    the mean stands below the dots, within `domain`; otherwise the mean is a tick through them.
    """
    import altair as alt

    dots = frame.with_columns(pl.col("value").cast(pl.Float64)).filter(pl.col("value").is_finite())
    if dots.is_empty():
        return nothing(f"{title}: no value to draw.")
    lines = _lines(dots, domain, digits, spread)
    count = lines.height
    height = 40 if spread else 26 if count <= 12 else 18 if count <= 30 else 11
    axis = alt.Axis(grid=True, tickCount=6, format=axis_format or alt.Undefined)
    bars = [*lines["least"], *lines["most"]] if spread else []
    ends = _ends([*dots["value"], *bars, *([] if rule is None else [rule[0]])], domain)
    x = alt.X("value:Q", title=x_title, scale=alt.Scale(domain=ends, nice=False), axis=axis)
    aside = "mean \u00b1 sd" if spread else "mean"
    layers = _layers(dots, lines, x, ends[1] - ends[0], aside, height, digits, spread)
    if rule is not None:
        mark = alt.Chart(pl.DataFrame({"value": [rule[0]]})).encode(alt.X("value:Q"))
        line = mark.mark_rule(color=INK, strokeDash=[2, 2], aria=False)
        text = mark.mark_text(color=INK, dy=-7)
        layers = [line, *layers, text.encode(alt.YValue(0), alt.TextValue(rule[1]))]
    missing = frame.height - dots.height
    chart = alt.layer(*layers).resolve_axis(y="independent")
    subtitle += "; arrow: beyond the axis" if spread and lines["beyond"].any() else ""
    subtitle += f"; {missing:,} without a value left out" if missing else ""
    return finish(chart, height=height * count, title=title, subtitle=subtitle)


def _ends(values: Sequence[float | None], domain: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of the axis: the range of the values within what is possible."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min(known), max(known)
    margin = 0.05 * (high - low) or 0.05 * (domain[1] - domain[0])
    is_near = low - domain[0] <= 0.4 * (high - domain[0])
    return domain[0] if is_near else low - margin, min(high + margin, domain[1])


def _lines(
    dots: pl.DataFrame, domain: tuple[float, float], digits: str, spread: bool
) -> pl.DataFrame:
    lines = dots.group_by("row", maintain_order=True).agg(
        mean=pl.col("value").mean(), sd=pl.col("value").std(), n=pl.len()
    )
    texts = [
        f"{mean:z{digits}}".replace("-", "\u2212")
        + (f" \u00b1 {sd:{digits}}" if spread and sd is not None else "")
        for mean, sd in lines.select("mean", "sd").iter_rows()
    ]
    mean, sd = pl.col("mean"), pl.col("sd")
    return lines.with_columns(
        aside=pl.Series(texts, dtype=pl.String),
        mean_name=pl.format("{}: mean", "row"),
        least=(mean - sd).clip(*domain),
        most=(mean + sd).clip(*domain),
        is_below=mean - sd < domain[0],
        is_above=mean + sd > domain[1],
    ).with_columns(beyond=pl.col("is_below") | pl.col("is_above"))


def _layers(
    dots: pl.DataFrame,
    lines: pl.DataFrame,
    x: alt.X,
    reach: float,
    aside: str,
    height: int,
    digits: str,
    spread: bool,
) -> list[Any]:
    import altair as alt

    middle, half = (-0.35, 0.5) if spread else (0.0, 0.85)
    font = 11 if height > 16 else 9
    domain = alt.Scale(domain=lines["row"].to_list(), paddingInner=0.1, paddingOuter=0.05)
    offset = alt.Scale(domain=[-1, 1])
    left = alt.Axis(
        grid=False, labelExpr="split(datum.label, '|')", labelFontSize=font, labelLimit=225,
        labelOverlap=False,
    )  # fmt: skip
    y = alt.Y("row:N", scale=domain, title=None, axis=left)
    placed = _stacked(dots, reach, middle, half)
    # inline, because altair refuses a frame above 5,000 rows
    marks = alt.Chart(alt.InlineData(placed.to_dicts())).encode(
        x, y, alt.YOffset("offset:Q", scale=offset)
    )
    large = 28 if height > 30 else 18 if height > 16 else 8
    spoken = dots.height <= SPOKEN
    points = marks.mark_circle(color=BLUE, opacity=1, aria=spoken).encode(
        alt.SizeValue(large, condition={"test": "datum.thin", "value": large / 3})
    )
    no_axis = alt.Y("row:N", scale=domain, axis=None)
    means = alt.Chart(lines).encode(
        alt.X("mean:Q"), no_axis, yOffset=alt.YOffsetDatum(0.6 if spread else 0.0, scale=offset)
    )
    ticks = means.mark_tick(
        color=INK, opacity=1, thickness=2.5, size=12 if spread else height - 3,
        orient="vertical",
    )  # fmt: skip
    words = alt.Y("row:N", scale=domain, axis=right_words(lines, "row", aside, font))
    layers = [
        described(points, "name", "value", digits) if spoken else points,
        described(ticks, "mean_name", "mean", digits),
        alt.Chart(lines).mark_point(opacity=0, aria=False).encode(alt.X("mean:Q"), words),
    ]
    if spread:
        bars = means.mark_rule(color=INK, strokeWidth=1.5, aria=False)
        layers.insert(1, bars.encode(alt.X("least:Q"), alt.X2("most:Q")))
        for end, flag, shape in (
            ("least", "is_below", "triangle-left"),
            ("most", "is_above", "triangle-right"),
        ):
            arrows = means.transform_filter(f"datum.{flag}")
            arrows = arrows.mark_point(shape=shape, filled=True, color=INK, opacity=1, size=50)
            layers.append(arrows.encode(alt.X(f"{end}:Q")))
    return layers


def _stacked(dots: pl.DataFrame, reach: float, middle: float, half: float) -> pl.DataFrame:
    """Return dots with their offset within a line, so that nearly equal values do not overlap."""
    turn = pl.int_range(pl.len()).over("row", (pl.col("value") / reach * 100).round())
    side = pl.when(turn % 2 == 0).then(1).otherwise(-1)
    offset = (turn + 1) // 2 * side
    return dots.sort("row", "value", "name").with_columns(place=offset).with_columns(
        offset=middle + half * pl.col("place") / pl.col("place").abs().max().clip(4).over("row"),
        thin=pl.len().over("row") > MANY,
    )  # fmt: skip


NAMED, THIN = 13.0, 2.4  # pixels of a row
REST = 360.0  # largest number of pixels of all thin rows


class RowPlaces:
    """Edges of rows in pixels from the top, and an axis with the names of the high rows.

    `named` are the indices of the high rows; `numbered`: names have their number, and some of the
    other rows are numbered too.
    """

    def __init__(
        self, names: Sequence[str], named: Collection[int], *, numbered: bool = False
    ) -> None:
        thin_rows = len(names) - len(named)
        thin = min(THIN, REST / thin_rows) if thin_rows else THIN
        sizes = [NAMED if i in named else thin for i in range(len(names))]
        self._named = {i: f"{i + 1:,}. {names[i]}" if numbered else names[i] for i in sorted(named)}
        self._numbered = range(len(names)) if numbered else ()
        self.edges: list[float] = list(accumulate(sizes, initial=0.0))
        self.middles: list[float] = [
            (a + b) / 2 for a, b in zip(self.edges, self.edges[1:], strict=False)
        ]
        self.height: int = round(self.edges[-1])

    def frame(self) -> pl.DataFrame:
        """Return top, bottom and middle of each row, and whether it is tall."""
        return pl.DataFrame(
            {
                "top": self.edges[:-1],
                "bottom": self.edges[1:],
                "middle": self.middles,
                "tall": [i in self._named for i in range(len(self.middles))],
            }
        )

    def channel(self, field: str) -> alt.Y:
        """Return the channel of a field in pixels, with names or ranks as labels."""
        import altair as alt

        labels = dict(self._named)
        ticks = linear_ticks(1, len(self._numbered), whole=True) if self._numbered else ()
        for number in ticks:
            place = int(number) - 1
            if all(abs(self.middles[place] - self.middles[i]) >= NAMED for i in labels):
                labels[place] = f"{int(number):,}."
        texts = {f"{self.middles[i]:.3f}": text for i, text in sorted(labels.items())}
        more: dict[str, Any] = {"labelOverlap": False, "labelLimit": 225, "labelPadding": 4}
        axis = alt.Axis(
            values=[self.middles[i] for i in sorted(labels)],
            labelExpr=f"{json.dumps(texts)}[format(datum.value, '.3f')]",
            title=None, grid=False, ticks=False, labelFontSize=10, **more,
        )  # fmt: skip
        scale = alt.Scale(domain=[self.edges[-1], 0], nice=False, zero=False)
        return alt.Y(field, axis=axis, scale=scale)


MOST_LINES = 30  # largest number of names with a line each


def ranked(frame: pl.DataFrame, measure: str, display: Display = PLAIN) -> alt.LayerChart:
    """Draw systems by one measure, best first: the best is dark, and a dashed line is the median.

    `frame` has the columns name and value. Up to 30 names have one line each; more are a curve over
    their ranks. Names with a null or NaN value are not drawn, only counted.
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
    named = scores.height <= MOST_LINES
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
        (_ranked_lines if named else _ranked_curve)(scores, axis, digits, median),
        height=17 * scores.height + 8 if named else 290,
        title=f"{scores.height:,} system{'s' * (scores.height > 1)} by {measure}",
        subtitle=f"{better} is better; median {median:{digits}}"
        + (f"; {missing:,} without a value left out" if missing else ""),
    )


def _ranked_lines(scores: pl.DataFrame, axis: Mapping[str, Any], digits: str, median: float) -> Any:
    """Draw one line per name, with the values in a column at the right."""
    import altair as alt

    log = axis["scale"].type == "log"
    rows = scores.with_columns(
        aside=pl.Series([format(v, digits) for v in scores["value"]], dtype=pl.String)
    )
    domain = alt.Scale(domain=rows["name"].to_list())
    labels = alt.Axis(grid=log, labelOverlap=False)
    base = alt.Chart(rows).encode(
        alt.X("value:Q", **axis), alt.Y("name:N", scale=domain, axis=None)
    )
    dots = _best_dark(base.mark_circle(size=80, opacity=1), digits)
    dots = dots.encode(alt.Y("name:N", scale=domain, title=None, axis=labels))
    words = base.mark_point(opacity=0, aria=False).encode(
        alt.Y("name:N", scale=domain, axis=right_words(rows, "name", "mean", 11))
    )
    line = _median_line(median).encode(alt.X("value:Q", **axis))
    layers = [line, dots, words]
    if not log:  # a log scale has no zero for a stem to stand on
        stems = base.mark_rule(color="#c9cdd2", strokeWidth=1.5, aria=False)
        layers.insert(1, stems.encode(x2=alt.X2Datum(axis["scale"].domain[0])))
    return alt.layer(*layers).resolve_axis(y="independent")


def _ranked_curve(scores: pl.DataFrame, axis: Mapping[str, Any], digits: str, median: float) -> Any:
    """Draw values over ranks, with the best name beside its dot."""
    import altair as alt

    ranks = alt.Scale(domain=[0, scores.height + 1], nice=False)
    base = alt.Chart(alt.NamedData("systems")).encode(
        alt.X("rank:Q", scale=ranks, title="rank of the system, best first"),
        alt.Y("value:Q", **axis),
    )
    dots = _best_dark(base.mark_circle(size=26, opacity=0.9), digits)
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


def _best_dark(dots: alt.Chart, digits: str) -> alt.Chart:
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
