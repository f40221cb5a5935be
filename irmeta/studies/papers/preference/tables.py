"""The tables of the study of recall-paired preference."""

from __future__ import annotations

from irmeta.schema.columns import QUERY, SYSTEM, TRACK, Column, Table, percent, stored
from irmeta.studies.framework.printed_numbers import printed_numbers
from irmeta.studies.papers.preference.paper import TABLE_2

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
        "measure_b": METHOD,
        "tau_b": Column("real", "mean over tracks of tau-b; NaN: none", format=".2f",
                        label="tau-b"),
        "tracks": Column("count", "tracks with a tau-b"),
    }, caption="Correlation of orders of systems, mean over tracks (Table 2).", by="all",
       rows=f"{HOME}.system_orders:table_2_mean",
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
    }, caption="Orders of systems by fewer queries (Figure 6).", folded=True,
       rows=f"{HOME}.system_orders:fewer_queries"),
    Table("figure_7", ("track", "labels", "measure", "removed"), {
        "track": TRACK,
        "labels": Column("name", "relevant docs removed first: random, or pool: those that the "
                         "fewest systems retrieve"),
        "measure": METHOD,
        "removed": _SHARE,
        **_replicated(),
    }, caption="Orders of systems by fewer relevant docs (Figure 7).", folded=True,
       rows=f"{HOME}.system_orders:fewer_labels"),
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
       rows=f"{HOME}.system_orders:opponents", section="Beyond the paper: groups as opponents"),
    printed_numbers(),
)  # fmt: skip
