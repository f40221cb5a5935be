"""Records of single docs, such as ir_measures' ScoredDoc and Qrel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from irmeta.errors import DataError


def is_record(item: object) -> bool:
    """Check whether an item is one row: a named tuple with a query."""
    return isinstance(item, tuple) and "query_id" in getattr(item, "_fields", ())


def frame_of_records(records: Iterable[Any], place: str) -> pl.DataFrame:
    """Return named tuples as a frame with a column for each field.

    Raises
    ------
    DataError
        If there is no record, the records differ in their fields, or a field in its type.
    """
    rows = list(records)
    if not rows:
        raise DataError("has no rows", file=place)
    fields = {getattr(kind, "_fields", ()) for kind in set(map(type, rows))}
    if len(fields) > 1 or () in fields:
        fix = "Give every row the same fields: query_id, doc_id, and score or relevance."
        raise DataError("the rows are not named tuples of one kind", file=place, fix=fix)
    try:
        columns = zip(fields.pop(), zip(*rows, strict=True), strict=True)
        return pl.DataFrame([pl.Series(name, values) for name, values in columns])
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        why = {"why": " ".join(str(error).split())}
        fix = "Give every field one type: ids are text, scores and grades numbers."
        raise DataError("a field cannot be read ({why})", file=place, ids=why, fix=fix) from None
