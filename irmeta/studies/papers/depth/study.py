"""The study of pooling and evaluation depth: its paper, options and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from irmeta.options import option
from irmeta.policies import TieOrder
from irmeta.schema.columns import (
    MEASURE,
    SYSTEM,
    TRACK,
    Column,
    Table,
    by_name,
    measured,
    percent,
    stored,
)
from irmeta.schema.result_tables import (
    CUTOFF,
    DEPTH_OR_ALL,
    JUDGMENTS,
    LEAVE_OUT,
    LEVEL,
    VOLATILITY,
)
from irmeta.studies.framework.study import (
    GroupedOptions,
    Study,
    printed_numbers,
    read_printed,
    table_over_tracks,
)

SOURCE = (
    "Lu, Moffat and Culpepper 2016, The Effect of Pooling and Evaluation Depth on IR Metrics, "
    "doi:10.1007/s10791-016-9282-6"
)

NOTATION = {"AP": "AP_{a}", "nDCG": "nDCG_{a}", "Q(gain=linear)": "QM_{a,i}"}
"""The paper's names of measures."""
NUMBERS = read_printed("irmeta.studies.papers.depth")
"""All numbers of the papers, with the digits that they print."""


CUTOFFS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 100, 400, 1000)
PRINTED_CUTOFFS = (1, 4, 10, 40, 100, 400, 1000)
"""The cutoffs of Tables 7 to 9."""
SQUARE = tuple(range(1, 51))
"""The cutoffs of Figures 5 to 7."""
PLOTTED_DEPTHS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 40, 70, 100, 200, 500, 1000)
"""The depths of the pool in Figure 1."""
LEAST_TAU = 0.9
"""Least tau-b with the reference of orders that agree with it: for safe cutoffs and pools."""
LEAST_COVERAGE = 0.9
"""Least coverage of the reference at a safe cutoff."""
MOST_RANKS_MOVED = 3
"""Ranks that a left-out run may move without counting as moved."""
HARDLY_JUDGED = 0.9
"""Mean Judged@10 below which a run counts as hardly judged."""
LEAST_JUDGED = 0.95
"""Default share of judged docs at every rank down to an estimated depth of the pool."""
DEEPEST = 1000
"""The deepest cutoff of Figures 2 and 3."""


REUSABLE_DROP, UNUSABLE_DROP = 5.0, 20.0
"""Reusable below, not for new systems above: percent by which left-out runs drop on average."""
REUSABLE_TAU, UNUSABLE_TAU = 0.9, 0.8
"""Reusable from, not for new systems below: the least tau-b of the orders before and after."""


