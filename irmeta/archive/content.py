"""Check the content of a fetched file: compressed data, checksums, limits of expansion."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from irmeta.errors import DataError, did_you_mean
from irmeta.files import replacing
from irmeta.trec.archives import archive_kind, members
from irmeta.trec.streams import InputFile, TextStream, open_stream

EXPANSION = 200
"""How many times larger than the file its decompressed content may be; runs reach about 20."""
ALWAYS_EXPANDED = 64 << 20  # bytes that any file may expand to
OTHER_MD5 = "the MD5 is not the catalogue's"
REJECTED = f'{OTHER_MD5} (`md5="note"` keeps such files)'
_PIECE = 1 << 18
_HEAD = 256  # bytes that show what a file is
CHECKS = 1
"""Version of the rules of `check_content`: files checked by an earlier one are checked again."""
_ENDING = re.compile(r"\.(gz|tgz|bz2|xz|zst|Z|zip)(?:[?#].*)?$")
_MAGIC = {
    "gz": b"\x1f\x8b",
    "tgz": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "zst": b"\x28\xb5\x2f\xfd",
    "Z": b"\x1f\x9d",
    "zip": b"PK",
}
_LEAST_FIELDS = {"run": 5, "qrels": 4}
_NUMBER = re.compile(rb"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?")
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_PAGE_TYPES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class Content:
    """Size and SHA-256 of a file as stored, and MD5 of its decompressed content if asked for.

    The catalogue's MD5 are of runs as submitted; the files that NIST serves are compressed.
    """

    bytes: int
    sha256: str
    md5: str | None = None


class WebPageError(DataError):
    """A file that is a web page instead of a run or qrels."""


class TooLargeError(DataError):
    """A file whose decompressed content exceeds a limit."""


def check_content(
    path: Path,
    name: str,
    *,
    md5: bool = False,
    kind: str | None = None,
    most: int | None = None,
) -> Content:
    """Read a file, decompress it by its ending, and return its size and checksums.

    The text of a ``run`` or ``qrels`` must have a line of one, unless the file is an archive. MD5
    takes as long as all else. `most` limits the bytes to which the content may expand.
    """
    _check_head(path, name)
    has_rows = kind is None or archive_kind(InputFile.at(path, name)) is not None
    expanded = hashlib.md5(usedforsecurity=False)
    with open_stream(InputFile.at(path, name), is_text=False) as stream:
        size = path.stat().st_size
        limited = Limited(stream, size, name, most)
        buffer = bytearray(_PIECE)
        is_first = True
        while count := limited.readinto(buffer):
            if is_first and _PAGE.match(buffer[: min(count, _HEAD)]):
                raise WebPageError("is a web page", file=name)
            has_rows = has_rows or _has_row(bytes(buffer[:count]), str(kind))
            if md5:
                expanded.update(memoryview(buffer)[:count])
            is_first = False
        sha256 = stream.sha256()
    if is_first:
        raise DataError("is empty", file=name)
    if not has_rows:
        raise DataError(f"has no line of {_KINDS[str(kind)]}", file=name)
    return Content(size, sha256, expanded.hexdigest() if md5 else None)


_KINDS = {"run": "a run", "qrels": "qrels"}


def _check_head(path: Path, name: str) -> None:
    """Check that a file is not empty nor a page, and that it begins as the ending of its name."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise DataError("is empty", file=name)
    if _PAGE.match(head):
        raise WebPageError("is a web page", file=name)
    ending = _ENDING.search(name)
    if ending is not None and not head.startswith(_MAGIC[ending[1]]):
        raise DataError(f"is not a .{ending[1]} file, as its name says", file=name)


def _has_row(text: bytes, kind: str) -> bool:
    """Check whether a line has the fields of a run or of qrels, a number after the second."""
    least = _LEAST_FIELDS[kind]
    rows = (line.split(None, 6) for line in text.splitlines())
    return any(len(row) >= least and any(map(_NUMBER.fullmatch, row[2:6])) for row in rows)


