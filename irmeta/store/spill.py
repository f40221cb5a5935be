"""Rows of runs in memory or, beyond the memory limit, in a temporary file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

KINDS: dict[str, type[np.generic]] = {
    "doc": np.int32,
    "score": np.float64,
    "rank_given": np.int32,
    "position": np.int32,
}


class Columns(Protocol):
    """Arrays of one length, by the names of `KINDS`."""

    @property
    def held(self) -> int:
        """Return the bytes of memory that the arrays take."""
        ...

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Return rows `start` to `stop` of each array."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Columns as arrays."""

    arrays: dict[str, np.ndarray]

    @property
    def held(self) -> int:
        """Number of bytes in memory."""
        return sum(values.nbytes for values in self.arrays.values())

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Return the columns of some rows."""
        return {name: values[start:stop] for name, values in self.arrays.items()}

    def spill(self, path: Path) -> Spilled:
        """Write the columns to a file.

        Raises
        ------
        OSError
            If the columns could not be written completely; numpy's `tofile` would not raise.
        """
        with path.open("wb") as file:
            for name, kind in KINDS.items():
                file.write(self.arrays[name].astype(kind, copy=False).tobytes())
        return Spilled(path, len(self.arrays["doc"]))


@dataclass(frozen=True)
class Spilled:
    """Columns in a file, one after another in the order of `KINDS`, each of `count` values."""

    path: Path
    count: int
    held = 0

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Read the columns of some rows."""
        arrays, begin = {}, 0
        for name, kind in KINDS.items():
            size = np.dtype(kind).itemsize
            offset = begin + start * size
            begin += self.count * size
            arrays[name] = np.fromfile(self.path, kind, stop - start, offset=offset)
            if len(arrays[name]) != stop - start:  # a kernel would read beyond the array
                raise OSError(f"{self.path} is shorter than the rows written to it")
        return arrays
