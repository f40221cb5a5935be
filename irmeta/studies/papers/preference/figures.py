"""The figures of the study of recall-paired preference, from its tables."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from irmeta.measures.names import display_of
from irmeta.phrases import count
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.heat import heat_map, surfaces
from irmeta.report.charts.histogram import scatter_panes
from irmeta.report.charts.row_charts import strip
from irmeta.report.theme import BLUE, VERMILLION, axis_title
from irmeta.studies.framework.study import Figure, Tables
from irmeta.studies.papers.preference.study import GAMMA
from irmeta.studies.papers.preference.study import PreferenceOptions as Options

RANKS = range(1, 26)  # ranks of the surfaces of Figure 2
DISCOUNTS = {"RBP": f"RBP, g = {GAMMA:g}", "DCG": "DCG", "sign": "sign, as in RPP"}
CONTRIBUTIONS = ("RBP", "AP", "DCG", "RR", "ISL", "TSL", "AvgSL", "RPP")
MOST_LEVELS = 14  # recall levels that fit a heat map with numbers
MINUS = "\u2212"
SIDES = (BLUE, VERMILLION)
"""Colours of two systems, which also have them where one is better."""
LABELS = {"random": "docs at random", "pool": "least retrieved docs first"}


def _number(value: float | None, digits: str = "z.2f") -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:{digits}}"


# Figure 2


def _differences(tables: Tables, options: Options) -> pl.DataFrame:
    levels = tables["unequal_levels"].rename({"share": "unequal_share"})
    return tables["figure_2"].join(levels, on="track", how="left", maintain_order="left")


def _surfaces() -> pl.DataFrame:
    """Return the difference of the terms of two ranks, for each discount of Figure 2."""
    ranks = pl.DataFrame({"x": [*RANKS]}, schema={"x": pl.Int64})
    pairs = ranks.join(ranks.rename({"x": "y"}), how="cross")
    x, y = pl.col("x"), pl.col("y")
    values = {
        "RBP": GAMMA ** (x - 1) - GAMMA ** (y - 1),
        "DCG": 1 / (x + 1).log(2) - 1 / (y + 1).log(2),
        "sign": (y - x).sign().cast(pl.Float64),
    }
    return pairs.with_columns(**values).unpivot(
        [*values], index=["x", "y"], variable_name="pane", value_name="value"
    )


def _figure_2(rows: pl.DataFrame, options: Options) -> Any:
    shares = (rows[name][0] for name in ("unequal_share", "share_reached"))
    differ, reached = (_number(share, ".1%") for share in shares)
    return surfaces(
        _surfaces(),
        rows.select(pane="discount", x="delta", y="share"),
        DISCOUNTS,
        title=f"{rows['track'][0]}: difference of two lists at one recall level",
        subtitle=f"ranks differ at {differ} of recall levels, {reached} of those that a list "
        "reaches",
        axes=("rank f in list x", "rank f\u2032 in list y"),
        share_heading="share with at most that difference",
        x_title="difference at a recall level",
    )


# Figure 4


def _figure_4(rows: pl.DataFrame, options: Options) -> Any:
    track, query, a, b = rows.select("track", "query", "system_a", "system_b").row(0)
    lists = [
        rows.select(pane=pl.lit(""), name=pl.lit(name), x="recall", y=y, dashed=pl.lit(False))
        for name, y in ((a, "precision_a"), (b, "precision_b"))
    ]
    return curve_panes(
        pl.concat(lists),
        [Pane("", "precision")],
        title=f"{track}: precision and recall for query {query}",
        subtitle=f"at the ranks of {count(rows.height, 'relevant doc')}; 0 where not retrieved",
        x_title="recall",
        linear="~g",
        colours=SIDES,
    )


def _contributions(tables: Tables, options: Options) -> pl.DataFrame:
    lists = tables["figure_4"].select("track", "level", "query", "system_a", "system_b")
    order = pl.DataFrame({"measure": CONTRIBUTIONS})
    rows = order.join(tables["figure_4_deltas"], on="measure", maintain_order="left_right")
    return rows.join(lists, on=["track", "level"], maintain_order="left")


def _figure_4_deltas(rows: pl.DataFrame, options: Options) -> Any:
    track, query, a, b = rows.select("track", "query", "system_a", "system_b").row(0)
    largest = rows.group_by("level").agg(pl.col("scaled").abs().max())
    most = largest.sort("scaled", "level", descending=[True, False]).head(MOST_LEVELS)
    shown = rows.filter(pl.col("level").is_in(most["level"].implode()))
    levels = f"; {most.height} of {largest.height} levels" if most.height < largest.height else ""
    return heat_map(
        shown.select(
            across=pl.format("i = {}", "level"),
            down="measure",
            value="scaled",
            name=pl.format("{}, level {}", "measure", "level"),
        ),
        title=f"{track}: recall levels behind each difference, query {query}",
        subtitle=f"positive: {a} is better than {b}{levels}",
    )


# Figure 5


def _points(tables: Tables, options: Options) -> pl.DataFrame:
    agreement = (
        tables["figure_5"]
        .filter(measure_a=options.preference())
        .select("track", "points", "r", "sa", measure="measure_b")
    )
    points = tables["figure_5_points"]
    return points.join(agreement, on=["track", "measure"], how="left", maintain_order="left")


def _difference(name: str, options: Options) -> str:
    """Return the heading of a panel; the sign is reversed where less is better."""
    if name in options.interleavings:
        return name
    display = display_of(name)
    return axis_title(f"{'' if display.direction > 0 else MINUS}{name}", display.unit)


def _figure_5(rows: pl.DataFrame, options: Options) -> Any:
    ap, ndcg, rr = options.measures
    order = [ap, ndcg, options.search_length, rr, *options.interleavings]
    agreement = pl.DataFrame({"measure": order}).join(
        rows.select("measure", "r", "sa").unique("measure"), on="measure", maintain_order="left"
    )
    panes = {
        name: (_difference(name, options), [f"r = {_number(r)}, sa = {_number(sa)}"])
        for name, r, sa in agreement.iter_rows()
    }
    drawn = int(rows.select(pl.max("point")).item())
    points = int(rows.select(pl.max("points")).item())
    shown = f"{drawn:,} of {points:,}" if drawn < points else f"{points:,}"
    return scatter_panes(
        rows.select(pane="measure", x="difference", y="preference", marked=~pl.col("same_sign")),
        panes,
        title=f"{rows['track'][0]}: {options.preference()} and differences of measures",
        subtitle=f"{shown} pairs of systems on one query; sa: share with equal signs",
        y_title="RPP",
        kinds=("equal signs", "different signs"),
    )


# Figures 6 and 7


def _replicated(rows: pl.DataFrame, options: Options, x: str, pane: pl.Expr) -> pl.DataFrame:
    """Return the curves of `compared` with their bands, in the order of the options."""
    order = pl.DataFrame({"measure": options.compared})
    ordered = order.join(rows, on="measure", maintain_order="left_right")
    has_band = pl.col("measure").is_in([options.preference(), options.measures[1]])
    low, high = (pl.when(has_band).then(name) for name in ("low", "high"))
    return ordered.select(
        pane=pane, name="measure", x=x, y="mean", low=low, high=high, dashed=pl.lit(False)
    )


def _samples(rows: pl.DataFrame) -> str:
    most = int(rows.select(pl.max("replicates")).item())
    return (
        f"mean of up to {count(most, 'random sample')}; bands of RPP and nDCG: quantiles .025 to "
        ".975"
    )


def _figure_6(rows: pl.DataFrame, options: Options) -> Any:
    return curve_panes(
        _replicated(rows, options, "queries", pl.lit("")),
        [Pane("", "tau-b with the order by all queries")],
        title=f"{rows['track'][0]}: orders of systems by fewer queries",
        subtitle=_samples(rows),
        x_title="queries kept",
        linear=",d",
        height=260,
    )


def _figure_7(rows: pl.DataFrame, options: Options) -> Any:
    return curve_panes(
        _replicated(rows, options, "removed", pl.col("labels")),
        [Pane(labels, f"{how}: tau-b") for labels, how in LABELS.items()],
        title=f"{rows['track'][0]}: orders of systems by fewer relevant docs",
        subtitle=_samples(rows),
        x_title="relevant docs removed",
        linear="%",
        height=220,
    )


# Ties


def _ties(tables: Tables, options: Options) -> pl.DataFrame:
    rows = tables["ties"].filter(pl.col("tied").is_finite().any().over("measure"))
    place = {name: n for n, name in enumerate(options.compared)}
    order = pl.col("measure").replace_strict(place, default=len(place), return_dtype=pl.Int64)
    return rows.sort(order, "measure", "track", maintain_order=True)


def _tied(rows: pl.DataFrame, options: Options) -> Any:
    tracks = count(rows["track"].n_unique(), "track")
    return strip(
        rows.select(row="measure", name=pl.format("{}, {}", "measure", "track"), value="tied"),
        title="Pairs of systems that tie on a query",
        subtitle=f"one dot per track, {tracks}; tick: mean",
        x_title="share of pairs of systems and queries",
        domain=(0.0, 1.0),
        digits=".2%",
        axis_format="%",
    )


SURFACES = (
    "The maps show how much the ranks f and f\u2032 of the i-th relevant doc contribute to the "
    "difference of two lists: blue (+) where list x is better, orange (\u2212) where y is. RBP and "
    "DCG are near 0 unless one rank is small. The curves show the share of all pairs of lists, "
    "queries and levels with at most a difference; steep at 0 means that most levels hardly count."
)
CURVES = "Each mark is a relevant doc. The higher line has more relevant docs at the same effort."
LEVELS = (
    "Each row is a measure, each column a recall level; the magnitudes over all levels add up to "
    "1, or are all 0. Of many levels, those with the largest magnitudes are shown. RPP weighs all "
    "levels at which the ranks differ equally."
)
POINTS = (
    "Each point is a pair of systems on one query, orange where the signs differ; 0 is a sign of "
    "its own; \u2212: the sign is reversed, because less is better. r is Pearson's "
    "correlation, sa the share of points with equal signs, over all points, drawn or not."
)
FEWER = (
    "Each line is the mean correlation with the order by the full data, over random samples; a "
    "band holds 95 percent of the samples. The earlier a line falls, the more the order depends on "
    "the missing data."
)
FEWER_DOCS = f"{FEWER} Removing the least retrieved docs first is no sample and has no band."
EFFICIENCY = (
    "Each dot is a track, the black tick their mean. Fewer ties make more use of the same "
    "judgments."
)
FIGURES = (
    Figure("figure_2", _differences, _figure_2,
           "Figure 2: the difference of two lists at one recall level, by the two ranks, and its "
           "distribution.", SURFACES, by="track"),
    Figure("figure_4", "figure_4", _figure_4,
           "Figure 4, left: uninterpolated precision of {system_a} and {system_b} by recall for "
           "query {query}.", CURVES, by="track"),
    Figure("figure_4_deltas", _contributions, _figure_4_deltas,
           "Figure 4, right: contributions of recall levels to the difference of {system_a} and "
           "{system_b} for query {query}.", LEVELS, by="track"),
    Figure("figure_5", _points, _figure_5,
           lambda rows, o: f"Figure 5: {o.preference()} and the differences of measures and of "
           "offline interleaving.", POINTS, by="track"),
    Figure("figure_6", "figure_6", _figure_6,
           "Figure 6: correlation of the order by some queries with that by all.", FEWER,
           by="track"),
    Figure("figure_7", "figure_7", _figure_7,
           "Figure 7: correlation of the order by some relevant docs with that by all.",
           FEWER_DOCS, by="track"),
    Figure("ties", _ties, _tied,
           "Ties: share of pairs of systems that have equal values on a query.", EFFICIENCY),
)  # fmt: skip
