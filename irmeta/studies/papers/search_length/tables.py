"""The tables of the study of atomized search length."""

from __future__ import annotations

from irmeta.schema.columns import MEASURE, SYSTEM, TRACK, Column, Table
from irmeta.schema.results import MEANS, SEARCH_LENGTH_HISTOGRAM
from irmeta.studies.papers.search_length import paper

SHORT = (
    "The system misses more relevant docs than the median system, and Eq. 3 makes the docs that a "
    "short list misses cheap: compare the row of unretrieved=depth."
)
_CHAIN = Column("name", "measure that the chain begins with")
_STEP = Column("count", "step of the chain, compared with the one before; 0: last with first")
_OLD = Column("text", "what it is compared with")
_NEW = Column("text", "what takes its place")
_IS_SHORT = Column("yes", "whether the system misses more than the median system", show="none")
_MISSED = Column(
    "real", "share of the relevant docs that it does not retrieve; null: not a search length",
    null=True, label="it misses", format="percent", show="page",
)  # fmt: skip
_MEDIAN_MISSED = Column(
    "real", "median of that share over all systems; null: not a search length",
    null=True, label="median of all", format="percent", show="page",
)  # fmt: skip


def _measured(meaning: str, label: str = "", **more: str) -> Column:
    return Column("real", meaning, label=label, format="measure", **more)  # pyright: ignore


def _spread(name: str, meaning: str, **more: str) -> dict[str, Column]:
    """A mean, printed with the mean less and plus one standard deviation."""
    ends = (f"{name}_low", f"{name}_high")
    nan = "NaN: one value"
    return {
        name: Column("real", meaning, span=ends, **more),  # pyright: ignore[reportArgumentType]
        f"{name}_sd": Column("real", f"its standard deviation; {nan}", show="none"),
        ends[0]: Column("real", f"mean less sd, not below what is possible; {nan}", show="none"),
        ends[1]: Column("real", f"mean plus sd, not above what is possible; {nan}", show="none"),
    }


