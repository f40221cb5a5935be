"""The tables of the study of atomized search length (paper 1)."""

from __future__ import annotations

from irmeta.schema.columns import MEASURE, SYSTEM, TRACK, Column, Table

_CHAIN = Column("name", "the measure that the chain begins with")
_STEP = Column("count", "step of the chain, compared with the one before; 0: last with first")
_OLD = Column("text", "what it is compared with")
_NEW = Column("text", "what takes its place")

TABLES = (
    Table(
        "studied_tracks",
        ("track",),
        {
            "track": TRACK,
            "systems": Column("count", "systems in the track"),
            "queries": Column("count", "judged queries with a relevant doc"),
            "relevant": Column("big", "relevant (query, doc) pairs"),
            "deepest_rank": Column("count", "the track's deepest rank"),
            "highest_grade": Column("count", "highest grade"),
            "used": Column("yes", "whether what is said over tracks counts it"),
            "left_out": Column("text", "why it is not counted; null: it is", null=True),
            "notes": Column("text", "what else to know of it", null=True),
        },
    ),
    Table(
        "headroom",
        ("track", "measure"),
        {
            "track": TRACK,
            "measure": MEASURE,
            "system": Column("name", "the best system"),
            "value": Column("real", "its mean over queries"),
            "median": Column("real", "the mean of the median system by `chosen_by`"),
            "chosen_by": Column("name", "the measure that says which system is best"),
        },
    ),
    Table(
        "distributions",
        ("figure", "low"),
        {
            "figure": Column("text", "figure of the paper"),
            "measure": MEASURE,
            "low": Column("real", "least value of the bucket; null: below the first", null=True),
            "high": Column("real", "values are less than this; null: no end", null=True),
            "tracks": Column("count", "tracks whose best system's mean is in it"),
            "share": Column("real", "of all tracks counted"),
        },
    ),
    Table(
        "classes",
        ("measure", "low"),
        {
            "measure": MEASURE,
            "low": Column("real", "least value of the class"),
            "high": Column("real", "values are less than this; null: no end", null=True),
            "tracks": Column("count", "tracks whose best system's mean is in it"),
            "share": Column("real", "of all tracks counted"),
            "paper": Column("text", "what the paper says of 76 tracks"),
        },
    ),
    Table(
        "best_by_choice",
        ("track", "measure"),
        {
            "track": TRACK,
            "measure": MEASURE,
            "system": Column("name", "the best system by it"),
            "value": Column("real", "its mean over queries"),
            "missed": Column("real", "share of the relevant docs that it does not retrieve"),
            "median_missed": Column("real", "the median of that share over all systems"),
            "rows": Column("real", "mean length of its lists over the track's queries"),
        },
    ),
    Table(
        "table_1",
        ("track", "measure"),
        {
            "track": TRACK,
            "measure": MEASURE,
            "baseline": Column("name", "system of the one side"),
            "contender": Column("name", "system of the other"),
            "baseline_value": Column("real", "its mean over queries"),
            "contender_value": Column("real", "its mean over queries"),
            "rrie": Column(
                "real", "relative reduction in error, Eqs. 11 and 12; NaN: perfect already"
            ),
        },
    ),
    Table(
        "asl_differences",
        ("track", "measure", "comparison"),
        {
            "track": TRACK,
            "measure": MEASURE,
            "comparison": Column("name", "what the two systems are"),
            "a": Column("name", "system"),
            "b": Column("name", "system"),
            "difference": Column("real", "mean over queries of a's less b's"),
            "low": Column("real", "lower end of its bootstrap interval; NaN: one query"),
            "high": Column("real", "upper end"),
            "queries": Column("count", "queries on which both have a value"),
        },
    ),
    Table(
        "reordering",
        ("track", "chain", "step"),
        {
            "track": TRACK,
            "chain": _CHAIN,
            "step": _STEP,
            "old": _OLD,
            "new": _NEW,
            "delta_sort": Column("real", "largest move of a system, % of the systems"),
            "tau": Column("real", "Kendall's tau-b of the orders by mean; NaN: undefined"),
            "delta_value": Column("real", "mean over systems of new / old; NaN: undefined"),
            "left_out": Column("count", "systems without new / old"),
            "systems": Column("count", "systems compared"),
            "queries": Column("count", "queries compared"),
            "furthest": Column("name", "the system that moves furthest; null: none moves", True),
            "better_old": Column("count", "systems better than it by the old", null=True),
            "better_new": Column("count", "systems better than it by the new", null=True),
        },
    ),
    Table(
        "moves",
        ("track", "chain", "step", "system"),
        {
            "track": TRACK,
            "chain": _CHAIN,
            "step": _STEP,
            "system": SYSTEM,
            "better_old": Column("count", "systems better than it by the old"),
            "better_new": Column("count", "systems better than it by the new"),
            "moved": Column("real", "100 |better_old - better_new| / systems"),
            "value": Column("real", "new / old of its means; NaN: undefined"),
        },
    ),
    Table(
        "table_2",
        ("chain", "step"),
        {
            "chain": _CHAIN,
            "step": _STEP,
            "old": _OLD,
            "new": _NEW,
            "tracks": Column("count", "tracks averaged"),
            "delta_sort": Column("real", "mean over tracks of the largest move, %"),
            "delta_sort_sd": Column("real", "its standard deviation; NaN: one track"),
            "tau": Column("real", "mean over tracks of tau-b"),
            "tau_sd": Column("real", "its standard deviation; NaN: one track"),
            "delta_value": Column("real", "mean over all systems of all tracks of new / old"),
            "delta_value_sd": Column("real", "its standard deviation; NaN: one system"),
            "delta_value_median": Column("real", "the median of new / old, which few can sway"),
            "systems": Column("count", "systems of all tracks"),
            "left_out": Column("count", "of them without new / old"),
            "paper_delta_sort": Column("text", "as the paper prints it, of 76 tracks", null=True),
            "paper_tau": Column("text", "as the paper prints it", null=True),
            "paper_delta_value": Column("text", "as the paper prints it", null=True),
        },
    ),
    Table(
        "length_differences",
        ("track", "low"),
        {
            "track": TRACK,
            "best": Column("name", "the best system by ASL"),
            "median": Column("name", "the median system by ASL"),
            "low": Column("count", "least length of the best less the median's, in the bucket"),
            "high": Column("count", "greatest"),
            "docs": Column("big", "relevant (query, doc) pairs in it"),
        },
    ),
    Table(
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
    ),
    Table(
        "effective_summary",
        (),
        {
            "tracks": Column("count", "tracks averaged"),
            "fraction": Column("real", "mean over tracks of their systems' mean fraction"),
            "fraction_sd": Column("real", "its standard deviation; NaN: one track"),
            "pooled": Column("real", "the same of the pooled fraction"),
            "pooled_sd": Column("real", "its standard deviation; NaN: one track"),
            "paper": Column("text", "what the paper says of 76 tracks"),
        },
    ),
    Table(
        "depth_sensitivity",
        ("track", "measure"),
        {
            "track": TRACK,
            "measure": MEASURE,
            "depth": Column("count", "where lists are cut"),
            "best": Column("name", "the best system by whole lists"),
            "value": Column("real", "its mean"),
            "best_cut": Column("name", "the best system by cut lists"),
            "value_cut": Column("real", "its mean by cut lists"),
            "tau": Column("real", "Kendall's tau-b of the two orders; NaN: undefined"),
        },
    ),
)
