"""Read run files to rows: query, doc, score and rank of each retrieved doc.

`RowReader` reads clean text by a kernel; other text is read line by line, for its errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.kernels import tokenize
from irmeta.policies import Comments, Malformed
from irmeta.trec import text
from irmeta.trec.numbered_names import Names
from irmeta.trec.room import ROW, TAG, Room, Stream, check_room, count_rest, half_of_memory
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import COMMA, NUMBER, WHOLE, HashLines, Text, first_fields, is_number, lines

NO_RANK = np.iinfo(np.int32).min  # marks a row without a usable rank
CHUNK = 1 << 20  # bytes of text in memory at a time
CHUNK_BYTES = 1 << 19  # bytes; the names of its docs then fit into the cache of a core
LONGEST_LIST = 64 << 20  # bytes in memory to look for the end of a list
# By row, but the first element of "lists" is reserved.
_KINDS = {
    "lists": np.int32,
    "starts": np.int64,
    "doc": np.int32,
    "score": np.float64,
    "rank": np.int32,
}
ODD_RANKS = "ranks are not whole numbers"
"""Text of the note on ranks that are not whole numbers, after their number."""
_SHAPE = "A run line is: query Q0 doc rank score tag."


@dataclass(frozen=True)
class Rows:
    """The fields of all lines of a run.

    Attributes
    ----------
    queries, starts
        Lists, consecutive rows of one query: int32 number of the query, and int64 [lists + 1], the
        first row. A query may have several lists.
    doc, score, rank
        By row: int32 number of the doc; float64; int32, `NO_RANK` if not a whole number.
    tags
        Distinct tags in order of first appearance; empty for five columns.
    commas, odd_ranks
        Numbers of scores with a decimal comma, and of ranks that are not whole numbers.
    repeats
        Number of duplicate docs within lists. Several lists of a query may share further docs.
    comments
        Number of lines that begin with # and are not rows.
    """

    queries: np.ndarray
    starts: np.ndarray
    doc: np.ndarray
    score: np.ndarray
    rank: np.ndarray
    tags: tuple[str, ...]
    commas: int
    odd_ranks: int
    repeats: int
    comments: int = 0

    @property
    def may_be_shifted(self) -> bool:
        """Check whether ids with blanks may have been split, if fields are separated by tabs."""
        return may_be_shifted(self.tags, self.odd_ranks)


class RowReader:
    """Reader of one file after another, with shared names and memory; for one thread at a time.

    Attributes
    ----------
    queries, docs
        Names by number.
    is_utf8
        Whether the text of the last file was UTF-8, as far as it was read.
    has_tabs
        Whether the first 64 KiB of the last file have a tab.
    room
        The memory left for reading a file.
    """

    def __init__(self) -> None:
        self.is_utf8: bool = True
        self.has_tabs: bool = False
        self.room: Room = half_of_memory
        self.queries: Names = Names()
        self.docs: Names = Names()
        self._files = 0
        self._buffer = bytearray(CHUNK + tokenize.PAD)
        self._data = np.frombuffer(self._buffer, np.uint8)
        self._space = np.empty((6, tokenize.LONGEST + tokenize.PAD), np.int64)
        most = CHUNK // tokenize.SHORTEST + 1
        self._tags, self._hard = np.empty((most, 2), np.int64), np.empty((most, 3), np.int64)
        self._arrays: dict[str, np.ndarray] = {}
        self._make_arrays(most)

    @property
    def held(self) -> int:
        """The memory of names and of arrays that grow with the longest file, in bytes."""
        grown = sum(values.nbytes for values in self._arrays.values())
        return self.queries.nbytes + self.docs.nbytes + grown

    def finish(self) -> None:
        """Release all memory except the names, after the last file."""
        self._arrays, self._buffer, self._data = {}, bytearray(), np.empty(0, np.uint8)
        self._space = self._tags = self._hard = np.empty((0, 0), np.int64)

    def _make_arrays(self, rows: int) -> None:
        """Allocate arrays by row of a new length, and copy the present content."""
        before, self._arrays = self._arrays, {n: np.empty(rows, k) for n, k in _KINDS.items()}
        for name, values in before.items():
            self._arrays[name][: len(values)] = values

    def read(self, stream: Stream, width: int = 0, file: str = "") -> Rows | None:
        """Read all lines of a run, or return None if some line is malformed.

        After None, the caller reads line by line to report the malformed line. Lines may be
        blank or comments that do not have the fields of a row, and any white space separates
        fields. Each line has six fields or more, the sixth being the rest of the line, or all
        lines have exactly five. The text is UTF-8 without NUL and byte-order mark, and has a row
        in its first `text.FIRST_ROW_WITHIN` bytes.

        `width` is the number of fields, 6 or 5; 0: that of the first row. `file` is the name for
        messages.

        Raises
        ------
        OutOfRoomError
            If the rows do not fit into `room`.
        """
        counts = np.zeros(tokenize.FOUND, np.int64)
        self.is_utf8 = True
        self._files += 1
        self._arrays["lists"][0] = -1
        tags: dict[bytes, None] = {}
        filled = before_rows = 0
        is_first = True
        view, ended = memoryview(self._buffer), False
        while not ended:
            got = stream.readinto(view[filled:CHUNK])
            filled, ended = filled + (got or 0), not got
            if ended and filled and self._buffer[filled - 1] != 10:
                self._buffer[filled] = 10
                filled += 1
            size = self._buffer.rfind(b"\n", 0, filled) + 1
            if is_first:
                self.has_tabs = self._buffer.find(b"\t", 0, min(filled, tokenize.LONGEST)) >= 0
                is_first = False
            if size == 0 and filled == CHUNK:
                return None
            if size:
                width = width or width_of(first_fields(self._buffer, size))
                before_rows += 0 if width else size
                if before_rows > text.FIRST_ROW_WITHIN:
                    return None
                if not self._chunk(size, width or 6, counts, tags):
                    return None
                needed = ROW * int(counts[tokenize.ROWS]) + TAG * len(tags)
                check_room(
                    self.room, needed, file, lambda n=needed: n + ROW * count_rest(stream)[0]
                )
                self._buffer[: filled - size] = self._buffer[size:filled]
                filled -= size
                counts[tokenize.AT] = 0
        return self._rows(counts, tags)

    def _chunk(self, size: int, width: int, counts: np.ndarray, tags: dict[bytes, None]) -> bool:
        """Read the lines in the buffer; return False if a line is malformed."""
        done, is_text = tokenize.NEEDS_ROOM, False
        while done == tokenize.NEEDS_ROOM:
            arrays = self._arrays
            done = tokenize.tokenize(
                self._data, size, width, self._files, self._space,
                arrays["lists"], arrays["starts"],
                self.queries.table, self.queries.content, self.queries.state,
                self.docs.table, self.docs.content, self.docs.state,
                arrays["doc"], arrays["rank"], arrays["score"],
                self._tags, self._hard, is_text, counts,
            )  # fmt: skip
            if done == tokenize.NEEDS_ROOM:
                self._make_room(int(counts[tokenize.ROWS]))
            elif done == tokenize.HAS_ODD_BYTES:
                self.is_utf8 = text.is_utf8(bytes(memoryview(self._buffer)[:size]))
                if not self.is_utf8 or self._buffer.find(b"\0", 0, size) >= 0:
                    return False
                done, is_text = tokenize.NEEDS_ROOM, True
        if done == tokenize.NO_ROW or not self._fill(counts):
            return False
        for start, end in self._tags[: counts[tokenize.TAGS]].tolist():
            tags.setdefault(bytes(self._buffer[start:end]))
        counts[tokenize.TAGS] = 0
        return True

    def _make_room(self, rows: int) -> None:
        """Allocate room for another block of the longest lines in all arrays."""
        most = tokenize.LONGEST // tokenize.SHORTEST + 2
        self.queries.make_room(most, tokenize.LONGEST)
        self.docs.make_room(most, tokenize.LONGEST)
        if rows + most >= len(self._arrays["doc"]):
            self._make_arrays(2 * len(self._arrays["doc"]))

    def _fill(self, counts: np.ndarray) -> bool:
        """Parse the scores left by the kernel; return False if one is not finite."""
        for row, start, end in self._hard[: counts[tokenize.HARD]].tolist():
            score = float(self._buffer[start:end].replace(b",", b"."))
            if not np.isfinite(score):
                return False
            self._arrays["score"][row] = score
        counts[tokenize.HARD] = 0
        return True

    def _rows(self, counts: np.ndarray, tags: dict[bytes, None]) -> Rows | None:
        count, lists, arrays = int(counts[tokenize.ROWS]), int(counts[tokenize.LISTS]), self._arrays
        # A tag with a carriage return hides a row, or lines that end in a bare carriage return.
        if count == 0 or any(b"\r" in tag for tag in tags):
            return None
        return Rows(
            queries=arrays["lists"][1 : lists + 1].copy(),
            starts=np.append(arrays["starts"][1 : lists + 1], count),
            doc=arrays["doc"][:count].copy(),
            score=arrays["score"][:count].copy(),
            rank=arrays["rank"][:count].copy(),
            tags=tuple(tag.decode() for tag in tags),
            commas=int(counts[tokenize.COMMAS]),
            odd_ranks=int(counts[tokenize.ODD_RANKS]),
            repeats=int(counts[tokenize.REPEATS]),
            comments=int(counts[tokenize.COMMENTS]),
        )


def may_be_shifted(tags: Collection[str], odd_ranks: int) -> bool:
    """Check whether the columns of a run may be shifted; for the arguments see `Rows`."""
    return (
        odd_ranks > 0
        or not tags
        or any(len(tag.split()) > 1 or is_number(tag.encode()) for tag in tags)
    )


def width_of(fields: list[bytes]) -> int:
    """Return 5 if the first row has no tag (it ends with a whole number and a number), else 6.

    0 if there is no row.
    """
    if not fields:
        return 0
    if len(fields) != 5 or not WHOLE.match(fields[3]):
        return 6
    return 5 if is_number(fields[4]) else 6


def list_chunks(stream: Stream) -> Iterator[bytes]:
    """Yield the text of a run in chunks that end where the query changes.

    A chunk has about `CHUNK_BYTES` bytes, or one longer list. Lists of more than `LONGEST_LIST`
    bytes are cut, and so are lines of more than `LONGEST_LINE`.
    """
    rest, size = b"", CHUNK_BYTES
    while True:
        buffer = bytearray(size)
        buffer[: len(rest)] = rest
        filled = _fill(stream, buffer, len(rest))
        if filled < size:
            if filled:
                yield bytes(memoryview(buffer)[:filled])
            return
        cut = _last_change(buffer)
        is_line = (
            size > text.LONGEST_LINE and b"\n" not in buffer
        )  # of JSON, which is not TREC form
        if not cut and (size >= LONGEST_LIST or is_line):
            cut = size
        if cut:
            yield bytes(memoryview(buffer)[:cut])
        rest = bytes(memoryview(buffer)[cut:])
        size = min(max(CHUNK_BYTES, 2 * len(rest)), LONGEST_LIST)


def _fill(stream: Stream, buffer: bytearray, filled: int) -> int:
    """Fill a buffer; return the number of its bytes, all unless the stream ends."""
    view = memoryview(buffer)
    while filled < len(buffer) and (count := stream.readinto(view[filled:])):
        filled += count
    return filled


def _last_change(text: bytearray) -> int:
    """Return the start of the last list that begins after the first line; 0 if there is none."""
    # The search halves the text, so it may return the start of an earlier list where the lists of
    # a query are not adjacent.
    end = text.rfind(b"\n")
    after = text.rfind(b"\n", 0, max(end, 0)) + 1
    before, query = 0, _query(text, after)
    if end < 0 or _query(text, before) == query:
        return 0
    while True:
        middle = (before + after) // 2
        line = text.rfind(b"\n", before, middle) + 1
        if line <= before:
            line = text.find(b"\n", middle, after) + 1
        if line in (0, after):
            return after
        if _query(text, line) == query:
            after = line
        else:
            before = line


def _query(text: bytearray, line: int) -> bytes:
    """Return the first field of the line that starts at an offset; empty for a blank line."""
    end = text.find(b"\n", line)
    fields = text[line : end if end >= 0 else None].split(None, 1)
    return bytes(fields[0]) if fields else b""


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
