"""Archives of runs, tar (compressed or not) and zip, read member by member without unpacking."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import IO, Any, BinaryIO, cast

from irmeta.errors import DataError
from irmeta.trec.streams import InputFile, TextStream, open_stream

HELD = 64 << 20  # bytes of a member of a tar archive that are held, to be read again
_HEADER = 1 << 20  # bytes of a tar header with its long names; a hostile one may claim any
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_FAULTS = (tarfile.TarError, zipfile.BadZipFile, RuntimeError)
_DAMAGED = (*_FAULTS, ValueError, OSError, EOFError)
_Found = Iterator[tuple[str, "Callable[[], BinaryIO] | str"]]
"""Members' names, and for each what opens it, or what is wrong with it."""


def archive_kind(file: InputFile) -> str | None:
    """Return ``tar`` or ``zip`` for an archive, which its first bytes tell; else None."""
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
    """Yield the files in an archive, each to be read before the next; errors for what is no file.

    A member's name is the archive's, a slash, and what the archive calls it: nothing is ever
    opened by it. Links are not followed. Hidden files are left out, as in a folder.
    """
    seen: set[str] = set()
    try:
        for name, opened in _zip_members(file) if kind == "zip" else _tar_members(file):
            parts = [part for part in name.split("/") if part not in ("", ".")]
            if not parts or any(map(_is_hidden, parts)):
                continue
            path = "/".join([file.name, *parts])
            if path in seen:
                yield DataError("a second member of this name", file=path, fix="Rename it.")
            elif isinstance(opened, str):
                yield DataError(opened, file=path, fix="Unpack the archive.")
            else:
                yield InputFile(path, opened)
            seen.add(path)
        if not seen:
            yield DataError("the archive holds no file", file=file.name)
    except _DAMAGED as error:
        fix = "The file is cut short or damaged: fetch it again."
        yield DataError(f"the archive cannot be read ({error})", file=file.name, fix=fix)
    except DataError as error:
        yield error


def _is_hidden(part: str) -> bool:
    return part == "__MACOSX" or (part.startswith(".") and part != "..")


def _zip_members(file: InputFile) -> _Found:
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


def _tar_members(file: InputFile) -> _Found:
    with _open_tar(file) as tar:
        index = 0
        while (found := tar.next()) is not None:
            info, content = found
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
    """Return what opens a member of a tar archive, which can be read only once as it comes.

    A large member is read again from the archive's start.
    """
    if info.size <= HELD:
        return partial(io.BytesIO, content.read())
    left = [content]

    def open_member() -> BinaryIO:
        if left:
            return cast(BinaryIO, _Member(left.pop(), lambda: None))
        stack = ExitStack()
        try:
            tar, found = stack.enter_context(_open_tar(file)), None
            for _ in range(index + 1):
                found = tar.next()
        except BaseException:
            stack.close()
            raise
        if found is None or found[1] is None:
            raise EOFError("the archive was changed while it was read")
        return cast(BinaryIO, _Member(found[1], stack.close))

    return open_member


class _Tar:
    """A tar archive that is read from its start to its end."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._reader.left = _HEADER
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=reader, mode="r|", bufsize=1 << 16, tarinfo=_Header, errors="surrogateescape"
        )

    def next(self) -> tuple[tarfile.TarInfo, IO[bytes] | None] | None:
        """Return the next member and the content of a file, once the one before is read."""
        self._reader.left = _HEADER
        info = self._tar.next()
        cast(Any, self._tar).members.clear()  # they would pile up
        self._reader.left = None
        if info is None:
            return None
        return info, self._tar.extractfile(info) if info.isreg() else None


class _Header(tarfile.TarInfo):
    """A header of which tarfile does not overlook that it is damaged, or missing at the end."""

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
    """A stream as tarfile reads it; an error beyond `left` bytes."""

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
def _open_tar(file: InputFile) -> Iterator[_Tar]:
    with open_stream(file, is_text=False) as stream:
        yield _Tar(_Reader(stream))


class _Member(io.RawIOBase):
    """A member's content, with the errors that damaged compression has."""

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
