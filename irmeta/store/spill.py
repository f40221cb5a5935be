"""The rows of runs, in memory or, where there are too many, in a temporary file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

KINDS = {"doc": np.int32, "score": np.float64, "rank_given": np.int32, "position": np.int32}


class Columns(Protocol):
    """Arrays of one length, by the names of `KINDS`."""

    @property
    def held(self) -> int:
        """The bytes of memory that they take."""
        ...

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Some of their rows."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Columns as arrays."""

    arrays: dict[str, np.ndarray]

    @property
    def held(self) -> int:
        return sum(values.nbytes for values in self.arrays.values())

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        return {name: values[start:stop] for name, values in self.arrays.items()}

    def spill(self, path: Path) -> Spilled:
        """Put them into a file of their own.

        Raises
        ------
        OSError
            If not all of them could be written; numpy's `tofile` would not say so.
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
        found, begin = {}, 0
        for name, kind in KINDS.items():
            size = np.dtype(kind).itemsize
            offset = begin + start * size
            begin += self.count * size
            found[name] = np.fromfile(self.path, kind, stop - start, offset=offset)
            if len(found[name]) != stop - start:  # kernels would read beyond them
                raise OSError(f"{self.path} ends before the rows that were put there")
        return found
