"""The files to fetch for tracks of the catalogue, and the report of what was fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl

from irmeta.archive.catalog import QrelsChoice, TaskChoice, choices, runs
from irmeta.files import folder_name
from irmeta.phrases import count
from irmeta.schema.result_tables import FETCHED_FILES, NOT_FETCHED
from irmeta.summaries import Result, Summary

_SUFFIX = re.compile(r"\.(?:gz|bz2|xz|zst|Z)$")
_ARCHIVE = re.compile(r"\.(?:tgz|tar|zip)(?:\.(?:gz|bz2|xz|zst))?$", re.IGNORECASE)
NO_ADDRESS = "no address"


@dataclass(frozen=True)
class Wanted:
    """One file to fetch: a ``run`` or ``qrels`` called `name`, at `path` in the collection.

    `id` is that of the catalogue, `track` the name and folder in the collection.
    """

    id: str
    track: str
    kind: str
    name: str
    path: str
    address: str
    md5: str | None = None


@dataclass(frozen=True)
class WantedSet:
    """A qrels set: its file in the collection, and the fetched files that it is made of."""

    choice: QrelsChoice
    path: str
    parts: tuple[Wanted, ...]

    @property
    def is_joined(self) -> bool:
        """Whether the set's file is made of others, instead of being fetched itself."""
        return self.path != self.parts[0].path


@dataclass(frozen=True)
class WantedTrack:
    """The files of one track; `names` is a pattern, None if files hold several runs.

    `systems` has system, group, type of each run of the catalogue, under the names of reading.
    """

    id: str
    name: str
    runs: tuple[Wanted, ...]
    sets: tuple[WantedSet, ...]
    systems: pl.DataFrame
    names: str | None


@dataclass(frozen=True)
class Plan:
    """What to fetch, and what the selection names besides: the table `NOT_FETCHED`."""

    tracks: tuple[WantedTrack, ...]
    left_out: pl.DataFrame

    def files(self) -> list[Wanted]:
        """Return all files to fetch, each once; the qrels of a track before its runs."""
        parts = (
            [*(p for qrels_set in t.sets for p in qrels_set.parts), *t.runs] for t in self.tracks
        )
        return list({file.path: file for files in parts for file in files}.values())


def plan(ids: Iterable[str]) -> Plan:
    """Return what to fetch for tracks of the catalogue.

    Only ranking tasks with runs and qrels are fetched. All else is left out, with its reason:
    other states of tracks, tasks of runs that are no ranking task, and runs without an address.
    """
    tracks: list[WantedTrack] = []
    left: list[tuple[str, str, str, str]] = []
    for track_id in ids:
        choice = choices(track_id)
        if choice.state != "ready":
            left.append((track_id, "", choice.state, choice.reason))
            continue
        left += [(track_id, task, "left out", reason) for task, reason in choice.left_out]
        for task in choice.tasks:
            track, no_address = _track(track_id, task)
            tracks.append(track)
            if no_address:
                runs_without = f"{count(len(no_address), 'run')}: {', '.join(no_address)}"
                reason = f"the catalogue has no address of {runs_without}"
                left.append((track_id, task.name, NO_ADDRESS, reason))
    return Plan(tuple(tracks), NOT_FETCHED.frame(left))


def _track(track_id: str, task: TaskChoice) -> tuple[WantedTrack, list[str]]:
    """Return the files of a task, and the names of its runs without an address."""
    rows = runs().filter(pl.col("id") == track_id, pl.col("task").is_in(task.run_tasks))
    rows = rows.unique("run", keep="first", maintain_order=True).sort("run")
    with_address = rows.filter(pl.col("address").is_not_null())
    is_single = with_address["address"].n_unique() == with_address.height and not any(
        _ARCHIVE.search(address) for address in with_address["address"]
    )
    place = _single_files if is_single else _shared_files
    files = tuple(place(track_id, task.folder, with_address))
    pattern = _pattern(files) if is_single else None
    system = pl.col("run")
    if is_single:
        system = system.map_elements(folder_name, return_dtype=pl.String)
    systems = rows.select(system.alias("system"), "group", "type")
    sets = tuple(_set(track_id, task.folder, choice) for choice in task.sets)
    track = WantedTrack(track_id, task.folder, files, sets, systems, pattern)
    return track, rows.filter(pl.col("address").is_null())["run"].to_list()


