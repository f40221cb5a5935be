"""The sections of the study's page, in the paper's order, with the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from irmeta.phrases import count, listed
from irmeta.schema.columns import Paper
from irmeta.studies.framework.claim_print import MOST_NAMED as NAMED_IN_PRINT
from irmeta.studies.framework.part_tables import not_compared
from irmeta.studies.framework.sections import data_section, tracks_without
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.framework.systems import ROLES
from irmeta.studies.papers.search_length.compute import CHAINS, TABLE_1
from irmeta.studies.papers.search_length.study import CONFIDENCE, EFFECTIVE_FRACTION, RATIO
from irmeta.studies.papers.search_length.study import SearchLengthOptions as Options

DATA = Paper("76 tracks, 4,302 runs, 5,043 queries", "Section 4.1")

COLLECTIONS = {(64, 45): "documents", (59, 54): "passages"}
"""Collections of Table 1 by the runs and judged queries of the 2020 Deep Learning track."""


def table_1_beside(
    sizes: Mapping[str, tuple[int, int]],
) -> Mapping[str, Callable[[Mapping[str, Any]], str | None]]:
    """Return the paper's numbers of Table 1, by column, as functions of the rows of ours."""
    known = {(collection, measure): values for collection, measure, *values in TABLE_1}

    def printed(row: Mapping[str, Any], at: int) -> str | None:
        collection = COLLECTIONS.get(sizes[row["track"]], "")
        value = known.get((collection, row["measure"]), (None,) * 3)[at]
        if value is None:
            return None
        return f"{value:.0%}" if at == 2 else f"{value:.0f}" if value >= 1 else f"{value:.3f}"

    columns = ("baseline_value", "contender_value", "rrie")
    return {name: partial(printed, at=i) for i, name in enumerate(columns)}


BEYOND = (
    "AP discounts rank r by 1/r, so the paper's 1/P is the search length, and the paper averages "
    "the length. nDCG, RBP and ERR discount by other functions c and take the same steps: a doc "
    "alone is worth c(SL), then docs, and then queries, are averaged as lengths.",
    "The literal 1/c is unsuitable: for nDCG it is log2(1 + SL), not a linear scale of ranks, and "
    "for RBP p^(1 - SL), which the deepest doc dominates. The measures' gains remain weights, so "
    "nDCG and ERR end at a search length in which docs of a higher grade have a larger weight. A "
    "perfect list has the value 1 after the first step, but less by RBP and ERR: the Delta-value "
    "of that step, and of the cumulative step, includes this change of scale.",
)


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 4.1)", DATA)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _headroom(tables, options)
    yield _two_techniques(tables, options)
    yield Section(
        "Reordering (Section 4.4)",
        "Steps from AP to ASL, each compared with the previous one. Delta-sort is the largest move "
        "of a system past others, in per cent of the track's systems; "
        f"better means a ratio of means of at least {RATIO:g} and a two-sided test "
        f"({options.test}) with p up to {options.alpha:g}. Delta-value is the ratio of new to old "
        "values in P space, over all systems: it is large where AP is near 0, so a few weak "
        "systems dominate its mean. Brackets show the mean minus and plus one standard deviation, "
        "as in the paper, cut to possible values. Docs that a list misses have the length of Eq. "
        "3, but at least 1 (floor), so that a short list that misses most docs may lead, or the "
        "length as if at rank D + 1, below the track's deepest rank D (depth).",
        [
            *_reordering(tables, ("AP", "P@20", "RR"), "table_2", "(Table 2 and Section 4.4)"),
            "furthest",
            "delta_sort*",
            "tau_b*",
        ],
    )
    yield Section(
        "Beyond the paper: nDCG, RBP and ERR",
        BEYOND,
        [
            *_reordering(
                tables, [chain.name for chain in CHAINS[1:]], "beyond", "by nDCG, RBP, ERR"
            ),
            "beyond_delta_sort*",
            "beyond_tau_b*",
        ],
    )
    yield Section(
        "Differences of ASL",
        f"Differences of means, less is better, with {CONFIDENCE:.0%} bootstrap "
        f"intervals over queries ({options.resamples:,} resamples). The best, second and median "
        f"system are by {options.best_by or 'the measure of the row'}.",
    )
    yield _effective_fraction(tables)
    yield Section(
        "Effect of depth (footnote 6)",
        "The maximum length of lists differs by track. Here all lists are cut at "
        f"{options.cut_depth}: docs below are not retrieved. The cut bounds ASL, so compare the "
        "orders of systems and not the values.",
        ["depth_sensitivity", "cut_lists*"],
    )


