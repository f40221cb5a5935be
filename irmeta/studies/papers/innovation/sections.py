"""The sections of the study's page, in the paper's order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from irmeta.phrases import count
from irmeta.schema.columns import by_name
from irmeta.studies.framework.section_parts import (
    MOST_SENTENCES,
    POINTER,
    absent,
    data_section,
    sentences,
    show_printed,
    tracks_without,
)
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.papers.innovation import conclusions
from irmeta.studies.papers.innovation.options import MARKED
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.paper import DATA, SLIPS
from irmeta.studies.papers.innovation.tables import TABLES

DECLARED = by_name(TABLES)
_absent = partial(absent, DECLARED, reason="too few systems, queries or docs")
OWN = "each system is a group of its own"
WORST = 10  # systems of a track that are shown
FIGURES = ("docs_by_holders", "figure_1", "figure_2", "contributions", "overlap", "gaming",
           "rare_grades", "pool_bias")  # fmt: skip
"""The figures of a track, in the order of the page."""
_COUNTED = {
    "pooled": ("pooled systems", ""),
    "others": (
        "systems of other groups",
        " S and S_d also count the group of the system itself, once. Tables of docs count all "
        "systems.",
    ),
}
"""Words for the values of `counted` that need other words, each with a note."""


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 4.1)", DATA)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _measures(tables, options)
    yield _made_systems(tables, options)
    yield _orders(tables, options)
    yield _power(tables, options)
    yield _stability(tables, options)
    yield _fewer_systems(tables, options)
    yield _examples(tables, options)
    yield _contributions(tables, options)
    yield _swaps(tables)
    yield _gaming(tables)
    yield _grades(tables)
    yield _pool(tables)
    yield _label_sets(tables)


def _measures(tables: Tables, options: Options) -> Section:
    p, ap = options.families()
    rarity = "" if options.rarity == "linear" else f" The rarity here is {options.rarity}."
    counted, note = _COUNTED.get(options.counted, (options.counted, ""))
    text = [
        f"A relevant doc in the top {options.k} of a list earns 1 + alpha R(d) in place of 1, "
        f"where R(d) is its rarity: {p} and {ap} are P@{options.k} and AP@{options.k} at alpha = 0 "
        "(Eqs. 1 and 3). By linear rarity R(d) = 1 - S_d/S (Eq. 2). S_d is how many of the S "
        f"{counted} retrieve the doc within rank {options.held_to}; systems without a list for the "
        f"query count in S.{note}{rarity}",
        "For each alpha the values are P + alpha B and AP + alpha C, and B and C do not depend on "
        "alpha. So each alpha at which two systems change places is exact, and no sample of "
        f"systems is scored again. {POINTER}",
        *sentences(tables, conclusions.rarity),
    ]
    return Section("Measures (Section 2)", text, notes=SLIPS["Section 2"])


def _made_systems(tables: Tables, options: Options) -> Section:
    return Section(
        "Hypothetical systems (Section 3, Figure 1)",
        "On one query, two hypothetical systems join the real ones: S_rare retrieves D new "
        "relevant docs that no other system has, S_common the D relevant docs that most systems "
        "retrieve. The rank of a hypothetical system is 1 + the systems above it + half of those "
        "that tie with it. D runs to the cutoff, or to the length "
        "of the longest list. The query is that of the paper where the track has it, else the "
        "first with the median number of relevant docs (--query). S_rare is first from the least "
        f"D on which it alone has rank 1; the paper's D are those of its own topic. {POINTER}",
        ["first_places", show_printed("Figure 1")],
        notes=[*_absent(tables, "figure_1"), *SLIPS["Figure 1"]],
    )


def _orders(tables: Tables, options: Options) -> Section:
    rows = {"alpha": MARKED, "method": ("tau-b",)}
    return Section(
        "Orders of systems (Section 4.2, Figure 2)",
        "Kendall's tau-b of the order of systems by each alpha with that by alpha = 0; means that "
        "are equal to 12 digits tie. The figures of tracks also show tau_AP,b, the AP correlation "
        f"of orders with ties (Urbano and Marrero 2017). {POINTER}",
        [
            "figure_2_tracks",
            Show("figure_2", ("track", "alpha", "measure", "value"), rows, "measure",
                 caption="Tau-b with the order by alpha = 0 (Figure 2)."),
            show_printed("Figure 2"),
        ],
        notes=[*_absent(tables, "figure_2"), *SLIPS["Figure 2"]],
    )  # fmt: skip


def _power(tables: Tables, options: Options) -> Section:
    every = ("track", "level", "measure", "alpha", "test", "separated")
    papers = ("measure", "alpha", "track", "level", "separated", "printed")
    pairs = tables["table_1"].select("track", "pairs").unique(maintain_order=True)
    of = "; ".join(f"{track}: {number:,}" for track, number in pairs.iter_rows())
    of = f", of all pairs of {of}" if pairs.height <= MOST_SENTENCES else ""
    return Section(
        "Significantly different pairs (Section 4.3, Table 1)",
        [
            "Pairs of systems at p up to the level. t-unpaired is the paper's test. Beside it are "
            "the paired t-test, Tukey's HSD without and with queries as blocks, and the randomised "
            f"HSD ({count(options.resamples, 'permutation')}). Only the HSD tests correct for the "
            "number of pairs.",
        ],
        [
            Show(
                "table_1",
                papers,
                {"test": ("t-unpaired",)},
                ("track", "level"),
                best="column",
                caption=f"Significantly different pairs (Table 1){of}.",
            ),
            Show(
                "table_1",
                every,
                pivot="test",
                name="table_1_tests",
                caption="Significantly different pairs by test.",
            ),
            show_printed("Table 1"),
        ],
        notes=[*_absent(tables, "table_1"), *SLIPS["Table 1"]],
    )


def _stability(tables: Tables, options: Options) -> Section:
    every = ("track", "measure", "alpha", "ties", "stability")
    papers = ("measure", "alpha", "track", "stability", "printed")
    of_paper = {"ties": ("absolute",), "measure": options.families()}
    return Section(
        "Stability (Section 4.4, Table 2)",
        [
            f"In each of {count(options.trials, 'trial')}, half of the queries order the systems. "
            "The stability of a pair is the share of trials in which the system that is better "
            f"more often is better. Means tie up to {options.fuzziness:g} (absolute), up to that "
            "share of the greater (relative) or where they are equal (none). A tie counts for "
            "neither system. Under mix=convex, measures follow Eq. 4, at alphas up to 1.",
        ],
        [
            Show("table_2", papers, of_paper, "track", best="column"),
            Show(
                "table_2",
                every,
                pivot="ties",
                name="table_2_ties",
                caption="Stability by the rule for ties.",
            ),
            show_printed("Table 2"),
        ],
        notes=[*_absent(tables, "table_2"), *SLIPS["Table 2"]],
    )


def _fewer_systems(tables: Tables, options: Options) -> Section:
    papers = ("track", "measure", "alpha", "systems", "tau_b", "printed")
    columns = ("track", "alpha", "systems", "measure", "tau_b", "draws", "undefined", "enumerated")
    return Section(
        "The number of systems (Section 4.5, Table 3)",
        f"Algorithm 1: N systems are drawn ({count(options.draws, 'draw')}) and ordered with S_d "
        "and S of the draw alone; tau-b is that of their order with their order among all systems.",
        [
            "fewer_systems",
            Show("table_3", papers, pivot="systems"),
            Show(
                "table_3",
                columns,
                pivot="measure",
                page_only=True,
                caption="Draws of fewer systems.",
            ),
            show_printed("Table 3"),
        ],
        notes=[*_absent(tables, "table_3"), *SLIPS["Table 3"]],
    )


def _examples(tables: Tables, options: Options) -> Section:
    text = (
        "Relevant docs of some queries, whose rarities lie as evenly as possible between the least "
        "and the greatest of the query. The table file also has the systems that retrieve each "
        "doc, with its ranks."
    )
    if options.texts is None:
        text += " Without a file of texts (--texts) the relevant content is empty."
    return Section(
        "Rare and common docs (Section 4.6, Table 4)",
        text,
        ["table_4", show_printed("Table 4")],
        notes=_absent(tables, "table_4"),
    )


def _contributions(tables: Tables, options: Options) -> Section:
    columns = ("track", "name", "systems", "found", "unique", "share", "mean_rarity")
    return Section(
        "Beyond the paper: who retrieves what no other does",
        [
            f"Relevant docs within rank {options.k}: all that a system, a group or a type of run "
            "retrieves, and those that no other does. The greedy order takes, one after the other, "
            f"the system that adds the most docs. {POINTER}",
            *sentences(tables, conclusions.contributions),
        ],
        [
            "greedy*",
            Show("contributions", columns, {"level": ("type",)}, name="contributions_types",
                 caption="Relevant docs that types of runs retrieve."),
            Show("contributions", columns, {"level": ("group",)}, name="contributions_groups",
                 caption="Relevant docs that groups retrieve."),
        ],
        notes=[
            *_absent(tables, "contributions"),
            *_unknown(tables, "group", "the store does not state the groups of the systems, so the "
                     "column of docs of no other group is empty"),
            *_unknown(tables, "type", "the store does not state the types of the runs, so the "
                     "column of docs of no other type is empty"),
        ],
    )  # fmt: skip


def _swaps(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: pairs that change places",
        [
            "The alpha at which two systems have equal values is "
            "-(P_a - P_b) / (B_a - B_b), and likewise for AP. The table `swaps` has every pair "
            "that changes places for an alpha up to 1.",
            *sentences(tables, conclusions.swaps),
        ],
        ["swaps*"],
        notes=_absent(tables, "dethroned"),
    )


def _gaming(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: runs that change the ranks of others",
        [
            "A group adds clones of its best run, empty runs, or a spoiler: a run that retrieves "
            "what only the best system retrieves. Ranks are among the systems that are not added. "
            "If systems are counted, clones make the docs of a run common, so that honest variants "
            "of it are punished. If each group counts the others, its empty runs make the docs of "
            "all others rarer, but not its own. If groups are counted, neither clones nor empty "
            f"runs of an existing group change a value. {POINTER}",
            *sentences(tables, conclusions.gaming),
        ],
        notes=[*_absent(tables, "gaming_effects"), *_unknown(tables, "group", OWN)],
    )


def _grades(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: grades of rare docs",
        [
            "Rareness is binary: it rewards a rare doc whatever its grade. The table says how "
            "often docs of each S_d have a higher grade (Section 4.6 as a number).",
            *sentences(tables, conclusions.grades),
        ],
        notes=_absent(tables, "rare_grades"),
    )


def _pool(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: systems that the pool did not know (Section 5.4)",
        [
            "For each group, the docs that it alone put into the pool become unjudged, and S and "
            "S_d are those of the other systems. The ranks of its systems before and after say "
            "how a new system of this kind would fare: it loses the docs that it alone found, but "
            f"its other docs become rarer, for it does not count in S_d. {POINTER}",
            *sentences(tables, conclusions.pool),
        ],
        notes=[
            *_absent(tables, "pool_bias"),
            *_unknown(tables, "group", OWN),
        ],
    )


def _label_sets(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: other judgments",
        [
            "The orders of systems by another qrels set of the track, and how many relevant docs "
            "of one set the other confirms: docs that few systems retrieve (S_d of 1 or 2), and "
            "docs that many do (S_d > S/2).",
            *sentences(tables, conclusions.labels),
        ],
        notes=_absent(tables, "label_sets", reason="the track has one qrels set"),
    )


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: conclusions, figures, and its systems."""
    facts = tables["studied_tracks"].row(0, named=True)
    labels = {"systems": "systems", "queries": "queries with a relevant doc"}
    of_system = tables["contributions"].filter(level="system")
    rows = of_system.sort("unique", "found", "name", descending=[True, True, False])["name"]
    columns = ("name", "found", "unique", "unique_to_group", "unique_to_type", "share",
               "mean_rarity")  # fmt: skip
    most = Show(
        "contributions",
        columns,
        {"level": ("system",), "name": rows.head(WORST).to_list()},
        caption=f"The {count(min(WORST, len(rows)), 'system')} with most relevant docs that no "
        "other system retrieves.",
    )
    return Section(
        track,
        list(conclusions.conclusions(tables, track)),
        [*(f"{name}*" for name in FIGURES), *([most] if len(rows) else []), *_most_moved(tables)],
        facts={label: facts[name] for name, label in labels.items()},
    )


def _most_moved(tables: Tables) -> list[Show]:
    """Return the added runs of the group of a track whose best system changes its rank most."""
    change = (pl.col("rank_after") - pl.col("rank_before")).abs()
    most = tables["gaming_effects"].sort(change, descending=True, maintain_order=True)
    columns = ("attack", "counted", "measure", "system", "rank_before", "rank_after", "moved",
               "furthest", "tau_b", "tau_b_plain")  # fmt: skip
    return [
        Show(
            "gaming_effects",
            columns,
            {"target": [group]},
            caption=f"Ranks after {group} adds runs: no system of another group moves more.",
        )
        for group in most["target"].head(1)
    ]


def _unknown(tables: Tables, level: str, text: str) -> list[str]:
    """Return a note on the included tracks whose groups or types of runs are unknown."""
    tracks = tracks_without(tables, tables["contributions"].filter(level=level))
    return [f"On {tracks}, {text}."] if tracks else []
