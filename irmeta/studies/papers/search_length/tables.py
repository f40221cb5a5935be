"""The tables of the study of atomized search length."""

from __future__ import annotations

from irmeta.schema.columns import (
    MEASURE,
    SYSTEM,
    TRACK,
    Column,
    Table,
    difference_columns,
    measured,
    percent,
    spread_columns,
    stored,
)
from irmeta.schema.result_tables import MEANS, SEARCH_LENGTH_HISTOGRAM
from irmeta.studies.papers.search_length import paper

HOME = "irmeta.studies.papers.search_length"
SHORT = (
    "The system misses more relevant docs than the median system, and Eq. 3 gives a short length "
    "to docs that a short list misses: compare the row of unretrieved=depth, where a missed doc "
    "counts as if at rank D + 1, below the track's deepest rank D."
)
_MISSED = "share of the relevant docs that the system does not retrieve"
_MEDIAN_MISSED = "median of that share over all systems"
_BEST_TRACKS = "tracks whose best system's mean is in the bucket"
_BEST_SHARE = "share of all counted tracks"
_BY_TRACK = {"track": TRACK, "measure": MEASURE}


_IS_SHORT = stored("yes", "whether the system misses more than the median system")
_CHAIN = Column("name", "first measure of the chain")
_STEP = Column("count", "step of the chain, compared with the previous step; 0: last with first")
_BY_STEP = {"track": TRACK, "chain": _CHAIN, "step": _STEP}
_OLD, _NEW = "measure before the step", "measure after the step"


def _misses(label: str) -> dict[str, Column]:
    """Return columns on the docs that the best system by a search length misses."""
    no_length = "; null: not a search length"
    return {
        "missed": percent(_MISSED + no_length, label, null=True, show="page"),
        "median_missed": stored("real", _MEDIAN_MISSED + no_length, null=True),
        "short": _IS_SHORT,
    }