def _reordering(tables: Tables, chains: Sequence[str], name: str, what: str) -> Iterator[Show]:
    """Yield Table 2 of some chains, with both choices for docs not retrieved side by side."""
    averaged = tables["reordering"]["track"].unique(maintain_order=True).to_list()
    tracks = listed(averaged, NAMED_IN_PRINT) if averaged else "no track"
    for suffix, number, over, columns in (
        ("", "Reordering of systems by", f"mean over {tracks}", ("delta_sort", "tau")),
        ("_values", "New over old values of systems with", f"mean over all systems of {tracks}",
         ("delta_value", "delta_value_median")),
    ):  # fmt: skip
        caption = (
            f"{number} search length, step by step {what}: {over}, in brackets minus and plus one "
            "standard deviation. Docs that a list misses have the length of Eq. 3, at least 1 "
            "(floor), or that of rank D + 1 below all lists (depth)."
        )
        shown = ("change", "unretrieved", *columns)
        yield Show("table_2", shown, {"chain": chains}, "unretrieved", f"{name}{suffix}", caption)


def _headroom(tables: Tables, options: Options) -> Section:
    text = (
        "The best system of each track by four measures. P@20 and AP (its mean is MAP) reflect "
        "what a user sees, ASL@g10 the first ten relevant docs, ASL all relevant docs. The paper "
        "does not state its buckets; these are chosen by irmeta."
    )
    if options.best_by:
        text += f" The best system is here the best by {options.best_by}."
    short = tables["headroom"].filter(measure=options.asl())
    notes = []
    if tracks := short["short"].sum():
        notes.append(
            f"On {tracks} of {count(short.height, 'track')} the best system by {options.asl()} "
            "misses more relevant docs than the median system (\u2020): Eq. 3 gives a short length "
            f"to docs that a short list misses. {options.deep[options.asl()]} counts them as "
            "if at rank D + 1, below the track's deepest rank D."
        )
    best = Show("headroom", ("track", "measure", "value", "median", "system"), pivot="measure")
    shown = ["classes", best, "best_by_choice", "figure_*", "headroom_*"]
    return Section("Headroom (Section 4.2)", text, shown, notes=notes)


def _two_techniques(tables: Tables, options: Options) -> Section:
    text = f"Two systems of each track: {options.baseline} and {options.contender}. "
    used = tables["studied_tracks"].filter("used")
    rows = used.select("track", "systems", "queries").iter_rows()
    printed = table_1_beside({track: (systems, queries) for track, systems, queries in rows})
    if {options.baseline, options.contender} <= set(ROLES):
        by = options.best_by or "ASL"
        text = f"The median system by {by} and the best by {options.best_by or 'each measure'}. "
        text += "(--baseline and --contender name two groups or systems.) "
        printed = {}  # the paper's are of BM25 and of a neural system
    text += (
        "RRIE is the improvement of the second over the first, as a share of the first's distance "
        "from a perfect system (Eqs. 11 and 12)."
    )
    missing = tracks_without(tables, tables["table_1"], not_compared(tables))
    notes = [f"No system for one of the two sides: {missing}."] if missing else []
    shown = [Show("table_1", printed=printed)]
    return Section("Two techniques (Section 4.3, Table 1)", text, shown, notes=notes)


def _effective_fraction(tables: Tables) -> Section:
    row = tables["effective_summary"].row(0, named=True)
    text = (
        "An unweighted mean of precisions is a weighted mean of search lengths (Eqs. 14 and 15). "
    )
    if row["tracks"]:
        text += (
            f"It is nearest to the plain mean over the top {_percent(row, 'fraction')} of the "
            f"relevant docs, over {count(row['tracks'], 'track')} (the paper: "
            f"{EFFECTIVE_FRACTION.value}). Over the pooled queries of a run, where each doc of a "
            "query with n relevant docs has the weight 1/n, as in MAP, the share is "
            f"{_percent(row, 'pooled')}."
        )
    else:
        text += "No system retrieves a relevant doc, so the share is undefined."
    trivial = tables["effective_by_track"].filter("trivial")["track"]
    notes = [
        f"{track} is excluded from the mean: no query has two relevant docs, so the share is 100%."
        for track in trivial
    ]
    shown = ["effective_by_track", "averaged_by_ap"]
    return Section("Docs that MAP averages (Appendix A.1)", text, shown, notes=notes)


def _percent(row: dict[str, float], name: str) -> str:
    mean, sd = row[name], row[f"{name}_sd"]
    return f"{mean:.0%}" + ("" if sd != sd else f" \u00b1 {100 * sd:.0f}")


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the figures of one track, with a note if its best system has short lists."""
    asl, notes = options.asl(), []
    best = {row["measure"]: row for row in tables["best_by_choice"].iter_rows(named=True)}
    row, deep = best.get(asl), best.get(options.deep[asl])
    if row is not None and deep is not None and row["short"] and deep is not row:
        same = deep["system"] == row["system"]
        notes.append(
            f"{row['system']}, the best by {asl}, does not retrieve {row['missed']:.0%} of the "
            f"relevant docs; half of the systems miss less than {row['median_missed']:.0%}. Eq. 3 "
            "gives a short length to docs that a short list misses: by "
            f"{options.deep[asl]} the best is {'the same' if same else deep['system']}."
        )
    return Section(track, show=["figure_5*", "figure_6*"], notes=notes)
