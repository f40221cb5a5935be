"""Names of queries and docs as small integers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.kernels.interning import (
    COUNT,
    HEAD,
    USED,
    absorb,
    fill,
    intern,
    locate,
    name_words,
    spell,
)
from irmeta.parallel import release_freed
from irmeta.schema.arrow import series

SLACK = 128  # bytes that kernels may access beyond the end of their input
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
        self.clear()

    def clear(self) -> None:
        """Forget all names and release their memory."""
        self.table: np.ndarray = np.zeros(1 << 14, np.uint64)
        self.content: np.ndarray = np.empty(1 << 18, np.uint8)
        self.state: np.ndarray = np.zeros(2, np.int64)

    def restart(self) -> None:
        """Forget all names and keep their memory for others."""
        self.table.fill(0)
        self.state.fill(0)

    def __len__(self) -> int:
        return int(self.state[COUNT])

    @property
    def used(self) -> int:
        """Return the bytes of the names themselves, each with its number."""
        return int(self.state[USED])

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
        needed = self.used + size + (HEAD + 8) * count + SLACK
        if needed > len(self.content):
            # The system moves large arrays without a copy, and the new part takes memory at once.
            self.content.resize(max(needed, len(self.content) * 5 // 4), refcheck=False)

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
        data = np.zeros(size + SLACK, np.uint8)
        data[:size] = np.frombuffer(content, np.uint8)[bounds[0] : bounds[-1]]
        return self._intern(data, bounds[1:] - bounds[0])

    def numbers_of_texts(self, texts: list[str]) -> np.ndarray:
        """Return the int32 number of each of a few texts; an Arrow array would load pandas."""
        names = [text.encode() for text in texts]
        # A bytearray, because the kernel would be compiled once more for read-only bytes.
        data = np.frombuffer(bytearray().join([*names, bytes(SLACK)]), np.uint8)
        return self._intern(data, np.cumsum([len(name) for name in names], dtype=np.int64))

    def _intern(self, data: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the numbers of concatenated names, which `SLACK` bytes follow."""
        self.make_room(len(ends), len(data))
        numbers = np.empty(len(ends), np.int32)
        intern(data, ends, self.table, self.content, self.state, numbers)
        return numbers

    def sort(self, numbers: np.ndarray) -> np.ndarray:
        """Return the permutation that sorts distinct names, given by number, by their bytes.

        Eight bytes are compared at a time, later ones only of names that are equal so far. This
        starts no threads, as polars does, for a few hundred names.
        """
        offsets = np.empty(len(self), np.int64)
        locate(self.content, self.state, offsets)
        offsets = offsets[numbers]
        lengths = self.content.view(np.uint32)[(offsets - HEAD) // 4]
        order = np.arange(len(numbers))
        tied, group, step = order.copy(), np.zeros(len(numbers), np.int64), 0
        while len(tied):
            words = np.empty(len(tied), np.uint64)
            name_words(self.content, offsets[order[tied]], step, words)
            words.byteswap(inplace=True)  # the first byte counts most
            if 8 * step >= lengths.max():  # names that differ in zeros at their ends
                words = lengths[order[tied]]
            permutation = np.lexsort((words, group))
            order[tied], words = order[tied][permutation], words[permutation]
            differs = np.diff(words).astype(bool) | np.diff(group[permutation]).astype(bool)
            group = np.append(0, np.cumsum(differs))
            is_tied = np.append(~differs, False) | np.append(False, ~differs)
            tied, group, step = tied[is_tied], group[is_tied], step + 1
        return order

    def texts(self) -> list[str]:
        """Return all names, by number, as `strings` does, for a few names."""
        out, ends = self._spelled()
        text, bounds = out.tobytes(), [0, *ends.tolist()]
        return [text[start:end].decode() for start, end in pairwise(bounds)]

    def length_at(self, record: int) -> int:
        """Return the length in bytes of the name at an offset of `content`."""
        return int(self.content[record : record + 4].view(np.uint32)[0])

    def absorb(self, other: Names) -> np.ndarray:
        """Add the names of `other`, without a copy of them; return the int32 numbers."""
        numbers, start = np.empty(len(other), np.int32), 0
        while start < other.used:
            self.make_room(1 << 10, other.length_at(start))
            start = absorb(
                other.content, start, other.state, self.table, self.content, self.state, numbers
            )
        return numbers

    def strings(self) -> pl.Series:
        """Return all names, by number."""
        out, ends = self._spelled()
        buffers = pa.py_buffer(np.append(0, ends)), pa.py_buffer(out)
        return series(pa.LargeStringArray.from_buffers(len(self), *buffers))

    def _spelled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bytes of all names, and the end of each."""
        out, ends = np.empty(self.used + SLACK, np.uint8), np.empty(len(self), np.int64)
        spell(self.content, self.state, out, ends)
        return out, ends


def in_order(several: list[Names]) -> tuple[pl.Series, list[np.ndarray]]:
    """Merge several `Names` into one sorted series of distinct names, and empty all of them.

    Returns
    -------
    names
        Distinct, sorted by their bytes.
    indices
        For each of `several`, int32 by number: index in `names`.
    """
    merged, *further = several
    numbers = []
    for other in further:
        numbers.append(merged.absorb(other))
        other.clear()
    merged.table = np.zeros(0, np.uint64)  # not needed to list the names
    strings = merged.strings()
    merged.clear()
    release_freed()  # sorting takes as much memory
    order = strings.arg_sort().to_numpy()
    index = np.empty(len(order), np.int32)
    index[order] = np.arange(len(order), dtype=np.int32)
    return strings.gather(order), [index, *(index[of_other] for of_other in numbers)]
