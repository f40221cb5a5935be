"""Bytes of a file to fields: decompression, encoding, and lines cut at white space."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import re
import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv

from irmeta.errors import DataError

try:  # the gzip extra: the same bytes, two to three times faster
    from isal import igzip, igzip_lib

    # isal types the class as an instance of Exception.
    _GZIP_ERRORS: tuple[type[Exception], ...] = (igzip_lib.IsalError, zlib.error)  # pyright: ignore[reportAssignmentType]
except ImportError:
    igzip = gzip
    _GZIP_ERRORS = (zlib.error,)

LONGEST_LINE = 1 << 20  # bytes; the longest line of any known TREC file is under 1 KB
_WHITE = bytes.maketrans(b"\t\v\f\r", b"    ")


@dataclass(frozen=True)
class Text:
    """The content of one file, as UTF-8 without compression.

    `name` is the path as the collection gives it, for messages and for the store's records.
    """

    name: str
    data: bytes
    sha256: str
    notes: tuple[str, ...] = ()


def read_text(path: Path, name: str) -> Text:
    """Read a file, decompress it by its content (never by its name), and make it UTF-8.

    gz, bz2, xz and zst are told by their first bytes. Lines that are not UTF-8 are read as Latin-1,
    noted.

    Raises
    ------
    DataError
        A directory, an unreadable or empty file, damaged compressed data, or a NUL byte.
    """
    data, sha256 = _read_whole(path, name)
    if not data.strip():
        raise DataError("is empty", file=name, fix="Remove it, or restore its content.")
    if (at := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, at) + 1
        fix = "Is this a text file in UTF-8 or Latin-1? (UTF-16 and binary files cannot be read.)"
        raise DataError("NUL byte", file=name, line=line, fix=fix)
    notes = ()
    if not data.isascii():
        data = data.removeprefix(b"\xef\xbb\xbf")
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            data, lines = _made_utf8(data)
            notes = (f"{lines:,} lines not UTF-8: read as Latin-1",)
    return Text(name, data, sha256, notes)


def _made_utf8(data: bytes) -> tuple[bytes, int]:
    """Text of which the lines that are not UTF-8 are Latin-1, and how many they are.

    Line by line, because a stray byte must not change the names in all others.
    """
    lines, others = data.split(b"\n"), 0
    for place, line in enumerate(lines):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            lines[place] = line.decode("latin-1").encode()
            others += 1
    return b"\n".join(lines), others


def _read_whole(path: Path, name: str) -> tuple[bytes, str]:
    """A file's content without compression, and its SHA-256."""
    try:
        with open_stream(path) as stream:
            return stream.read(), stream.sha256()
    except IsADirectoryError:
        raise DataError("is a directory, not a file", file=name) from None
    except STREAM_ERRORS as error:
        if isinstance(error, OSError) and error.errno is not None:  # not of the compression
            raise DataError(f"cannot be read ({error.strerror})", file=name) from None
        fix = "The file is cut short or damaged: fetch it again."
        problem = f"compressed data cannot be read ({error})".replace("\n", " ")
        raise DataError(problem, file=name, fix=fix) from None


STREAM_ERRORS = (EOFError, OSError, ValueError, lzma.LZMAError, *_GZIP_ERRORS)
"""What reading a stream raises where a file is missing, damaged or cut short."""


def _opened(path: Path) -> io.FileIO:
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # whoever opens a pipe waits
        raise OSError(errno.EINVAL, "a pipe or a device, not a file")
    return path.open("rb", buffering=0)


class _Hashed(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, path: Path) -> None:
        self._file = _opened(path)
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        count = self._file.readinto(buffer) or 0
        self.digest.update(memoryview(buffer)[:count])
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class TextStream:
    """The content of a file without compression, a buffer at a time."""

    def __init__(self, path: Path) -> None:
        self._hashed = _Hashed(path)
        self._file: io.BufferedReader[Any] = io.BufferedReader(self._hashed, 1 << 17)
        try:
            self._content = _decompressed(self._file)
        except BaseException:
            self._file.close()
            raise

    def readinto(self, buffer: memoryview, /) -> int | None:
        return self._content.readinto(buffer)

    def read(self) -> bytes:
        """All of it."""
        return self._content.read()

    def sha256(self) -> str:
        """The hexadecimal SHA-256 of the file as it lies on disk, all of which it reads."""
        while self._file.read(1 << 17):
            pass
        return self._hashed.digest.hexdigest()

    def close(self) -> None:
        self._content.close()
        self._file.close()


