"""Archives of runs, tar (compressed or not) and zip, read by member without unpacking."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import IO, Any, BinaryIO, cast

from irmeta.errors import DataError
from irmeta.trec.streams import InputFile, TextStream, open_stream

HELD = 64 << 20  # largest member of a tar archive, in bytes, kept in memory for a second read
_HEADER = 1 << 20  # limit in bytes of a tar header with long names; a hostile one may claim more
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_FAULTS = (tarfile.TarError, zipfile.BadZipFile, RuntimeError)
_DAMAGED = (*_FAULTS, ValueError, OSError, EOFError)
_Members = Iterator[tuple[str, "Callable[[], BinaryIO] | str"]]
"""Names of members, each with a function that opens the member, or with a problem."""


def archive_kind(file: InputFile) -> str | None:
    """Return ``tar`` or ``zip`` for an archive, by its first bytes; else None."""
    try:
        with open_stream(file, is_text=False) as stream:
            head = io.BufferedReader(_Reader(stream)).read(tarfile.BLOCKSIZE)
    except DataError:
        return None
    if head.startswith(_ZIP):
        return "zip"
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return None
    return "tar"


def members(file: InputFile, kind: str) -> Iterator[InputFile | DataError]:
    """Yield the files in an archive, each to be read before the next; errors for other members.

    A member's name is the archive's, a slash and its path in the archive; no file is opened by
    this name. Links are not followed. Hidden files are skipped, as in a folder.
    """
    seen: set[str] = set()
    try:
        for name, opened in _zip_members(file) if kind == "zip" else _tar_members(file):
            parts = [part for part in name.split("/") if part not in ("", ".")]
            hidden = (p == "__MACOSX" or (p.startswith(".") and p != "..") for p in parts)
            if not parts or any(hidden):
                continue
            path = "/".join([file.name, *parts])
            if path in seen:
                yield DataError("a second member of this name", file=path, fix="Rename it.")
            elif isinstance(opened, str):
                yield DataError(opened, file=path, fix="Unpack the archive.")
            else:
                yield replace(file, name=path, open=opened)
            seen.add(path)
        if not seen:
            yield DataError("the archive holds no file", file=file.name)
    except _DAMAGED as error:
        fix = "The file is cut short or damaged: fetch it again."
        yield DataError(f"the archive cannot be read ({error})", file=file.name, fix=fix)
    except DataError as error:
        yield error


def _zip_members(file: InputFile) -> _Members:
    with file.open() as raw, zipfile.ZipFile(raw) as archive:
        for info in archive.infolist():
            if stat.S_ISLNK(info.external_attr >> 16):
                yield info.filename, "a link in an archive is not followed"
            elif info.flag_bits & 1:
                yield info.filename, "is encrypted"
            elif not info.is_dir():
                yield info.filename, partial(_open_zipped, archive, info)


def _open_zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    try:
        content = archive.open(info)
    except _FAULTS as error:
        raise EOFError(str(error)) from None
    return cast(BinaryIO, _Member(content, content.close))


def _tar_members(file: InputFile) -> _Members:
    with _open_tar(file) as tar:
        index = 0
        while (member := tar.next()) is not None:
            info, content = member
            if content is not None:
                yield info.name, _opener(file, index, info, content)
                while content.read(1 << 20):
                    pass
            elif not info.isdir():
                yield info.name, "a link or a device in an archive is not read"
            index += 1


def _opener(
    file: InputFile, index: int, info: tarfile.TarInfo, content: IO[bytes]
) -> Callable[[], BinaryIO]:
    """Return a function that opens a member of a tar archive, a stream that is read only once.

    A large member is read again from the archive's start.
    """
    if info.size <= HELD:
        return partial(io.BytesIO, content.read())
    unread = [content]

    def open_member() -> BinaryIO:
        if unread:
            return cast(BinaryIO, _Member(unread.pop(), lambda: None))
        stack = ExitStack()
        try:
            tar, member = stack.enter_context(_open_tar(file)), None
            for _ in range(index + 1):
                member = tar.next()
        except BaseException:
            stack.close()
            raise
        if member is None or member[1] is None:
            raise EOFError("the archive was changed while it was read")
        return cast(BinaryIO, _Member(member[1], stack.close))

    return open_member


class _Tar:
    """A tar archive read from start to end."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._reader.left = _HEADER
        # holds no resource but `reader`, which its owner closes
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=reader, mode="r|", bufsize=1 << 16, tarinfo=_Header, errors="surrogateescape"
        )

    def next(self) -> tuple[tarfile.TarInfo, IO[bytes] | None] | None:
        """Return the next member, and its content if it is a file; read the previous one first."""
        self._reader.left = _HEADER
        info = self._tar.next()
        cast(Any, self._tar).members.clear()  # tarfile would keep all members
        self._reader.left = None
        if info is None:
            return None
        return info, self._tar.extractfile(info) if info.isreg() else None


class _Header(tarfile.TarInfo):
    """A header class that makes tarfile report damaged headers and a missing end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Any:
        try:
            return super().fromtarfile(tarfile)
        except _HEADER_ERROR as error:
            if isinstance(error, _END):
                raise
            raise _READ_ERROR(str(error)) from None


_HEADER_ERROR, _READ_ERROR = tarfile.HeaderError, tarfile.ReadError
_END = cast(Any, tarfile).EOFHeaderError  # a block of zeros


class _Reader(io.RawIOBase):
    """A stream for tarfile; reading more than `left` bytes is an error."""

    def __init__(self, stream: TextStream) -> None:
        self._stream = stream
        self.left: int | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        count = self._stream.readinto(memoryview(buffer))
        if self.left is not None:
            self.left -= count
            if self.left < 0:
                raise OSError("a header of more than a megabyte")
        return count


@contextmanager
def _open_tar(file: InputFile) -> Generator[_Tar]:
    with open_stream(file, is_text=False) as stream:
        yield _Tar(_Reader(stream))


class _Member(io.RawIOBase):
    """A member's content; errors become those of damaged compressed data."""

    def __init__(self, content: IO[bytes], close: Callable[[], object]) -> None:
        self._content, self._close = cast(Any, content), close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            return self._content.readinto(buffer) or 0
        except _FAULTS as error:
            raise EOFError(str(error)) from None

    def close(self) -> None:
        self._close()
        super().close()
