"""The study of innovation: its paper, options and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Literal, NamedTuple

from irmeta.options import option
from irmeta.policies import Counted, Rarity
from irmeta.schema.columns import (
    DOC,
    GRADE,
    MEASURE,
    QUERY,
    SYSTEM,
    TRACK,
    Column,
    Table,
    by_name,
    percent,
    stored,
)
from irmeta.studies.framework.study import (
    GroupedOptions,
    Study,
    printed_numbers,
    read_printed,
    table_over_tracks,
    values_of,
)

SOURCE = (
    "Türkmen, Lease and Kutlu 2023, New Metrics to Encourage Innovation and Diversity in "
    "Information Retrieval Approaches, doi:10.1007/978-3-031-28238-6_16"
)

COLLECTIONS: Mapping[str, tuple[int, int]] = {
    "TREC-5": (61, 50),
    "TREC-8": (129, 50),
    "WT14": (29, 50),
    "DLT20": (64, 45),
}
"""Systems and queries of each collection; the number of pairs in Table 1 gives the systems."""
PAPER_ALPHAS = (0.0, 0.5, 1.0)
PAPER_LEVELS = (95, 99)
PAPER_SIZES = (2, 4, 8, 16, 32, 64)
PAPER_MEASURES = {"RareP": "P@100", "RareAP": "AP"}
"""The measures of rareness, and the paper's name of each at alpha = 0."""


class Cell(NamedTuple):
    """A cell of Table 1 or 2: collection, measure, alpha, and in Table 1 the level."""

    collection: str
    measure: str
    alpha: float
    level: int = 0


def _cells(level: int = 0) -> Iterator[Cell]:
    for measure, alpha, collection in product(PAPER_MEASURES, PAPER_ALPHAS, COLLECTIONS):
        yield Cell(collection, measure, alpha, level)


def _row(measure: str, alpha: float) -> str:
    """Return the name of a row of Tables 1 and 2."""
    return f"{measure}, alpha = {alpha:g}" if alpha else PAPER_MEASURES[measure]


NOTATION = {"RareP": "P{@}_{Rareness}", "RareAP": "AP{@}_{Rareness}"}
"""The paper's names of measures."""
NUMBERS = read_printed("irmeta.studies.papers.innovation")
"""All numbers of the papers, with the digits that they print."""
_VALUES = values_of(NUMBERS)

PAPER_FIRST_PLACES = {
    alpha: _VALUES[
        "Figure 1", f"topic 1127540 of DLT20, alpha = {alpha:g}", "first place of S_rare"
    ].removeprefix("D = ")
    for alpha in PAPER_ALPHAS
}
"""Figure 1: the least D of S_rare on rank 1 by alpha, on topic 1127540 of DLT20."""
PAPER_SEPARATED = {
    cell: int(_VALUES["Table 1", _row(cell.measure, cell.alpha), f"{cell.collection}, {level}%"])
    for level in PAPER_LEVELS
    for cell in _cells(level)
}
"""Table 1: significantly different pairs."""
PAPER_STABILITY = {
    cell: _VALUES["Table 2", _row(cell.measure, cell.alpha), cell.collection] for cell in _cells()
}
"""Table 2: stability, as printed."""
PAPER_FEWER_SYSTEMS = {
    (measure, size): _VALUES["Table 3", f"TREC-8, {measure}", f"N = {size}"]
    for measure in PAPER_MEASURES
    for size in PAPER_SIZES
}
"""Table 3: tau of N systems of TREC-8 at alpha = 1 by measure and N, as printed."""
PAPER_RARITY = {
    tuple(row.replace("topic ", "").split(", ")): value
    for (item, row, _), value in _VALUES.items()
    if item == "Table 4"
}
"""Table 4: rarity by collection, query and doc, as printed."""


def collection_of(systems: int, queries: int) -> str | None:
    """Return the paper's collection with the same numbers of systems and queries."""
    return next((name for name, size in COLLECTIONS.items() if size == (systems, queries)), None)


