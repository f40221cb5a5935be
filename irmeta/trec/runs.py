"""Read a run file to rows: query, doc, score and rank of each retrieved doc."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.policies import Comments, Malformed
from irmeta.trec.room import ROW, TAG, check_room
from irmeta.trec.rows import NO_RANK, RowReader, Rows, width_of
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import COMMA, NUMBER, WHOLE, HashLines, Text, first_fields, is_number, lines

ODD_RANKS = "ranks are not whole numbers"
"""Text of the note on ranks that are not whole numbers, after their number."""
_SHAPE = "A run line is: query Q0 doc rank score tag."


@dataclass
class RunText:
    """The rows of one run file, in file order.

    Attributes
    ----------
    rows
        Rows with queries and docs as numbers of the reader's names; scores are finite.
    sha256
        SHA-256 of the file as stored.
    tag
        The run's name, None in a five-column file.
    malformed
        Number of lines that ``malformed="skip"`` dropped.
    notes
        Notes of reading, as text.
    """

    rows: Rows
    sha256: str
    tag: str | None
    malformed: int = 0
    notes: list[str] = field(default_factory=list)


def parse_run(
    file: InputFile,
    reader: RowReader,
    malformed: Malformed = "error",
    comments: Comments = "auto",
) -> RunText:
    """Read a run in TREC form: six fields per line, or five if no line has a tag.

    Fields are separated by any mix of spaces and tabs; blank lines and comments are skipped (for
    `comments` see `ReadPolicy`); everything after the score is the tag; a decimal comma is read as
    a point (noted). Lines that are not UTF-8 are read as Latin-1 (noted). At most two megabytes of
    text are held at a time.

    Raises
    ------
    DataError
        At the first malformed line, unless `malformed` is ``skip``; if no line can be read, or none
        of the first 64 MB; and if the file is missing, truncated or damaged.
    """
    clean = parse_clean_run(file, reader, comments)
    return clean or parse_odd_run(file, reader, malformed, comments)


def parse_clean_run(file: InputFile, reader: RowReader, comments: Comments) -> RunText | None:
    """Read a run in UTF-8; return None if a line is malformed or a row begins with #.

    Raises
    ------
    DataError
        If the file is missing, truncated or damaged.
    """
    with open_stream(file) as stream:
        rows = reader.read(stream, file=file.name)
        if rows is None or (rows.comments and comments == "none"):
            return None
        return _run(rows, stream.sha256())


def parse_odd_run(
    file: InputFile, reader: RowReader, malformed: Malformed, comments: Comments
) -> RunText:
    """Read a run that `parse_clean_run` cannot read: see `parse_run`."""
    if not reader.is_utf8:  # else the same lines would be malformed again
        with open_stream(file) as stream:
            text = Text(stream, file.name)
            rows = reader.read(text, file=file.name)
            if rows is not None and not (rows.comments and comments == "none"):
                return _run(rows, stream.sha256(), notes=text.notes)
    with open_stream(file) as stream:
        text = Text(stream, file.name)
        rows, skipped, notes = _by_line(text, file, reader, malformed, comments)
        return _run(rows, stream.sha256(), skipped, text.notes + notes)


def _run(rows: Rows, sha256: str, skipped: int = 0, notes: tuple[str, ...] = ()) -> RunText:
    tag = rows.tags[0] if rows.tags else None
    read = reading_notes(rows.tags, rows.commas, rows.odd_ranks, skipped)
    return RunText(rows, sha256, tag, skipped, [*notes, *read])


def reading_notes(
    tags: Collection[str], commas: int, odd_ranks: int, skipped: int = 0
) -> list[str]:
    """Return the notes on a run that could be read; for the arguments see `Rows`."""
    notes = []
    if not tags:
        notes.append("five columns: no tag, the system is named after the file")
    elif len(tags) > 1:
        notes.append(f"{len(tags)} tags, the first is used")
    if commas:
        notes.append(f"decimal comma in {commas:,} scores")
    if odd_ranks:
        notes.append(f"{odd_ranks:,} {ODD_RANKS}")
    if skipped:
        notes.append(f"{skipped:,} malformed lines dropped")
    return notes


def _width(file: InputFile, first: list[bytes]) -> int:
    """Return 5 if no line has a tag, else 6; 0 if the fields of the first row are none.

    The file is read again only if the first row has five fields.
    """
    if width_of(first) != 5:
        return width_of(first)
    with open_stream(file) as stream:
        text = Text(stream, file.name)
        for number, piece in text.pieces():
            if any(len(row) > 5 for _, row in lines(piece, text.name, 6, number)):
                return 6
    return 5


class _Lines:
    """Collector of rows, line by line."""

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader
        self._rows: list[tuple[bytes, bytes, float, int]] = []
        self._parts: list[tuple[np.ndarray, ...]] = []
        self.count: int = 0
        self.tags: dict[str, None] = {}
        self.noticed: Counter[str] = Counter()
        self.names: set[str] = set()

    def add(self, row: tuple[bytes, bytes, float, int]) -> None:
        """Add a row returned by `_row`."""
        self._rows.append(row)

    def pack(self) -> bool:
        """Convert the added rows to arrays; return whether there is any row so far."""
        if self._rows:
            self.count += len(self._rows)
            query, doc, score, rank = zip(*self._rows, strict=True)
            self.names.update(name.decode() for name in {*query})
            self._parts.append(
                (
                    self._reader.queries.numbers(pl.Series([name.decode() for name in query])),
                    self._reader.docs.numbers(pl.Series([name.decode() for name in doc])),
                    np.array(score, np.float64),
                    np.array(rank, np.int32),
                )
            )
            self._rows = []
        return bool(self._parts)

    def rows(self) -> Rows:
        """Return all packed rows."""
        query, doc, score, rank = map(np.concatenate, zip(*self._parts, strict=True))
        firsts = np.flatnonzero(np.diff(query, prepend=-1))
        pairs = query.astype(np.int64) << 32 | doc
        return Rows(
            queries=query[firsts],
            starts=np.append(firsts, len(query)).astype(np.int64),
            doc=doc,
            score=score,
            rank=rank,
            tags=tuple(self.tags),
            commas=self.noticed["commas"],
            odd_ranks=self.noticed["ranks"],
            repeats=len(pairs) - len(np.unique(pairs)),
        )


def _by_line(
    text: Text,
    file: InputFile,
    reader: RowReader,
    malformed: Malformed,
    comments: Comments = "auto",
) -> tuple[Rows, int, tuple[str, ...]]:
    """Read rows line by line; return them, the number of dropped lines, and notes."""
    collected, width = _Lines(reader), 0
    hashes = HashLines(comments, lambda fields: _fits(fields, width))
    for first, piece in text.pieces():
        width = width or _width(file, first_fields(piece))
        for number, fields in lines(piece, text.name, 6, first, hashes):
            try:
                collected.add(_row(fields, width, number, collected.noticed))
            except DataError as error:
                if malformed == "error":
                    error.file = text.name
                    raise
                collected.noticed["malformed"] += 1
                continue
            if width == 6:
                collected.tags.setdefault(fields[5].decode())
        if not collected.pack():
            text.refuse_no_row()
        check_room(reader.room, ROW * collected.count + TAG * len(collected.tags), file.name)
    skipped = collected.noticed["malformed"]
    if not collected.pack():
        problem = "no line can be read as a result" if skipped else "holds no result"
        raise DataError(problem, file=text.name, fix=_SHAPE)
    return collected.rows(), skipped, hashes.notes(collected.names, text.name)


def _fits(fields: list[bytes], width: int) -> bool:
    """Check whether the fields of a line that begins with # are those of a row."""
    return len(fields) == width and bool(WHOLE.match(fields[3])) and is_number(fields[4])


