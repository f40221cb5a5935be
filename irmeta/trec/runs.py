"""A run file to rows: query, doc, score and rank of each retrieved doc."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl

from irmeta.errors import DataError, short
from irmeta.policies import Malformed
from irmeta.trec.rows import COMMA, NO_RANK, NUMBER, WHOLE, RowReader, Rows, width_of
from irmeta.trec.text import STREAM_ERRORS, Text, first_fields, lines, open_stream, read_text

_SHAPE = "A run line is: query Q0 doc rank score tag."


@dataclass
class RunText:
    """The rows of one run file, in file order.

    Attributes
    ----------
    rows
        Their queries and docs are numbers of the reader's names; scores are finite.
    sha256
        Of the file as it lies on disk.
    tag
        The run's name, None in a five-column file.
    malformed
        How many lines ``malformed="skip"`` dropped.
    notes
        What reading noticed, in words.
    """

    rows: Rows
    sha256: str
    tag: str | None
    malformed: int = 0
    notes: list[str] = field(default_factory=list)


def parse_file(path: Path, name: str, reader: RowReader, malformed: Malformed) -> RunText:
    """As `parse_run`, from a file that is not held in memory where every line is as it should be.

    Raises
    ------
    DataError
        As `read_text` and `parse_run` do.
    """
    rows = sha256 = None
    try:
        with open_stream(path) as stream:
            rows = reader.read(stream)
            sha256 = stream.sha256() if rows is not None else None
    except STREAM_ERRORS:
        pass  # read again below, by what says what is wrong
    if rows is not None and sha256 is not None:
        return _run(rows, sha256)
    text = read_text(path, name)
    if text.notes:  # it was made UTF-8
        return parse_run(text, reader, malformed)
    rows, skipped = _by_line(text, reader, malformed)
    return _run(rows, text.sha256, skipped)


def parse_run(text: Text, reader: RowReader, malformed: Malformed = "error") -> RunText:
    """Read a run in TREC form: six fields a line, or five where the tag is missing throughout.

    Fields are separated by any mix of spaces and tabs; blank lines and lines beginning with # are
    skipped; everything after the score is the tag; a decimal comma is read as a point (noted).

    Raises
    ------
    DataError
        At the first line that cannot be read, unless `malformed` is ``skip``; or when no line can.
    """
    rows, skipped = reader.read(io.BytesIO(text.data)), 0
    if rows is None:
        rows, skipped = _by_line(text, reader, malformed)
    run = _run(rows, text.sha256, skipped)
    run.notes[:0] = text.notes
    return run


def _run(rows: Rows, sha256: str, skipped: int = 0) -> RunText:
    tag = rows.tags[0] if rows.tags else None
    return RunText(rows, sha256, tag, skipped, _notes(rows, skipped))


def _notes(rows: Rows, skipped: int) -> list[str]:
    """What is worth saying of a run that could be read."""
    notes = []
    if not rows.tags:
        notes.append("five columns: no tag, the system is named after the file")
    elif len(rows.tags) > 1:
        notes.append(f"{len(rows.tags)} tags, the first is used")
    if rows.commas:
        notes.append(f"decimal comma in {rows.commas:,} scores")
    if rows.odd_ranks:
        notes.append(f"{rows.odd_ranks:,} ranks are not whole numbers")
    if skipped:
        notes.append(f"{skipped:,} malformed lines dropped")
    return notes


def _width(text: Text) -> int:
    """5 where every line lacks a tag."""
    five = width_of(first_fields(text.data)) == 5 and all(len(row) <= 5 for _, row in lines(text))
    return 5 if five else 6


def _by_line(text: Text, reader: RowReader, malformed: Malformed) -> tuple[Rows, int]:
    """The rows, and how many lines were dropped."""
    width = _width(text)
    rows: list[tuple[bytes, bytes, float, int]] = []
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
    query, doc, score, rank = zip(*rows, strict=True)
    lists = [(own, len(list(group))) for own, group in groupby(query)]
    found = Rows(
        queries=reader.queries.numbers(pl.Series([own.decode() for own, _ in lists])),
        starts=np.concatenate([[0], np.cumsum([length for _, length in lists])]),
        doc=reader.docs.numbers(pl.Series([own.decode() for own in doc])),
        score=np.array(score, np.float64),
        rank=np.array(rank, np.int32),
        tags=tuple(tags),
        commas=noticed["commas"],
        odd_ranks=noticed["ranks"],
        repeats=len(rows) - len(set(zip(query, doc, strict=True))),
    )
    return found, noticed["malformed"]


def first_repeat(text: Text) -> DataError:
    """The fault of the first result whose query has its doc a second time, in a run that has one.

    Lines that are no results are passed over.
    """
    seen: dict[tuple[bytes, bytes], int] = {}
    width, noticed = _width(text), Counter[str]()
    for number, fields in lines(text, 6):
        try:
            query, doc, _, _ = _row(fields, width, number, noticed)
        except DataError:
            continue
        first = seen.setdefault((query, doc), number)
        if first != number:
            return DataError(
                f"query {short(query.decode())} has doc {short(doc.decode())} a second time, "
                f"first in line {first}",
                file=text.name,
                line=number,
                fix="`--duplicates first` keeps the first line of each.",
            )
    return DataError("was changed while it was read", file=text.name, fix="Read it again.")


def _row(
    fields: list[bytes], width: int, line: int, noticed: Counter[str]
) -> tuple[bytes, bytes, float, int]:
    """One line as (query, doc, score, rank), or a DataError without its file."""
    if len(fields) < 5:
        problem = f"{len(fields)} fields where a run has six"
        raise DataError(problem, line=line, value=b" ".join(fields), fix=_SHAPE)
    query, _, doc, rank, printed = fields[:5]
    score = _score(printed, line, noticed)
    whole = WHOLE.match(rank) is not None
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
    return query, doc, score, number


def _score(printed: bytes, line: int, noticed: Counter[str]) -> float:
    if not NUMBER.match(printed) and COMMA.match(printed):
        noticed["commas"] += 1
        printed = printed.replace(b",", b".")
    if NUMBER.match(printed):
        score = float(printed)
        if np.isfinite(score):
            return score
    raise DataError(
        "field 5 (the score) is not a finite number",
        line=line,
        value=printed,
        fix=f"{_SHAPE} `--malformed skip` drops such lines and counts them.",
    )