MEASURES = ("RareP", "RareAP")
"""The measures of the paper; at alpha = 0 they are P and AP."""
ALPHAS = (0.5, 1.0)
"""The paper's weights of rarity in Tables 1 and 2 and in Figure 1, beside 0."""
MARKED = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The paper's weights of rarity in Figure 2."""
GRID = tuple(i / 100 for i in range(101))
"""The weights of rarity at which Figure 2 is computed."""
FUZZINESS = 0.05
"""Difference, or share of the greater mean, up to which means tie in Table 2."""
PAPER_QUERY = "1127540"
"""The query of the paper's Figure 1."""
EXAMPLES, DOCS = 6, 5
"""Number of queries in Table 4, and of docs of each."""
Mix = Literal["add", "convex"]
Settings = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class InnovationOptions(GroupedOptions):
    """Options of the study of innovation."""

    system: tuple[str, ...] | None = option(
        None,
        "None: the study counts the rarity of docs over all systems.",
        flag="",
        parse="irmeta.policies:no_systems",
    )
    k: int = option(100, "Cutoff of all measures.", least=1)
    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1, "Least relevant grade.", least=1, most=127
    )
    rarity_depth: int | None = option(
        None, "Deepest rank at which S_d counts a doc; default the cutoff.", least=1
    )
    counted: Counted = option(
        "systems",
        "What S and S_d count: systems; groups; for each group the systems of others, and itself "
        "once; systems that contributed to the pool.",
    )
    rarity: Rarity = option(
        "linear",
        "Rarity of a doc under Eq. 1: 1 - S_d/S; 1 - (S_d - 1)/(S - 1); log(S/S_d)/log(S); 1 if "
        "S_d = 1, else 0.",
    )
    rarity_weights: tuple[float, ...] = option(
        (),
        "Weights of rarity in Tables 1 and 2 and in Figure 1, beside 0 (repeatable); default 0.5 "
        "and 1.",
        least=0,
        flag="--rarity-weight",
    )
    resamples: int = option(2_000, "Permutations of the randomised HSD in Table 1.", least=1)
    trials: int = option(1_000, "Random sets of queries in Table 2.", least=1)

    sizes: tuple[int, ...] = option(
        (),
        "Numbers of systems in Table 3 (repeatable); default 2, 4, 8, ... up to all.",
        least=2,
        flag="--size",
    )
    draws: int = option(1_000, "Random sets of systems of each size in Table 3.", least=1)
    draw_rarity_weights: tuple[float, ...] = option(
        (),
        "Weights of rarity in Table 3 (repeatable); default 1.",
        least=0,
        flag="--draw-rarity-weight",
    )
    figure_query: str | None = option(
        None,
        f"Query of Figure 1; default {PAPER_QUERY}, else the first query with the median number of "
        "relevant docs.",
        names="query",
    )
    examples: tuple[str, ...] = option(
        (),
        "Queries of Table 4 (repeatable); default six at random.",
        flag="--example",
        names="query",
    )
    texts: str | None = option(
        None,
        "Texts of the docs in Table 4: a line per doc, its name, a tab and its text.",
        file=True,
        metavar="FILE",
    )
    seed: int = option(0, "Random seed.", least=0)

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {
            "rarity_depth": self.held_to,
            "rarity_weights": self.weights,
            "sizes": "2, 4, 8, ... up to all systems of a track",
            "draw_rarity_weights": self.drawn_weights,
            "figure_query": f"{PAPER_QUERY}, or the first of the median number of relevant docs",
            "examples": f"{EXAMPLES} at random",
            "texts": "not given",
        }

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of rarity in Tables 1 and 2 and in Figure 1, 0 included."""
        return tuple(sorted({0.0, *(self.rarity_weights or ALPHAS)}))

    @property
    def drawn_weights(self) -> tuple[float, ...]:
        """The weights of rarity in Table 3."""
        return tuple(sorted(set(self.draw_rarity_weights or (1.0,))))

    @property
    def is_papers(self) -> bool:
        """Whether the measures are the paper's, so that its numbers are comparable."""
        return (self.k, self.rel, self.held_to, self.counted, self.rarity) == (
            100, 1, 100, "systems", "linear",
        )  # fmt: skip

    @property
    def held_to(self) -> int:
        """The deepest rank at which S_d counts a doc."""
        return self.rarity_depth or self.k

    @property
    def counted_docs(self) -> Counted:
        """Value of `counted` in tables of docs, where each doc has one S_d: never ``others``."""
        return "systems" if self.counted == "others" else self.counted

    def name(self, measure: str, alpha: float, mix: Mix = "add") -> str:
        """Return the canonical name of a measure, P and AP for ``alpha = 0``."""
        if alpha == 0:
            return _canonical(measure.removeprefix("Rare"), (("rel", self.rel),), self.k)
        return _canonical(measure, (("alpha", alpha), *self._settings(mix)), self.k)

    def family(self, measure: str, mix: Mix = "add") -> str:
        """Return the canonical name of a measure of rareness without its alpha."""
        name = _canonical(measure, (("alpha", 1), *self._settings(mix)), self.k)
        return re.sub(r"alpha=1,?", "", name).replace("()", "")

    def families(self, mix: Mix = "add") -> tuple[str, ...]:
        """Return the canonical names of RareP and RareAP without their alpha."""
        return tuple(self.family(measure, mix) for measure in MEASURES)

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        added = [self.name(m, a) for m in MEASURES for a in self.weights]
        convex = [self.name(m, a, "convex") for m in MEASURES for a in self.convex_weights]
        return tuple(dict.fromkeys([*added, *convex]))

    @property
    def convex_weights(self) -> tuple[float, ...]:
        """The weights of rarity of Eq. 4 in Table 2: above 0, and at most 1."""
        return tuple(alpha for alpha in self.weights if 0 < alpha <= 1)

    def sizes_of(self, systems: int) -> Sequence[int]:
        """Return the numbers of systems in Table 3, of those in the track."""
        doubled = (2**j for j in range(1, systems.bit_length()))
        return [n for n in sorted(set(self.sizes or doubled)) if n <= systems]

    def _settings(self, mix: Mix) -> Settings:
        settings = (
            ("mix", mix),
            ("counted", self.counted),
            ("depth", self.rarity_depth),
            ("rel", self.rel),
        )
        return settings if mix == "convex" else (*settings, ("rarity", self.rarity))


