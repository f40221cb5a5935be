"""Figures of how far the best systems of all tracks are from perfect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from irmeta.report.look import (
    BLUE,
    INK,
    MUTED,
    NARROW,
    VERMILLION,
    described,
    finish,
    nothing,
    right_words,
    whole_ticks,
)

if TYPE_CHECKING:
    import altair as alt

# One line for under each figure, by the name of its function
READING: Mapping[str, str] = {
    "best_distribution": (
        "Each bar counts tracks by the value of their best system; a bucket holds its lower end"
        " and not its upper one."
    ),
    "track_headroom": (
        "Each line is a track: the filled dot is its best system, the ring its median system, and"
        " the line how far they are apart."
    ),
    "depth_sensitivity": (
        "Each line is a track: the filled dot is its best system over whole lists, the ring the"
        " best over lists that are cut; tau-b compares the two orders of its systems."
    ),
}

Classes: TypeAlias = Sequence[tuple[float, str]]
"""Where classes of values begin, and what each is called."""


def best_distribution(frame: pl.DataFrame, measure: str, classes: Classes = ()) -> alt.LayerChart:
    """How many tracks have their best value in which bucket (Figures 1-4 of the ASL paper).

    Parameters
    ----------
    frame
        Columns low (null: below the first edge), high (null: no end), tracks (int): a row a
        bucket [low, high). Rows of table ``distributions`` of one figure.
    measure
        The measure's name.
    classes
        Drawn in where each begins at an edge of a bucket.
    """
    import altair as alt

    total = int(frame["tracks"].sum())
    if not total:
        return nothing(f"No track has a value of {measure}.")
    bars = _named_buckets(frame)
    top = max(bars["tracks"].to_list())
    placed = _placed(bars, classes, total)
    slanted = 5.6 * max(map(len, bars["bucket"])) > NARROW / bars.height
    labels = alt.Axis(
        labelAngle=-45 if slanted else 0, labelFontSize=10, labelOverlap=False, ticks=False
    )
    order = alt.Scale(domain=bars["bucket"].to_list())
    base = alt.Chart(bars).encode(
        alt.X("bucket:N", scale=order, title=_title(measure), axis=labels),
        alt.Y(
            "tracks:Q",
            title="tracks",
            # room above the bars for the words of the classes
            scale=alt.Scale(domain=[0, top * (1.12 if placed.is_empty() else 1.35)], nice=False),
            axis=alt.Axis(format=",d", values=whole_ticks(top)),
        ),
    )
    counts = base.transform_filter("datum.tracks > 0").mark_text(dy=-6)
    layers = [
        described(base.mark_bar(), "bucket", "tracks", ",d"),
        counts.encode(text=alt.Text("tracks:Q", format=",d")),
    ]
    if not placed.is_empty():
        start = alt.X("bucket:N", bandPosition=0)
        words_at = alt.Chart(placed).encode(start)
        rules = words_at.transform_filter("datum.inner").mark_rule(
            color=VERMILLION, strokeDash=[5, 3], strokeWidth=1.5, xOffset=-2.5, aria=False
        )
        words = words_at.mark_text(align="left", baseline="top", dx=3, lineBreak="|")
        layers += [rules, words.encode(y=alt.value(2), text="said:N")]
    return finish(
        alt.layer(*layers),
        height=230,
        title=f"Best {measure} of {_count(total, 'track')}",
        subtitle=f"tracks by the value of their best system; {_direction(measure)} is better",
    )


def track_headroom(frame: pl.DataFrame, measure: str) -> alt.LayerChart:
    """Each track's best and median system by one measure, best track first.

    Parameters
    ----------
    frame
        Columns track, system (the best), value (its mean), median (the median system's mean), and
        measure, of which the rows of `measure` are drawn. Rows of table ``headroom``. A track
        without a best value is counted but not drawn.
    measure
        The measure's name. Search lengths are drawn on a log axis.
    """
    rows = _of(frame, measure).select(
        "track",
        pl.format("{}: {}", "track", "system").alias("filled_name"),
        pl.col("value").cast(pl.Float64).alias("filled"),
        pl.format("{}: median system", "track").alias("ring_name"),
        pl.col("median").cast(pl.Float64).alias("ring"),
    )
    digits = ",.1f" if _lengths(measure) else ".3f"
    said = [
        f"{_number(best, digits)} / {_number(median, digits)}"
        for best, median in rows.select("filled", "ring").iter_rows()
    ]
    return _pairs(
        rows.with_columns(aside=pl.Series(said, dtype=pl.String)),
        measure,
        aside="best / median",
        title=f"Best and median system of each track by {measure}",
        subtitle=f"filled: best system; ring: median system; {_direction(measure)} is better",
    )


def depth_sensitivity(frame: pl.DataFrame, measure: str = "ASL") -> alt.LayerChart:
    """The best system of each track over whole lists and over lists that are cut.

    Parameters
    ----------
    frame
        Columns track, measure, depth (the rank at which lists are cut), best, value, best_cut,
        value_cut, tau (tau-b between both orders of the systems; null or NaN where there is
        none). Table ``depth_sensitivity``; the rows of `measure` are drawn.
    measure
        The measure's name.
    """
    here = _of(frame, measure)
    rows = here.select(
        "track",
        pl.format("{}: {}", "track", "best").alias("filled_name"),
        pl.col("value").cast(pl.Float64).alias("filled"),
        pl.format("{}, cut at {}: {}", "track", "depth", "best_cut").alias("ring_name"),
        pl.col("value_cut").cast(pl.Float64).alias("ring"),
        aside=pl.Series([_number(tau, ".2f") for tau in here["tau"]], dtype=pl.String),
    )
    other = here.filter(pl.col("best") != pl.col("best_cut")).height
    depths = " or ".join(str(depth) for depth in here["depth"].unique().sort())
    return _pairs(
        rows,
        measure,
        aside="tau-b",
        title=f"Best {measure} over whole lists and over lists cut at rank {depths}",
        subtitle=(
            f"filled: whole; ring: cut at {depths};"
            f" another system becomes the best in {other:,} of {_count(here.height, 'track')}"
        ),
    )


def _pairs(
    frame: pl.DataFrame, measure: str, aside: str, title: str, subtitle: str
) -> alt.LayerChart:
    """A line a track, a filled dot and a ring on it, and words at its right.

    `frame` has columns track, filled, ring, filled_name, ring_name and aside.
    """
    import altair as alt

    lengths = _lengths(measure)
    rows = (
        frame.with_columns(pl.col("filled", "ring").fill_nan(None))
        .filter(pl.col("filled").is_not_null())
        .sort(pl.col("filled") * (1 if lengths else -1), "track")
    )
    if rows.is_empty():
        return nothing(f"No track has a value of {measure}.")
    values = [v for c in ("filled", "ring") for v in rows[c].drop_nulls()]
    digits = ",.1f" if lengths else ".4f"
    font = 11 if rows.height <= 30 else 10 if rows.height <= 60 else 9
    y = alt.Scale(domain=rows["track"].to_list())
    x = {"title": _title(measure), **_value_axis(values, lengths)}
    left = alt.Axis(grid=True, labelFontSize=font, labelLimit=225, labelOverlap=False)
    base = alt.Chart(rows).encode(alt.X("filled:Q", **x), alt.Y("track:N", scale=y, axis=None))
    gaps = base.mark_rule(color=MUTED, strokeWidth=1.5, aria=False).encode(
        alt.X2("ring:Q"), alt.Y("track:N", scale=y, title=None, axis=left)
    )
    size = 70 if rows.height <= 30 else 36
    dots = base.mark_point(filled=True, opacity=1, color=BLUE, size=size)
    rings = base.mark_point(
        filled=True, fill="white", stroke=INK, strokeWidth=1.4, opacity=1, size=size
    ).encode(alt.X("ring:Q", **x))
    words = base.mark_point(opacity=0, aria=False).encode(
        alt.Y("track:N", scale=y, axis=right_words(rows, "track", aside, font))
    )
    lost = frame.height - rows.height
    return finish(
        alt.layer(
            gaps,
            described(rings, "ring_name", "ring", digits),
            described(dots, "filled_name", "filled", digits),
            words,
        ).resolve_axis(y="independent"),
        height=(17 if font == 11 else 14 if font == 10 else 11) * rows.height + 8,
        title=title,
        subtitle=subtitle + (f"; {lost:,} without a value left out" if lost else ""),
    )


def _named_buckets(frame: pl.DataFrame) -> pl.DataFrame:
    """The buckets in order, with a name each (low, tracks, bucket)."""
    rows = frame.sort(pl.col("low").fill_null(-math.inf))
    ends = [v for c in ("low", "high") for v in rows[c].drop_nulls()]
    shares = max(ends, default=0) <= 1

    def said(edge: float) -> str:
        return (
            f"{edge:.1f}" if shares and abs(10 * edge - round(10 * edge)) < 1e-9 else f"{edge:,g}"
        )

    names = [
        "all" if low is None and high is None
        else f"below {said(high)}" if low is None
        else f"from {said(low)}" if high is None
        else f"{said(low)}\u2013{said(high)}"
        for low, high in rows.select("low", "high").iter_rows()
    ]  # fmt: skip
    return rows.select("low", "tracks", bucket=pl.Series(names, dtype=pl.String))


def _placed(bars: pl.DataFrame, classes: Classes, total: int) -> pl.DataFrame:
    """Classes that begin where a bucket begins: its name, what is said of it, and its count."""
    found: list[tuple[str, str, bool]] = []
    stops = [*(low for low, _ in classes[1:]), math.inf]
    for (start, words), stop in zip(classes, stops, strict=False):
        inside = bars.filter(pl.col("low") > start - 1e-9, pl.col("low") < stop - 1e-9)
        if inside.is_empty() or abs(inside["low"][0] - start) > 1e-9:
            return pl.DataFrame()
        n = int(inside["tracks"].sum())
        said = f"{words}|{n:,} of {total:,} ({n / total:.0%})"
        found.append((inside["bucket"][0], said, start > 0))
    return pl.DataFrame(found, schema=["bucket", "said", "inner"], orient="row")


def _value_axis(values: list[float], lengths: bool) -> dict[str, Any]:
    """Scale and axis for values: search lengths by their logarithm, scores from 0."""
    import altair as alt

    low, high = min(values), max(values)
    if not lengths:
        scale = alt.Scale(domain=[min(0.0, low), high * 1.05 or 1.0], nice=False)
        return {"scale": scale, "axis": alt.Axis(tickCount=6)}
    # means are below 1 only by Eq. 3, of lists without a non-relevant doc, and can be 0
    kind = "log" if low > 0 else "symlog"
    # never less than a decade, so that there are ticks to read by
    domain = [low / 1.2 if low > 0 else 0, max(1.2 * high, 10 * low, 10)]
    steps = (1, 2, 5) if high < 300 * low else (1,)
    powers = range(math.floor(math.log10(low)) if low > 0 else 0, int(math.log10(domain[1])) + 1)
    ticks = [0.0] * (low <= 0) + [step * 10.0**power for power in powers for step in steps]
    ticks = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    return {
        "scale": alt.Scale(type=kind, domain=domain, nice=False),
        "axis": alt.Axis(values=ticks, format=",~f"),
    }


def _of(frame: pl.DataFrame, measure: str) -> pl.DataFrame:
    return frame.filter(pl.col("measure") == measure)


def _lengths(measure: str) -> bool:
    return measure.startswith("ASL")


def _title(measure: str) -> str:
    if not _lengths(measure):
        return f"{measure}, mean over queries"
    return f"{measure}, mean over queries (non-relevant docs above, plus 1)"


def _direction(measure: str) -> str:
    return "lower" if _lengths(measure) else "higher"


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"


def _number(value: float | None, digits: str) -> str:
    return "\u2014" if value is None or math.isnan(value) else format(value, digits)
