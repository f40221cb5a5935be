"""The tables of a store."""

from __future__ import annotations

from irmeta.schema.columns import (
    DOC,
    DOC_ID,
    QUERY,
    SYSTEM,
    TRACK,
    Column,
    Table,
)

SYSTEMS = Table(
    "systems",
    ("track", "system", "file"),
    {
        "track": TRACK,
        "system": Column("text", "system; null: skipped before its name was known", null=True),
        "group": Column("text", "participant, from the track's facts", null=True),
        "type": Column("text", "type of run, from the track's facts", null=True),
        "pooled": Column("yes", "whether the system contributed to the pool", null=True),
        "tag": Column("text", "the run's tag; null: none, or not read", null=True),
        "file": Column("text", "source file, or archive/member, relative to the collection"),
        "sha256": Column(
            "text", "SHA-256 of the stored file or member; null: unreadable", null=True
        ),
        "rows": Column("big", "rows kept"),
        "lists": Column("count", "queries with a list"),
        "missing_queries": Column("count", "judged queries without a list"),
        "unjudged_queries": Column("count", "queries with a list that no qrels set has"),
        "deepest_rank": Column("count", "length of the longest list"),
        "tied_rows": Column("big", "rows whose score another row of the list shares"),
        "rounded_rows": Column("big", "of these, rows whose scores are equal only as float32"),
        "judged_rows": Column("big", "rows whose doc the primary qrels judge"),
        "contradicting_lists": Column("count", "lists whose rank column contradicts the scores"),
        "equal_to": Column(
            "text",
            "first system that ranks the judged docs the same; null: none",
            null=True,
        ),
        "part": Column(
            "count", "of systems with disjoint judged queries, the set of queries; null: none", True
        ),
        "duplicates": Column("count", "rows dropped as duplicate docs of a list"),
        "malformed": Column("count", "malformed lines dropped"),
        "empty_lists": Column(
            "text", "queries with an empty list, as a JSON list; null: none", null=True
        ),
        "notes": Column("text", "further notes on reading", null=True),
        "skip_reason": Column(
            "text", "why the run was skipped; null: it is in the track", null=True
        ),
    },
)

TABLES = (
    Table(
        "runs",
        ("query", "system", "rank"),
        {
            "track": TRACK,
            "query": QUERY,
            "system": SYSTEM,
            "rank": Column("count", "1-based, under the store's tie order"),
            "doc": DOC,
            "grade": Column("grade", "grade in the primary qrels set; null: not in it", null=True),
            "score": Column("real", "as read, float64"),
            "position": Column("count", "1-based row number in the run file"),
            "rank_given": Column(
                "count", "rank column of the file; null: not a whole number", True
            ),
            "doc_id": DOC_ID,
        },
    ),
    Table(
        "qrels",
        ("set", "query", "subtopic", "doc"),
        {
            "track": TRACK,
            "set": Column("name", "name of the qrels set; the first of a track is primary"),
            "query": QUERY,
            "subtopic": Column("name", "subtopic; null: ad hoc", null=True),
            "doc": DOC,
            "grade": Column("grade", "as judged; negative: in the pool but unjudged"),
            "doc_id": DOC_ID,
        },
    ),
    Table(
        "docs",
        ("query", "doc_id"),
        {"track": TRACK, "query": QUERY, "doc_id": DOC_ID, "doc": Column("text", "doc")},
    ),
    SYSTEMS,
    Table(
        "queries",
        ("query", "column"),
        {
            "track": TRACK,
            "query": QUERY,
            "column": Column("name", "column of the track's queries.csv"),
            "value": Column("text", "value of the query; a query without one has no row"),
        },
    ),
    Table(
        "factors",
        ("kind", "name", "column"),
        {
            "track": TRACK,
            "kind": Column("name", 'what the row is of: "system" or "judge"'),
            "name": Column("name", "system, or qrels set of a judge"),
            "column": Column("name", "column of the track's systems.csv or judges.csv"),
            "value": Column("text", "value; an empty cell has no row"),
        },
    ),
    Table(
        "samples",
        ("set", "query", "doc"),
        {
            "track": TRACK,
            "set": Column("name", "name of a qrels set of the format prels or sample-eval"),
            "query": QUERY,
            "doc": DOC,
            "doc_id": DOC_ID,
            "stratum": Column("name", "stratum of the doc (sample-eval); null: prels", null=True),
            "method": Column(
                "grade", "how the doc was chosen (prels): 0 MTC, 1 statAP, 2 both", null=True
            ),
            "probability": Column(
                "real", "inclusion probability of the doc (prels); null: NA", null=True
            ),
        },
    ),
    Table(
        "subtopics",
        ("set", "query", "subtopic"),
        {
            "track": TRACK,
            "set": Column("name", "name of the qrels set"),
            "query": QUERY,
            "subtopic": Column("name", "subtopic"),
            "weight": Column("real", "weight of the subtopic; null: not given", null=True),
            "type": Column(
                "name", 'type of the subtopic, e.g. "inf" or "vital"; null: not given', null=True
            ),
        },
    ),
)