@cache  # the study asks hundreds of times for each track
def _canonical(measure: str, settings: Settings, k: int) -> str:
    from irmeta.measures.names import canonical_name

    written = ",".join(f"{name}={value}" for name, value in settings if value is not None)
    return canonical_name(f"{measure}({written})@{k}")


HOME = "irmeta.studies.papers.innovation"

FAMILY = Column("name", "measure without its alpha; at alpha = 0, RareP is P and RareAP is AP")
ALPHA = Column("real", "weight of rarity", format="g")
TAU = Column("real", "Kendall's tau-b; NaN: undefined", format=".3f", label="tau-b")
PRINTED = Column("text", "the paper's value, where a collection of the paper has as many systems "
                 "and queries; null: none", True, format="paper", label="paper")  # fmt: skip
COUNTED = Column("name", "what S and S_d count: systems, groups, or others")
HELD = Column(
    "count", "S_d: number of counted systems or groups that retrieve the doc", label="S_d"
)
ATTACK = Column("name", "runs that a group adds, such as 5 clones; none: no run")
ATTACKED = Column("name", "canonical name of the measure where S and S_d count systems")
TARGET = Column("name", "group that adds the runs; a system without a group is its own")


def _rank(when: str) -> Column:
    return Column("real", f"rank {when}; ties share the mean rank", format=".1f")


