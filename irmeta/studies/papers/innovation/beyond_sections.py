"""The sections beyond the paper: contributions, changes of order, gaming, grades and judgments."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.papers.innovation import conclusions
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.page_parts import POINTER, absent, sentences, unknown

OWN = "each system is a group of its own"


def beyond(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections beyond the paper."""
    yield _contributions(tables, options)
    yield _swaps(tables)
    yield _gaming(tables)
    yield _grades(tables)
    yield _pool(tables)
    yield _label_sets(tables)


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
            *absent(tables, "contributions"),
            *unknown(tables, "group", "the store does not state the groups of the systems, so the "
                     "column of docs of no other group is empty"),
            *unknown(tables, "type", "the store does not state the types of the runs, so the "
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
        ["swaps*", "dethroned"],
        notes=absent(tables, "dethroned"),
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
            f"runs of a group that is there change a value. {POINTER}",
            *sentences(tables, conclusions.gaming),
        ],
        notes=[*absent(tables, "gaming_effects"), *unknown(tables, "group", OWN)],
    )


def most_moved(tables: Tables) -> list[Show]:
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


def _grades(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: grades of rare docs",
        [
            "Rareness is binary: it rewards a rare doc whatever its grade. The table says how "
            "often docs of each S_d have a higher grade (Section 4.6 as a number).",
            *sentences(tables, conclusions.grades),
        ],
        ["rare_grades"],
        notes=absent(tables, "rare_grades"),
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
        ["pool_bias"],
        notes=[
            *absent(tables, "pool_bias"),
            *unknown(tables, "group", OWN),
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
        ["label_sets", "label_confirmations"],
        notes=absent(tables, "label_sets", "the track has one qrels set"),
    )
