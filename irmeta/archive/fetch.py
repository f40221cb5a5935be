"""Fetch runs and qrels of TREC's tracks as a collection."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Literal
from urllib.parse import unquote, urlsplit

from irmeta.archive.catalog import catalog
from irmeta.archive.content import (
    CHECKS,
    OTHER_MD5,
    REJECTED,
    Content,
    WebPageError,
    check_content,
    has_md5,
    join_parts,
)
from irmeta.archive.download import Downloader, FetchError
from irmeta.archive.fetch_options import FetchOptions, Placement
from irmeta.archive.fetch_plan import (
    FetchReport,
    Outcome,
    Plan,
    Wanted,
    WantedSet,
    WantedTrack,
    plan,
    report_of,
)
from irmeta.archive.fetch_records import Fetched, FetchedTrack, FetchLock, merge_collection
from irmeta.archive.http_client import (
    CONNECTIONS,
    TIMEOUT,
    HostLimits,
    Pauses,
    check_address,
    host_of,
    open_client,
)
from irmeta.errors import DataError, IrmetaError, UsageError
from irmeta.files import only_writer, replacing, write_bytes
from irmeta.parallel import ordered_map
from irmeta.progress import REPORT, Progress, shows_progress
from irmeta.trec.source import dataset_qrels, is_dataset

MOST_THREADS = 16
FILES_BETWEEN_RECORDS = 200  # files after which the lock file is written
NIST = "nist.gov"


@shows_progress("Fetching")
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
    progress: Progress = None,
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
    progress : bool or callable, optional
        See `read`; a function is called with the path of a file and the size of all that came, the
        number of finished files, and of all files.

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
    return fetch_plan(plan(chosen.ids), Path(out), options, password=password)


def fetch_plan(
    planned: Plan,
    folder: Path,
    options: FetchOptions,
    *,
    password: str | None = None,
    timeout: float = TIMEOUT,
    pauses: Pauses | None = None,
) -> FetchReport:
    """Fetch the files of a plan: see `fetch`. `pauses` is the clock of the limits for hosts."""
    counter, pauses = _Counter(len(planned.files())), pauses or Pauses()
    mirror = None
    if options.mirror is not None:
        is_url = options.mirror.lower().startswith(("http://", "https://"))
        mirror = UrlMirror(options.mirror) if is_url else FolderMirror(Path(options.mirror))
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
                there = {outcome.wanted.path for outcome in outcomes if outcome.is_there}
                sets = [
                    qrels_set
                    for track in planned.tracks
                    for qrels_set in track.sets
                    if qrels_set.is_joined
                ]
                complete = [s for s in sets if all(part.path in there for part in s.parts)]
                outcomes += map(fetcher.join, complete)
            finally:
                lock.write()
            there = {outcome.wanted.path for outcome in outcomes if outcome.is_there}
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

    def __init__(self, files: int) -> None:
        self._lock, self._report = Lock(), REPORT.get()
        self._files, self._done, self._bytes, self._path = files, 0, 0, ""

    def received(self, count: int) -> None:
        """Count bytes."""
        self._add(0, count, self._path)

    def finished(self, path: str) -> None:
        """Count a file."""
        self._add(1, 0, path)

    def _add(self, done: int, count: int, path: str) -> None:
        with self._lock:
            self._done, self._bytes, self._path = self._done + done, self._bytes + count, path
            if self._report is not None:
                self._report(f"{path}, {self._bytes / 1e6:,.1f} MB", self._done, self._files)


def _in_place(
    tracks: Iterable[WantedTrack], there: set[str]
) -> tuple[list[FetchedTrack], list[str]]:
    """Return the tracks that have runs and their primary qrels, and notes of the others."""
    complete: list[FetchedTrack] = []
    notes: list[str] = []
    for track in tracks:
        sets = tuple(
            (qrels_set.choice, qrels_set.path)
            for qrels_set in track.sets
            if qrels_set.path in there
        )
        folders = {run.path.rpartition("/")[0] for run in track.runs if run.path in there}
        if not folders or track.sets[0].path not in there:
            lacking = "its primary qrels" if folders else "its runs"
            notes.append(f"{track.name}: not in collection.toml, since {lacking} are not there")
            continue
        complete.append(
            FetchedTrack(track.name, tuple(sorted(folders)), track.names, sets, track.systems)
        )
    return complete, notes


@dataclass(frozen=True)
class FileFetcher:
    """Bring files into a folder, and record them in its lock file."""

    folder: Path
    lock: FetchLock
    options: FetchOptions
    mirror: UrlMirror | FolderMirror | None
    downloader: Downloader | None

    def obtain(self, wanted: Wanted) -> Outcome:
        """Bring one file into the collection, unless it is there already."""
        try:
            if (outcome := self._present(wanted)) is not None:
                return outcome
            return self._bring(wanted)
        except FetchError as error:
            return Outcome(wanted, error.status, reason=str(error))
        except IrmetaError as error:
            return Outcome(wanted, "failed", reason=str(error))

    def look(self, wanted: Wanted) -> Outcome:
        """Check whether a file exists; if not, return its size without fetching it."""
        try:
            if (known := self._known(wanted)) is not None:
                return Outcome(wanted, "up to date", known.bytes, known.sha256)
            return Outcome(wanted, "to fetch", self._size(wanted))
        except FetchError as error:
            return Outcome(wanted, error.status, reason=str(error))

    def join(self, one: WantedSet) -> Outcome:
        """Join the parts of a qrels set, all of which exist, into its file."""
        wanted = replace(one.parts[0], path=one.path)
        hashes = tuple(self.lock.sha256(part.path) for part in one.parts)
        source = _recipe(one)
        known = self.lock.current(one.path)
        if known is not None and (known.source, known.parts) == (source, hashes):
            return Outcome(wanted, "up to date", known.bytes, known.sha256)
        files, target = [self.folder / part.path for part in one.parts], self.folder / one.path
        try:
            join_parts(files, one.choice.members, target, one.choice.queries)
        except DataError as error:
            return Outcome(wanted, "failed", reason=str(error))
        content = check_content(target, one.path)
        self.lock.add(one.path, source, content.bytes, content.sha256, parts=hashes)
        return Outcome(wanted, "joined", content.bytes, content.sha256)

    def _present(self, wanted: Wanted) -> Outcome | None:
        """Return the outcome of a file that is there, unchanged since it was fetched."""
        known = self._known(wanted)
        if known is not None:
            return Outcome(wanted, "up to date", known.bytes, known.sha256)
        path = self.folder / wanted.path
        if wanted.md5 is None or not path.is_file():
            return None
        try:  # a fetch that was killed has not recorded it
            content = check_content(path, wanted.path, md5=True, kind=wanted.kind)
        except DataError:
            return None
        if not has_md5(path, content, wanted.md5):
            return None
        return self._record(wanted, "up to date", wanted.address, content)

    def _known(self, wanted: Wanted) -> Fetched | None:
        """Return the record of an existing, unchanged file with the expected content."""
        known = self.lock.current(wanted.path)
        if known is None or known.checks == CHECKS:
            return known
        try:
            check_content(self.folder / wanted.path, wanted.path, kind=wanted.kind)
        except DataError:
            return None
        return self.lock.checked(wanted.path)

    def _bring(self, wanted: Wanted) -> Outcome:
        target = self.folder / wanted.path
        if is_dataset(wanted.address):
            write_bytes(target, dataset_qrels(wanted.address))
            content = check_content(target, wanted.path, kind=wanted.kind)
            return self._record(wanted, "fetched", wanted.address, content)
        if isinstance(self.mirror, FolderMirror):
            return self._place(wanted, self.mirror, target)
        assert self.downloader is not None
        address = self._address(wanted)
        content = self.downloader.download(address, target, wanted.md5, wanted.kind)
        return self._record(wanted, "fetched", address, content)

    def _place(self, wanted: Wanted, mirror: FolderMirror, target: Path) -> Outcome:
        file = mirror.find(wanted.address)
        if file is None:
            raise FetchError("missing", "not in the mirror")
        try:
            content = check_content(file, str(file), md5=wanted.md5 is not None, kind=wanted.kind)
        except WebPageError:
            raise FetchError("failed", f"{file} is a web page") from None
        md5 = wanted.md5 if self.options.md5 == "check" else None
        if md5 is not None and not has_md5(file, content, md5):
            raise FetchError("failed", REJECTED)
        target.parent.mkdir(parents=True, exist_ok=True)
        place(file, target, self.options.placement)
        status = "linked" if self.options.placement == "link" else "copied"
        return self._record(wanted, status, str(file), content)

    def _record(self, wanted: Wanted, status: str, source: str, content: Content) -> Outcome:
        agrees = wanted.md5 is None or has_md5(self.folder / wanted.path, content, wanted.md5)
        md5 = wanted.md5 if agrees else None
        self.lock.add(wanted.path, source, content.bytes, content.sha256, md5=md5)
        reason = None if agrees else OTHER_MD5
        return Outcome(wanted, status, content.bytes, content.sha256, reason)

    def _address(self, wanted: Wanted) -> str:
        if isinstance(self.mirror, UrlMirror):
            return self.mirror.address(wanted.address)
        return wanted.address

    def _size(self, wanted: Wanted) -> int | None:
        """Return the size of a file that is not there, or None if it is not told."""
        if is_dataset(wanted.address):
            return None
        if isinstance(self.mirror, FolderMirror):
            file = self.mirror.find(wanted.address)
            if file is None:
                raise FetchError("missing", "not in the mirror")
            return file.stat().st_size
        assert self.downloader is not None
        return self.downloader.size(self._address(wanted))


def _recipe(one: WantedSet) -> str:
    """Return what a joined file is made of: files, members and queries."""
    recipe = ", ".join(part.path for part in one.parts)
    if one.choice.members:
        recipe += f": {', '.join(one.choice.members)}"
    if one.choice.queries is not None:
        recipe += " (queries {}-{})".format(*one.choice.queries)
    return recipe


_LEAST_PARTS = 2  # of an address's path that a file of a mirror must agree with


class UrlMirror:
    """Another host: an address's scheme and host are replaced by the mirror's address."""

    def __init__(self, address: str) -> None:
        check_address(address)
        self._base = address.rstrip("/")

    def address(self, address: str) -> str:
        """Return the mirror's address of a file of NIST: ``https://MIRROR/results/trec8/a.gz``."""
        parts = urlsplit(address)
        return f"{self._base}{parts.path}" + (f"?{parts.query}" if parts.query else "")


class FolderMirror:
    """A folder with a copy of TREC's files.

    A file is looked for under the address's host and path (as wget stores it), then under ever
    shorter ends of the path, down to ``adhoc/input.x.gz``.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"mirror = {str(folder)!r} is neither a folder nor an http address.")
        self._folder = folder.resolve()

    def find(self, address: str) -> Path | None:
        """Return the mirror's file of an address, or None if it has none."""
        parts = urlsplit(address)
        parts_of_path = [parts.netloc, *filter(None, unquote(parts.path).split("/"))]
        if ".." in parts_of_path:
            return None
        for start in range(max(1, len(parts_of_path) - _LEAST_PARTS + 1)):
            file = self._folder.joinpath(*parts_of_path[start:])
            if file.is_file():
                return file
        return None


def place(file: Path, target: Path, placement: Placement) -> None:
    """Link or copy a file of a mirror, atomically.

    Raises UsageError if the system refuses symbolic links.
    """
    with replacing(target) as temporary:
        if placement == "copy":
            shutil.copyfile(file, temporary)
            return
        try:
            os.symlink(file, temporary)
        except OSError as error:
            raise UsageError(
                f'{target} cannot be a link ({error.strerror}): use `placement="copy"`.'
            ) from None
