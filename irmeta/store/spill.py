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
        """Put them at the end of a file."""
        offsets = {}
        with path.open("ab") as file:
            for name, kind in KINDS.items():
                offsets[name] = file.tell()
                np.ascontiguousarray(self.arrays[name], kind).tofile(file)
        return Spilled(path, offsets)


@dataclass(frozen=True)
class Spilled:
    """Columns in a file, from `offsets` in bytes on."""

    path: Path
    offsets: dict[str, int]
    held: int = 0

    def rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        found = {}
        for name, kind in KINDS.items():
            offset = self.offsets[name] + start * np.dtype(kind).itemsize
            found[name] = np.fromfile(self.path, kind, stop - start, offset=offset)
        return found
