"""Mirrors: copies of TREC's files in a folder, or on another host."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from irmeta.archive.fetch_options import Placement
from irmeta.archive.http_client import check_address
from irmeta.errors import UsageError
from irmeta.files import replacing

_LEAST_PARTS = 2  # of an address's path that a file of a mirror must agree with


class UrlMirror:
    """Another host: an address's scheme and host are replaced by the mirror's address."""

    def __init__(self, address: str) -> None:
        check_address(address)
        self._base = address.rstrip("/")

    def address(self, address: str) -> str:
        """Return the mirror's address of a file.

        Examples
        --------
        >>> from irmeta.archive.mirror import UrlMirror
        >>> UrlMirror("https://lab.org/trec/").address("https://trec.nist.gov/results/trec8/a.gz")
        'https://lab.org/trec/results/trec8/a.gz'
        """
        parts = urlsplit(address)
        return f"{self._base}{parts.path}" + (f"?{parts.query}" if parts.query else "")


class FolderMirror:
    """A folder with a copy of TREC's files.

    A file is looked for under the address's host and path (as wget stores it), then under its path,
    and under ever shorter ends of the path, down to the last folder and the file:
    ``trec.nist.gov/results/trec8/adhoc/input.x.gz``, ``results/trec8/adhoc/input.x.gz``,
    ``trec8/adhoc/input.x.gz``, ``adhoc/input.x.gz``.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"mirror = {str(folder)!r} is neither a folder nor an http address.")
        self._folder = folder.resolve()

    def find(self, address: str) -> Path | None:
        """Return the mirror's file of an address, or None if it has none."""
        parts = urlsplit(address)
        names = [parts.netloc, *filter(None, unquote(parts.path).split("/"))]
        if ".." in names:
            return None
        for start in range(max(1, len(names) - _LEAST_PARTS + 1)):
            file = self._folder.joinpath(*names[start:])
            if file.is_file():
                return file
        return None


def open_mirror(mirror: str) -> UrlMirror | FolderMirror:
    """Return a mirror given by its address or folder."""
    if mirror.lower().startswith(("http://", "https://")):
        return UrlMirror(mirror)
    return FolderMirror(Path(mirror))


def place(file: Path, target: Path, placement: Placement) -> None:
    """Link or copy a file of a mirror, atomically.

    Raises
    ------
    UsageError
        If the system refuses symbolic links.
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