@dataclass(frozen=True)
class DepthOptions(GroupedOptions):
    """Options of the study of pooling and evaluation depth."""

    system: tuple[str, ...] | None = option(
        None,
        "None: the study compares the pools of all contributing systems.",
        flag="",
        parse="irmeta.policies:no_systems",
    )
    rel: int = option(  # pyright: ignore[reportIncompatibleVariableOverride]
        1,
        "Least relevant grade, and least grade with a gain in nDCG, for measures whose names state "
        "none. ERR has gains of all grades.",
        least=1,
        most=127,
    )
    tie_order: TieOrder | None = option(
        "score-file", "Tie order; the paper keeps tied docs in line order."
    )
    measures: tuple[str, ...] = option(
        (),
        "Measures without a cutoff (repeatable); default those of the paper.",
        parse="irmeta.studies.papers.depth.study:without_cutoff",
        flag="-m --measures",
    )
    gain: Literal["grade", "exp"] = option("grade", "Gain of nDCG, which the paper does not state.")
    pool_depths: tuple[int, ...] = option(
        (),
        "Depths of the pool (repeatable); default the depth to which it is complete, or estimated.",
        least=1,
        flag="--pool-depths",
    )
    least_judged: float = option(
        LEAST_JUDGED,
        "Smallest share of judged docs at every rank down to the estimated depth of the pool.",
        least=0,
        most=1,
    )
    ks: tuple[int, ...] = option(
        (),
        "Cutoffs of Tables 7 to 9 and of the guidance (repeatable); default 15 from 1 to 1000.",
        least=1,
        flag="--k",
    )
    reference_k: int | None = option(
        None, "Cutoff of the reference measure; default the depth of the pool.", least=1
    )
    leave_out_ks: tuple[int, ...] = option(
        (),
        "Cutoffs at which left-out runs are scored (repeatable); default the depth of the pool.",
        least=1,
        flag="--leave-out-k",
    )
    others: Literal["rescored", "original"] = option(
        "rescored", "Means of the other systems when the rank of a left-out run is determined."
    )
    systems: Literal["contributors", "all"] = option(
        "contributors", "Systems that are compared: those that contributed to the pool, or all."
    )
    figure_measure: str | None = option(
        None,
        "Measure of Figure 4; default nDCG.",
        parse="irmeta.studies.papers.depth.study:one_without_cutoff",
    )
    method: Literal["tau-b", "tau-ap", "rbo"] = option(
        "tau-b", "Correlation of two orders of systems in Figures 5 to 7."
    )
    scores_compared: Literal["float64", "float32"] = option(
        "float64", "Precision in which the scores of a run are compared for ties."
    )
    alpha: float = option(
        0.05, "Significance level of the paired t-test.", least=0, most=1, exclusive=True
    )

    @property
    def ndcg(self) -> str:
        """Name of nDCG with the study's gain."""
        return "nDCG" if self.gain == "grade" else f"nDCG(gain={self.gain})"

    @property
    def compared(self) -> tuple[str, ...]:
        """Canonical names of the study's measures, without cutoffs."""
        further = ("Q(gain=linear)", "ERR", "RR", "RBP(p=0.8)", "RBP(p=0.95)")
        measures = self.measures or without_cutoff(("AP(norm=min)", self.ndcg, *further))
        return tuple(dict.fromkeys(map(self.at, measures)))

    def at(self, measure: str) -> str:
        """Return the name of a measure without a cutoff at the study's `rel`."""
        return measure if self.rel == 1 else at_rel(measure, self.rel)

    @property
    def drawn(self) -> str:
        """The measure of Figure 4."""
        return self.at(self.figure_measure or one_without_cutoff(self.ndcg))

    @property
    def matrices(self) -> dict[tuple[str, str], str]:
        """The pairs of measures of Figures 5 to 7, with the figure of each."""
        ap, ndcg, deep = "AP(norm=min)", self.ndcg, "RBP(p=0.95)"
        zipf, ideal = (f"nDCG(gain={self.gain},{more})" for more in ("discount=zipf", "ideal=pool"))
        pairs = {
            (ap, ap): "5",
            (ndcg, ndcg): "5",
            ("ERR", "ERR"): "6",
            (deep, deep): "6",
            ("RBP(p=0.8)", "RBP(p=0.8)"): "6",
            (ap, "AP"): "7",
            (ap, "AP(norm=pool)"): "7",
            (ndcg, zipf): "7",
            (ndcg, ap): "7",
            (deep, ndcg): "7",
            (deep, ap): "7",
            (ndcg, ideal): "beyond",
        }
        return {
            (self.at(one_without_cutoff(a)), self.at(one_without_cutoff(b))): figure
            for (a, b), figure in pairs.items()
        }

    @property
    def curved(self) -> tuple[str, ...]:
        """The measures that are computed at many cutoffs, without cutoffs."""
        of_matrices = (name for pair in self.matrices for name in pair)
        return tuple(dict.fromkeys([*self.compared, self.drawn, *of_matrices]))

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return super().used() | {
            "measures": self.compared,
            "pool_depths": "by track, see the table collections",
            "ks": CUTOFFS,
            "reference_k": "the depth of the pool",
            "leave_out_ks": "the depth of the pool",
            "figure_measure": self.drawn,
        }

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        more = ("FirstUnjudged", "Judged@10", "RBP", "RBPResidual", "ERRResidual")
        return (*(cut(measure, max(self.ks or CUTOFFS)) for measure in self.curved), *more)


