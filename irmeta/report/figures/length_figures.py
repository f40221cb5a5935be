"""Search lengths and rarity of relevant docs, as histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.charts.histogram import ENDLESS, Corner, bucket_name, histogram
from irmeta.report.theme import BLUE, PALE_BLUE, PALE_GREY, PALE_RED, VERMILLION

if TYPE_CHECKING:
    import altair as alt

SATURATED = 6.0
"""Ratio of the fullest bucket to the second fullest from which the axis of docs is logarithmic."""
RARITY_BARS = 40  # largest number of systems with one bar each
RETRIEVED = {"plain": (BLUE, ""), "missed": (VERMILLION, "")}


def length_histogram(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Draw the distribution of search lengths of relevant docs (Figure 5 of the ASL paper).

    `frame` has a row a bucket: low, high (both inside; null: docs that are not retrieved), docs.
    """
    bars = frame.sort(pl.col("low").is_null(), "low")
    names = [
        "not|retrieved" if low is None else bucket_name(low, high, "d")
        for low, high in bars.select("low", "high").iter_rows()
    ]
    total = int(bars["docs"].sum())
    missed = int(bars.filter(pl.col("low").is_null())["docs"].sum())
    retrieved = bars.drop_nulls("low")["docs"]
    fullest = [*retrieved.sort(descending=True).head(2), 0, 0]
    kind = pl.when(pl.col("low").is_null()).then(pl.lit("missed")).otherwise(pl.lit("plain"))
    return histogram(
        bars.select(pl.Series("bucket", names), pl.col("docs").alias("count"), kind.alias("kind")),
        title=title,
        subtitle=f"{total:,} relevant docs; {missed:,} ({share(missed, total)}) not retrieved"
        + _widening(bars),
        x_title="search length (non-relevant docs above, plus 1)",
        kinds=RETRIEVED,
        log=0 < fullest[1] < fullest[0] / SATURATED,
    )


def length_differences(
    frame: pl.DataFrame, title: str, systems: tuple[str, str], roles: tuple[str, str]
) -> alt.LayerChart:
    """Draw docs by the difference of their search length in two systems (Figure 6 of the paper).

    A difference is the length in the first less that in the second. `frame` has the columns low,
    high (both inside the bucket), docs, and retrieved: ``both``, the role of the only system that
    retrieves the docs, or ``neither``, whose docs are drawn but are no wins or ties.
    """
    bars = frame.sort("low")
    names = [bucket_name(low, high, "d") for low, high in bars.select("low", "high").iter_rows()]
    found = bars.filter(pl.col("retrieved") != "neither")
    total, compared, tied = (int(f["docs"].sum()) for f in (bars, found, found.filter(low=0)))
    missed = total - compared
    kinds = {
        "both": (BLUE, "both retrieve the doc"),
        roles[0]: (PALE_BLUE, f"only the {roles[0]}"),
        roles[1]: (PALE_RED, f"only the {roles[1]}"),
        "neither": (PALE_GREY, "neither"),
    }

    def corner(side: int, wins: pl.Expr, colour: str) -> Corner:
        won = found.filter(wins)
        alone = won.filter(retrieved=roles[side])
        docs, only = (int(f["docs"].sum()) for f in (won, alone))
        text = f"{roles[side]} wins: {docs:,} ({share(docs, compared)})"
        return Corner(text, [systems[side], f"{only:,} of them retrieved only there"], colour)

    return histogram(
        bars.select(
            pl.Series("bucket", names, dtype=pl.String),
            pl.col("docs").alias("count"),
            pl.col("retrieved").alias("kind"),
        ),
        title=title,
        subtitle=f"{compared:,} relevant docs that a system retrieves; ties: {tied:,} "
        f"({share(tied, compared)})"
        + (f"; not counted: {missed:,} that neither retrieves" if missed else "")
        + _widening(bars),
        x_title=f"search length in the {roles[0]} system minus that in the {roles[1]} (docs)",
        kinds=kinds,
        corners=(corner(0, pl.col("high") < 0, BLUE), corner(1, pl.col("low") > 0, VERMILLION)),
    )


def _widening(bars: pl.DataFrame) -> str:
    """Return a warning for the subtitle if the buckets differ in width."""
    closed = bars.filter(pl.col("low") != 0, pl.col("high") < ENDLESS)
    widths = closed.select((pl.col("high") - pl.col("low")).n_unique()).item()
    return "; wider buckets further out" if widths > 1 else ""


def rarity_histogram(frame: pl.DataFrame, counted: str = "systems") -> alt.LayerChart:
    """Draw the distribution of the number of systems, or what `counted` names, with a doc.

    `frame` has the columns retrieved_by (from 0) and docs; missing rows have no docs. Above 40
    systems the bars are ranges of equal width, and a separate bar for 0.
    """
    counts = frame.select(pl.col("retrieved_by").cast(pl.Int64), "docs")
    most = max(counts["retrieved_by"].to_list(), default=0)
    widths = (digit * 10**power // 10 for power in range(1, 10) for digit in (5, 10, 20))
    width = 1 if most <= RARITY_BARS else next(n for n in widths if most <= 16 * n)
    number = pl.col("retrieved_by")
    low = pl.when(number == 0).then(0).otherwise((number - 1) // width * width + 1)
    every = pl.DataFrame({"retrieved_by": range(most + 1)}, schema={"retrieved_by": pl.Int64})
    bars = (
        every.join(counts, on="retrieved_by", how="left", maintain_order="left")
        .group_by(low.alias("low"), maintain_order=True)
        .agg(number.max().alias("high"), pl.col("docs").sum())
    )
    names = [bucket_name(low, high, "d") for low, high in bars.select("low", "high").iter_rows()]
    kind = pl.when(pl.col("high") == 0).then(pl.lit("missed")).otherwise(pl.lit("plain"))
    total = int(counts["docs"].sum())
    lost, unique = (int(counts.filter(number == n)["docs"].sum()) for n in (0, 1))
    return histogram(
        bars.select(
            pl.Series("bucket", names, dtype=pl.String),
            pl.col("docs").alias("count"),
            kind.alias("kind"),
        ),
        title=f"How many {counted} retrieve a relevant doc",
        subtitle=(
            f"{total:,} relevant docs; {lost:,} ({share(lost, total)}) retrieved by none,"
            f" {unique:,} ({share(unique, total)}) by one alone"
        ),
        x_title=f"{counted} that retrieve the doc",
        kinds=RETRIEVED,
    )


def share(part: int, total: int) -> str:
    """Format a share in percent; small shares are "<1%"."""
    value = part / total if total else 0
    return "<1%" if 0 < value < 0.01 else f"{value:.0%}"
