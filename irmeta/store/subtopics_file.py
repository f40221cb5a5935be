"""A CSV with the weights and types of a qrels set's subtopics."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from irmeta.errors import DataError
from irmeta.trec.csv_rows import read_csv_rows, refuse_rows
from irmeta.trec.qrels import QrelsText
from irmeta.trec.source import QrelsSource, TrackSource

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
    frame = read_csv_rows(source.input_file(file), _COLUMNS)
    missing = [column for column in _COLUMNS if column not in frame.columns]
    keys = [column for column in missing if column in _KEY]
    if keys or len(missing) == 2:
        fix = "It needs the columns query, subtopic, and weight or type or both."
        problem = f"has no column {keys[0]!r}" if keys else "has neither weights nor types"
        raise DataError(problem, file=file, fix=fix)
    empty = (pl.lit(None, pl.String).alias(column) for column in missing)
    frame = frame.with_columns(*empty).select("line", *_COLUMNS)
    weight = pl.col("weight").cast(pl.Float64, strict=False)
    is_weight = weight.is_finite() & (weight >= 0)
    wrong = {
        "a query or subtopic is missing": pl.any_horizontal(pl.col(_KEY).is_null()),
        "the subtopic is described twice": ~pl.struct(_KEY).is_first_distinct(),
        "the weight is not a number from 0": ~is_weight.fill_null(pl.col("weight").is_null()),
    }
    refuse_rows(frame, wrong, file)
    return frame.with_columns(weight)