TABLES = (
    MEANS,
    Table("headroom", ("track", "measure"), {
        **_BY_TRACK,
        "system": Column("name", "best system", label="best system", dagger="short"),
        "value": measured("mean over queries of the best system", "best"),
        "median": measured("mean of the median system by `chosen_by`"),
        "chosen_by": stored("name", "measure by which a system is best"),
        **_misses("missed"),
    }, caption="The best and the median system of each track (Figures 1 to 4).", note=SHORT,
       rows=f"{HOME}.compute:headroom"),
    Table("best_by_choice", ("track", "measure"), {
        **_BY_TRACK,
        "system": Column("name", "best system by the measure", label="best system", dagger="short"),
        "value": measured("mean over queries of the system", "value"),
        "missed": percent(_MISSED, "missed"),
        "median_missed": percent(_MEDIAN_MISSED, "median missed"),
        "short": _IS_SHORT,
        "rows": Column("real", "mean length of the system's lists over the track's queries",
                       label="rows per list", format=",.0f"),
    }, caption="The best system under each choice for docs not retrieved (Section 3.1).",
       folded=True, note=SHORT, rows=f"{HOME}.compute:best_by_choice"),
    Table("distributions", ("figure", "low"), {
        "figure": Column("text", "figure of the paper, or its name under unretrieved=depth"),
        "measure": MEASURE,
        "low": Column("real", "lower bound of the bucket, included; null: none", null=True),
        "high": Column("real", "upper bound, excluded; null: none", null=True),
        "tracks": Column("count", _BEST_TRACKS),
        "short": Column("count", "of these, tracks whose best system misses more than the median"),
        "share": percent(_BEST_SHARE),
    }, caption="Tracks by the mean of their best system (Figures 1 to 4).", by="all",
       rows=f"{HOME}.compute:distributions"),
    Table("classes", ("measure", "low"), {
        "measure": MEASURE,
        "best_system": Column("text", "values of the class"),
        "low": stored("real", "lower bound of the class"),
        "high": stored("real", "upper bound, excluded; null: none", null=True),
        "tracks": Column("count", _BEST_TRACKS),
        "share": percent(_BEST_SHARE),
        "paper": Column("text", "claim of the paper on 76 tracks", label="the paper"),
    }, caption="Tracks by their best system (Section 4.2).", by="all",
       rows=f"{HOME}.compute:classes"),
    Table("table_1", ("track", "measure"), {
        **_BY_TRACK,
        "baseline": Column("name", "system of the first side"),
        "baseline_value": measured("mean over queries of the system", "baseline value"),
        "contender": Column("name", "system of the second side", dagger="short"),
        "contender_value": measured("mean over queries of the system", "contender value"),
        "rrie": percent("relative reduction in error, Eqs. 11 and 12; NaN: the baseline is perfect",
                         "RRIE"),
        **difference_columns("mean over queries of contender minus baseline",
                             format="measure", show="page"),
        **_misses("contender missed"),
    }, caption="Two systems of each track and the relative reduction in error (Table 1).",
       note=SHORT),
    Table("paper_table_1", ("collection", "measure"), {
        "collection": Column("name", "2020 Deep Learning track", label="2020 Deep Learning"),
        "measure": MEASURE,
        "baseline": Column("real", "BM25; null: not in the text", True, label="BM25",
                           format="printed"),
        "contender": Column("real", "neural", label="neural", format="printed"),
        "rrie": percent("relative reduction in error", "RRIE"),
    }, caption="Table 1 as printed in the paper.", by="all", folded=True, section="Two techniques",
       rows=f"{HOME}.compute:paper_table_1"),
    Table("asl_differences", ("track", "measure", "comparison"), {
        **_BY_TRACK,
        "comparison": Column("name", "roles of the two systems"),
        "a": Column("name", "system", dagger="a_short", show="page"),
        "b": Column("name", "system", show="page"),
        "a_short": _IS_SHORT,
        **difference_columns("mean over queries of a minus b", format="length"),
        "queries": Column("count", "queries with a value of both systems"),
    }, caption="Differences of search lengths with their bootstrap intervals.", note=SHORT,
       section="Differences of ASL"),
    Table("table_2", ("chain", "step"), {
        "change": Column("text", "the step in words", label="step"),
        "chain": stored("name", _CHAIN.meaning),
        "step": stored("count", _STEP.meaning),
        "old": stored("text", _OLD),
        "new": stored("text", _NEW),
        **spread_columns("delta_sort", "mean over tracks of the largest move", unit="%",
                         label="Delta-sort", format=".0f"),
        **spread_columns("tau", "mean over tracks of tau-b", label="tau-b", format=".2f"),
        **spread_columns("delta_value", "mean over all systems of all tracks of new / old",
                         unit="x", label="Delta-value", format="ratio"),
        "delta_value_median": Column("real", "median of new / old, robust to outliers",
                                     unit="x", label="median", format="ratio"),
        "tracks": Column("count", "tracks averaged", show="page"),
        "systems": stored("count", "systems of all tracks"),
        "left_out": stored("count", "systems without new / old"),
    }, caption="Reordering of systems, step by step (Table 2 and Section 4.4).", by="all",
       rows=f"{HOME}.compute:table_2", paper=paper.TABLE_2),
    Table("reordering", ("track", "chain", "step"), {
        **_BY_STEP,
        "old": Column("text", _OLD),
        "new": Column("text", _NEW),
        "delta_sort": Column("real", "largest move of a system, share of the systems", unit="%"),
        "tau": Column("real", "Kendall's tau-b of the orders by mean; NaN: undefined"),
        "delta_value": Column("real", "mean over systems of new / old; NaN: undefined"),
        "left_out": Column("count", "systems without new / old"),
        "systems": Column("count", "systems compared"),
        "queries": Column("count", "queries compared"),
        "furthest": Column("name", "system with the largest move; null: none moves", True),
        "better_old": Column("count", "systems better by the old measure", null=True),
        "better_new": Column("count", "systems better by the new measure", null=True),
    }, caption="Each step of each chain on each track."),
    Table("moves", ("track", "chain", "step", "system"), {
        **_BY_STEP,
        "system": SYSTEM,
        "better_old": Column("count", "systems better by the old measure"),
        "better_new": Column("count", "systems better by the new measure"),
        "moved": Column("real", "100 |better_old - better_new| / systems", unit="%"),
        "value": Column("real", "new / old of the system's means; NaN: undefined"),
    }, caption="Each step of each chain for each system."),
    Table("furthest", ("track", "chain"), {
        "track": TRACK,
        "chain": stored("name", _CHAIN.meaning),
        "change": Column("text", "first and last measure"),
        "furthest": Column("name", "system with the largest move", label="system"),
        "missed": percent(_MISSED, "missed", null=True, show="page"),
        "better_old": Column("count", "systems better than this system by the first measure", True,
                             label="better before", show="page"),
        "better_new": Column("count", "systems better than this system by the last measure", True,
                             label="better after", show="page"),
        "systems": Column("count", "systems compared", show="page"),
        "delta_sort": Column("real", "move of the system, share of the systems", unit="%",
                             label="Delta-sort", format=".0f"),
        "tau": Column("real", "Kendall's tau-b of both orders; NaN: undefined", label="tau-b"),
    }, caption="The system of each track with the largest move, and the numbers of better systems.",
       folded=True),
    SEARCH_LENGTH_HISTOGRAM,
    Table("length_differences", ("track", "measure", "low", "retrieved"), {
        "track": TRACK,
        "measure": Column("name", "measure by which the two systems are best and median"),
        "best": Column("name", "best system"),
        "median": Column("name", "median system"),
        "low": Column("count", "smallest difference of lengths, best minus median, in the bucket"),
        "high": Column("count", "largest difference in the bucket"),
        "docs": Column("big", "relevant (query, doc) pairs in the bucket"),
        "retrieved": Column("name", "systems that retrieve them: both, best, median or neither"),
    }, caption="Search lengths in the best minus those in the median system (Figure 6)."),
    Table("effective_fraction", ("track", "system"), {
        "track": TRACK,
        "system": SYSTEM,
        "fraction": Column("real", "mean over queries of n / n_q; NaN: every AP is 0"),
        "pooled": Column("real", "the fraction of the pooled queries, with docs weighted by 1 / "
                         "n_q; NaN: MAP is 0"),
        "queries": Column("count", "queries with a fraction"),
        "undefined": Column("count", "queries with a relevant doc whose AP is 0"),
    }, caption="The share of the relevant docs that AP averages, by system (Appendix A.1)."),
    Table("effective_by_track", ("track",), {
        "track": TRACK,
        "systems": Column("count", "systems"),
        "fraction": percent("mean over systems; NaN: all undefined", "share by query"),
        "pooled": percent("mean over systems of the pooled fraction, which weights a doc by 1 / "
                          "relevant docs of its query, as MAP does", "share by run"),
        "undefined": Column("count", "lists with AP 0", label="lists with AP 0"),
        "trivial": Column("yes", "whether no query has two relevant docs",
                          label="one relevant doc per query"),
    }, caption="The share of the relevant docs that AP averages, by track (Appendix A.1)."),
    Table("effective_summary", (), {
        "tracks": Column("count", "tracks averaged: those with a query that has two relevant docs"),
        "fraction": Column("real", "mean over tracks of their systems' mean fraction"),
        "fraction_sd": Column("real", "standard deviation over tracks; NaN: one track"),
        "pooled": Column("real", "mean over tracks of their systems' mean pooled fraction"),
        "pooled_sd": Column("real", "standard deviation over tracks; NaN: one track"),
    }, caption="The share of relevant docs that AP averages (Appendix A.1).", by="all",
       rows=f"{HOME}.compute:effective_summary",
       paper={"fraction": {(): paper.EFFECTIVE_FRACTION}}),
    Table("depth_sensitivity", ("track", "measure"), {
        **_BY_TRACK,
        "depth": stored("count", "rank at which lists are cut"),
        "best": Column("name", "best system by full lists", dagger="short"),
        "value": measured("mean of the best system", "value"),
        "best_cut": Column("name", "best system by cut lists", label="best by cut lists",
                           dagger="short_cut"),
        "value_cut": measured("mean of the best system by cut lists", "value by cut lists"),
        "queries": Column("count", "queries of both orders: those where both values are defined"),
        "tau": Column("real", "Kendall's tau-b of the two orders; NaN: undefined", label="tau-b"),
        "short": _IS_SHORT,
        "short_cut": stored("yes", "whether the best by cut lists misses more than the median"),
    }, caption="Full lists compared with cut lists (footnote 6).", note=SHORT,
       rows=f"{HOME}.compute:depth_sensitivity"),
)  # fmt: skip