def without_cutoff(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the canonical names of measures without a cutoff, each once."""
    return tuple(dict.fromkeys(map(one_without_cutoff, names)))


@cache  # the study asks thousands of times for each track
def one_without_cutoff(name: str) -> str:
    """Return the canonical name of one measure without a cutoff: see `without_cutoff`."""
    from irmeta.measures.curve import spec_without_cutoff

    return spec_without_cutoff(name).name.rpartition("@")[0]


@cache
def at_rel(name: str, rel: int) -> str:
    """Return the name of a measure without a cutoff at `rel`, if it has a `rel` and states none."""
    from irmeta.measures.curve import spec_without_cutoff

    spec = spec_without_cutoff(name)
    if spec.settings.get("rel") != 1:
        return name
    params = tuple(
        (parameter, rel if parameter == "rel" else value) for parameter, value in spec.params
    )
    return replace(spec, params=params).name.rpartition("@")[0]


@cache
def cut(measure: str, k: int | None, condensed: bool = False) -> str:
    """Return the canonical name of a measure at a cutoff, for full or condensed lists."""
    from irmeta.measures.names import canonical_name

    if condensed:
        name, _, parameters = measure.removesuffix(")").partition("(")
        measure = f"{name}({parameters},unjudged=condensed)".replace("(,", "(")
    return canonical_name(measure if k is None else f"{measure}@{k}")


HOME = "irmeta.studies.papers.depth"

DEPTH = Column("count", "depth of the pool that judgments are cut to", label="d")
LISTS = Column("name", "full, or condensed: without unjudged docs")
_COMPLETE = "greatest depth to which every contributing list is judged on every query"
_TIED = "of the top 20 docs of its lists whose score another of them has"


def _depth_under(order: str) -> Column:
    text = f"comprehensive depth under tie order {order}; null: unknown"
    return Column("count", text, null=True, show="page", label=f"d, {order}")


def _ratio(meaning: str, label: str) -> Column:
    return Column("real", meaning, label=label, format=".1%")


TABLES = (
    Table("collections", ("track",), {
        "track": TRACK,
        "depth": Column("text", "depths of the pool in the study", label="d"),
        "depth_source": Column("name", "comprehensive, given, estimated, or default if none of "
                               "them can be used", label="source of d"),
        "least_judged": percent("least share of judged docs at a rank up to d of the contributing "
                                "lists", "judged to d"),
        "comprehensive_depth": Column("count", f"{_COMPLETE}; null: no retrieved doc is unjudged",
                                      null=True, label="comprehensive d"),
        "depth_bound": Column("name", "exact; at most: contributing runs are missing; at least: "
                              "the contributors are unknown", label="bound", show="page"),
        "depth_trec_eval": _depth_under("trec_eval"),
        "depth_trec_eval10": _depth_under("trec_eval10"),
        "depth_score_file": _depth_under("score-file"),
        "depth_file": _depth_under("file"),
        "deepest_judged": Column("count", "greatest depth of a judged doc in the pool; null: none",
                                 null=True, label="deepest judged"),
        "contributors": Column("count", "systems whose lists made the pool"),
        "groups": Column("count", "groups of the contributors; null: unknown", null=True),
        "queries": Column("count", "judged queries"),
        "queries_without_relevant": Column("count", "queries without a relevant doc in the pool of "
                                           "the least depth; they score 0", show="page"),
        "judged": Column("big", "judged (query, doc) pairs"),
        "relevant": Column("big", "relevant pairs"),
        "judged_unretrieved": Column("big", "judged pairs in no contributing list",
                                     label="judged, not retrieved"),
    }, caption="Collections and the depth of their pools (Table 3)."),
    Table("pool_growth", ("track", "depth"), {
        "track": TRACK,
        "depth": DEPTH,
        "judged": Column("big", "judged (query, doc) pairs in the pool"),
        "relevant": Column("big", "relevant pairs in the pool"),
        "relevant_per_query": Column("real", "mean over queries of relevant docs in the pool",
                                     format=".1f", label="relevant per query"),
        "new_relevant_rate": percent("new relevant pairs over new judged pairs since the previous "
                                     "depth; NaN: no new judged pair", "new relevant"),
        "new_relevant_rate_mean": stored("real", "mean over queries of that ratio; NaN: none"),
        "comprehensive": Column("yes", "whether the pool is complete to this depth", show="page"),
    }, caption="Relevant docs by the depth of the pool (Figure 1).", folded=True,
       rows=f"{HOME}.pool:pool_growth"),
    Table("judged_by_rank", ("track", "rank"), {
        "track": TRACK,
        "rank": Column("count", "rank in the contributing lists, down to 1,000"),
        "lists": Column("big", "contributing lists of judged queries with a doc at this rank"),
        "judged": stored("count", "of these docs, those that are judged"),
        "share": percent("share of these docs that are judged", "judged"),
    }, caption="Judged docs of the contributing lists by rank.", folded=True,
       rows=f"{HOME}.pool:judged_by_rank"),
    Table("table_4", ("track", "depth", "quantity"), {
        "track": TRACK,
        "depth": DEPTH_OR_ALL,
        "quantity": Column("name", "RelInPool: relevant docs in the top d of a list; RankUnj: "
                           "first unjudged rank; NumRelPast: the other relevant docs; "
                           "NumRelListed: those of them that the list has below d; "
                           "AllRelListed: the same by all judgments"),
        "mean": Column("real", "mean over runs and queries", format=".1f", joined=("\u00b1", "sd")),
        "sd": stored("real", "sample standard deviation; NaN: one value"),
        "sd_population": stored("real", "population standard deviation"),
    }, caption="Outcomes of pooling (Table 4).", rows=f"{HOME}.pool:table_4"),
    LEAVE_OUT,
    Table("table_5", ("track", "level", "measure", "judgments", "depth"), {
        "track": TRACK,
        "level": LEVEL,
        "measure": Column("name", "canonical name of the measure, with its cutoff"),
        "judgments": JUDGMENTS,
        "depth": DEPTH_OR_ALL,
        "k": CUTOFF,
        "systems": Column("count", "left-out systems", show="page"),
        "delta_percent": Column("real", "mean change of their scores; NaN: undefined", unit="%",
                                label="change", format=".2f"),
        "delta_rank": Column("real", "mean absolute change of their ranks", label="ranks moved",
                             format=".2f"),
        "undefined": stored("count", "left-out systems with a score of 0 before"),
        "judged_lost": Column("real", "mean number of judged pairs that leave the pool",
                              label="judged lost", format=",.0f", show="page"),
        "relevant_lost": Column("real", "mean number of relevant pairs that leave the pool",
                                label="relevant lost", format=",.0f", show="page"),
    }, caption="Scores and ranks of systems that are left out of the pool, on average (Table 5)."),
    Table("reusability", ("track", "level", "measure", "judgments"), {
        "track": TRACK,
        "level": LEVEL,
        "measure": Column("name", "canonical name of the measure, with its cutoff"),
        "judgments": JUDGMENTS,
        "mean_delta_percent": Column("real", "mean change of the scores of left-out systems",
                                     unit="%", label="mean change", format=".1f"),
        "max_delta_percent": Column("real", "change with the largest magnitude", unit="%",
                                    label="largest change", format=".1f"),
        "share_moved": percent("share of left-out systems that move by more than "
                               f"{MOST_RANKS_MOVED} ranks", "moved"),
        "pairs_flipped": percent("mean share of pairs of systems whose order is reversed",
                                 "pairs flipped"),
        "significant_kept": percent("mean share of the significantly different pairs that remain "
                                    "so in the same direction; NaN: none", "significant kept"),
        "least_tau": Column("real", "least tau-b of the orders before and after; NaN: undefined",
                            label="least tau-b", format=".3f"),
        "verdict": Column("name", "reusable, with care, or not for new systems"),
    }, caption="Whether the judgments can evaluate systems that did not contribute."),
    Table("ties", ("track", "system"), {
        "track": TRACK,
        "system": SYSTEM,
        "mean_percent_tied": Column("real", f"mean over lists of the share {_TIED}", unit="%"),
        "median_percent_tied": Column("real", "median over lists of that share", unit="%"),
    }, caption="Tied scores among the top 20 docs of each run."),
    Table("table_6", ("track",), {
        "track": TRACK,
        "systems": Column("count", "runs"),
        "median_of_means": Column("real", f"median over runs of the mean share {_TIED}",
                                  unit="%", label="median of ties", format=".1f"),
        "median_of_medians": Column("real", "median over runs of the median share", unit="%",
                                    label="median of medians", format=".1f", show="page"),
        "pooled_median": Column("real", "median over all lists", unit="%",
                                label="median of lists", format=".1f", show="page"),
        "tau_b": Column("real", "tau-b of the orders by RBP(p=0.8) under tie orders trec_eval and "
                        "file; NaN: undefined; null: unknown", True, label="tau-b", format=".3f"),
    }, caption="Tied scores, and their effect on the order of systems (Table 6)."),
    Table("ties_tau", ("track", "order_a", "order_b"), {
        "track": TRACK,
        "order_a": Column("name", "tie order"),
        "order_b": Column("name", "tie order, or share: tied docs share their weights"),
        "tau_b": Column("real", "tau-b of the orders of systems by RBP(p=0.8); NaN: undefined",
                        format=".4f"),
    }, caption="Orders of systems under different tie orders.", folded=True, section="Tied scores"),
    Table("score_curves", ("track", "measure", "lists", "depth", "system", "k"), {
        "track": TRACK,
        "measure": MEASURE,
        "lists": LISTS,
        "depth": DEPTH,
        "system": SYSTEM,
        "k": CUTOFF,
        "value": measured("mean over queries; NaN: undefined"),
    }, caption="Scores of every system by the cutoff (Figures 2 and 3).", apart=True, latex=False),
    Table("table_7", ("track", "measure", "depth", "lists", "k"), {
        "track": TRACK,
        "measure": MEASURE,
        "depth": DEPTH,
        "lists": LISTS,
        "k": Column("count", "cutoff; null: full lists", null=True, label="k", absent="full"),
        "reference_k": stored("count", "cutoff of the reference, the same measure on full lists"),
        "pairs": stored("count", "unordered pairs of systems"),
        "queries": stored("count", "queries where the measure and the reference are defined"),
        "separated": stored("count", "significantly different pairs"),
        "separated_reference": stored("count", "significantly different pairs by the reference"),
        "covered": stored("count", "pairs separated by both in the same direction"),
        "inverted": stored("count", "pairs separated by the reference with the opposite order"),
        "discrimination": _ratio("separated / pairs; NaN: no pairs", "Disc."),
        "coverage": _ratio("covered / separated_reference; NaN: none", "Covr."),
        "inversion": _ratio("inverted / separated_reference; NaN: none", "Invr."),
        "median_p": stored("real", "median p-value of all pairs; NaN: none"),
        "tau_b": stored("real", "tau-b of the order of systems with the reference's"),
        "pearson": stored("real", "Pearson's correlation of the means with the reference's"),
    }, caption="Discrimination, coverage and inversion by the cutoff (Table 7, Figure 4)."),
    Table("condensed_lengths", ("track", "depth"), {
        "track": TRACK,
        "depth": DEPTH,
        "mean": Column("real", "mean length of the condensed lists", format=".1f"),
        "longest": Column("count", "length of the longest condensed list"),
    }, caption="Lengths of the lists without unjudged docs.",
       rows=f"{HOME}.compute:condensed_lengths"),
    Table("table_9", ("track", "measure", "depth", "k"), {
        "track": TRACK,
        "measure": MEASURE,
        "depth": DEPTH,
        "k": CUTOFF,
        "score": Column("real", "mean over systems and queries", format=".3f",
                        joined=("+", "residual")),
        "residual": stored("real", "mean residual: possible increase of the score"),
    }, caption="Scores and residuals (Table 9).", rows=f"{HOME}.compute:table_9"),
    VOLATILITY,
    Table("stability", ("track", "depth", "measure_a", "measure_b"), {
        "track": TRACK,
        "depth": DEPTH,
        "measure_a": Column("name", "canonical name of the measure", label="measure"),
        "measure_b": Column("name", "canonical name of the measure", label="with"),
        "figure": Column("text", "figure of the paper"),
        "stable": percent("share of the pairs of cutoffs up to 50 whose orders correlate at 0.9 or "
                          "more; of one measure, pairs of different cutoffs; NaN: undefined",
                          "0.9 or more"),
        "least": Column("real", "least correlation of these pairs; NaN: undefined", format=".2f"),
        "theta": Column("real", "of one measure, least k for which all pairs of deeper cutoffs "
                        "correlate above 0.9; null: not even the two deepest, or two measures; "
                        "NaN: undefined, as where all systems tie", True, format="g",
                        absent="not reached"),
        "tied": Column("count", "most pairs of systems with equal means at one cutoff above theta; "
                       "null: two measures, or undefined", True, label="tied pairs"),
        "same_cutoff": Column("real", "of two measures, mean correlation at equal cutoffs; null: "
                              "one measure; NaN: undefined", True, format=".2f",
                              label="same cutoff"),
        "deeper": Column("real", "of two measures, mean over k < l of the correlation at k and l "
                         "minus that at l and k: above 0 where the second measure orders systems "
                         "so at a deeper cutoff than the first", True, format=".3f",
                         label="deeper"),
        "asymmetry": Column("real", "mean absolute value of these differences", True, format=".3f"),
        "queries": Column("count", "queries where both are defined, at the cutoffs with the fewest",
                          show="page"),
    }, caption="Orders of systems at cutoffs from 1 to 50 (Figures 5 and 6)."),
    Table("pool_budget", ("track", "measure", "depth"), {
        "track": TRACK,
        "measure": MEASURE,
        "depth": DEPTH,
        "judged": Column("big", "judged (query, doc) pairs in the pool"),
        "tau_b": Column("real", "tau-b of the order of contributors with that by all judgments; "
                        "NaN: undefined", format=".3f", label="tau-b"),
    }, caption="Judged docs and the order of systems, by the depth of the pool.", folded=True),
    Table("guidance", ("track", "measure", "depth", "lists"), {
        "track": TRACK,
        "measure": MEASURE,
        "depth": DEPTH,
        "lists": LISTS,
        "k_low": Column("count", "least cutoff that agrees with the reference; null: none", True,
                        label="k from"),
        "k_high": Column("count", "greatest such cutoff; null: none", True, label="to"),
        "least_depth": Column("count", "least depth of a pool that orders the contributors as all "
                              "judgments do; null: none", True, label="least d"),
    }, caption="Cutoffs and depths of pools that lead to the same conclusions."),
    Table("unjudged", ("track", "system"), {
        "track": TRACK,
        "system": SYSTEM,
        "pooled": Column("yes", "whether the system contributed to the pool; null: unknown", True),
        "judged_at_10": percent("mean share of the first 10 docs that are judged", "Judged@10"),
        "judged_at_k": percent("mean share of the first k docs, with k the depth of the pool",
                               "Judged@k"),
        "first_unjudged": Column("real", "mean rank of the first unjudged doc", format=".1f"),
        "rbp": Column("real", "mean of RBP(p=0.8)", format="score", label="RBP"),
        "rbp_residual": Column("real", "mean of its residual", format="score", label="residual"),
    }, caption="Unjudged docs of each system, by all judgments.", folded=True),
    Table("judged_by_contribution", ("track", "pooled"), {
        "track": TRACK,
        "pooled": Column("yes", "whether the systems contributed to the pool; null: unknown",
                         True, label="contributed"),
        "systems": Column("count", "systems"),
        "judged_at_10": percent("mean of Judged@10", "Judged@10"),
        "judged_at_k": percent("mean of Judged@k, with k the depth of the pool", "Judged@k"),
        "hardly_judged": Column("count", "systems whose mean Judged@10 is below the threshold",
                                label="hardly judged"),
    }, caption="Judged docs of contributors and of other systems."),
    Table("undecided", ("track", "system_a", "system_b"), {
        "track": TRACK,
        "system_a": SYSTEM,
        "system_b": SYSTEM,
        "difference": Column("real", "RBP(p=0.8) of system_a minus that of system_b"),
        "residual": Column("real", "residual of the worse system; of equal scores, the greater"),
    }, caption="Pairs of systems whose scores differ by less than the residual of the worse.",
       latex=False),
    printed_numbers(collection="collection of the paper"),
)  # fmt: skip


_RATIOS = ("discrimination", "coverage", "inversion")
COMMON = {
    "measure": Column("name", "canonical name of the measure; without a cutoff where that is d"),
    "depth": Column("count", "depth of the pool of all tracks (--pool-depths); null: that of each "
                    "track", True, label="d", absent="of the track"),
}  # fmt: skip
"""Columns of tables over tracks that have other values than those of tracks."""
OVER_TRACKS = {
    table: table_over_tracks(replace(by_name(TABLES)[table],
                                     columns={**by_name(TABLES)[table].columns, **COMMON}), keys,
                             values, caption=caption,
                             rows=f"{HOME}.compute:{table}_tracks")
    for table, keys, values, caption in (
        ("table_5", ("level", "measure", "depth"), ("delta_percent", "delta_rank"),
         "Scores and ranks after leaving out runs or groups, mean over tracks whose depth and "
         "contributors are known (Table 5)."),
        ("table_7", ("measure", "lists", "k", "depth"), _RATIOS,
         "Discrimination, coverage and inversion by the cutoff, mean over tracks of known depth "
         "(Tables 7 and 8)."),
        ("table_9", ("measure", "k", "depth"), ("score", "residual"),
         "Scores and residuals, mean over tracks (Table 9)."),
    )
}  # fmt: skip
"""The tables over tracks, by the table of tracks that they average."""
VOLATILITY_TRACKS = replace(
    table_over_tracks(VOLATILITY, ("measure_a", "measure_b", "k_a", "k_b"), ("value",),
                      caption="Correlation of the orders of systems by one measure at two cutoffs, "
                      "mean over tracks (Figures 5 and 6).",
                      rows=f"{HOME}.compute:volatility_tracks"),
    latex=False,
)  # fmt: skip


STUDY = Study(
    name="depth",
    title="Pooling and evaluation depth",
    paper=SOURCE,
    gives="Effects of the depth of the pool and of the cutoff on scores and orders of systems.",
    revision=6,
    options=DepthOptions,
    tables=(*TABLES, *OVER_TRACKS.values(), VOLATILITY_TRACKS),
    printed=NUMBERS,
    statistics={
        "leave_out table_5 table_5_tracks reusability": ("systems left out of the pool",),
        "reusability table_7 table_7_tracks": ("t",),
        "reusability table_6 ties_tau table_7 pool_budget guidance": ("tau-b",),
        "table_7": ("Pearson's r",),
        "stability volatility_tracks": ("{method}",),
    },
    notation=NOTATION,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.page:sections",
    track_section=f"{HOME}.page:track_section",
    on_parts=f"{HOME}.pool:on_parts",
    of_orders=(
        *("reusability", "table_6", "ties_tau", "table_7", "volatility", "stability"),
        *("pool_budget", "guidance", "undecided"),
    ),
)
