"""Every table's columns, types and keys: the one vocabulary of stores and results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pyarrow as pa

FORMAT = 1  # of the store; a reader refuses a greater one

_TYPES = {
    "text": pa.string(),
    "name": pa.dictionary(pa.int32(), pa.string()),
    "grade": pa.int8(),
    "count": pa.int32(),
    "big": pa.int64(),
    "real": pa.float64(),
    "yes": pa.bool_(),
}


@dataclass(frozen=True)
class Column:
    """One column: its kind, whether it may be null, and what it means."""

    kind: str
    meaning: str
    null: bool = False


@dataclass(frozen=True)
class Table:
    """A table's columns in order; `key` identifies a row and is the sort order."""

    name: str
    key: tuple[str, ...]
    columns: dict[str, Column]

    def arrow(self, *, dictionary: bool = False) -> pa.Schema:
        """The Arrow schema; with `dictionary`, repeated strings are dictionary-encoded."""
        return _arrow(self.name, dictionary)


_TRACK = Column("name", "track")
_SYSTEM = Column("name", "system")
_QUERY = Column("name", "query")
_DOC = Column("name", "doc")
_GRADE = Column("grade", "grade in the chosen qrels set")
_MEASURE = Column("name", "canonical name of the measure")
_DOC_ID = Column("count", "dense id within (track, query), from 0, docs judged in any set first")

_TABLES = (
    Table(
        "runs",
        ("query", "system", "rank"),
        {
            "track": _TRACK,
            "query": _QUERY,
            "system": _SYSTEM,
            "rank": Column("count", "1-based, under the store's tie order"),
            "doc": _DOC,
            "grade": Column("grade", "grade in the primary qrels set; null: not in it", null=True),
            "score": Column("real", "as read, float64"),
            "position": Column("count", "1-based place among the rows of its run file"),
            "rank_given": Column("count", "the file's own rank; null: not a whole number", True),
            "doc_id": _DOC_ID,
        },
    ),
    Table(
        "qrels",
        ("set", "query", "subtopic", "doc"),
        {
            "track": _TRACK,
            "set": Column("name", "name of the qrels set; the first of a track is primary"),
            "query": _QUERY,
            "subtopic": Column("name", "subtopic; null: ad hoc", null=True),
            "doc": _DOC,
            "grade": Column("grade", "as judged; negative: in the pool but unjudged"),
            "doc_id": _DOC_ID,
        },
    ),
    Table(
        "docs",
        ("query", "doc_id"),
        {"track": _TRACK, "query": _QUERY, "doc_id": _DOC_ID, "doc": Column("text", "doc")},
    ),
    Table(
        "systems",
        ("track", "system", "file"),
        {
            "track": _TRACK,
            "system": Column(
                "text", "system; null: set aside before its name was known", null=True
            ),
            "group": Column("text", "participant, from the track's facts", null=True),
            "type": Column("text", "type of run, from the track's facts", null=True),
            "pooled": Column("yes", "whether it contributed to the pool", null=True),
            "file": Column("text", "source file, relative to the collection"),
            "sha256": Column("text", "of the file as it lies on disk; null: unreadable", null=True),
            "rows": Column("big", "rows kept"),
            "lists": Column("count", "queries it has a list for"),
            "missing_queries": Column("count", "judged queries without a list"),
            "unjudged_queries": Column("count", "queries with a list that no qrels set has"),
            "deepest_rank": Column("count", "length of its longest list"),
            "tied_rows": Column("big", "rows whose score another row of the list shares"),
            "duplicates": Column("count", "rows dropped since their doc came before in the list"),
            "malformed": Column("count", "lines dropped since they could not be read"),
            "notes": Column("text", "what else reading noticed", null=True),
            "set_aside": Column("text", "why the run is not in the track; null: it is", null=True),
        },
    ),
    Table(
        "scores",
        ("system", "query", "measure"),
        {
            "track": _TRACK,
            "system": _SYSTEM,
            "query": _QUERY,
            "measure": _MEASURE,
            "value": Column("real", "value; NaN: undefined"),
        },
    ),
    Table(
        "means",
        ("track", "system", "measure"),
        {
            "track": _TRACK,
            "system": _SYSTEM,
            "measure": _MEASURE,
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
            "track": _TRACK,
            "system": _SYSTEM,
            "query": _QUERY,
            "doc": _DOC,
            "grade": _GRADE,
            "rank": Column("count", "its rank; null: not retrieved", null=True),
            "search_length": Column("real", "non-relevant docs above it, plus 1"),
        },
    ),
    Table(
        "rarity",
        ("query", "doc"),
        {
            "track": _TRACK,
            "query": _QUERY,
            "doc": _DOC,
            "grade": _GRADE,
            "retrieved_by": Column("count", "systems that retrieve it within the depth"),
            "systems": Column("count", "systems of the track"),
            "rarity": Column("real", "1 - retrieved_by / systems"),
        },
    ),
    Table(
        "search_length_histogram",
        ("track", "system", "low"),
        {
            "track": _TRACK,
            "system": _SYSTEM,
            "low": Column("count", "least search length of the bucket; null: not retrieved", True),
            "high": Column("count", "greatest; null: not retrieved", null=True),
            "docs": Column("big", "relevant (query, doc) pairs in it"),
        },
    ),
    Table(
        "agreement",
        ("track", "measure_a", "measure_b"),
        {
            "track": _TRACK,
            "measure_a": _MEASURE,
            "measure_b": _MEASURE,
            "tau": Column("real", "Kendall's tau-b of their orders of systems; NaN: undefined"),
            "systems": Column("count", "systems ordered"),
        },
    ),
    Table(
        "best",
        ("track", "measure", "place"),
        {
            "track": _TRACK,
            "measure": _MEASURE,
            "direction": Column("count", "1: greater is better, -1: less is better"),
            "place": Column("count", "1: the best; systems of equal value share a place"),
            "system": _SYSTEM,
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
TABLES = {table.name: table for table in _TABLES}


@cache
def _arrow(name: str, dictionary: bool) -> pa.Schema:
    plain = {**_TYPES, "name": _TYPES["name" if dictionary else "text"]}
    columns = TABLES[name].columns.items()
    return pa.schema([pa.field(c, plain[col.kind], nullable=col.null) for c, col in columns])
