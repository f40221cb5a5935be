"""Bring single files of a plan into a collection: from a host, a mirror or ir_datasets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

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
from irmeta.archive.fetch_lock import Fetched, FetchLock
from irmeta.archive.fetch_options import FetchOptions
from irmeta.archive.fetch_plan import Outcome, Wanted, WantedSet
from irmeta.archive.mirror import FolderMirror, UrlMirror, place
from irmeta.errors import DataError, IrmetaError
from irmeta.files import write_bytes
from irmeta.trec.datasets import dataset_qrels, is_dataset


@dataclass(frozen=True)
class FileFetcher:
    """Bring files into a folder, and record them in its lock file.

    Attributes
    ----------
    downloader
        None where a mirror is a folder.
    """

    folder: Path
    lock: FetchLock
    options: FetchOptions
    mirror: UrlMirror | FolderMirror | None
    downloader: Downloader | None

    def obtain(self, wanted: Wanted) -> Outcome:
        """Bring one file into the collection, unless it is there already.

        Raises
        ------
        StoppedError
            If fetching is stopped.
        """
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