def _single_files(track_id: str, folder: str, given: pl.DataFrame) -> Iterator[Wanted]:
    """Yield runs in files of their own, named after the run.

    Runs whose names differ only in case go to another folder, since some file systems ignore case.
    """
    used: set[str] = set()
    for run, address, md5 in given.select("run", "address", "md5").iter_rows():
        suffix = _SUFFIX.search(urlsplit(address).path)
        place = f"{folder_name(run)}{suffix[0] if suffix else ''}"
        below, number = "runs", 1
        while f"{below}/{place}".lower() in used:
            number += 1
            below = f"runs{number}"
        used.add(f"{below}/{place}".lower())
        yield Wanted(track_id, folder, "run", run, f"{folder}/{below}/{place}", address, md5)


def _shared_files(track_id: str, folder: str, given: pl.DataFrame) -> Iterator[Wanted]:
    """Yield archives of runs, named as the host names them."""
    for (address,), rows in given.group_by("address", maintain_order=True):
        name = urlsplit(str(address)).path.rpartition("/")[2]
        path = f"{folder}/runs/{folder_name(name)}"
        md5 = rows["md5"][0] if rows.height == 1 else None
        runs_in = rows["run"][0] if rows.height == 1 else f"{name} ({rows.height} runs)"
        yield Wanted(track_id, folder, "run", runs_in, path, str(address), md5)


def _pattern(files: Iterable[Wanted]) -> str:
    """Return the pattern that takes a system's name from its file."""
    suffixes = {match[0] if (match := _SUFFIX.search(f.address)) else "" for f in files}
    endings = sorted(suffixes - {""})
    if not endings:
        return "(.+)"
    ending = "|".join(re.escape(suffix) for suffix in endings)
    return f"(.+?)(?:{ending})?" if "" in suffixes else f"(.+)(?:{ending})"


def _set(track_id: str, folder: str, choice: QrelsChoice) -> WantedSet:
    def wanted(address: str, path: str) -> Wanted:
        return Wanted(track_id, folder, "qrels", choice.name, path, address)

    stem = "qrels" if choice.name == "qrels" else f"qrels.{folder_name(choice.name)}"
    if len(choice.addresses) == 1 and not choice.members and choice.queries is None:
        suffix = _SUFFIX.search(urlsplit(choice.addresses[0]).path)
        path = f"{folder}/{stem}{suffix[0] if suffix else '.txt'}"
        return WantedSet(choice, path, (wanted(choice.addresses[0], path),))
    parts = tuple(
        wanted(
            address, f"{folder}/sources/{folder_name(urlsplit(address).path.rpartition('/')[2])}"
        )
        for address in choice.addresses
    )
    return WantedSet(choice, f"{folder}/{stem}.txt", parts)


_OF_OUTCOME = ("status", "bytes", "sha256", "reason")
LOST = ("missing", "refused", "failed")
"""Statuses of files that are not there in the end."""


@dataclass(frozen=True)
class Outcome:
    """Outcome for one file; `status` as in `FetchReport`."""

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
class FetchReport(Result):
    """Report of a fetch.

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
        return Summary("", facts)

    def frame(self) -> pl.DataFrame:
        """Return `files`."""
        return self.files

    def _table(self) -> pl.DataFrame:
        return self.counts()


def report_of(
    folder: Path, outcomes: Iterable[Outcome], left_out: pl.DataFrame, notes: Iterable[str]
) -> FetchReport:
    """Return the report of a fetch, its files sorted by track, kind and path."""
    rows = [
        {
            name: getattr(o if name in _OF_OUTCOME else o.wanted, name)
            for name in FETCHED_FILES.columns
        }
        for o in outcomes
    ]
    files = FETCHED_FILES.frame(rows).sort("track", "kind", "path")
    return FetchReport(folder, files, left_out, tuple(notes))
