"""The rows of a run's text as columns, by the kernel that reads what is as it should be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from irmeta.kernels.tokenize import (
    AT,
    COMMAS,
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
from irmeta.trec.names import Names
from irmeta.trec.text import first_fields

NO_RANK = np.iinfo(np.int32).min  # stands where the file gives no usable rank
CHUNK = 1 << 20  # bytes of text in memory at a time
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\Z")
WHOLE = re.compile(rb"[+-]?\d+\Z")
# By row: the lists begin with a place that is none's.
_KINDS = {
    "lists": np.int32,
    "starts": np.int64,
    "doc": np.int32,
    "score": np.float64,
    "rank": np.int32,
}


class Stream(Protocol):
    """What text is read from."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...


@dataclass(frozen=True)
class Rows:
    """What stands in the lines of a run.

    Attributes
    ----------
    queries, starts
        The lists, rows in a row of one query: int32 numbers of their queries, and int64
        [lists + 1], where their rows begin. A query may have several.
    doc, score, rank
        By row: int32 number of its doc; float64; int32, `NO_RANK` where it is not a whole number.
    tags
        Each tag once, in the order in which they first appear; empty for five columns.
    commas, odd_ranks
        How many scores have a decimal comma; how many ranks are not whole numbers.
    repeats
        How many docs their list has had before. Where a query has several lists there may be more.
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


class RowReader:
    """Reads one file after another; the names and the memory serve all of them.

    For one thread at a time.
    """

    def __init__(self) -> None:
        self.queries, self.docs = Names(), Names()
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
        """The bytes of memory that the names take, and what grows with the longest file."""
        grown = sum(values.nbytes for values in self._arrays.values())
        return self.queries.nbytes + self.docs.nbytes + grown

    def finish(self) -> None:
        """Let go of all but the names: nothing will be read any more."""
        self._arrays, self._buffer, self._data = {}, bytearray(), np.empty(0, np.uint8)
        self._space = self._tags = self._hard = np.empty((0, 0), np.int64)

    def _make_arrays(self, rows: int) -> None:
        """Arrays by row of some length, with what the present ones hold."""
        before, self._arrays = self._arrays, {n: np.empty(rows, k) for n, k in _KINDS.items()}
        for name, values in before.items():
            self._arrays[name][: len(values)] = values

    def read(self, stream: Stream) -> Rows | None:
        """All lines of a run, or None where some line is not as it should be.

        A caller that gets None reads line by line, and can say what is wrong where. Lines may be
        blank or comments; fields may be apart by any white space; each line has six fields or more,
        the sixth being the rest of the line, or exactly five throughout. The text is UTF-8, without
        NUL and byte-order mark, and its first row comes within
        `text.FIRST_ROW_WITHIN` bytes.
        """
        found = np.zeros(FOUND, np.int64)
        self._files += 1
        self._arrays["lists"][0] = -1
        tags: dict[bytes, None] = {}
        width = filled = before_rows = 0
        view, ended = memoryview(self._buffer), False
        while not ended:
            got = stream.readinto(view[filled:CHUNK])
            filled, ended = filled + (got or 0), not got
            if ended and filled and self._buffer[filled - 1] != 10:
                self._buffer[filled] = 10
                filled += 1
            size = self._buffer.rfind(b"\n", 0, filled) + 1
            if size == 0 and filled == CHUNK:
                return None
            if size:
                width = width or width_of(first_fields(self._buffer, size))
                before_rows += 0 if width else size
                if before_rows > text.FIRST_ROW_WITHIN:
                    return None
                if not self._chunk(size, width or 6, found, tags):
                    return None
                self._buffer[: filled - size] = self._buffer[size:filled]
                filled -= size
                found[AT] = 0
        return self._rows(found, tags)

    def _chunk(self, size: int, width: int, found: np.ndarray, tags: dict[bytes, None]) -> bool:
        """Read the lines in the buffer; False where one is not as it should be."""
        done, is_text = NEEDS_ROOM, False
        while done == NEEDS_ROOM:
            own = self._arrays
            done = tokenize(
                self._data, size, width, self._files, self._space, own["lists"], own["starts"],
                self.queries.table, self.queries.content, self.queries.state,
                self.docs.table, self.docs.content, self.docs.state,
                own["doc"], own["rank"], own["score"], self._tags, self._hard, is_text, found,
            )  # fmt: skip
            if done == NEEDS_ROOM:
                self._make_room(int(found[ROWS]))
            elif done == HAS_ODD_BYTES:
                if not _is_utf8(bytes(memoryview(self._buffer)[:size])):
                    return False
                done, is_text = NEEDS_ROOM, True
        if done == NO_ROW or not self._fill(found):
            return False
        for start, end in self._tags[: found[TAGS]].tolist():
            tags.setdefault(bytes(self._buffer[start:end]))
        found[TAGS] = 0
        return True

    def _make_room(self, rows: int) -> None:
        """Room for a block more, of the longest lines, in everything."""
        most = LONGEST // SHORTEST + 2
        self.queries.make_room(most, LONGEST)
        self.docs.make_room(most, LONGEST)
        if rows + most >= len(self._arrays["doc"]):
            self._make_arrays(2 * len(self._arrays["doc"]))

    def _fill(self, found: np.ndarray) -> bool:
        """Put in the scores that the kernel leaves; False where one is beyond all floats."""
        for row, start, end in self._hard[: found[HARD]].tolist():
            score = float(self._buffer[start:end].replace(b",", b"."))
            if not np.isfinite(score):
                return False
            self._arrays["score"][row] = score
        found[HARD] = 0
        return True

    def _rows(self, found: np.ndarray, tags: dict[bytes, None]) -> Rows | None:
        count, lists, own = int(found[ROWS]), int(found[LISTS]), self._arrays
        # A tag with a carriage return hides lines that end in it alone, or a row.
        if count == 0 or any(b"\r" in tag for tag in tags):
            return None
        return Rows(
            queries=own["lists"][1 : lists + 1].copy(),
            starts=np.append(own["starts"][1 : lists + 1], count),
            doc=own["doc"][:count].copy(),
            score=own["score"][:count].copy(),
            rank=own["rank"][:count].copy(),
            tags=tuple(tag.decode() for tag in tags),
            commas=int(found[COMMAS]),
            odd_ranks=int(found[ODD_RANKS]),
            repeats=int(found[REPEATS]),
        )


def width_of(fields: list[bytes]) -> int:
    """Return 5 where the first row's fields lack a tag: they end with a whole number and a number.

    0: there is no row.
    """
    if not fields:
        return 0
    if len(fields) != 5 or not WHOLE.match(fields[3]):
        return 6
    return 5 if NUMBER.match(fields[4]) or COMMA.match(fields[4]) else 6


def _is_utf8(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
