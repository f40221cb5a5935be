"""The tables of scores, search lengths and rarity, and what the overview says of tracks."""

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
)

TABLES = (
    Table(
        "scores",
        ("system", "query", "measure"),
        {
            "track": TRACK,
            "system": SYSTEM,
            "query": QUERY,
            "measure": MEASURE,
            "value": Column("real", "value; NaN: undefined"),
        },
    ),
    Table(
        "means",
        ("track", "system", "measure"),
        {
            "track": TRACK,
            "system": SYSTEM,
            "measure": MEASURE,
            "value": Column("real", "mean over queries, undefined ones left out; NaN: none left"),
            "queries": Column("count", "how many queries it averages"),
            "no_list": Column("count", "queries of the mean that the system has no list for"),
            "no_irrelevant": Column(
                "count",
                "lists without a non-relevant doc (irrel_q = 0); null: not a search length",
                null=True,
            ),
        },
    ),
    Table(
        "search_lengths",
        ("query", "system", "doc"),
        {
            "track": TRACK,
            "system": SYSTEM,
            "query": QUERY,
            "doc": DOC,
            "grade": GRADE,
            "rank": Column("count", "its rank; null: not retrieved", null=True),
            "search_length": Column("real", "non-relevant docs above it, plus 1"),
        },
    ),
    Table(
        "rarity",
        ("query", "doc"),
        {
            "track": TRACK,
            "query": QUERY,
            "doc": DOC,
            "grade": GRADE,
            "retrieved_by": Column("count", "systems that retrieve it within the depth"),
            "systems": Column("count", "systems of the track"),
            "rarity": Column("real", "1 - retrieved_by / systems"),
        },
    ),
    Table(
        "search_length_histogram",
        ("track", "system", "low"),
        {
            "track": TRACK,
            "system": SYSTEM,
            "low": Column("count", "least search length of the bucket; null: not retrieved", True),
            "high": Column("count", "greatest; null: not retrieved", null=True),
            "docs": Column("big", "relevant (query, doc) pairs in it"),
        },
    ),
    Table(
        "agreement",
        ("track", "measure_a", "measure_b"),
        {
            "track": TRACK,
            "measure_a": MEASURE,
            "measure_b": MEASURE,
            "tau": Column("real", "Kendall's tau-b of their orders of systems; NaN: undefined"),
            "systems": Column("count", "systems ordered"),
        },
    ),
    Table(
        "best",
        ("track", "measure", "place"),
        {
            "track": TRACK,
            "measure": MEASURE,
            "direction": Column("count", "1: greater is better, -1: less is better"),
            "place": Column("count", "1: the best; systems of equal value share a place"),
            "system": SYSTEM,
            "value": Column("real", "mean over queries"),
        },
    ),
    Table(
        "tracks",
        ("track",),
        {
            "track": Column("text", "track"),
            "systems": Column("count", "systems in the track"),
            "set_aside": Column("count", "run files set aside"),
            "rows": Column("big", "rows of all runs"),
            "deepest_rank": Column("count", "the track's deepest rank"),
            "qrels": Column("text", "the qrels set used"),
            "tie_order": Column("text", "how ties are ordered"),
            "queries": Column("count", "judged queries"),
            "queries_without_relevant": Column("count", "judged queries without a relevant doc"),
            "judged": Column("big", "judged (query, doc) pairs"),
            "relevant": Column("big", "of them relevant, grade 1 and above"),
            "highest_grade": Column("count", "highest grade"),
            "notes": Column("text", "what reading noticed of the qrels", null=True),
        },
    ),
)
