"""Locations of files: paths of this machine, and URLs of object storage, which are only read.

S3 is read with pyarrow, every other storage with fsspec and its package for the scheme.
"""

from __future__ import annotations

import io
import os
import re
import stat
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from irmeta.errors import DataError, UsageError, printable

if TYPE_CHECKING:
    import pyarrow as pa

SMALL = 1 << 20  # bytes of an object that is read at once
END = 1 << 16  # bytes read from the end of a larger object, where Parquet has its footer
_BUFFER = 1 << 23  # bytes of a request while an object is read from start to end
# `Path("s3://bucket")` drops a slash. A scheme has two letters at least, a drive of Windows one.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
_S3 = ("s3", "s3a")
_REQUEST = re.compile(r" \(Request ID: [^)]*\)")
_FIXES = {
    "NO_SUCH_BUCKET": "Check the name of the bucket.",
    "NETWORK_CONNECTION": "Check the network and AWS_ENDPOINT_URL.",
    "HTTP status 301": "Set AWS_REGION to the region of the bucket.",
    "": "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for a bucket that "
    "anybody may read, set AWS_SKIP_SIGNATURE=true.",
}


def location(path: AnyLocation) -> Location:
    """Return the path of a local file or folder, or the `RemotePath` of a URL such as s3://.

    Raises UsageError if a URL of S3 holds a user or password; the message shows neither.
    """
    if isinstance(path, RemotePath):
        return path
    text = path if isinstance(path, str) else path.as_posix()
    match = _URL.fullmatch(text)
    if match is None:
        return Path(path)
    scheme, host = match[1].lower(), match[2].partition("/")[0]
    if scheme in _S3 and not {":", "@"}.isdisjoint(host):  # a password may have slashes
        fix = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and name the bucket only."
        raise UsageError(f"{scheme}://... holds a user's name or password: {fix}")
    return RemotePath(f"{scheme}://{match[2]}")


def local(path: AnyLocation, doing: str | None = None) -> Path:
    """Return the path of a local file or folder; `doing` is what needs it, by default writing.

    Raises UsageError for a URL, and to write for a path that is not UTF-8, which pyarrow cannot
    open.
    """
    place = location(path)
    if isinstance(place, Path):
        if doing is None:
            check_utf8(place)
        return place
    raise UsageError(f"{place}: {doing or _WRITING}")


def check_utf8(path: Location) -> None:
    """Raise `UsageError` for a path that is not UTF-8, where pyarrow can open no file."""
    if any("\ud800" <= letter <= "\udfff" for letter in str(path)):
        raise UsageError(f"the path {printable(str(path))} is not UTF-8: rename it.")


_WRITING = (
    "irmeta writes to local folders only, because object storage has no locks and no atomic "
    "renames: write to a local folder and copy it, of a store the folder tracks/ last."
)
LOCAL_INPUT = (
    "not a store, and runs and qrels are read from local files only: copy them to this machine."
)
"""What `local` says of runs and qrels."""


@dataclass(frozen=True, order=True)
class RemotePath:
    """A file or folder of object storage, with methods of `pathlib.Path` that read.

    An instance requests the size and the end of its object once, so that its readers read one
    version of a Parquet file's footer. Nothing in `url` is percent-decoded; `is_folder` is None if
    unknown.
    """

    url: str
    is_folder: bool | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def __reduce__(self) -> tuple[Any, ...]:
        return RemotePath, (self.url,)

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.url}/{name}")

    @property
    def name(self) -> str:
        """Last part of the key."""
        return self.url.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """Name without its ending."""
        return PurePath(self.name).stem

    @property
    def suffix(self) -> str:
        """Ending of the name, such as .parquet."""
        return PurePath(self.name).suffix

    def joinpath(self, *names: str) -> RemotePath:
        """Return the location below this one."""
        return RemotePath("/".join([self.url, *names]))

    def exists(self) -> bool:
        """Check whether there is a file or folder."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Check whether there is a file."""
        from pyarrow.fs import FileType

        if self.is_folder is not None:
            return not self.is_folder
        with reading(self):
            return self._system.get_file_info(self._key).type == FileType.File

    def is_dir(self) -> bool:
        """Check whether any key is below this one."""
        if self.is_folder is not None:
            return self.is_folder
        return any(True for _ in self.iterdir())

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield the files and folders of a folder; none if it does not exist."""
        yield from self._listing(recursive=False)

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """Yield the files and folders whose relative names match a pattern with `*` and `**/`."""
        first, slash, below = pattern.partition("/")
        if slash and "*" not in first:
            yield from (self / first).glob(below)
            return
        parts = (re.escape(part).replace(r"\*", "[^/]*") for part in pattern.split("**/"))
        matches = re.compile("(?:.*/)?".join(parts), re.DOTALL).fullmatch
        for path in self._listing(recursive=bool(slash)):
            if matches(path.url.removeprefix(f"{self.url}/")):
                yield path

    def read_bytes(self) -> bytes:
        """Return the content of the file."""
        with self.open("rb") as stream:
            return stream.read()

    def open(self, mode: Literal["rb"]) -> io.BufferedReader:
        """Open the file for reading of bytes, by large requests."""
        return io.BufferedReader(_Reader(self), _BUFFER)

    def hold(self) -> None:
        """Read the content into memory, where all later reads of this instance find it."""
        self.__dict__["end"] = self.read_bytes()

    @cached_property
    def file(self) -> pa.NativeFile:
        """The open file."""
        with reading(self):
            return self._system.open_input_file(self._key)

    @cached_property
    def end(self) -> bytes:
        """The last bytes of the file, or the whole file if it is small."""
        with reading(self):
            size = self.file.size()
            count = size if size <= SMALL else min(END, size)
            return self.file.read_at(count, size - count)

    @property
    def _key(self) -> str:
        return self.url.partition("://")[2]

    @property
    def _system(self) -> Any:
        scheme = self.url.partition("://")[0]
        return _s3(_settings()) if scheme in _S3 else _other(scheme)

    def _listing(self, recursive: bool) -> Iterator[RemotePath]:
        from pyarrow.fs import FileSelector, FileType

        scheme = self.url.partition("://")[0]
        try:
            with reading(self):
                listed = self._system.get_file_info(FileSelector(self._key, recursive=recursive))
        except (FileNotFoundError, NotADirectoryError):
            return
        for info in sorted(listed, key=lambda info: info.path):
            path = info.path.strip("/")
            yield RemotePath(f"{scheme}://{path}", info.type == FileType.Directory)


Location = Path | RemotePath
"""A file or folder of this machine, or of object storage."""
AnyLocation = str | Path | RemotePath
"""What users name a location by."""


def readable(path: Location) -> Path | io.BytesIO:
    """Return what polars reads a file from: its path, or its content."""
    return path if isinstance(path, Path) else io.BytesIO(path.read_bytes())


def source_of(path: Location) -> Any:
    """Return what pyarrow reads a file from: its path, its content or, by ranges, the open file."""
    if isinstance(path, Path):
        return path
    import pyarrow as pa

    return pa.BufferReader(path.end) if len(path.end) == path.file.size() else path.file


def read_recent(path: Location) -> bytes:
    """Return the content of a file; a remote file may be requested once a second."""
    if isinstance(path, Path):
        return path.read_bytes()
    return _read_recent(path, _settings(), int(time.monotonic()))


@lru_cache(maxsize=256)
def _read_recent(path: RemotePath, settings: object, second: int) -> bytes:
    return RemotePath(path.url).read_bytes()


def version_of(path: Location) -> bytes:
    """Return bytes that change with the content of a file: its content, or a remote file's ETag."""
    if isinstance(path, Path):
        return path.read_bytes()
    tag = (path.file.metadata() or {}).get("ETag")
    return tag if isinstance(tag, bytes) else path.read_bytes()


