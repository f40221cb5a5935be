"""The study of recall-paired preference: its paper, options and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from irmeta.options import option
from irmeta.policies import Majority, TrackOptions
from irmeta.schema.columns import QUERY, SYSTEM, TRACK, Column, Paper, Table, percent, stored
from irmeta.studies.framework.study import Study, printed_numbers, read_printed, values_of

SOURCE = (
    "Diaz and Ferraro 2022, Offline Retrieval Evaluation Without Evaluation Metrics, "
    "doi:10.1145/3477495.3532033"
)

NOTATION = {"AvgSL(corpus=relevant)": "AvgSL", "AP_IA": "MAP-IA", "StRecall": "ST-R"}
"""The paper's names of measures; its ASL is AvgSL, so that ASL names one measure in all studies."""
NUMBERS = read_printed("irmeta.studies.papers.preference")
"""All numbers of the papers, with the digits that they print."""
_PARTS = {"Table 2(a)": "single", "Table 2(b)": "subtopic"}

TABLE_2: Mapping[tuple[Any, ...], Paper] = {
    (_PARTS[item], "mc4", first, second): Paper(value, item)
    for (item, first, second), value in values_of(NUMBERS).items()
    if item in _PARTS
}


GAMMA = 0.5
"""Persistence of RBP in Figures 2 and 4."""
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Default shares of relevant docs that Figure 7 removes."""
SUBTOPIC_MEASURES = ("StRecall@20", "ERR_IA@20", "AP_IA")
"""Measures by subtopic of Tables 2b, 3b and 4b."""
POINTS = 5_000
"""Points drawn in each panel of Figure 5."""
SIZES = 10
"""Default number of sizes in Figure 6."""


@dataclass(frozen=True)
class PreferenceOptions(TrackOptions):
    """Options of the study of recall-paired preference."""

    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1, "Least relevant grade.", least=1, most=127
    )
    grades: Literal["graded", "binary"] = option(
        "graded", "RPP over the grades of each query, or over grade rel and above only."
    )
    majority: Majority = option(
        "queries",
        "Queries that MC4 needs to rank a system above another: more than half of all (ties count "
        "against moving), or more than rank it below (decided: ignoring ties).",
    )
    on: Literal["preference", "win-rate"] = option(
        "preference", "Values that Tables 3 and 4 test: preferences of pairs, or win rates."
    )
    alpha: float = option(
        0.05, "Significance level of Tables 3 and 4.", least=0, most=1, exclusive=True
    )
    resamples: int = option(
        2_000, "Permutations of the randomised HSD; the paper does not state its number.", least=1
    )
    sizes: tuple[int, ...] = option(
        (),
        "Numbers of queries kept in Figure 6 (repeatable); default ten, evenly spaced.",
        least=1,
        flag="--size",
    )
    shares: tuple[float, ...] = option(
        (),
        "Shares of relevant docs removed in Figure 7 (repeatable); default 0.1 to 0.9.",
        least=0,
        most=1,
        exclusive=True,
        flag="--share",
    )
    replicates: int = option(100, "Random samples of the queries of each size.", least=1)
    label_replicates: int = option(
        20, "Random samples of the relevant docs of each share.", least=1
    )

    system_a: str | None = option(
        None, "First system of Figure 4; default the best by RPP.", names="system"
    )
    system_b: str | None = option(
        None, "Second system of Figure 4; default the median by RPP.", names="system"
    )
    figure_query: str | None = option(
        None,
        "Query of Figure 4; default the query whose number of relevant docs is nearest to 6.",
        names="query",
    )
    seed: int = option(0, "Random seed.", least=0)

    def preference(self, p: str = "uniform") -> str:
        """Return the canonical name of RPP with weights `p`."""
        return _preference(f"RPP(p={p},grades={self.grades},rel={self.rel})")

    def subtopic_preference(self, p: str = "uniform") -> str:
        """Return the canonical name of STRPP with weights `p`."""
        return _preference(f"STRPP(p={p},rel={self.rel})")

    def interleaving(self, p: str = "uniform") -> str:
        """Return the canonical name of offline interleaving with users `p`."""
        return _preference(f"OI(p={p},rel={self.rel})")

    @property
    def preferences(self) -> tuple[str, ...]:
        """The three RPP of Tables 2 to 4: uniform, dcg, inverse."""
        return tuple(self.preference(p) for p in ("uniform", "dcg", "inverse"))

    @property
    def subtopic_preferences(self) -> tuple[str, ...]:
        """The three STRPP of Table 2b."""
        return tuple(self.subtopic_preference(p) for p in ("uniform", "dcg", "inverse"))

    @property
    def interleavings(self) -> tuple[str, ...]:
        """The two offline interleavings of Figure 5."""
        return self.interleaving(), self.interleaving("dcg")

    @property
    def measures(self) -> tuple[str, ...]:
        """AP, nDCG and RR, without a cutoff."""
        gain = "grade" if self.grades == "graded" else "binary"
        measures_at_rel = (
            f"AP(rel={self.rel})",
            f"nDCG(gain={gain},rel={self.rel})",
            f"RR(rel={self.rel})",
        )
        return tuple(map(_measure, measures_at_rel))

    @property
    def search_length(self) -> str:
        """Name of the average search length, which the paper calls ASL."""
        return _measure(f"AvgSL(rel={self.rel},corpus=relevant)")

    @property
    def compared(self) -> tuple[str, ...]:
        """The six of Tables 2a, 3a and 4a and of Figures 6 and 7."""
        return (*self.preferences, *self.measures)

    @property
    def removed(self) -> tuple[float, ...]:
        """The shares of relevant docs that Figure 7 removes."""
        return self.shares or SHARES

    def kept(self, queries: int) -> tuple[int, ...]:
        """Return the numbers of queries that Figure 6 keeps, of those with a relevant doc."""
        if self.sizes:
            return tuple(sorted({size for size in self.sizes if size <= queries}))
        sizes = {round(queries * (i + 1) / SIZES) for i in range(SIZES)}
        return tuple(sorted(sizes - {0}))

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {
            "sizes": f"{SIZES}, evenly spaced up to all queries of a track",
            "shares": self.removed,
            "system_a": "the best by RPP",
            "system_b": "the median by RPP",
            "figure_query": "that whose number of relevant docs is nearest to 6",
        }

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        return (*self.measures, self.search_length, *map(_measure, SUBTOPIC_MEASURES))

    @property
    def correlated(self) -> dict[str, tuple[str, ...]]:
        """The methods of Tables 2a and 2b by part, in the paper's order."""
        (rpp, dcg, inverse), (ap, ndcg, rr) = self.preferences, self.measures
        strpp, st_dcg, st_inverse, strecall, err_ia, ap_ia = self.by_subtopic
        return {
            "single": (rr, inverse, rpp, dcg, ap, ndcg),
            "subtopic": (strpp, st_dcg, ap_ia, st_inverse, err_ia, strecall),
        }

    @property
    def by_subtopic(self) -> tuple[str, ...]:
        """The preferences and measures of Tables 2b, 3b and 4b."""
        return (*self.subtopic_preferences, *map(_measure, SUBTOPIC_MEASURES))


