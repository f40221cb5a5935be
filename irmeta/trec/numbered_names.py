"""Names of queries and docs as small integers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.kernels.interning import COUNT, HEAD, USED, fill, intern, spell
from irmeta.schema.arrow import series

_SLACK = 128  # bytes that kernels may access beyond the end of their input
_BATCH = 1 << 20  # strings that are interned at once


class Names:
    """Strings numbered from 0 in order of first appearance.

    Not thread-safe.

    Attributes
    ----------
    table, content, state
        The arrays of the kernels; see irmeta.kernels.interning.
    """

    def __init__(self) -> None:
        self.table: np.ndarray = np.zeros(1 << 14, np.uint64)
        self.content: np.ndarray = np.empty(1 << 18, np.uint8)
        self.state: np.ndarray = np.zeros(2, np.int64)

    def __len__(self) -> int:
        return int(self.state[COUNT])

    @property
    def nbytes(self) -> int:
        """Return the memory of the names in bytes."""
        return self.table.nbytes + self.content.nbytes

    def make_room(self, count: int, size: int) -> None:
        """Allocate room for `count` more names of `size` bytes in total."""
        slots = len(self.table)
        while slots < 2 * (len(self) + count):
            slots *= 2
        if slots > len(self.table):
            self.table = np.zeros(slots, np.uint64)
            fill(self.table, self.content, self.state)
        used = int(self.state[USED])
        needed = used + size + (HEAD + 8) * count + _SLACK
        if needed > len(self.content):
            content = np.empty(max(needed, 2 * len(self.content)), np.uint8)
            content[:used] = self.content[:used]
            self.content = content

    def numbers(self, strings: pl.Series) -> np.ndarray:
        """Return the int32 number of each string; a new string gets a new number."""
        parts = range(0, max(1, len(strings)), _BATCH)
        batches = (strings[i : i + _BATCH].cast(pl.String) for i in parts)
        large = pl.CompatLevel.oldest()  # strings with offsets
        return np.concatenate([self.numbers_of(b.to_arrow(compat_level=large)) for b in batches])

    def numbers_of(self, column: pa.LargeStringArray) -> np.ndarray:
        """Return the int32 number of each string of an Arrow array, as `numbers` does."""
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
        """Return all names, by number."""
        out = np.empty(int(self.state[USED]) + _SLACK, np.uint8)
        ends = np.zeros(len(self) + 1, np.int64)
        spell(self.content, self.state, out, ends[1:])
        buffers = pa.py_buffer(ends), pa.py_buffer(out)
        return series(pa.LargeStringArray.from_buffers(len(self), *buffers))


def in_order(several: list[Names]) -> tuple[pl.Series, list[np.ndarray]]:
    """Merge several `Names` into one sorted series of distinct names.

    The first also gets the names of the others.

    Returns
    -------
    names
        Distinct, sorted by their bytes.
    indices
        For each of `several`, int32 by number: index in `names`.
    """
    merged, *further = several
    numbers = [merged.numbers(other.strings()) for other in further]
    names = merged.strings()
    order = names.arg_sort().to_numpy()
    index = np.empty(len(order), np.int32)
    index[order] = np.arange(len(order), dtype=np.int32)
    return names.gather(order), [index, *(index[of_other] for of_other in numbers)]
