"""The lock file: address, date and checksum of each fetched file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from irmeta.archive.content import CHECKS
from irmeta.checksums import load_json, to_json
from irmeta.errors import DataError
from irmeta.files import write_bytes
from irmeta.trec.streams import file_sha256

NAME = "fetch.lock.json"
_FORMAT = 1


@dataclass(frozen=True)
class Fetched:
    """One file of an archive.

    Attributes
    ----------
    source
        The address, the file of a mirror, or the files and members that a file was made of.
    at
        When it was fetched, in UTC.
    bytes, sha256
        Size and SHA-256 of the file as stored.
    md5
        The catalogue's MD5, if it has one and the file agrees.
    parts
        SHA-256 of each of these files.
    checks
        Version of the rules by which the content was checked; 0: before there were such rules.
    """

    source: str
    at: str
    bytes: int
    sha256: str
    md5: str | None = None
    parts: tuple[str, ...] = ()
    checks: int = 0


class FetchLock:
    """Records of the files of an archive, by path; several threads may add records."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)):
        self._folder, self._now, self._lock = folder, now, Lock()
        self._file = folder / NAME
        self._files = _read(self._file)

    def current(self, path: str) -> Fetched | None:
        """Return the record of a file that is there and unchanged, else None."""
        with self._lock:
            known = self._files.get(path)
        file = self._folder / path
        if known is None or not file.is_file() or file.stat().st_size != known.bytes:
            return None
        return known if file_sha256(file) == known.sha256 else None

    def sha256(self, path: str) -> str:
        """Return the recorded SHA-256 of a file."""
        with self._lock:
            return self._files[path].sha256

    def add(
        self,
        path: str,
        source: str,
        size: int,
        sha256: str,
        *,
        md5: str | None = None,
        parts: tuple[str, ...] = (),
    ) -> None:
        """Record a file that is in place."""
        at = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._lock:
            self._files[path] = Fetched(source, at, size, sha256, md5, parts, CHECKS)

    def checked(self, path: str) -> Fetched:
        """Record that a file of an earlier fetch has passed the checks of today."""
        with self._lock:
            self._files[path] = replace(self._files[path], checks=CHECKS)
            return self._files[path]

    def write(self) -> None:
        """Write the lock file, sorted by path, if there is any record."""
        with self._lock:
            files = {path: _plain(one) for path, one in self._files.items()}
        if files:
            write_bytes(self._file, to_json({"format": _FORMAT, "files": files}))


def _plain(record: Fetched) -> dict[str, object]:
    return {name: value for name, value in asdict(record).items() if value not in (None, (), 0)}


def _read(file: Path) -> dict[str, Fetched]:
    if not file.exists():
        return {}
    try:
        record = load_json(file.read_bytes())
        if record["format"] != _FORMAT:
            raise ValueError(f"format {record['format']}")
        return {path: _parsed(one) for path, one in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        fix = "Restore it, or remove it: then files are fetched again."
        why = error if isinstance(error, OSError | ValueError) else "its fields are others"
        problem = f"cannot be read as a lock file of fetch ({why})"
        raise DataError(problem, file=str(file), fix=fix) from None


def _parsed(record: Any) -> Fetched:
    values: dict[str, Any] = {**record, "parts": tuple(record.get("parts", ()))}
    return Fetched(**values)