TABLES = (
    Table("docs_by_holders", ("track", "retrieved_by"), {
        "track": TRACK,
        "retrieved_by": HELD,
        "counted": Column("count", "S: number of counted systems or groups", label="S"),
        "rarity": Column("real", "rarity of such a doc; 1 for S_d = 0", format=".3f"),
        "docs": Column("big", "relevant docs"),
    }, caption="Relevant docs by the number of systems that retrieve them.", folded=True,
       rows=f"{HOME}.rare_track:docs_by_holders"),
    Table("figure_1", ("track", "query", "made", "alpha", "docs"), {
        "track": TRACK,
        "query": QUERY,
        "made": Column("name", "hypothetical system: rare, with docs that no other system has, "
                       "or common, with those that most systems retrieve", label="system"),
        "alpha": ALPHA,
        "docs": Column("count", "D: relevant docs of the hypothetical system", label="D"),
        "value": Column("real", "RareP of the hypothetical system", format="score"),
        "rank": _rank("of the hypothetical system among all systems and itself, 1 is best"),
        "systems": stored("count", "systems, with the hypothetical one"),
    }, caption="Rank of a hypothetical system by the number of its relevant docs (Figure 1).",
       folded=True, latex=False),
    Table("first_places", ("track", "alpha"), {
        "track": TRACK,
        "query": QUERY,
        "relevant": Column("count", "relevant docs of the query", label="relevant docs"),
        "median_relevant": Column("count", "median of the relevant docs of the queries that have "
                                  "any, the lower of two", label="median of the track"),
        "alpha": ALPHA,
        "first": Column("count", "least D from which S_rare is alone on rank 1; null: no D up to "
                        "`most`", True, label="first from D"),
        "most": stored("count", "greatest D: the cutoff, or the length of the longest list"),
        "printed": Column("text", "the paper's D on topic 1127540 of DLT20; null: other measures",
                          True, format="paper", label="the paper's D, DLT20"),
    }, caption="First place of S_rare (Figure 1)."),
    Table("figure_2", ("track", "measure", "alpha", "method"), {
        "track": TRACK,
        "measure": FAMILY,
        "alpha": ALPHA,
        "method": Column("name", "correlation: tau-b, or tau-ap-b: tau_AP,b, the AP correlation "
                         "of orders with ties"),
        "value": Column("real", "correlation of the orders of systems by this alpha and by alpha "
                        "= 0; NaN: undefined", format=".3f"),
    }, caption="Correlation of the orders of systems by alpha (Figure 2).", folded=True,
       latex=False, rows=f"{HOME}.compute:figure_2"),
    Table("table_1", ("track", "measure", "alpha", "test", "level"), {
        "track": TRACK,
        "measure": FAMILY,
        "alpha": ALPHA,
        "test": Column("name", "significance test; t-unpaired is the paper's"),
        "level": Column("real", "significance level; 0.05 is the paper's 95%", format="g",
                        label="p \u2264"),
        "separated": Column("count", "significantly different pairs"),
        "pairs": Column("count", "unordered pairs of systems"),
        "percent": Column("real", "100 separated / pairs; NaN: no pairs, or fewer than two queries",
                          unit="%", format=".1f", label="share"),
        "printed": PRINTED,
    }, caption="Significantly different pairs (Table 1).", rows=f"{HOME}.compute:table_1"),
    Table("table_2", ("track", "measure", "alpha", "ties"), {
        "track": TRACK,
        "measure": FAMILY,
        "alpha": ALPHA,
        "ties": Column("name", "means tie up to a fixed difference (absolute; the paper's code: "
                       "0.05), up to a share of the greater (relative), or if equal (none)"),
        "stability": Column("real", "mean over pairs of the share of trials in which the same "
                            "system is better; a tie is a trial for neither; NaN: undefined",
                            format=".3f"),
        "first_trials": stored("real", "stability after the first 100 trials; NaN: undefined"),
        "tied": percent("share of trials and pairs that tie; NaN: undefined"),
        "size": stored("count", "queries of a trial"),
        "trials": stored("count", "trials"),
        "printed": PRINTED,
    }, caption="Stability of measures (Table 2).", rows=f"{HOME}.compute:table_2"),
    Table("table_3", ("track", "measure", "alpha", "systems"), {
        "track": TRACK,
        "measure": FAMILY,
        "alpha": ALPHA,
        "systems": Column("count", "N: systems of a draw", label="N"),
        "draws": Column("count", "draws with a tau-b"),
        "undefined": Column("count", "draws without a tau-b, because all systems tie"),
        "enumerated": Column("yes", "whether the draws are all sets of N systems, each once"),
        "tau_b": Column("real", "mean tau-b of the order of N systems by their own rarity with "
                        "their order among all; NaN: undefined", format=".3f", label="tau-b"),
        "sd": stored("real", "standard deviation over draws; NaN: fewer than two"),
        "printed": PRINTED,
    }, caption="Orders of fewer systems, by Algorithm 1 (Table 3).",
       rows=f"{HOME}.compute:table_3"),
    Table("table_4", ("track", "query", "doc"), {
        "track": TRACK,
        "query": QUERY,
        "doc": DOC,
        "rarity": Column("real", "rarity of the doc; 1 for S_d = 0", format=".2f"),
        "retrieved_by": HELD,
        "grade": GRADE,
        "best_rank": Column("count", "best rank of the doc in a list; null: not retrieved", True,
                            label="best rank", show="page"),
        "median_rank": Column("real", "median of its ranks within the depth of S_d; NaN: none",
                              format=".1f", label="median rank", show="page"),
        "held_by": Column("text", "systems that retrieve the doc within the depth of S_d, each "
                          "with its rank, best first; null: none", True, show="none"),
        "text": Column("text", "text of the doc; null: not given", True, label="relevant content"),
        "printed": PRINTED,
    }, caption="Relevant docs of different rarity (Table 4).",
       rows=f"{HOME}.rare_track:table_4"),
    Table("contributions", ("track", "level", "name"), {
        "track": TRACK,
        "level": Column("name", "system, group or type of run"),
        "name": Column("name", "system, group or type"),
        "systems": Column("count", "its systems"),
        "found": Column("big", "relevant docs that it retrieves within the cutoff"),
        "unique": Column("big", "of them, docs that no other system, group or type retrieves"),
        "unique_to_group": Column("big", "of those of a system, docs that no other group "
                                  "retrieves; null: no groups are known, or no system", True),
        "unique_to_type": Column("big", "of those of a system, docs that no other type of run "
                                 "retrieves; null: no types are known, or no system", True),
        "share": percent("found over the docs that any system retrieves; NaN: none", "share"),
        "mean_rarity": Column("real", "mean of 1 - S_d/S over the docs in found; NaN: none",
                              format=".3f", label="mean rarity"),
    }, caption="Relevant docs that systems, groups and types of runs retrieve.", folded=True,
       rows=f"{HOME}.rare_track:contributions"),
    Table("greedy", ("track", "order"), {
        "track": TRACK,
        "order": Column("count", "place of the system, from 1", label="place"),
        "system": SYSTEM,
        "added": Column("big", "relevant docs that no system before it retrieves"),
        "covered": Column("big", "relevant docs that the systems so far retrieve"),
        "share": percent("covered over the docs that any system retrieves; NaN: none", "covered"),
    }, caption="The order of systems that covers the relevant docs fastest.", folded=True,
       rows=f"{HOME}.rare_track:greedy"),
    Table("overlap", ("track", "place_a", "place_b"), {
        "track": TRACK,
        "place_a": stored("count", "place of system_a in the clustered order, from 1"),
        "place_b": stored("count", "place of system_b, after that of system_a"),
        "system_a": SYSTEM,
        "system_b": SYSTEM,
        "jaccard": Column("real", "relevant docs that both retrieve over those that either does; "
                          "NaN: none", format=".3f", label="Jaccard"),
    }, caption="Overlap of the relevant docs of systems.", folded=True, latex=False,
       rows=f"{HOME}.rare_track:overlap"),
    Table("swaps", ("track", "measure", "system_a", "system_b"), {
        "track": TRACK,
        "measure": FAMILY,
        "system_a": Column("name", "system that is better at alpha = 0"),
        "system_b": Column("name", "system that is better above alpha"),
        "alpha": Column("real", "alpha at which both are equal, below 1", format=".4f"),
    }, caption="Pairs of systems that change places for an alpha up to 1.", folded=True,
       latex=False, rows=f"{HOME}.compute:swaps"),
    Table("dethroned", ("track", "measure"), {
        "track": TRACK,
        "measure": FAMILY,
        "pairs": Column("count", "unordered pairs of systems"),
        "swapped": Column("count", "pairs that change places for an alpha up to 1"),
        "best": Column("name", "best system at alpha = 0; the first by name of equal ones"),
        "alpha": Column("real", "least alpha above which another system is better; null: none",
                        True, format=".4f"),
        "next": Column("name", "that system; null: none", True),
    }, caption="The least alpha above which another system is best.",
       rows=f"{HOME}.compute:dethroned",
       section="Beyond the paper: pairs that change places"),
    Table("gaming", ("track", "target", "attack", "counted", "measure", "system"), {
        "track": TRACK,
        "attack": ATTACK,
        "target": TARGET,
        "counted": COUNTED,
        "measure": ATTACKED,
        "system": SYSTEM,
        "value": Column("real", "mean after the runs are added, to 12 digits", format="score"),
        "rank": _rank("among the systems that are not added"),
    }, caption="Values and ranks after a group adds runs.", apart=True, latex=False),
    Table("gaming_effects", ("track", "target", "attack", "counted", "measure"), {
        "track": TRACK,
        "attack": ATTACK,
        "target": TARGET,
        "counted": COUNTED,
        "measure": ATTACKED,
        "system": Column("name", "best system of the group before"),
        "rank_before": _rank("of that system before"),
        "rank_after": _rank("of that system after"),
        "moved": Column("count", "systems whose rank changes"),
        "furthest": Column("real", "greatest change of a rank", format=".1f"),
        "tau_b": Column("real", "tau-b of the orders before and after; NaN: undefined",
                        format=".3f", label="tau-b"),
        "tau_b_plain": Column("real", "tau-b of the order after with that by alpha = 0; NaN: "
                              "undefined", format=".3f", label="tau-b with alpha = 0"),
    }, caption="Ranks after a group adds runs.", folded=True, latex=False),
    Table("rare_grades", ("track", "low", "grade"), {
        "track": TRACK,
        "low": Column("count", "least S_d", label="S_d from"),
        "high": Column("count", "greatest S_d", label="to"),
        "grade": Column("grade", "grade in the chosen qrels set"),
        "docs": Column("big", "relevant docs of such an S_d"),
        "of_grade": Column("big", "of them, docs of this grade"),
        "share": percent("of_grade / docs; NaN: no docs", "of the grade"),
        "share_at_least": percent("share of docs of this grade or higher; NaN: no docs",
                                  "of the grade or higher"),
    }, caption="Grades of relevant docs by the number of systems that retrieve them.",
       rows=f"{HOME}.rare_track:rare_grades", section="Beyond the paper: grades of rare docs"),
    Table("pool_bias", ("track", "left_out", "system", "measure"), {
        "track": TRACK,
        "left_out": Column("name", "group that is left out; a system without a group is its own"),
        "system": Column("name", "system of that group"),
        "measure": MEASURE,
        "pooled": Column("yes", "whether the system contributed to the pool; null: unknown", True),
        "value_before": Column("real", "mean by all judgments and all systems", format="score"),
        "value_after": Column("real", "mean without the docs that the group alone pooled, and "
                              "with S_d of the other systems", format="score"),
        "rank_before": _rank("by all judgments and all systems"),
        "rank_after": _rank("without the group in the pool and in S_d"),
        "judged": percent("mean share of judged docs within the cutoff, after", "judged"),
        "judged_lost": Column("big", "judged docs that become unjudged"),
        "relevant_lost": Column("big", "relevant docs that become unjudged"),
    }, caption="Systems whose group is left out of the pool and of S_d.", folded=True, latex=False,
       rows=f"{HOME}.compute:pool_bias", section="Beyond the paper: systems that the pool"),
    Table("label_sets", ("track", "qrels", "measure", "alpha"), {
        "track": TRACK,
        "qrels": Column("name", "other qrels set"),
        "measure": FAMILY,
        "alpha": ALPHA,
        "queries": Column("count", "queries that both sets judge (or for queries=relevant, with a "
                          "relevant doc in both)"),
        "tau_b": Column("real", "tau-b of the orders of systems by both sets; NaN: undefined",
                        format=".3f", label="tau-b"),
    }, caption="Orders of systems under the other qrels sets of a track.",
       section="Beyond the paper: other judgments"),
    Table("label_confirmations", ("track", "relevant_in", "judged_in", "retrieved_by"), {
        "track": TRACK,
        "relevant_in": Column("name", "qrels set in which the docs are relevant"),
        "judged_in": Column("name", "qrels set that confirms them"),
        "retrieved_by": Column("name", "S_d: none (0), few (1 or 2), or many (more than half of "
                               "those counted)", label="S_d"),
        "docs": Column("big", "relevant docs"),
        "confirmed": Column("big", "of them, docs that are relevant in the other set"),
        "unjudged": Column("big", "of them, docs that the other set does not judge"),
        "share": percent("confirmed / docs; NaN: no docs", "share confirmed"),
    }, caption="Relevant docs that another qrels set confirms.",
       section="Beyond the paper: other judgments"),
    printed_numbers(),
)  # fmt: skip