@contextmanager
def reading(path: Location) -> Generator[None]:
    """Convert errors of object storage, but not of missing or damaged files, to a `DataError`."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # the errors of pyarrow
        kind, text = isinstance(error, ConnectionError | PermissionError | TimeoutError), str(error)
        if isinstance(path, Path) or not (kind or "AWS Error" in text):
            raise
        reason = _REQUEST.sub("", text[max(text.find("AWS Error"), 0) :])
        fix = next(fix for part, fix in _FIXES.items() if part in text)
        known = fix if "AWS Error" in text else None
        raise DataError(f"cannot be read ({reason})", file=str(path), fix=known) from error


class _Reader(io.RawIOBase):
    """Reads a remote file, from memory where its `end` has the bytes."""

    def __init__(self, path: RemotePath) -> None:
        self._path, self._at, self._size = path, 0, path.file.size()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        path, count = self._path, min(len(buffer), max(0, self._size - self._at))
        held = self._at - (self._size - len(path.end))
        if held >= 0:
            piece = path.end[held : held + count]
        else:
            with reading(path):
                piece = path.file.read_at(count, self._at)
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def _settings() -> tuple[tuple[str, str], ...]:
    return tuple(sorted((k, v) for k, v in os.environ.items() if k.startswith("AWS_")))


@lru_cache(maxsize=8)
def _s3(settings: tuple[tuple[str, str], ...]) -> Any:
    """Return the S3 of some environment variables; pyarrow reads most of them by itself."""
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    options = dict(settings)
    return S3FileSystem(
        # pyarrow ignores these variables.
        endpoint_override=options.get("AWS_ENDPOINT_URL_S3") or options.get("AWS_ENDPOINT_URL"),
        anonymous=options.get("AWS_SKIP_SIGNATURE", "").lower() in ("1", "true", "yes"),
        connect_timeout=4,
        request_timeout=60,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=3),
    )


@lru_cache
def _other(scheme: str) -> Any:
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    try:
        import fsspec

        return PyFileSystem(FSSpecHandler(fsspec.filesystem(scheme, use_listings_cache=False)))
    except ImportError as error:  # fsspec names the package of a scheme
        fix = "pip install fsspec, and its package for this storage"
        raise UsageError(f"{scheme}:// is read with fsspec ({error}): {fix}.") from None
    except ValueError as error:
        raise UsageError(f"{scheme}:// is no storage that fsspec knows ({error}).") from None


class NamedFile(NamedTuple):
    """A file of values, and the names that the user gives to its system and columns, if any."""

    name: str | None
    path: Location
    columns: tuple[str, ...] = ()


def named_file(text: str) -> tuple[str | None, str]:
    """Return the name and the path of ``NAME=FILE``; no name for a path that exists as written."""
    name, equals, path = text.partition("=")
    if not (equals and name and path) or os.path.lexists(text) or "/" in name or "://" in text:
        return None, text
    return name, path


def not_a(kind: str, path: Location) -> str:
    """Return that a path is not a file or folder, or that it does not exist."""
    is_there = os.path.lexists(path) if isinstance(path, Path) else path.exists()
    return f"{path} is not a {kind}" if is_there else f"{path} does not exist"


def is_stream(path: object) -> bool:
    """Check whether a path is standard input (``-``), a pipe or a device, which is read once."""
    if not isinstance(path, str | os.PathLike):
        return False
    if str(path) == "-":
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)
