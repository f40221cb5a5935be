"""Names of queries and docs as small integers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.kernels.interning import COUNT, HEAD, USED, fill, intern, spell

_SLACK = 128  # bytes that kernels may read or write beyond what they are given
_BATCH = 1 << 20  # strings that are interned at once


class Names:
    """Strings and their numbers, from 0 in the order in which they first came.

    For one thread at a time.

    Attributes
    ----------
    table, content, state
        What kernels work on; see irmeta.kernels.interning.
    """

    def __init__(self) -> None:
        self.table = np.zeros(1 << 14, np.uint64)
        self.content = np.empty(1 << 18, np.uint8)
        self.state = np.zeros(2, np.int64)

    def __len__(self) -> int:
        return int(self.state[COUNT])

    @property
    def nbytes(self) -> int:
        """The memory that the names take."""
        return self.table.nbytes + self.content.nbytes

    def make_room(self, count: int, size: int) -> None:
        """Make sure that `count` more names of together `size` bytes can be added."""
        places = len(self.table)
        while places < 2 * (len(self) + count):
            places *= 2
        if places > len(self.table):
            self.table = np.zeros(places, np.uint64)
            fill(self.table, self.content, self.state)
        used = int(self.state[USED])
        most = used + size + (HEAD + 8) * count + _SLACK
        if most > len(self.content):
            content = np.empty(max(most, 2 * len(self.content)), np.uint8)
            content[:used] = self.content[:used]
            self.content = content

    def numbers(self, strings: pl.Series) -> np.ndarray:
        """An int32 number per string, a new one for a new string."""
        parts = range(0, max(1, len(strings)), _BATCH)
        return np.concatenate([self._numbers(strings[at : at + _BATCH]) for at in parts])

    def _numbers(self, strings: pl.Series) -> np.ndarray:
        column = strings.cast(pl.String).to_arrow().cast(pa.large_string())
        _, offsets, content = column.buffers()
        bounds = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        size = int(bounds[-1] - bounds[0])
        data = np.zeros(size + _SLACK, np.uint8)
        data[:size] = np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]
        self.make_room(len(column), size)
        numbers = np.empty(len(column), np.int32)
        intern(data, bounds[1:] - bounds[0], self.table, self.content, self.state, numbers)
        return numbers

    def strings(self) -> pl.Series:
        """All names, by number."""
        out = np.empty(int(self.state[USED]) + _SLACK, np.uint8)
        ends = np.zeros(len(self) + 1, np.int64)
        spell(self.content, self.state, out, ends[1:])
        buffers = pa.py_buffer(ends), pa.py_buffer(out)
        return pl.Series(pa.LargeStringArray.from_buffers(len(self), *buffers), dtype=pl.String)


def in_order(several: list[Names]) -> tuple[pl.Series, list[np.ndarray]]:
    """All names of several, once, sorted by their bytes, and for each of these its names' places.

    The first takes in what the others have.

    Returns
    -------
    names
        Sorted.
    places
        int32: for each number of the first, the second..., its name's place.
    """
    every, *others = several
    numbers = [every.numbers(other.strings()) for other in others]
    names = every.strings()
    order = names.arg_sort().to_numpy()
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return names.gather(order), [place, *(place[own] for own in numbers)]
