"""The report of what a fetch did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from irmeta.archive.fetch_plan import Wanted
from irmeta.phrases import count
from irmeta.summaries import Summarized, Summary

FILES: dict[str, type[pl.DataType]] = {
    "id": pl.String,
    "track": pl.String,
    "kind": pl.String,
    "name": pl.String,
    "path": pl.String,
    "status": pl.String,
    "bytes": pl.Int64,
    "sha256": pl.String,
    "address": pl.String,
    "reason": pl.String,
}
"""Schema of the files of a fetch."""
_OF_OUTCOME = ("status", "bytes", "sha256", "reason")
LOST = ("missing", "refused", "failed")
"""Statuses of files that are not there in the end."""


@dataclass(frozen=True)
class Outcome:
    """What became of one file; `status` as in `FetchReport`."""

    wanted: Wanted
    status: str
    bytes: int | None = None
    sha256: str | None = None
    reason: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether the file is in the collection."""
        return self.sha256 is not None


@dataclass(frozen=True, repr=False)
class FetchReport(Summarized):
    """What a fetch did.

    Attributes
    ----------
    folder : Path
        The collection.
    files : DataFrame
        One row per file: id, track, kind (``run`` or ``qrels``), name, path in the collection,
        status (``fetched``, ``linked``, ``copied``, ``joined``, ``up to date``; ``missing``,
        ``refused``, ``failed``; ``to fetch`` in a dry run), bytes, sha256, address, reason.
    left_out : DataFrame
        What the selection names and fetch does not fetch: id, task, state, reason.
    notes : tuple of str
        Tracks that are not, or not completely, in `collection.toml`.
    """

    folder: Path
    files: pl.DataFrame
    left_out: pl.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> pl.DataFrame:
        """The files that could not be fetched."""
        return self.files.filter(pl.col("status").is_in(LOST))

    @property
    def is_complete(self) -> bool:
        """Whether all files are there, and all tracks are in `collection.toml`."""
        return self.lost.is_empty() and not self.notes

    def counts(self) -> pl.DataFrame:
        """Count files by track, kind and status.

        Returns
        -------
        DataFrame
            track, kind, status, files, bytes (sum of the known sizes; null if none is known).
        """
        size = pl.when(pl.col("bytes").count() > 0).then(pl.col("bytes").sum())
        grouped = self.files.group_by("track", "kind", "status", maintain_order=True)
        return grouped.agg(pl.len().cast(pl.Int64).alias("files"), size)

    def _summary(self) -> Summary:
        statuses = self.files.group_by("status", maintain_order=True).len().iter_rows()
        facts = [f"{count(number, 'file')} {status}" for status, number in statuses]
        return Summary("", facts, self.counts)


def report_of(
    folder: Path, outcomes: Iterable[Outcome], left_out: pl.DataFrame, notes: Iterable[str]
) -> FetchReport:
    """Return the report of a fetch, its files sorted by track, kind and path."""
    rows = [
        {name: getattr(o if name in _OF_OUTCOME else o.wanted, name) for name in FILES}
        for o in outcomes
    ]
    files = pl.DataFrame(rows, schema=FILES).sort("track", "kind", "path")
    return FetchReport(folder, files, left_out, tuple(notes))