def has_md5(path: Path, content: Content, md5: str) -> bool:
    """Check whether an MD5 is that of a file's decompressed content, or of the file as stored."""
    if md5.lower() == content.md5:
        return True
    with path.open("rb") as file:
        return md5.lower() == hashlib.file_digest(file, "md5").hexdigest()


def is_web_page(kind: str, address: str) -> bool:
    """Check whether an answer is a web page, by its ``Content-Type``, where none is asked for."""
    asked = urlsplit(address).path.lower().endswith((".html", ".htm"))
    return not asked and kind.partition(";")[0].strip().lower() in _PAGE_TYPES


class Limited:
    """A decompressed stream of `stored` bytes that may expand to `most`, or the usual limit."""

    def __init__(self, stream: TextStream, stored: int, name: str, most: int | None = None) -> None:
        self._stream, self._name = stream, name
        self._left = max(ALWAYS_EXPANDED, EXPANSION * stored)
        self._limit = f"{EXPANSION} times its size"
        if most is not None and most < self._left:
            self._left, self._limit = most, f"{most / 1e9:g} GB (`max_gb=`)"

    def readinto(self, buffer: bytearray) -> int:
        """Fill the start of a buffer; return the number of bytes, 0 at the end."""
        count = self._stream.readinto(memoryview(buffer))
        self._left -= count
        if self._left < 0:
            raise TooLargeError(f"expands to more than {self._limit}", file=self._name)
        return count


def join_parts(
    files: Sequence[Path],
    patterns: Sequence[str],
    target: Path,
    queries: tuple[int, int] | None = None,
) -> None:
    """Join files, or members of archives, as one text file, in the order of files and patterns.

    A pattern is compared with a member's path and its last part; those that match follow by name.
    Nothing gets a name from an archive. Only lines of `queries`, first and last number, stay.
    """
    with replacing(target) as temporary, temporary.open("wb") as output:
        for file in files:
            source = InputFile.at(file, file.name)
            if patterns:
                _append_members(file, source, patterns, output)
            else:
                _append(source, file.stat().st_size, output)
        output.flush()
        if queries is not None:
            _select_queries(temporary, *queries)


def _select_queries(file: Path, first: int, last: int) -> None:
    """Keep the lines of the queries from `first` to `last`, in their order."""
    lines = file.read_bytes().splitlines(keepends=True)
    numbers = ((line, line.split(None, 1)[0]) for line in lines if line.strip())
    selected = [
        line for line, number in numbers if number.isdigit() and first <= int(number) <= last
    ]
    file.write_bytes(b"".join(selected))


def _append_members(
    file: Path, source: InputFile, patterns: Sequence[str], output: IO[bytes]
) -> None:
    kind = archive_kind(source)
    if kind is None:
        raise DataError("is not a tar or zip archive", file=file.name)
    for pattern in patterns:
        matched = _select(source, kind, pattern)
        for name in matched:  # a tar archive is read from its start for each: parts are few
            for member in members(source, kind):
                if isinstance(member, InputFile) and member.name == name:
                    _append(member, file.stat().st_size, output)


def _select(source: InputFile, kind: str, pattern: str) -> list[str]:
    """Return the names of the members that match a pattern, sorted."""
    paths: list[str] = []
    matched: list[str] = []
    for member in members(source, kind):
        name = str(member.file) if isinstance(member, DataError) else member.name
        path = name.removeprefix(f"{source.name}/")
        if fnmatchcase(path, pattern) or fnmatchcase(path.rsplit("/", 1)[-1], pattern):
            if isinstance(member, DataError):
                raise member
            matched.append(name)
        paths.append(path)
    if not matched:
        hint = did_you_mean(pattern, paths)
        raise DataError("has no such member", file=source.name, value=pattern, fix=hint)
    return sorted(matched)


def _append(file: InputFile, stored: int, output: IO[bytes]) -> None:
    """Append the decompressed content of a file, and a line end where the last line has none."""
    buffer, last = bytearray(_PIECE), b"\n"
    with open_stream(file) as stream:
        limited = Limited(stream, stored, file.name)
        while count := limited.readinto(buffer):
            output.write(memoryview(buffer)[:count])
            last = bytes(buffer[count - 1 : count])
    if last != b"\n":
        output.write(b"\n")