def _preference(name: str) -> str:
    from irmeta.preferences.registry import parse_preference

    return parse_preference(name).name


def _measure(name: str) -> str:
    from irmeta.measures.names import canonical_name

    return canonical_name(name)


HOME = "irmeta.studies.papers.preference"

METHOD = Column("name", "canonical name of the measure or preference")
PREFERENCE = Column("name", "canonical name of the preference")
PART = Column("name", "single: measures of relevance; subtopic: measures by subtopic")
AGGREGATED = Column(
    "name", "how preferences order systems: mc4 (10 steps), mc4-rounds, or borda", label="order by"
)
TAU = Column("real", "Kendall's tau-b of the two orders of systems; NaN: undefined", format=".3f",
             label="tau-b")  # fmt: skip
_SHARE = Column("real", "share of the relevant docs of each query that is removed", label="removed",
                format=".2f")  # fmt: skip


def _replicated() -> dict[str, Column]:
    return {
        "replicates": stored("count", "samples with a tau-b"),
        "undefined": stored("count", "samples without a tau-b, because all systems tie"),
        "mean": Column("real", "mean tau-b with the order by the full data; NaN: none",
                       span=("low", "high"), format=".3f", label="tau-b"),
        "sd": stored("real", "standard deviation; NaN: one replicate"),
        "low": stored("real", "quantile .025"),
        "median": stored("real", "median"),
        "high": stored("real", "quantile .975"),
    }  # fmt: skip


