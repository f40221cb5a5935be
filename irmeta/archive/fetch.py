"""Fetch runs and qrels of TREC's tracks as a collection."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Literal
from urllib.parse import urlsplit

from irmeta.archive.download import Downloader
from irmeta.archive.fetch_files import FileFetcher
from irmeta.archive.fetch_lock import FetchLock
from irmeta.archive.fetch_options import FetchOptions, Placement, Progress
from irmeta.archive.fetch_plan import (
    FetchReport,
    Outcome,
    Plan,
    Wanted,
    WantedTrack,
    plan,
    report_of,
)
from irmeta.archive.fetched_collection import FetchedTrack, merge_collection
from irmeta.archive.http_client import (
    CONNECTIONS,
    TIMEOUT,
    HostLimits,
    Pauses,
    host_of,
    open_client,
)
from irmeta.archive.mirror import FolderMirror, UrlMirror, open_mirror
from irmeta.archive.selection import catalog
from irmeta.parallel import ordered_map
from irmeta.store.lock import only_writer

MOST_THREADS = 16
FILES_BETWEEN_RECORDS = 200  # files after which the lock file is written
NIST = "nist.gov"


def fetch(
    tracks: str | Sequence[str] = (),
    out: str | Path = "tracks",
    *,
    year: str | int | None = None,
    track: str | None = None,
    task: str | None = None,
    has: str | Collection[str] = (),
    mirror: str | Path | None = None,
    placement: Placement = "link",
    md5: Literal["check", "note"] = "check",
    user: str | None = None,
    password: str | None = None,
    dry_run: bool = False,
    max_gb: float = 4.0,
    min_rate: float = 1000.0,
    max_minutes: float | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> FetchReport:
    """Fetch runs and qrels of TREC's tracks as a collection that `reanalyze` reads.

    A file that is there with its recorded checksum is not fetched again, and an interrupted fetch
    continues where it stopped. Files are recorded in ``fetch.lock.json``; tracks, their qrels sets
    and facts of their systems are added to ``collection.toml``. The extra ``fetch`` is needed,
    except for a mirror in a folder.

    At most 4 requests to a host run at a time, and they start 1 second apart; after 20 answers in a
    row without an error the interval halves, down to a quarter of a second. Requests to this
    computer have no interval.

    Parameters
    ----------
    tracks : str or sequence of str
        Ids of the catalogue or patterns of ids, such as ``trec8/adhoc`` or ``trec1?/web``; default:
        all tracks that irmeta can evaluate.
    out : path
        Folder of the collection.
    year, track, task, has
        Filters, as in `catalog`.
    mirror : path or str, optional
        A folder with a copy of TREC's files, or the address of one.
    placement : {'link', 'copy'}
        Whether files of a mirror's folder become symbolic links or copies.
    md5 : {'check', 'note'}
        Whether a file of another MD5 than the catalogue's is rejected, or kept with a note. The
        catalogue has an MD5 of about half of the runs.
    user, password : str, optional
        Sent to NIST's hosts, or to the mirror's, over https only; default: those of the netrc file.
    dry_run : bool
        Write nothing, and ask hosts for sizes only.
    max_gb : float
        Largest size of a file in GB.
    min_rate : float
        Fewest bytes a second of a download, over each minute.
    max_minutes : float, optional
        Longest time of a download.
    progress : callable, optional
        Called with a `Progress` from several threads.

    Returns
    -------
    FetchReport
        Frames of all files and of what was left out.

    Raises
    ------
    UsageError
        If a pattern matches no track, the mirror does not exist, or the extra is not installed.
    DataError
        If `collection.toml` or the lock file cannot be read.

    Examples
    --------
    >>> report = irmeta.fetch("trec8/*", "new-tracks/", mirror=".", dry_run=True)
    >>> report.left_out["id"][0], report.left_out["state"][0]
    ('trec8/filtering', 'not a ranking task')
    """
    chosen = catalog(tracks, year=year, track=track, task=task, has=has)
    mirror = None if mirror is None else str(mirror)
    options = FetchOptions(
        mirror=mirror,
        placement=placement,
        md5=md5,
        user=user,
        dry_run=dry_run,
        max_gb=max_gb,
        min_rate=min_rate,
        max_minutes=max_minutes,
    )
    return fetch_plan(plan(chosen.ids), Path(out), options, password=password, progress=progress)


def fetch_plan(
    planned: Plan,
    folder: Path,
    options: FetchOptions,
    *,
    password: str | None = None,
    timeout: float = TIMEOUT,
    progress: Callable[[Progress], object] | None = None,
    pauses: Pauses | None = None,
) -> FetchReport:
    """Fetch the files of a plan: see `fetch`. `pauses` is the clock of the limits for hosts."""
    counter, pauses = _Counter(len(planned.files()), progress), pauses or Pauses()
    mirror = None if options.mirror is None else open_mirror(options.mirror)
    with _downloader(mirror, options, password, timeout, pauses, counter) as downloader:
        if options.dry_run:
            fetcher = FileFetcher(folder, FetchLock(folder), options, mirror, downloader)
            looked = list(_each(planned, fetcher.look, pauses, counter))
            return report_of(folder, looked, planned.left_out, ())
        with only_writer(folder):
            lock = FetchLock(folder)  # not earlier: another fetch may have ended just now
            fetcher = FileFetcher(folder, lock, options, mirror, downloader)
            try:
                outcomes = list[Outcome]()
                for outcome in _each(planned, fetcher.obtain, pauses, counter):
                    outcomes.append(outcome)
                    if len(outcomes) % FILES_BETWEEN_RECORDS == 0:
                        lock.write()
                there = {one.wanted.path for one in outcomes if one.is_there}
                sets = [one for track in planned.tracks for one in track.sets if one.is_joined]
                complete = [s for s in sets if all(part.path in there for part in s.parts)]
                outcomes += map(fetcher.join, complete)
            finally:
                lock.write()
            there = {one.wanted.path for one in outcomes if one.is_there}
            tracks, notes = _in_place(planned.tracks, there)
            notes += merge_collection(folder, tracks)
    return report_of(folder, outcomes, planned.left_out, notes)


@contextmanager
def _downloader(
    mirror: UrlMirror | FolderMirror | None,
    options: FetchOptions,
    password: str | None,
    timeout: float,
    pauses: Pauses,
    counter: _Counter,
) -> Generator[Downloader | None]:
    """Open a downloader, unless all files are in a folder."""
    if isinstance(mirror, FolderMirror):
        yield None
        return
    domain = NIST if mirror is None else urlsplit(mirror.address("")).hostname or ""
    with open_client(domain, options.user, password, timeout) as client:
        yield Downloader(
            client,
            pauses,
            HostLimits(pauses),
            counter.received,
            check_md5=options.md5 == "check",
            file_limits=options,
            jitter=random.random,  # of waiting times, which no result depends on
        )


def _each(
    planned: Plan, function: Callable[[Wanted], Outcome], pauses: Pauses, counter: _Counter
) -> Generator[Outcome]:
    """Apply a function to each file of a plan, in threads."""
    files = planned.files()
    hosts = {host_of(file.address) for file in files}
    results = ordered_map(
        function,
        files,
        workers=min(MOST_THREADS, CONNECTIONS * max(1, len(hosts))),
        ahead=MOST_THREADS,
        stop=pauses.stop,
        abandon=True,  # a thread may wait for a host
    )
    with closing(results):
        for outcome in results:
            counter.finished(outcome.wanted.path)
            yield outcome


class _Counter:
    """Counts of files and bytes, reported from several threads."""

    def __init__(self, files: int, report: Callable[[Progress], object] | None) -> None:
        self._lock, self._report = Lock(), report
        self._files, self._done, self._bytes, self._path = files, 0, 0, ""

    def received(self, count: int) -> None:
        """Count bytes."""
        self._add(0, count, self._path)

    def finished(self, path: str) -> None:
        """Count a file."""
        self._add(1, 0, path)

    def _add(self, done: int, count: int, path: str) -> None:
        if self._report is None:
            return
        with self._lock:
            self._done, self._bytes, self._path = self._done + done, self._bytes + count, path
            progress = Progress(self._done, self._files, self._bytes, path)
            self._report(progress)


def _in_place(
    tracks: Iterable[WantedTrack], there: set[str]
) -> tuple[list[FetchedTrack], list[str]]:
    """Return the tracks that have runs and their primary qrels, and notes of the others."""
    complete: list[FetchedTrack] = []
    notes: list[str] = []
    for track in tracks:
        sets = tuple((one.choice, one.path) for one in track.sets if one.path in there)
        folders = {run.path.rpartition("/")[0] for run in track.runs if run.path in there}
        if not folders or track.sets[0].path not in there:
            lacking = "its primary qrels" if folders else "its runs"
            notes.append(f"{track.name}: not in collection.toml, since {lacking} are not there")
            continue
        complete.append(
            FetchedTrack(track.name, tuple(sorted(folders)), track.names, sets, track.systems)
        )
    return complete, notes
