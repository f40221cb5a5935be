"""Figures of how far numbers spread within a line: tracks in a step, systems in a track."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.look import BLUE, INK, VERMILLION, described, finish, nothing, right_words

if TYPE_CHECKING:
    import altair as alt

MANY = 60  # more systems than these in a track, and its dots are thin
SPOKEN = 1500  # more dots than these, and only the means say their number: the SVG would be huge


# One line for under each figure, by the name of its function
READING: Mapping[str, str] = {
    "chain_moves": (
        "Each dot is a track: how far its furthest system moves past the others when the measure"
        " changes, in percent of its systems; the bar is the mean and one sd to either side."
    ),
    "chain_taus": (
        "Each dot is a track: how far its systems keep their order when the measure changes (1 is"
        " the same order, 0 no relation); the bar is the mean and one sd to either side."
    ),
    "effective_fractions": (
        "Each dot is a system: the share of the relevant docs, best first, that its average"
        " precision in truth averages; the black tick is the mean of the track."
    ),
}


def chain_moves(frame: pl.DataFrame) -> alt.LayerChart:
    """Each track's Delta-sort in the steps from one measure to another (Table 2 of the ASL paper).

    Parameters
    ----------
    frame
        Columns track, chain (its first measure), step (0: cumulative), new (the measure that the
        step ends in; said without a leading "CHAIN, "), delta_sort (percent of the track's
        systems, 0-100; null or NaN are left out). Rows of table ``reordering``: a line a chain and
        step, the paper's chains first, a chain's cumulative line last.
    """
    return _chains(
        frame,
        "delta_sort",
        domain=[0.0, 100.0],
        digits=".0f",
        x_title="Delta-sort: furthest move of a system, % of the track's systems",
        title="How far a system moves when the measure changes",
    )


def chain_taus(frame: pl.DataFrame) -> alt.LayerChart:
    """Kendall's tau-b of the steps that `chain_moves` draws.

    Parameters
    ----------
    frame
        As in `chain_moves`, with column tau instead of delta_sort.
    """
    tau = frame["tau"].cast(pl.Float64).fill_nan(None).drop_nulls()
    low = -1.0 if (tau < 0).any() else 0.0
    return _chains(
        frame,
        "tau",
        domain=[low, 1.0],
        digits=".2f",
        x_title="Kendall's tau-b between the orders of a track's systems",
        title="How far systems keep their order when the measure changes",
    )


def effective_fractions(frame: pl.DataFrame, paper: float | None = None) -> alt.LayerChart:
    """Which share of the relevant docs AP averages in truth (Appendix A.1 of the ASL paper).

    Parameters
    ----------
    frame
        Columns track, system, fraction (0-1; null or NaN are counted but not drawn). Table
        ``effective_fraction``. Tracks are drawn by their means.
    paper
        The paper's own mean, drawn as a line.
    """
    import altair as alt

    dots = _finite(
        frame.select(
            pl.col("track").alias("row"),
            pl.format("{}: {}", "track", "system").alias("name"),
            pl.col("fraction").alias("value"),
        )
    )
    if dots.is_empty():
        return nothing("No system has an average precision above 0.")
    rows = dots.group_by("row").agg(mean=pl.col("value").mean()).sort("mean", "row")
    rows = rows.with_columns(
        aside=pl.Series([f"{mean:.0%}" for mean in rows["mean"]]),
        mean_name=pl.format("{}: mean", "row"),
    )
    height = 26 if rows.height <= 12 else 18 if rows.height <= 30 else 11
    x = alt.X(
        "value:Q",
        title="share of relevant docs, mean over queries",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(format="%", grid=True, tickCount=6),
    )
    layers = _strips(dots, rows, x, 1.0, aside="mean", height=height, digits=".1%")
    if paper is not None:
        line = alt.Chart(pl.DataFrame({"value": [paper]})).encode(alt.X("value:Q"))
        rule = line.mark_rule(color=VERMILLION, strokeDash=[5, 3], strokeWidth=1.5, aria=False)
        said = line.mark_text(color=VERMILLION, dy=-7)
        words = said.encode(y=alt.value(0), text=alt.value(f"paper {paper:.0%}"))
        layers = [rule, *layers, words]
    lost = frame.height - dots.height
    return finish(
        alt.layer(*layers).resolve_axis(y="independent"),
        height=height * rows.height,
        title="The share of relevant docs that average precision averages",
        subtitle=f"mean of {_tracks(rows.height)}: {_around(rows['mean'], '.0%')}"
        + (f"; systems without a value, left out: {lost:,}" if lost else ""),
    )


def _chains(
    frame: pl.DataFrame, value: str, domain: list[float], digits: str, x_title: str, title: str
) -> alt.LayerChart:
    """A line a step, a dot a track, and their mean and sd below the dots."""
    import altair as alt

    chain, step = pl.col("chain"), pl.col("step")
    order = {name: n for n, name in enumerate(frame["chain"].unique(maintain_order=True))}
    place = chain.replace_strict(order, return_dtype=pl.Int32)
    shown = frame.sort(place, step == 0, "step", "track")
    own = pl.format("{}, ", chain)
    # a measure may have a long name, so that it gets a line of its own
    row = (
        pl.when(step > 0)
        .then(pl.format("{}, step {}|{}", chain, step, pl.col("new").str.strip_prefix(own)))
        .when(pl.col("new").str.starts_with(own))
        .then(pl.format("{}, cumulative|all its steps", chain))
        .otherwise(pl.format("{}, cumulative|to {}", chain, "new"))
    )
    dots = _finite(shown.select(row.alias("row"), "track", pl.col(value).alias("value")))
    if dots.is_empty():
        return nothing("No track has two systems to put in order.")
    rows = dots.group_by("row", maintain_order=True).agg(
        mean=pl.col("value").mean(), sd=pl.col("value").std(), n=pl.len(), all=pl.col("value")
    )
    rows = rows.with_columns(
        pl.Series("aside", [
            f"{_around(all_, digits)}|{_tracks(n)}"
            for all_, n in rows.select("all", "n").iter_rows()
        ]),
        mean_name=pl.format("{}: mean", "row"),
        # a bar stays within what is possible
        least=(pl.col("mean") - pl.col("sd")).clip(domain[0], domain[1]),
        most=(pl.col("mean") + pl.col("sd")).clip(domain[0], domain[1]),
    ).drop("all")  # fmt: skip
    x = alt.X(
        "value:Q",
        title=x_title,
        scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(grid=True, tickCount=6),
    )
    dots = dots.with_columns(name=pl.format("{}, {}", "row", "track"))
    reach = domain[1] - domain[0]
    layers = _strips(dots, rows, x, reach, aside="mean \u00b1 sd", height=40, digits=digits)
    return finish(
        alt.layer(*layers).resolve_axis(y="independent"),
        height=40 * rows.height,
        title=title,
        subtitle="a dot a track; below the dots their mean and one standard deviation either side",
    )


def _strips(
    dots: pl.DataFrame,
    rows: pl.DataFrame,
    x: alt.X,
    reach: float,
    aside: str,
    height: int,
    digits: str,
) -> list[Any]:
    """Dots of each line, stacked where they meet, and their mean.

    `dots` has columns row, name and value, on an axis `reach` long; `rows`, in order from the top,
    row, aside, mean and mean_name. With columns least and most the mean gets a bar and stands
    below the dots.
    """
    import altair as alt

    below = "least" in rows.columns
    middle, half = (-0.35, 0.5) if below else (0.0, 0.85)
    font = 11 if height > 16 else 9
    domain = alt.Scale(domain=rows["row"].to_list(), paddingInner=0.1, paddingOuter=0.05)
    offset = alt.Scale(domain=[-1, 1])
    left = alt.Axis(
        grid=False, labelExpr="split(datum.label, '|')", labelFontSize=font, labelLimit=225,
        labelOverlap=False,
    )  # fmt: skip
    y = alt.Y("row:N", scale=domain, title=None, axis=left)
    placed = _stacked(dots, reach, middle, half)
    # inline, because altair refuses a frame of more than 5,000 rows
    marks = alt.Chart(alt.InlineData(placed.to_dicts())).encode(
        x, y, alt.YOffset("offset:Q", scale=offset)
    )
    large = 28 if height > 30 else 18 if height > 16 else 8
    spoken = dots.height <= SPOKEN
    points = marks.mark_circle(color=BLUE, opacity=1, aria=spoken).encode(
        size=alt.condition("datum.thin", alt.value(large / 3), alt.value(large))
    )
    no_axis = alt.Y("row:N", scale=domain, axis=None)
    means = alt.Chart(rows).encode(
        alt.X("mean:Q"), no_axis, yOffset=alt.YOffsetDatum(0.6 if below else 0.0, scale=offset)
    )
    ticks = means.mark_tick(
        color=INK, opacity=1, thickness=2.5, size=12 if below else height - 3, orient="vertical"
    )
    words = alt.Y("row:N", scale=domain, axis=right_words(rows, "row", aside, font))
    layers = [
        described(points, "name", "value", digits) if spoken else points,
        described(ticks, "mean_name", "mean", digits),
        alt.Chart(rows).mark_point(opacity=0, aria=False).encode(alt.X("mean:Q"), words),
    ]
    if below:
        bars = means.mark_rule(color=INK, strokeWidth=1.5, aria=False)
        layers.insert(1, bars.encode(alt.X("least:Q"), alt.X2("most:Q")))
    return layers


def _stacked(dots: pl.DataFrame, reach: float, middle: float, half: float) -> pl.DataFrame:
    """Dots with their offset within a line: those of about one value stand side by side."""
    turn = pl.int_range(pl.len()).over("row", (pl.col("value") / reach * 100).round())
    side = pl.when(turn % 2 == 0).then(1).otherwise(-1)
    place = (turn + 1) // 2 * side
    return dots.sort("row", "value", "name").with_columns(place=place).with_columns(
        offset=middle + half * pl.col("place") / pl.col("place").abs().max().clip(4).over("row"),
        thin=pl.len().over("row") > MANY,
    )  # fmt: skip


def _finite(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("value").cast(pl.Float64)).filter(pl.col("value").is_finite())


def _around(values: Any, digits: str) -> str:
    """Mean and sample standard deviation, the mean alone of one value."""
    series = pl.Series(values, dtype=pl.Float64)
    mean, sd = series.mean(), series.std()
    return f"{mean:{digits}}" + ("" if sd is None else f" \u00b1 {sd:{digits}}")


def _tracks(n: int) -> str:
    return f"{n:,} track{'s' * (n != 1)}"
