"""Make one qrels file of the parts of an archive, or of several files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from irmeta.archive.content import Limited
from irmeta.errors import DataError, did_you_mean
from irmeta.files import replacing
from irmeta.trec.archives import archive_kind, members
from irmeta.trec.streams import InputFile, open_stream

_PIECE = 1 << 18


def join_parts(
    files: Sequence[Path],
    patterns: Sequence[str],
    target: Path,
    queries: tuple[int, int] | None = None,
) -> None:
    """Join files, or members of archives, as one text file.

    Nothing is written under a name from an archive: members are only selected by their names.

    Parameters
    ----------
    files
        Compressed or not, in the order of their lines in `target`.
    patterns
        Patterns of the members, in order; all that match one pattern follow by name. Each is
        compared with a member's path and with its last part. Empty: the files themselves.
    queries
        First and last number of the queries whose lines are kept; None: all lines.

    Raises
    ------
    DataError
        If a pattern matches no member, a member is a link, or the content cannot be read or
        expands beyond the limit.
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
    kept = [line for line, one in numbers if one.isdigit() and first <= int(one) <= last]
    file.write_bytes(b"".join(kept))


def _append_members(
    file: Path, source: InputFile, patterns: Sequence[str], output: IO[bytes]
) -> None:
    kind = archive_kind(source)
    if kind is None:
        raise DataError("is not a tar or zip archive", file=file.name)
    for pattern in patterns:
        names = _select(source, kind, pattern)
        for name in names:  # a tar archive is read from its start for each: parts are few
            for member in _readable(source, kind):
                if member.name == name:
                    _append(member, file.stat().st_size, output)


def _select(source: InputFile, kind: str, pattern: str) -> list[str]:
    """Return the names of the members that match a pattern, sorted."""
    names: list[str] = []
    matched: list[str] = []
    for member in members(source, kind):
        name = str(member.file) if isinstance(member, DataError) else member.name
        path = name.removeprefix(f"{source.name}/")
        if fnmatchcase(path, pattern) or fnmatchcase(path.rsplit("/", 1)[-1], pattern):
            if isinstance(member, DataError):
                raise member
            matched.append(name)
        names.append(path)
    if not matched:
        hint = did_you_mean(pattern, names)
        raise DataError("has no such member", file=source.name, value=pattern, fix=hint)
    return sorted(matched)


def _readable(source: InputFile, kind: str) -> Iterator[InputFile]:
    for member in members(source, kind):
        if isinstance(member, InputFile):
            yield member


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
