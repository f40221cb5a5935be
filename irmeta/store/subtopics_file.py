"""A CSV with the weights and types of a qrels set's subtopics."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import polars as pl

from irmeta.errors import DataError, did_you_mean
from irmeta.trec.qrels import QrelsText
from irmeta.trec.source import QrelsSource, TrackSource
from irmeta.trec.text import read_text

_KEY = ("query", "subtopic")
_COLUMNS = (*_KEY, "weight", "type")
_SCHEMA = pl.Schema(dict.fromkeys(("set", *_COLUMNS), pl.String) | {"weight": pl.Float64})


def read_subtopics(
    source: TrackSource, sets: Sequence[tuple[QrelsSource, QrelsText]]
) -> pl.DataFrame:
    """Read the subtopics files: set, query, subtopic, weight, type.

    Rows are sorted by set, query and subtopic; null where a file gives no weight or type.

    Raises
    ------
    DataError
        If a file is no CSV with columns query, subtopic and weight or type, describes a subtopic
        twice, has a weight that is not a number from 0, or has no query that the qrels set judges.
    """
    frames = [_SCHEMA.to_frame()]
    for given, parsed in sets:
        if given.subtopics_file is None:
            continue
        try:
            frame = _parse(given.subtopics_file, source)
            if frame.join(parsed.frame, on="query", how="semi").is_empty():
                fix = "Are these the subtopics of another track?"
                problem = f"none of its queries is judged in {given.file}"
                raise DataError(problem, file=given.subtopics_file, fix=fix)
        except DataError as error:
            if not source.may_quote(given.subtopics_file):
                error.conceal()
                error.fix = None  # the fix may list the columns
            raise
        frames.append(frame.select(pl.lit(given.name).alias("set"), *_COLUMNS))
    return pl.concat(frames).sort("set", *_KEY)


def undescribed(given: QrelsSource, parsed: QrelsText, described: pl.DataFrame) -> str | None:
    """Return a note on judged subtopics that the file of a qrels set does not describe."""
    if given.subtopics_file is None:
        return None
    judged = parsed.frame.select(_KEY).unique()
    names = described.filter(pl.col("set") == given.name)
    missing = judged.join(names, on=_KEY, how="anti").sort(_KEY)
    if missing.is_empty():
        return None
    query, subtopic = missing.row(0)
    first = f"the first is {subtopic!r} of query {query!r}"
    return f"{given.subtopics_file} lacks {missing.height} of {judged.height} subtopics; {first}"


def _parse(file: str, source: TrackSource) -> pl.DataFrame:
    data, _ = read_text(source.input_file(file))
    reader = csv.reader(io.StringIO(data.decode(), newline=""))
    try:
        rows = [(reader.line_num, [cell.strip() or None for cell in row]) for row in reader]
    except csv.Error as error:
        line, why = reader.line_num, {"why": str(error)}
        raise DataError("cannot be read as CSV ({why})", file=file, line=line, ids=why) from None
    rows = [(line, row) for line, row in rows if any(row)]
    columns = [str(name) for name in rows[0][1]] if rows else []
    for column in columns:
        if column not in _COLUMNS:
            hint = did_you_mean(column, _COLUMNS)
            raise DataError("is not a known column", file=file, value=column, fix=hint)
    missing = [column for column in _KEY if column not in columns]
    if missing or len(columns) == len(_KEY):
        fix = "It needs the columns query, subtopic, and weight or type or both."
        problem = f"has no column {missing[0]!r}" if missing else "has neither weights nor types"
        raise DataError(problem, file=file, fix=fix)
    for line, row in rows[1:]:
        if len(row) != len(columns):
            problem = f"{len(row)} fields where the first line has {len(columns)}"
            raise DataError(problem, file=file, line=line, value=",".join(c or "" for c in row))
    records = [{"line": line, **dict(zip(columns, row, strict=True))} for line, row in rows[1:]]
    schema = {"line": pl.Int64, **dict.fromkeys(_COLUMNS, pl.String)}
    return _checked(file, pl.DataFrame(records, schema=schema))


def _checked(file: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with weights as numbers; raise for the first malformed row."""
    weight = pl.col("weight").cast(pl.Float64, strict=False)
    is_weight = weight.is_finite() & (weight >= 0)
    wrong = {
        "a query or subtopic is missing": pl.any_horizontal(pl.col(_KEY).is_null()),
        "the subtopic is described twice": ~pl.struct(_KEY).is_first_distinct(),
        "the weight is not a number from 0": ~is_weight.fill_null(pl.col("weight").is_null()),
    }
    for problem, condition in wrong.items():
        rows = frame.filter(condition)
        if rows.height:
            row = rows.row(0, named=True)
            value = ",".join(str(row[c] or "") for c in _COLUMNS)
            raise DataError(problem, file=file, line=row["line"], value=value)
    return frame.with_columns(weight)
