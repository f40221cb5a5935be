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
    percent,
)

SCALE_FREE = ("spearman", "precision", "recall", "kappa_binary")
"""Coefficients that need no common scale of grades."""
SAME_SCALE = (
    "exact",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "ac1",
    "ac2",
    "mean_reference",
    "mean_judge",
    "leniency",
)
"""Coefficients of grades on one scale."""


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
VALIDATED_RUNS = Table(
    "runs",
    ("run",),
    {
        "run": Column("text", "the run, named after its file"),
        "file": Column("text", "path of the file, and the member of an archive"),
        "valid": Column("yes", "whether the file has no error"),
        "errors": Column("big", "errors of the file"),
        "notes": Column("count", "notes on the run"),
        "tag": Column("text", "tag of the run; null: the file has none, or errors", null=True),
        "queries": Column("count", "queries with docs; null: the file has errors", null=True),
        "rows": Column("big", "rows; null: the file has errors", null=True),
    },
    caption="Validity of each run.",
)
RUN_POOL = Table(
    "pool",
    ("query", "doc"),
    {
        "query": QUERY,
        "doc": DOC,
        "depth": Column("count", "smallest rank of the doc in the runs"),
        "retrieved_by": Column("count", "runs that rank the doc within the depth of the pool"),
        "groups": Column("count", "teams of these runs; null: the teams are not known", null=True),
    },
    caption="Docs of a pool without judgments.",
)
RUN_FINDINGS = Table(
    "findings",
    ("run",),
    {
        "run": Column("text", "the run, named after its file"),
        "kind": Column("name", "error: the run is not valid; note: it may not be as intended"),
        "line": Column("big", "line of the file; null: no single line", null=True),
        "value": Column("text", "content of the line, or value of the field", null=True),
        "problem": Column("text", "what is wrong"),
    },
    caption="Errors of runs, the first 20 each, and notes.",
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
        "rank": Column("count", "rank of the doc; null: not retrieved", null=True),
        "search_length": Column("real", "non-relevant docs above the doc, plus 1", unit="docs"),
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