@contextmanager
def open_stream(path: Path) -> Iterator[TextStream]:
    """A file's content as a stream; what it raises is among `STREAM_ERRORS`."""
    stream = TextStream(path)
    try:
        yield stream
    finally:
        stream.close()


def file_sha256(path: Path) -> str | None:
    """The hexadecimal SHA-256 of a file as it lies on disk; None where it cannot be read."""
    try:
        with _opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


_GZ, _BZ2, _XZ, _ZST = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"


def _decompressed(file: io.BufferedReader[Any]) -> Any:
    head = file.peek(8)
    if head.startswith(_GZ):
        return igzip.GzipFile(fileobj=file)
    if head.startswith(_BZ2):
        return bz2.BZ2File(file)
    if head.startswith(_XZ):
        return lzma.LZMAFile(file)
    if head.startswith(_ZST):
        return pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
    return file


def read_columns(text: Text, types: dict[str, pa.DataType]) -> pa.Table | None:
    """All lines as typed columns, or None unless every line fits them exactly.

    The fast way. It only ever says yes to text that `lines` would read the same way: each line has
    exactly as many fields as `types`, each converts, and there is no blank line and no comment.
    Whoever gets None reads line by line and can say what is wrong where.
    """
    data = text.data
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    data = data.translate(_WHITE)
    if data.startswith(b"\xef\xbb\xbf"):  # a second one, which Arrow would take off too
        return None
    if data.startswith(b"#") or b"\n#" in data:
        return None
    if b"  " in data or b" \n" in data or b"\n " in data or data[:1] == b" " or data[-1:] == b" ":
        data = re.sub(rb" *\n *", b"\n", re.sub(rb"  +", b" ", data)).strip(b" ")
    if data.startswith(b"\n") or b"\n\n" in data:
        return None
    try:
        if b" 0x" in data or b" 0X" in data:
            return _without_hex(data, types)
        return _read_csv(data, types)
    except pa.ArrowInvalid:
        return None


def _read_csv(data: bytes, types: dict[str, pa.DataType]) -> pa.Table:
    return pa_csv.read_csv(
        io.BytesIO(data),
        read_options=pa_csv.ReadOptions(
            column_names=list(types), block_size=LONGEST_LINE, use_threads=False
        ),
        parse_options=pa_csv.ParseOptions(
            delimiter=" ", quote_char=False, escape_char=False, ignore_empty_lines=False
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=types, null_values=[], strings_can_be_null=False
        ),
    )


def _without_hex(data: bytes, types: dict[str, pa.DataType]) -> pa.Table | None:
    """As `_read_csv`, where some field begins with 0x: a doc may, a whole number may not.

    Arrow would read 0x10 as 16.
    """
    whole = [name for name, kind in types.items() if pa.types.is_integer(kind)]
    table = _read_csv(data, types | dict.fromkeys(whole, pa.string()))
    for name in whole:
        place = table.schema.get_field_index(name)
        if pl.Series(table[name]).str.contains("(?i)x").any():
            return None
        table = table.set_column(place, name, table[name].cast(types[name]))
    return table


def first_fields(data: bytes) -> list[bytes]:
    """The fields of the first line that holds any."""
    for size in (1 << 12, LONGEST_LINE):
        rows = data[:size].split(b"\n")
        # A row cut off by `size` is no row yet, unless it is all that there is.
        whole = rows[:-1] if size < len(data) else rows
        if fields := next((fields for _, fields in _split(whole, 0)), []):
            return fields
    return next((fields for _, fields in _split(data.split(b"\n"), 0)), [])


def lines(text: Text, fields: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    """The 1-based number and the fields of each line that is neither blank nor a comment.

    With `fields`, at most that many are split off and the last keeps the rest of the line.

    Raises
    ------
    DataError
        A line longer than a megabyte.
    """
    rows = text.data.split(b"\n")
    for number, row in enumerate(rows, 1):
        if len(row) > LONGEST_LINE:
            raise DataError(
                f"a line of {len(row):,} bytes",
                file=text.name,
                line=number,
                value=row[:60],
                fix="Is this a TREC file, one result a line?",
            )
    yield from _split(rows, fields)


def _split(rows: Sequence[bytes], fields: int) -> Iterator[tuple[int, list[bytes]]]:
    for number, row in enumerate(rows, 1):
        if row[:1] != b"#" and (found := row.split(None, fields - 1 if fields > 0 else -1)):
            found[-1] = found[-1].rstrip()
            yield number, found
