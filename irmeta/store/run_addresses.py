"""Addresses of the arrays of many runs, for kernels that gather their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from irmeta.kernels.lists import gather_floats, gather_ints, gather_names
from irmeta.store.spill import KINDS, InMemory


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
