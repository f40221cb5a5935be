"""Memory that reading a file or a track may take, and the errors of those that take more.

A limit covers names and the start of the process, too. When it covered rows alone, 8 million rows
took 1 GB under a limit of 100 MB. The error for a track that does not fit says what was read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from irmeta.errors import DataError, IrmetaError
from irmeta.parallel import usable_memory


class Stream(Protocol):
    """A source of text."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read bytes into a buffer and return their number."""
        ...


Room = Callable[[], int]
"""Function that returns the bytes of memory left for reading a file."""
MOST_COUNTED = 2 << 30  # bytes of text that an estimate reads
FLOOR = 48 << 20
"""Bytes that reading a file may always take."""
COSTS: dict[str, tuple[int, int]] = {
    "qrels": (500, 2),
    "msmarco": (450, 5),
    "scores": (450, 5),
    "tabs": (650, 7),
    "csv": (450, 7),
    "json": (470, 9),
    "jsonl": (600, 5),
    "parquet": (350, 5),
}
"""Peak memory of reading a form: bytes per row, and per byte of text; `benchmarks/memory_forms.py`
measures them."""
ROW = 200
"""Peak bytes per row of a run in TREC form, of which no text is held."""
TAG = 200
"""Bytes per distinct tag."""
START = 256 << 20
"""Bytes of a process that has loaded irmeta and its compiled kernels, before it reads."""
_MEBIBYTE = 1 << 20


class OutOfRoomError(IrmetaError):
    """A file that takes more memory than is left for it, where others may leave more.

    It is no `DataError`, which would skip a run: `error` is one, for the track. `needed` are the
    bytes that reading the file takes.
    """

    def __init__(self, file: str, needed: int, left: int) -> None:
        self.needed: int = needed
        self.error: DataError = DataError(
            f"reading it takes about {needed >> 20:,} MiB, and {max(0, left) >> 20:,} MiB of "
            "memory are left for it",
            file=file,
            fix="Raise the limit, split the file, or write it in TREC form, which takes the least.",
        )
        self.error.exceeds_memory = True
        super().__init__(str(self.error))


def half_of_memory() -> int:
    """Return half of the memory that this process may use: what a file may take by default."""
    return usable_memory() // 2


def check_room(room: Room, needed: int, file: str, whole: Callable[[], int] | None = None) -> None:
    """Check that a file fits into the memory that is left.

    Parameters
    ----------
    needed
        The bytes that its first part takes.
    whole
        Function that reads on, and returns the bytes that all of it would take.

    Raises
    ------
    OutOfRoomError
        If it does not fit.
    """
    if needed > FLOOR and needed > (left := room()):
        raise OutOfRoomError(file, needed if whole is None else whole(), left)


def cost(form: str, rows: int, size: int) -> int:
    """Return the bytes of memory for rows of `size` bytes of text in a form."""
    per_row, per_byte = COSTS[form]
    return per_row * rows + per_byte * size


def count_rest(stream: Stream, mark: bytes = b"\n") -> tuple[int, int]:
    """Read the rest of a stream; return how often a byte occurs, and the number of bytes."""
    buffer = memoryview(bytearray(1 << 20))
    marks = size = 0
    while (count := stream.readinto(buffer)) and size < MOST_COUNTED:
        marks, size = marks + bytes(buffer[:count]).count(mark), size + count
    return marks, size


@dataclass(frozen=True)
class Limits:
    """Limits for one track: `memory` is bytes for its names and rows, without the process's start.

    `is_strict`: a track that needs more is refused. `at_once` tracks share the limit in
    `processes`; `largest` is what reading one file may take, by default `memory`.
    """

    workers: int
    memory: int
    is_strict: bool = False
    at_once: int = 1
    processes: int = 1
    largest: int | None = None

    @property
    def for_file(self) -> int:
        """Return the bytes that reading one file may take before anything is held."""
        return self.memory if self.largest is None else self.largest

    @classmethod
    def strict(cls, workers: int, total: int, at_once: int, processes: int) -> Limits:
        """Return the limits of each of several tracks that are read at once in `total` bytes."""
        memory = (total - processes * START) // at_once
        return cls(workers, memory, True, at_once, processes)

    def least(self, needed: int) -> int:
        """Return the least limit, in MiB, under which a track may take so many bytes."""
        return -(-(needed * self.at_once + self.processes * START) // _MEBIBYTE)

    def of_file(self, refused: OutOfRoomError, beside: int) -> DataError:
        """Return the error of a file that takes too much, with `beside` bytes of the track."""
        if self.is_strict:
            least = self.least(refused.needed + beside) * _MEBIBYTE
            refused.error.fix = (
                f"It needs at least `memory={least}`. Split it, or write it in TREC form, which "
                "takes the least."
            )
        return refused.error

    def refusal(self, needed: int) -> DataError:
        """Return the error that the runs read so far need more bytes than `memory`."""
        start, least = self.processes * START, self.least(needed)
        limit = (self.memory * self.at_once + start) // _MEBIBYTE
        error = DataError(
            f"its names and longest lists do not fit into the memory limit of {limit} MiB, of "
            f"which irmeta itself takes {start // _MEBIBYTE} MiB",
            fix=f"The runs read so far need {least} MiB: "
            f"use at least `memory={least * _MEBIBYTE}`.",
        )
        error.exceeds_memory = True
        return error
