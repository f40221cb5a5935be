"""What a table and a column are, and the columns that many tables share."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TYPES = {
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
        plain = {**TYPES, "name": TYPES["name" if dictionary else "text"]}
        columns = self.columns.items()
        return pa.schema([pa.field(c, plain[col.kind], nullable=col.null) for c, col in columns])


TRACK = Column("name", "track")
SYSTEM = Column("name", "system")
QUERY = Column("name", "query")
DOC = Column("name", "doc")
GRADE = Column("grade", "grade in the chosen qrels set")
MEASURE = Column("name", "canonical name of the measure")
DOC_ID = Column("count", "dense id within (track, query), from 0, docs judged in any set first")