HEADROOM = Table(
    "headroom",
    ("track", "measure"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "system": Column("name", "best system", label="best system", dagger="short", show="page"),
        "value": _measured("its mean over queries", "best"),
        "median": _measured("mean of the median system by `chosen_by`"),
        "chosen_by": Column("name", "measure by which a system is best", show="none"),
        "missed": _MISSED,
        "median_missed": Column("real", _MEDIAN_MISSED.meaning, null=True, show="none"),
        "short": _IS_SHORT,
    },
    caption="The best and the median system of each track (Figures 1 to 4).",
    note=SHORT,
)
DISTRIBUTIONS = Table(
    "distributions",
    ("figure", "low"),
    {
        "figure": Column("text", "figure of the paper, or its name under unretrieved=depth"),
        "measure": MEASURE,
        "low": Column("real", "least value of the bucket; null: below the first", null=True),
        "high": Column("real", "values are less than this; null: no end", null=True),
        "tracks": Column("count", "tracks whose best system's mean is in it"),
        "short": Column("count", "of them, tracks whose best system misses more than the median"),
        "share": Column("real", "of all tracks counted", format="percent"),
    },
    caption="Tracks by the mean of their best system (Figures 1 to 4).",
    by="all",
)
CLASSES = Table(
    "classes",
    ("measure", "low"),
    {
        "measure": MEASURE,
        "best_system": Column("text", "values of the class"),
        "low": Column("real", "least value of the class", show="none"),
        "high": Column("real", "values are less than this; null: no end", null=True, show="none"),
        "tracks": Column("count", "tracks whose best system's mean is in it"),
        "share": Column("real", "of all tracks counted", format="percent"),
        "paper": Column("text", "what the paper says of 76 tracks", label="the paper"),
    },
    caption="Tracks by their best system (Section 4.2).",
    by="all",
)
BEST_BY_CHOICE = Table(
    "best_by_choice",
    ("track", "measure"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "system": Column("name", "best system by it", label="best system", dagger="short"),
        "value": _measured("its mean over queries", "its value"),
        "missed": Column(
            "real", "share of the relevant docs that it does not retrieve",
            label="it misses", format="percent",
        ),
        "median_missed": Column(
            "real", "median of that share over all systems", label="median of all", format="percent"
        ),
        "short": _IS_SHORT,
        "rows": Column(
            "real", "mean length of its lists over the track's queries",
            label="rows a list", format=",.0f",
        ),
    },
    caption="Who is best under each choice for docs that are not retrieved (Section 3.1).",
    folded=True,
    note=SHORT,
)  # fmt: skip
TABLE_1 = Table(
    "table_1",
    ("track", "measure"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "baseline": Column("name", "system of the one side", show="page"),
        "baseline_value": _measured("its mean over queries", "its value"),
        "contender": Column("name", "system of the other", dagger="short"),
        "contender_value": _measured("its mean over queries", "its value"),
        "rrie": Column(
            "real", "relative reduction in error, Eqs. 11 and 12; NaN: perfect already",
            label="RRIE", format="percent",
        ),
        "difference": Column(
            "real", "mean over queries of the contender's less the baseline's",
            format="measure", span=("low", "high"), show="page",
        ),
        "low": Column("real", "lower end of its bootstrap interval; NaN: one query", show="none"),
        "high": Column("real", "upper end", show="none"),
        "missed": Column("real", _MISSED.meaning, null=True, label="the contender misses",
                         format="percent", show="page"),
        "median_missed": Column("real", _MEDIAN_MISSED.meaning, null=True, show="none"),
        "short": _IS_SHORT,
    },
    caption="Two systems of each track and the relative reduction in error (Table 1).",
    note=SHORT,
)  # fmt: skip
PAPER_TABLE_1 = Table(
    "paper_table_1",
    ("collection", "measure"),
    {
        "collection": Column("name", "2020 Deep Learning track", label="2020 Deep Learning"),
        "measure": MEASURE,
        "baseline": Column("real", "BM25; null: not in the text", null=True, label="BM25",
                           format="g"),
        "contender": Column("real", "neural", label="neural", format="g"),
        "rrie": Column("real", "relative reduction in error", label="RRIE", format="percent"),
    },
    caption="The paper's own Table 1.",
    by="all",
    folded=True,
)  # fmt: skip
ASL_DIFFERENCES = Table(
    "asl_differences",
    ("track", "measure", "comparison"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "comparison": Column("name", "what the two systems are"),
        "a": Column("name", "system", dagger="a_short", show="page"),
        "b": Column("name", "system", show="page"),
        "a_short": _IS_SHORT,
        "difference": Column("real", "mean over queries of a's less b's", format="length",
                             span=("low", "high")),
        "low": Column("real", "lower end of its bootstrap interval; NaN: one query", show="none"),
        "high": Column("real", "upper end", show="none"),
        "queries": Column("count", "queries on which both have a value"),
    },
    caption="Differences of search lengths with their bootstrap intervals.",
    note=SHORT,
)  # fmt: skip
REORDERING = Table(
    "reordering",
    ("track", "chain", "step"),
    {
        "track": TRACK,
        "chain": _CHAIN,
        "step": _STEP,
        "old": _OLD,
        "new": _NEW,
        "delta_sort": Column("real", "largest move of a system, share of the systems", unit="%"),
        "tau": Column("real", "Kendall's tau-b of the orders by mean; NaN: undefined"),
        "delta_value": Column("real", "mean over systems of new / old; NaN: undefined"),
        "left_out": Column("count", "systems without new / old"),
        "systems": Column("count", "systems compared"),
        "queries": Column("count", "queries compared"),
        "furthest": Column("name", "system that moves furthest; null: none moves", True),
        "better_old": Column("count", "systems better than it by the old", null=True),
        "better_new": Column("count", "systems better than it by the new", null=True),
    },
    caption="Each step of each chain on each track.",
)
MOVES = Table(
    "moves",
    ("track", "chain", "step", "system"),
    {
        "track": TRACK,
        "chain": _CHAIN,
        "step": _STEP,
        "system": SYSTEM,
        "better_old": Column("count", "systems better than it by the old"),
        "better_new": Column("count", "systems better than it by the new"),
        "moved": Column("real", "100 |better_old - better_new| / systems", unit="%"),
        "value": Column("real", "new / old of its means; NaN: undefined"),
    },
    caption="The same for each system.",
)
FURTHEST = Table(
    "furthest",
    ("track", "chain"),
    {
        "track": TRACK,
        "chain": Column("name", _CHAIN.meaning, show="none"),
        "change": Column("text", "the first measure and the last"),
        "furthest": Column("name", "system that moves furthest", label="moves furthest"),
        "missed": Column("real", "share of the relevant docs that it does not retrieve",
                         null=True, label="it misses", format="percent", show="page"),
        "better_old": Column("count", "systems better than it by the first measure", null=True,
                             label="better before", show="page"),
        "better_new": Column("count", "systems better than it by the last", null=True,
                             label="after", show="page"),
        "systems": Column("count", "systems compared", show="page"),
        "delta_sort": Column("real", "its move, share of the systems", unit="%",
                             label="Delta-sort", format=".0f"),
        "tau": Column("real", "Kendall's tau-b of both orders; NaN: undefined", label="tau-b"),
    },
    caption="The system of each track that moves furthest, and how many are better than it.",
    folded=True,
)  # fmt: skip
TABLE_2 = Table(
    "table_2",
    ("chain", "step"),
    {
        "change": Column("text", "the step in words", label="step"),
        "chain": Column("name", _CHAIN.meaning, show="none"),
        "step": Column("count", _STEP.meaning, show="none"),
        "old": Column("text", _OLD.meaning, show="none"),
        "new": Column("text", _NEW.meaning, show="none"),
        **_spread("delta_sort", "mean over tracks of the largest move", unit="%",
                  label="Delta-sort", format=".0f"),
        **_spread("tau", "mean over tracks of tau-b", label="tau-b", format=".2f"),
        **_spread("delta_value", "mean over all systems of all tracks of new / old", unit="x",
                  label="Delta-value", format="ratio"),
        "delta_value_median": Column("real", "median of new / old, which few systems can sway",
                                     unit="x", label="its median", format="ratio"),
        "tracks": Column("count", "tracks averaged", show="page"),
        "systems": Column("count", "systems of all tracks", show="none"),
        "left_out": Column("count", "of them without new / old", show="none"),
    },
    caption="Reordering of systems, step by step (Table 2 and Section 4.4).",
    by="all",
    paper=paper.TABLE_2,
)  # fmt: skip
LENGTH_DIFFERENCES = Table(
    "length_differences",
    ("track", "measure", "low", "retrieved"),
    {
        "track": TRACK,
        "measure": Column("name", "measure by which the two systems are best and median"),
        "best": Column("name", "best system"),
        "median": Column("name", "median system"),
        "low": Column("count", "least length of the best less the median's, in the bucket"),
        "high": Column("count", "greatest"),
        "docs": Column("big", "relevant (query, doc) pairs in it"),
        "retrieved": Column("name", "who retrieves them: both, best, median or neither"),
    },
    caption="Search lengths in the best less those in the median system (Figure 6).",
)
EFFECTIVE_FRACTION = Table(
    "effective_fraction",
    ("track", "system"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "fraction": Column("real", "mean over queries of n / n_q; NaN: every AP is 0"),
        "pooled": Column("real", "the same of all queries at once; NaN: MAP is 0"),
        "queries": Column("count", "queries with a fraction"),
        "undefined": Column("count", "queries with a relevant doc whose AP is 0"),
    },
    caption="The share of the relevant docs that AP averages, by system (Appendix A.1).",
)
EFFECTIVE_BY_TRACK = Table(
    "effective_by_track",
    ("track",),
    {
        "track": TRACK,
        "systems": Column("count", "systems"),
        "fraction": Column("real", "mean over systems; NaN: none has one",
                           label="share by query", format="percent"),
        "pooled": Column("real", "the same of the pooled fraction",
                         label="share of a run", format="percent"),
        "undefined": Column("count", "lists of AP 0", label="lists of AP 0"),
        "trivial": Column("yes", "whether no query has two relevant docs",
                          label="one relevant doc a query"),
    },
    caption="The share of the relevant docs that AP averages, by track (Appendix A.1).",
)  # fmt: skip
EFFECTIVE_SUMMARY = Table(
    "effective_summary",
    (),
    {
        "tracks": Column("count", "tracks averaged: those with a query that has two relevant docs"),
        "fraction": Column("real", "mean over tracks of their systems' mean fraction"),
        "fraction_sd": Column("real", "its standard deviation; NaN: one track"),
        "pooled": Column("real", "the same of the pooled fraction"),
        "pooled_sd": Column("real", "its standard deviation; NaN: one track"),
    },
    caption="The same over tracks.",
    by="all",
    paper={"fraction": {(): paper.EFFECTIVE_FRACTION}},
)
DEPTH_SENSITIVITY = Table(
    "depth_sensitivity",
    ("track", "measure"),
    {
        "track": TRACK,
        "measure": MEASURE,
        "depth": Column("count", "rank at which lists are cut", show="none"),
        "best": Column("name", "best system by full lists", dagger="short"),
        "value": _measured("its mean", "its value"),
        "best_cut": Column("name", "best system by cut lists", label="best by cut lists",
                           dagger="short_cut"),
        "value_cut": _measured("its mean by cut lists", "its value cut"),
        "tau": Column("real", "Kendall's tau-b of the two orders; NaN: undefined", label="tau-b"),
        "short": _IS_SHORT,
        "short_cut": Column("yes", "whether the best by cut lists misses more than the median",
                            show="none"),
    },
    caption="Full lists against cut ones (footnote 6).",
    note=SHORT,
)  # fmt: skip

TABLES = (
    MEANS,
    HEADROOM,
    BEST_BY_CHOICE,
    DISTRIBUTIONS,
    CLASSES,
    TABLE_1,
    PAPER_TABLE_1,
    ASL_DIFFERENCES,
    TABLE_2,
    REORDERING,
    MOVES,
    FURTHEST,
    SEARCH_LENGTH_HISTOGRAM,
    LENGTH_DIFFERENCES,
    EFFECTIVE_FRACTION,
    EFFECTIVE_BY_TRACK,
    EFFECTIVE_SUMMARY,
    DEPTH_SENSITIVITY,
)