def _separated(name: str, caption: str) -> Table:
    return Table(name, ("track", "part", "measure"), {
        "track": TRACK,
        "part": PART,
        "measure": METHOD,
        "pairs": stored("count", "unordered pairs of systems"),
        "separated": stored("count", "significantly different pairs"),
        "percent": Column("real", "100 separated / pairs; NaN: no pairs, or fewer than two queries",
                          unit="%", label="Sep.", format=".2f"),
        "printed": Column("text", "the paper's value, where runs, requests and relevant docs per "
                          "request equal its Table 1", null=True, format="paper", label="paper"),
    }, caption=caption)  # fmt: skip


TABLES = (
    Table("table_1", ("track",), {
        "track": TRACK,
        "qrels": Column("name", "qrels set of the measures and of RPP"),
        "subtopic_qrels": Column("name", "qrels set with subtopics; null: none", True,
                                 label="subtopics from"),
        "requests": Column("count", "judged queries"),
        "without_relevant": Column("count", "judged queries without a relevant doc",
                                   label="without relevant", show="page"),
        "runs": Column("count", "systems"),
        "relevant_per_request": Column("real", "relevant docs per judged query; NaN: no query",
                                       format=".2f", label="rel/request"),
        "pairs_per_request": Column("real", "relevant (doc, subtopic) pairs per query that the set "
                                    "with subtopics judges; null: no subtopics", True,
                                    format=".2f", label="rel pairs/request"),
        "subtopics_per_request": Column("real", "judged subtopics per such query", True,
                                        format=".2f", label="subtopics/request"),
        "relevant_subtopics_per_request": stored(
            "real", "subtopics with a relevant doc per such query", null=True),
        "dataset": Column("text", "the row of the paper's Table 1 with equal requests, runs and "
                          "relevant docs or pairs per request; null: none", True, format="paper",
                          label="in the paper"),
    }, caption="Tracks (Table 1)."),
    Table("orders", ("track", "preference", "system"), {
        "track": TRACK,
        "preference": PREFERENCE,
        "system": SYSTEM,
        "win_rate": Column("real", "mean over queries of the mean preference over all others, "
                           "Eq. 7 divided by n - 1 for n systems; NaN: undefined",
                           format=".4f", label="win rate"),
        "mc4": Column("real", "score of MC4 after 10 steps, by the option majority; NaN: "
                      "undefined", format=".3g"),
        "mc4_round": Column("count", "round of repeated MC4 that ranks the system; null: undefined",
                            True, label="round"),
        "borda": Column("real", "systems beaten by win rate, over all queries; a tie is a half",
                        format=".1f"),
        "rank_win_rate": Column("count", "rank by win rate", True, label="rank, win rate"),
        "rank_mc4": Column("count", "rank by 10 steps of MC4", True, label="rank, MC4"),
        "rank_mc4_rounds": Column("count", "rank by repeated MC4", True, label="rank, rounds"),
        "rank_borda": Column("count", "rank by Borda", True, label="rank, Borda"),
    }, caption="Orders of systems by preferences.", folded=True, latex=False),
    Table("order_agreement", ("track", "preference", "rule"), {
        "track": TRACK,
        "preference": PREFERENCE,
        "rule": Column("name", "other rule: mc4-rounds, borda or win-rate"),
        "queries": Column("count", "queries of both orders: those with the preference"),
        "tau_b": Column("real", "tau-b of the order by 10 steps of MC4 with the order by the other "
                        "rule; NaN: undefined", format=".3f", label="tau-b"),
        "limit_zeros": Column("count", "systems with the score 0 in the limit of MC4, where all of "
                              "them tie", label="at 0 in the limit", show="page"),
    }, caption="Agreement of rules that order systems by a preference.",
       section="Orders of systems"),
    Table("table_2", ("track", "part", "order", "measure_a", "measure_b"), {
        "track": TRACK,
        "part": PART,
        "order": AGGREGATED,
        "measure_a": METHOD,
        "measure_b": METHOD,
        "systems": stored("count", "systems in both orders"),
        "queries": Column("count", "queries of both orders: those where both are defined"),
        "tau_b": TAU,
    }, caption="Correlation of orders of systems, by track.", folded=True, latex=False,
       section="Orders of systems"),
    Table("table_2_mean", ("part", "order", "measure_a", "measure_b"), {
        "part": PART,
        "order": AGGREGATED,
        "measure_a": Column("name", METHOD.meaning, label="measure"),
        "measure_b": Column("name", METHOD.meaning, label="correlated with"),
        "tau_b": Column("real", "mean over tracks of tau-b; NaN: none", format=".2f",
                        label="tau-b"),
        "tracks": Column("count", "tracks with a tau-b"),
    }, caption="Correlation of orders of systems, mean over tracks (Table 2).", by="all",
       rows=f"{HOME}.orders:table_2_mean",
       paper={"tau_b": TABLE_2}),
    _separated("table_3", "Significantly different pairs by the randomised HSD (Table 3)."),
    _separated("table_4", "Significantly different pairs by t with Bonferroni's correction (Table "
               "4)."),
    Table("figure_2", ("track", "discount", "delta"), {
        "track": TRACK,
        "discount": Column("name", "RBP: 0.5^(f - 1); DCG: 1 / log2(f + 1); sign"),
        "delta": Column("real", "difference of the two terms of a recall level", format=".3f"),
        "share": percent("share of all (ordered pair, query, level) with at most this difference; "
                         "docs not retrieved have a term of 0"),
    }, caption="Distribution of differences by recall level (Figure 2, right).", latex=False,
       folded=True),
    Table("unequal_levels", ("track",), {
        "track": TRACK,
        "levels": Column("big", "(unordered pair, query, recall level), binary relevance"),
        "unequal": Column("big", "of these, levels where the two ranks differ"),
        "neither": Column("big", "of these, levels that neither list reaches"),
        "share": percent("unequal / levels; NaN: none", "differ"),
        "share_reached": percent("unequal / (levels - neither): of those that a list reaches; NaN: "
                                 "none", "differ, of those reached"),
    }, caption="Recall levels at which two lists differ (Figure 2)."),
    Table("figure_4", ("track", "level"), {
        "track": TRACK,
        "query": QUERY,
        "system_a": SYSTEM,
        "system_b": SYSTEM,
        "level": Column("count", "recall level i"),
        "recall": Column("real", "i / relevant docs"),
        "rank_a": Column("count", "rank of the i-th relevant doc; null: not retrieved", True),
        "rank_b": Column("count", "rank in the list of system_b; null: not retrieved", True),
        "precision_a": Column("real", "i / rank_a; 0: not retrieved"),
        "precision_b": Column("real", "i / rank_b; 0: not retrieved"),
    }, caption="Two lists of one query by recall level (Figure 4, left).", folded=True),
    Table("figure_4_deltas", ("track", "measure", "level"), {
        "track": TRACK,
        "measure": Column("name", "RBP (g = 0.5), AP, DCG, RR, ISL, TSL, AvgSL or RPP"),
        "level": Column("count", "recall level i"),
        "delta": Column("real", "the level's contribution to the difference of system_a and "
                        "system_b, positive where system_a is better"),
        "scaled": Column("real", "delta over the sum of |delta| of all levels; 0 where that is 0"),
    }, caption="Contributions of recall levels (Figure 4, right).", folded=True, latex=False),
    Table("figure_5", ("track", "measure_a", "measure_b"), {
        "track": TRACK,
        "measure_a": METHOD,
        "measure_b": METHOD,
        "points": Column("big", "(unordered pair, query) with a preference by both"),
        "queries": Column("count", "queries of these points"),
        "r": Column("real", "Pearson's correlation over both directions of each pair; NaN: only "
                    "ties", format=".3f"),
        "sa": Column("real", "share of points with equal signs, where 0 is a sign", format=".3f",
                     label="sign agreement"),
        "opposite": percent("share of points with opposite signs"),
        "opposite_size": stored("real", "of the drawn points, the median |difference| by measure_b "
                                "where the signs are opposite, over that where they are equal and "
                                "not 0; NaN: none; null: not drawn", null=True),
        "drawn": stored("count", "points drawn"),
    }, caption="Agreement of preferences by pair and query (Figure 5)."),
    Table("figure_5_points", ("track", "measure", "point"), {
        "track": TRACK,
        "measure": Column("name", "canonical name of the measure beside RPP"),
        "point": Column("count", "number of the drawn point, from 1"),
        "query": QUERY,
        "system_a": SYSTEM,
        "system_b": SYSTEM,
        "preference": Column("real", "RPP of system_a over system_b"),
        "difference": Column("real", "value of system_a minus that of system_b, sign turned where "
                             "less is better; or the other preference"),
        "same_sign": Column("yes", "whether both have the same sign, where 0 is a sign"),
    }, caption="Points drawn in Figure 5.", apart=True, latex=False),
    Table("figure_6", ("track", "measure", "queries"), {
        "track": TRACK,
        "measure": METHOD,
        "queries": Column("count", "queries kept, of those with a relevant doc"),
        **_replicated(),
    }, caption="Orders of systems by fewer queries (Figure 6): mean tau-b with the order by all "
       "queries, in brackets the quantiles .025 and .975 of the samples.", folded=True,
       rows=f"{HOME}.orders:fewer_queries"),
    Table("figure_7", ("track", "labels", "measure", "removed"), {
        "track": TRACK,
        "labels": Column("name", "relevant docs removed first: random, or pool: those that the "
                         "fewest systems retrieve"),
        "measure": METHOD,
        "removed": _SHARE,
        **_replicated(),
    }, caption="Orders of systems by fewer relevant docs (Figure 7): mean tau-b with the order by "
       "all docs, in brackets the quantiles .025 and .975 of the samples.", folded=True,
       rows=f"{HOME}.orders:fewer_labels"),
    Table("ties", ("track", "measure"), {
        "track": TRACK,
        "measure": METHOD,
        "points": Column("big", "(unordered pair, query) with a preference"),
        "tied": percent("share of points that tie; NaN: none"),
        "deciding_levels": percent("share of recall levels whose ranks differ and change the "
                                   "preference, binary relevance; NaN: none; null: not by level",
                                   "levels that decide", null=True),
    }, caption="Ties and label efficiency."),
    Table("label_noise", ("track", "qrels", "preference"), {
        "track": TRACK,
        "qrels": Column("name", "other qrels set"),
        "preference": PREFERENCE,
        "queries": Column("count", "queries of both orders: those with the preference under both "
                          "sets"),
        "tau_b": TAU,
        "pairs": stored("count", "unordered pairs of systems"),
        "turned": Column("count", "pairs whose mean preference has the opposite sign"),
        "share": percent("turned / pairs; NaN: no pairs", "pairs turned"),
    }, caption="RPP under the other qrels sets of a track.",
       section="Beyond the paper: other judgments"),
    Table("opponents", ("track", "system"), {
        "track": TRACK,
        "system": SYSTEM,
        "group": Column("name", "group; null: unknown", True),
        "win_rate": Column("real", "win rate by RPP over all systems", format=".4f"),
        "rank": Column("count", "rank by it", True),
        "win_rate_groups": Column("real", "win rate where each group of opponents weighs the same",
                                  format=".4f", label="win rate, groups"),
        "rank_groups": Column("count", "rank by it", True, label="rank, groups"),
    }, caption="Win rates where every group of opponents weighs the same.", folded=True,
       latex=False,
       rows=f"{HOME}.orders:opponents", section="Beyond the paper: groups as opponents"),
    printed_numbers(),
)  # fmt: skip


STUDY = Study(
    name="preference",
    title="Recall-paired preference",
    paper=SOURCE,
    gives="Preferences between ranked lists beside measures: orders of systems, significantly "
    "different pairs, and missing queries and judgments.",
    revision=4,
    options=PreferenceOptions,
    tables=TABLES,
    printed=NUMBERS,
    statistics={
        "orders order_agreement table_2 table_2_mean": ("MC4", "Borda counts"),
        "figure_6 figure_7 label_noise": ("MC4",),
        "order_agreement table_2 table_2_mean figure_6 figure_7 label_noise": ("tau-b",),
        "table_3": ("hsd-randomised",),
        "table_4": ("t+bonferroni",),
        "figure_5": ("Pearson's r",),
    },
    notation=NOTATION,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.page:FIGURES",
    sections=f"{HOME}.page:sections",
    track_section=f"{HOME}.page:track_section",
    of_orders=(
        "orders",
        "order_agreement",
        "table_2",
        *("figure_5", "figure_5_points", "figure_6", "figure_7"),
        "table_3",
        "table_4",
        "label_noise",
        "opponents",
    ),
)
