"""Streams of files: decompressed by content, and hashed as stored."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import stat
import sys
import zlib
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from irmeta.errors import DataError, printable
from irmeta.parallel import check_stopped
from irmeta.policies import Columns

try:  # the gzip extra: the same bytes, two to three times faster
    from isal import igzip, igzip_lib
except ImportError:
    igzip = igzip_lib = gzip

_GZIP_ERROR = getattr(igzip_lib, "IsalError", zlib.error)  # isal types it as an instance
_DAMAGED = (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, _GZIP_ERROR)
_GZ, _BZ2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"
_ARROW = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
"""Compressions that Arrow decompresses, by the first bytes."""
_Z = b"\x1f\x9d"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class InputFile:
    """A file that can be opened several times.

    Attributes
    ----------
    name
        The path in the collection, for messages and records of the store.
    open
        Function that opens the stored bytes, compressed or not.
    columns
        Columns that the user names, should the file be a table: see `ReadPolicy`.
    """

    name: str
    open: Callable[[], BinaryIO]
    columns: Columns = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path, name: str) -> InputFile:
        """Return the file of the file system at `path`."""
        return cls(name, partial(_open_path, path))


def read_stream(path: object) -> bytes:
    """Return all bytes of a stream.

    Raises
    ------
    DataError
        If standard input is closed, or the stream cannot be read.
    """
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read()
        with open(cast(str, path), "rb") as file:
            return file.read()
    except (OSError, AttributeError, ValueError) as error:
        raise DataError(f"cannot be read ({error})", file=printable(str(path))) from None


def _open_path(path: Path) -> BinaryIO:
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a pipe would block
        raise OSError(errno.EINVAL, "a pipe or a device, not a file")
    return cast(BinaryIO, path.open("rb", buffering=0))


class HashedFile(io.RawIOBase):
    """A file hashed during reading."""

    def __init__(self, file: BinaryIO) -> None:
        self._file: Any = file
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read bytes into a buffer, hash them, and return their number."""
        check_stopped()
        count = self._file.readinto(buffer) or 0
        self._digest.update(memoryview(buffer)[:count])
        return count

    def sha256(self) -> str:
        """Return the SHA-256 of the bytes that were read."""
        return self._digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