OVER_TRACKS = {
    table: table_over_tracks(by_name(TABLES)[table], keys, values, caption=caption,
                             rows=f"{HOME}.compute:{table}_tracks")
    for table, keys, values, caption in (
        ("table_1", ("measure", "alpha", "test", "level"), ("percent",),
         "Significantly different pairs in % of all, mean over tracks (Table 1)."),
        ("table_2", ("measure", "alpha", "ties"), ("stability",),
         "Stability of measures, mean over tracks (Table 2)."),
        ("table_3", ("measure", "alpha", "systems"), ("tau_b",),
         "Orders of fewer systems, mean over tracks (Table 3)."),
    )
}  # fmt: skip
"""The tables over tracks, by the table of tracks that they average."""


STUDY = Study(
    name="innovation",
    title="Innovation",
    paper=SOURCE,
    gives="Measures that reward relevant docs which few systems retrieve: orders of systems, "
    "significantly different pairs, stability, and who retrieves what no other does.",
    revision=4,
    options=InnovationOptions,
    tables=(*TABLES, *OVER_TRACKS.values()),
    printed=NUMBERS,
    statistics={
        "figure_2 table_3 table_3_tracks gaming_effects label_sets": ("tau-b",),
        "figure_2": ("tau-ap-b",),
        "table_1 table_1_tracks": ("t-unpaired", "t", "hsd", "hsd-blocked", "hsd-randomised"),
        "table_2 table_2_tracks": ("stability over samples of queries",),
        "overlap": ("optimal leaf ordering",),
        "pool_bias": ("systems left out of the pool",),
    },
    notation=NOTATION,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.page:sections",
    track_section=f"{HOME}.page:track_section",
    of_orders=(
        *("figure_2", "table_1", "table_2", "table_3", "swaps", "dethroned"),
        *("gaming", "gaming_effects", "pool_bias", "label_sets"),
    ),
)
