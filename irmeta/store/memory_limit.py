"""Memory needed to read a track into a store, and the error for a lower limit.

A limit covers names and the start of the process, too. When it covered rows alone, 8 million rows
took 1 GB under a limit of 100 MB. The error for a track that does not fit says what was read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from irmeta.errors import DataError
from irmeta.store.long_table import GROUP_ROWS
from irmeta.store.read_run import Run, SkippedRun
from irmeta.trec.numbered_names import Names
from irmeta.trec.room import OutOfRoomError

START = 256 << 20
"""Bytes of a process that has loaded irmeta and its compiled kernels, before it reads."""
_MEBIBYTE = 1 << 20


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


@dataclass(frozen=True)
class Extent:
    """Sizes of a track that determine the memory for reading it.

    `names` distinct docs of `name_bytes`; rows of the `longest_run`, and of the longest list of
    each run in total (`list_rows`), which bound those of a query.
    """

    names: int = 0
    name_bytes: int = 0
    judged_bytes: int = 0
    longest_run: int = 0
    list_rows: int = 0
    rows: int = 0

    def with_run(self, run: Run | SkippedRun) -> Extent:
        """Return the extent with one more run."""
        if isinstance(run, SkippedRun):
            return self
        return replace(
            self,
            longest_run=max(self.longest_run, run.rows),
            list_rows=self.list_rows + int(np.diff(run.starts).max()),
            rows=self.rows + run.rows,
        )

    def with_names(self, names: Iterable[Names]) -> Extent:
        """Return the extent with the names of all readers, each counted in each reader."""
        several = list(names)
        return replace(
            self,
            names=sum(len(one) for one in several),
            name_bytes=sum(one.used for one in several),
        )

    def needed(self, workers: int = 1) -> int:
        """Return the largest number of bytes that reading, sorting or writing takes.

        The bytes per name and row are measured; a test compares the sum with a process's peak.
        """
        group_rows = min(self.rows, GROUP_ROWS + self.list_rows)
        reading = self.read_names() + 200 * workers * self.longest_run
        sorting = self.name_bytes + 76 * self.names
        writing = self.name_bytes + (60 + 10 * workers) * self.names
        length = self.name_bytes // max(1, self.names)
        per_name = 400 + 5 * max(0, length - 40)  # the names of a group are held several times
        writing += workers * (200 * group_rows + per_name * min(group_rows, self.names))
        return 3 * self.judged_bytes + max(reading, sorting, writing)

    def read_names(self) -> int:
        """Return the bytes that the names take while files are read."""
        return self.name_bytes * 5 // 4 + 32 * self.names
