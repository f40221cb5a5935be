"""The sections of the study's page, in the paper's order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from irmeta.phrases import count
from irmeta.studies.framework.data_section import data_section
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.papers.innovation import conclusions
from irmeta.studies.papers.innovation.beyond_sections import beyond, most_moved
from irmeta.studies.papers.innovation.options import MARKED
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.page_parts import DECLARED, POINTER, absent, sentences
from irmeta.studies.papers.innovation.paper import DATA, SLIPS

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
    yield from beyond(tables, options)


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
        ["first_places", _printed("Figure 1")],
        notes=[*absent(tables, "figure_1"), *SLIPS["Figure 1"]],
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
            _printed("Figure 2"),
        ],
        notes=[*absent(tables, "figure_2"), *SLIPS["Figure 2"]],
    )  # fmt: skip


def _power(tables: Tables, options: Options) -> Section:
    every = ("track", "level", "measure", "alpha", "test", "separated")
    papers = ("track", "measure", "alpha", "pairs", "level", "separated", "printed")
    return Section(
        "Significantly different pairs (Section 4.3, Table 1)",
        [
            "Pairs of systems at p up to the level. t-unpaired is the paper's test. Beside it are "
            "the paired t-test, Tukey's HSD without and with queries as blocks, and the randomised "
            f"HSD ({count(options.resamples, 'permutation')}). Only the HSD tests correct for the "
            "number of pairs.",
        ],
        [
            Show("table_1", every, pivot="test", caption="Significantly different pairs by test."),
            _of_paper(tables, "table_1", papers, {"test": ("t-unpaired",)}),
            _printed("Table 1"),
        ],
        notes=[*absent(tables, "table_1"), *SLIPS["Table 1"]],
    )


def _stability(tables: Tables, options: Options) -> Section:
    every = ("track", "measure", "alpha", "ties", "stability")
    papers = ("track", "measure", "alpha", "stability", "printed")
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
            Show("table_2", every, pivot="ties", caption="Stability by the rule for ties."),
            _of_paper(tables, "table_2", papers, {"ties": ("absolute",)}),
            _printed("Table 2"),
        ],
        notes=[*absent(tables, "table_2"), *SLIPS["Table 2"]],
    )


def _fewer_systems(tables: Tables, options: Options) -> Section:
    columns = ("track", "alpha", "systems", "measure", "tau_b", "draws", "undefined", "enumerated")
    return Section(
        "The number of systems (Section 4.5, Table 3)",
        f"Algorithm 1: N systems are drawn ({count(options.draws, 'draw')}) and ordered with S_d "
        "and S of the draw alone; tau-b is that of their order with their order among all systems.",
        [
            "fewer_systems",
            Show("table_3", columns, pivot="measure"),
            _printed("Table 3"),
        ],
        notes=[*absent(tables, "table_3"), *SLIPS["Table 3"]],
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
        ["table_4", _printed("Table 4")],
        notes=absent(tables, "table_4"),
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
        [*(f"{name}*" for name in FIGURES), *([most] if len(rows) else []), *most_moved(tables)],
        facts={label: facts[name] for name, label in labels.items()},
    )


def _of_paper(
    tables: Tables, name: str, columns: Sequence[str], rows: dict[str, tuple[str, ...]]
) -> Show:
    """Return the rows of a table that have the paper's value beside them."""
    values = tables[name]["printed"].drop_nulls().unique().to_list()
    caption = f"{DECLARED[name].caption.removesuffix('.')}: where the paper has values."
    return Show(name, columns, {**rows, "printed": values}, name=f"{name}_paper", caption=caption)


def _printed(item: str) -> Show:
    """Return the paper's numbers of a table or figure, folded."""
    name = f"paper_{re.sub('[^a-z0-9]+', '_', item.lower()).strip('_')}"
    columns = ("row", "column", "value")
    return Show("paper_numbers", columns, {"item": (item,)}, "column", name,
                f"The paper's {item}, as printed.")  # fmt: skip
