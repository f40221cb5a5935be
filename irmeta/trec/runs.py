"""A run file to columns: query, doc, score, rank and line of each retrieved doc."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from irmeta.errors import DataError
from irmeta.policies import Malformed
from irmeta.trec.rows import NO_RANK, read_rows
from irmeta.trec.text import Text, first_fields, lines

_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\Z")
_WHOLE = re.compile(rb"[+-]?\d+\Z")
_SHAPE = "A run line is: query Q0 doc rank score tag."


@dataclass
class RunText:
    """The rows of one run file, in file order.

    Attributes
    ----------
    query, doc
        Arrow arrays of strings (query dictionary-encoded).
    score
        float64, finite, as printed in the file.
    rank
        int32, the file's own; `NO_RANK` where it is not a whole number.
    line
        1-based line numbers, int64.
    tag
        The run's name, None in a five-column file.
    malformed
        How many lines ``malformed="skip"`` dropped.
    notes
        What reading noticed, in words.
    """

    query: pa.DictionaryArray
    doc: pa.StringArray
    score: np.ndarray
    rank: np.ndarray
    line: np.ndarray
    tag: str | None
    malformed: int = 0
    notes: list[str] = field(default_factory=list)


def parse_run(text: Text, malformed: Malformed = "error") -> RunText:
    """Read a run in TREC form: six fields a line, or five where the tag is missing throughout.

    Fields are separated by any mix of spaces and tabs; blank lines and lines beginning with # are
    skipped; everything after the score is the tag; a decimal comma is read as a point (noted).

    Raises
    ------
    DataError
        At the first line that cannot be read, unless `malformed` is ``skip``; or when no line can.
    """
    run = _fast(text) or _by_line(text, malformed)
    run.notes[:0] = text.notes
    return run


def _fast(text: Text) -> RunText | None:
    width = _first_width(text)
    rows = read_rows(text.data, width)
    if rows is None:
        return None
    return RunText(
        query=rows.query,
        doc=rows.doc,
        score=rows.score,
        rank=rows.rank,
        line=rows.line,
        tag=rows.tags[0] if rows.tags else None,
        notes=_notes(rows.tags, rows.commas, rows.odd_ranks, 0),
    )


def _notes(tags: Collection[str], commas: int, ranks: int, skipped: int) -> list[str]:
    """What is worth saying of a run that could be read."""
    notes = []
    if not tags:
        notes.append("five columns: no tag, the system is named after the file")
    elif len(tags) > 1:
        notes.append(f"{len(tags)} tags, the first is used")
    if commas:
        notes.append(f"decimal comma in {commas:,} scores")
    if ranks:
        notes.append(f"{ranks:,} ranks are not whole numbers")
    if skipped:
        notes.append(f"{skipped:,} malformed lines dropped")
    return notes


def _first_width(text: Text) -> int:
    """5 where the first line lacks a tag: it ends with a whole number and a number."""
    fields = first_fields(text)
    if len(fields) != 5 or not _WHOLE.match(fields[3]):
        return 6
    return 5 if _NUMBER.match(fields[4]) or _COMMA.match(fields[4]) else 6


def _width(text: Text) -> int:
    """5 where every line lacks a tag."""
    five = _first_width(text) == 5 and all(len(row) <= 5 for _, row in lines(text))
    return 5 if five else 6


def _by_line(text: Text, malformed: Malformed) -> RunText:
    width = _width(text)
    rows: list[tuple[bytes, bytes, float, int, int]] = []
    tags: dict[str, None] = {}
    noticed: Counter[str] = Counter()
    for number, fields in lines(text, 6):
        try:
            rows.append(_row(fields, width, number, noticed))
        except DataError as error:
            if malformed == "error":
                error.file = text.name
                raise
            noticed["malformed"] += 1
            continue
        if width == 6:
            tags.setdefault(fields[5].decode())
    if not rows:
        problem = "no line can be read as a result" if noticed["malformed"] else "holds no result"
        raise DataError(problem, file=text.name, fix=_SHAPE)
    query, doc, score, rank, line = zip(*rows, strict=True)
    return RunText(
        query=pa.array(query, pa.binary()).cast(pa.string()).dictionary_encode(),
        doc=pa.array(doc, pa.binary()).cast(pa.string()),
        score=np.array(score, np.float64),
        rank=np.array(rank, np.int32),
        line=np.array(line, np.int64),
        tag=next(iter(tags), None),
        malformed=noticed["malformed"],
        notes=_notes(tags, noticed["commas"], noticed["ranks"], noticed["malformed"]),
    )


def _row(
    fields: list[bytes], width: int, line: int, noticed: Counter[str]
) -> tuple[bytes, bytes, float, int, int]:
    """One line as (query, doc, score, rank, line), or a DataError without its file."""
    if len(fields) < 5:
        problem = f"{len(fields)} fields where a run has six"
        raise DataError(problem, line=line, value=b" ".join(fields), fix=_SHAPE)
    query, _, doc, rank, printed = fields[:5]
    score = _score(printed, line, noticed)
    whole = _WHOLE.match(rank) is not None
    if len(fields) != width or (width == 5 and not whole):
        problem = f"{len(fields)} fields where a run has six"
        if not whole and len(fields) == 5:
            problem = "field 4 (the rank) of a run of five columns is not a whole number"
        raise DataError(problem, line=line, value=b" ".join(fields), fix=_SHAPE)
    if any(b"\r" in field for field in fields):
        problem = "a carriage return in the middle of the line"
        raise DataError(problem, line=line, value=b" ".join(fields), fix="End lines with LF.")
    number = int(rank) if whole and len(rank) < 12 else NO_RANK
    if not NO_RANK < number < 2**31:
        noticed["ranks"] += 1
        number = NO_RANK
    return query, doc, score, number, line


def _score(printed: bytes, line: int, noticed: Counter[str]) -> float:
    if not _NUMBER.match(printed) and _COMMA.match(printed):
        noticed["commas"] += 1
        printed = printed.replace(b",", b".")
    if _NUMBER.match(printed):
        score = float(printed)
        if np.isfinite(score):
            return score
    raise DataError(
        "field 5 (the score) is not a finite number",
        line=line,
        value=printed,
        fix=f"{_SHAPE} `--malformed skip` drops such lines and counts them.",
    )
