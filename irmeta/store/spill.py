"""Rows of runs in memory or in a temporary file, and their addresses for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np

from irmeta.kernels.lists import gather_floats, gather_ints, gather_names

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


class ListRows(NamedTuple):
    """The source, first row and number of rows of each list; all int64."""

    source: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


@dataclass(frozen=True)
class Sources:
    """Columns of several runs, each with the table that maps its doc numbers.

    Attributes
    ----------
    held
        The arrays, referenced so that their addresses stay valid.
    addresses
        int64 [sources], by the names of `KINDS`, and of the tables under "table".
    """

    held: tuple[dict[str, np.ndarray], ...]
    addresses: dict[str, np.ndarray]

    @classmethod
    def of(cls, columns: Sequence[InMemory], tables: Sequence[np.ndarray]) -> Self:
        """Collect columns as they were read, each with its table."""
        held = tuple(
            run.arrays | {"table": table} for run, table in zip(columns, tables, strict=True)
        )
        kinds = KINDS | {"table": np.int32}
        addresses = {
            name: np.array([_address(arrays[name], kind) for arrays in held], np.int64)
            for name, kind in kinds.items()
        }
        return cls(held, addresses)

    def rows(self, list_rows: ListRows) -> dict[str, np.ndarray]:
        """Return the rows of lists, list after list, by the names of `KINDS`; doc is mapped."""
        arrays = {name: np.empty(list_rows.lengths.sum(), kind) for name, kind in KINDS.items()}
        addresses = self.addresses
        gather_names(addresses["doc"], addresses["table"], *list_rows, arrays["doc"])
        gather_floats(addresses["score"], *list_rows, arrays["score"])
        for name in ("rank_given", "position"):
            gather_ints(addresses[name], *list_rows, arrays[name])
        return arrays


def _address(array: np.ndarray, kind: type[np.generic]) -> int:
    if array.dtype != kind or not array.flags.c_contiguous:  # a kernel would read beyond the array
        raise TypeError(f"not a contiguous array of {np.dtype(kind)}: {array.dtype}")
    return array.ctypes.data
