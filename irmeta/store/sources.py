"""The arrays of many runs at once, as kernels find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from irmeta.kernels.gather import gather_floats, gather_ints, gather_names
from irmeta.store.spill import KINDS, InMemory


class Places(NamedTuple):
    """Where lists lie: a source, the row that each begins with, and how many it has; all int64."""

    source: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


@dataclass(frozen=True)
class Sources:
    """Columns of rows, and for each the table of what its docs' numbers stand for.

    Attributes
    ----------
    held
        The arrays, so that their addresses stay good.
    addresses
        int64 [sources], by the names of `KINDS`, and of the tables under "table".
    """

    held: tuple[dict[str, np.ndarray], ...]
    addresses: dict[str, np.ndarray]

    @classmethod
    def of(cls, columns: Sequence[InMemory], tables: Sequence[np.ndarray]) -> Self:
        """Of columns as they were read, each with its table."""
        held = tuple(
            own.arrays | {"table": table} for own, table in zip(columns, tables, strict=True)
        )
        kinds = KINDS | {"table": np.int32}
        addresses = {
            name: np.array([_address(arrays[name], kind) for arrays in held], np.int64)
            for name, kind in kinds.items()
        }
        return cls(held, addresses)

    def rows(self, places: Places) -> dict[str, np.ndarray]:
        """The rows of lists, list after list, by the names of `KINDS`; doc: what it stands for."""
        found = {name: np.empty(places.lengths.sum(), kind) for name, kind in KINDS.items()}
        own = self.addresses
        gather_names(own["doc"], own["table"], *places, found["doc"])
        gather_floats(own["score"], *places, found["score"])
        for name in ("rank_given", "position"):
            gather_ints(own[name], *places, found[name])
        return found


def _address(array: np.ndarray, kind: type[np.generic]) -> int:
    if array.dtype != kind or not array.flags.c_contiguous:  # kernels would read what is not there
        raise TypeError(f"not an array of {np.dtype(kind)} in one piece: {array.dtype}")
    return array.ctypes.data
