"""Rows of runs from text in memory, in blocks or in chunks of complete lists."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from irmeta.kernels.tokenize import (
    AT,
    COMMAS,
    COMMENTS,
    FOUND,
    HARD,
    HAS_ODD_BYTES,
    LISTS,
    LONGEST,
    NEEDS_ROOM,
    NO_ROW,
    ODD_RANKS,
    PAD,
    REPEATS,
    ROWS,
    SHORTEST,
    TAGS,
    tokenize,
)
from irmeta.trec import text
from irmeta.trec.numbered_names import Names
from irmeta.trec.room import ROW, TAG, Room, Stream, check_room, count_rest, half_of_memory
from irmeta.trec.text import WHOLE, first_fields, is_number

NO_RANK = np.iinfo(np.int32).min  # marks a row without a usable rank
CHUNK = 1 << 20  # bytes of text in memory at a time
# By row, but the first element of "lists" is reserved.
_KINDS = {
    "lists": np.int32,
    "starts": np.int64,
    "doc": np.int32,
    "score": np.float64,
    "rank": np.int32,
}


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
        self._buffer = bytearray(CHUNK + PAD)
        self._data = np.frombuffer(self._buffer, np.uint8)
        self._space = np.empty((6, LONGEST + PAD), np.int64)
        most = CHUNK // SHORTEST + 1
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
        counts = np.zeros(FOUND, np.int64)
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
                self.has_tabs = self._buffer.find(b"\t", 0, min(filled, LONGEST)) >= 0
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
                needed = ROW * int(counts[ROWS]) + TAG * len(tags)
                check_room(
                    self.room, needed, file, lambda n=needed: n + ROW * count_rest(stream)[0]
                )
                self._buffer[: filled - size] = self._buffer[size:filled]
                filled -= size
                counts[AT] = 0
        return self._rows(counts, tags)

    def _chunk(self, size: int, width: int, counts: np.ndarray, tags: dict[bytes, None]) -> bool:
        """Read the lines in the buffer; return False if a line is malformed."""
        done, is_text = NEEDS_ROOM, False
        while done == NEEDS_ROOM:
            arrays = self._arrays
            done = tokenize(
                self._data, size, width, self._files, self._space,
                arrays["lists"], arrays["starts"],
                self.queries.table, self.queries.content, self.queries.state,
                self.docs.table, self.docs.content, self.docs.state,
                arrays["doc"], arrays["rank"], arrays["score"],
                self._tags, self._hard, is_text, counts,
            )  # fmt: skip
            if done == NEEDS_ROOM:
                self._make_room(int(counts[ROWS]))
            elif done == HAS_ODD_BYTES:
                self.is_utf8 = text.is_utf8(bytes(memoryview(self._buffer)[:size]))
                if not self.is_utf8 or self._buffer.find(b"\0", 0, size) >= 0:
                    return False
                done, is_text = NEEDS_ROOM, True
        if done == NO_ROW or not self._fill(counts):
            return False
        for start, end in self._tags[: counts[TAGS]].tolist():
            tags.setdefault(bytes(self._buffer[start:end]))
        counts[TAGS] = 0
        return True

    def _make_room(self, rows: int) -> None:
        """Allocate room for another block of the longest lines in all arrays."""
        most = LONGEST // SHORTEST + 2
        self.queries.make_room(most, LONGEST)
        self.docs.make_room(most, LONGEST)
        if rows + most >= len(self._arrays["doc"]):
            self._make_arrays(2 * len(self._arrays["doc"]))

    def _fill(self, counts: np.ndarray) -> bool:
        """Parse the scores left by the kernel; return False if one is not finite."""
        for row, start, end in self._hard[: counts[HARD]].tolist():
            score = float(self._buffer[start:end].replace(b",", b"."))
            if not np.isfinite(score):
                return False
            self._arrays["score"][row] = score
        counts[HARD] = 0
        return True

    def _rows(self, counts: np.ndarray, tags: dict[bytes, None]) -> Rows | None:
        count, lists, arrays = int(counts[ROWS]), int(counts[LISTS]), self._arrays
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
            commas=int(counts[COMMAS]),
            odd_ranks=int(counts[ODD_RANKS]),
            repeats=int(counts[REPEATS]),
            comments=int(counts[COMMENTS]),
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


CHUNK_BYTES = 1 << 19  # bytes; the names of its docs then fit into the cache of a core
LONGEST_LIST = 64 << 20  # bytes in memory to look for the end of a list


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
    """Return the start of the last list that begins after the first line; 0 if there is none.

    The search halves the text, so it may return the start of an earlier list where the lists of
    a query are not adjacent.
    """
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
