"""Charts from frames, one look for all of them, and their SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import count
from statistics import median as middle
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.look import (
    BLUE,
    INK,
    MUTED,
    NARROW,
    RULE,
    VERMILLION,
    described,
    either,
    finish,
    nothing,
)

if TYPE_CHECKING:
    import altair as alt

NAMED_SYSTEMS = 30  # more than these, and a plot no longer gives each system a line
GREATEST = 2**31 - 1  # the end of a bucket that has none
RARITY_BARS = 40  # more systems than these, and the bars become ranges

# One line for under each figure, by the name of its function
READING: Mapping[str, str] = {
    "search_length_histogram": (
        "Each bar counts relevant docs by their search length. Bars at the left are docs found"
        " early; the last bar, orange, is the docs that were not retrieved at all."
    ),
    "measure_agreement": (
        "Each cell is Kendall's tau-b between the orders in which two measures put the systems:"
        " 1 is the same order, 0 no relation, below 0 more pairs of systems reversed than kept."
    ),
    "system_scores": (
        "Each dot is a system, best first. Orange is the best system, the dashed line the median."
    ),
    "rarity_histogram": (
        "Each bar counts relevant docs by the number of systems that retrieve them. Rare docs are"
        " at the left; the first bar, orange, is the docs that no system retrieves."
    ),
}


def search_length_histogram(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """How many relevant docs have which search length (Figure 5 of the ASL paper).

    Parameters
    ----------
    frame
        Columns low (int), high (int; null for the docs that were not retrieved), docs (int): a
        row a bucket, both ends inside it.
    title
        What is shown, such as the track and the system.
    """
    low, high = pl.col("low"), pl.col("high")
    bars = frame.sort(high.is_null(), low).select(
        pl.when(high.is_null())
        .then(pl.lit("not|retrieved"))
        .otherwise(_span(low, high))
        .alias("bucket"),
        "docs",
        high.is_null().alias("missed"),
    )
    total = int(bars["docs"].sum())
    missed = int(bars.filter("missed")["docs"].sum())
    return _histogram(
        bars,
        x_title="search length (non-relevant docs above, plus 1)",
        title=title,
        subtitle=f"{total:,} relevant docs; {missed:,} ({_percent(missed, total)}) not retrieved",
    )


def rarity_histogram(frame: pl.DataFrame) -> alt.LayerChart:
    """How many relevant docs are retrieved by how many systems.

    Parameters
    ----------
    frame
        Columns systems_retrieving (int, from 0) and docs (int). A number of systems that is
        missing has no doc. Above 40 systems the bars are ranges of one width, 0 by itself.
    """
    counts = frame.select(pl.col("systems_retrieving").cast(pl.Int64).alias("found"), "docs")
    most = max(counts["found"].to_list(), default=0)
    width = 1 if most <= RARITY_BARS else next(n for n in _round() if most <= 16 * n)
    low = (
        pl.when(pl.col("found") == 0).then(0).otherwise((pl.col("found") - 1) // width * width + 1)
    )
    every = pl.DataFrame({"found": range(most + 1)}, schema={"found": pl.Int64})
    bars = (
        every.join(counts, on="found", how="left", maintain_order="left")
        .group_by(low.alias("low"), maintain_order=True)
        .agg(pl.col("found").max().alias("high"), pl.col("docs").sum())
        .select(
            _span(pl.col("low"), pl.col("high")).alias("bucket"),
            "docs",
            (pl.col("high") == 0).alias("missed"),
        )
    )
    total = int(counts["docs"].sum())
    none, one = (int(counts.filter(pl.col("found") == n)["docs"].sum()) for n in (0, 1))
    return _histogram(
        bars,
        x_title="systems that retrieve the doc",
        title="How many systems retrieve a relevant doc",
        subtitle=(
            f"{total:,} relevant docs; {none:,} ({_percent(none, total)}) retrieved by no system,"
            f" {one:,} ({_percent(one, total)}) by one alone"
        ),
    )


def measure_agreement(frame: pl.DataFrame) -> alt.LayerChart:
    """How far measures agree on the order of systems, a cell a pair of measures.

    Parameters
    ----------
    frame
        Columns measure_a, measure_b, tau (Kendall's tau-b; null or NaN where an order is
        constant). A pair may come once or in both orders, and a measure beside itself or not:
        the lower triangle is drawn, measures in the order in which they first appear.
    """
    import altair as alt

    names = pl.concat([frame["measure_a"], frame["measure_b"]]).unique(maintain_order=True)
    if len(names) < 2:
        return nothing("There is one measure, so none to agree with.")
    cells = _lower_triangle(frame, names)
    order, signed = names.to_list(), bool((cells["tau"] < 0).any())
    labels = alt.Axis(labelAngle=-40, ticks=False, domain=False)
    tight = alt.Scale(padding=0)
    base = alt.Chart(cells).encode(
        alt.X("across:N", sort=order[:-1], title=None, axis=labels, scale=tight),
        alt.Y("down:N", sort=order[1:], title=None, scale=tight),
    )
    ramp = alt.Scale(
        scheme="blueorange" if signed else "blues", domain=[-1 if signed else 0, 1], reverse=signed
    )
    cell = base.mark_rect(stroke="white", strokeWidth=2)
    blank = base.mark_rect(stroke="white", strokeWidth=2, color=RULE, aria=False)
    heat = described(cell, "pair", "tau", ".4f").encode(alt.Color("tau:Q", scale=ramp, legend=None))
    numbers = base.mark_text(fontSize=12 if len(order) <= 9 else 10 if len(order) <= 14 else 8)
    numbers = numbers.encode(
        text=alt.TextValue(
            "—",
            condition={
                "test": "isValid(datum.tau)",
                "field": "tau",
                "type": "quantitative",
                "format": ".2f",
            },
        ),
        color=either("abs(datum.tau) > 0.65", "white", INK),
    )
    return finish(
        alt.layer(blank, heat, numbers),
        height=max(18, min(38, 420 // len(order))) * (len(order) - 1),
        title="How far the measures agree",
        subtitle="Kendall's tau-b between the orders of the systems",
    )


def system_scores(frame: pl.DataFrame, measure: str, direction: int = 1) -> alt.LayerChart:
    """The systems of a track by one measure, best first.

    Parameters
    ----------
    frame
        Columns system, value. Up to 30 systems are named, a line each; more of them make a curve
        over their places. A system whose value is null or NaN is counted but not drawn.
    measure
        The measure's name.
    direction
        1 where higher is better, -1 where lower is.
    """
    import altair as alt

    scores = (
        frame.select("system", pl.col("value").cast(pl.Float64))
        .filter(pl.col("value").is_finite())
        .sort(pl.col("value") * -direction, "system")
        .with_row_index("place", offset=1)
        .with_columns(best=pl.col("place") == 1)
    )
    if scores.is_empty():
        return nothing(f"No system has a value of {measure}.")
    values = scores["value"].to_list()
    low, high, median = min(values), max(values), middle(values)
    lengths = direction < 0 and low >= 1
    # over orders of magnitude a linear axis would press the good systems into one corner
    log = lengths and high > 30 * low
    digits = ",.1f" if lengths or high > 1 else ".4f"
    named = scores.height <= NAMED_SYSTEMS
    floor = min(0.0, low)
    top = high + (0.18 if named else 0.05) * (high - floor) or 1.0
    domain = [low / 1.3, high * 2] if log else [floor, top]
    axis = {
        "scale": alt.Scale(type="log" if log else "linear", domain=domain, nice=False),
        "axis": alt.Axis(values=_log_ticks(low, high)) if log else alt.Axis(tickCount=6),
        "title": f"{measure}, log scale" if log else measure,
    }
    missing = frame.height - scores.height
    return finish(
        (_dots if named else _curve)(scores, axis, digits, median),
        height=17 * scores.height + 8 if named else 290,
        title=f"{scores.height:,} system{'s' * (scores.height > 1)} by {measure}",
        subtitle=f"{'higher' if direction > 0 else 'lower'} is better; median {median:{digits}}"
        + (f"; {missing:,} without a value left out" if missing else ""),
    )


def _histogram(bars: pl.DataFrame, x_title: str, title: str, subtitle: str) -> alt.LayerChart:
    """Bars over the buckets as they come (bucket, docs, missed), their counts on top."""
    import altair as alt

    if not bars["docs"].sum():
        return nothing(f"{title}: no relevant doc to count.")
    room = NARROW / bars.height
    ranges = [name for name in bars["bucket"] if "\u2013" in name]
    # ranges that would run into one another are slanted; single numbers can be left out
    labels = alt.Axis(
        labelAngle=-45 if 5.6 * max(map(len, ranges), default=0) > room else 0,
        labelExpr="split(datum.label, '|')",
        labelFontSize=10,
        labelOverlap=not ranges,
        labelSeparation=4,
        ticks=False,
    )
    base = alt.Chart(bars).encode(
        alt.X("bucket:N", sort=None, title=x_title, axis=labels),
        alt.Y("docs:Q", title="relevant docs", axis=alt.Axis(format=",d", tickMinStep=1)),
    )
    layers = [
        described(base.mark_bar(), "bucket", "docs", ",d").encode(
            color=either("datum.missed", VERMILLION, BLUE)
        )
    ]
    if 5.5 * len(f"{max(bars['docs'].to_list()):,}") < room:
        counts = base.transform_filter("datum.docs > 0").mark_text(dy=-6)
        layers.append(counts.encode(text=alt.Text("docs:Q", format=",d")))
    return finish(alt.layer(*layers), height=230, title=title, subtitle=subtitle)


def _dots(scores: pl.DataFrame, axis: Mapping[str, Any], digits: str, median: float) -> Any:
    """A line a system, its name at the left and its value beside its dot."""
    import altair as alt

    log = axis["scale"].type == "log"
    base = alt.Chart(scores).encode(
        alt.X("value:Q", **axis),
        alt.Y("system:N", sort=None, title=None, axis=alt.Axis(grid=log)),
    )
    dots = _marked(base.mark_circle(size=80, opacity=1), digits)
    values = base.encode(text=alt.Text("value:Q", format=digits))
    # white under the numbers keeps the median's line out of them
    halo = values.mark_text(align="left", dx=8, stroke="white", strokeWidth=4)
    line = _median_line(median).encode(alt.X("value:Q", **axis))
    layers = [line, halo, dots, values.mark_text(align="left", dx=8)]
    if not log:  # a log scale has no zero for a stem to stand on
        stems = base.mark_rule(color="#c9cdd2", strokeWidth=1.5, aria=False)
        layers.insert(1, stems.encode(x2=alt.X2Datum(axis["scale"].domain[0])))
    return alt.layer(*layers)


def _curve(scores: pl.DataFrame, axis: Mapping[str, Any], digits: str, median: float) -> Any:
    """Values over places, the best system named: for more systems than there is room to name."""
    import altair as alt

    places = alt.Scale(domain=[0, scores.height + 1], nice=False)
    base = alt.Chart(alt.NamedData("systems")).encode(
        alt.X("place:Q", scale=places, title="place of the system, best first"),
        alt.Y("value:Q", **axis),
    )
    dots = _marked(base.mark_circle(size=26, opacity=0.9), digits)
    best = pl.col("system") + "  " + pl.lit(format(scores["value"][0], digits))
    falling = scores["value"][0] >= scores["value"][-1]
    name = (
        alt.Chart(scores.head(1).with_columns(label=best))
        .mark_text(
            align="left", dx=5, dy=-9 if falling else 11, color=VERMILLION, fontWeight="bold"
        )
        .encode(alt.X("place:Q"), alt.Y("value:Q", **axis), alt.Text("label:N"))
    )
    line = _median_line(median).encode(alt.Y("value:Q", **axis))
    chart = alt.layer(line, dots, name)
    # by name: altair refuses a frame of more than 5,000 rows, and copies other rows with each layer
    chart.datasets = {"systems": scores.to_dicts()}
    return chart


def _marked(dots: alt.Chart, digits: str) -> alt.Chart:
    """The best system in the second colour."""
    best = either("datum.best", VERMILLION, BLUE)
    return described(dots, "system", "value", digits).encode(color=best)


def _median_line(median: float) -> alt.Chart:
    import altair as alt

    frame = pl.DataFrame({"value": [median]})
    return alt.Chart(frame).mark_rule(strokeDash=[5, 3], color=MUTED, aria=False)


def _lower_triangle(frame: pl.DataFrame, names: pl.Series) -> pl.DataFrame:
    """Each pair of measures once, the later measure down the side (across, down, tau, pair)."""
    place = {name: n for n, name in enumerate(names)}
    a, b = (
        pl.col(c).replace_strict(place, return_dtype=pl.Int64) for c in ("measure_a", "measure_b")
    )
    return (
        frame.filter(a != b)
        .select(
            pl.when(a < b).then("measure_a").otherwise("measure_b").alias("across"),
            pl.when(a < b).then("measure_b").otherwise("measure_a").alias("down"),
            pl.col("tau").fill_nan(None),
        )
        .unique(["across", "down"], keep="first", maintain_order=True)
        .with_columns(pair=pl.format("{} and {}", "across", "down"))
    )


def _span(low: pl.Expr, high: pl.Expr) -> pl.Expr:
    """A bucket's name: both its ends, or the one number that it holds."""
    several = pl.format("{}\u2013{}", low, high)  # an en dash
    return (
        pl.when(low == high)
        .then(low.cast(pl.String))
        .when(high == GREATEST)
        .then(pl.format("{}+", low))
        .otherwise(several)
    )


def _percent(part: int, whole: int) -> str:
    share = part / whole if whole else 0
    return "<1%" if 0 < share < 0.01 else f"{share:.0%}"


def _round() -> Iterator[int]:
    """5, 10, 20, 50, 100, ..."""
    return (digit * 10**power // 10 for power in count(1) for digit in (5, 10, 20))


def _log_ticks(low: float, high: float) -> list[int]:
    """Round numbers between two search lengths, few enough to be labelled."""
    powers = range(int(math.log10(high)) + 2)
    steps = (1, 2, 5) if high < 1000 * low else (1,)
    ticks = [step * 10**power for power in powers for step in steps]
    return [tick for tick in ticks if low / 1.3 <= tick <= high * 2]