class TextStream:
    """The decompressed content of a file; a byte-order mark at the start of text is dropped."""

    def __init__(self, file: InputFile, is_text: bool = True) -> None:
        self._name, self._has_begun = file.name, not is_text
        try:
            self._hashed = HashedFile(file.open())
            self._stored: io.BufferedReader[Any] = io.BufferedReader(self._hashed, 1 << 17)
            try:
                self._content = decompressed(self._stored)
            except BaseException:
                self._stored.close()
                raise
        except _DAMAGED as error:
            raise _unreadable(self._name, error) from None

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the start of a buffer; return the number of bytes, 0 at the end of the file."""
        if self._has_begun:
            return self._read(buffer)
        self._has_begun, filled = True, 0
        while filled < len(_BOM) and (count := self._read(buffer[filled:])):
            filled += count
        if bytes(buffer[:filled][: len(_BOM)]) != _BOM:
            return filled
        filled -= len(_BOM)
        buffer[:filled] = bytes(buffer[len(_BOM) : len(_BOM) + filled])
        return filled or self._read(buffer)

    def _read(self, buffer: memoryview) -> int:
        try:
            return self._content.readinto(buffer) or 0
        except _DAMAGED as error:
            raise _unreadable(self._name, error) from None

    def sha256(self) -> str:
        """Read to the end and return the hexadecimal SHA-256 of the stored bytes."""
        try:
            while self._stored.read(1 << 17):
                pass
        except _DAMAGED as error:
            raise _unreadable(self._name, error) from None
        return self._hashed.sha256()

    def close(self) -> None:
        """Close the file."""
        self._content.close()
        self._stored.close()


def _unreadable(name: str, error: Exception) -> DataError:
    """Return the error of a file that is missing, damaged or truncated."""
    if isinstance(error, IsADirectoryError):
        return DataError("is a directory, not a file", file=name)
    if isinstance(error, OSError) and error.errno is not None:  # not a decompression error
        return DataError(f"cannot be read ({error.strerror})", file=name)
    fix = "The file is cut short or damaged: fetch it again."
    problem = f"compressed data cannot be read ({error})".replace("\n", " ")
    return DataError(problem, file=name, fix=fix)


@contextmanager
def open_stream(file: InputFile, is_text: bool = True) -> Generator[TextStream]:
    """Open the content of a file as a stream.

    Raises
    ------
    DataError
        For a directory, and for an unreadable, truncated or damaged file, at once or during
        reading.
    """
    stream = TextStream(file, is_text)
    try:
        yield stream
    finally:
        stream.close()


def stored_sha256(file: InputFile) -> str | None:
    """Return the hexadecimal SHA-256 of a file as stored, or None if it cannot be read."""
    try:
        with closing(HashedFile(file.open())) as stored:
            buffer = memoryview(bytearray(1 << 17))
            while stored.readinto(buffer):
                pass
            return stored.sha256()
    except (*_DAMAGED, DataError):
        return None


def file_sha256(path: Path) -> str | None:
    """Return `stored_sha256` of the file at a path."""
    return stored_sha256(InputFile.at(path, str(path)))


def uncompressed(content: bytes, name: str) -> bytes:
    """Return the decompressed bytes of a file; raise DataError if they are damaged."""
    try:
        return decompressed(io.BufferedReader(cast(Any, io.BytesIO(content)))).read()
    except _DAMAGED as error:
        raise _unreadable(name, error) from None


def decompressed(file: io.BufferedReader[Any]) -> Any:
    """Decompress a gz, bz2, xz, zst, lz4 or Z file, known by its first bytes; else return it."""
    head = file.peek(8)
    if head.startswith(_GZ):
        return igzip.GzipFile(fileobj=file)
    if head.startswith(_BZ2):
        return bz2.BZ2File(file)
    if head.startswith(_XZ):
        return lzma.LZMAFile(file)
    if (codec := _ARROW.get(head[:4])) is not None:
        return pa.CompressedInputStream(pa.PythonFile(file, "r"), codec)
    if head.startswith(_Z):
        return ZFile(file)
    return file


_HEADER = 3  # bytes of a .Z file: two of the magic number, and the flags


class ZFile(io.RawIOBase):
    """Stream of the decompressed bytes of a .Z file of compress(1), which is read into memory.

    The oldest runs of TREC's archive are such files.
    """

    def __init__(self, file: io.BufferedReader[Any]) -> None:
        from irmeta.kernels import lzw  # loads numba, and such files are rare

        content = bytearray(file.read())
        flags = content[_HEADER - 1] if len(content) >= _HEADER else 0
        if not 9 <= flags & 0x1F <= 16:
            raise ValueError("not a .Z file")
        self._decode = lzw.decode
        self._data = np.frombuffer(content, np.uint8)[_HEADER:]
        self._state = np.zeros(8, np.int64)
        widest = max(10, flags & 0x1F)  # files that say 9 have codes of 10 bits
        self._state[[lzw.WIDTH, lzw.WIDEST, lzw.LAST]] = 9, widest, -1
        self._state[lzw.BLOCK] = flags >> 7
        self._state[lzw.FREE] = 256 + self._state[lzw.BLOCK]
        self._prefix = np.zeros(lzw.LONGEST + 1, np.int64)
        self._suffix, self._stack = np.zeros((2, lzw.LONGEST + 1), np.uint8)
        self._out = np.zeros(lzw.LONGEST + (1 << 18), np.uint8)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """Return whether the stream can be read: always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the start of a buffer; return the number of bytes, 0 at the end."""
        if not self._left:
            tables = self._state, self._prefix, self._suffix, self._stack
            written = self._decode(self._data, *tables, self._out)
            if written < 0:
                raise ValueError("impossible code in a .Z file")
            self._left = self._out.data[:written]
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._left))
        view[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
