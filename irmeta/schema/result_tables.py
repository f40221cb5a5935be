"""Tables that functions return, and that commands and studies write."""

from __future__ import annotations

from irmeta.schema.columns import (
    DOC,
    GRADE,
    MEASURE,
    QUERY,
    SYSTEM,
    TRACK,
    Column,
    Table,
    measured,
    percent,
    stored,
)

SCALE_FREE = ("spearman", "precision", "recall", "kappa_binary")
"""Coefficients that need no common scale of grades."""
ALPHAS = ("alpha_nominal", "alpha_ordinal", "alpha_interval")
"""Forms of Krippendorff's alpha."""
SAME_SCALE = (
    "exact",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    *ALPHAS,
    "ac1",
    "ac2",
    "mean_reference",
    "mean_judge",
    "leniency",
)
"""Coefficients of grades on one scale."""


CATALOG_ID = Column("name", "id of the track in the catalogue")

SCORES = Table(
    "scores",
    ("system", "query", "measure"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "query": QUERY,
        "measure": MEASURE,
        "value": Column("real", "value; NaN: undefined"),
    },
    caption="Values per query.",
    apart=True,
)
MEANS = Table(
    "means",
    ("track", "system", "measure"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "measure": MEASURE,
        "value": Column("real", "mean over queries with a defined value; NaN: no such query"),
        "queries": Column("count", "number of queries in the mean"),
        "no_list": Column("count", "queries in the mean without a list of the system"),
        "lists_without_nonrelevant": Column(
            "count",
            "lists without a non-relevant doc (irrel_q = 0); null: not a search length",
            null=True,
        ),
    },
    caption="Mean of every measure for every system, and its number of queries.",
)
QUERIES = Table(
    "queries",
    ("track", "qrels", "query", "measure"),
    {
        "track": TRACK,
        "qrels": Column("name", "qrels set; null: values without judgments", null=True,
                        show="none"),
        "query": QUERY,
        "judged": Column("count", "judged docs; null: unknown", null=True),
        "relevant": Column("count", "relevant docs; null: unknown", null=True),
        "lists": Column("count", "systems with a list; null: unknown", null=True,
                        label="systems with a list"),
        "measure": MEASURE,
        "value": measured("mean over the systems with a defined value; NaN: none", "mean value"),
    },
    caption="Judgments, lists and mean values of each query.",
    latex=False,
)  # fmt: skip
MEASURES = Table(
    "measures",
    ("measure",),
    {
        "measure": MEASURE,
        "direction": Column("count", "1: greater is better, -1: less is better"),
        "low": Column("real", "least possible value; null: unknown", null=True, format="g"),
        "high": Column("real", "greatest possible value; inf: none; null: unknown", null=True,
                       format="g"),
        "revision": Column("count", "revision, raised where values change; null: not irmeta's",
                           null=True),
        "source": Column("text", "definition that irmeta follows; null: not irmeta's", null=True),
    },
    caption="Measures of the results.",
    by="all",
    latex=False,
    folded=True,
    only_filled=True,
    rows="irmeta.studies.framework.part_tables:measures",
)  # fmt: skip
SEARCH_LENGTHS = Table(
    "search_lengths",
    ("query", "system", "doc"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "query": QUERY,
        "doc": DOC,
        "grade": GRADE,
        "rank": Column("count", "rank of the doc; null: not retrieved", null=True),
        "search_length": Column("real", "non-relevant docs above the doc, plus 1", unit="docs"),
        "weight": Column(
            "real",
            "1 / relevant docs of the query; 0: means leave the query out. With these weights, the "
            "mean of search_length is the ASL of the system",
        ),
    },
    caption="Search length of each relevant doc, by system and query.",
    apart=True,
)
RARITY = Table(
    "rarity",
    ("query", "doc"),
    {
        "track": TRACK,
        "query": QUERY,
        "doc": DOC,
        "grade": GRADE,
        "retrieved_by": Column("count", "systems that retrieve the doc within the depth"),
        "systems": Column("count", "systems of the track"),
        "rarity": Column("real", "1 - retrieved_by / systems"),
    },
    caption="Number of systems that retrieve each relevant doc.",
    apart=True,
)
SEARCH_LENGTH_HISTOGRAM = Table(
    "search_length_histogram",
    ("track", "system", "low"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "low": Column("count", "smallest search length of the bucket; null: not retrieved", True),
        "high": Column(
            "count", "largest search length of the bucket; null: not retrieved", null=True
        ),
        "docs": Column("big", "relevant (query, doc) pairs in the bucket"),
    },
    caption="Relevant docs by search length, for every system (Figure 5).",
)
AGREEMENT = Table(
    "agreement",
    ("track", "measure_a", "measure_b"),
    {
        "track": TRACK,
        "measure_a": MEASURE,
        "measure_b": MEASURE,
        "tau": Column("real", "Kendall's tau-b of their orders of systems; NaN: undefined"),
        "systems": Column("count", "systems ordered"),
        "queries": Column("count", "queries where both measures are defined: those of both means"),
    },
    caption="Kendall's tau-b between the measures' orders of systems.",
)
PREFERENCES = Table(
    "preferences",
    ("track", "system", "other", "preference"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "other": Column("name", "system that it is compared with"),
        "preference": Column("name", "canonical name of the preference"),
        "value": Column(
            "real", "mean over queries with a relevant doc; above 0: system is better than other"
        ),
        "queries": Column("count", "number of queries in the mean"),
    },
    caption="Mean preference of every system over every other.",
)
PREFERENCES_BY_QUERY = Table(
    "preferences_by_query",
    ("system", "query", "other", "preference"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "query": QUERY,
        "other": Column("name", "system that it is compared with"),
        "preference": Column("name", "canonical name of the preference"),
        "value": Column("real", "preference; above 0: system is better than other"),
    },
    caption="Preference of every system over every other by query, where there is a relevant doc.",
    apart=True,
)
WIN_RATES = Table(
    "win_rates",
    ("track", "system", "preference"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "preference": Column("name", "canonical name of the preference"),
        "value": Column(
            "real", "mean preference over all other systems and queries; NaN: none", format=".4f"
        ),
        "rank": Column("count", "rank by value, equal values share the smallest", null=True),
        "rank_low": Column("count", "least rank of its simultaneous rank set", null=True),
        "rank_high": Column("count", "greatest rank of the set", null=True),
        "queries": Column("count", "number of queries in the mean"),
    },
    caption="Mean preference of every system over the field, and its rank.",
)
TIES = Table(
    "ties",
    ("track", "measure"),
    {
        "track": TRACK,
        "measure": Column("name", "canonical name of the measure or preference"),
        "points": Column("big", "pairs of systems on queries where both have a value"),
        "tied": percent("share of the points that are tied; NaN: no point"),
        "levels": Column("big", "recall levels of all points; null: no recall levels", null=True),
        "retrieved": Column(
            "real", "share of the levels that either list reaches", null=True, format="percent"
        ),
        "decided": Column(
            "real", "share of the levels with different ranks", null=True, format="percent"
        ),
    },
    caption="Ties between systems, and the recall levels that tell systems apart.",
)
LEVEL = Column("name", "what is left out at once: run, group or type")
JUDGMENTS = Column("name", "pool: cut to the depth; all: also docs judged deeper")
DEPTH_OR_ALL = Column(
    "count", "depth of the pool; null: all judgments", null=True, label="d", absent="all"
)
CUTOFF = Column("count", "cutoff", label="k")
LEAVE_OUT = Table(
    "leave_out",
    ("track", "level", "left_out", "system", "measure", "judgments", "depth"),
    {
        "track": TRACK,
        "level": LEVEL,
        "left_out": Column("name", "run, group or type that is left out"),
        "system": SYSTEM,
        "measure": Column("name", "canonical name of the measure, with its cutoff"),
        "judgments": JUDGMENTS,
        "depth": DEPTH_OR_ALL,
        "k": CUTOFF,
        "judged_lost": Column("big", "judged pairs that leave the pool"),
        "relevant_lost": Column("big", "relevant pairs that leave the pool"),
        "value": measured(
            "mean by the pool of all contributors, cut to `depth`", "value, pool of all"
        ),
        "value_left_out": measured(
            "mean by the pool without the left-out systems", "value, pool without it"
        ),
        "delta_percent": Column(
            "real", "100 (value_left_out - value) / value; NaN: value is 0", unit="%"
        ),
        "rank": Column("count", "rank among the contributors; null: no mean", null=True),
        "rank_left_out": Column("count", "rank by the pool without the left-out systems", True),
    },
    caption="Scores and ranks of systems that are left out of the pool.",
)
VOLATILITY = Table(
    "volatility",
    ("track", "depth", "measure_a", "measure_b", "k_a", "k_b"),
    {
        "track": TRACK,
        "depth": Column("count", "depth of the pool that judgments are cut to", label="d"),
        "measure_a": MEASURE,
        "measure_b": MEASURE,
        "k_a": Column("count", "cutoff of measure_a"),
        "k_b": Column("count", "cutoff of measure_b"),
        "method": stored("name", "rank correlation"),
        "value": Column("real", "correlation of the two orders of systems; NaN: undefined"),
        "queries": Column("count", "queries in the means: those where both are defined"),
    },
    caption="Correlation of the orders of systems at all pairs of cutoffs.",
    apart=True,
    latex=False,
)
GATE_QUERIES = Table(
    "gate_queries",
    ("track", "qrels", "segment", "measure", "baseline", "system", "query"),
    {
        "track": TRACK,
        "qrels": Column("name", "qrels set; empty where one is compared"),
        "segment": Column("name", "segment of the queries; null: all queries", null=True),
        "measure": MEASURE,
        "baseline": Column("name", "system that others are compared with"),
        "system": SYSTEM,
        "query": QUERY,
        "baseline_value": Column("real", "value of the baseline"),
        "value": Column("real", "value of the system"),
        "drop": Column("real", "by how much the system is worse"),
    },
    caption="Queries on which each system lost most.",
)
GATE = Table(
    "gate",
    ("track", "qrels", "segment", "measure", "baseline", "system"),
    {
        "track": TRACK,
        "qrels": Column("name", "qrels set; empty where one is compared"),
        "segment": Column("name", "segment of the queries; null: all queries", null=True),
        "measure": MEASURE,
        "baseline": Column("name", "system that others are compared with"),
        "system": SYSTEM,
        "baseline_mean": Column("real", "mean of the baseline over the queries that both have"),
        "mean": Column("real", "mean of the system over these queries"),
        "drop": Column("real", "by how much the system is worse; below 0: it is better"),
        "max_drop": Column("real", "largest drop that passes"),
        "p_uncorrected": Column(
            "real", "p-value of the pair alone; NaN: a test of all at once", format="ratio"
        ),
        "p_adjusted": Column("real", "p-value after the correction", format="ratio"),
        "lower": Column("real", "one-sided lower limit of the gain; null: not asked for", True),
        "queries": Column("big", "queries that both have"),
        "lost": Column("big", "queries of the baseline without a value of the system"),
        "lost_queries": Column("texts", "their names"),
        "unjudged": percent(
            "unjudged docs among the system's first 10; null: no lists", "unjudged@10", null=True
        ),
        "baseline_unjudged": percent(
            "the same of the baseline", "unjudged@10 of the baseline", null=True
        ),
        "rule": Column("text", "what was checked"),
        "passed": Column("yes", "whether the system passes"),
        "reason": Column("text", "the outcome in one line"),
    },
    caption="Systems against a baseline.",
)
_PAIR_KEY = {
    "track": TRACK,
    "qrels": Column("name", "qrels set; empty where one is compared"),
    "measure": MEASURE,
    "baseline": Column("name", "baseline of the comparison; null: all pairs", null=True),
    "system_a": Column("name", "first system"),
    "system_b": Column("name", "second system"),
}
INTERACTIONS = Table(
    "interactions",
    tuple(_PAIR_KEY),
    {
        **_PAIR_KEY,
        "segments": Column("count", "segments with two queries or more"),
        "queries": Column("count", "queries in them on which every system has a value"),
        "statistic": Column("real", "Welch's statistic of the means by segment; NaN: not tested"),
        "p_uncorrected": Column("real", "p of equal mean differences in all segments"),
        "p_adjusted": Column("real", "the same, corrected over the pairs of the comparison"),
        "p_reversal": Column("real", "p of better in some and worse in others, corrected so, too"),
        "verdict": Column("text", "what is shown of the pair"),
    },
    caption="Pairs of systems whose difference depends on the segment of the queries.",
)
SEGMENT_TESTS = Table(
    "segment_tests",
    (*_PAIR_KEY, "segment"),
    {
        **_PAIR_KEY,
        "segment": Column("name", "segment of the queries"),
        "queries": Column("count", "queries on which every system has a value"),
        "difference": Column("real", "mean of system_a minus that of system_b"),
        "se": Column("real", "standard error of the difference"),
        "p_uncorrected": Column("real", "p of the paired t-test in this segment; NaN: no spread"),
        "p_adjusted": Column("real", "p by sign flips, corrected over all segments and pairs"),
    },
    caption="Pairs of systems in each segment of the queries.",
)
_OF_MEASURE = {"track": TRACK, "measure": MEASURE}
METHODS = Table(
    "methods",
    ("track", "measure", "method"),
    {
        **_OF_MEASURE,
        "method": Column("name", "method; a run that is in no method"),
        "replicates": Column("count", "runs of the method"),
        "mean": Column("real", "mean of the means of its runs"),
        "sd": Column("real", "standard deviation of the means of its runs; NaN: one run"),
        "query_variance": Column("real", "mean variance over its runs on a query; NaN: one run"),
        "best": Column("name", "best run, which the number of runs favours"),
        "best_mean": Column("real", "its mean"),
        "median": Column("real", "median of the means of its runs"),
        "worst": Column("name", "worst run"),
        "worst_mean": Column("real", "its mean"),
    },
    caption="Spread of the replicates of each method.",
)
VARIANTS = Table(
    "variants",
    ("track", "measure", "system"),
    {
        **_OF_MEASURE,
        "system": Column("name", "system"),
        "queries": Column("count", "queries with several variants"),
        "variants": Column("count", "their variants"),
        "mean": Column("real", "mean over the variants of a query, mean over these queries"),
        "variance": Column("real", "variance over the variants of a query, mean over these"),
        "best": Column("real", "best variant of each, mean over these; more variants favour it"),
        **{of: Column("real", f"{of} variant, likewise") for of in ("median", "worst")},
    },
    caption="How values vary over the variants of a query.",
)
COMPONENTS = Table(
    "components",
    ("track", "measure", "component"),
    {
        **_OF_MEASURE,
        "component": Column("name", "method, replicate, query, method x query, or rest"),
        "estimator": Column("name", "anova (mean squares) or reml (at least 0)"),
        "variance": Column("real", "variance; negative: too small to estimate; NaN: undefined"),
        "share": Column("real", "share of the sum of the positive variances"),
    },
    caption="Variance components of methods, replicates and queries.",
)
NEEDED = Table(
    "needed",
    ("track", "measure", "e_rho2", "replicates"),
    {
        **_OF_MEASURE,
        "e_rho2": Column("real", "expected squared correlation with means over all of both"),
        "replicates": Column("count", "runs of each method"),
        "queries": Column("count", "queries needed; null: no number suffices", null=True),
    },
    caption="Queries that reliable means of methods need, by the number of replicates.",
)
OVER_TRACKS = Table(
    "over_tracks",
    ("measure", "system"),
    {
        "measure": MEASURE,
        "rank": Column("count", "rank by the macro mean"),
        "system": SYSTEM,
        "macro_mean": Column("real", "mean of the means of the tracks"),
        "low": Column("real", "lower limit on these tracks, queries resampled; NaN: only means"),
        "high": Column("real", "upper limit on these tracks"),
        "low_like_these": Column("real", "lower limit for tracks like these; NaN: fewer than five"),
        "high_like_these": Column("real", "upper limit for tracks like these"),
        "mean_rank": Column("real", "mean of the ranks on the tracks, ties sharing their mean"),
        "borda": Column("real", "systems below, a tie a half, summed over tracks"),
        "win_rate": Column("real", "share of other systems beaten on a query, a tie a half"),
        "tracks": Column("count", "tracks in the mean"),
    },
    caption="Systems over tracks.",
)
OVER_TRACKS_PAIRS = Table(
    "over_tracks_pairs",
    ("measure", "system_a", "system_b"),
    {
        "measure": MEASURE,
        "system_a": Column("name", "first system"),
        "system_b": Column("name", "second system"),
        "difference": Column("real", "macro mean of system_a minus that of system_b"),
        "low": Column("real", "lower limit on these tracks, queries resampled; NaN: only means"),
        "high": Column("real", "upper limit on these tracks"),
        "p_uncorrected": Column("real", "p of Wilcoxon's signed-rank test over tracks"),
        "p_adjusted": Column("real", "the same, corrected by Holm over pairs"),
        "p_nemenyi": Column("real", "p of Nemenyi's test; null: not asked for", null=True),
        "tracks": Column("count", "tracks of the test"),
        "verdict": Column("text", "what is shown of the pair"),
    },
    caption="Pairs of systems over tracks.",
)
OVER_TRACKS_LEFT = Table(
    "tracks_left_out",
    ("measure", "track"),
    {
        "measure": MEASURE,
        "track": TRACK,
        "queries": Column("count", "queries of the track; 1: a mean alone"),
        "tau_without": Column("real", "tau-b of the orders by macro mean, with and without it"),
        "moved": Column("count", "most places that a system moves without it"),
        "best_without": Column("name", "best system without it"),
        "tau_with_others": Column("real", "tau-b of its order with that of the other tracks"),
    },
    caption="What the order over tracks is without each track.",
)
OVER_TRACKS_OVERLAP = Table(
    "track_overlap",
    ("measure", "track_a", "track_b"),
    {
        "measure": MEASURE,
        "track_a": Column("name", "first track"),
        "track_b": Column("name", "second track"),
        "tau_b": Column("real", "tau-b of the orders of systems"),
        "pearson": Column("real", "correlation of the means of systems"),
    },
    caption="How alike tracks order the systems.",
)
OVER_TRACKS_ORDERS = Table(
    "orders",
    ("measure", "order_a", "order_b"),
    {
        "measure": MEASURE,
        "order_a": Column("name", "first rule of the order"),
        "order_b": Column("name", "second rule"),
        "tau_b": Column("real", "tau-b of the two orders"),
    },
    caption="Orders of systems over tracks by several rules.",
)
CHANGES = Table(
    "changes",
    ("measure", "track", "system"),
    {
        "measure": MEASURE,
        "track": Column("name", "snapshot"),
        "previous": Column("name", "snapshot before it"),
        "system": SYSTEM,
        "change": Column("real", "mean minus that of the previous snapshot"),
        "low": Column("real", "lower limit of the change; NaN: fewer than two queries"),
        "high": Column("real", "upper limit"),
        "p": Column("real", "p of no change, uncorrected; NaN: undefined"),
        "queries_before": Column("count", "queries of the previous snapshot"),
        "queries": Column("count", "queries of the snapshot"),
        "shared": Column("count", "queries of both"),
        "effect_ratio": Column("real", "improvement over the pivot, of that before", null=True),
        "effect_ratio_low": Column("real", "lower limit", null=True),
        "effect_ratio_high": Column("real", "upper limit", null=True),
        "delta_ri": Column("real", "fall of the relative improvement over the pivot", null=True),
    },
    caption="Changes of means between snapshots.",
)
DRIFT = Table(
    "drift",
    ("measure", "track"),
    {
        "measure": MEASURE,
        "track": Column("name", "snapshot"),
        "previous": Column("name", "snapshot before it"),
        "tau_b": Column("real", "tau-b of the orders of systems"),
        "tau_exchanged": Column("real", "median tau-b when queries are exchanged at random"),
        "tau_exchanged_low": Column("real", "its 5 % quantile"),
        "p": Column("real", "share of exchanges with at most this tau-b"),
    },
    caption="Drift of the order of systems between snapshots.",
)
COMMON_ALPHA = Table(
    "common",
    ("track", "sets"),
    {
        "track": TRACK,
        "sets": Column("text", "judges, or judges and reference"),
        "judges": Column("big", "number of sets of labels"),
        "docs": Column("big", "docs with two labels or more"),
        "interval": Column("text", "kind of the interval; null: one query", null=True),
        **{
            f"{name}{end}": Column("real", meaning)
            for name in ALPHAS
            for end, meaning in (
                ("", "Krippendorff's alpha; NaN: undefined"),
                ("_low", "lower bound of its interval"),
                ("_high", "upper bound"),
            )
        },
    },
    caption="Agreement of all sets of labels together.",
)
CORRECTION_GAIN = Table(
    "correction_gain",
    ("judge", "target", "labelled", "method"),
    {
        "judge": Column("name", "judge"),
        "target": Column("name", "systems or pairs"),
        "labelled": Column("count", "queries labelled by the reference"),
        "queries": Column("count", "queries in all"),
        "method": Column("name", "kind of interval"),
        "width_reference": Column("real", "width of the interval of the labelled queries alone"),
        "width": Column("real", "width of the interval"),
        "width_all": Column("real", "width of the interval of the reference on all queries"),
        "equivalent": Column("real", "labelled queries that give the same width alone"),
        "coverage_reference": Column("real", "coverage by the labelled queries alone"),
        "coverage": Column("real", "share of draws in which the interval covers the truth"),
        "least_coverage": Column("real", "least share of a system or pair"),
        "least_a": Column("name", "that system, or the first of that pair", null=True),
        "least_b": Column("name", "second system of that pair", null=True),
        "draws": Column("count", "number of draws"),
    },
    caption="Widths and coverage of corrected intervals.",
)
PUBLISHED = Table(
    "published",
    ("track", "system", "query", "evaluator", "measure"),
    {
        "track": TRACK,
        "system": Column("name", "system as published"),
        "query": Column("name", "query; null: a mean", null=True),
        "evaluator": Column("name", "program that computed the value"),
        "measure": Column("name", "measure as published"),
        "printed": Column("text", "value as printed"),
        "problem": Column("text", "why it cannot be compared; null: it can", null=True),
    },
    caption="Published values.",
)
UNMATCHED = Table(
    "unmatched",
    ("track", "system", "absent_from"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "absent_from": Column("name", "store, or published"),
    },
    caption="Systems that only the store or only the published values have.",
)
CATALOG_SETS = Table(
    "sets",
    ("id", "track", "set", "address"),
    {
        "id": CATALOG_ID,
        "track": Column("name", "name of the track in a collection"),
        "run_tasks": Column("texts", "tasks of its runs"),
        "set": Column("name", "qrels set"),
        "format": Column("name", "format of its files"),
        "members": Column("texts", "patterns of files in an archive"),
        "queries": Column("text", "range of the queries that count; null: all", null=True),
        "address": Column("text", "address of a file"),
        "note": Column("text", "note on the runs or qrels"),
    },
    caption="Qrels sets that irmeta uses.",
)
CATALOG_LEFT_OUT = Table(
    "left_out",
    ("id", "task"),
    {
        "id": CATALOG_ID,
        "task": Column("name", "task of runs"),
        "reason": Column("text", "why they are not evaluated"),
    },
    caption="Runs that are not evaluated.",
)
FETCHED_FILES = Table(
    "files",
    ("track", "kind", "path"),
    {
        "id": CATALOG_ID,
        "track": Column("name", "name of the track in the collection"),
        "kind": Column("name", "run or qrels"),
        "name": Column("text", "name of the run or qrels set"),
        "path": Column("text", "path in the collection"),
        "status": Column("name", "outcome"),
        "bytes": Column("big", "size; null: unknown", null=True),
        "sha256": Column("text", "SHA-256; null: not there", null=True),
        "address": Column("text", "address", null=True),
        "reason": Column("text", "why it is not there; null: it is", null=True),
    },
    caption="Files of a fetch.",
)
NOT_FETCHED = Table(
    "left_out",
    ("id", "task"),
    {
        "id": CATALOG_ID,
        "task": Column("name", "task of runs"),
        "state": Column("name", "state of the track, or what the runs lack"),
        "reason": Column("text", "why nothing is fetched"),
    },
    caption="What a selection names and fetch does not fetch.",
)
