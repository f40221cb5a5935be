"""Tables that commands and studies share: scores, means, search lengths, rarity, agreement."""

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
        "value": Column("real", "mean over queries, undefined ones left out; NaN: none left"),
        "queries": Column("count", "how many queries it averages"),
        "no_list": Column("count", "queries of the mean that the system has no list for"),
        "lists_without_nonrelevant": Column(
            "count",
            "lists without a non-relevant doc (irrel_q = 0); null: not a search length",
            null=True,
        ),
    },
    caption="The mean of every measure for every system, and how many queries it averages.",
)
SEARCH_LENGTHS = Table(
    "search_lengths",
    ("query", "system", "doc"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "query": QUERY,
        "doc": DOC,
        "grade": GRADE,
        "rank": Column("count", "its rank; null: not retrieved", null=True),
        "search_length": Column("real", "non-relevant docs above it, plus 1", unit="docs"),
    },
    caption="A row for each system, query and relevant doc.",
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
        "retrieved_by": Column("count", "systems that retrieve it within the depth"),
        "systems": Column("count", "systems of the track"),
        "rarity": Column("real", "1 - retrieved_by / systems"),
    },
    caption="How many systems retrieve each relevant doc.",
    apart=True,
)
SEARCH_LENGTH_HISTOGRAM = Table(
    "search_length_histogram",
    ("track", "system", "low"),
    {
        "track": TRACK,
        "system": SYSTEM,
        "low": Column("count", "least search length of the bucket; null: not retrieved", True),
        "high": Column("count", "greatest; null: not retrieved", null=True),
        "docs": Column("big", "relevant (query, doc) pairs in it"),
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
    },
    caption="Kendall's tau-b between the measures' orders of systems.",
)
