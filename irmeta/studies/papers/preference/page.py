"""The sections of the study's page, in the paper's order."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from irmeta.phrases import count, listed
from irmeta.schema.columns import Paper
from irmeta.studies.framework.claim_print import MOST_NAMED as NAMED_IN_PRINT
from irmeta.studies.framework.sections import (
    POINTER,
    absent,
    data_section,
    name_tracks,
    show_printed,
)
from irmeta.studies.framework.study import Section, Show, Tables, read_notes
from irmeta.studies.papers.preference.study import POINTS, STUDY
from irmeta.studies.papers.preference.study import PreferenceOptions as Options

DATA = Paper("16 datasets of 21 to 110 runs and 43 to 17,564 requests", "Table 1")
CHOICES = read_notes("irmeta.studies.papers.preference")["choices"]
"""Choices made here, and errors of the paper and its code."""


FIGURES = ("figure_2", "figure_4", "figure_5", "figure_6", "figure_7")
"""The figures of a track, in the paper's order."""
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
        [f"{name}*" for name in FIGURES],
        facts={label: facts[name] for name, label in labels.items()},
    )


def _without_subtopics(tables: Tables) -> list[str]:
    rows = tables["table_1"].filter(pl.col("subtopic_qrels").is_null())
    return [f"No subtopics, so no STRPP: {name_tracks(rows)}."] if rows.height else []