def first_repeat(file: InputFile, comments: Comments) -> DataError:
    """Return the error of the first duplicate (query, doc); malformed lines are skipped."""
    repeats = (error for error in row_errors(file, comments) if error.ids)
    changed = DataError("was changed while it was read", file=file.name, fix="Read it again.")
    return next(repeats, changed)


def row_errors(file: InputFile, comments: Comments = "auto") -> Iterator[DataError]:
    """Yield the error of each malformed line and each duplicate (query, doc), line by line.

    Only an error of a duplicate has `ids`.

    Raises
    ------
    DataError
        For a line that ends the reading: see `Text.pieces`.
    """
    seen: dict[tuple[bytes, bytes], int] = {}
    width, noticed = 0, Counter[str]()
    hashes = HashLines(comments, lambda fields: _fits(fields, width))
    with open_stream(file) as stream:
        text = Text(stream, file.name)
        for start, piece in text.pieces():
            width = width or _width(file, first_fields(piece))
            for number, fields in lines(piece, file.name, 6, start, hashes):
                try:
                    query, doc, _, _ = _row(fields, width, number, noticed)
                except DataError as error:
                    error.file = file.name
                    yield error
                    continue
                first = seen.setdefault((query, doc), number)
                if first != number:
                    yield DataError(
                        f"query {{query}} has doc {{doc}} a second time, first in line {first}",
                        file=file.name,
                        line=number,
                        ids={"query": query.decode(), "doc": doc.decode()},
                        fix='`duplicates="first"` keeps the first line of each, '
                        '`duplicates="best"` that of the best score.',
                    )


def _row(
    fields: list[bytes], width: int, line: int, noticed: Counter[str]
) -> tuple[bytes, bytes, float, int]:
    """Parse one line to (query, doc, score, rank); raise a DataError without its file."""
    if len(fields) < 5:
        problem = f"{len(fields)} fields where a run has six"
        raise DataError(problem, line=line, value=b" ".join(fields), fix=_SHAPE)
    query, _, doc, rank, printed = fields[:5]
    score = _score(printed, line, noticed)
    is_whole = WHOLE.match(rank) is not None
    if len(fields) != width or (width == 5 and not is_whole):
        problem = f"{len(fields)} fields where a run has six"
        if not is_whole and len(fields) == 5:
            problem = "field 4 (the rank) of a run of five columns is not a whole number"
        raise DataError(problem, line=line, value=b" ".join(fields), fix=_SHAPE)
    if any(b"\r" in field for field in fields):
        problem = "a carriage return in the middle of the line"
        raise DataError(problem, line=line, value=b" ".join(fields), fix="End lines with LF.")
    number = int(rank) if is_whole and len(rank) < 12 else NO_RANK
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
        fix=f'{_SHAPE} `malformed="skip"` drops such lines and counts them.',
    )
