"""The figures and the sections of the study's page, in the paper's order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from irmeta.measures.names import display_of
from irmeta.phrases import count, listed
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.heat import heat_map, surfaces
from irmeta.report.charts.histogram import scatter_panes
from irmeta.report.charts.row_charts import strip
from irmeta.report.theme import BLUE, VERMILLION, axis_title
from irmeta.schema.columns import Paper
from irmeta.studies.framework.claim_print import MOST_NAMED as NAMED_IN_PRINT
from irmeta.studies.framework.sections import (
    POINTER,
    absent,
    data_section,
    name_tracks,
    show_printed,
)
from irmeta.studies.framework.study import Figure, Section, Show, Tables, read_notes
from irmeta.studies.papers.preference.study import GAMMA, POINTS, STUDY
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
SCATTER = (
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
    Figure("figure_2",
           lambda tables, _: tables["figure_2"].join(
               tables["unequal_levels"].rename({"share": "unequal_share"}),
               on="track", how="left", maintain_order="left"),
           _figure_2,
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
           "offline interleaving.", SCATTER, by="track"),
    Figure("figure_6", "figure_6", _figure_6,
           "Figure 6: correlation of the order by some queries with that by all.", FEWER,
           by="track"),
    Figure("figure_7", "figure_7", _figure_7,
           "Figure 7: correlation of the order by some relevant docs with that by all.",
           FEWER_DOCS, by="track"),
    Figure("ties", _ties, _tied,
           "Ties: share of pairs of systems that have equal values on a query.", EFFICIENCY),
)  # fmt: skip


# The sections


DATA = Paper("16 datasets of 21 to 110 runs and 43 to 17,564 requests", "Table 1")
CHOICES = read_notes("irmeta.studies.papers.preference")["choices"]
"""Choices made here, and errors of the paper and its code."""


_TESTED = {
    "preference": "the preferences of the pairs",
    "win-rate": "the differences of win rates, which depend on the other systems",
}


_MAJORITY = {
    "queries": "if more than half of all queries rank that one higher, so that ties count against "
    "moving (majority=queries)",
    "decided": "if more queries rank that one higher than lower, ties aside (majority=decided)",
}


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 5.1)", DATA)
    yield _requests(tables, options)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _levels(tables, options)
    yield _agreement(tables, options)
    yield _orders(tables, options)
    yield _fewer(tables, options)
    yield _separated(tables, options)
    yield _label_efficiency(tables, options)
    yield from _judgments(tables)
    yield from _groups(tables)
    yield Section("Choices, and errors of the paper and its code", CHOICES)


def _requests(tables: Tables, options: Options) -> Section:
    text = (
        "The paper's web rows count relevant (doc, subtopic) pairs of the diversity judgments, and "
        "the runs of several tasks together; its AP on them is not that of NIST's ad hoc "
        "judgments. The table names the qrels set of the numbers here. A track is in the paper if "
        "requests, runs, and relevant docs or pairs per request equal a row of Table 1."
    )
    if options.rel > 1 or options.grades == "binary":
        text += (
            f" Relevant is grade {options.rel} or above"
            + (", and all relevant grades are equal." if options.grades == "binary" else ".")
            + " Lower grades have no gain in nDCG."
        )
    return Section(
        "Requests and relevant docs (Table 1)", text, ["table_1", show_printed("Table 1")]
    )


def _levels(tables: Tables, options: Options) -> Section:
    text = [
        "The difference of two lists is a sum over recall levels i: f_i and f'_i are the ranks of "
        "the i-th relevant doc. Figure 2 shows how small most terms of RBP and DCG are, and how "
        "often the ranks differ at all. Levels that neither list reaches cannot differ, so two "
        "shares are given; the paper's 93% may be either.",
        "Figure 4 compares two lists of one query: by default the best and the median system by "
        "RPP, and the query whose number of relevant docs is nearest to six. The paper's table has "
        "g^f where its Section 2 has g^(f - 1), which is used here, and calls DCG NDCG.",
    ]
    return Section(
        "Differences by recall level (Figures 2 and 4)",
        [*text, POINTER],
        ["unequal_levels", show_printed("Figure 2")],
        notes=absent(STUDY, tables, "figure_4"),
    )


def _agreement(tables: Tables, options: Options) -> Section:
    return Section(
        "RPP beside differences of measures (Section 6.1, Figure 5)",
        [
            "A point is a pair of systems and a query. r is over both directions of each pair; "
            "sign agreement is the share of points with equal signs, where 0 is a third sign. All "
            f"points count; {count(POINTS, 'point')} of a track, drawn at random, are "
            "shown. The sign of AvgSL, the paper's ASL, is reversed; its corpus is every retrieved "
            "or relevant doc. OI is offline interleaving: balanced, with both starts; the paper "
            f"does not define its browsing model. {POINTER}",
        ],
        ["figure_5", show_printed("Figure 5")],
    )


def _orders(tables: Tables, options: Options) -> Section:
    zeros = tables["order_agreement"]["limit_zeros"]
    limit = f"Here {zeros.min()} to {zeros.max()} systems of a track have the score 0."
    text = [
        "A preference orders the systems of each query by their win rates: Eq. 7 divided by n - 1 "
        "for n systems, the mean preference over the others, which leaves the order as it is. MC4 "
        "aggregates the queries: 10 steps of the chain, as in the released code. From a system the "
        f"chain moves to another {_MAJORITY[options.majority]}. Ties stay ties.",
        "The limit of the chain is not used: where one system beats all others, it has the score "
        f"1 and all others tie at 0. {limit} Repeating the chain without the systems that are "
        "ranked (mc4-rounds) orders them all, and so does Borda.",
        "Two orders are correlated by the queries where both are defined: a preference needs a "
        "relevant doc, a measure by its own grades. Their number is in the table by track.",
    ]
    columns = ("measure_a", "measure_b", "tau_b")
    parts = {"single": "a", "subtopic": "b"}
    shown = [
        Show("table_2_mean", columns, {"part": (part,), "order": ("mc4",)}, "measure_b",
             f"table_2{letter}", "Kendall's tau-b of orders of systems, "
             f"{_over(tables['table_2'].filter(part=part))} (Table 2{letter}).")
        for part, letter in parts.items()
        if tables["table_2_mean"].filter(part=part).height
    ]  # fmt: skip
    rules = ("mc4-rounds", "borda")
    over = [_over(tables["table_2"].filter(part=show.rows["part"][0])) for show in shown]
    others = Show("table_2_mean", ("measure_a", "measure_b", "order", "tau_b"), {"order": rules},
                  "order", "table_2_rules", "Kendall's tau-b of orders of systems by repeated MC4 "
                  f"and by Borda, {'; by subtopic '.join(over)}.")  # fmt: skip
    return Section(
        "Orders of systems (Section 6.1, Table 2)",
        text,
        [*shown, others],
        notes=_without_subtopics(tables),
    )


def _over(rows: pl.DataFrame) -> str:
    """Return over which tracks a correlation is a mean, or on which track it is."""
    tracks = rows.filter(pl.col("tau_b").is_not_nan())["track"].unique(maintain_order=True)
    number = f"the {len(tracks)} tracks " if len(tracks) > 1 else ""
    named = listed(tracks.to_list(), NAMED_IN_PRINT) if len(tracks) else "no track"
    return f"{'mean over' if number else 'on'} {number}{named}"


def _fewer(tables: Tables, options: Options) -> Section:
    return Section(
        "Missing queries and judgments (Section 6.2, Figures 6 and 7)",
        f"Figure 6 keeps queries at random, {count(options.replicates, 'sample')} of each size, "
        f"the same for all measures. Figure 7 removes relevant docs of every query, at random "
        f"({count(options.label_replicates, 'sample')} of each share) or those that the fewest "
        "systems retrieve (pool); at least one remains. Tau-b is with the order by all data, the "
        "mean over samples with the quantiles .025 and .975; preferences order by 10 steps of MC4 "
        f"each time. The paper does not state numbers of samples. {POINTER}",
        [
            Show("figure_6", ("track", "queries", "measure", "mean"), pivot="measure"),
            Show("figure_7", ("track", "labels", "removed", "measure", "mean"), pivot="measure"),
        ],
    )


def _separated(tables: Tables, options: Options) -> Section:
    text = (
        f"Percent of pairs of systems at p < {options.alpha:g}, over queries with a relevant doc. "
        f"The tests are of {_TESTED[options.on]} for RPP, of differences for measures. Randomised "
        "HSD: for each query the systems are permuted, rows and columns of the preferences "
        f"together; p is (1 + c) / (1 + B) with B = {options.resamples:,} permutations, in c of "
        "which the greatest absolute mean is at least the pair's. t is the one-sample t-test over "
        "queries, with Bonferroni's correction over pairs."
    )
    shown = [
        Show(table, ("track", "measure", "percent", "printed"), {"part": (part,)}, "measure",
             f"{table}{letter}", STUDY.table(table).caption.replace(")", f"{letter})"), "row")
        for table in ("table_3", "table_4")
        for part, letter in (("single", "a"), ("subtopic", "b"))
        if tables[table].filter(part=part).height
    ]  # fmt: skip
    printed = [show_printed(f"Table {n}({letter})") for n in (3, 4) for letter in "ab"]
    return Section(
        "Significantly different pairs (Section 6.3, Tables 3 and 4)",
        text,
        [*shown, *printed],
        notes=_without_subtopics(tables),
    )


def _label_efficiency(tables: Tables, options: Options) -> Section:
    return Section(
        "Beyond the paper: ties and label efficiency",
        "The share of points (pair of systems, query) that a measure ties, and the share of all "
        "recall levels whose ranks differ and enter its difference: RR has the first level alone.",
        [Show("ties", ("track", "measure", "tied", "deciding_levels"), pivot="measure"), "ties"],
    )


def _judgments(tables: Tables) -> Iterator[Section]:
    if tables["label_noise"].height:
        yield Section(
            "Beyond the paper: other judgments",
            "RPP by every other qrels set of the track: tau-b of the two orders by MC4, and pairs "
            "of systems whose mean preference changes its sign. In a set with subtopics, the grade "
            "of a doc is its highest.",
        )


def _groups(tables: Tables) -> Iterator[Section]:
    if tables["opponents"].height:
        yield Section(
            "Beyond the paper: groups as opponents",
            "A win rate depends on the field. With groups as opponents, all runs of a group weigh "
            "as much as one run, so that submitting variants of a run does not move others.",
        )


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: its figures, and the systems of Figure 4."""
    facts = tables["studied_tracks"].row(0, named=True)
    labels = {"systems": "systems", "queries": "queries with a relevant doc"}
    text: list[str] = []
    if tables["figure_4"].height:
        query, a, b = tables["figure_4"].select("query", "system_a", "system_b").row(0)
        relevant = count(tables["figure_4"].height, "relevant doc")
        text.append(f"Figure 4: {a} and {b} on query {query}, which has {relevant}.")
    return Section(
        track,
        text,
        ["*"],
        facts={label: facts[name] for name, label in labels.items()},
    )


def _without_subtopics(tables: Tables) -> list[str]:
    rows = tables["table_1"].filter(pl.col("subtopic_qrels").is_null())
    return [f"No subtopics, so no STRPP: {name_tracks(rows)}."] if rows.height else []
